/* async_nest.c -- T.Parallel nests that only copy: a tile filled from global memory, element by
 * element, with zeros where a condition fails.
 *
 *     for i, j in parallel(64, 32):
 *         s[i, j] = A[f(i, j)] if c(i, j) else 0                                                */
#include <math.h>
#include "pass/async_copy.h"


static bool is_zero(const Expr *e)
{
    return e->op == EX_FLOAT ? e->u.f == 0 && !signbit(e->u.f) : expr_is_zero(e);
}

/* The store of the body, with its lets put into it; NULL: there is something else. */
static const Stmt *lone_store(Ir *ir, const Stmt *body, Map *lets)
{
    const Stmt *store = NULL;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;

    for (int i = 0; i < n; i++) {
        const Stmt *s = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        if (s->kind == ST_LET)
            map_set(lets, s->u.let.var, expr_subst_map(ir, s->u.let.value, lets, NULL));
        else if (s->kind == ST_STORE && !store)
            store = s;
        else
            return NULL;
    }
    return store;
}

/* Every element of the tile once: each index is a loop that runs along it. */
static bool fills_tile(const LoopNest *p, const Stmt *store, int *axis)
{
    const Buffer *b = store->u.store.buf;
    int64_t shape[RANK_MOST];
    bool used[RANK_MOST] = {false};

    if (store->u.store.guard || b->rank != p->n || !buffer_static_shape(b, shape))
        return false;
    for (int d = 0; d < b->rank; d++) {
        const Expr *x = store->u.store.at[d];
        int i = 0;
        while (i < p->n && (x->op != EX_VAR || x->u.var != p->var[i]))
            i++;
        if (i == p->n || used[i] || p->extent[i] != shape[d])
            return false;
        used[i] = true;
        axis[d] = i;
    }
    return true;
}

static bool from_zero(const Stmt *s, int n)
{
    for (int i = 0; i < n; i++) {
        if (!expr_is_zero(s->u.loop.min))
            return false;
        s = s->u.loop.body;
    }
    return true;
}

bool nest_is_fill(Ir *ir, const Stmt *nest, NestFill *f)
{
    Map lets;

    map_init(&lets, ir->arena);
    parallel_read(ir, nest, &f->nest);
    if (!f->nest.fixed || !from_zero(nest, f->nest.n))
        return false;
    const Stmt *s = lone_store(ir, f->nest.body, &lets);
    if (!s || s->u.store.buf->rank == 0 || !fills_tile(&f->nest, s, f->axis))
        return false;
    f->dst = s->u.store.buf;
    f->value = expr_subst_map(ir, s->u.store.value, &lets, NULL);
    return true;
}

bool nest_is_copy(Ir *ir, const Stmt *nest, NestCopy *c)
{
    NestFill f;

    if (!nest_is_fill(ir, nest, &f) || f.dst->scope != MEM_SHARED)
        return false;
    const Expr *x = f.value;
    c->nest = f.nest;
    c->dst = f.dst;
    memcpy(c->axis, f.axis, sizeof c->axis);
    c->cond = NULL;
    if (x->op == EX_IF && is_zero(x->kid[2])) {
        c->cond = x->kid[0];
        x = x->kid[1];
    }
    c->load = x;
    return x->op == EX_LOAD && !x->guarded && x->u.buf->scope == MEM_GLOBAL &&
           x->u.buf->type == c->dst->type;
}

/* ---- asked for by hand ----------------------------------------------------------------------- */

const Stmt *nest_by_hand(Ir *ir, const Stmt *nest)
{
    LoopNest p = {0};
    Map lets;

    if (!stmt_is_nest(nest) ||
        !hint_int(nest->u.loop.hints, "prefer_async", 0))
        return NULL;
    map_init(&lets, ir->arena);
    parallel_read(ir, nest, &p);
    const Stmt *s = lone_store(ir, p.body, &lets);
    if (!s || !from_zero(nest, p.n) || s->u.store.buf->scope != MEM_SHARED || s->u.store.guard)
        return NULL;
    if (s->u.store.async)
        return nest; /* a pipelined loop made it one */
    const Expr *x = expr_subst_map(ir, s->u.store.value, &lets, NULL), *load = x;
    if (x->op == EX_IF && is_zero(x->kid[2]))
        load = x->kid[1];
    if (load->op != EX_LOAD || load->u.buf->scope != MEM_GLOBAL ||
        load->u.buf->type != s->u.store.buf->type)
        return NULL;
    const Expr *at[RANK_MOST];
    for (int d = 0; d < s->u.store.n; d++)
        at[d] = expr_subst_map(ir, s->u.store.at[d], &lets, NULL);
    s = stmt_store(ir, s->span, s->u.store.buf, at, s->u.store.n, x);
    s = stmt_store_async(ir, s, ASYNC_COPY);
    for (int i = p.n - 1; i >= 0; i--)
        s = stmt_for(ir, nest->span, LOOP_PARALLEL, p.var[i], expr_int(ir, 0),
                     expr_int(ir, p.extent[i]), i == 0 ? nest->u.loop.hints : (Hints){0}, s);
    return p.fixed ? s : NULL;
}

