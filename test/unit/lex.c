/* lex.c -- tests of the lexer: token by token, then what it refuses. */
#include <stdlib.h>
#include "front/ast.h"
#include "test.h"

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    Source src;
    Token *tok;
    int ntok;
    Status status;
} Lexed;

/* A copy of exactly the right size, so that a sanitizer sees any look past the end. */
static Lexed lex_bytes(const char *text, size_t len)
{
    Lexed x = {.arena = arena_new(), .names = names_new()};
    char *copy = malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    x.src = (Source){"t.py", copy, len};
    return x;
}

static void lex_run(Lexed *x)
{
    Recover r;
    diag_init(&x->diag, x->arena);
    if (recover_open(&r) == 0) {
        x->tok = lex(x->arena, x->names, &x->diag, &x->src, &x->ntok);
        recover_close(&r);
    }
    x->status = r.status;
}

static void lex_free(Lexed *x)
{
    free((char *)x->src.text);
    arena_free(x->arena);
    names_free(x->names);
}

/* Tokens in one line: words and operators as they are, others by name, strings in quotes. */
static const char *tokens_of(Lexed *x)
{
    Str b;
    str_init(&b, x->arena);
    for (int i = 0; i < x->ntok; i++) {
        const Token *t = &x->tok[i];
        if (i)
            str_putc(&b, ' ');
        switch (t->kind) {
        case TK_NEWLINE: str_puts(&b, "NL"); break;
        case TK_INDENT: str_puts(&b, "IN"); break;
        case TK_DEDENT: str_puts(&b, "OUT"); break;
        case TK_EOF: str_puts(&b, "EOF"); break;
        case TK_ERROR: str_puts(&b, "ERROR"); break;
        case TK_FSTRING_START: str_puts(&b, "F<"); break;
        case TK_FSTRING_END: str_puts(&b, ">"); break;
        case TK_STRING:
        case TK_FSTRING_TEXT:
            str_puts(&b, t->is_bytes ? "b'" : "'");
            str_putn(&b, t->text, t->len);
            str_putc(&b, '\'');
            break;
        default: str_putn(&b, t->text, t->len);
        }
    }
    return b.s;
}

static const char *faults_of(Lexed *x)
{
    Str b;
    str_init(&b, x->arena);
    for (int i = 0; i < x->diag.list.n; i++) {
        const Message *m = &x->diag.list.at[i];
        if (m->kind != DIAG_NOTE)
            str_printf(&b, "%s%d:%d-%d:%d %s%s", b.n ? ", " : "", m->span.line, m->span.col,
                       m->span.end_line, m->span.end_col, m->kind == DIAG_ERROR ? "" : "warning ",
                       m->tag);
    }
    return b.s;
}

#define CHECK_TOKENS(text, want)                                                                   \
    do {                                                                                           \
        Lexed x = lex_bytes(text, sizeof text - 1);                                                \
        lex_run(&x);                                                                               \
        CHECK_TEXT(faults_of(&x), "");                                                             \
        CHECK_TEXT(tokens_of(&x), want);                                                           \
        lex_free(&x);                                                                              \
    } while (0)

#define CHECK_FAULTS(text, want)                                                                   \
    do {                                                                                           \
        Lexed x = lex_bytes(text, sizeof text - 1);                                                \
        lex_run(&x);                                                                               \
        CHECK_TEXT(faults_of(&x), want);                                                           \
        lex_free(&x);                                                                              \
    } while (0)

TEST(empty_files_are_one_token)
{
    CHECK_TOKENS("", "EOF");
    CHECK_TOKENS("\n\n  \n# only words\n", "EOF");
    CHECK_TOKENS("\xEF\xBB\xBF", "EOF");
}

TEST(operators_take_the_longest)
{
    CHECK_TOKENS("a**=b//c->d:=e...f!=g", "a **= b // c -> d := e ... f != g NL EOF");
    CHECK_TOKENS("a<<=1>>2<=3", "a <<= 1 >> 2 <= 3 NL EOF");
    CHECK_TOKENS("..", ". . NL EOF");
}

