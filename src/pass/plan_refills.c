/* plan_refills.c -- shared tiles that every iteration of a loop refills.
 *
 * needs   FORM_NOPIPE
 *
 * Of a tile that only one loop mentions, and whose every element is written in each iteration
 * before any is read, nothing is carried from one iteration to the next.  Where tiles would not fit
 * otherwise, it may share bytes with others of the same iteration (liveness.c).  Writes count that
 * always happen: regions of tile operators with constant places, and stores of T.Parallel nests,
 * whose indices and conditions are evaluated point by point. */
#include "pass/pass.h"
#include "pass/body_uses.h"

enum { POINTS_MOST = 1 << 18 };

typedef struct {
    Kernel *k;
    Ir *ir;
    const Buffer *buf;
    int64_t shape[RANK_MOST];
    int64_t nelem, nset;
    bool *set;
    bool reads; /* the statement at hand */
} Cover;

/* ---- what is written ------------------------------------------------------------------------- */

static void mark(Cover *c, const int64_t *at)
{
    int64_t i = 0;

    for (int d = 0; d < c->buf->rank; d++) {
        if (at[d] < 0 || at[d] >= c->shape[d])
            return;
        i = i * c->shape[d] + at[d];
    }
    c->nset += !c->set[i];
    c->set[i] = true;
}

static void mark_box(Cover *c, const Region *r)
{
    int64_t from[RANK_MOST], n[RANK_MOST], at[RANK_MOST];

    for (int d = 0; d < c->buf->rank; d++) {
        if (!expr_is_int(r->at[d], &from[d]) || !expr_is_int(r->extent[d], &n[d]) || n[d] <= 0)
            return;
        at[d] = from[d];
    }
    for (int d = 0; d >= 0;) {
        mark(c, at);
        for (d = c->buf->rank - 1; d >= 0 && ++at[d] == from[d] + n[d]; d--)
            at[d] = from[d];
    }
}

static void see_written(void *arg, const Region *r, Access a)
{
    Cover *c = arg;
    if (r->buf == c->buf && a == ACC_WRITE)
        mark_box(c, r);
}

/* ---- nests ----------------------------------------------------------------------------------- */

typedef struct {
    Cover *c;
    const LoopNest *p;
    VEC(const Expr *) conds; /* on the way to the statement at hand */
} Points;

static bool is_unknown(const Expr *e, void *nest)
{
    const LoopNest *p = nest;
    bool own = false;

    for (int i = 0; e->op == EX_VAR && i < p->n; i++)
        own |= p->var[i] == e->u.var;
    return (e->op == EX_VAR && !own) || e->op == EX_LOAD || e->op == EX_ADDR ||
           e->op == EX_EXTERN || dtype_is_float((DType)e->type) || e->lanes > 1;
}

static void run_points(Points *q, const Stmt *s)
{
    enum { MOST = 32 };
    Cover *c = q->c;
    const Expr *e[MOST];
    int64_t at[RANK_MOST] = {0}, value[MOST];
    int n = 0, rank = c->buf->rank;

    if (s->u.store.n != rank || rank + q->conds.n + 1 > MOST)
        return;
    for (int d = 0; d < rank; d++)
        e[n++] = s->u.store.at[d];
    for (int i = 0; i < q->conds.n; i++)
        e[n++] = q->conds.at[i];
    if (s->u.store.guard)
        e[n++] = s->u.store.guard;
    for (int i = 0; i < n; i++)
        if (expr_any(e[i], is_unknown, q->p))
            return;
    const ExprCode *code = expr_compile(c->ir, q->p->var, q->p->n, e, n);
    for (int d = 0; d >= 0;) {
        bool runs = true;
        expr_run(code, at, value);
        for (int i = rank; i < n; i++)
            runs &= value[i] != 0;
        if (runs)
            mark(c, value);
        for (d = q->p->n - 1; d >= 0 && ++at[d] == q->p->extent[d]; d--)
            at[d] = 0;
    }
}

static void walk_nest(Points *q, const Stmt *s)
{
    Ir *ir = q->c->ir;

    if (!s)
        return;
    if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n; i++)
            walk_nest(q, s->u.block.list[i]);
    if (s->kind == ST_STORE && s->u.store.buf == q->c->buf)
        run_points(q, s);
    if (s->kind != ST_IF)
        return;
    vec_push(q->c->k->scratch, &q->conds, s->u.branch.cond);
    walk_nest(q, s->u.branch.then);
    q->conds.at[q->conds.n - 1] = expr_unary(ir, EX_NOT, s->u.branch.cond);
    walk_nest(q, s->u.branch.orelse);
    q->conds.n--;
}

/* What a tile has become already is read by it. */
static void see_reads(void *arg, const Stmt *s, const Touch *t)
{
    Cover *c = arg;
    bool made = s->kind == ST_CALL || s->kind == ST_INSTR;
    c->reads |= made ? buffer_root(t->buf) == buffer_root(c->buf) && (t->expr || s->kind == ST_CALL)
                     : t->buf == c->buf && touch_reads(t);
}

static void cover_by(Cover *c, const Stmt *s)
{
    LoopNest p;
    int64_t n = 1;

    if (s->kind == ST_TILE)
        tile_access(s, see_written, c);
    if (!stmt_is_nest(s))
        return;
    parallel_read(c->ir, s, &p);
    for (int i = 0; i < p.n && p.fixed; i++)
        n = MIN(n * p.extent[i], POINTS_MOST + 1);
    if (!p.fixed || n > POINTS_MOST || n == 0)
        return;
    Points q = {.c = c, .p = &p};
    walk_nest(&q, p.body);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The innermost statement, with a loop around it, that has all uses of the tile; NULL: none.  A
 * nest is one statement. */
static const Stmt *loop_of(Kernel *k, const Buffer *b)
{
    const BodyPath *in = buffer_uses(k, b)->all;
    bool looped = false;

    for (const BodyPath *p = in; p; p = p->parent)
        if (p->stmt->kind == ST_FOR && p->stmt->u.loop.how == LOOP_PARALLEL)
            in = p;
    for (const BodyPath *p = in ? in->parent : NULL; p; p = p->parent)
        looped |= p->stmt->kind == ST_FOR || p->stmt->kind == ST_WHILE;
    return looped ? in->stmt : NULL;
}

static bool is_fresh(Kernel *k, const Buffer *b)
{
    Cover c = {.k = k, .ir = k->ir, .buf = b, .nelem = buffer_static_size(b)};
    const Stmt *s = loop_of(k, b);

    if (!s || c.nelem <= 0 || c.nelem > POINTS_MOST || !buffer_static_shape(b, c.shape))
        return false;
    c.set = NEWN(k->scratch, bool, c.nelem);
    int n = s->kind == ST_BLOCK ? s->u.block.n : 1;
    for (int i = 0; i < n && c.nset < c.nelem; i++) {
        const Stmt *t = s->kind == ST_BLOCK ? s->u.block.list[i] : s;
        stmt_touches_all(t, see_reads, &c);
        if (c.reads)
            return false;
        cover_by(&c, t);
    }
    return c.nset == c.nelem;
}

void pass_plan_refills(Kernel *k)
{
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_SHARED && !b->view_of && !buffer_uses(k, b)->viewed)
            buffer_plan(k, b)->fresh = is_fresh(k, b);
    }
}
