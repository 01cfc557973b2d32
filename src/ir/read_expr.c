/* read_expr.c -- expressions of the text form.
 *
 * Nodes are made as they are written, without folding, so that reading loses nothing.  Types must
 * agree as they do in what the constructors make; only a bare literal next to something typed
 * takes its type, for those who write by hand. */
#include <math.h>
#include "ir/read.h"

/* ---- names ------------------------------------------------------------------------------ */

static Named *named(Reader *r, const char *name)
{
    Named *n = map_get(&r->names, name);
    if (!n) {
        n = NEW(r->arena, Named);
        map_set(&r->names, name, n);
    }
    return n;
}

/* "i.1" is the second thing called i. */
const char *name_hint(Reader *r, const char *name)
{
    return name_intern(r->ir->names, name, strcspn(name, "."));
}

Var *define_var(Reader *r, const char *name, DType t, Span at)
{
    Named *n = named(r, name);
    if (n->buf)
        read_fail(r, at, "'%s' is a buffer [ir-name]", name);
    if (!n->var)
        n->var = var_new(r->ir, name_hint(r, name), t, NO_SPAN);
    if (n->var->type != t)
        read_fail(r, at, "'%s' was %s before [ir-type]", name, dtype_name(n->var->type));
    return n->var;
}

static Var *var_named(Reader *r, const char *name, Span at)
{
    Named *n = map_get(&r->names, name);
    for (int i = 0; i < r->nvar; i++)
        if (!strcmp(r->vars[i]->name, name))
            return r->vars[i];
    if (!n || !n->var)
        read_fail(r, at, "unknown variable '%s' [ir-name]", name);
    return n->var;
}

static Buffer *buffer_named(Reader *r, const char *name, Span at)
{
    Named *n = map_get(&r->names, name);
    if (!n || !n->buf)
        read_fail(r, at, "unknown buffer '%s' [ir-name]", name);
    return n->buf;
}

Var *read_var(Reader *r)
{
    Span at = r->tok.span;
    return var_named(r, tok_name(r, "a variable"), at);
}

Buffer *read_buffer_name(Reader *r)
{
    Span at = r->tok.span;
    return buffer_named(r, tok_name(r, "a buffer"), at);
}

DType read_type(Reader *r, int *lanes)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "a type");
    DType t;
    if (!dtype_parse(name, &t, lanes))
        read_fail(r, at, "unknown type '%s' [ir-name]", name);
    return t;
}

/* ---- constants -------------------------------------------------------------------------- */

static const Expr *int_constant(Reader *r, DType t, bool minus, uint64_t v, Span at)
{
    int64_t n = minus ? (int64_t)(0 - v) : (int64_t)v;
    bool wide = t == DT_U64 || t == DT_HANDLE;
    bool fits = wide ? !minus || v == 0
                : minus ? v <= (uint64_t)INT64_MAX + 1 && n >= dtype_int_min(t)
                        : v <= (uint64_t)dtype_int_max(t);
    if (!fits)
        read_fail(r, at, "number out of range for %s [ir-type]", dtype_name(t));
    return expr_const(r->ir, t, n);
}

/* "-1.5", "nan", "inf" or an integer, as a constant of type t. */
static const Expr *typed_number(Reader *r, DType t)
{
    Span at = r->tok.span;
    bool minus = tok_take(r, "-");
    Token k = r->tok;
    double v;
    if (k.kind == TOKEN_INT && !dtype_is_float(t)) {
        lex_next(r);
        return int_constant(r, t, minus, k.value, at);
    }
    if (!dtype_is_float(t))
        read_fail(r, at, "expected a whole number [ir-syntax]");
    if (k.kind == TOKEN_INT || k.kind == TOKEN_FLOAT)
        v = num_parse(k.at, k.n);
    else if (tok_is(r, "inf"))
        v = INFINITY;
    else if (tok_is(r, "nan"))
        v = NAN;
    else
        read_fail(r, at, "expected a number [ir-syntax]");
    lex_next(r);
    return expr_float(r->ir, t, minus ? -v : v);
}

