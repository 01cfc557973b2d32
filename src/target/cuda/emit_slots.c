/* emit_slots.c -- indices of registers that are the same in every thread, without the thread.
 *
 * An index such as ((tx + s*64) // 40 * 40 + (tx + s*24) % 40) // 64 is s whoever asks, but the C
 * compiler cannot see it and would keep the array in memory.  Every thread and every iteration of
 * the loops is tried; if the thread never matters, it is replaced by thread 0. */
#include "target/cuda/emit.h"

enum { POINTS_MOST = 1 << 20, VARS_MOST = 8 };

typedef struct {
    Cuda *c;
    Map done; /* index -> what it becomes */
} Slots;

typedef struct {
    Cuda *c;
    bool bad;
    int n, nthread;
    Var *var[VARS_MOST]; /* the thread's first */
    Bounds range[VARS_MOST];
} Point;

static bool is_thread(const Kernel *k, const Var *v)
{
    return v == k->thread[0] || v == k->thread[1] || v == k->thread[2];
}

static bool see_point(const Expr *x, void *arg)
{
    Point *p = arg;

    if (x->op == EX_LOAD)
        p->bad = true;
    if (x->op != EX_VAR)
        return true;
    for (int i = 0; i < p->n; i++)
        if (p->var[i] == x->u.var)
            return true;
    Bounds r = bounds_of(p->c->e.facts, x);
    if (p->n == VARS_MOST || !bounds_known(r) || r.hi - r.lo >= POINTS_MOST) {
        p->bad = true;
        return false;
    }
    int at = p->n++;
    if (is_thread(p->c->e.k, x->u.var)) {
        p->var[at] = p->var[p->nthread];
        p->range[at] = p->range[p->nthread];
        at = p->nthread++;
    }
    p->var[at] = x->u.var;
    p->range[at] = r;
    return true;
}

/* The next point of variables from..to; false after the last. */
static bool step(const Point *p, int from, int to, int64_t *at)
{
    for (int i = to - 1; i >= from; i--) {
        if (++at[i] <= p->range[i].hi)
            return true;
        at[i] = p->range[i].lo;
    }
    return false;
}

static bool thread_does_not_matter(Point *p, const Expr *x)
{
    int64_t at[VARS_MOST], points = 1, first = 0, got = 0;
    const ExprCode *code = expr_compile(p->c->e.ir, p->var, p->n, &x, 1);

    for (int i = 0; i < p->n; i++) {
        at[i] = p->range[i].lo;
        points *= p->range[i].hi - p->range[i].lo + 1;
        if (points > POINTS_MOST)
            return false;
    }
    do {
        bool started = false;
        do {
            expr_run(code, at, &got);
            if (started && got != first)
                return false;
            first = started ? first : got;
            started = true;
        } while (step(p, 0, p->nthread, at));
    } while (step(p, p->nthread, p->n, at));
    return true;
}

static const Expr *without_thread(Slots *s, const Expr *x)
{
    Ir *ir = s->c->e.ir;
    Point p = {.c = s->c};
    const Expr *r = map_get(&s->done, x);

    if (r)
        return r;
    expr_visit(x, see_point, &p);
    r = x;
    if (!p.bad && p.nthread > 0 && x->lanes == 1 && thread_does_not_matter(&p, x)) {
        for (int i = 0; i < p.nthread; i++)
            r = expr_subst(ir, r, p.var[i], expr_const(ir, p.var[i]->type, 0));
        r = simplify(ir, s->c->e.facts, r);
    }
    map_set(&s->done, x, (void *)r);
    return r;
}

static bool in_registers(const Buffer *b)
{
    return (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL) && !b->view_of;
}

static const Expr *fix_load(Ir *ir, const Expr *x, void *arg)
{
    if (x->op != EX_LOAD || !in_registers(x->u.buf))
        return x;
    const Expr *at = without_thread(arg, x->kid[0]);
    if (at == x->kid[0])
        return x;
    return x->guarded ? expr_load_guarded(ir, x->u.buf, &at, 1, x->kid[1], x->kid[2])
                      : expr_load(ir, x->u.buf, &at, 1);
}

static const Expr *fix_expr(Ir *ir, const Expr *x, void *arg)
{
    return expr_has_load(x) ? expr_map(ir, x, fix_load, arg) : x;
}

static const Stmt *fix_store(Ir *ir, const Stmt *s, void *arg)
{
    if (s->kind != ST_STORE || !in_registers(s->u.store.buf))
        return s;
    const Expr *at = without_thread(arg, s->u.store.at[0]);
    return at == s->u.store.at[0] ? s
                                  : stmt_store_as(ir, s, &at, 1, s->u.store.value,
                                                  s->u.store.guard);
}

const Stmt *cuda_fix_slots(Cuda *c, const Stmt *body)
{
    Slots s = {.c = c};

    map_init(&s.done, c->e.arena);
    body = stmt_map_expr(c->e.ir, body, fix_expr, &s);
    return stmt_map(c->e.ir, body, fix_store, &s);
}
