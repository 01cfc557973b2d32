/* plan.c -- which mechanism for each tile operator on NVIDIA GPUs. */
#include "target/cuda/cuda.h"
#include "ir/config.h"

static bool is_banned(const Kernel *k, const Stmt *t, How how)
{
    for (int i = 0; i < k->bans.n; i++)
        if (k->bans.at[i].tile == t->u.tile.id && k->bans.at[i].how == how)
            return true;
    return false;
}

/* T.mma, T.wgmma_gemm, T.tcgen05_gemm: these instructions and nothing else. */
static bool is_asked(const Stmt *t, const char *instruction)
{
    const Hint *h = hint_find(t->u.tile.hints, "instruction");
    return h && h->text && !strcmp(h->text, instruction);
}

static void plan_gemm(Kernel *k, const Stmt *t)
{
    const char *why = NULL, *not_wgmma = NULL;
    bool asked = is_asked(t, "mma");
    MmaPlan m;
    WgmmaPlan w;
    TilePlan *p = tile_plan(k, t);

    if (is_asked(t, "tcgen05"))
        diag_error(k->diag, t->span, "T.tcgen05_gemm is for sm_100a, and its instructions are not "
                   "emitted here; T.gemm takes what there is on sm_%d [unsupported-here]",
                   k->machine->level);
    if (!asked && !is_banned(k, t, HOW_WGMMA) && wgmma_plan(k, t, &w, &not_wgmma)) {
        p->how = HOW_WGMMA;
        p->isa = isa_find("wgmma");
        p->why = not_wgmma;
        return;
    }
    if (is_asked(t, "wgmma") && k->machine->level < 90)
        diag_error(k->diag, t->span, "T.wgmma_gemm has no instruction for this product: %s; T.gemm "
                   "takes what there is [unsupported-here]", not_wgmma);
    else if (is_asked(t, "wgmma"))
        diag_ignored(k->diag, t->span, "T.wgmma_gemm", "the product is computed by slower "
                     "instructions: %s", not_wgmma);
    bool ok = mma_plan(k, t, &m, &why);
    if (asked && !ok)
        diag_error(k->diag, t->span, "T.mma has no instruction for this product: %s [gemm-mma]",
                   why ? why : "not for these types");
    p = tile_plan(k, t);
    p->how = ok ? HOW_MMA : HOW_SCALAR;
    p->isa = ok ? m.mma : NULL;
    p->staged = ok ? mma_staged(t, &m) : 0;
    p->why = why;
}

/* What the kernel says about bulk copies: at the copy, or for all of it. */
static bool is_declined(const Kernel *k, const Stmt *t)
{
    const Hint *prefer = hint_find(t->u.tile.hints, "prefer_instruction");
    bool other = prefer && prefer->text && strcmp(prefer->text, "tma") != 0;

    return other || hint_int(t->u.tile.hints, "disable_tma", 0) ||
           config_on(k->func, CONFIG_disable_tma_lower);
}

/* One run of memory, where a tensor map cannot be or says nothing more. */
static bool may_run(Kernel *k, const Stmt *t, bool box, bool declined, const char **why)
{
    const char *no = NULL;
    bool vector = t->u.tile.region[0].buf->rank == 1 && t->u.tile.region[1].buf->rank == 1;

    if (declined || (box && !vector) || !bulk_plan(k, t, &no))
        return false;
    *why = no;
    return true;
}

static void plan_copy(Kernel *k, const Stmt *t)
{
    const char *why = NULL;
    bool asked = tma_is_asked(t), can = false;
    bool declined = is_banned(k, t, HOW_TMA) || (!asked && is_declined(k, t));

    if (declined)
        why = "the kernel asks for no bulk copy";
    else if (!k->uses_threads || asked)
        can = tma_plan(k, t, &why);
    bool run = may_run(k, t, can, declined || (k->uses_threads && !asked), &why);
    TilePlan *p = tile_plan(k, t);
    const Hint *prefer = hint_find(t->u.tile.hints, "prefer_instruction");
    bool wanted = prefer && prefer->text && !strcmp(prefer->text, "tma") && !asked;
    if (!can && !run && wanted && k->machine->level >= 90)
        diag_fail(k->diag, t->span, "this copy cannot be a bulk copy: %s [copy-instruction]", why);
    if (!can && !run) {
        p->why = k->machine->level < 90 ? NULL : why;
        return;
    }
    p->how = run ? HOW_BULK : HOW_TMA;
    p->why = why;
    p->stage = asked && t->u.tile.region[0].buf->scope == MEM_SHARED; /* he waits for it himself */
}

static void plan_im2col(Kernel *k, const Stmt *t)
{
    const char *why = "the kernel asks for no bulk copy";
    bool can = !is_banned(k, t, HOW_TMA) && !is_declined(k, t) && im2col_plan(k, t, &why);

    tile_plan(k, t)->how = can ? HOW_TMA : HOW_NONE;
    tile_plan(k, t)->why = k->machine->level < 90 ? NULL : why;
}

static void plan_reduce(Kernel *k, const Stmt *t)
{
    const char *why = NULL;

    OpId op = t->u.tile.op->id;
    if (op == OP_reduce   ? reduce_can_shuffle(k, t, &why)
        : op == OP_any_of ? any_of_can_shuffle(t, &why)
                          : scan_can_shuffle(k, t, &why))
        tile_plan(k, t)->how = HOW_SHUFFLE;
    tile_plan(k, t)->why = why;
}

void cuda_plan(Kernel *k, const Stmt *t)
{
    if (t->u.tile.op->id == OP_reduce || t->u.tile.op->id == OP_scan ||
        t->u.tile.op->id == OP_any_of)
        plan_reduce(k, t);
    if (t->u.tile.op->id == OP_gemm)
        plan_gemm(k, t);
    if (t->u.tile.op->id == OP_copy)
        plan_copy(k, t);
    if (t->u.tile.op->id == OP_im2col)
        plan_im2col(k, t);
}

const Stmt *cuda_lower_copy(Kernel *k, const Stmt *t)
{
    How how = tile_plan(k, t)->how;
    return how == HOW_TMA ? tma_lower(k, t) : how == HOW_BULK ? bulk_lower(k, t)
                                                              : stmatrix_lower(k, t);
}
