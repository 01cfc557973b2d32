/* tma.c -- copies by the tensor memory accelerator: which can be, and their instructions.
 *
 * A tile in shared memory is filled box by box.  A swizzled tile is stored in panels of one span,
 * so each panel is a box; any other tile is row-major and a box itself.  Boxes have at most 256
 * elements along a dimension. */
#include "target/cuda/cuda.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"

enum {
    SRC, DST, GROUP = 128, BOX_MOST = 256, UNIT = 16, LINE = 128, RANK_TMA = 5, PERIOD = 8,
    BOXES_MOST = 64, GAPS_UNIT = 32, GAPS_ROW = 128
};

/* ---- what can be ----------------------------------------------------------------------------- */

/* Bytes between neighbours along each dimension but the last are whole units. */
bool tma_strides_fit(const Facts *f, const Buffer *b)
{
    int64_t bits = dtype_bits(b->type), unit = 8 * (bits < 8 ? GAPS_UNIT : UNIT), known;
    const Expr *e;
    Modular m = {0, 1};

    if (b->stride && !(expr_is_int(b->stride[b->rank - 1], &known) && known == 1))
        return false;
    for (int d = b->rank - 2; d >= 0; d--) {
        e = b->stride ? b->stride[d] : b->shape[d + 1];
        Modular n = modular_of(f, e);
        if (b->stride) {
            m = n;
        } else {
            /* a row-major stride is the product of the extents after it */
            int64_t step = gcd_of(m.coef, m.base), other = gcd_of(n.coef, n.base);
            m = (Modular){0, step * other};
        }
        if (m.coef * bits % unit || m.base * bits % unit)
            return false;
    }
    return true;
}

/* A tensor of the function, or the same elements in another shape. */
bool tma_has_address(const Buffer *b)
{
    const Buffer *root = buffer_root(b);

    if (b->pointer || !buffer_is_aligned(b) || !(root->is_param || root->is_workspace))
        return false;
    return b == root || (!root->stride && dtype_bits(b->type) == dtype_bits(root->type));
}

static bool spreads(const Stmt *t)
{
    const Region *r = t->u.tile.region;
    return tile_does(t, TILE_COPIES) && r[SRC].buf->type == DT_E2M1 && r[DST].buf->type == DT_E2M1B;
}

typedef struct {
    Kernel *k;
    const Buffer *tile;
    int uses; /* by such loads, and by MMAs that read them so */
} Spread;

static bool see_spread(const Stmt *s, void *arg)
{
    Spread *p = arg;

    if (s->kind == ST_TILE &&
        (spreads(s) || (tile_does(s, TILE_MMA) && tensor_multiplies(p->k, s))))
        p->uses += stmt_uses(s, p->tile);
    return true;
}

/* Does a load leave eight bytes free after each 16 elements of 4 bits?  As MMAs read them, and
 * nobody else. */
static bool leaves_gaps(Kernel *k, const Stmt *t)
{
    Spread p = {.k = k, .tile = buffer_root(t->u.tile.region[DST].buf)};

    if (!spreads(t) || !isa_fits(isa_find("tcgen05.mma"), k->machine))
        return false;
    if (tma_is_asked(t))
        return true;
    stmt_visit(k->body, see_spread, &p);
    return p.uses == stmt_uses(k->body, p.tile);
}

/* Rows of 128 elements in 128 bytes, of a tensor with rows of whole 128s. */
static bool gaps_fit(const Facts *f, const Region *global, const Region *shared, int span,
                     const char **why)
{
    int last = global->buf->rank - 1;
    Modular all = modular_of(f, global->buf->shape[last]), at = modular_of(f, global->at[last]);

    *why = "4-bit elements in bytes come in whole rows of 128";
    return span == LINE && region_extent_int(shared, shared->buf->rank - 1) % GAPS_ROW == 0 &&
           all.coef % GAPS_ROW == 0 && all.base % GAPS_ROW == 0 && at.coef % GAPS_ROW == 0 &&
           at.base % GAPS_ROW == 0;
}

