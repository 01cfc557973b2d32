/* runtime.h -- who builds and runs the text of a target: one const record each.
 *
 * runtime.def lists them; a target names the one that is its own (Target.runtime).  What a record
 * has no function for it cannot do, and nobody asks which one it is. */
#ifndef TL_RT_RUNTIME_H
#define TL_RT_RUNTIME_H

#include "rt/rt.h"

/* At the end of why a device that is there cannot be opened: out of memory, taken by others. */
#define DEVICE_UNUSABLE "[device-unusable]"

/* A part's code for one kind of processor: the target, and what names of its files end with. */
typedef struct {
    const char *target, *suffix;
} BundleLevel;

/* NAME.c of a bundle is: text; for each part what `part` prints; rows of tl_parts[]; and NAME(…),
 * which calls tl_run_I_NAME(…) of the first part whose condition holds and that tl_able takes.  The
 * text defines tl_part, tl_state (with `why`), tl_said, tl_no, tl_enter, tl_leave and tl_able. */
typedef struct {
    const unsigned char *const *text; /* up to a NULL */
    void (*part)(const TargetBundle *b, const Module *code, Str *out);
    void (*row)(const TargetBundle *b, const Module *code, Str *out); /* a tl_part's initialiser */
    void (*tell)(const TargetBundle *b, const Module *code, Json *j); /* for the manifest */
    int (*rank)(const TargetSpec *s); /* the higher is better; NULL: as they are given */
    /* Where the text of parts is C that goes into the library: once for each level of the names in
     * `list`, the best first (NULL: the usual ones); NULL: parts bring code.  Throws. */
    int (*levels)(Arena *a, const char *list, const BundleLevel **out);
    const char *base; /* the target of what every processor of this kind runs */
} BundleHost;

/* What was seen of a kernel's warps, or of a CPU's threads; `producer`: the second role. */
typedef struct {
    SimSpans all;
    const char *unit, *lane, *role[2];
    int runs;         /* that the spans are of */
    bool model;
    const char *head; /* of the table */
} ProfileSpans;

typedef struct {
    const char *name;
    bool by_name;               /* its device is for who names its target, nobody's default */
    const char *emulator;       /* that runs its code here, and whose times say nothing; or NULL */
    bool simulates;             /* it builds nothing: the simulator runs the lowered form */

    /* ---- building: NULL where nothing is built ---- */
    const char *compiler;       /* for people */
    const char *language;       /* that it takes */
    const char *ending;         /* of files with its text: "c" */
    const char *fast_math, *line_info;           /* its flags for these */
    Status (*find)(Arena *a, Compiler *c, const char **why);
    Status (*build)(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why);
    bool (*knows)(const char *flag); /* of those that a kernel asks for; NULL: all are taken */
    void (*flags)(const Func *f, Str *out); /* more of them, " -x -y", that configs ask for */
    /* All of them for a text, as the cache's key has them; NULL: its key is its own. */
    const char *const *(*all_flags)(Arena *a, const Compiler *c, const TargetSpec *spec,
                                    const char *extra, int *n);
    /* What it said that a user must hear; grave: an error for those who want no warnings. */
    void (*warn)(Arena *a, const Module *m, const TargetSpec *spec,
                 void (*tell)(void *arg, const char *text, bool grave), void *arg);
    void (*audit)(const Module *m, Kernel *k); /* notes what its code had no room for; or NULL */
    void (*resources)(const Module *m, const TargetSpec *spec, const Kernel *k, Str *out);
    const BundleHost *bundle; /* kernels to ship; NULL: none, or as the target has it */

    /* ---- the device: NULL where that is this machine ---- */
    Status (*open)(Arena *a, Gpu **gpu, const char **why); /* the one to use; why there is none */
    double (*peak)(const Gpu *g, DType t);                 /* GFLOP/s of MMAs */
    /* Of this machine, measured: GFLOP/s of a type, GB/s for DT_NONE. */
    Status (*measure)(Arena *a, Compiler *c, const TargetSpec *spec, Workers *w, DType t,
                      double *most, const char **why);
    /* Where its threads are while `run` runs the kernel, looked at now and then; by one thread at a
     * time.  What `run` gave back if that was not 0.  Throws.  NULL: it cannot look. */
    int (*sample)(Arena *a, const Func *f, const Module *m, int (*run)(void *arg), void *arg,
                  ProfileSpans *out);

    /* ---- running ---- */
    Status (*load)(Arena *a, Gpu *g, Func *f, const Module *code, Loaded **out, const char **why);
    void (*unload)(Loaded *l);
    Status (*run)(Loaded *l, const Run *r); /* waits; tensors of the host or of the device */
    bool one_at_a_time;                     /* runs of one Loaded share memory */

    /* ---- launches into a stream, with addresses of the device: NULL where there are none ---- */
    Status (*start)(Loaded *l, const Binding1 *b, const uint64_t *tensor, void *stream, char *text,
                    size_t ntext);
    bool (*can_repeat)(const Loaded *l);
    Status (*repeat)(Loaded *l, const uint64_t *tensor, void *stream, char *text, size_t ntext);
    bool (*takes)(Loaded *l, int param, const void *data, char *text, size_t ntext);
    void *(*enter)(const Loaded *l);
    void (*leave)(const Loaded *l, void *before);
    Status (*array)(Loaded *l, const char *name, void *to, size_t n, char *text, size_t ntext);
} Runtime;

/* The last two parts for whoever fills a Gpu (driver.h). */
#define DEVICE_RUNS .load = gpu_load, DEVICE_RUNS_BUT_LOAD
#define DEVICE_RUNS_BUT_LOAD                                                                       \
    .unload = gpu_unload, .run = gpu_run, .one_at_a_time = true,                 \
    .start = gpu_start, .can_repeat = gpu_can_repeat, .repeat = gpu_repeat, .takes = gpu_takes,    \
    .enter = gpu_module_enter, .leave = gpu_module_leave, .array = gpu_array

extern const Runtime runtime_cpu; /* this machine, which is always there */

#endif
