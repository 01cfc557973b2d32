/* builtin_math.c -- elementwise functions, integer helpers and vectors.  Python numbers fold. */
#include "front/builtin.h"
#include "front/eval.h"

#include <math.h>

static Value give(BuiltinCall *c, const Expr *e)
{
    return value_expr(c->ev, e);
}

/* Functions of reals take integers as float32. */
static const Expr *real(Ir *ir, const Expr *e)
{
    return dtype_is_float(e->type) ? e : expr_cast(ir, DT_F32, e);
}

/* A scalar next to a vector stands for every lane. */
static const Expr *widen(const BuiltinCall *c, int i, const Expr *e, int lanes)
{
    if (e->lanes == lanes || lanes == 1)
        return e;
    if (e->lanes != 1)
        arg_fail(c, i, "has %d lanes, the other value %d [argument-type]", e->lanes, lanes);
    return expr_broadcast(c->ev->ir, e, lanes);
}

/* An argument beside a value: a Python number takes its type, where that has the number. */
static const Expr *beside(const BuiltinCall *c, int i, const Expr *other)
{
    return value_is_number(&c->arg[i]) ? literal_beside(c->ev, &c->arg[i], (DType)other->type)
                                       : arg_expr(c, i);
}

/* a and b in a common type. */
static void unify(const BuiltinCall *c, int ia, int ib, const Expr **a, const Expr **b)
{
    Ir *ir = c->ev->ir;
    const Expr *x = arg_expr(c, ia), *y = arg_expr(c, ib);
    bool nx = value_is_number(&c->arg[ia]), ny = value_is_number(&c->arg[ib]);
    if (x->type != y->type) {
        x = ny ? x : beside(c, ia, y);
        y = nx ? y : beside(c, ib, x);
        DType t = dtype_join((DType)x->type, (DType)y->type);
        x = expr_cast(ir, t, x);
        y = expr_cast(ir, t, y);
    }
    x = widen(c, ia, x, y->lanes);
    *a = x;
    *b = widen(c, ib, y, x->lanes);
}

/* ---- functions of math.def ------------------------------------------------------------------- */

/* Spellings whose function has another name; everything else is found in math.def by its own. */
static const struct { const char *name; MathFn fn; } other_names[] = {
    {"fabs", MATH_ABS},       {"__exp", MATH_FAST_EXP},     {"__exp10", MATH_FAST_EXP10},
    {"__exp2", MATH_EXP2},    {"__log", MATH_FAST_LOG},     {"__log2", MATH_FAST_LOG2},
    {"__log10", MATH_FAST_LOG10},  {"__sin", MATH_FAST_SIN},     {"__cos", MATH_FAST_COS},
    {"__tan", MATH_FAST_TAN},      {"fast_rcp", MATH_FAST_RCP},  {"ieee_frcp", MATH_RCP},
    {"ieee_fsqrt", MATH_SQRT}, {"ieee_frsqrt", MATH_RSQRT}, {"ieee_fmaf", MATH_FMA},
    {"__ffs", MATH_FFS},      {"abs2", MATH_ABS},      {"fma2", MATH_FMA},
};

static MathFn math_of(const BuiltinCall *c)
{
    for (int i = 0; i < COUNT(other_names); i++)
        if (!strcmp(other_names[i].name, c->b->name))
            return other_names[i].fn;
    for (int i = 0; i < MATH_COUNT; i++)
        if (!strcmp(math_table[i].name, c->b->name))
            return (MathFn)i;
    unreachable();
}

static bool keeps_integers(MathFn fn)
{
    return fn == MATH_ABS || fn == MATH_CLZ || fn == MATH_POPCOUNT || fn == MATH_FFS ||
           fn == MATH_FLOOR || fn == MATH_CEIL || fn == MATH_TRUNC || fn == MATH_ROUND ||
           fn == MATH_NEARBYINT;
}

