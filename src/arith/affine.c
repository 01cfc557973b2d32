/* affine.c -- sums of coef * atom + base.
 *
 * An atom is anything but a sum, a difference or a product with a constant: a variable, a load,
 * x // d, x % m, a product of unknowns.  Terms are kept sorted by expr_order, which looks at
 * structure only, so equal sums become equal expressions whatever order they were written in. */
#include "arith/arith.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* The variable furthest to the left stands for a term: it keeps i * 8 + i // 4 together and puts
 * outer loops, whose variables were made first, before inner ones. */
static int leading_var(const Expr *e)
{
    if (e->op == EX_VAR)
        return e->u.var->order;
    for (int i = 0; i < e->nkid; i++) {
        int v = leading_var(e->kid[i]);
        if (v != INT32_MAX)
            return v;
    }
    return INT32_MAX;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int payload_order(const Expr *a, const Expr *b)
{
    switch (a->op) {
    case EX_INT:
        return compare(a->u.i, b->u.i);
    case EX_FLOAT:
        return memcmp(&a->u.f, &b->u.f, sizeof a->u.f);
    case EX_STR:
    case EX_EXTERN:
        return strcmp(a->u.text, b->u.text);
    case EX_VAR:
        return compare(a->u.var->order, b->u.var->order);
    case EX_LOAD:
    case EX_ADDR:
        return compare(a->u.buf->id, b->u.buf->id);
    case EX_MATH:
        return compare(a->u.fn, b->u.fn);
    default:
        return 0;
    }
}

int expr_order(const Expr *a, const Expr *b)
{
    int order;
    if (a == b)
        return 0;
    if ((order = compare(leading_var(a), leading_var(b))) || (order = compare(a->op, b->op)) ||
        (order = compare(a->type, b->type)) || (order = compare(a->lanes, b->lanes)) ||
        (order = compare(a->nkid, b->nkid)) || (order = compare(a->guarded, b->guarded)) ||
        (order = payload_order(a, b)))
        return order;
    for (int i = 0; i < a->nkid; i++) {
        if ((order = expr_order(a->kid[i], b->kid[i])))
            return order;
    }
    return 0;
}

/* ---- building -------------------------------------------------------------------------------- */

void linear_const(Linear *l, int64_t c)
{
    l->bad |= __builtin_add_overflow(l->base, c, &l->base);
}

void linear_term(Linear *l, const Expr *atom, int64_t coef)
{
    if (coef == 0 || l->bad)
        return;
    int i = 0, order = -1;
    while (i < l->n && (order = expr_order(l->t[i].atom, atom)) < 0)
        i++;
    if (i < l->n && order == 0) {
        l->bad |= __builtin_add_overflow(l->t[i].coef, coef, &l->t[i].coef);
        if (l->t[i].coef == 0)
            memmove(&l->t[i], &l->t[i + 1], sizeof(Term) * (size_t)(--l->n - i));
        return;
    }
    if (l->n == TERMS_MOST) {
        l->bad = true;
        return;
    }
    memmove(&l->t[i + 1], &l->t[i], sizeof(Term) * (size_t)(l->n++ - i));
    l->t[i] = (Term){atom, coef};
}

static int64_t times_or_bad(Linear *l, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) {
        l->bad = true;
        return 0;
    }
    return r;
}

void linear_sum(Linear *l, const Linear *m, int64_t times)
{
    l->bad |= m->bad;
    linear_const(l, times_or_bad(l, m->base, times));
    for (int i = 0; i < m->n && !l->bad; i++)
        linear_term(l, m->t[i].atom, times_or_bad(l, m->t[i].coef, times));
}

