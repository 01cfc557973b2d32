/* common.c -- FILE[:FUNC] NAME=VALUE …, compiling with messages, exit codes, progress. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "cli/cli.h"

/* ---- messages -------------------------------------------------------------------------------- */

int exit_code(tl_status s)
{
    switch (s) {
    case TL_OK: return EXIT_OK;
    case TL_EUSER:
    case TL_ETARGET: return EXIT_USER;
    case TL_EBUG: return EXIT_BUG;
    default: return EXIT_MACHINE;
    }
}

int fail_with(tl_context *c, tl_status s)
{
    const char *text = tl_message(c);
    size_t n = strlen(text);

    fflush(stdout);
    fputs(text, stderr);
    if (n == 0 || text[n - 1] != '\n')
        fputc('\n', stderr);
    return exit_code(s);
}

int fail_text(int code, const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fputs("tl: error: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return code;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

int verb_help(Arena *a, const Verb *v)
{
    Str s;
    str_init(&s, a);
    opt_help(&s, "tl", v);
    fputs(s.s, stdout);
    return EXIT_OK;
}

int verb_call(Arena *a, const Verb *v, int argc, char **argv)
{
    void *options = arena_alloc(a, v->options_size + 1);
    const char **args, *why;
    int nargs;

    if (v->start)
        memcpy(options, v->start, v->options_size);
    if (!opt_parse(a, v, argc, argv, options, &args, &nargs, &why)) {
        if (!why)
            return verb_help(a, v);
        return fail_text(EXIT_USAGE, "%s", why);
    }
    return v->run(options, nargs, args);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool is_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
              (i > 0 && s[i] >= '0' && s[i] <= '9')))
            return false;
    return n > 0;
}

/* The last colon parts file and function, unless a file has that very name. */
static void take_file(Job *j, const char *word)
{
    const char *colon = strrchr(word, ':');

    j->file = word;
    if (!colon || file_exists(word) || !is_name(colon + 1, strlen(colon + 1)))
        return;
    j->file = arena_strndup(j->arena, word, (size_t)(colon - word));
    j->func = colon + 1;
}

