/* run_replay.c -- the hash of every kernel's emitted text, for one target.
 *
 *     # target: TARGET          the first line of test/replay/NAME.hash
 *     HASH  FILE[:FUNC] NAME=VALUE …
 *
 * In place of a hash stands the tag of the message with which the target refuses a kernel.  Kernels
 * are those of examples.txt, large.txt and random/ beside the file, and every run of test/kernel;
 * lines are sorted, so that two changes of the same file merge. */
#include <stdlib.h>
#include "run.h"

enum { DIGITS = 16 };

typedef VEC(char *) LineVec;

/* ---- now ------------------------------------------------------------------------------------- */

/* The text without lines that are a comment: those have line numbers of the kernel's file. */
static const char *code_of(Arena *a, const char *text)
{
    Str out;

    str_init(&out, a);
    while (*text) {
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        if (strncmp(text + strspn(text, " "), "//", 2) != 0)
            str_putn(&out, text, n);
        text += n;
    }
    return out.s;
}

/* "tag" of "FILE:LINE:COL: error: text [tag]", the first error. */
static const char *tag_of(Arena *a, const char *message)
{
    const char *error = strstr(message, "error: ");
    const char *end = strstr(error ? error : message, "]\n"), *start = end;

    while (start && start > message && *start != '[')
        start--;
    if (!start || *start != '[')
        test_check("tl_message", 0, false, message);
    return arena_strndup(a, start + 1, (size_t)(end - start) - 1);
}

/* What one types after `tl build`: the words of a line but for what it says to tests. */
static const char *kernel_words(Arena *a, const Case *c)
{
    const char **words;
    int n = split_words(a, c->args, &words);
    Str out;

    str_init(&out, a);
    str_puts(&out, c->path);
    for (int i = 0; i < n; i++)
        if (words[i][0] != '-')
            str_printf(&out, "%s%s", i == 0 && words[i][0] == ':' ? "" : " ", words[i]);
    return out.s;
}

/* The same for a shell. */
static const char *quoted(Arena *a, const char *kernel)
{
    const char **words;
    int n = split_words(a, kernel, &words);
    Str out;

    str_init(&out, a);
    for (int i = 0; i < n; i++) {
        bool plain = !strpbrk(words[i], "()[]{}\"' *$&;<>|");
        str_printf(&out, plain ? " %s" : " '%s'", words[i]);
    }
    return out.s;
}

static char *hash_line(Arena *a, tl_context *ctx, const Case *c, const char *target)
{
    tl_options o = {.size = sizeof o, .no_build = true, .target = target, .threads = 3,
                    .allow_unused = true};
    const char *what;
    tl_kernel *k;
    char hex[33];
    Job j;

    case_open(a, &j, c->path, c->args);
    o.func = j.func;
    o.defines = j.defines;
    o.ndefine = j.ndefine;
    tl_status s = tl_compile(ctx, c->path, NULL, &o, &k);
    if (s == TL_OK) {
        const char *text = code_of(a, kernels_of(tl_kernel_text(k, TL_TEXT_SOURCE)));
        hash_hex(text, strlen(text), hex);
        what = arena_strndup(a, hex, DIGITS);
    } else {
        test_int(kernel_words(a, c), c->line, s, TL_EUSER, tl_message(ctx));
        what = tag_of(a, tl_message(ctx));
    }
    tl_kernel_free(k);
    job_close(&j);
    return arena_printf(a, "%-*s  %s", DIGITS, what, kernel_words(a, c));
}

static const char *kernel_of(const char *line)
{
    line += strcspn(line, " ");
    return line + strspn(line, " ");
}

static int by_kernel(const void *x, const void *y)
{
    return strcmp(kernel_of(*(char *const *)x), kernel_of(*(char *const *)y));
}

/* All are compiled in one context, so nothing that one leaves behind may move another. */
static LineVec hash_all(Arena *a, const char *target)
{
    CaseVec all = replay_kernels(a);
    LineVec lines = {0};
    tl_context *ctx = tl_open();

    for (int i = 0; i < all.n; i++)
        vec_push(a, &lines, hash_line(a, ctx, &all.at[i], target));
    tl_close(ctx);
    qsort(lines.at, (size_t)lines.n, sizeof *lines.at, by_kernel);
    int n = 0;
    for (int i = 0; i < lines.n; i++) /* two runs that differ only in what tests look at */
        if (n == 0 || by_kernel(&lines.at[n - 1], &lines.at[i]) != 0)
            lines.at[n++] = lines.at[i];
    lines.n = n;
    return lines;
}

/* ---- against before -------------------------------------------------------------------------- */

static LineVec lines_of(Arena *a, const char *text)
{
    LineVec lines = {0};

    for (; *text; text += *text == '\n') {
        size_t n = strcspn(text, "\n");
        if (n && *text != '#')
            vec_push(a, &lines, arena_strndup(a, text, n));
        text += n;
    }
    return lines;
}

/* Both lists are sorted by kernel: the number of lines that one has and the other has not. */
static int tell_changes(Arena *a, const LineVec *now, const LineVec *old, const char *target)
{
    int changed = 0;

    for (int i = 0, j = 0; i < now->n || j < old->n;) {
        int order = i == now->n ? 1 : j == old->n ? -1 : by_kernel(&now->at[i], &old->at[j]);
        const char *words = kernel_of(order <= 0 ? now->at[i] : old->at[j]);
        if (order < 0)
            printf("new:     %s\n", words);
        else if (order > 0)
            printf("gone:    %s\n", words);
        else if (strcmp(now->at[i], old->at[j]) != 0)
            printf("changed: %s  (%.*s, was %.*s)\n"
                   "         sh test/replay/diff.sh '%s'%s\n",
                   words, (int)strcspn(now->at[i], " "), now->at[i],
                   (int)strcspn(old->at[j], " "), old->at[j], target, quoted(a, words));
        else
            changed--;
        changed++;
        i += order <= 0;
        j += order >= 0;
    }
    return changed;
}

void run_replay(void)
{
    Arena *a = arena_new();
    const Case *c = case_now();
    char *before = text_of(a, c->path);
    int line;
    const char *target = mark_at(a, before, "# target:", 0, &line), *why;

    CHECK(target != NULL);
    LineVec now = hash_all(a, target), old = lines_of(a, before);
    if (test_options.update) {
        Str out;
        str_init(&out, a);
        str_printf(&out, "# target: %s\n", target);
        for (int i = 0; i < now.n; i++)
            str_printf(&out, "%s\n", now.at[i]);
        CHECK_INT(file_write(a, c->path, out.s, out.n, &why), STATUS_OK);
    } else if (tell_changes(a, &now, &old, target) > 0) {
        test_check(c->path, 0, false, "emitted text is as before; meant? make replay-update");
    }
    arena_free(a);
}
