/* fuse.h -- which elements statements touch, and whether loops over them may be run as one. */
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

#endif
