/* plan_banks.c -- layouts of shared tiles that no mechanism settled: few bank conflicts.
 *
 * A tile that is written by rows and read by columns (a transposition) hits one bank from all
 * lanes when it is row-major.  Every access of such a tile is played for one warp: the nest's
 * layout says what each lane does in each slot.  Row-major, padded rows and the swizzles are
 * compared by the wavefronts and instructions they take; row-major stays unless another is clearly
 * better.  Tiles whose address is taken, or that an operator uses which is not a plain nest, are
 * left alone.
 *
 * Bulk copies know no padding.  A tile that one fills, by a thread's asking, is swizzled; where
 * padded rows are clearly better even with the copy made by all threads, it is. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/plan_layouts.h"
#include "pass/thread_group.h"

enum { LANES_MOST = 64, SLOTS_MOST = 32 };

typedef struct {
    const LoopNest *nest;
    const Layout *loop;
    const LoopAccess *access;
} Use;

typedef struct {
    Buffer *buf;
    bool other;           /* used in a way not known here */
    VEC(Use) uses;
    VEC(const Stmt *) bulks; /* bulk copies that fill it */
    VEC(Use) fills;          /* the same, made by all threads */
} Tile;

typedef struct {
    Kernel *k;
    Ir *ir;
    Arena *arena;
    VEC(Tile) tiles;
} Banks;

static Tile *tile_of(Banks *x, const Buffer *b)
{
    for (int i = 0; i < x->tiles.n; i++)
        if (x->tiles.at[i].buf == b)
            return &x->tiles.at[i];
    return NULL;
}

/* ---- who uses them --------------------------------------------------------------------------- */

static bool see_expr(const Expr *e, void *arg)
{
    Tile *t = e->op == EX_ADDR ? tile_of(arg, e->u.buf) : NULL;
    if (t)
        t->other = true;
    return true;
}

static bool see_address(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, see_expr, arg);
    return true;
}

static void add_nest(Banks *x, const Stmt *s, ThreadGroup who, bool bulk)
{
    LoopNest *p = NEW(x->arena, LoopNest);
    const Layout *loop = NULL;

    parallel_read(x->ir, s, p);
    parallel_know(x->k, p);
    for (int i = 0; i < x->k->loops.n; i++)
        if (x->k->loops.at[i].var == p->var[0])
            loop = x->k->loops.at[i].layout;
    if (p->fixed && !loop)
        loop = plan_nest(x->k, who, p);
    for (int i = 0; loop && layout_is_fragment(loop) && i < p->access.n; i++) {
        Tile *t = tile_of(x, p->access.at[i].buf);
        Use u = {p, loop, &p->access.at[i]};
        if (t && bulk)
            vec_push(x->arena, &t->fills, u);
        else if (t)
            vec_push(x->arena, &t->uses, u);
    }
}

static void see_region(void *arg, const Region *r, Access a)
{
    Tile *t = tile_of(arg, r->buf);
    (void)a;
    if (t)
        t->other = true;
}

/* A bulk copy that could as well be made by all threads. */
static bool is_bulk(Banks *x, const Stmt *s)
{
    const TilePlan *p = tile_plan(x->k, s);
    return tile_does(s, TILE_COPIES) && p->how->swizzle && !p->pipe && !s->u.tile.narg &&
           s->u.tile.region[1].buf->scope == MEM_SHARED;
}

static bool see_stmt(const Stmt *s, ThreadGroup who, void *arg)
{
    Banks *x = arg;

    if (stmt_is_nest(s)) {
        add_nest(x, s, who, false);
        return false;
    }
    if (s->kind == ST_TILE) {
        bool plain = tile_plan(x->k, s)->how->own_loops && tile_does(s, TILE_BY_ELEMENT);
        Tile *bulk = is_bulk(x, s) ? tile_of(x, s->u.tile.region[1].buf) : NULL;
        const Stmt *loop = plain || bulk ? s->u.tile.op->lower(x->k, s) : NULL;
        if (bulk)
            vec_push(x->arena, &bulk->bulks, s);
        if (loop && stmt_is_nest(loop))
            add_nest(x, loop, who, bulk != NULL);
        else
            tile_access(s, see_region, x);
    }
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++)
        see_region(x, &s->u.call.region[i], ACC_READ);
    return true;
}

/* ---- what an access costs -------------------------------------------------------------------- */

/* Offsets of lane t in slot s; -1 where it does nothing. */
typedef struct {
    const Machine *m;
    int64_t nslot;
    int64_t *at; /* lane, slot */
} Played;

