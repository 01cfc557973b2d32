/* threads.h -- the threads of a block as fibers on one core.
 *
 * Every thread has a stack in the block's scratch and runs until it must wait.  Tile operators are
 * collective: the threads that reach one wait; when nothing else can run, one of those that wait
 * there does the work for all.  Barriers, mbarriers and warp exchanges release their waiters when
 * their count is full.  When no thread can run and none can be released, the block is stuck and the
 * run fails with a message.  Blocks that meet each other (T.sync_grid) run together, in turn. */
#ifndef TL_THREADS_H
#define TL_THREADS_H

enum { TL_RUN, TL_DONE, TL_COLLECT, TL_HELD, TL_BARRIER, TL_MBAR, TL_WARP, TL_GRID };
enum { TL_NAMED = 16, TL_ROLES = 8, TL_WARP_SIZE = 32, TL_WARPS = 32 };

typedef struct tl_mbar {
    int32_t count, pending; /* arrivals of a phase, those still missing */
    int64_t tx;             /* bytes announced and not yet there */
    uint32_t phase;
    uint32_t pad[3];
} tl_mbar;

struct tl_block;
typedef struct tl_thread {
    void *sp;
    struct tl_block *block;
    int32_t id, state, site, leader;
    int32_t parity;
    int32_t polls; /* looked at a flag before it came here: nothing has moved */
    const tl_mbar *mbar;
    uint64_t brings, met; /* to the next meeting of its warp; to the last one */
    uint64_t rng[3]; /* seed, position, stream */
    uint32_t other[7]; /* state of a generator of random.h */
} tl_thread;

typedef struct tl_block {
    void *sp;
    const tl_frame *frame;
    char *scratch;
    int64_t index;
    int32_t nthread, live;
    tl_thread *thread;
    void (*run)(tl_thread *t);
    int32_t arrived[TL_NAMED + TL_ROLES], want[TL_NAMED + TL_ROLES]; /* of roles at the end */
    uint32_t mask[TL_WARPS]; /* who met last */
    int32_t true_now, true_last; /* threads with a condition, of a barrier to come and of the last one */
    int32_t told_now, told_last; /* threads that told it */
} tl_block;

