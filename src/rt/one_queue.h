/* one_queue.h -- devices that have one queue and neither graphs nor events: a graph is a list of
 * launches on the host, and times are the host's clock.
 *
 * Their streams are the OneQueue, so that what is told a stream knows which. */
#ifndef TL_RT_ONE_QUEUE_H
#define TL_RT_ONE_QUEUE_H

#include "rt/driver.h"

typedef struct QueueGraph QueueGraph;
typedef struct {
    int (*synchronize)(void);
    int (*run)(const void *launch, int n);
    void (*drop)(void *launch); /* what a kept launch holds; NULL: nothing */
    size_t size;                /* of a launch */
    int no_memory;              /* the number of that error */
    QueueGraph *capture;        /* NULL: launches are launched */
} OneQueue;

/* One that belongs to the graph that is being captured is kept; false: there is none. */
bool queue_keep(OneQueue *q, const void *launch, int *r);

int queue_capture_begin(Handle stream, int mode);
int queue_capture_end(Handle stream, Handle *graph);
int queue_capture_mode(int *mode);
int queue_graph_make(Handle *exec, Handle graph, unsigned long long flags);
int queue_graph_launch(Handle exec, Handle stream);
int queue_graph_drop(Handle exec);
int queue_nothing(Handle stream);
int queue_wait(Handle stream);
int queue_event_create(Handle *event, unsigned flags);
int queue_event_destroy(Handle event);
int queue_event_record(Handle event, Handle stream);
int queue_event_between(float *ms, Handle from, Handle to);
int queue_prepare(const Gpu *g, Handle f, int64_t shared, int cluster);

/* Of a Gpu; stream_create and context_get are its own. */
#define ONE_QUEUE                                                                                  \
    .context_set = queue_nothing, .stream_destroy = queue_nothing, .stream_wait = queue_wait,      \
    .capture_begin = queue_capture_begin, .capture_end = queue_capture_end,                        \
    .capture_mode = queue_capture_mode, .graph_make = queue_graph_make,                            \
    .graph_launch = queue_graph_launch, .graph_drop = queue_graph_drop,                            \
    .graph_free = queue_graph_drop, .event_create = queue_event_create,                            \
    .event_destroy = queue_event_destroy, .event_record = queue_event_record,                      \
    .event_wait = queue_nothing, .event_between = queue_event_between,                             \
    .function_prepare = queue_prepare

#endif
