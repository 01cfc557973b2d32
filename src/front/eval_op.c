/* eval_op.c -- operators on values: Python's own fold, run-time operands build expressions. */
#include <math.h>
#include <stdlib.h>

#include "front/eval.h"

enum { TREE_MOST = 200000 }; /* nodes of one tree: past this passes crawl */

typedef struct {
    TokenKind token;
    ExprOp op;
    const char *method; /* of a class */
} OpRow;

static const OpRow op_rows[] = {
    {TK_ADD, EX_ADD, "__add__"},           {TK_SUB, EX_SUB, "__sub__"},
    {TK_MUL, EX_MUL, "__mul__"},           {TK_DIV, EX_DIV, "__truediv__"},
    {TK_FLOORDIV, EX_FLOORDIV, "__floordiv__"}, {TK_MOD, EX_FLOORMOD, "__mod__"},
    {TK_BITAND, EX_BITAND, "__and__"},     {TK_BITOR, EX_BITOR, "__or__"},
    {TK_BITXOR, EX_BITXOR, "__xor__"},     {TK_SHL, EX_SHL, "__lshift__"},
    {TK_SHR, EX_SHR, "__rshift__"},        {TK_EQ, EX_EQ, "__eq__"},
    {TK_NE, EX_NE, "__ne__"},              {TK_LT, EX_LT, "__lt__"},
    {TK_LE, EX_LE, "__le__"},              {TK_GT, EX_GT, "__gt__"},
    {TK_GE, EX_GE, "__ge__"},              {TK_POW, EX_COUNT, "__pow__"},
    {TK_AT, EX_COUNT, "__matmul__"},
};

static const OpRow *op_row(TokenKind op)
{
    for (int i = 0; i < COUNT(op_rows); i++)
        if (op_rows[i].token == op)
            return &op_rows[i];
    unreachable();
}

NORETURN static void fail_operands(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    diag_fail(ev->diag, at, "'%s' does not work between %s and %s [operand-types]", token_text(op),
              value_kind_name(a), value_kind_name(b));
}

/* ---- size of what is built ------------------------------------------------------------------- */

static Value built(Eval *ev, Span at, const Expr *e)
{
    if (e->depth > EXPR_DEPTH_MOST || e->size > TREE_MOST)
        diag_fail(ev->diag, at,
                  "this builds an expression that is too large; assign parts of it to "
                  "names [expression-size]");
    return value_expr(ev, e);
}

/* ---- Python numbers -------------------------------------------------------------------------- */

NORETURN static void fail_big(Eval *ev, Span at)
{
    diag_fail(ev->diag, at, "this int does not fit in 64 bits [int-too-big]");
}

/* Past 63 bits a number is a uint64, as a literal of that size is. */
__extension__ typedef __int128 Wide;

static Value int_value(Eval *ev, Span at, Wide v)
{
    if (v > UINT64_MAX || v < INT64_MIN)
        fail_big(ev, at);
    return v > INT64_MAX ? value_expr(ev, expr_const(ev->ir, DT_U64, (int64_t)v))
                         : value_int((int64_t)v);
}

static Value int_pow(Eval *ev, Span at, int64_t a, int64_t n)
{
    Wide r = 1;
    if (n < 0)
        return value_float(pow((double)a, (double)n));
    if (a == 1 || (a == 0 && n))
        return value_int(a);
    if (a == -1)
        return value_int(n % 2 ? -1 : 1);
    for (; n > 0; n--)
        if (__builtin_mul_overflow(r, a, &r))
            fail_big(ev, at);
    return int_value(ev, at, r);
}

static Value int_shift(Eval *ev, Span at, TokenKind op, int64_t a, int64_t n)
{
    if (n < 0)
        diag_fail(ev->diag, at, "a shift by %lld is negative [shift-count]", (long long)n);
    if (op == TK_SHR)
        return value_int(a >> MIN(n, 63));
    if (a && n > 63)
        fail_big(ev, at);
    return int_value(ev, at, a ? a * ((Wide)1 << n) : 0);
}

