/* hip.c -- the HIP runtime, found by dlopen, and AMD's devices as it tells of them.
 *
 * No AMD GPU has run this yet (doc/amd.md).  The functions are declared as AMD documents them; most
 * have the shape of the CUDA driver's. */
#include <dlfcn.h>
#include "target/hip/rt/hip.h"
#include "rt/runtime.h"
#include "target/cuda/rt/cuda.h"
#include "device_cpu.h"
#include "device_hip.h"

/* Functions that a Gpu has a place for. */
static const struct {
    size_t at;
    const char *symbol;
} symbol_table[] = {
    {offsetof(Gpu, error_text), "hipDrvGetErrorString"},
    {offsetof(Gpu, error_name), "hipDrvGetErrorName"},
    {offsetof(Gpu, context_get), "hipCtxGetCurrent"},
    {offsetof(Gpu, context_set), "hipCtxSetCurrent"},
    {offsetof(Gpu, synchronize), "hipDeviceSynchronize"},
    {offsetof(Gpu, module_unload), "hipModuleUnload"},
    {offsetof(Gpu, module_function), "hipModuleGetFunction"},
    {offsetof(Gpu, module_array), "hipModuleGetGlobal"},
    {offsetof(Gpu, mem_alloc), "hipMalloc"},
    {offsetof(Gpu, mem_free), "hipFree"},
    {offsetof(Gpu, mem_set), "hipMemsetD8Async"},
    {offsetof(Gpu, copy_in), "hipMemcpyHtoD"},
    {offsetof(Gpu, copy_out), "hipMemcpyDtoH"},
    {offsetof(Gpu, copy_over), "hipMemcpyDtoD"},
    {offsetof(Gpu, stream_create), "hipStreamCreateWithFlags"},
    {offsetof(Gpu, stream_destroy), "hipStreamDestroy"},
    {offsetof(Gpu, stream_wait), "hipStreamSynchronize"},
    {offsetof(Gpu, capture_begin), "hipStreamBeginCapture"},
    {offsetof(Gpu, capture_end), "hipStreamEndCapture"},
    {offsetof(Gpu, capture_mode), "hipThreadExchangeStreamCaptureMode"},
    {offsetof(Gpu, graph_make), "hipGraphInstantiateWithFlags"},
    {offsetof(Gpu, graph_launch), "hipGraphLaunch"},
    {offsetof(Gpu, graph_drop), "hipGraphExecDestroy"},
    {offsetof(Gpu, graph_free), "hipGraphDestroy"},
    {offsetof(Gpu, event_create), "hipEventCreateWithFlags"},
    {offsetof(Gpu, event_destroy), "hipEventDestroy"},
    {offsetof(Gpu, event_record), "hipEventRecord"},
    {offsetof(Gpu, event_wait), "hipEventSynchronize"},
    {offsetof(Gpu, event_between), "hipEventElapsedTime"},
};

/* X(name, arguments): those that a Gpu has no place for. */
#define HIP_FUNCTIONS(X)                                                                           \
    X(hipInit, (unsigned flags))                                                                   \
    X(hipDriverGetVersion, (int *version))                                                         \
    X(hipGetDeviceCount, (int *n))                                                                 \
    X(hipGetDevice, (int *device))                                                                 \
    X(hipSetDevice, (int device))                                                                  \
    X(hipDeviceGetName, (char *name, int n, int device))                                           \
    X(hipDeviceGetAttribute, (int *value, int attribute, int device))                              \
    X(hipModuleLoadData, (Handle * module, const void *image))                                     \
    X(hipPointerGetAttribute, (void *value, int attribute, DevicePtr p))                           \
    X(hipModuleLaunchKernel,                                                                       \
      (Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,     \
       unsigned shared, Handle stream, void **params, void **extra))                               \
    X(hipModuleLaunchCooperativeKernel,                                                            \
      (Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,     \
       unsigned shared, Handle stream, void **params))

typedef struct { /* Gpu.own */
#define X(name, arguments) int(*name) arguments;
    HIP_FUNCTIONS(X)
#undef X
} Hip;

enum { HIP_POINTER_TYPE = 2, HIP_POINTER_ORDINAL = 9, HIP_MEMORY_DEVICE = 2, HIP_NO_BINARY = 209 };

static int load_module(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog)
{
    const Hip *hip = g->own;

    (void)log;
    (void)nlog;
    return code->binary ? hip->hipModuleLoadData(module, code->binary) : HIP_NO_BINARY;
}

/* Shared memory need not be asked for, and there are no clusters. */
static int prepare(const Gpu *g, Handle f, int64_t shared, int cluster)
{
    (void)g;
    (void)f;
    (void)shared;
    (void)cluster;
    return 0;
}

static bool owner(const Gpu *g, DevicePtr p, int *device)
{
    const Hip *hip = g->own;
    int type = 0, ordinal = g->device;

    *device = g->device;
    if (!p || hip->hipPointerGetAttribute(&type, HIP_POINTER_TYPE, p) != 0 ||
        type != HIP_MEMORY_DEVICE)
        return false;
    hip->hipPointerGetAttribute(&ordinal, HIP_POINTER_ORDINAL, p);
    *device = ordinal;
    return true;
}

static int launch_kernel(const Gpu *g, const DeviceLaunch *l)
{
    const Hip *hip = g->own;

    if (l->together)
        return hip->hipModuleLaunchCooperativeKernel(l->f, l->grid[0], l->grid[1], l->grid[2],
                                                     l->block[0], l->block[1], l->block[2],
                                                     l->shared, l->stream, l->params);
    return hip->hipModuleLaunchKernel(l->f, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                      l->block[1], l->block[2], l->shared, l->stream, l->params,
                                      NULL);
}

