/* arith.h -- integer reasoning: bounds, modular facts, normal forms, inverses, proofs.
 *
 * Asked in turn, cheap first.  All of it is deterministic.
 *
 * Overflow.  An *index* is an int32 or int64 made of variables, constants and + - * // % min max
 * select: it is taken as a mathematical integer, as C compilers take signed overflow.  What comes
 * out of memory, of a cast, of a shift or of a bit operation is *data*, and so is a name for
 * something out of memory (Var.data): a sum or product with data in it is taken as mathematical
 * only where bounds prove that it stays within its type.  Unsigned
 * and narrow integers wrap, so only value identities are used on them.  Bounds are those of the
 * mathematical value, not clamped to the type: lower_widths asks whether 32 bits are enough. */
#ifndef TL_ARITH_ARITH_H
#define TL_ARITH_ARITH_H

#include "ir/ir.h"

/* What is known where an expression stands: ranges of variables and facts that hold. */
typedef struct Facts Facts;
Facts *facts_new(Ir *ir);
/* min <= v < min + extent */
void facts_range(Facts *f, const Var *v, const Expr *min, const Expr *extent);
/* The same of a loop wherever it is asked: that its last value is not before its first says nothing
 * outside of it, where it may not run at all. */
void facts_loop(Facts *f, const Var *v, const Expr *min, const Expr *extent);
void facts_assume(Facts *f, const Expr *cond);  /* T.assume, or the condition of an enclosing if */
void facts_let(Facts *f, Var *v, const Expr *value); /* v = value, if that says anything */
int facts_mark(const Facts *f);                 /* scopes nest: mark, add, pop back */
void facts_pop(Facts *f, int mark);
/* Blocks and threads of k are in range; inside a role its threads are. */
void facts_kernel(Facts *f, const Kernel *k);
/* A condition that holds where v is a name, asked anywhere. */
void facts_assume_of(Facts *f, const Var *v, const Expr *cond);
/* Of all names of a body: each means one thing, wherever it is seen. */
void facts_body(Facts *f, const Stmt *body);
void facts_name(Facts *f, const Stmt *s); /* of the one that s makes, if it makes one */
void facts_role(Facts *f, const Stmt *role);

/* from_end.c: A[-1 - i] becomes A[N - 1 - i]. */
void count_from_end(Kernel *k);

/* bounds.c: constant bounds; INT64_MIN / INT64_MAX stand for unknown. */
typedef struct { int64_t lo, hi; } Bounds;
Bounds bounds_of(const Facts *f, const Expr *e); /* f may be NULL here and below */
Bounds bounds_add(Bounds a, Bounds b);
Bounds bounds_scale(Bounds a, int64_t times);
Bounds bounds_of_type(DType t);
/* Is a sum or product equal to its mathematical value (the rule on overflow above)? */
bool expr_is_exact(const Facts *f, const Expr *e);
static inline bool bounds_known(Bounds b) { return b.lo != INT64_MIN && b.hi != INT64_MAX; }
static inline bool bounds_within(Bounds b, int64_t lo, int64_t hi)
{
    return b.lo >= lo && b.hi <= hi;
}
int64_t floor_div(int64_t a, int64_t b); /* b != 0 */
int64_t floor_mod(int64_t a, int64_t b);
int64_t gcd_of(int64_t a, int64_t b);    /* of magnitudes; gcd_of(0, b) = |b| */

/* modular.c: e = coef * x + base for some integer x; coef 0 means e is the constant base. */
typedef struct { int64_t coef, base; } Modular;
Modular modular_of(const Facts *f, const Expr *e);

/* affine.c: sums of coef * atom, atoms in a fixed order that depends on structure only. */
enum { TERMS_MOST = 24 };
typedef struct { const Expr *atom; int64_t coef; } Term;
typedef struct {
    int n;
    bool bad; /* too many terms, or a number left int64: hold nothing to it */
    int64_t base;
    Term t[TERMS_MOST];
} Linear;
void linear_term(Linear *l, const Expr *atom, int64_t coef);
void linear_const(Linear *l, int64_t c);
void linear_expr(Linear *l, const Expr *e, int64_t times);   /* l += times * e, through + - * neg */
void linear_sum(Linear *l, const Linear *m, int64_t times);  /* l += times * m */
int64_t linear_coef(const Linear *l, const Expr *atom);      /* 0 if absent */
int64_t linear_gcd(const Linear *l);                         /* of the coefficients, base apart */
Bounds linear_bounds(const Facts *f, const Linear *l);
Modular linear_modular(const Facts *f, const Linear *l);
const Expr *linear_make(Ir *ir, const Linear *l, DType t);   /* NULL if a constant does not fit t */
int expr_order(const Expr *a, const Expr *b);                /* total, structural */
bool expr_is_math(const Expr *e);                            /* a scalar int32 or int64 */

/* simplify.c: a normal form; equal values usually become one pointer.  Float expressions are
 * touched only where the result is bit-equal. */
