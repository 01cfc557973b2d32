/* driver.h -- the host side of a kernel for AMD GPUs, pasted into its bundle: the HIP runtime by dlopen,
 * the code object, temporaries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *tl_handle;

#define TL_DRIVER(X)                                                                               \
    X(hipInit, (unsigned))                                                                         \
    X(hipDrvGetErrorName, (int, const char **))                                                    \
    X(hipModuleLoadData, (tl_handle *, const void *))                                              \
    X(hipModuleGetFunction, (tl_handle *, tl_handle, const char *))                                \
    X(hipMalloc, (void **, size_t))                                                                \
    X(hipMemset, (void *, int, size_t))                                                            \
    X(hipModuleLaunchKernel, (tl_handle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                              unsigned, unsigned, tl_handle, void **, void **))                    \
    X(hipModuleLaunchCooperativeKernel, (tl_handle, unsigned, unsigned, unsigned, unsigned,        \
                                         unsigned, unsigned, unsigned, tl_handle, void **))

static struct {
#define X(name, arguments) int(*name) arguments;
    TL_DRIVER(X)
#undef X
    tl_handle library;
} tl_hip;

typedef struct {
    const char *arch;
    const void *binary;
} tl_part;

typedef struct {
    tl_handle module;
    void *work[64];
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

    if (r && tl_hip.hipDrvGetErrorName)
        tl_hip.hipDrvGetErrorName(r, &name);
    snprintf(tl_said, sizeof tl_said, "%s%s%s", what, r ? ": " : "", r ? name ? name : "error" : "");
    return 1;
}

/* One that the process has already is the one whose memory callers hold. */
static void *tl_library(void)
{
    static const char *const names[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"};
    const int loaded = 4; /* RTLD_NOLOAD, which strict C hides */
    void *h = NULL;
    int i;

    for (i = 0; i < 4 && !h; i++)
        h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | loaded);
    for (i = 0; i < 5 && !h; i++)
        h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return h;
}

static int tl_open_driver(void)
{
    void *h = tl_library(), *at;
    int r;

    if (!h)
        return tl_no("no HIP runtime here (libamdhip64.so)", 0);
#define X(name, arguments)                                                                         \
    at = dlsym(h, #name);                                                                          \
    if (!at)                                                                                       \
        return tl_no("this HIP runtime has no " #name, 0);                                         \
    memcpy(&tl_hip.name, &at, sizeof at);
    TL_DRIVER(X)
#undef X
    if ((r = tl_hip.hipInit(0)))
        return tl_no("the GPU cannot be used", r);
    tl_hip.library = h;
    return 0;
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

/* 1: the part is loaded; 0: s->why says what is in the way.  A code object is for one architecture,
 * which the runtime knows by itself. */
static int tl_able(const tl_part *p, tl_state *s)
{
    char what[100];
    int r = 0;

    if (!tl_hip.library && tl_open_driver()) {
        snprintf(s->why, sizeof s->why, "%s", tl_said);
        return 0;
    }
    if (s->refused)
        return 0;
    if (!s->module)
        r = tl_hip.hipModuleLoadData(&s->module, p->binary);
    if (r) {
        snprintf(what, sizeof what, "it is for %s alone and does not load on this GPU", p->arch);
        tl_no(what, r);
        snprintf(s->why, sizeof s->why, "%s", tl_said);
        s->refused = 1;
        return 0;
    }
    tl_now = s;
    return 1;
}

/* Shared memory need not be asked for, and there are no clusters. */
static int tl_function(tl_handle *f, const char *name, int shared, int cluster)
{
    int r = *f ? 0 : tl_hip.hipModuleGetFunction(f, tl_now->module, name);

    (void)shared;
    (void)cluster;
    return r ? tl_no(name, r) : 0;
}

/* Zeros; kept between calls. */
__attribute__((unused)) static int tl_workspace(int slot, int64_t nbytes)
{
    size_t n = (size_t)nbytes + 64;
    int r = 0;

    if (n > tl_now->nwork[slot]) {
        r = tl_hip.hipMalloc(&tl_now->work[slot], n);
        if (!r)
            r = tl_hip.hipMemset(tl_now->work[slot], 0, n);
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

static int tl_launch(tl_handle f, const char *name, const int64_t *grid, const int *block,
                     int shared, int early, int together, void *stream, void **params)
{
    unsigned g[3], b[3];
    int r;

    (void)early;
    for (int d = 0; d < 3; d++) {
        if (grid[d] <= 0)
            return 0;
        if (grid[d] * block[d] > 4294967295)
            return tl_no("the grid is too large", 0);
        g[d] = (unsigned)grid[d];
        b[d] = (unsigned)block[d];
    }
    if (together)
        r = tl_hip.hipModuleLaunchCooperativeKernel(f, g[0], g[1], g[2], b[0], b[1], b[2],
                                                    (unsigned)shared, stream, params);
    else
        r = tl_hip.hipModuleLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], (unsigned)shared,
                                         stream, params, NULL);
    return r ? tl_no(name, r) : 0;
}

