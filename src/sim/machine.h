/* machine.h -- what the files of sim/ share: memories, threads, the run in progress. */
#ifndef TL_SIM_MACHINE_H
#define TL_SIM_MACHINE_H

#include "sim/sim.h"

enum { LANES_MOST = 64 };

/* Storage of one buffer.  Views share data and init with their root. */
typedef struct {
    const Buffer *buf;
    char *data;
    uint8_t *init;    /* per byte: bit 0 the low half, bit 1 the high half; NULL: all is */
    uint8_t mark;     /* of a byte that this buffer wrote: both bits, above them who it is */
    int64_t nbytes;
    int64_t nelem;    /* of storage */
    DType type;
    bool global;
    int rank;
    int64_t shape[RANK_MOST], stride[RANK_MOST];
    struct SimShadow *shadow; /* who touched each grain; NULL: races are not looked for */
    int64_t shadow_at;        /* byte of the shadow where the buffer begins */
    struct SimWatch *watch;   /* global.c; NULL: not watched */
    struct SimFlight *flight; /* registers of warpgroup MMAs; NULL: it has no part in any */
    const int32_t *place; /* FORM_FLAT: row-major index -> storage element; NULL: the same */
} SimMem;

typedef struct {
    const Buffer *buf; /* it is an element of; NULL: a cluster's */
    int64_t i;
    int64_t expect;   /* arrivals of one phase */
    int64_t pending;  /* still missing in this one */
    int64_t tx;       /* bytes announced and not yet landed */
    int64_t phase;    /* phases completed */
    uint32_t *clock;  /* what the arrivals of completed phases had seen */
    uint32_t *next;   /* and those of this one */
    int nclock;
    int agent;        /* actor: the copies that complete here */
    uint32_t issued;  /* of them so far */
    int64_t waited;   /* phases that somebody waited for */
    double ready, next_ready; /* timing.c: when the last phase was complete; arrivals of this one */
} SimBarrier;

typedef struct SimArrival {
    const Stmt *s;
    const SimBarrier *bar;
    int64_t phase;
} SimArrival;

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

typedef struct SimThread SimThread; /* thread.c */
typedef struct SimBlock SimBlock;

/* Work beside the threads: async.c. */
typedef struct SimAgent SimAgent;
struct SimAgent {
    const Stmt *s;
    SimBlock *block;
    SimBarrier *bar;
    int64_t bytes;         /* that complete there */
    const uint32_t *clock; /* of the thread that issued it */
    int nclock;
    uint32_t tick;
    int mmas;              /* an arrival for these MMAs, an actor; 0: it has bytes, and lands */
    void (*land)(Sim *m, const SimAgent *a);
    double lands; /* timing.c */
};

/* Blocks that see each other's shared memory; one where there are no clusters. */
typedef struct {
    int nblock;
    SimBlock **block;
    int nthread;        /* of all of them: the first actors; agents come after */
    SimThread **thread; /* by actor */
    int nactor, nclock; /* actors; entries of its threads' clocks */
    int ngroup, stride; /* warpgroups of a block; actors of a block after the threads */
    struct SimForeign *foreign; /* flags.c; NULL: there are no flags */
    int first_foreign;  /* of its clocks: which of those have been seen */
    SimBarrier barrier;
} SimCluster;

/* Registers of one thread that take part in warpgroup MMAs. */
typedef struct SimFlight {
    SimThread *thread;
    uint32_t *slot;     /* flight.c: what each is doing */
    const Stmt *issued;
} SimFlight;

