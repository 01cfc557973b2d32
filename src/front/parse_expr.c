/* parse_expr.c -- expressions, by recursive descent; binary operators by precedence.
 *
 * Grammar rules stand above their functions, in the notation of Python's own grammar. */
#include "front/parse.h"

/* ---- the cursor ------------------------------------------------------------------------------ */

bool parse_panics(Parser *p)
{
    if (p->panic)
        return false;
    bool told = p->kind == TK_ERROR;
    p->panic = true;
    p->kind = TK_ERROR;
    return !told;
}

Span parse_since(const Parser *p, Span first)
{
    return p->at > 0 ? span_join(first, p->tok[p->at - 1].span) : first;
}

const char *parse_found(Parser *p)
{
    const Token *t = here(p);
    enum { WORD_MOST = 40 };

    switch (t->kind) {
    case TK_EOF:
    case TK_NEWLINE:
    case TK_FSTRING_END:
        return arena_printf(p->arena, "the %s", token_text(t->kind));
    case TK_STRING:
    case TK_FSTRING_START:
    case TK_INDENT:
    case TK_DEDENT:
        return t->kind == TK_STRING     ? "a string"
               : t->kind == TK_INDENT ? "an indented line"
               : t->kind == TK_DEDENT ? "a line further out"
                                      : "an f-string";
    default:
        return arena_printf(p->arena, "'%.*s'", (int)MIN(t->len, WORD_MOST), t->text);
    }
}

/* Mistakes made often enough to be named. */
static const char *hint(const Parser *p, TokenKind want)
{
    TokenKind k = here(p)->kind;
    if (want == TK_COLON && k == TK_ASSIGN)
        return "; '==' compares";
    if (want == TK_COLON && k == TK_IF && p->at > 0 && p->tok[p->at - 1].kind == TK_ELSE)
        return "; 'else if' is written 'elif'";
    return "";
}

void parse_want(Parser *p, TokenKind k, const char *context)
{
    if (!take(p, k))
        FAIL(p, here(p)->span, "expected '%s' %s%s [syntax]", token_text(k), context, hint(p, k));
}

const char *parse_name(Parser *p, const char *context)
{
    const char *name = here(p)->text;
    if (p->kind == TK_NAME) {
        next(p);
        return name;
    }
    FAIL(p, here(p)->span, "expected a name %s, found %s [syntax]", context, parse_found(p));
    return "";
}

void parse_enter(Parser *p)
{
    if (++p->nest > NEST_MOST)
        FAIL(p, here(p)->span, "this expression nests more than %d levels [too-deep]", NEST_MOST);
}

bool parse_begins_expr(TokenKind k)
{
    static const bool begins[TK_COUNT] = {
        [TK_NAME] = true,   [TK_INT] = true,      [TK_FLOAT] = true,  [TK_STRING] = true,
        [TK_LPAREN] = true, [TK_LBRACKET] = true, [TK_LBRACE] = true, [TK_FSTRING_START] = true,
        [TK_SUB] = true,    [TK_ADD] = true,      [TK_INVERT] = true, [TK_NOT] = true,
        [TK_LAMBDA] = true, [TK_AWAIT] = true,    [TK_MUL] = true,    [TK_ELLIPSIS] = true,
        [TK_TRUE] = true,   [TK_FALSE] = true,    [TK_NONE] = true,   [TK_IMAGINARY] = true,
    };
    return begins[k];
}

/* ---- calls and subscripts -------------------------------------------------------------------- */

/* arg: '*' expr | '**' expr | NAME '=' expr | named [comprehension] */
static AstArg arg(Parser *p, bool *generator)
{
    AstArg a = {.span = here(p)->span};

    if (take(p, TK_MUL))
        a.star = 1;
    else if (take(p, TK_POW))
        a.star = 2;
    if (!a.star && p->kind == TK_NAME && ahead(p) == TK_ASSIGN) {
        a.name = here(p)->text;
        next(p);
        next(p);
    }
    a.value = a.star || a.name ? parse_expr(p) : parse_named(p);
    if (!a.star && !a.name && (p->kind == TK_FOR || p->kind == TK_ASYNC)) {
        a.value = parse_comprehension(p, '(', a.span, a.value, NULL);
        *generator = true;
    }
    if (p->kind == TK_ASSIGN)
        FAIL(p, here(p)->span,
             "only a name can stand before '=' in a call; '==' compares [syntax]");
    a.span = parse_since(p, a.span);
    return a;
}

