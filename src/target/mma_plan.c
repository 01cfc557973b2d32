/* mma_plan.c -- T.gemm by MMAs of warps: which instruction, how warps share it, who holds what.
 *
 *     C (M x N)   warps_m x warps_n parts, each part in tiles of m x n, each tile in the
 *                 instruction's own registers; warps beyond warps_m * warps_n have none
 *     A, B        in shared memory, swizzled so that no bank is met twice; A may be a
 *                 fragment: every warp of a row of warps holds the rows of its part
 *
 * A tile that is no multiple of the instruction is covered: what is past its edges is zero.
 * float32 goes to the instruction as it is, which drops what tfloat32 does not hold (gemm_cuts);
 * where it was asked for whole, it is the sum of two tfloat32, high and low: three MMAs of four
 * give it to 2^-21.
 * The lowering is mma_lower.c. */
#include "target/mma.h"
#include "op/op.h"

enum { A, B, C };

static int64_t extent_of(const Region *r, int from_end)
{
    return region_extent_int(r, r->buf->rank - 1 - from_end);
}

static int64_t tiles(int64_t extent, int64_t each)
{
    return (extent + each - 1) / each;
}

/* How far a split is from square parts; smaller is better. */
static double off_square(int64_t m, int64_t n)
{
    return m > n ? (double)m / (double)n : (double)n / (double)m;
}

enum { SQUARE, FULL_ROW, FULL_COL };

static double split_cost(const MmaPlan *p, int wm, int wn, int64_t policy)
{
    if (policy == FULL_ROW || p->a_in_registers) /* a row of warps holds its part of A each */
        return -wm;
    if (policy == FULL_COL)
        return -wn;
    return off_square(tiles(p->M, p->m) * p->m / wm, tiles(p->N, p->n) * p->n / wn);
}

/* Tiles of the warp that has most. */
static int64_t work_of(const MmaPlan *p, int wm, int wn)
{
    return tiles(tiles(p->M, p->m), wm) * tiles(tiles(p->N, p->n), wn);
}

/* As many warps as share the tiles evenly, then as the policy says. */
static void split_evenly(MmaPlan *p, int nwarp, int64_t policy)
{
    int64_t tm = tiles(p->M, p->m), tn = tiles(p->N, p->n);

    p->warps_m = p->warps_n = 0;
    for (int wm = 1; wm <= nwarp; wm++) {
        for (int wn = 1; wm * wn <= nwarp; wn++) {
            int used = p->warps_m * p->warps_n;
            if (tm % wm || tn % wn || wm * wn < used)
                continue;
            if (wm * wn > used || split_cost(p, wm, wn, policy) <
                                      split_cost(p, p->warps_m, p->warps_n, policy)) {
                p->warps_m = wm;
                p->warps_n = wn;
            }
        }
    }
}

/* Numbers of tiles that warps do not divide, such as 5 x 13: parts that reach past the edge cost
 * plain loads of operands, but are worth it where they are less than half the work. */
static void split_warps(MmaPlan *p, int nwarp, int64_t policy)
{
    split_evenly(p, nwarp, policy);
    if (p->a_in_registers)
        return;
    int64_t even = work_of(p, p->warps_m, p->warps_n), least = even;
    for (int wm = 1; wm <= nwarp; wm++)
        for (int wn = 1; wm * wn <= nwarp; wn++)
            if (work_of(p, wm, wn) < least && 2 * work_of(p, wm, wn) <= even) {
                least = work_of(p, wm, wn);
                p->warps_m = wm;
                p->warps_n = wn;
            }
}

/* ---- a result that is the next GEMM's A --------------------------------------------------- */

typedef struct {
    const Buffer *from, *to;
    bool reads, yes;
} Flow;

static bool see_read(const Expr *e, void *arg)
{
    Flow *f = arg;
    f->reads |= e->op == EX_LOAD && e->u.buf == f->from;
    return true;
}

