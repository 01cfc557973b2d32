/* cl.h -- the part of OpenCL's interface that kernels are run through; libOpenCL is found by
 * dlopen, so none of its headers is needed.  Names and numbers are those of the specification. */
#ifndef TL_TARGET_OPENCL_RT_CL_H
#define TL_TARGET_OPENCL_RT_CL_H

#include <stddef.h>
#include <stdint.h>

typedef void *ClObject;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,

    CL_TRUE = 1,
    CL_MEM_READ_WRITE = 1,

    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_TYPE_GPU = 1 << 2,
    CL_DEVICE_TYPE_ACCELERATOR = 1 << 3,

    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_SVM_CAPABILITIES = 0x1053,

    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,

    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6,
};

/* X(result, name, arguments) */
#define CL_FUNCTIONS(X)                                                                            \
    X(int32_t, GetPlatformIDs, (uint32_t room, ClObject * platform, uint32_t *n))                  \
    X(int32_t, GetDeviceIDs,                                                                       \
      (ClObject platform, uint64_t type, uint32_t room, ClObject *device, uint32_t *n))            \
    X(int32_t, GetDeviceInfo,                                                                      \
      (ClObject device, uint32_t what, size_t room, void *value, size_t *n))                       \
    X(ClObject, CreateContext,                                                                     \
      (const intptr_t *words, uint32_t n, const ClObject *device,                                  \
       void (*notify)(const char *text, const void *more, size_t nmore, void *arg), void *arg,     \
       int32_t *r))                                                                                \
    X(ClObject, CreateCommandQueue,                                                                \
      (ClObject context, ClObject device, uint64_t words, int32_t *r))                             \
    X(ClObject, CreateProgramWithSource,                                                           \
      (ClObject context, uint32_t n, const char **text, const size_t *length, int32_t *r))         \
    X(int32_t, BuildProgram,                                                                       \
      (ClObject program, uint32_t n, const ClObject *device, const char *options,                  \
       void (*notify)(ClObject program, void *arg), void *arg))                                    \
    X(int32_t, GetProgramBuildInfo,                                                                \
      (ClObject program, ClObject device, uint32_t what, size_t room, void *value, size_t *n))     \
    X(int32_t, ReleaseProgram, (ClObject program))                                                 \
    X(ClObject, CreateKernel, (ClObject program, const char *name, int32_t *r))                    \
    X(int32_t, ReleaseKernel, (ClObject kernel))                                                   \
    X(int32_t, GetKernelWorkGroupInfo,                                                             \
      (ClObject kernel, ClObject device, uint32_t what, size_t room, void *value, size_t *n))      \
    X(int32_t, SetKernelArg, (ClObject kernel, uint32_t i, size_t n, const void *value))           \
    X(int32_t, SetKernelArgSVMPointer, (ClObject kernel, uint32_t i, const void *at))              \
    X(int32_t, SetKernelExecInfo, (ClObject kernel, uint32_t what, size_t n, const void *value))   \
    X(int32_t, EnqueueNDRangeKernel,                                                               \
      (ClObject queue, ClObject kernel, uint32_t rank, const size_t *offset, const size_t *all,    \
       const size_t *group, uint32_t nwait, const ClObject *wait, ClObject *event))                \
    X(int32_t, Finish, (ClObject queue))                                                           \
    X(void *, SVMAlloc, (ClObject context, uint64_t flags, size_t n, uint32_t align))              \
    X(void, SVMFree, (ClObject context, void *at))                                                 \
    X(int32_t, EnqueueSVMMemcpy,                                                                   \
      (ClObject queue, uint32_t blocking, void *to, const void *from, size_t n, uint32_t nwait,    \
       const ClObject *wait, ClObject *event))                                                     \
    X(int32_t, EnqueueSVMMemFill,                                                                  \
      (ClObject queue, void *at, const void *pattern, size_t npattern, size_t n, uint32_t nwait,   \
       const ClObject *wait, ClObject *event))

#endif
