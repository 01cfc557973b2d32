/* builtin_layout.c -- T.Layout, T.Fragment, their methods, and the makers of tilelang.layout. */
#include "front/builtin.h"

/* ---- from a function ------------------------------------------------------------------------- */

static int shape_of(const BuiltinCall *c, int i, int64_t *extent)
{
    Value v[RANK_MOST];
    int n = to_shape(c->ev, c->arg_span[i], &c->arg[i], v, call_what(c, i));
    for (int d = 0; d < n; d++) {
        if (v[d].kind != V_INT || v[d].u.i <= 0)
            arg_fail(c, i, "must have positive constant extents [tile-shape]");
        extent[d] = v[d].u.i;
    }
    return n;
}

/* fn(axis 0, …, axis n-1[, replica]) as a list of expressions. */
static int apply(const BuiltinCall *c, Span at, const Value *fn, int rank, bool rep,
                 const Expr **out)
{
    Eval *ev = c->ev;
    Value arg[RANK_MOST + 1];
    Span spans[RANK_MOST + 1];
    for (int d = 0; d < rank; d++)
        arg[d] = value_expr(ev, expr_var(ev->ir, layout_axis(ev->ir, d)));
    if (rep)
        arg[rank] = value_expr(ev, expr_var(ev->ir, layout_rep(ev->ir)));
    for (int d = 0; d <= rank; d++)
        spans[d] = at;
    CallArgs args = {.span = at, .n = rank + rep, .at = arg, .spans = spans};
    Value made = eval_call(ev, at, fn, &args);
    int n = value_is_seq(&made) ? made.u.seq->n : 1;
    const Value *v = value_is_seq(&made) ? made.u.seq->at : &made;
    if (n < 1 || n > RANK_MOST)
        diag_fail(ev->diag, at, "%s: the function gives %d indices [layout-shape]", call_title(c),
                  n);
    for (int d = 0; d < n; d++) {
        out[d] = to_expr(ev, at, &v[d], call_title(c));
        if (!dtype_is_int(out[d]->type))
            diag_fail(ev->diag, at, "%s: index %d is not an integer [argument-type]",
                      call_title(c), d);
    }
    return n;
}

/* There is no layout when a coordinate can be negative or does not fit. */
static const Layout *need_layout(const BuiltinCall *c, const Layout *l)
{
    if (!l)
        call_fail(c, "gives coordinates that can be negative or are too large [layout-range]");
    return l;
}

const Layout *layout_from_function(const BuiltinCall *c, Span at, const Value *fn, int rank,
                                   const int64_t *extent)
{
    const Expr *out[RANK_MOST];
    int n = apply(c, at, fn, rank, false, out);
    return need_layout(c, layout_new(c->ev->ir, rank, extent, n, out));
}

Value do_layout(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    int n = shape_of(c, 0, extent);
    return value_layout(layout_from_function(c, c->arg_span[1], &c->arg[1], n, extent));
}

/* Functions of a replicated fragment get the replica after the indices; one that has no parameter
 * for it does without. */
static bool takes_replica(const Value *fn, int rank, int64_t rep)
{
    return rep > 1 && (fn->kind != V_FUNCTION || fn->u.func->ast->nparam == rank + 1);
}

/* Slots where only threads are given: the axes that do not say which thread, row by row. */
static const Expr *rest_of_axes(Ir *ir, int rank, const int64_t *extent, const Expr *thread)
{
    const Expr *slot = expr_int(ir, 0);
    for (int d = 0; d < rank; d++) {
        Var *axis = layout_axis(ir, d);
        if (!expr_uses_var(thread, axis))
            slot = expr_add(ir, expr_mul(ir, slot, expr_int(ir, extent[d])), expr_var(ir, axis));
    }
    return slot;
}

