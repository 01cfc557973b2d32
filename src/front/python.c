/* python.c -- Python's own functions: len, range, min, isinstance, print … */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "front/python.h"

/* ---- numbers --------------------------------------------------------------------------------- */

static Value do_abs(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    if (v->kind == V_FLOAT)
        return value_float(fabs(v->u.f));
    if (v->kind == V_INT || v->kind == V_BOOL) {
        if (v->u.i == INT64_MIN)
            diag_fail(c->ev->diag, c->span, "this int does not fit in 64 bits [int-too-big]");
        return value_int(v->u.i < 0 ? -v->u.i : v->u.i);
    }
    if (v->kind == V_NODE)
        return builtin_call(c->ev, c->span, builtin_find("tilelang.abs"), v, &(CallArgs){0});
    const Expr *e = to_expr(c->ev, c->span, v, "abs: its argument");
    if (e->type == DT_BOOL)
        e = expr_cast(c->ev->ir, DT_I32, e);
    return value_expr(c->ev, expr_math(c->ev->ir, MATH_ABS, &e, 1));
}

static Value parse_int(BuiltinCall *c, const char *text)
{
    char *end;
    int base =
        c->arg[1].kind == V_NONE ? 10 : (int)to_int(c->ev, c->span, &c->arg[1], "int: 'base'");
    if (base < 0 || base == 1 || base > 36)
        diag_fail(c->ev->diag, c->span, "int: base %d is not from 2 to 36 [bad-number]", base);
    errno = 0;
    long long n = strtoll(text, &end, base);
    while (*end == ' ' || *end == '\n')
        end++;
    if (errno || *end || end == text)
        diag_fail(c->ev->diag, c->span, "'%s' is not an int [bad-number]", text);
    return value_int(n);
}

static Value do_int(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    switch (v->kind) {
    case V_BOOL: case V_INT: return value_int(v->u.i);
    case V_FLOAT:
        if (!(fabs(v->u.f) < 9.2e18))
            diag_fail(c->ev->diag, c->span, "this float does not fit in an int [int-too-big]");
        return value_int((int64_t)v->u.f);
    case V_STR: return parse_int(c, v->u.s.text);
    case V_OPAQUE:
        if (!c->ev->trace)
            return *v;
        /* fall through */
    default: break;
    }
    const Expr *e = to_expr(c->ev, c->span, v, "int: its argument");
    int64_t i;
    if (expr_is_int(e, &i))
        return value_int(i);
    return value_expr(c->ev,
                      expr_cast(c->ev->ir, dtype_is_int(e->type) ? (DType)e->type : DT_I32, e));
}

static Value do_float(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    char *end;
    double f;
    if (is_number(v))
        return value_float(number_of(v));
    if (v->kind == V_OPAQUE && !c->ev->trace)
        return *v;
    if (v->kind == V_STR) {
        f = strtod(v->u.s.text, &end);
        if (*end || end == v->u.s.text)
            diag_fail(c->ev->diag, c->span, "'%s' is not a number [bad-number]", v->u.s.text);
        return value_float(f);
    }
    const Expr *e = to_expr(c->ev, c->span, v, "float: its argument");
    if (expr_is_float(e, &f))
        return value_float(f);
    return value_expr(c->ev, dtype_is_float(e->type) ? e : expr_cast(c->ev->ir, DT_F32, e));
}

static Value do_bool(BuiltinCall *c)
{
    if (is_runtime(&c->arg[0]))
        return value_expr(c->ev, to_condition(c->ev, c->span, &c->arg[0]));
    return value_bool(value_truth(c->ev, c->span, &c->arg[0]));
}

static Value do_round(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    if (!is_number(v)) {
        const Expr *e = to_expr(c->ev, c->span, v, "round: its argument");
        return value_expr(c->ev, expr_math(c->ev->ir, MATH_ROUND, &e, 1));
    }
    if (c->arg[1].kind != V_NONE) {
        double p = pow(10, (double)to_int(c->ev, c->span, &c->arg[1], "round: 'ndigits'"));
        return v->kind == V_FLOAT ? value_float(nearbyint(v->u.f * p) / p) : *v;
    }
    double f = nearbyint(number_of(v));
    if (v->kind == V_FLOAT && !(fabs(f) < 9.2e18))
        diag_fail(c->ev->diag, c->span, "this float does not fit in an int [int-too-big]");
    return v->kind == V_FLOAT ? value_int((int64_t)f) : value_int(v->u.i);
}

