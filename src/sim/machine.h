/* machine.h -- what the files of sim/ share: memories, threads, the run in progress. */
#ifndef TL_SIM_MACHINE_H
#define TL_SIM_MACHINE_H

#include "sim/sim.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

enum { LANES_MOST = 64 };

/* Storage of one buffer.  Views share data and init with their root. */
typedef struct {
    const Buffer *buf;
    char *data;
    uint8_t *init;    /* per byte: bit 0 the low half, bit 1 the high half; NULL: all is */
    int64_t nbytes;
    int64_t nelem;    /* of storage */
    DType type;
    bool global;
    int rank;
    int64_t shape[RANK_MOST], stride[RANK_MOST];
    struct SimShadow *shadow; /* who touched each element; NULL: races are not looked for */
    const int32_t *place; /* FORM_FLAT: row-major index -> storage element; NULL: the same */
} SimMem;

typedef struct {
    int64_t expect;   /* arrivals of one phase */
    int64_t pending;  /* still missing in this one */
    int64_t tx;       /* bytes announced and not yet landed */
    int64_t phase;    /* phases completed */
    uint32_t *clock;  /* what its arrivals had seen */
} SimBarrier;

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

typedef struct SimThread SimThread; /* thread.c */
typedef struct SimBlock SimBlock;

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
    bool races;     /* look for data races between threads */
    bool registers; /* FORM_THREADS with warps: each thread holds its part of a fragment */
    Value1 *host_value;
    SimMem **host_mem;
    SimBlock *block;   /* running */
    SimThread *self;   /* running coroutine; NULL: the block runs as a whole */
    SimThread *leader; /* the coroutine that works for all, while self is NULL */
    SimThread *first;  /* the lowest thread of those it works for: whose random numbers are used */
    struct SimSched *sched;
    VEC(void *) stacks; /* of coroutines, kept from block to block */
    int warp;          /* threads in one */
    bool permute;      /* visit parallel iterations in an order made from the seed */
};

struct SimBlock {
    int64_t at[3];
    SimMem **mem;
    SimBarrier **barrier; /* by Buffer id; NULL where none */
    uint64_t named[16], generation[16]; /* named barriers: arrivals so far, times completed */
    uint32_t *named_clock[16];
    uint64_t rng[4];      /* when the block runs as a whole */
};

/* machine.c */
SimMem *mem_make(Sim *m, const Buffer *b, bool track);
void launch_kernel(Sim *m, Kernel *k);
SimMem *mem_find(Sim *m, const Buffer *b); /* views, and buffers over a pointer, which move */
static inline SimMem *sim_mem(Sim *m, const Buffer *b)
{
    SimMem *mem = b->id < m->nbuf ? m->mem[b->id] : NULL;
    return mem && b->pointer == NULL ? mem : mem_find(m, b);
}

/* race.c */
typedef struct SimShadow SimShadow;
SimShadow *shadow_new(Sim *m, int64_t nelem, int nthread);
uint32_t *clock_new(Sim *m, int nthread);
void clock_join(uint32_t *into, const uint32_t *from, int nthread);
void clock_meet(SimThread *const *member, int n);
void clock_release(SimThread *t, uint32_t *barrier);
void race_read(Sim *m, const SimMem *mem, int64_t i);
void race_write(Sim *m, const SimMem *mem, int64_t i, bool same_value);
void race_issue(Sim *m, const SimMem *mem, int64_t i); /* a copy into it is in flight from here */
void race_land(Sim *m, const SimMem *mem, int64_t i);
NORETURN void sim_give_up(Sim *m); /* after a message */

/* cp_async.c: by the running thread */
void copy_issue(Sim *m, SimMem *mem, int64_t i, Value1 v);
void copy_commit(Sim *m);
void copy_wait(Sim *m, int64_t groups); /* until at most so many closed groups are in flight */
void copy_wait_all(Sim *m);             /* what is not in a group yet too */

/* memory.c */
Value1 mem_read(const SimMem *mem, int64_t i);
void mem_write(SimMem *mem, int64_t i, Value1 v);
void mem_put(Sim *m, SimMem *mem, int64_t i, Value1 v); /* a write by the running thread */
bool mem_is_init(const SimMem *mem, int64_t i);
/* Element offset of an access; -1: outside a global buffer, where the language guards. */
int64_t mem_offset(Sim *m, const SimMem *mem, const int64_t *at, int n);
NORETURN void fail_uninitialised(Sim *m, const SimMem *mem, int64_t offset);
static inline Value1 mem_get(Sim *m, const SimMem *mem, int64_t i)
{
    if (mem->shadow && m->self)
        race_read(m, mem, i);
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

/* intrin.c */
void exec_call(Sim *m, const Stmt *s);

/* switch.c: stacks of coroutines */
typedef struct {
#if defined(__x86_64__)
    void *sp;
#else
    ucontext_t u;
#endif
} SimContext;
typedef void SimEntry(void *arg); /* does not return: it switches away for good */
void switch_make(SimContext *c, void *stack, size_t nbytes, SimEntry *fn, void *arg);
void switch_to(SimContext *from, SimContext *to);

/* thread.c: coroutines, one per thread of the blocks that run together */
struct SimThread {
    int index;           /* in its block */
    SimBlock *block;
    Value1 *value;
    SimMem **mem;
    const Stmt *at;      /* where it waits or runs */
    const Stmt *role;    /* the innermost ST_ROLE it is in; NULL: none */
    Value1 arg[4];       /* what it brought to a meeting */
    Value1 result;       /* what it takes away */
    uint64_t rng[4];
    uint32_t *clock;     /* race.c: how far of each thread's work this one has seen */
    int nclock;
    struct SimCopies *copies; /* cp_async.c: in flight; NULL: none yet */
    struct SimWait *wait;
    bool done;
    SimContext context;
};

typedef enum { MEET_ROLE, MEET_BLOCK, MEET_WARP, MEET_GROUP, MEET_GRID } MeetScope;
typedef void MeetFn(Sim *m, const Stmt *s, SimThread *const *member, int n);
void blocks_run_threads(Sim *m, SimBlock *const *block, int nblock);
/* Wait until every thread of the scope is here; the last one runs `once` for all.  Threads that
 * cannot come (they wait elsewhere) are left out once nothing else can move. */
void threads_meet(Sim *m, const Stmt *s, MeetScope scope, MeetFn *once);
/* Done once by the role: ST_TILE, ST_INSTR, a parallel ST_FOR, an ST_ROLE "collective". */
void threads_collect(Sim *m, const Stmt *s);
/* Named barrier id: count arrivals complete it. */
void threads_barrier(Sim *m, int id, int64_t count, bool wait);
/* Until the phase of the given parity is over. */
void threads_wait_phase(Sim *m, const Buffer *b, int64_t i, const SimBarrier *bar, int64_t parity);
NORETURN void threads_give_up(Sim *m); /* after a message: leave the coroutine for good */
void threads_free(Sim *m); /* the stacks too */
int sim_thread_index(const Sim *m);
int threads_in_role(const Sim *m);
Flow exec_role(Sim *m, const Stmt *s);

#endif
