/* emit_atomic.c -- atomic updates of one element.
 *
 * Neighbours that opt_vectorize joined go together (global memory, sums, no order asked for).
 * What the hardware has by CUDA's own names; the rest by a compare-and-swap function made for the
 * operation and type at hand.  Orders are fences around the relaxed operation. */
#include "target/cuda/emit.h"

static const struct {
    const char *cuda; /* "atomicAdd" */
    const char *join; /* of the old value a and the operand x, for a function of our own */
    const char *join_float;
} atomic_table[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = {"atomicAdd", "a + x", "a + x"},
    [ATOMIC_MAX] = {"atomicMax", "a > x ? a : x", "a > x || x != x ? a : x"},
    [ATOMIC_MIN] = {"atomicMin", "a < x ? a : x", "a < x || x != x ? a : x"},
    [ATOMIC_OR] = {"atomicOr", "a | x", NULL},
    [ATOMIC_AND] = {"atomicAnd", "a & x", NULL},
    [ATOMIC_XOR] = {"atomicXor", "a ^ x", NULL},
    [ATOMIC_EXCH] = {"atomicExch", "x", "x"},
};

static bool is_native(const Stmt *s)
{
    AtomicOp op = s->u.atomic.op;

    switch (s->u.atomic.buf->type) {
    case DT_I32:
    case DT_U32:
    case DT_U64:
        return true;
    case DT_I64:
        return op == ATOMIC_MAX || op == ATOMIC_MIN;
    case DT_F32:
    case DT_TF32:
        return op == ATOMIC_ADD || op == ATOMIC_EXCH;
    case DT_F64:
        return op == ATOMIC_ADD;
    default:
        return false;
    }
}

static const char *update_function(DType t)
{
    return dtype_bits(t) == 64   ? "tl_update_long"
           : dtype_bits(t) == 32 ? "tl_update_word"
                                 : "tl_update_part";
}

/* "tl_f16_to_f32", "tl_f32_to_f16"; "" where storage is the value. */
static void conversions(Cuda *c, DType t, const char **in, const char **out)
{
    static const struct {
        DType t;
        const char *name;
    } narrow[] = {
        {DT_F16, "f16"},           {DT_BF16, "bf16"},           {DT_E4M3, "e4m3fn"},
        {DT_E5M2, "e5m2"},         {DT_E3M4, "e3m4"},           {DT_E4M3FNUZ, "e4m3fnuz"},
        {DT_E5M2FNUZ, "e5m2fnuz"}, {DT_E4M3B11, "e4m3b11fnuz"}, {DT_E8M0, "e8m0"},
        {DT_E2M3, "e2m3"},         {DT_E3M2, "e3m2"},             {DT_E2M1B, "e2m1"},
    };

    *in = *out = "";
    for (int i = 0; i < COUNT(narrow); i++)
        if (narrow[i].t == t) {
            *in = arena_printf(c->e.arena, "tl_%s_to_f32", narrow[i].name);
            *out = arena_printf(c->e.arena, "tl_f32_to_%s", narrow[i].name);
        }
    if (!**out)
        *out = arena_printf(c->e.arena, "(%s)", c_storage_type(t));
}

/* A function for this operation on this type, made once. */
static const char *own_function(Cuda *c, AtomicOp op, DType t)
{
    Emit *e = &c->e;
    const char *name = arena_printf(e->arena, "tl_atomic_%s_%s", atomic_name(op), dtype_name(t));
    const char *s = c_storage_type(t), *v = c_value_type(t), *in, *out;

    if (map_has(&e->routines, name))
        return name;
    map_set(&e->routines, name, e);
    conversions(c, t, &in, &out);
    str_printf(&e->decls, "TL_DEVICE %s %s(%s *p, %s x)\n{\n", v, name, s, v);
    str_printf(&e->decls, "    return %s(%s(p, [=](%s was) {\n", in, update_function(t), s);
    if (op != ATOMIC_EXCH)
        str_printf(&e->decls, "        const %s a = %s(was);\n", v, in);
    str_printf(&e->decls, "        return %s(%s);\n    }));\n}\n\n", out,
               dtype_is_float(t) ? atomic_table[op].join_float : atomic_table[op].join);
    return name;
}

