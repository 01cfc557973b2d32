/* build.c -- tl build: compile; show the passes at work; write a bundle. */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    const char *out, *levels, *arch, *tuned, *dump, *dump_dir, *stop_after, *from, *skip;
    bool time, check_each, check_text, plans, audit, source, aligned_only;
    OptList variants;
} BuildOptions;

static const Opt opts[] = {
    COMMON_OPTS(BuildOptions, common),
    {"output", 'o', OPT_TEXT, "DIR", "write a self-contained bundle there",
     offsetof(BuildOptions, out)},
    {"levels", 0, OPT_TEXT, "LIST", "CPU levels of the bundle; x86-64-v2,x86-64-v3,x86-64-v4",
     offsetof(BuildOptions, levels)},
    {"arch", 0, OPT_TEXT, "LIST", "architectures of the bundle: sm_80,sm_90a; gfx942; CPU levels",
     offsetof(BuildOptions, arch)},
    {"variant", 0, OPT_LIST, "WHERE: NAME=VALUE …", "of the bundle: other knobs where this holds",
     offsetof(BuildOptions, variants)},
    {"tuned", 0, OPT_TEXT, "FILE.json", "of the bundle: knobs that tl tune export or --json wrote",
     offsetof(BuildOptions, tuned)},
    {"aligned-only", 0, OPT_FLAG, NULL, "of the bundle: nothing for tensors that start anywhere",
     offsetof(BuildOptions, aligned_only)},
    {"source", 0, OPT_FLAG, NULL, "print the C code", offsetof(BuildOptions, source)},
    {"plans", 0, OPT_FLAG, NULL, "print what was decided, and why", offsetof(BuildOptions, plans)},
    {"audit", 0, OPT_FLAG, NULL, "print where the kernel got less than the target has, and why",
     offsetof(BuildOptions, audit)},
    {"time", 0, OPT_FLAG, NULL, "print the time of each pass", offsetof(BuildOptions, time)},
    {"dump", 0, OPT_MAYBE, "PASS,...|all|tile", "print the IR after passes; alone: list the passes",
     offsetof(BuildOptions, dump)},
    {"dump-dir", 0, OPT_TEXT, "DIR", "write dumps to files there",
     offsetof(BuildOptions, dump_dir)},
    {"stop-after", 0, OPT_TEXT, "PASS", "stop and print the IR",
     offsetof(BuildOptions, stop_after)},
    {"from", 0, OPT_TEXT, "PASS", "the file is a dump; start at this pass",
     offsetof(BuildOptions, from)},
    {"skip", 0, OPT_TEXT, "PASS,...", "leave out opt_ passes", offsetof(BuildOptions, skip)},
    {"check-each", 0, OPT_FLAG, NULL, "simulate after every pass and name the one that broke it",
     offsetof(BuildOptions, check_each)},
    {"check-text", 0, OPT_FLAG, NULL, "for a GPU: run the emitted text on the host, and compare",
     offsetof(BuildOptions, check_text)},
};

static void print_texts(const BuildOptions *o, tl_kernel *k)
{
    if (o->dump && !o->dump_dir)
        fputs(tl_kernel_text(k, TL_TEXT_DUMP), stdout);
    if (o->stop_after && !o->dump)
        fputs(tl_kernel_text(k, TL_TEXT_IR), stdout);
    if (o->plans)
        fputs(tl_kernel_text(k, TL_TEXT_PLANS), stdout);
    if (o->audit)
        fputs(tl_kernel_text(k, TL_TEXT_AUDIT), stdout);
    if (o->source && !o->stop_after)
        fputs(tl_kernel_text(k, TL_TEXT_SOURCE), stdout);
    if (o->time)
        fputs(tl_kernel_text(k, TL_TEXT_TIME), stdout);
}

static const OptRule rules[] = {
    {"stop-after", NULL, "source output"},
};

/* ---- bundles: a kernel for each variant and architecture ------------------------------------- */

enum { PARTS_MOST = 64 };

typedef struct {
    tl_bundle_part at[PARTS_MOST];
    int n;
} Parts;