Value do_math1(BuiltinCall *c)
{
    MathFn fn = math_of(c);
    const Expr *x = arg_expr(c, 0);
    bool bits = fn == MATH_CLZ || fn == MATH_POPCOUNT || fn == MATH_FFS;
    if (!strcmp(c->b->name, "ieee_frsqrt") && x->type == DT_F64)
        arg_fail(c, 0, "is float64: frsqrt is not supported for float64 [argument-type]");
    if (fn >= MATH_FAST_EXP && fn <= MATH_FAST_TAN && !value_is_number(&c->arg[0]) &&
        (!dtype_is_float(x->type) || dtype_bits(x->type) < 16))
        diag_fail(c->ev->diag, c->arg_span[0],
                  "T.%s only supports floating-point inputs, but got %s [argument-type]",
                  c->b->name, dtype_name(x->type));
    if (bits && !dtype_is_int(x->type))
        arg_fail(c, 0, "must be an integer, not %s [argument-type]", dtype_name(x->type));
    if (!keeps_integers(fn))
        x = real(c->ev->ir, x);
    else if (!bits && fn != MATH_ABS && !dtype_is_float(x->type))
        return give(c, x);
    if (value_is_number(&c->arg[0]) && fn == MATH_ABS && c->arg[0].kind != V_FLOAT)
        return value_int(c->arg[0].u.i < 0 ? -c->arg[0].u.i : c->arg[0].u.i);
    return give(c, expr_math(c->ev->ir, fn, &x, 1));
}

/* The neighbour of a narrow float is that of its code: targets have the function of wide ones
   alone.  These formats have a -0, and behind their largest number comes infinity or nothing. */
static const Expr *narrow_neighbour(BuiltinCall *c, const Expr *x, const Expr *to)
{
    static const DType fits[] = {DT_F16, DT_BF16, DT_TF32, DT_E4M3, DT_E5M2, DT_E3M4};
    Ir *ir = c->ev->ir;
    DType t = (DType)x->type;
    DType bits = dtype_bits(t) == 32 ? DT_U32 : dtype_bits(t) == 16 ? DT_U16 : DT_U8;
    int i = 0;
    while (i < COUNT(fits) && fits[i] != t)
        i++;
    if (i == COUNT(fits))
        arg_fail(c, 0, "is a %s, whose neighbours are not known [argument-type]", dtype_name(t));
    const Expr *zero = expr_cast(ir, t, expr_int(ir, 0));
    const Expr *one = expr_const(ir, bits, t == DT_TF32 ? 1 << 13 : 1);
    const Expr *at = expr_bitcast(ir, bits, x->lanes, x);
    const Expr *out = expr_binary(ir, EX_EQ, expr_lt(ir, x, to), expr_lt(ir, zero, x));
    const Expr *sign = expr_binary(ir, EX_BITAND, expr_bitcast(ir, bits, to->lanes, to),
                                   expr_const(ir, bits, (int64_t)1 << (dtype_bits(t) - 1)));
    const Expr *step = expr_select(ir, out, expr_add(ir, at, one), expr_sub(ir, at, one));
    step = expr_select(ir, expr_binary(ir, EX_EQ, x, zero), expr_binary(ir, EX_BITOR, sign, one),
                       step);
    const Expr *r = expr_bitcast(ir, t, x->lanes, step);
    r = expr_select(ir, expr_binary(ir, EX_EQ, x, to), to, r);
    /* a sum with NaN is NaN */
    const Expr *nan = expr_binary(ir, EX_OR, expr_math(ir, MATH_ISNAN, &x, 1),
                                  expr_math(ir, MATH_ISNAN, &to, 1));
    return expr_select(ir, nan, expr_add(ir, x, to), r);
}

Value do_math2(BuiltinCall *c)
{
    const Expr *x[2];
    MathFn fn = math_of(c);
    if (fn == MATH_LDEXP) {
        x[0] = real(c->ev->ir, arg_expr(c, 0));
        x[1] = arg_expr(c, 1);
    } else {
        unify(c, 0, 1, &x[0], &x[1]);
    }
    if (fn == MATH_NEXTAFTER && dtype_is_float(x[0]->type) && x[0]->type != DT_F32 &&
        x[0]->type != DT_F64)
        return give(c, narrow_neighbour(c, x[0], x[1]));
    return give(c, expr_math(c->ev->ir, fn, x, 2));
}

Value do_fma(BuiltinCall *c)
{
    const Expr *x[3];
    unify(c, 0, 1, &x[0], &x[1]);
    x[0] = real(c->ev->ir, x[0]);
    x[1] = real(c->ev->ir, x[1]);
    x[2] = widen(c, 2, expr_cast(c->ev->ir, x[0]->type, arg_expr(c, 2)), x[0]->lanes);
    if (x[2]->lanes != x[0]->lanes)
        arg_fail(c, 2, "has %d lanes, not %d [argument-type]", x[2]->lanes, x[0]->lanes);
    return give(c, expr_math(c->ev->ir, MATH_FMA, x, 3));
}

