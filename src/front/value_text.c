/* value_text.c -- values as text: repr, str, and the format language of f-strings. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "front/eval.h"

static void repr_str(Str *out, const char *s, size_t n)
{
    char quote = memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'';
    str_putc(out, quote);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '\n')
            str_puts(out, "\\n");
        else if (c == '\t')
            str_puts(out, "\\t");
        else if (c == '\\' || c == (unsigned char)quote)
            str_printf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            str_printf(out, "\\x%02x", c);
        else
            str_putc(out, (char)c);
    }
    str_putc(out, quote);
}

static void repr_float(Str *out, double f)
{
    size_t from = out->n;
    str_double(out, f);
    for (size_t i = from; i < out->n; i++)
        if (strchr(".eni", out->s[i]))
            return;
    str_puts(out, ".0");
}

static void repr_seq(Eval *ev, Str *out, const Value *v)
{
    const Seq *s = v->u.seq;
    static const char *const bracket[] = {[V_TUPLE] = "()", [V_LIST] = "[]", [V_DICT] = "{}",
                                          [V_SET] = "{}"};
    if (v->kind == V_SET && !s->n) {
        str_puts(out, "set()");
        return;
    }
    if (ev->nest > NEST_MOST - 100 || out->n > (1u << 20)) { /* a list may hold itself */
        str_puts(out, "...");
        return;
    }
    ev->nest += 20;
    str_putc(out, bracket[v->kind][0]);
    for (int i = 0; i < s->n; i++) {
        if (i)
            str_puts(out, v->kind == V_DICT && i % 2 ? ": " : ", ");
        value_repr(ev, out, &s->at[i], true);
    }
    if (v->kind == V_TUPLE && s->n == 1)
        str_putc(out, ',');
    str_putc(out, bracket[v->kind][1]);
    ev->nest -= 20;
}

static void repr_region(Str *out, const Value *v)
{
    const Region *r = v->u.region;
    str_printf(out, "%s[", r->buf->name);
    for (int d = 0; d < r->buf->rank; d++) {
        if (d)
            str_puts(out, ", ");
        print_expr(out, r->at[d]);
        if (!v->is_element) {
            str_puts(out, " : +");
            print_expr(out, r->extent[d]);
        }
    }
    str_putc(out, ']');
}

void value_repr(Eval *ev, Str *out, const Value *v, bool quote)
{
    switch (v->kind) {
    case V_UNBOUND: str_puts(out, "<unset>"); break;
    case V_NONE: str_puts(out, "None"); break;
    case V_BOOL: str_puts(out, v->u.i ? "True" : "False"); break;
    case V_INT: str_printf(out, "%lld", (long long)v->u.i); break;
    case V_FLOAT: repr_float(out, v->u.f); break;
    case V_STR:
        if (quote)
            repr_str(out, v->u.s.text, v->u.s.len);
        else
            str_putn(out, v->u.s.text, v->u.s.len);
        break;
    case V_TUPLE: case V_LIST: case V_DICT: case V_SET: repr_seq(ev, out, v); break;
    case V_SLICE: case V_RANGE:
        str_puts(out, v->kind == V_RANGE ? "range(" : "slice(");
        for (int i = 0; i < (v->kind == V_RANGE && v->u.seq->at[2].u.i == 1 ? 2 : 3); i++) {
            str_puts(out, i ? ", " : "");
            value_repr(ev, out, &v->u.seq->at[i], true);
        }
        str_putc(out, ')');
        break;
    case V_DTYPE:
        str_puts(out, dtype_name(v->dtype));
        if (v->lanes > 1)
            str_printf(out, "x%d", v->lanes);
        break;
    case V_FUNCTION: str_printf(out, "<function %s>", v->u.func->ast->name); break;
    case V_BUILTIN: str_printf(out, "<built-in function %s>", v->u.builtin->name); break;
    case V_METHOD: str_puts(out, "<method>"); break;
    case V_MODULE: str_printf(out, "<module '%s'>", v->u.s.text); break;
    case V_OPAQUE: str_puts(out, v->u.s.text); break;
    case V_NODE: str_puts(out, "<tensor>"); break;
    case V_EXPR: print_expr(out, v->u.expr); break;
    case V_BUFFER: str_puts(out, v->u.buf->name); break;
    case V_REGION: repr_region(out, v); break;
    case V_TENSOR: str_printf(out, "T.Tensor(…, %s)", dtype_name(v->u.spec->dtype)); break;
    case V_LAYOUT: str_puts(out, v->u.layout->name ? v->u.layout->name : "<layout>"); break;
    case V_FRAME: str_puts(out, "<loop or context>"); break;
    case V_FUNC: str_printf(out, "<kernel function %s>", v->u.irfunc->name); break;
    case V_CLASS: str_printf(out, "<class '%s'>", v->u.object->name); break;
    case V_OBJECT:
        str_printf(out, v->u.object->is_enum ? "%s" : "<%s object>", v->u.object->name);
        break;
    case V_FOREIGN:
        str_puts(out, ev->host && ev->host->describe
                          ? ev->host->describe(ev, ev->host_data, v->u.foreign)
                          : "<object>");
        break;
    }
}

