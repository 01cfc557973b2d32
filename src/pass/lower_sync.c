/* lower_sync.c -- barriers between accesses of shared memory that may conflict.
 *
 * needs   FORM_FLAT
 * gives   FORM_SYNCED
 *
 * The body is read as a sequence of units: a statement, a loop over slots, an if that depends on
 * the thread.  A unit that reads what was written since the last barrier, or writes what was read
 * or written, gets one before it.  Barriers stand only where all threads come by: never inside an
 * if that depends on the thread.  A loop is read twice, so that what its end leaves meets its
 * start.
 * A copy in flight is nobody's to touch, so it meets only what came before it; the wait for it
 * makes it a write.
 * Roles of a kernel that has barriers of its own meet there, not here. */
#include "pass/pass.h"
#include "isa/isa.h"

typedef struct {
    Map read, written; /* root buffers since the last barrier */
    Map issued;        /* copies into them are in flight, whatever barriers there were */
    bool waits;        /* for copies */
} Pending;

typedef struct {
    Kernel *k;
    Ir *ir;
    Pending p;
    Pending roles; /* what roles did since; they meet by barriers that the kernel names */
    bool by_hand;  /* there are such barriers */
    Map vary;    /* variables whose value may differ between threads */
    bool insert; /* false: only follow what happens */
} Sync;

static bool is_shared(const Buffer *b)
{
    return buffer_root(b)->scope == MEM_SHARED;
}

static void pending_init(Pending *p, Arena *a)
{
    map_init(&p->read, a);
    map_init(&p->written, a);
    map_init(&p->issued, a);
    p->waits = false;
}

static void join(Map *into, const Map *from)
{
    for (int i = 0; i < from->n; i++)
        if (from->at[i].key)
            map_set(into, from->at[i].key, from->at[i].key);
}

static void join_all(Pending *into, const Pending *from)
{
    join(&into->read, &from->read);
    join(&into->written, &from->written);
    join(&into->issued, &from->issued);
}

/* What is left after a barrier. */
static void settle(Pending *p, Arena *a)
{
    map_init(&p->read, a);
    map_init(&p->written, a);
}

/* ---- what a unit touches --------------------------------------------------------------------- */

static bool touch_load(const Expr *e, void *arg)
{
    Pending *p = arg;
    if ((e->op == EX_LOAD || e->op == EX_ADDR) && is_shared(e->u.buf)) {
        map_set(&p->read, buffer_root(e->u.buf), e);
        if (e->op == EX_ADDR)
            map_set(&p->written, buffer_root(e->u.buf), e);
    }
    return true;
}

static void touch_regions(Pending *p, int n, const Region *r, const char *effects)
{
    for (int i = 0; i < n; i++) {
        if (!is_shared(r[i].buf))
            continue;
        if (effects[i] != 'w')
            map_set(&p->read, buffer_root(r[i].buf), r);
        if (effects[i] != 'r')
            map_set(&p->written, buffer_root(r[i].buf), r);
    }
}

static bool touch_stmt(const Stmt *s, void *arg)
{
    Pending *p = arg;

    stmt_visit_expr(s, touch_load, arg);
    if (s->kind == ST_STORE && is_shared(s->u.store.buf))
        map_set(s->u.store.async ? &p->issued : &p->written, buffer_root(s->u.store.buf), s);
    if (s->kind == ST_CALL &&
        (s->u.call.which == INTRIN_WAIT_GROUP || s->u.call.which == INTRIN_CP_ASYNC_BARRIER))
        p->waits = true;
    if (s->kind == ST_ATOMIC && is_shared(s->u.atomic.buf))
        map_set(&p->written, buffer_root(s->u.atomic.buf), s);
    if (s->kind == ST_INSTR)
        touch_regions(p, s->u.instr.nregion, s->u.instr.region, s->u.instr.isa->effects);
    return true;
}

static bool meets(const Map *a, const Map *b)
{
    for (int i = 0; i < a->n; i++)
        if (a->at[i].key && map_has(b, a->at[i].key))
            return true;
    return false;
}

static bool is_barrier(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_THREADS && s->u.call.n == 0;
}

static const Stmt *barrier(Ir *ir, Span at)
{
    return stmt_call(ir, at, INTRIN_SYNC_THREADS, 0, NULL, 0, NULL, NULL, NULL);
}

