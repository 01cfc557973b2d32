/* parse_atom.c -- names, numbers, strings and f-strings, brackets, comprehensions. */
#include <stdlib.h>
#include "front/parse.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* The lexer has seen to it that the spelling is one of a number. */
static Ast *integer(Parser *p)
{
    const Token *t = here(p);
    const char *s = t->text, *end = s + t->len;
    uint64_t v = 0, base = 10;
    Ast *e = ast_new(p, AST_INT, t->span);

    if (t->len > 2 && *s == '0' && (s[1] | 32) >= 'b') {
        base = (s[1] | 32) == 'x' ? 16 : (s[1] | 32) == 'o' ? 8 : 2;
        s += 2;
    }
    for (; s < end; s++) {
        if (*s == '_')
            continue;
        uint64_t digit = (uint64_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
        if (v > (UINT64_MAX - digit) / base) {
            FAIL(p, t->span, "this number does not fit in 64 bits [int-too-big]");
            return p->nothing;
        }
        v = v * base + digit;
    }
    next(p);
    e->i = (int64_t)v;
    e->wide = v > INT64_MAX;
    return ast_seal(p, e);
}

/* The point is taken out and put in the exponent, so that no locale can read it otherwise. */
static Ast *decimal(Parser *p)
{
    enum { EXPONENT_MOST = 1000000000 };
    const Token *t = here(p);
    const char *s = t->text, *end = s + t->len;
    long exponent = 0, shift = 0;
    bool point = false;
    Str b;

    str_init(&b, p->arena);
    for (; s < end && (*s | 32) != 'e'; s++) {
        if (*s == '.')
            point = true;
        else if (*s != '_') {
            str_putc(&b, *s);
            shift -= point;
        }
    }
    if (s < end) {
        bool minus = s[1] == '-';
        for (s += s[1] == '-' || s[1] == '+' ? 2 : 1; s < end; s++)
            if (*s != '_' && exponent < EXPONENT_MOST)
                exponent = exponent * 10 + (*s - '0');
        exponent = minus ? -exponent : exponent;
    }
    str_printf(&b, "e%ld", exponent + shift);
    Ast *e = ast_new(p, AST_FLOAT, t->span);
    e->f = strtod(b.s, NULL);
    next(p);
    return ast_seal(p, e);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Parts of an f-string; neighbouring text is joined. */
typedef struct {
    AstVec part;
    Str text;
    Span text_span;
    bool any_text;
} Parts;

static void parts_init(Parser *p, Parts *s)
{
    *s = (Parts){0};
    str_init(&s->text, p->arena);
}

static void parts_text(Parts *s, const char *text, size_t n, Span span)
{
    s->text_span = s->any_text ? span_join(s->text_span, span) : span;
    s->any_text = true;
    str_putn(&s->text, text, n);
}

static void parts_flush(Parser *p, Parts *s)
{
    if (s->text.n) {
        Ast *e = ast_new(p, AST_STRING, s->text_span);
        e->str = s->text.s;
        e->len = s->text.n;
        vec_push(p->arena, &s->part, ast_seal(p, e));
        str_init(&s->text, p->arena);
    }
    s->any_text = false;
}

static void parts_add(Parser *p, Parts *s, Ast *field)
{
    parts_flush(p, s);
    vec_push(p->arena, &s->part, field);
}

static void field(Parser *p, Parts *around);

/* text: (FSTRING_TEXT | field)* */
static void fstring_text(Parser *p, Parts *s)
{
    for (;;) {
        if (p->kind == TK_FSTRING_TEXT) {
            parts_text(s, here(p)->text, here(p)->len, here(p)->span);
            next(p);
        } else if (p->kind == TK_LBRACE) {
            field(p, s);
        } else {
            return;
        }
    }
}

/* conversion: '!' ('r' | 's' | 'a') */
static void conversion(Parser *p, Str *out)
{
    next(p);
    const Token *t = here(p);
    const char *name = parse_name(p, "after '!' in an f-string");
    if (p->panic)
        return;
    if (t->len != 1 || !strchr("rsa", *name))
        FAIL(p, t->span, "after '!' stands one of r, s, a [syntax]");
    str_putc(out, '!');
    str_puts(out, name);
}

/* spec: ':' text; a spec without fields is kept as text */
static Ast *format_spec(Parser *p, Str *out)
{
    Parts s;
    Span first = here(p)->span;

    next(p);
    parts_init(p, &s);
    parse_enter(p);
    fstring_text(p, &s);
    p->nest--;
    str_putc(out, ':');
    if (s.part.n == 0) {
        str_putn(out, s.text.s, s.text.n);
        return NULL;
    }
    parts_flush(p, &s);
    return ast_kids(p, AST_FSTRING, parse_since(p, first), &s.part);
}

/* field: '{' yield_or_exprs ['='] [conversion] [spec] '}'        '=' keeps the spelling as text */
static void field(Parser *p, Parts *around)
{
    const Token *open = here(p);
    AstVec kids = {0};
    bool shows = false;
    Str how;

    next(p);
    if (p->kind == TK_RBRACE || p->kind == TK_BANG || p->kind == TK_COLON)
        FAIL(p, here(p)->span, "expected an expression after '{' in an f-string [syntax]");
    vec_push(p->arena, &kids, parse_yield_or_exprs(p));
    str_init(&how, p->arena);
    if (take(p, TK_ASSIGN)) {
        shows = true;
        const char *text = open->text + 1;
        if (p->kind == TK_RBRACE || p->kind == TK_BANG || p->kind == TK_COLON)
            parts_text(around, text, (size_t)(here(p)->text - text), open->span);
    }
    if (p->kind == TK_BANG)
        conversion(p, &how);
    Ast *spec = p->kind == TK_COLON ? format_spec(p, &how) : NULL;
    if (!take(p, TK_RBRACE))
        FAIL(p, here(p)->span, "expected '}' at the end of an f-string's field, found %s [syntax]",
             parse_found(p));
    if (shows && how.n == 0)
        str_puts(&how, "!r");
    if (spec)
        vec_push(p->arena, &kids, spec);
    Ast *e = ast_kids(p, AST_FORMAT, parse_since(p, open->span), &kids);
    e->str = how.s;
    e->len = how.n;
    parts_add(p, around, e);
}

/* fstring: FSTRING_START text FSTRING_END */
static void fstring(Parser *p, Parts *s)
{
    next(p);
    fstring_text(p, s);
    if (!take(p, TK_FSTRING_END))
        FAIL(p, here(p)->span, "expected the end of the f-string, found %s [syntax]",
             parse_found(p));
}

/* strings: (STRING | fstring)+           neighbours are one string */
static Ast *strings(Parser *p)
{
    Span first = here(p)->span;
    bool bytes = here(p)->is_bytes, format = false;
    Parts s;

    if (p->kind == TK_STRING && ahead(p) != TK_STRING && ahead(p) != TK_FSTRING_START) {
        Ast *e = ast_new(p, bytes ? AST_BYTES : AST_STRING, first);
        e->str = here(p)->text;
        e->len = here(p)->len;
        next(p);
        return ast_seal(p, e);
    }
    parts_init(p, &s);
    while (p->kind == TK_STRING || p->kind == TK_FSTRING_START) {
        if (here(p)->is_bytes != bytes)
            FAIL(p, here(p)->span, "bytes and text cannot be joined [syntax]");
        if (p->kind == TK_FSTRING_START) {
            format = true;
            fstring(p, &s);
        } else if (p->kind == TK_STRING) {
            parts_text(&s, here(p)->text, here(p)->len, here(p)->span);
            next(p);
        }
    }
    if (format) {
        parts_flush(p, &s);
        return ast_kids(p, AST_FSTRING, parse_since(p, first), &s.part);
    }
    Ast *e = ast_new(p, bytes ? AST_BYTES : AST_STRING, parse_since(p, first));
    e->str = s.text.s;
    e->len = s.text.n;
    return ast_seal(p, e);
}

/* ---- comprehensions -------------------------------------------------------------------------- */

/* comp_for: ['async'] 'for' targets 'in' disjunction ('if' disjunction)* */
static AstCompFor comp_for(Parser *p)
{
    AstCompFor f = {.is_async = take(p, TK_ASYNC)};
    AstVec conds = {0};

    parse_want(p, TK_FOR, "after 'async'");
    f.target = parse_targets(p);
    parse_check_target(p, f.target, TARGET_ASSIGN);
    if (f.target->kind == AST_STAR)
        FAIL(p, f.target->span, "'*' needs a list or tuple around it [syntax]");
    parse_want(p, TK_IN, "after the names of 'for'");
    f.iter = parse_disjunction(p);
    while (take(p, TK_IF))
        vec_push(p->arena, &conds, parse_disjunction(p));
    f.conds = conds.at;
    f.ncond = conds.n;
    return f;
}

/* comprehension: comp_for+        kind as in Ast.comp; value only for dicts */
Ast *parse_comprehension(Parser *p, char kind, Span first, Ast *element, Ast *value)
{
    Ast *e = ast_new(p, AST_COMP, first);
    VEC(AstCompFor) fors = {0};

    if (element->kind == AST_STAR)
        FAIL(p, element->span, "'*' cannot stand in a comprehension [syntax]");
    parse_enter(p);
    while (p->kind == TK_FOR || p->kind == TK_ASYNC) {
        AstCompFor f = comp_for(p);
        vec_push(p->arena, &fors, f);
    }
    p->nest--;
    e->comp = kind;
    e->fors = fors.at;
    e->nfor = fors.n;
    e->nkid = value ? 2 : 1;
    e->kid = NEWN(p->arena, Ast *, 2);
    e->kid[0] = element;
    e->kid[1] = value;
    e->span = parse_since(p, first);
    return ast_seal(p, e);
}

static bool comprehends(const Parser *p)
{
    return p->kind == TK_FOR || p->kind == TK_ASYNC;
}

/* ---- brackets -------------------------------------------------------------------------------- */

static void want_close(Parser *p, TokenKind close, const Token *open)
{
    if (take(p, close) || !parse_panics(p))
        return;
    const Token *t = here(p);
    diag_error(p->diag, t->span, "expected ',' or '%s', found %s [syntax]", token_text(close),
               parse_found(p));
    if (t->span.line != open->span.line)
        diag_note(p->diag, open->span, "to close this '%s'", token_text(open->kind));
}

/* elements: (',' star_named)* [',']        after the first */
static void elements(Parser *p, AstVec *v)
{
    while (take(p, TK_COMMA) && parse_begins_expr(p->kind))
        vec_push(p->arena, v, parse_star_named(p));
}

/* group: '(' ')' | '(' yield ')' | '(' star_named elements ')' | '(' named comprehension ')'
 * The span of a tuple or generator has its brackets; any other keeps its own. */
static Ast *group(Parser *p)
{
    const Token *open = here(p);
    AstVec v = {0};
    Ast *e;

    next(p);
    if (take(p, TK_RPAREN))
        return ast_kids(p, AST_TUPLE, parse_since(p, open->span), &v);
    e = p->kind == TK_YIELD ? parse_yield_or_exprs(p) : parse_star_named(p);
    if (comprehends(p)) {
        e = parse_comprehension(p, '(', open->span, e, NULL);
        want_close(p, TK_RPAREN, open);
        e->span = parse_since(p, open->span);
        return e;
    }
    if (p->kind != TK_COMMA || e->kind == AST_YIELD) {
        want_close(p, TK_RPAREN, open);
        if (e->kind == AST_STAR)
            FAIL(p, e->span, "'*' needs a list, tuple or call around it [syntax]");
        return e;
    }
    vec_push(p->arena, &v, e);
    elements(p, &v);
    want_close(p, TK_RPAREN, open);
    return ast_kids(p, AST_TUPLE, parse_since(p, open->span), &v);
}

/* list: '[' ']' | '[' star_named elements ']' | '[' named comprehension ']' */
static Ast *list(Parser *p)
{
    const Token *open = here(p);
    AstVec v = {0};

    next(p);
    if (p->kind != TK_RBRACKET) {
        vec_push(p->arena, &v, parse_star_named(p));
        if (comprehends(p)) {
            Ast *e = parse_comprehension(p, '[', open->span, v.at[0], NULL);
            want_close(p, TK_RBRACKET, open);
            e->span = parse_since(p, open->span);
            return e;
        }
        elements(p, &v);
    }
    want_close(p, TK_RBRACKET, open);
    return ast_kids(p, AST_LIST, parse_since(p, open->span), &v);
}

/* pair: '**' binary | expr ':' expr */
static void pair(Parser *p, AstVec *v, Ast *key)
{
    if (take(p, TK_POW)) {
        parse_enter(p);
        vec_push(p->arena, v, NULL);
        vec_push(p->arena, v, parse_binary(p));
        p->nest--;
        return;
    }
    vec_push(p->arena, v, key ? key : parse_expr(p));
    parse_want(p, TK_COLON, "after a key of the dict");
    vec_push(p->arena, v, parse_expr(p));
}

/* dict: pair (',' pair)* [',']  |  expr ':' expr comprehension */
static Ast *dict(Parser *p, const Token *open, Ast *key)
{
    AstVec v = {0};
    Ast *e;

    pair(p, &v, key);
    if (comprehends(p)) {
        if (!v.at[0])
            FAIL(p, v.at[1]->span, "'**' cannot stand in a comprehension [syntax]");
        e = parse_comprehension(p, ':', open->span, v.at[0] ? v.at[0] : p->nothing, v.at[1]);
    } else {
        while (take(p, TK_COMMA) && (parse_begins_expr(p->kind) || p->kind == TK_POW))
            pair(p, &v, NULL);
        e = ast_kids(p, AST_DICT, open->span, &v);
    }
    want_close(p, TK_RBRACE, open);
    e->span = parse_since(p, open->span);
    return e;
}

/* braces: '{' '}' | '{' dict '}' | '{' star_named elements '}' | '{' named comprehension '}' */
static Ast *braces(Parser *p)
{
    const Token *open = here(p);
    AstVec v = {0};

    next(p);
    if (take(p, TK_RBRACE))
        return ast_kids(p, AST_DICT, parse_since(p, open->span), &v);
    if (p->kind == TK_POW)
        return dict(p, open, NULL);
    bool may_be_key = p->kind != TK_MUL && ahead(p) != TK_WALRUS;
    Ast *e = parse_star_named(p);
    if (p->kind == TK_COLON && may_be_key)
        return dict(p, open, e);
    if (comprehends(p)) {
        e = parse_comprehension(p, '{', open->span, e, NULL);
        want_close(p, TK_RBRACE, open);
        e->span = parse_since(p, open->span);
        return e;
    }
    vec_push(p->arena, &v, e);
    elements(p, &v);
    want_close(p, TK_RBRACE, open);
    return ast_kids(p, AST_SET, parse_since(p, open->span), &v);
}

/* ---- atoms ----------------------------------------------------------------------------------- */

static Ast *word(Parser *p, AstKind kind)
{
    Ast *e = ast_new(p, kind, here(p)->span);
    if (kind == AST_NAME)
        e->name = here(p)->text;
    next(p);
    return ast_seal(p, e);
}

static void no_expression(Parser *p)
{
    const Token *t = here(p);
    bool doubled = p->at > 0 && t[-1].kind == t->kind;
    bool plus = p->at > 1 && t->kind == TK_NEWLINE && t[-1].kind == TK_ADD && t[-2].kind == TK_ADD;

    if (doubled && t->kind == TK_BITAND)
        FAIL(p, t->span, "'&&' is no operator; write 'and' [syntax]");
    else if (doubled && t->kind == TK_BITOR)
        FAIL(p, t->span, "'||' is no operator; write 'or' [syntax]");
    else if (plus)
        FAIL(p, t->span, "'++' is no operator; write '+= 1' [syntax]");
    else if (t->kind == TK_MUL && p->at > 0 && t[-1].kind == TK_DIV)
        FAIL(p, t->span, "a comment begins with '#' [syntax]");
    else
        FAIL(p, t->span, "expected an expression, found %s [syntax]", parse_found(p));
}

/* atom: NAME | number | strings | 'True' | 'False' | 'None' | '...' | group | list | braces */
Ast *parse_atom(Parser *p)
{
    switch (p->kind) {
    case TK_NAME: return word(p, AST_NAME);
    case TK_TRUE: return word(p, AST_TRUE);
    case TK_FALSE: return word(p, AST_FALSE);
    case TK_NONE: return word(p, AST_NONE);
    case TK_ELLIPSIS: return word(p, AST_ELLIPSIS);
    case TK_INT: return integer(p);
    case TK_FLOAT: return decimal(p);
    case TK_IMAGINARY: return word(p, AST_IMAGINARY);
    case TK_STRING:
    case TK_FSTRING_START: return strings(p);
    case TK_LPAREN: return group(p);
    case TK_LBRACKET: return list(p);
    case TK_LBRACE: return braces(p);
    default:
        no_expression(p);
        return p->nothing;
    }
}
