/* proofs_order.h -- what the files of proofs_order share: accesses of shared memory, and what
 * orders two of them. */
#ifndef TL_PASS_PROOFS_ORDER_H
#define TL_PASS_PROOFS_ORDER_H

#include "isa/isa.h"
#include "pass/access.h"
#include "pass/thread_group.h"

enum { KEYS_MOST = 48, KEY_CLUSTER = 48, KEY_NAMED = 49, KEYS_ALL = 64 };

/* An access of a tile by a statement, in one iteration of the loops around it. */
typedef struct {
    const void *by;    /* statement or load */
    const Buffer *buf;
    const ThreadSite *site; /* one element by each thread; NULL: any */
    int32_t line;
    bool writes, adds, next; /* next: into a stage that is not the one being read */
    IsaDone done;
    Queue queue;       /* DONE_BY_GROUP */
    int key;           /* DONE_AT_BARRIER: where it completes; -1: nowhere that is known */
    int tile;          /* the operator that it came from; -1: none */
    int group;         /* of the queue, that it was committed to; 0: none yet */
    int arm;           /* of conditions that part the threads */
    ThreadGroup who;   /* n == 0: all, or not known */
    int nest;          /* the run of a loop over slots that it is of; 0: none */
    bool landed;       /* done, for the thread that issued it */
    const Stmt *wait, *sync; /* what landed it; what all came to after that */
    bool local;        /* all of its arm, that is */
    int round;         /* DONE_AT_BARRIER: arrivals at the key so far */
    /* Keys that were waited for before it: in iterations that it is of (outside of loops where it
     * is in none), there or before, anywhere. */
    uint64_t waits, waits_near, waits_far;
    uint64_t arrives, soonest; /* keys that were arrived at after it; the first of them */
    int uid, first, last; /* barriers of the block before it, in the walks that met it */
    int walk, walks;   /* of the loop around; in all */
    bool unordered;    /* a bulk copy that another one may follow with no barrier on their path */
} Event;

typedef VEC(Event) EventVec;

typedef struct {
    Kernel *k;
    Arena *arena;
    Apart *apart;
    GroupWalk w;
    Map sites;          /* by -> ThreadSite * */
    Map keys;           /* barrier -> its number + 1 */
    const char *key_name[KEYS_ALL];
    EventVec open, all; /* of the path so far; of all paths, one for each statement */
    uint64_t own, near, far; /* keys waited for, as in an Event */
    int depth;          /* loops around */
    int arrivals[KEYS_ALL], nwait[KEYS_ALL];
    int commits[QUEUE_COUNT];
    int epoch, arm, narm, uid, nest, nnest, walk, nwalk;
    ThreadGroup who;    /* come by, as far as it is known; n == 0: all */
    Map now;            /* Var of a loop around -> its value in this walk */
    Map slots;          /* Var of a loop over slots -> slot */
    Var *slot;          /* stands for the variables of all loops over slots */
    Facts *facts;
    const Expr *cond;   /* of the arms around that part threads */
    int64_t steps;
    bool cut;           /* iterations were left out */
} Order;

/* Different threads, as far as it is known. */
static inline bool groups_apart(ThreadGroup a, ThreadGroup b)
{
    return a.n && b.n && (a.first + a.n <= b.first || b.first + b.n <= a.first);
}

/* proofs_pairs.c */
void order_pair(Order *o, const Event *before, const Event *e);  /* on one path */
void order_cross(Order *o);        /* of threads that run side by side */

#endif
