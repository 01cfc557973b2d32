/* run.c -- the pass runner: the only place that knows about hygiene.
 *
 * Before a pass: what it needs must hold (FORM_SIMPLE is restored by simplifying).  After it: the
 * promise of its verb is checked, form bits move, the verifier reads the body, dumps are
 * written. */
#include "pass/verify.h"

const Pass pass_table[PASS_COUNT] = {
#define PASS(name, when, needs, gives, breaks, doc, why)                                           \
    {#name, when, needs, gives, breaks, pass_##name, doc, why},
#include "pass/pass.def"
#undef PASS
};

int pass_find(const char *name)
{
    for (int i = 0; i < PASS_COUNT; i++)
        if (!strcmp(pass_table[i].name, name))
            return i;
    return -1;
}

static bool has_verb(const Pass *p, const char *verb)
{
    return !strncmp(p->name, verb, strlen(verb));
}

static void keep_promise(const Pass *p, const Stmt *before, const Kernel *k)
{
    if (has_verb(p, "check_") || has_verb(p, "plan_"))
        BUG(k->body != before, "%s changed a statement", p->name);
}

static bool wants_dump(const Pass *p, const PassOptions *o)
{
    return o->out && o->dump >> (p - pass_table) & 1;
}

static void dump(Kernel *k, const Pass *p, const PassOptions *o, bool changed)
{
    if (!wants_dump(p, o) || o->dump_dir)
        return;
    str_printf(o->out, "# after %s of %s%s\n", p->name, k->name, changed ? "" : " (unchanged)");
    if (changed || p->gives)
        print_kernel(o->out, k);
}

static void dump_file(const Func *f, const Pass *p, const PassOptions *o)
{
    Arena *a = f->kernels.at[0]->scratch;
    Str text;
    const char *why = NULL;

    str_init(&text, a);
    print_func(&text, f);
    char *name = arena_printf(a, "%02d-%s.tile", (int)(p - pass_table) + 1, p->name);
    if (dir_make(a, o->dump_dir, &why) ||
        file_write(a, path_join(a, o->dump_dir, name), text.s, text.n, &why))
        recover_throw(STATUS_IO, "%s", why);
}

enum { RUNS_MOST = 3 }; /* of simplification */

static void pass_run(Kernel *k, const Pass *p, const PassOptions *o)
{
    k->ir->at = k->span;
    if (p->needs & ~k->form & FORM_SIMPLE) {
        const Stmt *was = NULL; /* a run may leave something for the next: math_float.py:checks */
        for (int i = 0; i < RUNS_MOST && k->body != was; i++) {
            was = k->body;
            simplify_kernel(k);
        }
        if (o->check)
            verify_promise(k, FORM_SIMPLE, "simplification");
    }
    BUG((k->form & p->needs) != p->needs, "%s needs forms %x, has %x", p->name, p->needs, k->form);

    const Stmt *before = k->body;
    double start = o->seconds ? now_seconds() : 0;
    ArenaMark m = arena_mark(k->scratch);
    p->run(k);
    if (k->scratch != k->arena) /* a Kernel without a scratch of its own keeps what it made */
        arena_reset(k->scratch, m);
    if (o->seconds)
        o->seconds[p - pass_table] += now_seconds() - start;

    keep_promise(p, before, k);
    if (k->body != before)
        k->form &= ~p->breaks;
    k->form |= p->gives;
    if (k->diag->nerror)
        diag_throw(k->diag);
    verify_kernel(k, p->name);
    if (o->check)
        verify_promise(k, p->gives, p->name);
    dump(k, p, o, k->body != before);
    if (o->check && k->body != before && !o->check(o->check_arg, k, p))
        diag_throw(k->diag);
}

/* Pass by pass, so that between two of them all kernels have the same form. */
void pass_run_all(Func *f, const PassOptions *o)
{
    int last = o->stop_after >= 0 ? o->stop_after : PASS_COUNT - 1;

    f->ndeclared = f->ir->nbuf;
    for (int i = MAX(o->from, 0); i <= last; i++) {
        const Pass *p = &pass_table[i];
        bool ran = false;
        for (int j = 0; j < f->kernels.n && !(o->skip >> i & 1); j++) {
            Kernel *k = f->kernels.at[j];
            if (!kernel_has(k, p->when))
                continue;
            pass_run(k, p, o);
            ran = true;
        }
        if (ran && o->dump_dir && wants_dump(p, o))
            dump_file(f, p, o);
    }
}
