/* thread_body.c -- kernels written per thread: what the block does once, where its threads must
 * meet.
 *
 * Lone stores.  `m[0] = T.max(m[0], x)` on a fragment is said once for the block, though every
 * thread comes by.  Where all of them would store the same, the store becomes a parallel loop of
 * one iteration, which the block runs once.  A store that differs from thread to thread is left to
 * each.
 *
 * Barriers.  Shared memory needs no T.sync_threads by hand: where a thread may touch an element
 * that another has touched since the last barrier (arith/apart.c), one is put before it.  Loops and
 * branches that not all threads enter have it before, not inside, and so have loops whose
 * iterations touch different elements.  A role has it before for what others touched, and inside,
 * of its own threads, for what these did.  Kernels that name barriers of their own are left
 * alone. */
#include "front/eval.h"

static const Stmt *once(Ir *ir, const Stmt *s)
{
    Var *i = var_new(ir, "once", DT_I32, s->span);
    return stmt_for(ir, s->span, LOOP_PARALLEL, i, expr_int(ir, 0), expr_int(ir, 1), (Hints){0}, s);
}

static const Stmt *wrap(void *vary, const Stmt *s)
{
    Vary *v = vary;

    if (s->kind == ST_STORE)
        return buffer_root(s->u.store.buf)->scope == MEM_FRAGMENT && !vary_store(v, s)
                   ? once(v->k->ir, s) : s;
    bool nest = stmt_is_nest(s);
    bool head = s->kind == ST_FOR || s->kind == ST_WHILE || s->kind == ST_IF;
    return nest || (head && vary_head(v, s)) ? s : stmt_map_kids(v->k->ir, s, wrap, v);
}

/* ---- barriers -------------------------------------------------------------------------------- */

enum { TOUCH_READ = 1, TOUCH_WRITE = 2, TOUCH_ATOMIC = 4 };

typedef struct {
    const Buffer *buf;      /* the root */
    const Expr *const *at;
    int n;
    const Buffer *view;     /* that they are indices of */
    const ThreadSite *site;     /* one element by a thread; NULL: more than that */
    int how;                /* TOUCH_ bits */
    bool astray;            /* not all threads come by */
    const Stmt *iter;       /* an earlier iteration of this loop did it */
} Access1;

typedef VEC(Access1) Accesses;

typedef struct {
    Vary *v;
    Ir *ir;
    Apart *apart;
    Map *sites;           /* of indices, by their address */
    Accesses open;          /* since the last barrier */
    bool astray;            /* of what is being gathered */
    int depth;              /* loops around */
} Sync;

enum { LOOK_DEPTH = 5 };    /* loops deeper than this are gone through once */

static bool names_used(const Stmt *s, void *e)
{
    const Var *v = s->kind == ST_ATOMIC ? NULL : stmt_binds(s);
    return v && expr_uses_var(e, v);
}

/* An index that names something bound in the loop means another element in the next iteration. */
static bool has_var_of(const Expr *e, const Stmt *loop)
{
    return stmt_any(loop, names_used, e);
}

/* No thread sites an element of another. */
static bool by_thread(const Sync *m, const Access1 *a, const Access1 *b)
{
    ThreadGroup all = {0, kernel_launch_threads(m->v->k)};
    return a->site && b->site && a->view == b->view &&
           threads_apart(m->apart, a->site, b->site, all);
}

static bool same_place(const Access1 *a, const Access1 *b)
{
    const Stmt *iter = a->iter ? a->iter : b->iter;

    if (a->n != b->n)
        return false;
    for (int d = 0; d < a->n; d++)
        if (a->at[d] != b->at[d] || expr_has_load(a->at[d]) ||
            (iter && has_var_of(a->at[d], iter)))
            return false;
    return true;
}

/* One of them in an earlier iteration, at an index that is the number of the iteration. */
static bool apart_by_iter(const Access1 *a, const Access1 *b)
{
    const Stmt *iter = a->iter ? a->iter : b->iter;

    if (!iter || iter->kind != ST_FOR || (a->iter && b->iter) || a->n != b->n)
        return false;
    for (int d = 0; d < a->n; d++)
        if (a->at[d] == b->at[d] && a->at[d]->op == EX_VAR &&
            a->at[d]->u.var == iter->u.loop.var)
            return true;
    return false;
}

static bool conflict(const Sync *m, const Access1 *a, const Access1 *b)
{
    if (a->buf != b->buf || ((a->how | b->how) == TOUCH_READ) ||
        ((a->how & b->how) == TOUCH_ATOMIC) || apart_by_iter(a, b) || by_thread(m, a, b))
        return false;
    /* A thread that finds only what all wrote alike need not wait. */
    return !same_place(a, b) || a->astray || b->astray || ((a->how | b->how) & TOUCH_ATOMIC);
}

