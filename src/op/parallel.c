/* parallel.c -- T.Parallel nests in layout inference.
 *
 * A nest has a layout of its own: a fragment over its loop variables that says which thread runs
 * an iteration.  It follows the fragments the nest touches, and they follow it:
 *
 *     settled   an element A[i, j] of a placed fragment is used where it lies
 *     spread    B[j] in a nest over (i, j) is held by every thread that runs some (i, j)
 *     owned     B[f(i, j)] += A[i, j] where one thread runs all that f sends to an element
 *     candidate nothing is placed: iterations go round-robin, in vectors as wide as the
 *               memory accesses allow; or along the replicas of a placed fragment
 *
 * An index that does not name loop variables one by one (acc[i + j], acc[idx[i]]) still works: such
 * a fragment is held by all threads. */
#include "op/op.h"

enum { AXIS_FREE = -1 };

/* ---- reading a nest -------------------------------------------------------------------------- */

typedef struct {
    Ir *ir;
    LoopNest *p;
    Map *where; /* Var -> Expr over the axes */
    Facts *f;
} Reading;

static const Expr *on_axes(const Reading *r, const Expr *e)
{
    return simplify(r->ir, r->f, expr_subst_map(r->ir, e, r->where, NULL));
}

static void add_access(Reading *r, Buffer *b, const Expr *const *at, int n, Access how)
{
    LoopAccess a = {
        .buf = b, .n = n, .how = how, .at = NEWN(r->ir->arena, const Expr *, MAX(n, 1))};
    for (int d = 0; d < n; d++)
        a.at[d] = on_axes(r, at[d]);
    for (int i = 0; i < r->p->access.n; i++) {
        LoopAccess *o = &r->p->access.at[i];
        if (o->buf == b && o->n == n && !memcmp(o->at, a.at, sizeof a.at[0] * (size_t)n)) {
            o->how |= how;
            return;
        }
    }
    vec_push(r->ir->arena, &r->p->access, a);
}

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    bool atomic = s->kind == ST_ATOMIC && !t->expr;
    if (!t->region && !(t->how & ACC_ADDRESS))
        add_access(arg, t->buf, t->at, t->n,
                   atomic ? (Access)(ACC_READ | ACC_WRITE) : (Access)t->how);
}

static bool see_stmt(const Stmt *s, void *arg)
{
    Reading *r = arg;
    stmt_touches(s, see_touch, r);
    if (s->kind == ST_LET)
        map_set(r->where, s->u.let.var, on_axes(r, s->u.let.value));
    if (s->kind == ST_FOR && expr_is_const(s->u.loop.min) && expr_is_const(s->u.loop.extent))
        vec_push(r->ir->arena, &r->p->inner, s);
    return true;
}

void parallel_read(Ir *ir, const Stmt *s, LoopNest *p)
{
    Map where;
    Facts *f = facts_new(ir);
    const Hint *h = hint_find(s->u.loop.hints, "loop_layout");
    map_init(&where, ir->arena);
    memset(p, 0, sizeof *p);
    p->loop = s;
    p->fixed = true;
    p->pinned = h ? h->layout : NULL;
    p->width = hint_int(s->u.loop.hints, "coalesced_width", 0);
    while (stmt_is_nest(s) && p->n < RANK_MOST) {
        int64_t n = 1;
        Var *axis = layout_axis(ir, p->n);
        p->fixed &= expr_is_int(s->u.loop.extent, &n) && n > 0;
        p->var[p->n] = s->u.loop.var;
        p->extent[p->n++] = n;
        facts_range(f, axis, expr_int(ir, 0), expr_int(ir, n));
        map_set(&where, s->u.loop.var,
                expr_add(ir, expr_var(ir, axis), expr_subst_map(ir, s->u.loop.min, &where, NULL)));
        s = s->u.loop.body;
    }
    p->body = s;
    Reading r = {ir, p, &where, f};
    if (p->fixed)
        stmt_visit(s, see_stmt, &r);
}

void parallel_know(Kernel *k, LoopNest *p)
{
    p->facts = body_facts(k);
}

static int64_t nest_size(const LoopNest *p)
{
    int64_t n = 1;
    for (int d = 0; d < p->n; d++)
        n *= p->extent[d];
    return n;
}

/* ---- what an index is ------------------------------------------------------------------------ */

static bool is_held(const Buffer *b)
{
    return b->scope == MEM_FRAGMENT;
}