Value do_fmul(BuiltinCall *c)
{
    const Expr *x[2];
    unify(c, 0, 1, &x[0], &x[1]);
    if (!dtype_is_float((DType)x[0]->type))
        arg_fail(c, 0, "must be a float, not %s [argument-type]", dtype_name((DType)x[0]->type));
    return give(c, expr_math(c->ev->ir, MATH_MUL_RN, x, 2));
}

/* The function for rounding_mode=, of the family whose first is `rz`; MATH_COUNT: to nearest. */
static MathFn rounded(BuiltinCall *c, int i, MathFn rz, const Expr *x)
{
    static const char *const modes[] = {"rz", "ru", "rd"};
    const char *mode = value_text(&c->arg[i]);
    int k = 0;

    if (mode && !strcmp(mode, "rn"))
        return MATH_COUNT;
    while (k < COUNT(modes) && mode && strcmp(mode, modes[k]))
        k++;
    if (!mode || k == COUNT(modes))
        arg_fail(c, i, "Invalid rounding mode: there are rn, rz, ru and rd [rounding-mode]");
    if (x->type != DT_F32 && x->type != DT_F64)
        arg_fail(c, i, "Only rounding mode 'rn' is available for half precision, not '%s' "
                 "[rounding-mode]", mode);
    return (MathFn)((int)rz + k);
}

Value do_ieee1(BuiltinCall *c)
{
    const Expr *x = real(c->ev->ir, arg_expr(c, 0));
    MathFn family = math_of(c) == MATH_SQRT ? MATH_ROOT_RZ : MATH_RECIP_RZ;
    MathFn fn = rounded(c, 1, family, x);
    return fn == MATH_COUNT ? do_math1(c) : give(c, expr_math(c->ev->ir, fn, &x, 1));
}

Value do_ieee_fma(BuiltinCall *c)
{
    Value nearest = do_fma(c);
    const Expr *e = nearest.u.expr;
    if (nearest.kind != V_EXPR || e->op != EX_MATH)
        return nearest;
    MathFn fn = rounded(c, 3, MATH_FMAF_RZ, e);
    return fn == MATH_COUNT ? nearest : give(c, expr_math(c->ev->ir, fn, e->kid, 3));
}

/* The last letters of the name say the operator: ieee_add, add2, ieee_fdiv … */
static ExprOp arith_of(const BuiltinCall *c)
{
    static const struct { const char *part; ExprOp op; } ops[] = {
        {"add", EX_ADD}, {"sub", EX_SUB}, {"mul", EX_MUL},
        {"div", EX_DIV}, {"max", EX_MAX}, {"min", EX_MIN},
    };
    for (int i = 0; i < COUNT(ops); i++)
        if (strstr(c->b->name, ops[i].part))
            return ops[i].op;
    unreachable();
}

/* What no neighbour is contracted with; MATH_COUNT: nothing ever is. */
static MathFn alone(Ir *ir, ExprOp op, const Expr **x)
{
    if (op == EX_SUB)
        x[1] = expr_unary(ir, EX_NEG, x[1]);
    return op == EX_MUL ? MATH_MUL_RN : op == EX_ADD || op == EX_SUB ? MATH_ADD_RN : MATH_COUNT;
}

Value do_ieee2(BuiltinCall *c)
{
    const Expr *x[2];
    Ir *ir = c->ev->ir;
    ExprOp op = arith_of(c);

    unify(c, 0, 1, &x[0], &x[1]);
    x[0] = real(ir, x[0]);
    x[1] = real(ir, x[1]);
    MathFn family = op == EX_ADD ? MATH_ADD_RZ : op == EX_SUB ? MATH_SUB_RZ
                    : op == EX_MUL ? MATH_MUL_RZ : MATH_DIV_RZ;
    MathFn fn = rounded(c, 2, family, x[0]);
    if (fn == MATH_COUNT && dtype_bits((DType)x[0]->type) >= 32)
        fn = alone(ir, op, x);
    return give(c, fn == MATH_COUNT ? expr_binary(ir, op, x[0], x[1]) : expr_math(ir, fn, x, 2));
}

