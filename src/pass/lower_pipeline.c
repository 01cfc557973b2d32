/* lower_pipeline.c -- pipelined loops that no role took over.
 *
 * needs   FORM_HOW
 * gives   FORM_NOPIPE
 *
 * Copies that run d iterations ahead (plan_pipeline) are taken out of the body; what is left of it
 * uses the stage of a tile that its iteration has:
 *
 *     for k in pipelined(n):               for p in 0 .. d-1:
 *         copy(A[k], a)                        if p < n: copy(A[p], a[p])
 *         use(a)                    ->         commit
 *                                          for k in serial(n):
 *                                              wait until d - 1 groups are in flight
 *                                              use(a[k % (d+1)])
 *                                              if k + d < n: copy(A[k + d], a[(k + d) % (d+1)])
 *                                              commit
 *
 * Every iteration closes a group, be it empty, so that the count holds to the end; by then nothing
 * is in flight.  The stage that iteration k fills is the one that iteration k - 1 read: the barrier
 * after the wait (lower_sync) stands between them.  In long iterations the copies come last, when
 * the instructions of the iteration are on their way, unless they would be waited for at once (d =
 * 1); else they come first.  An MMA of warpgroups is then waited for after them.
 * A loop without such copies is run in order, which is its meaning. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/plan_how.h"

enum {
    DST = 1,
    LONG_ITER = 24 * 1024, /* bytes; where the order pays, as measured */
};

typedef struct {
    const Stmt *s; /* a tile operator, or a nest of T.Parallel */
    int ahead;
    Buffer *dst;
    Gather *from; /* indices that it goes by; NULL: none that run ahead of it */
} Copy;

typedef struct {
    Kernel *k;
    Ir *ir;
    Map stages;       /* Buffer -> Buffer with stages */
    const Stmt *loop; /* at hand */
    VEC(Copy) copies; /* of it */
    Map needed;       /* variables that the copies at hand use */
    Map renamed;      /* those of lets -> Expr of another */
    int ahead;        /* of the copies to keep */
    bool next;        /* they are started after the tiles of their iteration have been read */
    bool fetches;     /* not they, but the indices they go by */
} Pipe;

/* ---- which copies ---------------------------------------------------------------------------- */

/* How many iterations s runs ahead; 0: it is done in its iteration. */
static int runs_ahead(Kernel *k, const Stmt *s)
{
    if (stmt_is_nest(s))
        for (int i = 0; i < k->loops.n; i++)
            if (k->loops.at[i].var == s->u.loop.var)
                return k->loops.at[i].ahead;
    if (!tile_does(s, TILE_COPIES))
        return 0;
    const TilePlan *t = tile_plan(k, s);
    return t->how->step == MECH_AHEAD ? t->ahead : 0;
}

static bool see_store(const Stmt *s, void *arg)
{
    if (s->kind == ST_STORE)
        *(Buffer **)arg = s->u.store.buf;
    return true;
}

static Buffer *filled_by(const Stmt *s)
{
    Buffer *b = NULL;

    if (s->kind == ST_TILE)
        return s->u.tile.region[DST].buf;
    stmt_visit(s, see_store, &b);
    return b;
}

static bool find_stages(const Stmt *s, void *arg)
{
    Pipe *p = arg;

    if (!runs_ahead(p->k, s))
        return true;
    Buffer *b = filled_by(s);
    if (!map_has(&p->stages, b))
        map_set(&p->stages, b, buffer_staged(p->k, b, buffer_plan(p->k, b)->stages));
    return true;
}

static Gather *gather_of(Pipe *p, const Stmt *s)
{
    NestCopy c;
    Gather *g = NEW(p->k->scratch, Gather);

    if (s->kind == ST_TILE || !nest_is_copy(p->ir, s, &c) || !gather_find(p->k, &c, g))
        return NULL;
    return g;
}

/* Those directly in the body: inner loops have their own. */
static void find_copies(Pipe *p, const Stmt *s)
{
    if (!s)
        return;
    if (s->kind == ST_BLOCK)
        for (int i = 0; i < s->u.block.n; i++)
            find_copies(p, s->u.block.list[i]);
    if (s->kind == ST_IF) {
        find_copies(p, s->u.branch.then);
        find_copies(p, s->u.branch.orelse);
    }
    int ahead = runs_ahead(p->k, s);
    if (ahead)
        vec_push(p->k->scratch, &p->copies, ((Copy){s, ahead, filled_by(s), gather_of(p, s)}));
}

