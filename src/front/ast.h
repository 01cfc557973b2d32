/* ast.h -- tokens and the syntax tree of the Python that kernel files are written in.
 *
 * lex.c and parse_*.c make it, ast.c prints it, eval_*.c runs it.  Nodes live in the arena of
 * the compilation and are never changed. */
#ifndef TL_FRONT_AST_H
#define TL_FRONT_AST_H

#include "base/base.h"

/* ---- lex.c ----------------------------------------------------------------------------------- */

typedef enum {
#define TOKEN(id, text) TK_##id,
#define KEYWORD(id, text) TK_##id,
#include "front/token.def"
#undef TOKEN
#undef KEYWORD
    TK_COUNT
} TokenKind;

typedef struct {
    TokenKind kind;
    Span span;
    const char *text; /* TK_NAME: interned; TK_STRING, TK_FSTRING_TEXT: decoded, terminated;
                         all others: where it stands in the source */
    size_t len;       /* of text */
    bool is_bytes;    /* TK_STRING: b"" */
} Token;

/* All tokens of a file, ending in TK_EOF; INDENT and DEDENT included.  Errors are reported, leave
 * a TK_ERROR, and the lexer goes on.  An f-string is TK_FSTRING_START, then TK_FSTRING_TEXT and
 * fields ({ tokens ! name : text and fields }), then TK_FSTRING_END. */
Token *lex(Arena *a, Names *names, Diag *d, const Source *src, int *ntok);
/* The same for one expression: line ends mean nothing, as if brackets stood around the text. */
Token *lex_expression(Arena *a, Names *names, Diag *d, const Source *src, int *ntok);
const char *token_text(TokenKind k); /* "<<=", "while", "end of line" */

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct Ast Ast;         /* an expression */
typedef struct AstStmt AstStmt; /* a statement */

typedef enum {
    AST_NAME,      /* name */
    AST_INT,       /* i; wide: the bits of a value from 2^63 to 2^64-1; past that [int-too-big] */
    AST_FLOAT,     /* f */
    AST_IMAGINARY, /* 1j, for functions that no kernel calls */
    AST_STRING,    /* str, len; neighbours are joined */
    AST_FSTRING,   /* kids: AST_STRING and AST_FORMAT parts */
    AST_FORMAT,    /* one {…}: kid[0] value; str = "", "!r", ":>8", "!r:>8": conversion and spec as
                      spelled.  If the spec has fields of its own, kid[1] is an AST_FSTRING of it
                      and str ends at the ':' */
    AST_BYTES,     /* str, len */
    AST_TRUE, AST_FALSE, AST_NONE, AST_ELLIPSIS,
    AST_TUPLE, AST_LIST, AST_SET, /* kids, AST_STAR among them */
    AST_DICT,      /* kids in pairs key, value; a NULL key means **value */
    AST_UNARY,     /* op TK_SUB, TK_ADD, TK_INVERT, TK_NOT; kid[0] */
    AST_BINARY,    /* op = TokenKind of the operator; kid[0], kid[1] */
    AST_COMPARE,   /* kids n+1 operands, ops[n]: TK_LT … TK_IN, TK_NOT_IN, TK_IS, TK_IS_NOT */
    AST_BOOLOP,    /* op TK_AND / TK_OR; kids */
    AST_TERNARY,   /* kid[0] if kid[1] else kid[2] */
    AST_CALL,      /* kid[0] callee; args */
    AST_ATTR,      /* kid[0] . name */
    AST_INDEX,     /* kid[0] [ kid[1] ]; kid[1] is AST_TUPLE for several */
    AST_SLICE,     /* kid[0]:kid[1]:kid[2], each may be NULL */
    AST_LAMBDA,    /* func (body is one return) */
    AST_STAR,      /* *kid[0] */
    AST_COMP,      /* comprehension: comp */
    AST_WALRUS,    /* name := kid[0] */
    AST_YIELD,     /* parsed, refused when run; op TK_FROM for "yield from"; kid[0] if any */
    AST_AWAIT,     /* kid[0] */
} AstKind;

typedef struct {
    const char *name; /* keyword, NULL for positional */
    int star;         /* 0, 1 for *x, 2 for **x */
    Ast *value;
    Span span;
} AstArg;

