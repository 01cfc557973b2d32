/* driver.h -- the host side of kernels for NVIDIA GPUs, pasted into their bundle: the CUDA driver by
 * dlopen, which parts run here and why others do not, tensor maps, temporaries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long tl_address;
typedef void *tl_handle;
typedef struct {
    _Alignas(64) unsigned char byte[128];
} tl_tensor_map;
typedef struct {
    int id;
    char pad[4];
    union { char room[64]; int on; } value;
} tl_attribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    tl_handle stream;
    tl_attribute *attribute;
    unsigned nattribute;
} tl_config;

#define TL_DRIVER(X)                                                                               \
    X(cuInit, cuInit, (unsigned))                                                                  \
    X(cuGetErrorName, cuGetErrorName, (int, const char **))                                        \
    X(cuDeviceGet, cuDeviceGet, (int *, int))                                                      \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *, int, int))                               \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *))                                             \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (tl_handle *))                                             \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (tl_handle))                                               \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (tl_handle *, int))                      \
    X(cuModuleLoadData, cuModuleLoadData, (tl_handle *, const void *))                             \
    X(cuModuleGetFunction, cuModuleGetFunction, (tl_handle *, tl_handle, const char *))            \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (tl_handle, int, int))                               \
    X(cuMemAlloc, cuMemAlloc_v2, (tl_address *, size_t))                                           \
    X(cuMemsetD8, cuMemsetD8_v2, (tl_address, unsigned char, size_t))                              \
    X(cuLaunchKernelEx, cuLaunchKernelEx, (const tl_config *, tl_handle, void **, void **))

/* Drivers from before CUDA 12.0 have no tensor maps; parts without them run there. */
#define TL_MAY_HAVE(X)                                                                             \
    X(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col,                                            \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *,             \
       const int *, uint32_t, uint32_t, const uint32_t *, int, int, int, int))                     \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled,                                              \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,        \
       const uint32_t *, int, int, int, int))

static struct {
#define X(name, symbol, arguments) int(*name) arguments;
    TL_DRIVER(X) TL_MAY_HAVE(X)
#undef X
    tl_handle context;
    int version; /* of CUDA that the driver knows: 13000 */
    int major, minor, threads, shared, together, cluster;
} tl_cu;

/* A part's code, and what it needs.  only: 1 for sm_90a and the like, which run on one kind of GPU;
 * 2 for sm_100f, a family. */
typedef struct {
    const char *arch;
    int major, minor, only, toolkit, threads, shared, cluster, together, maps;
    const void *binary, *assembly;
} tl_part;

typedef struct {
    tl_handle module;
    tl_address work[64];
    size_t nwork[64];
    int refused;
    char why[400];
} tl_state;

static tl_state *tl_now; /* of the part that runs */

static pthread_mutex_t tl_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char tl_said[400];

static int tl_no(const char *what, int r)
{
    const char *name = NULL;

    if (r && tl_cu.cuGetErrorName)
        tl_cu.cuGetErrorName(r, &name);
    snprintf(tl_said, sizeof tl_said, "%s%s%s", what, r ? ": " : "", r ? name ? name : "error" : "");
    return 1;
}

static void tl_enter(void)
{
    pthread_mutex_lock(&tl_lock);
    tl_said[0] = 0;
}

static void tl_leave(void)
{
    pthread_mutex_unlock(&tl_lock);
}

