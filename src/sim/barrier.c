/* barrier.c -- barriers in memory: arrivals and transaction bytes; barriers of a cluster.
 *
 * A phase is over when no arrival is missing and no announced byte is under way.  Arrivals join
 * `next`; what it holds when the phase is over is what waiters take. */
#include "sim/machine.h"

static int64_t arg_int(Sim *m, const Stmt *s, int i, int64_t otherwise)
{
    return i >= 0 && i < s->u.call.n && s->u.call.arg[i] ? eval(m, s->u.call.arg[i]).i : otherwise;
}

SimBarrier *barrier_at(Sim *m, SimBlock *blk, const Stmt *s, const Buffer *b, int64_t i)
{
    SimBarrier *all = blk->barrier[b->id];
    if (all == NULL)
        sim_fail(m, s, "'%s' is not a barrier [barrier-scope]", b->name);
    if (i < 0 || i >= MAX(1, blk->mem[b->id]->nelem))
        sim_fail(m, s, "barrier %s[%lld] does not exist [out-of-bounds]", b->name, (long long)i);
    return &all[i];
}

int64_t barrier_index(Sim *m, const Region *r)
{
    int64_t i = 0;
    for (int d = 0; d < r->buf->rank; d++)
        i = i * eval(m, r->buf->shape[d]).i + eval(m, r->at[d]).i;
    return i;
}

void block_must_live(Sim *m, const Stmt *s, const SimBlock *b)
{
    int each = b->cluster->nthread / b->cluster->nblock;

    for (int i = 0; i < each; i++)
        if (m->paired || !b->cluster->thread[b->rank * each + i]->done)
            return;
    sim_fail(m, s, "this reaches block %d of the cluster, whose threads have all ended: blocks "
             "must wait for each other (T.cluster_sync) before they end [block-gone]", b->rank);
}

SimBlock *pair_block(Sim *m, const Stmt *s, int which)
{
    const SimCluster *c = m->block->cluster;

    if (!c || c->nblock != 2)
        sim_fail(m, s, "this is done by two blocks together, in a cluster of two [cluster-pair]");
    return c->block[which];
}

SimRegion sim_pair_region(Sim *m, const Stmt *at, const Region *r, int which)
{
    SimRegion out = sim_region(m, at, r);
    SimBlock *of = pair_block(m, at, which);

    if (m->block->rank != 0)
        sim_fail(m, at, "the second of two blocks issues what they do together; the first one "
                 "has to [cluster-pair]");
    if (of != m->block)
        out.mem = block_mem(m, of, r->buf);
    return out;
}

/* The barrier a call names: an element of a barrier buffer, as a region or as its first argument;
 * in the block of a peer where the call names one. */
