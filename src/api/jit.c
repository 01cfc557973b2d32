/* jit.c -- emitted text becomes a callable: from the cache when it is there, else by the
 * compiler. */
#include "api/api.h"

/* Factories call their kernel "main"; people know it by the factory. */
const char *kernel_name(const tl_kernel *k)
{
    const Func *f = k->build.tile;
    return f->known_as ? f->known_as : f->name;
}

/* A flag of compile_flags=, from *at on; NULL: there is no more. */
static const char *next_flag(Arena *a, const char **at)
{
    const char *word = *at + strspn(*at, " \t\n");
    size_t n = strcspn(word, " \t\n");

    *at = word + n;
    return n ? arena_strndup(a, word, n) : NULL;
}

void tell_flags(const Func *f, const TargetSpec *spec)
{
    const Hint *own = hint_find(f->hints, "compile_flags");
    const Runtime *rt = runtime_find(spec->runtime);
    const char *at = own && own->text ? own->text : "", *word;
    Arena *a = f->ir->arena;

    while (rt->knows && (word = next_flag(a, &at)))
        if (!rt->knows(word))
            diag_ignored(f->ir->diag, NO_SPAN, arena_printf(a, "the compile flag %s", word),
                         "the compiler of target %s is not given it [ignored]",
                         spec->target->name);
}

/* compile_flags=, and what pass configs ask of the compiler below. */
const char *jit_flags(tl_kernel *k)
{
    const Func *f = k->build.func;
    const Hint *own = hint_find(f->hints, "compile_flags");
    const char *below = config_text(f, CONFIG_device_compile_flags);
    const Runtime *rt = k->built.rt;
    bool fast = config_on(f, CONFIG_enable_fast_math) || !config_on(f, CONFIG_disable_fast_math);
    const char *at = own && own->text ? own->text : "", *word;
    Str s;

    str_init(&s, k->arena);
    if (!rt->knows && *at)
        str_printf(&s, " %s", at);
    while (rt->knows && (word = next_flag(k->arena, &at)))
        if (rt->knows(word))
            str_printf(&s, " %s", word);
    if (fast && rt->fast_math)
        str_printf(&s, " %s", rt->fast_math);
    if (below && machine_has(&k->request.spec.machine, HAS_THREADS))
        str_printf(&s, " %s", below);
    if (rt->flags)
        rt->flags(f, &s);
    if (config_on(f, CONFIG_enable_debug) && rt->line_info)
        str_printf(&s, " %s", rt->line_info);
    return s.n ? s.s + 1 : NULL;
}

/* The first kernel with C text of the user's in it. */
static const Kernel *with_source(const Func *f)
{
    for (int i = 0; f && i < f->kernels.n; i++)
        if (f->kernels.at[i]->prelude)
            return f->kernels.at[i];
    return NULL;
}

ModuleSpec jit_spec(tl_kernel *k)
{
    ModuleSpec s = {.name = kernel_name(k),
                    .source = k->build.source.s,
                    .nsource = k->build.source.n,
                    .spec = &k->request.spec,
                    .extra = jit_flags(k),
                    .only_ours = !k->own_source && !with_source(k->build.func),
                    .no_cache = k->no_cache};
    if (k->own_source) {
        s.source = k->own_source;
        s.nsource = strlen(k->own_source);
    }
    return s;
}

/* What was found out after the warnings of the kernel itself were written; NULL: nothing. */
static void warn_late(tl_kernel *k, const char *text)
{
    if (text)
        k->warnings =
            arena_printf(k->arena, "%swarning: %s\n", k->warnings ? k->warnings : "", text);
}

/* A program that treats warnings as errors stops at a grave one. */
static void tell(void *arg, const char *text, bool grave)
{
    tl_kernel *k = arg;

    if (grave && k->request.werror) {
        diag_error(&k->build.diag, NO_SPAN, "%s", text);
        recover_throw(STATUS_TOOL, "warnings are errors");
    }
    warn_late(k, text);
}

