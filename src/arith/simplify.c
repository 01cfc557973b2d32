/* simplify.c -- the rewriting engine.
 *
 * Bottom-up, each node once per call (memo).  Integer arithmetic goes through the linear form of
 * affine.c and divide.c; comparisons become `terms < terms` with the common divisor taken out;
 * conditions are decided by bounds and facts.  Then the rules of rules.c are tried at the root.
 *
 *     i * 8 + 3 + i      ->  i * 9 + 3           (i * 8 + j) // 8, j in [0, 8)  ->  i
 *     2 * i < 7          ->  i < 4               x // 4 * 4 + x % 4             ->  x
 *
 * What an EX_IF, EX_AND, EX_OR or a guarded load does not evaluate may be simplified under the
 * condition; both sides of EX_SELECT are evaluated, so there it may not. */
#include "arith/divide.h"

enum { SLOTS = 128, LEVELS_MOST = 3, REWRITES_MOST = 8 };

typedef struct { const Expr *in, *out; } Slot;

typedef struct {
    Ir *ir;
    Facts *f;
    Slot *slot;
    int nslot, n;
    int level; /* conditions assumed around this expression */
} Simp;

static const Expr *simp(Simp *s, const Expr *e);

/* ---- the memo -------------------------------------------------------------------------------- */

static Slot *find(Simp *s, const Expr *e)
{
    uint32_t at = e->hash & (uint32_t)(s->nslot - 1);
    while (s->slot[at].in && s->slot[at].in != e)
        at = (at + 1) & (uint32_t)(s->nslot - 1);
    return &s->slot[at];
}

static void remember(Simp *s, const Expr *in, const Expr *out)
{
    if (s->n * 2 >= s->nslot) {
        Slot *old = s->slot;
        int nold = s->nslot;
        s->nslot *= 4;
        s->slot = NEWN(s->ir->arena, Slot, s->nslot);
        for (int i = 0; i < nold; i++) {
            if (old[i].in)
                *find(s, old[i].in) = old[i];
        }
    }
    Slot *slot = find(s, in);
    s->n += !slot->in;
    *slot = (Slot){in, out};
}

static const Expr *simp_top(Ir *ir, Facts *f, int level, const Expr *e)
{
    Slot slots[SLOTS];
    Simp s = {ir, f, slots, SLOTS, 0, level};
    memset(slots, 0, sizeof slots);
    return simp(&s, e);
}

/* e where cond holds. */
static const Expr *simp_under(Simp *s, const Expr *cond, bool holds, const Expr *e)
{
    if (e->nkid == 0 || s->level == LEVELS_MOST || expr_is_const(cond))
        return simp(s, e);
    int mark = facts_mark(s->f);
    /* To simplify it again would double the work at each level. */
    facts_hold_simple(s->f, cond, holds);
    e = simp_top(s->ir, s->f, s->level + 1, e);
    facts_pop(s->f, mark);
    return e;
}

static const Expr *rebuild(Simp *s, const Expr *e, const Expr *const *kid)
{
    for (int i = 0; i < e->nkid; i++) {
        if (kid[i] != e->kid[i])
            return expr_with_kids(s->ir, e, kid);
    }
    return e;
}

static const Expr *binary(Simp *s, const Expr *e, const Expr *a, const Expr *b)
{
    return rebuild(s, e, (const Expr *[]){a, b});
}

/* ---- sums and products ----------------------------------------------------------------------- */

static const Expr *simp_sum(Simp *s, const Expr *e)
{
    Linear l = {0};
    const Expr *a = simp(s, e->kid[0]), *b = e->nkid > 1 ? simp(s, e->kid[1]) : NULL;
    if (expr_is_math(e)) {
        linear_expr(&l, a, e->op == EX_NEG ? -1 : 1);
        if (b)
            linear_expr(&l, b, e->op == EX_SUB ? -1 : 1);
        const Expr *sum = linear_finish(s->ir, s->f, &l, (DType)e->type);
        if (sum)
            return sum;
    }
    return rebuild(s, e, (const Expr *[]){a, b});
}

enum { FACTORS_MOST = 8, PRODUCT_TERMS_MOST = 8 };

