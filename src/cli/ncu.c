/* ncu.c -- tl profile --ncu: NVIDIA's profiler on one run, and the hottest lines of the user's
 * file.
 *
 * ncu prints its source page as CSV: a table of instructions, each with its place in the text that
 * was compiled, samples, and samples by stall reason.  The emitted text has the kernel's lines in
 * #line directives with --line-info, so that rows add up by line of the user's file. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/cli.h"

enum { CELLS_MOST = 256, LINES_MOST = 4096, HOT = 10 };

typedef struct {
    char *at[CELLS_MOST];
    int n;
} Row;

typedef struct {
    const char *file;
    int line;
    double samples;
    double stall[CELLS_MOST]; /* by column */
} Hot;

/* One row of CSV, quotes taken off; the rest of the text. */
static char *take_row(char *s, Row *r)
{
    r->n = 0;
    for (;;) {
        bool quoted = *s == '"';
        char *from = s += quoted, *to = s;
        while (*s && (quoted ? *s != '"' || s[1] == '"' : *s != ',' && *s != '\n' && *s != '\r')) {
            s += quoted && *s == '"';
            *to++ = *s++;
        }
        s += quoted && *s == '"';
        char end = *s;
        *to = 0;
        if (r->n < CELLS_MOST)
            r->at[r->n++] = from;
        if (end == '\r' && s[1] == '\n')
            end = *++s;
        if (end != ',')
            return end ? s + 1 : s;
        s++;
    }
}

static int column(const Row *head, const char *name)
{
    for (int i = 0; i < head->n; i++)
        if (!strcmp(head->at[i], name))
            return i;
    return -1;
}

static double number(const Row *r, int i)
{
    return i >= 0 && i < r->n ? atof(r->at[i]) : 0;
}

static Hot *line_of(Hot *all, int *n, const char *file, int line)
{
    for (int i = 0; i < *n; i++)
        if (all[i].line == line && !strcmp(all[i].file, file))
            return &all[i];
    if (*n == LINES_MOST)
        return NULL;
    all[*n].file = file;
    all[*n].line = line;
    return &all[(*n)++];
}

static int by_samples(const void *x, const void *y)
{
    double a = ((const Hot *)x)->samples, b = ((const Hot *)y)->samples;
    return (a < b) - (a > b);
}

/* The two stalls that it waits for most. */
static void put_stalls(Str *out, const Hot *h, const Row *head)
{
    int best = -1, next = -1;

    for (int i = 0; i < head->n; i++)
        if (h->stall[i] > 0 && (best < 0 || h->stall[i] > h->stall[best])) {
            next = best;
            best = i;
        } else if (h->stall[i] > 0 && (next < 0 || h->stall[i] > h->stall[next])) {
            next = i;
        }
    for (int i = 0; i < 2; i++) {
        int c = i ? next : best;
        if (c >= 0)
            str_printf(out, "%s%s %.0f%%", i ? ", " : "", head->at[c] + strlen("stall_"),
                       100 * h->stall[c] / MAX(h->samples, 1));
    }
}

static const char *source_line(Arena *a, const char *file, int line)
{
    const char *why = "";
    char *text;
    size_t n;

    if (file_read(a, file, &text, &n, &why) != STATUS_OK)
        return "";
    for (int i = 1; i < line && text; i++)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (!text)
        return "";
    text += strspn(text, " \t");
    return arena_strndup(a, text, strcspn(text, "\n"));
}

