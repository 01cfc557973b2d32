/* template.h -- what the names of the made-up target's language mean on the host; see
 * src/target/template.  A warp has 16 lanes. */
#include <stddef.h>
#include <stdint.h>

TL_C_MATH
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define KERNEL static
enum { LANES = 16 };

static inline int32_t block_x() { return (int32_t)tl_self->block.x; }
static inline int32_t block_y() { return (int32_t)tl_self->block.y; }
static inline int32_t block_z() { return (int32_t)tl_self->block.z; }
static inline int32_t thread_x() { return (int32_t)tl_self->thread.x; }
static inline int32_t thread_y() { return (int32_t)tl_self->thread.y; }
static inline int32_t thread_z() { return (int32_t)tl_self->thread.z; }
static inline unsigned char *shared_memory() { return tl_self->shared; }
static inline void give_up(const char *) { tl_host->fail(); }

static inline float tl_rcpf(float x) { return 1 / x; }
static inline float tl_rsqrtf(float x) { return 1 / sqrtf(x); }
static inline float tl_sigmoidf(float x) { return 1 / (1 + expf(-x)); }

/* ---- threads that meet ----------------------------------------------------------------------- */

static inline void barrier() { tl_host->meet(0, 0); }

/* Of n threads: the last to come lets the others go.  Blocks run one after the other. */
static inline void barrier(int id, int n)
{
    static volatile struct {
        int came, turn;
    } at[16];
    int turn = at[id].turn;

    at[id].came = at[id].came + 1;
    if (at[id].came == n) {
        at[id].came = 0;
        at[id].turn = turn + 1;
    }
    tl_self->acted = 1;
    while (at[id].turn == turn)
        tl_host->look_again();
    tl_self->looked = 0;
}

static inline int block_count(int yes) { return (int)tl_host->meet(yes != 0, 0); }
static inline int block_any(int yes) { return tl_host->meet(yes != 0, 0) != 0; }
static inline int block_all(int yes)
{
    unsigned came;
    return tl_host->meet(yes != 0, &came) == came;
}

enum { ALL = (1 << LANES) - 1 };
static inline void warp_barrier(int mask = ALL) { tl_host->lanes((unsigned)mask & ALL, 0, 0); }
static inline int lane()
{
    return (int)(tl_self->thread.x + tl_self->nthread.x * (tl_self->thread.y + tl_self->nthread.y * tl_self->thread.z)) % LANES;
}

/* A lane takes the value of another; past the end of its part it keeps its own. */
template <class T> static inline T lane_take(T x, int from, bool keeps, int mask)
{
    unsigned long long word = 0;
    __builtin_memcpy(&word, &x, sizeof x);
    word = tl_host->lanes((unsigned)mask & ALL, word, 0)[from & (LANES - 1)];
    T r;
    __builtin_memcpy(&r, &word, sizeof r);
    return keeps ? x : r;
}

template <class T> static inline T lane_of(T x, int from, int width = LANES, int mask = ALL)
{
    return lane_take(x, (lane() & ~(width - 1)) | (from & (width - 1)), false, mask);
}

template <class T> static inline T lane_xor(T x, int by, int width = LANES, int mask = ALL)
{
    const int from = lane() ^ by;
    return lane_take(x, from, from >= (lane() & ~(width - 1)) + width, mask);
}

template <class T> static inline T lane_down(T x, int by, int width = LANES, int mask = ALL)
{
    const int from = lane() + by;
    return lane_take(x, from, from >= (lane() & ~(width - 1)) + width, mask);
}

template <class T> static inline T lane_up(T x, int by, int width = LANES, int mask = ALL)
{
    const int from = lane() - by;
    return lane_take(x, from, from < (lane() & ~(width - 1)), mask);
}

static inline int warp_votes(int yes, int mask, unsigned long long *came)
{
    int n = 0;
    const unsigned long long *all = tl_host->lanes((unsigned)mask & ALL, yes != 0, came);
    for (int l = 0; l < LANES; l++)
        n += (*came >> l & 1) && all[l];
    return n;
}

static inline int warp_any(int yes, int mask = ALL)
{
    unsigned long long came;
    return warp_votes(yes, mask, &came) > 0;
}

static inline int warp_all(int yes, int mask = ALL)
{
    unsigned long long came;
    const int n = warp_votes(yes, mask, &came);
    return n == __builtin_popcountll(came);
}