static bool collect_factors(const Expr *e, const Expr **list, int *n)
{
    if (e->op == EX_MUL)
        return collect_factors(e->kid[0], list, n) && collect_factors(e->kid[1], list, n);
    if (*n == FACTORS_MOST)
        return false;
    int i = (*n)++;
    for (; i > 0 && expr_order(list[i - 1], e) > 0; i--)
        list[i] = list[i - 1];
    list[i] = e;
    return true;
}

/* The product of two atoms, its factors in order. */
static const Expr *monomial(Simp *s, const Expr *a, const Expr *b)
{
    const Expr *list[FACTORS_MOST];
    int n = 0;
    if (!collect_factors(a, list, &n) || !collect_factors(b, list, &n))
        return expr_mul(s->ir, a, b);
    const Expr *e = list[0];
    for (int i = 1; i < n; i++)
        e = expr_mul(s->ir, e, list[i]);
    return e;
}

static const Expr *simp_product(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    if (!expr_is_math(e))
        return binary(s, e, a, b);
    Linear l = {0}, m = {0}, p = {0};
    linear_expr(&l, a, 1);
    linear_expr(&m, b, 1);
    if (l.n * m.n > PRODUCT_TERMS_MOST)
        return binary(s, e, a, b);
    linear_sum(&p, &l, m.base);
    linear_sum(&p, &m, l.base);
    int64_t twice;
    p.bad |= __builtin_mul_overflow(l.base, m.base, &twice);
    linear_const(&p, p.bad ? 0 : -twice);
    for (int i = 0; i < l.n; i++) {
        for (int j = 0; j < m.n; j++) {
            int64_t c;
            p.bad |= __builtin_mul_overflow(l.t[i].coef, m.t[j].coef, &c);
            if (!p.bad)
                linear_term(&p, monomial(s, l.t[i].atom, m.t[j].atom), c);
        }
    }
    const Expr *product = linear_finish(s->ir, s->f, &p, (DType)e->type);
    return product ? product : binary(s, e, a, b);
}

/* ---- division -------------------------------------------------------------------------------- */

/* x * n + y over a divisor n that is not constant: (x * n + y) // n = x + y // n. */
static const Expr *divide_symbolic(Simp *s, const Expr *e, const Expr *a, const Expr *n)
{
    Linear l = {0}, q = {0}, r = {0};
    Bounds nb = bounds_of(s->f, n);
    if (n->op != EX_VAR || (nb.lo <= 0 && nb.hi >= 0) || !expr_is_exact(s->f, a))
        return NULL;
    linear_expr(&l, a, 1);
    r.base = l.base;
    for (int i = 0; i < l.n; i++) {
        const Expr *t = l.t[i].atom, *list[FACTORS_MOST], *rest = NULL;
        int nf = 0;
        bool out = false;
        if (!collect_factors(t, list, &nf))
            return NULL;
        for (int j = 0; j < nf; j++) {
            if (list[j] == n && !out)
                out = true;
            else
                rest = rest ? expr_mul(s->ir, rest, list[j]) : list[j];
        }
        if (!out)
            linear_term(&r, t, l.t[i].coef);
        else if (rest)
            linear_term(&q, rest, l.t[i].coef);
        else
            linear_const(&q, l.t[i].coef);
    }
    Linear over = {0}; /* n - 1 - r */
    linear_expr(&over, n, 1);
    linear_const(&over, -1);
    linear_sum(&over, &r, -1);
    bool small = nb.lo > 0 && prove_linear(s->f, &r) && prove_linear(s->f, &over);
    if (!small && q.n == 0 && q.base == 0)
        return NULL;
    const Expr *rem = linear_make(s->ir, &r, (DType)e->type);
    if (!rem)
        return NULL;
    if (e->op == EX_FLOORMOD)
        return small ? rem : expr_floormod(s->ir, rem, n);
    if (!small)
        linear_expr(&q, expr_floordiv(s->ir, rem, n), 1);
    return linear_make(s->ir, &q, (DType)e->type);
}

static const Expr *simp_floor(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]), *r = NULL;
    int64_t c;
    if (!expr_is_math(e))
        return binary(s, e, a, b);
    if (!expr_is_int(b, &c))
        r = divide_symbolic(s, e, a, b);
    else if (c != 0)
        r = e->op == EX_FLOORDIV ? divide_by(s->ir, s->f, a, c) : modulo_by(s->ir, s->f, a, c);
    return r ? r : binary(s, e, a, b);
}

