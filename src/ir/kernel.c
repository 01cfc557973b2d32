/* kernel.c -- functions, kernels and the plans kept beside them. */
#include <stdlib.h>
#include "ir/mech.h"
#include "ir/target.h"

Func *func_new(Ir *ir, const char *name, Span at)
{
    Func *f = NEW(ir->arena, Func);
    f->ir = ir;
    f->diag = ir->diag;
    f->name = ir_name(ir, name);
    f->span = at;
    return f;
}

Kernel *kernel_new(Func *f, const char *name, Span at)
{
    Kernel *k = NEW(f->ir->arena, Kernel);
    k->func = f;
    k->ir = f->ir;
    k->arena = k->scratch = f->ir->arena; /* the compile driver gives it a scratch of its own */
    k->diag = f->diag;
    k->name = ir_name(f->ir, name);
    k->span = at;
    k->machine = &machine_plain;
    for (int i = 0; i < 3; i++)
        k->threads[i] = k->cluster[i] = 1;
    vec_push(f->ir->arena, &f->kernels, k);
    return k;
}

Kernel *kernel_copy(Func *f, const Kernel *k)
{
    Arena *a = k->ir->arena;
    Kernel *c = NEW(a, Kernel);

    *c = *k;
    c->func = f;
    c->tiles.at = memcpy(NEWN(a, TilePlan, k->tiles.n + 1), k->tiles.at ? k->tiles.at : (void *)"",
                         sizeof *k->tiles.at * (size_t)k->tiles.n);
    c->plans.at =
        memcpy(NEWN(a, BufferPlan, k->plans.n + 1), k->plans.at ? k->plans.at : (void *)"",
               sizeof *k->plans.at * (size_t)k->plans.n);
    c->buffers.at =
        memcpy(NEWN(a, Buffer *, k->buffers.n + 1), k->buffers.at ? k->buffers.at : (void *)"",
               sizeof *k->buffers.at * (size_t)k->buffers.n);
    c->tiles.cap = c->tiles.n + 1;
    c->plans.cap = c->plans.n + 1;
    c->buffers.cap = c->buffers.n; /* what one of the two adds, the other does not see */
    c->loop_at = (Map){0};
    c->nloop_at = 0;
    c->truths = (Map){0};
    c->uses = NULL;
    c->body_facts = NULL;
    return c;
}

TilePlan *tile_plan(Kernel *k, const Stmt *tile)
{
    int id = tile->kind == ST_INSTR ? tile->u.instr.tile : tile->u.tile.id;
    BUG(tile->kind != ST_TILE && tile->kind != ST_INSTR, "a plan for statement kind %d",
        tile->kind);
    while (k->tiles.n <= id)
        vec_push(k->ir->arena, &k->tiles, ((TilePlan){.how = &mech_none}));
    return &k->tiles.at[id];
}

BufferPlan *buffer_plan(Kernel *k, const Buffer *b)
{
    while (k->plans.n <= b->id)
        vec_push(k->ir->arena, &k->plans, ((BufferPlan){.stages = 1}));
    return &k->plans.at[b->id];
}

/* ---- operators as written -------------------------------------------------------------------- */

/* By where they start; spans lie one inside the other or apart. */
struct OriginIndex {
    int n;
    const Origin **at;
    int *around; /* the next one out, -1: none */
};

static int by_start(Span a, Span b)
{
    int order = a.src && b.src ? strcmp(a.src->name, b.src->name)
                               : (a.src != NULL) - (b.src != NULL);

    if (order == 0)
        order = (a.line > b.line) - (a.line < b.line);
    return order ? order : (a.col > b.col) - (a.col < b.col);
}

static int by_origin(const void *a, const void *b)
{
    const Origin *x = *(const Origin *const *)a, *y = *(const Origin *const *)b;
    return by_start(x->span, y->span);
}

static void index_origins(Kernel *k)
{
    struct OriginIndex *x = NEW(k->ir->arena, struct OriginIndex);

    x->n = k->origins.n;
    x->at = NEWN(k->ir->arena, const Origin *, x->n + 1);
    x->around = NEWN(k->ir->arena, int, x->n + 1);
    for (int i = 0; i < x->n; i++)
        x->at[i] = &k->origins.at[i];
    if (x->n)
        qsort(x->at, (size_t)x->n, sizeof *x->at, by_origin);
    for (int i = 0; i < x->n; i++) {
        int o = i - 1;
        while (o >= 0 && !span_holds(x->at[o]->span, x->at[i]->span))
            o = x->around[o];
        x->around[i] = o;
    }
    k->origin_index = x;
}

