/* tilelang.h -- compile tile kernels and run them.  The only public header.
 *
 *     tl_context *c = tl_open();
 *     tl_options o = TL_OPTIONS_INIT;
 *     tl_kernel *k;
 *     if (tl_compile(c, "gemm.py", NULL, &o, &k) != TL_OK)
 *         fputs(tl_message(c), stderr);
 *     tl_tensor args[3] = {…};
 *     tl_kernel_run(k, args, 3);
 *     tl_kernel_free(k);
 *     tl_close(c);
 *
 * Nothing here exits, aborts or prints.  After a status other than TL_OK, tl_message(c) holds the
 * text the command-line tool would have shown (for tl_kernel_* the kernel's context).  Text returned
 * as `const char *` belongs to the context or kernel it came from and lives until the next call on
 * that object or its end.  Different contexts may be used from different threads at once; one
 * kernel may be run from several threads. */
#ifndef TILELANG_H
#define TILELANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TL_API __attribute__((visibility("default")))
#else
#define TL_API
#endif

/* That of the language: scripts compare it with what they need. */
#define TL_VERSION "0.1.15"

typedef enum {
    TL_OK,
    TL_EUSER,   /* the kernel or the call is wrong */
    TL_EIO,     /* a file could not be read or written */
    TL_ETOOL,   /* a compiler or library is missing or failed */
    TL_ETARGET, /* this target cannot do that */
    TL_EMEM,
    TL_EBUG     /* our fault; please report */
} tl_status;

typedef struct tl_context tl_context;
typedef struct tl_kernel tl_kernel;

TL_API tl_context *tl_open(void); /* NULL: out of memory */
TL_API void tl_close(tl_context *c); /* its kernels still run, and are freed each by itself */
TL_API const char *tl_message(tl_context *c);
TL_API void tl_set_color(tl_context *c, bool on); /* carets in color; off by default */
TL_API const char *tl_version(void);

/* ---- compile ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const char *value; /* a Python expression: "1024", "'float16'", "(1, 2)"; a bare word is a string */
} tl_define;

#define TL_RANK 8
#define TL_ABSENT INT64_MIN
typedef struct {
    const char *dtype;        /* "float32", "bfloat16", … */
    int rank;                 /* 0 for a scalar argument */
    int64_t shape[TL_RANK];
    int64_t stride[TL_RANK];  /* in elements; all zero: contiguous */
    /* shape[0] is TL_ABSENT: there is none, and the kernel does not touch it */
    void *data;               /* host memory; scalars: address of one value of dtype */
    const char *name;         /* optional: bind by name */
} tl_tensor;

typedef struct {
    size_t size;              /* sizeof(tl_options): lets the struct grow */
    const char *target;       /* "cpu", "cpu -mcpu=x86-64-v3", …; NULL: the best one here */
    const char *func;         /* NULL: the file's last kernel */
    const tl_define *defines; /* knobs of the factory, T.const values */
    int ndefine;
    const tl_tensor *inputs;  /* shapes that T.const may be solved from; data is not read */
    int ninput;
    const char *dump;         /* NULL, "all", or pass names separated by commas; see tl_kernel_text */
    const char *dump_dir;     /* NULL: into tl_kernel_text(k, TL_TEXT_DUMP) */
    const char *stop_after;   /* pass name */
    const char *from;         /* the text is IR (a dump); start at this pass */
    const char *skip;         /* opt_ passes to leave out, by commas */
    bool check_each;          /* run the simulator after every pass and name the one that broke it */
    bool no_cache;
    bool no_build;            /* stop at the emitted text */
    bool warnings_are_errors;
    int threads;              /* worker threads when it runs; 0: all cores */
    bool allow_unused;        /* defines that name no knob are no error; see tl_kernel_unused */
    const char *source;       /* a file compiled in place of the emitted text: edited by hand */
    bool line_info;           /* GPUs: profilers show lines of the emitted text, which is kept */
    const tl_define *configs; /* pass configs: "tl.disable_wgmma", "1"; they win over the file's */
    int nconfig;
    bool check_text;          /* GPUs: run the emitted text on the host and compare with the meaning */
    bool prove;               /* keep what is known of each access: TL_TEXT_PROOFS, _PROOFS_HTML */
} tl_options;
#define TL_OPTIONS_INIT {.size = sizeof(tl_options)}

