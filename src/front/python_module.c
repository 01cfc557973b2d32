/* python_module.c -- Python's modules as far as kernels use them, and the decorators of tilelang.
 */
#include <math.h>

#include "front/python.h"

/* ---- math ------------------------------------------------------------------------------------ */

static double number_arg(BuiltinCall *c, int i)
{
    if (c->arg[i].kind == V_EXPR || c->arg[i].kind == V_REGION)
        diag_fail(c->ev->diag, c->arg_span[i], "math.%s takes numbers known at compile time; for "
                  "values of the kernel there is T.%s [not-constant]", c->b->name, c->b->name);
    if (!is_number(&c->arg[i])) {
        int64_t n = to_int(c->ev, c->arg_span[i], &c->arg[i],
                           arena_printf(c->ev->arena, "math.%s", c->b->name));
        return (double)n;
    }
    return number_of(&c->arg[i]);
}

static const struct {
    const char *name;
    double (*f)(double);
} math_functions[] = {
    {"sqrt", sqrt}, {"log2", log2}, {"log10", log10}, {"log1p", log1p}, {"exp", exp},
    {"exp2", exp2}, {"sin", sin},   {"cos", cos},     {"tan", tan},     {"tanh", tanh},
    {"sinh", sinh}, {"cosh", cosh}, {"asin", asin},   {"acos", acos},   {"atan", atan},
    {"fabs", fabs}, {"erf", erf},
};

static Value math_one(BuiltinCall *c)
{
    double x = number_arg(c, 0);
    for (int i = 0; i < COUNT(math_functions); i++)
        if (!strcmp(math_functions[i].name, c->b->name)) {
            double r = math_functions[i].f(x);
            if (isnan(r) && !isnan(x))
                diag_fail(c->ev->diag, c->span, "math.%s of %g is not defined [math-domain]",
                          c->b->name, x);
            return value_float(r);
        }
    unreachable();
}

static Value math_log(BuiltinCall *c)
{
    double x = number_arg(c, 0);
    if (!(x > 0))
        diag_fail(c->ev->diag, c->span, "math.log of %g is not defined [math-domain]", x);
    return value_float(c->arg[1].kind == V_NONE ? log(x) : log(x) / log(number_arg(c, 1)));
}

static Value to_whole(BuiltinCall *c, double f)
{
    if (!(fabs(f) < 9.2e18))
        diag_fail(c->ev->diag, c->span, "this float does not fit in an int [int-too-big]");
    return value_int((int64_t)f);
}

static Value math_ceil(BuiltinCall *c)
{
    return c->arg[0].kind == V_INT ? c->arg[0] : to_whole(c, ceil(number_arg(c, 0)));
}

static Value math_floor(BuiltinCall *c)
{
    return c->arg[0].kind == V_INT ? c->arg[0] : to_whole(c, floor(number_arg(c, 0)));
}

static Value math_trunc(BuiltinCall *c) { return to_whole(c, trunc(number_arg(c, 0))); }
static Value math_pow(BuiltinCall *c)
{
    return value_float(pow(number_arg(c, 0), number_arg(c, 1)));
}
static Value math_atan2(BuiltinCall *c)
{
    return value_float(atan2(number_arg(c, 0), number_arg(c, 1)));
}
static Value math_isinf(BuiltinCall *c) { return value_bool(isinf(number_arg(c, 0)) != 0); }
static Value math_isnan(BuiltinCall *c) { return value_bool(isnan(number_arg(c, 0)) != 0); }

static Value math_gcd(BuiltinCall *c)
{
    int64_t g = 0;
    for (int i = 0; i < c->nrest; i++)
        g = gcd_of(g, to_int(c->ev, c->span, &c->rest[i], "math.gcd"));
    return value_int(g);
}