int job_open(Job *j, int nargs, const char **args)
{
    *j = (Job){.arena = arena_new(), .ctx = tl_open()};
    if (!j->arena || !j->ctx)
        return fail_text(EXIT_MACHINE, "out of memory");
    tl_set_color(j->ctx, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
    j->defines = NEWN(j->arena, tl_define, nargs + 1);
    for (int i = 0; i < nargs; i++) {
        const char *equal = strchr(args[i], '=');
        if (equal && is_name(args[i], (size_t)(equal - args[i])))
            j->defines[j->ndefine++] = (tl_define){
                arena_strndup(j->arena, args[i], (size_t)(equal - args[i])), equal + 1};
        else if (!j->file)
            take_file(j, args[i]);
        else
            return fail_text(EXIT_USAGE, "'%s' is neither an option nor NAME=VALUE", args[i]);
    }
    if (!j->file)
        return fail_text(EXIT_USAGE, "which FILE?");
    return EXIT_OK;
}

void job_close(Job *j)
{
    tl_close(j->ctx);
    arena_free(j->arena);
}

const char *define_of(const Job *j, const char *name)
{
    for (int i = 0; i < j->ndefine; i++)
        if (!strcmp(j->defines[i].name, name))
            return j->defines[i].value;
    return NULL;
}

static void print_warnings(tl_kernel *k)
{
    const char *text = tl_kernel_text(k, TL_TEXT_WARNINGS);
    if (*text)
        fputs(text, stderr);
}

static bool is_runtime_name(tl_kernel *k, const char *name)
{
    for (int i = 0; i < tl_kernel_nparam(k); i++) {
        tl_param p = tl_kernel_param(k, i);
        if (p.is_scalar && !strcmp(p.name, name))
            return true;
    }
    for (int i = 0; i < tl_kernel_ndim(k); i++)
        if (!strcmp(tl_kernel_dim(k, i), name))
            return true;
    return false;
}

/* Names that are no knobs must be scalars or run-time dimensions. */
static bool all_known(tl_kernel *k)
{
    const char *name;

    for (int i = 0; (name = tl_kernel_unused(k, i)); i++)
        if (!is_runtime_name(k, name))
            return false;
    return true;
}

/* --config NAME=VALUE; alone it is NAME=1 */
static void take_configs(Job *j, const OptList *list, tl_options *o)
{
    tl_define *all = NEWN(j->arena, tl_define, list->n + 1);

    for (int i = 0; i < list->n; i++) {
        const char *eq = strchr(list->at[i], '=');
        size_t n = eq ? (size_t)(eq - list->at[i]) : strlen(list->at[i]);
        all[i] = (tl_define){arena_strndup(j->arena, list->at[i], n), eq ? eq + 1 : "1"};
    }
    o->configs = all;
    o->nconfig = list->n;
}

int check_device(Job *j, const char *target, const char *option, bool wanted)
{
    tl_target_facts facts = TL_TARGET_FACTS_INIT;

    if (!option || tl_target_ask(j->ctx, target, &facts) != TL_OK || facts.device == wanted)
        return EXIT_OK; /* of a target that is none the compiler tells */
    return fail_text(EXIT_USAGE, "--%s is for %s; the target is '%s'", option,
                     wanted ? "kernels that a device runs" : "kernels that worker threads run",
                     facts.name);
}

int job_compile(Job *j, const CommonOptions *c, tl_options *o, tl_kernel **k)
{
    int code = check_device(j, c->target, c->line_info ? "line-info" : NULL, true);
    if (code == EXIT_OK)
        code = check_device(j, c->target, c->threads ? "threads" : NULL, false);
    if (code != EXIT_OK)
        return code;
    o->size = sizeof *o;
    o->target = c->target;
    o->func = j->func;
    o->defines = j->defines;
    o->ndefine = j->ndefine;
    o->no_cache = c->no_cache;
    o->source = c->source;
    o->line_info = c->line_info;
    o->warnings_are_errors = c->werror;
    o->threads = (int)c->threads;
    o->allow_unused = true;
    take_configs(j, &c->configs, o);
    Progress *p = progress_start("compiling");
    tl_status s = tl_compile(j->ctx, j->file, NULL, o, k);
    progress_stop(p);
    if (s != TL_OK)
        return fail_with(j->ctx, s);
    if (!c->quiet)
        print_warnings(*k);
    fputs(tl_kernel_text(*k, TL_TEXT_REPORT), stderr);
    if (all_known(*k))
        return EXIT_OK;
    tl_kernel_free(*k);
    o->allow_unused = false; /* the front end says best what is wrong with the name */
    o->no_build = true;
    s = tl_compile(j->ctx, j->file, NULL, o, k);
    if (s != TL_OK)
        return fail_with(j->ctx, s);
    tl_kernel_free(*k);
    *k = NULL;
    return fail_text(EXIT_USER, "a NAME=VALUE names nothing of the kernel [no-such-parameter]");
}

/* ---- progress -------------------------------------------------------------------------------- */

struct Progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
    const char *what;
};

static void wait_tenths(Progress *p, int tenths)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += tenths * 100000000L;
    t.tv_sec += t.tv_nsec / 1000000000L;
    t.tv_nsec %= 1000000000L;
    if (!p->stop)
        pthread_cond_timedwait(&p->wake, &p->lock, &t);
}

static void *show_progress(void *arg)
{
    Progress *p = arg;
    double start = now_seconds();
    bool shown = false;

    pthread_mutex_lock(&p->lock);
    wait_tenths(p, 5);
    while (!p->stop) {
        fprintf(stderr, "\r%s … %.1f s", p->what, now_seconds() - start);
        shown = true;
        wait_tenths(p, 1);
    }
    if (shown)
        fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

Progress *progress_start(const char *what)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    Progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->what = what;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    if (pthread_create(&p->thread, NULL, show_progress, p) == 0)
        return p;
    free(p);
    return NULL;
}

void progress_stop(Progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    free(p);
}