static bool play(Banks *x, const Use *u, const Layout *l, Played *p)
{
    Ir *ir = x->ir;
    const Expr *at[RANK_MOST + 1], *guard, *out[2];
    Var *vars[2] = {layout_axis(ir, 0), layout_axis(ir, 1)};
    Map m;

    if (!fragment_inverse(ir, u->loop, at, &guard))
        return false;
    map_init(&m, ir->arena);
    for (int d = 0; d < u->loop->rank; d++)
        map_set(&m, layout_axis(ir, d), at[d]);
    const Expr *index[RANK_MOST];
    for (int d = 0; d < u->access->n; d++)
        index[d] = expr_subst_map(ir, u->access->at[d], &m, NULL);
    out[0] = layout_offset(ir, l, index);
    out[1] = guard ? guard : expr_bool(ir, true);
    p->nslot = MIN(fragment_slots(u->loop), SLOTS_MOST);
    p->m = x->k->machine;
    p->at = NEWN(x->arena, int64_t, p->m->lanes * p->nslot);
    const ExprCode *code = expr_compile(ir, vars, 2, out, 2);
    for (int64_t i = 0; i < p->nslot * p->m->lanes; i += EXPR_LANES) {
        int64_t arg[2][EXPR_LANES], r[2][EXPR_LANES];
        for (int j = 0; j < EXPR_LANES; j++) {
            arg[0][j] = (i + j) / p->nslot;
            arg[1][j] = (i + j) % p->nslot;
        }
        expr_run_lanes(code, arg, r);
        for (int j = 0; j < EXPR_LANES && i + j < p->nslot * p->m->lanes; j++)
            p->at[i + j] = r[1][j] && arg[0][j] < u->loop->nthread ? r[0][j] : -1;
    }
    return true;
}

/* Are groups of w slots consecutive elements that start at a multiple of w, in every lane? */
static bool is_run(const Played *p, int64_t w)
{
    if (p->nslot % w)
        return false;
    for (int64_t i = 0; i < p->m->lanes * p->nslot; i++) {
        int64_t first = p->at[i / w * w];
        if (p->at[i] != (first < 0 ? -1 : first + i % w) || (first >= 0 && first % w))
            return false;
    }
    return true;
}

static int64_t cost_of(const Played *p, int bits)
{
    int64_t w = MAX(p->m->access_bytes * 8 / bits, 1), cost = 0, address[LANES_MOST];
    int lanes = p->m->lanes, wave = p->m->banks * p->m->bank_bytes;

    while (w > 1 && !is_run(p, w))
        w /= 2;
    int bytes = (int)MAX(w * bits / 8, 1), least = MAX(lanes * bytes / wave, 1);
    for (int64_t s = 0; s < p->nslot; s += w) {
        for (int t = 0; t < lanes; t++) {
            int64_t at = p->at[t * p->nslot + s];
            address[t] = at < 0 ? -1 : at * bits / 8;
        }
        cost += 2 * (least + bank_conflicts(p->m, address, bytes)) + 1;
    }
    return cost;
}

/* Variables of loops and blocks around move all lanes alike: any value will do. */
static bool is_played(const Use *u)
{
    for (int d = 0; d < u->access->n; d++)
        if (expr_has_load(u->access->at[d]))
            return false;
    return true;
}

typedef struct {
    Ir *ir;
    Map zero;
    const LoopNest *nest;
} Strangers;

static bool see_stranger(const Expr *e, void *arg)
{
    Strangers *s = arg;
    if (e->op != EX_VAR)
        return true;
    for (int d = 0; d < s->nest->n; d++)
        if (e->u.var == layout_axis(s->ir, d))
            return true;
    map_set(&s->zero, e->u.var, (void *)expr_const(s->ir, e->u.var->type, 0));
    return true;
}

/* The access with everything but the nest's axes at zero. */
static Use settled(Banks *x, const Use *u)
{
    Strangers s = {.ir = x->ir, .nest = u->nest};
    LoopAccess *a = NEW(x->arena, LoopAccess);

    map_init(&s.zero, x->arena);
    *a = *u->access;
    a->at = NEWN(x->arena, const Expr *, MAX(a->n, 1));
    for (int d = 0; d < a->n; d++)
        expr_visit(u->access->at[d], see_stranger, &s);
    for (int d = 0; d < a->n; d++)
        a->at[d] = expr_subst_map(x->ir, u->access->at[d], &s.zero, NULL);
    return (Use){u->nest, u->loop, a};
}

