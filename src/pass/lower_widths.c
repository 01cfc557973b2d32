/* lower_widths.c -- offsets in 32 bits where that is provably enough, in 64 bits elsewhere.
 *
 * needs   FORM_FLAT
 * gives   FORM_WIDTHS
 *
 * Index arithmetic is exact: the offset of an element of a large or run-time sized tensor is
 * computed in int64 from its leaves up, never widened after it may have wrapped. */
#include "pass/pass.h"
#include "ir/config.h"

typedef struct {
    Ir *ir;
    Facts *facts;
    int64_t bits; /* that every offset has; 0: as few as are enough */
} Widths;

static const Expr *widen(Ir *ir, const Expr *e)
{
    if (e->type == DT_I64)
        return e;
    if (e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL)
        return expr_binary(ir, (ExprOp)e->op, widen(ir, e->kid[0]), widen(ir, e->kid[1]));
    return expr_cast(ir, DT_I64, e);
}

static Bounds product(Bounds a, Bounds b) /* of numbers that fit int32 */
{
    int64_t c[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    Bounds r = {c[0], c[0]};

    for (int i = 1; i < 4; i++)
        r = (Bounds){MIN(r.lo, c[i]), MAX(r.hi, c[i])};
    return r;
}

/* Every intermediate sum and product fits int32: the true one, not what is left of it where it may
 * have wrapped (data times a stride). */
static bool fits(const Facts *f, const Expr *e)
{
    Bounds b = bounds_of(f, e);

    if (e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL) {
        if (!fits(f, e->kid[0]) || !fits(f, e->kid[1]))
            return false;
        Bounds x = bounds_of(f, e->kid[0]), y = bounds_of(f, e->kid[1]);
        Bounds sum = bounds_add(x, e->op == EX_SUB ? (Bounds){-y.hi, -y.lo} : y);
        Bounds t = e->op == EX_MUL ? product(x, y) : sum;
        if (b.lo == INT32_MIN && b.hi == INT32_MAX) /* all that is known is the type */
            b = t;
    }
    return b.lo >= INT32_MIN && b.hi <= INT32_MAX;
}

/* Of an access that happens where the guard (NULL: none) holds. */
static const Expr *choose(Widths *w, const Expr *at, const Expr *guard)
{
    if (at->type != DT_I32 || at->lanes != 1 || w->bits == 32)
        return at;
    if (w->bits == 64)
        return widen(w->ir, at);
    if (fits(w->facts, at))
        return at;
    int mark = facts_mark(w->facts);
    if (guard)
        facts_assume(w->facts, guard);
    bool fit = guard && fits(w->facts, at);
    facts_pop(w->facts, mark);
    return fit ? at : widen(w->ir, at);
}

static const Expr *choose_load(Ir *ir, const Expr *e, void *arg)
{
    if (e->op != EX_LOAD && e->op != EX_ADDR)
        return e;
    const Expr *kid[3] = {choose(arg, e->kid[0], e->guarded ? e->kid[1] : NULL)};
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
    if (s->kind == ST_STORE) {
        const Expr *at = choose(arg, s->u.store.at[0], s->u.store.guard);
        if (at != s->u.store.at[0])
            return stmt_store_as(ir, s, &at, 1, s->u.store.value, s->u.store.guard);
    }
    if (s->kind == ST_ATOMIC) {
        const Expr *at = choose(arg, s->u.atomic.at[0], NULL);
        if (at != s->u.atomic.at[0])
            return stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, &at, 1,
                               s->u.atomic.value, s->u.atomic.order, s->u.atomic.bind);
    }
    return s;
}

static bool know_range(const Stmt *s, void *arg)
{
    Widths *w = arg;
    if (s->kind == ST_FOR)
        facts_range(w->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    if (s->kind == ST_LET)
        facts_let(w->facts, s->u.let.var, s->u.let.value);
    return true;
}

void pass_lower_widths(Kernel *k)
{
    Widths w = {k->ir, facts_new(k->ir), config_int(k->func, CONFIG_config_index_bitwidth)};

    facts_kernel(w.facts, k);
    stmt_visit(k->body, know_range, &w); /* Vars are unique, so ranges never clash */
    k->body = stmt_map_expr(k->ir, k->body, choose_expr, &w);
    k->body = stmt_map(k->ir, k->body, choose_stmt, &w);
}