/* Compile one kernel from a file (text NULL) or from text (file then only names it). */
TL_API tl_status tl_compile(tl_context *c, const char *file, const char *text, const tl_options *o,
                            tl_kernel **out);
TL_API void tl_kernel_free(tl_kernel *k);

/* ---- look at it ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const char *dtype;
    int rank;                 /* 0: scalar */
    int64_t shape[TL_RANK];   /* -1 where only known at run time */
    bool is_scalar, is_output, is_read, is_written;
} tl_param;
TL_API const char *tl_kernel_name(const tl_kernel *k);
TL_API int tl_kernel_nparam(const tl_kernel *k);
TL_API tl_param tl_kernel_param(const tl_kernel *k, int i);
TL_API double tl_kernel_flops(tl_kernel *k, const tl_tensor *args, int narg); /* of one run; tile operators only */
TL_API double tl_kernel_bytes(tl_kernel *k, const tl_tensor *args, int narg); /* compulsory traffic of tensors */
TL_API bool tl_kernel_from_cache(const tl_kernel *k);
/* It was compiled now, and the cache could not take it: its disk is full, or not ours to write to. */
TL_API bool tl_kernel_unkept(const tl_kernel *k);
TL_API int tl_kernel_ndim(const tl_kernel *k); /* run-time dimensions, solved from the arguments */
TL_API const char *tl_kernel_dim(const tl_kernel *k, int i);
TL_API const char *tl_kernel_unused(const tl_kernel *k, int i); /* defines that were no knob; NULL ends */
/* Tolerance for a result of this dtype, widened by what the kernel rounds to on the way. */
TL_API double tl_kernel_tolerance(tl_kernel *k, const char *dtype);
TL_API int tl_kernel_threads(const tl_kernel *k); /* that a run uses */

typedef enum {
    TL_TEXT_SOURCE, /* what the target's compiler gets */
    TL_TEXT_IR,     /* the last form */
    TL_TEXT_DUMP,   /* what options.dump asked for */
    TL_TEXT_PLANS,  /* decisions with their reasons */
    TL_TEXT_TIME,   /* milliseconds per pass, arena bytes */
    TL_TEXT_HEADER, /* C declarations of a bundle */
    TL_TEXT_WARNINGS,
    TL_TEXT_RESOURCES, /* GPUs: threads, shared bytes, registers and spills of each kernel */
    TL_TEXT_REPORT,    /* what pass configs ask to see: layouts, places in shared memory, … */
    TL_TEXT_AUDIT,     /* where the kernel got less than the target has, by line, and why */
    TL_TEXT_PROOFS,    /* options.prove: what is known of each access, of loops, of shared tiles */
    TL_TEXT_PROOFS_HTML /* the same as a page, with the source */
} tl_text;
TL_API const char *tl_kernel_text(tl_kernel *k, tl_text which);
/* The inferred layout of one on-chip buffer, as a text grid or an SVG picture. */
TL_API tl_status tl_kernel_layout(tl_kernel *k, const char *buffer, bool svg, const char **text);

/* ---- run it --------------------------------------------------------------------------------------- */

/* Solve run-time shapes, allocate nothing, check every argument, run.  Arguments in parameter
 * order (or bound by name when every one has a name). */
TL_API tl_status tl_kernel_run(tl_kernel *k, const tl_tensor *args, int narg);
/* Seconds of each of `reps` runs after `warmup` others; on a GPU those of the kernels alone. */
TL_API tl_status tl_kernel_time(tl_kernel *k, const tl_tensor *args, int narg, int warmup, int reps,
                                double *seconds);
typedef struct {
    size_t size;   /* sizeof(tl_timing) */
    int warmup, reps;
    bool graph;    /* GPUs: each repetition is a CUDA graph of launches, its time divided by them */
    int per_graph; /* launches in it; 0: as many as take some milliseconds */
    bool cold;     /* GPUs: inputs rotate over more than 150 MB, so that none is in the cache */
    bool flush;    /* GPUs, without graph: the cache is overwritten before each run */
    bool together; /* GPUs, without graph: all runs one behind the other between two events; each
                      time is the mean */
} tl_timing;
#define TL_TIMING_INIT {.size = sizeof(tl_timing), .warmup = 10, .reps = 50}
TL_API tl_status tl_kernel_measure(tl_kernel *k, const tl_tensor *args, int narg,
                                   const tl_timing *how, double *seconds);
