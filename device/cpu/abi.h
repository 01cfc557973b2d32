/* abi.h -- what an emitted kernel and its caller agree on.
 *
 * The entry takes the tensors' data pointers in parameter order, then the values of run-time
 * dimensions and scalars (integers as they are, floats as the bits of a double), then a runtime. */
#include <stdint.h>

typedef struct tl_rt {
    void *ctx;
    /* fn(arg, block, scratch) for block in [0, n); scratch is 64-byte aligned, private to the call. */
    void (*parallel)(void *ctx, int64_t n, void (*fn)(void *arg, int64_t block, char *scratch),
                     void *arg, int64_t scratch_bytes);
    void (*print)(void *ctx, const char *format, ...);
    void (*fail)(void *ctx, const char *text); /* a failed assert; the run reports it */
    void *(*workspace)(void *ctx, int slot, int64_t bytes); /* zeroed once, kept between runs */
    int (*failed)(void *ctx);
} tl_rt;

typedef struct tl_frame {
    void *const *tensor;
    const int64_t *value;
    const tl_rt *rt;
    void **work;
} tl_frame;

#define TL_INLINE static inline __attribute__((always_inline, unused))
#define TL_ALIGN __attribute__((aligned(64)))

TL_INLINE double tl_value_double(int64_t bits)
{
    union { int64_t i; double d; } u = {bits};
    return u.d;
}

TL_INLINE int32_t tl_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
TL_INLINE int32_t tl_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
TL_INLINE uint32_t tl_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
TL_INLINE uint32_t tl_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
TL_INLINE int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
TL_INLINE int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
TL_INLINE uint64_t tl_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
TL_INLINE uint64_t tl_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The other operand when one is NaN. */
TL_INLINE float tl_min_f32(float a, float b) { return (a < b) | (b != b) ? a : b; }
TL_INLINE float tl_max_f32(float a, float b) { return (a > b) | (b != b) ? a : b; }
TL_INLINE double tl_min_f64(double a, double b) { return (a < b) | (b != b) ? a : b; }
TL_INLINE double tl_max_f64(double a, double b) { return (a > b) | (b != b) ? a : b; }
