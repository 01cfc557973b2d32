/* tcgen05.c -- T.gemm with accumulators in tensor memory, and copies between it and registers.
 *
 *     C (M x N)   in tensor memory: 128 rows are its 128 lanes, and a column is 32 bits of each.
 *                 Of tiles with more rows the next 128 lie in the columns after; 64 rows are the
 *                 first 16 lanes of every 32
 *     A, B        read from shared memory through descriptors, in swizzled panels; A also from
 *                 tensor memory, where two elements of 16 bits share a column
 *
 * Of two blocks that multiply together each has 128 rows of A and C and half of the columns of B.
 *
 * One thread issues the MMAs of a T.gemm; they are done before the arrival that it commits at a
 * barrier (INTRIN_ARRIVE_MMA).  A warp reaches a quarter of the lanes, by its number in the block:
 * fragments that come from tensor memory have a row a thread, and groups of four warps share the
 * columns. */
#include "target/cuda/cuda.h"
#include "ir/config.h"
#include "op/op.h"
#include "pass/plan_shared.h"

enum { A, B, C, SRC = 0, DST, LANES = 128, HALF = 64, WARP = 32, GROUP = 128, N_MOST = 256,
       COLUMNS_MOST = 64 };

/* What can be multiplied: types of A and B, of C, k of one instruction. */
static const struct {
    DType a, b, c;
    int k;
} types[] = {
    {DT_F16, DT_F16, DT_F32, 16},   {DT_BF16, DT_BF16, DT_F32, 16}, {DT_TF32, DT_TF32, DT_F32, 8},
    {DT_E4M3, DT_E4M3, DT_F32, 32}, {DT_E4M3, DT_E5M2, DT_F32, 32}, {DT_E5M2, DT_E4M3, DT_F32, 32},
    {DT_E5M2, DT_E5M2, DT_F32, 32}, {DT_I8, DT_I8, DT_I32, 32},     {DT_U8, DT_U8, DT_I32, 32},
    {DT_I8, DT_U8, DT_I32, 32},     {DT_U8, DT_I8, DT_I32, 32},
    {DT_E2M1B, DT_E4M3, DT_F32, 32}, {DT_E4M3, DT_E2M1B, DT_F32, 32},
    {DT_E2M1B, DT_E5M2, DT_F32, 32}, {DT_E5M2, DT_E2M1B, DT_F32, 32},
    {DT_E2M1B, DT_E2M1B, DT_F32, 32}, {DT_F16, DT_F16, DT_F16, 16}, {DT_E4M3, DT_E4M3, DT_F16, 32},
    {DT_E4M3, DT_E5M2, DT_F16, 32}, {DT_E5M2, DT_E4M3, DT_F16, 32}, {DT_E5M2, DT_E5M2, DT_F16, 32},
};

/* Of operands with scales: bits of the narrower, k of one instruction, scales in it, elements that
 * each is for at least. */
static const struct {
    int bits, k, per, grain;
} scaled_types[] = {{8, 32, 1, 32}, {4, 64, 2, 32}, {4, 64, 4, 16}};

typedef struct {
    int64_t M, N, K;
    int m, n, k; /* of the instruction */
    int per;     /* scales in k of it; 0: it has none */
    int halves;  /* blocks that have a part of the columns of B each: 1, 2 */
    bool trans_a, trans_b;
    ScaledShape scaled;
} TensorPlan;

static const Expr *num(Ir *ir, int64_t v)
{
    return expr_int(ir, v);
}

static int step_of(DType a, DType b, DType c)
{
    for (int i = 0; i < COUNT(types); i++)
        if (types[i].a == a && types[i].b == b && types[i].c == c)
            return types[i].k;
    return 0;
}

/* The widest instruction that divides the tile.  B of bytes stored with n along rows goes by 16. */
static int widest(int64_t N, int m, DType c, bool bytes_kn)
{
    int step = m == HALF && c != DT_I32 && !bytes_kn ? 8 : 16;

    for (int64_t n = MIN(N, N_MOST) / step * step; n >= step; n -= step)
        if (N % n == 0 && (c != DT_I32 || n <= 32 || n % 32 == 0))
            return (int)n;
    return 0;
}

