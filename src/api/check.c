/* check.c -- --check-each: the simulator after every pass, against the tile form.
 *
 * One set of small random arguments; the tile form is simulated once.  After each pass that changed
 * a body the function is simulated again, in whatever form it is in; the first pass after which an
 * output differs is named. */
#include <math.h>
#include "api/api.h"

struct Checker {
    Build *b;
    SimArg *args;     /* as they came */
    SimArg *want;     /* after the tile form ran */
    uint8_t *use;
};

static const uint64_t sample_seed = 20;

/* ---- arguments ------------------------------------------------------------------------------- */

static int64_t elements(const SimArg *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n *= a->shape[d];
    return n;
}

/* Elements from the first to the last one, strides counted. */
static int64_t span_of(const SimArg *a)
{
    int64_t n = 1;
    bool strided = false;

    for (int d = 0; d < a->rank; d++) {
        n += (a->shape[d] - 1) * a->stride[d];
        strided |= a->stride[d] != 0;
    }
    return strided ? MAX(n, elements(a)) : elements(a);
}

static SimArg *sample_arguments(Func *f, Arena *a, uint64_t seed)
{
    static const int64_t sizes[] = {40, 24, 56, 33, 17};
    SimArg *args = NEWN(a, SimArg, f->params.n + 1);
    bool *given = NEWN(a, bool, f->params.n + 1), *known = NEWN(a, bool, f->dims.n + 1);
    int64_t *by_var = NEWN(a, int64_t, f->ir->nvar + 1);
    char text[256];

    for (int i = 0; i < f->dims.n; i++) {
        by_var[f->dims.at[i]->id] = sizes[i % COUNT(sizes)];
        known[i] = true;
    }
    if (!arguments_solve(f, args, f->params.n, given, by_var, known, text, sizeof text))
        recover_throw(STATUS_USER, "%s", text);
    for (int i = 0; i < f->params.n; i++) {
        if (f->params.at[i].var) {
            args[i].scalar = (Value1){.f = 0.5, .i = 3};
            for (int j = 0; j < f->dims.n; j++)
                if (f->dims.at[j] == f->params.at[i].var)
                    args[i].scalar.i = by_var[f->dims.at[j]->id];
            continue;
        }
        int64_t n = span_of(&args[i]);
        args[i].data = arena_alloc(a, (size_t)dtype_bytes(args[i].type, n) + 64);
        random_fill(NULL, args[i].type, args[i].data, n, seed + (uint64_t)i);
    }
    return args;
}

static SimArg *copy_arguments(const Func *f, Arena *a, const SimArg *args)
{
    SimArg *c = NEWN(a, SimArg, f->params.n + 1);

    for (int i = 0; i < f->params.n; i++) {
        c[i] = args[i];
        if (!args[i].data)
            continue;
        size_t n = (size_t)dtype_bytes(args[i].type, span_of(&args[i]));
        c[i].data = memcpy(arena_alloc(a, n + 64), args[i].data, n);
    }
    return c;
}

/* ---- the check ------------------------------------------------------------------------------- */

Checker *checker_new(Build *b)
{
    Checker *c = NEW(b->arena, Checker);
    SimOptions o = {.check_uninit = true};

    c->b = b;
    c->args = sample_arguments(b->tile, b->arena, sample_seed);
    c->want = copy_arguments(b->tile, b->arena, c->args);
    c->use = NEWN(b->arena, uint8_t, b->tile->params.n + 1);
    func_uses(b->tile, c->use);
    sim_run(b->tile, c->want, b->tile->params.n, &o);
    return c;
}

static double magnitude(const SimArg *a)
{
    double sum = 0;
    int64_t n = elements(a);

    for (int64_t i = 0; i < n; i++) {
        double f = 0;
        int64_t x = 0;
        num_load(a->type, a->data, i, &f, &x);
        if (isfinite(f))
            sum += f * f;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

/* The first output that is not what the tile form gave; -1: none. */
static int wrong_output(const Checker *c, const SimArg *got, Difference *d)
{
    Func *f = c->b->tile;

    for (int i = 0; i < f->params.n; i++) {
        if (!f->params.at[i].buf || !(c->use[i] & PARAM_WRITE))
            continue;
        double tol = func_tolerance(f, got[i].type);
        compare_arrays(got[i].type, got[i].data, c->want[i].data, span_of(&got[i]),
                       tol * MAX(1, magnitude(&c->want[i])), tol, d);
        if (d->nwrong > 0)
            return i;
    }
    return -1;
}

SimArg *checker_arguments(Checker *c, Arena *a)
{
    return copy_arguments(c->b->tile, a, c->args);
}

bool checker_same(Checker *c, Kernel *k, const char *how, const SimArg *got)
{
    Difference d;
    int i = wrong_output(c, got, &d);

    if (i < 0)
        return true;
    diag_error(k->diag, k->span,
               "%s the kernel '%s' gives another answer: '%s' differs in "
               "%lld of %lld elements, first at %lld, by %g at most [pass-changed-answer]",
               how, k->name, c->b->tile->params.at[i].name, (long long)d.nwrong,
               (long long)elements(&got[i]), (long long)d.first_wrong, d.max_abs);
    return false;
}

bool checker_run(Checker *c, uint64_t seed, uint64_t max_steps, Map *needed)
{
    Arena *a = arena_new();
    SimOptions o = {.check_uninit = true, .seed = seed, .max_steps = max_steps,
                    .needed = needed};
    volatile bool ok = false;
    Recover r;

    if (!a)
        recover_throw(STATUS_MEM, "out of memory");
    if (recover_open(&r) == 0) {
        Difference d;
        SimArg *got = copy_arguments(c->b->tile, a, c->args);
        sim_run(c->b->func, got, c->b->func->params.n, &o);
        ok = wrong_output(c, got, &d) < 0;
        recover_close(&r);
    }
    arena_free(a);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "%s", r.text);
    return ok;
}

/* Instructions of warps need threads, and threads their barriers; so do roles.  In every kernel. */
static bool is_halfway(const Func *f)
{
    for (int i = 0; i < f->kernels.n; i++) {
        const Kernel *k = f->kernels.at[i];
        if (kernel_on_warps(k) && (k->form & (FORM_LOOPS | FORM_NOEPOCH) || k->extra_threads) &&
            !(k->form & FORM_SYNCED))
            return true;
    }
    return false;
}

bool checker_see(void *checker, Kernel *k, const Pass *p)
{
    Checker *c = checker;
    Arena *a = arena_new();
    SimOptions o = {.check_uninit = true};
    volatile bool ok = false;
    Recover r;

    if (!a)
        recover_throw(STATUS_MEM, "out of memory");
    if (is_halfway(c->b->func)) {
        arena_free(a);
        return true;
    }
    if (recover_open(&r) == 0) {
        SimArg *got = copy_arguments(c->b->tile, a, c->args);
        sim_run(c->b->func, got, c->b->func->params.n, &o);
        ok = checker_same(c, k, arena_printf(a, "after %s", p->name), got);
        recover_close(&r);
    }
    arena_free(a);
    if (r.status == STATUS_USER)
        diag_note(k->diag, k->span,
                  "this run of '%s' was made by --check-each after %s; the tile form ran "
                  "without it",
                  k->name, p->name);
    if (r.status != STATUS_OK)
        recover_throw(r.status, "after %s: %s", p->name, r.text);
    return ok;
}
