/* emit.c -- kernels as text of the Metal Shading Language.
 *
 * MSL is a C++ whose pointers say what memory they point into: device, threadgroup, thread.
 * Stores, loops and the slots of matrix operands are those of CUDA C (target/cuda/emit.h) with such
 * words before their types; parameters, declarations and what threads do together are here and in
 * call.c.  There is no double, no long long, no lambda, no trap. */
#include "target/metal/metal.h"
#include "target/paste.h"
#include "device_cpu.h"
#include "device_metal.h"

static const char *const math_f32[MATH_COUNT] = {
    [MATH_ABS] = "fabs",          [MATH_ACOS] = "acos",        [MATH_ACOSH] = "acosh",
    [MATH_ASIN] = "asin",         [MATH_ASINH] = "asinh",      [MATH_ATAN] = "atan",
    [MATH_ATAN2] = "atan2",       [MATH_ATANH] = "atanh",      [MATH_CEIL] = "ceil",
    [MATH_COPYSIGN] = "copysign", [MATH_COS] = "cos",          [MATH_COSH] = "cosh",
    [MATH_ERF] = "tl_erf",        [MATH_EXP] = "exp",          [MATH_EXP2] = "exp2",
    [MATH_EXP10] = "exp10",       [MATH_FLOOR] = "floor",      [MATH_FMA] = "fma",
    [MATH_FMOD] = "fmod",         [MATH_HYPOT] = "tl_hypot",   [MATH_LDEXP] = "tl_ldexp",
    [MATH_LOG] = "log",           [MATH_LOG1P] = "tl_log1p",   [MATH_LOG2] = "log2",
    [MATH_LOG10] = "log10",       [MATH_NEARBYINT] = "rint",   [MATH_NEXTAFTER] = "tl_nextafter",
    [MATH_POW] = "pow",           [MATH_RCP] = "tl_rcp",       [MATH_ROUND] = "rint",
    [MATH_ROUND_AWAY] = "round",  [MATH_RSQRT] = "rsqrt",      [MATH_SIGMOID] = "tl_sigmoid",
    [MATH_SIN] = "sin",           [MATH_SINH] = "sinh",        [MATH_SQRT] = "sqrt",
    [MATH_TAN] = "tan",           [MATH_TANH] = "tanh",        [MATH_TRUNC] = "trunc",
    [MATH_MIN_NAN] = "tl_min_nan_f32",   [MATH_MAX_NAN] = "tl_max_nan_f32",
    [MATH_ISFINITE] = "tl_isfinite_f32", [MATH_ISINF] = "tl_isinf_f32",
    [MATH_ISNAN] = "tl_isnan_f32",       [MATH_FAST_EXP] = "fast::exp",
    [MATH_FAST_EXP10] = "fast::exp10",   [MATH_FAST_LOG] = "fast::log",
    [MATH_FAST_LOG2] = "fast::log2",     [MATH_FAST_LOG10] = "fast::log10",
    [MATH_FAST_SIN] = "fast::sin",       [MATH_FAST_COS] = "fast::cos",
    [MATH_FAST_TAN] = "fast::tan",       [MATH_FAST_RCP] = "tl_rcp",
    [MATH_MUL_RN] = "tl_mul_rn",         [MATH_ADD_RN] = "tl_add_rn",
};
static const char *const math_f64[MATH_COUNT] = {0};

/* ---- declarations ---------------------------------------------------------------------------- */

const char *metal_space(const Buffer *b)
{
    MemScope scope = buffer_root(b)->scope;
    return scope == MEM_GLOBAL ? "device " : scope == MEM_SHARED ? "threadgroup " : "thread ";
}

/* With const where nothing of the kernel writes it. */
static const char *pointer_type(Emit *e, const Buffer *b)
{
    bool constant = buffer_root(b)->scope == MEM_GLOBAL && !map_has(e->written, buffer_root(b));
    return arena_printf(e->arena, "%s%s%s *", metal_space(b), constant ? "const " : "",
                        c_storage_type(b->type));
}

