/* ascend.h -- what Ascend C means on the host, after the vendor's API reference of CANN 8 for the 910B
 * (Atlas A2): tensors, pipes, flags, queues, data movement, vector and cube instructions.
 *
 * A block of a mixed kernel is two threads, its cube core and its vector core.  Instructions are done
 * when they are issued, which is one of the orders that the machine allows; whether it is the only
 * one is asked of a clock: every instruction of a pipe knows which instructions of the others have
 * ended, by flags, barriers and what the scalar unit waited for.  One that touches what another
 * touches that may not have ended is reported: a flag or a barrier is missing. */
/* #include <kernel_operator.h> */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

TL_C_MATH

#define __global__
#define __aicore__
#define __gm__
typedef uint8_t *GM_ADDR;

#define TL_FAST __attribute__((optimize("O2"), no_sanitize("undefined"))) /* integers of the vector unit wrap */

/* ---- numbers --------------------------------------------------------------------------------- */

TL_FAST static inline float tl_wide_half(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
    uint32_t u = sign | (e == 31 ? 0x7f800000u | m << 13 : (e + 112) << 23 | m << 13);
    float f;

    if (e == 0) {
        f = (float)m * 5.9604644775390625e-8f;
        return sign ? -f : f;
    }
    memcpy(&f, &u, 4);
    return f;
}

TL_FAST static inline uint16_t tl_narrow_half(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    const uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    const float a = fabsf(f);

    if (a != a)
        return (uint16_t)(sign | 0x7e00);
    if (a >= 65520.0f)
        return (uint16_t)(sign | 0x7c00);
    if (a < 6.103515625e-5f)
        return (uint16_t)(sign | (uint16_t)lrintf(a * 16777216.0f));
    u &= 0x7fffffffu;
    u += 0xfffu + (u >> 13 & 1);
    return (uint16_t)(sign | (uint16_t)((u - (112u << 23)) >> 13));
}

struct half {
    uint16_t bits;
    half() = default;
    half(float f) : bits(tl_narrow_half(f)) {}
    operator float() const { return tl_wide_half(bits); }
};

struct bfloat16_t {
    uint16_t bits;
    bfloat16_t() = default;
    TL_FAST bfloat16_t(float f)
    {
        uint32_t u;
        memcpy(&u, &f, 4);
        bits = (uint16_t)(f != f ? (u >> 16 | 0x40) : (u + 0x7fffu + (u >> 16 & 1)) >> 16);
    }
    operator float() const
    {
        const uint32_t u = (uint32_t)bits << 16;
        float f;
        memcpy(&f, &u, 4);
        return f;
    }
};

/* ---- pipes and their clocks ------------------------------------------------------------------ */

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
typedef int32_t event_t;
enum { TL_PIPES = 7, TL_AGENTS = 2 * TL_PIPES, TL_EVENTS = 8, TL_CROSS = 16, TL_CROSS_MOST = 15 };

static const char *const tl_pipe_name[] = {"PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2",
                                           "PIPE_MTE3", "PIPE_FIX"};

typedef struct {
    uint32_t at[TL_AGENTS]; /* of each pipe: so many of its instructions have ended */
} tl_clock;

enum { TL_UB, TL_L1, TL_L0A, TL_L0B, TL_L0C, TL_GM };
static const char *const tl_space_name[] = {"UB", "L1", "L0A", "L0B", "L0C", "global memory"};
static const uint32_t tl_space_bytes[] = {192 * 1024, 512 * 1024, 64 * 1024, 64 * 1024, 128 * 1024};

typedef struct {
    uint32_t epoch, wseq, rseq[TL_AGENTS];
    uint8_t writer; /* 1 + the pipe; 0: none */
} tl_cell;

enum { TL_BLOCK = 32, TL_PAGE = 4096, TL_TABLE = 1 << 16, TL_PLACE_MOST = 512 * 1024 };

static struct {
    int cores, begun, alive; /* of the block: threads that run it, have begun, have not ended */
    uint32_t epoch, seq[TL_AGENTS]; /* epoch: of the block, cells of others count as new */
    tl_clock known[TL_AGENTS];
    struct {
        bool set;
        tl_clock clock;
    } flag[2][TL_AGENTS * TL_AGENTS][TL_EVENTS];
    struct {
        int n;
        tl_clock clock[TL_CROSS_MOST + 1];
    } cross[2][TL_CROSS]; /* that each core waits at */
    uint32_t taken[2][5];  /* bytes of each memory that buffers have */
    int atomic[2];
    tl_cell *page[TL_TABLE];
    uintptr_t page_key[TL_TABLE];
    uint32_t page_epoch[TL_TABLE], npool;
} tl_now;

static tl_cell *tl_page_pool[TL_TABLE];
static unsigned char tl_memory[2][5][TL_PLACE_MOST];
static tl_cell tl_cells[2][5][TL_PLACE_MOST / TL_BLOCK];

static inline int tl_core() { return tl_self->nthread.x > 1 ? (int)tl_self->thread.x : tl_now.cores; }
static inline int tl_agent(int pipe) { return tl_core() * TL_PIPES + pipe; }

static inline void tl_fail(const char *what) { tl_host->op(0, what, 0, 0); }

template <class... A> static inline void tl_report(const char *form, A... a)
{
    static char text[320];
    snprintf(text, sizeof text, form, a...);
    tl_fail(text);
}

static inline void tl_join(tl_clock *to, const tl_clock *from)
{
    for (int i = 0; i < TL_AGENTS; i++)
        if (to->at[i] < from->at[i])
            to->at[i] = from->at[i];
}

/* All that was issued to the pipe so far, and what is known to have ended before it. */
static inline tl_clock tl_end_of(int agent)
{
    tl_clock c = tl_now.known[agent];
    c.at[agent] = tl_now.seq[agent];
    return c;
}

/* An instruction starts: behind what the scalar unit had waited for when it issued it, except for
 * that unit's own stores. */
