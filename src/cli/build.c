/* build.c -- tl build: compile; show the passes at work; write a bundle. */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    const char *out, *levels, *dump, *dump_dir, *stop_after, *from, *skip;
    bool time, check_each, check_text, plans, audit, source;
} BuildOptions;

static const Opt opts[] = {
    COMMON_OPTS(BuildOptions, common),
    {"output", 'o', OPT_TEXT, "DIR", "write a self-contained bundle there",
     offsetof(BuildOptions, out)},
    {"levels", 0, OPT_TEXT, "LIST", "CPU levels of the bundle; x86-64-v2,x86-64-v3,x86-64-v4",
     offsetof(BuildOptions, levels)},
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

static int build(Job *j, const BuildOptions *o)
{
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
    int code = job_compile(j, &o->common, &t, &k);
    if (code != EXIT_OK)
        return code;
    print_texts(o, k);
    if (o->out) {
        Progress *p = progress_start("building the bundle");
        tl_status s = tl_kernel_bundle(k, o->out, o->levels);
        progress_stop(p);
        if (s == TL_OK && file_exists(path_join(j->arena, o->out, "index.html")))
            code = page_check(j, k, o->out);
        if (s == TL_OK && code == EXIT_OK)
            printf("%s: bundle of %s\n", o->out, tl_kernel_name(k));
        else if (s != TL_OK)
            code = fail_with(j->ctx, s);
    } else if (!looks && !o->time && !o->audit) {
        printf("%s: %s\n", tl_kernel_name(k), tl_kernel_from_cache(k) ? "from the cache" : "built");
        fputs(tl_kernel_text(k, TL_TEXT_RESOURCES), stdout);
    }
    tl_kernel_free(k);
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    BuildOptions *o = options;
    Job j;

    if (o->dump && !*o->dump) {
        tl_context *c = tl_open();
        if (!c)
            return fail_text(EXIT_MACHINE, "out of memory");
        fputs(tl_passes(c), stdout);
        tl_close(c);
        return EXIT_OK;
    }
    int code = job_open(&j, nargs, args);
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
        "neither this program nor Python; for cuda its text, PTX, cubin and how to launch it;\n"
        "for webgpu its WGSL, an ES module with types, and a page that runs and checks it.\n"
        "Else it is compiled into the cache.\n\n"
        "    tl build gemm.py --source             the C code\n"
        "    tl build gemm.py --audit              what fell back, and why\n"
        "    tl build gemm.py --dump=lower_tiles   IR after one pass\n"
        "    tl build gemm.py --dump=all --dump-dir=d\n"
        "    tl build d/17-lower_tiles.tile --from=lower_parallel --source\n"
        "    tl build gemm.py --check-each         which pass changes the answer\n"
        "    tl build gemm.py --target 'cuda -arch=sm_90a' --check-each --check-text --source\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(BuildOptions),
};
