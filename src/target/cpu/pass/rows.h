/* rows.h -- what the passes over loops of rows share, and tell plans and emitter. */
#ifndef TL_TARGET_CPU_PASS_ROWS_H
#define TL_TARGET_CPU_PASS_ROWS_H

#include "pass/fuse.h"

/* fuse_drop.c: the body without copies that a loop can read through, and without stores to tiles
 * that nobody reads. */
const Stmt *drop_useless(Kernel *k, const Stmt *body);

/* opt_skew.c: a tensor that is only written and does not fit the last level cache: what is stored
 * would be out of it before anyone reads it, and would be fetched only to be overwritten. */
bool tensor_streams(Kernel *k, const Buffer *b);

#endif