static bool global_side(const Facts *f, const Region *r, bool gaps, const char **why)
{
    const Buffer *b = r->buf;

    *why = "the tensor is behind a pointer, may start anywhere, or has more than 5 dimensions";
    if (!tma_has_address(b) || b->rank > RANK_TMA)
        return false;
    *why = "a dimension that may have 2^31 elements";
    for (int d = 0; d < b->rank; d++)
        if (b->shape[d]->type != DT_I32) /* coordinates of a box are int32 */
            return false;
    *why = "elements of fewer than 8 bits";
    if ((dtype_bits(b->type) < 8 && !gaps) || b->type == DT_HANDLE)
        return false;
    *why = "a stride of the tensor is not known to be a multiple of 16 bytes";
    if (!tma_strides_fit(f, b))
        return false;
    /* The hardware takes any other start of a row for an illegal instruction. */
    *why = "a row of the box is not known to start at a multiple of 16 bytes";
    int64_t bits = dtype_bits(b->type), unit = 8 * UNIT;
    Modular at = modular_of(f, r->at[b->rank - 1]);
    return at.coef * bits % unit == 0 && at.base * bits % unit == 0;
}

/* Bytes of the panels that a tile is to be stored in, 0: rows. */
static int panel_span(Kernel *k, const Buffer *b)
{
    const BufferPlan *p = buffer_plan(k, b);
    int64_t shape[RANK_MOST];

    if (!buffer_static_shape(b, shape) || b->rank < 2)
        return 0;
    if (p->pinned && p->layout)
        return layout_swizzle_span(k->ir, p->layout, dtype_bits(b->type));
    return shape[b->rank - 1] * dtype_bits(b->type) / 8 % LINE || shape[b->rank - 2] % PERIOD
               ? 0 : LINE;
}

static bool is_whole(const Region *r, int d)
{
    return expr_is_zero(r->at[d]) && r->extent[d] == r->buf->shape[d];
}

/* Of the last two dimensions: is it a part of the tile, in whole panels and periods of rows? */
static bool is_slice(Kernel *k, const Region *shared)
{
    int rank = shared->buf->rank, span = panel_span(k, shared->buf);
    const Facts *f = body_facts(k);

    for (int d = MAX(rank - 2, 0); d < rank; d++) {
        int64_t unit = d == rank - 1 ? (int64_t)span * 8 / dtype_bits(shared->buf->type) : PERIOD;
        Modular at = modular_of(f, shared->at[d]);
        if (!is_whole(shared, d) && (!span || at.coef % unit || at.base % unit ||
                                     region_extent_int(shared, d) % unit))
            return false;
    }
    return rank >= 2 && !(is_whole(shared, rank - 1) && is_whole(shared, rank - 2));
}

bool tma_boxes_fit(const Region *shared, bool slice, const char **why)
{
    const Buffer *b = shared->buf;
    int64_t cols = region_extent_int(shared, b->rank - 1);

    int64_t nbytes = dtype_bits(b->type) / 8, boxes = 1;
    bool first = true; /* of the tiles that b is a row of */

    *why = "it fills a part of the tile that is not whole panels of 128 bytes";
    for (int d = 0; d < b->rank; d++) {
        int64_t n = region_extent_int(shared, d);
        bool leads = d < b->rank - 2;
        if (n <= 0 || (!leads && !slice && !is_whole(shared, d)))
            return false;
        first &= !leads || (n == 1 && expr_is_zero(shared->at[d]));
        boxes *= leads ? n : (n + BOX_MOST - 1) / BOX_MOST;
        nbytes *= leads ? 1 : n;
    }
    *why = "it is too many boxes";
    if (boxes > BOXES_MOST)
        return false;
    *why = "a box would not start at a multiple of 128 bytes in shared memory";
    if (!first && nbytes % LINE)
        return false;
    *why = "its rows are longer than a box and not whole lines of 128 bytes";
    if (cols > BOX_MOST && cols * dtype_bits(b->type) / 8 % LINE)
        return false;
    /* The hardware swizzles by the address in shared memory: each panel, and each stage of a
     * pipeline, has to start where the pattern does, every 8 rows.  One row alone is never
     * swizzled. */
    *why = "its rows are not a multiple of 8";
    int64_t rows = b->rank > 1 ? region_extent_int(shared, b->rank - 2) : 1;
    if (rows > 1 && rows % PERIOD)
        return false;
    *why = "the tile is not whole rows of 16 bytes";
    return cols * dtype_bits(b->type) / 8 % UNIT == 0;
}

