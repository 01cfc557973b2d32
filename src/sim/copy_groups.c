/* copy_groups.c -- copies in flight: asynchronous stores, their groups, the waits for them.
 *
 * The value is taken when the copy is issued and lands when the thread waits for its group: the
 * latest moment the hardware may choose.  From the issue to the wait nobody may touch the element,
 * the issuer no more than others; after the wait it is a write of the issuer, which others see
 * after a barrier like any other. */
#include "sim/machine.h"

typedef struct {
    SimMem *mem;
    int64_t i;
    Value1 value;
    int64_t group;
} Flight;

struct SimCopies {
    VEC(Flight) list;  /* in order of issue */
    int64_t committed; /* groups closed so far: the number of the open one */
};

static struct SimCopies *copies_of(Sim *m)
{
    if (!m->self->copies)
        m->self->copies = NEW(m->arena, struct SimCopies);
    return m->self->copies;
}

void copy_issue(Sim *m, SimMem *mem, int64_t i, Value1 v)
{
    if (!m->self) { /* the block runs as a whole, in order */
        mem_put(m, mem, i, v);
        return;
    }
    struct SimCopies *c = copies_of(m);
    if (mem->shadow)
        race_issue(m, mem, i);
    vec_push(m->arena, &c->list, ((Flight){mem, i, v, c->committed}));
}

void copy_commit(Sim *m)
{
    if (m->self)
        copies_of(m)->committed++;
}

/* All but the newest `left` closed groups have landed; left < 0: the open one too. */
static void land(Sim *m, int64_t left)
{
    struct SimCopies *c = m->self->copies;
    int64_t last = left < 0 ? INT64_MAX : c->committed - 1 - left;
    int n = 0;

    for (int j = 0; j < c->list.n; j++) {
        Flight *f = &c->list.at[j];
        if (f->group > last) {
            c->list.at[n++] = *f;
            continue;
        }
        if (f->mem->shadow)
            race_land(m, f->mem, f->i);
        mem_write(f->mem, f->i, f->value);
    }
    c->list.n = n;
}

void copy_wait(Sim *m, int64_t groups)
{
    if (m->self && m->self->copies)
        land(m, groups);
}

void copy_wait_all(Sim *m)
{
    if (m->self && m->self->copies)
        land(m, -1);
}
