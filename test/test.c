/* test.c -- the runner of tests.
 *
 *     unit [-v] [-j N] [-t SECONDS] [TEXT...]     only tests whose full name contains a TEXT
 *     golden [-u] [-x PASS] [-m TARGET] ...       rewrite what is expected; leave out a pass
 *
 * A test is a forked child with its own process group, its output kept in a file that is shown
 * when it fails.  It has a folder of its own, and TMPDIR names one that must be empty when it ends.
 * The last line is "N passed, M failed". */
#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "test.h"

enum { EXIT_SKIP = 77, JOBS_MOST = 64, CONTEXT = 2, FOLDER_BYTES = 256, WAIT_MS = 100 };

static Test *tests; /* filled before main by constructors */
TestOptions test_options;

void test_register(Test *t)
{
    t->next = tests;
    tests = t;
}

/* ---- checks, in the child -------------------------------------------------------------------- */

__attribute__((noreturn)) static void give_up(void)
{
    fflush(NULL);
    _exit(1);
}

void test_check(const char *file, int line, bool ok, const char *what)
{
    if (ok)
        return;
    printf("%s:%d: false: %s\n", file, line, what);
    give_up();
}

void test_int(const char *file, int line, long long got, long long want, const char *what)
{
    if (got == want)
        return;
    printf("%s:%d: %s is %lld, not %lld\n", file, line, what, got, want);
    give_up();
}

void test_near(const char *file, int line, double got, double want, double slack, const char *what)
{
    if (got == want || fabs(got - want) <= slack || (isnan(got) && isnan(want)))
        return;
    printf("%s:%d: %s is %.17g, not %.17g within %g\n", file, line, what, got, want, slack);
    give_up();
}

static size_t line_length(const char *s)
{
    const char *end = strchr(s, '\n');
    return end ? (size_t)(end - s) + 1 : strlen(s);
}

/* Prints the lines of [s, end), each after a mark. */
static void show_lines(char mark, const char *s, const char *end)
{
    while (s < end) {
        size_t n = line_length(s);
        bool whole = s[n - 1] == '\n';
        printf("  %c %.*s%s\n", mark, (int)(n - whole), s, whole ? "" : "(no newline)");
        s += n;
    }
}

static const char *lines_back(const char *start, const char *s, int nlines)
{
    while (s > start && nlines >= 0) {
        s--;
        if (*s == '\n' && nlines-- == 0)
            return s + 1;
    }
    return s;
}

/* Equal lines at both ends are left out but for a little context. */
static void show_difference(const char *got, const char *want)
{
    const char *g = got, *w = want;
    while (*g && line_length(g) == line_length(w) && !strncmp(g, w, line_length(g))) {
        w += line_length(g);
        g += line_length(g);
    }
    const char *gend = got + strlen(got), *wend = want + strlen(want);
    while (gend > g && wend > w && gend[-1] == wend[-1]) {
        gend--;
        wend--;
    }
    if (gend > g || wend > w) {
        gend += *gend && (gend == g || gend[-1] != '\n') ? line_length(gend) : 0;
        wend += *wend && (wend == w || wend[-1] != '\n') ? line_length(wend) : 0;
    }
    show_lines(' ', lines_back(got, g, CONTEXT), g);
    show_lines('-', w, wend);
    show_lines('+', g, gend);
}

void test_text(const char *file, int line, const char *got, const char *want, const char *what)
{
    if (got && want && strcmp(got, want) == 0)
        return;
    if (!got || !want) {
        if (got == want)
            return;
        printf("%s:%d: %s is %s, not %s\n", file, line, what, got ? got : "NULL",
               want ? want : "NULL");
    } else {
        printf("%s:%d: %s differs (- wanted, + got):\n", file, line, what);
        show_difference(got, want);
    }
    give_up();
}

void test_has(const char *file, int line, const char *text, const char *part, const char *what)
{
    if (text && strstr(text, part))
        return;
    printf("%s:%d: %s lacks \"%s\":\n%s\n", file, line, what, part, text ? text : "NULL");
    give_up();
}