static const Expr *simp_trunc(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    if (expr_is_math(e) && bounds_of(s->f, a).lo >= 0 && bounds_of(s->f, b).lo > 0)
        return simp(s, expr_binary(s->ir, e->op == EX_TRUNCDIV ? EX_FLOORDIV : EX_FLOORMOD, a, b));
    return binary(s, e, a, b);
}

/* ---- shifts and bits: arithmetic where they are plainly that --------------------------------- */

static const Expr *simp_shift(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    int64_t by;
    if (!expr_is_math(e) || !expr_is_int(b, &by) || by < 0 || by > 30 || bounds_of(s->f, a).lo < 0)
        return binary(s, e, a, b);
    const Expr *power = expr_const(s->ir, (DType)e->type, (int64_t)1 << by);
    if (e->op == EX_SHR)
        return simp(s, expr_floordiv(s->ir, a, power));
    Bounds r = bounds_scale(bounds_of(s->f, a), (int64_t)1 << by);
    Bounds t = e->type == DT_I32 ? bounds_of_type(DT_I32) : (Bounds){0, INT64_MAX - 1};
    if (bounds_within(r, t.lo, t.hi))
        return simp(s, expr_mul(s->ir, a, power));
    return binary(s, e, a, b);
}

static const Expr *simp_bits(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    int64_t c;
    if (expr_is_const(a) || (!expr_is_const(b) && expr_order(a, b) > 0)) {
        const Expr *t = a;
        a = b;
        b = t;
    }
    if (e->op == EX_BITAND && expr_is_math(e) && expr_is_int(b, &c) && c >= 0 && c < INT32_MAX &&
        (c & (c + 1)) == 0 && bounds_of(s->f, a).lo >= 0)
        return simp(s, expr_floormod(s->ir, a, expr_const(s->ir, (DType)e->type, c + 1)));
    return binary(s, e, a, b);
}

/* ---- min and max ----------------------------------------------------------------------------- */

/* a <= b */
static bool is_below(Simp *s, const Expr *a, const Expr *b)
{
    Bounds x = bounds_of(s->f, a), y = bounds_of(s->f, b);
    if (x.hi <= y.lo && x.hi != INT64_MAX)
        return true;
    if (!expr_is_math(a) || !expr_is_exact(s->f, a) || !expr_is_exact(s->f, b))
        return false;
    Linear l = {0};
    linear_expr(&l, b, 1);
    linear_expr(&l, a, -1);
    return prove_linear(s->f, &l);
}