static const Expr *bare_number(Reader *r)
{
    Span at = r->tok.span;
    bool minus = tok_take(r, "-");
    Token k = r->tok;
    if (k.kind == TOKEN_FLOAT) {
        double v = num_parse(k.at, k.n);
        lex_next(r);
        return expr_float(r->ir, DT_F32, minus ? -v : v);
    }
    lex_next(r);
    return int_constant(r, DT_I32, minus, k.value, at);
}

/* ---- typing ----------------------------------------------------------------------------- */

const Expr *as_type(Reader *r, const Expr *e, DType t, Span at)
{
    if (e->type == t)
        return e;
    bool number = dtype_is_int(t) || dtype_is_float(t);
    bool literal = (e->op == EX_INT && e->type == DT_I32 && number) ||
                   (e->op == EX_FLOAT && e->type == DT_F32 && dtype_is_float(t));
    if (!literal)
        read_fail(r, at, "expected %s, not %s [ir-type]", dtype_name(t), dtype_name(e->type));
    return expr_cast(r->ir, t, e);
}

static void same_lanes(Reader *r, const Expr *a, const Expr *b, Span at)
{
    if (a->lanes != b->lanes)
        read_fail(r, at, "vectors of %d and %d lanes [ir-type]", a->lanes, b->lanes);
}

static void unify(Reader *r, const Expr **a, const Expr **b, Span at)
{
    if ((*a)->type != (*b)->type) {
        if (expr_is_const(*b))
            *b = as_type(r, *b, (*a)->type, at);
        else
            *a = as_type(r, *a, (*b)->type, at);
    }
    same_lanes(r, *a, *b, at);
}

static const Expr *make_binary(Reader *r, ExprOp op, const Expr *a, const Expr *b, Span at)
{
    bool compares = op >= EX_EQ && op <= EX_GE, logic = op == EX_AND || op == EX_OR;
    bool bits = op == EX_BITAND || op == EX_BITOR || op == EX_BITXOR;
    bool ints_only = op == EX_SHL || op == EX_SHR || op == EX_TRUNCDIV || op == EX_TRUNCMOD;
    unify(r, &a, &b, at);
    char kind = dtype_table[a->type].kind;
    bool ok = kind == 'F' ? !bits && !ints_only && !logic
              : kind == 'B' ? compares || logic || bits
              : kind == 'H' ? op == EX_EQ || op == EX_NE
                            : op != EX_DIV && !logic;
    if (!ok)
        read_fail(r, at, "'%s' on %s [ir-type]", expr_table[op].text, dtype_name(a->type));
    if (r->nvar >= 0)
        return expr_binary(r->ir, op, a, b);
    return expr_make(r->ir, op, compares ? DT_BOOL : (DType)a->type, a->lanes, 2,
                     (const Expr *[]){a, b});
}

static const Expr *make_unary(Reader *r, ExprOp op, const Expr *a, Span at)
{
    char kind = dtype_table[a->type].kind;
    bool ok = op == EX_NOT ? kind == 'B' : op == EX_NEG ? kind == 'I' || kind == 'U' || kind == 'F'
                                                        : kind == 'I' || kind == 'U';
    if (!ok)
        read_fail(r, at, "'%s' on %s [ir-type]", expr_table[op].text, dtype_name(a->type));
    return r->nvar >= 0 ? expr_unary(r->ir, op, a)
                        : expr_make(r->ir, op, a->type, a->lanes, 1, &a);
}

