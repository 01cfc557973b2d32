/* remote.h -- what a kernel that is a program of its own finds in its file: a run, and its results.
 *
 * Tensors that share memory here share it there: they are parts of one region.  After the head come
 * the bytes of the regions, then `reps` doubles. */
#ifndef TL_REMOTE_H
#define TL_REMOTE_H

#include <stdint.h>

enum { TL_REMOTE_MOST = 256 };

typedef struct {
    int64_t ntensor, nregion, nthread, warmup, reps;
    int64_t code;                                               /* of the run; text says why */
    int64_t region[TL_REMOTE_MOST], start[TL_REMOTE_MOST];      /* by tensor */
    int64_t nbytes[TL_REMOTE_MOST], offset[TL_REMOTE_MOST];     /* by region; in the file */
    int64_t seconds;                                            /* where they are in the file */
    int64_t value[2 * TL_REMOTE_MOST];
    char text[256];
} tl_remote;

#endif
