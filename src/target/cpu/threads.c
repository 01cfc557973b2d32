/* threads.c -- kernels whose body is per thread, and the calls that stand in them. */
#include "target/cpu/emit.h"

void emit_thread_kernel(Emit *e)
{
    diag_fail(e->k->diag, e->k->span,
              "this kernel uses thread indices, warps or barriers; target cpu has no threads "
              "[unsupported-here]");
}

/* In tile form a block is one thread: there is nothing to wait for. */
void emit_call(Emit *e, const Stmt *s)
{
    switch (s->u.call.which) {
    case INTRIN_SYNC_THREADS: case INTRIN_SYNC_WARP: case INTRIN_FENCE_PROXY:
    case INTRIN_TMA_STORE_ARRIVE: case INTRIN_TMA_STORE_WAIT: case INTRIN_COMMIT_GROUP:
    case INTRIN_WAIT_GROUP: case INTRIN_WAIT_WGMMA: case INTRIN_SET_MAX_NREG: case INTRIN_PDL_TRIGGER:
    case INTRIN_PDL_SYNC:
        return;
    case INTRIN_RETURN:
        emit_line(e, "%s", e->leave);
        return;
    default:
        diag_fail(e->k->diag, s->span, "T.%s has no meaning on target cpu [unsupported-here]",
                  intrin_table[s->u.call.which].name);
    }
}
