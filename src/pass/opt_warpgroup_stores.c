/* opt_warpgroup_stores.c -- per-warpgroup epilogue stores: each stores its rows of a result by
 * itself.
 *
 * A result leaves through shared tiles (opt_stage_stores): all threads fill one, synchronise, and
 * one of them issues the store.  Where each warpgroup holds rows of its own, they need not wait for
 * each other: every warpgroup waits for its own stores only, has a barrier of its own, and one
 * thread of it stores its rows.  One warpgroup then stores while the other still multiplies, and
 * they keep that distance from tile to tile: the matrix units have work all the time.
 *
 * (The pass config tl.warpgroup_stores says 0: all threads synchronise.)
 *
 * Plans filled:  buffers     groups: the rows of the tile belong to so many warpgroups */
#include "pass/pass.h"
#include "pass/body_uses.h"
#include "pass/plan_warps.h"
#include "pass/thread_group.h"
#include "pass/thread_nest.h"
#include "ir/config.h"

enum { COLUMNS = 8, FIRST_ID = 5, GROUPS_MOST = 4 };

typedef struct {
    Kernel *k;
    int groups, rows; /* of the block; of one of them */
    Map uses;    /* Buffer -> how many of its uses fill or store rows as described */
    bool others; /* some bulk store is not of that kind */
} Groups;

const Stmt *sync_warpgroup(Kernel *k, Span at)
{
    Ir *ir = k->ir;
    const Expr *size = expr_int(ir, machine_group(k->machine));
    const Expr *group = expr_floordiv(ir, thread_in_block(k), size);
    const Expr *arg[2] = {expr_add(ir, group, expr_int(ir, FIRST_ID)), size};
    const Stmt *s = stmt_call(ir, at, INTRIN_SYNC_THREADS, 2, arg, 0, NULL, NULL, NULL);
    return stmt_call_mark(ir, s, MARK_GROUPS);
}

/* Does every warpgroup hold as many rows of the region, in order?  Pieces of 8 columns belong to
 * one warp in every layout of an MMA's result. */
static bool rows_by_groups(const Groups *g, const Region *r)
{
    const Layout *l = buffer_plan(g->k, r->buf)->layout;
    int64_t rows = region_extent_int(r, 0), cols = region_extent_int(r, 1), from;

    if (!l || !layout_is_fragment(l) || l->rep != 1 || rows != g->rows * g->groups || cols <= 0 ||
        !expr_is_zero(r->at[0]) || !expr_is_int(r->at[1], &from))
        return false;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j += COLUMNS) {
            int64_t at[2] = {i, from + j};
            if (fragment_eval_thread(l, at, 0) / machine_group(g->k->machine) != i / g->rows)
                return false;
        }
    return true;
}

static bool is_tile(const Groups *g, const Region *r)
{
    return r->buf->scope == MEM_SHARED && r->buf->rank == 2 && region_is_whole(r) &&
           region_extent_int(r, 0) == g->rows * g->groups;
}

static void add_use(Groups *g, const Buffer *b)
{
    int *n = map_get(&g->uses, b);

    if (!n) {
        n = NEW(g->k->scratch, int);
        map_set(&g->uses, b, n);
    }
    ++*n;
}

static bool see(const Stmt *s, void *arg)
{
    Groups *g = arg;

    if (!tile_does(s, TILE_COPIES))
        return true;
    const Region *r = s->u.tile.region;
    const TilePlan *p = tile_plan(g->k, s);
    bool stores = p->how->bulk && r[1].buf->scope == MEM_GLOBAL;
    bool fills = r[0].buf->scope == MEM_FRAGMENT && r[0].buf->rank == 2 && is_tile(g, &r[1]);
    if (stores && p->left_open && is_tile(g, &r[0]))
        add_use(g, r[0].buf);
    else if (stores)
        g->others = true;
    else if (fills && rows_by_groups(g, &r[0]))
        add_use(g, r[1].buf);
    return true;
}

/* Who waited for its stores tells its warpgroup, not all. */
static const Stmt *sync_warpgroups(Ir *ir, const Stmt *s, void *arg)
{
    Groups *g = arg;
    const Stmt **list;

    if (s->kind != ST_BLOCK)
        return s;
    list = NEWN(ir->arena, const Stmt *, s->u.block.n + 1);
    for (int i = 0; i < s->u.block.n; i++) {
        const Stmt *t = s->u.block.list[i];
        bool syncs = t->kind == ST_CALL && t->u.call.which == INTRIN_SYNC_THREADS &&
                     t->u.call.n == 0;
        syncs = syncs && i && stmt_waits(list[i - 1], QUEUE_STORES);
        list[i] = syncs ? sync_warpgroup(g->k, t->span) : t;
    }
    return stmt_block(ir, s->span, s->u.block.n, list);
}

void pass_opt_warpgroup_stores(Kernel *k)
{
    Groups g = {.k = k, .groups = kernel_block_threads(k) / machine_group(k->machine),
                .rows = k->machine->group_rows};
    int found = 0;

    if (!kernel_has_producer(k) || g.groups < 2 || g.groups > GROUPS_MOST ||
        !config_on(k->func, CONFIG_warpgroup_stores))
        return;
    map_init(&g.uses, k->scratch);
    stmt_visit(k->body, see, &g);
    for (int i = 0; i < k->buffers.n; i++) {
        const int *n = map_get(&g.uses, k->buffers.at[i]);
        found += n != NULL;
        g.others |= n && *n != stmt_uses(k->body, k->buffers.at[i]);
    }
    if (!found || g.others)
        return;
    for (int i = 0; i < k->buffers.n; i++)
        if (map_has(&g.uses, k->buffers.at[i]))
            buffer_plan(k, k->buffers.at[i])->groups = g.groups;
    k->body = stmt_map(k->ir, k->body, sync_warpgroups, &g);
}
