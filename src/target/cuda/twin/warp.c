/* warp.c -- instructions of a warp and barriers of a block: the lane that comes last does the work
 * for all.  Which lane holds what the rows of isa/ say, as to the simulator and the emitter. */
#include "target/cuda/twin/ptx.h"

enum { ROW_BYTES = 16, WARP = 32 };

/* All threads of a warp give up registers, or get some, together. */
void ptx_set_registers(const char *name, void *const *at, int n)
{
    int count = (int)word_at(at[0]);

    (void)n;
    if (count < 24 || count > 256 || count % 8)
        twin_fail("%s of %d registers [twin-fault]", name, count);
    if (warp_brings(name, at))
        warp_goes_on();
}

/* One thread of a warp that is there whole; which one nobody may rely on. */
void ptx_elect(const char *name, void *const *at, int n)
{
    TwinWarp *w = own_warp();

    (void)n;
    if (!warp_brings(name, at))
        return;
    for (int lane = 0; lane < WARP; lane++) {
        uint32_t yes = lane == 0;
        memcpy(w->at[lane][1], &yes, sizeof yes);
    }
    warp_goes_on();
}

/* ---- matrices of 8 x 8 ----------------------------------------------------------------------- */

static unsigned char *matrix_row(const TwinWarp *w, int lane, int operand)
{
    uint32_t address = word_at(w->at[lane][operand]);

    if (address % ROW_BYTES)
        twin_fail("a row of a matrix at %u of shared memory, no multiple of 16 [twin-fault]",
                  address - machine.base);
    return shared_at(address, ROW_BYTES, "a row of a matrix,");
}

/* The two elements of matrix i that a lane holds. */
static void own_elements(const TwinWarp *w, int i, int lane, bool trans, int rows,
                         unsigned char *at[2])
{
    LaneMap l = isa_lanes(isa_find("stmatrix"), 1, 8, 8, DT_F16);

    for (int e = 0; e < 2; e++) {
        int place[2];
        lane_place(&l, lane, e, place);
        at[e] = matrix_row(w, i * 8 + place[trans], rows) + place[!trans] * 2;
    }
}

void ptx_ldmatrix(const char *name, void *const *at, int n)
{
    bool trans = strstr(name, ".trans") != NULL;
    TwinWarp *w = own_warp();

    if (!warp_brings(name, at))
        return;
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < n - 1; i++) {
            unsigned char *e[2];
            own_elements(w, i, lane, trans, n - 1, e);
            memcpy((char *)w->at[lane][i], e[0], 2);
            memcpy((char *)w->at[lane][i] + 2, e[1], 2);
        }
    warp_goes_on();
}

void ptx_stmatrix(const char *name, void *const *at, int n)
{
    TwinWarp *w = own_warp();

    if (!warp_brings(name, at))
        return;
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < n - 1; i++) {
            unsigned char *e[2];
            own_elements(w, i, lane, false, 0, e);
            memcpy(e[0], (char *)w->at[lane][i + 1], 2);
            memcpy(e[1], (char *)w->at[lane][i + 1] + 2, 2);
        }
    warp_goes_on();
}

/* ---- MMAs ------------------------------------------------------------------------------------ */

/* The row of cuda/isa/matrix.def that an instruction is: m16n8k16.row.col.C.A.B.C */
static const Isa *mma_of(const char *name)
{
    static const char *last;
    static const Isa *found;
    int m, n, k;
    char c[8], a[8], b[8], d[8], isa[64];

    if (name == last)
        return found;
    if (sscanf(name,
               "mma.sync.aligned.m%dn%dk%d.row.col.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]", &m,
               &n, &k, c, a, b, d) != 7)
        twin_fail("%s is no MMA that anybody knows [twin-meaning]", name);
    bool quads = m == 8 && k == 4 && !strcmp(a, "f16"); /* of sm_70, which has four of them */
    snprintf(isa, sizeof isa, "mma.m%dn%dk%d.%s.%s.%s", quads ? 16 : m, quads ? 16 : n, k, c, a, b);
    const Isa *row = isa_find(isa);
    if (!row || strcmp(c, d))
        twin_fail("%s is no MMA that anybody knows [twin-meaning]", name);
    last = name;
    return found = row;
}

/* m16n8k64.row.col.kind::K.block_scale.scale_vec::4X.C.A.B.C.S */
static const Isa *scaled_of(const char *name)
{
    int m, n, k, per;
    char kind[12], c[8], a[8], b[8], d[8], scale[8], isa[64];

    if (sscanf(name,
               "mma.sync.aligned.m%dn%dk%d.row.col.kind::%11[a-z0-9].block_scale.scale_vec::%dX."
               "%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]",
               &m, &n, &k, kind, &per, c, a, b, d, scale) != 10)
        twin_fail("%s is no MMA that anybody knows [twin-meaning]", name);
    snprintf(isa, sizeof isa, "mma.m%dn%dk%d.%s.%s.%s.scaled%d", m, n, k, c, a, b, per);
    const Isa *row = isa_find(isa);
    if (!row || strcmp(c, d) || strcmp(kind, row->mma->own) ||
        strcmp(scale, row->mma->scale == DT_E4M3 ? "ue4m3" : "ue8m0"))
        twin_fail("%s is no MMA that anybody knows [twin-meaning]", name);
    return row;
}

