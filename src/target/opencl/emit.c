/* emit.c -- kernels as OpenCL C: names of functions, the head of a kernel.
 *
 * Self-contained: nothing is included.  Pointers say which memory they are into, so that no device
 * needs a generic address space.  Tiles in local memory are typed pointers into one array of the
 * kernel's; tensors are addresses (shared virtual memory). */
#include "target/legalise.h"
#include "target/opencl/opencl.h"
#include "ir/config.h"
#include "target/paste.h"
#include "device_cpu.h"
#include "device_opencl.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* Functions of OpenCL C are overloaded: one name for both widths. */
#define MATH_BOTH                                                                                  \
    [MATH_ABS] = "fabs", [MATH_ACOS] = "acos", [MATH_ACOSH] = "acosh", [MATH_ASIN] = "asin",       \
    [MATH_ASINH] = "asinh", [MATH_ATAN] = "atan", [MATH_ATAN2] = "atan2", [MATH_ATANH] = "atanh",  \
    [MATH_CEIL] = "ceil", [MATH_COPYSIGN] = "copysign", [MATH_COS] = "cos", [MATH_COSH] = "cosh",  \
    [MATH_ERF] = "erf", [MATH_EXP] = "exp", [MATH_EXP2] = "exp2", [MATH_EXP10] = "exp10",          \
    [MATH_FLOOR] = "floor", [MATH_FMA] = "fma", [MATH_FMOD] = "fmod", [MATH_HYPOT] = "hypot",      \
    [MATH_LOG] = "log", [MATH_LOG1P] = "log1p", [MATH_LOG2] = "log2", [MATH_LOG10] = "log10",      \
    [MATH_NEARBYINT] = "rint", [MATH_NEXTAFTER] = "nextafter", [MATH_POW] = "pow",                 \
    [MATH_ROUND] = "rint", [MATH_ROUND_AWAY] = "round", [MATH_SIN] = "sin", [MATH_SINH] = "sinh",  \
    [MATH_SQRT] = "sqrt", [MATH_TAN] = "tan", [MATH_TANH] = "tanh", [MATH_TRUNC] = "trunc",        \
    [MATH_FAST_EXP10] = "exp10", [MATH_FAST_LOG10] = "log10"

static const char *const math_f32[MATH_COUNT] = {
    MATH_BOTH,
    [MATH_ISFINITE] = "tl_isfinite_f32", [MATH_ISINF] = "tl_isinf_f32",
    [MATH_ISNAN] = "tl_isnan_f32",       [MATH_LDEXP] = "tl_ldexp_f32",
    [MATH_RCP] = "tl_rcp_f32",           [MATH_RSQRT] = "tl_rsqrt_f32",
    [MATH_SIGMOID] = "tl_sigmoid_f32",   [MATH_MIN_NAN] = "tl_min_nan_f32",
    [MATH_MAX_NAN] = "tl_max_nan_f32",   [MATH_FAST_EXP] = "native_exp",
    [MATH_FAST_LOG] = "native_log",      [MATH_FAST_LOG2] = "native_log2",
    [MATH_FAST_SIN] = "native_sin",      [MATH_FAST_COS] = "native_cos",
    [MATH_FAST_TAN] = "native_tan",      [MATH_FAST_RCP] = "native_recip",
    [MATH_MUL_RN] = "tl_mul_rn_f32",     [MATH_ADD_RN] = "tl_add_rn_f32",
};

static const char *const math_f64[MATH_COUNT] = {
    MATH_BOTH,
    [MATH_ISFINITE] = "tl_isfinite_f64", [MATH_ISINF] = "tl_isinf_f64",
    [MATH_ISNAN] = "tl_isnan_f64",       [MATH_LDEXP] = "tl_ldexp_f64",
    [MATH_RCP] = "tl_rcp_f64",           [MATH_RSQRT] = "tl_rsqrt_f64",
    [MATH_SIGMOID] = "tl_sigmoid_f64",   [MATH_MIN_NAN] = "tl_min_nan_f64",
    [MATH_MAX_NAN] = "tl_max_nan_f64",   [MATH_MUL_RN] = "tl_mul_rn_f64",
    [MATH_ADD_RN] = "tl_add_rn_f64",
};

