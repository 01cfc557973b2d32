/* lower_sync.c -- barriers between accesses of memory that may conflict.
 *
 * needs   FORM_FLAT, FORM_PLACED
 * gives   FORM_SYNCED
 *
 * The body is read as a sequence of units: a statement, a loop over slots, an if that depends on
 * the thread.  A unit that reads what was written since the last barrier, or writes what was read
 * or written, gets one before it, unless no thread touches an element of another (arith/apart.c).
 * Barriers stand only where all threads of a group come by, and before a loop where that spares
 * one in each iteration.  A loop is read until what its end leaves is what its start has seen; what
 * came of reading a body from the same beginning is remembered, or a nest would be read twice as
 * often with every loop.  What is open where it, or an iteration, is left on the way is open behind
 * it, or at the next.
 * A copy in flight is nobody's to touch, so it is a hazard only to what came before it; the wait
 * for it makes it a write.  One into a stage of a tile that is not the one being read is a hazard
 * only to what was read before the last wait.
 *
 * Tiles that share bytes (plan_shared) are taken for one.  What bulk stores and
 * warpgroup MMAs read of such tiles is read until the wait for them, so the wait counts as
 * another read: a thread that waited has not seen that others did.
 *
 * Tensors that a block reads and writes, or writes in two places, are treated in the same way;
 * iterations of one store are taken to write different elements.
 *
 * A role, or a condition that holds for a range of whole warps, is a thread group of its own:
 * inside it the barriers are named ones over its threads, each group with a number that no other
 * has and that the kernel does not use itself.  To the statements around it a group is one unit.
 * Groups of a kernel in which some threads wait at barriers in memory synchronise there, not here.
 *
 * What conflicts between threads of one warp alone makes these wait, in a group that is part of the
 * block.
 *
 * Tiles whose rows belong to warpgroups (opt_warpgroup_stores) get barriers of each warpgroup.
 *
 * A kernel that places its barriers itself (tl.disable_thread_storage_sync) can do so between its
 * own statements.  It cannot inside of an operator, about a tile that the compiler made, stages
 * of a pipeline, waits for what is asynchronous, or tiles that it does not know to share bytes:
 * there barriers are added all the same. */
#include "pass/access.h"
#include "pass/plan_shared.h"
#include "pass/sync.h"
#include "pass/thread_group.h"
#include "ir/config.h"

enum { NAMED_MOST = 16 }; /* that are looked at, however many a machine has */

/* One set of threads; the first is the block. */
typedef struct {
    ThreadGroup threads;
    int id;       /* of its barrier; 0: the block's own, -1: none (one thread) */
    Pending left; /* what it did since its last barrier, kept from one visit to the next */
} Group;

/* All that reading a statement may change. */
typedef struct {
    Pending p, by_groups;
    int ngroup;
    Pending left[NAMED_MOST];
} Open;

/* A loop that is read, some statement of which leaves it or one of its iterations. */
typedef struct {
    const Group *now;  /* whose loop it is */
    const Stmt *loop;
    Open out, next;    /* where that is so */
} Leaving;

/* What is open after a body, by what was open before it. */
typedef struct Reading Reading;
struct Reading {
    const Group *now;
    Open before, after, out;
    int nbarrier; /* in the body, as it was read */
    Reading *next;
};

typedef struct {
    GroupWalk w;
    Kernel *k;
    Ir *ir;
    Arena *arena;      /* of what is pending, for the time of this pass */
    Toucher toucher;
    Map touched;       /* Stmt -> Pending *, of units and what may be one */
    Map readings;      /* body of a loop -> Reading * */
    Pending p;
    Pending by_groups; /* what groups did since; they use barriers that the kernel names */
    bool by_hand;      /* groups wait at such barriers */
    bool by_kernel;    /* who reads and writes its own tiles waits where the kernel says */
    Map async;         /* its tiles that something asynchronous reads or writes */
    Map bulk;          /* tiles that bulk copies fill */
    bool follows;      /* what is made is not kept */
    Leaving *leaving;  /* the innermost loop; NULL: nothing leaves it */
    int nbarrier;      /* made so far, kept or not */
    bool shares;       /* some tiles share bytes */
    bool whole;        /* look only for what all threads must wait for */
    Group *now;
    Group group[NAMED_MOST];
    int ngroup;
    bool taken[NAMED_MOST]; /* numbers of named barriers */
    Facts *facts;           /* about threads */
    Vary vary;              /* where threads were synchronised as the kernel was traced */
} Sync;

/* What is left after a barrier. */
static void settle(Pending *p, Arena *a)
{
    map_init(&p->read, a);
    map_init(&p->written, a);
    map_init(&p->added, a);
    map_init(&p->old, a);
}

