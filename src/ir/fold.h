/* fold.h -- what the constructors of expr.c reduce at once; private to ir/. */
#ifndef TL_IR_FOLD_H
#define TL_IR_FOLD_H

#include "ir/ir.h"

/* Operands are promoted already.  NULL: nothing folds. */
const Expr *fold_binary(Ir *ir, ExprOp op, const Expr *a, const Expr *b);
const Expr *fold_unary(Ir *ir, ExprOp op, const Expr *a);
const Expr *fold_cast(Ir *ir, DType t, const Expr *a);
const Expr *fold_bitcast(Ir *ir, DType t, const Expr *a);
const Expr *fold_math(Ir *ir, MathFn fn, const Expr *const *arg);

#endif
