/* scale.c -- dispatch and threads of a tile kernel, made by tilelang 0.1.15.
 *
 * To build by hand:
 *   cc -O3 -march=x86-64-v2 -ffp-contract=fast -fno-math-errno -fno-strict-aliasing \
 *      -fopenmp-simd -fPIC -c scale_v2.c
 *   cc -O2 -fPIC -shared -o libscale.so scale.c scale_v2.o -lm -lpthread */
#define _GNU_SOURCE
#include "scale.h"

/* abi.h -- what an emitted kernel and its caller agree on.
 *
 * The entry takes the tensors' data pointers in parameter order, then the values of run-time
 * dimensions and scalars (integers as they are, floats as the bits of a double), then a runtime. */
#include <stdint.h>

typedef struct tl_rt {
    void *ctx;
    /* fn(arg, block, scratch) for block in [0, n); scratch is 64-byte aligned, private to the call. */
    void (*parallel)(void *ctx, int64_t n, void (*fn)(void *arg, int64_t block, char *scratch),
                     void *arg, int64_t scratch_bytes);
    void (*print)(void *ctx, const char *format, ...);
    void (*fail)(void *ctx, const char *text); /* a failed assert; the run reports it */
    void *(*workspace)(void *ctx, int slot, int64_t bytes); /* zeroed once, kept between runs */
    int (*failed)(void *ctx);
} tl_rt;

typedef struct tl_frame {
    void *const *tensor;
    const int64_t *value;
    const tl_rt *rt;
    void **work;
} tl_frame;

#define TL_INLINE static inline __attribute__((always_inline, unused))
#define TL_ALIGN __attribute__((aligned(64)))

TL_INLINE double tl_value_double(int64_t bits)
{
    union { int64_t i; double d; } u = {bits};
    return u.d;
}

TL_INLINE int32_t tl_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
TL_INLINE int32_t tl_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
TL_INLINE uint32_t tl_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
TL_INLINE uint32_t tl_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
TL_INLINE int64_t tl_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
TL_INLINE int64_t tl_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
TL_INLINE uint64_t tl_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
TL_INLINE uint64_t tl_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The other operand when one is NaN. */
TL_INLINE float tl_min_f32(float a, float b) { return (a < b) | (b != b) ? a : b; }
TL_INLINE float tl_max_f32(float a, float b) { return (a > b) | (b != b) ? a : b; }
TL_INLINE double tl_min_f64(double a, double b) { return (a < b) | (b != b) ? a : b; }
TL_INLINE double tl_max_f64(double a, double b) { return (a > b) | (b != b) ? a : b; }

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

typedef int tl_entry_fn(void *const *tensor, const int64_t *value, const tl_rt *rt);
__attribute__((visibility("hidden"))) tl_entry_fn tl_scale_v2;

static tl_entry_fn *tl_chosen;
static const char *tl_level = "none";

static void tl_choose(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
        tl_chosen = tl_scale_v2, tl_level = "x86-64-v2";
}

static pthread_once_t tl_once = PTHREAD_ONCE_INIT;

int scale(const uint16_t *A, float s, float *C, int64_t m, int64_t n)
{
    void *const tensor[] = {(void *)A, (void *)C, 0};
    if (m > INT32_MAX) {
        snprintf(tl_pool_said, sizeof tl_pool_said, "m is more than an int32 holds [dim-too-large]");
        return 1;
    }
    if (n > INT32_MAX) {
        snprintf(tl_pool_said, sizeof tl_pool_said, "n is more than an int32 holds [dim-too-large]");
        return 1;
    }
    int64_t value[6] = {0};
    value[0] = m;
    value[1] = n;
    value[2] = ((union { double d; int64_t i; }){.d = s}).i;
    pthread_once(&tl_once, tl_choose);
    if (!tl_chosen) {
        snprintf(tl_pool_said, sizeof tl_pool_said, "this CPU has none of the levels the kernel was built for");
        return 1;
    }
    return tl_pool_run(tl_chosen, tensor, value);
}

void scale_set_threads(int n)
{
    tl_pool_set_threads(n);
}

const char *scale_error(void)
{
    return tl_pool_said;
}

const char *scale_level(void)
{
    pthread_once(&tl_once, tl_choose);
    return tl_level;
}
