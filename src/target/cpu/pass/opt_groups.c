/* opt_groups.c -- loops over several groups become a loop over groups and one within.
 *
 * needs   FORM_FLAT, FORM_SIMPLE
 * breaks  FORM_SIMPLE
 *
 *     for j in vector(256): s[j // 64]     becomes     for g: for j in vector(64): s[g]
 *
 * What is the same for a whole group, a scale of quantised weights say, can then be read once, and
 * the loop within has plain strides that the C compiler below vectorises.  Taken are innermost
 * loops whose length is a multiple of the group's. */
#include "pass/pass.h"

enum { PERIOD_LEAST = 16 }; /* shorter ones would only cut up vectors */

typedef struct {
    Ir *ir;
    const Var *v;
    int64_t extent;
    int64_t period; /* of the shortest group, 0: none */
    bool nested;
} Groups;

/* Iterations of v in which (e) // m stays as it is, if that begins with the first; else 0. */
static int64_t period_of(Groups *g, const Expr *e, int64_t m)
{
    const Expr *v = expr_var(g->ir, (Var *)g->v);
    Linear l = {0};

    linear_expr(&l, e, 1);
    int64_t c = linear_coef(&l, v);
    if (l.bad || c <= 0 || m % c != 0 || floor_mod(l.base, m) >= c)
        return 0;
    for (int i = 0; i < l.n; i++)
        if (l.t[i].atom != v && (l.t[i].coef % m != 0 || expr_uses_var(l.t[i].atom, g->v)))
            return 0;
    return m / c;
}

static bool see_division(const Expr *e, void *arg)
{
    Groups *g = arg;
    int64_t m;

    if ((e->op != EX_FLOORDIV && e->op != EX_FLOORMOD) || !dtype_is_int((DType)e->type) ||
        !expr_is_int(e->kid[1], &m) || m <= 0)
        return true;
    int64_t p = period_of(g, e->kid[0], m);
    if (p >= PERIOD_LEAST && p < g->extent && g->extent % p == 0 && (!g->period || p < g->period))
        g->period = p;
    return true;
}

static bool see_inside(const Stmt *s, void *arg)
{
    Groups *g = arg;
    if (s->kind == ST_FOR || s->kind == ST_WHILE)
        g->nested = true;
    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_division, g);
    return !g->nested;
}

static const Stmt *split(Ir *ir, const Stmt *s, void *arg)
{
    Groups g = {.ir = ir};
    int64_t first;

    (void)arg;
    if (s->kind != ST_FOR || s->u.loop.how != LOOP_VECTOR ||
        !expr_is_int(s->u.loop.extent, &g.extent) || !expr_is_int(s->u.loop.min, &first) || first)
        return s;
    Var *v = s->u.loop.var;
    g.v = v;
    stmt_visit(s->u.loop.body, see_inside, &g);
    if (g.nested || !g.period)
        return s;
    Var *group = var_new(ir, ir_name(ir, "group"), v->type, s->span);
    Var *within = var_new(ir, v->name, v->type, v->span);
    const Expr *start = expr_mul(ir, expr_var(ir, group), expr_const(ir, v->type, g.period));
    const Stmt *body = stmt_subst(ir, s->u.loop.body, v, expr_add(ir, start, expr_var(ir, within)));
    const Stmt *inner = stmt_for(ir, s->span, LOOP_VECTOR, within, s->u.loop.min,
                                 expr_const(ir, s->u.loop.extent->type, g.period),
                                 s->u.loop.hints, body);
    return stmt_for(ir, s->span, LOOP_SERIAL, group, s->u.loop.min,
                    expr_const(ir, s->u.loop.extent->type, g.extent / g.period), (Hints){0}, inner);
}

void pass_opt_groups(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, split, NULL);
}