static Value int_binary(Eval *ev, Span at, TokenKind op, int64_t a, int64_t b)
{
    if ((op == TK_DIV || op == TK_FLOORDIV || op == TK_MOD) && b == 0)
        diag_fail(ev->diag, at, "division by zero [divide-by-zero]");
    switch (op) {
    case TK_ADD: return int_value(ev, at, (Wide)a + b);
    case TK_SUB: return int_value(ev, at, (Wide)a - b);
    case TK_MUL: return int_value(ev, at, (Wide)a * b);
    case TK_DIV: return value_float((double)a / (double)b);
    case TK_FLOORDIV: return b == -1 ? int_value(ev, at, -(Wide)a) : value_int(floor_div(a, b));
    case TK_MOD: return value_int(floor_mod(a, b));
    case TK_BITAND: return value_int(a & b);
    case TK_BITOR: return value_int(a | b);
    case TK_BITXOR: return value_int(a ^ b);
    case TK_SHL: case TK_SHR: return int_shift(ev, at, op, a, b);
    case TK_POW: return int_pow(ev, at, a, b);
    default: {
        Value x = value_int(a), y = value_int(b);
        fail_operands(ev, at, op, &x, &y);
    }
    }
}

static Value number_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    if (a->kind == V_BOOL && b->kind == V_BOOL &&
        (op == TK_BITAND || op == TK_BITOR || op == TK_BITXOR)) {
        Value r = int_binary(ev, at, op, a->u.i, b->u.i);
        return value_bool(r.u.i != 0);
    }
    if (a->kind != V_FLOAT && b->kind != V_FLOAT)
        return int_binary(ev, at, op, a->u.i, b->u.i);
    double x = number_of(a), y = number_of(b);
    if ((op == TK_DIV || op == TK_FLOORDIV || op == TK_MOD) && y == 0)
        diag_fail(ev->diag, at, "division by zero [divide-by-zero]");
    switch (op) {
    case TK_ADD: return value_float(x + y);
    case TK_SUB: return value_float(x - y);
    case TK_MUL: return value_float(x * y);
    case TK_DIV: return value_float(x / y);
    case TK_FLOORDIV: return value_float(floor(x / y));
    case TK_MOD: {
        double r = fmod(x, y);
        return value_float(r != 0 && (r < 0) != (y < 0) ? r + y : r);
    }
    case TK_POW: return value_float(pow(x, y));
    default: fail_operands(ev, at, op, a, b);
    }
}

/* ---- Python sequences ------------------------------------------------------------------------ */

static Value seq_repeat(Eval *ev, Span at, const Value *v, int64_t n)
{
    int64_t each = v->kind == V_STR ? (int64_t)v->u.s.len : v->u.seq->n;
    n = MAX(n, 0);
    if (each && n > SEQ_MOST / each)
        diag_fail(ev->diag, at, "%s repeated %lld times is too long [too-much-work]",
                  value_kind_name(v), (long long)n);
    eval_work(ev, at, (uint64_t)(n * each) / 4 + 1);
    if (v->kind == V_STR) {
        Str b;
        str_init(&b, ev->arena);
        for (int64_t i = 0; i < n && each; i++)
            str_putn(&b, v->u.s.text, v->u.s.len);
        return value_str(ev, b.s, b.n);
    }
    Value r = value_seq(ev, v->kind, NULL, 0);
    for (int64_t i = 0; i < n && each; i++)
        for (int k = 0; k < each; k++)
            seq_push(ev, r.u.seq, &v->u.seq->at[k]);
    return r;
}

static Value seq_join(Eval *ev, Span at, const Value *a, const Value *b)
{
    if (a->kind == V_STR) {
        Str s;
        eval_work(ev, at, (a->u.s.len + b->u.s.len) / 4);
        str_init(&s, ev->arena);
        str_putn(&s, a->u.s.text, a->u.s.len);
        str_putn(&s, b->u.s.text, b->u.s.len);
        return value_str(ev, s.s, s.n);
    }
    if (a->u.seq->n + b->u.seq->n > SEQ_MOST)
        diag_fail(ev->diag, at, "this list is longer than %d elements [too-much-work]", SEQ_MOST);
    Value r = value_seq(ev, a->kind, a->u.seq->at, a->u.seq->n);
    for (int i = 0; i < b->u.seq->n; i++)
        seq_push(ev, r.u.seq, &b->u.seq->at[i]);
    return r;
}