void test_skip(const char *why)
{
    printf("%s", why);
    fflush(NULL);
    _exit(EXIT_SKIP);
}

void test_take_comma(void)
{
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        if (setlocale(LC_NUMERIC, commas[i]))
            return;
    char folder[] = "/tmp/tl-locale-XXXXXX", command[200];
    test_check(__FILE__, __LINE__, mkdtemp(folder), folder);
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    made = made && setlocale(LC_NUMERIC, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    test_check(__FILE__, __LINE__, system(command) == 0, command);
    if (!made)
        test_skip("no locale with a decimal comma, and no localedef to make one");
}

/* ---- the runner ----------------------------------------------------------------------------- */

typedef struct {
    const Test *test;
    char name[240];
    pid_t pid;
    FILE *output;
    double start, end;
    bool running, late, littered;
    int status; /* of waitpid */
    char own[FOLDER_BYTES], temporary[FOLDER_BYTES];
} Job;

typedef struct {
    int jobs;
    double seconds;
    bool verbose;
    int nfilter;
    char **filter;
} Options;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_place(const void *a, const void *b)
{
    const Job *x = a, *y = b;
    int order = strcmp(x->test->file, y->test->file);
    return order ? order : (x->test->line > y->test->line) - (x->test->line < y->test->line);
}

static void full_name(char *name, size_t n, const Test *t)
{
    const char *stem = strrchr(t->file, '/');
    if (t->full) {
        snprintf(name, n, "%s", t->full);
        return;
    }
    stem = stem ? stem + 1 : t->file;
    snprintf(name, n, "%.*s.%s", (int)strcspn(stem, "."), stem, t->name);
}

static bool is_wanted(const Options *o, const char *name)
{
    for (int i = 0; i < o->nfilter; i++) {
        if (strstr(name, o->filter[i]))
            return true;
    }
    return o->nfilter == 0;
}

/* ---- folders --------------------------------------------------------------------------------- */

static char all_folders[FOLDER_BYTES];

NORETURN static void cannot(const char *what)
{
    perror(what);
    exit(2);
}

/* As open to others as /tmp is: some tests are other users. */
static void folder_make(char *path, const char *kind, int i)
{
    snprintf(path, FOLDER_BYTES, "%.200s/%s%d", all_folders, kind, i);
    if (mkdir(path, 0777) != 0 || chmod(path, 01777) != 0)
        cannot(path);
}

static void folders_open(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(all_folders, sizeof all_folders, "%.200s/tl-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(all_folders) || chmod(all_folders, 0711) != 0)
        cannot(all_folders);
}

/* Tells in the test's output what stands in its TMPDIR. */
static bool folder_is_empty(const Job *j)
{
    DIR *d = opendir(j->temporary);
    bool empty = true;

    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        fprintf(j->output, "it leaves %s behind in TMPDIR\n", e->d_name);
        empty = false;
    }
    if (d)
        closedir(d);
    fflush(j->output);
    return empty;
}

const char *test_folder(void)
{
    return test_options.folder;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void job_start(Job *j, int i)
{
    sigset_t none;

    folder_make(j->own, "own", i);
    folder_make(j->temporary, "tmp", i);
    j->output = tmpfile();
    if (!j->output)
        cannot("tmpfile");
    fflush(NULL);
    j->start = seconds_now();
    j->pid = fork();
    if (j->pid < 0)
        cannot("fork");
    if (j->pid == 0) {
        setpgid(0, 0);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        setenv("TMPDIR", j->temporary, 1);
        test_options.folder = j->own;
        dup2(fileno(j->output), STDOUT_FILENO);
        dup2(fileno(j->output), STDERR_FILENO);
        test_options.now = j->test;
        j->test->run();
        fflush(NULL);
        exit(0);
    }
    setpgid(j->pid, j->pid);
    j->running = true;
}

static void job_poll(Job *j, double limit)
{
    if (!j->late && seconds_now() - j->start > limit) {
        j->late = true;
        kill(-j->pid, SIGKILL);
    }
    if (waitpid(j->pid, &j->status, WNOHANG) != j->pid)
        return;
    j->running = false;
    j->end = seconds_now();
    kill(-j->pid, SIGKILL); /* what the test left behind */
    j->littered = WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0 && !folder_is_empty(j);
    tree_remove(j->own);
    tree_remove(j->temporary);
}

static bool job_passed(const Job *j)
{
    return WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0 && !j->littered;
}

static bool job_skipped(const Job *j)
{
    return WIFEXITED(j->status) && WEXITSTATUS(j->status) == EXIT_SKIP;
}

static void show_output(FILE *f)
{
    char buf[4096];
    size_t n;
    rewind(f);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        fwrite(buf, 1, n, stdout);
}

static void job_report(Job *j, const Options *o)
{
    double took = j->end - j->start;
    if (job_passed(j)) {
        if (o->verbose)
            printf("ok    %s (%.3f s)\n", j->name, took);
    } else if (job_skipped(j)) {
        printf("skip  %s: ", j->name);
        show_output(j->output);
        printf("\n");
    } else {
        printf("FAIL  %s", j->name);
        if (j->late)
            printf(" (ran longer than %g s)", o->seconds);
        else if (WIFSIGNALED(j->status))
            printf(" (%s)", strsignal(WTERMSIG(j->status)));
        printf("\n");
        show_output(j->output);
    }
    fclose(j->output);
}

/* Reports come in the order of the tests whatever order they end in. */
static void jobs_run(Job *job, int n, const Options *o)
{
    int started = 0, reported = 0, running = 0;
    const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000};
    sigset_t ended;

    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL); /* it is waited for, not handled */
    while (reported < n) {
        while (running < o->jobs && started < n) {
            job_start(&job[started], started);
            started++;
            running++;
        }
        for (int i = reported; i < started; i++) {
            if (job[i].running) {
                job_poll(&job[i], o->seconds);
                running -= !job[i].running;
            }
        }
        while (reported < started && !job[reported].running)
            job_report(&job[reported++], o);
        if (running > 0 && (running == o->jobs || started == n))
            sigtimedwait(&ended, NULL, &wait);
    }
}

