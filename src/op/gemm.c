/* gemm.c -- T.gemm(A, B, C): C += op(A) * op(B) on tiles.
 *
 * Meaning   products are exact, their sum is exact (in double; integers wrap), and C is rounded
 *           to its type once per statement.  clear_accum drops the old C.  Where gemm_cuts, the
 *           last 13 bits of float32 operands count as 0.
 * Layout    comes from the mechanism that does it, so from the target, not from here.
 * Lowering  the scalar triple loop: rank-1 updates where B's rows are contiguous, dot products
 *           where its columns are. */
#include "op/op.h"
#include "sim/sim.h"

enum { A, B, C };
enum { TRANS_A, TRANS_B, CLEAR, K_PACK };

/* The matrix dimensions of a region: the last two; anything before must be 1 long. */
typedef struct {
    const Expr *m, *n, *k;
    int row[3], col[3];
    bool trans[2];
} Shape;

static bool matrix_dims(Kernel *k, const Stmt *t, int i, int *row, int *col)
{
    static const char *const name[] = {"A", "B", "C"};
    const Region *r = &t->u.tile.region[i];
    if (r->buf->rank < 2) {
        diag_error(k->diag, t->span, "gemm operand %s ('%s') must have two dimensions [gemm-shape]",
                   name[i], r->buf->name);
        return false;
    }
    for (int d = 0; d < r->buf->rank - 2; d++)
        if (region_extent_int(r, d) != 1) {
            diag_error(k->diag, t->span,
                       "gemm operand %s ('%s') has a leading dimension longer than 1 [gemm-shape]",
                       name[i], r->buf->name);
            return false;
        }
    *row = r->buf->rank - 2;
    *col = r->buf->rank - 1;
    return true;
}

static bool agree(Kernel *k, const Stmt *t, const char *dim, const Expr *x, const char *of,
                  const Expr *y, const char *with)
{
    int64_t a, b;
    if (x == y || !expr_is_int(x, &a) || !expr_is_int(y, &b) || a == b)
        return true;
    diag_error(k->diag, t->span, "gemm: %s is %lld in %s but %lld in %s [gemm-shape]", dim,
               (long long)a, of, (long long)b, with);
    return false;
}

static bool gemm_shape(Kernel *k, const Stmt *t, Shape *s)
{
    const Region *r = t->u.tile.region;
    for (int i = A; i <= C; i++)
        if (!matrix_dims(k, t, i, &s->row[i], &s->col[i]))
            return false;
    s->trans[A] = tile_arg_int(t, TRANS_A, 0) != 0;
    s->trans[B] = tile_arg_int(t, TRANS_B, 0) != 0;
    const Expr *am = r[A].extent[s->trans[A] ? s->col[A] : s->row[A]];
    const Expr *ak = r[A].extent[s->trans[A] ? s->row[A] : s->col[A]];
    const Expr *bk = r[B].extent[s->trans[B] ? s->col[B] : s->row[B]];
    const Expr *bn = r[B].extent[s->trans[B] ? s->row[B] : s->col[B]];
    s->m = r[C].extent[s->row[C]];
    s->n = r[C].extent[s->col[C]];
    s->k = ak;
    if (tile_pairs(t)) /* each block has half of the columns of B */
        bn = expr_mul(k->ir, bn, expr_int(k->ir, 2));
    return agree(k, t, "M", s->m, "C", am, "A") && agree(k, t, "N", s->n, "C", bn, "B") &&
           agree(k, t, "K", ak, "A", bk, "B");
}

static void check_types(Kernel *k, const Stmt *t)
{
    DType a = t->u.tile.region[A].buf->type, b = t->u.tile.region[B].buf->type;
    DType c = t->u.tile.region[C].buf->type;
    bool same_kind = dtype_is_float(a) == dtype_is_float(b) && dtype_is_int(a) == dtype_is_int(b);
    bool alike = a == b || (same_kind && dtype_bits(a) <= 8 && dtype_bits(b) <= 8);
    if (!alike)
        diag_error(k->diag, t->span,
                   "gemm of %s by %s: the operands must have one type [gemm-dtype]", dtype_name(a),
                   dtype_name(b));
    else if (dtype_is_float(a) != dtype_is_float(c) || a == DT_BOOL || c == DT_BOOL)
        diag_error(k->diag, t->span, "gemm of %s cannot accumulate in %s [gemm-dtype]",
                   dtype_name(a), dtype_name(c));
}