static const Expr *make_choice(Reader *r, ExprOp op, const Expr *c, const Expr *a, const Expr *b,
                               Span at)
{
    if (c->type != DT_BOOL)
        read_fail(r, at, "a condition of type %s [ir-type]", dtype_name(c->type));
    unify(r, &a, &b, at);
    if (c->lanes != (op == EX_IF ? 1 : a->lanes))
        read_fail(r, at, "a condition of %d lanes [ir-type]", c->lanes);
    if (r->nvar >= 0)
        return op == EX_IF ? expr_if(r->ir, c, a, b) : expr_select(r->ir, c, a, b);
    return expr_make(r->ir, op, a->type, a->lanes, 3, (const Expr *[]){c, a, b});
}

/* ---- accesses --------------------------------------------------------------------------- */

void read_list(Reader *r, const char *close, bool none, ExprVec *out)
{
    *out = (ExprVec){0};
    if (tok_take(r, close))
        return;
    do {
        const Expr *e = none && tok_take(r, "none") ? NULL : read_expr(r);
        vec_push(r->arena, out, e);
    } while (tok_take(r, ","));
    tok_expect(r, close);
}

void read_indices(Reader *r, const Buffer *b, Span at, ExprVec *out)
{
    int lanes = 1;
    tok_expect(r, "[");
    read_list(r, "]", false, out);
    if (out->n != b->rank && out->n != 1)
        read_fail(r, at, "'%s' has rank %d, not %d [ir-type]", b->name, b->rank, out->n);
    for (int i = 0; i < out->n; i++) {
        const Expr *e = out->at[i];
        if (!dtype_is_int(e->type))
            read_fail(r, at, "an index of type %s [ir-type]", dtype_name(e->type));
        if (e->lanes != 1 && lanes != 1 && e->lanes != lanes)
            read_fail(r, at, "indices of %d and %d lanes [ir-type]", lanes, e->lanes);
        lanes = MAX(lanes, e->lanes);
    }
}

/* load(A[i], guard, fill) */
static const Expr *read_guarded(Reader *r, Span at)
{
    ExprVec idx;
    Buffer *b = read_buffer_name(r);
    read_indices(r, b, at, &idx);
    tok_expect(r, ",");
    const Expr *guard = read_expr(r);
    tok_expect(r, ",");
    const Expr *fill = as_type(r, read_expr(r), b->type, at);
    tok_expect(r, ")");
    const Expr *plain = expr_load(r->ir, b, idx.at, idx.n);
    if (guard->type != DT_BOOL || (guard->lanes != 1 && guard->lanes != plain->lanes))
        read_fail(r, at, "a guard is a bool [ir-type]");
    if (fill->lanes != 1 && fill->lanes != plain->lanes)
        read_fail(r, at, "a fill of %d lanes [ir-type]", fill->lanes);
    return expr_load_guarded(r->ir, b, idx.at, idx.n, guard, fill);
}

static const Expr *read_address(Reader *r, Span at)
{
    ExprVec idx;
    Buffer *b = read_buffer_name(r);
    read_indices(r, b, at, &idx);
    tok_expect(r, ")");
    for (int i = 0; i < idx.n; i++) {
        if (idx.at[i]->lanes != 1)
            read_fail(r, at, "the address of a vector [ir-type]");
    }
    return expr_addr(r->ir, b, idx.at, idx.n);
}

/* ---- functions -------------------------------------------------------------------------- */

static const Expr *read_cast(Reader *r, Span at)
{
    DType t = read_type(r, NULL);
    tok_expect(r, ",");
    const Expr *e = read_expr(r);
    tok_expect(r, ")");
    if (e->type == t || e->op == EX_STR)
        read_fail(r, at, "a cast from %s to %s [ir-type]", dtype_name(e->type), dtype_name(t));
    return expr_make(r->ir, EX_CAST, t, e->lanes, 1, &e);
}

static const Expr *read_bitcast(Reader *r, Span at)
{
    int lanes;
    DType t = read_type(r, &lanes);
    tok_expect(r, ",");
    const Expr *e = read_expr(r);
    tok_expect(r, ")");
    if (dtype_bits(t) * lanes != dtype_bits(e->type) * e->lanes)
        read_fail(r, at, "a bitcast between sizes [ir-type]");
    return expr_make(r->ir, EX_BITCAST, t, lanes, 1, &e);
}

