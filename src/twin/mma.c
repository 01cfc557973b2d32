/* mma.c -- MMAs of a warp: the lane that comes last does the work for all.  Which lane holds what
 * the rows of isa/ say, as to the simulator and the emitter. */
#include "twin/machine.h"

enum { CELLS_MOST = 32 * 64 };

bool warp_brings(const char *name, void *const *at)
{
    TwinWarp *w = own_warp();

    if (w->alive != all_lanes())
        twin_fail("lanes of its warp are missing at %s [twin-fault]", name);
    w->at[machine.self->index % machine.lanes] = at;
    return warp_syncs(name);
}

ValueCell cell_at(DType t, const void *registers, int i)
{
    double f = 0;
    int64_t x = 0;
    ValueCell c;

    if (t == DT_TF32) { /* the lowest bits are not looked at */
        uint32_t bits;
        float v;
        memcpy(&bits, (const char *)registers + 4 * i, sizeof bits);
        bits &= ~0x1fffu;
        memcpy(&v, &bits, sizeof v);
        c.f = (double)v;
        return c;
    }
    num_load(t, registers, i, &f, &x);
    if (dtype_is_float(t))
        c.f = f;
    else
        c.i = x;
    return c;
}

/* Operand registers of all lanes, from operand `first` on, as a matrix of K in a row. */
static void collect(const TwinWarp *w, const Isa *isa, int which, int first, int each,
                    ValueCell *to)
{
    const Mma *mma = isa->mma;
    LaneMap l = mma_lanes(isa, which);

    for (int lane = 0; lane < machine.lanes; lane++)
        for (int s = 0; s < l.extent[LANE_SLOT]; s++) {
            int at[2];
            lane_place(&l, lane, s, at);
            to[which == MMA_A ? at[0] * mma->k + at[1] : at[1] * mma->k + at[0]] =
                cell_at(mma->type[which], w->at[lane][first + s / each], s % each);
        }
}

/* The rows of an operand by their scales, bytes of the words that lanes have. */
static void apply_scales(const TwinWarp *w, const Isa *isa, int which, int first, ValueCell *to)
{
    const Mma *mma = isa->mma;
    LaneMap l = mma_lanes(isa, MMA_SA + which);

    for (int i = 0; i < (which == MMA_A ? mma->m : mma->n); i++) {
        for (int j = 0; j < mma->k; j++) {
            uint32_t word;
            int slot, number = j * mma->per / mma->k, each = mma->per / mma->words;
            memcpy(&word, w->at[lane_holder(&l, i, number / each, &slot)][first], sizeof word);
            to[i * mma->k + j].f *= value_scale(mma->scale, word, number % each);
        }
    }
}

void warp_multiply(const Isa *isa, const MmaOperands *o)
{
    static ValueCell a[CELLS_MOST], b[CELLS_MOST];
    const TwinWarp *w = own_warp();
    const Mma *mma = isa->mma;
    LaneMap l = mma_lanes(isa, MMA_C);
    DType t = mma->type[MMA_C];
    int each = o->each[MMA_C];

    collect(w, isa, MMA_A, o->a, o->each[MMA_A], a);
    collect(w, isa, MMA_B, o->b, o->each[MMA_B], b);
    for (int i = MMA_A; i <= MMA_B && mma->per; i++)
        apply_scales(w, isa, i, o->scale[i], i == MMA_A ? a : b);
    for (int lane = 0; lane < machine.lanes; lane++)
        for (int s = 0; s < l.extent[LANE_SLOT]; s++) {
            int place[2];
            lane_place(&l, lane, s, place);
            ValueCell c = cell_at(t, w->at[lane][o->c + s / each], s % each);
            c = value_dot(t, mma->k, &a[place[0] * mma->k], &b[place[1] * mma->k], c);
            num_store(t, w->at[lane][o->to + s / each], s % each, c.f, c.i);
        }
}
