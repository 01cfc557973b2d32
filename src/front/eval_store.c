/* eval_store.c -- assignments that write memory: elements, variables, slices; and list items. */
#include "front/eval.h"

bool is_place(const Value *v)
{
    return v->is_ref || (v->kind == V_BUFFER && v->u.buf->scope == MEM_VAR);
}

static Buffer *place_buffer(const Value *to)
{
    return to->kind == V_BUFFER ? to->u.buf : to->u.region->buf;
}

/* A number written by hand that its type cannot hold is a slip.  The other sign's numbers of the
 * same width are taken as bits. */
void warn_lossy(Eval *ev, Span at, DType t, const Value *v)
{
    int bits = dtype_bits(t);
    if (!dtype_is_int(t) || (v->kind != V_INT && v->kind != V_FLOAT))
        return;
    if (v->kind == V_FLOAT && v->u.f != (double)num_from_float(t, v->u.f))
        diag_warn(ev->diag, at, "%g is no %s and becomes %lld [constant-range]", v->u.f,
                  dtype_name(t), (long long)num_from_float(t, v->u.f));
    if (v->kind == V_INT && bits < 64 &&
        (v->u.i >= (int64_t)1 << bits || v->u.i < -((int64_t)1 << (bits - 1))))
        diag_warn(ev->diag, at, "%lld does not fit %s and becomes %lld [constant-range]",
                  (long long)v->u.i, dtype_name(t), (long long)num_wrap(t, v->u.i));
}

/* v as one element of b, cast silently. */
static const Expr *element_value(Eval *ev, Span at, const Buffer *b, const Value *v)
{
    if (v->kind == V_BUFFER && v->u.buf->rank > 0)
        diag_fail(ev->diag, at, "one element of '%s' cannot hold the whole of '%s' [whole-buffer]",
                  b->name, v->u.buf->name);
    warn_lossy(ev, at, b->type, v);
    if (is_number(v) && dtype_is_float(b->type))
        return expr_float(ev->ir, b->type, number_of(v));
    if (v->kind == V_INT && dtype_is_int(b->type))
        return expr_const(ev->ir, b->type, num_wrap(b->type, v->u.i));
    const Expr *e = to_expr(ev, at, v, arena_printf(ev->arena, "what is stored to '%s'", b->name));
    if (e->lanes > 1)
        diag_fail(ev->diag, at, "one element of '%s' cannot hold a vector of %d [lanes]", b->name,
                  e->lanes);
    if ((e->type == DT_HANDLE) != (b->type == DT_HANDLE) && !(dtype_is_int(b->type)))
        diag_fail(ev->diag, at, "'%s' holds %s and cannot take %s [store-type]", b->name,
                  dtype_name(b->type), dtype_name(e->type));
    if (b->type == DT_BOOL && e->type != DT_BOOL)
        return expr_binary(ev->ir, EX_NE, e, expr_zero(ev->ir, (DType)e->type));
    return expr_cast(ev->ir, b->type, e);
}

static Value element_of(Eval *ev, Buffer *b, const Expr *const *at)
{
    Region *r = NEW(ev->arena, Region);
    r->buf = b;
    r->at = NEWN(ev->arena, const Expr *, b->rank + 1);
    r->extent = NEWN(ev->arena, const Expr *, b->rank + 1);
    for (int d = 0; d < b->rank; d++) {
        r->at[d] = at[d];
        r->extent[d] = expr_int(ev->ir, 1);
    }
    return (Value){.kind = V_REGION, .is_element = true, .u.region = r};
}

static void contribute(Eval *ev, Span at, const Value *to, const Expr *e)
{
    Hint *how = NEW(ev->ir->arena, Hint);
    *how = (Hint){.name = "store", .value = expr_int(ev->ir, 1)};
    trace_emit(ev, stmt_tile(ev->ir, at, &op_reducer_update, 1, to->u.region, 1, &e, NULL,
                             (Hints){how, 1}));
}

static void update_reducer(Eval *ev, Span at, const Value *to, const Value *v)
{
    contribute(ev, at, to, element_value(ev, at, to->u.region->buf, v));
}

