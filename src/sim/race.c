/* race.c -- who may touch shared memory when: vector clocks of threads and of asynchronous agents.
 *
 * Every thread of the blocks that run together is an actor, and so is every agent: the copies that
 * complete at one barrier in memory, the copies out that one thread issued, the MMAs of one
 * warpgroup.  Thread t carries a clock: clock[u] is how far of actor u's work t has seen.  A
 * barrier joins the clocks of those that synchronise and each goes on with a new tick; a barrier in
 * memory or a named one keeps a clock of its own that arrivals join and waiters take.
 *
 * Shared memory is watched in grains, as small as its smallest element.  Each remembers its last
 * write and the reads since; an access that has not seen the other party's tick is a race, reported
 * with both statements.  What an agent does is checked with the clock of the thread that issues it
 * and remembered under the agent's name: whoever touches the memory next must have waited for the
 * agent.  Lanes of a warp are threads like any others: only barriers and warp syncs order them.
 * Two writes of the same value at once are let pass: nobody can tell.
 *
 * The async proxy (bulk copies, warpgroup MMAs) sees what ordinary stores wrote, or writes over
 * it, only after the writer ran fence_proxy_async and that fence was ordered before the access.  So
 * it is with what threads read and a bulk copy writes over: a barrier does not wait for their
 * loads. */
#include "sim/machine.h"

typedef struct {
    int32_t actor;    /* NOBODY, or MANY: `reads` has them all */
    uint32_t tick;
} Party;

typedef struct { /* side by side: an access asks for both */
    Party write, read;
} Grain;

typedef struct { /* for reports; of reads of MANY: the second of them */
    const Stmt *write, *read;
} Deeds;

/* A thread reads neighbours one after the other, so their ticks lie together: for each RUN grains
 * a table of RUN ticks per actor. */
enum { RUN = 16 };

struct SimShadow {
    int nactor;
    int shift;        /* log2 of the bits of a grain */
    Grain *grain;
    Deeds *at;        /* by grain */
    uint32_t **reads; /* by run: last tick of each reader; NULL until two have read one of it */
};

enum { NOBODY = -1, MANY = -2 };

