/* value_get.c -- reading out of values: attributes and subscripts. */
#include "front/eval.h"

/* ---- attributes ------------------------------------------------------------------------------ */

Value *object_field(const Object *o, const char *name)
{
    Value *v = map_get(&o->fields, name);
    for (const Object *c = o->cls ? o->cls : o->base; !v && c; c = c->base)
        v = map_get(&c->fields, name);
    return v;
}

bool object_is_a(const Object *o, const Object *cls)
{
    for (const Object *c = o->cls; c; c = c->base)
        if (c == cls)
            return true;
    return false;
}

NORETURN static void fail_attr(Eval *ev, Span at, const Value *v, const char *name)
{
    if (v->kind == V_MODULE)
        diag_fail(ev->diag, at, "'%s' has nothing called '%s' [no-such-name]", v->u.s.text, name);
    diag_fail(ev->diag, at, "%s has no attribute '%s' [no-attribute]", value_kind_name(v), name);
}

static Value attr_object(Eval *ev, Span at, const Value *v, const char *name)
{
    const Object *o = v->u.object;
    Value *field = object_field(o, name);
    if (!field && !strcmp(name, "__name__"))
        return value_cstr(ev, o->name);
    if (!field && !strcmp(name, "__class__") && o->cls)
        return (Value){.kind = V_CLASS, .u.object = (Object *)o->cls};
    if (!field)
        diag_fail(ev->diag, at, "'%s' has no attribute '%s' [no-attribute]", o->name, name);
    if (field->kind != V_FUNCTION || map_get(&o->fields, name) == field) {
        if (field->kind != V_FUNCTION || o->cls || field->u.func->how != 'c')
            return *field;
    }
    Function *f = field->u.func;
    if (f->how == 's')
        return *field;
    if (f->how == 'c') {
        Value cls = {.kind = V_CLASS, .u.object = (Object *)(o->cls ? o->cls : o)};
        return value_method(ev, &cls, NULL, f);
    }
    if (!o->cls) /* Class.method */
        return *field;
    if (f->how == 'p')
        return call_function(ev, at, f, v, &(CallArgs){.span = at});
    return value_method(ev, v, NULL, f);
}

static Value attr_module(Eval *ev, Span at, const Value *v, const char *name)
{
    static const char *const open[] = {"typing", "dataclasses", "enum", "functools", "itertools",
                                       "operator", "collections", "os", "sys", "argparse"};
    Value r = python_attr(ev, at, v->u.s.text, name);
    if (r.kind == V_UNBOUND)
        r = module_attr(ev, at, v->u.s.text, name);
    if (r.kind != V_UNBOUND)
        return r;
    const char *full = arena_printf(ev->arena, "%s.%s", v->u.s.text, name);
    if (map_has(&ev->modules, full))
        return *(Value *)map_get(&ev->modules, full);
    for (int i = 0; i < COUNT(open); i++)
        if (!strcmp(v->u.s.text, open[i]))
            return value_opaque(ev, full);
    if (!strcmp(v->u.s.text, "tilelang.language")) {
        if (attr_foreign(ev, at, NULL, name, &r))
            return r;
        const char **all = NEWN(ev->arena, const char *, builtin_count);
        for (int i = 0; i < builtin_count; i++)
            all[i] = builtin_table[i].name;
        const char *near = nearest_name(name, all, builtin_count);
        if (near)
            diag_fail(ev->diag, at, "T has nothing called '%s'; did you mean T.%s? [no-such-name]",
                      name, near);
        diag_fail(ev->diag, at, "T has nothing called '%s' [no-such-name]", name);
    }
    if (!strncmp(v->u.s.text, "tilelang", 8) || !strncmp(v->u.s.text, "tvm", 3)) {
        /* tilelang.x may be a module nobody imported by name. */
        Value m = value_cstr(ev, full);
        m.kind =
            !strcmp(v->u.s.text, "tilelang") && !strcmp(name, "language") ? V_MODULE : V_OPAQUE;
        return m;
    }
    fail_attr(ev, at, v, name);
}