struct Sim {
    Func *func;
    Kernel *k;      /* NULL while host statements run */
    Ir *ir;
    Diag *diag;
    Arena *arena;   /* of the run */
    Arena *scratch; /* of one statement */
    Arena *keep;    /* of the run too; m->arena is taken back after each block */
    SimOptions o;
    Value1 *value;  /* by Var id; those of the running thread */
    SimMem **mem;   /* by Buffer id; those of the running thread */
    int nvar, nbuf;
    const Stmt *at; /* running */
    uint64_t steps;
    bool sugar;     /* negative literals count from the end */
    bool flat;      /* accesses are storage offsets */
    bool exact;     /* FORM_GUARDED: nothing global may be out of bounds */
    bool clustered; /* blocks of a cluster run together */
    bool paired;    /* pairs of blocks share MMAs: neither ends before the other */
    bool *answered; /* by Buffer id: barriers that count bytes in every form */
    bool *taken;    /* clusters of the launch that another one has taken over */
    int64_t nunit;  /* clusters of the launch */
    bool polls;     /* loops look at results of atomics until they change */
    bool races;     /* look for data races between threads */
    bool proxies;   /* fences are in place: look for missing ones */
    bool registers; /* FORM_THREADS with warps: each thread holds its part of a fragment */
    Value1 *host_value;
    SimMem **host_mem;
    SimBlock *block;   /* running */
    SimThread *self;   /* running coroutine; NULL: the block runs as a whole */
    SimThread *leader; /* the coroutine that works for all, while self is NULL */
    SimThread *first;  /* the lowest thread of those it works for: whose random numbers are used */
    struct SimSched *sched;
    struct SimDebug *debug; /* NULL: nobody watches */
    VEC(void *) stacks; /* of coroutines, kept from block to block */
    int warp, group;   /* threads in one, and in one that a group instruction takes */
    int nests;         /* T.Parallel loops around what runs */
    bool permute;      /* visit parallel iterations in an order made from the seed */
    uint64_t random;   /* state of the schedule */
    int32_t unit;      /* global.c: of the first cluster since the last grid barrier */
    struct SimFlags *flags; /* flags.c; NULL: nobody looks at atomic operations */
    VEC(struct SimArrival) arrivals; /* for SimOptions.needed */
    const int32_t **place; /* by Buffer id: what apply_layout found, for the kernel */
    bool *in_mma;          /* by Buffer id: registers of group MMAs */
};

struct SimBlock {
    int64_t at[3];
    SimMem **mem;
    SimBarrier **barrier; /* by Buffer id; NULL where none */
    uint64_t named[16], generation[16]; /* named barriers: arrivals so far, times completed */
    uint32_t *named_clock[16];
    SimCluster *cluster;
    int rank;             /* in it */
    int ntaken;           /* clusters that it has taken over */
    int32_t unit;         /* which cluster of the launch */
    int nbarrier;
    int first_agent;      /* its actors: warpgroups and their warps, barriers, storers */
    int nstore;           /* threads that issue bulk stores so far */
    int first_thread;     /* of the scheduler's list */
    int64_t registers;    /* that its threads hold */
    char *shared;         /* FORM_PLACED: where its shared buffers live; else NULL */
    int64_t shared_bytes;
    uint64_t rng[8];      /* when the block runs as a whole */
    int sampled;          /* timing.c: its number among those that are timed; 0: none yet */
    double named_time[16];  /* the last arrival so far */
    double named_ready[16]; /* and that of the last time completed */
};

/* machine.c */
SimMem *mem_make(Sim *m, const Buffer *b, bool track);
SimMem *thread_mem(Sim *m, const SimThread *t, const Buffer *b); /* registers of another thread */
SimMem *block_mem(Sim *m, const SimBlock *blk, const Buffer *b); /* of another block */
void launch_kernel(Sim *m, Kernel *k);
void block_name_agents(Sim *m, SimBlock *blk, int first); /* one for each barrier in memory */
SimMem *mem_find(Sim *m, const Buffer *b); /* views, and buffers over a pointer, which move */
static inline SimMem *sim_mem(Sim *m, const Buffer *b)
{
    SimMem *mem = b->id < m->nbuf ? m->mem[b->id] : NULL;
    return mem && b->pointer == NULL ? mem : mem_find(m, b);
}