static void emit_place(Cuda *c, const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;

    str_printf(c->e.out, "&%s", buffer_name(&c->e, b));
    if (b->scope == MEM_VAR)
        return;
    const Expr *at = s->u.atomic.at[0];
    str_putc(c->e.out, '[');
    emit_loose(&c->e, at->lanes > 1 ? lane_of(c->e.ir, at, 0) : at);
    str_putc(c->e.out, ']');
}

static void emit_move(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    DType t = s->u.atomic.buf->type;
    const char *in, *out;
    bool loads = s->u.atomic.op == ATOMIC_LOAD;

    conversions(c, t, &in, &out);
    emit_bind(&c->e, s->u.atomic.bind, c_value_type(t));
    str_printf(e->out, "%s%s*(volatile %s *)", loads ? in : "", loads && *in ? "(" : "",
               c_storage_type(t));
    emit_place(c, s);
    if (loads) {
        str_puts(e->out, *in ? ");\n" : ";\n");
        return;
    }
    str_puts(e->out, " = ");
    emit_stored(e, t, s->u.atomic.value);
    str_puts(e->out, ";\n");
}

static void emit_update(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    const Buffer *b = s->u.atomic.buf;
    AtomicOp op = s->u.atomic.op;

    if (dtype_bits(b->type) == 4 || (dtype_is_float(b->type) && !atomic_table[op].join_float))
        cuda_refuse(
            c, s, arena_printf(e->arena, "atomic %s of %s", atomic_name(op), dtype_name(b->type)));
    emit_bind(&c->e, s->u.atomic.bind, c_value_type(b->type));
    if (is_native(s))
        str_puts(e->out, atomic_table[op].cuda);
    else if (op == ATOMIC_ADD && (b->type == DT_F16 ||
             (b->type == DT_BF16 && e->spec->machine.level >= 90)))
        str_printf(e->out, "tl_atomic_add_%s", b->type == DT_F16 ? "f16" : "bf16");
    else if (op == ATOMIC_ADD && b->type == DT_I64)
        str_puts(e->out, "tl_atomic_add_int64");
    else
        str_puts(e->out, own_function(c, op, b->type));
    str_putc(e->out, '(');
    emit_place(c, s);
    str_puts(e->out, ", ");
    if (dtype_is_float(b->type) && s->u.atomic.value->type == b->type)
        emit_value(e, s->u.atomic.value);
    else
        emit_cast_to(e, c_value_type(b->type), s->u.atomic.value, false);
    str_puts(e->out, ");\n");
}

/* Neighbours in one instruction, or as few as the architecture has: tl_add_run_f16_8. */
static void emit_run(Cuda *c, const Stmt *s)
{
    Emit *e = &c->e;
    DType t = s->u.atomic.buf->type;

    emit_line(e, "{");
    e->indent++;
    const char *values = cuda_emit_run(c, s->u.atomic.value, t);
    emit_indent(e);
    str_printf(e->out, "tl_add_run_%s_%d(", t == DT_F16 ? "f16" : t == DT_BF16 ? "bf16" : "f32",
               s->u.atomic.at[0]->lanes);
    emit_place(c, s);
    str_printf(e->out, ", %s);\n", values);
    e->indent--;
    emit_line(e, "}");
}

void cuda_emit_atomic(Emit *e, const Stmt *s)
{
    Cuda *c = cuda_of(e);

    if (s->u.atomic.n && s->u.atomic.at[0]->lanes > 1) {
        emit_run(c, s);
        return;
    }
    bool moves = s->u.atomic.op == ATOMIC_LOAD || s->u.atomic.op == ATOMIC_STORE;

    if (atomic_releases(s))
        emit_line(e, "__threadfence();");
    moves ? emit_move(c, s) : emit_update(c, s);
    if (atomic_acquires(s))
        emit_line(e, "__threadfence();");
}
