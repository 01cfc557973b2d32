/* divide.c -- floor division and remainder of linear forms by a constant.
 *
 * With c > 0 and l = c*q + r split by divisible coefficients:
 *
 *     l // c = q + r // c                        l % c = r % c
 *     (g*a + b) // (g*m) = a // m                (g*a + b) % (g*m) = g*(a % m) + b      0 <= b < g
 *     (y + x // a) // c = (a*y + x) // (a*c)     (x % (c*m)) // c = x // c % m
 *     (k*(x % a) + y) % c = (k*x + y) % c        when c divides k*a, and only then
 *
 * so quotients and remainders end as digits x // d % m.  linear_finish puts digits back together:
 *
 *     m*(x // (d*m)) + x // d % m = x // d       d*(x // d % m) + x % d = x % (d*m)
 *     x - c*(x // c) = x % c                     c*(x // c) = x - k   when x % c = k is known
 *
 * All of it holds for every integer; where a sum may wrap (data) it is not taken apart, and none
 * that may is made. */
#include "arith/divide.h"

enum { NESTED_MOST = 8 };

static const Expr *div_linear(Ir *ir, const Facts *f, Linear *l, int64_t c, DType t, int depth);
static const Expr *mod_linear(Ir *ir, const Facts *f, Linear *l, int64_t c, DType t, int depth);

static bool const_divisor(const Expr *e, ExprOp op, int64_t *c)
{
    return e->op == op && expr_is_math(e) && expr_is_int(e->kid[1], c) && *c > 0;
}

/* The sum in `e`, or e itself as one term where the sum may have wrapped. */
static void linear_value(const Facts *f, Linear *l, const Expr *e, int64_t times)
{
    if (expr_is_exact(f, e))
        linear_expr(l, e, times);
    else
        linear_term(l, e, times);
}

static void divide_terms(Linear *l, int64_t g)
{
    for (int i = 0; i < l->n; i++)
        l->t[i].coef /= g;
    l->base = floor_div(l->base, g);
}

/* l = a + b where every coefficient of a is a multiple of g and b is in [0, g). */
static bool split_at(const Facts *f, const Linear *l, int64_t g, Linear *a, Linear *b)
{
    memset(a, 0, sizeof *a);
    memset(b, 0, sizeof *b);
    for (int i = 0; i < l->n; i++)
        linear_term(l->t[i].coef % g == 0 ? a : b, l->t[i].atom, l->t[i].coef);
    b->base = floor_mod(l->base, g);
    a->base = l->base - b->base;
    if (a->n == 0)
        return false;
    return bounds_within(linear_bounds(f, b), 0, g - 1);
}

/* The largest such g > 1 that divides c; 0 if none. */
static int64_t find_split(const Facts *f, const Linear *l, int64_t c, Linear *a, Linear *b)
{
    int64_t best = 0;
    for (int i = 0; i < l->n; i++) {
        int64_t g = gcd_of(l->t[i].coef, c);
        Linear x, y;
        if (g > 1 && g > best && split_at(f, l, g, &x, &y)) {
            best = g;
            *a = x;
            *b = y;
        }
    }
    return best;
}

/* ---- quotient -------------------------------------------------------------------------------- */

/* Where the terms are multiples of m, lower parts of the constant do not reach the quotient. */
static void trim_base(const Facts *f, Linear *l, int64_t c)
{
    Linear terms = *l;
    terms.base = 0;
    Modular m = linear_modular(f, &terms);
    int64_t g = gcd_of(m.coef, c);
    if (g > 1 && m.coef > 0 && m.base % g == 0)
        l->base = floor_div(l->base, g) * g;
}