static const Expr *read_extern(Reader *r, Span at)
{
    int lanes;
    ExprVec arg = {0};
    DType t = read_type(r, &lanes);
    if (lanes != 1)
        read_fail(r, at, "an extern function gives one value [ir-type]");
    tok_expect(r, ",");
    const char *name = tok_string(r);
    if (tok_take(r, ","))
        read_list(r, ")", false, &arg);
    else
        tok_expect(r, ")");
    return expr_extern(r->ir, t, name, arg.at, arg.n);
}

enum { LANES_MOST = 4096 };

static const Expr *read_ramp(Reader *r, bool ramp, Span at)
{
    const Expr *base = read_expr(r), *stride = NULL;
    tok_expect(r, ",");
    if (ramp) {
        stride = read_expr(r);
        tok_expect(r, ",");
        unify(r, &base, &stride, at);
    }
    int lanes = (int)tok_int(r, 2, LANES_MOST);
    tok_expect(r, ")");
    if (base->lanes != 1 || (ramp && !dtype_is_int(base->type)))
        read_fail(r, at, "a vector of this cannot be made [ir-type]");
    return ramp ? expr_make(r->ir, EX_RAMP, base->type, lanes, 2, (const Expr *[]){base, stride})
                : expr_make(r->ir, EX_BROADCAST, base->type, lanes, 1, &base);
}

static const Expr *read_lane(Reader *r, Span at)
{
    const Expr *v = read_expr(r);
    tok_expect(r, ",");
    int64_t i = tok_int(r, 0, v->lanes - 1);
    tok_expect(r, ")");
    if (v->lanes == 1)
        read_fail(r, at, "a lane of a scalar [ir-type]");
    return expr_make(r->ir, EX_LANE, v->type, 1, 2, (const Expr *[]){v, expr_int(r->ir, i)});
}

static const Expr *read_vector(Reader *r, Span at)
{
    ExprVec lane;
    read_list(r, ")", false, &lane);
    if (lane.n < 2 || lane.n > LANES_MOST)
        read_fail(r, at, "a vector of %d lanes [ir-type]", lane.n);
    for (int i = 0; i < lane.n; i++) {
        if (lane.at[i]->type != lane.at[0]->type || lane.at[i]->lanes != 1)
            read_fail(r, at, "a vector of unlike lanes [ir-type]");
    }
    return expr_make(r->ir, EX_VECTOR, lane.at[0]->type, lane.n, lane.n, lane.at);
}

static const Expr *read_math(Reader *r, MathFn fn, Span at)
{
    ExprVec arg;
    read_list(r, ")", false, &arg);
    if (arg.n != math_table[fn].arity)
        read_fail(r, at, "%s takes %d arguments [ir-syntax]", math_table[fn].name,
                  math_table[fn].arity);
    for (int i = 0; i < arg.n; i++) {
        if (dtype_table[arg.at[i]->type].kind == 'H')
            read_fail(r, at, "%s of a handle [ir-type]", math_table[fn].name);
        same_lanes(r, arg.at[0], arg.at[i], at);
    }
    if (fn == MATH_LDEXP && !(dtype_is_float(arg.at[0]->type) && dtype_is_int(arg.at[1]->type)))
        read_fail(r, at, "ldexp takes a float and an integer [ir-type]");
    return expr_math(r->ir, fn, arg.at, arg.n);
}

/* Operators that are written as functions: min(a, b), select(c, a, b). */
static const Expr *read_named_operator(Reader *r, ExprOp op, Span at)
{
    ExprVec arg;
    read_list(r, ")", false, &arg);
    if (arg.n != expr_table[op].arity)
        read_fail(r, at, "%s takes %d operands [ir-syntax]", expr_table[op].text,
                  expr_table[op].arity);
    if (op == EX_SELECT)
        return make_choice(r, op, arg.at[0], arg.at[1], arg.at[2], at);
    return make_binary(r, op, arg.at[0], arg.at[1], at);
}

