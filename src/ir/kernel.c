/* kernel.c -- functions, kernels and the plans kept beside them. */
#include "ir/mech.h"

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

const Origin *origin_find(const Kernel *k, Span at)
{
    const Origin *best = NULL;

    for (int i = 0; i < k->origins.n; i++) {
        const Origin *o = &k->origins.at[i];
        if (span_holds(o->span, at) && (!best || span_holds(best->span, o->span)))
            best = o;
    }
    return best;
}

enum { ORIGIN_MOST = 76 }; /* bytes of an operator that comments show */

static bool see_origin(const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (s->kind != ST_TILE && !stmt_is_nest(s))
        return true;
    const Origin *o = origin_find(k, s->span);
    bool known = o && o->span.line == s->span.line && o->span.col == s->span.col;
    const char *text = known ? NULL : span_text(k->ir->arena, s->span, ORIGIN_MOST);
    if (text)
        vec_push(k->ir->arena, &k->origins,
                 ((Origin){s->span, arena_printf(k->ir->arena, "%s  %s", text,
                                                 span_place(k->ir->arena, s->span))}));
    return true;
}

void origins_learn(Kernel *k)
{
    stmt_visit(k->body, see_origin, k);
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