/* T.copy(from, to), or to[...] = f(from[...]) */
static bool see_flow(const Stmt *s, void *arg)
{
    Flow *f = arg;

    if (tile_does(s, TILE_COPIES) && s->u.tile.region[0].buf == f->from &&
        s->u.tile.region[1].buf == f->to)
        f->yes = true;
    if (s->kind == ST_STORE && s->u.store.buf == f->to) {
        f->reads = false;
        expr_visit(s->u.store.value, see_read, f);
        f->yes |= f->reads;
    }
    return true;
}

typedef struct {
    Kernel *k;
    const Stmt *t;
    bool yes;
} Feeds;

static bool see_mma(const Stmt *s, void *arg)
{
    Feeds *f = arg;
    Flow flow = {.from = f->t->u.tile.region[C].buf};

    if (!tile_is_gemm(s) || f->yes)
        return true;
    flow.to = s->u.tile.region[A].buf;
    if (flow.to->scope != MEM_FRAGMENT || tile_arg_int(s, 0, 0) != 0)
        return true;
    flow.yes = flow.from == flow.to;
    stmt_visit(f->k->body, see_flow, &flow);
    f->yes |= flow.yes;
    return true;
}

/* Then a warp had better hold whole rows of it: no conversion on the way. */
static bool feeds_an_mma(Kernel *k, const Stmt *t)
{
    Feeds f = {k, t, false};
    stmt_visit(k->body, see_mma, &f);
    return f.yes;
}

static bool find_scaled(Kernel *k, const Stmt *t, MmaPlan *p, int nwarp, const char **why)
{
    const Region *r = t->u.tile.region;
    DType type[] = {r[A].buf->type, r[B].buf->type, r[C].buf->type};
    ScaledShape s = scaled_shape(t);

    *why = "there is no matrix instruction for such scales and types";
    if (s.type[0] == s.type[1])
        p->mma = mma_scaled_find(type, s.type[0], s.grain, k->machine,
                                 (int64_t[]){p->M, p->N, p->K}, nwarp);
    if (!p->mma)
        return false;
    const Mma *m = p->mma->mma;
    *why = "the tile is not whole instructions, or its scales are not in shared memory";
    return p->M % m->m == 0 && p->N % m->n == 0 && p->K % m->k == 0 &&
           r[MMA_SA].buf->scope == MEM_SHARED && r[MMA_SB].buf->scope == MEM_SHARED;
}

static bool find_row(Kernel *k, ThreadGroup who, const Stmt *t, MmaPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    DType a = r[A].buf->type, b = r[B].buf->type, c = r[C].buf->type;
    int64_t size[] = {p->M, p->N, p->K};
    int nwarp = group_threads(k, who) / p->lanes;

    bool scaled = tile_does(t, TILE_SCALED);
    if (scaled && !find_scaled(k, t, p, nwarp, why))
        return false;
    if (!scaled)
        p->mma = mma_find((DType[]){a, b, c}, k->machine, size, nwarp);
    if (!p->mma && a == DT_F32 && b == DT_F32) {
        p->thrice = !gemm_cuts(k, t);
        p->mma = mma_find((DType[]){DT_TF32, DT_TF32, c}, k->machine, size, nwarp);
    }
    if (!p->mma) {
        *why = arena_printf(k->arena, "%s has no matrix instruction for %s x %s to %s",
                            k->machine->name, dtype_name(a), dtype_name(b), dtype_name(c));
        return false;
    }
    p->m = p->mma->mma->m;
    p->n = p->mma->mma->n;
    p->k = p->mma->mma->k;
    return true;
}

