/* parse_simple.c -- statements that fit on a line: assignments, imports, return, and the like. */
#include "front/parse.h"

AstStmt *parse_stmt_new(Parser *p, AstStmtKind kind)
{
    AstStmt *s = NEW(p->arena, AstStmt);
    s->kind = kind;
    s->span = here(p)->span;
    return s;
}

AstStmt *parse_stmt_done(Parser *p, AstStmt *s)
{
    s->span = parse_since(p, s->span);
    return s;
}

static void set_targets(AstStmt *s, const AstVec *v)
{
    s->targets = v->at;
    s->ntarget = v->n;
}

/* ---- assignment and expressions -------------------------------------------------------------- */

static TokenKind aug_op(TokenKind k)
{
    static const TokenKind op[TK_COUNT] = {
        [TK_ADD_EQ] = TK_ADD,    [TK_SUB_EQ] = TK_SUB,      [TK_MUL_EQ] = TK_MUL,
        [TK_DIV_EQ] = TK_DIV,    [TK_MOD_EQ] = TK_MOD,      [TK_AND_EQ] = TK_BITAND,
        [TK_OR_EQ] = TK_BITOR,   [TK_XOR_EQ] = TK_BITXOR,   [TK_AT_EQ] = TK_AT,
        [TK_POW_EQ] = TK_POW,    [TK_FLOOR_EQ] = TK_FLOORDIV, [TK_SHL_EQ] = TK_SHL,
        [TK_SHR_EQ] = TK_SHR,
    };
    return op[k]; /* TK_EOF, which is 0, for any other */
}

/* annotated: target ':' expr ['=' yield_or_exprs] */
static AstStmt *annotated(Parser *p, AstStmt *s, Ast *target)
{
    AstVec v = {0};

    parse_check_target(p, target, TARGET_ANNOTATE);
    vec_push(p->arena, &v, target);
    next(p);
    s->kind = AS_ANN;
    s->annotation = parse_expr(p);
    if (take(p, TK_ASSIGN))
        s->value = parse_yield_or_exprs(p);
    set_targets(s, &v);
    return parse_stmt_done(p, s);
}

/* augmented: target ('+=' | '-=' | ...) yield_or_exprs */
static AstStmt *augmented(Parser *p, AstStmt *s, Ast *target)
{
    AstVec v = {0};

    parse_check_target(p, target, TARGET_CHANGE);
    vec_push(p->arena, &v, target);
    s->kind = AS_AUG;
    s->op = aug_op(p->kind);
    next(p);
    s->value = parse_yield_or_exprs(p);
    set_targets(s, &v);
    return parse_stmt_done(p, s);
}

/* X = T.match_buffer(X, shape, …) declares the parameter X, as X: T.Tensor(shape, …) does. */
static void match_declares(Parser *p, AstStmt *s)
{
    Ast *call = s->value;

    if (s->ntarget != 1 || s->targets[0]->kind != AST_NAME || call->kind != AST_CALL ||
        call->kid[0]->kind != AST_ATTR || strcmp(call->kid[0]->name, "match_buffer") ||
        call->narg < 2 || call->args[0].name || call->args[0].star ||
        call->args[0].value->kind != AST_NAME ||
        strcmp(call->args[0].value->name, s->targets[0]->name))
        return;
    Ast *made = NEW(p->arena, Ast), *callee = NEW(p->arena, Ast);
    *made = *call;
    *callee = *call->kid[0];
    callee->name = "Tensor";
    made->kid = NEWN(p->arena, Ast *, 1);
    made->kid[0] = callee;
    made->args = call->args + 1;
    made->narg = call->narg - 1;
    s->kind = AS_ANN;
    s->annotation = made;
    s->value = NULL;
}

/* expr_stmt: yield_or_exprs | annotated | augmented | (targets '=')+ yield_or_exprs */
static AstStmt *expr_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_EXPR);
    Ast *e = parse_yield_or_exprs(p);
    AstVec v = {0};

    if (p->kind == TK_COLON)
        return annotated(p, s, e);
    if (aug_op(p->kind))
        return augmented(p, s, e);
    while (p->kind == TK_ASSIGN) {
        parse_check_target(p, e, TARGET_ASSIGN);
        next(p);
        vec_push(p->arena, &v, e);
        e = parse_yield_or_exprs(p);
    }
    if (v.n)
        s->kind = AS_ASSIGN;
    s->value = e;
    set_targets(s, &v);
    match_declares(p, s);
    return parse_stmt_done(p, s);
}

