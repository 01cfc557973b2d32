/* bundle.c -- kernels to ship: one C function, a library, a header and a manifest in a folder.
 *
 *     NAME.h          the function, in C's own types; NAME_check() says what runs on a machine
 *     NAME.c          the parts, their conditions, and what finds out which of them run here
 *     NAME_….c|cu|…   the code of each part
 *     libNAME.so      all of it compiled, where there is a C compiler
 *     NAME.py, NAMEConfig.cmake, NAME.pc   for Python, CMake, pkg-config
 *     manifest.json   versions, hashes, limits, launches
 *
 * A part is a kernel for one architecture and one kind of arguments.  Neither this library nor
 * Python is needed to build or run it.  The same kernels give the same bytes: no paths, no times.
 */
#include "api/bundle.h"
#include "api/public.h"
#include "device_bundle.h"

/* why: not what it says before s is known, which the order of arguments would allow. */
void bundle_check_status(Status s, const char *const *why)
{
    if (s != STATUS_OK)
        recover_throw(s, "%s", *why);
}

static void put_text(void *bundle, const char *name, const char *text, size_t n)
{
    Bundle *b = bundle;
    const char *why = "";

    bundle_check_status(file_write(b->a, path_join(b->a, b->dir, name), text, n, &why), &why);
    vec_push(b->a, &b->files, arena_strdup(b->a, name));
}

/* Of parts with the same condition the better architecture comes first. */
static int place_of(const Bundle *b, const Part *p)
{
    int at = b->npart;

    if (!p->host || !p->host->rank)
        return at;
    while (at > 0 && (!p->when) == (!b->parts[at - 1].when) &&
           p->any_address == b->parts[at - 1].any_address &&
           (!p->when || !strcmp(p->when, b->parts[at - 1].when)) &&
           p->host->rank(p->own.spec) > p->host->rank(b->parts[at - 1].own.spec))
        at--;
    return at;
}

static Part *add_part(Bundle *b, const Part *p)
{
    int at = place_of(b, p);

    if (b->npart == PARTS_MOST)
        recover_throw(STATUS_USER, "a bundle of more than %d parts [bundle-parts]", PARTS_MOST);
    memmove(&b->parts[at + 1], &b->parts[at], (size_t)(b->npart - at) * sizeof *p);
    b->parts[at] = *p;
    b->npart++;
    for (int i = at; i < b->npart; i++)
        b->parts[i].own.part = i;
    return &b->parts[at];
}

