/* proofs_order.c -- for `tl prove`: what orders two accesses of shared memory.
 *
 * Read from the body as lower_sync leaves it, and apart from it: accesses are followed along the
 * paths of the body, loops for a few iterations.  A barrier orders all that was done before it by
 * those who come to it; what is asynchronous has to land first: its group is waited for, or the
 * barrier in memory where it completes.  After a branch or a loop that may not run only that is
 * ordered which is so on both ways.  Threads that are parted by their index run side by side;
 * between them barriers in memory and named ones order: who arrives there after an access, and who
 * waits there before one.  Which phase is meant is not looked at: the simulator does. */
#include "pass/proofs_order.h"

enum { STEPS_MOST = 400000, WALKS_ASYNC = 6, WALKS = 3, SAME_MOST = 6 };

/* ---- barriers -------------------------------------------------------------------------------- */

static int key_of(Order *o, const Buffer *bar)
{
    int n = (int)(intptr_t)map_get(&o->keys, buffer_root(bar));

    if (!n && o->keys.n < KEYS_MOST) {
        n = o->keys.n + 1;
        map_set(&o->keys, buffer_root(bar), (void *)(intptr_t)n);
        o->key_name[n - 1] = arena_printf(o->k->ir->arena, "the barrier '%s'",
                                          buffer_root(bar)->name);
    }
    return n - 1;
}

/* The number of a named barrier that s is about; -1: it is about none, or not known. */
static int named_key(Order *o, const Stmt *s)
{
    int64_t id;
    bool named = stmt_calls(s, INTRIN_SYNC_THREADS) || stmt_calls(s, INTRIN_BARRIER_ARRIVE);

    if (!named || s->u.call.n < 1 || !expr_is_int(s->u.call.arg[0], &id) || id < 0 ||
        id >= KEYS_ALL - KEY_NAMED)
        return -1;
    o->key_name[KEY_NAMED + id] = arena_printf(o->k->ir->arena, "the named barrier %d", (int)id);
    return KEY_NAMED + (int)id;
}

static int call_key(Order *o, const Stmt *s)
{
    if (stmt_calls(s, INTRIN_CLUSTER_ARRIVE) || stmt_calls(s, INTRIN_CLUSTER_WAIT)) {
        o->key_name[KEY_CLUSTER] = "the barrier of the cluster";
        return KEY_CLUSTER;
    }
    for (int i = 0; i < s->u.call.nregion; i++)
        if (buffer_root(s->u.call.region[i].buf)->scope == MEM_BARRIER)
            return key_of(o, s->u.call.region[i].buf);
    return named_key(o, s);
}

/* Does every thread of the block come to it? */
static bool is_of_block(const Order *o, const Stmt *s)
{
    int64_t n;

    if (!strchr(intrin_table[s->u.call.which].effects, 'B') ||
        stmt_calls(s, INTRIN_WAIT_PHASE) || stmt_calls(s, INTRIN_CLUSTER_WAIT) ||
        s->u.call.mark == MARK_GROUPS)
        return false;
    if (stmt_calls(s, INTRIN_SYNC_THREADS) && s->u.call.n == 2)
        return expr_is_int(s->u.call.arg[1], &n) && n == kernel_launch_threads(o->k);
    return o->arm == 0;
}

static bool is_arrival(const Stmt *s)
{
    static const Intrin list[] = {INTRIN_ARRIVE, INTRIN_ARRIVE_BYTES, INTRIN_ARRIVE_COPIES,
                                  INTRIN_ARRIVE_MMA, INTRIN_BARRIER_ARRIVE, INTRIN_CLUSTER_ARRIVE,
                                  INTRIN_SYNC_THREADS};

    for (int i = 0; i < COUNT(list); i++)
        if (stmt_calls(s, list[i]))
            return true;
    return false;
}

/* An arrival tells of what its thread has done; two kinds wait by themselves for more. */
static bool arrival_tells(const Stmt *s, const Event *e)
{
    return e->landed || (stmt_calls(s, INTRIN_ARRIVE_COPIES) && e->queue == QUEUE_COPIES) ||
           (stmt_calls(s, INTRIN_ARRIVE_MMA) && e->done == DONE_BY_COMMIT);
}

