/* flight.c -- registers of MMAs in flight: issued, committed in groups, waited for.
 *
 * From its issue until its thread has waited for its group an MMA has its registers: those of C may
 * not be touched and those of A not written.  Registers that ordinary code touched need
 * warpgroup_arrive before the next MMA that uses them. */
#include "sim/machine.h"

/* What a register is doing, and in which group, or before which fence it was touched. */
static const uint32_t AS_C = 1u << 30, AS_A = 2u << 30, TOUCHED = 3u << 30, WHAT = 3u << 30;

static NORETURN void fail_register(Sim *m, const SimMem *mem, const char *does, const char *role)
{
    const SimFlight *f = mem->flight;
    diag_error(m->diag, m->at ? m->at->span : NO_SPAN,
               "thread %d %s '%s' while a %s %s it: no %s covers that MMA yet [missing-wait]",
               f->thread->index, does, mem->buf->name,
               f->issued ? f->issued->u.instr.isa->name : "matrix instruction", role,
               intrin_table[INTRIN_WAIT_MMA].word);
    if (f->issued)
        diag_note(m->diag, f->issued->span, "it is issued here");
    sim_give_up(m);
}

void register_touch(Sim *m, const SimMem *mem, int64_t i, bool write)
{
    SimFlight *f = mem->flight;
    const SimThread *t = f->thread;
    uint32_t *slot = &f->slot[i], what = *slot & WHAT, group = *slot & ~WHAT;
    if (what == AS_C && group > t->mma_done)
        fail_register(m, mem, write ? "writes" : "reads", "may still be writing");
    if (what == AS_A && group > t->mma_done) {
        if (write)
            fail_register(m, mem, "writes", "may still be reading");
        return;
    }
    *slot = TOUCHED | t->mma_fence;
}

/* An MMA takes the register: settled by a fence, and not the result of one under way. */
void register_take(Sim *m, const Stmt *s, const SimMem *mem, int64_t i, bool result)
{
    SimFlight *f = mem->flight;
    uint32_t as = result ? AS_C : AS_A;
    if (!f)
        return;
    const SimThread *t = f->thread;
    uint32_t *slot = &f->slot[i], what = *slot & WHAT, group = *slot & ~WHAT;
    if (t->mma_fence == 0 || (what == TOUCHED && group == t->mma_fence))
        sim_fail(m, s, "'%s' was touched by ordinary code and no %s is between that and this %s "
                 "[missing-fence]", mem->buf->name, intrin_table[INTRIN_SETTLE].word,
                 s->u.instr.isa->name);
    if (what != TOUCHED && what != as && group > t->mma_done)
        fail_register(m, mem, "hands on", as == AS_A ? "may still be writing"
                                                      : "may still be reading");
    if (m->o.needed && what == TOUCHED && group + 1 == t->mma_fence)
        map_set(m->o.needed, t->fence_at, t->fence_at);
    *slot = as | (t->mma_committed + 1);
    f->issued = s;
}

/* ---- groups ---------------------------------------------------------------------------------- */

Value1 exec_mma(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    if (t == NULL)
        return NO_VALUE;
    switch (s->u.call.which) {
    case INTRIN_SETTLE:
        if (m->o.needed && t->mma_fence == 0)
            map_set(m->o.needed, s, s);
        t->mma_fence++;
        t->fence_at = s;
        break;
    case INTRIN_COMMIT_MMA:
        t->mma_committed++;
        t->mma_open = NULL;
        break;
    default: {
        int64_t left = s->u.call.n ? eval(m, s->u.call.arg[0]).i : 0;
        if (left < t->mma_committed)
            t->mma_done = MAX(t->mma_done, t->mma_committed - (uint32_t)left);
        if (t->clock)
            t->clock[agent_of_warp(m, t)] = MAX(t->clock[agent_of_warp(m, t)], t->mma_done);
    }
    }
    return NO_VALUE;
}
