/* z3.h -- proofs by libz3. */
#ifndef TL_TEST_PROVE_Z3_H
#define TL_TEST_PROVE_Z3_H

#include "arith/arith.h"

bool z3_present(void);
/* PROOF_UNKNOWN when libz3 is absent, gives up, or does not know an operator in it. */
Proof z3_prove(const Facts *f, const Expr *cond);

#endif
