/* lower_grid.c -- blocks that stay and take one tile after the other; the order of the others.
 *
 * needs   FORM_GRID
 * gives   FORM_NOGRID
 *
 * A kernel with a producer warp fills a whole multiprocessor.  With a block per tile, its ring is
 * empty at the start of each tile; a block that stays lets the producer fetch the next tile's
 * operands while the threads still store the last one's result:
 *
 *     grid (nx, ny)  body(bx, by)   ->   grid (n)   for t: id = b + t * n
 *                                                       bx, by = place of tile id, in panels
 *                                                       body(bx, by)
 *
 * n is the number of multiprocessors of the architecture (the pass config tl.persistent_blocks
 * says another; 0 leaves the grid alone).  Where one block index alone decides about the length of
 * tiles (causal attention), every second turn goes through the blocks backwards, and in kernels
 * that do not stay the long ones come first.  Other kernels whose blocks differ in length keep the
 * hardware's own queue.
 *
 * Blocks of a cluster along one dimension stay neighbours: the cluster takes as many tiles that
 * stand side by side along that dimension, and each block the one of its rank.  A grid that is
 * left alone is walked in plain order where clusters share tiles. */
#include "pass/pass.h"
#include "ir/config.h"

enum {
    SAMPLES = 64,
    BARRIERS = 1024,
    BESIDE = 40,           /* registers of a thread, apart from its tiles */
};

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

/* ---- how long blocks take -------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Map lets;           /* names and their values */
    int64_t at;         /* of block index `dim` */
    int dim;
    bool known, uneven; /* the turns of all loops; they differ from block to block */
    int64_t turns, bytes;
} Length;

static bool see_let(const Stmt *s, void *arg)
{
    if (s->kind == ST_LET)
        map_set(&((Length *)arg)->lets, s->u.let.var, s->u.let.value);
    return true;
}

static const Expr *expanded(Length *l, const Expr *e)
{
    for (const Expr *before = NULL; before != e;) {
        before = e;
        e = expr_subst_map(l->k->ir, e, &l->lets, NULL);
    }
    return e;
}

static bool see_load(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD)
        *(bool *)arg = true;
    return true;
}

static bool varies(Length *l, const Expr *e)
{
    bool loads = false;

    e = expanded(l, e);
    expr_visit(e, see_load, &loads);
    for (int d = 0; d < l->k->ngrid; d++)
        loads |= expr_uses_var(e, l->k->block[d]);
    return loads;
}

static bool see_loop(const Stmt *s, void *arg)
{
    Length *l = arg;
    bool loop = s->kind == ST_FOR && s->u.loop.how != LOOP_PARALLEL;

    if (s->kind == ST_WHILE || (loop && (varies(l, s->u.loop.extent) ||
                                         varies(l, s->u.loop.min))))
        l->uneven = true;
    return true;
}

static bool has_loop(const Stmt *s, void *arg)
{
    if (s->kind == ST_WHILE || (s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED) ||
        (s->kind == ST_TILE && s->u.tile.op->id == OP_gemm))
        *(bool *)arg = true;
    return true;
}

static bool see_branch(const Stmt *s, void *arg)
{
    Length *l = arg;
    bool work = false;

    if (s->kind != ST_IF)
        return true;
    stmt_visit(s, has_loop, &work);
    l->uneven |= work;
    return true;
}

/* Do blocks differ in length, as far as can be told? */
static bool is_uneven(Kernel *k)
{
    Length l = {.k = k};

    map_init(&l.lets, k->scratch);
    stmt_visit(k->body, see_let, &l);
    stmt_visit(k->body, see_loop, &l);
    stmt_visit(k->body, see_branch, &l);
    return l.uneven;
}

