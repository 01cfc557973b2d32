/* builtin_alloc.c -- tiles, per-thread storage, barriers, workspaces and outputs. */
#include "front/builtin.h"

static bool scope_parse(const char *text, MemScope *s)
{
    static const struct { const char *text; MemScope scope; } table[] = {
        {"global", MEM_GLOBAL},
        {"shared", MEM_SHARED},
        {"shared.dyn", MEM_SHARED},
        {"local.fragment", MEM_FRAGMENT},
        {"fragment", MEM_FRAGMENT},
        {"local", MEM_LOCAL},
        {"local.var", MEM_VAR},
        {"local.reducer", MEM_REDUCER},
        {"shared.barrier", MEM_BARRIER},
        {"shared.cluster_barrier", MEM_CLUSTER_BARRIER},
        {"shared.tmem", MEM_TMEM},
    };
    for (int i = 0; i < COUNT(table); i++) {
        if (!strcmp(table[i].text, text)) {
            *s = table[i].scope;
            return true;
        }
    }
    return false;
}

Buffer *derived_buffer(const BuiltinCall *c, DType t, MemScope scope, int n,
                       const Expr *const *shape)
{
    Trace *tr = c->ev->trace;
    trace_need(c->ev, c->span, call_title(c));
    Buffer *b = buffer_new(c->ev->ir, "view", t, scope, n, shape, c->span);
    if (tr->kernel)
        vec_push(c->ev->ir->arena, &tr->kernel->buffers, b);
    else
        vec_push(c->ev->arena, &tr->derived, b);
    vec_push(c->ev->arena, &tr->fresh, b);
    return b;
}

MemScope arg_scope(BuiltinCall *c, int i, MemScope otherwise)
{
    MemScope s = otherwise;
    const char *text = arg_text(c, i);
    if (text && !scope_parse(text, &s))
        arg_fail(c, i, "names no memory scope: '%s' [scope-name]", text);
    return s;
}

/* Extents of an on-chip tile: known now and positive. */
static int tile_shape(BuiltinCall *c, int i, const Expr **shape)
{
    Value v[RANK_MOST];
    int n = to_shape(c->ev, c->arg_span[i], &c->arg[i], v, call_what(c, i));
    for (int d = 0; d < n; d++) {
        if (v[d].kind != V_INT)
            arg_fail(
                c, i,
                "is not known at compile time in dimension %d; tiles have constant sizes, only "
                "tensors may have others [tile-shape]",
                d);
        if (v[d].u.i <= 0)
            arg_fail(c, i, "has dimension %d of %lld elements; there must be some [tile-shape]", d,
                     (long long)v[d].u.i);
        shape[d] = expr_int(c->ev->ir, v[d].u.i);
    }
    return n;
}

static int any_shape(BuiltinCall *c, Span at, const Value *from, const Expr **shape)
{
    Value v[RANK_MOST];
    int n = to_shape(c->ev, at, from, v, call_title(c));
    for (int d = 0; d < n; d++) {
        shape[d] = to_expr(c->ev, at, &v[d], call_title(c));
        int64_t k;
        if (expr_is_int(shape[d], &k) && k < 0)
            diag_fail(c->ev->diag, at, "%s: extent %d is negative: %lld [tile-shape]",
                      call_title(c), d, (long long)k);
    }
    return n;
}

Value alloc_tile(BuiltinCall *c, MemScope scope)
{
    const Expr *shape[RANK_MOST];
    call_kernel(c);
    DType t = arg_dtype(c, 1, NULL);
    if (t == DT_HANDLE)
        t = DT_I64;
    int n = tile_shape(c, 0, shape);
    return value_buffer(trace_buffer(c->ev, c->span, t, scope, n, shape));
}

enum { PAD_MOST = 1024 };

/* pad=n: so many elements that nobody uses after each row, against conflicts of banks. */
Value do_alloc_shared(BuiltinCall *c)
{
    MemScope scope = arg_scope(c, 2, MEM_SHARED);
    int64_t shape[RANK_MOST], pad = arg_int(c, 3);
    Value v = alloc_tile(c, scope);
    Buffer *b = v.u.buf;

    if (pad < 0 || pad > PAD_MOST)
        arg_fail(c, 3, "must be from 0 to %d elements, not %lld [argument-type]", PAD_MOST,
                 (long long)pad);
    if (pad && scope != MEM_SHARED)
        arg_fail(c, 3, "is for shared tiles, not for %s [argument-type]", mem_name(scope));
    if (pad && b->rank > 1 && buffer_static_shape(b, shape)) {
        BufferPlan *p = buffer_plan(call_kernel(c), b);
        p->layout = layout_padded(c->ev->ir, b->rank, shape, pad);
        p->pinned = true;
    }
    return v;
}

