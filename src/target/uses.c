/* uses.c -- what a kernel mentions: its parameters, its declarations, what a launch hands over. */
#include "target/uses.h"

static void see_var(Uses *u, Var *v)
{
    if (map_has(&u->seen, v))
        return;
    map_set(&u->seen, v, v);
    if (!map_has(&u->bound, v))
        vec_push(u->e->arena, &u->outside, v);
}

static void see_buffer(Uses *u, Buffer *b, bool writes)
{
    map_set(&u->used, b, b);
    if (writes || kernel_may_alias(u->e->k, b)) /* another may write it */
        map_set(&u->written, buffer_root(b), b);
    if (b->pointer) {
        u->addressed = true;
        see_var(u, b->pointer);
    }
    if (b->view_of)
        see_buffer(u, b->view_of, writes);
}

/* What still names the thread differs between threads. */
static void see_index(Uses *u, const Buffer *b, const Expr *at)
{
    const Buffer *root = buffer_root(b);

    if (root->scope != MEM_FRAGMENT && root->scope != MEM_LOCAL)
        return;
    for (int d = 0; d < 3; d++)
        if (u->e->k->thread[d] && expr_uses_var(at, u->e->k->thread[d]))
            map_set(&u->addressable, root, root);
}

static bool see_expr(const Expr *x, void *arg)
{
    Uses *u = arg;

    if (x->op == EX_VAR)
        see_var(u, x->u.var);
    if (x->op == EX_LOAD || x->op == EX_ADDR) {
        see_buffer(u, x->u.buf, x->op == EX_ADDR && !buffer_root(x->u.buf)->lent_to_read);
        if (x->nkid)
            see_index(u, x->u.buf, x->kid[0]);
        map_set(&u->loose, x->u.buf, x->u.buf);
        if (x->op == EX_ADDR)
            u->addressed = true;
    }
    return true;
}

static bool see_bound(const Stmt *s, void *arg)
{
    Uses *u = arg;
    const Var *v = s->kind == ST_FOR      ? s->u.loop.var
                   : s->kind == ST_LET    ? s->u.let.var
                   : s->kind == ST_CALL   ? s->u.call.bind
                   : s->kind == ST_ATOMIC ? s->u.atomic.bind
                                          : NULL;
    if (v)
        map_set(&u->bound, v, v);
    return true;
}

static void see_regions(Uses *u, int n, const Region *r, const char *effects)
{
    for (int i = 0; i < n; i++)
        see_buffer(u, r[i].buf, !effects || effects[i] != 'r');
}

/* One side is registers; the other is read, or written. */
static void see_wide(Uses *u, const Stmt *s)
{
    bool load = s->u.call.which == INTRIN_WIDE_LOAD;
    const Expr *a = s->u.call.arg[load], *words = s->u.call.arg[!load];

    see_buffer(u, a->u.buf, !load);
    see_buffer(u, words->u.buf, load);
    map_set(&u->loose, a->u.buf, a->u.buf);
    map_set(&u->loose, words->u.buf, words->u.buf);
    expr_visit(s->u.call.arg[2], see_expr, u);
    for (int d = 0; d < a->nkid; d++)
        expr_visit(a->kid[d], see_expr, u);
}

static bool see_stmt(const Stmt *s, void *arg)
{
    Uses *u = arg;

    if (s->kind == ST_CALL &&
        (s->u.call.which == INTRIN_WIDE_LOAD || s->u.call.which == INTRIN_WIDE_STORE)) {
        see_wide(u, s);
        return true;
    }
    stmt_visit_expr(s, see_expr, u);
    switch (s->kind) {
    case ST_STORE:
        see_buffer(u, s->u.store.buf, true);
        see_index(u, s->u.store.buf, s->u.store.at[0]);
        map_set(&u->loose, s->u.store.buf, s->u.store.buf);
        break;
    case ST_ATOMIC:
        see_buffer(u, s->u.atomic.buf, true);
        map_set(&u->loose, s->u.atomic.buf, s->u.atomic.buf);
        break;
    case ST_INSTR:
        see_regions(u, s->u.instr.nregion, s->u.instr.region, s->u.instr.isa->effects);
        break;
    case ST_CALL:
        see_regions(u, s->u.call.nregion, s->u.call.region, NULL);
        u->random |= s->u.call.which >= INTRIN_RNG_INIT && s->u.call.which <= INTRIN_RNG_FLOAT;
        u->together |= s->u.call.which == INTRIN_SYNC_GRID;
        u->pdl |= s->u.call.which == INTRIN_PDL_SYNC;
        break;
    default:
        break;
    }
    return true;
}

bool uses_declares(const Uses *u, const Buffer *b)
{
    const Var *p = buffer_root(b)->pointer;
    return map_has(&u->used, b) && !(p && map_has(&u->bound, p));
}

void uses_collect(Uses *u, Emit *e, Kernel *k, const Stmt *body)
{
    Map *const maps[] = {&u->used, &u->written, &u->loose, &u->addressable, &u->seen, &u->bound};

    *u = (Uses){.e = e, .outside = u->outside};
    for (int i = 0; i < COUNT(maps); i++)
        map_init(maps[i], e->arena);
    e->written = &u->written;
    e->seen = &u->seen;
    u->outside.n = 0;
    for (int d = 0; d < 3; d++) {
        if (k->block[d])
            map_set(&u->bound, k->block[d], k);
        if (k->thread[d])
            map_set(&u->bound, k->thread[d], k);
    }
    stmt_visit(body, see_bound, u);
    stmt_visit(body, see_stmt, u);
}

int64_t stored_elems(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n =
        l ? layout_is_fragment(l) ? fragment_slots(l) : layout_size(l) : buffer_static_size(b);
    return MAX(n, 1);
}

static void add_arg(Kernel *k, Buffer *b, Var *v)
{
    vec_push(k->arena, &k->launch.args, ((KernelArg){.buf = b, .var = v}));
}

/* Tensors, temporaries, dimensions, scalars, then what the host computes on the way. */
void uses_launch(Uses *u, Kernel *k)
{
    Func *f = u->e->func;
    Map taken;

    map_init(&taken, u->e->arena);
    k->launch.args.n = 0;
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf && map_has(&u->used, f->params.at[i].buf))
            add_arg(k, f->params.at[i].buf, NULL);
    for (int i = 0; i < f->workspaces.n; i++)
        if (map_has(&u->used, f->workspaces.at[i]))
            add_arg(k, f->workspaces.at[i], NULL);
    for (int i = 0; i < f->dims.n; i++)
        if (map_has(&u->seen, f->dims.at[i])) {
            add_arg(k, NULL, f->dims.at[i]);
            map_set(&taken, f->dims.at[i], f);
        }
    for (int i = 0; i < u->outside.n; i++)
        if (!map_has(&taken, u->outside.at[i]))
            add_arg(k, NULL, u->outside.at[i]);
    if (u->together)
        add_arg(k, NULL, NULL);
    k->launch.together = u->together;
    k->launch.pdl = u->pdl;
    k->launch.shared_bytes = k->arena_bytes;
}

/* A text of somebody else's gets every parameter, then the run-time dimensions. */
void launch_whole(const Func *f, Kernel *k)
{
    k->launch.args.n = 0;
    for (int i = 0; i < f->params.n; i++)
        add_arg(k, f->params.at[i].buf, f->params.at[i].buf ? NULL : f->params.at[i].var);
    for (int i = 0; i < f->dims.n; i++)
        add_arg(k, NULL, f->dims.at[i]);
    k->launch.together = k->launch.pdl = false;
    k->launch.shared_bytes = 0;
}
