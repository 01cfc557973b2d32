/* legalise_wide.c -- 64-bit integers as 32-bit ones, where what counts of each provably fits;
 * others are pairs of words (legalise_pairs.c).  And 64-bit floats, which have no such place. */
#include "target/legalise.h"

static bool see_bound(const Stmt *s, void *arg)
{
    Legal *l = arg;
    Var *v = s->kind == ST_LET ? s->u.let.var : s->kind == ST_FOR ? s->u.loop.var : NULL;

    if (!v || !is_wide(v->type))
        return true;
    legal_var(l, v);
    if (s->kind == ST_LET)
        facts_let(l->e->facts, v, s->u.let.value);
    return true;
}

NORETURN static void refuse_wide(Legal *l, const Expr *x)
{
    Str text;

    str_init(&text, l->ir->arena);
    print_expr(&text, x);
    legal_refuse(l, arena_printf(l->ir->arena, "'%s'", text.s));
}

/* Its low bits are made of those of its operands. */
static bool is_low(const Expr *x)
{
    const uint64_t low = 1ull << EX_ADD | 1ull << EX_SUB | 1ull << EX_MUL | 1ull << EX_NEG |
                         1ull << EX_CAST | 1ull << EX_BITAND | 1ull << EX_BITOR |
                         1ull << EX_BITXOR | 1ull << EX_BITNOT | 1ull << EX_SELECT |
                         1ull << EX_IF | 1ull << EX_RAMP | 1ull << EX_BROADCAST |
                         1ull << EX_VECTOR;
    return dtype_is_int((DType)x->type) && (low >> x->op & 1);
}

/* What of x keeps it out of 32 bits; NULL: nothing.  exact: all of its value counts, so that it
 * must fit; else its low bits do.  What only its type says the range of cannot be: names from
 * outside, memory, calls. */
const Expr *wide_culprit(Legal *l, const Expr *x, bool exact)
{
    bool wide = is_wide((DType)x->type), low = is_low(x);
    static const char fits[2];

    if (map_get(&l->done, x) == &fits[1] || (!exact && map_has(&l->done, x)))
        return NULL;
    if (wide && ((x->op == EX_VAR && !map_has(&l->vars, x->u.var)) || x->op == EX_LOAD ||
                 x->op == EX_BITCAST || x->op == EX_MATH || x->op == EX_EXTERN))
        return x;
    if (wide && exact && !bounds_within(bounds_of(l->e->facts, x), INT32_MIN, INT32_MAX))
        return x;
    for (int i = 0; i < x->nkid; i++) {
        bool test = i == 0 && (x->op == EX_SELECT || x->op == EX_IF);
        bool place = i == 0 && (x->op == EX_LOAD || x->op == EX_ADDR);
        const Expr *found = wide_culprit(l, x->kid[i], test || !(low || place));
        if (found)
            return found;
    }
    map_set(&l->done, x, (void *)&fits[exact]);
    return NULL;
}

typedef struct {
    Legal *l;
    const Stmt *s;
    const Expr *found; /* what does not fit */
} WideCheck;

/* Elements of a tensor are fewer than 2^31: of where one is, low bits are enough. */
static bool check_root(const Expr *x, void *arg)
{
    WideCheck *c = arg;
    const Stmt *s = c->s;
    bool place = (s->kind == ST_STORE && x == s->u.store.at[0]) ||
                 (s->kind == ST_ATOMIC && x == s->u.atomic.at[0]);

    if (!c->found)
        c->found = wide_culprit(c->l, x, !place && s->kind != ST_LET);
    return false;
}

/* Where the language has pairs of words, what does not fit is left to them. */
static bool check_stmt(const Stmt *s, void *arg)
{
    Legal *l = arg;
    WideCheck c = {l, s, NULL};
    const Buffer *b = s->kind == ST_STORE ? s->u.store.buf : s->kind == ST_ATOMIC ? s->u.atomic.buf
                                                                                  : NULL;

    if (l->paired)
        return false;
    l->at = s->span;
    stmt_visit_expr(s, check_root, &c);
    if (l->e->say->pair)
        l->paired = c.found || (b && is_wide(b->type));
    else if (b && is_wide(b->type))
        legal_refuse(l, arena_printf(l->ir->arena, "'%s'", b->name));
    else if (c.found)
        refuse_wide(l, c.found);
    return !l->paired;
}

/* Names of numbers that fit are of 32 bits beside pairs, too. */
static bool see_fitting(const Stmt *s, void *arg)
{
    Legal *l = arg;

    if (s->kind == ST_LET && is_wide(s->u.let.var->type) && !wide_culprit(l, s->u.let.value, true))
        legal_var(l, s->u.let.var);
    if (s->kind == ST_FOR && is_wide(s->u.loop.var->type) &&
        !wide_culprit(l, s->u.loop.min, true) && !wide_culprit(l, s->u.loop.extent, true))
        legal_var(l, s->u.loop.var);
    return true;
}

/* Operators are made anew of what their operands became. */
static const Expr *narrow(Ir *ir, const Expr *x, void *arg)
{
    if (!is_wide((DType)x->type))
        return x;
    if (x->op == EX_INT)
        return expr_const(ir, DT_I32, (int32_t)(uint32_t)(uint64_t)x->u.i);
    if (x->op == EX_VAR)
        return legal_var(arg, x->u.var);
    return x->op == EX_CAST ? expr_cast(ir, DT_I32, x->kid[0]) : x;
}

static const Expr *narrow_all(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, narrow, arg);
}

const Expr *wide_narrowed(Legal *l, const Expr *x)
{
    return narrow_all(l->ir, x, l);
}

static bool check_double(const Expr *x, void *arg)
{
    if (x->type == DT_F64)
        legal_refuse(arg, "a float64");
    return true;
}

static bool check_doubles(const Stmt *s, void *arg)
{
    Legal *l = arg;

    l->at = s->span;
    stmt_visit_expr(s, check_double, l);
    if (s->kind == ST_STORE && s->u.store.buf->type == DT_F64)
        legal_refuse(l, arena_printf(l->ir->arena, "'%s'", s->u.store.buf->name));
    return true;
}

/* They are in no other type's place: they are refused. */
const Stmt *lower_doubles(Legal *l, const Stmt *body)
{
    stmt_visit(body, check_doubles, l);
    return body;
}

const Stmt *lower_wide(Legal *l, const Stmt *body)
{
    stmt_visit(body, see_bound, l);
    stmt_visit(body, check_stmt, l);
    if (l->paired) {
        map_init(&l->vars, l->e->arena);
        map_init(&l->done, l->e->arena);
        stmt_visit(body, see_fitting, l);
        return lower_pairs(l, body);
    }
    body = stmt_map_expr(l->ir, body, narrow_all, l);
    return stmt_map(l->ir, body, legal_bind, l);
}
