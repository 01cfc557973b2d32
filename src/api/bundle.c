/* bundle.c -- a kernel to ship: C files, a header, a shared library and a manifest.
 *
 *     NAME.h          the function, in C's own types
 *     NAME.c          dispatch by what the CPU has, and a thread pool
 *     NAME_v3.c …     the emitted code, once per level
 *     libNAME.so      all of it compiled;  manifest.json says how
 *
 * Neither this library nor Python is needed to build or run it.  The same kernel gives the same
 * bytes: no paths, no times. */
#include "api/api.h"
#include "target/bundle.h"
#include "device_cpu.h"

static const char default_levels[] = "x86-64-v2,x86-64-v3,x86-64-v4";
enum { LEVELS_MOST = 8 };

/* What __builtin_cpu_supports must say yes to. */
static const struct {
    const char *arch, *suffix, *features;
} level_table[] = {
    {"sapphirerapids", "spr",
     "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16,avx512vbmi"},
    {"znver4", "znver4",
     "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16,avx512vbmi"},
    {"cooperlake", "cpx", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512bf16"},
    {"icelake-server", "icx", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni,avx512vbmi"},
    {"x86-64-v4", "v4", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl"},
    {"x86-64-v3", "v3", "avx2,fma,bmi,bmi2"},
    {"x86-64-v2", "v2", "sse4.2,popcnt"},
    {"x86-64", "v1", ""},
};

typedef struct {
    tl_kernel *k;
    Arena *a;
    const char *dir, *name;
    Func *f;
    TargetBundle own;
    int nlevel;
    int level[LEVELS_MOST]; /* rows of level_table, the best first */
    Compiler cc;
} Bundle;

/* ---- NAME.c ---------------------------------------------------------------------------------- */

static void put_build_lines(const Bundle *b, Str *out)
{
    str_printf(out, "/* %s.c -- dispatch and threads of a tile kernel, made by tilelang %s.\n *\n"
               " * To build by hand:\n", b->name, TL_VERSION);
    for (int i = 0; i < b->nlevel; i++)
        str_printf(
            out,
            " *   cc -O3 -march=%s -ffp-contract=fast -fno-math-errno -fno-strict-aliasing \\\n"
            " *      -fopenmp-simd -fPIC -c %s_%s.c\n",
            level_table[b->level[i]].arch, b->name, level_table[b->level[i]].suffix);
    str_printf(out, " *   cc -O2 -fPIC -shared -o lib%s.so %s.c", b->name, b->name);
    for (int i = 0; i < b->nlevel; i++)
        str_printf(out, " %s_%s.o", b->name, level_table[b->level[i]].suffix);
    str_puts(out, " -lm -lpthread */\n#define _GNU_SOURCE\n");
}

static void put_supports(const Bundle *b, Str *out, int row)
{
    const char *s = level_table[row].features;

    (void)b;
    if (!*s)
        str_puts(out, "1");
    while (*s) {
        size_t n = strcspn(s, ",");
        str_printf(out, "__builtin_cpu_supports(\"%.*s\")", (int)n, s);
        s += n;
        if (*s == ',') {
            str_puts(out, " && ");
            s++;
        }
    }
}

static void put_dispatch(const Bundle *b, Str *out)
{
    str_puts(
        out,
        "\ntypedef int tl_entry_fn(void *const *tensor, const int64_t *value, const tl_rt *rt);\n");
    for (int i = 0; i < b->nlevel; i++)
        str_printf(out, "__attribute__((visibility(\"hidden\"))) tl_entry_fn tl_%s_%s;\n", b->name,
                   level_table[b->level[i]].suffix);
    str_puts(out, "\nstatic tl_entry_fn *tl_chosen;\nstatic const char *tl_level = \"none\";\n\n"
                  "static void tl_choose(void)\n{\n    __builtin_cpu_init();\n");
    for (int i = 0; i < b->nlevel; i++) {
        str_puts(out, i ? "    else if (" : "    if (");
        put_supports(b, out, b->level[i]);
        str_printf(out, ")\n        tl_chosen = tl_%s_%s, tl_level = \"%s\";\n", b->name,
                   level_table[b->level[i]].suffix, level_table[b->level[i]].arch);
    }
    str_puts(out, "}\n\nstatic pthread_once_t tl_once = PTHREAD_ONCE_INIT;\n");
}

static void put_values(const Bundle *b, Str *out)
{
    const Func *f = b->f;
    int n = 0;

    str_printf(out, "    int64_t value[%d] = {0};\n", f->dims.n + f->params.n + 1);
    for (int i = 0; i < f->dims.n; i++)
        str_printf(out, "    value[%d] = %s;\n", n++, bundle_c_name(b->a, f->dims.at[i]->name));
    for (int i = 0; i < f->params.n; i++) {
        const Var *v = f->params.at[i].var;
        if (!v)
            continue;
        const char *name = bundle_c_name(b->a, f->params.at[i].name);
        if (dtype_is_float(v->type))
            str_printf(out, "    value[%d] = ((union { double d; int64_t i; }){.d = %s}).i;\n", n++,
                       name);
        else
            str_printf(out, "    value[%d] = (int64_t)%s;\n", n++, name);
    }
}

static void put_function(const Bundle *b, Str *out)
{
    str_puts(out, "\n");
    bundle_prototype(&b->own, out, "");
    str_puts(out, "\n{\n    void *const tensor[] = {");
    for (int i = 0; i < b->f->params.n; i++)
        if (b->f->params.at[i].buf)
            str_printf(out, "(void *)%s, ", bundle_c_name(b->a, b->f->params.at[i].name));
    str_puts(out, "0};\n");
    bundle_check_dims(b->f, out, "tl_pool_said");
    put_values(b, out);
    str_puts(
        out,
        "    pthread_once(&tl_once, tl_choose);\n    if (!tl_chosen) {\n"
        "        snprintf(tl_pool_said, sizeof tl_pool_said, \"this CPU has none of the levels "
        "the kernel was built for\");\n        return 1;\n    }\n"
        "    return tl_pool_run(tl_chosen, tensor, value);\n}\n\n");
    str_printf(out, "void %s_set_threads(int n)\n{\n    tl_pool_set_threads(n);\n}\n\n", b->name);
    str_printf(out, "const char *%s_error(void)\n{\n    return tl_pool_said;\n}\n\n", b->name);
    str_printf(out, "const char *%s_level(void)\n{\n    pthread_once(&tl_once, tl_choose);\n"
               "    return tl_level;\n}\n", b->name);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* why: not what it says before s is known, which the order of arguments would allow. */
static void check(Status s, const char *const *why)
{
    if (s != STATUS_OK)
        recover_throw(s, "%s", *why);
}

static void put_file(Bundle *b, const char *name, const Str *text)
{
    const char *why = "";
    check(file_write(b->a, path_join(b->a, b->dir, name), text->s, text->n, &why), &why);
}

static const char *level_file(const Bundle *b, int i, const char *ending)
{
    return arena_printf(b->a, "%s_%s%s", b->name, level_table[b->level[i]].suffix, ending);
}

static void write_level(Bundle *b, int i)
{
    const char *arch = level_table[b->level[i]].arch, *why = "";
    Request r = b->k->request;
    Build build = {0};
    Recover frame;
    Str text;

    r.dump = r.dump_dir = NULL;
    r.check_each = false;
    r.file =
        strrchr(r.file, '/') ? strrchr(r.file, '/') + 1 : r.file; /* messages name no folders */
    if (!target_parse(b->a, arena_printf(b->a, "cpu -mcpu=%s", arch), &r.spec, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    if (!r.ntext) { /* a host traced it: there is no text but the IR's */
        Str ir;
        str_init(&ir, b->a);
        print_func(&ir, b->k->build.tile);
        r.text = ir.s;
        r.ntext = ir.n;
        r.from = pass_table[0].name;
    }
    str_init(&text, b->a);
    if (recover_open(&frame) == 0) {
        build_open_arenas(&build, b->k->ctx->names);
        compile(&build, &r);
        str_printf(&text, "#define tl_entry tl_%s_%s\n", b->name, level_table[b->level[i]].suffix);
        str_putn(&text, build.source.s, build.source.n);
        recover_close(&frame);
    } else if (build.arena && build.diag.nerror) {
        diag_render(&build.diag, &text, false);
        snprintf(frame.text, sizeof frame.text, "%s", text.s);
    }
    build_free(&build);
    if (frame.status != STATUS_OK)
        recover_throw(frame.status, "%s", frame.text);
    put_file(b, level_file(b, i, ".c"), &text);
}

static void write_dispatch(Bundle *b)
{
    Str text;

    str_init(&text, b->a);
    put_build_lines(b, &text);
    str_printf(&text, "#include \"%s.h\"\n\n%s\n%s", b->name, (const char *)device_cpu_abi_h,
               (const char *)device_cpu_pool_h);
    put_dispatch(b, &text);
    put_function(b, &text);
    put_file(b, arena_printf(b->a, "%s.c", b->name), &text);

    Str header;
    str_init(&header, b->a);
    bundle_header(&b->own, &header);
    put_file(b, arena_printf(b->a, "%s.h", b->name), &header);
}

/* ---- the library ----------------------------------------------------------------------------- */

/* The flags of a JIT build, for an object instead of a shared one. */
static const char *const *object_flags(Bundle *b, const TargetSpec *spec, int *n)
{
    int all;
    const Hint *extra = hint_find(b->f->hints, "compile_flags");
    const char *const *from = compiler_flags(b->a, &b->cc, spec, extra ? extra->text : NULL, &all);
    const char **to = NEWN(b->a, const char *, all + 8);

    *n = 0;
    for (int i = 0; i < all; i++)
        if (strcmp(from[i], "-shared") != 0)
            to[(*n)++] = from[i];
    to[(*n)++] = "-c";
    to[(*n)++] = "-fvisibility=hidden";
    to[(*n)++] = arena_printf(b->a, "-ffile-prefix-map=%s=.", b->dir);
    return to;
}

static const char *compile_one(Bundle *b, const char *tmp, const char *file, const TargetSpec *spec,
                               bool exported)
{
    int n;
    const char *why = "";
    const char *const *flags = object_flags(b, spec, &n);
    const char *source = path_join(b->a, b->dir, file);
    const char *object = path_join(b->a, tmp, arena_printf(b->a, "%s.o", file));

    if (exported)
        ((const char **)flags)[n - 2] = "-fvisibility=default";
    check(compiler_run(b->a, &b->cc, flags, n, &source, 1, object, &why), &why);
    return object;
}

static void build_objects(Bundle *b, const char *tmp)
{
    const char *objects[LEVELS_MOST + 1], *why = "";
    TargetSpec base;

    for (int i = 0; i < b->nlevel; i++) {
        TargetSpec spec;
        const char *text = arena_printf(b->a, "cpu -mcpu=%s", level_table[b->level[i]].arch);
        if (!target_parse(b->a, text, &spec, &why))
            recover_throw(STATUS_TARGET, "%s", why);
        objects[i] = compile_one(b, tmp, level_file(b, i, ".c"), &spec, false);
    }
    if (!target_parse(b->a, "cpu -mcpu=x86-64", &base, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    objects[b->nlevel] = compile_one(b, tmp, arena_printf(b->a, "%s.c", b->name), &base, true);

    const char *const flags[] = {"-shared", "-fPIC", "-Wl,--build-id=none", "-Wl,-s", "-lpthread",
                                 arena_printf(b->a, "-Wl,-soname,lib%s.so", b->name)};
    const char *out = path_join(b->a, b->dir, arena_printf(b->a, "lib%s.so", b->name));
    check(compiler_run(b->a, &b->cc, flags, COUNT(flags), objects, b->nlevel + 1, out, &why), &why);
}

static void build_library(Bundle *b)
{
    char *tmp = NULL;
    bool shared = false;
    const char *why = "";
    Recover r;

    check(compiler_find(b->a, &b->cc, &why), &why);
    check(cache_open(b->a, &tmp, &shared, &why), &why);
    if (recover_open(&r) == 0) {
        build_objects(b, tmp);
        recover_close(&r);
    }
    tree_remove(tmp);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
}

/* ---- manifest.json --------------------------------------------------------------------------- */

static void file_entry(Bundle *b, Json *j, const char *name)
{
    char *data, hex[33];
    size_t n;
    const char *why = "";

    check(file_read(b->a, path_join(b->a, b->dir, name), &data, &n, &why), &why);
    hash_hex(data, n, hex);
    json_object(j, NULL);
    json_string(j, "name", name);
    json_int(j, "bytes", (int64_t)n);
    json_string(j, "xxh3_128", hex);
    json_end(j, '}');
}

static void param_entry(Bundle *b, Json *j, int i)
{
    const Param *p = &b->f->params.at[i];

    json_object(j, NULL);
    json_string(j, "name", p->name);
    json_string(j, "dtype", dtype_name(p->buf ? p->buf->type : p->var->type));
    if (p->buf) {
        json_array(j, "shape");
        for (int d = 0; d < p->buf->rank; d++) {
            int64_t v;
            Str s;
            str_init(&s, b->a);
            print_expr(&s, p->buf->shape[d]);
            if (expr_is_int(p->buf->shape[d], &v))
                json_int(j, NULL, v);
            else
                json_string(j, NULL, s.s);
        }
        json_end(j, ']');
        json_bool(j, "read", b->k->use[i] & PARAM_READ);
        json_bool(j, "written", b->k->use[i] & PARAM_WRITE);
    }
    json_end(j, '}');
}

static void write_manifest(Bundle *b)
{
    Str text;
    Json j;

    str_init(&text, b->a);
    json_open(&j, &text);
    json_object(&j, NULL);
    json_string(&j, "name", b->name);
    json_string(&j, "made_by", "tilelang " TL_VERSION);
    json_string(&j, "compiler", b->cc.version);
    json_array(&j, "params");
    for (int i = 0; i < b->f->params.n; i++)
        param_entry(b, &j, i);
    json_end(&j, ']');
    json_array(&j, "dims");
    for (int i = 0; i < b->f->dims.n; i++)
        json_string(&j, NULL, b->f->dims.at[i]->name);
    json_end(&j, ']');
    json_array(&j, "levels");
    for (int i = 0; i < b->nlevel; i++)
        json_string(&j, NULL, level_table[b->level[i]].arch);
    json_end(&j, ']');
    json_array(&j, "files");
    file_entry(b, &j, arena_printf(b->a, "%s.h", b->name));
    file_entry(b, &j, arena_printf(b->a, "%s.c", b->name));
    for (int i = 0; i < b->nlevel; i++)
        file_entry(b, &j, level_file(b, i, ".c"));
    file_entry(b, &j, arena_printf(b->a, "lib%s.so", b->name));
    json_end(&j, ']');
    json_end(&j, '}');
    str_putc(&text, '\n');
    put_file(b, "manifest.json", &text);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void take_levels(Bundle *b, const char *levels)
{
    bool wanted[COUNT(level_table)] = {0};

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
                "x86-64-v4, icelake-server, cooperlake, sapphirerapids, znver4 [bundle-level]",
                (int)n, s);
        wanted[found] = true;
        s += n + (s[n] == ',');
    }
    for (int i = 0; i < COUNT(level_table); i++)
        if (wanted[i] && b->nlevel < LEVELS_MOST)
            b->level[b->nlevel++] = i;
}

static void put_text(void *bundle, const char *name, const char *text, size_t n)
{
    put_file(bundle, name, &(Str){.s = (char *)text, .n = n});
}

static TargetBundle bundle_of(tl_kernel *k, Arena *a)
{
    return (TargetBundle){.arena = a, .func = k->build.func, .tile = k->build.tile,
                          .spec = &k->request.spec, .version = TL_VERSION, .name = kernel_name(k),
                          .text = k->build.source.s, .use = k->use,
                          .stream = k->built.rt->bundle != NULL};
}

void bundle_header_text(tl_kernel *k, Str *out)
{
    TargetBundle b = bundle_of(k, out->arena);
    bundle_header(&b, out);
}

void bundle_write(tl_kernel *k, Arena *a, const char *dir, const char *levels)
{
    Bundle b = {.k = k,
                .a = a,
                .dir = dir,
                .f = k->build.tile,
                .own = bundle_of(k, a),
                .name = bundle_c_name(a, kernel_name(k))};
    const Runtime *rt = k->built.rt;
    const char *why = "";

    b.own.put = put_text;
    b.own.arg = &b;
    if (k->request.spec.target->bundle || rt->bundle)
        check(dir_make(a, dir, &why), &why);
    if (k->request.spec.target->bundle) {
        k->request.spec.target->bundle(&b.own);
        return;
    }
    if (rt->bundle) { /* without a compiler the text is still written */
        rt->bundle(&b.own, NULL);
        jit(k);
        rt->bundle(&b.own, &k->built.module);
        return;
    }
    if (rt != &runtime_cpu)
        recover_throw(STATUS_TARGET,
                      "bundles are made for the cpu target, not for %s [bundle-target]",
                      k->request.spec.target->name);
    take_levels(&b, levels);
    check(dir_make(a, dir, &why), &why);
    for (int i = 0; i < b.nlevel; i++)
        write_level(&b, i);
    write_dispatch(&b);
    build_library(&b);
    write_manifest(&b);
}