static Value do_pow(BuiltinCall *c)
{
    Value r = eval_binary(c->ev, c->span, TK_POW, &c->arg[0], &c->arg[1]);
    return c->arg[2].kind == V_NONE ? r : eval_binary(c->ev, c->span, TK_MOD, &r, &c->arg[2]);
}

static Value do_divmod(BuiltinCall *c)
{
    Value both[2] = {eval_binary(c->ev, c->span, TK_FLOORDIV, &c->arg[0], &c->arg[1]),
                     eval_binary(c->ev, c->span, TK_MOD, &c->arg[0], &c->arg[1])};
    return value_seq(c->ev, V_TUPLE, both, 2);
}

/* ---- sequences ------------------------------------------------------------------------------- */

static Value do_len(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    switch (v->kind) {
    case V_STR: return value_int((int64_t)v->u.s.len);
    case V_TUPLE: case V_LIST: case V_SET: return value_int(v->u.seq->n);
    case V_DICT: return value_int(v->u.seq->n / 2);
    case V_RANGE: return value_int(range_length(v));
    case V_NODE: return tensor_length(c->ev, c->arg_span[0], v);
    case V_OPAQUE:
        if (!c->ev->trace)
            return *v;
        fail_opaque(c->ev, c->span, v, "len");
    case V_OBJECT: {
        Value *m = object_field(v->u.object, "__len__");
        if (m && m->kind == V_FUNCTION)
            return call_function(c->ev, c->span, m->u.func, v, &(CallArgs){.span = c->span});
        break;
    }
    default: break;
    }
    diag_fail(c->ev->diag, c->arg_span[0], "%s has no length [operand-types]", value_kind_name(v));
}

static Value range_loop(BuiltinCall *c, const Value part[3])
{
    const Builtin *serial = builtin_find("serial");
    Value callee = {.kind = V_BUILTIN, .u.builtin = serial};
    return call_values(c->ev, c->span, &callee, part, 3);
}

static Value do_range(BuiltinCall *c)
{
    Value part[3] = {c->arg[0], c->arg[1], c->arg[2]};
    if (part[1].kind == V_NONE) {
        part[1] = part[0];
        part[0] = value_int(0);
    }
    if (part[2].kind == V_NONE)
        part[2] = value_int(1);
    for (int i = 0; i < 3; i++)
        if (is_runtime(&part[i]) && c->ev->trace)
            return range_loop(c, part);
    for (int i = 0; i < 3; i++)
        part[i] = value_int(to_int(c->ev, c->span, &part[i], "an argument of range"));
    if (part[2].u.i == 0)
        diag_fail(c->ev->diag, c->span, "the step of range cannot be 0 [range-step]");
    return value_seq(c->ev, V_RANGE, part, 3);
}

static Value better(BuiltinCall *c, bool larger, const Value *a, const Value *b)
{
    if (!is_runtime(a) && !is_runtime(b)) {
        Value less = eval_compare(c->ev, c->span, TK_LT, larger ? a : b, larger ? b : a);
        return value_truth(c->ev, c->span, &less) ? *b : *a;
    }
    /* a comparison is built only to bring both to one type */
    Value both = eval_compare(c->ev, c->span, TK_LT, a, b);
    if (both.kind != V_EXPR || both.u.expr->nkid != 2)
        return value_truth(c->ev, c->span, &both) == larger ? *b : *a;
    const Expr *e = both.u.expr;
    return value_expr(c->ev,
                      expr_binary(c->ev->ir, larger ? EX_MAX : EX_MIN, e->kid[0], e->kid[1]));
}