Value do_packed2(BuiltinCall *c)
{
    const Expr *a, *b;
    unify(c, 0, 1, &a, &b);
    if (a->lanes != 2)
        arg_fail(c, 0, "must have 2 lanes, not %d [argument-type]", a->lanes);
    return give(c, expr_binary(c->ev->ir, arith_of(c), a, b));
}

/* x ** n for a literal n >= 1 is multiplication, by squaring; 0 gives 1. */
Value do_pow(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *x = arg_expr(c, 0);
    if (c->arg[1].kind == V_INT && c->arg[1].u.i >= 0 && c->arg[1].u.i <= 64) {
        int64_t n = c->arg[1].u.i;
        const Expr *power = x, *all = NULL;
        for (; n; n >>= 1) {
            if (n & 1)
                all = all ? expr_mul(ir, all, power) : power;
            if (n > 1)
                power = expr_mul(ir, power, power);
        }
        return give(c, all ? all : expr_cast(ir, x->type, expr_int(ir, 1)));
    }
    const Expr *a[2];
    unify(c, 0, 1, &a[0], &a[1]);
    return give(c, expr_math(ir, MATH_POW, a, 2));
}

Value do_round(BuiltinCall *c)
{
    static const char *const modes[] = {"ties-to-even", "ties-away-from-zero", NULL};
    const char *mode = arg_word(c, 1, modes, " [argument-type]");
    const Expr *x = arg_expr(c, 0);
    if (!dtype_is_float(x->type))
        return give(c, x);
    MathFn fn = mode == modes[0] ? MATH_ROUND : MATH_ROUND_AWAY;
    return give(c, expr_math(c->ev->ir, fn, &x, 1));
}

/* ---- choosing -------------------------------------------------------------------------------- */

static Value extreme(BuiltinCall *c, bool most)
{
    const Value *a = &c->arg[0], *b = &c->arg[1];
    if (value_is_number(a) && value_is_number(b)) {
        bool first = most ? value_number(a) >= value_number(b) : value_number(a) <= value_number(b);
        return first ? *a : *b;
    }
    const Expr *x, *y;
    unify(c, 0, 1, &x, &y);
    return give(c, expr_binary(c->ev->ir, most ? EX_MAX : EX_MIN, x, y));
}

Value do_max(BuiltinCall *c) { return extreme(c, true); }
Value do_min(BuiltinCall *c) { return extreme(c, false); }

static bool is_infinite(const Expr *e, double sign)
{
    double v;
    return expr_is_float(e, &v) && v == sign * INFINITY;
}

/* NaN stays NaN.  An infinite bound is none: T.clamp(x, y, inf) is the larger one, or NaN. */
Value do_clamp(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Value *v = c->arg;
    if (value_is_number(&v[0]) && value_is_number(&v[1]) && value_is_number(&v[2])) {
        Value low = value_number(&v[0]) < value_number(&v[1]) ? v[1] : v[0];
        return value_number(&low) > value_number(&v[2]) ? v[2] : low;
    }
    const Expr *x = arg_expr(c, 0);
    DType t = dtype_join((DType)x->type, (DType)beside(c, 1, x)->type);
    t = dtype_join(t, (DType)beside(c, 2, x)->type);
    x = expr_cast(ir, t, x);
    const Expr *lo = cast_value(c->ev, c->arg_span[1], x->type, x->lanes, &v[1], call_what(c, 1));
    const Expr *hi = cast_value(c->ev, c->arg_span[2], x->type, x->lanes, &v[2], call_what(c, 2));
    if (!dtype_is_float((DType)x->type))
        return give(c, expr_min(ir, expr_max(ir, x, lo), hi));
    const Expr *low[2] = {x, lo};
    const Expr *both[2] = {is_infinite(lo, -1) ? x : expr_math(ir, MATH_MAX_NAN, low, 2), hi};
    return give(c, is_infinite(hi, 1) ? both[0] : expr_math(ir, MATH_MIN_NAN, both, 2));
}

/* A condition known now chooses now; the value keeps the type both sides agree on. */
static Value choose(BuiltinCall *c, bool lazy)
{
    Ir *ir = c->ev->ir;
    const Expr *cond = arg_bool_expr(c, 0), *a, *b;
    int64_t k;
    bool known = expr_is_int(cond, &k);
    if (known && value_is_number(&c->arg[1]) && value_is_number(&c->arg[2]))
        return c->arg[k ? 1 : 2];
    unify(c, 1, 2, &a, &b);
    if (known)
        return give(c, k ? a : b);
    return give(c, lazy ? expr_if(ir, cond, a, b) : expr_select(ir, cond, a, b));
}

