/* fold.c -- arithmetic on constants, exact in the type, and the identities that hold for every
 * integer (x + 0, x * 1, x * 0 …).
 *
 * Nothing is done for floats that a signed zero or a NaN could tell apart.  Values are those of
 * doc/numerics.md: integers divided by 0 give 0, shifts may be by anything. */
#include <math.h>
#include "ir/fold.h"

static bool floats_compare(ExprOp op, double x, double y)
{
    switch (op) {
    case EX_EQ: return x == y;
    case EX_NE: return x != y;
    case EX_LT: return x < y;
    case EX_LE: return x <= y;
    case EX_GT: return x > y;
    default: return x >= y;
    }
}

static bool is_comparison(ExprOp op)
{
    return op >= EX_EQ && op <= EX_GE;
}

/* A double holds twice the precision of the smaller types and two bits more, so rounding the
 * double's result to the type is rounding once. */
static bool float_arithmetic(ExprOp op, double x, double y, double *r)
{
    switch (op) {
    case EX_ADD: *r = x + y; return true;
    case EX_SUB: *r = x - y; return true;
    case EX_MUL: *r = x * y; return true;
    case EX_DIV: *r = x / y; return y != 0;
    case EX_MIN: case EX_MAX:
        if (isnan(x) || isnan(y))
            *r = isnan(x) ? y : x;
        else
            *r = (x < y) == (op == EX_MIN) ? x : y;
        return !(x == 0 && y == 0 && signbit(x) != signbit(y));
    default:
        return false;
    }
}

static const Expr *fold_constants(Ir *ir, ExprOp op, const Expr *a, const Expr *b)
{
    int64_t i;
    double f;
    if (a->op == EX_INT && b->op == EX_INT) {
        if (op == EX_DIV)
            return NULL;
        i = num_binary(op, a->type, a->u.i, b->u.i);
        return is_comparison(op) ? expr_bool(ir, i) : expr_const(ir, a->type, i);
    }
    if (a->op != EX_FLOAT || b->op != EX_FLOAT)
        return NULL;
    if (is_comparison(op))
        return expr_bool(ir, floats_compare(op, a->u.f, b->u.f));
    if (!float_arithmetic(op, a->u.f, b->u.f, &f))
        return NULL;
    return expr_float(ir, a->type, num_round(a->type, f));
}

static const Expr *fold_logic(Ir *ir, ExprOp op, const Expr *a, const Expr *b)
{
    int64_t v;
    (void)ir;
    if (expr_is_splat(a, &v))
        return (v != 0) == (op == EX_AND) ? b : a;
    if (expr_is_splat(b, &v))
        return (v != 0) == (op == EX_AND) ? a : b;
    return a == b ? a : NULL;
}

/* One side is the constant v, the other is x; left: the constant is on the left. */
static const Expr *fold_identity(Ir *ir, ExprOp op, const Expr *x, const Expr *c, int64_t v,
                                 bool left)
{
    (void)ir;
    switch (op) {
    case EX_ADD: case EX_BITOR: case EX_BITXOR:
        return v == 0 ? x : NULL;
    case EX_SUB: case EX_SHL: case EX_SHR:
        return v == 0 && !left ? x : NULL;
    case EX_MUL:
        return v == 0 ? c : v == 1 ? x : NULL;
    case EX_BITAND:
        return v == 0 ? c : NULL;
    case EX_FLOORDIV: case EX_TRUNCDIV:
        return v == 1 && !left ? x : NULL;
    default:
        return NULL;
    }
}

const Expr *fold_binary(Ir *ir, ExprOp op, const Expr *a, const Expr *b)
{
    int64_t v;
    if (op == EX_AND || op == EX_OR)
        return fold_logic(ir, op, a, b);
    if (a->op == EX_BROADCAST && b->op == EX_BROADCAST) {
        const Expr *one = fold_constants(ir, op, a->kid[0], b->kid[0]);
        return one ? expr_broadcast(ir, one, a->lanes) : NULL;
    }
    const Expr *folded = fold_constants(ir, op, a, b);
    if (folded || !dtype_is_int(a->type))
        return folded;
    if (expr_is_splat(b, &v)) {
        if (v == 1 && (op == EX_FLOORMOD || op == EX_TRUNCMOD))
            return expr_broadcast(ir, expr_const(ir, a->type, 0), a->lanes);
        return fold_identity(ir, op, a, b, v, false);
    }
    return expr_is_splat(a, &v) ? fold_identity(ir, op, b, a, v, true) : NULL;
}