TEST(keywords_are_whole_words)
{
    Lexed x = lex_bytes("if iff True Truer", 17);
    lex_run(&x);
    CHECK_INT(x.tok[0].kind, TK_IF);
    CHECK_INT(x.tok[1].kind, TK_NAME);
    CHECK_INT(x.tok[2].kind, TK_TRUE);
    CHECK_INT(x.tok[3].kind, TK_NAME);
    lex_free(&x);
}

TEST(every_keyword_and_operator_is_found)
{
    for (int k = TK_POW_EQ; k <= TK_YIELD; k++) {
        if (strchr("()[]{}", token_text((TokenKind)k)[0]))
            continue;
        Lexed x = lex_bytes(token_text((TokenKind)k), strlen(token_text((TokenKind)k)));
        lex_run(&x);
        CHECK_INT(x.tok[0].kind, k);
        lex_free(&x);
    }
}

TEST(names_are_interned)
{
    Lexed x = lex_bytes("ab ba ab", 8);
    lex_run(&x);
    CHECK(x.tok[0].text == x.tok[2].text);
    CHECK(x.tok[0].text != x.tok[1].text);
    lex_free(&x);
}

TEST(names_may_leave_ascii)
{
    CHECK_TOKENS("größe = π", "größe = π NL EOF");
    CHECK_FAULTS("a = “b”", "1:5-1:8 bad-character");
    CHECK_FAULTS("a\xC2\xA0= 1", "1:2-1:4 bad-character");
    CHECK_FAULTS("a\xFF", "1:2-1:3 bad-character");
}

TEST(spans_count_from_one)
{
    Lexed x = lex_bytes("a\n  = 'b'", 9);
    lex_run(&x);
    const Token *s = &x.tok[x.ntok - 4];
    CHECK_INT(s->kind, TK_STRING);
    CHECK_INT(s->span.line, 2);
    CHECK_INT(s->span.col, 5);
    CHECK_INT(s->span.end_line, 2);
    CHECK_INT(s->span.end_col, 8);
    lex_free(&x);
}

TEST(blocks_indent_and_dedent)
{
    CHECK_TOKENS("if a:\n  b\n\n  # c\n  d\ne", "if a : NL IN b NL d NL OUT e NL EOF");
    CHECK_TOKENS("if a:\n if b:\n  c", "if a : NL IN if b : NL IN c NL OUT OUT EOF");
    CHECK_TOKENS("\fif a:\n  \f  b\n", "if a : NL IN b NL OUT EOF");
}

TEST(tabs_reach_to_columns_of_eight)
{
    CHECK_TOKENS("if a:\n\tb\n\tc\n", "if a : NL IN b NL c NL OUT EOF");
    CHECK_TOKENS("if a:\n if b:\n \tc\n", "if a : NL IN if b : NL IN c NL OUT OUT EOF");
    CHECK_FAULTS("if a:\n        b\n\tc\n", "3:1-3:2 indent");
    CHECK_FAULTS("if a:\n\tif b:\n                c\n", "");
    CHECK_FAULTS("if a:\n        if b:\n\t\tc\n", "3:1-3:3 indent");
}

TEST(dedent_must_meet_a_level)
{
    CHECK_FAULTS("if a:\n    b\n  c\n", "3:1-3:3 indent");
}

TEST(lines_join_in_brackets_and_by_backslash)
{
    CHECK_TOKENS("(a,\n   b)\nc", "( a , b ) NL c NL EOF");
    CHECK_TOKENS("a = \\\n  b", "a = b NL EOF");
    CHECK_TOKENS("if a:\n  \\\n      b\n  c\n", "if a : NL IN b NL c NL OUT EOF");
    CHECK_FAULTS("a \\ b", "1:3-1:4 bad-character");
    CHECK_FAULTS("a \\\n", "1:3-1:4 syntax");
}

TEST(line_ends_of_other_systems)
{
    CHECK_TOKENS("if a:\r\n  b\r\nc\r\n", "if a : NL IN b NL OUT c NL EOF");
    CHECK_TOKENS("a\rb\r", "a NL b NL EOF");
    CHECK_TOKENS("'''x\r\ny\rz'''", "'x\ny\nz' NL EOF");
    CHECK_TOKENS("'x\\\r\ny'", "'xy' NL EOF");
}

