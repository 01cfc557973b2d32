/* mech.h -- mechanisms: the ways a target has to do a tile operator.
 *
 * A target owns a list of rows, best first (Target.mechs).  Passes ask a row what it does and never
 * which one it is: a row more is all that a target with other instructions adds. */
#ifndef TL_IR_MECH_H
#define TL_IR_MECH_H

#include "ir/tile.h"

typedef enum {
    MECH_HOW,    /* chosen by plan_how, from the statement alone */
    MECH_AHEAD,  /* by plan_pipeline, for copies that run ahead or that the kernel waits for itself:
                  * one row of a target */
    MECH_LAYOUT, /* by plan_moves, once it is known where elements lie */
} MechStep;

struct Mech {
    const char *name; /* as --plans and the text form say it; unique in a target */
    uint32_t ops;     /* operators it is for, bit OpId; 0: all */
    MechStep step;
    uint32_t needs;   /* HAS_ bits of the machine */
    /* Can `who` do this statement so?  *why: the reason for the answer, or left alone.  NULL: they
     * can. */
    bool (*can)(Kernel *k, ThreadGroup who, const Stmt *t, const char **why);
    /* It is made for such a statement: where it refuses, something is lost (audit.def).  NULL: it
     * never is. */
    bool (*suits)(Kernel *k, const Stmt *t);
    /* Chosen: what else the plan holds; NULL: nothing. */
    void (*plan)(Kernel *k, ThreadGroup who, const Stmt *t);
    void (*infer)(Infer *in, const Stmt *t); /* layouts it needs; NULL: the operator's own wishes */
    /* NULL, or gives NULL: the operator's loops. */
    const Stmt *(*lower)(Kernel *k, ThreadGroup who, const Stmt *t);

    bool own_loops;      /* of the operator: they read any element of any operand */
    bool takes_registers; /* operands are in registers: one in shared memory is brought there */
    bool in_flight;      /* started, goes on beside the threads, waited for */
    bool counted;        /* in flight: ends in the order of issue, and a wait counts what may be
                          * left (lower_counts): nothing is issued under a condition alone */
    bool side_by_side;   /* what the lanes of a warp bring lies side by side in the tile: loops over
                          * it go as it is stored, and what cannot goes through registers */
    bool ends_only;      /* of the widths between least and most these two alone */
    bool bulk;           /* one thread asks for all of it, and a barrier hears that it came */
    bool multicast;      /* may fill the tiles of several blocks of a cluster at once */
    bool by_group;       /* all warps of a group do it together */
    bool by_commit;      /* an MMA: one thread issues it, and commits an arrival at a barrier that
                          * says that it is done */
    bool accumulates;    /* an MMA: the result stays in registers from one to the next */
    bool overwrites;     /* an MMA: where told at run time it overwrites, at no cost */
    int align;           /* bytes: its tile starts at multiples of so many */
    int swizzle;         /* bytes: of the widest swizzle of its tile; 0: none */
    int least, most;     /* bytes that a thread moves at a time, a power of two between these */
};

extern const Mech mech_none;  /* not planned yet */
extern const Mech mech_plain; /* the operator's own loops */

/* By name, of those and the rows of a list that NULL ends; NULL: there is none. */
const Mech *mech_find(const Mech *const *rows, const char *name);
const Mech *mech_ahead(const Mech *const *rows); /* its row of MECH_AHEAD; NULL: it has none */
static inline bool mech_does(const Mech *m, const TileOp *op)
{
    return !m->ops || (m->ops >> op->id & 1);
}

#endif
