/* facts.c -- what a function reads, writes and computes, from its tile form. */
#include <math.h>
#include "api/api.h"

/* ---- parameters read and written ------------------------------------------------------------- */

typedef struct {
    Func *f;
    uint8_t *use;
} Uses;

static void use_buffer(Uses *u, const Buffer *b, uint8_t how)
{
    const Buffer *root = buffer_root(b);
    for (int i = 0; i < u->f->params.n; i++)
        if (u->f->params.at[i].buf == root)
            u->use[i] |= how;
}

/* Whoever has an address may do both unless he said otherwise. */
static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    bool only_reads = t->how & ACC_ADDRESS && (stmt_calls(s, INTRIN_WIDE_LOAD) ||
                                               stmt_calls(s, INTRIN_PREFETCH) ||
                                               buffer_root(t->buf)->lent_to_read);
    if (touch_reads(t))
        use_buffer(arg, t->buf, PARAM_READ);
    if (touch_writes(t) && !only_reads)
        use_buffer(arg, t->buf, PARAM_WRITE);
}

void func_uses(Func *f, uint8_t *use)
{
    Uses u = {f, use};
    for (int i = 0; i < f->kernels.n; i++) {
        stmt_touches_all(f->kernels.at[i]->body, see_touch, &u);
        for (int p = 0; p < f->params.n && hint_find(f->kernels.at[i]->hints, "entry_name"); p++)
            use[p] |= PARAM_READ | PARAM_WRITE; /* a text that is not ours */
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Loops whose bodies do not depend on the variable are multiplied, others are walked, up to a
 * number of steps; past it the middle iteration stands for all. */
enum { STEPS_MOST = 1 << 20, STEPS_ROUGH = 1 << 10, TILES_MOST = 32 };

/* What part of a tile a copy from a tensor filled; the rest lies past the tensor's edge. */
typedef struct {
    const Buffer *tile;
    double part[2];
} Filled;

typedef struct Count {
    int64_t *value; /* by Var id */
    int64_t nsteps, most_steps;
    Filled filled[TILES_MOST];
    int nfilled;
    double (*of)(struct Count *c, const Stmt *s); /* counted of a statement that is no loop */
} Count;

/* ---- GEMMs at the edges of tensors ---- */

enum { COPY_SRC, COPY_DST };
enum { GEMM_A, GEMM_B };

static bool is_known(const Expr *e)
{
    return !expr_has_load(e);
}

/* Of a region of a tensor, what part of each of its two dimensions lies inside. */
static void part_inside(const Count *c, const Region *r, double part[2])
{
    int dim[RANK_MOST];

    part[0] = part[1] = 1;
    if (r->buf->scope != MEM_GLOBAL || region_dims(r, dim) != 2)
        return;
    for (int i = 0; i < 2; i++) {
        const Expr *at = r->at[dim[i]], *extent = r->extent[dim[i]], *shape = r->buf->shape[dim[i]];
        if (!is_known(at) || !is_known(extent) || !is_known(shape))
            continue;
        int64_t n = expr_eval(extent, c->value);
        int64_t left = expr_eval(shape, c->value) - expr_eval(at, c->value);
        if (n > 0)
            part[i] = (double)MIN(MAX(left, 0), n) / (double)n;
    }
}

static void note_copy(Count *c, const Stmt *s)
{
    const Region *dst = &s->u.tile.region[COPY_DST];
    int i = 0;

    while (i < c->nfilled && c->filled[i].tile != dst->buf)
        i++;
    if (i == TILES_MOST || dst->buf->scope == MEM_GLOBAL)
        return;
    c->nfilled = MAX(c->nfilled, i + 1);
    c->filled[i] = (Filled){dst->buf, {1, 1}};
    if (region_is_whole(dst) && dst->buf->rank == 2)
        part_inside(c, &s->u.tile.region[COPY_SRC], c->filled[i].part);
}

static void operand_part(const Count *c, const Region *r, double part[2])
{
    part_inside(c, r, part);
    for (int i = 0; i < c->nfilled; i++)
        if (c->filled[i].tile == r->buf && region_is_whole(r))
            memcpy(part, c->filled[i].part, sizeof c->filled[i].part);
}

static bool is_set(const Stmt *s, int arg)
{
    int64_t v;
    return arg < s->u.tile.narg && s->u.tile.arg[arg] && expr_is_int(s->u.tile.arg[arg], &v) && v;
}

/* The part of a GEMM's operations whose operands lie inside their tensors. */
static double gemm_part(const Count *c, const Stmt *s)
{
    double a[2], b[2];
    bool ta = is_set(s, 0), tb = is_set(s, 1);

    operand_part(c, &s->u.tile.region[GEMM_A], a);
    operand_part(c, &s->u.tile.region[GEMM_B], b);
    return a[ta] * b[!tb] * MIN(a[!ta], b[tb]);
}

typedef struct {
    const Count *c;
    const Var *v;
    bool found;
} Dependence;

/* A region that moves with the variable and does not divide its tensor ends past an edge. */
static bool is_ragged(const Dependence *d, const Region *r)
{
    if (r->buf->scope != MEM_GLOBAL)
        return false;
    for (int i = 0; i < r->buf->rank; i++) {
        if (!expr_uses_var(r->at[i], d->v) || !is_known(r->extent[i]) ||
            !is_known(r->buf->shape[i]))
            continue;
        int64_t n = expr_eval(r->extent[i], d->c->value);
        if (n > 1 && expr_eval(r->buf->shape[i], d->c->value) % n)
            return true;
    }
    return false;
}

static bool see_bound(const Stmt *s, void *arg)
{
    Dependence *d = arg;

    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++)
        d->found |= is_ragged(d, &s->u.tile.region[i]);
    if (s->kind == ST_FOR)
        d->found |= expr_uses_var(s->u.loop.extent, d->v) || expr_uses_var(s->u.loop.min, d->v);
    if (s->kind == ST_IF || s->kind == ST_WHILE)
        d->found |= expr_uses_var(s->u.branch.cond, d->v);
    if (s->kind == ST_LET) /* a let may carry it into a bound */
        d->found |= expr_uses_var(s->u.let.value, d->v);
    return !d->found;
}

static bool bounds_depend(const Count *c, const Stmt *s, const Var *v)
{
    Dependence d = {c, v, false};
    stmt_visit(s, see_bound, &d);
    return d.found;
}

static double count(Count *c, const Stmt *s);

/* ---- what is counted ---- */

static double flops_of(Count *c, const Stmt *s)
{
    if (s->kind != ST_TILE)
        return 0;
    if (tile_does(s, TILE_COPIES))
        note_copy(c, s);
    double total = s->u.tile.op->flops ? s->u.tile.op->flops(s) : 0;
    return tile_is_gemm(s) ? total * gemm_part(c, s) : total;
}

static double elements(const Count *c, const Region *r)
{
    double n = 1;
    for (int i = 0; i < r->buf->rank; i++)
        n *= is_known(r->extent[i]) ? (double)expr_eval(r->extent[i], c->value) : 1;
    return n;
}

typedef struct {
    const Count *c;
    bool on_chip;
    double most; /* elements that a tile operator can take from a tensor that it is given whole */
    double total;
} Moved;

static double most_on_chip(const Count *c, const Stmt *s)
{
    double most = 0;
    for (int i = 0; i < s->u.tile.nregion; i++)
        if (s->u.tile.region[i].buf->scope != MEM_GLOBAL)
            most = MAX(most, elements(c, &s->u.tile.region[i]));
    return most > 0 ? most : INFINITY;
}

static void see_moved(void *arg, const Region *r, Access a)
{
    Moved *m = arg;

    (void)a;
    if (r->buf->scope == (m->on_chip ? MEM_SHARED : MEM_GLOBAL))
        m->total += MIN(elements(m->c, r), m->most) * dtype_bits(r->buf->type) / 8;
}

static void see_element(Moved *m, const Buffer *b)
{
    if (b->scope == (m->on_chip ? MEM_SHARED : MEM_GLOBAL))
        m->total += dtype_bits(b->type) / 8.0;
}

static bool see_loaded(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD)
        see_element(arg, e->u.buf);
    return true;
}