static Value math_lcm(BuiltinCall *c)
{
    int64_t l = 1;
    for (int i = 0; i < c->nrest; i++) {
        int64_t n = to_int(c->ev, c->span, &c->rest[i], "math.lcm"), g = gcd_of(l, n);
        if (n == 0)
            return value_int(0);
        if (__builtin_mul_overflow(l, n / g, &l))
            diag_fail(c->ev->diag, c->span, "this int does not fit in 64 bits [int-too-big]");
    }
    return value_int(l < 0 ? -l : l);
}

static Value math_isqrt(BuiltinCall *c)
{
    int64_t n = to_int(c->ev, c->span, &c->arg[0], "math.isqrt");
    if (n < 0)
        diag_fail(c->ev->diag, c->span, "math.isqrt of a negative number [math-domain]");
    int64_t r = (int64_t)sqrt((double)n);
    while (r > 0 && r > n / r)
        r--;
    while ((r + 1) <= n / (r + 1))
        r++;
    return value_int(r);
}

static Value math_prod(BuiltinCall *c)
{
    Value *item, total = c->arg[1];
    int n = value_items(c->ev, c->arg_span[0], &c->arg[0], &item, "math.prod");
    for (int i = 0; i < n; i++)
        total = eval_binary(c->ev, c->span, TK_MUL, &total, &item[i]);
    return total;
}

/* ---- itertools, functools, operator ---------------------------------------------------------- */

static void product_level(BuiltinCall *c, Value **items, const int *count, int n, int level,
                          Value *row, Value *out)
{
    if (level == n) {
        eval_work(c->ev, c->span, (uint64_t)n + 1);
        Value t = value_seq(c->ev, V_TUPLE, row, n);
        seq_push(c->ev, out->u.seq, &t);
        return;
    }
    for (int i = 0; i < count[level]; i++) {
        row[level] = items[level][i];
        product_level(c, items, count, n, level + 1, row, out);
    }
}

static Value tools_product(BuiltinCall *c)
{
    int64_t repeat = to_int(c->ev, c->span, &c->arg[1], "itertools.product: 'repeat'");
    if (repeat < 0 || repeat * c->nrest > 64)
        diag_fail(c->ev->diag, c->span, "itertools.product of too many iterables [too-much-work]");
    int n = (int)repeat * c->nrest;
    Value *items[64], row[64], out = value_seq(c->ev, V_LIST, NULL, 0);
    int count[64];
    for (int i = 0; i < n; i++)
        count[i] =
            value_items(c->ev, c->span, &c->rest[i % c->nrest], &items[i], "itertools.product");
    product_level(c, items, count, n, 0, row, &out);
    return out;
}

static Value tools_chain(BuiltinCall *c)
{
    Value *item, out = value_seq(c->ev, V_LIST, NULL, 0);
    for (int i = 0; i < c->nrest; i++) {
        int n = value_items(c->ev, c->span, &c->rest[i], &item, "itertools.chain");
        for (int k = 0; k < n; k++)
            seq_push(c->ev, out.u.seq, &item[k]);
    }
    return out;
}

static Value tools_reduce(BuiltinCall *c)
{
    Value *item;
    int n = value_items(c->ev, c->arg_span[1], &c->arg[1], &item, "functools.reduce"), i = 0;
    if (n == 0 && !c->nrest)
        diag_fail(c->ev->diag, c->span, "functools.reduce of nothing [empty]");
    Value acc = c->nrest ? c->rest[0] : item[i++];
    for (; i < n; i++) {
        Value both[2] = {acc, item[i]};
        acc = call_values(c->ev, c->span, &c->arg[0], both, 2);
    }
    return acc;
}

