/* driver.c -- a CUDA driver whose device is this machine: the runtime of src/rt works out launches,
 * arguments and tensor maps for it as for any other. */
#include <dlfcn.h>
#include "twin/machine.h"
#include "twin/map.h"

enum { FAILED = 719, INVALID = 1, NOT_FOUND = 500, NO_MEMORY = 2 };

static int error_string(int r, const char **text)
{
    *text = r == INVALID     ? "a value that the driver does not take"
            : r == NO_MEMORY ? "out of memory"
            : r == NOT_FOUND ? "no such kernel in the text"
                             : machine.text;
    return 0;
}

static int error_name(int r, const char **name)
{
    *name = r == FAILED ? "twin" : "driver";
    return 0;
}

static int context_get(CuHandle *context)
{
    *context = NULL;
    return 0;
}

static int context_set(CuHandle context)
{
    (void)context;
    return 0;
}

static int nothing(void)
{
    return 0;
}

static int capture_mode(int *mode)
{
    (void)mode;
    return 0;
}

static int module_get_function(CuHandle *f, CuHandle module, const char *name)
{
    char symbol[512];

    snprintf(symbol, sizeof symbol, "tl_kernel_%.480s", name);
    *f = dlsym(module, symbol);
    return *f ? 0 : NOT_FOUND;
}

/* The image is a handle of the loader. */
static int module_load(CuHandle *module, const void *image)
{
    memcpy(module, image, sizeof *module);
    return 0;
}

static int module_unload(CuHandle module)
{
    (void)module;
    return 0;
}

static int func_attribute(CuHandle f, int attribute, int value)
{
    (void)f;
    (void)attribute;
    (void)value;
    return 0;
}

static int mem_alloc(CuPointer *p, size_t n)
{
    return memory_take(n, p) ? 0 : NO_MEMORY;
}

static int mem_free(CuPointer p)
{
    return memory_give(p) ? 0 : INVALID;
}

static int mem_set(CuPointer p, unsigned char value, size_t n, CuHandle stream)
{
    (void)stream;
    memset((void *)(uintptr_t)p, value, n);
    return 0;
}

static int copy_in(CuPointer to, const void *from, size_t n)
{
    memcpy((void *)(uintptr_t)to, from, n);
    return 0;
}

static int copy_out(void *to, CuPointer from, size_t n)
{
    memcpy(to, (const void *)(uintptr_t)from, n);
    return 0;
}

/* All memory that the runtime is given is the host's. */
static int pointer_attributes(unsigned n, int *attribute, void **value, CuPointer p)
{
    (void)n;
    (void)attribute;
    (void)value;
    (void)p;
    return INVALID;
}

static int stream_create(CuHandle *stream, unsigned flags)
{
    (void)flags;
    *stream = NULL;
    return 0;
}

static int stream_done(CuHandle stream)
{
    (void)stream;
    return 0;
}

static const char *kernel_name(CuHandle f)
{
    const GpuModule *m = machine.module;

    for (int i = 0; m && i < m->func->kernels.n; i++)
        if (m->kernel[i] == f)
            return m->func->kernels.at[i]->launch.symbol;
    return "?";
}

static int run_kernel(CuHandle f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                      bool together, void **params)
{
    Launch l = {.kernel = f, .name = kernel_name(f), .shared = shared, .together = together,
                .param = params};

    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    return machine_launch(&l) ? 0 : FAILED;
}

static int launch_kernel(CuHandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned shared, CuHandle stream, void **params,
                         void **extra)
{
    (void)stream;
    (void)extra;
    return run_kernel(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, false, params);
}

static int launch_together(CuHandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, CuHandle stream,
                           void **params)
{
    (void)stream;
    return run_kernel(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, true, params);
}

static int launch_with(const CuLaunchConfig *c, CuHandle f, void **params, void **extra)
{
    bool together = false;

    (void)extra;
    for (unsigned i = 0; i < c->nattribute; i++)
        together |= c->attribute[i].id == CU_LAUNCH_COOPERATIVE && c->attribute[i].value.on;
    return run_kernel(f, c->grid, c->block, c->shared, together, params);
}

Gpu *twin_gpu(void)
{
    static Gpu g = {
        .name = "the text on this machine",
        .cuGetErrorString = error_string,
        .cuGetErrorName = error_name,
        .cuCtxGetCurrent = context_get,
        .cuCtxSetCurrent = context_set,
        .cuCtxSynchronize = nothing,
        .cuModuleLoadData = module_load,
        .cuModuleUnload = module_unload,
        .cuModuleGetFunction = module_get_function,
        .cuFuncSetAttribute = func_attribute,
        .cuMemAlloc = mem_alloc,
        .cuMemFree = mem_free,
        .cuMemsetD8Async = mem_set,
        .cuMemcpyHtoD = copy_in,
        .cuMemcpyDtoH = copy_out,
        .cuPointerGetAttributes = pointer_attributes,
        .cuStreamCreate = stream_create,
        .cuStreamDestroy = stream_done,
        .cuStreamSynchronize = stream_done,
        .cuThreadExchangeStreamCaptureMode = capture_mode,
        .cuLaunchKernel = launch_kernel,
        .cuLaunchCooperativeKernel = launch_together,
        .cuLaunchKernelEx = launch_with,
        .cuTensorMapEncodeTiled = map_encode_tiled,
        .cuTensorMapEncodeIm2col = map_encode_im2col,
    };
    return &g;
}
