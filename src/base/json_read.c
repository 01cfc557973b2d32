/* json_read.c -- a JSON reader: a whole text into a tree in an arena. */
#include <stdlib.h>
#include "base/base.h"

enum { LEVELS_MOST = 64 };

typedef struct {
    Arena *arena;
    const char *p, *end;
    const char *why;
    int depth;
} Reader;

static void skip_blanks(Reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
        r->p++;
}

static bool fail(Reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static bool take(Reader *r, char c)
{
    skip_blanks(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool read_hex(Reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->p++) {
        const char *digits = "0123456789abcdef", *at;
        char c = r->p < r->end ? *r->p : 0;
        c = c >= 'A' && c <= 'F' ? (char)(c + 32) : c;
        if (!c || !(at = strchr(digits, c)))
            return fail(r, "\\u wants four hexadecimal digits");
        *code = *code << 4 | (uint32_t)(at - digits);
    }
    return true;
}

/* After the backslash.  Half a pair of surrogates is no character. */
static bool read_escape(Reader *r, Str *out)
{
    static const char letter[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    uint32_t code, low;
    char c = r->p < r->end ? *r->p++ : 0;
    const char *at = c ? strchr(letter, c) : NULL;

    if (at) {
        str_putc(out, meant[at - letter]);
        return true;
    }
    if (c != 'u' || !read_hex(r, &code))
        return fail(r, "no such escape");
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->p > 1 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        if (!read_hex(r, &low))
            return false;
        bool pair = low >= 0xdc00 && low < 0xe000;
        code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    }
    str_utf8(out, code == 0 || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code);
    return true;
}

static bool read_text(Reader *r, const char **text, size_t *n)
{
    Str out;

    if (!take(r, '"'))
        return fail(r, "a text is missing");
    str_init(&out, r->arena);
    while (r->p < r->end && *r->p != '"') {
        if (*r->p != '\\')
            str_putc(&out, *r->p++);
        else if (r->p++, !read_escape(r, &out))
            return false;
    }
    if (r->p == r->end)
        return fail(r, "a text has no end");
    r->p++;
    *text = out.s;
    *n = out.n;
    return true;
}

static bool read_value(Reader *r, JsonValue *v);

static bool read_member(Reader *r, JsonValue *kid, bool named)
{
    size_t n;

    if (named && (!read_text(r, &kid->key, &n) || !take(r, ':')))
        return fail(r, "':' is missing");
    return read_value(r, kid);
}

static bool read_members(Reader *r, JsonValue *v, char close)
{
    JsonValue **last = &v->first;

    if (take(r, close))
        return true;
    do {
        JsonValue *kid = NEW(r->arena, JsonValue);
        if (!read_member(r, kid, close == '}'))
            return false;
        *last = kid;
        last = &kid->next;
    } while (take(r, ','));
    return take(r, close) || fail(r, "',' or a closing bracket is missing");
}

static bool read_word(Reader *r, JsonValue *v)
{
    static const struct { const char *text; JsonKind kind; bool b; } words[] = {
        {"null", JSON_NULL, false}, {"true", JSON_BOOL, true}, {"false", JSON_BOOL, false}};

    for (int i = 0; i < COUNT(words); i++) {
        size_t n = strlen(words[i].text);
        if ((size_t)(r->end - r->p) >= n && !memcmp(r->p, words[i].text, n)) {
            v->kind = words[i].kind;
            v->b = words[i].b;
            r->p += n;
            return true;
        }
    }
    return fail(r, "no value");
}

static bool read_number(Reader *r, JsonValue *v)
{
    char digits[64], *stop;
    size_t n = 0;

    while (r->p < r->end && n < sizeof digits - 1 && *r->p && strchr("+-.eE0123456789", *r->p))
        digits[n++] = *r->p++;
    digits[n] = 0;
    v->kind = JSON_NUMBER;
    v->number = strtod(digits, &stop);
    return (n && !*stop) || fail(r, "no number");
}

static bool read_value(Reader *r, JsonValue *v)
{
    bool ok;

    skip_blanks(r);
    if (r->p == r->end)
        return fail(r, "a value is missing");
    switch (*r->p) {
    case '{':
    case '[':
        v->kind = *r->p == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++r->depth > LEVELS_MOST)
            return fail(r, "nested too deep");
        ok = read_members(r, v, *r->p++ == '{' ? '}' : ']');
        r->depth--;
        return ok;
    case '"':
        v->kind = JSON_TEXT;
        return read_text(r, &v->text, &v->len);
    default:
        return (*r->p == '-' || (*r->p >= '0' && *r->p <= '9') ? read_number : read_word)(r, v);
    }
}

const JsonValue *json_read(Arena *a, const char *text, size_t n, const char **why)
{
    Reader r = {.arena = a, .p = text, .end = text + n};
    JsonValue *v = NEW(a, JsonValue);
    bool ok = read_value(&r, v);

    skip_blanks(&r);
    if (ok && r.p != r.end)
        ok = fail(&r, "something follows the value");
    if (!ok && why)
        *why = arena_printf(a, "byte %lld: %s", (long long)(r.p - text), r.why);
    return ok ? v : NULL;
}

const JsonValue *json_get(const JsonValue *v, const char *path)
{
    while (v && *path) {
        size_t n = strcspn(path, ".");
        v = v->kind == JSON_OBJECT ? v->first : NULL;
        while (v && (strlen(v->key) != n || memcmp(v->key, path, n)))
            v = v->next;
        path += n + (path[n] == '.');
    }
    return v;
}

const char *json_get_text(const JsonValue *v, const char *path, const char *otherwise)
{
    v = json_get(v, path);
    return v && v->kind == JSON_TEXT ? v->text : otherwise;
}

int64_t json_get_int(const JsonValue *v, const char *path, int64_t otherwise)
{
    v = json_get(v, path);
    return v && v->kind == JSON_NUMBER && v->number > -9e15 && v->number < 9e15
               ? (int64_t)v->number : otherwise;
}

void json_copy(Json *j, const char *key, const JsonValue *v)
{
    int64_t whole = json_get_int(v, "", INT64_MIN);

    switch (v->kind) {
    case JSON_NULL: json_string(j, key, NULL); break;
    case JSON_BOOL: json_bool(j, key, v->b); break;
    case JSON_TEXT: json_string(j, key, v->text); break;
    case JSON_NUMBER:
        (double)whole == v->number ? json_int(j, key, whole) : json_double(j, key, v->number);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        v->kind == JSON_ARRAY ? json_array(j, key) : json_object(j, key);
        for (const JsonValue *k = v->first; k; k = k->next)
            json_copy(j, k->key, k);
        json_end(j, v->kind == JSON_ARRAY ? ']' : '}');
    }
}
