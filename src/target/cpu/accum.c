/* accum.c -- what need not be done around the accumulator of a GEMM.
 *
 *     T.clear(C_l)                       the first GEMM may overwrite instead of add
 *     for k: ... T.gemm(A_s, B_s, C_l)
 *     T.copy(C_l, C[...])                with nothing else in between, C_l may live in C
 *
 * Both are found in the tile form by plan_how and read again by lowering. */
#include "target/cpu/emit.h"

#include "pass/body_uses.h"

enum { A, B, C };
enum { COPY_SRC, COPY_DST };
enum { DEEP_ENOUGH = 160 }; /* steps of k between two passes over an accumulator in its tensor */

typedef struct {
    const Buffer *tile;
    int ngemm, nother;
} Uses;

static bool uses_load(const Expr *e, void *arg)
{
    Uses *u = arg;
    if ((e->op == EX_LOAD || e->op == EX_ADDR) && buffer_root(e->u.buf) == u->tile)
        u->nother++;
    return true;
}

static bool in_regions(const Region *r, int n, const Buffer *b)
{
    for (int i = 0; i < n; i++)
        if (buffer_root(r[i].buf) == b)
            return true;
    return false;
}

static bool is_gemm_into(const Stmt *s, const Buffer *b)
{
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;
    return tile_is_gemm(s) && r[C].buf == b && region_is_whole(&r[C]) && !in_regions(r, 2, b) &&
           cpu_has_microkernel(s);
}

static bool uses_stmt(const Stmt *s, void *arg)
{
    Uses *u = arg;

    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, uses_load, u);
    if (is_gemm_into(s, u->tile))
        u->ngemm++;
    else if (s->kind == ST_TILE)
        u->nother += in_regions(s->u.tile.region, s->u.tile.nregion, u->tile);
    else if (s->kind == ST_STORE)
        u->nother += buffer_root(s->u.store.buf) == u->tile;
    else if (s->kind == ST_ATOMIC)
        u->nother += buffer_root(s->u.atomic.buf) == u->tile;
    else if (s->kind == ST_CALL)
        u->nother += in_regions(s->u.call.region, s->u.call.nregion, u->tile);
    return true;
}

static Uses uses_of(const Stmt *s, const Buffer *tile)
{
    Uses u = {.tile = tile};
    stmt_visit(s, uses_stmt, &u);
    return u;
}

static Uses uses_in_body(Kernel *k, const Buffer *tile)
{
    const BufferUses *n = buffer_uses(k, tile);
    Uses u = {.tile = tile};

    for (int i = 0; n && i < n->by.n; i++)
        uses_stmt(n->by.at[i], &u);
    return u;
}

/* ---- the statements around a GEMM ------------------------------------------------------------ */

typedef struct {
    Kernel *k;
    const Buffer *tile;
    const Stmt *list; /* the block that holds them */
    int fill, holder; /* where in it */
} Chain;

static bool is_clear(const Stmt *s, const Buffer *tile)
{
    return tile_does(s, TILE_FILLS) && s->u.tile.region[0].buf == tile &&
           region_is_whole(&s->u.tile.region[0]) && expr_is_zero(s->u.tile.arg[0]);
}

static bool see_jump(const Stmt *s, void *arg)
{
    if (s->kind == ST_BREAK || s->kind == ST_CONTINUE)
        *(bool *)arg = true;
    return true;
}

/* A loop that may leave an iteration early may leave the first one before its GEMM. */
static bool jumps(const Stmt *loop)
{
    bool found = false;
    stmt_visit(loop->u.loop.body, see_jump, &found);
    return found;
}