/* Where a profiler finds the text: a file named by what is in it. */
static void keep_source(tl_kernel *k, ModuleSpec *s)
{
    const Runtime *rt = k->built.rt;
    char hex[33];
    const char *why = "";
    char *dir = path_join(k->arena, cache_root(k->arena), "source");

    hash_hex(s->source, s->nsource, hex);
    s->only_ours = false; /* its code names lines of this text */
    s->extra = arena_printf(k->arena, "%s %s", s->extra ? s->extra : "", rt->line_info);
    s->file = path_join(k->arena, dir,
                        arena_printf(k->arena, "%s-%.12s.%s", s->name, hex, rt->ending));
    Status st = dir_make(k->arena, dir, &why);
    if (st == STATUS_OK && !file_exists(s->file))
        st = file_write(k->arena, s->file, s->source, s->nsource, &why);
    if (st != STATUS_OK)
        recover_throw(st, "%s", why);
}

NORETURN static void refused(tl_kernel *k, Status st, const char *why)
{
    const Kernel *own = with_source(k->build.func);
    const Runtime *rt = k->built.rt;
    Diag *d = &k->build.diag;

    if (st == STATUS_IO)
        diag_error(d, NO_SPAN, "%s [compiler-failed]", why);
    else if (k->built.module.compiled)
        diag_error(d, NO_SPAN, "%s [compiled-kernel]", why);
    else if (own)
        diag_error(d, own->span,
                   "%s did not take this kernel, which has text of its own (T.import_source, "
                   "prelude=); on this target it must be %s: %s [compiler-failed]",
                   rt->compiler, rt->language, why);
    else
        diag_error(d, NO_SPAN, "%s did not take what we emitted: %s [compiler-failed]",
                   rt->compiler, why);
    recover_throw(st, "%s", why);
}

/* What its code had no room for, after the other warnings. */
static void audit_code(tl_kernel *k)
{
    Func *f = k->build.func;
    Diag *d = &k->build.diag, late;
    int said = d->list.n;
    Str s;

    for (int i = 0; k->built.rt->audit && i < f->kernels.n; i++)
        k->built.rt->audit(&k->built.module, f->kernels.at[i]);
    late = *d;
    late.list.at += said;
    late.list.n -= said;
    str_init(&s, k->arena);
    diag_render(&late, &s, k->ctx->color);
    k->warnings = arena_printf(k->arena, "%s%s", k->warnings ? k->warnings : "", s.s);
    if (d->nerror)
        diag_throw(d);
}

void jit(tl_kernel *k)
{
    const Runtime *rt = k->built.rt;
    Module *m = &k->built.module;
    const char *why = "";

    if (!k->build.source.n || !rt->build) /* the target emits nothing, or nothing is built of it */
        return;
    Compiler cc = context_compiler(k->ctx, rt);
    ModuleSpec s = jit_spec(k);
    if (k->line_info && rt->open && !(rt->line_info && *rt->line_info))
        recover_throw(STATUS_USER, "line_info: compilers for target %s keep no lines of the text "
                      "[unsupported-here]", k->request.spec.text);
    if (k->line_info && rt->open)
        keep_source(k, &s);
    Status st = rt->build(k->arena, &cc, &s, m, &why);

    k->build.cc_seconds = m->seconds;
    warn_late(k, m->warning);
    if (st != STATUS_OK)
        refused(k, st, why);
    if (rt->warn)
        rt->warn(k->arena, m, &k->request.spec, tell, k);
    audit_code(k);
}

Workers *context_workers(tl_context *c, int nthread)
{
    Workers *w = NULL;

    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->npool && !w; i++)
        if (c->pools[i].asked == nthread)
            w = c->pools[i].workers;
    if (!w && c->npool < COUNT(c->pools)) {
        w = workers_new(nthread);
        if (w) {
            c->pools[c->npool].workers = w;
            c->pools[c->npool++].asked = nthread;
        }
    } else if (!w) {
        w = c->pools[0].workers; /* more sizes than anybody needs: share the first */
    }
    pthread_mutex_unlock(&c->lock);
    if (!w)
        recover_throw(STATUS_MEM, "out of memory for %d threads", nthread);
    return w;
}
