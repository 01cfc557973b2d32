/* stmt.c -- statements: C in, Python out.
 *
 * What C assigns to more than once lies in one-element arrays, which the compiler below turns into
 * registers: nothing has to be handed from one iteration, or out of a branch, as the DSL would want
 * it.  A `return` in a branch becomes an `else` around what follows. */
#include "target/cutedsl/cutedsl.h"

void dsl_line(Dsl *p, const char *fmt, ...)
{
    va_list ap;

    str_indent(p->out, 4 * p->indent);
    va_start(ap, fmt);
    str_vprintf(p->out, fmt, ap);
    va_end(ap);
    str_putc(p->out, '\n');
}

/* Functions that the statement names, before it. */
static void flush_before(Dsl *p)
{
    str_putn(p->out, p->before.s, p->before.n);
    p->before.n = 0;
}

/* ---- what is assigned to --------------------------------------------------------------------- */

int dsl_close_of(const Dsl *p, int open)
{
    int depth = 0;

    for (int i = open; i < p->tokens.n; i++) {
        const Token *t = &p->tokens.at[i];
        if (t->kind != TK_MARK)
            continue;
        depth += !strcmp(t->s, "{") - !strcmp(t->s, "}");
        if (depth == 0)
            return i;
    }
    return p->tokens.n - 1;
}

static bool is_mark(const Token *t, const char *s)
{
    return t->kind == TK_MARK && !strcmp(t->s, s);
}

