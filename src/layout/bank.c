/* bank.c -- bank conflicts of one warp-wide access to shared memory.
 *
 * Lanes that read the same word share it.  As many lanes are served together as could fill all
 * banks (half a warp of accesses twice as wide, …), in one wavefront when their words fall on
 * distinct banks.  A negative address is a lane that takes no part. */
#include "layout/layout.h"

enum { BANKS_MOST = 128, LANES_MOST = 64, WORDS_MOST = LANES_MOST * 4 };

/* Wavefronts of the lanes [from, to). */
static int wavefronts(const Machine *m, const int64_t *address, int from, int to, int width)
{
    int64_t word[WORDS_MOST];
    int n = 0, load[BANKS_MOST] = {0}, most = 0;
    for (int lane = from; lane < to; lane++) {
        if (address[lane] < 0)
            continue;
        int64_t first = address[lane] / m->bank_bytes;
        int64_t last = (address[lane] + width - 1) / m->bank_bytes;
        for (int64_t w = first; w <= last && n < WORDS_MOST; w++) {
            bool seen = false;
            for (int i = 0; i < n && !seen; i++)
                seen = word[i] == w;
            if (!seen) {
                word[n++] = w;
                load[w % m->banks]++;
                most = MAX(most, load[w % m->banks]);
            }
        }
    }
    return most;
}

int bank_conflicts(const Machine *m, const int64_t *byte_address, int width_bytes)
{
    int nlane = m->lanes, group = MIN(MAX(m->banks * m->bank_bytes / width_bytes, 1), nlane);
    int extra = 0;

    BUG(nlane > LANES_MOST || m->banks < 1 || m->banks > BANKS_MOST, "a warp of %d lanes", nlane);
    for (int from = 0; from < nlane; from += group) {
        int n = wavefronts(m, byte_address, from, MIN(from + group, nlane), width_bytes);
        extra += MAX(n - 1, 0);
    }
    return extra;
}
