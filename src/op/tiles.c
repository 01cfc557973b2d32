/* tiles.c -- block sizes that suit a matrix product on this kind of machine. */
#include "op/op.h"

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* A block of C of about 192 x 384 with 256 deep panels keeps both packed operands in the second
 * level cache; narrower types get deeper panels of the same bytes. */
void tiles_for_gemm(int64_t M, int64_t N, int64_t K, DType t, int nthread, int64_t out[3])
{
    int bits = dtype_bits(t) > 0 ? dtype_bits(t) : 32;
    int64_t bm = MIN(round_up(M, 8), 192);
    int64_t bn = MIN(round_up(N, 48), 384);
    int64_t deep = MIN(256 * 32 / MIN(bits, 32), 1024);
    if (nthread <= 0)
        nthread = cpu_count();
    /* Fewer blocks than threads leaves cores idle: halve the longer side while that helps. */
    while ((M + bm - 1) / bm * ((N + bn - 1) / bn) < nthread && (bm > 48 || bn > 96)) {
        if (bn > 96 && bn >= bm)
            bn = round_up(bn / 2, 48);
        else if (bm > 48)
            bm = round_up(bm / 2, 8);
        else
            break;
    }
    out[0] = bm;
    out[1] = bn;
    out[2] = MIN(K, deep);
}
