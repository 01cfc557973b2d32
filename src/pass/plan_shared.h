/* plan_shared.h -- when tiles of a block are in use, and where they lie. */
#ifndef TL_PASS_PLAN_SHARED_H
#define TL_PASS_PLAN_SHARED_H

#include "op/op.h"

/* liveness.c: when a tile of the block is in use, by the numbers of statements. */
typedef struct {
    Buffer *buf;
    int first, last; /* -1: never */
    int64_t nbytes, align, offset;
    int seen;          /* uses so far */
    int some;          /* of them by some of the threads alone */
    bool apart;        /* shares no bytes with others of its kind */
    const Buffer *bar; /* where the last bulk load completes */
} Live;
typedef enum {
    LIVE_GROUPS, /* as the next; tiles of some threads alone share no bytes with each other */
    LIVE_LOOPS, /* what a loop mentions lives through all of it */
    LIVE_ITERS, /* less what each iteration fills anew */
    LIVE_LEAST, /* as if each iteration filled anew all that only the loop mentions */
} LiveScope;
/* landed.c: where threads wait for each other by hand. */
typedef struct {
    const Stmt *at; /* the wait of the whole block */
    Map done;       /* root Buffer of tiles that are done with there */
    Map later;      /* of those that only statements after it touch, and no other block */
} Landed;
bool landed_find(Kernel *k, Landed *l); /* false: there is no such wait that is known */
bool landed_later(const Kernel *k); /* it may find one in a later form of the body */

void live_find(Kernel *k, Live *list, int n, LiveScope scope); /* fills first and last */
int64_t live_place(Arena *scratch, Live *list, int n);      /* fills offset; bytes in all */
bool buffers_share(Kernel *k, const Buffer *a, const Buffer *b); /* bytes, after FORM_PLACED */

/* Columns of tensor memory that a tile takes: rows beyond its lanes lie in the columns after.
 * INT32_MAX: it has no constant size. */
int64_t tensor_columns(const Kernel *k, const Buffer *b);
/* Elements of a tile in a column of 32 bits: of what MMAs add to, one, however narrow it is. */
int tensor_in_column(const Kernel *k, const Buffer *b);
int64_t tensor_columns_left(const Kernel *k);
/* Where a tile of so many bytes may start. */
int64_t shared_alignment(const Kernel *k, const Buffer *b, int64_t nbytes);
/* Bytes that the shared tiles will take, were each there `stages` times (as planned if NULL). */
typedef int StagesFn(void *arg, const Buffer *b);
int64_t shared_estimate(Kernel *k, LiveScope scope, StagesFn *stages, void *arg);

/* check_plans.c: bytes that the tiles of a block may take; 0: no limit */
int64_t kernel_shared_most(const Kernel *k);
void check_shared_bytes(Kernel *k, int64_t nbytes); /* refuses what is more */

#endif
