/* opt_register_tiles.c -- shared tiles of which every thread reads its own part become fragments.
 *
 *     copy(X[...], s)                                copy(X[...], s)       s in registers
 *     for i, j in parallel(...):          ->         for i, j in parallel(...):
 *         y[i, j] = f(s[i, j])                           y[i, j] = f(s[i, j])
 *
 * A tile that is filled from a tensor and then only read element by element, each by one iteration
 * of a nest, needs no memory that others see: without it there is nothing to wait for.  Not those
 * that a pipeline fills ahead, nor where a matrix instruction says who runs the nest. */
#include "pass/pass.h"
#include "pass/body_uses.h"
#include "ir/config.h"

enum { BYTES_MOST = 128, BYTES_ALL = 256, CHOSEN_MOST = 8 }; /* of a thread; of a short loop */

typedef struct {
    Buffer *buf;
    bool filled, unfit;
    int uses;      /* seen where they may be */
} Tile;

typedef struct {
    Kernel *k;
    Ir *ir;
    VEC(Tile) tiles;
    Map shorts;    /* variables of short loops around */
    Map matrices;  /* fragments of MMAs */
    bool roles;
} Tiles;

static Tile *tile_of(Tiles *t, const Buffer *b)
{
    for (int i = 0; i < t->tiles.n; i++)
        if (t->tiles.at[i].buf == b)
            return &t->tiles.at[i];
    return NULL;
}

/* ---- nests ----------------------------------------------------------------------------------- */

/* The loop that an index is; -1: it depends on none, -2: it is something else. */
static int axis_of(Ir *ir, const LoopNest *p, const Expr *index)
{
    for (int l = 0; l < p->n; l++) {
        Var *axis = layout_axis(ir, l);
        if (index->op == EX_VAR && index->u.var == axis)
            return l;
        if (expr_uses_var(index, axis))
            return -2;
    }
    return -1;
}

/* Each element is one iteration's: loops of the nest, and short ones around that are copied out. */
static bool is_own(Tiles *t, const LoopNest *p, const LoopAccess *a)
{
    int64_t shape[RANK_MOST], n = 1;
    bool used[RANK_MOST] = {false};

    if (a->how & ACC_WRITE || a->n != a->buf->rank || !buffer_static_shape(a->buf, shape))
        return false;
    for (int d = 0; d < a->n; d++) {
        int l = axis_of(t->ir, p, a->at[d]);
        bool chosen = a->at[d]->op == EX_VAR && map_has(&t->shorts, a->at[d]->u.var);
        if (l == -2 || (l == -1 && (d == a->n - 1 || !(shape[d] == 1 || chosen))) ||
            (l >= 0 && (used[l] || p->extent[l] != shape[d])))
            return false;
        if (l >= 0)
            used[l] = true;
    }
    for (int l = 0; l < p->n; l++)
        n *= used[l] ? 1 : p->extent[l];
    return n == 1;
}

/* Could the nest be run so that `last` goes along neighbouring threads, whatever else it does? */
static bool goes_along(Tiles *t, const LoopNest *p, int last)
{
    for (int i = 0; i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        if (a->buf->scope == MEM_FRAGMENT && map_has(&t->matrices, buffer_root(a->buf)))
            return false;
        for (int d = 0; d < a->n; d++) {
            int l = axis_of(t->ir, p, a->at[d]);
            if (l == -2 || (l == last && d < a->n - 1))
                return false;
        }
    }
    return true;
}

