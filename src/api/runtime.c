/* runtime.c -- the runtimes of rt/runtime.def as a context has them: each one's compiler and device
 * are looked for once, and a kernel is loaded by its first run.
 *
 * Building needs no device and no driver. */
#include "api/public.h"

#define RUNTIME(name) extern const Runtime runtime_##name;
#include "rt/runtime.def"
#undef RUNTIME

static const Runtime *const table[] = {
#define RUNTIME(name) &runtime_##name,
#include "rt/runtime.def"
#undef RUNTIME
};
_Static_assert(COUNT(table) <= COUNT(((tl_context *)0)->states), "a state for each");

/* name NULL, as of a target that emits nothing: a runtime that can do nothing. */
const Runtime *runtime_find(const char *name)
{
    static const Runtime none = {.name = "none"};

    for (int i = 0; name && i < COUNT(table); i++)
        if (!strcmp(table[i]->name, name))
            return table[i];
    BUG(name != NULL, "no runtime '%s'", name);
    return &none;
}

/* ---- what a context has found ---------------------------------------------------------------- */

static RuntimeState *state_of(tl_context *c, const Runtime *rt)
{
    for (int i = 0; i < COUNT(table); i++)
        if (table[i] == rt)
            return &c->states[i];
    BUG(true, "no runtime '%s'", rt->name);
}

/* Runtimes that look for the same compiler share what was found. */
static Compiler *compiler_of(tl_context *c, const Runtime *rt)
{
    int first = 0;

    while (table[first]->find != rt->find)
        first++;
    return &c->states[first].compiler;
}

Compiler context_compiler(tl_context *c, const Runtime *rt)
{
    const char *why = "";
    Recover r;
    volatile Status st = STATUS_MEM;

    pthread_mutex_lock(&c->lock);
    if (recover_open(&r) == 0) {
        st = rt->find(c->arena, compiler_of(c, rt), &why);
        recover_close(&r);
    }
    Compiler cc = *compiler_of(c, rt);
    pthread_mutex_unlock(&c->lock);
    if (st != STATUS_OK)
        recover_throw(st, "%s", r.status != STATUS_OK ? r.text : why);
    return cc;
}

/* NULL: there is none, and *why says why. */
static Gpu *find_device(tl_context *c, const Runtime *rt, char *why, size_t nwhy)
{
    RuntimeState *s = state_of(c, rt);
    const char *said = "";
    Recover r;

    pthread_mutex_lock(&c->lock);
    if (rt->open && recover_open(&r) == 0) {
        rt->open(c->arena, &s->gpu, &said);
        recover_close(&r);
    }
    Gpu *g = s->gpu;
    snprintf(why, nwhy, "%s", *said ? said : "out of memory");
    pthread_mutex_unlock(&c->lock);
    return g;
}

/* NULL: there is none; *why is about one that is there and cannot be used, or empty. */
static Gpu *any_device(tl_context *c, const Runtime **rt, char *why, size_t nwhy)
{
    char said[400];

    *why = 0;
    for (int i = 0; i < COUNT(table); i++) {
        Gpu *g = table[i]->by_name ? NULL : find_device(c, table[i], said, sizeof said);
        if (g) {
            *rt = table[i];
            return g;
        }
        if (!*why && !table[i]->by_name && strstr(said, DEVICE_UNUSABLE))
            snprintf(why, nwhy, "%s", said);
    }
    return NULL;
}

Gpu *context_device(tl_context *c, const Runtime **rt)
{
    char why[400];
    return any_device(c, rt, why, sizeof why);
}

/* What products of one architecture differ in is asked of the driver. */
static void machine_from_device(Machine *m, const Gpu *g)
{
    const GpuFacts *f = gpu_facts(g);

    m->model = gpu_name(g);
    m->units = f->units;
    m->cache_bytes = f->l2_bytes;
    m->clock_ghz = f->clock_khz * 1e-6;
    m->memory_gbs = 2e-6 * f->memory_khz * f->memory_bits / 8;
}

/* A target whose architecture nobody said is for the device of this machine, where there is one. */
void spec_from_device(tl_context *c, Arena *a, TargetSpec *spec)
{
    const Runtime *rt = runtime_find(spec->runtime);
    char why[400];
    const char *ignored;
    bool asks = rt->open && !spec->arch_given && !spec->model;
    Gpu *g = asks ? find_device(c, rt, why, sizeof why) : NULL;

    if (g && target_parse(a, arena_printf(a, "%s -arch=%s", spec->told, gpu_arch(g)), spec,
                          &ignored))
        machine_from_device(&spec->machine, g);
}