static void gemm_check(Kernel *k, const Stmt *t)
{
    Shape s;
    static const char *const name[] = {"A", "B", "C"};
    for (int i = A; i <= C; i++) {
        const Buffer *b = t->u.tile.region[i].buf;
        if (b->scope == MEM_GLOBAL || b->scope == MEM_BARRIER || b->scope == MEM_VAR) {
            diag_error(k->diag, t->span,
                       "gemm operand %s must be an on-chip tile, '%s' is %s [gemm-scope]", name[i],
                       b->name, mem_name(b->scope));
            return;
        }
    }
    if (gemm_shape(k, t, &s))
        check_types(k, t);
}

static bool clears_always(const Stmt *t)
{
    return tile_arg_int(t, CLEAR, 0) != 0;
}

static void gemm_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[A], ACC_READ);
    see(arg, &t->u.tile.region[B], ACC_READ);
    see(arg, &t->u.tile.region[C], clears_always(t) ? ACC_WRITE : ACC_READ | ACC_WRITE);
}

bool gemm_cuts(const Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    const Hint *asked = hint_find(t->u.tile.hints, "precision");

    if (!k->cuts_float32 || (asked && !strcmp(asked->text, "float32")))
        return false;
    for (int i = 0; i < t->u.tile.nregion; i++) /* T.gemm_sp has indices beside them */
        if (dtype_is_float(r[i].buf->type) && r[i].buf->type != DT_F32)
            return false;
    return r[0].buf->type == DT_F32;
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    Shape s;
    Span span;
    bool cuts;
} Gemm;

static void element_at(Gemm *g, int i, const Expr *row, const Expr *col, const Expr **at)
{
    const Region *r = &g->t->u.tile.region[i];
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = r->at[d];
    bool swap = i != C && g->s.trans[i];
    at[g->s.row[i]] = expr_add(g->ir, r->at[g->s.row[i]], swap ? col : row);
    at[g->s.col[i]] = expr_add(g->ir, r->at[g->s.col[i]], swap ? row : col);
}

/* x as the matrix instructions read it. */
static const Expr *cut(Ir *ir, const Expr *x)
{
    const Expr *bits = expr_bitcast(ir, DT_U32, 1, x);
    bits = expr_binary(ir, EX_BITAND, bits, expr_const(ir, DT_U32, 0xffffe000));
    return expr_bitcast(ir, DT_F32, 1, bits);
}

static const Expr *element(Gemm *g, int i, DType as, const Expr *row, const Expr *col)
{
    const Expr *at[RANK_MOST];
    Buffer *b = g->t->u.tile.region[i].buf;
    element_at(g, i, row, col, at);
    const Expr *x = expr_load(g->ir, b, at, b->rank);
    return expr_cast(g->ir, as, g->cuts && i != C ? cut(g->ir, x) : x);
}

static const Stmt *put_c(Gemm *g, const Expr *row, const Expr *col, const Expr *value)
{
    const Expr *at[RANK_MOST];
    Buffer *c = g->t->u.tile.region[C].buf;
    element_at(g, C, row, col, at);
    return stmt_store(g->ir, g->span, c, at, c->rank, expr_cast(g->ir, c->type, value));
}

static const Stmt *clear_c(Gemm *g)
{
    const Expr *clear = g->t->u.tile.narg > CLEAR ? g->t->u.tile.arg[CLEAR] : NULL;
    const Expr *extent[2] = {g->s.m, g->s.n};
    int64_t known;
    if (clear == NULL || (expr_is_int(clear, &known) && known == 0))
        return NULL;
    Nest n;
    nest_open(g->k, &n, 2, extent);
    const Expr *zero = expr_zero(g->ir, g->t->u.tile.region[C].buf->type);
    const Stmt *s = nest_close(g->k, g->span, &n, LOOP_PARALLEL, put_c(g, n.at[0], n.at[1], zero));
    return clears_always(g->t) ? s : stmt_if(g->ir, g->span, clear, s, NULL);
}

static const Stmt *loop(Gemm *g, LoopHow how, Var *v, const Expr *extent, const Stmt *body)
{
    return stmt_for(g->ir, g->span, how, v, expr_int(g->ir, 0), extent, (Hints){0}, body);
}