/* ---- other simple statements ----------------------------------------------------------------- */

/* pass_stmt: 'pass' | 'break' | 'continue' */
static AstStmt *word_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, p->kind == TK_PASS    ? AS_PASS
                             : p->kind == TK_BREAK ? AS_BREAK
                                                   : AS_CONTINUE);
    if (s->kind != AS_PASS && !p->in_loop)
        FAIL(p, s->span, "'%s' stands outside of any loop [syntax]", token_text(here(p)->kind));
    next(p);
    return s;
}

/* return_stmt: 'return' [star_exprs] */
static AstStmt *return_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_RETURN);

    if (!p->in_func)
        FAIL(p, s->span, "'return' stands outside of any function [syntax]");
    next(p);
    if (parse_begins_expr(p->kind))
        s->value = parse_star_exprs(p);
    return parse_stmt_done(p, s);
}

/* assert_stmt: 'assert' expr [',' expr] */
static AstStmt *assert_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_ASSERT);
    next(p);
    s->value = parse_expr(p);
    if (take(p, TK_COMMA))
        s->message = parse_expr(p);
    return parse_stmt_done(p, s);
}

/* raise_stmt: 'raise' [expr ['from' expr]] */
static AstStmt *raise_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_RAISE);
    next(p);
    if (parse_begins_expr(p->kind)) {
        s->value = parse_expr(p);
        if (take(p, TK_FROM))
            s->message = parse_expr(p);
    }
    return parse_stmt_done(p, s);
}

/* del_stmt: 'del' targets */
static AstStmt *del_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_DEL);
    AstVec v = {0};

    next(p);
    do {
        Ast *e = parse_binary(p);
        parse_check_target(p, e, TARGET_DELETE);
        vec_push(p->arena, &v, e);
    } while (take(p, TK_COMMA) && parse_begins_expr(p->kind));
    set_targets(s, &v);
    return parse_stmt_done(p, s);
}

/* scope_stmt: ('global' | 'nonlocal') NAME (',' NAME)* */
static AstStmt *scope_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, p->kind == TK_GLOBAL ? AS_GLOBAL : AS_NONLOCAL);
    VEC(AstImport) v = {0};

    next(p);
    do {
        AstImport i = {.span = here(p)->span};
        i.name = parse_name(p, s->kind == AS_GLOBAL ? "after 'global'" : "after 'nonlocal'");
        vec_push(p->arena, &v, i);
    } while (take(p, TK_COMMA));
    s->names = v.at;
    s->nname = v.n;
    return parse_stmt_done(p, s);
}

/* Skip "[...]" at hand, brackets in balance. */
void parse_skip_brackets(Parser *p)
{
    int depth = 0;
    do {
        if (p->kind == TK_LPAREN || p->kind == TK_LBRACKET || p->kind == TK_LBRACE)
            depth++;
        else if (p->kind == TK_RPAREN || p->kind == TK_RBRACKET || p->kind == TK_RBRACE)
            depth--;
        else if (p->kind == TK_NEWLINE || p->kind == TK_EOF || p->kind == TK_ERROR)
            FAIL(p, here(p)->span, "expected ']' [syntax]");
        next(p);
    } while (depth > 0 && !p->panic);
}

/* type_params: ['[' ... ']']          they say nothing to a compiler of kernels */
void parse_type_params(Parser *p)
{
    if (p->kind != TK_LBRACKET)
        return;
    if (ahead(p) == TK_RBRACKET)
        FAIL(p, here(p)->span, "expected a name between '[' and ']' [syntax]");
    parse_skip_brackets(p);
}

/* type_stmt: 'type' NAME type_params '=' expr */
static AstStmt *type_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_TYPE);
    next(p);
    s->name = parse_name(p, "after 'type'");
    parse_type_params(p);
    parse_want(p, TK_ASSIGN, "after the name of the type");
    s->value = parse_expr(p);
    return parse_stmt_done(p, s);
}

/* ---- imports --------------------------------------------------------------------------------- */