SimShadow *shadow_new(Sim *m, int64_t nbytes, int grain, int nactor)
{
    SimShadow *s = NEW(m->arena, SimShadow);
    s->nactor = nactor;
    while (grain >> s->shift > 1)
        s->shift++;
    int64_t n = (nbytes * 8 >> s->shift) + 1;
    s->grain = NEWN(m->arena, Grain, n);
    s->at = NEWN(m->arena, Deeds, n);
    s->reads = NEWN(m->arena, uint32_t *, n / RUN + 1);
    for (int64_t i = 0; i < n; i++)
        s->grain[i].write.actor = s->grain[i].read.actor = NOBODY;
    return s;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

uint32_t *clock_new(Sim *m, int nactor)
{
    return NEWN(m->arena, uint32_t, nactor + 1);
}

void clock_join(uint32_t *into, const uint32_t *from, int nactor)
{
    for (int i = 0; i < nactor; i++)
        into[i] = from[i] > into[i] ? from[i] : into[i];
}

/* All members have seen all that any of them had, and start a new tick. */
void clock_join_all(SimThread *const *member, int n)
{
    if (n == 0 || !member[0]->clock)
        return;
    for (int i = 1; i < n; i++)
        if (member[i]->nclock == member[0]->nclock)
            clock_join(member[0]->clock, member[i]->clock, member[0]->nclock);
    for (int i = 1; i < n; i++)
        memcpy(member[i]->clock, member[0]->clock, sizeof(uint32_t) * (size_t)member[0]->nclock);
    for (int i = 0; i < n; i++)
        member[i]->clock[member[i]->actor]++;
}

/* What every one of them has seen. */
const uint32_t *clock_common(Sim *m, SimThread *const *member, int n)
{
    int nactor = member[0]->nclock;
    uint32_t *c = sim_alloc(m, sizeof(uint32_t) * (size_t)(nactor + 1));
    memcpy(c, member[0]->clock, sizeof(uint32_t) * (size_t)nactor);
    for (int i = 1; i < n; i++)
        for (int j = 0; j < nactor; j++)
            c[j] = member[i]->clock[j] < c[j] ? member[i]->clock[j] : c[j];
    return c;
}

void clock_release(SimThread *t, uint32_t *barrier)
{
    clock_join(barrier, t->clock, t->nclock);
    t->clock[t->actor]++;
}

/* ---- reports --------------------------------------------------------------------------------- */

typedef enum { READS, WRITES } Deed;

static const char *const deeds[] = {"reads", "writes"};
static const char *const doing[] = {"reading", "writing"};

static const char *agent_name(const Stmt *at)
{
    return at && at->kind == ST_INSTR ? at->u.instr.isa->name : "copy";
}

static NORETURN void report(Sim *m, const SimMem *mem, const Party *other, const Stmt *theirs,
                            Deed they, const Accessor *by, Deed we)
{
    int nthread = m->block->cluster->nthread, each = nthread / m->block->cluster->nblock;
    bool other_agent = other->actor >= nthread || other->tick == IN_FLIGHT;
    Span at = m->at ? m->at->span : NO_SPAN;
    const char *name = mem->buf->name;

    if (other_agent && by->actor >= nthread)
        diag_error(m->diag, at, "this %s %s '%s' while an earlier %s may still be %s it: nothing "
                   "before it waits for that [missing-wait]", agent_name(m->at), deeds[we], name,
                   agent_name(theirs), doing[they]);
    else if (other_agent)
        diag_error(m->diag, at, "thread %d %s '%s' while the %s below may still be %s it: it has "
                   "not waited for that [missing-wait]", by->actor % each, deeds[we], name,
                   agent_name(theirs), doing[they]);
    else if (by->actor >= nthread)
        diag_error(m->diag, at, "this %s %s '%s', which thread %d %s: no barrier orders them "
                   "[data-race]", agent_name(m->at), deeds[we], name, other->actor % each,
                   deeds[they]);
    else
        diag_error(m->diag, at, "threads %d and %d race on '%s': one %s, the other %s, and no "
                   "barrier orders them [data-race]", by->actor % each, other->actor % each, name,
                   deeds[we], deeds[they]);
    if (theirs && other_agent)
        diag_note(m->diag, theirs->span, "it is issued here");
    else if (theirs)
        diag_note(m->diag, theirs->span, "thread %d %s it here", other->actor % each,
                  deeds[they]);
    sim_give_up(m);
}

/* The fence that covers a tick is the first one at or after it. */
static bool fenced(const SimThread *writer, const Party *w, const Accessor *by)
{
    for (int i = writer->fences.n - 1; i >= 0 && writer->fences.at[i] >= w->tick; i--)
        if (by->clock[w->actor] > writer->fences.at[i])
            return true;
    return false;
}

static void need_fence(Sim *m, const SimMem *mem, const Party *w, const Stmt *theirs, Deed they,
                       const Accessor *by, Deed we)
{
    const SimCluster *c = m->block->cluster;
    if (!by->async || !m->proxies || w->actor < 0 || w->actor >= c->nthread ||
        fenced(c->thread[w->actor], w, by))
        return;
    diag_error(m->diag, m->at ? m->at->span : NO_SPAN,
               "this %s %s '%s', which %s: their threads must run fence_proxy_async before the "
               "barrier in between [missing-fence]", agent_name(m->at), deeds[we], mem->buf->name,
               they == WRITES ? "ordinary stores wrote" : "ordinary loads read");
    if (theirs)
        diag_note(m->diag, theirs->span, "thread %d %s it here", w->actor % c->nthread,
                  deeds[they]);
    sim_give_up(m);
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* MMAs of a warpgroup are over when each of its warps has waited for them. */
static bool seen_of_warps(const Sim *m, const Party *p, const Accessor *by)
{
    const SimCluster *c = m->block->cluster;
    int i = p->actor - c->nthread, agents = group_agents(m);
    if (i < 0 || i % c->stride >= c->ngroup * agents || i % c->stride % agents != 0)
        return false;
    for (int w = 1; w < agents; w++)
        if (p->tick > by->clock[p->actor + w])
            return false;
    return true;
}

static inline bool seen(const Sim *m, const Party *p, const Accessor *by)
{
    return p->actor < 0 || p->tick <= by->clock[p->actor] || seen_of_warps(m, p, by);
}

/* Ticks of the readers of grain g; that of actor u is at u * RUN. */
static inline uint32_t *reads_of(Sim *m, SimShadow *s, int64_t g)
{
    if (!s->reads[g / RUN])
        s->reads[g / RUN] = clock_new(m, s->nactor * RUN);
    return s->reads[g / RUN] + g % RUN;
}

static void grain_read(Sim *m, const SimMem *mem, int64_t g, const Accessor *by)
{
    SimShadow *s = mem->shadow;
    Party *w = &s->grain[g].write, *r = &s->grain[g].read;

    if (!seen(m, w, by))
        report(m, mem, w, s->at[g].write, WRITES, by, READS);
    if (by->async)
        need_fence(m, mem, w, s->at[g].write, WRITES, by, READS);
    if (r->actor == NOBODY || r->actor == by->actor) {
        *r = (Party){by->actor, by->tick};
        s->at[g].read = m->at;
        return;
    }
    uint32_t *reads = reads_of(m, s, g);
    if (r->actor != MANY) {
        reads[r->actor * RUN] = r->tick;
        *r = (Party){MANY, 0};
        s->at[g].read = m->at;
    }
    reads[by->actor * RUN] = by->tick;
}

static void grain_write(Sim *m, const SimMem *mem, int64_t g, const Accessor *by, bool same_value)
{
    SimShadow *s = mem->shadow;
    Party *w = &s->grain[g].write, *r = &s->grain[g].read;
    Deeds *at = &s->at[g];

    if (!seen(m, w, by) && (!same_value || w->tick == IN_FLIGHT))
        report(m, mem, w, at->write, WRITES, by, WRITES);
    need_fence(m, mem, w, at->write, WRITES, by, WRITES);
    if (!seen(m, r, by) && !same_value)
        report(m, mem, r, at->read, READS, by, WRITES);
    need_fence(m, mem, r, at->read, READS, by, WRITES);
    if (r->actor == MANY) {
        uint32_t *reads = reads_of(m, s, g);
        for (int u = 0; u < s->nactor; u++) {
            Party p = {u, reads[u * RUN]};
            if (!p.tick)
                continue;
            if (!seen(m, &p, by) && !same_value)
                report(m, mem, &p, at->read, READS, by, WRITES);
            need_fence(m, mem, &p, at->read, READS, by, WRITES);
            reads[u * RUN] = 0;
        }
    }
    r->actor = NOBODY;
    *w = (Party){by->actor, by->tick};
    at->write = m->at;
}

/* The grains of element i: the first, and how many. */
static inline int64_t grains_of(const SimMem *mem, int64_t i, int64_t *first)
{
    int64_t bits = dtype_table[mem->type].bits;
    int64_t low = mem->shadow_at * 8 + i * bits;
    *first = low >> mem->shadow->shift;
    return ((low + bits - 1) >> mem->shadow->shift) - *first + 1;
}

void shadow_read(Sim *m, const SimMem *mem, int64_t i, const Accessor *by)
{
    int64_t g, n = grains_of(mem, i, &g);
    for (int64_t j = 0; j < n; j++)
        grain_read(m, mem, g + j, by);
}

void shadow_write(Sim *m, const SimMem *mem, int64_t i, const Accessor *by, bool same_value)
{
    int64_t g, n = grains_of(mem, i, &g);
    for (int64_t j = 0; j < n; j++)
        grain_write(m, mem, g + j, by, same_value);
}

void race_read(Sim *m, const SimMem *mem, int64_t i)
{
    const SimThread *t = m->self;
    shadow_read(m, mem, i, &(Accessor){t->actor, t->clock[t->actor], t->clock, false});
}

void race_write(Sim *m, const SimMem *mem, int64_t i, bool same_value)
{
    const SimThread *t = m->self;
    shadow_write(m, mem, i, &(Accessor){t->actor, t->clock[t->actor], t->clock, false},
                 same_value);
}

/* An asynchronous store of the running thread: nobody has seen it, the thread itself included. */
void race_issue(Sim *m, const SimMem *mem, int64_t i)
{
    const SimThread *t = m->self;
    shadow_write(m, mem, i, &(Accessor){t->actor, IN_FLIGHT, t->clock, false}, false);
}

/* It has landed: an ordinary write of the thread from here on. */
void race_land(Sim *m, const SimMem *mem, int64_t i)
{
    const SimThread *t = m->self;
    int64_t g, n = grains_of(mem, i, &g);
    for (int64_t j = 0; j < n; j++) {
        Party *w = &mem->shadow->grain[g + j].write;
        if (w->actor == t->actor && w->tick == IN_FLIGHT)
            w->tick = t->clock[t->actor];
    }
}
