/* thread_nest.c -- T.Parallel nests on targets with threads: who runs which iteration.
 *
 * A nest has a layout (plan_layouts, or what its fragments say): a fragment over its loop
 * variables. Inverted it gives the iteration of (thread, slot); the nest becomes one loop over
 * slots with the variables replaced:
 *
 *     for i, j in parallel(64, 64):          for s in unroll(32):
 *         x[i, j] = f(i, j)          ->          x[tid//32*16 + …, …] = f(…)
 *
 * An element of a fragment that is used where it lies then has slot s: layout and inverse cancel
 * when indices are made flat.  Layouts that do not fill their box get a guard; one that has no
 * inverse in closed form falls back to walking all points and asking "is this mine?".
 * Replicas compute everything; only the first stores to shared or global memory. */
#include "pass/plan_layouts.h"
#include "pass/thread_group.h"
#include "pass/thread_nest.h"

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who; /* run the nest at hand */
    Map fragments;   /* Buffer -> ThreadGroup * */
    bool per_thread; /* the body was written so */
} Threads;

const Expr *thread_in_block(Kernel *k)
{
    Ir *ir = k->ir;
    const Expr *r = expr_var(ir, k->thread[0]);
    int before = MAX(k->threads[0], 1);

    for (int d = 1; d < 3; d++) {
        if (k->thread[d] && k->threads[d] > 1)
            r = expr_add(ir, r, expr_mul(ir, expr_var(ir, k->thread[d]), expr_int(ir, before)));
        before *= MAX(k->threads[d], 1);
    }
    return r;
}

const Expr *thread_index(Kernel *k, ThreadGroup who)
{
    const Expr *r = thread_in_block(k);
    return who.first ? expr_sub(k->ir, r, expr_int(k->ir, who.first)) : r;
}

/* Marks a loop over the slots of a thread: its iterations are independent.  What the user said of
 * widths goes along. */
static Hints slots(Ir *ir, const LoopNest *p)
{
    Hint *h = NEWN(ir->arena, Hint, 2);
    h[0] = (Hint){.name = "slots", .value = expr_int(ir, 1)};
    h[1] = (Hint){.name = "coalesced_width", .value = expr_int(ir, p->width)};
    return (Hints){h, p->width ? 2 : 1};
}

void tell_width(Kernel *k, Span at, int64_t asked, int64_t got)
{
    if (asked != got)
        diag_ignored(k->diag, at, "coalesced_width",
                     "%lld elements at a time are asked for, and %lld go together here [ignored]",
                     (long long)asked, (long long)got);
}

typedef struct {
    Var *slot;
    int64_t nslot;
    const Expr *at[RANK_MOST]; /* the loop variables */
    const Expr *rep;           /* which replica; NULL: there is one */
    const Expr *guard;         /* NULL: every slot of every thread is an iteration */
} Inverse;

/* (iteration, replica) of (thread, slot) */
static bool invert(Threads *t, const Layout *l, Inverse *r)
{
    Ir *ir = t->ir;
    const Expr *at[RANK_MOST + 1];
    Map m;

    if (!fragment_inverse(ir, l, at, &r->guard))
        return false;
    map_init(&m, ir->arena);
    map_set(&m, layout_axis(ir, 0), thread_index(t->k, t->who));
    map_set(&m, layout_axis(ir, 1), expr_var(ir, r->slot));
    for (int d = 0; d < l->rank; d++)
        r->at[d] = expr_subst_map(ir, at[d], &m, NULL);
    if (l->rep > 1)
        r->rep = expr_subst_map(ir, at[l->rank], &m, NULL);
    if (r->guard)
        r->guard = expr_subst_map(ir, r->guard, &m, NULL);
    return true;
}

/* ---- rewriting the body ---------------------------------------------------------------------- */

typedef struct {
    const Expr *first; /* condition of the replica that stores */
} Once;