/* Rows from the first lane on. */
static bool rows_fit(Kernel *k, const Region *r)
{
    int64_t rows = matrix_extent(r, 1), all = 0, panel = LANES;
    Modular at = modular_of(body_facts(k), r->at[r->buf->rank - 2]);

    expr_is_int(r->buf->shape[r->buf->rank - 2], &all);
    if (all == HALF)
        return rows == HALF && expr_is_zero(r->at[r->buf->rank - 2]);
    return all % panel == 0 && rows % panel == 0 && at.coef % panel == 0 && at.base % panel == 0;
}

static bool tensor_operand(Kernel *k, const Region *r, const TensorPlan *p, const char **why)
{
    *why = "A in tensor memory must be 16-bit elements, two of them in a column";
    if (r->buf->scope == MEM_TMEM && tensor_in_column(k, r->buf) != 2)
        return false;
    *why = "A in tensor memory must be 16-bit elements, 128 rows of them, or 64 and no more";
    return dtype_bits(r->buf->type) == 16 && !p->trans_a && rows_fit(k, r) &&
           (p->m == LANES || p->M == HALF);
}

static bool scaled_step(const Stmt *t, TensorPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    int wide = MAX(dtype_bits(r[A].buf->type), dtype_bits(r[B].buf->type));
    const ScaledShape *s = &p->scaled;

    p->scaled = scaled_shape(t);
    *why = "scales are for 32 elements, or 16 of 4 bits, or multiples of 32";
    for (int i = 0; i < COUNT(scaled_types) && !p->k; i++)
        if (scaled_types[i].bits == wide && scaled_types[i].grain == MIN(s->grain[0], 32)) {
            p->k = scaled_types[i].k;
            p->per = scaled_types[i].per;
        }
    for (int i = 0; i < 2; i++) {
        bool exact = p->per > 1 ? s->grain[i] == p->k / p->per : s->grain[i] % 32 == 0;
        if (!p->k || !exact || s->where != SCALES_LANES)
            return false;
    }
    *why = "4-bit operands are multiplied by 4-bit operands, with k along rows";
    return dtype_bits(r[A].buf->type) == dtype_bits(r[B].buf->type) &&
           (wide == 8 || (!p->trans_a && p->trans_b));
}

/* Shapes and types alone. */
static bool tensor_shape(Kernel *k, const Stmt *t, TensorPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    DType c = r[C].buf->type;

    *p = (TensorPlan){.trans_a = tile_arg_int(t, 0, 0) != 0,
                      .trans_b = tile_arg_int(t, 1, 0) != 0, .halves = tile_pairs(t) ? 2 : 1};
    *why = "tensor memory needs sm_100a";
    if (!isa_fits(isa_find("tcgen05.mma"), k->machine))
        return false;
    if (tile_does(t, TILE_SCALED) && !scaled_step(t, p, why))
        return false;
    if (!p->per)
        p->k = gemm_cuts(k, t) ? step_of(DT_TF32, DT_TF32, c)
                               : step_of(r[A].buf->type, r[B].buf->type, c);
    *why = "4-bit operands in bytes have k along rows";
    if ((p->trans_a && r[A].buf->type == DT_E2M1B) || (!p->trans_b && r[B].buf->type == DT_E2M1B))
        return false;
    *why = "tcgen05.mma does not multiply these types";
    if (!p->k || (c == DT_I32 && k->machine->level != 100)) /* integers are of sm_100a alone */
        return false;
    p->M = matrix_extent(&r[C], 1);
    p->N = matrix_extent(&r[C], 0);
    p->K = matrix_extent(&r[A], p->trans_a ? 1 : 0);
    p->m = p->M % LANES == 0 ? LANES : HALF;
    p->n = widest(p->N, p->m, c, dtype_bits(r[B].buf->type) == 8 && !p->trans_b);
    *why = "two blocks multiply 128 rows each, and at most 256 columns by 32";
    if (p->halves > 1 && (p->m != LANES || p->n != p->N || p->n % WARP))
        return false;
    *why = "a product with scales has rows by 128 and columns by 32";
    if (p->per && (p->m != LANES || p->N % WARP || p->n % WARP))
        return false;
    *why = "the tile is not 64 or 128 rows, columns by 16, and whole steps of k";
    return p->M > 0 && (p->M == HALF || p->M % LANES == 0) && p->n && p->K > 0 &&
           p->K % p->k == 0;
}

