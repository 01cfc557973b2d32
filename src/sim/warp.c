/* warp.c -- instructions of a warp, lane by lane, from the maps of isa/mma.c that the emitter
 * prints from.
 *
 * A register operand is either a run of a thread's own slots, or a piece of a fragment whose layout
 * puts the elements where the instruction has them: then the layout says the slot. */
#include "sim/machine.h"

enum { LANES = 32, CELLS_MOST = 16 * 64 };

/* The instruction that an ldmatrix loads an operand for, as far as the operand goes. */
static Mma shape_of(const SimRegion *from, int which, bool trans)
{
    int64_t rows = from->extent[from->rank - 2], cols = from->extent[from->rank - 1];
    DType t = from->buf->type;
    Mma m = {.m = 16, .n = 8, .type = {t, t, t}};

    if (which == MMA_A) {
        m.m = (int)(trans ? cols : rows);
        m.k = (int)(trans ? rows : cols);
    } else {
        m.k = (int)(trans ? rows : cols);
    }
    return m;
}

/* Lane l gives the address of 16 bytes: row l % 8 of matrix l // 8. */
static void count_row(Sim *m, const Stmt *s, const SimRegion *r)
{
    int bits = dtype_bits(r->buf->type), unit = 128 / bits, lane = sim_thread_index(m) % LANES;
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

/* Operand registers of one lane from a piece of shared memory; A is stored M x K, B N x K, and with
 * ".trans" the other way round.  B may be of several tiles of eight columns. */
void simulate_ldmatrix(Sim *m, const Stmt *s)
{
    IsaId id = s->u.instr.isa->id;
    int which = id == ISA_LDMATRIX_A || id == ISA_LDMATRIX_A_TRANS ? MMA_A : MMA_B;
    bool trans = id == ISA_LDMATRIX_A_TRANS || id == ISA_LDMATRIX_B_TRANS;
    bool turned = trans == (which == MMA_A);
    int lane = sim_thread_index(m) % LANES;
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    int lead = from.rank - 2;
    Mma shape = shape_of(&from, which, trans);
    int nslot = mma_operand(&shape, which).nslot;

    count_row(m, s, &from);
    for (int64_t i = 0; i < to.extent[0]; i++) {
        int at[2];
        int64_t idx[RANK_MOST] = {0};
        Value1 v;
        mma_place(&shape, which, lane, (int)i % nslot, at);
        at[1] += which == MMA_B ? (int)i / nslot * shape.n : 0;
        idx[lead] = at[turned ? 1 : 0];
        idx[lead + 1] = at[turned ? 0 : 1];
        sim_get(m, s, &from, idx, &v);
        sim_put(m, s, &to, &i, v);
    }
}

/* Pieces of 8 x 8 to shared memory: every lane puts what it holds, of a fragment as an accumulator
 * has it, or of its own slots: down the rows first, two slots of each piece. */
void simulate_stmatrix(Sim *m, const Stmt *s)
{
    static const Mma shape = {.m = 8, .n = 8, .k = 8, .type = {DT_F16, DT_F16, DT_F16}};
    int lane = sim_thread_index(m) % LANES;
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    int64_t down = to.extent[to.rank - 2] / shape.m, across = to.extent[to.rank - 1] / shape.n;

    count_row(m, s, &to);
    for (int64_t i = 0; i < down * across * 2; i++) {
        int at[2];
        int64_t f[RANK_MOST] = {0}, t[RANK_MOST] = {0};
        Value1 v;
        mma_place(&shape, MMA_C, lane, (int)i % 2, at);
        t[to.rank - 2] = i / 2 % down * shape.m + at[0];
        t[to.rank - 1] = i / 2 / down * shape.n + at[1];
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

/* Where slot `slot` of a lane, (at[0], at[1]) of the operand, is in its own memory. */
static int64_t own_slot(const SimMem *mem, const SimRegion *r, int slot, const int at[2])
{
    int64_t offset = 0;

    if (r->rank == 1)
        return r->at[0] + slot;
    for (int d = 0; d < r->rank; d++)
        offset += r->at[d] * mem->stride[d];
    offset += at[0] * mem->stride[r->rank - 2] + at[1] * mem->stride[r->rank - 1];
    return mem->place ? mem->place[offset] : offset;
}

typedef struct {
    Sim *m;
    const Mma *mma;
    SimThread *const *member;
    SimRegion r[3];
    ValueCell cell[2][CELLS_MOST]; /* A as M x K, B as N x K */
} Product;

static void gather(Product *p, int which)
{
    const Mma *mma = p->mma;
    const SimRegion *r = &p->r[which];
    MmaOperand o = mma_operand(mma, which);
    bool floats = dtype_is_float(mma->type[which]);

    for (int s = 0; s < o.nslot; s++) {
        int first[2];
        mma_slot(mma, which, s, first);
        for (int l = 0; l < LANES; l++) {
            const SimMem *mem = p->member[l]->mem[r->buf->id];
            int at[2] = {first[0], first[1]};
            at[o.g] += l / 4;
            at[!o.g] += l % 4 * o.step;
            Value1 v = mem_get(p->m, mem, own_slot(mem, r, s, at));
            ValueCell *c = &p->cell[which][which == MMA_A ? at[0] * mma->k + at[1]
                                                     : at[1] * mma->k + at[0]];
            if (floats)
                c->f = mem->type == DT_F32 ? num_cut(v.f) : v.f; /* read as tfloat32 */
            else
                c->i = v.i;
        }
    }
}

static Value1 dot(const Product *p, Value1 sum, const int at[2])
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
    Product product, *p = &product;

    p->m = m;
    p->mma = s->u.instr.isa->mma;
    p->member = member;
    for (int i = 0; i < 3; i++)
        p->r[i] = sim_region(m, s, &s->u.instr.region[i]);
    if (n != LANES)
        sim_fail(m, s, "only %d lanes of the warp run this matrix instruction [divergent-warp]", n);
    gather(p, MMA_A);
    gather(p, MMA_B);
    int nslot = mma_operand(p->mma, MMA_C).nslot;
    for (int l = 0; l < LANES; l++) {
        SimMem *mem = member[l]->mem[p->r[MMA_C].buf->id];
        for (int i = 0; i < nslot; i++) {
            int at[2];
            mma_place(p->mma, MMA_C, l, i, at);
            int64_t slot = own_slot(mem, &p->r[MMA_C], i, at);
            mem_write(mem, slot, dot(p, mem_get(m, mem, slot), at));
        }
    }
}

void simulate_mma(Sim *m, const Stmt *s)
{
    threads_meet(m, s, MEET_WARP, mma_once);
}
