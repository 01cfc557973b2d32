/* target.c -- the table of targets, and "cpu -mcpu=x86-64-v3" to a TargetSpec. */
#include "target/target.h"
#include <errno.h>
#include <stdlib.h>

#define TARGET(name) extern const Target target_##name;
#include "target/target.def"
#undef TARGET

const Target *const target_table[] = {
#define TARGET(name) &target_##name,
#include "target/target.def"
#undef TARGET
};
const int target_count = COUNT(target_table);

/* Targets of others. */
static const char *const foreign[] = {"vulkan"};

/* Is it one of these words, with a blank between? */
static bool is_among(const char *words, const char *name, size_t n)
{
    for (const char *w = words; w && *w; w += strcspn(w, " "), w += *w == ' ')
        if (strcspn(w, " ") == n && !strncmp(w, name, n))
            return true;
    return false;
}

static const Target *target_find(const char *name, size_t n)
{
    for (int i = 0; i < target_count; i++)
        if (is_among(target_table[i]->name, name, n) || is_among(target_table[i]->also, name, n))
            return target_table[i];
    return NULL;
}

/* The machine that "sim" alone means, with words that those after it override. */
static const char *simulated(Arena *a)
{
    for (int i = 0; i < target_count; i++)
        if (target_table[i]->sim)
            return arena_printf(a, "%s %s", target_table[i]->name, target_table[i]->sim);
    return "cpu";
}

/* ---- words that several targets have --------------------------------------------------------- */

/* They describe a target and choose nothing; what can be wrong is that they describe another. */
static bool take_keys(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    for (const char *at = value; *at;) {
        size_t n = strcspn(at, ",");
        const char *found = s->target->keys ? s->target->keys : s->target->name;
        for (; found && *found; found += strcspn(found, " "), found += *found == ' ')
            if (strcspn(found, " ") == n && !strncmp(found, at, n))
                break;
        if (!found || !*found) {
            *why = arena_printf(a, "'%.*s' is no key of target %s, whose keys are %s "
                                "[target-unknown]", (int)n, at, s->target->name, s->target->keys);
            return false;
        }
        at += n + (at[n] == ',');
    }
    return true;
}

static bool take_number(Arena *a, const char *value, int64_t least, int64_t *out, const char **why)
{
    char *end;

    errno = 0;
    *out = strtoll(value, &end, 10);
    if (end != value && !*end && *out >= least && errno == 0)
        return true;
    *why = arena_printf(a, "'%s' is not a whole number of %lld or more [target-unknown]", value,
                        (long long)least);
    return false;
}

static bool take_threads(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    int64_t n;
    bool ok = take_number(a, value, 1, &n, why);
    s->max_threads = (int)MIN(n, 1024);
    return ok;
}

static bool take_shared(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    return take_number(a, value, 1, &s->max_shared, why);
}

static bool take_warp(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    int64_t n;
    if (!take_number(a, value, 1, &n, why))
        return false;
    if (n == s->machine.lanes)
        return true;
    *why = arena_printf(a, "a warp of target %s has %d threads, not %s [target-unknown]",
                        s->target->name, s->machine.lanes, value);
    return false;
}

static bool taken(Arena *a, const char *bad, const char **why)
{
    if (bad)
        *why = arena_printf(a, "%s [target-unknown]", bad);
    return !bad;
}

bool target_take_lanes(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    enum { LANES_MOST = 64 };
    char *end;
    long n = strtol(value, &end, 10);

    if (end == value || *end || n < 1 || n > LANES_MOST || (n & (n - 1))) {
        *why = arena_printf(a, "'%s' is no size of a subgroup: 1, 2, 4, 8, 16, 32 or 64 "
                            "[target-unknown]", value);
        return false;
    }
    s->machine.lanes = (int)n;
    return true;
}

const char *target_show_lanes(Arena *a, const TargetSpec *s)
{
    return s->machine.lanes > 1 ? arena_printf(a, "%d", s->machine.lanes) : NULL;
}

bool target_take_arch(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    const char *model = s->model, *bad = s->target->read_arch(a, value, s);

    s->arch_given = true;
    return taken(a, !bad && model ? s->target->read_model(a, model, s) : bad, why);
}

const char *target_show_arch(Arena *a, const TargetSpec *s)
{
    (void)a;
    return s->arch;
}

/* Others write "unknown" where they know none. */
bool target_take_model(Arena *a, TargetSpec *s, const char *value, const char **why)
{
    bool named = strcmp(value, "unknown") != 0;
    return taken(a, named ? s->target->read_model(a, value, s) : NULL, why);
}

