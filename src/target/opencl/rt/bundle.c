/* bundle.c -- a part of a bundle for OpenCL: the text, and which arguments its kernels take; the
 * rest is CUDA's but for the library that its host part finds. */
#include "target/opencl/rt/opencl.h"
#include "target/cuda/rt/cuda.h"
#include "device_cpu.h"
#include "device_opencl.h"

size_t opencl_scalar_bytes(DType t)
{
    return dtype_is_float(t) ? (t == DT_F64 ? 8 : 4)
           : t == DT_BOOL    ? 4
           : t == DT_HANDLE  ? 8
                             : (size_t)dtype_bytes(t, 1);
}

static void part(const TargetBundle *b, const Module *m, Str *out)
{
    if (strstr(m->assembly, "\n// tl_failed "))
        recover_throw(STATUS_TARGET, "'%s': who calls a bundle for OpenCL would not hear of its "
                      "assertions [bundle-target]", b->name);
    str_printf(out, "static const char tl_text_%d[] =", b->part);
    for (const char *s = m->assembly; *s;) {
        size_t n = strcspn(s, "\n");
        str_puts(out, "\n    ");
        emit_quoted(out, arena_strndup(b->arena, s, n + (s[n] == '\n')));
        s += n + (s[n] == '\n');
    }
    str_puts(out, ";\n\n");
    cuda_bundle_part(b, &(Module){0}, "cl", "", out);
}

static void row(const TargetBundle *b, const Module *m, Str *out)
{
    const Func *f = b->func;

    (void)m;
    str_printf(out, "\"%s\", tl_text_%d, \"", b->spec->arch, b->part);
    for (int i = 0; i < f->kernels.n; i++) {
        const Kernel *k = f->kernels.at[i];
        str_printf(out, "%s:", k->launch.symbol);
        for (int g = 0; g < k->launch.args.n; g++) {
            const Var *v = k->launch.args.at[g].var;
            str_putc(out, v ? (char)('0' + opencl_scalar_bytes(v->type)) : 'p');
        }
        str_putc(out, ' ');
    }
    str_putc(out, '"');
}

static const unsigned char *const text[] = {device_opencl_driver_h, device_cpu_host_h, NULL};
const BundleHost opencl_bundle = {
    .text = text, .part = part, .row = row, .tell = cuda_bundle_tell};
