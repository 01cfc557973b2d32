/* run.c -- golden tests: files under test/ and examples/ become tests of test.c's runner.
 *
 *     test/pass/PASS/NAME.tile   IR text and the IR after a pass, or the message
 *     test/kernel/NAME.py        "# verify: [:FUNC] NAME=VALUE …": compiled, run, compared
 *     test/plan/NAME.py          "# expect: TEXT" is in a line of what --plans prints
 *     test/emit/TARGET/NAME.py   the emitted functions
 *     test/error/AREA/NAME.py    "# error: tag", "# warning: tag" on the line where it must appear
 *     test/replay/examples.txt   round trips and bundles of the kernels it lists
 *     test/replay/NAME.hash      the hash of every kernel's text for one target
 *
 * Tests are found before main, from the folder that holds test/; -u rewrites what is expected.
 * With TL_TEST_ALL in the environment round trips and bundles take the kernels of test/kernel too. */
#include <stdlib.h>
#include "run.h"

const char golden_target[] = "cpu -mcpu=x86-64-v3";

typedef struct {
    const char *name;
    const char *dir; /* a file without a folder: the kernels it lists */
    const char *ext;
    const char *mark; /* one test per line that has it; NULL: one per file */
    void (*run)(void);
} Kind;

static const Kind kinds[] = {
    {"pass", "test/pass", ".tile", NULL, run_pass},
    {"plan", "test/plan", ".py", NULL, run_plan},
    {"emit", "test/emit", ".py", NULL, run_emit},
    {"error", "test/error", ".py", NULL, run_error},
    {"kernel", "test/kernel", ".py", "# verify:", run_kernel},
    {"trip", "test/replay/examples.txt", NULL, NULL, run_trip},
    {"bundle", "test/replay/examples.txt", NULL, NULL, run_bundle},
    {"replay", "test/replay", ".hash", NULL, run_replay},
};

/* ---- reading files --------------------------------------------------------------------------- */

const Case *case_now(void)
{
    return test_options.now->data;
}

char *text_of(Arena *a, const char *path)
{
    char **text = NEW(a, char *);
    size_t n;
    const char *why;

    if (file_read(a, path, text, &n, &why) != STATUS_OK)
        test_check(path, 0, false, why);
    return *text;
}

char *mark_at(Arena *a, const char *text, const char *mark, int n, int *line)
{
    *line = 1;
    for (const char *s = text; *s; s += *s == '\n') {
        size_t len = strcspn(s, "\n");
        const char *found = memmem(s, len, mark, strlen(mark));
        if (found && n-- == 0) {
            found += strlen(mark);
            found += strspn(found, " ");
            return arena_strndup(a, found, strcspn(found, "\n"));
        }
        s += len;
        ++*line;
    }
    return NULL;
}

/* Where a word ends: at a space outside quotes and brackets. */
static size_t word_length(const char *s)
{
    int depth = 0;
    char quote = 0;
    size_t n = 0;

    for (; s[n] && (s[n] != ' ' || depth > 0 || quote); n++) {
        if (quote)
            quote = s[n] == quote ? 0 : quote;
        else if (s[n] == '\'' || s[n] == '"')
            quote = s[n];
        else
            depth += (s[n] == '(' || s[n] == '[') - (s[n] == ')' || s[n] == ']');
    }
    return n;
}

int split_words(Arena *a, const char *text, const char ***words)
{
    VEC(const char *) list = {0};

    while (*(text += strspn(text, " "))) {
        size_t n = word_length(text);
        vec_push(a, &list, arena_strndup(a, text, n));
        text += n;
    }
    vec_push(a, &list, NULL);
    *words = list.at;
    return list.n - 1;
}

/* "--from=lower_tiles" among the words of a "# run:" line; NULL without. */
const char *option_of(Arena *a, const char *run, const char *name)
{
    const char **words;
    int n = split_words(a, run ? run : "", &words);
    size_t len = strlen(name);

    for (int i = 0; i < n; i++)
        if (!strncmp(words[i], "--", 2) && !strncmp(words[i] + 2, name, len) &&
            words[i][len + 2] == '=') {
            const char *value = words[i] + len + 3;
            bool quoted = *value == '"';
            return quoted ? arena_strndup(a, value + 1, strlen(value) - 2) : value;
        }
    return NULL;
}

const char *kernels_of(const char *source)
{
    const char *mark = strstr(source, "/* ---- kernels ---- */\n");

    CHECK(mark != NULL);
    return strchr(mark, '\n') + 2;
}

/* ---- compiling ------------------------------------------------------------------------------- */

void case_open(Arena *a, Job *j, const char *path, const char *args)
{
    const char **words;
    int n = split_words(a, args, &words);
    bool has_func = n > 0 && words[0][0] == ':';
    const char **all = NEWN(a, const char *, n + 2);
    int nall = 1;

    all[0] = has_func ? arena_printf(a, "%s%s", path, words[0]) : path;
    for (int i = has_func; i < n; i++)
        if (words[i][0] != '-')
            all[nall++] = words[i];
    CHECK_INT(job_open(j, nall, all), EXIT_OK);
}

tl_kernel *case_compile(Job *j, tl_options *o, const char *target)
{
    bool device = target && strncmp(target, "cpu", 3) != 0;
    CommonOptions common = {.target = target, .quiet = true, .threads = device ? 0 : 3};
    tl_kernel *k = NULL;

    CHECK_INT(job_compile(j, &common, o, &k), EXIT_OK);
    return k;
}

/* ---- goldens --------------------------------------------------------------------------------- */

