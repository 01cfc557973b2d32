/* types.h -- stands at the head of every emitted OpenCL file.  The other files of this folder are
 * pasted function by function, as far as the kernels use them. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;

#define TL_DEVICE static inline __attribute__((always_inline))
#define TL_LOCAL(name, bytes) __local uchar name[bytes] __attribute__((aligned(128)))
#define TL_FLAG , __global volatile int *tl_failed
#define TL_FLAG_ALONE __global volatile int *tl_failed
#define TL_FAIL(number) (*tl_failed = (number))
