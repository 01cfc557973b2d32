/* memory.c -- raw asynchronous copies, and accesses as wide as one asks: T.ldg128 and its kin. */
#include "front/builtin.h"

/* ---- raw copies ------------------------------------------------------------------------------ */

/* T.ptx_cp_async(dst, src, num_elems[, predicate]): dst and src are addresses of elements; the
 * elements are those of the last dimension from there.  A false predicate stores zeros. */
static void element_at(BuiltinCall *c, int i, Region *r)
{
    const Value *v = &c->arg[i];
    if (v->kind == V_EXPR && v->u.expr->op == EX_ADDR) {
        const Expr *e = v->u.expr;
        *r = region_whole(c->ev->ir, e->u.buf);
        for (int d = 0; d < e->u.buf->rank; d++)
            r->at[d] = e->kid[d];
        return;
    }
    bool is_element;
    *r = arg_region(c, i, &is_element);
}

static void step_along(Ir *ir, const Region *r, const Expr *by, const Expr **at)
{
    int n = r->buf->rank;
    for (int d = 0; d < n; d++)
        at[d] = r->at[d];
    if (n > 0)
        at[n - 1] = expr_add(ir, at[n - 1], by);
}

Value do_ptx_cp_async(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    Region dst, src;
    const Expr *to[RANK_MOST], *from[RANK_MOST];
    call_kernel(c);
    element_at(c, 0, &dst);
    element_at(c, 1, &src);
    const Expr *n = arg_index(c, 2);
    Var *v = var_new(ir, "i", DT_I32, c->span);
    step_along(ir, &dst, expr_var(ir, v), to);
    step_along(ir, &src, expr_var(ir, v), from);
    const Expr *e = expr_load(ir, src.buf, from, src.buf->rank);
    if (arg_given(c, 3))
        e = expr_if(ir, arg_bool_expr(c, 3), e, expr_zero(ir, src.buf->type));
    const Stmt *s = stmt_store(ir, c->span, dst.buf, to, dst.buf->rank,
                               expr_cast(ir, dst.buf->type, e));
    if (buffer_root(dst.buf)->scope == MEM_SHARED)
        s = stmt_store_async(ir, s, ASYNC_COPY);
    return call_emit(c, stmt_for(ir, c->span, LOOP_VECTOR, v, expr_int(ir, 0), n, (Hints){0}, s));
}

/* ---- wide loads and stores: ldg128(A[i]) is uint32x4 from there ------------------------------ */

static int wide_bits(const BuiltinCall *c)
{
    int bits = 0;
    for (const char *s = c->b->name; *s; s++)
        if (*s >= '0' && *s <= '9')
            bits = bits * 10 + (*s - '0');
    return bits;
}

/* The helper for it: load_global_128, store_shared_32_conditional. */
static const char *wide_name(const BuiltinCall *c, int bits, bool conditional)
{
    bool store = c->b->name[0] == 's', shared = c->b->name[2] == 's';
    return ir_name(c->ev->ir,
                   arena_printf(c->ev->arena, "%s_%s_%d%s", store ? "store" : "load",
                                shared ? "shared" : "global", bits,
                                conditional ? "_conditional" : ""));
}

/* The side of memory: so many elements from one on. */
static const Expr *wide_side(BuiltinCall *c, int bits, const char *verb)
{
    Region r;
    bool shared = c->b->name[2] == 's';
    element_at(c, 0, &r);
    int width = dtype_bits(r.buf->type);
    if (width < 8 || width > bits)
        arg_fail(c, 0, "of %s cannot be %s %d bits at a time [argument-type]",
                 dtype_name(r.buf->type), verb, bits);
    if (buffer_root(r.buf)->scope != (shared ? MEM_SHARED : MEM_GLOBAL))
        arg_fail(c, 0, "must be in %s memory, '%s' is %s [argument-type]",
                 shared ? "shared" : "global", r.buf->name, mem_name(r.buf->scope));
    lend_buffer(c->ev, r.buf);
    return expr_addr(c->ev->ir, r.buf, r.at, r.buf->rank);
}