static void join(Map *into, const Map *from)
{
    touches_join(into->arena, into, from);
}

static void join_pending(Pending *into, const Pending *from)
{
    join(&into->read, &from->read);
    join(&into->written, &from->written);
    join(&into->added, &from->added);
    join(&into->issued, &from->issued);
    join(&into->issued, &from->next);
    join(&into->old, &from->old);
    join(&into->results, &from->results);
    for (int q = 0; q < QUEUE_COUNT; q++)
        join(&into->flying[q], &from->flying[q]);
}

static Pending copy_pending(Sync *y, const Pending *p)
{
    Pending c;
    pending_init(&c, y->arena);
    join_pending(&c, p);
    return c;
}

static Open now_open(Sync *y)
{
    Open o = {.p = copy_pending(y, &y->p), .by_groups = copy_pending(y, &y->by_groups),
              .ngroup = y->ngroup};

    for (int i = 0; i < y->ngroup; i++)
        o.left[i] = copy_pending(y, &y->group[i].left);
    return o;
}

static void open_nothing(Sync *y, Open *o)
{
    pending_init(&o->p, y->arena);
    pending_init(&o->by_groups, y->arena);
    for (o->ngroup = 0; o->ngroup < NAMED_MOST; o->ngroup++)
        pending_init(&o->left[o->ngroup], y->arena);
}

static void join_open(Open *into, const Open *from)
{
    join_pending(&into->p, &from->p);
    join_pending(&into->by_groups, &from->by_groups);
    for (int i = 0; i < MIN(into->ngroup, from->ngroup); i++)
        join_pending(&into->left[i], &from->left[i]);
}

/* What was open elsewhere is open now. */
static void join_now(Sync *y, const Open *o)
{
    join_pending(&y->p, &o->p);
    join_pending(&y->by_groups, &o->by_groups);
    for (int i = 0; i < MIN(y->ngroup, o->ngroup); i++)
        join_pending(&y->group[i].left, &o->left[i]);
}

/* ---- loops that are left on the way ---------------------------------------------------------- */

/* By a statement of this kind; inner loops have their own. */
static bool leaves_by(const Stmt *s, StmtKind kind)
{
    if (s->kind == kind)
        return true;
    for (int i = 0; s->kind != ST_FOR && s->kind != ST_WHILE && i < stmt_nkid(s); i++)
        if (stmt_kid(s, i) && leaves_by(stmt_kid(s, i), kind))
            return true;
    return false;
}

static void note_open(Sync *y, Open *o)
{
    if (y->now != y->leaving->now) {
        join_pending(&o->left[y->now - y->group], &y->p);
        return;
    }
    join_pending(&o->p, &y->p);
    join_pending(&o->by_groups, &y->by_groups);
    for (int i = 0; i < y->ngroup; i++)
        join_pending(&o->left[i], &y->group[i].left);
}

/* What is open now is so wherever s leads to. */
static void note_leaving(Sync *y, const Stmt *s)
{
    if (y->leaving && leaves_by(s, ST_BREAK))
        note_open(y, &y->leaving->out);
    if (y->leaving && leaves_by(s, ST_CONTINUE))
        note_open(y, &y->leaving->next);
}

/* ---- hazards --------------------------------------------------------------------------------- */

static const Pending *touched(Sync *y, const Stmt *s)
{
    Pending *u = map_get(&y->touched, s);

    if (!u) {
        u = NEW(y->arena, Pending);
        touch(&y->toucher, s, u);
        map_set(&y->touched, s, u);
    }
    return u;
}

/* A tile that warpgroups have rows of; whoever waits for it looks at `whole`. */
static bool is_by_warpgroup(const Sync *y, const Buffer *b)
{
    return buffer_plan(y->k, b)->groups > 1;
}

/* Is it for the compiler to add barriers for b? */
static bool is_synced(const Sync *y, const Buffer *b)
{
    return !y->by_kernel || b->id >= y->k->func->ndeclared || map_has(&y->async, b);
}

/* Is an access no hazard to another of the same statement, in another iteration? */
typedef bool ExemptFn(Sync *y, const Buffer *b, const void *by);

static bool lists_conflict(Sync *y, const Buffer *b, const Touches *a, const Touches *before,
                       ExemptFn *exempt)
{
    for (; a; a = a->next)
        for (const Touches *o = before; o; o = o->next)
            if (!(exempt && a->by && a->by == o->by && exempt(y, b, a->by)) &&
                touches_conflict(&y->toucher, a, o, y->now->threads))
                return true;
    return false;
}