/* Decided once: later passes rewrite the body that the choice was made from. */
static void share_warps(Kernel *k, const Stmt *t, MmaPlan *p, int nwarp)
{
    TilePlan *plan = tile_plan(k, t);
    int64_t policy = hint_int(t->u.tile.hints, "policy", SQUARE);

    if (!plan->warps[0]) {
        if (policy == SQUARE && feeds_an_mma(k, t))
            policy = FULL_ROW;
        split_warps(p, nwarp, policy);
        plan->warps[0] = p->warps_m;
        plan->warps[1] = p->warps_n;
    }
    p->warps_m = plan->warps[0];
    p->warps_n = plan->warps[1];
    p->part_m = tiles(tiles(p->M, p->m), p->warps_m) * p->m;
    p->part_n = tiles(tiles(p->N, p->n), p->warps_n) * p->n;
}

int64_t mma_pack_asked(const Stmt *t)
{
    return tile_does(t, TILE_SCALED) ? 1 : tile_arg_int(t, 3, 1);
}

/* k_pack: as many steps of k as the tile has whole groups of. */
static void pack_steps(const Kernel *k, const Stmt *t, MmaPlan *p)
{
    int64_t pack = mma_pack_asked(t);
    bool can = machine_has(k->machine, HAS_PACKED_K) && !p->a_in_registers && !p->thrice &&
               pack > 0 && p->K % (p->k * pack) == 0;

    p->pack = can ? (int)pack : 1;
}

/* ---- interleaved rows and columns ---------------------------------------------------------------
 *
 * An operand that is stored with k as rows has neighbours of another tile's column beside each
 * other.  Where lanes load for themselves, the columns of several tiles of the instruction are
 * interleaved: a lane reads one of each tile in one access, and holds neighbours of the result. */

typedef struct {
    const Stmt *t;
    bool differ;
} SameResult;

/* Whoever adds to this result must interleave it alike. */
static bool see_other(const Stmt *s, void *arg)
{
    SameResult *o = arg;
    const Region *a = o->t->u.tile.region, *b;

    if (!tile_is_gemm(s) || s == o->t)
        return true;
    b = s->u.tile.region;
    o->differ |= buffer_root(a[C].buf) == buffer_root(b[C].buf) &&
                 (tile_arg_int(s, 0, 0) != tile_arg_int(o->t, 0, 0) ||
                  tile_arg_int(s, 1, 0) != tile_arg_int(o->t, 1, 0) ||
                  a[A].buf->type != b[A].buf->type || a[B].buf->type != b[B].buf->type ||
                  a[A].buf->scope != b[A].buf->scope);
    return true;
}

/* Interleaved tiles: an access of at most 16 bytes has one element of each. */
static int interleave(int64_t ntile, const Region *r)
{
    int n = 1, bits = dtype_bits(r->buf->type);

    while (ntile % (n * 2) == 0 && n * 2 * bits <= 128 && extent_of(r, 0) % (n * 2) == 0)
        n *= 2;
    return n;
}

/* Lanes load them together, and rows and columns change places on the way. */
static bool loads_columns(Kernel *k, const MmaPlan *p, int which)
{
    return p->pack == 1 && mma_load_find(p->mma, which, false, k->machine);
}

static void spread_tiles(Kernel *k, const Stmt *t, MmaPlan *p)
{
    const Region *r = t->u.tile.region;
    TilePlan *plan = tile_plan(k, t);
    SameResult same = {t, false};

    if (!plan->spread[0]) {
        bool free = machine_has(k->machine, HAS_PACKED_K) && !p->a_in_registers && !p->thrice &&
                    !p->mma->mma->per &&
                    p->part_m * p->warps_m == p->M && p->part_n * p->warps_n == p->N;
        stmt_visit(k->body, see_other, &same);
        free &= !same.differ;
        plan->spread[A] = plan->spread[B] = 1;
        if (free && tile_arg_int(t, 0, 0) && !loads_columns(k, p, A))
            plan->spread[A] = interleave(p->part_m / p->m, &r[A]);
        if (free && !tile_arg_int(t, 1, 0) && !loads_columns(k, p, B))
            plan->spread[B] = interleave(p->part_n / p->n, &r[B]);
    }
    p->spread[A] = plan->spread[A];
    p->spread[B] = plan->spread[B];
}

