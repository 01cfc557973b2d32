/* variant.c -- rows that are only known at run time to start at multiples of 16 bytes.
 *
 * Bulk tensor copies need strides of whole units, and so does cp.async that moves 16 bytes at a
 * time.  Of a tensor whose shape or strides are run-time dimensions that is a condition over them;
 * a kernel that gains such copies by it is made twice. */
#include "target/cuda/cuda.h"

enum { SRC, DST, UNIT = 16 };

typedef struct {
    Kernel *k;
    Facts *f;
    const Expr *cond; /* so far; NULL: none */
    int ncopy;        /* by whole units */
} Aligned;

static void want(Aligned *x, const Expr *n, int64_t by)
{
    Ir *ir = x->k->ir;
    int64_t known;
    Modular m = modular_of(x->f, n);

    if (expr_is_int(n, &known) || expr_has_load(n) || (m.coef % by == 0 && m.base % by == 0))
        return;
    const Expr *rest = expr_floormod(ir, n, expr_const(ir, n->type, by));
    const Expr *c = expr_binary(ir, EX_EQ, rest, expr_const(ir, n->type, 0));
    x->cond = x->cond ? expr_and(ir, x->cond, c) : c;
    facts_assume(x->f, c);
}

static bool is_tile_copy(const Stmt *s)
{
    return tile_does(s, TILE_COPIES) && s->u.tile.nregion == 2;
}

static bool see_tensor(const Stmt *s, void *arg)
{
    Aligned *x = arg;

    if (!is_tile_copy(s))
        return true;
    for (int side = SRC; side <= DST; side++) {
        const Buffer *b = s->u.tile.region[side].buf;
        int bits = dtype_bits(b->type);
        if (b->scope != MEM_GLOBAL || b->rank < 2 || bits < 8 || bits > UNIT * 8)
            continue;
        if (!b->stride)
            want(x, b->shape[b->rank - 1], UNIT * 8 / bits);
        for (int d = 0; b->stride && d < b->rank - 1; d++)
            want(x, b->stride[d], UNIT * 8 / bits);
    }
    return true;
}

static bool count_copies(const Stmt *s, void *arg)
{
    Aligned *x = arg;
    const char *why;

    if (!is_tile_copy(s))
        return true;
    bool fills = s->u.tile.region[SRC].buf->scope == MEM_GLOBAL &&
                 s->u.tile.region[DST].buf->scope == MEM_SHARED;
    x->ncopy += tma_plan(x->k, s, &why) ||
                (fills && copy_async_bytes(x->k, body_facts(x->k), &cuda_cp_async, s) == UNIT);
    return true;
}

const Expr *cuda_variant(Kernel *k)
{
    Aligned x = {.k = k, .f = kernel_facts(k)}, with = x;

    if (k->machine->level < 80 || k->uses_threads ||
        (k->func->dims.n == 0 && k->func->params.n == 0))
        return NULL;
    stmt_visit(k->body, see_tensor, &x);
    if (!x.cond)
        return NULL;
    stmt_visit(k->body, count_copies, &x);
    k->assume = x.cond;
    stmt_visit(k->body, count_copies, &with);
    k->assume = NULL;
    return with.ncopy > x.ncopy ? x.cond : NULL;
}