static bool uses_axis(Ir *ir, const LoopNest *p, const Expr *e)
{
    for (int d = 0; d < p->n; d++) {
        if (expr_uses_var(e, layout_axis(ir, d)))
            return true;
    }
    return false;
}

/* Over axes and numbers only, so that it can be worked out for each iteration. */
static bool is_pure(Ir *ir, const LoopNest *p, const Expr *e)
{
    if (e->op == EX_VAR) {
        for (int d = 0; d < p->n; d++) {
            if (e->u.var == layout_axis(ir, d))
                return true;
        }
        return false;
    }
    if (e->op != EX_INT && (e->op < EX_ADD || e->op > EX_IF || e->op == EX_DIV))
        return false;
    for (int i = 0; i < e->nkid; i++) {
        if (!is_pure(ir, p, e->kid[i]))
            return false;
    }
    return true;
}

/* Does every index either avoid the axes or consist of them?  In `free` the first kind, of which
 * only numbers say where the element lies. */
static bool split_dims(Ir *ir, const LoopNest *p, const LoopAccess *a, bool *free)
{
    for (int d = 0; d < a->n; d++) {
        free[d] = !uses_axis(ir, p, a->at[d]) && a->at[d]->op != EX_INT;
        if (!free[d] && !is_pure(ir, p, a->at[d]))
            return false;
    }
    return true;
}

static bool uses_all_axes(Ir *ir, const LoopNest *p, const LoopAccess *a)
{
    for (int l = 0; l < p->n; l++) {
        bool used = p->extent[l] == 1;
        for (int d = 0; d < a->n && !used; d++)
            used = expr_uses_var(a->at[d], layout_axis(ir, l));
        if (!used)
            return false;
    }
    return true;
}

/* Dimension d of the buffer is axis axis[d] of the nest, whole; AXIS_FREE: no axis. */
static bool name_dims(Ir *ir, const LoopNest *p, const LoopAccess *a, int *axis)
{
    bool seen[RANK_MOST] = {false};
    int64_t shape[RANK_MOST];
    if (!buffer_static_shape(a->buf, shape) || a->n != a->buf->rank)
        return false;
    for (int d = 0; d < a->n; d++) {
        axis[d] = AXIS_FREE;
        if (!uses_axis(ir, p, a->at[d]))
            continue;
        for (int l = 0; l < p->n && axis[d] == AXIS_FREE; l++) {
            if (a->at[d]->op == EX_VAR && a->at[d]->u.var == layout_axis(ir, l))
                axis[d] = l;
        }
        if (axis[d] == AXIS_FREE || seen[axis[d]] || shape[d] != p->extent[axis[d]])
            return false;
        seen[axis[d]] = true;
    }
    return true;
}

static bool is_alone(const LoopNest *p, const LoopAccess *a)
{
    for (int i = 0; i < p->access.n; i++) {
        if (&p->access.at[i] != a && p->access.at[i].buf == a->buf)
            return false;
    }
    return true;
}

/* ---- from fragments to the nest -------------------------------------------------------------- */

static bool thread_uses_free(Ir *ir, const Layout *l, const LoopAccess *a, const bool *free)
{
    for (int d = 0; d < a->n; d++) {
        if (free[d] && l->extent[d] > 1 && expr_uses_var(l->thread, layout_axis(ir, d)))
            return true;
    }
    return false;
}

static const Expr *zero_of(Ir *ir)
{
    return expr_int(ir, 0);
}

static void bind_access(Ir *ir, const LoopAccess *a, const bool *free, Map *m)
{
    map_init(m, ir->arena);
    for (int d = 0; d < a->n; d++)
        map_set(m, layout_axis(ir, d), free[d] ? zero_of(ir) : a->at[d]);
}

static const Expr *flat_axes(Ir *ir, const LoopNest *p)
{
    const Expr *e = zero_of(ir);
    for (int d = 0; d < p->n; d++)
        e = expr_add(ir, expr_mul(ir, e, expr_int(ir, p->extent[d])),
                     expr_var(ir, layout_axis(ir, d)));
    return e;
}

static void shape_like(const LoopNest *p, Layout *want)
{
    want->rank = p->n;
    for (int d = 0; d < p->n; d++)
        want->extent[d] = p->extent[d];
}