static void options_read(Options *o, int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "vuj:t:x:m:")) != -1) {
        if (c == 'v')
            o->verbose = true;
        else if (c == 'u')
            test_options.update = true;
        else if (c == 'x')
            test_options.skip = optarg;
        else if (c == 'm')
            test_options.target = optarg;
        else if (c == 'j')
            o->jobs = atoi(optarg);
        else if (c == 't')
            o->seconds = atof(optarg);
        else
            exit(2);
    }
    if (o->jobs < 1)
        o->jobs = 1;
    if (o->jobs > JOBS_MOST)
        o->jobs = JOBS_MOST;
    o->nfilter = argc - optind;
    o->filter = argv + optind;
}

int main(int argc, char **argv)
{
    /* On a busy machine too only a hang takes 300 s. */
    Options o = {.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), .seconds = 300};
    options_read(&o, argc, argv);
    int n = 0;
    for (Test *t = tests; t; t = t->next)
        n++;
    Job *job = calloc((size_t)n + 1, sizeof *job);
    if (!job)
        return 2;
    n = 0;
    for (Test *t = tests; t; t = t->next) {
        full_name(job[n].name, sizeof job[n].name, t);
        job[n].test = t;
        if (is_wanted(&o, job[n].name))
            n++;
    }
    qsort(job, (size_t)n, sizeof *job, by_place);
    folders_open();
    jobs_run(job, n, &o);
    tree_remove(all_folders);
    int npassed = 0, nskipped = 0;
    for (int i = 0; i < n; i++) {
        npassed += job_passed(&job[i]);
        nskipped += job_skipped(&job[i]);
    }
    free(job);
    printf("%d passed, %d failed\n", npassed, n - npassed - nskipped);
    return npassed + nskipped == n && n > 0 ? 0 : 1;
}
