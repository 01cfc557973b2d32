/* divide.h -- floor division of linear forms; only for simplify.c. */
#ifndef TL_ARITH_DIVIDE_H
#define TL_ARITH_DIVIDE_H

#include "arith/arith.h"

/* a // c and a % c for simplified a and c != 0 in normal form; NULL where nothing is known. */
const Expr *divide_by(Ir *ir, const Facts *f, const Expr *a, int64_t c);
const Expr *modulo_by(Ir *ir, const Facts *f, const Expr *a, int64_t c);
/* Joins x // c * c + x % c and the like, then makes the expression; NULL if a constant does not
 * fit. */
const Expr *linear_finish(Ir *ir, const Facts *f, Linear *l, DType t);

#endif
