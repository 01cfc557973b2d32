/* mma.c -- the rows of matrix.def and of load.def. */
#include "isa/isa.h"

int mma_warp(const Isa *isa)
{
    return mma_lanes(isa, MMA_C).extent[LANE_LANE];
}

LaneMap mma_lanes(const Isa *isa, int which)
{
    const Mma *m = isa->mma;

    if (which >= MMA_SA)
        return isa_lanes(isa, which, which == MMA_SA ? m->m : m->n, m->words, DT_U32);
    return isa_lanes(isa, which, which == MMA_B ? m->k : m->m, which == MMA_A ? m->k : m->n,
                     m->type[which]);
}

enum { ACROSS, ALONG };

static const MmaLoad load_table[] = {
#define LOAD(id, operand, k, least, most, size, unit, units)                                       \
    {ISA_##id, MMA_##operand, k, least, most, size, unit, units},
#include "isa/load.def"
#undef LOAD
};

/* Of a load of one operand at a time: whether it leaves elements in the slots where the MMA has
 * them (rows with scales have others). */
static bool agrees(const MmaLoad *l, const Isa *isa, int operand)
{
    const Mma *m = isa->mma;
    LaneMap own = mma_lanes(isa, operand);
    LaneMap left = isa_lanes(isa_row(l->id), 0, m->k, operand == MMA_A ? m->m : m->n,
                             m->type[operand]);

    for (int lane = 0; lane < own.extent[LANE_LANE]; lane++)
        for (int slot = 0; slot < own.extent[LANE_SLOT]; slot++) {
            int at[2], of[2];
            lane_place(&own, lane, slot, at);
            lane_place(&left, lane, slot, of);
            if (at[0] != of[operand == MMA_A] || at[1] != of[operand != MMA_A])
                return false;
        }
    return true;
}

const MmaLoad *mma_load_find(const Isa *isa, int operand, bool along_k, const Machine *on)
{
    const Mma *m = isa->mma;
    int bits = dtype_bits(m->type[operand]), size = operand == MMA_A ? m->m : m->n;

    for (int i = 0; i < COUNT(load_table); i++) {
        const MmaLoad *l = &load_table[i];
        const Isa *row = isa_row(l->id);
        bool fits = l->operand == operand && l->along_k == along_k && l->least <= bits &&
                    bits <= l->most && (!l->size || l->size == size);
        if (fits && isa_fits(row, on) &&
            isa_lanes(row, 0, 16, 16, m->type[operand]).extent[LANE_LANE] == on->lanes &&
            (l->units > 1 || agrees(l, isa, operand)))
            return l;
    }
    return NULL;
}

/* Of a GEMM, what the instructions cover with what is past its edges. */
static int64_t covered(const Mma *m, const int64_t size[3])
{
    return (size[0] + m->m - 1) / m->m * m->m * ((size[1] + m->n - 1) / m->n * m->n) *
           ((size[2] + m->k - 1) / m->k * m->k);
}

static bool is_better(const Mma *m, const Mma *than, const int64_t size[3], int nwarp)
{
    enum { TILES_EACH = 4 };
    int64_t more = covered(m, size) - covered(than, size);
    int64_t tiles = size[0] / m->m * (size[1] / m->n);

    return more < 0 ||
           (more == 0 && m->m * m->n > than->m * than->n && tiles >= TILES_EACH * nwarp);
}

bool mma_multiplies(const DType type[3])
{
    const Isa *row;

    for (int i = 0; (row = mma_row(i)) != NULL; i++)
        if (!row->mma->per && !memcmp(row->mma->type, type, sizeof row->mma->type))
            return true;
    return false;
}

const Isa *mma_find(const DType type[3], const Machine *on, const int64_t size[3], int nwarp)
{
    const Isa *best = NULL, *row;

    for (int i = 0; (row = mma_row(i)) != NULL; i++) {
        const Mma *m = row->mma;
        if (m->per || memcmp(m->type, type, sizeof m->type) || !isa_fits(row, on))
            continue;
        if (!best || is_better(m, best->mma, size, nwarp))
            best = row;
    }
    return best;
}

/* A scale for `grain` elements serves as those of a row that has one for fewer, where each comes in
 * a word of its own. */
static bool scales_fit(const Mma *m, const int64_t grain[2])
{
    for (int i = 0; i < 2; i++)
        if (m->per == m->words ? grain[i] % (m->k / m->per) : grain[i] != m->k / m->per)
            return false;
    return true;
}

const Isa *mma_scaled_find(const DType type[3], DType scale, const int64_t grain[2],
                           const Machine *on, const int64_t size[3], int nwarp)
{
    const Isa *best = NULL, *row;

    for (int i = 0; (row = mma_row(i)) != NULL; i++) {
        const Mma *m = row->mma;
        if (!m->per || m->scale != scale || !scales_fit(m, grain) || !isa_fits(row, on) ||
            memcmp(m->type, type, sizeof m->type))
            continue;
        if (!best || is_better(m, best->mma, size, nwarp))
            best = row;
    }
    return best;
}
