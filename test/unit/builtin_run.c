/* builtin_run.c -- the programs of test/builtin: `main` gives what `reference` gives.
 *
 * `main` is written with builtins, `reference` with plain loops; both are simulated on the same
 * inputs and every tensor is compared afterwards. */
#include <math.h>

#include "sim/sim.h"
#include "front/front.h"
#include "test.h"

enum { ARG_MOST = 8 };

typedef struct {
    Arena *arena;
    Diag diag;
    Func *f;
    SimArg arg[ARG_MOST];
    const char *why; /* messages when it went wrong, else NULL */
} Run;

static int64_t nelems(const SimArg *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n *= a->shape[d];
    return n;
}

/* Small numbers with a few bits, so that sums are exact; both runs get the same. */
static void fill_inputs(Run *r)
{
    uint32_t x = 12345;
    for (int i = 0; i < r->f->params.n && i < ARG_MOST; i++) {
        Buffer *b = r->f->params.at[i].buf;
        SimArg *a = &r->arg[i];
        CHECK(b != NULL && buffer_static_shape(b, a->shape));
        a->rank = b->rank;
        a->type = b->type;
        a->data = arena_alloc(r->arena, (size_t)dtype_bytes(b->type, nelems(a)));
        for (int64_t e = 0; e < nelems(a); e++) {
            x = x * 1664525u + 1013904223u;
            int v = (int)(x >> 24) - 128;
            num_store(b->type, a->data, e, v / 16.0, v);
        }
    }
}

static Run *run(Arena *a, const Source *src, const char *func)
{
    Run *r = NEW(a, Run);
    Recover rec;
    SimOptions o = {.check_uninit = true};
    r->arena = a;
    diag_init(&r->diag, a);
    LoadRequest q = {.src = src, .func = func};
    if (recover_open(&rec) == 0) {
        r->f = front_load(ir_new(a, names_new(), &r->diag, &op_words), &q);
        fill_inputs(r);
        sim_run(r->f, r->arg, r->f->params.n, &o);
        recover_close(&rec);
    }
    if (rec.status != STATUS_OK) {
        Str out;
        str_init(&out, a);
        diag_render(&r->diag, &out, false);
        str_puts(&out, rec.text);
        r->why = out.s;
    }
    return r;
}

/* The first element that differs, told in words; NULL if there is none. */
static const char *difference(Run *a, Run *b)
{
    for (int i = 0; i < a->f->params.n; i++) {
        for (int64_t e = 0; e < nelems(&a->arg[i]); e++) {
            double x, y;
            int64_t m = 0, n = 0;
            num_load(a->arg[i].type, a->arg[i].data, e, &x, &m);
            num_load(b->arg[i].type, b->arg[i].data, e, &y, &n);
            bool same = dtype_is_float(a->arg[i].type)
                            ? x == y || fabs(x - y) <= 1e-5 * (1 + fabs(y)) : m == n;
            if (!same)
                return arena_printf(a->arena, "%s[%lld]: %g or %lld, not %g or %lld",
                                    a->f->params.at[i].name, (long long)e, x, (long long)m, y,
                                    (long long)n);
        }
    }
    return NULL;
}

TEST(builtins_do_what_plain_loops_do)
{
    Arena *a = arena_new();
    char **names;
    int n, bad = 0;
    const char *why;
    if (dir_list(a, "test/builtin", &names, &n, &why) != STATUS_OK)
        test_skip("not run from the root of the repository");
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        char *text;
        size_t len;
        const char *path = path_join(a, "test/builtin", names[i]);
        CHECK(file_read(a, path, &text, &len, &why) == STATUS_OK);
        Source src = {path, text, len};
        Run *got = run(a, &src, "main"), *want = run(a, &src, "reference");
        const char *said = got->why ? got->why : want->why ? want->why : difference(got, want);
        if (said)
            printf("%s: %s\n", path, said);
        bad += said != NULL;
    }
    CHECK_INT(bad, 0);
}
