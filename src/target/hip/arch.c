/* arch.c -- the words of -mcpu= and -model=, and the machine that they describe. */
#include "target/hip/hip.h"
#include <strings.h>

static const struct {
    const char *name;
    int level;
    int64_t shared;
    int banks, copy, rate;
    const char *model;
} arch_table[] = {
#define ARCH(name, level, shared, banks, copy, rate, model)                                        \
    {name, level, shared, banks, copy, rate, model},
#include "target/hip/arch.def"
#undef ARCH
};

typedef struct {
    const char *name;
    int level, units, mhz, gbs, cache_mib, dies;
} Model;

static const Model model_table[] = {
#define MODEL(name, level, units, mhz, gbs, mib, dies) {name, level, units, mhz, gbs, mib, dies},
#include "target/hip/model.def"
#undef MODEL
};

enum { LANES = 64, SIMDS = 4, WAVES = 8, REGISTERS = 512 };
static const char by_default[] = "gfx942";

static int find(const char *name)
{
    size_t n = strcspn(name, ":"); /* "gfx942:sramecc+:xnack-" */

    for (int i = 0; i < COUNT(arch_table); i++)
        if (strlen(arch_table[i].name) == n && !strncmp(arch_table[i].name, name, n))
            return i;
    return -1;
}

static const Model *model_find(const char *name)
{
    for (int i = 0; i < COUNT(model_table); i++)
        if (!strcasecmp(model_table[i].name, name))
            return &model_table[i];
    return NULL;
}

static void take_product(Machine *m, const Model *p)
{
    m->model = p->name;
    m->units = p->units;
    m->clock_ghz = p->mhz * 1e-3;
    m->memory_gbs = p->gbs;
    m->cache_bytes = (int64_t)p->cache_mib << 20;
}

int hip_dies(const Machine *m)
{
    return model_find(m->model)->dies;
}

static void machine_of(Machine *m, int at)
{
    *m = (Machine){
        .has = HAS_THREADS | HAS_BLOCK_VOTES | HAS_VECTORS | HAS_HALF_BYTES | HAS_PACKED_K |
               HAS_NEST_FETCH | (arch_table[at].level < CDNA4 ? HAS_FLOAT8_FNUZ : HAS_SCALED_MMA) |
               (arch_table[at].copy ? HAS_ASYNC_COPY | HAS_COUNTED_COPIES : 0),
        .level = arch_table[at].level,
        .specific = true,
        .lanes = LANES,
        .part = 32, /* a warp of other GPUs: barriers count threads */
        .group_warps = 2,
        .threads_block = 1024,
        .grid_side = 65535, /* what its runtime passes on */
        .threads_unit = SIMDS * WAVES * LANES,
        .blocks_unit = SIMDS * WAVES,
        .regs_unit = SIMDS * REGISTERS * LANES,
        .regs_thread = REGISTERS,
        .regs_step = 8,
        .regs_least = 8,
        .regs_most = REGISTERS,
        .local_bytes = 512 * 1024,
        .shared_block = arch_table[at].shared,
        .shared_unit = arch_table[at].shared,
        .shared_step = (arch_table[at].level < CDNA4 ? 128 : 320) * 4, /* words of the manuals */
        .banks = arch_table[at].banks,
        .bank_bytes = 4,
        .named_barriers = 16, /* of shared memory: device/hip */
        .sector_bytes = 32,
        .access_bytes = 16,
        .copy_bytes = arch_table[at].copy,
        .tile_align = 64,
        .swizzle_align = 64,
        .mma_rate = arch_table[at].rate,
        .tiles_gemm = hip_tiles_gemm,
        .tiles_attention = hip_tiles_attention,
    };
    take_product(m, model_find(arch_table[at].model));
}

const char *hip_read_arch(Arena *a, const char *word, TargetSpec *s)
{
    int at = find(word);

    if (at < 0) {
        Str known;
        str_init(&known, a);
        for (int i = 0; i < COUNT(arch_table); i++)
            str_printf(&known, "%s%s", i ? ", " : "", arch_table[i].name);
        return arena_printf(a, "'%s' is no architecture that HIP is emitted for; there are %s",
                            word, known.s);
    }
    s->arch = arch_table[at].name;
    machine_of(&s->machine, at);
    return NULL;
}

static const char *arch_of(int level)
{
    for (int i = 0; i < COUNT(arch_table); i++)
        if (arch_table[i].level == level)
            return arch_table[i].name;
    BUG(true, "a product of no architecture");
}

/* Without -mcpu= the product says which one it is. */
const char *hip_read_model(Arena *a, const char *word, TargetSpec *s)
{
    const Model *p = model_find(word);

    if (!p) {
        Str known;
        str_init(&known, a);
        for (int i = 0; i < COUNT(model_table); i++)
            str_printf(&known, "%s%s", i ? ", " : "", model_table[i].name);
        return arena_printf(a, "no product '%s' is known; there are %s", word, known.s);
    }
    if (s->arch_given && p->level != s->machine.level)
        return arena_printf(a, "%s is of %s, not of %s", p->name, arch_of(p->level), s->arch);
    if (!s->arch_given)
        hip_read_arch(a, arch_of(p->level), s);
    take_product(&s->machine, p);
    s->model = p->name;
    return NULL;
}

const TargetOption hip_options[] = {
    {"-mcpu=", target_take_arch, target_show_arch, "the architecture: gfx90a, gfx942, gfx950"},
    {"-arch=", target_take_arch, NULL, "the same"},
    {"-model=", target_take_model, target_show_model, "the product: mi250x, mi300x, mi355x, …"},
    {"-mtriple=", NULL, NULL, "is amdgcn-amd-amdhsa-hcc"},
    {0},
};

void hip_start(Arena *a, TargetSpec *s)
{
    hip_read_arch(a, by_default, s);
}

/* "gfx942", and the tags of products. */
const char *hip_suggest(Arena *a, const char *word)
{
    if (!strncmp(word, "amd/", 4) && model_find(word + 4))
        return arena_printf(a, "hip -model=%s", word + 4);
    return find(word) >= 0 ? arena_printf(a, "hip -mcpu=%s", word) : NULL;
}
