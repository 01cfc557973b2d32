/* memory.c -- declarations, copies of many elements at a time, atomic updates. */
#include <math.h>
#include "target/opencl/opencl.h"

/* ---- declarations ---------------------------------------------------------------------------- */

/* A type that may be any in memory: bytes that are seen as two types are accessed by it. */
static const char *any_type(Emit *e, const char *t)
{
    const char *any = arena_printf(e->arena, "tl_any_%s", t);

    if (!map_has(&e->routines, any)) {
        map_set(&e->routines, any, e);
        str_printf(&e->decls, "typedef %s %s __attribute__((may_alias));\n", t, any);
    }
    return any;
}

static const char *element_type(Emit *e, const Buffer *b)
{
    const char *t = c_storage_type(b->type);
    bool viewed = buffer_root(b)->scope == MEM_SHARED || buffer_root(b)->pointer;

    for (int i = 0; i < e->k->buffers.n && !viewed; i++)
        viewed = buffer_root(e->k->buffers.at[i]) == buffer_root(b) &&
                 e->k->buffers.at[i]->type != b->type;
    return viewed ? any_type(e, t) : t;
}

void cl_declare(Emit *e, const Buffer *b)
{
    const char *t = element_type(e, b), *name = buffer_name(e, b), *space = cl_space(b);

    if (b->pointer || b->view_of)
        emit_line(e, "%s %s *const %s = (%s %s *)%s%s;", space, t, name, space, t,
                  b->pointer ? "(uintptr_t)" : buffer_root(b)->scope == MEM_VAR ? "&" : "",
                  b->pointer ? var_name(e, b->pointer) : buffer_name(e, buffer_root(b)));
    else if (b->scope == MEM_VAR)
        emit_line(e, "%s %s = 0;", c_value_type(b->type), name);
    else if (b->scope == MEM_SHARED)
        emit_line(e, "__local %s *const %s = (__local %s *)(tl_shared + %lld);", t, name, t,
                  (long long)buffer_plan(e->k, b)->offset);
    else if (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL)
        emit_line(e, "%s %s[%lld] __attribute__((aligned(16)));", t, name,
                  (long long)dtype_bytes(b->type, stored_elems(e->k, b)) * 8 /
                      MAX(dtype_bits(b->type), 8));
    else if (b->scope != MEM_GLOBAL)
        diag_fail(e->k->diag, b->span, "'%s' is in %s memory, which target %s does not have "
                  "[unsupported-here]", b->name, mem_name(b->scope), e->spec->text);
}

/* ---- many elements at a time ----------------------------------------------------------------- */

/* The first of consecutive elements, or NULL. */
static const Expr *run_start(const Expr *at)
{
    int64_t stride;
    return at->op == EX_RAMP && expr_is_int(at->kid[1], &stride) && stride == 1 ? at->kid[0] : NULL;
}

static const char *run_type(Emit *e, DType t, int lanes)
{
    if (dtype_bits(t) < 8 || lanes == 1)
        return NULL;
    switch (dtype_bits(t) * lanes) {
    case 16: return any_type(e, "uint16_t");
    case 32: return any_type(e, "uint32_t");
    case 64: return "uint2";
    case 128: return "uint4";
    default: return NULL;
    }
}

static const Expr *scalar_of(const Expr *x)
{
    return !x || x->lanes == 1 ? x : x->op == EX_BROADCAST ? x->kid[0] : NULL;
}

/* Memory that others see too and that can be reached many elements at a time. */
static bool is_wide(Emit *e, const Buffer *b, const Expr *at)
{
    MemScope scope = buffer_root(b)->scope;

    return (scope == MEM_GLOBAL || scope == MEM_SHARED) && at->lanes > 1 && run_start(at) &&
           run_type(e, b->type, at->lanes);
}

typedef struct {
    Emit *e;
    VEC(const Expr *) loads; /* wide ones */
    VEC(Buffer *) temps;     /* what they go to */
} Wide;

static Buffer *new_temp(Emit *e, DType t, int lanes)
{
    const Expr *n = expr_int(e->ir, lanes);
    return buffer_new(e->ir, "v", t, MEM_LOCAL, 1, &n, NO_SPAN);
}

static const Expr *take_wide(Ir *ir, const Expr *x, void *arg)
{
    Wide *w = arg;
    int i = 0;

    if (x->op != EX_LOAD || x->lanes == 1 || !is_wide(w->e, x->u.buf, x->kid[0]) ||
        (x->guarded && (!scalar_of(x->kid[1]) || !scalar_of(x->kid[2]))))
        return x;
    while (i < w->loads.n && w->loads.at[i] != x)
        i++;
    if (i == w->loads.n) {
        vec_push(ir->arena, &w->loads, x);
        vec_push(ir->arena, &w->temps, new_temp(w->e, x->u.buf->type, x->lanes));
    }
    const Expr *at = expr_ramp(ir, expr_int(ir, 0), expr_int(ir, 1), x->lanes);
    return expr_load(ir, w->temps.at[i], &at, 1);
}

