/* print_stmt.c -- statements, for every dialect: what each language does its own way is a hook. */
#include "ir/config.h"
#include "target/print.h"

enum { INDENT_MOST = 160 }; /* or deep nests would make text by their square */

void emit_indent(Emit *e)
{
    str_indent(e->out, MIN(e->indent * 4, INDENT_MOST));
}

void emit_line(Emit *e, const char *fmt, ...)
{
    va_list ap;

    emit_indent(e);
    va_start(ap, fmt);
    str_vprintf(e->out, fmt, ap);
    va_end(ap);
    str_putc(e->out, '\n');
}

/* ---- what is known --------------------------------------------------------------------------- */

/* What a name for something read from memory can be, where its width, a mask or a clamp says so. */
static void know_loaded(Emit *e, const Var *v, Bounds b)
{
    if (bounds_within(b, -(1 << 30), 1 << 30))
        facts_range(e->facts, v, expr_const(e->ir, v->type, b.lo),
                    expr_const(e->ir, v->type, b.hi - b.lo + 1));
}

typedef struct {
    Emit *e;
    Map *names; /* that the branch at hand makes; NULL: all of it runs */
} Ranges;

static bool see_range(const Stmt *s, void *arg);

/* What may not run: what is said there holds for names that are made there. */
static void see_branch(const Ranges *r, const Var *loop, const Stmt *s)
{
    Ranges in = {r->e, NEW(r->e->arena, Map)};

    map_init(in.names, r->e->arena);
    if (loop)
        map_set(in.names, loop, r->e);
    if (s)
        stmt_visit(s, see_range, &in);
}

typedef struct {
    const Map *names;
    const Var *found;
} Made;

static bool find_made(const Expr *x, void *arg)
{
    Made *m = arg;
    if (!m->found && x->op == EX_VAR && map_has(m->names, x->u.var))
        m->found = x->u.var;
    return !m->found;
}

static void know_stated(const Ranges *r, const Expr *cond)
{
    Made m = {r->names, NULL};

    if (r->names)
        expr_visit(cond, find_made, &m);
    if (!r->names || m.found)
        facts_assume_of(r->e->facts, m.found, cond);
}

