/* emit_use.c -- what a kernel mentions: its parameters, its declarations, what a launch hands over.
 */
#include "target/cuda/emit.h"

static void see_var(Cuda *c, Var *v)
{
    if (map_has(&c->seen, v))
        return;
    map_set(&c->seen, v, v);
    if (!map_has(&c->bound, v))
        vec_push(c->e.arena, &c->outside, v);
}

static void see_buffer(Cuda *c, Buffer *b, bool writes)
{
    map_set(&c->used, b, b);
    if (writes || kernel_may_alias(c->e.k, b)) /* another may write it */
        map_set(&c->written, buffer_root(b), b);
    if (b->pointer) {
        c->addressed = true;
        see_var(c, b->pointer);
    }
    if (b->view_of)
        see_buffer(c, b->view_of, writes);
}

/* After cuda_fix_slots what still names the thread differs between threads. */
static void see_index(Cuda *c, const Buffer *b, const Expr *at)
{
    const Buffer *root = buffer_root(b);

    if (root->scope != MEM_FRAGMENT && root->scope != MEM_LOCAL)
        return;
    for (int d = 0; d < 3; d++)
        if (c->e.k->thread[d] && expr_uses_var(at, c->e.k->thread[d]))
            map_set(&c->addressable, root, root);
}

static bool see_expr(const Expr *x, void *arg)
{
    Cuda *c = arg;

    if (x->op == EX_VAR)
        see_var(c, x->u.var);
    if (x->op == EX_LOAD || x->op == EX_ADDR) {
        see_buffer(c, x->u.buf, x->op == EX_ADDR && !buffer_root(x->u.buf)->lent_to_read);
        if (x->nkid)
            see_index(c, x->u.buf, x->kid[0]);
        map_set(&c->loose, x->u.buf, x->u.buf);
        if (x->op == EX_ADDR)
            c->addressed = true;
    }
    return true;
}

static bool see_bound(const Stmt *s, void *arg)
{
    Cuda *c = arg;
    const Var *v = s->kind == ST_FOR      ? s->u.loop.var
                   : s->kind == ST_LET    ? s->u.let.var
                   : s->kind == ST_CALL   ? s->u.call.bind
                   : s->kind == ST_ATOMIC ? s->u.atomic.bind
                                          : NULL;
    if (v)
        map_set(&c->bound, v, v);
    return true;
}

static void see_regions(Cuda *c, int n, const Region *r, const char *effects)
{
    for (int i = 0; i < n; i++)
        see_buffer(c, r[i].buf, !effects || effects[i] != 'r');
}

/* One side is registers; the other is read, or written. */
static void see_wide(Cuda *c, const Stmt *s)
{
    bool load = s->u.call.which == INTRIN_WIDE_LOAD;
    const Expr *a = s->u.call.arg[load], *words = s->u.call.arg[!load];

    see_buffer(c, a->u.buf, !load);
    see_buffer(c, words->u.buf, load);
    map_set(&c->loose, a->u.buf, a->u.buf);
    map_set(&c->loose, words->u.buf, words->u.buf);
    expr_visit(s->u.call.arg[2], see_expr, c);
    for (int d = 0; d < a->nkid; d++)
        expr_visit(a->kid[d], see_expr, c);
}

