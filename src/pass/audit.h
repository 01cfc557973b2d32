/* audit.h -- findings about a lowered body (ir/audit.def). */
#ifndef TL_PASS_AUDIT_H
#define TL_PASS_AUDIT_H

#include "op/op.h"

void audit_body(Kernel *k);

#endif