/* NULL, or the name of one that it lacks. */
static const char *take_functions(Gpu *g, Hip *hip, void *h)
{
    void *at;

    for (int i = 0; i < COUNT(symbol_table); i++) {
        if (!(at = dlsym(h, symbol_table[i].symbol)))
            return symbol_table[i].symbol;
        memcpy((char *)g + symbol_table[i].at, &at, sizeof at);
    }
#define X(name, arguments)                                                                         \
    if (!(at = dlsym(h, #name)))                                                                   \
        return #name;                                                                              \
    memcpy(&hip->name, &at, sizeof at);
    HIP_FUNCTIONS(X)
#undef X
    g->own = hip;
    g->tag = "[hip-failed]";
    g->module_load = load_module;
    g->function_prepare = prepare;
    g->owner = owner;
    g->launch = launch_kernel;
    return NULL;
}

/* hipDeviceAttribute_t */
static const struct {
    int attribute;
    size_t at;
} fact_table[] = {
    {23, offsetof(GpuFacts, major)},        {61, offsetof(GpuFacts, minor)},
    {63, offsetof(GpuFacts, units)},        {5, offsetof(GpuFacts, clock_khz)},
    {60, offsetof(GpuFacts, memory_khz)},   {59, offsetof(GpuFacts, memory_bits)},
    {19, offsetof(GpuFacts, l2_bytes)},     {74, offsetof(GpuFacts, shared_block)},
};

static const char *arch_of(const GpuFacts *f)
{
    return f->major != 9   ? "unknown"
           : f->minor == 5 ? "gfx950"
           : f->minor == 4 ? "gfx942"
                           : "gfx90a";
}

static Status open_device(Arena *a, Gpu *g, const char **why)
{
    const Hip *hip = g->own;
    char room[200];
    int n = 0, r = hip->hipInit(0);

    if (r == 0)
        r = hip->hipGetDeviceCount(&n);
    if (r == 0 && n > 0)
        r = hip->hipGetDevice(&g->device);
    if (r == 0 && n > 0)
        r = hip->hipSetDevice(g->device);
    if (r == 0 && n > 0)
        r = g->context_get(&g->context);
    if (r != 0 || n == 0) {
        *why = arena_printf(a, "the HIP runtime finds no GPU (%s) [no-hip-device]",
                            r ? gpu_error(g, r, room, sizeof room) : "none installed");
        return STATUS_TOOL;
    }
    hip->hipDeviceGetName(g->name, sizeof g->name, g->device);
    for (int i = 0; i < COUNT(fact_table); i++)
        hip->hipDeviceGetAttribute((int *)((char *)&g->facts + fact_table[i].at),
                                   fact_table[i].attribute, g->device);
    hip->hipDriverGetVersion(&g->facts.driver);
    snprintf(g->arch, sizeof g->arch, "%s", arch_of(&g->facts));
    return STATUS_OK;
}

static Status hip_open(Arena *a, Gpu **gpu, const char **why)
{
    if (*gpu)
        return STATUS_OK;
    void *h = hip_library(a, "libamdhip64.so");
    Gpu *g = NEW(a, Gpu);
    const char *lacks = h ? take_functions(g, NEW(a, Hip), h) : NULL;
    if (!h || lacks) {
        *why = arena_printf(a, "%s: this machine can build for AMD GPUs but not run there; "
                            "`tl verify --sim --text` runs a kernel here [no-hip-runtime]",
                            lacks ? arena_printf(a, "the HIP runtime here is too old, it has no %s",
                                                 lacks)
                                  : "no HIP runtime here (libamdhip64.so)");
        return STATUS_TOOL;
    }
    Status s = open_device(a, g, why);
    if (s == STATUS_OK)
        *gpu = g;
    return s;
}

/* Multiply-adds count two; dense, per clock and compute unit. */
static double peak(const Gpu *g, DType t)
{
    static const struct {
        int minor, bits16, bits8, f32, f64;
    } rates[] = {{0, 1024, 1024, 256, 256}, {4, 2048, 4096, 256, 256}, {5, 4096, 8192, 256, 128}};
    int bits = dtype_bits(t), rate = 0;

    for (int i = 0; i < COUNT(rates); i++)
        if (g->facts.major == 9 && rates[i].minor <= g->facts.minor)
            rate = t == DT_F64  ? rates[i].f64
                   : bits == 32 ? rates[i].f32
                   : bits == 16 ? rates[i].bits16
                   : bits == 8  ? rates[i].bits8
                                : 0;
    return rate * (g->facts.clock_khz * 1e-6) * g->facts.units;
}

/* A bundle is CUDA's but for the driver that its host part finds. */
static void bundle_part(const TargetBundle *b, const Module *m, Str *out)
{
    cuda_bundle_part(b, m, "hip", "co", out);
}

static void bundle_row(const TargetBundle *b, const Module *m, Str *out)
{
    (void)m;
    str_printf(out, "\"%s\", tl_binary_%d", b->spec->arch, b->part);
}

static const unsigned char *const bundle_text[] = {device_hip_driver_h, device_cpu_host_h, NULL};
static const BundleHost bundle = {
    .text = bundle_text, .part = bundle_part, .row = bundle_row, .tell = cuda_bundle_tell};

extern const Runtime runtime_hip;
const Runtime runtime_hip = {
    .name = "hip",
    .compiler = "clang",
    .language = "HIP",
    .ending = "hip",
    .fast_math = "-fapprox-func -freciprocal-math",
    .line_info = "-gline-tables-only",
    .find = hipcc_find,
    .build = hipcc_build,
    .all_flags = hipcc_flags,
    .warn = hipcc_warn,
    .audit = hipcc_audit,
    .resources = hipcc_tell,
    .bundle = &bundle,
    .open = hip_open,
    .peak = peak,
    DEVICE_RUNS,
};
