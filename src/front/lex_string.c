/* lex_string.c -- strings: prefixes, quotes, escapes, and the text of f-strings. */
#include "front/lex.h"

typedef struct {
    bool raw, bytes, format;
} StringKind;

/* ---- escapes --------------------------------------------------------------------------------- */

/* Turns spelling into bytes.  Keeps its own line count, so that a place within a long string costs
 * nothing to name. */
typedef struct {
    Lexer *L;
    const char *p, *end, *line_start;
    int32_t line;
    StringKind kind;
    bool warned, failed;
    Str out;
} Decoder;

static Span decode_span(const Decoder *s, const char *from)
{
    int32_t col = (int32_t)(from - s->line_start) + 1;
    return (Span){s->L->src, s->line, col, s->line, (int32_t)(s->p - s->line_start) + 1};
}

static void decode_fail(Decoder *s, const char *from, const char *text)
{
    if (!s->failed)
        diag_error(s->L->diag, decode_span(s, from), "%s [bad-escape]", text);
    s->failed = true;
}

static void put_character(Decoder *s, uint32_t c)
{
    if (s->kind.bytes)
        str_putc(&s->out, (char)c);
    else
        str_utf8(&s->out, c);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly n digits. */
static void hex_escape(Decoder *s, const char *from, int n)
{
    uint32_t c = 0;

    for (int i = 0; i < n; i++) {
        int v = s->p < s->end ? hex_digit(*s->p) : -1;
        if (v < 0) {
            decode_fail(s, from, n == 2   ? "\\x needs two hexadecimal digits"
                                 : n == 4 ? "\\u needs four hexadecimal digits"
                                          : "\\U needs eight hexadecimal digits");
            return;
        }
        c = c << 4 | (uint32_t)v;
        s->p++;
    }
    if (c > 0x10FFFF)
        decode_fail(s, from, "no character has a number above 10FFFF");
    else
        put_character(s, c);
}

static void octal_escape(Decoder *s)
{
    uint32_t c = 0;
    for (int i = 0; i < 3 && s->p < s->end && *s->p >= '0' && *s->p <= '7'; i++)
        c = c * 8 + (uint32_t)(*s->p++ - '0');
    put_character(s, c);
}

static void decode_line_end(Decoder *s)
{
    if (*s->p == '\r')
        s->p++;
    if (s->p < s->end && *s->p == '\n') {
        s->p++;
        s->line++;
        s->line_start = s->p;
    }
}

enum { WARNINGS_MOST = 20 };

/* An unknown escape stands for itself, backslash and all; one warning a string. */
static void unknown_escape(Decoder *s, const char *from)
{
    str_putc(&s->out, '\\');
    if (s->p >= s->end)
        return;
    char c = *s->p;
    if (s->L->nwarning < WARNINGS_MOST && !s->warned && c > ' ' && c < 0x7F) {
        s->p++;
        s->L->nwarning++;
        diag_warn(s->L->diag, decode_span(s, from),
                  "'\\%c' is no escape; write '\\\\%c' or an r\"\" string [bad-escape]", c, c);
        s->p--;
        s->warned = true;
    }
}

static void escape(Decoder *s)
{
    static const char from_letter[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    const char *from = s->p++;
    char c = s->p < s->end ? *s->p : 0;

    for (int i = 0; from_letter[i]; i += 2)
        if (c == from_letter[i]) {
            s->p++;
            str_putc(&s->out, from_letter[i + 1]);
            return;
        }
    if (c == '\n' || c == '\r') {
        decode_line_end(s);
    } else if (c >= '0' && c <= '7') {
        octal_escape(s);
    } else if (c == 'x' || (!s->kind.bytes && (c == 'u' || c == 'U'))) {
        s->p++;
        hex_escape(s, from, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N' && !s->kind.bytes) {
        s->p++;
        decode_fail(s, from, "characters by name are not supported; write \\u or \\U");
    } else {
        unknown_escape(s, from);
    }
}

/* The bytes that the spelling from..to stands for, into the token.  line and line_start are those
 * of `from`.  False after an error. */
static bool decode(Lexer *L, Token *t, StringKind kind, const char *from, const char *to,
                   int32_t line, const char *line_start)
{
    Decoder s = {.L = L, .p = from, .end = to, .line = line, .line_start = line_start,
                 .kind = kind};
    str_init(&s.out, L->arena);
    while (s.p < s.end) {
        char c = *s.p;
        if (c == '\\' && !kind.raw) {
            escape(&s);
        } else if (c == '\n' || c == '\r') {
            decode_line_end(&s);
            str_putc(&s.out, '\n');
        } else {
            if (kind.format && (c == '{' || c == '}'))
                s.p++;
            str_putc(&s.out, c);
            s.p++;
        }
    }
    t->text = s.out.s;
    t->len = s.out.n;
    return !s.failed;
}

static void set_text(Lexer *L, Token *t, StringKind kind, const char *from, const char *to,
                     int32_t line, const char *line_start, bool plain)
{
    if (plain) {
        t->text = arena_strndup(L->arena, from, (size_t)(to - from));
        t->len = (size_t)(to - from);
    } else if (!decode(L, t, kind, from, to, line, line_start)) {
        t->kind = TK_ERROR;
    }
}

/* ---- whole strings --------------------------------------------------------------------------- */

static bool closes(const Lexer *L, char quote, bool triple)
{
    if (*L->p != quote)
        return false;
    return !triple || (L->end - L->p >= 3 && L->p[1] == quote && L->p[2] == quote);
}

static void nul_error(Lexer *L)
{
    Span at = lex_span(L);
    at.line = at.end_line;
    at.col = at.end_col++;
    diag_error(L->diag, at, "the byte 0x00 cannot stand in a program [bad-character]");
}

static void unterminated(Lexer *L, bool triple, const char *what)
{
    Span at = lex_span(L);
    if (triple) {
        at.end_line = at.line;
        at.end_col = at.col + 3;
    }
    diag_error(L->diag, at, "this %s is never closed [unterminated-string]", what);
    lex_drop_line(L);
    lex_emit(L, TK_ERROR);
}

/* One character of a string, with what a backslash protects.  False at an end that closes it. */
static bool pass_character(Lexer *L, bool triple, bool *plain)
{
    char c = *L->p;

    if (c == '\\') {
        *plain = false;
        L->p++;
        if (L->p >= L->end)
            return false;
        if (*L->p == '\n' || *L->p == '\r')
            lex_line_end(L);
        else
            L->p++;
        return true;
    }
    if (c == '\n' || c == '\r') {
        if (!triple)
            return false;
        *plain &= c == '\n';
        lex_line_end(L);
        return true;
    }
    if (c == 0)
        nul_error(L);
    L->p++;
    return true;
}

static void check_ascii(Lexer *L, Token *t, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++)
        if ((unsigned char)*p >= 0x80) {
            diag_error(L->diag, lex_span(L),
                       "bytes hold only ASCII characters; write \\x.. [bad-character]");
            t->kind = TK_ERROR;
            return;
        }
}

static void plain_string(Lexer *L, StringKind kind, char quote, bool triple)
{
    const char *from = L->p, *line_start = L->line_start;
    int32_t line = L->line;
    bool plain = true;

    while (L->p < L->end && !closes(L, quote, triple))
        if (!pass_character(L, triple, &plain)) {
            unterminated(L, triple, "string");
            return;
        }
    if (L->p >= L->end) {
        unterminated(L, triple, "string");
        return;
    }
    const char *to = L->p;
    L->p += triple ? 3 : 1;
    Token *t = lex_emit(L, TK_STRING);
    t->is_bytes = kind.bytes;
    set_text(L, t, kind, from, to, line, line_start, plain);
    if (kind.bytes)
        check_ascii(L, t, from, to);
}

/* Read r, b, u, f, rb and rf in any case and order. */
static bool prefix_kind(const char *s, size_t n, StringKind *k)
{
    bool other = false; /* one of b, f, u */

    *k = (StringKind){false, false, false};
    for (size_t i = 0; i < n; i++) {
        char c = (char)(s[i] | 32);
        if (c == 'r' && !k->raw)
            k->raw = true;
        else if ((c == 'b' || c == 'f' || (c == 'u' && n == 1)) && !other)
            other = true;
        else
            return false;
        k->bytes |= c == 'b';
        k->format |= c == 'f';
    }
    return true;
}

bool lex_prefixed(Lexer *L, const char *prefix, size_t n)
{
    StringKind kind;

    if (!prefix_kind(prefix, n, &kind))
        return false;
    char quote = *L->p;
    bool triple = L->end - L->p >= 3 && L->p[1] == quote && L->p[2] == quote;
    L->p += triple ? 3 : 1;
    if (!kind.format) {
        plain_string(L, kind, quote, triple);
        return true;
    }
    lex_emit(L, TK_FSTRING_START);
    lex_open(L, (Open){.what = 'f', .quote = quote, .triple = triple, .raw = kind.raw});
    return true;
}

/* ---- the text of f-strings ------------------------------------------------------------------- */

/* Like pass_character, but only a quote or another backslash is protected in a raw string, and a
 * brace never: "\{" opens a field. */
static bool pass_text(Lexer *L, const Open *o, bool *plain)
{
    char next = L->p + 1 < L->end ? L->p[1] : 0;

    if (*L->p != '\\' || next == '\n' || next == '\r')
        return pass_character(L, o->triple, plain);
    *plain = false;
    if (next == '{' || next == '}') {
        L->p++;
        return true;
    }
    if (next == 'N' && !o->raw && L->p + 2 < L->end && L->p[2] == '{') {
        while (L->p < L->end && *L->p != '}' && *L->p != '\n' && *L->p != o->quote)
            L->p++;
        L->p += L->p < L->end && *L->p == '}';
        return true;
    }
    return pass_character(L, o->triple, plain);
}

/* Braces as text are doubled, though not in a format spec. */
static bool doubled_brace(Lexer *L, const Open *o)
{
    if (o->what != 'f' || L->p + 1 >= L->end || L->p[1] != *L->p)
        return false;
    L->p += 2;
    return true;
}

/* At the mark that ends a run of text: a field, the end of the spec, the closing quote. */
static void end_of_text(Lexer *L, Open o)
{
    lex_mark(L);
    if (*L->p == '{') {
        L->p++;
        lex_open(L, (Open){.what = '{', .quote = o.quote, .triple = o.triple, .raw = o.raw,
                           .field = true});
        lex_emit(L, TK_LBRACE);
    } else if (*L->p == '}') {
        L->p++;
        if (o.what == 'f') {
            diag_error(L->diag, lex_span(L),
                       "'}' must be doubled in the text of an f-string [syntax]");
            lex_emit(L, TK_ERROR);
            return;
        }
        L->open.n -= 2;
        lex_emit(L, TK_RBRACE);
    } else {
        L->p += o.triple ? 3 : 1;
        if (o.what == 'f') {
            L->open.n--;
            lex_emit(L, TK_FSTRING_END);
            return;
        }
        diag_error(L->diag, lex_span(L),
                   "the f-string ends inside a field; '}' is missing [syntax]");
        L->open.n -= 3;
        lex_emit(L, TK_ERROR);
    }
}

void lex_text(Lexer *L)
{
    Open o = vec_last(&L->open);
    const char *from = L->p, *line_start = L->line_start;
    int32_t line = L->line;
    bool plain = true;

    lex_mark(L);
    for (;;) {
        if (L->p >= L->end)
            return; /* finish() finds the string open */
        if (closes(L, o.quote, o.triple))
            break;
        if (*L->p == '{' || *L->p == '}') {
            if (!doubled_brace(L, &o))
                break;
            plain = false;
        } else if (!pass_text(L, &o, &plain)) {
            if (L->p < L->end)
                unterminated(L, o.triple, "f-string");
            return;
        }
    }
    if (L->p > from) {
        StringKind kind = {.raw = o.raw, .format = o.what == 'f'};
        Token *t = lex_emit(L, TK_FSTRING_TEXT);
        set_text(L, t, kind, from, L->p, line, line_start, plain);
    }
    end_of_text(L, o);
}
