/* parse.c -- tests of the parser: trees, messages, going on after an error, and the golden files
 * of test/front. */
#include <stdlib.h>
#include "ast.h"
#include "test.h"

typedef struct {
    Arena *arena;
    Names *names;
    Diag diag;
    Source src;
    const AstModule *module;
    const Ast *expr;
} Parsed;

static Parsed parsed(const char *text, size_t len)
{
    Parsed x = {.arena = arena_new(), .names = names_new()};
    char *copy = malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    x.src = (Source){"t.py", copy, len};
    diag_init(&x.diag, x.arena);
    return x;
}

static void parse_it(Parsed *x, bool one_expression)
{
    Recover r;
    if (recover_open(&r) == 0) {
        if (one_expression)
            x->expr = parse_expression(x->arena, x->names, &x->diag, &x->src);
        else
            x->module = parse_module(x->arena, x->names, &x->diag, &x->src);
        recover_close(&r);
    }
    CHECK(r.status == STATUS_OK || r.status == STATUS_USER);
}

static void parsed_free(Parsed *x)
{
    free((char *)x->src.text);
    arena_free(x->arena);
    names_free(x->names);
}

/* The tree, or "line:col text [tag]" for each error. */
static const char *shown(Parsed *x)
{
    Str b;
    str_init(&b, x->arena);
    if (!x->diag.nerror) {
        if (x->module)
            ast_print_module(&b, x->module);
        else
            ast_print(&b, x->expr);
        return b.s;
    }
    for (int i = 0; i < x->diag.list.n; i++) {
        const Message *m = &x->diag.list.at[i];
        if (m->kind == DIAG_ERROR)
            str_printf(&b, "%d:%d %s [%s]\n", m->span.line, m->span.col, m->text, m->tag);
    }
    return b.s;
}

static void check_parse(const char *file, int line, const char *text, const char *want, bool expr)
{
    Parsed x = parsed(text, strlen(text));
    parse_it(&x, expr);
    test_text(file, line, shown(&x), want, text);
    parsed_free(&x);
}

#define CHECK_EXPR(text, want) check_parse(__FILE__, __LINE__, text, want, true)
#define CHECK_STMT(text, want) check_parse(__FILE__, __LINE__, text, want "\n", false)

/* ---- expressions ----------------------------------------------------------------------------- */

TEST(operators_bind_as_in_python)
{
    CHECK_EXPR("a + b * c", "(+ a (* b c))");
    CHECK_EXPR("a - b - c", "(- (- a b) c)");
    CHECK_EXPR("a ** b ** c", "(** a (** b c))");
    CHECK_EXPR("-a ** -b", "(- (** a (- b)))");
    CHECK_EXPR("a | b ^ c & d << e + f // g", "(| a (^ b (& c (<< d (+ e (// f g))))))");
    CHECK_EXPR("not a == b and c or d", "(or (and (not (compare a == b)) c) d)");
    CHECK_EXPR("a or b or c", "(or a b c)");
    CHECK_EXPR("a @ b % c", "(% (@ a b) c)");
}

TEST(comparisons_chain)
{
    CHECK_EXPR("a < b <= c", "(compare a < b <= c)");
    CHECK_EXPR("a not in b is not c", "(compare a not in b is not c)");
    CHECK_EXPR("(a < b) < c", "(compare (compare a < b) < c)");
}

TEST(conditions_and_lambdas)
{
    CHECK_EXPR("a if b else c if d else e", "(if-else a b (if-else c d e))");
    CHECK_EXPR("lambda: a if b else c", "(lambda () (if-else a b c))");
    CHECK_EXPR("(lambda: a) if b else c", "(if-else (lambda () a) b c)");
    CHECK_EXPR("lambda a, /, b=1, *c, d, **e: f", "(lambda (a / b=1 *c d **e) f)");
    CHECK_EXPR("lambda *, a: a", "(lambda (* a) a)");
}

