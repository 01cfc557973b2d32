/* ast.c -- a tree of the parser as text.
 *
 * A statement is one line, its blocks are indented under it, and clauses such as (else) stand
 * beside it:
 *     (for i (call range 4))
 *       (+= x i)
 *     (else)
 *       (pass)                                                                                */
#include "ast.h"
#include "front/lex.h"

/* ---- printing expressions -------------------------------------------------------------------- */

static void print_text(Str *out, const char *s, size_t n, bool bytes)
{
    str_puts(out, bytes ? "b\"" : "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '\n')
            str_puts(out, "\\n");
        else if (c == '"' || c == '\\')
            str_printf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7F || (bytes && c >= 0x80))
            str_printf(out, "\\x%02x", c);
        else
            str_putc(out, (char)c);
    }
    str_putc(out, '"');
}

static void print_double(Str *out, double v)
{
    size_t before = out->n;
    str_double(out, v);
    if (strspn(out->s + before, "-0123456789") == out->n - before)
        str_puts(out, ".0");
}

static void print_list(Str *out, const char *head, Ast *const *kid, int n)
{
    str_printf(out, "(%s", head);
    for (int i = 0; i < n; i++) {
        str_putc(out, ' ');
        if (kid[i])
            ast_print(out, kid[i]);
        else
            str_putc(out, '_');
    }
    str_putc(out, ')');
}

static void print_args(Str *out, const AstArg *args, int n)
{
    for (int i = 0; i < n; i++) {
        const AstArg *a = &args[i];
        str_putc(out, ' ');
        if (a->name)
            str_printf(out, "(= %s ", a->name);
        else if (a->star)
            str_puts(out, a->star == 1 ? "(* " : "(** ");
        ast_print(out, a->value);
        if (a->name || a->star)
            str_putc(out, ')');
    }
}

/* x  x:annotation  x=default  *x  **x, with '/' and '*' where they stood */
static void print_params(Str *out, const AstFunc *f)
{
    bool star = false;

    str_putc(out, '(');
    for (int i = 0; i < f->nparam; i++) {
        const AstParam *a = &f->params[i];
        if (i)
            str_putc(out, ' ');
        if (a->kwonly && !star)
            str_puts(out, "* ");
        star |= a->kwonly || a->star == 1;
        str_printf(out, "%s%s", a->star == 1 ? "*" : a->star == 2 ? "**" : "", a->name);
        if (a->annotation) {
            str_putc(out, ':');
            ast_print(out, a->annotation);
        }
        if (a->value) {
            str_putc(out, '=');
            ast_print(out, a->value);
        }
        if (a->posonly && (i + 1 == f->nparam || !f->params[i + 1].posonly))
            str_puts(out, " /");
    }
    str_putc(out, ')');
}

static void print_dict(Str *out, const Ast *e)
{
    str_puts(out, "(dict");
    for (int i = 0; i + 1 < e->nkid; i += 2) {
        str_puts(out, e->kid[i] ? " (" : " (**");
        if (e->kid[i])
            ast_print(out, e->kid[i]);
        str_putc(out, ' ');
        ast_print(out, e->kid[i + 1]);
        str_putc(out, ')');
    }
    str_putc(out, ')');
}

static void print_compare(Str *out, const Ast *e)
{
    str_puts(out, "(compare ");
    ast_print(out, e->kid[0]);
    for (int i = 1; i < e->nkid; i++) {
        str_printf(out, " %s ", token_text(e->ops[i - 1]));
        ast_print(out, e->kid[i]);
    }
    str_putc(out, ')');
}

static void print_comp(Str *out, const Ast *e)
{
    print_list(out, e->comp == '['   ? "list-of"
                    : e->comp == '{' ? "set-of"
                    : e->comp == ':' ? "dict-of"
                                     : "gen-of",
               e->kid, e->nkid);
    out->s[--out->n] = 0; /* the list goes on */
    for (int i = 0; i < e->nfor; i++) {
        const AstCompFor *f = &e->fors[i];
        str_puts(out, f->is_async ? " (async-for " : " (for ");
        ast_print(out, f->target);
        str_putc(out, ' ');
        ast_print(out, f->iter);
        for (int j = 0; j < f->ncond; j++) {
            str_putc(out, ' ');
            ast_print(out, f->conds[j]);
        }
        str_putc(out, ')');
    }
    str_putc(out, ')');
}

