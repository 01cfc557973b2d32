/* diag.c -- messages with carets and notes; recovery frames; the one longjmp.
 *
 *     gemm.py:7:9: error: 'acc' cannot take two layouts [layout-conflict]
 *         7 |         T.copy(acc, C_s)
 *           |         ^~~~~~~~~~~~~~~~
 *
 * A span counts bytes; what is shown counts display columns: tabs go to the next multiple of 8,
 * East Asian characters take two, combining marks none.  Both the number in the first line and the
 * caret are made by the same function, so they cannot disagree. */
#include <stdlib.h>
#include "base/base.h"

/* ---- recovery ----------------------------------------------------------------------------- */

static _Thread_local Recover *recover_top;

void recover_push(Recover *r)
{
    r->outer = recover_top;
    r->status = STATUS_OK;
    r->text[0] = 0;
    recover_top = r;
}

void recover_close(Recover *r)
{
    BUG(recover_top != r, "recovery frames are closed out of order");
    recover_top = r->outer;
}

NORETURN static void recover_jump(Status s, const char *where, const char *fmt, va_list ap)
{
    Recover *r = recover_top;
    char orphan[sizeof r->text];
    char *text = r ? r->text : orphan;
    int n = snprintf(text, sizeof orphan, "%s", where);
    if (n >= 0 && n < (int)sizeof orphan)
        vsnprintf(text + n, sizeof orphan - (size_t)n, fmt, ap);
    if (!r) {
        fprintf(stderr, "tilelang: outside of any entry: %s\n", text);
        abort();
    }
    r->status = s;
    recover_top = r->outer;
    longjmp(r->jump, 1);
}

void recover_throw(Status s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    recover_jump(s, "", fmt, ap);
}

void bug_at(const char *file, int line, const char *fmt, ...)
{
    char where[128];
    snprintf(where, sizeof where, "%s:%d: ", file, line);
    va_list ap;
    va_start(ap, fmt);
    recover_jump(STATUS_BUG, where, fmt, ap);
}

/* ---- collecting ---------------------------------------------------------------------------- */

void diag_init(Diag *d, Arena *a)
{
    *d = (Diag){.arena = a};
}

Span span_join(Span a, Span b)
{
    if (!a.src)
        return b;
    if (b.src != a.src)
        return a;
    a.end_line = b.end_line;
    a.end_col = b.end_col;
    return a;
}

/* Cut " [tag]" off the end of text.  NULL when there is none. */
static const char *tag_cut(char *text)
{
    size_t n = strlen(text);
    if (n < 4 || text[n - 1] != ']')
        return NULL;
    char *open = strrchr(text, '[');
    if (open < text + 1 || open[-1] != ' ')
        return NULL;
    size_t len = (size_t)(text + n - 1 - (open + 1));
    if (len == 0 || strspn(open + 1, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
        return NULL;
    text[n - 1] = 0;
    open[-1] = 0;
    return open + 1;
}

static bool span_equal(Span a, Span b)
{
    return a.src == b.src && a.line == b.line && a.col == b.col && a.end_line == b.end_line &&
           a.end_col == b.end_col;
}

/* An unrolled loop or an inlined macro would say the same thing once per copy. */
static bool message_known(const Diag *d, const Message *m)
{
    for (int i = 0; i < d->list.n; i++) {
        const Message *old = &d->list.at[i];
        if (old->kind == m->kind && span_equal(old->span, m->span) &&
            strcmp(old->text, m->text) == 0)
            return true;
    }
    return false;
}

static void message_add(Diag *d, DiagKind kind, Span at, const char *fmt, va_list ap)
{
    char *text = arena_vprintf(d->arena, fmt, ap);
    const char *tag = kind == DIAG_NOTE ? NULL : tag_cut(text);
    BUG(kind != DIAG_NOTE && !tag, "message without a tag: %s", text);
    if (kind == DIAG_WARNING && d->werror)
        kind = DIAG_ERROR;
    Message m = {kind, at, text, tag};
    if (kind != DIAG_NOTE)
        d->muted = message_known(d, &m);
    if (d->muted)
        return;
    vec_push(d->arena, &d->list, m);
    d->nerror += kind == DIAG_ERROR;
    d->nwarning += kind == DIAG_WARNING;
}

static void errors_limit(Diag *d)
{
    if (d->nerror < DIAG_MOST_ERRORS)
        return;
    diag_note(d, NO_SPAN, "stopped after %d errors", d->nerror);
    diag_throw(d);
}

void diag_error(Diag *d, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_add(d, DIAG_ERROR, at, fmt, ap);
    va_end(ap);
    errors_limit(d);
}

void diag_warn(Diag *d, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_add(d, DIAG_WARNING, at, fmt, ap);
    va_end(ap);
    errors_limit(d);
}

static bool ignored_known(const Diag *d, const char *start)
{
    for (int i = 0; i < d->list.n; i++) {
        const Message *m = &d->list.at[i];
        if (m->tag && !strcmp(m->tag, "ignored") && !strncmp(m->text, start, strlen(start)))
            return true;
    }
    return false;
}

void diag_ignored(Diag *d, Span at, const char *what, const char *fmt, ...)
{
    const char *start = arena_printf(d->arena, "%s is ignored: ", what);
    va_list ap;
    va_start(ap, fmt);
    const char *instead = arena_vprintf(d->arena, fmt, ap);
    va_end(ap);
    size_t n = strlen(instead);
    if (!ignored_known(d, start))
        diag_warn(d, at, "%s%s%s", start, instead, n && instead[n - 1] == ']' ? "" : " [ignored]");
}

void diag_note(Diag *d, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_add(d, DIAG_NOTE, at, fmt, ap);
    va_end(ap);
}

void diag_fail(Diag *d, Span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_add(d, DIAG_ERROR, at, fmt, ap);
    va_end(ap);
    diag_throw(d);
}

void diag_throw(Diag *d)
{
    BUG(d->nerror == 0, "giving up with nothing reported");
    recover_throw(STATUS_USER, "%s", "");
}

/* ---- showing --------------------------------------------------------------------------------- */

enum { TAB = 8, COLUMNS_MOST = 240, COLUMNS_BEFORE = 60 };

typedef struct {
    uint32_t first, last;
} Range;

static const Range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static const Range combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f},
};

