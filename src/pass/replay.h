/* replay.h -- what a role can work out by itself. */
#ifndef TL_PASS_REPLAY_H
#define TL_PASS_REPLAY_H

#include "op/op.h"

typedef struct {
    Ir *ir;
    Map unknown;  /* variables and buffers */
    Map assigned; /* buffers of T.alloc_var that the kernel sets */
    Map needed;   /* those of them that the role reads */
} Replay;
void replay_learn(Replay *r, Kernel *k);
bool replay_knows(const Replay *r, const Expr *e); /* NULL: yes */
/* The role will run body: does it read assigned variables that were not needed so far? */
bool replay_needs(Replay *r, const Stmt *body);
/* A known name, or the assignments of needed variables in s; NULL: neither. */
const Stmt *replay_of(Replay *r, const Stmt *s);

#endif
