/* opt_stage_stores.c -- epilogue: results of warpgroup MMAs leave through shared memory.
 *
 * Each thread holds pairs of neighbours of many rows: stored directly they are slow, and at the
 * edge of a tensor every pair needs its own guard.  Instead strips of columns go to one of two
 * shared tiles, from where a bulk store takes them (or, where the tensor's strides forbid it,
 * ordinary copies of whole rows):
 *
 *     for each strip:  wait until the store before last has read its tile
 *                      strip of the fragment -> tile      (converts)
 *                      tile -> tensor                     (bulk store, one group)
 *
 * The pass config tl.stage_stores = 0 stores directly. */
#include "pass/pass.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"
#include "pass/plan_shared.h"
#include "ir/config.h"

enum { LARGE = 128, STRIP_BYTES = 128, TILES = 2, SLACK = 4096 };

typedef struct {
    Kernel *k;
    Ir *ir;
    Map results; /* fragments that MMAs fill, and those computed from them, which lie alike */
    Map loaded;  /* shared tiles that bulk copies fill */
    bool groups; /* they are made by warpgroups, not by warps */
    Map looped;  /* statements of a loop: they run again */
    Map read;    /* tensors the kernel reads: it could not wait for a bulk store to be seen */
} Stores;

static void see_read(void *arg, const Stmt *s, const Touch *t)
{
    if (touch_reads(t) && t->buf->scope == MEM_GLOBAL && (t->expr || s->kind == ST_TILE))
        map_set(&((Stores *)arg)->read, buffer_root(t->buf), s);
}

static bool is_result(const Expr *e, void *results)
{
    return e->op == EX_LOAD && map_has(results, e->u.buf);
}

/* What elements of a result become, a tile of the same number of dimensions. */
static void see_made(Stores *t, const Stmt *s)
{
    if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_FRAGMENT &&
        s->u.store.buf->rank == 2 && expr_any(s->u.store.value, is_result, &t->results))
        map_set(&t->results, s->u.store.buf, s);
}

static bool mark_looped(const Stmt *s, void *arg)
{
    map_set(&((Stores *)arg)->looped, s, s);
    return true;
}

static bool see_mma(const Stmt *s, void *arg)
{
    Stores *t = arg;
    stmt_touches(s, see_read, t);
    see_made(t, s);
    if (s->kind == ST_FOR || s->kind == ST_WHILE)
        stmt_visit(s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then, mark_looped, t);
    if (tile_does(s, TILE_MMA) && tile_plan(t->k, s)->how->accumulates &&
        tile_plan(t->k, s)->how->by_group == t->groups)
        map_set(&t->results, s->u.tile.region[2].buf, s);
    if (tile_does(s, TILE_COPIES) && tile_plan(t->k, s)->how->bulk)
        map_set(&t->loaded, s->u.tile.region[1].buf, s);
    return true;
}

/* Strips of whole 16-byte units; the last may be narrower.  0: the columns are none. */
static int64_t strip_of(int64_t cols, DType t)
{
    int64_t most = STRIP_BYTES * 8 / dtype_bits(t), unit = 16 * 8 / dtype_bits(t);
    return cols % unit ? 0 : MIN(cols, most);
}

static Region part(Ir *ir, const Region *of, int dim, int64_t from, int64_t n)
{
    int rank = of->buf->rank;
    Region r = {of->buf, NEWN(ir->arena, const Expr *, rank), NEWN(ir->arena, const Expr *, rank)};

    for (int d = 0; d < rank; d++) {
        r.at[d] = of->at[d];
        r.extent[d] = of->extent[d];
    }
    r.at[dim] = expr_add(ir, of->at[dim], expr_int(ir, from));
    r.extent[dim] = expr_int(ir, n);
    return r;
}

static Buffer *tile_new(Stores *t, const Stmt *s, int64_t rows, int64_t cols, int number)
{
    const Region *dst = &s->u.tile.region[1];
    const Expr *shape[2] = {expr_int(t->ir, rows), expr_int(t->ir, cols)};
    return kernel_buffer(t->k,
                         arena_printf(t->ir->arena, "%s_out_%d", dst->buf->name, number),
                         dst->buf->type, MEM_SHARED, 2, shape, s->span);
}

/* Two dimensions on both sides, the columns contiguous in the tensor. */
static bool fits(Stores *t, const Stmt *s, RegionMatch *m)
{
    const Region *src = &s->u.tile.region[0], *dst = &s->u.tile.region[1];

    if (!tile_does(s, TILE_COPIES) || dst->buf->scope != MEM_GLOBAL ||
        !map_has(&t->results, src->buf) || !region_is_whole(src) || src->buf->rank != 2 ||
        map_has(&t->read, buffer_root(dst->buf)))
        return false;
    if (!region_match(t->k, s->span, src, dst, m) || m->n != 2 || dtype_bits(dst->buf->type) < 8)
        return false;
    return m->dim[1][1] == dst->buf->rank - 1 && m->extent[0] == src->extent[0] &&
           m->extent[1] == src->extent[1];
}

/* The region of the tensor that the match means: an element may stand for a start. */
static Region spelled_out(Ir *ir, const Region *dst, const RegionMatch *m)
{
    Region r = part(ir, dst, dst->buf->rank - 1, 0, 1);
    for (int i = 0; i < m->n; i++)
        r.extent[m->dim[1][i]] = m->extent[i];
    return r;
}

