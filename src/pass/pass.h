/* pass.h -- the pass table and its runner.
 *
 * Four verbs, each a promise the runner enforces:
 *   check_  changes nothing, may complain         plan_  changes no statement, fills plans
 *   lower_  afterwards a construct is gone        opt_   may be skipped, meaning stays          */
#ifndef TL_PASS_PASS_H
#define TL_PASS_PASS_H

#include "ir/target.h"
#include "op/op.h"

typedef struct {
    const char *name;
    uint32_t when;                 /* HAS_ bits the machine must have; 0 always */
    uint32_t needs, gives, breaks; /* FORM_ bits */
    void (*run)(Kernel *k);
    const char *doc;
    const char *why;               /* it stands where it does */
} Pass;

typedef enum {
#define PASS(name, when, needs, gives, breaks, doc, why) PASS_##name,
#include "pass/pass.def"
#undef PASS
    PASS_COUNT
} PassId;

extern const Pass pass_table[PASS_COUNT];
#define PASS(name, when, needs, gives, breaks, doc, why) void pass_##name(Kernel *k);
#include "pass/pass.def"
#undef PASS

typedef struct {
    Str *out;             /* dumps go here */
    uint64_t dump;        /* bit per pass */
    uint64_t skip;        /* opt_ passes left out */
    int from, stop_after; /* pass numbers; -1 none */
    bool time, plans;
    double *seconds;      /* per pass, summed, PASS_COUNT long; may be NULL */
    /* --check-each: called after every pass that changed the body; returns false when the
     * answer changed (it has reported which pass). */
    bool (*check)(void *arg, Kernel *k, const Pass *p);
    void *check_arg;
    const char *dump_dir;
} PassOptions;

/* plan_layouts.c: the pass, for a given number of threads (a target without warps has one). */
void plan_layouts_threads(Kernel *k, int64_t nthread);

/* layout_cost.c: what a choice costs: register bytes first, then the accesses it needs. */
typedef struct { int64_t bytes, accesses; } LayoutCost;
int64_t layout_cost_fragment(const Buffer *b, const Layout *l);               /* register bytes */
int64_t layout_cost_nest(const Kernel *k, const LoopNest *p, const Layout *loop); /* accesses */
int layout_cost_compare(LayoutCost a, LayoutCost b);

/* verify.c: check the body against the forms it claims; an offence is our bug, named with `after`.
 * verify_promise tries what takes a proof, of the forms that a pass has just given. */
void verify_kernel(Kernel *k, const char *after);
void verify_promise(Kernel *k, uint32_t gives, const char *after);

int pass_find(const char *name); /* -1 if unknown */
/* Run one pass with its hygiene: needs, simplification, form bits, verification, dump. */
void pass_run(Kernel *k, const Pass *p, const PassOptions *o);
/* Run all rows in order on one kernel. */
void pass_run_all(Func *f, const PassOptions *o);

/* lower_warps_overlap.c: part of lower_warps; NULL: the loop is not of that kind. */
const Stmt *overlap_mmas(Kernel *k, const Stmt *loop);

/* plan_cluster.c: how many blocks the pipelines of a kernel are filled by. */
int cluster_of_pipes(Kernel *k);

/* opt_warpgroup_stores.c: a barrier of each warpgroup for itself, about such tiles. */
const Stmt *sync_warpgroup(Kernel *k, Span at);

/* plan_how.c: the first of the target's mechanisms of a step that can; where none can, the
 * operator's own loops (MECH_HOW) or what is planned already. */
void plan_mechanism(Kernel *k, const Stmt *t, MechStep step);
const char *tile_text(Kernel *k, const Stmt *tile); /* "copy A, A_s (line 15)", for --plans */
bool is_mma_in_flight(Kernel *k, const Stmt *s); /* an MMA that goes on beside the threads */
bool needs_two_groups(Kernel *k); /* plan_how_widen.c: one has too few registers */
/* opt_fold_clears.c: the warpgroups' MMA after statement `from` of the block that uses c next
 * and adds to it, -1 if something else does; that MMA, overwriting c where `when` holds. */
int mma_after(Kernel *k, const Stmt *block, int from, const Buffer *c);
const Stmt *mma_clearing(Ir *ir, const Stmt *t, const Expr *when);
bool kernel_has_producer(Kernel *k); /* plan_warps.c: is a copy planned for one? */
/* plan_persistent.c: blocks of a persistent kernel, as things stand; 0: a block per tile.  For the
 * plans before it; later passes read Kernel.persistent. */
