/* print.c -- the IR as text; read.c takes it back.
 *
 *     func main: @7:1-30:2
 *         source "gemm.py"
 *         dim M: int32
 *         param A: float16[M, 1024] global is_param
 *         launch main_kernel: @9:5-30:2
 *             form CHECKED NORMAL
 *             grid bx: int32 = (M + 127) // 128
 *             threads tx: int32 = 128, _ = 1, _ = 1
 *             buffer A_s: float16[128, 32] shared
 *             tile #0 how "simd" why "…"
 *             plan A_s layout{…} stages 2
 *             body:
 *                 copy #0(A[bx * 128:+128, 0:+32], A_s[0:+128, 0:+32]) @11:9-11:40
 *                 for i in parallel(0, 128):
 *                     A_s[i, 0] = float16(1.5) where i < M
 *             loop i layout{…}
 *             convert A_s layout{…} in 3
 *
 * One statement a line, blocks by indentation, a region's extent after `:+`, where it came from
 * after `@`.  A constant that is not int32, float32 or bool carries its type.  Things of one name
 * are told apart in order of first appearance.  A variable that a header line needs before its
 * definition is announced by a `var` line. */
#include <math.h>
#include "ir/text.h"
#include "ir/tile.h"

static const char *const reserved[] = {
    "and",      "args",   "assert", "at",    "body",    "break",     "buffer", "call",
    "continue", "dim",    "else",   "eval",  "extern",  "false",     "for",    "form",
    "func",     "groups", "hints",  "if",    "in",      "inf",       "instr",  "kernel",
    "launch",   "layout", "load",   "nan",   "none",    "not",       "or",     "order",
    "other",    "param",  "pass",   "plan",  "regions", "role",      "share",  "source",
    "text",     "tile",   "true",   "var",   "where",   "while",     "workspace", "_",
};

void printer_init(Printer *p, Str *out, const Ir *ir, const Source *src, bool whole)
{
    *p = (Printer){.out = out, .words = ir ? ir->words : NULL, .names = names_of(out->arena),
                   .kernels = names_of(out->arena), .src = src, .whole = whole};
    map_init(&p->seen, out->arena);
    map_init(&p->asked, out->arena);
    name_separator(p->names, '.');
    for (int i = 0; i < COUNT(reserved); i++)
        name_reserve(p->names, reserved[i]);
}

/* ---- words ------------------------------------------------------------------------------ */

const char *var_text(Printer *p, const Var *v)
{
    if (!map_has(&p->asked, v)) {
        map_set(&p->asked, v, v);
        vec_push(p->out->arena, &p->vars, v);
    }
    return name_for(p->names, v, v->name);
}

const char *buf_text(Printer *p, const Buffer *b)
{
    return name_for(p->names, b, b->name);
}

void put_string(Str *out, const char *s)
{
    str_putc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            str_printf(out, "\\%c", c);
        else if (c == '\n')
            str_puts(out, "\\n");
        else if (c < ' ' || c == 127)
            str_printf(out, "\\x%02x", c);
        else
            str_putc(out, (char)c);
    }
    str_putc(out, '"');
}

const char *kernel_text(Printer *p, const Kernel *k)
{
    return name_for(p->kernels, k, k->name);
}

static void put_span(Printer *p, Span at)
{
    if (!p->whole || !at.src)
        return;
    str_puts(p->out, " @");
    if (at.src != p->src && (!p->src || strcmp(at.src->name, p->src->name) != 0)) {
        put_string(p->out, at.src->name);
        str_putc(p->out, ':');
    }
    str_printf(p->out, "%d:%d-%d:%d", at.line, at.col, at.end_line, at.end_col);
}

void put_line_end(Printer *p, Span at)
{
    put_span(p, at);
    str_putc(p->out, '\n');
}

/* ---- expressions ------------------------------------------------------------------------ */