static bool attr_own(Eval *ev, Span at, const Value *v, const char *name, Value *out)
{
    static const char *const part[] = {"start", "stop", "step"};
    switch (v->kind) {
    case V_SLICE: case V_RANGE:
        for (int i = 0; i < 3; i++)
            if (!strcmp(name, part[i])) {
                *out = v->u.seq->at[i];
                return true;
            }
        return false;
    case V_FUNCTION:
        if (!strcmp(name, "__name__")) {
            *out = value_cstr(ev, v->u.func->ast->name);
            return true;
        }
        *out = value_opaque(ev, arena_printf(ev->arena, "%s.%s", v->u.func->ast->name, name));
        return true;
    case V_BUILTIN:
        *out = language_attr(ev, at, v, name);
        if (out->kind == V_UNBOUND && !strcmp(name, "__name__"))
            *out = value_cstr(ev, v->u.builtin->name);
        return out->kind != V_UNBOUND;
    case V_FUNC:
        *out = value_opaque(ev, arena_printf(ev->arena, "%s.%s", v->u.irfunc->name, name));
        return true;
    default:
        *out = language_attr(ev, at, v, name);
        return out->kind != V_UNBOUND;
    }
}

Value value_attr(Eval *ev, Span at, const Value *v, const char *name)
{
    Value out;
    switch (v->kind) {
    case V_MODULE: return attr_module(ev, at, v, name);
    case V_FOREIGN:
        if (attr_foreign(ev, at, v->u.foreign, name, &out))
            return out;
        fail_attr(ev, at, v, name);
    case V_OPAQUE:
        if (v->u.s.len > 200)
            return *v;
        if (!strcmp(v->u.s.text, "torch.version") && !strcmp(name, "hip"))
            return value_none(); /* scripts ask whether this is an AMD machine */
        return value_opaque(ev, arena_printf(ev->arena, "%s.%s", v->u.s.text, name));
    case V_OBJECT: case V_CLASS: return attr_object(ev, at, v, name);
    default: break;
    }
    if (attr_own(ev, at, v, name, &out))
        return out;
    Value self = v->kind == V_DTYPE ? dtype_text(ev, v) : *v; /* a dtype is a str as well */
    const Builtin *b = python_method(&self, name);
    if (b)
        return value_method(ev, &self, b, NULL);
    fail_attr(ev, at, v, name);
}

void set_attr(Eval *ev, Span at, Value *v, const char *name, const Value *x)
{
    if (v->kind == V_OPAQUE || v->kind == V_FUNCTION || v->kind == V_MODULE)
        return; /* the host's own business: torch.backends.x = True */
    Value three[3] = {*v, value_cstr(ev, name), *x}, done;
    if (host_op(ev, at, "setattr", three, 3, &done))
        return;
    if (v->kind != V_OBJECT && v->kind != V_CLASS)
        diag_fail(ev->diag, at, "attributes of %s cannot be set [attribute-store]",
                  value_kind_name(v));
    Value *slot = map_get(&v->u.object->fields, name);
    if (!slot) {
        slot = NEW(ev->arena, Value);
        map_set(&v->u.object->fields, name, slot);
    }
    *slot = *x;
}

/* ---- subscripts of Python values ------------------------------------------------------------- */

static bool slice_part(Eval *ev, Span at, const Value *v, int64_t *out)
{
    if (v->kind == V_NONE)
        return false;
    *out = to_int(ev, at, v, "a slice bound");
    return true;
}

static bool python_slice(Eval *ev, Span at, const Value *slice, int64_t n, int64_t *start,
                         int64_t *step, int64_t *count)
{
    int64_t a, b, by = 1;
    const Value *part = slice->u.seq->at;
    if (slice_part(ev, at, &part[2], &by) && by == 0)
        diag_fail(ev->diag, at, "a slice step cannot be 0 [slice-step]");
    int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
    if (!slice_part(ev, at, &part[0], &a))
        a = by > 0 ? low : high;
    else if (a < 0)
        a = MAX(a < -n ? -n - 1 + n : a + n, low);
    if (!slice_part(ev, at, &part[1], &b))
        b = by > 0 ? high : low;
    else if (b < 0)
        b = MAX(b < -n ? -1 : b + n, low);
    a = MIN(MAX(a, low), high);
    b = MIN(MAX(b, low), high);
    by = MAX(MIN(by, INT32_MAX), -INT32_MAX);
    *start = a;
    *step = by;
    *count = by > 0 ? (b > a ? (b - a + by - 1) / by : 0) : (a > b ? (a - b - by - 1) / -by : 0);
    return true;
}