const Expr *fold_unary(Ir *ir, ExprOp op, const Expr *a)
{
    if (a->op == op && op != EX_NEG)
        return a->kid[0];
    if (a->op == op && dtype_is_int(a->type))
        return a->kid[0];
    if (a->op == EX_FLOAT && op == EX_NEG)
        return expr_float(ir, a->type, -a->u.f);
    if (a->op == EX_BROADCAST) {
        const Expr *one = fold_unary(ir, op, a->kid[0]);
        return one ? expr_broadcast(ir, one, a->lanes) : NULL;
    }
    if (a->op != EX_INT)
        return NULL;
    switch (op) {
    case EX_NEG: return expr_const(ir, a->type, (int64_t)(0 - (uint64_t)a->u.i));
    case EX_NOT: return expr_bool(ir, !a->u.i);
    default: return expr_const(ir, a->type, ~a->u.i);
    }
}

const Expr *fold_cast(Ir *ir, DType t, const Expr *a)
{
    if (t == DT_HANDLE || a->type == DT_HANDLE)
        return NULL;
    if (a->op == EX_INT)
        return dtype_is_float(t) ? expr_float(ir, t, num_from_int(a->type, a->u.i, t))
                                 : expr_const(ir, t, a->u.i);
    if (a->op == EX_FLOAT)
        return dtype_is_float(t) ? expr_float(ir, t, num_round(t, a->u.f))
                                 : expr_const(ir, t, num_from_float(t, a->u.f));
    return NULL;
}

const Expr *fold_bitcast(Ir *ir, DType t, const Expr *a)
{
    uint64_t bits;
    if (t == DT_HANDLE || a->type == DT_HANDLE || (a->op == EX_FLOAT && isnan(a->u.f)))
        return NULL;
    if (a->op == EX_INT)
        bits = (uint64_t)a->u.i;
    else if (a->op == EX_FLOAT)
        bits = num_encode(a->type, a->u.f);
    else
        return NULL;
    if (!dtype_is_float(t))
        return expr_const(ir, t, (int64_t)bits);
    double v = num_decode(t, bits);
    return isnan(v) ? NULL : expr_float(ir, t, v); /* a NaN's payload would be lost */
}

static bool rounds_to_whole(MathFn fn)
{
    return fn == MATH_FLOOR || fn == MATH_CEIL || fn == MATH_TRUNC || fn == MATH_ROUND ||
           fn == MATH_ROUND_AWAY || fn == MATH_NEARBYINT;
}

/* Only functions whose result is exact: what libm gives for the rest differs between machines. */
const Expr *fold_math(Ir *ir, MathFn fn, const Expr *const *arg)
{
    const Expr *a = arg[0];
    double v = a->op == EX_FLOAT ? a->u.f : 0;
    if (rounds_to_whole(fn) && !dtype_is_float(a->type))
        return a;
    if (fn == MATH_ABS && a->op == EX_INT)
        return a->u.i < 0 && !dtype_is_unsigned(a->type)
                   ? expr_const(ir, a->type, (int64_t)(0 - (uint64_t)a->u.i)) : a;
    if (a->op != EX_FLOAT || math_table[fn].arity != 1)
        return NULL;
    switch (fn) {
    case MATH_ABS: return expr_float(ir, a->type, fabs(v));
    case MATH_FLOOR: return expr_float(ir, a->type, floor(v));
    case MATH_CEIL: return expr_float(ir, a->type, ceil(v));
    case MATH_TRUNC: return expr_float(ir, a->type, trunc(v));
    case MATH_SQRT: return v > 0 ? expr_float(ir, a->type, sqrt(v)) : NULL;
    case MATH_ISNAN: return expr_bool(ir, isnan(v));
    case MATH_ISINF: return expr_bool(ir, isinf(v));
    case MATH_ISFINITE: return expr_bool(ir, isfinite(v));
    default: return NULL;
    }
}