/* The emitted text for one level. */
static void write_level(const Part *p)
{
    const TargetBundle *b = &p->own;
    Request r = p->k->request;
    Build build = {0};
    Recover frame;
    Str text;

    r.dump = r.dump_dir = NULL;
    r.check_each = false;
    r.overlap = OVERLAP_BESIDE; /* there is no compiler where it runs */
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

/* ---- NAME.c ---------------------------------------------------------------------------------- */

/* The arguments of the function, as they are handed on. */
static const char *arguments(const TargetBundle *b)
{
    const Func *f = b->tile;
    Str call;

    str_init(&call, b->arena);
    for (int i = 0; i < f->params.n; i++)
        str_printf(&call, ", %s", bundle_c_name(b->arena, f->params.at[i].name));
    for (int i = 0; i < f->dims.n; i++)
        if (!bundle_is_scalar(f, f->dims.at[i]))
            str_printf(&call, ", %s", bundle_c_name(b->arena, f->dims.at[i]->name));
    if (b->stream)
        str_puts(&call, ", stream");
    return call.n ? call.s + 2 : "";
}

static void put_addresses(const Part *p, Str *out)
{
    const Func *f = p->own.tile;

    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            str_printf(out, "(uintptr_t)%s %% %d == 0 && ",
                       bundle_c_name(p->own.arena, f->params.at[i].name), TENSOR_ALIGN);
}

static void put_tables(Bundle *b, Str *out)
{
    str_puts(out, "static const tl_part tl_parts[] = {\n");
    for (int i = 0; i < b->npart; i++) {
        str_puts(out, "    {");
        b->parts[i].host->row(&b->parts[i].own, &b->parts[i].k->built.module, out);
        str_puts(out, "},\n");
    }
    str_puts(out, "};\nstatic const char *const tl_when[] = {\n");
    for (int i = 0; i < b->npart; i++)
        str_printf(out, "    \"%s%s%s\",\n", b->parts[i].any_address ? ", tensors anywhere" : "",
                   b->parts[i].when ? ", where " : "", b->parts[i].when ? b->parts[i].when : "");
    str_printf(out, "};\nstatic tl_state tl_states[%d];\n\n", b->npart);
    str_puts(out, "#define TL_ABLE(i) tl_able(&tl_parts[i], &tl_states[i])\n"
                  "__attribute__((unused)) static int64_t tl_down(int64_t a, int64_t b)\n{\n"
                  "    return b ? a / b - (a % b && (a < 0) != (b < 0)) : 0;\n}\n"
                  "__attribute__((unused)) static int64_t tl_rest(int64_t a, int64_t b)\n{\n"
                  "    return b ? a - tl_down(a, b) * b : 0;\n}\n\n");
}

/* NAME(…): the first part that takes the arguments and runs here. */
static void put_function(Bundle *b, Str *out)
{
    const TargetBundle *own = &b->parts[0].own;

    bundle_prototype(own, out, "");
    str_puts(out, "\n{\n    int tl_r;\n\n    tl_enter();\n");
    for (int i = 0; i < b->npart; i++) {
        const Part *p = &b->parts[i];
        str_puts(out, i ? "    else if (" : "    if (");
        if (p->asks_address)
            put_addresses(p, out);
        if (p->when_c)
            str_printf(out, "(%s) && ", p->when_c);
        str_printf(out, "TL_ABLE(%d))\n        tl_r = tl_run_%d_%s(%s);\n", i, i, b->name,
                   arguments(&p->own));
    }
    str_puts(out, "    else\n        tl_r = tl_none();\n    tl_leave();\n    return tl_r;\n}\n\n");
}

/* What there is besides it: why no part ran, what runs here, the last message. */
static void put_answers(Bundle *b, Str *out)
{
    const char *name = b->name;

    str_printf(out, "const char *%s_error(void)\n{\n    return tl_said;\n}\n\n", name);
    str_printf(
        out,
        "int %s_check(char *text, size_t n)\n{\n    int runs = 0;\n    size_t at = 0;\n\n"
        "    tl_enter();\n    for (int i = 0; i < %d; i++) {\n"
        "        int fine = TL_ABLE(i);\n        runs += fine;\n"
        "        int k = snprintf(at < n ? text + at : NULL, at < n ? n - at : 0, "
        "\"%%s%%s: %%s%%s\\n\", tl_parts[i].arch,\n                         tl_when[i], fine ? "
        "\"runs here\" : \"does not run here: \", fine ? \"\" : tl_states[i].why);\n"
        "        at += k > 0 ? (size_t)k : 0;\n    }\n    tl_leave();\n    return runs;\n}\n",
        name, b->npart);
    if (b->parts[0].own.stream)
        return;
    str_printf(out, "\nvoid %s_set_threads(int n)\n{\n    tl_pool_set_threads(n);\n}\n\n", name);
    str_printf(out,
               "const char *%s_level(void)\n{\n    for (int i = 0; i < %d; i++)\n"
               "        if (TL_ABLE(i))\n            return tl_parts[i].arch;\n"
               "    return \"none\";\n}\n",
               name, b->npart);
}

static void put_none(Bundle *b, Str *out)
{
    str_printf(
        out,
        "static int tl_none(void)\n{\n    static _Thread_local char what[600];\n"
        "    for (int i = 0; i < %d; i++)\n        if (TL_ABLE(i))\n"
        "            return tl_no(\"no part of this bundle takes these arguments\", 0);\n"
        "    snprintf(what, sizeof what, \"no part of this bundle runs here; %%s: %%s\", "
        "tl_parts[%d].arch,\n             tl_states[%d].why);\n    return tl_no(what, 0);\n}\n\n",
        b->npart, b->npart - 1, b->npart - 1);
}

static void put_build_lines(Bundle *b, Str *out)
{
    const char *name = b->name;

    str_printf(out, "/* %s.c -- a tile kernel, made by tilelang %s.\n *\n * To build by hand:\n",
               name, TL_VERSION);
    for (int i = 0; i < b->npart && b->parts[i].host->levels; i++)
        str_printf(
            out,
            " *   cc -O3 %s -ffp-contract=fast -fno-math-errno -fno-strict-aliasing \\\n"
            " *      -fopenmp-simd -fPIC -c %s.c\n",
            b->parts[i].own.spec->cc_words, b->parts[i].own.stem);
    str_printf(out, " *   cc -std=c11 -O2 -fPIC -shared -o lib%s.so %s.c", name, name);
    for (int i = 0; i < b->npart && b->parts[i].host->levels; i++)
        str_printf(out, " %s.o", b->parts[i].own.stem);
    str_puts(out, " -lm -ldl -lpthread */\n#define _GNU_SOURCE\n");
}

static void write_text(Bundle *b)
{
    Str text, header;

    str_init(&text, b->a);
    str_init(&header, b->a);
    put_build_lines(b, &text);
    str_printf(&text, "#include \"%s.h\"\n\n", b->name);
    for (int i = 0; b->parts[0].host->text[i]; i++)
        str_printf(&text, "%s\n", (const char *)b->parts[0].host->text[i]);
    for (int i = 0; i < b->npart; i++) {
        if (b->parts[i].host->levels)
            write_level(&b->parts[i]);
        b->parts[i].host->part(&b->parts[i].own, &b->parts[i].k->built.module, &text);
    }
    put_tables(b, &text);
    put_none(b, &text);
    put_function(b, &text);
    put_answers(b, &text);
    put_text(b, arena_printf(b->a, "%s.c", b->name), text.s, text.n);
    bundle_header(&b->parts[0].own, &header);
    put_text(b, arena_printf(b->a, "%s.h", b->name), header.s, header.n);
}

/* ---- the library ----------------------------------------------------------------------------- */

/* The flags of a JIT build, for an object instead of a shared one. */
static const char *const *object_flags(Bundle *b, const TargetSpec *spec, bool exported, int *n)
{
    int all;
    const Hint *extra = hint_find(b->parts[0].own.tile->hints, "compile_flags");
    const char *words = b->parts[0].host->levels && extra ? extra->text : NULL;
    const char *const *from = compiler_flags(b->a, &b->cc, spec, words, &all);
    const char **to = NEWN(b->a, const char *, all + 8);

    *n = 0;
    for (int i = 0; i < all; i++)
        if (strcmp(from[i], "-shared") != 0)
            to[(*n)++] = from[i];
    to[(*n)++] = "-c";
    to[(*n)++] = exported ? "-fvisibility=default" : "-fvisibility=hidden";
    to[(*n)++] = arena_printf(b->a, "-ffile-prefix-map=%s=.", b->dir);
    return to;
}

static const char *build_object(Bundle *b, const char *tmp, const char *file,
                                const TargetSpec *spec, bool exported)
{
    int n;
    const char *why = "";
    const char *const *flags = object_flags(b, spec, exported, &n);
    const char *source = path_join(b->a, b->dir, file);
    const char *object = path_join(b->a, tmp, arena_printf(b->a, "%s.o", file));

    bundle_check_status(compiler_run(b->a, &b->cc, flags, n, &source, 1, object, &why), &why);
    return object;
}

static void build_objects(Bundle *b, const char *tmp)
{
    const char *objects[PARTS_MOST + 1], *why = "", *name = arena_printf(b->a, "lib%s.so", b->name);
    TargetSpec base;
    int n = 0;

    for (; n < b->npart && b->parts[n].host->levels; n++)
        objects[n] = build_object(b, tmp, arena_printf(b->a, "%s.c", b->parts[n].own.stem),
                                  b->parts[n].own.spec, false);
    if (!target_parse(b->a, runtime_cpu.bundle->base, &base, &why))
        recover_throw(STATUS_TARGET, "%s", why);
    objects[n++] = build_object(b, tmp, arena_printf(b->a, "%s.c", b->name), &base, true);

    const char *const flags[] = {"-shared",
                                 "-fPIC",
                                 "-Wl,--build-id=none",
                                 "-Wl,-s",
                                 "-lpthread",
                                 "-ldl",
                                 arena_printf(b->a, "-Wl,-soname,%s", name)};
    bundle_check_status(compiler_run(b->a, &b->cc, flags, COUNT(flags), objects, n,
                                     path_join(b->a, b->dir, name), &why),
                        &why);
    vec_push(b->a, &b->files, name);
}

/* Of a GPU's bundle there is the text alone where this machine has no C compiler. */
static void build_library(Bundle *b)
{
    char *tmp = NULL;
    bool shared = false;
    const char *why = "";
    Recover r;
    Status found = compiler_find(b->a, &b->cc, &why);

    if (found != STATUS_OK && !b->parts[0].host->levels) {
        b->cc.path = NULL;
        return;
    }
    bundle_check_status(found, &why);
    bundle_check_status(cache_open(b->a, &tmp, &shared, &why), &why);
    if (recover_open(&r) == 0) {
        build_objects(b, tmp);
        recover_close(&r);
    }
    tree_remove(tmp);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
}

/* ---- files of other tools -------------------------------------------------------------------- */

/* NAME in a text of device/bundle. */
static void put_template(Bundle *b, const char *file, const unsigned char *text)
{
    Str s;

    str_init(&s, b->a);
    for (const char *t = (const char *)text; *t;) {
        if (!strncmp(t, "@NAME@", 6)) {
            str_puts(&s, b->name);
            t += 6;
        } else if (!strncmp(t, "@VERSION@", 9)) {
            str_puts(&s, TL_VERSION);
            t += 9;
        } else {
            str_putc(&s, *t++);
        }
    }
    put_text(b, file, s.s, s.n);
}

static void write_templates(Bundle *b)
{
    put_template(b, arena_printf(b->a, "%sConfig.cmake", b->name), device_bundle_config_cmake);
    put_template(b, arena_printf(b->a, "%s.pc", b->name), device_bundle_package_pc);
    put_template(b, arena_printf(b->a, "%s.py", b->name), device_bundle_load_py);
}

/* ---- manifest.json --------------------------------------------------------------------------- */

static void file_entry(Bundle *b, Json *j, const char *name)
{
    char *data, hex[33];
    size_t n;
    const char *why = "";

    bundle_check_status(file_read(b->a, path_join(b->a, b->dir, name), &data, &n, &why), &why);
    hash_hex(data, n, hex);
    json_object(j, NULL);
    json_string(j, "name", name);
    json_int(j, "bytes", (int64_t)n);
    json_string(j, "xxh3_128", hex);
    json_end(j, '}');
}

static void put_exprs(Bundle *b, Json *j, const char *key, const Expr *const *x, int n)
{
    json_array(j, key);
    for (int d = 0; d < n; d++) {
        int64_t v;
        Str s;
        str_init(&s, b->a);
        print_expr(&s, x[d]);
        if (expr_is_int(x[d], &v))
            json_int(j, NULL, v);
        else
            json_string(j, NULL, s.s);
    }
    json_end(j, ']');
}

static void param_entry(Bundle *b, Json *j, const TargetBundle *own, int i)
{
    const Param *p = &own->tile->params.at[i];

    json_object(j, NULL);
    json_string(j, "name", p->name);
    json_string(j, "dtype", dtype_name(p->buf ? p->buf->type : p->var->type));
    if (p->buf) {
        put_exprs(b, j, "shape", p->buf->shape, p->buf->rank);
        if (p->buf->stride)
            put_exprs(b, j, "strides", p->buf->stride, p->buf->rank);
        json_bool(j, "read", own->use[i] & PARAM_READ);
        json_bool(j, "written", own->use[i] & PARAM_WRITE);
    }
    json_end(j, '}');
}

static void part_entry(Bundle *b, Json *j, const Part *p)
{
    const char *why = "";

    json_object(j, NULL);
    json_string(j, "arch", p->own.spec->arch);
    json_string(j, "target", p->own.spec->text);
    json_string(j, "stem", p->own.stem);
    json_string(j, "where", p->when);
    json_bool(j, "any_address", p->any_address);
    json_string(j, "compiler", p->own.compiler ? p->own.compiler : b->cc.version);
    if (p->host)
        p->host->tell(&p->own, &p->k->built.module, j);
    const JsonValue *tuned = p->tuned ? json_read(b->a, p->tuned, strlen(p->tuned), &why) : NULL;
    if (p->tuned && !tuned)
        recover_throw(STATUS_USER, "the tuning row of a part is no JSON: %s [bundle-tuned]", why);
    if (tuned)
        json_copy(j, "tuning", tuned);
    json_end(j, '}');
}

static void write_manifest(Bundle *b)
{
    const TargetBundle *own = &b->parts[0].own;
    const Func *f = own->tile;
    Str text;
    Json j;

    str_init(&text, b->a);
    json_open(&j, &text);
    json_object(&j, NULL);
    json_int(&j, "format", BUNDLE_FORMAT);
    json_string(&j, "name", b->name);
    json_string(&j, "made_by", "tilelang " TL_VERSION);
    json_string(&j, "target", own->spec->target->name);
    json_string(&j, "library", b->cc.path ? arena_printf(b->a, "lib%s.so", b->name) : NULL);
    json_string(&j, "compiler", b->cc.path ? b->cc.version : NULL);
    json_bool(&j, "stream", own->stream);
    json_array(&j, "params");
    for (int i = 0; i < f->params.n; i++)
        param_entry(b, &j, own, i);
    json_end(&j, ']');
    json_array(&j, "dims");
    for (int i = 0; i < f->dims.n; i++)
        if (!bundle_is_scalar(f, f->dims.at[i]))
            json_string(&j, NULL, f->dims.at[i]->name);
    json_end(&j, ']');
    json_array(&j, "parts");
    for (int i = 0; i < b->npart; i++)
        part_entry(b, &j, &b->parts[i]);
    json_end(&j, ']');
    json_array(&j, "files");
    for (int i = 0; i < b->files.n; i++)
        file_entry(b, &j, b->files.at[i]);
    json_end(&j, ']');
    json_end(&j, '}');
    put_text(b, "manifest.json", text.s, text.n);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static Part part_of(Bundle *b, const tl_bundle_part *from, tl_kernel *k)
{
    const Runtime *rt = k->built.rt;
    Part p = {.k = k,
              .host = rt->bundle,
              .when = from->when && *from->when ? from->when : NULL,
              .tuned = from->tuned};

    p.own = (TargetBundle){.arena = b->a,
                           .func = k->build.func,
                           .tile = k->build.tile,
                           .spec = &k->request.spec,
                           .version = TL_VERSION,
                           .name = b->name,
                           .text = k->build.source.s,
                           .use = k->use,
                           .put = put_text,
                           .arg = b,
                           .stream = rt->bundle && !rt->bundle->levels};
    if (p.when)
        p.when_c = bundle_when(b->a, p.own.tile, p.when);
    return p;
}

/* One function takes the calls of all: they have to look alike. */
static void check_alike(Bundle *b, const Part *p)
{
    Str one, two;

    str_init(&one, b->a);
    str_init(&two, b->a);
    bundle_prototype(&b->parts[0].own, &one, "");
    bundle_prototype(&p->own, &two, "");
    if (p->host != b->parts[0].host || strcmp(one.s, two.s) != 0)
        recover_throw(STATUS_USER,
                      "the parts of a bundle are called differently: '%s' and '%s' "
                      "[bundle-parts]",
                      one.s, two.s);
}

/* Names of files: NAME, NAME_ARCH where there are several, and a number for the same ones. */
static void name_files(Bundle *b, const tl_bundle_part *given, int n, Part *p, int i)
{
    bool several = false;
    int same = 0;

    for (int k = 0; k < n; k++)
        several |= strcmp(given[k].kernel->request.spec.arch, p->own.spec->arch) != 0;
    for (int k = 0; k < i; k++)
        same += !strcmp(given[k].kernel->request.spec.arch, p->own.spec->arch);
    p->own.stem = arena_printf(b->a, "%s%s%s%s%s", b->name, several ? "_" : "",
                               several ? bundle_c_name(b->a, p->own.spec->arch) : "",
                               same ? "_" : "", same ? arena_printf(b->a, "%d", same) : "");
}

static void compile_part(Part *p)
{
    if (!p->host || p->host->levels)
        return;
    if (!p->k->built.module.binary && !p->k->built.module.assembly)
        jit(p->k);
    p->own.compiler =
        arena_strdup(p->own.arena, context_compiler(p->k->ctx, p->k->built.rt).version);
}

/* The same kernel for tensors that start anywhere.  Where it cannot be made the first one says what
 * it needs. */
static void try_any_address(Bundle *b, const Part *of)
{
    static const tl_bundle_part plain;
    Recover r;

    if (recover_open(&r) == 0) {
        Part p = part_of(b, &plain, kernel_unaligned(of->k));
        p.any_address = true;
        p.own.stem = arena_printf(b->a, "%s_unaligned", of->own.stem);
        compile_part(&p);
        add_part(b, &p);
        recover_close(&r);
    }
    if (r.status == STATUS_MEM || r.status == STATUS_BUG)
        recover_throw(r.status, "%s", r.text);
}

/* Kernels of a device take tensors that start at multiples of 16 bytes; others the rest, behind
 * those parts without a condition. */
static void add_any_address(Bundle *b)
{
    Part parts[PARTS_MOST];
    int n = b->npart;

    memcpy(parts, b->parts, sizeof parts);
    for (int i = 0; i < n && parts[i].own.stream; i++)
        if (!parts[i].when)
            try_any_address(b, &parts[i]);
    for (int i = 0; i < b->npart && b->npart > n; i++)
        b->parts[i].asks_address = !b->parts[i].any_address;
}

static void add_levels(Bundle *b, const Part *p, const char *list)
{
    const BundleLevel *level;
    const char *why = "";
    int n = p->host->levels(b->a, list, &level);

    for (int i = 0; i < n; i++) {
        TargetSpec *spec = NEW(b->a, TargetSpec);
        if (!target_parse(b->a, level[i].target, spec, &why))
            recover_throw(STATUS_TARGET, "%s", why);
        Part *to = add_part(b, p);
        to->own.spec = spec;
        to->own.stem = arena_printf(b->a, "%s_%s", p->own.stem, level[i].suffix);
    }
}

static void add_parts(Bundle *b, const tl_bundle_part *given, int n, const tl_bundle_options *o)
{
    if (given[n - 1].when && *given[n - 1].when)
        recover_throw(STATUS_USER,
                      "the last part of a bundle takes everything: it has no condition, "
                      "not '%s' [bundle-guard]",
                      given[n - 1].when);
    for (int i = 0; i < n; i++) {
        Part p = part_of(b, &given[i], given[i].kernel);
        name_files(b, given, n, &p, i);
        if (b->npart)
            check_alike(b, &p);
        compile_part(&p);
        if (p.host->levels)
            add_levels(b, &p, o->levels);
        else
            add_part(b, &p);
    }
    if (!o->aligned_only)
        add_any_address(b);
}

/* ---- all of it ------------------------------------------------------------------------------- */

void bundle_header_text(tl_kernel *k, Str *out)
{
    static const tl_bundle_part plain;
    Bundle b = {.a = out->arena, .name = bundle_c_name(out->arena, kernel_name(k))};
    Part p = part_of(&b, &plain, k);
    bundle_header(&p.own, out);
}

static void write_all(Bundle *b, const tl_bundle_part *given, int n, const tl_bundle_options *o)
{
    const Target *t = given[0].kernel->request.spec.target;

    if (t->bundle && n > 1)
        recover_throw(STATUS_TARGET, "a bundle for %s has one part [bundle-target]", t->name);
    if (t->bundle) {
        Part p = part_of(b, given, given[0].kernel);
        p.own.stem = b->name;
        t->bundle(&add_part(b, &p)->own);
    } else {
        add_parts(b, given, n, o);
        write_text(b);
        build_library(b);
        write_templates(b);
    }
    write_manifest(b);
}

/* Levels of one text are a CPU's; elsewhere the list would choose nothing. */
static void check_levels(const tl_bundle_part *given, int n, const tl_bundle_options *o)
{
    for (int i = 0; i < n && o->levels; i++) {
        const BundleHost *host = given[i].kernel->built.rt->bundle;
        if (!host || !host->levels)
            recover_throw(STATUS_USER, "'%s': a bundle for %s has no levels to choose from "
                          "[bundle-target]", o->levels, given[i].kernel->request.spec.text);
    }
}

void bundle_write(const tl_bundle_part *given, int n, const tl_bundle_options *o, const char *dir)
{
    tl_kernel *k = given[0].kernel;
    const Runtime *rt = k->built.rt;
    Arena *a = k->arena;
    Bundle *b = NEW(a, Bundle);
    Recover r;

    if (rt->emulator && !rt->bundle)
        recover_throw(STATUS_TARGET, "a bundle for %s is built on a machine of that kind; here "
                      "%s runs its kernels, and --source prints their text [bundle-target]",
                      k->request.spec.text, rt->emulator);
    if (!k->request.spec.target->bundle && !rt->bundle)
        recover_throw(STATUS_TARGET, "there are no bundles for target %s here; --source prints its "
                      "text [bundle-target]", k->request.spec.text);
    check_levels(given, n, o);
    b->a = a;
    b->name = bundle_c_name(a, kernel_name(k));
    b->dir = place_begin(a, dir);
    if (recover_open(&r) == 0) {
        write_all(b, given, n, o);
        place_finish(a, b->dir, dir);
        recover_close(&r);
        return;
    }
    tree_remove(b->dir);
    recover_throw(r.status, "%s", r.text);
}
