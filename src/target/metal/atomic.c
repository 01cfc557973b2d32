/* atomic.c -- atomic updates of one element.
 *
 * MSL has them for words of 32 bits: int and uint everywhere, float (add) in device memory; the
 * rest is a function made for the operation, type and memory at hand that compares and swaps the
 * word which the element is in.  All are relaxed: an order is a fence before or after (MSL 3.2). */
#include "target/metal/metal.h"

static const struct {
    const char *name; /* atomic_fetch_NAME_explicit */
    const char *join; /* of the old value a and the operand x */
    const char *join_float;
} atomic_table[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = {"fetch_add", "a + x", "a + x"},
    [ATOMIC_MAX] = {"fetch_max", "a > x ? a : x", "a > x || x != x ? a : x"},
    [ATOMIC_MIN] = {"fetch_min", "a < x ? a : x", "a < x || x != x ? a : x"},
    [ATOMIC_OR] = {"fetch_or", "a | x", NULL},
    [ATOMIC_AND] = {"fetch_and", "a & x", NULL},
    [ATOMIC_XOR] = {"fetch_xor", "a ^ x", NULL},
    [ATOMIC_EXCH] = {"exchange", "x", "x"},
};

/* The type of MSL for such an element; NULL: it has none. */
static const char *own_type(DType t)
{
    return t == DT_I32 ? "atomic_int" : t == DT_U32 ? "atomic_uint"
           : t == DT_F32 || t == DT_TF32            ? "atomic_float"
                                                    : NULL;
}

static bool is_native(const Buffer *b, AtomicOp op)
{
    const char *type = own_type(b->type);
    bool global = buffer_root(b)->scope == MEM_GLOBAL;

    return type && (dtype_is_int(b->type) || (global && (op == ATOMIC_ADD || op == ATOMIC_EXCH)));
}

/* From bits to the number, and back: "tl_f16_to_f32", "as_type<float>", "int8_t". */
static void conversions(Emit *e, DType t, const char **in, const char **out)
{
    const char *n = narrow_name(t);

    *in = c_value_type(t);
    *out = c_storage_type(t);
    if (t == DT_F32 || t == DT_TF32) {
        *in = "as_type<float>";
        *out = "as_type<uint32_t>";
    } else if (n) {
        *in = arena_printf(e->arena, "tl_%s_to_f32", n);
        *out = arena_printf(e->arena, "tl_f32_to_%s", n);
    }
}

/* A function for this operation on this type in this memory, made once. */
static const char *own_function(Emit *e, AtomicOp op, const Buffer *b)
{
    DType t = b->type;
    const char *space = metal_space(b), *v = c_value_type(t), *in, *out;
    int bits = dtype_bits(t);
    const char *name = arena_printf(e->arena, "tl_atomic_%s_%s_%.*s", atomic_name(op),
                                    dtype_name(t), (int)strlen(space) - 1, space);
    Str *o = &e->decls;

    if (map_has(&e->routines, name))
        return name;
    map_set(&e->routines, name, e);
    conversions(e, t, &in, &out);
    str_printf(o, "TL_DEVICE %s %s(%s%s *base, int64_t at, %s x)\n{\n", v, name, space,
               c_storage_type(t), v);
    str_printf(o, "    %satomic_uint *const word = (%satomic_uint *)base + at / %d;\n", space,
               space, 32 / bits);
    str_printf(o, "    const uint32_t shift = uint32_t(at %% %d) * %du, mask = 0x%xu;\n", 32 / bits,
               bits % 32, (unsigned)((1ull << bits) - 1));
    str_puts(o, "    uint32_t was = atomic_load_explicit(word, memory_order_relaxed), next;\n"
             "    do {\n");
    const char *bits_in = bits == 32 ? "was" : arena_printf(e->arena, "%s(was >> shift & mask)",
                                                            c_storage_type(t));
    if (op != ATOMIC_EXCH)
        str_printf(o, "        const %s a = %s(%s);\n", v, in, bits_in);
    str_printf(o, "        next = (was & ~(mask << shift)) | (uint32_t(%s(%s)) & mask) << shift;\n",
               out, dtype_is_float(t) ? atomic_table[op].join_float : atomic_table[op].join);
    str_puts(o, "    } while (!atomic_compare_exchange_weak_explicit(word, &was, next, "
             "memory_order_relaxed, memory_order_relaxed));\n");
    str_printf(o, "    return %s(%s);\n}\n\n", in, bits_in);
    return name;
}

