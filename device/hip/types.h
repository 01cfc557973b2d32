/* types.h -- stands at the head of every emitted HIP file.  The other files of this folder, and
 * those of device/cuda that need no instruction of NVIDIA's, are pasted function by function, as
 * far as the kernels use them.  Nothing is included: clang alone compiles it, and hiprtc, whose own
 * names are shadowed. */
typedef signed char tl_int8;
typedef unsigned char tl_uint8;
typedef short tl_int16;
typedef unsigned short tl_uint16;
typedef int tl_int32;
typedef unsigned int tl_uint32;
typedef long long tl_int64;
typedef unsigned long long tl_uint64;
#define int8_t tl_int8
#define uint8_t tl_uint8
#define int16_t tl_int16
#define uint16_t tl_uint16
#define int32_t tl_int32
#define uint32_t tl_uint32
#define int64_t tl_int64
#define uint64_t tl_uint64
#define intptr_t tl_int64
#ifndef __HIPCC_RTC__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#endif
#undef __launch_bounds__
#define __launch_bounds__(threads, ...) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define TL_DEVICE static __device__ __forceinline__