static Value extreme(BuiltinCall *c, bool larger)
{
    Value *item = (Value *)c->rest;
    int n = c->nrest;
    if (n == 1)
        n = value_items(c->ev, c->span, &c->rest[0], &item, c->b->name);
    if (n == 0 && c->arg[2].kind != V_NONE)
        return c->arg[2];
    if (n == 0)
        diag_fail(c->ev->diag, c->span, "%s of nothing [empty]", c->b->name);
    if (c->arg[1].kind == V_NONE) {
        Value best = item[0];
        for (int i = 1; i < n; i++)
            best = better(c, larger, &best, &item[i]);
        return best;
    }
    Value best = item[0], best_key = call_values(c->ev, c->span, &c->arg[1], &item[0], 1);
    for (int i = 1; i < n; i++) {
        Value key = call_values(c->ev, c->span, &c->arg[1], &item[i], 1);
        Value less = eval_compare(c->ev, c->span, TK_LT, larger ? &best_key : &key,
                                  larger ? &key : &best_key);
        if (value_truth(c->ev, c->span, &less)) {
            best = item[i];
            best_key = key;
        }
    }
    return best;
}

static Value do_min(BuiltinCall *c) { return extreme(c, false); }
static Value do_max(BuiltinCall *c) { return extreme(c, true); }

static Value do_sum(BuiltinCall *c)
{
    Value *item, total = c->arg[1];
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "sum");
    eval_work(c->ev, c->span, (uint64_t)n);
    for (int i = 0; i < n; i++)
        total = eval_binary(c->ev, c->span, TK_ADD, &total, &item[i]);
    return total;
}

static Value any_all(BuiltinCall *c, bool stop)
{
    Value *item, acc = value_bool(!stop);
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, c->b->name);
    for (int i = 0; i < n; i++) {
        if (is_runtime(&item[i]) || is_runtime(&acc)) {
            const Expr *a = to_condition(c->ev, c->span, &acc),
                       *b = to_condition(c->ev, c->span, &item[i]);
            acc = value_expr(c->ev, expr_binary(c->ev->ir, stop ? EX_OR : EX_AND, a, b));
        } else if (value_truth(c->ev, c->span, &item[i]) == stop) {
            return value_bool(stop);
        }
    }
    return acc;
}

static Value do_any(BuiltinCall *c) { return any_all(c, true); }
static Value do_all(BuiltinCall *c) { return any_all(c, false); }

static Value as_kind(BuiltinCall *c, ValueKind kind)
{
    Value *item;
    if (c->arg[0].kind == V_OPAQUE && !c->ev->trace)
        return c->arg[0];
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, c->b->name);
    eval_work(c->ev, c->span, (uint64_t)n / 4);
    if (kind != V_SET)
        return value_seq(c->ev, kind, item, n);
    Value set = value_seq(c->ev, V_SET, NULL, 0);
    for (int i = 0; i < n; i++)
        set_insert(c->ev, &set, &item[i]);
    return set;
}

static Value do_tuple(BuiltinCall *c) { return as_kind(c, V_TUPLE); }
static Value do_list(BuiltinCall *c) { return as_kind(c, V_LIST); }
static Value do_set(BuiltinCall *c) { return as_kind(c, V_SET); }

static Value do_dict(BuiltinCall *c)
{
    Value d = dict_new(c->ev), *item, *pair;
    const Value *keys = &c->arg[1];
    if (c->arg[0].kind == V_DICT) {
        d = value_seq(c->ev, V_DICT, c->arg[0].u.seq->at, c->arg[0].u.seq->n);
    } else if (c->arg[0].kind != V_NONE) {
        int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "dict");
        for (int i = 0; i < n; i++) {
            if (value_items(c->ev, c->arg_span[0], &item[i], &pair, "dict") != 2)
                diag_fail(c->ev->diag, c->arg_span[0], "dict needs pairs [unpack-count]");
            dict_set(c->ev, &d, &pair[0], &pair[1]);
        }
    }
    for (int i = 0; i + 1 < keys->u.seq->n; i += 2)
        dict_set(c->ev, &d, &keys->u.seq->at[i], &keys->u.seq->at[i + 1]);
    return d;
}

