/* driver.h -- the host side of a kernel for OpenCL, pasted into its bundle: libOpenCL by dlopen, the program,
 * temporaries.  The stream is a command queue (cl_command_queue); tensors are shared virtual memory of its context
 * (clSVMAlloc).  One context at a time: another one builds the program again. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *tl_handle;

#define TL_DRIVER(X)                                                                               \
    X(int32_t, clGetPlatformIDs, (uint32_t, tl_handle *, uint32_t *))                              \
    X(int32_t, clGetCommandQueueInfo, (tl_handle, uint32_t, size_t, void *, size_t *))             \
    X(int32_t, clGetDeviceInfo, (tl_handle, uint32_t, size_t, void *, size_t *))                   \
    X(tl_handle, clCreateProgramWithSource,                                                        \
      (tl_handle, uint32_t, const char **, const size_t *, int32_t *))                             \
    X(int32_t, clBuildProgram,                                                                     \
      (tl_handle, uint32_t, const tl_handle *, const char *, void (*)(tl_handle, void *), void *)) \
    X(int32_t, clReleaseProgram, (tl_handle))                                                      \
    X(tl_handle, clCreateKernel, (tl_handle, const char *, int32_t *))                             \
    X(int32_t, clSetKernelArg, (tl_handle, uint32_t, size_t, const void *))                        \
    X(int32_t, clSetKernelArgSVMPointer, (tl_handle, uint32_t, const void *))                      \
    X(int32_t, clEnqueueNDRangeKernel,                                                             \
      (tl_handle, tl_handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,   \
       const tl_handle *, tl_handle *))                                                            \
    X(void *, clSVMAlloc, (tl_handle, uint64_t, size_t, uint32_t))                                 \
    X(int32_t, clEnqueueSVMMemFill,                                                                \
      (tl_handle, void *, const void *, size_t, size_t, uint32_t, const tl_handle *, tl_handle *))

static struct {
#define X(result, name, arguments) result(*name) arguments;
    TL_DRIVER(X)
#undef X
    tl_handle library;
} tl_cl;

typedef struct {
    const char *arch, *text;
    const char *args; /* "kernel:pp48 …": p is an address, a digit the bytes of a scalar */
} tl_part;

typedef struct {
    tl_handle context, program;
    int generation; /* of the program: kernels of another one are not its own */
    void *work[64];
    size_t nwork[64];
    char why[400];
} tl_state;

static tl_state *tl_now;      /* of the part that runs */
static const tl_part *tl_own; /* the part */

static pthread_mutex_t tl_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char tl_said[400];

static int tl_no(const char *what, int r)
{
    if (r)
        snprintf(tl_said, sizeof tl_said, "%s: OpenCL error %d", what, r);
    else
        snprintf(tl_said, sizeof tl_said, "%s", what);
    return 1;
}

