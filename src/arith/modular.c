/* modular.c -- e = coef * x + base: what is known of the remainder of an expression. */
#include "arith/arith.h"

enum { STEPS_MOST = 400 }; /* nodes looked at; past them any integer is possible */

static const Modular any = {1, 0};

static Modular constant(int64_t v)
{
    return (Modular){0, v};
}

/* base in [0, coef) */
static Modular reduced(int64_t coef, int64_t base)
{
    if (coef < 0)
        coef = coef == INT64_MIN ? 1 : -coef;
    if (coef == 0)
        return constant(base);
    return (Modular){coef, floor_mod(base, coef)};
}

static Modular add(Modular a, Modular b, int sign)
{
    int64_t base, other = b.base;
    if (sign < 0 && __builtin_sub_overflow((int64_t)0, b.base, &other))
        return any;
    if (__builtin_add_overflow(a.base, other, &base))
        return any;
    return reduced(gcd_of(a.coef, b.coef), base);
}

/* (a x + b)(c y + d) = ac xy + ad x + bc y + bd */
static Modular multiply(Modular a, Modular b)
{
    int64_t ac, ad, bc, bd;
    if (__builtin_mul_overflow(a.coef, b.coef, &ac) ||
        __builtin_mul_overflow(a.coef, b.base, &ad) ||
        __builtin_mul_overflow(a.base, b.coef, &bc) || __builtin_mul_overflow(a.base, b.base, &bd))
        return any;
    return reduced(gcd_of(ac, gcd_of(ad, bc)), bd);
}

static Modular divide(Modular a, Modular b)
{
    int64_t c = b.base;
    if (b.coef != 0 || c <= 0 || a.coef % c != 0)
        return any;
    return reduced(a.coef / c, floor_div(a.base, c));
}

static Modular modulo(Modular a, Modular b)
{
    int64_t c = b.base;
    if (b.coef != 0 || c <= 0)
        return any;
    if (a.coef % c == 0)
        return constant(floor_mod(a.base, c));
    return reduced(gcd_of(a.coef, c), a.base);
}

/* Either of the two. */
static Modular join(Modular a, Modular b)
{
    int64_t apart;
    if (__builtin_sub_overflow(a.base, b.base, &apart))
        return any;
    return reduced(gcd_of(gcd_of(a.coef, b.coef), apart), a.base);
}

/* What does not fit the type of e loses a multiple of a power of two. */
static Modular in_type(const Facts *f, const Expr *e, Modular m)
{
    enum { BITS_MOST = 62 };
    if (expr_is_exact(f, e))
        return m;
    return reduced(gcd_of(m.coef, INT64_C(1) << MIN(dtype_bits((DType)e->type), BITS_MOST)),
                   m.base);
}

static Modular visit(const Facts *f, const Expr *e, int *steps)
{
    if (e->op == EX_INT && e->type != DT_U64)
        return constant(e->u.i);
    if (e->op == EX_VAR) {
        const Fact *t = facts_of(f, e->u.var);
        if (!t)
            return any;
        return t->bounds.lo == t->bounds.hi ? constant(t->bounds.lo) : t->modular;
    }
    if (++*steps > STEPS_MOST || !expr_is_math(e))
        return any;
    switch (e->op) {
    case EX_ADD:
    case EX_SUB:
        return in_type(f, e, add(visit(f, e->kid[0], steps), visit(f, e->kid[1], steps),
                                 e->op == EX_ADD ? 1 : -1));
    case EX_NEG:
        return in_type(f, e, add(constant(0), visit(f, e->kid[0], steps), -1));
    case EX_MUL:
        return in_type(f, e, multiply(visit(f, e->kid[0], steps), visit(f, e->kid[1], steps)));
    case EX_FLOORDIV:
        return divide(visit(f, e->kid[0], steps), visit(f, e->kid[1], steps));
    case EX_FLOORMOD:
        return modulo(visit(f, e->kid[0], steps), visit(f, e->kid[1], steps));
    case EX_MIN:
    case EX_MAX:
        return join(visit(f, e->kid[0], steps), visit(f, e->kid[1], steps));
    case EX_SELECT:
    case EX_IF:
        return join(visit(f, e->kid[1], steps), visit(f, e->kid[2], steps));
    case EX_CAST:
        return e->type == DT_I64 && expr_is_math(e->kid[0]) ? visit(f, e->kid[0], steps) : any;
    default:
        return any;
    }
}

Modular modular_of(const Facts *f, const Expr *e)
{
    int steps = 0;
    return visit(f, e, &steps);
}

Modular linear_modular(const Facts *f, const Linear *l)
{
    Modular m = constant(l->base);
    for (int i = 0; i < l->n; i++)
        m = add(m, multiply(constant(l->t[i].coef), modular_of(f, l->t[i].atom)), 1);
    return l->bad ? any : m;
}
