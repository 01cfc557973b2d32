/* isa.c -- the table of instructions. */
#include "isa/isa.h"

/* PTX's words for types. */
enum {
    PTX_f16 = DT_F16, PTX_bf16 = DT_BF16, PTX_tf32 = DT_TF32, PTX_f32 = DT_F32, PTX_f64 = DT_F64,
    PTX_e4m3 = DT_E4M3, PTX_e5m2 = DT_E5M2, PTX_e4m3z = DT_E4M3FNUZ, PTX_e5m2z = DT_E5M2FNUZ,
    PTX_s8 = DT_I8, PTX_u8 = DT_U8, PTX_s4 = DT_I4, PTX_u4 = DT_U4, PTX_s32 = DT_I32,
    PTX_e2m1 = DT_E2M1
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
};
#undef LEVELS

/* The rest of a row is what it needs and its lanes, which have commas. */
#define ROW(name, m, n, k, c, a, b, effects, doc, own, arg, narg, per, words, scale, ...)          \
    {ISA_MMA, name, BY_WARP, effects, PROXY_GENERIC, DONE_AT_ONCE, QUEUE_NONE, __VA_ARGS__, 0,     \
     doc, &(const Mma){m, n, k, {(DType)PTX_##a, (DType)PTX_##b, (DType)PTX_##c}, {#a, #b, #c},    \
                       own, arg, narg, per, words, (DType)(scale)}},
#define MATRIX(name, m, n, k, c, a, b, own, arg, narg, ...)                                        \
    ROW(name, m, n, k, c, a, b, "rra", "C += A B", own, arg, narg, 0, 0, 0, __VA_ARGS__)
#define MATRIX_SCALED(name, m, n, k, c, a, b, own, per, words, scale, ...)                         \
    ROW(name, m, n, k, c, a, b, "rrarr", "C += (A * scales) (B * scales)", own, NULL, 0, per,      \
        words, scale, __VA_ARGS__)

static const Isa mma_table[] = {
#include "isa/matrix.def"
};

const Isa *isa_find(const char *name)
{
    for (int i = 0; i < COUNT(isa_table); i++)
        if (strcmp(isa_table[i].name, name) == 0)
            return &isa_table[i];
    for (int i = 0; i < COUNT(mma_table); i++)
        if (strcmp(mma_table[i].name, name) == 0)
            return &mma_table[i];
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
    return i >= 0 && i < COUNT(mma_table) ? &mma_table[i] : NULL;
}
