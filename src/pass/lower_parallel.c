/* lower_parallel.c -- T.Parallel nests on targets where a block is one thread.
 *
 * needs   FORM_LOOPS
 * gives   FORM_THREADS
 *
 * The iterations of a nest are independent, so any order will do: the loop whose variable runs
 * along the last index of most accesses goes innermost and becomes a vector loop; where indices
 * have quotients and remainders, the places in memory tell what runs along.  A loop in which
 * two iterations may store to the same element, or one may read what another stores (the user's
 * race, warned about by check_races), is kept serial: it then means what the simulator says it
 * means. */
#include "pass/pass.h"
#include "pass/thread_nest.h"

enum { NEAR = 4, SAMPLES = 16 };

typedef struct {
    Ir *ir;
    int n;
    const Stmt *loop[RANK_MOST]; /* outermost first */
    const Stmt *body;
} Loops;

static void nest_of(const Stmt *s, Loops *nest)
{
    nest->n = 0;
    while (stmt_is_nest(s) && nest->n < RANK_MOST) {
        nest->loop[nest->n++] = s;
        s = s->u.loop.body;
    }
    nest->body = s;
}

typedef struct {
    Loops *nest;
    int unit[RANK_MOST];  /* accesses that move by one element with this loop's variable */
    int far[RANK_MOST];   /* accesses that jump; a few elements are no jump */
    int64_t *values;      /* of variables, all 0 but one that is looked at */
} Strides;

/* ---- what an access moves by ---------------------------------------------------------------- */

static bool is_uncounted(const Expr *x, void *arg)
{
    (void)arg;
    switch (x->op) {
    case EX_INT: case EX_VAR: case EX_ADD: case EX_SUB: case EX_MUL: case EX_FLOORDIV:
    case EX_FLOORMOD: case EX_MIN: case EX_MAX:
        return false;
    default: return true;
    }
}

/* The place in memory when v is `at` and all else 0. */
static int64_t place_at(const Touch *t, const Var *v, int64_t at, int64_t *values)
{
    int64_t place = 0;
    values[v->id] = at;
    for (int d = 0; d < t->n; d++)
        place = place * t->buf->shape[d]->u.i + expr_eval(t->at[d], values);
    values[v->id] = 0;
    return place;
}

/* Quotients and remainders of v may be neighbours all the same, which the places tell. */
static bool count_places(Strides *st, const Touch *t, int l)
{
    const Var *v = st->nest->loop[l]->u.loop.var;
    int unit = 0, near = 0;
    int64_t n;

    for (int d = 0; d < t->n; d++)
        if (expr_any(t->at[d], is_uncounted, NULL) || !expr_is_int(t->buf->shape[d], &n))
            return false;
    if (!st->values)
        st->values = NEWN(st->nest->ir->arena, int64_t, st->nest->ir->nvar + 1);
    for (int i = 0; i < SAMPLES; i++) {
        n = place_at(t, v, i + 1, st->values) - place_at(t, v, i, st->values);
        unit += n == 1;
        near += n >= 0 && n <= NEAR;
    }
    if (unit > SAMPLES / 2)
        st->unit[l]++;
    else if (near <= SAMPLES / 2)
        st->far[l]++;
    return true;
}

static void count_access(void *arg, const Stmt *s, const Touch *t)
{
    Strides *st = arg;
    const bool counts = t->how == ACC_READ || s->kind == ST_STORE;

    for (int l = 0; counts && l < st->nest->n; l++) {
        Var *v = st->nest->loop[l]->u.loop.var;
        int far = 0, unit = 0;
        bool affine = true;
        for (int d = 0; d < t->n; d++) {
            int64_t coef;
            const Expr *base;
            if (!expr_uses_var(t->at[d], v))
                continue;
            const bool is = affine_of(st->nest->ir, t->at[d], &v, 1, &coef, &base);
            affine = affine && is;
            unit += is && d == t->n - 1 && coef == 1;
            far += !is || d < t->n - 1 || coef < 1 || coef > NEAR;
        }
        if (!affine && count_places(st, t, l))
            continue;
        st->unit[l] += unit;
        st->far[l] += far;
    }
}