static const Copy *copy_of(const Pipe *p, const Stmt *s)
{
    for (int i = 0; i < p->copies.n; i++)
        if (p->copies.at[i].s == s)
            return &p->copies.at[i];
    return NULL;
}

static bool is_copy(const Pipe *p, const Stmt *s, int ahead)
{
    const Copy *c = copy_of(p, s);
    return c && (ahead == 0 || c->ahead == ahead);
}

/* ---- the copies of one iteration ------------------------------------------------------------- */

/* A nest that copies, its lets put into the store, which lands later. */
static const Stmt *make_async(Pipe *p, const Stmt *nest)
{
    Ir *ir = p->ir;
    NestCopy c;
    const Gather *from = copy_of(p, nest)->from;

    BUG(!nest_is_copy(ir, nest, &c), "a nest that runs ahead is no copy");
    if (p->fetches)
        return from ? gather_fetch(p->k, from, &c.nest) : NULL;
    if (from) {
        c.load = gather_use(ir, from, &c.nest, c.load);
        c.cond = gather_use(ir, from, &c.nest, c.cond);
    }
    const Expr *at[RANK_MOST], *x = c.load;
    for (int d = 0; d < c.dst->rank; d++)
        at[d] = expr_var(ir, c.nest.var[c.axis[d]]);
    if (c.cond)
        x = expr_if(ir, c.cond, x, expr_zero(ir, c.dst->type));
    const Stmt *s = stmt_store(ir, nest->span, c.dst, at, c.dst->rank, x);
    s = stmt_store_async(ir, s, p->next ? ASYNC_NEXT : ASYNC_COPY);
    for (int i = c.nest.n - 1; i >= 0; i--)
        s = stmt_for(ir, nest->span, LOOP_PARALLEL, c.nest.var[i], expr_int(ir, 0),
                     expr_int(ir, c.nest.extent[i]), i == 0 ? nest->u.loop.hints : (Hints){0}, s);
    return s;
}

static const Stmt *add_hint(Pipe *p, const Stmt *t, const char *name)
{
    Hints old = t->u.tile.hints;
    Hint *h = NEWN(p->ir->arena, Hint, old.n + 1);
    Stmt *s = NEW(p->ir->arena, Stmt);

    if (old.n)
        memcpy(h, old.at, sizeof *h * (size_t)old.n);
    h[old.n] = (Hint){.name = name, .value = expr_int(p->ir, 1)};
    *s = *t;
    s->u.tile.hints = (Hints){h, old.n + 1};
    return s;
}

/* Says of a copy that the stage it fills is not the one that is read (op/copy.c). */
static const Stmt *mark_next(Pipe *p, const Stmt *copy)
{
    return p->next ? add_hint(p, copy, "next") : copy;
}

/* What the copies that run `ahead` iterations need of the body, last statement first: true if s has
 * one of them. */
static bool find_needed(Pipe *p, const Stmt *s)
{
    bool any = false;

    if (!s)
        return false;
    if (is_copy(p, s, p->ahead)) {
        stmt_vars(s, &p->needed);
        return true;
    }
    if (s->kind == ST_BLOCK)
        for (int i = s->u.block.n - 1; i >= 0; i--)
            any |= find_needed(p, s->u.block.list[i]);
    if (s->kind == ST_IF) {
        any = find_needed(p, s->u.branch.then);
        any |= find_needed(p, s->u.branch.orelse);
        if (any)
            expr_vars(s->u.branch.cond, &p->needed);
    }
    if (s->kind == ST_LET && map_has(&p->needed, s->u.let.var))
        expr_vars(s->u.let.value, &p->needed);
    return any;
}

