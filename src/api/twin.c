/* twin.c -- the emitted text of a kernel, compiled for the host and run thread by thread. */
#include "api/public.h"
#include "twin/twin.h"

enum { TEXT_BYTES = 480 };

/* The caller holds the kernel's lock, or nobody else has the kernel yet. */
static Twin *the_twin(tl_kernel *k)
{
    const char *why = "";

    if (k->twin)
        return k->twin;
    Compiler cc = context_compiler(k->ctx);
    ModuleSpec s = jit_spec(k);
    /* Of the arena that stays: in_turn empties the kernel's own. */
    Status st = twin_open(k->build.arena, &cc, k->build.func, &s, &k->twin, &why);
    if (st != STATUS_OK) {
        diag_error(&k->build.diag, NO_SPAN, "%s", why);
        recover_throw(st, "%s", why);
    }
    return k->twin;
}

void run_twin(tl_kernel *k, const SimArg *args, int narg)
{
    Func *f = k->build.tile;
    Arena *a = k->arena;
    Binding1 b = {NEWN(a, void *, f->params.n + 1),
                  NEWN(a, int64_t, f->params.n + f->dims.n + 1),
                  NEWN(a, int64_t, k->narrow_vars + 1)};
    char text[TEXT_BYTES] = "";
    Twin *t = the_twin(k);

    if (!arguments_bind(f, args, narg, &b, text, sizeof text))
        recover_throw(STATUS_USER, "%s", text);
    Status s = twin_run(t, args, narg, &b, k->use, text, sizeof text);
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
