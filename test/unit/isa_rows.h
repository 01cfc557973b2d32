/* isa_rows.h -- rows of test/isa/h200.txt, results of hardware, for those who replay them. */
#ifndef TL_TEST_ISA_ROWS_H
#define TL_TEST_ISA_ROWS_H

#include <math.h>
#include "isa/isa.h"
#include "tile_kit.h"
#include "../isa/values.h"

enum { LANES = 32, SAMPLE = 8, SLOTS = 64 };

typedef struct {
    int number, cases, general;
    char name[96];
    const char *words; /* hashes, then samples */
} Row;

static const char *next_word(const char *p, unsigned *word)
{
    char *end;
    *word = (unsigned)strtoul(p, &end, 16);
    CHECK(end != p);
    return end;
}

typedef void Replay(const Row *row);

/* Products without scales, in test/isa/h200.txt: all, but m8n8k4 of sm_70 only where it was asked for there. */
static inline int measured_rows(void)
{
    Arena *a = arena_new();
    const Isa *isa;
    const char *why;
    char *text;
    size_t len;
    int n = 0;

    CHECK(file_read(a, "test/isa/h200.txt", &text, &len, &why) == STATUS_OK);
    for (int i = 0; (isa = mma_row(i)) != NULL; i++)
        n += !strncmp(isa->name, "mma.", 4) && !isa->mma->per && (!isa->has || strstr(text, isa->name));
    arena_free(a);
    return n;
}

/* Of each slot of each lane: what values.h makes it from; copies of an element are alike. */
static inline void own_indices(const Isa *isa, int which, int *index)
{
    LaneMap m = mma_lanes(isa, which);

    for (int lane = 0, k = 0; lane < LANES; lane++)
        for (int s = 0; s < m.extent[LANE_SLOT]; s++, k++) {
            int at[2], slot;
            lane_place(&m, lane, s, at);
            index[k] = lane_holder(&m, at[0], at[1], &slot) * SLOTS;
            index[k] += slot;
        }
}

/* Rows whose name starts with prefix and has `part` in it. */
static void each_row(const char *prefix, const char *part, int want, Replay *replay)
{
    Arena *a = arena_new();
    char *text;
    const char *why;
    size_t len;
    int n = 0;

    CHECK(file_read(a, "test/isa/h200.txt", &text, &len, &why) == STATUS_OK);
    for (char *line = strstr(text, "\nrow "); line; line = strstr(line + 1, "\nrow ")) {
        Row r;
        CHECK(sscanf(line, "\nrow %d %95s %d %d", &r.number, r.name, &r.cases, &r.general) == 4);
        if (strncmp(r.name, prefix, strlen(prefix)) || !strstr(r.name, part))
            continue;
        r.words = strchr(line + 1, '\n');
        if (TEST_SHARE > 1) {
            r.cases = (r.cases + TEST_SHARE - 1) / TEST_SHARE;
            r.general = 0;
        }
        replay(&r);
        n++;
    }
    CHECK_INT(n, want);
    arena_free(a);
}

static FxType format_of(DType t)
{
    const DTypeInfo *i = &dtype_table[t];
    return (FxType){i->bits, i->kind == 'F' ? i->ebits : 0, i->mbits};
}

/* Element i of packed storage as bits. */
static void put_bits(DType t, void *base, int64_t i, uint64_t bits)
{
    int n = dtype_bits(t);
    uint8_t *p = (uint8_t *)base + i * n / 8;

    if (n < 8)
        *p = (uint8_t)((*p & 0xf0 >> (i % 2 * 4)) | (bits & 15) << (i % 2 * 4));
    else
        memcpy(p, &bits, (size_t)n / 8);
}

static void *values(Kit *t, const Row *row, DType type, int operand, int cases, int per_case,
                    int most, const int *index)
{
    void *p = arena_alloc(t->arena, (size_t)dtype_bytes(type, (int64_t)cases * per_case) + 16);

    for (int c = 0; c < cases; c++)
        for (int i = 0; i < per_case; i++)
            put_bits(type, p, (int64_t)c * per_case + i,
                     fx_value(format_of(type), fx_key(row->number, c, operand, index ? index[i] : i),
                              c >= row->cases, most));
    return p;
}

static void check_hash(const Row *row, int c, const void *result, int64_t nbytes)
{
    const char *p = row->words;
    unsigned want = 0, got = 2166136261u, word;

    for (int i = 0; i <= c; i++)
        p = next_word(p, &want);
    for (int64_t i = 0; i < nbytes; i += 4) {
        memcpy(&word, (const char *)result + i, 4);
        got = fx_hash(got, word);
    }
    if (got != want)
        fprintf(stderr, "%s: case %d differs from the hardware\n", row->name, c);
    CHECK(got == want);
}

/* ---- general sums ---------------------------------------------------------------------------- */

/* What the hardware may be off by, relative to sum |a b| + |c|.  Products are exact.  float32
 * sums keep 24 bits and more of the largest term; fp8 products on Hopper 13; float16 sums are
 * rounded to 11 bits; float64 is as IEEE has it in some order. */
static double slack(DType a, DType c)
{
    if (c == DT_F64)
        return 0x1p-50;
    if (c == DT_F16)
        return 0x1p-10;
    return dtype_bits(a) == 8 ? 0x1p-12 : 0x1p-22;
}

static void check_samples(const Row *row, DType a, DType c, int K, const char *result,
                          int64_t case_bytes)
{
    int unit = c == DT_F64 ? 8 : 4, each = c == DT_F16 ? 2 : 1;
    int64_t per = case_bytes / unit;
    const char *p = row->words;
    unsigned word;
    double bound = (K * 16.0 + 4.0) * slack(a, c);

    for (int i = 0; i < row->cases; i++)
        p = next_word(p, &word);
    for (int g = row->cases; g < row->cases + row->general; g++)
        for (int s = 0; s < SAMPLE; s++) {
            char bytes[8];
            int64_t at = ((int64_t)g * 7 + s * 37) % per;
            for (int i = 0; i < unit; i += 4) {
                p = next_word(p, &word);
                memcpy(bytes + i, &word, 4);
            }
            for (int j = 0; j < each; j++) {
                double want = kit_get(c, bytes, j);
                double got = kit_get(c, result + g * case_bytes + at * unit, j);
                if (!(fabs(got - want) <= bound))
                    fprintf(stderr, "%s: case %d, sample %d\n", row->name, g, s);
                CHECK_NEAR(got, want, bound);
            }
        }
}

/* ---- conversions ----------------------------------------------------------------------------- */

static uint64_t canonical(DType t, uint64_t bits)
{
    double v = num_decode(t, bits);
    if (dtype_is_float(t) && isnan(v))
        return t == DT_F16 ? 0x7e00 : t == DT_BF16 ? 0x7fc0 : dtype_bits(t) == 8 ? 0x7f : 0x7fc00000;
    return bits;
}

static uint64_t input_bits(const Row *row, DType from, int c, int j)
{
    FxType f = format_of(from);
    FxBits v = fx_random(fx_key(row->number, c, 0, j)) & fx_mask(f.bits);
    int field = f.bits - 1 - f.ebits, wide = f.ebits >= 8;

    if (f.ebits && j % 2)
        v = (v & ~(fx_mask(f.ebits) << field)) |
            (FxBits)((1 << (f.ebits - 1)) - 1 + (int)(v % 24) * wide - 12 * wide) << field;
    return v;
}

#endif
