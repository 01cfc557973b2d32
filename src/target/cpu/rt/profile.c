/* profile.c -- where the threads of a kernel on this CPU are, looked at now and then.
 *
 * Each thread has a timer of the processor time it takes, which interrupts it.  The calls it is in
 * then become lines of the kernel's file, which the C compiler has written down: the innermost that
 * is of the file.  A thread is taken to have been there since the timer before; the time in which
 * it had no processor is waiting. */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "sim/sim.h"
#include "target/cpu/rt/cpu.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    SAMPLES_MOST = 4000, SAMPLES_WANTED = 400, STEP_US = 1000, FRAMES_MOST = 24, THREADS_MOST = 256,
    RUNS_LEAST = 2,
};
static const double seconds_most = 10;

typedef struct {
    void *frame[FRAMES_MOST]; /* from the inside out */
    int nframe, thread;       /* of the operating system */
    double when, spent;       /* seconds; spent: processor time of the thread so far */
} Sample;

typedef struct {
    uintptr_t at;
    int line; /* 0: not of the kernel's file */
} Place;

typedef struct {
    int timer[THREADS_MOST], thread[THREADS_MOST], n;
    double spent[THREADS_MOST]; /* at the start */
} Timers;

typedef struct {
    Arena *a;
    const char *file, *plans, *object; /* object: the shared object of the kernel */
    uintptr_t base;
    int nline, caller; /* lines of the file; the thread that called */
    VEC(Place) places;
    SimSpans spans;
    Timers timers;
    int runs;
    double start, end; /* of the runs */
} CpuProfile;

/* A process has one handler for a signal: Runtime.sample is called by one thread at a time. */
static Sample *sampled;
static atomic_int nsampled;