static bool see_stmt(const Stmt *s, void *arg)
{
    Cuda *c = arg;

    if (s->kind == ST_CALL &&
        (s->u.call.which == INTRIN_WIDE_LOAD || s->u.call.which == INTRIN_WIDE_STORE)) {
        see_wide(c, s);
        return true;
    }
    stmt_visit_expr(s, see_expr, c);
    switch (s->kind) {
    case ST_STORE:
        see_buffer(c, s->u.store.buf, true);
        see_index(c, s->u.store.buf, s->u.store.at[0]);
        map_set(&c->loose, s->u.store.buf, s->u.store.buf);
        break;
    case ST_ATOMIC:
        see_buffer(c, s->u.atomic.buf, true);
        map_set(&c->loose, s->u.atomic.buf, s->u.atomic.buf);
        break;
    case ST_INSTR:
        see_regions(c, s->u.instr.nregion, s->u.instr.region, s->u.instr.isa->effects);
        c->bulk |= instr_is_bulk(s);
        break;
    case ST_CALL:
        see_regions(c, s->u.call.nregion, s->u.call.region, NULL);
        c->random |= s->u.call.which >= INTRIN_RNG_INIT && s->u.call.which <= INTRIN_RNG_FLOAT;
        c->together |= s->u.call.which == INTRIN_SYNC_GRID;
        c->pdl |= s->u.call.which == INTRIN_PDL_SYNC;
        break;
    default:
        break;
    }
    return true;
}

void cuda_collect(Cuda *c, Kernel *k, const Stmt *body)
{
    Arena *a = c->e.arena;

    map_init(&c->used, a);
    map_init(&c->written, a);
    c->e.written = &c->written;
    map_init(&c->loose, a);
    map_init(&c->addressable, a);
    map_init(&c->seen, a);
    c->e.seen = &c->seen;
    map_init(&c->bound, a);
    c->outside.n = 0;
    c->addressed = c->random = c->together = c->bulk = c->pdl = false;
    c->copies = 1;
    c->nrole = c->role_id = c->role_threads = 0;
    for (int d = 0; d < 3; d++) {
        if (k->block[d])
            map_set(&c->bound, k->block[d], k);
        if (k->thread[d])
            map_set(&c->bound, k->thread[d], k);
    }
    stmt_visit(body, see_bound, c);
    stmt_visit(body, see_stmt, c);
}

bool cuda_is_packed(Cuda *c, const Buffer *b)
{
    return (b->scope == MEM_LOCAL || b->scope == MEM_FRAGMENT) && dtype_bits(b->type) <= 16 &&
           !b->view_of && !map_has(&c->loose, b);
}

static void add_arg(Kernel *k, Buffer *b, Var *v)
{
    vec_push(k->arena, &k->launch.args, ((KernelArg){.buf = b, .var = v}));
}

/* Tensors, temporaries, dimensions, scalars, then what the host computes on the way. */
void cuda_collect_launch(Cuda *c, Kernel *k)
{
    Func *f = c->e.func;
    Map taken;

    map_init(&taken, c->e.arena);
    k->launch.args.n = 0;
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf && map_has(&c->used, f->params.at[i].buf))
            add_arg(k, f->params.at[i].buf, NULL);
    for (int i = 0; i < f->workspaces.n; i++)
        if (map_has(&c->used, f->workspaces.at[i]))
            add_arg(k, f->workspaces.at[i], NULL);
    for (int i = 0; i < f->dims.n; i++)
        if (map_has(&c->seen, f->dims.at[i])) {
            add_arg(k, NULL, f->dims.at[i]);
            map_set(&taken, f->dims.at[i], f);
        }
    for (int i = 0; i < c->outside.n; i++)
        if (!map_has(&taken, c->outside.at[i]))
            add_arg(k, NULL, c->outside.at[i]);
    if (c->together)
        add_arg(k, NULL, NULL);
    k->launch.together = c->together;
    k->launch.pdl = c->pdl;
    k->launch.shared_bytes = k->arena_bytes;
}

/* A text of somebody else's gets every parameter, then the run-time dimensions. */
void cuda_collect_whole(Cuda *c, Kernel *k)
{
    Func *f = c->e.func;

    k->launch.args.n = 0;
    for (int i = 0; i < f->params.n; i++)
        add_arg(k, f->params.at[i].buf, f->params.at[i].buf ? NULL : f->params.at[i].var);
    for (int i = 0; i < f->dims.n; i++)
        add_arg(k, NULL, f->dims.at[i]);
    k->launch.together = k->launch.pdl = false;
    k->launch.shared_bytes = 0;
}