static double moved(Count *c, const Stmt *s, bool on_chip)
{
    Moved m = {c, on_chip, INFINITY, 0};

    if (s->kind == ST_TILE) {
        m.most = most_on_chip(c, s);
        tile_access(s, see_moved, &m);
    } else {
        stmt_visit_expr(s, see_loaded, &m);
    }
    if (s->kind == ST_STORE)
        see_element(&m, s->u.store.buf);
    if (s->kind == ST_ATOMIC)
        see_element(&m, s->u.atomic.buf);
    return m.total;
}

static double bytes_of(Count *c, const Stmt *s)
{
    return moved(c, s, false);
}

static double on_chip_of(Count *c, const Stmt *s)
{
    return moved(c, s, true);
}

static bool see_node(const Expr *e, void *arg)
{
    *(double *)arg += e->op == EX_MATH ? 4 : !expr_is_const(e) && e->op != EX_VAR;
    return true;
}

/* Operations of threads: nodes of expressions; of a tile operator that is no MMA its elements. */
static double operations_of(Count *c, const Stmt *s)
{
    double n = 0, most = 0;

    if (s->kind != ST_TILE) {
        stmt_visit_expr(s, see_node, &n);
        return n + 1;
    }
    for (int i = 0; i < s->u.tile.nregion && !tile_does(s, TILE_MMA); i++) {
        const Region *r = &s->u.tile.region[i];
        if (r->buf->scope != MEM_GLOBAL)
            most = MAX(most, elements(c, r));
    }
    return most;
}

