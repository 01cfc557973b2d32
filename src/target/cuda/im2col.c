/* im2col.c -- T.im2col by the tensor memory accelerator.
 *
 * In its im2col mode a bulk copy walks the pixels where a filter's corner may lie, `stride` apart,
 * along rows, then columns, then images; the offset of a tap is added to each, and what is outside
 * of the image is zero.  One box is so many pixels and as many channels of each as a panel has.
 * A tile that stays within one tap (its columns divide the channels) is made of such boxes. */
#include "target/cuda/cuda.h"

enum { IMG, COL };
enum { NHW_STEP, C_STEP, KERNEL, STRIDE, DILATION, PAD };
enum { PIXELS_MOST = 1024, CHANNELS_MOST = 256, CORNER = 128, OFFSET_MOST = 255, STEP_MOST = 8 };

typedef struct {
    int64_t rows, cols;       /* of the tile */
    int64_t h, w, c;          /* of the image */
    int64_t kernel, stride, dilation, pad;
    int64_t reach;            /* of the taps */
    int64_t oh, ow;           /* pixels that are walked, down and along */
} Conv;

static bool conv_of(const Stmt *t, Conv *v)
{
    const Region *img = &t->u.tile.region[IMG], *col = &t->u.tile.region[COL];
    int rank = col->buf->rank;

    if (img->buf->rank != 4 || rank < 2 || !expr_is_int(img->buf->shape[1], &v->h) ||
        !expr_is_int(img->buf->shape[2], &v->w) || !expr_is_int(img->buf->shape[3], &v->c))
        return false;
    v->rows = region_extent_int(col, rank - 2);
    v->cols = region_extent_int(col, rank - 1);
    v->kernel = tile_arg_int(t, KERNEL, 1);
    v->stride = tile_arg_int(t, STRIDE, 1);
    v->dilation = tile_arg_int(t, DILATION, 1);
    v->pad = tile_arg_int(t, PAD, 0);
    v->reach = v->dilation * (v->kernel - 1);
    v->oh = (v->h + 2 * v->pad - v->reach - 1) / v->stride + 1;
    v->ow = (v->w + 2 * v->pad - v->reach - 1) / v->stride + 1;
    return v->oh > 0 && v->ow > 0 && v->rows > 0 && v->cols > 0;
}

/* The first column of the tile is one of the matrix. */
static bool is_inside(Kernel *k, const Facts *f, const Stmt *t, const Conv *v)
{
    Ir *ir = k->ir;
    const Expr *q = t->u.tile.arg[C_STEP];
    const Expr *most = expr_int(ir, v->kernel * v->kernel * v->c / v->cols);

    return prove_true(ir, f, expr_binary(ir, EX_GE, q, expr_zero(ir, q->type))) &&
           prove_true(ir, f, expr_lt(ir, q, most));
}

bool im2col_plan(Kernel *k, const Stmt *t, const char **why)
{
    const Region *img = &t->u.tile.region[IMG], *col = &t->u.tile.region[COL];
    const Facts *f = body_facts(k);
    Conv v = {0};

    *why = "TMA needs sm_90";
    if (k->machine->level < 90 || k->uses_threads)
        return false;
    *why = "not from a tensor of known size to a shared tile of its type";
    if (img->buf->scope != MEM_GLOBAL || img->buf->view_of || !tma_has_address(img->buf) ||
        !region_is_whole(img) || col->buf->scope != MEM_SHARED || col->buf->view_of ||
        img->buf->type != col->buf->type || dtype_bits(img->buf->type) < 8 || !conv_of(t, &v))
        return false;
    *why = "what is outside of the tensor is not zero";
    if (buffer_plan(k, img->buf)->safe)
        return false;
    *why = "a stride of the tensor is not known to be a multiple of 16 bytes";
    if (!tma_strides_fit(f, img->buf))
        return false;
    *why = "a tile holds more than one tap, or columns past the last";
    if (v.c % v.cols || !is_inside(k, f, t, &v))
        return false;
    *why = "the filter is larger than the hardware counts";
    if (v.pad >= CORNER || v.reach - v.pad > CORNER || v.reach > OFFSET_MOST ||
        v.stride > STEP_MOST || v.rows > PIXELS_MOST || v.cols > CHANNELS_MOST)
        return false;
    *why = "the layout of the tile is annotated";
    if (buffer_plan(k, col->buf)->pinned)
        return false;
    if (!tma_boxes_fit(col, false, why) || !tma_is_alone(k, t, img->buf, true, why))
        return false;
    *why = "im2col boxes of the image";
    return true;
}

