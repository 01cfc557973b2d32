/* text.c -- emitted text as C++ for the host.
 *
 * The text stays as it is but for assembly statements, which its record translates,
 * arrays of shared memory that have no size, which become addresses, and loops without a body,
 * which let other threads run.  Behind the text comes a way in for each kernel. */
#include <ctype.h>
#include <stdlib.h>
#include "twin/machine.h"
#include "device_twin.h"

typedef struct {
    Arena *a;
    const Language *d;
    const char *at;
    Str *out;
    Str tail;          /* ways in */
    const char *line;  /* the last one in the first column: the function at hand */
    int cluster[3], threads;
} Rewrite;

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (is_name(s[n]))
        n++;
    return n;
}

static bool is_same(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && !strncmp(s, word, n);
}

static void put(Rewrite *t, size_t n)
{
    str_putn(t->out, t->at, n);
    t->at += n;
}

/* "extern __shared__ __align__(1024) unsigned char name[];": the start of the block's memory. */
static bool rewrite_shared(Rewrite *t)
{
    static const char head[] = "extern __shared__ ";
    const char *end = strstr(t->at, "[]");

    if (strncmp(t->at, head, sizeof head - 1) || !end ||
        memchr(t->at, ';', (size_t)(end - t->at)))
        return false;
    const char *type = t->at + sizeof head - 1, *name = end;
    if (!strncmp(type, "__align__(", 10))
        type = strchr(type, ')') + 1;
    while (name > type && is_name(name[-1]))
        name--;
    str_printf(t->out, "%.*s*const %.*s = (%.*s*)tl_self->shared", (int)(name - type), type,
               (int)(end - name), name, (int)(name - type), type);
    t->at = end + 2;
    return true;
}

/* The numbers in parentheses behind a word; at most n. */
static void read_numbers(const char *s, int *to, int n)
{
    s = strchr(s, '(');
    for (int i = 0; s && i < n; i++) {
        to[i] = atoi(s + 1);
        s = strpbrk(s + 1, ",)");
        if (s && *s == ')')
            break;
    }
}

/* The head of a kernel, from its first word to its name: what a launch must know of it. */
static void see_kernel(Rewrite *t)
{
    int cluster[3] = {1, 1, 1}, threads = 0;
    const char *s = t->at + strlen(t->d->kernel);

    for (;;) {
        while (*s && !is_name(*s))
            s++;
        size_t n = name_length(s);
        if (n == 0)
            return;
        const char *after = s + n + strspn(s + n, " ");
        if (is_same(s, n, "__cluster_dims__"))
            read_numbers(s, cluster, 3);
        else if (is_same(s, n, "__launch_bounds__"))
            read_numbers(s, &threads, 1);
        else if (*after == '(')
            break;
        s = *after == '(' ? strchr(after, ')') + 1 : s + n;
    }
    str_printf(&t->tail, "TL_KERNEL(%.*s, %d, %d, %d, %d, %d)\n", (int)name_length(s), s,
               cluster[0], cluster[1], cluster[2], threads,
               strstr((const char *)t->d->header, "__cluster_dims__") != NULL);
}

static const char *behind_bracket(const char *s, char opens, char closes)
{
    int depth = 0;

    do {
        depth += (*s == opens) - (*s == closes);
    } while (*s++ && depth);
    return s;
}

/* "while (condition) ;" waits by looking again and again: others run meanwhile.  Behind a "}" it is
 * the end of a do. */
static bool rewrite_empty_loop(Rewrite *t)
{
    const char *s = t->at + strlen("while");
    size_t back = t->out->n;

    while (back > 0 && isspace((unsigned char)t->out->s[back - 1]))
        back--;
    s += strspn(s, " ");
    if (*s != '(' || (back > 0 && t->out->s[back - 1] == '}'))
        return false;
    s = behind_bracket(s, '(', ')');
    if (s[strspn(s, " \n")] != ';')
        return false;
    put(t, (size_t)(s - t->at));
    str_puts(t->out, " tl_host->look_again()");
    return true;
}

static bool holds(const char *from, const char *to, const char *word)
{
    const char *at = strstr(from, word);
    return at && at < to;
}

/* "while (condition) {" or "for (…) {": one that looks at what others write lets them run. */
static bool rewrite_poll(Rewrite *t, size_t word)
{
    const char *s = t->at + word;

    s += strspn(s, " ");
    if (*s != '(')
        return false;
    s = behind_bracket(s, '(', ')');
    s += strspn(s, " ");
    if (*s != '{')
        return false;
    const char *end = behind_bracket(s, '{', '}');
    if ((!holds(s, end, "volatile ") && !holds(s, end, "atomic")) ||
        (*t->at == 'f' && !holds(s, end, "break;")))
        return false;
    put(t, (size_t)(s + 1 - t->at));
    str_puts(t->out, " tl_host->pass();");
    return true;
}

static void put_quoted(Rewrite *t)
{
    char quote = *t->at;
    size_t n = 1;

    while (t->at[n] && t->at[n] != quote)
        n += t->at[n] == '\\' && t->at[n + 1] ? 2 : 1;
    put(t, n + (t->at[n] == quote));
}