/* ---- [[fill]align][sign][#][0][width][,][.precision][type] ----------------------------------- */

typedef struct {
    const char *fill;
    size_t nfill;
    char align, sign, type;
    bool hash, zero;
    char group;
    int width, precision; /* -1: not given */
} FormatSpec;

static int spec_number(const char **p)
{
    int n = 0;
    while (isdigit((unsigned char)**p)) {
        if (n < 100000)
            n = n * 10 + (**p - '0');
        (*p)++;
    }
    return n;
}

static bool spec_read(const char *p, FormatSpec *f)
{
    *f = (FormatSpec){.fill = " ", .nfill = 1, .width = -1, .precision = -1};
    size_t first = (unsigned char)*p >= 0xF0 ? 4 : (unsigned char)*p >= 0xE0 ? 3
                   : (unsigned char)*p >= 0xC0 ? 2 : 1;
    if (*p && strlen(p) > first && strchr("<>=^", p[first])) {
        f->fill = p;
        f->nfill = first;
        f->align = p[first];
        p += first + 1;
    } else if (*p && strchr("<>=^", *p)) {
        f->align = *p++;
    }
    if (*p && strchr("+- ", *p))
        f->sign = *p++;
    if (*p == '#')
        f->hash = true, p++;
    if (*p == '0') {
        f->zero = true, p++;
        if (!f->align)
            f->align = '=', f->fill = "0", f->nfill = 1;
    }
    if (isdigit((unsigned char)*p))
        f->width = spec_number(&p);
    if (*p == ',' || *p == '_')
        f->group = *p++;
    if (*p == '.') {
        p++;
        if (!isdigit((unsigned char)*p))
            return false;
        f->precision = spec_number(&p);
    }
    if (*p)
        f->type = *p++;
    return !*p && f->width < 10000 && f->precision < 1000;
}

static void group_digits(Eval *ev, Str *out, const char *s, char group)
{
    size_t digits = strspn(s, "0123456789");
    (void)ev;
    for (size_t i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0)
            str_putc(out, group);
        str_putc(out, s[i]);
    }
    str_puts(out, s + digits);
}

static void digits_in_base(Str *out, uint64_t v, unsigned base, bool upper)
{
    char text[72];
    int n = 0;
    do {
        text[n++] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[v % base];
        v /= base;
    } while (v);
    while (n)
        str_putc(out, text[--n]);
}

static void int_body(Eval *ev, Str *out, const FormatSpec *f, int64_t i)
{
    uint64_t mag = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    unsigned base = f->type == 'x' || f->type == 'X' ? 16
                    : f->type == 'b'                 ? 2
                    : f->type == 'o'                 ? 8
                                                     : 10;
    if (base == 10 && f->group) {
        group_digits(ev, out, arena_printf(ev->arena, "%llu", (unsigned long long)mag), f->group);
        return;
    }
    if (f->hash && base != 10)
        str_printf(out, "0%c", f->type);
    digits_in_base(out, mag, base, f->type == 'X');
}