static SimBarrier *barrier_of(Sim *m, const Stmt *s, int *next_arg)
{
    const Buffer *b;
    int64_t i;
    SimBlock *blk = m->block;
    *next_arg = 0;
    if (s->u.call.nregion > 0) {
        b = s->u.call.region[0].buf;
        i = barrier_index(m, &s->u.call.region[0]);
    } else {
        const Expr *e = s->u.call.n > 0 ? s->u.call.arg[0] : NULL;
        BUG(e == NULL || (e->op != EX_LOAD && e->op != EX_ADDR), "%s without a barrier",
            intrin_table[s->u.call.which].name);
        b = e->u.buf;
        i = e->nkid ? eval(m, e->kid[0]).i : 0;
        *next_arg = 1;
    }
    if (s->u.call.which == INTRIN_ARRIVE && s->u.call.n > *next_arg && blk->cluster) {
        int64_t peer = arg_int(m, s, *next_arg, 0);
        if (peer < 0 || peer >= blk->cluster->nblock)
            sim_fail(m, s, "block %lld of a cluster of %d [out-of-bounds]", (long long)peer,
                     blk->cluster->nblock);
        blk = blk->cluster->block[peer];
        block_must_live(m, s, blk);
    }
    return barrier_at(m, blk, s, b, i);
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void settle(Sim *m, SimBarrier *bar)
{
    if (bar->pending > 0 || bar->tx != 0)
        return;
    bar->phase++;
    bar->pending = bar->expect;
    bar->ready = bar->next_ready;
    if (!bar->next)
        return;
    int n = bar->nclock;
    if (!bar->clock)
        bar->clock = clock_new(m, n);
    memcpy(bar->clock, bar->next, sizeof(uint32_t) * (size_t)n);
}

static uint32_t *next_clock(Sim *m, SimBarrier *bar, int nclock)
{
    bar->nclock = nclock;
    if (!bar->next)
        bar->next = clock_new(m, nclock);
    return bar->next;
}

static NORETURN void fail_count(Sim *m, const Stmt *s, const SimBarrier *bar)
{
    sim_fail(m, s, "%s[%lld] gets more arrivals than its count of %lld [barrier-count]",
             bar->buf ? bar->buf->name : "the cluster", (long long)bar->i,
             (long long)bar->expect);
}

static void arrive(Sim *m, const Stmt *s, SimBarrier *bar, int64_t bytes)
{
    if (bar->pending <= 0)
        fail_count(m, s, bar);
    if (bytes < 0)
        sim_fail(m, s, "a barrier cannot expect %lld bytes [barrier-bytes]", (long long)bytes);
    if (m->o.needed)
        vec_push(m->arena, &m->arrivals, ((SimArrival){s, bar, bar->phase}));
    bar->tx += bytes;
    bar->pending--;
    if (m->self)
        bar->next_ready = MAX(bar->next_ready, m->self->time);
    if (m->self && m->self->clock)
        clock_release(m->self, next_clock(m, bar, m->self->nclock));
    settle(m, bar);
}

/* Bytes of a copy have landed; it was issued by a thread that had seen `clock`. */
void barrier_complete(Sim *m, SimBarrier *bar, int64_t bytes, const uint32_t *clock, int nclock,
                      uint32_t tick)
{
    if (clock) {
        uint32_t *next = next_clock(m, bar, nclock);
        clock_join(next, clock, nclock);
        next[bar->agent] = MAX(next[bar->agent], tick);
    }
    bar->tx -= bytes;
    settle(m, bar);
}

/* An arrival for work of `agent`, by a thread that had seen `clock` when it asked for it. */
void barrier_arrive_for(Sim *m, const Stmt *s, SimBarrier *bar, const uint32_t *clock, int nclock,
                        int agent, uint32_t tick)
{
    if (bar->pending <= 0)
        fail_count(m, s, bar);
    if (clock) {
        uint32_t *next = next_clock(m, bar, nclock);
        clock_join(next, clock, nclock);
        next[agent] = MAX(next[agent], tick);
    }
    bar->pending--;
    settle(m, bar);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Arrivals for MMAs: at the same barrier of each block that is told. */
static SimBarrier *told(Sim *m, const Stmt *s, int which, SimBlock **block)
{
    const Region *r = &s->u.call.region[0];

    *block = call_mma_blocks(s) > 1 ? pair_block(m, s, which) : m->block;
    return barrier_at(m, *block, s, r->buf, barrier_index(m, r));
}

static void commit_at(Sim *m, const Stmt *s)
{
    SimBlock *block;

    m->self->mma_committed++;
    for (int i = 0; i < call_mma_blocks(s); i++) {
        SimBarrier *bar = told(m, s, i, &block);
        commit_mmas(m, s, bar, block);
    }
    m->self->mma_open = NULL;
}

static void arrive_once(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    SimBlock *block;

    (void)member;
    (void)n;
    for (int i = 0; i < call_mma_blocks(s); i++)
        arrive(m, s, told(m, s, i, &block), 0);
}

/* Before FORM_TOKENS copies are done when they are issued: their bytes have landed.  What the
 * launch answers, and what instructions written by hand load, comes later in every form. */
static bool counts_bytes(const Sim *m, const SimBarrier *bar)
{
    return m->k->form & FORM_TOKENS || m->answered[bar->buf->id];
}

Value1 exec_barrier(Sim *m, const Stmt *s)
{
    int next;
    copy_wait_all(m);
    SimBarrier *bar = barrier_of(m, s, &next);
    switch (s->u.call.which) {
    case INTRIN_WAIT_PHASE:
        if (m->self)
            threads_wait_phase(m, bar, arg_int(m, s, next, 0));
        if (m->o.needed && bar->phase > 0)
            map_set(m->o.needed, s, (void *)s);
        break;
    case INTRIN_ARRIVE_MMA:
        commit_at(m, s);
        break;
    case INTRIN_EXPECT_BYTES:
        if (counts_bytes(m, bar))
            bar->tx += arg_int(m, s, next, 0);
        break;
    case INTRIN_ARRIVE_BYTES:
        arrive(m, s, bar, counts_bytes(m, bar) ? arg_int(m, s, next, 0) : 0);
        break;
    default:
        /* MMAs are issued by the whole role, and it arrives once for them. */
        if (call_mma_blocks(s) && m->self)
            threads_sync(m, s, SYNC_ROLE, arrive_once);
        else
            arrive(m, s, bar, 0);
    }
    return NO_VALUE;
}

void barriers_at_end(Sim *m)
{
    for (int i = 0; i < m->arrivals.n; i++) {
        const SimArrival *a = &m->arrivals.at[i];
        if (a->phase < a->bar->waited)
            map_set(m->o.needed, a->s, (void *)a->s);
    }
    m->arrivals.n = m->arrivals.cap = 0; /* their memory goes with the blocks */
}

/* A cluster's barrier is a barrier in memory of all its threads, phase after phase. */
Value1 exec_cluster(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    if (t == NULL || m->block->cluster->nblock == 1)
        return NO_VALUE;
    SimBarrier *bar = &m->block->cluster->barrier;
    if (s->u.call.which != INTRIN_CLUSTER_WAIT) {
        t->cluster_arrived = bar->phase + 1;
        arrive(m, s, bar, 0);
    }
    if (s->u.call.which != INTRIN_CLUSTER_ARRIVE)
        threads_wait_phase(m, bar, t->cluster_phase++);
    return NO_VALUE;
}

/* A thread that has left is not waited for. */
void cluster_at_exit(Sim *m)
{
    SimCluster *c = m->block->cluster;
    if (!c || c->nblock == 1)
        return;
    c->barrier.expect--;
    if (m->self->cluster_arrived <= c->barrier.phase)
        c->barrier.pending--;
    if (c->barrier.expect > 0)
        settle(m, &c->barrier);
}
