/* pool.c -- worker threads that share the indices of a loop.
 *
 * One atomic word says everything about the current run:
 *
 *     state = generation << 16 | helpers inside      odd generation: open, even: closed
 *
 * A worker joins an open run by adding 1 (compare and swap, so never a closed one) and leaves by
 * subtracting 1.  The caller opens, does its share, closes, and waits for the helpers inside: a
 * worker that wakes late finds the run closed and delays nobody.  The fields of a run are written
 * only while it is closed and empty.
 *
 * Threads start with the first run, not with the pool.  After fork the child has none of them; a
 * pid that differs says so and the pool is set up again. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif
#include "base/base.h"

enum { INSIDE_BITS = 16, WORKERS_MOST = 4096, CHUNK_MOST = 64, CHUNKS_EACH = 16 };
#define INSIDE(s) ((s) & ((1u << INSIDE_BITS) - 1))
#define IS_OPEN(s) ((s) >> INSIDE_BITS & 1)
static const uint64_t next_generation = (uint64_t)1 << INSIDE_BITS;
/* A worker looks out for the next run this long before it sleeps: longer where runs follow each
 * other closely, so that a caller's loop finds it awake, and briefly where they do not.  Waking may
 * take longer than a run: who wakes too late for one looks out for the next, or would be late for
 * all of them.  Where that was of no use the next few times it is not tried. */
static const double spin_least = 20e-6, spin_most = 400e-6;
enum { TRY_AGAIN_AFTER = 8 };

typedef struct {
    Pool *pool;
    int id; /* 1..size-1; the caller is 0 */
    pthread_t thread;
} Worker;

typedef void (*Task)(void *arg, int64_t index, int worker);

struct Pool {
    int size, nstarted;
    pid_t pid;
    bool spins; /* every worker may have a core of its own */
    int here;   /* the core that workers keep away from; -1: none yet */
    Worker *worker;

    pthread_mutex_t turn; /* held for a whole run: callers take turns */
    pthread_mutex_t lock; /* parking, and the failure */
    pthread_cond_t work, done;
    atomic_int nparked;
    atomic_bool stop;
    _Atomic uint64_t state;

    Task fn;
    void *arg;
    int64_t n, chunk;
    _Alignas(64) _Atomic int64_t next;

    int64_t failed; /* lowest index whose call threw, or -1 */
    Status status;
    char text[sizeof((Recover *)0)->text];
};

/* The run this thread is inside of, so that a nested one is found out. */
static _Thread_local struct {
    Pool *pool;
    int id;
} current;

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A container's share of the machine, in cores; 0 when there is no limit. */
static int cpu_quota(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f)
        return 0;
    long long quota = 0, period = 0;
    int got = fscanf(f, "%lld %lld", &quota, &period);
    fclose(f);
    return got == 2 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

int cpu_count(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                        : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int quota = cpu_quota();
    if (quota > 0)
        n = MIN(n, quota);
    return MAX(n, 1);
}

#if defined(__x86_64__)
bool cpu_has_tiles(void)
{
    const unsigned all = 1u << 22 | 1u << 24 | 1u << 25; /* bf16, tiles, int8 */
    const long request = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & all) == all &&
           syscall(SYS_arch_prctl, request, tile_data) == 0;
}
#else
bool cpu_has_tiles(void)
{
    return false;
}
#endif

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- a share of the run ---------------------------------------------------------------------- */

