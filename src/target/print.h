/* print.h -- text of a kernel: the state of an emitter and the one printer of statements and
 * expressions.  Dialect says how a language spells them. */
#ifndef TL_TARGET_PRINT_H
#define TL_TARGET_PRINT_H

#include "target/dialect.h"
#include "target/target.h"

struct Emit {
    Func *func;
    Kernel *k; /* NULL in the host part */
    Ir *ir;
    const TargetSpec *spec;
    const Dialect *say;
    Str *out;
    Arena *arena;
    NameTable *names;
    Facts *facts; /* ranges of every variable of the kernel: Vars are unique */
    Map *loaded;  /* names for what was read from memory */
    Map *halves;  /* names of narrow numbers, and the names of their bits; NULL: have none */
    const Map *written; /* buffers that the kernel writes; NULL: not known */
    const Map *seen;    /* variables that something mentions; NULL: all may be */
    bool constant;      /* the element at hand is read through the cache for constant data */
    int indent;
    const Origin *origin; /* of the statement before: what has its comment */
    bool converts, maths; /* conversions, functions of device/ are called */
    Str decls; /* routines for the operand types at hand, before the kernels */
    Map routines;
};

/* print_stmt.c */
void emit_indent(Emit *e);
void emit_line(Emit *e, const char *fmt, ...) PRINTF(2, 3); /* indented, newline added */
void emit_stmt(Emit *e, const Stmt *s); /* NULL: nothing */
void repeat_line_directives(Str *source); /* print_lines.c */
void emit_parens(Emit *e, const Expr *x); /* in exactly one pair */
/* Indentation, then "if (guard) " where there is one. */
void emit_guard(Emit *e, const Expr *guard);
/* Indentation, then "const T v = " where something mentions v; type NULL: of its values. */
void emit_bind(Emit *e, const Var *v, const char *type);
/* With a line before it, or NULL; `body` prints what is repeated. */
void emit_loop(Emit *e, const Stmt *s, const char *pragma, EmitStmtFn *body);
void emit_know_ranges(Emit *e, const Kernel *k);

/* legalise.c: the body of e->k without what the dialect lacks; or it says why not */
void legalise(Emit *e);

/* print_expr.c */
/* How tightly the text around binds: what binds less is put in parentheses. */
enum { LOOSE = 0, OF_AND = 3, OF_COMPARISON = 8, TIGHT = 11 };
/* index: an offset or bound, known not to wrap; else a value: integers wrap. */
void emit_at(Emit *e, const Expr *x, bool index, int around);
void emit_bare(Emit *e, const Expr *x, bool index, int around); /* not rounded to its type */
static inline void emit_expr(Emit *e, const Expr *x) { emit_at(e, x, false, TIGHT); }
static inline void emit_index(Emit *e, const Expr *x) { emit_at(e, x, true, TIGHT); }
/* The same two where nothing binds them: between brackets, commas, after = */
static inline void emit_value(Emit *e, const Expr *x) { emit_at(e, x, false, LOOSE); }
static inline void emit_loose(Emit *e, const Expr *x) { emit_at(e, x, true, LOOSE); }
void emit_choice(Emit *e, const Expr *const *of, bool index); /* of three: the dialect's select */
void emit_extern_args(Emit *e, const char *fn, const Expr *const *arg, int n); /* fn(arg, …) */
bool is_loaded(const Emit *e, const Expr *x); /* from memory, or from a name for such */
const Expr *emit_truth(const Emit *e, const Expr *x); /* a bool of memory as 0 or 1 */
const char *buffer_name(Emit *e, const Buffer *b);
const char *var_name(Emit *e, const Var *v);

/* print_convert.c: numbers of other types, elements in memory */
const char *c_value_type(DType t); /* what a value of t is computed in: "float", "int32_t" */
const char *c_storage_type(DType t);
const char *narrow_name(DType t); /* as helpers call it: "f16"; NULL: it is computed in itself */
bool rounds(const Expr *x);       /* its result must be brought back to its narrow type */
/* Of the bits of halves; emit_half_op prints its bits. */
bool is_half_op(const Emit *e, const Expr *x);
void emit_half_op(Emit *e, const Expr *x);
bool emit_let_bits(Emit *e, const Stmt *let); /* false: nothing was printed */
void emit_cast_to(Emit *e, const char *type, const Expr *x, bool index); /* (T)x */
void emit_cast(Emit *e, DType to, const Expr *x, int around);
void emit_bitcast(Emit *e, const Expr *x);
void wrap_open(Emit *e, DType t); /* around an integer that may have been computed in a wider one */
void wrap_close(Emit *e, DType t);
void emit_load(Emit *e, const Expr *x);
void emit_constant(Emit *e, const Expr *x); /* a load through the cache for constant data */
void emit_store(Emit *e, const Buffer *b, const Expr *at, const Expr *value);
void emit_stored(Emit *e, DType t, const Expr *value); /* value converted to the storage of t */

/* print_lane.c */
DType unsigned_of(int bits);
const Expr *lane_of(Ir *ir, const Expr *x, int lane);

/* print_literal.c */
void emit_form(Emit *e, const char *form, const char *type, const char *name);
void emit_quoted(Str *out, const char *text);
void emit_assert_text(Emit *e, const Stmt *s); /* what a failed assertion says, quoted */
void emit_int_literal(Str *out, DType t, int64_t v);
void emit_float_literal(Emit *e, DType t, double v);

#endif
