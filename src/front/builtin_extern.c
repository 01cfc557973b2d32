/* builtin_extern.c -- addresses, and C functions called by name. */
#include "front/builtin.h"
#include "front/eval.h"

/* ---- addresses ------------------------------------------------------------------------------- */

/* What an address is for.  A.data says nothing of it: T.tvm_access_ptr does where it takes it. */
typedef enum { FOR_READING = 1, FOR_WRITING = 2, FOR_BOTH = 3 } Purpose;

typedef struct {
    Purpose all; /* those given away for good */
    int data;    /* A.data that nobody has taken */
} Lent;

static void lend(Eval *ev, Buffer *b, Purpose what, int data)
{
    Buffer *root = (Buffer *)buffer_root(b);
    Lent *l = ev->trace ? map_get(&ev->trace->lent, root) : NULL;
    if (!ev->trace)
        return;
    if (!l) {
        l = NEW(ev->arena, Lent);
        map_set(&ev->trace->lent, root, l);
    }
    l->all |= what;
    l->data += data;
    root->lent_to_read = l->all == FOR_READING && l->data == 0;
}

void lend_buffer(Eval *ev, Buffer *b)
{
    lend(ev, b, FOR_BOTH, 0);
}

static Purpose purpose(const BuiltinCall *c, int i)
{
    static const char *const words[] = {"r", "w", "rw", NULL};
    if (c->arg[i].kind != V_INT)
        return (Purpose)(arg_word(c, i, words, " [argument-type]")[1] ? FOR_BOTH
                         : !strcmp(arg_text(c, i), "r") ? FOR_READING : FOR_WRITING);
    if (c->arg[i].u.i < FOR_READING || c->arg[i].u.i > FOR_BOTH)
        arg_fail(c, i, "must be 1, 2 or 3: the bits to read and to write [argument-type]");
    return (Purpose)c->arg[i].u.i;
}

/* So many elements from there on are in the buffer, as far as is known. */
static void check_reach(const BuiltinCall *c, int i, const Buffer *b, const Expr *const *at,
                        const Expr *count)
{
    Ir *ir = c->ev->ir;
    const Expr *flat = expr_int(ir, 0), *size = expr_int(ir, 1);
    int64_t first, n, all;
    for (int d = 0; d < b->rank; d++) {
        flat = expr_add(ir, expr_mul(ir, flat, b->shape[d]), at[d]);
        size = expr_mul(ir, size, b->shape[d]);
    }
    if (b->stride || !expr_is_int(count, &n) || !expr_is_int(size, &all))
        return;
    if (!expr_is_int(flat, &first))
        first = 0;
    if (n < 0 || first + n > all)
        arg_fail(c, i, "reaches to element %lld of '%s', which has %lld [slice-range]",
                 (long long)(first + n), b->name, (long long)all);
}

/* The load that a name was given to: x = A[i]. */
static const Expr *load_behind(const BuiltinCall *c, const Expr *e)
{
    for (Builder *b = c->ev->trace ? c->ev->trace->build : NULL; b && e->op == EX_VAR; b = b->outer)
        for (int i = 0; i < b->list.n && e->op == EX_VAR; i++)
            if (b->list.at[i]->kind == ST_LET && b->list.at[i]->u.let.var == e->u.var)
                e = b->list.at[i]->u.let.value;
    return e->op == EX_LOAD && !e->guarded && e->lanes == 1 ? e : NULL;
}

const Expr *address_of(const BuiltinCall *c, int i)
{
    bool is_element;
    const Value *v = &c->arg[i];
    const Expr *read = v->kind == V_EXPR ? load_behind(c, v->u.expr) : NULL;
    if (read) {
        lend_buffer(c->ev, read->u.buf);
        return expr_addr(c->ev->ir, read->u.buf, read->kid, read->u.buf->rank);
    }
    Region r = arg_region(c, i, &is_element);
    const Expr *at[RANK_MOST];
    lend_buffer(c->ev, r.buf);
    for (int d = 0; d < r.buf->rank; d++) /* a vector starts at its first lane */
        at[d] = r.at[d]->lanes > 1 ? expr_lane(c->ev->ir, r.at[d], 0) : r.at[d];
    return expr_addr(c->ev->ir, r.buf, at, r.buf->rank);
}

Value do_address_of(BuiltinCall *c)
{
    return value_expr(c->ev, address_of(c, 0));
}

