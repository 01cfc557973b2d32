/* check_bounds.c -- indices that certainly leave their buffer.
 *
 * Loads and stores outside of a tensor are part of the language (0, dropped), so only an access
 * that never hits is worth a warning.  On-chip tiles are not guarded: an index that reaches outside
 * in some iteration of the loops around is an error.  An index counts as known when it is linear in
 * variables of loops with constant bounds, so that its extremes are reached, and when no condition
 * stands around it.
 * A fragment that only nests of T.Parallel use, and that is written as far beyond its shape as it
 * is read, is made as large as they use it: each element they read is one that they wrote. */
#include "pass/pass.h"
#include "ir/config.h"

/* How far a fragment is used by nests. */
typedef struct {
    Buffer *buf;
    const Stmt *at;  /* the first statement that leaves its shape; NULL: none */
    int64_t read[RANK_MOST], written[RANK_MOST]; /* elements, by dimension */
    bool other;      /* an operator uses it, or something that is not known */
} Grown;

typedef struct {
    Kernel *k;
    Facts *facts;
    Map lets;        /* Var -> value */
    Map full;        /* variables that take every value of a constant range */
    Map grown;       /* fragments -> Grown */
    bool surely;     /* nothing around may skip the statement */
    bool nest;       /* inside of T.Parallel */
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
    if (l.n > 0 && !l.bad && !bounds_known(*b)) /* all ranges are known: past 64 bits */
        *b = (Bounds){0, INT64_MAX / 2};
    return !l.bad && bounds_known(*b);
}

static void refuse_index(Reach *r, const Buffer *b, int d, int64_t bad, int64_t n)
{
    diag_error(r->k->diag, r->at->span,
               "the index of '%s' reaches %lld, outside of dimension %d of %lld [out-of-bounds]",
               b->name, (long long)bad, d, (long long)n);
    diag_note(r->k->diag, b->span,
              "'%s' is declared here; unlike tensors, tiles have no guards at their edges",
              b->name);
}

static Grown *grown_of(Reach *r, const Buffer *b)
{
    Grown *g = b->scope == MEM_FRAGMENT && !b->view_of ? map_get(&r->grown, b) : NULL;
    return g && !g->other ? g : NULL;
}

static void see_index(Reach *r, const Buffer *b, int d, const Expr *at, int64_t extent, bool write)
{
    Grown *g = grown_of(r, b);
    Bounds i;
    int64_t n;

    if (!r->surely || !expr_is_int(b->shape[d], &n) || !range_of(r, at, &i))
        return;
    if (g && r->nest && i.lo >= 0) {
        int64_t *most = write ? &g->written[d] : &g->read[d];
        *most = *most > i.hi + 1 ? *most : i.hi + 1;
        if (i.hi >= n && !g->at)
            g->at = r->at;
        return;
    }
    /* Guards count in 32 bits, with room for the tile. */
    if (n < INT32_MAX - 65536 && (i.hi > INT32_MAX - 65536 || i.lo < INT32_MIN + 65536)) {
        diag_error(r->k->diag, r->at->span,
                   "the index of '%s' reaches %lld, far outside of dimension %d of %lld "
                   "[out-of-bounds]",
                   b->name, (long long)(i.hi > 0 ? i.hi : i.lo), d, (long long)n);
        return;
    }
    if (i.hi < 0 && i.lo >= -n && extent == 1)
        return; /* from the end */
    int64_t last = i.hi + extent - 1, bad = i.lo < 0 ? i.lo : last;
    bool never = i.lo >= n || last < 0;
    if (b->scope == MEM_GLOBAL && never) {
        if (config_on(r->k->func, CONFIG_disable_out_of_bound_warning))
            return;
        diag_warn(r->k->diag, r->at->span,
                  "index %lld of '%s' is always outside of dimension %d of "
                  "%lld: such reads give 0, such stores are dropped [out-of-bounds]",
                  (long long)(last < 0 ? last : i.lo), b->name, d, (long long)n);
    } else if (b->scope != MEM_GLOBAL && (i.lo < 0 || last >= n)) {
        refuse_index(r, b, d, bad, n);
    }
}

static void see_access(Reach *r, const Buffer *b, const Expr *const *at, int n, bool write)
{
    for (int d = 0; d < n && d < b->rank; d++)
        see_index(r, b, d, at[d], 1, write);
}

static void see_region(Reach *r, const Region *g)
{
    int64_t extent;

    for (int d = 0; d < g->buf->rank; d++)
        if (expr_is_int(g->extent[d], &extent) && extent > 0)
            see_index(r, g->buf, d, g->at[d], extent, false);
}

