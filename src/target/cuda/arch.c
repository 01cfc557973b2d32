/* arch.c -- the words of -arch= and -model=, and the machine that they describe. */
#include "target/cuda/cuda.h"
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static const struct {
    int level, threads, blocks;
    int64_t shared;
    int rate;
    const char *model;
} arch_table[] = {
#define ARCH(level, threads, blocks, shared, rate, model)                                          \
    {level, threads, blocks, shared, rate, model},
#include "target/cuda/arch.def"
#undef ARCH
};

typedef struct {
    const char *name;
    int level, units, mhz, gbs, cache_mib;
} Model;

static const Model model_table[] = {
#define MODEL(name, level, units, mhz, gbs, mib) {name, level, units, mhz, gbs, mib},
#include "target/cuda/model.def"
#undef MODEL
};

enum { DEFAULT = 80, WITH_A = 90, WITH_F = 100 };
enum { VOLTA = 70, AMPERE = 80, ADA = 89, HOPPER = 90, BLACKWELL = 100, BLACKWELL_RTX = 120 };

static int find(int level)
{
    for (int i = 0; i < COUNT(arch_table); i++)
        if (arch_table[i].level == level)
            return i;
    return -1;
}

/* By warpgroups of consumers: what each side takes of the register file. */
static bool split_regs(const Machine *m, int consumers, int *producer, int *consumer)
{
    static const struct { int producer, consumer; } rows[] = {
        {0, 0}, {0, 0}, {24, 240}, {32, 160}, {24, 112}};

    (void)m;
    if (consumers < 0 || consumers >= COUNT(rows) || !rows[consumers].consumer)
        return false;
    *producer = rows[consumers].producer;
    *consumer = rows[consumers].consumer;
    return true;
}

static void take_product(Machine *m, const Model *p)
{
    m->model = p->name;
    m->units = p->units;
    m->clock_ghz = p->mhz * 1e-3;
    m->memory_gbs = p->gbs;
    m->cache_bytes = (int64_t)p->cache_mib << 20;
}

static const Model *model_find(const char *name)
{
    for (int i = 0; i < COUNT(model_table); i++)
        if (!strcasecmp(model_table[i].name, name))
            return &model_table[i];
    for (int i = 0; i < COUNT(model_table); i++) { /* "a100", "rtx-4090" */
        const char *tail = strchr(model_table[i].name, '-');
        if (tail && !strcasecmp(tail + 1, name))
            return &model_table[i];
    }
    return NULL;
}

/* Not those for graphics cards. */
static bool has_tensor_memory(int level, bool specific)
{
    return level >= BLACKWELL && level < BLACKWELL_RTX && specific;
}

static uint32_t features(int level, bool specific)
{
    return HAS_THREADS | HAS_BLOCK_VOTES | HAS_VECTORS | HAS_HALF_BYTES | HAS_HALF_PAIRS |
           HAS_ROLES | HAS_PROXY | HAS_OWN_TEXT |
           (level == VOLTA ? HAS_QUAD_MMA | HAS_PACKED_K : 0) |
           (level >= AMPERE ? HAS_ASYNC_COPY | HAS_CUT_FLOAT32 : 0) |
           (level >= ADA ? HAS_BYTE_PAIRS : 0) |
           (level >= HOPPER ? HAS_BULK_COPY | HAS_BF16_PAIRS : 0) |
           (level >= HOPPER && specific ? HAS_MOVED_REGS : 0) |
           (level == HOPPER && specific ? HAS_GROUP_MMA : 0) |
           (has_tensor_memory(level, specific) ? HAS_TENSOR_MEMORY : 0) |
           (level >= BLACKWELL_RTX && specific ? HAS_SCALED_MMA : 0);
}

