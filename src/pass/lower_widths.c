/* lower_widths.c -- offsets in 32 bits where that is provably enough, in 64 bits elsewhere.
 *
 * needs   FORM_FLAT
 * gives   FORM_WIDTHS
 *
 * Index arithmetic is exact: the offset of an element of a large or run-time sized tensor is
 * computed in int64 from its leaves up, never widened after it may have wrapped. */
#include "pass/pass.h"
#include "pass/lower_exact.h"
#include "ir/config.h"

typedef struct {
    Kernel *k;
    Ir *ir;
    IndexFacts facts;
    int64_t bits; /* that every offset has; 0: as few as are enough */
} Widths;

/* In 32 bits throughout, where the kernel says that all fits. */
static const Expr *narrow(Ir *ir, const Expr *e)
{
    int64_t v;

    if (e->type == DT_I32)
        return e;
    if (expr_is_int(e, &v) && v >= INT32_MIN && v <= INT32_MAX)
        return expr_int(ir, v);
    if (e->op == EX_CAST && e->kid[0]->type == DT_I32)
        return e->kid[0];
    if (e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL)
        return expr_binary(ir, (ExprOp)e->op, narrow(ir, e->kid[0]), narrow(ir, e->kid[1]));
    return expr_cast(ir, DT_I32, e);
}

/* Is it certain that an offset of b does not fit, whatever the kernel says? */
static bool is_too_large(Widths *w, const Buffer *b)
{
    bool is = buffer_static_size(buffer_root(b)) > INT32_MAX;
    if (is)
        diag_ignored(w->k->diag, w->k->span, "tl.config_index_bitwidth=32",
                     "'%s' has more elements than that, and its offsets 64 bits [ignored]",
                     b->name);
    return is;
}

/* Of an access of b that happens where the guard (NULL: none) holds. */
static const Expr *choose(Widths *w, const Buffer *b, const Expr *at, const Expr *guard)
{
    bool is_int = (at->type == DT_I32 || at->type == DT_I64) && at->lanes == 1;

    if (dtype_bits(at->type) < 32 && at->lanes == 1) /* an element of uint8, say, as it is */
        return expr_cast(w->ir, DT_I32, at);
    if (is_int && w->bits == 32 && !is_too_large(w, b))
        return narrow(w->ir, at);
    if (at->type != DT_I32 || at->lanes != 1)
        return at;
    if (w->bits == 0 && b->scope != MEM_GLOBAL) /* what lies in a tile has an offset of 32 bits */
        return at;
    if (w->bits == 64)
        return index_widen(w->ir, w->facts, at);
    if (index_fits(w->facts.all, at))
        return at;
    int mark = facts_mark(w->facts.all);
    if (guard)
        facts_assume(w->facts.all, guard);
    bool fit = guard && index_fits(w->facts.all, at);
    facts_pop(w->facts.all, mark);
    return fit ? at : index_widen(w->ir, w->facts, at);
}

static const Expr *choose_load(Ir *ir, const Expr *e, void *arg)
{
    if (e->op != EX_LOAD && e->op != EX_ADDR)
        return e;
    const Expr *kid[3] = {choose(arg, e->u.buf, e->kid[0], e->guarded ? e->kid[1] : NULL)};
    for (int i = 1; i < e->nkid; i++)
        kid[i] = e->kid[i];
    return expr_with_kids(ir, e, kid);
}

static const Expr *choose_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, choose_load, arg);
}

static const Stmt *choose_stmt(Ir *ir, const Stmt *s, void *arg)
{
    int n;
    const Expr *const *from = stmt_indices(s, &n);

    if (!from)
        return s;
    const Expr *at =
        choose(arg, stmt_stores(s), from[0], s->kind == ST_STORE ? s->u.store.guard : NULL);
    return at != from[0] ? stmt_reindex(ir, s, &at, 1) : s;
}

void pass_lower_widths(Kernel *k)
{
    Widths w = {k, k->ir, index_facts(k), config_int(k->func, CONFIG_config_index_bitwidth)};

    k->body = stmt_map_expr(k->ir, k->body, choose_expr, &w);
    k->body = stmt_map(k->ir, k->body, choose_stmt, &w);
}
