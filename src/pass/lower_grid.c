/* lower_grid.c -- the loop over tiles of persistent kernels; the order of the blocks of others.
 *
 * needs   FORM_GRID
 * gives   FORM_NOGRID
 *
 * What plan_persistent made so (Kernel.persistent) takes one tile after the other:
 *
 *     grid (nx, ny)  body(bx, by)   ->   grid (n)   for t: id = b + t * n
 *                                                       bx, by = place of tile id, in panels
 *                                                       body(bx, by)
 *
 * Where one block index alone decides about the length of tiles (causal attention), every second
 * iteration goes through the blocks backwards, and in other kernels the long ones come first.
 *
 * More blocks along a dimension than the machine counts there become one dimension too.
 *
 * Blocks of a cluster along one dimension stay neighbours: the cluster takes as many tiles that
 * stand side by side along that dimension, and each block the one of its rank.  A grid that is
 * left alone is walked in plain order where clusters share tiles. */
#include "pass/pass.h"
#include "pass/plan_persistent.h"

/* ---- the loop over tiles --------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    Builder b;
    int first;         /* the block index that is x; the others together are y */
    int64_t nx, ny, n; /* in clusters */
    const Expr *rank;  /* of the block in its cluster; NULL: it is alone */
} Tiles;

static const Expr *num(Tiles *t, int64_t v)
{
    return expr_int(t->ir, v);
}

static const Expr *let(Tiles *t, const char *name, const Expr *value)
{
    Var *v = var_new(t->ir, name, DT_I32, t->k->span);
    build_add(&t->b, stmt_let(t->ir, t->k->span, v, value));
    return expr_var(t->ir, v);
}

/* Clusters along a dimension. */
static int64_t extent_of(const Tiles *t, int d)
{
    int64_t n = 1;
    expr_is_int(t->k->grid[d], &n);
    return n / t->k->cluster[d];
}

static void sizes(Tiles *t)
{
    t->ny = 1;
    for (int d = 0; d < t->k->ngrid; d++)
        *(d == t->first ? &t->nx : &t->ny) *= extent_of(t, d);
}

/* The least is always the first: it is there for whoever reasons about bounds. */
static void set_block(Tiles *t, int d, const Expr *at, int64_t n)
{
    Ir *ir = t->ir;
    at = expr_max(ir, expr_min(ir, at, num(t, n - 1)), num(t, 0));
    if (t->rank && t->k->cluster[d] > 1)
        at = expr_add(ir, expr_mul(ir, at, num(t, t->k->cluster[d])), t->rank);
    build_add(&t->b, stmt_let(ir, t->k->span, t->k->block[d], at));
}

static void set_blocks(Tiles *t, const Expr *x, const Expr *y)
{
    int64_t left = t->ny, n = 1;

    set_block(t, t->first, x, t->nx);
    for (int d = 0; d < t->k->ngrid; d++) {
        if (d == t->first)
            continue;
        n = extent_of(t, d);
        left /= n;
        set_block(t, d, left > 1 ? expr_floormod(t->ir, y, num(t, n)) : y, n);
        y = expr_floordiv(t->ir, y, num(t, n));
    }
}

/* Panels of rows of tiles, as tl_raster_rows walks them, but always forth; with back, from the
 * last column on. */
static void place(Tiles *t, const Expr *id, int64_t panel, bool back)
{
    Ir *ir = t->ir;

    panel = MIN(panel, t->ny);
    const Expr *whole = num(t, panel * t->nx);
    const Expr *top = let(t, "top", expr_mul(ir, expr_floordiv(ir, id, whole), num(t, panel)));
    const Expr *in = let(t, "in", expr_floormod(ir, id, whole));
    const Expr *left = expr_sub(ir, num(t, t->ny), top);
    const Expr *rows = let(t, "rows", expr_min(ir, num(t, panel), left));
    const Expr *x = expr_floordiv(ir, in, rows);
    const Expr *y = expr_add(ir, top, expr_floormod(ir, in, rows));

    set_blocks(t, back ? expr_sub(ir, num(t, t->nx - 1), x) : x, y);
}

static void one_index(Kernel *k, Var *block, const Expr *n)
{
    k->ngrid = 1;
    k->grid[0] = n;
    k->block[0] = block;
    k->block[1] = k->block[2] = NULL;
    k->grid[1] = k->grid[2] = NULL;
    k->swizzle_panel = 0;
}

static bool is_last_wait(const Stmt *s)
{
    return stmt_waits(s, QUEUE_STORES) && s->u.call.n > 0 && expr_is_zero(s->u.call.arg[0]);
}

/* The body, without the wait for its own stores at its end: what comes next overlaps them. */
static const Stmt *add_body(Tiles *t)
{
    const Stmt *body = t->k->body, *wait = NULL;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 0;

    if (n && is_last_wait(body->u.block.list[n - 1])) {
        wait = body->u.block.list[n - 1];
        body = stmt_block(t->ir, body->span, n - 1, body->u.block.list);
    }
    build_add(&t->b, body);
    return wait;
}

static const Stmt *settle(Ir *ir, const Stmt *s, void *arg)
{
    if (s->kind != ST_CALL || s->u.call.mark != MARK_PERSISTENT)
        return s;
    return *(bool *)arg ? stmt_call_mark(ir, s, MARK_NONE) : NULL;
}