static bool add_length(const Stmt *s, void *arg)
{
    Length *l = arg;
    Ir *ir = l->k->ir;
    int64_t n = 0;

    if (s->kind == ST_WHILE)
        l->known = false;
    if (s->kind != ST_FOR || s->u.loop.how == LOOP_PARALLEL)
        return true;
    const Expr *extent = expanded(l, s->u.loop.extent);
    extent = expr_subst(ir, extent, l->k->block[l->dim], expr_int(ir, l->at));
    if (!expr_is_int(simplify(ir, NULL, extent), &n))
        l->known = false;
    l->turns += n;
    return false;
}

/* Turns of the outer loops of the blocks whose index `dim` is `at`; -1: nobody knows. */
static int64_t turns_at(Length *l, int64_t at)
{
    l->at = at;
    l->turns = 0;
    l->known = true;
    stmt_visit(l->k->body, add_length, l);
    return l->known ? l->turns : -1;
}

/* 1: the longer the higher the index, -1: the lower; 0: neither, or hardly. */
static int trend(Length *l, int64_t n)
{
    int64_t step = MAX(n / SAMPLES, 1), before = turns_at(l, 0), sum = 0, most = 0;
    int up = 0, down = 0, samples = 0;

    for (int64_t i = 0; i < n; i += step, samples++) {
        int64_t now = turns_at(l, i);
        if (now < 0)
            return 0;
        up += now > before;
        down += now < before;
        sum += now;
        most = MAX(most, now);
        before = now;
    }
    if ((up && down) || sum * 5 > most * samples * 4)
        return 0;
    return up ? 1 : -1;
}

/* The block index that alone decides about the length, and which way, as above. */
static int way_of(Length *l)
{
    Kernel *k = l->k;
    int64_t n = 0;
    int way = 0;

    map_init(&l->lets, k->scratch);
    stmt_visit(k->body, see_let, l);
    for (int d = 0; d < k->ngrid && !way; d++) {
        l->dim = d;
        if (expr_is_int(k->grid[d], &n) && n > 1)
            way = trend(l, n);
    }
    return way;
}

/* ---- which blocks stay ----------------------------------------------------------------------- */

static bool has_grid(const Kernel *k, int64_t *blocks)
{
    int64_t n;

    *blocks = 1;
    for (int d = 0; d < k->ngrid; d++) {
        if (!k->block[d] || !expr_is_int(k->grid[d], &n) || n <= 0)
            return false;
        *blocks *= n;
    }
    return kernel_on_warps(k) && k->ngrid > 1 && *blocks <= INT32_MAX;
}

static int cluster_size(const Kernel *k)
{
    return k->cluster[0] * k->cluster[1] * k->cluster[2];
}

/* Along one dimension, of blocks that share tiles, and even. */
static bool clusters_may_stay(Kernel *k)
{
    int along = 0;
    int64_t n;

    for (int d = 0; d < k->ngrid; d++) {
        along += k->cluster[d] > 1;
        if (!expr_is_int(k->grid[d], &n) || n % k->cluster[d])
            return false;
    }
    return along == 0 || (along == 1 && cluster_of_rings(k) > 1);
}

static int64_t shared_bytes(Kernel *k)
{
    int64_t sum = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        const BufferPlan *p = buffer_plan(k, b);
        if (b->scope != MEM_SHARED || b->view_of)
            continue;
        int64_t n = p->layout ? layout_size(p->layout) : buffer_static_size(b);
        int64_t each = dtype_bytes(b->type, MAX(n, 0)), align = shared_alignment(k, b, each);
        sum += (each + align - 1) / align * align * MAX(p->versions, 1);
    }
    return sum;
}

/* In a block that stays the producer is ahead by a tile: nothing is free for others meanwhile. */
static bool has_room(Kernel *k)
{
    int64_t most = kernel_shared_most(k);

    return !most || shared_bytes(k) + BARRIERS <= most;
}