/* Does a tile of a share bytes with another one of b? */
static bool others_share(Sync *y, const Map *a, const Map *b)
{
    for (int i = 0; y->shares && i < a->n; i++)
        for (int j = 0; a->at[i].key && j < b->n; j++)
            if (b->at[j].key && b->at[j].key != a->at[i].key &&
                buffers_share(y->k, a->at[i].key, b->at[j].key))
                return true;
    return false;
}

static bool hazard_but(Sync *y, const Map *a, const Map *b, ExemptFn *exempt)
{
    for (int i = 0; i < a->n; i++) {
        const Buffer *k = a->at[i].key;
        if (k && map_has(b, k) && is_synced(y, k) && !(y->whole && is_by_warpgroup(y, k)) &&
            lists_conflict(y, k, a->at[i].val, map_get(b, k), exempt))
            return true;
    }
    return others_share(y, a, b);
}

static bool hazard(Sync *y, const Map *a, const Map *b)
{
    return hazard_but(y, a, b, NULL);
}

/* All threads store the same to one place, and were synchronised where iterations have to be. */
static bool is_alike(Sync *y, const Stmt *s)
{
    return y->k->threads_sync && s->kind == ST_STORE && !vary_store(&y->vary, s);
}

/* Iterations of one store to a tensor are no hazard, nor those of one operator. */
static bool is_one_store(Sync *y, const Buffer *b, const void *by)
{
    return b->scope == MEM_GLOBAL || is_operator(&y->toucher, by) || is_alike(y, by);
}

/* By a group that waits at barriers in memory, those order the iterations of one copy. */
static bool is_one_copy(Sync *y, const Buffer *b, const void *by)
{
    (void)b, (void)by;
    return y->by_hand && y->now->threads.n;
}

static bool conflicts(Sync *y, const Pending *u, const Pending *before)
{
    return hazard(y, &u->read, &before->written) ||
           hazard_but(y, &u->written, &before->written, is_one_store) ||
           hazard(y, &u->written, &before->read) ||
           hazard_but(y, &u->issued, &before->written, is_one_copy) ||
           hazard(y, &u->issued, &before->read) || hazard(y, &u->read, &before->added) ||
           hazard(y, &u->written, &before->added) || hazard(y, &u->issued, &before->added) ||
           hazard(y, &u->next, &before->written) || hazard(y, &u->next, &before->old) ||
           others_share(y, &u->next, &before->read) || hazard(y, &u->next, &before->added) ||
           hazard(y, &u->added, &before->read) || hazard(y, &u->added, &before->written) ||
           others_share(y, &u->added, &before->added) ||
           hazard(y, &u->bulk, &before->read) || hazard(y, &u->bulk, &before->written) ||
           hazard(y, &u->bulk, &before->added);
}

static bool waits_for_all(const Stmt *s)
{
    return s->kind == ST_CALL && (s->u.call.n == 0 || expr_is_zero(s->u.call.arg[0]));
}

/* Bytes that something else than MMAs and bulk stores in flight touches: by another tile that has
 * them, or by a bulk copy that fills the tile. */
static bool is_taken_again(Sync *y, const Buffer *b)
{
    for (int j = 0; j < y->k->buffers.n; j++) {
        const Buffer *o = y->k->buffers.at[j];
        if (!o->view_of && o != b && buffers_share(y->k, b, o))
            return true;
    }
    return map_has(&y->bulk, b);
}