static void emit_decl(Emit *e, const Buffer *b)
{
    const char *type = pointer_type(e, b), *name = buffer_name(e, b);
    const char *root = buffer_name(e, buffer_root(b));
    int64_t n = dtype_bytes(b->type, stored_elems(e->k, b)) * 8 / MAX(dtype_bits(b->type), 8);

    if (buffer_root(b)->pointer)
        diag_fail(e->k->diag, b->span, "'%s' lies over an address, which has no meaning on target "
                  "%s [unsupported-here]", b->name, e->spec->text);
    if (b->view_of)
        emit_line(e, "%sconst %s = (%s)%s%s;", type, name, type,
                  buffer_root(b)->scope == MEM_VAR ? "&" : "", root);
    else if (b->scope == MEM_VAR)
        emit_line(e, "%s %s = 0;", c_value_type(b->type), name);
    else if (b->scope == MEM_SHARED)
        emit_line(e, "%sconst %s = (%s)(tl_shared + %lld);", type, name, type,
                  (long long)buffer_plan(e->k, b)->offset);
    else if (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL)
        emit_line(e, "%s%s %s[%lld];", dtype_bits(b->type) < 32 ? "alignas(16) " : "",
                  c_storage_type(b->type), name, (long long)n);
    else if (b->scope != MEM_GLOBAL)
        diag_fail(e->k->diag, b->span, "'%s' is in %s memory, which target %s does not have "
                  "[unsupported-here]", b->name, mem_name(b->scope), e->spec->text);
}

/* ---- statements ------------------------------------------------------------------------------ */

static void emit_role(Emit *e, const Stmt *s)
{
    if (s->u.role.nthread > 0)
        cuda_refuse(cuda_of(e), s, "a role of some warps");
    emit_stmt(e, s->u.role.body);
}

/* The other half of a byte may be another thread's: a function for each memory. */
static void emit_any_store(Emit *e, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    MemScope scope = buffer_root(b)->scope;
    bool one = s->u.store.at[0]->lanes == 1 && s->u.store.value->lanes == 1;

    if (!one || dtype_bits(b->type) != 4 || (scope != MEM_GLOBAL && scope != MEM_SHARED)) {
        cuda_emit_store(e, s);
        return;
    }
    emit_guard(e, s->u.store.guard);
    str_printf(e->out, "tl_share_nibble_%s(%s, ", scope == MEM_GLOBAL ? "device" : "threadgroup",
               buffer_name(e, b));
    emit_loose(e, s->u.store.at[0]);
    str_puts(e->out, ", ");
    emit_stored(e, b->type, s->u.store.value);
    str_puts(e->out, ");\n");
}

/* tl_mma_f32_f16(&c[0], &a[0], &b[0]); */
static void emit_instr(Emit *e, const Stmt *s)
{
    static const int order[] = {MMA_C, MMA_A, MMA_B};
    const Isa *isa = s->u.instr.isa;

    if (!isa->mma || !isa_fits(isa, &e->spec->machine))
        cuda_refuse(cuda_of(e), s, arena_printf(e->arena, "the instruction %s", isa->name));
    emit_indent(e);
    str_printf(e->out, "%s(", isa->mma->own);
    for (int i = 0; i < COUNT(order); i++) {
        str_printf(e->out, "%s&%s[", i ? ", " : "",
                   buffer_name(e, s->u.instr.region[order[i]].buf));
        emit_loose(e, cuda_operand_slot(cuda_of(e), s, order[i]));
        str_putc(e->out, ']');
    }
    str_puts(e->out, ");\n");
}

/* A thread cannot end the launch, nor leave where others wait: it puts the number of what does not
 * hold in a flag, which is read when the launch is over, and goes on. */
static void emit_fail(Emit *e, const Stmt *s)
{
    Metal *m = metal_of(e);
    Str *out = e->out;

    str_printf(&m->asserts, "// tl_failed %d ", ++m->nassert);
    e->out = &m->asserts;
    emit_assert_text(e, s);
    e->out = out;
    str_putc(&m->asserts, '\n');
    str_printf(e->out, "TL_FAIL(%d);\n", m->nassert);
}

/* No long long: 64-bit numbers end in L. */
static void put_integer(Str *out, DType t, int64_t v)
{
    if (t == DT_I64)
        v == INT64_MIN ? str_puts(out, "(-9223372036854775807L - 1L)")
                       : str_printf(out, "%lldL", (long long)v);
    else if (t == DT_U64)
        str_printf(out, "%lluUL", (unsigned long long)v);
    else
        emit_int_literal(out, t, v);
}

