/* z3.h -- proofs and values by libz3, where it is: for `tl prove`, never for what is emitted. */
#ifndef TL_ARITH_Z3_H
#define TL_ARITH_Z3_H

#include "arith/arith.h"

bool z3_present(void);
/* PROOF_UNKNOWN when libz3 is absent, gives up, or does not know an operator in it. */
Proof z3_prove(const Facts *f, const Expr *cond);
/* PROOF_YES: the facts leave no values for which cond is false.  PROOF_NO: they leave these, into
 * values[var->id], those of `vars` of at most `most` where such are left (0: of any size); to be
 * tried, since operators that z3 does not know have values of their own in it. */
Proof z3_values(const Facts *f, const Expr *cond, const Var *const *vars, int n, int64_t most,
                int64_t *values);

#endif