static const Stmt *store_once(Ir *ir, const Stmt *s, void *arg)
{
    Once *o = arg;

    const Buffer *b = s->kind == ST_STORE ? s->u.store.buf : NULL;
    if (b && (b->reducer || (b->scope != MEM_FRAGMENT && b->scope != MEM_LOCAL &&
                             b->scope != MEM_VAR)))
        return stmt_store_as(ir, s, s->u.store.at, s->u.store.n, s->u.store.value,
                             expr_both(ir, o->first, s->u.store.guard));
    if (s->kind == ST_ATOMIC && !s->u.atomic.bind)
        return stmt_if(ir, s->span, o->first, s, NULL);
    return s;
}

static bool is_of_fragment(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_LOAD && e->u.buf->scope == MEM_FRAGMENT;
}

static bool uses_fragment(const Stmt *s, void *arg)
{
    return stmt_holds_expr(s, is_of_fragment, arg) ||
           (s->kind == ST_STORE && s->u.store.buf->scope == MEM_FRAGMENT);
}

static const Stmt *replace_vars(Threads *t, const LoopNest *p, const Expr *const *at)
{
    Map vars;

    map_init(&vars, t->ir->arena);
    for (int d = 0; d < p->n; d++)
        map_set(&vars, p->var[d], at[d]);
    return stmt_subst_map(t->ir, p->body, &vars, NULL);
}

static bool is_barrier(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_SYNC_THREADS);
}

/* Threads without an iteration would not come by. */
static void refuse_barrier(Threads *t, const LoopNest *p)
{
    if (stmt_any(p->body, is_barrier, NULL))
        diag_error(t->k->diag, p->loop->span,
                   "T.sync_threads stands inside T.Parallel, and not all the threads have one of "
                   "its iterations for themselves: the others wait for ever [sync-in-parallel]");
}

static const Stmt *nest_by_slots(Threads *t, const LoopNest *p, const Layout *l, Inverse *r)
{
    Ir *ir = t->ir;
    Kernel *k = t->k;
    const Stmt *body = replace_vars(t, p, r->at);

    if (r->rep) {
        Once once = {expr_binary(ir, EX_EQ, r->rep, expr_int(ir, 0))};
        body = stmt_map(ir, body, store_once, &once);
    }
    const Expr *guard = r->guard;
    if (l->nthread < group_threads(k, t->who))
        guard = expr_both(ir, expr_lt(ir, thread_index(k, t->who), expr_int(ir, l->nthread)),
                          guard);
    if (guard) {
        refuse_barrier(t, p);
        body = stmt_if(ir, p->loop->span, guard, body, NULL);
    }
    if (r->nslot == 1 && p->width)
        tell_width(k, p->loop->span, p->width, 1);
    if (r->nslot == 1)
        return stmt_subst(ir, body, r->slot, expr_int(ir, 0));
    bool registers = stmt_any(p->body, uses_fragment, NULL);
    return stmt_for(ir, p->loop->span, registers ? LOOP_UNROLL : LOOP_SERIAL, r->slot,
                    expr_int(ir, 0), expr_int(ir, r->nslot), slots(ir, p), body);
}

/* who = (base + coef * replica) % n, or without the %: the only replica that can be this thread. */
static const Expr *replica_of(Ir *ir, const Layout *l, const Expr *who, const Expr *thread)
{
    Var *rep = layout_rep(ir);
    int64_t n = 0, coef;
    const Expr *base;

    if (who->op == EX_FLOORMOD && expr_is_int(who->kid[1], &n))
        who = who->kid[0];
    if (!affine_of(ir, who, &rep, 1, &coef, &base) || coef <= 0 ||
        (n && coef * (l->rep - 1) >= n))
        return NULL;
    const Expr *r = expr_sub(ir, thread, base);
    if (n)
        r = expr_floormod(ir, r, expr_int(ir, n));
    return expr_floordiv(ir, r, expr_int(ir, coef));
}

