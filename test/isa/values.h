/* values.h -- operands of the hardware fixtures, made the same way by make.py's CUDA C on the
 * device and by test/unit/isa.c.  C and CUDA C.
 *
 *     random(key)   splitmix64 of a key made of row, case, operand and index
 *     exact         floats: integers from -most to most, whose products and sums are exact in any
 *                   order; integers: any bits
 *     general       floats of magnitude 0.5 to 4 with all bits of the mantissa */
#ifndef TL_TEST_ISA_VALUES_H
#define TL_TEST_ISA_VALUES_H

#ifndef FX
#define FX static inline
#endif

typedef unsigned long long FxBits;

/* A number format: bits in memory, of the exponent (0: an integer), of the mantissa. */
typedef struct {
    int bits, ebits, mbits;
} FxType;

FX FxBits fx_random(FxBits key)
{
    FxBits z = key * 0x9e3779b97f4a7c15ull + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

FX FxBits fx_key(int row, int turn, int operand, int index)
{
    return (((FxBits)row * 1024 + (FxBits)turn) * 8 + (FxBits)operand) * 65536 + (FxBits)index;
}

FX FxBits fx_mask(int bits)
{
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

/* An integer from -most to most in the format. */
FX FxBits fx_small(FxType t, FxBits r, int most)
{
    int n = (int)(r % (FxBits)(2 * most + 1)) - most, size = n < 0 ? -n : n, e = 0;
    int field = t.bits - 1 - t.ebits;
    if (n == 0)
        return 0;
    while (size >> (e + 1))
        e++;
    FxBits exponent = (FxBits)((1 << (t.ebits - 1)) - 1 + e) << field;
    FxBits mantissa = field >= e ? (FxBits)(size - (1 << e)) << (field - e)
                                 : (FxBits)(size - (1 << e)) >> (e - field);
    return (n < 0 ? 1ull << (t.bits - 1) : 0) | exponent | mantissa;
}

FX FxBits fx_general(FxType t, FxBits r)
{
    int field = t.bits - 1 - t.ebits;
    FxBits mantissa = (r >> 8 & fx_mask(t.mbits)) << (field - t.mbits);
    FxBits exponent = (FxBits)((1 << (t.ebits - 1)) - 2 + (int)(r % 3)) << field;
    return (r >> 7 & 1) << (t.bits - 1) | exponent | mantissa;
}

FX FxBits fx_value(FxType t, FxBits key, int general, int most)
{
    FxBits r = fx_random(key);
    if (t.ebits == 0)
        return r & fx_mask(t.bits);
    return general ? fx_general(t, r) : fx_small(t, r, most);
}

/* Byte of (row, byte of the row) in a tile of panels of `span` bytes, 16-byte units xored. */
FX int fx_swizzled(int rows, int row, int byte, int span)
{
    int n = span / 16, unit = byte % span / 16;
    if (n > 1)
        unit ^= row * n / 8 % n;
    return byte / span * rows * span + row * span + unit * 16 + byte % 16;
}

/* FNV-1a, 32 bits at a time. */
FX unsigned fx_hash(unsigned h, unsigned word)
{
    return (h ^ word) * 16777619u;
}

#endif
