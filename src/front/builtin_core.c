/* builtin_core.c -- launches, thread geometry, functions and their symbolic sizes. */
#include "front/builtin.h"

/* ---- T.Kernel -------------------------------------------------------------------------------- */

static void grid_extents(BuiltinCall *c, Frame *f)
{
    if (c->nrest > 3)
        call_fail(c, "takes at most 3 grid extents, not %d [kernel-extent]", c->nrest);
    f->n = MAX(c->nrest, 1);
    f->extent[0] = expr_int(c->ev->ir, 1); /* T.Kernel(threads=32) is one block */
    for (int i = 0; i < c->nrest; i++) {
        int64_t n = 1;
        const Expr *e = rest_expr(c, i);
        if (!dtype_is_int(e->type))
            call_fail(c, "the grid's %c extent must be an integer, not %s; T.ceildiv and // give "
                      "whole numbers [kernel-extent]", "xyz"[i], dtype_name(e->type));
        if (expr_is_int(e, &n) && n <= 0)
            call_fail(c, "the grid's %c extent must be positive, not %lld [kernel-extent]",
                      "xyz"[i], (long long)n);
        if (n > INT32_MAX)
            call_fail(c, "the grid's %c extent is %lld; the most is %d [kernel-extent]", "xyz"[i],
                      (long long)n, INT32_MAX);
        f->extent[i] = e;
    }
}

/* An int or up to three of them, padded with 1. */
static void dims3(BuiltinCall *c, int i, int otherwise, int *out)
{
    int64_t n[3] = {otherwise, 1, 1};
    if (arg_given(c, i))
        arg_ints(c, i, n, 3);
    int64_t all = 1;
    for (int d = 0; d < 3; d++) {
        if (n[d] <= 0)
            arg_fail(c, i, "must be positive, not %lld [kernel-extent]", (long long)n[d]);
        all *= MIN(n[d], 1 << 20);
        out[d] = (int)n[d];
    }
    if (all > 1024)
        arg_fail(c, i, "asks for %lld, but a block has at most 1024 [kernel-extent]",
                 (long long)all);
}

Value kernel_frame(BuiltinCall *c, int threads, int cluster, int prelude)
{
    Frame *f = NEW(c->ev->arena, Frame);
    f->kind = FRAME_KERNEL;
    f->span = c->span;
    grid_extents(c, f);
    dims3(c, threads, 128, f->threads);
    for (int d = 0; d < 3; d++)
        f->cluster[d] = 1;
    if (cluster >= 0)
        dims3(c, cluster, 1, f->cluster);
    f->prelude = arg_text(c, prelude);
    return (Value){.kind = V_FRAME, .u.frame = f};
}

Value do_kernel(BuiltinCall *c)
{
    return kernel_frame(c, 1, 3, 2);
}

Value do_cluster_kernel(BuiltinCall *c)
{
    return kernel_frame(c, 2, 1, 3);
}

static int dim_of(BuiltinCall *c)
{
    int64_t d = arg_int(c, 0);
    if (d < 0 || d > 2)
        arg_fail(c, 0, "must be 0, 1 or 2, not %lld [argument-type]", (long long)d);
    return (int)d;
}

static Value thread_var(BuiltinCall *c, Kernel *k, int d)
{
    static const char *const name[3] = {"tx", "ty", "tz"};
    if (!k->thread[d])
        k->thread[d] = var_new(c->ev->ir, name[d], DT_I32, c->span);
    return value_expr(c->ev, expr_var(c->ev->ir, k->thread[d]));
}

Value do_get_thread_binding(BuiltinCall *c)
{
    return thread_var(c, call_threads(c), dim_of(c));
}

Value do_get_thread_bindings(BuiltinCall *c)
{
    Kernel *k = call_threads(c);
    Value v[3] = {thread_var(c, k, 0), thread_var(c, k, 1), thread_var(c, k, 2)};
    return value_seq(c->ev, V_LIST, v, 3);
}