/* (y + x // a) // c = (a*y + x) // (a*c): one division instead of two. */
static const Expr *div_lifted(Ir *ir, const Facts *f, const Linear *r, int64_t c, DType t,
                              int depth)
{
    int64_t a, ac;
    for (int i = 0; i < r->n; i++) {
        const Expr *atom = r->t[i].atom;
        if (r->t[i].coef != 1 || !const_divisor(atom, EX_FLOORDIV, &a) ||
            __builtin_mul_overflow(a, c, &ac) || ac > INT32_MAX)
            continue;
        bool alone = r->n == 1 && r->base == 0;
        if (!alone && !expr_is_exact(f, atom->kid[0]))
            continue;
        Linear x = {0};
        linear_sum(&x, r, a);
        linear_term(&x, atom, -a);
        linear_value(f, &x, atom->kid[0], 1);
        if (!x.bad)
            return div_linear(ir, f, &x, ac, t, depth - 1);
    }
    return NULL;
}

/* (x % (c*m)) // c = x // c % m */
static const Expr *div_remainder(Ir *ir, const Facts *f, const Linear *r, int64_t c, DType t,
                                 int depth)
{
    int64_t a;
    const Expr *atom = r->t[0].atom;
    if (r->n != 1 || r->t[0].coef != 1 || r->base != 0 ||
        !const_divisor(atom, EX_FLOORMOD, &a) || a % c != 0)
        return NULL;
    Linear x = {0}, q = {0};
    linear_value(f, &x, atom->kid[0], 1);
    const Expr *d = div_linear(ir, f, &x, c, t, depth - 1);
    if (!d)
        return NULL;
    linear_expr(&q, d, 1);
    return mod_linear(ir, f, &q, a / c, t, depth - 1);
}

static const Expr *div_nested(Ir *ir, const Facts *f, const Linear *r, int64_t c, DType t,
                              int depth)
{
    if (depth == 0)
        return NULL;
    const Expr *e = div_lifted(ir, f, r, c, t, depth);
    return e ? e : div_remainder(ir, f, r, c, t, depth);
}

static const Expr *div_rest(Ir *ir, const Facts *f, Linear *r, int64_t c, DType t, int depth)
{
    for (;;) {
        Bounds b = linear_bounds(f, r);
        if (bounds_known(b) && floor_div(b.lo, c) == floor_div(b.hi, c))
            return expr_const(ir, t, floor_div(b.lo, c));
        Linear high, low;
        trim_base(f, r, c);
        int64_t g = gcd_of(linear_gcd(r), c);
        if (g <= 1 && (g = find_split(f, r, c, &high, &low)) > 1)
            *r = high;
        if (g <= 1)
            break;
        divide_terms(r, g);
        c /= g;
        if (c == 1)
            return linear_make(ir, r, t);
    }
    const Expr *nested = div_nested(ir, f, r, c, t, depth);
    if (nested)
        return nested;
    const Expr *e = linear_make(ir, r, t);
    return e && expr_is_exact(f, e) ? expr_floordiv(ir, e, expr_const(ir, t, c)) : NULL;
}

static const Expr *div_linear(Ir *ir, const Facts *f, Linear *l, int64_t c, DType t, int depth)
{
    Linear q = {0}, r = {0};
    if (l->bad)
        return NULL;
    q.base = floor_div(l->base, c);
    r.base = floor_mod(l->base, c);
    for (int i = 0; i < l->n; i++) {
        if (l->t[i].coef % c == 0)
            linear_term(&q, l->t[i].atom, l->t[i].coef / c);
        else
            linear_term(&r, l->t[i].atom, l->t[i].coef);
    }
    if (r.n > 0) {
        const Expr *rest = div_rest(ir, f, &r, c, t, depth);
        if (!rest)
            return NULL;
        linear_expr(&q, rest, 1);
    }
    return linear_finish(ir, f, &q, t);
}

/* ---- remainder ------------------------------------------------------------------------------- */

