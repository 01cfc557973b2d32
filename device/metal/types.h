/* types.h -- stands at the head of every emitted Metal file.  The other files of this folder are
 * pasted function by function, as far as the kernels use them. */
#include <metal_stdlib>
using namespace metal;

#define TL_DEVICE static inline
#define __align__(n) alignas(n)