static bool set_has(Eval *ev, const Value *set, const Value *x)
{
    eval_work(ev, NO_SPAN, (uint64_t)set->u.seq->n / 4 + 1);
    for (int i = 0; i < set->u.seq->n; i++)
        if (value_equal(ev, &set->u.seq->at[i], x))
            return true;
    return false;
}

static Value set_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    Value r = value_seq(ev, V_SET, NULL, 0);
    if (op != TK_BITAND && op != TK_BITOR && op != TK_SUB && op != TK_BITXOR)
        fail_operands(ev, at, op, a, b);
    for (int i = 0; i < a->u.seq->n; i++) {
        bool both = set_has(ev, b, &a->u.seq->at[i]);
        if (op == TK_BITOR || (op == TK_BITAND ? both : !both))
            seq_push(ev, r.u.seq, &a->u.seq->at[i]);
    }
    for (int i = 0; i < b->u.seq->n && (op == TK_BITOR || op == TK_BITXOR); i++)
        if (!set_has(ev, a, &b->u.seq->at[i]))
            seq_push(ev, r.u.seq, &b->u.seq->at[i]);
    return r;
}

static Value dict_union(Eval *ev, const Value *a, const Value *b)
{
    Value r = value_seq(ev, V_DICT, a->u.seq->at, a->u.seq->n);
    for (int i = 0; i + 1 < b->u.seq->n; i += 2)
        dict_set(ev, &r, &b->u.seq->at[i], &b->u.seq->at[i + 1]);
    return r;
}

/* "%d x %s" % (a, b) */
static Value str_percent(Eval *ev, Span at, const Value *a, const Value *b)
{
    const Value *arg = b->kind == V_TUPLE ? b->u.seq->at : b;
    int n = b->kind == V_TUPLE ? b->u.seq->n : 1, used = 0;
    Str out;
    str_init(&out, ev->arena);
    for (const char *p = a->u.s.text; *p; p++) {
        if (*p != '%' || p[1] == '%') {
            p += *p == '%';
            str_putc(&out, '%' == *p ? '%' : *p);
            continue;
        }
        size_t len = strspn(p + 1, "0123456789.+-# ");
        char type = p[1 + len];
        if (used == n || !type)
            diag_fail(ev->diag, at, "this format needs more values than it got [format-spec]");
        const char *spec = arena_printf(ev->arena, ":%.*s%c", (int)len, p + 1,
                                        type == 'i' ? 'd' : type);
        value_format(ev, at, &out, &arg[used++], type == 's' ? "!s" : type == 'r' ? "!r" : spec);
        p += 1 + len;
    }
    if (used != n)
        diag_fail(ev->diag, at, "this format has fewer places than values [format-spec]");
    return value_str(ev, out.s, out.n);
}

static bool python_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b, Value *r)
{
    bool alike = a->kind == b->kind;
    if (is_number(a) && is_number(b))
        *r = number_binary(ev, at, op, a, b);
    else if (op == TK_ADD && alike && (a->kind == V_STR || a->kind == V_LIST || a->kind == V_TUPLE))
        *r = seq_join(ev, at, a, b);
    else if (op == TK_MUL && (a->kind == V_STR || a->kind == V_LIST || a->kind == V_TUPLE) &&
             (b->kind == V_INT || b->kind == V_BOOL))
        *r = seq_repeat(ev, at, a, b->u.i);
    else if (op == TK_MUL && (b->kind == V_STR || b->kind == V_LIST || b->kind == V_TUPLE) &&
             (a->kind == V_INT || a->kind == V_BOOL))
        *r = seq_repeat(ev, at, b, a->u.i);
    else if (op == TK_MOD && a->kind == V_STR)
        *r = str_percent(ev, at, a, b);
    else if (alike && a->kind == V_SET)
        *r = set_binary(ev, at, op, a, b);
    else if (alike && a->kind == V_DICT && op == TK_BITOR)
        *r = dict_union(ev, a, b);
    else
        return false;
    return true;
}

