/* plan.c -- the mechanisms of AMD GPUs: which of them can do a tile operator. */
#include "target/mma.h"
#include "target/hip/hip.h"
#include "pass/warp_reduce.h"

/* ---- MMAs by the matrix cores, shared among waves as among warps (target/mma_plan.c) --------- */

/* T.wgmma_gemm, T.tcgen05_gemm: these instructions and nothing else. */
static void check_asked(Kernel *k, const Stmt *t)
{
    const Hint *h = hint_find(t->u.tile.hints, "instruction");

    if (h && h->text && strcmp(h->text, "mma") != 0)
        diag_error(k->diag, t->span, "T.%s_gemm is an instruction of NVIDIA's; T.gemm takes what "
                   "there is on %s [unsupported-here]", h->text, k->machine->name);
}

static bool can_mfma(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    MmaPlan m;

    check_asked(k, t);
    return mma_plan(k, who, t, &m, why);
}

static void plan_mfma(Kernel *k, ThreadGroup who, const Stmt *t)
{
    MmaPlan m;
    const char *why;

    BUG(!mma_plan(k, who, t, &m, &why), "a product that mfma can do cannot be planned");
    if (m.pack != mma_pack_asked(t))
        diag_ignored(k->diag, t->span, "k_pack", "A is in registers, or the tile has no whole "
                     "groups of so many steps of k [ignored]");
    tile_plan(k, t)->isa = m.mma;
    tile_plan(k, t)->staged = mma_staged(t, &m);
}

static const Mech mfma = {.name = "mfma", .ops = OPS(gemm) | OPS(gemm_scaled), .can = can_mfma,
                          .suits = mma_suits, .plan = plan_mfma,
                          .infer = mma_infer, .lower = mma_lower, .accumulates = true};

/* Copies straight to shared memory (global_load_lds), waited for by vmcnt. */
static const Mech load_lds = {.name = "global_load_lds", .ops = OPS(copy), .step = MECH_AHEAD,
                              .needs = HAS_ASYNC_COPY, .in_flight = true, .counted = true,
                              .side_by_side = true, .ends_only = true, .least = 4, .most = 16};

const Mech *const hip_mechs[] = {&mfma, &mech_scalar, &load_lds, MECHS_SHUFFLE, NULL};
