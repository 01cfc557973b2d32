/* parse_stmt.c -- statements with blocks, modules, and going on after an error. */
#include "front/parse.h"

typedef struct {
    AstStmt **at;
    int n;
} Body;

static Body block(Parser *p, const char *after);
static AstStmt *compound(Parser *p);

static void set_body(AstStmt *s, Body b)
{
    s->body = b.at;
    s->nbody = b.n;
}

/* ---- blocks and recovery --------------------------------------------------------------------- */

/* Out of panic: to the next line of this level.  A block indented under the faulty line goes with
 * it, and so do the clauses that would continue it. */
static void resync(Parser *p)
{
    int i = p->at, depth = 0;

    for (bool on = true; on;) {
        switch (p->tok[i].kind) {
        case TK_EOF:
            on = false;
            break;
        case TK_INDENT:
            depth++;
            i++;
            break;
        case TK_DEDENT:
            if (depth == 0) {
                on = false;
                break;
            }
            i++;
            depth--;
            on = depth > 0;
            break;
        case TK_NEWLINE:
            i++;
            on = depth > 0 || p->tok[i].kind == TK_INDENT;
            break;
        default:
            i++;
        }
        TokenKind k = p->tok[i].kind;
        on |= depth == 0 && (k == TK_ELSE || k == TK_ELIF || k == TK_EXCEPT || k == TK_FINALLY);
    }
    p->at = i;
    p->panic = false;
    p->kind = p->tok[i].kind;
}

/* statements: (compound | simple_stmts)*          up to DEDENT or the end */
static void statements(Parser *p, StmtVec *out)
{
    while (p->kind != TK_DEDENT && p->kind != TK_EOF) {
        AstStmt *s = compound(p);
        if (s)
            vec_push(p->arena, out, s);
        else
            parse_simple_stmts(p, out);
        if (p->panic)
            resync(p);
    }
}

/* block: NEWLINE INDENT statements DEDENT | simple_stmts */
static Body block(Parser *p, const char *after)
{
    StmtVec v = {0};

    if (p->panic)
        return (Body){NULL, 0};
    if (!take(p, TK_NEWLINE)) {
        parse_simple_stmts(p, &v);
        return (Body){v.at, v.n};
    }
    if (p->kind != TK_INDENT) {
        if (p->kind != TK_ERROR)
            diag_error(p->diag, here(p)->span, "expected an indented block after %s [indent]",
                       after);
        return (Body){NULL, 0};
    }
    next(p);
    statements(p, &v);
    take(p, TK_DEDENT);
    return (Body){v.at, v.n};
}

static Body loop_block(Parser *p, const char *after)
{
    bool outer = p->in_loop;
    p->in_loop = true;
    Body b = block(p, after);
    p->in_loop = outer;
    return b;
}

/* else_block: ['else' ':' block] */
static void else_block(Parser *p, AstStmt *s)
{
    if (!take(p, TK_ELSE))
        return;
    parse_want(p, TK_COLON, "after 'else'");
    Body b = block(p, "'else'");
    s->orelse = b.at;
    s->norelse = b.n;
}

/* ---- if, while, for, with, try --------------------------------------------------------------- */

/* if_stmt: 'if' named ':' block ('elif' named ':' block)* else_block */
static AstStmt *if_stmt(Parser *p)
{
    bool first = p->kind == TK_IF;
    AstStmt *s = parse_stmt_new(p, AS_IF);

    if (++p->deep > DEPTH_MOST)
        FAIL(p, s->span, "more than %d levels of 'elif' [too-deep]", DEPTH_MOST);
    next(p);
    s->value = parse_named(p);
    parse_want(p, TK_COLON,
               first ? "after the condition of 'if'" : "after the condition of 'elif'");
    parse_stmt_done(p, s);
    set_body(s, block(p, first ? "'if'" : "'elif'"));
    if (p->kind == TK_ELIF) {
        s->orelse = NEW(p->arena, AstStmt *);
        s->norelse = 1;
        s->orelse[0] = if_stmt(p);
    } else {
        else_block(p, s);
    }
    p->deep--;
    return s;
}

