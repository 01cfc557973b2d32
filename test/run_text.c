/* run_text.c -- golden text: passes, plans, emitted code, messages. */
#include <stdlib.h>
#include "run.h"

/* ---- test/pass ------------------------------------------------------------------------------- */

/*     # run: --from=PASS --stop-after=PASS [--skip=PASS] [--target=T]
 *
 * The text is IR.  What comes after "# >>> name" is the IR afterwards, or the message; with the
 * name plans, what --plans prints. */
void run_pass(void)
{
    Arena *a = arena_new();
    const Case *c = case_now();
    Golden g = golden_read(a, c->path);
    int line;
    const char *run = mark_at(a, g.body, "# run:", 0, &line), *target = option_of(a, run, "target");
    tl_options o = {.size = sizeof o, .no_build = true, .target = target ? target : golden_target};

    CHECK(run != NULL);
    o.from = option_of(a, run, "from");
    o.stop_after = option_of(a, run, "stop-after");
    o.skip = option_of(a, run, "skip");
    CHECK(o.from != NULL);
    tl_context *ctx = tl_open();
    tl_kernel *k;
    const char *got;
    if (tl_compile(ctx, c->path, g.body, &o, &k) != TL_OK)
        got = tl_message(ctx);
    else
        got =
            arena_printf(a, "%s%s", tl_kernel_text(k, TL_TEXT_WARNINGS),
                         tl_kernel_text(k, !strcmp(g.name, "plans") ? TL_TEXT_PLANS : TL_TEXT_IR));
    golden_check(a, c->path, &g, got);
    tl_kernel_free(k);
    tl_close(ctx);
    arena_free(a);
}

/* ---- test/plan ------------------------------------------------------------------------------- */

/* One space for many, and no line numbers: a plan is not about where it was written. */
static char *squeeze(Arena *a, const char *s)
{
    Str out;

    str_init(&out, a);
    for (; *s; s++) {
        if (!strncmp(s, " (line ", 7) && strchr(s, ')'))
            s = strchr(s, ')') + 1;
        if (*s != ' ' || (out.n > 0 && out.s[out.n - 1] != ' '))
            str_putc(&out, *s);
    }
    return out.s;
}

/* Plans as they were made, with the mechanism of each operator, and at the end, with places. */
static char *plans_of(Arena *a, Job *j, const char *target, const char **end)
{
    tl_options o = {.no_build = true, .stop_after = "check_plans"};
    tl_kernel *k = case_compile(j, &o, target);
    char *first = arena_strdup(a, tl_kernel_text(k, TL_TEXT_PLANS));

    tl_kernel_free(k);
    o.stop_after = NULL;
    k = case_compile(j, &o, target);
    char *last = squeeze(a, tl_kernel_text(k, TL_TEXT_PLANS));
    char *all = arena_printf(a, "%s%s", squeeze(a, first), last);
    tl_kernel_free(k);
    *end = last;
    return all;
}

static int refuse_each(Arena *a, const char *path, const char *text, const char *mark,
                       const char *plans)
{
    const char *want;
    int line, n = 0;

    for (; (want = mark_at(a, text, mark, n, &line)); n++)
        if (strstr(plans, squeeze(a, want))) {
            printf("%s", plans);
            test_check(path, line, false, arena_printf(a, "the plans have no '%s'", want));
        }
    return n;
}

/*     # run: [:FUNC] NAME=VALUE … [--target=T]
 *     # expect: TEXT      some line of the plans has it, spaces counted as one
 *     # refuse: TEXT      no line has it
 *     # gone: TEXT        no line has it after the last pass */
void run_plan(void)
{
    Arena *a = arena_new();
    const Case *c = case_now();
    char *text = text_of(a, c->path), *want;
    int line, n = 0;
    char *run = mark_at(a, text, "# run:", 0, &line);
    const char *target = option_of(a, run, "target");
    Job j;

    case_open(a, &j, c->path, run ? run : "");
    const char *end, *plans = plans_of(a, &j, target ? target : golden_target, &end);
    for (; (want = mark_at(a, text, "# expect:", n, &line)); n++)
        test_has(c->path, line, plans, squeeze(a, want), "the plans");
    n += refuse_each(a, c->path, text, "# refuse:", plans);
    n += refuse_each(a, c->path, text, "# gone:", end);
    CHECK(n > 0);
    job_close(&j);
    arena_free(a);
}