TEST(calls_and_subscripts)
{
    CHECK_EXPR("f(a, *b, c=d, **e)", "(call f a (* b) (= c d) (** e))");
    CHECK_EXPR("f(a for a in b)", "(call f (gen-of a (for a b)))");
    CHECK_EXPR("a.b(c).d[0]", "(index (. (call (. a b) c) d) 0)");
    CHECK_EXPR("a[b:c, ::d, :]", "(index a (tuple (slice b c _) (slice _ _ d) (slice _ _ _)))");
    CHECK_EXPR("a[b,]", "(index a (tuple b))");
    CHECK_EXPR("a[*b]", "(index a (tuple (* b)))");
    CHECK_EXPR("a[b := c]", "(index a (:= b c))");
}

TEST(displays_and_comprehensions)
{
    CHECK_EXPR("(), (a,), (a), [], {}, {a}",
               "(tuple (tuple) (tuple a) a (list) (dict) (set a))");
    CHECK_EXPR("[a, *b]", "(list a (* b))");
    CHECK_EXPR("{a: b, **c}", "(dict (a b) (** c))");
    CHECK_EXPR("[a for b, c in d if e if f for g in h]",
               "(list-of a (for (tuple b c) d e f) (for g h))");
    CHECK_EXPR("{a for b in c}", "(set-of a (for b c))");
    CHECK_EXPR("{a: b for c in d}", "(dict-of a b (for c d))");
    CHECK_EXPR("{(a := b): c}", "(dict ((:= a b) c))");
    CHECK_EXPR("(a async for b in c)", "(gen-of a (async-for b c))");
}

TEST(numbers_have_values)
{
    CHECK_EXPR("0x_ff, 0o17, 0b101, 1_000", "(tuple 255 15 5 1000)");
    CHECK_EXPR("9223372036854775807, 18446744073709551615",
               "(tuple 9223372036854775807 18446744073709551615)");
    CHECK_EXPR("18446744073709551616",
               "1:1 this number does not fit in 64 bits [int-too-big]\n");
    CHECK_EXPR("0x10000000000000000",
               "1:1 this number does not fit in 64 bits [int-too-big]\n");
    CHECK_EXPR("1., .5, 1e3, 1_0.2_5e-1, 1e400, 0e99999999999999999999",
               "(tuple 1.0 0.5 1000.0 1.025 inf 0.0)");
    CHECK_EXPR("0.1, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789.123456789",
               "(tuple 0.1 2.2250738585072014e-308 1.7976931348623157e+308 123456789.12345679)");
}

TEST(wide_integers_say_so)
{
    Parsed x = parsed("9223372036854775808", 19);
    parse_it(&x, true);
    CHECK(x.expr->wide);
    CHECK(x.expr->i == INT64_MIN);
    parsed_free(&x);
}

/* A host program may have set a locale whose point is a comma. */
TEST(floats_do_not_follow_the_locale)
{
    test_take_comma();
    Parsed x = parsed("1.5", 3);
    parse_it(&x, true);
    CHECK_NEAR(x.expr->f, 1.5, 0);
    parsed_free(&x);
}

TEST(strings_join)
{
    CHECK_EXPR("'a' \"b\" r'\\d'", "\"ab\\\\d\"");
    CHECK_EXPR("b'a' b'\\xff'", "b\"a\\xff\"");
    CHECK_EXPR("'a' b'b'", "1:5 bytes and text cannot be joined [syntax]\n");
}

