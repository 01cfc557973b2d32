/* lower_exact.h -- index arithmetic that may leave 32 bits. */
#ifndef TL_PASS_LOWER_EXACT_H
#define TL_PASS_LOWER_EXACT_H

#include "op/op.h"

typedef struct {
    Facts *all;      /* ranges of all blocks, threads, loops and names */
    Facts *constant; /* those that do not depend on a run-time size */
} IndexFacts;

IndexFacts index_facts(const Kernel *k);
bool index_fits(const Facts *f, const Expr *e);   /* each sum and product in it, in int32 */
bool index_leaves(IndexFacts f, const Expr *e);   /* one of them may not, whatever the sizes */
const Expr *index_widen(Ir *ir, IndexFacts f, const Expr *e); /* in int64, from the leaves up */
const Expr *index_mul(Ir *ir, const Expr *a, const Expr *b);    /* constants fold without loss */
const Expr *index_add(Ir *ir, const Expr *a, const Expr *b);

#endif