TL_API tl_status tl_kernel_load(tl_kernel *k); /* GPUs: now, instead of with the first run */
/* GPUs: check the arguments and launch into a stream (a CUstream or cudaStream_t; NULL: the default
 * one) without waiting.  The tensors' data are addresses on the device, multiples of 16.  The same
 * shapes as last time cost next to nothing; safe while the stream is being captured.  On a CPU it
 * is tl_kernel_run. */
TL_API tl_status tl_kernel_launch(tl_kernel *k, const tl_tensor *args, int narg, void *stream);
/* For a kernel whose target had -profile: run it once and tell what its warps did when, as
 * Chrome-trace JSON, as an SVG picture, and as a table in text (each may be NULL).  On a CPU: run it for a
 * while and look where its threads are, by lines if tl.emit_line_directives and tirx.enable_debug are on. */
TL_API tl_status tl_kernel_profile(tl_kernel *k, const tl_tensor *args, int narg, const char **json,
                                   const char **svg, const char **table);
/* The same without a GPU: tl_kernel_simulate with seed 0, and when its warps did what by a model of latencies.
 * Times are cycles of no machine; who waits for whom is the kernel's own schedule. */
TL_API tl_status tl_kernel_profile_sim(tl_kernel *k, const tl_tensor *args, int narg, const char **json,
                                       const char **svg, const char **table);
/* The reference meaning: the tile form of the same kernel in the simulator. */
TL_API tl_status tl_kernel_reference(tl_kernel *k, const tl_tensor *args, int narg);
/* The kernel as lowered for a GPU, every thread of it, in the simulator (for another target the
 * tile form), which stops at a race, a missing wait or fence, a deadlock, an access out of bounds, a read of what nobody wrote.
 * The seed picks the order in which threads and asynchronous copies go on; 0 is a fixed one. */
TL_API tl_status tl_kernel_simulate(tl_kernel *k, const tl_tensor *args, int narg, uint64_t seed);
/* GPUs: the emitted text itself, compiled for the host by a C++ compiler and run thread by thread;
 * assembly by what its instructions mean.  Stops at an access past a tensor or shared memory, at
 * threads that wait for each other for ever, at an operand that no instruction takes. */
TL_API tl_status tl_kernel_run_text(tl_kernel *k, const tl_tensor *args, int narg);
/* tl_kernel_simulate with seed 0, and a table by source line of how warps touched memory: accesses to shared
 * memory, their extra wavefronts (bank conflicts), accesses to global memory, the 32-byte sectors
 * they took, the least that would do.  The text lives until the kernel is freed. */
TL_API tl_status tl_kernel_sim_stats(tl_kernel *k, const tl_tensor *args, int narg,
                                     const char **text);
/* The same run, watched: a command is asked for at every stop (tl debug says which there are), and
 * what is to be seen is said.  `tile`: the tile form instead.  TL_OK also when it was quit. */
typedef struct {
    bool (*ask)(void *arg, char *line, size_t n); /* false: there are no more commands */
    void (*say)(void *arg, const char *text);
    void *arg;
    bool tile;
} tl_debugger;
TL_API tl_status tl_kernel_debug(tl_kernel *k, const tl_tensor *args, int narg,
                                 const tl_debugger *d);
/* Shape of every output for these inputs (outputs' own shape and data are ignored on the way in). */
TL_API tl_status tl_kernel_shapes(tl_kernel *k, tl_tensor *args, int narg);
/* The same, with run-time dimensions and integer scalars given by name (the value of a define is a
 * whole number): fills dtype, rank and shape of every tensor whose data is NULL from those that
 * have data. */
TL_API tl_status tl_kernel_solve(tl_kernel *k, const tl_define *dims, int ndim, tl_tensor *args, int narg);
/* Largest |a-b| over (atol + rtol*|b|)-style comparison of two tensors of one dtype. */
typedef struct {
    double max_abs_err, max_rel_err;
    int64_t nwrong, nelem;
    int64_t first_wrong; /* flat index, -1 */
} tl_difference;
TL_API tl_status tl_compare(tl_context *c, const tl_tensor *got, const tl_tensor *want, double atol,
                            double rtol, tl_difference *out);
