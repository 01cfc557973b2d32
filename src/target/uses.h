/* uses.h -- what the body of a kernel mentions, for emitters of targets whose launches hand over
 * arguments one by one. */
#ifndef TL_TARGET_USES_H
#define TL_TARGET_USES_H

#include "target/print.h"

typedef struct {
    Emit *e;
    Map used;       /* buffers that the body mentions, and their roots */
    Map written;    /* roots that it may write */
    Map loose;      /* registers that ordinary statements touch */
    Map addressable; /* arrays that the thread's number indexes: not in registers */
    Map seen;       /* variables that it mentions */
    Map bound;      /* variables that it binds itself */
    VarVec outside; /* mentioned and not bound, in order of appearance */
    bool addressed; /* addresses are taken or computed: pointers may meet */
    bool random, together, pdl;
} Uses;

/* The printer is told as well: e->seen, e->written. */
void uses_collect(Uses *u, Emit *e, Kernel *k, const Stmt *body);
void uses_launch(Uses *u, Kernel *k);          /* Kernel.launch: what the body needs */
/* Is it declared at the head of the kernel?  Not if nobody mentions it, or it lies over an address
 * that the body computes: the printer declares it there. */
bool uses_declares(const Uses *u, const Buffer *b);
void launch_whole(const Func *f, Kernel *k);   /* the same for a text of somebody else's */
/* Elements of the array that a tile, or a thread's part of one, is. */
int64_t stored_elems(Kernel *k, const Buffer *b);

#endif