static bool is_element_of(const Expr *e, const Region *r)
{
    if (e->op != EX_LOAD || e->u.buf != r->buf || e->nkid < r->buf->rank)
        return false;
    for (int d = 0; d < r->buf->rank; d++)
        if (e->kid[d] != r->at[d])
            return false;
    return true;
}

/* e as `element op rest`, however the operands are grouped: the rest.  NULL: it is not that. */
static const Expr *rest_of(Eval *ev, const Expr *e, ExprOp op, const Region *element)
{
    for (int i = 0; e->op == op && i < 2; i++) {
        const Expr *other = e->kid[1 - i];
        if (is_element_of(e->kid[i], element))
            return other;
        const Expr *rest = rest_of(ev, e->kid[i], op, element);
        if (rest)
            return expr_binary(ev->ir, op, rest, other);
    }
    return NULL;
}

static bool store_contributes(Eval *ev, Span at, const Value *to, const Expr *e)
{
    const Buffer *b = place_buffer(to);
    const Reduction *word = reduction_find(b->reducer);
    if (b->scope != MEM_REDUCER || to->kind != V_REGION || !word)
        return false;
    const Expr *rest = rest_of(ev, e, word->op, to->u.region);
    if (rest)
        contribute(ev, at, to, rest);
    return rest != NULL;
}

static void store_one(Eval *ev, Span at, const Value *to, TokenKind op, const Value *v)
{
    Buffer *b = place_buffer(to);
    Value x = *v;
    if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        diag_fail(ev->diag, at, "the barrier '%s' cannot be assigned [barrier-store]", b->name);
    if (b->scope == MEM_REDUCER && op == TK_ADD && to->kind == V_REGION && b->reducer &&
        !strcmp(b->reducer, "sum")) {
        update_reducer(ev, at, to, v);
        return;
    }
    if (op != TK_EOF)
        x = eval_binary(ev, at, op, to, v);
    const Expr *e = element_value(ev, at, b, &x);
    if (b->reducer && store_contributes(ev, at, to, e))
        return;
    const Expr *const *index = to->kind == V_REGION ? to->u.region->at : NULL;
    trace_emit(ev, stmt_store(ev->ir, at, b, index, b->rank, e));
}

static int wide_dims(const Region *r, int dim[RANK_MOST])
{
    int n = 0;
    int64_t k;
    for (int d = 0; d < r->buf->rank; d++)
        if (!expr_is_int(r->extent[d], &k) || k != 1)
            dim[n++] = d;
    return n;
}

/* A slice of so many elements as the vector that it is where a vector is wanted. */
static Value slice_as_vector(Eval *ev, const Value *v, int lanes)
{
    int dim[RANK_MOST];
    int64_t n;
    const Region *r = v->kind == V_REGION && !v->is_element ? v->u.region : NULL;

    if (!r || wide_dims(r, dim) != 1 || !expr_is_int(r->extent[dim[0]], &n) || n != lanes)
        return *v;
    Value out = element_of(ev, r->buf, r->at);
    out.u.region->at[dim[0]] = expr_ramp(ev->ir, r->at[dim[0]],
                                         expr_const(ev->ir, (DType)r->at[dim[0]]->type, 1), lanes);
    return out;
}

static bool may_read(const Expr *e, void *root)
{
    return e->op == EX_EXTERN || (e->op == EX_LOAD && buffer_root(e->u.buf) == root);
}

/* Does e read the memory of b? */
static bool reads(const Expr *e, const Buffer *b)
{
    return expr_any(e, may_read, buffer_root(b));
}