void linear_expr(Linear *l, const Expr *e, int64_t times)
{
    int64_t v;
    if (l->bad)
        return;
    if (expr_is_int(e, &v)) {
        linear_const(l, times_or_bad(l, v, times));
    } else if (e->op == EX_ADD || e->op == EX_SUB) {
        linear_expr(l, e->kid[0], times);
        linear_expr(l, e->kid[1], e->op == EX_ADD ? times : times_or_bad(l, times, -1));
    } else if (e->op == EX_NEG) {
        linear_expr(l, e->kid[0], times_or_bad(l, times, -1));
    } else if (e->op == EX_MUL && expr_is_int(e->kid[1], &v)) {
        linear_expr(l, e->kid[0], times_or_bad(l, times, v));
    } else if (e->op == EX_MUL && expr_is_int(e->kid[0], &v)) {
        linear_expr(l, e->kid[1], times_or_bad(l, times, v));
    } else {
        linear_term(l, e, times);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

int64_t linear_coef(const Linear *l, const Expr *atom)
{
    for (int i = 0; i < l->n; i++) {
        if (l->t[i].atom == atom)
            return l->t[i].coef;
    }
    return 0;
}

int64_t linear_gcd(const Linear *l)
{
    int64_t g = 0;
    for (int i = 0; i < l->n; i++)
        g = gcd_of(g, l->t[i].coef);
    return g;
}

Bounds linear_bounds(const Facts *f, const Linear *l)
{
    Bounds b = {l->base, l->base};
    if (l->bad)
        return (Bounds){INT64_MIN, INT64_MAX};
    for (int i = 0; i < l->n; i++)
        b = bounds_add(b, bounds_scale(bounds_of(f, l->t[i].atom), l->t[i].coef));
    return b;
}

/* ---- back to an expression ------------------------------------------------------------------- */

static bool fits(DType t, int64_t v)
{
    return t == DT_I64 || (v >= INT32_MIN && v <= INT32_MAX);
}

static const Expr *scaled(Ir *ir, const Expr *atom, int64_t coef, DType t)
{
    return coef == 1 ? atom : expr_binary(ir, EX_MUL, atom, expr_const(ir, t, coef));
}

/* Positive terms first, then the constant if that spares a leading minus, then the rest. */
const Expr *linear_make(Ir *ir, const Linear *l, DType t)
{
    const Expr *e = NULL;
    int64_t base = l->base;
    if (l->bad || !fits(t, base) || base == INT64_MIN)
        return NULL;
    for (int i = 0; i < l->n; i++) {
        if (!fits(t, l->t[i].coef) || l->t[i].coef == INT64_MIN)
            return NULL;
        if (l->t[i].coef > 0) {
            const Expr *term = scaled(ir, l->t[i].atom, l->t[i].coef, t);
            e = e ? expr_add(ir, e, term) : term;
        }
    }
    if (!e && base != 0) {
        e = expr_const(ir, t, base);
        base = 0;
    }
    for (int i = 0; i < l->n; i++) {
        int64_t c = l->t[i].coef;
        if (c >= 0)
            continue;
        if (e)
            e = expr_sub(ir, e, scaled(ir, l->t[i].atom, -c, t));
        else
            e = c == -1 ? expr_unary(ir, EX_NEG, l->t[i].atom) : scaled(ir, l->t[i].atom, c, t);
    }
    if (!e)
        return expr_const(ir, t, 0);
    if (base > 0)
        e = expr_add(ir, e, expr_const(ir, t, base));
    else if (base < 0)
        e = expr_sub(ir, e, expr_const(ir, t, -base));
    return e;
}

/* ---- over given variables -------------------------------------------------------------------- */

bool affine_of(Ir *ir, const Expr *e, Var *const *vars, int n, int64_t *coef, const Expr **base)
{
    Linear l = {0}, rest = {0};
    DType t = (DType)e->type;
    e = simplify(ir, NULL, e);
    linear_expr(&l, e, 1);
    rest.base = l.base;
    for (int v = 0; v < n; v++)
        coef[v] = 0;
    for (int i = 0; i < l.n; i++) {
        const Expr *atom = l.t[i].atom;
        bool taken = false;
        for (int v = 0; v < n && !taken; v++) {
            if (atom->op == EX_VAR && atom->u.var == vars[v]) {
                coef[v] = l.t[i].coef;
                taken = true;
            } else if (expr_uses_var(atom, vars[v])) {
                return false;
            }
        }
        if (!taken)
            linear_term(&rest, atom, l.t[i].coef);
    }
    if (l.bad || !expr_is_exact(NULL, e))
        return false;
    *base = linear_make(ir, &rest, t);
    return *base != NULL;
}