static const Stmt *keep_copies(Pipe *p, const Stmt *s)
{
    Ir *ir = p->ir;

    if (!s)
        return NULL;
    if (is_copy(p, s, p->ahead))
        return s->kind != ST_TILE ? make_async(p, s) : p->fetches ? NULL : mark_next(p, s);
    if (s->kind == ST_BLOCK) {
        const Stmt *all = NULL;
        for (int i = 0; i < s->u.block.n; i++)
            all = stmt_seq(ir, all, keep_copies(p, s->u.block.list[i]));
        return all;
    }
    if (s->kind == ST_IF) {
        const Stmt *then = keep_copies(p, s->u.branch.then);
        const Stmt *orelse = keep_copies(p, s->u.branch.orelse);
        if (stmt_is_empty(then) && stmt_is_empty(orelse))
            return NULL;
        then = then ? then : stmt_block(ir, s->span, 0, NULL);
        return stmt_if(ir, s->span, s->u.branch.cond, then, orelse);
    }
    if (s->kind == ST_LET && map_has(&p->needed, s->u.let.var)) {
        const Var *v = s->u.let.var;
        Var *own = var_new(ir, v->name, v->type, v->span);
        map_set(&p->renamed, v, expr_var(ir, own));
        return stmt_let(ir, s->span, own, s->u.let.value);
    }
    return NULL;
}

static const Expr *stage_of(Pipe *p, int ahead, const Expr *iter)
{
    return expr_floormod(p->ir, iter, expr_const(p->ir, (DType)iter->type, ahead + 1));
}

/* A name for the stage that copies fill, before the condition that there is such an iteration:
 * lower_counts issues them without it, and no place may be worked out from it. */
static const Stmt *name_stage(Pipe *p, const Expr **stage)
{
    const Mech *how = kernel_ahead(p->k);

    if (!how || !how->counted || expr_is_const(*stage))
        return NULL;
    Var *v = var_new(p->ir, "stage", (DType)(*stage)->type, p->loop->span);
    const Stmt *let = stmt_let(p->ir, p->loop->span, v, *stage);
    *stage = expr_var(p->ir, v);
    return let;
}

/* ahead: of the copies that use them, which have one stage; 0: of all copies. */
static const Stmt *use_stages(Pipe *p, const Stmt *s, int ahead, const Expr *iter,
                              const Expr *given)
{
    for (int i = 0; i < p->copies.n; i++) {
        const Copy *c = &p->copies.at[i];
        Buffer *b = c->dst;
        if (ahead && c->ahead != ahead)
            continue;
        const Expr *stage = given ? given : stage_of(p, c->ahead, iter);
        s = stmt_use_stage(p->k, s, b, map_get(&p->stages, b), stage);
    }
    return s;
}

/* The copies that run `ahead` iterations, of iteration `iter` (counted from 0), if there is one. */
static const Stmt *copies_of(Pipe *p, int ahead, const Expr *iter)
{
    Ir *ir = p->ir;
    const Stmt *loop = p->loop;

    p->ahead = ahead;
    map_init(&p->needed, p->k->scratch);
    map_init(&p->renamed, p->k->scratch);
    find_needed(p, loop->u.loop.body);
    const Stmt *s = keep_copies(p, loop->u.loop.body);
    map_set(&p->renamed, loop->u.loop.var, expr_add(ir, loop->u.loop.min, iter));
    if (!s)
        return NULL;
    s = stmt_subst_map(ir, s, &p->renamed, NULL);
    const Expr *stage = stage_of(p, ahead, iter);
    const Stmt *let = p->fetches ? NULL : name_stage(p, &stage);
    s = use_stages(p, s, ahead, iter, stage);
    s = stmt_if(ir, loop->span, expr_lt(ir, iter, loop->u.loop.extent), s, NULL);
    return stmt_seq(ir, let, s);
}

/* The indices that the copies of iteration `iter` go by. */
static const Stmt *indices_of(Pipe *p, int ahead, const Expr *iter)
{
    p->fetches = true;
    const Stmt *s = copies_of(p, ahead, iter);
    p->fetches = false;
    return s;
}

