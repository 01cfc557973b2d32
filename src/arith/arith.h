/* arith.h -- integer reasoning: bounds, modular facts, normal forms, inverses, proofs.
 *
 * Asked in turn, cheap first; z3 (when present) is the last resort of prove.c and never changes
 * emitted code.  All of it is deterministic. */
#ifndef TL_ARITH_ARITH_H
#define TL_ARITH_ARITH_H

#include "ir/ir.h"

/* What is known where an expression stands: ranges of variables and facts that hold. */
typedef struct Facts Facts;
Facts *facts_new(Ir *ir);
void facts_range(Facts *f, const Var *v, const Expr *min, const Expr *extent); /* min <= v < min+extent */
void facts_assume(Facts *f, const Expr *cond);  /* T.assume, or the condition of an enclosing if */
int facts_mark(const Facts *f);                 /* scopes nest: mark, add, pop back */
void facts_pop(Facts *f, int mark);

/* bounds.c: constant bounds; INT64_MIN / INT64_MAX stand for unknown. */
typedef struct { int64_t lo, hi; } Bounds;
Bounds bounds_of(const Facts *f, const Expr *e);

/* modular.c: e = coef * x + base for some integer x; coef 0 means e is the constant base. */
typedef struct { int64_t coef, base; } Modular;
Modular modular_of(const Facts *f, const Expr *e);

/* simplify.c: a normal form; equal values usually become one pointer.  Float expressions are
 * touched only where the result is bit-equal. */
const Expr *simplify(Ir *ir, const Facts *f, const Expr *e);
const Stmt *simplify_stmt(Ir *ir, Facts *f, const Stmt *s); /* follows loops, ifs, lets for facts */
void simplify_kernel(Kernel *k);

/* affine.c: e = base + sum coef[i] * var[i], false if it is not of that form over `vars`. */
bool affine_of(Ir *ir, const Expr *e, Var *const *vars, int n, int64_t *coef, const Expr **base);

/* invert.c: is the map (vars in [0, extent)) -> exprs injective / onto the box `range`? Exact, by
 * algebra where it is a mixed-radix form and by enumeration otherwise. */
bool map_is_injective(Ir *ir, Var *const *vars, const int64_t *extent, int n, const Expr *const *out, int nout);
bool map_invert(Ir *ir, Var *const *vars, const int64_t *extent, int n, const Expr *const *out,
                int nout, Var *const *outvars, const Expr **inverse);

/* prove.c */
typedef enum { PROOF_NO, PROOF_YES, PROOF_UNKNOWN } Proof;
Proof prove(Ir *ir, const Facts *f, const Expr *cond);
bool prove_true(Ir *ir, const Facts *f, const Expr *cond); /* PROOF_YES */

/* Evaluate an integer expression with variables bound to numbers: values[var->id]. */
int64_t expr_eval(const Expr *e, const int64_t *values);

#endif
