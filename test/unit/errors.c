/* errors.c -- every wrong program of test/error says what is marked in it, on the marked line.
 *
 *     x = 1 / 0  # error: divide-by-zero        the first error, its tag and line
 *     break; x = 1  # warning: unreachable      it loads, and warns there
 *     # given: M=64 dtype=float16               NAME=VALUE for the load
 *     # func: name                              which function
 *     # stage: compile                          found by a later pass than check_*: not run here
 *     # target: T                               another target than this test has: not run here */
#include "front/front.h"
#include "pass/pass.h"
#include "target/target.h"
#include "test.h"

typedef struct {
    Arena *arena;
    Source src;
    const char *tag;
    int line;
    const char *func;
    NameValue given[16];
    int ngiven;
    bool later, only_warns;
} Wrong;

static const char *word_at(Arena *a, const char *s, const char *stop)
{
    s += strspn(s, " ");
    return arena_strndup(a, s, strcspn(s, stop));
}

static void read_given(Wrong *w, const char *s)
{
    while (*(s += strspn(s, " ")) && *s != '\n' && w->ngiven < 16) {
        size_t n = strcspn(s, "="), all = strcspn(s, " \n");
        w->given[w->ngiven].name = arena_strndup(w->arena, s, n);
        w->given[w->ngiven++].text = arena_strndup(w->arena, s + n + 1, all - n - 1);
        s += all;
    }
}

static void read_marks(Wrong *w)
{
    int line = 1;
    for (const char *s = w->src.text; *s; s++) {
        if (*s == '\n')
            line++;
        if (*s != '#')
            continue;
        bool warns = !strncmp(s, "# warning:", 10);
        if ((warns || !strncmp(s, "# error:", 8)) && (!w->tag || (w->only_warns && !warns))) {
            w->tag = word_at(w->arena, s + (warns ? 10 : 8), " \n");
            w->line = line;
            w->only_warns = warns;
        } else if (!strncmp(s, "# given:", 8)) {
            read_given(w, s + 8);
        } else if (!strncmp(s, "# func:", 7)) {
            w->func = word_at(w->arena, s + 7, " \n");
        } else if (!strncmp(s, "# stage:", 8) || !strncmp(s, "# target:", 9)) {
            w->later = true;
        }
    }
}

static void check_kernel(Kernel *k)
{
    k->target = target_table[0];
    k->scratch = arena_new(); /* messages outlive what a pass makes on the way */
    for (int i = 0; i <= PASS_check_races && k->diag->nerror == 0; i++)
        if (!pass_table[i].when)
            pass_table[i].run(k);
}

static const char *check_one(Wrong *w)
{
    Diag d;
    Recover r;
    diag_init(&d, w->arena);
    LoadRequest q = {.src = &w->src, .func = w->func, .given = w->given, .ngiven = w->ngiven};
    if (recover_open(&r) == 0) {
        Func *f = front_load(ir_new(w->arena, names_new(), &d, &op_words), &q);
        for (int i = 0; i < f->kernels.n; i++)
            check_kernel(f->kernels.at[i]);
        recover_close(&r);
    }
    const Message *first = NULL;
    for (int i = 0; i < d.list.n && !first; i++)
        if (d.list.at[i].kind == (w->only_warns && !d.nerror ? DIAG_WARNING : DIAG_ERROR))
            first = &d.list.at[i];
    if (r.status == STATUS_BUG)
        return arena_printf(w->arena, "a fault of ours: %s", r.text);
    if (!w->tag)
        return "no '# error: tag' in it";
    if (!first)
        return arena_printf(w->arena, "no error; wanted [%s]", w->tag);
    if (strcmp(first->tag, w->tag) || first->span.line != w->line)
        return arena_printf(w->arena, "line %d [%s] %s; wanted line %d [%s]", first->span.line,
                            first->tag, first->text, w->line, w->tag);
    return NULL;
}

/* 1: it says something else than is marked. */
static int check_file(Arena *a, const char *path)
{
    Wrong w = {.arena = a};
    char *text;
    size_t len;
    const char *why;

    CHECK(file_read(a, path, &text, &len, &why) == STATUS_OK);
    w.src = (Source){path, text, len};
    read_marks(&w);
    const char *what = w.later ? NULL : check_one(&w);
    if (what)
        fprintf(stderr, "%s: %s\n", path, what);
    return what != NULL;
}

TEST(each_wrong_program_says_so)
{
    Arena *a = arena_new();
    char **areas, **names;
    const char *why;
    int narea, n, bad = 0, seen = 0;
    if (dir_list(a, "test/error", &areas, &narea, &why) != STATUS_OK)
        test_skip("test/error is not here");
    for (int i = 0; i < narea; i++) {
        const char *dir = path_join(a, "test/error", areas[i]);
        if (dir_list(a, dir, &names, &n, &why) != STATUS_OK)
            test_check(dir, 0, false, "a wrong program goes into the folder of its area");
        for (int j = 0; j < n; j++)
            bad += check_file(a, path_join(a, dir, names[j]));
        seen += n;
    }
    CHECK_INT(bad, 0);
    CHECK(seen >= 500);
}
