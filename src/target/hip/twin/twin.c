/* twin.c -- instructions of AMD's GPUs in a text that runs on the host: what device/twin/hip.h
 * leaves to the twin's machine. */
#include <limits.h>
#include "twin/machine.h"

/* The row of the machine that the text is for. */
static const Isa *mfma_of(const char *name, bool scaled)
{
    const Machine *m = machine.module->func->kernels.at[0]->machine;
    const Isa *isa;

    for (int i = 0; (isa = mma_row(i)) != NULL; i++)
        if (isa_fits(isa, m) && (isa->mma->per > 0) == scaled && !strcmp(isa->mma->own, name))
            return isa;
    twin_fail("%s is no MMA of %s [twin-meaning]", name, m->name);
}

/* ---- copies straight to shared memory, in the order of their issue --------------------------- */

typedef struct Load {
    void *to;
    const void *from;
    size_t n;
    struct Load *next;
} Load;

typedef struct { /* of a thread */
    Load *first, **end;
    int n;
} Loads;

static void place(TwinBlock *b)
{
    for (int i = 0; i < b->nthread; i++) {
        Loads *l = NEW(machine.scratch, Loads);
        l->end = &l->first;
        b->thread[i].own = l;
    }
}

static void load(Loads *l, void *const *at)
{
    Load *x = NEW(machine.scratch, Load);
    const TwinBlock *b = machine.self->block;
    unsigned char *to = at[0];

    *x = (Load){to, at[1], (size_t)*(const int *)at[2], NULL};
    if (to < b->shared || to + x->n > b->shared + b->nshared ||
        (size_t)(to - b->shared) % x->n || (uintptr_t)x->from % 4)
        twin_fail("a copy of %zu bytes that is not aligned, or not to shared memory [twin-fault]",
                  x->n);
    *l->end = x;
    l->end = &x->next;
    l->n++;
}

static void wait_for(Loads *l, int left)
{
    for (; l->n > left; l->n--) {
        Load *x = l->first;
        memcpy(x->to, x->from, x->n);
        l->first = x->next;
        if (!l->first)
            l->end = &l->first;
    }
}

static void at_exit(TwinThread *t)
{
    wait_for(t->own, 0);
}

/* Operands: where a lane's registers of A, of B and of C are, and its scales. */
static void op(int row, const char *name, void *const *at, int n)
{
    static const MmaOperands o = {0, 1, 2, 2, {INT_MAX, INT_MAX, INT_MAX}, {3, 4}};

    (void)row;
    if (!strcmp(name, "load_lds")) {
        load(machine.self->own, at);
        return;
    }
    if (!strcmp(name, "vmcnt")) {
        wait_for(machine.self->own, *(const int *)at[0]);
        return;
    }
    if (!warp_brings(name, at))
        return;
    warp_multiply(mfma_of(name, n > 3), &o);
    warp_goes_on();
}

const Assembly assembly_hip = {.op = op, .masks = true, .place = place, .at_exit = at_exit};
