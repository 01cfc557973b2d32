/* bundle.c -- parts of a bundle for CPUs: the kernel once for each level of instructions.
 *
 *     NAME.c          the function, dispatch by what the CPU has, a thread pool
 *     NAME_v3.c …     the emitted code, once per level */
#include "device_cpu.h"
#include "target/bundle.h"
#include "target/cpu/rt/cpu.h"

/* Levels of one bundle are of the kind of processor that it is built on. */
#if defined(__aarch64__)
static const char default_levels[] = "armv8-a,armv8.2-a,armv8.6-a";
static const char base_target[] = "cpu -mcpu=armv8-a";
enum { HERE_ARM = true };
#else
static const char default_levels[] = "x86-64-v2,x86-64-v3,x86-64-v4";
static const char base_target[] = "cpu -mcpu=x86-64";
enum { HERE_ARM = false };
#endif

/* What __builtin_cpu_supports must say yes to; of aarch64, what the kernel must name. */
static const struct {
    const char *arch, *suffix, *features;
    bool arm;
} level_table[] = {
    {"armv8.6-a", "v86", "atomics,fphp,asimdhp,asimdrdm,asimddp,i8mm,bf16", true},
    {"armv8.2-a", "v82", "atomics,fphp,asimdhp,asimdrdm,asimddp", true},
    {"armv8-a", "v80", "", true},
    {"sapphirerapids", "spr",
     "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16,avx512vbmi", false},
    {"znver4", "znver4",
     "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16,avx512vbmi", false},
    {"cooperlake", "cpx", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16",
     false},
    {"icelake-server", "icx", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512vbmi",
     false},
    {"x86-64-v4", "v4", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl", false},
    {"x86-64-v3", "v3", "avx2,fma,bmi,bmi2", false},
    {"x86-64-v2", "v2", "sse4.2,popcnt", false},
    {"x86-64", "v1", "", false},
};

/* ---- NAME.c ---------------------------------------------------------------------------------- */

/* Bits of AT_HWCAP (16) and AT_HWCAP2 (26). */
static const struct {
    const char *name;
    int which, bit;
} hwcap_table[] = {{"atomics", 16, 8}, {"fphp", 16, 9}, {"asimdhp", 16, 10}, {"asimdrdm", 16, 12},
                   {"asimddp", 16, 20}, {"i8mm", 26, 13}, {"bf16", 26, 14}};

static void put_has_arm(const TargetBundle *b, const char *features, Str *out)
{
    str_printf(out, "#include <sys/auxv.h>\nstatic int tl_has_%d(void)\n{\n    return 1", b->part);
    for (const char *s = features; *s;) {
        size_t n = strcspn(s, ",");
        for (int i = 0; i < COUNT(hwcap_table); i++)
            if (strlen(hwcap_table[i].name) == n && !strncmp(hwcap_table[i].name, s, n))
                str_printf(out, " && getauxval(%d) >> %d & 1", hwcap_table[i].which,
                           hwcap_table[i].bit);
        s += n + (s[n] == ',');
    }
    str_puts(out, ";\n}\n\n");
}

static void put_has(const TargetBundle *b, const char *features, Str *out)
{
    str_printf(out, "static int tl_has_%d(void)\n{\n    __builtin_cpu_init();\n    return 1",
               b->part);
    for (const char *s = features; *s;) {
        size_t n = strcspn(s, ",");
        str_printf(out, " && __builtin_cpu_supports(\"%.*s\")", (int)n, s);
        s += n + (s[n] == ',');
    }
    str_puts(out, ";\n}\n\n");
}

static void put_values(const TargetBundle *b, Str *out)
{
    const Func *f = b->tile;
    int n = 0;

    str_printf(out, "    int64_t tl_value[%d] = {0};\n", f->dims.n + f->params.n + 1);
    for (int i = 0; i < f->dims.n; i++)
        str_printf(out, "    tl_value[%d] = %s;\n", n++,
                   bundle_c_name(b->arena, f->dims.at[i]->name));
    for (int i = 0; i < f->params.n; i++) {
        const Var *v = f->params.at[i].var;
        if (!v)
            continue;
        const char *name = bundle_c_name(b->arena, f->params.at[i].name);
        if (dtype_is_float(v->type))
            str_printf(out, "    tl_value[%d] = ((union { double d; int64_t i; }){.d = %s}).i;\n",
                       n++, name);
        else
            str_printf(out, "    tl_value[%d] = (int64_t)%s;\n", n++, name);
    }
}

static int find_level(const char *arch, size_t n)
{
    for (int i = 0; i < COUNT(level_table); i++)
        if (strlen(level_table[i].arch) == n && !strncmp(level_table[i].arch, arch, n))
            return i;
    return -1;
}

static int level_of(const TargetBundle *b)
{
    return find_level(b->spec->arch, strlen(b->spec->arch));
}

static void part(const TargetBundle *b, const Module *m, Str *out)
{
    const Func *f = b->tile;

    int level = level_of(b);

    (void)m;
    (level_table[level].arm ? put_has_arm : put_has)(b, level_table[level].features, out);
    str_printf(out, "__attribute__((visibility(\"hidden\"))) tl_entry_fn tl_%s;\n\nstatic ",
               b->stem);
    bundle_prototype(b, out, arena_printf(b->arena, "tl_run_%d_", b->part));
    str_puts(out, "\n{\n    void *const tl_tensor[] = {");
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            str_printf(out, "(void *)%s, ", bundle_c_name(b->arena, f->params.at[i].name));
    str_puts(out, "0};\n");
    bundle_check_dims(f, out, "tl_pool_said");
    put_values(b, out);
    str_printf(out, "    return tl_pool_run(tl_%s, tl_tensor, tl_value);\n}\n\n", b->stem);
}

static void row(const TargetBundle *b, const Module *m, Str *out)
{
    (void)m;
    str_printf(out, "\"%s\", tl_has_%d, tl_%s", b->spec->arch, b->part, b->stem);
}

static void tell(const TargetBundle *b, const Module *m, Json *j)
{
    (void)m;
    json_object(j, "needs");
    json_string(j, "features", level_table[level_of(b)].features);
    json_end(j, '}');
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void take_levels(const char *levels, bool *wanted)
{
    for (const char *s = levels ? levels : default_levels; *s;) {
        size_t n = strcspn(s, ",");
        int found = find_level(s, n);
        if (found < 0)
            recover_throw(
                STATUS_USER,
                "no CPU level '%.*s'; there are x86-64, x86-64-v2, x86-64-v3, "
                "x86-64-v4, icelake-server, cooperlake, sapphirerapids, znver4, and on aarch64 "
                "armv8-a, armv8.2-a, armv8.6-a [bundle-level]",
                (int)n, s);
        if (level_table[found].arm != HERE_ARM)
            recover_throw(STATUS_USER,
                          "the CPU level '%.*s' is not of this machine's kind: bundles for it are "
                          "built on an %s machine [bundle-level]",
                          (int)n, s, HERE_ARM ? "x86-64" : "aarch64");
        wanted[found] = true;
        s += n + (s[n] == ',');
    }
}

static int levels(Arena *a, const char *list, const BundleLevel **out)
{
    bool wanted[COUNT(level_table)] = {0};
    BundleLevel *to = NEWN(a, BundleLevel, COUNT(level_table));
    int n = 0;

    take_levels(list, wanted);
    for (int i = 0; i < COUNT(level_table); i++)
        if (wanted[i])
            to[n++] = (BundleLevel){arena_printf(a, "cpu -mcpu=%s", level_table[i].arch),
                                    level_table[i].suffix};
    *out = to;
    return n;
}

static const unsigned char *const host_text[] = {device_cpu_abi_h, device_cpu_pool_h,
                                                 device_cpu_levels_h, NULL};
const BundleHost cpu_bundle = {host_text, part, row, tell, NULL, levels, base_target};