static void check_order(Parser *p, const AstArg *a, bool named, bool unpacked)
{
    if (!a->name && a->star == 0 && (named || unpacked))
        FAIL(p, a->span, "a positional argument cannot follow a named one [syntax]");
    else if (a->star == 1 && unpacked)
        FAIL(p, a->span, "'*' cannot follow '**' among arguments [syntax]");
}

/* args: [arg (',' arg)* [',']] ')' */
void parse_args(Parser *p, AstArg **args, int *narg)
{
    VEC(AstArg) v = {0};
    bool named = false, unpacked = false, generator = false;

    while (p->kind != TK_RPAREN && !p->panic) {
        AstArg a = arg(p, &generator);
        check_order(p, &a, named, unpacked);
        named |= a.name != NULL;
        unpacked |= a.star == 2;
        vec_push(p->arena, &v, a);
        if (generator && (v.n > 1 || p->kind == TK_COMMA))
            FAIL(p, a.span, "a generator beside other arguments needs brackets [syntax]");
        if (p->kind != TK_RPAREN && !take(p, TK_COMMA))
            FAIL(p, here(p)->span, "expected ',' or ')' among the arguments, found %s [syntax]",
                 parse_found(p));
    }
    parse_want(p, TK_RPAREN, "after the arguments");
    *args = v.at;
    *narg = v.n;
}

/* slice: [expr] ':' [expr] [':' [expr]] | '*' binary | named */
static Ast *slice(Parser *p)
{
    Span first = here(p)->span;
    Ast *part[3] = {NULL, NULL, NULL};

    if (p->kind == TK_MUL)
        return parse_star_named(p);
    if (p->kind != TK_COLON) {
        part[0] = parse_named(p);
        if (p->kind != TK_COLON)
            return part[0];
    }
    for (int i = 1; i < 3 && take(p, TK_COLON); i++)
        if (parse_begins_expr(p->kind))
            part[i] = parse_expr(p);
    Ast *e = ast_new(p, AST_SLICE, parse_since(p, first));
    e->nkid = 3;
    e->kid = NEWN(p->arena, Ast *, 3);
    memcpy(e->kid, part, sizeof part);
    return ast_seal(p, e);
}

/* slices: slice (',' slice)* [',']       a tuple if there is a comma or a star */
static Ast *slices(Parser *p)
{
    Span first = here(p)->span;
    AstVec v = {0};
    Ast *e = slice(p);

    if (p->kind != TK_COMMA && e->kind != AST_STAR)
        return e;
    vec_push(p->arena, &v, e);
    while (take(p, TK_COMMA) && p->kind != TK_RBRACKET)
        vec_push(p->arena, &v, slice(p));
    return ast_kids(p, AST_TUPLE, parse_since(p, first), &v);
}

static Ast *call(Parser *p, Ast *callee)
{
    Ast *e = ast_new(p, AST_CALL, callee->span);
    next(p);
    parse_args(p, &e->args, &e->narg);
    e->kid = NEW(p->arena, Ast *);
    e->kid[0] = callee;
    e->nkid = 1;
    e->span = parse_since(p, callee->span);
    return ast_seal(p, e);
}

static Ast *attribute(Parser *p, Ast *of)
{
    next(p);
    const char *name = parse_name(p, "after '.'");
    Ast *e = ast_one(p, AST_ATTR, TK_DOT, parse_since(p, of->span), of);
    e->name = name;
    return e;
}

static Ast *subscript(Parser *p, Ast *of)
{
    next(p);
    if (p->kind == TK_RBRACKET)
        FAIL(p, here(p)->span, "expected an index between '[' and ']' [syntax]");
    Ast *at = slices(p);
    parse_want(p, TK_RBRACKET, "after the index");
    return ast_two(p, AST_INDEX, TK_LBRACKET, parse_since(p, of->span), of, at);
}

