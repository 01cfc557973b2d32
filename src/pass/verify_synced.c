/* verify_synced.c -- FORM_SYNCED, worked out apart from what lower_sync went by.
 *
 * If one statement stores an element of shared memory that a later one, by another thread, loads
 * or stores, a barrier stands between.  Which thread touches which element is tried point by point,
 * so what is found is so.  Loops and branches are gone into: a loop that holds barriers twice, as
 * its end comes before its start again; one that holds none is one step whose iterations are tried
 * with the threads; conditions on the thread choose among the threads.  Left to the simulator are
 * accesses by what was read from memory or named, asynchronous ones, roles, and kernels whose
 * threads return early (test/gpu/schedules.sh runs every example in several orders). */
#include "pass/thread_group.h"
#include "pass/verify.h"
#include "ir/config.h"

enum {
    SINCE_MOST = 16,  /* accesses kept since the last barrier; later ones are not looked at */
    AROUND_MOST = 4,
    POINTS_MOST = 1 << 13,
};

typedef struct {
    int nloop, ncond;
    const Stmt *loop[AROUND_MOST]; /* of a constant range, tried with the threads */
    const Expr *cond[AROUND_MOST]; /* that the thread met, or not */
    bool sense[AROUND_MOST];
} Around;

typedef struct {
    const Buffer *buf;
    const Expr *at;
    bool write;
    Around in;
} Place;

typedef struct {
    Verify *v;
    const Kernel *k;
    int n, nold; /* of since; of those before the step at hand */
    Place since[SINCE_MOST];
    Around in;
    bool lost; /* under a condition that is not known here */
} Line;

/* ---- points ---------------------------------------------------------------------------------- */

static bool is_stranger(const Expr *e, void *line)
{
    const Line *l = line;
    bool own = false;

    for (int d = 0; e->op == EX_VAR && d < 3; d++)
        own |= e->u.var == l->k->thread[d];
    for (int i = 0; e->op == EX_VAR && i < l->in.nloop; i++)
        own |= e->u.var == l->in.loop[i]->u.loop.var;
    return e->op == EX_LOAD || e->op == EX_EXTERN || e->op == EX_MATH || e->op == EX_ADDR ||
           (e->op == EX_VAR && !own) || dtype_is_float((DType)e->type) || e->lanes != 1;
}

static int64_t points_of(const Line *l, const Around *in)
{
    int64_t n = kernel_block_threads(l->k), extent;

    for (int i = 0; i < in->nloop && n <= POINTS_MOST; i++)
        n *= expr_is_int(in->loop[i]->u.loop.extent, &extent) ? extent : POINTS_MOST;
    return n;
}

/* Element and thread of every point of p: noted in `of`, thread + 1 by element (-1: of several,
 * which stored the same), or held against it.  True: another thread was there. */
static bool try_points(Line *l, const Place *p, int *of, bool note)
{
    const Expr *e[1 + AROUND_MOST] = {p->at};
    int64_t n = points_of(l, &p->in), threads = kernel_block_threads(l->k);
    int64_t where[3 + AROUND_MOST], r[1 + AROUND_MOST], size = buffer_static_size(p->buf);
    Var *vars[3 + AROUND_MOST];
    int nvar = thread_vars(l->k, vars), nthread = nvar;

    for (int i = 0; i < p->in.ncond; i++)
        e[1 + i] = p->in.cond[i];
    for (int i = 0; i < p->in.nloop; i++)
        vars[nvar++] = p->in.loop[i]->u.loop.var;
    const ExprCode *code = expr_compile(l->k->ir, vars, nvar, e, 1 + p->in.ncond);
    for (int64_t at = 0; at < n; at++) {
        int64_t left = at / threads, t = at % threads, extent = 1, min = 0;
        bool runs = true;
        thread_point(l->k, (int)t, where);
        for (int i = 0; i < p->in.nloop; i++, left /= extent) {
            expr_is_int(p->in.loop[i]->u.loop.extent, &extent);
            expr_is_int(p->in.loop[i]->u.loop.min, &min);
            where[nthread + i] = min + left % extent;
        }
        expr_run(code, where, r);
        for (int i = 0; i < p->in.ncond; i++)
            runs &= (r[1 + i] != 0) == p->in.sense[i];
        if (!runs || r[0] < 0 || r[0] >= size)
            continue;
        int *who = &of[r[0]];
        if (note)
            *who = *who && *who != t + 1 ? -1 : (int)t + 1;
        else if (*who > 0 && *who != t + 1)
            return true;
    }
    return false;
}

