/* emit.c -- kernels as text for the made-up machine: a small C, of which device/twin/template.h
 * says what its names mean.
 *
 * The printer of target/print.h prints statements and expressions; here is what this language does
 * in a way of its own: names of functions, declarations, calls between threads, the head of a
 * kernel. */
#include "target/template/template.h"
#include "target/uses.h"
#include "device_cpu.h"

static const char *const math_f32[MATH_COUNT] = {
    [MATH_ABS] = "fabsf",     [MATH_CEIL] = "ceilf",   [MATH_COS] = "cosf",
    [MATH_ERF] = "erff",      [MATH_EXP] = "expf",     [MATH_EXP2] = "exp2f",
    [MATH_FLOOR] = "floorf",  [MATH_FMA] = "fmaf",     [MATH_LOG] = "logf",
    [MATH_LOG2] = "log2f",    [MATH_POW] = "powf",     [MATH_RCP] = "tl_rcpf",
    [MATH_RSQRT] = "tl_rsqrtf", [MATH_SIGMOID] = "tl_sigmoidf", [MATH_SIN] = "sinf",
    [MATH_SQRT] = "sqrtf",    [MATH_TANH] = "tanhf",   [MATH_TRUNC] = "truncf",
    [MATH_ATAN] = "atanf",    [MATH_ATAN2] = "atan2f", [MATH_ROUND] = "rintf",
    [MATH_MIN_NAN] = "tl_min_nan_f32",
    [MATH_MAX_NAN] = "tl_max_nan_f32", [MATH_ISNAN] = "tl_isnan_f32", [MATH_ISINF] = "tl_isinf_f32",
    [MATH_ISFINITE] = "tl_isfinite_f32",
};

static const char *const math_f64[MATH_COUNT] = {
    [MATH_ABS] = "fabs",  [MATH_EXP] = "exp",   [MATH_EXP2] = "exp2", [MATH_FMA] = "fma",
    [MATH_LOG] = "log",   [MATH_SQRT] = "sqrt", [MATH_POW] = "pow",   [MATH_FLOOR] = "floor",
};

NORETURN static void refuse(Emit *e, const Stmt *s, const char *what)
{
    diag_fail(e->k->diag, s->span, "%s has no meaning on target %s [unsupported-here]", what,
              e->spec->text);
}

/* ---- between threads ------------------------------------------------------------------------- */

static const char *const calls[INTRIN_COUNT] = {
    [INTRIN_SYNC_THREADS] = "barrier",   [INTRIN_SYNC_WARP] = "warp_barrier",
    [INTRIN_SHFL] = "lane_of",           [INTRIN_SHFL_XOR] = "lane_xor",
    [INTRIN_SHFL_DOWN] = "lane_down",    [INTRIN_SHFL_UP] = "lane_up",
    [INTRIN_ANY_SYNC] = "warp_any",      [INTRIN_ALL_SYNC] = "warp_all",
    [INTRIN_SYNC_OR] = "block_any",      [INTRIN_SYNC_AND] = "block_all",
    [INTRIN_SYNC_COUNT] = "block_count",
};

/* Written for wider warps than these: the third argument of what lanes hand to each other. */
static bool is_too_wide(Emit *e, const Stmt *s)
{
    int64_t width;
    bool hands = s->u.call.which >= INTRIN_SHFL && s->u.call.which <= INTRIN_SHFL_UP;

    return hands && s->u.call.n > 2 && expr_is_int(s->u.call.arg[2], &width) &&
           width > e->k->machine->lanes;
}