static Value do_enumerate(BuiltinCall *c)
{
    Value *item, out = value_seq(c->ev, V_LIST, NULL, 0);
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "enumerate");
    int64_t start = to_int(c->ev, c->span, &c->arg[1], "enumerate: 'start'");
    eval_work(c->ev, c->span, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        Value pair[2] = {value_int(start + i), item[i]};
        Value t = value_seq(c->ev, V_TUPLE, pair, 2);
        seq_push(c->ev, out.u.seq, &t);
    }
    return out;
}

/* Rows of several iterables, as long as the shortest. */
static int columns(BuiltinCall *c, const Value *its, int n, Value ***out)
{
    int shortest = n ? SEQ_MOST : 0;
    *out = NEWN(c->ev->arena, Value *, n + 1);
    for (int i = 0; i < n; i++) {
        int k = value_items(c->ev, c->span, &its[i], &(*out)[i], c->b->name);
        shortest = MIN(shortest, k);
    }
    eval_work(c->ev, c->span, (uint64_t)shortest * (uint64_t)(n + 1));
    return shortest;
}

/* A tuple of each row, or with a function what it gives for it. */
static Value by_rows(BuiltinCall *c, const Value *fn)
{
    Value **col, out = value_seq(c->ev, V_LIST, NULL, 0);
    int rows = columns(c, c->rest, c->nrest, &col);
    Value *row = NEWN(c->ev->arena, Value, c->nrest + 1);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < c->nrest; i++)
            row[i] = col[i][r];
        Value v = fn ? call_values(c->ev, c->span, fn, row, c->nrest)
                     : value_seq(c->ev, V_TUPLE, row, c->nrest);
        seq_push(c->ev, out.u.seq, &v);
    }
    return out;
}

static Value do_zip(BuiltinCall *c) { return by_rows(c, NULL); }
static Value do_map(BuiltinCall *c) { return by_rows(c, &c->arg[0]); }

static Value do_filter(BuiltinCall *c)
{
    Value *item, out = value_seq(c->ev, V_LIST, NULL, 0);
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, "filter");
    for (int i = 0; i < n; i++) {
        Value keep = c->arg[0].kind == V_NONE
                         ? item[i]
                         : call_values(c->ev, c->span, &c->arg[0], &item[i], 1);
        if (value_truth(c->ev, c->span, &keep))
            seq_push(c->ev, out.u.seq, &item[i]);
    }
    return out;
}

static bool comes_before(Eval *ev, Span at, const Value *a, const Value *b)
{
    Value less = eval_compare(ev, at, TK_LT, a, b);
    return value_truth(ev, at, &less);
}

/* Stable merge of runs; key[] moves along with at[]. */
void sort_values(Eval *ev, Span at, Value *v, int n, const Value *by, bool reverse)
{
    Value *key = v, *tmp = NEWN(ev->arena, Value, n + 1), *tmp_key = tmp;
    if (by && by->kind != V_NONE) {
        key = NEWN(ev->arena, Value, n + 1);
        tmp_key = NEWN(ev->arena, Value, n + 1);
        for (int i = 0; i < n; i++)
            key[i] = call_values(ev, at, by, &v[i], 1);
    }
    for (int width = 1; width < n; width *= 2) {
        eval_work(ev, at, (uint64_t)n);
        for (int lo = 0; lo < n; lo += 2 * width) {
            int mid = MIN(lo + width, n), hi = MIN(lo + 2 * width, n), a = lo, b = mid;
            for (int k = lo; k < hi; k++) {
                bool right =
                    a == mid || (b < hi && (reverse ? comes_before(ev, at, &key[a], &key[b])
                                                    : comes_before(ev, at, &key[b], &key[a])));
                int from = right ? b++ : a++;
                tmp[k] = v[from];
                tmp_key[k] = key[from];
            }
        }
        memcpy(v, tmp, sizeof *v * (size_t)n);
        if (key != v)
            memcpy(key, tmp_key, sizeof *v * (size_t)n);
    }
}

