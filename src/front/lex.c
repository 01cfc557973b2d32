/* lex.c -- text to tokens, with indentation and the inside of f-strings.
 *
 * One pass.  A stack of what is open says how to read the text at hand:
 *     nothing         a line's end is a token
 *     ( [ {           a line's end is a blank
 *     f               the text of an f-string, up to '{' or the closing quote
 *     { of a field    tokens; at its own level ':' opens a format spec and '!' a conversion
 *     :               the text of a format spec, up to '{' or '}'
 *
 * Every error is reported once and leaves a TK_ERROR, at which the parser drops the statement
 * without a second message.  Strings are taken apart in lex_string.c. */
#include "front/lex.h"

enum { TAB_COLUMNS = 8, FIRST_OPERATOR = TK_POW_EQ, LAST_OPERATOR = TK_DOT };

static const char *const token_texts[TK_COUNT] = {
#define TOKEN(id, text) [TK_##id] = text,
#define KEYWORD(id, text) [TK_##id] = text,
#include "front/token.def"
#undef TOKEN
#undef KEYWORD
};

/* Keywords that only ever begin a statement: inside brackets, at the start of a line, they mean
 * that a bracket was forgotten. */
static const bool only_begins[TK_COUNT] = {
    [TK_ASSERT] = true, [TK_BREAK] = true,  [TK_CLASS] = true,    [TK_CONTINUE] = true,
    [TK_DEF] = true,    [TK_DEL] = true,    [TK_ELIF] = true,     [TK_EXCEPT] = true,
    [TK_FINALLY] = true, [TK_GLOBAL] = true, [TK_IMPORT] = true,  [TK_NONLOCAL] = true,
    [TK_PASS] = true,   [TK_RAISE] = true,  [TK_RETURN] = true,   [TK_TRY] = true,
    [TK_WHILE] = true,  [TK_WITH] = true,
};

const char *token_text(TokenKind k)
{
    return token_texts[k];
}

/* ---- places and tokens ----------------------------------------------------------------------- */

void lex_mark(Lexer *L)
{
    L->start = L->p;
    L->start_line = L->line;
    L->start_col = (int32_t)(L->p - L->line_start) + 1;
}

Span lex_span(const Lexer *L)
{
    int32_t col = (int32_t)(L->p - L->line_start) + 1;
    return (Span){L->src, L->start_line, L->start_col, L->line, col};
}

Token *lex_emit(Lexer *L, TokenKind kind)
{
    Token t = {.kind = kind,
               .span = lex_span(L),
               .text = L->start,
               .len = (size_t)(L->p - L->start)};
    vec_push(L->arena, &L->out, t);
    return &vec_last(&L->out);
}

/* Take one line end, "\n" or "\r\n"; a lone "\r" also ends a line but is not counted as one, since
 * messages count "\n". */
void lex_line_end(Lexer *L)
{
    if (*L->p == '\r')
        L->p++;
    if (L->p < L->end && *L->p == '\n') {
        L->p++;
        L->line++;
        L->line_start = L->p;
    }
}

static bool at_line_end(const Lexer *L)
{
    return L->p < L->end && (*L->p == '\n' || *L->p == '\r');
}

static void skip_comment(Lexer *L)
{
    while (L->p < L->end && *L->p != '\n' && *L->p != '\r')
        L->p++;
}

/* A backslash at the end of a line joins it to the next one. */
static bool joined_line(Lexer *L)
{
    if (*L->p != '\\' || L->p + 1 >= L->end || (L->p[1] != '\n' && L->p[1] != '\r'))
        return false;
    lex_mark(L);
    L->p++;
    Span here = lex_span(L);
    lex_line_end(L);
    if (L->p >= L->end) {
        diag_error(L->diag, here, "the file ends after '\\' [syntax]");
        lex_emit(L, TK_ERROR);
    }
    return true;
}

/* ---- indentation ----------------------------------------------------------------------------- */

typedef struct {
    int col; /* tabs reach to the next multiple of 8 */
    int alt; /* tabs count as 1; both must order lines alike, else tabs and blanks are mixed */
} Margin;

