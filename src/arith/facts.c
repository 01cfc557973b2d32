/* facts.c -- what is known where an expression stands.
 *
 * One list, pushed and popped with the scopes of the program.  A condition becomes, where it can,
 * bounds or a residue of one variable, else a linear fact, and is always kept as itself too. */
#include "arith/arith.h"

Facts *facts_new(Ir *ir)
{
    Facts *f = NEW(ir->arena, Facts);
    f->ir = ir;
    map_init(&f->last, ir->arena);
    return f;
}

int facts_mark(const Facts *f)
{
    return f->list.n;
}

void facts_pop(Facts *f, int mark)
{
    while (f->list.n > mark) {
        const Fact *t = &f->list.at[--f->list.n];
        if (t->kind == FACT_VAR)
            map_set(&f->last, t->var, (void *)(intptr_t)t->prev);
        f->nlinear -= t->kind == FACT_LINEAR;
    }
}

const Fact *facts_of(const Facts *f, const Var *v)
{
    intptr_t at = f ? (intptr_t)map_get(&f->last, v) : 0;
    return at ? &f->list.at[at - 1] : NULL;
}

/* ---- blocks and threads ---------------------------------------------------------------------- */

void facts_name(Facts *f, const Stmt *s)
{
    if (s->kind == ST_FOR)
        facts_loop(f, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    if (s->kind == ST_LET)
        facts_let(f, s->u.let.var, s->u.let.value);
}

static bool see_name(const Stmt *s, void *arg)
{
    facts_name(arg, s);
    return true;
}

void facts_body(Facts *f, const Stmt *body)
{
    stmt_visit(body, see_name, f);
}

void facts_kernel(Facts *f, const Kernel *k)
{
    const Expr *zero = expr_int(f->ir, 0);

    f->k = k;
    if (k->assume)
        facts_assume(f, k->assume);
    for (int i = 0; i < k->ngrid; i++)
        if (k->block[i] && k->grid[i])
            facts_range(f, k->block[i], zero, k->grid[i]);
    for (int d = 0; d < 3; d++) {
        int extra = d == 0 && k->threads[1] * k->threads[2] == 1 ? k->extra_threads : 0;
        if (k->thread[d] && k->threads[d] > 0)
            facts_range(f, k->thread[d], zero, expr_int(f->ir, k->threads[d] + extra));
    }
}

/* A block of several dimensions of threads is not narrowed. */
void facts_role(Facts *f, const Stmt *role)
{
    const Kernel *k = f->k;
    ThreadGroup t;

    if (!k || !k->thread[0] || k->threads[1] * k->threads[2] != 1 || !role->u.role.nthread ||
        !group_of_role(k, role, &t))
        return;
    facts_range(f, k->thread[0], expr_int(f->ir, t.first),
                expr_int(f->ir, t.n ? t.n : kernel_block_threads(k)));
}

/* ---- of one variable ------------------------------------------------------------------------- */

/* Both residues hold; one is kept, the finer where one implies the other. */
static Modular meet_modular(Modular a, Modular b)
{
    if (a.coef == 0)
        return a;
    if (b.coef == 0)
        return b;
    if (a.coef % b.coef == 0)
        return a;
    if (b.coef % a.coef == 0)
        return b;
    return a.coef > b.coef ? a : b;
}

static void know_var(Facts *f, const Var *v, Bounds b, Modular m)
{
    const Fact *old = facts_of(f, v);
    Bounds was = old ? old->bounds : bounds_of_type(v->type);
    if (old)
        m = meet_modular(m, old->modular);
    Fact t = {.kind = FACT_VAR, .var = v, .modular = m,
              .prev = old ? (int)(old - f->list.at) + 1 : 0};
    t.bounds = (Bounds){MAX(b.lo, was.lo), MIN(b.hi, was.hi)};
    vec_push(f->ir->arena, &f->list, t);
    map_set(&f->last, v, (void *)(intptr_t)f->list.n);
}

static const Modular anything = {1, 0};

/* coef * v + base >= 0 */
static void know_half_line(Facts *f, const Var *v, int64_t coef, int64_t base)
{
    Bounds b = {INT64_MIN, INT64_MAX};
    if (base == INT64_MIN || coef == INT64_MIN)
        return;
    if (coef > 0)
        b.lo = -floor_div(base, coef);
    else
        b.hi = floor_div(base, -coef);
    know_var(f, v, b, anything);
}

/* coef * (v // c) + base >= 0 */
static void know_quotient(Facts *f, const Expr *q, int64_t coef, int64_t base)
{
    Bounds b = {INT64_MIN, INT64_MAX};
    int64_t c, last;
    if (q->op != EX_FLOORDIV || q->kid[0]->op != EX_VAR || !expr_is_int(q->kid[1], &c) || c <= 0 ||
        base == INT64_MIN || coef == INT64_MIN || coef == 0)
        return;
    if (coef > 0 ? !__builtin_mul_overflow(-floor_div(base, coef), c, &b.lo)
                 : !__builtin_mul_overflow(floor_div(base, -coef), c, &last) &&
                       !__builtin_add_overflow(last, c - 1, &b.hi))
        know_var(f, q->kid[0]->u.var, b, anything);
}

static void know_linear(Facts *f, const Linear *l)
{
    if (l->bad || l->n == 0)
        return;
    if (l->n == 1 && l->t[0].atom->op == EX_VAR) {
        know_half_line(f, l->t[0].atom->u.var, l->t[0].coef, l->base);
        return;
    }
    if (l->n == 1)
        know_quotient(f, l->t[0].atom, l->t[0].coef, l->base);
    Linear *copy = NEW(f->ir->arena, Linear);
    *copy = *l;
    Fact t = {.kind = FACT_LINEAR, .lin = copy, .of = f->of};
    vec_push(f->ir->arena, &f->list, t);
    f->nlinear++;
}

void facts_range(Facts *f, const Var *v, const Expr *min, const Expr *extent)
{
    min = simplify(f->ir, f, min);
    extent = simplify(f->ir, f, extent);
    Bounds from = bounds_of(f, min);
    Bounds last = bounds_add(bounds_add(from, bounds_of(f, extent)), (Bounds){-1, -1});
    know_var(f, v, (Bounds){from.lo, last.hi}, anything);
    if (expr_is_const(min) && expr_is_const(extent))
        return;
    const Expr *var = expr_var(f->ir, (Var *)v);
    Linear low = {0}, high = {0};
    linear_expr(&low, var, 1);
    linear_expr(&low, min, -1);
    linear_expr(&high, min, 1);
    linear_expr(&high, extent, 1);
    linear_expr(&high, var, -1);
    linear_const(&high, -1);
    if (expr_is_exact(f, min))
        know_linear(f, &low);
    if (expr_is_exact(f, min) && expr_is_exact(f, extent))
        know_linear(f, &high);
}

void facts_loop(Facts *f, const Var *v, const Expr *min, const Expr *extent)
{
    Ir *ir = f->ir;

    if (!expr_is_const(extent) && !prove_true(ir, f, expr_lt(ir, expr_int(ir, 0), extent)))
        f->of = v;
    facts_range(f, v, min, extent);
    f->of = NULL;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static void know_cond(Facts *f, const Expr *cond)
{
    Fact t = {.kind = FACT_COND, .cond = cond};
    vec_push(f->ir->arena, &f->list, t);
}

/* v % c == k */
static void know_residue(Facts *f, const Expr *e)
{
    int64_t c, k;
    const Expr *m = e->kid[0];
    if (m->op != EX_FLOORMOD || m->kid[0]->op != EX_VAR || !expr_is_int(m->kid[1], &c) ||
        !expr_is_int(e->kid[1], &k) || c <= 0 || k < 0 || k >= c)
        return;
    know_var(f, m->kid[0]->u.var, (Bounds){INT64_MIN, INT64_MAX}, (Modular){c, k});
}

static void know_comparison(Facts *f, const Expr *e)
{
    const Expr *a = e->kid[0], *b = e->kid[1];
    if (!expr_is_math(a) || !expr_is_exact(f, a) || !expr_is_exact(f, b))
        return;
    if (e->op == EX_GT || e->op == EX_GE) {
        const Expr *t = a;
        a = b;
        b = t;
    }
    Linear l = {0}; /* b - a */
    linear_expr(&l, b, 1);
    linear_expr(&l, a, -1);
    if (e->op == EX_LT || e->op == EX_GT)
        linear_const(&l, -1);
    know_linear(f, &l);
    if (e->op != EX_EQ)
        return;
    Linear m = {0};
    linear_sum(&m, &l, -1);
    know_linear(f, &m);
    know_residue(f, e);
}

/* x < 4, or the like */
static bool is_bound(const Expr *e)
{
    return e->op >= EX_EQ && e->op <= EX_GE && e->op != EX_NE && e->kid[0]->op == EX_VAR &&
           expr_is_const(e->kid[1]);
}

void facts_hold(Facts *f, const Expr *cond)
{
    const Expr *said = cond;
    cond = simplify(f->ir, f, cond);
    if (expr_is_const(cond)) {
        /* Linear facts may imply a bound that bounds_of does not see. */
        if (is_bound(said))
            know_comparison(f, said);
        return;
    }
    if (cond->op == EX_AND) {
        facts_hold(f, cond->kid[0]);
        facts_hold(f, cond->kid[1]);
        return;
    }
    switch (cond->op) {
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE:
    case EX_EQ:
        know_comparison(f, cond);
        break;
    default:
        break;
    }
    know_cond(f, cond);
}

static const Expr *negated(Facts *f, const Expr *e)
{
    static const uint8_t other[EX_COUNT] = {
        [EX_EQ] = EX_NE, [EX_NE] = EX_EQ, [EX_LT] = EX_GE,
        [EX_GE] = EX_LT, [EX_LE] = EX_GT, [EX_GT] = EX_LE,
    };
    if (other[e->op] && dtype_is_int(e->kid[0]->type))
        return expr_binary(f->ir, (ExprOp)other[e->op], e->kid[0], e->kid[1]);
    return expr_unary(f->ir, EX_NOT, e);
}

void facts_hold_simple(Facts *f, const Expr *cond, bool holds)
{
    if (expr_is_const(cond) || cond->lanes != 1)
        return;
    if (cond->op == EX_NOT) {
        facts_hold_simple(f, cond->kid[0], !holds);
        return;
    }
    if (cond->op == (holds ? EX_AND : EX_OR)) {
        facts_hold_simple(f, cond->kid[0], holds);
        facts_hold_simple(f, cond->kid[1], holds);
        return;
    }
    const Expr *c = holds ? cond : negated(f, cond);
    if (c->op >= EX_EQ && c->op <= EX_GE && c->op != EX_NE)
        know_comparison(f, c);
    know_cond(f, c);
}

void facts_assume(Facts *f, const Expr *cond)
{
    if (cond->op == EX_AND) {
        facts_assume(f, cond->kid[0]);
        facts_assume(f, cond->kid[1]);
    } else if (!expr_has_load(cond)) {
        facts_hold(f, cond);
    }
}

void facts_assume_of(Facts *f, const Var *v, const Expr *cond)
{
    f->of = v;
    facts_assume(f, cond);
    f->of = NULL;
}