static void put_comment(Rewrite *t)
{
    const char *end = t->at[1] == '*' ? strstr(t->at + 2, "*/") : strchr(t->at, '\n');
    size_t n = !end ? strlen(t->at) : (size_t)(end - t->at) + (t->at[1] == '*' ? 2 : 0);

    t->at += n;
}

static Status refuse(Rewrite *t, const char *what, const char **why)
{
    *why = arena_printf(t->a, "the text has %s, which has no meaning on the host; in: %.*s "
                              "[twin-meaning]",
                        what, (int)MIN(strcspn(t->line, "\n"), 100), t->line);
    return STATUS_USER;
}

static Status rewrite_word(Rewrite *t, const char **why)
{
    size_t n = name_length(t->at);

    if (is_same(t->at, n, "extern") && rewrite_shared(t))
        return STATUS_OK;
    if (is_same(t->at, n, "while") && rewrite_empty_loop(t))
        return STATUS_OK;
    if ((is_same(t->at, n, "while") || is_same(t->at, n, "for")) && rewrite_poll(t, n))
        return STATUS_OK;
    if (is_same(t->at, n, t->d->kernel))
        see_kernel(t);
    if (!is_same(t->at, n, "asm")) {
        put(t, n);
        return STATUS_OK;
    }
    const char *what = "assembly";
    t->at += n;
    if (!t->d->assembly->translate ||
        !t->d->assembly->translate(t->a, &t->at, t->out, &what))
        return refuse(t, what, why);
    return STATUS_OK;
}

/* "[[kernel, …]]" is the head of a kernel, any other attribute says something of its parameters:
 * both are read by its language, and are nothing to the host's compiler. */
static Status rewrite_attribute(Rewrite *t, const char **why)
{
    const char *end = strstr(t->at, "]]"), *what = "an attribute";
    size_t n = name_length(t->at + 2);

    if (!end || (is_same(t->at + 2, n, t->d->kernel) &&
                 !t->d->assembly->enter(t->a, t->at + 2 + n, &t->tail, &what)))
        return refuse(t, what, why);
    t->at = end + 2;
    return STATUS_OK;
}

/* A macro that the header of its language has too, or a header that it stands for (a comment of it
 * says so): what it means on the host stands. */
static bool skip_macro(Rewrite *t)
{
    const char *header = (const char *)t->d->header, *s = t->at + 1;

    bool include = !strncmp(s, "include <", 9);
    if (strncmp(s, "define ", 7) && strncmp(s, "undef ", 6) && !include)
        return false;
    const char *name = include ? s + 9 : strchr(s, ' ') + 1;
    const char *own = arena_printf(t->a, include ? "\n/* #include <%.*s" : "\n#define %.*s",
                                   (int)name_length(name), name);
    do {
        header = strstr(header, own);
        header = header ? header + strlen(own) : NULL;
    } while (header && is_name(*header));
    if (!header)
        return false;
    do
        t->at += 1 + strcspn(t->at + 1, "\n");
    while (*t->at && t->at[-1] == '\\');
    return true;
}

static Status rewrite_all(Rewrite *t, const char **why)
{
    bool first = true; /* in a line */

    while (*t->at) {
        if (first && is_name(*t->at))
            t->line = t->at;
        if (first && *t->at == '#' && skip_macro(t))
            continue;
        first = false;
        if (*t->at == '"' || *t->at == '\'') {
            put_quoted(t);
        } else if (*t->at == '/' && (t->at[1] == '*' || t->at[1] == '/')) {
            put_comment(t);
        } else if (is_name(*t->at) || (t->d->assembly->enter && !strncmp(t->at, "[[", 2))) {
            Status s = (*t->at == '[' ? rewrite_attribute : rewrite_word)(t, why);
            if (s != STATUS_OK)
                return s;
        } else {
            first = *t->at == '\n';
            put(t, 1);
        }
    }
    return STATUS_OK;
}

Status twin_translate(Arena *a, const Language *d, const char *text, Str *out, const char **why)
{
    Rewrite t = {.a = a, .d = d, .at = text, .out = out, .line = text};

    str_init(&t.tail, a);
    str_printf(out, "%s%s%s", (const char *)device_twin_abi_h, (const char *)device_twin_text_h,
               (const char *)d->header);
    Status s = rewrite_all(&t, why);
    str_putn(out, t.tail.s, t.tail.n);
    return s;
}

/* ---- fences ---------------------------------------------------------------------------------- */

static bool count_fences(const Stmt *s, void *arg)
{
    if (s->kind == ST_ATOMIC)
        *(int *)arg += atomic_releases(s) + atomic_acquires(s);
    return true;
}

/* Behind the head of a text, which may define the word. */
static const char *first_kernel(const Language *d, const char *text)
{
    static const char define[] = "#define ";
    const size_t n = sizeof define - 1;

    for (const char *s = text; (s = strstr(s, d->kernel)); s++)
        if ((size_t)(s - text) < n || strncmp(s - n, define, n))
            return s;
    return NULL;
}

bool twin_has_fences(const Language *d, const Func *f, const char *text)
{
    int meant = 0, said = 0;

    for (int i = 0; i < f->kernels.n; i++)
        stmt_visit(f->kernels.at[i]->body, count_fences, &meant);
    text = meant ? first_kernel(d, text) : NULL; /* helpers have their own */
    for (; text && d->fence && (text = strstr(text, d->fence)); text++)
        said++;
    return !d->fence || said >= meant;
}
