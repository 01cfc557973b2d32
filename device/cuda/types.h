/* types.h -- stands at the head of every emitted CUDA file.  The other files of this folder are
 * pasted function by function, as far as the kernels use them. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;

#define TL_DEVICE static __device__ __forceinline__
