/* sync.h -- what the files of lower_sync share: what statements touch, and which conflict. */
#ifndef TL_PASS_SYNC_H
#define TL_PASS_SYNC_H

#include "pass/pass.h"
#include "pass/thread_group.h"

/* Accesses of one buffer, those of earlier statements behind: a list is never changed. */
typedef struct Touches Touches;
struct Touches {
    const void *by;         /* a statement, an expression, an operator of a Toucher; NULL: many */
    const ThreadSite *site; /* one element by each thread; NULL: any */
    const Buffer *view;     /* that the site is of */
    const Touches *next;
    int n;                  /* of them, this one included */
};

typedef struct {
    Map read, written; /* root buffers since the last barrier -> Touches */
    Map added;         /* by atomics, which do not mind each other */
    Map issued;        /* copies into them are in flight, whatever barriers there were */
    Map next;          /* issued into stages that nobody has read since the last wait */
    Map old;           /* read before the last wait for copies */
    Map flying[QUEUE_COUNT]; /* read by bulk stores, by MMAs in flight; perhaps still */
    Map results;       /* fragments that MMAs in flight write */
    Map bulk;          /* filled by bulk copies, whose readers wait at a barrier of theirs */
    bool waits;        /* for copies */
    bool lands[QUEUE_COUNT]; /* waits for what is flying */
} Pending;

typedef struct {
    Kernel *k;
    Arena *arena;
    Map sites; /* indices -> ThreadSite */
    Apart *apart;
    int each; /* threads in a row whose conflicts do not count; 1: none do not */
    /* The instructions that one operator became write apart, so they go by its number: each has a
     * place here.  The last is that of stores of tiles that warpgroups have rows of, each its
     * own. */
    int nop;
    const char *op;
} Toucher;

void toucher_init(Toucher *t, Kernel *k);
void pending_init(Pending *p, Arena *a);
void touches_join(Arena *a, Map *into, const Map *from);
bool same_touches(const Touches *a, const Touches *b);
bool same_pending(const Pending *a, const Pending *b);
void touch(Toucher *t, const Stmt *s, Pending *u);       /* all that s does */
void touch_loads(Toucher *t, const Stmt *s, Pending *u); /* what s itself reads */
bool touches_conflict(Toucher *t, const Touches *a, const Touches *b, ThreadGroup g);

/* lower_sync_arms.c: barriers that all arms of a branch have are barriers of the block. */
const Stmt *block_barriers_of_arms(GroupWalk *w, const Stmt *body);

/* Of the threads at hand, as the kernel wrote it. */
static inline bool is_barrier(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_THREADS && s->u.call.n == 0;
}

/* Memory that threads of a block have together. */
static inline bool is_common(const Buffer *b)
{
    MemScope m = buffer_root(b)->scope;
    return m == MEM_SHARED || m == MEM_GLOBAL || m == MEM_TMEM;
}

static inline bool is_operator(const Toucher *t, const void *by)
{
    return (const char *)by >= t->op && (const char *)by < t->op + t->nop;
}

#endif