/* ---- test/emit ------------------------------------------------------------------------------- */

void run_emit(void)
{
    Arena *a = arena_new();
    const Case *c = case_now();
    Golden g = golden_read(a, c->path);
    int line;
    char *run = mark_at(a, g.body, "# run:", 0, &line);
    const char *target = option_of(a, run, "target");
    tl_options o = {.no_build = true};
    Job j;

    if (!*g.name)
        g.name = "source";
    case_open(a, &j, c->path, run ? run : "");
    tl_kernel *k = case_compile(&j, &o, target ? target : golden_target);
    golden_check(a, c->path, &g, kernels_of(tl_kernel_text(k, TL_TEXT_SOURCE)));
    tl_kernel_free(k);
    job_close(&j);
    arena_free(a);
}

/* ---- test/error ------------------------------------------------------------------------------ */

/* Messages look like "FILE:LINE:COL: error: text [tag]". */
static bool is_said(Arena *a, const char *said, const char *path, int line, const char *kind,
                    const char *tag)
{
    char *start = arena_printf(a, "%s:%d:", path, line), *end = arena_printf(a, "[%s]", tag);
    char *word = arena_printf(a, ": %s: ", kind);

    for (const char *s = said; *s; s += *s == '\n') {
        size_t n = strcspn(s, "\n");
        if (!strncmp(s, start, strlen(start)) && memmem(s, n, word, strlen(word)) &&
            memmem(s, n, end, strlen(end)))
            return true;
        s += n;
    }
    return false;
}

static int check_said(Arena *a, const Case *c, const char *text, const char *said, const char *kind)
{
    char *mark = arena_printf(a, "# %s:", kind), *tag;
    int line, n = 0;

    for (; (tag = mark_at(a, text, mark, n, &line)); n++) {
        tag[strcspn(tag, " ")] = 0;
        if (is_said(a, said, c->path, line, kind, tag))
            continue;
        printf("%s", said);
        test_check(c->path, line, false,
                   arena_printf(a, "%s [%s] is said of this line", kind, tag));
    }
    return n;
}

/*     # given: NAME=VALUE …    # func: NAME    # target: T    as for tl build
 * Only the text is made, not the library: every message of the compiler comes before that. */
void run_error(void)
{
    Arena *a = arena_new();
    const Case *c = case_now();
    char *text = text_of(a, c->path);
    int line;
    char *given = mark_at(a, text, "# given:", 0, &line),
         *func = mark_at(a, text, "# func:", 0, &line),
         *target = mark_at(a, text, "# target:", 0, &line);
    tl_options o = {
        .size = sizeof o, .no_build = true, .target = target ? target : golden_target};
    Job j;
    tl_kernel *k = NULL;

    case_open(a, &j, c->path,
              arena_printf(a, "%s%s %s", func ? ":" : "", func ? func : "", given ? given : ""));
    o.func = j.func;
    o.defines = j.defines;
    o.ndefine = j.ndefine;
    tl_status s = tl_compile(j.ctx, c->path, NULL, &o, &k);
    const char *said = s == TL_OK ? tl_kernel_text(k, TL_TEXT_WARNINGS) : tl_message(j.ctx);
    int nerror = check_said(a, c, text, said, "error");
    int nwarning = check_said(a, c, text, said, "warning");
    if (s == TL_EBUG || (nerror > 0) != (s == TL_EUSER))
        printf("%s", said);
    CHECK_INT(s, nerror ? TL_EUSER : TL_OK);
    CHECK(nerror + nwarning > 0);
    tl_kernel_free(k);
    job_close(&j);
    arena_free(a);
}