TEST(fstrings_have_parts)
{
    CHECK_EXPR("f'a{b}c' 'd'", "(fstring \"a\" (format b) \"cd\")");
    CHECK_EXPR("f'{a!r:>{w}.{p}}'", "(fstring (format a \"!r:\" (fstring \">\" (format w) \".\" "
                                    "(format p))))");
    CHECK_EXPR("f'{a:>10}{b!s}'", "(fstring (format a \":>10\") (format b \"!s\"))");
    CHECK_EXPR("f'{a = }'", "(fstring \"a = \" (format a \"!r\"))");
    CHECK_EXPR("f'{a=:x}'", "(fstring \"a=\" (format a \":x\"))");
    CHECK_EXPR("f'{a[\"b\"]}{f'{c}'}'",
               "(fstring (format (index a \"b\")) (format (fstring (format c))))");
    CHECK_EXPR("f'{a, b}{*c, d}'", "(fstring (format (tuple a b)) (format (tuple (* c) d)))");
    CHECK_EXPR("f''", "(fstring)");
    CHECK_EXPR("f'{}'", "1:4 expected an expression after '{' in an f-string [syntax]\n");
    CHECK_EXPR("f'{a!x}'", "1:6 after '!' stands one of r, s, a [syntax]\n");
    CHECK_EXPR("f'{a b}'", "1:6 expected '}' at the end of an f-string's field, found 'b' "
                           "[syntax]\n");
}

TEST(one_expression_spans_lines)
{
    CHECK_EXPR("  a +\n b\n", "(+ a b)");
    CHECK_EXPR("a b", "1:3 expected the end of the expression, found 'b' [syntax]\n");
    CHECK_EXPR("", "1:1 expected an expression, found the end of file [syntax]\n");
}

TEST(an_expression_in_error_is_null)
{
    Parsed x = parsed("a +", 3);
    parse_it(&x, true);
    CHECK(x.expr == NULL);
    parsed_free(&x);
}

/* ---- statements ------------------------------------------------------------------------------ */

TEST(assignments)
{
    CHECK_STMT("a = b = c, *d", "(= a b (tuple c (* d)))");
    CHECK_STMT("a, (b, *c) = d", "(= (tuple a (tuple b (* c))) d)");
    CHECK_STMT("a[0] += 1", "(+= (index a 0) 1)");
    CHECK_STMT("a //= b; c >>= d", "(//= a b)\n(>>= c d)");
    CHECK_STMT("a: int", "(: a int)");
    CHECK_STMT("a.b: int = 3", "(: (. a b) int 3)");
    CHECK_STMT("type A[T] = list[T]", "(type A (index list T))");
    CHECK_STMT("type = 3", "(= type 3)");
}

TEST(targets_are_checked)
{
    CHECK_STMT("f() = 1", "1:1 cannot assign to a call [syntax]");
    CHECK_STMT("a, 1 = b", "1:4 cannot assign to a number [syntax]");
    CHECK_STMT("a + b += 1", "1:1 cannot change in place an operator [syntax]");
    CHECK_STMT("a, b += 1", "1:1 cannot change in place several targets at once [syntax]");
    CHECK_STMT("(a, b): int", "1:1 cannot annotate several targets at once [syntax]");
    CHECK_STMT("for 1 in a: pass", "1:5 cannot assign to a number [syntax]");
    CHECK_STMT("del f()", "1:5 cannot delete a call [syntax]");
    CHECK_STMT("None = 1", "1:1 cannot assign to None [syntax]");
}

TEST(simple_statements)
{
    CHECK_STMT("import a.b as c, d", "(import (as a.b c) d)");
    CHECK_STMT("from ...a.b import (c, d as e,)", "(from ...a.b c (as d e))");
    CHECK_STMT("from . import *", "(from . *)");
    CHECK_STMT("global a, b", "(global a b)");
    CHECK_STMT("del a, b[0]", "(del a (index b 0))");
    CHECK_STMT("assert a, b", "(assert a b)");
    CHECK_STMT("raise a from b", "(raise a b)");
    CHECK_STMT("pass; a;", "(pass)\n(expr a)");
}