static int tl_open_driver(void)
{
    const char *name = getenv("TILELANG_OPENCL");
    void *h = dlopen(name && *name ? name : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *at;

    if (!h)
        return tl_no("no libOpenCL here (libOpenCL.so.1)", 0);
#define X(result, name, arguments)                                                                 \
    at = dlsym(h, #name);                                                                          \
    if (!at)                                                                                       \
        return tl_no("this libOpenCL has no " #name, 0);                                           \
    memcpy(&tl_cl.name, &at, sizeof at);
    TL_DRIVER(X)
#undef X
    tl_cl.library = h;
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

/* 1: the part can be tried; 0: s->why says what is in the way. */
static int tl_able(const tl_part *p, tl_state *s)
{
    uint32_t n = 0;

    if (!tl_cl.library && tl_open_driver()) {
        snprintf(s->why, sizeof s->why, "%s", tl_said);
        return 0;
    }
    if (tl_cl.clGetPlatformIDs(0, NULL, &n) || !n) {
        snprintf(s->why, sizeof s->why, "libOpenCL finds no driver");
        return 0;
    }
    tl_now = s;
    tl_own = p;
    return 1;
}

/* The newest language that the device has; quotients and roots rounded once where it can. */
static void tl_options(tl_handle device, char *out, size_t n)
{
    char version[128] = "OpenCL 1";
    uint64_t floats = 0;

    tl_cl.clGetDeviceInfo(device, 0x102F, sizeof version - 1, version, NULL);
    tl_cl.clGetDeviceInfo(device, 0x101B, sizeof floats, &floats, NULL);
    snprintf(out, n, "-cl-std=%s%s", version[7] >= '3' ? "CL3.0" : version[7] == '2' ? "CL2.0" : "CL1.2",
             floats >> 7 & 1 ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    if (!strncmp(tl_own->text, "// options:", 11))
        snprintf(out + strlen(out), n - strlen(out), " %.*s", (int)strcspn(tl_own->text + 11, "\n"), tl_own->text + 11);
}

/* The program for the queue's context and device. */
static int tl_program(tl_handle queue)
{
    tl_handle context = NULL, device = NULL;
    char options[512];
    int32_t r = 0;

    if (!queue)
        return tl_no("the stream is a command queue of OpenCL, and none was given", 0);
    tl_cl.clGetCommandQueueInfo(queue, 0x1090, sizeof context, &context, NULL);
    tl_cl.clGetCommandQueueInfo(queue, 0x1091, sizeof device, &device, NULL);
    if (tl_now->program && tl_now->context == context)
        return 0;
    if (tl_now->program)
        tl_cl.clReleaseProgram(tl_now->program);
    memset(tl_now->work, 0, sizeof tl_now->work); /* they went with their context */
    memset(tl_now->nwork, 0, sizeof tl_now->nwork);
    tl_now->context = context;
    tl_now->generation++;
    tl_now->program = tl_cl.clCreateProgramWithSource(context, 1, (const char **)&tl_own->text, NULL, &r);
    if (!tl_now->program)
        return tl_no("the program", r);
    tl_options(device, options, sizeof options);
    r = tl_cl.clBuildProgram(tl_now->program, 1, &device, options, NULL, NULL);
    if (!r)
        return 0;
    tl_cl.clReleaseProgram(tl_now->program);
    tl_now->program = NULL;
    return tl_no("the device's compiler did not take the text", r);
}

/* Each call of the function has its queue under this name. */
#define tl_workspace(slot, nbytes) tl_workspace_of(stream, slot, nbytes)
#define tl_function(f, name, shared, cluster) tl_function_of(stream, f, name)

typedef struct {
    tl_handle kernel;
    int generation;
} tl_made;

static int tl_function_of(tl_handle queue, tl_handle *f, const char *name)
{
    int32_t r = 0;
    tl_made *m = *f;

    if (tl_program(queue))
        return 1;
    if (!m && !(*f = m = calloc(1, sizeof *m)))
        return tl_no("out of memory", 0);
    if (m->kernel && m->generation == tl_now->generation)
        return 0;
    m->kernel = tl_cl.clCreateKernel(tl_now->program, name, &r);
    m->generation = tl_now->generation;
    return m->kernel ? 0 : tl_no(name, r);
}

/* Zeros; kept between calls. */
__attribute__((unused)) static int tl_workspace_of(tl_handle queue, int slot, int64_t nbytes)
{
    static const unsigned char zero;
    size_t n = (size_t)nbytes + 64;

    if (tl_program(queue))
        return 1;
    if (n <= tl_now->nwork[slot])
        return 0;
    tl_now->work[slot] = tl_cl.clSVMAlloc(tl_now->context, 1, n, 0);
    if (!tl_now->work[slot])
        return tl_no("memory of the device", 0);
    tl_now->nwork[slot] = n;
    int32_t r = tl_cl.clEnqueueSVMMemFill(queue, tl_now->work[slot], &zero, 1, n, 0, NULL, NULL);
    return r ? tl_no("memory of the device", r) : 0;
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

static const char *tl_kinds(const char *name)
{
    size_t n = strlen(name);

    for (const char *s = tl_own->args; *s; s += strcspn(s, " ") + 1)
        if (!strncmp(s, name, n) && s[n] == ':')
            return s + n + 1;
    return "";
}

static int tl_launch(tl_handle f, const char *name, const int64_t *grid, const int *block,
                     int shared, int early, int together, void *stream, void **params)
{
    const char *kind = tl_kinds(name);
    tl_made *m = f;
    size_t all[3], group[3];
    int32_t r = 0;

    (void)shared;
    (void)early;
    (void)together;
    for (int d = 0; d < 3; d++) {
        if (grid[d] <= 0)
            return 0;
        group[d] = (size_t)block[d];
        all[d] = (size_t)grid[d] * group[d];
    }
    for (uint32_t i = 0; params[i] && !r; i++)
        r = kind[i] == 'p' ? tl_cl.clSetKernelArgSVMPointer(m->kernel, i, *(void **)params[i])
                           : tl_cl.clSetKernelArg(m->kernel, i, (size_t)(kind[i] - '0'), params[i]);
    if (!r)
        r = tl_cl.clEnqueueNDRangeKernel(stream, m->kernel, 3, NULL, all, group, 0, NULL, NULL);
    return r ? tl_no(name, r) : 0;
}

