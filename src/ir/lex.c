/* lex.c -- words of the text form: names, numbers, strings, indentation. */
#include "ir/read.h"

void lex_start(Reader *r, Ir *ir, const Source *src)
{
    *r = (Reader){.ir = ir, .arena = ir->arena, .src = src, .p = src->text,
                  .line_start = src->text, .line = 1, .nindent = 1, .nvar = -1};
    map_init_text(&r->names, r->arena);
    map_init_text(&r->kernels, r->arena);
    map_init_text(&r->sources, r->arena);
    r->main = NEW(r->arena, Source);
    *r->main = (Source){"<text>", "", 0};
}

void read_fail(Reader *r, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    if (r->nvar >= 0)
        recover_throw(STATUS_USER, "%s", text);
    diag_fail(r->ir->diag, at, "%s", text);
}

void read_enter(Reader *r)
{
    if (++r->depth > 2 * DEPTH_MOST)
        read_fail(r, r->tok.span, "nested more than %d deep [too-deep]", DEPTH_MOST);
}

void read_leave(Reader *r)
{
    r->depth--;
}

static const char *end_of(const Reader *r)
{
    return r->src->text + r->src->len;
}

static Span span_of(const Reader *r, const char *from, const char *to)
{
    return (Span){r->src, r->line, (int32_t)(from - r->line_start) + 1, r->line,
                  (int32_t)(to - r->line_start) + 1};
}

static void set(Reader *r, TokenKind kind, const char *from)
{
    r->tok = (Token){.kind = kind, .at = from, .n = (size_t)(r->p - from),
                     .span = span_of(r, from, r->p)};
}

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void lex_digits(Reader *r)
{
    while (r->p < end_of(r) && is_digit(*r->p))
        r->p++;
}

static void lex_number(Reader *r)
{
    const char *from = r->p, *end = end_of(r);
    bool whole = true;
    lex_digits(r);
    if (r->p + 1 < end && *r->p == '.' && is_digit(r->p[1])) {
        whole = false;
        r->p++;
        lex_digits(r);
    }
    if (r->p < end && *r->p == 'e') {
        const char *q = r->p + 1;
        if (q < end && (*q == '+' || *q == '-'))
            q++;
        if (q < end && is_digit(*q)) {
            whole = false;
            r->p = q;
            lex_digits(r);
        }
    }
    set(r, whole ? TOKEN_INT : TOKEN_FLOAT, from);
    uint64_t v = 0;
    for (size_t i = 0; whole && i < r->tok.n; i++) {
        uint64_t digit = (uint64_t)(from[i] - '0');
        if (v > (UINT64_MAX - digit) / 10)
            read_fail(r, r->tok.span, "number too large [ir-syntax]");
        v = v * 10 + digit;
    }
    r->tok.value = v;
}

