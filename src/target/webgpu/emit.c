/* emit.c -- kernels as WGSL: the dialect, calls between threads, the head of a kernel.
 *
 * One text holds all kernels of a function.  Tensors are bindings 1, 2, … of group 0 in all of
 * them; binding 0 are the scalars of the kernel that runs. */
#include "target/webgpu/webgpu.h"
#include "target/paste.h"
#include "device_webgpu.h"

/* ---- words ----------------------------------------------------------------------------------- */

const char *wgsl_value_type(DType t)
{
    if (dtype_is_int(t) && dtype_bits(t) == 64)
        return "vec2<u32>";
    return dtype_is_float(t) ? "f32" : t == DT_BOOL ? "bool" : dtype_is_unsigned(t) ? "u32" : "i32";
}

/* Of elements that a word has several of, or a part of: the word. */
const char *wgsl_storage_type(DType t)
{
    return dtype_bits(t) != 32 ? "u32" : wgsl_value_type(t);
}

static void put_integer(Str *out, DType t, int64_t v)
{
    if (dtype_is_unsigned(t))
        str_printf(out, "%lluu", (unsigned long long)(uint32_t)v);
    else if (v == INT32_MIN)
        str_puts(out, "i32(-2147483648)");
    else
        str_printf(out, v < 0 ? "(%lld)" : "%lld", (long long)v);
}

static const char *const math_f32[MATH_COUNT] = {
    [MATH_ABS] = "abs",           [MATH_ACOS] = "acos",       [MATH_ACOSH] = "acosh",
    [MATH_ASIN] = "asin",         [MATH_ASINH] = "asinh",     [MATH_ATAN] = "atan",
    [MATH_ATAN2] = "atan2",       [MATH_ATANH] = "atanh",     [MATH_CEIL] = "ceil",
    [MATH_COPYSIGN] = "tl_copysign", [MATH_COS] = "cos",      [MATH_COSH] = "cosh",
    [MATH_ERF] = "tl_erf",        [MATH_EXP] = "exp",         [MATH_EXP2] = "exp2",
    [MATH_EXP10] = "tl_exp10",    [MATH_FLOOR] = "floor",     [MATH_FMA] = "fma",
    [MATH_FMOD] = "tl_fmod",      [MATH_HYPOT] = "tl_hypot",  [MATH_ISFINITE] = "tl_isfinite",
    [MATH_ISINF] = "tl_isinf",    [MATH_ISNAN] = "tl_isnan",  [MATH_LDEXP] = "tl_ldexp",
    [MATH_LOG] = "log",           [MATH_LOG1P] = "tl_log1p",  [MATH_LOG2] = "log2",
    [MATH_LOG10] = "tl_log10",    [MATH_NEARBYINT] = "round", [MATH_POW] = "tl_pow_f32",
    [MATH_RCP] = "tl_rcp",        [MATH_ROUND] = "round",     [MATH_ROUND_AWAY] = "tl_round_away",
    [MATH_RSQRT] = "inverseSqrt", [MATH_SIGMOID] = "tl_sigmoid", [MATH_SIN] = "sin",
    [MATH_SINH] = "sinh",         [MATH_SQRT] = "sqrt",       [MATH_TAN] = "tan",
    [MATH_TANH] = "tl_tanh",      [MATH_TRUNC] = "trunc",     [MATH_MIN_NAN] = "tl_min_nan_f32",
    [MATH_MAX_NAN] = "tl_max_nan_f32", [MATH_FAST_EXP] = "exp", [MATH_FAST_EXP10] = "tl_exp10",
    [MATH_FAST_LOG] = "log",      [MATH_FAST_LOG2] = "log2",  [MATH_FAST_LOG10] = "tl_log10",
    [MATH_FAST_SIN] = "sin",      [MATH_FAST_COS] = "cos",    [MATH_FAST_TAN] = "tan",
    [MATH_FAST_RCP] = "tl_rcp",   [MATH_NEXTAFTER] = "tl_nextafter", [MATH_MUL_RN] = "tl_mul_rn",
};
static const char *const math_f64[MATH_COUNT];