static bool in_ranges(uint32_t c, const Range *r, int n)
{
    for (int i = 0; i < n; i++) {
        if (c >= r[i].first && c <= r[i].last)
            return true;
    }
    return false;
}

typedef struct {
    const char *s;
    size_t n;
} Line;

/* `from` (or NULL): a line of before, and then this one: whoever asks in order passes over each
 * once. */
static Line source_line(const Source *src, int32_t line, LineAt *from)
{
    bool on = from && from->src == src && from->line <= line;
    const char *p = on ? from->at : src->text, *end = src->text + src->len;
    for (int32_t i = on ? from->line : 1; i < line; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return (Line){0};
        p++;
    }
    if (from)
        *from = (LineAt){src, line, p};
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop)
        stop = end;
    if (stop > p && stop[-1] == '\r')
        stop--;
    return (Line){p, (size_t)(stop - p)};
}

bool span_holds(Span a, Span b)
{
    bool same = a.src && b.src && (a.src == b.src || !strcmp(a.src->name, b.src->name));
    bool after = b.line > a.line || (b.line == a.line && b.col >= a.col);
    bool before = b.line < a.end_line || (b.line == a.end_line && b.col < a.end_col);

    return same && after && before;
}

const char *span_place(Arena *a, Span at)
{
    const char *slash = strrchr(at.src->name, '/');
    char *text = arena_printf(a, "%s:%d", slash ? slash + 1 : at.src->name, (int)at.line);

    for (char *p = text; *p; p++)
        *p = *p > ' ' && *p < 127 ? *p : '?';
    return text;
}

/* The end of a string or comment that starts at p, p itself where none does. */
static const char *skip_quoted(const char *p, const char *end)
{
    char quote = *p;

    if (quote == '#') {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        return stop ? stop : end;
    }
    if (quote != '"' && quote != '\'')
        return p;
    for (p++; p < end && *p != quote; p++)
        p += *p == '\\' && p + 1 < end;
    return MIN(p + 1, end);
}

/* A character or string.  Blanks and line ends become one blank, none inside of a bracket. */
static void put_squeezed(Str *out, const char *p, const char *stop, bool *blank)
{
    if ((unsigned char)*p <= ' ' || *p == '\\') {
        *blank = out->n && !strchr("([{", out->s[out->n - 1]);
        return;
    }
    if (*blank && !strchr(")]}", *p))
        str_putc(out, ' ');
    *blank = false;
    for (; p < stop; p++)
        str_putc(out, *p >= ' ' && *p < 127 ? *p : '?');
}

