/* cli.h -- `tl <verb>`: what the verbs share.  Uses tilelang.h and base/base.h only.
 *
 * Exit codes: 0 fine, 1 the kernel or the call is wrong (or verify failed), 2 wrong usage, 3 the
 * machine (files, compiler, memory), 70 a bug of ours. */
#ifndef TL_CLI_CLI_H
#define TL_CLI_CLI_H

#include "base/base.h"
#include "tilelang.h"

enum { EXIT_OK = 0, EXIT_USER = 1, EXIT_USAGE = 2, EXIT_MACHINE = 3, EXIT_BUG = 70 };

/* ---- the verbs: one file each ---------------------------------------------------------------- */

extern const Verb verb_run, verb_debug, verb_verify, verb_bench, verb_build, verb_dump,
    verb_layout, verb_explain, verb_targets, verb_cache, verb_profile, verb_warm, verb_bundle,
    verb_tune, verb_lsp, verb_prove;

/* ---- common.c -------------------------------------------------------------------------------- */

/* Options of every verb that compiles; the first field of their options. */
typedef struct {
    const char *target;
    bool no_cache, werror, quiet, line_info;
    int64_t threads;
    const char *source;
    OptList configs;
} CommonOptions;

/* Of the verbs that run what they compile. */
#define SOURCE_OPTS(type, field)                                                                   \
    {"source", 0, OPT_TEXT, "FILE",                                                                \
     "compile this text, edited by hand, in place of what is emitted (tl build --source)",         \
     offsetof(type, field.source)},                                                                \
    {"line-info", 0, OPT_FLAG, NULL, "GPUs: profilers show lines of the emitted text",             \
     offsetof(type, field.line_info)}

#define COMMON_OPTS(type, field)                                                                   \
    {"target", 't', OPT_TEXT, "T", "cpu, cpu -mcpu=x86-64-v3, …; the best one here if not given", \
     offsetof(type, field.target)},                                                                \
        {"threads", 0, OPT_MANY,  "N", "worker threads; all cores by default",                     \
         offsetof(type, field.threads)},                                                           \
        {"config", 'c', OPT_LIST, "NAME=VALUE", "a pass config: tl explain pass_configs",         \
         offsetof(type, field.configs)},                                                           \
        {"no-cache", 0, OPT_FLAG, NULL, "neither read nor write the kernel cache",                 \
         offsetof(type, field.no_cache)},                                                          \
        {"werror", 0, OPT_FLAG, NULL, "take warnings as errors", offsetof(type, field.werror)},    \
    {"quiet", 'q', OPT_FLAG, NULL, "do not print warnings", offsetof(type, field.quiet)}

/* FILE[:FUNC] NAME=VALUE … taken apart. */
typedef struct {
    Arena *arena;
    tl_context *ctx;
    const char *file, *func;
    tl_define *defines;
    int ndefine;
} Job;

int job_open(Job *j, int nargs, const char **args); /* EXIT_OK, or what to end with */
void job_close(Job *j);
/* An error where `option` is for kernels of a device (wanted), or for others, and the target is
 * not so. */
int check_device(Job *j, const char *target, const char *option, bool wanted);
/* Compile; warnings and errors go to stderr.  `o` has what the verb wants beside the common part.
 */
int job_compile(Job *j, const CommonOptions *c, tl_options *o, tl_kernel **k);

/* Parse a verb's options and run it. */
int verb_call(Arena *a, const Verb *v, int argc, char **argv);
int verb_help(Arena *a, const Verb *v);
int tune_hand_over(Arena *a, int argc, char **argv); /* to Python; returns where it cannot */

int exit_code(tl_status s);
int fail_with(tl_context *c, tl_status s);                 /* prints tl_message */
int fail_text(int code, const char *fmt, ...) PRINTF(2, 3); /* "tl: error: …" */
const char *define_of(const Job *j, const char *name); /* NULL if not given */

/* A line on stderr while something takes long, when a person is looking. */
typedef struct Progress Progress;
Progress *progress_start(const char *what);
void progress_stop(Progress *p);

/* ---- args.c: the tensors of a run ------------------------------------------------------------ */

typedef struct {
    int n;
    tl_tensor *at;
    int64_t *nbytes;
} Arguments;

/* Every parameter of k: given by --in, by NAME=VALUE (scalars, dims), or filled from the seed. */
int arguments_make(Job *j, tl_kernel *k, const tl_tensor *given, int ngiven, uint64_t seed,
                   Arguments *out);
Arguments arguments_copy(const Arguments *a);
void arguments_free(Arguments *a);

int list_passes(void); /* dump.c: tl dump --passes */

/* What the verbs that run a kernel begin and end with.  task_open reads --in and compiles;
 * task_fill then makes the arguments.  Each returns EXIT_OK or what to end with; task_close is
 * called either way. */
typedef struct {
    Job job;
    tl_kernel *kernel;
    tl_tensor *given;
    int ngiven;
    Arguments args;
} Task;
int task_open(Task *t, int nargs, const char **args, const CommonOptions *c, const OptList *in,
              tl_options *o);
int task_fill(Task *t, int64_t seed);
void task_close(Task *t);
int64_t tensor_elements(const tl_tensor *t);
double tensor_rms(const tl_tensor *t);

/* page.c: what the page of a bundle in `dir` checks itself by. */
int page_check(Job *j, tl_kernel *k, const char *dir);

/* ncu.c: csv NULL: ncu is run on `tl run` of these words. */
int ncu_run(const char *csv, const char *target, int nargs, const char **args);

/* tuned.c: knobs of the row that `file` has for this kernel, its sizes and target (NULL: any)
 * become defines of the job; the row at *row, or NULL: there is none. */
int tuned_take(Job *j, const char *file, const char *kernel, const char *target,
               const char **row);

/* ---- npy.c ----------------------------------------------------------------------------------- */

/* Both return false with a message at *why.  Read gives malloc memory at t->data.  bfloat16, float8
 * and smaller types travel as unsigned integers of their width. */
bool npy_read(Arena *a, const char *path, tl_tensor *t, const char **why);
bool npy_write(Arena *a, const char *path, const tl_tensor *t, const char **why);
/* May an array read from a file stand for a parameter of this dtype? */
bool npy_fits(const char *file_dtype, const char *param_dtype);

/* ---- peer.c: other libraries to compare with ------------------------------------------------- */

typedef struct Peer Peer;
/* "openblas", "blis", "onednn"; NULL with *why. */
Peer *peer_open(Arena *a, const char *name, const char *dtype, int threads, const char **why);
/* C[M,N] = A[M,K] B[K,N], row-major; ta, tb: the operand is stored transposed. */
void peer_gemm(Peer *p, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
               const void *b, void *c);

/* main.c; python -m tilelang calls it too */
int cli_main(int argc, char **argv);

#endif