Value do_alloc_fragment(BuiltinCall *c) { return alloc_tile(c, arg_scope(c, 2, MEM_FRAGMENT)); }

/* Elements may be vectors ("float16x2"): their lanes are one more dimension, which only a view by
 * T.view shows. */
Value do_alloc_local(BuiltinCall *c)
{
    const Expr *shape[RANK_MOST];
    MemScope scope = arg_scope(c, 2, MEM_LOCAL);
    int lanes = 1;
    DType t = arg_dtype(c, 1, &lanes);

    if (lanes == 1 || scope != MEM_LOCAL)
        return alloc_tile(c, scope);
    call_kernel(c);
    int n = tile_shape(c, 0, shape);
    if (n == RANK_MOST)
        arg_fail(c, 0, "has too many dimensions for elements of %d lanes [tile-shape]", lanes);
    shape[n++] = expr_int(c->ev->ir, lanes);
    Value v = value_buffer(trace_buffer(c->ev, c->span, t, scope, n, shape));
    v.u.buf->lanes = lanes;
    return v;
}

/* T.alloc_var(dtype), (dtype, init), (dtype, "scope"), (dtype, init, "scope"). */
/* A variable of several lanes: all of a small array, as a place that a name may stand for. */
static Value vector_variable(BuiltinCall *c, DType t, int lanes, const Value *init)
{
    Ir *ir = c->ev->ir;
    const Expr *n = expr_int(ir, lanes), *value = expr_broadcast(ir, expr_zero(ir, t), lanes);
    Region *r = NEW(c->ev->arena, Region);

    if (init->kind != V_NONE)
        value = cast_value(c->ev, c->span, t, lanes, init,
                           arena_printf(c->ev->arena, "%s: the initial value", call_title(c)));
    *r = region_whole(ir, trace_buffer(c->ev, c->span, t, MEM_LOCAL, 1, &n));
    for (int i = 0; i < lanes; i++) {
        const Expr *at = expr_int(ir, i);
        call_emit(c, stmt_store(ir, c->span, r->buf, &at, 1, expr_lane(ir, value, i)));
    }
    const Expr **at = NEWN(c->ev->arena, const Expr *, 1);
    at[0] = expr_ramp(ir, expr_int(ir, 0), expr_int(ir, 1), lanes);
    r->at = at;
    return (Value){.kind = V_REGION, .is_element = true, .is_ref = true, .u.region = r};
}

Value do_alloc_var(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int lanes;
    call_kernel(c);
    DType t = arg_dtype(c, 0, &lanes);
    if (t == DT_HANDLE)
        t = DT_I64;
    Value init = c->arg[3];
    MemScope scope = arg_scope(c, 2, MEM_VAR);
    if (c->nrest > 2)
        call_fail(c, "takes a dtype, an initial value and a scope, not %d arguments "
                  "[argument-count]", c->nrest + 1);
    for (int i = 0; i < c->nrest; i++) {
        const char *text = value_text(&c->rest[i]);
        if (text && !scope_parse(text, &scope))
            call_fail(c, "'%s' names no memory scope [scope-name]", text);
        if (!text && init.kind != V_NONE)
            call_fail(c, "the initial value is given twice [argument-name]");
        if (!text)
            init = c->rest[i];
    }
    if (scope != MEM_VAR && scope != MEM_LOCAL)
        call_fail(c, "a variable lives in local.var, not in %s [scope-name]", mem_name(scope));
    if (lanes > 1)
        return vector_variable(c, t, lanes, &init);
    const Expr *value = expr_zero(ir, t);
    if (init.kind == V_FLOAT && dtype_is_float(t) && init.u.f - init.u.f == 0 &&
        (init.u.f > dtype_max(t) || init.u.f < dtype_min(t)))
        call_fail(c, "the initial value %g exceeds maximum of %s [init-range]", init.u.f,
                  dtype_name(t));
    if (init.kind != V_NONE)
        value = cast_value(c->ev, c->span, t, 1, &init,
                           arena_printf(c->ev->arena, "%s: the initial value", call_title(c)));
    Buffer *b = trace_buffer(c->ev, c->span, t, MEM_VAR, 0, NULL);
    call_emit(c, stmt_store(ir, c->span, b, NULL, 0, value));
    return value_buffer(b);
}