struct tl_instr {
    int agent;
    tl_instr(int pipe) : agent(tl_agent(pipe))
    {
        const int s = tl_agent(PIPE_S);
        const uint32_t own = tl_now.known[agent].at[s];
        tl_now.seq[agent]++;
        if (agent != s) {
            tl_join(&tl_now.known[agent], &tl_now.known[s]);
            tl_now.known[agent].at[s] = own;
        }
    }
};

static inline bool tl_ended(int agent, int other, uint32_t seq)
{
    if (other == agent && (agent % TL_PIPES == PIPE_S || seq == tl_now.seq[agent]))
        return true;
    return seq <= tl_now.known[agent].at[other];
}

static void tl_race(int agent, int other, bool writes, bool wrote, int space, uintptr_t at)
{
    const int core = agent / TL_PIPES, of = other / TL_PIPES;
    const bool own = agent == other;
    char where[48];

    snprintf(where, sizeof where, space == TL_GM ? "%s" : "%s at byte %llu", tl_space_name[space],
             (unsigned long long)at * TL_BLOCK);
    tl_report("%s of the %s core %s %s, which %s of the %s core %s, and no %s orders them",
              tl_pipe_name[agent % TL_PIPES], core ? "vector" : "cube", writes ? "writes" : "reads",
              where, own ? "an instruction before it" : tl_pipe_name[other % TL_PIPES],
              of ? "vector" : "cube", wrote ? "writes" : "reads", own ? "barrier" : "flag");
}

TL_FAST static inline void tl_see(tl_cell *c, int agent, bool writes, int space, uintptr_t at)
{
    if (c->epoch != tl_now.epoch) {
        memset(c, 0, sizeof *c);
        c->epoch = tl_now.epoch;
    }
    if (c->writer && !tl_ended(agent, c->writer - 1, c->wseq))
        tl_race(agent, c->writer - 1, writes, true, space, at);
    if (!writes) {
        c->rseq[agent] = tl_now.seq[agent];
        return;
    }
    for (int i = 0; i < TL_AGENTS; i++)
        if (c->rseq[i] && !tl_ended(agent, i, c->rseq[i]))
            tl_race(agent, i, true, false, space, at);
    c->writer = (uint8_t)(agent + 1);
    c->wseq = tl_now.seq[agent];
}

static tl_cell *tl_page_of(uintptr_t key)
{
    uint32_t i = (uint32_t)(key * 2654435761u) % TL_TABLE;

    while (tl_now.page_epoch[i] == tl_now.epoch && tl_now.page_key[i] != key)
        i = (i + 1) % TL_TABLE;
    if (tl_now.page_epoch[i] != tl_now.epoch) {
        if (tl_now.npool == TL_TABLE - 1)
            tl_fail("a block touches more global memory than is kept account of");
        if (!tl_page_pool[tl_now.npool])
            tl_page_pool[tl_now.npool] = (tl_cell *)__builtin_calloc(TL_PAGE, sizeof(tl_cell));
        tl_now.page[i] = tl_page_pool[tl_now.npool++];
        tl_now.page_key[i] = key;
        tl_now.page_epoch[i] = tl_now.epoch;
    }
    return tl_now.page[i];
}

/* The bytes of a local memory that an instruction reads or writes. */
TL_FAST static unsigned char *tl_local(const tl_instr &by, int space, uint32_t at, uint32_t n, bool writes)
{
    const int core = by.agent / TL_PIPES;

    if ((uint64_t)at + n > tl_space_bytes[space])
        tl_report("%s touches %u bytes at %u of %u bytes of %s", tl_pipe_name[by.agent % TL_PIPES], n, at,
                  tl_space_bytes[space], tl_space_name[space]);
    if ((space == TL_UB) != (core == 1))
        tl_report("the %s core has no %s", core ? "vector" : "cube", tl_space_name[space]);
    for (uint32_t i = at / TL_BLOCK; n && i <= (at + n - 1) / TL_BLOCK; i++)
        tl_see(&tl_cells[core][space][i], by.agent, writes, space, i);
    return tl_memory[core][space] + at;
}

TL_FAST static unsigned char *tl_global(const tl_instr &by, unsigned char *p, uint64_t n, bool writes)
{
    uintptr_t key = ~(uintptr_t)0;
    tl_cell *page = 0;

    for (uintptr_t a = (uintptr_t)p; a < (uintptr_t)p + n; a++) {
        if (a / TL_PAGE != key)
            page = tl_page_of(key = a / TL_PAGE);
        tl_see(&page[a % TL_PAGE], by.agent, writes, TL_GM, 0);
    }
    return p;
}

/* ---- task types ------------------------------------------------------------------------------ */

enum { KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_AIC_ONLY, KERNEL_TYPE_MIX_AIC_1_1 };

/* A block begins with its first core. */
static inline void tl_begin(int type)
{
    const int threads = type == KERNEL_TYPE_MIX_AIC_1_1 ? 2 : 1;

    if ((int)tl_self->nthread.x != threads)
        tl_fail("the launch has not as many cores a block as the kernel's type says");
    if (tl_now.begun == 0) {
        memset(tl_now.seq, 0, sizeof tl_now.seq);
        memset(tl_now.known, 0, sizeof tl_now.known);
        memset(tl_now.flag, 0, sizeof tl_now.flag);
        memset(tl_now.cross, 0, sizeof tl_now.cross);
        memset(tl_now.taken, 0, sizeof tl_now.taken);
        memset(tl_now.atomic, 0, sizeof tl_now.atomic);
        memset(tl_memory, 0xA5, sizeof tl_memory);
        tl_now.alive = threads, tl_now.npool = 0;
        tl_now.epoch++;
    }
    tl_now.begun = (tl_now.begun + 1) % threads;
    tl_now.cores = type == KERNEL_TYPE_AIC_ONLY ? 0 : 1;
}

#define KERNEL_TASK_TYPE_DEFAULT(type) tl_begin(type)
#define ASCEND_IS_AIC (tl_core() == 0)
#define ASCEND_IS_AIV (tl_core() == 1)

