/* plan.c -- the mechanisms of NVIDIA GPUs: which of them can do a tile operator. */
#include "target/cuda/cuda.h"
#include "ir/config.h"
#include "pass/warp_reduce.h"

/* ---- MMAs ------------------------------------------------------------------------------------ */

/* T.mma, T.wgmma_gemm, T.tcgen05_gemm: these instructions and nothing else. */
static bool is_asked(const Stmt *t, const char *instruction)
{
    const Hint *h = hint_find(t->u.tile.hints, "instruction");
    return h && h->text && !strcmp(h->text, instruction);
}

static bool can_wgmma(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    WgmmaPlan w;

    if (is_asked(t, "tcgen05") && !kernel_has(k, HAS_TENSOR_MEMORY))
        diag_error(k->diag, t->span, "T.tcgen05_gemm is for sm_100a, and its instructions are not "
                   "those of sm_%d; T.gemm takes what there is [unsupported-here]",
                   k->machine->level);
    if (is_asked(t, "mma"))
        return false;
    if (wgmma_plan(k, who, t, &w, why))
        return true;
    if (is_asked(t, "wgmma") && k->machine->level < 90)
        diag_error(k->diag, t->span, "T.wgmma_gemm has no instruction for this GEMM: %s; T.gemm "
                   "takes what there is [unsupported-here]", *why);
    else if (is_asked(t, "wgmma"))
        diag_ignored(k->diag, t->span, "T.wgmma_gemm", "the GEMM is computed by slower "
                     "instructions: %s", *why);
    return false;
}

static bool can_tcgen05(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    (void)who;
    return !is_asked(t, "mma") && tensor_can(k, t, why);
}

static bool suits_tcgen05(Kernel *k, const Stmt *t)
{
    return !is_asked(t, "mma") && tensor_suits(k, t);
}

static bool suits_wgmma(Kernel *k, const Stmt *t)
{
    return !is_asked(t, "mma") && wgmma_suits(k, t);
}

static void plan_wgmma(Kernel *k, ThreadGroup who, const Stmt *t)
{
    WgmmaPlan w;
    const char *why;

    BUG(!wgmma_plan(k, who, t, &w, &why), "a GEMM that wgmma can do cannot be planned: %s", why);
    tile_plan(k, t)->isa = w.isa;
    tile_plan(k, t)->staged = w.stages_a;
}

static bool can_mma(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    MmaPlan m;
    bool ok = mma_plan(k, who, t, &m, why);

    if (!ok && is_asked(t, "mma"))
        diag_error(k->diag, t->span, "T.mma has no instruction for this GEMM: %s [gemm-mma]",
                   *why ? *why : "not for these types");
    return ok;
}

