/* twin.c -- a function's text on the host: built once, run as often as one likes. */
#include <pthread.h>
#include "twin/machine.h"

struct Twin {
    Module module;
    GpuModule *gpu;
};

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

Status twin_open(Arena *a, Compiler *c, Func *f, const ModuleSpec *s, Twin **out, const char **why)
{
    static const TargetSpec host = {.text = "host", .arch = "any"};
    const Language *d = language_find(s->spec->target->name);
    Str text;

    if (!d) {
        *why = arena_printf(a, "the text of target %s does not run on the host; that of cuda does "
                               "[twin-target]", s->spec->target->name);
        return STATUS_TARGET;
    }
    str_init(&text, a);
    Status st = twin_translate(a, d, s->source, &text, why);
    if (st != STATUS_OK)
        return st;
    Twin *t = NEW(a, Twin);
    ModuleSpec spec = {.name = "text twin", .source = text.s, .nsource = text.n, .spec = &host,
                       .no_cache = s->no_cache, .flags = d->flags};
    st = module_build(a, c, &spec, &t->module, why);
    if (st != STATUS_OK) {
        *why = refused(a, arena_printf(a, "the %s of '%s'", d->name, f->name), *why);
        return st;
    }
    const DeviceCode code = {.cubin = (char *)&t->module.handle, .ncubin = sizeof(void *)};
    st = gpu_load(a, twin_gpu(), f, &code, &t->gpu, why);
    if (st == STATUS_OK)
        *out = t;
    else
        module_free(&t->module);
    return st;
}

void twin_close(Twin *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&lock);
    gpu_unload(t->gpu);
    pthread_mutex_unlock(&lock);
    module_free(&t->module);
}


static Status run_here(Twin *t, const SimArg *args, int narg, const Binding1 *b, const uint8_t *use,
                       char *text, size_t ntext)
{
    enum { ROOM = 480 };
    char what[ROOM] = "";
    TlThread **(*entry)(const TlHost *) = NULL;

    memcpy(&entry, &t->module.entry, sizeof entry);
    machine = (TwinMachine){.scratch = arena_new(), .module = t->gpu, .text = what, .ntext = ROOM};
    if (!machine.scratch)
        recover_throw(STATUS_MEM, "out of memory");
    machine.shown = entry(&twin_host);
    faults_catch();
    Status s = gpu_run(t->gpu, args, narg, b, use, NULL, NULL, text, ntext);
    faults_leave();
    arena_free(machine.scratch);
    if (s != STATUS_OK && machine.failed) {
        snprintf(text, ntext, "%s", what);
        s = STATUS_USER;
    }
    if (s == STATUS_OK && !memory_untouched(t->gpu, text, ntext))
        s = STATUS_USER;
    machine = (TwinMachine){0};
    return s;
}

Status twin_run(Twin *t, const SimArg *args, int narg, const Binding1 *b, const uint8_t *use,
                char *text, size_t ntext)
{
    Recover r;
    volatile Status s = STATUS_OK;

    pthread_mutex_lock(&lock);
    if (recover_open(&r) == 0) {
        s = run_here(t, args, narg, b, use, text, ntext);
        recover_close(&r);
    }
    pthread_mutex_unlock(&lock);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return s;
}
