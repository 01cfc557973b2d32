/* gemm_sp.c -- T.gemm_sp(A, E, B, C): C += A * B with A sparse and its metadata in E.
 *
 * Meaning   A holds two of every four elements of a row (one of two when they are 32 bits wide).
 *           E has four bits for each such group, the first group lowest: two bits for each kept
 *           element say where it stood; of a 32-bit element they count in 16-bit halves.  Of two
 *           that say the same place the first counts; instructions of a machine may want them to
 *           ascend, which the simulator checks.  The sum is exact and C is rounded once, as in
 *           T.gemm.
 * Layout    asks for none.
 * Lowering  dot products along the kept elements, with the row of B looked up; on GPUs without
 *           an instruction for it a GEMM of A spread out in shared memory, which others take. */
#include "op/op.h"
#include "sim/sim.h"

enum { A, B, C, E };
enum { TRANS_A, TRANS_B, CLEAR, K_PACK, TRANS_E };
enum { GROUP_BITS = 4, INDEX_BITS = 2 };

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    bool trans[4];
    int64_t m, n, kept;  /* kept: elements of a row of A */
    int keeps, group;    /* of each group of elements, so many are kept */
    int per;             /* groups that one element of E describes */
} Sparse;

static int64_t extent_of(const Sparse *s, int i, int dim)
{
    const Region *r = &s->t->u.tile.region[i];
    return region_extent_int(r, r->buf->rank - 2 + (s->trans[i] ? 1 - dim : dim));
}

static Sparse sparse_of(Kernel *k, const Stmt *t)
{
    Sparse s = {.k = k, .ir = k->ir, .t = t};
    bool wide = dtype_bits(t->u.tile.region[A].buf->type) == 32;

    s.trans[A] = tile_arg_int(t, TRANS_A, 0) != 0;
    s.trans[E] = tile_arg_int(t, TRANS_E, 0) != 0;
    s.trans[B] = tile_arg_int(t, TRANS_B, 0) != 0;
    s.m = extent_of(&s, C, 0);
    s.n = extent_of(&s, C, 1);
    s.kept = extent_of(&s, A, 1);
    s.keeps = wide ? 1 : 2;
    s.group = wide ? 2 : 4;
    s.per = dtype_bits(t->u.tile.region[E].buf->type) / GROUP_BITS;
    return s;
}

static void gemm_sp_check(Kernel *k, const Stmt *t)
{
    for (int i = A; i <= E; i++)
        if (t->u.tile.region[i].buf->rank < 2) {
            diag_error(k->diag, t->span, "gemm_sp: '%s' must have two dimensions [gemm-shape]",
                       t->u.tile.region[i].buf->name);
            return;
        }
    Sparse s = sparse_of(k, t);
    int64_t groups = s.kept / s.keeps;
    if (s.kept % s.keeps || extent_of(&s, B, 0) != groups * s.group || extent_of(&s, E, 0) != s.m ||
        extent_of(&s, E, 1) * s.per != groups)
        diag_error(k->diag, t->span,
                   "gemm_sp: A keeps %lld elements a row, so B needs %lld rows and E %lld x %lld "
                   "elements; they have %lld and %lld x %lld [gemm-shape]", (long long)s.kept,
                   (long long)groups * s.group, (long long)s.m, (long long)(groups / MAX(s.per, 1)),
                   (long long)extent_of(&s, B, 0), (long long)extent_of(&s, E, 0),
                   (long long)extent_of(&s, E, 1));
}

static void gemm_sp_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[A], ACC_READ);
    see(arg, &t->u.tile.region[B], ACC_READ);
    see(arg, &t->u.tile.region[E], ACC_READ);
    see(arg, &t->u.tile.region[C], tile_arg_int(t, CLEAR, 0) ? ACC_WRITE : ACC_READ | ACC_WRITE);
}

/* ---- lowering -------------------------------------------------------------------------------- */

static void place(const Sparse *s, int i, const Expr *row, const Expr *col, const Expr **at)
{
    const Region *r = &s->t->u.tile.region[i];
    int n = r->buf->rank;

    for (int d = 0; d < n; d++)
        at[d] = r->at[d];
    at[n - 2] = expr_add(s->ir, at[n - 2], s->trans[i] ? col : row);
    at[n - 1] = expr_add(s->ir, at[n - 1], s->trans[i] ? row : col);
}

static const Expr *element(const Sparse *s, int i, DType as, const Expr *row, const Expr *col)
{
    const Expr *at[RANK_MOST];
    Buffer *b = s->t->u.tile.region[i].buf;

    place(s, i, row, col, at);
    return expr_cast(s->ir, as, expr_load(s->ir, b, at, b->rank));
}

