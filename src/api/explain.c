/* explain.c -- what a name of the language, an operator, a pass or a message tag means. */
#include "api/api.h"
#include "errors_text.h"

static bool explain_builtin(Str *out, const char *name)
{
    const Builtin *b = builtin_find(name);

    if (!b)
        return false;
    str_printf(out, "T.%s(%s)\n\n    %s\n\n", b->name, b->signature, b->doc);
    if (b->group && *b->group)
        str_printf(out, "group: %s\n", b->group);
    if (b->cpu && *b->cpu)
        str_printf(out, "on the CPU: %s\n", b->cpu);
    return true;
}

/* All of them, group by group, in the order of the table. */
static bool explain_names(Str *out, const char *name)
{
    const char *group = NULL;

    if (strcmp(name, "names"))
        return false;
    for (int i = 0; i < builtin_count; i++) {
        const Builtin *b = &builtin_table[i];
        const char *dot = strchr(b->name, '.');
        if (!group || strcmp(group, b->group))
            str_printf(out, "%s%s\n", i ? "\n" : "", b->group);
        group = b->group;
        str_printf(out, "  %s%s(%s)\n      %s\n", dot ? "" : "T.", b->name, b->signature, b->doc);
        if (*b->cpu)
            str_printf(out, "      Not here: %s.\n", b->cpu);
    }
    return true;
}

static bool explain_operator(Str *out, const char *name)
{
    const TileOp *op = op_find(name);

    if (!op)
        return false;
    str_printf(out, "tile operator %s(%s)\n\n    %s\n", op->name, op->params,
               op->doc ? op->doc : "");
    return true;
}

static void put_forms(Str *out, const char *word, uint32_t forms)
{
    static const char *const names[] = {
#define X(f) #f,
        FORMS(X)
#undef X
    };

    if (!forms)
        return;
    str_printf(out, "%s", word);
    for (int i = 0; i < COUNT(names); i++)
        if (forms >> i & 1)
            str_printf(out, " %s", names[i]);
    str_putc(out, '\n');
}

static bool explain_pass(Str *out, const char *name)
{
    int n = pass_find(name);

    if (n < 0)
        return false;
    const Pass *p = &pass_table[n];
    str_printf(out, "pass %d: %s\n\n    %s\n    (%s)\n\n", n + 1, p->name, p->doc, p->why);
    put_forms(out, "needs ", p->needs);
    put_forms(out, "gives ", p->gives);
    put_forms(out, "breaks", p->breaks);
    return true;
}

static bool explain_dtype(Str *out, const char *name)
{
    DType t;
    int lanes;

    if (!dtype_parse(name, &t, &lanes))
        return false;
    const DTypeInfo *d = &dtype_table[t];
    str_printf(out, "%s: %d bits", d->name, d->bits);
    if (d->kind == 'F')
        str_printf(out, ", %d of exponent and %d of fraction, largest %g", d->ebits, d->mbits,
                   dtype_max(t));
    str_printf(out, "\ntl verify takes results within %g of the reference\n", dtype_tolerance(t));
    return true;
}

static void put_config(Str *out, const ConfigRow *r)
{
    static const char *const fate[] = {"", "ignored: ", "refused: ", "now "};
    str_printf(out, "%-42s %s%s\n", r->name, fate[r->fate], r->doc);
}

static bool explain_config(Str *out, const char *name)
{
    const ConfigRow *r = config_find(name);

    if (r)
        put_config(out, r);
    for (int i = 0; !strcmp(name, "pass_configs") && i < CONFIG_COUNT; i++)
        put_config(out, &config_table[i]);
    return r || !strcmp(name, "pass_configs");
}

/* The paragraph under "## tag" of doc/errors.md. */
static bool explain_tag(Arena *a, Str *out, const char *name)
{
    const char *text = (const char *)doc_errors_md;
    const char *head = arena_printf(a, "## %s\n", name);
    const char *at = strncmp(text, head, strlen(head)) == 0 ? text : NULL;

    if (!at) {
        at = strstr(text, arena_printf(a, "\n%s", head));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return false;
    const char *end = strstr(at + 1, "\n## ");
    str_printf(out, "[%s]\n", name);
    at += strlen(head);
    str_putn(out, at, end ? (size_t)(end + 1 - at) : strlen(at));
    return true;
}

static const char *bare(Arena *a, const char *name)
{
    size_t n = strlen(name);

    if (!strncmp(name, "T.", 2))
        return name + 2;
    if (n > 2 && name[0] == '[' && name[n - 1] == ']')
        return arena_strndup(a, name + 1, n - 2);
    return name;
}

bool explain(Arena *a, Str *out, const char *name)
{
    name = bare(a, name);
    return explain_builtin(out, name) || explain_tag(a, out, name) || explain_pass(out, name) ||
           explain_operator(out, name) || explain_dtype(out, name) || explain_config(out, name) ||
           explain_names(out, name);
}