/* forward_fn gives (thread, slot); or one function for each. */
Value do_fragment(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    const Expr *out[RANK_MOST], *slot[RANK_MOST];
    int n = shape_of(c, 0, extent), nslot = 0;
    int64_t rep = arg_int(c, 3);
    const Expr *thread;
    if (rep < 1)
        arg_fail(c, 3, "must be positive, not %lld [argument-type]", (long long)rep);
    if (arg_given(c, 1)) {
        int k = apply(c, c->arg_span[1], &c->arg[1], n, takes_replica(&c->arg[1], n, rep), out);
        if (k < 2)
            arg_fail(c, 1, "must give (thread, slot) [layout-shape]");
        thread = out[0];
        for (int i = 1; i < k; i++)
            slot[nslot++] = out[i];
    } else if (arg_given(c, 2)) {
        if (apply(c, c->arg_span[2], &c->arg[2], n, takes_replica(&c->arg[2], n, rep), out) != 1)
            arg_fail(c, 2, "must give one thread index [layout-shape]");
        thread = out[0];
        if (arg_given(c, 4))
            nslot = apply(c, c->arg_span[4], &c->arg[4], n, false, slot);
        else
            slot[nslot++] = rest_of_axes(c->ev->ir, n, extent, thread);
    } else {
        call_fail(c, "needs forward_fn or forward_thread_fn [argument-count]");
    }
    return value_layout(
        need_layout(c, fragment_new(c->ev->ir, n, extent, thread, rep, nslot, slot)));
}

/* ---- methods --------------------------------------------------------------------------------- */

Value layout_attr(Eval *ev, const Value *v, const char *name)
{
    if (!strcmp(name, "shape") || !strcmp(name, "input_shape")) {
        Value at[RANK_MOST];
        for (int d = 0; d < v->u.layout->rank; d++)
            at[d] = value_int(v->u.layout->extent[d]);
        return value_seq(ev, V_LIST, at, v->u.layout->rank);
    }
    if (!strcmp(name, "replicate_size"))
        return value_int(v->u.layout->rep);
    if (!strcmp(name, "thread") && v->u.layout->thread)
        return value_expr(ev, v->u.layout->thread);
    const char *row = arena_printf(ev->arena, "Layout.%s", name);
    return builtin_find(row) ? method_of(ev, v, row) : (Value){.kind = V_UNBOUND};
}

static Value extents(BuiltinCall *c, int n, const int64_t *extent)
{
    Value at[RANK_MOST];
    for (int d = 0; d < n; d++)
        at[d] = value_int(extent[d]);
    return value_seq(c->ev, V_LIST, at, n);
}

Value do_layout_input_shape(BuiltinCall *c)
{
    const Layout *l = arg_layout(c, 0);
    return extents(c, l->rank, l->extent);
}

Value do_layout_output_shape(BuiltinCall *c)
{
    const Layout *l = arg_layout(c, 0);
    return extents(c, l->nout, l->out_extent);
}

/* Of a replicated fragment also with the replica before them: *rep, else NULL. */
static int coordinates(BuiltinCall *c, const Layout *l, const Expr **at, const Expr **rep)
{
    const Value *v = c->rest;
    int n = c->nrest;
    if (n == 1 && value_is_seq(v)) {
        n = v->u.seq->n;
        v = v->u.seq->at;
    }
    *rep = NULL;
    if (n == l->rank + 1 && l->rep > 1) {
        *rep = to_expr(c->ev, c->span, v++, call_title(c));
        n--;
    }
    if (n != l->rank)
        call_fail(c, "the layout has %d dimensions, not %d [argument-count]", l->rank, n);
    for (int d = 0; d < n; d++)
        at[d] = to_expr(c->ev, c->span, &v[d], call_title(c));
    return n;
}

Value do_layout_forward(BuiltinCall *c)
{
    const Layout *l = arg_layout(c, 0);
    const Expr *at[RANK_MOST], *out[RANK_MOST], *rep;
    Value v[RANK_MOST];
    coordinates(c, l, at, &rep);
    layout_apply(c->ev->ir, l, at, out);
    for (int d = 0; d < l->nout; d++)
        v[d] = value_expr(c->ev, out[d]);
    return value_seq(c->ev, V_LIST, v, l->nout);
}