/* The side of registers: words of 32 bits. */
static Buffer *wide_words(BuiltinCall *c, int bits)
{
    const Expr *n = expr_int(c->ev->ir, bits / 32);
    Buffer *b = trace_buffer(c->ev, c->span, DT_U32, MEM_LOCAL, 1, &n);
    b->name = ir_name(c->ev->ir, "wide");
    return b;
}

static const Expr *wide_condition(BuiltinCall *c, int i)
{
    return c->narg > i && arg_given(c, i) ? arg_bool_expr(c, i) : NULL;
}

static void wide_call(BuiltinCall *c, Intrin which, int bits, const Expr *to, const Expr *from,
                      const Expr *cond)
{
    const Expr *arg[3] = {to, from, cond ? cond : expr_bool(c->ev->ir, true)};
    call_emit(c, stmt_call(c->ev->ir, c->span, which, 3, arg, 0, NULL,
                           wide_name(c, bits, cond != NULL), NULL));
}

/* Bits of the elements from a start, as uint32 lanes. */
Value do_wide_load(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *lane[8], *at = expr_int(ir, 0);
    int bits = wide_bits(c), n = bits / 32;
    call_kernel(c);
    const Expr *from = wide_side(c, bits, "read");
    Buffer *words = wide_words(c, bits);
    wide_call(c, INTRIN_WIDE_LOAD, bits, expr_addr(ir, words, &at, 1), from, wide_condition(c, 1));
    for (int i = 0; i < n; i++) {
        at = expr_int(ir, i);
        lane[i] = trace_let(c->ev, c->span, "word", expr_load(ir, words, &at, 1));
    }
    return value_expr(c->ev, n == 1 ? lane[0] : expr_vector(ir, lane, n));
}

Value do_wide_store(BuiltinCall *c)
{
    Ir *ir = c->ev->ir;
    const Expr *at = expr_int(ir, 0);
    int bits = wide_bits(c), n = bits / 32;
    call_kernel(c);
    const Expr *to = wide_side(c, bits, "written"), *v = arg_expr(c, 1);
    if (dtype_bits(v->type) * v->lanes != bits)
        arg_fail(c, 1, "has %d bits, not %d [argument-type]", dtype_bits(v->type) * v->lanes, bits);
    v = expr_bitcast(ir, DT_U32, n, v);
    const Expr *cond = wide_condition(c, 2);
    Buffer *words = wide_words(c, bits);
    for (int i = 0; i < n; i++) {
        at = expr_int(ir, i);
        call_emit(c, stmt_store(ir, c->span, words, &at, 1, n == 1 ? v : expr_lane(ir, v, i)));
    }
    at = expr_int(ir, 0);
    wide_call(c, INTRIN_WIDE_STORE, bits, to, expr_addr(ir, words, &at, 1), cond);
    return value_none();
}

static Value constant_load(BuiltinCall *c, const Expr *e)
{
    bool can = e->op == EX_LOAD && e->lanes == 1 && e->type != DT_BOOL &&
               buffer_root(e->u.buf)->scope == MEM_GLOBAL;
    return value_expr(c->ev, can ? expr_math(c->ev->ir, MATH_LDG, &e, 1) : e);
}

/* T.__ldg(A[i]), T.__ldg(A, i) */
Value do_ldg(BuiltinCall *c)
{
    call_kernel(c);
    if (!arg_given(c, 1))
        return constant_load(c, arg_expr(c, 0));
    Buffer *b = arg_buffer(c, 0);
    const Expr *at = arg_index(c, 1);
    if (b->rank != 1)
        arg_fail(c, 1, "is one index, '%s' has %d dimensions [argument-type]", b->name, b->rank);
    return constant_load(c, expr_load(c->ev->ir, b, &at, 1));
}

Value do_gather4_bytes(BuiltinCall *c)
{
    return value_int(4 * dtype_bytes(arg_dtype(c, 1, NULL), arg_int(c, 0)));
}
