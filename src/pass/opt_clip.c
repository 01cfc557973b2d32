/* opt_clip.c -- loop bounds take over guards that hold exactly on a prefix or suffix.
 *
 * needs   FORM_GUARDED, FORM_SIMPLE
 * breaks  FORM_SIMPLE
 *
 *     for j in vector(64):                        for j in vector(max(min(64, N - bx*64), 0)):
 *         C[i, bx*64 + j] = x if bx*64 + j < N         C[i, bx*64 + j] = x
 *
 * A condition shared by every effect of the body leaves the body: one that does not use the
 * variable becomes an if around the loop, one that is affine in it a bound.  Loads in the body lose
 * the same condition from their guards.  Where one thread does a block, a loop with two sides of a
 * bound is two loops.  Of what is left threads ask once for all their elements,
 * where that can be told for the block. */
#include "pass/pass.h"
#include "ir/config.h"

typedef VEC(const Expr *) Conds;

static void conds_of(Arena *a, const Expr *e, Conds *out)
{
    if (!e)
        return;
    if (e->op == EX_AND) {
        conds_of(a, e->kid[0], out);
        conds_of(a, e->kid[1], out);
        return;
    }
    vec_push(a, out, e);
}

static bool conds_have(const Conds *c, const Expr *e)
{
    for (int i = 0; i < c->n; i++)
        if (c->at[i] == e)
            return true;
    return false;
}

static const Expr *conds_without(Ir *ir, const Expr *guard, const Conds *gone)
{
    Conds c = {0};
    const Expr *r = NULL;

    conds_of(ir->arena, guard, &c);
    for (int i = 0; i < c.n; i++)
        if (!conds_have(gone, c.at[i]))
            r = r ? expr_and(ir, r, c.at[i]) : c.at[i];
    return r;
}

typedef struct {
    Arena *arena;
    Conds shared;
    bool any; /* an effect was seen */
} Common;

static void intersect(Common *c, const Conds *with)
{
    if (!c->any) {
        for (int i = 0; i < with->n; i++)
            vec_push(c->arena, &c->shared, with->at[i]);
        c->any = true;
        return;
    }
    int n = 0;
    for (int i = 0; i < c->shared.n; i++)
        if (conds_have(with, c->shared.at[i]))
            c->shared.at[n++] = c->shared.at[i];
    c->shared.n = n;
}

/* The conditions under which s has any effect at all. */
static void common_of(Arena *a, const Stmt *s, Common *c)
{
    Conds none = {0};

    if (!s || s->kind == ST_LET)
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            common_of(a, s->u.block.list[i], c);
        return;
    case ST_STORE: {
        Conds g = {0};
        conds_of(a, s->u.store.guard, &g);
        intersect(c, &g);
        return;
    }
    case ST_IF: {
        if (s->u.branch.orelse) {
            intersect(c, &none);
            return;
        }
        Common in = {.arena = a};
        common_of(a, s->u.branch.then, &in);
        conds_of(a, s->u.branch.cond, &in.shared);
        intersect(c, &in.shared);
        return;
    }
    default:
        intersect(c, &none);
    }
}

typedef struct {
    const Conds *gone;
} Drop;

static const Expr *drop_load(Ir *ir, const Expr *e, void *arg)
{
    Drop *d = arg;

    if (e->op == EX_IF && !conds_without(ir, e->kid[0], d->gone))
        return e->kid[1];
    if (e->op != EX_LOAD || !e->guarded)
        return e;
    int n = expr_nindex(e);
    const Expr *left = conds_without(ir, e->kid[n], d->gone);
    if (left == e->kid[n])
        return e;
    return left ? expr_load_guarded(ir, e->u.buf, e->kid, n, left, e->kid[n + 1])
                : expr_load(ir, e->u.buf, e->kid, n);
}

static const Expr *drop_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, drop_load, arg);
}

static const Stmt *drop_stmt(Ir *ir, const Stmt *s, void *arg)
{
    Drop *d = arg;

    if (s->kind == ST_STORE && s->u.store.guard) {
        const Expr *left = conds_without(ir, s->u.store.guard, d->gone);
        if (left != s->u.store.guard)
            return stmt_store_as(ir, s, s->u.store.at, s->u.store.n, s->u.store.value, left);
    }
    if (s->kind == ST_IF && !s->u.branch.orelse) {
        const Expr *left = conds_without(ir, s->u.branch.cond, d->gone);
        return left ? stmt_if(ir, s->span, left, s->u.branch.then, NULL) : s->u.branch.then;
    }
    return s;
}

