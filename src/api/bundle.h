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
    int level;         /* of a CPU */
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

/* bundle_cpu.c */
extern const BundleHost cpu_bundle;
/* The part once for each level, the best first.  levels NULL: the usual ones. */
extern const char cpu_base_target[]; /* for what every processor of this kind runs */
void cpu_add_levels(Bundle *b, const Part *p, const char *levels);
/* Their texts compiled into `tmp`, and NAME.c too; how many, after `objects` of room PARTS_MOST
 * + 1. */
int cpu_objects(Bundle *b, const char *tmp, const char **objects);

/* bundle_when.c: a condition over dimensions, scalars and addresses as C; throws [bundle-guard]. */
const char *bundle_when(Arena *a, const Func *f, const char *text);

/* bundle.c */
Part *bundle_add(Bundle *b, const Part *p); /* throws when there are too many */
const char *bundle_object(Bundle *b, const char *tmp, const char *file, const TargetSpec *spec,
                          bool exported);
void bundle_put(Bundle *b, const char *name, const char *text,
                size_t n);                                  /* a file, by its name there */
void bundle_check_status(Status s, const char *const *why); /* throws */

/* bundle_place.c: a folder that appears whole. */
const char *place_begin(Arena *a, const char *dir); /* where to write; throws */
void place_finish(Arena *a, const char *from, const char *dir);

#endif
