/* verify.h -- what the two halves of the verifier share: verify.c walks, verify_forms.c knows
 * forms. */
#ifndef TL_PASS_VERIFY_H
#define TL_PASS_VERIFY_H

#include "pass/pass.h"

typedef struct Verify Verify;
typedef void FormStmtFn(Verify *v, const Stmt *s);
typedef void FormExprFn(Verify *v, const Expr *e);

struct Verify {
    Kernel *k;
    const char *after;
    Arena *arena;
    Map scope;             /* Var -> definitions open now, as a number */
    VEC(const Var *) open; /* in order of definition */
    Map buffers;
    const Stmt *at;
    const Stmt *role;      /* around the statement; NULL: none */
    int loops;             /* around the statement */
    FormStmtFn *form_stmt[32]; /* of the forms that it claims */
    FormExprFn *form_expr[32];
    int nform_stmt, nform_expr;
};

NORETURN void offence(Verify *v, const char *fmt, ...) PRINTF(2, 3);
void verify_forms_kernel(Verify *v); /* checks plans, and says what to ask of statements */

#endif
