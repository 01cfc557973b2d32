/* arch.c -- the words of -mcpu=: the processor at hand, or a level that a bundle is built for. */
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif
#include <unistd.h>
#include "target/cpu/emit.h"

/* Levels a kernel can be built for.  Cache sizes are fixed, so that a bundle is the same bytes
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

enum { L1_BYTES = 32 << 10, L2_BYTES = 1 << 20, L3_BYTES = 32 << 20, NEON_BYTES = 16 };

/* The same of aarch64.  The C compiler gets the architecture and its extensions, since compilers
 * learn the names of processors years after those are there; caches are those that the makers'
 * documents have: of a core, l3 of all. */
static const struct {
    const char *arch, *march;
    bool sdot, mmla; /* mmla: of bytes and of bfloat16 */
    int l1_kib, l2_kib, l3_mib;
    int sve_bytes; /* vectors of SVE in place of NEON's */
} arm_table[] = {
    {"armv8-a", "-march=armv8-a", false, false, 32, 1024, 32, 0},
    {"armv8.2-a", "-march=armv8.2-a+fp16+dotprod", true, false, 64, 1024, 32, 0},
    {"armv8.6-a", "-march=armv8.2-a+fp16+dotprod+bf16+i8mm", true, true, 64, 1024, 32, 0},
    {"neoverse-n1", "-march=armv8.2-a+fp16+dotprod", true, false, 64, 1024, 32, 0},
    {"neoverse-v1", "-march=armv8.4-a+fp16+bf16+i8mm", true, true, 64, 1024, 32, 0},
    {"neoverse-n2", "-march=armv8.5-a+fp16+bf16+i8mm", true, true, 64, 1024, 32, 0},
    {"neoverse-v2", "-march=armv8.5-a+fp16+bf16+i8mm", true, true, 64, 1024, 114, 0},
    {"apple-m1", "-march=armv8.5-a+fp16", true, false, 128, 3072, 8, 0},
    {"apple-m2", "-march=armv8.6-a+fp16", true, true, 128, 4096, 8, 0},
    {"a64fx", "-march=armv8.2-a+fp16+sve -msve-vector-bits=512", false, false, 64, 8192, 8, 64},
};

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

const CpuLevel *cpu_level(const TargetSpec *s)
{
    return s->own;
}

/* What plans of GEMMs and the C compiler ask for.  march: NULL: as the level is called. */
static void take_level(Arena *a, TargetSpec *s, const char *arch, const char *march,
                       CpuLevel level)
{
    CpuLevel *own = NEW(a, CpuLevel);

    *own = level;
    s->own = own;
    s->arch = arch;
    s->cc_words = march ? march : arena_printf(a, "-march=%s", arch);
    if (level.vector_bytes == 64 && !level.arm)
        s->cc_words = arena_printf(a, "%s -mprefer-vector-width=512", s->cc_words);
    s->machine.has = HAS_ONE_THREAD | HAS_ROW_LOOPS | (level.vnni ? HAS_BYTE_DOTS : 0) |
                     (level.bf16 ? HAS_BF16_DOTS : 0) | (level.amx ? HAS_TILE_REGS : 0) |
                     (level.sdot ? HAS_SIGNED_DOTS : 0) | (level.mmla ? HAS_PAIR_DOTS : 0);
}

/* By cpuid, and by which registers the kernel saves: __builtin_cpu_supports reads a variable of
 * libgcc's, which a clang with a library of its own does not have. */
#if defined(__x86_64__)
enum {
    FMA_OSXSAVE_AVX = 1u << 12 | 1u << 27 | 1u << 28, /* leaf 1, ecx */
    AVX2 = 1u << 5,                                   /* leaf 7, ebx */
    VNNI = 1u << 11,                                  /* leaf 7, ecx */
    BF16 = 1u << 5,                                   /* leaf 7.1, eax */
    SAVES_AVX = 0x06, SAVES_AVX512 = 0xe6,
};
static const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* f, dq, bw, vl: ebx */

/* What the compiler is told of it; NULL: "native". */
static const char *ask_cpu(CpuLevel *l)
{
    unsigned a, b, c, d, saves, high;

    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & FMA_OSXSAVE_AVX) != FMA_OSXSAVE_AVX)
        return NULL;
    __asm__("xgetbv" : "=a"(saves), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2) ||
        (saves & SAVES_AVX) != SAVES_AVX)
        return NULL;
    l->vector_bytes = 32;
    if ((b & avx512) != avx512 || (saves & SAVES_AVX512) != SAVES_AVX512)
        return NULL;
    l->vector_bytes = 64;
    l->vnni = c & VNNI;
    l->bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & BF16;
    l->amx = l->vnni && l->bf16 && cpu_has_tiles();
    return NULL;
}
#elif defined(__aarch64__)
/* AT_HWCAP: atomics, fphp, asimdhp, asimdrdm and asimddp make armv8.2-a with fp16 and dotprod;
 * AT_HWCAP2: i8mm and bf16. */
static const unsigned long arm_82 = 1ul << 8 | 1ul << 9 | 1ul << 10 | 1ul << 12 | 1ul << 20;
static const unsigned long arm_pairs = 1ul << 13 | 1ul << 14;