/* for i: for k: for j: C[i, j] += A[i, k] * B[k, j] */
static const Stmt *rank_one_loops(Gemm *g, DType acc, const Nest *n)
{
    const Expr *i = n->at[0], *j = n->at[1], *l = n->at[2];
    const Expr *x = expr_mul(g->ir, element(g, A, acc, i, l), element(g, B, acc, l, j));
    const Stmt *s = put_c(g, i, j, expr_add(g->ir, element(g, C, acc, i, j), x));
    s = loop(g, LOOP_PARALLEL, n->var[1], g->s.n, s);
    s = loop(g, LOOP_SERIAL, n->var[2], g->s.k, s);
    return loop(g, LOOP_PARALLEL, n->var[0], g->s.m, s);
}

/* for i, j: acc = 0; for k: acc += A[i, k] * B[k, j]; C[i, j] += acc */
static const Stmt *dot_loops(Gemm *g, DType acc, const Nest *n)
{
    const Expr *i = n->at[0], *j = n->at[1], *l = n->at[2];
    Buffer *sum = kernel_scalar(g->k, "dot", acc, g->span);
    const Expr *x = expr_mul(g->ir, element(g, A, acc, i, l), element(g, B, acc, l, j));
    const Stmt *step = scalar_set(g->k, g->span, sum, expr_add(g->ir, scalar_get(g->k, sum), x));
    const Stmt *s = scalar_set(g->k, g->span, sum, expr_zero(g->ir, acc));
    s = stmt_seq(g->ir, s, loop(g, LOOP_SERIAL, n->var[2], g->s.k, step));
    const Expr *total = expr_add(g->ir, element(g, C, acc, i, j), scalar_get(g->k, sum));
    s = stmt_seq(g->ir, s, put_c(g, i, j, total));
    s = loop(g, LOOP_PARALLEL, n->var[1], g->s.n, s);
    return loop(g, LOOP_PARALLEL, n->var[0], g->s.m, s);
}

static const Stmt *gemm_lower(Kernel *k, const Stmt *t)
{
    Gemm g = {.k = k, .ir = k->ir, .t = t, .span = t->span, .cuts = gemm_cuts(k, t)};
    if (!gemm_shape(k, t, &g.s))
        diag_throw(k->diag);
    pair_refuse(k, t);
    DType c = t->u.tile.region[C].buf->type, acc = accumulate_type(c);
    const Expr *extent[3] = {g.s.m, g.s.n, g.s.k};
    Nest n;
    nest_open(k, &n, 3, extent);
    /* A narrow C must not be rounded at every step. */
    bool dots = g.s.trans[B] || acc != c || kernel_on_warps(k);
    const Stmt *s = dots ? dot_loops(&g, acc, &n) : rank_one_loops(&g, acc, &n);
    return stmt_seq(k->ir, clear_c(&g), s);
}

/* ---- meaning --------------------------------------------------------------------------------- */

static double gemm_flops(const Stmt *t)
{
    const Region *r = t->u.tile.region;
    double c = (double)region_nelem(&r[C]), a = (double)region_nelem(&r[A]);
    double m = (double)region_extent_int(&r[C], r[C].buf->rank - 2);
    return c > 0 && a > 0 && m > 0 ? 2 * c * (a / m) : 0;
}

static void gemm_simulate(Sim *m, const Stmt *t)
{
    const Expr *clear = t->u.tile.narg > CLEAR ? t->u.tile.arg[CLEAR] : NULL;
    const Region *r = t->u.tile.region;
    bool ta = tile_arg_int(t, TRANS_A, 0) != 0, tb = tile_arg_int(t, TRANS_B, 0) != 0;
    bool clears = clear != NULL && sim_is_true(m, clear), cuts = gemm_cuts(sim_kernel(m), t);

    if (tile_pairs(t))
        sim_gemm_pair(m, t, r, ta, tb, clears, cuts);
    else
        sim_gemm(m, t, &r[A], &r[B], &r[C], ta, tb, clears, cuts);
}

const Mech mech_scalar = {.name = "scalar", .ops = OPS(gemm), .own_loops = true};

const TileOp op_gemm = {
    .name = "gemm",
    .id = OP_gemm,
    .traits = TILE_MMA | TILE_WALKS | TILE_STAGES,
    .by_owner = 1u << C,
    .params = "A: region, B: region, C: region, transpose_A: bool, transpose_B: bool, "
              "clear_accum: bool, k_pack: int",
    .doc = "C += op(A) * op(B); the transpose flags say how A and B are stored",
    .nregion = 3,
    .check = gemm_check,
    .access = gemm_access,
    .infer = infer_nothing,
    .lower = gemm_lower,
    .simulate = gemm_simulate,
    .flops = gemm_flops,
};
