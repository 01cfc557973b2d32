/* isa.h -- instructions as rows: what they read and write, how they are simulated, how each
 * target spells them.  Lowering, sync, races and emission read the same row. */
#ifndef TL_ISA_ISA_H
#define TL_ISA_ISA_H

#include "ir/ir.h"

typedef struct Sim Sim;

enum { MMA_A, MMA_B, MMA_C };

/* A matrix instruction of a warp, a row of mma.def: C (m x n) += A (m x k) B (k x n). */
typedef struct {
    int m, n, k;
    DType type[3];       /* of A, B, C */
    const char *word[3]; /* as PTX spells them */
    int sm;              /* the first architecture that has it */
} Mma;

struct Isa {
    const char *name;     /* "cpu.gemm", "mma.m16n8k16.f32.f16.f16" */
    char scope;           /* who runs it together: 'b' the block, 'g' a warpgroup, 'w' a warp,
                           * 't' one thread */
    const char *effects;  /* per region: 'r' read, 'w' write, 'a' read and write: "rra" */
    int narg;
    const char *doc;
    /* Executes the ST_INSTR in the simulator, from the statement alone. */
    void (*simulate)(Sim *m, const Stmt *s);
    const Mma *mma;       /* NULL: it is no mma.sync */
};

/* Defined by the simulator: what the rows mean. */
void simulate_cpu_gemm(Sim *m, const Stmt *s);
void simulate_cpu_pack(Sim *m, const Stmt *s);
void simulate_ldmatrix(Sim *m, const Stmt *s);
void simulate_stmatrix(Sim *m, const Stmt *s);
void simulate_mma(Sim *m, const Stmt *s);
void simulate_tma_load(Sim *m, const Stmt *s);
void simulate_tma_store(Sim *m, const Stmt *s);
void simulate_run_load(Sim *m, const Stmt *s);
void simulate_im2col_load(Sim *m, const Stmt *s);
void simulate_run_store(Sim *m, const Stmt *s);
void simulate_wgmma(Sim *m, const Stmt *s);

const Isa *isa_find(const char *name); /* NULL if unknown; rows are in isa.def and mma.def */

/* ---- mma.c: who holds what ------------------------------------------------------------------- */

/* The element in slot s of lane l is at(s), plus l//4 in dimension g, plus l%4 * step in the
 * other. */
typedef struct {
    int nslot; /* of one lane */
    int g;
    int step;
} MmaOperand;

int mma_each(DType t); /* neighbours along k in one register */
MmaOperand mma_operand(const Mma *m, int which);
void mma_slot(const Mma *m, int which, int slot, int at[2]);
void mma_place(const Mma *m, int which, int lane, int slot, int at[2]);
/* The row for these types on sm that wastes least of an M x K operand; NULL: none. */
const Isa *mma_find(DType a, DType b, DType c, int sm, int64_t M, int64_t K);
const Isa *mma_row(int i); /* NULL past the last */

#endif