const Expr *flat_thread(const BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Kernel *k = call_threads(c);
    BuiltinCall copy = *c;
    const Expr *e = thread_var(&copy, k, 0).u.expr;
    int64_t stride = k->threads[0];
    for (int d = 1; d < 3; d++) {
        if (k->threads[d] > 1)
            e = expr_add(ir, e, expr_mul(ir, thread_var(&copy, k, d).u.expr, expr_int(ir, stride)));
        stride *= k->threads[d];
    }
    return e;
}

Value do_get_thread_extent(BuiltinCall *c)
{
    return value_int(call_kernel(c)->threads[dim_of(c)]);
}

Value do_get_thread_extents(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3] = {value_int(k->threads[0]), value_int(k->threads[1]), value_int(k->threads[2])};
    return value_seq(c->ev, V_LIST, v, 3);
}

static Value block_var(BuiltinCall *c, Kernel *k, int d)
{
    return d < k->ngrid && k->block[d] ? value_expr(c->ev, expr_var(c->ev->ir, k->block[d]))
                                       : value_int(0);
}

Value do_get_block_binding(BuiltinCall *c)
{
    return block_var(c, call_kernel(c), dim_of(c));
}

Value do_get_block_bindings(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3] = {block_var(c, k, 0), block_var(c, k, 1), block_var(c, k, 2)};
    return value_seq(c->ev, V_LIST, v, 3);
}

static Value block_extent(BuiltinCall *c, Kernel *k, int d)
{
    int64_t n = 1;
    if (d < k->ngrid && !expr_is_int(k->grid[d], &n))
        call_fail(c, "the grid's extent %d is not known at compile time [grid-extent]", d);
    return value_int(n);
}

Value do_get_block_extent(BuiltinCall *c)
{
    return block_extent(c, call_kernel(c), dim_of(c));
}

Value do_get_block_extents(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3] = {block_extent(c, k, 0), block_extent(c, k, 1), block_extent(c, k, 2)};
    return value_seq(c->ev, V_LIST, v, 3);
}

/* ---- clusters: boxes of cluster_dims blocks, counted over the grid --------------------------- */

Value do_get_cluster_dims(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3] = {value_int(k->cluster[0]), value_int(k->cluster[1]), value_int(k->cluster[2])};
    return value_seq(c->ev, V_LIST, v, 3);
}

Value do_get_cluster_size(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    return value_int((int64_t)k->cluster[0] * k->cluster[1] * k->cluster[2]);
}

static Value cluster_id(BuiltinCall *c, Kernel *k, int d)
{
    Ir *ir = c->ev->ir;
    Value block = block_var(c, k, d);
    if (block.kind == V_INT || k->cluster[d] == 1)
        return block;
    const Expr *e = expr_floordiv(ir, expr_var(ir, k->block[d]), expr_int(ir, k->cluster[d]));
    return value_expr(c->ev, e);
}

Value do_get_cluster_id(BuiltinCall *c)
{
    return cluster_id(c, call_kernel(c), dim_of(c));
}

Value do_get_cluster_ids(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3];
    for (int d = 0; d < k->ngrid; d++)
        v[d] = cluster_id(c, k, d);
    return value_seq(c->ev, V_LIST, v, k->ngrid);
}

static Value cluster_extent(BuiltinCall *c, Kernel *k, int d)
{
    int64_t n = block_extent(c, k, d).u.i;
    return value_int((n + k->cluster[d] - 1) / k->cluster[d]);
}

Value do_get_cluster_extent(BuiltinCall *c)
{
    return cluster_extent(c, call_kernel(c), dim_of(c));
}

Value do_get_cluster_extents(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    Value v[3] = {cluster_extent(c, k, 0), cluster_extent(c, k, 1), cluster_extent(c, k, 2)};
    return value_seq(c->ev, V_LIST, v, 3);
}

