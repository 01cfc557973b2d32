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
    bool paired;    /* some 64-bit integer does not fit in 32 bits */
    Map pairs;      /* Expr -> the pair of words that it is */
    Map plains;     /* Expr of another type -> the same without 64-bit integers in it */
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

/* b as words of 32 bits. */
Buffer *legal_words(Legal *l, Buffer *b);

/* ---- 64-bit integers (legalise_wide.c, legalise_pairs.c) ---- */
static inline bool is_wide(DType t) { return dtype_is_int(t) && dtype_bits(t) == 64; }
const Expr *wide_culprit(Legal *l, const Expr *x, bool exact);
const Expr *wide_narrowed(Legal *l, const Expr *x); /* of one that has no culprit */
const Stmt *lower_pairs(Legal *l, const Stmt *body);

/* All threads of the block must come by: barriers, and what lanes do together where no hardware has
 * lanes. */
bool legal_meets(const Kernel *k, const Stmt *s);
const Stmt *legal_barrier_in(const Kernel *k, const Stmt *s); /* such a one; NULL: there is none */

/* legalise_counts.c: refuses a barrier of some threads that others may come to elsewhere; roles. */
void legal_check_counts(Legal *l, Vary *vary, const Stmt *body);
const Stmt *legal_role(Ir *ir, const Stmt *s, void *l); /* for stmt_map */

#endif
