/* warp.c -- instructions of a warp, lane by lane, from the maps of their rows that the emitter
 * prints from.
 *
 * A register operand is either a run of a thread's own slots, or a piece of a fragment whose layout
 * puts the elements where the instruction has them: then the layout says the slot. */
#include "sim/machine.h"

enum { CELLS_MOST = 32 * 64 };

/* Lane l gives the address of 16 bytes: row l % 8 of matrix l // 8. */
static void count_row(Sim *m, const Stmt *s, const SimRegion *r)
{
    int bits = dtype_bits(r->buf->type), unit = 128 / bits, lane = sim_thread_index(m) % m->warp;
    int64_t down = r->extent[r->rank - 2] / 8, across = r->extent[r->rank - 1] / unit;
    const SimMem *mem = sim_mem(m, r->buf);
    int64_t matrix = lane / 8, offset = 0;

    if (!m->o.stats || down == 0)
        return;
    for (int d = 0; d < r->rank; d++)
        offset += r->at[d] * mem->stride[d];
    offset += (matrix % down * 8 + lane % 8) * mem->stride[r->rank - 2] + matrix / down * unit;
    if (matrix >= down * across)
        offset = -1;
    else if (mem->place)
        offset = mem->place[offset];
    stats_access(m, mem, s, offset, unit);
}

/* Slot `slot` of this lane, in the last two dimensions of a piece of memory. */
static void place_in(const LaneMap *l, int lane, int slot, const SimRegion *r, int64_t *at)
{
    int place[2];

    lane_place(l, lane, slot, place);
    at[r->rank - 2] = place[0];
    at[r->rank - 1] = place[1];
}

static LaneMap lanes_over(const Stmt *s, int region, const SimRegion *r)
{
    return isa_lanes(s->u.instr.isa, region, (int)r->extent[r->rank - 2],
                     (int)r->extent[r->rank - 1], r->buf->type);
}

/* Operand registers of one lane from a piece of shared memory. */
void simulate_matrix_load(Sim *m, const Stmt *s)
{
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    LaneMap l = lanes_over(s, 0, &from);

    count_row(m, s, &from);
    for (int64_t i = 0; i < to.extent[0]; i++) {
        int64_t at[RANK_MOST] = {0};
        Value1 v;
        place_in(&l, sim_thread_index(m) % l.extent[LANE_LANE], (int)i, &from, at);
        sim_get(m, s, &from, at, &v);
        sim_put(m, s, &to, &i, v);
    }
}

/* Pieces of 8 x 8 to shared memory: every lane puts what it holds, of a fragment as an accumulator
 * has it, or of its own slots. */
void simulate_matrix_store(Sim *m, const Stmt *s)
{
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    LaneMap l = lanes_over(s, 1, &to);

    count_row(m, s, &to);
    for (int64_t i = 0; i < l.extent[LANE_SLOT]; i++) {
        int64_t f[RANK_MOST] = {0}, t[RANK_MOST] = {0};
        Value1 v;
        place_in(&l, sim_thread_index(m) % l.extent[LANE_LANE], (int)i, &to, t);
        if (from.rank == 1) {
            f[0] = i;
        } else {
            f[from.rank - 2] = t[to.rank - 2];
            f[from.rank - 1] = t[to.rank - 1];
        }
        sim_get(m, s, &from, f, &v);
        sim_put(m, s, &to, t, v);
    }
}

/* ---- mma ------------------------------------------------------------------------------------- */

/* Where slot `slot` of a lane, (at[0], at[1]) of the operand, is in its own memory.  A region that
 * spans more than the operand's extent has every so-many-th row or column of it. */
static int64_t own_slot(const SimMem *mem, const SimRegion *r, const LaneMap *l, int slot,
                        const int at[2])
{
    int64_t offset = 0;

    if (r->rank == 1)
        return r->at[0] + slot;
    for (int d = 0; d < r->rank; d++)
        offset += r->at[d] * mem->stride[d];
    for (int i = 0; i < 2; i++) {
        int d = r->rank - 2 + i;
        offset += at[i] * lane_step(l, i, r->extent[d]) * mem->stride[d];
    }
    return mem->place ? mem->place[offset] : offset;
}