/* Row of B that kept element p of row i is multiplied by. */
static const Expr *dense_row(const Sparse *s, const Expr *i, const Expr *p)
{
    Ir *ir = s->ir;
    const Expr *group = expr_floordiv(ir, p, expr_int(ir, s->keeps));
    const Expr *word = element(s, E, DT_I64, i, expr_floordiv(ir, group, expr_int(ir, s->per)));
    const Expr *shift = expr_mul(ir, expr_floormod(ir, group, expr_int(ir, s->per)),
                                 expr_int(ir, GROUP_BITS));

    shift = expr_add(ir, shift, expr_mul(ir, expr_floormod(ir, p, expr_int(ir, s->keeps)),
                                         expr_int(ir, INDEX_BITS)));
    const Expr *index = expr_binary(ir, EX_SHR, word, expr_cast(ir, DT_I64, shift));
    index = expr_binary(ir, EX_BITAND, index, expr_const(ir, DT_I64, 3));
    if (s->keeps == 1)
        index = expr_binary(ir, EX_SHR, index, expr_const(ir, DT_I64, 1));
    return expr_add(ir, expr_mul(ir, group, expr_int(ir, s->group)), expr_cast(ir, DT_I32, index));
}

static const Stmt *loop(const Sparse *s, LoopHow how, Var *v, const Expr *n, const Stmt *body)
{
    return stmt_for(s->ir, s->t->span, how, v, expr_int(s->ir, 0), n, (Hints){0}, body);
}

static const Stmt *gemm_sp_lower(Kernel *k, const Stmt *t)
{
    Sparse s = sparse_of(k, t);
    Ir *ir = k->ir;
    Buffer *c = t->u.tile.region[C].buf;
    DType acc = accumulate_type(c->type);
    const Expr *extent[3] = {expr_int(ir, s.m), expr_int(ir, s.n), expr_int(ir, s.kept)};
    const Expr *at[RANK_MOST], *clear = t->u.tile.narg > CLEAR ? t->u.tile.arg[CLEAR] : NULL;
    Nest n;

    nest_open(k, &n, 3, extent);
    Buffer *sum = kernel_scalar(k, "dot", acc, t->span);
    const Expr *x = expr_mul(ir, element(&s, A, acc, n.at[0], n.at[2]),
                             element(&s, B, acc, dense_row(&s, n.at[0], n.at[2]), n.at[1]));
    if (s.keeps > 1) { /* the place is taken */
        const Expr *second = expr_floormod(ir, n.at[2], expr_int(ir, s.keeps));
        const Expr *before = expr_max(ir, expr_sub(ir, n.at[2], expr_int(ir, 1)), expr_int(ir, 0));
        const Expr *again = expr_and(
            ir, expr_binary(ir, EX_NE, second, expr_int(ir, 0)),
            expr_binary(ir, EX_EQ, dense_row(&s, n.at[0], n.at[2]),
                        dense_row(&s, n.at[0], before)));
        x = expr_select(ir, again, expr_zero(ir, acc), x);
    }
    const Stmt *step = scalar_set(k, t->span, sum, expr_add(ir, scalar_get(k, sum), x));
    const Stmt *r = loop(&s, LOOP_SERIAL, n.var[2], extent[2], step);
    r = stmt_seq(ir, scalar_set(k, t->span, sum, expr_zero(ir, acc)), r);
    const Expr *old = element(&s, C, acc, n.at[0], n.at[1]);
    if (clear)
        old = expr_if(ir, clear, expr_zero(ir, acc), old);
    place(&s, C, n.at[0], n.at[1], at);
    r = stmt_seq(ir, r, stmt_store(ir, t->span, c, at, c->rank,
                                   expr_cast(ir, c->type, expr_add(ir, old, scalar_get(k, sum)))));
    r = loop(&s, LOOP_PARALLEL, n.var[1], extent[1], r);
    return loop(&s, LOOP_PARALLEL, n.var[0], extent[0], r);
}

/* Element (i, at) of A with its zeros: one of those that its group keeps, or none. */
static const Expr *spread_out(const Sparse *s, const Expr *i, const Expr *at)
{
    Ir *ir = s->ir;
    DType type = s->t->u.tile.region[A].buf->type;
    const Expr *group = expr_floordiv(ir, at, expr_int(ir, s->group)), *v = expr_zero(ir, type);

    for (int j = s->keeps - 1; j >= 0; j--) {
        const Expr *p = expr_add(ir, expr_mul(ir, group, expr_int(ir, s->keeps)), expr_int(ir, j));
        const Expr *here = expr_binary(ir, EX_EQ, dense_row(s, i, p), at);
        v = expr_select(ir, here, element(s, A, type, i, p), v);
    }
    return v;
}