/* The address of a region's start with the last `dropped` indices 0, moved on by elements. */
static Value pointer_to(BuiltinCall *c, const Region *r, int64_t dropped, int offset, int extent,
                        const Expr *count)
{
    Ir *ir = c->ev->ir;
    int n = r->buf->rank;
    const Expr *at[RANK_MOST];
    for (int d = 0; d < n; d++)
        at[d] = d < n - dropped ? r->at[d] : expr_int(ir, 0);
    if (n > 0 && arg_given(c, offset))
        at[n - 1] = expr_add(ir, at[n - 1], arg_index(c, offset));
    check_reach(c, extent, r->buf, at, arg_given(c, extent) ? arg_index(c, extent) : count);
    lend(c->ev, r->buf, purpose(c, 1), 0);
    return value_expr(c->ev, expr_addr(ir, r->buf, at, n));
}

/* T.access_ptr(A[i, j], "r", 4, 8, offset=0): so many elements along each dimension. */
Value do_access_ptr(BuiltinCall *c)
{
    enum { EXTENTS = 2, OFFSET, EXTENT, IGNORED };
    Ir *ir = c->ev->ir;
    bool is_element;
    Region r = arg_region(c, 0, &is_element);
    const Expr *count = expr_int(ir, c->nrest > 0);
    for (int i = 0; i < c->nrest; i++) {
        int64_t n = 1;
        const Expr *e = rest_expr(c, i), *size = i < r.buf->rank
                        ? r.buf->shape[r.buf->rank - c->nrest + i] : expr_int(ir, 0);
        if (c->nrest > r.buf->rank || (expr_is_int(e, &n) && n < 0) ||
            (expr_is_int(expr_sub(ir, size, e), &n) && n < 0))
            arg_fail(c, EXTENTS, "reach past the end of '%s' [slice-range]", r.buf->name);
    }
    int64_t dropped = arg_int(c, IGNORED);
    if (dropped < 0 || dropped > r.buf->rank)
        arg_fail(c, IGNORED, "must be from 0 to %d, not %lld [argument-type]", r.buf->rank,
                 (long long)dropped);
    return pointer_to(c, &r, dropped, OFFSET, EXTENT, count);
}

/* Buffer.access_ptr(mode, …): modes are words or the bits read 1, write 2. */
Value do_buffer_access_ptr(BuiltinCall *c)
{
    enum { TYPE = 2, LANES, OFFSET, EXTENT };
    bool is_element;
    Region r = arg_region(c, 0, &is_element);
    if (!arg_text(c, TYPE) || strcmp(arg_text(c, TYPE), "handle"))
        arg_fail(c, TYPE, "must be \"handle\": an address has the type of its buffer "
                 "[argument-type]");
    if (arg_int(c, LANES) != 1)
        arg_fail(c, LANES, "must be 1: an address is of single elements [argument-type]");
    return pointer_to(c, &r, 0, OFFSET, EXTENT, expr_int(c->ev->ir, 0));
}

Value do_type_annotation(BuiltinCall *c)
{
    int lanes;
    DType t = arg_dtype(c, 0, &lanes);
    return value_dtype(t, lanes);
}

/* T.tvm_access_ptr(T.type_annotation(dtype), A.data, offset, …): elements are counted row by
 * row. */
Value do_tvm_access_ptr(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    int lanes;
    DType t = arg_dtype(c, 0, &lanes);
    const Expr *p = arg_expr(c, 1), *rest = arg_index(c, 2), *at[RANK_MOST];
    if (p->op != EX_ADDR || p->u.buf->stride)
        arg_fail(c, 1, "must be the .data of a buffer without strides of its own [argument-type]");
    const Buffer *b = p->u.buf;
    if (b->type != t || lanes != 1)
        arg_fail(c, 0, "must be %s, the type of '%s' [argument-type]", dtype_name(b->type),
                 b->name);
    for (int d = b->rank - 1; d >= 0; d--) {
        at[d] = expr_add(ir, p->kid[d], d ? expr_floormod(ir, rest, b->shape[d]) : rest);
        rest = expr_floordiv(ir, rest, b->shape[d]);
    }
    check_reach(c, 3, b, at, arg_index(c, 3));
    lend(c->ev, p->u.buf, purpose(c, 4), -1);
    return value_expr(c->ev, expr_addr(ir, p->u.buf, at, b->rank));
}

