/* one_queue.c -- graphs as lists of launches, events by the host's clock. */
#include <stdlib.h>
#include "rt/one_queue.h"

struct QueueGraph {
    OneQueue *of;
    char *launch;
    int n;
};

/* ---- graphs ---------------------------------------------------------------------------------- */

bool queue_keep(OneQueue *q, const void *launch, int *r)
{
    QueueGraph *g = q->capture;

    if (!g)
        return false;
    char *more = realloc(g->launch, (size_t)(g->n + 1) * q->size);
    *r = more ? 0 : q->no_memory;
    if (more) {
        g->launch = more;
        memcpy(more + (size_t)g->n++ * q->size, launch, q->size);
    }
    return true;
}

int queue_capture_begin(Handle stream, int mode)
{
    OneQueue *q = stream;

    (void)mode;
    q->capture = calloc(1, sizeof *q->capture);
    if (!q->capture)
        return q->no_memory;
    q->capture->of = q;
    return 0;
}

int queue_capture_end(Handle stream, Handle *graph)
{
    OneQueue *q = stream;

    *graph = q->capture;
    q->capture = NULL;
    return 0;
}

int queue_capture_mode(int *mode)
{
    (void)mode;
    return 0;
}

int queue_graph_make(Handle *exec, Handle graph, unsigned long long flags)
{
    QueueGraph *from = graph, *g = calloc(1, sizeof *g);

    (void)flags;
    if (!g)
        return from->of->no_memory;
    *g = *from;
    *from = (QueueGraph){.of = g->of};
    *exec = g;
    return 0;
}

int queue_graph_launch(Handle exec, Handle stream)
{
    const QueueGraph *g = exec;

    (void)stream;
    return g->of->run(g->launch, g->n);
}

int queue_graph_drop(Handle exec)
{
    QueueGraph *g = exec;

    for (int i = 0; g->of->drop && i < g->n; i++)
        g->of->drop(g->launch + (size_t)i * g->of->size);
    free(g->launch);
    free(g);
    return 0;
}

/* ---- streams and events ---------------------------------------------------------------------- */

int queue_nothing(Handle stream)
{
    (void)stream;
    return 0;
}

int queue_wait(Handle stream)
{
    return ((OneQueue *)stream)->synchronize();
}

int queue_event_create(Handle *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(double));
    return !*event;
}

int queue_event_destroy(Handle event)
{
    free(event);
    return 0;
}

/* Everything before it is done: what lies between two is work of the device and its start. */
int queue_event_record(Handle event, Handle stream)
{
    int r = queue_wait(stream);

    *(double *)event = now_seconds();
    return r;
}

int queue_event_between(float *ms, Handle from, Handle to)
{
    *ms = (float)((*(double *)to - *(double *)from) * 1e3);
    return 0;
}

int queue_prepare(const Gpu *g, Handle f, int64_t shared, int cluster)
{
    (void)g;
    (void)f;
    (void)shared;
    (void)cluster;
    return 0;
}