static const Stmt *gemm_sp_dense(Kernel *k, const Stmt *t)
{
    Sparse s = sparse_of(k, t);
    Ir *ir = k->ir;
    const Region *of = t->u.tile.region;
    const Expr *extent[2] = {expr_int(ir, s.m), expr_int(ir, s.kept / s.keeps * s.group)};
    Region *r = NEWN(ir->arena, Region, 3);
    const Expr **arg = NEWN(ir->arena, const Expr *, 4);
    Nest n;

    Buffer *tile = kernel_buffer(k, arena_printf(ir->arena, "%s_dense", of[A].buf->name),
                                 of[A].buf->type, MEM_SHARED, 2, extent, t->span);
    nest_open(k, &n, 2, extent);
    const Stmt *fill = stmt_store(ir, t->span, tile, n.at, 2, spread_out(&s, n.at[0], n.at[1]));
    r[0] = region_whole(ir, tile);
    r[1] = of[B];
    r[2] = of[C];
    arg[0] = expr_bool(ir, false);
    arg[1] = expr_bool(ir, s.trans[B]);
    arg[2] = t->u.tile.narg > CLEAR ? t->u.tile.arg[CLEAR] : expr_bool(ir, false);
    arg[3] = expr_int(ir, 1);
    return stmt_seq(ir, nest_close(k, t->span, &n, LOOP_PARALLEL, fill),
                    stmt_tile(ir, t->span, &op_gemm, 3, r, 4, arg, NULL, t->u.tile.hints));
}

/* ---- meaning --------------------------------------------------------------------------------- */

static int64_t dense_at(const Sparse *s, const int64_t *e, int64_t i, int64_t p)
{
    int64_t group = p / s->keeps, words = s->kept / s->keeps / s->per, w = group / s->per;
    int64_t word = e[s->trans[E] ? w * s->m + i : i * words + w];
    int64_t index = word >> (group % s->per * GROUP_BITS + p % s->keeps * INDEX_BITS) & 3;
    return group * s->group + (s->keeps == 1 ? index >> 1 : index);
}

static void gemm_sp_simulate(Sim *m, const Stmt *t)
{
    Sparse s = sparse_of(sim_kernel(m), t);
    const Expr *clear = t->u.tile.narg > CLEAR ? t->u.tile.arg[CLEAR] : NULL;
    int64_t rows = s.kept / s.keeps * s.group;
    int64_t size[4] = {s.m * s.kept, rows * s.n, s.m * s.n, s.m * s.kept};
    SimRegion r[4];
    double *f[4];
    int64_t *v[4];
    bool floats = dtype_is_float(t->u.tile.region[C].buf->type);
    bool cuts = gemm_cuts(sim_kernel(m), t);

    for (int i = A; i <= E; i++) {
        r[i] = sim_region(m, t, &t->u.tile.region[i]);
        f[i] = sim_alloc(m, (size_t)size[i] * 8);
        v[i] = sim_alloc(m, (size_t)size[i] * 8);
        if (i != C || !clear || !sim_is_true(m, clear))
            sim_get_matrix(m, t, &r[i], f[i], v[i]);
        for (int64_t j = 0; cuts && i != C && j < size[i]; j++)
            f[i][j] = num_cut(f[i][j]);
    }
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t p = 0; p < s.kept; p++) {
            int64_t a = s.trans[A] ? p * s.m + i : i * s.kept + p, k = dense_at(&s, v[E], i, p);
            if (p % s.keeps && k == dense_at(&s, v[E], i, p - 1))
                continue;
            for (int64_t j = 0; j < s.n; j++) {
                int64_t b = s.trans[B] ? j * rows + k : k * s.n + j, c = i * s.n + j;
                uint64_t x = (uint64_t)v[A][a] * (uint64_t)v[B][b];
                f[C][c] += f[A][a] * f[B][b];
                v[C][c] = (int64_t)((uint64_t)v[C][c] + x);
            }
        }
    sim_put_matrix(m, t, &r[C], floats ? f[C] : NULL, floats ? NULL : v[C]);
}

const TileOp op_gemm_sp = {
    .name = "gemm_sp",
    .id = OP_gemm_sp,
    .traits = TILE_MMA | TILE_SPARSE | TILE_WALKS | TILE_STAGES,
    .by_owner = 1u << C,
    .expand = gemm_sp_dense,
    .params = "A: region, B: region, C: region, E: region, transpose_A: bool, transpose_B: bool, "
              "clear_accum: bool, k_pack: int, transpose_E: bool",
    .doc = "C += A * B where A is 2:4 sparse and E says which elements it keeps",
    .nregion = 4,
    .check = gemm_sp_check,
    .access = gemm_sp_access,
    .infer = infer_nothing,
    .lower = gemm_sp_lower,
    .simulate = gemm_sp_simulate,
};