static void note_arrival(Order *o, const Stmt *s, int key)
{
    o->arrivals[key]++;
    for (int i = 0; i < o->open.n; i++) {
        Event *e = &o->open.at[i];
        bool same = e->arm == o->arm || !e->arm || e->who.n == 0 ||
                    (e->who.first == o->who.first && e->who.n == o->who.n);
        if (same && arrival_tells(s, e)) {
            e->soonest = e->soonest ? e->soonest : UINT64_C(1) << key;
            e->arrives |= UINT64_C(1) << key;
            for (int j = 0; j < o->all.n; j++) {
                Event *a = &o->all.at[j];
                if (a->by == e->by && a->writes == e->writes && a->buf == e->buf) {
                    a->arrives |= e->arrives;
                    a->soonest |= e->soonest;
                }
            }
        }
    }
}

static void note_wait(Order *o, int key)
{
    uint64_t bit = UINT64_C(1) << key;

    o->nwait[key]++;
    o->own |= bit;
    o->near |= bit;
    o->far |= bit;
}

/* What completes at the barrier, or was done before an arrival there, is seen by who waits: by the
 * third wait what was issued for the third time.  Of other threads order_cross tells. */
static void pass_key(Order *o, const Stmt *s, int key)
{
    int n = o->nwait[key] + 1;

    note_wait(o, key);
    for (int i = 0; i < o->open.n; i++) {
        Event *e = &o->open.at[i];
        bool comes = e->done == DONE_AT_BARRIER ? e->key == key && e->round <= n
                                                : (e->arrives >> key & 1) != 0;
        if (comes && !e->sync && !groups_apart(e->who, o->who)) {
            e->landed = true;
            e->sync = s;
        }
    }
}

static void pass_barrier(Order *o, const Stmt *s, bool block)
{
    bool rows = s->u.call.mark == MARK_GROUPS;

    o->epoch += block;
    for (int i = 0; i < o->open.n; i++) {
        Event *e = &o->open.at[i];
        bool mine = block || e->arm == o->arm ||
                    (rows && buffer_plan(o->k, e->buf)->groups > 1);
        if (mine && e->landed && !e->sync) {
            e->sync = s;
            e->local = !block && !rows;
        }
    }
}

static void see_wait(Order *o, const Stmt *s, Queue q)
{
    int64_t open = 0;
    bool said = s->u.call.n == 0 || expr_is_int(s->u.call.arg[0], &open);

    for (int i = 0; i < o->open.n && said; i++) {
        Event *e = &o->open.at[i];
        if (e->queue == q && !e->landed && e->group &&
            (open == 0 || e->group <= o->commits[q] - open)) {
            e->landed = true;
            e->wait = s;
        }
    }
}

static void see_commit(Order *o, Queue q)
{
    o->commits[q]++;
    for (int i = 0; i < o->open.n; i++)
        if (o->open.at[i].queue == q && !o->open.at[i].group)
            o->open.at[i].group = o->commits[q];
}

