/* async_gather.c -- nests that copy from where another tensor says: the indices run ahead.
 *
 *     s[i, j] = A[I[k * 64 + i], j]                idx[i] = I[(k + 1) * 64 + i]
 *                                        ->        ...
 *                                                  s[i, j] = A[idx[i], j]
 *
 * A copy that runs ahead has nobody who waits for it, but its address has: each index would be
 * waited for before its copy is issued.  So the indices of an iteration are loaded into registers
 * when the copies of the one before are on their way, by the threads that will use them. */
#include "pass/async_copy.h"

enum { SLOTS_MOST = 32 }; /* registers of a thread for the indices of one nest */

typedef struct {
    Kernel *k;
    const NestCopy *c;
    Gather *g;
    bool fits;
} Finding;

static bool see_axis(const Expr *e, void *arg)
{
    const LoopNest *p = ((void **)arg)[0];
    bool *used = ((void **)arg)[1];

    for (int d = 0; d < p->n; d++)
        used[d] |= e->op == EX_VAR && e->u.var == p->var[d];
    return true;
}

/* The loops of the nest that the index depends on. */
static int axes_of(const LoopNest *p, const Expr *e, int *axis)
{
    bool used[RANK_MOST] = {false};
    void *arg[2] = {(void *)p, used};
    int n = 0;

    expr_visit(e, see_axis, arg);
    for (int d = 0; d < p->n; d++)
        if (used[d])
            axis[n++] = d;
    return n;
}

/* Held by whoever runs an iteration that uses it. */
static const Layout *index_layout(Kernel *k, const LoopNest *p, const Layout *loop, Index *x)
{
    Infer in = {.k = k, .ir = k->ir, .nthread = loop->nthread};
    const Expr *at[RANK_MOST];
    LoopAccess a = {.buf = x->buf, .n = x->n, .at = at, .how = ACC_READ};

    for (int i = 0; i < x->n; i++)
        at[i] = expr_var(k->ir, layout_axis(k->ir, x->axis[i]));
    return parallel_wanted(&in, p, &a, loop);
}

static bool add_index(Finding *f, const Expr *load)
{
    Kernel *k = f->k;
    Gather *g = f->g;
    const LoopNest *p = &f->c->nest;
    const LoopPlan *plan = loop_plan_find(k, p->var[0]);
    const Expr *shape[RANK_MOST], *at[RANK_MOST + 1], *guard;
    Index x = {.load = load};

    x.n = axes_of(p, load, x.axis);
    if (x.n == 0 || !plan || !plan->layout || !layout_is_fragment(plan->layout) ||
        g->n == INDICES_MOST)
        return false;
    for (int i = 0; i < x.n; i++)
        shape[i] = expr_int(k->ir, p->extent[x.axis[i]]);
    x.buf = buffer_new(k->ir, arena_printf(k->arena, "%s_ahead", load->u.buf->name), load->type,
                       MEM_FRAGMENT, x.n, shape, p->loop->span);
    x.layout = index_layout(k, p, plan->layout, &x);
    if (!x.layout || fragment_slots(x.layout) > SLOTS_MOST ||
        !fragment_inverse(k->ir, x.layout, at, &guard))
        return false;
    g->at[g->n++] = x;
    return true;
}

/* Outermost loads inside of an address or a condition. */
static bool see_index(const Expr *e, void *arg)
{
    Finding *f = arg;

    if (e->op != EX_LOAD)
        return f->fits;
    for (int i = 0; i < f->g->n; i++)
        if (f->g->at[i].load == e)
            return false;
    f->fits = f->fits && e->u.buf->scope == MEM_GLOBAL && e->lanes == 1 && add_index(f, e);
    return false;
}

bool gather_find(Kernel *k, const NestCopy *c, Gather *g)
{
    Finding f = {k, c, g, true};

    g->n = 0;
    for (int d = 0; d < expr_nindex(c->load); d++)
        expr_visit(c->load->kid[d], see_index, &f);
    if (c->cond)
        expr_visit(c->cond, see_index, &f);
    if (!f.fits || g->n == 0)
        return false;
    for (int i = 0; i < g->n; i++) {
        vec_push(k->arena, &k->buffers, g->at[i].buf);
        buffer_plan(k, g->at[i].buf)->layout = g->at[i].layout;
    }
    return true;
}

typedef struct {
    const Gather *g;
    const LoopNest *p;
} Using;

static const Expr *use_index(Ir *ir, const Expr *e, void *arg)
{
    const Using *u = arg;
    const Expr *at[RANK_MOST];

    for (int i = 0; i < u->g->n; i++) {
        const Index *x = &u->g->at[i];
        if (x->load != e)
            continue;
        for (int d = 0; d < x->n; d++)
            at[d] = expr_var(ir, u->p->var[x->axis[d]]);
        return expr_load(ir, x->buf, at, x->n);
    }
    return e;
}

const Expr *gather_use(Ir *ir, const Gather *g, const LoopNest *p, const Expr *e)
{
    Using u = {g, p};
    return e ? expr_map(ir, e, use_index, &u) : NULL;
}

const Stmt *gather_fetch(Kernel *k, const Gather *g, const LoopNest *p)
{
    Ir *ir = k->ir;
    const Stmt *all = NULL;

    for (int i = 0; i < g->n; i++) {
        const Index *x = &g->at[i];
        Nest n;
        Map own;
        nest_open(k, &n, x->n, (const Expr *const *)x->buf->shape);
        map_init(&own, ir->arena);
        for (int d = 0; d < x->n; d++)
            map_set(&own, p->var[x->axis[d]], n.at[d]);
        const Stmt *s = stmt_store(ir, p->loop->span, x->buf, n.at, x->n,
                                   expr_subst_map(ir, x->load, &own, NULL));
        loop_plan(k, n.var[0])->layout = x->layout;
        all = stmt_seq(ir, all, nest_close(k, p->loop->span, &n, LOOP_PARALLEL, s));
    }
    return all;
}