int text_precedence(ExprOp op)
{
    switch (op) {
    case EX_IF: return PREC_IF;
    case EX_OR: return PREC_OR;
    case EX_AND: return PREC_AND;
    case EX_NOT: return PREC_NOT;
    case EX_EQ: case EX_NE: case EX_LT: case EX_LE: case EX_GT: case EX_GE:
        return PREC_COMPARE;
    case EX_BITOR: return PREC_BITOR;
    case EX_BITXOR: return PREC_BITXOR;
    case EX_BITAND: return PREC_BITAND;
    case EX_SHL: case EX_SHR: return PREC_SHIFT;
    case EX_ADD: case EX_SUB: return PREC_ADD;
    case EX_MUL: case EX_DIV: case EX_FLOORDIV: case EX_FLOORMOD: return PREC_MUL;
    case EX_NEG: case EX_BITNOT: return PREC_UNARY;
    default: return PREC_ATOM;
    }
}

void put_list(Printer *p, int n, const Expr *const *e)
{
    for (int i = 0; i < n; i++) {
        if (i)
            str_puts(p->out, ", ");
        if (e[i])
            put_expr(p, e[i], PREC_IF);
        else
            str_puts(p->out, "none");
    }
}

/* The shortest decimal that rounds to v in type t. */
static void put_decimal(Str *out, DType t, double v)
{
    double near = v;
    for (int digits = 1; digits <= 17; digits++) {
        Str s;
        char text[40];
        str_init(&s, out->arena);
        int n = snprintf(text, sizeof text, "%.*e", digits - 1, fabs(v));
        for (int i = 0; i < n; i++) /* whatever the locale's decimal point is */
            str_putc(&s, i == 1 && digits > 1 ? '.' : text[i]);
        near = copysign(num_parse(s.s, s.n), v);
        if (num_round(t, near) == v)
            break;
    }
    size_t start = out->n;
    str_double(out, near);
    if (!strpbrk(out->s + start, ".e"))
        str_puts(out, ".0");
}

void put_float(Str *out, DType t, double v)
{
    bool plain = t == DT_F32 && isfinite(v);
    if (!plain)
        str_printf(out, "%s(", dtype_name(t));
    if (isnan(v))
        str_puts(out, "nan");
    else if (isinf(v))
        str_puts(out, v < 0 ? "-inf" : "inf");
    else
        put_decimal(out, t, v);
    if (!plain)
        str_putc(out, ')');
}

static void put_int(Str *out, DType t, int64_t v)
{
    if (t == DT_BOOL)
        str_puts(out, v ? "true" : "false");
    else if (t == DT_I32)
        str_printf(out, "%lld", (long long)v);
    else if (t == DT_U64 || t == DT_HANDLE)
        str_printf(out, "%s(%llu)", dtype_name(t), (unsigned long long)v);
    else
        str_printf(out, "%s(%lld)", dtype_name(t), (long long)v);
}

static void put_access(Printer *p, const Buffer *b, int n, const Expr *const *at)
{
    str_printf(p->out, "%s[", buf_text(p, b));
    put_list(p, n, at);
    str_putc(p->out, ']');
}

static void put_load(Printer *p, const Expr *e)
{
    int n = expr_nindex(e);
    if (e->guarded)
        str_puts(p->out, "load(");
    put_access(p, e->u.buf, n, e->kid);
    if (e->guarded) {
        str_puts(p->out, ", ");
        put_list(p, 2, e->kid + n);
        str_putc(p->out, ')');
    }
}

static void put_type(Str *out, DType t, int lanes)
{
    str_puts(out, dtype_name(t));
    if (lanes > 1)
        str_printf(out, "x%d", lanes);
}

/* name(type, kids, lanes) with the parts that the operator has. */
static void put_function(Printer *p, const Expr *e)
{
    Str *out = p->out;
    str_printf(out, "%s(", e->op == EX_MATH ? math_table[e->u.fn].name
                           : e->op == EX_EXTERN ? "extern" : expr_table[e->op].text);
    if (e->op == EX_CAST || e->op == EX_BITCAST || e->op == EX_EXTERN) {
        put_type(out, e->type, e->op == EX_CAST ? 1 : e->lanes);
        str_puts(out, ", ");
    }
    if (e->op == EX_EXTERN) {
        put_string(out, e->u.text);
        str_puts(out, e->nkid ? ", " : "");
    }
    put_list(p, e->nkid, e->kid);
    if (e->op == EX_RAMP || e->op == EX_BROADCAST)
        str_printf(out, ", %d", e->lanes);
    str_putc(out, ')');
}