/* An H200 takes a load that starts before its tensor, but a store that does is an illegal
 * instruction to it.  The condition that it does not, NULL where that is known. */
static const Expr *starts_inside(Kernel *k, const Region *r)
{
    const Facts *f = body_facts(k);
    const Expr *all = NULL;

    for (int d = 0; d < r->buf->rank; d++) {
        const Expr *zero = expr_zero(k->ir, r->at[d]->type);
        const Expr *in = expr_binary(k->ir, EX_GE, r->at[d], zero);
        if (!prove_true(k->ir, f, in))
            all = all ? expr_and(k->ir, all, in) : in;
    }
    return all;
}

bool tma_or_loops(Kernel *k, const Stmt *t)
{
    return tile_brings(t, MEM_SHARED, MEM_GLOBAL) && starts_inside(k, &t->u.tile.region[DST]);
}

/* Who else touches a tensor?  What bulk copies and threads do to one place is not ordered by the
 * barriers of a block: the other proxy has to be waited for and fenced.  Of stores that is done
 * (tma_issue, lower_fences) as long as others only write. */
bool tma_is_alone(Kernel *k, const Stmt *t, const Buffer *tensor, bool loads, const char **why)
{
    const BufferUses *u = buffer_uses(k, tensor);

    *why = loads ? "the kernel writes the tensor as well" : "the kernel reads the tensor as well";
    return loads ? !others_touch(u->writer, t) : !others_touch(u->reader, t) && !u->addresses;
}

bool tma_is_only_store(Kernel *k, const Stmt *t)
{
    return !others_touch(buffer_uses(k, t->u.tile.region[DST].buf)->writer, t);
}

/* eviction_policy=: 1 first to go, 2 last; NULL: as ever. */
const Expr *tma_policy(Ir *ir, const Stmt *t)
{
    const Hint *h = hint_find(t->u.tile.hints, "eviction_policy");

    if (!h || !h->text)
        return NULL;
    return !strcmp(h->text, "evict_first")  ? expr_int(ir, 1)
           : !strcmp(h->text, "evict_last") ? expr_int(ir, 2)
                                            : NULL;
}

bool tma_is_asked(const Stmt *t)
{
    const Hint *h = hint_find(t->u.tile.hints, "prefer_instruction");
    return h && h->text && !strcmp(h->text, "tma") && hint_int(t->u.tile.hints, "async", 0);
}