static void machine_of(Machine *m, int at, bool specific)
{
    int level = arch_table[at].level;

    *m = (Machine){
        .has = features(level, specific),
        .level = level,
        .specific = specific,
        .lanes = 32,
        .group_warps = 4,
        .group_rows = 64,
        .threads_block = 1024,
        .grid_side = 65535,
        .threads_unit = arch_table[at].threads,
        .blocks_unit = arch_table[at].blocks,
        .regs_unit = 64 * 1024,
        .regs_thread = 255,
        .regs_step = 8,
        .regs_least = 24,
        .regs_most = 256,
        .local_bytes = 512 * 1024,
        .shared_block = arch_table[at].shared,
        .shared_own = level >= AMPERE ? 1024 : 0,
        .shared_step = 128,
        .shared_unit = arch_table[at].shared + (level >= AMPERE ? 1024 : 0),
        .tensor_columns = has_tensor_memory(level, specific) ? 512 : 0,
        .tensor_lanes = 128,
        .tensor_least = 32,
        .banks = 32,
        .bank_bytes = 4,
        .named_barriers = 16,
        .line_bytes = 128,
        .sector_bytes = 32,
        .access_bytes = 16,
        .tile_align = level >= HOPPER ? 128 : 64,
        .swizzle_align = level >= HOPPER ? 1024 : 64,
        .mma_rate = arch_table[at].rate,
        .split_regs = split_regs,
        .tiles_gemm = cuda_tiles_gemm,
        .tiles_attention = cuda_tiles_attention,
        .tiles_attention_back = cuda_tiles_attention_back,
    };
    take_product(m, model_find(arch_table[at].model));
}

/* sm_90a has instructions of sm_90 alone, sm_100f those of its family. */
static bool may_end(int level, const char *tail)
{
    return !*tail || (!strcmp(tail, "a") && level >= WITH_A) ||
           (!strcmp(tail, "f") && level >= WITH_F);
}

const char *cuda_read_arch(Arena *a, const char *word, TargetSpec *s)
{
    char *tail = NULL;
    bool digits = word && !strncmp(word, "sm_", 3) && isdigit((unsigned char)word[3]);
    long level = !word ? DEFAULT : digits ? strtol(word + 3, &tail, 10) : 0;
    int at = find((int)level);

    if (word && (at < 0 || !may_end((int)level, tail))) {
        Str known;
        str_init(&known, a);
        for (int i = 0; i < COUNT(arch_table); i++)
            str_printf(&known, "%s%d", i ? ", " : "sm_", arch_table[i].level);
        if (digits && level > 0 && level < arch_table[0].level)
            return arena_printf(a, "'%s' is older than sm_%d, for which nothing is emitted here",
                                word, arch_table[0].level);
        return arena_printf(a, "'%s' is no architecture; there are %s, sm_90a and later with an a",
                            word, known.s);
    }
    s->arch = word ? arena_strdup(a, word) : "sm_80";
    machine_of(&s->machine, at, word && tail[0] == 'a');
    return NULL;
}

/* Without -arch= the product says which one it is. */
const char *cuda_read_model(Arena *a, const char *word, TargetSpec *s)
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
        return arena_printf(a, "%s is of sm_%d, not of %s", p->name, p->level, s->arch);
    if (!s->arch_given)
        cuda_read_arch(a, arena_printf(a, "sm_%d%s", p->level, p->level >= WITH_A ? "a" : ""), s);
    take_product(&s->machine, p);
    s->model = p->name;
    return NULL;
}

TARGET_SWITCH(profile)

const TargetOption cuda_options[] = {
    {"-arch=", target_take_arch, target_show_arch, "the architecture: sm_80, sm_90a, …"},
    {"-model=", target_take_model, target_show_model,
     "the product: nvidia-a100, geforce-rtx-4090, …"},
    {"-profile", take_profile, show_profile, "kernels write down when they do what"},
    {0},
};

void cuda_start(Arena *a, TargetSpec *s)
{
    cuda_read_arch(a, NULL, s);
}

/* NVRTC 13 does not know Volta. */
void cuda_settle(TargetSpec *s)
{
    if (s->machine.level == VOLTA && s->runtime && !strcmp(s->runtime, s->target->runtime))
        s->runtime = "cuda12";
}

/* "sm_90a", and the tags of products. */
const char *cuda_suggest(Arena *a, const char *word)
{
    if (!strncmp(word, "nvidia/", 7) && model_find(word + 7))
        return arena_printf(a, "cuda -model=%s", word + 7);
    if (strncmp(word, "sm_", 3) && strncmp(word, "sm9", 3) && strncmp(word, "sm8", 3))
        return NULL;
    return arena_printf(a, "cuda -arch=sm_%s", word + 2 + (word[2] == '_'));
}
