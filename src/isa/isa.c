/* isa.c -- the table of instructions. */
#include "isa/isa.h"

/* PTX's words for types. */
enum {
    PTX_f16 = DT_F16, PTX_bf16 = DT_BF16, PTX_tf32 = DT_TF32, PTX_f32 = DT_F32, PTX_f64 = DT_F64,
    PTX_e4m3 = DT_E4M3, PTX_e5m2 = DT_E5M2, PTX_e4m3z = DT_E4M3FNUZ, PTX_e5m2z = DT_E5M2FNUZ,
    PTX_s8 = DT_I8, PTX_u8 = DT_U8, PTX_s4 = DT_I4, PTX_u4 = DT_U4, PTX_s32 = DT_I32,
    PTX_e2m1 = DT_E2M1
};

enum {
#define MMA(m, n, k, c, a, b, level) MMA_##m##_##n##_##k##_##c##_##a##_##b,
#define QUADS(c, lanes) QUADS_##c,
#include "isa/mma.def"
#undef QUADS
#undef MMA
    MMA_COUNT
};

static const Mma mma_table[MMA_COUNT] = {
#define MMA(m, n, k, c, a, b, level)                                                               \
    {m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c}, .own = NULL},
#define QUADS(c, lanes)                                                                            \
    {16, 16, 4, {DT_F16, DT_F16, (DType)PTX_##c}, {"f16", "f16", #c}, .own = "m8n8k4"},
#include "isa/mma.def"
#undef QUADS
#undef MMA
};

#define MFMA_SCALED(m, n, k, c, a, b, per)
enum {
#define SCALED(m, n, k, c, a, b, per, kind) SCALED_##per##_##a##_##b,
#include "isa/scaled.def"
#undef SCALED
    SCALED_COUNT
};

static const Mma scaled_table[SCALED_COUNT] = {
#define SCALED(m, n, k, c, a, b, per, kind)                                                        \
    {m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c}, kind, NULL, 0,       \
     per, 1, per == 4 ? DT_E4M3 : DT_E8M0},
#include "isa/scaled.def"
#undef SCALED
};
#undef MFMA_SCALED

#define SCALED(m, n, k, c, a, b, per, kind)
enum {
#define MFMA_SCALED(m, n, k, c, a, b, per) MFMA_SCALED_##m##_##a##_##b,
#include "isa/scaled.def"
#undef MFMA_SCALED
    MFMA_SCALED_COUNT
};

static const Mma mfma_scaled_table[MFMA_SCALED_COUNT] = {
#define MFMA_SCALED(m, n, k, c, a, b, per)                                                         \
    {m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c},                      \
     "f32_" #m "x" #n "x" #k "_f8f6f4, " FORMAT_##a ", " FORMAT_##b, NULL, 0, per, per, DT_E8M0},
#include "isa/scaled.def"
#undef MFMA_SCALED
};
#undef SCALED

enum {
#define MFMA(m, n, k, c, a, b, needs, lanes, arg, narg, own)                                       \
    MFMA_##m##_##n##_##k##_##c##_##a##_##b,
#include "isa/mfma.def"
#undef MFMA
    MFMA_COUNT
};

static const Mma mfma_table[MFMA_COUNT] = {
#define MFMA(m, n, k, c, a, b, needs, lanes, arg, narg, own)                                       \
    {m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c}, own, arg, narg,      \
     0, 0, (DType)0},
#include "isa/mfma.def"
#undef MFMA
};

enum {
#define SIMDGROUP(m, n, k, c, a, b, own) SIMDGROUP_##c##_##a##_##b,
#include "isa/simdgroup.def"
#undef SIMDGROUP
    SIMDGROUP_COUNT,
    LAST_COUNT = MMA_COUNT + MFMA_COUNT + SIMDGROUP_COUNT, /* rows at the end of isa_table */
};

static const Mma simdgroup_table[SIMDGROUP_COUNT] = {
#define SIMDGROUP(m, n, k, c, a, b, own)                                                           \
    {m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c}, own, NULL, 0, 0, 0,  \
     (DType)0},
#include "isa/simdgroup.def"
#undef SIMDGROUP
};

#define SINCE(level) level, false, 0, LEVELS
#define ONLY(level) level, true, 0, LEVELS
#define WITH(bits) 0, false, bits, LEVELS
#define LEVELS "sm_%d"
#define NO_LANES {NULL}
#define LANES(...) {__VA_ARGS__}

