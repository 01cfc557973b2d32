/* targets.c -- tl targets: what can be compiled for, and what this machine is. */
#include "cli/cli.h"

typedef struct {
    bool peak;
} TargetsOptions;

static const Opt opts[] = {
    {"peak", 0, OPT_FLAG, NULL, "measure what this machine can do", offsetof(TargetsOptions, peak)},
};

static void print_peak(tl_context *c)
{
    static const char *const dtypes[] = {"float32", "float64", "bfloat16", "int8"};

    for (int i = 0; i < COUNT(dtypes); i++)
        printf("peak %-9s %8.1f GFLOP/s on one thread, %8.1f on all\n", dtypes[i],
               tl_cpu_peak(c, dtypes[i], 1), tl_cpu_peak(c, dtypes[i], 0));
    printf("stream         %8.1f GB/s\n", tl_cpu_stream(c, 0));
}

static int run(void *options, int nargs, const char **args)
{
    tl_context *c = tl_open();

    (void)args;
    if (!c)
        return fail_text(EXIT_MACHINE, "out of memory");
    if (nargs)
        return fail_text(EXIT_USAGE, "tl targets takes no arguments");
    fputs(tl_targets(c), stdout);
    if (((TargetsOptions *)options)->peak)
        print_peak(c);
    tl_close(c);
    return EXIT_OK;
}

const Verb verb_targets = {
    .verb = "targets",
    .usage = "",
    .doc = "list the targets, what this machine is, and which of them build and run here",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(TargetsOptions),
};