static bool see_load(const Expr *e, void *arg)
{
    Reach *r = arg;

    bool barrier = e->op == EX_ADDR && (e->u.buf->scope == MEM_BARRIER ||
                                        e->u.buf->scope == MEM_CLUSTER_BARRIER);
    if ((e->op == EX_LOAD && !e->guarded) || barrier)
        see_access(r, e->u.buf, e->kid, expr_nindex(e), false);
    if (e->op != EX_IF && e->op != EX_AND && e->op != EX_OR && e->op != EX_SELECT)
        return true;
    expr_visit(e->kid[0], see_load, r);
    return false;
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool is_jump(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_BREAK || s->kind == ST_CONTINUE;
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
    bool was = r->surely, nest = r->nest;

    add_range(r, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    r->nest = nest || s->u.loop.how == LOOP_PARALLEL;
    look_inside(r, s->u.loop.body, !stmt_any(s->u.loop.body, is_jump, NULL));
    r->nest = nest;
    r->surely = was;
}

static void look_here(Reach *r, const Stmt *s)
{
    r->at = s;
    stmt_visit_expr(s, see_load, r);
    if (s->kind == ST_STORE && !s->u.store.guard)
        see_access(r, s->u.store.buf, s->u.store.at, s->u.store.n, true);
    if (s->kind == ST_ATOMIC)
        see_access(r, s->u.atomic.buf, s->u.atomic.at, s->u.atomic.n, false);
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
    if (s->kind == ST_FOR)
        look_loop(r, s);
    for (int i = 0; s->kind != ST_FOR && i < stmt_nkid(s); i++)
        look_inside(r, stmt_kid(s, i), s->kind == ST_BLOCK); /* of a role: by some threads */
}

/* ---- fragments that grow --------------------------------------------------------------------- */

static void used_otherwise(Reach *r, const Buffer *b)
{
    Grown *g = map_get(&r->grown, buffer_root(b));
    if (g)
        g->other = true;
}

static bool see_address(const Expr *e, void *arg)
{
    if (e->op == EX_ADDR)
        used_otherwise(arg, e->u.buf);
    return true;
}

static bool see_operator(const Stmt *s, void *arg)
{
    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++)
        used_otherwise(arg, s->u.tile.region[i].buf);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++)
        used_otherwise(arg, s->u.call.region[i].buf);
    if (s->kind == ST_ATOMIC)
        used_otherwise(arg, s->u.atomic.buf);
    stmt_visit_expr(s, see_address, arg);
    return true;
}

static void find_fragments(Reach *r)
{
    Kernel *k = r->k;
    int64_t shape[RANK_MOST];

    map_init(&r->grown, k->scratch);
    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_FRAGMENT || b->view_of || !buffer_static_shape(b, shape) ||
            buffer_plan(k, b)->pinned)
            continue;
        Grown *g = NEW(k->scratch, Grown);
        g->buf = b;
        map_set(&r->grown, b, g);
    }
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->view_of)
            used_otherwise(r, k->buffers.at[i]);
    stmt_visit(k->body, see_operator, r);
}

static void grow(Reach *r, const Grown *g)
{
    Buffer *b = g->buf;
    const Expr **shape = NEWN(r->k->ir->arena, const Expr *, b->rank);
    int64_t n;

    for (int d = 0; d < b->rank; d++) {
        shape[d] = b->shape[d];
        if (!expr_is_int(b->shape[d], &n) || g->read[d] > (n > g->written[d] ? n : g->written[d])) {
            refuse_index(r, b, d, g->read[d] - 1, n);
            return;
        }
        if (g->written[d] > n) {
            diag_warn(r->k->diag, g->at->span,
                      "the index of '%s' reaches %lld in dimension %d of %lld: it is given %lld "
                      "elements [fragment-grows]",
                      b->name, (long long)g->written[d] - 1, d, (long long)n,
                      (long long)g->written[d]);
            shape[d] = expr_int(r->k->ir, g->written[d]);
        }
    }
    b->shape = shape;
}

void pass_check_bounds(Kernel *k)
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
    find_fragments(&r);
    look(&r, k->body);
    for (int i = 0; i < k->buffers.n; i++) {
        const Grown *g = map_get(&r.grown, k->buffers.at[i]);
        r.at = g ? g->at : NULL;
        if (r.at)
            grow(&r, g);
    }
}