static const Isa isa_table[] = {
#define ISA(id, name, scope, effects, proxy, done, queue, needs, lanes, narg, simulate, doc)       \
    {ISA_##id, name, BY_##scope, effects, PROXY_##proxy, DONE_##done, QUEUE_##queue,               \
     needs, lanes, narg, doc, NULL},
#include "isa/isa.def"
#undef ISA
#define MFMA_SCALED(m, n, k, c, a, b, per)
#define SCALED(m, n, k, c, a, b, per, kind)                                                        \
    {ISA_MMA, "mma.m" #m "n" #n "k" #k "." #c "." #a "." #b ".scaled" #per, BY_WARP, "rrarr",      \
     PROXY_GENERIC, DONE_AT_ONCE, QUEUE_NONE, WITH(HAS_SCALED_MMA), SCALED_LANES, 0,               \
     "C += (A * scales) (B * scales)", &scaled_table[SCALED_##per##_##a##_##b]},
#include "isa/scaled.def"
#undef SCALED
#undef MFMA_SCALED
#define SCALED(m, n, k, c, a, b, per, kind)
#define MFMA_SCALED(m, n, k, c, a, b, per)                                                         \
    {ISA_MMA, "mfma." #m "x" #n "x" #k "." #c "." #a "." #b ".scaled" #per, BY_WARP, "rrarr",      \
     PROXY_GENERIC, DONE_AT_ONCE, QUEUE_NONE, WITH(HAS_SCALED_MMA),                                \
     LANES(A##m##_##a, B##m##_##b, SCALES_##m), 0, "C += (A * scales) (B * scales)",               \
     &mfma_scaled_table[MFMA_SCALED_##m##_##a##_##b]},
#include "isa/scaled.def"
#undef MFMA_SCALED
#undef SCALED
#define MMA(m, n, k, c, a, b, level)                                                               \
    {ISA_MMA, "mma.m" #m "n" #n "k" #k "." #c "." #a "." #b, BY_WARP, "rra", PROXY_GENERIC,        \
     DONE_AT_ONCE, QUEUE_NONE, SINCE(level), MMA_LANES, 0, "C += A B",                             \
     &mma_table[MMA_##m##_##n##_##k##_##c##_##a##_##b]},
#define QUADS(c, lanes)                                                                            \
    {ISA_MMA, "mma.m16n16k4." #c ".f16.f16", BY_WARP, "rra", PROXY_GENERIC, DONE_AT_ONCE,          \
     QUEUE_NONE, WITH(HAS_QUAD_MMA), LANES(QUADS_A, QUADS_B, lanes), 0, "C += A B",                \
     &mma_table[QUADS_##c]},
#include "isa/mma.def"
#undef QUADS
#undef MMA
#undef LEVELS
#define LEVELS "CDNA %d"
#define MFMA(m, n, k, c, a, b, needs, lanes, arg, narg, own)                                       \
    {ISA_MMA, "mfma." #m "x" #n "x" #k "." #c "." #a "." #b, BY_WARP, "rra", PROXY_GENERIC,        \
     DONE_AT_ONCE, QUEUE_NONE, needs, lanes, 0, "C += A B",                                        \
     &mfma_table[MFMA_##m##_##n##_##k##_##c##_##a##_##b]},
#include "isa/mfma.def"
#undef MFMA
#define SIMDGROUP(m, n, k, c, a, b, own)                                                           \
    {ISA_MMA, "simdgroup." #m "x" #n "x" #k "." #c "." #a "." #b, BY_WARP, "rra", PROXY_GENERIC,   \
     DONE_AT_ONCE, QUEUE_NONE, WITH(HAS_SIMDGROUP_MMA), SIMDGROUP_LANES, 0, "C += A B",            \
     &simdgroup_table[SIMDGROUP_##c##_##a##_##b]},
#include "isa/simdgroup.def"
#undef SIMDGROUP
};

const Isa *isa_find(const char *name)
{
    for (int i = 0; i < COUNT(isa_table); i++)
        if (strcmp(isa_table[i].name, name) == 0)
            return &isa_table[i];
    return NULL;
}

bool isa_fits(const Isa *isa, const Machine *m)
{
    if (!machine_has(m, isa->has) || (isa->mma && mma_warp(isa) != m->lanes))
        return false;
    return isa->only ? m->level == isa->level && m->specific : m->level >= isa->level;
}

const char *isa_name(const Isa *isa)
{
    return isa->name;
}

const char *isa_level(Arena *a, const Isa *isa)
{
    return arena_printf(a, isa->levels, isa->level);
}

const Isa *isa_row(IsaId id)
{
    return &isa_table[id];
}

const Isa *mma_row(int i)
{
    return i >= 0 && i < MMA_COUNT ? &isa_table[COUNT(isa_table) - LAST_COUNT + i] : NULL;
}

const Isa *mma_scaled_row(int i)
{
    int n = SCALED_COUNT + MFMA_SCALED_COUNT;
    return i >= 0 && i < n ? &isa_table[COUNT(isa_table) - n - LAST_COUNT + i] : NULL;
}

const Isa *mfma_row(int i)
{
    int first = COUNT(isa_table) - MFMA_COUNT - SIMDGROUP_COUNT;
    return i >= 0 && i < MFMA_COUNT ? &isa_table[first + i] : NULL;
}

const Isa *simdgroup_row(int i)
{
    int first = COUNT(isa_table) - SIMDGROUP_COUNT;
    return i >= 0 && i < SIMDGROUP_COUNT ? &isa_table[first + i] : NULL;
}