static void see_nest(Tiles *t, const Stmt *s)
{
    LoopNest p;

    parallel_read(t->ir, s, &p);
    for (int i = 0; i < p.access.n; i++) {
        const LoopAccess *a = &p.access.at[i];
        Tile *x = tile_of(t, a->buf);
        if (x && !(p.fixed && is_own(t, &p, a) &&
                   goes_along(t, &p, axis_of(t->ir, &p, a->at[a->n - 1]))))
            x->unfit = true;
    }
    for (int i = 0; i < t->tiles.n; i++)
        t->tiles.at[i].uses += stmt_uses(s, t->tiles.at[i].buf);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Where loops of a copy are alike on both sides, its elements stay in their threads. */
static bool is_as_whole(const Region *from, const Region *to)
{
    int64_t a[RANK_MOST], b[RANK_MOST];

    if (!region_is_whole(from) || !region_is_whole(to) || from->buf->rank != to->buf->rank ||
        !buffer_static_shape(from->buf, a) || !buffer_static_shape(to->buf, b))
        return false;
    return memcmp(a, b, sizeof *a * (size_t)from->buf->rank) == 0;
}

static void see_copy(Tiles *t, const Stmt *s, bool staged)
{
    const Region *from = &s->u.tile.region[0], *to = &s->u.tile.region[1];
    Tile *in = tile_of(t, to->buf), *out = tile_of(t, from->buf);

    if (in && from->buf->scope == MEM_GLOBAL && from->buf->type == to->buf->type && !staged &&
        region_is_whole(to) && s->u.tile.hints.n == 0 && !buffer_uses(t->k, from->buf)->writes) {
        in->filled = true;
        in->uses++;
    }
    if (out && is_as_whole(from, to) && to->buf->scope == MEM_FRAGMENT &&
        !map_has(&t->matrices, buffer_root(to->buf)))
        out->uses++;
}

static bool see_matrix(const Stmt *s, void *arg)
{
    Tiles *t = arg;

    t->roles |= s->kind == ST_ROLE;
    for (int i = 0; tile_does(s, TILE_MMA) && i < s->u.tile.nregion; i++)
        map_set(&t->matrices, buffer_root(s->u.tile.region[i].buf), s);
    return true;
}

/* staged: in a loop whose copies run ahead. */
static void walk(Tiles *t, const Stmt *s, bool staged)
{
    int64_t n;

    if (tile_does(s, TILE_COPIES))
        see_copy(t, s, staged);
    if (stmt_is_nest(s)) {
        see_nest(t, s);
        return;
    }
    if (s->kind == ST_FOR) {
        if (expr_is_int(s->u.loop.extent, &n) && n <= CHOSEN_MOST)
            map_set(&t->shorts, s->u.loop.var, s);
        staged |= s->u.loop.how == LOOP_PIPELINED &&
                  hint_int(s->u.loop.hints, "num_stages", 0) > 1;
    }
    for (int i = 0; s->kind != ST_ROLE && i < stmt_nkid(s); i++)
        walk(t, stmt_kid(s, i), staged);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static void find_tiles(Tiles *t)
{
    Kernel *k = t->k;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        const BufferUses *u = b->scope == MEM_SHARED && !b->view_of ? buffer_uses(k, b) : NULL;
        int64_t bytes = u ? dtype_bytes(b->type, MAX(buffer_static_size(b), 0)) : 0;
        if (u && u->writes == 1 && !u->addresses && !u->viewed && b->rank > 0 &&
            !buffer_plan(k, b)->pinned && bytes > 0 &&
            bytes <= (int64_t)BYTES_MOST * kernel_block_threads(k))
            vec_push(k->scratch, &t->tiles, (Tile){.buf = b});
    }
}

/* Bytes of registers that may be taken: what the kernel's own fragments leave, so that other blocks
 * find room beside this one; all where there are no others. */
static int64_t bytes_left(Kernel *k)
{
    int64_t left = (int64_t)BYTES_ALL * kernel_block_threads(k), blocks = 1, n;

    for (int d = 0; d < k->ngrid; d++) {
        n = expr_is_int(k->grid[d], &n) ? MIN(n, INT32_MAX) : INT32_MAX;
        blocks = MIN(blocks * n, INT32_MAX);
    }
    if (blocks <= k->machine->units)
        return left;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_FRAGMENT && !b->view_of)
            left -= dtype_bytes(b->type, MAX(buffer_static_size(b), 0));
    }
    return left;
}

void pass_opt_register_tiles(Kernel *k)
{
    Tiles t = {.k = k, .ir = k->ir};
    int64_t left = bytes_left(k);

    if (k->uses_threads || config_on(k->func, CONFIG_as_written))
        return;
    map_init(&t.shorts, k->scratch);
    map_init(&t.matrices, k->scratch);
    stmt_visit(k->body, see_matrix, &t);
    if (t.roles)
        return;
    find_tiles(&t);
    walk(&t, k->body, false);
    for (int i = 0; i < t.tiles.n; i++) {
        const Tile *x = &t.tiles.at[i];
        int64_t bytes = dtype_bytes(x->buf->type, buffer_static_size(x->buf));
        if (x->filled && !x->unfit && x->uses == buffer_uses(k, x->buf)->uses && bytes <= left) {
            left -= bytes;
            x->buf->scope = MEM_FRAGMENT;
        }
    }
}
