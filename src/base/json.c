/* json.c -- a JSON writer: indented, one value a line, always valid whatever text comes in. */
#include <math.h>
#include "base/base.h"

enum { STEP = 2 };

void json_open(Json *j, Str *out)
{
    *j = (Json){.out = out, .first = true};
}

static void put_quoted(Str *out, const char *text)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    str_putc(out, '"');
    for (size_t n = strlen(text); n > 0;) {
        const char *escape = strchr(plain, *text);
        uint32_t c = 0;
        size_t len = (size_t)utf8_next(text, n, &c);
        if (escape)
            str_printf(out, "\\%c", letter[escape - plain]);
        else if (c == 0)
            str_puts(out, "\\ufffd");
        else if (c < 0x20 || c == 0x7f)
            str_printf(out, "\\u%04x", (unsigned)c);
        else
            str_putn(out, text, len);
        text += len;
        n -= len;
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