static const ThreadSite *site_of(Sync *m, const Expr *const *at, int n)
{
    ThreadSite *t = map_get(m->sites, at);

    if (!t) {
        t = NEW(m->ir->arena, ThreadSite);
        *t = (ThreadSite){at, n, NULL};
        map_set(m->sites, at, t);
    }
    return t;
}

static void gather(Sync *m, Accesses *out, const Touch *t, int how)
{
    const Buffer *b = t->buf;
    const Expr *const *at = t->region ? t->region->at : t->at;
    int n = t->region ? b->rank : t->n;

    if (buffer_root(b)->scope == MEM_SHARED) {
        Access1 a = {.buf = buffer_root(b), .at = at, .n = n, .view = b, .how = how,
                     .astray = m->astray};
        if ((how & (TOUCH_READ | TOUCH_WRITE)) != (TOUCH_READ | TOUCH_WRITE) && !t->region &&
            dtype_bits(b->type) >= 8)
            a.site = site_of(m, at, n);
        vec_push(m->ir->arena, out, a);
    }
}

typedef struct {
    Sync *m;
    Accesses *out;
    bool loads; /* those alone */
} Gather;

static void gather_touch(void *arg, const Stmt *s, const Touch *t)
{
    Gather *g = arg;
    bool reads = t->region && t->how == ACC_READ; /* as operands of a product are */
    int how = s->kind == ST_ATOMIC && !t->expr ? TOUCH_ATOMIC
              : reads ? TOUCH_READ
              : t->region || t->how & ACC_ADDRESS ? TOUCH_READ | TOUCH_WRITE
              : t->expr ? TOUCH_READ : TOUCH_WRITE;

    if ((!g->loads || t->expr) && (!t->region || s->kind == ST_TILE))
        gather(g->m, g->out, t, how);
}

static bool is_known(const Accesses *all, const Access1 *a)
{
    for (int i = 0; i < all->n; i++) {
        const Access1 *b = &all->at[i];
        bool same = a->buf == b->buf && a->how == b->how && a->astray == b->astray &&
                    a->iter == b->iter && a->n == b->n;
        for (int d = 0; same && d < a->n; d++)
            same = a->at[d] == b->at[d];
        if (same)
            return true;
    }
    return false;
}

static void open_all(Sync *m, const Accesses *more, const Stmt *iter)
{
    for (int i = 0; i < more->n; i++) {
        Access1 a = more->at[i];
        a.iter = iter ? iter : a.iter;
        if (!is_known(&m->open, &a))
            vec_push(m->ir->arena, &m->open, a);
    }
}

/* A step with these accesses comes: must the threads synchronise before it? */
static bool must_sync(Sync *m, const Accesses *of)
{
    bool needed = false;
    for (int i = 0; i < of->n && !needed; i++)
        for (int k = 0; k < m->open.n && !needed; k++)
            needed = conflict(m, &of->at[i], &m->open.at[k]);
    if (needed)
        m->open.n = 0;
    open_all(m, of, NULL);
    return needed;
}

static const Stmt *added_sync(const Sync *m, Span at)
{
    return stmt_call_mark(m->ir, stmt_sync(m->ir, at), MARK_ADDED);
}

static const Stmt *sync_stmt(void *sync, const Stmt *s);

static Sync fork_of(const Sync *m)
{
    Sync f = *m;
    f.open = (Accesses){0};
    open_all(&f, &m->open, NULL);
    return f;
}

/* One iteration, and what a condition after it reads. */
static const Stmt *sync_iter(Sync *m, const Stmt *body, const Accesses *after)
{
    const Stmt *s = sync_stmt(m, body);
    return must_sync(m, after) ? stmt_seq(m->ir, s, added_sync(m, s->span)) : s;
}

/* What one iteration leaves open comes before the next: the body is gone through once to see it,
 * then in earnest. */
static const Stmt *sync_loop(Sync *m, const Stmt *loop, const Stmt *body, const Accesses *after)
{
    Accesses all = {0};

    m->depth++;
    if (m->depth > LOOK_DEPTH) { /* it may have left open whatever it touches */
        stmt_touches_all(body, gather_touch, &(Gather){m, &all, false});
        open_all(m, &all, loop);
    } else {
        Sync look = fork_of(m);
        sync_iter(&look, body, after);
        open_all(m, &look.open, loop);
    }
    const Stmt *s = sync_iter(m, body, after);
    m->depth--;
    return s;
}

static const Stmt *sync_if(Sync *m, const Stmt *s)
{
    Sync other = fork_of(m);

    const Stmt *then = sync_stmt(m, s->u.branch.then);
    const Stmt *orelse = s->u.branch.orelse ? sync_stmt(&other, s->u.branch.orelse) : NULL;
    open_all(m, &other.open, NULL);
    if (then == s->u.branch.then && orelse == s->u.branch.orelse)
        return s;
    return stmt_if(m->ir, s->span, s->u.branch.cond, then, orelse);
}

