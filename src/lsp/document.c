/* document.c -- open texts, places in them, edits. */
#include <stdlib.h>
#include <unistd.h>
#include <signal.h>
#include <sys/wait.h>
#include "lsp/lsp.h"

Document *document_find(Server *s, const char *uri)
{
    for (Document *d = s->docs; d; d = d->next)
        if (!strcmp(d->uri, uri))
            return d;
    return NULL;
}

static void *must(void *p)
{
    if (!p)
        recover_throw(STATUS_MEM, "out of memory");
    return p;
}

Document *document_open(Server *s, const char *uri)
{
    Document *d = document_find(s, uri);

    if (d)
        return d;
    d = must(calloc(1, sizeof *d));
    d->uri = must(strdup(uri));
    d->text = must(strdup(""));
    d->arena = must(arena_new());
    d->next = s->docs;
    s->docs = d;
    return d;
}

void document_close(Server *s, Document *d)
{
    for (Document **p = &s->docs; *p; p = &(*p)->next)
        if (*p == d) {
            *p = d->next;
            break;
        }
    if (d->child > 0) {
        kill(d->child, SIGKILL);
        waitpid(d->child, NULL, 0);
        close(d->from);
    }
    arena_free(d->arena);
    free(d->uri);
    free(d->text);
    free(d->got);
    free(d);
}

/* Bytes 0 would end the text for those who read it. */
void document_set(Document *d, const char *text, size_t n)
{
    char *copy = must(malloc(n + 1));

    memcpy(copy, text, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = copy[i] ? copy[i] : '?';
    copy[n] = 0;
    free(d->text);
    d->text = copy;
    d->n = n;
}

Place place_read(const JsonValue *v)
{
    return (Place){json_get_int(v, "line", 0), json_get_int(v, "character", 0)};
}

void document_change(const Server *s, Document *d, const JsonValue *change)
{
    const JsonValue *text = json_get(change, "text"), *range = json_get(change, "range");
    Str out;

    if (!text || text->kind != JSON_TEXT)
        return;
    size_t from = 0, to = d->n;
    if (range) {
        from = place_offset(s, d, place_read(json_get(range, "start")));
        to = MAX(from, place_offset(s, d, place_read(json_get(range, "end"))));
    }
    str_init(&out, s->arena);
    str_putn(&out, d->text, from);
    str_putn(&out, text->text, text->len);
    str_putn(&out, d->text + to, d->n - to);
    document_set(d, out.s, out.n);
}

/* ---- places ---------------------------------------------------------------------------------- */

static const char *line_start(const char *text, size_t n, int64_t line)
{
    const char *p = text, *end = text + n;

    for (; line > 0; line--) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            return end;
        p = next + 1;
    }
    return p;
}

static int units_of(bool utf8, const char *p, size_t n, int *len)
{
    uint32_t code;

    *len = utf8_next(p, n, &code);
    return utf8 ? *len : code >= 0x10000 ? 2 : 1;
}

size_t place_offset(const Server *s, const Document *d, Place at)
{
    const char *end = d->text + d->n, *p = line_start(d->text, d->n, at.line);
    int len;

    for (int64_t col = 0; p < end && *p != '\n' && col < at.col; p += len)
        col += units_of(s->utf8, p, (size_t)(end - p), &len);
    return (size_t)(p - d->text);
}

Place place_of(bool utf8, const char *text, size_t n, int32_t line, int32_t col)
{
    const char *p = line_start(text, n, MAX(line, 1) - 1), *end = text + n;
    const char *stop = (end - p) < col - 1 ? end : p + MAX(col, 1) - 1;
    Place at = {MAX(line, 1) - 1, 0};
    int len;

    for (; p < stop && *p != '\n'; p += len)
        at.col += units_of(utf8, p, (size_t)(end - p), &len);
    return at;
}

void put_place(Json *j, const char *key, Place p)
{
    json_object(j, key);
    json_int(j, "line", p.line);
    json_int(j, "character", p.col);
    json_end(j, '}');
}

void put_range(Json *j, const char *key, bool utf8, const char *text, size_t n, Span at)
{
    json_object(j, key);
    put_place(j, "start", place_of(utf8, text, n, at.line, at.col));
    put_place(j, "end", place_of(utf8, text, n, at.end_line, at.end_col));
    json_end(j, '}');
}

/* ---- names of documents ---------------------------------------------------------------------- */

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *p;

    c = c >= 'A' && c <= 'F' ? (char)(c + 32) : c;
    p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

const char *uri_path(Arena *a, const char *uri)
{
    Str out;

    if (strncmp(uri, "file://", 7))
        return uri;
    uri += 7;
    uri += strcspn(uri, "/"); /* the host */
    str_init(&out, a);
    for (; *uri; uri++) {
        int high = *uri == '%' ? hex_digit(uri[1]) : -1, low = high >= 0 ? hex_digit(uri[2]) : -1;
        bool coded = low >= 0 && high * 16 + low > 0;
        str_putc(&out, coded ? (char)(high * 16 + low) : *uri);
        uri += coded ? 2 : 0;
    }
    return out.s;
}
