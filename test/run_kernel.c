/* run_kernel.c -- a kernel compiled and run, against the simulator of its tile form.
 *
 *     # verify: [:FUNC] NAME=VALUE …     one run; several lines, several runs
 *     … --warns=tag                      the only warning that may come
 *     # prints: TEXT                     the run and the simulation print such a line
 *     # fails: TEXT                      both end with a message that has TEXT
 *     # refused: TEXT                    the simulator ends so; the kernel is not run
 *
 * Tensors of the run end at a page that cannot be touched and lie wherever their length puts them,
 * so reading past an end or trusting alignment ends the test.  What a kernel does not write must
 * stay as it was.  Then every pass is simulated (--check-each). */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rt/msan.h"
#include "run.h"

enum { PATTERN = 0x5a, PRINT_MOST = 1 << 16 };

typedef struct {
    Arena *arena;
    const Case *c;
    const char *text;
    Job job;
    tl_kernel *k;
    Arguments in;
} Kernel1;

/* ---- tensors at the edge of memory ----------------------------------------------------------- */

static void *edge_memory(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
    char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    CHECK_INT(mprotect(p + room, page, PROT_NONE), 0);
    memset(p, PATTERN, room);
    return p + room - n;
}

static tl_tensor *edge_copy(Kernel1 *q)
{
    tl_tensor *t = NEWN(q->arena, tl_tensor, q->in.n + 1);

    for (int i = 0; i < q->in.n; i++) {
        t[i] = q->in.at[i];
        t[i].data = edge_memory((size_t)q->in.nbytes[i]);
        if (!tl_kernel_param(q->k, i).is_output)
            memcpy(t[i].data, q->in.at[i].data, (size_t)q->in.nbytes[i]);
    }
    return t;
}

/* ---- what is printed ------------------------------------------------------------------------- */

typedef tl_status RunFn(tl_kernel *k, const tl_tensor *args, int narg);

/* Run with standard output kept. */
static tl_status run_kept(Kernel1 *q, RunFn *run, const tl_tensor *args, char **printed)
{
    FILE *f = tmpfile();
    int old = dup(STDOUT_FILENO);

    CHECK(f && old >= 0);
    fflush(stdout);
    dup2(fileno(f), STDOUT_FILENO);
    tl_status s = run(q->k, args, q->in.n);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    rewind(f);
    *printed = arena_alloc(q->arena, PRINT_MOST + 1);
    (*printed)[fread(*printed, 1, PRINT_MOST, f)] = 0;
    fclose(f);
    return s;
}

static void check_printed(Kernel1 *q, const char *printed, const char *who)
{
    char *want;
    int line;

    for (int i = 0; (want = mark_at(q->arena, q->text, "# prints:", i, &line)); i++)
        test_has(q->c->path, line, printed, want, who);
}

/* True when the run was to fail, and did. */
static bool check_status(Kernel1 *q, tl_status s, const char *who)
{
    int line;
    char *fails = mark_at(q->arena, q->text, "# fails:", 0, &line);

    if (!fails && s != TL_OK)
        printf("%s: %s\n", who, tl_message(q->job.ctx));
    if (!fails)
        test_int(q->c->path, q->c->line, s, TL_OK, who);
    else
        test_has(q->c->path, line, s == TL_OK ? "it ran" : tl_message(q->job.ctx), fails, who);
    return fails != NULL;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void compare(Kernel1 *q, int i, const tl_tensor *got, const tl_tensor *want)
{
    double tol = tl_kernel_tolerance(q->k, want->dtype), rms = tensor_rms(want);
    tl_difference d;

    CHECK_INT(tl_compare(q->job.ctx, got, want, tol * MAX(1, rms), tol, &d), TL_OK);
    if (d.nwrong == 0)
        return;
    printf("%s: %lld of %lld elements differ from the simulator; [%lld] is %.9g, not %.9g "
           "(tolerance %g)\n",
           tl_kernel_param(q->k, i).name, (long long)d.nwrong, (long long)d.nelem,
           (long long)d.first_wrong, tl_value_at(got, d.first_wrong),
           tl_value_at(want, d.first_wrong), tol);
    test_check(q->c->path, q->c->line, false, "the compiled kernel agrees with its meaning");
}

static void compare_all(Kernel1 *q, const tl_tensor *got, const tl_tensor *want)
{
    int nwritten = 0;

    for (int i = 0; i < q->in.n; i++) {
        tl_param p = tl_kernel_param(q->k, i);
        nwritten += p.is_written;
        msan_expect(got[i].data, q->in.nbytes[i]);
        if (p.is_written)
            compare(q, i, &got[i], &want[i]);
        else
            CHECK(memcmp(got[i].data, q->in.at[i].data, (size_t)q->in.nbytes[i]) == 0);
    }
    CHECK(nwritten > 0);
}

/* ---- the parts ------------------------------------------------------------------------------- */

/* A warning nobody announced is as wrong as a missing one. */
static void check_warnings(Kernel1 *q)
{
    const char *said = tl_kernel_text(q->k, TL_TEXT_WARNINGS);
    const char *tag = option_of(q->arena, q->c->args, "warns");

    if (tag)
        test_has(q->c->path, q->c->line, said, arena_printf(q->arena, "[%s]", tag), "the warnings");
    else
        test_text(q->c->path, q->c->line, said, "", "the warnings");
}

static void run_both(Kernel1 *q)
{
    tl_tensor *got = edge_copy(q), *want = edge_copy(q);
    char *printed;
    tl_status s = run_kept(q, tl_kernel_reference, want, &printed);
    int line;
    char *refused = mark_at(q->arena, q->text, "# refused:", 0, &line);

    if (refused) {
        test_has(q->c->path, line, s == TL_OK ? "it ran" : tl_message(q->job.ctx), refused,
                 "the simulator");
        return;
    }
    bool fails = check_status(q, s, "the simulator");

    if (!fails)
        check_printed(q, printed, "the simulator's output");
    s = run_kept(q, tl_kernel_run, got, &printed);
    if (check_status(q, s, "the kernel"))
        return;
    check_printed(q, printed, "the kernel's output");
    compare_all(q, got, want);
}

static void check_each(Kernel1 *q, const char *target)
{
    tl_options o = {.check_each = true, .no_build = true, .skip = test_options.skip};
    int line;

    if (mark_at(q->arena, q->text, "# fails:", 0, &line) ||
        mark_at(q->arena, q->text, "# refused:", 0, &line))
        return;
    tl_kernel_free(case_compile(&q->job, &o, target));
}

void run_kernel(void)
{
    Kernel1 q = {.arena = arena_new(), .c = case_now()};
    int line;

    q.text = text_of(q.arena, q.c->path);
    const char *target = mark_at(q.arena, q.text, "# target:", 0, &line);
    if (!target)
        target = test_options.target;
    tl_options o = {.skip = test_options.skip};
    case_open(q.arena, &q.job, q.c->path, q.c->args);
    q.k = case_compile(&q.job, &o, target);
    check_warnings(&q);
    CHECK_INT(arguments_make(&q.job, q.k, NULL, 0, 1, &q.in), EXIT_OK);
    run_both(&q);
    check_each(&q, target);
    arguments_free(&q.in);
    tl_kernel_free(q.k);
    job_close(&q.job);
    arena_free(q.arena);
}