static const Dialect dialect = {
    .name = "Metal",
    .lacks = LACK_F64 | LACK_UNEVEN,
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .integer = put_integer,
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "NAN",
    .inf_f32 = "INFINITY",
    .nan_f64 = "NAN",
    .inf_f64 = "INFINITY",
    .popcount = {"tl_popcount", "tl_popcount64"},
    .ffs = {"tl_ffs", "tl_ffs64"},
    .fns = "tl_fns",
    .declare = emit_decl,
    .fail = emit_fail,
    .loop = cuda_emit_for,
    .store = emit_any_store,
    .atomic = metal_atomic,
    .call = metal_call,
    .instr = emit_instr,
    .role = emit_role,
};

/* ---- kernels --------------------------------------------------------------------------------- */

static bool see_address(const Expr *x, void *arg)
{
    if (x->op == EX_ADDR)
        *(const Buffer **)arg = x->u.buf;
    return true;
}

/* Pointers of MSL are made of no numbers, and are none. */
static bool see_addresses(const Stmt *s, void *arg)
{
    Emit *e = arg;
    const Buffer *b = NULL;

    if (stmt_calls(s, INTRIN_PREFETCH))
        return true;
    stmt_visit_expr(s, see_address, &b);
    if (b)
        cuda_refuse(cuda_of(e), s, arena_printf(e->arena, "the address of '%s'", b->name));
    return true;
}

static void check_arguments(Emit *e, Kernel *k, int n)
{
    if (n > BUFFERS_MOST)
        diag_fail(k->diag, k->span, "this kernel has %d arguments; %s takes %d [unsupported-here]",
                  n, e->spec->text, BUFFERS_MOST);
}

static void check_kernel(Emit *e, Kernel *k)
{
    const Uses *u = &cuda_of(e)->u;

    stmt_visit(k->body, see_addresses, e);
    if (u->together)
        diag_fail(k->diag, k->span, "blocks that wait for each other have no meaning on target %s "
                  "[unsupported-here]", e->spec->text);
    check_arguments(e, k, k->launch.args.n);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if ((a->buf ? a->buf->type : a->var->type) == DT_F64)
            diag_fail(k->diag, k->span, "'%s' is float64, which Metal lacks [unsupported-here]",
                      a->buf ? a->buf->name : a->var->name);
    }
    if (k->arena_bytes > k->machine->shared_block)
        diag_fail(k->diag, k->span, "the tiles of this kernel take %lld bytes of shared memory; %s "
                  "has %lld [on-chip-bytes]", (long long)k->arena_bytes, e->spec->arch,
                  (long long)k->machine->shared_block);
}

static void emit_head(Emit *e, Kernel *k, bool flag)
{
    if (k->prelude)
        str_printf(e->out, "%s\n", k->prelude);
    str_printf(e->out, "[[kernel, max_total_threads_per_threadgroup(%d)]] void %s(\n",
               kernel_launch_threads(k), k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if (a->buf)
            str_printf(e->out, "    %s%s", pointer_type(e, a->buf), buffer_name(e, a->buf));
        else
            str_printf(e->out, "    constant %s &%s", c_value_type(a->var->type),
                       var_name(e, a->var));
        str_printf(e->out, " [[buffer(%d)]],\n", i);
    }
    if (flag)
        str_printf(e->out, "    TL_FLAG(%d)\n", k->launch.args.n);
    if (k->arena_bytes > 0)
        str_puts(e->out, "    threadgroup uchar *tl_shared [[threadgroup(0)]],\n");
    str_puts(e->out, "    uint3 tl_block [[threadgroup_position_in_grid]],\n"
             "    uint3 tl_grid [[threadgroups_per_grid]],\n"
             "    uint3 tl_thread [[thread_position_in_threadgroup]])\n{\n");
}

