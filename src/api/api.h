/* api.h -- what stands behind tilelang.h: a context, a compiled kernel, and the way between. */
#ifndef TL_API_API_H
#define TL_API_API_H

#include "tilelang.h"
#include "front/front.h"
#include "ir/config.h"
#include "pass/pass.h"
#include "rt/runtime.h"

/* ---- compile.c: the spine -------------------------------------------------------------------- */

/* What becomes of calls whose tensors overlap, where a kernel takes them for apart. */
typedef enum {
    OVERLAP_LEFT,   /* the entry leaves them to a kernel that is made then (second.c) */
    OVERLAP_BESIDE, /* a second kernel stands in the same text: nobody can make one later */
    OVERLAP_TAKEN,  /* this is that second kernel */
} Overlap;

/* What to compile; everything in it outlives the Build. */
typedef struct {
    const char *file;      /* name in messages */
    const char *text;
    size_t ntext;
    const char *func;
    const NameValue *given;
    int ngiven;
    bool *unused;          /* by given; NULL: unknown names are errors */
    const NameShape *shapes;
    int nshape;
    int threads;           /* that will run it; 0: all cores */
    TargetSpec spec;
    const char *dump, *dump_dir, *stop_after, *from, *skip;
    const NameValue *configs;
    int nconfig;
    bool unaligned;        /* tensors may start anywhere */
    Overlap overlap;
    bool is_second;        /* made by second.c: it shows nothing of itself */
    bool check_each, check_text, werror, prove;
} Request;

typedef struct {
    Arena *arena;   /* IR, plans, text */
    Arena *scratch; /* emptied after each pass */
    Names *names;
    Diag diag;
    Source src;
    Ir *ir;
    Func *tile;     /* as traced: the meaning */
    Func *func;     /* the same, lowered in place */
    Str source;     /* what the target's compiler gets */
    Str dump;
    Str report;     /* what pass configs ask to see */
    struct Checker *checker; /* --check-each, --check-text */
    double load_seconds, emit_seconds, cc_seconds;
    double pass_seconds[PASS_COUNT];
} Build;

/* Text to tile form to lowered form to the target's text.  Throws; messages are in b->diag. */
void compile(Build *b, const Request *r);
void build_open_arenas(Build *b, Names *names);
void build_free(Build *b);
void time_text(const Build *b, Str *out);

/* ---- check.c --------------------------------------------------------------------------------- */

typedef struct Checker Checker;
Checker *checker_new(Build *b);                          /* simulates the tile form */
/* The lowered function once more; false: other answers.  Throws what the simulator finds.
 * needed: NULL, or as SimOptions has it. */
bool checker_run(Checker *c, uint64_t seed, uint64_t max_steps, Map *needed);
bool checker_see(void *checker, Kernel *k, const Pass *p); /* a PassOptions.check */
SimArg *checker_arguments(Checker *c, Arena *a);           /* a copy, to run with */
/* They are what the tile form gave; false after a message that says how it ran. */
bool checker_same(Checker *c, Kernel *k, const char *how, const SimArg *got);

/* ---- facts.c: what a kernel reads, writes and computes --------------------------------------- */

void func_uses(Func *f, uint8_t *use); /* by parameter */

/* ---- shifts.c */
void func_find_shifts(Func *f);
/* Operations of tile operators in one run; values by Var id, room for ir->nvar. */
/* Of one run, all blocks together: floating point operations of tile operators, bytes of tensors
 * and of shared tiles that statements touch (more than once where they do), operations of threads,
 * and tile operators that run. */
typedef enum { AMOUNT_FLOPS, AMOUNT_BYTES, AMOUNT_ON_CHIP, AMOUNT_OPERATIONS, AMOUNT_STEPS } Amount;
double func_amount(Func *f, int64_t *values, Amount what);
double kernel_count(tl_kernel *k, const tl_tensor *args, int narg, Amount what);
/* ---- work.c: one block of a lowered kernel, by who does it; warps are counted one by one */
typedef struct {
    double blocks;              /* that are launched */
    double operations, special; /* of a warp: arithmetic, functions such as exp2 and quotients */
    double requests;            /* of a warp to memory, and instructions of the kind */
    double sectors, stored;     /* of memory that threads touch; those that they store to */
    double pieces;              /* that lie apart, of what a warp's accesses touch */
    double loaded, again;       /* bytes that threads load, that they had loaded before */
    double wavefronts;          /* of shared memory */
    double bulk, boxes;         /* bytes and copies of an engine */
    double products, mmas;      /* of MMAs, as if of 16 bits; those of single warps */
    double operands;            /* bytes that MMAs of groups read from shared memory */
    double rounds, reads;       /* times that a thread waits for memory, for shared memory, */
    double hops, barriers;      /* for another lane, for other warps, */
    double waits, settled;      /* for copies in flight, for MMAs */
    double steps, step_loads;   /* of loops whose steps overlap; loads of a thread in them */
    double step_bytes;          /* of these, in the one with most */
    double held, live, widest;  /* bytes of a thread's arrays; of those that it holds for long; of
                                 * the largest of these */
} BlockWork;
BlockWork kernel_work_of(Kernel *k);
/* The widest documented tolerance among an output's type and what values are rounded to on chip. */
double func_tolerance(Func *f, DType out);

/* ---- jit.c, bundle.c, explain.c -------------------------------------------------------------- */

/* What a context has found of a runtime. */
typedef struct {
    Compiler compiler;
    Gpu *gpu; /* NULL until asked for */
} RuntimeState;

/* A kernel's text as one runtime built it. */
typedef struct {
    const Runtime *rt;
    Module module;
    Loaded *loaded; /* NULL until the first run */
} Built;