/* s is the GEMM, or a loop that runs at least once and holds it directly. */
static bool holds_gemm(Kernel *k, const Stmt *s, const Buffer *tile)
{
    if (is_gemm_into(s, tile))
        return true;
    if (s->kind != ST_FOR || (s->u.loop.how != LOOP_SERIAL && s->u.loop.how != LOOP_PIPELINED) ||
        jumps(s))
        return false;
    const Stmt *body = s->u.loop.body;
    bool direct = is_gemm_into(body, tile);
    for (int i = 0; body->kind == ST_BLOCK && i < body->u.block.n; i++)
        direct |= is_gemm_into(body->u.block.list[i], tile);
    return direct &&
           prove_true(k->ir, kernel_facts(k), expr_lt(k->ir, expr_int(k->ir, 0), s->u.loop.extent));
}

/* The statement of the list that has the next use of the tile after the i-th; NULL: none has. */
static const BodyPath *next_use(const BufferUses *n, int i, const BodyPath *list)
{
    const BodyPath *p = i + 1 < n->path.n ? n->path.at[i + 1] : NULL;

    while (p && p->parent != list)
        p = p->parent;
    return p;
}

/* From the i-th statement of the list to the j-th. */
static bool leaves_between(const Stmt *list, int i, int j)
{
    while (++i < j)
        if (stmt_leaves(list->u.block.list[i]))
            return true;
    return false;
}

/* clear, then the only GEMM, and nothing that touches the tile or leaves in between */
static bool find_chain(Kernel *k, const Buffer *tile, Chain *c)
{
    *c = (Chain){.k = k, .tile = tile};
    if (tile->view_of || k->uses_threads || uses_in_body(k, tile).ngemm != 1)
        return false;
    const BufferUses *n = buffer_uses(k, tile);
    for (int i = 0; i < n->by.n; i++) {
        if (!is_clear(n->by.at[i], tile))
            continue;
        const BodyPath *fill = n->path.at[i], *list = fill->parent, *holder = NULL;
        if (list && list->stmt->kind == ST_BLOCK)
            holder = next_use(n, i, list);
        if (!holder)
            continue;
        Uses u = uses_of(holder->stmt, tile);
        if (u.ngemm == 1 && !u.nother && holds_gemm(k, holder->stmt, tile) &&
            !leaves_between(list->stmt, fill->index, holder->index)) {
            c->list = list->stmt;
            c->fill = fill->index;
            c->holder = holder->index;
        }
    }
    return c->list != NULL; /* there is one GEMM, so one chain */
}

bool accum_clear_folds(Kernel *k, const Stmt *fill)
{
    Chain c;
    const Buffer *tile = fill->u.tile.region[0].buf;
    return is_clear(fill, tile) && find_chain(k, tile, &c) && c.list->u.block.list[c.fill] == fill;
}

/* Rows of the tensor are rows of the tile, one after the other in memory. */
static bool can_hold(Kernel *k, const Region *r)
{
    int64_t extent;
    int last = r->buf->rank - 1;

    return r->buf->scope == MEM_GLOBAL && !r->buf->view_of && !r->buf->pointer && !r->buf->stride &&
           last >= 1 && expr_is_int(r->extent[last], &extent) && extent != 1 &&
           cpu_region_can_be_viewed(k, r);
}

typedef struct {
    const Buffer *tile;
    int64_t depth; /* of the GEMM into it */
} Depth;

static bool see_depth(const Stmt *s, void *arg)
{
    Depth *d = arg;
    if (is_gemm_into(s, d->tile)) {
        int64_t rows = region_extent_int(&s->u.tile.region[C], s->u.tile.region[C].buf->rank - 2);
        d->depth = region_nelem(&s->u.tile.region[A]) / MAX(rows, 1);
    }
    return true;
}

/* Shallow GEMMs pass over the accumulator so often that it pays to have its rows close together
 * in the cache. */
static bool passes_often(const Chain *c)
{
    const Stmt *holder = c->list->u.block.list[c->holder];
    int64_t steps = 2;
    Depth d = {c->tile, 0};

    if (holder->kind != ST_FOR || (expr_is_int(holder->u.loop.extent, &steps) && steps < 2))
        return false;
    stmt_visit(holder, see_depth, &d);
    return d.depth < DEEP_ENOUGH;
}