static Value barrier(BuiltinCall *c, MemScope scope)
{
    Ir *ir = c->ev->ir;
    call_kernel(c);
    const Value *v = &c->arg[0];
    int n = value_is_seq(v) ? v->u.seq->n : 1;
    const Value *at = value_is_seq(v) ? v->u.seq->at : v;
    if (n == 0)
        arg_fail(c, 0, "names no barrier [argument-type]");
    const Expr **arrive = NEWN(c->ev->arena, const Expr *, n);
    for (int i = 0; i < n; i++) {
        int64_t k = to_int(c->ev, c->arg_span[0], &at[i], call_what(c, 0));
        if (k <= 0)
            arg_fail(c, 0, "must be positive, not %lld [argument-type]", (long long)k);
        arrive[i] = expr_int(ir, k);
    }
    const Expr *shape[1] = {expr_int(ir, n)};
    Buffer *b = trace_buffer(c->ev, c->span, DT_U64, scope, 1, shape);
    b->arrive = arrive;
    return value_buffer(b);
}

Value do_alloc_barrier(BuiltinCall *c) { return barrier(c, MEM_BARRIER); }
Value do_alloc_cluster_barrier(BuiltinCall *c) { return barrier(c, MEM_CLUSTER_BARRIER); }

Value do_alloc_reducer(BuiltinCall *c)
{
    static const char *const ops[] = {"sum", "max", "min", "bitand", "bitor", "bitxor", NULL};
    static const char *const kinds[] = {"all", "none", NULL};
    const char *op = arg_word(c, 2, ops, " [reduce-op]");
    if (arg_given(c, 3) && arg_word(c, 3, kinds, " [argument-type]") == kinds[1])
        diag_ignored(c->ev->diag, c->span, "the exchange between threads", "replication=\"none\": "
                     "every thread holds what it contributes [ignored]");
    Value v = alloc_tile(c, MEM_REDUCER);
    if (!strncmp(op, "bit", 3) && !dtype_is_int(v.u.buf->type))
        arg_fail(c, 1, "must be an integer dtype for op \"%s\", not %s [reducer-dtype]", op,
                 dtype_name(v.u.buf->type));
    v.u.buf->reducer = op;
    return v;
}

Value do_alloc_global(BuiltinCall *c)
{
    const Expr *shape[RANK_MOST];
    trace_need(c->ev, c->span, call_title(c));
    if (arg_scope(c, 2, MEM_GLOBAL) != MEM_GLOBAL)
        arg_fail(c, 2, "must be \"global\"; tiles on the chip have allocators of their own "
                 "[scope-name]");
    DType t = arg_dtype(c, 1, NULL);
    int n = any_shape(c, c->arg_span[0], &c->arg[0], shape);
    return value_buffer(trace_buffer(c->ev, c->span, t, MEM_GLOBAL, n, shape));
}

/* The old spelling with a scope by name. */
Value do_alloc_buffer(BuiltinCall *c)
{
    MemScope s = arg_scope(c, 2, MEM_GLOBAL);
    if (s == MEM_GLOBAL)
        return do_alloc_global(c);
    if (s == MEM_SHARED || s == MEM_FRAGMENT || s == MEM_LOCAL || s == MEM_TMEM)
        return alloc_tile(c, s);
    arg_fail(c, 2, "has an allocator of its own for %s [scope-name]", mem_name(s));
}

/* T.empty(M, N, dtype="float16"), T.empty((M, N), "float16"). */
Value do_empty(BuiltinCall *c)
{
    const Expr *shape[RANK_MOST];
    Value dtype = c->arg[1];
    int n = c->nrest;
    trace_need(c->ev, c->span, call_title(c));
    if (n == 0)
        call_fail(c, "needs a shape [argument-count]");
    Value dims = c->rest[0];
    if (value_is_seq(&dims)) {
        if (n > 2)
            call_fail(c, "takes one shape and one dtype, not %d arguments [argument-count]", n);
        if (n == 2)
            dtype = c->rest[1];
    } else {
        dims = value_tuple(c->ev, c->rest, n);
    }
    int rank = any_shape(c, c->span, &dims, shape);
    DType t = dtype_of_value(c, c->arg_span[1], &dtype, NULL, call_what(c, 1));
    return value_buffer(trace_empty(c->ev, c->span, t, rank, shape));
}
