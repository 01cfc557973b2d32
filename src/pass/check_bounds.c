/* check_bounds.c -- indices that certainly leave their buffer.
 *
 * Loads and stores outside of a tensor are part of the language (0, dropped), so only an access
 * that never hits is worth a warning.  On-chip tiles are not guarded: an index that reaches outside
 * in some iteration of the loops around is an error.  An index counts as known when it is linear in
 * variables of loops with constant bounds, so that its extremes are reached, and when no condition
 * stands around it. */
#include "pass/pass.h"

typedef struct {
    Kernel *k;
    Facts *facts;
    Map lets;        /* Var -> value */
    Map full;        /* variables that take every value of a constant range */
    bool surely;     /* nothing around may skip the statement */
    const Stmt *at;
} Reach;

static void look(Reach *r, const Stmt *s);

static bool range_of(const Reach *r, const Expr *e, Bounds *b)
{
    Linear l = {0};

    if (e->lanes != 1 || !expr_is_math(e))
        return false;
    e = simplify(r->k->ir, NULL, expr_subst_map(r->k->ir, e, &r->lets, NULL));
    linear_expr(&l, e, 1);
    for (int i = 0; i < l.n; i++)
        if (l.t[i].atom->op != EX_VAR || !map_has(&r->full, l.t[i].atom->u.var))
            return false;
    *b = linear_bounds(r->facts, &l);
    return !l.bad && bounds_known(*b);
}

static void see_index(Reach *r, const Buffer *b, int d, const Expr *at, int64_t extent)
{
    Bounds i;
    int64_t n;

    if (!r->surely || !expr_is_int(b->shape[d], &n) || !range_of(r, at, &i))
        return;
    if (i.hi < 0 && i.lo >= -n && extent == 1)
        return; /* from the end */
    int64_t last = i.hi + extent - 1, bad = i.lo < 0 ? i.lo : last;
    bool never = i.lo >= n || last < 0;
    if (b->scope == MEM_GLOBAL && never) {
        diag_warn(r->k->diag, r->at->span,
                  "index %lld of '%s' is always outside of dimension %d of "
                  "%lld: such reads give 0, such stores are dropped [out-of-bounds]",
                  (long long)(last < 0 ? last : i.lo), b->name, d, (long long)n);
    } else if (b->scope != MEM_GLOBAL && (i.lo < 0 || last >= n)) {
        diag_error(r->k->diag, r->at->span,
                   "the index of '%s' reaches %lld, outside of dimension %d "
                   "of %lld [out-of-bounds]",
                   b->name, (long long)bad, d, (long long)n);
        diag_note(r->k->diag, b->span,
                  "'%s' is declared here; unlike tensors, tiles have no guards "
                  "at their edges",
                  b->name);
    }
}

static void see_access(Reach *r, const Buffer *b, const Expr *const *at, int n)
{
    for (int d = 0; d < n && d < b->rank; d++)
        see_index(r, b, d, at[d], 1);
}

static void see_region(Reach *r, const Region *g)
{
    int64_t extent;

    for (int d = 0; d < g->buf->rank; d++)
        if (expr_is_int(g->extent[d], &extent) && extent > 0)
            see_index(r, g->buf, d, g->at[d], extent);
}

static bool see_load(const Expr *e, void *arg)
{
    Reach *r = arg;

    bool barrier = e->op == EX_ADDR && (e->u.buf->scope == MEM_BARRIER ||
                                        e->u.buf->scope == MEM_CLUSTER_BARRIER);
    if ((e->op == EX_LOAD && !e->guarded) || barrier)
        see_access(r, e->u.buf, e->kid, expr_nindex(e));
    if (e->op != EX_IF && e->op != EX_AND && e->op != EX_OR && e->op != EX_SELECT)
        return true;
    expr_visit(e->kid[0], see_load, r);
    return false;
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool see_jump(const Stmt *s, void *arg)
{
    bool *found = arg;
    *found |= s->kind == ST_BREAK || s->kind == ST_CONTINUE;
    return !*found;
}

static void add_range(Reach *r, Var *v, const Expr *min, const Expr *extent)
{
    int64_t n, first;

    min = simplify(r->k->ir, NULL, expr_subst_map(r->k->ir, min, &r->lets, NULL));
    extent = simplify(r->k->ir, NULL, expr_subst_map(r->k->ir, extent, &r->lets, NULL));
    if (!expr_is_int(min, &first) || !expr_is_int(extent, &n))
        return;
    if (n < 1) {
        r->surely = false;
        return;
    }
    facts_range(r->facts, v, min, extent);
    map_set(&r->full, v, v);
}

static void look_inside(Reach *r, const Stmt *s, bool surely)
{
    bool was = r->surely;

    r->surely = was && surely;
    if (s)
        look(r, s);
    r->surely = was;
}

static void look_loop(Reach *r, const Stmt *s)
{
    bool jumps = false, was = r->surely;

    stmt_visit(s->u.loop.body, see_jump, &jumps);
    add_range(r, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    look_inside(r, s->u.loop.body, !jumps);
    r->surely = was;
}

static void look_here(Reach *r, const Stmt *s)
{
    r->at = s;
    stmt_visit_expr(s, see_load, r);
    if (s->kind == ST_STORE && !s->u.store.guard)
        see_access(r, s->u.store.buf, s->u.store.at, s->u.store.n);
    if (s->kind == ST_ATOMIC)
        see_access(r, s->u.atomic.buf, s->u.atomic.at, s->u.atomic.n);
    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++)
        see_region(r, &s->u.tile.region[i]);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++)
        see_region(r, &s->u.call.region[i]);
    if (s->kind == ST_LET)
        map_set(&r->lets, s->u.let.var,
                expr_subst_map(r->k->ir, s->u.let.value, &r->lets, NULL));
}

static void look(Reach *r, const Stmt *s)
{
    if (s->kind != ST_BLOCK)
        look_here(r, s);
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            look(r, s->u.block.list[i]);
        break;
    case ST_FOR:
        look_loop(r, s);
        break;
    case ST_WHILE:
    case ST_IF:
        look_inside(r, s->u.branch.then, false);
        if (s->kind == ST_IF)
            look_inside(r, s->u.branch.orelse, false);
        break;
    case ST_ROLE:
        look_inside(r, s->u.role.body, false); /* some of the threads */
        break;
    default:
        break;
    }
}

void check_bounds(Kernel *k)
{
    Reach r = {.k = k, .facts = facts_new(k->ir), .surely = true};
    const Expr *zero = expr_int(k->ir, 0);

    map_init(&r.lets, k->scratch);
    map_init(&r.full, k->scratch);
    for (int i = 0; i < k->ngrid; i++)
        add_range(&r, k->block[i], zero, k->grid[i]);
    for (int i = 0; i < 3; i++)
        if (k->thread[i] && k->threads[i] > 0)
            add_range(&r, k->thread[i], zero, expr_int(k->ir, k->threads[i]));
    look(&r, k->body);
}
