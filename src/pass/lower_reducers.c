/* lower_reducers.c -- T.alloc_reducer on targets with threads.
 *
 * Every thread keeps the contributions of its own iterations in registers; what it may contribute
 * to is found from the layouts of the nests that update the reducer.  Closing the epoch is a
 * reduction over the threads, as of a tile with one more dimension:
 *
 *     reducer_update(r[i], x[i, j])      own[slot(i)] = op(own[slot(i)], x[i, j])
 *     reducer_final(r, y)                parts[i, thread] = own[slot(i)];  reduce(parts, y)
 *
 * A seed counts once: y holds it before, and the reduction goes on from there. */
#include "pass/pass.h"
#include "pass/thread_group.h"
#include "pass/warp_reduce.h"
#include "ir/config.h"

enum { REDUCER, DST };

typedef struct {
    Buffer *buf;          /* the reducer */
    const Reduction *word;
    Buffer *own;          /* of one thread, by slot */
    Buffer *seed;         /* NULL: no epoch of it has one */
    Buffer *stand_in;     /* a fragment in its place, while nests are asked */
    const Layout *parts;  /* who may hold contributions to an element */
    bool seeded, differ;
} Epoch;

typedef struct {
    Kernel *k;
    Ir *ir;
    VEC(Epoch) list;
} Epochs;

static Epoch *epoch_of(Epochs *x, const Stmt *s)
{
    for (int i = 0; i < x->list.n; i++)
        if (x->list.at[i].buf == s->u.tile.region[REDUCER].buf)
            return &x->list.at[i];
    return NULL;
}

static const Expr *value_of(const Stmt *s)
{
    return s->u.tile.narg > 0 ? s->u.tile.arg[0] : NULL;
}

/* ---- who contributes ------------------------------------------------------------------------- */

static const Stmt *stand_in(Ir *ir, const Stmt *s, void *arg)
{
    Epochs *x = arg;

    if (tile_epoch(s) != EPOCH_ADDS)
        return s;
    Epoch *e = epoch_of(x, s);
    const Region *r = &s->u.tile.region[REDUCER];
    return stmt_store(ir, s->span, e->stand_in, r->at, r->buf->rank,
                      expr_zero(ir, e->stand_in->type));
}

static void see_wanted(Epochs *x, const LoopNest *p, const Layout *loop, int64_t nthread)
{
    Infer in = {.k = x->k, .ir = x->ir, .level = INFER_COMMON, .nthread = nthread};

    for (int i = 0; i < p->access.n; i++)
        for (int j = 0; j < x->list.n; j++) {
            Epoch *e = &x->list.at[j];
            if (p->access.at[i].buf != e->stand_in)
                continue;
            const Layout *l = loop ? parallel_wanted(&in, p, &p->access.at[i], loop) : NULL;
            e->differ |= !l || (e->parts && !fragment_is_equal(x->ir, e->parts, l));
            e->parts = l;
        }
}

static bool see_nest(const Stmt *s, ThreadGroup who, void *arg)
{
    Epochs *x = arg;
    const Layout *loop = NULL;
    LoopNest p;

    if (tile_epoch(s) == EPOCH_OPENS)
        epoch_of(x, s)->seeded |= value_of(s) != NULL;
    if (!stmt_is_nest(s))
        return true;
    parallel_read(x->ir, stmt_map(x->ir, s, stand_in, x), &p);
    const LoopPlan *plan = loop_plan_find(x->k, p.var[0]);
    if (plan)
        loop = plan->layout;
    if (p.fixed)
        see_wanted(x, &p, loop, group_threads(x->k, who));
    else
        for (int i = 0; i < x->list.n; i++)
            x->list.at[i].differ = true;
    return false;
}

/* Does each replica of an element lie with another thread? */
static bool holders_differ(const Layout *l)
{
    int64_t at[RANK_MOST] = {0};
    do {
        for (int64_t r = 1; r < l->rep; r++)
            for (int64_t o = 0; o < r; o++)
                if (fragment_eval_thread(l, at, r) == fragment_eval_thread(l, at, o))
                    return false;
    } while (layout_next(l, at));
    return true;
}

static void open_epoch(Epochs *x, Epoch *e, const Map *groups)
{
    Ir *ir = x->ir;
    int64_t shape[RANK_MOST];
    const ThreadGroup *group = map_get(groups, e->buf);
    int64_t n = group_threads(x->k, group ? *group : (ThreadGroup){0, 0});

    if (!buffer_static_shape(e->buf, shape) || e->buf->rank == RANK_MOST)
        diag_fail(x->k->diag, e->buf->span,
                  "the reducer '%s' has more dimensions, or another size, than this target can "
                  "spread over threads [unsupported-here]", e->buf->name);
    bool all = !e->parts || e->differ || !holders_differ(e->parts) ||
               config_on(x->k->func, CONFIG_reducer_force_baseline);
    if (all)
        e->parts = fragment_replicated(ir, e->buf->rank, shape, n);
    Str *out = config_report(x->k->func, CONFIG_enable_reducer_plan_verbose);
    if (out)
        str_printf(out, "reducer '%s': %s, %lld elements a thread\n", e->buf->name,
                   all ? "every thread has a part of every element" : "parts by its nests' layouts",
                   (long long)fragment_slots(e->parts));
    DType type = accumulate_type(e->buf->type);
    const Expr *nslot = expr_int(ir, fragment_slots(e->parts));
    e->own = kernel_buffer(x->k, e->buf->name, type, MEM_LOCAL, 1, &nslot, e->buf->span);
    e->own->reducer = e->buf->reducer;
    if (e->seeded)
        e->seed = kernel_scalar(x->k, "seed", type, e->buf->span);
}

