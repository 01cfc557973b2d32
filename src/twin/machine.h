/* machine.h -- what the files of twin/ share: threads, blocks, barriers, copies under way. */
#ifndef TL_TWIN_MACHINE_H
#define TL_TWIN_MACHINE_H

#include <setjmp.h>
#include "twin/twin.h"
#include "rt/driver.h"
#include "../../device/twin/abi.h"

enum {
    LANES_MOST = 64,      /* of a warp */
    NAMED = 16,           /* barriers of a block that have numbers */
    SHARED_END = 1 << 18, /* what instructions can name of shared memory */
    BLOCK_SHIFT = 24,     /* above it: which block of the cluster, counted from 1; 0: this one */
    POISON = 0xA5,
};

typedef struct TwinThread TwinThread;
typedef struct TwinBlock TwinBlock;

/* What a language's instructions in assembly mean on the host; all NULL: it has none. */
struct Assembly {
    /* A statement at *at (just behind its word) as one of C++; false: *why. */
    bool (*translate)(Arena *a, const char **at, Str *out, const char **why);
    /* The way into a kernel, whose head is read from behind the word before it: a function
     * tl_run_NAME and a row tl_kernel_NAME.  NULL: as device/twin/text.h has it. */
    bool (*enter)(Arena *a, const char *head, Str *out, const char **why);
    void (*op)(int row, const char *name, void *const *at, int n); /* as TlHost.op */
    bool (*special)(const char *name, uint64_t *value); /* a register that is only read */
    bool masks;                             /* the lanes of a warp that came are those that a
                                             * branch let pass */
    void (*place)(TwinBlock *b);            /* before its threads run: what own they need */
    void (*before_wait)(const TwinThread *t);
    bool (*passed)(const uint64_t *bar, uint32_t parity); /* of WAIT_PHASE */
    void (*at_exit)(TwinThread *t);
    /* As a Gpu has them. */
    bool (*map_shape)(const TensorMap *m, const int64_t *values, MapShape *out, char *text,
                      size_t ntext);
    Status (*map_encode)(const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text,
                         size_t ntext);
};

typedef struct { /* threads that gather */
    uint64_t generation;
    unsigned came, sum;
    unsigned last_came, last_sum; /* of the generation before */
} Gather;

typedef struct Lanes { /* of a warp that meet each other */
    uint64_t generation;
    uint64_t came, mask;          /* bits of lanes; mask: those that are to come */
    uint64_t word[2][LANES_MOST]; /* what each brought, by parity of the generation */
    uint64_t who[2];
    const char *where;            /* they are */
    struct Lanes *next;
} Lanes;

typedef struct {
    uint64_t alive;
    Lanes all, *some;            /* the whole warp; by other masks */
    void *const *at[LANES_MOST]; /* operands of an instruction of the whole warp */
} TwinWarp;

typedef enum { WAIT_NOTHING, WAIT_COUNTER, WAIT_PHASE, WAIT_LOOK, WAIT_PASS } WaitKind;

struct TwinThread {
    TlThread t; /* first: what the text sees */
    TwinBlock *block;
    int index; /* in its block */
    Context context;
    bool done;
    WaitKind wait;
    const uint64_t *counter;
    uint64_t was; /* the counter then; or the parity */
    const char *where; /* what it waits at, for people */
    void *own;                   /* of its language's assembly */
    uint64_t cluster_generation; /* when it arrived */
    bool cluster_arrived;
};

struct TwinBlock {
    unsigned char *shared;
    int nshared;
    int rank, ncluster; /* in its cluster */
    int nthread, nalive;
    TwinThread *thread;
    TwinWarp *warp;
    void *own; /* of its language's assembly */
    Gather named[NAMED];
    Gather cluster; /* of the first block of a cluster */
};

