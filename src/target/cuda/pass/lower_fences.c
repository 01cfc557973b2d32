/* lower_fences.c -- fences between ordinary stores and the asynchronous proxy.
 *
 * needs   FORM_SYNCED
 *
 * Matrix instructions of warpgroups and bulk stores read shared memory through another proxy.  What
 * threads stored there is seen by it only after a fence of the writer and a barrier; the barrier is
 * there already (lower_sync), so the fence stands before every barrier that such a store may
 * reach with no other fence in between, and that such a read may follow with no other barrier in
 * between.  A bulk load into a tile that threads stored to or read, or that shares bytes with one,
 * is such a read too: it must not be overtaken by those stores, nor overtake those reads, which a
 * barrier does not wait for.  Where the kernel has a fence of its own there is none to add.
 *
 * What threads store to a tensor that bulk stores go to as well is rare, and followed by a fence at
 * once. */
#include "pass/pass.h"
#include "pass/plan_shared.h"
#include "isa/isa.h"

typedef struct {
    Kernel *k;
    Map read;    /* by the asynchronous proxy: root buffers */
    Map over;    /* tiles of bulk loads that go over what threads wrote or read */
    Map written; /* by threads */
    Map loaded;  /* by threads, shared memory */
    Map lost;    /* of these, what bulk loads go over */
    Map last;    /* barriers with no other before such a read */
    Map soon[2]; /* of a loop, by what comes after it: whether such a read comes, and 1 */
    bool inside; /* of what a fence follows */
    bool dirty;  /* a store was passed and no fence since */
    struct { bool out, next; } soon_at, dirty_at; /* of the loop around: behind it, at its next
                                                     iteration, for what leaves on the way */
} Proxy;

static bool is_load(const Stmt *s)
{
    return s->u.instr.isa->done == DONE_AT_BARRIER;
}

static bool is_async(const Proxy *p, const Stmt *s)
{
    return s->u.instr.isa->proxy == PROXY_ASYNC &&
           (!is_load(s) || map_has(&p->over, buffer_root(s->u.instr.region[0].buf)));
}

/* Bulk loads over what threads touched: to the fences those tiles are read. */
static bool see_load(const Stmt *s, void *arg)
{
    Proxy *p = arg;

    if (s->kind != ST_INSTR || !is_load(s))
        return true;
    const Buffer *b = buffer_root(s->u.instr.region[0].buf);
    for (int i = 0; i < p->k->buffers.n; i++) {
        const Buffer *o = p->k->buffers.at[i];
        bool written = map_has(&p->written, o), loaded = map_has(&p->loaded, o);
        if (o->view_of || !(written || loaded) || (o != b && !buffers_share(p->k, b, o)))
            continue;
        map_set(&p->over, b, s);
        if (written)
            map_set(&p->read, o, s);
        if (loaded)
            map_set(&p->lost, o, s);
    }
    return true;
}

static bool is_memory(const Buffer *b)
{
    return b->scope == MEM_SHARED || b->scope == MEM_GLOBAL;
}

static bool see_element(const Expr *e, void *arg)
{
    Proxy *p = arg;
    if (e->op == EX_LOAD && e->u.buf->scope == MEM_SHARED)
        map_set(&p->loaded, buffer_root(e->u.buf), e);
    return true;
}

static bool see(const Stmt *s, void *arg)
{
    Proxy *p = arg;

    if (s->kind != ST_BLOCK)
        stmt_visit_expr(s, see_element, p);
    if (s->kind == ST_STORE && is_memory(s->u.store.buf))
        map_set(&p->written, buffer_root(s->u.store.buf), s);
    if (s->kind == ST_ATOMIC && is_memory(s->u.atomic.buf))
        map_set(&p->written, buffer_root(s->u.atomic.buf), s);
    if (s->kind != ST_INSTR)
        return true;
    for (int i = 0; i < s->u.instr.nregion; i++) {
        const Buffer *b = s->u.instr.region[i].buf;
        if (!is_memory(b))
            continue;
        if (is_async(p, s) && (s->u.instr.isa->effects[i] != 'w') == (b->scope == MEM_SHARED))
            map_set(&p->read, buffer_root(b), s);
        if (s->u.instr.isa->proxy == PROXY_GENERIC && s->u.instr.isa->effects[i] != 'r')
            map_set(&p->written, buffer_root(b), s);
        if (s->u.instr.isa->proxy == PROXY_GENERIC && s->u.instr.isa->effects[i] != 'w' &&
            b->scope == MEM_SHARED)
            map_set(&p->loaded, buffer_root(b), s);
    }
    return true;
}

static bool is_barrier(const Stmt *s)
{
    return stmt_calls(s, INTRIN_SYNC_THREADS);
}