static void put_run(Emit *e, const char *type, const Buffer *b, const Expr *start, bool reads)
{
    str_printf(e->out, "*(%s%s %s *)&%s[", reads ? "const " : "", cl_space(b), type,
               buffer_name(e, b));
    emit_loose(e, start);
    str_putc(e->out, ']');
}

/* What is not loaded is what the guard says instead. */
static void emit_fill(Emit *e, const Buffer *temp, const Expr *x)
{
    emit_line(e, "} else {");
    e->indent++;
    for (int l = 0; l < x->lanes; l++) {
        emit_indent(e);
        emit_store(e, temp, expr_int(e->ir, l), lane_of(e->ir, x->kid[2], l));
    }
    e->indent--;
    emit_line(e, "}");
}

static void emit_wide_load(Emit *e, const Buffer *temp, const Expr *x)
{
    const char *type = run_type(e, x->u.buf->type, x->lanes);

    emit_line(e, "%s %s[%d] __attribute__((aligned(16)));", c_storage_type(temp->type),
              buffer_name(e, temp), x->lanes);
    if (x->guarded) {
        emit_guard(e, scalar_of(x->kid[1]));
        str_puts(e->out, "{\n");
        e->indent++;
    }
    emit_indent(e);
    put_run(e, type, temp, expr_int(e->ir, 0), false);
    str_puts(e->out, " = ");
    put_run(e, type, x->u.buf, run_start(x->kid[0]), true);
    str_puts(e->out, ";\n");
    if (!x->guarded)
        return;
    e->indent--;
    emit_fill(e, temp, x);
}

static bool is_zero(const Expr *x)
{
    x = scalar_of(x);
    return x && ((x->op == EX_FLOAT && x->u.f == 0 && !signbit(x->u.f)) ||
                 (x->op == EX_INT && x->u.i == 0));
}

/* A load whose bits are what is stored; zeros where it is not done. */
static bool is_copy(Emit *e, const Stmt *s)
{
    const Expr *x = s->u.store.value;
    DType t = s->u.store.buf->type;

    return x->op == EX_LOAD && x->u.buf->scope != MEM_VAR && x->u.buf->type == t && x->type == t &&
           t != DT_BOOL && t != DT_TF32 && run_start(x->kid[0]) && run_type(e, t, x->lanes) &&
           (!x->guarded || (scalar_of(x->kid[1]) && is_zero(x->kid[2])));
}

static void emit_copy(Emit *e, const Stmt *s)
{
    const Expr *x = s->u.store.value;
    const char *type = run_type(e, x->u.buf->type, x->lanes);

    emit_indent(e);
    put_run(e, type, s->u.store.buf, run_start(s->u.store.at[0]), false);
    str_puts(e->out, " = ");
    if (x->guarded) {
        emit_at(e, scalar_of(x->kid[1]), true, OF_AND);
        str_puts(e->out, " ? ");
    }
    put_run(e, type, x->u.buf, run_start(x->kid[0]), true);
    if (x->guarded)
        str_printf(e->out, " : (%s)(0u)", type);
    str_puts(e->out, ";\n");
}

/* The other half of a byte may be another thread's: a function for each memory. */
static void store_one(Emit *e, const Buffer *b, const Expr *at, const Expr *value)
{
    MemScope scope = buffer_root(b)->scope;

    if (dtype_bits(b->type) != 4 || (scope != MEM_GLOBAL && scope != MEM_SHARED)) {
        emit_store(e, b, at, value);
        return;
    }
    e->converts = true;
    str_printf(e->out, "tl_share_nibble_%s(%s, ", scope == MEM_GLOBAL ? "global" : "local",
               buffer_name(e, b));
    emit_loose(e, at);
    str_puts(e->out, ", ");
    emit_stored(e, b->type, value);
    str_puts(e->out, ");\n");
}

static void store_lanes(Emit *e, const Buffer *b, const Expr *at, const Expr *value,
                        const Expr *guard)
{
    for (int l = 0; l < MAX(at->lanes, value->lanes); l++) {
        emit_guard(e, guard ? lane_of(e->ir, guard, l) : NULL);
        store_one(e, b, lane_of(e->ir, at, l), lane_of(e->ir, value, l));
    }
}

