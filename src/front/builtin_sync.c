/* builtin_sync.c -- barriers, fences, waits, asserts, prints and early exits. */
#include "front/builtin.h"

static Value sync_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg)
{
    return call_intrin(c, which, n, arg, 0, NULL, NULL, DT_NONE);
}

/* ---- whole block ----------------------------------------------------------------------------- */

/* Plain T.sync_threads() is about the block as a whole; with an id it is a named barrier. */
Value do_sync_threads(BuiltinCall *c)
{
    const Expr *arg[2];
    int n = 0;
    if (arg_given(c, 0) || arg_given(c, 1))
        call_threads(c);
    else
        call_kernel(c);
    if (arg_given(c, 0))
        arg[n++] = arg_index(c, 0);
    if (arg_given(c, 1)) {
        if (n == 0)
            arg[n++] = expr_int(c->ev->ir, 0);
        arg[n++] = arg_index(c, 1);
    }
    return sync_call(c, INTRIN_SYNC_THREADS, n, arg);
}

Value do_storage_sync(BuiltinCall *c)
{
    static const char *const scopes[] = {"shared", "shared.dyn", "warp", "global", NULL};
    const char *s = arg_word(c, 0, scopes, " [scope-name]");
    if (c->nrest)
        call_fail(c, "takes a scope only; T.sync_threads(barrier_id, arrive_count) is a barrier of "
                  "some threads [argument-count]");
    call_kernel(c);
    return sync_call(c, s == scopes[2] ? INTRIN_SYNC_WARP
                        : s == scopes[3] ? INTRIN_SYNC_GRID : INTRIN_SYNC_THREADS, 0, NULL);
}

Value do_sync_warp(BuiltinCall *c)
{
    const Expr *mask = NULL;
    call_threads(c);
    if (arg_given(c, 0))
        mask = arg_index(c, 0);
    return sync_call(c, INTRIN_SYNC_WARP, mask != NULL, &mask);
}

Value do_sync_grid(BuiltinCall *c)
{
    call_kernel(c);
    return sync_call(c, INTRIN_SYNC_GRID, 0, NULL);
}

Value do_named_barrier_arrive(BuiltinCall *c)
{
    call_threads(c);
    const Expr *arg[2] = {arg_index(c, 0), arg_index(c, 1)};
    return sync_call(c, INTRIN_BARRIER_ARRIVE, 2, arg);
}

static Value vote(BuiltinCall *c, Intrin which)
{
    need_predicate(c);
    call_threads(c);
    const Expr *p = arg_bool_expr(c, 0);
    return call_intrin(c, which, 1, &p, 0, NULL, NULL, DT_I32);
}

Value do_syncthreads_count(BuiltinCall *c) { return vote(c, INTRIN_SYNC_COUNT); }
Value do_syncthreads_and(BuiltinCall *c) { return vote(c, INTRIN_SYNC_AND); }
Value do_syncthreads_or(BuiltinCall *c) { return vote(c, INTRIN_SYNC_OR); }

/* ---- mbarriers ------------------------------------------------------------------------------- */

static Region barrier_region(BuiltinCall *c, int i)
{
    bool is_element;
    Region r = arg_region(c, i, &is_element);
    if (r.buf->scope != MEM_BARRIER && r.buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, i, "must be a barrier of T.alloc_barrier, not '%s' [argument-type]",
                 r.buf->name);
    if (!is_element && !region_extent_is(&r, 0, 1))
        arg_fail(c, i, "must be one barrier: index '%s' [argument-type]", r.buf->name);
    return r;
}

static Value barrier_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg,
                          const char *text)
{
    call_threads(c);
    Region r = barrier_region(c, 0);
    return call_intrin(c, which, n, arg, 1, &r, text, DT_NONE);
}

Value do_mbarrier_wait(BuiltinCall *c)
{
    call_threads(c);
    const Expr *parity = arg_expr(c, 1);
    if (parity->type == DT_BOOL)
        parity = expr_cast(c->ev->ir, DT_I32, parity);
    else
        parity = arg_index(c, 1);
    return barrier_call(c, INTRIN_WAIT_PHASE, 1, &parity, NULL);
}

Value do_mbarrier_arrive(BuiltinCall *c)
{
    const Expr *peer = NULL;
    call_threads(c);
    if (c->narg > 1 && arg_given(c, 1))
        peer = arg_index(c, 1);
    return barrier_call(c, INTRIN_ARRIVE, peer != NULL, &peer, NULL);
}

Value do_mbarrier_expect(BuiltinCall *c)
{
    call_threads(c);
    const Expr *bytes = arg_index(c, 1);
    return barrier_call(c, INTRIN_EXPECT_BYTES, 1, &bytes, NULL);
}

Value do_mbarrier_arrive_expect(BuiltinCall *c)
{
    call_threads(c);
    const Expr *bytes = arg_index(c, 1);
    return barrier_call(c, INTRIN_ARRIVE_BYTES, 1, &bytes, NULL);
}

Value do_cp_async_barrier(BuiltinCall *c)
{
    return barrier_call(c, INTRIN_ARRIVE_COPIES, 0, NULL, NULL);
}

/* One arrival for the GEMMs issued so far, as T.tcgen05_gemm(mbar=…) makes. */
Value do_mma_arrive(BuiltinCall *c)
{
    return barrier_call(c, INTRIN_ARRIVE, 0, NULL, arg_pair(c, 1) ? "mma_pair" : "mma");
}

/* ---- groups of asynchronous work: done by the time they are issued on targets that copy at
 * once */

