/* lower_grid.c -- products whose blocks stay and take one tile after the other.
 *
 * needs   FORM_GRID
 * gives   FORM_NOGRID
 *
 * A product with a producer warp fills a whole multiprocessor.  With a block per tile, its ring is
 * empty at the start of each tile; a block that stays lets the producer fetch the next tile's
 * operands while the threads still store the last one's result:
 *
 *     grid (nx, ny)  body(bx, by)   ->   grid (n)   for t: id = b + t * n
 *                                                       bx, by = place of tile id, in panels
 *                                                       body(bx, by)
 *
 * n is the number of multiprocessors of the architecture (the pass config tl.persistent_blocks
 * says another; 0 leaves the grid alone).  Kernels whose blocks differ in length keep the
 * hardware's own queue. */
#include "pass/pass.h"

enum { MULTIPROCESSORS = 132 };

typedef struct {
    Kernel *k;
    bool ring, barrier;
} Seen;

static bool see(const Stmt *s, void *arg)
{
    Seen *n = arg;

    if (s->kind == ST_TILE && tile_plan(n->k, s)->role == 1)
        n->ring = true;
    if (s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_GRID)
        n->barrier = true;
    return true;
}

typedef struct {
    const Var *a, *b;
    bool uses;
} Uneven;

static bool see_loop(const Stmt *s, void *arg)
{
    Uneven *u = arg;
    if (s->kind == ST_FOR && (expr_uses_var(s->u.loop.extent, u->a) ||
                              expr_uses_var(s->u.loop.extent, u->b) ||
                              expr_uses_var(s->u.loop.min, u->a) ||
                              expr_uses_var(s->u.loop.min, u->b)))
        u->uses = true;
    if (s->kind == ST_IF || s->kind == ST_WHILE)
        u->uses = true;
    return true;
}

static bool fits(Kernel *k, int64_t nblock)
{
    Seen n = {.k = k};
    Uneven u = {k->block[0], k->block[1], false};
    int64_t x, y;

    if (!kernel_on_warps(k) || k->ngrid != 2 || !k->block[0] || !k->block[1] || nblock <= 0 ||
        !k->swizzle_panel || k->cluster[0] * k->cluster[1] * k->cluster[2] > 1)
        return false;
    if (k->swizzle_order && strcmp(k->swizzle_order, "column") == 0)
        return false;
    stmt_visit(k->body, see, &n);
    stmt_visit(k->body, see_loop, &u);
    bool known = expr_is_int(k->grid[0], &x) && expr_is_int(k->grid[1], &y);
    return n.ring && !n.barrier && !u.uses && known && x * y > nblock;
}

/* ---- the loop over tiles --------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    Builder b;
    int64_t nx, ny, n;
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

/* Panels of rows of tiles, as tl_raster_rows walks them, but always forth. */
static void place(Tiles *t, const Expr *id)
{
    Ir *ir = t->ir;
    Kernel *k = t->k;
    int64_t panel = MIN(k->swizzle_panel, t->ny);
    const Expr *whole = num(t, panel * t->nx);
    const Expr *top = let(t, "top", expr_mul(ir, expr_floordiv(ir, id, whole), num(t, panel)));
    const Expr *in = let(t, "in", expr_floormod(ir, id, whole));
    const Expr *left = expr_sub(ir, num(t, t->ny), top);
    const Expr *rows = let(t, "rows", expr_min(ir, num(t, panel), left));
    const Expr *x = expr_floordiv(ir, in, rows);
    const Expr *y = expr_add(ir, top, expr_floormod(ir, in, rows));

    /* The least is always the first: it is there for whoever reasons about bounds. */
    x = expr_max(ir, expr_min(ir, x, num(t, t->nx - 1)), num(t, 0));
    y = expr_max(ir, expr_min(ir, y, num(t, t->ny - 1)), num(t, 0));
    build_add(&t->b, stmt_let(ir, k->span, k->block[0], x));
    build_add(&t->b, stmt_let(ir, k->span, k->block[1], y));
}

static bool is_last_wait(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which == INTRIN_TMA_STORE_WAIT && s->u.call.n > 0 &&
           expr_is_zero(s->u.call.arg[0]);
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

static const char stays[] = "stay";

const Stmt *stmt_to_stay(Ir *ir, const Stmt *s)
{
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg, s->u.call.nregion,
                     s->u.call.region, ir_name(ir, stays), s->u.call.bind);
}

static const Stmt *settle(Ir *ir, const Stmt *s, void *arg)
{
    if (s->kind != ST_CALL || !s->u.call.text || strcmp(s->u.call.text, stays))
        return s;
    if (!*(bool *)arg)
        return NULL;
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg, s->u.call.nregion,
                     s->u.call.region, NULL, s->u.call.bind);
}

void pass_lower_grid(Kernel *k)
{
    Ir *ir = k->ir;
    Tiles t = {.k = k, .ir = ir};
    int64_t n = hint_int(k->func->hints, "tl.persistent_blocks", MULTIPROCESSORS);
    bool stay = fits(k, n);

    k->body = stmt_map(ir, k->body, settle, &stay);
    if (!stay)
        return;
    expr_is_int(k->grid[0], &t.nx);
    expr_is_int(k->grid[1], &t.ny);
    t.n = n;
    Var *block = var_new(ir, "b", DT_I32, k->span), *turn = var_new(ir, "t", DT_I32, k->span);
    const Expr *total = num(&t, t.nx * t.ny);
    const Expr *left = expr_sub(ir, total, expr_var(ir, block));
    build_open(&t.b, ir, NULL);
    place(&t, let(&t, "id", expr_add(ir, expr_var(ir, block),
                                     expr_mul(ir, expr_var(ir, turn), num(&t, n)))));
    const Stmt *wait = add_body(&t);
    const Stmt *loop =
        stmt_for(ir, k->span, LOOP_SERIAL, turn, num(&t, 0), expr_ceildiv(ir, left, num(&t, n)),
                 (Hints){0}, build_close(&t.b, k->span));
    k->body = stmt_seq(ir, loop, wait);
    k->ngrid = 1;
    k->grid[0] = num(&t, n);
    k->block[0] = block;
    k->block[1] = NULL;
    k->swizzle_panel = 0;
}