namespace AscendC {

/* ---- flags and barriers ---------------------------------------------------------------------- */

#define TL_EVENT(a, b) a##_##b = PIPE_##a * TL_PIPES + PIPE_##b
enum class HardEvent {
    TL_EVENT(MTE2, MTE1), TL_EVENT(MTE1, MTE2), TL_EVENT(MTE1, M), TL_EVENT(M, MTE1),
    TL_EVENT(MTE2, V), TL_EVENT(V, MTE2), TL_EVENT(MTE3, V), TL_EVENT(V, MTE3), TL_EVENT(M, V),
    TL_EVENT(V, M), TL_EVENT(MTE3, MTE1), TL_EVENT(MTE1, MTE3), TL_EVENT(MTE1, V),
    TL_EVENT(MTE2, M), TL_EVENT(M, MTE2), TL_EVENT(V, MTE1), TL_EVENT(M, FIX), TL_EVENT(FIX, M),
    TL_EVENT(MTE3, MTE2), TL_EVENT(MTE2, MTE3), TL_EVENT(S, V), TL_EVENT(V, S),
    TL_EVENT(S, MTE2), TL_EVENT(MTE2, S), TL_EVENT(S, MTE3), TL_EVENT(MTE3, S),
    TL_EVENT(MTE2, FIX), TL_EVENT(FIX, MTE2), TL_EVENT(FIX, S), TL_EVENT(M, S),
    TL_EVENT(FIX, MTE3), TL_EVENT(MTE1, FIX), TL_EVENT(FIX, MTE1),
};

static inline int tl_event_of(HardEvent e, int32_t id)
{
    if (id < 0 || id >= TL_EVENTS)
        tl_report("there is no event %d: a pair of pipes has %d", (int)id, (int)TL_EVENTS);
    return (int)e;
}

template <HardEvent event> static inline void SetFlag(int32_t id)
{
    const int e = tl_event_of(event, id);
    auto &f = tl_now.flag[tl_core()][e][id];

    if (f.set)
        tl_report("flag %s to %s, event %d is set twice and not waited for in between",
                  tl_pipe_name[e / TL_PIPES], tl_pipe_name[e % TL_PIPES], (int)id);
    f.set = true;
    f.clock = tl_end_of(tl_agent(e / TL_PIPES));
}

template <HardEvent event> static inline void WaitFlag(int32_t id)
{
    const int e = tl_event_of(event, id);
    auto &f = tl_now.flag[tl_core()][e][id];

    if (!f.set)
        tl_report("%s waits for a flag of %s, event %d, which nobody has set", tl_pipe_name[e % TL_PIPES],
                  tl_pipe_name[e / TL_PIPES], (int)id);
    f.set = false;
    tl_join(&tl_now.known[tl_agent(e % TL_PIPES)], &f.clock);
}

template <pipe_t pipe> static inline void PipeBarrier()
{
    tl_clock all = tl_end_of(tl_agent(pipe == PIPE_ALL ? (int)PIPE_S : (int)pipe));

    if (pipe != PIPE_ALL) {
        tl_now.known[tl_agent(pipe)] = all;
        return;
    }
    for (int p = 0; p < TL_PIPES; p++) {
        const tl_clock c = tl_end_of(tl_agent(p));
        tl_join(&all, &c);
    }
    for (int p = 0; p < TL_PIPES; p++)
        tl_join(&tl_now.known[tl_agent(p)], &all);
}

/* Mode 2: between the cube core and the vector core of a block.  Who waits stops issuing. */
template <uint8_t mode, pipe_t pipe> static inline void CrossCoreSetFlag(uint16_t id)
{
    static_assert(mode == 2, "only flags between the cores of a block are known here");
    auto &f = tl_now.cross[1 - tl_core()][id % TL_CROSS];

    if (id >= TL_CROSS - 5 || f.n == TL_CROSS_MOST)
        tl_report("flag %d between the cores: there are 11, and each counts to %d", (int)id, (int)TL_CROSS_MOST);
    f.clock[f.n++] = tl_end_of(tl_agent(pipe));
    tl_self->acted = 1;
}

template <uint8_t mode = 2, pipe_t pipe = PIPE_S> static inline void CrossCoreWaitFlag(uint16_t id)
{
    auto &f = tl_now.cross[tl_core()][id % TL_CROSS];

    while (f.n == 0)
        tl_host->look_again();
    tl_self->looked = 0;
    tl_self->acted = 1;
    tl_join(&tl_now.known[tl_agent(PIPE_S)], &f.clock[0]);
    f.n--;
    for (int i = 0; i < f.n; i++)
        f.clock[i] = f.clock[i + 1];
}

/* ---- tensors --------------------------------------------------------------------------------- */

enum class TPosition { GM, A1, A2, B1, B2, CO1, VECIN, VECOUT, VECCALC };

static constexpr int tl_space_of(TPosition p)
{
    return p == TPosition::A1 || p == TPosition::B1 ? TL_L1
           : p == TPosition::A2                     ? TL_L0A
           : p == TPosition::B2                     ? TL_L0B
           : p == TPosition::CO1                    ? TL_L0C
                                                    : TL_UB;
}

template <class T> class LocalTensor {
public:
    int space = 0;
    uint32_t at = 0;

    LocalTensor<T> operator[](uint32_t n) const
    {
        LocalTensor<T> t = *this;
        t.at += n * (uint32_t)sizeof(T);
        return t;
    }
    template <class U> LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> t;
        t.space = space;
        t.at = at;
        return t;
    }
    T GetValue(uint32_t i) const
    {
        T v;
        memcpy(&v, tl_local(tl_instr(PIPE_S), space, at + i * (uint32_t)sizeof(T), sizeof(T), false), sizeof v);
        return v;
    }
    void SetValue(uint32_t i, T v) const
    {
        memcpy(tl_local(tl_instr(PIPE_S), space, at + i * (uint32_t)sizeof(T), sizeof(T), true), &v, sizeof v);
    }
};

