/* panels.c -- operands of MMAs that read shared memory through descriptors: swizzled panels. */
#include "target/cuda/cuda.h"

enum { RANK_PANELS = 6 }; /* of a tile: its layout has two axes more */

int64_t matrix_extent(const Region *r, int from_end)
{
    return region_extent_int(r, r->buf->rank - 1 - from_end);
}

/* Bytes of a swizzled panel of a tile with such rows; 0: the rows do not fill one. */
static int panel_bytes(const Buffer *b, int64_t cols)
{
    int64_t row = cols * dtype_bits(b->type) / 8;
    return row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 0;
}

/* The layout that the instruction reads: as annotated, or what we shall ask for. */
static int operand_span(Kernel *k, const Buffer *b)
{
    int64_t shape[RANK_MOST];
    const BufferPlan *p = buffer_plan(k, b);

    if (!buffer_static_shape(b, shape) || b->rank < 2 || b->rank > RANK_PANELS || b->view_of)
        return 0;
    if (p->pinned && p->layout)
        return layout_swizzle_span(k->ir, p->layout, dtype_bits(b->type));
    return panel_bytes(b, shape[b->rank - 1]);
}

/* Descriptors start at eight-row groups and at whole panels; where k runs along the rows, at any
 * instruction's part of it. */
static bool starts_well(Kernel *k, const Region *r, bool mn_major, int span)
{
    enum { STEP_BYTES = 32 };
    int row = r->buf->rank - 2;
    int64_t panel = (int64_t)(mn_major ? span : STEP_BYTES) * 8 / dtype_bits(r->buf->type);
    const Facts *f = body_facts(k);
    Modular m = modular_of(f, r->at[row]), n = modular_of(f, r->at[row + 1]);
    return m.coef % 8 == 0 && m.base % 8 == 0 && n.coef % panel == 0 && n.base % panel == 0;
}

bool panel_operand(Kernel *k, const Region *r, bool mn_major, int mn_bits, int64_t part, int64_t n,
                   const char **why)
{
    int span = operand_span(k, r->buf);
    int64_t panel = (int64_t)span * 8 / dtype_bits(r->buf->type);

    if (r->buf->scope != MEM_SHARED || !span) {
        *why = "an operand is not a shared tile with rows of 32 bytes";
        return false;
    }
    if (!starts_well(k, r, mn_major, span)) {
        *why = "an operand does not start at a swizzled panel";
        return false;
    }
    if (mn_major && !(dtype_bits(r->buf->type) & mn_bits)) {
        *why = "only 16-bit operands may be stored with k as rows";
        return false;
    }
    if (mn_major && (part % panel || n % panel)) {
        *why = "a warpgroup's part is not whole panels";
        return false;
    }
    return true;
}

/* ---- layouts --------------------------------------------------------------------------------- */

void panel_infer(Infer *in, const Stmt *t, const Region *r)
{
    int64_t shape[RANK_MOST];

    if (!buffer_static_shape(r->buf, shape) || buffer_plan(in->k, r->buf)->pinned)
        return;
    int n = r->buf->rank;
    const Layout *l =
        layout_swizzle(in->ir, shape[n - 2], shape[n - 1], dtype_bits(r->buf->type), 128);
    for (int d = n - 3; d >= 0; d--)
        l = layout_expand(in->ir, l, shape[d]);
    infer_set(in, r->buf, l, t);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A piece of the last two dimensions of a region; `transposed`: the tile stores columns as rows. */
Region matrix_piece(Ir *ir, const Region *of, bool transposed, const Expr *row, const Expr *col,
                    int64_t rows, int64_t cols)
{
    int rank = of->buf->rank, lead = rank - 2;
    Region r = {of->buf, NEWN(ir->arena, const Expr *, rank), NEWN(ir->arena, const Expr *, rank)};

    for (int d = 0; d < lead; d++) {
        r.at[d] = of->at[d];
        r.extent[d] = expr_int(ir, 1);
    }
    r.at[lead] = expr_add(ir, of->at[lead], transposed ? col : row);
    r.at[lead + 1] = expr_add(ir, of->at[lead + 1], transposed ? row : col);
    r.extent[lead] = expr_int(ir, transposed ? cols : rows);
    r.extent[lead + 1] = expr_int(ir, transposed ? rows : cols);
    return r;
}

const Expr *gemm_clears(Ir *ir, const Stmt *t, int64_t step)
{
    const Expr *clear = t->u.tile.narg > 2 ? t->u.tile.arg[2] : NULL;
    if (!clear || step > 0)
        return expr_bool(ir, false);
    return clear->type == DT_BOOL ? clear
                                  : expr_binary(ir, EX_NE, clear, expr_zero(ir, clear->type));
}
