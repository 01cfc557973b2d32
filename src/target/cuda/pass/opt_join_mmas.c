/* opt_join_mmas.c -- MMAs that add up with nothing between them are waited for once.
 *
 * The scores of attention from two pairs of tiles, say.
 *
 * A wait that the kernel wrote itself, and that leaves some in flight, does not say which results
 * are there after it.  Here it is still to be seen: those of the groups before.  Waits for all get
 * theirs in lower_sync. */
#include "pass/pass.h"

static bool is_call(const Stmt *s, Intrin which)
{
    return s->kind == ST_CALL && s->u.call.which == which;
}

static bool is_mma(const Stmt *s)
{
    return s->kind == ST_INSTR && isa_is_mma(s->u.instr.isa);
}

/* Do both add to the same registers, by one shape of instruction? */
static bool goes_on(const Stmt *a, const Stmt *b)
{
    const Region *x = a->u.instr.region, *y = b->u.instr.region;

    return x[2].buf == y[2].buf && x[0].buf->type == y[0].buf->type &&
           x[2].extent[x[2].buf->rank - 1] == y[2].extent[y[2].buf->rank - 1];
}

/* At list[i]: the end of an MMA and the wait for it, just before one that adds to its result. */
static bool ends_between(const Stmt *const *list, int n, int i)
{
    return i > 0 && i + 3 < n && is_mma(list[i - 1]) && stmt_commits(list[i], QUEUE_MMA) &&
           stmt_waits(list[i + 1], QUEUE_MMA) && expr_is_zero(list[i + 1]->u.call.arg[0]) &&
           is_call(list[i + 2], INTRIN_SETTLE) && is_mma(list[i + 3]) &&
           goes_on(list[i - 1], list[i + 3]);
}

static const Stmt *join(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt **list;
    int n = 0;

    (void)arg;
    if (s->kind != ST_BLOCK)
        return s;
    list = NEWN(ir->arena, const Stmt *, s->u.block.n);
    for (int i = 0; i < s->u.block.n; i++) {
        if (ends_between(s->u.block.list, s->u.block.n, i))
            i += 2;
        else
            list[n++] = s->u.block.list[i];
    }
    return n < s->u.block.n ? stmt_block(ir, s->span, n, list) : s;
}

typedef struct {
    Ir *ir;
    Region *r;
    int n, nmma;
} Results;

static bool add_result(const Stmt *s, void *arg)
{
    Results *q = arg;

    if (!is_mma(s) || s->u.instr.isa->done != DONE_BY_GROUP)
        return true;
    for (int j = 0; j < s->u.instr.nregion; j++) { /* operands in registers, too */
        Buffer *b = s->u.instr.region[j].buf;
        bool known = b->scope != MEM_FRAGMENT;
        for (int i = 0; i < q->n; i++)
            known |= q->r[i].buf == b;
        if (!known)
            q->r[q->n++] = region_whole(q->ir, b);
    }
    return true;
}

static bool count_mma(const Stmt *s, void *arg)
{
    ((Results *)arg)->nmma += is_mma(s);
    return true;
}

/* Results of the groups before list[i], but for the last `open` of them. */
static void results_before(Results *q, const Stmt *const *list, int i, int64_t open)
{
    int64_t groups = 0;

    while (i-- > 0) {
        const Stmt *s = list[i];
        q->nmma = 0;
        stmt_visit(s, count_mma, q);
        if ((q->nmma && !is_mma(s)) || /* how many groups are in it? */
            (stmt_waits(s, QUEUE_MMA) && expr_is_zero(s->u.call.arg[0])))
            break;
        groups += stmt_commits(s, QUEUE_MMA);
        if (groups > open)
            stmt_visit(s, add_result, q);
    }
}

static const Stmt *name_results(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind != ST_BLOCK)
        return s;
    int n = s->u.block.n;
    bool changed = false;
    Results nmma = {.ir = ir};
    stmt_visit(s, count_mma, &nmma);
    const Stmt **list = NEWN(ir->arena, const Stmt *, MAX(n, 1));
    for (int i = 0; i < n; i++) {
        int64_t open = 0;
        list[i] = s->u.block.list[i];
        if (!stmt_waits(list[i], QUEUE_MMA) || list[i]->u.call.nregion ||
            !expr_is_int(list[i]->u.call.arg[0], &open) || open == 0)
            continue;
        Results q = {.ir = ir, .r = NEWN(ir->arena, Region, 2 * MAX(nmma.nmma, 1))};
        results_before(&q, s->u.block.list, i, open);
        changed |= q.n > 0;
        list[i] = stmt_wait(ir, list[i]->span, QUEUE_MMA, open, q.n, q.r);
    }
    return changed ? stmt_block(ir, s->span, n, list) : s;
}

void pass_opt_join_mmas(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, join, NULL);
    k->body = stmt_map(k->ir, k->body, name_results, NULL);
}
