/* swizzle.c -- xor swizzles of shared memory.
 *
 * A row of `span` bytes is cut into 16-byte units; the unit of an element is xored with bits of its
 * row, so that a column of units touches every bank once.  Wider tiles are cut into panels of one
 * span, each stored as if it stood alone (the way bulk copies and matrix units want it):
 *
 *     unit = j // u % n         storage (panel, row, unit ^ (row * n // 8) % n, j % u)
 *
 * with u elements per unit and n = span / 16 units per span: 8, 4, 2 for 128, 64, 32 bytes. */
#include "layout/layout.h"

enum { UNIT_BYTES = 16, ROWS = 8 };

/* The widest of 128, 64, 32 that is at most `span` and that a row fills; 0 if none. */
static int usable_span(int64_t cols, int elem_bits, int span)
{
    int64_t row_bits = cols * elem_bits;
    for (int s = span; s >= 32; s /= 2) {
        if (row_bits % (s * 8) == 0 && s * 8 % elem_bits == 0 && UNIT_BYTES * 8 % elem_bits == 0)
            return s;
    }
    return 0;
}

static const Layout *swizzle(Ir *ir, int64_t rows, int64_t cols, int elem_bits, int span)
{
    int64_t u = UNIT_BYTES * 8 / elem_bits, n = span / UNIT_BYTES, extent[2] = {rows, cols};
    const Expr *i = expr_var(ir, layout_axis(ir, 0)), *j = expr_var(ir, layout_axis(ir, 1));
    const Expr *eu = expr_int(ir, u), *en = expr_int(ir, n);
    const Expr *unit = expr_floormod(ir, expr_floordiv(ir, j, eu), en);
    const Expr *row = expr_floormod(ir, expr_floordiv(ir, i, expr_int(ir, ROWS / n)), en);
    const Expr *out[4] = {expr_floordiv(ir, j, expr_int(ir, u * n)), i,
                          expr_binary(ir, EX_BITXOR, unit, row), expr_floormod(ir, j, eu)};
    bool one_panel = cols == u * n;
    Layout l = {.rank = 2, .extent = {rows, cols}, .rep = 1, .nout = one_panel ? 3 : 4};
    memcpy(l.extent, extent, sizeof extent);
    memcpy(l.out, one_panel ? out + 1 : out, sizeof out[0] * (size_t)l.nout);
    l.name = span == 128 ? "swizzle 128B" : span == 64 ? "swizzle 64B" : "swizzle 32B";
    return layout_make(ir, &l);
}

const Layout *layout_swizzle(Ir *ir, int64_t rows, int64_t cols, int elem_bits, int span_bytes)
{
    int64_t extent[2] = {rows, cols};
    int span = usable_span(cols, elem_bits, span_bytes);
    return span ? swizzle(ir, rows, cols, elem_bits, span) : layout_row_major(ir, 2, extent);
}

/* Whether every tile of l is stored as s stores one, one tile after the other. */
static bool is_stack_of(const Layout *l, const Layout *s)
{
    int64_t at[RANK_MOST] = {0}, each = layout_size(s), tile = 0;
    const int64_t last[RANK_MOST] = {s->extent[0] - 1, s->extent[1] - 1};
    int lead = l->rank - 2;

    do {
        if (layout_eval(l, at) != tile * each + layout_eval(s, at + lead))
            return false;
        tile += at[lead] == last[0] && at[lead + 1] == last[1];
    } while (layout_next(l, at));
    return layout_size(l) == tile * each;
}

int layout_swizzle_span(Ir *ir, const Layout *l, int elem_bits)
{
    if (l->rank < 2 || layout_is_fragment(l))
        return 0;
    int64_t rows = l->extent[l->rank - 2], cols = l->extent[l->rank - 1];
    for (int span = 128; span >= 32; span /= 2)
        if (usable_span(cols, elem_bits, span) == span &&
            is_stack_of(l, swizzle(ir, rows, cols, elem_bits, span)))
            return span;
    return 0;
}