static bool tensor_plan(Kernel *k, const Stmt *t, TensorPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;

    if (!tensor_shape(k, t, p, why))
        return false;
    const int mn_bits = 16 | 8;
    *why = "the result is not in tensor memory, or not from its first row on";
    if (r[C].buf->scope != MEM_TMEM || !rows_fit(k, &r[C]))
        return false;
    *why = "a result of 16 bits has a column of 32 for each element, which no view of others has";
    if (dtype_bits(r[C].buf->type) == 16 && r[C].buf->view_of)
        return false;
    bool fits = r[A].buf->scope == MEM_TMEM
                    ? tensor_operand(k, &r[A], p, why)
                    : panel_operand(k, &r[A], p->trans_a, mn_bits, p->M, p->m, why);
    if (!fits)
        return false;
    if (!panel_operand(k, &r[B], !p->trans_b, mn_bits, p->N / p->halves, p->n / p->halves, why))
        return false;
    *why = arena_printf(k->arena, "m%dn%dk%d %s, %lld instructions", p->m * p->halves, p->n, p->k,
                        r[A].buf->scope == MEM_TMEM ? "ts" : "ss",
                        (long long)(p->M / p->m * (p->N / p->n) * (p->K / p->k)));
    return true;
}

/* Threads do not leave the gaps between 4-bit elements that MMAs step over. */
static bool operands_come(Kernel *k, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;

    *why = "4-bit operands in bytes come by bulk copies, in whole rows of 128 elements at "
           "multiples of 32 bytes";
    for (int i = A; i <= B; i++)
        if (r[i].buf->type == DT_E2M1B && !tma_may_spread(k, r[i].buf))
            return false;
    return true;
}

bool tensor_suits(Kernel *k, const Stmt *t)
{
    TensorPlan p;
    const char *why;
    const Region *r = t->u.tile.region;

    if (!operands_come(k, t, &why) || !tensor_shape(k, t, &p, &why) ||
        dtype_bits(r[C].buf->type) < 32 ||
        !panel_operand(k, &r[B], !p.trans_b, 16 | 8, p.N / p.halves, p.n / p.halves, &why))
        return false;
    if (r[A].buf->scope == MEM_FRAGMENT) /* it goes through tensor memory */
        return r[A].buf->rank == 2 && region_is_whole(&r[A]) && p.m == LANES &&
               tensor_operand(k, &r[A], &p, &why);
    return panel_operand(k, &r[A], p.trans_a, 16 | 8, p.M, p.m, &why);
}

bool tensor_multiplies(Kernel *k, const Stmt *t)
{
    TensorPlan p;
    const char *why;

    return operands_come(k, t, &why) && tensor_plan(k, t, &p, &why);
}

bool tensor_can(Kernel *k, const Stmt *t, const char **why)
{
    TensorPlan p;

    if (operands_come(k, t, why) && tensor_plan(k, t, &p, why))
        return true;
    if (t->u.tile.region[C].buf->scope == MEM_TMEM || t->u.tile.region[A].buf->scope == MEM_TMEM)
        diag_fail(k->diag, t->span, "no instruction multiplies into tensor memory so: %s "
                  "[unsupported-here]", *why);
    return false;
}