struct tl_context {
    _Atomic int users; /* who opened it, until tl_close, and every kernel: the last frees it */
    Arena *arena;
    Arena *answer; /* the last text asked for */
    Arena *said;   /* the last message */
    const char *message;
    Names *names;
    bool color;
    pthread_mutex_t lock;
    ForkLock fork;
    RuntimeState states[12]; /* by runtime.def */
    struct { Workers *workers; int asked; } pools[16];
    int npool;
};

struct tl_kernel {
    tl_context *ctx;
    Arena *arena;   /* the request and answers */
    Request request;
    Build build;
    Built built; /* by the target's runtime */
    Built twin;  /* the text on the host; nothing until the first run */
    struct LastLaunch *last; /* launch.c: the arguments of the last tl_kernel_launch */
    bool last_holds;         /* and the module is still set up for them */
    uint64_t last_serial;    /* counts the calls whose arguments were bound anew */
    Workers *workers;
    pthread_mutex_t lock; /* solving shapes, simulating, answers */
    bool no_cache, line_info;
    const char *own_source; /* of a file: compiled in place of the emitted text; NULL: none */
    int narrow_vars;      /* ids of dims and scalars are below this */
    uint8_t *use;
    const char *warnings;
    VEC(const char *) unused;
    /* second.c: the same for tensors that start anywhere, and that overlap; NULL: not yet */
    tl_kernel *unaligned;
    _Atomic(tl_kernel *) overlapping;
    _Atomic int maker; /* the process in which a thread makes `overlapping`; 0: none */
};

/* Build and load the emitted text; throws STATUS_TOOL. */
void jit(tl_kernel *k);
ModuleSpec jit_spec(tl_kernel *k);
void tell_flags(const Func *f, const TargetSpec *s); /* those that its compiler does not take */
const char *jit_flags(tl_kernel *k); /* beside those that every kernel has; NULL: none */

/* show.c: what pass configs ask to see of a kernel, into build.report and files. */
void show_asked(tl_kernel *k);
const char *kernel_name(const tl_kernel *k);
Workers *context_workers(tl_context *c, int nthread); /* kept as long as the context */
Compiler context_compiler(tl_context *c, const Runtime *rt); /* looked for once; throws */

/* api.c: for a host that traces by itself.  A kernel with arenas and an Ir, no function yet (NULL:
 * out of memory); then what was traced into k->build.func is lowered, emitted and built. */
tl_kernel *kernel_begin(tl_context *c);
tl_status kernel_finish(tl_kernel *k, const tl_options *o, Str *why);
/* run.c: tl_kernel_run, tl_kernel_simulate or tl_kernel_reference with the message in `text` and
 * not in the context, which threads share.  go_on: NULL, or asked now and then by the simulator. */
typedef enum { RUN_THERE, RUN_SIMULATED, RUN_MEANING } RunHow;
tl_status kernel_run(tl_kernel *k, const tl_tensor *args, int narg, RunHow how,
                     bool (*go_on)(void *), char *text, size_t ntext);

/* run.c: runs it; gives the kernel that took the call, k or what second.c made for it.  Throws. */
tl_kernel *kernel_that_runs(tl_kernel *k, const tl_tensor *args, int narg);

/* api.c: tl_kernel_text into `a`; false: it could not be made. */
bool kernel_say(tl_kernel *k, tl_text which, Arena *a, Str *out);
/* launch.c: tl_kernel_launch with the message in `text`; *serial: 0, or for kernel_repeat. */
tl_status kernel_launch(tl_kernel *k, const tl_tensor *args, int narg, void *stream,
                        uint64_t *serial, char *text, size_t ntext);
/* The launch that had this number with other addresses, by argument, of memory of the same GPU.
 * Types, shapes, strides and scalars are the caller's word.  False: nothing was launched, because
 * another call came between, somebody is at the kernel, or an address has no alignment. */
bool kernel_repeat(tl_kernel *k, uint64_t serial, const uint64_t *address, void *stream,
                   tl_status *status, char *text, size_t ntext);

/* second.c: made by the first call that needs it, kept with k.  Throws. */
tl_kernel *kernel_unaligned(tl_kernel *k);   /* the caller holds k's lock, or has k alone */
tl_kernel *kernel_overlapping(tl_kernel *k); /* by any thread that does not hold it */
/* twin.c: the emitted text on the host; throws */
void run_twin(tl_kernel *k, const SimArg *args, int narg);
typedef struct {
    const char *json, *svg, *table;
} ProfileTexts;
void profile_tell(tl_kernel *k, const ProfileSpans *s, Arena *a, ProfileTexts *out); /* profile.c */
void check_text(tl_kernel *k); /* --check-text */

/* runtime.c: what runs a kernel. */
const Runtime *runtime_find(const char *name);
void built_load(tl_kernel *k, Built *b); /* if it is not there yet; throws */
void built_free(Built *b);
bool built_runs(const Built *b); /* false: there is no code */
void resources_text(tl_kernel *k, Str *out);
void spec_from_device(tl_context *c, Arena *a, TargetSpec *spec);
/* The first runtime's that has one; NULL: none has. */
Gpu *context_device(tl_context *c, const Runtime **rt);
void runtime_tell(tl_context *c, const Target *t, Str *out);
/* Of this machine's device, with -arch=.  False: none, and text says why one that is there cannot
 * be used, if so. */
bool device_target(tl_context *c, char *text, size_t n);

/* bundle.c; all kernels are of one context, and held by the caller. */
void bundle_write(const tl_bundle_part *given, int n, const tl_bundle_options *o, const char *dir);
void bundle_header_text(tl_kernel *k, Str *out);
/* false: no part of it takes all calls on this machine. */
bool bundle_check(Arena *a, const char *dir, Str *out);

bool explain(Arena *a, Str *out, const char *name); /* false: nothing is known by that name */

#endif