TEST(numbers_keep_their_spelling)
{
    CHECK_TOKENS("0 00 10_000 0xFF 0o17 0b_10 1. .5 1e5 1_0.2_5E-1_0 0777.5",
                 "0 00 10_000 0xFF 0o17 0b_10 1. .5 1e5 1_0.2_5E-1_0 0777.5 NL EOF");
    CHECK_TOKENS("1if x else 2", "1 if x else 2 NL EOF");
    CHECK_TOKENS("3j 1.5J 1e2j", "3j 1.5J 1e2j NL EOF");
    CHECK_TOKENS("5@6", "5 @ 6 NL EOF");
    CHECK_TOKENS("1..real", "1. . real NL EOF");
}

TEST(numbers_that_are_none)
{
    CHECK_FAULTS("1_", "1:1-1:3 bad-number");
    CHECK_FAULTS("1__0", "1:1-1:5 bad-number");
    CHECK_FAULTS("0x", "1:1-1:3 bad-number");
    CHECK_FAULTS("0b12", "1:1-1:5 bad-number");
    CHECK_FAULTS("012", "1:1-1:4 bad-number");
    CHECK_FAULTS("1e", "1:1-1:3 bad-number");
    CHECK_FAULTS("12abc", "1:1-1:6 bad-number");
    CHECK_FAULTS("3jk", "1:1-1:4 bad-number");
}

TEST(strings_of_every_prefix)
{
    CHECK_TOKENS("'a' \"b\" u'c' R'd\\n' b'e' Rb'\\x' bR'f'",
                 "'a' 'b' 'c' 'd\\n' b'e' b'\\x' b'f' NL EOF");
    CHECK_TOKENS("'''a'b\n\"c''' \"\"\"\"d\"\"\"", "'a'b\n\"c' '\"d' NL EOF");
    CHECK_TOKENS("'' ''''''", "'' '' NL EOF");
    CHECK_TOKENS("r'\\'' r'\\\\'", "'\\'' '\\\\' NL EOF");
}

TEST(escapes_stand_for_characters)
{
    CHECK_TOKENS("'\\n\\t\\\\\\'\\\"\\a\\b\\f\\v\\r'", "'\n\t\\'\"\a\b\f\v\r' NL EOF");
    CHECK_TOKENS("'\\x41\\101\\u00e9\\U0001F600\\7'", "'AAé\xF0\x9F\x98\x80\7' NL EOF");
    CHECK_TOKENS("b'\\xff\\377'", "b'\xFF\xFF' NL EOF");
    CHECK_TOKENS("'a\\\nb'", "'ab' NL EOF");
    Lexed x = lex_bytes("'a\\0b'", 6);
    lex_run(&x);
    CHECK_INT(x.tok[0].len, 3);
    CHECK_INT(x.tok[0].text[1], 0);
    lex_free(&x);
}

TEST(escapes_that_are_none)
{
    CHECK_FAULTS("'ab\\xg'", "1:4-1:6 bad-escape");
    CHECK_FAULTS("'''\n  \\u12'''", "2:3-2:7 bad-escape");
    CHECK_FAULTS("'\\U00110000'", "1:2-1:12 bad-escape");
    CHECK_FAULTS("'\\N{BULLET}'", "1:2-1:4 bad-escape");
    CHECK_FAULTS("'\\d \\q'", "1:2-1:4 warning bad-escape");
    CHECK_FAULTS("b'\xC3\xA9'", "1:1-1:6 bad-character");
}

TEST(strings_must_close)
{
    CHECK_FAULTS("a = 'b\nc", "1:5-1:7 unterminated-string");
    CHECK_FAULTS("a\n = '''b\nc", "2:4-2:7 unterminated-string");
    CHECK_FAULTS("'\\", "1:1-1:3 unterminated-string");
    CHECK_FAULTS("f'abc", "1:1-1:3 unterminated-string");
    CHECK_FAULTS("f'abc\n'", "1:3-1:6 unterminated-string, 2:1-2:2 unterminated-string");
}

