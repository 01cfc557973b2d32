/* gemm.c -- T.gemm on mma.sync: warps share the tile, lanes hold what the instruction says.
 *
 *     C (M x N)   warps_m x warps_n parts, each part in tiles of m x n, each tile in the
 *                 instruction's own registers
 *     per k step  the operands of a part come to registers by ldmatrix (two 8x8 matrices and more
 *                 at once), then every tile of the part is one mma
 *
 * The maps of lanes to elements are those of m16n8k16: row lane//4, two columns from lane%4*2, the
 * second half of the rows, then of the columns, in the following registers. */
#include "target/cuda/cuda.h"

enum { A, B, C, WARP = 32 };

static int64_t extent_of(const Region *r, int from_end)
{
    return region_extent_int(r, r->buf->rank - 1 - from_end);
}

static const Isa *mma_row(DType a, DType b, DType c)
{
    if (a != b || c != DT_F32)
        return NULL;
    if (a == DT_F16)
        return isa_find("mma.m16n8k16.f32.f16");
    if (a == DT_BF16)
        return isa_find("mma.m16n8k16.f32.bf16");
    return NULL;
}

/* How far a split is from square parts; smaller is better. */
static double off_square(int64_t m, int64_t n)
{
    return m > n ? (double)m / (double)n : (double)n / (double)m;
}

static bool split_warps(MmaPlan *p, int nwarp, int64_t policy)
{
    double best = 0;

    p->warps_m = 0;
    for (int wm = 1; wm <= nwarp; wm++) {
        int wn = nwarp / wm;
        if (wm * wn != nwarp || p->M % (wm * p->m) || p->N % (wn * p->n))
            continue;
        double cost = policy == 1 ? -wm : policy == 2 ? -wn : off_square(p->M / wm, p->N / wn);
        if (p->warps_m == 0 || cost < best) {
            best = cost;
            p->warps_m = wm;
            p->warps_n = wn;
        }
    }
    if (p->warps_m == 0)
        return false;
    p->part_m = p->M / p->warps_m;
    p->part_n = p->N / p->warps_n;
    return true;
}