const Expr *simplify(Ir *ir, const Facts *f, const Expr *e);
const Stmt *simplify_stmt(Ir *ir, Facts *f, const Stmt *s); /* follows loops, ifs, lets for facts */
void simplify_kernel(Kernel *k);

/* affine.c: e = base + sum coef[i] * var[i], false if it is not of that form over `vars`. */
bool affine_of(Ir *ir, const Expr *e, Var *const *vars, int n, int64_t *coef, const Expr **base);

/* invert.c: the map (vars in [0, extent)) -> out.  Both answers are exact: every point is visited.
 * map_invert finds expressions over outvars that give the point back on the image of the map; it
 * may fail on an injective map that is neither mixed-radix nor linear over bits. */
bool map_is_injective(Ir *ir, Var *const *vars, const int64_t *extent, int n,
                      const Expr *const *out, int nout);
bool map_invert(Ir *ir, Var *const *vars, const int64_t *extent, int n, const Expr *const *out,
                int nout, Var *const *outvars, const Expr **inverse);

/* apart.c: do different threads ever touch one element?  A site is known by its address. */
typedef struct {
    const Expr *const *at;
    int n;
    const Expr *cond; /* of threads that come by; NULL: all */
} ThreadSite;
typedef struct Apart Apart;
Apart *apart_new(const Kernel *k); /* by its body of now */
bool alike_for_threads(const Apart *a, const Expr *e); /* of blocks, sizes and scalars alone */
/* Whatever iterations of loops they are in, no two different threads of g touch one element, one
 * by x and the other by y. */
bool threads_apart(Apart *a, const ThreadSite *x, const ThreadSite *y, ThreadGroup g);
/* Likewise of threads in different parts of the block, `each` in a row. */
bool parts_apart(Apart *a, const ThreadSite *x, const ThreadSite *y, ThreadGroup g, int each);

/* prove.c */
typedef enum { PROOF_NO, PROOF_YES, PROOF_UNKNOWN } Proof;
Proof prove(Ir *ir, const Facts *f, const Expr *cond);
bool prove_true(Ir *ir, const Facts *f, const Expr *cond); /* PROOF_YES */
/* l >= 0 from bounds and the linear facts, by a few steps of elimination. */
bool prove_linear(const Facts *f, const Linear *l);

/* rules.c: rules as text; test/prove tries each by small numbers and by z3. */
typedef struct {
    const char *from, *to; /* x y z: int; p q: bool; c d: int constants */
    const char *when;      /* NULL: always */
} Rule;
extern const Rule rule_table[];
extern const int rule_count;
const Expr *rules_apply(Ir *ir, const Expr *e); /* e itself when none fits */

/* eval.c: evaluate an integer expression with variables bound to numbers: values[var->id].
 * Division by zero gives 0. */
int64_t expr_eval(const Expr *e, const int64_t *values);
/* The same, prepared for many points: arguments by position in `vars`. */
typedef struct ExprCode ExprCode;
const ExprCode *expr_compile(Ir *ir, Var *const *vars, int nvar, const Expr *const *e, int n);
void expr_run(const ExprCode *c, const int64_t *arg, int64_t *result);
/* Many points at a time: argument i of lane l is arg[i][l]. */
enum { EXPR_LANES = 32 };
void expr_run_lanes(const ExprCode *c, int64_t (*arg)[EXPR_LANES], int64_t (*result)[EXPR_LANES]);

/* facts.c, seen by the other files of this folder. */
typedef enum { FACT_VAR, FACT_LINEAR, FACT_COND } FactKind;
typedef struct {
    FactKind kind;
    const Var *var;     /* FACT_VAR: what is known of it, all earlier facts included */
    Bounds bounds;
    Modular modular;
    int prev;           /* earlier FACT_VAR of var + 1 */
    const Linear *lin;  /* FACT_LINEAR: lin >= 0 */
    const Var *of;      /* FACT_LINEAR: holds where this is a name; NULL: everywhere */
    const Expr *cond;   /* FACT_COND: holds */
} Fact;
struct Facts {
    Ir *ir;
    VEC(Fact) list;
    Map last; /* Var -> index of its latest FACT_VAR + 1; a list by number would cost as many words
               * as there are variables, in each of the many lists of facts */
    int nlinear;
    const Var *of;   /* what becomes known at the moment holds where this is a name */
    const Kernel *k; /* whose roles narrow the thread; NULL: not known */
};
const Fact *facts_of(const Facts *f, const Var *v); /* NULL if none */
/* Like facts_assume, also for conditions that read memory: they hold only where they stand. */
void facts_hold(Facts *f, const Expr *cond);
/* The same for a condition that is simplified already, or (holds false) for its opposite. */
void facts_hold_simple(Facts *f, const Expr *cond, bool holds);

/* The next point of a box, the last dimension quickest; false: that was the last, and `at` is the
 * first again. */
bool point_next(int n, const int64_t *extent, int64_t *at);

#endif
