/* isa.h -- instructions as rows: what they read and write, how they are simulated, how each
 * target spells them.  Lowering, sync, races and emission read the same row. */
#ifndef TL_ISA_ISA_H
#define TL_ISA_ISA_H

#include "ir/tile.h"

enum { MMA_A, MMA_B, MMA_C, MMA_E, /* E: which elements a sparse A keeps */
       MMA_SA = MMA_E, MMA_SB };    /* scales of A and B */

/* A matrix instruction of a warp, a row of matrix.def: C (m x n) += A (m x k) B (k x n). */
typedef struct {
    int m, n, k;
    DType type[3];       /* of A, B, C */
    const char *word[3]; /* as PTX spells them */
    const char *own, *arg; /* what the target's text says; its part of matrix.def tells */
    int narg;
    int per;             /* scales along k of a row of A or column of B; 0: it has none */
    int words;           /* that they come in, the first in the lowest byte */
    DType scale;
} Mma;

typedef enum {
#define ISA(id, name, scope, effects, proxy, done, queue, needs, lanes, narg, simulate, doc)       \
    ISA_##id,
#include "isa/isa.def"
#undef ISA
    ISA_MMA, /* all rows of matrix.def */
    ISA_COUNT
} IsaId;

/* Who runs it together; PAIR: one thread, for two blocks of a cluster. */
typedef enum { BY_THREAD, BY_WARP, BY_GROUP, BY_BLOCK, BY_PAIR } IsaScope;
typedef enum { PROXY_GENERIC, PROXY_ASYNC } IsaProxy;

/* When what it does is seen to be done. */
typedef enum {
    DONE_AT_ONCE,
    DONE_AT_BARRIER, /* its bytes arrive there; whoever waits for the phase sees them */
    DONE_BY_GROUP,   /* once the group of its queue that it was committed to is waited for */
    DONE_BY_COMMIT,  /* before an arrival that its thread commits at a barrier after it */
} IsaDone;

struct Isa {
    IsaId id;             /* for targets, which spell it; others ask the columns */
    const char *name;     /* "cpu.gemm", "mma.m16n8k16.f32.f16.f16" */
    IsaScope scope;
    const char *effects;  /* per region: 'r' read, 'w' write, 'a' read and write: "rra" */
    IsaProxy proxy;
    IsaDone done;
    Queue queue;          /* DONE_BY_GROUP */
    int level;            /* the first architecture that has it */
    bool only;            /* no other has, and it only where what is its own is asked for */
    uint32_t has;         /* HAS_ bits of the machine */
    const char *levels;   /* how messages name architectures by level */
    const char *lanes[5]; /* per region, lanes.c reads it; NULL: it is in memory */
    int narg;
    const char *doc;
    const Mma *mma;       /* NULL: it is no mma.sync */
};

/* ---- touch.c: what statements do to memory */
typedef struct {
    Buffer *buf;
    unsigned how;          /* ACC_ bits; an atomic's is ACC_REDUCE */
    const Expr *const *at; /* one element, by n indices; NULL: all of the region */
    int n;
    const Region *region;  /* of an operator, a call or an instruction; else NULL */
    const Expr *expr;      /* the load, or the address that is taken; else NULL */
} Touch;
typedef void TouchFn(void *arg, const Stmt *s, const Touch *t);
void stmt_touches(const Stmt *s, TouchFn *fn, void *arg); /* of s alone: loads come first */
void stmt_touches_all(const Stmt *s, TouchFn *fn, void *arg); /* and of what is inside */
static inline bool touch_reads(const Touch *t) { return (t->how & (ACC_READ | ACC_REDUCE)) != 0; }
static inline bool touch_writes(const Touch *t) { return (t->how & (ACC_WRITE | ACC_REDUCE)) != 0; }

/* ---- private.c */
/* In a kernel written per thread: is all that s writes a thread's own (T.alloc_local, T.alloc_var),
 * or does it copy from there?  Then every thread does s for itself; otherwise it is the block's,
 * done once for all. */
bool stmt_is_private(const Stmt *s);

/* ---- isa.c */
const Isa *isa_find(const char *name); /* NULL if unknown; rows are in isa.def and matrix.def */
const char *isa_name(const Isa *isa);
bool isa_fits(const Isa *isa, const Machine *m); /* has the machine got it? */
const char *isa_level(Arena *a, const Isa *isa); /* the architecture it is of, for messages */
static inline bool isa_is_mma(const Isa *isa) { return isa->queue == QUEUE_MMA; }

/* ---- lanes.c: who holds what ----------------------------------------------------------------- */

enum { LANE_LANE, LANE_SLOT, LANE_ROW, LANE_COL, LANE_DIGITS = 8 };

/* The numbers of a lane, of its slot, of a row and a column have digits in common. */
typedef struct {
    int n;
    struct {
        char name;
        int size;
        int step[4]; /* what one of it counts for in each number; 0: it is not in that */
    } digit[LANE_DIGITS];
    int extent[4]; /* of each number */
} LaneMap;

int mma_each(DType t); /* neighbours in one register of 32 bits */
LaneMap lane_map(const char *text, int rows, int cols, DType t);
LaneMap isa_lanes(const Isa *isa, int region, int rows, int cols, DType t);
/* (lane, slot) is at (lane, 0) plus at (0, slot). */
void lane_place(const LaneMap *m, int lane, int slot, int at[2]);
int lane_holder(const LaneMap *m, int row, int col, int *slot);
/* Rows (which 0) or columns of a region that spans so many, from one of the map to the next. */
int64_t lane_step(const LaneMap *m, int which, int64_t span);
void lane_place_expr(Ir *ir, const LaneMap *m, const Expr *lane, int slot, const Expr *at[2]);
/* Of an element of many tiles side by side: who holds it within its tile. */
void lane_holder_expr(Ir *ir, const LaneMap *m, const Expr *row, const Expr *col,
                      const Expr **lane, const Expr **slot);

/* ---- mma.c ----------------------------------------------------------------------------------- */

/* How the lanes of a warp load an operand of an MMA together, a row of load.def. */
typedef struct {
    IsaId id;
    int operand;     /* MMA_A, MMA_B */
    bool along_k;    /* rows in memory go along k */
    int least, most; /* bits of an element */
    int size;        /* of m or n; 0: any */
    int unit, units; /* bits that lie together; how many times as many it takes */
} MmaLoad;

LaneMap mma_lanes(const Isa *isa, int which);
int mma_warp(const Isa *isa); /* lanes of the warps that run it */
bool mma_multiplies(const DType type[3]); /* some row does, on whatever machine */
/* The row for these types on the machine that wastes least of an M x N x K MMA; of two like
 * that the larger, where each warp has several tiles.  NULL: none. */
const Isa *mma_find(const DType type[3], const Machine *on, const int64_t size[3], int nwarp);
/* The row of load.def for an operand of m on the machine; NULL: each lane loads its own. */
const MmaLoad *mma_load_find(const Isa *m, int operand, bool along_k, const Machine *on);
const Isa *isa_row(IsaId id); /* of isa.def */
const Isa *mma_row(int i); /* of matrix.def, with scales or without; NULL past the last */
/* The row for these types, and scales of so many elements along k, on the machine;
 * of several as mma_find chooses.  NULL: none. */
const Isa *mma_scaled_find(const DType type[3], DType scale, const int64_t grain[2],
                           const Machine *on, const int64_t size[3], int nwarp);

#endif
