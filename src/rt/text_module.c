/* text_module.c -- kernels of modules that are texts, and what their assertions say. */
#include <stdlib.h>
#include "rt/text_module.h"

/* The function's place: it is made once its kernel is known (text_load). */
int text_function(Handle *f, Handle module, const char *name)
{
    (void)name;
    *f = module;
    return 0;
}

static int make_kernels(const TextKernels *how, Func *f, Loaded *l)
{
    TextModule *m = l->module;
    int r = 0;

    m->fn = calloc((size_t)f->kernels.n + 1, how->size);
    if (!m->fn)
        return how->no_memory;
    for (int i = 0; i < f->kernels.n && r == 0; i++) {
        l->kernel[i] = (char *)m->fn + (size_t)i * how->size;
        r = how->make(m, l->kernel[i], f->kernels.at[i]);
        m->nfn++;
    }
    return r;
}

Status text_load(const TextKernels *how, Arena *a, Gpu *g, Func *f, const Module *code,
                 Loaded **out, const char **why)
{
    Loaded *l = NULL;
    char room[4200];

    for (int i = 0; i < f->kernels.n; i++)
        if (f->kernels.at[i]->launch.args.n > how->args_most) {
            *why = arena_printf(a, "'%s' takes %d arguments; %s is given %d [argument-count]",
                                f->name, f->kernels.at[i]->launch.args.n, how->language,
                                how->args_most);
            return STATUS_USER;
        }
    Status s = gpu_load(a, g, f, code, &l, why);
    if (s != STATUS_OK)
        return s;
    int r = make_kernels(how, f, l);
    if (r) {
        *why = arena_printf(a, "'%s' does not load on %s: %s %s", f->name, g->name,
                            gpu_error(g, r, room, sizeof room), g->tag);
        gpu_unload(l);
        return STATUS_TOOL;
    }
    *out = l;
    return STATUS_OK;
}

void text_free(TextModule *m)
{
    free(m->text);
    free(m->fn);
    free(m);
}

/* "// tl_failed 2 "kernel.py:7: assertion failed: …"" */
const char *text_assertion(const TextModule *m, unsigned number, int *n)
{
    char head[32];

    snprintf(head, sizeof head, "// tl_failed %u ", number);
    const char *at = strstr(m->text, head), *from = at ? at + strlen(head) : "an assertion failed";
    *n = (int)strcspn(from, "\n");
    return from;
}
