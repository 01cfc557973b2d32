/* lower_effects.h -- what all threads of a block do. */
#ifndef TL_PASS_LOWER_EFFECTS_H
#define TL_PASS_LOWER_EFFECTS_H

#include "op/op.h"

void effects_tell(Kernel *k);   /* warns of what the block's threads all do */

#endif
