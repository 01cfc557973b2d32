/* gemm_scaled.c -- T.gemm_blockscaled(A, B, C, SFA, SFB): C += (A * SFA) (B * SFB).
 *
 * Meaning   a row of A and a column of B have a scale for every `grain` elements along k, four of
 *           them in a word of 32 bits, the first lowest: powers of two (e8m0); of 4-bit operands
 *           with a scale for 16 elements e4m3, whose sign does not count.  The scale of element k
 *           is number s = (k_start + k) / grain of its row: byte s % 4 of word s / 4 % W, where W
 *           words of each row are there.  Products and their sum are exact, C is rounded once.
 * Where     rows    at [row, word]
 *           chunks  at word * rows + row % 32 * (rows / 32) + row / 32 of the tile, row by row
 *           lanes   in tensor memory, at column word * (rows / 32) + row / 32 of lane row % 32 of
 *                   each quarter of the lanes: row m of C uses those of its own quarter, m / 32 % 4
 * Layout    asks for none.
 * Lowering  dot products. */
#include "op/op.h"
#include "sim/sim.h"

enum { A, B, C, SA, SB };
enum { TRANS_A, TRANS_B, CLEAR, K_START, GRAIN_A, GRAIN_B, WHERE };
enum { PER_WORD = 4, LANES = 32, QUARTERS = 4 };

ScaledShape scaled_shape(const Stmt *t)
{
    const Region *r = t->u.tile.region;
    int last = r[C].buf->rank - 1;
    ScaledShape s = {.trans = {tile_arg_int(t, TRANS_A, 0) != 0, tile_arg_int(t, TRANS_B, 0) != 0},
                     .grain = {tile_arg_int(t, GRAIN_A, 0), tile_arg_int(t, GRAIN_B, 0)},
                     .where = (ScalesWhere)tile_arg_int(t, WHERE, 0),
                     .k_start = t->u.tile.arg[K_START]};

    s.rows[0] = region_extent_int(&r[C], last - 1);
    s.rows[1] = region_extent_int(&r[C], last);
    s.k = region_extent_int(&r[A], r[A].buf->rank - (s.trans[0] ? 2 : 1));
    bool narrow = dtype_bits(r[A].buf->type) == 4 && dtype_bits(r[B].buf->type) == 4;
    for (int i = 0; i < 2; i++) {
        const Region *of = &r[SA + i];
        int64_t all = region_nelem(of), lane_rows = region_extent_int(of, of->buf->rank - 2);
        s.words[i] = s.where == SCALES_LANES && lane_rows > 0 ? all / lane_rows * LANES / s.rows[i]
                                                              : all / s.rows[i];
        s.type[i] = narrow && s.grain[i] == 16 ? DT_E4M3 : DT_E8M0;
    }
    return s;
}

static void gemm_scaled_check(Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;

    for (int i = A; i <= C; i++)
        if (r[i].buf->rank < 2 || !dtype_is_float(r[i].buf->type) ||
            (i == C ? r[i].buf->type != DT_F32 : dtype_bits(r[i].buf->type) > 8)) {
            diag_error(k->diag, t->span, "a scaled GEMM takes tiles of floats of at most 8 bits "
                       "and adds to float32; '%s' is none [gemm-dtype]", r[i].buf->name);
            return;
        }
    ScaledShape s = scaled_shape(t);
    for (int i = 0; i < 2; i++) {
        const Buffer *b = r[SA + i].buf;
        if (dtype_bits(b->type) != 32 || !dtype_is_int(b->type))
            diag_error(k->diag, t->span, "'%s' must hold words of 32 bits, four scales each, not "
                       "%s [gemm-dtype]", b->name, dtype_name(b->type));
        else if (s.words[i] < 1 || s.grain[i] < 1 ||
                 (s.where != SCALES_ROWS && s.rows[i] % LANES))
            diag_error(k->diag, t->span, "'%s' does not hold a word of scales for each of %lld "
                       "rows, by 32 of them [gemm-shape]", b->name, (long long)s.rows[i]);
    }
}