static void see_call(Order *o, const Stmt *s)
{
    const IntrinInfo *info = &intrin_table[s->u.call.which];
    int key = call_key(o, s);
    bool block = is_of_block(o, s);
    bool threads = strchr(info->effects, 'B') && !stmt_calls(s, INTRIN_WAIT_PHASE) &&
                   !stmt_calls(s, INTRIN_CLUSTER_WAIT);

    for (int q = 0; q < QUEUE_COUNT; q++) {
        if (stmt_commits(s, (Queue)q))
            see_commit(o, (Queue)q);
        if (stmt_waits(s, (Queue)q))
            see_wait(o, s, (Queue)q);
    }
    if (key >= 0 && is_arrival(s))
        note_arrival(o, s, key);
    if (threads)
        pass_barrier(o, s, block);
    else if (key >= 0 && strchr(info->effects, 'B'))
        pass_key(o, s, key);
    if (threads && key >= 0)
        note_wait(o, key);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static const ThreadSite *site_of(Order *o, const void *by, const Buffer *b, const Touch *t)
{
    ThreadSite *site = map_get(&o->sites, by);

    if (!t->at || dtype_bits(b->type) < 8)
        return NULL;
    if (!site) {
        site = NEW(o->arena, ThreadSite);
        *site = (ThreadSite){t->at, t->n, o->cond};
        map_set(&o->sites, by, site);
    }
    return site;
}

/* Kept once for each statement and way, for threads that run side by side. */
static void keep(Order *o, const Event *e)
{
    for (int i = 0; i < o->all.n; i++) {
        Event *a = &o->all.at[i];
        if (a->by != e->by || a->writes != e->writes || a->buf != e->buf)
            continue;
        a->waits &= e->waits;
        a->waits_near &= e->waits_near;
        a->waits_far &= e->waits_far;
        a->last = o->epoch;
        a->walks++;
        return;
    }
    vec_push(o->arena, &o->all, *e);
}

static void forget_old(Order *o, const Event *e)
{
    int same = 0, oldest = -1;

    for (int i = o->open.n - 1; i >= 0; i--)
        if (o->open.at[i].by == e->by && o->open.at[i].writes == e->writes) {
            same++;
            oldest = i;
        }
    if (same < SAME_MOST)
        return;
    memmove(&o->open.at[oldest], &o->open.at[oldest + 1],
            (size_t)(o->open.n - oldest - 1) * sizeof *o->open.at);
    o->open.n--;
}

static void add_event(Order *o, Event e)
{
    for (int i = 0; i < o->open.n; i++)
        order_pair(o, &o->open.at[i], &e);
    e.uid = ++o->uid;
    forget_old(o, &e);
    vec_push(o->arena, &o->open, e);
    keep(o, &e);
}

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Order *o = arg;
    const Buffer *b = buffer_root(t->buf);
    const void *by = t->expr ? (const void *)t->expr : t->region ? (const void *)t->region : s;
    Event e = {.by = by, .buf = b, .line = s->span.line, .done = DONE_AT_ONCE, .queue = QUEUE_NONE,
               .key = -1, .tile = -1, .arm = o->arm, .who = o->who, .nest = o->nest,
               .walk = o->walk, .landed = true, .waits = o->own, .waits_near = o->near,
               .waits_far = o->far, .first = o->epoch, .last = o->epoch, .walks = 1};

    if (b->scope != MEM_SHARED || !s->span.src)
        return;
    if (b == t->buf)
        e.site = site_of(o, by, t->buf, t);
    e.adds = s->kind == ST_ATOMIC;
    if (s->kind == ST_STORE && s->u.store.async && touch_writes(t)) {
        e.done = DONE_BY_GROUP;
        e.queue = QUEUE_COPIES;
        e.next = s->u.store.async == ASYNC_NEXT;
        e.landed = false;
    }
    if (s->kind == ST_INSTR) {
        e.done = s->u.instr.isa->done;
        e.queue = e.done == DONE_BY_GROUP ? s->u.instr.isa->queue : QUEUE_NONE;
        e.tile = s->u.instr.tile;
        e.landed = e.done == DONE_AT_ONCE;
        for (int i = 0; i < s->u.instr.nregion; i++)
            if (s->u.instr.isa->effects[i] == 'b')
                e.key = key_of(o, s->u.instr.region[i].buf);
        e.round = e.key >= 0 ? o->arrivals[e.key] : 0;
    }
    if (touch_reads(t) && !e.adds)
        add_event(o, e);
    e.writes = true;
    if (touch_writes(t))
        add_event(o, e);
}

/* ---- paths ----------------------------------------------------------------------------------- */

typedef struct {
    EventVec open;
    uint64_t own, near, far;
    int commits[QUEUE_COUNT];
} Way;

static Way way_copy(const Order *o)
{
    Way p = {.own = o->own, .near = o->near, .far = o->far};

    memcpy(p.commits, o->commits, sizeof p.commits);
    for (int i = 0; i < o->open.n; i++)
        vec_push(o->arena, &p.open, o->open.at[i]);
    return p;
}

static void way_take(Order *o, const Way *p)
{
    o->open = p->open;
    o->own = p->own;
    o->near = p->near;
    o->far = p->far;
    memcpy(o->commits, p->commits, sizeof p->commits);
}

static Event *event_find(EventVec *list, int uid)
{
    for (int i = 0; i < list->n; i++)
        if (list->at[i].uid == uid)
            return &list->at[i];
    return NULL;
}

/* The path came by p, too: what holds afterwards holds on both.  parts: some threads came by, which
 * arrive for others of their warp. */