bool accum_lives_in_tensor(Kernel *k, const Stmt *copy)
{
    const Region *src = &copy->u.tile.region[COPY_SRC], *dst = &copy->u.tile.region[COPY_DST];
    DType t = src->buf->type;
    Chain c;

    if (k->func->may_overlap)
        return false;
    if ((src->buf->scope != MEM_FRAGMENT && src->buf->scope != MEM_SHARED) || t != dst->buf->type ||
        (t != DT_F32 && t != DT_F64 && t != DT_I32) || !region_is_whole(src) ||
        src->buf->rank != 2 || !can_hold(k, dst))
        return false;
    if (buffer_uses(k, dst->buf)->by.n > 1)
        return false;
    Uses tile = uses_in_body(k, src->buf), tensor = uses_in_body(k, buffer_root(dst->buf));
    if (tile.nother != 2 || tensor.ngemm || tensor.nother != 1 || !find_chain(k, src->buf, &c) ||
        passes_often(&c))
        return false;
    /* A name bound on the way may be part of where the tile goes. */
    for (int i = c.fill; i < c.list->u.block.n; i++) {
        const Stmt *s = c.list->u.block.list[i];
        if (s == copy)
            return i > c.holder;
        if (s->kind != ST_TILE && s->kind != ST_FOR)
            return false;
    }
    return false;
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    const Buffer *tile;
    const Region *home;
    bool cleared;
} Seek;

static void seek_home(const Stmt *s, Seek *f)
{
    if (tile_does(s, TILE_COPIES) && s->u.tile.region[COPY_SRC].buf == f->tile &&
        tile_plan(f->k, s)->how == &cpu_view)
        f->home = &s->u.tile.region[COPY_DST];
    if (tile_does(s, TILE_FILLS) && s->u.tile.region[0].buf == f->tile &&
        tile_plan(f->k, s)->how == &cpu_view)
        f->cleared = true;
}

static void seek_uses(Seek *f)
{
    const BufferUses *n = buffer_uses(f->k, f->tile);

    for (int i = 0; i < n->by.n; i++)
        seek_home(n->by.at[i], f);
}

/* The tensor's region in which the tile lives, or NULL. */
const Region *accum_home(Kernel *k, const Buffer *tile)
{
    Seek f = {.k = k, .tile = tile};
    seek_uses(&f);
    return f.home;
}

/* Does the list have, before the statement at p, the clearing that was left out? */
static bool filled_before(const Seek *f, const BodyPath *p)
{
    const BufferUses *n = buffer_uses(f->k, f->tile);

    for (int i = 0; i < n->by.n; i++) {
        const Stmt *s = n->by.at[i];
        if (!tile_does(s, TILE_FILLS) || s->u.tile.region[0].buf != f->tile ||
            tile_plan(f->k, s)->how != &cpu_view)
            continue;
        if (n->path.at[i]->parent == p->parent && n->path.at[i]->index < p->index)
            return true;
    }
    return false;
}

/* When the GEMM is to overwrite the tile, because its clearing was left out; NULL: never.  In the
 * list that had the clearing stands the loop around the GEMM, or the GEMM itself. */
const Expr *accum_clears_when(Kernel *k, const Stmt *gemm)
{
    Seek f = {.k = k, .tile = gemm->u.tile.region[C].buf};
    seek_uses(&f);
    if (!f.cleared)
        return NULL;
    const BodyPath *loop = path_loop(body_path(k, gemm->u.tile.id));
    if (!loop || !loop->parent || loop->parent->stmt->kind != ST_BLOCK || !filled_before(&f, loop))
        return expr_bool(k->ir, true);
    const Stmt *s = loop->stmt;
    return expr_binary(k->ir, EX_EQ, expr_var(k->ir, s->u.loop.var), s->u.loop.min);
}