/* An address as a number. */
static const Expr *arg_address(BuiltinCall *c, int i)
{
    Ir *ir = c->ev->ir;
    const Expr *p = arg_expr(c, i);
    if (p->type == DT_HANDLE && p->lanes == 1)
        return expr_bitcast(ir, DT_U64, 1, p);
    if (!dtype_is_int(p->type) || p->lanes != 1)
        arg_fail(c, i, "must be an address, not %s [argument-type]", dtype_name((DType)p->type));
    return expr_cast(ir, DT_U64, p);
}

Value do_isnullptr(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *p = arg_address(c, 0);
    return value_expr(c->ev, expr_binary(ir, EX_EQ, p, expr_const(ir, DT_U64, 0)));
}

Value do_handle_add(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *e = expr_add(ir, arg_address(c, 0), arg_address(c, 1));
    return value_expr(c->ev, expr_bitcast(ir, DT_HANDLE, 1, e));
}

/* ---- attributes of buffers and expressions --------------------------------------------------- */

static const Value unbound = {.kind = V_UNBOUND};

static Value expr_list(Eval *ev, int n, const Expr *const *e)
{
    Value v[RANK_MOST];
    for (int i = 0; i < n; i++)
        v[i] = value_expr(ev, e[i]);
    return value_tuple(ev, v, n);
}

static Value strides(Eval *ev, const Buffer *b)
{
    const Expr *e[RANK_MOST], *all = expr_int(ev->ir, 1);
    if (b->stride)
        return expr_list(ev, b->rank, b->stride);
    for (int d = b->rank - 1; d >= 0; d--) {
        e[d] = all;
        all = expr_mul(ev->ir, all, b->shape[d]);
    }
    return expr_list(ev, b->rank, e);
}

static Value buffer_attr(Eval *ev, const Value *v, const char *name)
{
    Buffer *b = v->kind == V_BUFFER ? v->u.buf : v->u.region->buf;
    static const char *const methods[] = {"access_ptr", "scope", "astype", "get_flattened_buffer"};
    int rank = buffer_shown_rank(b);
    if (!strcmp(name, "dtype"))
        return value_dtype(b->type, MAX(b->lanes, 1));
    if (!strcmp(name, "shape"))
        return v->kind == V_BUFFER ? expr_list(ev, rank, b->shape)
                                   : expr_list(ev, rank, v->u.region->extent);
    if (!strcmp(name, "ndim"))
        return value_int(rank);
    if (!strcmp(name, "strides"))
        return strides(ev, b);
    if (!strcmp(name, "name"))
        return value_str(ev, b->name, strlen(b->name));
    if (!strcmp(name, "elem_offset"))
        return value_int(0);
    if (!strcmp(name, "buffer") && v->kind == V_REGION)
        return value_buffer(b);
    if (!strcmp(name, "indices") && v->kind == V_REGION)
        return expr_list(ev, b->rank, v->u.region->at);
    if (!strcmp(name, "data")) {
        Region r = region_whole(ev->ir, b);
        lend(ev, b, 0, 1);
        return value_expr(ev, expr_addr(ev->ir, b, r.at, b->rank));
    }
    for (int i = 0; i < COUNT(methods); i++)
        if (!strcmp(name, methods[i]))
            return method_of(ev, v, arena_printf(ev->arena, "Buffer.%s", name));
    return unbound;
}

static Value expr_attr(Eval *ev, const Value *v, const char *name)
{
    const Expr *e = v->u.expr;
    if (!strcmp(name, "dtype"))
        return value_dtype((DType)e->type, e->lanes);
    if (!strcmp(name, "astype"))
        return method_of(ev, v, "Buffer.astype");
    if (!strcmp(name, "name") && e->op == EX_VAR)
        return value_str(ev, e->u.var->name, strlen(e->u.var->name));
    if (!strcmp(name, "value") && expr_is_const(e)) {
        int64_t i;
        double f;
        if (expr_is_int(e, &i))
            return value_int(i);
        if (expr_is_float(e, &f))
            return value_float(f);
    }
    return unbound;
}

static Value spec_attr(Eval *ev, const Value *v, const char *name)
{
    const TensorSpec *s = v->u.spec;
    if (!strcmp(name, "dtype"))
        return value_dtype(s->dtype, MAX(s->lanes, 1));
    if (!strcmp(name, "shape"))
        return value_tuple(ev, s->shape, s->rank);
    return unbound;
}