TEST(compound_statements)
{
    CHECK_STMT("if a: b\nelif c: d\nelse: e",
               "(if a)\n  (expr b)\n(else)\n  (if c)\n    (expr d)\n  (else)\n    (expr e)");
    CHECK_STMT("while a:\n  break\nelse:\n  b", "(while a)\n  (break)\n(else)\n  (expr b)");
    CHECK_STMT("for a, *b in c, d: continue",
               "(for (tuple a (* b)) (tuple c d))\n  (continue)");
    CHECK_STMT("try: a\nexcept (B, C) as d: e\nelse: f\nfinally: g",
               "(try)\n  (expr a)\n(except (tuple B C) d)\n  (expr e)\n(else)\n  (expr f)\n"
               "(finally)\n  (expr g)");
    CHECK_STMT("try: a\nexcept* B: c", "(try)\n  (expr a)\n(except* B)\n  (expr c)");
    CHECK_STMT("class A(B, c=D): x = 1", "(class A B (= c D))\n  (= x 1)");
    CHECK_STMT("async def f():\n async with a as b: await c",
               "(async-def f ())\n  (async-with (a b))\n    (expr (await c))");
}

TEST(functions)
{
    CHECK_STMT("def f(a, b: int = 1, /, c=2, *d: e, g, **h) -> i: return",
               "(def f (a b:int=1 / c=2 *d:e g **h) i)\n  (return)");
    CHECK_STMT("@a.b(c)\n@d\ndef f[T: int, *U](x): yield x",
               "(@ (call (. a b) c))\n(@ d)\n(def f (x))\n  (expr (yield x))");
    CHECK_STMT("def f(): return *a, b", "(def f ())\n  (return (tuple (* a) b))");
}

TEST(parameters_are_checked)
{
    CHECK_STMT("def f(a=1, b): pass",
               "1:12 'b' needs a default, as a parameter before it has one [syntax]");
    CHECK_STMT("def f(*): pass", "1:7 a named parameter must follow '*' [syntax]");
    CHECK_STMT("def f(**a, b): pass", "1:12 no parameter can follow '**' [syntax]");
    CHECK_STMT("def f(/, a): pass",
               "1:7 '/' must follow a parameter, before '*', and only once [syntax]");
    CHECK_STMT("def f(*a=1): pass", "1:9 '*a' cannot have a default [syntax]");
}

TEST(arguments_are_checked)
{
    CHECK_STMT("f(a=1, b)", "1:8 a positional argument cannot follow a named one [syntax]");
    CHECK_STMT("f(**a, *b)", "1:8 '*' cannot follow '**' among arguments [syntax]");
    CHECK_STMT("f(a for a in b, c)",
               "1:3 a generator beside other arguments needs brackets [syntax]");
    CHECK_STMT("f(a.b=1)",
               "1:6 only a name can stand before '=' in a call; '==' compares [syntax]");
}

TEST(with_and_its_brackets)
{
    CHECK_STMT("with a as (b, c), d: pass", "(with (a (tuple b c)) (d))\n  (pass)");
    CHECK_STMT("with (a as b, c as d,): pass", "(with (a b) (c d))\n  (pass)");
    CHECK_STMT("with (a, b): pass", "(with (a) (b))\n  (pass)");
    CHECK_STMT("with (a, b) as c: pass", "(with ((tuple a b) c))\n  (pass)");
    CHECK_STMT("with (a).b as c: pass", "(with ((. a b) c))\n  (pass)");
    CHECK_STMT("with (yield a): pass", "(with ((yield a)))\n  (pass)");
}

TEST(match_is_passed_over)
{
    CHECK_STMT("match a, b:\n  case [1, *_] | {'x': y} if z: pass\n  case _:\n    c\nd",
               "(match)\n(expr d)");
    CHECK_STMT("match = 1\nmatch(a)\nmatch[a] = 2",
               "(= match 1)\n(expr (call match a))\n(= (index match a) 2)");
    CHECK_STMT("match a:\n  case 1:\n    b c",
               "3:7 expected the end of the line, found 'c' [syntax]");
}

TEST(a_header_span_ends_at_its_colon)
{
    Parsed x = parsed("for i in a:\n  b\n", 16);
    parse_it(&x, false);
    Span s = x.module->body[0]->span;
    CHECK_INT(s.line, 1);
    CHECK_INT(s.col, 1);
    CHECK_INT(s.end_line, 1);
    CHECK_INT(s.end_col, 12);
    parsed_free(&x);
}