/* A[T.Ramp(i, 1, 4)] = v: the lanes go one by one. */
static void store_ramp(Eval *ev, Span at, const Value *to, int lanes, TokenKind op, const Value *v)
{
    const Region *r = to->u.region;
    Value x = slice_as_vector(ev, v, lanes);
    if (op != TK_EOF)
        x = eval_binary(ev, at, op, to, &x);
    const Expr *e = is_number(&x) ? NULL : to_expr(ev, at, &x, "what is stored");

    if (e && e->lanes > 1 && e->lanes != lanes)
        diag_fail(ev->diag, at, "a vector of %d does not fit %d elements of '%s' [lanes]", e->lanes,
                  lanes, r->buf->name);
    const Expr **lane =
        NEWN(ev->arena, const Expr *, lanes); /* all are read before any is stored */
    for (int i = 0; e && i < lanes; i++)
        lane[i] = e->lanes > 1 ? trace_let(ev, at, "lane", expr_lane(ev->ir, e, i)) : e;
    for (int i = 0; i < lanes; i++) {
        const Expr *index[RANK_MOST];
        for (int d = 0; d < r->buf->rank; d++)
            index[d] = r->at[d]->lanes > 1 ? expr_lane(ev->ir, r->at[d], i) : r->at[d];
        Value one = element_of(ev, r->buf, index);
        Value value = e ? value_expr(ev, lane[i]) : x;
        store_one(ev, at, &one, TK_EOF, &value);
    }
}

static int ramp_lanes(const Value *to)
{
    int lanes = 1;
    for (int d = 0; to->kind == V_REGION && d < to->u.region->buf->rank; d++)
        lanes = MAX(lanes, to->u.region->at[d]->lanes);
    return lanes;
}

/* ---- slices: a small nest of element stores -------------------------------------------------- */

enum { VECTOR_STORE_MOST = 64 };

static void store_lanes(Eval *ev, Span at, const Region *r, TokenKind op, const Expr *e)
{
    int dim[RANK_MOST], n = wide_dims(r, dim);
    int64_t lanes = 0;
    if (n != 1 || !expr_is_int(r->extent[dim[0]], &lanes) || lanes != e->lanes)
        diag_fail(ev->diag, at, "a vector of %d does not fit this slice of '%s' [slice-store]",
                  e->lanes, r->buf->name);
    const Expr *lane[VECTOR_STORE_MOST];
    bool own = reads(e, r->buf); /* then all are read before any is stored */
    for (int i = 0; i < e->lanes && i < VECTOR_STORE_MOST; i++) {
        lane[i] = expr_lane(ev->ir, e, i);
        lane[i] = own ? trace_let(ev, at, "lane", lane[i]) : lane[i];
    }
    for (int i = 0; i < e->lanes && i < VECTOR_STORE_MOST; i++) {
        const Expr *index[RANK_MOST];
        for (int d = 0; d < r->buf->rank; d++)
            index[d] = d == dim[0] ? expr_add(ev->ir, r->at[d], expr_int(ev->ir, i)) : r->at[d];
        Value to = element_of(ev, r->buf, index), one = value_expr(ev, lane[i]);
        store_one(ev, at, &to, op, &one);
    }
}

static void check_extents(Eval *ev, Span at, const Region *to, const int *dim, int n,
                          const Region *from, const int *from_dim, int nfrom)
{
    bool fits = n == nfrom;
    for (int i = 0; i < n && fits; i++) {
        int64_t a, b;
        if (expr_is_int(to->extent[dim[i]], &a) && expr_is_int(from->extent[from_dim[i]], &b))
            fits = a == b;
    }
    if (!fits)
        diag_fail(ev->diag, at, "this slice of '%s' and the value from '%s' differ in shape "
                  "[slice-store]", to->buf->name, from->buf->name);
}

