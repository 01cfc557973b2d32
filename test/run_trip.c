/* run_trip.c -- dumps that read back, and bundles that repeat. */
#include <stdlib.h>
#include <unistd.h>
#include "api/api.h"
#include "run.h"

/* ---- round trips ----------------------------------------------------------------------------- */

typedef struct {
    Arena *arena;
    const Case *c;
    Job job;
    char *source;      /* as compiled without a stop */
    uint32_t features; /* of the target */
} Trip;

/* The text read again from itself. */
static char *read_again(Trip *t, const char *text, const char *from)
{
    tl_options o = {.size = sizeof o,
                    .no_build = true,
                    .target = golden_target,
                    .from = from,
                    .stop_after = "check_kernel"};
    tl_kernel *k;

    /* From the last pass on there is nothing to run: what is printed is what was read. */
    if (tl_compile(t->job.ctx, t->c->path, text, &o, &k) != TL_OK)
        printf("%s", tl_message(t->job.ctx));
    CHECK(k != NULL);
    char *again = arena_strdup(t->arena, tl_kernel_text(k, TL_TEXT_IR));
    tl_kernel_free(k);
    return again;
}

static char *finish_from(Trip *t, const char *text, const char *from)
{
    tl_options o = {.size = sizeof o, .no_build = true, .target = golden_target, .from = from};
    tl_kernel *k;

    if (tl_compile(t->job.ctx, t->c->path, text, &o, &k) != TL_OK)
        printf("%s", tl_message(t->job.ctx));
    CHECK(k != NULL);
    char *source = arena_strdup(t->arena, tl_kernel_text(k, TL_TEXT_SOURCE));
    tl_kernel_free(k);
    return source;
}

static void trip_after(Trip *t, const char *pass, const char *next)
{
    tl_options o = {.no_build = true, .stop_after = pass};
    tl_kernel *k = case_compile(&t->job, &o, golden_target);
    char *text = arena_strdup(t->arena, tl_kernel_text(k, TL_TEXT_IR));

    tl_kernel_free(k);
    test_text(t->c->path, t->c->line, read_again(t, text, "lower_launch"), text,
              arena_printf(t->arena, "the text after %s, read and printed", pass));
    if (next)
        test_text(t->c->path, t->c->line, finish_from(t, text, next), t->source,
                  arena_printf(t->arena, "what is emitted from the text after %s", pass));
}

static bool runs_here(const Trip *t, int pass)
{
    return (pass_table[pass].when & t->features) == pass_table[pass].when;
}

static const char *pass_after(const Trip *t, int pass)
{
    for (int i = pass + 1; i < PASS_COUNT; i++)
        if (runs_here(t, i))
            return pass_table[i].name;
    return NULL;
}

/* Of a dump there is no second kernel, and so no test for tensors that overlap. */
static char *alone(Trip *t)
{
    int first = 0;

    while (!runs_here(t, first))
        first++;
    tl_options o = {.no_build = true, .stop_after = pass_table[first].name};
    tl_kernel *k = case_compile(&t->job, &o, golden_target);
    char *text = arena_strdup(t->arena, tl_kernel_text(k, TL_TEXT_IR));

    tl_kernel_free(k);
    return finish_from(t, text, pass_after(t, first));
}

void run_trip(void)
{
    Trip t = {.arena = arena_new(), .c = case_now()};
    tl_options o = {.no_build = true};
    TargetSpec spec;
    const char *why;

    CHECK(target_parse(t.arena, golden_target, &spec, &why));
    t.features = spec.machine.has;
    case_open(t.arena, &t.job, t.c->path, t.c->args);
    tl_kernel *k = case_compile(&t.job, &o, golden_target);
    t.source = arena_strdup(t.arena, tl_kernel_text(k, TL_TEXT_SOURCE));
    if (!option_of(t.arena, t.c->args, "warns"))
        test_text(t.c->path, t.c->line, tl_kernel_text(k, TL_TEXT_WARNINGS), "", "the warnings");
    tl_kernel_free(k);
    if (strstr(t.source, "return TL_OVERLAP;"))
        t.source = alone(&t);
    for (int i = 0; i < PASS_COUNT; i++)
        if (runs_here(&t, i))
            trip_after(&t, pass_table[i].name, pass_after(&t, i));
    job_close(&t.job);
    arena_free(t.arena);
}

/* ---- bundles --------------------------------------------------------------------------------- */

static void bundle_to(Arena *a, const Case *c, const char *before, const char *dir)
{
    Job j;
    tl_options o = {.no_build = true};

    if (before) { /* another kernel first, in the same context */
        case_open(a, &j, before, "");
        tl_kernel_free(case_compile(&j, &o, golden_target));
        Job own;
        case_open(a, &own, c->path, c->args);
        tl_context *fresh = own.ctx;
        own.ctx = j.ctx;
        tl_kernel *k = case_compile(&own, &o, golden_target);
        CHECK_INT(tl_kernel_bundle(k, dir, "x86-64-v3"), TL_OK);
        tl_kernel_free(k);
        own.ctx = fresh;
        job_close(&own);
        job_close(&j);
        return;
    }
    case_open(a, &j, c->path, c->args);
    tl_kernel *k = case_compile(&j, &o, golden_target);
    tl_status s = tl_kernel_bundle(k, dir, "x86-64-v3");
    if (s != TL_OK)
        printf("%s", tl_message(j.ctx));
    CHECK_INT(s, TL_OK);
    tl_kernel_free(k);
    job_close(&j);
}

static void same_files(Arena *a, const char *one, const char *two)
{
    char **x, **y;
    const char *why;
    int n, m;

    CHECK_INT(dir_list(a, one, &x, &n, &why), STATUS_OK);
    CHECK_INT(dir_list(a, two, &y, &m, &why), STATUS_OK);
    CHECK_INT(n, m);
    CHECK(n >= 4);
    for (int i = 0; i < n; i++) {
        char *p, *q;
        size_t np, nq;
        CHECK_TEXT(x[i], y[i]);
        CHECK_INT(file_read(a, path_join(a, one, x[i]), &p, &np, &why), STATUS_OK);
        CHECK_INT(file_read(a, path_join(a, two, x[i]), &q, &nq, &why), STATUS_OK);
        test_check(x[i], 0, np == nq && memcmp(p, q, np) == 0, "the two files are the same bytes");
    }
}

/* The same kernel twice, in folders of different names and in contexts of different history. */
void run_bundle(void)
{
    Arena *a = arena_new();
    const char *dir = test_folder();

    char *one = path_join(a, dir, "one"), *two = path_join(a, dir, "a longer name");
    bundle_to(a, case_now(), NULL, one);
    bundle_to(a, case_now(), "examples/softmax.py", two);
    same_files(a, one, two);
    arena_free(a);
}