static bool plan_load(Kernel *k, const Stmt *t, bool gaps, const char **why)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    RegionMatch m;

    *why = "TMA needs sm_90";
    if (k->machine->level < 90)
        return false;
    bool loads = dst->buf->scope == MEM_SHARED;
    const Region *global = loads ? src : dst, *shared = loads ? dst : src;
    *why = "not between global and shared memory";
    if (global->buf->scope != MEM_GLOBAL || shared->buf->scope != MEM_SHARED ||
        shared->buf->view_of)
        return false;
    *why = "the element type changes on the way";
    gaps &= loads;
    if (src->buf->type != dst->buf->type && !gaps)
        return false;
    *why = "what is outside of the tensor is not zero";
    if (loads && buffer_plan(k, src->buf)->safe)
        return false;
    const Facts *f = body_facts(k);
    if (gaps && !gaps_fit(f, global, shared, panel_span(k, shared->buf), why))
        return false;
    if (!global_side(f, global, gaps, why) ||
        !tma_boxes_fit(shared, tma_is_asked(t) && is_slice(k, shared), why))
        return false;
    *why = "the slices have different shapes";
    if (!region_match(k, t->span, src, dst, &m) || m.n == 0 ||
        m.dim[SRC][m.n - 1] != src->buf->rank - 1 || m.dim[DST][m.n - 1] != dst->buf->rank - 1)
        return false;
    for (int i = 0; i < m.n; i++)
        if (m.extent[i] != shared->extent[m.dim[loads ? DST : SRC][i]])
            return false;
    *why = "the layout of the tile is annotated";
    const BufferPlan *p = buffer_plan(k, shared->buf);
    if (p->pinned && !layout_swizzle_span(k->ir, p->layout, dtype_bits(shared->buf->type)))
        return false;
    if (!tma_is_asked(t) && !tma_is_alone(k, t, global->buf, loads, why))
        return false;
    *why = "a box of the tensor";
    return true;
}

bool tma_plan(Kernel *k, const Stmt *t, const char **why)
{
    return plan_load(k, t, leaves_gaps(k, t), why);
}

static bool see_spreading(const Stmt *s, void *arg)
{
    Spread *p = arg;
    const char *why;

    if (s->kind == ST_TILE &&
        (tile_does(s, TILE_MMA) || (spreads(s) && plan_load(p->k, s, true, &why))))
        p->uses += stmt_uses(s, p->tile);
    return true;
}

bool tma_may_spread(Kernel *k, const Buffer *tile)
{
    Spread p = {.k = k, .tile = buffer_root(tile)};

    stmt_visit(k->body, see_spreading, &p);
    return p.uses == stmt_uses(k->body, p.tile);
}

typedef struct {
    Kernel *k;
    const Buffer *buf;
    bool by_threads;
} Filled;

static void see_filled(void *arg, const Region *r, Access a)
{
    Filled *f = arg;
    f->by_threads |= (a & (ACC_WRITE | ACC_REDUCE)) && buffer_root(r->buf) == f->buf;
}

static bool see_filling(const Stmt *s, void *arg)
{
    Filled *f = arg;

    if (s->kind == ST_STORE || s->kind == ST_ATOMIC)
        f->by_threads |=
            buffer_root(s->kind == ST_STORE ? s->u.store.buf : s->u.atomic.buf) == f->buf;
    if (s->kind == ST_TILE && !tile_plan(f->k, s)->how->bulk)
        tile_access(s, see_filled, f);
    return true;
}

/* A box that is part of a tile lands in panels. */
static void infer_slice(Infer *in, const Stmt *t)
{
    const Region *r = &t->u.tile.region[DST];
    int64_t shape[RANK_MOST];
    int n = r->buf->rank;

    if (in->level != INFER_STRICT || r->buf->scope != MEM_SHARED || n > 3 ||
        buffer_plan(in->k, r->buf)->pinned || !is_slice(in->k, r) ||
        !buffer_static_shape(r->buf, shape))
        return;
    const Layout *l =
        layout_swizzle(in->ir, shape[n - 2], shape[n - 1], dtype_bits(r->buf->type), LINE);
    infer_set(in, r->buf, n == 3 ? layout_expand(in->ir, l, shape[0]) : l, t);
}

/* A tile that is stored in boxes and was filled by threads, row by row: swizzled, they do not
 * conflict in the same banks. */
void tma_infer(Infer *in, const Stmt *t)
{
    const Buffer *b = t->u.tile.region[SRC].buf;
    Filled f = {in->k, b, false};
    int64_t shape[RANK_MOST];

    infer_slice(in, t);
    if (in->level != INFER_STRICT || b->scope != MEM_SHARED || b->rank != 2 ||
        !buffer_static_shape(b, shape) || shape[0] % PERIOD || buffer_plan(in->k, b)->pinned ||
        infer_get(in, b))
        return;
    stmt_visit(in->k->body, see_filling, &f);
    if (!f.by_threads)
        return;
    infer_set(in, b, layout_swizzle(in->ir, shape[0], shape[1], dtype_bits(b->type), 128), t);
}

