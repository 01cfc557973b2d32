/* sim.h -- the executable definition: runs a Func in any form on the CPU, element by element.
 *
 * Values are typed: a float of any type is carried as a double rounded to its type after every
 * operation, an integer as an int64 wrapped to its width.  Every element of every buffer has an
 * "initialised" bit.  Out-of-bounds accesses, reads of uninitialised on-chip memory, division by
 * zero and failed asserts are reported with the statement's span (a Diag message) and stop the run.
 *
 * One machine serves tile form (a block runs as a whole) and thread form (threads, warps, memories;
 * filled in by the GPU issue): operators and instructions see the same functions. */
#ifndef TL_SIM_SIM_H
#define TL_SIM_SIM_H

#include "ir/tile.h"
#include "isa/isa.h"
#include "layout/layout.h"

typedef struct {
    double f;   /* value when the type is a float */
    int64_t i;  /* otherwise */
} Value1;

/* One argument of a run, in parameter order. */
typedef struct {
    void *data;      /* tensor: packed row-major unless stride given; scalar: NULL */
    int64_t shape[RANK_MOST];
    int64_t stride[RANK_MOST]; /* elements; all 0: contiguous */
    int rank;
    DType type;
    Value1 scalar;
} SimArg;
/* A tensor the caller does not have; the kernel does not touch it. */
static inline bool arg_is_absent(const SimArg *a)
{
    return a->rank > 0 && a->shape[0] == INT64_MIN;
}

/* Who watches a run: commands are asked for, answers said; debug.c has the words. */
typedef struct {
    bool (*ask)(void *arg, char *line, size_t n); /* false: no more; the run goes on to its end */
    void (*say)(void *arg, const char *text);
    void *arg;
    bool quit; /* out: the run was given up */
} SimDebugger;

typedef struct {
    bool check_uninit;   /* default true */
    uint64_t seed;       /* of T.rng_* and schedules */
    Str *print;          /* T.print goes here; NULL: stdout */
    uint64_t max_steps;  /* 0: no limit; past it [sim-steps] */
    /* NULL, or Stmt -> itself for waits for a barrier in memory that had to wait for something,
     * arrivals that something waited for, and fences that settled a register of an MMA: others of
     * these kinds could be left out of this run. */
    Map *needed;
    struct SimStats *stats; /* NULL, or what counts accesses */
    struct SimTimes *times; /* NULL, or what keeps clocks */
    const struct SimStats *banks; /* for clocks: of a run of the same kernel before; NULL: none */
    SimDebugger *debugger;  /* NULL, or who watches */
    bool (*go_on)(void *);  /* NULL, or asked now and then; false ends the run [interrupted] */
    void *go_on_arg;
} SimOptions;

/* How warps touched memory, by source line: accesses to shared memory and their extra wavefronts,
 * accesses to global memory, the 32-byte sectors they took and the least that could do. */
typedef struct SimStats SimStats;
SimStats *stats_new(Arena *a);
void stats_text(const SimStats *s, Str *out);
/* Extra wavefronts that an access of the statement to shared memory took, in the mean. */
double stats_turns(const SimStats *s, const Stmt *at);

/* When warps did what, by a model: times are cycles of no machine (timing.c). */
typedef enum { SIM_NOTHING, SIM_COPY, SIM_MATRIX, SIM_WAIT, SIM_COMPUTE } SimWork;
enum { TIMED_BLOCKS = 8 }; /* the first ones that run */
typedef struct {
    int block, warp; /* block: of the timed ones */
    int line;
    bool producer;
    SimWork work;
    double from, to;
} SimSpan;
typedef VEC(SimSpan) SimSpans;
typedef struct SimTimes SimTimes;
SimTimes *times_new(Arena *a);
const SimSpans *times_spans(const SimTimes *t);

/* Run the whole function: dims solved from the arguments, kernels in order, blocks in order.
 * Errors go to f->diag and are thrown (diag_fail). */
void sim_run(Func *f, SimArg *args, int narg, const SimOptions *o);

/* ---- arguments.c ----------------------------------------------------------------------------- */

/* Values of dims and scalars, data pointers of tensors, as the entry wants them.  `text` gets a
 * message ending in a [tag]; false then. */
typedef struct {
    void **tensor;   /* room for one per parameter */
    int64_t *value;  /* room for dims and parameters */
    int64_t *by_var; /* room for ir->nvar: dims and integer scalars by Var id */
} Binding1;
bool arguments_bind(Func *f, const SimArg *args, int narg, Binding1 *b, char *text, size_t ntext);
/* Solve dims from the arguments marked `given` and the values already set (known[i] by dim), then
 * fill type, rank and shape of the others. */