static int tl_open_driver(void)
{
    static const int which[] = {75, 76, 1, 97, 95, 120};
    int *const fact[] = {&tl_cu.major, &tl_cu.minor, &tl_cu.threads, &tl_cu.shared, &tl_cu.together,
                         &tl_cu.cluster};
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *at;
    int device = 0, r;

    if (!h)
        return tl_no("no CUDA driver here (libcuda.so.1)", 0);
#define X(name, symbol, arguments)                                                                 \
    at = dlsym(h, #symbol);                                                                        \
    if (!at)                                                                                       \
        return tl_no("this CUDA driver has no " #symbol, 0);                                       \
    memcpy(&tl_cu.name, &at, sizeof at);
    TL_DRIVER(X)
#undef X
#define X(name, symbol, arguments)                                                                 \
    at = dlsym(h, #symbol);                                                                        \
    memcpy(&tl_cu.name, &at, sizeof at);
    TL_MAY_HAVE(X)
#undef X
    if ((r = tl_cu.cuInit(0)) || (r = tl_cu.cuDriverGetVersion(&tl_cu.version)) ||
        (r = tl_cu.cuDeviceGet(&device, 0)))
        return tl_no("the GPU cannot be used", r);
    for (int i = 0; i < 6; i++)
        if (tl_cu.cuDeviceGetAttribute(fact[i], which[i], device))
            *fact[i] = 0; /* an older driver does not know it: there is none */
    r = tl_cu.cuDevicePrimaryCtxRetain(&tl_cu.context, device);
    return r ? tl_no("the GPU cannot be used", r) : 0;
}

/* Machine code runs on GPUs of its major version from its own minor one on, PTX on all later ones;
 * code for one kind of GPU on that kind alone. */
static int tl_is_for(const tl_part *p, int as_assembly)
{
    int same = p->major == tl_cu.major, from = tl_cu.minor >= p->minor;

    if (p->only == 1)
        return same && tl_cu.minor == p->minor;
    if (p->only == 2 || !as_assembly)
        return same && from;
    return tl_cu.major > p->major || (same && from);
}

static int tl_load(const tl_part *p, tl_state *s)
{
    int r = 1, old = p->toolkit > tl_cu.version;

    if (p->binary && tl_is_for(p, 0))
        r = tl_cu.cuModuleLoadData(&s->module, p->binary);
    if (r && p->assembly)
        r = tl_cu.cuModuleLoadData(&s->module, p->assembly);
    if (r && old)
        snprintf(s->why, sizeof s->why, "its code was made by CUDA %d.%d and this driver knows CUDA "
                 "%d.%d: a newer driver is needed", p->toolkit / 1000, p->toolkit % 1000 / 10,
                 tl_cu.version / 1000, tl_cu.version % 1000 / 10);
    else if (r) {
        tl_no("it does not load on this GPU", r);
        snprintf(s->why, sizeof s->why, "%s", tl_said);
    }
    return r;
}

/* Whether this GPU has what the part needs; else s->why is a sentence. */
static int tl_has(const tl_part *p, tl_state *s)
{
    char *why = s->why;
    size_t n = sizeof s->why;

    if (!tl_is_for(p, p->assembly != NULL))
        snprintf(why, n, "it is for %s%s; this GPU is sm_%d%d", p->arch,
                 p->only == 1 ? " alone" : p->only ? " and its family" :
                 p->assembly ? " and later" : " and later ones of its generation",
                 tl_cu.major, tl_cu.minor);
    else if (p->shared > 48 << 10 && p->shared > tl_cu.shared)
        snprintf(why, n, "a block needs %d bytes of shared memory; this GPU has %d", p->shared,
                 tl_cu.shared);
    else if (p->threads > tl_cu.threads)
        snprintf(why, n, "a block needs %d threads; this GPU has %d", p->threads, tl_cu.threads);
    else if (p->together && !tl_cu.together)
        snprintf(why, n, "it needs cooperative launches, which this GPU does not have");
    else if (p->cluster > 1 && !tl_cu.cluster)
        snprintf(why, n, "it needs clusters of blocks, which this GPU does not have");
    else if (p->maps && !tl_cu.cuTensorMapEncodeTiled)
        snprintf(why, n, "it needs tensor maps, which this driver (CUDA %d.%d) does not have",
                 tl_cu.version / 1000, tl_cu.version % 1000 / 10);
    else
        return 1;
    return 0;
}

/* 1: the part is loaded and its context current; 0: s->why says what is in the way. */
static int tl_able(const tl_part *p, tl_state *s)
{
    tl_handle now = NULL;

    if (!tl_cu.context && tl_open_driver()) {
        snprintf(s->why, sizeof s->why, "%s", tl_said);
        return 0;
    }
    if (s->refused)
        return 0;
    tl_cu.cuCtxGetCurrent(&now);
    if (now != tl_cu.context)
        tl_cu.cuCtxSetCurrent(tl_cu.context);
    if (!s->module && (!tl_has(p, s) || tl_load(p, s))) {
        s->refused = 1;
        return 0;
    }
    tl_now = s;
    return 1;
}

static int tl_function(tl_handle *f, const char *name, int shared, int cluster)
{
    int r = 0;

    if (*f)
        return 0;
    r = tl_cu.cuModuleGetFunction(f, tl_now->module, name);
    if (!r && shared > 48 << 10)
        r = tl_cu.cuFuncSetAttribute(*f, 8, shared);
    if (!r && cluster > 8)
        r = tl_cu.cuFuncSetAttribute(*f, 14, 1);
    return r ? tl_no(name, r) : 0;
}

/* Zeros; kept between calls. */
__attribute__((unused)) static int tl_workspace(int slot, int64_t nbytes)
{
    size_t n = (size_t)nbytes + 64;
    int r = 0;

    if (n > tl_now->nwork[slot]) {
        r = tl_cu.cuMemAlloc(&tl_now->work[slot], n);
        if (!r)
            r = tl_cu.cuMemsetD8(tl_now->work[slot], 0, n);
        tl_now->nwork[slot] = r ? 0 : n;
    }
    return r ? tl_no("memory on the GPU", r) : 0;
}

__attribute__((unused)) static int tl_starts(const char *name, const void *at, int each)
{
    char what[200];

    if ((uintptr_t)at % (uintptr_t)each == 0)
        return 0;
    snprintf(what, sizeof what, "argument '%.60s' starts at address %p; its kernel needs a multiple "
             "of %d bytes", name, at, each);
    return tl_no(what, 0);
}

/* dim and stride in elements of `bits` bits, dimension 0 the contiguous one. */
__attribute__((unused)) static int tl_map(tl_tensor_map *m, const char *name, const void *address,
                                          int type, int bits, int rank, const int64_t *dim,
                                          const int64_t *stride, const int *box, int swizzle,
                                          const int *walk)
{
    uint64_t n[5], s[5] = {0};
    uint32_t b[5], step[5] = {1, 1, 1, 1, 1};
    int gaps = type == 14, per = bits < 8 && !gaps ? 8 / bits : 1, each = gaps ? 32 : 16, r;
    char what[200];

    memset(m, 0, sizeof *m);
    snprintf(what, sizeof what, "argument '%.60s': its address and strides must be multiples of %d "
             "bytes", name, each);
    for (int d = 0; d < rank; d++) {
        if (dim[d] <= 0)
            return 0;
        n[d] = (uint64_t)(d ? dim[d] : dim[d] / per);
        b[d] = (uint32_t)(d ? box[d] : box[d] / per);
        int64_t bytes = stride[d] * bits / 8;
        if (d && n[d] == 1)
            bytes = (bytes / each + 1) * each;
        if (d && (bytes <= 0 || bytes % each))
            return tl_no(what, 0);
        if (d)
            s[d - 1] = (uint64_t)bytes;
    }
    if ((uintptr_t)address % (uintptr_t)each)
        return tl_no(what, 0);
    if (walk) { /* over the pixels of an image: lower and upper corner, stride */
        const int lower[2] = {walk[0], walk[0]}, upper[2] = {walk[1], walk[1]};
        step[1] = step[2] = (uint32_t)walk[2];
        r = tl_cu.cuTensorMapEncodeIm2col(m, type, (uint32_t)rank, (void *)(uintptr_t)address, n, s,
                                          lower, upper, b[0], b[1], step, 0, swizzle, 3, 0);
    } else {
        r = tl_cu.cuTensorMapEncodeTiled(m, type, (uint32_t)rank, (void *)(uintptr_t)address, n, s,
                                         b, step, 0, swizzle, 3, 0);
    }
    return r ? tl_no(name, r) : 0;
}

static int tl_launch(tl_handle f, const char *name, const int64_t *grid, const int *block,
                     int shared, int early, int together, void *stream, void **params)
{
    tl_attribute attribute[2];
    tl_config c;
    int r;

    memset(attribute, 0, sizeof attribute);
    memset(&c, 0, sizeof c);
    for (int d = 0; d < 3; d++) {
        if (grid[d] <= 0)
            return 0;
        if (grid[d] > (d ? 65535 : 2147483647))
            return tl_no("the grid is too large", 0);
        c.grid[d] = (unsigned)grid[d];
        c.block[d] = (unsigned)block[d];
    }
    c.shared = (unsigned)shared;
    c.stream = stream;
    c.attribute = attribute;
    if (early) {
        attribute[c.nattribute].id = 6;
        attribute[c.nattribute++].value.on = 1;
    }
    if (together) {
        attribute[c.nattribute].id = 2;
        attribute[c.nattribute++].value.on = 1;
    }
    r = tl_cu.cuLaunchKernelEx(&c, f, params, NULL);
    return r ? tl_no(name, r) : 0;
}

