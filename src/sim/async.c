/* async.c -- work that goes on beside the threads: an agent, from when it is issued until it lands.
 *
 * When it lands its bytes complete, or it arrives, at its barrier in memory, and whoever waited for
 * that phase has seen it.  What it does then is its own (SimAgent.land): copies in bulk are in
 * target/NAME/sim.  Agents of one barrier land in the order in which they were issued; the others
 * when the schedule says. */
#include "sim/machine.h"

void agent_sees(Sim *m, SimAgent *a)
{
    const SimThread *t = m->self;

    if (!t->clock)
        return;
    uint32_t *clock = clock_new(m, t->nclock);
    memcpy(clock, t->clock, sizeof(uint32_t) * (size_t)t->nclock);
    a->clock = clock;
    a->nclock = t->nclock;
}

/* An arrival, at a barrier of that block, that comes when the MMAs which the thread has issued are
 * done. */
void commit_mmas(Sim *m, const Stmt *s, SimBarrier *bar, SimBlock *block)
{
    SimThread *t = m->self;
    SimAgent *a = NEW(m->arena, SimAgent);

    *a = (SimAgent){.s = s, .block = block, .bar = bar, .mmas = 1, .tick = t->mma_committed};
    agent_sees(m, a);
    if (t->clock) {
        a->mmas = agent_of_mmas(m, t);
        t->clock[t->actor]++;
    }
    threads_add_agent(m, a);
}

void agent_land(Sim *m, SimAgent *a)
{
    m->block = a->block;
    m->at = a->s;
    block_must_live(m, a->s, a->block);
    a->bar->next_ready = MAX(a->bar->next_ready, a->lands);
    if (a->mmas) {
        barrier_arrive_for(m, a->s, a->bar, a->clock, a->nclock, a->mmas, a->tick);
        return;
    }
    a->land(m, a);
    barrier_complete(m, a->bar, a->bytes, a->clock, a->nclock, a->tick);
}

/* Those of one barrier land in order, and so do the arrivals for one thread's MMAs. */
bool agent_may_land(SimAgent *const *list, int i)
{
    for (int j = 0; j < i; j++)
        if (list[j]->bar == list[i]->bar || (list[i]->mmas && list[j]->mmas == list[i]->mmas))
            return false;
    return true;
}

/* The shared memory of a block must outlive the copies out of it, and a warpgroup its MMAs. */
void agents_at_exit(Sim *m)
{
    const SimThread *t = m->self;
    const Stmt *s = t->stores_open ? t->stores_open : t->stores_issued;
    if (s)
        sim_fail(m, s, "the thread ends while this copy may still be reading shared memory: no "
                 "%s covers it [missing-wait]", intrin_table[INTRIN_WAIT_STORES].word);
    if (t->mma_open)
        sim_fail(m, t->mma_open, "the thread ends and this MMA was never committed and "
                 "waited for [missing-wait]");
}
