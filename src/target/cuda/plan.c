/* plan.c -- which mechanism for each tile operator on NVIDIA GPUs. */
#include "target/cuda/cuda.h"

void cuda_plan(Kernel *k, const Stmt *t)
{
    const char *why = NULL;
    MmaPlan m;

    if (t->u.tile.op->id == OP_reduce && reduce_can_shuffle(k, t, &why))
        tile_plan(k, t)->how = HOW_SHUFFLE;
    if (t->u.tile.op->id == OP_reduce)
        tile_plan(k, t)->why = why;
    if (t->u.tile.op->id != OP_gemm)
        return;
    bool ok = mma_plan(k, t, &m, &why);
    TilePlan *p = tile_plan(k, t);
    p->how = ok ? HOW_MMA : HOW_SCALAR;
    p->isa = ok ? m.mma : NULL;
    p->why = why;
}