bool ncu_hottest(Arena *a, const char *csv, Str *out)
{
    Row head = {0}, row;
    Hot *all = NEWN(a, Hot, LINES_MOST);
    int n = 0, file = -1, line = -1, samples = -1;
    const char *path = "";
    double sum = 0;

    for (char *s = arena_strdup(a, csv); *s;) {
        s = take_row(s, &row);
        if (row.n > 1 && !strcmp(row.at[0], "File Path")) /* of the lines that follow */
            path = row.at[1];
        if (column(&row, "# Samples") >= 0) { /* before it ncu tells what it does */
            head = row;
            file = column(&head, "File Path");
            line = column(&head, "Line No");
            samples = column(&head, "# Samples");
            continue;
        }
        if (line < 0 || row.n < head.n || number(&row, line) < 1)
            continue;
        Hot *h = line_of(all, &n, file >= 0 ? row.at[file] : path, (int)number(&row, line));
        if (!h)
            continue;
        h->samples += number(&row, samples);
        sum += number(&row, samples);
        for (int i = 0; i < head.n; i++)
            if (!strncmp(head.at[i], "stall_", 6))
                h->stall[i] += number(&row, i);
    }
    if (!n || sum <= 0)
        return false;
    qsort(all, (size_t)n, sizeof *all, by_samples);
    for (int i = 0; i < MIN(n, HOT) && all[i].samples > 0; i++) {
        const char *slash = strrchr(all[i].file, '/');
        str_printf(out, "%5.1f%%  %s:%d  %s\n        ", 100 * all[i].samples / sum,
                   slash ? slash + 1 : all[i].file, all[i].line,
                   source_line(a, all[i].file, all[i].line));
        put_stalls(out, &all[i], &head);
        str_putc(out, '\n');
    }
    return true;
}

/* ---- running it ------------------------------------------------------------------------------ */

static const char *find_ncu(Arena *a)
{
    static const char *const places[] = {"/usr/local/cuda/bin/ncu",
                                         "/opt/nvidia/nsight-compute/ncu"};
    const char *said = getenv("TILELANG_NCU"), *path = getenv("PATH");

    if (said && *said)
        return said;
    for (const char *s = path ? path : ""; *s;) {
        size_t n = strcspn(s, ":");
        const char *file = path_join(a, arena_strndup(a, s, n), "ncu");
        if (n && file_exists(file))
            return file;
        s += n + (s[n] == ':');
    }
    for (int i = 0; i < COUNT(places); i++)
        if (file_exists(places[i]))
            return places[i];
    return NULL;
}

/* What ncu printed; NULL after a message. */
static const char *run_ncu(Arena *a, const char *target, int nargs, const char **args, int *code)
{
    static const char *const words[] = {"--set",  "full",   "--import-source", "yes",
                                        "--page", "source", "--print-source",  "cuda,sass",
                                        "--csv"};
    const char *ncu = find_ncu(a), *why = "", **argv = NEWN(a, const char *, nargs + 32);
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    ProcResult r;
    int n = 0;

    *code = EXIT_MACHINE;
    if (!ncu || len < 0) {
        fail_text(EXIT_MACHINE, "no ncu here: install NVIDIA Nsight Compute, or say where it is by "
                                "TILELANG_NCU; tl profile without --ncu needs none");
        return NULL;
    }
    self[len] = 0;
    argv[n++] = ncu;
    for (int i = 0; i < COUNT(words); i++)
        argv[n++] = words[i];
    argv[n++] = self;
    argv[n++] = "run";
    argv[n++] = "--target";
    argv[n++] = target;
    argv[n++] = "--line-info";
    argv[n++] = "--config";
    argv[n++] = "tl.emit_line_directives=1";
    for (int i = 0; i < nargs; i++)
        argv[n++] = args[i];
    if (proc_run(a, argv, NULL, 900, &r, &why) != STATUS_OK || r.exit_code != 0) {
        fail_text(EXIT_MACHINE, "%s %s\n%s", ncu, *why ? why : "failed", *why ? "" : r.out);
        return NULL;
    }
    *code = EXIT_OK;
    return r.out;
}

int ncu_run(const char *csv, const char *target, int nargs, const char **args)
{
    Arena *a = arena_new();
    const char *why = "", *text = NULL;
    char *read = NULL;
    size_t n;
    int code = EXIT_OK;
    Str out;

    if (!a)
        return fail_text(EXIT_MACHINE, "out of memory");
    str_init(&out, a);
    if (csv && file_read(a, csv, &read, &n, &why) != STATUS_OK)
        code = fail_text(EXIT_MACHINE, "%s", why);
    else
        text = csv ? read : run_ncu(a, target, nargs, args, &code);
    if (text && ncu_hottest(a, text, &out))
        fputs(out.s, stdout);
    else if (text)
        code = fail_text(EXIT_USER, "what ncu printed has no samples with lines of a file");
    arena_free(a);
    return code;
}