/* What this machine can do for kernels of a target, in one line. */
void runtime_tell(tl_context *c, const Target *t, Str *out)
{
    const Runtime *rt = runtime_find(t->runtime);
    char why[400];
    Recover r;

    if (!rt->find) {
        str_puts(out, "emits nothing");
        return;
    }
    if (recover_open(&r)) {
        str_printf(out, "does not build: %s", r.text);
        return;
    }
    Compiler cc = context_compiler(c, rt);
    recover_close(&r);
    Gpu *g = rt->open ? find_device(c, rt, why, sizeof why) : NULL;
    bool text = cc.version && (!strcmp(cc.version, "none") || !strcmp(cc.version, cc.path));
    if (rt->open && !g && text)
        str_printf(out, "writes text (its compiler is %s); does not run: %s", rt->compiler, why);
    else if (rt->open && !g)
        str_printf(out, "builds (%s); does not run: %s", cc.version ? cc.version : cc.path, why);
    else
        str_printf(out, "builds and runs: %s", g ? gpu_name(g) : cc.version ? cc.version : cc.path);
}

bool device_target(tl_context *c, char *text, size_t n)
{
    const Runtime *rt;
    Gpu *g = any_device(c, &rt, text, n);

    for (int i = 0; g && i < target_count; i++)
        if (runtime_find(target_table[i]->runtime) == rt)
            return snprintf(text, n, "%s -arch=%s", target_table[i]->name, gpu_arch(g)) > 0;
    return false;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The caller holds the kernel's lock, or nobody else has the kernel yet. */
void built_load(tl_kernel *k, Built *b)
{
    const char *said = "";
    char why[400];
    Gpu *g = NULL;

    if (b->loaded)
        return;
    if (b->rt->open && !(g = find_device(k->ctx, b->rt, why, sizeof why)))
        recover_throw(STATUS_TOOL, "%s", why);
    /* Of the arena that stays: in_turn empties the kernel's own. */
    Status s = b->rt->load(k->build.arena, g, k->build.func, &b->module, &b->loaded, &said);
    if (s != STATUS_OK)
        recover_throw(s, "%s", said);
}

void built_free(Built *b)
{
    if (b->loaded)
        b->rt->unload(b->loaded);
    module_free(&b->module);
}

bool built_runs(const Built *b)
{
    return b->module.entry || b->module.binary || b->module.assembly;
}

void resources_text(tl_kernel *k, Str *out)
{
    Func *f = k->build.func;
    const Runtime *rt = k->built.rt;

    if (rt->emulator)
        str_printf(out, "run here by %s, whose times say nothing of the processor\n", rt->emulator);
    for (int i = 0; (rt->open || rt->resources) && i < f->kernels.n; i++) {
        const Kernel *n = f->kernels.at[i];
        if (!n->launch.symbol)
            continue;
        int threads = kernel_launch_threads(n);
        str_printf(out, "%s: %d thread%s", n->launch.symbol, threads, threads == 1 ? "" : "s");
        if (kernel_on_warps(n))
            str_printf(out, ", %lld bytes of shared memory", (long long)n->launch.shared_bytes);
        if (rt->resources)
            rt->resources(&k->built.module, &k->request.spec, n, out);
        str_putc(out, '\n');
    }
}

/* ---- the GPU of this machine ----------------------------------------------------------------- */

bool tl_gpu_info(tl_context *c, tl_gpu *out)
{
    if (!c || !out)
        return false;
    const Runtime *rt;
    Gpu *g = context_device(c, &rt);

    *out = (tl_gpu){0};
    if (!g)
        return false;
    const GpuFacts *f = gpu_facts(g);
    snprintf(out->name, sizeof out->name, "%s", gpu_name(g));
    snprintf(out->arch, sizeof out->arch, "%s", gpu_arch(g));
    out->driver = f->driver;
    out->nsm = f->units;
    out->l2_bytes = f->l2_bytes;
    out->clock_ghz = f->clock_khz * 1e-6;
    out->memory_gbytes = 2e-6 * f->memory_khz * f->memory_bits / 8;
    return true;
}

double tl_gpu_peak(tl_context *c, const char *dtype)
{
    if (!c)
        return 0;
    const Runtime *rt;
    DType t;
    int lanes;
    Gpu *g = context_device(c, &rt);

    return g && dtype && dtype_parse(dtype, &t, &lanes) ? rt->peak(g, t) : 0;
}