/* A statement that the block does as a whole is itself a barrier. */
static bool is_barrier(const Stmt *s)
{
    if (s->kind == ST_CALL)
        return s->u.call.which == INTRIN_SYNC_THREADS || s->u.call.which == INTRIN_SYNC_GRID;
    bool collective = s->kind == ST_TILE || stmt_is_nest(s);
    return collective && !stmt_is_private(s);
}

/* All threads enter it, and a barrier may stand inside. */
static bool is_entered(Vary *v, const Stmt *s)
{
    if (s->kind == ST_FOR)
        return (s->u.loop.how == LOOP_SERIAL || s->u.loop.how == LOOP_UNROLL ||
                s->u.loop.how == LOOP_PIPELINED) &&
               !vary_head(v, s);
    return (s->kind == ST_IF || s->kind == ST_WHILE) && !vary_head(v, s);
}

static const Stmt *sync_inside(Sync *m, const Stmt *s, const Accesses *head)
{
    static const Accesses nothing;

    if (s->kind == ST_IF)
        return sync_if(m, s);
    if (s->kind == ST_WHILE) {
        const Stmt *body = sync_loop(m, s, s->u.branch.then, head);
        return body == s->u.branch.then ? s : stmt_with_body(m->ir, s, body);
    }
    const Stmt *body = sync_loop(m, s, s->u.loop.body, &nothing);
    return body == s->u.loop.body ? s : stmt_with_body(m->ir, s, body);
}

static bool has_barrier(const Stmt *s, void *arg)
{
    (void)arg;
    return is_barrier(s);
}

/* A loop whose iterations need no barrier between them: there is one before it, for all it
 * sites. */
static bool syncs_before(Sync *m, const Stmt *loop, Accesses *of)
{
    static const Accesses nothing;
    Sync alone = *m;

    alone.open = (Accesses){0};
    if (m->depth >= LOOK_DEPTH || stmt_any(loop->u.loop.body, has_barrier, NULL) ||
        sync_inside(&alone, loop, &nothing) != loop)
        return false;
    *of = alone.open;
    for (int i = 0; i < of->n; i++)
        of->at[i].iter = NULL;
    return true;
}

/* The threads of a role among themselves. */
static const Stmt *sync_role(const Sync *m, const Stmt *s)
{
    Sync own = *m;

    own.open = (Accesses){0};
    const Stmt *body = sync_stmt(&own, s->u.role.body);
    return body == s->u.role.body ? s : stmt_with_body(m->ir, s, body);
}

static const Stmt *sync_stmt(void *sync, const Stmt *s)
{
    Sync *m = sync;
    Accesses of = {0}, inside = {0};

    if (s->kind == ST_BLOCK)
        return stmt_map_kids(m->ir, s, sync_stmt, m);
    if (is_barrier(s)) {
        m->open.n = 0;
        return s;
    }
    bool entered = is_entered(m->v, s);
    m->astray = !entered && (s->kind == ST_FOR || s->kind == ST_IF || s->kind == ST_WHILE ||
                             s->kind == ST_ROLE);
    if (entered)
        stmt_touches(s, gather_touch, &(Gather){m, &of, true});
    else
        stmt_touches_all(s, gather_touch, &(Gather){m, &of, false});
    m->astray = false;
    bool needed = must_sync(m, &of);
    if (entered && s->kind == ST_FOR && syncs_before(m, s, &inside)) {
        needed |= must_sync(m, &inside);
        return needed ? stmt_seq(m->ir, added_sync(m, s->span), s) : s;
    }
    const Stmt *r = entered ? sync_inside(m, s, &of) : s->kind == ST_ROLE ? sync_role(m, s) : s;
    return needed ? stmt_seq(m->ir, added_sync(m, s->span), r) : r;
}

static bool is_hand_made(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_BARRIER_ARRIVE) ||
           (s->kind == ST_CALL && s->u.call.nregion > 0) ||
           (stmt_calls(s, INTRIN_SYNC_THREADS) && s->u.call.n > 0);
}

void trace_thread_body(Kernel *k)
{
    Vary v;

    if (!k->uses_threads || !k->body)
        return;
    vary_learn(&v, k, NULL);
    k->body = wrap(&v, k->body);
    bool by_hand = stmt_any(k->body, is_hand_made, NULL);
    if (!by_hand) {
        Map sites;
        map_init(&sites, k->scratch);
        Sync m = {.v = &v, .ir = k->ir, .apart = apart_new(k), .sites = &sites};
        k->body = sync_stmt(&m, k->body);
    }
    k->threads_sync = !by_hand;
}
