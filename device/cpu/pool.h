/* pool.h -- the runtime of a bundle: threads that share the blocks of a grid.
 *
 * Needs abi.h before it and nothing of the compiler.  Threads start with the first run and stay;
 * runs take turns; after fork they are started again. */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TL_THREADS_MOST = 1024, TL_SLOTS = 64, TL_SPINS = 2000 };
enum { TL_LARGE_PAGE = 2 << 20, TL_WORTH_LARGE_PAGE = 256 << 10 };

static struct {
    pthread_mutex_t turn; /* held for a whole run */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int nthread, nstarted, pid;
    long generation; /* of the run the workers should join */
    int ninside;
    int64_t n, next;
    void (*fn)(void *arg, int64_t block, char *scratch);
    void *arg;
    int64_t scratch_bytes;
    char *scratch[TL_THREADS_MOST];
    int64_t scratch_room[TL_THREADS_MOST];
    void *slot[TL_SLOTS];
    int64_t slot_bytes[TL_SLOTS];
    int failed;
    char text[256];
} tl_pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
             PTHREAD_COND_INITIALIZER, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, {0}, 0, {0}};

static void tl_pool_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void tl_pool_fail(void *ctx, const char *text)
{
    (void)ctx;
    if (!__atomic_exchange_n(&tl_pool.failed, 1, __ATOMIC_ACQ_REL))
        snprintf(tl_pool.text, sizeof tl_pool.text, "%s", text);
}

static int tl_pool_failed(void *ctx)
{
    (void)ctx;
    return __atomic_load_n(&tl_pool.failed, __ATOMIC_ACQUIRE);
}

static void *tl_pool_memory(int64_t bytes)
{
    const int64_t align = bytes >= TL_WORTH_LARGE_PAGE ? TL_LARGE_PAGE : 64;
    const size_t room = (size_t)((bytes + align - 1) / align * align);
    void *p = aligned_alloc((size_t)align, room);
#ifdef MADV_HUGEPAGE
    if (p && align == TL_LARGE_PAGE)
        madvise(p, room, MADV_HUGEPAGE);
#endif
    return p;
}

static void tl_pool_share(int worker)
{
    if (tl_pool.scratch_bytes > tl_pool.scratch_room[worker]) {
        free(tl_pool.scratch[worker]);
        tl_pool.scratch[worker] = tl_pool_memory(tl_pool.scratch_bytes);
        tl_pool.scratch_room[worker] = tl_pool.scratch[worker] ? tl_pool.scratch_bytes : 0;
        if (!tl_pool.scratch[worker]) {
            tl_pool_fail(0, "out of memory for a block's tiles");
            return;
        }
    }
    for (;;) {
        int64_t i = __atomic_fetch_add(&tl_pool.next, 1, __ATOMIC_RELAXED);
        if (i >= tl_pool.n || tl_pool_failed(0))
            return;
        tl_pool.fn(tl_pool.arg, i, tl_pool.scratch[worker]);
    }
}

static void *tl_pool_worker(void *arg)
{
    int worker = (int)(intptr_t)arg;
    long seen = 0;

    for (;;) {
        for (int i = 0;
             i < TL_SPINS && __atomic_load_n(&tl_pool.generation, __ATOMIC_ACQUIRE) == seen; i++)
            tl_pool_relax();
        pthread_mutex_lock(&tl_pool.lock);
        while (tl_pool.generation == seen)
            pthread_cond_wait(&tl_pool.work, &tl_pool.lock);
        seen = tl_pool.generation;
        int joins = tl_pool.n > 0 && worker < tl_pool.nthread;
        tl_pool.ninside += joins;
        pthread_mutex_unlock(&tl_pool.lock);
        if (!joins)
            continue;
        tl_pool_share(worker);
        pthread_mutex_lock(&tl_pool.lock);
        if (__atomic_sub_fetch(&tl_pool.ninside, 1, __ATOMIC_RELEASE) == 0)
            pthread_cond_signal(&tl_pool.done);
        pthread_mutex_unlock(&tl_pool.lock);
    }
    return 0;
}

static int tl_pool_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > TL_THREADS_MOST ? TL_THREADS_MOST : (int)n;
}