Value language_attr(Eval *ev, Span at, const Value *v, const char *name)
{
    switch (v->kind) {
    case V_DTYPE: return dtype_attr(ev, v, name);
    case V_INT: return v->is_policy ? policy_attr(ev, v, name) : unbound;
    case V_BUFFER:
    case V_REGION: return buffer_attr(ev, v, name);
    case V_EXPR: return expr_attr(ev, v, name);
    case V_LAYOUT: return layout_attr(ev, v, name);
    case V_TENSOR: return spec_attr(ev, v, name);
    case V_BUILTIN: return builtin_attr(ev, v, name);
    case V_NODE: return tensor_attr(ev, at, v, name);
    default: return unbound;
    }
}

Value do_buffer_scope(BuiltinCall *c)
{
    static const char *const name[MEM_COUNT] = {
        [MEM_GLOBAL] = "global", [MEM_SHARED] = "shared.dyn", [MEM_FRAGMENT] = "local.fragment",
        [MEM_LOCAL] = "local", [MEM_VAR] = "local.var", [MEM_REDUCER] = "local.reducer",
        [MEM_BARRIER] = "shared.barrier", [MEM_CLUSTER_BARRIER] = "shared.cluster_barrier",
        [MEM_TMEM] = "shared.tmem", [MEM_DESCRIPTOR] = "local.descriptor",
    };
    bool is_element;
    Region r = arg_region(c, 0, &is_element);
    return value_str(c->ev, name[r.buf->scope], strlen(name[r.buf->scope]));
}

Value do_buffer_flat(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Buffer *b = arg_buffer(c, 0);
    const Expr *all = expr_int(ir, 1);
    for (int d = 0; d < b->rank; d++)
        all = expr_mul(ir, all, b->shape[d]);
    Buffer *flat = derived_buffer(c, b->type, b->scope, 1, &all);
    flat->view_of = b;
    return value_buffer(flat);
}

/* ---- C functions ----------------------------------------------------------------------------- */

/* Whole buffers go as the address of their first element. */
static const Expr *extern_arg(BuiltinCall *c, const Value *v)
{
    if (v->kind == V_STR)
        return expr_str(c->ev->ir, v->u.s.text);
    if (v->kind == V_BUFFER && v->u.buf->rank > 0) {
        Region r = region_whole(c->ev->ir, v->u.buf);
        lend_buffer(c->ev, r.buf);
        return expr_addr(c->ev->ir, r.buf, r.at, r.buf->rank);
    }
    return to_expr(c->ev, c->span, v, call_title(c));
}

static const char *function_name(BuiltinCall *c, int i)
{
    const char *name = arg_text(c, i);
    if (!name || !name[0])
        arg_fail(c, i, "must name a C function [argument-type]");
    for (const char *s = name; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_' || *s == ':' ||
              *s == '<' || *s == '>' || *s == ',' || *s == ' ' || (*s >= '0' && *s <= '9')))
            arg_fail(c, i, "is no function name: '%s' [argument-type]", name);
    return ir_name(c->ev->ir, name);
}

static const Expr **extern_args(BuiltinCall *c)
{
    const Expr **arg = NEWN(c->ev->arena, const Expr *, c->nrest + 1);
    for (int i = 0; i < c->nrest; i++)
        arg[i] = extern_arg(c, &c->rest[i]);
    return arg;
}

/* A function whose meaning somebody knows is an expression like any other. */
static bool is_known(BuiltinCall *c, Value *out)
{
    static KnownCallFn *const known[] = {
#define CALLS(fn) fn,
#include "front/calls.def"
#undef CALLS
    };
    const char *name = function_name(c, 1);

    for (int i = 0; i < COUNT(known); i++)
        if (known[i](c, name, out))
            return true;
    return false;
}

/* A type of "handle" or "void" means that nothing comes back. */
Value do_call_extern(BuiltinCall *c)
{
    Value known;
    call_kernel(c);
    if (is_known(c, &known))
        return known;
    const char *text = value_text(&c->arg[0]);
    DType t = DT_NONE;
    if (!text || (strcmp(text, "handle") && strcmp(text, "void")))
        t = arg_dtype(c, 0, NULL);
    if (t == DT_HANDLE)
        t = DT_NONE;
    const char *name = function_name(c, 1);
    const Expr **arg = extern_args(c);
    return call_intrin(c, INTRIN_EXTERN, c->nrest, arg, 0, NULL, name, t);
}

Value do_call_pure_extern(BuiltinCall *c)
{
    Value known;
    if (is_known(c, &known))
        return known;
    DType t = arg_dtype(c, 0, NULL);
    const char *name = function_name(c, 1);
    return value_expr(c->ev, expr_extern(c->ev->ir, t, name, extern_args(c), c->nrest));
}
