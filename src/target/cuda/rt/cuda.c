/* cuda.c -- the CUDA driver, found by dlopen, and NVIDIA's devices as it tells of them.
 *
 * The device's primary context is used, which is also PyTorch's. */
#include <dlfcn.h>
#include "target/cuda/rt/cuda.h"
#include "rt/runtime.h"

/* ---- the driver ------------------------------------------------------------------------------ */

/* Functions that a Gpu has a place for. */
static const struct {
    size_t at;
    const char *symbol;
    bool newer; /* not of every driver: NULL where there is none */
} symbol_table[] = {
    {offsetof(Gpu, error_text), "cuGetErrorString", false},
    {offsetof(Gpu, error_name), "cuGetErrorName", false},
    {offsetof(Gpu, context_get), "cuCtxGetCurrent", false},
    {offsetof(Gpu, context_set), "cuCtxSetCurrent", false},
    {offsetof(Gpu, synchronize), "cuCtxSynchronize", false},
    {offsetof(Gpu, module_unload), "cuModuleUnload", false},
    {offsetof(Gpu, module_function), "cuModuleGetFunction", false},
    {offsetof(Gpu, module_array), "cuModuleGetGlobal_v2", false},
    {offsetof(Gpu, mem_alloc), "cuMemAlloc_v2", false},
    {offsetof(Gpu, mem_free), "cuMemFree_v2", false},
    {offsetof(Gpu, mem_set), "cuMemsetD8Async", false},
    {offsetof(Gpu, copy_in), "cuMemcpyHtoD_v2", false},
    {offsetof(Gpu, copy_out), "cuMemcpyDtoH_v2", false},
    {offsetof(Gpu, copy_over), "cuMemcpyDtoD_v2", false},
    {offsetof(Gpu, stream_create), "cuStreamCreate", false},
    {offsetof(Gpu, stream_destroy), "cuStreamDestroy_v2", false},
    {offsetof(Gpu, stream_wait), "cuStreamSynchronize", false},
    {offsetof(Gpu, capture_begin), "cuStreamBeginCapture_v2", false},
    {offsetof(Gpu, capture_end), "cuStreamEndCapture", false},
    {offsetof(Gpu, capture_mode), "cuThreadExchangeStreamCaptureMode", false},
    {offsetof(Gpu, graph_launch), "cuGraphLaunch", false},
    {offsetof(Gpu, graph_drop), "cuGraphExecDestroy", false},
    {offsetof(Gpu, graph_free), "cuGraphDestroy", false},
    {offsetof(Gpu, event_create), "cuEventCreate", false},
    {offsetof(Gpu, event_destroy), "cuEventDestroy_v2", false},
    {offsetof(Gpu, event_record), "cuEventRecord", false},
    {offsetof(Gpu, event_wait), "cuEventSynchronize", false},
    {offsetof(Gpu, event_between), "cuEventElapsedTime", false},
    {offsetof(Gpu, graph_make), "cuGraphInstantiateWithFlags", true},
};

/* The cubin where it fits the device, else the PTX, which the driver compiles. */
static int load_module(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog)
{
    const CudaDriver *cu = g->own;
    int option[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(nlog - 1)};
    int r = code->binary ? cu->cuModuleLoadData(module, code->binary) : CU_NO_BINARY;

    if ((r == CU_NO_BINARY || r == CU_INVALID_IMAGE) && code->assembly)
        r = cu->cuModuleLoadDataEx(module, code->assembly, COUNT(option), option, value);
    return r;
}

static int prepare(const Gpu *g, Handle f, int64_t shared, int cluster)
{
    const CudaDriver *cu = g->own;
    int r = 0;

    if (shared > SHARED_FREE)
        r = cu->cuFuncSetAttribute(f, CU_SHARED_MOST, (int)shared);
    if (r == 0 && cluster > CLUSTER_PORTABLE)
        r = cu->cuFuncSetAttribute(f, CU_CLUSTER_ANY, 1);
    return r;
}

