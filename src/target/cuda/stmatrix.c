/* stmatrix.c -- accumulators to shared memory, four 8 x 8 matrices at a time.
 *
 * A fragment that lies as MMAs leave it has 16 x 16 blocks, each in eight slots of one warp:
 * matrix i of a block, (i % 2, i // 2) down and across, is two slots of every lane.  The lanes give
 * the addresses of its 32 rows of 16 bytes: where the tile is swizzled, no bank is met twice.
 * Any other fragment, type or tile goes the ordinary way. */
#include "target/cuda/cuda.h"

enum { SRC, DST, SRC_LANES = 1, WARP = 32, BLOCK = 16, SLOTS = 8, BLOCKS_MOST = 256 };

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who;
    const Stmt *t;
    const Region *src, *dst;
    const Layout *l;
    LaneMap lanes;            /* of a block */
    int64_t at[2], extent[2]; /* of the source */
    int n;
    int64_t slot[BLOCKS_MOST]; /* of the blocks of each warp */
} Store;

static bool types_fit(const Store *g)
{
    DType from = g->src->buf->type, to = g->dst->buf->type;
    return dtype_bits(to) == 16 && (from == to || (from == DT_F32 && dtype_is_float(to)));
}

static bool regions_fit(Store *g)
{
    const Region *dst = g->dst;
    int lead = dst->buf->rank - 2;

    if (g->src->buf->scope != MEM_FRAGMENT || dst->buf->scope != MEM_SHARED ||
        g->src->buf->rank != 2 || lead < 0)
        return false;
    for (int d = 0; d < 2; d++) {
        g->extent[d] = region_extent_int(g->src, d);
        if (!expr_is_int(g->src->at[d], &g->at[d]) || g->at[d] % BLOCK || g->extent[d] <= 0 ||
            g->extent[d] % BLOCK || region_extent_int(dst, lead + d) != g->extent[d])
            return false;
    }
    for (int d = 0; d < lead; d++)
        if (region_extent_int(dst, d) != 1)
            return false;
    return true;
}

/* Rows of 16 bytes lie together. */
static bool rows_fit(const Store *g)
{
    const Buffer *b = g->dst->buf;
    int last = b->rank - 1, unit = SLOTS;
    const Layout *l = buffer_plan(g->k, b)->layout;
    int64_t shape[RANK_MOST];
    Modular m = modular_of(body_facts(g->k), g->dst->at[last]);

    if (!buffer_static_shape(b, shape) || m.coef % unit || m.base % unit)
        return false;
    return l ? layout_vector_width(l, last, 16, 16) == unit : shape[last] % unit == 0;
}

/* Does the block at (i, j) lie as an MMA leaves it?  Its warp and first slot. */
static bool block_fits(const Store *g, int64_t i, int64_t j, int64_t *warp, int64_t *slot)
{
    int64_t first[2] = {i, j};

    *warp = fragment_eval_thread(g->l, first, 0) / WARP;
    *slot = layout_eval(g->l, first);
    for (int64_t r = 0; r < BLOCK; r++)
        for (int64_t c = 0; c < BLOCK; c++) {
            int64_t at[2] = {i + r, j + c};
            int own, lane = lane_holder(&g->lanes, (int)r, (int)c, &own);
            if (fragment_eval_thread(g->l, at, 0) != *warp * WARP + lane ||
                layout_eval(g->l, at) != *slot + own)
                return false;
        }
    return true;
}

/* Every warp has blocks at the same slots. */
static bool blocks_fit(Store *g)
{
    int64_t nwarp = g->l->nthread / WARP, total = g->extent[0] / BLOCK * (g->extent[1] / BLOCK);
    int64_t count[BLOCKS_MOST] = {0};

    for (int64_t i = 0; i < g->extent[0]; i += BLOCK)
        for (int64_t j = 0; j < g->extent[1]; j += BLOCK) {
            int64_t warp, slot;
            int at = 0;
            if (!block_fits(g, g->at[0] + i, g->at[1] + j, &warp, &slot))
                return false;
            while (at < g->n && g->slot[at] != slot)
                at++;
            if (at == BLOCKS_MOST)
                return false;
            g->slot[at] = slot;
            g->n = MAX(g->n, at + 1);
            count[at]++;
        }
    for (int i = 0; i < g->n; i++)
        if (count[i] != nwarp)
            return false;
    return total == nwarp * g->n;
}

