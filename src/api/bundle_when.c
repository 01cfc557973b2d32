/* bundle_when.c -- the condition of a part: Python's words over dimensions, scalars and addresses,
 * as C.
 *
 *     M % 128 == 0 and N >= 1024       a dimension's or a scalar's name is its value,
 *     A % 16 == 0                      a tensor's name its address
 *
 * Division and remainder round down, as in Python. */
#include <ctype.h>
#include "api/bundle.h"

typedef struct {
    Arena *a;
    const Func *f;
    const char *all, *at;
    int depth;
} Guard;

enum { BRACKETS_MOST = 64 };

NORETURN static void no(const Guard *g, const char *what)
{
    recover_throw(STATUS_USER, "the condition '%s' of a part: %s, at '%.20s' [bundle-guard]",
                  g->all, what, g->at);
}

static void skip(Guard *g)
{
    g->at += strspn(g->at, " \t");
}

/* A word stands alone; a sign does not go on. */
static bool take(Guard *g, const char *word)
{
    size_t n = strlen(word);

    skip(g);
    if (strncmp(g->at, word, n) != 0)
        return false;
    if (isalpha((unsigned char)*word) && (isalnum((unsigned char)g->at[n]) || g->at[n] == '_'))
        return false;
    if (strchr("<>/", *word) && n == 1 && strchr("=/", g->at[1]) && g->at[1])
        return false;
    g->at += n;
    return true;
}

static const char *name_value(Guard *g, const char *name)
{
    for (int i = 0; i < g->f->params.n; i++) {
        const Param *p = &g->f->params.at[i];
        if (!strcmp(p->name, name) && (p->buf || !dtype_is_float(p->var->type)))
            return arena_printf(g->a, "(int64_t)%s%s", p->buf ? "(uintptr_t)" : "",
                                bundle_c_name(g->a, name));
    }
    for (int i = 0; i < g->f->dims.n; i++)
        if (!strcmp(g->f->dims.at[i]->name, name))
            return arena_printf(g->a, "%s", bundle_c_name(g->a, name));
    no(g, arena_printf(g->a, "'%s' is no run-time dimension, whole number or tensor of the kernel",
                       name));
}

static const char *any_of(Guard *g);

static const char *atom(Guard *g)
{
    const char *start;

    skip(g);
    if (take(g, "(")) {
        if (++g->depth > BRACKETS_MOST)
            no(g, "too many brackets");
        const char *inner = any_of(g);
        if (!take(g, ")"))
            no(g, "a ')' is missing");
        g->depth--;
        return arena_printf(g->a, "(%s)", inner);
    }
    start = g->at;
    while (isalnum((unsigned char)*g->at) || *g->at == '_')
        g->at++;
    if (g->at == start)
        no(g, "a name or a number is missing");
    const char *word = arena_strndup(g->a, start, (size_t)(g->at - start));
    if (!isdigit((unsigned char)*word))
        return name_value(g, word);
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 18)
        no(g, "a number that is none");
    return arena_printf(g->a, "INT64_C(%s)", word);
}

static const char *product(Guard *g)
{
    const char *x = take(g, "-") ? arena_printf(g->a, "-%s", atom(g)) : atom(g);

    for (;;) {
        if (take(g, "//"))
            x = arena_printf(g->a, "tl_down(%s, %s)", x, atom(g));
        else if (take(g, "%"))
            x = arena_printf(g->a, "tl_rest(%s, %s)", x, atom(g));
        else if (take(g, "*"))
            x = arena_printf(g->a, "%s * %s", x, atom(g));
        else
            return x;
    }
}

static const char *sum(Guard *g)
{
    const char *x = product(g);

    for (;;) {
        if (take(g, "+"))
            x = arena_printf(g->a, "%s + %s", x, product(g));
        else if (take(g, "-"))
            x = arena_printf(g->a, "%s - %s", x, product(g));
        else
            return x;
    }
}

static const char *comparison(Guard *g)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    const char *x = sum(g);

    for (int i = 0; i < COUNT(signs); i++)
        if (take(g, signs[i]))
            return arena_printf(g->a, "%s %s %s", x, signs[i], sum(g));
    return x;
}

static const char *negation(Guard *g)
{
    return take(g, "not") ? arena_printf(g->a, "!(%s)", comparison(g)) : comparison(g);
}

static const char *all_of(Guard *g)
{
    const char *x = arena_printf(g->a, "(%s)", negation(g));

    while (take(g, "and"))
        x = arena_printf(g->a, "%s && (%s)", x, negation(g));
    return x;
}

static const char *any_of(Guard *g)
{
    const char *x = arena_printf(g->a, "(%s)", all_of(g));

    while (take(g, "or"))
        x = arena_printf(g->a, "%s || (%s)", x, all_of(g));
    return x;
}

const char *bundle_when(Arena *a, const Func *f, const char *text)
{
    Guard g = {.a = a, .f = f, .all = text, .at = text};
    const char *c = any_of(&g);

    skip(&g);
    if (*g.at)
        no(&g, "there is more than a condition");
    return c;
}
