/* bundle.c -- a kernel for a Mac: kernel.metal and run.m, an Objective-C program that runs it.
 *
 * run.m is device/metal/run.m, which opens the GPU, asks it which lanes hold what, and reads and
 * writes tensors; behind it come the kernel's tensors and numbers and its host part as C. */
#include "target/metal/metal.h"
#include "target/bundle.h"
#include "device_metal.h"

NORETURN static void refuse(Emit *e, const char *what)
{
    recover_throw(STATUS_TARGET, "'%s': the host part has %s, which a bundle for Metal does not "
                  "[bundle-target]", e->func->name, what);
}

static const char *host_type(DType t)
{
    return !dtype_is_float(t) ? "int64_t" : t == DT_F64 ? "double" : "float";
}

static bool see_unknown(const Expr *x, void *arg)
{
    bool plain = x->op == EX_VAR || (!dtype_is_float((DType)x->type) && x->op != EX_LOAD &&
                                     x->op != EX_MATH && x->op != EX_EXTERN && x->op != EX_ADDR &&
                                     x->op != EX_STR && x->op != EX_BITCAST);
    if (!plain)
        refuse(arg, "an expression of memory or floats");
    return true;
}

static bool refuse_unknown(Emit *e, const Stmt *s)
{
    const unsigned all = 1u << ST_BLOCK | 1u << ST_LET | 1u << ST_IF | 1u << ST_FOR |
                         1u << ST_ASSERT | 1u << ST_LAUNCH;

    if (!(all >> s->kind & 1))
        refuse(e, "another statement than launches, names, loops and conditions");
    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_unknown, e);
    return false;
}

static void put_failed(Emit *e, const Stmt *s)
{
    str_printf(e->out, "return tl_no(\"line %d: assertion failed\", 0);\n", s->span.line);
}

static const char *host_expr(Emit *e, const Expr *x)
{
    Str s, *out = e->out;

    expr_visit(x, see_unknown, e);
    str_init(&s, e->arena);
    e->out = &s;
    emit_index(e, x);
    e->out = out;
    return s.s;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Parameters first, then temporaries. */
static int tensor_index(const Func *f, const Buffer *b)
{
    b = buffer_root(b);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return i;
    for (int i = 0; i < f->workspaces.n; i++)
        if (f->workspaces.at[i] == b)
            return f->params.n + i;
    BUG(true, "'%s' is no parameter", b->name);
}

/* The state of the printer, which sees its first member. */
typedef struct {
    Emit e;
    bool asserts; /* the last argument of some kernel is a flag, which others do not look at */
} Host;

static void put_kernel(Emit *e, const Kernel *k)
{
    emit_line(e, "{");
    e->indent++;
    emit_indent(e);
    str_puts(e->out, "const int64_t tl_grid[] = {");
    for (int d = 0; d < 3; d++)
        str_printf(e->out, "%s%s", d ? ", " : "", d < k->ngrid ? host_expr(e, k->grid[d]) : "1");
    str_puts(e->out, "};\n");
    emit_line(e, "id<MTLComputeCommandEncoder> tl_to = tl_begin(tl_commands, @\"%s\", %lld);",
              k->launch.symbol, (long long)k->launch.shared_bytes);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if (a->buf) {
            emit_line(e, "[tl_to setBuffer:tl_tensor[%d] offset:0 atIndex:%d];",
                      tensor_index(e->func, a->buf), i);
            continue;
        }
        const char *type = c_value_type(a->var->type);
        emit_line(e, "const %s tl_a%d = (%s)%s;", type, i, type, var_name(e, a->var));
        emit_line(e, "[tl_to setBytes:&tl_a%d length:sizeof tl_a%d atIndex:%d];", i, i, i);
    }
    if (((Host *)e)->asserts)
        emit_line(e, "[tl_to setBuffer:tl_flag offset:0 atIndex:%d];", k->launch.args.n);
    emit_line(e, "tl_end(tl_to, tl_grid, %d, %d, %d);", MAX(k->threads[0], 1) + k->extra_threads,
              MAX(k->threads[1], 1), MAX(k->threads[2], 1));
    e->indent--;
    emit_line(e, "}");
}

static void put_launch(Emit *e, const Stmt *s)
{
    put_kernel(e, s->u.launch.kernel);
}

static const Dialect host_dialect = {
    .name = "C",
    DIALECT_C,
    .value_type = host_type,
    .constant = "__attribute__((unused)) const $t $n = ",
    .bound_apart = true,
    .wide_ints = true,
    .own = refuse_unknown,
    .fail = put_failed,
    .tests_facts = true,
    .launch = put_launch,
};

/* ---- tensors and numbers --------------------------------------------------------------------- */

static const char *given_name(const Func *f, const Var *v)
{
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var == v)
            return f->params.at[i].name;
    return v->name;
}

static void put_number(Emit *e, const Var *v, bool declares)
{
    if (declares)
        emit_line(e, "static %s %s;", host_type(v->type), var_name(e, v));
    else
        emit_line(e, "%s = (%s)tl_number(\"%s\");", var_name(e, v), host_type(v->type),
                  given_name(e->func, v));
}

/* Dimensions, and the scalars that are none. */
static void put_numbers(Emit *e, bool declares)
{
    const Func *f = e->func;

    for (int i = 0; i < f->dims.n; i++)
        put_number(e, f->dims.at[i], declares);
    for (int i = 0; i < f->params.n; i++) {
        bool dim = !f->params.at[i].var;
        for (int d = 0; d < f->dims.n; d++)
            dim |= f->dims.at[d] == f->params.at[i].var;
        if (!dim)
            put_number(e, f->params.at[i].var, declares);
    }
}

