/* reduction.c -- the words of reductions and what they combine by. */
#include "ir/tile.h"

#include <math.h>

static const Reduction reductions[] = {
    {"sum", EX_ADD, false, false},      {"abssum", EX_ADD, true, false},
    {"max", EX_MAX, false, false},      {"absmax", EX_MAX, true, false},
    {"min", EX_MIN, false, false},      {"bitand", EX_BITAND, false, true},
    {"bitor", EX_BITOR, false, true},   {"bitxor", EX_BITXOR, false, true},
    {"add", EX_ADD, false, false}, /* as atomics say it */
    {"mul", EX_MUL, false, false},
};

const Reduction *reduction_find(const char *name)
{
    for (int i = 0; name && i < COUNT(reductions); i++)
        if (strcmp(reductions[i].name, name) == 0)
            return &reductions[i];
    return NULL;
}

static const Expr *extreme(Ir *ir, DType t, bool high)
{
    if (t == DT_BOOL)
        return expr_bool(ir, high);
    if (!dtype_is_float(t))
        return expr_const(ir, t, high ? dtype_int_max(t) : dtype_int_min(t));
    if (dtype_has_inf(t))
        return expr_float(ir, t, high ? INFINITY : -INFINITY);
    return expr_float(ir, t, high ? dtype_max(t) : dtype_min(t));
}

const Expr *reduction_identity(Ir *ir, const Reduction *r, DType t)
{
    if (r->abs)
        return expr_zero(ir, t);
    if (r->op == EX_MAX || r->op == EX_MIN)
        return extreme(ir, t, r->op == EX_MIN);
    if (r->op == EX_MUL)
        return expr_cast(ir, t, expr_int(ir, 1));
    if (r->op == EX_BITAND)
        return t == DT_BOOL ? expr_bool(ir, true) : expr_const(ir, t, num_wrap(t, -1));
    return expr_zero(ir, t);
}

const Expr *reduction_combine(Ir *ir, const Reduction *r, bool nan, const Expr *a, const Expr *b)
{
    const Expr *arg[2] = {a, b};
    if (nan && dtype_is_float(a->type) && r->op == EX_MAX)
        return expr_math(ir, MATH_MAX_NAN, arg, 2);
    if (nan && dtype_is_float(a->type) && r->op == EX_MIN)
        return expr_math(ir, MATH_MIN_NAN, arg, 2);
    return expr_binary(ir, r->op, a, b);
}

const Expr *reduction_term(Ir *ir, const Reduction *r, DType t, const Expr *x)
{
    x = expr_cast(ir, t, x);
    return r->abs && !dtype_is_unsigned(t) && t != DT_BOOL ? expr_math(ir, MATH_ABS, &x, 1) : x;
}