/* race.c */
typedef struct SimShadow SimShadow;
enum { IN_FLIGHT = 0x7fffffff }; /* the tick of a store that nobody has waited for */
typedef struct {
    int actor;             /* under whose name the access is remembered */
    uint32_t tick;
    const uint32_t *clock; /* what the thread that makes or issues it has seen */
    bool async;            /* through the async proxy */
} Accessor;
SimShadow *shadow_new(Sim *m, int64_t nbytes, int grain, int nactor); /* grain: bits, 2^n */
void shadow_read(Sim *m, const SimMem *mem, int64_t i, const Accessor *by);
void shadow_write(Sim *m, const SimMem *mem, int64_t i, const Accessor *by, bool same_value);
uint32_t *clock_new(Sim *m, int nactor);
void clock_join(uint32_t *into, const uint32_t *from, int nactor);
void clock_join_all(SimThread *const *member, int n);
void clock_release(SimThread *t, uint32_t *barrier);
const uint32_t *clock_common(Sim *m, SimThread *const *member, int n);
void race_read(Sim *m, const SimMem *mem, int64_t i);
void race_write(Sim *m, const SimMem *mem, int64_t i, bool same_value);
void race_issue(Sim *m, const SimMem *mem, int64_t i); /* a copy into it is in flight from here */
void race_land(Sim *m, const SimMem *mem, int64_t i);
NORETURN void sim_give_up(Sim *m); /* after a message */

/* copy_groups.c: by the running thread */
void copy_issue(Sim *m, SimMem *mem, int64_t i, Value1 v);
void copy_issued(Sim *m, const Stmt *store); /* the elements since the last are of one store */
void copy_wait_all(Sim *m); /* what is not in a group yet too */

/* global.c */
void watch_global(Sim *m); /* for the kernel about to run */
void global_read(Sim *m, const SimMem *mem, int64_t i); /* mem->watch is not NULL */
void global_write(Sim *m, const SimMem *mem, int64_t i, bool same_value);
int32_t global_unit(const Sim *m); /* of the running block */
void watch_no_more(Sim *m);

/* flags.c */
struct SimFlags *flags_new(Sim *m);
int flags_places(Sim *m, SimCluster *c); /* entries that its clocks have behind the actors */
/* Has the running thread seen that? */
bool flags_saw(const Sim *m, int32_t unit, int actor, uint32_t tick);
/* The running thread does s, an atomic; m->flags is not NULL. */
void flags_read(Sim *m, const SimMem *mem, int64_t i, const Stmt *s);
void flags_written(Sim *m, const SimMem *mem, int64_t i, const Stmt *s);

/* stats.c: m->o.stats is not NULL */
void stats_access(Sim *m, const SimMem *mem, const void *what, int64_t element, int lanes);
void stats_end(Sim *m);

/* debug.c */
struct SimDebug *debug_new(Sim *m, SimDebugger *io);
void debug_see(Sim *m, const Stmt *s); /* about to run; m->debug is not NULL */

/* barrier.c */
SimBarrier *barrier_at(Sim *m, SimBlock *blk, const Stmt *s, const Buffer *b, int64_t i);
int64_t barrier_index(Sim *m, const Region *r);
void barrier_complete(Sim *m, SimBarrier *bar, int64_t bytes, const uint32_t *clock, int nclock,
                      uint32_t tick);
void barrier_arrive_for(Sim *m, const Stmt *s, SimBarrier *bar, const uint32_t *clock, int nclock,
                        int agent, uint32_t tick);
bool launch_take(Sim *m, int64_t first[3]);   /* a cluster that has not started; machine.c */
SimBlock *pair_block(Sim *m, const Stmt *s, int which); /* 0 or 1 of the two that do s together */
void cluster_at_exit(Sim *m);
/* Memory and barriers of a block are gone when all its threads are. */
void block_must_live(Sim *m, const Stmt *s, const SimBlock *b);
void barriers_at_end(Sim *m); /* of the blocks that ran together */

/* async.c */
void agent_sees(Sim *m, SimAgent *a); /* what the running thread has seen */
void commit_mmas(Sim *m, const Stmt *s, SimBarrier *bar, SimBlock *block);
void agent_land(Sim *m, SimAgent *a);
bool agent_may_land(SimAgent *const *list, int i);
void agents_at_exit(Sim *m); /* of the running thread: it must have waited for its copies */

