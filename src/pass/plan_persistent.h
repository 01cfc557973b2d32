/* plan_persistent.h -- persistent kernels and clusters: how many blocks, and how long they are. */
#ifndef TL_PASS_PLAN_PERSISTENT_H
#define TL_PASS_PLAN_PERSISTENT_H

#include "op/op.h"

/* Blocks of a persistent kernel, as things stand; 0: a block per tile.  For the
 * plans before it; later passes read Kernel.persistent. */
int persistent_blocks(Kernel *k);
bool persistent_fits(Kernel *k); /* its tiles, side by side */
bool kernel_is_alone(Kernel *k); /* has a block with a producer the multiprocessor for itself? */
bool grid_is_known(const Kernel *k, int64_t *blocks); /* more than one index, all constant */
int cluster_size(const Kernel *k);
bool blocks_differ(Kernel *k); /* in length, as far as can be told */
typedef struct {
    int dim, way;  /* the block index that alone decides about the length: 1 the longer the higher
                    * it is, -1 the lower; 0: there is no such index, or blocks hardly differ */
    int64_t iters; /* of the outer loops of the longest */
} BlockLength;
BlockLength blocks_by_length(Kernel *k);

/* plan_cluster.c: how many blocks the pipelines of a kernel are filled by. */
int cluster_of_pipes(Kernel *k);

#endif