/* Is this thread a replica of the iteration that `who` speaks of? */
static const Expr *is_replica(Ir *ir, const Layout *l, const Expr *who, const Expr *thread)
{
    const Expr *r = l->rep > 1 ? replica_of(ir, l, who, thread) : NULL, *mine = NULL;

    if (r) {
        who = expr_subst(ir, who, layout_rep(ir), r);
        mine = expr_and(ir, expr_binary(ir, EX_GE, r, expr_int(ir, 0)),
                        expr_lt(ir, r, expr_int(ir, l->rep)));
        return expr_and(ir, mine, expr_binary(ir, EX_EQ, who, thread));
    }
    for (int64_t i = 0; i < l->rep; i++) {
        const Expr *one = expr_subst(ir, who, layout_rep(ir), expr_int(ir, i));
        const Expr *is = expr_binary(ir, EX_EQ, one, thread);
        mine = mine ? expr_binary(ir, EX_OR, mine, is) : is;
    }
    return mine;
}

/* No inverse in closed form: every thread walks all points and runs its own. */
static const Stmt *nest_by_asking(Threads *t, const LoopNest *p, const Layout *l)
{
    Ir *ir = t->ir;
    const Expr *mine = NULL, *at[RANK_MOST];

    refuse_barrier(t, p);
    for (int d = 0; d < p->n; d++)
        at[d] = expr_var(ir, p->var[d]);
    const Expr *who = l->thread;
    for (int d = 0; d < p->n; d++)
        who = expr_subst(ir, who, layout_axis(ir, d), at[d]);
    mine = is_replica(ir, l, who, thread_index(t->k, t->who));
    const Stmt *body = p->body;
    if (l->rep > 1) {
        const Expr *zero = expr_subst(ir, who, layout_rep(ir), expr_int(ir, 0));
        Once once = {expr_binary(ir, EX_EQ, zero, thread_index(t->k, t->who))};
        body = stmt_map(ir, body, store_once, &once);
    }
    body = stmt_if(ir, p->loop->span, mine, body, NULL);
    for (int d = p->n - 1; d >= 0; d--)
        body = stmt_for(ir, p->loop->span, LOOP_UNROLL, p->var[d], expr_int(ir, 0),
                        expr_int(ir, p->extent[d]), slots(ir, p), body);
    return body;
}

/* How many iterations of the innermost loop, of a known length, touch memory as one. */
static int64_t stride_width(Threads *t, const LoopNest *p, const Stmt *innermost)
{
    LoopNest row = {0};
    int64_t n;

    if (!expr_is_int(innermost->u.loop.extent, &n) || n <= 1)
        return 1;
    parallel_read(t->ir, innermost, &row);
    parallel_know(t->k, &row);
    row.width = p->width;
    return parallel_width(t->ir, &row, t->k->machine->access_bytes);
}

/* Run-time extents: iterations are distributed round-robin, those that are neighbours in memory
 * together. */
static const Stmt *nest_by_stride(Threads *t, const LoopNest *p)
{
    Ir *ir = t->ir;
    const Stmt *loop[RANK_MOST];
    const Expr *total = expr_int(ir, 1), *at[RANK_MOST];
    const Stmt *s = p->loop;

    refuse_barrier(t, p);
    for (int d = 0; d < p->n; d++) {
        loop[d] = s;
        s = s->u.loop.body;
    }
    int64_t w = stride_width(t, p, loop[p->n - 1]);
    Var *lane = var_new(ir, "s", DT_I32, p->loop->span);
    Var *iter = var_new(ir, "iter", DT_I32, p->loop->span);
    const Expr *n = expr_int(ir, group_threads(t->k, t->who)), *ew = expr_int(ir, w);
    const Expr *group = expr_add(ir, expr_mul(ir, expr_var(ir, iter), n),
                                 thread_index(t->k, t->who));
    const Expr *rest = group;
    for (int d = p->n - 1; d >= 0; d--) {
        bool inner = d == p->n - 1 && w > 1;
        const Expr *extent = loop[d]->u.loop.extent;
        if (inner)
            extent = expr_floordiv(ir, extent, ew);
        const Expr *i = d == 0 ? rest : expr_floormod(ir, rest, extent);
        if (inner)
            i = expr_add(ir, expr_mul(ir, i, ew), expr_var(ir, lane));
        at[d] = expr_add(ir, loop[d]->u.loop.min, i);
        rest = expr_floordiv(ir, rest, extent);
        total = expr_mul(ir, extent, total);
    }
    const Stmt *named[2] = {NULL};
    if (expr_has_load(total)) { /* read once, and what it guards need not wait for it */
        Var *all = var_new(ir, "all", (DType)total->type, p->loop->span);
        named[0] = stmt_let(ir, p->loop->span, all, total);
        total = expr_var(ir, all);
    }
    const Stmt *body =
        stmt_if(ir, p->loop->span, expr_lt(ir, group, total), replace_vars(t, p, at), NULL);
    if (w > 1)
        body = stmt_for(ir, p->loop->span, LOOP_SERIAL, lane, expr_int(ir, 0), ew, slots(ir, p),
                        body);
    named[1] = stmt_for(ir, p->loop->span, LOOP_SERIAL, iter, expr_int(ir, 0),
                        expr_ceildiv(ir, total, n), slots(ir, p), body);
    return named[0] ? stmt_block(ir, p->loop->span, 2, named) : named[1];
}