/* The documented tolerance for results of this dtype, as tl verify uses it. */
TL_API double tl_tolerance(const char *dtype);
TL_API int64_t tl_dtype_bytes(const char *dtype, int64_t nelems); /* -1: unknown dtype */
/* Seeded standard-normal (integers: small uniform) contents. */
TL_API tl_status tl_fill_random(tl_context *c, tl_tensor *t, uint64_t seed);
TL_API double tl_value_at(const tl_tensor *t, int64_t flat); /* element as a double */

/* ---- ship it ---------------------------------------------------------------------------------------- */

/* Kernels with the same parameters, for several architectures and kinds of arguments, as one function
 * in a folder (doc/bundles.md); it needs neither this library nor Python.  A call goes to the first
 * part whose condition holds and that runs there; the last has no condition.  Kernels of one context,
 * the best architecture first.  The folder appears whole or not at all. */
typedef struct {
    tl_kernel *kernel;
    const char *when;   /* over dimensions, scalars, addresses: "M % 128 == 0 and A % 16 == 0"; NULL: any */
    const char *tuned;  /* the row of a tuning library that it comes from, JSON, for the manifest; or NULL */
} tl_bundle_part;
typedef struct {
    size_t size;        /* sizeof(tl_bundle_options) */
    const char *levels; /* of CPUs: "x86-64-v2,x86-64-v3,x86-64-v4" (NULL: those three) */
    bool aligned_only;  /* GPUs: no second kernel for tensors that start at no multiple of 16 bytes */
} tl_bundle_options;
TL_API tl_status tl_bundle_write(const tl_bundle_part *parts, int npart, const tl_bundle_options *o,
                                 const char *dir);
TL_API tl_status tl_kernel_bundle(tl_kernel *k, const char *dir, const char *levels); /* of one */
/* Is the folder whole, and what of it runs on this machine: a sentence for each part.  *runs: a call
 * with any arguments would find a part. */
TL_API tl_status tl_bundle_check(tl_context *c, const char *dir, bool *runs, const char **text);

/* ---- ask ---------------------------------------------------------------------------------------------- */

TL_API const char *tl_targets(tl_context *c);                      /* a table in text */
typedef struct {
    size_t size;  /* sizeof(tl_target_facts) */
    const char *name; /* as it was asked for, or of the device here; until the context is asked again */
    bool archs;   /* it takes -arch=: a bundle has a part for each */
    bool stamps;  /* it takes -profile: its kernels write down when they do what */
    bool samples; /* tl_kernel_profile looks at its threads while they run */
    bool device;  /* kernels are launched on a device: events, graphs, lines of the text; no worker threads */
} tl_target_facts;
#define TL_TARGET_FACTS_INIT {.size = sizeof(tl_target_facts)}
/* Of a target; NULL: of the device here, or of a CPU. */
TL_API tl_status tl_target_ask(tl_context *c, const char *target, tl_target_facts *out);
TL_API const char *tl_passes(tl_context *c);                       /* the pass list in text */
TL_API tl_status tl_explain(tl_context *c, const char *name, const char **text); /* a T. name or an error tag */
TL_API tl_status tl_list(tl_context *c, const char *file, const char **text);    /* kernels of a file and their knobs */
TL_API tl_status tl_cache_list(tl_context *c, const char **text);
TL_API tl_status tl_cache_clear(tl_context *c, int64_t *nremoved);
/* Why was this kernel not found in the cache: the first key field that differs from the nearest entry. */
TL_API tl_status tl_cache_why(tl_context *c, tl_kernel *k, const char **text);
/* The GPU of this machine; false: none that can be used. */
typedef struct {
    char name[96], arch[16];
    int driver;              /* 13000 for CUDA 13.0 */
    int nsm, l2_bytes;
    double clock_ghz;        /* highest of the multiprocessors */
    double memory_gbytes;    /* per second, by its datasheet */
} tl_gpu;
TL_API bool tl_gpu_info(tl_context *c, tl_gpu *out);
/* GFLOP/s (GOP/s) of its matrix units at that clock for operands of this dtype; 0: unknown. */
TL_API double tl_gpu_peak(tl_context *c, const char *dtype);
TL_API double tl_cpu_peak(tl_context *c, const char *dtype, int threads); /* measured GFLOP/s of an FMA loop */
TL_API double tl_cpu_stream(tl_context *c, int threads);                  /* measured GB/s, read plus write */

#ifdef __cplusplus
}
#endif
#endif