static Value do_sorted(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "sorted");
    Value out = value_seq(c->ev, V_LIST, item, n);
    sort_values(c->ev, c->span, out.u.seq->at, n, &c->arg[1],
                value_truth(c->ev, c->span, &c->arg[2]));
    return out;
}

static Value do_reversed(BuiltinCall *c)
{
    Value *item, out = value_seq(c->ev, V_LIST, NULL, 0);
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "reversed");
    for (int i = n - 1; i >= 0; i--)
        seq_push(c->ev, out.u.seq, &item[i]);
    return out;
}

static Value do_slice(BuiltinCall *c)
{
    Value part[3] = {value_none(), value_none(), value_none()};
    if (c->nrest < 1 || c->nrest > 3)
        diag_fail(c->ev->diag, c->span, "slice takes 1 to 3 arguments [argument-count]");
    for (int i = 0; i < c->nrest; i++)
        part[c->nrest == 1 ? 1 : i] = c->rest[i];
    return value_seq(c->ev, V_SLICE, part, 3);
}

static Value do_next(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "next");
    if (n)
        return item[0];
    if (c->nrest)
        return c->rest[0];
    diag_fail(c->ev->diag, c->span, "next of nothing [empty]");
}

static Value do_iter(BuiltinCall *c) { return c->arg[0]; }

/* ---- text ------------------------------------------------------------------------------------ */

static Value text_of(BuiltinCall *c, bool quote)
{
    Str b;
    str_init(&b, c->ev->arena);
    value_repr(c->ev, &b, &c->arg[0], quote);
    return value_str(c->ev, b.s, b.n);
}

static Value do_str(BuiltinCall *c) { return text_of(c, false); }
static Value do_repr(BuiltinCall *c) { return text_of(c, true); }

static Value in_base(BuiltinCall *c, const char *spec)
{
    Str b;
    Value v = value_int(to_int(c->ev, c->span, &c->arg[0], c->b->name));
    str_init(&b, c->ev->arena);
    value_format(c->ev, c->span, &b, &v, spec);
    return value_str(c->ev, b.s, b.n);
}

static Value do_hex(BuiltinCall *c) { return in_base(c, ":#x"); }
static Value do_bin(BuiltinCall *c) { return in_base(c, ":#b"); }
static Value do_oct(BuiltinCall *c) { return in_base(c, ":#o"); }

static Value do_ord(BuiltinCall *c)
{
    const Value *v = &c->arg[0];
    if (v->kind != V_STR || v->u.s.len != 1)
        diag_fail(c->ev->diag, c->span, "ord takes one character [operand-types]");
    return value_int((unsigned char)v->u.s.text[0]);
}

static Value do_chr(BuiltinCall *c)
{
    int64_t i = to_int(c->ev, c->span, &c->arg[0], "chr");
    char ch = (char)i;
    if (i < 1 || i > 126)
        diag_fail(c->ev->diag, c->span, "chr takes a number from 1 to 126 here [operand-types]");
    return value_str(c->ev, &ch, 1);
}

static Value do_format(BuiltinCall *c)
{
    Str b;
    str_init(&b, c->ev->arena);
    if (c->arg[1].kind != V_STR)
        diag_fail(c->ev->diag, c->span,
                  "format: its second argument must be a str [operand-types]");
    value_format(c->ev, c->span, &b, &c->arg[0],
                 arena_printf(c->ev->arena, ":%s", c->arg[1].u.s.text));
    return value_str(c->ev, b.s, b.n);
}

/* Only functions that are being compiled print; the script around them, and what only the host
 * knows, belong to the host. */
static Value do_print(BuiltinCall *c)
{
    Str b;
    str_init(&b, c->ev->arena);
    for (int i = 0; i < c->nrest; i++) {
        if (c->rest[i].kind == V_OPAQUE)
            return value_none();
        if (i)
            str_puts(&b, c->arg[1].kind == V_STR ? c->arg[1].u.s.text : " ");
        value_repr(c->ev, &b, &c->rest[i], false);
    }
    str_puts(&b, c->arg[2].kind == V_STR ? c->arg[2].u.s.text : "\n");
    if (c->ev->depth > 0)
        fputs(b.s, stderr);
    return value_none();
}

