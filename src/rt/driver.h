/* driver.h -- what we use of the CUDA driver, declared as it is documented, and what the files of
 * the GPU runtime share: cuda.c, launch.c, tmap.c, gputime.c. */
#ifndef TL_RT_DRIVER_H
#define TL_RT_DRIVER_H

#include "rt/rt.h"

typedef unsigned long long CuPointer;
typedef void *CuHandle;

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct {
    int id;
    char pad[4];
    union {
        char room[64];
        struct { unsigned x, y, z; } dim;
        int on;
    } value;
} CuLaunchAttribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    CuHandle stream;
    CuLaunchAttribute *attribute;
    unsigned nattribute;
} CuLaunchConfig;

/* X(name here, symbol, arguments): all must be there. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuGetErrorString, cuGetErrorString, (int result, const char **text))                         \
    X(cuGetErrorName, cuGetErrorName, (int result, const char **name))                             \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                      \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *n))                                                \
    X(cuDeviceGet, cuDeviceGet, (int *device, int ordinal))                                        \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int n, int device))                           \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, int device))         \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CuHandle * context, int device))        \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (CuHandle * context))                                      \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CuHandle context))                                        \
    X(cuCtxGetDevice, cuCtxGetDevice, (int *device))                                               \
    X(cuCtxSynchronize, cuCtxSynchronize, (void))                                                  \
    X(cuModuleLoadData, cuModuleLoadData, (CuHandle * module, const void *image))                  \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                                      \
      (CuHandle * module, const void *image, unsigned n, int *option, void **value))               \
    X(cuModuleUnload, cuModuleUnload, (CuHandle module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction, (CuHandle * f, CuHandle module, const char *name)) \
    X(cuModuleGetGlobal, cuModuleGetGlobal_v2,                                                     \
      (CuPointer * p, size_t *n, CuHandle module, const char *name))                               \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CuHandle f, int attribute, int value))              \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, CuHandle f))             \
    X(cuMemAlloc, cuMemAlloc_v2, (CuPointer * p, size_t n))                                        \
    X(cuMemFree, cuMemFree_v2, (CuPointer p))                                                      \
    X(cuMemsetD8Async, cuMemsetD8Async,                                                            \
      (CuPointer p, unsigned char value, size_t n, CuHandle stream))                               \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CuPointer to, const void *from, size_t n))                   \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *to, CuPointer from, size_t n))                         \
    X(cuMemcpyDtoD, cuMemcpyDtoD_v2, (CuPointer to, CuPointer from, size_t n))                     \
    X(cuPointerGetAttributes, cuPointerGetAttributes,                                              \
      (unsigned n, int *attribute, void **value, CuPointer p))                                     \
    X(cuStreamCreate, cuStreamCreate, (CuHandle * stream, unsigned flags))                         \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CuHandle stream))                                      \
    X(cuStreamSynchronize, cuStreamSynchronize, (CuHandle stream))                                 \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CuHandle stream, int mode))                  \
    X(cuStreamEndCapture, cuStreamEndCapture, (CuHandle stream, CuHandle * graph))                 \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode))           \
    X(cuGraphLaunch, cuGraphLaunch, (CuHandle exec, CuHandle stream))                              \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (CuHandle exec))                                     \
    X(cuGraphDestroy, cuGraphDestroy, (CuHandle graph))                                            \
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

/* Of newer drivers: NULL where the driver has none. */
#define DRIVER_NEWER(X)                                                                            \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (CuHandle * exec, CuHandle graph, unsigned long long flags))                                 \
    X(cuLaunchKernelEx, cuLaunchKernelEx,                                                          \
      (const CuLaunchConfig *config, CuHandle f, void **params, void **extra))                     \
    X(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col,                                            \
      (void *map, int type, uint32_t rank, void *address, const uint64_t *dim,                     \
       const uint64_t *stride, const int *lower, const int *upper, uint32_t channels,              \
       uint32_t pixels, const uint32_t *step, int interleave, int swizzle, int promotion,          \
       int fill))                                                                                  \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled,                                              \
      (void *map, int type, uint32_t rank, void *address, const uint64_t *dim,                     \
       const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,          \
       int swizzle, int promotion, int fill))

