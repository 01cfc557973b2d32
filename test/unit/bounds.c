/* bounds.c -- tests of intervals: open ends, overflow, and types that wrap. */
#include "unit/expr_text.h"
#include "test.h"

static void check_bounds(Words *w, const char *text, int64_t lo, int64_t hi)
{
    Bounds b = bounds_of(w->f, words_read(w, text));
    if (b.lo != lo || b.hi != hi)
        printf("%s\n", text);
    CHECK_INT(b.lo, lo);
    CHECK_INT(b.hi, hi);
}

TEST(arithmetic)
{
    Words w = words_new();
    words_range(&w, 'i', 0, 10);
    words_range(&w, 'j', -3, 5);
    check_bounds(&w, "i + j", -3, 13);
    check_bounds(&w, "i - j", -4, 12);
    check_bounds(&w, "i * j", -27, 36);
    check_bounds(&w, "-i", -9, 0);
    check_bounds(&w, "i // 4", 0, 2);
    check_bounds(&w, "j // 2", -2, 2);
    check_bounds(&w, "j // -2", -2, 1);
    check_bounds(&w, "i % 4", 0, 3);
    check_bounds(&w, "i % 20", 0, 9);
    check_bounds(&w, "(i + 20) % 10", 0, 9);
    check_bounds(&w, "j % 3", 0, 2);
    check_bounds(&w, "i % -4", -3, 0);
    check_bounds(&w, "min(i, j)", -3, 4);
    check_bounds(&w, "max(i, j)", 0, 9);
    check_bounds(&w, "select(x < y, i, j)", -3, 9);
    check_bounds(&w, "i & 3", 0, 3);
    check_bounds(&w, "i ^ 5", 0, 15);
    check_bounds(&w, "i << 2", 0, 36);
    check_bounds(&w, "j >> 1", -2, 2);
}

TEST(a_quotient_bounds_what_it_divides)
{
    Words w = words_new();
    words_range(&w, 'i', 0, 128);
    int mark = facts_mark(w.f);
    facts_hold(w.f, words_read(&w, "i // 32 == 1"));
    check_bounds(&w, "i", 32, 63);
    facts_pop(w.f, mark);
    facts_hold(w.f, words_read(&w, "i // 32 < 2"));
    check_bounds(&w, "i", 0, 63);
    facts_pop(w.f, mark);
    facts_hold(w.f, words_read(&w, "i // 32 >= 3"));
    check_bounds(&w, "i", 96, 127);
}

TEST(unknown_variables_have_their_type)
{
    Words w = words_new();
    check_bounds(&w, "x", INT32_MIN, INT32_MAX);
    check_bounds(&w, "x + 1", (int64_t)INT32_MIN + 1, (int64_t)INT32_MAX + 1);
    check_bounds(&w, "x % 8", 0, 7);
}

TEST(overflow_gives_up)
{
    Words w = words_new();
    Var *v = var_new(w.ir, "big", DT_I64, NO_SPAN);
    const Expr *e = expr_var(w.ir, v);
    Bounds b = bounds_of(w.f, expr_mul(w.ir, e, e));
    CHECK(b.lo == INT64_MIN && b.hi == INT64_MAX);
    facts_range(w.f, v, expr_const(w.ir, DT_I64, 0), expr_const(w.ir, DT_I64, INT64_MAX / 2));
    b = bounds_of(w.f, expr_mul(w.ir, e, expr_const(w.ir, DT_I64, 4)));
    CHECK(b.lo == 0 && b.hi == INT64_MAX);
    b = bounds_add((Bounds){INT64_MIN, 5}, (Bounds){-7, INT64_MAX});
    CHECK(b.lo == INT64_MIN && b.hi == INT64_MAX);
    b = bounds_scale((Bounds){INT64_MIN, 3}, -2);
    CHECK(b.lo == -6 && b.hi == INT64_MAX);
    CHECK_INT(bounds_scale((Bounds){INT64_MIN, INT64_MAX}, 0).hi, 0);
}

TEST(narrow_types_wrap)
{
    Words w = words_new();
    const Expr *u = expr_var(w.ir, var_new(w.ir, "u", DT_U8, NO_SPAN));
    Bounds b = bounds_of(w.f, expr_add(w.ir, u, expr_const(w.ir, DT_U8, 200)));
    CHECK(b.lo == 0 && b.hi == 255);
    b = bounds_of(w.f, expr_cast(w.ir, DT_I32, u));
    CHECK(b.lo == 0 && b.hi == 255);
    b = bounds_of(w.f, expr_cast(w.ir, DT_I8, u));
    CHECK(b.lo == -128 && b.hi == 127);
    const Expr *q = expr_var(w.ir, var_new(w.ir, "q", DT_U64, NO_SPAN));
    b = bounds_of(w.f, expr_cast(w.ir, DT_I64, q));
    CHECK(b.lo == INT64_MIN && b.hi == INT64_MAX);
}

TEST(facts_come_and_go)
{
    Words w = words_new();
    int mark = facts_mark(w.f);
    words_assume(&w, "x >= 3 and x < 9 and y == x");
    check_bounds(&w, "x", 3, 8);
    words_assume(&w, "2 * x <= 11");
    check_bounds(&w, "x", 3, 5);
    facts_pop(w.f, mark);
    check_bounds(&w, "x", INT32_MIN, INT32_MAX);
}

static Proof proof_of(Words *w, const char *text)
{
    return prove(w->ir, w->f, words_read(w, text));
}

/* It may not run, and then says nothing of what stands outside. */
TEST(a_range_is_known_where_its_loop_is)
{
    Words w = words_new();
    const Expr *i = words_read(&w, "i"), *n = words_read(&w, "3 - 3 * x");
    words_range(&w, 'x', 0, 2);
    facts_loop(w.f, i->u.var, expr_int(w.ir, 0), n);
    CHECK_INT(proof_of(&w, "x < 1"), PROOF_UNKNOWN);
    CHECK_INT(proof_of(&w, "29 - 16 * x >= 16"), PROOF_UNKNOWN);
    CHECK_INT(proof_of(&w, "i + 3 * x < 3"), PROOF_YES);
    CHECK_INT(proof_of(&w, "i < 3"), PROOF_YES);
    const Expr *j = words_read(&w, "j"), *m = words_read(&w, "3 - x");
    facts_loop(w.f, j->u.var, expr_int(w.ir, 0), m);
    CHECK_INT(proof_of(&w, "j + x < 3"), PROOF_YES);
    facts_assume_of(w.f, j->u.var, words_read(&w, "y + j < 5"));
    CHECK_INT(proof_of(&w, "y < 5"), PROOF_UNKNOWN);
    CHECK_INT(proof_of(&w, "y + j < 5"), PROOF_YES);
}

TEST(floor_division_of_numbers)
{
    for (int64_t a = -20; a <= 20; a++) {
        for (int64_t b = -6; b <= 6; b++) {
            if (b == 0)
                continue;
            CHECK_INT(floor_div(a, b) * b + floor_mod(a, b), a);
            CHECK(b > 0 ? floor_mod(a, b) >= 0 && floor_mod(a, b) < b
                        : floor_mod(a, b) <= 0 && floor_mod(a, b) > b);
        }
    }
    CHECK_INT(floor_div(INT64_MIN, -1), INT64_MAX);
    CHECK_INT(gcd_of(0, -12), 12);
    CHECK_INT(gcd_of(18, 12), 6);
}
