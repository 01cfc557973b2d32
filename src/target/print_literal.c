/* print_literal.c -- numbers and texts that read back as the same, and forms. */
#include "target/print.h"

void emit_form(Emit *e, const char *form, const char *type, const char *name)
{
    for (const char *p = form; *p; p++)
        if (*p != '$')
            str_putc(e->out, *p);
        else
            str_puts(e->out, *++p == 't' ? type : name);
}

void emit_int_literal(Str *out, DType t, int64_t v)
{
    if (t == DT_I64)
        v == INT64_MIN ? str_puts(out, "(-9223372036854775807LL - 1)")
                       : str_printf(out, "%lldLL", (long long)v);
    else if (t == DT_U64)
        str_printf(out, "%lluULL", (unsigned long long)v);
    else if (t == DT_U32)
        str_printf(out, "%lluu", (unsigned long long)(uint32_t)v);
    else if (v == INT32_MIN)
        str_puts(out, "(-2147483647 - 1)");
    else
        str_printf(out, "%lld", (long long)v);
}

/* The fewest digits that read back as the same number of the type; below: not above it, for a
 * language that takes no number past the largest one, however near. */
static void decimal_text(DType t, double v, bool below, char *text, size_t n)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, n, "%.*g", digits, v);
        char *comma = strchr(text, ',');
        if (comma)
            *comma = '.';
        double back = num_parse(text[0] == '-' ? text + 1 : text, strlen(text) - (text[0] == '-'));
        back = text[0] == '-' ? -back : back;
        bool past = below && (back < 0 ? -back : back) > (v < 0 ? -v : v);
        if (!past && (t == DT_F64 ? back == v : (float)back == (float)v))
            break;
    }
    if (!strpbrk(text, ".e"))
        snprintf(text + strlen(text), n - strlen(text), ".0");
}

void emit_float_literal(Emit *e, DType t, double v)
{
    const Dialect *say = e->say;
    Str *out = e->out;

    if (v != v)
        str_puts(out, t == DT_F64 ? say->nan_f64 : say->nan_f32);
    else if (v > 1.79e308 || v < -1.79e308)
        str_printf(out, "(%s%s)", v < 0 ? "-" : "", t == DT_F64 ? say->inf_f64 : say->inf_f32);
    else {
        char text[64];
        bool largest = t != DT_F64 && (v < 0 ? -v : v) > 3.4e38;
        decimal_text(t, v, say->strict && largest, text, sizeof text);
        bool neg = text[0] == '-';
        str_printf(out, neg ? "(%s%s)" : "%s%s", text, say->float_end[t == DT_F64]);
    }
}

void emit_quoted(Str *out, const char *text)
{
    str_putc(out, '"');
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            str_printf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            str_printf(out, "\\%03o", c);
        else
            str_putc(out, (char)c);
    }
    str_putc(out, '"');
}

void emit_assert_text(Emit *e, const Stmt *s)
{
    const char *why = s->u.check.text ? s->u.check.text : "";
    Str text;

    str_init(&text, e->arena);
    if (s->span.src)
        str_printf(&text, "%s:%d: ", s->span.src->name, s->span.line);
    str_printf(&text, "assertion failed%s%s", *why ? ": " : "", why);
    emit_quoted(e->out, text.s);
}
