/* run.c -- tl run: make or read inputs, run the kernel, tell about the outputs. */
#include <math.h>
#include <stdlib.h>
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    OptList in, out;
    int64_t seed, schedules;
    bool sim, text, stats;
} RunOptions;

static const Opt opts[] = {
    COMMON_OPTS(RunOptions, common),
    SOURCE_OPTS(RunOptions, common),
    {"in", 'i', OPT_LIST, "NAME=FILE.npy", "contents of a tensor; others are seeded normal numbers",
     offsetof(RunOptions, in)},
    {"out", 'o', OPT_LIST, "NAME=FILE.npy", "write a tensor after the run",
     offsetof(RunOptions, out)},
    {"seed", 's', OPT_INT, "N", "of the inputs that are not given; 0", offsetof(RunOptions, seed)},
    {"sim", 0, OPT_FLAG, NULL,
     "run it in the simulator: for a GPU every thread of the lowered kernel, else the tile form",
     offsetof(RunOptions, sim)},
    {"text", 0, OPT_FLAG, NULL,
     "for a GPU: compile the emitted text for the host and run it thread by thread",
     offsetof(RunOptions, text)},
    {"schedules", 0, OPT_MANY, "N", "with --sim: in N orders of threads and copies; 1",
     offsetof(RunOptions, schedules)},
    {"sim-stats", 0, OPT_FLAG, NULL,
     "with --sim: bank conflicts and memory sectors by source line", offsetof(RunOptions, stats)},
};

static const OptRule rules[] = {
    {"schedules", "sim", NULL},
    {"sim-stats", "sim", NULL},
    {"text", NULL, "sim"},
    {"line-info", NULL, "sim text"},
    {"source", NULL, "sim"}, /* which runs the lowered kernel, not its text */
};

static void print_shape(const tl_tensor *t)
{
    printf("(");
    for (int d = 0; d < t->rank; d++)
        printf("%s%lld%s", d ? ", " : "", (long long)t->shape[d], t->rank == 1 ? "," : "");
    printf(")");
}

/* NaNs are counted apart: they would hide everything else. */
static void print_tensor(const tl_tensor *t, int64_t nbytes)
{
    int64_t n = tensor_elements(t), nnan = 0;
    double least = INFINITY, most = -INFINITY, sum = 0;
    char hex[33];

    for (int64_t i = 0; i < n; i++) {
        double v = tl_value_at(t, i);
        if (isnan(v)) {
            nnan++;
            continue;
        }
        least = v < least ? v : least;
        most = v > most ? v : most;
        sum += v;
    }
    hash_hex(t->data, (size_t)nbytes, hex);
    printf("%s  %s ", t->name, t->dtype);
    print_shape(t);
    if (n > nnan)
        printf("  min %.6g  max %.6g  mean %.6g", least, most, sum / (double)(n - nnan));
    if (nnan)
        printf("  NaN %lld", (long long)nnan);
    printf("  checksum %.16s\n", hex);
}

static int write_outputs(Job *j, const RunOptions *o, const Arguments *a)
{
    for (int i = 0; i < o->out.n; i++) {
        const char *equal = strchr(o->out.at[i], '='), *why = "";
        const tl_tensor *found = NULL;
        if (!equal)
            return fail_text(EXIT_USAGE, "--out takes NAME=FILE.npy, not '%s'", o->out.at[i]);
        for (int p = 0; p < a->n; p++)
            if (strlen(a->at[p].name) == (size_t)(equal - o->out.at[i]) &&
                !strncmp(a->at[p].name, o->out.at[i], (size_t)(equal - o->out.at[i])))
                found = &a->at[p];
        if (!found)
            return fail_text(EXIT_USER, "the kernel has no tensor called '%.*s'",
                             (int)(equal - o->out.at[i]), o->out.at[i]);
        if (!npy_write(j->arena, equal + 1, found, &why))
            return fail_text(EXIT_MACHINE, "%s", why);
    }
    return EXIT_OK;
}

static int exit_or_fail(Job *j, tl_status s)
{
    return s == TL_OK ? EXIT_OK : fail_with(j->ctx, s);
}

/* Seed 0 comes last: its results are those shown. */
static int simulate(Job *j, const RunOptions *o, tl_kernel *k, Arguments *a)
{
    int64_t schedules = MAX(1, o->schedules);
    const char *table = NULL;

    for (int64_t seed = schedules - 1; seed > 0; seed--) {
        Arguments mine = arguments_copy(a);
        tl_status s = tl_kernel_simulate(k, mine.at, mine.n, (uint64_t)seed);
        arguments_free(&mine);
        if (s != TL_OK)
            return fail_with(j->ctx, s);
    }
    if (!o->stats)
        return exit_or_fail(j, tl_kernel_simulate(k, a->at, a->n, 0));
    int code = exit_or_fail(j, tl_kernel_sim_stats(k, a->at, a->n, &table));
    if (code == EXIT_OK)
        fputs(table, stdout);
    return code;
}

static int run_with(Job *j, const RunOptions *o, tl_kernel *k, Arguments *a)
{
    int code = o->sim    ? simulate(j, o, k, a)
               : o->text ? exit_or_fail(j, tl_kernel_run_text(k, a->at, a->n))
                         : exit_or_fail(j, tl_kernel_run(k, a->at, a->n));

    if (code == EXIT_OK)
        code = write_outputs(j, o, a);
    for (int i = 0; code == EXIT_OK && i < a->n; i++) {
        tl_param p = tl_kernel_param(k, i);
        if (!p.is_scalar && (p.is_written || p.is_output))
            print_tensor(&a->at[i], a->nbytes[i]);
    }
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    RunOptions *o = options;
    tl_options t = {.no_build = o->sim || o->text};
    Task task;
    int code = task_open(&task, nargs, args, &o->common, &o->in, &t);

    if (code == EXIT_OK)
        code = task_fill(&task, o->seed);
    if (code == EXIT_OK)
        code = run_with(&task.job, o, task.kernel, &task.args);
    task_close(&task);
    return code;
}

const Verb verb_run = {
    .verb = "run",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "compile a kernel and run it",
    .detail =
        "NAME=VALUE sets a knob of the kernel's factory, a T.const value, a scalar argument or a\n"
        "run-time dimension.  Shapes that inputs have need not be given.\n\n"
        "    tl run gemm.py:matmul M=512 N=512 K=512 --in A=a.npy --out C=c.npy\n\n"
        "bfloat16 and float8 arrays are .npy files of unsigned integers of the same width.\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .run = run,
    .options_size = sizeof(RunOptions),
};