/* Tile operators that run: what waits for memory or for other threads. */
static double steps_of(Count *c, const Stmt *s)
{
    (void)c;
    return s->kind == ST_TILE;
}

static double count_range(Count *c, const Stmt *body, const Var *v, int64_t min, int64_t n)
{
    double total = 0;

    if (n <= 0)
        return 0;
    c->value[v->id] = min + n / 2;
    if (n == 1 || !bounds_depend(c, body, v) || c->nsteps + n > c->most_steps) {
        c->value[v->id] = n == 1 ? min : min + n / 2;
        return (double)n * count(c, body);
    }
    for (int64_t i = 0; i < n; i++) {
        c->nsteps++;
        c->value[v->id] = min + i;
        total += count(c, body);
    }
    return total;
}

static double count(Count *c, const Stmt *s)
{
    double total = 0;

    if (!s)
        return 0;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            total += count(c, s->u.block.list[i]);
        return total;
    case ST_LET:
        if (dtype_is_int(s->u.let.var->type) && !expr_has_load(s->u.let.value))
            c->value[s->u.let.var->id] = expr_eval(s->u.let.value, c->value);
        return 0;
    case ST_FOR:
        if (expr_has_load(s->u.loop.extent) || expr_has_load(s->u.loop.min))
            return count(c, s->u.loop.body);
        return count_range(c, s->u.loop.body, s->u.loop.var, expr_eval(s->u.loop.min, c->value),
                           expr_eval(s->u.loop.extent, c->value));
    case ST_IF:
        if (expr_has_load(s->u.branch.cond))
            return count(c, s->u.branch.then);
        return count(c,
                     expr_eval(s->u.branch.cond, c->value) ? s->u.branch.then : s->u.branch.orelse);
    case ST_WHILE:
        return count(c, s->u.branch.then);
    case ST_ROLE:
        return count(c, s->u.role.body);
    default:
        return c->of(c, s);
    }
}

static double count_grid(Count *c, Kernel *k, int d)
{
    if (d < 0)
        return count(c, k->body);
    int64_t n = MAX(expr_eval(k->grid[d], c->value), 0);
    if (!bounds_depend(c, k->body, k->block[d]) || c->nsteps + n > c->most_steps) {
        c->value[k->block[d]->id] = n / 2;
        return n ? (double)n * count_grid(c, k, d - 1) : 0;
    }
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        c->nsteps++;
        c->value[k->block[d]->id] = i;
        total += count_grid(c, k, d - 1);
    }
    return total;
}

double func_amount(Func *f, int64_t *values, Amount what)
{
    static double (*const leaf[])(Count *, const Stmt *) = {
        [AMOUNT_FLOPS] = flops_of, [AMOUNT_BYTES] = bytes_of, [AMOUNT_ON_CHIP] = on_chip_of,
        [AMOUNT_OPERATIONS] = operations_of, [AMOUNT_STEPS] = steps_of};
    Count c = {.value = values,
               .of = leaf[what],
               .most_steps = what == AMOUNT_FLOPS ? STEPS_MOST : STEPS_ROUGH};
    double total = 0;
    for (int i = 0; i < f->kernels.n; i++, c.nfilled = 0)
        total += count_grid(&c, f->kernels.at[i], f->kernels.at[i]->ngrid - 1);
    return total;
}

/* ---- tolerance ------------------------------------------------------------------------------- */

typedef struct {
    double widest;
    Func *f;
    Kernel *k;
} Widest;

static void round_to(Widest *w, DType from, DType to)
{
    if (dtype_is_float(to) && (!dtype_is_float(from) || dtype_bits(to) < dtype_bits(from)))
        w->widest = MAX(w->widest, dtype_tolerance(to));
}

/* A transcendental function is off by a few units in the last place of its own type, however wide
 * the result is; the others are exact, or rounded once everywhere. */