/* ---- lowering -------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who;
    const Stmt *t;
    RegionMatch m;
    Region bar;
    int split, parts;  /* loop of the match that is shared out, between so many; -1: none */
    const Expr *first; /* of it, here */
    const Expr *mask;  /* the blocks that get the boxes; NULL: this one */
    const Stmt **list;
    int n;
} Boxes;

static Region box_of(Boxes *x, int side, const int64_t *from, const int64_t *extent)
{
    Ir *ir = x->ir;
    const Region *of = &x->t->u.tile.region[side];
    int rank = of->buf->rank;
    Region r = {of->buf, NEWN(ir->arena, const Expr *, rank), NEWN(ir->arena, const Expr *, rank)};

    for (int d = 0; d < rank; d++) {
        r.at[d] = of->at[d];
        r.extent[d] = expr_int(ir, 1);
    }
    for (int i = 0; i < x->m.n; i++) {
        int d = x->m.dim[side][i];
        r.at[d] = expr_add(ir, of->at[d], expr_int(ir, from[i]));
        if (i == x->split)
            r.at[d] = expr_add(ir, r.at[d], x->first);
        r.extent[d] = expr_int(ir, extent[i]);
    }
    return r;
}

static int64_t loop_length(const Boxes *x, int i)
{
    int64_t n = 0;
    BUG(!expr_is_int(x->m.extent[i], &n), "a box of unknown size");
    return i == x->split ? n / x->parts : n;
}

/* All boxes of the tile, loop by loop of the match. */
static void add_boxes(Boxes *x, int i, int64_t *from, int64_t *extent, const int64_t *step)
{
    if (i == x->m.n) {
        bool loads = x->bar.buf != NULL;
        Region *r = NEWN(x->ir->arena, Region, 3);
        r[0] = box_of(x, DST, from, extent);
        r[1] = box_of(x, SRC, from, extent);
        r[2] = x->bar;
        const Expr **arg = NEWN(x->ir->arena, const Expr *, 2);
        arg[0] = x->mask ? x->mask : expr_int(x->ir, 0);
        arg[1] = tma_policy(x->ir, x->t);
        bool first = loads && !x->mask && tma_at_first(x->k, x->t);
        x->list[x->n++] = stmt_instr(
            x->ir, x->t->span, isa_find(first ? "tma.load.pair" : loads ? "tma.load" : "tma.store"),
            loads ? 3 : 2, r, first ? 0 : arg[1] ? 2 : x->mask != NULL, arg, x->t->u.tile.id);
        return;
    }
    int64_t n = loop_length(x, i);
    for (int64_t at = 0; at < n; at += step[i]) {
        from[i] = at;
        extent[i] = MIN(step[i], n - at);
        add_boxes(x, i + 1, from, extent, step);
    }
}

Region tma_barrier(Ir *ir, const Stmt *t)
{
    Region r = {NULL, NEWN(ir->arena, const Expr *, 1), NEWN(ir->arena, const Expr *, 1)};
    int own = t->u.tile.op->narg;
    const Expr *address = t->u.tile.narg > own ? t->u.tile.arg[own] : NULL;

    BUG(!address || address->op != EX_ADDR, "a bulk load at line %d has no barrier",
        (int)t->span.line);
    r.buf = address->u.buf;
    r.at[0] = address->nkid ? address->kid[0] : expr_int(ir, 0);
    r.extent[0] = expr_int(ir, 1);
    return r;
}

/* A barrier of T.alloc_cluster_barrier counts the bytes of both blocks of a pair, in the first. */
bool tma_at_first(const Kernel *k, const Stmt *t)
{
    int own = t->u.tile.op->narg;

    return kernel_has(k, HAS_TENSOR_MEMORY) && cuda_cluster_size(k) == 2 && tma_is_asked(t) &&
           t->u.tile.narg > own && t->u.tile.arg[own]->u.buf->scope == MEM_CLUSTER_BARRIER &&
           !hint_find(t->u.tile.hints, "cluster_mask");
}

