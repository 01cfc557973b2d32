/* verify.c -- tl verify: the compiled kernel against the simulator and a plain reference.
 *
 * The simulator runs the tile form: the meaning of the kernel as written.  A file may also name a
 * reference of its own, a kernel of plain loops with the same parameters: `reference`, `ref` or
 * `ref_program`, or the one --ref gives. */
#include <math.h>
#include <stdlib.h>
#include "cli/cli.h"

typedef struct {
    CommonOptions common;
    OptList in;
    int64_t seed, schedules;
    double tol;
    const char *ref;
    bool no_sim, sim, text, strict, json;
} VerifyOptions;

static const Opt opts[] = {
    COMMON_OPTS(VerifyOptions, common),
    SOURCE_OPTS(VerifyOptions, common),
    {"in", 'i', OPT_LIST, "NAME=FILE.npy", "contents of a tensor; others are seeded normal numbers",
     offsetof(VerifyOptions, in)},
    {"seed", 's', OPT_INT, "N", "of the inputs that are not given; 0",
     offsetof(VerifyOptions, seed)},
    {"tol", 0, OPT_DOUBLE, "X", "tolerance, absolute and relative; by dtype if not given",
     offsetof(VerifyOptions, tol)},
    {"ref", 0, OPT_TEXT, "FUNC", "reference kernel of the same file", offsetof(VerifyOptions, ref)},
    {"no-sim", 0, OPT_FLAG, NULL, "compare with the reference kernel only",
     offsetof(VerifyOptions, no_sim)},
    {"sim", 0, OPT_FLAG, NULL, "for a GPU: run every thread of the lowered kernel in the simulator",
     offsetof(VerifyOptions, sim)},
    {"text", 0, OPT_FLAG, NULL,
     "for a GPU: compile the emitted text for the host and run it thread by thread",
     offsetof(VerifyOptions, text)},
    {"strict", 0, OPT_FLAG, NULL, "by the largest absolute error: 1e-2 bfloat16, 1e-3 float16",
     offsetof(VerifyOptions, strict)},
    {"json", 0, OPT_FLAG, NULL, "print the result as one line of JSON",
     offsetof(VerifyOptions, json)},
    {"schedules", 0, OPT_MANY, "N", "with --sim: in N orders of threads and copies; 1",
     offsetof(VerifyOptions, schedules)},
};

static const OptRule rules[] = {
    {"schedules", "sim", NULL},
    {"line-info", NULL, "sim text"},
    {"tol", NULL, "strict"},
};

static const VerifyOptions unsaid = {.tol = -1};

typedef struct {
    double max_abs;
    int64_t nwrong;
} Verdict;

/* ---- comparing ------------------------------------------------------------------------------- */

/* The absolute part grows with the size of the results: a sum of many terms that cancel has the
 * rounding of its terms. */
/* The contract of tuning harnesses; other types are held to their own tolerance. */
static double strict_error(const char *dtype)
{
    return !strcmp(dtype, "bfloat16") ? 1e-2 : !strcmp(dtype, "float16") ? 1e-3 : 0;
}

static int compare_tensor(Job *j, const VerifyOptions *o, tl_kernel *k, const tl_tensor *got,
                          const tl_tensor *want, const char *with, Verdict *v)
{
    double tol = o->tol >= 0 ? o->tol : tl_kernel_tolerance(k, want->dtype);
    double rms = tensor_rms(want), strict = o->strict ? strict_error(want->dtype) : 0;
    tl_difference d;
    if (strict > 0)
        tol = strict;
    tl_status s = tl_compare(j->ctx, got, want, strict > 0 ? tol : tol * (rms > 1 ? rms : 1),
                             strict > 0 ? 0 : tol, &d);

    if (s != TL_OK)
        return fail_with(j->ctx, s);
    v->max_abs = MAX(v->max_abs, d.max_abs_err);
    v->nwrong += d.nwrong;
    if (d.nwrong)
        fprintf(stderr,
                "%s differs from the %s in %lld of %lld elements; [%lld] is %.9g, expected %.9g "
                "(tolerance %g)\n",
                got->name, with, (long long)d.nwrong, (long long)d.nelem, (long long)d.first_wrong,
                tl_value_at(got, d.first_wrong), tl_value_at(want, d.first_wrong), tol);
    return EXIT_OK;
}

