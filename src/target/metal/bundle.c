/* bundle.c -- a kernel for a Mac: kernel.metal and run.m, an Objective-C program that runs it.
 *
 * run.m is device/metal/run.m, which opens the GPU, asks it which lanes hold what, and reads and
 * writes tensors; behind it come the kernel's tensors and numbers and its host part as C. */
#include "target/metal/metal.h"
#include "target/program.h"
#include "device_metal.h"

/* The state of the printer, which sees its first member. */
typedef struct {
    Program program;
    bool asserts; /* the last argument of some kernel is a flag, which others do not look at */
} Host;

static void put_kernel(Emit *e, const Kernel *k)
{
    emit_line(e, "{");
    e->indent++;
    emit_indent(e);
    str_puts(e->out, "const int64_t tl_grid[] = {");
    for (int d = 0; d < 3; d++)
        str_printf(e->out, "%s%s", d ? ", " : "", d < k->ngrid ? program_expr(e, k->grid[d]) : "1");
    str_puts(e->out, "};\n");
    emit_line(e, "id<MTLComputeCommandEncoder> tl_to = tl_begin(tl_commands, @\"%s\", %lld);",
              k->launch.symbol, (long long)k->launch.shared_bytes);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if (a->buf) {
            emit_line(e, "[tl_to setBuffer:tl_tensor[%d] offset:0 atIndex:%d];",
                      program_tensor(e->func, a->buf), i);
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
    program_numbers(e, false);
    program_tensors(e, b);
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
    program_results(e, b);
    str_puts(e->out, "    }\n    return 0;\n}\n");
}

static void put_program(const TargetBundle *b, Str *out)
{
    const Func *f = b->func;
    Host h = {.program = {.whose = "Metal", .kernel = put_kernel},
              .asserts = strstr(b->text, "\n// tl_failed ") != NULL};
    Emit *e = &h.program.e;

    program_start(&h.program, b, out);
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
    program_numbers(e, true);
    str_puts(out, "\nstatic int tl_launches(id<MTLCommandBuffer> tl_commands)\n{\n");
    e->indent = 1;
    program_launches(e);
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