static bool conflicts(const Pending *u, const Pending *before)
{
    return meets(&u->read, &before->written) || meets(&u->written, &before->written) ||
           meets(&u->written, &before->read) || meets(&u->issued, &before->written) ||
           meets(&u->issued, &before->read);
}

/* A barrier before s if what `u` touches meets what is pending, else NULL. */
static const Stmt *meet_first(Sync *y, const Stmt *s, const Pending *u)
{
    if (!conflicts(u, &y->p) && !conflicts(u, &y->roles))
        return NULL;
    settle(&y->p, y->ir->arena);
    settle(&y->roles, y->ir->arena);
    return y->insert ? barrier(y->ir, s->span) : NULL;
}

/* One unit: a barrier first if it meets what is pending. */
static const Stmt *unit(Sync *y, const Stmt *s)
{
    Pending u;

    pending_init(&u, y->ir->arena);
    stmt_visit(s, touch_stmt, &u);
    const Stmt *first = meet_first(y, s, &u);
    join_all(&y->p, &u);
    if (u.waits)
        join(&y->p.written, &y->p.issued);
    return stmt_seq(y->ir, first, s);
}

/* ---- where barriers may stand ---------------------------------------------------------------- */

typedef struct {
    Sync *y;
    bool yes;
} Depends;

static bool see_thread(const Expr *e, void *arg)
{
    Depends *d = arg;
    if (e->op == EX_VAR && map_has(&d->y->vary, e->u.var))
        d->yes = true;
    if (e->op == EX_LOAD && e->u.buf->scope != MEM_GLOBAL && e->u.buf->scope != MEM_SHARED)
        d->yes = true; /* a register may differ */
    return true;
}

static bool on_thread(Sync *y, const Expr *e)
{
    Depends d = {y, false};
    expr_visit(e, see_thread, &d);
    return d.yes;
}

/* In the order of the program, so that one such variable makes another. */
static bool see_binding(const Stmt *s, void *arg)
{
    Sync *y = arg;
    if (s->kind == ST_LET && on_thread(y, s->u.let.value))
        map_set(&y->vary, s->u.let.var, s);
    if (s->kind == ST_FOR && (on_thread(y, s->u.loop.min) || on_thread(y, s->u.loop.extent)))
        map_set(&y->vary, s->u.loop.var, s);
    if (s->kind == ST_CALL && s->u.call.bind)
        map_set(&y->vary, s->u.call.bind, s);
    if (s->kind == ST_ATOMIC && s->u.atomic.bind)
        map_set(&y->vary, s->u.atomic.bind, s);
    return true;
}

/* A loop over slots is one nest of independent iterations; any other loop is one unit only if no
 * shared memory is written in it. */
static bool is_unit(Sync *y, const Stmt *s)
{
    Pending u;

    if (s->kind == ST_BLOCK || s->kind == ST_WHILE || (s->kind == ST_ROLE && y->by_hand))
        return false;
    if (s->kind == ST_IF)
        return on_thread(y, s->u.branch.cond);
    if (s->kind != ST_FOR || hint_find(s->u.loop.hints, "slots") || on_thread(y, s->u.loop.extent))
        return true;
    pending_init(&u, y->ir->arena);
    stmt_visit(s->u.loop.body, touch_stmt, &u);
    return u.written.n == 0 && u.issued.n == 0 && !u.waits;
}

static const Stmt *sync_stmt(Sync *y, const Stmt *s);

static const Stmt *sync_block(Sync *y, const Stmt *s)
{
    const Stmt **list = NEWN(y->ir->arena, const Stmt *, s->u.block.n);

    for (int i = 0; i < s->u.block.n; i++)
        list[i] = sync_stmt(y, s->u.block.list[i]);
    return stmt_block(y->ir, s->span, s->u.block.n, list);
}

/* What the end of a turn leaves pending is pending at the start of the next. */
static const Stmt *sync_loop(Sync *y, const Stmt *body)
{
    Pending before;
    bool insert = y->insert;

    pending_init(&before, y->ir->arena);
    join_all(&before, &y->p);
    y->insert = false;
    sync_stmt(y, body);
    y->insert = insert;
    join_all(&y->p, &before);
    body = sync_stmt(y, body);
    join_all(&y->p, &before); /* the loop may run no turn at all */
    return body;
}

