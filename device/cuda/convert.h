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

TL_DEVICE uint32_t tl_pack_f16(float low, float high)
{
    return (uint32_t)tl_f32_to_f16(low) | (uint32_t)tl_f32_to_f16(high) << 16;
}