/* dotted: NAME ('.' NAME)*        joined and interned; `dots` stand before it */
static const char *dotted(Parser *p, int dots, bool needed)
{
    Str b;

    if (dots == 0 && ahead(p) != TK_DOT)
        return parse_name(p, "of a module");
    str_init(&b, p->arena);
    for (int i = 0; i < dots; i++)
        str_putc(&b, '.');
    if (needed || p->kind == TK_NAME) {
        str_puts(&b, parse_name(p, "of a module"));
        while (take(p, TK_DOT)) {
            str_putc(&b, '.');
            str_puts(&b, parse_name(p, "after '.'"));
        }
    }
    return name_intern(p->names, b.s, b.n);
}

const char *parse_alias(Parser *p)
{
    return take(p, TK_AS) ? parse_name(p, "after 'as'") : NULL;
}

/* import_stmt: 'import' dotted ['as' NAME] (',' dotted ['as' NAME])* */
static AstStmt *import_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_IMPORT);
    VEC(AstImport) v = {0};

    next(p);
    do {
        AstImport i = {.span = here(p)->span};
        i.name = dotted(p, 0, true);
        i.alias = parse_alias(p);
        i.span = parse_since(p, i.span);
        vec_push(p->arena, &v, i);
    } while (take(p, TK_COMMA));
    s->names = v.at;
    s->nname = v.n;
    return parse_stmt_done(p, s);
}

/* imported: '*' | '(' names [','] ')' | names          names: NAME ['as' NAME] (',' ...)* */
static void imported(Parser *p, AstStmt *s)
{
    VEC(AstImport) v = {0};
    bool grouped = false;

    if (p->kind == TK_MUL) {
        AstImport all = {.name = name_intern(p->names, "*", 1), .span = here(p)->span};
        next(p);
        vec_push(p->arena, &v, all);
    } else {
        grouped = take(p, TK_LPAREN);
        do {
            if (grouped && v.n && p->kind == TK_RPAREN)
                break;
            AstImport i = {.span = here(p)->span};
            i.name = parse_name(p, "to import");
            i.alias = parse_alias(p);
            i.span = parse_since(p, i.span);
            vec_push(p->arena, &v, i);
        } while (take(p, TK_COMMA));
    }
    if (grouped)
        parse_want(p, TK_RPAREN, "after the names to import");
    s->names = v.at;
    s->nname = v.n;
}

/* from_stmt: 'from' ('.' | '...')* dotted 'import' imported
 *          | 'from' ('.' | '...')+ 'import' imported */
static AstStmt *from_stmt(Parser *p)
{
    AstStmt *s = parse_stmt_new(p, AS_FROM);
    int dots = 0;

    next(p);
    for (; p->kind == TK_DOT || p->kind == TK_ELLIPSIS; next(p))
        dots += p->kind == TK_DOT ? 1 : 3;
    s->name = dotted(p, dots, dots == 0);
    parse_want(p, TK_IMPORT, "after the module of 'from'");
    imported(p, s);
    return parse_stmt_done(p, s);
}

/* ---- lines of simple statements -------------------------------------------------------------- */

/* simple_stmt: by its keyword, else a type alias or an expression */
static AstStmt *simple_stmt(Parser *p)
{
    static StmtRule *const rule[TK_COUNT] = {
        [TK_PASS] = word_stmt,       [TK_BREAK] = word_stmt,  [TK_CONTINUE] = word_stmt,
        [TK_RETURN] = return_stmt,   [TK_ASSERT] = assert_stmt, [TK_RAISE] = raise_stmt,
        [TK_DEL] = del_stmt,         [TK_GLOBAL] = scope_stmt, [TK_NONLOCAL] = scope_stmt,
        [TK_IMPORT] = import_stmt,   [TK_FROM] = from_stmt,
    };
    if (rule[p->kind])
        return rule[p->kind](p);
    if (p->kind == TK_NAME && here(p)->text == p->word_type && ahead(p) == TK_NAME)
        return type_stmt(p);
    return expr_stmt(p);
}

/* simple_stmts: simple_stmt (';' simple_stmt)* [';'] NEWLINE */
void parse_simple_stmts(Parser *p, StmtVec *out)
{
    do {
        vec_push(p->arena, out, simple_stmt(p));
    } while (take(p, TK_SEMICOLON) && p->kind != TK_NEWLINE);
    if (!take(p, TK_NEWLINE))
        FAIL(p, here(p)->span, "expected the end of the line, found %s [syntax]", parse_found(p));
}