static const Expr *simp_extreme(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    if (a == b)
        return a;
    if (e->lanes != 1 || !dtype_is_int((DType)e->type))
        return binary(s, e, a, b);
    if (expr_is_const(a) || (!expr_is_const(b) && expr_order(a, b) > 0)) {
        const Expr *t = a;
        a = b;
        b = t;
    }
    if (is_below(s, a, b))
        return e->op == EX_MIN ? a : b;
    if (is_below(s, b, a))
        return e->op == EX_MIN ? b : a;
    if (a->op == e->op && expr_is_const(b) && expr_is_const(a->kid[1]))
        return simp(s, binary(s, e, a->kid[0], binary(s, e, a->kid[1], b)));
    return binary(s, e, a, b);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* (u // c) alone against a constant is u against a multiple of c. */
static void undo_division(Simp *s, Linear *l)
{
    int64_t c, k = l->base, m;
    while (l->n == 1 && !l->bad && l->t[0].atom->op == EX_FLOORDIV &&
           expr_is_int(l->t[0].atom->kid[1], &c) && c > 0) {
        const Expr *u = l->t[0].atom->kid[0];
        int64_t sign = l->t[0].coef;
        if ((sign != 1 && sign != -1) || !expr_is_exact(s->f, u) ||
            __builtin_mul_overflow(k, c, &m))
            return;
        Linear r = {0};
        linear_expr(&r, u, sign);
        linear_const(&r, m);
        if (sign < 0)
            linear_const(&r, c - 1);
        if (r.bad)
            return;
        *l = r;
        k = l->base;
    }
}

static void divide_out(Linear *l)
{
    int64_t g = linear_gcd(l);
    if (g <= 1)
        return;
    for (int i = 0; i < l->n; i++)
        l->t[i].coef /= g;
    l->base = floor_div(l->base, g);
}

/* g * x + rest >= 0 is x >= 0 where the rest is of [0, g): k * 512 + tx < 1024 is k < 2. */
static bool drop_rest(Simp *s, Linear *l)
{
    bool any = false;

    for (int i = 0; i < l->n && !l->bad; i++) {
        int64_t g = l->t[i].coef < 0 ? -l->t[i].coef : l->t[i].coef;
        Linear x = {0}, rest = {0};
        if (g <= 1)
            continue;
        for (int j = 0; j < l->n; j++)
            linear_term(l->t[j].coef % g ? &rest : &x, l->t[j].atom,
                        l->t[j].coef % g ? l->t[j].coef : l->t[j].coef / g);
        linear_const(&x, floor_div(l->base, g));
        linear_const(&rest, l->base - floor_div(l->base, g) * g);
        if (rest.n && !x.bad && !rest.bad && bounds_within(linear_bounds(s->f, &rest), 0, g - 1)) {
            *l = x;
            i = -1;
            any = true;
        }
    }
    return any;
}

/* Terms of one sign, made positive. */
static void side_of(const Linear *l, bool positive, Linear *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < l->n; i++) {
        if ((l->t[i].coef > 0) == positive)
            linear_term(out, l->t[i].atom, positive ? l->t[i].coef : -l->t[i].coef);
    }
}

/* Terms that changed sides make new sums; with data in them these may wrap where the old did
 * not. */
static bool fits_again(const Simp *s, const Expr *a, const Expr *b)
{
    return a && b && expr_is_exact(s->f, a) && expr_is_exact(s->f, b);
}

/* The one spelling of l >= 0; NULL where a constant does not fit. */
static const Expr *at_least_zero(Simp *s, Linear *l, DType t)
{
    Linear pos, neg;
    do {
        divide_out(l);
        undo_division(s, l);
        divide_out(l);
    } while (drop_rest(s, l));
    if (l->bad || l->base == INT64_MAX || l->base == INT64_MIN)
        return NULL;
    side_of(l, true, &pos);
    side_of(l, false, &neg);
    ExprOp op = EX_LT;
    if (neg.n == 0) { /* pos >= -base */
        op = EX_GE;
        neg.base = -l->base;
    } else if (l->base == 0 && pos.n > 0) {
        op = EX_LE;
    } else if (l->base + 1 >= 0 || pos.n == 0) {
        pos.base = l->base + 1;
    } else {
        neg.base = -(l->base + 1);
    }
    const Expr *a = linear_make(s->ir, op == EX_GE ? &pos : &neg, t);
    const Expr *b = linear_make(s->ir, op == EX_GE ? &neg : &pos, t);
    return fits_again(s, a, b) ? expr_binary(s->ir, op, a, b) : NULL;
}

static const Expr *decide_order(Simp *s, Linear *l, DType t)
{
    Linear not_l = {0};
    Bounds b = linear_bounds(s->f, l);
    if (l->bad)
        return NULL;
    if (b.lo >= 0)
        return expr_bool(s->ir, true);
    if (b.hi < 0)
        return expr_bool(s->ir, false);
    linear_sum(&not_l, l, -1);
    linear_const(&not_l, -1);
    if (prove_linear(s->f, l))
        return expr_bool(s->ir, true);
    if (prove_linear(s->f, &not_l))
        return expr_bool(s->ir, false);
    return at_least_zero(s, l, t);
}

static const Expr *decide_equal(Simp *s, Linear *l, bool equal, DType t)
{
    Linear pos, neg;
    Bounds b = linear_bounds(s->f, l);
    Modular m = linear_modular(s->f, l);
    int64_t g = linear_gcd(l);
    if (l->bad || l->base == INT64_MIN)
        return NULL;
    if (l->n == 0)
        return expr_bool(s->ir, (l->base == 0) == equal);
    if (b.lo > 0 || b.hi < 0 || l->base % g != 0 || (m.coef == 0 && m.base != 0) ||
        (m.coef > 0 && m.base % m.coef != 0))
        return expr_bool(s->ir, !equal);
    for (int i = 0; i < l->n; i++)
        l->t[i].coef /= g;
    l->base /= g;
    if (l->t[0].coef < 0) {
        Linear n = {0};
        linear_sum(&n, l, -1);
        *l = n;
    }
    side_of(l, true, &pos);
    side_of(l, false, &neg);
    if (l->base > 0 && neg.n > 0)
        pos.base = l->base;
    else
        neg.base = -l->base;
    const Expr *x = linear_make(s->ir, &pos, t), *y = linear_make(s->ir, &neg, t);
    return fits_again(s, x, y) ? expr_binary(s->ir, equal ? EX_EQ : EX_NE, x, y) : NULL;
}

/* By bounds alone: for types that wrap. */
static const Expr *decide_plain(Simp *s, const Expr *e, const Expr *a, const Expr *b)
{
    Bounds x = bounds_of(s->f, a), y = bounds_of(s->f, b);
    bool less = x.hi < y.lo, more = x.lo > y.hi, same = a == b;
    bool le = same || (x.hi <= y.lo && x.hi != INT64_MAX);
    bool ge = same || (x.lo >= y.hi && y.hi != INT64_MAX);
    switch (e->op) {
    case EX_LT:
        return less ? expr_bool(s->ir, true) : ge ? expr_bool(s->ir, false) : NULL;
    case EX_LE:
        return le ? expr_bool(s->ir, true) : more ? expr_bool(s->ir, false) : NULL;
    case EX_GT:
        return more ? expr_bool(s->ir, true) : le ? expr_bool(s->ir, false) : NULL;
    case EX_GE:
        return ge ? expr_bool(s->ir, true) : less ? expr_bool(s->ir, false) : NULL;
    default:
        if (same || less || more)
            return expr_bool(s->ir, same == (e->op == EX_EQ));
        return NULL;
    }
}

static const Expr *simp_compare(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]), *r = NULL;
    if (e->lanes != 1 || (!dtype_is_int((DType)a->type) && a->type != DT_BOOL))
        return binary(s, e, a, b);
    if (!expr_is_math(a) || !expr_is_exact(s->f, a) || !expr_is_exact(s->f, b)) {
        r = a->type == DT_BOOL ? NULL : decide_plain(s, e, a, b);
        return r ? r : binary(s, e, a, b);
    }
    Linear l = {0};
    bool swap = e->op == EX_GT || e->op == EX_GE;
    linear_expr(&l, b, swap ? -1 : 1);
    linear_expr(&l, a, swap ? 1 : -1);
    if (e->op == EX_LT || e->op == EX_GT)
        linear_const(&l, -1);
    if (e->op == EX_EQ || e->op == EX_NE)
        r = decide_equal(s, &l, e->op == EX_EQ, (DType)a->type);
    else
        r = decide_order(s, &l, (DType)a->type);
    return r ? r : binary(s, e, a, b);
}

