/* emit.h -- CUDA C text: the emitter's state, shared by its files.
 *
 * One file per Func: the helpers of device/cuda that its kernels use, then the kernels.  The host
 * part is not emitted: Kernel.launch says what a launch hands over. */
#ifndef TL_TARGET_CUDA_EMIT_H
#define TL_TARGET_CUDA_EMIT_H

#include "target/uses.h"
#include "target/cuda/cuda.h"

/* emit_device.c: the helpers that a text uses. */
void cuda_paste(Arena *a, const TargetSpec *spec, const char *text, Str *out);

/* A language that is CUDA C but for what stands here. */
typedef struct {
    const Dialect *say;
    void (*paste)(Arena *a, const TargetSpec *spec, const char *text, Str *out); /* helpers */
    EmitStmtFn *open; /* before the body of a kernel; barriers in memory are its own then */
    int threads_enough; /* of a multiprocessor, to keep memory busy; 0: as its compiler thinks */
    /* A wide load that gives zeros where its guard does not hold; false: it is a choice. */
    bool (*load_or_zero)(Emit *e, const Expr *x, const char *type);
    /* The address space of a buffer, "device " before what it points at; NULL: there are none. */
    const char *(*space)(const Buffer *b);
} CudaText;
void cuda_emit_as(const CudaText *as, Func *f, const TargetSpec *spec, Str *out);

typedef struct {
    Emit e;         /* first: the printer takes it */
    const CudaText *as;
    Uses u;         /* of the kernel at hand */
    bool bulk;
    bool peers;                /* blocks write into the shared memory of others */
    bool pairs;                /* two blocks multiply together: so is all work on tensor memory */
    Str sites;                 /* -profile: what each stamp is of */
    int nsite;
    bool profiled;             /* inside of a stamped statement */
    const char *where;         /* predicate of the copies at hand; NULL: they are always done */
    int64_t copies;            /* of the statement at hand, made by the loops around it */
    int nrole;                 /* roles seen so far */
    int role_id, role_threads; /* the named barrier of the role at hand; 0 outside roles */
} Cuda;
static inline Cuda *cuda_of(Emit *e) { return (Cuda *)e; }

/* emit_slots.c: registers indexed the same way by every thread */
const Stmt *cuda_fix_slots(Cuda *c, const Stmt *body);

/* emit_loop.c, emit_store.c, emit_atomic.c, emit_call.c, emit_instr.c: hooks of cuda_dialect */
void cuda_emit_for(Emit *e, const Stmt *s);
void cuda_emit_store(Emit *e, const Stmt *s);
/* Copies under a condition become copies with a predicate: no branch parts them from the
 * instructions around, so that they are issued between those. */
bool cuda_may_stray(const Emit *e, const Expr *at); /* does an index read past a tensor? */
void cuda_emit_guarded_from(Emit *e, const Expr *load, const Expr *from);
bool cuda_is_where(Cuda *c, const Stmt *s); /* a branch around nothing but copies */
void cuda_emit_where(Cuda *c, const Stmt *s);
/* All lanes of a value as elements of type t in an array of its own; its name. */
const char *cuda_emit_run(Cuda *c, const Expr *value, DType t);
void cuda_emit_atomic(Emit *e, const Stmt *s);
void cuda_emit_call(Emit *e, const Stmt *s);
void cuda_emit_role(Emit *e, const Stmt *s);
void cuda_emit_instr(Emit *e, const Stmt *s);
void cuda_emit_product(Cuda *c, const Stmt *s, const char *name); /* name(C, A, B); */

const Expr *cuda_lane(Cuda *c);
/* Where the element (row, col) of the last two dimensions of a region is. */
const Expr *cuda_element(Cuda *c, const Region *r, const Expr *row, const Expr *col);
const Expr *cuda_register_slot(Cuda *c, const Stmt *s, const Region *r); /* the first */
const Expr *cuda_operand_slot(Cuda *c, const Stmt *s, int which); /* likewise, of an MMA */

/* emit.c */
/* 16-bit registers kept in pairs: only instructions see them */
bool cuda_is_packed(Cuda *c, const Buffer *b);
bool cuda_is_register(const Buffer *b);
void cuda_emit_decl(Emit *e, const Buffer *b);
/* Where an element of shared memory is, counted in bytes: what does not change in a loop is then
 * one register, and the rest an offset of the instruction. */
void cuda_emit_address(Cuda *c, const Buffer *b, const Expr *at);
NORETURN void cuda_refuse(Cuda *c, const Stmt *s, const char *what);

/* emit_hopper.c: bulk copies, MMAs of warpgroups, tensor maps */
void cuda_emit_tma(Cuda *c, const Stmt *s);
void cuda_emit_bulk(Cuda *c, const Stmt *s);
void cuda_emit_wgmma(Cuda *c, const Stmt *s);
void cuda_emit_descriptor(Cuda *c, const Stmt *s, const Region *r, bool k_rows);
/* A pointer to the registers that hold elements from `slot` on. */
void cuda_emit_registers(Cuda *c, const Buffer *b, const Expr *slot);

/* emit_tensor.c: before the block first meets, after that, at the end; instructions */
void cuda_tensor_ask(Cuda *c, const Kernel *k);
void cuda_tensor_open(Cuda *c, Kernel *k, bool met);
void cuda_tensor_close(Cuda *c, const Kernel *k);
void cuda_emit_place(Cuda *c, const Region *r); /* of its first element */
void cuda_emit_tensor_mma(Cuda *c, const Stmt *s);
void cuda_emit_tensor_scaled(Cuda *c, const Stmt *s);
void cuda_emit_tensor_spread(Cuda *c, const Stmt *s);
void cuda_emit_tensor_move(Cuda *c, const Stmt *s);
bool instr_is_bulk(const Stmt *s); /* a copy that one thread starts for all */
void cuda_collect_maps(Cuda *c, const Stmt *body);
const char *map_name(Cuda *c, const TensorMap *m);
const Expr *cuda_same_slot(Cuda *c, const Expr *slot); /* NULL: it differs between threads */

/* emit_profile.c: stamps of the clock around kinds of work */
bool cuda_emit_profiled(Cuda *c, const Stmt *s); /* false: it is emitted as ever */
void cuda_profile_open(Cuda *c, Kernel *k);
void cuda_profile_head(Str *out);

/* emit_spelling.c */
extern const Dialect cuda_dialect;
void cuda_emit_fail(Emit *e, const Stmt *s);
extern const char *const cuda_math_f32[], *const cuda_math_f64[];

#endif