Value do_import_source(BuiltinCall *c)
{
    Kernel *k = call_kernel(c);
    const char *text = arg_text(c, 0);
    if (text)
        k->prelude = k->prelude ? arena_printf(c->ev->arena, "%s\n%s", k->prelude, text)
                                : arena_strdup(c->ev->arena, text);
    return value_none();
}

Value do_use_swizzle(BuiltinCall *c)
{
    static const char *const orders[] = {"row", "column", "mlx", NULL};
    Kernel *k = call_kernel(c);
    int64_t panel = arg_int(c, 0);
    const char *order = arg_word(c, 1, orders, " [swizzle-order]");
    if (panel <= 0)
        arg_fail(c, 0, "must be positive, not %lld [swizzle-panel]", (long long)panel);
    if (arg_bool(c, 2)) {
        k->swizzle_panel = (int)panel;
        k->swizzle_order = order;
    }
    return value_none();
}

/* A range is as long as the launch is there. */
static void check_extent(BuiltinCall *c, bool alone, Value launched)
{
    Ir *ir = c->ev->ir;
    bool range = !alone && arg_given(c, 1);
    const Expr *n = arg_index(c, 0), *has = to_expr(c->ev, c->span, &launched, call_title(c));
    if (range)
        n = expr_sub(ir, arg_index(c, 1), n);
    if (!expr_may_equal(n, has))
        arg_fail(c, range ? 1 : 0, "is not what the kernel is launched with "
                 "[argument-type]");
}

/* T.thread_binding(0, n, thread="threadIdx.x"): that index, counted from start.  Of two arguments
 * the second is the tag: T.thread_binding(n, "threadIdx.x"). */
Value do_thread_binding(BuiltinCall *c)
{
    bool two = !arg_given(c, 2) && value_text(&c->arg[1]);
    const char *tag = arg_text(c, two ? 1 : 2);
    bool thread = tag && !strncmp(tag, "threadIdx.", 10);
    if (!thread && !(tag && !strncmp(tag, "blockIdx.", 9)))
        arg_fail(c, 2, "must be threadIdx.x … or blockIdx.x …, not '%s' [argument-type]",
                 tag ? tag : "None");
    int d = tag[strlen(tag) - 1] - 'x';
    if (d < 0 || d > 2)
        arg_fail(c, 2, "must end in x, y or z, not '%s' [argument-type]", tag);
    Kernel *k = thread ? call_threads(c) : call_kernel(c);
    Value v = thread ? thread_var(c, k, d) : block_var(c, k, d);
    Hints none = {0};
    notes_dict(c, 3, &none);
    check_extent(c, two, thread ? value_int(k->threads[d]) : block_extent(c, k, d));
    if (two || !arg_given(c, 1))
        return v;
    const Expr *index = to_expr(c->ev, c->span, &v, call_title(c));
    return value_expr(c->ev, expr_add(c->ev->ir, arg_index(c, 0), index));
}

/* ---- functions ------------------------------------------------------------------------------- */

static Value decorate(BuiltinCall *c, FunctionKind kind)
{
    if (!arg_given(c, 0))
        return (Value){.kind = V_BUILTIN, .u.builtin = c->b};
    return trace_decorate(c->ev, c->span, kind, &c->arg[0]);
}

Value do_prim_func(BuiltinCall *c)
{
    if (arg_bool(c, 1))
        arg_fail(c, 1, "is what @tilelang.jit does [unsupported-here]");
    return decorate(c, FN_PRIM);
}

Value do_macro(BuiltinCall *c) { return decorate(c, FN_MACRO); }
Value do_inline(BuiltinCall *c) { return decorate(c, FN_INLINE); }
Value do_meta_class(BuiltinCall *c) { return decorate(c, FN_PLAIN); }

