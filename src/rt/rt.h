/* rt.h -- load and launch: compile emitted C, keep it in the cache, check arguments, run.
 *
 * Nothing here knows of passes.  A Module is emitted text that became machine code; a launch gives
 * it pointers, numbers and threads.  Failures of the machine come back as a Status with a text. */
#ifndef TL_RT_RT_H
#define TL_RT_RT_H

#include <pthread.h>
#include <stdatomic.h>
#include "sim/sim.h"
#include "target/target.h"

/* ---- host.c: the C compiler, modules, threads ------------------------------------------------ */

typedef struct {
    const char *path;    /* as found; NULL: not looked for yet */
    const char *words;   /* what CC says after it, for the command line; "" or NULL: nothing */
    const char *version; /* first line of --version */
    bool is_clang;
} Compiler;

/* $CC, else cc, gcc, clang on PATH. */
Status compiler_find(Arena *a, Compiler *c, const char **why);
/* What the environment's `said` names, else the first of names (up to a NULL) that is there. */
Status compiler_find_named(Arena *a, Compiler *c, const char *said, const char *const *names,
                           const char *none, const char **why);
/* Everything but the file names, in a fixed order.  extra: words of the user's compile_flags. */
const char *const *compiler_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                                  const char *extra, int *n);
/* One shared object from sources.  STATUS_TOOL with the compiler's own words at *why; STATUS_IO
 * where it had no room to write. */
Status compiler_run(Arena *a, const Compiler *c, const char *const *flags, int nflag,
                    const char *const *sources, int nsource, const char *out, const char **why);

/* The ABI of device/cpu/abi.h, from the caller's side. */
typedef struct Rt {
    void *ctx;
    void (*parallel)(void *ctx, int64_t n, void (*fn)(void *arg, int64_t block, char *scratch),
                     void *arg, int64_t scratch_bytes);
    void (*print)(void *ctx, const char *format, ...);
    void (*fail)(void *ctx, const char *text);
    void *(*workspace)(void *ctx, int slot, int64_t bytes);
    int (*failed)(void *ctx);
} Rt;
typedef int Entry(void *const *tensor, const int64_t *value, const Rt *rt);
enum { ENTRY_OVERLAP = 2 }; /* TL_OVERLAP of device/cpu/overlap.h */

/* Emitted text that became machine code. */
typedef struct {
    void *handle;        /* of the host: a shared object and its way in */
    Entry *entry;
    char *binary;        /* of a device; NULL: it has assembly only, which its driver compiles */
    size_t nbinary;
    char *assembly;      /* NULL: none */
    const char *log;     /* of a device's compiler: warnings, and what it tells of each kernel */
    bool from_cache;
    bool compiled;       /* the C compiler took it, whatever came after */
    bool unkept;         /* it was compiled, and the cache could not take it */
    const char *warning; /* about the cache, or NULL */
    double seconds;      /* spent in the compiler */
} Module;

/* What a module is made of; all of it that becomes code is in the cache key. */
typedef struct ModuleSpec {
    const char *name;   /* of the kernel, for people */
    const char *source;
    size_t nsource;
    const TargetSpec *spec;
    const char *extra;  /* more flags, or NULL */
    bool only_ours;     /* no line of the source is the user's: a line of // is a comment */
    bool no_cache;
    const char *file;   /* of a device: what line numbers are said to be of; NULL: by name */
    const char *const *flags; /* instead of compiler_flags, up to a NULL; NULL: those */
    /* The same as several texts, to be compiled side by side; 0: it stays one.  NULL: no such. */
    int (*files)(Arena *a, const struct ModuleSpec *s, const char *const **texts);
} ModuleSpec;

Status module_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *m, const char **why);
void module_free(Module *m);

/* Threads with memory of their own, kept between runs. */
typedef struct Workers Workers;
Workers *workers_new(int nthread); /* 0: all cores; NULL: out of memory */
void workers_free(Workers *w);
int workers_size(const Workers *w);
Pool *workers_pool(Workers *w);
/* A worker's own memory, for whoever it works for; NULL: there is not so much. */
char *workers_scratch(Workers *w, int worker, int64_t nbytes);

/* Temporaries between the launches of one function, by slot; one run at a time. */
enum { SLOTS_MOST = 64 };
typedef struct {
    void *at[SLOTS_MOST];
    int64_t nbytes[SLOTS_MOST];
} Workspaces;

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct Gpu Gpu;       /* a driver and one device, see driver.h */
typedef struct Loaded Loaded; /* a function's kernels where they run, with their memory there */

typedef struct {
    int major, minor, driver; /* driver: 13000 for version 13.0 */
    int units, clock_khz, memory_khz, memory_bits;
    int l2_bytes, shared_block;
} GpuFacts;

enum {
    PARAMS_MOST = 256,
    TENSOR_ALIGN = 16, /* the widest access: tensors start at multiples of it */
};

typedef struct {
    int warmup, reps;
    bool graph;        /* each timing is of a graph of launches; else events around one launch */
    int per_graph;     /* launches in it; 0: as many as take some milliseconds */
    int64_t cold_bytes; /* inputs rotate over copies until they take this much; 0: they stay warm */
    bool flush;        /* without a graph: the second-level cache is overwritten before each */
    bool together;     /* without a graph: all between two events; each time is the mean */
} Timing;