bool cuda_owner(const Gpu *g, DevicePtr p, int *device)
{
    const CudaDriver *cu = g->own;
    unsigned type = 0;
    int ordinal = -1;
    int attribute[] = {CU_POINTER_TYPE, CU_POINTER_ORDINAL};
    void *value[] = {&type, &ordinal};

    *device = g->device;
    if (!p || cu->cuPointerGetAttributes(COUNT(attribute), attribute, value, p) != 0 ||
        type != CU_MEMORY_DEVICE)
        return false;
    cu->cuDeviceGet(device, ordinal);
    return true;
}

/* With attributes: the next kernel may start early, all blocks at once. */
static int launch_with(const CudaDriver *cu, const DeviceLaunch *l)
{
    CuLaunchAttribute attribute[2] = {{0}};
    CuLaunchConfig c = {.shared = l->shared, .stream = l->stream, .attribute = attribute};

    memcpy(c.grid, l->grid, sizeof c.grid);
    memcpy(c.block, l->block, sizeof c.block);
    attribute[c.nattribute].id = CU_LAUNCH_PROGRAMMATIC;
    attribute[c.nattribute++].value.on = 1;
    if (l->together) {
        attribute[c.nattribute].id = CU_LAUNCH_COOPERATIVE;
        attribute[c.nattribute++].value.on = 1;
    }
    return cu->cuLaunchKernelEx(&c, l->f, l->params, NULL);
}

int cuda_launch(const Gpu *g, const DeviceLaunch *l)
{
    const CudaDriver *cu = g->own;

    if (l->early && cu->cuLaunchKernelEx)
        return launch_with(cu, l);
    if (l->together)
        return cu->cuLaunchCooperativeKernel(l->f, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                             l->block[1], l->block[2], l->shared, l->stream,
                                             l->params);
    return cu->cuLaunchKernel(l->f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                              l->block[2], l->shared, l->stream, l->params, NULL);
}

Status cuda_map(const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text, size_t ntext)
{
    const CudaDriver *cu = g->own;
    return cuda_map_encode(g, &cu->maps, s, at, out, text, ntext);
}

