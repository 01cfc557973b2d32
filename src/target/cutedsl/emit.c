/* emit.c -- a Func as one Python file: device/cutedsl, helpers, kernels, a launch, a way to build.
 *
 *     python3 FILE.py OUT [sm_90a [OPTIONS]]     writes OUT.cubin and OUT.ptx */
#include "target/cuda/emit.h"
#include "target/cutedsl/cutedsl.h"
#include "device_cutedsl.h"

/* The DSL names its kernels so, once mangle_name of device/cutedsl is in place. */
static void name_kernels(Func *f, Arena *a)
{
    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        k->launch.symbol = arena_printf(a, "kernel_%s_%d", k->launch.symbol, i);
    }
}

static void put_launch(Dsl *p, Str *out)
{
    str_puts(out, "@cute.jit\ndef tl_launch(");
    for (int i = 0; i < p->nkernel; i++)
        str_printf(out, "%stl_x_%d: cutlass.Int32, tl_y_%d: cutlass.Int32, tl_z_%d: cutlass.Int32",
                   i ? ", " : "", i, i, i);
    str_printf(out, "%s):\n%s", p->arguments.n ? p->arguments.s : "", p->launches.s);
    str_puts(out, "\n\nif __name__ == \"__main__\":\n    tl_build(tl_launch");
    for (int i = 0; i < p->nkernel; i++)
        str_puts(out, ", cutlass.Int32(1), cutlass.Int32(1), cutlass.Int32(1)");
    str_printf(out, "%s)\n", p->examples.n ? p->examples.s : "");
}

void cutedsl_emit(Func *f, const TargetSpec *spec, Str *out)
{
    static const CudaText as = {&cuda_dialect, cuda_paste, NULL, 512, NULL, NULL};
    Arena *a = f->ir->arena;
    Dsl p = {.arena = a, .func = f, .spec = spec, .out = out};
    Str text;

    for (int i = 0; i < f->kernels.n; i++)
        if (f->kernels.at[i]->prelude)
            dsl_refuse(&p, "C of the kernel's own");
    str_init(&text, a);
    cuda_emit_as(&as, f, spec, &text);
    str_printf(out, "# %s, made by tilelang for %s\n", f->name, spec->text);
    str_puts(out, (const char *)device_cutedsl_tl_py);
    str_puts(out, "\n\n");
    cutedsl_translate(&p, text.s);
    put_launch(&p, out);
    name_kernels(f, a);
}