static void emit_place(Emit *e, const Stmt *s, int lane)
{
    str_printf(e->out, "&%s[", buffer_name(e, s->u.atomic.buf));
    emit_loose(e, lane_of(e->ir, s->u.atomic.at[0], lane));
    str_putc(e->out, ']');
}

/* Of 32 bits as atomics of MSL have them, else as they are: no narrower access is torn. */
static void emit_move(Emit *e, const Stmt *s, int lane)
{
    const Buffer *b = s->u.atomic.buf;
    bool loads = s->u.atomic.op == ATOMIC_LOAD, word = dtype_bits(b->type) == 32;
    const char *in, *out, *space = metal_space(b);

    conversions(e, b->type, &in, &out);
    emit_bind(e, s->u.atomic.bind, c_value_type(b->type));
    if (loads)
        str_printf(e->out, "%s(", in);
    if (word)
        str_printf(e->out, "atomic_%s_explicit((%satomic_uint *)", loads ? "load" : "store", space);
    else
        str_printf(e->out, "*(%svolatile %s *)", space, c_storage_type(b->type));
    emit_place(e, s, lane);
    if (!loads) {
        str_puts(e->out, word ? ", uint32_t(" : " = ");
        str_puts(e->out, word && dtype_is_float(b->type) ? "as_type<uint32_t>(" : "");
        emit_stored(e, b->type, lane_of(e->ir, s->u.atomic.value, lane));
        str_puts(e->out, word && dtype_is_float(b->type) ? "))" : word ? ")" : "");
    }
    str_puts(e->out, word ? ", memory_order_relaxed)" : "");
    str_puts(e->out, loads ? ");\n" : ";\n");
}

static void emit_operand(Emit *e, DType t, const Expr *x)
{
    if (dtype_is_float(t) && x->type == t)
        emit_value(e, x);
    else
        emit_cast_to(e, c_value_type(t), x, false);
}

static void emit_update(Emit *e, const Stmt *s, int lane)
{
    const Buffer *b = s->u.atomic.buf;
    AtomicOp op = s->u.atomic.op;
    const char *made = is_native(b, op) ? NULL : own_function(e, op, b);

    emit_bind(e, s->u.atomic.bind, c_value_type(b->type));
    if (made) {
        str_printf(e->out, "%s(%s, ", made, buffer_name(e, b));
        emit_loose(e, lane_of(e->ir, s->u.atomic.at[0], lane));
        str_puts(e->out, ", ");
    } else {
        str_printf(e->out, "atomic_%s_explicit((%s%s *)", atomic_table[op].name, metal_space(b),
                   own_type(b->type));
        emit_place(e, s, lane);
        str_puts(e->out, ", ");
    }
    emit_operand(e, b->type, lane_of(e->ir, s->u.atomic.value, lane));
    str_puts(e->out, made ? ");\n" : ", memory_order_relaxed);\n");
}

static void check_atomic(Emit *e, const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;
    AtomicOp op = s->u.atomic.op;
    MemScope scope = buffer_root(b)->scope;
    bool moves = op == ATOMIC_LOAD || op == ATOMIC_STORE;

    if (scope != MEM_GLOBAL && scope != MEM_SHARED)
        cuda_refuse(cuda_of(e), s, "an atomic operation on what a thread has for itself");
    if (dtype_bits(b->type) > 32 || dtype_bits(b->type) < 8 ||
        (!moves && dtype_is_float(b->type) && !atomic_table[op].join_float))
        cuda_refuse(cuda_of(e), s, arena_printf(e->arena, "atomic %s of %s", atomic_name(op),
                                                dtype_name(b->type)));
}

/* Neighbours that opt_vectorize joined go one by one. */
void metal_atomic(Emit *e, const Stmt *s)
{
    static const char fence[] = "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, "
                                "thread_scope_device);";
    AtomicOp op = s->u.atomic.op;

    check_atomic(e, s);
    if (atomic_releases(s))
        emit_line(e, "%s", fence);
    for (int l = 0; l < MAX(s->u.atomic.at[0]->lanes, 1); l++)
        (op == ATOMIC_LOAD || op == ATOMIC_STORE ? emit_move : emit_update)(e, s, l);
    if (atomic_acquires(s))
        emit_line(e, "%s", fence);
}