static void print_format(Str *out, const Ast *e)
{
    str_puts(out, "(format ");
    ast_print(out, e->kid[0]);
    if (e->len) {
        str_putc(out, ' ');
        print_text(out, e->str, e->len, false);
    }
    if (e->nkid > 1) {
        str_putc(out, ' ');
        ast_print(out, e->kid[1]);
    }
    str_putc(out, ')');
}

void ast_print(Str *out, const Ast *e)
{
    switch (e->kind) {
    case AST_NAME: str_puts(out, e->name); return;
    case AST_INT:
        str_printf(out, e->wide ? "%llu" : "%lld", (unsigned long long)e->i);
        return;
    case AST_FLOAT: print_double(out, e->f); return;
    case AST_IMAGINARY: str_puts(out, "imaginary"); return;
    case AST_STRING:
    case AST_BYTES: print_text(out, e->str, e->len, e->kind == AST_BYTES); return;
    case AST_FSTRING: print_list(out, "fstring", e->kid, e->nkid); return;
    case AST_FORMAT: print_format(out, e); return;
    case AST_TRUE: str_puts(out, "True"); return;
    case AST_FALSE: str_puts(out, "False"); return;
    case AST_NONE: str_puts(out, "None"); return;
    case AST_ELLIPSIS: str_puts(out, "..."); return;
    case AST_TUPLE: print_list(out, "tuple", e->kid, e->nkid); return;
    case AST_LIST: print_list(out, "list", e->kid, e->nkid); return;
    case AST_SET: print_list(out, "set", e->kid, e->nkid); return;
    case AST_DICT: print_dict(out, e); return;
    case AST_UNARY:
    case AST_BINARY:
    case AST_BOOLOP: print_list(out, token_text(e->op), e->kid, e->nkid); return;
    case AST_COMPARE: print_compare(out, e); return;
    case AST_TERNARY: print_list(out, "if-else", e->kid, e->nkid); return;
    case AST_CALL:
        str_puts(out, "(call ");
        ast_print(out, e->kid[0]);
        print_args(out, e->args, e->narg);
        str_putc(out, ')');
        return;
    case AST_ATTR:
        str_puts(out, "(. ");
        ast_print(out, e->kid[0]);
        str_printf(out, " %s)", e->name);
        return;
    case AST_INDEX: print_list(out, "index", e->kid, e->nkid); return;
    case AST_SLICE: print_list(out, "slice", e->kid, e->nkid); return;
    case AST_LAMBDA:
        str_puts(out, "(lambda ");
        print_params(out, e->func);
        str_putc(out, ' ');
        ast_print(out, e->func->body[0]->value);
        str_putc(out, ')');
        return;
    case AST_STAR: print_list(out, "*", e->kid, e->nkid); return;
    case AST_COMP: print_comp(out, e); return;
    case AST_WALRUS:
        str_printf(out, "(:= %s ", e->name);
        ast_print(out, e->kid[0]);
        str_putc(out, ')');
        return;
    case AST_YIELD:
        print_list(out, e->op == TK_FROM ? "yield-from" : "yield", e->kid, e->nkid);
        return;
    case AST_AWAIT: print_list(out, "await", e->kid, e->nkid); return;
    }
    unreachable();
}

/* ---- printing statements --------------------------------------------------------------------- */

enum { STEP = 2 };

static void print_body(Str *out, AstStmt *const *body, int n, int indent);

static void print_clause(Str *out, const char *head, AstStmt *const *body, int n, int indent)
{
    if (!n)
        return;
    str_indent(out, indent);
    str_printf(out, "(%s)\n", head);
    print_body(out, body, n, indent + STEP);
}

static void put_expr(Str *out, const Ast *e)
{
    if (e) {
        str_putc(out, ' ');
        ast_print(out, e);
    }
}

