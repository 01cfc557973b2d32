/* global.c -- races on global memory, between blocks of a launch and between threads of a block.
 *
 * Clusters of a launch run in any order and see nothing of each other until a grid barrier, so two
 * of them that touch one element between two such barriers, one of them writing, race; within a
 * cluster the clocks of race.c say what is ordered, and in both atomic operations that release and
 * acquire (flags.c).  Atomic operations themselves are left out.  Two writes of the same value at
 * once are let pass, as in shared memory. */
#include "sim/machine.h"

typedef struct {
    int32_t unit;  /* which cluster, in which stretch between grid barriers; 0: nobody, MANY */
    int32_t actor;
    uint32_t tick;
    const Stmt *at;
} Toucher;

struct SimWatch {
    Toucher *write, *read;
};

enum { MANY = -1 };

/* ---- what is watched ------------------------------------------------------------------------- */

typedef struct {
    Sim *m;
    bool *written;
    bool ordered; /* some results of atomics are looked at */
} Look;

static bool look(const Stmt *s, void *arg)
{
    Look *l = arg;
    if (s->kind == ST_STORE)
        l->written[s->u.store.buf->id] = true;
    if (s->kind == ST_INSTR)
        for (int i = 0; i < s->u.instr.nregion; i++)
            if (s->u.instr.isa->effects[i] != 'r')
                l->written[s->u.instr.region[i].buf->id] = true;
    if (s->kind == ST_CALL && s->u.call.which == INTRIN_WIDE_STORE)
        l->written[s->u.call.arg[0]->u.buf->id] = true;
    if (s->kind == ST_ATOMIC)
        l->ordered |= s->u.atomic.bind != NULL || s->u.atomic.op == ATOMIC_STORE ||
                      s->u.atomic.op == ATOMIC_LOAD;
    return true;
}

enum { ELEMENTS_MOST = 16 << 20 };

void watch_global(Sim *m)
{
    Look l = {m, NEWN(m->keep, bool, m->nbuf + 1), false};
    m->unit = 1;
    stmt_visit(m->k->body, look, &l);
    m->flags = m->races && l.ordered ? flags_new(m) : NULL;
    for (int i = 0; i < m->nbuf; i++) {
        SimMem *mem = m->host_mem[i];
        if (!mem || !mem->global)
            continue;
        mem->watch = NULL;
        if (!m->races || !l.written[i] || mem->nelem > ELEMENTS_MOST)
            continue;
        mem->watch = NEW(m->keep, struct SimWatch);
        mem->watch->write = NEWN(m->keep, Toucher, mem->nelem + 1);
        mem->watch->read = NEWN(m->keep, Toucher, mem->nelem + 1);
    }
}

void watch_no_more(Sim *m)
{
    for (int i = 0; i < m->nbuf; i++)
        if (m->host_mem[i])
            m->host_mem[i]->watch = NULL;
    m->flags = NULL;
}

/* ---- accesses -------------------------------------------------------------------------------- */

int32_t global_unit(const Sim *m)
{
    return m->unit + m->block->unit;
}

static bool in_order(const Sim *m, const Toucher *t)
{
    const SimThread *self = m->self;
    if (t->unit == 0 || (t->unit > 0 && t->unit < m->unit)) /* nobody; before a grid barrier */
        return true;
    if (t->unit != global_unit(m))
        return flags_saw(m, t->unit, t->actor, t->tick);
    return t->tick <= self->clock[t->actor];
}

static NORETURN void report(Sim *m, const SimMem *mem, const Toucher *other, const char *they,
                            const char *we)
{
    int each = kernel_launch_threads(m->k);
    Span at = m->at ? m->at->span : NO_SPAN;
    if (other->unit == global_unit(m))
        diag_error(m->diag, at, "threads %d and %d race on '%s' in global memory: one %s, the "
                   "other %s, and no barrier orders them [data-race]", m->self->index,
                   other->actor % each, mem->buf->name, we, they);
    else
        diag_error(m->diag, at, "block (%lld, %lld, %lld) %s an element of '%s' that another block "
                   "%s, and nothing orders the blocks [data-race]", (long long)m->block->at[0],
                   (long long)m->block->at[1], (long long)m->block->at[2], we, mem->buf->name,
                   they);
    if (other->at)
        diag_note(m->diag, other->at->span, "it %s it here", they);
    if (m->flags)
        diag_note(m->diag, NO_SPAN, "an atomic operation orders what is around it where it says "
                  "so: memory_order=\"release\" behind the one, \"acquire\" before the other");
    sim_give_up(m);
}

void global_read(Sim *m, const SimMem *mem, int64_t i)
{
    Toucher *w = &mem->watch->write[i], *r = &mem->watch->read[i];
    if (!m->self || !m->self->clock)
        return;
    if (!in_order(m, w))
        report(m, mem, w, "writes", "reads");
    int32_t unit = global_unit(m);
    if (r->unit != 0 && r->unit >= m->unit && r->unit != unit && !in_order(m, r))
        *r = (Toucher){MANY, r->actor, m->unit, r->at}; /* tick: the stretch they read in */
    else if (r->unit != MANY)
        *r = (Toucher){unit, m->self->actor, m->self->clock[m->self->actor], m->at};
}

void global_write(Sim *m, const SimMem *mem, int64_t i, bool same_value)
{
    Toucher *w = &mem->watch->write[i], *r = &mem->watch->read[i];
    if (!m->self || !m->self->clock)
        return;
    if (!same_value && !in_order(m, w))
        report(m, mem, w, "writes", "writes");
    /* of many that flags may order only one is known */
    bool read_now = r->unit == MANY ? (int32_t)r->tick == m->unit && !m->flags : !in_order(m, r);
    if (!same_value && read_now)
        report(m, mem, r, "reads", "writes");
    r->unit = 0;
    *w = (Toucher){global_unit(m), m->self->actor, m->self->clock[m->self->actor], m->at};
}