/* Others may go on behind a barrier in memory, and other blocks where those of a cluster meet: a
 * barrier of one block that comes after is too late for what they read of it. */
static bool is_arrival(const Stmt *s)
{
    return stmt_calls(s, INTRIN_ARRIVE) || stmt_calls(s, INTRIN_BARRIER_ARRIVE) ||
           stmt_calls(s, INTRIN_CLUSTER_ARRIVE) || stmt_calls(s, INTRIN_CLUSTER_SYNC);
}

/* A store to memory that the asynchronous proxy reads, or a tensor that it writes. */
static bool is_such_store(const Proxy *p, const Stmt *s, MemScope scope)
{
    if (s->kind == ST_STORE || s->kind == ST_ATOMIC) {
        const Buffer *b = s->kind == ST_STORE ? s->u.store.buf : s->u.atomic.buf;
        return b->scope == scope && map_has(&p->read, buffer_root(b));
    }
    if (s->kind != ST_INSTR || s->u.instr.isa->proxy == PROXY_ASYNC)
        return false;
    for (int i = 0; i < s->u.instr.nregion; i++)
        if (s->u.instr.isa->effects[i] != 'r' && s->u.instr.region[i].buf->scope == scope &&
            map_has(&p->read, buffer_root(s->u.instr.region[i].buf)))
            return true;
    return false;
}

typedef struct {
    const Proxy *p;
    bool found;
} FindLost;

static bool find_lost(const Expr *e, void *arg)
{
    FindLost *l = arg;
    l->found |= e->op == EX_LOAD && map_has(&l->p->lost, buffer_root(e->u.buf));
    return !l->found;
}

/* A thread reads, in the statement itself, what a bulk load may go over. */
static bool is_such_load(const Proxy *p, const Stmt *s)
{
    FindLost l = {p, false};

    if (p->lost.n == 0 || s->kind == ST_BLOCK)
        return false;
    stmt_visit_expr(s, find_lost, &l);
    bool generic = s->kind == ST_INSTR && s->u.instr.isa->proxy == PROXY_GENERIC;
    for (int i = 0; generic && i < s->u.instr.nregion; i++)
        l.found |= s->u.instr.isa->effects[i] != 'w' &&
                   map_has(&p->lost, buffer_root(s->u.instr.region[i].buf));
    return l.found;
}

typedef struct {
    const Proxy *p;
    bool syncs, reads; /* a barrier of some threads, a read by the asynchronous proxy */
    bool stores;       /* to such a tensor */
} Found;

static bool see_unit(const Stmt *s, void *arg)
{
    Found *f = arg;
    f->syncs |= is_barrier(s) || is_arrival(s) || (s->kind == ST_INSTR && is_async(f->p, s));
    f->stores |= is_such_store(f->p, s, MEM_GLOBAL);
    return true;
}

/* All of it is stored before anybody may go on: a loop over the slots of a thread, say. */
static bool stores_tensor(const Proxy *p, const Stmt *s)
{
    Found f = {p, false, false, false};
    stmt_visit(s, see_unit, &f);
    return f.stores && !f.syncs;
}

static bool see_group(const Stmt *s, void *arg)
{
    Found *f = arg;
    f->syncs |= is_barrier(s) && s->u.call.n > 0;
    f->reads |= s->kind == ST_INSTR && is_async(f->p, s);
    return true;
}

/* Barriers inside are not reached by all who wrote before. */
static bool group_reads(const Proxy *p, const Stmt *s)
{
    Found f = {p, s->kind == ST_ROLE, false, false};
    stmt_visit(s, see_group, &f);
    return f.syncs && f.reads;
}

/* Backwards: does a read by the asynchronous proxy come before the next barrier?  soon: at the end
 * of s; returns the same at its start. */
static bool find_last(Proxy *p, const Stmt *s, bool soon);

/* A body is read twice, for the end of an iteration comes before the next: a nest would be read
 * twice as often with every loop if what was found were not kept. */
static bool find_last_in_loop(Proxy *p, const Stmt *s, bool soon)
{
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then;
    intptr_t known = (intptr_t)map_get(&p->soon[soon], s);
    bool out = p->soon_at.out, next = p->soon_at.next;

    if (known)
        return known - 1;
    p->soon_at.out = p->soon_at.next = soon;
    bool again = find_last(p, body, soon) || soon;
    p->soon_at.next = again;
    bool found = find_last(p, body, again) || soon;
    p->soon_at.out = out;
    p->soon_at.next = next;
    map_set(&p->soon[soon], s, (void *)(intptr_t)(found + 1));
    return found;
}