NORETURN void wgsl_refuse(Emit *e, const Stmt *s, const char *what)
{
    diag_fail(e->k->diag, s->span, "%s has no meaning on target %s [unsupported-here]", what,
              e->spec->text);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Of copies and stores that may be in flight elsewhere: here they are done when they are issued. */
static bool is_nothing(Intrin which)
{
    return which == INTRIN_COMMIT_COPIES || which == INTRIN_WAIT_COPIES ||
           which == INTRIN_COMMIT_STORES || which == INTRIN_WAIT_STORES ||
           which == INTRIN_FENCE_PROXY || which == INTRIN_PREFETCH;
}

/* ---- random numbers: words of 32 bits (device/webgpu/random.wgsl) ---------------------------- */

/* Low and high word of an argument of 64 bits. */
static void put_words(Emit *e, const Expr *x)
{
    int64_t v;

    if (expr_is_int(x, &v)) {
        str_printf(e->out, ", vec2<u32>(%uu, %uu)", (unsigned)v, (unsigned)((uint64_t)v >> 32));
        return;
    }
    if (dtype_bits((DType)x->type) == 64) {
        str_puts(e->out, ", ");
        emit_loose(e, x);
        return;
    }
    bool is_unsigned = dtype_is_unsigned((DType)x->type);
    str_puts(e->out, is_unsigned ? ", vec2<u32>(u32(" : ", tl_words_i32(i32(");
    emit_loose(e, x);
    str_puts(e->out, is_unsigned ? "), 0u)" : "))");
}

static void emit_random(Emit *e, const Stmt *s)
{
    int64_t bits = 32;
    bool normal = s->u.call.text && !strcmp(s->u.call.text, "normal");
    bool init = s->u.call.which == INTRIN_RNG_INIT, word = s->u.call.which == INTRIN_RNG_RAND;

    if (s->u.call.which == INTRIN_RNG_FLOAT)
        expr_is_int(s->u.call.arg[0], &bits);
    if (hint_int(e->k->hints, "generator", 0) || bits == 64)
        wgsl_refuse(e, s, "a random number of 64 bits, or not of Philox,");
    bool bound = s->u.call.bind && (!e->seen || map_has(e->seen, s->u.call.bind));
    emit_bind(e, s->u.call.bind, NULL);
    str_printf(e->out, "%stl_rng_%s(&tl_rng", init || bound ? "" : "_ = ",
               init ? "init" : word ? "next" : normal ? "normal" : "uniform");
    for (int i = 0; init && i < 3; i++)
        put_words(e, s->u.call.arg[i]);
    str_puts(e->out, ");\n");
}

static void emit_call(Emit *e, const Stmt *s)
{
    bool warp = s->u.call.which == INTRIN_SYNC_WARP && e->k->machine->lanes > 1;

    if (is_nothing(s->u.call.which) || wgsl_lanes(e, s))
        return;
    if (s->u.call.which >= INTRIN_RNG_INIT && s->u.call.which <= INTRIN_RNG_FLOAT) {
        emit_random(e, s);
        return;
    }
    if (wgsl_is_print(s)) {
        wgsl_print(e, s);
        return;
    }
    if (s->u.call.which == INTRIN_RETURN) {
        emit_line(e, "return;");
        return;
    }
    if (s->u.call.which != INTRIN_SYNC_THREADS && !warp)
        wgsl_refuse(e, s, arena_printf(e->arena, "T.%s", intrin_table[s->u.call.which].word));
    emit_line(e, "workgroupBarrier();");
    if (wgsl_of(e)->ordered)
        emit_line(e, "storageBarrier();");
}

static void emit_instr(Emit *e, const Stmt *s)
{
    wgsl_refuse(e, s, "an instruction of another machine");
}

static void emit_role(Emit *e, const Stmt *s)
{
    if (s->u.role.nthread > 0)
        wgsl_refuse(e, s, "a role of some warps");
    emit_stmt(e, s->u.role.body);
}

/* A thread cannot end the launch, nor leave where others wait: it puts the number of what does not
 * hold in a flag, which is read when the launch is over, and goes on. */
static bool emit_own(Emit *e, const Stmt *s)
{
    Wgsl *w = wgsl_of(e);
    Str *out = e->out;

    if (s->kind != ST_ASSERT || stmt_is_fact(s))
        return false;
    str_printf(&w->asserts, "// tl_failed %d ", ++w->nassert);
    e->out = &w->asserts;
    emit_assert_text(e, s);
    e->out = out;
    str_putc(&w->asserts, '\n');
    emit_indent(e);
    str_puts(e->out, "if (!");
    emit_parens(e, s->u.check.cond);
    str_printf(e->out, ") { atomicStore(&tl_failed, %du); }\n", w->nassert);
    return true;
}

static void declare_flag(Wgsl *w, Str *out)
{
    if (w->nassert)
        str_printf(out, "%s@group(0) @binding(%d) var<storage, read_write> tl_failed: "
                   "atomic<u32>;\n\n", w->asserts.s, w->nbinding);
}

static void emit_decl(Emit *e, const Buffer *b)
{
    const char *name = buffer_name(e, b);
    int64_t bytes = dtype_bytes(b->type, stored_elems(e->k, b));

    if (b->view_of || b->scope == MEM_GLOBAL || b->scope == MEM_SHARED)
        return;
    if (b->scope == MEM_VAR)
        emit_line(e, "var %s: %s;", name, wgsl_value_type(b->type));
    else if ((b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL) && wgsl_is_half(wgsl_of(e), b))
        emit_line(e, "var %s: array<f16, %lld>;", name, (long long)stored_elems(e->k, b));
    else if (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL)
        emit_line(e, "var %s: array<%s, %lld>;", name, wgsl_storage_type(b->type),
                  (long long)(bytes + 3) / 4);
    else
        diag_fail(e->k->diag, b->span, "'%s' is in %s memory, which target %s does not have "
                  "[unsupported-here]", b->name, mem_name(b->scope), e->spec->text);
}

static bool is_typed(const Emit *e, const Buffer *b)
{
    return wgsl_is_half((const Wgsl *)e, b);
}

static const Dialect dialect = {
    .name = "WGSL",
    .lacks = LACK_POINTERS | LACK_LAZY | LACK_BYTES | LACK_HALVES | LACK_I64 | LACK_F64 |
             LACK_UNEVEN,
    .value_type = wgsl_value_type,
    .storage_type = wgsl_storage_type,
    .constant = "let $n: $t = ",
    .variable = "var $n: $t",
    .bound_apart = true,
    .cast = "$t($0)",
    .select = "select($2, $1, $0)",
    .drop = "_ = ",
    .wraps = true,
    .pair = "vec2<u32>",
    .part_atomics = true,
    .eager = true,
    .strict = true,
    .truth = {"false", "true"},
    .integer = put_integer,
    .float_end = {"f", ""},
    .nan_f32 = "tl_nan()",
    .inf_f32 = "tl_inf()",
    .math_f32 = math_f32,
    .math_f64 = math_f64,
    .popcount = {"tl_popcount"},
    .ffs = {"tl_ffs"},
    .fns = "tl_fns",
    .element = wgsl_element,
    .typed = is_typed,
    .decoded = wgsl_decoded,
    .own = emit_own,
    .declare = emit_decl,
    .loop = wgsl_loop,
    .store = wgsl_store,
    .atomic = wgsl_atomic,
    .call = emit_call,
    .instr = emit_instr,
    .role = emit_role,
};

/* ---- kernels --------------------------------------------------------------------------------- */

/* What is handed over beside tensors: words of a uniform. */
static bool emit_scalars(Wgsl *w, const Kernel *k, const char **name, const char **first)
{
    Emit *e = &w->e;
    int n = wgsl_has_first(k);

    for (int i = 0; i < k->launch.args.n; i++)
        n += k->launch.args.at[i].var != NULL;
    if (!n)
        return false;
    const char *type = name_for(e->names, NEW(e->arena, char), "Scalars");
    *name = name_for(e->names, NEW(e->arena, char), "scalars");
    emit_line(e, "struct %s {", type);
    for (int i = 0; i < k->launch.args.n; i++) {
        const Var *v = k->launch.args.at[i].var;
        if (v && dtype_bits(v->type) == 64)
            emit_line(e, "    %s: u32, %s_high: u32,", var_name(e, v), var_name(e, v));
        else if (v)
            emit_line(e, "    %s: %s,", var_name(e, v),
                      v->type == DT_BOOL ? "u32" : wgsl_value_type(v->type));
    }
    if (wgsl_has_first(k)) {
        const char *field = name_for(e->names, NEW(e->arena, char), "first");
        emit_line(e, "    %s: u32,", field);
        *first = arena_printf(e->arena, " + %s.%s", *name, field);
    }
    emit_line(e, "}");
    emit_line(e, "@group(0) @binding(0) var<uniform> %s: %s;", *name, type);
    return true;
}

static void take_scalars(Wgsl *w, const Kernel *k, const char *scalars)
{
    for (int i = 0; i < k->launch.args.n; i++) {
        const Var *v = k->launch.args.at[i].var;
        if (v && dtype_bits(v->type) == 64)
            emit_line(&w->e, "let %s = vec2<u32>(%s.%s, %s.%s_high);", var_name(&w->e, v), scalars,
                      var_name(&w->e, v), scalars, var_name(&w->e, v));
        else if (v)
            emit_line(&w->e, "let %s: %s = %s.%s%s;", var_name(&w->e, v), wgsl_value_type(v->type),
                      scalars, var_name(&w->e, v), v->type == DT_BOOL ? " != 0u" : "");
    }
}

static void take_indices(Wgsl *w, const Kernel *k, const char *block, const char *first,
                         const char *thread)
{
    static const char axis[] = "xyz";

    for (int d = 0; d < k->ngrid; d++)
        if (map_has(&w->now->seen, k->block[d]))
            emit_line(&w->e, "let %s: i32 = i32(%s.%c%s);", var_name(&w->e, k->block[d]), block,
                      axis[d], d ? "" : first);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && map_has(&w->now->seen, k->thread[d]))
            emit_line(&w->e, "let %s: i32 = i32(%s.%c);", var_name(&w->e, k->thread[d]), thread,
                      axis[d]);
}