/* cond as a bound on v: v < *bound (upper) or v >= *bound; the bound does not use v. */
static bool as_bound(Ir *ir, const Expr *cond, Var *v, bool *upper, const Expr **bound)
{
    const Expr *a = cond->kid[0], *b = cond->kid[1];
    int64_t coef;
    const Expr *base;

    if (cond->op != EX_LT && cond->op != EX_LE && cond->op != EX_GT && cond->op != EX_GE)
        return false;
    if (a->lanes != 1 || !dtype_is_int(a->type) || expr_has_load(cond))
        return false;
    if (cond->op == EX_GT || cond->op == EX_GE) { /* a > b is b < a */
        const Expr *t = a;
        a = b;
        b = t;
    }
    bool strict = cond->op == EX_LT || cond->op == EX_GT;
    if (!affine_of(ir, expr_sub(ir, a, b), &v, 1, &coef, &base) || (coef != 1 && coef != -1))
        return false;
    const Expr *minus = expr_sub(ir, expr_const(ir, base->type, 0), base);
    *upper = coef == 1;
    if (*upper) /* v + base < 0: v < -base;  v + base <= 0: v < 1 - base */
        *bound = strict ? minus : expr_add(ir, minus, expr_int(ir, 1));
    else        /* base - v < 0: v >= base + 1 */
        *bound = strict ? expr_add(ir, base, expr_int(ir, 1)) : base;
    return !expr_uses_var(*bound, v);
}

static bool is_bound(const Expr *e, void *inner)
{
    return e->op == EX_VAR && map_has(inner, e->u.var);
}

static const Stmt *clip(Ir *ir, const Stmt *s, void *arg)
{
    Common c = {.arena = ir->arena};
    Conds gone = {0};
    Map inner;
    const Expr *outside = NULL;

    /* A condition of one thread around what all of them do would leave barriers no place. */
    if (s->kind == ST_FOR && kernel_on_warps(arg) && !hint_find(s->u.loop.hints, "slots"))
        return s;
    if (s->kind != ST_FOR || (s->u.loop.how != LOOP_VECTOR && s->u.loop.how != LOOP_SERIAL))
        return s;
    common_of(ir->arena, s->u.loop.body, &c);
    if (c.shared.n == 0)
        return s;
    map_init(&inner, ir->arena);
    stmt_names(s->u.loop.body, &inner);
    const Expr *lo = s->u.loop.min, *hi = expr_add(ir, s->u.loop.min, s->u.loop.extent);
    const Expr *lo0 = lo, *hi0 = hi;
    for (int i = 0; i < c.shared.n; i++) {
        const Expr *cond = c.shared.at[i], *bound;
        bool upper;
        if (expr_has_load(cond) || expr_any(cond, is_bound, &inner))
            continue;
        if (!expr_uses_var(cond, s->u.loop.var))
            outside = outside ? expr_and(ir, outside, cond) : cond;
        else if (!as_bound(ir, cond, s->u.loop.var, &upper, &bound))
            continue;
        else if (upper)
            hi = expr_min(ir, hi, bound);
        else
            lo = expr_max(ir, lo, bound);
        vec_push(ir->arena, &gone, cond);
    }
    if (gone.n == 0)
        return s;
    Drop d = {&gone};
    const Stmt *body = stmt_map(ir, s->u.loop.body, drop_stmt, &d);
    body = stmt_map_expr(ir, body, drop_expr, &d);
    const Expr *extent = lo == lo0 && hi == hi0
                             ? s->u.loop.extent
                             : expr_max(ir, expr_sub(ir, hi, lo), expr_int(ir, 0));
    const Stmt *r =
        stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, lo, extent, s->u.loop.hints, body);
    if (extent != s->u.loop.extent)
        r = stmt_for_own(ir, r);
    return outside ? stmt_if(ir, s->span, outside, r, NULL) : r;
}

static bool is_listed(const VarVec *list, const Var *v)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i] == v)
            return true;
    return false;
}

/* It may differ within the block. */
static bool may_differ(const Expr *e, void *kernel)
{
    const Kernel *k = kernel;
    bool known = e->op != EX_VAR;

    for (int d = 0; d < 3 && !known; d++)
        known = e->u.var == k->block[d];
    if (!known && k->func) {
        known = is_listed(&k->func->dims, e->u.var);
        for (int i = 0; i < k->func->params.n && !known; i++)
            known = k->func->params.at[i].var == e->u.var;
    }
    return !known || e->op == EX_LOAD || e->op == EX_ADDR || e->op == EX_EXTERN;
}