/* Elements of A that several lanes hold: a fragment has each once. */
static bool has_copies(const Isa *isa)
{
    LaneMap l = mma_lanes(isa, MMA_A);
    return l.extent[LANE_LANE] * l.extent[LANE_SLOT] != l.extent[LANE_ROW] * l.extent[LANE_COL];
}

bool mma_plan(Kernel *k, ThreadGroup who, const Stmt *t, MmaPlan *p, const char **why)
{
    const Region *r = t->u.tile.region;
    bool whole = group_lanes(k, who) == k->machine->lanes;
    int nwarp = whole ? group_threads(k, who) / k->machine->lanes : 0;
    bool trans_a = tile_arg_int(t, 0, 0) != 0;

    *p = (MmaPlan){.lanes = k->machine->lanes,
                   .M = extent_of(&r[C], 1),
                   .N = extent_of(&r[C], 0)};
    p->K = extent_of(&r[A], trans_a ? 1 : 0);
    if (r[C].buf->scope != MEM_FRAGMENT || !region_is_whole(&r[C])) {
        *why = "the result is not a whole fragment";
        return false;
    }
    for (int i = A; i <= B; i++)
        if (r[i].buf->scope != MEM_SHARED && r[i].buf->scope != MEM_FRAGMENT) {
            *why = "an operand is neither in shared memory nor a fragment";
            return false;
        }
    if (p->M <= 0 || p->N <= 0 || p->K <= 0 || nwarp == 0) {
        *why = nwarp ? "the tile is empty or of unknown size"
               : who.n ? "its threads are not whole warps" : "the block is less than a warp";
        return false;
    }
    if (!find_row(k, who, t, p, why))
        return false;
    p->a_in_registers = r[A].buf->scope == MEM_FRAGMENT && !trans_a && region_is_whole(&r[A]) &&
                        p->M % p->m == 0 && p->K % p->k == 0 && !has_copies(p->mma);
    share_warps(k, t, p, nwarp);
    pack_steps(k, t, p);
    spread_tiles(k, t, p);
    p->cut_m = p->part_m * p->warps_m != p->M;
    p->cut_n = p->part_n * p->warps_n != p->N;
    if (p->mma->mma->per && (p->cut_m || p->cut_n)) {
        *why = "warps do not share the tile evenly";
        return false;
    }
    *why = arena_printf(k->arena, "%s%s%d x %d warps of %lld x %lld",
                        p->thrice ? "high and low parts, " : "",
                        p->a_in_registers ? "A in registers, " : "", p->warps_m, p->warps_n,
                        (long long)p->part_m, (long long)p->part_n);
    return true;
}

bool mma_suits(Kernel *k, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    DType type[] = {r[A].buf->type, r[B].buf->type, r[C].buf->type};

    (void)k;
    for (int i = A; i <= B; i++)
        type[i] = type[i] == DT_F32 ? DT_TF32 : type[i];
    return mma_multiplies(type);
}