/* Coefficients below c in magnitude, constant in [0, c), inner remainders opened where c allows. */
static void reduce_terms(const Facts *f, Linear *l, int64_t c)
{
    for (int rounds = 0; rounds < NESTED_MOST; rounds++) {
        Linear r = {0};
        bool again = false;
        r.base = floor_mod(l->base, c);
        for (int i = 0; i < l->n; i++) {
            int64_t k = l->t[i].coef % c, a, ka;
            const Expr *atom = l->t[i].atom;
            if (k != 0 && const_divisor(atom, EX_FLOORMOD, &a) &&
                !__builtin_mul_overflow(k, a, &ka) && ka % c == 0) {
                linear_value(f, &r, atom->kid[0], k);
                again = true;
            } else {
                linear_term(&r, atom, k);
            }
        }
        *l = r;
        if (!again || l->bad)
            break;
    }
    l->base = floor_mod(l->base, c);
}

/* g * (a % m) + b */
static const Expr *mod_scaled(Ir *ir, const Facts *f, Linear *a, Linear *b, int64_t g, int64_t m,
                              DType t, int depth)
{
    Linear r = *b;
    divide_terms(a, g);
    const Expr *inner = m == 1 ? expr_const(ir, t, 0) : mod_linear(ir, f, a, m, t, depth);
    if (!inner)
        return NULL;
    linear_expr(&r, inner, g);
    return linear_finish(ir, f, &r, t);
}

static const Expr *mod_linear(Ir *ir, const Facts *f, Linear *l, int64_t c, DType t, int depth)
{
    if (l->bad || depth == 0)
        return NULL;
    reduce_terms(f, l, c);
    if (l->bad)
        return NULL;
    Bounds b = linear_bounds(f, l);
    if (bounds_known(b) && floor_div(b.lo, c) == floor_div(b.hi, c)) {
        int64_t down;
        if (__builtin_mul_overflow(floor_div(b.lo, c), -c, &down))
            return NULL;
        linear_const(l, down);
        return linear_finish(ir, f, l, t);
    }
    Modular m = linear_modular(f, l);
    if (m.coef % c == 0)
        return expr_const(ir, t, floor_mod(m.base, c));
    Linear high, low;
    int64_t g = gcd_of(linear_gcd(l), c);
    if (g > 1) {
        memset(&low, 0, sizeof low);
        low.base = floor_mod(l->base, g);
        linear_const(l, -low.base);
        return mod_scaled(ir, f, l, &low, g, c / g, t, depth - 1);
    }
    if ((g = find_split(f, l, c, &high, &low)) > 1)
        return mod_scaled(ir, f, &high, &low, g, c / g, t, depth - 1);
    const Expr *e = linear_make(ir, l, t);
    return e && expr_is_exact(f, e) ? expr_floormod(ir, e, expr_const(ir, t, c)) : NULL;
}

/* ---- digits back together -------------------------------------------------------------------- */

/* Does l hold every term of `part` times k? */
static bool contains(const Linear *l, const Linear *part, int64_t k)
{
    for (int i = 0; i < part->n; i++) {
        int64_t want;
        if (__builtin_mul_overflow(part->t[i].coef, k, &want) ||
            linear_coef(l, part->t[i].atom) != want)
            return false;
    }
    return part->n > 0;
}

static int64_t weight(const Linear *l)
{
    int64_t n = 0;
    for (int i = 0; i < l->n; i++)
        n += l->t[i].atom->size;
    return n;
}

/* Takes `now` for l if that is less to compute. */
static bool shorter(Linear *l, const Linear *now)
{
    if (now->bad || weight(now) >= weight(l))
        return false;
    *l = *now;
    return true;
}