static void put_operator(Printer *p, const Expr *e)
{
    int prec = text_precedence(e->op);
    Str *out = p->out;
    if (e->op == EX_IF) {
        put_expr(p, e->kid[1], PREC_IF + 1);
        str_puts(out, " if ");
        put_expr(p, e->kid[0], PREC_IF + 1);
        str_puts(out, " else ");
        put_expr(p, e->kid[2], PREC_IF);
    } else if (e->nkid == 1) {
        /* -5 is a number, so the negation of a number needs its parentheses. */
        bool number = expr_is_const(e->kid[0]);
        str_puts(out, e->op == EX_NEG ? "-" : e->op == EX_NOT ? "not " : "~");
        put_expr(p, e->kid[0], number ? PREC_PARENS : prec);
    } else {
        put_expr(p, e->kid[0], prec == PREC_COMPARE ? prec + 1 : prec);
        str_printf(out, " %s ", expr_table[e->op].text);
        put_expr(p, e->kid[1], prec + 1);
    }
}

void put_expr(Printer *p, const Expr *e, int prec)
{
    bool parens = text_precedence(e->op) < prec;
    if (parens)
        str_putc(p->out, '(');
    switch (e->op) {
    case EX_INT:
        put_int(p->out, e->type, e->u.i);
        break;
    case EX_FLOAT:
        put_float(p->out, e->type, e->u.f);
        break;
    case EX_STR:
        put_string(p->out, e->u.text);
        break;
    case EX_VAR:
        str_puts(p->out, var_text(p, e->u.var));
        break;
    case EX_LOAD:
        put_load(p, e);
        break;
    case EX_ADDR:
        str_puts(p->out, "addr(");
        put_access(p, e->u.buf, e->nkid, e->kid);
        str_putc(p->out, ')');
        break;
    default:
        if (text_precedence(e->op) == PREC_ATOM)
            put_function(p, e);
        else
            put_operator(p, e);
        break;
    }
    if (parens)
        str_putc(p->out, ')');
}

/* ---- parts of statements ---------------------------------------------------------------- */

static void put_region(Printer *p, const Region *r)
{
    str_printf(p->out, "%s[", buf_text(p, r->buf));
    for (int d = 0; d < r->buf->rank; d++) {
        str_puts(p->out, d ? ", " : "");
        put_expr(p, r->at[d], PREC_IF);
        str_puts(p->out, ":+");
        put_expr(p, r->extent[d], PREC_IF);
    }
    str_putc(p->out, ']');
}

static void put_regions(Printer *p, int n, const Region *r)
{
    for (int i = 0; i < n; i++) {
        str_puts(p->out, i ? ", " : "");
        put_region(p, &r[i]);
    }
}

static void put_args(Printer *p, int n, const Expr *const *arg)
{
    if (n == 0)
        return;
    str_puts(p->out, " args(");
    put_list(p, n, arg);
    str_putc(p->out, ')');
}

void put_text(Printer *p, const char *word, const char *text)
{
    if (!text)
        return;
    str_printf(p->out, " %s ", word);
    put_string(p->out, text);
}

void put_layout(Printer *p, const Layout *l)
{
    str_puts(p->out, "layout{");
    p->words->layout_print(p->out, l);
    str_putc(p->out, '}');
}

/* One of value, text, layout and list; a word alone when there is none. */
static void put_hint(Printer *p, const Hint *h)
{
    put_string(p->out, h->name);
    if (h->value) {
        str_puts(p->out, "=");
        put_expr(p, h->value, h->value->op == EX_STR ? PREC_PARENS : PREC_IF);
    } else if (h->text) {
        str_puts(p->out, "=");
        put_string(p->out, h->text);
    } else if (h->layout) {
        str_puts(p->out, "=");
        put_layout(p, h->layout);
    } else if (h->list) {
        str_puts(p->out, "=[");
        for (int i = 0; i < h->nlist; i++)
            str_printf(p->out, "%s%d", i ? ", " : "", h->list[i]);
        str_putc(p->out, ']');
    }
}

