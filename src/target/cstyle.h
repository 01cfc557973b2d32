/* cstyle.h -- C text: the state of an emitter and the printer of expressions.
 *
 * Used by the targets whose text is some C: target/cpu, target/cuda. */
#ifndef TL_TARGET_CSTYLE_H
#define TL_TARGET_CSTYLE_H

#include "target/target.h"

typedef enum {
    PART_ABI,
    PART_OVERLAP,
    PART_CONVERT,
    PART_SCALAR,
    PART_MATH,
    PART_VECTOR,
    PART_GEMM,
    PART_AMX,
    PART_PACK,
    PART_TILE,
    PART_RANDOM,
    PART_THREADS,
    PART_COUNT
} Part;

/* How a dialect of C names what it has of its own. */
typedef struct {
    const char *const *math_f32, *const *math_f64; /* by MathFn */
    const char *nan_f32, *inf_f32, *nan_f64, *inf_f64;
    const char *popcount[2], *ffs[2]; /* of 32 and of 64 bits */
    const char *fns;
    const char *ldg;    /* NULL: a load like any other */
    const char *neg_i16;    /* -x of 16 bits; NULL: C's own, wrapped */
    const char *above_zero; /* max(x, 0) of 32 bits; NULL: the maximum will do */
    bool tests_indices; /* an index of a tile that is not proved is tested when it runs */
} CSpelling;

typedef struct {
    Func *func;
    Kernel *k; /* NULL in the host part */
    Ir *ir;
    const TargetSpec *spec;
    const CSpelling *say;
    Str *out;
    Arena *arena;
    NameTable *names;
    Facts *facts; /* ranges of every variable of the kernel: Vars are unique */
    Map *loaded;  /* names for what was read from memory */
    const Map *written; /* buffers that the kernel writes; NULL: not known */
    bool constant;      /* the element at hand is read through the cache for constant data */
    int indent;
    bool part[PART_COUNT];
    Str decls; /* routines for the operand types at hand, before the kernels */
    Map routines;
    bool checks;        /* some index is tested when it runs */
    Map checked;        /* buffers it may leave */
    int nsite;          /* places where threads meet */
    bool in_collective; /* one thread works for all */
    bool streams;       /* some stores go past the caches */
    const void *ahead;  /* target/cpu: what to fetch early */
    const char *leave;  /* statement that ends the block early: "return;" */
} Emit;

/* cstyle.c */
void emit_line(Emit *e, const char *fmt, ...) PRINTF(2, 3); /* indented, newline added */
void emit_know_ranges(Emit *e, const Kernel *k);
void emit_expr(Emit *e, const Expr *x);               /* a value: integers wrap */
void emit_index(Emit *e, const Expr *x);              /* an offset or bound: known not to wrap */
void emit_extern_args(Emit *e, const char *fn, const Expr *const *arg, int n); /* fn(arg, …) */
void emit_value(Emit *e, const Expr *x);              /* the same two where nothing binds them: */
void emit_loose(Emit *e, const Expr *x);              /* between brackets, commas, after = */
const char *c_value_type(DType t); /* what a value of t is computed in: "float", "int32_t" */
const char *c_storage_type(DType t);
void emit_store(Emit *e, const Buffer *b, const Expr *at, const Expr *value);
void emit_stored(Emit *e, DType t, const Expr *value); /* value converted to the storage of t */
const char *buffer_name(Emit *e, const Buffer *b);
const char *var_name(Emit *e, const Var *v);
void emit_line_directive(Emit *e, const Stmt *s); /* where the pass config asks for them */

/* cstyle_lane.c */
const Expr *lane_of(Ir *ir, const Expr *x, int lane);

/* cstyle_literal.c */
void emit_quoted(Str *out, const char *text);
void emit_assert_text(Emit *e, const Stmt *s); /* what a failed assertion says, quoted */
void emit_int_literal(Str *out, DType t, int64_t v);
void emit_float_literal(Emit *e, DType t, double v);

#endif