Value do_if_then_else(BuiltinCall *c) { return choose(c, true); }
Value do_select(BuiltinCall *c) { return choose(c, false); }

Value do_identity(BuiltinCall *c)
{
    return c->arg[0];
}

/* ---- integers -------------------------------------------------------------------------------- */

static bool both_ints(const BuiltinCall *c)
{
    return (c->arg[0].kind == V_INT || c->arg[0].kind == V_BOOL) &&
           (c->arg[1].kind == V_INT || c->arg[1].kind == V_BOOL);
}

static void need_integers(const BuiltinCall *c, const Expr *a, const Expr *b)
{
    if (dtype_is_float(a->type))
        arg_fail(c, 0, "must be an integer, not %s [argument-type]", dtype_name(a->type));
    if (dtype_is_float(b->type))
        arg_fail(c, 1, "must be an integer, not %s [argument-type]", dtype_name(b->type));
}

static void need_divisor(const BuiltinCall *c)
{
    if (c->arg[1].kind == V_INT && c->arg[1].u.i == 0)
        arg_fail(c, 1, "is 0 [division-by-zero]");
    if (both_ints(c) && c->arg[1].u.i == -1 && c->arg[0].u.i == INT64_MIN)
        arg_fail(c, 0, "is too large to divide [argument-type]");
}