bool mma_plan(Kernel *k, const Stmt *t, MmaPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    int nthread = kernel_nthread(k);
    bool trans_a = tile_arg_int(t, 0, 0) != 0;

    *p = (MmaPlan){.m = 16, .n = 8, .k = 16};
    p->mma = mma_row(r[A].buf->type, r[B].buf->type, r[C].buf->type);
    if (!p->mma) {
        *why = "no matrix instruction for these types";
        return false;
    }
    if (r[A].buf->scope != MEM_SHARED || r[B].buf->scope != MEM_SHARED ||
        r[C].buf->scope != MEM_FRAGMENT || !region_is_whole(&r[C]) || r[C].buf->rank != 2) {
        *why = "operands are not in shared memory with a fragment as the result";
        return false;
    }
    p->M = extent_of(&r[C], 1);
    p->N = extent_of(&r[C], 0);
    p->K = extent_of(&r[A], trans_a ? 1 : 0);
    if (nthread % WARP || p->K % p->k ||
        !split_warps(p, nthread / WARP, hint_int(t->u.tile.hints, "policy", 0))) {
        *why = "the tile does not divide into m16n8k16 over these warps";
        return false;
    }
    *why = arena_printf(k->arena, "%d x %d warps of %lld x %lld", p->warps_m, p->warps_n,
                        (long long)p->part_m, (long long)p->part_n);
    return true;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static const Expr *num(Ir *ir, int64_t v)
{
    return expr_int(ir, v);
}

static const Expr *div_by(Ir *ir, const Expr *e, int64_t d)
{
    return expr_floordiv(ir, e, num(ir, d));
}

static const Expr *mod_by(Ir *ir, const Expr *e, int64_t d)
{
    return expr_floormod(ir, e, num(ir, d));
}

static const Expr *plus_times(Ir *ir, const Expr *a, const Expr *b, int64_t c)
{
    return expr_add(ir, a, expr_mul(ir, b, num(ir, c)));
}

static const Layout *accumulator_layout(Ir *ir, const MmaPlan *p)
{
    const Expr *i = expr_var(ir, layout_axis(ir, 0)), *j = expr_var(ir, layout_axis(ir, 1));
    int64_t extent[2] = {p->M, p->N};
    const Expr *warp =
        plus_times(ir, div_by(ir, j, p->part_n), div_by(ir, i, p->part_m), p->warps_n);
    const Expr *lane = plus_times(ir, div_by(ir, mod_by(ir, j, 8), 2), mod_by(ir, i, 8), 4);
    const Expr *tile = plus_times(ir, div_by(ir, mod_by(ir, j, p->part_n), p->n),
                                  div_by(ir, mod_by(ir, i, p->part_m), p->m), p->part_n / p->n);
    const Expr *in_tile = plus_times(ir, mod_by(ir, j, 2), div_by(ir, mod_by(ir, i, 16), 8), 2);
    const Expr *slot = plus_times(ir, in_tile, tile, 4);

    return fragment_new(ir, 2, extent, plus_times(ir, lane, warp, WARP), 1, 1, &slot);
}

static void infer_operand(Infer *in, const Stmt *t, const Region *r)
{
    int64_t shape[RANK_MOST];

    if (r->buf->rank != 2 || !buffer_static_shape(r->buf, shape))
        return;
    int bits = dtype_bits(r->buf->type);
    int64_t row = shape[1] * bits / 8;
    int span = row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 0;
    const Layout *l = span ? layout_swizzle(in->ir, shape[0], shape[1], bits, span)
                           : layout_row_major(in->ir, 2, shape);
    infer_set(in, r->buf, l, t);
}

void cuda_infer(Infer *in, const Stmt *t)
{
    MmaPlan p;
    const char *why;

    if (t->u.tile.op->id != OP_gemm || in->level != INFER_STRICT)
        return;
    if (tile_plan(in->k, t)->how == HOW_WGMMA)
        wgmma_infer(in, t);
    if (tile_plan(in->k, t)->how != HOW_MMA)
        return;
    BUG(!mma_plan(in->k, t, &p, &why), "a product planned for mma.sync cannot be split");
    infer_set(in, t->u.tile.region[C].buf, accumulator_layout(in->ir, &p), t);
    infer_operand(in, t, &t->u.tile.region[A]);
    infer_operand(in, t, &t->u.tile.region[B]);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    MmaPlan p;
    bool trans_a, trans_b;
    const Expr *row0, *col0; /* of this warp's part */
    const Expr *step;        /* k of this step */
    Buffer *a, *b;           /* operand registers of one thread */
} Gemm;

static Region part(Ir *ir, Buffer *b, int n, const Expr *const *at, const int64_t *extent)
{
    Region r = {b, NEWN(ir->arena, const Expr *, n), NEWN(ir->arena, const Expr *, n)};
    for (int d = 0; d < n; d++) {
        r.at[d] = at[d];
        r.extent[d] = num(ir, extent[d]);
    }
    return r;
}

/* A rows x cols piece of an operand at (row, col) of its logical matrix, which may be stored
 * turned. */
static Region piece(Gemm *g, const Region *of, bool turned, const Expr *row, const Expr *col,
                    int64_t rows, int64_t cols)
{
    Ir *ir = g->ir;
    int lead = of->buf->rank - 2;
    const Expr *at[RANK_MOST];
    int64_t extent[RANK_MOST];

    for (int d = 0; d < lead; d++) {
        at[d] = of->at[d];
        extent[d] = 1;
    }
    at[lead] = expr_add(ir, of->at[lead], turned ? col : row);
    at[lead + 1] = expr_add(ir, of->at[lead + 1], turned ? row : col);
    extent[lead] = turned ? cols : rows;
    extent[lead + 1] = turned ? rows : cols;
    return part(ir, of->buf, of->buf->rank, at, extent);
}

static Region registers(Gemm *g, Buffer *b, int64_t from, int64_t n)
{
    const Expr *at = num(g->ir, from);
    return part(g->ir, b, 1, &at, &n);
}

static const Stmt *load_matrix(Gemm *g, const char *isa, Region to, Region from)
{
    Region *r = NEWN(g->ir->arena, Region, 2);
    r[0] = to;
    r[1] = from;
    return stmt_instr(g->ir, g->t->span, isa_find(isa), 2, r, 0, NULL, g->t->u.tile.id);
}

static const Stmt *multiply(Gemm *g, int64_t mi, int64_t ni)
{
    Ir *ir = g->ir;
    Region *r = NEWN(ir->arena, Region, 3);
    const Expr *at[2] = {expr_add(ir, g->row0, num(ir, mi * g->p.m)),
                         expr_add(ir, g->col0, num(ir, ni * g->p.n))};
    int64_t extent[2] = {g->p.m, g->p.n};

    r[0] = registers(g, g->a, 0, 8);
    r[1] = registers(g, g->b, ni * 4, 4);
    r[2] = part(ir, g->t->u.tile.region[C].buf, 2, at, extent);
    return stmt_instr(ir, g->t->span, g->p.mma, 3, r, 0, NULL, g->t->u.tile.id);
}

/* One k step of a warp: its columns of B, then strip by strip of A against them. */
static const Stmt *one_step(Gemm *g)
{
    Ir *ir = g->ir;
    const Region *r = g->t->u.tile.region;
    int64_t tiles_m = g->p.part_m / g->p.m, tiles_n = g->p.part_n / g->p.n;
    const Stmt **list = NEWN(ir->arena, const Stmt *, tiles_n + tiles_m * (1 + tiles_n));
    int n = 0;

    for (int64_t j = 0; j < tiles_n; j++) {
        const Expr *col = expr_add(ir, g->col0, num(ir, j * g->p.n));
        list[n++] = load_matrix(g, g->trans_b ? "ldmatrix.b" : "ldmatrix.b.trans",
                                registers(g, g->b, j * 4, 4),
                                piece(g, &r[B], g->trans_b, g->step, col, 16, 8));
    }
    for (int64_t i = 0; i < tiles_m; i++) {
        const Expr *row = expr_add(ir, g->row0, num(ir, i * g->p.m));
        list[n++] =
            load_matrix(g, g->trans_a ? "ldmatrix.a.trans" : "ldmatrix.a", registers(g, g->a, 0, 8),
                        piece(g, &r[A], g->trans_a, row, g->step, 16, 16));
        for (int64_t j = 0; j < tiles_n; j++)
            list[n++] = multiply(g, i, j);
    }
    return stmt_block(ir, g->t->span, n, list);
}

static Buffer *register_buffer(Gemm *g, const char *name, DType type, int64_t n)
{
    const Expr *shape = num(g->ir, n);
    Buffer *b = buffer_new(g->ir, name, type, MEM_LOCAL, 1, &shape, g->t->span);
    vec_push(g->k->arena, &g->k->buffers, b);
    return b;
}

const Stmt *cuda_lower_gemm(Kernel *k, const Stmt *t)
{
    Ir *ir = k->ir;
    Gemm g = {.k = k, .ir = ir, .t = t};
    const char *why;

    if (tile_plan(k, t)->how == HOW_WGMMA)
        return wgmma_lower(k, t);
    if (tile_plan(k, t)->how != HOW_MMA)
        return NULL;
    BUG(!mma_plan(k, t, &g.p, &why), "a product planned for mma.sync cannot be split");
    g.trans_a = tile_arg_int(t, 0, 0) != 0;
    g.trans_b = tile_arg_int(t, 1, 0) != 0;
    const Expr *warp = div_by(ir, thread_index(k), WARP);
    g.row0 = expr_mul(ir, div_by(ir, warp, g.p.warps_n), num(ir, g.p.part_m));
    g.col0 = expr_mul(ir, mod_by(ir, warp, g.p.warps_n), num(ir, g.p.part_n));
    g.a = register_buffer(&g, "a_reg", t->u.tile.region[A].buf->type, 8);
    g.b = register_buffer(&g, "b_reg", t->u.tile.region[B].buf->type, g.p.part_n / g.p.n * 4);

    Var *kk = var_new(ir, "kk", DT_I32, t->span);
    g.step = expr_mul(ir, expr_var(ir, kk), num(ir, g.p.k));
    const Stmt *loop = stmt_for(ir, t->span, LOOP_UNROLL, kk, num(ir, 0), num(ir, g.p.K / g.p.k),
                                (Hints){0}, one_step(&g));
    const Expr *clear = t->u.tile.narg > 2 ? t->u.tile.arg[2] : NULL;
    if (!clear || expr_is_zero(clear))
        return loop;
    const Expr *zero = expr_zero(ir, t->u.tile.region[C].buf->type);
    const Stmt *fill =
        stmt_tile(ir, t->span, &op_fill, 1, &t->u.tile.region[C], 1, &zero, NULL, (Hints){0});
    fill = op_fill.lower(k, fill);
    return stmt_seq(ir, stmt_if(ir, t->span, clear, fill, NULL), loop);
}
