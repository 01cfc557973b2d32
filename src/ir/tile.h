/* tile.h -- what a tile operator is, and the words its folders share: declared here so that the
 * text form names operators and the simulator runs them; op/ defines them. */
#ifndef TL_IR_TILE_H
#define TL_IR_TILE_H

#include "ir/ir.h"

typedef struct Sim Sim;     /* sim/sim.h */
typedef struct Infer Infer; /* op/op.h */

typedef enum { ACC_READ = 1, ACC_WRITE = 2, ACC_REDUCE = 4, ACC_ADDRESS = 8 } Access;
typedef void AccessFn(void *arg, const Region *r, Access a);
static inline Access access_of(char effect) /* 'r', 'w', 'a' */
{
    return effect == 'r' ? ACC_READ : effect == 'w' ? ACC_WRITE : (Access)(ACC_READ | ACC_WRITE);
}

/* What passes may ask of an operator without knowing it. */
enum {
    TILE_COPIES = 1u << 0,     /* region 0 to region 1, element by element */
    TILE_FETCHES = 1u << 1,    /* fills region 1 from region 0, and may do so before it is needed */
    TILE_FILLS = 1u << 2,      /* region 0 with argument 0 */
    TILE_MMA = 1u << 3,        /* adds region 0 times region 1 to region 2; argument 2 clears it */
    TILE_WALKS = 1u << 4,      /* its own loops read any element of an operand */
    TILE_BY_ELEMENT = 1u << 5, /* its own loops are a nest of T.Parallel, an element at a time */
    TILE_STAGES = 1u << 6,     /* takes a stage of a tile as well as a tile */
    TILE_ITERATES = 1u << 7,   /* may be one iteration's of a T.Parallel, not the block's */
    TILE_SAYS = 1u << 8,       /* is seen by the user: once, and by the names of the program */
    TILE_SPARSE = 1u << 9,     /* an MMA whose region 0 is compressed, region 3 says how */
    TILE_SCALED = 1u << 10,    /* an MMA whose operands have scales, regions 3 and 4 */
    TILE_FOR_ALL = 1u << 11,   /* tells all threads the same about a tile, whoever holds it */
};

/* What an operator is to the epoch of the reducer that is its region 0. */
typedef enum { EPOCH_NONE, EPOCH_OPENS, EPOCH_ADDS, EPOCH_CLOSES } TileEpoch;

struct TileOp {
    const char *name;
    int id;             /* an OpId of op.h */
    const char *params; /* "src: region, dst: region" for docs and stubs */
    const char *doc;
    uint32_t traits;    /* TILE_ bits */
    TileEpoch epoch;
    int nregion;        /* regions it has; -1 any */
    int narg;           /* arguments of one that fetches: a barrier comes after them */
    uint32_t by_owner;  /* regions, by bit: its own loops write each element where it is held */
    void (*check)(Kernel *k, const Stmt *t);   /* shapes, dtypes, scopes: diag_error */
    const char *effects; /* on each region: 'r' read, 'w' write, 'a' both; NULL: as access says */
    void (*access)(const Stmt *t, AccessFn *see, void *arg);
    void (*infer)(Infer *in, const Stmt *t);
    /* With its first operand laid out so, which lanes have parts of a result has no closed form:
     * all of it goes through memory; NULL: it never does. */
    bool (*scatters)(Kernel *k, const Stmt *t, const Layout *from);
    /* The operator's own loops in terms of FORM_LOOPS statements; used when the target has none. */
    const Stmt *(*lower)(Kernel *k, const Stmt *t);
    /* The same by other operators, where threads share it and the target has no mechanism for
     * it; NULL: it stays. */
    const Stmt *(*expand)(Kernel *k, const Stmt *t);
    void (*simulate)(Sim *m, const Stmt *t);   /* the reference meaning */
    double (*flops)(const Stmt *t);            /* per execution; NULL means none */
};

static inline bool tile_does(const Stmt *s, uint32_t any) /* of TILE_ bits */
{
    return s->kind == ST_TILE && (s->u.tile.op->traits & any) != 0;
}
static inline bool tile_is_gemm(const Stmt *s) /* a dense MMA, no scales */
{
    return tile_does(s, TILE_MMA) && !tile_does(s, TILE_SPARSE | TILE_SCALED);
}
/* Two blocks of a cluster do it together; its first one issues it. */
static inline bool tile_pairs(const Stmt *t)
{
    return hint_int(t->u.tile.hints, "pair", 0) != 0;
}
static inline TileEpoch tile_epoch(const Stmt *s)
{
    return s->kind == ST_TILE ? s->u.tile.op->epoch : EPOCH_NONE;
}
void tile_access(const Stmt *t, AccessFn *see, void *arg); /* region by region; region.c */
/* A copy of a region in one memory to one in the other. */
static inline bool tile_brings(const Stmt *s, MemScope from, MemScope to)
{
    return tile_does(s, TILE_COPIES) && s->u.tile.region[0].buf->scope == from &&
           s->u.tile.region[1].buf->scope == to;
}

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