/* The block's place, in the order that T.use_swizzle asks for, and the thread's. */
static void emit_indices(Emit *e, Kernel *k)
{
    static const char axis[] = "xyz";
    bool raster = k->swizzle_panel > 0 && k->ngrid == 2;
    bool columns = k->swizzle_order && !strcmp(k->swizzle_order, "column");

    if (raster)
        emit_line(e, "const TlTile tl_tile = tl_raster_%s(tl_block, tl_grid, %d);",
                  columns ? "columns" : "rows", k->swizzle_panel);
    for (int d = 0; d < k->ngrid; d++)
        if (map_has(e->seen, k->block[d]))
            emit_line(e, "const int32_t %s = int32_t(%s.%c);", var_name(e, k->block[d]),
                      raster ? "tl_tile" : "tl_block", axis[d]);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && (map_has(e->seen, k->thread[d]) || k->threads[d] > 1))
            emit_line(e, "const int32_t %s = int32_t(tl_thread.%c);", var_name(e, k->thread[d]),
                      axis[d]);
}

static void emit_body_of(Metal *m, Kernel *k)
{
    Cuda *c = &m->c;
    Emit *e = &c->e;

    e->indent = 1;
    emit_indices(e, k);
    for (int i = 0; i < k->buffers.n; i++)
        if (uses_declares(&c->u, k->buffers.at[i]))
            emit_decl(e, k->buffers.at[i]);
    if (c->u.random)
        emit_line(e, "tl_random tl_rng = {};");
    str_putc(e->out, '\n');
    emit_stmt(e, k->body);
    e->indent = 0;
    emit_line(e, "}\n");
}

static void emit_kernel(Metal *m, Kernel *k)
{
    Cuda *c = &m->c;
    Emit *e = &c->e;
    Str *out = e->out, body;
    int first = m->nassert;

    e->k = k;
    legalise(e);
    k->body = cuda_fix_slots(c, k->body);
    uses_collect(&c->u, e, k, k->body);
    c->copies = 1;
    metal_orders(m, k->body);
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(&c->u, k);
    check_kernel(e, k);
    str_init(&body, e->arena);
    e->out = &body;
    emit_body_of(m, k);
    e->out = out;
    check_arguments(e, k, k->launch.args.n + (m->nassert > first)); /* with the flag */
    emit_head(e, k, m->nassert > first);
    str_putn(out, body.s, body.n);
}
/* Words of MSL and of its library that C does not have. */
static const char *const words[] = {
    "kernel", "device", "constant", "threadgroup", "thread", "threadgroup_imageblock", "vertex",
    "fragment", "metal", "half", "bfloat", "uchar", "ushort", "uint", "ulong", "vec", "matrix",
    "packed_float2", "texture", "sampler", "min", "max", "clamp", "select", "as_type", "fast",
    "precise", "dot", "cross", "length", "distance", "normalize", "mix", "step", "sign", "fract",
    "saturate", "any", "all", "clz", "ctz", "popcount", "rsqrt", "access", "quad", "array",
    "visible", "mem_flags", "memory_order",
    "float2", "float3", "float4", "uint2", "uint3", "uint4", "int2",
    "int3", "int4", "half2", "half4", "NAN", "INFINITY", "mulhi", "ray_data", "object_data",
};

static void paste(Arena *a, const TargetSpec *spec, const char *text, Str *out)
{
    static const unsigned char *const file[] = {device_metal_scalar_h, device_metal_warp_h,
                                                device_metal_atomic_h, device_cpu_convert_h, NULL};

    (void)spec;
    device_paste(a, file, device_metal_types_h, text, out);
}

void metal_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const CudaText as = {&dialect, paste, NULL, 0, NULL, metal_space};
    Arena *a = f->ir->arena;
    Str body, text;
    Metal m = {.c = {.as = &as,
                     .e = {.func = f, .ir = f->ir, .spec = spec, .say = &dialect, .out = &body,
                           .arena = a, .names = names_of(a)}}};
    Emit *e = &m.c.e;

    str_init(&body, a);
    str_init(&text, a);
    str_init(&e->decls, a);
    str_init(&m.asserts, a);
    map_init_text(&e->routines, a);
    name_for_c(e->names);
    for (int i = 0; i < COUNT(words); i++)
        name_reserve(e->names, words[i]);
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(&m, f->kernels.at[i]);
    str_putn(&text, e->decls.s, e->decls.n);
    str_putn(&text, body.s, body.n);
    str_printf(out, "/* %s, made by tilelang for %s */\n", f->name, spec->text);
    paste(a, spec, text.s, out);
    str_puts(out, "/* ---- kernels ---- */\n\n"); /* tests compare what follows */
    if (m.asserts.n)
        str_printf(out, "%s\n", m.asserts.s);
    str_putn(out, text.s, text.n);
}
