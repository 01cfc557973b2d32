/* prove.c -- tl prove: what is known of each access, of loops, of shared tiles. */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    const char *html;
} ProveOptions;

static const Opt opts[] = {
    COMMON_OPTS(ProveOptions, common),
    {"html", 0, OPT_TEXT, "FILE", "write a page with the source there",
     offsetof(ProveOptions, html)},
};

static int prove(Job *j, const ProveOptions *o)
{
    tl_options t = {.no_build = true, .prove = true};
    tl_kernel *k = NULL;
    const char *why;

    int code = job_compile(j, &o->common, &t, &k);
    if (code != EXIT_OK)
        return code;
    const char *text = arena_strdup(j->arena, tl_kernel_text(k, TL_TEXT_PROOFS));
    if (o->html) {
        const char *page = tl_kernel_text(k, TL_TEXT_PROOFS_HTML);
        if (file_write(j->arena, o->html, page, strlen(page), &why) != STATUS_OK)
            code = fail_text(EXIT_MACHINE, "%s", why);
    }
    fputs(text, stdout);
    tl_kernel_free(k);
    return code != EXIT_OK ? code : strstr(text, ": wrong, ") ? EXIT_USER : EXIT_OK;
}

static int run(void *options, int nargs, const char **args)
{
    Job j;
    int code = job_open(&j, nargs, args);

    if (code == EXIT_OK)
        code = prove(&j, options);
    job_close(&j);
    return code;
}

const Verb verb_prove = {
    .verb = "prove",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "say of each access why it is in bounds, and of shared tiles what orders them",
    .detail =
        "An access is proved in bounds, clipped by its instruction, guarded by a condition, or\n"
        "assumed; where values are found that need a guard or leave the bounds, they are shown.\n"
        "Ends with 1 if an access is wrong.\n\n"
        "    tl prove gemm.py M=100 --target 'cuda -arch=sm_90a' --html proofs.html\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(ProveOptions),
};
