/* prove.c -- is a condition always true, always false, or not known?
 *
 * In turn: the normal form (bounds, residues and facts take part there), and a deeper search over
 * the linear facts.
 *
 * The search proves l >= 0 by taking known facts f >= 0 away: if a*l - b*f > -a with a, b > 0 then
 * l > -1, and l is an integer.  Quotients, min and max bring facts of their own. */
#include "arith/arith.h"

enum { DEPTH_QUICK = 2, STEPS_QUICK = 40, DEPTH_LONG = 4, STEPS_LONG = 600 };

static bool search(const Facts *f, const Linear *l, int depth, int *steps);

/* Is what is to be proven about this name?  Then it stands where that is one. */
static bool is_about(const Linear *l, const Var *v)
{
    for (int i = 0; v && i < l->n; i++)
        if (expr_uses_var(l->t[i].atom, v))
            return true;
    return v == NULL;
}

/* Take enough of `fact` away to cancel a term of l that it shares with the same sign. */
static bool without(const Facts *f, const Linear *l, const Linear *fact, int depth, int *steps)
{
    for (int i = 0; i < fact->n; i++) {
        int64_t x = linear_coef(l, fact->t[i].atom), y = fact->t[i].coef;
        if (x == 0 || (x > 0) != (y > 0))
            continue;
        int64_t g = gcd_of(x, y);
        Linear m = {0};
        int64_t a = (y < 0 ? -y : y) / g;
        linear_sum(&m, l, a);
        linear_const(&m, a - 1);
        linear_sum(&m, fact, -((x < 0 ? -x : x) / g));
        if (search(f, &m, depth - 1, steps))
            return true;
    }
    return false;
}

/* l with one of its atoms replaced. */
static Linear replaced(const Linear *l, int i, const Expr *by)
{
    Linear m = *l;
    linear_term(&m, l->t[i].atom, -l->t[i].coef);
    linear_expr(&m, by, l->t[i].coef);
    return m;
}

static bool by_cases(const Facts *f, const Linear *l, int i, const Expr *a, const Expr *b,
                     int depth, int *steps)
{
    if (!expr_is_exact(f, a) || !expr_is_exact(f, b))
        return false;
    Linear x = replaced(l, i, a), y = replaced(l, i, b);
    return search(f, &x, depth - 1, steps) && search(f, &y, depth - 1, steps);
}

static bool by_either(const Facts *f, const Linear *l, int i, const Expr *a, const Expr *b,
                      int depth, int *steps)
{
    if (!expr_is_exact(f, a) || !expr_is_exact(f, b))
        return false;
    Linear x = replaced(l, i, a), y = replaced(l, i, b);
    return search(f, &x, depth - 1, steps) || search(f, &y, depth - 1, steps);
}

/* u - c*(u // c) is in [0, c), in narrower bounds where residues of u are known. */
static Bounds remainder_bounds(const Facts *f, const Expr *u, int64_t c)
{
    Modular m = modular_of(f, u);
    int64_t g = gcd_of(m.coef, c), low = floor_mod(m.base, g);
    return (Bounds){low, c - g + low};
}

static bool by_quotient(const Facts *f, const Linear *l, int i, int depth, int *steps)
{
    const Expr *q = l->t[i].atom;
    int64_t c;
    if (!expr_is_int(q->kid[1], &c) || c <= 0 || !expr_is_exact(f, q->kid[0]))
        return false;
    Linear fact = {0};
    Bounds r = remainder_bounds(f, q->kid[0], c);
    int64_t sign = l->t[i].coef > 0 ? -1 : 1; /* needed: a lower or an upper bound of q */
    linear_expr(&fact, q->kid[0], sign);
    linear_term(&fact, q, -sign * c);
    linear_const(&fact, sign < 0 ? r.hi : -r.lo);
    return !fact.bad && without(f, l, &fact, depth, steps);
}

