/* builtin_type.c -- dtypes, casts, tensor annotations and tensors over pointers. */
#include "front/builtin.h"

#include <math.h>

/* ---- casts ----------------------------------------------------------------------------------- */

static const Expr *number(Ir *ir, DType t, const Value *v)
{
    if (dtype_is_float(t))
        return expr_float(ir, t, value_number(v));
    if (v->kind == V_FLOAT)
        return expr_const(ir, t, num_from_float(t, v->u.f));
    return expr_const(ir, t, t == DT_BOOL ? v->u.i != 0 : num_wrap(t, v->u.i));
}

/* Addresses convert to and from 64-bit integers only. */
static const Expr *cast_address(Eval *ev, Span at, DType t, const Expr *e, const char *what)
{
    DType from = (DType)e->type;
    if (from == t)
        return e;
    DType other = from == DT_HANDLE ? t : from;
    if (!dtype_is_int(other) || e->lanes != 1)
        diag_fail(ev->diag, at, "%s: an address is no %s [argument-type]", what, dtype_name(other));
    if (from == DT_HANDLE)
        return expr_cast(ev->ir, t, expr_bitcast(ev->ir, DT_U64, 1, e));
    return expr_bitcast(ev->ir, t, 1, expr_cast(ev->ir, DT_U64, e));
}

const Expr *cast_value(Eval *ev, Span at, DType t, int lanes, const Value *v, const char *what)
{
    Ir *ir = ev->ir;
    const Expr *e;
    if (value_is_number(v) && t != DT_HANDLE) {
        e = number(ir, t, v);
    } else {
        e = to_expr(ev, at, v, what);
        if (e->type == DT_HANDLE || t == DT_HANDLE)
            e = cast_address(ev, at, t, e, what);
        else
            e = expr_cast(ir, t, e);
    }
    if (lanes > 1 && e->lanes == 1)
        e = expr_broadcast(ir, e, lanes);
    if (e->lanes != lanes)
        diag_fail(ev->diag, at, "%s has %d lanes, not %d [argument-type]", what, e->lanes, lanes);
    return e;
}

/* A constant of a type that was asked for keeps it beside other operands, int32 too. */
static Value typed(const Expr *e)
{
    return (Value){.kind = V_EXPR, .u.expr = e};
}

/* Only to nearest even; the other modes are those of newer hardware. */
static void check_rounding(const BuiltinCall *c, const char *mode)
{
    static const char *const modes[] = {"", "rn", "rz", "rp", "rm", "rs"};
    bool known = false, stochastic = !strcmp(mode, "rs");

    for (int i = 0; i < COUNT(modes); i++)
        known |= !strcmp(mode, modes[i]);
    if (!known)
        arg_fail(c, 2, "Invalid round: '%s'; there are rn, rz, rp, rm and rs [rounding-mode]",
                 mode);
    if (stochastic && !arg_given(c, 4))
        call_fail(c, "rbits is required with round='rs' [rounding-mode]");
    if (!stochastic && arg_given(c, 4))
        call_fail(c, "rbits is only valid with round='rs' [rounding-mode]");
    if (mode[0] && strcmp(mode, "rn"))
        arg_fail(c, 2, "'%s' is not supported; casts round to nearest even [unsupported-here]",
                 mode);
}

static bool saturates(DType t)
{
    return dtype_is_float(t) && dtype_bits(t) <= 8;
}

Value do_cast(BuiltinCall *c)
{
    int lanes;
    DType t = arg_dtype(c, 1, &lanes);
    const char *mode = arg_given(c, 2) ? arg_text(c, 2) : "";
    check_rounding(c, mode ? mode : "");
    if (c->arg[3].kind != V_BOOL)
        call_fail(c, "Invalid sat: it is True or False [rounding-mode]");
    const Expr *e = cast_value(c->ev, c->arg_span[0], t, lanes, &c->arg[0], call_what(c, 0));
    if (!c->arg[3].u.i && saturates(t) && !expr_is_const(e))
        arg_fail(c, 3, "is False: casts to %s saturate [unsupported-here]", dtype_name(t));
    return typed(e);
}

Value do_cast_node(BuiltinCall *c)
{
    int lanes;
    DType t = arg_dtype(c, 0, &lanes);
    return typed(cast_value(c->ev, c->arg_span[1], t, lanes, &c->arg[1], call_what(c, 1)));
}