#if defined(__x86_64__)
__attribute__((naked, noinline, unused)) static void tl_switch(void **save, void *load)
{ /* nothing but the assembly: clang takes no other statement in a naked function */
    __asm__ volatile("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
                     "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
                     "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
}

__attribute__((naked, noinline, unused)) static void tl_start(void)
{
    __asm__ volatile("movq %r12, %rdi\n callq *%r13\n ud2");
}

static void *tl_stack(char *top, void (*fn)(tl_thread *), tl_thread *t)
{
    void **sp = (void **)((uintptr_t)top & ~(uintptr_t)63);
    *--sp = 0; /* two words, so that the call in tl_start finds the stack aligned */
    *--sp = 0;
    *--sp = (void *)tl_start;
    *--sp = 0;                     /* rbp */
    *--sp = 0;                     /* rbx */
    *--sp = t;                     /* r12 */
    *--sp = (void *)(uintptr_t)fn; /* r13 */
    *--sp = 0;
    *--sp = 0;
    return sp;
}
#elif defined(__aarch64__)
/* gcc has no naked functions there.  What a function must keep: x19 to x30, d8 to d15. */
void tl_switch(void **save, void *load) __attribute__((visibility("hidden")));
void tl_start(void) __attribute__((visibility("hidden")));
__asm__(".text\n .p2align 4\n tl_switch:\n"
        "stp x19, x20, [sp, #-160]!\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n"
        "stp d14, d15, [sp, #144]\n mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n"
        "ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n ldp d8, d9, [sp, #96]\n"
        "ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        "ldp x19, x20, [sp], #160\n ret\n"
        "tl_start:\n mov x0, x19\n blr x20\n brk #0\n");

static void *tl_stack(char *top, void (*fn)(tl_thread *), tl_thread *t)
{
    void **sp = (void **)((uintptr_t)top & ~(uintptr_t)63) - 20;
    for (int i = 0; i < 20; i++)
        sp[i] = 0;
    sp[0] = t;                     /* x19 */
    sp[1] = (void *)(uintptr_t)fn; /* x20 */
    sp[11] = (void *)tl_start;     /* x30 */
    return sp;
}
#else
#error "kernels with threads need an x86-64 or aarch64 machine"
#endif

static __attribute__((noinline, unused)) void tl_yield(tl_thread *t)
{
    tl_switch(&t->sp, t->block->sp);
}

static __attribute__((unused)) void tl_thread_main(tl_thread *t)
{
    t->block->run(t);
    t->state = TL_DONE;
    t->block->live--;
    tl_yield(t);
}

/* ---- what the emitted code calls ----------------------------------------------------------------- */

/* True for the one thread that does the work; the others return when it is done. */
static __attribute__((unused)) int tl_collect(tl_thread *t, int site)
{
    t->state = TL_COLLECT;
    t->site = site;
    t->leader = 0;
    tl_yield(t);
    return t->leader;
}

static __attribute__((unused)) void tl_collected(tl_thread *t)
{
    tl_block *b = t->block;
    for (int i = 0; i < b->nthread; i++)
        if (b->thread[i].state == TL_HELD && b->thread[i].site == t->site)
            b->thread[i].state = TL_RUN;
}

static void tl_barrier_count(tl_block *b, int id)
{
    if (b->arrived[id] < b->want[id])
        return;
    b->arrived[id] = 0;
    if (id == 0) {
        b->true_last = b->true_now;
        b->told_last = b->told_now;
        b->true_now = b->told_now = 0;
    }
    for (int i = 0; i < b->nthread; i++)
        if (b->thread[i].state == TL_BARRIER && b->thread[i].site == id)
            b->thread[i].state = TL_RUN;
}

/* count 0: all threads that still run. */
static __attribute__((unused)) void tl_barrier(tl_thread *t, int id, int count, int wait)
{
    tl_block *b = t->block;
    b->want[id] = count ? count : b->live;
    b->arrived[id]++;
    if (wait) {
        t->state = TL_BARRIER;
        t->site = id;
    }
    tl_barrier_count(b, id);
    if (wait)
        tl_yield(t);
}

static __attribute__((unused)) void tl_mbar_init(tl_mbar *m, int count)
{
    m->count = m->pending = count;
    m->tx = 0;
    m->phase = 0;
}

static void tl_mbar_turn(tl_mbar *m)
{
    if (m->pending > 0 || m->tx > 0)
        return;
    m->pending = m->count;
    m->phase++;
}

static __attribute__((unused)) void tl_mbar_arrive(tl_mbar *m)
{
    m->pending--;
    tl_mbar_turn(m);
}

static __attribute__((unused)) void tl_mbar_expect(tl_mbar *m, int64_t bytes)
{
    (void)m;     /* copies are finished when they are issued, */
    (void)bytes; /* so what is announced has already come */
}

static __attribute__((unused)) void tl_mbar_wait(tl_thread *t, const tl_mbar *m, int parity)
{
    while ((int)(m->phase & 1) == (parity & 1)) {
        t->state = TL_MBAR;
        t->mbar = m;
        t->parity = parity & 1;
        tl_yield(t);
    }
}

static __attribute__((unused)) void tl_grid_sync(tl_thread *t)
{
    t->state = TL_GRID;
    tl_yield(t);
}

/* About to look at a flag: others run. */
static __attribute__((unused)) void tl_poll(tl_thread *t)
{
    t->polls = 1;
    tl_yield(t);
}

/* Meet the lanes of the warp.  All that are let go look at what the others brought before one of
 * them waits again, so no meeting is too early for an older one, whoever was there. */
static __attribute__((unused)) void tl_meet(tl_thread *t, int site, uint64_t value)
{
    t->brings = value;
    t->state = TL_WARP;
    t->site = site;
    tl_yield(t);
}

static __attribute__((unused)) uint64_t tl_lane_value(tl_thread *t, int lane)
{
    tl_block *b = t->block;
    int base = t->id / TL_WARP_SIZE * TL_WARP_SIZE;
    if (lane < 0 || lane >= TL_WARP_SIZE || base + lane >= b->nthread ||
        !(b->mask[t->id / TL_WARP_SIZE] >> lane & 1))
        return t->met;
    return b->thread[base + lane].met;
}

static __attribute__((unused)) uint32_t tl_warp_mask(tl_thread *t)
{
    return t->block->mask[t->id / TL_WARP_SIZE];
}

static __attribute__((unused)) uint64_t tl_shfl(tl_thread *t, int site, uint64_t v, int lane, int width)
{
    int me = t->id % TL_WARP_SIZE;
    tl_meet(t, site, v);
    return tl_lane_value(t, me / width * width + (lane % width + width) % width);
}

static __attribute__((unused)) uint64_t tl_shfl_xor(tl_thread *t, int site, uint64_t v, int x, int width)
{
    int me = t->id % TL_WARP_SIZE, from = me ^ x;
    tl_meet(t, site, v);
    return tl_lane_value(t, from / width > me / width ? me : from);
}

static __attribute__((unused)) uint64_t tl_shfl_down(tl_thread *t, int site, uint64_t v, int d, int width)
{
    int me = t->id % TL_WARP_SIZE;
    tl_meet(t, site, v);
    return tl_lane_value(t, me % width + d < width ? me + d : me);
}

static __attribute__((unused)) uint64_t tl_shfl_up(tl_thread *t, int site, uint64_t v, int d, int width)
{
    int me = t->id % TL_WARP_SIZE;
    tl_meet(t, site, v);
    return tl_lane_value(t, me % width >= d ? me - d : me);
}

static __attribute__((unused)) uint32_t tl_ballot(tl_thread *t, int site, int pred)
{
    tl_meet(t, site, pred != 0);
    uint32_t r = 0, mask = tl_warp_mask(t);
    for (int l = 0; l < TL_WARP_SIZE; l++)
        if (mask >> l & 1 && tl_lane_value(t, l))
            r |= 1u << l;
    return r;
}

/* The lanes that hold the same bits; all: only if every lane does. */
static __attribute__((unused)) uint32_t tl_match(tl_thread *t, int site, uint64_t v, int all)
{
    tl_meet(t, site, v);
    uint32_t r = 0, mask = tl_warp_mask(t);
    for (int l = 0; l < TL_WARP_SIZE; l++)
        if (mask >> l & 1 && tl_lane_value(t, l) == v)
            r |= 1u << l;
    return all && r != mask ? 0 : r;
}

/* The lowest lane that takes part. */
static __attribute__((unused)) int tl_elect(tl_thread *t, int site, int extent)
{
    tl_meet(t, site, 0);
    if (extent == 0)
        return t->id == 0;
    return t->id % extent == 0;
}

#define TL_WARP_FOLD(name, T, JOIN)                                                                \
static __attribute__((unused)) uint64_t name(tl_thread *t, int site, uint64_t v)                   \
{                                                                                                  \
    union { uint64_t u; T x; } in, out;                                                            \
    int first = 1;                                                                                 \
    tl_meet(t, site, v);                                                                           \
    const uint32_t mask = tl_warp_mask(t);                                                         \
    out.u = 0;                                                                                     \
    for (int l = 0; l < TL_WARP_SIZE; l++) {                                                       \
        if (!(mask >> l & 1))                                                                      \
            continue;                                                                              \
        in.u = tl_lane_value(t, l);                                                             \
        if (first)                                                                                 \
            out.x = in.x;                                                                          \
        else                                                                                       \
            out.x = JOIN;                                                                          \
        first = 0;                                                                                 \
    }                                                                                              \
    return out.u;                                                                                  \
}
#define TL_WARP_FOLDS(sfx, T)                                                                      \
TL_WARP_FOLD(tl_warp_sum_##sfx, T, out.x + in.x)                                                   \
TL_WARP_FOLD(tl_warp_max_##sfx, T, out.x > in.x ? out.x : in.x)                                    \
TL_WARP_FOLD(tl_warp_min_##sfx, T, out.x < in.x ? out.x : in.x)
TL_WARP_FOLDS(float, float)
TL_WARP_FOLDS(double, double)
TL_WARP_FOLDS(int, int64_t)
TL_WARP_FOLD(tl_warp_and_int, int64_t, out.x & in.x)
TL_WARP_FOLD(tl_warp_or_int, int64_t, out.x | in.x)

/* A barrier of the whole block that also counts the threads where a condition holds. */
static void tl_count(tl_thread *t, int pred)
{
    t->block->true_now += pred;
    t->block->told_now++;
    tl_barrier(t, 0, 0, 1);
}

static __attribute__((unused)) int tl_sync_sum(tl_thread *t, int pred)
{
    tl_count(t, pred);
    return t->block->true_last;
}

static __attribute__((unused)) int tl_sync_and(tl_thread *t, int pred)
{
    tl_count(t, pred);
    return t->block->true_last == t->block->told_last;
}

static __attribute__((unused)) int tl_sync_or(tl_thread *t, int pred)
{
    tl_count(t, pred);
    return t->block->true_last > 0;
}

/* Values through 64-bit slots. */
TL_INLINE uint64_t tl_slot_float(float x) { union { uint64_t u; float x; } v; v.u = 0; v.x = x; return v.u; }
TL_INLINE float tl_unslot_float(uint64_t u) { union { uint64_t u; float x; } v = {u}; return v.x; }
TL_INLINE uint64_t tl_slot_double(double x) { union { uint64_t u; double x; } v; v.x = x; return v.u; }
TL_INLINE double tl_unslot_double(uint64_t u) { union { uint64_t u; double x; } v = {u}; return v.x; }
TL_INLINE uint64_t tl_slot_int(int64_t x) { return (uint64_t)x; }
TL_INLINE int64_t tl_unslot_int(uint64_t u) { return (int64_t)u; }

/* ---- random numbers: Philox 4x32, 10 rounds, a stream for every thread ----------------------- */

static __attribute__((unused)) void tl_rng_init(tl_thread *t, int64_t seed, int64_t stream,
                                                int64_t at)
{
    t->rng[0] = (uint64_t)seed;
    t->rng[1] = (uint64_t)at;
    t->rng[2] = (uint64_t)stream;
}

static __attribute__((unused)) uint32_t tl_rng_next(tl_thread *t)
{
    const uint64_t at = t->rng[1]++;
    uint32_t c[4] = {(uint32_t)(at / 4), (uint32_t)(at / 4 >> 32), (uint32_t)t->rng[2],
                     (uint32_t)(t->rng[2] >> 32)};
    uint32_t k0 = (uint32_t)t->rng[0], k1 = (uint32_t)(t->rng[0] >> 32);

    for (int i = 0; i < 10; i++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c[at % 4];
}

/* In (0, 1]; 53 or 24 bits of it random. */
static __attribute__((unused)) double tl_rng_uniform(tl_thread *t, int bits)
{
    const uint64_t x = tl_rng_next(t);
    if (bits == 64)
        return (double)(x ^ (uint64_t)tl_rng_next(t) << 21) * 0x1p-53 + 0x1p-54;
    return (float)((double)x * 0x1p-32 + 0x1p-33);
}

static __attribute__((unused)) double tl_rng_normal(tl_thread *t, int bits)
{
    const double u = tl_rng_uniform(t, bits), v = tl_rng_uniform(t, bits);
    return __builtin_sqrt(-2 * __builtin_log(u)) * __builtin_sin(6.28318530717958647692 * v);
}

#ifdef TL_RANDOM_H
TL_INLINE double tl_gen_normal(uint32_t *s, int32_t bits)
{
    const double u = tl_gen_uniform(s, bits), v = tl_gen_uniform(s, bits);
    return __builtin_sqrt(-2 * __builtin_log(u)) * __builtin_sin(6.28318530717958647692 * v);
}
#endif

/* ---- the scheduler ---------------------------------------------------------------------------------- */

static int tl_can_run(tl_thread *t)
{
    if (t->state == TL_MBAR && (int)(t->mbar->phase & 1) != t->parity)
        t->state = TL_RUN;
    return t->state == TL_RUN;
}

/* Release the lanes of a warp that wait at one place, which is the first in the text: those that
 * wait at a later one wait for them.  whole: only if all live lanes do. */
static int tl_fire_warp(tl_block *b, int warp, int whole)
{
    int base = warp * TL_WARP_SIZE, end = base + TL_WARP_SIZE, site = -1, waiting = 0, live = 0;
    uint32_t mask = 0;

    end = end < b->nthread ? end : b->nthread;
    for (int i = base; i < end; i++)
        if (b->thread[i].state == TL_WARP && (site < 0 || b->thread[i].site < site))
            site = b->thread[i].site;
    for (int i = base; i < end; i++) {
        tl_thread *t = &b->thread[i];
        live += t->state != TL_DONE;
        if (t->state != TL_WARP || t->site != site)
            continue;
        waiting++;
        mask |= 1u << (i - base);
    }
    if (waiting == 0 || (whole && waiting < live))
        return 0;
    for (int i = base; i < end; i++) {
        tl_thread *t = &b->thread[i];
        if (mask >> (i - base) & 1) {
            t->state = TL_RUN;
            t->met = t->brings;
        }
    }
    b->mask[warp] = mask;
    return 1;
}

/* The place that comes first in the text: those who wait at a later one may wait for them. */
static int tl_fire_collect(tl_block *b)
{
    tl_thread *leader = 0;
    int site = -1;

    for (int i = 0; i < b->nthread; i++)
        if (b->thread[i].state == TL_COLLECT && (site < 0 || b->thread[i].site < site))
            site = b->thread[i].site;
    for (int i = 0; i < b->nthread; i++) {
        tl_thread *t = &b->thread[i];
        if (t->state != TL_COLLECT || t->site != site)
            continue;
        if (!leader) {
            leader = t;
            t->leader = 1;
            t->state = TL_RUN;
        } else {
            t->state = TL_HELD;
        }
    }
    return leader != 0;
}

/* polls: some look at a flag again and again, and are still to come by. */
static int tl_unstick(tl_block *b, int polls)
{
    const int warps = (b->nthread + TL_WARP_SIZE - 1) / TL_WARP_SIZE;

    for (int w = 0; w < warps; w++)
        if (tl_fire_warp(b, w, 1))
            return 1;
    if (polls)
        return 1;
    if (tl_fire_collect(b))
        return 1;
    for (int w = 0; w < warps; w++)
        if (tl_fire_warp(b, w, 0))
            return 1;
    for (int id = 0; id < TL_NAMED + TL_ROLES; id++) /* threads may have ended since the count was set */
        if (b->arrived[id] && b->want[id] > b->live && b->arrived[id] >= b->live) {
            b->want[id] = b->arrived[id];
            tl_barrier_count(b, id);
            return 1;
        }
    return 0;
}

static void tl_block_open(tl_block *b, int64_t arena, int64_t stack)
{
    char *stacks = b->scratch + arena + (sizeof(tl_thread) * b->nthread + 63) / 64 * 64;

    b->thread = (tl_thread *)(b->scratch + arena);
    for (int i = 0; i < b->nthread; i++) {
        b->thread[i] = (tl_thread){.block = b, .id = i};
        b->thread[i].sp = tl_stack(stacks + (i + 1) * stack, tl_thread_main, &b->thread[i]);
    }
}

/* Every thread that can, up to its next wait; false when nothing in the block could move. */
static int tl_block_step(tl_block *b)
{
    int ran = 0, polls = 0;
    for (int i = 0; i < b->nthread; i++) {
        tl_thread *t = &b->thread[i];
        if (!tl_can_run(t))
            continue;
        t->polls = 0;
        tl_switch(&b->sp, t->sp);
        ran |= !t->polls;
        polls |= t->polls;
    }
    return ran || tl_unstick(b, polls);
}

static void tl_stuck(const tl_frame *f)
{
    f->rt->fail(f->rt->ctx, "deadlock: every thread of a block waits at a barrier that no other "
                            "will complete [deadlock]");
}

static __attribute__((unused)) void tl_run_block(const tl_frame *f, int64_t index, char *scratch,
    int64_t arena, int nthread, int64_t stack, void (*run)(tl_thread *))
{
    tl_block block = {.frame = f, .scratch = scratch, .index = index, .nthread = nthread,
                      .live = nthread, .run = run};

    tl_block_open(&block, arena, stack);
    while (block.live > 0) {
        if (!tl_block_step(&block)) {
            tl_stuck(f);
            return;
        }
        if (f->rt->failed(f->rt->ctx))
            return;
    }
}

/* True if all threads that still run, of all blocks, wait for each other; then they go on. */
static int tl_grid_release(char *all, int64_t n, int64_t bytes)
{
    for (int64_t i = 0; i < n; i++) {
        tl_block *b = (tl_block *)(all + i * bytes);
        for (int j = 0; j < b->nthread; j++)
            if (b->thread[j].state != TL_GRID && b->thread[j].state != TL_DONE)
                return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        tl_block *b = (tl_block *)(all + i * bytes);
        for (int j = 0; j < b->nthread; j++)
            if (b->thread[j].state == TL_GRID)
                b->thread[j].state = TL_RUN;
    }
    return 1;
}

/* All n blocks at once; each has `bytes` at `all`: its tl_block, its scratch, its threads. */
static __attribute__((unused)) void tl_run_grid(const tl_frame *f, int64_t n, char *all,
    int64_t bytes, int64_t arena, int nthread, int64_t stack, void (*run)(tl_thread *), void (*init)(char *))
{
    const int64_t head = (sizeof(tl_block) + 63) / 64 * 64;
    int64_t live = n;

    for (int64_t i = 0; i < n; i++) {
        tl_block *b = (tl_block *)(all + i * bytes);
        *b = (tl_block){.frame = f, .scratch = (char *)b + head, .index = i, .nthread = nthread,
                        .live = nthread, .run = run};
        init(b->scratch);
        tl_block_open(b, arena, stack);
    }
    while (live > 0) {
        int moved = 0;
        for (int64_t i = 0; i < n; i++) {
            tl_block *b = (tl_block *)(all + i * bytes);
            if (b->live == 0)
                continue;
            moved |= tl_block_step(b);
            live -= b->live == 0;
            if (f->rt->failed(f->rt->ctx))
                return;
        }
        if (!moved && !tl_grid_release(all, n, bytes)) {
            tl_stuck(f);
            return;
        }
    }
}

#endif