/* ---- conditions ------------------------------------------------------------------------------ */

static bool is_part(const Expr *e, ExprOp op, const Expr *part)
{
    if (e == part)
        return true;
    return e->op == op && (is_part(e->kid[0], op, part) || is_part(e->kid[1], op, part));
}

static const Expr *opposite(Simp *s, const Expr *e)
{
    static const uint8_t other[EX_COUNT] = {
        [EX_EQ] = EX_NE, [EX_NE] = EX_EQ, [EX_LT] = EX_GE,
        [EX_GE] = EX_LT, [EX_LE] = EX_GT, [EX_GT] = EX_LE,
    };
    bool total = e->op == EX_EQ || e->op == EX_NE || (e->nkid > 0 && dtype_is_int(e->kid[0]->type));
    if (e->op == EX_NOT)
        return e->kid[0];
    if (e->lanes == 1 && other[e->op] && total)
        return expr_binary(s->ir, other[e->op], e->kid[0], e->kid[1]);
    return expr_unary(s->ir, EX_NOT, e);
}

static const Expr *simp_not(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]);
    int64_t v;
    if (expr_is_int(a, &v))
        return expr_bool(s->ir, !v);
    const Expr *r = opposite(s, a);
    return r->op == EX_NOT || a->op == EX_NOT ? r : simp(s, r);
}