static bool assigns(const Token *t)
{
    static const char *const ops[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="};
    for (int i = 0; i < COUNT(ops); i++)
        if (is_mark(t, ops[i]))
            return true;
    return false;
}

/* Is the name at t assigned to there?  Not where it is declared, nor through a pointer. */
static bool is_assigned(const Token *t)
{
    const Token *b = t - 1, *n = t + 1;
    bool word = b->kind == TK_NAME && strcmp(b->s, "else") && strcmp(b->s, "do");

    if (is_mark(b, "++") || is_mark(b, "--") || is_mark(n, "++") || is_mark(n, "--"))
        return true;
    if (is_mark(b, "(") && b[-1].kind == TK_TEXT && strchr("=+", b[-1].s[1]))
        return is_mark(n, ")");
    if (is_mark(b, "&") && (is_mark(n, ",") || is_mark(n, ")")))
        return is_mark(b - 1, "(") || is_mark(b - 1, ",") ||
               (is_mark(b - 1, ")") && is_mark(b - 2, "*"));
    return assigns(n) && !word && !is_mark(b, "*") && !is_mark(b, ",") && !is_mark(b, ".") &&
           !is_mark(b, "->");
}

void dsl_find_cells(Dsl *p, int from)
{
    int end = dsl_close_of(p, from);

    map_init_text(&p->assigned, p->arena);
    map_init_text(&p->cells, p->arena);
    for (int i = from; i < end; i++)
        if (p->tokens.at[i].kind == TK_NAME && is_assigned(&p->tokens.at[i]))
            map_set(&p->assigned, dsl_name(p, p->tokens.at[i].s), p);
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void array(Dsl *p, DslType t, const char *name)
{
    const char *n = dsl_is(p, "]") ? NULL : dsl_value(p, dsl_expr(p), DSL_LOOSE);

    dsl_want(p, "]");
    const char *init = NULL;
    if (dsl_take(p, "=")) {
        dsl_want(p, "{");
        init = dsl_list(p, "}");
    }
    flush_before(p);
    dsl_line(p, "%s = tl_array(%s, %s%s%s%s)", name, t.word, n ? n : "None", init ? ", [" : "",
             init ? init : "", init ? "]" : "");
}

static void declare(Dsl *p, DslType t, const char *name)
{
    const char *init = NULL;
    bool brace = false;

    if (dsl_take(p, "[")) {
        array(p, t, name);
        return;
    }
    if (dsl_take(p, "=")) {
        brace = dsl_take(p, "{");
        if (brace && t.structure) /* of zeros */
            p->at = dsl_close_of(p, p->at - 1) + 1;
        else
            init = brace ? dsl_list(p, "}") : dsl_value(p, dsl_expr(p), DSL_LOOSE);
    }
    flush_before(p);
    bool number = !t.stars && !t.structure;
    if (number && (map_has(&p->assigned, name) || !init)) {
        map_set(&p->cells, name, p);
        dsl_line(p, init ? "%s = tl_var(%s, %s)" : "%s = tl_var(%s)", name, t.word, init);
    } else if (number || (t.structure && !init)) {
        dsl_line(p, "%s = %s(%s)", name, t.word, init ? init : "");
    } else if (map_has(&p->assigned, name) || !init) {
        dsl_refuse(p, "a pointer that moves");
    } else {
        dsl_line(p, "%s = %s", name, init);
    }
}

static void declaration(Dsl *p)
{
    DslType t = dsl_type(p), each = t;

    do {
        const char *name = dsl_name(p, dsl_now(p)->s);
        p->at++;
        declare(p, each, name);
        each.stars = 0;
        while (dsl_is(p, ",") && is_mark(dsl_now(p) + 1, "*"))
            p->at++, each.stars++;
    } while (dsl_take(p, ","));
    dsl_want(p, ";");
}

/* ---- assignments, assembly ------------------------------------------------------------------- */

static void assign(Dsl *p, DslExpr to)
{
    static const char *const by_call[][2] = {{"/", "tl_div"}, {"<<", "tl_shl"}, {">>", "tl_shr"}};
    const char *op = dsl_now(p)->s, *place = dsl_value(p, to, DSL_TIGHT);
    const char *value = "1";

    p->at++;
    if (strcmp(op, "++") && strcmp(op, "--"))
        value = dsl_value(p, dsl_expr(p), DSL_LOOSE);
    const char *with = arena_strndup(p->arena, op, strlen(op) - 1);
    flush_before(p);
    for (int i = 0; i < COUNT(by_call); i++)
        if (!strcmp(with, by_call[i][0])) {
            dsl_line(p, "%s = %s(%s, %s)", place, by_call[i][1], place, value);
            return;
        }
    if (*with)
        dsl_line(p, "%s = %s %s (%s)", place, place, with, value);
    else
        dsl_line(p, "%s = %s", place, value);
}

/* Up to the next colon: constraints, and what they are of. */
static void operands(Dsl *p, Str *kinds, Str *values, bool places, Str *tied)
{
    while (dsl_now(p)->kind == TK_TEXT) {
        const char *kind = arena_strndup(p->arena, dsl_now(p)->s + 1, strlen(dsl_now(p)->s) - 2);
        p->at++;
        dsl_want(p, "(");
        const char *v = dsl_value(p, dsl_expr(p), DSL_LOOSE);
        dsl_want(p, ")");
        str_printf(kinds, "%s%s", kinds->n ? "," : "", kind);
        str_printf(values, "%s%s", values->n ? ", " : "", v);
        if (places && *kind == '+')
            str_printf(tied, ", %s", v);
        if (!dsl_take(p, ","))
            return;
    }
}

static void assembly(Dsl *p)
{
    Str text, kinds, to, from, tied;
    bool order = false;

    p->at++;
    bool stays = dsl_now(p)->kind == TK_NAME;
    p->at += stays;
    dsl_want(p, "(");
    str_init(&text, p->arena), str_init(&kinds, p->arena), str_init(&to, p->arena);
    str_init(&from, p->arena), str_init(&tied, p->arena);
    for (; dsl_now(p)->kind == TK_TEXT; p->at++)
        str_printf(&text, "%s%s", text.n ? " " : "", dsl_now(p)->s);
    if (dsl_take(p, ":"))
        operands(p, &kinds, &to, true, &tied);
    if (dsl_take(p, ":"))
        operands(p, &kinds, &from, false, &tied);
    while (dsl_take(p, ":") || dsl_take(p, ","))
        for (order = true; dsl_now(p)->kind == TK_TEXT; p->at++)
            ;
    dsl_want(p, ")");
    dsl_want(p, ";");
    flush_before(p);
    const char *rest = tied.n && !from.n ? tied.s + 2 : tied.n ? tied.s : "";
    dsl_line(p, "%s%stl_asm(%s, \"%s\", [%s%s]%s%s)", to.n ? to.s : "", to.n ? " = " : "", text.s,
             kinds.n ? kinds.s : "", from.n ? from.s : "", rest, stays ? ", stays=True" : "",
             order ? ", memory=True" : "");
}

/* ---- control --------------------------------------------------------------------------------- */

static const char *condition(Dsl *p)
{
    int from = p->at;
    DslExpr x = dsl_expr(p);
    const char *s = dsl_value(p, x, DSL_LOOSE);
    bool fixed = false;

    for (int i = from; i < p->at; i++)
        if (p->tokens.at[i].kind == TK_NAME)
            fixed = map_has(&p->numbers, p->tokens.at[i].s);
    if (fixed)
        return arena_printf(p->arena, "cutlass.const_expr(%s)", s);
    return x.binds == DSL_COMPARE && x.kind == EX_PLAIN ? s
                                                        : arena_printf(p->arena, "tl_true(%s)", s);
}

/* One statement, or those between braces, a step to the right. */
static bool nested(Dsl *p)
{
    size_t before = p->out->n;
    bool ends = false;

    p->indent++;
    if (dsl_take(p, "{"))
        ends = (dsl_block(p), p->rest == DSL_ELSE);
    else
        ends = dsl_stmt(p);
    if (p->out->n == before)
        dsl_line(p, "pass");
    p->indent--;
    p->rest = DSL_WHOLE;
    return ends;
}

static bool branch(Dsl *p)
{
    dsl_want(p, "(");
    const char *if_so = condition(p);
    dsl_want(p, ")");
    flush_before(p);
    dsl_line(p, "if %s:", if_so);
    bool ends = nested(p), other = false, ends_else = false;
    while (dsl_now(p)->kind == TK_NOTE && !strcmp(dsl_now(p)[1].s, "else"))
        p->at++;
    if (dsl_take(p, "else")) {
        other = true;
        dsl_line(p, "else:");
        ends_else = nested(p);
    }
    if (ends_else && !ends)
        dsl_refuse(p, "a return of the second arm of a branch alone");
    p->rest = ends && !other ? DSL_ELSE : ends && !ends_else ? DSL_DEEPER : DSL_WHOLE;
    return ends && ends_else;
}

static const char *bound(Dsl *p, DslType t, const char *s, bool wide)
{
    bool digits = strspn(s, "0123456789") == strlen(s);
    return digits && !wide ? s : arena_printf(p->arena, "%s(%s)", t.word, s);
}

/* Does something between leave a loop, or an iteration? */
static bool leaves(const Dsl *p, int from, int to)
{
    for (int i = from; i < to; i++)
        if (p->tokens.at[i].kind == TK_NAME &&
            (!strcmp(p->tokens.at[i].s, "break") || !strcmp(p->tokens.at[i].s, "continue")))
            return true;
    return false;
}

/* for (T i = A; i < B; i++), nobody else changing i: a range. */
static bool counted(Dsl *p, const char *unroll)
{
    int back = p->at;
    DslType t = dsl_type(p);
    const char *name = dsl_name(p, dsl_now(p)->s), *step = "1";
    int uses = 0, close = p->at;

    for (int depth = 1; depth > 0; close++)
        depth += is_mark(&p->tokens.at[close], "(") - is_mark(&p->tokens.at[close], ")");
    bool block = is_mark(&p->tokens.at[close], "{");
    for (int i = close; i < (block ? dsl_close_of(p, close) : close); i++)
        uses += p->tokens.at[i].kind == TK_NAME && !strcmp(p->tokens.at[i].s, dsl_now(p)->s) &&
                is_assigned(&p->tokens.at[i]);
    p->at++;
    bool suits = t.word && !t.stars && uses == 0 &&
                 !leaves(p, close, block ? dsl_close_of(p, close) : close + 2) && dsl_take(p, "=");
    const char *first = suits ? dsl_value(p, dsl_expr(p), DSL_LOOSE) : "";
    suits = suits && dsl_take(p, ";") && !strcmp(dsl_name(p, dsl_now(p)->s), name);
    if (suits)
        p->at++;
    suits = suits && dsl_take(p, "<");
    const char *last = suits ? dsl_value(p, dsl_expr(p), DSL_LOOSE) : "";
    suits = suits && dsl_take(p, ";");
    if (suits && is_mark(dsl_now(p), "++"))
        p->at += 2;
    else if (suits && is_mark(dsl_now(p) + 1, "++"))
        p->at += 2;
    else if (suits && is_mark(dsl_now(p) + 1, "+="))
        p->at += 2, step = dsl_value(p, dsl_expr(p), DSL_LOOSE);
    if (!suits || !dsl_take(p, ")")) {
        p->at = back;
        return false;
    }
    map_remove(&p->cells, name);
    flush_before(p);
    bool wide = strcmp(t.word, "tl_i32");
    dsl_line(p, "for %s in cutlass.range(%s, %s, %s%s):", name, bound(p, t, first, wide),
             bound(p, t, last, wide), bound(p, t, step, wide), unroll);
    if (nested(p))
        dsl_refuse(p, "a return out of a loop");
    return true;
}

/* The rest of a loop, from its condition on.  One that is left early, or has iterations that are,
 * has variables that say so: what follows a place where it may be is under them. */
static void repeat(Dsl *p, const char *goes, const char *last)
{
    const char *on = p->on, *go = p->go;
    int close = dsl_is(p, "{") ? dsl_close_of(p, p->at) : p->at + 8;
    bool left = leaves(p, p->at, close);

    p->on = left ? arena_printf(p->arena, "tl_on_%d", p->nloop) : NULL;
    p->go = left ? arena_printf(p->arena, "tl_go_%d", p->nloop++) : NULL;
    if (left) {
        dsl_line(p, "%s = tl_var(tl_i32, 1)", p->go);
        dsl_line(p, "%s = tl_var(tl_i32, 1)", p->on);
        dsl_line(p, "while tl_and(%s[0] != 0, lambda: %s):", p->go, goes);
        dsl_line(p, "    %s[0] = 1", p->on);
    } else {
        dsl_line(p, "while %s:", goes);
    }
    if (dsl_take(p, ";"))
        dsl_line(p, "    pass");
    else if (nested(p) && !left)
        dsl_refuse(p, "a return out of a loop");
    str_puts(p->out, last);
    p->on = on;
    p->go = go;
}

static void loop(Dsl *p, const char *unroll)
{
    Str last;
    Str *out = p->out;

    dsl_want(p, "(");
    if (counted(p, unroll))
        return;
    if (dsl_is_type(p))
        declaration(p);
    else
        dsl_want(p, ";");
    const char *goes = dsl_is(p, ";") ? "tl_true(1)" : condition(p);
    dsl_want(p, ";");
    str_init(&last, p->arena);
    p->out = &last;
    p->indent++;
    if (!dsl_is(p, ")"))
        do
            assign(p, dsl_expr(p));
        while (dsl_take(p, ","));
    p->indent--;
    p->out = out;
    dsl_want(p, ")");
    repeat(p, goes, last.n ? last.s : "");
}

static void while_loop(Dsl *p)
{
    dsl_want(p, "(");
    const char *goes = condition(p);
    dsl_want(p, ")");
    flush_before(p);
    repeat(p, goes, "");
}

/* `break`, `continue` */
static bool leave(Dsl *p, bool loop_too)
{
    p->at++;
    dsl_want(p, ";");
    if (!p->on)
        dsl_refuse(p, "a way out of no loop");
    dsl_line(p, "%s[0] = 0", p->on);
    if (loop_too)
        dsl_line(p, "%s[0] = 0", p->go);
    return false;
}

static void give_back(Dsl *p)
{
    if (dsl_take(p, ";"))
        return;
    const char *s;
    if (dsl_take(p, "{"))
        s = arena_printf(p->arena, "%s(%s)", p->returns.word, dsl_list(p, "}"));
    else
        s = dsl_value(p, dsl_expr(p), DSL_LOOSE);
    if (p->returns.word && !p->returns.stars && !p->returns.structure && !p->result)
        s = arena_printf(p->arena, "%s(%s)", p->returns.word, s);
    dsl_want(p, ";");
    flush_before(p);
    dsl_line(p, p->result ? "%s[0] = %s" : "return %.0s%s", p->result ? p->result : "", s);
}

static void expression(Dsl *p)
{
    do {
        if (dsl_is(p, "++") || dsl_is(p, "--")) {
            const Token op = *dsl_now(p);
            p->at++;
            DslExpr x = dsl_expr(p);
            dsl_line(p, "%s = %s %c 1", dsl_value(p, x, DSL_TIGHT), dsl_value(p, x, DSL_TIGHT),
                     op.s[0]);
            continue;
        }
        DslExpr x = dsl_expr(p);
        if (assigns(dsl_now(p))) {
            assign(p, x);
        } else {
            flush_before(p);
            if (!x.pure)
                dsl_line(p, "%s", dsl_value(p, x, DSL_LOOSE));
        }
    } while (dsl_take(p, ","));
    dsl_want(p, ";");
}

static bool is_word(const Dsl *p, const char *s)
{
    return dsl_now(p)->kind == TK_NAME && !strcmp(dsl_now(p)->s, s);
}

bool dsl_stmt(Dsl *p)
{
    const Token *t = dsl_now(p);
    static const char *const none[] = {"switch", "do", "goto", "union"};
    const char *unroll = "";

    p->rest = DSL_WHOLE;
    if (t->kind == TK_NOTE) {
        p->at++;
        dsl_line(p, "#%s", t->s);
        return false;
    }
    if (t->kind == TK_UNROLL) {
        p->at++;
        unroll = *t->s ? arena_printf(p->arena, ", unroll=%s", t->s) : ", unroll_full=True";
    }
    for (int i = 0; i < COUNT(none); i++)
        if (is_word(p, none[i]))
            dsl_refuse(p, arena_printf(p->arena, "'%s'", none[i]));
    if (dsl_take(p, ";"))
        return false;
    if (is_word(p, "if"))
        return p->at++, branch(p);
    if (is_word(p, "for"))
        return p->at++, loop(p, unroll), false;
    if (is_word(p, "while"))
        return p->at++, while_loop(p), false;
    if (is_word(p, "return"))
        return p->at++, give_back(p), true;
    if (is_word(p, "break") || is_word(p, "continue"))
        return leave(p, *dsl_now(p)->s == 'b');
    if (is_word(p, "asm"))
        return assembly(p), false;
    if (is_word(p, "extern")) { /* __shared__ … tl_shared[]; */
        while (!dsl_take(p, ";"))
            p->at++;
        dsl_line(p, "tl_shared = tl_dynamic_shared()");
    } else if (dsl_is_type(p)) {
        declaration(p);
    } else {
        expression(p);
    }
    return false;
}

/* Braces inside of it are no scopes: names are unique.  Whether it returns is said as DSL_ELSE. */
void dsl_block(Dsl *p)
{
    int indent = p->indent, depth = 1;
    bool ends = false;

    while (depth > 0) {
        if (dsl_take(p, "{")) {
            depth++;
        } else if (dsl_take(p, "}")) {
            depth--;
        } else if (dsl_now(p)->kind == TK_END) {
            dsl_refuse(p, "a text that ends too early");
        } else {
            int from = p->at;
            ends = dsl_stmt(p);
            if (p->on && leaves(p, from, p->at) && !dsl_is(p, "}")) {
                dsl_line(p, "if %s[0] != 0:", p->on);
                p->indent++;
                p->rest = DSL_WHOLE;
            }
            if (p->rest == DSL_ELSE && !dsl_is(p, "}"))
                dsl_line(p, "else:");
            if (p->rest != DSL_WHOLE && !dsl_is(p, "}"))
                p->indent++;
        }
    }
    p->indent = indent;
    p->rest = ends ? DSL_ELSE : DSL_WHOLE;
}
