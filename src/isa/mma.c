/* mma.c -- which lane holds which element of a matrix instruction: the maps of mma.def. */
#include "isa/isa.h"

enum { ROWS = 8, QUAD = 4, LANES = 32 };

int mma_each(DType t)
{
    return MAX(32 / dtype_bits(t), 1);
}

MmaOperand mma_operand(const Mma *m, int which)
{
    switch (which) {
    case MMA_A:
        return (MmaOperand){m->m * m->k / LANES, 0, mma_each(m->type[MMA_A])};
    case MMA_B:
        return (MmaOperand){m->k * m->n / LANES, 1, mma_each(m->type[MMA_B])};
    default:
        return (MmaOperand){m->m * m->n / LANES, 0, 2};
    }
}

void mma_slot(const Mma *m, int which, int slot, int at[2])
{
    int e = mma_operand(m, which).step, r = slot / e, high = m->m / ROWS;

    if (which == MMA_A) {
        at[0] = ROWS * (r % high);
        at[1] = slot % e + QUAD * e * (r / high);
    } else if (which == MMA_B) {
        at[0] = slot % e + QUAD * e * r;
        at[1] = 0;
    } else {
        at[0] = ROWS * r;
        at[1] = slot % e;
    }
}

void mma_place(const Mma *m, int which, int lane, int slot, int at[2])
{
    MmaOperand o = mma_operand(m, which);

    mma_slot(m, which, slot, at);
    at[o.g] += lane / QUAD;
    at[!o.g] += lane % QUAD * o.step;
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