static const Stmt *drop_copies(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    return is_copy(arg, s, 0) ? NULL : s;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static const Expr *num(Pipe *p, int64_t n)
{
    return expr_const(p->ir, p->loop->u.loop.var->type, n);
}

/* Started in iteration `iter`: what runs d ahead is of iter + d; then the group is closed. */
static const Stmt *start_copies(Pipe *p, const bool *has, const Expr *iter)
{
    const Stmt *s = NULL;
    int64_t at = 0;

    for (int d = 1; d <= AHEAD_MOST; d++) {
        const Expr *of = expr_add(p->ir, iter, num(p, d));
        if (!has[d] || (expr_is_int(of, &at) && at < 0))
            continue;
        if (expr_is_zero(of))
            s = stmt_seq(p->ir, s, indices_of(p, d, of));
        s = stmt_seq(p->ir, s, copies_of(p, d, of));
        s = stmt_seq(p->ir, s, indices_of(p, d, expr_add(p->ir, of, num(p, 1))));
    }
    return stmt_seq(p->ir, s, stmt_commit(p->ir, p->loop->span, QUEUE_COPIES));
}

/* Of the tiles that an iteration fills: long iterations have time to start copies at their end. */
static int64_t iter_bytes(const Pipe *p)
{
    int64_t total = 0;

    for (int i = 0; i < p->copies.n; i++)
        total += dtype_bytes(p->copies.at[i].dst->type, buffer_static_size(p->copies.at[i].dst));
    return total;
}

/* The iteration, then the copies.  An MMA of warpgroups that ends the iteration is waited for after
 * them: it reads another stage than they fill. */
static const Stmt *iter_then_copies(Pipe *p, const Stmt *rest, const Stmt *start)
{
    Ir *ir = p->ir;
    int n = rest && rest->kind == ST_BLOCK ? rest->u.block.n : 0;
    const Stmt *last = n ? rest->u.block.list[n - 1] : rest;

    if (!last || !is_mma_in_flight(p->k, last) ||
        hint_int(last->u.tile.hints, "async", 0))
        return stmt_seq(ir, rest, start);
    const Stmt *wait =
        stmt_wait(ir, last->span, QUEUE_MMA, 0, 1, &last->u.tile.region[2]);
    const Stmt *s = n ? stmt_block(ir, rest->span, n - 1, rest->u.block.list) : NULL;
    s = stmt_seq(ir, s, add_hint(p, last, "async"));
    return stmt_seq(ir, stmt_seq(ir, s, start), wait);
}

static const Stmt *lower(void *pipe, const Stmt *s);

static const Stmt *pipeline(Pipe *p, const Stmt *loop)
{
    Ir *ir = p->ir;
    bool has[AHEAD_MOST + 1] = {false};
    int most = 0, least = AHEAD_MOST;
    const Stmt *all = NULL;

    for (int i = 0; i < p->copies.n; i++) {
        has[p->copies.at[i].ahead] = true;
        most = MAX(most, p->copies.at[i].ahead);
        least = MIN(least, p->copies.at[i].ahead);
    }
    for (int g = -most; g < 0; g++)
        all = stmt_seq(ir, all, start_copies(p, has, num(p, g)));

    const Expr *iter = expr_sub(ir, expr_var(ir, loop->u.loop.var), loop->u.loop.min);
    p->next = least > 1 && iter_bytes(p) >= LONG_ITER;
    const Stmt *body = stmt_wait(ir, loop->span, QUEUE_COPIES, least - 1, 0, NULL);
    const Stmt *start = start_copies(p, has, iter);
    const Stmt *rest = stmt_map(ir, loop->u.loop.body, drop_copies, p);
    if (rest)
        rest = use_stages(p, rest, 0, iter, NULL);
    body = stmt_seq(ir, body, p->next ? iter_then_copies(p, rest, start)
                                      : stmt_seq(ir, start, rest));
    p->next = false;
    p->copies.n = 0;
    body = lower(p, body);
    return stmt_seq(ir, all,
                    stmt_for_as(ir, loop, LOOP_SERIAL, body));
}

static const Stmt *lower_loop(Pipe *p, const Stmt *s)
{
    p->copies.n = 0;
    p->loop = s;
    if (s->u.loop.how == LOOP_PIPELINED)
        find_copies(p, s->u.loop.body);
    if (p->copies.n)
        return pipeline(p, s);
    const Stmt *body = lower(p, s->u.loop.body);
    return s->u.loop.how == LOOP_PIPELINED ? stmt_for_as(p->ir, s, LOOP_SERIAL, body)
                                           : stmt_with_body(p->ir, s, body);
}

/* From outside in: the copies of a loop are those directly in it, and inner loops make more. */
static const Stmt *lower(void *pipe, const Stmt *s)
{
    Pipe *p = pipe;
    return s->kind == ST_FOR ? lower_loop(p, s) : stmt_map_kids(p->ir, s, lower, p);
}

void pass_lower_pipeline(Kernel *k)
{
    Pipe p = {.k = k, .ir = k->ir};

    map_init(&p.stages, k->scratch);
    stmt_visit(k->body, find_stages, &p);
    k->body = lower(&p, k->body);
}