/* and, or: the right side is evaluated only where the left did not decide. */
static const Expr *simp_logic(Simp *s, const Expr *e)
{
    bool is_and = e->op == EX_AND;
    int64_t v;
    if (e->lanes != 1)
        return binary(s, e, simp(s, e->kid[0]), simp(s, e->kid[1]));
    const Expr *a = simp(s, e->kid[0]);
    if (expr_is_int(a, &v))
        return (v != 0) == is_and ? simp(s, e->kid[1]) : a;
    const Expr *b = simp_under(s, a, is_and, e->kid[1]);
    if (expr_is_int(b, &v))
        return (v != 0) == is_and ? a : b;
    if (is_part(a, e->op, b))
        return a;
    if (b->op == e->op) /* to the left */
        return simp(s, binary(s, e, expr_binary(s->ir, e->op, a, b->kid[0]), b->kid[1]));
    return binary(s, e, a, b);
}

/* e, or another way to write it. */
static bool is_held(const Facts *f, const Expr *e, const Expr *same)
{
    for (int i = 0; i < f->list.n; i++) {
        const Fact *t = &f->list.at[i];
        if (t->kind == FACT_COND && (t->cond == e || t->cond == same))
            return true;
    }
    return false;
}

/* A condition that was assumed, or whose opposite was. */
static const Expr *recall(Simp *s, const Expr *e)
{
    if (e->type != DT_BOOL || e->lanes != 1 || expr_is_const(e) || s->f->list.n == 0)
        return e;
    if (is_held(s->f, e, e))
        return expr_bool(s->ir, true);
    if (is_held(s->f, opposite(s, e), expr_unary(s->ir, EX_NOT, e)))
        return expr_bool(s->ir, false);
    return e;
}

static const Expr *simp_choice(Simp *s, const Expr *e)
{
    const Expr *c = simp(s, e->kid[0]), *a, *b;
    int64_t v;
    bool lazy = e->op == EX_IF;
    if (c->lanes == 1 && expr_is_int(c, &v))
        return simp(s, e->kid[v ? 1 : 2]);
    a = lazy ? simp_under(s, c, true, e->kid[1]) : simp(s, e->kid[1]);
    b = lazy ? simp_under(s, c, false, e->kid[2]) : simp(s, e->kid[2]);
    if (a == b)
        return a;
    if (c->op == EX_NOT)
        return rebuild(s, e, (const Expr *[]){c->kid[0], b, a});
    return rebuild(s, e, (const Expr *[]){c, a, b});
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool is_standard_float(DType t)
{
    return t == DT_F16 || t == DT_BF16 || t == DT_F32 || t == DT_F64;
}

/* Does every value of `from` survive in `to`? */
static bool is_lossless(DType from, DType to)
{
    const DTypeInfo *a = &dtype_table[from], *b = &dtype_table[to];
    if (is_standard_float(from) && is_standard_float(to))
        return b->ebits >= a->ebits && b->mbits >= a->mbits;
    if (!dtype_is_int(from) || !dtype_is_int(to))
        return false;
    if (a->kind == b->kind)
        return b->bits >= a->bits;
    return a->kind == 'U' && b->bits > a->bits;
}

static const Expr *simp_cast(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]);
    if (a->op == EX_CAST && is_lossless((DType)a->kid[0]->type, (DType)a->type))
        return simp(s, expr_cast(s->ir, (DType)e->type, a->kid[0]));
    return rebuild(s, e, &a);
}

static const Expr *simp_float(Simp *s, const Expr *e)
{
    const Expr *a = simp(s, e->kid[0]), *b = simp(s, e->kid[1]);
    double v;
    if (expr_is_float(b, &v)) {
        bool minus_zero = v == 0 && 1 / v < 0;
        if (((e->op == EX_MUL || e->op == EX_DIV) && v == 1) ||
            (e->op == EX_SUB && v == 0 && !minus_zero) || (e->op == EX_ADD && minus_zero))
            return a;
    }
    if (e->op == EX_MUL && expr_is_float(a, &v) && v == 1)
        return b;
    return binary(s, e, a, b);
}

enum { KIDS_MOST = 64 };