template <class T> class GlobalTensor {
public:
    T *p = 0;

    void SetGlobalBuffer(T *base, uint64_t = 0) { p = base; }
    const T *GetPhyAddr() const { return p; }
    GlobalTensor<T> operator[](uint64_t n) const
    {
        GlobalTensor<T> t;
        t.p = p + n;
        return t;
    }
    /* Through the scalar unit's cache, which does not see what the core's pipes write. */
    T GetValue(uint64_t i) const
    {
        const uintptr_t a = (uintptr_t)(p + i);
        const tl_cell *c = &tl_page_of(a / TL_PAGE)[a % TL_PAGE];
        if (c->epoch == tl_now.epoch && c->writer)
            tl_fail("the scalar unit reads global memory that a pipe of this block wrote");
        return *(T *)tl_global(tl_instr(PIPE_S), (unsigned char *)(p + i), sizeof(T), false);
    }
};

/* An operand of a vector or cube instruction: n elements. */
template <class T> static T *tl_of(const tl_instr &by, const LocalTensor<T> &t, uint64_t n, bool writes)
{
    if (t.at % TL_BLOCK)
        tl_report("%s is given byte %u of %s, which is no multiple of 32", tl_pipe_name[by.agent % TL_PIPES],
                  t.at, tl_space_name[t.space]);
    return (T *)tl_local(by, t.space, t.at, (uint32_t)(n * sizeof(T)), writes);
}

/* ---- buffers and queues ---------------------------------------------------------------------- */

class TPipe;
static TPipe *tl_pipe_now[2];

static inline uint32_t tl_take(int space, uint32_t bytes)
{
    uint32_t &n = tl_now.taken[tl_core()][space];
    const uint32_t at = n;

    n += (bytes + TL_BLOCK - 1) / TL_BLOCK * TL_BLOCK;
    if (n > tl_space_bytes[space])
        tl_report("buffers take %u bytes of %s, which has %u", n, tl_space_name[space], tl_space_bytes[space]);
    return at;
}

template <TPosition pos> class TBuf {
public:
    uint32_t at = 0, bytes = 0;

    template <class T> LocalTensor<T> Get() const { return GetWithOffset<T>(0, 0); }
    template <class T> LocalTensor<T> GetWithOffset(uint32_t n, uint32_t offset) const
    {
        LocalTensor<T> t;
        if (offset + (uint64_t)n * sizeof(T) > bytes)
            tl_fail("a tensor leaves its buffer");
        t.space = tl_space_of(pos);
        t.at = at + offset;
        return t;
    }
};

/* One pipe fills a buffer, another one empties it; depth: how many may be under way. */
template <TPosition pos, int depth> class TQue {
public:
    enum { MOST = 8 };
    uint32_t at = 0, bytes = 0;
    int n = 0, next = 0;
    bool lent[MOST] = {};
    tl_clock free_at[MOST] = {}, full_at[MOST] = {};
    int queue[MOST] = {}, nqueue = 0;

    ~TQue()
    {
        for (int i = 0; i < n; i++)
            if (lent[i] || nqueue)
                tl_fail("a buffer that was taken from a queue is never given back, or put there and never taken");
    }

    static constexpr int from()
    {
        return pos == TPosition::VECOUT ? PIPE_V
               : pos == TPosition::A2 || pos == TPosition::B2 ? PIPE_MTE1
               : pos == TPosition::CO1 ? PIPE_M
                                       : PIPE_MTE2;
    }
    static constexpr int to()
    {
        return pos == TPosition::VECOUT ? PIPE_MTE3
               : pos == TPosition::A2 || pos == TPosition::B2 ? PIPE_M
               : pos == TPosition::CO1 ? PIPE_FIX
               : pos == TPosition::A1 || pos == TPosition::B1 ? PIPE_MTE1
                                                              : PIPE_V;
    }
    template <class T> LocalTensor<T> place(int i) const
    {
        LocalTensor<T> t;
        t.space = tl_space_of(pos);
        t.at = at + (uint32_t)i * bytes;
        return t;
    }
    template <class T> int index(const LocalTensor<T> &t) const { return (int)((t.at - at) / bytes); }
    template <class T> LocalTensor<T> AllocTensor()
    {
        const int i = next;
        if (lent[i])
            tl_fail("a queue has no free buffer: what was taken from it was not given back");
        next = (next + 1) % n;
        lent[i] = true;
        tl_join(&tl_now.known[tl_agent(from())], &free_at[i]);
        return place<T>(i);
    }
    template <class T> void EnQue(const LocalTensor<T> &t)
    {
        if (nqueue == depth)
            tl_fail("more buffers are put into a queue than it is deep");
        full_at[index(t)] = tl_end_of(tl_agent(from()));
        queue[nqueue++] = index(t);
    }
    template <class T> LocalTensor<T> DeQue()
    {
        if (nqueue == 0)
            tl_fail("a buffer is taken from an empty queue");
        const int i = queue[0];
        for (int j = 1; j < nqueue; j++)
            queue[j - 1] = queue[j];
        nqueue--;
        tl_join(&tl_now.known[tl_agent(to())], &full_at[i]);
        return place<T>(i);
    }
    template <class T> void FreeTensor(const LocalTensor<T> &t)
    {
        free_at[index(t)] = tl_end_of(tl_agent(to()));
        lent[index(t)] = false;
    }
};

