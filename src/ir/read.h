/* read.h -- the reader of the text form: lex.c, read_expr.c, read_stmt.c, read.c; ir/ only. */
#ifndef TL_IR_READ_H
#define TL_IR_READ_H

#include "ir/text.h"

typedef enum {
    TOKEN_END, TOKEN_NEWLINE, TOKEN_INDENT, TOKEN_DEDENT, TOKEN_NAME, TOKEN_INT, TOKEN_FLOAT,
    TOKEN_STRING, TOKEN_PUNCT,
} TokenKind;

enum { NEST_MOST = 256, TILES_MOST = 65535 }; /* blocks inside blocks; tile numbers */

typedef struct {
    TokenKind kind;
    const char *at; /* in the source */
    size_t n;
    uint64_t value;   /* TOKEN_INT */
    const char *text; /* TOKEN_NAME, TOKEN_STRING, TOKEN_PUNCT: a terminated copy */
    Span span;
} Token;

/* A name of the text stands for one thing throughout. */
typedef struct {
    Var *var;
    Buffer *buf;
} Named;

typedef struct {
    Ir *ir;
    Arena *arena;
    const Source *src; /* the text being read */
    const char *p;     /* next character */
    const char *line_start;
    int line;
    int indent[NEST_MOST], nindent;
    int dedents;       /* still to be handed out */
    bool line_open;    /* something of this line was handed out */
    bool ended;        /* no more lines */
    Token tok;
    int depth;         /* of parse functions */
    Map names;         /* text -> Named */
    Map kernels;       /* text -> Kernel */
    Map sources;       /* file name -> Source */
    Source *main;      /* the file that plain spans are in; its name comes with `source` */
    Func *func;
    bool alone;        /* a kernel without its function */
    Var *const *vars;  /* expr_parse: the names there are */
    int nvar;          /* -1: it is not that */
} Reader;

/* lex.c */
void lex_start(Reader *r, Ir *ir, const Source *src);
void lex_next(Reader *r);
bool tok_is(const Reader *r, const char *punct_or_name);
bool tok_take(Reader *r, const char *punct_or_name); /* consume it if it is there */
void tok_expect(Reader *r, const char *punct_or_name);
const char *tok_name(Reader *r, const char *what);   /* consume a name, else [ir-syntax] */
const char *tok_string(Reader *r);
int64_t tok_int(Reader *r, int64_t least, int64_t most); /* with sign */
NORETURN void read_fail(Reader *r, Span at, const char *fmt, ...) PRINTF(3, 4);
void read_enter(Reader *r);
void read_leave(Reader *r);

/* read_expr.c */
typedef VEC(const Expr *) ExprVec;
const Expr *read_expr(Reader *r);
/* Up to the closing punctuation, which is consumed; `none` gives NULL where allowed. */
void read_list(Reader *r, const char *close, bool none, ExprVec *out);
DType read_type(Reader *r, int *lanes);
Var *read_var(Reader *r);             /* one that exists */
const char *name_hint(Reader *r, const char *name); /* without its number */
Var *define_var(Reader *r, const char *name, DType t, Span at);
Buffer *read_buffer_name(Reader *r);
/* "[i, j]" after the buffer's name. */
void read_indices(Reader *r, const Buffer *b, Span at, ExprVec *out);
const Expr *as_type(Reader *r, const Expr *e, DType t, Span at); /* literals give way */
Hints read_hints(Reader *r);          /* after the word `hints` */
const Layout *read_layout(Reader *r); /* after the word `layout` */

/* read_stmt.c */
const Stmt *read_block(Reader *r); /* NEWLINE INDENT … DEDENT */
const Stmt *read_stmt(Reader *r);
Span read_line_end(Reader *r);
void read_open(Reader *r, Span *at); /* ":" span NEWLINE INDENT */
Kernel *read_kernel(Reader *r, const char *name); /* read.c: the lines inside */

#endif
