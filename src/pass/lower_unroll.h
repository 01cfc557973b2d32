/* lower_unroll.h -- copies of statements. */
#ifndef TL_PASS_LOWER_UNROLL_H
#define TL_PASS_LOWER_UNROLL_H

#include "op/op.h"

/* The same with names of its own for what it binds, but for loops. */
const Stmt *stmt_anew(Kernel *k, const Stmt *s);

#endif