class TPipe {
public:
    TPipe() { tl_pipe_now[tl_core()] = this; }
    /* Every flag that was set was waited for: the next kernel begins with none. */
    ~TPipe()
    {
        const int core = tl_core();
        for (int e = 0; e < TL_AGENTS * TL_AGENTS; e++)
            for (int i = 0; i < TL_EVENTS; i++)
                if (tl_now.flag[core][e][i].set)
                    tl_report("flag %s to %s, event %d is set and never waited for", tl_pipe_name[e / TL_PIPES],
                              tl_pipe_name[e % TL_PIPES], i);
        if (tl_now.atomic[core])
            tl_fail("the kernel ends while stores add up: SetAtomicNone is missing");
        if (--tl_now.alive)
            return;
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < TL_CROSS; i++)
                if (tl_now.cross[c][i].n)
                    tl_report("flag %d between the cores is set %d times too often", i, tl_now.cross[c][i].n);
    }
    template <TPosition pos> void InitBuffer(TBuf<pos> &b, uint32_t bytes)
    {
        b.at = tl_take(tl_space_of(pos), bytes);
        b.bytes = bytes;
    }
    template <TPosition pos, int depth> void InitBuffer(TQue<pos, depth> &q, uint8_t n, uint32_t bytes)
    {
        q.bytes = (bytes + TL_BLOCK - 1) / TL_BLOCK * TL_BLOCK;
        q.n = n;
        q.at = tl_take(tl_space_of(pos), q.bytes * n);
    }
    int32_t FetchEventID(HardEvent e)
    {
        int32_t id = 0;
        while (id < TL_EVENTS - 1 && tl_now.flag[tl_core()][(int)e][id].set)
            id++;
        return id;
    }
};

static inline TPipe *GetTPipePtr() { return tl_pipe_now[tl_core()]; }

static inline int64_t GetBlockIdx()
{
    return tl_self->block.x + (int64_t)tl_self->nblock.x * (tl_self->block.y + (int64_t)tl_self->nblock.y * tl_self->block.z);
}

/* ---- data movement --------------------------------------------------------------------------- */

struct DataCopyExtParams {
    uint16_t blockCount;
    uint32_t blockLen, srcStride, dstStride, rsv; /* of global memory in bytes, of UB in blocks of 32 */
};
template <class T> struct DataCopyPadExtParams {
    bool isPad;
    uint8_t leftPadding, rightPadding;
    T paddingValue;
};

static inline uint32_t tl_round(uint32_t n) { return (n + TL_BLOCK - 1) / TL_BLOCK * TL_BLOCK; }

static inline void tl_check_copy(const DataCopyExtParams &c)
{
    if (c.blockCount > 4095 || c.blockLen > 2097151)
        tl_report("DataCopyPad takes at most 4095 blocks of 2097151 bytes, not %u of %u", (unsigned)c.blockCount,
                  (unsigned)c.blockLen);
}

template <class T> static void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                                           const DataCopyExtParams &c, const DataCopyPadExtParams<T> &pad)
{
    const tl_instr by(PIPE_MTE2);
    const uint32_t left = pad.isPad ? pad.leftPadding : 0, right = pad.isPad ? pad.rightPadding : 0;
    const uint32_t row = (uint32_t)(left * sizeof(T) + c.blockLen + right * sizeof(T));

    tl_check_copy(c);
    if (c.blockLen && tl_round(row) - c.blockLen > TL_BLOCK)
        tl_fail("DataCopyPad adds at most what is left of a block of 32 bytes");
    for (uint32_t b = 0; b < c.blockCount && c.blockLen; b++) {
        const LocalTensor<T> t = dst.template ReinterpretCast<uint8_t>()[b * (tl_round(row) + c.dstStride * TL_BLOCK)]
                                     .template ReinterpretCast<T>();
        unsigned char *to = (unsigned char *)tl_of(by, t, tl_round(row) / sizeof(T), true);
        unsigned char *from = (unsigned char *)src.p + (uint64_t)b * (c.blockLen + c.srcStride);
        memset(to, 0xA5, tl_round(row));
        for (uint32_t i = 0; i < left; i++)
            memcpy(to + i * sizeof(T), &pad.paddingValue, sizeof(T));
        memcpy(to + left * sizeof(T), tl_global(by, from, c.blockLen, false), c.blockLen);
        for (uint32_t i = 0; i < right; i++)
            memcpy(to + left * sizeof(T) + c.blockLen + i * sizeof(T), &pad.paddingValue, sizeof(T));
    }
}

enum { TL_ATOMIC_NONE, TL_ATOMIC_ADD, TL_ATOMIC_MAX, TL_ATOMIC_MIN };
template <class T> static inline void SetAtomicAdd() { tl_now.atomic[tl_core()] = TL_ATOMIC_ADD; }
template <class T> static inline void SetAtomicMax() { tl_now.atomic[tl_core()] = TL_ATOMIC_MAX; }
template <class T> static inline void SetAtomicMin() { tl_now.atomic[tl_core()] = TL_ATOMIC_MIN; }
static inline void SetAtomicNone() { tl_now.atomic[tl_core()] = TL_ATOMIC_NONE; }

template <class T> static inline void tl_put(int how, T *to, T v)
{
    *to = how == TL_ATOMIC_ADD ? (T)(*to + v) : how == TL_ATOMIC_MAX ? (*to > v ? *to : v) : how == TL_ATOMIC_MIN ? (*to < v ? *to : v) : v;
}

template <class T> static void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &c)
{
    const tl_instr by(PIPE_MTE3);
    const int how = tl_now.atomic[tl_core()];

    tl_check_copy(c);
    for (uint32_t b = 0; b < c.blockCount && c.blockLen; b++) {
        const LocalTensor<T> t = src.template ReinterpretCast<uint8_t>()[b * (tl_round(c.blockLen) + c.srcStride * TL_BLOCK)]
                                     .template ReinterpretCast<T>();
        unsigned char *to = (unsigned char *)dst.p + (uint64_t)b * (c.blockLen + c.dstStride);
        const T *from = tl_of(by, t, c.blockLen / sizeof(T), false);
        tl_global(by, to, c.blockLen, true);
        for (uint32_t i = 0; i < c.blockLen / sizeof(T); i++)
            tl_put(how, (T *)to + i, from[i]);
    }
}