/* Rounded up.  The one quotient that does not fit is refused with the divisor. */
static int64_t ceil_quotient(const BuiltinCall *c)
{
    int64_t a = c->arg[0].u.i, b = c->arg[1].u.i;
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

Value do_ceildiv(BuiltinCall *c)
{
    need_divisor(c);
    if (both_ints(c))
        return value_int(ceil_quotient(c));
    const Expr *a, *b;
    unify(c, 0, 1, &a, &b);
    need_integers(c, a, b);
    return give(c, expr_ceildiv(c->ev->ir, a, b));
}

Value do_align_up(BuiltinCall *c)
{
    need_divisor(c);
    if (both_ints(c))
        return value_int(ceil_quotient(c) * c->arg[1].u.i);
    const Expr *a, *b;
    unify(c, 0, 1, &a, &b);
    need_integers(c, a, b);
    return give(c, expr_mul(c->ev->ir, expr_ceildiv(c->ev->ir, a, b), b));
}

static Value trunc_op(BuiltinCall *c, ExprOp op)
{
    need_divisor(c);
    if (both_ints(c))
        return value_int(op == EX_TRUNCDIV ? c->arg[0].u.i / c->arg[1].u.i
                                           : c->arg[0].u.i % c->arg[1].u.i);
    const Expr *a, *b;
    unify(c, 0, 1, &a, &b);
    need_integers(c, a, b);
    return give(c, expr_binary(c->ev->ir, op, a, b));
}

Value do_truncdiv(BuiltinCall *c) { return trunc_op(c, EX_TRUNCDIV); }
Value do_truncmod(BuiltinCall *c) { return trunc_op(c, EX_TRUNCMOD); }

/* Names for Python's operators. */
static const struct { const char *name; TokenKind op; } operators[] = {
    {"floordiv", TK_FLOORDIV}, {"FloorDiv", TK_FLOORDIV}, {"floormod", TK_MOD},
    {"FloorMod", TK_MOD},
    {"shift_left", TK_SHL}, {"shift_right", TK_SHR}, {"bitwise_and", TK_BITAND},
    {"bitwise_or", TK_BITOR}, {"bitwise_xor", TK_BITXOR}, {"Add", TK_ADD}, {"Sub", TK_SUB},
    {"Mul", TK_MUL}, {"Div", TK_DIV}, {"Mod", TK_MOD}, {"EQ", TK_EQ}, {"NE", TK_NE},
    {"LT", TK_LT}, {"LE", TK_LE}, {"GT", TK_GT}, {"GE", TK_GE},
};

Value do_operator(BuiltinCall *c)
{
    for (int i = 0; i < COUNT(operators); i++) {
        if (strcmp(operators[i].name, c->b->name))
            continue;
        TokenKind op = operators[i].op;
        if (op == TK_FLOORDIV || op == TK_MOD)
            need_divisor(c);
        bool compares = op == TK_EQ || op == TK_NE || op == TK_LT || op == TK_LE || op == TK_GT ||
                        op == TK_GE;
        return compares ? eval_compare(c->ev, c->span, op, &c->arg[0], &c->arg[1])
                        : eval_binary(c->ev, c->span, op, &c->arg[0], &c->arg[1]);
    }
    unreachable();
}

Value do_bitwise_not(BuiltinCall *c)
{
    return eval_unary(c->ev, c->span, TK_INVERT, &c->arg[0]);
}

Value do_logic(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    ExprOp op = c->b->name[0] == 'A' ? EX_AND : EX_OR;
    return give(c, expr_binary(ir, op, arg_bool_expr(c, 0), arg_bool_expr(c, 1)));
}

Value do_logic_not(BuiltinCall *c)
{
    return give(c, expr_unary(c->ev->ir, EX_NOT, arg_bool_expr(c, 0)));
}

/* Fixed point: round(x * y * 2^(s - q)) with q fraction bits in y. */
Value do_q_multiply_shift(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int64_t q = arg_int(c, 2), s = arg_int(c, 3), shift = q - s;
    if (shift < 1 || shift > 62)
        call_fail(c, "q - s must be from 1 to 62, not %lld [argument-type]", (long long)shift);
    const Expr *x = expr_cast(ir, DT_I64, arg_index(c, 0));
    const Expr *y = expr_cast(ir, DT_I64, arg_index(c, 1));
    const Expr *half = expr_const(ir, DT_I64, (int64_t)1 << (shift - 1));
    const Expr *all = expr_add(ir, expr_mul(ir, x, y), half);
    const Expr *by = expr_const(ir, DT_I64, shift);
    return give(c, expr_cast(ir, DT_I32, expr_binary(ir, EX_SHR, all, by)));
}

/* The n-th set bit of a mask from `base` on, counted from 1, or ~0. */
Value do_fns(BuiltinCall *c)
{
    const Expr *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = expr_cast(c->ev->ir, DT_U32, arg_index(c, i));
    return give(c, expr_math(c->ev->ir, MATH_FNS, x, 3));
}

Value do_index_to_coordinates(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Value shape[RANK_MOST], out[RANK_MOST];
    int n = to_shape(c->ev, c->arg_span[1], &c->arg[1], shape, call_what(c, 1));
    const Expr *rest = arg_index(c, 0);
    for (int d = n - 1; d >= 0; d--) {
        const Expr *size = to_expr(c->ev, c->arg_span[1], &shape[d], call_what(c, 1));
        out[d] = give(c, expr_floormod(ir, rest, size));
        rest = expr_floordiv(ir, rest, size);
    }
    return value_seq(c->ev, V_LIST, out, n);
}

/* ---- vectors --------------------------------------------------------------------------------- */

static int lane_count(BuiltinCall *c, int i)
{
    int64_t n = arg_int(c, i);
    if (n < 1 || n > 1024)
        arg_fail(c, i, "must be from 1 to 1024, not %lld [argument-type]", (long long)n);
    return (int)n;
}

static const Expr *arg_scalar(BuiltinCall *c, int i)
{
    const Expr *e = arg_expr(c, i);
    if (e->lanes != 1)
        arg_fail(c, i, "must be a scalar, not %d lanes [argument-type]", e->lanes);
    return e;
}

Value do_ramp(BuiltinCall *c)
{
    return give(c, expr_ramp(c->ev->ir, arg_scalar(c, 0), arg_scalar(c, 1), lane_count(c, 2)));
}

Value do_broadcast(BuiltinCall *c)
{
    return give(c, expr_broadcast(c->ev->ir, arg_scalar(c, 0), lane_count(c, 1)));
}

static const Expr *one_lane(Ir *ir, const Expr *v, int i)
{
    return v->lanes == 1 ? v : expr_lane(ir, v, i);
}

static Value from_lanes(BuiltinCall *c, const Expr *const *lane, int n)
{
    return give(c, n == 1 ? lane[0] : expr_vector(c->ev->ir, lane, n));
}

/* T.Shuffle([v, w], [3, 0, …]): lanes of the vectors laid end to end. */
Value do_shuffle(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    VEC(const Expr *) all = {0};
    const Value *v = &c->arg[0];
    if (!value_is_seq(v) || !value_is_seq(&c->arg[1]))
        call_fail(c, "takes a list of vectors and a list of indices [argument-type]");
    for (int i = 0; i < v->u.seq->n; i++) {
        const Expr *e = to_expr(c->ev, c->arg_span[0], &v->u.seq->at[i], call_what(c, 0));
        for (int k = 0; k < e->lanes; k++) {
            const Expr *l = one_lane(ir, e, k);
            vec_push(c->ev->arena, &all, l);
        }
    }
    int n = c->arg[1].u.seq->n;
    const Expr **lane = NEWN(c->ev->arena, const Expr *, n + 1);
    for (int i = 0; i < n; i++) {
        int64_t k = to_int(c->ev, c->arg_span[1], &c->arg[1].u.seq->at[i], call_what(c, 1));
        if (k < 0 || k >= all.n)
            arg_fail(c, 1, "asks for lane %lld of %d [argument-type]", (long long)k, all.n);
        lane[i] = all.at[k];
    }
    if (n == 0)
        arg_fail(c, 1, "is empty [argument-type]");
    return from_lanes(c, lane, n);
}

Value do_extract_lane(BuiltinCall *c)
{
    const Expr *v = arg_expr(c, 0);
    int64_t i = arg_int(c, 1);
    if (i < 0 || i >= v->lanes)
        arg_fail(c, 1, "is %lld, but the vector has %d lanes [argument-type]", (long long)i,
                 v->lanes);
    return give(c, one_lane(c->ev->ir, v, (int)i));
}

/* Argument 0 says what type comes out, which the parts have already. */
static void check_type(BuiltinCall *c, const Expr *part, int lanes)
{
    int said;
    DType t = arg_dtype(c, 0, &said);
    if (t != part->type || said != lanes)
        arg_fail(c, 0, "must be %sx%d, the type of the result [argument-type]",
                 dtype_name((DType)part->type), lanes);
}

static Value half(BuiltinCall *c, bool high)
{
    const Expr *v = arg_expr(c, 1);
    const Expr *lane[512];
    int n = v->lanes / 2;
    if (v->lanes < 2 || v->lanes % 2 || n > COUNT(lane))
        arg_fail(c, 1, "must have an even number of lanes, not %d [argument-type]", v->lanes);
    check_type(c, v, n);
    for (int i = 0; i < n; i++)
        lane[i] = expr_lane(c->ev->ir, v, high ? n + i : i);
    return from_lanes(c, lane, n);
}

Value do_vectorlow(BuiltinCall *c) { return half(c, false); }
Value do_vectorhigh(BuiltinCall *c) { return half(c, true); }

Value do_vectorcombine(BuiltinCall *c)
{
    const Expr *a = arg_expr(c, 1), *b = arg_expr(c, 2);
    check_type(c, a, a->lanes + b->lanes);
    const Expr **lane = NEWN(c->ev->arena, const Expr *, a->lanes + b->lanes);
    for (int i = 0; i < a->lanes + b->lanes; i++)
        lane[i] = i < a->lanes ? one_lane(c->ev->ir, a, i) : one_lane(c->ev->ir, b, i - a->lanes);
    return from_lanes(c, lane, a->lanes + b->lanes);
}

/* ---- extreme values -------------------------------------------------------------------------- */

Value do_infinity(BuiltinCall *c)
{
    DType t = arg_dtype(c, 0, NULL);
    if (!dtype_is_float(t) || !dtype_has_inf(t))
        arg_fail(c, 0, "has no infinity: %s [infinity-type]", dtype_name(t));
    return give(c, expr_float(c->ev->ir, t, INFINITY));
}

static Value limit(BuiltinCall *c, bool most)
{
    Ir *ir = c->ev->ir;
    DType t = arg_dtype(c, 0, NULL);
    if (dtype_is_float(t))
        return give(c, expr_float(ir, t, most ? dtype_max(t) : dtype_min(t)));
    if (t == DT_HANDLE)
        arg_fail(c, 0, "must be a number type [argument-type]");
    return give(c, expr_const(ir, t, most ? dtype_int_max(t) : dtype_int_min(t)));
}

Value do_max_value(BuiltinCall *c) { return limit(c, true); }
Value do_min_value(BuiltinCall *c) { return limit(c, false); }