void put_hints(Printer *p, Hints h)
{
    if (h.n == 0)
        return;
    str_puts(p->out, " hints(");
    for (int i = 0; i < h.n; i++) {
        str_puts(p->out, i ? ", " : "");
        put_hint(p, &h.at[i]);
    }
    str_putc(p->out, ')');
}

/* "i", or "i: int64" when it is not int32 or `always`. */
void put_var(Printer *p, const Var *v, bool always)
{
    str_puts(p->out, var_text(p, v));
    if (always || v->type != DT_I32)
        str_printf(p->out, ": %s", dtype_name(v->type));
    map_set(&p->seen, v, v);
}

static void put_bind(Printer *p, const Var *v)
{
    if (!v)
        return;
    put_var(p, v, true);
    str_puts(p->out, " = ");
}

/* ---- statements ------------------------------------------------------------------------- */

static void put_stmt(Printer *p, const Stmt *s, int indent);

void put_body(Printer *p, const Stmt *s, int indent)
{
    if (stmt_is_empty(s)) {
        str_indent(p->out, indent);
        str_puts(p->out, "pass\n");
    } else {
        put_stmt(p, s, indent);
    }
}

static void put_for(Printer *p, const Stmt *s, int indent)
{
    str_puts(p->out, "for ");
    put_var(p, s->u.loop.var, false);
    str_printf(p->out, " in %s(", loop_name(s->u.loop.how));
    put_list(p, 2, (const Expr *[]){s->u.loop.min, s->u.loop.extent});
    str_putc(p->out, ')');
    put_hints(p, s->u.loop.hints);
    str_putc(p->out, ':');
    put_line_end(p, s->span);
    put_body(p, s->u.loop.body, indent + TEXT_INDENT);
}

static void put_branch(Printer *p, const Stmt *s, int indent)
{
    str_puts(p->out, s->kind == ST_WHILE ? "while " : "if ");
    put_expr(p, s->u.branch.cond, PREC_IF);
    str_putc(p->out, ':');
    put_line_end(p, s->span);
    put_body(p, s->u.branch.then, indent + TEXT_INDENT);
    if (s->kind == ST_IF && s->u.branch.orelse) {
        str_indent(p->out, indent);
        str_puts(p->out, "else:\n");
        put_body(p, s->u.branch.orelse, indent + TEXT_INDENT);
    }
}

static void put_role(Printer *p, const Stmt *s, int indent)
{
    str_printf(p->out, "role \"%s\" groups(", role_name[s->u.role.kind]);
    for (int i = 0; i < s->u.role.nthread; i++)
        str_printf(p->out, "%s%d", i ? ", " : "", s->u.role.thread[i]);
    str_puts(p->out, "):");
    put_line_end(p, s->span);
    put_body(p, s->u.role.body, indent + TEXT_INDENT);
}

static void put_launch(Printer *p, const Stmt *s, int indent)
{
    Kernel *k = s->u.launch.kernel;
    bool known = map_has(&p->seen, k);
    str_printf(p->out, "launch %s", kernel_text(p, k));
    str_puts(p->out, known || !p->whole ? "" : ":");
    put_line_end(p, s->span);
    if (!known && p->whole)
        put_kernel(p, k, indent + TEXT_INDENT);
}

static void put_tile(Printer *p, const Stmt *s)
{
    str_printf(p->out, "%s #%d(", s->u.tile.op->name, s->u.tile.id);
    put_regions(p, s->u.tile.nregion, s->u.tile.region);
    str_putc(p->out, ')');
    put_args(p, s->u.tile.narg, s->u.tile.arg);
    put_text(p, "text", s->u.tile.text);
    put_hints(p, s->u.tile.hints);
}