/* No -mcpu=native: cross compilers do not know that word. */
static const char *ask_cpu(CpuLevel *l)
{
    l->arm = true;
    l->sdot = (getauxval(AT_HWCAP) & arm_82) == arm_82;
    l->mmla = l->bf16 = l->sdot && (getauxval(AT_HWCAP2) & arm_pairs) == arm_pairs;
    return l->mmla   ? "-march=armv8.2-a+fp16+dotprod+bf16+i8mm"
           : l->sdot ? "-march=armv8.2-a+fp16+dotprod"
                     : "-march=armv8-a";
}
#else
static const char *ask_cpu(CpuLevel *l)
{
    (void)l;
    return NULL;
}
#endif

void cpu_start(Arena *a, TargetSpec *s)
{
    CpuLevel here = {.vector_bytes = 16,
                     .l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, L1_BYTES),
                     .l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, L2_BYTES),
                     .l3_bytes = last_level_bytes()};
    const char *march = ask_cpu(&here);

    take_level(a, s, "native", march, here);
}

void cpu_settle(TargetSpec *s)
{
    Machine *m = &s->machine;

    m->cache_bytes = cpu_level(s)->l3_bytes;
    m->core_bytes = cpu_level(s)->l2_bytes;
    m->tiles_gemm = cpu_tiles_gemm;
    if (cpu_level(s)->arm != cpu_is_arm && s->runtime && !strcmp(s->runtime, s->target->runtime))
        s->runtime = "cross";
}

void cpu_tell(const TargetSpec *s, Str *out)
{
    const CpuLevel *l = cpu_level(s);

    str_printf(out,
               ", %d-byte vectors%s%s%s%s%s, %d cores, L1 %lld KiB, L2 %lld KiB, L3 %lld KiB",
               l->vector_bytes, l->vnni ? ", vnni" : "", l->bf16 ? ", bf16" : "",
               l->amx ? ", amx" : "", l->sdot ? ", sdot" : "", l->mmla ? ", mmla" : "",
               cpu_count(), (long long)l->l1_bytes >> 10, (long long)l->l2_bytes >> 10,
               (long long)l->l3_bytes >> 10);
}

static bool arm_level(Arena *a, TargetSpec *s, const char *arch)
{
    for (int i = 0; i < COUNT(arm_table); i++) {
        if (strcmp(arm_table[i].arch, arch))
            continue;
        CpuLevel level = {.vector_bytes = MAX(arm_table[i].sve_bytes, NEON_BYTES),
                          .arm = true,
                          .sdot = arm_table[i].sdot,
                          .bf16 = arm_table[i].mmla,
                          .mmla = arm_table[i].mmla,
                          .l1_bytes = arm_table[i].l1_kib << 10,
                          .l2_bytes = arm_table[i].l2_kib << 10,
                          .l3_bytes = (int64_t)arm_table[i].l3_mib << 20};
        take_level(a, s, arm_table[i].arch, arm_table[i].march, level);
        return true;
    }
    return false;
}

static bool spec_level(Arena *a, TargetSpec *s, const char *arch)
{
    for (int i = 0; i < COUNT(level_table); i++) {
        if (strcmp(level_table[i].arch, arch))
            continue;
        CpuLevel level = {.vector_bytes = level_table[i].vector_bytes,
                          .vnni = level_table[i].vnni,
                          .bf16 = level_table[i].bf16,
                          .amx = level_table[i].amx,
                          .l1_bytes = L1_BYTES,
                          .l2_bytes = L2_BYTES,
                          .l3_bytes = L3_BYTES};
        take_level(a, s, level_table[i].arch, NULL, level);
        return true;
    }
    return arm_level(a, s, arch);
}

static bool take_cpu(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    Str known;

    if (!strcmp(value, "native")) {
        cpu_start(a, s);
        return true;
    }
    if (spec_level(a, s, value))
        return true;
    str_init(&known, a);
    for (int i = 0; i < COUNT(level_table); i++)
        str_printf(&known, "%s, ", level_table[i].arch);
    for (int i = 0; i < COUNT(arm_table); i++)
        str_printf(&known, "%s%s", i ? ", " : "", arm_table[i].arch);
    *why = arena_printf(a, "unknown CPU '%s'; known are native, %s [target-unknown]", value,
                        known.s);
    return false;
}

static const char *show_cpu(Arena *a, const TargetSpec *s)
{
    (void)a;
    return s->arch;
}

const TargetOption cpu_options[] = {
    {"-mcpu=", take_cpu, show_cpu, "the processor: native, x86-64-v3, neoverse-n1, …"},
    {"-march=", take_cpu, NULL, "the same"},
    {"-model=", NULL, NULL, "nothing depends on the model of a CPU"},
    {0},
};

const char *cpu_suggest(Arena *a, const char *word)
{
    bool known = !strcmp(word, "native");

    for (int i = 0; i < COUNT(level_table); i++)
        known |= !strcmp(word, level_table[i].arch);
    for (int i = 0; i < COUNT(arm_table); i++)
        known |= !strcmp(word, arm_table[i].arch);
    return known ? arena_printf(a, "cpu -mcpu=%s", word) : NULL;
}