static const Stmt *announce_first(Kernel *k, const Stmt *t, const Stmt *call)
{
    Ir *ir = k->ir;
    Var *rank = var_new(ir, "rank", DT_I32, t->span);
    const Expr *first = expr_binary(ir, EX_EQ, expr_var(ir, rank), expr_int(ir, 0));

    return stmt_seq(ir, stmt_call(ir, t->span, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL, rank),
                    stmt_if(ir, t->span, first, call, NULL));
}

/* T.tma_copy tells the barrier how many bytes will come; arriving is the kernel's business. */
const Stmt *tma_announce(Kernel *k, const Stmt *t)
{
    Ir *ir = k->ir;
    const Region *dst = &t->u.tile.region[DST];
    DType type = t->u.tile.region[SRC].buf->type; /* the bytes that are read are counted */
    const Expr **arg = NEWN(ir->arena, const Expr *, 1);
    Region *r = NEW(ir->arena, Region);

    bool first = tma_at_first(k, t);
    arg[0] = expr_int(ir, dtype_bytes(type, region_nelem(dst)) * (first ? 2 : 1));
    *r = tma_barrier(ir, t);
    const Stmt *call =
        stmt_call(ir, t->span, tma_is_asked(t) ? INTRIN_EXPECT_BYTES : INTRIN_ARRIVE_BYTES, 1, arg,
                  1, r, NULL, NULL);
    return first ? announce_first(k, t, call) : call;
}

/* Does the copy write the same place in several iterations of a loop?  Names that follow a loop may
 * stand for its variable. */
static bool comes_again(Ir *ir, const Stmt *s, const Stmt *t, Map *moved)
{
    const Region *to = &t->u.tile.region[DST];
    bool again = false;

    if (!s)
        return false;
    switch (s->kind) {
    case ST_TILE:
        for (int i = 0; s->u.tile.id == t->u.tile.id && i < moved->n; i++) {
            bool used = !moved->at[i].key;
            for (int d = 0; d < to->buf->rank && !used; d++)
                used = expr_uses_var(to->at[d], moved->at[i].key);
            again |= !used;
        }
        return again;
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++) {
            const Stmt *l = s->u.block.list[i];
            for (int j = 0; l->kind == ST_LET && j < moved->n; j++)
                if (moved->at[j].key && expr_uses_var(l->u.let.value, moved->at[j].key))
                    return false; /* who knows */
            again |= comes_again(ir, l, t, moved);
        }
        return again;
    case ST_FOR: {
        Map more;
        map_init(&more, ir->arena);
        for (int i = 0; i < moved->n; i++)
            if (moved->at[i].key)
                map_set(&more, moved->at[i].key, moved->at[i].val);
        map_set(&more, s->u.loop.var, (void *)s);
        return comes_again(ir, s->u.loop.body, t, &more);
    }
    case ST_IF:
    case ST_WHILE:
        return comes_again(ir, s->u.branch.then, t, moved) ||
               comes_again(ir, s->u.branch.orelse, t, moved);
    case ST_ROLE: return comes_again(ir, s->u.role.body, t, moved);
    default: return false;
    }
}

static bool writes_again(Kernel *k, const Stmt *t)
{
    Map moved;
    map_init(&moved, k->ir->arena);
    return comes_again(k->ir, k->body, t, &moved);
}

/* One thread issues the copies.  Of stores it closes the group; unless somebody else waits for
 * them, it does not go on before they are read. */