/* ---- bytes that move together ---------------------------------------------------------------- */

typedef struct {
    Ir *ir;
    Facts *f;
    const Var *last;
    Var *group;
    int64_t width;
} Runs;

static const Expr *in_lane(Runs *r, const Expr *x, int64_t lane)
{
    const Expr *at =
        expr_add(r->ir, expr_mul(r->ir, expr_var(r->ir, r->group), expr_int(r->ir, r->width)),
                 expr_int(r->ir, lane));
    return simplify(r->ir, r->f, expr_subst(r->ir, x, r->last, at));
}

static bool is_multiple(Runs *r, const Expr *x)
{
    Modular m = modular_of(r->f, x);
    return m.coef % r->width == 0 && m.base % r->width == 0;
}

/* Up by `step` from lane to lane. */
static bool goes_by(Runs *r, const Expr *x, int64_t step)
{
    const Expr *first = in_lane(r, x, 0);
    for (int64_t l = 1; l < r->width; l++) {
        int64_t by = 0;
        const Expr *d = simplify(r->ir, r->f, expr_sub(r->ir, in_lane(r, x, l), first));
        if (!expr_is_int(d, &by) || by != l * step)
            return false;
    }
    return true;
}

/* The same in all lanes of a group. */
static bool is_even(Runs *r, const Expr *c)
{
    if (c->op == EX_AND)
        return is_even(r, c->kid[0]) && is_even(r, c->kid[1]);
    const Expr *first = in_lane(r, c, 0);
    bool same = true;
    for (int64_t l = 1; l < r->width && same; l++)
        same = in_lane(r, c, l) == first;
    if (same)
        return true;
    return c->op == EX_LT && goes_by(r, c->kid[0], 1) && goes_by(r, c->kid[1], 0) &&
           is_multiple(
               r, simplify(r->ir, r->f,
                           expr_sub(r->ir, in_lane(r, c->kid[1], 0), in_lane(r, c->kid[0], 0))));
}

/* Consecutive elements of the tensor, from a multiple of the width, in it together or not at all.
 */
static bool is_run(Runs *r, const Expr *load)
{
    const Buffer *b = load->u.buf;
    int last = b->rank - 1;
    int64_t one = 1;

    if (!buffer_is_aligned(b) || !is_multiple(r, b->shape[last]) ||
        !goes_by(r, load->kid[last], 1) || !is_multiple(r, in_lane(r, load->kid[last], 0)))
        return false;
    if (b->stride && (!expr_is_int(b->stride[last], &one) || one != 1))
        return false;
    for (int d = 0; d < last; d++)
        if (!goes_by(r, load->kid[d], 0) || (b->stride && !is_multiple(r, b->stride[d])))
            return false;
    return true;
}

int nest_async_bytes(Kernel *k, const Mech *how, const NestCopy *c)
{
    Ir *ir = k->ir;
    Facts *f = body_facts(k);
    int bytes = dtype_bits(c->dst->type) / 8;
    int64_t extent = 0, shape[RANK_MOST];

    if (bytes == 0 || c->load->u.buf->rank == 0 ||
        buffer_plan(k, c->load->u.buf)->safe || !buffer_static_shape(c->dst, shape))
        return 0;
    extent = shape[c->dst->rank - 1];
    const Var *last = c->nest.var[c->axis[c->dst->rank - 1]];
    int64_t most = c->nest.width ? c->nest.width * bytes : how->most;
    for (int n = (int)MIN(most, how->most); n >= how->least && n >= bytes; n /= 2) {
        Runs r = {ir, f, last, NULL, n / bytes};
        if (n == bytes)
            return n;
        if (extent % r.width)
            continue;
        int mark = facts_mark(f);
        r.group = var_new(ir, "q", DT_I32, NO_SPAN);
        facts_range(r.f, r.group, expr_int(ir, 0), expr_int(ir, extent / r.width));
        for (int i = 0; i < c->nest.n; i++)
            facts_range(r.f, c->nest.var[i], expr_int(ir, 0), expr_int(ir, c->nest.extent[i]));
        bool runs = is_run(&r, c->load) && (!c->cond || is_even(&r, c->cond));
        facts_pop(f, mark);
        if (runs)
            return n;
    }
    return 0;
}