/* ---- run-time operands ----------------------------------------------------------------------- */

static bool int_fits(DType t, int64_t v)
{
    if (dtype_is_unsigned(t))
        return v >= 0 && (dtype_bits(t) == 64 || v < ((int64_t)1 << dtype_bits(t)));
    return v >= dtype_int_min(t) && v <= dtype_int_max(t);
}

/* Has a type the number?  An integer beside a float is rounded to it. */
static bool literal_fits(const Value *v, DType beside)
{
    if (dtype_is_float(beside))
        return v->kind != V_FLOAT || dtype_bits(beside) >= 32 || isnan(v->u.f) ||
               num_round(beside, v->u.f) == v->u.f;
    if (v->kind == V_FLOAT || beside == DT_HANDLE)
        return false;
    return beside == DT_BOOL ? v->u.i == 0 || v->u.i == 1
                             : v->kind == V_INT && int_fits(beside, v->u.i);
}

/* A literal takes the type of what stands beside it, when its value has one there. */
const Expr *literal_beside(Eval *ev, const Value *v, DType beside)
{
    if (literal_fits(v, beside) && dtype_is_float(beside))
        return expr_float(ev->ir, beside, v->kind == V_FLOAT ? v->u.f : (double)v->u.i);
    if (v->kind == V_FLOAT)
        return expr_float(ev->ir, DT_F32, v->u.f);
    if (v->kind == V_INT && literal_fits(v, beside))
        return expr_const(ev->ir, beside, v->u.i);
    return v->kind == V_BOOL ? expr_bool(ev->ir, v->u.i != 0) : expr_int(ev->ir, v->u.i);
}

static bool is_number_op(TokenKind op)
{
    return op == TK_ADD || op == TK_SUB || op == TK_MUL || op == TK_DIV ||
           op == TK_FLOORDIV || op == TK_MOD || op == TK_SHL || op == TK_SHR ||
           op == TK_BITAND || op == TK_BITOR || op == TK_BITXOR;
}

/* Numbers are int32 and float32: next to something narrower of their kind, that is where the
 * operation takes place. */
static void widen_beside(Eval *ev, TokenKind op, const Value *v, const Expr *e[2], int i)
{
    const Expr *n = e[i], *other = e[1 - i];
    bool whole = v->kind == V_INT || (n && n->op == EX_INT && n->type == DT_I32);
    bool real = v->kind == V_FLOAT || (n && n->op == EX_FLOAT && n->type == DT_F32);
    if (!other || !is_number_op(op) || dtype_bits((DType)other->type) >= 32)
        return;
    if (whole && dtype_is_int((DType)other->type) && other->type != DT_BOOL)
        e[1 - i] = expr_cast(ev->ir, DT_I32, other);
    else if (real && dtype_is_float((DType)other->type))
        e[1 - i] = expr_cast(ev->ir, DT_F32, other);
}

static void operands(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b,
                     const Expr *e[2])
{
    const Value *v[2] = {a, b};
    const char *what = arena_printf(ev->arena, "an operand of '%s'", token_text(op));
    for (int i = 0; i < 2; i++)
        if (v[i]->kind == V_BUFFER && v[i]->u.buf->scope != MEM_VAR)
            diag_fail(ev->diag, at, "'%s' works on elements; the whole of '%s' needs a T.Parallel "
                      "loop [whole-buffer]", token_text(op), v[i]->u.buf->name);
    for (int i = 0; i < 2; i++)
        e[i] = is_number(v[i]) ? NULL : to_expr(ev, at, v[i], what);
    for (int i = 0; i < 2; i++)
        widen_beside(ev, op, v[i], e, i);
    for (int i = 0; i < 2; i++)
        if (!e[i]) {
            e[i] = literal_beside(ev, v[i], (DType)e[1 - i]->type);
            if (e[i]->op == EX_FLOAT && e[i]->type != e[1 - i]->type) /* else it gives way */
                e[1 - i] = expr_cast(ev->ir, (DType)e[i]->type, e[1 - i]);
        }
    for (int i = 0; i < 2; i++)
        if (e[i]->type == DT_HANDLE && op != TK_EQ && op != TK_NE)
            diag_fail(ev->diag, at, "'%s' does not work on pointers [operand-types]",
                      token_text(op));
    if (e[0]->lanes != e[1]->lanes) {
        if (e[0]->lanes != 1 && e[1]->lanes != 1)
            diag_fail(ev->diag, at, "'%s' between vectors of %d and %d lanes [lanes]",
                      token_text(op), e[0]->lanes, e[1]->lanes);
        int small = e[0]->lanes == 1 ? 0 : 1;
        e[small] = expr_broadcast(ev->ir, e[small], e[1 - small]->lanes);
    }
}

