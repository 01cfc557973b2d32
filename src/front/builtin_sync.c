/* builtin_sync.c -- barriers, fences, waits, asserts, prints and early exits. */
#include "front/builtin.h"

Value sync_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg)
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

Value barrier_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg, const char *text)
{
    bool is_element;
    call_threads(c);
    Region r = arg_region(c, 0, &is_element);
    if (r.buf->scope != MEM_BARRIER && r.buf->scope != MEM_CLUSTER_BARRIER)
        arg_fail(c, 0, "must be a barrier of T.alloc_barrier, not '%s' [argument-type]",
                 r.buf->name);
    if (!is_element && !region_extent_is(&r, 0, 1))
        arg_fail(c, 0, "must be one barrier: index '%s' [argument-type]", r.buf->name);
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