/* "M, N", "M N" or several strings. */
static Value several_names(BuiltinCall *c, Value (*make)(Eval *, Span, const char *, DType))
{
    DType t = arg_dtype(c, 1, NULL);
    VEC(Value) made = {0};
    int n = value_is_seq(&c->arg[0]) ? c->arg[0].u.seq->n : 1;
    const Value *at = value_is_seq(&c->arg[0]) ? c->arg[0].u.seq->at : &c->arg[0];
    for (int i = 0; i < n; i++) {
        const char *s = value_text(&at[i]);
        if (!s)
            arg_fail(c, 0, "must be names in a str, not %s [argument-type]",
                     value_kind_name(&at[i]));
        while (*(s += strspn(s, " ,\t\n"))) {
            size_t len = strcspn(s, " ,\t\n");
            const char *name = name_intern(c->ev->names, s, len);
            Value v = make(c->ev, c->arg_span[0], name, t);
            vec_push(c->ev->arena, &made, v);
            s += len;
        }
    }
    if (made.n == 0)
        arg_fail(c, 0, "names nothing [argument-type]");
    return made.n == 1 ? made.at[0] : value_tuple(c->ev, made.at, made.n);
}

Value do_const(BuiltinCall *c)
{
    if (arg_dtype(c, 1, NULL) != DT_I32)
        arg_fail(c, 1, "must be int32: a size fixed at compile time is a number of Python's "
                 "[argument-type]");
    trace_need(c->ev, c->span, "T.const");
    return several_names(c, trace_const);
}

Value do_dynamic(BuiltinCall *c)
{
    return several_names(c, trace_dynamic);
}

/* T.let(v, value): v has no value yet. */
Value do_let(BuiltinCall *c)
{
    const Value *v = &c->arg[0];

    call_kernel(c);
    if (v->kind != V_EXPR || v->u.expr->op != EX_VAR || !v->u.expr->u.var->open)
        arg_fail(c, 0, "must be a variable made by T.int32() or its like, which has no value yet "
                 "[argument-type]");
    Var *var = v->u.expr->u.var;
    var->open = false;
    const Expr *value = cast_value(c->ev, c->arg_span[1], var->type, 1, &c->arg[1],
                                   call_what(c, 1));
    return call_emit(c, stmt_let(c->ev->ir, c->span, var, value));
}

Value do_annotate_pass_configs(BuiltinCall *c)
{
    trace_need(c->ev, c->span, call_title(c));
    if (c->arg[0].kind != V_DICT)
        arg_fail(c, 0, "must be a dict, not %s [argument-type]", value_kind_name(&c->arg[0]));
    hints_configs(c->ev, c->arg_span[0], &c->ev->trace->func->hints, &c->arg[0]);
    return value_none();
}

Value do_annotate_compile_flags(BuiltinCall *c)
{
    trace_need(c->ev, c->span, call_title(c));
    const Value *v = &c->arg[0];
    int n = value_is_seq(v) ? v->u.seq->n : 1;
    const Value *at = value_is_seq(v) ? v->u.seq->at : v;
    for (int i = 0; i < n; i++)
        if (!value_text(&at[i]))
            arg_fail(c, 0, "must be a str or a list of them [argument-type]");
    hints_flags(c->ev, &c->ev->trace->func->hints, v);
    return value_none();
}

/* ---- small compile-time helpers of the tilelang package -------------------------------------- */

Value do_next_power_of_2(BuiltinCall *c)
{
    int64_t n = arg_int(c, 0), p = 1;
    if (n > (int64_t)1 << 62)
        arg_fail(c, 0, "is too large [argument-type]");
    while (p < n)
        p *= 2;
    return value_int(p);
}

const Machine *call_machine(const BuiltinCall *c)
{
    const LoadRequest *q = c->ev->request;
    return q && q->machine ? q->machine : &machine_plain;
}

int machine_units(const BuiltinCall *c)
{
    int n = call_machine(c)->units;
    return n ? n : cpu_count();
}