/* flight.c */
void register_touch(Sim *m, const SimMem *mem, int64_t i, bool write); /* mem->flight is not NULL */
/* An MMA takes it as its result, or as an operand. */
void register_take(Sim *m, const Stmt *s, const SimMem *mem, int64_t i, bool result);

/* generator.c: st[0] seed, st[1] offset, st[2] stream, st[3] kind, then the words of its state */
void generator_init(uint64_t *st);
uint32_t generator_next(uint64_t *st);

/* memory.c */
Value1 mem_read(const SimMem *mem, int64_t i);
void mem_write(SimMem *mem, int64_t i, Value1 v);
void mem_put(Sim *m, SimMem *mem, int64_t i, Value1 v); /* a write by the running thread */
bool mem_is_init(const SimMem *mem, int64_t i);
bool mem_holds(const SimMem *mem, int64_t i, Value1 v); /* is in it already */
/* Element offset of an access; -1: outside a global buffer, where the language guards. */
int64_t mem_offset(Sim *m, const SimMem *mem, const int64_t *at, int n);
NORETURN void fail_uninitialised(Sim *m, const SimMem *mem, int64_t offset);
static inline Value1 mem_get(Sim *m, const SimMem *mem, int64_t i)
{
    if (mem->shadow && m->self)
        race_read(m, mem, i);
    if (mem->watch)
        global_read(m, mem, i);
    if (mem->flight)
        register_touch(m, mem, i, false);
    if (mem->init && m->o.check_uninit && !mem_is_init(mem, i))
        fail_uninitialised(m, mem, i);
    if (mem->type == DT_F32) {
        float f;
        memcpy(&f, mem->data + i * 4, sizeof f);
        return (Value1){.f = (double)f};
    }
    return mem_read(mem, i);
}

/* eval.c */
Value1 eval(Sim *m, const Expr *e);
void eval_lanes(Sim *m, const Expr *e, Value1 *out); /* e->lanes values */

/* Indices as numbers; before FORM_NORMAL a negative literal counts from the end. */
void index_values(Sim *m, const Buffer *b, const Expr *const *e, int n, int64_t *at);

/* interp.c */
Flow exec(Sim *m, const Stmt *s);
void sim_step(Sim *m, const Stmt *s);

/* instr.c */
void exec_instr(Sim *m, const Stmt *s);
void simulate_cpu_gemm(Sim *m, const Stmt *s);  /* tile.c */
void simulate_cpu_pack(Sim *m, const Stmt *s);
void simulate_matrix_load(Sim *m, const Stmt *s);  /* warp.c */
void simulate_matrix_store(Sim *m, const Stmt *s);
void simulate_mma(Sim *m, const Stmt *s);
void simulate_group_mma(Sim *m, const Stmt *s); /* from here on in target/NAME/sim */
void simulate_tile_load(Sim *m, const Stmt *s);
void simulate_tile_store(Sim *m, const Stmt *s);
void simulate_run_load(Sim *m, const Stmt *s);
void simulate_im2col_load(Sim *m, const Stmt *s);
void simulate_run_store(Sim *m, const Stmt *s);
void simulate_tensor_mma(Sim *m, const Stmt *s);
void simulate_tensor_spread(Sim *m, const Stmt *s);
void simulate_pair_load(Sim *m, const Stmt *s);
void simulate_tensor_load(Sim *m, const Stmt *s);
void simulate_tensor_store(Sim *m, const Stmt *s);

/* intrin.c, and what rows of intrin.def name; the value is what the call gives. */
#define NO_VALUE ((Value1){0})
void exec_call(Sim *m, const Stmt *s);
#define INTRIN(id, name, narg, type, effects, simulate) Value1 simulate(Sim *m, const Stmt *s);
#define ASYNC(id, name, word, narg, effects, commits, waits, simulate)                             \
    Value1 simulate(Sim *m, const Stmt *s);
#include "ir/intrin.def"
#undef INTRIN
#undef ASYNC

/* timing.c; times_until and times_landing: nothing where no clock is kept */
typedef VEC(double) SimGroups;
void times_charge(Sim *m, const Stmt *s); /* the running thread is about to do s */
void times_until(Sim *m, double when, SimWork w, const Stmt *s);
double times_landing(Sim *m, const SimAgent *a);
double times_of_all(SimThread *const *member, int n);

