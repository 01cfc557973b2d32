/* dialect.h -- how a language spells what the printer walks (target/print.h).
 *
 * The printer knows statements and expressions, how operators bind, and what integers and narrow
 * floats mean.  A Dialect says how its language writes them down; a language that is no C, with
 * types after names and casts that are calls, is another record.  What a language cannot say stands
 * in `lacks` and is lowered by legalise (legalise.c) before anything is printed.
 *
 * Texts with a $ are forms: $t is a type, $n a name, $0 $1 $2 are operands. */
#ifndef TL_TARGET_DIALECT_H
#define TL_TARGET_DIALECT_H

#include "ir/ir.h"

/* What a language may lack: legalise.def. */
enum {
#define LACK(id, fn, what) LACK_BIT_##id,
#include "target/legalise.def"
#undef LACK
};
enum {
#define LACK(id, fn, what) LACK_##id = 1u << LACK_BIT_##id,
#include "target/legalise.def"
#undef LACK
};

typedef struct Emit Emit;
typedef void EmitStmtFn(Emit *e, const Stmt *s);

typedef struct {
    const char *name;      /* of the language, for messages */
    uint32_t lacks;        /* LACK_ bits */

    /* ---- types and declarations ---- */
    const char *(*value_type)(DType t);   /* what a value is computed in */
    const char *(*storage_type)(DType t); /* what an element in memory is */
    const char *constant;  /* a name for a value, up to it: "const $t $n = " */
    const char *parted;    /* the same where it parts threads at barriers; NULL: constant */
    const char *variable;  /* the counter of a loop: "$t $n" */
    bool bound_apart;      /* the end of a loop gets its name before it, not in its head */
    bool wide_ints;        /* integers of every type are computed in 64 bits */

    /* ---- values ---- */
    const char *cast;      /* "($t)$0" */
    const char *select;    /* condition, if so, if not: "($0 ? $1 : $2)" */
    const char *drop;      /* before an expression whose value nobody wants: "(void)" */
    bool wraps;            /* its own integer arithmetic wraps; false: by way of unsigned */
    const char *pair;      /* makes one of two words, for 64-bit integers; NULL: it has none */
    bool part_atomics;     /* atomics on 16-bit floats and narrow integers in words by itself */
    bool eager;            /* conditions are joined as bits: && and || would branch */
    bool strict;           /* no operand is converted by itself; counts of shifts are uint32 */
    const char *truth[2];  /* "0", "1" */
    void (*integer)(Str *out, DType t, int64_t v); /* NULL: as in C */
    const char *float_end[2];                      /* after a number of 32 and of 64 bits */
    const char *nan_f32, *inf_f32, *nan_f64, *inf_f64;
    const char *const *math_f32, *const *math_f64; /* by MathFn */
    const char *popcount[2], *ffs[2];              /* of 32 and of 64 bits */
    const char *fns;
    const char *ldg;        /* through the cache for constant data; NULL: a load like any other */
    const char *neg_i16;    /* -x of 16 bits; NULL: its own, wrapped */
    bool half_ops;          /* tl_add_f16, tl_sub_f16, tl_mul_f16 of the bits of halves */
    const char *above_zero; /* max(x, 0) of 32 bits; NULL: the maximum will do */
    const char *and_or;     /* (x & a) | b of 32 bits, a and b constants; NULL: as two operators */

    /* ---- places and statements that it does in a way of its own ---- */
    /* An index of a tile of n elements that is not known to lie inside.  NULL: it is trusted. */
    void (*index)(Emit *e, const Buffer *b, const Expr *at, int64_t n);
    /* An element of memory that is not read as name[index]; false: it is. */
    bool (*element)(Emit *e, const Buffer *b, const Expr *at);
    /* Whether narrow elements lie in a type of the language; NULL: legalise puts them in words. */
    bool (*typed)(const Emit *e, const Buffer *b);
    /* The number that such an element of a narrow float is, read in a way of its own; false: as
     * tl_T_to_f32 of the element. */
    bool (*decoded)(Emit *e, const Buffer *b, const Expr *at);
    bool (*own)(Emit *e, const Stmt *s);         /* printed here; false: like the others */
    void (*declare)(Emit *e, const Buffer *b);   /* a buffer over an address, once that is known */
    EmitStmtFn *fail;                            /* what a failed assertion does */
    bool tests_facts;                            /* T.assume is an assertion too */
    EmitStmtFn *loop, *store;                    /* NULL: plain ones */
    EmitStmtFn *atomic, *call, *instr, *role, *launch; /* NULL: it has none */
} Dialect;

/* What is the same in every C. */
#define DIALECT_C                                                                                  \
    .storage_type = c_storage_type, .variable = "$t $n", .cast = "($t)$0",                         \
    .select = "($0 ? $1 : $2)", .drop = "(void)", .truth = {"0", "1"}, .float_end = {"f", ""}

#endif