/* ---- errors ---------------------------------------------------------------------------------- */

TEST(messages_say_what_was_expected)
{
    CHECK_STMT("if a\n  b", "1:5 expected ':' after the condition of 'if' [syntax]");
    CHECK_STMT("if a = 1:\n  b",
               "1:6 expected ':' after the condition of 'if'; '==' compares [syntax]");
    CHECK_STMT("if a: b\nelse if c: d",
               "2:6 expected ':' after 'else'; 'else if' is written 'elif' [syntax]");
    CHECK_STMT("if a:\nb", "2:1 expected an indented block after 'if' [indent]");
    CHECK_STMT("a\n  b", "2:1 this line is indented for no reason [indent]");
    CHECK_STMT("a = b c", "1:7 expected the end of the line, found 'c' [syntax]");
    CHECK_STMT("a = (b c)", "1:8 expected ',' or ')', found 'c' [syntax]");
    CHECK_STMT("f(a b)", "1:5 expected ',' or ')' among the arguments, found 'b' [syntax]");
    CHECK_STMT("a = ", "1:4 expected an expression, found the end of line [syntax]");
    CHECK_STMT("a && b", "1:4 '&&' is no operator; write 'and' [syntax]");
    CHECK_STMT("import 1", "1:8 expected a name of a module, found '1' [syntax]");
    CHECK_STMT("try: a\nb", "1:1 'try' needs an 'except' or a 'finally' [syntax]");
    CHECK_STMT("@a\nb = 1", "2:1 after a decorator stands 'def' or 'class' [syntax]");
    CHECK_STMT("return 1", "1:1 'return' stands outside of any function [syntax]");
    CHECK_STMT("def f():\n  break", "2:3 'break' stands outside of any loop [syntax]");
    CHECK_STMT("x = *a", "1:5 '*' needs a list, tuple or call around it [syntax]");
}

/* Each statement with an error costs one message; good lines between them cost none. */
TEST(parsing_goes_on_after_an_error)
{
    CHECK_STMT("a b\nc = 1\nd e\n", "1:3 expected the end of the line, found 'b' [syntax]\n"
                                    "3:3 expected the end of the line, found 'e' [syntax]");
    CHECK_STMT("def f(1):\n  a b\n  c\nd e\n",
               "1:7 expected a name of a parameter, found '1' [syntax]\n"
               "4:3 expected the end of the line, found 'e' [syntax]");
    CHECK_STMT("if a b:\n  c\nelse:\n  d\ne f\n",
               "1:6 expected ':' after the condition of 'if' [syntax]\n"
               "5:3 expected the end of the line, found 'f' [syntax]");
    CHECK_STMT("def f():\n  a b\n  c d\ne f\n",
               "2:5 expected the end of the line, found 'b' [syntax]\n"
               "3:5 expected the end of the line, found 'd' [syntax]\n"
               "4:3 expected the end of the line, found 'f' [syntax]");
}

TEST(an_error_of_the_lexer_is_told_once)
{
    CHECK_STMT("a = 'b\nc = 3k + )\n", "1:5 this string is never closed [unterminated-string]\n"
                                       "2:5 this is not a number [bad-number]\n"
                                       "2:10 ')' closes nothing [syntax]");
    CHECK_STMT("f(a,\ndef g():\n  b c\n", "1:2 '(' is never closed [syntax]\n"
                                          "3:5 expected the end of the line, found 'c' [syntax]");
}

TEST(messages_come_in_the_order_of_the_file)
{
    CHECK_STMT("a b\nc = (1]\nd e\nf = 3k\ng h\n",
               "1:3 expected the end of the line, found 'b' [syntax]\n"
               "2:7 ']' does not close '(' [syntax]\n"
               "3:3 expected the end of the line, found 'e' [syntax]\n"
               "4:5 this is not a number [bad-number]\n"
               "5:3 expected the end of the line, found 'h' [syntax]");
}

