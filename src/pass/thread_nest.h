/* thread_nest.h -- T.Parallel nests on threads. */
#ifndef TL_PASS_THREAD_NEST_H
#define TL_PASS_THREAD_NEST_H

#include "op/op.h"

/* What coalesced_width= asked for and what it came to, where they differ. */
void tell_width(Kernel *k, Span at, int64_t asked, int64_t got);
const Expr *thread_index(Kernel *k, ThreadGroup who); /* the thread's number in the group */
const Expr *thread_in_block(Kernel *k);      /* its number in the block */
void parallel_to_threads(Kernel *k);

#endif
