/* config.c -- pass configs by name, and their values in the hints of a function. */
#include "ir/config.h"
#include <stdlib.h>

const ConfigRow config_table[CONFIG_COUNT] = {
#define CONFIG(id, name, member, kind, otherwise, by, doc)                                         \
    {name, member, CONFIG_##kind, CONFIG_IS_OBEYED, otherwise, NULL, by, doc},
#define CHOICE(id, name, member, kind, otherwise, values, by, doc)                                 \
    {name, member, CONFIG_##kind, CONFIG_IS_OBEYED, otherwise, values, by, doc},
#define IGNORED(id, name, member, kind, instead)                                                   \
    {name, member, CONFIG_##kind, CONFIG_IS_IGNORED, 0, NULL, "", instead},
#define REFUSED(id, name, member, why)                                                             \
    {name, member, CONFIG_FLAG, CONFIG_IS_REFUSED, 0, NULL, "", why},
#define ALIAS(id, name, member, now) {name, member, CONFIG_FLAG, CONFIG_IS_ALIAS, 0, NULL, "", now},
#define NEEDS(...)
#include "ir/config.def"
#undef CONFIG
#undef CHOICE
#undef IGNORED
#undef REFUSED
#undef ALIAS
#undef NEEDS
};

static const struct {
    ConfigId id;
    unsigned has; /* a machine */
    const char *instead;
} needs[] = {
#define CONFIG(...)
#define CHOICE(...)
#define IGNORED(...)
#define REFUSED(...)
#define ALIAS(...)
#define NEEDS(id, has, instead) {CONFIG_##id, has, instead},
#include "ir/config.def"
#undef CONFIG
#undef CHOICE
#undef IGNORED
#undef REFUSED
#undef ALIAS
#undef NEEDS
};

static const char *const kind_words[] = {
    [CONFIG_FLAG] = "True or False",       [CONFIG_NUMBER] = "a whole number",
    [CONFIG_TEXT] = "a str",               [CONFIG_WORDS] = "a str or a list of str",
    [CONFIG_TABLE] = "a dict",
};

/* What TVM called tir is tirx since; both are in use. */
static bool same_name(const char *row, const char *name)
{
    if (!strncmp(name, "tir.", 4) && !strncmp(row, "tirx.", 5))
        return !strcmp(row + 5, name + 4);
    return !strcmp(row, name);
}

const ConfigRow *config_find(const char *name)
{
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (same_name(config_table[i].name, name))
            return config_table[i].fate == CONFIG_IS_ALIAS ? config_find(config_table[i].doc)
                                                           : &config_table[i];
    return NULL;
}

NORETURN static void no_such_config(Ir *ir, Span at, const char *name)
{
    const char *names[CONFIG_COUNT];
    for (int i = 0; i < CONFIG_COUNT; i++)
        names[i] = config_table[i].name;
    const char *near = nearest_name(name, names, CONFIG_COUNT);
    if (near)
        diag_fail(ir->diag, at, "there is no pass config '%s'; did you mean '%s'? [config-unknown]",
                  name, near);
    diag_fail(ir->diag, at, "there is no pass config '%s'; tl explain pass_configs lists them "
              "[config-unknown]", name);
}

static bool takes(const ConfigRow *r, ConfigKind kind, int64_t number)
{
    if (r->kind == CONFIG_FLAG)
        return kind == CONFIG_FLAG || (kind == CONFIG_NUMBER && (number == 0 || number == 1));
    if (r->kind == CONFIG_WORDS)
        return kind == CONFIG_WORDS || kind == CONFIG_TEXT;
    if (r->kind == CONFIG_NUMBER)
        return kind == CONFIG_NUMBER || kind == CONFIG_FLAG;
    return kind == r->kind;
}

/* Is it one of "32|64", or within "0..10"? */
static bool is_value(const char *values, int64_t number, const char *text)
{
    const char *dots = values ? strstr(values, "..") : NULL;

    if (!values)
        return true;
    if (dots)
        return number >= atoll(values) && number <= atoll(dots + 2);
    for (const char *s = values; *s;) {
        size_t n = strcspn(s, "|");
        if (text ? strlen(text) == n && !strncmp(s, text, n) : number == atoll(s))
            return true;
        s += n + (s[n] == '|');
    }
    return false;
}

NORETURN static void refuse_value(Ir *ir, Span at, const char *name, const ConfigRow *r)
{
    const char *dots = r->values ? strstr(r->values, "..") : NULL;

    if (!r->values)
        diag_fail(ir->diag, at, "the pass config '%s' takes %s [config-value]", name,
                  kind_words[r->kind]);
    if (dots)
        diag_fail(ir->diag, at, "the pass config '%s' is %.*s to %s [config-value]", name,
                  (int)(dots - r->values), r->values, dots + 2);
    diag_fail(ir->diag, at, "the pass config '%s' is one of %s [config-value]", name, r->values);
}

/* The last one counts. */
static void put(Ir *ir, Hints *h, Hint x)
{
    Hint *all = NEWN(ir->arena, Hint, h->n + 1);
    int n = 0;
    for (int i = 0; i < h->n; i++)
        if (strcmp(h->at[i].name, x.name))
            all[n++] = h->at[i];
    all[n++] = x;
    *h = (Hints){all, n};
}

void config_set(Ir *ir, Span at, Hints *h, const char *name, ConfigKind kind, int64_t number,
                const char *text)
{
    const ConfigRow *r = config_find(name);
    if (!r)
        no_such_config(ir, at, name);
    if (r->fate == CONFIG_IS_REFUSED)
        diag_fail(ir->diag, at, "the pass config '%s' is not supported: %s [config-refused]", name,
                  r->doc);
    if (!takes(r, kind, number) || !is_value(r->values, number, text))
        refuse_value(ir, at, name, r);
    if (r->fate == CONFIG_IS_IGNORED) {
        diag_ignored(ir->diag, at, arena_printf(ir->arena, "the pass config %s", r->name),
                     "%s [ignored]", r->doc);
        return;
    }
    Hint x = {.name = ir_name(ir, r->name)};
    if (r->kind == CONFIG_FLAG || r->kind == CONFIG_NUMBER)
        x.value = expr_int(ir, number);
    else
        x.text = ir_name(ir, text);
    put(ir, h, x);
}

void config_set_text(Ir *ir, Span at, Hints *h, const char *name, const char *text)
{
    const ConfigRow *r = config_find(name);
    char *end = NULL;
    long long n = strtoll(text, &end, 10);

    if (!strcmp(text, "True") || !strcmp(text, "False"))
        config_set(ir, at, h, name, CONFIG_FLAG, text[0] == 'T', NULL);
    else if (r && r->kind == CONFIG_TABLE)
        config_set(ir, at, h, name, CONFIG_TABLE, 0, text);
    else if (end != text && !*end && !(r && (r->kind == CONFIG_TEXT || r->kind == CONFIG_WORDS)))
        config_set(ir, at, h, name, CONFIG_NUMBER, n, NULL);
    else
        config_set(ir, at, h, name, CONFIG_TEXT, 0, text);
}

static void tell(const Func *f, ConfigId id, int64_t obeyed, const char *instead)
{
    const ConfigRow *r = &config_table[id];
    int64_t n = config_int(f, id);

    if (config_given(f, id) && (config_text(f, id) || (n != obeyed && n != r->otherwise)))
        diag_ignored(f->ir->diag, NO_SPAN,
                     arena_printf(f->ir->arena, "the pass config %s", r->name), "%s [ignored]",
                     instead);
}

void config_tell(const Func *f, const Machine *m, const ConfigLost *lost)
{
    for (int i = 0; i < COUNT(needs); i++)
        if (!machine_has(m, needs[i].has))
            tell(f, needs[i].id, 0, needs[i].instead);
    for (; lost && lost->instead; lost++)
        tell(f, lost->id, lost->obeyed, lost->instead);
}

bool config_given(const Func *f, ConfigId id)
{
    return f && hint_find(f->hints, config_table[id].name);
}

int64_t config_int(const Func *f, ConfigId id)
{
    const ConfigRow *r = &config_table[id];
    return f ? hint_int(f->hints, r->name, r->otherwise) : r->otherwise;
}

bool config_on(const Func *f, ConfigId id)
{
    return config_int(f, id) != 0;
}

const char *config_text(const Func *f, ConfigId id)
{
    const Hint *h = f ? hint_find(f->hints, config_table[id].name) : NULL;
    return h ? h->text : NULL;
}

Str *config_report(const Func *f, ConfigId id)
{
    return config_on(f, id) ? f->report : NULL;
}