bool kernel_is_alone(Kernel *k)
{
    int64_t most = kernel_shared_most(k), need = BESIDE;
    int64_t threads = kernel_nthread(k) + ROLE_THREADS;

    if (kernel_nthread(k) >= 2 * machine_group(k->machine)) /* they take all registers */
        return true;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_FRAGMENT && !b->view_of)
            need += dtype_bytes(b->type, MAX(buffer_static_size(b), 0)) / 4 / kernel_nthread(k);
    }
    return 2 * threads * need > k->machine->regs_unit ||
           (most && 2 * (shared_bytes(k) + BARRIERS) > most);
}

/* Panels are for products; other kernels stay where a block surely has the multiprocessor for
 * itself, as those with two warpgroups of consumers and all its registers.  Where two blocks fit,
 * one works while the other waits, and the hardware's queue does as well. */
static bool fits(Kernel *k, int64_t nblock)
{
    Seen n = {.k = k};
    int64_t blocks;

    if (nblock <= 0 || !has_grid(k, &blocks) || blocks <= nblock || !clusters_may_stay(k))
        return false;
    if (k->swizzle_panel && k->ngrid != 2)
        return false;
    if (k->swizzle_order && strcmp(k->swizzle_order, "column") == 0)
        return false;
    stmt_visit(k->body, see, &n);
    bool asked = config_given(k->func, CONFIG_persistent_blocks);
    if (!n.ring || n.barrier || !has_room(k) || (!asked && !kernel_is_alone(k)) ||
        (!k->swizzle_panel && kernel_nthread(k) < 2 * machine_group(k->machine)))
        return false;
    if (!is_uneven(k))
        return true;
    Length l = {.k = k};
    return !k->swizzle_panel && cluster_size(k) == 1 && way_of(&l);
}

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

static const char to_stay[] = "stay";

const Stmt *stmt_to_stay(Ir *ir, const Stmt *s)
{
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg, s->u.call.nregion,
                     s->u.call.region, ir_name(ir, to_stay), s->u.call.bind);
}

static const Stmt *settle(Ir *ir, const Stmt *s, void *arg)
{
    if (s->kind != ST_CALL || !s->u.call.text || strcmp(s->u.call.text, to_stay))
        return s;
    if (!*(bool *)arg)
        return NULL;
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg, s->u.call.nregion,
                     s->u.call.region, NULL, s->u.call.bind);
}

/* Every second row of tiles goes to the blocks in the other order: so those that get the longer of
 * one row get the shorter of the next. */
static const Expr *there_and_back(Tiles *t, const Expr *block, const Expr *turn)
{
    Ir *ir = t->ir;
    const Expr *odd = expr_binary(ir, EX_EQ, expr_floormod(ir, turn, num(t, 2)), num(t, 1));
    return expr_select(ir, odd, expr_sub(ir, num(t, t->n - 1), block), block);
}

static const Expr *turns_there_and_back(Tiles *t, const Expr *block)
{
    Ir *ir = t->ir;
    int64_t rows = t->nx * t->ny / t->n, left = t->nx * t->ny % t->n;
    const Expr *more = expr_lt(ir, there_and_back(t, block, num(t, rows)), num(t, left));
    return expr_add(ir, num(t, rows), expr_select(ir, more, num(t, 1), num(t, 0)));
}