/* Neighbours that use one element (A[i, j // 2]) are told apart by what the index leaves out. */
static bool add_remainders(Ir *ir, const LoopAccess *a, const bool *free, Layout *want)
{
    int was = want->nout;
    int64_t n;
    for (int d = 0; d < a->n; d++) {
        const Expr *e = a->at[d];
        bool part = e->op == EX_FLOORDIV || e->op == EX_FLOORMOD;
        if (free[d] || !part || !expr_is_int(e->kid[1], &n) || n <= 0)
            continue;
        if (want->nout == RANK_MOST)
            return false;
        want->out[want->nout++] = e->op == EX_FLOORDIV ? expr_floormod(ir, e->kid[0], e->kid[1])
                                                       : expr_floordiv(ir, e->kid[0], e->kid[1]);
    }
    return want->nout > was;
}

typedef struct {
    Ir *ir;
    const LoopNest *p;
    Map *zero; /* variables of loops around the nest */
    bool loads;
} Others;

static bool see_other(const Expr *e, void *arg)
{
    Others *o = arg;
    if (e->op == EX_VAR && !is_pure(o->ir, o->p, e))
        map_set(o->zero, e->u.var, zero_of(o->ir));
    o->loads |= e->op == EX_LOAD;
    return true;
}

/* x[i, k * 4 + j] in a loop over k: who holds the element, where that is the same for every k;
 * `others` gets the variables of loops around the nest and in it. */