/* Loads of many elements, lanes one by one, a store of many elements. */
static void emit_wide(Emit *e, const Stmt *s)
{
    Wide w = {.e = e};
    const Buffer *to = s->u.store.buf;
    const Expr *at = s->u.store.at[0];
    const Expr *value = expr_map(e->ir, s->u.store.value, take_wide, &w);

    if (!is_wide(e, to, at)) {
        for (int i = 0; i < w.loads.n; i++)
            emit_wide_load(e, w.temps.at[i], w.loads.at[i]);
        store_lanes(e, to, at, value, NULL);
        return;
    }
    const Buffer *temp = new_temp(e, to->type, at->lanes);
    const char *type = run_type(e, to->type, at->lanes);
    for (int i = 0; i < w.loads.n; i++)
        emit_wide_load(e, w.temps.at[i], w.loads.at[i]);
    emit_line(e, "%s %s[%d] __attribute__((aligned(16)));", c_storage_type(to->type),
              buffer_name(e, temp), at->lanes);
    store_lanes(e, temp, expr_ramp(e->ir, expr_int(e->ir, 0), expr_int(e->ir, 1), at->lanes), value,
                NULL);
    emit_indent(e);
    put_run(e, type, to, run_start(at), false);
    str_puts(e->out, " = ");
    put_run(e, type, temp, expr_int(e->ir, 0), true);
    str_puts(e->out, ";\n");
}

typedef struct {
    Emit *e;
    bool found;
} Seek;

static bool seek_wide(const Expr *x, void *arg)
{
    Seek *k = arg;

    k->found |= x->op == EX_LOAD && x->lanes > 1 && is_wide(k->e, x->u.buf, x->kid[0]);
    return !k->found;
}

void cl_store(Emit *e, const Stmt *s)
{
    const Expr *at = s->u.store.at[0], *value = s->u.store.value, *guard = s->u.store.guard;
    Seek wide = {e, s->u.store.buf->scope != MEM_VAR && is_wide(e, s->u.store.buf, at)};

    expr_visit(value, seek_wide, &wide);
    bool whole = at->lanes > 1 && value->lanes == at->lanes && run_start(at) &&
                 (!guard || scalar_of(guard)) && wide.found;
    if (!whole) {
        store_lanes(e, s->u.store.buf, at, value, guard);
        return;
    }
    if (guard) {
        emit_guard(e, scalar_of(guard));
        str_puts(e->out, "{\n");
    } else if (!is_copy(e, s)) {
        emit_line(e, "{");
    }
    bool block = guard || !is_copy(e, s);
    e->indent += block;
    (is_copy(e, s) ? emit_copy : emit_wide)(e, s);
    e->indent -= block;
    if (block)
        emit_line(e, "}");
}

/* ---- atomics --------------------------------------------------------------------------------- */

static const struct {
    const char *own;  /* of 32-bit integers: OpenCL's */
    const char *join; /* of the old value a and the operand x, for a function of ours */
    const char *join_float;
} atomic_table[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = {"atomic_add", "a + x", "a + x"},
    [ATOMIC_MAX] = {"atomic_max", "a > x ? a : x", "((a > x) | (x != x)) ? a : x"},
    [ATOMIC_MIN] = {"atomic_min", "a < x ? a : x", "((a < x) | (x != x)) ? a : x"},
    [ATOMIC_OR] = {"atomic_or", "a | x", NULL},
    [ATOMIC_AND] = {"atomic_and", "a & x", NULL},
    [ATOMIC_XOR] = {"atomic_xor", "a ^ x", NULL},
    [ATOMIC_EXCH] = {"atomic_xchg", "x", "x"},
};

/* The bits of an element as a number of its type, and back. */
static void conversions(Arena *a, DType t, const char **in, const char **out)
{
    const char *n = narrow_name(t);

    if (t == DT_F32 || t == DT_TF32) {
        *in = "as_float(";
        *out = "as_uint(";
    } else if (t == DT_F64) {
        *in = "as_double(";
        *out = "as_ulong(";
    } else if (n) {
        *in = arena_printf(a, "tl_%s_to_f32(", n);
        *out = arena_printf(a, "tl_f32_to_%s(", n);
    } else {
        *in = arena_printf(a, "(%s)(", c_storage_type(t));
        *out = arena_printf(a, "(%s)(", c_storage_type(unsigned_of(dtype_bits(t))));
    }
}

/* A function for this operation on elements of this type in this memory, made once: the word that
 * has the element is compared and exchanged. */
