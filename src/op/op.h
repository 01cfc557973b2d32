/* op.h -- tile operators: one file, one const TileOp, one row in op.def each.
 *
 * If a pass has to ask "is this a gemm?", a slot is missing here. */
#ifndef TL_OP_OP_H
#define TL_OP_OP_H

#include "isa/isa.h"
#include "ir/mech.h"
#include "ir/tile.h"
#include "layout/layout.h"

typedef enum {
#define OP(name) OP_##name,
#include "op/op.def"
#undef OP
    OP_COUNT
} OpId;
#define OPS(name) (1u << OP_##name) /* of Mech.ops */

typedef enum { INFER_STRICT, INFER_COMMON, INFER_FREE } InferLevel;

/* What an operator sees while layouts are being inferred. */
struct Infer {
    Kernel *k;
    Ir *ir;
    InferLevel level;
    ThreadGroup group; /* that runs the statement */
    int64_t nthread;   /* of it */
    bool asking;      /* would it rather have another layout?  One that takes any sets nothing */
    void *state;      /* of who infers, and how it answers: */
    const Layout *(*get)(void *state, const Buffer *b);
    void (*set)(Infer *in, const Buffer *b, const Layout *l, const Stmt *because);
};
static inline const Layout *infer_get(Infer *in, const Buffer *b) /* NULL: open */
{
    return in->get(in->state, b);
}
/* Fix the layout of b.  A second strict wish that differs asks for a conversion (recorded, with
 * the spans of both); weaker levels that differ are ignored. */
static inline void infer_set(Infer *in, const Buffer *b, const Layout *l, const Stmt *because)
{
    in->set(in, b, l, because);
}

extern const Mech mech_scalar; /* gemm.c: a GEMM by a triple loop */
extern const TileOp *const op_table[OP_COUNT];
const TileOp *op_find(const char *name); /* NULL if unknown */
extern const IrWords op_words;           /* the text form of operators, instructions, layouts */
#define OP(name) extern const TileOp op_##name;
#include "op/op.def"
#undef OP

void infer_nothing(Infer *in, const Stmt *t);
void pair_refuse(Kernel *k, const Stmt *t); /* where the loops of an operator are for one block */

/* ---- parallel.c: T.Parallel nests take part in inference as operators do --------------------- */

typedef struct {
    Buffer *buf;
    int n;
    const Expr **at;   /* over layout_axis: loop d is axis d */
    Access how;
} LoopAccess;

typedef struct {
    const Stmt *loop;  /* outermost */
    const Stmt *body;
    int n;
    Var *var[RANK_MOST];
    int64_t extent[RANK_MOST];
    bool fixed;        /* extents are constants */
    const Layout *pinned; /* loop_layout= */
    int64_t width;        /* coalesced_width=, elements of an access at most; 0: not said */
    Facts *facts;         /* about run-time dimensions; NULL: none */
    VEC(LoopAccess) access;
    VEC(const Stmt *) inner; /* loops of the body whose bounds are numbers */
} LoopNest;

void parallel_read(Ir *ir, const Stmt *s, LoopNest *p);
void parallel_know(Kernel *k, LoopNest *p); /* what the kernel's launch checked */
/* Candidate `which` for the layout of the nest where no fragment settles it; NULL past the last. */
const Layout *parallel_candidate(Infer *in, const LoopNest *p, int which);
/* The layout that the fragments already placed ask for; NULL if none does. */
const Layout *parallel_settled(Infer *in, const LoopNest *p);
/* Layouts of the open fragments of the nest, given its own. */
void parallel_spread(Infer *in, const LoopNest *p, const Layout *loop);
/* The layout in which `a` can be used by the nest as it runs: a fragment over the buffer. */
const Layout *parallel_wanted(Infer *in, const LoopNest *p, const LoopAccess *a,
                              const Layout *loop);
/* Of what is summed into where each element's iterations run in one thread; NULL: they do not. */
const Layout *parallel_owned(Ir *ir, const LoopNest *p, const LoopAccess *a, const Layout *loop);
const Layout *parallel_everywhere(Infer *in, const LoopNest *p); /* all threads run all of it */
/* Do the threads that run the nest hold what they use, and run it everywhere a result is held? */
bool parallel_agrees(Ir *ir, const LoopNest *p, const LoopAccess *a, const Layout *loop,
                     const Layout *owner);