static const char *bytes_of(Emit *e, const Buffer *b)
{
    Str s;

    if (b->stride)
        refuse(e, "a tensor with strides");
    str_init(&s, e->arena);
    str_puts(&s, "(");
    for (int d = 0; d < b->rank; d++)
        str_printf(&s, "%s%s", d ? " * " : "", host_expr(e, b->shape[d]));
    str_printf(&s, "%s * %d + 7) / 8", b->rank ? "" : "1", dtype_bits(b->type));
    return s.s;
}

static void put_tensors(Emit *e, const TargetBundle *b)
{
    const Func *f = e->func;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            emit_line(e, "tl_tensor[%d] = tl_make(\"%s\", %s, %d);", i, f->params.at[i].name,
                      bytes_of(e, f->params.at[i].buf), b->use[i] & PARAM_READ);
    for (int i = 0; i < f->workspaces.n; i++)
        emit_line(e, "tl_tensor[%d] = tl_make(\"%s\", %s, 0);", f->params.n + i,
                  f->workspaces.at[i]->name, bytes_of(e, f->workspaces.at[i]));
}

static void put_results(Emit *e, const TargetBundle *b)
{
    const Func *f = e->func;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf && (b->use[i] & PARAM_WRITE))
            emit_line(e, "tl_save(\"%s%s\", tl_tensor[%d], %s);", f->params.at[i].name,
                      b->use[i] & PARAM_READ ? "_out" : "", i,
                      bytes_of(e, f->params.at[i].buf));
}

/* ---- run.m ----------------------------------------------------------------------------------- */

/* The oldest that has the words of the text. */
static const char *language_version(const char *text)
{
    return strstr(text, "atomic_thread_fence") ? "3_2" : strstr(text, "bfloat") ? "3_1" : "3_0";
}

static void put_main(Emit *e, const TargetBundle *b)
{
    emit_line(e, "int main(int argc, char **argv)\n{\n    @autoreleasepool {");
    e->indent = 2;
    emit_line(e, "tl_open(argc, argv, MTLLanguageVersion%s, %d);", language_version(b->text),
              strstr(b->text, "simdgroup_multiply_accumulate") != NULL);
    put_numbers(e, false);
    put_tensors(e, b);
    emit_line(e, "const int times = tl_given(\"times\") ? atoi(tl_given(\"times\")) : 1;");
    emit_line(e, "for (int i = 0; i < times; i++) {");
    e->indent = 3;
    emit_line(e, "id<MTLCommandBuffer> commands = [tl_queue commandBuffer];");
    emit_line(e, "if (tl_launches(commands))\n                return 1;");
    emit_line(e, "[commands commit];");
    emit_line(e, "[commands waitUntilCompleted];");
    emit_line(e, "if ([commands error])\n                tl_stop(\"%s failed\", [[commands error] "
              "localizedDescription]);", b->name);
    if (strstr(b->text, "\n// tl_failed "))
        emit_line(e, "tl_look_at_flag();");
    emit_line(e, "printf(\"%s: %%.3f ms\\n\", 1e3 * ([commands GPUEndTime] - [commands "
              "GPUStartTime]));", b->name);
    e->indent = 2;
    emit_line(e, "}");
    put_results(e, b);
    str_puts(e->out, "    }\n    return 0;\n}\n");
}

static void put_program(const TargetBundle *b, Str *out)
{
    Func *f = b->func;
    Host h = {.e = {.func = f, .ir = f->ir, .spec = b->spec, .say = &host_dialect, .out = out,
                    .arena = b->arena, .names = names_of(b->arena), .facts = facts_new(f->ir)},
              .asserts = strstr(b->text, "\n// tl_failed ") != NULL};
    Emit *e = &h.e;

    name_for_c(e->names);
    name_reserve(e->names, "times");
    name_reserve(e->names, "commands");
    str_printf(out,
               "/* run.m -- runs %s of kernel.metal on a Mac, made by tilelang %s for %s.\n *\n"
               " *     clang -fobjc-arc -framework Foundation -framework Metal run.m -o run\n"
               " *     ./run [NUMBER=VALUE …] [TENSOR=FILE …] [times=N]\n *\n"
               " * A tensor that the kernel reads is taken from its file, one that it writes "
               "goes there; one\n * that it reads and writes goes to NAME_out=FILE. */\n",
               b->name, b->version, b->spec->text);
    str_puts(out, (const char *)device_metal_run_m);
    str_printf(out, "static id<MTLBuffer> tl_tensor[%d];\n", f->params.n + f->workspaces.n + 1);
    put_numbers(e, true);
    str_puts(out, "\nstatic int tl_launches(id<MTLCommandBuffer> tl_commands)\n{\n");
    e->indent = 1;
    emit_stmt(e, f->body);
    for (int i = 0; !f->body && i < f->kernels.n; i++)
        put_kernel(e, f->kernels.at[i]);
    str_puts(out, "    return 0;\n}\n\n");
    e->indent = 0;
    put_main(e, b);
}

void metal_bundle(const TargetBundle *b)
{
    Str program;

    str_init(&program, b->arena);
    put_program(b, &program);
    b->put(b->arg, "kernel.metal", b->text, strlen(b->text));
    b->put(b->arg, "run.m", program.s, program.n);
}
