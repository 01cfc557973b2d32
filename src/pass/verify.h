/* verify.h -- the body against the forms it claims: verify.c walks, verify_forms.c knows forms. */
#ifndef TL_PASS_VERIFY_H
#define TL_PASS_VERIFY_H

#include "pass/pass.h"

/* Check the body against the forms it claims; an offence is our bug, named with `after`.
 * verify_promise tries what takes a proof, of the forms that a pass has just given. */
void verify_kernel(Kernel *k, const char *after);
void verify_promise(Kernel *k, uint32_t gives, const char *after);

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
    Map ranges;            /* Var -> the first loop over it */
    const Stmt *at;
    const Stmt *role;      /* around the statement; NULL: none */
    int loops;             /* around the statement */
    FormStmtFn *form_stmt[32]; /* of the forms that it claims */
    FormExprFn *form_expr[32];
    int nform_stmt, nform_expr;
};

NORETURN void offence(Verify *v, const char *fmt, ...) PRINTF(2, 3);
void verify_forms_kernel(Verify *v); /* checks plans, and says what to ask of statements */
void verify_synced(Verify *v);       /* verify_synced.c */

#endif