static const Expr *read_function(Reader *r, const char *name, Span at)
{
    static const ExprOp plain[] = {EX_MIN, EX_MAX, EX_TRUNCDIV, EX_TRUNCMOD, EX_SELECT};
    DType t;
    if (strcmp(name, "cast") == 0)
        return read_cast(r, at);
    if (strcmp(name, "bitcast") == 0)
        return read_bitcast(r, at);
    if (strcmp(name, "load") == 0)
        return read_guarded(r, at);
    if (strcmp(name, "addr") == 0)
        return read_address(r, at);
    if (strcmp(name, "extern") == 0)
        return read_extern(r, at);
    if (strcmp(name, "ramp") == 0 || strcmp(name, "broadcast") == 0)
        return read_ramp(r, *name == 'r', at);
    if (strcmp(name, "lane") == 0)
        return read_lane(r, at);
    if (strcmp(name, "vector") == 0)
        return read_vector(r, at);
    for (int i = 0; i < COUNT(plain); i++) {
        if (strcmp(name, expr_table[plain[i]].text) == 0)
            return read_named_operator(r, plain[i], at);
    }
    for (int i = 0; i < MATH_COUNT; i++) {
        if (strcmp(name, math_table[i].name) == 0)
            return read_math(r, (MathFn)i, at);
    }
    if (!dtype_parse(name, &t, NULL) || t == DT_BOOL)
        read_fail(r, at, "unknown function '%s' [ir-name]", name);
    const Expr *e = typed_number(r, t);
    tok_expect(r, ")");
    return e;
}

/* ---- operators -------------------------------------------------------------------------- */

static const Expr *parse(Reader *r, int prec);

static const Expr *read_name(Reader *r)
{
    Span at = r->tok.span;
    const char *name = tok_name(r, "an expression");
    if (tok_take(r, "("))
        return read_function(r, name, at);
    if (tok_is(r, "[")) {
        ExprVec idx;
        Buffer *b = buffer_named(r, name, at);
        read_indices(r, b, at, &idx);
        return expr_load(r->ir, b, idx.at, idx.n);
    }
    if (!strcmp(name, "true") || !strcmp(name, "false") || !strcmp(name, "True") ||
        !strcmp(name, "False"))
        return expr_bool(r->ir, *name == 't' || *name == 'T');
    return expr_var(r->ir, var_named(r, name, at));
}

static const Expr *read_atom(Reader *r)
{
    Span at = r->tok.span;
    if (r->tok.kind == TOKEN_INT || r->tok.kind == TOKEN_FLOAT)
        return bare_number(r);
    if (r->tok.kind == TOKEN_STRING)
        return expr_str(r->ir, tok_string(r));
    if (tok_take(r, "(")) {
        const Expr *e = parse(r, PREC_IF);
        tok_expect(r, ")");
        return e;
    }
    if (tok_is(r, "-")) {
        const char *next = r->p; /* a digit right behind makes it a number */
        if (*next >= '0' && *next <= '9')
            return bare_number(r);
        lex_next(r);
        return make_unary(r, EX_NEG, parse(r, PREC_UNARY), at);
    }
    if (tok_take(r, "~"))
        return make_unary(r, EX_BITNOT, parse(r, PREC_UNARY), at);
    if (tok_take(r, "not"))
        return make_unary(r, EX_NOT, parse(r, PREC_NOT), at);
    return read_name(r);
}

static bool infix(const Reader *r, ExprOp *op)
{
    for (int i = EX_ADD; i <= EX_SHR; i++) {
        if (expr_table[i].arity == 2 && text_precedence((ExprOp)i) != PREC_ATOM &&
            tok_is(r, expr_table[i].text)) {
            *op = (ExprOp)i;
            return true;
        }
    }
    return false;
}