const Origin *origin_find(Kernel *k, Span at)
{
    if (!k->origin_index || k->origin_index->n != k->origins.n)
        index_origins(k);
    const struct OriginIndex *x = k->origin_index;
    int low = 0, high = x->n; /* of those that start here or before, the last is low - 1 */
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (by_start(x->at[mid]->span, at) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    int i = low - 1;
    while (i >= 0 && !span_holds(x->at[i]->span, at))
        i = x->around[i];
    return i >= 0 ? x->at[i] : NULL;
}

enum { ORIGIN_MOST = 76 }; /* bytes of an operator that comments show */

typedef struct {
    Kernel *k;
    Map known;     /* "file:line:column" of where origins start */
    LineAt cursor; /* lines are asked for in their order */
} Learn;

static bool see_origin(const Stmt *s, void *arg)
{
    Learn *l = arg;
    Arena *a = l->k->ir->arena;

    if ((s->kind != ST_TILE && !stmt_is_nest(s)) || !s->span.src)
        return true;
    const char *start = arena_printf(l->k->scratch, "%s:%d:%d", s->span.src->name,
                                     (int)s->span.line, (int)s->span.col);
    const char *text = map_has(&l->known, start)
                           ? NULL : span_text(a, s->span, ORIGIN_MOST, &l->cursor);
    if (text) {
        map_set(&l->known, start, start);
        vec_push(a, &l->k->origins,
                 ((Origin){s->span, arena_printf(a, "%s  %s", text, span_place(a, s->span))}));
    }
    return true;
}

void origins_learn(Kernel *k)
{
    Learn l = {.k = k};

    map_init_text(&l.known, k->scratch);
    for (int i = 0; i < k->origins.n; i++) {
        Span at = k->origins.at[i].span;
        const char *start = arena_printf(k->scratch, "%s:%d:%d", at.src ? at.src->name : "",
                                         (int)at.line, (int)at.col);
        map_set(&l.known, start, start);
    }
    stmt_visit(k->body, see_origin, &l);
}

int kernel_block_threads(const Kernel *k)
{
    return k->threads[0] * k->threads[1] * k->threads[2];
}

bool kernel_may_alias(const Kernel *k, const Buffer *b)
{
    for (int i = 0; i < k->hints.n; i++)
        if (!strcmp(k->hints.at[i].name, "may_alias") &&
            !strcmp(k->hints.at[i].text, buffer_root(b)->name))
            return true;
    return false;
}

int group_threads(const Kernel *k, ThreadGroup t)
{
    return t.n ? t.n : kernel_block_threads(k);
}

int kernel_launch_threads(const Kernel *k)
{
    return kernel_block_threads(k) + k->extra_threads;
}

const Machine machine_plain = {.text = "none", .name = "none", .lanes = 1,
                               .group_warps = 1, .access_bytes = 16,
                               .named_barriers = 16};

bool kernel_on_warps(const Kernel *k)
{
    return kernel_has(k, HAS_THREADS);
}

enum { LANGUAGE_WARP = 32 };

int kernel_warp(const Kernel *k)
{
    return k->machine->lanes > 1 ? k->machine->lanes : LANGUAGE_WARP;
}

const Mech *kernel_ahead(const Kernel *k)
{
    const Mech *m = k->target ? mech_ahead(k->target->mechs) : NULL;

    return m && kernel_has(k, m->needs) ? m : NULL;
}

int kernel_part(const Kernel *k)
{
    return k->machine->part ? k->machine->part : kernel_warp(k);
}

int group_lanes(const Kernel *k, ThreadGroup t)
{
    int lanes = k->machine->lanes;

    while (lanes > 1 && t.n > 1 && (t.first % lanes || t.n < lanes))
        lanes /= 2;
    return lanes;
}

int64_t kernel_access(const Kernel *k, DType t)
{
    return MAX(k->machine->access_bytes * 8 / dtype_bits(t), 1);
}

bool group_of_role(const Kernel *k, const Stmt *role, ThreadGroup *t)
{
    int n = role->u.role.nthread, least = INT32_MAX, most = 0, all = kernel_block_threads(k);
    int distinct = 0;
    uint64_t seen = 0;

    *t = (ThreadGroup){0, 0};
    if (n == 0 || role->u.role.kind == ROLE_CONSUMER)
        return true;
    for (int i = 0; i < n; i++) {
        least = MIN(least, role->u.role.thread[i]);
        most = MAX(most, role->u.role.thread[i]);
        uint64_t bit = (uint64_t)1 << (role->u.role.thread[i] & 63);
        distinct += !(seen & bit);
        seen |= bit;
    }
    t->first = least * ROLE_THREADS;
    if (role_lone(role) >= 0) {
        *t = (ThreadGroup){role_lone(role), 1};
        return true;
    }
    t->n = MIN((most + 1) * ROLE_THREADS, kernel_launch_threads(k)) - t->first;
    if (t->first == 0 && t->n >= all)
        *t = (ThreadGroup){0, 0};
    return most - least < distinct;
}

LoopPlan *loop_plan_find(Kernel *k, const Var *v)
{
    if (!k->loop_at.arena)
        map_init(&k->loop_at, k->ir->arena);
    for (; k->nloop_at < k->loops.n; k->nloop_at++) {
        const Var *known = k->loops.at[k->nloop_at].var;
        if (known && !map_has(&k->loop_at, known))
            map_set(&k->loop_at, known, (void *)(intptr_t)(k->nloop_at + 1));
    }
    intptr_t at = (intptr_t)map_get(&k->loop_at, v);
    return at ? &k->loops.at[at - 1] : NULL;
}

LoopPlan *loop_plan(Kernel *k, const Var *v)
{
    LoopPlan *known = loop_plan_find(k, v);

    if (known)
        return known;
    vec_push(k->arena, &k->loops, ((LoopPlan){.var = v}));
    return &vec_last(&k->loops);
}

Buffer *kernel_buffer(Kernel *k, const char *name, DType t, MemScope s, int rank,
                      const Expr *const *shape, Span at)
{
    Buffer *b = buffer_new(k->ir, name, t, s, rank, shape, at);
    vec_push(k->arena, &k->buffers, b);
    return b;
}

Buffer *kernel_barriers(Kernel *k, const char *name, int n, int arrivals, Span at)
{
    const Expr *shape = expr_int(k->ir, n), **arrive = NEWN(k->ir->arena, const Expr *, n);
    Buffer *b = kernel_buffer(k, name, DT_U64, MEM_BARRIER, 1, &shape, at);

    for (int i = 0; i < n; i++)
        arrive[i] = expr_int(k->ir, arrivals);
    b->arrive = arrive;
    return b;
}
