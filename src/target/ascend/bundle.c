/* bundle.c -- a kernel for a machine with CANN: kernel.cpp, run.cpp, which runs it by ACL, and a
 * CMakeLists.txt that builds both.
 *
 * run.cpp is device/ascend/run.cpp, which opens the processor, and reads and writes tensors; behind
 * it come the kernel's tensors and numbers and its host part as C. */
#include "target/ascend/ascend.h"
#include "target/program.h"
#include "device_ascend.h"

static const char cmake[] =
    "cmake_minimum_required(VERSION 3.16)\n"
    "project(tl_bundle CXX)\n"
    "set(RUN_MODE npu CACHE STRING \"the processor itself\")\n"
    "set(SOC_VERSION Ascend910B1 CACHE STRING \"as npu-smi info has it\")\n"
    "set(ASCEND_CANN_PACKAGE_PATH \"$ENV{ASCEND_HOME_PATH}\" CACHE PATH \"where CANN is\")\n"
    "foreach(at compiler/tikcpp tools/tikcpp tikcpp)\n"
    "    set(dir ${ASCEND_CANN_PACKAGE_PATH}/${at}/ascendc_kernel_cmake)\n"
    "    if(EXISTS ${dir} AND NOT DEFINED found)\n"
    "        set(found ${dir})\n"
    "    endif()\n"
    "endforeach()\n"
    "if(NOT DEFINED found)\n"
    "    message(FATAL_ERROR \"no CANN with ascendc_kernel_cmake: set ASCEND_HOME_PATH\")\n"
    "endif()\n"
    "include(${found}/ascendc.cmake)\n"
    "ascendc_library(kernels SHARED kernel.cpp)\n"
    "add_executable(run run.cpp)\n"
    "target_link_libraries(run PRIVATE $<BUILD_INTERFACE:host_intf_pub> ascendcl kernels)\n";

/* A block is a core: there is one number of them. */
static void put_kernel(Emit *e, const Kernel *k)
{
    emit_indent(e);
    str_printf(e->out, "if (const int64_t tl_blocks = tl_grid(");
    for (int d = 0; d < k->ngrid; d++)
        str_printf(e->out, "%s(%s)", d ? " * " : "", program_expr(e, k->grid[d]));
    str_puts(e->out, k->ngrid ? "))\n" : "1))\n");
    e->indent++;
    emit_indent(e);
    str_printf(e->out, "ACLRT_LAUNCH_KERNEL(%s)((uint32_t)tl_blocks, tl_stream", k->launch.symbol);
    for (int i = 0; i < k->launch.args.n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        if (a->buf)
            str_printf(e->out, ", tl_tensor[%d]", program_tensor(e->func, a->buf));
        else
            str_printf(e->out, ", (%s)%s", c_value_type(a->var->type), var_name(e, a->var));
    }
    str_puts(e->out, ");\n");
    e->indent--;
}

static void put_main(Emit *e, const TargetBundle *b)
{
    str_puts(e->out, "int main(int argc, char **argv)\n{\n");
    e->indent = 1;
    emit_line(e, "tl_open(argc, argv);");
    program_numbers(e, false);
    program_tensors(e, b);
    emit_line(e, "const int times = tl_given(\"times\") ? atoi(tl_given(\"times\")) : 1;");
    emit_line(e, "for (int i = 0; i < times; i++) {");
    e->indent = 2;
    emit_line(e, "const auto tl_from = std::chrono::steady_clock::now();");
    emit_line(e, "if (tl_launches())\n            return 1;");
    emit_line(e, "tl_ask(aclrtSynchronizeStream(tl_stream), \"%s\");", b->name);
    emit_line(e, "const std::chrono::duration<double, std::milli> tl_took = "
              "std::chrono::steady_clock::now() - tl_from;");
    emit_line(e, "printf(\"%s: %%.3f ms\\n\", tl_took.count());", b->name);
    e->indent = 1;
    emit_line(e, "}");
    program_results(e, b);
    str_puts(e->out, "    tl_close();\n    return 0;\n}\n");
}

static void put_program(const TargetBundle *b, Str *out)
{
    const Func *f = b->func;
    Program p = {.whose = "Ascend", .kernel = put_kernel};
    Emit *e = &p.e;

    program_start(&p, b, out);
    str_printf(out,
               "/* run.cpp -- runs %s of kernel.cpp on an Ascend, made by tilelang %s for %s.\n *\n"
               " *     cmake -B build && cmake --build build\n"
               " *     build/run [NUMBER=VALUE …] [TENSOR=FILE …] [times=N] [device=N]\n *\n"
               " * A tensor that the kernel reads is taken from its file, one that it writes "
               "goes there; one\n * that it reads and writes goes to NAME_out=FILE. */\n",
               b->name, b->version, b->spec->text);
    for (int i = 0; i < f->kernels.n; i++)
        str_printf(out, "#include \"aclrtlaunch_%s.h\" /* by ascendc_library */\n",
                   f->kernels.at[i]->launch.symbol);
    str_puts(out, (const char *)device_ascend_run_cpp);
    str_printf(out, "static uint8_t *tl_tensor[%d];\n", f->params.n + f->workspaces.n + 1);
    program_numbers(e, true);
    str_puts(out, "\nstatic int tl_launches()\n{\n");
    e->indent = 1;
    program_launches(e);
    str_puts(out, "    return 0;\n}\n\n");
    e->indent = 0;
    put_main(e, b);
}

void ascend_bundle(const TargetBundle *b)
{
    Str program;

    str_init(&program, b->arena);
    put_program(b, &program);
    b->put(b->arg, "kernel.cpp", b->text, strlen(b->text));
    b->put(b->arg, "run.cpp", program.s, program.n);
    b->put(b->arg, "CMakeLists.txt", cmake, sizeof cmake - 1);
}