static void check_division(Eval *ev, Span at, TokenKind op, const Expr *const e[2])
{
    bool ints = !dtype_is_float(e[0]->type) && !dtype_is_float(e[1]->type);
    int64_t d;
    if (op == TK_DIV && ints)
        diag_fail(ev->diag, at, "'/' does not divide integers; use '//' [int-division]");
    if (ints && expr_is_int(e[1], &d) && d == 0)
        diag_fail(ev->diag, at, "division by zero [divide-by-zero]");
}

static const Expr *bits_binary(Eval *ev, Span at, TokenKind op, const Expr *const e[2])
{
    bool shift = op == TK_SHL || op == TK_SHR;
    int64_t n;
    for (int i = 0; i < 2; i++)
        if (dtype_is_float(e[i]->type))
            diag_fail(ev->diag, at, "'%s' needs integers, not %s [bit-operand]", token_text(op),
                      dtype_name(e[i]->type));
    if (e[0]->type == DT_BOOL && e[1]->type == DT_BOOL && !shift)
        return expr_binary(ev->ir, op == TK_BITAND ? EX_AND : op == TK_BITOR ? EX_OR : EX_NE, e[0],
                           e[1]);
    const Expr *a = e[0]->type == DT_BOOL ? expr_cast(ev->ir, DT_I32, e[0]) : e[0];
    const Expr *b = e[1]->type == DT_BOOL ? expr_cast(ev->ir, DT_I32, e[1]) : e[1];
    DType wide = dtype_join((DType)a->type, (DType)b->type);
    if (shift && expr_is_int(b, &n) && (n < 0 || n >= dtype_bits(wide)))
        diag_fail(ev->diag, at, "a shift by %lld does not fit %s [shift-count]", (long long)n,
                  dtype_name(wide));
    if (shift) /* the operator alone would shift in the type of its left side */
        a = expr_cast(ev->ir, wide, a);
    return expr_binary(ev->ir, op_row(op)->op, a, b);
}

static const Expr *power(Eval *ev, Span at, const Value *b, const Expr *const e[2])
{
    const Expr *r = NULL, *base = e[0];
    int64_t n = b->kind == V_INT ? b->u.i : -1;
    if (n == 0)
        return dtype_is_float(base->type) ? expr_float(ev->ir, base->type, 1)
                                          : expr_const(ev->ir, base->type, 1);
    if (n > 0 && n <= 64) {
        for (; n; n /= 2) {
            if (n % 2)
                r = r ? expr_mul(ev->ir, r, base) : base;
            if (n > 1)
                base = expr_mul(ev->ir, base, base);
        }
        return r;
    }
    if (!dtype_is_float(e[0]->type) && !dtype_is_float(e[1]->type))
        diag_fail(ev->diag, at, "'**' of integers needs an exponent from 0 to 64 known at compile "
                  "time [power-type]");
    DType t = dtype_join((DType)e[0]->type, (DType)e[1]->type);
    const Expr *arg[2] = {expr_cast(ev->ir, t, e[0]), expr_cast(ev->ir, t, e[1])};
    return expr_math(ev->ir, MATH_POW, arg, 2);
}