/* The upper left element of the block of this warp at a slot. */
static void block_at(Store *g, const Expr *const *inverse, int64_t slot, const Expr **at)
{
    Ir *ir = g->ir;
    const Expr *warp = expr_int(ir, WARP);
    const Expr *first = expr_mul(ir, expr_floordiv(ir, thread_index(g->k, g->who), warp), warp);
    Map m;

    map_init(&m, ir->arena);
    map_set(&m, layout_axis(ir, 0), first);
    map_set(&m, layout_axis(ir, 1), (void *)expr_int(ir, slot));
    for (int d = 0; d < 2; d++)
        at[d] = expr_subst_map(ir, inverse[d], &m, NULL);
}

/* Eight elements of this lane to registers of the tile's type. */
static void convert(Store *g, Builder *out, Buffer *reg, const Expr *const *at)
{
    Ir *ir = g->ir;
    const Expr *lane = expr_floormod(ir, thread_index(g->k, g->who), expr_int(ir, WARP));

    for (int s = 0; s < SLOTS; s++) {
        const Expr *to = expr_int(ir, s), *own[2];
        lane_place_expr(ir, &g->lanes, lane, s, own);
        const Expr *from[2] = {expr_add(ir, at[0], own[0]), expr_add(ir, at[1], own[1])};
        const Expr *v = expr_load(ir, g->src->buf, from, 2);
        build_add(out, stmt_store(ir, g->t->span, reg, &to, 1, expr_cast(ir, reg->type, v)));
    }
}

static const Stmt *store_block(Store *g, Buffer *reg, const Expr *const *at)
{
    Ir *ir = g->ir;
    int rank = g->dst->buf->rank;
    Region *r = NEWN(ir->arena, Region, 2);

    r[0] = (Region){g->dst->buf, NEWN(ir->arena, const Expr *, rank),
                    NEWN(ir->arena, const Expr *, rank)};
    for (int d = 0; d < rank; d++) {
        int i = d - (rank - 2);
        r[0].at[d] = i < 0 ? g->dst->at[d]
                           : expr_add(ir, g->dst->at[d],
                                      expr_sub(ir, at[i], expr_int(ir, g->at[i])));
        r[0].extent[d] = expr_int(ir, i < 0 ? 1 : BLOCK);
    }
    r[1] = region_whole(ir, reg);
    return stmt_instr(ir, g->t->span, isa_find("stmatrix"), 2, r, 0, NULL, g->t->u.tile.id);
}

static bool fits(Store *g, Kernel *k, ThreadGroup who, const Stmt *t)
{
    *g = (Store){.k = k, .ir = k->ir, .who = who, .t = t, .src = &t->u.tile.region[SRC],
                 .dst = &t->u.tile.region[DST]};
    if (!types_fit(g) || !regions_fit(g))
        return false;
    g->l = buffer_plan(k, g->src->buf)->layout;
    g->lanes = isa_lanes(isa_find("stmatrix"), SRC_LANES, BLOCK, BLOCK, g->dst->buf->type);
    return g->l && layout_is_fragment(g->l) && g->l->rep == 1 && g->l->nthread % WARP == 0 &&
           g->l->nthread == group_threads(k, who) && rows_fit(g) && blocks_fit(g);
}

bool stmatrix_can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Expr *inverse[RANK_MOST + 1], *guard;
    Store g;

    *why = "accumulators, 16 x 16 of them at a time";
    return fits(&g, k, who, t) && fragment_inverse(k->ir, g.l, inverse, &guard);
}

void stmatrix_plan(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    tile_plan(k, t)->isa = isa_find("stmatrix");
}

const Stmt *stmatrix_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    const Expr *inverse[RANK_MOST + 1], *guard, *eight = expr_int(k->ir, SLOTS);
    Builder out;
    Store g;

    BUG(!fits(&g, k, who, t) || !fragment_inverse(k->ir, g.l, inverse, &guard),
        "accumulators at line %d do not lie as planned", (int)t->span.line);
    Buffer *reg = buffer_new(k->ir, "st_reg", g.dst->buf->type, MEM_LOCAL, 1, &eight, t->span);
    vec_push(k->arena, &k->buffers, reg);
    build_open(&out, k->ir, NULL);
    for (int i = 0; i < g.n; i++) {
        const Expr *at[2];
        block_at(&g, inverse, g.slot[i], at);
        convert(&g, &out, reg, at);
        build_add(&out, store_block(&g, reg, at));
    }
    return build_close(&out, t->span);
}
