/* cpu.c -- runs of emitted C on the thread pool. */
#include <stdlib.h>
#include "rt/msan.h"
#include "rt/driver.h"
#include "target/cpu/rt/cpu.h"

enum { ALIGNMENT = 64 };

typedef struct {
    Workers *workers;
    Workspaces *work;
    atomic_bool failed;
    atomic_bool told; /* text is taken: the first failure is the one reported */
    char *text;
    size_t ntext;
} Launch;

typedef struct {
    Launch *launch;
    void (*fn)(void *arg, int64_t block, char *scratch);
    void *arg;
    int64_t nbytes;
} Loop;

static void rt_fail(void *ctx, const char *text)
{
    Launch *l = ctx;
    if (!atomic_exchange(&l->told, true))
        snprintf(l->text, l->ntext, "%s", text);
    atomic_store(&l->failed, true);
}

static int rt_failed(void *ctx)
{
    return atomic_load(&((Launch *)ctx)->failed);
}

static void rt_block(void *arg, int64_t block, int worker)
{
    Loop *p = arg;

    if (atomic_load_explicit(&p->launch->failed, memory_order_relaxed))
        return;
    char *scratch = NULL;
    if (p->nbytes > 0) {
        scratch = workers_scratch(p->launch->workers, worker, p->nbytes);
        if (!scratch) {
            rt_fail(p->launch, "out of memory for a block's tiles [out-of-memory]");
            return;
        }
        msan_forget(scratch, p->nbytes); /* what the block before left there is not to be read */
    }
    p->fn(p->arg, block, scratch);
}

static void rt_parallel(void *ctx, int64_t n, void (*fn)(void *, int64_t, char *), void *arg,
                        int64_t nbytes)
{
    Launch *l = ctx;
    Loop p = {l, fn, arg, nbytes};
    if (n > 0)
        pool_run(workers_pool(l->workers), n, rt_block, &p);
}

static void rt_print(void *ctx, const char *format, ...)
{
    va_list ap;

    (void)ctx;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}

static void *rt_workspace(void *ctx, int slot, int64_t nbytes)
{
    Launch *l = ctx;

    if (!l->work || slot < 0 || slot >= SLOTS_MOST) {
        rt_fail(ctx, "too many temporaries between launches [too-many-workspaces]");
        return NULL;
    }
    if (nbytes > l->work->nbytes[slot]) {
        int64_t room = (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        free(l->work->at[slot]);
        l->work->at[slot] = aligned_alloc(ALIGNMENT, (size_t)room);
        l->work->nbytes[slot] = l->work->at[slot] ? room : 0;
        if (l->work->at[slot])
            memset(l->work->at[slot], 0, (size_t)room);
        else
            rt_fail(ctx, "out of memory for a temporary between launches [out-of-memory]");
    }
    return l->work->at[slot];
}

static void workspaces_free(Workspaces *w)
{
    for (int i = 0; i < SLOTS_MOST; i++)
        free(w->at[i]);
    *w = (Workspaces){0};
}

Status cpu_launch(Entry *entry, void *const *tensor, const int64_t *value, Workers *w,
                  Workspaces *work, char *text, size_t ntext, bool *overlaps)
{
    Launch l = {.workers = w, .work = work, .text = text, .ntext = ntext};
    Rt rt = {&l, rt_parallel, rt_print, rt_fail, rt_workspace, rt_failed};

    text[0] = 0;
    int code = entry(tensor, value, &rt);
    if (overlaps && code == ENTRY_OVERLAP) {
        *overlaps = true;
        return STATUS_USER;
    }
    if (code != 0 || atomic_load(&l.failed)) {
        if (!text[0])
            snprintf(text, ntext, "the kernel gave up with code %d [kernel-failed]", code);
        return STATUS_USER;
    }
    return STATUS_OK;
}

/* ---- the record ------------------------------------------------------------------------------ */

static Status host_load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out,
                        const char **why)
{
    (void)g;
    (void)why;
    *out = NEW(a, Loaded);
    **out = (Loaded){.func = f, .code = code};
    return STATUS_OK;
}

static void host_unload(Loaded *l)
{
    if (l)
        workspaces_free(&l->work);
}

static Status host_run(Loaded *l, const Run *r)
{
    int warmup = r->timing ? r->timing->warmup : 0, reps = r->timing ? r->timing->reps : 1;
    bool *overlaps = l->func->leaves_overlap ? r->overlaps : NULL;
    Status s = STATUS_OK;

    for (int i = -warmup; i < MAX(reps, 1) && s == STATUS_OK; i++) {
        double start = now_seconds();
        s = cpu_launch(l->code->entry, r->b->tensor, r->b->value, r->workers, &l->work, r->text,
                       r->ntext, overlaps);
        if (r->seconds && i >= 0)
            r->seconds[i] = now_seconds() - start;
    }
    return s;
}

const Runtime runtime_cpu = {
    .name = "cpu",
    .compiler = "the C compiler",
    .language = "C",
    .ending = "c",
    .fast_math = "",
    .line_info = "-g",
    .find = compiler_find,
    .build = cpu_build,
    .all_flags = compiler_flags,
    .bundle = &cpu_bundle,
    .load = host_load,
    .unload = host_unload,
    .run = host_run,
    .measure = cpu_measure,
    .sample = cpu_sample,
};