/* k * (u % m) with k*m * (u // m), or with k*m * (u // m % m2). */
static bool join_remainder(Ir *ir, const Facts *f, Linear *l, int i, DType t)
{
    int64_t m, m2, k = l->t[i].coef, km, mm;
    const Expr *atom = l->t[i].atom;
    if (!const_divisor(atom, EX_FLOORMOD, &m) || l->n < 2 || __builtin_mul_overflow(k, m, &km))
        return false;
    Linear u = {0}, q = {0}, now = *l;
    linear_value(f, &u, atom->kid[0], 1);
    Linear copy = u;
    const Expr *quotient = div_linear(ir, f, &copy, m, t, 1);
    if (!quotient)
        return false;
    linear_expr(&q, quotient, 1);
    if (contains(l, &q, km)) {
        linear_term(&now, atom, -k);
        linear_sum(&now, &q, -km);
        linear_sum(&now, &u, k);
        if (shorter(l, &now))
            return true;
    }
    for (int j = 0; j < l->n; j++) {
        const Expr *other = l->t[j].atom;
        if (l->t[j].coef != km || !const_divisor(other, EX_FLOORMOD, &m2) ||
            other->kid[0] != quotient || __builtin_mul_overflow(m, m2, &mm) || mm > INT32_MAX)
            continue;
        now = *l;
        linear_term(&now, atom, -k);
        linear_term(&now, other, -km);
        linear_term(&now, expr_floormod(ir, atom->kid[0], expr_const(ir, t, mm)), k);
        return shorter(l, &now);
    }
    return false;
}

/* k*u with -k*c * (u // c) is k * (u % c); c * (u // c) alone is u - k where u % c = k is known. */
static bool join_quotient(Ir *ir, const Facts *f, Linear *l, int i, DType t)
{
    int64_t c, coef = l->t[i].coef;
    const Expr *atom = l->t[i].atom;
    if (!const_divisor(atom, EX_FLOORDIV, &c) || coef % c != 0)
        return false;
    Linear u = {0}, now = *l;
    linear_value(f, &u, atom->kid[0], 1);
    Modular m = linear_modular(f, &u);
    if (m.coef > 0 && m.coef % c == 0) {
        linear_term(&now, atom, -coef);
        linear_sum(&now, &u, coef / c);
        linear_const(&now, -(coef / c) * floor_mod(m.base, c));
        return shorter(l, &now);
    }
    int64_t k = -(coef / c);
    if (!contains(l, &u, k))
        return false;
    linear_term(&now, atom, -coef);
    linear_sum(&now, &u, -k);
    linear_term(&now, expr_floormod(ir, atom->kid[0], expr_const(ir, t, c)), k);
    return shorter(l, &now);
}

const Expr *linear_finish(Ir *ir, const Facts *f, Linear *l, DType t)
{
    for (bool again = true; again && !l->bad;) {
        again = false;
        for (int i = 0; i < l->n && !again; i++)
            again = join_remainder(ir, f, l, i, t) || join_quotient(ir, f, l, i, t);
    }
    return linear_make(ir, l, t);
}

/* ---- entries --------------------------------------------------------------------------------- */

const Expr *divide_by(Ir *ir, const Facts *f, const Expr *a, int64_t c)
{
    Linear l = {0};
    if (c == INT64_MIN)
        return NULL;
    /* -1 * the one value that has no opposite would leave the type */
    if (c < 0 && !expr_is_exact(f, a))
        return NULL;
    linear_value(f, &l, a, c < 0 ? -1 : 1);
    return div_linear(ir, f, &l, c < 0 ? -c : c, (DType)a->type, NESTED_MOST);
}

const Expr *modulo_by(Ir *ir, const Facts *f, const Expr *a, int64_t c)
{
    Linear l = {0}, r = {0};
    if (c == INT64_MIN || (c < 0 && !expr_is_exact(f, a)))
        return NULL;
    linear_value(f, &l, a, c < 0 ? -1 : 1);
    const Expr *e = mod_linear(ir, f, &l, c < 0 ? -c : c, (DType)a->type, NESTED_MOST);
    if (!e || c > 0)
        return e;
    linear_expr(&r, e, -1);
    return linear_make(ir, &r, (DType)a->type);
}
