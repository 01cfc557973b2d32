/* expr.c -- interning, promotion and folding of expressions. */
#include <math.h>
#include "ir_world.h"

TEST(equal_expressions_are_one)
{
    World w;
    world_open(&w);
    const Expr *i = var_of(&w, "i", DT_I32), *j = var_of(&w, "i", DT_I32);
    CHECK(expr_add(w.ir, i, expr_int(w.ir, 1)) == expr_add(w.ir, i, expr_int(w.ir, 1)));
    CHECK(expr_add(w.ir, i, j) != expr_add(w.ir, j, i));
    CHECK(i != j);
    CHECK(expr_float(w.ir, DT_F32, 0.0) != expr_float(w.ir, DT_F32, -0.0));
    CHECK(expr_float(w.ir, DT_F32, NAN) == expr_float(w.ir, DT_F32, -NAN));
    CHECK(expr_float(w.ir, DT_F32, 1) != expr_float(w.ir, DT_F64, 1));
    CHECK(expr_str(w.ir, "a") == expr_str(w.ir, "a"));
    const Expr *sum = i;
    for (int k = 0; k < 3000; k++) /* the table grows under it */
        sum = expr_add(w.ir, i, expr_int(w.ir, k));
    CHECK(sum == expr_add(w.ir, i, expr_int(w.ir, 2999)));
    world_close(&w);
}

TEST(literals_take_the_type_next_to_them)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *h = var_of(&w, "h", DT_F16), *b = var_of(&w, "b", DT_U8);
    const Expr *l = var_of(&w, "l", DT_I64), *i = var_of(&w, "i", DT_I32);
    CHECK_INT(expr_add(ir, h, expr_int(ir, 1))->type, DT_F16);
    CHECK_INT(expr_mul(ir, expr_float(ir, DT_F32, 0.5), h)->type, DT_F16);
    CHECK_INT(expr_add(ir, i, expr_float(ir, DT_F32, 0.5))->type, DT_F32);
    CHECK_INT(expr_add(ir, b, expr_int(ir, 200))->type, DT_U8);
    CHECK_INT(expr_add(ir, b, expr_int(ir, 300))->type, DT_I32);
    CHECK_INT(expr_add(ir, l, expr_int(ir, 1))->type, DT_I64);
    CHECK_INT(expr_add(ir, i, expr_const(ir, DT_I64, 1))->type, DT_I64);
    CHECK_INT(expr_binary(ir, EX_BITAND, var_of(&w, "u", DT_U32), expr_int(ir, 0xffffffff))->type,
              DT_U32);
    CHECK_INT(expr_add(ir, i, expr_int(ir, INT64_C(5000000000)))->type, DT_I64);
    CHECK_TEXT(text_of(&w, expr_add(ir, h, expr_int(ir, 1))), "h + float16(1.0)");
    world_close(&w);
}

TEST(mixed_types_promote)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *i = var_of(&w, "i", DT_I32), *l = var_of(&w, "l", DT_I64);
    const Expr *h = var_of(&w, "h", DT_F16), *p = var_of(&w, "p", DT_BOOL);
    CHECK_TEXT(text_of(&w, expr_add(ir, i, l)), "cast(int64, i) + l");
    CHECK_TEXT(text_of(&w, expr_mul(ir, i, h)), "cast(float16, i) * h");
    CHECK_TEXT(text_of(&w, expr_add(ir, p, p)), "cast(int32, p) + cast(int32, p)");
    CHECK_INT(expr_binary(ir, EX_BITAND, p, p)->type, DT_BOOL);
    CHECK_INT(expr_lt(ir, i, l)->type, DT_BOOL);
    CHECK_INT(expr_binary(ir, EX_SHL, i, l)->type, DT_I32);
    CHECK_INT(expr_unary(ir, EX_BITNOT, p)->op, EX_NOT);
    world_close(&w);
}

TEST(vectors_meet_scalars)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *r = expr_ramp(ir, var_of(&w, "i", DT_I32), expr_int(ir, 1), 4);
    const Expr *e = expr_mul(ir, r, expr_int(ir, 3));
    CHECK_INT(e->lanes, 4);
    CHECK_TEXT(text_of(&w, e), "ramp(i, 1, 4) * broadcast(3, 4)");
    CHECK_INT(expr_lt(ir, e, expr_int(ir, 9))->lanes, 4);
    CHECK(expr_mul(ir, r, expr_int(ir, 1)) == r);
    CHECK_TEXT(text_of(&w, expr_lane(ir, r, 2)), "i + 2");
    int64_t v;
    CHECK(expr_is_splat(expr_mul(ir, r, expr_int(ir, 0)), &v) && v == 0);
    world_close(&w);
}