TEST(notes_stay_with_their_message)
{
    Parsed x = parsed("a b\nc = (1]\nd e\n", 16);
    parse_it(&x, false);
    CHECK_INT(x.diag.list.n, 4);
    CHECK_INT(x.diag.list.at[1].span.line, 2);
    CHECK_INT(x.diag.list.at[2].kind, DIAG_NOTE);
    CHECK_INT(x.diag.list.at[2].span.col, 5);
    CHECK_INT(x.diag.list.at[3].span.line, 3);
    parsed_free(&x);
}

/* The caret stands behind the last word, not behind the comment. */
TEST(the_end_of_a_line_is_before_its_comment)
{
    CHECK_STMT("for i in a   # b\n  c\n", "1:11 expected ':' after the sequence of 'for' [syntax]");
}

/* ---- limits ---------------------------------------------------------------------------------- */

static const char *repeated(Arena *a, const char *before, const char *unit, int n,
                            const char *after)
{
    Str b;
    str_init(&b, a);
    str_puts(&b, before);
    for (int i = 0; i < n; i++)
        str_puts(&b, unit);
    str_puts(&b, after);
    return b.s;
}

static void check_too_deep(const char *before, const char *unit, int n, const char *after)
{
    Arena *a = arena_new();
    const char *text = repeated(a, before, unit, n, after);
    Parsed x = parsed(text, strlen(text));
    parse_it(&x, false);
    bool found = false;
    for (int i = 0; i < x.diag.list.n; i++)
        found |= x.diag.list.at[i].tag && !strcmp(x.diag.list.at[i].tag, "too-deep");
    CHECK_TEXT(found ? "too-deep" : "no error", "too-deep");
    parsed_free(&x);
    arena_free(a);
}

TEST(depth_has_a_limit)
{
    check_too_deep("", "(", 1000, "");
    check_too_deep("", "[", 100000, "");
    check_too_deep("a = ", "-", 1000, "1");
    check_too_deep("a = ", "not ", 1000, "1");
    check_too_deep("a = ", "b ** ", 1000, "1");
    check_too_deep("a = ", "(*", 1000, "");
    check_too_deep("a = ", "{**", 1000, "");
    check_too_deep("a = ", "[x for x in ", 1000, "");
    check_too_deep("a = ", "lambda: ", 1000, "1");
    check_too_deep("a = ", "b if c else ", 1000, "1");
    check_too_deep("a = ", "b[*", 1000, "");
    check_too_deep("a = ", "f'{", 1000, "");
    check_too_deep("a = f'", "{b:", 1000, "");
    check_too_deep("a = b", " + b", 1000, "");
    check_too_deep("a = b", ".c", 1000, "");
    check_too_deep("a = b", "()", 1000, "");
    check_too_deep("if a: b\n", "elif a: b\n", 1000, "");
}

TEST(long_is_not_deep)
{
    Arena *a = arena_new();
    const char *texts[] = {
        repeated(a, "a = (", "b,", 50000, ")"),
        repeated(a, "a = b", " and b", 50000, ""),
        repeated(a, "a = b", " < b", 50000, ""),
        repeated(a, "a = ", "'b' ", 50000, ""),
        repeated(a, "a = f'", "{b}", 50000, "'"),
        repeated(a, "a = b", " + b", 900, ""),
        repeated(a, "", "if a:\n  b\n", 5000, ""),
    };
    for (int i = 0; i < COUNT(texts); i++) {
        Parsed x = parsed(texts[i], strlen(texts[i]));
        parse_it(&x, false);
        CHECK_INT(x.diag.nerror, 0);
        parsed_free(&x);
    }
    arena_free(a);
}

