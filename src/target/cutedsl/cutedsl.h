/* cutedsl.h -- what the files of the CuTe DSL target share.
 *
 * Its text is that of CUDA C (target/cuda/emit.c) in Python: the same statements, the same inline
 * PTX, with the types and loops of NVIDIA's CuTe DSL.  CUDA's emitter prints the kernels and the
 * helpers that they call; this folder reads that text, which is a small part of C, and writes it
 * down again.  What the DSL has no word for is in device/cutedsl. */
#ifndef TL_TARGET_CUTEDSL_H
#define TL_TARGET_CUTEDSL_H

#include "target/target.h"

void cutedsl_emit(Func *f, const TargetSpec *spec, Str *out);

/* ---- lex.c: the words of a text ---------------------------------------------------------------
 */

typedef enum { TK_END, TK_NAME, TK_NUMBER, TK_TEXT, TK_MARK, TK_NOTE, TK_UNROLL } TokenKind;
typedef struct {
    TokenKind kind;
    const char *s; /* a text in C's quotes, a note without its slashes, an unroll's number */
} Token;
typedef VEC(Token) TokenVec;

/* The one comment of C that is kept: tests compare what follows. */
#define CUTEDSL_KERNELS "/* ---- kernels ---- */"

void cutedsl_lex(Arena *a, const char *text, TokenVec *out);

/* ---- expr.c, stmt.c, func.c: from C to Python -------------------------------------------------
 */

/* How tightly Python binds. */
enum {
    DSL_LOOSE,
    DSL_COMPARE = 4,
    DSL_OR,
    DSL_XOR,
    DSL_AND,
    DSL_SHIFT,
    DSL_SUM,
    DSL_PRODUCT,
    DSL_SIGN,
    DSL_TIGHT
};

typedef enum { EX_PLAIN, EX_CELL, EX_ELEMENT, EX_FIELD } DslKind;
typedef struct {
    DslKind kind;
    const char *text; /* of EX_ELEMENT the array, of EX_FIELD the structure */
    const char *at;   /* the index, the field */
    int binds;
    bool pure; /* nothing is read from memory or called */
} DslExpr;

/* A type of C as device/cutedsl calls it. */
typedef struct {
    const char *word; /* "tl_i32"; NULL: void */
    int stars;
    bool constant, structure;
} DslType;

typedef struct {
    Arena *arena;
    Func *func;
    const TargetSpec *spec;
    TokenVec tokens;
    int at;
    Str *out;
    Str before; /* functions that the statement at hand names */
    int indent, nstep;
    Map structures;     /* by name */
    Map templates;      /* functions that take numbers or types between < and > */
    Map classes;        /* of the template at hand: types it takes */
    Map numbers;        /* of the template at hand: numbers it takes */
    Map assigned;       /* names that the function at hand assigns to, or takes the address of */
    Map cells;          /* those of them that are numbers: one-element arrays in Python */
    const char *result; /* what `return` fills, where it is not the last word; NULL: it is */
    DslType returns;
    enum {
        DSL_WHOLE,
        DSL_ELSE,
        DSL_DEEPER
    } rest;              /* where what follows an `if` that returns goes */
    const char *on, *go; /* of the loop at hand: this iteration, and the loop, goes on */
    int nloop;
    Str launches, arguments, examples; /* of the kernels so far: tl_launch */
    int nkernel;
} Dsl;

NORETURN void dsl_refuse(Dsl *p, const char *what);
const char *dsl_name(Dsl *p, const char *name); /* that is no word of Python or of the DSL */
static inline const Token *dsl_now(const Dsl *p)
{
    return &p->tokens.at[p->at];
}
bool dsl_is(const Dsl *p, const char *mark);
bool dsl_take(Dsl *p, const char *mark);
void dsl_want(Dsl *p, const char *mark);
void dsl_line(Dsl *p, const char *fmt, ...) PRINTF(2, 3);

bool dsl_is_type(Dsl *p);
DslType dsl_type(Dsl *p); /* with its stars */
const char *dsl_value(Dsl *p, DslExpr x, int around);
const char *dsl_address(Dsl *p, DslExpr x);
DslExpr dsl_expr(Dsl *p);                      /* without commas */
const char *dsl_list(Dsl *p, const char *end); /* of values, up to and with `end` */
const char *dsl_lambda(Dsl *p);

bool dsl_stmt(Dsl *p);  /* whether nothing after it is reached */
void dsl_block(Dsl *p); /* the inside of braces, which it takes */
void dsl_params(Dsl *p, bool kernel, Str *names, Str *head);
void dsl_find_cells(Dsl *p, int from);
int dsl_close_of(const Dsl *p, int open);

void cutedsl_translate(Dsl *p, const char *text);

#endif
