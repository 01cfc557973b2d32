/* cuda.c -- modules and launches through the CUDA driver, found by dlopen.
 *
 * The host part of a function is walked here: grids, conditions and temporaries are worked out from
 * the values of its dimensions and scalars, and each launch hands over what Kernel.launch lists.
 * Tensors in host memory are copied to the device and back; device pointers are used in place. */
#include <dlfcn.h>
#include <stdlib.h>
#include "rt/rt.h"

/* ---- the driver, as documented --------------------------------------------------------------- */

typedef unsigned long long CuPointer;
typedef void *CuHandle;

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuGetErrorString, cuGetErrorString, (int result, const char **text))                         \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *n))                                                \
    X(cuDeviceGet, cuDeviceGet, (int *device, int ordinal))                                        \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int n, int device))                           \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, int device))         \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CuHandle * context, int device))        \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CuHandle context))                                        \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                  \
    X(cuModuleLoadData, cuModuleLoadData, (CuHandle * module, const void *image))                  \
    X(cuModuleUnload, cuModuleUnload, (CuHandle module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction, (CuHandle * f, CuHandle module, const char *name)) \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CuHandle f, int attribute, int value))              \
    X(cuMemAlloc, cuMemAlloc_v2, (CuPointer * p, size_t n))                                        \
    X(cuMemFree, cuMemFree_v2, (CuPointer p))                                                      \
    X(cuMemsetD8, cuMemsetD8_v2, (CuPointer p, unsigned char value, size_t n))                     \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CuPointer to, const void *from, size_t n))                   \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *to, CuPointer from, size_t n))                         \
    X(cuMemcpyDtoD, cuMemcpyDtoD_v2, (CuPointer to, CuPointer from, size_t n))                     \
    X(cuPointerGetAttribute, cuPointerGetAttribute, (void *value, int attribute, CuPointer p))     \
    X(cuEventCreate, cuEventCreate, (CuHandle * event, unsigned flags))                            \
    X(cuEventDestroy, cuEventDestroy_v2, (CuHandle event))                                         \
    X(cuEventRecord, cuEventRecord, (CuHandle event, CuHandle stream))                             \
    X(cuEventSynchronize, cuEventSynchronize, (CuHandle event))                                    \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CuHandle from, CuHandle to))             \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (CuHandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,   \
       unsigned shared, CuHandle stream, void **params, void **extra))                             \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                        \
      (CuHandle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,   \
       unsigned shared, CuHandle stream, void **params))

enum {
    NO_BINARY = 209, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    MAJOR = 75,
    MINOR = 76,      /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */
    SHARED_MOST = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    MEMORY_TYPE = 2, /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
    MEMORY_DEVICE = 2,
    SHARED_FREE = 48 << 10, /* more has to be asked for */
    GRID_YZ_MOST = 65535,
    WIDEST = 16, /* bytes of one access: tensors start at multiples of it */
};

struct Gpu {
    int device;
    CuHandle context;
    char name[96];
    char arch[16];
#define X(name, symbol, arguments) int(*name) arguments;
    DRIVER_FUNCTIONS(X)
#undef X
};