static void failure_note(Pool *p, int64_t index, const Recover *r)
{
    pthread_mutex_lock(&p->lock);
    if (p->failed < 0 || index < p->failed) {
        p->failed = index;
        p->status = r->status;
        memcpy(p->text, r->text, sizeof p->text);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Indices [*at, end), until one throws; *at is then that one. */
static bool chunk_run(Pool *p, volatile int64_t *at, int64_t end, int id)
{
    Recover r;
    if (recover_open(&r) == 0) {
        for (; *at < end; ++*at)
            p->fn(p->arg, *at, id);
        recover_close(&r);
        return true;
    }
    failure_note(p, *at, &r);
    return false;
}

static void share_run(Pool *p, int id)
{
    Pool *outer = current.pool;
    int outer_id = current.id;
    current.pool = p;
    current.id = id;
    for (;;) {
        volatile int64_t at = atomic_fetch_add(&p->next, p->chunk);
        int64_t end = MIN(at + p->chunk, p->n);
        if (at >= p->n)
            break;
        while (!chunk_run(p, &at, end, id))
            at++;
    }
    current.pool = outer;
    current.id = outer_id;
}

/* ---- workers -------------------------------------------------------------------------------- */

static bool run_join(Pool *p, uint64_t *generation)
{
    uint64_t s = atomic_load(&p->state);
    while (IS_OPEN(s)) {
        if (atomic_compare_exchange_weak(&p->state, &s, s + 1)) {
            *generation = s >> INSIDE_BITS;
            return true;
        }
    }
    return false;
}

static void run_leave(Pool *p)
{
    uint64_t s = atomic_fetch_sub(&p->state, 1) - 1;
    if (INSIDE(s) == 0 && !IS_OPEN(s)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
}

static bool has_news(Pool *p, uint64_t seen)
{
    uint64_t s = atomic_load(&p->state);
    return atomic_load(&p->stop) || (IS_OPEN(s) && s >> INSIDE_BITS != seen);
}

static bool spin_for_news(Pool *p, uint64_t seen, double seconds)
{
    if (!p->spins)
        return has_news(p, seen);
    for (double end = now_seconds() + seconds; now_seconds() < end;) {
        for (int i = 0; i < 32; i++) {
            if (has_news(p, seen))
                return true;
            relax();
        }
    }
    return false;
}

/* Sleeps until a run was opened, though it may be over by now. */
static void park(Pool *p, uint64_t seen)
{
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->nparked, 1);
    uint64_t before = atomic_load(&p->state) >> INSIDE_BITS;
    while (!has_news(p, seen) && atomic_load(&p->state) >> INSIDE_BITS == before)
        pthread_cond_wait(&p->work, &p->lock);
    atomic_fetch_sub(&p->nparked, 1);
    pthread_mutex_unlock(&p->lock);
}

typedef struct {
    double spin;  /* seconds of looking out before the next sleep */
    int nmissed;  /* runs slept through since one was caught by looking out */
} Watch;

/* How long to look out next, after a sleep that began `gap` seconds ago. */
static void watch_adapt(Watch *w, double gap, bool missed)
{
    bool soon = gap < spin_most || (missed && w->nmissed % TRY_AGAIN_AFTER == 0);
    w->spin = soon ? spin_most : MAX(w->spin / 2, spin_least);
    w->nmissed += missed;
}

static void *worker_main(void *arg)
{
    Worker *w = arg;
    Pool *p = w->pool;
    uint64_t seen = 0; /* generation last joined; a run is joined once */
    Watch watch = {spin_least, 0};
    for (;;) {
        if (spin_for_news(p, seen, watch.spin)) {
            watch.nmissed = 0;
        } else {
            double start = now_seconds() - watch.spin;
            park(p, seen);
            watch_adapt(&watch, now_seconds() - start, !has_news(p, seen));
        }
        if (atomic_load(&p->stop))
            return NULL;
        if (run_join(p, &seen)) {
            share_run(p, w->id);
            run_leave(p);
        }
    }
}

/* A machine that refuses a thread leaves us with fewer; the loop is done all the same.  Signals
 * are left to the host's own threads. */
static void workers_start(Pool *p)
{
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGPROF); /* whoever looks where threads are wants ours too */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (p->nstarted < p->size - 1) {
        Worker *w = &p->worker[p->nstarted];
        *w = (Worker){.pool = p, .id = p->nstarted + 1};
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        p->nstarted++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void pool_setup(Pool *p)
{
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    atomic_store(&p->nparked, 0);
    atomic_store(&p->state, 0);
    p->nstarted = 0;
    p->here = -1;
    p->pid = getpid();
}

/* ---- the caller ------------------------------------------------------------------------------ */

Pool *pool_new(int nthread)
{
    int size = MIN(MAX(nthread, 1), WORKERS_MOST);
    Pool *p = aligned_alloc(_Alignof(Pool), sizeof *p);
    Worker *worker = calloc((size_t)size, sizeof *worker);
    if (!p || !worker) {
        free(p);
        free(worker);
        recover_throw(STATUS_MEM, "out of memory");
    }
    memset(p, 0, sizeof *p);
    p->size = size;
    p->worker = worker;
    p->spins = size <= cpu_count();
    pool_setup(p);
    return p;
}

void pool_free(Pool *p)
{
    if (!p)
        return;
    if (p->pid == getpid()) {
        atomic_store(&p->stop, true);
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; i < p->nstarted; i++)
            pthread_join(p->worker[i].thread, NULL);
    }
    free(p->worker);
    free(p);
}

int pool_size(const Pool *p)
{
    return p->size;
}

/* A scheduler may wake a worker on the core of its caller, where it would wait for the end of what
 * it should share.  Workers keep to the other cores that the caller may use. */
static void keep_apart(Pool *p)
{
    int here = p->spins ? sched_getcpu() : -1;
    cpu_set_t others;

    if (here < 0 || here == p->here || here >= CPU_SETSIZE ||
        sched_getaffinity(0, sizeof others, &others) != 0)
        return;
    p->here = here;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) < p->size - 1)
        return;
    for (int i = 0; i < p->nstarted; i++)
        pthread_setaffinity_np(p->worker[i].thread, sizeof others, &others);
}