static Value runtime_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    const Expr *e[2];
    operands(ev, at, op, a, b, e);
    switch (op) {
    case TK_DIV: case TK_FLOORDIV: case TK_MOD: {
        check_division(ev, at, op, e);
        bool floats = dtype_is_float(e[0]->type) || dtype_is_float(e[1]->type);
        if (op == TK_FLOORDIV && floats) {
            const Expr *q = expr_binary(ev->ir, EX_DIV, e[0], e[1]);
            return built(ev, at, expr_math(ev->ir, MATH_FLOOR, &q, 1));
        }
        break;
    }
    case TK_BITAND: case TK_BITOR: case TK_BITXOR: case TK_SHL: case TK_SHR:
        return built(ev, at, bits_binary(ev, at, op, e));
    case TK_POW: return built(ev, at, power(ev, at, b, e));
    case TK_AT: fail_operands(ev, at, op, a, b);
    default: break;
    }
    if (e[0]->type == DT_BOOL && e[1]->type == DT_BOOL && op != TK_EQ && op != TK_NE)
        for (int i = 0; i < 2; i++)
            e[i] = expr_cast(ev->ir, DT_I32, e[i]);
    return built(ev, at, expr_binary(ev->ir, op_row(op)->op, e[0], e[1]));
}

static bool try_method(Eval *ev, Span at, const Value *v, const char *name, const Value *other,
                       Value *out)
{
    Value *method = v->kind == V_OBJECT ? object_field(v->u.object, name) : NULL;
    if (!method || method->kind != V_FUNCTION)
        return false;
    CallArgs args = {.span = at, .n = 1, .at = (Value *)other, .spans = &at};
    *out = call_function(ev, at, method->u.func, v, &args);
    return true;
}

static bool is_hosts(const Value *v)
{
    return v->kind == V_OPAQUE || v->kind == V_FOREIGN;
}

Value eval_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    Value out;
    if (python_binary(ev, at, op, a, b, &out) || tensor_binary(ev, at, op, a, b, &out))
        return out;
    if ((a->kind == V_DTYPE && b->kind == V_STR) || (a->kind == V_STR && b->kind == V_DTYPE)) {
        Value x = a->kind == V_DTYPE ? dtype_text(ev, a) : *a,
              y = b->kind == V_DTYPE ? dtype_text(ev, b) : *b;
        if (python_binary(ev, at, op, &x, &y, &out))
            return out;
    }
    if (try_method(ev, at, a, op_row(op)->method, b, &out))
        return out;
    if (b->kind == V_OBJECT &&
        try_method(ev, at, b, arena_printf(ev->arena, "__r%s", op_row(op)->method + 2), a, &out))
        return out;
    if (host_op(ev, at, op_row(op)->method, (Value[]){*a, *b}, 2, &out))
        return out;
    if (is_hosts(a) || is_hosts(b)) {
        if (ev->trace && ev->trace->kernel)
            fail_opaque(ev, at, is_hosts(a) ? a : b,
                        arena_printf(ev->arena, "'%s'", token_text(op)));
        return is_hosts(a) ? *a : *b;
    }
    bool scalar_a = is_number(a) || is_runtime(a) || a->kind == V_BUFFER || a->kind == V_REGION;
    bool scalar_b = is_number(b) || is_runtime(b) || b->kind == V_BUFFER || b->kind == V_REGION;
    if (!scalar_a || !scalar_b)
        fail_operands(ev, at, op, a, b);
    return runtime_binary(ev, at, op, a, b);
}