/* (value, dtype); the old order (dtype, value) is taken too. */
Value do_reinterpret(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int v = c->arg[0].kind == V_DTYPE || c->arg[0].kind == V_STR ? 1 : 0, lanes;
    DType t = arg_dtype(c, 1 - v, &lanes);
    const Expr *e = arg_expr(c, v);
    int have = dtype_bits(e->type) * e->lanes, want = dtype_bits(t) * lanes;
    if (have != want && lanes == 1 && have % dtype_bits(t) == 0) {
        lanes = have / dtype_bits(t);
        want = have;
    }
    if (have != want)
        arg_fail(c, v, "has %d bits, %s has %d [reinterpret-size]", have, dtype_name(t), want);
    return value_expr(c->ev, expr_bitcast(ir, t, lanes, e));
}

/* ---- T.float32(x), T.dtype("float16") -------------------------------------------------------- */

/* Without a value it stands for the class of types, as in an annotation. */
Value do_dtype(BuiltinCall *c)
{
    int lanes;
    if (!arg_given(c, 0))
        return (Value){.kind = V_BUILTIN, .u.builtin = c->b};
    DType t = arg_dtype(c, 0, &lanes);
    return value_dtype(t, lanes);
}

/* T.float32("inf"), as Python's float() reads it. */
static bool special_text(const char *s, double *v)
{
    bool minus = s[0] == '-';
    s += minus || s[0] == '+';
    if (!strcmp(s, "inf") || !strcmp(s, "infinity"))
        *v = minus ? -INFINITY : INFINITY;
    else if (!strcmp(s, "nan"))
        *v = NAN;
    else
        return false;
    return true;
}

Value dtype_call(Eval *ev, Span at, const Value *dtype, const CallArgs *args)
{
    Ir *ir = ev->ir;
    DType t = dtype->dtype;
    int lanes = MAX(dtype->lanes, 1);
    const char *name = arena_printf(ev->arena, "T.%s", dtype_name(t));
    if (lanes > 1)
        name = arena_printf(ev->arena, "%sx%d", name, lanes);
    double special;
    if (args->nkey > 0 && !(args->nkey == 1 && !strcmp(args->key[0], "is_size_var")))
        diag_fail(ev->diag, args->key_spans[0], "%s has no argument '%s' [argument-name]", name,
                  args->key[0]);
    if (args->n == 0) {
        Var *v = var_new(ir, "v", t, at);
        v->open = true;
        return value_expr(ev, expr_var(ir, v));
    }
    if (args->n == 1 && value_text(&args->at[0]) && dtype_is_float(t) &&
        special_text(value_text(&args->at[0]), &special)) {
        if (isinf(special) && !dtype_has_inf(t))
            diag_fail(ev->diag, at, "%s has no infinity [infinity-type]", name);
        return value_expr(ev, expr_float(ir, t, special));
    }
    if (args->n == 1)
        return typed(cast_value(ev, args->spans[0], t, lanes, &args->at[0], name));
    if (args->n != lanes)
        diag_fail(ev->diag, args->spans[1], "%s takes %s%d value%s, not %d [argument-count]", name,
                  lanes > 1 ? "1 or " : "", lanes, lanes == 1 ? "" : "s", args->n);
    const Expr **lane = NEWN(ev->arena, const Expr *, lanes);
    for (int i = 0; i < lanes; i++)
        lane[i] = cast_value(ev, args->spans[i], t, 1, &args->at[i], name);
    return value_expr(ev, expr_vector(ir, lane, lanes));
}

static const Value unbound = {.kind = V_UNBOUND};

Value dtype_attr(Eval *ev, const Value *v, const char *name)
{
    DType t = v->dtype;
    int lanes = MAX(v->lanes, 1);
    if (!strcmp(name, "bits"))
        return value_int(dtype_bits(t));
    if (!strcmp(name, "bytes") || !strcmp(name, "itemsize"))
        return value_int(dtype_bytes(t, lanes));
    if (!strcmp(name, "lanes"))
        return value_int(lanes);
    if (!strcmp(name, "type_code"))
        return value_int(dtype_is_float(t) ? 2 : dtype_is_unsigned(t) ? 1 : 0);
    if (!strcmp(name, "as_torch") || !strncmp(name, "is_", 3)) {
        const char *row = arena_printf(ev->arena, "dtype.%s", name);
        return builtin_find(row) ? method_of(ev, v, row) : unbound;
    }
    return unbound;
}

static const Value *self_dtype(const BuiltinCall *c)
{
    if (c->arg[0].kind != V_DTYPE)
        arg_fail(c, 0, "must be a dtype, not %s [argument-type]", value_kind_name(&c->arg[0]));
    return &c->arg[0];
}

Value do_dtype_is_float(BuiltinCall *c) { return value_bool(dtype_is_float(self_dtype(c)->dtype)); }
Value do_dtype_is_int(BuiltinCall *c) { return value_bool(dtype_is_int(self_dtype(c)->dtype)); }

