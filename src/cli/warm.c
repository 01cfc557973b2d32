/* warm.c -- tl warm LIST: fill the cache before a server starts.
 *
 * A line of the list is what stands behind `tl build`.  Each is compiled by a process of its own,
 * so that one that crashes or never ends is a line of the report; entries of the cache appear whole
 * or not at all, so a run may be stopped anywhere and started again. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/cli.h"

enum { WORDS_MOST = 256, LIMIT_SECONDS = 600 };

typedef struct {
    int64_t jobs, limit;
    bool json, quiet;
    const char *target;
} WarmOptions;

static const Opt opts[] = {
    {"jobs", 'j', OPT_MANY, "N", "so many at a time; all cores by default",
     offsetof(WarmOptions, jobs)},
    {"limit", 0, OPT_MANY, "SECONDS", "for one kernel; 600 by default",
     offsetof(WarmOptions, limit)},
    {"target", 't', OPT_TEXT, "T", "of the lines that name none", offsetof(WarmOptions, target)},
    {"json", 0, OPT_FLAG, NULL, "print the report as JSON",
     offsetof(WarmOptions, json)},
    {"quiet", 'q', OPT_FLAG, NULL, "only failures and the sum", offsetof(WarmOptions, quiet)},
};

typedef struct {
    const char *text; /* the line */
    char **argv;      /* words behind tl build */
    int argc, line;
    pid_t pid;
    int fd;           /* its output, in memory */
    double start;
} Item;

typedef VEC(Item) Items;

typedef struct {
    const WarmOptions *o;
    Arena *arena;
    Items items;
    int nbuilt, nknown, nfailed;
    double start;
    bool shows;
    Str report;
    Json json;
} Warm;

/* ---- the list -------------------------------------------------------------------------------- */

/* Words as a shell has them: parted by spaces, quotes keep spaces, # begins a comment, which is cut
 * off. */
static int split(Arena *a, char *s, char **words, int most)
{
    char *last = s;
    int n = 0;

    while (n < most) {
        Str w;
        s += strspn(s, " \t\r");
        if (!*s || *s == '#') {
            *last = 0;
            return n;
        }
        str_init(&w, a);
        while (*s && !strchr(" \t\r", *s)) {
            if (*s != '\'' && *s != '"') {
                str_putn(&w, s++, 1);
                continue;
            }
            char *end = strchr(s + 1, *s);
            if (!end)
                return -1;
            str_putn(&w, s + 1, (size_t)(end - s - 1));
            s = end + 1;
        }
        words[n++] = w.s;
        last = s;
    }
    return -1;
}

static bool names_target(char **words, int n)
{
    for (int i = 0; i < n; i++)
        if (!strncmp(words[i], "--target", 8) || !strncmp(words[i], "-t", 2))
            return true;
    return false;
}

static int take_line(Warm *w, char *text, int line)
{
    char **argv = NEWN(w->arena, char *, WORDS_MOST + 8);
    int n = split(w->arena, text, argv + 1, WORDS_MOST);

    if (n < 0)
        return fail_text(EXIT_USER, "line %d of the list has a quote without an end, or more than "
                         "%d words: %s", line, WORDS_MOST, text);
    if (n == 0)
        return EXIT_OK;
    argv[0] = "--quiet";
    n++;
    if (w->o->target && !names_target(argv, n)) {
        argv[n++] = "--target";
        argv[n++] = arena_strdup(w->arena, w->o->target);
    }
    Item item = {.text = text, .argv = argv, .argc = n, .line = line, .fd = -1};
    vec_push(w->arena, &w->items, item);
    return EXIT_OK;
}

static int take_list(Warm *w, char *text)
{
    int code = EXIT_OK;

    for (int line = 1; code == EXIT_OK && *text; line++) {
        char *end = text + strcspn(text, "\n"), *next = *end ? end + 1 : end;
        *end = 0;
        code = take_line(w, text, line);
        text = next;
    }
    if (code == EXIT_OK && w->items.n == 0)
        return fail_text(EXIT_USER, "the list names no kernel");
    return code;
}

/* ---- one of them ----------------------------------------------------------------------------- */

static int build(Arena *a, const Item *item)
{
    Recover r;
    volatile int code = EXIT_MACHINE;

    if (recover_open(&r) == 0) {
        code = verb_call(a, &verb_build, item->argc, item->argv);
        recover_close(&r);
    } else {
        code = r.status == STATUS_BUG ? EXIT_BUG : EXIT_MACHINE;
        fprintf(stderr, "tl: %s\n", r.text);
    }
    fflush(stdout);
    return code;
}

static bool start(Warm *w, Item *item)
{
    item->fd = memfd_create("warm", MFD_CLOEXEC);
    item->start = now_seconds();
    fflush(stdout);
    fflush(stderr);
    item->pid = item->fd >= 0 ? fork() : -1;
    if (item->pid != 0)
        return item->pid > 0;
    dup2(item->fd, STDOUT_FILENO);
    dup2(item->fd, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    alarm((unsigned)(w->o->limit ? w->o->limit : LIMIT_SECONDS));
    _exit(build(w->arena, item));
}

static const char *output_of(Warm *w, Item *item)
{
    off_t size = lseek(item->fd, 0, SEEK_END);
    size_t n = size > 0 ? MIN((size_t)size, (size_t)1 << 16) : 0;
    char *text = NEWN(w->arena, char, n + 1);
    ssize_t got = pread(item->fd, text, n, 0);

    text[got > 0 ? got : 0] = 0;
    close(item->fd);
    item->fd = -1;
    return text;
}

static const char *why_ended(Warm *w, int status, const char *output)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return arena_printf(w->arena, "took longer than %lld seconds",
                            (long long)(w->o->limit ? w->o->limit : LIMIT_SECONDS));
    if (WIFSIGNALED(status))
        return arena_printf(w->arena, "ended by signal %d", WTERMSIG(status));
    return *output ? output : arena_printf(w->arena, "ended with %d", WEXITSTATUS(status));
}

