/* bundle.h -- kernels to ship in one folder: what the files that write one share. */
#ifndef TL_API_BUNDLE_H
#define TL_API_BUNDLE_H

#include "api/api.h"
#include "target/bundle.h"

enum { BUNDLE_FORMAT = 2, PARTS_MOST = 64 };

/* One kernel for one architecture.  The first whose condition holds, and that runs here, is called.
 */
typedef struct {
    TargetBundle own;
    tl_kernel *k;
    const BundleHost *host;
    const char *when; /* as it was given; NULL: any arguments */
    const char *when_c;
    const char *tuned; /* a row of a tuning library, JSON; NULL: none */
    bool any_address;  /* for tensors that start anywhere */
    bool asks_address; /* such a part comes later: this one asks first */
} Part;

typedef struct {
    Arena *a;
    const char *dir;  /* where it is written: not where it will be */
    const char *name; /* of the function, as C has it */
    Part parts[PARTS_MOST];
    int npart;
    VEC(const char *) files;
    Compiler cc; /* path NULL: there is none */
} Bundle;

/* bundle_when.c: a condition over dimensions, scalars and addresses as C; throws [bundle-guard]. */
const char *bundle_when(Arena *a, const Func *f, const char *text);

/* bundle.c */
void bundle_check_status(Status s, const char *const *why); /* throws */

/* bundle_place.c: a folder that appears whole. */
const char *place_begin(Arena *a, const char *dir); /* where to write; throws */
void place_finish(Arena *a, const char *from, const char *dir);

#endif