enum {
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY = 209, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    CU_INVALID_PTX = 218,
    CU_SHARED_MOST = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    CU_CLUSTER_ANY = 14, /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    CU_POINTER_TYPE = 2,
    CU_POINTER_ORDINAL = 9,
    CU_MEMORY_DEVICE = 2,
    CU_STREAM_NON_BLOCKING = 1,
    CU_CAPTURE_THREAD = 1, /* of this thread alone */
    CU_CAPTURE_RELAXED = 2,
    CU_LAUNCH_COOPERATIVE = 2, /* CUlaunchAttributeID */
    CU_LAUNCH_CLUSTER = 4,
    CU_LAUNCH_PROGRAMMATIC = 6,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
    SHARED_FREE = 48 << 10, /* more has to be asked for */
    CLUSTER_PORTABLE = 8,   /* blocks of a cluster that every device takes */
    GRID_YZ_MOST = 65535,
    MAP_BYTES = 128,
    MAP_ALIGN = 64,
};

struct Gpu {
    int device;
    CuHandle context;
    GpuFacts facts;
    char name[96];
    char arch[16];
#define X(name, symbol, arguments) int(*name) arguments;
    DRIVER_FUNCTIONS(X)
    DRIVER_NEWER(X)
#undef X
};

const char *gpu_error(const Gpu *g, int r, char *room, size_t n); /* "CUDA_ERROR_…: its text" */
Status gpu_failed(const Gpu *g, int r, const char *what, char *text, size_t ntext);

/* Ours for the time of a call; whoever called us gets his own back. */
CuHandle gpu_enter(const Gpu *g);
void gpu_leave(const Gpu *g, CuHandle before);
/* What a stream in capture forbids (allocating, loading) is allowed between the two. */
int gpu_relax(const Gpu *g);
void gpu_unrelax(const Gpu *g, int before);

typedef struct {
    CuPointer at;
    int64_t nbytes;
} DeviceMemory;

/* ---- tmap.c: tensor maps --------------------------------------------------------------------- */

/* A TensorMap with numbers for its expressions.  As the driver takes it: bytes, dimension 0 left
 * out of the strides. */
typedef struct {
    const TensorMap *map;
    int type;
    bool empty; /* no elements: it stays zero and nobody looks at it */
    uint32_t rank;
    uint64_t dim[5], stride[4];
    uint32_t box[5];
} MapShape;

bool tensor_map_shape(const TensorMap *m, const int64_t *values, MapShape *out, char *text,
                      size_t ntext);
/* The 128 bytes at `out`, which is 64-byte aligned. */
Status tensor_map_encode(const Gpu *g, const MapShape *s, CuPointer at, void *out, char *text,
                  size_t ntext);

/* The last maps by address and shape, so that tensors in use again cost nothing. */
typedef struct MapCache MapCache;
MapCache *map_cache_new(void); /* NULL: out of memory */
void map_cache_free(MapCache *c);
Status tensor_map(MapCache *c, const Gpu *g, const MapShape *s, CuPointer at, void *out, char *text,
               size_t ntext);

/* ---- launch.c: the host part of a function --------------------------------------------------- */

/* All launches of one run, worked out for the values of dimensions and scalars at hand; a launch
 * then only writes addresses into the one block of arguments. */
typedef struct LaunchPlan LaunchPlan;

enum { STREAMS_MOST = 8 };
typedef struct { /* temporaries of one stream: runs in two streams do not share them */
    CuHandle stream;
    DeviceMemory *work; /* by workspace */
    DeviceMemory grid;  /* state of grid syncs */
} StreamMemory;

struct GpuModule {
    Gpu *gpu;
    Func *func;
    CuHandle module;
    CuHandle *kernel;     /* by Func.kernels */
    DeviceMemory *tensor; /* by parameter: copies of host memory */
    StreamMemory stream[STREAMS_MOST];
    int nstream, oldest;
    CuPointer *retired; /* outgrown temporaries: a captured graph may still use them */
    int nretired;
    int64_t *value;     /* by Var id; floats as the bits of a double */
    LaunchPlan *plan;
    MapCache *maps;
};

void plan_free(LaunchPlan *p);
bool gpu_owns(const Gpu *g, CuPointer p, int *ordinal); /* false: memory of the host */

#endif