/* primary: atom ('.' NAME | '(' args | '[' slices ']')* */
static Ast *primary(Parser *p)
{
    Ast *e = parse_atom(p);
    for (;;) {
        if (p->kind == TK_DOT)
            e = attribute(p, e);
        else if (p->kind == TK_LPAREN)
            e = call(p, e);
        else if (p->kind == TK_LBRACKET)
            e = subscript(p, e);
        else
            return e;
    }
}

/* ---- operators ------------------------------------------------------------------------------- */

static Ast *unary(Parser *p);

/* power: ['await'] primary ['**' unary] */
static Ast *power(Parser *p)
{
    Span first = here(p)->span;
    bool awaits = take(p, TK_AWAIT);
    Ast *e = primary(p);

    if (awaits)
        e = ast_one(p, AST_AWAIT, TK_AWAIT, parse_since(p, first), e);
    if (p->kind != TK_POW)
        return e;
    next(p);
    parse_enter(p);
    Ast *right = unary(p);
    p->nest--;
    return ast_two(p, AST_BINARY, TK_POW, parse_since(p, first), e, right);
}

/* unary: ('-' | '+' | '~') unary | power */
static Ast *unary(Parser *p)
{
    Span first = here(p)->span;
    TokenKind op = p->kind;

    if (op != TK_SUB && op != TK_ADD && op != TK_INVERT)
        return power(p);
    next(p);
    parse_enter(p);
    Ast *e = unary(p);
    p->nest--;
    return ast_one(p, AST_UNARY, op, parse_since(p, first), e);
}

/* binary: binary OP binary | unary        OP by level, all left to right:
 *     1 '|'   2 '^'   3 '&'   4 '<<' '>>'   5 '+' '-'   6 '*' '/' '//' '%' '@' */
static Ast *binary(Parser *p, int least)
{
    static const char level[TK_COUNT] = {
        [TK_BITOR] = 1, [TK_BITXOR] = 2, [TK_BITAND] = 3, [TK_SHL] = 4,
        [TK_SHR] = 4,   [TK_ADD] = 5,    [TK_SUB] = 5,    [TK_MUL] = 6,
        [TK_DIV] = 6,   [TK_MOD] = 6,    [TK_AT] = 6,     [TK_FLOORDIV] = 6,
    };
    Span first = here(p)->span;
    Ast *e = unary(p);

    while (level[p->kind] >= least) {
        TokenKind op = p->kind;
        next(p);
        Ast *right = binary(p, level[op] + 1);
        e = ast_two(p, AST_BINARY, op, parse_since(p, first), e, right);
    }
    return e;
}

Ast *parse_binary(Parser *p)
{
    return binary(p, 1);
}

/* A comparison at hand: "not in" and "is not" are two tokens. */
static bool comparison_op(Parser *p, TokenKind *op)
{
    *op = p->kind;
    switch (p->kind) {
    case TK_LT:
    case TK_GT:
    case TK_LE:
    case TK_GE:
    case TK_EQ:
    case TK_NE:
    case TK_IN:
        next(p);
        return true;
    case TK_IS:
        next(p);
        if (take(p, TK_NOT))
            *op = TK_IS_NOT;
        return true;
    case TK_NOT:
        if (ahead(p) != TK_IN)
            return false;
        next(p);
        next(p);
        *op = TK_NOT_IN;
        return true;
    default:
        return false;
    }
}

/* comparison: binary (OP binary)*
 *     OP: '<' | '>' | '<=' | '>=' | '==' | '!=' | ['not'] 'in' | 'is' ['not'] */
static Ast *comparison(Parser *p)
{
    Span first = here(p)->span;
    Ast *e = parse_binary(p);
    TokenKind op;

    if (!comparison_op(p, &op))
        return e;
    AstVec kids = {0};
    VEC(TokenKind) ops = {0};
    vec_push(p->arena, &kids, e);
    do {
        vec_push(p->arena, &ops, op);
        vec_push(p->arena, &kids, parse_binary(p));
    } while (comparison_op(p, &op));
    e = ast_kids(p, AST_COMPARE, parse_since(p, first), &kids);
    e->ops = ops.at;
    return e;
}