static int64_t cost_of_uses(Banks *x, const Tile *t, int n, const Use *use, const Layout *l)
{
    int64_t cost = 0;
    for (int i = 0; i < n; i++) {
        Use u = settled(x, &use[i]);
        Played p;
        if (!is_played(&u) || !play(x, &u, l, &p))
            return -1;
        cost += cost_of(&p, dtype_bits(t->buf->type));
    }
    return cost;
}

/* -1: not known.  What bulk copies do costs the threads nothing. */
static int64_t cost_with(Banks *x, const Tile *t, const Layout *l, bool fills)
{
    int64_t uses = cost_of_uses(x, t, t->uses.n, t->uses.at, l), more = 0;
    if (fills)
        more = cost_of_uses(x, t, t->fills.n, t->fills.at, l);
    return uses < 0 || more < 0 ? -1 : uses + more;
}

/* ---- choosing -------------------------------------------------------------------------------- */

enum { SWIZZLES = 2, CHOICES = 4 };

static void fill_by_threads(Banks *x, const Tile *t)
{
    for (int i = 0; i < t->bulks.n; i++)
        copy_by_threads(x->k, t->bulks.at[i], "padded rows are read with fewer bank conflicts");
}

static void choose(Banks *x, const Tile *t)
{
    Ir *ir = x->ir;
    int bits = dtype_bits(t->buf->type);
    int64_t shape[RANK_MOST];

    if (t->other || t->uses.n == 0 || !buffer_static_shape(t->buf, shape))
        return;
    const Layout *best = NULL, *choice[CHOICES] = {
        layout_swizzle(ir, shape[0], shape[1], bits, 128),
        layout_swizzle(ir, shape[0], shape[1], bits, 64),
        layout_padded(ir, 2, shape, MAX(x->k->machine->access_bytes * 8 / bits, 1)),
        layout_padded(ir, 2, shape, MAX(x->k->machine->bank_bytes * 8 / bits, 1)),
    };
    int64_t plain = cost_with(x, t, layout_row_major(ir, 2, shape), false), least = plain * 3 / 4;
    bool padded = false;
    for (int i = 0; plain >= 0 && i < CHOICES; i++) {
        if (i == SWIZZLES && t->bulks.n)
            least = best ? least * 3 / 4 : least;
        int64_t cost = cost_with(x, t, choice[i], i >= SWIZZLES);
        if (cost >= 0 && cost < least) {
            least = cost;
            best = choice[i];
            padded = i >= SWIZZLES;
        }
    }
    if (best)
        buffer_plan(x->k, t->buf)->layout = best;
    if (padded)
        fill_by_threads(x, t);
}

/* A bulk copy whose tile was given a layout that it cannot fill is made by all threads; where a
 * producer makes it, or the kernel waits for it, the tile keeps its rows in order. */
static bool settle(const Stmt *s, void *arg)
{
    Kernel *k = arg;

    if (!tile_does(s, TILE_FETCHES))
        return true;
    TilePlan *p = tile_plan(k, s);
    const Region *r = s->u.tile.region;
    Buffer *tile = r[r[1].buf->scope == MEM_SHARED].buf;
    if (!p->how->bulk)
        return true;
    int span = buffer_panel_span(k, tile);
    if (span >= 0 && span <= p->how->swizzle)
        return true;
    if (!p->pipe && !p->left_open && s->u.tile.narg <= s->u.tile.op->narg)
        copy_by_threads(k, s, "no bulk copy fills the layout of its tile");
    else if (!buffer_plan(k, tile)->pinned)
        buffer_plan(k, tile)->layout = NULL;
    return true;
}

static void choose_layouts(Kernel *k)
{
    Banks x = {.k = k, .ir = k->ir, .arena = k->scratch};

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        Tile t = {.buf = b};
        if (b->scope == MEM_SHARED && b->rank == 2 && !b->view_of && dtype_bits(b->type) >= 8 &&
            !buffer_plan(k, b)->layout)
            vec_push(x.arena, &x.tiles, t);
    }
    for (int i = 0; i < k->buffers.n; i++) {
        Tile *t = tile_of(&x, buffer_root(k->buffers.at[i]));
        if (t && k->buffers.at[i]->view_of)
            t->other = true;
    }
    if (x.tiles.n == 0)
        return;
    stmt_visit(k->body, see_address, &x);
    group_visit(k, see_stmt, &x);
    for (int i = 0; i < x.tiles.n; i++)
        choose(&x, &x.tiles.at[i]);
}

void pass_plan_banks(Kernel *k)
{
    choose_layouts(k);
    stmt_visit(k->body, settle, k);
}
