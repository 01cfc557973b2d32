/* profile.c -- tl profile: what the warps of a GPU kernel do when; where a CPU spends its time. */
#include <stdlib.h>
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    OptList in;
    const char *json, *svg, *csv, *against;
    int64_t seed;
    bool ncu, sim;
} ProfileOptions;

enum { NAME_BYTES = 400 };

static const Opt opts[] = {
    COMMON_OPTS(ProfileOptions, common),
    {"in", 'i', OPT_LIST, "NAME=FILE.npy", "contents of a tensor; others are seeded normal numbers",
     offsetof(ProfileOptions, in)},
    {"seed", 's', OPT_INT, "N", "of the inputs that are not given; 0",
     offsetof(ProfileOptions, seed)},
    {"json", 0, OPT_TEXT, "FILE", "for chrome://tracing or ui.perfetto.dev; profile.json",
     offsetof(ProfileOptions, json)},
    {"svg", 0, OPT_TEXT, "FILE", "a picture of one block; profile.svg",
     offsetof(ProfileOptions, svg)},
    {"sim", 0, OPT_FLAG, NULL, "without a GPU: the simulator's schedule, by a model of latencies",
     offsetof(ProfileOptions, sim)},
    {"against", 0, OPT_TEXT, "FILE", "print what got longer since the profile that --json wrote",
     offsetof(ProfileOptions, against)},
    {"ncu", 0, OPT_FLAG, NULL, "run NVIDIA's profiler, and print the hottest lines of the file",
     offsetof(ProfileOptions, ncu)},
    {"ncu-csv", 0, OPT_TEXT, "FILE", "the same of what ncu --page source --csv printed elsewhere",
     offsetof(ProfileOptions, csv)},
};

static const OptRule rules[] = {
    {"ncu", NULL, "sim ncu-csv json svg against in seed config threads no-cache"},
    {"ncu-csv", NULL, "sim json svg against in seed config threads no-cache"},
};

static double middle(double *x, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j - 1] > x[j]; j--) {
            double t = x[j];
            x[j] = x[j - 1];
            x[j - 1] = t;
        }
    return x[n / 2];
}

/* Microseconds of one launch, warm. */
static tl_status time_one(tl_kernel *k, const Arguments *a, double *us)
{
    enum { REPS = 9 };
    tl_timing t = TL_TIMING_INIT;
    double seconds[REPS];

    t.warmup = 3;
    t.reps = REPS;
    tl_status s = tl_kernel_measure(k, a->at, a->n, &t, seconds);
    *us = s == TL_OK ? middle(seconds, REPS) * 1e6 : 0;
    return s;
}

