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
    {"auto", "cpu"}, {"c", "cpu"}, {"llvm", "cpu"}, {"nvptx", "cuda"},
};

/* Targets of others. */
static const char *const foreign[] = {"hip", "rocm", "metal", "webgpu", "vulkan", "opencl",
                                      "cutedsl", "ascend"};

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

/* ---- words after the name -------------------------------------------------------------------- */

static bool take_cpu(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    Str known;

    if (!strcmp(value, "native")) {
        spec_native(s);
        return true;
    }
    if (spec_level(s, value))
        return true;
    str_init(&known, a);
    for (int i = 0; i < COUNT(level_table); i++)
        str_printf(&known, "%s%s", i ? ", " : "", level_table[i].arch);
    *why = arena_printf(a, "unknown CPU '%s'; known are native, %s [target-unknown]", value,
                        known.s);
    return false;
}

static bool take_arch(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    const char *bad = s->target->arch(a, value, s);
    if (bad)
        *why = arena_printf(a, "%s [target-unknown]", bad);
    return !bad;
}

static bool take_profile(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    (void)a;
    (void)value;
    (void)why;
    return s->profile = true;
}

/* They describe a target and choose nothing; what can be wrong is that they describe another. */
static bool take_keys(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    for (const char *at = value; *at;) {
        size_t n = strcspn(at, ",");
        const char *found = s->target->keys ? s->target->keys : s->target->name;
        for (; found && *found; found += strcspn(found, " "), found += *found == ' ')
            if (strcspn(found, " ") == n && !strncmp(found, at, n))
                break;
        if (!found || !*found) {
            *why = arena_printf(a, "'%.*s' is no key of target %s, whose keys are %s "
                                "[target-unknown]", (int)n, at, s->target->name, s->target->keys);
            return false;
        }
        at += n + (at[n] == ',');
    }
    return true;
}

static bool take_number(Arena *a, const char *value, int64_t least, int64_t *out, const char **why)
{
    char *end;

    *out = strtoll(value, &end, 10);
    if (end != value && !*end && *out >= least)
        return true;
    *why = arena_printf(a, "'%s' is no number of this target's [target-unknown]", value);
    return false;
}

static bool take_threads(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    int64_t n;
    bool ok = take_number(a, value, 1, &n, why);
    s->max_threads = (int)MIN(n, 1024);
    return ok;
}

static bool take_shared(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    return take_number(a, value, 1, &s->max_shared, why);
}

static bool take_warp(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    int64_t n;
    if (!take_number(a, value, 1, &n, why))
        return false;
    if (n == s->target->warp)
        return true;
    *why = arena_printf(a, "a warp of target %s has %d threads, not %s [target-unknown]",
                        s->target->name, s->target->warp, value);
    return false;
}

const TargetOption target_option_table[] = {
    {"-mcpu=", false, true, take_cpu, "the processor: native, x86-64-v3, …"},
    {"-march=", false, true, take_cpu, "the same"},
    {"-arch=", true, false, take_arch, "the architecture: sm_80, sm_90a, …"},
    {"-profile", true, false, take_profile, "kernels write down when they do what"},
    {"-keys=", true, true, take_keys, "must describe the target"},
    {"-max_num_threads=", true, false, take_threads, "blocks with more are refused"},
    {"-max_threads_per_block=", true, false, take_threads, "the same"},
    {"-max_shared_memory_per_block=", true, false, take_shared, "bytes that tiles may take"},
    {"-thread_warp_size=", true, false, take_warp, "must be that of the target"},
    {"-model=", true, true, NULL, "nothing depends on the model of a device"},
};
const int target_option_count = COUNT(target_option_table);

static bool spec_option(Arena *a, TargetSpec *s, const char *word, const char **why)
{
    bool gpu = s->target->features & FEAT_WARPS;
    const char *names[COUNT(target_option_table)];
    int nname = 0;

    for (int i = 0; i < target_option_count; i++) {
        const TargetOption *o = &target_option_table[i];
        size_t n = strlen(o->word);
        if (!(gpu ? o->gpu : o->cpu))
            continue;
        names[nname++] = o->word;
        if (o->word[n - 1] == '=' ? strncmp(word, o->word, n) != 0 : strcmp(word, o->word) != 0)
            continue;
        if (o->take)
            return o->take(a, s, word + n, why);
        s->ignored = arena_printf(a, "%s%s%s", s->ignored ? s->ignored : "",
                                  s->ignored ? " " : "", arena_strndup(a, word, n - 1));
        return true;
    }
    char *head = arena_strndup(a, word, strcspn(word, "=") + (strchr(word, '=') != NULL));
    const char *near = nearest_name(head, names, nname);
    *why = arena_printf(a, "unknown option '%s' of target %s%s%s%s [target-unknown]", word,
                        s->target->name, near ? "; did you mean '" : "", near ? near : "",
                        near ? "'?" : "");
    return false;
}

/* Part of the cache key: what changes the text, in one order. */
static const char *spec_text(Arena *a, const TargetSpec *s)
{
    Str t;

    if (!(s->target->features & FEAT_WARPS))
        return arena_printf(a, "%s -mcpu=%s", s->target->name, s->arch);
    str_init(&t, a);
    str_printf(&t, "%s -arch=%s%s", s->target->name, s->arch, s->profile ? " -profile" : "");
    if (s->max_threads)
        str_printf(&t, " -max_num_threads=%d", s->max_threads);
    if (s->max_shared)
        str_printf(&t, " -max_shared_memory_per_block=%lld", (long long)s->max_shared);
    return t.s;
}

/* An architecture or a CPU where the name of a target should stand, or a slip of one. */
static const char *suggest_target(Arena *a, const char *word)
{
    const char *names[16], *near;
    int n = 0;

    for (int i = 0; i < target_count && n < COUNT(names); i++)
        names[n++] = target_table[i]->name;
    if (!strncmp(word, "sm_", 3) || !strncmp(word, "sm9", 3) || !strncmp(word, "sm8", 3))
        return arena_printf(a, "; did you mean 'cuda -arch=sm_%s'?", word + 2 + (word[2] == '_'));
    for (int i = 0; i < COUNT(level_table); i++)
        if (!strcmp(word, level_table[i].arch) || !strcmp(word, "native"))
            return arena_printf(a, "; did you mean 'cpu -mcpu=%s'?", word);
    near = nearest_name(word, names, n);
    return near ? arena_printf(a, "; did you mean '%s'?", near) : "";
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
        *why = arena_printf(a, "no target '%s' in this build; there are %s%s [target-unknown]",
                            word ? word : "", known.s, suggest_target(a, word ? word : ""));
        for (int i = 0; word && i < COUNT(foreign); i++)
            if (!strcmp(word, foreign[i]))
                *why = arena_printf(a, "the target '%s' is not supported; there are %s "
                                    "[target-unsupported]", word, known.s);
        return false;
    }
    spec_native(s);
    if (s->target->arch)
        s->target->arch(a, NULL, s);
    while ((word = strtok_r(NULL, " ", &rest)))
        if (!spec_option(a, s, word, why))
            return false;
    s->text = spec_text(a, s);
    return true;
}