/* "WHERE: NAME=VALUE …" into the job of the variant; false: it is none. */
static bool take_variant(Job *j, const char *text, Job *out, const char **when)
{
    const char *colon = strrchr(text, ':');
    char *rest = NULL, *words = arena_strdup(j->arena, colon ? colon + 1 : "");

    *out = *j;
    out->defines = NEWN(j->arena, tl_define, (size_t)j->ndefine + strlen(words) + 1);
    out->ndefine = 0;
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        char *equal = strchr(w, '=');
        if (!equal || equal == w)
            return false;
        *equal = 0;
        out->defines[out->ndefine++] = (tl_define){w, equal + 1};
    }
    int own = out->ndefine;
    for (int i = 0; i < j->ndefine; i++) {
        bool again = false;
        for (int k = 0; k < own; k++)
            again |= !strcmp(out->defines[k].name, j->defines[i].name);
        if (!again)
            out->defines[out->ndefine++] = j->defines[i];
    }
    *when = colon ? arena_strndup(j->arena, text, (size_t)(colon - text)) : "";
    return colon && **when && own;
}

/* A target that is named has a part for each architecture, or levels of one text. */
static bool has_archs(Job *j, const BuildOptions *o)
{
    tl_target_facts facts = TL_TARGET_FACTS_INIT;
    return o->common.target && tl_target_ask(j->ctx, o->common.target, &facts) == TL_OK &&
           facts.archs;
}

/* The target with the first word of --arch, whose length n is; as it is where n is 0. */
static const char *target_of(Job *j, const BuildOptions *o, const char *list, size_t n)
{
    return n ? arena_printf(j->arena, "%s -arch=%.*s", o->common.target, (int)n, list)
             : o->common.target;
}

/* One kernel a word of --arch, in that order. */
static int add_archs(Job *j, const BuildOptions *o, const tl_options *t, const char *when,
                     const tl_kernel *k, Parts *p)
{
    const char *list = o->arch && has_archs(j, o) ? o->arch : "";

    do {
        size_t n = strcspn(list, ",");
        CommonOptions c = o->common;
        tl_options own = *t;
        Job job = *j;
        int code = EXIT_OK;
        c.target = target_of(j, o, list, n);
        if (p->n == PARTS_MOST)
            return fail_text(EXIT_USER, "a bundle of more than %d parts", PARTS_MOST);
        if (o->tuned && !when)
            code = tuned_take(&job, o->tuned, tl_kernel_name(k), c.target, &p->at[p->n].tuned);
        if (code == EXIT_OK)
            code = job_compile(&job, &c, &own, &p->at[p->n].kernel);
        if (code != EXIT_OK)
            return code;
        p->at[p->n++].when = when;
        list += n + (list[n] == ',');
    } while (*list);
    return EXIT_OK;
}

static int write_bundle(Job *j, const BuildOptions *o, const Parts *p)
{
    tl_bundle_options b = {.size = sizeof b,
                           .levels = o->levels || has_archs(j, o) ? o->levels : o->arch,
                           .aligned_only = o->aligned_only};
    Progress *bar = progress_start("building the bundle");
    tl_status s = tl_bundle_write(p->at, p->n, &b, o->out);

    progress_stop(bar);
    if (s != TL_OK)
        return fail_with(j->ctx, s);
    if (file_exists(path_join(j->arena, o->out, "index.html"))) {
        int code = page_check(j, p->at[0].kernel, o->out);
        if (code != EXIT_OK)
            return code;
    }
    printf("%s: bundle of %s\n", o->out, tl_kernel_name(p->at[0].kernel));
    return EXIT_OK;
}

static int bundle(Job *j, const BuildOptions *o, const tl_options *t, tl_kernel *k)
{
    Parts p = {0};
    int code = EXIT_OK;

    for (int i = 0; code == EXIT_OK && i < o->variants.n; i++) {
        const char *when = NULL;
        Job own;
        if (!take_variant(j, o->variants.at[i], &own, &when))
            code = fail_text(EXIT_USAGE, "--variant '%s': it is CONDITION: NAME=VALUE …",
                             o->variants.at[i]);
        else
            code = add_archs(&own, o, t, when, k, &p);
    }
    if (code == EXIT_OK && (o->arch || o->tuned))
        code = add_archs(j, o, t, NULL, k, &p);
    else if (code == EXIT_OK)
        p.at[p.n++] = (tl_bundle_part){.kernel = k};
    if (code == EXIT_OK)
        code = write_bundle(j, o, &p);
    for (int i = 0; i < p.n; i++)
        if (p.at[i].kernel != k)
            tl_kernel_free(p.at[i].kernel);
    return code;
}

