/* prints.c -- what threads printed (device/webgpu/print.wgsl), by the formats in the text. */
#include "target/webgpu/rt/prints.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_MOST = 32, LINE_MOST = 1024 };

typedef struct {
    const char *kind; /* of the arguments that are left: up to a '.' */
    const char *text; /* quoted strings that are left */
    const uint32_t *word;
} Args;

/* A string as emit_quoted wrote it; gives where it ends. */
static const char *unquote(const char *s, char *to, size_t n)
{
    size_t i = 0;

    s = strchr(s, '"');
    for (s = s ? s + 1 : ""; *s && *s != '"'; s++) {
        int c = (unsigned char)*s;
        if (c == '\\' && s[1] >= '0' && s[1] <= '7') {
            c = 0;
            for (int d = 0; d < 3 && s[1] >= '0' && s[1] <= '7'; d++)
                c = c * 8 + (*++s - '0');
        } else if (c == '\\') {
            s++;
            c = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'r' ? '\r' : *s;
        }
        if (i + 1 < n)
            to[i++] = (char)c;
    }
    to[i] = 0;
    return *s ? s + 1 : s;
}

static int64_t take_int(Args *a, char kind)
{
    int64_t v = kind == 'i' ? (int32_t)a->word[0] : (int64_t)a->word[0];

    if (kind == 'I' || kind == 'U')
        v = (int64_t)((uint64_t)a->word[0] | (uint64_t)a->word[1] << 32);
    a->word += kind == 'I' || kind == 'U' ? 2 : 1;
    return v;
}

/* One conversion: lengths of C's types are those of what was handed over. */
static void show_one(char *spec, int n, Args *a)
{
    char kind = *a->kind == '.' ? 0 : *a->kind++, last = spec[n - 1];
    char text[LINE_MOST];
    float f;

    if (kind == 's') {
        a->text = unquote(a->text, text, sizeof text);
        fputs(text, stdout);
    } else if (kind == 'f') {
        memcpy(&f, a->word++, sizeof f);
        printf(strchr("fFgGeEaA", last) ? spec : "%g", (double)f);
    } else if (kind && strchr("diuxXo", last)) {
        snprintf(spec + n - 1, 4, "ll%c", last);
        printf(spec, (long long)take_int(a, kind));
    } else if (kind) {
        printf(last == 'c' ? "%c" : "%d", (int)take_int(a, kind));
    }
}

static void show_line(const char *format, Args *a)
{
    char spec[SPEC_MOST];

    for (const char *p = format; *p; p++) {
        int n = 0;
        if (*p != '%' || p[1] == '%') {
            putchar(*p);
            p += *p == '%';
            continue;
        }
        spec[n++] = *p++;
        for (; *p && !isalpha((unsigned char)*p) && n < SPEC_MOST - 6; p++)
            spec[n++] = *p;
        while (*p && strchr("hlLzjt", *p))
            p++;
        if (!*p)
            return;
        spec[n++] = *p;
        spec[n] = 0;
        show_one(spec, n, a);
    }
}

static int words_of(const char *kind)
{
    int n = 1;

    for (; *kind && *kind != '.'; kind++)
        n += *kind == 's' ? 0 : *kind == 'I' || *kind == 'U' ? 2 : 1;
    return n;
}

void prints_show(const char *text, const uint32_t *word)
{
    uint32_t n = word[0] < PRINT_WORDS ? word[0] : PRINT_WORDS - 1, at = 1;
    char head[40], format[LINE_MOST];

    while (at <= n && word[at]) {
        snprintf(head, sizeof head, "// tl_print %u ", word[at]);
        const char *line = strstr(text, head);
        if (!line)
            break;
        Args a = {.kind = line + strlen(head), .word = word + at + 1};
        at += (uint32_t)words_of(a.kind);
        if (at > PRINT_WORDS)
            break;
        a.text = unquote(strchr(a.kind, '.'), format, sizeof format);
        show_line(format, &a);
    }
    if (word[0] >= PRINT_WORDS)
        fprintf(stderr, "what a launch printed was more than %d words: the rest is lost\n",
                PRINT_WORDS - 1);
    fflush(stdout);
}
