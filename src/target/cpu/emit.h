/* emit.h -- C text for the CPU: the emitter's state, shared by its files.
 *
 * One C file per Func.  It includes nothing; the parts of device/cpu that it needs are pasted in
 * front.  The ABI is at the head of device/cpu/abi.h. */
#ifndef TL_TARGET_CPU_EMIT_H
#define TL_TARGET_CPU_EMIT_H

#include "target/cpu/level.h"
#include "target/print.h"
#include "isa/isa.h"

typedef enum {
    PART_ABI,
    PART_OVERLAP,
    PART_CONVERT,
    PART_SCALAR,
    PART_MATH,
    PART_VECTOR,
    PART_GEMM,
    PART_AMX,
    PART_PACK,
    PART_TILE,
    PART_MMLA,
    PART_RANDOM,
    PART_THREADS,
    PART_COUNT
} Part;

typedef struct {
    Emit e; /* first: the printer takes it */
    bool part[PART_COUNT];
    bool checks;        /* some index is tested when it runs */
    Map checked;        /* buffers it may leave */
    int nsite;          /* places where threads synchronise */
    bool together;      /* all blocks of the kernel run at once */
    bool in_collective; /* one thread works for all */
    const Stmt *role;   /* around what is printed, of some threads */
    Map gathered;       /* collectives that all threads come to before one works */
    bool streams;       /* some stores go past the caches */
    bool polls;         /* its blocks wait for each other at flags: together where they are few */
    int choices;        /* around what is printed, made outside of a loop */
    bool amx;           /* some GEMMs are planned for tile registers */
    const struct Ahead *ahead; /* what to fetch early */
    const char *leave;  /* statement that ends the block early: "return;" */
} Cpu;
static inline Cpu *cpu_of(Emit *e) { return (Cpu *)e; }

/* tiles.c: block sizes; see Machine */
TileChoice cpu_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                           int cores);

extern const Dialect cpu_dialect; /* spelling.c */

/* emit.c */
void cpu_emit_for(Emit *e, const Stmt *s);
void cpu_emit_index(Emit *e, const Buffer *b, const Expr *at, int64_t n);
void cpu_emit_decl(Emit *e, const Buffer *b);
void cpu_emit_fail(Emit *e, const Stmt *s);
void cpu_emit_atomic(Emit *e, const Stmt *s);
void cpu_emit_launch(Emit *e, const Stmt *s);
bool cpu_refuse_on_host(Emit *e, const Stmt *s); /* what stands outside T.Kernel and cannot */
void emit_checked_body(Emit *e);
void emit_kernel_locals(Emit *e); /* values, pointers, block indices, tiles */
void cpu_emit(Func *f, const TargetSpec *spec, Str *out);

/* acc = acc op value, where value does not read acc */
typedef struct {
    const Buffer *acc;
    const char *op;    /* "+", "max", "min", "&", "|", "^" of OpenMP; "max_nan", "min_nan" */
    const Expr *value; /* what is folded in */
} Fold;
bool find_fold(const Stmt *s, Fold *f);
void emit_fold_body(Emit *e, const Stmt *body); /* statements and folds */

/* emit_vector.c */
typedef struct Ahead {
    const Stmt *loop;   /* while this one computes, */
    Var *outer, *inner; /* the next iteration of the loop over outer reads */
    const Expr *load;
} Ahead;
bool emit_vector_loop(Emit *e, const Stmt *loop); /* false: nothing was written */
const Ahead *find_ahead(Emit *e, const Stmt *rows);
bool emits_vectors(Emit *e);
/* f32 elements one after the other along v, none of which is tested when it runs */
bool is_consecutive(Emit *e, const Var *v, const Buffer *b, const Expr *at);

/* emit_stream.c */
bool emit_stream_loop(Emit *e, const Stmt *loop); /* the same */

/* emit_choice.c */
bool emit_choice_loop(Emit *e, const Stmt *loop); /* the same */

/* emit_gemm.c */
void emit_instr(Emit *e, const Stmt *s);
bool cpu_can_pack(DType t); /* pack.h can bring this type to a microkernel */

/* accum.c */
bool accum_clear_folds(Kernel *k, const Stmt *fill);      /* the GEMM after it can overwrite */
bool accum_lives_in_tensor(Kernel *k, const Stmt *copy);  /* the tile need not exist */
const Region *accum_home(Kernel *k, const Buffer *tile);
const Expr *accum_clears_when(Kernel *k, const Stmt *gemm);

/* plan.c */
bool cpu_has_microkernel(const Stmt *gemm);
bool cpu_region_can_be_viewed(Kernel *k, const Region *src);
extern const Mech *const cpu_mechs[];
extern const Mech cpu_amx;  /* GEMMs on tile registers */
extern const Mech cpu_view; /* not done: what reads the tile reads something else */

/* arch.c */
#if defined(__aarch64__)
enum { cpu_is_arm = true };
#else
enum { cpu_is_arm = false };
#endif
extern const TargetOption cpu_options[];
void cpu_start(Arena *a, TargetSpec *s);
void cpu_settle(TargetSpec *s);
void cpu_tell(const TargetSpec *s, Str *out);
const char *cpu_suggest(Arena *a, const char *word);

/* threads.c: kernels whose body is per thread */
void emit_thread_kernel(Emit *e);
bool cpu_runs_together(const Kernel *k);      /* its blocks synchronise: T.sync_grid */
int cpu_fibers(const Kernel *k);              /* of a block */
int64_t cpu_grid_bytes(const Kernel *k);      /* memory of one block of such a kernel */
void emit_role(Emit *e, const Stmt *s);
void emit_call(Emit *e, const Stmt *s);

#endif