static const char *own_function(Emit *e, AtomicOp op, const Buffer *b)
{
    DType t = b->type;
    int bits = dtype_bits(t);
    const char *space = cl_space(b), *v = c_value_type(t), *in, *out;
    const char *u = c_storage_type(unsigned_of(bits)), *word = bits == 64 ? "uint64_t" : "uint32_t";
    const char *name = arena_printf(e->arena, "tl_atomic_%s_%s%s", atomic_name(op), dtype_name(t),
                                    space + 1);

    if (map_has(&e->routines, name))
        return name;
    map_set(&e->routines, name, e);
    conversions(e->arena, t, &in, &out);
    str_printf(&e->decls, "TL_DEVICE %s %s(volatile %s %s *p, %s x)\n{\n", v, name, space,
               c_storage_type(t), v);
    if (bits < 32) {
        str_printf(&e->decls, "    volatile %s uint32_t *const at = (volatile %s uint32_t *)"
                   "((uintptr_t)p & ~(uintptr_t)3);\n", space, space);
        str_puts(&e->decls, "    const uint32_t shift = (uint32_t)((uintptr_t)p & 3) * 8;\n");
    } else {
        str_printf(&e->decls, "    volatile %s %s *const at = (volatile %s %s *)p;\n", space, word,
                   space, word);
    }
    str_printf(&e->decls, "    for (%s was = *at, seen;; was = seen) {\n", word);
    str_printf(&e->decls, "        const %s a = %s(%s)%s);\n", v, in, u,
               bits < 32 ? "(was >> shift)" : "was");
    str_printf(&e->decls, "        const %s next = %s(%s)(%s));\n", u, out, v,
               dtype_is_float(t) ? atomic_table[op].join_float : atomic_table[op].join);
    if (bits < 32)
        str_printf(&e->decls, "        seen = atomic_cmpxchg(at, was, (was & ~(0x%xu << shift)) | "
                   "(uint32_t)next << shift);\n", (1u << bits) - 1);
    else
        str_printf(&e->decls, "        seen = %s(at, was, next);\n",
                   bits == 64 ? "atom_cmpxchg" : "atomic_cmpxchg");
    str_puts(&e->decls, "        if (seen == was)\n            return a;\n    }\n}\n\n");
    return name;
}

static void put_place(Emit *e, const Buffer *b, const Expr *at)
{
    str_printf(e->out, "&%s", buffer_name(e, b));
    if (b->scope == MEM_VAR)
        return;
    str_putc(e->out, '[');
    emit_loose(e, at);
    str_putc(e->out, ']');
}

static void emit_move(Emit *e, const Stmt *s, const Expr *at)
{
    const Buffer *b = s->u.atomic.buf;
    const char *n = b->type == DT_TF32 ? NULL : narrow_name(b->type);
    bool loads = s->u.atomic.op == ATOMIC_LOAD;

    emit_bind(e, s->u.atomic.bind, c_value_type(b->type));
    if (loads && n)
        str_printf(e->out, "tl_%s_to_f32(", n);
    str_printf(e->out, "*(volatile %s %s *)", cl_space(b), c_storage_type(b->type));
    put_place(e, b, at);
    if (!loads) {
        str_puts(e->out, " = ");
        emit_stored(e, b->type, s->u.atomic.value);
    }
    str_puts(e->out, loads && n ? ");\n" : ";\n");
}

static void emit_update(Emit *e, const Stmt *s, const Expr *at, const Expr *value)
{
    const Buffer *b = s->u.atomic.buf;
    AtomicOp op = s->u.atomic.op;
    bool own = b->type == DT_I32 || b->type == DT_U32;

    if (dtype_bits(b->type) == 4 || buffer_root(b)->scope == MEM_VAR ||
        (dtype_is_float(b->type) && !atomic_table[op].join_float))
        cl_refuse(e, s, arena_printf(e->arena, "atomic %s of %s", atomic_name(op),
                                     dtype_name(b->type)));
    emit_bind(e, s->u.atomic.bind, c_value_type(b->type));
    if (own)
        str_printf(e->out, "%s((volatile %s %s *)", atomic_table[op].own, cl_space(b),
                   c_storage_type(b->type));
    else
        str_printf(e->out, "%s((volatile %s %s *)", own_function(e, op, b), cl_space(b),
                   c_storage_type(b->type));
    put_place(e, b, at);
    str_puts(e->out, ", ");
    if (dtype_is_float(b->type) && value->type == b->type)
        emit_value(e, value);
    else
        emit_cast_to(e, c_value_type(b->type), value, false);
    str_puts(e->out, ");\n");
}

/* Neighbours that opt_vectorize joined go one by one. */
void cl_atomic(Emit *e, const Stmt *s)
{
    static const char fence[] = "tl_fence();";
    bool moves = s->u.atomic.op == ATOMIC_LOAD || s->u.atomic.op == ATOMIC_STORE;
    const Expr *at = s->u.atomic.n ? s->u.atomic.at[0] : NULL, *value = s->u.atomic.value;

    if (atomic_releases(s))
        emit_line(e, fence);
    for (int l = 0; l < (at ? at->lanes : 1); l++) {
        const Expr *place = at ? lane_of(e->ir, at, l) : NULL;
        moves ? emit_move(e, s, place)
              : emit_update(e, s, place, value->lanes > 1 ? lane_of(e->ir, value, l) : value);
    }
    if (atomic_acquires(s))
        emit_line(e, fence);
}
