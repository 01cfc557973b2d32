/* im2col.c -- T.im2col(img, col, nhw_step, c_step, kernel, stride, dilation, pad).
 *
 * img is NHWC.  Row r and column q of the whole matrix (tile row + nhw_step * tile rows, likewise
 * columns) are  r = (n * OH + oh) * OW + ow  and  q = (kh * kernel + kw) * C + c; the element is
 *
 *     img[n, oh * stride + kh * dilation - pad, ow * stride + kw * dilation - pad, c]
 *
 * and 0 where that is outside the image or past the end of the matrix. */
#include "op/op.h"
#include "sim/sim.h"

enum { IMG, COL };
enum { NHW_STEP, C_STEP, KERNEL, STRIDE, DILATION, PAD, ARGS };

static void im2col_check(Kernel *k, const Stmt *t)
{
    static const char *const name[] = {"kernel", "stride", "dilation", "pad"};
    const Region *img = &t->u.tile.region[IMG], *col = &t->u.tile.region[COL];
    int dim[RANK_MOST];
    if (img->buf->rank != 4)
        diag_error(k->diag, t->span,
                   "im2col needs an NHWC image; '%s' has %d dimensions [copy-shape]",
                   img->buf->name, img->buf->rank);
    if (col->buf->rank < 2 || region_dims(col, dim) > 2)
        diag_error(k->diag, t->span, "im2col needs a matrix tile, not '%s' [copy-shape]",
                   col->buf->name);
    for (int i = KERNEL; i <= PAD; i++)
        if (tile_arg_int(t, i, -1) < (i == PAD ? 0 : 1))
            diag_error(k->diag, t->span, "im2col: %s must be a positive constant [argument-type]",
                       name[i - KERNEL]);
}

typedef struct {
    Ir *ir;
    int64_t kernel, stride, dilation, pad;
    const Expr *h, *w, *c;   /* of the image */
} Conv;

static void conv_of(Ir *ir, const Stmt *t, Conv *v)
{
    const Buffer *img = t->u.tile.region[IMG].buf;
    *v = (Conv){ir, tile_arg_int(t, KERNEL, 1), tile_arg_int(t, STRIDE, 1),
                tile_arg_int(t, DILATION, 1), tile_arg_int(t, PAD, 0),
                img->shape[1], img->shape[2], img->shape[3]};
}

/* Output positions along a side of length n. */
static const Expr *out_size(const Conv *v, const Expr *n)
{
    int64_t grow = 2 * v->pad - v->dilation * (v->kernel - 1) - 1;
    const Expr *room = expr_add(v->ir, n, expr_int(v->ir, grow));
    return expr_add(v->ir, expr_floordiv(v->ir, room, expr_int(v->ir, v->stride)),
                    expr_int(v->ir, 1));
}

static const Expr *position(const Conv *v, const Expr *out, const Expr *tap)
{
    const Expr *a = expr_mul(v->ir, out, expr_int(v->ir, v->stride));
    const Expr *b = expr_mul(v->ir, tap, expr_int(v->ir, v->dilation));
    return expr_sub(v->ir, expr_add(v->ir, a, b), expr_int(v->ir, v->pad));
}

static void image_point(const Conv *v, const Expr *row, const Expr *col, const Expr **at)
{
    Ir *ir = v->ir;
    const Expr *oh = out_size(v, v->h), *ow = out_size(v, v->w), *kw = expr_int(ir, v->kernel);
    const Expr *tap = expr_floordiv(ir, col, v->c);
    at[0] = expr_floordiv(ir, row, expr_mul(ir, oh, ow));
    at[1] =
        position(v, expr_floormod(ir, expr_floordiv(ir, row, ow), oh), expr_floordiv(ir, tap, kw));
    at[2] = position(v, expr_floormod(ir, row, ow), expr_floormod(ir, tap, kw));
    at[3] = expr_floormod(ir, col, v->c);
}