static const struct { const char *name; Intrin which; } plain[] = {
    {"fence_proxy_async", INTRIN_FENCE_PROXY},
    {"tma_store_arrive", INTRIN_COMMIT_STORES},
    {"ptx_commit_group", INTRIN_COMMIT_COPIES},
    {"cluster_sync", INTRIN_CLUSTER_SYNC},
    {"cluster_arrive", INTRIN_CLUSTER_ARRIVE},
    {"cluster_arrive_relaxed", INTRIN_CLUSTER_ARRIVE},
    {"cluster_wait", INTRIN_CLUSTER_WAIT},
    {"pdl_trigger", INTRIN_PDL_TRIGGER},
    {"pdl_sync", INTRIN_PDL_SYNC},
    {"sync_global", INTRIN_SYNC_GRID},
    {"warpgroup_commit_batch", INTRIN_COMMIT_MMA},
};

Value do_plain_sync(BuiltinCall *c)
{
    call_kernel(c);
    for (int i = 0; i < COUNT(plain); i++)
        if (!strcmp(plain[i].name, c->b->name))
            return sync_call(c, plain[i].which, 0, NULL);
    unreachable();
}

/* Fences that order what a tile operator already orders. */
Value do_no_effect(BuiltinCall *c)
{
    call_kernel(c);
    return value_none();
}

/* Registers of a GEMM are kept in place by the GEMM itself. */
Value do_fence_operand(BuiltinCall *c)
{
    bool is_element;
    call_kernel(c);
    Region r = arg_region(c, 0, &is_element);
    int64_t all = MAX(buffer_static_size(r.buf), 1), first = arg_int(c, 1);
    int64_t n = arg_given(c, 2) ? arg_int(c, 2) : 0;
    if (first < 0 || n < 0 || first + n > all)
        arg_fail(c, n ? 2 : 1, "reaches to register %lld; '%s' has %lld elements [slice-range]",
                 (long long)(first + n), r.buf->name, (long long)all);
    if (arg_given(c, 3) && arg_dtype(c, 3, NULL) != r.buf->type)
        arg_fail(c, 3, "must be %s, the type of '%s' [argument-type]", dtype_name(r.buf->type),
                 r.buf->name);
    return value_none();
}

static Value wait_for(BuiltinCall *c, Intrin which)
{
    call_kernel(c);
    const Expr *n = arg_index(c, 0);
    return sync_call(c, which, 1, &n);
}

Value do_wait_group(BuiltinCall *c) { return wait_for(c, INTRIN_WAIT_COPIES); }
Value do_wait_wgmma(BuiltinCall *c) { return wait_for(c, INTRIN_WAIT_MMA); }

Value do_tma_store_wait(BuiltinCall *c)
{
    call_kernel(c);
    const Expr *arg[2] = {arg_index(c, 0), expr_bool(c->ev->ir, arg_bool(c, 1))};
    return sync_call(c, INTRIN_WAIT_STORES, 2, arg);
}

/* ---- asserts, assumptions, prints ------------------------------------------------------------ */

/* A fact is an assertion called "assume": simplify takes it as known, and checking it is never
 * wrong, since a kernel that breaks it has no meaning. */
Value do_assume(BuiltinCall *c)
{
    int64_t k;
    trace_need(c->ev, c->span, call_title(c));
    const Expr *e = arg_bool_expr(c, 0);
    if (expr_is_int(e, &k)) {
        if (!k)
            arg_fail(c, 0, "is always false [assume-false]");
        return value_none();
    }
    return call_emit(c, stmt_assert(c->ev->ir, c->span, e, "assume"));
}

Value do_device_assert(BuiltinCall *c)
{
    call_kernel(c);
    const Expr *e = arg_bool_expr(c, 0);
    const char *text = arg_text(c, 1);
    Span at = arg_bool(c, 2) ? NO_SPAN : c->span; /* the message has no place then */
    return call_emit(c, stmt_assert(c->ev->ir, at, e,
                             ir_name(c->ev->ir, text && text[0] ? text : "device_assert failed")));
}

Value do_print(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const char *text = ir_name(ir, arg_text(c, 1) ? arg_text(c, 1) : "");
    const Value *v = &c->arg[0];
    call_kernel(c);
    for (int i = 2; i < 4; i++)
        if (arg_int(c, i) != 0)
            arg_fail(c, i, "must be 0: a tile is printed once, all of it [unsupported-here]");
    if ((v->kind == V_BUFFER && v->u.buf->rank > 0) || (v->kind == V_REGION && !v->is_element)) {
        Region r = arg_tile(c, 0);
        call_emit(c, stmt_tile(ir, c->span, &op_print, 1, &r, 0, NULL, text, (Hints){0}));
        return value_none();
    }
    if (v->kind == V_STR && !text[0]) {
        text = ir_name(ir, v->u.s.text);
        v = NULL;
    }
    const Expr *e = v && arg_given(c, 0) ? arg_expr(c, 0) : NULL;
    return call_emit(c, stmt_tile(ir, c->span, &op_print, 0, NULL, e != NULL, &e, text,
                                  (Hints){0}));
}

Value do_evaluate(BuiltinCall *c)
{
    if (c->arg[0].kind == V_NONE)
        return value_none(); /* a call that was emitted when it was made */
    const Expr *e = arg_expr(c, 0);
    trace_need(c->ev, c->span, call_title(c));
    if (e->op == EX_EXTERN)
        call_emit(c, stmt_eval(c->ev->ir, c->span, e));
    return value_none();
}

Value do_thread_return(BuiltinCall *c)
{
    call_threads(c);
    return sync_call(c, INTRIN_RETURN, 0, NULL);
}