static void gemm_scaled_access(const Stmt *t, AccessFn *see, void *arg)
{
    for (int i = A; i <= SB; i++)
        if (i != C)
            see(arg, &t->u.tile.region[i], ACC_READ);
    see(arg, &t->u.tile.region[C], tile_arg_int(t, CLEAR, 0) ? ACC_WRITE : ACC_READ | ACC_WRITE);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Ir *ir;
    const Stmt *t;
    ScaledShape s;
} Scaled;

static const Expr *num(const Scaled *g, int64_t v)
{
    return expr_int(g->ir, v);
}

static const Expr *element(const Scaled *g, int i, bool trans, const Expr *row, const Expr *col)
{
    const Region *r = &g->t->u.tile.region[i];
    const Expr *at[RANK_MOST];
    int n = r->buf->rank;

    for (int d = 0; d < n; d++)
        at[d] = r->at[d];
    at[n - 2] = expr_add(g->ir, at[n - 2], trans ? col : row);
    at[n - 1] = expr_add(g->ir, at[n - 1], trans ? row : col);
    return expr_load(g->ir, r->buf, at, n);
}

const Expr *scaled_number(Ir *ir, const ScaledShape *s, int which, const Expr *k)
{
    return expr_floordiv(ir, expr_add(ir, s->k_start, k), expr_int(ir, s->grain[which]));
}

const Expr *scaled_word(Ir *ir, const ScaledShape *s, int which, const Expr *number)
{
    if (s->words[which] == 1)
        return expr_int(ir, 0);
    return expr_floormod(ir, expr_floordiv(ir, number, expr_int(ir, PER_WORD)),
                         expr_int(ir, s->words[which]));
}

/* Of row `row` of operand `which`; quarter: of the row of C. */
static const Expr *word_of(const Scaled *g, int which, const Expr *row, const Expr *word,
                           const Expr *quarter)
{
    Ir *ir = g->ir;
    int64_t groups = g->s.rows[which] / LANES;
    const Region *r = &g->t->u.tile.region[SA + which];
    int64_t cols = region_extent_int(r, r->buf->rank - 1);

    if (g->s.where == SCALES_ROWS)
        return element(g, SA + which, false, row, word);
    const Expr *lane = expr_floormod(ir, row, num(g, LANES));
    const Expr *group = expr_floordiv(ir, row, num(g, LANES));
    if (g->s.where == SCALES_LANES)
        return element(g, SA + which, false,
                       expr_add(ir, expr_mul(ir, quarter, num(g, LANES)), lane),
                       expr_add(ir, expr_mul(ir, word, num(g, groups)), group));
    const Expr *at = expr_add(ir, expr_mul(ir, word, num(g, g->s.rows[which])),
                              expr_add(ir, expr_mul(ir, lane, num(g, groups)), group));
    return element(g, SA + which, false, expr_floordiv(ir, at, num(g, cols)),
                   expr_floormod(ir, at, num(g, cols)));
}

const Expr *scaled_bytes(Ir *ir, const Stmt *t, int which, const Expr *row, const Expr *k,
                         const Expr *quarter)
{
    Scaled g = {ir, t, scaled_shape(t)};
    const Expr *number = scaled_number(ir, &g.s, which, k);
    const Expr *word = word_of(&g, which, row, scaled_word(ir, &g.s, which, number), quarter);
    const Expr *shift = expr_mul(ir, expr_floormod(ir, number, num(&g, PER_WORD)), num(&g, 8));

    return expr_binary(ir, EX_SHR, expr_cast(ir, DT_U32, word), expr_cast(ir, DT_U32, shift));
}

static const Expr *scale_of(const Scaled *g, int which, const Expr *row, const Expr *k,
                            const Expr *quarter)
{
    Ir *ir = g->ir;
    uint32_t mask = g->s.type[which] == DT_E4M3 ? 127 : 255;
    const Expr *byte = expr_binary(ir, EX_BITAND, scaled_bytes(ir, g->t, which, row, k, quarter),
                                   expr_const(ir, DT_U32, mask));

    return expr_cast(ir, DT_F32, expr_bitcast(ir, g->s.type[which], 1,
                                              expr_cast(ir, DT_U8, byte)));
}