bool arguments_solve(Func *f, SimArg *args, int narg, const bool *given, int64_t *by_var,
                     bool *known, char *text, size_t ntext);
/* Bind T.dynamic dims (values[var->id]) and check every shape; false: message in f->diag. */
bool sim_solve_dims(Func *f, const SimArg *args, int narg, int64_t *values);

/* ---- what operators and instructions see ----------------------------------------------------- */

Kernel *sim_kernel(Sim *m);
NORETURN void sim_fail(Sim *m, const Stmt *at, const char *fmt, ...) PRINTF(3, 4); /* with [tag] */
Value1 sim_value(Sim *m, const Expr *e);
int64_t sim_int(Sim *m, const Expr *e);
bool sim_is_true(Sim *m, const Expr *e);

/* A region with its numbers worked out, for quick element access in the buffer's logical shape. */
typedef struct {
    Buffer *buf;
    int rank;
    int64_t at[RANK_MOST], extent[RANK_MOST], shape[RANK_MOST];
    Access may; /* what the operator says it does with it */
    void *mem;  /* private */
} SimRegion;
SimRegion sim_region(Sim *m, const Stmt *at, const Region *r);
/* The same place in block 0 or 1 of the pair that does the statement together. */
SimRegion sim_pair_region(Sim *m, const Stmt *at, const Region *r, int which);
/* Element at region-relative coordinates.  get: false when outside the buffer (global only; on-chip
 * is an error [out-of-bounds]); put outside a global buffer is dropped. */
/* Is the element one of the tensor's?  What lies outside is not stored, so it is not read. */
bool sim_inside(const SimRegion *r, const int64_t *idx);
bool sim_get(Sim *m, const Stmt *at, const SimRegion *r, const int64_t *idx, Value1 *v);
void sim_put(Sim *m, const Stmt *at, const SimRegion *r, const int64_t *idx, Value1 v);
/* A region as dense doubles or int64s, row-major, and back: for gemm. */
void sim_get_matrix(Sim *m, const Stmt *at, const SimRegion *r, double *f, int64_t *i);
void sim_put_matrix(Sim *m, const Stmt *at, const SimRegion *r, const double *f, const int64_t *i);
/* T.copy: conversion, safe value outside a global source, drop outside a global destination. */
void sim_copy(Sim *m, const Stmt *at, const Region *src, const Region *dst);
/* C += op(A) op(B): exact products, summed in double (integers wrap), rounded once into C. */
/* cuts: of float32 what tfloat32 holds */
void sim_gemm(Sim *m, const Stmt *at, const Region *a, const Region *b, const Region *c,
              bool trans_a, bool trans_b, bool clear, bool cuts);
/* By a pair of blocks: each has rows of A and C, and half of the columns of B. */
void sim_gemm_pair(Sim *m, const Stmt *at, const Region *r, bool trans_a, bool trans_b, bool clear,
                   bool cuts);
/* The next point of a box in row-major order; false after the last (at is all zero again). */
bool sim_next(int n, const int64_t *extent, int64_t *at);
bool sim_region_empty(const SimRegion *r);
void *sim_alloc(Sim *m, size_t nbytes); /* zeroed, until the statement ends */
void sim_print(Sim *m, const char *text);

/* value.c */
Value1 value_cast(DType from, DType to, Value1 v);
Value1 value_binary(ExprOp op, DType t, Value1 a, Value1 b); /* operands already of type t */
/* a and b of type t.  Sums of floats are not rounded here: round once, when the result is kept. */
Value1 value_reduce(const Reduction *r, bool nan, DType t, Value1 a, Value1 b);
Value1 value_math(MathFn fn, DType t, const DType *arg_type, const Value1 *arg);
double value_round(DType t, double v); /* num_round, quick for ordinary values */
typedef union {
    double f;
    int64_t i;
} ValueCell;
/* Scale `number` of a row, of type e8m0 or e4m3 without its sign: a byte of its word. */
double value_scale(DType type, uint32_t word, int64_t number);
/* c + a . b of n elements, c of type t, as matrix instructions do it: integers wrap; a sum of
 * floats is exact and rounded once. */
ValueCell value_dot(DType t, int n, const ValueCell *a, const ValueCell *b, ValueCell c);

#endif