void tensor_infer(Infer *in, const Stmt *t)
{
    const Region *r = t->u.tile.region;

    for (int i = A; i <= B; i++)
        if (r[i].buf->scope == MEM_SHARED)
            panel_infer(in, t, &r[i]);
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

/* The row of an instruction, or that by which two blocks do it. */
static const Isa *row_of(const Stmt *t, const char *one, const char *pair)
{
    return isa_find(tile_pairs(t) ? pair : one);
}

/* The words of scales for the rows of an instruction; *byte: of them that this step begins with. */
static Region scale_words(Ir *ir, const Stmt *t, const TensorPlan *p, int which,
                          const int64_t at[3], const Expr **byte)
{
    const ScaledShape *s = &p->scaled;
    const Expr *number = scaled_number(ir, s, which, num(ir, at[2] * p->k));
    const Expr *word = scaled_word(ir, s, which, number);
    int64_t rows = which ? p->n : p->m;
    const Expr *first = expr_add(ir, expr_mul(ir, word, num(ir, s->rows[which] / WARP)),
                                 num(ir, at[which] * rows / WARP));

    *byte = expr_floormod(ir, number, num(ir, 4));
    return matrix_piece(ir, &t->u.tile.region[C + 1 + which], false, num(ir, 0), first, LANES,
                        rows / WARP);
}

static const Stmt *one_mma(Ir *ir, const Stmt *t, const TensorPlan *p, const int64_t at[3])
{
    const Region *of = t->u.tile.region;
    Region *r = NEWN(ir->arena, Region, 5);
    const Expr *row = num(ir, at[0] * p->m), *col = num(ir, at[1] * p->n);
    const Expr *k0 = num(ir, at[2] * p->k), **arg = NEWN(ir->arena, const Expr *, 6);

    r[A] = matrix_piece(ir, &of[A], p->trans_a, row, k0, p->m, p->k);
    r[B] = matrix_piece(ir, &of[B], p->trans_b, k0, col, p->k, p->n / p->halves);
    r[C] = matrix_piece(ir, &of[C], false, row, col, p->m, p->n);
    arg[0] = expr_bool(ir, p->trans_a);
    arg[1] = expr_bool(ir, p->trans_b);
    arg[2] = gemm_clears(ir, t, at[2]);
    if (!p->per)
        return stmt_instr(ir, t->span, row_of(t, "tcgen05.mma", "tcgen05.mma.pair"), 3, r, 3, arg,
                          t->u.tile.id);
    for (int i = 0; i < 2; i++)
        r[C + 1 + i] = scale_words(ir, t, p, i, at, &arg[3 + i]);
    arg[5] = num(ir, p->per);
    return stmt_instr(ir, t->span, row_of(t, "tcgen05.mma.scaled", "tcgen05.mma.scaled.pair"), 5,
                      r, 6, arg, t->u.tile.id);
}

const Stmt *tensor_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    TensorPlan p;
    const char *why;
    int n = 0;

    BUG(!tensor_shape(k, t, &p, &why), "a GEMM planned for tcgen05 cannot be done so: %s", why);
    int64_t count[3] = {p.M / p.m, p.N / p.n, p.K / p.k}, at[3];
    const Stmt **list = NEWN(ir->arena, const Stmt *, count[0] * count[1] * count[2]);
    for (at[2] = 0; at[2] < count[2]; at[2]++)
        for (at[0] = 0; at[0] < count[0]; at[0]++)
            for (at[1] = 0; at[1] < count[1]; at[1]++)
                list[n++] = one_mma(ir, t, &p, at);
    const Expr *first = expr_binary(ir, EX_EQ, thread_index(k, who), num(ir, 0));
    return stmt_if(ir, t->span, first, stmt_block(ir, t->span, n, list), NULL);
}

/* ---- scales ---------------------------------------------------------------------------------- */

bool tensor_spread_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;
    int64_t all = 0, row = r[SRC].buf->rank - 1;

    (void)k;
    (void)who;
    expr_is_int(r[SRC].buf->shape[row], &all);
    *why = "each 128 words follow one another in shared memory";
    return r[SRC].buf->scope == MEM_SHARED && r[DST].buf->scope == MEM_TMEM &&
           all % LANES == 0 && region_extent_int(&r[SRC], (int)row) == region_nelem(&r[SRC]);
}

const Stmt *tensor_spread_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    enum { COLUMNS = 4 };
    Ir *ir = k->ir;
    const Region *of = t->u.tile.region;
    int n = (int)(region_nelem(&of[SRC]) / LANES), last = of[SRC].buf->rank - 1;
    const Stmt **list = NEWN(ir->arena, const Stmt *, n);

    for (int i = 0; i < n; i++) {
        Region *r = NEWN(ir->arena, Region, 2);
        r[SRC] = (Region){of[SRC].buf, NEWN(ir->arena, const Expr *, last + 1),
                          NEWN(ir->arena, const Expr *, last + 1)};
        for (int d = 0; d < last; d++) {
            r[SRC].at[d] = of[SRC].at[d];
            r[SRC].extent[d] = num(ir, 1);
        }
        r[SRC].at[last] = expr_add(ir, of[SRC].at[last], num(ir, (int64_t)i * LANES));
        r[SRC].extent[last] = num(ir, LANES);
        r[DST] = matrix_piece(ir, &of[DST], false, num(ir, 0), num(ir, (int64_t)i * COLUMNS), LANES,
                              COLUMNS);
        list[i] = stmt_instr(ir, t->span, row_of(t, "tcgen05.cp", "tcgen05.cp.pair"), 2, r, 0, NULL,
                             t->u.tile.id);
    }
    const Expr *first = expr_binary(ir, EX_EQ, thread_index(k, who), num(ir, 0));
    return stmt_if(ir, t->span, first, stmt_block(ir, t->span, n, list), NULL);
}

