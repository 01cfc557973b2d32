/* isa.h -- instructions as rows: what they read and write, how they are simulated, how each
 * target spells them.  Lowering, sync, races and emission read the same row. */
#ifndef TL_ISA_ISA_H
#define TL_ISA_ISA_H

#include "ir/ir.h"

typedef struct Sim Sim;

struct Isa {
    const char *name;     /* "cpu.gemm", "mma.m16n8k16.f32.f16" */
    char scope;           /* who runs it together: 'b' the block, 'g' a warpgroup, 'w' a warp, 't' one thread */
    const char *effects;  /* per region: 'r' read, 'w' write, 'a' read and write: "rra" */
    int narg;
    const char *doc;
    /* Executes the ST_INSTR in the simulator, from the statement alone. */
    void (*simulate)(Sim *m, const Stmt *s);
};

/* Defined by the simulator: what the rows mean. */
void simulate_cpu_gemm(Sim *m, const Stmt *s);
void simulate_cpu_pack(Sim *m, const Stmt *s);
void simulate_ldmatrix(Sim *m, const Stmt *s);
void simulate_mma(Sim *m, const Stmt *s);
void simulate_tma_load(Sim *m, const Stmt *s);
void simulate_tma_store(Sim *m, const Stmt *s);
void simulate_wgmma(Sim *m, const Stmt *s);

const Isa *isa_find(const char *name); /* NULL if unknown; rows are in isa.def */

#endif