static bool see_ordered(const Expr *x, void *arg)
{
    Wgsl *w = arg;

    if (x->op == EX_LOAD && x->u.buf->scope == MEM_GLOBAL)
        w->ordered |= map_has(&w->now->written, buffer_root(x->u.buf));
    return true;
}

static bool see_ordered_stmt(const Stmt *s, void *arg)
{
    Wgsl *w = arg;

    w->ordered |= s->kind == ST_ATOMIC && s->u.atomic.buf->scope == MEM_GLOBAL;
    stmt_visit_expr(s, see_ordered, arg);
    return true;
}

/* The head of a kernel.  With subgroups its threads stand in one row: naga has none in others. */
static void put_entry(Wgsl *w, const Kernel *k, const char *block, const char *thread, bool lanes)
{
    Emit *e = &w->e;
    int x = MAX(k->threads[0], 1), y = MAX(k->threads[1], 1), z = MAX(k->threads[2], 1);
    bool row = lanes && y * z > 1;
    const char *own = row ? name_for(e->names, NEW(e->arena, char), "place") : thread;

    emit_line(e, "\n@compute @workgroup_size(%d, %d, %d)", row ? x * y * z : x, row ? 1 : y,
              row ? 1 : z);
    emit_line(e, "fn %s(@builtin(workgroup_id) %s: vec3<u32>, "
              "@builtin(local_invocation_id) %s: vec3<u32>%s) {", k->launch.symbol, block, own,
              lanes ? ", @builtin(subgroup_invocation_id) tl_own_lane: u32, "
                      "@builtin(subgroup_size) tl_size: u32" : "");
    e->indent = 1;
    if (row)
        emit_line(e, "let %s = vec3<u32>(%s.x %% %du, %s.x / %du %% %du, %s.x / %du);", thread, own,
                  x, own, x, y, own, x * y);
}