/* After A, B and C come a word of scales of A, which byte and thread of four has it, and of B. */
static void take_scales(const char *name, void *const *at, MmaOperands *o, int first)
{
    enum { EACH = 3 };

    for (int i = 0; i < 2; i++) {
        o->scale[i] = first + i * EACH;
        if (word_at(at[o->scale[i] + 1]) || word_at(at[o->scale[i] + 2]))
            twin_fail("%s with scales in other bytes or threads than the first [twin-meaning]",
                      name);
    }
}

void ptx_mma(const char *name, void *const *at, int n)
{
    if (!warp_brings(name, at))
        return;
    bool scaled = strstr(name, ".block_scale") != NULL;
    const Isa *isa = scaled ? scaled_of(name) : mma_of(name);
    MmaOperands o = {0};
    int count[3];
    for (int i = 0; i < 3; i++) {
        o.each[i] = mma_each(isa->mma->type[i]);
        count[i] = mma_lanes(isa, i).extent[LANE_SLOT] / o.each[i];
    }
    o.a = count[MMA_C];
    o.b = o.a + count[MMA_A];
    o.c = o.b + count[MMA_B];
    if (n != o.c + count[MMA_C] + (scaled ? 6 : 0))
        twin_fail("%s with %d operands [twin-fault]", name, n);
    if (scaled)
        take_scales(name, at, &o, o.c + count[MMA_C]);
    warp_multiply(isa, &o);
    warp_goes_on();
}

/* ---- barriers -------------------------------------------------------------------------------- */

static Gather *named_barrier(void *const *at, int n, unsigned *count)
{
    uint32_t id = word_at(at[0]);

    *count = n > 1 ? word_at(at[1]) : (unsigned)machine.self->block->nalive;
    if (id >= NAMED || *count == 0 || *count % WARP || (int)*count > machine.self->block->nthread)
        twin_fail("barrier %u of %u threads [twin-fault]", id, *count);
    return &machine.self->block->named[id];
}

void ptx_bar_sync(const char *name, void *const *at, int n)
{
    unsigned count;
    Gather *g = named_barrier(at, n, &count);

    gather_wait(g, count, 0, name);
}

void ptx_bar_arrive(const char *name, void *const *at, int n)
{
    unsigned count;
    Gather *g = named_barrier(at, n, &count);

    (void)name;
    gather_come(g, count, 0);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static TwinBlock *first_block(const TwinBlock *b)
{
    return &machine.block[b - machine.block - b->rank];
}

void ptx_cluster_arrive(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    TwinBlock *first = first_block(t->block);
    int alive = 0;

    (void)name;
    (void)at;
    (void)n;
    if (t->cluster_arrived)
        twin_fail("it arrives twice at the barrier of its cluster [twin-fault]");
    for (int i = 0; i < first->ncluster; i++)
        alive += first[i].nalive;
    t->cluster_arrived = true;
    t->cluster_generation = first->cluster.generation;
    gather_come(&first->cluster, (unsigned)alive, 0);
}

void ptx_cluster_wait(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    Gather *g = &first_block(t->block)->cluster;

    (void)at;
    (void)n;
    if (!t->cluster_arrived)
        twin_fail("it waits for its cluster and did not arrive [twin-fault]");
    t->cluster_arrived = false;
    if (g->generation == t->cluster_generation)
        twin_wait(WAIT_COUNTER, &g->generation, t->cluster_generation, name);
}

void ptx_mapa(const char *name, void *const *at, int n)
{
    uint32_t there = address_in(machine.self->block, word_at(at[1]));

    (void)name;
    (void)n;
    there = (there & ((1u << BLOCK_SHIFT) - 1)) | (word_at(at[2]) + 1) << BLOCK_SHIFT;
    block_of(there);
    memcpy(at[0], &there, sizeof there);
}

/* A pointer of this block to another one's memory. */
void ptx_mapa_generic(const char *name, void *const *at, int n)
{
    const TwinBlock *own = machine.self->block;
    int64_t offset = (int64_t)(long_at(at[1]) - (uint64_t)(uintptr_t)own->shared);

    (void)name;
    (void)n;
    if (offset < 0 || offset >= own->nshared)
        twin_fail("an address that is not of shared memory is taken as one [twin-bounds]");
    const TwinBlock *peer = block_of((word_at(at[2]) + 1) << BLOCK_SHIFT);
    uint64_t there = (uint64_t)(uintptr_t)(peer->shared + offset);
    memcpy(at[0], &there, sizeof there);
}
