/* invert.c -- tests of index maps: injective or not, and inverses that give every point back. */
#include "unit/expr_text.h"
#include "test.h"

typedef struct {
    const char *out[4];
    int nout;
    int64_t extent[3];
    int n;
    bool injective, inverts;
} Case;

static const Case cases[] = {
    {{"i", "j"}, 2, {5, 7}, 2, true, true},
    {{"j", "i"}, 2, {5, 7}, 2, true, true},
    {{"i * 7 + j"}, 1, {5, 7}, 2, true, true},
    {{"i * 9 + j"}, 1, {5, 7}, 2, true, true},
    {{"i * 6 + j"}, 1, {5, 7}, 2, false, false},
    {{"i // 8", "j", "i % 8"}, 3, {64, 6}, 2, true, true},
    {{"i // 8", "j", "i % 4"}, 3, {64, 6}, 2, false, false},
    {{"i // 8 * 8 + j // 4", "i % 8 * 4 + j % 4"}, 2, {64, 32}, 2, true, true},
    {{"i", "j // 8 ^ i % 8", "j % 8"}, 3, {32, 64}, 2, true, true},
    {{"i * 64 + (j // 8 ^ i % 8) * 8 + j % 8"}, 1, {32, 64}, 2, true, true},
    {{"(i * 48 + j) // 4 % 32", "(i * 48 + j) // 128 * 4 + (i * 48 + j) % 4"}, 2, {10, 48}, 2, true,
     true},
    {{"(i * 7 + j) % 4", "(i * 7 + j) // 4"}, 2, {5, 7}, 2, true, true},
    {{"i ^ j", "j"}, 2, {8, 8}, 2, true, true},
    {{"i ^ j", "i & j"}, 2, {8, 8}, 2, false, false},
    {{"i ^ i // 2"}, 1, {64}, 1, true, true},
    {{"i + j * 3", "k"}, 2, {3, 4, 5}, 3, true, true},
    {{"15 - i"}, 1, {16}, 1, true, true},
    {{"i * 8 + 7 - j"}, 1, {4, 8}, 2, true, true},
    {{"i * 5 % 16"}, 1, {16}, 1, true, false},
    {{"0", "i"}, 2, {1}, 1, false, false},
};

TEST(maps)
{
    for (int c = 0; c < COUNT(cases); c++) {
        Words w = words_new();
        const Case *t = &cases[c];
        const Expr *out[4], *inverse[3];
        Var *outvars[4];
        if (t->n == 1 && t->extent[0] == 1)
            continue;
        for (int d = 0; d < t->nout; d++) {
            out[d] = words_read(&w, t->out[d]);
            outvars[d] = var_new(w.ir, "o", DT_I32, NO_SPAN);
        }
        bool injective = map_is_injective(w.ir, w.v, t->extent, t->n, out, t->nout);
        bool inverts = map_invert(w.ir, w.v, t->extent, t->n, out, t->nout, outvars, inverse);
        if (injective != t->injective || inverts != t->inverts)
            printf("%s, %s\n", t->out[0], t->nout > 1 ? t->out[1] : "");
        CHECK_INT(injective, t->injective);
        CHECK_INT(inverts, t->inverts);
        CHECK(!inverts || injective);
    }
}

TEST(inverse_of_a_swizzle_is_short)
{
    Words w = words_new();
    const Expr *out[3] = {words_read(&w, "i"), words_read(&w, "j // 8 ^ i % 8"),
                          words_read(&w, "j % 8")}, *inverse[2];
    int64_t extent[2] = {32, 64};
    Var *outvars[3] = {words_var(&w, 'l'), words_var(&w, 'm'), words_var(&w, 'n')};
    CHECK(map_invert(w.ir, w.v, extent, 2, out, 3, outvars, inverse));
    CHECK_TEXT(words_text(&w, inverse[0]), "l");
    CHECK_TEXT(words_text(&w, inverse[1]), "(l % 8 ^ m) * 8 + n");
}

TEST(large_boxes_are_quick)
{
    Words w = words_new();
    const Expr *out[2] = {words_read(&w, "i // 16 * 16 + j // 64"),
                          words_read(&w, "i % 16 * 64 + j % 64")};
    int64_t extent[2] = {2048, 1024};
    CHECK(map_is_injective(w.ir, w.v, extent, 2, out, 2));
}
