/* eval.c -- the programs of test/front_eval trace to the IR written in them.
 *
 * Between `# >>> ir` and `# <<<` stands the printed function, places left out.  `# given:` gives
 * knobs and `# func:` the function, `# warning: tag` marks a line that must warn. */
#include <stdlib.h>

#include "front/front.h"
#include "test.h"

typedef struct {
    Arena *arena;
    Source src;
    const char *func;
    NameValue given[16];
    int ngiven;
    const char *want;
} Program;

static const char *rest_of_line(Arena *a, const char *s)
{
    s += strspn(s, " ");
    return arena_strndup(a, s, strcspn(s, "\n"));
}

static void read_program(Program *p)
{
    for (const char *s = p->src.text; (s = strstr(s, "# ")); s += 2) {
        if (!strncmp(s, "# func:", 7))
            p->func = rest_of_line(p->arena, s + 7);
        if (strncmp(s, "# given:", 8))
            continue;
        char *line = (char *)rest_of_line(p->arena, s + 8);
        for (char *w = strtok(line, " "); w && p->ngiven < 16; w = strtok(NULL, " ")) {
            char *eq = strchr(w, '=');
            CHECK(eq != NULL);
            *eq = 0;
            p->given[p->ngiven++] = (NameValue){w, eq + 1};
        }
    }
    Str b;
    str_init(&b, p->arena);
    const char *s = strstr(p->src.text, "# >>> ir\n"), *end = strstr(p->src.text, "# <<<");
    for (s = s ? s + 9 : NULL; s && end && s < end; s += strcspn(s, "\n") + 1) {
        const char *from = s[1] == ' ' ? s + 2 : s + 1;
        str_putn(&b, from, strcspn(s, "\n") - (size_t)(from - s));
        str_putc(&b, '\n');
    }
    p->want = b.s;
}

/* Without places: they move with every line of the file. */
static const char *without_places(Arena *a, const char *s)
{
    Str b;
    str_init(&b, a);
    while (*s) {
        size_t n = strcspn(s, "\n");
        const char *at = memmem(s, n, " @", 2), *own = memmem(s, n, "source \"", 8);
        bool place = memmem(s, n, "    at @", 8) || memmem(s, n, "    origin \"", 12);
        if (!own && !place) {
            str_putn(&b, s, at ? (size_t)(at - s) : n);
            str_putc(&b, '\n');
        }
        s += n + (s[n] == '\n');
    }
    return b.s;
}

/* -u: what it is now is what it should be. */
static void rewrite(const Program *p, const char *got)
{
    Str b;
    const char *why, *end = strstr(p->src.text, "# >>> ir\n");
    str_init(&b, p->arena);
    str_putn(&b, p->src.text, end ? (size_t)(end - p->src.text) : p->src.len);
    str_puts(&b, end ? "# >>> ir\n" : "\n# >>> ir\n");
    for (const char *s = got; *s; s += strcspn(s, "\n") + 1)
        str_printf(&b, "#%s%.*s\n", *s == '\n' ? "" : " ", (int)strcspn(s, "\n"), s);
    str_puts(&b, "# <<<\n");
    CHECK(file_write(p->arena, p->src.name, b.s, b.n, &why) == STATUS_OK);
}

static const char *check_program(Program *p)
{
    Diag d;
    Recover r;
    Str out;
    diag_init(&d, p->arena);
    str_init(&out, p->arena);
    LoadRequest q = {.src = &p->src, .func = p->func, .given = p->given, .ngiven = p->ngiven};
    if (recover_open(&r) == 0) {
        print_func(&out, front_load(ir_new(p->arena, names_new(), &d, &op_words), &q));
        recover_close(&r);
    }
    if (r.status != STATUS_OK) {
        diag_render(&d, &out, false);
        return arena_printf(p->arena, "%s\n%s", out.s, r.text);
    }
    for (int i = 0, line = 1; p->src.text[i]; i++) {
        line += p->src.text[i] == '\n';
        if (strncmp(p->src.text + i, "# warning: ", 11))
            continue;
        bool found = false;
        for (int k = 0; k < d.list.n; k++)
            found = found || (d.list.at[k].span.line == line && d.list.at[k].tag &&
                              !strncmp(d.list.at[k].tag, p->src.text + i + 11, strlen(d.list.at[k].tag)));
        if (!found)
            return arena_printf(p->arena, "no warning on line %d", line);
    }
    const char *got = without_places(p->arena, out.s);
    if (test_options.update)
        rewrite(p, got);
    return test_options.update ? NULL : strcmp(got, p->want) ? arena_printf(p->arena, "the IR differs; it is\n%s", got) : NULL;
}

TEST(programs_trace_to_their_ir)
{
    Arena *a = arena_new();
    char **names;
    const char *why;
    int n, bad = 0, seen = 0;
    if (dir_list(a, "test/front_eval", &names, &n, &why) != STATUS_OK)
        test_skip("test/front_eval is not here");
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        if (len < 3 || strcmp(names[i] + len - 3, ".py"))
            continue;
        Program p = {.arena = a};
        char *text;
        const char *path = path_join(a, "test/front_eval", names[i]);
        CHECK(file_read(a, path, &text, &len, &why) == STATUS_OK);
        p.src = (Source){path, text, len};
        read_program(&p);
        const char *what = check_program(&p);
        if (what) {
            fprintf(stderr, "%s: %s\n", path, what);
            bad++;
        }
        seen++;
    }
    CHECK_INT(bad, 0);
    CHECK(seen >= 15);
}