/* Fragments that the instructions cannot take as they are. */
uint32_t mma_staged(const Stmt *t, const MmaPlan *p)
{
    const Region *r = t->u.tile.region;
    uint32_t mask = 0;

    if (r[A].buf->scope != MEM_SHARED && !p->a_in_registers)
        mask |= 1u << A;
    if (r[B].buf->scope != MEM_SHARED)
        mask |= 1u << B;
    return mask;
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

/* A fragment over the shape of b whose last two dimensions are the matrix. */
static const Layout *fragment_of(Ir *ir, const Buffer *b, const Expr *thread, int64_t rep,
                                 const Expr *slot)
{
    int64_t extent[RANK_MOST];

    buffer_static_shape(b, extent);
    return fragment_new(ir, b->rank, extent, thread, rep, 1, &slot);
}

/* Of the tiles of a part the one that has `at`; groups of `spread` of them interleave. */
static const Expr *tile_of(Ir *ir, const Expr *at, int64_t size, int spread)
{
    if (spread == 1)
        return div_by(ir, at, size);
    return plus_times(ir, mod_by(ir, at, spread), div_by(ir, at, size * spread), spread);
}

static const Layout *accumulator_layout(Ir *ir, const MmaPlan *p, const Buffer *b)
{
    const Expr *i = expr_var(ir, layout_axis(ir, b->rank - 2));
    const Expr *j = expr_var(ir, layout_axis(ir, b->rank - 1));
    const Expr *warp =
        plus_times(ir, div_by(ir, j, p->part_n), div_by(ir, i, p->part_m), p->warps_n);
    const Expr *row = mod_by(ir, i, p->part_m), *col = mod_by(ir, j, p->part_n);
    const Expr *tile = plus_times(ir, tile_of(ir, col, p->n, p->spread[B]),
                                  tile_of(ir, row, p->m, p->spread[A]), p->part_n / p->n);
    LaneMap l = mma_lanes(p->mma, MMA_C);
    const Expr *lane, *slot;

    lane_holder_expr(ir, &l, p->spread[A] > 1 ? div_by(ir, row, p->spread[A]) : i,
                     p->spread[B] > 1 ? div_by(ir, col, p->spread[B]) : j, &lane, &slot);
    slot = plus_times(ir, slot, tile, l.extent[LANE_SLOT]);
    return fragment_of(ir, b, plus_times(ir, lane, warp, p->lanes), 1, slot);
}

/* A in registers: for 16-bit types what the accumulator of a GEMM before has, if one warp has
 * all columns. */
static const Layout *operand_layout(Ir *ir, const MmaPlan *p, const Buffer *b)
{
    const Expr *i = expr_var(ir, layout_axis(ir, b->rank - 2));
    const Expr *k = expr_var(ir, layout_axis(ir, b->rank - 1));
    LaneMap l = mma_lanes(p->mma, MMA_A);
    const Expr *tile = plus_times(ir, div_by(ir, k, p->k),
                                  div_by(ir, mod_by(ir, i, p->part_m), p->m), p->K / p->k);
    const Expr *warp = expr_mul(ir, div_by(ir, i, p->part_m), num(ir, p->warps_n));
    const Expr *lane, *slot;

    lane_holder_expr(ir, &l, i, k, &lane, &slot);
    slot = plus_times(ir, slot, tile, l.extent[LANE_SLOT]);
    if (p->warps_n > 1)
        warp = expr_add(ir, warp, expr_var(ir, layout_rep(ir)));
    return fragment_of(ir, b, plus_times(ir, lane, warp, p->lanes), p->warps_n, slot);
}

static void infer_shared(Infer *in, const Stmt *t, const Region *r)
{
    int64_t shape[RANK_MOST], lead = 1;
    int rank = r->buf->rank, bits = dtype_bits(r->buf->type);

    if (r->buf->scope != MEM_SHARED || !buffer_static_shape(r->buf, shape) || rank > 3)
        return;
    if (rank == 3)
        lead = shape[0];
    int64_t row = shape[rank - 1] * bits / 8;
    int span = row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 0;
    const Layout *l = span ? layout_swizzle(in->ir, shape[rank - 2], shape[rank - 1], bits, span)
                           : layout_row_major(in->ir, 2, shape + rank - 2);
    infer_set(in, r->buf, rank == 3 ? layout_expand(in->ir, l, lead) : l, t);
}

void mma_infer(Infer *in, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    const char *why;
    MmaPlan p;

    BUG(!mma_plan(in->k, in->group, t, &p, &why), "a GEMM planned for warps cannot be split");
    infer_set(in, r[C].buf, accumulator_layout(in->ir, &p, r[C].buf), t);
    if (p.a_in_registers)
        infer_set(in, r[A].buf, operand_layout(in->ir, &p, r[A].buf), t);
    infer_shared(in, t, &r[A]);
    infer_shared(in, t, &r[B]);
}