/* Measure blanks at the start of a line.  Of lines joined by backslashes the first one counts. */
static Margin measure(Lexer *L)
{
    Margin m = {0, 0}, first = {0, 0};
    bool joined = false;

    for (; L->p < L->end; L->p++) {
        if (*L->p == ' ') {
            m.col++;
            m.alt++;
        } else if (*L->p == '\t') {
            m.col = (m.col / TAB_COLUMNS + 1) * TAB_COLUMNS;
            m.alt++;
        } else if (*L->p == '\f') {
            m = (Margin){0, 0};
        } else if (joined_line(L)) {
            if (!joined)
                first = m;
            joined = true;
            m = (Margin){0, 0};
            L->p--;
        } else {
            break;
        }
    }
    return joined ? first : m;
}

static void indent_error(Lexer *L, const char *text)
{
    Span at = lex_span(L);
    at.col = 1;
    at.end_col = MAX(at.end_col, 2);
    diag_error(L->diag, at, "%s [indent]", text);
}

static void indent_to(Lexer *L, Margin m)
{
    int top = L->nindent - 1;

    lex_mark(L);
    L->start_col = 1;
    if (m.col > L->indent[top]) {
        if (m.alt <= L->indent_alt[top])
            indent_error(L, "tabs and blanks are mixed in the indentation");
        if (L->nindent == INDENT_MOST) {
            diag_error(L->diag, lex_span(L), "more than %d levels of indentation [too-deep]",
                       INDENT_MOST - 1);
            L->p = L->end;
            return;
        }
        L->indent[L->nindent] = m.col;
        L->indent_alt[L->nindent++] = m.alt;
        lex_emit(L, TK_INDENT);
        return;
    }
    while (m.col < L->indent[L->nindent - 1]) {
        L->nindent--;
        lex_emit(L, TK_DEDENT);
    }
    top = L->nindent - 1;
    if (m.col != L->indent[top])
        indent_error(L, "this line is indented less than the last, but like none before it");
    else if (m.alt != L->indent_alt[top])
        indent_error(L, "tabs and blanks are mixed in the indentation");
}

/* At the start of a logical line: pass over empty lines, then indent or dedent. */
static void begin_line(Lexer *L)
{
    for (;;) {
        Margin m = measure(L);
        if (L->p < L->end && *L->p == '#')
            skip_comment(L);
        if (L->p >= L->end)
            return;
        if (!at_line_end(L)) {
            indent_to(L, m);
            return;
        }
        lex_line_end(L);
    }
}

/* ---- brackets -------------------------------------------------------------------------------- */

void lex_open(Lexer *L, Open o)
{
    o.span = lex_span(L);
    vec_push(L->arena, &L->open, o);
}

/* Report what was never closed, unless an error inside explains it, and forget it all. */
static void close_all(Lexer *L)
{
    const Open *o = &vec_last(&L->open);
    if (o->what == 'f' || o->what == ':')
        diag_error(L->diag, o->span, "this f-string is never closed [unterminated-string]");
    else if (!o->quiet)
        diag_error(L->diag, o->span, "'%c' is never closed [syntax]", o->what);
    L->open.n = 0;
    lex_emit(L, TK_ERROR);
}

/* A string ran into the end of its line: whatever was opened on this line is likely inside it,
 * and f-strings around it end too. */
void lex_drop_line(Lexer *L)
{
    int n = L->open.n;
    for (int i = 0; i < L->open.n; i++)
        if (L->open.at[i].what == 'f') {
            n = i;
            break;
        }
    while (n > 0 && L->open.at[n - 1].span.line == L->start_line)
        n--;
    L->open.n = n;
    if (n > 0)
        L->open.at[n - 1].quiet = true;
}

static void close_bracket(Lexer *L, char c)
{
    char want = c == ')' ? '(' : c == ']' ? '[' : '{';

    if (L->open.n == 0) {
        diag_error(L->diag, lex_span(L), "'%c' closes nothing [syntax]", c);
        lex_emit(L, TK_ERROR);
        return;
    }
    Open o = vec_last(&L->open);
    L->open.n--;
    if (o.what == want)
        return;
    if (!o.quiet) {
        diag_error(L->diag, lex_span(L), "'%c' does not close '%c' [syntax]", c, o.what);
        diag_note(L->diag, o.span, "'%c' was opened here", o.what);
    }
    lex_emit(L, TK_ERROR);
}

