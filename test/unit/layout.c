/* layout.c -- tests of plain layouts: storage, offsets, inverses, shapes, text. */
#include "unit/expr_text.h"
#include "layout/layout.h"
#include "test.h"

static const char *print(Words *w, const Layout *l)
{
    Str s;
    str_init(&s, w->arena);
    layout_print(&s, l);
    return s.s;
}

TEST(row_major)
{
    Words w = words_new();
    int64_t extent[3] = {4, 6, 8}, at[3] = {2, 3, 5};
    const Layout *l = layout_row_major(w.ir, 3, extent);
    CHECK_INT(layout_eval(l, at), (2 * 6 + 3) * 8 + 5);
    CHECK_INT(layout_size(l), 192);
    CHECK_TEXT(print(&w, l), "layout[4, 6, 8] (i, j, k) -> (i, j, k) \"row-major\"");
    const Expr *e[3] = {words_read(&w, "x"), words_read(&w, "y"), words_read(&w, "n")};
    CHECK_TEXT(words_text(&w, layout_offset(w.ir, l, e)), "n + x * 48 + y * 8");
}

TEST(padded)
{
    Words w = words_new();
    int64_t extent[2] = {4, 6}, at[2] = {3, 5};
    const Layout *l = layout_padded(w.ir, 2, extent, 2);
    CHECK_INT(layout_eval(l, at), 3 * 8 + 5);
    CHECK_INT(layout_size(l), 30);
    CHECK(layout_is_injective(w.ir, l));
    CHECK(layout_inverse(w.ir, l) == NULL);
}

TEST(boxes_are_tight)
{
    Words w = words_new();
    const Layout *l = layout_read(w.ir, "layout[10, 12] (i, j) -> (i // 4, j % 5 + i % 4, j // 5)", NULL);
    CHECK_INT(l->out_extent[0], 3);
    CHECK_INT(l->out_extent[1], 8);
    CHECK_INT(l->out_extent[2], 3);
    l = layout_read(w.ir, "layout[10, 12] (i, j) -> (i * 4 % 6, i)", NULL);
    CHECK_INT(l->out_extent[0], 5);
    CHECK(layout_read(w.ir, "layout[10, 12] (i, j) -> (i - 3, j)", NULL) == NULL);
    CHECK(layout_read(w.ir, "layout[10, 12] (i, j) -> (i +, j)", NULL) == NULL);
    CHECK(layout_read(w.ir, "layout[10, 12] (i, j) -> (i, k)", NULL) == NULL);
}

TEST(inverses)
{
    Words w = words_new();
    const Layout *l = layout_read(w.ir, "layout[64, 32] (i, j) -> (i // 8, j, i % 8)", NULL);
    const Layout *r = layout_inverse(w.ir, l);
    CHECK_TEXT(print(&w, r), "layout[8, 32, 8] (i, j, k) -> (i * 8 + k, j)");
    CHECK_TEXT(print(&w, layout_inverse(w.ir, r)), "layout[64, 32] (i, j) -> (i // 8, j, i % 8)");
}

TEST(equality_is_by_points)
{
    Words w = words_new();
    const Layout *a = layout_read(w.ir, "layout[8, 8] (i, j) -> (i ^ j, j)", NULL);
    const Layout *b = layout_read(w.ir, "layout[8, 8] (i, j) -> (i + j - 2 * (i & j), j)", NULL);
    const Layout *c = layout_read(w.ir, "layout[8, 8] (i, j) -> (i, j)", NULL);
    CHECK(layout_is_equal(w.ir, a, b));
    CHECK(!layout_is_equal(w.ir, a, c));
}

TEST(shapes)
{
    Words w = words_new();
    int64_t flat = 96, cube[3] = {2, 4, 12};
    const Layout *l = layout_read(w.ir, "layout[8, 12] (i, j) -> (j // 4, i, j % 4)", NULL);
    const Layout *f = layout_reshape(w.ir, l, 1, &flat);
    const Layout *c = layout_reshape(w.ir, l, 3, cube);
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 12; j++) {
            int64_t at[2] = {i, j}, one = i * 12 + j, three[3] = {i / 4, i % 4, j};
            CHECK_INT(layout_eval(f, &one), layout_eval(l, at));
            CHECK_INT(layout_eval(c, three), layout_eval(l, at));
        }
    }
    CHECK(layout_reshape(w.ir, l, 3, (int64_t[]){2, 4, 11}) == NULL);
    const Layout *v = layout_expand(w.ir, l, 3);
    CHECK_TEXT(print(&w, v), "layout[3, 8, 12] (i, j, k) -> (i, k // 4, j, k % 4)");
}

TEST(text_reads_back)
{
    static const char *const text[] = {
        "layout[64, 32] (i, j) -> (i // 8, j, i % 8)",
        "layout[64, 64] (i, j) -> (i, i % 8 ^ j // 8, j % 8) \"swizzle 128B\"",
        "fragment[64, 32] threads 128 (i, j) -> thread i * 2 + j // 16, slot (j % 16) \"rows\"",
        "fragment[16] threads 32 rep 2 (i, r) -> thread i + r * 16, slot (0)",
        "layout[] () -> (0)",
    };
    Words w = words_new();
    for (int i = 0; i < COUNT(text); i++) {
        const char *end;
        const Layout *l = layout_read(w.ir, text[i], &end);
        CHECK(l != NULL);
        CHECK_TEXT(print(&w, l), text[i]);
        CHECK(*end == '\0');
    }
    const char *end;
    CHECK(layout_read(w.ir, "layout[4] (i) -> (i), more", &end) && !strcmp(end, ", more"));
    CHECK(layout_read(w.ir, "layout[4] (i) -> (j)", &end) == NULL);
    CHECK(layout_read(w.ir, "fragment[4] (i) -> (i)", &end) == NULL);
}

TEST(tables_and_pictures)
{
    Words w = words_new();
    int64_t extent[2] = {4, 6};
    Str s;
    str_init(&s, w.arena);
    layout_table(&s, fragment_linear(w.ir, 2, extent, 4, 2));
    CHECK_TEXT(s.s, "fragment[4, 6] threads 4 (i, j) -> thread (i * 3 + j // 2) % 4, slot "
                    "((i * 6 + j) // 8 * 2 + j % 2) \"linear\"\n"
                    "         0   1   2   3   4   5\n"
                    "    0  0:0 0:1 1:0 1:1 2:0 2:1\n"
                    "    1  3:0 3:1 0:2 0:3 1:2 1:3\n"
                    "    2  2:2 2:3 3:2 3:3 0:4 0:5\n"
                    "    3  1:4 1:5 2:4 2:5 3:4 3:5\n");
    str_init(&s, w.arena);
    layout_svg(&s, layout_row_major(w.ir, 2, extent), "a <tile>", "a note");
    CHECK_HAS(s.s, "; a note</text>");
    CHECK_HAS(s.s, "a &lt;tile&gt;");
    CHECK_HAS(s.s, "</svg>");
}