/* Bounds of a loop, condition of a while or an if: read by all threads before what is in it. */
static const Stmt *sync_head(Sync *y, const Stmt *s)
{
    Pending u;

    pending_init(&u, y->ir->arena);
    stmt_visit_expr(s, touch_load, &u);
    const Stmt *first = meet_first(y, s, &u);
    join_all(&y->p, &u);
    return first;
}

static const Stmt *sync_for(Sync *y, const Stmt *s)
{
    const Stmt *first = sync_head(y, s);
    s = stmt_for(y->ir, s->span, s->u.loop.how, s->u.loop.var, s->u.loop.min, s->u.loop.extent,
                 s->u.loop.hints, sync_loop(y, s->u.loop.body));
    return stmt_seq(y->ir, first, s);
}

/* The condition is read again after each turn. */
static const Stmt *sync_while(Sync *y, const Stmt *s)
{
    const Stmt *first = sync_head(y, s), *body = sync_loop(y, s->u.branch.then);
    const Stmt *last = sync_head(y, s);

    body = stmt_seq(y->ir, body, last);
    return stmt_seq(y->ir, first, stmt_while(y->ir, s->span, s->u.branch.cond, body));
}

/* What an arm meets is met before the if: past it, it would have to be met again. */
static const Stmt *sync_branch(Sync *y, const Stmt *s)
{
    Pending before, u;

    pending_init(&u, y->ir->arena);
    stmt_visit(s, touch_stmt, &u);
    const Stmt *first = meet_first(y, s, &u);
    stmt_visit_expr(s, touch_load, &y->p);
    pending_init(&before, y->ir->arena);
    join_all(&before, &y->p);
    const Stmt *then = sync_stmt(y, s->u.branch.then);
    Pending after = y->p;
    y->p = before;
    const Stmt *orelse = s->u.branch.orelse ? sync_stmt(y, s->u.branch.orelse) : NULL;
    join_all(&y->p, &after);
    s = stmt_if(y->ir, s->span, s->u.branch.cond, then, orelse);
    return stmt_seq(y->ir, first, s);
}

/* The threads of a role meet among themselves inside it; before it all meet if they must. */
static const Stmt *sync_role(Sync *y, const Stmt *s)
{
    Ir *ir = y->ir;
    Pending u, outer = y->p, roles = y->roles;
    const Stmt *before = NULL;

    if (strcmp(s->u.role.name, "producer") == 0) /* one thread, and rings */
        return s;
    pending_init(&u, ir->arena);
    stmt_visit(s->u.role.body, touch_stmt, &u);
    if (conflicts(&u, &outer)) {
        before = barrier(ir, s->span);
        settle(&outer, ir->arena);
        settle(&roles, ir->arena);
    }
    pending_init(&y->p, ir->arena);
    pending_init(&y->roles, ir->arena);
    const Stmt *body = sync_stmt(y, s->u.role.body);
    y->p = outer;
    y->roles = roles;
    join_all(&y->roles, &u);
    s = stmt_role(ir, s->span, s->u.role.name, s->u.role.nthread, s->u.role.thread, body);
    return before && y->insert ? stmt_seq(ir, before, s) : s;
}

static const Stmt *sync_stmt(Sync *y, const Stmt *s)
{
    Ir *ir = y->ir;

    if (is_barrier(s)) {
        settle(&y->p, ir->arena);
        settle(&y->roles, ir->arena);
        return s;
    }
    if (is_unit(y, s))
        return unit(y, s);
    switch (s->kind) {
    case ST_BLOCK:
        return sync_block(y, s);
    case ST_FOR:
        return sync_for(y, s);
    case ST_ROLE:
        return sync_role(y, s);
    case ST_WHILE:
        return sync_while(y, s);
    default:
        return sync_branch(y, s);
    }
}

void pass_lower_sync(Kernel *k)
{
    Sync y = {.k = k, .ir = k->ir, .insert = true};

    pending_init(&y.p, k->ir->arena);
    pending_init(&y.roles, k->ir->arena);
    for (int i = 0; i < k->buffers.n; i++)
        y.by_hand |= k->buffers.at[i]->scope == MEM_BARRIER ||
                     k->buffers.at[i]->scope == MEM_CLUSTER_BARRIER;
    map_init(&y.vary, k->ir->arena);
    for (int d = 0; d < 3; d++)
        if (k->thread[d])
            map_set(&y.vary, k->thread[d], k);
    stmt_visit(k->body, see_binding, &y);
    k->body = sync_stmt(&y, k->body);
}