static void way_join(Order *o, Way *p, bool parts)
{
    for (int i = 0; i < o->open.n; i++) {
        Event *a = &o->open.at[i], *b = event_find(&p->open, a->uid);
        if (!b)
            continue;
        a->sync = b->sync ? a->sync : NULL;
        a->landed &= b->landed;
        a->arrives = parts ? a->arrives | b->arrives : a->arrives & b->arrives;
        a->soonest = a->soonest ? a->soonest : b->soonest;
    }
    for (int i = 0; i < p->open.n; i++)
        if (!event_find(&o->open, p->open.at[i].uid))
            vec_push(o->arena, &o->open, p->open.at[i]);
    o->own &= p->own;
    o->near &= p->near;
    o->far &= p->far;
    for (int q = 0; q < QUEUE_COUNT; q++)
        o->commits[q] = parts ? MAX(o->commits[q], p->commits[q])
                              : MIN(o->commits[q], p->commits[q]);
}

static void walk(Order *o, const Stmt *s);

/* A part that some threads run: their barriers order nothing for others. */
static void walk_arm(Order *o, const Stmt *s, const Expr *cond, ThreadGroup who)
{
    ThreadGroup was = o->w.who, had = o->who;
    const Expr *around = o->cond;
    int arm = o->arm;

    o->arm = ++o->narm;
    o->w.who = who;
    o->who = who.n ? who : had;
    if (cond)
        o->cond = around ? expr_and(o->k->ir, around, cond) : cond;
    walk(o, s);
    for (int i = 0; i < o->open.n; i++) {
        Event *e = &o->open.at[i];
        if (e->arm != o->arm)
            continue;
        e->arm = arm;
        if (e->local)
            e->sync = NULL;
        e->local = false;
    }
    o->arm = arm;
    o->w.who = was;
    o->who = had;
    o->cond = around;
}

/* The role that all threads but a producer run. */
static void walk_role(Order *o, const Stmt *s)
{
    ThreadGroup t, had = o->who;
    bool follow = group_of_role(o->k, s, &t);

    if (s->u.role.kind == ROLE_CONSUMER)
        o->who = (ThreadGroup){0, kernel_block_threads(o->k)};
    walk_arm(o, s->u.role.body, NULL, follow ? t : (ThreadGroup){0, 0});
    o->who = had;
}

/* One comparison with the number of an iteration: what the first and the last iterations say of it
 * all others do. */
static Proof decided(Order *o, const Expr *cond)
{
    bool compares = cond->op == EX_LT || cond->op == EX_LE || cond->op == EX_GT ||
                    cond->op == EX_GE;

    if (!compares || !o->now.n || expr_has_load(cond))
        return PROOF_UNKNOWN;
    for (int i = 0; i < 2; i++) {
        Linear l = {0};
        linear_expr(&l, cond->kid[i], 1);
        for (int t = 0; t < l.n; t++)
            if (l.bad || l.t[t].atom->op != EX_VAR)
                return PROOF_UNKNOWN;
    }
    return prove(o->k->ir, o->facts, expr_subst_map(o->k->ir, cond, &o->now, NULL));
}

static void walk_branch(Order *o, const Stmt *s)
{
    ThreadGroup then, orelse;
    bool known[2];
    bool parts = group_of_branch(&o->w, s->u.branch.cond, &then, &orelse, known);
    const Expr *cond = s->u.branch.cond;
    Proof holds = parts ? PROOF_UNKNOWN : decided(o, cond);

    if (holds != PROOF_UNKNOWN) {
        const Stmt *side = holds == PROOF_YES ? s->u.branch.then : s->u.branch.orelse;
        if (side)
            walk(o, side);
        return;
    }
    Way before = way_copy(o);
    if (parts)
        walk_arm(o, s->u.branch.then, cond, known[0] ? then : (ThreadGroup){0, 0});
    else
        walk(o, s->u.branch.then);
    Way after = way_copy(o);
    way_take(o, &before);
    if (s->u.branch.orelse && parts)
        walk_arm(o, s->u.branch.orelse, expr_unary(o->k->ir, EX_NOT, cond),
                 known[1] ? orelse : (ThreadGroup){0, 0});
    else if (s->u.branch.orelse)
        walk(o, s->u.branch.orelse);
    way_join(o, &after, parts);
}