int persistent_blocks(Kernel *k);
bool persistent_fits(Kernel *k); /* its tiles, side by side */
bool kernel_is_alone(Kernel *k); /* has a block with a producer the multiprocessor for itself? */
bool grid_is_known(const Kernel *k, int64_t *blocks); /* more than one index, all constant */
int cluster_size(const Kernel *k);
bool blocks_differ(Kernel *k); /* in length, as far as can be told */
typedef struct {
    int dim, way;  /* the block index that alone decides about the length: 1 the longer the higher
                    * it is, -1 the lower; 0: there is no such index, or blocks hardly differ */
    int64_t iters; /* of the outer loops of the longest */
} BlockLength;
BlockLength blocks_by_length(Kernel *k);

/* lower_async_bulk.c: part of lower_async: bulk copies that no producer makes.  Why one is left to
 * all threads instead; NULL: it is not. */
void lower_bulk_alone(Kernel *k);
const char *bulk_alone_why_not(const Stmt *copy);
int bulk_barrier(const Stmt *copy); /* which argument names its barrier: those before are its own */

/* multibuffer.c: multi-buffering of shared tiles, for pipelines. */
Buffer *buffer_staged(Kernel *k, Buffer *b, int n); /* takes the place of b in the kernel */
Region region_stage(Ir *ir, const Region *r, Buffer *to, const Expr *stage);
/* Uses of `from` in s become uses of stage `stage` of `to`. */
const Stmt *stmt_use_stage(Kernel *k, const Stmt *s, const Buffer *from, Buffer *to,
                           const Expr *stage);

/* plan_warps.c: how often a statement mentions a buffer or a view of it. */
enum { PIPES_MOST = 64 }; /* of full and empty barriers in a kernel, and one */
int stmt_uses(const Stmt *s, const Buffer *b);

/* body_uses.c: what the body of a kernel does with one buffer, by its root. */
typedef struct BodyPath BodyPath;
struct BodyPath {
    const Stmt *stmt;
    const BodyPath *parent; /* NULL: it is the body */
    int depth;
};
typedef struct {
    int uses;               /* loads, stores, regions: as stmt_uses counts them */
    int writes, addresses;
    const Stmt *reader[2];  /* the first, and the first that was not made of the same; or NULL */
    const Stmt *writer[2];
    const BodyPath *all;    /* the innermost statement that holds all uses */
    bool viewed;            /* some buffer is a view of it */
} BufferUses;
const BufferUses *buffer_uses(Kernel *k, const Buffer *b);
bool stmt_is_made_of(const Stmt *s, const Stmt *of);              /* or is itself */
bool others_touch(const Stmt *const two[2], const Stmt *but);     /* of reader or writer above */

/* async_nest.c: T.Parallel nests that only fill a shared tile from global memory. */
typedef struct {
    LoopNest nest;
    Buffer *dst;
    int axis[RANK_MOST]; /* by dimension of dst: the loop along it */
    const Expr *load; /* lets put into it */
    const Expr *cond; /* zero where it fails; NULL: never */
} NestCopy;
bool nest_is_copy(Ir *ir, const Stmt *nest, NestCopy *c);
/* A nest that copies and whose groups the kernel closes and waits for itself, its store landing
 * later; NULL: it is none. */
const Stmt *nest_by_hand(Ir *ir, const Stmt *nest);
/* Bytes that a thread moves at a time by a mechanism; 0: it cannot do this nest. */
int nest_async_bytes(Kernel *k, const Mech *how, const NestCopy *c);

/* check_plans.c: bytes that the tiles of a block may take; 0: no limit */
int64_t kernel_shared_most(const Kernel *k);
void check_shared_bytes(Kernel *k, int64_t nbytes); /* refuses what is more */

/* liveness.c: when a tile of the block is in use, by the numbers of statements. */
typedef struct {
    Buffer *buf;
    int first, last; /* -1: never */
    int64_t nbytes, align, offset;
    int seen;          /* uses so far */
    const Buffer *bar; /* where the last bulk load completes */
} Live;
typedef enum {
    LIVE_LOOPS, /* what a loop mentions lives through all of it */
    LIVE_ITERS, /* less what each iteration fills anew */
    LIVE_LEAST, /* as if each iteration filled anew all that only the loop mentions */
} LiveScope;
void live_find(Kernel *k, Live *list, int n, LiveScope scope); /* fills first and last */
int64_t live_place(Arena *scratch, Live *list, int n);      /* fills offset; bytes in all */
bool buffers_share(Kernel *k, const Buffer *a, const Buffer *b); /* bytes, after FORM_PLACED */

/* plan_shared.c: where a tile of so many bytes may start. */
int64_t shared_alignment(const Kernel *k, const Buffer *b, int64_t nbytes);
/* Bytes that the shared tiles will take, were each there `stages` times (as planned if NULL). */
typedef int StagesFn(void *arg, const Buffer *b);
int64_t shared_estimate(Kernel *k, LiveScope scope, StagesFn *stages, void *arg);

enum { AHEAD_MOST = 16 }; /* iterations that a copy of a pipelined loop may run ahead */

