/* twin.c -- a function's text on the host, as a runtime: built once, run as often as one likes. */
#include <pthread.h>
#include "twin/machine.h"

/* One run at a time: signals, stacks and the pointer to the running thread are the process's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The compiler's words about a text that it does not take, without its path. */
static const char *refused(Arena *a, const char *what, const char *why)
{
    if (strstr(why, "cc1plus"))
        return arena_printf(a, "running %s on the host takes a C++ compiler beside the C compiler; "
                               "please install g++ [twin-compiler]", what);
    return arena_printf(a, "%s is not taken by the host's compiler: %s [twin-compiler]", what, why);
}

static Status twin_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why)
{
    static const TargetSpec host = {.text = "host", .arch = "any"};
    const Language *d = language_find(s->spec->target->name);
    Str text;

    *out = (Module){0};
    if (!d) {
        *why = arena_printf(a, "the text of target %s does not run on the host; that of these "
                               "does:%s [twin-target]", s->spec->target->name, language_targets);
        return STATUS_TARGET;
    }
    str_init(&text, a);
    Status st = twin_translate(a, d, s->source, &text, why);
    if (st != STATUS_OK)
        return st;
    ModuleSpec spec = {.name = "text twin", .source = text.s, .nsource = text.n, .spec = &host,
                       .no_cache = s->no_cache, .flags = twin_quick_flags};
    st = module_build(a, c, &spec, out, why);
    if (st == STATUS_TOOL) { /* a name that is nowhere is told best by the linker */
        spec.flags = twin_flags;
        st = module_build(a, c, &spec, out, why);
    }
    if (st == STATUS_TOOL)
        *why = refused(a, arena_printf(a, "the %s of '%s'", d->name, s->name), *why);
    else if (st == STATUS_IO)
        *why = arena_printf(a, "%s [twin-compiler]", *why);
    return st;
}

static const Assembly *assembly_of(const Func *f)
{
    static const Assembly none = {0};
    return f->kernels.n ? language_find(f->kernels.at[0]->target->name)->assembly : &none;
}

static Status twin_load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out,
                        const char **why)
{
    (void)g;
    return gpu_load(a, twin_gpu(a, assembly_of(f)), f, code, out, why);
}

static void twin_unload(Loaded *l)
{
    pthread_mutex_lock(&lock);
    gpu_unload(l);
    pthread_mutex_unlock(&lock);
}

static int lanes_of(const Func *f)
{
    return f->kernels.n ? MIN(f->kernels.at[0]->machine->lanes, LANES_MOST) : LANES_MOST;
}

static Status run_here(Loaded *l, const Run *r)
{
    enum { ROOM = 480 };
    char what[ROOM] = "";
    TlThread **(*entry)(const TlHost *) = NULL;

    memcpy(&entry, &l->code->entry, sizeof entry);
    machine = (TwinMachine){.scratch = arena_new(), .module = l, .text = what, .ntext = ROOM,
                            .lanes = lanes_of(l->func), .assembly = assembly_of(l->func)};
    if (!machine.scratch)
        recover_throw(STATUS_MEM, "out of memory");
    machine.shown = entry(&twin_host);
    faults_catch();
    Status s = gpu_run(l, r);
    faults_leave();
    arena_free(machine.scratch);
    if (s != STATUS_OK && machine.failed) {
        snprintf(r->text, r->ntext, "%s", what);
        s = STATUS_USER;
    }
    if (s == STATUS_OK && !memory_untouched(l, r->text, r->ntext))
        s = STATUS_USER;
    machine = (TwinMachine){0};
    return s;
}

static Status twin_run(Loaded *l, const Run *run)
{
    Recover r;
    volatile Status s = STATUS_OK;

    if (run->timing)
        recover_throw(STATUS_USER, "'%s' is run as text on the host, whose times say nothing "
                      "[not-built]", l->func->name);
    pthread_mutex_lock(&lock);
    if (recover_open(&r) == 0) {
        s = run_here(l, run);
        recover_close(&r);
    }
    if (r.status != STATUS_OK) { /* thrown: nothing was put back */
        faults_leave();
        arena_free(machine.scratch);
        machine = (TwinMachine){0};
    }
    pthread_mutex_unlock(&lock);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return s;
}

const Runtime runtime_twin = {
    .name = "twin",
    .compiler = "the host's C++ compiler",
    .language = "the target's own",
    .ending = "txt",
    .fast_math = "",
    .line_info = "",
    .find = compiler_find,
    .build = twin_build,
    .load = twin_load,
    .unload = twin_unload,
    .run = twin_run,
    .one_at_a_time = true,
};
