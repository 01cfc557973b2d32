/* host.h -- what a host language supplies to the evaluator: names and foreign values.
 *
 * `tl` has no host (NULL).  The Python package fills this table; every function returns a status
 * and never jumps: not STATUS_OK means "cannot", and when it has reported an error the evaluator
 * throws it.  front/foreign.c is where the evaluator asks. */
#ifndef TL_FRONT_HOST_H
#define TL_FRONT_HOST_H

#include "base/base.h"

struct Value;
struct Eval;

typedef struct Host {
    /* A name the kernel uses and does not bind: closure, then globals, then what neither the
     * evaluator nor these have. */
    Status (*name)(struct Eval *ev, void *data, const char *name, struct Value *out);
    /* foreign NULL: of tilelang.language itself. */
    Status (*attr)(struct Eval *ev, void *data, void *foreign, const char *name, struct Value *out);
    Status (*call)(struct Eval *ev, void *data, void *foreign, const struct Value *args, int nargs,
                   const char *const *keys, const struct Value *vals, int nkeys, struct Value *out);
    Status (*index)(struct Eval *ev, void *data, void *foreign, const struct Value *at,
                    struct Value *out);
    const char *(*describe)(struct Eval *ev, void *data, void *foreign);
    /* An operation of the host on values of which one is foreign: __add__, __lt__ … as Python
     * spells its methods, __is__, and "truth", "items", "setattr", "setitem", "enter", "exit". */
    Status (*op)(struct Eval *ev, void *data, const char *op, const struct Value *arg, int n,
                 struct Value *out);
    /* len(x), isinstance(x, C) and other functions of Python's own with a foreign argument. */
    Status (*builtin)(struct Eval *ev, void *data, const char *name, const struct Value *args,
                      int nargs, const char *const *keys, const struct Value *vals, int nkeys,
                      struct Value *out);
    /* What the host found for a parameter when it ran the def: 'a' its annotation, 'd' its
     * default; V_UNBOUND if there is none. */
    Status (*param)(struct Eval *ev, void *data, char what, const char *name, struct Value *out);
} Host;

#endif