static void plan_mma(Kernel *k, ThreadGroup who, const Stmt *t)
{
    MmaPlan m;
    const char *why;

    BUG(!mma_plan(k, who, t, &m, &why), "a GEMM that mma.sync can do cannot be planned");
    tile_plan(k, t)->isa = m.mma;
    tile_plan(k, t)->staged = mma_staged(t, &m);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* What the kernel says about bulk copies: at the copy, or for all of it. */
static bool may_be_bulk(const Kernel *k, const Stmt *t, const char **why)
{
    const Hint *prefer = hint_find(t->u.tile.hints, "prefer_instruction");
    bool other = prefer && prefer->text && strcmp(prefer->text, "tma") != 0;

    if (tma_is_asked(t))
        return true;
    if (other || hint_int(t->u.tile.hints, "disable_tma", 0) ||
        config_on(k->func, CONFIG_disable_tma_lower)) {
        *why = "the kernel asks for no bulk copy";
        return false;
    }
    /* A load would have to be waited for, where threads have ways of their own to wait. */
    return !k->uses_threads || tile_brings(t, MEM_SHARED, MEM_GLOBAL);
}

/* Vectors and single rows: a tensor map says nothing more than their address, and where they are
 * longer than a box they would take several. */
static bool is_vector(const Stmt *t)
{
    for (int side = 0; side < 2; side++) {
        const Region *r = &t->u.tile.region[side];
        int last = r->buf->rank - 1;
        if (last < 0 || region_nelem(r) != region_extent_int(r, last))
            return false;
    }
    return true;
}

static bool can_tma(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const char *run;
    (void)who;

    if (!may_be_bulk(k, t, why))
        return false;
    if (!tile_does(t, TILE_COPIES))
        return im2col_plan(k, t, why);
    return tma_plan(k, t, why) && !(is_vector(t) && bulk_plan(k, t, &run));
}

static bool suits_tma(Kernel *k, const Stmt *t)
{
    (void)k;
    return tile_brings(t, MEM_GLOBAL, MEM_SHARED) || tile_brings(t, MEM_SHARED, MEM_GLOBAL);
}

/* Every block reads the same: from the second on a multiprocessor has it in its first level cache,
 * which bulk copies go past. */
static bool is_read_by_all(const Kernel *k, const Stmt *t)
{
    const Region *from = &t->u.tile.region[0];
    bool fixed = from->buf->scope == MEM_GLOBAL, others = false;
    int64_t n;

    for (int d = 0; d < from->buf->rank && fixed; d++)
        fixed = expr_is_const(from->at[d]);
    for (int d = 0; d < k->ngrid; d++)
        others |= !expr_is_int(k->grid[d], &n) || n > 1;
    return fixed && others;
}

static bool can_bulk(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Hint *prefer = hint_find(t->u.tile.hints, "prefer_instruction");
    const char *run, *box = NULL;

    if (is_read_by_all(k, t) && !prefer && !tma_is_asked(t)) {
        *why = "every block reads the same, which the first level cache keeps";
        return false;
    }
    if (may_be_bulk(k, t, &box) && bulk_plan(k, t, &run)) {
        *why = run;
        return true;
    }
    if (prefer && prefer->text && !strcmp(prefer->text, "tma") && !tma_is_asked(t)) {
        can_tma(k, who, t, &box);
        diag_fail(k->diag, t->span, "this copy cannot be a bulk copy: %s [copy-instruction]", box);
    }
    return false;
}

static void plan_bulk(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    /* He waits for it himself. */
    tile_plan(k, t)->left_open = tma_is_asked(t) && t->u.tile.region[0].buf->scope == MEM_SHARED;
}

static void plan_tma(Kernel *k, ThreadGroup who, const Stmt *t)
{
    plan_bulk(k, who, t);
    tile_plan(k, t)->or_loops = tile_does(t, TILE_COPIES) && tma_or_loops(k, t);
}

static void infer_tma(Infer *in, const Stmt *t)
{
    if (tile_does(t, TILE_COPIES))
        tma_infer(in, t);
}

static const Stmt *lower_tma(Kernel *k, ThreadGroup who, const Stmt *t)
{
    return tile_does(t, TILE_COPIES) ? tma_lower(k, who, t) : im2col_lower(k, who, t);
}

/* ---- the rows, best first -------------------------------------------------------------------- */

static const Mech wgmma = {.name = "wgmma", .ops = OPS(gemm), .can = can_wgmma,
                           .suits = suits_wgmma, .plan = plan_wgmma,
                           .infer = wgmma_infer, .lower = wgmma_lower, .in_flight = true,
                           .by_group = true, .accumulates = true, .overwrites = true};

/* Its words of what A keeps are registers that the next one loads, so it is waited for at once. */
static const Mech wgmma_sp = {.name = "wgmma.sp", .ops = OPS(gemm_sp), .can = can_wgmma,
                              .suits = suits_wgmma, .plan = plan_wgmma,
                              .infer = wgmma_infer, .lower = wgmma_lower,
                              .by_group = true, .accumulates = true, .overwrites = true};

static const Mech tcgen05 = {.name = "tcgen05.mma", .ops = OPS(gemm) | OPS(gemm_scaled),
                             .needs = HAS_TENSOR_MEMORY, .can = can_tcgen05,
                             .suits = suits_tcgen05, .infer = tensor_infer, .lower = tensor_lower,
                             .by_commit = true, .overwrites = true};

static const Mech tcgen05_spread = {.name = "tcgen05.cp", .ops = OPS(spread_lanes),
                                    .needs = HAS_TENSOR_MEMORY, .can = tensor_spread_can,
                                    .lower = tensor_spread_lower, .by_commit = true};

static const Mech tcgen05_copy = {.name = "tcgen05.copy", .ops = OPS(copy),
                                  .needs = HAS_TENSOR_MEMORY, .can = tensor_copy_can,
                                  .infer = tensor_copy_infer, .lower = tensor_copy_lower};

static const Mech mma = {.name = "mma.sync", .ops = OPS(gemm) | OPS(gemm_scaled), .can = can_mma,
                         .suits = mma_suits, .plan = plan_mma,
                         .infer = mma_infer, .lower = mma_lower, .accumulates = true};

static const Mech tma = {.name = "tma", .ops = OPS(copy) | OPS(im2col), .needs = HAS_BULK_COPY,
                         .can = can_tma, .suits = suits_tma, .plan = plan_tma, .infer = infer_tma,
                         .lower = lower_tma, .in_flight = true, .bulk = true, .multicast = true,
                         .align = 128, .swizzle = 128};

static const Mech bulk = {.name = "bulk", .ops = OPS(copy), .needs = HAS_BULK_COPY, .can = can_bulk,
                          .plan = plan_bulk, .lower = bulk_lower, .in_flight = true, .bulk = true,
                          .align = 16};

const Mech cuda_cp_async = {.name = "cp.async", .ops = OPS(copy), .step = MECH_AHEAD,
                            .needs = HAS_ASYNC_COPY, .in_flight = true, .least = 4, .most = 16};

static const Mech stmatrix = {.name = "stmatrix", .ops = OPS(copy), .step = MECH_LAYOUT,
                              .needs = HAS_BULK_COPY, .can = stmatrix_can, .plan = stmatrix_plan,
                              .lower = stmatrix_lower};

const Mech *const cuda_mechs[] = {&tcgen05, &tcgen05_spread, &tcgen05_copy, &wgmma, &wgmma_sp,
                                  &mma, &mech_scalar, &tma, &bulk, &cuda_cp_async, &stmatrix,
                                  MECHS_SHUFFLE, NULL};