/* ---- T.const from the shapes of actual inputs --------------------------------------------------------- */

static const char *const eager =
    "import tilelang\nimport tilelang.language as T\n"
    "@tilelang.jit\n"
    "def scale(A, factor=2):\n"
    "    M, N = T.const('M, N')\n"
    "    A: T.Tensor[[M, N], T.float32]\n"
    "    B = T.empty((M, N), T.float32)\n"
    "    with T.Kernel(M, threads=32) as bx:\n"
    "        for j in T.Parallel(N):\n"
    "            B[bx, j] = A[bx, j] * factor\n"
    "    return B\n";

static Func *load_text(Arena *a, Diag *d, const char *text, const LoadRequest *from)
{
    Source *src = NEW(a, Source);
    LoadRequest q = *from;
    Recover r;
    Func *volatile f = NULL;
    *src = (Source){"t.py", text, strlen(text)};
    q.src = src;
    diag_init(d, a);
    if (recover_open(&r) == 0) {
        f = front_load(ir_new(a, names_new(), d, &op_words), &q);
        recover_close(&r);
    }
    CHECK(r.status == STATUS_OK || r.status == STATUS_USER);
    return f;
}

TEST(consts_come_from_input_shapes)
{
    Arena *a = arena_new();
    Diag d;
    int64_t shape[] = {12, 40}, n;
    NameShape in = {.name = "A", .rank = 2, .shape = shape, .dtype = DT_F32};
    Func *f = load_text(a, &d, eager, &(LoadRequest){.shapes = &in, .nshape = 1});
    CHECK(f != NULL);
    CHECK_INT(f->params.n, 2);
    CHECK(f->params.at[1].out);
    CHECK_TEXT(f->params.at[1].name, "B");
    CHECK(expr_is_int(f->kernels.at[0]->grid[0], &n) && n == 12);
}

TEST(consts_without_a_value_are_listed)
{
    Arena *a = arena_new();
    Diag d;
    NameValue given = {"M", "4"};
    CHECK(load_text(a, &d, eager, &(LoadRequest){.given = &given, .ngiven = 1}) == NULL);
    CHECK_INT(d.nerror, 1);
    CHECK_TEXT(d.list.at[0].tag, "const-unknown");
    CHECK_HAS(d.list.at[0].text, "N");
}

TEST(functions_of_a_file_are_listed)
{
    Arena *a = arena_new();
    Diag d;
    Source src = {"t.py", eager, strlen(eager)};
    FuncInfo *all;
    diag_init(&d, a);
    CHECK_INT(front_list(ir_new(a, names_new(), &d, &op_words), &src, &all), 1);
    CHECK_TEXT(all[0].name, "scale");
    CHECK_TEXT(all[0].signature, "scale(A, factor=2)");
}

/* ---- a host that answers for names ------------------------------------------------------------------- */

static const char *const helper = "@T.macro\ndef bump(A, i):\n    A[i] = A[i] + step\n";

static Status answer(Eval *ev, void *data, const char *name, Value *out)
{
    const char *who = data;
    if (!strcmp(name, "T")) {
        *out = value_str(ev, "tilelang.language", 17);
        out->kind = V_MODULE;
    } else if (!strcmp(name, "size")) {
        *out = value_int(48);
    } else if (!strcmp(name, "step")) {
        *out = value_float(!strcmp(who, "helper") ? 0.5 : 9.0);
    } else if (!strcmp(name, "bump")) {
        Source *src = NEW(ev->arena, Source);
        *src = (Source){"helper.py", helper, strlen(helper)};
        *out = front_define(ev, src, FN_MACRO, (void *)"helper");
    } else {
        return STATUS_USER;
    }
    return STATUS_OK;
}

static const char *trace_text(Arena *a, const char *text, const TraceRequest *from)
{
    static const Host host = {.name = answer};
    TraceRequest q = *from;
    Diag d;
    Recover r;
    Str out;
    Source *src = NEW(a, Source);
    *src = (Source){"t.py", text, strlen(text)};
    diag_init(&d, a);
    str_init(&out, a);
    q.src = src;
    q.host = &host;
    q.host_data = (void *)"main";
    if (recover_open(&r) == 0) {
        print_func(&out, front_trace(front_eval(ir_new(a, names_new(), &d, &op_words), &q), &q));
        recover_close(&r);
    }
    if (r.status != STATUS_OK)
        diag_render(&d, &out, false);
    return out.s;
}

TEST(a_host_answers_for_names)
{
    Arena *a = arena_new();
    const char *got = trace_text(a, "@T.prim_func\n"
                                    "def main(A: T.Tensor((size,), 'float32')):\n"
                                    "    with T.Kernel(1, threads=32) as bx:\n"
                                    "        bump(A, bx)\n"
                                    "        A[0] = step\n",
                                 &(TraceRequest){.kind = FN_PRIM});
    CHECK_HAS(got, "param A: float32[48]");
    CHECK_HAS(got, "A[bx] = A[bx] + 0.5");
    CHECK_HAS(got, "A[0] = 9.0");
}

TEST(a_name_nobody_knows_is_an_error)
{
    const char *got = trace_text(arena_new(), "def main(A: T.Tensor((size,), 'float32')):\n"
                                              "    with T.Kernel(1, threads=32) as bx:\n"
                                              "        A[0] = stop\n",
                                 &(TraceRequest){.kind = FN_PRIM});
    CHECK_HAS(got, "t.py:3:16: error: 'stop' is not defined [undefined-name]");
}
