/* legalise.h -- lower what a dialect lacks, before it is printed; shared by its files. */
#ifndef TL_TARGET_LEGALISE_H
#define TL_TARGET_LEGALISE_H

#include "target/print.h"

typedef struct {
    Emit *e;
    Ir *ir;
    uint32_t lacks; /* what this row lowers: LACK_ bits */
    Map vars;       /* Var -> the one of 32 bits in its place */
    Map bufs;       /* Buffer -> its view as words */
    Map done;       /* Expr -> what it becomes */
    Span at;        /* of the statement at hand */
} Legal;

typedef const Stmt *LowerFn(Legal *l, const Stmt *body);
#define LACK(id, fn, what) LowerFn fn;
#include "target/legalise.def"
#undef LACK

/* "… needs 64-bit integers, which WGSL lacks" */
NORETURN void legal_refuse(Legal *l, const char *what);
/* A variable of a type that is lowered is one of int32 from here on. */
const Expr *legal_var(Legal *l, Var *v);
const Stmt *legal_bind(Ir *ir, const Stmt *s, void *l); /* for stmt_map: what binds such a one */

/* All threads of the block must come by: barriers, and what lanes do together where no hardware has
 * lanes. */
bool legal_meets(const Kernel *k, const Stmt *s);
const Stmt *legal_barrier_in(const Kernel *k, const Stmt *s); /* such a one; NULL: there is none */

#endif
