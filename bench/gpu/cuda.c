/* cuda.c -- the CUDA driver and NVML for make bench-gpu, by dlopen. */
#include <dlfcn.h>
#include "gpu.h"

#define DRIVER(X)                                                                                  \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuGetErrorName, cuGetErrorName, (int r, const char **text))                                  \
    X(cuDeviceGet, cuDeviceGet, (int *device, int ordinal))                                        \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (Handle * context, int device))          \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (Handle context))                                          \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                  \
    X(cuMemAlloc, cuMemAlloc_v2, (DevicePtr * p, size_t n))                                        \
    X(cuMemFree, cuMemFree_v2, (DevicePtr p))                                                      \
    X(cuMemsetD8, cuMemsetD8_v2, (DevicePtr p, unsigned char value, size_t n))                     \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (DevicePtr to, const void *from, size_t n))                   \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *to, DevicePtr from, size_t n))                         \
    X(cuMemcpyDtoD, cuMemcpyDtoD_v2, (DevicePtr to, DevicePtr from, size_t n))                     \
    X(cuStreamCreate, cuStreamCreate, (Handle * stream, unsigned flags))                           \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (Handle stream, int mode))                    \
    X(cuStreamEndCapture, cuStreamEndCapture, (Handle stream, Handle * graph))                     \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (Handle * exec, Handle graph, unsigned long long flags))                                     \
    X(cuGraphLaunch, cuGraphLaunch, (Handle exec, Handle stream))                                  \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (Handle exec))                                       \
    X(cuGraphDestroy, cuGraphDestroy, (Handle graph))                                              \
    X(cuEventCreate, cuEventCreate, (Handle * event, unsigned flags))                              \
    X(cuEventRecord, cuEventRecord, (Handle event, Handle stream))                                 \
    X(cuEventSynchronize, cuEventSynchronize, (Handle event))                                      \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, Handle from, Handle to))                 \
    X(cuModuleLoadData, cuModuleLoadData, (Handle * module, const void *image))                    \
    X(cuModuleGetFunction, cuModuleGetFunction, (Handle * f, Handle module, const char *name))     \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,     \
       unsigned shared, Handle stream, void **params, void **extra))

static struct {
#define X(name, symbol, arguments) int(*name) arguments;
    DRIVER(X)
#undef X
    Handle stream, from, to, copy, bare;
    Handle nvml;
} cu;

static bool ok(int r, const char *what)
{
    const char *name = NULL;

    if (r == 0)
        return true;
    cu.cuGetErrorName(r, &name);
    fprintf(stderr, "bench-gpu: %s: %s\n", what, name ? name : "error");
    return false;
}

/* Each thread copies four times 16 bytes, a block's width apart; and nothing at all. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry bench_copy(.param .u64 to, .param .u64 from, .param .u64 n)\n{\n"
    " .reg .pred %p<5>;\n .reg .b32 %r<24>;\n .reg .b64 %d<16>;\n"
    " ld.param.u64 %d1, [to];\n ld.param.u64 %d2, [from];\n ld.param.u64 %d3, [n];\n"
    " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %tid.x;\n"
    " mul.wide.u32 %d4, %r1, 16384;\n mul.wide.u32 %d5, %r2, 16;\n add.u64 %d4, %d4, %d5;\n"
    " add.u64 %d5, %d4, 4096;\n add.u64 %d6, %d4, 8192;\n add.u64 %d7, %d4, 12288;\n"
    " setp.lt.u64 %p1, %d4, %d3;\n setp.lt.u64 %p2, %d5, %d3;\n"
    " setp.lt.u64 %p3, %d6, %d3;\n setp.lt.u64 %p4, %d7, %d3;\n"
    " add.u64 %d8, %d2, %d4;\n add.u64 %d9, %d2, %d5;\n"
    " add.u64 %d10, %d2, %d6;\n add.u64 %d11, %d2, %d7;\n"
    " @%p1 ld.global.nc.v4.u32 {%r4, %r5, %r6, %r7}, [%d8];\n"
    " @%p2 ld.global.nc.v4.u32 {%r8, %r9, %r10, %r11}, [%d9];\n"
    " @%p3 ld.global.nc.v4.u32 {%r12, %r13, %r14, %r15}, [%d10];\n"
    " @%p4 ld.global.nc.v4.u32 {%r16, %r17, %r18, %r19}, [%d11];\n"
    " add.u64 %d8, %d1, %d4;\n add.u64 %d9, %d1, %d5;\n"
    " add.u64 %d10, %d1, %d6;\n add.u64 %d11, %d1, %d7;\n"
    " @%p1 st.global.v4.u32 [%d8], {%r4, %r5, %r6, %r7};\n"
    " @%p2 st.global.v4.u32 [%d9], {%r8, %r9, %r10, %r11};\n"
    " @%p3 st.global.v4.u32 [%d10], {%r12, %r13, %r14, %r15};\n"
    " @%p4 st.global.v4.u32 [%d11], {%r16, %r17, %r18, %r19};\n"
    " ret;\n}\n"
    ".visible .entry bench_bare(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,\n"
    " .param .u64 e)\n{\n ret;\n}\n";

bool cuda_open(void)
{
    void *h = dlopen("libcuda.so.1", RTLD_NOW), *at;
    Handle context = NULL, module = NULL;
    int device = 0;

#define X(name, symbol, arguments)                                                                 \
    at = h ? dlsym(h, #symbol) : NULL;                                                             \
    if (!at) {                                                                                     \
        fprintf(stderr, "bench-gpu: no CUDA driver here\n");                                       \
        return false;                                                                              \
    }                                                                                              \
    memcpy(&cu.name, &at, sizeof at);
    DRIVER(X)
#undef X
    cu.nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    return ok(cu.cuInit(0), "cuInit") && ok(cu.cuDeviceGet(&device, 0), "the first GPU") &&
           ok(cu.cuDevicePrimaryCtxRetain(&context, device), "its context") &&
           ok(cu.cuCtxSetCurrent(context), "its context") &&
           ok(cu.cuStreamCreate(&cu.stream, 1), "a stream") &&
           ok(cu.cuEventCreate(&cu.from, 0), "an event") &&
           ok(cu.cuEventCreate(&cu.to, 0), "an event") &&
           ok(cu.cuModuleLoadData(&module, ptx), "the copy kernel") &&
           ok(cu.cuModuleGetFunction(&cu.copy, module, "bench_copy"), "the copy kernel") &&
           ok(cu.cuModuleGetFunction(&cu.bare, module, "bench_bare"), "the empty kernel");
}

/* ---- memory ---------------------------------------------------------------------------------- */