/* Options that say what a bundle holds, where none is written, and an architecture named twice. */
static int check_options(Job *j, const BuildOptions *o)
{
    bool archs = o->arch && has_archs(j, o);
    const char *word = o->levels           ? "levels"
                       : o->variants.n     ? "variant"
                       : o->tuned          ? "tuned"
                       : o->aligned_only   ? "aligned-only"
                       : o->arch && !archs ? "arch"
                                           : NULL;

    if (archs && (strstr(o->common.target, "-arch=") || strstr(o->common.target, "-mcpu=")))
        return fail_text(EXIT_USAGE, "--target '%s' and --arch %s both name an architecture",
                         o->common.target, o->arch);
    if (!word && archs && strchr(o->arch, ','))
        word = "arch with several";
    if (o->out || !word)
        return EXIT_OK;
    return fail_text(EXIT_USAGE, "--%s is for a bundle; name its folder with -o DIR", word);
}

static int build(Job *j, const BuildOptions *o)
{
    CommonOptions common = o->common;
    bool looks = o->source || o->plans || o->dump || o->stop_after;
    tl_options t = {.dump = o->dump,
                    .dump_dir = o->dump_dir,
                    .stop_after = o->stop_after,
                    .from = o->from,
                    .skip = o->skip,
                    .check_each = o->check_each,
                    .check_text = o->check_text,
                    .no_build = (looks && !o->time) || o->out,
                    .allow_unused = o->out != NULL};
    tl_kernel *k = NULL;

    if (o->dump_dir && !o->dump)
        t.dump = "all";
    if (o->arch && has_archs(j, o))
        common.target = target_of(j, o, o->arch, strcspn(o->arch, ","));
    int code = job_compile(j, &common, &t, &k);
    if (code != EXIT_OK)
        return code;
    print_texts(o, k);
    if (o->out) {
        code = bundle(j, o, &t, k);
    } else if (!looks && !o->time && !o->audit) {
        printf("%s: %s\n", tl_kernel_name(k),
               tl_kernel_from_cache(k) ? "from the cache"
               : tl_kernel_unkept(k)   ? "built, and not kept: the cache cannot be written"
                                       : "built");
        fputs(tl_kernel_text(k, TL_TEXT_RESOURCES), stdout);
    }
    tl_kernel_free(k);
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    BuildOptions *o = options;
    Job j;

    if (o->dump && !*o->dump)
        return list_passes();
    int code = job_open(&j, nargs, args);
    if (code == EXIT_OK)
        code = check_options(&j, o);
    if (code == EXIT_OK)
        code = build(&j, o);
    job_close(&j);
    return code;
}

const Verb verb_build = {
    .verb = "build",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "compile a kernel; show the passes; write a bundle",
    .detail =
        "With -o DIR the kernel becomes C files, a header, a shared library and a manifest "
        "that need\n"
        "neither this program nor Python (doc/bundles.md); for GPUs its text and code too,\n"
        "of several architectures; for webgpu its WGSL, an ES module with types, and a page that\n"
        "runs and checks it.  Else it is compiled into the cache.\n\n"
        "    tl build gemm.py -o out --target cuda --arch sm_80,sm_90a\n"
        "    tl build gemm.py -o out --variant 'M >= 1024: block_M=128'\n"
        "    tl build gemm.py -o out --tuned rows.json\n"
        "    tl build gemm.py --source             the C code\n"
        "    tl build gemm.py --audit              what fell back, and why\n"
        "    tl build gemm.py --dump=lower_tiles   IR after one pass\n"
        "    tl build gemm.py --dump=all --dump-dir=d\n"
        "    tl build d/17-lower_tiles.tile --from=lower_parallel --source\n"
        "    tl build gemm.py --check-each         which pass changes the answer\n"
        "    tl build gemm.py --target 'cuda -arch=sm_90a' --check-each --check-text --source\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .run = run,
    .options_size = sizeof(BuildOptions),
};
