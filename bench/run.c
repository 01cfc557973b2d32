/* run.c -- measure kernels beside their peers and print one line per case.
 *
 *     gemm 1024x1024x1024 f32 1t  ms 12.1  GF 177  peak 92%  openblas 1.13x blis 1.40x onednn 1.02x
 *
 * Results are checked before anything is timed.  Ours and the peers then take turns, round after
 * round and each time in another order, so that a machine that slows down slows down for all; every
 * time is a median over rounds.  A ratio above 1 means that ours is faster. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { OURS = NPEER, NCONTESTANT, LEAST_ROUNDS = 5, MOST_ROUNDS = 60, MOST_RESULT = 64 };

enum { BENCH_ONE = 1, BENCH_ALL = 2, DEMO_ONE = 4, DEMO_ALL = 8 };

typedef struct {
    const char *family;
    int64_t dim[MOST_DIM];
    unsigned when;
} Case;

static const Case cases[] = {
    {"gemm", {256, 256, 256}, BENCH_ONE | BENCH_ALL},
    {"gemm", {512, 512, 512}, BENCH_ONE | BENCH_ALL},
    {"gemm", {1024, 1024, 1024}, BENCH_ONE | BENCH_ALL | DEMO_ONE | DEMO_ALL},
    {"gemm", {2048, 2048, 2048}, BENCH_ONE | BENCH_ALL},
    {"gemm", {1000, 1500, 700}, BENCH_ONE | BENCH_ALL | DEMO_ONE},
    {"gemm-s8", {512, 512, 512}, BENCH_ONE | BENCH_ALL},
    {"gemm-s8", {1024, 1024, 1024}, BENCH_ONE | BENCH_ALL | DEMO_ONE},
    {"gemm-s8", {2048, 2048, 2048}, BENCH_ONE | BENCH_ALL},
    {"attention", {1, 8, 2048, 64}, BENCH_ONE | BENCH_ALL | DEMO_ONE | DEMO_ALL},
    {"attention", {1, 8, 2048, 128}, BENCH_ONE | BENCH_ALL},
    {"softmax", {4096, 4096}, BENCH_ONE | BENCH_ALL | DEMO_ONE},
    {"rmsnorm", {4096, 4096}, BENCH_ONE | BENCH_ALL | DEMO_ONE},
    {"dequant", {256, 4096, 4096}, BENCH_ONE | BENCH_ALL | DEMO_ONE},
};

typedef struct {
    bool demo;
    const char *html, *csv, *only, *examples;
    double seconds; /* of measuring for each contestant of a case */
    int threads;    /* what "all" means */
} Options;

typedef struct {
    Options o;
    tl_context *tl;
    Peers peers;
    Machine machine;
    bool tty;
    double wall, cpu; /* seconds of all samples on one thread */
    int at, total; /* cases */
    Result result[MOST_RESULT];
    int nresult;
} Bench;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* ---- progress -------------------------------------------------------------------------------- */

static void progress(const Bench *b, const Result *r, const char *what)
{
    if (b->tty)
        fprintf(stderr, "\r\033[K[%d/%d] %s %s, %d thread%s: %s", b->at, b->total, r->family->title,
                r->shape, r->threads, r->threads == 1 ? "" : "s", what);
}

static void progress_end(const Bench *b)
{
    if (b->tty)
        fputs("\r\033[K", stderr);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void contestant_run(Problem *p, int who)
{
    if (who == OURS)
        problem_run(p);
    else
        p->family->peer(p, (PeerId)who);
}

static bool takes_part(const Problem *p, int who)
{
    return who == OURS || p->has[who];
}

/* Seconds of one run, over a batch long enough for the clock.  Threads of the previous contestant
 * may still spin for work: let them sleep, then wake our own with a run that does not count.  On
 * one thread the time is the processor's, which is the same on a quiet machine and right on a busy
 * one. */
static double sample(Bench *b, Problem *p, int who, int batch)
{
    const struct timespec rest = {0, 4000000};

    if (p->threads > 1)
        nanosleep(&rest, NULL);
    contestant_run(p, who);
    double start = now(), cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < batch; i++)
        contestant_run(p, who);
    double wall = now() - start;
    if (p->threads > 1)
        return wall / batch;
    cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    b->wall += wall;
    b->cpu += cpu;
    return cpu / batch;
}