static int64_t folded(Ir *ir, ExprOp op, DType t, int64_t a, int64_t b)
{
    int64_t v = INT64_MIN + 7;
    expr_is_int(expr_binary(ir, op, expr_const(ir, t, a), expr_const(ir, t, b)), &v);
    return v;
}

TEST(integers_fold_as_they_run)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    CHECK_INT(folded(ir, EX_ADD, DT_I32, INT32_MAX, 1), INT32_MIN);
    CHECK_INT(folded(ir, EX_MUL, DT_U8, 16, 17), 16);
    CHECK_INT(folded(ir, EX_FLOORDIV, DT_I32, -7, 2), -4);
    CHECK_INT(folded(ir, EX_FLOORMOD, DT_I32, -7, 2), 1);
    CHECK_INT(folded(ir, EX_FLOORMOD, DT_I32, 7, -2), -1);
    CHECK_INT(folded(ir, EX_TRUNCDIV, DT_I32, -7, 2), -3);
    CHECK_INT(folded(ir, EX_TRUNCMOD, DT_I32, -7, 2), -1);
    CHECK_INT(folded(ir, EX_FLOORDIV, DT_I32, INT32_MIN, -1), INT32_MIN);
    CHECK(folded(ir, EX_FLOORDIV, DT_I64, INT64_MIN, -1) == INT64_MIN);
    CHECK_INT(folded(ir, EX_FLOORDIV, DT_U64, -1, 2), INT64_MAX);
    CHECK_INT(folded(ir, EX_SHR, DT_I32, -8, 1), -4);
    CHECK_INT(folded(ir, EX_SHR, DT_U32, -8, 1), 0x7ffffffc);
    CHECK_INT(folded(ir, EX_SHL, DT_I8, 1, 7), -128);
    CHECK_INT(folded(ir, EX_LT, DT_U64, 1, -1), 1);
    CHECK_INT(folded(ir, EX_LT, DT_I64, 1, -1), 0);
    CHECK_INT(folded(ir, EX_MAX, DT_U64, 1, -1), -1);
    for (int x = -9; x <= 9; x++)
        for (int y = -9; y <= 9; y++) {
            if (y == 0)
                continue;
            int64_t q = folded(ir, EX_FLOORDIV, DT_I16, x, y);
            int64_t m = folded(ir, EX_FLOORMOD, DT_I16, x, y);
            CHECK_INT(q * y + m, x);
            CHECK(y > 0 ? m >= 0 && m < y : m <= 0 && m > y);
        }
    world_close(&w);
}

TEST(division_and_shift_by_anything_fold)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    for (ExprOp op = EX_FLOORDIV; op <= EX_TRUNCMOD; op++)
        CHECK_INT(folded(ir, op, DT_I32, 7, 0), 0);
    CHECK_INT(folded(ir, EX_FLOORDIV, DT_I8, -128, -1), -128);
    CHECK_INT(folded(ir, EX_TRUNCDIV, DT_I16, -32768, -1), -32768);
    CHECK_INT(folded(ir, EX_SHL, DT_I32, 1, 32), 0);
    CHECK_INT(folded(ir, EX_SHL, DT_I32, 1, -1), 0);
    CHECK_INT(folded(ir, EX_SHR, DT_I8, -1, 9), -1);
    CHECK_INT(folded(ir, EX_SHR, DT_I64, -5, -1), -1);
    CHECK_INT(folded(ir, EX_SHR, DT_U64, -1, 64), 0);
    world_close(&w);
}

TEST(what_must_not_fold_stays)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *x = var_of(&w, "x", DT_F32);
    CHECK_INT(expr_binary(ir, EX_DIV, expr_float(ir, DT_F32, 1), expr_float(ir, DT_F32, 0))->op,
              EX_DIV);
    CHECK_INT(expr_add(ir, x, expr_float(ir, DT_F32, 0))->op, EX_ADD);
    CHECK_INT(expr_mul(ir, x, expr_float(ir, DT_F32, 0))->op, EX_MUL);
    CHECK_INT(expr_unary(ir, EX_NEG, expr_unary(ir, EX_NEG, x))->op, EX_NEG);
    const Expr *plus = expr_float(ir, DT_F32, 0.0), *minus = expr_float(ir, DT_F32, -0.0);
    CHECK_INT(expr_min(ir, plus, minus)->op, EX_MIN);
    world_close(&w);
}

TEST(floats_round_to_their_type)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    double v;
    CHECK(expr_is_float(expr_add(ir, expr_float(ir, DT_F16, 2048), expr_float(ir, DT_F16, 1)), &v));
    CHECK(v == 2048);
    CHECK(expr_is_float(expr_mul(ir, expr_float(ir, DT_F16, 60000), expr_float(ir, DT_F16, 2)), &v));
    CHECK(isinf(v));
    CHECK(expr_is_float(expr_cast(ir, DT_E4M3, expr_float(ir, DT_F32, 1e9)), &v) && v == 448);
    CHECK(expr_is_float(expr_float(ir, DT_F32, 0.1), &v) && v == (double)0.1f);
    CHECK(expr_is_float(expr_max(ir, expr_float(ir, DT_F32, NAN), expr_float(ir, DT_F32, 3)), &v));
    CHECK(v == 3);
    world_close(&w);
}