/* ---- names and numbers ----------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool name_begins(char c)
{
    unsigned char u = (unsigned char)c;
    return (unsigned)((u | 32) - 'a') < 26 || u == '_' || u >= 0x80;
}

static bool name_goes_on(char c)
{
    return name_begins(c) || is_digit(c);
}

static TokenKind keyword(const Lexer *L, const char *s, size_t n)
{
    if ((unsigned char)*s >= 0x80)
        return TK_NAME;
    for (int k = L->first_keyword[(int)*s]; k <= TK_YIELD && token_texts[k][0] == *s; k++)
        if (strlen(token_texts[k]) == n && memcmp(token_texts[k], s, n) == 0)
            return (TokenKind)k;
    return TK_NAME;
}

/* One character of UTF-8 at s, fewer than n bytes; its length at *used, or -1 if it is none. */
static int32_t utf8_at(const char *s, size_t n, int *used)
{
    const unsigned char *u = (const unsigned char *)s;
    int more = u[0] < 0x80 ? 0 : u[0] < 0xC2 ? -1 : u[0] < 0xE0 ? 1 : u[0] < 0xF0 ? 2
             : u[0] < 0xF5 ? 3 : -1;
    *used = 1;
    if (more < 0 || (size_t)more >= n)
        return -1;
    int32_t c = more ? u[0] & (0x3F >> more) : u[0];
    for (int i = 1; i <= more; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return -1;
        c = c << 6 | (u[i] & 0x3F);
    }
    *used = more + 1;
    return c;
}

/* Characters that look like blanks, quotes and operators and get into files by paste; every other
 * character past ASCII may stand in a name. */
static bool never_in_names(int32_t c)
{
    static const struct {
        int32_t low, high;
    } range[] = {
        {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},     {0xBB, 0xBF},
        {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2000, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x2070},
        {0x20A0, 0x20CF}, {0x2190, 0x2BFF}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xFEFF, 0xFF0F},
        {0xFF1A, 0xFF20}, {0xFFFD, 0xFFFD}, {0x1F300, 0x1FAFF},
    };
    for (int i = 0; i < COUNT(range); i++)
        if (c >= range[i].low && c <= range[i].high)
            return true;
    return false;
}

static bool check_name(Lexer *L, const char *s, size_t n)
{
    int used;

    for (size_t i = 0; i < n; i += (size_t)used) {
        int32_t c = utf8_at(s + i, n - i, &used);
        if (c >= 0 && !never_in_names(c))
            continue;
        Span at = lex_span(L);
        at.col += (int32_t)i;
        at.end_col = at.col + used;
        if (c < 0)
            diag_error(L->diag, at, "this byte is not UTF-8 text [bad-character]");
        else
            diag_error(L->diag, at, "the character U+%04X cannot stand here%s [bad-character]",
                       (unsigned)c, c >= 0x2018 && c <= 0x201F ? "; type plain quotes" : "");
        return false;
    }
    return true;
}