struct Nd2NzParams {
    uint16_t ndNum, nValue;
    uint32_t dValue;
    uint64_t srcNdMatrixStride;
    uint32_t srcDValue;
    uint16_t dstNzC0Stride, dstNzNStride, dstNzMatrixStride;
};

/* Rows of a matrix into columns of blocks: 32 bytes of each row lie side by side. */
template <class T> static void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &c)
{
    const tl_instr by(PIPE_MTE2);
    const uint32_t c0 = TL_BLOCK / sizeof(T);

    if (c.ndNum != 1 || c.nValue > 16384 || c.dValue > 65535 || c.srcDValue > 65535 || c.dstNzC0Stride > 16384)
        tl_fail("DataCopy with Nd2NzParams: a number is beyond its limit");
    for (uint32_t n = 0; n < c.nValue; n++)
        for (uint32_t d = 0; d < c.dValue; d += c0) {
            const uint32_t m = c.dValue - d < c0 ? c.dValue - d : c0;
            T *to = tl_of(by, dst[(d / c0 * c.dstNzC0Stride + n * c.dstNzNStride) * c0], c0, true);
            memset((void *)to, 0, TL_BLOCK);
            memcpy((void *)to, tl_global(by, (unsigned char *)(src.p + (uint64_t)n * c.srcDValue + d), m * sizeof(T), false),
                   m * sizeof(T));
        }
}

template <class T> struct InitConstValueParams {
    uint16_t repeatTimes, blockNum, dstGap;
    T initValue;
};

template <class T> static void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<T> &c)
{
    const tl_instr by(dst.space == TL_L1 ? PIPE_MTE2 : PIPE_MTE1);
    const uint32_t each = dst.space == TL_L1 ? TL_BLOCK : 512;

    if (c.repeatTimes > 32767 || c.blockNum > 32767 || c.dstGap > 32767)
        tl_fail("InitConstValue: a number is beyond its limit");
    for (uint32_t r = 0; r < c.repeatTimes; r++) {
        const uint32_t n = c.blockNum * each / sizeof(T);
        T *to = tl_of(by, dst[(uint32_t)(r * (c.blockNum + c.dstGap) * each / sizeof(T))], n, true);
        for (uint32_t i = 0; i < n; i++)
            to[i] = c.initValue;
    }
}

struct LoadData2DParams {
    uint16_t startIndex;
    uint8_t repeatTimes;
    uint16_t srcStride;
    uint8_t sid;
    uint16_t dstGap;
    bool ifTranspose;
    uint8_t addrMode;
};

/* Fractals of 512 bytes from L1 to L0A or L0B; those of 16 bits may be transposed. */
template <class T> static void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &c)
{
    const tl_instr by(PIPE_MTE1);
    const uint32_t n = 512 / sizeof(T);

    if (src.space != TL_L1 || (dst.space != TL_L0A && dst.space != TL_L0B))
        tl_fail("LoadData goes from L1 to L0A or L0B");
    if (c.ifTranspose && sizeof(T) != 2)
        tl_fail("LoadData transposes elements of 16 bits alone");
    for (uint32_t r = 0; r < c.repeatTimes; r++) {
        T *to = tl_of(by, dst[r * (1u + c.dstGap) * n], n, true);
        const T *from = tl_of(by, src[(c.startIndex + r * c.srcStride) * n], n, false);
        for (uint32_t i = 0; i < n; i++)
            to[c.ifTranspose ? i % 16 * 16 + i / 16 : i] = from[i];
    }
}

/* ---- cube ------------------------------------------------------------------------------------ */

struct MmadParams {
    uint16_t m = 0, n = 0, k = 0;
    uint8_t unitFlag = 0;
    bool cmatrixSource = false, cmatrixInitVal = true;
};

/* C += A B; fractals of A row by row, of B row by row and transposed in themselves, of C column by
 * column.  cmatrixInitVal: C is zero before. */
template <class C, class A, class B>
TL_FAST static void Mmad(const LocalTensor<C> &dst, const LocalTensor<A> &fm, const LocalTensor<B> &filter, const MmadParams &p)
{
    const tl_instr by(PIPE_M);
    const uint32_t c0 = TL_BLOCK / sizeof(A), mf = (p.m + 15) / 16, nf = (p.n + 15) / 16, kf = (p.k + c0 - 1) / c0;

    if (dst.space != TL_L0C || fm.space != TL_L0A || filter.space != TL_L0B || p.m > 4095 || p.n > 4095 || p.k > 4095)
        tl_fail("Mmad takes A of L0A, B of L0B and C of L0C, each size at most 4095");
    const A *a = tl_of(by, fm, mf * kf * 16 * c0, false);
    const B *b = tl_of(by, filter, kf * nf * 16 * c0, false);
    if (!p.cmatrixInitVal)
        tl_of(by, dst, mf * nf * 256, false);
    C *c = tl_of(by, dst, mf * nf * 256, true);
    for (uint32_t i = 0; i < p.m; i++)
        for (uint32_t j = 0; j < p.n; j++) {
            C *to = &c[(j / 16 * mf * 16 + i) * 16 + j % 16];
            C sum = p.cmatrixInitVal ? (C)0 : *to;
            for (uint32_t k = 0; k < p.k; k++)
                sum += (C)a[((i / 16 * kf + k / c0) * 16 + i % 16) * c0 + k % c0] *
                       (C)b[((k / c0 * nf + j / 16) * 16 + j % 16) * c0 + k % c0];
            *to = sum;
        }
}

} /* AscendC: the modes of Fixpipe are global names */
enum QuantMode_t { NoQuant, F322F16, F322BF16 };
namespace AscendC {

struct FixpipeParamsV220 {
    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = NoQuant;
    bool reluEn = false;
};

/* L0C to rows of global memory, converted on the way. */
template <class D, class C> static void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<C> &src, const FixpipeParamsV220 &p)
{
    const tl_instr by(PIPE_FIX);
    const bool same = sizeof(D) == sizeof(C);
    const int how = tl_now.atomic[tl_core()];

    if (src.space != TL_L0C || (p.quantPre == NoQuant) != same)
        tl_fail("Fixpipe stores L0C as it is, or as the type of quantPre");
    const C *from = tl_of(by, src, (uint64_t)((p.nSize + 15) / 16) * p.srcStride * 16, false);
    for (uint32_t i = 0; i < p.mSize; i++) {
        tl_global(by, (unsigned char *)(dst.p + (uint64_t)i * p.dstStride), p.nSize * sizeof(D), true);
        for (uint32_t j = 0; j < p.nSize; j++)
            tl_put(how, &dst.p[(uint64_t)i * p.dstStride + j], (D)from[(j / 16 * p.srcStride + i) * 16 + j % 16]);
    }
}