static bool take_functions(Gpu *g, void *h)
{
    void *at;

#define X(name, symbol, arguments)                                                                 \
    if (!(at = dlsym(h, #symbol)))                                                                 \
        return false;                                                                              \
    memcpy(&g->name, &at, sizeof at);
    DRIVER_FUNCTIONS(X)
#undef X
    return true;
}

static const char *error_text(const Gpu *g, int r)
{
    const char *text = NULL;
    g->cuGetErrorString(r, &text);
    return text ? text : "unknown error";
}

static Status open_device(Arena *a, Gpu *g, const char **why)
{
    int n = 0, major = 0, minor = 0;
    int r = g->cuInit(0);

    if (r == 0)
        r = g->cuDeviceGetCount(&n);
    if (r != 0 || n == 0) {
        *why = arena_printf(a, "the CUDA driver finds no GPU (%s) [no-cuda-device]",
                            r ? error_text(g, r) : "none installed");
        return STATUS_TOOL;
    }
    r = g->cuDeviceGet(&g->device, 0);
    if (r == 0)
        r = g->cuDevicePrimaryCtxRetain(&g->context, g->device);
    if (r != 0) {
        *why = arena_printf(a, "the GPU cannot be used: %s [no-cuda-device]", error_text(g, r));
        return STATUS_TOOL;
    }
    g->cuDeviceGetName(g->name, sizeof g->name, g->device);
    g->cuDeviceGetAttribute(&major, MAJOR, g->device);
    g->cuDeviceGetAttribute(&minor, MINOR, g->device);
    snprintf(g->arch, sizeof g->arch, "sm_%d%d%s", major, minor, major >= 9 ? "a" : "");
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
    if (path && code_unpack(a, path, out))
        return STATUS_OK;
    st = nvrtc_run(a, c, s, flags, nflag, out, why);
    if (st == STATUS_OK && !s->no_cache)
        code_publish(a, &key, s, out);
    return st;
}

/* ---- modules --------------------------------------------------------------------------------- */

typedef struct {
    CuPointer at;
    int64_t nbytes;
} DeviceMemory;

struct GpuModule {
    Gpu *gpu;
    Func *func;
    CuHandle module;
    CuHandle *kernel;     /* by Func.kernels */
    DeviceMemory *tensor; /* by parameter: copies of host memory */
    DeviceMemory *work;   /* by workspace */
    DeviceMemory grid;    /* state of grid syncs */
    int64_t *value;       /* by Var id; floats as the bits of a double */
};

static Status failed(const Gpu *g, int r, const char *what, char *text, size_t ntext)
{
    snprintf(text, ntext, "%s: %s [cuda-failed]", what, error_text(g, r));
    return STATUS_TOOL;
}

static Status find_kernels(Arena *a, GpuModule *m, const char **why)
{
    Gpu *g = m->gpu;
    Func *f = m->func;

    for (int i = 0; i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        int r = g->cuModuleGetFunction(&m->kernel[i], m->module, k->launch.symbol);
        if (r == 0 && k->launch.shared_bytes > SHARED_FREE)
            r = g->cuFuncSetAttribute(m->kernel[i], SHARED_MOST, (int)k->launch.shared_bytes);
        if (r != 0) {
            *why = arena_printf(a, "kernel '%s': %s [cuda-failed]", k->launch.symbol,
                                error_text(g, r));
            return STATUS_TOOL;
        }
    }
    return STATUS_OK;
}

Status gpu_load(Arena *a, Gpu *g, Func *f, const DeviceCode *code, GpuModule **out,
                const char **why)
{
    GpuModule *m = NEW(a, GpuModule);

    *m = (GpuModule){.gpu = g, .func = f};
    m->kernel = NEWN(a, CuHandle, f->kernels.n + 1);
    m->tensor = NEWN(a, DeviceMemory, f->params.n + 1);
    m->work = NEWN(a, DeviceMemory, f->workspaces.n + 1);
    m->value = NEWN(a, int64_t, f->ir->nvar + 1);
    g->cuCtxSetCurrent(g->context);
    int r = code->cubin ? g->cuModuleLoadData(&m->module, code->cubin) : NO_BINARY;
    if (r == NO_BINARY && code->ptx)
        r = g->cuModuleLoadData(&m->module,
                                code->ptx); /* the driver compiles for the device at hand */
    if (r != 0) {
        *why = arena_printf(a, "'%s' does not load on %s (%s): %s [cuda-failed]", f->name, g->name,
                            g->arch, error_text(g, r));
        return STATUS_TOOL;
    }
    Status s = find_kernels(a, m, why);
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
    m->gpu->cuCtxSetCurrent(m->gpu->context);
    for (int i = 0; i < m->func->params.n; i++)
        release(m->gpu, &m->tensor[i]);
    for (int i = 0; i < m->func->workspaces.n; i++)
        release(m->gpu, &m->work[i]);
    release(m->gpu, &m->grid);
    if (m->module)
        m->gpu->cuModuleUnload(m->module);
    m->module = NULL;
}

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct {
    GpuModule *m;
    CuPointer *tensor; /* by parameter */
    char *text;
    size_t ntext;
} GpuCall;

static Status reserve(GpuCall *q, DeviceMemory *d, int64_t nbytes, bool zero)
{
    Gpu *g = q->m->gpu;

    if (nbytes <= d->nbytes)
        return STATUS_OK;
    release(g, d);
    int r = g->cuMemAlloc(&d->at, (size_t)nbytes);
    if (r == 0 && zero)
        r = g->cuMemsetD8(d->at, 0, (size_t)nbytes);
    if (r != 0)
        return failed(g, r, "memory on the GPU", q->text, q->ntext);
    d->nbytes = nbytes;
    return STATUS_OK;
}

static bool is_on_device(Gpu *g, const void *p)
{
    unsigned type = 0;
    return g->cuPointerGetAttribute(&type, MEMORY_TYPE, (CuPointer)(uintptr_t)p) == 0 &&
           type == MEMORY_DEVICE;
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

static Status copy_in(GpuCall *q, const SimArg *args)
{
    Gpu *g = q->m->gpu;
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf)
            continue;
        CuPointer from = (CuPointer)(uintptr_t)args[i].data;
        bool there = is_on_device(g, args[i].data);
        if (there && from % WIDEST == 0) {
            q->tensor[i] = from;
            continue;
        }
        int64_t n = span_bytes(&args[i]);
        Status s = reserve(q, &q->m->tensor[i], MAX(n, 1), false);
        if (s != STATUS_OK)
            return s;
        CuPointer to = q->tensor[i] = q->m->tensor[i].at;
        int r = n == 0  ? 0
                : there ? g->cuMemcpyDtoD(to, from, (size_t)n)
                        : g->cuMemcpyHtoD(to, args[i].data, (size_t)n);
        if (r != 0)
            return failed(g, r, "copying to the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static Status copy_out(GpuCall *q, const SimArg *args, const uint8_t *use)
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
            return failed(g, r, "copying from the GPU", q->text, q->ntext);
    }
    return STATUS_OK;
}

static void set_values(GpuModule *m, const Binding1 *b)
{
    Func *f = m->func;
    int n = f->dims.n;

    for (int i = 0; i < f->dims.n; i++)
        m->value[f->dims.at[i]->id] = b->value[i];
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].var)
            m->value[f->params.at[i].var->id] = b->value[n++];
}

static Status make_workspaces(GpuCall *q)
{
    Func *f = q->m->func;

    for (int i = 0; i < f->workspaces.n; i++) {
        const Buffer *b = f->workspaces.at[i];
        int64_t n = 1;
        for (int d = 0; d < b->rank; d++)
            n *= expr_eval(b->shape[d], q->m->value);
        Status s = reserve(q, &q->m->work[i], dtype_bytes(b->type, n) + 64, true);
        if (s != STATUS_OK)
            return s;
    }
    return STATUS_OK;
}

/* ---- launches -------------------------------------------------------------------------------- */

typedef union {
    CuPointer p;
    int64_t i;
    float f;
    double d;
} Slot;

static CuPointer pointer_of(GpuCall *q, const Buffer *b)
{
    Func *f = q->m->func;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf == b)
            return q->tensor[i];
    for (int i = 0; i < f->workspaces.n; i++)
        if (f->workspaces.at[i] == b)
            return q->m->work[i].at;
    BUG(true, "'%s' is no parameter", b->name);
}