DevicePtr cuda_alloc(size_t n)
{
    DevicePtr p = 0;
    return ok(cu.cuMemAlloc(&p, n ? n : 16), "cuMemAlloc") ? p : 0;
}

void cuda_free(DevicePtr p)
{
    if (p)
        cu.cuMemFree(p);
}

bool cuda_fill(DevicePtr p, unsigned char byte, size_t n)
{
    return ok(cu.cuMemsetD8(p, byte, n), "cuMemsetD8");
}

bool cuda_upload(DevicePtr to, const void *from, size_t n)
{
    return ok(cu.cuMemcpyHtoD(to, from, n), "cuMemcpyHtoD");
}

bool cuda_download(void *to, DevicePtr from, size_t n)
{
    return ok(cu.cuMemcpyDtoH(to, from, n), "cuMemcpyDtoH");
}

bool cuda_copy(DevicePtr to, DevicePtr from, size_t n)
{
    return ok(cu.cuMemcpyDtoD(to, from, n), "cuMemcpyDtoD");
}

bool cuda_sync(const char *what)
{
    return ok(cu.cuCtxSynchronize(), what);
}

Handle cuda_stream(void)
{
    return cu.stream;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

Handle cuda_instantiate(Handle graph)
{
    Handle exec = NULL;
    return graph && ok(cu.cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate") ? exec : NULL;
}

Handle cuda_capture(int n, bool (*launch)(void *arg, int i), void *arg)
{
    Handle graph = NULL;
    bool fine = ok(cu.cuStreamBeginCapture(cu.stream, 1), "cuStreamBeginCapture");

    for (int i = 0; i < n && fine; i++)
        fine = launch(arg, i);
    fine = ok(cu.cuStreamEndCapture(cu.stream, &graph), "cuStreamEndCapture") && fine;
    Handle exec = fine ? cuda_instantiate(graph) : NULL;
    if (graph)
        cu.cuGraphDestroy(graph);
    return exec;
}

void cuda_graph_free(Handle exec)
{
    if (exec)
        cu.cuGraphExecDestroy(exec);
}

double cuda_time_graph(Handle exec)
{
    float ms = -1;

    if (!ok(cu.cuEventRecord(cu.from, cu.stream), "cuEventRecord") ||
        !ok(cu.cuGraphLaunch(exec, cu.stream), "cuGraphLaunch") ||
        !ok(cu.cuEventRecord(cu.to, cu.stream), "cuEventRecord") ||
        !ok(cu.cuEventSynchronize(cu.to), "a graph") ||
        !ok(cu.cuEventElapsedTime(&ms, cu.from, cu.to), "cuEventElapsedTime"))
        return -1;
    return ms * 1e-3;
}

void cuda_start_graph(Handle exec)
{
    ok(cu.cuGraphLaunch(exec, cu.stream), "cuGraphLaunch");
}

/* ---- kernels --------------------------------------------------------------------------------- */

bool cuda_copy_kernel(DevicePtr to, DevicePtr from, size_t n, Handle stream)
{
    unsigned long long count = n;
    void *params[] = {&to, &from, &count};
    unsigned blocks = (unsigned)((n + 16383) / 16384);

    return ok(cu.cuLaunchKernel(cu.copy, blocks, 1, 1, 256, 1, 1, 0, stream, params, NULL),
              "the copy kernel");
}

bool cuda_bare_launch(const DevicePtr *address, Handle stream)
{
    void *params[5];

    for (int i = 0; i < 5; i++)
        params[i] = (void *)&address[i];
    return cu.cuLaunchKernel(cu.bare, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL) == 0;
}

/* ---- clock and power ------------------------------------------------------------------------- */

Weather cuda_weather(void)
{
    Weather w = {0};
    Handle device = NULL;
    unsigned value = 0;
    int (*init)(void), (*by_index)(unsigned, Handle *), (*clock)(Handle, int, unsigned *),
        (*power)(Handle, unsigned *), (*heat)(Handle, int, unsigned *);

    if (!cu.nvml)
        return w;
    *(void **)&init = dlsym(cu.nvml, "nvmlInit_v2");
    *(void **)&by_index = dlsym(cu.nvml, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&clock = dlsym(cu.nvml, "nvmlDeviceGetClockInfo");
    *(void **)&power = dlsym(cu.nvml, "nvmlDeviceGetPowerUsage");
    *(void **)&heat = dlsym(cu.nvml, "nvmlDeviceGetTemperature");
    if (!init || !by_index || init() != 0 || by_index(0, &device) != 0)
        return w;
    if (clock && clock(device, 1, &value) == 0)
        w.clock_mhz = (int)value;
    if (clock && clock(device, 2, &value) == 0)
        w.memory_mhz = (int)value;
    if (power && power(device, &value) == 0)
        w.watts = (int)(value / 1000);
    if (heat && heat(device, 0, &value) == 0)
        w.celsius = (int)value;
    return w;
}
