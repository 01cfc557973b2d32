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

/* "tl run …" with the words that this command was given. */
static const char *with_words(Job *j, const ProveOptions *o, int nargs, const char **args,
                              const char *text)
{
    static const char mark[] = "tl run …";
    Str words, out;

    str_init(&words, j->arena);
    str_init(&out, j->arena);
    str_puts(&words, "tl run");
    for (int i = 0; i < nargs; i++)
        str_printf(&words, " %s", args[i]);
    if (o->common.target)
        str_printf(&words, " --target '%s'", o->common.target);
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + sizeof mark - 1)
        str_printf(&out, "%.*s%s", (int)(at - text), text, words.s);
    str_puts(&out, text);
    return out.s;
}

static int prove(Job *j, const ProveOptions *o, int nargs, const char **args)
{
    tl_options t = {.no_build = true, .prove = true};
    tl_kernel *k = NULL;
    const char *why;

    int code = job_compile(j, &o->common, &t, &k);
    if (code != EXIT_OK)
        return code;
    const char *text = with_words(j, o, nargs, args, tl_kernel_text(k, TL_TEXT_PROOFS));
    if (o->html) {
        const char *page = with_words(j, o, nargs, args, tl_kernel_text(k, TL_TEXT_PROOFS_HTML));
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
        code = prove(&j, options, nargs, args);
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
        "z3 is asked where it is: libz3.so.4, pip's z3-solver, or the file of TILELANG_Z3.\n"
        "Ends with 1 if an access is wrong.\n\n"
        "    tl prove gemm.py M=100 --target 'cuda -arch=sm_90a' --html proofs.html\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(ProveOptions),
};
