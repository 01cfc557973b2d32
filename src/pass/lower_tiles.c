/* lower_tiles.c -- tile operators become loops and instructions, by the plan of each.
 *
 * needs   FORM_LAYOUTS, FORM_NOPIPE
 * gives   FORM_LOOPS
 * breaks  FORM_SIMPLE      indices are sums of region starts and loop variables */
#include "isa/isa.h"
#include "pass/pass.h"
#include "pass/plan_how.h"
#include "pass/thread_group.h"
#include "pass/thread_nest.h"
#include "pass/warp_reduce.h"

/* What a copy was told and the way it goes has no use for. */
static void tell_ignored(Kernel *k, const Stmt *t)
{
    bool bulk = tile_plan(k, t)->how->bulk;
    Hints h = t->u.tile.hints;

    if (bulk && hint_find(h, "coalesced_width"))
        diag_ignored(k->diag, t->span, "coalesced_width",
                     "this copy is a bulk copy, which no thread takes part in [ignored]");
    if (hint_find(h, "cluster_mask") && !hint_find(h, "async") && tile_plan(k, t)->share < 2)
        diag_ignored(k->diag, t->span, "cluster_mask",
                     "each block of the cluster copies this tile for itself [ignored]");
    if (!(bulk && tile_does(t, TILE_COPIES)) && hint_find(h, "eviction_policy"))
        diag_ignored(k->diag, t->span, "eviction_policy",
                     "only bulk copies of T.copy and T.tma_copy have one [ignored]");
}

typedef struct {
    Kernel *k;
    ThreadGroup who;
} Lower;

/* An arrival for MMAs that one thread issued is committed by that one. */
static const Stmt *commit_mmas(Kernel *k, ThreadGroup who, const Stmt *s)
{
    Ir *ir = k->ir;

    if (!call_mma_blocks(s))
        return s;
    const Expr *first = expr_binary(ir, EX_EQ, thread_index(k, who), expr_int(ir, 0));
    const Stmt *call = stmt_call(ir, s->span, INTRIN_ARRIVE_MMA, s->u.call.n, s->u.call.arg,
                                 s->u.call.nregion, s->u.call.region,
                                 call_mma_blocks(s) > 1 ? s->u.call.text : NULL, NULL);
    return stmt_if(ir, s->span, first, call, NULL);
}

/* Does every thread that copies arrive at this barrier itself? */
static bool all_arrive(Kernel *k, ThreadGroup who, const Buffer *bar)
{
    int64_t count, n = 1, threads = who.n ? who.n : kernel_block_threads(k);

    for (int d = 0; d < bar->rank; d++)
        n *= expr_is_int(bar->shape[d], &count) ? count : 0;
    for (int64_t i = 0; i < n; i++)
        if (!expr_is_int(bar->arrive[i], &count) || count < threads)
            return false;
    return n > 0;
}

/* A copy that was to report to a barrier and is done by threads: whoever arrives there, for one or
 * for many, does so when all of it is written. */
static const Stmt *copied_whole(Kernel *k, ThreadGroup who, const Stmt *t, const Stmt *loops)
{
    int own = t->u.tile.op->narg;

    if (!tile_does(t, TILE_FETCHES) || t->u.tile.narg <= own || tile_plan(k, t)->how->bulk ||
        !kernel_on_warps(k) || who.n == 1 || all_arrive(k, who, t->u.tile.arg[own]->u.buf))
        return loops;
    return stmt_seq(k->ir, loops, stmt_sync(k->ir, t->span));
}