static const Expr *parse(Reader *r, int prec)
{
    ExprOp op;
    read_enter(r);
    const Expr *left = read_atom(r);
    while (infix(r, &op) && text_precedence(op) >= prec) {
        Span at = r->tok.span;
        lex_next(r);
        left = make_binary(r, op, left, parse(r, text_precedence(op) + 1), at);
    }
    if (prec == PREC_IF && tok_is(r, "if")) {
        Span at = r->tok.span;
        lex_next(r);
        const Expr *cond = parse(r, PREC_OR);
        tok_expect(r, "else");
        left = make_choice(r, EX_IF, cond, left, parse(r, PREC_IF), at);
    }
    read_leave(r);
    return left;
}

const Expr *read_expr(Reader *r)
{
    return parse(r, PREC_IF);
}

static const Expr *read_alone(Reader *r, const char **end)
{
    r->line_open = true; /* there is no indentation */
    lex_next(r);
    const Expr *e = read_expr(r);
    if (end)
        *end = r->tok.at;
    else if (r->tok.kind != TOKEN_NEWLINE && r->tok.kind != TOKEN_END)
        read_fail(r, r->tok.span, "more than an expression [ir-syntax]");
    return e;
}

const Expr *expr_parse(Ir *ir, const char *text, const char **end, Var *const *vars, int nvar)
{
    Source src = {"<text>", text, strcspn(text, "\n")};
    Reader *r = NEW(ir->arena, Reader);
    const Expr *volatile e = NULL;
    Recover frame;

    lex_start(r, ir, &src);
    r->vars = vars;
    r->nvar = nvar;
    if (recover_open(&frame) == 0) {
        e = read_alone(r, end);
        recover_close(&frame);
    }
    if (frame.status != STATUS_OK && frame.status != STATUS_USER)
        recover_throw(frame.status, "%s", frame.text);
    return e;
}

/* ---- hints ------------------------------------------------------------------------------ */

const Layout *read_layout(Reader *r)
{
    const char *end = NULL;
    Span at = r->tok.span;
    if (!tok_is(r, "{"))
        read_fail(r, at, "expected '{' [ir-syntax]");
    const Layout *l = r->ir->words->layout_read(r->ir, r->p, &end);
    if (!l || !end || end < r->p || end > r->src->text + r->src->len)
        read_fail(r, at, "malformed layout [ir-syntax]");
    if (memchr(r->p, '\n', (size_t)(end - r->p)))
        read_fail(r, at, "a layout goes over the end of its line [ir-syntax]");
    r->p = end;
    lex_next(r);
    tok_expect(r, "}");
    return l;
}

static void read_hint_value(Reader *r, Hint *h)
{
    VEC(int) list = {0};
    if (r->tok.kind == TOKEN_STRING) {
        h->text = tok_string(r);
    } else if (tok_take(r, "layout")) {
        h->layout = read_layout(r);
    } else if (tok_take(r, "[")) {
        while (!tok_is(r, "]")) {
            int v = (int)tok_int(r, INT32_MIN, INT32_MAX);
            vec_push(r->arena, &list, v);
            if (!tok_take(r, ","))
                break;
        }
        tok_expect(r, "]");
        h->list = list.n ? list.at : NEWN(r->arena, int, 1);
        h->nlist = list.n;
    } else {
        h->value = read_expr(r);
    }
}

Hints read_hints(Reader *r)
{
    VEC(Hint) list = {0};
    tok_expect(r, "(");
    do {
        Hint h = {.name = tok_string(r)};
        if (tok_take(r, "="))
            read_hint_value(r, &h);
        vec_push(r->arena, &list, h);
    } while (tok_take(r, ","));
    tok_expect(r, ")");
    return (Hints){list.at, list.n};
}