/* plan_pipeline.c: which statements of a pipelined body order= and stage= count, found by how many
 * they give; -1: none of the ways to count fits. */
int pipeline_counting(const Stmt *body, int n);
bool pipeline_counts(const Stmt *s, int way); /* whether order= and stage= have an entry for it */

/* Shared by passes for targets with threads. */
/* thread_nest.c: what coalesced_width= asked for and what it came to, where they differ */
void tell_width(Kernel *k, Span at, int64_t asked, int64_t got);
const Expr *thread_index(Kernel *k);         /* thread_nest.c: the thread's number in k->group */
const Expr *thread_in_block(Kernel *k);      /* its number in the block */
void parallel_to_threads(Kernel *k);
const Layout *plan_nest(Kernel *k,
                        const LoopNest *p); /* plan_layouts.c: of a nest made by lowering */

/* warp_reduce.c: reductions between the registers of threads: own slots, then lanes, then parts
 * through scratch.  Scans and T.any_of likewise. */
extern const Mech mech_shuffle;

/* warp_scan.c: scans between lanes.  The layout they work in, over a region of a tile. */
bool scan_can_shuffle(Kernel *k, const Stmt *t, const char **why);
const Stmt *scan_by_shuffle(Kernel *k, const Stmt *t);
const Layout *scan_layout(Kernel *k, const Region *r, int dim, int64_t nthread);

/* opt_skew.c: a tensor that is only written and does not fit the last level cache: what is stored
 * would be out of it before anyone reads it, and would be fetched only to be overwritten. */
bool tensor_streams(Kernel *k, const Buffer *b);

/* lower_unroll.c: the same with names of its own for what it binds, but for loops. */
const Stmt *stmt_anew(Kernel *k, const Stmt *s);

/* warp_allreduce.c: a value of every thread, for every thread. */
const Stmt *lower_allreduce(Kernel *k, const Stmt *s);
bool any_of_can_shuffle(const Stmt *t, const char **why);
const Stmt *any_of_by_shuffle(Kernel *k, const Stmt *t);

/* ---- lower_effects.c ------------------------------------------------------------------------- */

void effects_tell(Kernel *k);   /* warns of what the block's threads all do */

/* ---- lower_exact.c --------------------------------------------------------------------------- */

typedef struct {
    Facts *all;      /* ranges of all blocks, threads, loops and names */
    Facts *constant; /* those that do not depend on a run-time size */
} IndexFacts;

IndexFacts index_facts(const Kernel *k);
bool index_fits(const Facts *f, const Expr *e);   /* each sum and product in it, in int32 */
bool index_leaves(IndexFacts f, const Expr *e);   /* one of them may not, whatever the sizes */
const Expr *index_widen(Ir *ir, IndexFacts f, const Expr *e); /* in int64, from the leaves up */
const Expr *index_mul(Ir *ir, const Expr *a, const Expr *b);    /* constants fold without loss */
const Expr *index_add(Ir *ir, const Expr *a, const Expr *b);

/* ---- thread_group.c: which threads run a statement ------------------------------------------- */

typedef struct GroupVary {
    Vary v;
    struct GroupVary *next;
} GroupVary;

typedef struct {
    Kernel *k;
    GroupVary *vary; /* of the thread groups asked about; use group_vary */
    Map lets;        /* that vary, in terms of the thread */
    StmtMapFn *fn;
    void *arg;
} GroupWalk;
void group_walk_init(GroupWalk *w, Kernel *k);
void group_see_let(GroupWalk *w, const Stmt *s);
/* What differs between the threads of k->group. */
Vary *group_vary(GroupWalk *w);
/* The thread groups of both sides; known: they are those threads of k->group that come by.  False:
 * the condition does not depend on the thread. */
bool group_of_branch(GroupWalk *w, const Expr *cond, ThreadGroup *then, ThreadGroup *orelse,
                     bool known[2]);
/* fn gets every statement that is not a block, a role, a branch or a loop (a T.Parallel nest as
 * one) with k->group set. */
const Stmt *group_map_stmt(GroupWalk *w, const Stmt *s);
const Stmt *group_map(Kernel *k, const Stmt *s, StmtMapFn *fn, void *arg);
void group_visit(Kernel *k, StmtVisitFn *fn, void *arg);
void group_check_fragments(Kernel *k); /* refuses those that two thread groups use */
bool group_together(const Stmt *s);    /* an operator or a nest, done by its threads together */
ThreadGroup group_owner(const Map *fragments, const Stmt *s);
/* Buffer -> ThreadGroup *, of the fragments. */
void group_fragments(Kernel *k, Map *group);
ThreadGroup group_of_nest(Kernel *k, const Map *fragments, const LoopNest *p);
/* liveness.c: do some threads wait for others at barriers in memory? */
bool groups_sync_by_hand(Kernel *k, GroupWalk *w);

#endif