static void put_targets(Str *out, const AstStmt *s)
{
    for (int i = 0; i < s->ntarget; i++)
        put_expr(out, s->targets[i]);
}

static void put_imports(Str *out, const AstStmt *s)
{
    for (int i = 0; i < s->nname; i++) {
        if (s->names[i].alias)
            str_printf(out, " (as %s %s)", s->names[i].name, s->names[i].alias);
        else
            str_printf(out, " %s", s->names[i].name);
    }
}

static void put_items(Str *out, const AstStmt *s)
{
    for (int i = 0; i < s->nitem; i++) {
        str_puts(out, " (");
        ast_print(out, s->items[i].context);
        put_expr(out, s->items[i].target);
        str_putc(out, ')');
    }
}

/* What follows the statement's word, on its line. */
static void put_head(Str *out, const AstStmt *s)
{
    if (s->kind == AS_DEF) {
        str_printf(out, " %s ", s->func->name);
        print_params(out, s->func);
        put_expr(out, s->func->returns);
        return;
    }
    if (s->name)
        str_printf(out, " %s", s->name);
    print_args(out, s->bases, s->nbase);
    put_targets(out, s);
    put_imports(out, s);
    put_items(out, s);
    put_expr(out, s->annotation);
    put_expr(out, s->value);
    put_expr(out, s->message);
}

static const char *stmt_word(const AstStmt *s)
{
    static const char *const word[] = {
        [AS_EXPR] = "expr",         [AS_ASSIGN] = "=",        [AS_AUG] = "aug",
        [AS_ANN] = ":",             [AS_IF] = "if",           [AS_FOR] = "for",
        [AS_WHILE] = "while",       [AS_WITH] = "with",       [AS_DEF] = "def",
        [AS_CLASS] = "class",       [AS_RETURN] = "return",   [AS_PASS] = "pass",
        [AS_BREAK] = "break",       [AS_CONTINUE] = "continue", [AS_ASSERT] = "assert",
        [AS_RAISE] = "raise",       [AS_IMPORT] = "import",   [AS_FROM] = "from",
        [AS_GLOBAL] = "global",     [AS_NONLOCAL] = "nonlocal", [AS_DEL] = "del",
        [AS_TRY] = "try",           [AS_MATCH] = "match",     [AS_TYPE] = "type",
    };
    return word[s->kind];
}

static void print_handler(Str *out, const AstHandler *h, int indent)
{
    str_indent(out, indent);
    str_puts(out, h->star ? "(except*" : "(except");
    put_expr(out, h->type);
    if (h->name)
        str_printf(out, " %s", h->name);
    str_puts(out, ")\n");
    print_body(out, h->body, h->nbody, indent + STEP);
}

static void print_stmt(Str *out, const AstStmt *s, int indent)
{
    if (s->func)
        for (int i = 0; i < s->func->ndecorator; i++) {
            str_indent(out, indent);
            print_list(out, "@", &s->func->decorators[i], 1);
            str_putc(out, '\n');
        }
    str_indent(out, indent);
    str_puts(out, s->is_async ? "(async-" : "(");
    if (s->kind == AS_AUG)
        str_printf(out, "%s=", token_text(s->op));
    else
        str_puts(out, stmt_word(s));
    put_head(out, s);
    str_puts(out, ")\n");

    print_body(out, s->body, s->nbody, indent + STEP);
    if (s->kind == AS_DEF)
        print_body(out, s->func->body, s->func->nbody, indent + STEP);
    for (int i = 0; i < s->nhandler; i++)
        print_handler(out, &s->handlers[i], indent);
    print_clause(out, "else", s->orelse, s->norelse, indent);
    print_clause(out, "finally", s->final, s->nfinal, indent);
}

static void print_body(Str *out, AstStmt *const *body, int n, int indent)
{
    for (int i = 0; i < n; i++)
        print_stmt(out, body[i], indent);
}

void ast_print_module(Str *out, const AstModule *m)
{
    print_body(out, m->body, m->nbody, 0);
}
