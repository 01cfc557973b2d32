/* race.c -- data races between the threads of a block, by vector clocks.
 *
 * Thread t carries a clock: clock[u] is how far of thread u's work t has seen.  A barrier joins the
 * clocks of those that meet and each goes on with a new tick; an mbarrier or named barrier keeps a
 * clock of its own that arrivals join and waiters take.  Every element of shared memory remembers
 * its last write and its reads since; an access that does not see the other party's tick is a race,
 * reported with both statements.  Lanes of a warp are threads like any others: only barriers and
 * warp syncs order them.  Two writes of the same value at once are let pass: nobody can tell. */
#include "sim/machine.h"

typedef struct {
    int32_t thread;   /* -1: none yet */
    uint32_t tick;
    const Stmt *at;
} Party;

struct SimShadow {
    int nthread;
    Party *write;     /* by element */
    Party *read;      /* the last reader, or thread -2: `reads` has them all */
    uint32_t **reads; /* by element: last tick of each reader, NULL until two have read */
    uint8_t *flight;  /* by element: a copy by `write` has not been waited for; NULL: none yet */
    int64_t nelem;
};

enum { NOBODY = -1, MANY = -2 };

SimShadow *shadow_new(Sim *m, int64_t nelem, int nthread)
{
    SimShadow *s = NEW(m->arena, SimShadow);
    s->nthread = nthread;
    s->nelem = nelem;
    s->write = NEWN(m->arena, Party, nelem + 1);
    s->read = NEWN(m->arena, Party, nelem + 1);
    s->reads = NEWN(m->arena, uint32_t *, nelem + 1);
    for (int64_t i = 0; i <= nelem; i++)
        s->write[i].thread = s->read[i].thread = NOBODY;
    return s;
}

uint32_t *clock_new(Sim *m, int nthread)
{
    return NEWN(m->arena, uint32_t, nthread + 1);
}

void clock_join(uint32_t *into, const uint32_t *from, int nthread)
{
    for (int i = 0; i < nthread; i++)
        if (from[i] > into[i])
            into[i] = from[i];
}

/* All members have seen all that any of them had, and start a new tick. */
void clock_meet(SimThread *const *member, int n)
{
    int nthread = n ? member[0]->nclock : 0;

    if (n == 0 || !member[0]->clock)
        return;
    for (int i = 1; i < n; i++)
        clock_join(member[0]->clock, member[i]->clock, nthread);
    for (int i = 1; i < n; i++)
        memcpy(member[i]->clock, member[0]->clock, sizeof(uint32_t) * (size_t)nthread);
    for (int i = 0; i < n; i++)
        member[i]->clock[member[i]->index]++;
}

void clock_release(SimThread *t, uint32_t *barrier)
{
    clock_join(barrier, t->clock, t->nclock);
    t->clock[t->index]++;
}

static NORETURN void report(Sim *m, const SimMem *mem, const Party *other, const char *they,
                            const char *we)
{
    SimThread *t = m->self;
    Str text;

    str_init(&text, m->arena);
    str_printf(&text,
               "threads %d and %d race on '%s': one %s, the other %s, and no barrier orders them",
               t->index, other->thread, mem->buf->name, we, they);
    diag_error(m->diag, m->at ? m->at->span : NO_SPAN, "%s [data-race]", text.s);
    if (other->at)
        diag_note(m->diag, other->at->span, "thread %d %s it here", other->thread, they);
    sim_give_up(m);
}

static bool unseen(const SimThread *t, int thread, uint32_t tick)
{
    return thread != t->index && tick > t->clock[thread];
}

static void check_landed(Sim *m, const SimMem *mem, int64_t i, const char *we)
{
    const SimShadow *s = mem->shadow;

    if (!s->flight || !s->flight[i])
        return;
    const Party *w = &s->write[i];
    diag_error(m->diag, m->at ? m->at->span : NO_SPAN,
               "thread %d %s '%s', and a copy into it by thread %d is not waited for [data-race]",
               m->self->index, we, mem->buf->name, w->thread);
    if (w->at)
        diag_note(m->diag, w->at->span, "the copy starts here");
    sim_give_up(m);
}

void race_read(Sim *m, const SimMem *mem, int64_t i)
{
    SimShadow *s = mem->shadow;
    SimThread *t = m->self;
    Party *w = &s->write[i], *r = &s->read[i];

    check_landed(m, mem, i, "reads");
    if (w->thread >= 0 && unseen(t, w->thread, w->tick))
        report(m, mem, w, "writes", "reads");
    uint32_t tick = t->clock[t->index];
    if (r->thread == NOBODY || r->thread == t->index) {
        *r = (Party){t->index, tick, m->at};
        return;
    }
    if (r->thread != MANY) {
        if (!s->reads[i])
            s->reads[i] = clock_new(m, s->nthread);
        s->reads[i][r->thread] = r->tick;
        *r = (Party){MANY, 0, m->at};
    }
    s->reads[i][t->index] = tick;
}

void race_write(Sim *m, const SimMem *mem, int64_t i, bool same_value)
{
    SimShadow *s = mem->shadow;
    SimThread *t = m->self;
    Party *w = &s->write[i], *r = &s->read[i];

    check_landed(m, mem, i, "writes");
    if (w->thread >= 0 && unseen(t, w->thread, w->tick) && !same_value)
        report(m, mem, w, "writes", "writes");
    if (r->thread >= 0 && unseen(t, r->thread, r->tick) && !same_value)
        report(m, mem, r, "reads", "writes");
    if (r->thread == MANY) {
        for (int u = 0; u < s->nthread; u++) {
            Party p = {u, s->reads[i][u], r->at};
            if (p.tick && unseen(t, u, p.tick) && !same_value)
                report(m, mem, &p, "reads", "writes");
        }
        memset(s->reads[i], 0, sizeof(uint32_t) * (size_t)s->nthread);
    }
    r->thread = NOBODY;
    *w = (Party){t->index, t->clock[t->index], m->at};
}

void race_issue(Sim *m, const SimMem *mem, int64_t i)
{
    SimShadow *s = mem->shadow;

    race_write(m, mem, i, false);
    if (!s->flight)
        s->flight = NEWN(m->arena, uint8_t, s->nelem + 1);
    s->flight[i] = 1;
}

void race_land(Sim *m, const SimMem *mem, int64_t i)
{
    mem->shadow->flight[i] = 0;
    mem->shadow->write[i].tick = m->self->clock[m->self->index];
}
