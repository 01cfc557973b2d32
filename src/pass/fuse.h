/* fuse.h -- what the files of opt_fuse share: which elements a statement touches. */
#ifndef TL_PASS_FUSE_H
#define TL_PASS_FUSE_H

#include "pass/pass.h"

typedef struct {
    Arena *arena;
    VEC(Touch) touch;
    bool opaque; /* does what is not seen here */
    bool loops;  /* holds a loop */
} Uses;

Uses uses_of(Arena *a, const Stmt *s);
bool commute(const Uses *a, const Uses *b); /* in either order they do the same */
/* No iteration of the loop over v touches what another iteration of the loop over w touches, if one
 * of them writes it. */
bool independent(Ir *ir, const Uses *a, Var *v, const Uses *b, Var *w);
bool is_fusable(const Stmt *s);                      /* a serial or vector loop without hints */
bool same_range(const Stmt *a, const Stmt *b);       /* of two loops */

/* fuse_drop.c: the body without copies that a loop can read through, and without stores to tiles
 * that nobody reads. */
const Stmt *drop_useless(Kernel *k, const Stmt *body);

/* opt_skew.c: a tensor that is only written and does not fit the last level cache: what is stored
 * would be out of it before anyone reads it, and would be fetched only to be overwritten. */
bool tensor_streams(Kernel *k, const Buffer *b);

#endif