static void emit_kernel(Wgsl *w, Kernel *k, Uses *u)
{
    Emit *e = &w->e;
    const char *scalars = NULL, *first = "", *block, *thread;
    bool hands = wgsl_has_lanes(k->body), lanes = hands && k->machine->lanes > 1;

    e->k = k;
    w->now = u;
    e->written = &u->written;
    e->seen = &u->seen;
    emit_know_ranges(e, k);
    w->ordered = false;
    stmt_visit(k->body, see_ordered_stmt, w);
    k->launch.symbol = name_for(e->names, k, k->name);
    uses_launch(u, k);
    for (int i = 0; i < k->launch.args.n; i++) {
        KernelArg *a = &k->launch.args.at[i];
        const Place *p = a->buf ? map_get(&w->places, a->buf) : NULL;
        a->slot = p ? p->binding : 0;
        a->written = p && map_has(&w->written, a->buf);
    }
    bool any = emit_scalars(w, k, &scalars, &first);
    wgsl_place_shared(w, k);
    block = name_for(e->names, NEW(e->arena, char), "block");
    thread = name_for(e->names, NEW(e->arena, char), "thread");
    put_entry(w, k, block, thread, lanes);
    w->start[u - w->uses] = e->out->n;
    if (any)
        take_scalars(w, k, scalars);
    take_indices(w, k, block, first, thread);
    if (lanes)
        wgsl_check_lanes(w, k, thread);
    else if (hands)
        wgsl_begin_exchange(w, k, thread);
    for (int i = 0; i < k->buffers.n; i++)
        if (map_has(&u->used, k->buffers.at[i]))
            emit_decl(e, k->buffers.at[i]);
    if (u->random)
        emit_line(e, "var tl_rng: array<u32, 11>;");
    emit_stmt(e, k->body);
    e->indent = 0;
    emit_line(e, "}\n");
}

