/* lower_epochs.c -- reducers used as tiles.
 *
 * A reducer closed without a tile is read by its own name: that name becomes a fragment's, which
 * the end of the epoch fills. */
#include "pass/pass.h"

enum { REDUCER, DST };

typedef struct {
    Map tile, reducer; /* of each other */
} InPlace;

static bool see_in_place(const Stmt *s, void *arg)
{
    InPlace *p = arg;
    if (tile_epoch(s) == EPOCH_CLOSES && s->u.tile.nregion < 2)
        map_set(&p->tile, s->u.tile.region[REDUCER].buf, NULL);
    return true;
}

/* Filling a reducer opens an epoch; its identity is no seed. */
static const Stmt *fill_opens(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;

    if (!tile_does(s, TILE_FILLS) || s->u.tile.region->buf->scope != MEM_REDUCER)
        return s;
    const Region *r = s->u.tile.region;
    const Expr *none = reduction_identity(ir, reduction_find(r->buf->reducer), r->buf->type);
    const Expr *v = expr_cast(ir, r->buf->type, s->u.tile.arg[0]);
    return stmt_tile(ir, s->span, &op_reducer_init, 1, r, v != none, &v, NULL,
                     s->u.tile.hints);
}

/* Operators of the epoch keep the reducer; what closes it fills the tile. */
static const Stmt *keep_epoch(Ir *ir, const Stmt *s, void *arg)
{
    InPlace *p = arg;
    Region r[2];

    if (tile_epoch(s) == EPOCH_NONE)
        return s;
    int n = s->u.tile.nregion;
    Buffer *tile = s->u.tile.region[REDUCER].buf, *b = map_get(&p->reducer, tile);
    if (!b)
        return s;
    r[REDUCER] = s->u.tile.region[REDUCER];
    r[REDUCER].buf = b;
    if (n > 1)
        r[DST] = s->u.tile.region[DST];
    if (tile_epoch(s) == EPOCH_CLOSES && n < 2)
        r[DST] = region_whole(ir, tile), n = 2;
    return stmt_tile(ir, s->span, s->u.tile.op, n, r, s->u.tile.narg, s->u.tile.arg,
                     s->u.tile.text, s->u.tile.hints);
}

void pass_lower_epochs(Kernel *k)
{
    InPlace p;
    Map none;

    map_init(&p.tile, k->ir->arena);
    map_init(&p.reducer, k->ir->arena);
    map_init(&none, k->ir->arena);
    k->body = stmt_map(k->ir, k->body, fill_opens, NULL);
    stmt_visit(k->body, see_in_place, &p);
    int n = k->buffers.n;
    for (int i = 0; i < n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_REDUCER || !map_has(&p.tile, b))
            continue;
        Buffer *tile = kernel_buffer(k, b->name, b->type, MEM_FRAGMENT, b->rank,
                                     (const Expr *const *)b->shape, b->span);
        map_set(&p.tile, b, tile);
        map_set(&p.reducer, tile, b);
    }
    if (k->buffers.n == n)
        return;
    k->body = stmt_subst_map(k->ir, k->body, &none, &p.tile);
    k->body = stmt_map(k->ir, k->body, keep_epoch, &p);
}