Value eval_unary(Eval *ev, Span at, TokenKind op, const Value *a)
{
    Value out;
    if (op != TK_NOT && tensor_unary(ev, at, op, a, &out))
        return out;
    if (op == TK_NOT) {
        if (!is_runtime(a))
            return value_bool(!value_truth(ev, at, a));
        return value_expr(ev, expr_unary(ev->ir, EX_NOT, to_condition(ev, at, a)));
    }
    if (a->kind == V_FLOAT && op != TK_INVERT)
        return op == TK_SUB ? value_float(-a->u.f) : *a;
    if (a->kind == V_INT || a->kind == V_BOOL) {
        if (op == TK_SUB && a->u.i == INT64_MIN)
            fail_big(ev, at);
        return value_int(op == TK_SUB ? -a->u.i : op == TK_INVERT ? ~a->u.i : a->u.i);
    }
    if (try_method(ev, at, a, op == TK_SUB ? "__neg__" : "__invert__", a, &out))
        return out;
    if (host_op(ev, at, op == TK_SUB ? "__neg__" : op == TK_ADD ? "__pos__" : "__invert__", a, 1,
                &out))
        return out;
    if (is_hosts(a) && !(ev->trace && ev->trace->kernel))
        return *a;
    if (a->kind == V_BUFFER && a->u.buf->scope != MEM_VAR)
        diag_fail(ev->diag, at, "'%s' works on elements; the whole of '%s' needs a T.Parallel loop "
                  "[whole-buffer]", token_text(op), a->u.buf->name);
    const Expr *e =
        to_expr(ev, at, a, arena_printf(ev->arena, "the operand of '%s'", token_text(op)));
    if (op == TK_INVERT && !dtype_is_int(e->type))
        diag_fail(ev->diag, at, "'~' needs an integer, not %s%s [bit-operand]", dtype_name(e->type),
                  e->type == DT_BOOL ? "; use 'not'" : "");
    if (e->type == DT_BOOL)
        e = expr_cast(ev->ir, DT_I32, e);
    if (op == TK_ADD)
        return value_expr(ev, e);
    return built(ev, at, expr_unary(ev->ir, op == TK_SUB ? EX_NEG : EX_BITNOT, e));
}

/* ---- comparisons ----------------------------------------------------------------------------- */

const Expr *to_condition(Eval *ev, Span at, const Value *v)
{
    if (v->kind == V_BUFFER && v->u.buf->scope != MEM_VAR)
        diag_fail(ev->diag, at, "the whole of '%s' cannot be a condition; index one element "
                  "[buffer-condition]", v->u.buf->name);
    if (!is_runtime(v) && v->kind != V_REGION)
        return expr_bool(ev->ir, value_truth(ev, at, v));
    const Expr *e = to_expr(ev, at, v, "a condition");
    if (e->lanes > 1)
        diag_fail(ev->diag, at, "a condition must be one value, not a vector of %d [lanes]",
                  e->lanes);
    return e->type == DT_BOOL ? e
                              : expr_binary(ev->ir, EX_NE, e, expr_zero(ev->ir, (DType)e->type));
}

static int compare_text(const Value *a, const Value *b)
{
    int c = memcmp(a->u.s.text, b->u.s.text, MIN(a->u.s.len, b->u.s.len));
    return c ? c : a->u.s.len < b->u.s.len ? -1 : a->u.s.len > b->u.s.len;
}

static bool ordered(TokenKind op, int c)
{
    return op == TK_LT ? c < 0 : op == TK_LE ? c <= 0 : op == TK_GT ? c > 0 : c >= 0;
}

static bool compare_numbers(TokenKind op, const Value *a, const Value *b)
{
    if (a->kind != V_FLOAT && b->kind != V_FLOAT)
        return ordered(op, a->u.i < b->u.i ? -1 : a->u.i > b->u.i);
    double x = number_of(a), y = number_of(b);
    return op == TK_LT ? x < y : op == TK_LE ? x <= y : op == TK_GT ? x > y : x >= y;
}

static bool contains(Eval *ev, Span at, const Value *item, const Value *in)
{
    Value text;
    if (in->kind == V_NODE)
        return value_truth(ev, at, in); /* refused: its elements are not known */
    if (in->kind == V_DTYPE) {
        text = dtype_text(ev, in);
        in = &text;
    }
    if (in->kind == V_STR) {
        if (item->kind != V_STR)
            fail_operands(ev, at, TK_IN, item, in);
        return memmem(in->u.s.text, in->u.s.len, item->u.s.text, item->u.s.len) != NULL;
    }
    if (in->kind == V_DICT)
        return dict_find(ev, in, item) != NULL;
    if (is_runtime(item))
        diag_fail(ev->diag, at, "'in' is decided at compile time, and this value is known only at "
                  "run time [runtime-condition]");
    Value *list;
    int n = value_items(ev, at, in, &list, "'in'");
    eval_work(ev, at, (uint64_t)n);
    for (int i = 0; i < n; i++)
        if (value_equal(ev, &list[i], item))
            return true;
    return false;
}

