/* tensor_layout.c -- T.annotate_layout of a tensor says where its elements lie in its memory.
 *
 *     T.annotate_layout({A: T.Layout([8, 64], lambda i, j: (j // 8, i, j % 8))})
 *     A[i, j] = x                           ->   view[j // 8, i, j % 8] = x, a view [8, 8, 8] of A
 *
 * The shape that callers give stays; who reads the tensor elsewhere finds it in that order unless
 * that kernel has the same layout.  Dimensions in another order are a view with strides, which
 * operators take as any tensor.  Under other layouts copies, fills and atomics of tiles are
 * T.Parallel nests; what else takes a tile is refused. */
#include "front/eval.h"
#include "layout/layout.h"
#include "op/op.h"

typedef struct {
    Buffer *from, *to;
    const Layout *layout;
} Laid;

typedef struct {
    Kernel *k;
    VEC(Laid) laid;
    Map bufs; /* to views with the same coordinates */
} Plan;

static const Laid *find(const Plan *p, const Buffer *b)
{
    for (int i = 0; i < p->laid.n; i++)
        if (p->laid.at[i].from == b)
            return &p->laid.at[i];
    return NULL;
}

/* Strides of the tensor's dimensions where the layout only gives them another order. */
static bool find_strides(Ir *ir, const Layout *l, const Expr **stride)
{
    int64_t step = 1;

    for (int d = 0; d < l->rank; d++)
        stride[d] = NULL;
    for (int o = l->nout - 1; o >= 0; o--) {
        int d = 0;
        while (d < l->rank && (l->out[o]->op != EX_VAR || l->out[o]->u.var != layout_axis(ir, d)))
            d++;
        if (d == l->rank || stride[d])
            return false;
        stride[d] = expr_int(ir, step);
        step *= l->extent[d];
    }
    return l->nout == l->rank;
}

static Buffer *view_of(Kernel *k, Buffer *b, int n, const Expr *const *shape)
{
    Buffer *v = buffer_new(k->ir, "view", b->type, b->scope, n, shape, b->span);

    v->view_of = b;
    vec_push(k->ir->arena, &k->buffers, v);
    return v;
}

static void lay(Plan *p, Buffer *b, const Layout *l)
{
    Ir *ir = p->k->ir;
    const Expr **stride = NEWN(ir->arena, const Expr *, l->rank + 1), *shape[RANK_MOST];

    if (find_strides(ir, l, stride)) {
        Buffer *v = view_of(p->k, b, b->rank, (const Expr *const *)b->shape);
        v->stride = stride;
        map_set(&p->bufs, b, v);
        return;
    }
    for (int o = 0; o < l->nout; o++)
        shape[o] = expr_int(ir, l->out_extent[o]);
    vec_push(ir->arena, &p->laid, ((Laid){b, view_of(p->k, b, l->nout, shape), l}));
}

/* An element outside of the tensor can be inside of the view. */
static const Expr *guard_of(const Plan *p, const Laid *x, const Expr *const *at, const Expr *guard)
{
    const Expr *in = region_guard(p->k->ir, kernel_facts(p->k), x->from, at);

    return guard && in ? expr_and(p->k->ir, guard, in) : guard ? guard : in;
}

static const Expr *place_load(Ir *ir, const Expr *e, void *arg)
{
    const Laid *x = e->op == EX_LOAD || e->op == EX_ADDR ? find(arg, e->u.buf) : NULL;
    const Expr *at[RANK_MOST];

    if (!x)
        return e;
    layout_apply(ir, x->layout, e->kid, at);
    if (e->op == EX_ADDR)
        return expr_addr(ir, x->to, at, x->to->rank);
    int rank = x->from->rank;
    const Expr *guard = guard_of(arg, x, e->kid, e->guarded ? e->kid[rank] : NULL);
    const Expr *safe = buffer_plan(((const Plan *)arg)->k, x->from)->safe;
    const Expr *fill = e->guarded ? e->kid[rank + 1] : safe ? safe : expr_zero(ir, (DType)e->type);
    return guard ? expr_load_guarded(ir, x->to, at, x->to->rank, guard, fill)
                 : expr_load(ir, x->to, at, x->to->rank);
}

static const Expr *place_loads(Ir *ir, const Expr *e, void *arg)
{
    return e ? expr_map(ir, e, place_load, arg) : NULL;
}