const Stmt *tma_issue(Kernel *k, const Stmt *t, const Expr *first, int n, const Stmt **list)
{
    Ir *ir = k->ir;
    bool loads = t->u.tile.region[DST].buf->scope == MEM_SHARED;

    if (loads && tile_plan(k, t)->pipe) /* its role is one thread */
        return stmt_block(ir, t->span, n, list);
    if (!loads)
        list[n++] = stmt_commit(ir, t->span, QUEUE_STORES);
    if (!loads && !tile_plan(k, t)->left_open) {
        const Expr **arg = NEWN(ir->arena, const Expr *, 2);
        /* Two stores in flight have no order, nor has one with what threads write. */
        bool again = writes_again(k, t) || !tma_is_only_store(k, t);
        arg[0] = expr_int(ir, 0);
        arg[1] = expr_bool(ir, false);
        list[n++] = stmt_call(ir, t->span, INTRIN_WAIT_STORES, again ? 2 : 1, arg, 0, NULL, NULL,
                              NULL);
    }
    return stmt_if(ir, t->span, first, stmt_block(ir, t->span, n, list), NULL);
}

/* A rank-n box in rows of one panel, at most 256 long each way.  A box lands without gaps: of rows
 * that are longer than a box can be, each piece is a box by itself. */
static int64_t box_step(const Buffer *shared, int dim, int span)
{
    int64_t cols = 0;
    bool last = dim == shared->rank - 1;

    if (dim < shared->rank - 2)
        return 1;
    if (last && span)
        return (int64_t)span * 8 / dtype_bits(shared->type);
    if (!last && !span && expr_is_int(shared->shape[shared->rank - 1], &cols) && cols > BOX_MOST)
        return 1;
    return BOX_MOST;
}

/* Each of some blocks of the cluster brings a part for all of them: whole panels where that comes
 * out even, rows otherwise.  The arguments after the barrier: which part, and who gets it. */
static void share_out(Boxes *x, const int64_t *step)
{
    int share = tile_plan(x->k, x->t)->share, rank = x->t->u.tile.region[DST].buf->rank;
    int split = -1;

    if (x->t->u.tile.narg < 3)
        return;
    for (int i = 0; i < x->m.n; i++) {
        int d = x->m.dim[DST][i];
        if (d == rank - 2 || (d == rank - 1 && loop_length(x, i) % (share * step[i]) == 0))
            split = i;
    }
    BUG(split < 0 || loop_length(x, split) % share, "a tile that %d blocks cannot share", share);
    x->first = expr_mul(x->ir, x->t->u.tile.arg[1], expr_int(x->ir, loop_length(x, split) / share));
    x->mask = x->t->u.tile.arg[2];
    x->parts = share;
    x->split = split;
}

/* Who issues a copy: one thread, or the first of every so many where each of them names its own
 * part (leader_scope_threads=). */
const Expr *tma_first(Kernel *k, ThreadGroup who, const Stmt *t)
{
    int64_t scope = hint_int(t->u.tile.hints, "leader_scope_threads", 0);
    const Expr *thread = thread_index(k, who);

    if (scope)
        thread = expr_floormod(k->ir, thread, expr_int(k->ir, scope));
    return expr_binary(k->ir, EX_EQ, thread, expr_int(k->ir, 0));
}

/* Each warpgroup stores its own rows: its first thread does. */
static const Expr *part_rows(Boxes *x, const Buffer *shared)
{
    Ir *ir = x->ir;
    int groups = buffer_plan(x->k, shared)->groups;
    const Expr *t = thread_index(x->k, x->who);

    if (groups < 2)
        return tma_first(x->k, x->who, x->t);
    for (int i = 0; i < x->m.n; i++)
        if (x->m.dim[SRC][i] == shared->rank - 2)
            x->split = i;
    BUG(x->split < 0, "rows of '%s' are not stored", shared->name);
    int64_t rows = loop_length(x, x->split) / groups;
    x->parts = groups;
    x->first = expr_mul(ir, expr_floordiv(ir, t, expr_int(ir, GROUP)), expr_int(ir, rows));
    return expr_binary(ir, EX_EQ, expr_floormod(ir, t, expr_int(ir, GROUP)), expr_int(ir, 0));
}