static bool see_range(const Stmt *s, void *arg)
{
    Ranges *r = arg;
    Emit *e = r->e;
    if (s->kind == ST_LET && is_loaded(e, s->u.let.value))
        map_set(e->loaded, s->u.let.var, s->u.let.var);
    if (s->kind == ST_FOR)
        facts_loop(e->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    const bool number = s->kind == ST_LET && dtype_is_int(s->u.let.var->type);
    const bool plain = number && !expr_has_load(s->u.let.value);
    if (number && (!plain || is_loaded(e, s->u.let.value)) &&
        (s->u.let.var->type == DT_I32 || s->u.let.var->type == DT_I64))
        know_loaded(e, s->u.let.var, bounds_of(e->facts, s->u.let.value));
    if (plain)
        facts_assume(e->facts,
                     expr_binary(e->ir, EX_EQ, expr_var(e->ir, s->u.let.var), s->u.let.value));
    else if (stmt_is_fact(s) && !expr_has_load(s->u.check.cond))
        know_stated(r, s->u.check.cond);
    if (r->names && s->kind == ST_LET)
        map_set(r->names, s->u.let.var, e);
    if (s->kind == ST_FOR) {
        see_branch(r, s->u.loop.var, s->u.loop.body);
    } else if (s->kind == ST_IF || s->kind == ST_WHILE) {
        see_branch(r, NULL, s->u.branch.then);
        see_branch(r, NULL, s->kind == ST_IF ? s->u.branch.orelse : NULL);
    } else {
        return true;
    }
    return false;
}

void emit_know_ranges(Emit *e, const Kernel *k)
{
    const Expr *zero = expr_int(e->ir, 0);

    e->facts = facts_new(e->ir);
    e->loaded = NEW(e->arena, Map);
    map_init(e->loaded, e->arena);
    e->halves = e->say->half_ops ? NEW(e->arena, Map) : NULL;
    if (e->halves)
        map_init(e->halves, e->arena);
    for (int i = 0; e->func && i < e->func->dims.n; i++)
        facts_assume(e->facts,
                     expr_binary(e->ir, EX_GE, expr_var(e->ir, e->func->dims.at[i]), zero));
    facts_kernel(e->facts, k);
    Ranges whole = {e, NULL};
    stmt_visit(k->body, see_range, &whole);
}

/* ---- names and conditions -------------------------------------------------------------------- */

void emit_bind(Emit *e, const Var *v, const char *type)
{
    emit_indent(e);
    if (v && (!e->seen || map_has(e->seen, v)))
        emit_form(e, v->parts && e->say->parted ? e->say->parted : e->say->constant,
                  type ? type : e->say->value_type(v->type), var_name(e, v));
}

void emit_parens(Emit *e, const Expr *x)
{
    Str text;
    Str *out = e->out;
    int depth = 0;
    bool one = true;

    str_init(&text, e->arena);
    e->out = &text;
    emit_loose(e, x);
    e->out = out;
    for (size_t i = 0; i < text.n; i++) {
        depth += (text.s[i] == '(') - (text.s[i] == ')');
        one &= depth > 0 || i + 1 == text.n;
    }
    str_printf(out, one && text.s[0] == '(' ? "%s" : "(%s)", text.s);
}

void emit_guard(Emit *e, const Expr *guard)
{
    emit_indent(e);
    if (!guard)
        return;
    str_puts(e->out, "if ");
    emit_parens(e, guard);
    str_putc(e->out, ' ');
}

/* ---- statements ------------------------------------------------------------------------------ */

static void emit_body(Emit *e, const Stmt *s)
{
    e->indent++;
    emit_stmt(e, s);
    e->indent--;
}

static void emit_end(Emit *e, const Stmt *s)
{
    if (expr_is_zero(s->u.loop.min)) {
        emit_loose(e, s->u.loop.extent);
        return;
    }
    emit_index(e, s->u.loop.min);
    str_puts(e->out, " + ");
    emit_index(e, s->u.loop.extent);
}

void emit_loop(Emit *e, const Stmt *s, const char *pragma, EmitStmtFn *body)
{
    const char *v = var_name(e, s->u.loop.var), *type = e->say->value_type(s->u.loop.var->type);
    int64_t min = 0, extent = 0;
    bool fixed = expr_is_int(s->u.loop.min, &min) && expr_is_int(s->u.loop.extent, &extent);
    bool apart = !fixed && e->say->bound_apart;
    const char *end = fixed ? arena_printf(e->arena, "%lld", (long long)(min + extent))
                            : name_for(e->names, s, arena_printf(e->arena, "%s_end", v));

    if (apart) {
        emit_line(e, "{");
        e->indent++;
        emit_indent(e);
        emit_form(e, e->say->constant, type, end);
        emit_end(e, s);
        str_puts(e->out, ";\n");
    }
    if (pragma)
        emit_line(e, "%s", pragma);
    emit_indent(e);
    str_puts(e->out, "for (");
    emit_form(e, e->say->variable, type, v);
    str_puts(e->out, " = ");
    emit_loose(e, s->u.loop.min);
    if (!fixed && !apart) {
        str_printf(e->out, ", %s = ", end);
        emit_end(e, s);
    }
    str_printf(e->out, "; %s < %s; %s++) {\n", v, end, v);
    e->indent++;
    body(e, s->u.loop.body);
    e->indent--;
    emit_line(e, "}");
    if (apart) {
        e->indent--;
        emit_line(e, "}");
    }
}

static void emit_head(Emit *e, const char *word, const Expr *cond)
{
    emit_indent(e);
    str_puts(e->out, word);
    emit_parens(e, cond);
    str_puts(e->out, " {\n");
}

static void emit_branch(Emit *e, const Stmt *s)
{
    emit_head(e, s->kind == ST_IF ? "if " : "while ", s->u.branch.cond);
    emit_body(e, s->u.branch.then);
    if (s->kind == ST_IF && !stmt_is_empty(s->u.branch.orelse)) {
        emit_line(e, "} else {");
        emit_body(e, s->u.branch.orelse);
    }
    emit_line(e, "}");
}

/* Tensors over an address exist from where it is known. */
static void emit_let(Emit *e, const Stmt *s)
{
    const Var *v = s->u.let.var;

    if (e->seen && !map_has(e->seen, v))
        return;
    if (emit_let_bits(e, s))
        return;
    emit_bind(e, v, NULL);
    emit_value(e, emit_truth(e, s->u.let.value));
    str_puts(e->out, ";\n");
    for (int i = 0; e->k && i < e->k->buffers.n; i++)
        if (buffer_root(e->k->buffers.at[i])->pointer == v)
            e->say->declare(e, e->k->buffers.at[i]);
}

/* Lane by lane. */
static void emit_store_lanes(Emit *e, const Stmt *s)
{
    const Expr *at = s->u.store.at[0], *value = s->u.store.value, *guard = s->u.store.guard;
    int lanes = MAX(at->lanes, value->lanes);

    for (int l = 0; l < lanes; l++) {
        emit_guard(e, guard ? lane_of(e->ir, guard, l) : NULL);
        emit_store(e, s->u.store.buf, lane_of(e->ir, at, l), lane_of(e->ir, value, l));
    }
}

/* Words that the dialect does not have. */
static EmitStmtFn *words_for(Emit *e, const Stmt *s, EmitStmtFn *words, const char *what)
{
    if (!words)
        diag_fail(e->ir->diag, s->span, "%s has no words in %s, the language of target %s "
                  "[unsupported-here]", what, e->say->name, e->spec->target->name);
    return words;
}

static void emit_assert(Emit *e, const Stmt *s)
{
    if (stmt_is_fact(s) && !e->say->tests_facts)
        return;
    words_for(e, s, e->say->fail, "an assertion");
    emit_indent(e);
    str_puts(e->out, "if (!");
    emit_parens(e, s->u.check.cond);
    str_puts(e->out, ") ");
    e->say->fail(e, s);
}

static void emit_eval(Emit *e, const Stmt *s)
{
    emit_indent(e);
    str_puts(e->out, e->say->drop);
    emit_expr(e, s->u.eval);
    str_puts(e->out, ";\n");
}

static void emit_line_directive(Emit *e, const Stmt *s)
{
    if (s->kind == ST_BLOCK || !s->span.src || !s->span.src->name ||
        !config_on(e->func, CONFIG_emit_line_directives))
        return;
    str_printf(e->out, "#line %d ", (int)s->span.line);
    emit_quoted(e->out, s->span.src->name);
    str_putc(e->out, '\n');
}

/* A comment where something else begins: which operator, and where it was written.  No folder: the
 * same kernel gives the same bytes wherever it stands.  Names for values may have been moved away
 * from what they are for, and begin nothing. */
static void emit_origin(Emit *e, const Stmt *s)
{
    bool silent = s->kind == ST_BLOCK || s->kind == ST_LET || stmt_is_fact(s);

    if (!e->k || !s->span.src || silent)
        return;
    const Origin *o = origin_find(e->k, s->span);
    if (o && o != e->origin)
        emit_line(e, "// %s", o->text);
    e->origin = o;
}

/* Of those that every language has. */
static bool emit_common(Emit *e, const Stmt *s)
{
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            emit_stmt(e, s->u.block.list[i]);
        return true;
    case ST_LET:
        emit_let(e, s);
        return true;
    case ST_FOR:
        e->say->loop ? e->say->loop(e, s) : emit_loop(e, s, NULL, emit_stmt);
        return true;
    case ST_IF:
    case ST_WHILE:
        emit_branch(e, s);
        return true;
    case ST_BREAK:
    case ST_CONTINUE:
        emit_line(e, s->kind == ST_BREAK ? "break;" : "continue;");
        return true;
    case ST_STORE:
        (e->say->store ? e->say->store : emit_store_lanes)(e, s);
        return true;
    case ST_ASSERT:
        emit_assert(e, s);
        return true;
    case ST_EVAL:
        emit_eval(e, s);
        return true;
    default:
        return false;
    }
}

void emit_stmt(Emit *e, const Stmt *s)
{
    if (!s)
        return;
    emit_origin(e, s);
    emit_line_directive(e, s);
    if ((e->say->own && e->say->own(e, s)) || emit_common(e, s))
        return;
    switch (s->kind) {
    case ST_ATOMIC: words_for(e, s, e->say->atomic, "an atomic operation")(e, s); break;
    case ST_CALL: words_for(e, s, e->say->call, intrin_table[s->u.call.which].word)(e, s); break;
    case ST_INSTR: words_for(e, s, e->say->instr, s->u.instr.isa->name)(e, s); break;
    case ST_ROLE: words_for(e, s, e->say->role, "a role of some warps")(e, s); break;
    default:
        BUG(s->kind != ST_LAUNCH || !e->say->launch, "no %s for statement kind %d", e->say->name,
            s->kind);
        e->say->launch(e, s);
    }
}
