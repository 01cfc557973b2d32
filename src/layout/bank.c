/* bank.c -- bank conflicts of one warp-wide access to shared memory.
 *
 * 32 banks of 4 bytes.  Lanes that read the same word share it.  Accesses of 8 and 16 bytes are
 * served by half and quarter warps, each group in one wavefront when its words fall on distinct
 * banks.  A negative address is a lane that takes no part. */
#include "layout/layout.h"

enum { BANKS = 32, WORD = 4, LANES_MOST = 64, WORDS_MOST = LANES_MOST * 4 };

/* Wavefronts of the lanes [from, to). */
static int wavefronts(const int64_t *address, int from, int to, int width)
{
    int64_t word[WORDS_MOST];
    int n = 0, load[BANKS] = {0}, most = 0;
    for (int lane = from; lane < to; lane++) {
        if (address[lane] < 0)
            continue;
        int64_t first = address[lane] / WORD, last = (address[lane] + width - 1) / WORD;
        for (int64_t w = first; w <= last && n < WORDS_MOST; w++) {
            bool seen = false;
            for (int i = 0; i < n && !seen; i++)
                seen = word[i] == w;
            if (!seen) {
                word[n++] = w;
                load[w % BANKS]++;
                most = MAX(most, load[w % BANKS]);
            }
        }
    }
    return most;
}

int bank_conflicts(const int64_t *byte_address, int nlane, int width_bytes)
{
    int group = width_bytes >= 16 ? 8 : width_bytes >= 8 ? 16 : 32, extra = 0;
    BUG(nlane > LANES_MOST, "a warp of %d lanes", nlane);
    for (int from = 0; from < nlane; from += group) {
        int n = wavefronts(byte_address, from, MIN(from + group, nlane), width_bytes);
        extra += MAX(n - 1, 0);
    }
    return extra;
}
