/* flags.c -- atomic operations that order threads: what was seen by who raised a flag is seen by
 * who finds it raised.
 *
 * A release leaves with its element a copy of its thread's clock.  An acquire takes what lies
 * there: clocks of its own cluster join its own; those of other clusters get a place each behind
 * the actors of the clock, so that barriers hand on who has seen them like anything else.  A store
 * begins anew, what else writes adds to what is there (a release sequence).  Relaxed operations
 * order nothing.
 *
 * A release takes along what its thread had acquired.  Where there is more of it than fits, races
 * on global memory are no longer looked for: nothing that is ordered is ever called a race. */
#include "sim/machine.h"

enum {
    FOREIGN_MOST = 256,
    OF_FLAG_MOST = 1024,  /* releases that lie with one element */
    WORDS_MOST = 1 << 24, /* of all clocks that are kept */
};

typedef struct Release {
    int32_t unit;    /* of global.c */
    int actor;       /* its thread */
    uint32_t *clock; /* what that had seen */
    int nseen;
    struct Release **seen; /* of other units, that its thread had acquired */
} Release;

typedef VEC(Release *) Releases;

struct SimFlags {
    Map at; /* by address: Releases */
    int64_t words;
};

struct SimForeign { /* of a cluster: releases of others that it has seen, by place */
    int n;
    Release *at[FOREIGN_MOST];
};

static const void *address(const SimMem *mem, int64_t i)
{
    return mem->data + i * dtype_bits(mem->type) / 8;
}

struct SimFlags *flags_new(Sim *m)
{
    struct SimFlags *f = NEW(m->keep, struct SimFlags);
    map_init(&f->at, m->keep);
    return f;
}

int flags_places(Sim *m, SimCluster *c)
{
    if (!m->flags)
        return 0;
    c->foreign = NEW(m->arena, struct SimForeign);
    c->first_foreign = c->nactor;
    return FOREIGN_MOST;
}

bool flags_saw(const Sim *m, int32_t unit, int actor, uint32_t tick)
{
    const SimCluster *c = m->block->cluster;
    const uint32_t *own = m->self->clock + c->first_foreign;

    for (int i = 0; m->flags && i < c->foreign->n; i++) {
        const Release *r = c->foreign->at[i];
        if (r->unit == unit && own[i] && tick <= r->clock[actor])
            return true;
    }
    return false;
}

static void take_foreign(Sim *m, Release *r)
{
    SimCluster *c = m->block->cluster;
    struct SimForeign *f = c->foreign;
    int i = 0;

    while (i < f->n && f->at[i] != r)
        i++;
    if (i == FOREIGN_MOST) {
        watch_no_more(m);
        return;
    }
    f->at[i] = r;
    f->n = MAX(f->n, i + 1);
    m->self->clock[c->first_foreign + i] = 1;
}

static void take(Sim *m, Release *r)
{
    if (r->unit == global_unit(m))
        clock_join(m->self->clock, r->clock, m->self->nclock);
    else
        take_foreign(m, r);
}

static Release *release_new(Sim *m)
{
    SimThread *t = m->self;
    const struct SimForeign *f = t->block->cluster->foreign;
    const uint32_t *own = t->clock + t->block->cluster->first_foreign;
    Release *r = NEW(m->keep, Release);

    *r = (Release){.unit = global_unit(m), .actor = t->actor};
    r->clock = NEWN(m->keep, uint32_t, t->nclock + 1);
    r->seen = NEWN(m->keep, Release *, f->n + 1);
    clock_release(t, r->clock);
    for (int i = 0; i < f->n; i++)
        if (own[i])
            r->seen[r->nseen++] = f->at[i];
    return r;
}

void flags_read(Sim *m, const SimMem *mem, int64_t i, const Stmt *s)
{
    const Releases *v = map_get(&m->flags->at, address(mem, i));

    if (!v || !atomic_acquires(s))
        return;
    for (int j = 0; j < v->n; j++) {
        Release *r = v->at[j];
        if (!mem->global && r->unit != global_unit(m)) /* of a block that had this memory before */
            continue;
        take(m, r);
        for (int k = 0; k < r->nseen; k++)
            take(m, r->seen[k]);
    }
}

/* With what lies there; a later one of the same thread has seen all that an earlier one had. */
static void leave(Sim *m, Releases *v, Release *r)
{
    for (int i = 0; i < v->n; i++)
        if (v->at[i]->unit == r->unit && v->at[i]->actor == r->actor) {
            v->at[i] = r;
            return;
        }
    if (v->n == OF_FLAG_MOST)
        watch_no_more(m);
    else
        vec_push(m->keep, v, r);
}

void flags_written(Sim *m, const SimMem *mem, int64_t i, const Stmt *s)
{
    struct SimFlags *f = m->flags;
    Releases *v = map_get(&f->at, address(mem, i));

    if (v && s->u.atomic.op == ATOMIC_STORE)
        v->n = 0;
    if (!atomic_releases(s))
        return;
    if ((f->words += m->self->nclock) > WORDS_MOST) {
        watch_no_more(m);
        return;
    }
    if (!v) {
        v = NEW(m->keep, Releases);
        map_set(&f->at, address(mem, i), v);
    }
    leave(m, v, release_new(m));
}
