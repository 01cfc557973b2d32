/* print.c -- the text of expressions, statements and plans. */
#include <math.h>
#include "ir_world.h"

TEST(parentheses_only_where_needed)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    const Expr *a = var_of(&w, "a", DT_I32), *b = var_of(&w, "b", DT_I32), *c = var_of(&w, "c", DT_I32);
    CHECK_TEXT(text_of(&w, expr_sub(ir, a, expr_sub(ir, b, c))), "a - (b - c)");
    CHECK_TEXT(text_of(&w, expr_sub(ir, expr_sub(ir, a, b), c)), "a - b - c");
    CHECK_TEXT(text_of(&w, expr_mul(ir, expr_add(ir, a, b), c)), "(a + b) * c");
    CHECK_TEXT(text_of(&w, expr_add(ir, a, expr_mul(ir, b, c))), "a + b * c");
    CHECK_TEXT(text_of(&w, expr_if(ir, expr_lt(ir, a, b), a, expr_if(ir, expr_lt(ir, b, c), b, c))),
               "a if a < b else b if b < c else c");
    CHECK_TEXT(text_of(&w, expr_add(ir, expr_if(ir, expr_lt(ir, a, b), a, b), c)),
               "(a if a < b else b) + c");
    CHECK_TEXT(text_of(&w, expr_unary(ir, EX_NOT, expr_and(ir, expr_lt(ir, a, b), expr_lt(ir, b, c)))),
               "not (a < b and b < c)");
    CHECK_TEXT(text_of(&w, expr_unary(ir, EX_NEG, expr_add(ir, a, b))), "-(a + b)");
    CHECK_TEXT(text_of(&w, expr_sub(ir, a, expr_int(ir, -3))), "a - -3");
    const Expr *five = expr_int(ir, 5);
    CHECK_TEXT(text_of(&w, expr_make(ir, EX_NEG, DT_I32, 1, 1, &five)), "-(5)");
    world_close(&w);
}

TEST(constants_carry_their_type)
{
    World w;
    world_open(&w);
    Ir *ir = w.ir;
    CHECK_TEXT(text_of(&w, expr_int(ir, -7)), "-7");
    CHECK_TEXT(text_of(&w, expr_const(ir, DT_U64, -1)), "uint64(18446744073709551615)");
    CHECK_TEXT(text_of(&w, expr_const(ir, DT_I8, -5)), "int8(-5)");
    CHECK_TEXT(text_of(&w, expr_bool(ir, true)), "true");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F32, 1)), "1.0");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F32, 0.1)), "0.1");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F32, -0.0)), "-0.0");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F64, 0.1)), "float64(0.1)");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F16, -INFINITY)), "float16(-inf)");
    CHECK_TEXT(text_of(&w, expr_float(ir, DT_F32, NAN)), "float32(nan)");
    CHECK_TEXT(text_of(&w, expr_str(ir, "a\"b\n\x01")), "\"a\\\"b\\n\\x01\"");
    world_close(&w);
}

TEST(things_of_one_name_are_told_apart)
{
    World w;
    world_open(&w);
    const Expr *a = var_of(&w, "i", DT_I32), *b = var_of(&w, "i", DT_I32);
    const Expr *c = var_of(&w, "i_1", DT_I32), *d = var_of(&w, "for", DT_I32);
    CHECK_TEXT(text_of(&w, expr_add(w.ir, expr_add(w.ir, a, b), expr_add(w.ir, c, d))),
               "i + i.1 + (i_1 + for.1)");
    world_close(&w);
}

TEST(names_are_legal_and_stable)
{
    Arena *a = arena_new();
    NameTable *t = names_of(a);
    int x, y, z;
    name_reserve(t, "int");
    CHECK_TEXT(name_for(t, &x, "int"), "int_1");
    CHECK_TEXT(name_for(t, &y, "2d"), "_2d");
    CHECK_TEXT(name_for(t, &z, "a-\xc3\xa9"), "a__");
    CHECK_TEXT(name_for(t, &x, "other"), "int_1");
    arena_free(a);
}

TEST(plans_for_people)
{
    World w;
    Str s;
    world_open(&w);
    Func *f = func_of(&w, "func f:\n"
                          "    param A: float32[8] global is_param\n"
                          "    launch k:\n"
                          "        threads _ = 4, _ = 2, _ = 1\n"
                          "        buffer B: float32[8] shared\n"
                          "        tile #0 how \"simd\" why \"it fits\"\n"
                          "        plan B stages 2 offset 64 nbytes 32 placed\n"
                          "        body:\n"
                          "            copy #0(A[0:+8], B[0:+8])\n");
    str_init(&s, w.arena);
    print_plans(&s, f->kernels.at[0]);
    CHECK_TEXT(s.s, "kernel k: 8 threads\n"
                    "  #0: simd, it fits\n"
                    "  B: shared float32[8], 2 stages, 32 bytes at 64\n");
    world_close(&w);
}