static void put_atomic(Printer *p, const Stmt *s)
{
    put_bind(p, s->u.atomic.bind);
    str_printf(p->out, "atomic_%s(", atomic_name(s->u.atomic.op));
    put_access(p, s->u.atomic.buf, s->u.atomic.n, s->u.atomic.at);
    if (s->u.atomic.value) {
        str_puts(p->out, ", ");
        put_expr(p, s->u.atomic.value, PREC_IF);
    }
    str_putc(p->out, ')');
    put_text(p, "order", s->u.atomic.order);
}

static void put_call(Printer *p, const Stmt *s)
{
    put_bind(p, s->u.call.bind);
    str_printf(p->out, "call %s(", intrin_table[s->u.call.which].name);
    put_list(p, s->u.call.n, s->u.call.arg);
    str_putc(p->out, ')');
    if (s->u.call.nregion) {
        str_puts(p->out, " regions(");
        put_regions(p, s->u.call.nregion, s->u.call.region);
        str_putc(p->out, ')');
    }
    put_text(p, "text", s->u.call.text);
    put_text(p, "mark", mark_name(s->u.call.mark));
}

static void put_instr(Printer *p, const Stmt *s)
{
    str_puts(p->out, "instr ");
    put_string(p->out, p->words->isa_name(s->u.instr.isa));
    str_printf(p->out, " #%d(", s->u.instr.tile);
    put_regions(p, s->u.instr.nregion, s->u.instr.region);
    str_putc(p->out, ')');
    put_args(p, s->u.instr.narg, s->u.instr.arg);
}

static void put_store(Printer *p, const Stmt *s)
{
    put_access(p, s->u.store.buf, s->u.store.n, s->u.store.at);
    str_puts(p->out, s->u.store.async == ASYNC_NEXT ? " = async next "
                     : s->u.store.async             ? " = async "
                                                    : " = ");
    put_expr(p, s->u.store.value, PREC_IF);
    if (s->u.store.guard) {
        str_puts(p->out, " where ");
        put_expr(p, s->u.store.guard, PREC_IF);
    }
}

/* Statements of one line, without its end. */
static void put_simple(Printer *p, const Stmt *s)
{
    switch (s->kind) {
    case ST_LET:
        put_bind(p, s->u.let.var);
        put_expr(p, s->u.let.value, PREC_IF);
        break;
    case ST_STORE:
        put_store(p, s);
        break;
    case ST_BREAK:
        str_puts(p->out, "break");
        break;
    case ST_CONTINUE:
        str_puts(p->out, "continue");
        break;
    case ST_TILE:
        put_tile(p, s);
        break;
    case ST_ATOMIC:
        put_atomic(p, s);
        break;
    case ST_CALL:
        put_call(p, s);
        break;
    case ST_ASSERT:
        str_puts(p->out, "assert ");
        put_expr(p, s->u.check.cond, PREC_IF);
        put_text(p, "text", s->u.check.text);
        break;
    case ST_INSTR:
        put_instr(p, s);
        break;
    case ST_EVAL:
        str_puts(p->out, "eval ");
        put_expr(p, s->u.eval, PREC_IF);
        break;
    default:
        unreachable();
    }
}

static void put_stmt(Printer *p, const Stmt *s, int indent)
{
    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            put_stmt(p, s->u.block.list[i], indent);
        return;
    }
    str_indent(p->out, indent);
    switch (s->kind) {
    case ST_FOR:
        put_for(p, s, indent);
        break;
    case ST_WHILE: case ST_IF:
        put_branch(p, s, indent);
        break;
    case ST_ROLE:
        put_role(p, s, indent);
        break;
    case ST_LAUNCH:
        put_launch(p, s, indent);
        break;
    default:
        put_simple(p, s);
        put_line_end(p, s->span);
        break;
    }
}

/* ---- for messages ----------------------------------------------------------------------- */

void print_expr(Str *out, const Expr *e)
{
    Printer p;
    printer_init(&p, out, NULL, NULL, false);
    put_expr(&p, e, PREC_IF);
}

void print_stmt(Str *out, const Ir *ir, const Stmt *s, int indent)
{
    Printer p;
    printer_init(&p, out, ir, NULL, false);
    put_body(&p, s, indent);
}
