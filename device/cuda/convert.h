/* convert.h -- conversions between f32 and narrow floats by the instructions every GPU here has.
 * Formats without an instruction are converted as on the CPU (device/cpu/convert.h). */

TL_DEVICE uint32_t tl_bits_f32(float x) { return __float_as_uint(x); }
TL_DEVICE float tl_f32_bits(uint32_t u) { return __uint_as_float(u); }

TL_DEVICE float tl_f16_to_f32(uint16_t h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

TL_DEVICE uint16_t tl_f32_to_f16(float x)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

TL_DEVICE uint16_t tl_add_f16(uint16_t a, uint16_t b)
{
    uint16_t r;
    asm("add.rn.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return r;
}

TL_DEVICE uint16_t tl_sub_f16(uint16_t a, uint16_t b)
{
    uint16_t r;
    asm("sub.rn.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return r;
}

TL_DEVICE uint16_t tl_mul_f16(uint16_t a, uint16_t b)
{
    uint16_t r;
    asm("mul.rn.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return r;
}

/* Two halves in one register, the first in the low half. */
TL_DEVICE uint32_t tl_join_f16(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }

TL_DEVICE uint32_t tl_add_f16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

TL_DEVICE uint32_t tl_sub_f16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

TL_DEVICE uint32_t tl_mul_f16x2(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

/* No infinity, no NaN: that is the largest, without a sign. */
TL_DEVICE uint8_t tl_f32_to_e2m1(float x)
{
    const float q = fminf(fabsf(x), 6.0f);
    const uint32_t u = __float_as_uint(q);
    const uint32_t whole = (u + 0x1fffffu + (u >> 22 & 1u)) >> 22; /* exponent, 1 bit of the rest */
    const uint32_t half = __float_as_uint(q * 2.0f + 8388608.0f) & 3u;
    const uint32_t sign = x == x ? __float_as_uint(x) >> 31 << 3 : 0u;
    return (uint8_t)((q < 1.0f ? half : whole - 252u) | sign);
}

/* Its bits are the upper ones of a half that is 2^14 times smaller. */
TL_DEVICE float tl_e2m1_to_f32(uint8_t b)
{
    return tl_f16_to_f32((uint16_t)((b & 7u) << 9 | (b & 8u) << 12)) * 16384.0f;
}

TL_DEVICE uint32_t tl_pack_f16(float low, float high)
{
    return (uint32_t)tl_f32_to_f16(low) | (uint32_t)tl_f32_to_f16(high) << 16;
}