TEST(fstrings_are_taken_apart)
{
    CHECK_TOKENS("f'a{b}c'", "F< 'a' { b } 'c' > NL EOF");
    CHECK_TOKENS("f'{a!r:>{w}}'", "F< { a ! r : '>' { w } } > NL EOF");
    CHECK_TOKENS("f'{{a}}{b}'", "F< '{a}' { b } > NL EOF");
    CHECK_TOKENS("f'{a!=b}{c:=3}{(d:=3)}'",
                 "F< { a != b } { c : '=3' } { ( d := 3 ) } > NL EOF");
    CHECK_TOKENS("f'{a['b']}{f'{c}'}'", "F< { a [ 'b' ] } { F< { c } > } > NL EOF");
    CHECK_TOKENS("f'''{\na # b\n}'''", "F< { a } > NL EOF");
    CHECK_TOKENS("rf'\\n{a}\\{b}'", "F< '\\n' { a } '\\' { b } > NL EOF");
    CHECK_TOKENS("f'{a:{b}{c}d}'", "F< { a : { b } { c } 'd' } > NL EOF");
    CHECK_TOKENS("f'{ {1: 2}[1] }'", "F< { { 1 : 2 } [ 1 ] } > NL EOF");
}

TEST(fstrings_that_are_none)
{
    CHECK_FAULTS("f'a}'", "1:4-1:5 syntax");
    CHECK_FAULTS("f'{a:b'", "1:7-1:8 syntax");
    CHECK_FAULTS("f'{a'\n", "1:5-1:6 unterminated-string");
}

TEST(brackets_must_match)
{
    CHECK_FAULTS("(a]", "1:3-1:4 syntax");
    CHECK_FAULTS("a)", "1:2-1:3 syntax");
    CHECK_FAULTS("a = (b,\n", "1:5-1:6 syntax");
}

/* A word that only begins statements, first on its line, closes what was left open. */
TEST(an_open_bracket_ends_at_a_statement)
{
    Lexed x = lex_bytes("a = (b,\nreturn c\n", 17);
    lex_run(&x);
    CHECK_TEXT(faults_of(&x), "1:5-1:6 syntax");
    CHECK_TEXT(tokens_of(&x), "a = ( b , ERROR NL return c NL EOF");
    lex_free(&x);
}

/* The bracket of a one-line call ends with the string that swallowed it. */
TEST(an_open_string_takes_its_brackets_along)
{
    Lexed x = lex_bytes("p('a)\nb\n", 8);
    lex_run(&x);
    CHECK_TEXT(faults_of(&x), "1:3-1:6 unterminated-string");
    CHECK_TEXT(tokens_of(&x), "p ( ERROR NL b NL EOF");
    lex_free(&x);
}

TEST(strange_bytes_are_refused)
{
    CHECK_FAULTS("a\0b", "1:2-1:3 bad-character");
    CHECK_FAULTS("'a\0b'", "1:3-1:4 bad-character");
    CHECK_FAULTS("a ? b", "1:3-1:4 bad-character");
    CHECK_FAULTS("a = !b", "1:5-1:6 bad-character");
    CHECK_FAULTS("\x01", "1:1-1:2 bad-character");
}

TEST(indentation_has_a_limit)
{
    Arena *a = arena_new();
    Str b;
    str_init(&b, a);
    for (int i = 0; i < 102; i++) {
        str_indent(&b, i);
        str_puts(&b, "if a:\n");
    }
    Lexed x = lex_bytes(b.s, b.n);
    lex_run(&x);
    CHECK_INT(x.diag.nerror, 1);
    CHECK_TEXT(x.diag.list.at[0].tag, "too-deep");
    lex_free(&x);
    arena_free(a);
}

TEST(errors_stop_at_twenty)
{
    Arena *a = arena_new();
    Str b;
    str_init(&b, a);
    for (int i = 0; i < 1000; i++)
        str_puts(&b, "?\n");
    Lexed x = lex_bytes(b.s, b.n);
    lex_run(&x);
    CHECK_INT(x.status, STATUS_USER);
    CHECK_INT(x.diag.nerror, DIAG_MOST_ERRORS);
    lex_free(&x);
    arena_free(a);
}