/* ---- statements ------------------------------------------------------------------------------ */

static const Stmt *lower_init(Epochs *x, Epoch *e, const Stmt *s)
{
    Ir *ir = x->ir;
    const Expr *none = reduction_identity(ir, e->word, e->own->type);
    Var *q = var_new(ir, "q", DT_I32, s->span);
    const Expr *at = expr_var(ir, q);
    const Stmt *body = stmt_store(ir, s->span, e->own, &at, 1, none);

    body = stmt_for(ir, s->span, LOOP_UNROLL, q, expr_int(ir, 0), e->own->shape[0], (Hints){0},
                    body);
    if (!e->seed)
        return body;
    const Expr *v = value_of(s) ? expr_cast(ir, e->buf->type, value_of(s)) : none;
    return stmt_seq(ir, scalar_set(x->k, s->span, e->seed, v), body);
}

static const Stmt *lower_update(Epochs *x, Epoch *e, const Stmt *s)
{
    Ir *ir = x->ir;
    const Region *r = &s->u.tile.region[REDUCER];
    const Expr *at = layout_offset(ir, e->parts, r->at);
    const Expr *old = expr_load(ir, e->own, &at, 1);
    const Expr *v = expr_cast(ir, e->buf->type, value_of(s));

    v = reduction_term(ir, e->word, e->own->type, v);
    return stmt_store(ir, s->span, e->own, &at, 1, reduction_combine(ir, e->word, false, old, v));
}

/* The registers of all threads as one tile with a last dimension over the holders. */
static const Stmt *spread_parts(Epochs *x, Epoch *e, const Stmt *s, Buffer **tile)
{
    Ir *ir = x->ir;
    const Layout *who = fragment_holders(ir, e->parts);
    const Expr *shape[RANK_MOST];
    Nest n;

    for (int d = 0; d < who->rank; d++)
        shape[d] = expr_int(ir, who->extent[d]);
    *tile = kernel_buffer(x->k, arena_printf(ir->arena, "%s_all", e->buf->name), e->own->type,
                          MEM_FRAGMENT, who->rank, shape, s->span);
    buffer_plan(x->k, *tile)->layout = who;
    nest_open(x->k, &n, who->rank, shape);
    LoopPlan plan = {.var = n.var[0], .layout = who};
    vec_push(x->k->arena, &x->k->loops, plan);
    const Expr *slot = layout_offset(ir, e->parts, n.at);
    const Expr *v = expr_load(ir, e->own, &slot, 1);
    const Stmt *put = stmt_store(ir, s->span, *tile, n.at, who->rank, v);
    return nest_close(x->k, s->span, &n, LOOP_PARALLEL, put);
}

static const Stmt *lower_final(Epochs *x, Epoch *e, const Stmt *s)
{
    Ir *ir = x->ir;
    Buffer *tile;
    Region *region = NEWN(ir->arena, Region, 2);
    const Expr **arg = NEWN(ir->arena, const Expr *, 2), *seed;
    const Stmt *r = NULL;

    if (s->u.tile.nregion < 2)
        diag_fail(x->k->diag, s->span,
                  "T.finalize_reducer needs a tile to put '%s' in on this target "
                  "[unsupported-here]", e->buf->name);
    r = spread_parts(x, e, s, &tile);
    region[0] = region_whole(ir, tile);
    region[1] = s->u.tile.region[DST];
    arg[0] = expr_int(ir, tile->rank - 1);
    arg[1] = expr_bool(ir, e->seed == NULL);
    if (e->seed) {
        seed = expr_cast(ir, region[1].buf->type, scalar_get(x->k, e->seed));
        const Stmt *fill =
            stmt_tile(ir, s->span, &op_fill, 1, &region[1], 1, &seed, NULL, (Hints){0});
        tile_plan(x->k, fill)->how = &mech_plain;
        r = stmt_seq(ir, r, fill);
    }
    const Stmt *fold = stmt_tile(ir, s->span, &op_reduce, 2, region, 2, arg, e->word->name,
                                 (Hints){0});
    tile_plan(x->k, fold)->how = &mech_shuffle;
    tile_plan(x->k, fold)->what = "contributions to a reducer";
    return stmt_seq(ir, r, fold);
}

static const Stmt *lower(Ir *ir, const Stmt *s, void *arg)
{
    Epochs *x = arg;
    (void)ir;

    switch (tile_epoch(s)) {
    case EPOCH_OPENS: return lower_init(x, epoch_of(x, s), s);
    case EPOCH_ADDS: return lower_update(x, epoch_of(x, s), s);
    case EPOCH_CLOSES: return lower_final(x, epoch_of(x, s), s);
    default: return s;
    }
}

void pass_lower_reducers(Kernel *k)
{
    Epochs x = {.k = k, .ir = k->ir};
    Map groups;
    int kept = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope != MEM_REDUCER) {
            k->buffers.at[kept++] = b;
            continue;
        }
        Epoch e = {.buf = b, .word = reduction_find(b->reducer)};
        e.stand_in = buffer_new(k->ir, b->name, b->type, MEM_FRAGMENT, b->rank,
                                (const Expr *const *)b->shape, b->span);
        vec_push(k->arena, &x.list, e);
    }
    k->buffers.n = kept;
    if (x.list.n == 0)
        return;
    group_fragments(k, &groups);
    group_visit(k, see_nest, &x);
    for (int i = 0; i < x.list.n; i++)
        open_epoch(&x, &x.list.at[i], &groups);
    k->body = stmt_map(k->ir, k->body, lower, &x);
}