/* ---- types and attributes -------------------------------------------------------------------- */

static const char *type_name(const Value *v)
{
    static const char *const name[] = {
        [V_BOOL] = "bool", [V_INT] = "int", [V_FLOAT] = "float", [V_STR] = "str",
        [V_TUPLE] = "tuple", [V_LIST] = "list", [V_DICT] = "dict", [V_SET] = "set",
        [V_RANGE] = "range", [V_SLICE] = "slice",
    };
    return v->kind < COUNT(name) ? name[v->kind] : NULL;
}

static bool is_instance(BuiltinCall *c, const Value *v, const Value *type)
{
    const char *name = type_name(v);
    switch (type->kind) {
    case V_TUPLE:
        for (int i = 0; i < type->u.seq->n; i++)
            if (type->u.seq->at[i].kind != V_TUPLE && is_instance(c, v, &type->u.seq->at[i]))
                return true;
        return false;
    case V_BUILTIN:
        if (!strcmp(type->u.builtin->name, "Tensor") || !strcmp(type->u.builtin->name, "Buffer"))
            return v->kind == V_BUFFER;
        return name && (is_builtin(type, name) || (v->kind == V_BOOL && is_builtin(type, "int")));
    case V_CLASS: return v->kind == V_OBJECT && object_is_a(v->u.object, type->u.object);
    case V_OPAQUE: {
        const char *dot = strrchr(type->u.s.text, '.'), *last = dot ? dot + 1 : type->u.s.text;
        if (v->kind == V_EXPR)
            return !strcmp(last, "PrimExpr") || !strcmp(last, "Expr") ||
                   (!strcmp(last, "Var") && v->u.expr->op == EX_VAR);
        if (v->kind == V_BUFFER)
            return !strcmp(last, "Buffer");
        if (v->kind == V_REGION)
            return !strcmp(last, v->is_element ? "BufferLoad" : "BufferRegion");
        return v->kind == V_DTYPE && !strcmp(last, "dtype");
    }
    default: return false;
    }
}

static Value do_isinstance(BuiltinCall *c)
{
    return value_bool(is_instance(c, &c->arg[0], &c->arg[1]));
}

static Value do_type(BuiltinCall *c)
{
    const char *name = type_name(&c->arg[0]);
    if (name)
        return (Value){.kind = V_BUILTIN, .u.builtin = python_find(name)};
    if (c->arg[0].kind == V_OBJECT && c->arg[0].u.object->cls)
        return (Value){.kind = V_CLASS, .u.object = (Object *)c->arg[0].u.object->cls};
    return value_opaque(c->ev, "type");
}

static bool has_attribute(Eval *ev, const Value *v, const char *name)
{
    switch (v->kind) {
    case V_OBJECT: case V_CLASS: return object_field(v->u.object, name) != NULL;
    case V_BUFFER: case V_REGION: case V_EXPR: {
        static const char *const known[] = {"shape", "dtype", "name", "strides", "scope", "buffer"};
        for (int i = 0; i < COUNT(known); i++)
            if (!strcmp(name, known[i]))
                return v->kind == V_BUFFER || i == 1 || (v->kind == V_REGION && i != 3);
        return false;
    }
    case V_MODULE:
        return python_attr(ev, NO_SPAN, v->u.s.text, name).kind != V_UNBOUND ||
               module_attr(ev, NO_SPAN, v->u.s.text, name).kind != V_UNBOUND;
    default: return python_method(v, name) != NULL;
    }
}

static const char *attr_name(BuiltinCall *c)
{
    if (c->arg[1].kind != V_STR)
        diag_fail(c->ev->diag, c->arg_span[1], "%s needs a name in a str [operand-types]",
                  c->b->name);
    return name_intern(c->ev->names, c->arg[1].u.s.text, c->arg[1].u.s.len);
}

static Value do_hasattr(BuiltinCall *c)
{
    return value_bool(has_attribute(c->ev, &c->arg[0], attr_name(c)));
}