/* Beside the kernel's own tiles, those of bulk copies twice? */
static bool has_room(Stores *t, int64_t nbytes)
{
    int64_t most = kernel_shared_most(t->k), total = nbytes + SLACK;

    for (int i = 0; i < t->k->buffers.n; i++) {
        const Buffer *b = t->k->buffers.at[i];
        int64_t n = b->scope == MEM_SHARED && !b->view_of ? buffer_static_size(b) : 0;
        if (n > 0)
            total += dtype_bytes(b->type, n) * (map_has(&t->loaded, b) ? 2 : 1);
    }
    return !most || total <= most;
}

/* Before strip i of n (0: the last is narrow, in a tile of its own) is put into its tile.  The wait
 * at the end of the time before covers the first strips, and a barrier tells all; a persistent
 * block (lower_grid) has no such wait, and uses those marked "persistent" instead.  Around the end
 * of an odd number of strips the same tile comes twice. */
static void add_waits(Stores *t, Builder *b, const Stmt *s, int i, int n)
{
    bool again = i == 0 && n % TILES;
    const Stmt *wait = stmt_wait(t->ir, s->span, QUEUE_STORES, again ? 0 : TILES - 1, 0, NULL);
    const Stmt *sync = stmt_sync(t->ir, s->span);

    build_add(b, i >= TILES ? wait : stmt_call_mark(t->ir, wait, MARK_PERSISTENT));
    if (i >= TILES || (i == 0 && map_has(&t->looped, s)))
        build_add(b, sync);
    else
        build_add(b, stmt_call_mark(t->ir, sync, MARK_PERSISTENT));
}

static const Stmt *stage(Ir *ir, const Stmt *s, void *arg)
{
    Stores *t = arg;
    RegionMatch m;
    Buffer *tile[TILES] = {0};
    int64_t rows, cols;
    Builder b;

    if (!fits(t, s, &m) || !expr_is_int(m.extent[0], &rows) || !expr_is_int(m.extent[1], &cols))
        return s;
    const Region *src = &s->u.tile.region[0];
    Region dst = spelled_out(ir, &s->u.tile.region[1], &m);
    int64_t strip = strip_of(cols, dst.buf->type);
    if (!strip)
        return s;
    if (!has_room(t, rows * STRIP_BYTES * (cols / strip > 1 ? TILES : 1)))
        return s;
    build_open(&b, ir, NULL);
    for (int64_t i = 0, from = 0; from < cols; i++, from += strip) {
        int64_t width = MIN(strip, cols - from);
        if (i < TILES || width < strip) /* the narrow one has a tile of its own */
            tile[i % TILES] = tile_new(t, s, rows, width, (int)i);
        Region to = region_whole(ir, tile[i % TILES]);
        Region out = part(ir, &dst, dst.buf->rank - 1, from, width);
        add_waits(t, &b, s, (int)i, cols % strip ? 0 : (int)(cols / strip));
        build_add(&b, copy_plain(t->k, s->span, part(ir, src, 1, from, width), to,
                           "a strip of the result to shared memory"));
        const Stmt *store = copy_plain(t->k, s->span, to, out, "rows of the result");
        plan_mechanism(t->k, (ThreadGroup){0, 0}, store, MECH_HOW);
        TilePlan *p = tile_plan(t->k, store);
        if (!p->how->swizzle || p->or_loops) /* the tile will be swizzled, against conflicts */
            p->how = &mech_plain;
        if (p->or_loops)
            p->why = "a store may start before the tensor";
        p->or_loops = false;
        p->left_open = p->how->bulk && !others_touch(buffer_uses(t->k, out.buf)->writer, s);
        build_add(&b, store);
    }
    build_add(&b, stmt_wait(ir, s->span, QUEUE_STORES, 0, 0, NULL));
    return build_close(&b, s->span);
}

/* MMAs of warps: as above with halves of the columns in one tile, for results of 16 bits whose
 * pairs would go out in half sectors.  Large ones only: the barriers must be worth it. */
static const Stmt *stage_warps(Ir *ir, const Stmt *s, void *arg)
{
    Stores *t = arg;
    RegionMatch m;
    int64_t rows, cols;
    Builder b;

    if (!fits(t, s, &m) || !expr_is_int(m.extent[0], &rows) || !expr_is_int(m.extent[1], &cols) ||
        map_has(&t->looped, s))
        return s;
    const Region *src = &s->u.tile.region[0];
    Region dst = spelled_out(ir, &s->u.tile.region[1], &m);
    if (dtype_bits(dst.buf->type) != 16 || rows < LARGE || cols < 2 * LARGE || cols % 16 ||
        !has_room(t, rows * cols))
        return s;
    Buffer *tile = tile_new(t, s, rows, cols / 2, 0);
    build_open(&b, ir, NULL);
    for (int64_t from = 0; from < cols; from += cols / 2) {
        Region to = region_whole(ir, tile);
        Region out = part(ir, &dst, dst.buf->rank - 1, from, cols / 2);
        build_add(&b, copy_plain(t->k, s->span, part(ir, src, 1, from, cols / 2), to,
                           "half of the result to shared memory"));
        build_add(&b, copy_plain(t->k, s->span, to, out, "rows of the result"));
    }
    return build_close(&b, s->span);
}

void pass_opt_stage_stores(Kernel *k)
{
    Stores t = {.k = k, .ir = k->ir};

    t.groups = kernel_has(k, HAS_GROUP_MMA);
    if (!kernel_has(k, HAS_ASYNC_COPY) || k->uses_threads ||
        !config_on(k->func, CONFIG_stage_stores))
        return;
    map_init(&t.results, k->scratch);
    map_init(&t.loaded, k->scratch);
    map_init(&t.looped, k->scratch);
    map_init(&t.read, k->scratch);
    stmt_visit(k->body, see_mma, &t);
    if (t.results.n)
        k->body = stmt_map(k->ir, k->body, t.groups ? stage : stage_warps, &t);
}