static void emit_call(Emit *e, const Stmt *s)
{
    const char *fn = calls[s->u.call.which];

    if (!fn || is_too_wide(e, s))
        refuse(e, s, arena_printf(e->arena, "T.%s", intrin_table[s->u.call.which].word));
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%s(", fn);
    for (int i = 0; i < s->u.call.n; i++) {
        str_puts(e->out, i ? ", " : "");
        emit_value(e, s->u.call.arg[i]);
    }
    str_puts(e->out, ");\n");
}

/* Neighbours that opt_vectorize joined go one by one. */
static void emit_atomic(Emit *e, const Stmt *s)
{
    const Buffer *b = s->u.atomic.buf;
    const Expr *at = s->u.atomic.at[0], *value = s->u.atomic.value;

    for (int l = 0; l < at->lanes; l++) {
        emit_bind(e, s->u.atomic.bind, NULL);
        str_printf(e->out, "tl_atomic_%s_%s(&%s[", atomic_name(s->u.atomic.op),
                   dtype_name(b->type), buffer_name(e, b));
        emit_loose(e, lane_of(e->ir, at, l));
        str_puts(e->out, value ? "], " : "]");
        if (value)
            emit_value(e, lane_of(e->ir, value, l));
        str_puts(e->out, ");\n");
    }
}

static void emit_role(Emit *e, const Stmt *s)
{
    if (s->u.role.nthread > 0)
        refuse(e, s, "a role of some warps");
    emit_stmt(e, s->u.role.body);
}

static void emit_fail(Emit *e, const Stmt *s)
{
    str_puts(e->out, "give_up(");
    emit_assert_text(e, s);
    str_puts(e->out, ");\n");
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void emit_decl(Emit *e, const Buffer *b)
{
    const char *t = c_storage_type(b->type), *name = buffer_name(e, b);

    if (b->pointer || b->view_of)
        emit_line(e, "%s *const %s = (%s *)%s;", t, name, t,
                  b->pointer ? var_name(e, b->pointer) : buffer_name(e, buffer_root(b)));
    else if (b->scope == MEM_VAR)
        emit_line(e, "%s %s = 0;", c_value_type(b->type), name);
    else if (b->scope == MEM_SHARED)
        emit_line(e, "%s *const %s = (%s *)(shared_memory() + %lld);", t, name, t,
                  (long long)buffer_plan(e->k, b)->offset);
    else if (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL)
        emit_line(e, "%s %s[%lld];", t, name,
                  (long long)dtype_bytes(b->type, stored_elems(e->k, b)) * 8 /
                      MAX(dtype_bits(b->type), 8));
    else if (b->scope != MEM_GLOBAL)
        diag_fail(e->k->diag, b->span, "'%s' is in %s memory, which target %s does not have "
                  "[unsupported-here]", b->name, mem_name(b->scope), e->spec->text);
}

static const Dialect dialect = {
    .name = "template C",
    .lacks = LACK_LAZY, /* as an example: a choice may compute both sides */
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "NAN",
    .inf_f32 = "INFINITY",
    .nan_f64 = "(double)NAN",
    .inf_f64 = "(double)INFINITY",
    .popcount = {"__builtin_popcount", "__builtin_popcountll"},
    .ffs = {"__builtin_ffs", "__builtin_ffsll"},
    .declare = emit_decl,
    .fail = emit_fail,
    .atomic = emit_atomic,
    .call = emit_call,
    .role = emit_role,
};

/* ---- kernels --------------------------------------------------------------------------------- */

static void emit_head(Emit *e, Kernel *k)
{
    str_printf(e->out, "KERNEL void %s(", k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        str_puts(e->out, i ? ", " : "");
        if (a->buf)
            str_printf(e->out, "%s *%s", c_storage_type(a->buf->type), buffer_name(e, a->buf));
        else
            str_printf(e->out, "%s %s", c_value_type(a->var->type), var_name(e, a->var));
    }
    str_puts(e->out, ")\n{\n");
}

static void emit_kernel(Emit *e, Uses *u, Kernel *k)
{
    static const char axis[] = "xyz";

    e->k = k;
    legalise(e);
    uses_collect(u, e, k, k->body);
    if (u->together)
        diag_fail(k->diag, k->span, "blocks that wait for each other have no meaning on target %s "
                  "[unsupported-here]", e->spec->text);
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(u, k);
    emit_head(e, k);
    e->indent = 1;
    for (int i = 0; i < k->buffers.n; i++)
        if (uses_declares(u, k->buffers.at[i]))
            emit_decl(e, k->buffers.at[i]);
    for (int d = 0; d < k->ngrid; d++)
        if (map_has(&u->seen, k->block[d]))
            emit_line(e, "const int32_t %s = block_%c();", var_name(e, k->block[d]), axis[d]);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && map_has(&u->seen, k->thread[d]))
            emit_line(e, "const int32_t %s = thread_%c();", var_name(e, k->thread[d]), axis[d]);
    emit_stmt(e, k->body);
    e->indent = 0;
    emit_line(e, "}\n");
}

/* Functions that the printer calls, as C has them: small numbers, divisions, atomics. */
static const unsigned char *const helpers[] = {device_cpu_abi_h, device_cpu_convert_h,
                                               device_cpu_scalar_h};

void template_emit(Func *f, const TargetSpec *spec, Str *out)
{
    Arena *a = f->ir->arena;
    Str body;
    Uses uses = {0};
    Emit e = {.func = f, .ir = f->ir, .spec = spec, .say = &dialect, .out = &body, .arena = a,
              .names = names_of(a)};

    str_init(&body, a);
    str_init(&e.decls, a);
    map_init_text(&e.routines, a);
    name_for_c(e.names);
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(&e, &uses, f->kernels.at[i]);
    str_printf(out, "/* %s, made by tilelang for %s */\n", f->name, spec->text);
    for (int i = 0; i < COUNT(helpers); i++)
        str_puts(out, (const char *)helpers[i]);
    str_puts(out, "/* ---- kernels ---- */\n\n");
    str_putn(out, body.s, body.n);
}
