/* tile.h -- what a tile operator is, and the words its folders share: declared here so that the
 * text form names operators and the simulator runs them; op/ defines them. */
#ifndef TL_IR_TILE_H
#define TL_IR_TILE_H

#include "ir/ir.h"

typedef struct Sim Sim;     /* sim/sim.h */
typedef struct Infer Infer; /* op/op.h */

typedef enum { ACC_READ = 1, ACC_WRITE = 2, ACC_REDUCE = 4 } Access;
typedef void AccessFn(void *arg, const Region *r, Access a);

/* What passes may ask of an operator without knowing it. */
enum {
    TILE_COPIES = 1u << 0, /* region 0 to region 1, element by element */
};

struct TileOp {
    const char *name;
    int id;             /* an OpId of op.h */
    const char *params; /* "src: region, dst: region" for docs and stubs */
    const char *doc;
    uint32_t traits;    /* TILE_ bits */
    int nregion;        /* regions it has; -1 any */
    void (*check)(Kernel *k, const Stmt *t);   /* shapes, dtypes, scopes: diag_error */
    void (*access)(const Stmt *t, AccessFn *see, void *arg);
    void (*infer)(Infer *in, const Stmt *t);
    /* The operator's own loops in terms of FORM_LOOPS statements; used when the target has none. */
    const Stmt *(*lower)(Kernel *k, const Stmt *t);
    void (*simulate)(Sim *m, const Stmt *t);   /* the reference meaning */
    double (*flops)(const Stmt *t);            /* per execution; NULL means none */
};

/* ---- region.c -------------------------------------------------------------------------------- */

/* The loop nest a pair of regions is walked by: dimensions of extent 1 drop out, the rest match in
 * order (language.md 1.4).  Fills per loop the dimension of each side. */
typedef struct {
    int n;
    const Expr *extent[RANK_MOST];
    int dim[2][RANK_MOST];
} RegionMatch;
/* Reports [copy-shape] at `at` and returns false when they cannot match. */
bool region_match(Kernel *k, Span at, const Region *a, const Region *b, RegionMatch *m);
/* Coordinates in r.buf of loop point `vars` (side 0 or 1 of the match). */
void region_point(Ir *ir, const Region *r, const RegionMatch *m, int side, const Expr *const *vars,
                  const Expr **at);
int64_t region_extent_int(const Region *r, int d); /* -1 when not constant */
int64_t region_nelem(const Region *r);             /* -1 when not constant */
/* The dimensions of r whose extent is not 1, in order. */
int region_dims(const Region *r, int *dim);
void region_text(Str *out, const Region *r);       /* "A[128, 32]" of the extents, for messages */

/* ---- reduction.c: the words of reductions, shared with scans, reducers and atomics ----------- */

typedef struct {
    const char *name;
    ExprOp op;
    bool abs;       /* of absolute values */
    bool ints;      /* integers and bool only */
} Reduction;
const Reduction *reduction_find(const char *name); /* NULL if unknown */
const Expr *reduction_identity(Ir *ir, const Reduction *r, DType t);
/* a and b of one type; `nan`: max and min give NaN when either is. */
const Expr *reduction_combine(Ir *ir, const Reduction *r, bool nan, const Expr *a, const Expr *b);
/* One contribution, cast to t, with its sign dropped where the word says so. */
const Expr *reduction_term(Ir *ir, const Reduction *r, DType t, const Expr *x);

#endif
