/* ncu.c -- tl profile --ncu: NVIDIA's profiler on one run, and the hottest lines of the user's
 * file.
 *
 * ncu prints its source page as CSV: a table of instructions, each with its place in the text that
 * was compiled, samples, and samples by stall reason.  The emitted text has the kernel's lines in
 * #line directives with --line-info, so that rows add up by line of the user's file.  What has a
 * place in the emitted text itself belongs to the statement whose comment stands over it, or to one
 * of the text's own functions, which is named. */
#include <ctype.h>
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

/* A reason's samples in which the scheduler issued nothing are among the reason's own. */
static bool is_stall(const char *column)
{
    return !strncmp(column, "stall_", 6) && !strstr(column, "(Not Issued)");
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

/* ---- places in the emitted text -------------------------------------------------------------- */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static bool is_emitted(const char *file)
{
    size_t n = strlen(file);
    return n > 3 && !strcmp(file + n - 3, ".cu");
}

/* The function that a line at the margin begins; NULL: none. */
static const char *function_of(Arena *a, const char *line)
{
    const char *word = line;

    if (!isalpha((unsigned char)*line) && *line != '_')
        return NULL;
    for (const char *s = line; *s && *s != '\n' && *s != ';'; s++) {
        bool in_word = isalnum((unsigned char)*s) || *s == '_';
        if (*s == '(' && s > word && strncmp(word, "__", 2))
            return arena_strndup(a, word, (size_t)(s - word));
        if (!in_word)
            word = s + 1;
    }
    return NULL;
}

/* "// T.copy(A, A_s)  gemm.py:15": the file's name and the line. */
static bool origin_of(Arena *a, const char *line, const char **file, int *at)
{
    size_t n = strcspn(line, "\n"), colon = n, from;

    while (colon > 0 && isdigit((unsigned char)line[colon - 1]))
        colon--;
    if (strncmp(line, "//", 2) || colon == n || colon < 2 || line[colon - 1] != ':')
        return false;
    for (from = colon - 1; from > 0 && line[from - 1] != ' ';)
        from--;
    *file = arena_strndup(a, line + from, colon - 1 - from);
    *at = atoi(line + colon);
    return true;
}

/* Where a line of the emitted text belongs: under which comment of its function (true), else in
 * which function. */
static bool place_of(Arena *a, const Hot *h, const char **file, int *line, const char **function)
{
    const char *why = "", *head;
    char *text;
    size_t n;
    bool found = false;

    *function = NULL;
    if (file_read(a, h->file, &text, &n, &why) != STATUS_OK)
        return false;
    for (int i = 1; i <= h->line && text && *text; i++) {
        if ((head = function_of(a, text)) != NULL) {
            *function = head;
            found = false;
        }
        found |= origin_of(a, text + strspn(text, " "), file, line);
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    }
    return found;
}

/* Samples of the emitted text go to the lines of the user's file that they belong to. */
static void lead_home(Arena *a, Hot *all, int n)
{
    for (int i = 0; i < n; i++) {
        const char *file, *function;
        int line;
        if (!is_emitted(all[i].file) || !place_of(a, &all[i], &file, &line, &function))
            continue;
        for (int j = 0; j < n; j++) {
            if (all[j].line != line || strcmp(base_name(all[j].file), file))
                continue;
            all[j].samples += all[i].samples;
            for (int c = 0; c < CELLS_MOST; c++)
                all[j].stall[c] += all[i].stall[c];
            all[i].samples = 0;
            break;
        }
    }
}

static void put_line(Arena *a, const Hot *h, double sum, Str *out)
{
    const char *file, *function = NULL, *text = source_line(a, h->file, h->line);
    int line;

    str_printf(out, "%5.1f%%  ", 100 * h->samples / sum);
    if (!is_emitted(h->file))
        str_printf(out, "%s:%d  %s", base_name(h->file), h->line, text);
    else if (place_of(a, h, &file, &line, &function))
        str_printf(out, "%s:%d  %s", file, line, text);
    else
        str_printf(out, "%s%s the emitted text, line %d  %s", function ? function : "",
                   function ? "() of" : "in", h->line, text);
    str_puts(out, "\n        ");
}

static bool ncu_hottest(Arena *a, const char *csv, Str *out)
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
            if (is_stall(head.at[i]))
                h->stall[i] += number(&row, i);
    }
    if (!n || sum <= 0)
        return false;
    lead_home(a, all, n);
    qsort(all, (size_t)n, sizeof *all, by_samples);
    for (int i = 0; i < MIN(n, HOT) && all[i].samples > 0; i++) {
        put_line(a, &all[i], sum, out);
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
