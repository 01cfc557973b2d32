/* debug.c -- tl debug: a kernel in the simulator, statement by statement. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    OptList in;
    int64_t seed;
    bool tile;
} DebugOptions;

static const Opt opts[] = {
    COMMON_OPTS(DebugOptions, common),
    {"in", 'i', OPT_LIST, "NAME=FILE.npy", "contents of a tensor; others are seeded normal numbers",
     offsetof(DebugOptions, in)},
    {"seed", 's', OPT_INT, "N", "of the inputs that are not given; 0",
     offsetof(DebugOptions, seed)},
    {"tile", 0, OPT_FLAG, NULL, "the kernel as written, not as lowered for a GPU",
     offsetof(DebugOptions, tile)},
};

static bool ask(void *arg, char *line, size_t n)
{
    (void)arg;
    if (isatty(STDIN_FILENO)) {
        fputs("> ", stdout);
        fflush(stdout);
    }
    return fgets(line, (int)n, stdin) != NULL;
}

static void say(void *arg, const char *text)
{
    (void)arg;
    fputs(text, stdout);
}

static int run(void *options, int nargs, const char **args)
{
    DebugOptions *o = options;
    tl_options t = {.no_build = true};
    Task task;
    int code = task_open(&task, nargs, args, &o->common, &o->in, &t);

    if (code == EXIT_OK)
        code = task_fill(&task, o->seed);
    if (code == EXIT_OK) {
        tl_debugger d = {.ask = ask, .say = say, .tile = o->tile};
        tl_status s = tl_kernel_debug(task.kernel, task.args.at, task.args.n, &d);
        code = s == TL_OK ? EXIT_OK : fail_with(task.job.ctx, s);
        if (code == EXIT_OK)
            puts("the run is over");
    }
    task_close(&task);
    return code;
}

const Verb verb_debug = {
    .verb = "debug",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "step through a kernel in the simulator",
    .detail =
        "For a GPU target every thread of the lowered kernel runs, and one of them is followed;\n"
        "elsewhere, and with --tile, the block runs as a whole.  Commands come from standard\n"
        "input; `help` lists them.  The same commands always show the same.\n\n"
        "    tl debug gemm.py --target 'cuda -arch=sm_90a'\n"
        "    > break 38\n"
        "    > continue\n"
        "    > print C_l[0:4, 0:8]\n"
        "    > barriers\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(DebugOptions),
};