Value do_layout_linear(BuiltinCall *c)
{
    const Layout *l = arg_layout(c, 0);
    const Expr *at[RANK_MOST], *rep;
    coordinates(c, l, at, &rep);
    return value_expr(c->ev, layout_offset(c->ev->ir, l, at));
}

static const Layout *need_fragment(BuiltinCall *c)
{
    const Layout *l = arg_layout(c, 0);
    if (!layout_is_fragment(l))
        arg_fail(c, 0, "must be a Fragment [argument-type]");
    return l;
}

Value do_layout_forward_thread(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Layout *l = need_fragment(c);
    const Expr *at[RANK_MOST], *e = l->thread, *rep;
    coordinates(c, l, at, &rep);
    for (int d = 0; d < l->rank; d++)
        e = expr_subst(ir, e, layout_axis(ir, d), at[d]);
    if (rep)
        e = expr_subst(ir, e, layout_rep(ir), rep);
    return value_expr(c->ev, e);
}

Value do_layout_thread_size(BuiltinCall *c)
{
    return value_int(need_fragment(c)->nthread);
}

Value do_layout_inverse(BuiltinCall *c)
{
    const Layout *l = layout_inverse(c->ev->ir, arg_layout(c, 0));
    if (!l)
        call_fail(c, "the layout has no inverse: it does not fill its box [layout-injective]");
    return value_layout(l);
}

Value do_layout_is_equal(BuiltinCall *c)
{
    return value_bool(layout_is_equal(c->ev->ir, arg_layout(c, 0), arg_layout(c, 1)));
}

Value do_layout_reshape(BuiltinCall *c)
{
    int64_t extent[RANK_MOST], have = 1, want = 1;
    const Layout *l = arg_layout(c, 0);
    int n = shape_of(c, 1, extent);
    for (int d = 0; d < l->rank; d++)
        have *= l->extent[d];
    for (int d = 0; d < n; d++)
        want *= extent[d];
    if (have != want)
        arg_fail(c, 1, "has %lld elements, the layout %lld [view-size]", (long long)want,
                 (long long)have);
    return value_layout(need_layout(c, layout_reshape(c->ev->ir, l, n, extent)));
}

Value do_layout_expand(BuiltinCall *c)
{
    int64_t lead[RANK_MOST];
    const Layout *l = arg_layout(c, 0);
    int n = arg_ints(c, 1, lead, RANK_MOST);
    for (int d = n - 1; d >= 0; d--)
        l = need_layout(c, layout_expand(c->ev->ir, l, lead[d]));
    return value_layout(l);
}

Value do_layout_repeat(BuiltinCall *c)
{
    int64_t times[RANK_MOST];
    const Layout *l = need_fragment(c);
    int n = arg_ints(c, 1, times, RANK_MOST);
    if (n != l->rank)
        arg_fail(c, 1, "has %d entries for %d dimensions [argument-type]", n, l->rank);
    return value_layout(need_layout(c, fragment_repeat(c->ev->ir, l, times, arg_bool(c, 2),
                                                       arg_bool(c, 3))));
}

Value do_layout_replicate(BuiltinCall *c)
{
    const Layout *l = need_fragment(c);
    int64_t n = arg_int(c, 1);
    if (n < 1)
        arg_fail(c, 1, "must be positive, not %lld [argument-type]", (long long)n);
    return value_layout(need_layout(c, fragment_replicate(c->ev->ir, l, n)));
}

Value do_layout_condense(BuiltinCall *c)
{
    return value_layout(need_layout(c, fragment_condense(c->ev->ir, need_fragment(c))));
}

/* ---- tilelang.layout ------------------------------------------------------------------------- */