/* ---- copies ---------------------------------------------------------------------------------- */

typedef struct {
    const Region *tensor, *regs;
    bool loads;
    int64_t n;     /* matrices, of all dimensions but the last two */
    int64_t rows, cols;
    int64_t lanes; /* rows of a warp: 32, or 16 of 64 rows */
    int64_t part;  /* columns of a group of four warps */
} TensorCopy;

static int64_t matrices(const Region *r)
{
    int64_t n = 1;

    for (int d = 0; d < r->buf->rank - 2; d++)
        n *= region_extent_int(r, d);
    return n;
}

/* The i-th of them. */
static Region matrix_of(Ir *ir, const Region *r, int64_t i)
{
    Region m = *r;
    const Expr **at = NEWN(ir->arena, const Expr *, r->buf->rank);

    memcpy(at, r->at, sizeof *at * (size_t)r->buf->rank);
    for (int d = r->buf->rank - 3; d >= 0; d--) {
        int64_t n = region_extent_int(r, d);
        at[d] = expr_add(ir, r->at[d], num(ir, i % n));
        i /= n;
    }
    m.at = at;
    return m;
}

static bool copy_plan(Kernel *k, ThreadGroup who, const Stmt *t, TensorCopy *c, const char **why)
{
    const Region *r = t->u.tile.region;
    int nthread = group_threads(k, who);

    c->loads = r[SRC].buf->scope == MEM_TMEM;
    c->tensor = &r[c->loads ? SRC : DST];
    c->regs = &r[c->loads ? DST : SRC];
    *why = "not between tensor memory and a fragment";
    if (c->tensor->buf->scope != MEM_TMEM || c->regs->buf->scope != MEM_FRAGMENT)
        return false;
    *why = "the fragment is not a whole one of rows and columns and of the same type";
    if (c->regs->buf->rank < 2 || !region_is_whole(c->regs) ||
        c->regs->buf->type != c->tensor->buf->type)
        return false;
    c->n = matrices(c->regs);
    c->rows = matrix_extent(c->regs, 1);
    c->cols = matrix_extent(c->regs, 0);
    *why = "the rows are not those of tensor memory";
    if (c->n != matrices(c->tensor) || c->rows != matrix_extent(c->tensor, 1) ||
        c->cols != matrix_extent(c->tensor, 0) || !rows_fit(k, c->tensor))
        return false;
    *why = "whole groups of four warps each need whole columns of 32 bits";
    int bits = dtype_bits(c->regs->buf->type);
    if (nthread % GROUP || who.first % WARP || bits > 32 || bits < 16 ||
        c->cols % (nthread / GROUP * (32 / bits)))
        return false;
    c->lanes = c->rows == HALF ? HALF / 4 : WARP;
    c->part = c->cols / (nthread / GROUP);
    *why = arena_printf(k->arena, "%lld columns a thread", (long long)c->part);
    return true;
}

bool tensor_copy_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *r = t->u.tile.region;
    TensorCopy c;

    if (r[SRC].buf->scope != MEM_TMEM && r[DST].buf->scope != MEM_TMEM)
        return false;
    if (!copy_plan(k, who, t, &c, why))
        diag_fail(k->diag, t->span, "no instruction copies '%s' to '%s': %s [unsupported-here]",
                  r[SRC].buf->name, r[DST].buf->name, *why);
    return true;
}

/* The quarter of the lanes that a warp of the group reaches, from the number of the quarter of its
 * first warp on. */
static const Expr *rotated(Ir *ir, const Expr *quarter, int64_t by)
{
    by = (by % 4 + 4) % 4;
    return by ? expr_floormod(ir, expr_add(ir, quarter, num(ir, by)), num(ir, 4)) : quarter;
}