/* There is no long long. */
static void put_integer(Str *out, DType t, int64_t v)
{
    if (t == DT_I64 && v == INT64_MIN)
        str_puts(out, "(-9223372036854775807l - 1)");
    else if (t == DT_I64)
        str_printf(out, "%lldl", (long long)v);
    else if (t == DT_U64)
        str_printf(out, "%lluul", (unsigned long long)v);
    else
        emit_int_literal(out, t, v);
}

NORETURN void cl_refuse(Emit *e, const Stmt *s, const char *what)
{
    diag_fail(e->k->diag, s->span, "%s has no meaning on target %s [unsupported-here]", what,
              e->spec->text);
}

const char *cl_space(const Buffer *b)
{
    switch (buffer_root(b)->scope) {
    case MEM_GLOBAL: return "__global";
    case MEM_SHARED: return "__local";
    default: return "__private";
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void emit_instr(Emit *e, const Stmt *s)
{
    cl_refuse(e, s, "an instruction of another machine");
}

static void emit_role(Emit *e, const Stmt *s)
{
    if (s->u.role.nthread > 0)
        cl_refuse(e, s, "a role of some warps");
    emit_stmt(e, s->u.role.body);
}

/* A thread cannot end the launch, nor leave where others wait: it puts the number of what does not
 * hold in a flag, which is read when the launch is over, and goes on. */
static void emit_fail(Emit *e, const Stmt *s)
{
    Cl *c = cl_of(e);
    Str *out = e->out;

    str_printf(&c->asserts, "// tl_failed %d ", ++c->nassert);
    e->out = &c->asserts;
    emit_assert_text(e, s);
    e->out = out;
    str_putc(&c->asserts, '\n');
    str_printf(e->out, "TL_FAIL(%d);\n", c->nassert);
}

static const Dialect dialect = {
    .name = "OpenCL C",
    .lacks = LACK_UNEVEN,
    .parted = "volatile $t $n = ", /* PoCL 3.1 takes loops with barriers apart by it, wrongly */
    DIALECT_C,
    .value_type = c_value_type,
    .constant = "const $t $n = ",
    .integer = put_integer,
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .nan_f32 = "NAN",
    .inf_f32 = "INFINITY",
    .nan_f64 = "(double)NAN",
    .inf_f64 = "(double)INFINITY",
    .popcount = {"(int32_t)popcount", "(int32_t)popcount"},
    .ffs = {"tl_ffs_u32", "tl_ffs_u64"},
    .fns = "tl_fns",
    .declare = cl_declare,
    .fail = emit_fail,
    .loop = cl_loop,
    .store = cl_store,
    .atomic = cl_atomic,
    .call = cl_call,
    .instr = emit_instr,
    .role = emit_role,
};

/* ---- kernels --------------------------------------------------------------------------------- */

static void refuse_extern(Emit *e, const Stmt *s, const char *name)
{
    diag_fail(e->k->diag, s->span, "'%s' is a function of another language than OpenCL C "
              "[unsupported-here]", name);
}

typedef struct {
    Emit *e;
    const Stmt *at;
    bool meets; /* threads wait for each other */
    bool words; /* and hand words to each other */
    const Stmt *leaves;
} Look;

static bool look_expr(const Expr *x, void *arg)
{
    Look *l = arg;

    if (x->op == EX_EXTERN)
        refuse_extern(l->e, l->at, x->u.text);
    return true;
}

static bool look_stmt(const Stmt *s, void *arg)
{
    Look *l = arg;

    l->at = s;
    stmt_visit_expr(s, look_expr, l);
    if (s->kind != ST_CALL)
        return true;
    if (s->u.call.which == INTRIN_EXTERN && strcmp(s->u.call.text, "printf"))
        refuse_extern(l->e, s, s->u.call.text);
    l->meets |= legal_meets(l->e->k, s);
    l->words |= cl_hands_over(l->e->k, s);
    if (s->u.call.which == INTRIN_RETURN)
        l->leaves = s;
    return true;
}

/* What cannot be said, before anything is: threads that leave while others wait among it.  Whether
 * threads hand words to each other. */
static bool look_at(Emit *e, Kernel *k)
{
    Look l = {.e = e};

    stmt_visit(k->body, look_stmt, &l);
    if (l.meets && l.leaves)
        cl_refuse(e, l.leaves, "T.thread_return of some threads while others meet at a barrier");
    if (cl_of(e)->u.together)
        diag_fail(k->diag, k->span, "blocks that wait for each other have no meaning on target %s "
                  "[unsupported-here]", e->spec->text);
    return l.words;
}

static void emit_param(Cl *c, const KernelArg *a)
{
    Emit *e = &c->e;
    bool known = !c->u.addressed && config_on(e->k->func, CONFIG_noalias);

    if (a->buf)
        str_printf(e->out, "__global %s%s *%s%s",
                   map_has(&c->u.written, buffer_root(a->buf)) ? "" : "const ",
                   c_storage_type(a->buf->type),
                   known && !kernel_may_alias(e->k, a->buf) ? "restrict " : "",
                   buffer_name(e, a->buf));
    else
        str_printf(e->out, "const %s %s", c_value_type(a->var->type), var_name(e, a->var));
}

static void emit_head(Cl *c, Kernel *k, bool flag)
{
    Emit *e = &c->e;
    int n[3];

    for (int d = 0; d < 3; d++)
        n[d] = MAX(k->threads[d], 1) + (d == 0 ? k->extra_threads : 0);
    if (k->machine->lanes > 1)
        str_printf(e->out, "__attribute__((intel_reqd_sub_group_size(%d)))\n", k->machine->lanes);
    str_printf(e->out, "__attribute__((reqd_work_group_size(%d, %d, %d)))\n__kernel void %s(", n[0],
               n[1], n[2], k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        str_puts(e->out, i ? ", " : "");
        emit_param(c, &k->launch.args.at[i]);
    }
    str_printf(e->out, "%s)\n{\n", !flag ? "" : k->launch.args.n ? " TL_FLAG" : "TL_FLAG_ALONE");
}

static void emit_indices(Emit *e, const Uses *u, Kernel *k)
{
    for (int d = 0; d < k->ngrid; d++)
        if (map_has(&u->seen, k->block[d]))
            emit_line(e, "const int32_t %s = (int32_t)get_group_id(%d);",
                      var_name(e, k->block[d]), d);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && map_has(&u->seen, k->thread[d]))
            emit_line(e, "const int32_t %s = (int32_t)get_local_id(%d);",
                      var_name(e, k->thread[d]), d);
}

static void emit_random_state(Cl *c, Kernel *k)
{
    if (c->u.random && hint_int(k->hints, "generator", 0))
        emit_line(&c->e, "uint32_t tl_gen[7];");
    else if (c->u.random)
        emit_line(&c->e, "struct tl_random tl_rng;");
}

/* A word of each thread behind the tiles. */
static void emit_words(Emit *e, Kernel *k)
{
    int64_t at = (k->arena_bytes + 7) / 8 * 8, all = kernel_launch_threads(k);

    emit_line(e, "__local uint64_t *const tl_words = (__local uint64_t *)(tl_shared + %lld);",
              (long long)at);
    emit_line(e, "const int32_t tl_all = %lld, tl_me = (int32_t)(get_local_id(0) + "
              "get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));",
              (long long)all);
}

static void place_words(Kernel *k)
{
    int64_t all = kernel_launch_threads(k);

    k->launch.shared_bytes = (k->arena_bytes + 7) / 8 * 8 + 8 * all;
    if (k->launch.shared_bytes > k->machine->shared_block)
        diag_fail(k->diag, k->span, "a word of each of %lld threads behind %lld bytes of tiles is "
                  "more than the %lld bytes of local memory that there are [on-chip-bytes]",
                  (long long)all, (long long)k->arena_bytes, (long long)k->machine->shared_block);
}

static void emit_body_of(Cl *c, Kernel *k, bool words)
{
    Emit *e = &c->e;

    e->indent = 1;
    if (k->launch.shared_bytes)
        emit_line(e, "TL_LOCAL(tl_shared, %lld);", (long long)k->launch.shared_bytes);
    if (words)
        emit_words(e, k);
    for (int i = 0; i < k->buffers.n; i++)
        if (uses_declares(&c->u, k->buffers.at[i]))
            cl_declare(e, k->buffers.at[i]);
    emit_random_state(c, k);
    emit_indices(e, &c->u, k);
    emit_stmt(e, k->body);
    e->indent = 0;
    emit_line(e, "}\n");
}

static void emit_kernel(Cl *c, Kernel *k)
{
    Emit *e = &c->e;
    Str *out = e->out, body;

    e->k = k;
    legalise(e);
    uses_collect(&c->u, e, k, k->body);
    bool words = look_at(e, k);
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(&c->u, k);
    if (words)
        place_words(k);
    c->first = c->nassert;
    str_init(&body, e->arena);
    e->out = &body;
    emit_body_of(c, k, words);
    e->out = out;
    emit_head(c, k, c->nassert > c->first);
    str_putn(out, body.s, body.n);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *const taken[] = {
#define WORD(w) #w,
#include "target/opencl/words.def"
#undef WORD
};

/* What a text must ask for, where it has a use for it; the first is there by itself since 1.2. */
static const char old_only[] = "#if __OPENCL_C_VERSION__ < 120\n";
static const struct {
    const char *word, *extension;
} extensions[] = {
    {"double", "cl_khr_fp64"},
    {"as_half", "cl_khr_fp16"},
    {"atom_cmpxchg", "cl_khr_int64_base_atomics"},
    {"sub_group_", "cl_khr_subgroup_shuffle"},
    {"sub_group_ballot", "cl_khr_subgroup_ballot"},
};

static void put_text(Cl *c, const char *body, const unsigned char *const *file, Str *out)
{
    Str helpers;

    str_init(&helpers, c->e.arena);
    const char *all = arena_printf(c->e.arena, "%s%s", c->e.decls.n ? c->e.decls.s : "", body);
    device_paste(c->e.arena, file, (const unsigned char *)"", all, &helpers);
    for (int i = 0; i < COUNT(extensions); i++)
        if (strstr(helpers.s, extensions[i].word) || strstr(all, extensions[i].word))
            str_printf(out, "%s#pragma OPENCL EXTENSION %s : enable\n%s", i ? "" : old_only,
                       extensions[i].extension, i ? "" : "#endif\n");
    str_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n\n");
    str_puts(out, (const char *)device_opencl_types_h);
    if (c->e.spec->machine.lanes > 1)
        str_printf(out, "#define TL_LANES %d\n", c->e.spec->machine.lanes);
    str_puts(out, helpers.s);
    str_puts(out, "/* ---- kernels ---- */\n\n#pragma OPENCL FP_CONTRACT ON\n\n");
    if (c->asserts.n)
        str_printf(out, "%s\n", c->asserts.s);
    str_puts(out, all);
}

void opencl_emit(Func *f, const TargetSpec *spec, Str *out)
{
    const unsigned char *const file[] = {device_opencl_half_h,
                                         device_opencl_scalar_h,
                                         device_opencl_atomic_h,
                                         spec->machine.lanes > 1 ? device_opencl_lanes_h
                                                                 : device_opencl_meet_h,
                                         device_opencl_lanes_h, /* what both have is the first's */
                                         device_opencl_random_h,
                                         device_cpu_convert_h,
                                         device_cpu_random_h,
                                         NULL};
    Arena *a = f->ir->arena;
    Str body;
    Cl c = {.e = {.func = f, .ir = f->ir, .spec = spec, .say = &dialect, .out = &body, .arena = a,
                  .names = names_of(a)}};

    str_init(&body, a);
    str_init(&c.e.decls, a);
    str_init(&c.asserts, a);
    map_init_text(&c.e.routines, a);
    name_for_c(c.e.names);
    for (int i = 0; i < COUNT(taken); i++)
        name_reserve(c.e.names, taken[i]);
    for (int i = 0; i < f->kernels.n; i++)
        emit_kernel(&c, f->kernels.at[i]);
    str_printf(out, "/* %s, made by tilelang for %s */\n", f->name, spec->text);
    put_text(&c, body.n ? body.s : "", file + !spec->own_halves, out);
}