typedef struct {
    Sim *m;
    const Mma *mma;
    LaneMap lanes[3];
    SimThread *const *member;
    SimRegion r[3];
    ValueCell cell[2][CELLS_MOST]; /* A as M x K, B as N x K */
} WarpMma;

static void gather(WarpMma *p, int which)
{
    const Mma *mma = p->mma;
    const SimRegion *r = &p->r[which];
    const LaneMap *map = &p->lanes[which];
    bool floats = dtype_is_float(mma->type[which]);

    for (int l = 0; l < map->extent[LANE_LANE]; l++) {
        const SimMem *mem = thread_mem(p->m, p->member[l], r->buf);
        for (int s = 0; s < map->extent[LANE_SLOT]; s++) {
            int at[2];
            lane_place(map, l, s, at);
            Value1 v = mem_get(p->m, mem, own_slot(mem, r, map, s, at));
            ValueCell *c = &p->cell[which][which == MMA_A ? at[0] * mma->k + at[1]
                                                     : at[1] * mma->k + at[0]];
            if (floats)
                c->f = mma->type[which] == DT_TF32 ? num_cut(v.f) : v.f;
            else
                c->i = v.i;
        }
    }
}

/* The rows of A, or columns of B, by their scales: bytes of a word of the lane that has it. */
static void apply_scales(WarpMma *p, const Stmt *s, int which)
{
    const Mma *mma = p->mma;
    SimRegion r = sim_region(p->m, s, &s->u.instr.region[MMA_SA + which]);
    LaneMap map = mma_lanes(s->u.instr.isa, MMA_SA + which);

    for (int i = 0; i < (which == MMA_A ? mma->m : mma->n); i++) {
        for (int l = 0; l < mma->k; l++) {
            int slot, number = l * mma->per / mma->k, each = mma->per / mma->words;
            int lane = lane_holder(&map, i, number / each, &slot);
            const SimMem *mem = p->member[lane]->mem[r.buf->id];
            uint32_t word = (uint32_t)mem_get(p->m, mem, r.at[0] + slot).i;
            p->cell[which][i * mma->k + l].f *= value_scale(mma->scale, word, number % each);
        }
    }
}

static Value1 dot(const WarpMma *p, Value1 sum, const int at[2])
{
    int K = p->mma->k;
    DType t = p->mma->type[MMA_C];
    bool floats = dtype_is_float(t);
    ValueCell c = {.i = sum.i};

    if (floats)
        c.f = sum.f;
    c = value_dot(t, K, &p->cell[MMA_A][at[0] * K], &p->cell[MMA_B][at[1] * K], c);
    return floats ? (Value1){.f = c.f} : (Value1){.i = c.i};
}

static void mma_once(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    WarpMma mma, *p = &mma;

    p->m = m;
    p->mma = s->u.instr.isa->mma;
    p->member = member;
    for (int i = 0; i < 3; i++) {
        p->r[i] = sim_region(m, s, &s->u.instr.region[i]);
        p->lanes[i] = mma_lanes(s->u.instr.isa, i);
    }
    const LaneMap *map = &p->lanes[MMA_C];
    if (n != map->extent[LANE_LANE])
        sim_fail(m, s, "only %d lanes of the warp run this matrix instruction [divergent-warp]", n);
    for (int i = MMA_A; i <= MMA_B; i++) {
        gather(p, i);
        if (p->mma->per)
            apply_scales(p, s, i);
    }
    for (int l = 0; l < n; l++) {
        SimMem *mem = thread_mem(m, member[l], p->r[MMA_C].buf);
        for (int i = 0; i < map->extent[LANE_SLOT]; i++) {
            int at[2];
            lane_place(map, l, i, at);
            int64_t slot = own_slot(mem, &p->r[MMA_C], map, i, at);
            mem_write(mem, slot, dot(p, mem_get(m, mem, slot), at));
        }
    }
}

void simulate_mma(Sim *m, const Stmt *s)
{
    threads_sync(m, s, SYNC_WARP, mma_once);
}
