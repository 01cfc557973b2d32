/* multibuffer.c -- multi-buffering: several stages of a shared buffer, one behind the other.
 *
 * A pipeline writes one stage of a tile while another is read.  The buffer is replaced by one
 * with a leading axis, and its uses say which stage they mean.  Barriers are in one row. */
#include "pass/async_copy.h"

static bool is_barrier(const Buffer *b)
{
    return b->arrive != NULL;
}

/* Barriers of all stages, one stage behind the other. */
static Buffer *barrier_staged(Ir *ir, const Buffer *b, int n)
{
    int64_t each = buffer_static_size(b);
    const Expr *shape = expr_int(ir, n * each), **arrive = NEWN(ir->arena, const Expr *, n * each);
    Buffer *v = buffer_new(ir, b->name, b->type, b->scope, 1, &shape, b->span);

    for (int64_t i = 0; i < n * each; i++)
        arrive[i] = b->arrive[i % each];
    v->arrive = arrive;
    return v;
}

static const Expr *barrier_at(Ir *ir, const Buffer *from, const Expr *stage, const Expr *at)
{
    return expr_add(ir, expr_mul(ir, stage, from->shape[0]), at);
}

Buffer *buffer_staged(Kernel *k, Buffer *b, int n)
{
    Ir *ir = k->ir;
    const Expr *shape[RANK_MOST + 1] = {expr_int(ir, n)};

    BUG(b->rank >= RANK_MOST || b->stride, "'%s' cannot have stages", b->name);
    for (int d = 0; d < b->rank; d++)
        shape[d + 1] = b->shape[d];
    Buffer *v = is_barrier(b)
                    ? barrier_staged(ir, b, n)
                    : buffer_new(ir, b->name, b->type, b->scope, b->rank + 1, shape, b->span);
    const Layout *l = buffer_plan(k, b)->layout;
    BufferPlan plan = *buffer_plan(k, b);
    plan.layout = l ? layout_expand(ir, l, n) : NULL;
    plan.stages = n;
    *buffer_plan(k, v) = plan;
    /* The list may be shared with the tile form, so it is written anew. */
    BufferVec list = {0};
    for (int i = 0; i < k->buffers.n; i++)
        vec_push(k->arena, &list, k->buffers.at[i] == b ? v : k->buffers.at[i]);
    k->buffers = list;
    return v;
}

typedef struct {
    Ir *ir;
    const Buffer *from;
    Buffer *to;
    const Expr *stage;
} Use;

static const Expr *use_load(Ir *ir, const Expr *e, void *arg)
{
    Use *u = arg;
    const Expr *at[RANK_MOST + 1];

    if ((e->op != EX_LOAD && e->op != EX_ADDR) || e->u.buf != u->from)
        return e;
    int n = expr_nindex(e);
    if (is_barrier(u->from)) {
        at[0] = barrier_at(ir, u->from, u->stage, e->kid[0]);
        return e->op == EX_ADDR ? expr_addr(ir, u->to, at, 1) : expr_load(ir, u->to, at, 1);
    }
    at[0] = u->stage;
    for (int i = 0; i < n; i++)
        at[i + 1] = e->kid[i];
    if (e->op == EX_ADDR)
        return expr_addr(ir, u->to, at, n + 1);
    return e->guarded ? expr_load_guarded(ir, u->to, at, n + 1, e->kid[n], e->kid[n + 1])
                      : expr_load(ir, u->to, at, n + 1);
}

static const Expr *use_expr(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, use_load, arg);
}

Region region_stage(Ir *ir, const Region *r, Buffer *to, const Expr *stage)
{
    Region v = {to, NEWN(ir->arena, const Expr *, to->rank),
                NEWN(ir->arena, const Expr *, to->rank)};

    if (is_barrier(to)) {
        v.at[0] = barrier_at(ir, r->buf, stage, r->at[0]);
        v.extent[0] = r->extent[0];
        return v;
    }
    v.at[0] = stage;
    v.extent[0] = expr_int(ir, 1);
    for (int d = 1; d < to->rank; d++) {
        v.at[d] = r->at[d - 1];
        v.extent[d] = r->extent[d - 1];
    }
    return v;
}

static const Region *use_regions(Use *u, int n, const Region *r)
{
    Region *new = NULL;

    for (int i = 0; i < n; i++) {
        if (r[i].buf != u->from)
            continue;
        if (!new)
            new = memcpy(NEWN(u->ir->arena, Region, n), r, sizeof *r * (size_t)n);
        new[i] = region_stage(u->ir, &r[i], u->to, u->stage);
    }
    return new ? new : r;
}

static const Stmt *use_stmt(Ir *ir, const Stmt *s, void *arg)
{
    Use *u = arg;
    Stmt *new;

    if (s->kind == ST_STORE && s->u.store.buf == u->from) {
        const Expr *at[RANK_MOST + 1] = {u->stage};
        for (int i = 0; i < s->u.store.n; i++)
            at[i + 1] = s->u.store.at[i];
        const Stmt *to = stmt_store_guarded(ir, s->span, u->to, at, s->u.store.n + 1,
                                            s->u.store.value, s->u.store.guard);
        return s->u.store.async ? stmt_store_async(ir, to, (Async)s->u.store.async) : to;
    }
    if (s->kind != ST_TILE && s->kind != ST_CALL && s->kind != ST_INSTR)
        return s;
    const Region *old = s->kind == ST_TILE ? s->u.tile.region
                        : s->kind == ST_CALL ? s->u.call.region : s->u.instr.region;
    int n = s->kind == ST_TILE ? s->u.tile.nregion
            : s->kind == ST_CALL ? s->u.call.nregion : s->u.instr.nregion;
    const Region *r = use_regions(u, n, old);
    if (r == old)
        return s;
    new = NEW(ir->arena, Stmt);
    *new = *s;
    if (s->kind == ST_TILE)
        new->u.tile.region = r;
    else if (s->kind == ST_CALL)
        new->u.call.region = r;
    else
        new->u.instr.region = r;
    return new;
}

const Stmt *stmt_use_stage(Kernel *k, const Stmt *s, const Buffer *from, Buffer *to,
                           const Expr *stage)
{
    Use u = {k->ir, from, to, stage};

    s = stmt_map_expr(k->ir, s, use_expr, &u);
    return stmt_map(k->ir, s, use_stmt, &u);
}
