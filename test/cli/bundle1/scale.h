/* scale.h -- a tile kernel, made by tilelang 0.1.15.
 *
 *   A          bfloat16(m, n), read
 *   s          float32
 *   C          float32(m, n), written
 *   m          a dimension
 *   n          a dimension
 *
 * Tensors are row-major and contiguous unless declared with strides.  Types C does not
 * have (float16, bfloat16, float8) are their bits.  Returns 0, or 1 with a text at
 * scale_error().  May be called from several threads; runs take turns. */
#ifndef TL_BUNDLE_scale_H
#define TL_BUNDLE_scale_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int scale(const uint16_t *A, float s, float *C, int64_t m, int64_t n);
void scale_set_threads(int n); /* 0: all cores */
const char *scale_error(void);   /* of this thread's last call */
const char *scale_level(void);   /* the code that was chosen */

#ifdef __cplusplus
}
#endif
#endif
