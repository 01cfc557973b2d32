/* json.c -- a JSON writer: indented, one value a line, always valid whatever text comes in. */
#include <math.h>
#include "base/base.h"

enum { STEP = 2 };

void json_open(Json *j, Str *out)
{
    *j = (Json){.out = out, .first = true};
}

/* The length of the well-formed UTF-8 character at s, 0 if it is not one. */
static int utf8_length(const unsigned char *s)
{
    int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : n;
}

static void put_quoted(Str *out, const char *text)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    str_putc(out, '"');
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const char *escape = strchr(plain, *s);
        int n = utf8_length(s);
        if (escape)
            str_printf(out, "\\%c", letter[escape - plain]);
        else if (*s < 0x20 || *s == 0x7f)
            str_printf(out, "\\u%04x", *s);
        else if (n)
            str_putn(out, (const char *)s, (size_t)n);
        else
            str_puts(out, "\\ufffd");
        s += MAX(n, 1);
    }
    str_putc(out, '"');
}

static void begin(Json *j, const char *key)
{
    if (j->depth) {
        str_puts(j->out, j->first ? "\n" : ",\n");
        str_indent(j->out, j->depth * STEP);
    }
    j->first = false;
    if (key) {
        put_quoted(j->out, key);
        str_puts(j->out, ": ");
    }
}

static void end_top(Json *j)
{
    if (j->depth == 0)
        str_putc(j->out, '\n');
}

static void open_level(Json *j, const char *key, char open)
{
    begin(j, key);
    str_putc(j->out, open);
    j->depth++;
    j->first = true;
}

void json_object(Json *j, const char *key)
{
    open_level(j, key, '{');
}

void json_array(Json *j, const char *key)
{
    open_level(j, key, '[');
}

void json_end(Json *j, char close)
{
    BUG(j->depth == 0, "JSON closes what it did not open");
    j->depth--;
    if (!j->first) {
        str_putc(j->out, '\n');
        str_indent(j->out, j->depth * STEP);
    }
    str_putc(j->out, close);
    j->first = false;
    end_top(j);
}

static void put_value(Json *j, const char *key, const char *text)
{
    begin(j, key);
    str_puts(j->out, text);
    end_top(j);
}

void json_string(Json *j, const char *key, const char *v)
{
    if (!v) {
        put_value(j, key, "null");
        return;
    }
    begin(j, key);
    put_quoted(j->out, v);
    end_top(j);
}

void json_int(Json *j, const char *key, int64_t v)
{
    begin(j, key);
    str_printf(j->out, "%lld", (long long)v);
    end_top(j);
}

void json_double(Json *j, const char *key, double v)
{
    if (!isfinite(v)) {
        put_value(j, key, "null");
        return;
    }
    begin(j, key);
    str_double(j->out, v);
    end_top(j);
}

void json_bool(Json *j, const char *key, bool v)
{
    put_value(j, key, v ? "true" : "false");
}
