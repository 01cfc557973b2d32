/* gputime.c -- how long kernels take on a GPU: events around launches or around graphs of them. */
#include "rt/driver.h"

enum { SETS_MOST = 64, GRAPH_MOST = 512, GRAPH_LEAST = 4 };
static const double graph_seconds = 5e-3; /* that one graph should take */

typedef struct {
    Loaded *m;
    const Binding1 *b;
    const Timing *t;
    Handle stream, from, to;
    int nset;                          /* copies of the tensors, the first is the caller's */
    DevicePtr *tensor[SETS_MOST];      /* by parameter */
    DevicePtr copy[SETS_MOST][PARAMS_MOST]; /* what is ours to free */
    DeviceMemory wipe;
    char *text;
    size_t ntext;
} TimeCall;

static Status check(TimeCall *q, int r, const char *what)
{
    return r ? gpu_failed(q->m->gpu, r, what, q->text, q->ntext) : STATUS_OK;
}

/* ---- tensors that are not in the cache ------------------------------------------------------- */

static int count_sets(const TimeCall *q, const int64_t *nbytes)
{
    int64_t each = 0;

    for (int i = 0; i < q->m->func->params.n; i++)
        each += nbytes[i];
    if (each == 0 || q->t->cold_bytes <= each)
        return 1;
    return (int)MIN(q->t->cold_bytes / each + 1, SETS_MOST);
}

static Status copy_sets(TimeCall *q, Arena *a, const uint64_t *tensor, const int64_t *nbytes)
{
    Gpu *g = q->m->gpu;
    int n = q->m->func->params.n, r = 0;

    q->nset = count_sets(q, nbytes);
    for (int s = 0; s < q->nset; s++) {
        q->tensor[s] = NEWN(a, DevicePtr, n + 1);
        for (int i = 0; i < n; i++) {
            q->tensor[s][i] = tensor[i];
            if (s == 0 || nbytes[i] == 0)
                continue;
            r = g->mem_alloc(&q->copy[s][i], (size_t)nbytes[i]);
            if (r == 0)
                r = g->copy_over(q->copy[s][i], tensor[i], (size_t)nbytes[i]);
            if (r != 0)
                return check(q, r, "copies of the tensors");
            q->tensor[s][i] = q->copy[s][i];
        }
    }
    return STATUS_OK;
}

static Status make_wipe(TimeCall *q)
{
    int64_t n = q->t->flush ? 2 * (int64_t)q->m->gpu->facts.l2_bytes : 0;

    if (n == 0)
        return STATUS_OK;
    q->wipe.nbytes = n;
    return check(q, q->m->gpu->mem_alloc(&q->wipe.at, (size_t)n), "memory to flush the cache");
}

/* ---- timing ---------------------------------------------------------------------------------- */

static Status launch_set(TimeCall *q, int set)
{
    return gpu_can_repeat(q->m)
               ? gpu_repeat(q->m, (uint64_t *)q->tensor[set], q->stream, q->text, q->ntext)
               : gpu_start(q->m, q->b, (uint64_t *)q->tensor[set], q->stream, q->text, q->ntext);
}

static Status elapsed(TimeCall *q, double *seconds)
{
    Gpu *g = q->m->gpu;
    float ms = 0;
    int r = g->event_wait(q->to);

    if (r == 0)
        r = g->event_between(&ms, q->from, q->to);
    *seconds = ms * 1e-3;
    return check(q, r, q->m->func->name);
}

static Status time_events(TimeCall *q, int warmup, int reps, double *seconds)
{
    Gpu *g = q->m->gpu;
    Status s = STATUS_OK;
    double ignored;

    for (int i = -warmup; i < reps && s == STATUS_OK; i++) {
        if (q->wipe.at)
            g->mem_set(q->wipe.at, (unsigned char)i, (size_t)q->wipe.nbytes, q->stream);
        g->event_record(q->from, q->stream);
        s = launch_set(q, (i + warmup) % q->nset);
        g->event_record(q->to, q->stream);
        if (s == STATUS_OK)
            s = elapsed(q, i >= 0 ? &seconds[i] : &ignored);
    }
    return s;
}