static double read_clock(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void take_sample(int number, siginfo_t *info, void *context)
{
    int i = atomic_fetch_add(&nsampled, 1);

    (void)number, (void)info, (void)context;
    if (i >= SAMPLES_MOST)
        return;
    sampled[i].when = read_clock(CLOCK_MONOTONIC);
    sampled[i].spent = read_clock(CLOCK_THREAD_CPUTIME_ID);
    sampled[i].thread = (int)syscall(SYS_gettid);
    sampled[i].nframe = backtrace(sampled[i].frame, FRAMES_MOST);
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* The clock of the processor time of one thread, as Linux numbers them. */
static clockid_t clock_of(int thread)
{
    return (clockid_t)((~(unsigned)thread << 3) | 6);
}

static void start_timer(Timers *t, int thread)
{
    struct itimerspec every = {{0, STEP_US * 1000}, {0, STEP_US * 1000}};
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    int id;

    e.sigev_notify_thread_id = thread;
    if (t->n == THREADS_MOST || syscall(SYS_timer_create, clock_of(thread), &e, &id) != 0)
        return;
    t->thread[t->n] = thread;
    t->spent[t->n] = read_clock(clock_of(thread));
    t->timer[t->n++] = id;
    syscall(SYS_timer_settime, id, 0, &every, NULL);
}

static void start_timers(Arena *a, Timers *t)
{
    const char *why;
    char **names = NULL;
    int n = 0;

    if (dir_list(a, "/proc/self/task", &names, &n, &why) != STATUS_OK)
        return;
    for (int i = 0; i < n; i++)
        if (atoi(names[i]) > 0)
            start_timer(t, atoi(names[i]));
}

static void stop_timers(Timers *t)
{
    for (int i = 0; i < t->n; i++)
        syscall(SYS_timer_delete, t->timer[i]);
}

/* Runs until there is enough to tell. */
static int sample_runs(CpuProfile *p, int (*run)(void *arg), void *arg)
{
    struct sigaction before, on = {.sa_flags = SA_SIGINFO | SA_RESTART};
    void *first[2];
    double *start = &p->start, *end = &p->end;
    int *runs = &p->runs;
    int failed = run(arg); /* its threads are there from now on */

    on.sa_sigaction = take_sample;
    atomic_store(&nsampled, 0);
    backtrace(first, COUNT(first)); /* what it loads is loaded here, and not in the handler */
    sigaction(SIGPROF, &on, &before);
    *start = *end = read_clock(CLOCK_MONOTONIC);
    start_timers(p->a, &p->timers);
    for (*runs = 0; !failed && *end - *start < seconds_most; (*runs)++) {
        if (*runs >= RUNS_LEAST && atomic_load(&nsampled) >= SAMPLES_WANTED)
            break;
        failed = run(arg);
        *end = read_clock(CLOCK_MONOTONIC);
    }
    stop_timers(&p->timers);
    sigaction(SIGPROF, &before, NULL);
    return failed;
}

/* ---- places become lines --------------------------------------------------------------------- */

/* Of what addr2line says of one address: a function and a place, from the inside out. */
static int line_of_frames(const CpuProfile *p, const char *from, const char *to)
{
    size_t n = strlen(p->file);

    for (const char *s = from; s < to; s += strcspn(s, "\n"), s += *s == '\n') {
        int line = !strncmp(s, p->file, n) && s[n] == ':' ? atoi(s + n + 1) : 0;
        if (line > 0 && line <= p->nline)
            return line;
    }
    return 0;
}

static bool in_kernel(const CpuProfile *p, uintptr_t at)
{
    Dl_info d;
    return dladdr((void *)at, &d) && (uintptr_t)d.dli_fbase == p->base;
}

/* A frame but the innermost is where a call returns to: the call is before it. */
static uintptr_t place_of(const Sample *s, int frame)
{
    return (uintptr_t)s->frame[frame] - (frame > 0);
}

static int find_place(const CpuProfile *p, uintptr_t at)
{
    for (int i = 0; i < p->places.n; i++)
        if (p->places.at[i].at == at)
            return i;
    return -1;
}

static void gather_places(CpuProfile *p, int nsample)
{
    for (int i = 0; i < nsample; i++)
        for (int f = 0; f < sampled[i].nframe; f++) {
            uintptr_t at = place_of(&sampled[i], f);
            if (find_place(p, at) < 0 && in_kernel(p, at))
                vec_push(p->a, &p->places, ((Place){at, 0}));
        }
}

static void lines_of_places(CpuProfile *p)
{
    const char **argv = NEWN(p->a, const char *, p->places.n + 5), *why;
    ProcResult r;

    if (p->places.n == 0)
        return;
    argv[0] = "addr2line";
    argv[1] = "-afi";
    argv[2] = "-e";
    argv[3] = p->object;
    for (int i = 0; i < p->places.n; i++)
        argv[4 + i] = arena_printf(p->a, "0x%llx",
                                   (unsigned long long)(p->places.at[i].at - p->base));
    if (proc_run(p->a, argv, NULL, 60, &r, &why) != STATUS_OK)
        recover_throw(STATUS_TOOL, "%s: tl profile needs binutils' addr2line", why);
    const char *s = r.out;
    for (int i = 0; i < p->places.n && *s; i++) {
        const char *end = strstr(s + 1, "\n0x");
        end = end ? end + 1 : s + strlen(s);
        p->places.at[i].line = line_of_frames(p, s, end);
        s = end;
    }
}

static int line_of(const CpuProfile *p, const Sample *s)
{
    for (int f = 0; f < s->nframe; f++) {
        int at = find_place(p, place_of(s, f));
        if (at >= 0 && p->places.at[at].line)
            return p->places.at[at].line;
    }
    return 0;
}

/* What a line does, as the plans name it: "  copy A, a (line 12): …". */
static SimWork work_of(const CpuProfile *p, int line)
{
    char where[32];

    if (line == 0)
        return SIM_WAIT;
    snprintf(where, sizeof where, "(line %d):", line);
    const char *at = strstr(p->plans, where);
    if (!at)
        return SIM_COMPUTE;
    while (at > p->plans && at[-1] != '\n')
        at--;
    at += strspn(at, " ");
    return !strncmp(at, "copy", 4)   ? SIM_COPY
           : !strncmp(at, "gemm", 4) ? SIM_MATRIX
                                     : SIM_COMPUTE;
}

/* ---- samples become spans -------------------------------------------------------------------- */

/* 0 is the thread that called; others by when they were seen first. */
static int number_of_thread(const CpuProfile *p, int nsample, int thread)
{
    int n = 0;

    if (thread == p->caller)
        return 0;
    for (int i = 0; i < nsample && sampled[i].thread != thread; i++) {
        bool seen = sampled[i].thread == p->caller;
        for (int j = 0; j < i && !seen; j++)
            seen = sampled[j].thread == sampled[i].thread;
        n += !seen;
    }
    return n + 1;
}

static void put_span(CpuProfile *p, int thread, int line, SimWork w, double from, double to)
{
    SimSpan *last = p->spans.n ? &p->spans.at[p->spans.n - 1] : NULL;

    if (to <= from)
        return;
    if (last && last->warp == thread && last->line == line && last->work == w && last->to == from)
        last->to = to;
    else
        vec_push(p->a, &p->spans,
                 ((SimSpan){0, thread, line, thread > 0, w, from, to}));
}

static double spent_at_start(const CpuProfile *p, int thread)
{
    for (int i = 0; i < p->timers.n; i++)
        if (p->timers.thread[i] == thread)
            return p->timers.spent[i];
    return 0;
}

/* All that a thread did, in order; microseconds from the start. */
static void spans_of_thread(CpuProfile *p, int nsample, int thread, int number)
{
    double now = 0, all = (p->end - p->start) * 1e6, spent = spent_at_start(p, thread);

    for (int i = 0; i < nsample; i++) {
        if (sampled[i].thread != thread)
            continue;
        double to = MIN((sampled[i].when - p->start) * 1e6, all);
        double from = MAX(to - (sampled[i].spent - spent) * 1e6, now);
        int line = line_of(p, &sampled[i]);
        put_span(p, number, 0, SIM_WAIT, now, from);
        put_span(p, number, line, work_of(p, line), from, to);
        now = MAX(now, to);
        spent = sampled[i].spent;
    }
    put_span(p, number, 0, SIM_WAIT, now, all);
}

static void make_spans(CpuProfile *p, int nsample)
{
    for (int i = 0; i < nsample; i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++)
            seen = sampled[j].thread == sampled[i].thread;
        if (!seen)
            spans_of_thread(p, nsample, sampled[i].thread,
                            number_of_thread(p, nsample, sampled[i].thread));
    }
}

/* ---- the entry ------------------------------------------------------------------------------- */

static void look_at_kernel(CpuProfile *p, const Func *f, const Module *m)
{
    Dl_info d;
    void *entry;
    const Source *src = f->kernels.n ? f->kernels.at[0]->span.src : NULL;
    Str plans;

    memcpy(&entry, &m->entry, sizeof entry);
    if (!entry || !dladdr(entry, &d) || !src)
        recover_throw(STATUS_USER, "'%s' has no code that runs here [not-profiled]", f->name);
    p->object = d.dli_fname;
    p->base = (uintptr_t)d.dli_fbase;
    p->file = src->name;
    for (size_t i = 0; i < src->len; i++)
        p->nline += src->text[i] == '\n' || i + 1 == src->len;
    str_init(&plans, p->a);
    for (int i = 0; i < f->kernels.n; i++)
        print_plans(&plans, f->kernels.at[i]);
    p->plans = plans.s;
    p->caller = (int)syscall(SYS_gettid);
}

static void tell(CpuProfile *p, const Func *f, const Module *m, ProfileSpans *out)
{
    int n = MIN(atomic_load(&nsampled), SAMPLES_MOST);

    if (n == 0)
        recover_throw(STATUS_USER, "no time was seen: the kernel is too short, or has no work "
                      "[not-profiled]");
    look_at_kernel(p, f, m);
    gather_places(p, n);
    lines_of_places(p);
    make_spans(p, n);
    *out = (ProfileSpans){p->spans, "us", "thread", {"caller", "worker"}, p->runs, false,
                          arena_printf(p->a, "%.2f us a run, %d samples\n",
                                       (p->end - p->start) * 1e6 / p->runs, n)};
}

int cpu_sample(Arena *a, const Func *f, const Module *m, int (*run)(void *arg), void *arg,
               ProfileSpans *out)
{
    CpuProfile p = {.a = a};

    sampled = NEWN(a, Sample, SAMPLES_MOST);
    int failed = sample_runs(&p, run, arg);
    if (!failed)
        tell(&p, f, m, out);
    return failed;
}