static void note_json(Warm *w, const Item *item, const char *state, double seconds, const char *why)
{
    json_object(&w->json, NULL);
    json_int(&w->json, "line", item->line);
    json_string(&w->json, "kernel", item->text);
    json_string(&w->json, "state", state);
    json_double(&w->json, "seconds", seconds);
    if (why)
        json_string(&w->json, "why", why);
    json_end(&w->json, '}');
}

static void clear_bar(const Warm *w)
{
    if (w->shows)
        fputs("\r\033[K", stderr);
}

/* Rate so far tells how long the others take. */
static void show_bar(const Warm *w)
{
    int done = w->nbuilt + w->nknown + w->nfailed, n = w->items.n, width = 30 * done / n;
    double spent = now_seconds() - w->start, left = done ? spent / done * (n - done) : 0;

    if (w->shows)
        fprintf(stderr, "\rwarming [%.*s%*s] %d/%d  %.1f s, %.0f s left\033[K", width,
                "##############################", 30 - width, "", done, n, spent, left);
}

static void tell(Warm *w, Item *item, int status)
{
    const char *output = output_of(w, item);
    double seconds = now_seconds() - item->start;
    bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                !strstr(output, ": built, and not kept"); /* it was built for nobody */
    bool known = fine && strstr(output, ": from the cache");
    const char *state = known ? "cached" : fine ? "built" : "failed";
    const char *why = fine ? NULL : why_ended(w, status, output);

    w->nknown += known;
    w->nbuilt += fine && !known;
    w->nfailed += !fine;
    if (w->o->json) {
        note_json(w, item, state, seconds, why);
        return;
    }
    clear_bar(w);
    if (!fine)
        fprintf(stderr, "line %d: %s: %s\n", item->line, item->text, why);
    else if (!w->o->quiet)
        printf("%-6s %7.2f s  %s\n", state, seconds, item->text);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static Item *find_child(Warm *w, pid_t pid)
{
    for (int i = 0; i < w->items.n; i++)
        if (w->items.at[i].pid == pid)
            return &w->items.at[i];
    return NULL;
}

static void warm_all(Warm *w, int jobs)
{
    int next = 0, running = 0;

    w->start = now_seconds();
    while (next < w->items.n || running > 0) {
        while (next < w->items.n && running < jobs) {
            Item *item = &w->items.at[next++];
            if (start(w, item))
                running++;
            else {
                w->nfailed++;
                fail_text(EXIT_MACHINE, "cannot start a process: %s", strerror(errno));
            }
        }
        show_bar(w);
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        Item *item = pid > 0 ? find_child(w, pid) : NULL;
        if (pid < 0 && errno != EINTR)
            break;
        if (!item)
            continue;
        running--;
        tell(w, item, status);
    }
    clear_bar(w);
}

static void begin_json(Warm *w)
{
    str_init(&w->report, w->arena);
    json_open(&w->json, &w->report);
    json_object(&w->json, NULL);
    json_array(&w->json, "kernels");
}

static void print_sum(Warm *w)
{
    double seconds = now_seconds() - w->start;

    if (!w->o->json) {
        printf("%d kernels: %d built, %d in the cache already, %d failed; %.1f s\n", w->items.n,
               w->nbuilt, w->nknown, w->nfailed, seconds);
        return;
    }
    json_end(&w->json, ']');
    json_int(&w->json, "built", w->nbuilt);
    json_int(&w->json, "cached", w->nknown);
    json_int(&w->json, "failed", w->nfailed);
    json_double(&w->json, "seconds", seconds);
    json_end(&w->json, '}');
    puts(w->report.s);
}

static int run(void *options, int nargs, const char **args)
{
    WarmOptions *o = options;
    Warm w = {.o = o};
    const char *why = "";
    char *text;
    size_t n;

    if (nargs != 1)
        return fail_text(EXIT_USAGE, "tl warm takes one LIST");
    w.arena = arena_new();
    if (!w.arena)
        return fail_text(EXIT_MACHINE, "out of memory");
    const char *path = strcmp(args[0], "-") ? args[0] : "/dev/stdin";
    int code = file_read(w.arena, path, &text, &n, &why) == STATUS_OK
                   ? take_list(&w, text)
                   : fail_text(EXIT_USER, "%s", why);
    if (code == EXIT_OK) {
        w.shows = isatty(STDERR_FILENO) && !o->json;
        if (o->json)
            begin_json(&w);
        warm_all(&w, o->jobs ? (int)o->jobs : (int)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1));
        print_sum(&w);
        code = w.nfailed ? EXIT_USER : EXIT_OK;
    }
    arena_free(w.arena);
    return code;
}

const Verb verb_warm = {
    .verb = "warm",
    .usage = "LIST",
    .doc = "fill the cache with the kernels of a list, several at a time",
    .detail = "A line of the list is what stands behind `tl build`; # begins a comment:\n\n"
              "    gemm.py:matmul M=4096 N=4096 K=4096 dtype=float16\n"
              "    gemm.py:matmul M=16 N=4096 K=4096 --target 'cuda -arch=sm_90a'\n\n"
              "LIST - is standard input.  Files are looked for from the current folder.\n"
              "What is in the cache stays; a run that was stopped goes on where it was.  One\n"
              "failure makes the exit code 1, and the others are built all the same.\n",
    .opts = opts,
    .nopt = COUNT(opts),
    .run = run,
    .options_size = sizeof(WarmOptions),
};