const char *span_text(Arena *a, Span at, int most, LineAt *from)
{
    Str out;
    int depth = 0;
    bool blank = false;
    Line first = at.src && at.src->text ? source_line(at.src, at.line, from) : (Line){0};
    Line last = first.s ? source_line(at.src, at.end_line, from) : first;

    if (!last.s || at.col < 1 || (size_t)at.col > first.n || (size_t)at.end_col > last.n + 1)
        return NULL;
    str_init(&out, a);
    const char *p = first.s + at.col - 1, *end = last.s + at.end_col - 1;
    while (p < end && !(depth == 0 && (*p == ':' || *p == '\n'))) {
        const char *next = skip_quoted(p, end);
        depth += *p && strchr("([{", *p) ? 1 : *p && strchr(")]}", *p) ? -1 : 0;
        if (next == p)
            next = p + 1;
        if (*p != '#')
            put_squeezed(&out, p, next, &blank);
        p = next;
    }
    if (out.n > (size_t)most)
        memcpy(out.s + most - 3, "...", 4);
    return out.n ? out.s : NULL;
}

/* Walks the first nbytes of a line; answers the display columns they take.  With `out`, writes
 * what lies in columns [from, to); control characters and malformed bytes show as '?'. */
static int line_columns(Line l, size_t nbytes, Str *out, int from, int to)
{
    int column = 0;
    for (size_t i = 0; i < MIN(nbytes, l.n);) {
        uint32_t c = 0;
        int len = utf8_next(l.s + i, l.n - i, &c);
        bool shown = c >= ' ' && c != 0x7f && !(c >= 0x80 && c < 0xa0);
        int width = c == '\t'                                ? TAB - column % TAB
                    : in_ranges(c, wide, COUNT(wide))           ? 2
                    : in_ranges(c, combining, COUNT(combining)) ? 0
                                                                : 1;
        if (out && column >= from && column + width <= to) {
            if (c == '\t')
                str_indent(out, width);
            else
                str_putn(out, shown ? l.s + i : "?", shown ? (size_t)len : 1);
        }
        column += width;
        i += (size_t)len;
    }
    return column;
}

typedef struct {
    const char *name, *color;
} Kind;

static const Kind kinds[] = {
    [DIAG_ERROR] = {"error", "\033[1;31m"},
    [DIAG_WARNING] = {"warning", "\033[1;35m"},
    [DIAG_NOTE] = {"note", "\033[1;36m"},
};

#define PAINT(color, code) ((color) ? (code) : "")
#define PLAIN "\033[0m"
#define BOLD "\033[1m"

static void render_excerpt(Str *out, Span at, Line l, bool color, const char *paint)
{
    size_t first = (size_t)MAX(at.col, 1) - 1;
    size_t last = at.end_line > at.line ? l.n : (size_t)MAX(at.end_col, 1) - 1;
    int start = line_columns(l, first, NULL, 0, 0);
    int stop = MAX(line_columns(l, last, NULL, 0, 0), start + 1);
    int from = stop > COLUMNS_MOST ? MAX(start - COLUMNS_BEFORE, 0) : 0;
    int to = from + COLUMNS_MOST;

    str_printf(out, "%5d | ", (int)at.line);
    line_columns(l, l.n, out, from, to);
    while (out->s[out->n - 1] == ' ')
        out->s[--out->n] = 0;
    str_puts(out, "\n      | ");
    str_indent(out, start - from);
    str_printf(out, "%s^", PAINT(color, paint));
    for (int c = start + 1; c < MIN(stop, to); c++)
        str_putc(out, '~');
    str_printf(out, "%s\n", PAINT(color, PLAIN));
}

static void render_message(Str *out, const Message *m, bool color)
{
    const Kind *k = &kinds[m->kind];
    Line l = {0};
    if (m->span.src && m->span.line > 0) {
        const char *name = m->span.src->name ? m->span.src->name : "<string>";
        if (m->span.src->text)
            l = source_line(m->span.src, m->span.line, NULL);
        size_t before = (size_t)MAX(m->span.col, 1) - 1;
        int column = l.s ? line_columns(l, before, NULL, 0, 0) : (int)before;
        str_printf(out, "%s%s:%d:%d:%s ", PAINT(color, BOLD), name, (int)m->span.line, column + 1,
                   PAINT(color, PLAIN));
    }
    str_printf(out, "%s%s:%s %s", PAINT(color, k->color), k->name, PAINT(color, PLAIN), m->text);
    if (m->tag)
        str_printf(out, " [%s]", m->tag);
    str_putc(out, '\n');
    if (l.s)
        render_excerpt(out, m->span, l, color, k->color);
}

void diag_render(const Diag *d, Str *out, bool color)
{
    for (int i = 0; i < d->list.n; i++)
        render_message(out, &d->list.at[i], color);
}