/* for: if c: A else: B  ->  if c: for: A else: for: B, where c is the same for all of the block. */
static const Stmt *unswitch(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : NULL;

    if (!body || body->kind != ST_IF || !body->u.branch.orelse ||
        (s->u.loop.how != LOOP_SERIAL && s->u.loop.how != LOOP_VECTOR) ||
        expr_any(body->u.branch.cond, may_differ, arg))
        return s;
    Var *v = var_new(ir, s->u.loop.var->name, s->u.loop.var->type, s->span);
    const Stmt *other = stmt_subst(ir, body->u.branch.orelse, s->u.loop.var, expr_var(ir, v));
    return stmt_if(ir, s->span, body->u.branch.cond,
                   stmt_with_body(ir, s, body->u.branch.then),
                   stmt_for(ir, s->span, s->u.loop.how, v, s->u.loop.min, s->u.loop.extent,
                            s->u.loop.hints, other));
}

/* The same loop from `lo` to `hi` over another body, with a variable of its own. */
static const Stmt *loop_between(Ir *ir, const Stmt *s, const Expr *lo, const Expr *hi,
                                const Stmt *body)
{
    Var *v = var_new(ir, s->u.loop.var->name, s->u.loop.var->type, s->span);
    return stmt_for(ir, s->span, s->u.loop.how, v, lo, expr_sub(ir, hi, lo), s->u.loop.hints,
                    stmt_subst(ir, body, s->u.loop.var, expr_var(ir, v)));
}

/* for j: if j < n and c: A else: B  ->  if c: for j < n: A, for j from n on: B; else: for j: B,
 * where one thread does a block: what is left of a tile has loops without conditions. */
static const Stmt *part(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : NULL;
    const Expr *bound = NULL, *found, *outside = NULL;
    Conds c = {0};
    bool upper, ok = true;

    if (!body || body->kind != ST_IF || !body->u.branch.orelse || kernel_on_warps(arg) ||
        s->u.loop.how != LOOP_VECTOR)
        return s;
    conds_of(ir->arena, body->u.branch.cond, &c);
    for (int i = 0; i < c.n && ok; i++) {
        ok = !expr_has_load(c.at[i]);
        if (ok && !expr_uses_var(c.at[i], s->u.loop.var)) {
            outside = outside ? expr_and(ir, outside, c.at[i]) : c.at[i];
        } else {
            ok = ok && !bound && as_bound(ir, c.at[i], s->u.loop.var, &upper, &found) && upper;
            bound = ok ? found : NULL;
        }
    }
    if (!ok || !bound)
        return s;
    const Expr *lo = s->u.loop.min, *hi = expr_add(ir, lo, s->u.loop.extent);
    const Expr *end = expr_max(ir, expr_min(ir, hi, bound), lo);
    const Stmt *then = loop_between(ir, s, lo, end, body->u.branch.then),
               *after = loop_between(ir, s, end, hi, body->u.branch.orelse),
               *both = stmt_seq(ir, then, after);
    return outside ? stmt_if(ir, s->span, outside, both,
                             loop_between(ir, s, lo, hi, body->u.branch.orelse))
                   : both;
}

/* ---- tiles that lie inside ------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Facts *facts;
    Vary vary;
    Conds guards; /* of the loop at hand */
    bool other;   /* it does more than to load and store */
} Whole;

static bool see_load(const Expr *e, void *arg)
{
    Whole *w = arg;

    if (e->op == EX_LOAD && e->guarded && e->u.buf->scope == MEM_GLOBAL)
        conds_of(w->k->scratch, e->kid[expr_nindex(e)], &w->guards);
    if (e->op == EX_IF && e->kid[1]->op == EX_LOAD && e->kid[1]->u.buf->scope == MEM_GLOBAL)
        conds_of(w->k->scratch, e->kid[0], &w->guards);
    w->other |= e->op == EX_EXTERN;
    return true;
}

static bool see_guards(const Stmt *s, void *arg)
{
    Whole *w = arg;
    bool plain = s->kind == ST_BLOCK || s->kind == ST_LET || stmt_is_fact(s) ||
                 s->kind == ST_IF || (s->kind == ST_STORE && !s->u.store.async);

    w->other |= !plain;
    if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_GLOBAL)
        conds_of(w->k->scratch, s->u.store.guard, &w->guards);
    if (s->kind == ST_IF && !s->u.branch.orelse)
        conds_of(w->k->scratch, s->u.branch.cond, &w->guards);
    stmt_visit_expr(s, see_load, w);
    return !w->other;
}

