/* driver.c -- a driver whose device is this machine: the runtime of src/rt works out launches,
 * arguments and tensor maps for it as for any other. */
#include <dlfcn.h>
#include "twin/machine.h"

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

static int context_get(Handle *context)
{
    *context = NULL;
    return 0;
}

static int context_set(Handle context)
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

static int module_get_function(Handle *f, Handle module, const char *name)
{
    char symbol[512];

    snprintf(symbol, sizeof symbol, "tl_kernel_%.480s", name);
    *f = dlsym(module, symbol);
    return *f ? 0 : NOT_FOUND;
}

static int module_load(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog)
{
    (void)g;
    (void)log;
    (void)nlog;
    *module = code->handle;
    return 0;
}

static int module_unload(Handle module)
{
    (void)module;
    return 0;
}

/* What the text says of its clusters, if it can, is what the launch expects. */
static int function_prepare(const Gpu *g, Handle f, int64_t shared, int cluster)
{
    const TlKernel *k = f;

    (void)g;
    (void)shared;
    return !k->says || k->cluster[0] * k->cluster[1] * k->cluster[2] == cluster ? 0 : INVALID;
}

static int mem_alloc(DevicePtr *p, size_t n)
{
    return memory_take(n, p) ? 0 : NO_MEMORY;
}

static int mem_free(DevicePtr p)
{
    return memory_give(p) ? 0 : INVALID;
}

static int mem_set(DevicePtr p, unsigned char value, size_t n, Handle stream)
{
    (void)stream;
    memset((void *)(uintptr_t)p, value, n);
    return 0;
}

static int copy_in(DevicePtr to, const void *from, size_t n)
{
    memcpy((void *)(uintptr_t)to, from, n);
    return 0;
}

static int copy_out(void *to, DevicePtr from, size_t n)
{
    memcpy(to, (const void *)(uintptr_t)from, n);
    return 0;
}

/* All memory that the runtime is given is the host's. */
static bool owner(const Gpu *g, DevicePtr p, int *device)
{
    (void)p;
    *device = g->device;
    return false;
}

static int stream_create(Handle *stream, unsigned flags)
{
    (void)flags;
    *stream = NULL;
    return 0;
}

static int stream_done(Handle stream)
{
    (void)stream;
    return 0;
}

static const Kernel *kernel_of(Handle f)
{
    const Loaded *m = machine.module;

    for (int i = 0; m && i < m->func->kernels.n; i++)
        if (m->kernel[i] == f)
            return m->func->kernels.at[i];
    return NULL;
}

/* Blocks that may wait for each other run together where that can be done. */
static bool polls(const Kernel *k, const DeviceLaunch *d)
{
    int64_t n = 1;

    for (int i = 0; i < 3; i++)
        n *= (int64_t)d->grid[i] * d->block[i];
    return k && n <= POLL_THREADS && stmt_polls(k->body);
}

static int launch_kernel(const Gpu *g, const DeviceLaunch *d)
{
    const Kernel *k = kernel_of(d->f);
    Launch l = {.kernel = d->f, .name = k ? k->launch.symbol : "?", .shared = d->shared,
                .together = d->together || polls(k, d), .param = d->params};

    (void)g;
    memcpy(l.grid, d->grid, sizeof l.grid);
    memcpy(l.block, d->block, sizeof l.block);
    return machine_launch(&l) ? 0 : FAILED;
}

Gpu *twin_gpu(Arena *a, const Assembly *with)
{
    Gpu *g = NEW(a, Gpu);

    *g = (Gpu){
        .tag = "[twin-fault]",
        .name = "the text on this machine",
        .error_text = error_string,
        .error_name = error_name,
        .context_get = context_get,
        .context_set = context_set,
        .synchronize = nothing,
        .module_load = module_load,
        .module_unload = module_unload,
        .module_function = module_get_function,
        .function_prepare = function_prepare,
        .mem_alloc = mem_alloc,
        .mem_free = mem_free,
        .mem_set = mem_set,
        .copy_in = copy_in,
        .copy_out = copy_out,
        .owner = owner,
        .stream_create = stream_create,
        .stream_destroy = stream_done,
        .stream_wait = stream_done,
        .capture_mode = capture_mode,
        .launch = launch_kernel,
        .map_shape = with->map_shape,
        .map_encode = with->map_encode,
    };
    return g;
}
