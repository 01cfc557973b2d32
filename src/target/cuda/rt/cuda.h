/* cuda.h -- what we use of the CUDA driver, declared as it is documented. */
#ifndef TL_CUDA_RT_H
#define TL_CUDA_RT_H

#include "rt/driver.h"
#include "rt/runtime.h"

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
    Handle stream;
    CuLaunchAttribute *attribute;
    unsigned nattribute;
} CuLaunchConfig;

/* X(name, arguments): those that a Gpu has no place for.  All must be there but the last. */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuDeviceGetCount, (int *n))                                                                  \
    X(cuDeviceGet, (int *device, int ordinal))                                                     \
    X(cuDeviceGetName, (char *name, int n, int device))                                            \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                               \
    X(cuDevicePrimaryCtxRetain, (Handle * context, int device))                                    \
    X(cuCtxGetDevice, (int *device))                                                               \
    X(cuModuleLoadData, (Handle * module, const void *image))                                      \
    X(cuModuleLoadDataEx,                                                                          \
      (Handle * module, const void *image, unsigned n, int *option, void **value))                 \
    X(cuFuncSetAttribute, (Handle f, int attribute, int value))                                    \
    X(cuPointerGetAttributes, (unsigned n, int *attribute, void **value, DevicePtr p))             \
    X(cuLaunchKernel,                                                                              \
      (Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,     \
       unsigned shared, Handle stream, void **params, void **extra))                               \
    X(cuLaunchCooperativeKernel,                                                                   \
      (Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,     \
       unsigned shared, Handle stream, void **params))                                             \
    X(cuLaunchKernelEx, (const CuLaunchConfig *config, Handle f, void **params, void **extra))

/* Not of every driver: NULL where there is none. */
typedef struct {
    int (*im2col)(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                  const uint64_t *stride, const int *lower, const int *upper, uint32_t channels,
                  uint32_t pixels, const uint32_t *step, int interleave, int swizzle, int promotion,
                  int fill);
    int (*tiled)(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                 const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
                 int swizzle, int promotion, int fill);
} CudaMaps;

typedef struct { /* Gpu.own */
    CudaMaps maps;
#define X(name, arguments) int(*name) arguments;
    CUDA_FUNCTIONS(X)
#undef X
} CudaDriver;

enum {
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY = 209, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    CU_SHARED_MOST = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    CU_CLUSTER_ANY = 14, /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    CU_POINTER_TYPE = 2,
    CU_POINTER_ORDINAL = 9,
    CU_MEMORY_DEVICE = 2,
    CU_LAUNCH_COOPERATIVE = 2, /* CUlaunchAttributeID */
    CU_LAUNCH_PROGRAMMATIC = 6,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
    SHARED_FREE = 48 << 10, /* more has to be asked for */
    CLUSTER_PORTABLE = 8,   /* blocks of a cluster that every device takes */
};

/* ---- nvrtc.c: CUDA C to machine code of a GPU ------------------------------------------------ */

typedef struct { int64_t registers, spill_bytes, stack_bytes; } KernelResources; /* -1: not told */

/* libnvrtc: on the loader's path, under CUDA_HOME, CUDA_PATH or /usr/local/cuda, or a wheel of the
 * python3 on PATH.  STATUS_TOOL [no-nvrtc] without one. */
Status nvrtc_find(Arena *a, Compiler *c, const char **why);
Status nvrtc_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why);
/* By an NVRTC 12, for architectures that later ones do not know. */
Status nvrtc12_find(Arena *a, Compiler *c, const char **why);
Status nvrtc12_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why);
/* As runtime.h has them: flags that configs ask for, what the log says, resources of a kernel. */
bool nvrtc_knows(const char *flag);
void nvrtc_wishes(const Func *f, Str *out);
void nvrtc_warn(Arena *a, const Module *m, const TargetSpec *spec,
                void (*tell)(void *arg, const char *text, bool grave), void *arg);
void nvrtc_audit(const Module *m, Kernel *k);
void nvrtc_tell(const Module *m, const TargetSpec *spec, const Kernel *k, Str *out);
const char *const *nvrtc_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                               const char *extra, int *n);
/* STATUS_TOOL with the log at *why when it refuses: then what we emitted is wrong. */
Status nvrtc_run(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                 int nflag, Module *out, const char **why);
/* Of one kernel, out of the log of --ptxas-options=-v; false: not there. */
bool nvrtc_resources(const char *log, const char *kernel, KernelResources *r);
/* sass.c: a known fault of the assembler that stands in this machine code; NULL: none. */
const char *sass_fault(const char *cubin, size_t n);
/* The line of the log that tells of a fault that was avoided.  NULL: none; *n: its length. */
const char *nvrtc_avoided(const char *log, size_t *n);
/* The line of the log with which ptxas says that it could not keep warpgroup MMAs in flight:
 * they wait for each other then.  NULL: it does not; *n: its length. */
const char *nvrtc_serialized(const char *log, size_t *n);

/* ---- map.c: tensor maps ---------------------------------------------------------------------- */

int cuda_map_type(const TensorMap *m); /* CUtensorMapDataType of elements */
bool cuda_map_shape(const TensorMap *m, const int64_t *values, MapShape *out, char *text,
                    size_t ntext);
Status cuda_map_encode(const Gpu *g, const CudaMaps *by, const MapShape *s, DevicePtr at, void *out,
                       char *text, size_t ntext);

/* ---- bundle.c: what follows the first for another text, or a driver of the same shape -------- */

extern const BundleHost cuda_bundle;
extern const unsigned char *const cuda_bundle_text[];
/* text, binary: endings of files. */
void cuda_bundle_part(const TargetBundle *b, const Module *m, const char *text, const char *binary,
                      Str *out);
void cuda_bundle_tell(const TargetBundle *b, const Module *code, Json *j);
/* toolkit: of the code, as drivers count (13000). */
void cuda_bundle_row(const TargetBundle *b, const Module *m, int toolkit, Str *out);
int cuda_bundle_rank(const TargetSpec *s);

/* ---- cuda.c ---------------------------------------------------------------------------------- */

bool cuda_owner(const Gpu *g, DevicePtr p, int *device);
int cuda_launch(const Gpu *g, const DeviceLaunch *l);
Status cuda_map(const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text, size_t ntext);

#endif