static void stay(Kernel *k, int64_t n)
{
    Ir *ir = k->ir;
    int each = cluster_size(k);
    Tiles t = {.k = k, .ir = ir, .nx = 1, .n = n / each};
    Var *block = var_new(ir, "b", DT_I32, k->span), *turn = var_new(ir, "t", DT_I32, k->span);
    const Expr *first = expr_var(ir, block), *step = num(&t, t.n);

    sizes(&t);
    if (each > 1) {
        t.rank = expr_floormod(ir, first, num(&t, each));
        first = expr_floordiv(ir, first, num(&t, each));
    }
    Length l = {.k = k};
    const Expr *turns = expr_ceildiv(ir, expr_sub(ir, num(&t, t.nx * t.ny), first), step);
    if (is_uneven(k) && way_of(&l)) {
        turns = turns_there_and_back(&t, first);
        first = there_and_back(&t, first, expr_var(ir, turn));
        t.first = l.dim;
        t.nx = 1;
        sizes(&t);
    }
    build_open(&t.b, ir, NULL);
    const Expr *id = let(&t, "id", expr_add(ir, first, expr_mul(ir, expr_var(ir, turn), step)));
    if (k->swizzle_panel)
        place(&t, id, MAX(k->swizzle_panel / k->cluster[1], 1), false);
    else
        set_blocks(&t, expr_floormod(ir, id, num(&t, t.nx)), expr_floordiv(ir, id, num(&t, t.nx)));
    const Stmt *wait = add_body(&t);
    const Stmt *loop =
        stmt_for(ir, k->span, LOOP_SERIAL, turn, num(&t, 0), turns, (Hints){0},
                 build_close(&t.b, k->span));
    k->body = stmt_seq(ir, loop, wait);
    one_index(k, block, num(&t, n));
    k->cluster[0] = each;
    k->cluster[1] = k->cluster[2] = 1;
}

/* ---- the longest first ----------------------------------------------------------------------- */

/* What the copies of a turn bring from global memory. */
static bool add_bytes(const Stmt *s, void *arg)
{
    Length *l = arg;
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;

    if (r && s->u.tile.op->id == OP_copy && r[0].buf->scope == MEM_GLOBAL &&
        r[1].buf->scope == MEM_SHARED)
        l->bytes += dtype_bytes(r[1].buf->type, region_nelem(&r[1]));
    return true;
}

static bool bytes_in_loop(const Stmt *s, void *arg)
{
    if (s->kind != ST_FOR)
        return true;
    stmt_visit(s->u.loop.body, add_bytes, arg);
    return false;
}

static int64_t cache_for_panel(const Kernel *k)
{
    int64_t n = 1;

    while (2 * n <= k->machine->cache_bytes) /* some is left for what is written */
        n *= 2;
    return n;
}

/* Blocks of one long loop whose length depends on one index: the long ones first, so that none is
 * left alone at the end; of as many others at a time as the second cache holds what they read. */
static void longest_first(Kernel *k)
{
    Length l = {.k = k};
    int64_t blocks;

    if (!has_grid(k, &blocks) || k->swizzle_panel || k->swizzle_order || cluster_size(k) > 1)
        return;
    int way = way_of(&l);
    if (!way)
        return;
    Tiles t = {.k = k, .ir = k->ir, .nx = 1, .first = l.dim};
    sizes(&t);
    stmt_visit(k->body, bytes_in_loop, &l);
    int64_t most = MAX(turns_at(&l, 0), turns_at(&l, t.nx - 1)) * l.bytes;
    int64_t panel = most ? MAX(cache_for_panel(k) / most, 1) : t.ny;
    Var *block = var_new(k->ir, "b", DT_I32, k->span);
    build_open(&t.b, k->ir, NULL);
    place(&t, expr_var(k->ir, block), panel, way > 0);
    build_add(&t.b, k->body);
    k->body = build_close(&t.b, k->span);
    one_index(k, block, num(&t, blocks));
}

static int64_t blocks_at_once(const Kernel *k)
{
    int64_t n = config_int(k->func, CONFIG_persistent_blocks);
    if (n < 0)
        n = config_on(k->func, CONFIG_as_written) ? 0 : k->machine->units;
    return n - n % cluster_size(k);
}

bool grid_stays(Kernel *k)
{
    return fits(k, blocks_at_once(k));
}

void pass_lower_grid(Kernel *k)
{
    int64_t n = blocks_at_once(k);
    bool stays = fits(k, n);

    k->body = stmt_map(k->ir, k->body, settle, &stays);
    if (!stays && cluster_of_rings(k) > 1)
        k->swizzle_panel = 0;
    if (stays)
        stay(k, n);
    else if (!config_on(k->func, CONFIG_as_written))
        longest_first(k);
}