const char *target_show_model(Arena *a, const TargetSpec *s)
{
    (void)a;
    return s->model;
}

static const char *show_threads(Arena *a, const TargetSpec *s)
{
    return s->max_threads ? arena_printf(a, "%d", s->max_threads) : NULL;
}

static const char *show_shared(Arena *a, const TargetSpec *s)
{
    return s->max_shared ? arena_printf(a, "%lld", (long long)s->max_shared) : NULL;
}

const TargetOption target_block_options[] = {
    {"-max_num_threads=", take_threads, show_threads, "blocks with more are refused"},
    {"-max_threads_per_block=", take_threads, NULL, "the same"},
    {"-max_shared_memory_per_block=", take_shared, show_shared, "bytes that tiles may take"},
    {"-thread_warp_size=", take_warp, NULL, "must be that of the target"},
    {0},
};

static const TargetOption common_options[] = {
    {"-keys=", take_keys, NULL, "must describe the target"},
    {0},
};

const TargetOption *target_option(const Target *t, int i)
{
    const TargetOption *const tables[] = {t->options, t->more_options, common_options};

    for (int n = 0; n < COUNT(tables); n++)
        for (const TargetOption *o = tables[n]; o && o->word; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

/* ---- text to spec ---------------------------------------------------------------------------- */

static bool is_option(const TargetOption *o, const char *word)
{
    size_t n = strlen(o->word);
    return o->word[n - 1] == '=' ? !strncmp(word, o->word, n) : !strcmp(word, o->word);
}

enum { OPTIONS_MOST = 32 };

/* The words before this one that said something; options that say the same thing have one take. */
typedef struct {
    const TargetOption *option[OPTIONS_MOST];
    const char *word[OPTIONS_MOST];
    int n;
} Said;

static bool agrees(Arena *a, Said *said, const TargetOption *o, const char *word, const char **why)
{
    for (int i = 0; i < said->n; i++) {
        const TargetOption *other = said->option[i];
        if (other->take != o->take ||
            !strcmp(said->word[i] + strlen(other->word), word + strlen(o->word)))
            continue;
        *why = arena_printf(a, "'%s' says another thing than '%s' [target-unknown]", word,
                            said->word[i]);
        return false;
    }
    if (said->n < OPTIONS_MOST) {
        said->option[said->n] = o;
        said->word[said->n++] = word;
    }
    return true;
}

static bool spec_option(Arena *a, TargetSpec *s, const char *word, Said *said, const char **why)
{
    const char *names[OPTIONS_MOST];
    const TargetOption *o;
    int n = 0;

    for (; (o = target_option(s->target, n)) && !is_option(o, word); n++)
        names[MIN(n, COUNT(names) - 1)] = o->word;
    if (o && o->take)
        return agrees(a, said, o, word, why) && o->take(a, s, word + strlen(o->word), why);
    if (o) {
        s->ignored = arena_printf(a, "%s%s%.*s", s->ignored ? s->ignored : "",
                                  s->ignored ? " " : "", (int)strcspn(word, "="), word);
        return true;
    }
    char *head = arena_strndup(a, word, strcspn(word, "=") + (strchr(word, '=') != NULL));
    const char *near = nearest_name(head, names, MIN(n, COUNT(names)));
    *why = arena_printf(a, "unknown option '%s' of target %s%s%s%s [target-unknown]", word,
                        s->target->name, near ? "; did you mean '" : "", near ? near : "",
                        near ? "'?" : "");
    return false;
}

/* Part of the cache key: what changes the text, in one order. */
static const char *spec_text(Arena *a, const TargetSpec *s)
{
    const TargetOption *o;
    Str t;

    str_init(&t, a);
    str_puts(&t, s->target->name);
    for (int i = 0; (o = target_option(s->target, i)); i++) {
        const char *value = o->show ? o->show(a, s) : NULL;
        if (value)
            str_printf(&t, " %s%s", o->word, value);
    }
    return t.s;
}

/* An architecture where the name of a target should stand, or a slip of one. */
static const char *suggest_target(Arena *a, const char *word)
{
    const char *names[16], *found = NULL;
    int n = 0;

    for (int i = 0; i < target_count && n < COUNT(names) && !found; i++) {
        names[n++] = target_table[i]->name;
        if (target_table[i]->suggest)
            found = target_table[i]->suggest(a, word);
    }
    if (!found)
        found = nearest_name(word, names, n);
    return found ? arena_printf(a, "; did you mean '%s'?", found) : "";
}

static const char *unknown_target(Arena *a, const char *word)
{
    Str known;

    str_init(&known, a);
    for (int i = 0; i < target_count; i++)
        str_printf(&known, "%s%s", i ? ", " : "", target_table[i]->name);
    for (int i = 0; i < COUNT(foreign); i++)
        if (!strcmp(word, foreign[i]))
            return arena_printf(a, "the target '%s' is not supported; there are %s "
                                "[target-unsupported]", word, known.s);
    return arena_printf(a, "no target '%s' in this build; there are %s%s [target-unknown]", word,
                        known.s, suggest_target(a, word));
}

/* Words, with one blank between: those of an alias that the text does not say otherwise, then the
 * text's. */
static void join_words(Arena *a, Str *out, const char *own, const char *text)
{
    char *rest = NULL, *copy = arena_strdup(a, own);

    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        if (!strstr(text, arena_strndup(a, w, strcspn(w, "=") + 1)))
            str_printf(out, " %s", w);
    copy = arena_strdup(a, text);
    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        str_printf(out, " %s", w);
}

static bool take_words(Arena *a, TargetSpec *s, const char *words, const char **why)
{
    char *rest = NULL, *copy = arena_strdup(a, words);
    Said said = {.n = 0};

    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        if (!spec_option(a, s, w, &said, why)) {
            s->bad = w;
            return false;
        }
    return true;
}

void target_settle_shared(TargetSpec *s)
{
    if (s->max_shared)
        s->machine.shared_block = s->machine.shared_unit = s->max_shared;
}

static void settle_machine(Arena *a, TargetSpec *s)
{
    Machine *m = &s->machine;

    s->text = m->text = spec_text(a, s);
    m->name = s->arch;
    if (s->target->settle)
        s->target->settle(s);
    if (s->max_threads)
        m->threads_block = s->max_threads;
    if (s->max_shared && (!m->shared_block || s->max_shared < m->shared_block))
        m->shared_block = s->max_shared;
}

/* A target and words of its own that a first word stands for.  Where it names a runtime, the target
 * may follow: "sim template" is that one in the simulator.  *rest: what is behind all that;
 * *called: as the user has it. */
static const char *meaning(Arena *a, TargetSpec *s, const char *word, const char **rest,
                           const char **called)
{
    const Target *t = target_find(word, strlen(word));
    const char *own = t ? t->name : word, *next = *rest + strspn(*rest, " ");

    if (!strcmp(word, "sim")) {
        own = simulated(a);
        s->runtime = "sim";
    }
    for (int i = 0; i < target_count && strchr(word, '/'); i++) { /* the tag of a product */
        const char *meant = target_table[i]->suggest ? target_table[i]->suggest(a, word) : NULL;
        own = meant ? meant : own;
    }
    *called = s->runtime ? word : arena_strndup(a, own, strcspn(own, " "));
    if (s->runtime && (t = target_find(next, strcspn(next, " ")))) {
        own = t->name;
        *rest = next + strcspn(next, " ");
        *called = arena_printf(a, "%s %s", word, own);
    }
    return own;
}

bool target_parse(Arena *a, const char *text, TargetSpec *s, const char **why)
{
    const char *called;
    Str words;

    *s = (TargetSpec){.arch = ""};
    text = text ? text + strspn(text, " ") : "";
    text = *text ? text : "auto";
    const char *word = arena_strndup(a, text, strcspn(text, " ")), *rest = text + strlen(word);
    const char *own = meaning(a, s, word, &rest, &called);
    s->target = target_find(own, strcspn(own, " "));
    if (!s->target) {
        *why = unknown_target(a, word);
        s->bad = word;
        return false;
    }
    str_init(&words, a);
    join_words(a, &words, own + strcspn(own, " "), rest);
    s->said = arena_printf(a, "%s%s", called, words.n ? words.s : "");
    s->told = arena_printf(a, "%s%s", s->target->name, words.n ? words.s : "");
    if (!s->runtime)
        s->runtime = s->target->runtime;
    s->machine = (Machine){.has = s->target->has, .lanes = 1, .group_warps = 1,
                            .access_bytes = 16, .named_barriers = 16};
    if (s->target->start)
        s->target->start(a, s);
    if (!take_words(a, s, words.n ? words.s : "", why))
        return false;
    settle_machine(a, s);
    return true;
}