static int64_t python_position(Eval *ev, Span at, const Value *v, const Value *index, int64_t n)
{
    if (is_runtime(index))
        diag_fail(ev->diag, at, "%s is indexed at compile time, and this index is known only at "
                  "run time [runtime-index]", value_kind_name(v));
    int64_t i = to_int(ev, at, index, "the index");
    int64_t k = i < 0 ? i + n : i;
    if (k < 0 || k >= n)
        diag_fail(ev->diag, at, "index %lld is outside of %s of length %lld [index-range]",
                  (long long)i, value_kind_name(v), (long long)n);
    return k;
}

static Value index_seq(Eval *ev, Span at, const Value *v, const Value *index)
{
    const Seq *s = v->u.seq;
    if (index->kind != V_SLICE)
        return s->at[python_position(ev, at, v, index, s->n)];
    int64_t start, step, count;
    python_slice(ev, at, index, s->n, &start, &step, &count);
    eval_work(ev, at, (uint64_t)count);
    Value r = value_seq(ev, v->kind, NULL, 0);
    for (int64_t i = 0; i < count; i++)
        seq_push(ev, r.u.seq, &s->at[start + i * step]);
    return r;
}

static Value index_str(Eval *ev, Span at, const Value *v, const Value *index)
{
    int64_t start, step = 1, count = 1, n = (int64_t)v->u.s.len;
    if (index->kind == V_SLICE)
        python_slice(ev, at, index, n, &start, &step, &count);
    else
        start = python_position(ev, at, v, index, n);
    Str b;
    str_init(&b, ev->arena);
    for (int64_t i = 0; i < count; i++)
        str_putc(&b, v->u.s.text[start + i * step]);
    return value_str(ev, b.s, b.n);
}

static Value index_range(Eval *ev, Span at, const Value *v, const Value *index)
{
    int64_t start = v->u.seq->at[0].u.i, step = v->u.seq->at[2].u.i;
    if (index->kind == V_SLICE) {
        Value *item, list = {.kind = V_LIST};
        int n = value_items(ev, at, v, &item, "the slice");
        list = value_seq(ev, V_LIST, item, n);
        return index_seq(ev, at, &list, index);
    }
    return value_int(start + step * python_position(ev, at, v, index, range_length(v)));
}

/* ---- subscripts of buffers ------------------------------------------------------------------- */

/* `...` stands for as many full slices as are missing. */
static int spread_ellipsis(Eval *ev, Span at, const Buffer *b, const Value *given, int n,
                           Value out[RANK_MOST])
{
    int m = 0;
    bool seen = false;
    Value none[3] = {value_none(), value_none(), value_none()};
    for (int i = 0; i < n; i++) {
        bool dots = given[i].kind == V_OPAQUE && !strcmp(given[i].u.s.text, "...");
        int copies = dots ? (seen ? 0 : buffer_shown_rank(b) - (n - 1)) : 1;
        seen = seen || dots;
        for (int k = 0; k < copies; k++) {
            if (m == RANK_MOST || m >= buffer_shown_rank(b))
                return b->rank + 1;
            out[m++] = dots ? value_seq(ev, V_SLICE, none, 3) : given[i];
        }
    }
    (void)at;
    return m;
}

const Expr *widened(Ir *ir, const Expr *e)
{
    return dtype_is_int(e->type) && dtype_bits(e->type) < 32 ? expr_cast(ir, DT_I32, e) : e;
}

static const Expr *index_expr(Eval *ev, Span at, const Buffer *b, const Value *v)
{
    const Expr *e = to_expr(ev, at, v, arena_printf(ev->arena, "an index of '%s'", b->name));
    if (e->type == DT_BOOL)
        e = expr_cast(ev->ir, DT_I32, e);
    if (!dtype_is_int(e->type))
        diag_fail(ev->diag, at, "an index of '%s' must be an integer, not %s [index-type]", b->name,
                  dtype_name(e->type));
    return widened(ev->ir, e);
}

/* A negative constant counts from the end. */
static const Expr *from_end(Eval *ev, Span at, const Buffer *b, int d, const Expr *e)
{
    int64_t i, n;
    if (expr_is_int(e, &i) && expr_is_int(b->shape[d], &n) && i < 0 && i + n < 0)
        diag_fail(ev->diag, at, "index %lld of '%s' is outside of dimension %d of %lld "
                  "[out-of-bounds]", (long long)i, b->name, d, (long long)n);
    return expr_is_int(e, &i) && i < 0 ? expr_add(ev->ir, b->shape[d], e) : e;
}