static bool take_functions(Gpu *g, CudaDriver *cu, void *h)
{
    void *at;

    for (int i = 0; i < COUNT(symbol_table); i++) {
        at = dlsym(h, symbol_table[i].symbol);
        if (!at && !symbol_table[i].newer)
            return false;
        memcpy((char *)g + symbol_table[i].at, &at, sizeof at);
    }
#define X(name, arguments)                                                                         \
    at = dlsym(h, #name);                                                                          \
    memcpy(&cu->name, &at, sizeof at);                                                             \
    if (!at && strcmp(#name, "cuLaunchKernelEx"))                                                  \
        return false;
    CUDA_FUNCTIONS(X)
#undef X
    at = dlsym(h, "cuTensorMapEncodeIm2col");
    memcpy(&cu->maps.im2col, &at, sizeof at);
    at = dlsym(h, "cuTensorMapEncodeTiled");
    memcpy(&cu->maps.tiled, &at, sizeof at);
    g->own = cu;
    g->tag = "[cuda-failed]";
    g->module_load = load_module;
    g->function_prepare = prepare;
    g->owner = cuda_owner;
    g->launch = cuda_launch;
    g->map_shape = cuda_map_shape;
    g->map_encode = cuda_map;
    return true;
}

/* CUdevice_attribute */
static const struct {
    int attribute;
    size_t at;
} fact_table[] = {
    {75, offsetof(GpuFacts, major)},          {76, offsetof(GpuFacts, minor)},
    {16, offsetof(GpuFacts, units)},          {13, offsetof(GpuFacts, clock_khz)},
    {36, offsetof(GpuFacts, memory_khz)},     {37, offsetof(GpuFacts, memory_bits)},
    {38, offsetof(GpuFacts, l2_bytes)},       {97, offsetof(GpuFacts, shared_block)},
};

static Status open_device(Arena *a, Gpu *g, const char **why)
{
    const CudaDriver *cu = g->own;
    Handle current = NULL;
    char room[200];
    int n = 0;
    int r = cu->cuInit(0);

    if (r == 0)
        r = cu->cuDeviceGetCount(&n);
    if (r != 0 || n == 0) {
        *why = arena_printf(a, "the CUDA driver finds no GPU (%s) [no-cuda-device]",
                            r ? gpu_error(g, r, room, sizeof room) : "none installed");
        return STATUS_TOOL;
    }
    /* The device that the program around us has chosen, else the first. */
    if (g->context_get(&current) != 0 || !current || cu->cuCtxGetDevice(&g->device) != 0)
        r = cu->cuDeviceGet(&g->device, 0);
    if (r == 0)
        r = cu->cuDevicePrimaryCtxRetain(&g->context, g->device);
    if (r != 0) {
        *why = arena_printf(a, "the GPU cannot be used: %s " DEVICE_UNUSABLE,
                            gpu_error(g, r, room, sizeof room));
        return STATUS_TOOL;
    }
    cu->cuDeviceGetName(g->name, sizeof g->name, g->device);
    for (int i = 0; i < COUNT(fact_table); i++)
        cu->cuDeviceGetAttribute((int *)((char *)&g->facts + fact_table[i].at),
                                fact_table[i].attribute, g->device);
    cu->cuDriverGetVersion(&g->facts.driver);
    snprintf(g->arch, sizeof g->arch, "sm_%d%d%s", g->facts.major, g->facts.minor,
             g->facts.major >= 9 ? "a" : "");
    return STATUS_OK;
}

static Status cuda_open(Arena *a, Gpu **gpu, const char **why)
{
    if (*gpu)
        return STATUS_OK;
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!h)
        h = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    Gpu *g = h ? NEW(a, Gpu) : NULL;
    if (!h || !take_functions(g, NEW(a, CudaDriver), h)) {
        *why =
            "no CUDA driver here (libcuda.so.1): this machine can build for GPUs but not run "
            "there; `tl verify --sim --text` runs a kernel here [no-cuda-driver]";
        return STATUS_TOOL;
    }
    Status s = open_device(a, g, why);
    if (s == STATUS_OK)
        *gpu = g;
    return s;
}

/* ---- what it can do -------------------------------------------------------------------------- */

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

static double peak(const Gpu *g, DType t)
{
    int bits = dtype_bits(t), rate = 0;

    for (int i = 0; i < COUNT(rate_table); i++) {
        if (rate_table[i].major != g->facts.major || rate_table[i].minor > g->facts.minor)
            continue;
        rate = t == DT_F64     ? rate_table[i].f64
               : t == DT_TF32  ? rate_table[i].tf32
               : t == DT_F32   ? MAX(rate_table[i].tf32, rate_table[i].f32)
               : bits == 16    ? rate_table[i].bits16
               : bits == 8     ? rate_table[i].bits8
                               : 0;
    }
    return rate * (g->facts.clock_khz * 1e-6) * g->facts.units;
}

#define CUDA_RUNTIME                                                                               \
    .compiler = "NVRTC", .language = "CUDA C", .ending = "cu", .fast_math = "--use_fast_math",     \
    .line_info = "-lineinfo", .bundle = &cuda_bundle, .all_flags = nvrtc_flags,                    \
    .knows = nvrtc_knows, .flags = nvrtc_wishes, .warn = nvrtc_warn, .audit = nvrtc_audit,         \
    .resources = nvrtc_tell,                                                                       \
    .open = cuda_open, .peak = peak, DEVICE_RUNS

const Runtime runtime_cuda = {
    .name = "cuda",
    .find = nvrtc_find,
    .build = nvrtc_build,
    CUDA_RUNTIME,
};

/* sm_70; the device is the same to find. */
const Runtime runtime_cuda12 = {
    .name = "cuda12",
    .by_name = true,
    .find = nvrtc12_find,
    .build = nvrtc12_build,
    CUDA_RUNTIME,
};