/* self: a tuple of the function, a list of arguments and a dict of keywords */
static Value partial_call(BuiltinCall *c)
{
    const Value *self = c->arg[0].u.seq->at;
    Value at = value_seq(c->ev, V_LIST, self[1].u.seq->at, self[1].u.seq->n);
    Value keys = value_seq(c->ev, V_DICT, self[2].u.seq->at, self[2].u.seq->n);
    for (int i = 0; i < c->nrest; i++)
        seq_push(c->ev, at.u.seq, &c->rest[i]);
    const Value *more = &c->arg[2];
    for (int i = 0; i + 1 < more->u.seq->n; i += 2)
        dict_set(c->ev, &keys, &more->u.seq->at[i], &more->u.seq->at[i + 1]);
    int n = at.u.seq->n, nkey = keys.u.seq->n / 2;
    CallArgs args = {.span = c->span, .n = n, .at = at.u.seq->at, .nkey = nkey};
    args.spans = NEWN(c->ev->arena, Span, n + 1);
    args.key = NEWN(c->ev->arena, const char *, nkey + 1);
    args.val = NEWN(c->ev->arena, Value, nkey + 1);
    for (int i = 0; i < n; i++)
        args.spans[i] = c->span;
    for (int i = 0; i < nkey; i++) {
        const Value *key = &keys.u.seq->at[2 * i];
        args.key[i] = name_intern(c->ev->names, key->u.s.text, key->u.s.len);
        args.val[i] = keys.u.seq->at[2 * i + 1];
    }
    return eval_call(c->ev, c->span, &self[0], &args);
}

static const Builtin partial_row = {"partial", "self, *args, **keys", partial_call, "", "python",
                                    ""};

static Value tools_partial(BuiltinCall *c)
{
    Value part[3] = {c->arg[0], value_seq(c->ev, V_LIST, c->rest, c->nrest), c->arg[2]};
    Value self = value_seq(c->ev, V_TUPLE, part, 3);
    return value_method(c->ev, &self, &partial_row, NULL);
}

static Value operator_of(BuiltinCall *c)
{
    static const struct { const char *name; TokenKind op; } ops[] = {
        {"add", TK_ADD}, {"sub", TK_SUB}, {"mul", TK_MUL}, {"truediv", TK_DIV},
        {"floordiv", TK_FLOORDIV}, {"mod", TK_MOD}, {"and_", TK_BITAND}, {"or_", TK_BITOR},
        {"xor", TK_BITXOR},
    };
    for (int i = 0; i < COUNT(ops); i++)
        if (!strcmp(ops[i].name, c->b->name))
            return eval_binary(c->ev, c->span, ops[i].op, &c->arg[0], &c->arg[1]);
    unreachable();
}

/* ---- decorators ------------------------------------------------------------------------------ */

/* A decorator that changes nothing, with or without arguments. */
static Value keep_as_is(BuiltinCall *c)
{
    if (c->nrest == 1 && (c->rest[0].kind == V_FUNCTION || c->rest[0].kind == V_CLASS ||
                          c->rest[0].kind == V_FUNC || c->rest[0].kind == V_METHOD))
        return c->rest[0];
    return (Value){.kind = V_BUILTIN, .u.builtin = c->b};
}

static Value jit_apply(Eval *ev, Span at, const Value *v, const Value *options)
{
    if (v->kind == V_FUNC || v->kind == V_OPAQUE)
        return *v;
    if (v->kind != V_FUNCTION)
        diag_fail(ev->diag, at, "tilelang.jit needs a function, not %s [decorator]",
                  value_kind_name(v));
    Function *fn = NEW(ev->arena, Function);
    *fn = *v->u.func;
    if (fn->kind == FN_PLAIN)
        fn->kind = FN_JIT;
    fn->options = *options;
    return value_function(fn);
}

static Value jit_with(BuiltinCall *c) /* the second half of @tilelang.jit(out_idx=…) */
{
    return jit_apply(c->ev, c->span, &c->arg[1], &c->arg[0]);
}

static const Builtin jit_row = {"jit", "options, func", jit_with, "", "python", ""};

static void ignored_option(BuiltinCall *c, const char *name, const Value *v)
{
    if (v->kind != V_NONE && !strcmp(name, "target_host"))
        diag_ignored(c->ev->diag, c->span, name, "the part of a kernel that runs on the host is "
                     "built for this machine [ignored]");
}

