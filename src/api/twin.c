/* twin.c -- the emitted text of a kernel, compiled for the host and run thread by thread. */
#include "api/public.h"
#include "twin/twin.h"

enum { TEXT_BYTES = 480 };

/* The caller holds the kernel's lock, or nobody else has the kernel yet. */
static void build_twin(tl_kernel *k)
{
    const char *why = "";

    if (k->twin.loaded)
        return;
    k->twin.rt = &runtime_twin;
    Compiler cc = context_compiler(k->ctx, k->twin.rt);
    ModuleSpec s = jit_spec(k);
    const Language *d = language_find(s.spec->target->name);
    if (d && !twin_has_fences(d, k->build.func, s.source))
        recover_throw(STATUS_USER, "the text of '%s' has fewer fences than the orders of its "
                                   "atomics ask for [twin-fault]", s.name);
    Status st = k->twin.rt->build(k->build.arena, &cc, &s, &k->twin.module, &why);
    if (st != STATUS_OK) {
        diag_error(&k->build.diag, NO_SPAN, "%s", why);
        recover_throw(st, "%s", why);
    }
    built_load(k, &k->twin);
}

void run_twin(tl_kernel *k, const SimArg *args, int narg)
{
    Func *f = k->build.tile;
    Arena *a = k->arena;
    Binding1 b = {NEWN(a, void *, f->params.n + 1),
                  NEWN(a, int64_t, f->params.n + f->dims.n + 1),
                  NEWN(a, int64_t, k->narrow_vars + 1)};
    char text[TEXT_BYTES] = "";
    Run run = {.args = args, .narg = narg, .b = &b, .use = k->use, .text = text,
               .ntext = sizeof text};

    build_twin(k);
    if (!arguments_bind(f, args, narg, &b, text, sizeof text))
        recover_throw(STATUS_USER, "%s", text);
    Status s = k->twin.rt->run(k->twin.loaded, &run);
    if (s != STATUS_OK) {
        diag_error(&k->build.diag, f->kernels.n ? f->kernels.at[0]->span : NO_SPAN, "%s", text);
        recover_throw(s, "%s", text);
    }
}

void check_text(tl_kernel *k)
{
    SimArg *got = checker_arguments(k->build.checker, k->arena);

    run_twin(k, got, k->build.tile->params.n);
    if (!checker_same(k->build.checker, k->build.func->kernels.at[0], "as emitted", got))
        diag_throw(&k->build.diag);
}
