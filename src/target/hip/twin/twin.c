/* twin.c -- instructions of AMD's GPUs in a text that runs on the host: what device/twin/hip.h
 * leaves to the twin's machine. */
#include <limits.h>
#include "twin/machine.h"

/* The row of the machine that the text is for. */
static const Isa *mfma_of(const char *name)
{
    const Machine *m = machine.module->func->kernels.at[0]->machine;
    const Isa *isa;

    for (int i = 0; (isa = mfma_row(i)); i++)
        if (!strcmp(isa->mma->own, name) && isa_fits(isa, m))
            return isa;
    twin_fail("%s is no MMA of %s [twin-meaning]", name, m->name);
}

/* Operands: where a lane's registers of A, of B and of C are. */
static void op(int row, const char *name, void *const *at, int n)
{
    static const MmaOperands o = {0, 1, 2, 2, {INT_MAX, INT_MAX, INT_MAX}};

    (void)row;
    (void)n;
    if (!warp_brings(name, at))
        return;
    warp_multiply(mfma_of(name), &o);
    warp_goes_on();
}

const Assembly assembly_hip = {.op = op};
