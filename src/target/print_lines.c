/* print_lines.c -- #line directives that hold for every line of a statement, not the first alone.
 *
 * The printers write one before each statement.  What a statement prints further would be counted
 * on from there, into other lines of the kernel's file, and so would functions behind it. */
#include <stdlib.h>
#include "target/print.h"

static bool starts(const char *line, const char *word)
{
    return !strncmp(line, word, strlen(word));
}

/* "#line 12 …" for a line that comes `before` lines earlier. */
static void put_directive(Str *out, const char *directive, int before)
{
    char *rest;
    long line = strtol(directive + strlen("#line "), &rest, 10);

    str_printf(out, "#line %ld%.*s\n", MAX(line - before, 1), (int)strcspn(rest, "\n"), rest);
}

/* The line that ends there is the end of a statement, or none of one. */
static bool ends_statement(const char *line, size_t n)
{
    return n == 0 || strchr(";{}", line[n - 1]) || starts(line + strspn(line, " "), "//") ||
           starts(line + strspn(line, " "), "#");
}

void repeat_line_directives(Str *source)
{
    const char *now = NULL; /* the directive that holds */
    bool fresh = true;      /* a statement may begin here */
    Str out;

    if (!strstr(source->s, "#line "))
        return;
    str_init(&out, source->arena);
    for (const char *s = source->s; *s;) {
        size_t n = strcspn(s, "\n");
        const char *word = s + strspn(s, " "), *next = s + n + (s[n] == '\n');
        if (starts(word, "#line ")) {
            now = word;
        } else {
            /* A pragma belongs to the line behind it: nothing comes between. */
            if (now && n > 0 && fresh)
                put_directive(&out, now, starts(word, "#pragma"));
            str_printf(&out, "%.*s\n", (int)n, s);
            fresh = ends_statement(s, n);
            if (starts(word, "#pragma") && !starts(next + strspn(next, " "), "#")) {
                n = strcspn(next, "\n");
                str_printf(&out, "%.*s\n", (int)n, next);
                fresh = ends_statement(next, n);
                next += n + (next[n] == '\n');
            }
            if (now && *s == '}') {
                str_puts(&out, "#line 1 \"generated\"\n");
                now = NULL;
            }
        }
        s = next;
    }
    *source = out;
}