static const Stmt *loop(const Scaled *g, LoopHow how, Var *v, const Expr *n, const Stmt *body)
{
    return stmt_for(g->ir, g->t->span, how, v, num(g, 0), n, (Hints){0}, body);
}

static const Stmt *gemm_scaled_lower(Kernel *k, const Stmt *t)
{
    Scaled g = {k->ir, t, scaled_shape(t)};
    Ir *ir = k->ir;
    const Region *c = &t->u.tile.region[C];
    const Expr *extent[3] = {num(&g, g.s.rows[0]), num(&g, g.s.rows[1]), num(&g, g.s.k)};
    const Expr *at[RANK_MOST], *clear = t->u.tile.arg[CLEAR];
    int last = c->buf->rank - 1;
    Nest n;

    pair_refuse(k, t);
    nest_open(k, &n, 3, extent);
    const Expr *quarter = expr_floormod(ir, expr_floordiv(ir, n.at[0], num(&g, LANES)),
                                        num(&g, QUARTERS));
    Buffer *sum = kernel_scalar(k, "dot", DT_F32, t->span);
    const Expr *x = expr_cast(ir, DT_F32, element(&g, A, g.s.trans[0], n.at[0], n.at[2]));
    const Expr *y = expr_cast(ir, DT_F32, element(&g, B, g.s.trans[1], n.at[2], n.at[1]));
    x = expr_mul(ir, x, scale_of(&g, 0, n.at[0], n.at[2], quarter));
    y = expr_mul(ir, y, scale_of(&g, 1, n.at[1], n.at[2], quarter));
    const Stmt *step = scalar_set(k, t->span, sum, expr_add(ir, scalar_get(k, sum),
                                                            expr_mul(ir, x, y)));
    const Stmt *r = loop(&g, LOOP_SERIAL, n.var[2], extent[2], step);
    r = stmt_seq(ir, scalar_set(k, t->span, sum, expr_zero(ir, DT_F32)), r);
    const Expr *old = element(&g, C, false, n.at[0], n.at[1]);
    old = expr_if(ir, clear, expr_zero(ir, DT_F32), old);
    for (int d = 0; d < c->buf->rank; d++)
        at[d] = d < last - 1 ? c->at[d] : expr_add(ir, c->at[d], n.at[d - (last - 1)]);
    r = stmt_seq(ir, r, stmt_store(ir, t->span, c->buf, at, c->buf->rank,
                                   expr_add(ir, old, scalar_get(k, sum))));
    r = loop(&g, LOOP_PARALLEL, n.var[1], extent[1], r);
    return loop(&g, LOOP_PARALLEL, n.var[0], extent[0], r);
}

/* ---- meaning --------------------------------------------------------------------------------- */

/* Where the word lies in its region, row by row. */
static int64_t word_at(const ScaledShape *s, const SimRegion *r, int which, int64_t row,
                       int64_t word, int64_t quarter)
{
    int64_t groups = s->rows[which] / LANES, cols = r->extent[r->rank - 1];

    if (s->where == SCALES_ROWS)
        return row * cols + word;
    if (s->where == SCALES_LANES)
        return (quarter * LANES + row % LANES) * cols + word * groups + row / LANES;
    return word * s->rows[which] + row % LANES * groups + row / LANES;
}

/* Operand `which` by its scales, rows x k, as quarter q of the rows of C uses it; of A each row as
 * its own. */
static const double *with_scales(Sim *m, const Stmt *t, const ScaledShape *s, int which, int64_t q,
                                 const double *x, const int64_t *words)
{
    SimRegion r = sim_region(m, t, &t->u.tile.region[SA + which]);
    int64_t rows = s->rows[which], start = sim_int(m, s->k_start);
    bool along_k = which ? s->trans[1] : !s->trans[0];
    double *to = sim_alloc(m, (size_t)(rows * s->k) * 8);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < s->k; p++) {
            int64_t number = (start + p) / s->grain[which];
            int64_t at = word_at(s, &r, which, i, number / PER_WORD % s->words[which],
                                 which ? q : i / LANES % QUARTERS);
            to[i * s->k + p] = x[along_k ? i * s->k + p : p * rows + i] *
                               value_scale(s->type[which], (uint32_t)words[at], number);
        }
    return to;
}