/* thread.c: coroutines, one per thread of the blocks that run together */
struct SimThread {
    int index;           /* in its block */
    SimBlock *block;
    Value1 *value;
    SimMem **mem;
    const Stmt *at;      /* where it waits or runs */
    const Stmt *role;    /* the innermost ST_ROLE it is in; NULL: none */
    Value1 arg[4];       /* what it brought to a synchronisation */
    Value1 result;       /* what it takes away */
    uint64_t rng[8];
    int actor;           /* in its cluster */
    uint32_t *clock;     /* race.c: how far of each actor's work this one has seen */
    int nclock;
    struct SimCopies *copies; /* copy_groups.c: in flight; NULL: none yet */
    VEC(uint32_t) fences; /* ticks at which it ran fence_proxy_async */
    uint32_t mma_fence, mma_committed, mma_done; /* group MMAs: fences, groups */
    const Stmt *mma_open;      /* one that is not in a group yet */
    const Stmt *fence_at;      /* the last warpgroup_arrive */
    uint32_t stores_committed, stores_done;
    const Stmt *stores_open, *stores_issued;
    int store_agent, mma_agent; /* actors; 0: it has issued none, or none into tensor memory */
    int64_t cluster_phase;
    int64_t cluster_arrived; /* phases of the cluster's barrier it has come to */
    int64_t register_cap; /* asked for by set_max_nreg; 0: not yet */
    struct SimWait *wait;
    const Stmt *polled;  /* the last atomic whose result was looked at, and that; NULL: none yet */
    Value1 polled_value;
    bool done;
    /* timing.c: now; when its copies have landed, its MMAs and its bulk stores are done; when each
     * committed group of them is; whether it is in a row of accesses to memory. */
    double time, landing, matrix, stores;
    SimGroups copy_groups, mma_groups;
    bool in_row;
    Context context;
};

typedef enum { SYNC_ROLE, SYNC_BLOCK, SYNC_WARP, SYNC_GROUP, SYNC_GRID } SyncScope;
typedef void SyncFn(Sim *m, const Stmt *s, SimThread *const *member, int n);
/* Every `per` of them are a cluster. */
void blocks_run_threads(Sim *m, SimBlock **block, int nblock, int per);
void threads_poll(Sim *m); /* it found what it had found before: others have a turn */
/* Wait until every thread of the scope is here; the last one runs `once` for all.  Threads that
 * cannot come (they wait elsewhere) are left out once nothing else can move. */
void threads_sync(Sim *m, const Stmt *s, SyncScope scope, SyncFn *once);
/* Done once by the role: ST_TILE, ST_INSTR, a parallel ST_FOR, a ROLE_COLLECTIVE. */
void threads_collect(Sim *m, const Stmt *s);
/* Named barrier id: count arrivals complete it. */
void threads_barrier(Sim *m, int id, int64_t count, bool wait);
/* Until the phase of the given parity is over. */
void threads_wait_phase(Sim *m, SimBarrier *bar, int64_t parity);
void threads_add_agent(Sim *m, SimAgent *a); /* it lands when the schedule says */
/* Actors of a group of warps: itself and each of them. */
static inline int group_agents(const Sim *m) { return 1 + m->group / m->warp; }
int agent_of_group(const Sim *m, const SimThread *t);
int agent_of_warp(const Sim *m, const SimThread *t); /* whose MMAs it has waited for */
int agent_of_stores(Sim *m, SimThread *t);
int agent_of_mmas(Sim *m, SimThread *t); /* that it issues alone */
/* set_max_nreg: until the registers are there. */
void threads_wait_registers(Sim *m, int64_t count);
NORETURN void threads_give_up(Sim *m); /* after a message: leave the coroutine for good */
void threads_free(Sim *m); /* the stacks too */
int sim_thread_index(const Sim *m);
int threads_in_role(const Sim *m);
Flow exec_role(Sim *m, const Stmt *s);

#endif