static void measure(Bench *b, Problem *p, Result *r)
{
    static double time[NCONTESTANT][MOST_ROUNDS];
    const double least_sample = 2e-3;
    int batch[NCONTESTANT], n = 0;
    double round = 0;
    char what[48];

    for (int w = 0; w < NCONTESTANT; w++) {
        if (!takes_part(p, w))
            continue;
        double t = sample(b, p, w, 1);
        batch[w] = t < least_sample ? (int)(least_sample / t) + 1 : 1;
        round += t * (batch[w] + 1);
        n++;
    }
    r->rounds = (int)(b->o.seconds * n / round);
    r->rounds = r->rounds < LEAST_ROUNDS  ? LEAST_ROUNDS
                : r->rounds > MOST_ROUNDS ? MOST_ROUNDS
                                          : r->rounds;
    for (int i = 0; i < r->rounds; i++) {
        snprintf(what, sizeof what, "round %d of %d", i + 1, r->rounds);
        progress(b, r, what);
        for (int k = 0; k < NCONTESTANT; k++) {
            int w = (k + i) % NCONTESTANT;
            if (takes_part(p, w))
                time[w][i] = sample(b, p, w, batch[w]);
        }
    }
    for (int w = 0; w < NPEER; w++) {
        if (!takes_part(p, w))
            continue;
        r->peer_ms[w] = median(time[w], r->rounds) * 1e3;
        r->peer_best_ms[w] = time[w][0] * 1e3; /* the median has sorted them */
    }
    r->ms = median(time[OURS], r->rounds) * 1e3;
    r->best_ms = time[OURS][0] * 1e3;
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool fail(Result *r, const char *why)
{
    snprintf(r->why, sizeof r->why, "%s", why);
    for (char *c = r->why; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return false;
}

static bool agrees(Problem *p, Result *r, PeerId id)
{
    tl_tensor want = p->arg[p->narg - 1];
    tl_difference d = {0};
    double allowed = p->family->allowed ? p->family->allowed(p->dim) : 0;

    if (id == MEMCPY)
        return true;
    want.data = p->result;
    p->family->peer(p, id);
    if (tl_compare(p->tl, &p->arg[p->narg - 1], &want, allowed, 0, &d) != TL_OK)
        return fail(r, tl_message(p->tl));
    if (!d.nwrong)
        return true;
    snprintf(r->why, sizeof r->why, "%lld of %lld elements differ from %s, by up to %g",
             (long long)d.nwrong, (long long)d.nelem, peer_titles[id], d.max_abs_err);
    return false;
}

static bool check(Problem *p, Result *r)
{
    const char *why = problem_run(p);
    if (why)
        return fail(r, why);
    r->error = p->family->check(p);
    if (!(r->error <= 1)) {
        snprintf(r->why, sizeof r->why, "wrong: the error is %.3g times what is allowed", r->error);
        return false;
    }
    for (int i = 0; i < NPEER; i++)
        if (p->has[i] && !agrees(p, r, (PeerId)i))
            return false;
    return true;
}

/* ---- one case -------------------------------------------------------------------------------- */

/* "   1.234 ms  name" lines; the last one is the sum. */
static void read_phases(Result *r, const char *text)
{
    while (text && *text && r->nphase < MOST_PHASE) {
        Phase *f = &r->phase[r->nphase];
        if (sscanf(text, " %lf ms %63[^\n]", &f->ms, f->name) == 2 && strncmp(f->name, "total", 5))
            r->nphase++;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
}

static double roof_of(Bench *b, const Family *f, int threads)
{
    return f->roof == ROOF_STREAM ? tl_cpu_stream(b->tl, threads)
                                  : tl_cpu_peak(b->tl, f->peak_dtype, threads);
}

static bool same_roof(const Result *a, const Result *b)
{
    return a->threads == b->threads && a->family->roof == b->family->roof &&
           (a->family->roof == ROOF_STREAM ||
            !strcmp(a->family->peak_dtype, b->family->peak_dtype));
}

/* A machine has one roof.  It is measured again for every case and the best try counts, for the
 * cases before as well: a try while something else ran would flatter us.  A plain copy is one more
 * try at the stream. */
static void measure_roof(Bench *b, Result *r, double work)
{
    enum { FIRST_TRIES = 5 };
    bool known = false;
    double roof = roof_of(b, r->family, r->threads);

    for (const Result *x = b->result; x < r; x++)
        if (same_roof(x, r)) {
            roof = fmax(roof, x->roof);
            known = true;
        }
    for (int i = 1; !known && i < FIRST_TRIES; i++)
        roof = fmax(roof, roof_of(b, r->family, r->threads));
    if (r->family->roof == ROOF_STREAM && r->peer_best_ms[MEMCPY] > 0)
        roof = fmax(roof, work / (r->peer_best_ms[MEMCPY] * 1e-3) * 1e-9);
    for (Result *x = b->result; x <= r; x++)
        if (same_roof(x, r))
            x->roof = roof;
}

static void run_problem(Bench *b, Problem *p, Result *r)
{
    progress(b, r, "compiling");
    peers_threads(&b->peers, p->threads); /* first: oneDNN plans for the threads it has then */
    const char *why = problem_open(p, b->o.examples, b->o.demo);
    if (why) {
        fail(r, why);
        return;
    }
    read_phases(r, tl_kernel_text(p->kernel, TL_TEXT_TIME));
    progress(b, r, "checking");
    if (!check(p, r))
        return;
    measure(b, p, r);
    progress(b, r, "measuring the machine");
    double work = p->family->work(p->dim);
    measure_roof(b, r, work);
    r->rate = work / (r->ms * 1e-3) * 1e-9;
    r->ok = true;
}

PeerId result_strongest(const Result *r)
{
    PeerId best = NPEER;
    for (int i = 0; i < NPEER; i++)
        if (i != MEMCPY && r->peer_ms[i] > 0 && (best == NPEER || r->peer_ms[i] < r->peer_ms[best]))
            best = (PeerId)i;
    return best == NPEER && r->peer_ms[MEMCPY] > 0 ? MEMCPY : best;
}

static const char *short_dtype(const Family *f)
{
    if (!strcmp(f->name, "gemm-s8"))
        return "s8";
    return strcmp(f->name, "dequant") ? "f32" : "w4f16";
}

static void print_line(const Result *r)
{
    bool stream = r->family->roof == ROOF_STREAM;

    printf("%-9s %-15s %-5s %dt  ", r->family->name, r->shape, short_dtype(r->family), r->threads);
    if (!r->ok) {
        printf("FAILED %s\n", r->why);
        return;
    }
    printf("ms %-7.4g  %s %-6.4g  %s %3.0f%% ", r->ms, stream ? "GB/s" : "GF", r->rate,
           stream ? "stream" : "peak", r->roof > 0 ? 100 * r->rate / r->roof : NAN);
    for (int i = 0; i < NPEER; i++)
        if (r->peer_ms[i] > 0)
            printf(" %s %.2fx", peer_names[i], r->peer_ms[i] / r->ms);
    putchar('\n');
    fflush(stdout);
}

static void run_case(Bench *b, const Case *c, int threads)
{
    Problem p = {
        .family = family_find(c->family), .threads = threads, .tl = b->tl, .peers = &b->peers};
    Result *r = &b->result[b->nresult++];

    memcpy(p.dim, c->dim, sizeof p.dim);
    r->family = p.family;
    r->threads = threads;
    problem_shape(&p, r->shape);
    b->at++;
    if (!b->tty && b->o.demo)
        fprintf(stderr, "[%d/%d] %s %s, %d thread%s\n", b->at, b->total, r->family->title, r->shape,
                threads, threads == 1 ? "" : "s");
    run_problem(b, &p, r);
    problem_close(&p);
    progress_end(b);
    if (!b->o.demo)
        print_line(r);
    else if (!r->ok)
        fprintf(stderr, "%s %s: %s\n", r->family->title, r->shape, r->why);
}

static bool selected(const Bench *b, const Case *c, unsigned when)
{
    return (c->when & when) && (!b->o.only || strstr(c->family, b->o.only)) &&
           b->nresult < MOST_RESULT;
}

/* One thread first, then all of them, family by family. */
static void run_cases(Bench *b)
{
    const int ncase = (int)(sizeof cases / sizeof *cases);
    const unsigned one = b->o.demo ? DEMO_ONE : BENCH_ONE, all = b->o.demo ? DEMO_ALL : BENCH_ALL;
    const bool many = b->o.threads > 1;

    for (int i = 0; i < ncase; i++)
        b->total += selected(b, &cases[i], one) + (many && selected(b, &cases[i], all));
    for (int f = 0; f < nfamily; f++)
        for (int pass = 0; pass < 1 + many; pass++)
            for (int i = 0; i < ncase; i++)
                if (!strcmp(cases[i].family, families[f].name) &&
                    selected(b, &cases[i], pass ? all : one))
                    run_case(b, &cases[i], pass ? b->o.threads : 1);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

static void print_mean(const Bench *b, const Family *f, int threads)
{
    double log_sum[NCONTESTANT] = {0};
    int n[NCONTESTANT] = {0};

    for (const Result *r = b->result; r < b->result + b->nresult; r++) {
        if (r->family != f || r->threads != threads || !r->ok)
            continue;
        for (int i = 0; i < NPEER; i++)
            if (r->peer_ms[i] > 0) {
                log_sum[i] += log(r->peer_ms[i] / r->ms);
                n[i]++;
            }
        log_sum[OURS] += log(r->rate / r->roof);
        n[OURS]++;
    }
    if (!n[OURS])
        return;
    printf("mean %-9s %dt  %s %3.0f%% ", f->name, threads,
           f->roof == ROOF_STREAM ? "stream" : "peak", 100 * exp(log_sum[OURS] / n[OURS]));
    for (int i = 0; i < NPEER; i++)
        if (n[i])
            printf(" %s %.2fx", peer_names[i], exp(log_sum[i] / n[i]));
    printf("  of %d\n", n[OURS]);
}

static void print_means(const Bench *b)
{
    puts("\n# geometric means");
    for (int i = 0; i < nfamily; i++) {
        print_mean(b, &families[i], 1);
        if (b->o.threads > 1)
            print_mean(b, &families[i], b->o.threads);
    }
}

static void print_table(const Bench *b)
{
    printf("\n%-13s %-15s %7s %10s %15s %9s   %-9s %6s   %s\n", "kernel", "shape", "threads",
           "time", "rate", "of limit", "peer", "ratio", "result");
    for (const Result *r = b->result; r < b->result + b->nresult; r++) {
        PeerId id = result_strongest(r);
        printf("%-13s %-15s %7d ", r->family->title, r->shape, r->threads);
        if (!r->ok) {
            printf("%s\n", r->why);
            continue;
        }
        printf("%7.2f ms %7.1f %-7s %8.0f%%   ", r->ms, r->rate, r->family->unit,
               100 * r->rate / r->roof);
        if (id == NPEER)
            printf("%-9s %6s", "-", "-");
        else
            printf("%-9s %5.2fx", peer_titles[id], r->peer_ms[id] / r->ms);
        puts("   verified");
    }
    puts("\nof limit: of this machine's own FMA loop, or of its own stream of reads and writes for "
         "softmax"
         "\nand RMSNorm.  ratio: time of the fastest peer present over ours; above 1 ours is "
         "faster.");
    for (int i = 0; i < nfamily; i++)
        if (families[i].note)
            printf("%s: %s.\n", families[i].title, families[i].note);
}

/* ---- how fast is the compiler ---------------------------------------------------------------- */

static void compile_speed(Bench *b)
{
    static const char *const files[] = {"vector_add.py",   "softmax.py",
                                        "gemm.py",         "flash_attention.py",
                                        "dequant_gemm.py", "mamba_chunk_scan.py"};
    enum { TIMES = 15 };
    double time[TIMES];
    char file[4096];

    puts("\n# source to C, without the C compiler");
    for (int i = 0; i < (int)(sizeof files / sizeof *files); i++) {
        tl_options o = TL_OPTIONS_INIT;
        size_t nbytes = 0;
        int n = 0;
        o.target = "cpu";
        o.no_cache = o.no_build = true;
        snprintf(file, sizeof file, "%s/%s", b->o.examples, files[i]);
        for (; n < TIMES; n++) {
            tl_kernel *k = NULL;
            double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
            if (tl_compile(b->tl, file, NULL, &o, &k) != TL_OK)
                break;
            const char *text = tl_kernel_text(k, TL_TEXT_SOURCE);
            time[n] = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
            nbytes = text ? strlen(text) : 0;
            tl_kernel_free(k);
        }
        if (n == TIMES)
            printf("compile   %-20s  ms %-6.3g  C %.1f KiB\n", files[i], median(time, n) * 1e3,
                   (double)nbytes / 1024);
        else
            printf("compile   %-20s  FAILED %s\n", files[i], tl_message(b->tl));
    }
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void read_cpu_name(char *out, size_t n)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(out, n, "this machine");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            char *name = strchr(line, ':') + 2;
            name[strcspn(name, "\n")] = 0;
            snprintf(out, n, "%s", name);
            break;
        }
    if (f)
        fclose(f);
}

/* The rest of the line of tl_targets that begins so. */
static void read_fact(const char *text, const char *begin, char *out, size_t n)
{
    const char *at = strstr(text, begin);
    if (!at)
        return;
    at += strlen(begin);
    snprintf(out, n, "%.*s", (int)strcspn(at, "\n"), at);
}

static void read_machine(Bench *b)
{
    Machine *m = &b->machine;
    read_cpu_name(m->cpu, sizeof m->cpu);
    const char *text = tl_targets(b->tl);
    read_fact(text, "here: ", m->target, sizeof m->target);
    read_fact(text, "compiler: ", m->compiler, sizeof m->compiler);
}

/* Someone else's work on the same cores makes every number here smaller; say so. */
static void watch_load(Bench *b)
{
    double lost = b->wall > 0 ? 1 - b->cpu / b->wall : 0;
    if (lost > 0.05)
        snprintf(b->machine.busy, sizeof b->machine.busy,
                 "Other programs had %.0f%% of the processor meanwhile: times on several threads "
                 "are too "
                 "long, and all ratios less sure.",
                 100 * lost);
}

static void print_machine(const Bench *b)
{
    printf("# %s; %s\n# compiler %s\n", b->machine.cpu, b->machine.target, b->machine.compiler);
    for (int i = 0; i < MEMCPY; i++)
        printf("# %-8s %s\n", peer_titles[i], b->peers.has[i] ? b->peers.about[i] : "absent");
    fflush(stdout);
}

/* ---- files and options ----------------------------------------------------------------------- */

static bool write_csv(const Bench *b)
{
    FILE *f = fopen(b->o.csv, "w");
    if (!f)
        return false;
    fprintf(f, "# %s\n# tilelang %s\n", b->machine.cpu, tl_version());
    for (int i = 0; i < MEMCPY; i++)
        fprintf(f, "# %s %s\n", peer_names[i], b->peers.has[i] ? b->peers.about[i] : "absent");
    if (*b->machine.busy)
        fprintf(f, "# %s\n", b->machine.busy);
    fputs("family,shape,dtype,threads,ok,rounds,ms,best_ms,rate,unit,limit", f);
    for (int i = 0; i < NPEER; i++)
        fprintf(f, ",%s_ms,%s_best_ms", peer_names[i], peer_names[i]);
    putc('\n', f);
    for (const Result *r = b->result; r < b->result + b->nresult; r++) {
        fprintf(f, "%s,%s,%s,%d,%d,%d,%.5g,%.5g,%.5g,%s,%.5g", r->family->name, r->shape,
                short_dtype(r->family), r->threads, r->ok, r->rounds, r->ms, r->best_ms, r->rate,
                r->family->unit, r->roof);
        for (int i = 0; i < NPEER; i++) {
            if (r->peer_ms[i] > 0)
                fprintf(f, ",%.5g,%.5g", r->peer_ms[i], r->peer_best_ms[i]);
            else
                fputs(",,", f);
        }
        putc('\n', f);
    }
    return !fclose(f);
}

static const char usage[] =
    "usage: run [--demo] [--html FILE] [--csv FILE] [--only FAMILY] [--seconds S] [--threads N]\n"
    "           [--examples DIR]\n";

static bool parse(int argc, char **argv, Options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strcmp(a, "--demo")) {
            o->demo = true;
            continue;
        }
        const char *v = ++i < argc ? argv[i] : NULL;
        if (!v)
            return false;
        if (!strcmp(a, "--html"))
            o->html = v;
        else if (!strcmp(a, "--csv"))
            o->csv = v;
        else if (!strcmp(a, "--only"))
            o->only = v;
        else if (!strcmp(a, "--examples"))
            o->examples = v;
        else if (!strcmp(a, "--seconds"))
            o->seconds = atof(v);
        else if (!strcmp(a, "--threads"))
            o->threads = atoi(v);
        else
            return false;
    }
    return true;
}

static bool write_files(Bench *b)
{
    if (b->o.csv && !write_csv(b)) {
        fprintf(stderr, "%s: %s\n", b->o.csv, strerror(errno));
        return false;
    }
    if (b->o.html && !html_write(b->o.html, &b->machine, &b->peers, b->result, b->nresult)) {
        fprintf(stderr, "%s: %s\n", b->o.html, strerror(errno));
        return false;
    }
    if (b->o.html)
        printf("\nreport: %s\n", b->o.html);
    return true;
}

int main(int argc, char **argv)
{
    static Bench b;
    double start = now();
    bool ok = true;

    b.o = (Options){
        .examples = "examples", .seconds = 0, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    if (!parse(argc, argv, &b.o)) {
        fputs(usage, stderr);
        return 2;
    }
    if (b.o.seconds <= 0)
        b.o.seconds = b.o.demo ? 0.8 : 1.5;
    b.tl = tl_open();
    if (!b.tl)
        return 1;
    b.tty = isatty(STDERR_FILENO);
    peers_open(&b.peers);
    read_machine(&b);
    print_machine(&b);
    run_cases(&b);
    watch_load(&b);
    if (b.o.demo)
        print_table(&b);
    else
        print_means(&b);
    if (*b.machine.busy)
        printf("\n%s\n", b.machine.busy);
    if (!b.o.demo && !b.o.only)
        compile_speed(&b);
    b.machine.seconds = now() - start;
    for (int i = 0; i < b.nresult; i++)
        ok = ok && b.result[i].ok;
    ok = write_files(&b) && ok;
    tl_close(b.tl);
    return !ok;
}