typedef struct {
    const SimArg *args;
    int narg;
    const Binding1 *b;
    const uint8_t *use;   /* by parameter; 2 is set for those it writes */
    Workers *workers;     /* of runs on the host */
    const Timing *timing; /* NULL: run once */
    double *seconds;      /* one entry per repetition, of the kernels alone */
    char *text;           /* of what failed */
    size_t ntext;
    bool *overlaps;       /* of a Func that leaves_overlap: set, and nothing done, where they do */
} Run;

/* ---- device.c, launch.c, gputime.c: on a device with a driver -------------------------------- */

const char *gpu_name(const Gpu *g);
const char *gpu_arch(const Gpu *g); /* as its target has it */
const GpuFacts *gpu_facts(const Gpu *g);

/* Text to code of a device, by a library. */
typedef struct {
    Status (*find)(Arena *a, Compiler *c, const char **why);
    const char *const *(*flags)(Arena *a, const Compiler *c, const TargetSpec *spec,
                                const char *extra, int *n);
    Status (*run)(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                  int nflag, Module *out, const char **why);
} DeviceCompiler;
/* From the cache or by that compiler. */
Status device_build(Arena *a, Compiler *c, const ModuleSpec *s, const DeviceCompiler *with,
                    Module *out, const char **why);
/* Where the text itself is what a driver takes, or nobody here compiles it. */
bool device_knows_no_flag(const char *flag);
Status device_takes_text(Arena *a, Compiler *c, const ModuleSpec *s, Module *out,
                         const char **why);
double device_peak_unknown(const Gpu *g, DType t);

/* Blocks that fit a multiprocessor at once, and what limits them; registers < 0: not known. */
int occupancy(const Machine *m, int threads, int64_t registers, int64_t shared_bytes,
              const char **limit, int *warps_most);

int64_t arg_span_bytes(const SimArg *a); /* from its first element to its last */
Status gpu_load(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **m, const char **why);
void gpu_unload(Loaded *m);
/* Host memory is copied there and what is written back; pointers of the device are taken as they
 * are. */
Status gpu_run(Loaded *m, const Run *r);
Status gpu_time(Loaded *m, const Binding1 *b, const uint64_t *tensor, const int64_t *nbytes,
                const Timing *timing, double *seconds, char *text, size_t ntext);
/* An array of the module by name: filled with zeros (to NULL), or copied to the host. */
Status gpu_array(Loaded *m, const char *name, void *to, size_t n, char *text, size_t ntext);
/* Into a stream, without waiting: addresses on the device by parameter.  gpu_start works the
 * launches out for the values at hand; gpu_repeat launches the same list with other addresses. */
Status gpu_start(Loaded *m, const Binding1 *b, const uint64_t *tensor, void *stream, char *text,
                 size_t ntext);
bool gpu_can_repeat(const Loaded *m);
Status gpu_repeat(Loaded *m, const uint64_t *tensor, void *stream, char *text, size_t ntext);
bool gpu_takes(Loaded *m, int param, const void *data, char *text, size_t ntext);
void *gpu_module_enter(const Loaded *m); /* around these: the device's context is current */
void gpu_module_leave(const Loaded *m, void *before);

/* ---- cache.c: content-addressed, shared by processes ----------------------------------------- */

typedef struct {
    const char *text; /* "field: value" lines, then the source */
    size_t n;
    char name[33];
} CacheKey;

CacheKey cache_key(Arena *a, const Compiler *c, const ModuleSpec *s, const char *const *flags,
                   int nflag);
/* Path of the entry's shared object, or NULL: absent or damaged. */
const char *cache_get(Arena *a, const CacheKey *k);
/* Why the folder or the entry cannot be trusted, for a warning; NULL: it can, or is not there. */
const char *cache_complaint(Arena *a, const CacheKey *k);
void cache_drop(Arena *a, const CacheKey *k); /* an entry that is whole and still of no use */
/* A private folder to build in: beside the cache when *shared asks for it and it can be had, else
 * in a temporary place; *shared says which. */
Status cache_open(Arena *a, char **dir, bool *shared, const char **why);
/* Publish dir (holding kernel.so and kernel.c) under the key.  Path of the shared object, which is
 * still dir's own when publishing failed. */
const char *cache_put(Arena *a, const CacheKey *k, const char *dir);
Status cache_list(Arena *a, Str *out, const char **why);
Status cache_clear(Arena *a, int64_t *nremoved, const char **why);
void cache_why(Arena *a, const CacheKey *k, Str *out);

/* ---- random.c, compare.c --------------------------------------------------------------------- */

/* The same bytes for the same seed everywhere: no libm, no order of threads. */
void random_fill(Pool *pool, DType t, void *data, int64_t nelem, uint64_t seed);

typedef struct {
    double max_abs, max_rel;
    int64_t nwrong, first_wrong;
} Difference;
void compare_arrays(DType t, const void *got, const void *want, int64_t n, double atol, double rtol,
                    Difference *d);
double dtype_tolerance(DType t);

#endif