static bool is_off(const Expr *e)
{
    static const uint8_t off[MATH_COUNT] = {
        [MATH_ACOS] = 1, [MATH_ACOSH] = 1, [MATH_ASIN] = 1, [MATH_ASINH] = 1, [MATH_ATAN] = 1,
        [MATH_ATAN2] = 1, [MATH_ATANH] = 1, [MATH_COS] = 1, [MATH_COSH] = 1, [MATH_ERF] = 1,
        [MATH_EXP] = 1, [MATH_EXP2] = 1, [MATH_EXP10] = 1, [MATH_HYPOT] = 1, [MATH_LOG] = 1,
        [MATH_LOG1P] = 1, [MATH_LOG2] = 1, [MATH_LOG10] = 1, [MATH_POW] = 1, [MATH_RSQRT] = 1,
        [MATH_SIGMOID] = 1, [MATH_SIN] = 1, [MATH_SINH] = 1, [MATH_TAN] = 1, [MATH_TANH] = 1,
        [MATH_FAST_EXP] = 1, [MATH_FAST_EXP10] = 1, [MATH_FAST_LOG] = 1, [MATH_FAST_LOG2] = 1,
        [MATH_FAST_LOG10] = 1, [MATH_FAST_SIN] = 1, [MATH_FAST_COS] = 1, [MATH_FAST_TAN] = 1,
        [MATH_FAST_RCP] = 1,
    };
    return e->op == EX_MATH && off[e->u.fn] && dtype_is_float((DType)e->type);
}

static bool see_value(const Expr *e, void *arg)
{
    Widest *w = arg;

    if (e->op == EX_CAST && dtype_is_float((DType)e->kid[0]->type))
        round_to(w, (DType)e->kid[0]->type, (DType)e->type);
    if (is_off(e))
        w->widest = MAX(w->widest, dtype_tolerance((DType)e->type));
    return true;
}

typedef struct {
    const Func *f;
    const Buffer *b;
    const uint8_t *use; /* of the parameters of f */
    bool yes;
} Computed;

static bool is_given(const Computed *c, const Buffer *b)
{
    for (int i = 0; i < c->f->params.n; i++)
        if (c->f->params.at[i].buf == b)
            return !(c->use[i] & PARAM_WRITE);
    return false;
}

/* Anything but a copy of a tensor that nothing writes. */
static bool see_writing(const Stmt *s, void *arg)
{
    Computed *c = arg;
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;

    if (s->kind == ST_STORE && s->u.store.buf == c->b)
        c->yes = true;
    if (r && s->u.tile.nregion > 1 && r[s->u.tile.nregion - 1].buf == c->b)
        c->yes |= !tile_does(s, TILE_COPIES) || !is_given(c, r[0].buf);
    return !c->yes;
}

/* An operand that was computed may be a little off, and what is left of it when it is cut to
 * tfloat32 may then be the next number of that: as if it had been rounded to it. */
static bool cuts_computed(const Widest *w, const Stmt *t)
{
    Computed c = {.f = w->f, .use = NULL};
    uint8_t *use = NEWN(w->k->arena, uint8_t, w->f->params.n + 1);

    func_uses(w->f, use);
    c.use = use;
    for (int i = 0; i < 2; i++) {
        c.b = t->u.tile.region[i].buf;
        stmt_visit(w->k->body, see_writing, &c);
    }
    return c.yes;
}

/* Matrix units of GPUs may keep fewer bits of a sum of 8-bit floats than float32 has. */
static bool sums_bytes(const Kernel *k, const Stmt *s)
{
    const Buffer *a = s->u.tile.region[0].buf;
    return kernel_warp(k) > 1 && dtype_is_float(a->type) && dtype_bits(a->type) == 8;
}

static bool see_rounding(const Stmt *s, void *arg)
{
    Widest *w = arg;
    stmt_visit_expr(s, see_value, arg);
    if (tile_does(s, TILE_MMA) && sums_bytes(w->k, s))
        w->widest = MAX(w->widest, dtype_tolerance(DT_F16));
    if (tile_does(s, TILE_MMA) &&
        gemm_cuts(w->k, s) && cuts_computed(w, s))
        w->widest = MAX(w->widest, dtype_tolerance(DT_TF32));
    if (s->kind == ST_TILE && s->u.tile.nregion == 2) {
        const Buffer *from = s->u.tile.region[0].buf, *to = s->u.tile.region[1].buf;
        if (dtype_is_float(from->type))
            round_to(arg, from->type, to->type);
    }
    return true;
}

double func_tolerance(Func *f, DType out)
{
    Widest w = {.widest = dtype_tolerance(out), .f = f};
    if (!dtype_is_float(out))
        return w.widest;
    for (int i = 0; i < f->kernels.n; i++) {
        w.k = f->kernels.at[i];
        stmt_visit(w.k->body, see_rounding, &w);
    }
    return w.widest;
}