/* inversion: 'not' inversion | comparison */
static Ast *inversion(Parser *p)
{
    Span first = here(p)->span;

    if (!take(p, TK_NOT))
        return comparison(p);
    parse_enter(p);
    Ast *e = inversion(p);
    p->nest--;
    return ast_one(p, AST_UNARY, TK_NOT, parse_since(p, first), e);
}

/* a and b and c is one node */
static Ast *chain(Parser *p, TokenKind op, Ast *(*operand)(Parser *))
{
    Span first = here(p)->span;
    Ast *e = operand(p);
    AstVec v = {0};

    if (p->kind != op)
        return e;
    vec_push(p->arena, &v, e);
    while (take(p, op))
        vec_push(p->arena, &v, operand(p));
    e = ast_kids(p, AST_BOOLOP, parse_since(p, first), &v);
    e->op = op;
    return e;
}

/* conjunction: inversion ('and' inversion)* */
static Ast *conjunction(Parser *p)
{
    return chain(p, TK_AND, inversion);
}

/* disjunction: conjunction ('or' conjunction)* */
Ast *parse_disjunction(Parser *p)
{
    return chain(p, TK_OR, conjunction);
}

/* ---- functions ------------------------------------------------------------------------------- */

typedef struct {
    bool star, slash, given, rest, bare; /* seen so far: '*', '/', a default, '**', '*' alone */
} Seen;

/* '/': all before it are positional only */
static void slash_mark(Parser *p, Seen *s, AstParam *at, int n)
{
    if (s->slash || s->star || n == 0)
        FAIL(p, here(p)->span, "'/' must follow a parameter, before '*', and only once [syntax]");
    next(p);
    s->slash = true;
    for (int i = 0; i < n; i++)
        at[i].posonly = true;
}

/* param: ['*' | '**'] NAME [':' expr] ['=' expr] */
static AstParam param(Parser *p, Seen *s, bool annotated)
{
    AstParam a = {.span = here(p)->span};

    if (s->rest)
        FAIL(p, a.span, "no parameter can follow '**' [syntax]");
    if (p->kind == TK_MUL && s->star)
        FAIL(p, a.span, "'*' can stand only once among parameters [syntax]");
    a.star = take(p, TK_MUL) ? 1 : take(p, TK_POW) ? 2 : 0;
    a.kwonly = s->star && !a.star;
    s->star |= a.star == 1;
    s->rest = a.star == 2;
    s->bare &= !a.kwonly;
    a.name = parse_name(p, "of a parameter");
    if (annotated && take(p, TK_COLON))
        a.annotation = a.star == 1 && p->kind == TK_MUL ? parse_star_named(p) : parse_expr(p);
    if (p->kind == TK_ASSIGN && a.star)
        FAIL(p, here(p)->span, "'%s%s' cannot have a default [syntax]", a.star == 1 ? "*" : "**",
             a.name);
    if (take(p, TK_ASSIGN))
        a.value = parse_expr(p);
    if (s->given && !a.value && !s->star && !a.star)
        FAIL(p, a.span, "'%s' needs a default, as a parameter before it has one [syntax]", a.name);
    s->given |= a.value != NULL;
    a.span = parse_since(p, a.span);
    return a;
}

/* params: [(param | '/' | '*') (',' (param | '/' | '*'))* [',']]
 * A '*' alone makes no parameter, but those after it are keyword only. */
