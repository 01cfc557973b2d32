/* layout.c -- tl layout: where the elements of one on-chip buffer live, as text or a picture. */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    const char *svg;
} LayoutOptions;

static const Opt opts[] = {
    COMMON_OPTS(LayoutOptions, common),
    {"svg", 0, OPT_TEXT, "FILE.svg", "write a picture; - for the terminal",
     offsetof(LayoutOptions, svg)},
};

/* The buffer is the second word that is no NAME=VALUE; the rest is an ordinary job. */
static const char *take_buffer(int *nargs, const char **args)
{
    int nplain = 0;

    for (int i = 0; i < *nargs; i++) {
        if (strchr(args[i], '=') || ++nplain != 2)
            continue;
        const char *buffer = args[i];
        memmove(args + i, args + i + 1, sizeof *args * (size_t)(*nargs - i - 1));
        --*nargs;
        return buffer;
    }
    return NULL;
}

static int show(Job *j, const LayoutOptions *o, const char *buffer)
{
    tl_options t = {.no_build = true};
    tl_kernel *k = NULL;
    const char *text, *why = "";
    int code = job_compile(j, &o->common, &t, &k);

    if (code != EXIT_OK)
        return code;
    tl_status s = tl_kernel_layout(k, buffer, o->svg != NULL, &text);
    if (s != TL_OK)
        code = fail_with(j->ctx, s);
    else if (o->svg && strcmp(o->svg, "-") != 0) {
        if (file_write(j->arena, o->svg, text, strlen(text), &why) != STATUS_OK)
            code = fail_text(EXIT_MACHINE, "%s", why);
    } else
        fputs(text, stdout);
    tl_kernel_free(k);
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    const char *buffer = take_buffer(&nargs, args);
    Job j;

    if (!buffer)
        return fail_text(EXIT_USAGE, "tl layout FILE[:FUNC] BUFFER: which buffer?");
    int code = job_open(&j, nargs, args);
    if (code == EXIT_OK)
        code = show(&j, options, buffer);
    job_close(&j);
    return code;
}

const Verb verb_layout = {
    .verb = "layout",
    .usage = "FILE[:FUNC] BUFFER [NAME=VALUE …]",
    .doc = "show where the elements of a tile live",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(LayoutOptions),
};
