/* isa.c -- the table of instructions and what the CPU rows do. */
#include "isa/isa.h"
#include "sim/sim.h"

enum { TRANS_A, TRANS_B, CLEAR };

static bool flag(Sim *m, const Stmt *s, int i)
{
    const Expr *e = i < s->u.instr.narg ? s->u.instr.arg[i] : NULL;
    return e != NULL && sim_is_true(m, e);
}

static void simulate_gemm(Sim *m, const Stmt *s)
{
    const Region *r = s->u.instr.region;
    sim_gemm(m, s, &r[0], &r[1], &r[2], flag(m, s, TRANS_A), flag(m, s, TRANS_B), flag(m, s, CLEAR));
}

static void simulate_copy(Sim *m, const Stmt *s)
{
    sim_copy(m, s, &s->u.instr.region[0], &s->u.instr.region[1]);
}

static const Isa isa_table[] = {
#define ISA(id, name, effects, narg, simulate, doc) {name, effects, narg, doc, simulate},
#include "isa/isa.def"
#undef ISA
};

const Isa *isa_find(const char *name)
{
    for (int i = 0; i < COUNT(isa_table); i++)
        if (strcmp(isa_table[i].name, name) == 0)
            return &isa_table[i];
    return NULL;
}

const char *isa_name(const Isa *isa)
{
    return isa->name;
}

const Isa *isa_by_name(const char *name)
{
    return isa_find(name);
}