static void tl_pool_start(void)
{
    if (tl_pool.pid != (int)getpid()) {
        tl_pool.pid = (int)getpid();
        tl_pool.nstarted = 1; /* the caller is worker 0 */
        tl_pool.ninside = 0;
        pthread_mutex_init(&tl_pool.lock, 0);
        pthread_cond_init(&tl_pool.work, 0);
        pthread_cond_init(&tl_pool.done, 0);
    }
    if (tl_pool.nthread < 1)
        tl_pool.nthread = tl_pool_cores();
    while (tl_pool.nstarted < tl_pool.nthread) {
        pthread_t t;
        if (pthread_create(&t, 0, tl_pool_worker, (void *)(intptr_t)tl_pool.nstarted) != 0)
            return;
        pthread_detach(t);
        tl_pool.nstarted++;
    }
}

static void tl_pool_parallel(void *ctx, int64_t n, void (*fn)(void *, int64_t, char *), void *arg,
                             int64_t scratch_bytes)
{
    (void)ctx;
    if (n <= 0)
        return;
    tl_pool_start();
    pthread_mutex_lock(&tl_pool.lock);
    tl_pool.fn = fn;
    tl_pool.arg = arg;
    tl_pool.scratch_bytes = scratch_bytes;
    tl_pool.next = 0;
    tl_pool.n = n;
    __atomic_add_fetch(&tl_pool.generation, 1, __ATOMIC_RELEASE);
    if (n > 1 && tl_pool.nthread > 1)
        pthread_cond_broadcast(&tl_pool.work);
    pthread_mutex_unlock(&tl_pool.lock);

    tl_pool_share(0);
    pthread_mutex_lock(&tl_pool.lock);
    tl_pool.n = 0; /* who comes late does not join */
    pthread_mutex_unlock(&tl_pool.lock);
    for (int i = 0; i < TL_SPINS && __atomic_load_n(&tl_pool.ninside, __ATOMIC_ACQUIRE); i++)
        tl_pool_relax();
    pthread_mutex_lock(&tl_pool.lock);
    while (tl_pool.ninside > 0)
        pthread_cond_wait(&tl_pool.done, &tl_pool.lock);
    pthread_mutex_unlock(&tl_pool.lock);
}

static void tl_pool_print(void *ctx, const char *format, ...)
{
    va_list ap;

    (void)ctx;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}

static void *tl_pool_workspace(void *ctx, int slot, int64_t bytes)
{
    if (slot < 0 || slot >= TL_SLOTS)
        return 0;
    if (bytes > tl_pool.slot_bytes[slot]) {
        free(tl_pool.slot[slot]);
        tl_pool.slot[slot] = tl_pool_memory(bytes);
        tl_pool.slot_bytes[slot] = tl_pool.slot[slot] ? bytes : 0;
        for (int64_t i = 0; i < tl_pool.slot_bytes[slot]; i++)
            ((char *)tl_pool.slot[slot])[i] = 0;
        if (!tl_pool.slot[slot])
            tl_pool_fail(ctx, "out of memory for a temporary between launches");
    }
    return tl_pool.slot[slot];
}

static const tl_rt tl_pool_rt = {
    0, tl_pool_parallel, tl_pool_print, tl_pool_fail, tl_pool_workspace, tl_pool_failed};

/* What the last run of this thread complained of; "" when it did not. */
static __thread char tl_pool_said[256];

static int tl_pool_run(int (*entry)(void *const *, const int64_t *, const tl_rt *),
                       void *const *tensor, const int64_t *value)
{
    pthread_mutex_lock(&tl_pool.turn);
    tl_pool.failed = 0;
    tl_pool.text[0] = 0;
    int code = entry(tensor, value, &tl_pool_rt);
    if (tl_pool.failed && code == 0)
        code = 1;
    snprintf(tl_pool_said, sizeof tl_pool_said, "%s", code ? tl_pool.text : "");
    pthread_mutex_unlock(&tl_pool.turn);
    return code;
}

static void tl_pool_set_threads(int n)
{
    pthread_mutex_lock(&tl_pool.turn);
    tl_pool.nthread = n < 1 ? tl_pool_cores() : n > TL_THREADS_MOST ? TL_THREADS_MOST : n;
    pthread_mutex_unlock(&tl_pool.turn);
}