static bool by_atom(const Facts *f, const Linear *l, int i, int depth, int *steps)
{
    const Expr *e = l->t[i].atom;
    bool up = l->t[i].coef > 0;
    switch (e->op) {
    case EX_FLOORDIV:
        return by_quotient(f, l, i, depth, steps);
    case EX_MIN:
        return up ? by_cases(f, l, i, e->kid[0], e->kid[1], depth, steps)
                  : by_either(f, l, i, e->kid[0], e->kid[1], depth, steps);
    case EX_MAX:
        return up ? by_either(f, l, i, e->kid[0], e->kid[1], depth, steps)
                  : by_cases(f, l, i, e->kid[0], e->kid[1], depth, steps);
    case EX_SELECT:
    case EX_IF:
        return by_cases(f, l, i, e->kid[1], e->kid[2], depth, steps);
    default:
        return false;
    }
}

static bool search(const Facts *f, const Linear *l, int depth, int *steps)
{
    if (l->bad || --*steps < 0)
        return false;
    if (linear_bounds(f, l).lo >= 0)
        return true;
    if (depth == 0)
        return false;
    for (int i = 0; f && f->nlinear > 0 && i < f->list.n; i++) {
        const Fact *t = &f->list.at[i];
        if (t->kind == FACT_LINEAR && is_about(l, t->of) && without(f, l, t->lin, depth, steps))
            return true;
    }
    for (int i = 0; i < l->n; i++) {
        if (by_atom(f, l, i, depth, steps))
            return true;
    }
    return false;
}

bool prove_linear(const Facts *f, const Linear *l)
{
    int steps = STEPS_QUICK;
    return search(f, l, DEPTH_QUICK, &steps);
}

static bool prove_long(const Facts *f, const Linear *l)
{
    int steps = STEPS_LONG;
    return search(f, l, DEPTH_LONG, &steps);
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* l = b - a, or a - b for > and >= */
static bool difference(const Facts *f, const Expr *e, Linear *l)
{
    const Expr *a = e->kid[0], *b = e->kid[1];
    bool swap = e->op == EX_GT || e->op == EX_GE;
    if (!expr_is_math(a) || !expr_is_exact(f, a) || !expr_is_exact(f, b))
        return false;
    linear_expr(l, b, swap ? -1 : 1);
    linear_expr(l, a, swap ? 1 : -1);
    return !l->bad;
}

static bool is_at_least(const Facts *f, const Linear *l, int64_t sign, int64_t least)
{
    Linear m = {0};
    linear_sum(&m, l, sign);
    linear_const(&m, -least);
    return prove_long(f, &m);
}

static Proof prove_comparison(const Facts *f, const Expr *e)
{
    Linear l = {0};
    if (!difference(f, e, &l))
        return PROOF_UNKNOWN;
    bool strict = e->op == EX_LT || e->op == EX_GT;
    if (e->op == EX_EQ || e->op == EX_NE) {
        bool equal = is_at_least(f, &l, 1, 0) && is_at_least(f, &l, -1, 0);
        bool apart = is_at_least(f, &l, 1, 1) || is_at_least(f, &l, -1, 1);
        if (equal || apart)
            return equal == (e->op == EX_EQ) ? PROOF_YES : PROOF_NO;
        return PROOF_UNKNOWN;
    }
    if (is_at_least(f, &l, 1, strict))
        return PROOF_YES;
    return is_at_least(f, &l, -1, 1 - strict) ? PROOF_NO : PROOF_UNKNOWN;
}

static Proof visit(const Facts *f, const Expr *e)
{
    Proof a, b;
    int64_t v;
    if (expr_is_int(e, &v))
        return v ? PROOF_YES : PROOF_NO;
    switch (e->op) {
    case EX_AND:
    case EX_OR: {
        Proof decides = e->op == EX_AND ? PROOF_NO : PROOF_YES;
        a = visit(f, e->kid[0]);
        b = visit(f, e->kid[1]);
        if (a == decides || b == decides)
            return decides;
        return a == PROOF_UNKNOWN ? a : b;
    }
    case EX_NOT:
        a = visit(f, e->kid[0]);
        return a == PROOF_UNKNOWN ? a : a == PROOF_YES ? PROOF_NO : PROOF_YES;
    case EX_EQ:
    case EX_NE:
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE:
        return prove_comparison(f, e);
    default:
        return PROOF_UNKNOWN;
    }
}

Proof prove(Ir *ir, const Facts *f, const Expr *cond)
{
    return visit(f, simplify(ir, f, cond));
}

bool prove_true(Ir *ir, const Facts *f, const Expr *cond)
{
    return prove(ir, f, cond) == PROOF_YES;
}
