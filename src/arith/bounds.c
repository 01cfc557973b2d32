/* bounds.c -- intervals of integer expressions.
 *
 * INT64_MIN and INT64_MAX mean "no bound": every step that leaves int64 ends there.  Shared
 * subtrees cost once through a small cache; past a fixed number of steps the answer is the type. */
#include "arith/arith.h"

enum { STEPS_MOST = 4000, CACHE = 64, SIZE_SMALL = 40 };

typedef struct {
    const Expr *e;
    Bounds b;
} Cached;

typedef struct {
    const Facts *f;
    int steps;
    Cached *cache; /* NULL: too small an expression to be worth it */
} Work;

static const Bounds unbounded = {INT64_MIN, INT64_MAX};

/* ---- numbers --------------------------------------------------------------------------------- */

int64_t floor_div(int64_t a, int64_t b)
{
    if (b == -1)
        return a == INT64_MIN ? INT64_MAX : -a;
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t floor_mod(int64_t a, int64_t b)
{
    if (b == -1)
        return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t gcd_of(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

__extension__ typedef __int128 Wide;

static int64_t clamp(Wide v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

Bounds bounds_add(Bounds a, Bounds b)
{
    Bounds r;
    r.lo = a.lo == INT64_MIN || b.lo == INT64_MIN ? INT64_MIN : clamp((Wide)a.lo + b.lo);
    r.hi = a.hi == INT64_MAX || b.hi == INT64_MAX ? INT64_MAX : clamp((Wide)a.hi + b.hi);
    return r;
}

static Bounds negate(Bounds a)
{
    return (Bounds){a.hi == INT64_MAX ? INT64_MIN : clamp(-(Wide)a.hi),
                    a.lo == INT64_MIN ? INT64_MAX : clamp(-(Wide)a.lo)};
}

/* An end times a number; an open end stays open unless the number is 0. */
static int64_t scale_end(int64_t end, int64_t times)
{
    if (times == 0)
        return 0;
    if (end == INT64_MIN || end == INT64_MAX)
        return (end == INT64_MAX) == (times > 0) ? INT64_MAX : INT64_MIN;
    return clamp((Wide)end * times);
}

Bounds bounds_scale(Bounds a, int64_t times)
{
    int64_t x = scale_end(a.lo, times), y = scale_end(a.hi, times);
    return times >= 0 ? (Bounds){x, y} : (Bounds){y, x};
}

static Bounds join(Bounds a, Bounds b)
{
    return (Bounds){MIN(a.lo, b.lo), MAX(a.hi, b.hi)};
}

static bool is_open(int64_t end)
{
    return end == INT64_MIN || end == INT64_MAX;
}

static int64_t mul_ends(int64_t x, int64_t y)
{
    if (x == 0 || y == 0)
        return 0;
    if (is_open(x) || is_open(y))
        return (x > 0) == (y > 0) ? INT64_MAX : INT64_MIN;
    return clamp((Wide)x * y);
}

static Bounds multiply(Bounds a, Bounds b)
{
    int64_t p[4] = {mul_ends(a.lo, b.lo), mul_ends(a.lo, b.hi), mul_ends(a.hi, b.lo),
                    mul_ends(a.hi, b.hi)};
    Bounds r = {p[0], p[0]};
    for (int i = 1; i < 4; i++)
        r = join(r, (Bounds){p[i], p[i]});
    return r;
}

/* |v| of the end furthest from 0, INT64_MAX when open. */
static int64_t magnitude(Bounds a)
{
    if (is_open(a.lo) || is_open(a.hi))
        return INT64_MAX;
    return MAX(a.lo < 0 ? -a.lo : a.lo, a.hi < 0 ? -a.hi : a.hi);
}

static Bounds within_magnitude(int64_t m)
{
    return m == INT64_MAX ? unbounded : (Bounds){-m, m};
}

static int64_t div_end(int64_t end, int64_t by)
{
    if (is_open(end))
        return end;
    return by == INT64_MAX ? (end < 0 ? -1 : 0) : floor_div(end, by);
}

static Bounds divide(Bounds a, Bounds b)
{
    if (b.hi < 0) {
        a = negate(a);
        b = negate(b);
    }
    if (b.lo <= 0)
        return within_magnitude(magnitude(a));
    Bounds r = {MIN(div_end(a.lo, b.lo), div_end(a.lo, b.hi)),
                MAX(div_end(a.hi, b.lo), div_end(a.hi, b.hi))};
    return r;
}

static Bounds modulo(Bounds a, Bounds b)
{
    if (b.lo > 0) {
        if (b.lo == b.hi && !is_open(a.lo) && !is_open(a.hi) &&
            floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo))
            return (Bounds){floor_mod(a.lo, b.lo), floor_mod(a.hi, b.lo)};
        int64_t most = b.hi == INT64_MAX ? INT64_MAX : b.hi - 1;
        if (a.lo >= 0 && a.hi < b.lo)
            return a;
        return (Bounds){0, a.lo >= 0 ? MIN(a.hi, most) : most};
    }
    return (Bounds){b.lo == INT64_MIN ? INT64_MIN : MIN(b.lo + 1, 0),
                    b.hi == INT64_MAX ? INT64_MAX : MAX(b.hi - 1, 0)};
}

static Bounds truncated(ExprOp op, Bounds a, Bounds b)
{
    if (a.lo >= 0 && b.lo > 0)
        return op == EX_TRUNCDIV ? divide(a, b) : modulo(a, b);
    Bounds r = within_magnitude(magnitude(a));
    if (op == EX_TRUNCMOD) {
        int64_t m = magnitude(b);
        if (m != INT64_MAX && m > 0)
            r = (Bounds){MAX(r.lo, 1 - m), MIN(r.hi, m - 1)};
        if (a.lo >= 0)
            r.lo = 0;
        if (a.hi <= 0)
            r.hi = 0;
    }
    return r;
}

/* Least 2^k - 1 that is not below v, for v >= 0. */
static int64_t ones_over(int64_t v)
{
    uint64_t u = (uint64_t)v;
    for (int s = 1; s < 64; s *= 2)
        u |= u >> s;
    return (int64_t)u;
}

static Bounds bits(ExprOp op, Bounds a, Bounds b)
{
    if (op == EX_BITAND && (a.lo >= 0 || b.lo >= 0))
        return (Bounds){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : MIN(a.hi, b.hi)};
    if (op != EX_BITAND && a.lo >= 0 && b.lo >= 0)
        return (Bounds){op == EX_BITOR ? MAX(a.lo, b.lo) : 0, ones_over(MAX(a.hi, b.hi))};
    return unbounded;
}

static Bounds shift(ExprOp op, Bounds a, Bounds b)
{
    if (b.lo != b.hi || b.lo < 0 || b.lo > 62)
        return unbounded;
    int64_t by = (int64_t)1 << b.lo;
    return op == EX_SHL ? bounds_scale(a, by) : divide(a, (Bounds){by, by});
}

/* ---- types ----------------------------------------------------------------------------------- */

Bounds bounds_of_type(DType t)
{
    if (t == DT_BOOL)
        return (Bounds){0, 1};
    if (t == DT_U64)
        return (Bounds){0, INT64_MAX};
    if (!dtype_is_int(t) || t == DT_I64)
        return unbounded;
    return (Bounds){dtype_int_min(t), dtype_int_max(t)};
}

bool expr_is_math(const Expr *e)
{
    return e->lanes == 1 && (e->type == DT_I32 || e->type == DT_I64);
}

static bool is_index(const Expr *e, int *steps)
{
    if (++*steps > STEPS_MOST || !expr_is_math(e))
        return false;
    switch (e->op) {
    case EX_INT:
        return true;
    case EX_VAR:
        return !e->u.var->data;
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_NEG:
    case EX_FLOORDIV:
    case EX_FLOORMOD:
    case EX_TRUNCDIV:
    case EX_TRUNCMOD:
    case EX_MIN:
    case EX_MAX:
        for (int i = 0; i < e->nkid; i++) {
            if (!is_index(e->kid[i], steps))
                return false;
        }
        return true;
    case EX_SELECT:
    case EX_IF:
        return is_index(e->kid[1], steps) && is_index(e->kid[2], steps);
    case EX_CAST: /* int32 to int64 loses nothing */
        return e->type == DT_I64 && is_index(e->kid[0], steps);
    default:
        return false;
    }
}

static bool fits_type(Bounds b, DType t)
{
    Bounds r = bounds_of_type(t);
    if (t == DT_I64 || t == DT_U64)
        return b.lo >= r.lo && b.lo != INT64_MIN && b.hi != INT64_MAX;
    return bounds_within(b, r.lo, r.hi);
}

/* What a computed value may be: its interval, or any value of its type where it may have wrapped.
 */
static Bounds may_wrap(const Expr *e, Bounds b)
{
    int steps = 0;
    if (fits_type(b, e->type) || is_index(e, &steps))
        return b;
    return bounds_of_type(e->type);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static Bounds visit(Work *w, const Expr *e);

static Bounds visit_cast(Work *w, const Expr *e)
{
    DType from = e->kid[0]->type;
    if (from != DT_BOOL && !dtype_is_int(from))
        return bounds_of_type(e->type);
    Bounds b = visit(w, e->kid[0]), r = bounds_of_type(e->type);
    if (from == DT_U64 && b.hi == INT64_MAX)
        return r;
    return e->type == DT_I64 || bounds_within(b, r.lo, r.hi) ? b : r;
}

static Bounds visit_math(Work *w, const Expr *e)
{
    Bounds a;
    switch (e->u.fn) {
    case MATH_ABS:
        a = visit(w, e->kid[0]);
        if (!bounds_known(a) || !fits_type(negate(a), e->type))
            return bounds_of_type(e->type);
        return (Bounds){a.lo >= 0 ? a.lo : a.hi <= 0 ? -a.hi : 0, magnitude(a)};
    case MATH_POPCOUNT:
    case MATH_CLZ:
    case MATH_FFS:
        return (Bounds){0, 64};
    default:
        return bounds_of_type(e->type);
    }
}

static Bounds visit_ramp(Work *w, const Expr *e)
{
    Bounds base = visit(w, e->kid[0]), step = visit(w, e->kid[1]);
    return join(base, bounds_add(base, bounds_scale(step, e->lanes - 1)));
}

static Bounds visit_binary(Work *w, const Expr *e)
{
    Bounds a = visit(w, e->kid[0]), b = visit(w, e->kid[1]);
    switch (e->op) {
    case EX_ADD:
        return may_wrap(e, bounds_add(a, b));
    case EX_SUB:
        return may_wrap(e, bounds_add(a, negate(b)));
    case EX_MUL:
        return may_wrap(e, multiply(a, b));
    case EX_FLOORDIV:
        return may_wrap(e, divide(a, b));
    case EX_FLOORMOD:
        return modulo(a, b);
    case EX_TRUNCDIV:
    case EX_TRUNCMOD:
        return may_wrap(e, truncated(e->op, a, b));
    case EX_MIN:
        return (Bounds){MIN(a.lo, b.lo), MIN(a.hi, b.hi)};
    case EX_MAX:
        return (Bounds){MAX(a.lo, b.lo), MAX(a.hi, b.hi)};
    case EX_BITAND:
    case EX_BITOR:
    case EX_BITXOR:
        return may_wrap(e, bits(e->op, a, b));
    case EX_SHL:
    case EX_SHR:
        return may_wrap(e, shift(e->op, a, b));
    default:
        return bounds_of_type(e->type);
    }
}

static Bounds visit_var(const Facts *f, const Expr *e)
{
    const Fact *t = facts_of(f, e->u.var);
    return t ? t->bounds : bounds_of_type(e->type);
}

static Bounds visit_inner(Work *w, const Expr *e)
{
    Bounds b;
    switch (e->op) {
    case EX_NEG:
        return may_wrap(e, negate(visit(w, e->kid[0])));
    case EX_BITNOT:
        return may_wrap(e, bounds_add(negate(visit(w, e->kid[0])), (Bounds){-1, -1}));
    case EX_SELECT:
    case EX_IF:
        return join(visit(w, e->kid[1]), visit(w, e->kid[2]));
    case EX_CAST:
        return visit_cast(w, e);
    case EX_MATH:
        return visit_math(w, e);
    case EX_RAMP:
        return may_wrap(e, visit_ramp(w, e));
    case EX_BROADCAST:
    case EX_LANE:
        return visit(w, e->kid[0]);
    case EX_VECTOR:
        b = visit(w, e->kid[0]);
        for (int i = 1; i < e->nkid; i++)
            b = join(b, visit(w, e->kid[i]));
        return b;
    default:
        return e->nkid == 2 && expr_table[e->op].arity == 2 ? visit_binary(w, e)
                                                            : bounds_of_type(e->type);
    }
}

static Bounds visit(Work *w, const Expr *e)
{
    if (e->op == EX_INT)
        return e->type == DT_U64 && e->u.i < 0 ? bounds_of_type(DT_U64)
                                               : (Bounds){e->u.i, e->u.i};
    if (!dtype_is_int(e->type))
        return bounds_of_type(e->type);
    if (e->op == EX_VAR)
        return visit_var(w->f, e);
    if (++w->steps > STEPS_MOST)
        return bounds_of_type(e->type);
    if (!w->cache)
        return visit_inner(w, e);
    Cached *c = &w->cache[e->hash % CACHE];
    if (c->e != e) {
        Bounds b = visit_inner(w, e);
        *c = (Cached){e, b};
    }
    return c->b;
}

static bool is_ring(ExprOp op)
{
    return op == EX_ADD || op == EX_SUB || op == EX_MUL || op == EX_NEG;
}

/* Every sum and product down to the atoms stays within its type. */
static bool stays_within(Work *w, const Expr *e)
{
    if (!is_ring(e->op))
        return true;
    if (!expr_is_math(e) || !stays_within(w, e->kid[0]))
        return false;
    Bounds a = visit(w, e->kid[0]);
    if (e->op == EX_NEG)
        return fits_type(negate(a), e->type);
    Bounds b = visit(w, e->kid[1]);
    Bounds r = e->op == EX_MUL ? multiply(a, b) : bounds_add(a, e->op == EX_ADD ? b : negate(b));
    return fits_type(r, e->type) && stays_within(w, e->kid[1]);
}

bool expr_is_exact(const Facts *f, const Expr *e)
{
    int steps = 0;
    if (!is_ring(e->op) || is_index(e, &steps))
        return true;
    return stays_within(&(Work){.f = f}, e);
}

static Bounds visit_large(const Facts *f, const Expr *e)
{
    Cached cache[CACHE] = {0};
    return visit(&(Work){.f = f, .cache = cache}, e);
}

Bounds bounds_of(const Facts *f, const Expr *e)
{
    return e->size <= SIZE_SMALL ? visit(&(Work){.f = f}, e) : visit_large(f, e);
}