/* True only if cond holds for all threads and all values of v; NULL: nothing that can be told. */
static const Expr *holds_whole(Whole *w, const Expr *cond, Var *v, Map *inner)
{
    Ir *ir = w->k->ir;
    Linear all = {0}, own = {0}, rest = {0};
    bool less = cond->op == EX_LT || cond->op == EX_LE, strict = cond->op == EX_LT ||
                cond->op == EX_GT;

    if ((!less && cond->op != EX_GT && cond->op != EX_GE) || !expr_is_math(cond->kid[0]) ||
        expr_has_load(cond) || !expr_is_exact(w->facts, cond->kid[0]) ||
        !expr_is_exact(w->facts, cond->kid[1]))
        return NULL;
    linear_expr(&all, cond->kid[0], less ? 1 : -1);
    linear_expr(&all, cond->kid[1], less ? -1 : 1);
    for (int i = 0; i < all.n; i++) {
        const Expr *x = all.t[i].atom;
        bool moves = expr_uses_var(x, v) || expr_any(x, is_bound, inner) || vary_expr(&w->vary, x);
        linear_term(moves ? &own : &rest, x, all.t[i].coef);
    }
    Bounds b = linear_bounds(w->facts, &own);
    if (all.bad || own.n == 0 || rest.n == 0 || !bounds_known(b))
        return NULL;
    linear_const(&rest, all.base);
    linear_const(&rest, b.hi);
    const Expr *most = rest.bad ? NULL : linear_make(ir, &rest, (DType)cond->kid[0]->type);
    return most ? simplify(ir, w->facts, expr_binary(ir, strict ? EX_LT : EX_LE, most,
                                                     expr_zero(ir, (DType)most->type)))
                : NULL;
}

/* A thread has few predicates: of loads that have a condition each, only some are in flight, and
 * the end of a tensor keeps neighbours from being loaded together.  Blocks that lie inside of
 * their tensors, which most do, ask once:
 *
 *     for s in slots(72):                            if bx*64 + 63 < N:
 *         B[..] = A[..] if bx*64 + f(s, tx) < N          for s in slots(72): B[..] = A[..]
 *                                                    else: the same as before */
static const Stmt *split_whole(Ir *ir, const Stmt *s, void *arg)
{
    enum { SLOTS_LEAST = 4 };
    Whole *w = arg;
    Conds gone = {0};
    const Expr *whole = NULL;
    Map inner;
    int64_t n = 0;

    if (s->kind != ST_FOR || !hint_find(s->u.loop.hints, "slots") ||
        !expr_is_int(s->u.loop.extent, &n) || n < SLOTS_LEAST)
        return s;
    w->guards = (Conds){0};
    w->other = false;
    stmt_visit(s->u.loop.body, see_guards, w);
    if (w->other || w->guards.n == 0)
        return s;
    map_init(&inner, ir->arena);
    stmt_names(s->u.loop.body, &inner);
    int mark = facts_mark(w->facts);
    facts_range(w->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    for (int i = 0; i < w->guards.n; i++) {
        const Expr *cond = w->guards.at[i], *all = NULL;
        if (expr_uses_var(cond, s->u.loop.var) && !conds_have(&gone, cond))
            all = holds_whole(w, cond, s->u.loop.var, &inner);
        if (!all || expr_is_const(all))
            continue;
        whole = whole ? expr_and(ir, whole, all) : all;
        vec_push(ir->arena, &gone, cond);
    }
    facts_pop(w->facts, mark);
    if (!whole)
        return s;
    Drop d = {&gone};
    Var *v = var_new(ir, s->u.loop.var->name, s->u.loop.var->type, s->span);
    const Stmt *own = stmt_subst(ir, s->u.loop.body, s->u.loop.var, expr_var(ir, v));
    const Stmt *body = stmt_map(ir, s->u.loop.body, drop_stmt, &d);
    body = stmt_map_expr(ir, body, drop_expr, &d);
    return stmt_if(ir, s->span, whole, stmt_with_body(ir, s, body),
                   stmt_for(ir, s->span, s->u.loop.how, v, s->u.loop.min, s->u.loop.extent,
                            s->u.loop.hints, own));
}

static void split_wholes(Kernel *k)
{
    Whole w = {.k = k, .facts = facts_new(k->ir)};

    facts_kernel(w.facts, k);
    vary_learn(&w.vary, k, NULL);
    k->body = stmt_map(k->ir, k->body, split_whole, &w);
}

void pass_opt_clip(Kernel *k)
{
    if (config_on(k->func, CONFIG_loop_unswitching_allow_non_trivial_else))
        k->body = stmt_map(k->ir, k->body, unswitch, k);
    if (config_on(k->func, CONFIG_disable_loop_unswitching))
        return;
    k->body = stmt_map(k->ir, k->body, part, k);
    k->body = stmt_map(k->ir, k->body, clip, k);
    if (kernel_on_warps(k))
        split_wholes(k);
}