/* Little-endian, so an int64 is also each narrower integer. */
static Slot value_slot(const GpuModule *m, const Var *v)
{
    Slot s = {.i = m->value[v->id]};
    double d;

    if (dtype_is_float(v->type)) {
        memcpy(&d, &s.i, sizeof d);
        if (v->type == DT_F64)
            s.d = d;
        else
            s.f = (float)d;
    }
    return s;
}

static Status launch_kernel_at(GpuCall *q, const Kernel *k, CuHandle f)
{
    Gpu *g = q->m->gpu;
    unsigned grid[3] = {1, 1, 1};
    enum { ARGS_MOST = 256 };
    Slot slot[ARGS_MOST];
    void *params[ARGS_MOST];
    int n = k->launch.args.n;

    for (int d = 0; d < k->ngrid; d++) {
        int64_t e = expr_eval(k->grid[d], q->m->value);
        if (e <= 0)
            return STATUS_OK;
        if (e > (d ? GRID_YZ_MOST : INT32_MAX) || n > ARGS_MOST) {
            snprintf(q->text, q->ntext,
                     "the grid of '%s' is %lld blocks in dimension %d; a GPU takes %d "
                     "[grid-too-large]",
                     k->launch.symbol, (long long)e, d, d ? GRID_YZ_MOST : INT32_MAX);
            return STATUS_USER;
        }
        grid[d] = (unsigned)e;
    }
    for (int i = 0; i < n; i++) {
        const KernelArg *a = &k->launch.args.at[i];
        slot[i] = a->buf   ? (Slot){.p = pointer_of(q, a->buf)}
                  : a->var ? value_slot(q->m, a->var)
                           : (Slot){.p = q->m->grid.at};
        params[i] = &slot[i];
    }
    unsigned t[3] = {(unsigned)MAX(k->threads[0], 1), (unsigned)MAX(k->threads[1], 1),
                     (unsigned)MAX(k->threads[2], 1)};
    unsigned shared = (unsigned)k->launch.shared_bytes;
    int r = k->launch.together ? g->cuLaunchCooperativeKernel(f, grid[0], grid[1], grid[2], t[0],
                                                              t[1], t[2], shared, NULL, params)
                               : g->cuLaunchKernel(f, grid[0], grid[1], grid[2], t[0], t[1], t[2],
                                                   shared, NULL, params, NULL);
    return r ? failed(g, r, k->launch.symbol, q->text, q->ntext) : STATUS_OK;
}

static Status host_stmt(GpuCall *q, const Stmt *s);