static bool note_range(const Expr *e, void *arg)
{
    Facts *f = arg;
    if (e->op == EX_VAR && !facts_of(f, e->u.var))
        facts_range(f, e->u.var, expr_const(f->ir, e->type, 0),
                    expr_const(f->ir, e->type, INT32_MAX));
    return true;
}

/* Lanes of a T.Ramp count from the end where they turn out negative.  Loops start at 0 or above, so
 * a ramp that only adds to them has no such lane. */
static const Expr *lanes_from_end(Eval *ev, const Buffer *b, int d, const Expr *e)
{
    Ir *ir = ev->ir;
    if (e->op != EX_RAMP)
        return e;
    const Expr **lane = NEWN(ev->arena, const Expr *, e->lanes);
    const Expr *zero = expr_const(ir, e->type, 0);
    Facts *f = facts_new(ir);
    bool any = false;
    expr_visit(e, note_range, f);
    for (int i = 0; i < e->lanes; i++) {
        lane[i] = expr_lane(ir, e, i);
        Bounds r = bounds_of(f, lane[i]);
        if (r.lo == INT64_MIN || r.lo >= 0)
            continue;
        lane[i] = expr_select(ir, expr_binary(ir, EX_LT, lane[i], zero),
                              expr_add(ir, lane[i], b->shape[d]), lane[i]);
        any = true;
    }
    return any ? expr_vector(ir, lane, e->lanes) : e;
}

static void index_slice(Eval *ev, Span at, const Buffer *b, int d, const Value *slice, Region *r)
{
    const Value *part = slice->u.seq->at;
    int64_t step = 1;
    if (part[2].kind != V_NONE &&
        (part[2].kind != V_INT || (step = part[2].u.i) != 1))
        diag_fail(ev->diag, at, "a region of '%s' cannot have a step [slice-step]", b->name);
    const Expr *start = part[0].kind == V_NONE
                            ? expr_int(ev->ir, 0)
                            : from_end(ev, at, b, d, index_expr(ev, at, b, &part[0]));
    const Expr *stop = part[1].kind == V_NONE
                           ? b->shape[d]
                           : from_end(ev, at, b, d, index_expr(ev, at, b, &part[1]));
    int64_t n;
    r->at[d] = start;
    r->extent[d] = simplify(ev->ir, facts_new(ev->ir), expr_sub(ev->ir, stop, start));
    if (expr_is_int(r->extent[d], &n) && n <= 0)
        diag_fail(ev->diag, at, "this slice of '%s' is empty [empty-slice]", b->name);
}

/* An element that is a vector: all of its lanes. */
static void index_lanes(Eval *ev, Span at, Value *v)
{
    Region *r = v->u.region;
    int last = r->buf->rank - 1;

    if (!v->is_element)
        diag_fail(ev->diag, at, "elements of '%s' are vectors and are taken one by one; T.view "
                  "shows their lanes [lanes]", r->buf->name);
    for (int d = 0; d < last; d++)
        if (r->at[d]->lanes > 1)
            diag_fail(ev->diag, at, "an index of '%s' is one number: its elements are vectors "
                      "[lanes]", r->buf->name);
    r->at[last] = expr_ramp(ev->ir, expr_int(ev->ir, 0), expr_int(ev->ir, 1), r->buf->lanes);
    r->extent[last] = expr_int(ev->ir, 1);
}

