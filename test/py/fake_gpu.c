/* fake_gpu.c -- a driver, a run-time compiler and tensors of a GPU that is not there.
 *
 * Built as libcuda.so.1 and as libnvrtc.so.13.  Launches are written down; nothing is computed.
 * Tensors are objects told to fake_tensor by their address, handed out through DLPack's table. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was launched ----------------------------------------------------------------------- */

long fake_launches, fake_stream, fake_now; /* fake_now: the current stream */
unsigned fake_grid;
uint64_t fake_args[8];
int fake_result;                           /* of the next launches */

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
    (void)f, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
    if (fake_result)
        return fake_result;
    fake_launches++;
    fake_stream = (long)(intptr_t)stream;
    fake_grid = gx;
    for (int i = 0; i < 8 && params[i]; i++)
        memcpy(&fake_args[i], params[i], 8);
    return 0;
}

/* ---- the rest of the driver ------------------------------------------------------------------ */

static void *current;

#define FAKE(name, arguments, ...)                                                                 \
    int name arguments;                                                                            \
    int name arguments                                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return 0;                                                                                  \
    }
#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

static int fact(int attribute)
{
    return attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? 227 << 10 : 1024;
}

FAKE(cuDeviceGetCount, (int *n), *n = 2)
FAKE(cuDeviceGet, (int *device, int ordinal), *device = ordinal)
FAKE(cuDeviceGetName, (char *name, int n, int device), snprintf(name, (size_t)n, "fake %d", device))
FAKE(cuDeviceGetAttribute, (int *v, int attribute, int device), (void)device, *v = fact(attribute))
FAKE(cuGetErrorString, (int r, const char **text), (void)r, *text = "made up")
FAKE(cuGetErrorName, (int r, const char **name), (void)r, *name = "FAKE_ERROR")
FAKE(cuDriverGetVersion, (int *version), *version = 13000)
FAKE(cuDevicePrimaryCtxRetain, (void **c, int device), (void)device, *c = &current)
FAKE(cuCtxGetCurrent, (void **c), *c = current)
FAKE(cuCtxSetCurrent, (void *c), current = c)
FAKE(cuCtxGetDevice, (int *device), *device = 0)
FAKE(cuModuleLoadData, (void **m, const void *image), (void)image, *m = &current)
FAKE(cuModuleGetFunction, (void **f, void *m, const char *name), (void)m, (void)name, *f = &current)
FAKE(cuMemAlloc_v2, (unsigned long long *p, size_t n), *p = (uintptr_t)calloc(1, n))
FAKE(cuPointerGetAttributes, (unsigned n, int *which, void **v, unsigned long long p), (void)n,
     (void)which, *(unsigned *)v[0] = 2, *(int *)v[1] = (int)(p >> 40))
NOTHING(cuInit) NOTHING(cuCtxSynchronize) NOTHING(cuModuleLoadDataEx) NOTHING(cuModuleUnload)
NOTHING(cuModuleGetGlobal_v2) NOTHING(cuFuncSetAttribute) NOTHING(cuFuncGetAttribute)
NOTHING(cuMemFree_v2) NOTHING(cuMemsetD8Async) NOTHING(cuMemcpyHtoD_v2) NOTHING(cuMemcpyDtoH_v2)
NOTHING(cuMemcpyDtoD_v2) NOTHING(cuStreamCreate) NOTHING(cuStreamDestroy_v2)
NOTHING(cuStreamSynchronize) NOTHING(cuStreamBeginCapture_v2) NOTHING(cuStreamEndCapture)
NOTHING(cuThreadExchangeStreamCaptureMode) NOTHING(cuGraphLaunch) NOTHING(cuGraphExecDestroy)
NOTHING(cuGraphDestroy) NOTHING(cuEventCreate) NOTHING(cuEventDestroy_v2) NOTHING(cuEventRecord)
NOTHING(cuEventSynchronize) NOTHING(cuEventElapsedTime) NOTHING(cuLaunchCooperativeKernel)

/* ---- the run-time compiler ------------------------------------------------------------------- */

FAKE(nvrtcVersion, (int *major, int *minor), *major = 13, *minor = 0)
FAKE(nvrtcCreateProgram, (void **p), *p = &current)
FAKE(nvrtcGetProgramLogSize, (void *p, size_t *n), (void)p, *n = 1)
FAKE(nvrtcGetProgramLog, (void *p, char *log), (void)p, log[0] = 0)
FAKE(nvrtcGetCUBINSize, (void *p, size_t *n), (void)p, *n = 4)
FAKE(nvrtcGetCUBIN, (void *p, char *cubin), (void)p, memcpy(cubin, "fake", 4))
FAKE(nvrtcGetPTXSize, (void *p, size_t *n), (void)p, *n = 5)
FAKE(nvrtcGetPTX, (void *p, char *ptx), (void)p, memcpy(ptx, "fake", 5))
NOTHING(nvrtcDestroyProgram) NOTHING(nvrtcCompileProgram)
const char *nvrtcGetErrorString(int r);
const char *nvrtcGetErrorString(int r)
{
    (void)r;
    return "made up";
}

/* ---- tensors --------------------------------------------------------------------------------- */

typedef struct {
    void *data;
    int32_t device_type, device, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} Tensor;

enum { MOST = 64 };
static struct {
    void *object;
    Tensor t;
    int64_t shape[8], stride[8];
} kept[MOST];

void fake_tensor(void *object, const Tensor *t);
void fake_tensor(void *object, const Tensor *t)
{
    for (int i = 0; i < MOST; i++)
        if (!kept[i].object || kept[i].object == object) {
            kept[i].object = object;
            kept[i].t = *t;
            memcpy(kept[i].shape, t->shape, (size_t)t->ndim * 8);
            memcpy(kept[i].stride, t->strides, (size_t)t->ndim * 8);
            kept[i].t.shape = kept[i].shape;
            kept[i].t.strides = kept[i].stride;
            return;
        }
}

static int tensor(void *object, Tensor *out)
{
    for (int i = 0; i < MOST && kept[i].object; i++)
        if (kept[i].object == object) {
            *out = kept[i].t;
            return 0;
        }
    return -1;
}

static int stream(int32_t device_type, int32_t device, void **out)
{
    (void)device_type, (void)device;
    *out = (void *)(intptr_t)fake_now;
    return 0;
}

struct {
    uint32_t major, minor;
    void *previous, *unused[3];
    int (*tensor)(void *object, Tensor *out);
    int (*stream)(int32_t device_type, int32_t device, void **out);
} fake_exchange = {1, 2, NULL, {NULL}, tensor, stream};
