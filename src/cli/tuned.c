/* tuned.c -- knobs from a tuning library: what tl tune export or tl tune --json wrote. */
#include "cli/cli.h"

/* A config's value as NAME=VALUE has it; NULL: a list or an object, which no knob is. */
static const char *value_text(Arena *a, const JsonValue *v)
{
    Str s;
    Json w;

    if (v->kind == JSON_BOOL)
        return v->b ? "True" : "False";
    if (v->kind == JSON_TEXT || v->kind == JSON_NULL)
        return v->kind == JSON_TEXT ? v->text : "None";
    if (v->kind != JSON_NUMBER)
        return NULL;
    str_init(&s, a);
    json_open(&w, &s);
    json_copy(&w, NULL, v);
    return arena_strndup(a, s.s, strcspn(s.s, "\n"));
}

static bool is_equal(const Job *j, const JsonValue *v)
{
    const char *given = define_of(j, v->key), *was = value_text(j->arena, v);

    return given && was && !strcmp(given, was);
}

/* The kernel, and the arguments that it was tuned for: neither more nor less was given now. */
static bool is_of(const JsonValue *problem, const Job *j, const char *kernel, const char *target)
{
    const JsonValue *args = json_get(problem, "args");
    const char *name = json_get_text(problem, "kernel", NULL),
               *of = json_get_text(problem, "target", NULL);

    if (!name || !args || !of || strcmp(kernel, name) != 0 || (target && strcmp(of, target) != 0))
        return false;
    for (const JsonValue *a = args->first; a; a = a->next)
        if (!is_equal(j, a))
            return false;
    return true;
}

/* Whether what is given beside the arguments is what the row has. */
static bool agrees(const Job *j, const JsonValue *problem, const JsonValue *trial)
{
    const JsonValue *args = json_get(problem, "args"), *config = json_get(trial, "config");

    for (int i = 0; i < j->ndefine; i++) {
        const char *name = j->defines[i].name;
        const JsonValue *knob = config ? json_get(config, name) : NULL;
        if (!json_get(args, name) && (!knob || !is_equal(j, knob)))
            return false;
    }
    return true;
}

static int nsample(const JsonValue *trial)
{
    const JsonValue *list = json_get(trial, "samples");
    int n = 0;

    for (const JsonValue *s = list ? list->first : NULL; s; s = s->next)
        n++;
    return n;
}

/* Of those that were compared longest the fastest, as the tuner chooses: three lucky runs are not
 * worth fifty.  They are listed by time. */
static const JsonValue *best_of(const JsonValue *problem)
{
    const JsonValue *best = json_get(problem, "best"), *trials = json_get(problem, "trials");
    int most = 0;

    if (best && best->kind == JSON_OBJECT)
        return best;
    for (int pass = 0; pass < 2; pass++)
        for (const JsonValue *t = trials ? trials->first : NULL; t; t = t->next) {
            const char *state = json_get_text(t, "state", NULL);
            if (!state || strcmp(state, "ok") != 0)
                continue;
            if (pass && (nsample(t) * 2 > most || most == 0))
                return t;
            most = MAX(most, nsample(t));
        }
    return NULL;
}

static const char *row_text(Arena *a, const JsonValue *problem, const JsonValue *trial)
{
    static const char *const keep[] = {"kernel", "args", "machine", "target", "driver", "compiler"};
    static const char *const own[] = {"config", "ms"};
    Str s;
    Json w;

    str_init(&s, a);
    json_open(&w, &s);
    json_object(&w, NULL);
    for (int i = 0; i < COUNT(keep); i++)
        if (json_get(problem, keep[i]))
            json_copy(&w, keep[i], json_get(problem, keep[i]));
    for (int i = 0; i < COUNT(own); i++)
        if (json_get(trial, own[i]))
            json_copy(&w, own[i], json_get(trial, own[i]));
    json_end(&w, '}');
    return s.s;
}

/* What was tuned stands behind what the command line says. */
static void take_config(Job *j, const JsonValue *config)
{
    int n = j->ndefine;

    for (const JsonValue *c = config ? config->first : NULL; c; c = c->next)
        n++;
    tl_define *all = NEWN(j->arena, tl_define, n + 1);
    memcpy(all, j->defines, (size_t)j->ndefine * sizeof *all);
    j->defines = all;
    for (const JsonValue *c = config ? config->first : NULL; c; c = c->next)
        if (value_text(j->arena, c) && !define_of(j, c->key))
            j->defines[j->ndefine++] = (tl_define){c->key, value_text(j->arena, c)};
}

int tuned_take(Job *j, const char *file, const char *kernel, const char *target, const char **row)
{
    const char *why = "";
    char *text;
    size_t n;

    *row = NULL;
    if (file_read(j->arena, file, &text, &n, &why) != STATUS_OK)
        return fail_text(EXIT_MACHINE, "%s", why);
    const JsonValue *all = json_read(j->arena, text, n, &why);
    if (!all)
        return fail_text(EXIT_USER, "%s is no JSON: %s", file, why);
    const JsonValue *list = json_get(all, "problems"), *p = list ? list->first : all;
    for (; p; p = list ? p->next : NULL) {
        const JsonValue *trial = is_of(p, j, kernel, target) ? best_of(p) : NULL;
        if (!trial || !agrees(j, p, trial))
            continue;
        *row = row_text(j->arena, p, trial);
        take_config(j, json_get(trial, "config"));
        return EXIT_OK;
    }
    fprintf(stderr, "tl: warning: %s has no row of %s for these arguments%s%s: knobs are as given "
            "[bundle-tuned]\n", file, kernel, target ? " and " : "", target ? target : "");
    return EXIT_OK;
}