Value do_dtype_as_torch(BuiltinCall *c)
{
    Value v = value_str(c->ev, "", 0);
    v.u.s.text = arena_printf(c->ev->arena, "torch.%s", dtype_name(self_dtype(c)->dtype));
    v.u.s.len = strlen(v.u.s.text);
    v.kind = V_OPAQUE;
    return v;
}

/* T.is_float4(t) and the like, and the methods t.is_float4(). */
Value do_dtype_is_family(BuiltinCall *c)
{
    int lanes;
    DType t = arg_dtype(c, 0, &lanes);
    const char *name = strrchr(c->b->name, '.') ? strrchr(c->b->name, '.') + 1 : c->b->name;
    int bits = dtype_is_float(t) ? dtype_bits(t) : 0;
    bool float6 = t == DT_E2M3 || t == DT_E3M2;
    if (!strcmp(name, "is_float8"))
        return value_bool(bits == 8 && !float6 && t != DT_E2M1B);
    if (!strcmp(name, "is_float6"))
        return value_bool(float6);
    if (!strcmp(name, "is_float4_e2m1_unpacked"))
        return value_bool(t == DT_E2M1B);
    if (!strcmp(name, "is_float4_e2m1fn"))
        return value_bool(t == DT_E2M1);
    if (!strcmp(name, "is_f8f6f4_family"))
        return value_bool(bits > 0 && bits <= 8);
    return value_bool(bits == 4 || t == DT_E2M1B);
}

/* ---- annotations of tensors ------------------------------------------------------------------ */

static Value spec_value(TensorSpec *s)
{
    return (Value){.kind = V_TENSOR, .u.spec = s};
}

static TensorSpec *spec_new(BuiltinCall *c, int shape, int dtype, MemScope scope)
{
    TensorSpec *s = NEW(c->ev->arena, TensorSpec);
    Value v[RANK_MOST];
    s->dtype = arg_dtype(c, dtype, &s->lanes);
    s->scope = scope;
    s->rank = to_shape_least(c->ev, c->arg_span[shape], &c->arg[shape], v,
                             scope == MEM_GLOBAL ? 0 : 1, call_what(c, shape));
    s->shape = NEWN(c->ev->arena, Value, s->rank + 1);
    for (int d = 0; d < s->rank; d++) {
        if (v[d].kind == V_INT && v[d].u.i < 0)
            arg_fail(c, shape, "has a negative extent: %lld [tile-shape]", (long long)v[d].u.i);
        s->shape[d] = v[d];
    }
    return s;
}

static Value over_pointer(BuiltinCall *c, const Expr *base, DType t, int n,
                          const Expr *const *shape)
{
    if (base->op != EX_VAR)
        base = trace_let(c->ev, c->span, "base", base);
    const TensorSpec *of = map_get(&c->ev->trace->pointers, base->u.var);
    if (of && of->dtype != DT_HANDLE && of->dtype != t)
        diag_warn(c->ev->diag, c->span, "%s: '%s' is annotated as an address of %s, and this "
                  "tensor is of %s [pointer-type]", call_title(c), base->u.var->name,
                  dtype_name(of->dtype), dtype_name(t));
    Buffer *b = derived_buffer(c, t, MEM_GLOBAL, n, shape);
    b->pointer = base->u.var;
    return value_buffer(b);
}

/* With data= it is no annotation but the same storage in another shape: T.Tensor(s, t, A.data). */
Value do_tensor(BuiltinCall *c)
{
    const Expr *shape[RANK_MOST];
    TensorSpec *s = spec_new(c, 0, 1, arg_scope(c, 3, MEM_GLOBAL));
    if (!arg_given(c, 2))
        return spec_value(s);
    for (int d = 0; d < s->rank; d++)
        shape[d] = to_expr(c->ev, c->arg_span[0], &s->shape[d], call_what(c, 0));
    const Value *data = &c->arg[2];
    if (data->kind == V_BUFFER)
        return make_view(c, data->u.buf, s->rank, shape, s->dtype);
    const Expr *e = arg_expr(c, 2);
    if (e->op == EX_ADDR)
        return make_view(c, e->u.buf, s->rank, shape, s->dtype);
    if (e->type != DT_HANDLE)
        arg_fail(c, 2, "must be the storage of a tensor, as in A.data [argument-type]");
    return over_pointer(c, e, s->dtype, s->rank, shape);
}

Value do_strided_tensor(BuiltinCall *c)
{
    Value v[RANK_MOST];
    TensorSpec *s = spec_new(c, 0, 2, arg_scope(c, 3, MEM_GLOBAL));
    int n = to_shape(c->ev, c->arg_span[1], &c->arg[1], v, call_what(c, 1));
    if (n != s->rank)
        arg_fail(c, 1, "has %d entries for %d dimensions [tile-shape]", n, s->rank);
    s->stride = NEWN(c->ev->arena, Value, n + 1);
    memcpy(s->stride, v, sizeof *v * (size_t)n);
    return spec_value(s);
}

