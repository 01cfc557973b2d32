/* dump.c -- tl dump: the IR of a kernel at a pass; its C code; its plans; the passes; the kernels.
 */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    const char *after;
    bool source, plans, passes, list, header, tiles;
} DumpOptions;

static const Opt opts[] = {
    COMMON_OPTS(DumpOptions, common),
    {"after", 0, OPT_TEXT, "PASS", "the IR after this pass; the tile form by default",
     offsetof(DumpOptions, after)},
    {"source", 0, OPT_FLAG, NULL, "the C code", offsetof(DumpOptions, source)},
    {"header", 0, OPT_FLAG, NULL, "the C declarations of a bundle", offsetof(DumpOptions, header)},
    {"plans", 0, OPT_FLAG, NULL, "what was decided, and why", offsetof(DumpOptions, plans)},
    {"tiles", 0, OPT_FLAG, NULL, "the kernels of a tensor program, and what was fused",
     offsetof(DumpOptions, tiles)},
    {"passes", 0, OPT_FLAG, NULL, "list the passes", offsetof(DumpOptions, passes)},
    {"list", 0, OPT_FLAG, NULL, "list the kernels of the file and their knobs",
     offsetof(DumpOptions, list)},
};

static const OptRule rules[] = {
    {"passes", NULL, "list after source plans header tiles"},
    {"list", NULL, "after source plans header tiles"},
    {"after", NULL, "source plans header tiles"},
    {"tiles", NULL, "source plans header"},
};

int list_passes(void)
{
    tl_context *c = tl_open();
    if (!c)
        return fail_text(EXIT_MACHINE, "out of memory");
    fputs(tl_passes(c), stdout);
    tl_close(c);
    return EXIT_OK;
}

static int list_kernels(Job *j)
{
    const char *text;
    tl_status s = tl_list(j->ctx, j->file, &text);

    if (s != TL_OK)
        return fail_with(j->ctx, s);
    fputs(text, stdout);
    return EXIT_OK;
}

static int dump(Job *j, const DumpOptions *o)
{
    bool whole = o->source || o->plans || o->header;
    tl_options t = {.no_build = true, .stop_after = whole ? NULL : o->after,
                    .dump = whole || o->after ? NULL : o->tiles ? "program" : "tile"};
    tl_kernel *k = NULL;

    if (t.dump)
        t.stop_after = "check_kernel";
    int code = job_compile(j, &o->common, &t, &k);
    if (code != EXIT_OK)
        return code;
    if (o->plans)
        fputs(tl_kernel_text(k, TL_TEXT_PLANS), stdout);
    if (o->header)
        fputs(tl_kernel_text(k, TL_TEXT_HEADER), stdout);
    if (o->source)
        fputs(tl_kernel_text(k, TL_TEXT_SOURCE), stdout);
    if (!whole)
        fputs(tl_kernel_text(k, o->after ? TL_TEXT_IR : TL_TEXT_DUMP), stdout);
    tl_kernel_free(k);
    return EXIT_OK;
}

static int run(void *options, int nargs, const char **args)
{
    DumpOptions *o = options;
    Job j;

    if (o->passes)
        return list_passes();
    int code = job_open(&j, nargs, args);
    if (code == EXIT_OK)
        code = o->list ? list_kernels(&j) : dump(&j, o);
    job_close(&j);
    return code;
}

const Verb verb_dump = {
    .verb = "dump",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "print a kernel's IR, C code or plans",
    .detail = "    tl dump gemm.py                      the tile form\n"
              "    tl dump gemm.py --after=plan_layouts\n"
              "    tl dump gemm.py --plans --source\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .run = run,
    .options_size = sizeof(DumpOptions),
};