static const Expr *simp_kids(Simp *s, const Expr *e)
{
    const Expr *small[KIDS_MOST];
    const Expr **kid = e->nkid <= KIDS_MOST ? small : NEWN(s->ir->arena, const Expr *, e->nkid);
    for (int i = 0; i < e->nkid; i++)
        kid[i] = simp(s, e->kid[i]);
    return rebuild(s, e, kid);
}

static const Expr *simp_load(Simp *s, const Expr *e)
{
    int n = expr_nindex(e);
    int64_t v;
    if (!e->guarded)
        return simp_kids(s, e);
    const Expr *kid[KIDS_MOST], *guard = simp(s, e->kid[n]), *fill = simp(s, e->kid[n + 1]);
    bool known = expr_is_int(guard, &v);
    if (known && !v)
        return expr_cast(s->ir, (DType)e->type, fill);
    for (int i = 0; i < n; i++)
        kid[i] = simp_under(s, guard, true, e->kid[i]);
    if (known && e->lanes == 1)
        return expr_load(s->ir, e->u.buf, kid, n);
    kid[n] = guard;
    kid[n + 1] = fill;
    return rebuild(s, e, kid);
}

static const Expr *simp_var(Simp *s, const Expr *e)
{
    const Fact *t = facts_of(s->f, e->u.var);
    if (t && t->bounds.lo == t->bounds.hi && dtype_is_int((DType)e->type))
        return expr_const(s->ir, (DType)e->type, t->bounds.lo);
    return recall(s, e);
}

typedef const Expr *SimpFn(Simp *s, const Expr *e);
static SimpFn *const by_op[EX_COUNT] = {
    [EX_VAR] = simp_var,        [EX_ADD] = simp_sum,        [EX_SUB] = simp_sum,
    [EX_NEG] = simp_sum,        [EX_MUL] = simp_product,    [EX_FLOORDIV] = simp_floor,
    [EX_FLOORMOD] = simp_floor, [EX_TRUNCDIV] = simp_trunc, [EX_TRUNCMOD] = simp_trunc,
    [EX_MIN] = simp_extreme,    [EX_MAX] = simp_extreme,    [EX_EQ] = simp_compare,
    [EX_NE] = simp_compare,     [EX_LT] = simp_compare,     [EX_LE] = simp_compare,
    [EX_GT] = simp_compare,     [EX_GE] = simp_compare,     [EX_AND] = simp_logic,
    [EX_OR] = simp_logic,       [EX_NOT] = simp_not,        [EX_BITAND] = simp_bits,
    [EX_BITOR] = simp_bits,     [EX_BITXOR] = simp_bits,    [EX_SHL] = simp_shift,
    [EX_SHR] = simp_shift,      [EX_SELECT] = simp_choice,  [EX_IF] = simp_choice,
    [EX_CAST] = simp_cast,      [EX_LOAD] = simp_load,      [EX_DIV] = simp_float,
};

static const Expr *simp_once(Simp *s, const Expr *e)
{
    bool is_float = dtype_is_float((DType)e->type);
    if (is_float && (e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL))
        return simp_float(s, e);
    if (is_float && (e->op == EX_FLOORDIV || e->op == EX_FLOORMOD || e->op == EX_NEG))
        return simp_kids(s, e);
    return by_op[e->op] ? by_op[e->op](s, e) : simp_kids(s, e);
}

static const Expr *simp(Simp *s, const Expr *e)
{
    if (e->nkid == 0)
        return e->op == EX_VAR ? simp_var(s, e) : e;
    Slot *known = find(s, e);
    if (known->in)
        return known->out;
    const Expr *r = recall(s, simp_once(s, e));
    for (int i = 0; i < REWRITES_MOST; i++) {
        const Expr *t = rules_apply(s->ir, r);
        if (t == r)
            break;
        r = t->nkid > 0 ? recall(s, simp_once(s, t)) : t;
    }
    remember(s, e, r);
    if (r != e && r->nkid > 0)
        remember(s, r, r);
    return r;
}

const Expr *simplify(Ir *ir, const Facts *f, const Expr *e)
{
    if (e->nkid == 0 && e->op != EX_VAR)
        return e;
    if (f)
        return simp_top(ir, (Facts *)f, 0, e); /* comes back as it was: every mark is popped */
    Facts none = {.ir = ir};
    map_init(&none.last, ir->arena);
    return simp_top(ir, &none, 0, e);
}