static int compare_all(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *got,
                       const Arguments *want, const char *with, Verdict *v)
{
    for (int i = 0; i < got->n; i++) {
        tl_param p = tl_kernel_param(k, i);
        if (p.is_scalar || !(p.is_written || p.is_output))
            continue;
        int code = compare_tensor(j, o, k, &got->at[i], &want->at[i], with, v);
        if (code != EXIT_OK)
            return code;
    }
    return EXIT_OK;
}

static int against_simulator(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *in,
                             const Arguments *got, Verdict *v)
{
    Arguments want = arguments_copy(in);
    Progress *p = progress_start("simulating");
    tl_status s = tl_kernel_reference(k, want.at, want.n);

    progress_stop(p);
    int code = s == TL_OK ? compare_all(j, o, k, got, &want, "simulated tile form", v)
                          : fail_with(j->ctx, s);
    arguments_free(&want);
    return code;
}

/* ---- the file's own reference ---------------------------------------------------------------- */

/* The line of tl_list for `name`, or NULL. */
static const char *listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = list; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (!strncmp(s, name, n) && s[n] == ' ')
            return s;
    return NULL;
}

static const char *find_reference(Job *j, const VerifyOptions *o, const char **line)
{
    static const char *const names[] = {"reference", "ref", "ref_program", "reference_kernel"};
    const char *list;

    *line = NULL;
    if (tl_list(j->ctx, j->file, &list) != TL_OK)
        return o->ref;
    list = arena_strdup(j->arena, list);
    if (o->ref) {
        *line = listed(list, o->ref);
        return o->ref;
    }
    for (int i = 0; i < COUNT(names); i++) {
        *line = listed(list, names[i]);
        const char *kind = *line ? *line + strlen(names[i]) + 1 : "";
        if (!strncmp(kind, "prim_func", 9) || !strncmp(kind, "jit", 3))
            return names[i];
    }
    return NULL;
}

static const tl_tensor *by_name(const Arguments *a, const char *name)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->at[i].name, name))
            return &a->at[i];
    return NULL;
}

