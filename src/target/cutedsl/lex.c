/* lex.c -- words of CUDA C, as far as our own texts use it. */
#include <ctype.h>
#include "target/cutedsl/cutedsl.h"

static const char *const marks[] = {"<<=", ">>=", "...", "::", "->", "++", "--", "+=",
                                    "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "<<",
                                    ">>",  "<=",  ">=",  "==", "!=", "&&", "||"};

static size_t mark_length(const char *s)
{
    for (int i = 0; i < COUNT(marks); i++)
        if (!strncmp(s, marks[i], strlen(marks[i])))
            return strlen(marks[i]);
    return 1;
}

static size_t number_length(const char *s)
{
    size_t n = 0;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

    while (isalnum((unsigned char)s[n]) || s[n] == '.' ||
           ((s[n] == '+' || s[n] == '-') && n > 0 &&
            (hex ? strchr("pP", s[n - 1]) : strchr("eE", s[n - 1]))))
        n++;
    return n;
}

static size_t quoted_length(const char *s)
{
    size_t n = 1;

    while (s[n] && s[n] != s[0])
        n += s[n] == '\\' ? 2 : 1;
    return n + 1;
}

/* A line that starts with #: only `#pragma unroll` says anything to the DSL. */
static void take_directive(Arena *a, const char *s, size_t n, TokenVec *out)
{
    static const char word[] = "#pragma unroll";
    Token t = {TK_UNROLL, ""};

    if (strncmp(s, word, sizeof word - 1))
        return;
    const char *number = s + sizeof word - 1;
    while (*number == ' ')
        number++;
    t.s = arena_strndup(a, number, (size_t)(s + n - number));
    vec_push(a, out, t);
}

/* Bytes of what means nothing, or is a token of its own kind; 0: an ordinary word. */
static size_t skip(Arena *a, const char *s, TokenVec *out)
{
    size_t n = strcspn(s, "\n");

    if (isspace((unsigned char)*s))
        return 1;
    if (*s == '#') {
        take_directive(a, s, n, out);
        return n;
    }
    if (s[0] == '/' && s[1] == '/') {
        Token t = {TK_NOTE, arena_strndup(a, s + 2, n - 2)};
        vec_push(a, out, t);
        return n;
    }
    if (s[0] == '/' && s[1] == '*') {
        const char *end = strstr(s + 2, "*/");
        if (!strncmp(s, CUTEDSL_KERNELS, strlen(CUTEDSL_KERNELS)))
            vec_push(a, out, ((Token){TK_NOTE, CUTEDSL_KERNELS}));
        return end ? (size_t)(end + 2 - s) : strlen(s);
    }
    return 0;
}

void cutedsl_lex(Arena *a, const char *text, TokenVec *out)
{
    size_t n;

    for (const char *s = text; *s; s += n) {
        if ((n = skip(a, s, out)) > 0)
            continue;
        Token t = {TK_MARK, NULL};
        if (isalpha((unsigned char)*s) || *s == '_') {
            t.kind = TK_NAME;
            while (isalnum((unsigned char)s[n]) || s[n] == '_')
                n++;
        } else if (isdigit((unsigned char)*s)) {
            t.kind = TK_NUMBER;
            n = number_length(s);
        } else if (*s == '"' || *s == '\'') {
            t.kind = TK_TEXT;
            n = quoted_length(s);
        } else {
            n = mark_length(s);
        }
        t.s = arena_strndup(a, s, n);
        vec_push(a, out, t);
    }
    vec_push(a, out, ((Token){TK_END, ""}));
}