static const Stmt *place_store(Ir *ir, const Stmt *s, void *arg)
{
    const Laid *x = s->kind == ST_STORE    ? find(arg, s->u.store.buf)
                    : s->kind == ST_ATOMIC ? find(arg, s->u.atomic.buf)
                                           : NULL;
    const Expr *at[RANK_MOST];

    if (!x)
        return s;
    bool atomic = s->kind == ST_ATOMIC;
    const Expr *const *was = atomic ? s->u.atomic.at : s->u.store.at;
    const Expr *guard = guard_of(arg, x, was, atomic ? NULL : s->u.store.guard);
    layout_apply(ir, x->layout, was, at);
    if (!atomic)
        return guard ? stmt_store_guarded(ir, s->span, x->to, at, x->to->rank, s->u.store.value,
                                          guard)
                     : stmt_store(ir, s->span, x->to, at, x->to->rank, s->u.store.value);
    const Stmt *made = stmt_atomic(ir, s->span, s->u.atomic.op, x->to, at, x->to->rank,
                                   s->u.atomic.value, s->u.atomic.order, s->u.atomic.bind);
    return guard && !s->u.atomic.bind ? stmt_if(ir, s->span, guard, made, NULL) : made;
}

/* A copy or a fill, element by element. */
static const Stmt *store_nest(Kernel *k, const Stmt *t)
{
    const Region *dst = &t->u.tile.region[t->u.tile.nregion - 1], *src = &t->u.tile.region[0];
    const Expr *from[RANK_MOST], *to[RANK_MOST];
    RegionMatch m;
    Nest n;

    if (!region_match(k, t->span, src, dst, &m))
        diag_throw(k->diag);
    nest_open(k, &n, m.n, m.extent);
    region_point(k->ir, src, &m, 0, n.at, from);
    region_point(k->ir, dst, &m, 1, n.at, to);
    const Expr *value = src == dst ? t->u.tile.arg[0]
                                   : expr_load(k->ir, src->buf, from, src->buf->rank);
    return nest_close(k, t->span, &n, LOOP_PARALLEL,
                      stmt_store(k->ir, t->span, dst->buf, to, dst->buf->rank,
                                 expr_cast(k->ir, dst->buf->type, value)));
}

static const Stmt *open_tile(Ir *ir, const Stmt *s, void *arg)
{
    Plan *p = arg;
    int n;
    const Region *r = stmt_regions(s, &n);
    const Laid *x = NULL;

    (void)ir;
    for (int i = 0; !x && i < n; i++)
        x = find(p, r[i].buf);
    if (!x)
        return s;
    if (tile_does(s, TILE_COPIES | TILE_FILLS))
        return store_nest(p->k, s);
    if (tile_does(s, TILE_BY_ELEMENT) && !tile_does(s, TILE_WALKS))
        return s->u.tile.op->lower(p->k, s);
    diag_fail(p->k->diag, s->span, "'%s' has its elements in an order of their own, which "
              "T.annotate_layout gave it; only copies, fills and atomics of tiles take it so "
              "[layout-scope]", x->from->name);
    return s;
}

/* The layouts say which element lies where, not which bytes: no view of another shape or type. */
static void refuse_views(Kernel *k, const Buffer *b)
{
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->view_of == b)
            diag_fail(k->diag, k->buffers.at[i]->span, "'%s' has its elements in an order of "
                      "their own, which T.annotate_layout gave it, and cannot be viewed as "
                      "something else [layout-scope]", b->name);
}

const Stmt *apply_tensor_layouts(Kernel *k, const BufferVec *tensors, const Stmt *body)
{
    Plan p = {.k = k};

    map_init(&p.bufs, k->ir->arena);
    for (int i = 0; i < tensors->n; i++) {
        BufferPlan *plan = buffer_plan(k, tensors->at[i]);
        const Layout *l = plan->layout;
        if (!l)
            continue; /* named twice */
        plan->layout = NULL;
        plan->pinned = false;
        refuse_views(k, tensors->at[i]);
        lay(&p, tensors->at[i], l);
    }
    if (p.laid.n > 0) {
        body = stmt_map(k->ir, body, open_tile, &p);
        body = stmt_map(k->ir, body, place_store, &p);
        body = stmt_map_expr(k->ir, body, place_loads, &p);
    }
    return p.bufs.n > 0 ? stmt_subst_map(k->ir, body, NULL, &p.bufs) : body;
}