static Status host_launch(GpuCall *q, const Kernel *k)
{
    Func *f = q->m->func;
    Status s = k->launch.together ? reserve(q, &q->m->grid, sizeof(uint32_t), true) : STATUS_OK;

    for (int i = 0; i < f->kernels.n && s == STATUS_OK; i++)
        if (f->kernels.at[i] == k)
            return launch_kernel_at(q, k, q->m->kernel[i]);
    return s;
}

static Status host_assert(GpuCall *q, const Stmt *s)
{
    if (expr_eval(s->u.check.cond, q->m->value))
        return STATUS_OK;
    snprintf(q->text, q->ntext, "%s:%d: assertion failed%s%s", s->span.src ? s->span.src->name : "",
             s->span.line, s->u.check.text ? ": " : "", s->u.check.text ? s->u.check.text : "");
    return STATUS_USER;
}

static Status host_for(GpuCall *q, const Stmt *s)
{
    int64_t min = expr_eval(s->u.loop.min, q->m->value),
            n = expr_eval(s->u.loop.extent, q->m->value);
    Status st = STATUS_OK;

    for (int64_t i = 0; i < n && st == STATUS_OK; i++) {
        q->m->value[s->u.loop.var->id] = min + i;
        st = host_stmt(q, s->u.loop.body);
    }
    return st;
}

static Status host_stmt(GpuCall *q, const Stmt *s)
{
    Status st = STATUS_OK;

    if (!s)
        return st;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n && st == STATUS_OK; i++)
            st = host_stmt(q, s->u.block.list[i]);
        return st;
    case ST_LAUNCH:
        return host_launch(q, s->u.launch.kernel);
    case ST_ASSERT:
        return host_assert(q, s);
    case ST_FOR:
        return host_for(q, s);
    case ST_IF:
        return host_stmt(q, expr_eval(s->u.branch.cond, q->m->value) ? s->u.branch.then
                                                                     : s->u.branch.orelse);
    case ST_LET:
        if (!dtype_is_float(s->u.let.var->type)) {
            q->m->value[s->u.let.var->id] = expr_eval(s->u.let.value, q->m->value);
            return st;
        }
        break;
    default:
        break;
    }
    snprintf(q->text, q->ntext,
             "line %d: this statement cannot run on the host of a GPU [host-statement]",
             s->span.line);
    return STATUS_TARGET;
}

static Status run_body(GpuCall *q)
{
    Func *f = q->m->func;
    Status s = STATUS_OK;

    if (f->body)
        return host_stmt(q, f->body);
    for (int i = 0; i < f->kernels.n && s == STATUS_OK; i++)
        s = host_launch(q, f->kernels.at[i]);
    return s;
}

static Status run_timed(GpuCall *q, int warmup, int reps, double *seconds)
{
    Gpu *g = q->m->gpu;
    CuHandle from = NULL, to = NULL;
    Status s = STATUS_OK;
    float ms = 0;

    g->cuEventCreate(&from, 0);
    g->cuEventCreate(&to, 0);
    for (int i = -warmup; i < reps && s == STATUS_OK; i++) {
        g->cuEventRecord(from, NULL);
        s = run_body(q);
        g->cuEventRecord(to, NULL);
        if (i < 0 || s != STATUS_OK)
            continue;
        g->cuEventSynchronize(to);
        g->cuEventElapsedTime(&ms, from, to);
        seconds[i] = ms * 1e-3;
    }
    g->cuEventDestroy(from);
    g->cuEventDestroy(to);
    return s;
}

Status gpu_run(GpuModule *m, const SimArg *args, int narg, const Binding1 *b, const uint8_t *use,
               int warmup, int reps, double *seconds, char *text, size_t ntext)
{
    enum { PARAMS_MOST = 256 };
    CuPointer tensor[PARAMS_MOST] = {0};
    GpuCall q = {m, tensor, text, ntext};

    text[0] = 0;
    if (narg > PARAMS_MOST) {
        snprintf(text, ntext, "%d parameters; a GPU kernel takes %d [argument-count]", narg,
                 PARAMS_MOST);
        return STATUS_USER;
    }
    m->gpu->cuCtxSetCurrent(m->gpu->context);
    set_values(m, b);
    Status s = copy_in(&q, args);
    if (s == STATUS_OK)
        s = make_workspaces(&q);
    if (s == STATUS_OK)
        s = seconds ? run_timed(&q, warmup, reps, seconds) : run_body(&q);
    int r = s == STATUS_OK ? m->gpu->cuCtxSynchronize() : 0;
    if (r != 0)
        s = failed(m->gpu, r, m->func->name, text, ntext);
    return s == STATUS_OK ? copy_out(&q, args, use) : s;
}
