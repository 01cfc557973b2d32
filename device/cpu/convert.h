/* convert.h -- conversions between f32 and narrow floats, for emitted CPU code.

   Every function is branch free and works on bits, so that a loop over it vectorises. Rounding is
   to nearest, ties to even. Casts to fp8 and fp4 saturate to the largest finite value (infinities
   too); casts to f16 and bf16 overflow to infinity. A NaN stays one where the format has one; fp6 and
   fp4 have none and give the largest finite value. */
#ifndef TL_CONVERT_H
#define TL_CONVERT_H

#include <stdint.h>

static inline uint32_t tl_bits_f32(float x)
{
    uint32_t u;
    __builtin_memcpy(&u, &x, 4);
    return u;
}

static inline float tl_f32_bits(uint32_t u)
{
    float x;
    __builtin_memcpy(&x, &u, 4);
    return x;
}

/* mask is all ones or all zeros */
static inline uint32_t tl_pick(uint32_t mask, uint32_t a, uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

static inline uint32_t tl_mask(int condition)
{
    return -(uint32_t)condition;
}

/* Round |x| given by its bits to a format with `mant` mantissa bits whose smallest normal is
   2^emin. Returns the bits of the rounded value as f32. Denormals of the format are made by adding
   a constant whose last place is theirs, so the processor's rounding does the work. */
static inline uint32_t tl_round_to(uint32_t mag, int mant, int emin)
{
    const int drop = 23 - mant;
    const uint32_t odd = (mag >> drop) & 1;
    const uint32_t normal = (mag + ((1u << (drop - 1)) - 1) + odd) & ~((1u << drop) - 1);
    const float magic = tl_f32_bits((uint32_t)(emin - mant + 23 + 127) << 23);
    const uint32_t small = tl_bits_f32((tl_f32_bits(mag) + magic) - magic);
    return tl_pick(tl_mask(mag < (uint32_t)(emin + 127) << 23), small, normal);
}

/* Bits of a rounded non-negative f32 -> bits of the narrow format, exponent bias `bias`. */
static inline uint32_t tl_shrink(uint32_t mag, int mant, int bias)
{
    const int emin = 1 - bias;
    const uint32_t normal = (mag - ((uint32_t)(127 - bias) << 23)) >> (23 - mant);
    const float scale = tl_f32_bits((uint32_t)(mant - emin + 127) << 23);
    const uint32_t least = (uint32_t)(emin + 127) << 23;
    const uint32_t low = mag < least ? mag : least;
    const uint32_t small = (uint32_t)(int32_t)(tl_f32_bits(low) * scale);
    return mag < least ? small : normal;
}

/* Bits of the narrow format without sign -> f32; exact. Denormals are read as an integer. */
static inline float tl_grow(uint32_t bits, int mant, int bias)
{
    const int emin = 1 - bias;
    const float scale = tl_f32_bits((uint32_t)(emin - mant + 127) << 23);
    const float small = (float)(int32_t)bits * scale;
    const float normal = tl_f32_bits((bits << (23 - mant)) + ((uint32_t)(127 - bias) << 23));
    return bits < (1u << mant) ? small : normal;
}

#define TL_MAG 0x7fffffffu
#define TL_INF 0x7f800000u

/* --- f16, bf16, tf32 ------------------------------------------------------------------------- */

static inline uint16_t tl_f32_to_f16(float x)
{
    const uint32_t u = tl_bits_f32(x), mag = u & TL_MAG;
    const uint32_t r = tl_round_to(mag, 10, -14);
    uint32_t h = tl_shrink(r, 10, 15);
    h = r >= 0x47800000u ? 0x7c00u : h;
    h = mag > TL_INF ? 0x7e00u | (mag >> 13 & 0x1ffu) : h;
    return (uint16_t)(h | (u >> 16 & 0x8000u));
}

static inline float tl_f16_to_f32(uint16_t h)
{
    const uint32_t mag = h & 0x7fffu;
    const uint32_t u = tl_bits_f32(tl_grow(mag, 10, 15));
    const uint32_t big = TL_INF | mag << 13;
    return tl_f32_bits((mag >= 0x7c00u ? big : u) | (uint32_t)(h & 0x8000u) << 16);
}

static inline uint16_t tl_f32_to_bf16(float x)
{
    const uint32_t u = tl_bits_f32(x);
    const uint32_t r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & TL_MAG) > TL_INF ? u >> 16 | 0x40u : r);
}

static inline float tl_bf16_to_f32(uint16_t h)
{
    return tl_f32_bits((uint32_t)h << 16);
}

/* The value a tensor core sees: 10 mantissa bits, as f32. */
static inline float tl_f32_to_tf32(float x)
{
    const uint32_t u = tl_bits_f32(x);
    const uint32_t r = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
    return tl_f32_bits((u & TL_MAG) >= TL_INF ? u : r);
}

/* --- fp8 ------------------------------------------------------------------------------------- */

/* Common part: magnitude bits of the narrow format, saturated at `max`; `nan` where x is one. */
static inline uint32_t tl_narrow(float x, int mant, int bias, uint32_t max, uint32_t nan)
{
    const uint32_t mag = tl_bits_f32(x) & TL_MAG;
    const uint32_t cut = mag < 0x4f000000u ? mag : 0x4f000000u;
    const uint32_t n = tl_shrink(tl_round_to(cut, mant, 1 - bias), mant, bias);
    const uint32_t s = n < max ? n : max;
    return mag > TL_INF ? nan : s;
}