/* A tile, or its rows, columns and bits of an element. */
static int given_extents(BuiltinCall *c, int64_t *extent, int *bits)
{
    *bits = (int)arg_int(c, 2);
    for (int i = 0; i < 2; i++)
        extent[i] = arg_int(c, i);
    if (extent[0] < 1 || extent[1] < 1 || *bits < 1 || *bits > 128)
        call_fail(c, "there is no tile of %lld by %lld elements of %d bits [layout-shape]",
                  (long long)extent[0], (long long)extent[1], *bits);
    return 2;
}

static int tile_extents(BuiltinCall *c, int i, int64_t *extent, int *bits)
{
    bool is_element;
    if (c->arg[i].kind == V_TENSOR && !c->arg[i].u.spec->is_pointer) {
        const TensorSpec *s = c->arg[i].u.spec;
        for (int d = 0; d < s->rank; d++) {
            if (s->shape[d].kind != V_INT)
                arg_fail(c, i, "has no constant shape [tile-shape]");
            extent[d] = s->shape[d].u.i;
        }
        *bits = dtype_bits(s->dtype);
        return s->rank;
    }
    Region r = arg_region(c, i, &is_element);
    if (!buffer_static_shape(r.buf, extent))
        arg_fail(c, i, "'%s' has no constant shape [tile-shape]", r.buf->name);
    *bits = dtype_bits(r.buf->type);
    return r.buf->rank;
}

static const Layout *with_leading(Ir *ir, const Layout *l, int n, const int64_t *extent)
{
    for (int d = n - 3; d >= 0; d--)
        l = layout_expand(ir, l, extent[d]);
    return l;
}

/* A tile with a swizzle over `span` bytes of its rows. */
static Value swizzled(BuiltinCall *c, int n, const int64_t *extent, int bits, int span)
{
    Ir *ir = c->ev->ir;
    if (n < 2 || span <= 16)
        return value_layout(layout_row_major(ir, n, extent));
    return value_layout(with_leading(
        ir, layout_swizzle(ir, extent[n - 2], extent[n - 1], bits, span), n, extent));
}

/* The widest swizzle that divides so many bytes; short rows stay as they are. */
static int widest_span(int64_t bytes)
{
    int span = 128;
    while (span > 16 && bytes % span)
        span /= 2;
    return span;
}

/* Bytes that are read across their rows are not swizzled but padded, where that is allowed. */
Value do_make_swizzled(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    int bits, n = tile_extents(c, 0, extent, &bits);
    bool k_major = arg_bool(c, 1), allow_pad = arg_bool(c, 2);
    if (n >= 2 && bits == 8 && !k_major && allow_pad)
        return value_layout(layout_padded(c->ev->ir, n, extent, 16));
    return swizzled(c, n, extent, bits, n ? widest_span(extent[n - 1] * bits / 8) : 0);
}

/* continuity: of so many elements in a row, as where a tile is several beside each other. */
Value do_make_matrix_swizzled(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    int bits, n = tile_extents(c, 0, extent, &bits);
    int64_t run = arg_given(c, 1) ? arg_int(c, 1) : n ? extent[n - 1] : 1;
    if (run < 1 || (n && extent[n - 1] % run))
        arg_fail(c, 1, "is %lld elements, which do not divide a row [layout-shape]",
                 (long long)run);
    if (!arg_bool(c, 2) && bits == 8)
        arg_fail(c, 2, "must be True: these instructions read 8-bit operands along k only "
                 "[unsupported-here]");
    return swizzled(c, n, extent, bits, widest_span(run * bits / 8));
}

/* is_smooth: as it is. */
Value do_make_mma_swizzled(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    int bits, n = tile_extents(c, 0, extent, &bits);
    int span = arg_bool(c, 1) || !n ? 0 : widest_span(extent[n - 1] * bits / 8);
    return swizzled(c, n, extent, bits, span);
}

