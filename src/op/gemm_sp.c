/* gemm_sp.c -- T.gemm_sp(A, E, B, C): C += A * B with A 2:4 sparse and its metadata in E.
 *
 * The order of the metadata belongs to the instruction that reads it, and no target here has one;
 * so the operator is known, checked and refused. */
#include "op/op.h"
#include "sim/sim.h"

enum { A, E, B, C };

static void gemm_sp_check(Kernel *k, const Stmt *t)
{
    diag_error(k->diag, t->span,
               "gemm_sp needs a target with sparse matrix instructions [unsupported-here]");
}

static void gemm_sp_access(const Stmt *t, AccessFn *see, void *arg)
{
    see(arg, &t->u.tile.region[A], ACC_READ);
    see(arg, &t->u.tile.region[E], ACC_READ);
    see(arg, &t->u.tile.region[B], ACC_READ);
    see(arg, &t->u.tile.region[C], (Access)(ACC_READ | ACC_WRITE));
}

static const Stmt *gemm_sp_lower(Kernel *k, const Stmt *t)
{
    diag_fail(k->diag, t->span,
              "gemm_sp needs a target with sparse matrix instructions [unsupported-here]");
}

static void gemm_sp_simulate(Sim *m, const Stmt *t)
{
    sim_fail(m, t, "gemm_sp has no reference for its metadata [unsupported-here]");
}

const TileOp op_gemm_sp = {
    .name = "gemm_sp",
    .id = OP_gemm_sp,
    .params = "A: region, E: region, B: region, C: region, transpose_A: bool, transpose_B: bool, "
              "clear_accum: bool, k_pack: int, transpose_E: bool",
    .doc = "C += A * B where A is 2:4 sparse and E says which elements it keeps",
    .nregion = 4,
    .check = gemm_sp_check,
    .access = gemm_sp_access,
    .infer = infer_nothing,
    .lower = gemm_sp_lower,
    .simulate = gemm_sp_simulate,
};
