/* bundle_cpu.c -- parts of a bundle for CPUs: the kernel once for each level of instructions.
 *
 *     NAME.c          the function, dispatch by what the CPU has, a thread pool
 *     NAME_v3.c …     the emitted code, once per level */
#include "api/bundle.h"
#include "device_cpu.h"

/* Levels of one bundle are of the kind of processor that it is built on. */
#if defined(__aarch64__)
static const char default_levels[] = "armv8-a,armv8.2-a,armv8.6-a";
const char cpu_base_target[] = "cpu -mcpu=armv8-a";
enum { HERE_ARM = true };
#else
static const char default_levels[] = "x86-64-v2,x86-64-v3,x86-64-v4";
const char cpu_base_target[] = "cpu -mcpu=x86-64";
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

/* The emitted text for one level. */
static void write_level(const TargetBundle *b)
{
    const Part *p = &((Bundle *)b->arg)->parts[b->part];
    Request r = p->k->request;
    Build build = {0};
    Recover frame;
    Str text;

    r.dump = r.dump_dir = NULL;
    r.check_each = false;
    r.file =
        strrchr(r.file, '/') ? strrchr(r.file, '/') + 1 : r.file; /* messages name no folders */
    r.spec = *b->spec;
    if (!r.ntext) { /* a host traced it: there is no text but the IR's */
        Str ir;
        str_init(&ir, b->arena);
        print_func(&ir, p->k->build.tile);
        r.text = ir.s;
        r.ntext = ir.n;
        r.from = pass_table[0].name;
    }
    str_init(&text, b->arena);
    if (recover_open(&frame) == 0) {
        build_open_arenas(&build, p->k->ctx->names);
        compile(&build, &r);
        str_printf(&text, "#define tl_entry tl_%s\n", b->stem);
        str_putn(&text, build.source.s, build.source.n);
        recover_close(&frame);
    } else if (build.arena && build.diag.nerror) {
        diag_render(&build.diag, &text, false);
        snprintf(frame.text, sizeof frame.text, "%s", text.s);
    }
    build_free(&build);
    if (frame.status != STATUS_OK)
        recover_throw(frame.status, "%s", frame.text);
    b->put(b->arg, arena_printf(b->arena, "%s.c", b->stem), text.s, text.n);
}

static void part(const TargetBundle *b, const Module *m, Str *out)
{
    const Func *f = b->tile;

    (void)m;
    write_level(b);
    int level = ((Bundle *)b->arg)->parts[b->part].level;
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
    json_string(j, "features", level_table[((Bundle *)b->arg)->parts[b->part].level].features);
    json_end(j, '}');
}

static const unsigned char *const host_text[] = {device_cpu_abi_h, device_cpu_pool_h,
                                                 device_cpu_levels_h, NULL};
const BundleHost cpu_bundle = {host_text, part, row, tell, NULL};

/* ---- levels ---------------------------------------------------------------------------------- */

static void take_levels(const char *levels, bool *wanted)
{
    for (const char *s = levels ? levels : default_levels; *s;) {
        size_t n = strcspn(s, ",");
        int found = -1;
        for (int i = 0; i < COUNT(level_table); i++)
            if (strlen(level_table[i].arch) == n && !strncmp(level_table[i].arch, s, n))
                found = i;
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

void cpu_add_levels(Bundle *b, const Part *p, const char *levels)
{
    bool wanted[COUNT(level_table)] = {0};
    const char *why = "";

    take_levels(levels, wanted);
    for (int i = 0; i < COUNT(level_table); i++) {
        if (!wanted[i])
            continue;
        TargetSpec *spec = NEW(b->a, TargetSpec);
        if (!target_parse(b->a, arena_printf(b->a, "cpu -mcpu=%s", level_table[i].arch), spec,
                          &why))
            recover_throw(STATUS_TARGET, "%s", why);
        Part *to = bundle_add(b, p);
        to->level = i;
        to->own.spec = spec;
        to->own.stem = arena_printf(b->a, "%s_%s", p->own.stem, level_table[i].suffix);
    }
}

int cpu_objects(Bundle *b, const char *tmp, const char **objects)
{
    for (int i = 0; i < b->npart; i++)
        objects[i] = bundle_object(b, tmp, arena_printf(b->a, "%s.c", b->parts[i].own.stem),
                                   b->parts[i].own.spec, false);
    return b->npart;
}
