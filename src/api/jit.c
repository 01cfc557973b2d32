/* jit.c -- emitted text becomes a callable: from the cache when it is there, else by the
 * compiler. */
#include "api/api.h"

/* Infinities mask and NaN tells of errors, so both keep their meaning. */
#define FAST_CPU "-fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math"

/* Factories call their kernel "main"; people know it by the factory. */
const char *kernel_name(const tl_kernel *k)
{
    const Func *f = k->build.tile;
    return f->known_as ? f->known_as : f->name;
}

/* compile_flags=, and what pass configs ask of the compiler below. */
const char *jit_flags(tl_kernel *k)
{
    const Func *f = k->build.func;
    const Hint *own = hint_find(f->hints, "compile_flags");
    int64_t level = config_int(f, CONFIG_ptxas_register_usage_level);
    bool fast = config_on(f, CONFIG_enable_fast_math) || !config_on(f, CONFIG_disable_fast_math);
    Str s;

    str_init(&s, k->arena);
    if (own && own->text)
        str_printf(&s, " %s", own->text);
    if (fast)
        str_printf(&s, " %s", is_gpu(k) ? "--use_fast_math" : FAST_CPU);
    if (is_gpu(k) && config_text(f, CONFIG_device_compile_flags))
        str_printf(&s, " %s", config_text(f, CONFIG_device_compile_flags));
    if (is_gpu(k) && level >= 0)
        str_printf(&s, " --ptxas-options=--register-usage-level=%d", (int)level);
    if (config_on(f, CONFIG_enable_debug))
        str_puts(&s, is_gpu(k) ? " -lineinfo" : " -g");
    return s.n ? s.s + 1 : NULL;
}

ModuleSpec jit_spec(tl_kernel *k)
{
    ModuleSpec s = {.name = kernel_name(k),
                    .source = k->build.source.s,
                    .nsource = k->build.source.n,
                    .spec = &k->request.spec,
                    .extra = jit_flags(k),
                    .no_cache = k->no_cache};
    if (k->own_source) {
        s.source = k->own_source;
        s.nsource = strlen(k->own_source);
    }
    return s;
}

/* The compiler's name and version are asked for once per context. */
Compiler context_compiler(tl_context *c)
{
    const char *why = "";

    pthread_mutex_lock(&c->lock);
    Recover r;
    volatile Status st = STATUS_MEM;
    if (recover_open(&r) == 0) {
        st = compiler_find(c->arena, &c->cc, &why);
        recover_close(&r);
    }
    Compiler cc = c->cc;
    pthread_mutex_unlock(&c->lock);
    if (st != STATUS_OK)
        recover_throw(st, "%s", r.status != STATUS_OK ? r.text : why);
    return cc;
}

/* The first kernel with C text of the user's in it. */
static const Kernel *with_source(const Func *f)
{
    for (int i = 0; f && i < f->kernels.n; i++)
        if (f->kernels.at[i]->prelude)
            return f->kernels.at[i];
    return NULL;
}

/* What was found out after the warnings of the kernel itself were written; NULL: nothing. */
void warn_late(tl_kernel *k, const char *text)
{
    if (text)
        k->warnings =
            arena_printf(k->arena, "%swarning: %s\n", k->warnings ? k->warnings : "", text);
}

void jit(tl_kernel *k)
{
    if (!k->build.source.n) /* the target emits nothing */
        return;
    if (is_gpu(k)) {
        jit_gpu(k);
        return;
    }
    Compiler cc = context_compiler(k->ctx);
    ModuleSpec s = jit_spec(k);
    const char *why = "";
    Status st = module_build(k->arena, &cc, &s, &k->module, &why);

    k->build.cc_seconds = k->module.seconds;
    warn_late(k, k->module.warning);
    if (st != STATUS_OK) {
        const Kernel *own = with_source(k->build.func);
        if (k->module.compiled)
            diag_error(&k->build.diag, NO_SPAN, "%s [compiled-kernel]", why);
        else if (own)
            diag_error(
                &k->build.diag, own->span,
                "the C compiler did not take this kernel, which has C "
                "text of its own (T.import_source, prelude=); on this target it must be C: %s "
                "[compiler-failed]",
                why);
        else
            diag_error(&k->build.diag, NO_SPAN, "the C compiler did not take what we emitted: %s "
                       "[compiler-failed]", why);
        recover_throw(st, "%s", why);
    }
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