Value do_fragment_buffer(BuiltinCall *c) { return spec_value(spec_new(c, 0, 1, MEM_FRAGMENT)); }
Value do_shared_buffer(BuiltinCall *c) { return spec_value(spec_new(c, 0, 1, MEM_SHARED)); }
Value do_local_buffer(BuiltinCall *c) { return spec_value(spec_new(c, 0, 1, MEM_LOCAL)); }

Value do_ptr(BuiltinCall *c)
{
    TensorSpec *s = NEW(c->ev->arena, TensorSpec);
    s->dtype = arg_given(c, 0) ? arg_dtype(c, 0, &s->lanes) : DT_HANDLE;
    s->scope = arg_scope(c, 1, MEM_GLOBAL);
    if (s->scope != MEM_GLOBAL)
        arg_fail(c, 1, "must be \"global\": a kernel is given no other addresses [scope-name]");
    if (arg_bool(c, 2))
        arg_fail(c, 2, "is for integers, an address is no size [argument-type]");
    s->is_pointer = true;
    return spec_value(s);
}

Value do_ref(BuiltinCall *c)
{
    TensorSpec *s = NEW(c->ev->arena, TensorSpec);
    if (c->arg[0].kind == V_TENSOR)
        *s = *c->arg[0].u.spec;
    else
        s->dtype = arg_dtype(c, 0, &s->lanes);
    s->is_ref = true;
    return spec_value(s);
}

/* ---- tensors over addresses ------------------------------------------------------------------ */

Value do_make_tensor(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Value v[RANK_MOST];
    const Expr *shape[RANK_MOST];
    trace_need(c->ev, c->span, call_title(c));
    const Expr *base = arg_expr(c, 0);
    if (base->type != DT_HANDLE && dtype_bits(base->type) != 64)
        arg_fail(c, 0, "must be a pointer or a 64-bit address, not %s [argument-type]",
                 dtype_name(base->type));
    if (c->narg > 4 && arg_scope(c, 4, MEM_GLOBAL) != MEM_GLOBAL)
        arg_fail(c, 4, "must be \"global\" [scope-name]");
    int n = to_shape(c->ev, c->arg_span[1], &c->arg[1], v, call_what(c, 1));
    for (int d = 0; d < n; d++)
        shape[d] = to_expr(c->ev, c->arg_span[1], &v[d], call_what(c, 1));
    DType t = arg_dtype(c, 2, NULL);
    Value made = over_pointer(c, base, t, n, shape);
    Buffer *b = made.u.buf;
    if (arg_given(c, 3)) {
        int k = to_shape(c->ev, c->arg_span[3], &c->arg[3], v, call_what(c, 3));
        if (k != n)
            arg_fail(c, 3, "has %d entries for %d dimensions [tile-shape]", k, n);
        b->stride = NEWN(ir->arena, const Expr *, n + 1);
        for (int d = 0; d < n; d++)
            b->stride[d] = to_expr(c->ev, c->arg_span[3], &v[d], call_what(c, 3));
    }
    return made;
}

/* ---- nodes that tests spell: T.IntImm, T.FloatImm, T.Var ------------------------------------- */

Value do_imm(BuiltinCall *c)
{
    DType t = arg_dtype(c, 0, NULL);
    return typed(cast_value(c->ev, c->arg_span[1], t, 1, &c->arg[1], call_what(c, 1)));
}

Value do_var(BuiltinCall *c)
{
    const char *name = arg_text(c, 0);
    DType t = arg_dtype(c, 1, NULL);
    Var *v = var_new(c->ev->ir, name ? name : "v", t, c->span);
    v->open = true;
    return value_expr(c->ev, expr_var(c->ev->ir, v));
}

Value do_astype(BuiltinCall *c)
{
    int lanes;
    DType t = arg_dtype(c, 1, &lanes);
    return typed(cast_value(c->ev, c->arg_span[0], t, lanes, &c->arg[0], call_what(c, 0)));
}

/* NVIDIA and CPU targets have the "fn" formats. */
Value do_fp8_type(BuiltinCall *c)
{
    static const char *const formats[] = {"e4m3", "e5m2", NULL};
    const char *f = arg_word(c, 0, formats, " [argument-type]");

    if (machine_has(call_machine(c), HAS_FLOAT8_FNUZ))
        return value_dtype(f == formats[0] ? DT_E4M3FNUZ : DT_E5M2FNUZ, 1);
    return value_dtype(f == formats[0] ? DT_E4M3 : DT_E5M2, 1);
}