static const Expr *thread_any_iter(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                   const Layout *owner, Map *others)
{
    bool free[RANK_MOST] = {false};
    Others o = {ir, p, others, false};
    Layout box = {.rep = owner->rep};
    Map m;

    map_init(others, ir->arena);
    for (int d = 0; d < a->n; d++)
        expr_visit(a->at[d], see_other, &o);
    if (o.loads || others->n == 0 || owner->rank != a->n || !uses_all_axes(ir, p, a))
        return NULL;
    shape_like(p, &box);
    bind_access(ir, a, free, &m);
    Facts *f = layout_facts(ir, &box);
    for (int i = 0; i < p->inner.n; i++) {
        const Stmt *s = p->inner.at[i];
        facts_range(f, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    }
    const Expr *e = simplify(ir, f, expr_subst_map(ir, owner->thread, &m, NULL));
    Map left;
    o.zero = &left;
    map_init(&left, ir->arena);
    expr_visit(e, see_other, &o);
    map_set(&left, layout_rep(ir), NULL);
    return left.n == 1 ? e : NULL;
}

static const Layout *follow_iters(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                  const Layout *owner)
{
    bool free[RANK_MOST] = {false};
    Layout want = {.rep = owner->rep, .nthread = owner->nthread, .nout = owner->nout};
    Map m, others;
    const Expr *thread = thread_any_iter(ir, p, a, owner, &others);

    if (!thread)
        return NULL;
    shape_like(p, &want);
    want.thread = thread;
    bind_access(ir, a, free, &m);
    for (int d = 0; d < owner->nout; d++) {
        want.out[d] = expr_subst_map(ir, owner->out[d], &m, NULL);
        want.out[d] = expr_subst_map(ir, want.out[d], &others, NULL);
    }
    const Layout *l = layout_make(ir, &want);
    return l && layout_is_injective(ir, l) ? l : NULL;
}

/* Every iteration where its element of `a` lies. */
static const Layout *follow(Infer *in, const LoopNest *p, const LoopAccess *a, const Layout *owner)
{
    Ir *ir = in->ir;
    bool free[RANK_MOST];
    Layout want = {.rep = owner->rep, .nthread = owner->nthread, .nout = owner->nout};
    if (owner->rank != a->n || !uses_all_axes(ir, p, a))
        return NULL;
    if (!split_dims(ir, p, a, free))
        return follow_iters(ir, p, a, owner);
    if (thread_uses_free(ir, owner, a, free))
        return NULL;
    Map m;
    bind_access(ir, a, free, &m);
    shape_like(p, &want);
    want.thread = expr_subst_map(ir, owner->thread, &m, NULL);
    for (int d = 0; d < owner->nout; d++)
        want.out[d] = expr_subst_map(ir, owner->out[d], &m, NULL);
    want.name = owner->name;
    const Layout *l = layout_make(ir, &want);
    if (l && layout_is_injective(ir, l))
        return l;
    l = l && add_remainders(ir, a, free, &want) ? layout_make(ir, &want) : NULL;
    if (l && layout_is_injective(ir, l))
        return l;
    want.nout = 1;
    want.out[0] = flat_axes(ir, p);
    return layout_make(ir, &want);
}

/* ---- from the nest to fragments -------------------------------------------------------------- */

static const Layout *everywhere(Infer *in, const Buffer *b)
{
    int64_t shape[RANK_MOST];
    if (!buffer_static_shape(b, shape))
        return NULL;
    return fragment_replicated(in->ir, b->rank, shape, in->nthread);
}

/* Loops that the access does not name are summed over: whoever runs one of them holds it. */
static const Layout *over_named_loops(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                      const int *axis, const Layout *loop)
{
    const Layout *l = loop;
    for (int d = p->n - 1; d >= 0; d--) {
        bool used = false;
        for (int k = 0; k < a->n; k++)
            used |= axis[k] == d;
        if (!used)
            l = fragment_reduce(ir, l, d);
    }
    return l;
}

/* B[i, j] with each index a loop of its own, or free of them. */
static const Layout *wanted_by_name(Ir *ir, const LoopNest *p, const LoopAccess *a, const int *axis,
                                    const Layout *loop)
{
    int64_t shape[RANK_MOST];
    int kept = 0;
    const Layout *l = over_named_loops(ir, p, a, axis, loop);
    Layout want = {.rank = a->n, .rep = l->rep, .nthread = l->nthread, .name = l->name};
    Map m;
    map_init(&m, ir->arena);
    for (int d = 0; d < p->n; d++) {
        for (int k = 0; k < a->n; k++) {
            if (axis[k] == d)
                map_set(&m, layout_axis(ir, kept++), expr_var(ir, layout_axis(ir, k)));
        }
    }
    buffer_static_shape(a->buf, shape);
    for (int d = 0; d < a->n; d++) {
        want.extent[d] = shape[d];
        if (axis[d] == AXIS_FREE && shape[d] > 1)
            want.out[want.nout++] = expr_var(ir, layout_axis(ir, d));
    }
    if (want.nout + l->nout > RANK_MOST)
        return NULL;
    for (int d = 0; d < l->nout; d++)
        want.out[want.nout++] = expr_subst_map(ir, l->out[d], &m, NULL);
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    return layout_make(ir, &want);
}

/* B[i * 2 + j]: any one-to-one map of the nest onto the whole buffer, inverted. */
static const Layout *wanted_by_inverse(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                       const Layout *loop)
{
    int64_t shape[RANK_MOST], n = 1;
    Var *vars[RANK_MOST];
    const Expr *inverse[RANK_MOST];
    if (!buffer_static_shape(a->buf, shape) || a->n != a->buf->rank || a->n == 0)
        return NULL;
    Layout want = {.rank = a->n, .rep = loop->rep, .nthread = loop->nthread, .nout = loop->nout};
    for (int d = 0; d < a->n; d++) {
        if (!is_pure(ir, p, a->at[d]))
            return NULL;
        want.extent[d] = shape[d];
        n *= shape[d];
    }
    for (int d = 0; d < RANK_MOST; d++)
        vars[d] = layout_axis(ir, d);
    if (n != nest_size(p) || !map_invert(ir, vars, p->extent, p->n, a->at, a->n, vars, inverse))
        return NULL;
    Map m;
    map_init(&m, ir->arena);
    for (int d = 0; d < p->n; d++)
        map_set(&m, vars[d], inverse[d]);
    want.thread = expr_subst_map(ir, loop->thread, &m, NULL);
    for (int d = 0; d < loop->nout; d++)
        want.out[d] = expr_subst_map(ir, loop->out[d], &m, NULL);
    return layout_make(ir, &want);
}

/* B[i, j // 4]: whoever runs one of the iterations of a run holds its element. */
static const Layout *wanted_by_runs(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                    const Layout *loop)
{
    int64_t shape[RANK_MOST], run;
    const Expr *at[RANK_MOST];
    LoopNest split = *p;
    LoopAccess named = *a;
    Layout want = *loop;
    int axis[RANK_MOST];
    Map m;

    if ((a->how & ACC_WRITE) || !buffer_static_shape(a->buf, shape) || a->n != a->buf->rank)
        return NULL;
    map_init(&m, ir->arena);
    named.at = at;
    for (int d = 0; d < a->n; d++) {
        const Expr *e = at[d] = a->at[d];
        if (e->op != EX_FLOORDIV || e->kid[0]->op != EX_VAR || !expr_is_int(e->kid[1], &run) ||
            run <= 1 || split.n == RANK_MOST)
            continue;
        int l = 0;
        while (l < p->n && e->kid[0]->u.var != layout_axis(ir, l))
            l++;
        if (l == p->n || split.extent[l] != shape[d] * run)
            continue;
        at[d] = e->kid[0];
        map_set(&m, at[d]->u.var,
                expr_add(ir, expr_mul(ir, at[d], expr_int(ir, run)),
                         expr_var(ir, layout_axis(ir, split.n))));
        want.extent[l] = split.extent[l] = shape[d];
        want.extent[split.n] = split.extent[split.n] = run;
        split.n++;
    }
    if (split.n == p->n || !name_dims(ir, &split, &named, axis))
        return NULL;
    want.rank = split.n;
    want.thread = expr_subst_map(ir, loop->thread, &m, NULL);
    for (int d = 0; d < loop->nout; d++)
        want.out[d] = expr_subst_map(ir, loop->out[d], &m, NULL);
    want.name = NULL;
    const Layout *whole = layout_make(ir, &want);
    return whole ? wanted_by_name(ir, &split, &named, axis, whole) : NULL;
}

static const Layout *wanted_exactly(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                    const Layout *loop);

static bool is_pure_access(Ir *ir, const LoopNest *p, const LoopAccess *a)
{
    for (int d = 0; d < a->n; d++) {
        if (!is_pure(ir, p, a->at[d]))
            return false;
    }
    return true;
}

/* The loop that runs over a strip of dimension d: its extent divides that of the dimension, and the
 * index is a multiple of it away from the loop's variable. */
static int strip_axis(Ir *ir, const LoopNest *p, const Expr *index, int64_t extent)
{
    Layout box = {.rep = 1};

    shape_like(p, &box);
    for (int l = 0; l < p->n; l++) {
        int64_t n = p->extent[l];
        const Expr *var = expr_var(ir, layout_axis(ir, l));
        if (n < extent && extent % n == 0 && expr_uses_var(index, var->u.var) &&
            simplify(ir, layout_facts(ir, &box), expr_floormod(ir, index, expr_int(ir, n))) == var)
            return l;
    }
    return AXIS_FREE;
}

/* B[i, k * 8 + j] with k of a loop around: every strip is distributed as the nest is. */
static const Layout *wanted_by_strips(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                      const Layout *loop)
{
    int64_t shape[RANK_MOST], n[RANK_MOST];
    const Expr *at[RANK_MOST], *extent[RANK_MOST], *out[RANK_MOST];
    Buffer strip = *a->buf;
    LoopAccess named = *a;
    int nout = 0;
    Map m;

    if (!buffer_static_shape(a->buf, shape) || a->n != a->buf->rank)
        return NULL;
    map_init(&m, ir->arena);
    for (int d = 0; d < a->n; d++) {
        int l = strip_axis(ir, p, a->at[d], shape[d]);
        n[d] = l == AXIS_FREE ? shape[d] : p->extent[l];
        at[d] = l == AXIS_FREE ? a->at[d] : expr_var(ir, layout_axis(ir, l));
        extent[d] = expr_int(ir, n[d]);
        if (l == AXIS_FREE)
            continue;
        const Expr *x = expr_var(ir, layout_axis(ir, d));
        map_set(&m, layout_axis(ir, d), expr_floormod(ir, x, expr_int(ir, n[d])));
        out[nout++] = expr_floordiv(ir, x, expr_int(ir, n[d]));
    }
    if (nout == 0)
        return NULL;
    strip.shape = extent;
    named.buf = &strip;
    named.at = at;
    const Layout *l = wanted_exactly(ir, p, &named, loop);
    if (!l || l->nout + nout > RANK_MOST)
        return NULL;
    Layout want = *l;
    want.name = NULL;
    want.nout = l->nout + nout;
    for (int d = 0; d < a->n; d++)
        want.extent[d] = shape[d];
    want.thread = expr_subst_map(ir, l->thread, &m, NULL);
    for (int d = 0; d < want.nout; d++)
        want.out[d] = d < nout ? out[d] : expr_subst_map(ir, l->out[d - nout], &m, NULL);
    return layout_make(ir, &want);
}

/* NULL where only all threads together will do. */
static const Layout *wanted_exactly(Ir *ir, const LoopNest *p, const LoopAccess *a,
                                    const Layout *loop)
{
    int axis[RANK_MOST];
    if (!is_alone(p, a))
        return NULL;
    if (name_dims(ir, p, a, axis))
        return wanted_by_name(ir, p, a, axis, loop);
    const Layout *l = wanted_by_inverse(ir, p, a, loop);
    l = l ? l : wanted_by_runs(ir, p, a, loop);
    l = l ? l : wanted_by_strips(ir, p, a, loop);
    return l || !is_pure_access(ir, p, a) ? l : parallel_owned(ir, p, a, loop);
}

const Layout *parallel_wanted(Infer *in, const LoopNest *p, const LoopAccess *a, const Layout *loop)
{
    const Layout *l = wanted_exactly(in->ir, p, a, loop);
    return l ? l : everywhere(in, a->buf);
}

const Layout *parallel_everywhere(Infer *in, const LoopNest *p)
{
    return fragment_replicated(in->ir, p->n, p->extent, in->nthread);
}

/* A result that all threads hold is worked out by all of them. */
static const Layout *or_everywhere(Infer *in, const LoopNest *p, const Layout *loop)
{
    for (int i = 0; loop && i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        if (is_held(a->buf) && (a->how & ACC_WRITE) && !infer_get(in, a->buf) &&
            !wanted_exactly(in->ir, p, a, loop))
            return parallel_everywhere(in, p);
    }
    return loop;
}

const Layout *parallel_settled(Infer *in, const LoopNest *p)
{
    const Layout *best = NULL;
    if (!p->fixed)
        return NULL;
    for (int writes = 1; writes >= 0; writes--) {
        for (int i = 0; i < p->access.n; i++) {
            const LoopAccess *a = &p->access.at[i];
            const Layout *owner = is_held(a->buf) ? infer_get(in, a->buf) : NULL;
            if (!owner || !layout_is_fragment(owner) || !!(a->how & ACC_WRITE) != writes)
                continue;
            const Layout *l = follow(in, p, a, owner);
            /* Of what is only read, the least replicated: fewer threads do the same work. */
            if (l && (!best || (!writes && l->rep < best->rep)))
                best = l;
            if (l && writes)
                return or_everywhere(in, p, l);
        }
    }
    return or_everywhere(in, p, best);
}

static bool is_at_same(const LoopAccess *a, const LoopAccess *b)
{
    int64_t x[RANK_MOST], y[RANK_MOST];
    return a->n == b->n && !memcmp(a->at, b->at, sizeof a->at[0] * (size_t)a->n) &&
           buffer_static_shape(a->buf, x) && buffer_static_shape(b->buf, y) &&
           !memcmp(x, y, sizeof x[0] * (size_t)a->n);
}

/* Of B[2, j] = A[2, j] the nest sees a row only: the rest of B lies as that of A does. */
static const Layout *wanted_alike(Infer *in, const LoopNest *p, const LoopAccess *a,
                                  const Layout *loop)
{
    int axis[RANK_MOST];
    bool whole = name_dims(in->ir, p, a, axis);

    for (int d = 0; whole && d < a->n; d++)
        whole = axis[d] != AXIS_FREE;
    for (int i = 0; !whole && i < p->access.n; i++) {
        const LoopAccess *o = &p->access.at[i];
        const Layout *l = is_held(o->buf) && o->buf != a->buf ? infer_get(in, o->buf) : NULL;
        if (l && layout_is_fragment(l) && is_at_same(a, o) &&
            parallel_agrees(in->ir, p, o, loop, l) && parallel_agrees(in->ir, p, a, loop, l))
            return l;
    }
    return NULL;
}

void parallel_spread(Infer *in, const LoopNest *p, const Layout *loop)
{
    for (int i = 0; i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        if (!is_held(a->buf) || infer_get(in, a->buf))
            continue;
        const Layout *l = wanted_alike(in, p, a, loop);
        l = l ? l : parallel_wanted(in, p, a, loop);
        if (l)
            infer_set(in, a->buf, l, p->loop);
    }
}

/* ---- agreement ------------------------------------------------------------------------------- */

static bool is_everywhere(const Layout *l)
{
    return l->rep == l->nthread && (l->thread->op == EX_VAR || l->nthread == 1);
}

/* Who holds what: one bit per element and thread. */
typedef struct {
    Arena *scratch;
    const Layout *owner;
    int64_t nthread;
    int nword;
    uint64_t *bit; /* elements row-major, nword words each */
    uint64_t *now; /* of one iteration */
} Holders;

static Holders holders_of(const Layout *owner, const Layout *loop)
{
    Holders h = {.scratch = arena_new(), .owner = owner};
    int64_t at[RANK_MOST] = {0}, n = 0;
    h.nword = (int)((MAX(owner->nthread, loop->nthread) + 63) / 64);
    h.bit = NEWN(h.scratch, uint64_t, layout_points(owner) * h.nword);
    h.now = NEWN(h.scratch, uint64_t, h.nword);
    do {
        for (int64_t r = 0; r < owner->rep; r++) {
            int64_t t = fragment_eval_thread(owner, at, r);
            h.bit[n * h.nword + t / 64] |= (uint64_t)1 << t % 64;
        }
        n++;
    } while (layout_next(owner, at));
    return h;
}

static bool element_agrees(const Holders *h, const int64_t *x, bool write)
{
    int64_t flat = 0;
    for (int d = 0; d < h->owner->rank; d++)
        flat = flat * h->owner->extent[d] + x[d];
    const uint64_t *held = &h->bit[flat * h->nword];
    for (int i = 0; i < h->nword; i++) {
        if ((h->now[i] & ~held[i]) || (write && held[i] != h->now[i]))
            return false;
    }
    return true;
}

/* One iteration: for every value of the free indices the threads must synchronise. */
static bool iteration_agrees(const Holders *h, const LoopAccess *a, const Layout *loop,
                             const int64_t *at, const int64_t *fixed, const bool *free)
{
    int64_t x[RANK_MOST];
    for (int d = 0; d < a->n; d++)
        x[d] = free[d] ? 0 : fixed[d];
    memset(h->now, 0, sizeof(uint64_t) * (size_t)h->nword);
    for (int64_t r = 0; r < loop->rep; r++) {
        int64_t t = fragment_eval_thread(loop, at, r);
        h->now[t / 64] |= (uint64_t)1 << t % 64;
    }
    for (;;) {
        if (!element_agrees(h, x, a->how & ACC_WRITE))
            return false;
        int d = a->n - 1;
        for (; d >= 0; d--) {
            if (!free[d])
                continue;
            if (++x[d] < h->owner->extent[d])
                break;
            x[d] = 0;
        }
        if (d < 0)
            return true;
    }
}

static bool same_expression(Ir *ir, const LoopAccess *a, const Layout *loop, const Layout *owner,
                            const bool *free)
{
    Map m;
    if (loop->rep != owner->rep)
        return false;
    bind_access(ir, a, free, &m);
    const Expr *e = expr_subst_map(ir, owner->thread, &m, NULL);
    return simplify(ir, layout_facts(ir, loop), e) == loop->thread;
}

/* Outside of the tile no thread holds anything. */
static bool is_inside(const Layout *owner, const int64_t *index)
{
    for (int d = 0; d < owner->rank; d++) {
        if (index[d] < 0 || index[d] >= owner->extent[d])
            return false;
    }
    return true;
}

bool parallel_agrees(Ir *ir, const LoopNest *p, const LoopAccess *a, const Layout *loop,
                     const Layout *owner)
{
    bool free[RANK_MOST];
    int64_t at[RANK_MOST] = {0}, index[RANK_MOST];
    Var *vars[RANK_MOST];
    const Expr *e[RANK_MOST];
    bool write = a->how & ACC_WRITE;
    if (is_everywhere(owner) && (!write || is_everywhere(loop)))
        return true;
    if (owner->rank != a->n)
        return false;
    if (!split_dims(ir, p, a, free)) {
        Map others;
        return loop->rep == owner->rep &&
               thread_any_iter(ir, p, a, owner, &others) == loop->thread;
    }
    if (same_expression(ir, a, loop, owner, free) && !thread_uses_free(ir, owner, a, free))
        return true;
    if (!write || uses_all_axes(ir, p, a)) {
        const Layout *wanted = wanted_exactly(ir, p, a, loop);
        if (wanted && wanted->rep == owner->rep && wanted->thread == owner->thread)
            return true;
    }
    for (int d = 0; d < p->n; d++)
        vars[d] = layout_axis(ir, d);
    for (int d = 0; d < a->n; d++)
        e[d] = free[d] ? zero_of(ir) : a->at[d];
    const ExprCode *code = expr_compile(ir, vars, p->n, e, a->n);
    Holders h = holders_of(owner, loop);
    bool agrees = true;
    do {
        expr_run(code, at, index);
        if (is_inside(owner, index))
            agrees = iteration_agrees(&h, a, loop, at, index, free);
    } while (agrees && layout_next(loop, at));
    arena_free(h.scratch);
    return agrees;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool touches_fragment(const LoopNest *p)
{
    for (int i = 0; i < p->access.n; i++) {
        if (is_held(p->access.at[i].buf))
            return true;
    }
    return false;
}

/* Registers are not to be wasted on a ragged vector; without fragments the tail is only guarded. */
static const Layout *round_robin(Infer *in, const LoopNest *p)
{
    int64_t total = nest_size(p), w = parallel_width(in->ir, p, in->k->machine->access_bytes);
    while (w > 1 && (touches_fragment(p) ? total % (w * in->nthread) != 0
                                         : total < w * in->nthread))
        w /= 2;
    return fragment_linear(in->ir, p->n, p->extent, in->nthread, w);
}

/* Along the replicas of a fragment that names only some of the loops. */
static const Layout *along_replicas(Infer *in, const LoopNest *p, const LoopAccess *a,
                                    const Layout *owner)
{
    Ir *ir = in->ir;
    bool free[RANK_MOST];
    Layout want = {.rep = 1, .nthread = owner->nthread, .nout = 2};
    if (owner->rank != a->n || !split_dims(ir, p, a, free) || thread_uses_free(ir, owner, a, free))
        return NULL;
    const Expr *rest = zero_of(ir);
    int64_t w = parallel_width(ir, p, in->k->machine->access_bytes), nrest = 1;
    for (int l = 0; l < p->n; l++) {
        bool used = false;
        for (int d = 0; d < a->n; d++)
            used |= expr_uses_var(a->at[d], layout_axis(ir, l));
        if (used)
            continue;
        rest = expr_add(ir, expr_mul(ir, rest, expr_int(ir, p->extent[l])),
                        expr_var(ir, layout_axis(ir, l)));
        nrest *= p->extent[l];
    }
    while (w > 1 && nrest % (w * owner->rep) != 0)
        w /= 2;
    Map m;
    bind_access(ir, a, free, &m);
    const Expr *ew = expr_int(ir, w), *er = expr_int(ir, owner->rep);
    const Expr *chunk = expr_floordiv(ir, rest, ew);
    map_set(&m, layout_rep(ir), expr_floormod(ir, chunk, er));
    shape_like(p, &want);
    want.thread = expr_subst_map(ir, owner->thread, &m, NULL);
    const Expr *at[RANK_MOST];
    for (int d = 0; d < a->n; d++)
        at[d] = free[d] ? zero_of(ir) : a->at[d];
    want.out[0] = layout_offset(ir, owner, at);
    want.out[1] = expr_add(ir, expr_mul(ir, expr_floordiv(ir, chunk, er), ew),
                           expr_floormod(ir, rest, ew));
    const Layout *l = layout_make(ir, &want);
    return l && layout_is_injective(ir, l) ? l : NULL;
}

static bool touches_memory(const LoopNest *p)
{
    bool found = false;
    for (int i = 0; i < p->access.n; i++) {
        MemScope where = p->access.at[i].buf->scope;
        found |= where == MEM_GLOBAL || where == MEM_SHARED;
    }
    return found;
}

/* A nest of fragments alone says nothing of vectors, its tiles are moved by others: a row to a warp
 * costs as few registers for what goes by columns as single elements would, and each lane has
 * neighbours.  NULL: rows have no place for them. */
static const Layout *row_to_warp(Infer *in, const LoopNest *p)
{
    int64_t warp = kernel_warp(in->k), cols = p->extent[p->n - 1], w = 0;

    for (int i = 0; i < p->access.n; i++) {
        int64_t most = kernel_access(in->k, p->access.at[i].buf->type);
        w = w ? MIN(w, most) : most;
    }
    while (w > 1 && cols % (w * warp))
        w /= 2;
    return w > 1 && in->nthread % warp == 0
               ? fragment_rows(in->ir, p->n, p->extent, in->nthread, warp, w) : NULL;
}

const Layout *parallel_candidate(Infer *in, const LoopNest *p, int which)
{
    if (!p->fixed)
        return NULL;
    if (which == 0)
        return or_everywhere(in, p, round_robin(in, p));
    for (int i = 0; i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        const Layout *owner = is_held(a->buf) ? infer_get(in, a->buf) : NULL;
        if (!owner || !layout_is_fragment(owner) || uses_all_axes(in->ir, p, a))
            continue;
        const Layout *l = along_replicas(in, p, a, owner);
        if (l && --which == 0)
            return or_everywhere(in, p, l);
    }
    if (p->n == 0 || --which != 0 || !touches_fragment(p))
        return NULL;
    const Layout *own = touches_memory(p) ? NULL : row_to_warp(in, p);
    if (own)
        return or_everywhere(in, p, own);
    int w = parallel_width(in->ir, p, in->k->machine->access_bytes);
    return or_everywhere(in, p, fragment_rows_best(in->ir, p->n, p->extent, in->nthread, w,
                                                   kernel_warp(in->k)));
}