/* Of a pair of blocks B has the columns of the first, then those of the second. */
static void read_columns(Sim *m, const Stmt *t, const ScaledShape *s, double *f, int64_t *v)
{
    const Region *b = &t->u.tile.region[B];
    int64_t n = region_nelem(b), each = s->rows[1] / 2;
    double *half = sim_alloc(m, (size_t)n * 8);

    for (int i = 0; i < 2; i++) {
        SimRegion r = sim_pair_region(m, t, b, i);
        sim_get_matrix(m, t, &r, half, v);
        for (int64_t j = 0; j < n; j++)
            f[s->trans[1] ? i * n + j : j / each * s->rows[1] + i * each + j % each] = half[j];
    }
}

/* The rows of one block; block < 0: there is no other. */
static void multiply(Sim *m, const Stmt *t, int block)
{
    ScaledShape s = scaled_shape(t);
    int quarters = s.where == SCALES_LANES ? QUARTERS : 1;
    const double *b[QUARTERS], *a;
    SimRegion r[5];
    double *f[5];
    int64_t *v[5];
    bool clear = sim_is_true(m, t->u.tile.arg[CLEAR]);

    for (int i = A; i <= SB; i++) {
        const Region *of = &t->u.tile.region[i];
        bool halves = i == B && block >= 0;
        size_t bytes = (size_t)region_nelem(of) * (halves ? 2 : 1) * 8;
        r[i] = block < 0 ? sim_region(m, t, of) : sim_pair_region(m, t, of, block);
        f[i] = sim_alloc(m, bytes);
        v[i] = sim_alloc(m, bytes);
        if (halves)
            read_columns(m, t, &s, f[i], v[i]);
        else if (i != C || !clear)
            sim_get_matrix(m, t, &r[i], f[i], v[i]);
    }
    a = with_scales(m, t, &s, 0, 0, f[A], v[SA]);
    for (int q = 0; q < quarters; q++)
        b[q] = with_scales(m, t, &s, 1, q, f[B], v[SB]);
    for (int64_t i = 0; i < s.rows[0]; i++)
        for (int64_t j = 0; j < s.rows[1]; j++) {
            const double *x = &a[i * s.k], *y = &b[i / LANES % quarters][j * s.k];
            double sum = 0;
            for (int64_t p = 0; p < s.k; p++)
                sum += x[p] * y[p];
            f[C][i * s.rows[1] + j] += sum;
        }
    sim_put_matrix(m, t, &r[C], f[C], NULL);
}

static void gemm_scaled_simulate(Sim *m, const Stmt *t)
{
    if (!tile_pairs(t)) {
        multiply(m, t, -1);
        return;
    }
    for (int i = 0; i < 2; i++)
        multiply(m, t, i);
}

static double gemm_scaled_flops(const Stmt *t)
{
    ScaledShape s = scaled_shape(t);
    return 2.0 * (double)s.rows[0] * (double)s.rows[1] * (double)s.k;
}

const TileOp op_gemm_scaled = {
    .name = "gemm_scaled",
    .id = OP_gemm_scaled,
    .traits = TILE_MMA | TILE_SCALED | TILE_WALKS | TILE_STAGES,
    .by_owner = 1u << C,
    .params = "A: region, B: region, C: region, SFA: region, SFB: region, transpose_A: bool, "
              "transpose_B: bool, clear_accum: bool, k_start: int, grain_A: int, grain_B: int, "
              "where: int",
    .doc = "C += (A * SFA) * (B * SFB) with scales of blocks along k, four in a word",
    .nregion = 5,
    .check = gemm_scaled_check,
    .access = gemm_scaled_access,
    .infer = infer_nothing,
    .lower = gemm_scaled_lower,
    .simulate = gemm_scaled_simulate,
    .flops = gemm_scaled_flops,
};
