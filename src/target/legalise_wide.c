/* legalise_wide.c -- 64-bit integers as 32-bit ones, where every value provably fits. */
#include "target/legalise.h"

static bool is_wide(DType t)
{
    return dtype_is_int(t) && dtype_bits(t) == 64;
}

static bool see_bound(const Stmt *s, void *arg)
{
    Legal *l = arg;
    Var *v = s->kind == ST_LET ? s->u.let.var : s->kind == ST_FOR ? s->u.loop.var : NULL;

    if (!v || !is_wide(v->type))
        return true;
    legal_var(l, v);
    if (s->kind == ST_LET)
        facts_let(l->e->facts, v, s->u.let.value);
    return true;
}

/* Out of range, or what only its type says the range of: names from outside, memory, calls. */
static bool check_wide(const Expr *x, void *arg)
{
    Legal *l = arg;
    Arena *a = l->ir->arena;
    Str text;

    if (!is_wide((DType)x->type))
        return true;
    bool bound = x->op != EX_VAR || map_has(&l->vars, x->u.var);
    if (bound && x->op != EX_LOAD && x->op != EX_BITCAST &&
        bounds_within(bounds_of(l->e->facts, x), INT32_MIN, INT32_MAX))
        return true;
    str_init(&text, a);
    print_expr(&text, x);
    legal_refuse(l, arena_printf(a, "'%s'", text.s));
}

static bool check_stmt(const Stmt *s, void *arg)
{
    Legal *l = arg;

    l->at = s->span;
    stmt_visit_expr(s, check_wide, l);
    return true;
}

/* Operators are made anew of what their operands became. */
static const Expr *narrow(Ir *ir, const Expr *x, void *arg)
{
    if (!is_wide((DType)x->type))
        return x;
    if (x->op == EX_INT)
        return expr_const(ir, DT_I32, x->u.i);
    if (x->op == EX_VAR)
        return legal_var(arg, x->u.var);
    return x->op == EX_CAST ? expr_cast(ir, DT_I32, x->kid[0]) : x;
}

static const Expr *narrow_all(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, narrow, arg);
}

const Stmt *lower_wide(Legal *l, const Stmt *body)
{
    stmt_visit(body, see_bound, l);
    stmt_visit(body, check_stmt, l);
    body = stmt_map_expr(l->ir, body, narrow_all, l);
    return stmt_map(l->ir, body, legal_bind, l);
}