static void store_slice(Eval *ev, Span at, const Region *r, TokenKind op, const Value *v)
{
    int dim[RANK_MOST], n = wide_dims(r, dim), from_dim[RANK_MOST], nfrom = 0;
    const Region *from = NULL;
    Var *var[RANK_MOST];
    const Expr *index[RANK_MOST], *from_index[RANK_MOST];

    if ((v->kind == V_REGION && !v->is_element) || (v->kind == V_BUFFER && v->u.buf->rank)) {
        Region *whole = NEW(ev->arena, Region);
        *whole = to_region(ev, at, v, "the value", NULL);
        from = whole;
        nfrom = wide_dims(from, from_dim);
        check_extents(ev, at, r, dim, n, from, from_dim, nfrom);
    }
    for (int i = 0; i < n; i++)
        var[i] = var_new(ev->ir, n == 1 ? "v" : arena_printf(ev->arena, "v%d", i), DT_I32, at);
    memcpy(index, r->at, sizeof *index * (size_t)r->buf->rank);
    for (int i = 0; i < n; i++)
        index[dim[i]] = expr_add(ev->ir, r->at[dim[i]], expr_var(ev->ir, var[i]));
    Value to = element_of(ev, r->buf, index), x = *v;
    if (from) {
        memcpy(from_index, from->at, sizeof *index * (size_t)from->buf->rank);
        for (int i = 0; i < n; i++)
            from_index[from_dim[i]] =
                expr_add(ev->ir, from->at[from_dim[i]], expr_var(ev->ir, var[i]));
        x = element_of(ev, from->buf, from_index);
    }
    Builder inner, *outer = ev->trace->build;
    build_open(&inner, ev->ir, outer);
    ev->trace->build = &inner;
    store_one(ev, at, &to, op, &x);
    ev->trace->build = outer;
    const Stmt *s = build_close(&inner, at);
    for (int i = n - 1; i >= 0; i--) {
        int64_t k;
        LoopHow how = i == n - 1 && expr_is_int(r->extent[dim[i]], &k) && k <= VECTOR_STORE_MOST
                          ? LOOP_VECTOR
                          : LOOP_SERIAL;
        s = stmt_for(ev->ir, at, how, var[i], expr_int(ev->ir, 0), r->extent[dim[i]], (Hints){0},
                     s);
    }
    build_add(outer, s);
}

void store_value(Eval *ev, Span at, const Value *to, TokenKind op, const Value *v)
{
    if (!ev->trace || !ev->trace->kernel)
        diag_fail(ev->diag, at, "'%s' can be written only inside of T.Kernel [outside-kernel]",
                  place_buffer(to)->name);
    if (to->kind == V_BUFFER || to->is_element) {
        int lanes = ramp_lanes(to);
        if (lanes > 1)
            store_ramp(ev, at, to, lanes, op, v);
        else
            store_one(ev, at, to, op, v);
        return;
    }
    if (v->kind == V_EXPR && v->u.expr->lanes > 1)
        store_lanes(ev, at, to->u.region, op, v->u.expr);
    else if (v->kind == V_REGION && v->is_element && ramp_lanes(v) > 1)
        store_lanes(ev, at, to->u.region, op, to_expr(ev, at, v, "what is stored"));
    else
        store_slice(ev, at, to->u.region, op, v);
}

/* ---- list and dict items --------------------------------------------------------------------- */

void assign_item(Eval *ev, Span at, Value *v, const Value *index, const Value *x)
{
    Value three[3] = {*v, *index, *x}, done;
    if (v->kind == V_FOREIGN && host_op(ev, at, "setitem", three, 3, &done))
        return;
    switch (v->kind) {
    case V_BUFFER: case V_REGION: {
        Value to = value_index(ev, at, v, index);
        store_value(ev, at, &to, TK_EOF, x);
        return;
    }
    case V_DICT:
        need_hashable(ev, at, index);
        dict_set(ev, v, index, x);
        return;
    case V_LIST: {
        if (index->kind == V_SLICE)
            diag_fail(ev->diag, at, "slices of a list cannot be assigned [list-slice]");
        int64_t i = to_int(ev, at, index, "the index"), n = v->u.seq->n;
        int64_t k = i < 0 ? i + n : i;
        if (k < 0 || k >= n)
            diag_fail(ev->diag, at, "index %lld is outside of a list of length %lld [index-range]",
                      (long long)i, (long long)n);
        v->u.seq->at[k] = *x;
        return;
    }
    case V_OBJECT: {
        Value *method = object_field(v->u.object, "__setitem__");
        if (!method || method->kind != V_FUNCTION)
            break;
        Value both[2] = {*index, *x};
        Span spans[2] = {at, at};
        call_function(ev, at, method->u.func, v,
                      &(CallArgs){.span = at, .n = 2, .at = both, .spans = spans});
        return;
    }
    case V_OPAQUE:
        if (!ev->trace)
            return;
        fail_opaque(ev, at, v, "the assignment");
    default: break;
    }
    diag_fail(ev->diag, at, "items of %s cannot be assigned [not-assignable]", value_kind_name(v));
}
