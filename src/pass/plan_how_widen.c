/* plan_how_widen.c -- a second warpgroup where one has too few registers.  Part of plan_how.
 *
 * Kernels are often written for one warpgroup with tiles that two could share.  With MMAs of a
 * warpgroup their results may then need more registers than a thread has, and spilled results keep
 * the matrix units waiting.  Nothing in a kernel of tile operators depends on the number of
 * threads, so twice as many do the work of such a kernel, each on half of the rows. */
#include "pass/body_uses.h"
#include "pass/plan_how.h"

enum { BESIDE = 24, LARGE = 64 };

typedef struct {
    Kernel *k;
    Map tiles;    /* fragments that MMAs use, each once */
    int64_t need; /* registers of a thread */
    int mmas;
    bool fixed;   /* something counts on the threads as they are */
} Widen;

/* Of a thread of one group. */
static int64_t registers_of(const Widen *w, const Buffer *b)
{
    return buffer_static_size(b) * dtype_bits(b->type) / 32 / machine_group(w->k->machine);
}

/* Rows that two groups share. */
static bool splits(const Widen *w, const Buffer *b)
{
    int64_t rows;
    return b->rank == 2 && expr_is_int(b->shape[0], &rows) &&
           rows % (2 * w->k->machine->group_rows) == 0;
}

static void add_tile(Widen *w, const Region *r, bool result)
{
    if (r->buf->scope != MEM_FRAGMENT) {
        w->fixed |= result;
        return;
    }
    w->fixed |= !splits(w, r->buf) || buffer_static_size(r->buf) <= 0;
    if (w->fixed || map_has(&w->tiles, r->buf))
        return;
    map_set(&w->tiles, r->buf, r);
    w->need += registers_of(w, r->buf);
}

static bool look(const Stmt *s, void *arg)
{
    Widen *w = arg;

    if (s->kind == ST_ROLE || s->kind == ST_INSTR || s->kind == ST_CALL ||
        (s->kind == ST_FOR && hint_find(s->u.loop.hints, "loop_layout")))
        w->fixed = true;
    if (s->kind != ST_TILE)
        return true;
    w->fixed |= hint_find(s->u.tile.hints, "loop_layout") != NULL;
    if (!tile_does(s, TILE_MMA))
        return true;
    w->mmas++;
    w->fixed |= !tile_plan(w->k, s)->how->by_group;
    add_tile(w, &s->u.tile.region[2], true);
    add_tile(w, &s->u.tile.region[0], false);
    return true;
}

/* Sums beside the results of MMAs, as of scaled MMAs of 8 bits: large tiles that the loops
 * of MMAs use. */
static bool look_beside(const Stmt *s, void *arg)
{
    Widen *w = arg;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PIPELINED)
        return true;
    for (int i = 0; i < w->k->buffers.n; i++) {
        const Buffer *b = w->k->buffers.at[i];
        int64_t size = registers_of(w, b);
        if (b->scope != MEM_FRAGMENT || !splits(w, b) || size < LARGE || map_has(&w->tiles, b) ||
            !stmt_uses(s, b))
            continue;
        map_set(&w->tiles, b, (void *)b);
        w->need += size;
    }
    return true;
}

static bool counts_threads(Kernel *k)
{
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER || b->scope == MEM_LOCAL ||
            buffer_plan(k, b)->pinned)
            return true;
    }
    return false;
}

bool needs_two_groups(Kernel *k)
{
    Widen w = {.k = k};
    int group = machine_group(k->machine);

    if (!kernel_has(k, HAS_GROUP_MMA) || k->uses_threads || kernel_block_threads(k) != group ||
        k->threads[0] != group || counts_threads(k))
        return false;
    map_init(&w.tiles, k->scratch);
    stmt_visit(k->body, look, &w);
    if (w.mmas)
        stmt_visit(k->body, look_beside, &w);
    return w.mmas && !w.fixed && w.need + BESIDE > k->machine->regs_thread;
}