/* The widest access that all global and shared buffers allow. */
int parallel_width(Ir *ir, const LoopNest *p, int max_bytes);
bool parallel_moves_along(Ir *ir, const LoopNest *p, const LoopAccess *a); /* the innermost loop */

/* ---- region.c: helpers shared by operators --------------------------------------------------- */

/* Conjunction of 0 <= at[d] < shape[d] where not provable; NULL when always in bounds. */
const Expr *region_guard(Ir *ir, const Facts *f, const Buffer *b, const Expr *const *at);
/* A perfect loop nest in the making: variables first, then the body that uses them. */
typedef struct {
    int n;
    Var *var[RANK_MOST];
    const Expr *at[RANK_MOST];     /* the variables as expressions */
    const Expr *min[RANK_MOST];    /* NULL: 0 */
    const Expr *extent[RANK_MOST];
} Nest;
void nest_open(Kernel *k, Nest *n, int nloop, const Expr *const *extent);
const Stmt *nest_close(Kernel *k, Span at, const Nest *n, LoopHow how, const Stmt *body);
void nest_facts(Kernel *k, const Nest *n, Facts *f);

/* What every kernel knows of its own variables: blocks, threads, dims. */
Facts *kernel_facts(Kernel *k);
/* And of all names and loops of its body.  Shared: who adds to them takes it away again. */
Facts *body_facts(Kernel *k);
/* A scalar the lowering needs, added to the kernel's buffers. */
Buffer *kernel_scalar(Kernel *k, const char *name, DType t, Span at);
const Expr *scalar_get(Kernel *k, Buffer *b);
const Stmt *scalar_set(Kernel *k, Span at, Buffer *b, const Expr *value);
/* The type sums are carried in for a result of type t: narrow floats in float32. */
DType accumulate_type(DType t);
/* Of its float32 operands the GEMM takes what tfloat32 holds: the target's habit, unless
 * precision= or the pass config tl.gemm_precision says float32. */
bool gemm_cuts(const Kernel *k, const Stmt *t);
/* ---- gemm_scaled.c */
typedef enum { SCALES_ROWS, SCALES_CHUNKS, SCALES_LANES } ScalesWhere; /* see there */
typedef struct {
    bool trans[2];
    int64_t rows[2], k;      /* rows of A, columns of B */
    int64_t words[2];        /* of scales, for each of them */
    int64_t grain[2];        /* elements that a scale is for */
    DType type[2];           /* of the scales */
    ScalesWhere where;
    const Expr *k_start;     /* the first k of the tile, of all */
} ScaledShape;
ScaledShape scaled_shape(const Stmt *t);
/* Of operand 0 or 1: the number of the scale of element k of the tile; the word of its row that
 * holds it, as byte number % 4. */
const Expr *scaled_number(Ir *ir, const ScaledShape *s, int which, const Expr *k);
const Expr *scaled_word(Ir *ir, const ScaledShape *s, int which, const Expr *number);
/* The word of a row, shifted until the scale of element k is its lowest byte; quarter: of the
 * lanes, where that matters. */
const Expr *scaled_bytes(Ir *ir, const Stmt *t, int which, const Expr *row, const Expr *k,
                         const Expr *quarter);
/* T.annotate_safe_value of b, or zero, in type t. */
const Expr *safe_value(Kernel *k, const Buffer *b, DType t);
/* ---- reduce.c, scan.c */
/* A T.reduce as it is meant: which loops stay, which dimension goes. */
typedef struct {
    const Reduction *r;
    int dim;                 /* of the source, from 0 */
    bool clear, nan;
    int nkept;
    int from[RANK_MOST];     /* source dimension of each kept loop */
    int to[RANK_MOST];       /* destination dimension */
} Reduce;
bool reduce_shape(Kernel *k, const Stmt *t, Reduce *x); /* false: reported */

typedef struct {
    const Reduction *r;
    int dim;
    bool reverse;
} Scan;
bool scan_shape(Kernel *k, const Stmt *t, Scan *x); /* false: reported */

/* Argument i of a tile statement: its constant, or `otherwise` when not given. */
int64_t tile_arg_int(const Stmt *t, int i, int64_t otherwise);

/* ---- copy.c */
/* A copy that a pass made, by the threads' own loads and stores; why: what --plans says of it. */
const Stmt *copy_plain(Kernel *k, Span at, Region from, Region to, const char *why);
/* Bytes that a thread moves at a time by m; 0: it cannot do this copy. */
int copy_async_bytes(Kernel *k, const Facts *f, const Mech *m, const Stmt *t);

#endif
