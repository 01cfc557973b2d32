/* opt_indices.c -- nests that copy by what their iteration has worked out, or brought, before them.
 *
 *     for i: at[i] = max(I[k * 64 + i], 0)
 *     for i, j: s[i, j] = A[at[i], j]     ->     for i, j: s[i, j] = A[max(I[k * 64 + i], 0), j]
 *
 * Indices and conditions in a tile would hold the copy in its iteration.  Those that come from
 * tensors alone can be worked out wherever the copy is, and async_gather.c loads them ahead of it.
 * Only in loops with stages, and of nests that the threads can make ahead. */
#include "pass/pass.h"
#include "pass/async_copy.h"

enum { SRC, DST, NODES_MOST = 48 /* of an element */ };

typedef struct {
    Kernel *k;
    Ir *ir;
    Map written; /* roots, of the loop at hand -> how many statements write them */
    Map of;      /* Buffer -> NestFill; what something else wrote since has none */
    bool used;
} Given;

static bool is_elsewhere(const Expr *e, void *arg)
{
    const Given *g = arg;

    return (e->op == EX_LOAD && (e->u.buf->scope != MEM_GLOBAL || e->guarded ||
                                 map_has(&g->written, buffer_root(e->u.buf)))) ||
           e->op == EX_ADDR || e->op == EX_EXTERN || e->lanes > 1;
}

/* ---- what fragments hold --------------------------------------------------------------------- */

static const Expr *put_in(Ir *ir, const Expr *e, void *arg)
{
    Given *g = arg;
    const NestFill *f =
        e->op == EX_LOAD && !e->guarded && e->lanes == 1 ? map_get(&g->of, e->u.buf) : NULL;
    Map own;

    if (!f)
        return e;
    map_init(&own, ir->arena);
    for (int d = 0; d < f->dst->rank; d++) {
        const Var *v = f->nest.var[f->axis[d]];
        map_set(&own, v, expr_cast(ir, v->type, e->kid[d]));
    }
    g->used = true;
    return expr_cast(ir, f->dst->type, expr_subst_map(ir, f->value, &own, NULL));
}

static const Expr *put_all(Ir *ir, const Expr *e, void *given)
{
    return expr_map(ir, e, put_in, given);
}

static void forget(void *arg, const Stmt *s, const Touch *t)
{
    Given *g = arg;

    (void)s;
    if (touch_writes(t))
        map_set(&g->of, buffer_root(t->buf), NULL);
}

/* A copy that fills a tile, as the nest that it stands for. */
static bool copy_is_fill(Given *g, const Stmt *t, NestFill *f)
{
    const Region *src = &t->u.tile.region[SRC], *dst = &t->u.tile.region[DST];
    const Expr *at[RANK_MOST];
    RegionMatch m;
    Nest n;

    if (!tile_does(t, TILE_COPIES) || t->u.tile.nregion != 2 || src->buf->scope != MEM_GLOBAL ||
        !region_is_whole(dst) || !region_match(g->k, t->span, src, dst, &m) ||
        m.n != dst->buf->rank)
        return false;
    nest_open(g->k, &n, m.n, m.extent);
    region_point(g->ir, src, &m, SRC, n.at, at);
    for (int i = 0; i < m.n; i++) {
        f->nest.var[i] = n.var[i];
        f->axis[m.dim[DST][i]] = i;
    }
    f->dst = dst->buf;
    f->value = expr_load(g->ir, src->buf, at, src->buf->rank);
    return true;
}

static void note(Given *g, const Stmt *s)
{
    NestFill *f = NEW(g->ir->arena, NestFill);

    stmt_touches_all(s, forget, g);
    bool fills = stmt_is_nest(s)      ? nest_is_fill(g->ir, s, f)
                 : s->kind == ST_TILE && copy_is_fill(g, s, f);
    if (!fills || (f->dst->scope != MEM_FRAGMENT && f->dst->scope != MEM_SHARED) || f->dst->view_of)
        return;
    f->value = put_all(g->ir, f->value, g);
    if (f->value->size <= NODES_MOST && !expr_any(f->value, is_elsewhere, g))
        map_set(&g->of, f->dst, f);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void count_write(void *arg, const Stmt *s, const Touch *t)
{
    Map *written = arg;
    const Buffer *b = buffer_root(t->buf);

    (void)s;
    if (touch_writes(t))
        map_set(written, b, (void *)((intptr_t)map_get(written, b) + 1));
}

static bool is_ahead(Given *g, const Stmt *nest)
{
    NestCopy c;

    if (!nest_is_copy(g->ir, nest, &c) || (intptr_t)map_get(&g->written, buffer_root(c.dst)) != 1)
        return false;
    for (int d = 0; d < expr_nindex(c.load); d++)
        if (expr_any(c.load->kid[d], is_elsewhere, g))
            return false;
    return !(c.cond && expr_any(c.cond, is_elsewhere, g)) &&
           nest_async_bytes(g->k, kernel_ahead(g->k), &c) > 0;
}

static const Stmt *indices_in(Given *g, const Stmt *s)
{
    NestCopy c;

    if (!stmt_is_nest(s) || !nest_is_copy(g->ir, s, &c))
        return s;
    g->used = false;
    const Stmt *with = stmt_map_expr(g->ir, s, put_all, g);
    return g->used && is_ahead(g, with) ? with : s;
}

static const Stmt *see_loop(Ir *ir, const Stmt *s, void *arg)
{
    Given *g = arg;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PIPELINED || s->u.loop.body->kind != ST_BLOCK ||
        hint_int(s->u.loop.hints, "num_stages", 1) < 2)
        return s;
    const Stmt *body = s->u.loop.body, *all = NULL;
    map_init(&g->written, g->k->scratch);
    map_init(&g->of, g->k->scratch);
    stmt_touches_all(body, count_write, &g->written);
    bool same = true;
    for (int i = 0; i < body->u.block.n; i++) {
        const Stmt *was = body->u.block.list[i], *now = indices_in(g, was);
        note(g, now);
        same &= now == was;
        all = stmt_seq(ir, all, now);
    }
    return same ? s : stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, s->u.loop.min,
                               s->u.loop.extent, s->u.loop.hints, all);
}

void pass_opt_indices(Kernel *k)
{
    Given g = {.k = k, .ir = k->ir};

    if (kernel_has(k, HAS_ASYNC_COPY) && kernel_ahead(k) && !k->uses_threads)
        k->body = stmt_map(k->ir, k->body, see_loop, &g);
}