/* A bulk load, or an arrival that waits for copies: it happens when nothing else can. */
typedef struct Flight {
    void (*land)(struct Flight *f);
    TwinThread *thread;
    uint32_t to, bar; /* addresses in shared memory */
    const void *from, *map;
    uint32_t n, mask;
    int32_t at[5];
    uint16_t offset[2];
    bool elsewhere;   /* the barrier is at that address, whoever gets the copy */
    struct Flight *next;
} Flight;

typedef struct {
    const TlKernel *kernel;
    const char *name;
    unsigned grid[3], block[3], shared;
    bool together;
    void **param;
} Launch;

/* The run in progress: there is one at a time. */
typedef struct {
    Arena *scratch;    /* of the blocks that run together */
    const Launch *launch;
    bool *taken;       /* clusters of the launch that another one has taken over */
    int64_t nunit, cluster; /* how many there are, the one that runs */
    int ntaken;        /* by it */
    TwinThread *self;
    TlThread **shown;  /* the text's own pointer to it */
    Context main;
    TwinBlock *block;  /* those that run together */
    int nblock, nalive;
    Flight *flights, *last_flight;
    bool passes;       /* in this round somebody was in a loop that looks at what others write */
    uint64_t ticks, nswitch;
    bool failed;
    char *text;        /* what went wrong */
    size_t ntext;
    sigjmp_buf jump;   /* out of a fault */
    bool running;      /* self does, not the scheduler for it */
    bool in_fault;     /* on the stack of signals */
    Loaded *module;    /* whose tensors the text sees */
    int lanes;         /* of a warp */
    bool reversed;     /* last warps and threads come first, in this round */
    const Assembly *assembly; /* of its language */
    uint32_t base;     /* address of a block's first shared byte, as instructions see it */
} TwinMachine;

extern TwinMachine machine;

/* machine.c */
extern const TlHost twin_host;
bool machine_launch(const Launch *l); /* false: machine.text */
NORETURN void twin_fail(const char *fmt, ...) PRINTF(1, 2); /* from a thread; with [tag] */
void twin_wait(WaitKind kind, const uint64_t *counter, uint64_t was, const char *where);
/* The running thread comes to a gathering of n; true: it was the last one. */
bool gather_come(Gather *g, unsigned n, unsigned mine);
void gather_wait(Gather *g, unsigned n, unsigned mine, const char *where);
/* Lanes of the warp come; true for the last one, which works for all and then lets them go. */
bool warp_syncs(const char *where);
void warp_goes_on(void);
TwinWarp *own_warp(void);
uint64_t all_lanes(void); /* bits of a whole warp */
TwinBlock *block_of(uint32_t address); /* of the cluster */
bool machine_take(uint32_t first[3]); /* a cluster that has not started: its first block */
uint32_t address_in(const TwinBlock *b, uint32_t address);
void *shared_at(uint32_t address, uint32_t nbytes, const char *what);
void flight_add(const Flight *f);

/* memory.c: memory with pages around it that nobody may touch */
bool memory_take(size_t nbytes, DevicePtr *at);
bool memory_is_tensor(const void *p); /* or of the pages around one */
bool memory_give(DevicePtr at);
bool memory_untouched(const Loaded *m, char *text, size_t ntext); /* what is around tensors */
unsigned char *shared_take(int block, unsigned nbytes);
void shared_check(int block, unsigned nbytes);
void faults_catch(void); /* while a text runs */
void faults_leave(void);

/* mma.c: element i of registers; MMAs of a warp */
ValueCell cell_at(DType t, const void *registers, int i);
bool warp_brings(const char *name, void *const *at); /* as warp_syncs, with operands */
/* Operands of a lane: those of A from a on, of B, of C, and where results go; each of them holds so
 * many elements. */
typedef struct {
    int a, b, c, to;
    int each[3];
    int scale[2]; /* the words of scales of A and B, of an MMA that has some */
} MmaOperands;
void warp_multiply(const Isa *isa, const MmaOperands *o);

/* driver.c */
Gpu *twin_gpu(Arena *a, const Assembly *with);

#endif