/* As harnesses time that know nothing of one launch: the mean of all. */
static Status time_together(TimeCall *q, int reps, double *seconds)
{
    Gpu *g = q->m->gpu;
    Status s = STATUS_OK;
    double all = 0;

    g->event_record(q->from, q->stream);
    for (int i = 0; i < reps && s == STATUS_OK; i++)
        s = launch_set(q, i % q->nset);
    g->event_record(q->to, q->stream);
    if (s == STATUS_OK)
        s = elapsed(q, &all);
    for (int i = 0; i < reps; i++)
        seconds[i] = all / reps;
    return s;
}

static Status capture(TimeCall *q, int n, Handle *exec)
{
    Gpu *g = q->m->gpu;
    Handle graph = NULL;
    int r = g->capture_begin(q->stream, CAPTURE_THREAD);
    Status s = check(q, r, "capturing a graph");

    for (int i = 0; i < n && s == STATUS_OK; i++)
        s = launch_set(q, i % q->nset);
    if (r == 0)
        r = g->capture_end(q->stream, &graph);
    if (s == STATUS_OK)
        s = check(q, r, "capturing a graph");
    if (s == STATUS_OK)
        s = check(q, g->graph_make ? g->graph_make(exec, graph, 0) : -1,
                  "making a graph");
    if (graph)
        g->graph_free(graph);
    return s;
}

static Status time_graph(TimeCall *q, double once, double *seconds)
{
    Gpu *g = q->m->gpu;
    Handle exec = NULL;
    int n = q->t->per_graph;

    if (n <= 0)
        n = (int)MIN(MAX((int64_t)(graph_seconds / MAX(once, 1e-7)), GRAPH_LEAST), GRAPH_MOST);
    Status s = capture(q, n, &exec);
    for (int i = -1; i < q->t->reps && s == STATUS_OK; i++) {
        double ignored, *to = i >= 0 ? &seconds[i] : &ignored;
        g->event_record(q->from, q->stream);
        s = check(q, g->graph_launch(exec, q->stream), "launching a graph");
        g->event_record(q->to, q->stream);
        if (s == STATUS_OK)
            s = elapsed(q, to);
        *to /= n;
    }
    if (exec)
        g->graph_drop(exec);
    return s;
}

static Status time_all(TimeCall *q, double *seconds)
{
    double once = 0;
    q->m->gpu->synchronize(); /* copies may still run; the stream does not wait for them */
    Status s = gpu_start(q->m, q->b, (uint64_t *)q->tensor[0], q->stream, q->text, q->ntext);

    if (s == STATUS_OK)
        s = time_events(q, MAX(q->t->warmup, 1), 1, &once);
    if (s != STATUS_OK)
        return s;
    if (q->t->together)
        return time_together(q, q->t->reps, seconds);
    return q->t->graph ? time_graph(q, once, seconds) : time_events(q, 0, q->t->reps, seconds);
}

static void end_call(TimeCall *q)
{
    Gpu *g = q->m->gpu;

    g->synchronize();
    if (q->from)
        g->event_destroy(q->from);
    if (q->to)
        g->event_destroy(q->to);
    if (q->stream)
        g->stream_destroy(q->stream);
    for (int s = 0; s < q->nset; s++)
        for (int i = 0; i < q->m->func->params.n; i++)
            if (q->copy[s][i])
                g->mem_free(q->copy[s][i]);
    if (q->wipe.at)
        g->mem_free(q->wipe.at);
}

Status gpu_time(Loaded *m, const Binding1 *b, const uint64_t *tensor, const int64_t *nbytes,
                const Timing *timing, double *seconds, char *text, size_t ntext)
{
    Gpu *g = m->gpu;
    Arena *a = arena_new();
    Recover r;
    volatile Status s = STATUS_MEM;

    snprintf(text, ntext, "out of memory");
    if (!a)
        return STATUS_MEM;
    if (recover_open(&r) == 0) {
        TimeCall *q = NEW(a, TimeCall);
        *q = (TimeCall){.m = m, .b = b, .t = timing, .text = text, .ntext = ntext};
        s = check(q, g->stream_create(&q->stream, STREAM_NON_BLOCKING), "a stream");
        if (s == STATUS_OK)
            s = check(q, g->event_create(&q->from, 0), "an event");
        if (s == STATUS_OK)
            s = check(q, g->event_create(&q->to, 0), "an event");
        if (s == STATUS_OK)
            s = copy_sets(q, a, tensor, nbytes);
        if (s == STATUS_OK)
            s = make_wipe(q);
        if (s == STATUS_OK)
            s = time_all(q, seconds);
        end_call(q);
        recover_close(&r);
    }
    arena_free(a);
    return s;
}