AstParam *parse_params(Parser *p, TokenKind end, int *nparam)
{
    VEC(AstParam) v = {0};
    Seen s = {0};
    Span star = NO_SPAN;

    while (p->kind != end && !p->panic) {
        if (p->kind == TK_DIV) {
            slash_mark(p, &s, v.at, v.n);
        } else if (p->kind == TK_MUL && (ahead(p) == TK_COMMA || ahead(p) == end)) {
            if (s.star)
                FAIL(p, here(p)->span, "'*' can stand only once among parameters [syntax]");
            star = here(p)->span;
            s.star = s.bare = true;
            next(p);
        } else {
            AstParam a = param(p, &s, end == TK_RPAREN);
            for (int i = 0; i < v.n && !p->panic; i++)
                if (!strcmp(v.at[i].name, a.name))
                    FAIL(p, a.span, "there are two parameters called '%s' [syntax]", a.name);
            vec_push(p->arena, &v, a);
        }
        if (p->kind != end && !take(p, TK_COMMA))
            FAIL(p, here(p)->span, "expected ',' or '%s' among the parameters, found %s [syntax]",
                 token_text(end), parse_found(p));
    }
    if (s.bare)
        FAIL(p, star, "a named parameter must follow '*' [syntax]");
    *nparam = v.n;
    return v.at;
}

/* lambda: 'lambda' params ':' expr */
static Ast *lambda(Parser *p)
{
    Span first = here(p)->span;
    AstFunc *f = NEW(p->arena, AstFunc);
    AstStmt *body = NEW(p->arena, AstStmt);

    next(p);
    f->name = name_intern(p->names, "<lambda>", strlen("<lambda>"));
    f->name_span = first;
    f->params = parse_params(p, TK_COLON, &f->nparam);
    parse_want(p, TK_COLON, "after the parameters of 'lambda'");
    body->kind = AS_RETURN;
    body->value = parse_expr(p);
    body->span = body->value->span;
    f->body = NEW(p->arena, AstStmt *);
    f->body[0] = body;
    f->nbody = 1;
    f->span = parse_since(p, first);
    Ast *e = ast_new(p, AST_LAMBDA, f->span);
    e->func = f;
    return ast_seal(p, e);
}

/* ---- whole expressions ----------------------------------------------------------------------- */

/* expr: lambda | disjunction ['if' disjunction 'else' expr] */
Ast *parse_expr(Parser *p)
{
    Span first = here(p)->span;

    parse_enter(p);
    bool is_lambda = p->kind == TK_LAMBDA; /* its body has taken any "if" that belongs to it */
    Ast *e = is_lambda ? lambda(p) : parse_disjunction(p);
    if (p->kind == TK_IF && !is_lambda) {
        AstVec v = {0};
        next(p);
        vec_push(p->arena, &v, e);
        vec_push(p->arena, &v, parse_disjunction(p));
        parse_want(p, TK_ELSE, "after the condition in an expression");
        vec_push(p->arena, &v, parse_expr(p));
        e = ast_kids(p, AST_TERNARY, parse_since(p, first), &v);
    }
    p->nest--;
    return e;
}

/* named: NAME ':=' expr | expr */
Ast *parse_named(Parser *p)
{
    Span first = here(p)->span;

    if (p->kind != TK_NAME || ahead(p) != TK_WALRUS)
        return parse_expr(p);
    const char *name = here(p)->text;
    next(p);
    next(p);
    Ast *value = parse_expr(p);
    Ast *e = ast_one(p, AST_WALRUS, TK_WALRUS, parse_since(p, first), value);
    e->name = name;
    return e;
}

static Ast *star(Parser *p)
{
    Span first = here(p)->span;
    next(p);
    parse_enter(p);
    Ast *e = parse_binary(p);
    p->nest--;
    return ast_one(p, AST_STAR, TK_MUL, parse_since(p, first), e);
}

/* star_named: '*' binary | named */
Ast *parse_star_named(Parser *p)
{
    return p->kind == TK_MUL ? star(p) : parse_named(p);
}

static Ast *star_expr(Parser *p)
{
    return p->kind == TK_MUL ? star(p) : parse_expr(p);
}

/* Elements after the first, as a tuple if there is a comma. */
static Ast *comma_list(Parser *p, Ast *(*element)(Parser *))
{
    Span first = here(p)->span;
    AstVec v = {0};
    Ast *e = element(p);

    if (p->kind != TK_COMMA)
        return e;
    vec_push(p->arena, &v, e);
    while (take(p, TK_COMMA) && parse_begins_expr(p->kind))
        vec_push(p->arena, &v, element(p));
    return ast_kids(p, AST_TUPLE, parse_since(p, first), &v);
}

