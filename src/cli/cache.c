/* cache.c -- tl cache ls | clear | why: the compiled kernels on disk. */
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
} CacheOptions;

static const Opt opts[] = {
    COMMON_OPTS(CacheOptions, common),
};

static int list(tl_context *c)
{
    const char *text;
    tl_status s = tl_cache_list(c, &text);

    if (s != TL_OK)
        return fail_with(c, s);
    fputs(text, stdout);
    return EXIT_OK;
}

static int clear(tl_context *c)
{
    int64_t n;
    tl_status s = tl_cache_clear(c, &n);

    if (s != TL_OK)
        return fail_with(c, s);
    printf("%lld kernels removed\n", (long long)n);
    return EXIT_OK;
}

static int why(const CacheOptions *o, int nargs, const char **args)
{
    tl_options t = {.no_build = true};
    tl_kernel *k = NULL;
    const char *text;
    Job j;
    int code = job_open(&j, nargs, args);

    if (code == EXIT_OK)
        code = job_compile(&j, &o->common, &t, &k);
    if (code == EXIT_OK) {
        tl_status s = tl_cache_why(j.ctx, k, &text);
        if (s == TL_OK)
            fputs(text, stdout);
        else
            code = fail_with(j.ctx, s);
    }
    tl_kernel_free(k);
    job_close(&j);
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    static const CacheOptions none;
    const char *word = nargs > 0 ? args[0] : "ls";

    if (!strcmp(word, "why"))
        return why(options, nargs - 1, args + 1);
    if (memcmp(options, &none, sizeof none))
        return fail_text(EXIT_USAGE, "options are for tl cache why");
    tl_context *c = tl_open();
    if (!c)
        return fail_text(EXIT_MACHINE, "out of memory");
    int code = !strcmp(word, "ls") ? list(c)
               : !strcmp(word, "clear")
                   ? clear(c)
                   : fail_text(EXIT_USAGE, "tl cache ls, clear or why FILE, not '%s'", word);
    tl_close(c);
    return code;
}

const Verb verb_cache = {
    .verb = "cache",
    .usage = "ls | clear | why FILE[:FUNC] [NAME=VALUE …]",
    .doc = "list or remove compiled kernels; say why one is not found",
    .detail = "The cache lives in $TILELANG_CACHE_DIR, else $XDG_CACHE_HOME/tilelang-c, else\n"
              "~/.cache/tilelang-c.  It may be removed at any time.  Caches in\n"
              "$TILELANG_SHARED_CACHE (folders, by colons) lie under it and are only read.\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(CacheOptions),
};