/* Loops inside a nest may only trade places when no extent depends on another variable. */
static bool is_box(const Loops *nest)
{
    for (int i = 0; i < nest->n; i++)
        for (int j = 0; j < i; j++)
            if (expr_uses_var(nest->loop[i]->u.loop.extent, nest->loop[j]->u.loop.var) ||
                expr_uses_var(nest->loop[i]->u.loop.min, nest->loop[j]->u.loop.var))
                return false;
    return true;
}

static int pick_inner(Loops *nest)
{
    Strides st = {.nest = nest};
    int best = nest->n - 1;

    if (nest->n == 1 || !is_box(nest))
        return best;
    stmt_touches_all(nest->body, count_access, &st);
    for (int l = nest->n - 1; l >= 0; l--)
        if (st.unit[l] - st.far[l] > st.unit[best] - st.far[best])
            best = l;
    return best;
}

typedef struct {
    const Var *var;
    bool plain;    /* only lets, stores and ifs */
    bool distinct; /* every store moves with the variable, and what is stored is read in place
                    * only */
    const Stmt *store;
    const Stmt *body;
} Shape;

/* A load of a stored tile at another index would see its neighbour's iteration. */
static bool see_neighbour(const Expr *e, void *arg)
{
    Shape *sh = arg;
    const Stmt *s = sh->store;

    if (e->op != EX_LOAD || buffer_root(e->u.buf) != buffer_root(s->u.store.buf))
        return true;
    for (int d = 0; d < s->u.store.n; d++)
        if (e->u.buf != s->u.store.buf || d >= expr_nindex(e) || e->kid[d] != s->u.store.at[d])
            sh->distinct = false;
    return true;
}

static bool see_reader(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, see_neighbour, arg);
    return true;
}

static bool see_shape(const Stmt *s, void *arg)
{
    Shape *sh = arg;

    switch (s->kind) {
    case ST_BLOCK:
    case ST_LET:
    case ST_IF:
        return true;
    case ST_STORE: {
        bool moves = false;
        for (int d = 0; d < s->u.store.n; d++)
            moves |= expr_uses_var(s->u.store.at[d], sh->var);
        sh->distinct &= moves;
        sh->store = s;
        stmt_visit(sh->body, see_reader, sh);
        return true;
    }
    default:
        sh->plain = false;
        return false;
    }
}

static const Stmt *serialise(Ir *ir, const Stmt *s, void *arg)
{
    Loops nest = {.ir = ir};

    (void)arg;
    if (!stmt_is_nest(s))
        return s;
    nest_of(s, &nest);
    int inner = pick_inner(&nest);
    Shape shape = {nest.loop[inner]->u.loop.var, true, true, NULL, nest.body};
    stmt_visit(nest.body, see_shape, &shape);

    const Stmt *r = nest.body;
    LoopHow how = shape.plain && shape.distinct ? LOOP_VECTOR : LOOP_SERIAL;
    const Stmt *l = nest.loop[inner];
    r = stmt_for_as(ir, l, how, r);
    for (int i = nest.n - 1; i >= 0; i--) {
        l = nest.loop[i];
        if (i != inner)
            r = stmt_for_as(ir, l, LOOP_SERIAL, r);
    }
    return r;
}

typedef struct {
    Ir *ir;
    bool collective; /* the body is per thread, so a nest is wrapped as the block's own */
} Nests;

/* Top-down: a nest must be seen from its outermost loop. */
static const Stmt *walk(void *nests, const Stmt *s)
{
    Nests *n = nests;
    bool collective = n->collective;

    if (stmt_is_nest(s))
        return collective && !stmt_is_private(s)
                   ? stmt_role(n->ir, s->span, ROLE_COLLECTIVE, 0, NULL, serialise(n->ir, s, NULL))
                   : serialise(n->ir, s, NULL);
    n->collective &= s->kind != ST_ROLE || s->u.role.kind != ROLE_COLLECTIVE;
    s = stmt_map_kids(n->ir, s, walk, n);
    n->collective = collective;
    return s;
}

void pass_lower_parallel(Kernel *k)
{
    if (kernel_on_warps(k)) {
        parallel_to_threads(k);
        return;
    }
    k->body = walk(&(Nests){k->ir, k->uses_threads}, k->body);
    /* A nest may hold serial loops with further nests inside. */
    k->body = stmt_map(k->ir, k->body, serialise, NULL);
}