static Value do_getattr(BuiltinCall *c)
{
    const char *name = attr_name(c);
    if (c->nrest && !has_attribute(c->ev, &c->arg[0], name))
        return c->rest[0];
    return value_attr(c->ev, c->span, &c->arg[0], name);
}

static Value do_setattr(BuiltinCall *c)
{
    Value v = c->arg[0];
    set_attr(c->ev, c->span, &v, attr_name(c), &c->arg[2]);
    return value_none();
}

static Value do_callable(BuiltinCall *c)
{
    ValueKind k = c->arg[0].kind;
    return value_bool(k == V_FUNCTION || k == V_BUILTIN || k == V_METHOD || k == V_CLASS ||
                      k == V_DTYPE || k == V_OPAQUE);
}

static Value do_nothing(BuiltinCall *c)
{
    (void)c;
    return value_none();
}

static Value as_method(BuiltinCall *c, char how)
{
    if (c->arg[0].kind != V_FUNCTION)
        return c->arg[0];
    Function *fn = NEW(c->ev->arena, Function);
    *fn = *c->arg[0].u.func;
    fn->how = how;
    return value_function(fn);
}

static Value do_property(BuiltinCall *c) { return as_method(c, 'p'); }
static Value do_staticmethod(BuiltinCall *c) { return as_method(c, 's'); }
static Value do_classmethod(BuiltinCall *c) { return as_method(c, 'c'); }

static const Builtin table[] = {
#define ROW(name, signature, run) {name, signature, run, "", "python", ""}
    ROW("abs", "x", do_abs), ROW("all", "x", do_all), ROW("any", "x", do_any),
    ROW("bin", "x", do_bin), ROW("bool", "x=False", do_bool), ROW("callable", "x", do_callable),
    ROW("chr", "x", do_chr), ROW("classmethod", "f", do_classmethod),
    ROW("dict", "x=None, **keys", do_dict), ROW("divmod", "a, b", do_divmod),
    ROW("enumerate", "iterable, start=0", do_enumerate), ROW("filter", "f, x", do_filter),
    ROW("float", "x=0.0", do_float), ROW("format", "x, spec=\"\"", do_format),
    ROW("frozenset", "x=()", do_set), ROW("getattr", "x, name, *default", do_getattr),
    ROW("hasattr", "x, name", do_hasattr), ROW("hex", "x", do_hex),
    ROW("int", "x=0, base=None", do_int), ROW("isinstance", "x, types", do_isinstance),
    ROW("iter", "x", do_iter), ROW("len", "x", do_len), ROW("list", "x=()", do_list),
    ROW("map", "f, *rest", do_map), ROW("max", "*args, key=None, default=None", do_max),
    ROW("min", "*args, key=None, default=None", do_min), ROW("next", "x, *default", do_next),
    ROW("oct", "x", do_oct), ROW("ord", "x", do_ord), ROW("pow", "a, b, mod=None", do_pow),
    ROW("print", "*args, sep=\" \", end=None, file=None, flush=False", do_print),
    ROW("property", "f", do_property), ROW("range", "start, stop=None, step=None", do_range),
    ROW("repr", "x", do_repr), ROW("reversed", "x", do_reversed),
    ROW("round", "x, ndigits=None", do_round), ROW("set", "x=()", do_set),
    ROW("setattr", "x, name, value", do_setattr), ROW("slice", "*args", do_slice),
    ROW("sorted", "x, *, key=None, reverse=False", do_sorted),
    ROW("staticmethod", "f", do_staticmethod), ROW("str", "x=\"\"", do_str),
    ROW("sum", "x, start=0", do_sum), ROW("tuple", "x=()", do_tuple), ROW("type", "x", do_type),
    ROW("zip", "*args, strict=False", do_zip), ROW("__nothing__", "*args, **keys", do_nothing),
#undef ROW
};

const Builtin *python_find(const char *name)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].name[0] == name[0] && !strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

bool is_builtin(const Value *v, const char *name)
{
    return v->kind == V_BUILTIN && v->u.builtin >= table && v->u.builtin < table + COUNT(table) &&
           !strcmp(v->u.builtin->name, name);
}