static int write_files(Job *j, const ProfileOptions *o, const char *json, const char *svg)
{
    const char *why = "", *to_json = o->json ? o->json : "profile.json",
               *to_svg = o->svg ? o->svg : "profile.svg";

    if (file_write(j->arena, to_json, json, strlen(json), &why) != STATUS_OK ||
        file_write(j->arena, to_svg, svg, strlen(svg), &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    printf("written: %s, %s\n", to_json, to_svg);
    return EXIT_OK;
}

/* ---- two profiles ---------------------------------------------------------------------------- */

static const char *const work_names[] = {"copy", "matrix", "wait", "compute"};

static double number_of(const JsonValue *v, const char *key)
{
    const JsonValue *x = json_get(v, key);
    return x && x->kind == JSON_NUMBER ? x->number : 0;
}

static double line_sum(const JsonValue *line)
{
    double sum = 0;
    for (int i = 0; i < COUNT(work_names); i++)
        sum += number_of(line, work_names[i]);
    return sum;
}

static const JsonValue *find_line(const JsonValue *lines, double number)
{
    for (const JsonValue *l = lines ? lines->first : NULL; l; l = l->next)
        if (number_of(l, "line") == number)
            return l;
    return NULL;
}

static const JsonValue *find_role(const JsonValue *roles, const char *name)
{
    for (const JsonValue *r = roles ? roles->first : NULL; r; r = r->next)
        if (!strcmp(json_get_text(r, "role", ""), name))
            return r;
    return NULL;
}

static void put_change(const char *name, const JsonValue *now, const JsonValue *before)
{
    double a = line_sum(before), b = line_sum(now);

    printf("  %-10s %10.2f %10.2f %+8.1f%%", name, a, b, a > 0 ? 100 * (b / a - 1) : 100.0);
    for (int i = 0; i < COUNT(work_names); i++) {
        double by = number_of(now, work_names[i]) - number_of(before, work_names[i]);
        if (by > 0.005 || by < -0.005)
            printf("  %s %+.2f", work_names[i], by);
    }
    printf("\n");
}

static void put_line_change(Arena *a, const JsonValue *now, const JsonValue *before)
{
    double line = number_of(now ? now : before, "line");
    put_change(line > 0 ? arena_printf(a, "%.0f", line) : "-", now, before);
}

/* Times of one warp of each role. */
static void compare_roles(const JsonValue *old, const JsonValue *fresh)
{
    for (const JsonValue *r = fresh ? fresh->first : NULL; r; r = r->next) {
        const char *name = json_get_text(r, "role", "");
        put_change(name, r, find_role(old, name));
    }
    for (const JsonValue *r = old ? old->first : NULL; r; r = r->next)
        if (!find_role(fresh, json_get_text(r, "role", "")))
            put_change(json_get_text(r, "role", ""), NULL, r);
}

static const JsonValue *read_profile(Arena *a, const char *text, size_t n)
{
    const char *why;
    return json_get(json_read(a, text, n, &why), "tilelang");
}

/* Lines go by their number: a profile of a file that was edited since shows other lines. */
static int compare(Job *j, const char *file, const char *json)
{
    char *text;
    size_t n;
    const char *why;

    if (file_read(j->arena, file, &text, &n, &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    const JsonValue *before = read_profile(j->arena, text, n),
                    *now = read_profile(j->arena, json, strlen(json));
    if (!before)
        return fail_text(EXIT_USER, "%s is no profile that tl profile --json wrote", file);
    if (strcmp(json_get_text(before, "unit", ""), json_get_text(now, "unit", "")))
        return fail_text(EXIT_USER, "%s has times in %s, this profile in %s", file,
                         json_get_text(before, "unit", ""), json_get_text(now, "unit", ""));
    const JsonValue *old = json_get(before, "lines"), *fresh = json_get(now, "lines");
    printf("against %s, %s\n  %-10s %10s %10s\n", file, json_get_text(now, "unit", ""), "line",
           "before", "now");
    for (const JsonValue *l = fresh->first; l; l = l->next)
        put_line_change(j->arena, l, find_line(old, number_of(l, "line")));
    for (const JsonValue *l = old ? old->first : NULL; l; l = l->next)
        if (!find_line(fresh, number_of(l, "line")))
            put_line_change(j->arena, NULL, l);
    compare_roles(json_get(before, "roles"), json_get(now, "roles"));
    return EXIT_OK;
}

static int tell(Job *j, const ProfileOptions *o, const char *json, const char *svg)
{
    int code = o->against ? compare(j, o->against, json) : EXIT_OK;
    return code == EXIT_OK ? write_files(j, o, json, svg) : code;
}

static int profile_sim(Job *j, const ProfileOptions *o, tl_kernel *k, Arguments *a)
{
    const char *json, *svg, *table;
    tl_status s = tl_kernel_profile_sim(k, a->at, a->n, &json, &svg, &table);

    if (s != TL_OK)
        return fail_with(j->ctx, s);
    fputs(table, stdout);
    printf("a model: latencies of no machine, no caches; the schedule and the bank conflicts are "
           "the kernel's own\n");
    return tell(j, o, json, svg);
}

static int profile_host(Job *j, const ProfileOptions *o, tl_kernel *k, Arguments *a)
{
    const char *json, *svg, *table;
    tl_status s = tl_kernel_profile(k, a->at, a->n, &json, &svg, &table);

    if (s != TL_OK)
        return fail_with(j->ctx, s);
    fputs(table, stdout);
    printf("wait: without a processor, or between blocks and runs\n");
    return tell(j, o, json, svg);
}

static int profile(Job *j, const ProfileOptions *o, tl_kernel *plain, tl_kernel *k, Arguments *a)
{
    const char *json, *svg, *table;
    double before = 0, after = 0;
    tl_status s = time_one(plain, a, &before);

    if (s == TL_OK)
        s = time_one(k, a, &after);
    if (s == TL_OK)
        s = tl_kernel_profile(k, a->at, a->n, &json, &svg, &table);
    if (s != TL_OK)
        return fail_with(j->ctx, s);
    fputs(table, stdout);
    printf("overhead: %.2f us with stamps, %.2f without (%+.1f%%)\n", after, before,
           100 * (after / before - 1));
    return tell(j, o, json, svg);
}

/* The C compiler writes down lines of the kernel's file. */
static void keep_lines(ProfileOptions *o)
{
    static const char *words[64] = {"tl.emit_line_directives=1", "tirx.enable_debug=1"};
    OptList *l = &o->common.configs;
    int n = MIN(l->n, COUNT(words) - 2);

    if (n)
        memcpy(words + 2, l->at, sizeof *words * (size_t)n);
    *l = (OptList){words, n + 2};
}

/* How kernels of a target are seen; false: there is none of that name, which compiling says. */
static bool is_known(const char *target, char name[NAME_BYTES], bool *stamps, bool *samples)
{
    tl_target_facts facts = TL_TARGET_FACTS_INIT;
    tl_context *c = tl_open();
    bool ok = c && tl_target_ask(c, target, &facts) == TL_OK;

    snprintf(name, NAME_BYTES, "%s", ok ? facts.name : "");
    tl_close(c);
    *stamps = facts.stamps;
    *samples = facts.samples && !facts.stamps;
    return ok;
}

static int run(void *options, int nargs, const char **args)
{
    ProfileOptions *o = options;
    tl_options t = {0};
    tl_kernel *stamped = NULL;
    Task task;
    char name[NAME_BYTES];
    bool stamps = false, samples = false;

    if (o->sim && !o->common.target)
        o->common.target = "sim";
    if (!o->sim && is_known(o->common.target, name, &stamps, &samples)) {
        if (!stamps && !samples)
            return fail_text(EXIT_USER, "kernels of target %s write down no times: tl profile is "
                             "for targets that take -profile (tl targets), and for CPUs; with "
                             "--sim a model of any GPU is profiled, and tl bench times whole "
                             "launches [not-profiled]", name);
        o->common.target = name;
    }
    if (o->ncu || o->csv)
        return ncu_run(o->csv, o->common.target, nargs, args);
    if (samples)
        keep_lines(o);
    t.no_build = o->sim;
    int code = task_open(&task, nargs, args, &o->common, &o->in, &t);
    if (code == EXIT_OK && stamps) {
        o->common.target = arena_printf(task.job.arena, "%s -profile", name);
        code = job_compile(&task.job, &o->common, &t, &stamped);
    }
    if (code == EXIT_OK)
        code = task_fill(&task, o->seed);
    if (code == EXIT_OK)
        code = o->sim ? profile_sim(&task.job, o, task.kernel, &task.args)
               : samples ? profile_host(&task.job, o, task.kernel, &task.args)
                      : profile(&task.job, o, task.kernel, stamped, &task.args);
    tl_kernel_free(stamped);
    task_close(&task);
    return code;
}

const Verb verb_profile = {
    .verb = "profile",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "show where the time of a kernel goes",
    .detail =
        "For a GPU: compiles the kernel with stamps of the clock around copies, matrix work,\n"
        "waits and arithmetic, runs it, and prints how long each warp spent on what, and how\n"
        "much slower the stamps make it.  Waiting for matrix work in flight counts as matrix\n"
        "work.  The files have every span of eight blocks, up to 510 a warp.\n\n"
        "    tl profile gemm.py M=4096 N=4096 K=4096 dtype=float16 --svg gemm.svg\n\n"
        "--target cpu runs the kernel for a while and looks now and then where each of its\n"
        "threads is: the same tables and files, by thread.\n\n"
        "--sim needs no GPU: the lowered kernel runs in the simulator, and a model of latencies\n"
        "(latencies of no machine) says who waits for which copy, barrier or product.  --against\n"
        "compares with a profile that was written before, line by line and role by role.\n\n"
        "    tl profile gemm.py M=256 --sim --target 'cuda -arch=sm_90a' --json a.json\n"
        "    tl profile gemm.py M=256 num_stages=4 --sim --target 'cuda -arch=sm_90a' "
        "--against a.json\n\n"
        "--ncu runs `tl run` under NVIDIA's ncu ($TILELANG_NCU, PATH or the toolkit), with lines\n"
        "of the kernel's file in the machine code, and prints the ten with the most samples and\n"
        "what they wait for.  By hand: ncu --set full tl run --line-info --target cuda gemm.py …\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .run = run,
    .options_size = sizeof(ProfileOptions),
};