static bool find_last(Proxy *p, const Stmt *s, bool soon)
{
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = s->u.block.n - 1; i >= 0; i--)
            soon = find_last(p, s->u.block.list[i], soon);
        return soon;
    case ST_FOR:
    case ST_WHILE: return find_last_in_loop(p, s, soon);
    case ST_IF: {
        bool other = s->u.branch.orelse ? find_last(p, s->u.branch.orelse, soon) : soon;
        return find_last(p, s->u.branch.then, soon) || other || group_reads(p, s);
    }
    case ST_ROLE: return find_last(p, s->u.role.body, soon) || soon || group_reads(p, s);
    case ST_INSTR: return soon || is_async(p, s);
    case ST_BREAK: return p->soon_at.out;
    case ST_CONTINUE: return p->soon_at.next;
    default: break;
    }
    if (!is_barrier(s))
        return soon;
    if (soon)
        map_set(&p->last, s, s);
    return false;
}

static const Stmt *fence(Ir *ir, Span at, const char *of)
{
    return stmt_call(ir, at, INTRIN_FENCE_PROXY, 0, NULL, 0, NULL, of, NULL);
}

static const Stmt *walk(void *proxy, const Stmt *s);

static const Stmt *walk_if(Proxy *p, const Stmt *s)
{
    bool before = p->dirty;
    const Stmt *then = walk(p, s->u.branch.then), *orelse = NULL;
    bool after = p->dirty;

    p->dirty = before;
    if (s->u.branch.orelse)
        orelse = walk(p, s->u.branch.orelse);
    p->dirty |= after;
    return stmt_if(p->k->ir, s->span, s->u.branch.cond, then, orelse);
}

/* The body of a loop may start with what its end left, or what was left on the way. */
static const Stmt *walk_loop(Proxy *p, const Stmt *s)
{
    Ir *ir = p->k->ir;
    bool before = p->dirty, out = p->dirty_at.out, next = p->dirty_at.next;

    p->dirty_at.out = p->dirty_at.next = false;
    const Stmt *r = stmt_map_kids(ir, s, walk, p);
    p->dirty |= p->dirty_at.next;
    if (p->dirty && !before) {
        r = stmt_map_kids(ir, s, walk, p);
        p->dirty = true;
    }
    p->dirty |= before || p->dirty_at.out; /* it may not run at all */
    p->dirty_at.out = out;
    p->dirty_at.next = next;
    return r;
}

/* A branch may leave what either side did. */
static const Stmt *walk_shared(Proxy *p, const Stmt *s)
{
    Ir *ir = p->k->ir;

    p->dirty |= is_such_load(p, s);
    bool before = p->dirty;
    if (s->kind == ST_IF)
        return walk_if(p, s);
    if (s->kind == ST_BLOCK)
        return stmt_map_kids(ir, s, walk, p);
    if (s->kind == ST_FOR || s->kind == ST_WHILE)
        return walk_loop(p, s);
    if (s->kind == ST_ROLE) {
        const Stmt *r = stmt_map_kids(ir, s, walk, p);
        p->dirty |= before; /* not run by those who wrote */
        return r;
    }
    p->dirty_at.out |= s->kind == ST_BREAK && p->dirty;
    p->dirty_at.next |= s->kind == ST_CONTINUE && p->dirty;
    if (stmt_calls(s, INTRIN_FENCE_PROXY))
        p->dirty = false;
    p->dirty |= is_such_store(p, s, MEM_SHARED);
    if (!p->dirty || !(is_arrival(s) || (is_barrier(s) && map_has(&p->last, s))))
        return s;
    p->dirty = false;
    return stmt_seq(ir, fence(ir, s->span, NULL), s);
}

static const Stmt *walk(void *proxy, const Stmt *s)
{
    Proxy *p = proxy;
    Ir *ir = p->k->ir;

    if (p->inside || s->kind == ST_BLOCK || !stores_tensor(p, s))
        return walk_shared(p, s);
    p->inside = true;
    s = walk_shared(p, s);
    p->inside = false;
    return stmt_seq(ir, s, fence(ir, s->span, ir_name(ir, "tensors")));
}

void pass_lower_fences(Kernel *k)
{
    Proxy p = {.k = k};

    map_init(&p.loaded, k->scratch);
    map_init(&p.lost, k->scratch);
    map_init(&p.read, k->scratch);
    map_init(&p.written, k->scratch);
    map_init(&p.over, k->scratch);
    stmt_visit(k->body, see, &p);
    stmt_visit(k->body, see_load, &p);
    bool conflict = p.lost.n > 0;
    for (int i = 0; i < p.read.n; i++)
        conflict |= p.read.at[i].key && map_has(&p.written, p.read.at[i].key);
    if (!conflict)
        return;
    map_init(&p.last, k->scratch);
    map_init(&p.soon[0], k->scratch);
    map_init(&p.soon[1], k->scratch);
    find_last(&p, k->body, false);
    k->body = walk(&p, k->body);
}
