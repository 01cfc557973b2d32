/* target.c -- the table of targets, and "cpu -mcpu=x86-64-v3" to a TargetSpec. */
#include "target/target.h"
#include <stdlib.h>
#include <unistd.h>

#define TARGET(name) extern const Target target_##name;
#include "target/target.def"
#undef TARGET

const Target *const target_table[] = {
#define TARGET(name) &target_##name,
#include "target/target.def"
#undef TARGET
};
const int target_count = COUNT(target_table);

/* Other words for a target. */
static const struct {
    const char *word, *name;
} alias_table[] = {
    {"auto", "cpu"}, {"c", "cpu"}, {"llvm", "cpu"},
};

/* Levels a bundle can be built for.  Cache sizes are fixed, so that a bundle is the same bytes
 * wherever it is built. */
static const struct {
    const char *arch;
    int vector_bytes;
    bool vnni, bf16, amx;
} level_table[] = {
    {"x86-64", 16, false, false, false},    {"x86-64-v2", 16, false, false, false},
    {"x86-64-v3", 32, false, false, false}, {"x86-64-v4", 64, false, false, false},
    {"icelake-server", 64, true, false, false}, {"cooperlake", 64, true, true, false},
    {"sapphirerapids", 64, true, true, true},   {"znver4", 64, true, true, false},
};

enum { L1_BYTES = 32 << 10, L2_BYTES = 1 << 20, L3_BYTES = 32 << 20 };

static int64_t cache_bytes(int name, int64_t otherwise)
{
    long n = sysconf(name);
    return n > 0 ? n : otherwise;
}

/* What one core can use of the last level; sysconf counts every die of the package. */
static int64_t last_level_bytes(void)
{
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    long long kib = 0;

    if (f) {
        if (fscanf(f, "%lldK", &kib) != 1)
            kib = 0;
        fclose(f);
    }
    return kib > 0 ? kib << 10 : cache_bytes(_SC_LEVEL3_CACHE_SIZE, L3_BYTES);
}

static void spec_native(TargetSpec *s)
{
    s->arch = "native";
    s->vector_bytes = 16;
    s->l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, L1_BYTES);
    s->l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, L2_BYTES);
    s->l3_bytes = last_level_bytes();
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        s->vector_bytes = 32;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        s->vector_bytes = 64;
        s->has_vnni = __builtin_cpu_supports("avx512vnni");
        s->has_bf16 = __builtin_cpu_supports("avx512bf16");
        s->has_amx = s->has_vnni && s->has_bf16 && cpu_has_tiles();
    }
#endif
}

static bool spec_level(TargetSpec *s, const char *arch)
{
    for (int i = 0; i < COUNT(level_table); i++) {
        if (strcmp(level_table[i].arch, arch))
            continue;
        s->arch = level_table[i].arch;
        s->vector_bytes = level_table[i].vector_bytes;
        s->has_vnni = level_table[i].vnni;
        s->has_bf16 = level_table[i].bf16;
        s->has_amx = level_table[i].amx;
        s->l1_bytes = L1_BYTES;
        s->l2_bytes = L2_BYTES;
        s->l3_bytes = L3_BYTES;
        return true;
    }
    return false;
}

static const Target *target_find(const char *name)
{
    for (int i = 0; i < COUNT(alias_table); i++)
        if (!strcmp(alias_table[i].word, name))
            name = alias_table[i].name;
    for (int i = 0; i < target_count; i++)
        if (!strcmp(target_table[i]->name, name))
            return target_table[i];
    return NULL;
}

static bool spec_option(Arena *a, TargetSpec *s, const char *word, const char **why)
{
    const char *value = strchr(word, '=');

    if (!strncmp(word, "-mcpu=", 6) || !strncmp(word, "-march=", 7)) {
        if (!strcmp(value + 1, "native")) {
            spec_native(s);
            return true;
        }
        if (spec_level(s, value + 1))
            return true;
        Str known;
        str_init(&known, a);
        for (int i = 0; i < COUNT(level_table); i++)
            str_printf(&known, "%s%s", i ? ", " : "", level_table[i].arch);
        *why = arena_printf(a, "unknown CPU '%s'; known are native, %s [target-unknown]", value + 1,
                            known.s);
        return false;
    }
    if (!strncmp(word, "-arch=sm_", 9) && s->target->features & FEAT_WARPS) {
        s->arch = arena_strdup(a, value + 1);
        s->sm = atoi(value + 4);
        return true;
    }
    if (!strcmp(word, "-profile") && s->target->features & FEAT_WARPS)
        return s->profile = true;
    *why =
        arena_printf(a, "unknown option '%s' of target %s [target-unknown]", word, s->target->name);
    return false;
}

bool target_parse(Arena *a, const char *text, TargetSpec *s, const char **why)
{
    char *copy = arena_strdup(a, text && *text ? text : "auto");
    char *rest = NULL;
    char *word = strtok_r(copy, " ", &rest);

    *s = (TargetSpec){0};
    s->target = word ? target_find(word) : NULL;
    if (!s->target) {
        Str known;
        str_init(&known, a);
        for (int i = 0; i < target_count; i++)
            str_printf(&known, "%s%s", i ? ", " : "", target_table[i]->name);
        *why = arena_printf(a, "no target '%s' in this build; there are %s [target-unknown]",
                            word ? word : "", known.s);
        return false;
    }
    spec_native(s);
    if (s->target->features & FEAT_WARPS) {
        s->arch = "sm_80";
        s->sm = 80;
    }
    while ((word = strtok_r(NULL, " ", &rest)))
        if (!spec_option(a, s, word, why))
            return false;
    if (s->target->features & FEAT_WARPS)
        s->text = arena_printf(a, "%s -arch=%s%s", s->target->name, s->arch,
                               s->profile ? " -profile" : "");
    else
        s->text = arena_printf(a, "%s -mcpu=%s", s->target->name, s->arch);
    return true;
}
