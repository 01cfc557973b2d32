/* sm89.h -- fp8 by instructions, two at a time. */

TL_DEVICE uint8_t tl_f32_to_e4m3fn(float x)
{
    uint16_t r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
    return (uint8_t)r;
}

TL_DEVICE uint8_t tl_f32_to_e5m2(float x)
{
    uint16_t r;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
    return (uint8_t)r;
}

TL_DEVICE uint16_t tl_pack_e4m3fn(float low, float high)
{
    uint16_t r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
}

TL_DEVICE uint16_t tl_pack_e5m2(float low, float high)
{
    uint16_t r;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
}

TL_DEVICE float tl_e4m3fn_to_f32(uint8_t b)
{
    uint32_t r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((uint16_t)b));
    return tl_f16_to_f32((uint16_t)r);
}

TL_DEVICE float tl_e5m2_to_f32(uint8_t b)
{
    uint32_t r;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((uint16_t)b));
    return tl_f16_to_f32((uint16_t)r);
}

/* One of a thread's own array, decoded with its neighbour: one instruction where both are asked for. */
TL_DEVICE float tl_e4m3fn_at(const uint8_t *p, int32_t i)
{
    uint32_t r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(*(const uint16_t *)(p + (i & ~1))));
    return tl_f16_to_f32((uint16_t)(i & 1 ? r >> 16 : r));
}

TL_DEVICE float tl_e5m2_at(const uint8_t *p, int32_t i)
{
    uint32_t r;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(*(const uint16_t *)(p + (i & ~1))));
    return tl_f16_to_f32((uint16_t)(i & 1 ? r >> 16 : r));
}