static const Stmt *boxes_of(Boxes *x, const Expr *mask, int64_t *from, int64_t *extent,
                            const int64_t *step)
{
    x->n = 0;
    x->mask = mask;
    add_boxes(x, 0, from, extent, step);
    const Stmt *s = stmt_block(x->ir, x->t->span, x->n, x->list);
    x->n = 0;
    return s;
}

/* cluster_mask=: every block expects the bytes at its own barrier.  The first block of the mask
 * loads for all of them; a block that is not of it loads for itself. */
static const Stmt *by_leader(Boxes *x, const Expr *mask, const Stmt *all, const Stmt *own)
{
    Ir *ir = x->ir;
    Span at = x->t->span;
    Var *rank = var_new(ir, "rank", DT_I32, at);
    mask = expr_cast(ir, DT_I32, mask);
    const Expr *r = expr_var(ir, rank), *lowest =
        expr_binary(ir, EX_BITAND, mask, expr_sub(ir, expr_int(ir, 0), mask));
    const Expr *leads = expr_binary(ir, EX_EQ, lowest, expr_binary(ir, EX_SHL, expr_int(ir, 1), r));
    const Expr *bit = expr_binary(ir, EX_BITAND, expr_binary(ir, EX_SHR, mask, r), expr_int(ir, 1));
    const Stmt *rest = stmt_if(ir, at, expr_binary(ir, EX_EQ, bit, expr_int(ir, 0)), own, NULL);
    const Stmt *list[3] = {
        tma_announce(x->k, x->t),
        stmt_call(ir, at, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL, rank),
        stmt_if(ir, at, leads, all, rest)};
    return stmt_block(ir, at, 3, list);
}

static const Stmt *own_loops(Kernel *k, const Stmt *t)
{
    TilePlan *p = tile_plan(k, t);
    const Mech *how = p->how;

    p->how = &mech_plain;
    const Stmt *s = t->u.tile.op->lower(k, t);
    p->how = how;
    return s;
}

const Stmt *tma_lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    Boxes x = {.k = k, .ir = ir, .who = who, .t = t, .split = -1, .parts = 1};
    int64_t from[RANK_MOST], extent[RANK_MOST], step[RANK_MOST], count = 1;
    bool loads = t->u.tile.region[DST].buf->scope == MEM_SHARED;
    int side = loads ? DST : SRC;
    const Buffer *shared = t->u.tile.region[side].buf;

    BUG(!region_match(k, t->span, &t->u.tile.region[SRC], &t->u.tile.region[DST], &x.m),
        "a planned box does not match");
    int span = buffer_panel_span(k, shared);
    BUG(span < 0, "'%s' has a layout that no box has", shared->name);
    if (loads)
        x.bar = tma_barrier(ir, t);
    for (int i = 0; i < x.m.n; i++) {
        step[i] = box_step(shared, x.m.dim[side][i], span);
        count *= (loop_length(&x, i) + step[i] - 1) / step[i];
    }
    if (loads)
        share_out(&x, step);
    const Expr *first = part_rows(&x, shared);
    x.list = NEWN(ir->arena, const Stmt *, count + 3);
    const Hint *mask = loads && tma_is_asked(t) ? hint_find(t->u.tile.hints, "cluster_mask") : NULL;
    if (mask) {
        const Stmt *own = boxes_of(&x, NULL, from, extent, step);
        x.list[x.n++] = by_leader(&x, mask->value, boxes_of(&x, mask->value, from, extent, step),
                                  own);
        return tma_issue(k, t, first, x.n, x.list);
    }
    if (loads && !tile_plan(k, t)->pipe)
        x.list[x.n++] = tma_announce(k, t);
    add_boxes(&x, 0, from, extent, step);
    const Stmt *s = tma_issue(k, t, first, x.n, x.list);
    const Expr *inside =
        tile_plan(k, t)->or_loops ? starts_inside(k, &t->u.tile.region[DST]) : NULL;
    return inside ? stmt_if(ir, t->span, inside, s, own_loops(k, t)) : s;
}