/* star_exprs: ('*' binary | expr) (',' ('*' binary | expr))* [',']
 * A star without a comma would have nothing to unpack into. */
Ast *parse_star_exprs(Parser *p)
{
    Ast *e = comma_list(p, star_expr);
    if (e->kind == AST_STAR)
        FAIL(p, e->span, "'*' needs a list, tuple or call around it [syntax]");
    return e;
}

/* yield: 'yield' 'from' expr | 'yield' [star_exprs] */
Ast *parse_yield_or_exprs(Parser *p)
{
    Span first = here(p)->span;
    Ast *value = NULL;
    TokenKind op = TK_YIELD;

    if (!take(p, TK_YIELD))
        return parse_star_exprs(p);
    if (take(p, TK_FROM)) {
        op = TK_FROM;
        value = parse_expr(p);
    } else if (parse_begins_expr(p->kind)) {
        value = parse_star_exprs(p);
    }
    if (value)
        return ast_one(p, AST_YIELD, op, parse_since(p, first), value);
    Ast *e = ast_new(p, AST_YIELD, parse_since(p, first));
    e->op = op;
    return ast_seal(p, e);
}

/* ---- targets --------------------------------------------------------------------------------- */

static const char *kind_words(const Ast *e)
{
    static const char *const words[] = {
        [AST_INT] = "a number",        [AST_FLOAT] = "a number",      [AST_STRING] = "a string",
        [AST_FSTRING] = "an f-string", [AST_BYTES] = "a string",      [AST_TRUE] = "True",
        [AST_FALSE] = "False",         [AST_NONE] = "None",           [AST_ELLIPSIS] = "'...'",
        [AST_SET] = "a set",           [AST_DICT] = "a dict",         [AST_UNARY] = "an operator",
        [AST_BINARY] = "an operator",  [AST_COMPARE] = "a comparison", [AST_BOOLOP] = "an operator",
        [AST_TERNARY] = "a condition", [AST_CALL] = "a call",         [AST_LAMBDA] = "a lambda",
        [AST_COMP] = "a comprehension", [AST_WALRUS] = "':='",        [AST_YIELD] = "'yield'",
        [AST_AWAIT] = "'await'",       [AST_STAR] = "a starred item", [AST_IMAGINARY] = "a number",
    };
    const char *w = (int)e->kind < COUNT(words) ? words[e->kind] : NULL;
    return w ? w : "this";
}

/* target: NAME | primary '.' NAME | primary '[' slices ']' | tuple or list of targets and stars */
void parse_check_target(Parser *p, const Ast *e, TargetUse use)
{
    static const char *const verb[] = {
        [TARGET_ASSIGN] = "assign to",
        [TARGET_DELETE] = "delete",
        [TARGET_ANNOTATE] = "annotate",
        [TARGET_CHANGE] = "change in place",
    };
    switch (e->kind) {
    case AST_NAME:
    case AST_ATTR:
    case AST_INDEX:
        return;
    case AST_TUPLE:
    case AST_LIST:
        if (use == TARGET_ANNOTATE || use == TARGET_CHANGE)
            FAIL(p, e->span, "cannot %s several targets at once [syntax]", verb[use]);
        for (int i = 0; i < e->nkid; i++) {
            const Ast *k = e->kid[i];
            bool unpacks = k->kind == AST_STAR && use == TARGET_ASSIGN;
            parse_check_target(p, unpacks ? k->kid[0] : k, use);
        }
        return;
    default:
        FAIL(p, e->span, "cannot %s %s [syntax]", verb[use], kind_words(e));
    }
}

static Ast *target_element(Parser *p)
{
    return p->kind == TK_MUL ? star(p) : parse_binary(p);
}

Ast *parse_target(Parser *p)
{
    Ast *e = parse_binary(p);
    parse_check_target(p, e, TARGET_ASSIGN);
    return e;
}

/* targets: ('*' binary | binary) (',' ...)* [',']       binary, so that "in" ends them */
Ast *parse_targets(Parser *p)
{
    return comma_list(p, target_element);
}
