/* parse.h -- what the parser's files share: the cursor, failing, and the rules they call across.
 *
 * The first error of a statement is reported and puts the parser in panic: the token at hand then
 * reads as TK_ERROR, which no rule accepts, so every rule returns on its own.  The list of
 * statements around it skips to the next line of its own level and goes on.  Rules return nodes
 * even then, never NULL; the tree is thrown away because of the error. */
#ifndef TL_FRONT_PARSE_H
#define TL_FRONT_PARSE_H

#include "front/ast.h"

/* Levels of brackets and right-recursive operators in one expression.  Chosen so that a rule's
 * dozen C frames a level fit in a small stack under the sanitizers. */
enum { NEST_MOST = 200 };

typedef VEC(Ast *) AstVec;
typedef VEC(AstStmt *) StmtVec;

typedef struct {
    Arena *arena;
    Names *names;
    Diag *diag;
    const Token *tok;
    int at;         /* index of the token at hand */
    TokenKind kind; /* its kind, TK_ERROR in panic */
    bool panic;
    int nest;       /* of expressions, at most NEST_MOST */
    int deep;       /* of statements; each elif counts, as it nests in the tree */
    bool in_func, in_loop;
    Ast *nothing;   /* what rules return in panic */
    const char *word_match, *word_case, *word_type; /* interned */
} Parser;

/* parse_expr.c: the cursor */
static inline const Token *here(const Parser *p)
{
    return &p->tok[p->at];
}

static inline void next(Parser *p)
{
    if (!p->panic && p->kind != TK_EOF)
        p->kind = p->tok[++p->at].kind;
}

static inline bool take(Parser *p, TokenKind k)
{
    if (p->kind != k)
        return false;
    next(p);
    return true;
}

static inline TokenKind ahead(const Parser *p) /* the kind after the one at hand */
{
    return p->kind == TK_EOF || p->panic ? TK_EOF : p->tok[p->at + 1].kind;
}

/* Enter panic; whether the caller is the one to say why. */
bool parse_panics(Parser *p);
#define FAIL(p, place, ...)                                                                        \
    do {                                                                                           \
        if (parse_panics(p))                                                                       \
            diag_error((p)->diag, (place), __VA_ARGS__);                                           \
    } while (0)

/* A level of recursion begins; it ends with p->nest--.  Every cycle of rules passes one. */
void parse_enter(Parser *p);
/* Take k, or fail with "expected 'k' <context>". */
void parse_want(Parser *p, TokenKind k, const char *context);
const char *parse_name(Parser *p, const char *context);
const char *parse_found(Parser *p); /* the token at hand, in words */
Span parse_since(const Parser *p, Span first); /* from `first` to the last token taken */

/* parse_expr.c: rules */
Ast *parse_expr(Parser *p);       /* no ":=", no "*x" */
Ast *parse_named(Parser *p);      /* with ":=" */
Ast *parse_star_exprs(Parser *p); /* a, *b, c: a tuple if there is a comma */
Ast *parse_yield_or_exprs(Parser *p);
Ast *parse_disjunction(Parser *p);
Ast *parse_binary(Parser *p);     /* from "|" upward */
Ast *parse_star_named(Parser *p); /* an element of a display: *x, x := y, x */
Ast *parse_target(Parser *p);     /* one target, without commas */
Ast *parse_targets(Parser *p);    /* of for and del: a, *b, (c, d) */
void parse_args(Parser *p, AstArg **args, int *narg); /* up to and with ")" */
AstParam *parse_params(Parser *p, TokenKind end, int *nparam); /* up to `end`, not taken */
bool parse_begins_expr(TokenKind k);
/* What is to be done to a target.  Only assignment unpacks into "*x"; the last two take one. */
typedef enum { TARGET_ASSIGN, TARGET_DELETE, TARGET_ANNOTATE, TARGET_CHANGE } TargetUse;
void parse_check_target(Parser *p, const Ast *e, TargetUse use);

/* parse_atom.c: literals, f-strings, displays, comprehensions */
Ast *parse_atom(Parser *p);
Ast *parse_comprehension(Parser *p, char kind, Span first, Ast *element, Ast *value);

/* parse_simple.c: what needs no block */
typedef AstStmt *StmtRule(Parser *p);
AstStmt *parse_stmt_new(Parser *p, AstStmtKind kind);    /* from the token at hand */
AstStmt *parse_stmt_done(Parser *p, AstStmt *s);         /* up to the last token taken */
void parse_simple_stmts(Parser *p, StmtVec *out);        /* a line of them */
const char *parse_alias(Parser *p);                      /* ['as' NAME] */
void parse_type_params(Parser *p);
void parse_skip_brackets(Parser *p);

/* ast.c: building */
Ast *ast_new(Parser *p, AstKind kind, Span span);
Ast *ast_one(Parser *p, AstKind kind, TokenKind op, Span span, Ast *a);
Ast *ast_two(Parser *p, AstKind kind, TokenKind op, Span span, Ast *a, Ast *b);
Ast *ast_kids(Parser *p, AstKind kind, Span span, const AstVec *kids);
/* A node is done when its height is known; fails with [too-deep] past DEPTH_MOST. */
Ast *ast_seal(Parser *p, Ast *e);

#endif