static const Stmt *im2col_lower(Kernel *k, const Stmt *t)
{
    const Region *img = &t->u.tile.region[IMG], *col = &t->u.tile.region[COL];
    Ir *ir = k->ir;
    Conv v;
    Nest n;
    int last = col->buf->rank - 1;
    const Expr *extent[2] = {col->extent[last - 1], col->extent[last]}, *from[4], *to[RANK_MOST];
    conv_of(ir, t, &v);
    nest_open(k, &n, 2, extent);
    const Expr *row = expr_add(ir, expr_mul(ir, t->u.tile.arg[NHW_STEP], extent[0]), n.at[0]);
    const Expr *q = expr_add(ir, expr_mul(ir, t->u.tile.arg[C_STEP], extent[1]), n.at[1]);
    image_point(&v, row, q, from);
    for (int d = 0; d < col->buf->rank; d++)
        to[d] = col->at[d];
    to[last - 1] = expr_add(ir, col->at[last - 1], n.at[0]);
    to[last] = expr_add(ir, col->at[last], n.at[1]);
    Facts *f = kernel_facts(k);
    nest_facts(k, &n, f);
    const Expr *taps = expr_mul(ir, expr_int(ir, v.kernel * v.kernel), v.c);
    const Expr *guard = expr_lt(ir, q, taps), *inside = region_guard(ir, f, img->buf, from);
    if (inside)
        guard = expr_and(ir, guard, inside);
    const Expr *x = expr_load_guarded(ir, img->buf, from, 4, guard, expr_zero(ir, img->buf->type));
    const Stmt *s = stmt_store(ir, t->span, col->buf, to, col->buf->rank,
                               expr_cast(ir, col->buf->type, x));
    return nest_close(k, t->span, &n, LOOP_PARALLEL, s);
}

static void im2col_simulate(Sim *m, const Stmt *t)
{
    SimRegion img = sim_region(m, t, &t->u.tile.region[IMG]);
    SimRegion col = sim_region(m, t, &t->u.tile.region[COL]);
    Conv v;
    conv_of(sim_kernel(m)->ir, t, &v);
    int64_t h = img.shape[1], w = img.shape[2], c = img.shape[3];
    int64_t oh = (h + 2 * v.pad - v.dilation * (v.kernel - 1) - 1) / v.stride + 1;
    int64_t ow = (w + 2 * v.pad - v.dilation * (v.kernel - 1) - 1) / v.stride + 1;
    int64_t rows = col.extent[col.rank - 2], cols = col.extent[col.rank - 1], di[RANK_MOST] = {0};
    int64_t row0 = sim_int(m, t->u.tile.arg[NHW_STEP]) * rows;
    int64_t col0 = sim_int(m, t->u.tile.arg[C_STEP]) * cols;
    for (int d = 0; d < 4; d++)
        img.at[d] = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            int64_t r = row0 + i, q = col0 + j, tap = q / c;
            int64_t si[4] = {r / (oh * ow),
                             r / ow % oh * v.stride + tap / v.kernel * v.dilation - v.pad,
                             r % ow * v.stride + tap % v.kernel * v.dilation - v.pad, q % c};
            Value1 x = {0};
            if (q < v.kernel * v.kernel * c && sim_get(m, t, &img, si, &x))
                x = value_cast(img.buf->type, col.buf->type, x);
            di[col.rank - 2] = i;
            di[col.rank - 1] = j;
            sim_put(m, t, &col, di, x);
        }
}

const TileOp op_im2col = {
    .name = "im2col",
    .id = OP_im2col,
    .traits = TILE_FETCHES | TILE_WALKS,
    .narg = ARGS,
    .by_owner = 1u << COL,
    .params = "img: region, col: region, nhw_step: int, c_step: int, kernel: int, stride: int, "
              "dilation: int, pad: int",
    .doc = "one tile of the matrix a convolution becomes, with zero padding",
    .nregion = 2,
    .check = im2col_check,
    .effects = "rw",
    .infer = infer_nothing,
    .lower = im2col_lower,
    .simulate = im2col_simulate,
};