static void check_options(BuiltinCall *c, const Value *options)
{
    static const char *const known[] = {"out_idx", "target", "target_host", "execution_backend",
                                        "verbose", "pass_configs", "debug_root_path",
                                        "compile_flags", "cache", "mode"};
    for (int i = 0; options->kind == V_DICT && i < options->u.seq->n; i += 2) {
        const Value *key = &options->u.seq->at[i];
        const char *name = key->kind == V_STR ? key->u.s.text : NULL, *near;
        bool is_known = false;
        for (int j = 0; j < COUNT(known); j++)
            is_known |= name && !strcmp(name, known[j]);
        if (is_known)
            ignored_option(c, name, &options->u.seq->at[i + 1]);
        if (is_known || !name)
            continue;
        near = nearest_name(name, known, COUNT(known));
        if (near)
            diag_fail(c->ev->diag, c->span, "tilelang.jit has no argument '%s'; did you mean '%s'? "
                      "[argument-name]", name, near);
        diag_fail(c->ev->diag, c->span, "tilelang.jit has no argument '%s' [argument-name]", name);
    }
}

static Value jit_decorator(BuiltinCall *c)
{
    check_options(c, &c->arg[1]);
    if (c->arg[0].kind != V_NONE)
        return jit_apply(c->ev, c->span, &c->arg[0], &c->arg[1]);
    return value_method(c->ev, &c->arg[1], &jit_row, NULL);
}

static Value tensor_decorator(BuiltinCall *c)
{
    if (c->arg[0].kind == V_NONE)
        return (Value){.kind = V_BUILTIN, .u.builtin = c->b};
    if (c->arg[0].kind != V_FUNCTION)
        diag_fail(c->ev->diag, c->span, "tl.tensor_program needs a function, not %s [decorator]",
                  value_kind_name(&c->arg[0]));
    Function *fn = NEW(c->ev->arena, Function);
    *fn = *c->arg[0].u.func;
    fn->kind = FN_TENSOR;
    return value_function(fn);
}

/* tilelang.compile(func, out_idx=…): what is compiled is the function itself. */
static Value compile_call(BuiltinCall *c)
{
    if (c->arg[0].kind == V_FUNC)
        mark_outputs(c->ev, c->span, c->arg[0].u.irfunc, &c->arg[1]);
    if (c->arg[0].kind == V_FUNC || c->arg[0].kind == V_FUNCTION)
        return c->arg[0];
    return value_opaque(c->ev, "tilelang.compile()");
}

static Value data_type(BuiltinCall *c)
{
    DType t;
    int lanes;
    to_dtype(c->ev, c->arg_span[0], &c->arg[0], &t, &lanes, "DataType");
    return value_dtype(t, lanes);
}

typedef struct {
    const char *module;
    Builtin b;
} ModuleRow;

