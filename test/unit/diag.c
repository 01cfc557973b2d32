/* diag.c -- tests of messages, of their carets and of recovery. */
#include "base/base.h"
#include "test.h"

static const char gemm[] = "import tilelang\n"
                           "        acc = T.alloc_fragment((128, 96), f32)\n"
                           "        T.gemm(A_s, B_s, acc)\n"
                           "        T.copy(acc, C_s)";
static const Source gemm_py = {"gemm.py", gemm, sizeof gemm - 1};

static Diag d;
static Arena *a;

static void start(void)
{
    a = arena_new();
    diag_init(&d, a);
}

static const char *rendered(void)
{
    Str b;
    str_init(&b, a);
    diag_render(&d, &b, false);
    return b.s;
}

static Span span(const Source *s, int line, int col, int end_line, int end_col)
{
    return (Span){s, line, col, end_line, end_col};
}

TEST(error_with_notes_shows_carets)
{
    start();
    diag_error(&d, span(&gemm_py, 4, 9, 4, 25), "'%s' cannot take two layouts [layout-conflict]",
               "acc");
    diag_note(&d, span(&gemm_py, 3, 9, 3, 30), "gemm needs the mma.m16n8k16 layout here");
    diag_note(&d, span(&gemm_py, 2, 9, 2, 12), "'acc' is declared here");
    CHECK_TEXT(rendered(), "gemm.py:4:9: error: 'acc' cannot take two layouts [layout-conflict]\n"
                           "    4 |         T.copy(acc, C_s)\n"
                           "      |         ^~~~~~~~~~~~~~~~\n"
                           "gemm.py:3:9: note: gemm needs the mma.m16n8k16 layout here\n"
                           "    3 |         T.gemm(A_s, B_s, acc)\n"
                           "      |         ^~~~~~~~~~~~~~~~~~~~~\n"
                           "gemm.py:2:9: note: 'acc' is declared here\n"
                           "    2 |         acc = T.alloc_fragment((128, 96), f32)\n"
                           "      |         ^~~\n");
    CHECK_INT(d.nerror, 1);
    CHECK_TEXT(d.list.at[0].tag, "layout-conflict");
    CHECK_TEXT(d.list.at[0].text, "'acc' cannot take two layouts");
}

TEST(no_place_no_excerpt)
{
    start();
    diag_error(&d, NO_SPAN, "no such target 'x' [unknown-target]");
    diag_warn(&d, NO_SPAN, "careful [careful]");
    CHECK_TEXT(rendered(), "error: no such target 'x' [unknown-target]\n"
                           "warning: careful [careful]\n");
    CHECK_INT(d.nwarning, 1);
}

TEST(many_lines_underline_the_first)
{
    start();
    diag_error(&d, span(&gemm_py, 3, 16, 4, 12), "too long [x]");
    CHECK_TEXT(rendered(), "gemm.py:3:16: error: too long [x]\n"
                           "    3 |         T.gemm(A_s, B_s, acc)\n"
                           "      |                ^~~~~~~~~~~~~~\n");
}

TEST(tabs_and_wide_characters_keep_the_caret_in_place)
{
    static const char text[] = "\tname = 1\n\xc3\xa9\xe4\xb8\xad x\na\tb";
    static const Source s = {NULL, text, sizeof text - 1};
    start();
    diag_error(&d, span(&s, 1, 2, 1, 6), "one [a]");
    diag_error(&d, span(&s, 2, 7, 2, 8), "two [b]");
    diag_error(&d, span(&s, 2, 3, 2, 6), "three [c]");
    diag_error(&d, span(&s, 3, 3, 3, 4), "four [d]");
    CHECK_TEXT(rendered(), "<string>:1:9: error: one [a]\n"
                           "    1 |         name = 1\n"
                           "      |         ^~~~\n"
                           "<string>:2:5: error: two [b]\n"
                           "    2 | \xc3\xa9\xe4\xb8\xad x\n"
                           "      |     ^\n"
                           "<string>:2:2: error: three [c]\n"
                           "    2 | \xc3\xa9\xe4\xb8\xad x\n"
                           "      |  ^~\n"
                           "<string>:3:9: error: four [d]\n"
                           "    3 | a       b\n"
                           "      |         ^\n");
}

TEST(odd_bytes_are_not_sent_to_the_terminal)
{
    static const char text[] = "x\033[31m\xff\xe4\xb8";
    static const Source s = {"f", text, sizeof text - 1};
    start();
    diag_error(&d, span(&s, 1, 1, 1, 2), "m [t]");
    CHECK_TEXT(rendered(), "f:1:1: error: m [t]\n    1 | x?[31m???\n      | ^\n");
}

TEST(places_outside_the_text_are_harmless)
{
    start();
    diag_error(&d, span(&gemm_py, 99, 5, 99, 6), "a [t]");
    diag_error(&d, span(&gemm_py, 1, 500, 1, 600), "b [t]");
    diag_error(&d, span(&gemm_py, 1, 16, 1, 16), "c [t]");
    diag_error(&d, span(&gemm_py, 0, 0, 0, 0), "d [t]");
    static const Source empty = {"e.py", "", 0};
    diag_error(&d, span(&empty, 1, 1, 1, 1), "e [t]");
    CHECK_TEXT(rendered(), "gemm.py:99:5: error: a [t]\n"
                           "gemm.py:1:16: error: b [t]\n"
                           "    1 | import tilelang\n"
                           "      |                ^\n"
                           "gemm.py:1:16: error: c [t]\n"
                           "    1 | import tilelang\n"
                           "      |                ^\n"
                           "error: d [t]\n"
                           "e.py:1:1: error: e [t]\n"
                           "    1 |\n"
                           "      | ^\n");
}

