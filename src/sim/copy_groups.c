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
    int64_t group, issue;
} Flight;

struct SimCopies {
    VEC(Flight) list;  /* in order of issue */
    int64_t committed; /* groups closed so far: the number of the open one */
    int64_t issued;    /* stores so far, each of one or several elements */
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
    vec_push(m->arena, &c->list, ((Flight){mem, i, v, c->committed, c->issued}));
}

void copy_issued(Sim *m, const Stmt *store)
{
    if (store->u.store.async && m->self && m->self->copies)
        m->self->copies->issued++;
}

/* What is of a group up to `group` or of a store up to `issue` has landed. */
static void land(Sim *m, int64_t group, int64_t issue)
{
    struct SimCopies *c = m->self->copies;
    int n = 0;

    for (int j = 0; j < c->list.n; j++) {
        Flight *f = &c->list.at[j];
        if (f->group > group && f->issue > issue) {
            c->list.at[n++] = *f;
            continue;
        }
        if (f->mem->shadow)
            race_land(m, f->mem, f->i);
        mem_write(f->mem, f->i, f->value);
    }
    c->list.n = n;
}

/* A group is closed; or at most so many closed groups, or so many stores, are in flight. */
Value1 exec_copies(Sim *m, const Stmt *s)
{
    int64_t left = s->u.call.n ? eval(m, s->u.call.arg[0]).i : 0;

    if (m->self && s->u.call.which == INTRIN_COMMIT_COPIES)
        copies_of(m)->committed++;
    else if (m->self && m->self->copies && s->u.call.which == INTRIN_WAIT_COPIES)
        land(m, m->self->copies->committed - 1 - left, -1);
    else if (m->self && m->self->copies)
        land(m, -1, m->self->copies->issued - 1 - left);
    return NO_VALUE;
}

void copy_wait_all(Sim *m)
{
    if (m->self && m->self->copies)
        land(m, INT64_MAX, -1);
}