typedef struct {
    const char *name;
    int star; /* 0, 1 for *args, 2 for **kwargs */
    bool kwonly, posonly;
    Ast *annotation; /* or NULL */
    Ast *value;      /* default or NULL */
    Span span;
} AstParam;

typedef struct {
    Ast *target; /* name or tuple */
    Ast *iter;
    Ast **conds;
    int ncond;
    bool is_async;
} AstCompFor;

typedef struct AstFunc {
    const char *name; /* "<lambda>" for lambdas */
    AstParam *params;
    int nparam;
    Ast *returns;
    Ast **decorators;
    int ndecorator;
    AstStmt **body;
    int nbody;
    Span span;      /* of the header line */
    Span name_span;
    bool is_async;
} AstFunc;

struct Ast {
    AstKind kind;
    TokenKind op;
    Span span;
    const char *name;
    int64_t i;
    double f;
    const char *str;
    size_t len;
    Ast **kid;
    int nkid;
    TokenKind *ops;    /* AST_COMPARE */
    AstArg *args;      /* AST_CALL */
    int narg;
    AstFunc *func;     /* AST_LAMBDA */
    char comp;         /* AST_COMP: '[' list, '{' set, ':' dict (kid 0 key, 1 value),
                          '(' generator */
    bool wide;         /* AST_INT */
    short height;      /* levels below and with this one; at most DEPTH_MOST */
    AstCompFor *fors;  /* AST_COMP */
    int nfor;
};

typedef enum {
    AS_EXPR,     /* value */
    AS_ASSIGN,   /* targets[ntarget] = value  (a = b = v has two) */
    AS_AUG,      /* targets[0] op= value; op is the binary operator's TokenKind */
    AS_ANN,      /* targets[0] : annotation [= value] */
    AS_IF,       /* value; body; orelse (elif is a nested AS_IF in orelse) */
    AS_FOR,      /* targets[0] in value; body; orelse */
    AS_WHILE,    /* value; body; orelse */
    AS_WITH,     /* items; body */
    AS_DEF,      /* func */
    AS_CLASS,    /* name, bases, body; func holds name, spans and decorators, no body */
    AS_RETURN,   /* value or NULL */
    AS_PASS, AS_BREAK, AS_CONTINUE,
    AS_ASSERT,   /* value, message (or NULL) */
    AS_RAISE,    /* value or NULL, message = cause */
    AS_IMPORT,   /* names: import a.b as c, ... */
    AS_FROM,     /* name = module ("." kept), names; a name "*" for star */
    AS_GLOBAL, AS_NONLOCAL, /* names */
    AS_DEL,      /* targets */
    AS_TRY,      /* body; orelse = else, handlers, final */
    AS_MATCH,    /* parsed enough to be skipped: only the span is kept */
    AS_TYPE,     /* type name = value */
} AstStmtKind;

typedef struct {
    const char *name;  /* "a.b" or "x" */
    const char *alias; /* NULL if none */
    Span span;
} AstImport;

typedef struct {
    Ast *context;
    Ast *target; /* NULL without "as" */
} AstWith;

typedef struct {
    Ast *type;
    const char *name;
    AstStmt **body;
    int nbody;
    bool star; /* except* */
} AstHandler;

struct AstStmt {
    AstStmtKind kind;
    TokenKind op;
    Span span; /* of the whole first line of the statement, header only for compound ones */
    Ast **targets;
    int ntarget;
    Ast *value, *annotation, *message;
    AstStmt **body, **orelse, **final;
    int nbody, norelse, nfinal;
    AstWith *items;
    int nitem;
    AstFunc *func;
    const char *name;
    AstImport *names;
    int nname;
    AstArg *bases; /* AS_CLASS */
    int nbase;
    AstHandler *handlers;
    int nhandler;
    bool is_async; /* AS_FOR, AS_WITH */
};

typedef struct {
    const Source *src;
    AstStmt **body;
    int nbody;
} AstModule;

/* Parse a file.  Keeps going after an error to the next line; the caller looks at d->nerror. */
AstModule *parse_module(Arena *a, Names *names, Diag *d, const Source *src);
/* Parse one expression, as for NAME=VALUE on the command line and string annotations; NULL after
 * an error. */
Ast *parse_expression(Arena *a, Names *names, Diag *d, const Source *src);

#endif