void tensor_copy_infer(Infer *in, const Stmt *t)
{
    Ir *ir = in->ir;
    TensorCopy c;
    const char *why;
    int64_t extent[RANK_MOST];

    BUG(!copy_plan(in->k, in->group, t, &c, &why), "a copy of tensor memory: %s", why);
    int lead = c.regs->buf->rank - 2;
    const Expr *i = expr_var(ir, layout_axis(ir, lead)), *matrix = num(ir, 0);
    const Expr *j = expr_var(ir, layout_axis(ir, lead + 1));
    buffer_static_shape(c.regs->buf, extent);
    for (int d = 0; d < lead; d++)
        matrix = expr_add(ir, expr_mul(ir, matrix, num(ir, extent[d])),
                          expr_var(ir, layout_axis(ir, d)));
    const Expr *row = c.rows > LANES ? expr_floormod(ir, i, num(ir, LANES)) : i;
    const Expr *quarter = rotated(ir, expr_floordiv(ir, row, num(ir, c.lanes)),
                                 -(in->group.first / WARP));
    const Expr *thread = expr_add(ir, expr_mul(ir, quarter, num(ir, WARP)),
                                  expr_floormod(ir, row, num(ir, c.lanes)));
    const Expr *slot = j;
    if (c.part < c.cols) {
        thread = expr_add(ir, thread, expr_mul(ir, expr_floordiv(ir, j, num(ir, c.part)),
                                               num(ir, GROUP)));
        slot = expr_floormod(ir, j, num(ir, c.part));
    }
    if (c.rows > LANES)
        slot = expr_add(ir, expr_mul(ir, expr_floordiv(ir, i, num(ir, LANES)), num(ir, c.part)),
                        slot);
    slot = expr_add(ir, expr_mul(ir, matrix, num(ir, MAX(c.rows / LANES, 1) * c.part)), slot);
    infer_set(in, c.regs->buf, fragment_new(ir, lead + 2, extent, thread, 1, 1, &slot), t);
}

/* As many columns at a time as divide the part, a power of two. */
static int64_t chunk_of(const TensorCopy *c)
{
    int64_t each = 32 / dtype_bits(c->regs->buf->type), n = 1;

    while (2 * n <= COLUMNS_MOST && c->part / each % (2 * n) == 0)
        n *= 2;
    return n * each;
}

const Stmt *tensor_copy_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    TensorCopy c;
    const char *why;
    int n = 0;

    BUG(!copy_plan(k, who, t, &c, &why), "a copy of tensor memory: %s", why);
    const Expr *thread = thread_index(k, who), *warp = expr_floordiv(ir, thread, num(ir, WARP));
    const Expr *quarter =
        rotated(ir, expr_floormod(ir, warp, num(ir, 4)), who.n ? who.first / WARP : 0);
    const Expr *row0 = expr_mul(ir, quarter, num(ir, c.lanes));
    const Expr *col0 = c.part < c.cols ? expr_mul(ir, expr_floordiv(ir, thread, num(ir, GROUP)),
                                                  num(ir, c.part)) : num(ir, 0);
    int64_t chunk = chunk_of(&c), blocks = MAX(c.rows / LANES, 1);
    const Stmt **list = NEWN(ir->arena, const Stmt *, c.n * blocks * (c.part / chunk));
    const Isa *isa = isa_find(c.loads ? "tcgen05.ld" : "tcgen05.st");
    for (int64_t b = 0; b < c.n * blocks; b++) {
        Region regs = matrix_of(ir, c.regs, b / blocks);
        Region tensor = matrix_of(ir, c.tensor, b / blocks);
        for (int64_t j = 0; j < c.part; j += chunk) {
            const Expr *row = expr_add(ir, row0, num(ir, b % blocks * LANES));
            const Expr *col = expr_add(ir, col0, num(ir, j));
            Region *r = NEWN(ir->arena, Region, 2);
            r[c.loads ? 0 : 1] = matrix_piece(ir, &regs, false, row, col, c.lanes, chunk);
            r[c.loads ? 1 : 0] = matrix_piece(ir, &tensor, false, row, col, c.lanes, chunk);
            list[n++] = stmt_instr(ir, t->span, isa, 2, r, 0, NULL, t->u.tile.id);
        }
    }
    return stmt_block(ir, t->span, n, list);
}