static int against_reference(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *in,
                             const Arguments *got, const char *name, Verdict *v)
{
    tl_options t = {0};
    tl_kernel *ref = NULL;
    Arguments a = arguments_copy(in);
    const char *dim;

    t.inputs = in->at;
    t.ninput = in->n;
    t.size = sizeof t;
    t.target = o->common.target;
    t.func = name;
    t.defines = j->defines;
    t.ndefine = j->ndefine;
    t.allow_unused = true;
    t.threads = (int)o->common.threads;
    tl_status s = tl_compile(j->ctx, j->file, NULL, &t, &ref);
    int code = s == TL_OK ? EXIT_OK : fail_with(j->ctx, s);
    tl_tensor *args = NEWN(j->arena, tl_tensor, s == TL_OK ? tl_kernel_nparam(ref) + 1 : 1);
    for (int i = 0; code == EXIT_OK && i < tl_kernel_nparam(ref); i++) {
        dim = tl_kernel_param(ref, i).name;
        const tl_tensor *same = by_name(&a, dim);
        if (!same)
            code = fail_text(EXIT_USER, "the reference '%s' takes '%s', which '%s' does not have",
                             name, dim, tl_kernel_name(k));
        else
            args[i] = *same;
    }
    if (code == EXIT_OK) {
        s = tl_kernel_run(ref, args, tl_kernel_nparam(ref));
        code = s == TL_OK ? compare_all(j, o, k, got, &a, "reference kernel", v)
                          : fail_with(j->ctx, s);
    }
    tl_kernel_free(ref);
    arguments_free(&a);
    return code;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int compare(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *in,
                   const Arguments *got, Verdict *v)
{
    const char *line, *ref = find_reference(j, o, &line);
    int code = EXIT_OK;

    if (ref && !strcmp(ref, tl_kernel_name(k)))
        ref = NULL;
    if (o->no_sim && !ref)
        code = fail_text(EXIT_USAGE, "--no-sim needs a reference kernel; give --ref FUNC");
    if (code == EXIT_OK && !o->no_sim)
        code = against_simulator(j, o, k, in, got, v);
    if (code == EXIT_OK && ref)
        code = against_reference(j, o, k, in, got, ref, v);
    return code;
}

typedef enum { RUN_CODE, RUN_SIM, RUN_TEXT } Way;

static int one_run(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *in, Way way,
                   int64_t seed, Verdict *v)
{
    Arguments got = arguments_copy(in);
    tl_status s = way == RUN_SIM    ? tl_kernel_simulate(k, got.at, got.n, (uint64_t)seed)
                  : way == RUN_TEXT ? tl_kernel_run_text(k, got.at, got.n)
                                    : tl_kernel_run(k, got.at, got.n);
    int code = s == TL_OK ? compare(j, o, k, in, &got, v) : fail_with(j->ctx, s);

    arguments_free(&got);
    return code;
}

static int verify(Job *j, const VerifyOptions *o, tl_kernel *k, const Arguments *in)
{
    Verdict v = {0};
    int code = EXIT_OK;

    for (int64_t seed = 0; o->sim && code == EXIT_OK && seed < MAX(1, o->schedules); seed++)
        code = one_run(j, o, k, in, RUN_SIM, seed, &v);
    if (o->text && code == EXIT_OK)
        code = one_run(j, o, k, in, RUN_TEXT, 0, &v);
    if (!o->sim && !o->text)
        code = one_run(j, o, k, in, RUN_CODE, 0, &v);
    if (code == EXIT_OK && o->json)
        printf("{\"kernel\": \"%s\", \"verify\": \"%s\", \"max_abs_err\": %s, \"strict\": %s}\n",
               tl_kernel_name(k), v.nwrong ? "FAIL" : "PASS",
               isfinite(v.max_abs) ? arena_printf(j->arena, "%.6g", v.max_abs) : "null",
               o->strict ? "true" : "false");
    else if (code == EXIT_OK && v.nwrong == 0)
        printf("VERIFY: PASS\n");
    else if (code == EXIT_OK)
        printf("VERIFY: FAIL max_abs_err=%g\n", v.max_abs);
    return code == EXIT_OK && v.nwrong ? EXIT_USER : code;
}

static int run(void *options, int nargs, const char **args)
{
    VerifyOptions *o = options;
    tl_options t = {.no_build = o->sim || o->text};
    Task task;

    if (o->common.source && o->sim && !o->text) /* it runs the lowered kernel, not its text */
        return fail_text(EXIT_USAGE, "--source and --sim cannot stand together without --text");

    int code = task_open(&task, nargs, args, &o->common, &o->in, &t);
    if (code == EXIT_OK)
        code = task_fill(&task, o->seed);
    if (code == EXIT_OK)
        code = verify(&task.job, o, task.kernel, &task.args);
    task_close(&task);
    return code;
}

const Verb verb_verify = {
    .verb = "verify",
    .usage = "FILE[:FUNC] [NAME=VALUE …]",
    .doc = "compare a kernel's results with its meaning",
    .detail =
        "    tl verify gemm.py --target 'cuda -arch=sm_90a' --sim --schedules 8\n"
        "    tl verify gemm.py --target 'cuda -arch=sm_90a' --sim --text\n\n"
        "Prints VERIFY: PASS, or VERIFY: FAIL max_abs_err=… and exits 1.\n\n"
        "The meaning is what the simulator gives for the tile form of the kernel.  When the file "
        "has a\n"
        "kernel called reference, ref or ref_program with the same parameter names (or --ref "
        "names\n"
        "one), its results are compared too.\n\n"
        "--strict is the contract of tuning harnesses: |x - y| <= 1e-2 for bfloat16, 1e-3 for\n"
        "float16; other dtypes as below.\n\n"
        "A result x is right for y when |x - y| <= tol * max(1, rms(y)) + tol * |y|, with tol by "
        "the\n"
        "dtype of the result: float64 1e-9, float32 1e-4, float16 2e-3, bfloat16 1.6e-2, float8 "
        "one\n"
        "step; integers exact.  Rounding to a narrower type on the way widens it to that type's.\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .rules = rules,
    .nrule = COUNT(rules),
    .start = &unsaid,
    .run = run,
    .options_size = sizeof(VerifyOptions),
};
