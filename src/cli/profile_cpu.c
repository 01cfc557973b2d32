/* profile_cpu.c -- tl profile on a CPU: where the threads of a run are, looked at now and then.
 *
 * A timer of the processor time that the process takes interrupts one of its threads; addresses in
 * the kernel's code become lines of the kernel's file, which the C compiler has written down. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include "cli/profile.h"

enum { SAMPLES_MOST = 4000, SAMPLES_WANTED = 400, STEP_US = 1000, LINES_MOST = 4000 };
static const double seconds_most = 10;

static uintptr_t sampled[SAMPLES_MOST];
static atomic_int nsampled;

static void take_sample(int number, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    int i = atomic_fetch_add(&nsampled, 1);

    (void)number, (void)info;
#if defined(__x86_64__)
    uintptr_t at = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t at = (uintptr_t)u->uc_mcontext.pc;
#else
    uintptr_t at = 0;
#endif
    if (i < SAMPLES_MOST)
        sampled[i] = at;
}

/* Runs until there is enough to tell; *us is the time of one run. */
static tl_status sample_runs(tl_kernel *k, Arguments *a, double *us)
{
    struct sigaction before, on = {.sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerval every = {{0, STEP_US}, {0, STEP_US}}, never = {{0, 0}, {0, 0}};
    tl_status s = tl_kernel_run(k, a->at, a->n);
    double start = now_seconds(), now = start;
    int64_t runs = 0;

    on.sa_sigaction = take_sample;
    atomic_store(&nsampled, 0);
    sigaction(SIGPROF, &on, &before);
    setitimer(ITIMER_PROF, &every, NULL);
    while (s == TL_OK && atomic_load(&nsampled) < SAMPLES_WANTED && now - start < seconds_most) {
        s = tl_kernel_run(k, a->at, a->n);
        now = now_seconds();
        runs++;
    }
    setitimer(ITIMER_PROF, &never, NULL);
    sigaction(SIGPROF, &before, NULL);
    *us = runs ? (now - start) * 1e6 / (double)runs : 0;
    return s;
}

/* ---- addresses to lines ---------------------------------------------------------------------- */

/* The file that is mapped there, and the place in it; NULL: none of the cache's. */
static const char *mapped(Arena *a, const char *maps, uintptr_t at, uintptr_t *place)
{
    const char *root = cache_root(a);

    for (const char *s = maps; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        unsigned long long from, to, offset;
        char file[1024] = "";
        if (sscanf(s, "%llx-%llx %*s %llx %*s %*s %1023[^\n]", &from, &to, &offset, file) < 3 ||
            at < from || at >= to)
            continue;
        *place = at - (uintptr_t)from + (uintptr_t)offset;
        const char *name = file + strspn(file, " ");
        return strncmp(name, root, strlen(root)) ? NULL : arena_strdup(a, name);
    }
    return NULL;
}

/* The first line that the plans have of an operator; 0: none. */
static int line_of_op(const char *plans, const char *op)
{
    for (const char *s = plans; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const char *at = strstr(s, "(line ");
        if (!strncmp(s + strspn(s, " "), op, strlen(op)) && at && at < s + strcspn(s, "\n"))
            return atoi(at + strlen("(line "));
    }
    return 0;
}

/* What addr2line says of one address: an address, then pairs of a function and a place, from the
 * inside out.  Functions that stand for themselves are those of products. */
static int line_of_frames(const char *from, const char *to, const char *file, const char *plans)
{
    for (const char *s = from; s < to; s += strcspn(s, "\n"), s += *s == '\n') {
        const char *at = strstr(s, file);
        if (at && at < s + strcspn(s, "\n") && at[strlen(file)] == ':')
            return atoi(at + strlen(file) + 1);
    }
    const char *function = from + strcspn(from, "\n") + 1;
    return function < to && !strncmp(function, "tl_", 3) ? line_of_op(plans, "gemm") : 0;
}

static void count_frames(const char *text, const char *file, const char *plans, int *count)
{
    for (const char *s = text; *s;) {
        const char *end = strstr(s + 1, "\n0x");
        end = end ? end + 1 : s + strlen(s);
        int line = line_of_frames(s, end, file, plans);
        count[line > 0 && line < LINES_MOST ? line : 0]++;
        s = end;
    }
}

/* Counts by line; [0]: elsewhere, in libraries or between the runs. */
static Status count_lines(Job *j, const char *plans, int *count, const char **why)
{
    Arena *a = j->arena;
    int n = MIN(atomic_load(&nsampled), SAMPLES_MOST), nplace = 0;
    const char **argv = NEWN(a, const char *, SAMPLES_MOST + 5), *file = NULL;
    char *maps;
    size_t size;
    ProcResult r;

    if (file_read(a, "/proc/self/maps", &maps, &size, why) != STATUS_OK)
        return STATUS_IO;
    for (int i = 0; i < n; i++) {
        uintptr_t place = 0;
        const char *here = mapped(a, maps, sampled[i], &place);
        if (here)
            argv[4 + nplace++] = arena_printf(a, "0x%llx", (unsigned long long)place);
        else
            count[0]++;
        file = here ? here : file;
    }
    if (nplace == 0)
        return STATUS_OK;
    argv[0] = "addr2line";
    argv[1] = "-afi";
    argv[2] = "-e";
    argv[3] = file;
    Status s = proc_run(a, argv, NULL, 60, &r, why);
    if (s == STATUS_OK)
        count_frames(r.out, j->file, plans, count);
    return s;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* What a line does, as the plans name it: "  copy A, a (line 12): …". */
static int work_of_line(const char *plans, int line)
{
    char where[32];
    snprintf(where, sizeof where, "(line %d):", line);
    const char *at = strstr(plans, where);
    if (!at)
        return WORK_COMPUTE;
    while (at > plans && at[-1] != '\n')
        at--;
    at += strspn(at, " ");
    return !strncmp(at, "copy", 4) ? WORK_COPY : !strncmp(at, "gemm", 4) ? WORK_MATRIX
                                                                         : WORK_COMPUTE;
}

static void put_line(const char *name, double us, double part, const char *work)
{
    printf("  %-10s %10.2f %6.1f%%  %s\n", name, us, 100 * part, work);
}

int profile_cpu(Job *j, const ProfileOptions *o, tl_kernel *k, Arguments *a)
{
    int *count = NEWN(j->arena, int, LINES_MOST), all = 0;
    const char *why = "", *plans = tl_kernel_text(k, TL_TEXT_PLANS);
    double us = 0, sum[WORK_COUNT] = {0};
    Str json;
    tl_status s = sample_runs(k, a, &us);

    if (s != TL_OK)
        return fail_with(j->ctx, s);
    if (count_lines(j, plans, count, &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    for (int i = 0; i < LINES_MOST; i++)
        all += count[i];
    if (all == 0)
        return fail_text(EXIT_MACHINE, "no time was seen: the kernel is too short, or has no work");
    str_init(&json, j->arena);
    str_puts(&json, "{\"tilelang\":{\"unit\":\"us\",\"model\":false,\"lines\":[");
    printf("%.2f us a run, %d samples\n  %-10s %10s %7s\n", us, all, "line", "us", "");
    for (int i = 1, n = 0; i < LINES_MOST; i++) {
        if (!count[i])
            continue;
        int w = work_of_line(plans, i);
        double part = (double)count[i] / all;
        sum[w] += part;
        put_line(arena_printf(j->arena, "%d", i), us * part, part, work_names[w]);
        str_printf(&json, "%s\n{\"line\":%d,\"%s\":%.4f}", n++ ? "," : "", i, work_names[w],
                   us * part);
    }
    str_puts(&json, "]},\n\"traceEvents\":[]}\n");
    put_line("elsewhere", us * count[0] / all, (double)count[0] / all,
             "waiting between blocks and runs, libraries");
    for (int w = 0; w < WORK_COUNT; w++)
        if (w != WORK_WAIT)
            printf("  in all: %s %.1f%%\n", work_names[w], 100 * sum[w]);
    return profile_end(j, o, json.s);
}