static const Layout *planned(Kernel *k, const Var *outermost)
{
    const LoopPlan *p = loop_plan_find(k, outermost);
    return p ? p->layout : NULL;
}

/* Done by the threads of a fragment only, though `all` come by. */
static const Stmt *for_group(Threads *t, ThreadGroup all, const Stmt *s)
{
    Ir *ir = t->ir;
    ThreadGroup own = t->who;
    const Expr *in = NULL, *at = thread_in_block(t->k);
    int come = all.n ? all.first + all.n : kernel_launch_threads(t->k);
    int last = own.first + group_threads(t->k, own);

    if (own.first > all.first)
        in = expr_binary(ir, EX_GE, at, expr_int(ir, own.first));
    if (last < come)
        in = expr_both(ir, in, expr_lt(ir, at, expr_int(ir, last)));
    return in ? stmt_if(ir, s->span, in, s, NULL) : s;
}

/* An operator's own loops, which no inference saw, take from registers what their thread holds. */
static void check_own(Threads *t, const LoopNest *p, const Layout *loop)
{
    for (int i = 0; i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        const Layout *l = buffer_plan(t->k, a->buf)->layout;
        BUG(a->how == ACC_READ && l && layout_is_fragment(l) &&
                !parallel_agrees(t->ir, p, a, loop, l),
            "line %d: the loops of an operator read registers of other threads from '%s': is "
            "TILE_WALKS missing from its traits?", p->loop->span.line, a->buf->name);
    }
}

static const Stmt *spread(Threads *t, LoopNest *p)
{
    Inverse r = {0};

    if (!p->fixed)
        return nest_by_stride(t, p);
    const Layout *l = planned(t->k, p->var[0]);
    if (!l) {
        l = plan_nest(t->k, t->who, p);
        check_own(t, p, l);
    }
    l = fragment_from_zero(t->ir, l);
    r.slot = var_new(t->ir, "s", DT_I32, p->loop->span);
    r.nslot = fragment_slots(l);
    if (invert(t, l, &r))
        return nest_by_slots(t, p, l, &r);
    return nest_by_asking(t, p, l);
}

/* Every thread for itself, neighbours together. */
static const Stmt *serial(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (!stmt_is_nest(s))
        return s;
    bool inner = expr_is_const(s->u.loop.extent) && s->u.loop.body->kind != ST_FOR;
    return stmt_for_as(ir, s, inner ? LOOP_VECTOR : LOOP_SERIAL, s->u.loop.body);
}

static const Stmt *to_threads(Ir *ir, ThreadGroup all, const Stmt *s, void *arg)
{
    Threads *t = arg;
    LoopNest p = {0};

    if (!stmt_is_nest(s))
        return s;
    if (t->per_thread && stmt_is_private(s) && !planned(t->k, s->u.loop.var))
        return stmt_map(ir, s, serial, NULL);
    parallel_read(ir, s, &p);
    parallel_know(t->k, &p);
    t->who = group_of_nest(all, &t->fragments, &p);
    return for_group(t, all, spread(t, &p));
}

void parallel_to_threads(Kernel *k)
{
    Threads t = {.k = k, .ir = k->ir, .per_thread = k->uses_threads};

    group_fragments(k, &t.fragments);
    k->body = group_map(k, k->body, to_threads, &t);
    k->uses_threads = true;
}