static void name_or_string(Lexer *L)
{
    const char *s = L->p;
    bool ascii = true;

    for (; L->p < L->end && name_goes_on(*L->p); L->p++)
        ascii &= (unsigned char)*L->p < 0x80;
    size_t n = (size_t)(L->p - s);
    if (n <= 2 && L->p < L->end && (*L->p == '"' || *L->p == '\'') && lex_prefixed(L, s, n))
        return;
    if (!ascii && !check_name(L, s, n)) {
        lex_emit(L, TK_ERROR);
        return;
    }
    TokenKind k = keyword(L, s, n);
    if (L->open.n && only_begins[k] && vec_last(&L->out).span.end_line < L->line) {
        close_all(L);
        lex_emit(L, TK_NEWLINE);
        L->p = L->line_start;
        begin_line(L);
        return;
    }
    Token *t = lex_emit(L, k);
    if (k == TK_NAME)
        t->text = name_intern(L->names, s, n);
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Digits of a base, single '_' between them.  False when there is none or a '_' is astray. */
static bool digits(Lexer *L, int base)
{
    bool any = false;

    for (; L->p < L->end; L->p++) {
        char c = *L->p;
        if (digit_value(c) < base)
            any = true;
        else if (c == '_' && (any || base != 10) && L->p + 1 < L->end && L->p[1] != '_')
            any = false;
        else
            break;
    }
    return any;
}

static bool exponent_follows(const Lexer *L)
{
    const char *p = L->p;
    if (p >= L->end || (*p | 32) != 'e')
        return false;
    p++;
    if (p < L->end && (*p == '+' || *p == '-'))
        p++;
    return p < L->end && is_digit(*p);
}

/* A keyword may follow a number without a blank, as in "1if x else 2". */
static bool glued_keyword(const Lexer *L)
{
    static const char *const word[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    for (int i = 0; i < COUNT(word); i++) {
        size_t n = strlen(word[i]);
        if ((size_t)(L->end - L->p) >= n && memcmp(L->p, word[i], n) == 0)
            return true;
    }
    return false;
}

/* What is wrong with the number that was read, or NULL. */
static const char *number_fault(Lexer *L, bool good, TokenKind kind, int base)
{
    if (L->p < L->end && name_goes_on(*L->p) && !(good && glued_keyword(L))) {
        while (L->p < L->end && name_goes_on(*L->p))
            L->p++;
        return base == 10 ? "this is not a number [bad-number]"
                          : "this is not a number in that base [bad-number]";
    }
    if (!good)
        return "digits are missing in this number [bad-number]";
    if (kind == TK_INT && base == 10 && *L->start == '0')
        for (const char *p = L->start; p < L->p; p++)
            if (*p != '0' && *p != '_')
                return "a whole number cannot start with 0; octal is written 0o17 [bad-number]";
    return NULL;
}

static void number(Lexer *L)
{
    TokenKind kind = TK_INT;
    bool good = true;
    int base = 10;

    char mark = *L->p == '0' && L->p + 1 < L->end ? (char)(L->p[1] | 32) : 0;
    if (mark == 'x' || mark == 'o' || mark == 'b') {
        base = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
        L->p += 2;
        good = digits(L, base);
    } else {
        if (*L->p != '.')
            good = digits(L, 10);
        if (good && L->p < L->end && *L->p == '.') {
            kind = TK_FLOAT;
            L->p++;
            if (L->p < L->end && (is_digit(*L->p) || *L->p == '_'))
                good = digits(L, 10);
        }
        if (good && exponent_follows(L)) {
            kind = TK_FLOAT;
            L->p += is_digit(L->p[1]) ? 1 : 2;
            good = digits(L, 10);
        }
        if (good && L->p < L->end && (*L->p | 32) == 'j') {
            kind = TK_IMAGINARY;
            L->p++;
        }
    }
    const char *fault = number_fault(L, good, kind, base);
    if (fault) {
        diag_error(L->diag, lex_span(L), "%s", fault);
        kind = TK_ERROR;
    }
    lex_emit(L, kind);
}

/* ---- operators ------------------------------------------------------------------------------- */

static TokenKind operator_at(const Lexer *L)
{
    const char *p = L->p;
    size_t left = (size_t)(L->end - p);

    if ((unsigned char)*p >= 0x80)
        return TK_ERROR;
    for (int k = L->first_operator[(int)*p]; k <= LAST_OPERATOR; k++) {
        size_t n = strlen(token_texts[k]);
        if (token_texts[k][0] == *p && n <= left && memcmp(token_texts[k], p, n) == 0)
            return (TokenKind)k;
    }
    return TK_ERROR;
}

static void bad_character(Lexer *L)
{
    unsigned char c = (unsigned char)*L->p++;
    Span at = lex_span(L);

    if (c == '!')
        diag_error(L->diag, at, "'!' is no operator; 'not' negates [bad-character]");
    else if (c == '\\')
        diag_error(L->diag, at, "'\\' must be the last character of its line [bad-character]");
    else if (c > ' ' && c < 0x7F)
        diag_error(L->diag, at, "the character '%c' has no meaning here [bad-character]", c);
    else
        diag_error(L->diag, at, "the byte 0x%02X cannot stand in a program [bad-character]", c);
    lex_emit(L, TK_ERROR);
}

/* ':' and '!' of a replacement field, at its own bracket level. */
static bool field_mark(Lexer *L)
{
    if (!L->open.n || !vec_last(&L->open).field)
        return false;
    if (*L->p == ':') {
        Open o = vec_last(&L->open);
        L->p++;
        lex_emit(L, TK_COLON);
        lex_open(L, (Open){.what = ':', .quote = o.quote, .triple = o.triple, .raw = o.raw});
        return true;
    }
    if (*L->p == '!' && !(L->p + 1 < L->end && L->p[1] == '=')) {
        L->p++;
        lex_emit(L, TK_BANG);
        return true;
    }
    return false;
}

static void operator(Lexer *L)
{
    if (field_mark(L))
        return;
    TokenKind k = operator_at(L);
    if (k == TK_ERROR) {
        bad_character(L);
        return;
    }
    L->p += strlen(token_texts[k]);
    if (k == TK_LPAREN || k == TK_LBRACKET || k == TK_LBRACE)
        lex_open(L, (Open){.what = *L->start});
    else if (k == TK_RPAREN || k == TK_RBRACKET || k == TK_RBRACE)
        close_bracket(L, *L->start);
    lex_emit(L, k);
}

/* The end of a line is shown right behind its last token, not behind a comment. */
static void newline(Lexer *L)
{
    Token *t = lex_emit(L, TK_NEWLINE);
    if (L->out.n > 1) {
        Span last = t[-1].span;
        t->span.line = t->span.end_line = last.end_line;
        t->span.col = last.end_col;
        t->span.end_col = last.end_col + 1;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void skip_blanks(Lexer *L)
{
    while (L->p < L->end) {
        char c = *L->p;
        if (c == ' ' || c == '\t' || c == '\f')
            L->p++;
        else if (c == '#')
            skip_comment(L);
        else if ((c == '\n' || c == '\r') && (L->open.n || L->one_expression))
            lex_line_end(L);
        else if (c != '\\' || !joined_line(L))
            return;
    }
}

static void token(Lexer *L)
{
    skip_blanks(L);
    lex_mark(L);
    if (L->p >= L->end)
        return;
    char c = *L->p;
    if (c == '\n' || c == '\r') {
        newline(L);
        lex_line_end(L);
        begin_line(L);
    } else if (name_begins(c)) {
        name_or_string(L);
    } else if (is_digit(c) || (c == '.' && L->p + 1 < L->end && is_digit(L->p[1]))) {
        number(L);
    } else if (c == '"' || c == '\'') {
        lex_prefixed(L, L->p, 0);
    } else {
        operator(L);
    }
}

static void finish(Lexer *L)
{
    lex_mark(L);
    if (L->open.n)
        close_all(L);
    TokenKind last = L->out.n ? vec_last(&L->out).kind : TK_NEWLINE;
    if (last != TK_NEWLINE && last != TK_INDENT && last != TK_DEDENT)
        newline(L);
    while (L->nindent > 1) {
        L->nindent--;
        lex_emit(L, TK_DEDENT);
    }
    lex_emit(L, TK_EOF);
}

static void index_tables(Lexer *L)
{
    for (int c = 0; c < COUNT(L->first_operator); c++) {
        L->first_operator[c] = LAST_OPERATOR + 1;
        L->first_keyword[c] = TK_YIELD + 1;
    }
    for (int k = LAST_OPERATOR; k >= FIRST_OPERATOR; k--)
        L->first_operator[(int)token_texts[k][0]] = (uint8_t)k;
    for (int k = TK_YIELD; k >= TK_AND; k--)
        L->first_keyword[(int)token_texts[k][0]] = (uint8_t)k;
}

static Token *run(Lexer *L, int *ntok)
{
    L->indent[0] = L->indent_alt[0] = 0;
    L->nindent = 1;
    L->line = 1;
    L->p = L->line_start = L->src->text;
    L->end = L->p + L->src->len;
    index_tables(L);
    lex_mark(L);
    if (L->src->len > SOURCE_MOST) {
        diag_error(L->diag, lex_span(L), "the file is too long [syntax]");
        L->p = L->end;
    }
    if (L->src->len >= 3 && memcmp(L->p, "\xEF\xBB\xBF", 3) == 0)
        L->p += 3;
    if (!L->one_expression)
        begin_line(L);
    while (L->p < L->end && L->diag->nerror < DIAG_MOST_ERRORS) {
        if (L->open.n && (vec_last(&L->open).what == 'f' || vec_last(&L->open).what == ':'))
            lex_text(L);
        else
            token(L);
    }
    finish(L);
    *ntok = L->out.n;
    return L->out.at;
}

Token *lex(Arena *a, Names *names, Diag *d, const Source *src, int *ntok)
{
    Lexer L = {.arena = a, .names = names, .diag = d, .src = src};
    return run(&L, ntok);
}

Token *lex_expression(Arena *a, Names *names, Diag *d, const Source *src, int *ntok)
{
    Lexer L = {.arena = a, .names = names, .diag = d, .src = src, .one_expression = true};
    return run(&L, ntok);
}