static inline uint32_t tl_sign8(float x)
{
    return tl_bits_f32(x) >> 24 & 0x80u;
}

static inline uint8_t tl_f32_to_e4m3fn(float x)
{
    return (uint8_t)(tl_narrow(x, 3, 7, 0x7e, 0x7f) | tl_sign8(x));
}

static inline uint8_t tl_f32_to_e5m2(float x)
{
    return (uint8_t)(tl_narrow(x, 2, 15, 0x7b, 0x7f) | tl_sign8(x));
}

static inline uint8_t tl_f32_to_e3m4(float x)
{
    return (uint8_t)(tl_narrow(x, 4, 3, 0x6f, 0x78) | tl_sign8(x));
}

/* The fnuz formats have one zero, and their only NaN where the other would be. */
static inline uint8_t tl_fnuz(float x, uint32_t mag)
{
    return (uint8_t)(mag | (mag ? tl_sign8(x) : 0));
}

static inline uint8_t tl_f32_to_e4m3fnuz(float x)
{
    return tl_fnuz(x, tl_narrow(x, 3, 8, 0x7f, 0x80));
}

static inline uint8_t tl_f32_to_e5m2fnuz(float x)
{
    return tl_fnuz(x, tl_narrow(x, 2, 16, 0x7f, 0x80));
}

static inline uint8_t tl_f32_to_e4m3b11fnuz(float x)
{
    return tl_fnuz(x, tl_narrow(x, 3, 11, 0x7f, 0x80));
}

static inline float tl_widen(uint32_t b, int mant, int bias, uint32_t special, uint32_t nan)
{
    const uint32_t mag = b & 0x7f;
    const uint32_t u = tl_bits_f32(tl_grow(mag, mant, bias));
    return tl_f32_bits((mag >= special ? nan : u) | (b & 0x80u) << 24);
}

static inline float tl_e4m3fn_to_f32(uint8_t b)
{
    return tl_widen(b, 3, 7, 0x7f, 0x7fc00000u);
}

static inline float tl_e5m2_to_f32(uint8_t b)
{
    return tl_widen(b, 2, 15, 0x7c, (b & 3) ? 0x7fc00000u : TL_INF);
}

static inline float tl_e3m4_to_f32(uint8_t b)
{
    return tl_widen(b, 4, 3, 0x70, (b & 15) ? 0x7fc00000u : TL_INF);
}

static inline float tl_e4m3fnuz_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_widen(b, 3, 8, 0x80, 0));
    return tl_f32_bits(b == 0x80 ? 0x7fc00000u : u);
}

static inline float tl_e5m2fnuz_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_widen(b, 2, 16, 0x80, 0));
    return tl_f32_bits(b == 0x80 ? 0x7fc00000u : u);
}

static inline float tl_e4m3b11fnuz_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_widen(b, 3, 11, 0x80, 0));
    return tl_f32_bits(b == 0x80 ? 0x7fc00000u : u);
}

/* --- scales, fp6 and fp4 -------------------------------------------------------------------------- */

/* e8m0 is 2^(b - 127) and NaN at 255; it has no sign and no zero. The nearest power of two by
   value, 1.5 going to the even exponent; zero and what is below the range give 2^-127, what is
   negative NaN. */
static inline uint8_t tl_f32_to_e8m0(float x)
{
    const uint32_t mag = tl_bits_f32(x) & TL_MAG;
    const uint32_t exponent = mag >> 23;
    const uint32_t half = exponent ? 0x400000u : 0x600000u;
    const uint32_t part = mag & 0x7fffffu;
    const uint32_t up = part > half || (part == half && exponent & 1);
    const uint32_t e = exponent + up;
    const uint32_t s = e < 254 ? e : 254;
    return (uint8_t)(mag > TL_INF || (mag && mag != tl_bits_f32(x)) ? 255u : s);
}

static inline float tl_e8m0_to_f32(uint8_t b)
{
    const uint32_t u = b ? (uint32_t)b << 23 : 0x400000u;
    return tl_f32_bits(b == 255 ? 0x7fc00000u : u);
}

/* 1 for what is negative; a NaN has no sign. */
static inline uint32_t tl_below(float x)
{
    const uint32_t u = tl_bits_f32(x);
    return (u & TL_MAG) > TL_INF ? 0 : u >> 31;
}

/* A byte each: sign in bit 5, no infinity, no NaN. */
static inline uint8_t tl_f32_to_e2m3(float x)
{
    return (uint8_t)(tl_narrow(x, 3, 1, 0x1f, 0x1f) | tl_below(x) << 5);
}

static inline float tl_e2m3_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_grow(b & 0x1fu, 3, 1));
    return tl_f32_bits(u | (uint32_t)(b & 0x20u) << 26);
}

static inline uint8_t tl_f32_to_e3m2(float x)
{
    return (uint8_t)(tl_narrow(x, 2, 3, 0x1f, 0x1f) | tl_below(x) << 5);
}

static inline float tl_e3m2_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_grow(b & 0x1fu, 2, 3));
    return tl_f32_bits(u | (uint32_t)(b & 0x20u) << 26);
}

static inline uint8_t tl_f32_to_e2m1(float x)
{
    return (uint8_t)(tl_narrow(x, 1, 1, 7, 7) | tl_below(x) << 3);
}

static inline float tl_e2m1_to_f32(uint8_t b)
{
    const uint32_t u = tl_bits_f32(tl_grow(b & 7u, 1, 1));
    return tl_f32_bits(u | (uint32_t)(b & 8u) << 28);
}

#endif