/* What u waited for has landed; that others waited too is not known. */
static void land(Sync *y, Pending *p, const Pending *u, const Stmt *s)
{
    for (int f = 0; f < QUEUE_COUNT; f++) {
        const Map *m = &p->flying[f];
        for (int i = 0; u->lands[f] && i < m->n; i++)
            if (m->at[i].key && is_taken_again(y, m->at[i].key))
                map_set(&p->read, m->at[i].key, m->at[i].val);
        if (u->lands[f] && waits_for_all(s))
            map_init(&p->flying[f], y->arena);
    }
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Of the block, wherever it stands. */
static bool is_block_barrier(const Sync *y, const Stmt *s)
{
    int64_t id, n;
    return s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_THREADS && s->u.call.n == 2 &&
           expr_is_int(s->u.call.arg[0], &id) && expr_is_int(s->u.call.arg[1], &n) && id == 0 &&
           n == kernel_launch_threads(y->k);
}

static const Stmt *barrier(Sync *y, Span at)
{
    Ir *ir = y->ir;
    const Group *g = y->now;
    const Expr *arg[2];

    if (g->id < 0)
        return stmt_block(ir, at, 0, NULL);
    if (g->id == 0)
        return stmt_sync(ir, at);
    arg[0] = expr_int(ir, g->id);
    arg[1] = expr_int(ir, g->threads.n);
    return stmt_call(ir, at, INTRIN_SYNC_THREADS, 2, arg, 0, NULL, NULL, NULL);
}

/* The group at hand has synchronised: nothing of its own is open.  Where the block did, nothing is
 * at all. */
static void have_synced(Sync *y)
{
    settle(&y->p, y->arena);
    if (y->now != &y->group[0])
        return;
    settle(&y->by_groups, y->arena);
    for (int i = 0; i < y->ngroup; i++)
        settle(&y->group[i].left, y->arena);
}

/* Each warpgroup has synchronised its rows of such tiles. */
static void settle_warpgroup(Sync *y)
{
    Map *all[] = {&y->p.read, &y->p.written, &y->p.added, &y->p.old};

    for (int m = 0; m < COUNT(all); m++) {
        Map left;
        map_init(&left, y->arena);
        for (int i = 0; i < all[m]->n; i++)
            if (all[m]->at[i].key && !is_by_warpgroup(y, all[m]->at[i].key))
                map_set(&left, all[m]->at[i].key, all[m]->at[i].val);
        *all[m] = left;
    }
}

static bool note_number(const Stmt *s, void *arg)
{
    Sync *y = arg;
    int64_t id;
    bool named = s->kind == ST_CALL && s->u.call.n > 0 &&
                 (s->u.call.which == INTRIN_SYNC_THREADS ||
                  s->u.call.which == INTRIN_BARRIER_ARRIVE);

    if (!named)
        return true;
    Bounds b = bounds_of(y->facts, s->u.call.arg[0]);
    if (expr_is_int(s->u.call.arg[0], &id))
        b = (Bounds){id, id};
    for (int64_t i = MAX(b.lo, 0); i <= MIN(b.hi, NAMED_MOST - 1) && bounds_known(b); i++)
        y->taken[i] = true;
    return true;
}

/* The barrier of a thread group: made on first sight.  NULL: no barrier is of such threads. */
static Group *group_of(Sync *y, ThreadGroup t)
{
    int named = MIN(y->k->machine->named_barriers, NAMED_MOST), id = named - 1;
    int part = kernel_part(y->k);

    if (t.n == 0)
        t.n = kernel_block_threads(y->k);
    for (int i = 0; i < y->ngroup; i++)
        if (y->group[i].threads.first == t.first && y->group[i].threads.n == t.n)
            return &y->group[i];
    if (t.n == 1)
        id = -1;
    else if (t.n % part || t.first % part)
        return NULL;
    while (id > 0 && y->taken[id])
        id--;
    if (named <= 1 && t.n > 1)
        diag_fail(y->k->diag, y->k->span, "some threads of a block would have to wait for each "
                  "other, and target %s has barriers of whole blocks alone [barrier-numbers]",
                  y->k->machine->text);
    if ((id <= 0 && t.n > 1) || y->ngroup == NAMED_MOST)
        diag_fail(y->k->diag, y->k->span,
                  "the kernel needs a barrier for each of more than %d sets of threads; there are "
                  "%d numbers, those it uses itself included [barrier-numbers]",
                  y->ngroup - 1, named);
    Group *g = &y->group[y->ngroup++];
    *g = (Group){.threads = t, .id = id};
    pending_init(&g->left, y->arena);
    if (id > 0)
        y->taken[id] = true;
    return g;
}

/* Are the threads at hand a part of the block in whole warps, and the conflicts of u with what is
 * pending between threads of one warp?  These wait for each other then, and nobody else is known to
 * have come by. */
static bool is_in_warps(Sync *y, const Pending *u)
{
    int lanes = y->k->machine->lanes;
    ThreadGroup t = y->now->threads;

    if (!kernel_has(y->k, HAS_ROLES) || y->now->id <= 0 || lanes <= 1 || t.first % lanes ||
        t.n % lanes)
        return false;
    y->toucher.each = lanes;
    bool across = conflicts(y, u, &y->p);
    y->toucher.each = 1;
    return !across;
}

/* A barrier before s if what `u` touches conflicts with what is pending, else NULL. */
static const Stmt *sync_first(Sync *y, const Stmt *s, const Pending *u, bool groups)
{
    groups = groups && y->now == &y->group[0];
    if (!conflicts(y, u, &y->p) && !(groups && conflicts(y, u, &y->by_groups)))
        return NULL;
    y->whole = true;
    bool all = conflicts(y, u, &y->p) || (groups && conflicts(y, u, &y->by_groups));
    y->whole = false;
    if (!all) {
        settle_warpgroup(y);
        return sync_warpgroup(y->k, s->span);
    }
    if (is_in_warps(y, u))
        return stmt_call(y->ir, s->span, INTRIN_SYNC_WARP, 0, NULL, 0, NULL, NULL, NULL);
    have_synced(y);
    y->nbarrier++;
    return barrier(y, s->span);
}

/* A wait that the kernel wrote itself: it does not say of what, and nobody may read the results of
 * MMAs before it. */
static const Stmt *name_results(Sync *y, const Stmt *s)
{
    const Map *m = &y->p.results;
    Region *r = NEWN(y->ir->arena, Region, MAX(m->n, 1));
    int n = 0;

    if (!stmt_waits(s, QUEUE_MMA) || !waits_for_all(s))
        return s;
    for (int i = 0; i < m->n; i++)
        if (m->at[i].key)
            r[n++] = region_whole(y->ir, (Buffer *)m->at[i].key);
    map_init(&y->p.results, y->arena);
    return s->u.call.nregion ? s : stmt_wait(y->ir, s->span, QUEUE_MMA, 0, n, r);
}

/* One unit: a barrier first if it conflicts with what is pending. */
static const Stmt *unit(Sync *y, const Stmt *s)
{
    const Pending *u = touched(y, s);
    const Stmt *first = sync_first(y, s, u, true);

    join_pending(&y->p, u);
    if (u->waits) {
        join(&y->p.written, &y->p.issued);
        join(&y->p.old, &y->p.read);
    }
    land(y, &y->p, u, s);
    note_leaving(y, s);
    return stmt_seq(y->ir, first, name_results(y, s));
}

/* All threads write one element from what it was: Y[i] = Y[i] * 2 of the block. */
static bool renews(Sync *y, const Stmt *s)
{
    if (s->kind != ST_STORE || s->u.store.async || !is_common(s->u.store.buf) ||
        s->u.store.value->lanes != 1 || y->now->id < 0)
        return false;
    for (int d = 0; d < s->u.store.n; d++)
        if (vary_expr(group_vary(&y->w), s->u.store.at[d]))
            return false;
    return expr_loads(s->u.store.value, s->u.store.buf);
}

/* Nobody writes it before everybody has read it; between the two no kernel can say so itself. */
static const Stmt *renew(Sync *y, const Stmt *s)
{
    Ir *ir = y->ir;
    Var *v = var_new(ir, "v", s->u.store.value->type, s->span);
    const Stmt *let = unit(y, stmt_let(ir, s->span, v, s->u.store.value));
    const Stmt *store = stmt_store_as(ir, s, s->u.store.at, s->u.store.n, expr_var(ir, v),
                                      s->u.store.guard);
    bool by_kernel = y->by_kernel;

    y->by_kernel = false;
    store = unit(y, store);
    y->by_kernel = by_kernel;
    return stmt_seq(ir, let, store);
}

/* ---- where barriers may stand ---------------------------------------------------------------- */

/* Thread groups inside an if that depends on the thread; false: it is a unit. */
static bool branch_groups(Sync *y, const Stmt *s, Group *side[2])
{
    ThreadGroup then, orelse;
    bool known[2];

    group_of_branch(&y->w, s->u.branch.cond, &then, &orelse, known);
    side[0] = known[0] ? group_of(y, then) : NULL;
    side[1] = !s->u.branch.orelse ? side[0] : known[1] ? group_of(y, orelse) : NULL;
    return side[0] && side[1];
}

static bool find_wait(const Stmt *s, void *found)
{
    *(bool *)found |= stmt_calls(s, INTRIN_WAIT_PHASE);
    return true;
}

static bool waits_in_memory(const Stmt *s)
{
    bool found = false;
    stmt_visit(s, find_wait, &found);
    return found;
}

/* Must the threads inside wait for each other, or does a wait for MMAs have to say of what?  Who
 * waits in memory has others who do what it waits for beside it. */
static bool needs_sync(Sync *y, const Stmt *s)
{
    const Pending *u = touched(y, s);
    return hazard(y, &u->written, &u->read) || u->written.n + u->added.n > 1 ||
           u->issued.n + u->next.n > 0 || u->lands[QUEUE_MMA] ||
           (u->written.n > 0 && y->by_hand && waits_in_memory(s));
}

/* A loop over slots is one nest of independent iterations; any other loop is one unit only if no
 * shared memory is written in it. */
static bool is_unit(Sync *y, const Stmt *s)
{
    if (s->kind == ST_BLOCK || s->kind == ST_WHILE || s->kind == ST_ROLE)
        return s->kind == ST_WHILE && vary_expr(group_vary(&y->w), s->u.branch.cond);
    if (s->kind == ST_IF)
        return vary_expr(group_vary(&y->w), s->u.branch.cond);
    if (s->kind != ST_FOR || hint_find(s->u.loop.hints, "slots") ||
        (s->u.loop.how == LOOP_VECTOR && s->u.loop.body->kind == ST_STORE) ||
        vary_expr(group_vary(&y->w), s->u.loop.extent) ||
        vary_expr(group_vary(&y->w), s->u.loop.min))
        return true;
    const Pending *u = touched(y, s->u.loop.body);
    return u->written.n == 0 && u->added.n == 0 && u->issued.n + u->next.n + u->bulk.n == 0 &&
           !u->waits && !u->lands[QUEUE_MMA]; /* which may have to say of what */
}

static const Stmt *sync_stmt(void *sync, const Stmt *s);

/* A group that was not there yet has left nothing. */
static bool is_open_now(const Sync *y, const Open *o)
{
    static const Pending nothing;

    if (!same_pending(&y->p, &o->p) || !same_pending(&y->by_groups, &o->by_groups))
        return false;
    for (int i = 0; i < y->ngroup; i++)
        if (!same_pending(&y->group[i].left, i < o->ngroup ? &o->left[i] : &nothing))
            return false;
    return true;
}

static void open_again(Sync *y, const Open *o)
{
    y->p = copy_pending(y, &o->p);
    y->by_groups = copy_pending(y, &o->by_groups);
    for (int i = 0; i < y->ngroup; i++)
        if (i < o->ngroup)
            y->group[i].left = copy_pending(y, &o->left[i]);
        else
            pending_init(&y->group[i].left, y->arena);
}

static const Stmt *loop_body(const Stmt *s)
{
    return s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then;
}

/* An iteration; `out`: what is open where it leaves the loop. */
static const Stmt *read_body(Sync *y, const Stmt *loop, const Stmt *body, Open *out)
{
    Leaving *outer = y->leaving, *l = NULL;

    if (leaves_by(body, ST_BREAK) || leaves_by(body, ST_CONTINUE)) {
        l = NEW(y->arena, Leaving);
        *l = (Leaving){.now = y->now, .loop = loop};
        open_nothing(y, &l->out);
        open_nothing(y, &l->next);
    }
    y->leaving = l;
    body = sync_stmt(y, body);
    y->leaving = outer;
    if (l) {
        join_now(y, &l->next);
        *out = l->out;
    }
    return body;
}

/* Only what a body leaves open: no barrier is made. */
static void follow(Sync *y, const Stmt *loop, Open *out)
{
    const Stmt *body = loop_body(loop);
    Reading *r = map_get(&y->readings, body);
    bool was = y->follows;
    int nbarrier = y->nbarrier;

    for (; r; r = r->next)
        if (r->now == y->now && is_open_now(y, &r->before)) {
            open_again(y, &r->after);
            y->nbarrier += r->nbarrier;
            join_open(out, &r->out);
            return;
        }
    r = NEW(y->arena, Reading);
    *r = (Reading){.now = y->now, .before = now_open(y)};
    y->follows = true;
    read_body(y, loop, body, &r->out);
    y->follows = was;
    join_open(out, &r->out);
    r->after = now_open(y);
    r->nbarrier = y->nbarrier - nbarrier;
    r->next = map_get(&y->readings, body);
    map_set(&y->readings, body, r);
}

/* What the end of an iteration leaves pending is pending at the start of the next.  A barrier of
 * one reading need not stand in the next, which begins with more: the body is read until an
 * iteration leaves nothing that its reading did not begin with. */
static void follow_iterations(Sync *y, const Stmt *loop, Open *out)
{
    int nbarrier = y->nbarrier;
    Pending start;

    do {
        start = copy_pending(y, &y->p);
        follow(y, loop, out);
        join_pending(&y->p, &start);
    } while (!same_pending(&y->p, &start));
    y->nbarrier = nbarrier;
}

/* Barriers in an iteration, begun as things stand or after a barrier. */
static int barriers_in(Sync *y, const Stmt *loop, bool met)
{
    Open was = now_open(y), out;
    int before = y->nbarrier;

    open_nothing(y, &out);
    if (met)
        have_synced(y);
    follow_iterations(y, loop, &out);
    follow(y, loop, &out);
    int n = y->nbarrier - before;
    y->nbarrier = before;
    open_again(y, &was);
    return n;
}

/* A barrier before the loop where that spares one in each iteration. */
static const Stmt *sync_entry(Sync *y, const Stmt *loop)
{
    int n = barriers_in(y, loop, false);

    if (n == 0 || barriers_in(y, loop, true) >= n)
        return NULL;
    have_synced(y);
    y->nbarrier++;
    return barrier(y, loop->span);
}

static const Stmt *sync_loop(Sync *y, const Stmt *loop, Open *out)
{
    Pending before = copy_pending(y, &y->p);
    const Stmt *body = loop_body(loop);
    Open last = {.ngroup = 0};

    open_nothing(y, out);
    follow_iterations(y, loop, out);
    if (y->follows)
        follow(y, loop, out);
    else
        body = read_body(y, loop, body, &last);
    join_open(out, &last);
    join_pending(&y->p, &before); /* the loop may run no iteration at all */
    return body;
}

/* Bounds of a loop, condition of a while or an if: read by all threads before what is in it. */
static const Stmt *sync_head(Sync *y, const Stmt *s)
{
    Pending u;

    pending_init(&u, y->arena);
    touch_loads(&y->toucher, s, &u);
    const Stmt *first = sync_first(y, s, &u, true);
    join_pending(&y->p, &u);
    return first;
}

static const Stmt *sync_for(Sync *y, const Stmt *s)
{
    const Stmt *first = sync_head(y, s);
    first = stmt_seq(y->ir, first, sync_entry(y, s));
    Open out;
    s = stmt_with_body(y->ir, s, sync_loop(y, s, &out));
    join_now(y, &out);
    return stmt_seq(y->ir, first, s);
}

/* The condition is read again after each iteration. */
static const Stmt *sync_while(Sync *y, const Stmt *s)
{
    Open out;
    const Stmt *first = sync_head(y, s), *body = sync_loop(y, s, &out);
    const Stmt *last = sync_head(y, s);

    join_now(y, &out);
    body = stmt_seq(y->ir, body, last);
    return stmt_seq(y->ir, first, stmt_while(y->ir, s->span, s->u.branch.cond, body));
}

static const Stmt *sync_continue(Sync *y, const Stmt *s)
{
    const Stmt *loop = y->leaving ? y->leaving->loop : NULL;
    const Stmt *first = loop && loop->kind == ST_WHILE ? sync_head(y, loop) : NULL;

    return stmt_seq(y->ir, first, unit(y, s));
}

/* What an arm conflicts with gets its barrier before the if: past it, there would have to be
 * another.  Not so where an arm waits for MMAs: what they read is read until then. */
static const Stmt *sync_branch(Sync *y, const Stmt *s)
{
    const Pending *u = touched(y, s);
    const Stmt *first = u->lands[QUEUE_MMA] ? sync_head(y, s) : sync_first(y, s, u, true);

    touch_loads(&y->toucher, s, &y->p);
    Pending before = copy_pending(y, &y->p);
    const Stmt *then = sync_stmt(y, s->u.branch.then);
    Pending after = y->p;
    y->p = before;
    const Stmt *orelse = s->u.branch.orelse ? sync_stmt(y, s->u.branch.orelse) : NULL;
    join_pending(&y->p, &after);
    s = stmt_if(y->ir, s->span, s->u.branch.cond, then, orelse);
    return stmt_seq(y->ir, first, s);
}

/* The body of a thread group: its own barriers, by what it left behind itself. */
static const Stmt *sync_group(Sync *y, Group *g, const Stmt *body)
{
    Group *outer = y->now;
    Pending p = y->p;
    ThreadGroup was = y->w.who;

    if (g == outer || !body)
        return body ? sync_stmt(y, body) : NULL;
    y->now = g;
    y->w.who = g->threads;
    y->p = copy_pending(y, &g->left);
    body = sync_stmt(y, body);
    g->left = y->p;
    y->p = p;
    y->now = outer;
    y->w.who = was;
    return body;
}

/* Before a group the threads around it synchronise if they must; after it, what it did is theirs
 * too. */
static const Stmt *sync_groups(Sync *y, const Stmt *s, Group *a, Group *b)
{
    Ir *ir = y->ir;
    Pending u;
    touch(&y->toucher, s, &u);
    bool apart = y->by_hand && y->now == &y->group[0] && (a != y->now || b != y->now);
    const Stmt *first = sync_first(y, s, &u, !apart);

    if (s->kind == ST_ROLE) {
        const Stmt *body = sync_group(y, a, s->u.role.body);
        s = stmt_with_body(ir, s, body);
    } else {
        const Stmt *then = sync_group(y, a, s->u.branch.then);
        const Stmt *orelse = sync_group(y, b, s->u.branch.orelse);
        s = stmt_if(ir, s->span, s->u.branch.cond, then, orelse);
    }
    if (u.waits)
        join(&u.written, &u.issued);
    land(y, &u, &u, s);
    join_pending(apart ? &y->by_groups : &y->p, &u);
    note_leaving(y, s);
    return stmt_seq(ir, first, s);
}

static const Stmt *sync_role(Sync *y, const Stmt *s)
{
    ThreadGroup t;
    Group *g = y->now;

    if (s->u.role.nthread && group_of_role(y->k, s, &t))
        g = group_of(y, t);
    return g ? sync_groups(y, s, g, g) : unit(y, s);
}

/* Done by some threads of the block. */
static bool is_part(Sync *y, const Stmt *s)
{
    return s->kind == ST_ROLE ||
           (s->kind == ST_IF && vary_expr(group_vary(&y->w), s->u.branch.cond));
}

/* A barrier before a part that waits at a barrier in memory, where a later part needs one: between
 * the two the first might wait for what the second does, and never come by. */
static const Stmt *sync_ahead(Sync *y, const Stmt *block, int first)
{
    const Stmt *const *list = block->u.block.list;
    int n = waits_in_memory(list[first]) ? block->u.block.n : 0;

    for (int i = first; i < n; i++) {
        const Pending *u = touched(y, list[i]);
        if (is_barrier(list[i]) || is_block_barrier(y, list[i]))
            break;
        if (conflicts(y, u, &y->p))
            return i > first && is_part(y, list[i]) ? sync_first(y, list[first], u, false) : NULL;
    }
    return NULL;
}

static const Stmt *sync_block(Sync *y, const Stmt *s)
{
    const Stmt **list = NEWN(y->ir->arena, const Stmt *, MAX(s->u.block.n, 1));
    bool changed = false;

    if (!y->by_hand || y->now != &y->group[0])
        return stmt_map_kids(y->ir, s, sync_stmt, y);
    for (int i = 0; i < s->u.block.n; i++) {
        const Stmt *t = s->u.block.list[i];
        const Stmt *ahead = is_part(y, t) ? sync_ahead(y, s, i) : NULL;
        list[i] = stmt_seq(y->ir, ahead, sync_stmt(y, t));
        changed |= list[i] != t;
    }
    return changed ? stmt_block(y->ir, s->span, s->u.block.n, list) : s;
}

static const Stmt *sync_stmt(void *sync, const Stmt *s)
{
    Sync *y = sync;
    Group *side[2];

    group_see_let(&y->w, s);
    if (is_barrier(s)) {
        have_synced(y);
        return barrier(y, s->span);
    }
    if (is_block_barrier(y, s)) {
        have_synced(y);
        return s;
    }
    if (s->kind == ST_CALL && s->u.call.mark == MARK_GROUPS) {
        settle_warpgroup(y);
        return s;
    }
    if (s->kind == ST_CONTINUE)
        return sync_continue(y, s);
    if (renews(y, s))
        return renew(y, s);
    if (is_unit(y, s))
        return s->kind == ST_IF && needs_sync(y, s) && branch_groups(y, s, side)
                   ? sync_groups(y, s, side[0], side[1]) : unit(y, s);
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

static bool some_share(Kernel *k)
{
    for (int i = 0; i < k->buffers.n; i++)
        for (int j = 0; j < i; j++)
            if (!k->buffers.at[i]->view_of && !k->buffers.at[j]->view_of &&
                buffers_share(k, k->buffers.at[i], k->buffers.at[j]))
                return true;
    return false;
}

/* Threads wait for it where the compiler says, which may be past a barrier of the kernel. */
static void find_async(Sync *y)
{
    Pending u;

    map_init(&y->async, y->arena);
    map_init(&y->bulk, y->arena);
    touch(&y->toucher, y->k->body, &u);
    join(&y->async, &u.issued);
    join(&y->async, &u.next);
    join(&y->async, &u.bulk);
    join(&y->bulk, &u.bulk);
    for (int q = 0; q < QUEUE_COUNT; q++)
        join(&y->async, &u.flying[q]);
}

void pass_lower_sync(Kernel *k)
{
    Sync *y = NEW(k->scratch, Sync);

    *y = (Sync){.k = k, .ir = k->ir, .arena = k->scratch, .ngroup = 1, .facts = facts_new(k->ir)};
    y->by_kernel = config_on(k->func, CONFIG_disable_thread_storage_sync);
    toucher_init(&y->toucher, k);
    if (k->threads_sync)
        vary_learn(&y->vary, k, NULL);
    find_async(y);
    map_init(&y->touched, y->arena);
    map_init(&y->readings, y->arena);
    y->shares = some_share(k);
    facts_kernel(y->facts, k);
    group_walk_init(&y->w, k);
    pending_init(&y->p, y->arena);
    pending_init(&y->by_groups, y->arena);
    y->now = &y->group[0];
    y->now->threads = (ThreadGroup){0, kernel_launch_threads(k)};
    pending_init(&y->now->left, y->arena);
    y->taken[0] = true;
    k->body = block_barriers_of_arms(&y->w, k->body);
    stmt_visit(k->body, note_number, y);
    y->by_hand = groups_sync_by_hand(k, &y->w);
    k->body = sync_stmt(y, k->body);
    if (k->func->proves)
        order_note(k);
}