/* while_stmt: 'while' named ':' block else_block */
static AstStmt *while_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_WHILE);
    next(p);
    s->value = parse_named(p);
    parse_want(p, TK_COLON, "after the condition of 'while'");
    parse_stmt_done(p, s);
    set_body(s, loop_block(p, "'while'"));
    else_block(p, s);
    return s;
}

/* for_stmt: 'for' targets 'in' star_exprs ':' block else_block */
static AstStmt *for_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_FOR);
    AstVec v = {0};

    next(p);
    Ast *target = parse_targets(p);
    parse_check_target(p, target, TARGET_ASSIGN);
    vec_push(p->arena, &v, target);
    s->targets = v.at;
    s->ntarget = v.n;
    parse_want(p, TK_IN, "after the names of 'for'");
    s->value = parse_star_exprs(p);
    parse_want(p, TK_COLON, "after the sequence of 'for'");
    parse_stmt_done(p, s);
    set_body(s, loop_block(p, "'for'"));
    else_block(p, s);
    return s;
}

/* At "(": whether the bracket is all there is before ":", and has "as" at its own level. */
static void look_in_bracket(const Parser *p, bool *whole, bool *has_as)
{
    int depth = 0, i = p->at;

    *whole = *has_as = false;
    for (;; i++) {
        TokenKind k = p->tok[i].kind;
        if (k == TK_NEWLINE || k == TK_EOF || k == TK_ERROR)
            return;
        if (k == TK_LPAREN || k == TK_LBRACKET || k == TK_LBRACE)
            depth++;
        else if ((k == TK_RPAREN || k == TK_RBRACKET || k == TK_RBRACE) && --depth == 0)
            break;
        *has_as |= k == TK_AS && depth == 1;
    }
    *whole = p->tok[i + 1].kind == TK_COLON;
}

/* with_item: expr ['as' target] */
static AstWith with_item(Parser *p)
{
    AstWith w = {.context = parse_expr(p)};
    if (take(p, TK_AS))
        w.target = parse_target(p);
    return w;
}

static bool any_star(const Ast *e)
{
    for (int i = 0; i < e->nkid; i++)
        if (e->kid[i]->kind == AST_STAR)
            return true;
    return false;
}

/* with_items: '(' with_item (',' with_item)* [','] ')' | with_item (',' with_item)*
 * A bracket that is followed by ':' holds items; without "as" it reads as an expression first, and
 * a tuple is then taken apart. */
static void with_items(Parser *p, AstStmt *s)
{
    VEC(AstWith) v = {0};
    bool whole = false, has_as = false;

    if (p->kind == TK_LPAREN)
        look_in_bracket(p, &whole, &has_as);
    bool grouped = whole && has_as && take(p, TK_LPAREN);
    do {
        if (grouped && v.n && p->kind == TK_RPAREN)
            break;
        AstWith w = with_item(p);
        vec_push(p->arena, &v, w);
    } while (take(p, TK_COMMA));
    if (grouped)
        parse_want(p, TK_RPAREN, "after the items of 'with'");
    Ast *e = v.at[0].context;
    if (whole && !has_as && e->kind == AST_TUPLE && e->nkid && !any_star(e)) {
        v.n = 0;
        for (int i = 0; i < e->nkid; i++) {
            AstWith w = {.context = e->kid[i]};
            vec_push(p->arena, &v, w);
        }
    }
    s->items = v.at;
    s->nitem = v.n;
}

/* with_stmt: 'with' with_items ':' block */
static AstStmt *with_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_WITH);
    next(p);
    with_items(p, s);
    parse_want(p, TK_COLON, "after the items of 'with'");
    parse_stmt_done(p, s);
    set_body(s, block(p, "'with'"));
    return s;
}