TEST(casts_fold)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    int64_t v;
    double f;
    const Expr *x = var_of(&w, "x", DT_I32);
    CHECK(expr_cast(ir, DT_I32, x) == x);
    CHECK(expr_is_int(expr_cast(ir, DT_I8, expr_int(ir, 300)), &v) && v == 44);
    CHECK(expr_is_int(expr_cast(ir, DT_I8, expr_float(ir, DT_F32, -1e9)), &v) && v == -128);
    CHECK(expr_is_int(expr_cast(ir, DT_BOOL, expr_int(ir, 300)), &v) && v == 1);
    CHECK(expr_is_float(expr_cast(ir, DT_F16, expr_int(ir, 2049)), &f) && f == 2048);
    CHECK(expr_is_int(expr_bitcast(ir, DT_I32, 1, expr_float(ir, DT_F32, 1)), &v));
    CHECK_INT(v, 0x3f800000);
    CHECK(expr_is_float(expr_bitcast(ir, DT_F16, 1, expr_const(ir, DT_U16, 0x3e00)), &f) && f == 1.5);
    world_close(&w);
}

TEST(identities_of_integers_and_bools)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *x = var_of(&w, "x", DT_I32), *p = var_of(&w, "p", DT_BOOL);
    const Expr *zero = expr_int(ir, 0), *one = expr_int(ir, 1);
    CHECK(expr_add(ir, x, zero) == x && expr_add(ir, zero, x) == x && expr_sub(ir, x, zero) == x);
    CHECK(expr_mul(ir, x, one) == x && expr_mul(ir, zero, x) == zero);
    CHECK(expr_floordiv(ir, x, one) == x && expr_floormod(ir, x, one) == zero);
    CHECK(expr_sub(ir, zero, x)->op == EX_SUB && expr_floordiv(ir, one, x)->op == EX_FLOORDIV);
    CHECK(expr_and(ir, expr_bool(ir, true), p) == p);
    CHECK(expr_is_zero(expr_and(ir, p, expr_bool(ir, false))));
    CHECK(expr_unary(ir, EX_NOT, expr_unary(ir, EX_NOT, p)) == p);
    CHECK(expr_if(ir, expr_bool(ir, false), one, x) == x);
    CHECK(expr_ceildiv(ir, expr_int(ir, 9), expr_int(ir, 4)) == expr_int(ir, 3));
    CHECK(expr_ceildiv(ir, x, one) == x);
    world_close(&w);
}

static void deepen(World *w, void *arg)
{
    const Expr *e = var_of(w, "x", DT_I32);
    (void)arg;
    for (int i = 0; i < 2000; i++)
        e = expr_unary(w->ir, i % 2 ? EX_NEG : EX_BITNOT, e);
}

static void widen(World *w, void *arg)
{
    const Expr *e = var_of(w, "x", DT_I32);
    (void)arg;
    for (int i = 0; i < 100; i++)
        e = expr_mul(w->ir, e, e);
}

static void divide(World *w, void *arg)
{
    (void)arg;
    expr_binary(w->ir, EX_DIV, var_of(w, "x", DT_I32), var_of(w, "y", DT_I32));
}

TEST(limits_are_reported)
{
    World w;
    world_open(&w);
    CHECK_TEXT(thrown(&w, deepen, NULL), "too-deep");
    CHECK_TEXT(thrown(&w, widen, NULL), "too-deep");
    CHECK_HAS(thrown(&w, divide, NULL), "'/' on int32");
    world_close(&w);
}

TEST(math_functions_type_their_values)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *x = var_of(&w, "x", DT_F16), *i = var_of(&w, "i", DT_I32);
    CHECK_INT(expr_math(ir, MATH_EXP, &x, 1)->type, DT_F16);
    CHECK_INT(expr_math(ir, MATH_EXP, &i, 1)->type, DT_F32);
    CHECK_INT(expr_math(ir, MATH_ISNAN, &x, 1)->type, DT_BOOL);
    CHECK_INT(expr_math(ir, MATH_ABS, &i, 1)->type, DT_I32);
    CHECK(expr_math(ir, MATH_FLOOR, &i, 1) == i);
    const Expr *pair[] = {x, expr_int(ir, 2)};
    CHECK_TEXT(text_of(&w, expr_math(ir, MATH_POW, pair, 2)), "pow(x, float16(2.0))");
    world_close(&w);
}
