/* driver.h -- a driver of devices with memory of their own, as a table of functions, and what the
 * files that run kernels through one share: device.c, launch.c, map.c, gputime.c.
 *
 * Who has such devices (target/NAME/rt, twin/driver.c) fills a Gpu: with functions of a vendor's
 * library where they have the shape, with small ones of its own elsewhere. */
#ifndef TL_RT_DRIVER_H
#define TL_RT_DRIVER_H

#include "rt/rt.h"

typedef unsigned long long DevicePtr;
typedef void *Handle;

/* One launch. */
typedef struct {
    Handle f, stream;
    unsigned grid[3], block[3], shared;
    bool together; /* all blocks at once */
    bool early;    /* the next kernel may start before this one has ended */
    void **params;
} DeviceLaunch;

/* X(name, arguments): what a library of a vendor's has in just this shape; 0 is success.  No
 * module_array: modules have none. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(error_text, (int result, const char **text))                                                 \
    X(error_name, (int result, const char **name))                                                 \
    X(context_get, (Handle * context))                                                             \
    X(context_set, (Handle context))                                                               \
    X(synchronize, (void))                                                                         \
    X(module_unload, (Handle module))                                                              \
    X(module_function, (Handle * f, Handle module, const char *name))                              \
    X(module_array, (DevicePtr * p, size_t *n, Handle module, const char *name))                   \
    X(mem_alloc, (DevicePtr * p, size_t n))                                                        \
    X(mem_free, (DevicePtr p))                                                                     \
    X(mem_set, (DevicePtr p, unsigned char value, size_t n, Handle stream))                        \
    X(copy_in, (DevicePtr to, const void *from, size_t n))                                         \
    X(copy_out, (void *to, DevicePtr from, size_t n))                                              \
    X(copy_over, (DevicePtr to, DevicePtr from, size_t n))                                         \
    X(stream_create, (Handle * stream, unsigned flags))                                            \
    X(stream_destroy, (Handle stream))                                                             \
    X(stream_wait, (Handle stream))                                                                \
    X(capture_begin, (Handle stream, int mode))                                                    \
    X(capture_end, (Handle stream, Handle * graph))                                                \
    X(capture_mode, (int *mode))                                                                   \
    X(graph_make, (Handle * exec, Handle graph, unsigned long long flags))                         \
    X(graph_launch, (Handle exec, Handle stream))                                                  \
    X(graph_drop, (Handle exec))                                                                   \
    X(graph_free, (Handle graph))                                                                  \
    X(event_create, (Handle * event, unsigned flags))                                              \
    X(event_destroy, (Handle event))                                                               \
    X(event_record, (Handle event, Handle stream))                                                 \
    X(event_wait, (Handle event))                                                                  \
    X(event_between, (float *ms, Handle from, Handle to))

enum {
    STREAM_NON_BLOCKING = 1,
    CAPTURE_THREAD = 1, /* of this thread alone */
    CAPTURE_RELAXED = 2,
    GRID_YZ_MOST = 65535,
    MAP_BYTES = 128,
    MAP_ALIGN = 64,
};

/* A TensorMap with numbers for its expressions.  As the driver takes it: bytes, dimension 0 left
 * out of the strides. */
typedef struct {
    const TensorMap *map;
    int type;
    bool empty; /* no elements: it stays zero and nobody looks at it */
    uint32_t rank;
    uint64_t dim[5], stride[4];
    uint32_t box[5];
} MapShape;

struct Gpu {
    const char *tag; /* of messages about calls that failed, in brackets */
    int device;
    Handle context;
    GpuFacts facts;
    char name[96];
    char arch[16];
    const void *own; /* of whoever filled this */
#define X(name, arguments) int(*name) arguments;
    DRIVER_FUNCTIONS(X)
#undef X
    /* The binary where it fits the device, else the assembly; what the driver says goes to log. */
    int (*module_load)(const Gpu *g, Handle *module, const Module *code, char *log, size_t nlog);
    /* Before launches with that much shared memory in clusters of so many blocks. */
    int (*function_prepare)(const Gpu *g, Handle f, int64_t shared, int cluster);
    /* Which device's memory it is; false: the host's. */
    bool (*owner)(const Gpu *g, DevicePtr p, int *device);
    int (*launch)(const Gpu *g, const DeviceLaunch *l);
    /* Tensor maps, of whoever has kernels that take some. */
    bool (*map_shape)(const TensorMap *m, const int64_t *values, MapShape *out, char *text,
                      size_t ntext);
    /* The 128 bytes at `out`, which is 64-byte aligned. */
    Status (*map_encode)(const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text,
                         size_t ntext);
};

const char *gpu_error(const Gpu *g, int r, char *room, size_t n); /* "its name: its text" */
Status gpu_failed(const Gpu *g, int r, const char *what, char *text, size_t ntext);

/* What a stream in capture forbids (allocating, loading) is allowed between the two. */
int gpu_relax(const Gpu *g);
void gpu_unrelax(const Gpu *g, int before);

typedef struct {
    DevicePtr at;
    int64_t nbytes;
} DeviceMemory;

/* ---- map.c: the last tensor maps, so that tensors in use again cost nothing ------------------ */

typedef struct MapCache MapCache;
MapCache *map_cache_new(void); /* NULL: out of memory */
void map_cache_free(MapCache *c);
Status tensor_map(MapCache *c, const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text,
               size_t ntext);

/* ---- launch.c: the host part of a function --------------------------------------------------- */

/* All launches of one run, worked out for the values of dimensions and scalars at hand; a launch
 * then only writes addresses into the one block of arguments. */
typedef struct LaunchPlan LaunchPlan;

enum { STREAMS_MOST = 8 };
typedef struct { /* temporaries of one stream: runs in two streams do not share them */
    Handle stream;
    DeviceMemory *work; /* by workspace */
    DeviceMemory grid;  /* state of grid syncs */
} StreamMemory;

struct Loaded {
    Gpu *gpu;             /* NULL: the host */
    Func *func;
    const Module *code;
    Workspaces work;      /* of the host */
    Handle module;
    Handle *kernel;     /* by Func.kernels */
    DeviceMemory *tensor; /* by parameter: copies of host memory */
    StreamMemory stream[STREAMS_MOST];
    int nstream, oldest;
    DevicePtr *retired; /* outgrown temporaries: a captured graph may still use them */
    int nretired;
    int64_t *value;     /* by Var id; floats as the bits of a double */
    LaunchPlan *plan;
    MapCache *maps;
};

void plan_free(LaunchPlan *p);

#endif
