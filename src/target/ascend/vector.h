/* vector.h -- a loop that becomes instructions of the vector unit: shared by vector.c and
 * vector_expr.c. */
#ifndef TL_TARGET_ASCEND_VECTOR_H
#define TL_TARGET_ASCEND_VECTOR_H

#include "target/ascend/ascend.h"

enum { MASK_STEP = 64 }; /* elements that masks are made of at a time */

typedef struct {
    bool vector;      /* else a scalar */
    const char *text; /* of a tensor, or of a number */
    char type;        /* 'f', 'i', 'm' */
    int place;        /* of a vector; -1: none */
    bool temp;        /* to be given back */
} Operand;

typedef struct {
    Ascend *a;
    Var *v;
    const Expr *n; /* elements */
    int64_t most;
    const char *count; /* text of n */
    int64_t grow;      /* temporaries have this many elements: whole masks */
    Map lets;          /* Var -> Operand */
    bool bad;          /* something has no instruction */
    bool maybe;        /* under a condition that is not known to hold */
} Vec;

Operand vector_eval(Vec *v, const Expr *x);
Operand vector_eval_bare(Vec *v, const Expr *x); /* not yet rounded to a narrow type */
bool vector_moves(const Vec *v, const Expr *x);  /* it differs from element to element */
const Expr *vector_row(Vec *v, const Expr *at);  /* base, base + 1, …; NULL: they are not */
const char *vector_at(Vec *v, const char *name, const Expr *base);
char vector_view(DType t); /* the letter of temporaries of that type; 0: there are none */
bool vector_touches(const Expr *x, void *arg); /* it reads memory */
Operand vector_temp(Vec *v, char type);
void vector_give(Vec *v, const Operand *o);
Node *vector_op(Vec *v, Pipe p, const char *fmt, ...) PRINTF(3, 4);

#endif
