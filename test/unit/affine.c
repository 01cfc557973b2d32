/* affine.c -- tests of linear forms over given variables. */
#include "unit/expr_text.h"
#include "test.h"

TEST(coefficients_and_base)
{
    Words w = words_new();
    Var *vars[2] = {words_var(&w, 'i'), words_var(&w, 'j')};
    int64_t coef[2];
    const Expr *base;
    CHECK(affine_of(w.ir, words_read(&w, "(i + 2) * 8 + n * 3 - j + i"), vars, 2, coef, &base));
    CHECK_INT(coef[0], 9);
    CHECK_INT(coef[1], -1);
    CHECK_TEXT(words_text(&w, base), "n * 3 + 16");
    CHECK(affine_of(w.ir, words_read(&w, "n // 2"), vars, 2, coef, &base));
    CHECK_INT(coef[0], 0);
    CHECK(!affine_of(w.ir, words_read(&w, "i * j"), vars, 2, coef, &base));
    CHECK(!affine_of(w.ir, words_read(&w, "i // 2 + j"), vars, 2, coef, &base));
    CHECK(!affine_of(w.ir, words_read(&w, "n * i"), vars, 2, coef, &base));
}

TEST(order_does_not_depend_on_history)
{
    Words a = words_new(), b = words_new();
    words_read(&b, "y * 7 + x % 3"); /* made first in one of them */
    const char *text = "x % 3 + y * 7 + i * j + j * 4 + i // 2";
    CHECK_TEXT(words_simple(&a, text), words_simple(&b, text));
    CHECK_TEXT(words_simple(&a, "i // 2 + j * 4 + j * i + y * 7 + x % 3"), words_simple(&b, text));
}

TEST(too_many_terms_are_left_alone)
{
    Words w = words_new();
    const Expr *e = expr_int(w.ir, 0);
    for (int i = 0; i < TERMS_MOST + 10; i++)
        e = expr_add(w.ir, e, expr_var(w.ir, var_new(w.ir, "t", DT_I32, NO_SPAN)));
    const Expr *r = simplify(w.ir, w.f, e);
    int64_t value[128];
    for (int i = 0; i < 128; i++)
        value[i] = i * i;
    CHECK_INT(expr_eval(r, value), expr_eval(e, value));
}