/* Of a tile, or of (rows, columns, bits of an element). */
static Value bank_swizzled(BuiltinCall *c, int span)
{
    int64_t extent[RANK_MOST];
    bool given = arg_given(c, 1);
    if (given != arg_given(c, 2))
        call_fail(c, "takes a tile, or all of its rows, columns and bits of an element "
                  "[argument-count]");
    int bits, n = given ? given_extents(c, extent, &bits) : tile_extents(c, 0, extent, &bits);
    if (n >= 2 && extent[n - 1] * bits / 8 % span)
        arg_fail(c, 0, "has rows of %lld bytes, which %d does not divide [layout-shape]",
                 (long long)(extent[n - 1] * bits / 8), span);
    return swizzled(c, n, extent, bits, span);
}

Value do_make_full_bank(BuiltinCall *c) { return bank_swizzled(c, 128); }
Value do_make_half_bank(BuiltinCall *c) { return bank_swizzled(c, 64); }
Value do_make_quarter_bank(BuiltinCall *c) { return bank_swizzled(c, 32); }

Value do_make_linear(BuiltinCall *c)
{
    int64_t extent[RANK_MOST];
    int bits, n;
    if (value_is_seq(&c->arg[0]))
        n = shape_of(c, 0, extent);
    else
        n = tile_extents(c, 0, extent, &bits);
    return value_layout(layout_row_major(c->ev->ir, n, extent));
}

/* Tensor memory has the order of the tile; of a pair of blocks each holds half of A. */
Value do_make_blockscaled(BuiltinCall *c)
{
    int64_t extent[RANK_MOST], a[RANK_MOST];
    int bits, n = tile_extents(c, 0, extent, &bits), na = tile_extents(c, 1, a, &bits);
    int64_t rows = n < 2 ? 0 : extent[n - 2];
    int64_t of_a = na < 2 ? 0 : a[na - (arg_bool(c, 2) ? 1 : 2)];
    if (!rows || !of_a || MAX(rows, of_a) % MIN(rows, of_a))
        arg_fail(c, 1, "has %lld rows, and C has %lld [layout-shape]", (long long)of_a,
                 (long long)rows);
    return value_layout(layout_row_major(c->ev->ir, n, extent));
}

Value do_make_replicated(BuiltinCall *c)
{
    int64_t extent[RANK_MOST], threads = arg_int(c, 1);
    int bits, n = tile_extents(c, 0, extent, &bits);
    if (threads < 1)
        arg_fail(c, 1, "must be positive, not %lld [argument-type]", (long long)threads);
    return value_layout(fragment_replicated(c->ev->ir, n, extent, threads));
}

/* An 8 x 8 tile over a warp: thread (i, j // 2) holds two neighbours; or its transpose. */
Value do_make_fragment_8x8(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int64_t extent[2] = {8, 8};
    bool transposed = strstr(c->b->name, "transposed") != NULL;
    const Expr *i = expr_var(ir, layout_axis(ir, transposed ? 1 : 0));
    const Expr *j = expr_var(ir, layout_axis(ir, transposed ? 0 : 1));
    const Expr *two = expr_int(ir, 2);
    const Expr *thread = expr_add(ir, expr_mul(ir, i, expr_int(ir, 4)), expr_floordiv(ir, j, two));
    const Expr *slot = expr_floormod(ir, j, two);
    return value_layout(fragment_new(ir, 2, extent, thread, 1, 1, &slot));
}

/* ---- metadata of sparse products ------------------------------------------------------------- */

/* Four bits describe a group: two of four elements, or one of two when they are 32 bits wide. */
Value do_e_factor(BuiltinCall *c)
{
    DType a = arg_dtype(c, 0, NULL), meta = arg_dtype(c, 1, NULL);
    return value_int(dtype_bits(meta) / 4 * (dtype_bits(a) == 32 ? 2 : 4));
}

Value do_e_replicate(BuiltinCall *c)
{
    return value_int(dtype_bits(arg_dtype(c, 0, NULL)) <= 8 ? 1 : 2);
}