/* handler: 'except' ['*'] [expr ['as' NAME]] ':' block */
static AstHandler handler(Parser *p)
{
    AstHandler h = {0};

    next(p);
    h.star = take(p, TK_MUL);
    if (h.star || p->kind != TK_COLON) {
        h.type = parse_expr(p);
        if (p->kind == TK_COMMA)
            FAIL(p, here(p)->span, "several exceptions need brackets around them [syntax]");
        h.name = parse_alias(p);
    }
    parse_want(p, TK_COLON, "after 'except'");
    Body b = block(p, "'except'");
    h.body = b.at;
    h.nbody = b.n;
    return h;
}

static void check_handlers(Parser *p, const AstStmt *s)
{
    for (int i = 0; i + 1 < s->nhandler; i++) {
        if (!s->handlers[i].type)
            FAIL(p, s->span, "an 'except' without a type must be the last [syntax]");
        if (s->handlers[i].star != s->handlers[i + 1].star)
            FAIL(p, s->span, "'except' and 'except*' cannot stand together [syntax]");
    }
    if (s->nhandler == 0 && s->nfinal == 0 && !p->panic)
        diag_error(p->diag, s->span, "'try' needs an 'except' or a 'finally' [syntax]");
}

/* try_stmt: 'try' ':' block (handler+ else_block ['finally' ':' block] | 'finally' ':' block) */
static AstStmt *try_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_TRY);
    VEC(AstHandler) v = {0};

    next(p);
    parse_want(p, TK_COLON, "after 'try'");
    parse_stmt_done(p, s);
    set_body(s, block(p, "'try'"));
    while (p->kind == TK_EXCEPT) {
        AstHandler h = handler(p);
        vec_push(p->arena, &v, h);
    }
    s->handlers = v.at;
    s->nhandler = v.n;
    if (v.n)
        else_block(p, s);
    if (take(p, TK_FINALLY)) {
        parse_want(p, TK_COLON, "after 'finally'");
        Body b = block(p, "'finally'");
        s->final = b.at;
        s->nfinal = b.n;
    }
    check_handlers(p, s);
    return s;
}

/* ---- functions and classes ------------------------------------------------------------------- */

/* A function's body sees no loop around it; a class body sees no function either. */
static Body scope_block(Parser *p, bool in_func, const char *after)
{
    bool func = p->in_func, loop = p->in_loop;
    p->in_func = in_func;
    p->in_loop = false;
    Body b = block(p, after);
    p->in_func = func;
    p->in_loop = loop;
    return b;
}

/* def_stmt: 'def' NAME type_params '(' params ')' ['->' expr] ':' block */
static AstStmt *def_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_DEF);
    AstFunc *f = NEW(p->arena, AstFunc);

    next(p);
    f->name_span = here(p)->span;
    f->name = s->name = parse_name(p, "after 'def'");
    parse_type_params(p);
    parse_want(p, TK_LPAREN, "after the name of the function");
    f->params = parse_params(p, TK_RPAREN, &f->nparam);
    parse_want(p, TK_RPAREN, "after the parameters");
    if (take(p, TK_ARROW))
        f->returns = parse_expr(p);
    parse_want(p, TK_COLON, "after the head of the function");
    parse_stmt_done(p, s);
    f->span = s->span;
    Body b = scope_block(p, true, "'def'");
    f->body = b.at;
    f->nbody = b.n;
    s->func = f;
    return s;
}

/* class_stmt: 'class' NAME type_params ['(' args] ':' block */
static AstStmt *class_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_CLASS);
    AstFunc *f = NEW(p->arena, AstFunc);

    next(p);
    f->name_span = here(p)->span;
    f->name = s->name = parse_name(p, "after 'class'");
    parse_type_params(p);
    if (take(p, TK_LPAREN))
        parse_args(p, &s->bases, &s->nbase);
    parse_want(p, TK_COLON, "after the head of the class");
    parse_stmt_done(p, s);
    f->span = s->span;
    s->func = f;
    set_body(s, scope_block(p, false, "'class'"));
    return s;
}