Value do_recommend_gemm(BuiltinCall *c)
{
    int64_t size[3];
    TileChoice g = {.m = 128, .n = 128, .k = 32, .stages = 3, .threads = 128, .split = 1};
    for (int i = 0; i < 3; i++) {
        size[i] = arg_int(c, i);
        if (size[i] <= 0)
            arg_fail(c, i, "must be positive, not %lld [argument-type]", (long long)size[i]);
    }
    int threads = (int)arg_int(c, 4);
    if (threads <= 0 && c->ev->request)
        threads = c->ev->request->threads;
    DType t = arg_dtype(c, 3, NULL);
    const Machine *m = call_machine(c);
    unsigned trans = (arg_bool(c, 5) ? GEMM_NT : 0) | (arg_bool(c, 6) ? GEMM_TN : 0);
    if (m->tiles_gemm)
        g = m->tiles_gemm(m, size, t, trans, threads);
    Value v[8] = {value_int(g.m), value_int(g.n), value_int(g.k), value_int(g.stages),
                  value_int(g.threads), value_int(g.split), value_bool(g.swap),
                  value_int(g.widen)};
    return value_tuple(c->ev, v, 8);
}

Value do_recommend_attention(BuiltinCall *c)
{
    int64_t S = arg_int(c, 0), D = arg_int(c, 1);
    TileChoice g = {.m = 128, .n = 256, .stages = 2, .threads = 128};

    if (S <= 0 || D <= 0)
        arg_fail(c, S <= 0 ? 0 : 1, "must be positive [argument-type]");
    DType t = arg_dtype(c, 2, NULL);
    const Machine *m = call_machine(c);
    if (m->tiles_attention)
        g = m->tiles_attention(m, S, D, t, arg_bool(c, 3));
    Value v[4] = {value_int(g.m), value_int(g.n), value_int(g.stages), value_int(g.threads)};
    return value_tuple(c->ev, v, 4);
}

/* On a CPU more rows keep memory and arithmetic busy together for longer (opt_skew), if they fit
 * the second level cache and every core gets some.  Elsewhere as many rows as a block of 128
 * threads holds in registers, or one, where a block may be as large as that row wants. */
Value do_recommend_rows(BuiltinCall *c)
{
    enum { FEW = 4, MANY = 16, EACH = 8, ROOM = 512 << 10, HELD = 128 * 128, LARGE = 1024 };
    int64_t M = arg_int(c, 0), N = arg_int(c, 1);
    const LoadRequest *q = c->ev->request;

    if (M <= 0 || N <= 0)
        arg_fail(c, M <= 0 ? 0 : 1, "must be positive [argument-type]");
    int64_t bytes = dtype_bytes(arg_dtype(c, 2, NULL), N), cores = q ? MAX(q->threads, 1) : 1;
    const Machine *m = call_machine(c);
    if (machine_has(m, HAS_THREADS))
        return value_int(N <= HELD / FEW || m->threads_block < LARGE ? FEW : 1);
    bool many = bytes <= ROOM / MANY && M >= MANY * EACH * cores;
    return value_int(many ? MANY : FEW);
}

/* Bulk copies want rows that start at multiples of 16 bytes; elsewhere any row will do. */
Value do_aligned_row(BuiltinCall *c)
{
    int64_t n = arg_int(c, 0), unit = 128 / MAX(dtype_bits(arg_dtype(c, 1, NULL)), 1);

    if (n <= 0)
        arg_fail(c, 0, "must be positive, not %lld [argument-type]", (long long)n);
    if (!machine_has(call_machine(c), HAS_BULK_COPY) || unit < 1)
        unit = 1;
    return value_int((n + unit - 1) / unit * unit);
}

/* Of the machine that is compiled for: one CPU core counts as one SM. */
Value do_num_sms(BuiltinCall *c)
{
    if (arg_given(c, 0) && arg_int(c, 0) != 0)
        arg_fail(c, 0, "must be 0: the only machine known is the one compiled for "
                 "[unsupported-here]");
    return value_int(machine_units(c));
}
