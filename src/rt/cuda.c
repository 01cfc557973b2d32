/* cuda.c -- the CUDA driver, found by dlopen: devices, code, modules, memory of a run.
 *
 * The device's primary context is used, which is also PyTorch's.  Tensors in host memory are copied
 * to the device and back; device pointers are used in place.  Launches are in launch.c. */
#include <dlfcn.h>
#include <stdlib.h>
#include "rt/driver.h"

/* ---- the driver ------------------------------------------------------------------------------ */

static bool take_functions(Gpu *g, void *h)
{
    void *at;

#define X(name, symbol, arguments)                                                                 \
    if (!(at = dlsym(h, #symbol)))                                                                 \
        return false;                                                                              \
    memcpy(&g->name, &at, sizeof at);
    DRIVER_FUNCTIONS(X)
#undef X
#define X(name, symbol, arguments)                                                                 \
    at = dlsym(h, #symbol);                                                                        \
    memcpy(&g->name, &at, sizeof at);
    DRIVER_NEWER(X)
#undef X
    return true;
}

const char *gpu_error(const Gpu *g, int r, char *room, size_t n)
{
    const char *text = NULL, *name = NULL;

    g->cuGetErrorString(r, &text);
    g->cuGetErrorName(r, &name);
    snprintf(room, n, "%s: %s", name ? name : "error", text ? text : "unknown to this driver");
    return room;
}

Status gpu_failed(const Gpu *g, int r, const char *what, char *text, size_t ntext)
{
    char room[200];

    snprintf(text, ntext, "%s: %s [cuda-failed]", what, gpu_error(g, r, room, sizeof room));
    return STATUS_TOOL;
}

CuHandle gpu_enter(const Gpu *g)
{
    CuHandle before = NULL;

    g->cuCtxGetCurrent(&before);
    if (before != g->context)
        g->cuCtxSetCurrent(g->context);
    return before;
}

void gpu_leave(const Gpu *g, CuHandle before)
{
    if (before && before != g->context)
        g->cuCtxSetCurrent(before);
}

int gpu_relax(const Gpu *g)
{
    int mode = CU_CAPTURE_RELAXED;
    g->cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

void gpu_unrelax(const Gpu *g, int before)
{
    g->cuThreadExchangeStreamCaptureMode(&before);
}

/* CUdevice_attribute */
static const struct {
    int attribute;
    size_t at;
} fact_table[] = {
    {75, offsetof(GpuFacts, major)},          {76, offsetof(GpuFacts, minor)},
    {16, offsetof(GpuFacts, nsm)},            {13, offsetof(GpuFacts, clock_khz)},
    {36, offsetof(GpuFacts, memory_khz)},     {37, offsetof(GpuFacts, memory_bits)},
    {38, offsetof(GpuFacts, l2_bytes)},       {97, offsetof(GpuFacts, shared_block)},
    {81, offsetof(GpuFacts, shared_sm)},      {39, offsetof(GpuFacts, threads_sm)},
    {82, offsetof(GpuFacts, registers_sm)},   {106, offsetof(GpuFacts, blocks_sm)},
};

static Status open_device(Arena *a, Gpu *g, const char **why)
{
    CuHandle current = NULL;
    char room[200];
    int n = 0;
    int r = g->cuInit(0);

    if (r == 0)
        r = g->cuDeviceGetCount(&n);
    if (r != 0 || n == 0) {
        *why = arena_printf(a, "the CUDA driver finds no GPU (%s) [no-cuda-device]",
                            r ? gpu_error(g, r, room, sizeof room) : "none installed");
        return STATUS_TOOL;
    }
    /* The device that the program around us has chosen, else the first. */
    if (g->cuCtxGetCurrent(&current) != 0 || !current || g->cuCtxGetDevice(&g->device) != 0)
        r = g->cuDeviceGet(&g->device, 0);
    if (r == 0)
        r = g->cuDevicePrimaryCtxRetain(&g->context, g->device);
    if (r != 0) {
        *why = arena_printf(a, "the GPU cannot be used: %s [no-cuda-device]",
                            gpu_error(g, r, room, sizeof room));
        return STATUS_TOOL;
    }
    g->cuDeviceGetName(g->name, sizeof g->name, g->device);
    for (int i = 0; i < COUNT(fact_table); i++)
        g->cuDeviceGetAttribute((int *)((char *)&g->facts + fact_table[i].at),
                                fact_table[i].attribute, g->device);
    g->cuDriverGetVersion(&g->facts.driver);
    snprintf(g->arch, sizeof g->arch, "sm_%d%d%s", g->facts.major, g->facts.minor,
             g->facts.major >= 9 ? "a" : "");
    return STATUS_OK;
}

Status gpu_open(Arena *a, Gpu **gpu, const char **why)
{
    if (*gpu)
        return STATUS_OK;
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!h)
        h = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    Gpu *g = NEW(a, Gpu);
    if (!h || !take_functions(g, h)) {
        *why =
            "no CUDA driver here (libcuda.so.1): this machine can build for GPUs but not run there "
            "[no-cuda-driver]";
        return STATUS_TOOL;
    }
    Status s = open_device(a, g, why);
    if (s == STATUS_OK)
        *gpu = g;
    return s;
}

const char *gpu_name(const Gpu *g)
{
    return g->name;
}

const char *gpu_arch(const Gpu *g)
{
    return g->arch;
}

const GpuFacts *gpu_facts(const Gpu *g)
{
    return &g->facts;
}

/* ---- code: cached under the names the cache has for C ---------------------------------------- */

/* One file: the size of the cubin in decimal and a newline, the cubin, the PTX, then the log after
 * a zero byte. */
static void code_pack(const DeviceCode *c, Str *out)
{
    str_printf(out, "%zu\n", c->ncubin);
    str_putn(out, c->cubin ? c->cubin : "", c->ncubin);
    str_puts(out, c->ptx ? c->ptx : "");
    str_putn(out, "", 1);
    str_puts(out, c->log ? c->log : "");
}

static bool code_unpack(Arena *a, const char *path, DeviceCode *c)
{
    char *data, *end;
    size_t n;
    const char *why;

    if (file_read(a, path, &data, &n, &why) != STATUS_OK)
        return false;
    *c = (DeviceCode){.from_cache = true, .ncubin = (size_t)strtoull(data, &end, 10)};
    size_t head = (size_t)(end - data) + 1;
    if (*end != '\n' || head + c->ncubin > n)
        return false;
    c->cubin = c->ncubin ? data + head : NULL;
    c->ptx = data + head + c->ncubin;
    const char *zero = memchr(c->ptx, 0, n - head - c->ncubin);
    c->log = zero ? zero + 1 : "";
    return true;
}

static void code_publish(Arena *a, const CacheKey *key, const ModuleSpec *s, const DeviceCode *c)
{
    char *dir = NULL;
    bool shared = true;
    const char *why;
    Str packed;

    str_init(&packed, a);
    code_pack(c, &packed);
    if (cache_open(a, &dir, &shared, &why) != STATUS_OK)
        return;
    if (shared &&
        file_write(a, path_join(a, dir, "kernel.c"), s->source, s->nsource, &why) == STATUS_OK &&
        file_write(a, path_join(a, dir, "kernel.so"), packed.s, packed.n, &why) == STATUS_OK)
        cache_put(a, key, dir);
    tree_remove(dir);
}

Status device_code(Arena *a, Compiler *c, const ModuleSpec *s, DeviceCode *out, const char **why)
{
    int nflag;
    Status st = nvrtc_find(a, c, why);

    if (st != STATUS_OK)
        return st;
    const char *const *flags = nvrtc_flags(a, s->spec, s->extra, &nflag);
    CacheKey key = cache_key(a, c, s, flags, nflag);
    const char *path = s->no_cache ? NULL : cache_get(a, &key);
    const char *warning = s->no_cache ? NULL : cache_complaint(a, &key);
    bool unpacked = path && code_unpack(a, path, out);
    if (path && !unpacked)
        cache_drop(a, &key);
    if (!unpacked)
        st = nvrtc_run(a, c, s, flags, nflag, out, why);
    out->warning = warning;
    if (st == STATUS_OK && !unpacked && !s->no_cache)
        code_publish(a, &key, s, out);
    return st;
}

/* ---- modules --------------------------------------------------------------------------------- */

static Status find_kernels(Arena *a, GpuModule *m, const char **why)
{
    Gpu *g = m->gpu;
    Func *f = m->func;
    char room[200];

    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        int cluster = MAX(k->cluster[0], 1) * MAX(k->cluster[1], 1) * MAX(k->cluster[2], 1);
        int r = g->cuModuleGetFunction(&m->kernel[i], m->module, k->launch.symbol);
        if (r == 0 && k->launch.shared_bytes > SHARED_FREE)
            r = g->cuFuncSetAttribute(m->kernel[i], CU_SHARED_MOST, (int)k->launch.shared_bytes);
        if (r == 0 && cluster > CLUSTER_PORTABLE)
            r = g->cuFuncSetAttribute(m->kernel[i], CU_CLUSTER_ANY, 1);
        if (r != 0) {
            *why = arena_printf(a, "kernel '%s' (%lld bytes of shared memory): %s [cuda-failed]",
                                k->launch.symbol, (long long)k->launch.shared_bytes,
                                gpu_error(g, r, room, sizeof room));
            return STATUS_TOOL;
        }
    }
    return STATUS_OK;
}

/* The cubin where it fits the device, else the PTX, which the driver compiles. */
static Status load_code(Arena *a, GpuModule *m, const DeviceCode *code, const char **why)
{
    enum { LOG_BYTES = 2048 };
    Gpu *g = m->gpu;
    char room[200];
    char *log = NEWN(a, char, LOG_BYTES);
    int option[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    int r = code->cubin ? g->cuModuleLoadData(&m->module, code->cubin) : CU_NO_BINARY;

    if ((r == CU_NO_BINARY || r == CU_INVALID_IMAGE) && code->ptx)
        r = g->cuModuleLoadDataEx(&m->module, code->ptx, COUNT(option), option, value);
    if (r == 0)
        return STATUS_OK;
    *why = arena_printf(a, "'%s' does not load on %s (%s): %s%s%s [cuda-failed]", m->func->name,
                        g->name, g->arch, gpu_error(g, r, room, sizeof room), *log ? ": " : "",
                        log);
    return STATUS_TOOL;
}

Status gpu_load(Arena *a, Gpu *g, Func *f, const DeviceCode *code, GpuModule **out,
                const char **why)
{
    GpuModule *m = NEW(a, GpuModule);

    *m = (GpuModule){.gpu = g, .func = f};
    m->kernel = NEWN(a, CuHandle, f->kernels.n + 1);
    m->tensor = NEWN(a, DeviceMemory, f->params.n + 1);
    m->value = NEWN(a, int64_t, f->ir->nvar + 1);
    for (int i = 0; i < STREAMS_MOST; i++)
        m->stream[i].work = NEWN(a, DeviceMemory, f->workspaces.n + 1);
    CuHandle context = gpu_enter(g);
    int mode = gpu_relax(g);
    Status s = load_code(a, m, code, why);
    if (s == STATUS_OK)
        s = find_kernels(a, m, why);
    gpu_unrelax(g, mode);
    gpu_leave(g, context);
    if (s == STATUS_OK)
        *out = m;
    else
        gpu_unload(m);
    return s;
}

static void release(Gpu *g, DeviceMemory *d)
{
    if (d->at)
        g->cuMemFree(d->at);
    *d = (DeviceMemory){0};
}

void gpu_unload(GpuModule *m)
{
    if (!m)
        return;
    CuHandle context = gpu_enter(m->gpu);
    for (int i = 0; i < m->func->params.n; i++)
        release(m->gpu, &m->tensor[i]);
    for (int s = 0; s < m->nstream; s++) {
        for (int i = 0; i < m->func->workspaces.n; i++)
            release(m->gpu, &m->stream[s].work[i]);
        release(m->gpu, &m->stream[s].grid);
    }
    for (int i = 0; i < m->nretired; i++)
        m->gpu->cuMemFree(m->retired[i]);
    free(m->retired);
    plan_free(m->plan);
    map_cache_free(m->maps);
    if (m->module)
        m->gpu->cuModuleUnload(m->module);
    gpu_leave(m->gpu, context);
    *m = (GpuModule){0};
}

/* ---- one run with tensors wherever they are -------------------------------------------------- */

typedef struct {
    GpuModule *m;
    CuPointer *tensor; /* by parameter */
    char *text;
    size_t ntext;
} CopyCall;

static Status reserve(CopyCall *q, DeviceMemory *d, int64_t nbytes)
{
    Gpu *g = q->m->gpu;

    if (nbytes <= d->nbytes)
        return STATUS_OK;
    release(g, d);
    int r = g->cuMemAlloc(&d->at, (size_t)nbytes);
    if (r != 0)
        return gpu_failed(g, r, "memory on the GPU", q->text, q->ntext);
    d->nbytes = nbytes;
    return STATUS_OK;
}

bool gpu_owns(const Gpu *g, CuPointer p, int *ordinal)
{
    unsigned type = 0;
    int attribute[] = {CU_POINTER_TYPE, CU_POINTER_ORDINAL};
    void *value[] = {&type, ordinal};

    *ordinal = -1;
    return p && g->cuPointerGetAttributes(COUNT(attribute), attribute, value, p) == 0 &&
           type == CU_MEMORY_DEVICE;
}

static bool is_on_device(Gpu *g, const void *p)
{
    int ordinal;
    return gpu_owns(g, (CuPointer)(uintptr_t)p, &ordinal);
}

/* From the first element to behind the last: strides may leave holes. */
static int64_t span_bytes(const SimArg *a)
{
    int64_t last = 0, n = 1;
    bool strided = false;

    for (int d = 0; d < a->rank; d++) {
        strided |= a->stride[d] != 0;
        n *= a->shape[d];
        last += (a->shape[d] - 1) * a->stride[d];
    }
    return n == 0 ? 0 : dtype_bytes(a->type, strided ? last + 1 : n);
}

static Status copy_in(CopyCall *q, const SimArg *args)
{
    Gpu *g = q->m->gpu;
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf)
            continue;
        CuPointer from = (CuPointer)(uintptr_t)args[i].data;
        bool there = is_on_device(g, args[i].data);
        if (there && from % TENSOR_ALIGN == 0) {
            q->tensor[i] = from;
            continue;
        }
        int64_t n = span_bytes(&args[i]);
        Status s = reserve(q, &q->m->tensor[i], MAX(n, 1));
        if (s != STATUS_OK)
            return s;
        CuPointer to = q->tensor[i] = q->m->tensor[i].at;
        int r = n == 0  ? 0
                : there ? g->cuMemcpyDtoD(to, from, (size_t)n)
                        : g->cuMemcpyHtoD(to, args[i].data, (size_t)n);
        if (r != 0)
            return gpu_failed(g, r, "copying to the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static Status copy_out(CopyCall *q, const SimArg *args, const uint8_t *use)
{
    Gpu *g = q->m->gpu;
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf || !(use[i] & 2) || q->tensor[i] != q->m->tensor[i].at)
            continue;
        int64_t n = span_bytes(&args[i]);
        CuPointer to = (CuPointer)(uintptr_t)args[i].data;
        int r = n == 0 ? 0
                : is_on_device(g, args[i].data)
                    ? g->cuMemcpyDtoD(to, q->tensor[i], (size_t)n)
                    : g->cuMemcpyDtoH(args[i].data, q->tensor[i], (size_t)n);
        if (r != 0)
            return gpu_failed(g, r, "copying from the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static Status run_there(CopyCall *q, const SimArg *args, const Binding1 *b, const uint8_t *use,
                        const GpuTiming *timing, double *seconds)
{
    GpuModule *m = q->m;
    int64_t nbytes[PARAMS_MOST] = {0};
    Status s = copy_in(q, args);

    for (int i = 0; i < m->func->params.n; i++)
        nbytes[i] = m->func->params.at[i].buf ? span_bytes(&args[i]) : 0;
    if (s == STATUS_OK)
        s = timing ? gpu_time(m, b, (uint64_t *)q->tensor, nbytes, timing, seconds, q->text,
                              q->ntext)
                   : gpu_start(m, b, (uint64_t *)q->tensor, NULL, q->text, q->ntext);
    int r = s == STATUS_OK ? m->gpu->cuCtxSynchronize() : 0;
    if (r != 0)
        s = gpu_failed(m->gpu, r, m->func->kernels.n ? m->func->kernels.at[0]->launch.symbol
                                                     : m->func->name, q->text, q->ntext);
    return s == STATUS_OK ? copy_out(q, args, use) : s;
}

Status gpu_run(GpuModule *m, const SimArg *args, int narg, const Binding1 *b, const uint8_t *use,
               const GpuTiming *timing, double *seconds, char *text, size_t ntext)
{
    CuPointer tensor[PARAMS_MOST] = {0};
    CopyCall q = {m, tensor, text, ntext};

    text[0] = 0;
    if (narg > PARAMS_MOST) {
        snprintf(text, ntext, "%d parameters; a GPU kernel takes %d [argument-count]", narg,
                 PARAMS_MOST);
        return STATUS_USER;
    }
    CuHandle context = gpu_enter(m->gpu);
    Status s = run_there(&q, args, b, use, timing, seconds);
    gpu_leave(m->gpu, context);
    return s;
}

/* ---- one launch with tensors on the device --------------------------------------------------- */

/* Nothing is asked of the driver about an address that was seen in the same place last time. */
bool gpu_check_pointer(GpuModule *m, int param, const void *data, char *text, size_t ntext)
{
    CuPointer p = (CuPointer)(uintptr_t)data;
    const char *name = m->func->params.at[param].name;
    int ordinal, device = -1;

    if (!gpu_owns(m->gpu, p, &ordinal)) {
        snprintf(text, ntext,
                 "argument '%s' is not in memory of the GPU; tl_kernel_run copies what is not "
                 "[argument-device]",
                 name);
        return false;
    }
    if (m->gpu->cuDeviceGet(&device, ordinal) == 0 && device != m->gpu->device) {
        snprintf(text, ntext, "argument '%s' is on GPU %d; the kernel runs on GPU %d "
                 "[argument-device]", name, ordinal, m->gpu->device);
        return false;
    }
    const Buffer *b = m->func->params.at[param].buf;
    unsigned each = b->unaligned ? (unsigned)dtype_bytes(b->type, 1) : TENSOR_ALIGN;
    if (p % each) {
        snprintf(text, ntext,
                 "argument '%s' starts at address 0x%llx; its kernel needs a multiple of %u bytes "
                 "[argument-alignment]",
                 name, p, each);
        return false;
    }
    return true;
}

void *gpu_module_enter(const GpuModule *m)
{
    return gpu_enter(m->gpu);
}

void gpu_module_leave(const GpuModule *m, void *before)
{
    gpu_leave(m->gpu, before);
}

Status gpu_array(GpuModule *m, const char *name, void *to, size_t n, char *text, size_t ntext)
{
    Gpu *g = m->gpu;
    CuPointer at = 0;
    size_t have = 0;
    CuHandle context = gpu_enter(g);
    int r = g->cuModuleGetGlobal(&at, &have, m->module, name);

    if (r == 0 && to)
        r = g->cuMemcpyDtoH(to, at, MIN(n, have));
    else if (r == 0)
        r = g->cuMemsetD8Async(at, 0, MIN(n, have), NULL);
    if (r == 0)
        r = g->cuCtxSynchronize();
    gpu_leave(g, context);
    return r ? gpu_failed(g, r, name, text, ntext) : STATUS_OK;
}
