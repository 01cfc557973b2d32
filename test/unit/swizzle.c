/* swizzle.c -- tests of xor swizzles: bijections without bank conflicts. */
#include "unit/expr_text.h"
#include "layout/layout.h"
#include "test.h"

static const Machine banks = {.lanes = 32, .banks = 32, .bank_bytes = 4};

/* Conflicts when eight lanes of each quarter read one 16-byte unit of rows 0 to 7. */
static int column_conflicts(const Layout *l, int elem_bits, int64_t col)
{
    int64_t address[32];
    for (int lane = 0; lane < 32; lane++) {
        int64_t at[2] = {lane % 8, col + lane / 8 * (128 / elem_bits)};
        address[lane] = layout_eval(l, at) * elem_bits / 8;
    }
    return bank_conflicts(&banks, address, 16);
}

TEST(bijections_of_every_width)
{
    static const int bits[] = {8, 16, 32}, span[] = {128, 64, 32};
    for (int b = 0; b < COUNT(bits); b++) {
        for (int s = 0; s < COUNT(span); s++) {
            Words w = words_new();
            int64_t cols = (int64_t)span[s] * 8 / bits[b];
            const Layout *l = layout_swizzle(w.ir, 64, cols * 2, bits[b], span[s]);
            CHECK(layout_is_injective(w.ir, l));
            CHECK_INT(layout_size(l), 64 * cols * 2);
            CHECK_INT(layout_swizzle_span(w.ir, l, bits[b]), span[s]);
            CHECK(layout_inverse(w.ir, l) != NULL);
            CHECK_INT(layout_vector_width(l, 1, bits[b], 16), 128 / bits[b]);
        }
    }
}

TEST(no_conflicts_where_row_major_has_seven)
{
    Words w = words_new();
    int64_t extent[2] = {64, 64};
    CHECK_INT(column_conflicts(layout_row_major(w.ir, 2, extent), 16, 0), 28);
    CHECK_INT(column_conflicts(layout_swizzle(w.ir, 64, 64, 16, 128), 16, 0), 0);
    CHECK_INT(column_conflicts(layout_swizzle(w.ir, 64, 64, 16, 64), 16, 0), 0);
}

TEST(narrow_tiles_fall_back)
{
    Words w = words_new();
    CHECK_INT(layout_swizzle_span(w.ir, layout_swizzle(w.ir, 64, 32, 16, 128), 16), 64);
    CHECK_INT(layout_swizzle_span(w.ir, layout_swizzle(w.ir, 64, 24, 16, 128), 16), 0);
    CHECK_TEXT(layout_swizzle(w.ir, 64, 24, 16, 128)->name, "row-major");
    int64_t extent[2] = {64, 64};
    CHECK_INT(layout_swizzle_span(w.ir, layout_row_major(w.ir, 2, extent), 16), 0);
}
