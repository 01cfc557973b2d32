/* bench.c -- tl bench: median time, TFLOPS, fraction of the roofline, ratio to a peer. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "cli/cli.h"

enum { ROUND = 5 };

typedef struct {
    CommonOptions common;
    OptList in;
    int64_t seed, warmup, reps;
    const char *peer, *save, *against;
    bool no_roof, events, warm, flush, strict, json;
} BenchOptions;

static const Opt opts[] = {
    COMMON_OPTS(BenchOptions, common),
    SOURCE_OPTS(BenchOptions, common),
    {"in", 'i', OPT_LIST, "NAME=FILE.npy", "contents of a tensor; others are seeded normal numbers",
     offsetof(BenchOptions, in)},
    {"seed", 's', OPT_INT, "N", "of the inputs that are not given; 0",
     offsetof(BenchOptions, seed)},
    {"warmup", 0, OPT_COUNT, "N", "runs before timing; 10", offsetof(BenchOptions, warmup)},
    {"reps", 0, OPT_MANY, "N", "timed runs; 50", offsetof(BenchOptions, reps)},
    {"peer", 'p', OPT_TEXT, "NAME", "openblas, blis or onednn: time it in turn and print the ratio",
     offsetof(BenchOptions, peer)},
    {"save", 0, OPT_TEXT, "FILE", "keep the result as a baseline", offsetof(BenchOptions, save)},
    {"against", 0, OPT_TEXT, "FILE", "compare with a baseline", offsetof(BenchOptions, against)},
    {"no-roof", 0, OPT_FLAG, NULL, "do not measure the machine's peak",
     offsetof(BenchOptions, no_roof)},
    {"events", 0, OPT_FLAG, NULL, "GPUs: events around single launches instead of CUDA graphs",
     offsetof(BenchOptions, events)},
    {"warm", 0, OPT_FLAG, NULL, "GPUs: the same tensors each time, which may stay in the cache",
     offsetof(BenchOptions, warm)},
    {"flush", 0, OPT_FLAG, NULL, "GPUs: events, and the cache overwritten before each launch",
     offsetof(BenchOptions, flush)},
    {"strict", 0, OPT_FLAG, NULL, "the mean of runs back to back between two events",
     offsetof(BenchOptions, strict)},
    {"json", 0, OPT_FLAG, NULL, "print the result as one line of JSON, and nothing else",
     offsetof(BenchOptions, json)},
};

static const OptRule rules[] = {
    {"strict", NULL, "events warm flush"},
    {"warm", NULL, "flush"},
};

static const BenchOptions unsaid = {.warmup = 10, .reps = 50};

/* ---- the GEMM a peer can do ------------------------------------------------------------------ */

typedef struct {
    int64_t m, n, k;
    bool ta, tb;
    const tl_tensor *a, *b, *c;
} Gemm;