/* async_stmt: 'async' (def_stmt | for_stmt | with_stmt) */
static AstStmt *async_stmt(Parser *p)
{
    Span first = here(p)->span;
    AstStmt *s;

    next(p);
    if (p->kind == TK_DEF) {
        s = def_stmt(p);
        s->func->is_async = true;
    } else if (p->kind == TK_FOR) {
        s = for_stmt(p);
    } else if (p->kind == TK_WITH) {
        s = with_stmt(p);
    } else {
        FAIL(p, here(p)->span, "after 'async' stands 'def', 'for' or 'with' [syntax]");
        return parse_stmt_new(p, AS_PASS);
    }
    s->is_async = true;
    s->span.line = first.line;
    s->span.col = first.col;
    return s;
}

/* decorated: ('@' named NEWLINE)+ (def_stmt | class_stmt | 'async' def_stmt) */
static AstStmt *decorated(Parser *p)
{
    AstVec v = {0};

    while (take(p, TK_AT)) {
        vec_push(p->arena, &v, parse_named(p));
        if (!take(p, TK_NEWLINE))
            FAIL(p, here(p)->span, "expected a new line after a decorator, found %s [syntax]",
                 parse_found(p));
    }
    AstStmt *s = NULL;
    if (p->kind == TK_DEF)
        s = def_stmt(p);
    else if (p->kind == TK_CLASS)
        s = class_stmt(p);
    else if (p->kind == TK_ASYNC && ahead(p) == TK_DEF)
        s = async_stmt(p);
    if (!s) {
        FAIL(p, here(p)->span, "after a decorator stands 'def' or 'class' [syntax]");
        return parse_stmt_new(p, AS_PASS);
    }
    s->func->decorators = v.at;
    s->func->ndecorator = v.n;
    return s;
}

/* ---- match ----------------------------------------------------------------------------------- */

/* "match" is a name unless the line ends in ':' and a "case" stands indented under it. */
static bool match_begins(const Parser *p)
{
    int i = p->at;

    if (p->kind != TK_NAME || here(p)->text != p->word_match)
        return false;
    while (p->tok[i].kind != TK_NEWLINE && p->tok[i].kind != TK_EOF)
        i++;
    return i - p->at >= 3 && p->tok[i - 1].kind == TK_COLON && p->tok[i].kind == TK_NEWLINE &&
           p->tok[i + 1].kind == TK_INDENT && p->tok[i + 2].kind == TK_NAME &&
           p->tok[i + 2].text == p->word_case;
}

/* case: 'case' patterns ['if' named] ':' block          patterns are passed over, brackets in
 * balance: nothing in them is an expression that could hold ':' or 'if' */
static void match_case(Parser *p)
{
    if (p->kind != TK_NAME || here(p)->text != p->word_case) {
        FAIL(p, here(p)->span, "expected 'case', found %s [syntax]", parse_found(p));
        return;
    }
    next(p);
    if (p->kind == TK_COLON || p->kind == TK_IF)
        FAIL(p, here(p)->span, "expected a pattern after 'case' [syntax]");
    while (p->kind != TK_COLON && p->kind != TK_IF && !p->panic) {
        if (p->kind == TK_LPAREN || p->kind == TK_LBRACKET || p->kind == TK_LBRACE) {
            parse_skip_brackets(p);
            continue;
        }
        if (p->kind == TK_NEWLINE || p->kind == TK_EOF || p->kind == TK_ERROR)
            FAIL(p, here(p)->span, "expected ':' after the pattern of 'case' [syntax]");
        next(p);
    }
    if (take(p, TK_IF))
        parse_named(p);
    parse_want(p, TK_COLON, "after the pattern of 'case'");
    block(p, "'case'");
}

