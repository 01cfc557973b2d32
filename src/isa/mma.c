/* mma.c -- the rows of mma.def. */
#include "isa/isa.h"

LaneMap mma_lanes(const Isa *isa, int which)
{
    const Mma *m = isa->mma;

    return isa_lanes(isa, which, which == MMA_B ? m->k : m->m, which == MMA_A ? m->k : m->n,
                     m->type[which]);
}

/* Rows and columns of A that the instructions cover, with what is past its edges. */
static int64_t covered(const Mma *m, int64_t M, int64_t K)
{
    return (M + m->m - 1) / m->m * m->m * ((K + m->k - 1) / m->k * m->k);
}

const Isa *mma_find(DType a, DType b, DType c, const Machine *on, int64_t M, int64_t K)
{
    const Isa *best = NULL, *row;

    for (int i = 0; (row = mma_row(i)) != NULL; i++) {
        const Mma *m = row->mma;
        bool fits = m->type[MMA_A] == a && m->type[MMA_B] == b && m->type[MMA_C] == c;
        if (!fits || !isa_fits(row, on))
            continue;
        if (!best || covered(m, M, K) < covered(best->mma, M, K))
            best = row;
    }
    return best;
}