TEST(a_very_long_line_is_cut_around_the_caret)
{
    static char text[100001];
    memset(text, 'a', sizeof text - 1);
    text[50000] = 'B';
    static const Source s = {"f", text, sizeof text - 1};
    start();
    diag_error(&d, span(&s, 1, 50001, 1, 50002), "m [t]");
    const char *out = rendered();
    CHECK(strlen(out) < 500);
    const char *line = strstr(out, "| "), *caret = strstr(out, "      | ");
    CHECK_INT(strchr(line, 'B') - line, strchr(caret, '^') - strstr(caret, "| "));
}

TEST(the_same_message_is_kept_once_with_its_notes)
{
    start();
    for (int i = 0; i < 3; i++) {
        diag_error(&d, span(&gemm_py, 1, 1, 1, 2), "again [t]");
        diag_note(&d, NO_SPAN, "note");
    }
    diag_error(&d, span(&gemm_py, 1, 2, 1, 3), "again [t]");
    diag_note(&d, NO_SPAN, "note");
    CHECK_INT(d.nerror, 2);
    CHECK_INT(d.list.n, 4);
}

TEST(color_wraps_the_same_words)
{
    start();
    diag_error(&d, NO_SPAN, "m [t]");
    Str b;
    str_init(&b, a);
    diag_render(&d, &b, true);
    CHECK_TEXT(b.s, "\033[1;31merror:\033[0m m [t]\n");
}

TEST(werror_makes_warnings_errors)
{
    start();
    d.werror = true;
    diag_warn(&d, NO_SPAN, "m [t]");
    CHECK_INT(d.nerror, 1);
    CHECK_TEXT(rendered(), "error: m [t]\n");
}

TEST(the_twentieth_error_gives_up)
{
    start();
    volatile int i = 0;
    Recover r;
    if (recover_open(&r) == 0) {
        for (; i < 100; i++)
            diag_error(&d, NO_SPAN, "number %d [t]", i);
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_USER);
    CHECK_INT(i, DIAG_MOST_ERRORS - 1);
    CHECK_HAS(rendered(), "note: stopped after 20 errors\n");
}

TEST(fail_reports_and_jumps)
{
    start();
    Recover r;
    volatile bool after = false;
    if (recover_open(&r) == 0) {
        diag_fail(&d, NO_SPAN, "m [t]");
        after = true;
    }
    CHECK(!after);
    CHECK_INT(r.status, STATUS_USER);
    CHECK_INT(d.nerror, 1);
}

TEST(message_without_tag_is_our_fault)
{
    start();
    Recover r;
    if (recover_open(&r) == 0) {
        diag_error(&d, NO_SPAN, "no tag here");
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_BUG);
    CHECK_HAS(r.text, "no tag here");
}

static void inner(Status s)
{
    Recover r;
    if (recover_open(&r) == 0) {
        BUG(s == STATUS_BUG, "broken %d", 7);
        recover_close(&r);
    }
    CHECK_INT(r.status, s);
    if (r.status == STATUS_BUG)
        CHECK_HAS(r.text, "diag.c:");
    if (r.status != STATUS_OK)
        recover_throw(STATUS_MEM, "passed on: %s", r.text);
}

TEST(frames_nest)
{
    Recover r;
    if (recover_open(&r) == 0) {
        inner(STATUS_OK);
        inner(STATUS_BUG);
        recover_close(&r);
    }
    CHECK_INT(r.status, STATUS_MEM);
    CHECK_HAS(r.text, "passed on: ");
    CHECK_HAS(r.text, "broken 7");
}

TEST(join_spans)
{
    Span x = span(&gemm_py, 1, 2, 1, 5), y = span(&gemm_py, 3, 1, 3, 4);
    Span j = span_join(x, y);
    CHECK_INT(j.line, 1);
    CHECK_INT(j.col, 2);
    CHECK_INT(j.end_line, 3);
    CHECK_INT(j.end_col, 4);
    CHECK(span_join(NO_SPAN, y).line == 3);
    CHECK(span_join(x, NO_SPAN).end_col == 5);
}

TEST(a_span_as_one_line)
{
    static const char text[] = "x = 1\n"
                               "T.gemm(  # both\n"
                               "    A[ i:j ], 'a # b',\n"
                               "    \"\\\"(\", Ü,\n"
                               ")\n"
                               "for i, j in T.Parallel(\n"
                               "        8, d[1:2]):\n"
                               "    pass\n";
    static const Source src = {"/home/me/g\nemm.py", text, sizeof text - 1};
    Span call = span(&src, 2, 1, 5, 2), loop = span(&src, 6, 1, 8, 9);

    start();
    CHECK_TEXT(span_text(a, call, 80, NULL), "T.gemm(A[i:j], 'a # b', \"\\\"(\", ??,)");
    CHECK_TEXT(span_text(a, call, 11, NULL), "T.gemm(A...");
    CHECK_TEXT(span_text(a, loop, 80, NULL), "for i, j in T.Parallel(8, d[1:2])");
    CHECK_TEXT(span_place(a, call), "g?emm.py:2");
    CHECK(!span_text(a, NO_SPAN, 80, NULL));
    CHECK(!span_text(a, span(&src, 90, 1, 91, 1), 80, NULL));
    CHECK(!span_text(a, span(&src, 2, 90, 2, 91), 80, NULL));
    CHECK(!span_text(a, span(&src, 2, 1, 2, 99), 80, NULL));
    CHECK(span_holds(loop, span(&src, 8, 5, 8, 9)));
    CHECK(!span_holds(loop, call));
    CHECK(!span_holds(call, span(&src, 5, 2, 5, 3)));
}