/* match_stmt: 'match' star_named elements ':' NEWLINE INDENT case+ DEDENT */
static AstStmt *match_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_MATCH);

    next(p);
    parse_star_named(p);
    while (take(p, TK_COMMA) && parse_begins_expr(p->kind))
        parse_star_named(p);
    parse_want(p, TK_COLON, "after the subject of 'match'");
    parse_stmt_done(p, s);
    if (!take(p, TK_NEWLINE) || !take(p, TK_INDENT))
        return s;
    while (p->kind != TK_DEDENT && p->kind != TK_EOF) {
        match_case(p);
        if (p->panic)
            resync(p);
    }
    take(p, TK_DEDENT);
    return s;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* compound: by its keyword, or match; NULL if the line is one of simple statements */
static AstStmt *compound(Parser *p)
{
    static StmtRule *const rule[TK_COUNT] = {
        [TK_IF] = if_stmt,     [TK_WHILE] = while_stmt, [TK_FOR] = for_stmt,
        [TK_WITH] = with_stmt, [TK_TRY] = try_stmt,     [TK_DEF] = def_stmt,
        [TK_CLASS] = class_stmt, [TK_ASYNC] = async_stmt, [TK_AT] = decorated,
    };
    if (p->kind == TK_INDENT)
        FAIL(p, here(p)->span, "this line is indented for no reason [indent]");
    if (rule[p->kind])
        return rule[p->kind](p);
    return match_begins(p) ? match_stmt(p) : NULL;
}

static void start(Parser *p, Arena *a, Names *names, Diag *d)
{
    *p = (Parser){.arena = a, .names = names, .diag = d};
    p->word_match = name_intern(names, "match", strlen("match"));
    p->word_case = name_intern(names, "case", strlen("case"));
    p->word_type = name_intern(names, "type", strlen("type"));
    p->nothing = NEW(a, Ast);
    p->nothing->kind = AST_NONE;
    p->nothing->height = 1;
}

static void begin(Parser *p, const Token *tok)
{
    p->tok = tok;
    p->kind = tok[0].kind;
    p->nothing->span = tok[0].span;
}

/* What the lexer said stands before what the parser said; put it all in the order of the file.
 * Notes stay behind their message. */
static void sort_messages(Diag *d, int first)
{
    for (int i = first + 1; i < d->list.n; i++) {
        Message *at = d->list.at;
        int end = i + 1, to = i;
        while (end < d->list.n && at[end].kind == DIAG_NOTE)
            end++;
        if (at[i].kind == DIAG_NOTE)
            continue;
        for (int j = i - 1; j >= first; j--)
            if (at[j].kind != DIAG_NOTE) {
                if (at[j].span.line <= at[i].span.line)
                    break;
                to = j;
            }
        for (int n = end - i; n > 0 && to < i; n--) {
            Message last = at[end - 1];
            memmove(&at[to + 1], &at[to], sizeof *at * (size_t)(end - 1 - to));
            at[to] = last;
        }
    }
}

/* module: statements EOF */
AstModule *parse_module(Arena *a, Names *names, Diag *d, const Source *src)
{
    Parser p;
    StmtVec v = {0};
    AstModule *m = NEW(a, AstModule);
    int ntok, nmessage = d->list.n;

    start(&p, a, names, d);
    begin(&p, lex(a, names, d, src, &ntok));
    while (p.kind != TK_EOF) {
        statements(&p, &v);
        take(&p, TK_DEDENT);
    }
    sort_messages(d, nmessage);
    m->src = src;
    m->body = v.at;
    m->nbody = v.n;
    return m;
}

/* expression: star_exprs NEWLINE EOF */
Ast *parse_expression(Arena *a, Names *names, Diag *d, const Source *src)
{
    int nerror = d->nerror, ntok;
    Parser p;

    start(&p, a, names, d);
    begin(&p, lex_expression(a, names, d, src, &ntok));
    Ast *e = parse_star_exprs(&p);
    if (!take(&p, TK_NEWLINE))
        FAIL(&p, here(&p)->span, "expected the end of the expression, found %s [syntax]",
             parse_found(&p));
    return d->nerror == nerror ? e : NULL;
}
