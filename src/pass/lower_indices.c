/* lower_indices.c -- n-dimensional accesses become (buffer, element offset).
 *
 * needs   FORM_GUARDED     guards speak of the n-d indices and are kept as they are
 * gives   FORM_FLAT
 * breaks  FORM_SIMPLE
 *
 * Tensors use their strides, on-chip buffers the layout that plan_layouts gave them.  Regions of
 * instructions stay logical: the instruction knows its operand's layout. */
#include "pass/pass.h"
#include "pass/lower_exact.h"

typedef struct {
    Kernel *k;
    IndexFacts facts;
} Flatten;

static const Expr *row_major(Ir *ir, const Buffer *b, const Expr *const *at)
{
    const Expr *r = at[0];
    for (int d = 1; d < b->rank; d++)
        r = index_add(ir, index_mul(ir, r, b->shape[d]), at[d]);
    return r;
}

static const Expr *strided(Ir *ir, const Buffer *b, const Expr *const *at)
{
    const Expr *r = index_mul(ir, at[0], b->stride[0]);
    for (int d = 1; d < b->rank; d++)
        r = index_add(ir, r, index_mul(ir, at[d], b->stride[d]));
    return r;
}

static const Expr *offset_of(Flatten *f, const Buffer *b, const Expr *const *at)
{
    Ir *ir = f->k->ir;

    if (b->rank == 0)
        return expr_int(ir, 0);
    const Layout *l = b->scope == MEM_GLOBAL ? NULL : buffer_plan(f->k, b)->layout;
    if (l && !b->stride)
        return layout_offset(ir, l, at);
    const Expr *r = b->stride ? strided(ir, b, at) : row_major(ir, b, at);
    return index_leaves(f->facts, r) ? index_widen(ir, f->facts, r) : r;
}

static const Expr *flatten_load(Ir *ir, const Expr *e, void *arg)
{
    if (e->op != EX_LOAD && e->op != EX_ADDR)
        return e;
    const Expr *at = offset_of(arg, e->u.buf, e->kid);
    int n = expr_nindex(e);
    if (e->op == EX_ADDR)
        return expr_addr(ir, e->u.buf, &at, 1);
    return e->guarded ? expr_load_guarded(ir, e->u.buf, &at, 1, e->kid[n], e->kid[n + 1])
                      : expr_load(ir, e->u.buf, &at, 1);
}

static const Expr *flatten_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_has_load(e) || e->op == EX_ADDR || e->nkid ? expr_map(ir, e, flatten_load, arg) : e;
}

static const Stmt *flatten_stmt(Ir *ir, const Stmt *s, void *arg)
{
    int n;
    const Expr *const *from = stmt_indices(s, &n);

    if (!from)
        return s;
    const Expr *at = offset_of(arg, stmt_stores(s), from);
    return stmt_reindex(ir, s, &at, 1);
}

void pass_lower_indices(Kernel *k)
{
    Flatten f = {k, index_facts(k)};

    /* Indices first: a store's own index may hold loads. */
    k->body = stmt_map_expr(k->ir, k->body, flatten_expr, &f);
    k->body = stmt_map(k->ir, k->body, flatten_stmt, &f);
}
