/* host.h -- what a host language supplies to the evaluator: names and foreign values.
 *
 * `tl` has no host (NULL).  The Python package fills this table; every function returns a status
 * and never jumps. */
#ifndef TL_FRONT_HOST_H
#define TL_FRONT_HOST_H

#include "base/base.h"

struct Value;
struct Eval;

typedef struct Host {
    /* A name the kernel uses and the evaluator does not know: closure, then globals. */
    Status (*name)(struct Eval *ev, void *data, const char *name, struct Value *out);
    Status (*attr)(struct Eval *ev, void *data, void *foreign, const char *name, struct Value *out);
    Status (*call)(struct Eval *ev, void *data, void *foreign, const struct Value *args, int nargs,
                   const char *const *keys, const struct Value *vals, int nkeys, struct Value *out);
    Status (*index)(struct Eval *ev, void *data, void *foreign, const struct Value *at,
                    struct Value *out);
    const char *(*describe)(struct Eval *ev, void *data, void *foreign);
} Host;

#endif
