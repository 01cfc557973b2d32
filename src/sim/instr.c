/* instr.c -- what the rows of isa.def and matrix.def mean, from the statement alone. */
#include "sim/machine.h"

static void (*const simulate_row[ISA_COUNT])(Sim *m, const Stmt *s) = {
#define ISA(id, name, scope, effects, proxy, done, queue, needs, lanes, narg, simulate, doc)       \
    simulate,
#include "isa/isa.def"
#undef ISA
    simulate_mma,
};

void exec_instr(Sim *m, const Stmt *s)
{
    simulate_row[s->u.instr.isa->id](m, s);
}