static int hex(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void lex_escape(Reader *r, Str *s)
{
    char c = r->p < end_of(r) ? *r->p++ : 0;
    if (c == 'n')
        str_putc(s, '\n');
    else if (c == '"' || c == '\\')
        str_putc(s, c);
    else if (c == 'x' && r->p + 1 < end_of(r) && hex(r->p[0]) >= 0 && hex(r->p[1]) >= 0 &&
             hex(r->p[0]) * 16 + hex(r->p[1]) > 0) {
        str_putc(s, (char)(hex(r->p[0]) * 16 + hex(r->p[1])));
        r->p += 2;
    } else {
        read_fail(r, span_of(r, r->p, r->p), "unknown escape in a string [ir-syntax]");
    }
}

static void lex_string(Reader *r)
{
    const char *from = r->p++;
    Str s;
    str_init(&s, r->arena);
    while (r->p < end_of(r) && *r->p != '"' && *r->p != '\n' && *r->p != 0) {
        if (*r->p == '\\') {
            r->p++;
            lex_escape(r, &s);
        } else {
            str_putc(&s, *r->p++);
        }
    }
    if (r->p >= end_of(r) || *r->p != '"')
        read_fail(r, span_of(r, from, r->p), "string without an end [ir-syntax]");
    r->p++;
    set(r, TOKEN_STRING, from);
    r->tok.text = ir_name(r->ir, s.s);
}

static void lex_punct(Reader *r)
{
    static const char *const two[] = {"//", "<<", ">>", "<=", ">=", "==", "!=", ":+"};
    const char *from = r->p;
    int n = 1;
    for (int i = 0; i < COUNT(two); i++) {
        if (r->p + 1 < end_of(r) && memcmp(r->p, two[i], 2) == 0)
            n = 2;
    }
    r->p += n;
    set(r, TOKEN_PUNCT, from);
    if (n == 1 && (*from == 0 || !strchr("()[]{},:=+-*/%<>&|^~@#", *from)))
        read_fail(r, r->tok.span, "unexpected character [ir-syntax]");
    r->tok.text = name_intern(r->ir->names, from, (size_t)n);
}

/* Skip blank lines and lines that are comments; stand at the first character of a line that says
 * something, or at the end. */
static int skip_lines(Reader *r)
{
    const char *end = end_of(r);
    for (;;) {
        const char *q = r->line_start = r->p;
        while (q < end && *q == ' ')
            q++;
        if (q < end && *q != '\n' && *q != '\r' && *q != '#') {
            r->p = q;
            return (int)(q - r->line_start);
        }
        while (q < end && *q != '\n')
            q++;
        if (q >= end) {
            r->p = end;
            return 0;
        }
        r->p = q + 1;
        r->line++;
    }
}

/* The start of a line: compare its indentation with the open blocks. */
static bool lex_indent(Reader *r)
{
    int columns = skip_lines(r);
    if (r->p >= end_of(r)) {
        columns = 0;
        r->ended = true;
    }
    r->line_open = true;
    if (columns > r->indent[r->nindent - 1]) {
        if (r->nindent == NEST_MOST)
            read_fail(r, span_of(r, r->p, r->p), "blocks nested more than %d deep [too-deep]",
                      NEST_MOST);
        r->indent[r->nindent++] = columns;
        set(r, TOKEN_INDENT, r->p);
        return true;
    }
    while (columns < r->indent[r->nindent - 1]) {
        r->nindent--;
        r->dedents++;
    }
    if (columns != r->indent[r->nindent - 1])
        read_fail(r, span_of(r, r->p, r->p), "indentation matches no open block [ir-syntax]");
    return false;
}

void lex_next(Reader *r)
{
    if (!r->line_open && lex_indent(r))
        return;
    if (r->dedents > 0) {
        r->dedents--;
        set(r, TOKEN_DEDENT, r->p);
        return;
    }
    const char *end = end_of(r);
    while (r->p < end && (*r->p == ' ' || *r->p == '\r'))
        r->p++;
    if (r->p >= end && r->ended) {
        set(r, TOKEN_END, r->p);
    } else if (r->p >= end) { /* a last line without its newline */
        r->line_open = false;
        set(r, TOKEN_NEWLINE, r->p);
    } else if (*r->p == '\n') {
        set(r, TOKEN_NEWLINE, r->p);
        r->p++;
        r->line++;
        r->line_open = false;
    } else if (is_letter(*r->p)) {
        const char *from = r->p;
        while (r->p < end && (is_letter(*r->p) || is_digit(*r->p)))
            r->p++;
        if (r->p + 1 < end && *r->p == '.' && is_digit(r->p[1]))
            for (r->p++; r->p < end && is_digit(*r->p);)
                r->p++;
        set(r, TOKEN_NAME, from);
        r->tok.text = name_intern(r->ir->names, from, r->tok.n);
    } else if (is_digit(*r->p)) {
        lex_number(r);
    } else if (*r->p == '"') {
        lex_string(r);
    } else {
        lex_punct(r);
    }
}

bool tok_is(const Reader *r, const char *text)
{
    return (r->tok.kind == TOKEN_NAME || r->tok.kind == TOKEN_PUNCT) &&
           strcmp(r->tok.text, text) == 0;
}

bool tok_take(Reader *r, const char *text)
{
    if (!tok_is(r, text))
        return false;
    lex_next(r);
    return true;
}

void tok_expect(Reader *r, const char *text)
{
    if (!tok_take(r, text))
        read_fail(r, r->tok.span, "expected '%s' [ir-syntax]", text);
}

const char *tok_name(Reader *r, const char *what)
{
    const char *text = r->tok.text;
    if (r->tok.kind != TOKEN_NAME)
        read_fail(r, r->tok.span, "expected %s [ir-syntax]", what);
    lex_next(r);
    return text;
}

const char *tok_string(Reader *r)
{
    const char *text = r->tok.text;
    if (r->tok.kind != TOKEN_STRING)
        read_fail(r, r->tok.span, "expected a string [ir-syntax]");
    lex_next(r);
    return text;
}

int64_t tok_int(Reader *r, int64_t least, int64_t most)
{
    Span at = r->tok.span;
    bool minus = tok_take(r, "-");
    uint64_t v = r->tok.value;
    if (r->tok.kind != TOKEN_INT)
        read_fail(r, r->tok.span, "expected a whole number [ir-syntax]");
    lex_next(r);
    if (v > (uint64_t)INT64_MAX)
        read_fail(r, at, "number too large [ir-syntax]");
    int64_t n = minus ? -(int64_t)v : (int64_t)v;
    if (n < least || n > most)
        read_fail(r, at, "expected a number from %lld to %lld [ir-syntax]", (long long)least,
                  (long long)most);
    return n;
}