static const ModuleRow rows[] = {
#define ROW(module, name, signature, run) {module, {name, signature, run, "", "python", ""}}
    ROW("math", "sqrt", "x", math_one), ROW("math", "log2", "x", math_one),
    ROW("math", "log10", "x", math_one), ROW("math", "log1p", "x", math_one),
    ROW("math", "exp", "x", math_one), ROW("math", "exp2", "x", math_one),
    ROW("math", "sin", "x", math_one), ROW("math", "cos", "x", math_one),
    ROW("math", "tan", "x", math_one), ROW("math", "tanh", "x", math_one),
    ROW("math", "sinh", "x", math_one), ROW("math", "cosh", "x", math_one),
    ROW("math", "asin", "x", math_one), ROW("math", "acos", "x", math_one),
    ROW("math", "atan", "x", math_one), ROW("math", "fabs", "x", math_one),
    ROW("math", "erf", "x", math_one), ROW("math", "log", "x, base=None", math_log),
    ROW("math", "ceil", "x", math_ceil), ROW("math", "floor", "x", math_floor),
    ROW("math", "trunc", "x", math_trunc), ROW("math", "pow", "x, y", math_pow),
    ROW("math", "atan2", "y, x", math_atan2), ROW("math", "isinf", "x", math_isinf),
    ROW("math", "isnan", "x", math_isnan), ROW("math", "gcd", "*args", math_gcd),
    ROW("math", "lcm", "*args", math_lcm), ROW("math", "isqrt", "n", math_isqrt),
    ROW("math", "prod", "x, start=1", math_prod),
    ROW("itertools", "product", "*args, repeat=1", tools_product),
    ROW("itertools", "chain", "*args", tools_chain),
    ROW("functools", "reduce", "f, x, *initial", tools_reduce),
    ROW("functools", "partial", "f, *args, **keys", tools_partial),
    ROW("functools", "lru_cache", "*args, **keys", keep_as_is),
    ROW("functools", "cache", "*args, **keys", keep_as_is),
    ROW("functools", "wraps", "*args, **keys", keep_as_is),
    ROW("dataclasses", "dataclass", "*args, **keys", keep_as_is),
    ROW("operator", "add", "a, b", operator_of), ROW("operator", "sub", "a, b", operator_of),
    ROW("operator", "mul", "a, b", operator_of), ROW("operator", "truediv", "a, b", operator_of),
    ROW("operator", "floordiv", "a, b", operator_of), ROW("operator", "mod", "a, b", operator_of),
    ROW("operator", "and_", "a, b", operator_of), ROW("operator", "or_", "a, b", operator_of),
    ROW("operator", "xor", "a, b", operator_of),
    ROW("tilelang", "jit", "func=None, **options", jit_decorator),
    ROW("tilelang.jit", "jit", "func=None, **options", jit_decorator),
    ROW("tilelang", "lazy_jit", "func=None, **options", jit_decorator),
    ROW("tilelang", "autotune", "*args, **keys", keep_as_is),
    ROW("tilelang.autotuner", "autotune", "*args, **keys", keep_as_is),
    ROW("tilelang.autotuner", "jit", "func=None, **options", jit_decorator),
    ROW("tilelang", "tensor_program", "func=None, *, target=None", tensor_decorator),
    ROW("tilelang", "DataType", "x", data_type),
    ROW("tilelang", "compile", "func, out_idx=None, *rest, **options", compile_call),
#undef ROW
};

static const struct { const char *name; double v; } numbers[] = { /* of math */
    {"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}, {"inf", INFINITY},
    {"nan", NAN}, {"tau", 6.28318530717958647692},
};

void python_import_all(Eval *ev, Scope *s, const char *module)
{
    for (int i = 0; i < COUNT(rows); i++) {
        Value v = {.kind = V_BUILTIN, .u.builtin = &rows[i].b};
        if (!strcmp(rows[i].module, module))
            scope_set(ev, s, rows[i].b.name, &v);
    }
    for (int i = 0; i < COUNT(numbers) && !strcmp(module, "math"); i++) {
        Value v = value_float(numbers[i].v);
        scope_set(ev, s, numbers[i].name, &v);
    }
}

Value python_attr(Eval *ev, Span at, const char *module, const char *name)
{
    (void)at;
    (void)ev;
    for (int i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].module, module) && !strcmp(rows[i].b.name, name))
            return (Value){.kind = V_BUILTIN, .u.builtin = &rows[i].b};
    if (!strcmp(module, "math") || !strcmp(module, "tilelang"))
        for (int i = 0; i < COUNT(numbers); i++)
            if (!strcmp(numbers[i].name, name))
                return value_float(numbers[i].v);
    return (Value){0};
}

Value decorate(Eval *ev, Scope *s, const Ast *e, const Value *v)
{
    /* @x.setter and the like add to what stands already */
    if (e->kind == AST_ATTR && e->kid[0]->kind == AST_NAME && scope_find(s, e->kid[0]->name) &&
        scope_find(s, e->kid[0]->name)->kind == V_FUNCTION)
        return *scope_find(s, e->kid[0]->name);
    Value d = eval_expr(ev, s, e);
    if (d.kind == V_OPAQUE)
        return *v;
    return call_values(ev, e->span, &d, v, 1);
}