static bool is_async(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_WAIT_PHASE) || (s->kind == ST_STORE && s->u.store.async) ||
           (s->kind == ST_INSTR && s->u.instr.isa->done != DONE_AT_ONCE);
}

/* The first iterations, then the last ones; of loops whose length nobody knows, any two. */
static const Expr *iteration(Order *o, const Stmt *s, int i, int walks)
{
    Ir *ir = o->k->ir;
    const Expr *n = s->u.loop.extent, *min = s->u.loop.min;
    int64_t fixed;

    if (s->kind != ST_FOR || expr_has_load(n) || expr_has_load(min))
        return NULL;
    bool exact = expr_is_int(n, &fixed) && fixed <= walks;
    const Expr *at = exact || i < walks / 2
                         ? expr_const(ir, n->type, i)
                         : expr_binary(ir, EX_SUB, n, expr_const(ir, n->type, walks - i));
    at = expr_subst_map(ir, expr_add(ir, min, at), &o->now, NULL);
    return simplify(ir, o->facts, at);
}

static void walk_slots(Order *o, const Stmt *s)
{
    int was = o->nest;

    o->nest = ++o->nnest;
    walk(o, s->u.loop.body);
    o->nest = was;
}

static void walk_loop(Order *o, const Stmt *s)
{
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then;
    int64_t n = 0;
    bool counted = s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &n);
    int walks = stmt_any(body, is_async, NULL) ? WALKS_ASYNC : WALKS;
    int around = o->walk;
    Map was = o->now;
    Way before = way_copy(o);

    for (int i = 0; i < walks && !(counted && i >= n); i++) {
        if (i > 0 && o->steps > STEPS_MOST) {
            o->cut = true;
            break;
        }
        const Expr *at = iteration(o, s, i, walks);
        map_init(&o->now, o->arena);
        for (int j = 0; j < was.n; j++)
            if (was.at[j].key)
                map_set(&o->now, was.at[j].key, was.at[j].val);
        if (at)
            map_set(&o->now, s->u.loop.var, at);
        o->walk = ++o->nwalk;
        o->own = o->depth ? before.own : 0;
        o->near = before.near;
        o->depth++;
        walk(o, body);
        o->depth--;
    }
    o->own = before.own;
    o->near = before.near;
    o->now = was;
    o->walk = around;
    if (!counted)
        way_join(o, &before, false);
}

static void walk(Order *o, const Stmt *s)
{
    o->steps += 1 + o->open.n / 16;
    group_see_let(&o->w, s);
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            walk(o, s->u.block.list[i]);
        break;
    case ST_FOR:
    case ST_WHILE:
        stmt_touches(s, see_touch, o);
        if (s->kind == ST_FOR && hint_find(s->u.loop.hints, "slots"))
            walk_slots(o, s);
        else
            walk_loop(o, s);
        break;
    case ST_IF:
        stmt_touches(s, see_touch, o);
        walk_branch(o, s);
        break;
    case ST_ROLE:
        walk_role(o, s);
        break;
    case ST_CALL:
        if (strchr(intrin_table[s->u.call.which].effects, 'S'))
            see_call(o, s);
        else if (s->u.call.which == INTRIN_COMMIT_MMA)
            see_commit(o, QUEUE_MMA);
        else
            stmt_touches(s, see_touch, o);
        break;
    default: stmt_touches(s, see_touch, o); break;
    }
}

static bool see_slots(const Stmt *s, void *arg)
{
    Order *o = arg;

    if (s->kind == ST_FOR && hint_find(s->u.loop.hints, "slots"))
        map_set(&o->slots, s->u.loop.var, expr_var(o->k->ir, o->slot));
    return true;
}

void order_note(Kernel *k)
{
    Order o = {.k = k, .arena = k->scratch, .apart = apart_new(k),
               .facts = facts_new(k->ir), .slot = var_new(k->ir, "slot", DT_I32, NO_SPAN)};

    k->order_notes.n = 0;
    facts_kernel(o.facts, k);
    map_init(&o.now, o.arena);
    map_init(&o.sites, o.arena);
    map_init(&o.keys, o.arena);
    group_walk_init(&o.w, k);
    map_init(&o.slots, o.arena);
    stmt_visit(k->body, see_slots, &o);
    walk(&o, k->body);
    order_cross(&o);
    k->order_cut = o.cut;
}