static void run_open(Pool *p, int64_t n, Task fn, void *arg)
{
    p->fn = fn;
    p->arg = arg;
    p->n = n;
    p->chunk = MIN(MAX(n / ((int64_t)p->size * CHUNKS_EACH), 1), CHUNK_MOST);
    p->failed = -1;
    atomic_store(&p->next, 0);
    if (n < 2 || p->size < 2)
        return; /* stays closed: nobody to share with */
    if (p->nstarted < p->size - 1) {
        workers_start(p);
        p->here = -1;
    }
    keep_apart(p);
    atomic_fetch_add(&p->state, next_generation);
    if (atomic_load(&p->nparked) > 0) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
}

static void run_close(Pool *p)
{
    if (!IS_OPEN(atomic_load(&p->state)))
        return;
    atomic_fetch_add(&p->state, next_generation);
    double end = now_seconds() + spin_most;
    while (INSIDE(atomic_load(&p->state)) && p->spins && now_seconds() < end)
        for (int i = 0; i < 32 && INSIDE(atomic_load(&p->state)); i++)
            relax();
    if (!INSIDE(atomic_load(&p->state)))
        return;
    pthread_mutex_lock(&p->lock);
    while (INSIDE(atomic_load(&p->state)))
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void pool_run(Pool *p, int64_t n, void (*fn)(void *arg, int64_t index, int worker), void *arg)
{
    if (n <= 0)
        return;
    if (current.pool == p) {
        for (int64_t i = 0; i < n; i++)
            fn(arg, i, current.id);
        return;
    }
    if (p->pid != getpid())
        pool_setup(p);
    pthread_mutex_lock(&p->turn);
    run_open(p, n, fn, arg);
    share_run(p, 0);
    run_close(p);
    bool failed = p->failed >= 0;
    Status status = p->status;
    char text[sizeof p->text];
    if (failed)
        memcpy(text, p->text, sizeof text);
    pthread_mutex_unlock(&p->turn);
    if (failed)
        recover_throw(status, "%s", text);
}