static Value index_buffer(Eval *ev, Span at, const Value *v, const Value *index)
{
    Buffer *b = v->u.buf;
    Value at_each[RANK_MOST];
    const Value *given = index->kind == V_TUPLE ? index->u.seq->at : index;
    int n = index->kind == V_TUPLE ? index->u.seq->n : 1, rank = buffer_shown_rank(b);
    int64_t zero;

    if (b->rank == 0 && n == 1 && (given->kind == V_INT || given->kind == V_BOOL)) {
        zero = given->u.i;
        if (zero == 0)
            return *v;
    }
    n = n > 64 ? n : spread_ellipsis(ev, at, b, given, n, at_each);
    if (n != rank)
        diag_fail(ev->diag, at, "'%s' has %d dimension%s and is indexed with %d [index-count]",
                  b->name, rank, rank == 1 ? "" : "s",
                  index->kind == V_TUPLE ? index->u.seq->n : 1);
    Region *r = NEW(ev->arena, Region);
    r->buf = b;
    r->at = NEWN(ev->arena, const Expr *, b->rank + 1);
    r->extent = NEWN(ev->arena, const Expr *, b->rank + 1);
    Value out = {.kind = V_REGION, .is_element = true, .u.region = r};
    for (int d = 0; d < n; d++) {
        if (at_each[d].kind == V_SLICE) {
            index_slice(ev, at, b, d, &at_each[d], r);
            out.is_element = false;
            continue;
        }
        r->at[d] = from_end(ev, at, b, d, index_expr(ev, at, b, &at_each[d]));
        r->at[d] = lanes_from_end(ev, b, d, r->at[d]);
        r->extent[d] = expr_int(ev->ir, 1);
    }
    if (b->lanes)
        index_lanes(ev, at, &out);
    return out;
}

/* Indexing a region counts from its start: A[2:6, :][i, j]. */
static Value index_region(Eval *ev, Span at, const Value *v, const Value *index)
{
    const Region *base = v->u.region;
    Value whole = value_buffer(base->buf);
    if (v->is_element)
        diag_fail(ev->diag, at, "an element of '%s' cannot be indexed again [index-count]",
                  base->buf->name);
    Value r = index_buffer(ev, at, &whole, index);
    if (r.kind != V_REGION)
        return r;
    for (int d = 0; d < base->buf->rank; d++) {
        if (r.u.region->extent[d] == base->buf->shape[d] && expr_is_zero(r.u.region->at[d]))
            r.u.region->extent[d] = base->extent[d];
        r.u.region->at[d] = expr_add(ev->ir, base->at[d], r.u.region->at[d]);
    }
    return r;
}

/* T.Tensor[(M, N), "float16"] is T.Tensor((M, N), "float16"). */
static Value index_builtin(Eval *ev, Span at, const Value *v, const Value *index)
{
    if (index->kind != V_TUPLE)
        return call_values(ev, at, v, index, 1);
    bool all_sizes = index->u.seq->n > 0;
    for (int i = 0; i < index->u.seq->n; i++)
        all_sizes =
            all_sizes && (index->u.seq->at[i].kind == V_INT || is_runtime(&index->u.seq->at[i]));
    if (all_sizes)
        return call_values(ev, at, v, index, 1);
    return call_values(ev, at, v, index->u.seq->at, index->u.seq->n);
}

Value value_index(Eval *ev, Span at, const Value *v, const Value *index)
{
    Value out = {0};
    switch (v->kind) {
    case V_TUPLE: case V_LIST: return index_seq(ev, at, v, index);
    case V_STR: return index_str(ev, at, v, index);
    case V_DTYPE: {
        Value text = dtype_text(ev, v);
        return index_str(ev, at, &text, index);
    }
    case V_RANGE: return index_range(ev, at, v, index);
    case V_BUFFER: return index_buffer(ev, at, v, index);
    case V_REGION: return index_region(ev, at, v, index);
    case V_DICT: {
        Value *found = dict_find(ev, v, index);
        if (found)
            return *found;
        Str b;
        str_init(&b, ev->arena);
        value_repr(ev, &b, index, true);
        diag_fail(ev->diag, at, "the dict has no key %s [missing-key]", b.s);
    }
    case V_BUILTIN: return index_builtin(ev, at, v, index);
    case V_OPAQUE: case V_CLASS: return *v;
    case V_OBJECT: {
        Value *method = object_field(v->u.object, "__getitem__");
        if (method && method->kind == V_FUNCTION)
            return call_function(ev, at, method->u.func, v, &(CallArgs){
                .span = at, .n = 1, .at = (Value *)index, .spans = &at});
        break;
    }
    case V_FOREIGN:
        if (index_foreign(ev, at, v, index, &out))
            return out;
        break;
    case V_NODE: return tensor_index(ev, at, v, index);
    case V_EXPR:
        if (v->u.expr->lanes > 1 && index->kind == V_INT && index->u.i >= 0 &&
            index->u.i < v->u.expr->lanes)
            return value_expr(ev, expr_lane(ev->ir, v->u.expr, (int)index->u.i));
        break;
    default: break;
    }
    diag_fail(ev->diag, at, "%s cannot be indexed [not-indexable]", value_kind_name(v));
}