static const Stmt *lower_one(Ir *ir, const Stmt *s, void *arg)
{
    const Lower *w = arg;
    Kernel *k = w->k;

    if (s->kind == ST_CALL && s->u.call.which == INTRIN_ALLREDUCE && kernel_on_warps(k))
        return lower_allreduce(k, w->who, s);
    if (call_votes(s) && kernel_on_warps(k) && !kernel_has(k, HAS_BLOCK_VOTES) && !w->who.n)
        return lower_votes(k, s);
    if (s->kind == ST_CALL && s->u.call.which == INTRIN_ARRIVE && kernel_has(k, HAS_TENSOR_MEMORY))
        return commit_mmas(k, w->who, s);
    if (s->kind != ST_TILE)
        return s;
    const TileOp *op = s->u.tile.op;
    const Stmt *r = NULL;
    if (kernel_on_warps(k))
        tell_ignored(k, s);
    if (tile_plan(k, s)->how->lower)
        r = tile_plan(k, s)->how->lower(k, w->who, s);
    if (!r)
        r = op->lower(k, s);
    if (!r || stmt_is_empty(r))
        return stmt_block(ir, s->span, 0, NULL);
    r = copied_whole(k, w->who, s, r);
    /* Where the body is per thread, what fills a thread's own memory is the thread's; any other
     * operator is still the block's: one thread does it for all. */
    bool collective = k->uses_threads && !kernel_on_warps(k) &&
                      op->epoch != EPOCH_ADDS && !stmt_is_private(s);
    return collective ? stmt_role(ir, s->span, ROLE_COLLECTIVE, 0, NULL, r) : r;
}

/* A nest may hold operators that belong to its iterations.  The block says a thing once. */
static const Stmt *lower(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    Lower w = {k, who};
    bool once = tile_does(s, TILE_SAYS) && kernel_on_warps(k) && !k->uses_threads;

    s = stmt_map(ir, s, lower_one, &w);
    if (!once)
        return s;
    return stmt_if(ir, s->span, expr_lt(ir, thread_index(k, who), expr_int(ir, 1)), s, NULL);
}

/* ---- plans of what is there ------------------------------------------------------------------ */

typedef struct {
    Kernel *k;
    bool *there; /* by tile id */
} Found;

/* What the plan of an operator that stays says about what it did not get. */
static void audit_tile(Kernel *k, const Stmt *s, const TilePlan *p)
{
    const Region *r = s->u.tile.region;
    const Mech *ahead = mech_ahead(k->target->mechs);
    bool fetches =
        tile_brings(s, MEM_GLOBAL, MEM_SHARED) || tile_brings(s, MEM_SHARED, MEM_GLOBAL);

    if (p->lost.how && tile_does(s, TILE_MMA))
        audit_note(k, AUDIT_MMA, s->span, "this GEMM is computed by %s, not by %s: %s",
                   p->how->name, p->lost.how->name, p->lost.why);
    else if (p->lost.how && !tile_does(s, TILE_COPIES))
        audit_note(k, AUDIT_MEMORY, s->span, "'%s' goes through shared memory: %s",
                   r[0].buf->name, p->lost.why);
    else if (p->how->own_loops && fetches && ahead && kernel_has(k, ahead->needs))
        audit_note(k, AUDIT_COPY, s->span, "'%s' to '%s' is copied by the loops of all threads: %s",
                   r[0].buf->name, r[1].buf->name, p->why);
    else if (p->lost.how && !p->how->bulk)
        audit_note(k, AUDIT_COPY, s->span, "'%s' to '%s' is copied by %s, not by %s: %s",
                   r[0].buf->name, r[1].buf->name, p->how->name, p->lost.how->name, p->lost.why);
}

static bool see_tile(const Stmt *s, void *arg)
{
    Found *f = arg;

    if (s->kind != ST_TILE)
        return true;
    TilePlan *p = tile_plan(f->k, s);
    audit_tile(f->k, s, p);
    p->what = p->what ? p->what : tile_text(f->k, s);
    f->there[s->u.tile.id] = true;
    return true;
}

/* Passes took statements out, or put others in their place: those have no plan any more. */
static void forget_gone(Kernel *k)
{
    Found f = {k, NEWN(k->scratch, bool, k->ir->ntile + 1)};

    stmt_visit(k->body, see_tile, &f);
    for (int i = 0; i < k->tiles.n; i++)
        if (!f.there[i])
            k->tiles.at[i] = (TilePlan){.how = &mech_none};
}

void pass_lower_tiles(Kernel *k)
{
    forget_gone(k);
    k->body = group_map(k, k->body, lower, k);
}