/* ---- vector ---------------------------------------------------------------------------------- */

template <class A, class B> struct tl_same { enum { value = 0 }; };
template <class A> struct tl_same<A, A> { enum { value = 1 }; };
template <class T, class... U> struct tl_one_of { enum { value = (0 + ... + (int)tl_same<T, U>::value) != 0 }; };

#define TL_BINARY(name, expr, ...)                                                                 \
    template <class T> TL_FAST static void name(const LocalTensor<T> &d, const LocalTensor<T> &s0, \
                                                const LocalTensor<T> &s1, int32_t n)              \
    {                                                                                              \
        static_assert(tl_one_of<T, __VA_ARGS__>::value, #name " does not take this type");        \
        const tl_instr by(PIPE_V);                                                                 \
        const T *p = tl_of(by, s0, n, false), *q = tl_of(by, s1, n, false);                       \
        T *to = tl_of(by, d, n, true);                                                             \
        for (int32_t i = 0; i < n; i++) {                                                         \
            const T a = p[i], b = q[i];                                                            \
            to[i] = (T)(expr);                                                                     \
        }                                                                                          \
    }
TL_BINARY(Add, a + b, half, float, int16_t, int32_t) TL_BINARY(Sub, a - b, half, float, int16_t, int32_t)
TL_BINARY(Mul, a *b, half, float, int16_t, int32_t)
TL_BINARY(Div, a / b, half, float)
TL_BINARY(Max, a > b || b != b ? a : b, half, float, int16_t, int32_t)
TL_BINARY(Min, a < b || b != b ? a : b, half, float, int16_t, int32_t)
TL_BINARY(And, a &b, int16_t, uint16_t) TL_BINARY(Or, a | b, int16_t, uint16_t)

#define TL_SCALAR(name, expr, ...)                                                                 \
    template <class T> TL_FAST static void name(const LocalTensor<T> &d, const LocalTensor<T> &s, T b, int32_t n) \
    {                                                                                              \
        static_assert(tl_one_of<T, __VA_ARGS__>::value, #name " does not take this type");        \
        const tl_instr by(PIPE_V);                                                                 \
        const T *p = tl_of(by, s, n, false);                                                       \
        T *to = tl_of(by, d, n, true);                                                             \
        for (int32_t i = 0; i < n; i++) {                                                         \
            const T a = p[i];                                                                      \
            to[i] = (T)(expr);                                                                     \
        }                                                                                          \
    }
TL_SCALAR(Adds, a + b, half, float, int16_t, int32_t) TL_SCALAR(Muls, a *b, half, float, int16_t, int32_t)
TL_SCALAR(Maxs, a > b || b != b ? a : b, half, float, int16_t, int32_t)
TL_SCALAR(Mins, a < b || b != b ? a : b, half, float, int16_t, int32_t)

#define TL_UNARY(name, expr, ...)                                                                  \
    template <class T> TL_FAST static void name(const LocalTensor<T> &d, const LocalTensor<T> &s, int32_t n) \
    {                                                                                              \
        static_assert(tl_one_of<T, __VA_ARGS__>::value, #name " does not take this type");        \
        const tl_instr by(PIPE_V);                                                                 \
        const T *p = tl_of(by, s, n, false);                                                       \
        T *to = tl_of(by, d, n, true);                                                             \
        for (int32_t i = 0; i < n; i++) {                                                         \
            const T a = p[i];                                                                      \
            to[i] = (T)(expr);                                                                     \
        }                                                                                          \
    }
TL_UNARY(Exp, expf(a), half, float) TL_UNARY(Ln, logf(a), half, float)
TL_UNARY(Sqrt, sqrtf(a), half, float) TL_UNARY(Abs, fabsf(a), half, float) TL_UNARY(Not, ~a, int16_t, uint16_t)

template <class T> TL_FAST static void Duplicate(const LocalTensor<T> &d, T v, int32_t n)
{
    static_assert(tl_one_of<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t>::value,
                  "Duplicate does not take this type");
    const tl_instr by(PIPE_V);
    T *to = tl_of(by, d, n, true);
    for (int32_t i = 0; i < n; i++)
        to[i] = v;
}

/* Whole blocks within UB. */
template <class T> static void DataCopy(const LocalTensor<T> &d, const LocalTensor<T> &s, uint32_t n)
{
    const tl_instr by(PIPE_V);
    if (n * sizeof(T) % TL_BLOCK)
        tl_fail("DataCopy within UB takes whole blocks of 32 bytes");
    const T *p = tl_of(by, s, n, false);
    memmove((void *)tl_of(by, d, n, true), (const void *)p, n * sizeof(T));
}

template <class T> static void CreateVecIndex(const LocalTensor<T> &d, T first, uint32_t n)
{
    static_assert(tl_one_of<T, int16_t, half, int32_t, float>::value, "CreateVecIndex does not take this type");
    const tl_instr by(PIPE_V);
    T *to = tl_of(by, d, n, true);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (T)(first + (T)i);
}

enum class RoundMode { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };

/* Conversions that Atlas A2 has; those that lose nothing are CAST_NONE. */
template <class D, class S> struct tl_cast { enum { value = 0 }; };
#define TL_CAST(d, s, how) template <> struct tl_cast<d, s> { enum { value = how }; };
TL_CAST(float, half, 1) TL_CAST(float, bfloat16_t, 1) TL_CAST(half, float, 2) TL_CAST(bfloat16_t, float, 2)
TL_CAST(int32_t, float, 2) TL_CAST(float, int32_t, 3) TL_CAST(int16_t, float, 2) TL_CAST(float, int16_t, 1)
TL_CAST(int32_t, half, 2) TL_CAST(half, int8_t, 1) TL_CAST(half, uint8_t, 1) TL_CAST(int8_t, half, 2)
TL_CAST(uint8_t, half, 2) TL_CAST(half, int16_t, 3) TL_CAST(int16_t, half, 2) TL_CAST(float, float, 2)

template <class D, class S> TL_FAST static void Cast(const LocalTensor<D> &d, const LocalTensor<S> &s, RoundMode mode, uint32_t n)
{
    const int kind = tl_cast<D, S>::value;
    static_assert(tl_cast<D, S>::value != 0, "Cast has no such conversion");
    const tl_instr by(PIPE_V);
    const S *p = tl_of(by, s, n, false);
    D *to = tl_of(by, d, n, true);

    if ((kind == 1) != (mode == RoundMode::CAST_NONE) && kind != 3)
        tl_fail("Cast: this conversion has not the rounding that it was given");
    for (uint32_t i = 0; i < n; i++) {
        double x = (double)(float)p[i];
        if (tl_same<S, int32_t>::value)
            x = (double)(int32_t)p[i];
        if ((D)0.5f == (D)0) { /* an integer */
            x = mode == RoundMode::CAST_TRUNC   ? trunc(x)
                : mode == RoundMode::CAST_FLOOR ? floor(x)
                : mode == RoundMode::CAST_CEIL  ? ceil(x)
                : mode == RoundMode::CAST_ROUND ? round(x)
                                                : nearbyint(x);
            const double most = sizeof(D) == 4 ? 2147483647.0 : sizeof(D) == 2 ? 32767.0 : (D)-1 < (D)0 ? 127.0 : 255.0;
            const double least = (D)-1 < (D)0 ? -most - 1 : 0;
            to[i] = (D)(x != x ? 0 : x > most ? most : x < least ? least : x);
        } else if (tl_same<D, S>::value) {
            to[i] = (D)(mode == RoundMode::CAST_TRUNC   ? trunc(x)
                        : mode == RoundMode::CAST_FLOOR ? floor(x)
                        : mode == RoundMode::CAST_CEIL  ? ceil(x)
                        : mode == RoundMode::CAST_ROUND ? round(x)
                                                        : nearbyint(x));
        } else {
            to[i] = (D)(float)x;
        }
    }
}

enum class CMPMODE { LT, GT, EQ, LE, GE, NE };

/* A bit for each element; whole repeats of 256 bytes.  Integers are compared for equality alone. */
template <class T> TL_FAST static void Compare(const LocalTensor<uint8_t> &d, const LocalTensor<T> &s0,
                                               const LocalTensor<T> &s1, CMPMODE mode, uint32_t n)
{
    static_assert(tl_one_of<T, half, float>::value, "Compare does not take this type");
    const tl_instr by(PIPE_V);
    if (n * sizeof(T) % 256)
        tl_fail("Compare takes whole repeats of 256 bytes");
    const T *p = tl_of(by, s0, n, false), *q = tl_of(by, s1, n, false);
    uint8_t *to = tl_of(by, d, n / 8, true);
    for (uint32_t i = 0; i < n; i++) {
        const float a = p[i], b = q[i];
        const bool yes = mode == CMPMODE::LT ? a < b : mode == CMPMODE::GT ? a > b : mode == CMPMODE::EQ ? a == b
                         : mode == CMPMODE::LE ? a <= b : mode == CMPMODE::GE ? a >= b : a != b;
        to[i / 8] = (uint8_t)((to[i / 8] & ~(1 << i % 8)) | (yes << i % 8));
    }
}

enum class SELMODE { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

template <class T> TL_FAST static void Select(const LocalTensor<T> &d, const LocalTensor<uint8_t> &mask, const LocalTensor<T> &s0,
                                              const LocalTensor<T> &s1, SELMODE, uint32_t n)
{
    static_assert(tl_one_of<T, half, float>::value, "Select does not take this type");
    const tl_instr by(PIPE_V);
    const uint8_t *m = tl_of(by, mask, (n + 7) / 8, false);
    const T *p = tl_of(by, s0, n, false), *q = tl_of(by, s1, n, false);
    T *to = tl_of(by, d, n, true);
    for (uint32_t i = 0; i < n; i++)
        to[i] = m[i / 8] >> i % 8 & 1 ? p[i] : q[i];
}

#define TL_REDUCE(name, expr)                                                                      \
    template <class T> TL_FAST static void name(const LocalTensor<T> &d, const LocalTensor<T> &s, \
                                                const LocalTensor<T> &work, int32_t n)            \
    {                                                                                              \
        static_assert(tl_one_of<T, half, float>::value, #name " does not take this type");        \
        const tl_instr by(PIPE_V);                                                                 \
        const T *p = tl_of(by, s, n, false);                                                       \
        memset((void *)tl_of(by, work, 8 * ((n * sizeof(T) + 255) / 256 + 7) / 8, true), 0xA5,    \
               8 * ((n * sizeof(T) + 255) / 256 + 7) / 8 * sizeof(T));                            \
        float a = p[0];                                                                            \
        for (int32_t i = 1; i < n; i++) {                                                         \
            const float b = p[i];                                                                  \
            a = expr;                                                                              \
        }                                                                                          \
        *tl_of(by, d, 1, true) = (T)a;                                                             \
    }
TL_REDUCE(ReduceSum, a + b) TL_REDUCE(ReduceMax, a > b || b != b ? a : b)
TL_REDUCE(ReduceMin, a < b || b != b ? a : b)

} /* namespace AscendC */