static char *uncomment(Arena *a, const char *s, const char *end)
{
    Str out;

    str_init(&out, a);
    while (s < end) {
        size_t n = strcspn(s, "\n");
        size_t skip = s[0] == '#' ? 1 + (s[1] == ' ') : 0;
        str_putn(&out, s + skip, n - skip);
        str_putc(&out, '\n');
        s += n + 1;
    }
    return out.s;
}

Golden golden_read(Arena *a, const char *path)
{
    char *text = text_of(a, path);
    char *start = strstr(text, "# >>> ");
    Golden g = {.name = "", .body = text};

    if (!start)
        return g;
    char *line = start + strcspn(start, "\n"), *end = strstr(start, "\n# <<<");
    g.name = arena_strndup(a, start + 6, (size_t)(line - start) - 6);
    g.body = arena_strndup(a, text, (size_t)(start - text));
    if (end)
        g.want = uncomment(a, line + 1, end + 1);
    return g;
}

void golden_check(Arena *a, const char *path, const Golden *g, const char *got)
{
    if (!test_options.update) {
        test_text(path, 0, got, g->want ? g->want : "", g->name);
        return;
    }
    Str out;
    const char *why;
    str_init(&out, a);
    str_puts(&out, g->body);
    str_printf(&out, "# >>> %s\n", g->name);
    while (*got) {
        size_t n = strcspn(got, "\n");
        str_printf(&out, n ? "# %.*s\n" : "#%.*s\n", (int)n, got);
        got += n + (got[n] == '\n');
    }
    str_puts(&out, "# <<<\n");
    if (strcmp(out.s, text_of(a, path)) != 0)
        CHECK_INT(file_write(a, path, out.s, out.n, &why), STATUS_OK);
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool has_end(const char *name, const char *ext)
{
    size_t n = strlen(name), m = strlen(ext);
    return n > m && !strcmp(name + n - m, ext);
}

static void add_marked(Arena *a, CaseVec *to, const char *path, const char *mark)
{
    char *text, *args;
    size_t n;
    const char *why;
    int line;

    if (file_read(a, path, &text, &n, &why) != STATUS_OK)
        return;
    for (int i = 0; (args = mark_at(a, text, mark, i, &line)); i++)
        vec_push(a, to, ((Case){path, args, line}));
}

static void find_in(Arena *a, CaseVec *to, const char *dir, const Kind *kind)
{
    char **names;
    const char *why;
    int n;

    if (dir_list(a, dir, &names, &n, &why) != STATUS_OK)
        return;
    for (int i = 0; i < n; i++) {
        char *path = path_join(a, dir, names[i]);
        if (!has_end(names[i], kind->ext))
            find_in(a, to, path, kind);
        else if (names[i][0] != '_' && kind->mark)
            add_marked(a, to, path, kind->mark);
        else if (names[i][0] != '_')
            vec_push(a, to, ((Case){path, "", 0}));
    }
}

/* FILE[:FUNC] NAME=VALUE … on each line of `path`. */
static void add_listed(Arena *a, CaseVec *to, const char *path)
{
    char *text;
    size_t n;
    const char *why;
    int line = 0;

    if (file_read(a, path, &text, &n, &why) != STATUS_OK)
        return;
    for (char *s = text; *s; s += *s == '\n') {
        size_t len = strcspn(s, "\n");
        char *all = arena_strndup(a, s, len);
        s += len;
        line++;
        if (all[0] == '#' || !all[0])
            continue;
        size_t file = strcspn(all, ": ");
        vec_push(a, to, ((Case){arena_strndup(a, all, file), all + file, line}));
    }
}

CaseVec example_kernels(Arena *a)
{
    CaseVec list = {0};

    add_listed(a, &list, "test/replay/examples.txt");
    return list;
}

CaseVec all_kernels(Arena *a)
{
    CaseVec list = example_kernels(a);

    for (int i = 0; i < COUNT(kinds); i++)
        if (kinds[i].mark)
            find_in(a, &list, kinds[i].dir, &kinds[i]);
    return list;
}

CaseVec replay_kernels(Arena *a)
{
    static const Kind random_kernel = {.dir = "test/replay/random", .ext = ".py"};
    CaseVec list = all_kernels(a);

    add_listed(a, &list, "test/replay/large.txt");
    find_in(a, &list, random_kernel.dir, &random_kernel);
    return list;
}

static void add_test(Arena *a, const Kind *kind, const Case *c, int number)
{
    Test *t = NEW(a, Test);
    const char *short_path = !strncmp(c->path, "test/", 5) ? c->path + 5 : c->path;
    size_t n = strlen(kind->name);
    bool told = !strncmp(short_path, kind->name, n) && short_path[n] == '/';

    t->file = kind->dir;
    t->line = number;
    t->run = kind->run;
    t->full = arena_printf(a, "%s%s%s%s%s", told ? "" : kind->name, told ? "" : " ", short_path,
                           *c->args && *c->args != ':' && *c->args != ' ' ? " " : "", c->args);
    t->data = c;
    test_register(t);
}

__attribute__((constructor)) static void find_tests(void)
{
    static Arena *a;
    Recover r;

    a = arena_new();
    if (recover_open(&r) != 0)
        exit(2);
    for (int i = COUNT(kinds) - 1; i >= 0; i--) {
        CaseVec list = {0};
        if (kinds[i].ext)
            find_in(a, &list, kinds[i].dir, &kinds[i]);
        else
            list = getenv("TL_TEST_ALL") ? all_kernels(a) : example_kernels(a);
        for (int j = list.n - 1; j >= 0; j--)
            add_test(a, &kinds[i], &list.at[j], j);
    }
    recover_close(&r);
}
