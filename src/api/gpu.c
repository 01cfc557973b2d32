/* gpu.c -- kernels for GPUs: build with NVRTC, load and run through the driver, ship.
 *
 * Building needs no GPU and no driver; the module is loaded by the first run. */
#include "api/public.h"

bool is_gpu(const tl_kernel *k)
{
    return machine_has(&k->request.spec.machine, HAS_THREADS);
}

/* ---- building -------------------------------------------------------------------------------- */

static Compiler the_nvrtc(tl_context *c)
{
    const char *why = "";
    Recover r;
    volatile Status st = STATUS_MEM;

    pthread_mutex_lock(&c->lock);
    if (recover_open(&r) == 0) {
        st = nvrtc_find(c->arena, &c->nvrtc, &why);
        recover_close(&r);
    }
    Compiler cc = c->nvrtc;
    pthread_mutex_unlock(&c->lock);
    if (st != STATUS_OK)
        recover_throw(st, "%s", r.status != STATUS_OK ? r.text : why);
    return cc;
}

/* A warning means that our text, or C of the user's in it, is not what it should be. */
static void keep_warnings(tl_kernel *k)
{
    Str s;

    str_init(&s, k->arena);
    str_puts(&s, k->warnings ? k->warnings : "");
    for (const char *line = k->code.log; line && *line;) {
        size_t n = strcspn(line, "\n");
        if (memmem(line, n, "warning", 7) ||
            (memmem(line, n, "(C75", 4) && !memmem(line, n, "serialized", 10)))
            str_printf(&s, "warning: NVRTC: %.*s [compiler-warning]\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    k->warnings = s.s;
}

/* Where a profiler finds the text: a file named by what is in it. */
static void keep_source(tl_kernel *k, ModuleSpec *s)
{
    char hex[33];
    const char *why = "";
    char *dir = path_join(k->arena, cache_root(k->arena), "source");

    hash_hex(s->source, s->nsource, hex);
    s->extra = arena_printf(k->arena, "%s -lineinfo", s->extra ? s->extra : "");
    s->file = path_join(k->arena, dir, arena_printf(k->arena, "%s-%.12s.cu", s->name, hex));
    Status st = dir_make(k->arena, dir, &why);
    if (st == STATUS_OK && !file_exists(s->file))
        st = file_write(k->arena, s->file, s->source, s->nsource, &why);
    if (st != STATUS_OK)
        recover_throw(st, "%s", why);
}

/* A program that treats warnings as errors stops here. */
static void warn_of_code(tl_kernel *k, const char *text)
{
    if (k->request.werror) {
        diag_error(&k->build.diag, NO_SPAN, "%s", text);
        recover_throw(STATUS_TOOL, "warnings are errors");
    }
    warn_late(k, text);
}

static void warn_of_log(tl_kernel *k)
{
    size_t n;
    const char *line = nvrtc_serialized(k->code.log, &n);

    /* Right, and slower than it should be; stamps of a profile may well be what stops them. */
    if (line && !k->request.spec.profile)
        warn_of_code(k, arena_printf(k->arena,
                                     "ptxas runs the matrix instructions of this kernel one after "
                                     "the other: %.*s [wgmma-serialized]", (int)n, line));
    line = nvrtc_avoided(k->code.log, &n);
    if (line)
        warn_of_code(k, arena_printf(k->arena,
                                     "NVIDIA's assembler makes wrong code of this kernel (%.*s); "
                                     "it is assembled without optimisation, and slow "
                                     "[compiler-fault]",
                                     (int)n, line));
}

void jit_gpu(tl_kernel *k)
{
    Compiler cc = the_nvrtc(k->ctx);
    ModuleSpec s = jit_spec(k);
    const char *why = "";

    if (k->line_info)
        keep_source(k, &s);
    Status st = device_code(k->arena, &cc, &s, &k->code, &why);

    k->build.cc_seconds = k->code.seconds;
    k->module.from_cache = k->code.from_cache;
    warn_late(k, k->code.warning);
    if (st != STATUS_OK) {
        diag_error(&k->build.diag, NO_SPAN,
                   "NVRTC did not take what we emitted: %s [compiler-failed]", why);
        recover_throw(st, "%s", why);
    }
    keep_warnings(k);
    warn_of_log(k);
}

void resources_text(tl_kernel *k, Str *out)
{
    Func *f = k->build.func;

    for (int i = 0; is_gpu(k) && i < f->kernels.n; i++) {
        const Kernel *n = f->kernels.at[i];
        KernelResources r;
        if (!n->launch.symbol)
            continue;
        str_printf(out, "%s: %d threads, %lld bytes of shared memory", n->launch.symbol,
                   kernel_launch_threads(n), (long long)n->launch.shared_bytes);
        bool told = nvrtc_resources(k->code.log, n->launch.symbol, &r);
        if (told)
            str_printf(out, ", %lld registers, %lld bytes spilled", (long long)r.registers,
                       (long long)MAX(r.spill_bytes, 0));
        const char *limit;
        int most;
        int blocks = occupancy(&k->request.spec.machine, kernel_launch_threads(n),
                               told ? r.registers : -1, n->launch.shared_bytes, &limit, &most);
        int warps = blocks * ((kernel_launch_threads(n) + kernel_warp(n) - 1) / kernel_warp(n));
        str_printf(out, ", %d block%s a multiprocessor (%d of %d warps, limited by %s)", blocks,
                   blocks == 1 ? "" : "s", warps, most, limit);
        str_putc(out, '\n');
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static Gpu *the_gpu(tl_context *c)
{
    const char *why = "";
    Recover r;
    volatile Status st = STATUS_MEM;

    pthread_mutex_lock(&c->lock);
    if (recover_open(&r) == 0) {
        st = gpu_open(c->arena, &c->gpu, &why);
        recover_close(&r);
    }
    Gpu *g = c->gpu;
    pthread_mutex_unlock(&c->lock);
    if (st != STATUS_OK)
        recover_throw(st, "%s", r.status != STATUS_OK ? r.text : why);
    return g;
}

/* The caller holds the kernel's lock: a module has one set of buffers. */
void load_gpu(tl_kernel *k)
{
    const char *why = "";

    if (k->gpu)
        return;
    Status s = gpu_load(k->arena, the_gpu(k->ctx), k->build.func, &k->code, &k->gpu, &why);
    if (s != STATUS_OK)
        recover_throw(s, "%s", why);
}

Status run_gpu(tl_kernel *k, const SimArg *args, int narg, const Binding1 *b,
               const GpuTiming *timing, double *seconds, char *text, size_t ntext)
{
    load_gpu(k);
    k->last_holds = false;
    return gpu_run(k->gpu, args, narg, b, k->use, timing, seconds, text, ntext);
}

/* "cuda" without -arch is the GPU of this machine, when there is one. */
void spec_from_device(tl_context *c, Arena *a, const char *target, TargetSpec *spec)
{
    const char *why = "";
    Gpu *volatile g = NULL;

    if (!target || strncmp(target, "cuda", 4) || strstr(target, "-arch="))
        return;
    pthread_mutex_lock(&c->lock);
    Recover r;
    if (recover_open(&r) == 0) {
        if (gpu_open(c->arena, &c->gpu, &why) == STATUS_OK)
            g = c->gpu;
        recover_close(&r);
    }
    pthread_mutex_unlock(&c->lock);
    if (g)
        target_parse(a, arena_printf(a, "%s -arch=%s", target, gpu_arch(g)), spec, &why);
}

bool tl_gpu_info(tl_context *c, tl_gpu *out)
{
    const char *why = "";
    volatile bool ok = false;
    Recover r;

    *out = (tl_gpu){0};
    pthread_mutex_lock(&c->lock);
    if (recover_open(&r) == 0) {
        ok = gpu_open(c->arena, &c->gpu, &why) == STATUS_OK;
        recover_close(&r);
    }
    if (ok) {
        const GpuFacts *f = gpu_facts(c->gpu);
        snprintf(out->name, sizeof out->name, "%s", gpu_name(c->gpu));
        snprintf(out->arch, sizeof out->arch, "%s", gpu_arch(c->gpu));
        out->driver = f->driver;
        out->nsm = f->nsm;
        out->l2_bytes = f->l2_bytes;
        out->clock_ghz = f->clock_khz * 1e-6;
        out->memory_gbytes = 2e-6 * f->memory_khz * f->memory_bits / 8;
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* Multiply-adds count two; dense, accumulating in 32 bits; per clock and multiprocessor. */
static const struct {
    int major, minor;
    int bits16, bits8, tf32, f32, f64;
} rate_table[] = {
    {7, 0, 1024, 0, 0, 128, 64},       {7, 5, 1024, 2048, 0, 128, 4},
    {8, 0, 2048, 4096, 1024, 128, 128}, {8, 6, 512, 2048, 256, 256, 4},
    {8, 9, 1024, 2048, 512, 256, 4},   {9, 0, 4096, 8192, 2048, 256, 256},
    {10, 0, 8192, 16384, 4096, 256, 128},
};

double tl_gpu_peak(tl_context *c, const char *dtype)
{
    tl_gpu g;
    DType t;
    int lanes, rate = 0, major = 0, minor = 0;

    if (!tl_gpu_info(c, &g) || !dtype || !dtype_parse(dtype, &t, &lanes))
        return 0;
    major = gpu_facts(c->gpu)->major;
    minor = gpu_facts(c->gpu)->minor;
    for (int i = 0; i < COUNT(rate_table); i++) {
        if (rate_table[i].major != major || rate_table[i].minor > minor)
            continue;
        int bits = dtype_bits(t);
        rate = t == DT_F64     ? rate_table[i].f64
               : t == DT_TF32  ? rate_table[i].tf32
               : t == DT_F32   ? MAX(rate_table[i].tf32, rate_table[i].f32)
               : bits == 16    ? rate_table[i].bits16
               : bits == 8     ? rate_table[i].bits8
                               : 0;
    }
    return rate * g.clock_ghz * g.nsm;
}
