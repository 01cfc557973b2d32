/* lower_exact.c -- index arithmetic is exact: what may leave 32 bits is done in 64.
 *
 * Variables of loops, blocks and threads are int32, and sums and products of them are too, as they
 * come from the front end.  Constants fold in that type, so a sum that may be too large has to be
 * made in int64 before anything puts constants into it.  The pass does so with indices, with what
 * is compared, divided and chosen, and with what becomes wider or a float; it is done before the
 * tile form is kept as the meaning, too.  Its functions serve lower_indices (offsets) and
 * lower_widths (what is still open). */
#include "pass/pass.h"
#include "pass/lower_exact.h"

/* A shift by a number of bits is a product, in an index. */
static bool is_sum(const Expr *e)
{
    int64_t n;

    return e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL ||
           (e->op == EX_SHL && expr_is_int(e->kid[1], &n) && n >= 0 && n < 32);
}

static Bounds product(Bounds a, Bounds b) /* of numbers that fit int32 */
{
    int64_t c[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    Bounds r = {c[0], c[0]};

    for (int i = 1; i < 4; i++)
        r = (Bounds){MIN(r.lo, c[i]), MAX(r.hi, c[i])};
    return r;
}

static bool in_int32(Bounds b)
{
    return b.lo >= INT32_MIN && b.hi <= INT32_MAX;
}

/* Of a sum or product of numbers that fit: the true one, not what is left of it where it may have
 * wrapped (data times a stride). */
static Bounds true_bounds(const Facts *f, const Expr *e)
{
    Bounds x = bounds_of(f, e->kid[0]), y = bounds_of(f, e->kid[1]);

    if (e->op == EX_SHL)
        return product(x, (Bounds){(int64_t)1 << y.lo, (int64_t)1 << y.lo});
    if (e->op == EX_MUL)
        return product(x, y);
    return bounds_add(x, e->op == EX_SUB ? (Bounds){-y.hi, -y.lo} : y);
}

bool index_fits(const Facts *f, const Expr *e)
{
    Bounds b = bounds_of(f, e);

    if (is_sum(e)) {
        if (!index_fits(f, e->kid[0]) || !index_fits(f, e->kid[1]))
            return false;
        if (b.lo == INT32_MIN && b.hi == INT32_MAX) /* all that is known is the type */
            b = true_bounds(f, e);
    }
    return in_int32(b);
}

/* By itself: of two numbers that do not. */
static bool sum_leaves(const Facts *f, const Expr *e)
{
    for (int i = 0; i < 2; i++) {
        Bounds b = bounds_of(f, e->kid[i]);
        if (b.lo <= INT32_MIN || b.hi >= INT32_MAX) /* any number of the type */
            return false;
    }
    return !in_int32(true_bounds(f, e));
}

static bool leaves(const Facts *f, const Expr *e)
{
    if (e->type != DT_I32 || e->lanes != 1 || e->nkid == 0 || e->op == EX_LOAD)
        return false;
    for (int i = 0; i < e->nkid; i++)
        if (leaves(f, e->kid[i]))
            return true;
    return is_sum(e) && sum_leaves(f, e);
}

bool index_leaves(IndexFacts f, const Expr *e)
{
    return leaves(f.constant, e) && leaves(f.all, e);
}

const Expr *index_widen(Ir *ir, IndexFacts f, const Expr *e)
{
    if (e->type == DT_I64)
        return e;
    if (is_sum(e) || ((e->op == EX_MIN || e->op == EX_MAX || e->op == EX_FLOORDIV ||
                       e->op == EX_FLOORMOD) && index_leaves(f, e)))
        return expr_binary(ir, (ExprOp)e->op, index_widen(ir, f, e->kid[0]),
                           index_widen(ir, f, e->kid[1]));
    return expr_cast(ir, DT_I64, e);
}

const Expr *index_mul(Ir *ir, const Expr *a, const Expr *b)
{
    int64_t x, y, r;
    bool known = expr_is_int(a, &x) && expr_is_int(b, &y) && !__builtin_mul_overflow(x, y, &r);
    return known ? expr_int(ir, r) : expr_mul(ir, a, b);
}

const Expr *index_add(Ir *ir, const Expr *a, const Expr *b)
{
    int64_t x, y, r;
    bool known = expr_is_int(a, &x) && expr_is_int(b, &y) && !__builtin_add_overflow(x, y, &r);
    return known ? expr_int(ir, r) : expr_add(ir, a, b);
}

static bool know_constant(const Stmt *s, void *arg)
{
    bool known = s->kind != ST_FOR ||
                 (expr_is_const(s->u.loop.min) && expr_is_const(s->u.loop.extent));
    if (known)
        facts_name(arg, s);
    return true;
}

static Facts *facts_constant(const Kernel *k)
{
    Facts *f = facts_new(k->ir);

    for (int i = 0; i < k->ngrid; i++)
        if (k->block[i] && k->grid[i] && expr_is_const(k->grid[i]))
            facts_range(f, k->block[i], expr_int(k->ir, 0), k->grid[i]);
    for (int d = 0; d < 3; d++)
        if (k->thread[d] && k->threads[d] > 0)
            facts_range(f, k->thread[d], expr_int(k->ir, 0), expr_int(k->ir, k->threads[d]));
    stmt_visit(k->body, know_constant, f);
    return f;
}

IndexFacts index_facts(const Kernel *k)
{
    IndexFacts f = {facts_new(k->ir), facts_constant(k)};

    facts_kernel(f.all, k);
    facts_body(f.all, k->body); /* Vars are unique, so ranges never clash */
    return f;
}

/* ---- before planning: indices of large dimensions, values ------------------------------------ */

/* What looks at all of a value (a comparison, a quotient, a wider type, a float) sees the true one;
 * sums, and stores of 32 bits and fewer, need its low bits only.  Sums with data in them wrap, but
 * not as indices. */

typedef struct {
    Ir *ir;
    IndexFacts facts;
    Map lets;   /* Var * -> const Stmt *, the ST_LET of an int32 that may not fit one */
    Map wide;   /* Var * -> Wide * */
    Map scalars; /* Var *, of the parameters */
    Map shapes;  /* Var *, in extents of tensors */
    Map far;     /* Var *, of blocks and loops that are as many as a product that may leave */
    Map leaves; /* const Expr * -> &yes or &no; Var * -> &yes: their values may leave 32 bits */
    Map same;   /* const Expr * -> const Expr *, as exact_expr gives it */
    Map widened; /* and exact_widen */
} Exact;

typedef struct {
    Var *var;
    const Expr *value;
} Wide;

static const char yes, no;

static const Expr *exact_widen(Exact *x, const Expr *e);
static const Expr *exact_expr(Exact *x, const Expr *e);

static bool is_index(const Expr *e)
{
    return e->type == DT_I32 && e->lanes == 1;
}

/* What memory, a scalar argument or a float gave. */
static bool is_data(const Expr *e, void *scalars)
{
    return e->op == EX_LOAD || e->op == EX_EXTERN ||
           (e->op == EX_VAR && (e->u.var->data || map_has(scalars, e->u.var))) ||
           (e->op == EX_CAST && dtype_is_float((DType)e->kid[0]->type));
}

static bool is_one_of(const Expr *e, void *vars)
{
    return e->op == EX_VAR && map_has(vars, e->u.var);
}

/* Of two numbers that are no constants, an extent that only a call knows among them; or of one that
 * runs as far as such a product says. */
static bool product_leaves(Exact *x, const Expr *e)
{
    bool open = !expr_is_const(e->kid[0]) && !expr_is_const(e->kid[1]);

    return e->op == EX_MUL && !in_int32(true_bounds(x->facts.all, e)) &&
           ((open && expr_any(e, is_one_of, &x->shapes)) || expr_any(e, is_one_of, &x->far));
}

/* Does a value leave 32 bits on the way, by sums of what is no data?  What is in bounds of a tensor
 * with extents of 32 bits does not, so it is not asked of indices. */
static bool value_leaves(Exact *x, const Expr *e)
{
    const char *known = map_get(&x->leaves, e);
    bool is = false;

    if (!is_index(e) || e->op == EX_LOAD)
        return false;
    if (e->op == EX_VAR)
        return map_has(&x->leaves, e->u.var);
    if (known)
        return known == &yes;
    for (int i = 0; i < e->nkid && !is; i++)
        is = value_leaves(x, e->kid[i]);
    is = is || (is_sum(e) && e->op != EX_SHL &&
                ((sum_leaves(x->facts.constant, e) && sum_leaves(x->facts.all, e)) ||
                 product_leaves(x, e)) &&
                !expr_any(e, is_data, &x->scalars));
    map_set(&x->leaves, e, (void *)(is ? &yes : &no));
    return is;
}

/* A name for a value that may not fit has a second one, in 64 bits. */
static const Expr *wide_name(Exact *x, const Expr *e)
{
    const Stmt *let = map_get(&x->lets, e->u.var);
    Wide *w = map_get(&x->wide, e->u.var);

    if (!let)
        return expr_cast(x->ir, DT_I64, e);
    if (!w) {
        w = NEW(x->ir->arena, Wide);
        w->var = var_new(x->ir, e->u.var->name, DT_I64, let->span);
        w->var->data = e->u.var->data;
        w->value = exact_widen(x, let->u.let.value);
        map_set(&x->wide, e->u.var, w);
    }
    return expr_var(x->ir, w->var);
}

static bool divides(const Expr *e)
{
    return e->op == EX_FLOORDIV || e->op == EX_FLOORMOD || e->op == EX_TRUNCDIV ||
           e->op == EX_TRUNCMOD || e->op == EX_MIN || e->op == EX_MAX || e->op == EX_SHR;
}

static const Expr *widen_node(Exact *x, const Expr *e)
{
    bool passes = divides(e) || e->op == EX_BITAND || e->op == EX_BITOR || e->op == EX_BITXOR;
    bool leaves = value_leaves(x, e) || index_leaves(x->facts, e);

    if (e->op == EX_VAR)
        return wide_name(x, e);
    if (is_sum(e) || (passes && leaves))
        return expr_binary(x->ir, (ExprOp)e->op, exact_widen(x, e->kid[0]),
                           exact_widen(x, e->kid[1]));
    if ((e->op == EX_IF || e->op == EX_SELECT) && leaves)
        return (e->op == EX_IF ? expr_if : expr_select)(x->ir, exact_expr(x, e->kid[0]),
                                                        exact_widen(x, e->kid[1]),
                                                        exact_widen(x, e->kid[2]));
    if (e->op == EX_MATH && e->u.fn == MATH_ABS && leaves)
        return expr_math(x->ir, MATH_ABS, (const Expr *[]){exact_widen(x, e->kid[0])}, 1);
    if (e->op == EX_NEG && leaves)
        return expr_unary(x->ir, EX_NEG, exact_widen(x, e->kid[0]));
    return index_widen(x->ir, x->facts, exact_expr(x, e));
}

/* In int64, without loss. */
static const Expr *exact_widen(Exact *x, const Expr *e)
{
    const Expr *r = map_get(&x->widened, e);

    if (!is_index(e))
        return index_widen(x->ir, x->facts, exact_expr(x, e));
    if (!r) {
        r = widen_node(x, e);
        map_set(&x->widened, e, (void *)r);
    }
    return r;
}

/* Index d of a buffer. */
static const Expr *exact_index(Exact *x, const Buffer *b, int d, const Expr *e)
{
    bool large = b->scope == MEM_GLOBAL && d < b->rank && b->shape[d]->type == DT_I64;

    if (!is_index(e))
        return exact_expr(x, e);
    bool open = large && (!index_fits(x->facts.all, e) ||
                          (e->op == EX_VAR && map_has(&x->lets, e->u.var)));
    return open || index_leaves(x->facts, e) ? exact_widen(x, e) : exact_expr(x, e);
}

static bool compares(const Expr *e)
{
    return e->op >= EX_EQ && e->op <= EX_GE;
}

/* Of a cast: is more than the low 32 bits of its operand in it? */
static bool casts_all(const Expr *e)
{
    return e->op == EX_CAST && !(dtype_is_int((DType)e->type) && dtype_bits((DType)e->type) <= 32);
}

static const Expr *exact_node(Exact *x, const Expr *e)
{
    const Expr *kid[2];

    if ((compares(e) || divides(e)) &&
        (value_leaves(x, e->kid[0]) || value_leaves(x, e->kid[1]))) {
        const Expr *r = expr_binary(x->ir, (ExprOp)e->op, exact_widen(x, e->kid[0]),
                                    exact_widen(x, e->kid[1]));
        return expr_cast(x->ir, (DType)e->type, r);
    }
    if (casts_all(e) && value_leaves(x, e->kid[0]))
        return expr_cast(x->ir, (DType)e->type, exact_widen(x, e->kid[0]));
    if (e->op != EX_LOAD && e->op != EX_ADDR && e->nkid <= COUNT(kid)) {
        for (int i = 0; i < e->nkid; i++)
            kid[i] = exact_expr(x, e->kid[i]);
        return expr_with_kids(x->ir, e, kid);
    }
    const Expr **list = NEWN(x->ir->arena, const Expr *, e->nkid);
    bool indexed = e->op == EX_LOAD || e->op == EX_ADDR;
    for (int i = 0; i < e->nkid; i++)
        list[i] = indexed && i < expr_nindex(e) ? exact_index(x, e->u.buf, i, e->kid[i])
                                                : exact_expr(x, e->kid[i]);
    return expr_with_kids(x->ir, e, list);
}

/* In its own type. */
static const Expr *exact_expr(Exact *x, const Expr *e)
{
    const Expr *r = e->nkid ? map_get(&x->same, e) : e;

    if (!r) {
        r = exact_node(x, e);
        map_set(&x->same, e, (void *)r);
    }
    return r;
}

static const Expr *exact_any(Ir *ir, const Expr *e, void *arg)
{
    (void)ir;
    return exact_expr(arg, e);
}

/* False when nothing had to change. */
static bool exact_list(Exact *x, const Buffer *b, const Expr *const *at, int n, const Expr **out)
{
    bool changed = false;

    for (int d = 0; d < n; d++) {
        out[d] = exact_index(x, b, d, at[d]);
        changed |= out[d] != at[d];
    }
    return changed;
}

static const Stmt *exact_tile(Exact *x, const Stmt *s)
{
    Region *r = NEWN(x->ir->arena, Region, s->u.tile.nregion);
    Stmt *t = NEW(x->ir->arena, Stmt);
    bool same = true;

    for (int i = 0; i < s->u.tile.nregion; i++) {
        r[i] = s->u.tile.region[i];
        if (!r[i].buf || r[i].buf->scope != MEM_GLOBAL)
            continue;
        const Expr **at = NEWN(x->ir->arena, const Expr *, r[i].buf->rank);
        same &= !exact_list(x, r[i].buf, r[i].at, r[i].buf->rank, at);
        r[i].at = at;
    }
    if (same)
        return s;
    *t = *s;
    t->u.tile.region = r;
    return t;
}

static const Stmt *exact_stmt(Ir *ir, const Stmt *s, void *arg)
{
    Exact *x = arg;
    const Expr *at[RANK_MOST];
    int n;
    const Expr *const *from = stmt_indices(s, &n);

    if (from && exact_list(x, stmt_stores(s), from, n, at))
        return stmt_reindex(ir, s, at, n);
    return s->kind == ST_TILE ? exact_tile(x, s) : s;
}

static bool find_let(const Stmt *s, void *arg)
{
    Exact *x = arg;

    if (s->kind == ST_FOR && value_leaves(x, s->u.loop.extent))
        map_set(&x->far, s->u.loop.var, (void *)&yes);
    if (s->kind != ST_LET || s->u.let.var->type != DT_I32)
        return true;
    const Expr *value = s->u.let.value;
    bool leaves = value_leaves(x, value);
    if (leaves)
        map_set(&x->leaves, s->u.let.var, (void *)&yes);
    if (leaves || (is_sum(value) && !index_fits(x->facts.all, value)) ||
        (value->op == EX_VAR && (!index_fits(x->facts.all, value) ||
                                 map_has(&x->lets, value->u.var))))
        map_set(&x->lets, s->u.let.var, (void *)s);
    return true;
}

static const Stmt *name_twice(Ir *ir, const Stmt *s, void *arg)
{
    const Wide *w = s->kind == ST_LET ? map_get(&((Exact *)arg)->wide, s->u.let.var) : NULL;
    return w ? stmt_seq(ir, stmt_let(ir, s->span, w->var, w->value), s) : s;
}

void pass_lower_exact(Kernel *k)
{
    Exact x = {.ir = k->ir, .facts = index_facts(k)};

    map_init(&x.lets, k->scratch);
    map_init(&x.wide, k->scratch);
    map_init(&x.leaves, k->scratch);
    map_init(&x.scalars, k->scratch);
    map_init(&x.shapes, k->scratch);
    for (int i = 0; i < k->func->params.n; i++) {
        const Param *p = &k->func->params.at[i];
        if (p->var)
            map_set(&x.scalars, p->var, (void *)&yes);
        for (int d = 0; p->buf && d < p->buf->rank; d++)
            expr_vars(p->buf->shape[d], &x.shapes);
    }
    map_init(&x.same, k->scratch);
    map_init(&x.widened, k->scratch);
    map_init(&x.far, k->scratch);
    for (int d = 0; d < k->ngrid; d++)
        if (value_leaves(&x, k->grid[d]))
            map_set(&x.far, k->block[d], (void *)&yes);
    stmt_visit(k->body, find_let, &x);
    k->body = stmt_map(k->ir, k->body, exact_stmt, &x); /* whose indices are no values */
    k->body = stmt_map_expr(k->ir, k->body, exact_any, &x);
    k->body = stmt_map(k->ir, k->body, name_twice, &x);
    for (int d = 0; d < k->ngrid; d++)
        k->grid[d] = exact_expr(&x, k->grid[d]);
}