static void float_body(Eval *ev, Str *out, const FormatSpec *f, double v)
{
    double mag = fabs(v);
    int precision = f->precision < 0 ? 6 : f->precision;
    char *text;
    if (isnan(v) || isinf(v)) {
        str_puts(out, isnan(v) ? "nan" : "inf");
        return;
    }
    switch (f->type) {
    case 'e': text = arena_printf(ev->arena, "%.*e", precision, mag); break;
    case 'E': text = arena_printf(ev->arena, "%.*E", precision, mag); break;
    case 'f': case 'F': text = arena_printf(ev->arena, "%.*f", precision, mag); break;
    case '%': text = arena_printf(ev->arena, "%.*f%%", precision, mag * 100); break;
    case 'g':
    case 'G':
        text = arena_printf(ev->arena, "%.*g", precision ? precision : 1, mag);
        break;
    default:
        if (f->precision >= 0) {
            text = arena_printf(ev->arena, "%.*g", f->precision ? f->precision : 1, mag);
        } else {
            Str b;
            str_init(&b, ev->arena);
            repr_float(&b, mag);
            text = b.s;
        }
    }
    if (f->group)
        group_digits(ev, out, text, f->group);
    else
        str_puts(out, text);
}

static void put_fill(Str *out, const FormatSpec *f, int n)
{
    for (int i = 0; i < n; i++)
        str_putn(out, f->fill, f->nfill);
}

static void put_aligned(Str *out, const FormatSpec *f, char align, const char *sign,
                        const char *body)
{
    int have = (int)(strlen(sign) + strlen(body));
    int pad = f->width > have ? f->width - have : 0;
    int left = align == '>' ? pad : align == '^' ? pad / 2 : 0;
    put_fill(out, f, left);
    str_puts(out, sign);
    if (align == '=') {
        put_fill(out, f, pad);
        pad = 0;
    }
    str_puts(out, body);
    if (align != '=')
        put_fill(out, f, pad - left);
}

static void format_spec(Eval *ev, Span at, Str *out, const Value *v, const char *spec)
{
    FormatSpec f;
    Str body;
    str_init(&body, ev->arena);
    if (!spec_read(spec, &f))
        diag_fail(ev->diag, at, "'%s' is not a format that works here [format-spec]", spec);
    bool as_float = v->kind == V_FLOAT || (f.type && strchr("eEfFgG%", f.type));
    if (is_number(v) && !(v->kind == V_BOOL && !f.type) && (!f.type || f.type != 's')) {
        bool negative = as_float ? signbit(number_of(v)) && !isnan(number_of(v)) : v->u.i < 0;
        const char *sign = negative ? "-" : f.sign == '+' ? "+" : f.sign == ' ' ? " " : "";
        if (!as_float && f.type == 'c')
            str_putc(&body, (char)v->u.i);
        else if (!as_float && (!f.type || strchr("dnxXbo", f.type)))
            int_body(ev, &body, &f, v->u.i);
        else if (as_float && (!f.type || strchr("eEfFgGn%", f.type)))
            float_body(ev, &body, &f, number_of(v));
        else
            diag_fail(ev->diag, at, "format '%c' does not fit %s [format-spec]", f.type,
                      value_kind_name(v));
        put_aligned(out, &f, f.align ? f.align : '>', sign, body.s);
        return;
    }
    if (f.type && f.type != 's')
        diag_fail(ev->diag, at, "format '%c' does not fit %s [format-spec]", f.type,
                  value_kind_name(v));
    value_repr(ev, &body, v, false);
    if (f.precision >= 0 && (size_t)f.precision < body.n)
        body.s[f.precision] = 0;
    put_aligned(out, &f, f.align && f.align != '=' ? f.align : '<', "", body.s);
}

void value_format(Eval *ev, Span at, Str *out, const Value *v, const char *spec)
{
    bool quote = false, converted = false;
    if (spec[0] == '!') {
        quote = spec[1] == 'r' || spec[1] == 'a';
        converted = true;
        spec += spec[1] ? 2 : 1;
    }
    if (spec[0] == ':')
        spec++;
    if (!*spec) {
        value_repr(ev, out, v, quote);
        return;
    }
    if (!converted) {
        format_spec(ev, at, out, v, spec);
        return;
    }
    Str b;
    str_init(&b, ev->arena);
    value_repr(ev, &b, v, quote);
    Value text = value_str(ev, b.s, b.n);
    format_spec(ev, at, out, &text, spec);
}
