/* modular.c -- tests of residues. */
#include "unit/expr_text.h"
#include "test.h"

static void check_residue(Words *w, const char *text, int64_t coef, int64_t base)
{
    Modular m = modular_of(w->f, words_read(w, text));
    if (m.coef != coef || m.base != base)
        printf("%s\n", text);
    CHECK_INT(m.coef, coef);
    CHECK_INT(m.base, base);
}

TEST(sums_and_products)
{
    Words w = words_new();
    check_residue(&w, "7", 0, 7);
    check_residue(&w, "x", 1, 0);
    check_residue(&w, "x * 8 + 3", 8, 3);
    check_residue(&w, "x * 8 + y * 12 + 5", 4, 1);
    check_residue(&w, "x * 8 - 3", 8, 5);
    check_residue(&w, "(x * 4 + 2) * 6", 24, 12);
    check_residue(&w, "(x * 16 + 5) // 4", 4, 1);
    check_residue(&w, "(x * 16 + 5) // 3", 1, 0);
    check_residue(&w, "(x * 16 + 5) % 8", 0, 5);
    check_residue(&w, "(x * 16 + 5) % 24", 8, 5);
    check_residue(&w, "min(x * 4, y * 6 + 2)", 2, 0);
    check_residue(&w, "select(x < y, x * 8 + 1, y * 8 + 5)", 4, 1);
}

TEST(assumptions)
{
    Words w = words_new();
    int mark = facts_mark(w.f);
    words_assume(&w, "n % 32 == 8");
    check_residue(&w, "n", 32, 8);
    check_residue(&w, "n // 8", 4, 1);
    words_assume(&w, "n % 4 == 0");
    check_residue(&w, "n", 32, 8);
    facts_pop(w.f, mark);
    check_residue(&w, "n", 1, 0);
}