/* tl_none is 0 when the kernel runs, and unknown when it is compiled: bindings are below 2 GiB. */
static void put_none(const Kernel *k, const Wgsl *w, Str *out)
{
    for (int i = 0; i < k->launch.args.n; i++) {
        const Place *p = k->launch.args.at[i].slot ? map_get(&w->places, k->launch.args.at[i].buf)
                                                   : NULL;
        if (p) {
            str_printf(out, "    tl_none = arrayLength(&%s) >> %du;\n", p->name,
                       strcmp(p->type, "f16") ? 29 : 30);
            return;
        }
    }
}

/* The helpers that the kernels use, and the kernels. */
static void put_texts(Wgsl *w, const char *body, const unsigned char *const *file, Str *out)
{
    size_t from = 0, head = out->n;

    device_paste(w->e.arena, file, (const unsigned char *)"", body, out);
    bool hides = strstr(out->s + head, "tl_none");
    if (hides)
        str_puts(out, "var<private> tl_none: u32;\n\n");
    if (strstr(body, "tl_lane"))
        str_puts(out, "var<private> tl_lane: i32;\n\n");
    if (w->nexchange)
        str_printf(out, "var<private> tl_thread: u32;\nvar<private> tl_threads: u32;\n"
                   "var<workgroup> tl_exchange: array<u32, %lld>;\n\n", (long long)w->nexchange);
    if (strstr(out->s + head, "tl_agreed"))
        str_puts(out, "var<workgroup> tl_agreed: i32;\n\n");
    str_puts(out, "/* ---- kernels ---- */\n\n");
    declare_flag(w, out);
    wgsl_declare_prints(w, out);
    for (int i = 0; hides && i < w->e.func->kernels.n; i++) {
        str_putn(out, body + from, w->start[i] - from);
        put_none(w->e.func->kernels.at[i], w, out);
        from = w->start[i];
    }
    str_puts(out, body + from);
}

static const char *const taken[] = {
#define WORD(w) #w,
#include "target/webgpu/words.def"
#undef WORD
};

static void prepare(Wgsl *w, Kernel *k, Uses *u)
{
    w->e.k = k;
    k->body = wgsl_print_floats(w->e.ir, k->body);
    legalise(&w->e);
    k->body = wgsl_say(&w->e, k->body);
    uses_collect(u, &w->e, k, k->body);
    if (u->together)
        diag_fail(k->diag, k->span, "blocks that wait for each other have no meaning on target %s "
                  "[unsupported-here]", w->e.spec->text);
    wgsl_see_atomics(w, k->body);
}

void webgpu_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const unsigned char *const file[] = {device_webgpu_half_wgsl, device_webgpu_scalar_wgsl,
                                                device_webgpu_convert_wgsl,
                                                device_webgpu_random_wgsl,
                                                device_webgpu_agree_wgsl,
                                                device_webgpu_lanes_wgsl,
                                                device_webgpu_wide_wgsl,
                                                device_webgpu_warp_wgsl,
                                                device_webgpu_print_wgsl, NULL};
    Arena *a = f->ir->arena;
    Str body;
    Wgsl w = {.e = {.func = f, .ir = f->ir, .spec = spec, .say = &dialect, .out = &body,
                    .arena = a, .names = names_of(a)},
              .uses = NEWN(a, Uses, f->kernels.n + 1),
              .start = NEWN(a, size_t, f->kernels.n + 1)};

    str_init(&body, a);
    str_init(&w.e.decls, a);
    str_init(&w.asserts, a);
    str_init(&w.prints, a);
    map_init_text(&w.e.routines, a);
    map_init(&w.places, a);
    map_init(&w.atomics, a);
    map_init(&w.worded, a);
    map_init(&w.written, a);
    name_for_c(w.e.names);
    for (int i = 0; i < COUNT(taken); i++)
        name_reserve(w.e.names, taken[i]);
    for (int i = 0; i < f->kernels.n; i++)
        wgsl_see_halves(&w, f->kernels.at[i]);
    for (int i = 0; i < f->kernels.n; i++)
        prepare(&w, f->kernels.at[i], &w.uses[i]);
    wgsl_place_tensors(&w);
    for (int i = 0; i < f->kernels.n; i++) {
        wgsl_agree(&w, f->kernels.at[i], &w.uses[i]);
        emit_kernel(&w, f->kernels.at[i], &w.uses[i]);
    }
    str_printf(out, "// %s, made by tilelang for %s\n%s", f->name, spec->text,
               spec->half_type && strstr(body.s, "f16") ? "enable f16;\n" : "");
    if (strstr(body.s, "tl_own_lane"))
        str_printf(out, "enable subgroups; // of %d threads\n", spec->machine.lanes);
    put_texts(&w, body.s, file + !spec->own_halves, out);
}