/* Where the first row of the tile lies: image, row and column of the filter's corner. */
static void first_pixel(Ir *ir, const Stmt *t, const Conv *v, const Expr **at)
{
    const Expr *row = expr_mul(ir, t->u.tile.arg[NHW_STEP], expr_int(ir, v->rows));
    const Expr *ow = expr_int(ir, v->ow), *oh = expr_int(ir, v->oh);
    const Expr *step = expr_int(ir, v->stride), *pad = expr_int(ir, v->pad);
    const Expr *y = expr_floormod(ir, expr_floordiv(ir, row, ow), oh);

    at[0] = expr_floordiv(ir, row, expr_int(ir, v->oh * v->ow));
    at[1] = expr_sub(ir, expr_mul(ir, y, step), pad);
    at[2] = expr_sub(ir, expr_mul(ir, expr_floormod(ir, row, ow), step), pad);
}

static Region part(Ir *ir, const Region *of, const Expr *const *at, int rows, int cols)
{
    int rank = of->buf->rank;
    Region r = {of->buf, NEWN(ir->arena, const Expr *, rank), NEWN(ir->arena, const Expr *, rank)};

    for (int d = 0; d < rank; d++) {
        r.at[d] = at[d];
        r.extent[d] = expr_int(ir, d == rank - 1 ? cols : d == rank - 2 ? rows : 1);
    }
    return r;
}

static const Stmt *box(Kernel *k, const Stmt *t, const Conv *v, int64_t from, int64_t n)
{
    Ir *ir = k->ir;
    const Region *col = &t->u.tile.region[COL];
    const Expr *pixel[4], *to[RANK_MOST], **arg = NEWN(ir->arena, const Expr *, 5);
    const Expr *q = expr_mul(ir, t->u.tile.arg[C_STEP], expr_int(ir, v->cols));
    const Expr *tap = expr_floordiv(ir, q, expr_int(ir, v->c)), *kernel = expr_int(ir, v->kernel);
    const Expr *dilation = expr_int(ir, v->dilation);
    Region *r = NEWN(ir->arena, Region, 3);
    int last = col->buf->rank - 1;

    first_pixel(ir, t, v, pixel);
    pixel[3] = expr_add(ir, expr_floormod(ir, q, expr_int(ir, v->c)), expr_int(ir, from));
    for (int d = 0; d <= last; d++)
        to[d] = col->at[d];
    to[last] = expr_add(ir, to[last], expr_int(ir, from));
    r[0] = part(ir, col, to, (int)v->rows, (int)n);
    r[1] = part(ir, &t->u.tile.region[IMG], pixel, (int)v->rows, (int)n);
    r[2] = tma_barrier(ir, t);
    arg[0] = expr_mul(ir, expr_floormod(ir, tap, kernel), dilation);
    arg[1] = expr_mul(ir, expr_floordiv(ir, tap, kernel), dilation);
    arg[2] = expr_int(ir, v->pad);
    arg[3] = expr_int(ir, v->stride);
    arg[4] = expr_int(ir, v->reach);
    return stmt_instr(ir, t->span, isa_find("tma.load.im2col"), 3, r, 5, arg, t->u.tile.id);
}

const Stmt *im2col_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    Conv v = {0};
    int n = 0, span = buffer_panel_span(k, t->u.tile.region[COL].buf);

    BUG(!conv_of(t, &v) || span < 0, "a planned im2col at line %d cannot be", (int)t->span.line);
    int64_t panel = span ? (int64_t)span * 8 / dtype_bits(t->u.tile.region[COL].buf->type) : v.cols;
    const Stmt **list = NEWN(ir->arena, const Stmt *, v.cols / panel + 4);
    if (!tile_plan(k, t)->pipe)
        list[n++] = tma_announce(k, t);
    for (int64_t from = 0; from < v.cols; from += panel)
        list[n++] = box(k, t, &v, from, panel);
    return tma_issue(k, t, expr_binary(ir, EX_EQ, thread_index(k, who), expr_int(ir, 0)), n, list);
}