/* Two 2-D operands of one dtype and a 2-D result that fit as a GEMM. */
static bool find_gemm(tl_kernel *k, const Arguments *args, double flops, Gemm *p)
{
    const tl_tensor *in[2] = {0}, *out = NULL;
    int nin = 0;

    for (int i = 0; i < args->n; i++) {
        tl_param q = tl_kernel_param(k, i);
        if (q.is_scalar || args->at[i].rank != 2)
            continue;
        if (q.is_written || q.is_output)
            out = &args->at[i];
        else if (nin < 2)
            in[nin++] = &args->at[i];
    }
    if (nin != 2 || !out || strcmp(in[0]->dtype, in[1]->dtype) != 0)
        return false;
    *p = (Gemm){.m = out->shape[0], .n = out->shape[1], .a = in[0], .b = in[1], .c = out};
    p->k = (int64_t)llround(flops / 2 / (double)(p->m * p->n));
    p->ta = !(in[0]->shape[0] == p->m && in[0]->shape[1] == p->k);
    p->tb = !(in[1]->shape[0] == p->k && in[1]->shape[1] == p->n);
    bool fits_a = !p->ta || (in[0]->shape[1] == p->m && in[0]->shape[0] == p->k);
    bool fits_b = !p->tb || (in[1]->shape[1] == p->k && in[1]->shape[0] == p->n);
    return fits_a && fits_b;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *at, int64_t n)
{
    qsort(at, (size_t)n, sizeof *at, by_value);
    return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

static double mean(const double *at, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += at[i];
    return sum / (double)n;
}

typedef struct {
    double seconds, peer_seconds;
    double low, high; /* a tenth of the runs is faster, a tenth slower */
    double flops, bytes;
    const char *dtype; /* of the first operand */
} Result;

typedef struct {
    Job *j;
    tl_kernel *k;
    Arguments *a;
    Peer *peer;
    Gemm gemm;
    void *out;
    tl_timing how;
} Contest;

/* `n` timed runs of one side after `warmup` others.  The other side's threads may still be
 * spinning: they are given time to go to sleep. */
static tl_status time_side(Contest *c, bool peer, int64_t warmup, int64_t n, double *at)
{
    struct timespec pause = {0, 5000000};
    const Gemm *p = &c->gemm;
    tl_status s = TL_OK;

    if (c->peer)
        nanosleep(&pause, NULL);
    if (!peer) {
        tl_timing t = c->how;
        t.warmup = (int)warmup;
        t.reps = (int)n;
        return tl_kernel_measure(c->k, c->a->at, c->a->n, &t, at);
    }
    for (int64_t i = -warmup; i < n && s == TL_OK; i++) {
        double start = now_seconds();
        peer_gemm(c->peer, p->ta, p->tb, p->m, p->n, p->k, p->a->data, p->b->data, c->out);
        if (i >= 0)
            at[i] = now_seconds() - start;
    }
    return s;
}

/* Ours and the peer's runs alternate in short rounds, so that both see the same machine. */
static int time_runs(Contest *c, const BenchOptions *o, Result *r)
{
    int64_t reps = o->reps, step = c->peer ? ROUND : reps;
    double *ours = NEWN(c->j->arena, double, reps), *theirs = NEWN(c->j->arena, double, reps);
    tl_status s = TL_OK;

    for (int64_t i = 0; i < reps && s == TL_OK; i += step) {
        int64_t n = MIN(step, reps - i), first = i == 0 ? o->warmup : 1;
        s = time_side(c, false, first, n, ours + i);
        if (c->peer && s == TL_OK)
            s = time_side(c, true, first, n, theirs + i);
    }
    if (s != TL_OK)
        return fail_with(c->j->ctx, s);
    r->seconds = o->strict ? mean(ours, reps) : median(ours, reps);
    qsort(ours, (size_t)reps, sizeof *ours, by_value);
    r->low = ours[reps / 10];
    r->high = ours[reps - 1 - reps / 10];
    r->peer_seconds = c->peer ? median(theirs, reps) : 0;
    return EXIT_OK;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Where the time stands between what the matrix units and what the memory could do, by the
 * datasheet: the clock under load is lower. */
static void print_gpu(Job *j, const Result *r, tl_kernel *k)
{
    tl_gpu g;
    double gflops = tl_gpu_peak(j->ctx, r->dtype);

    fputs(tl_kernel_text(k, TL_TEXT_RESOURCES), stdout);
    if (!tl_gpu_info(j->ctx, &g) || g.memory_gbytes <= 0)
        return;
    double memory = r->bytes / g.memory_gbytes * 1e-9;
    double compute = gflops > 0 ? r->flops / gflops * 1e-9 : 0;
    double roof = compute > memory ? compute : memory;
    printf("roofline: %.1f%% of %s (%s bound; %.0f TFLOP/s of %s at %.2f GHz, %.0f GB/s; "
           "%.1f GB/s reached)\n",
           100 * roof / r->seconds, g.name, compute > memory ? "compute" : "memory", gflops * 1e-3,
           r->dtype, g.clock_ghz, g.memory_gbytes, r->bytes / r->seconds * 1e-9);
}

static void print_roof(Job *j, const BenchOptions *o, const Result *r)
{
    if (o->no_roof)
        return;
    double gflops = tl_cpu_peak(j->ctx, r->dtype, (int)o->common.threads);
    double gbytes = tl_cpu_stream(j->ctx, (int)o->common.threads);
    if (gflops <= 0 || gbytes <= 0)
        return;
    double compute = r->flops / gflops * 1e-9, memory = r->bytes / gbytes * 1e-9;
    double roof = compute > memory ? compute : memory;
    if (roof > r->seconds && memory > compute) { /* memory is not what it waits for */
        printf("roofline: %.1f%% (the data stays in the caches: %.1f GB/s, and memory gives %.1f; "
               "peak %.1f GFLOP/s of %s)\n",
               100 * MIN(compute / r->seconds, 1), r->bytes / r->seconds * 1e-9, gbytes, gflops,
               r->dtype);
        return;
    }
    printf("roofline: %.1f%% (%s bound; peak %.1f GFLOP/s of %s, %.1f GB/s)\n",
           100 * MIN(roof / r->seconds, 1), compute > memory ? "compute" : "memory", gflops,
           r->dtype, gbytes);
}

static int save_result(Job *j, const BenchOptions *o, tl_kernel *k, const Result *r)
{
    const char *why = "";
    char *text = arena_printf(j->arena, "tilelang-bench 1\nkernel %s\ntime_ms %.6f\nTFLOPS %.6f\n",
                              tl_kernel_name(k), r->seconds * 1e3, r->flops / r->seconds * 1e-12);
    if (file_write(j->arena, o->save, text, strlen(text), &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    return EXIT_OK;
}

static int compare_result(Job *j, const BenchOptions *o, const Result *r)
{
    char *text;
    size_t n;
    const char *why = "";

    if (file_read(j->arena, o->against, &text, &n, &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    const char *at = strstr(text, "\ntime_ms ");
    double before = at ? strtod(at + 9, NULL) : 0;
    if (strncmp(text, "tilelang-bench ", 15) != 0 || before <= 0)
        return fail_text(EXIT_USER, "%s is not a baseline of tl bench --save", o->against);
    printf("baseline: time_ms: %.4f ratio %.2fx\n", before, before / (r->seconds * 1e3));
    return EXIT_OK;
}

static const char *operand_dtype(tl_kernel *k)
{
    for (int i = 0; i < tl_kernel_nparam(k); i++) {
        tl_param p = tl_kernel_param(k, i);
        if (!p.is_scalar && p.is_read)
            return p.dtype;
    }
    return "float32";
}

static int open_peer(Contest *c, const BenchOptions *o, double flops)
{
    Gemm *p = &c->gemm;
    const char *why = "";

    if (!find_gemm(c->k, c->a, flops, p))
        return fail_text(EXIT_USER, "--peer needs a kernel that is one product of two matrices");
    c->peer = peer_open(c->j->arena, o->peer, p->a->dtype, tl_kernel_threads(c->k), &why);
    if (!c->peer)
        return fail_text(EXIT_MACHINE, "%s", why);
    c->out = aligned_alloc(64, (size_t)(p->m * p->n * 8 + 63) / 64 * 64);
    return c->out ? EXIT_OK : fail_text(EXIT_MACHINE, "out of memory");
}

/* As script.main has it. */
static void print_json(Job *j, const BenchOptions *o, const Result *r, tl_kernel *k)
{
    (void)j;
    printf("{\"kernel\": \"%s\", \"tflops\": %.6g, \"time_ms\": %.6g, \"p10_ms\": %.6g, "
           "\"p90_ms\": %.6g, \"gbytes_s\": %.6g, \"strict\": %s}\n",
           tl_kernel_name(k), r->flops / r->seconds * 1e-12, r->seconds * 1e3, r->low * 1e3,
           r->high * 1e3, r->bytes / r->seconds * 1e-9, o->strict ? "true" : "false");
}

static void print_result(Job *j, const BenchOptions *o, const Result *r, tl_kernel *k)
{
    printf("TFLOPS: %.4f time_ms: %.4f\n", r->flops / r->seconds * 1e-12, r->seconds * 1e3);
    if (r->flops == 0)
        printf("GB/s: %.2f\n", r->bytes / r->seconds * 1e-9);
    printf("spread: %.4f to %.4f ms (p10 to p90)\n", r->low * 1e3, r->high * 1e3);
    if (*tl_kernel_text(k, TL_TEXT_RESOURCES)) /* of a device */
        print_gpu(j, r, k);
    else
        print_roof(j, o, r);
    if (o->peer)
        printf("%s: TFLOPS: %.4f time_ms: %.4f ratio %.2fx\n", o->peer,
               r->flops / r->peer_seconds * 1e-12, r->peer_seconds * 1e3,
               r->peer_seconds / r->seconds);
}

static int bench(Job *j, const BenchOptions *o, tl_kernel *k, Arguments *a)
{
    Result r = {.flops = tl_kernel_flops(k, a->at, a->n), .bytes = tl_kernel_bytes(k, a->at, a->n),
                .dtype = operand_dtype(k)};
    Contest c = {.j = j, .k = k, .a = a, .how = TL_TIMING_INIT};
    c.how.graph = !o->events && !o->flush && !o->strict;
    c.how.cold = !o->warm && !o->flush && !o->strict;
    c.how.flush = o->flush && !o->strict;
    c.how.together = o->strict;
    int code = o->peer ? open_peer(&c, o, r.flops) : EXIT_OK;

    if (code == EXIT_OK)
        code = time_runs(&c, o, &r);
    free(c.out);
    if (code != EXIT_OK)
        return code;
    (o->json ? print_json : print_result)(j, o, &r, k);
    if (o->against)
        code = compare_result(j, o, &r);
    if (code == EXIT_OK && o->save)
        code = save_result(j, o, k, &r);
    return code;
}

static int run(void *options, int nargs, const char **args)
{
    BenchOptions *o = options;
    tl_options t = {0};
    Task task;
    const char *word = o->events ? "events" : o->warm ? "warm" : o->flush ? "flush" : NULL;
    int code = task_open(&task, nargs, args, &o->common, &o->in, &t);

    if (code == EXIT_OK)
        code = check_device(&task.job, o->common.target, word, true);
    if (code == EXIT_OK)
        code = task_fill(&task, o->seed);
    if (code == EXIT_OK)
        code = bench(&task.job, o, task.kernel, &task.args);
    task_close(&task);
    return code;
}

const Verb verb_bench = {
    .verb = "bench",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "time a kernel; compare with the roofline, a library or a baseline",
    .detail =
        "Prints TFLOPS: <v> time_ms: <v> of the median of 50 runs after 10 warm-ups, and how much "
        "of what\n"
        "this machine can do that is (a measured loop of multiply-adds and a measured stream).\n"
        "On a GPU a run is one launch out of a CUDA graph of many, inputs rotate over more than\n"
        "150 MB, and the roofline is the datasheet's.\n\n"
        "--strict is the contract of tuning harnesses: 10 warm-ups, then 50 launches back to back\n"
        "between two events, and their mean.\n\n"
        "    tl bench gemm.py M=4096 N=4096 K=4096 --peer openblas\n"
        "    tl bench gemm.py --save before.txt   …   tl bench gemm.py --against before.txt\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .start = &unsaid,
    .run = run,
    .options_size = sizeof(BenchOptions),
};