static bool conflict(Line *l, const Place *a, const Place *b)
{
    int *of = NEWN(l->v->arena, int, buffer_static_size(a->buf));

    return !try_points(l, a, of, true) && try_points(l, b, of, false);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void touch(Line *l, const Buffer *b, const Expr *at, bool write)
{
    Place now = {b, at, write, l->in};

    if (l->lost || b->scope != MEM_SHARED || b->view_of || l->k->extra_threads ||
        buffer_static_size(b) <= 0 || expr_any(at, is_stranger, l) ||
        points_of(l, &l->in) > POINTS_MOST)
        return;
    for (int i = 0; i < l->nold; i++)
        if (l->since[i].buf == b && (write || l->since[i].write) && conflict(l, &l->since[i], &now))
            offence(l->v, "no barrier before '%s' is touched by other threads", b->name);
    if (l->n < SINCE_MOST)
        l->since[l->n++] = now;
}

static bool touch_load(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD && !e->guarded)
        touch(arg, e->u.buf, e->kid[0], false);
    return e->op != EX_IF && e->op != EX_AND && e->op != EX_OR; /* those may not be evaluated */
}

static bool is_other(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind != ST_BLOCK && s->kind != ST_LET && s->kind != ST_STORE && s->kind != ST_FOR &&
           s->kind != ST_IF && s->kind != ST_ASSERT;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void look(Line *l, const Stmt *s);

static void look_under(Line *l, const Stmt *s, const Expr *cond, bool sense)
{
    Around in = l->in;
    bool lost = l->lost;

    l->lost |= l->in.ncond == AROUND_MOST || expr_any(cond, is_stranger, l);
    if (!l->lost) {
        l->in.cond[l->in.ncond] = cond;
        l->in.sense[l->in.ncond++] = sense;
    }
    look(l, s);
    l->in = in;
    l->lost = lost;
}

/* A part of what runs without a barrier. */
static void look(Line *l, const Stmt *s)
{
    int64_t n, min;
    bool lost = l->lost;

    l->v->at = s;
    if (s->kind == ST_LET || (s->kind == ST_STORE && !s->u.store.async && !s->u.store.guard))
        stmt_visit_expr(s, touch_load, l);
    if (s->kind == ST_STORE && !s->u.store.async && !s->u.store.guard)
        touch(l, s->u.store.buf, s->u.store.at[0], true);
    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++)
        look(l, s->u.block.list[i]);
    for (int i = 0; s->kind == ST_IF && i < stmt_nkid(s); i++)
        look_under(l, stmt_kid(s, i), s->u.branch.cond, i == 0);
    if (s->kind != ST_FOR)
        return;
    l->lost |= l->in.nloop == AROUND_MOST || !expr_is_int(s->u.loop.extent, &n) ||
               !expr_is_int(s->u.loop.min, &min);
    if (!l->lost)
        l->in.loop[l->in.nloop++] = s;
    look(l, s->u.loop.body);
    l->in.nloop -= !l->lost;
    l->lost = lost;
}

/* again: it is gone through once more already, for what lies around it. */
static void follow(Line *l, const Stmt *s, bool again)
{
    int64_t n = 0;

    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++)
        follow(l, s->u.block.list[i], again);
    if (s->kind == ST_BLOCK)
        return;
    if (!stmt_any(s, is_other, NULL)) {
        l->nold = l->n;
        look(l, s);
        return;
    }
    bool runs = s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &n) && n > 0;
    if (!runs)
        l->n = 0;
    for (int64_t i = 0; i < MIN(n, again ? 1 : 2); i++)
        follow(l, s->u.loop.body, again || i > 0);
}

static bool is_return(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_RETURN);
}

void verify_synced(Verify *v)
{
    Line l = {.v = v, .k = v->k};
    bool own = config_on(v->k->func, CONFIG_disable_thread_storage_sync);

    if (v->k->form & FORM_FLAT && v->k->thread[0] && !own &&
        !stmt_any(v->k->body, is_return, NULL))
        follow(&l, v->k->body, false);
}