static bool same_thing(Eval *ev, const Value *a, const Value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == V_LIST || a->kind == V_DICT || a->kind == V_SET)
        return a->u.seq == b->u.seq;
    return value_equal(ev, a, b);
}

static Value compare_order(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    if (is_number(a) && is_number(b))
        return value_bool(compare_numbers(op, a, b));
    if (a->kind == V_STR && b->kind == V_STR)
        return value_bool(ordered(op, compare_text(a, b)));
    if (a->kind == b->kind && (a->kind == V_TUPLE || a->kind == V_LIST)) {
        int n = MIN(a->u.seq->n, b->u.seq->n);
        eval_nest(ev, at);
        for (int i = 0; i < n; i++)
            if (!value_equal(ev, &a->u.seq->at[i], &b->u.seq->at[i])) {
                Value r = compare_order(ev, at, op, &a->u.seq->at[i], &b->u.seq->at[i]);
                ev->nest--;
                return r;
            }
        ev->nest--;
        return value_bool(ordered(op, a->u.seq->n - b->u.seq->n));
    }
    fail_operands(ev, at, op, a, b);
}

static bool same_dtype(Eval *ev, Span at, const Value *a, const Value *b)
{
    DType t[2];
    int lanes[2];
    to_dtype(ev, at, a, &t[0], &lanes[0], "a comparison");
    to_dtype(ev, at, b, &t[1], &lanes[1], "a comparison");
    return t[0] == t[1] && lanes[0] == lanes[1];
}

static bool names_dtype(const Value *v)
{
    DType t;
    int lanes;
    const char *dot = v->kind == V_OPAQUE ? strrchr(v->u.s.text, '.') : NULL;
    return v->kind == V_DTYPE || (dot && dtype_parse(dot + 1, &t, &lanes));
}

Value eval_compare(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b)
{
    Value out;
    bool equality = op == TK_EQ || op == TK_NE;
    Value both[2] = {*a, *b}, swapped[2] = {*b, *a};
    if (op != TK_IN && op != TK_NOT_IN && op != TK_IS && op != TK_IS_NOT &&
        tensor_binary(ev, at, op, a, b, &out))
        return out;
    switch (op) {
    case TK_IN: case TK_NOT_IN:
        if (host_op(ev, at, "__contains__", swapped, 2, &out) && out.kind == V_BOOL)
            return value_bool((out.u.i != 0) == (op == TK_IN));
        break;
    case TK_IS: case TK_IS_NOT: break;
    default:
        if (host_op(ev, at, op_row(op)->method, both, 2, &out))
            return out;
        break;
    }
    switch (op) {
    case TK_IS: return value_bool(same_thing(ev, a, b));
    case TK_IS_NOT: return value_bool(!same_thing(ev, a, b));
    case TK_IN: case TK_NOT_IN:
        if (b->kind == V_OPAQUE && !ev->trace)
            return *b;
        return value_bool(contains(ev, at, a, b) == (op == TK_IN));
    default: break;
    }
    if (try_method(ev, at, a, op_row(op)->method, b, &out))
        return out;
    bool scalar_a = is_number(a) || is_runtime(a), scalar_b = is_number(b) || is_runtime(b);
    if (scalar_a && scalar_b && (is_runtime(a) || is_runtime(b)))
        return runtime_binary(ev, at, op, a, b);
    if (equality && names_dtype(a) && names_dtype(b))
        return value_bool(same_dtype(ev, at, a, b) == (op == TK_EQ));
    if ((a->kind == V_OPAQUE || b->kind == V_OPAQUE) && a->kind != V_NONE && b->kind != V_NONE &&
        !(equality && a->kind == b->kind && value_equal(ev, a, b)))
        return a->kind == V_OPAQUE ? *a : *b;
    if (equality)
        return value_bool(value_equal(ev, a, b) == (op == TK_EQ));
    if ((a->kind == V_BUFFER || a->kind == V_REGION) ||
        (b->kind == V_BUFFER || b->kind == V_REGION))
        return runtime_binary(ev, at, op, a, b);
    return compare_order(ev, at, op, a, b);
}
