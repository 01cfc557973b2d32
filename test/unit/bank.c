/* bank.c -- tests of bank conflicts and of vector widths. */
#include "unit/expr_text.h"
#include "layout/layout.h"
#include "test.h"

static const Machine banks = {.lanes = 32, .banks = 32, .bank_bytes = 4};

TEST(words)
{
    int64_t a[32];
    for (int i = 0; i < 32; i++)
        a[i] = i * 4;
    CHECK_INT(bank_conflicts(&banks, a, 4), 0);
    for (int i = 0; i < 32; i++)
        a[i] = i * 8;
    CHECK_INT(bank_conflicts(&banks, a, 4), 1);
    for (int i = 0; i < 32; i++)
        a[i] = i * 128;
    CHECK_INT(bank_conflicts(&banks, a, 4), 31);
    for (int i = 0; i < 32; i++)
        a[i] = 64;
    CHECK_INT(bank_conflicts(&banks, a, 4), 0);
    for (int i = 0; i < 32; i++)
        a[i] = i < 4 ? i * 128 : -1;
    CHECK_INT(bank_conflicts(&banks, a, 4), 3);
    for (int i = 0; i < 32; i++)
        a[i] = i * 2;
    CHECK_INT(bank_conflicts(&banks, a, 2), 0);
}

TEST(vectors_go_by_parts_of_a_warp)
{
    int64_t a[32];
    for (int i = 0; i < 32; i++)
        a[i] = i * 16;
    CHECK_INT(bank_conflicts(&banks, a, 16), 0);
    for (int i = 0; i < 32; i++)
        a[i] = i * 8;
    CHECK_INT(bank_conflicts(&banks, a, 8), 0);
    for (int i = 0; i < 32; i++)
        a[i] = i * 32;
    CHECK_INT(bank_conflicts(&banks, a, 16), 4);
}

TEST(vector_widths)
{
    Words w = words_new();
    int64_t extent[2] = {8, 24};
    const Layout *row = layout_row_major(w.ir, 2, extent);
    CHECK_INT(layout_vector_width(row, 1, 16, 16), 8);
    CHECK_INT(layout_vector_width(row, 1, 32, 16), 4);
    CHECK_INT(layout_vector_width(row, 1, 8, 16), 8);
    CHECK_INT(layout_vector_width(row, 0, 16, 16), 1);
    CHECK_INT(layout_vector_width(layout_padded(w.ir, 2, extent, 1), 1, 16, 16), 1);
    CHECK_INT(layout_vector_width(layout_padded(w.ir, 2, extent, 4), 1, 16, 16), 4);
    CHECK_INT(layout_vector_width(fragment_linear(w.ir, 2, extent, 32, 4), 1, 16, 16), 4);
    extent[1] = 25;
    CHECK_INT(layout_vector_width(layout_row_major(w.ir, 2, extent), 1, 16, 16), 1);
}