/* Every prefix of a file and every file less one byte: whatever happens, it ends. */
TEST(broken_files_end)
{
    static const char text[] =
        "@T.prim_func\ndef f(A: T.Tensor((8, 'n')), *b, c=1, **d) -> int:\n"
        "    with T.Kernel(1, threads=[32]) as (x, y):\n"
        "        for i in T.Parallel(8):\n"
        "            A[i, ::2] += f'{x!r:>{w}}a{{' \"\"\"b\n\"\"\"\n"
        "    try: pass\n    except* E as e: pass\n    else:\n\treturn {**a, 1: [b for c in d]}\n"
        "match a:\n  case {1: 2} if b: pass\n";
    char copy[sizeof text];
    for (size_t n = 0; n < sizeof text; n++) {
        Parsed x = parsed(text, n);
        parse_it(&x, false);
        parsed_free(&x);
        memcpy(copy, text, n);
        memcpy(copy + n, text + n + 1, sizeof text - n - 1);
        x = parsed(copy, sizeof text - 2);
        parse_it(&x, false);
        parsed_free(&x);
    }
}

/* ---- test/front ------------------------------------------------------------------------------ */

/* What stands in comments between "# >>> ast" and "# <<<", without the "# ". */
static const char *wanted_tree(Arena *a, const char *text)
{
    Str b;
    str_init(&b, a);
    const char *p = strstr(text, "# >>> ast\n");
    const char *end = p ? strstr(p, "# <<<") : NULL;
    if (!end)
        return NULL;
    for (p = strchr(p, '\n') + 1; p < end;) {
        const char *stop = strchr(p, '\n');
        p += MIN(2, stop - p);
        str_putn(&b, p, (size_t)(stop - p + 1));
        p = stop + 1;
    }
    return b.s;
}

/* "line tag" for each "# error: tag" comment, in the order of lines. */
static const char *wanted_errors(Arena *a, const char *text)
{
    Str b;
    str_init(&b, a);
    int line = 1;
    for (const char *p = text; *p; p++) {
        static const char mark[] = "# error: ";
        if (*p == '\n')
            line++;
        if (strncmp(p, mark, sizeof mark - 1) == 0)
            str_printf(&b, "%d %.*s\n", line, (int)strcspn(p + sizeof mark - 1, "\n"),
                       p + sizeof mark - 1);
    }
    return b.s;
}

static const char *found_errors(Parsed *x, int nline)
{
    Str b;
    str_init(&b, x->arena);
    for (int line = 1; line <= nline; line++)
        for (int i = 0; i < x->diag.list.n; i++) {
            const Message *m = &x->diag.list.at[i];
            if (m->kind == DIAG_ERROR && m->span.line == line)
                str_printf(&b, "%d %s\n", line, m->tag);
        }
    return b.s;
}

static void check_golden(Arena *a, const char *path)
{
    char *text;
    size_t n;
    const char *why;
    CHECK_INT(file_read(a, path, &text, &n, &why), STATUS_OK);
    int nline = 1;
    for (size_t i = 0; i < n; i++)
        nline += text[i] == '\n';
    Parsed x = parsed(text, n);
    parse_it(&x, false);
    test_text(path, 1, found_errors(&x, nline), wanted_errors(a, text), "errors");
    const char *tree = wanted_tree(a, text);
    CHECK(tree || x.diag.nerror);
    if (tree)
        test_text(path, 1, shown(&x), tree, "tree");
    parsed_free(&x);
}

TEST(golden_files)
{
    Arena *a = arena_new();
    char **names;
    int n, checked = 0;
    const char *why;
    char *dir = arena_strdup(a, __FILE__);
    char *slash = strstr(dir, "unit/parse.c");
    CHECK(slash != NULL);
    strcpy(slash, "front");
    if (dir_list(a, dir, &names, &n, &why) != STATUS_OK)
        test_skip(why);
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        if (len < 3 || strcmp(names[i] + len - 3, ".py"))
            continue;
        check_golden(a, path_join(a, dir, names[i]));
        checked++;
    }
    CHECK(checked > 0);
    arena_free(a);
}
