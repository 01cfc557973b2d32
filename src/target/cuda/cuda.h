/* cuda.h -- the CUDA target's own declarations, by file. */
#ifndef TL_TARGET_CUDA_CUDA_H
#define TL_TARGET_CUDA_CUDA_H

#include "target/target.h"
#include "target/mma.h"

/* ---- stmatrix.c: copies of accumulators to a shared tile, once both have their layouts */
bool stmatrix_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why);
void stmatrix_plan(Kernel *k, ThreadGroup who, const Stmt *t);
const Stmt *stmatrix_lower(Kernel *k, ThreadGroup who, const Stmt *t);

/* ---- panels.c: operands that MMAs read from shared memory through descriptors ---------------- */

int64_t matrix_extent(const Region *r, int from_end);
/* Can an MMA read it?  mn_major: it is stored with k as rows, which types of these bits may be;
 * part: of a group of warps, n: of an instruction. */
bool panel_operand(Kernel *k, const Region *r, bool mn_major, int mn_bits, int64_t part, int64_t n,
                   const char **why);
void panel_infer(Infer *in, const Stmt *t, const Region *r);
/* A piece of the last two dimensions; `transposed`: the tile stores columns as rows. */
Region matrix_piece(Ir *ir, const Region *of, bool transposed, const Expr *row, const Expr *col,
                    int64_t rows, int64_t cols);
const Expr *gemm_clears(Ir *ir, const Stmt *t, int64_t step); /* C, before this step of k */

/* ---- wgmma.c: MMAs by warpgroups ------------------------------------------------------------- */

typedef struct {
    int64_t M, N, K; /* of the tile */
    int groups_m, groups_n;
    int64_t part_m, part_n; /* of one warpgroup */
    int n, k;               /* of the instruction */
    bool trans_a, trans_b, a_in_registers;
    bool stages_a;          /* A, of a fragment, goes through shared memory */
    bool sparse;            /* A holds half of its columns, E says which */
    const Isa *isa;
} WgmmaPlan;

bool wgmma_suits(Kernel *k, const Stmt *t); /* the machine, the types and the shape are for it */
bool wgmma_plan(Kernel *k, ThreadGroup who, const Stmt *t, WgmmaPlan *p, const char **why);
void wgmma_infer(Infer *in, const Stmt *t);
const Stmt *wgmma_lower(Kernel *k, ThreadGroup who, const Stmt *t);

/* ---- tcgen05.c: MMAs into tensor memory, copies between it and registers */
bool tensor_suits(Kernel *k, const Stmt *t); /* but for where its result is */
bool tensor_multiplies(Kernel *k, const Stmt *t); /* as it stands */
bool tensor_can(Kernel *k, const Stmt *t, const char **why);
void tensor_infer(Infer *in, const Stmt *t);
const Stmt *tensor_lower(Kernel *k, ThreadGroup who, const Stmt *t);
/* Scales go there from shared memory. */
bool tensor_spread_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why);
const Stmt *tensor_spread_lower(Kernel *k, ThreadGroup who, const Stmt *t);
bool tensor_copy_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why);
void tensor_copy_infer(Infer *in, const Stmt *t);
const Stmt *tensor_copy_lower(Kernel *k, ThreadGroup who, const Stmt *t);

/* ---- tma.c: copies by the tensor memory accelerator */
bool tma_at_first(const Kernel *k, const Stmt *t); /* the first of two blocks counts its bytes */
int cuda_cluster_size(const Kernel *k);
bool tma_is_asked(const Stmt *t); /* T.tma_copy: the kernel brings its own barriers */
bool tma_plan(Kernel *k, const Stmt *t, const char **why);
bool tma_may_spread(Kernel *k, const Buffer *tile); /* bulk copies of 4-bit elements to bytes */
bool tma_or_loops(Kernel *k, const Stmt *t); /* a store that may start before its tensor */
void tma_infer(Infer *in, const Stmt *t);
const Stmt *tma_lower(Kernel *k, ThreadGroup who, const Stmt *t);
/* Shared with bulk.c and im2col.c.  Strides of the tensor, boxes of the tile as they must be. */
bool tma_has_address(const Buffer *b);
bool tma_strides_fit(const Facts *f, const Buffer *b);
bool tma_boxes_fit(const Region *shared, bool slice, const char **why);
/* Does nobody else touch the tensor? */
bool tma_is_alone(Kernel *k, const Stmt *t, const Buffer *tensor, bool loads, const char **why);
bool tma_is_only_store(Kernel *k, const Stmt *t); /* does nothing else write the tensor? */
const Expr *tma_policy(Ir *ir, const Stmt *t); /* of the second level cache; NULL: none */
Region tma_barrier(Ir *ir, const Stmt *t); /* that a load reports to */
const Stmt *tma_announce(Kernel *k, const Stmt *t);
/* list has room for two more. */
const Expr *tma_first(Kernel *k, ThreadGroup who, const Stmt *t); /* who issues it */
const Stmt *tma_issue(Kernel *k, const Stmt *t, const Expr *first, int n, const Stmt **list);

/* ---- bulk.c: copies of consecutive bytes, without a tensor map */
bool bulk_plan(Kernel *k, const Stmt *t, const char **why);
const Stmt *bulk_lower(Kernel *k, ThreadGroup who, const Stmt *t);

/* ---- im2col.c: T.im2col by the tensor memory accelerator */
bool im2col_plan(Kernel *k, const Stmt *t, const char **why);
const Stmt *im2col_lower(Kernel *k, ThreadGroup who, const Stmt *t);

/* ---- variant.c */
const Expr *cuda_variant(Kernel *k);

/* ---- tiles.c: block sizes, stages and threads; see Machine */
TileChoice cuda_tiles_gemm(const Machine *m, const int64_t size[3], int type, unsigned trans,
                           int cores);
TileChoice cuda_tiles_attention(const Machine *m, int64_t S, int64_t D, int type, bool causal);
TileChoice cuda_tiles_attention_back(const Machine *m, int64_t D, int type);

/* ---- plan.c */
extern const Mech *const cuda_mechs[];
extern const Mech cuda_cp_async;

/* ---- emit.c */
void cuda_emit(Func *f, const TargetSpec *spec, Str *out);

/* ---- arch.c: its words, and the machine they describe */
extern const TargetOption cuda_options[];
const char *cuda_read_arch(Arena *a, const char *word, TargetSpec *s);
const char *cuda_read_model(Arena *a, const char *word, TargetSpec *s);
void cuda_start(Arena *a, TargetSpec *s);
void cuda_settle(TargetSpec *s); /* after all words */
const char *cuda_suggest(Arena *a, const char *word);

#endif