/* Every second row of tiles goes to the blocks in the other order: so those that get the longer of
 * one row get the shorter of the next. */
static const Expr *there_and_back(Tiles *t, const Expr *block, const Expr *iter)
{
    Ir *ir = t->ir;
    const Expr *odd = expr_binary(ir, EX_EQ, expr_floormod(ir, iter, num(t, 2)), num(t, 1));
    return expr_select(ir, odd, expr_sub(ir, num(t, t->n - 1), block), block);
}

static const Expr *iters_there_and_back(Tiles *t, const Expr *block)
{
    Ir *ir = t->ir;
    int64_t rows = t->nx * t->ny / t->n, left = t->nx * t->ny % t->n;
    const Expr *more = expr_lt(ir, there_and_back(t, block, num(t, rows)), num(t, left));
    return expr_add(ir, num(t, rows), expr_select(ir, more, num(t, 1), num(t, 0)));
}

static void persist(Kernel *k, int64_t n)
{
    Ir *ir = k->ir;
    int each = cluster_size(k);
    Tiles t = {.k = k, .ir = ir, .nx = 1, .n = n / each};
    Var *block = var_new(ir, "b", DT_I32, k->span), *iter = var_new(ir, "t", DT_I32, k->span);
    const Expr *first = expr_var(ir, block), *step = num(&t, t.n);

    sizes(&t);
    if (each > 1) {
        t.rank = expr_floormod(ir, first, num(&t, each));
        first = expr_floordiv(ir, first, num(&t, each));
    }
    const Expr *iters = expr_ceildiv(ir, expr_sub(ir, num(&t, t.nx * t.ny), first), step);
    if (k->longest.way) {
        iters = iters_there_and_back(&t, first);
        first = there_and_back(&t, first, expr_var(ir, iter));
        t.first = k->longest.dim;
        t.nx = 1;
        sizes(&t);
    }
    build_open(&t.b, ir, NULL);
    const Expr *id = let(&t, "id", expr_add(ir, first, expr_mul(ir, expr_var(ir, iter), step)));
    if (k->swizzle_panel)
        place(&t, id, MAX(k->swizzle_panel / k->cluster[1], 1), false);
    else
        set_blocks(&t, expr_floormod(ir, id, num(&t, t.nx)), expr_floordiv(ir, id, num(&t, t.nx)));
    const Stmt *wait = add_body(&t);
    const Stmt *loop =
        stmt_for(ir, k->span, LOOP_SERIAL, iter, num(&t, 0), iters, (Hints){0},
                 build_close(&t.b, k->span));
    k->body = stmt_seq(ir, loop, wait);
    one_index(k, block, num(&t, n));
    k->cluster[0] = each;
    k->cluster[1] = k->cluster[2] = 1;
}

/* ---- the longest first ----------------------------------------------------------------------- */

/* Of as many others at a time as the cache holds what they read. */
static void longest_first(Kernel *k)
{
    Tiles t = {.k = k, .ir = k->ir, .nx = 1, .first = k->longest.dim};
    Var *block = var_new(k->ir, "b", DT_I32, k->span);

    sizes(&t);
    build_open(&t.b, k->ir, NULL);
    place(&t, expr_var(k->ir, block), k->longest.panel ? k->longest.panel : t.ny,
          k->longest.way > 0);
    build_add(&t.b, k->body);
    k->body = build_close(&t.b, k->span);
    one_index(k, block, num(&t, t.nx * t.ny));
}

/* ---- long dimensions ------------------------------------------------------------------------- */

static bool is_too_long(const Kernel *k)
{
    int64_t blocks, most = k->machine->grid_side, n;
    bool longer = false;

    if (!most || k->swizzle_panel || k->swizzle_order || cluster_size(k) > 1 ||
        !grid_is_known(k, &blocks) || blocks > INT32_MAX)
        return false;
    for (int d = 1; d < k->ngrid; d++)
        longer |= expr_is_int(k->grid[d], &n) && n > most;
    return longer;
}

/* In their order: the first index is the fastest. */
static void in_one_dimension(Kernel *k)
{
    Tiles t = {.k = k, .ir = k->ir, .nx = 1};
    Var *block = var_new(k->ir, "b", DT_I32, k->span);
    const Expr *id = expr_var(k->ir, block);

    sizes(&t);
    build_open(&t.b, k->ir, NULL);
    set_blocks(&t, expr_floormod(k->ir, id, num(&t, t.nx)),
               expr_floordiv(k->ir, id, num(&t, t.nx)));
    build_add(&t.b, k->body);
    k->body = build_close(&t.b, k->span);
    one_index(k, block, num(&t, t.nx * t.ny));
}

void pass_lower_grid(Kernel *k)
{
    bool persistent = k->persistent > 0;

    k->body = stmt_map(k->ir, k->body, settle, &persistent);
    if (!persistent && cluster_of_pipes(k) > 1)
        k->swizzle_panel = 0;
    if (persistent)
        persist(k, k->persistent);
    else if (k->longest.way)
        longest_first(k);
    else if (is_too_long(k))
        in_one_dimension(k);
}
