/* liveness.c -- when the tiles of a block are alive, and offsets by which those of different times
 * share bytes.
 *
 * Statements are numbered in the order in which the body has them; a tile lives from the first to
 * the last that mentions it.  Beyond that:
 *   a loop          tiles mentioned in it live through all of it: iterations find what others
 *                   left.  On demand those that each one refills (plan_refills) do not
 *   some threads    an `if` on the thread, or a role, is one statement: its arms run side by side.
 *                   Where some of them wait at barriers in memory, tiles mentioned there live
 *                   throughout: only the kernel knows who waits for whom.  Where they do not fit
 *                   so, those that landed.c follows live to the wait that it found.  Tiles of
 *                   such parts alone share nothing with each other while there is room: threads
 *                   that go side by side would wait for each other
 *   a producer      fills its tiles at any time from the start.  The consumer waits for all it
 *                   sends, so they are free after the consumer's last use; those that MMAs of an
 *                   issuer read, after the consumer's wait for their sums
 *   in flight       a tile read by bulk stores or warpgroup MMAs, or filled by T.async_copy or
 *                   bulk loads, lives on to the wait that leaves none of them open, or to the end
 *   an address      of a tile may be kept: it lives throughout
 * The barriers between tiles that share bytes are lower_sync's to insert; ranges end only where
 * that can be done.  All forms of a body are understood, so that plans may ask what would fit. */
#include "pass/plan_shared.h"
#include "pass/thread_group.h"
#include "isa/isa.h"
#include <limits.h>
#include <stdlib.h>

/* Besides the queues: loads that barriers complete, MMAs that are committed there. */
enum { FLY_LOADS = QUEUE_COUNT, FLY_MMAS, FLY_COUNT };

typedef struct {
    Live *l;
    int at; /* when; it is its last use if l->last says the same */
} Use;

typedef struct {
    Kernel *k;
    GroupWalk group;
    Map of; /* root Buffer -> Live */
    Map read; /* roots that something reads */
    VEC(Use) recent; /* uses in the order of their times, of ranges that have no end yet */
    Live *list;
    int n;
    int now;
    LiveScope scope;
    const int *uses;     /* of each tile in all; NULL: not known */
    bool by_hand;        /* some threads wait for others at barriers in memory */
    bool apart;          /* in a part that only some threads of such a kernel run */
    int some;            /* parts around that only some threads run */
    bool early;          /* in the producer */
    const Landed *landed; /* NULL: not known, or not asked */
    const Buffer *commit; /* the barrier that says that all MMAs so far are done; NULL: none */
    Map open[FLY_COUNT]; /* Buffer -> Live: what is in flight */
} Walk;

/* ---- uses ------------------------------------------------------------------------------------ */

static void use_now(Walk *w, Live *l)
{
    if (l->last >= w->now)
        return;
    l->last = w->now;
    if (w->now < INT_MAX)
        vec_push(w->k->scratch, &w->recent, ((Use){l, w->now}));
}

static bool is_landed(const Walk *w, const Live *l)
{
    return w->landed && map_has(&w->landed->done, l->buf);
}

static bool is_later(const Walk *w, const Live *l)
{
    return w->landed && map_has(&w->landed->later, l->buf);
}

static Live *touch(Walk *w, const Buffer *b)
{
    Live *l = map_get(&w->of, buffer_root(b));

    if (!l)
        return NULL;
    l->seen++;
    l->some += w->some > 0;
    if (w->apart && !is_landed(w, l))
        l->first = is_later(w, l) ? l->first : 0, l->last = INT_MAX;
    if (w->early || (w->apart && is_landed(w, l)))
        l->first = 0;
    if (l->first < 0)
        l->first = w->now;
    if (!w->early)
        use_now(w, l);
    return l;
}

static void fly(Walk *w, int f, const Buffer *b)
{
    Live *l = map_get(&w->of, buffer_root(b));
    if (l && !is_landed(w, l))
        map_set(&w->open[f], l->buf, l);
}

static void land(Walk *w, int f)
{
    for (int i = 0; i < w->open[f].n; i++) {
        Live *l = w->open[f].at[i].val;
        if (w->open[f].at[i].key)
            use_now(w, l);
    }
    map_init(&w->open[f], w->k->scratch);
}

/* Loads that complete at a barrier that all threads wait at, once for each phase of the barrier. */
static void land_loads(Walk *w, const Buffer *bar)
{
    for (int i = 0; i < w->n; i++) {
        Live *l = &w->list[i];
        if (l->bar != bar || !map_has(&w->open[FLY_LOADS], l->buf))
            continue;
        use_now(w, l);
        map_remove(&w->open[FLY_LOADS], l->buf);
    }
}

/* Of tiles whose loads use several barriers at once, or one of several, we do not know when they
 * land. */
static void load(Walk *w, const Stmt *s)
{
    Live *l = map_get(&w->of, buffer_root(s->u.instr.region[0].buf));
    const Buffer *bar = s->u.instr.nregion > 2 ? s->u.instr.region[2].buf : NULL;

    if (!l || w->early || is_landed(w, l))
        return;
    bool flies = map_has(&w->open[FLY_LOADS], l->buf);
    if (!bar || buffer_static_size(bar) != 1 || (flies && l->bar != bar))
        l->first = 0, l->last = INT_MAX;
    l->bar = bar;
    map_set(&w->open[FLY_LOADS], l->buf, l);
}

static bool see_expr(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD || e->op == EX_ADDR) {
        Live *l = touch(arg, e->u.buf);
        if (l && e->op == EX_ADDR)
            l->first = 0, l->last = INT_MAX;
    }
    return true;
}

static void touch_regions(Walk *w, int n, const Region *g)
{
    for (int i = 0; i < n; i++)
        touch(w, g[i].buf);
}

/* A tile operator that a producer will do. */
static bool is_produced(const Walk *w, const Stmt *s)
{
    return tile_plan(w->k, s)->pipe && tile_plan(w->k, s)->how->bulk;
}

static void see_tile(Walk *w, const Stmt *s)
{
    const Region *r = s->u.tile.region;

    touch_regions(w, s->u.tile.nregion, r);
    for (int i = 0; w->early && tile_does(s, TILE_MMA) && i < s->u.tile.nregion; i++)
        fly(w, FLY_MMAS, r[i].buf);
    if (is_produced(w, s)) {
        w->early = true;
        touch_regions(w, s->u.tile.nregion, r);
        w->early = false;
    }
}

static void see_instr(Walk *w, const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;

    touch_regions(w, s->u.instr.nregion, s->u.instr.region);
    for (int i = 0; i < s->u.instr.nregion && isa->done == DONE_BY_GROUP; i++)
        fly(w, isa->queue, s->u.instr.region[i].buf);
    if (isa->done == DONE_AT_BARRIER)
        load(w, s);
    if (isa->done != DONE_BY_COMMIT)
        return;
    for (int i = 0; i < s->u.instr.nregion; i++)
        fly(w, FLY_MMAS, s->u.instr.region[i].buf);
    w->commit = NULL;
}

static void see_call(Walk *w, const Stmt *s)
{
    int64_t left = 0;

    touch_regions(w, s->u.call.nregion, s->u.call.region);
    const Buffer *bar = s->u.call.nregion ? s->u.call.region[0].buf : NULL;
    if (s->u.call.which == INTRIN_WAIT_PHASE && bar)
        land_loads(w, bar);
    if (s->u.call.which == INTRIN_WAIT_PHASE && bar == w->commit && bar)
        land(w, FLY_MMAS);
    if (call_mma_blocks(s))
        w->commit = bar && buffer_static_size(bar) == 1 ? bar : NULL;
    if (s->u.call.n > 0 && !expr_is_int(s->u.call.arg[0], &left))
        left = 1;
    if (left > 0)
        return;
    if (intrin_table[s->u.call.which].waits != QUEUE_NONE)
        land(w, intrin_table[s->u.call.which].waits);
}

/* Iterations of a pipeline wait for all that they read of what they started; a tile with one stage
 * is the kernel's. */
static void see_store(Walk *w, const Stmt *s)
{
    const Buffer *root = buffer_root(s->u.store.buf);

    touch(w, root);
    if (s->u.store.async && (buffer_plan(w->k, root)->stages <= 1 || !map_has(&w->read, root)))
        fly(w, QUEUE_COPIES, root);
}

static void see_leaf(Walk *w, const Stmt *s)
{
    stmt_visit_expr(s, see_expr, w);
    if (s->kind == ST_STORE)
        see_store(w, s);
    else if (s->kind == ST_ATOMIC)
        touch(w, s->u.atomic.buf);
    else if (s->kind == ST_INSTR)
        see_instr(w, s);
    else if (s->kind == ST_CALL)
        see_call(w, s);
    else if (s->kind == ST_TILE)
        see_tile(w, s);
    for (int i = 0; w->landed && w->landed->at == s && i < w->n; i++)
        if (is_landed(w, &w->list[i]))
            use_now(w, &w->list[i]);
}

/* ---- structure ------------------------------------------------------------------------------- */

static void walk(Walk *w, const Stmt *s);

static bool is_open(const Walk *w, const Buffer *b)
{
    bool open = false;

    for (int f = 0; f < FLY_COUNT; f++)
        open |= map_has(&w->open[f], b);
    return open;
}

/* Nothing of it is left from one iteration of the loop that began at `begin` to the next. */
static bool is_anew(const Walk *w, const Live *l, int begin)
{
    return w->uses && l->first >= begin && l->seen == w->uses[l - w->list] &&
           !is_open(w, l->buf) &&
           (w->scope == LIVE_LEAST || buffer_plan(w->k, l->buf)->fresh);
}

/* What was used since `begin` lives from there to here.  Only such tiles are looked at: a kernel of
 * n loops with n tiles would look at each tile n times. */
static void close_unit(Walk *w, int begin, bool loop)
{
    int end = ++w->now, from = w->recent.n, nkept = 0, nmoved = 0;

    while (from > 0 && w->recent.at[from - 1].at >= begin)
        from--;
    Use *use = w->recent.at + from;
    ArenaMark m = arena_mark(w->k->scratch);
    Live **moved = NEWN(w->k->scratch, Live *, w->recent.n - from + 1);
    for (int i = 0; i < w->recent.n - from; i++) {
        Live *l = use[i].l;
        if (l->last != use[i].at)
            continue;
        if (loop && is_anew(w, l, begin))
            use[nkept++] = use[i];
        else
            moved[nmoved++] = l;
    }
    for (int i = 0; i < nmoved; i++) {
        moved[i]->first = MIN(moved[i]->first, begin);
        moved[i]->last = end;
        use[nkept++] = (Use){moved[i], end};
    }
    w->recent.n = from + nkept;
    arena_reset(w->k->scratch, m);
}

static void keep_open(Walk *w, Map *saved)
{
    for (int f = 0; f < FLY_COUNT; f++) {
        map_init(&saved[f], w->k->scratch);
        for (int i = 0; i < w->open[f].n; i++)
            if (w->open[f].at[i].key)
                map_set(&saved[f], w->open[f].at[i].key, w->open[f].at[i].val);
    }
}

static void join_open(Walk *w, const Map *other)
{
    for (int f = 0; f < FLY_COUNT; f++)
        for (int i = 0; i < other[f].n; i++)
            if (other[f].at[i].key)
                map_set(&w->open[f], other[f].at[i].key, other[f].at[i].val);
}

static bool see_frozen(const Stmt *s, void *arg)
{
    see_leaf(arg, s);
    return true;
}

static void walk_loop(Walk *w, const Stmt *s)
{
    Map before[FLY_COUNT];
    int begin = ++w->now;

    if (w->scope == LIVE_LEAST && s->kind == ST_FOR &&
        hint_find(s->u.loop.hints, "slots")) {
        stmt_visit(s, see_frozen, w); /* what one slot needs no more makes room in the next */
        return;
    }

    stmt_visit_expr(s, see_expr, w);
    keep_open(w, before);
    walk(w, s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then);
    join_open(w, before); /* it may run no iteration */
    close_unit(w, begin, true);
}

static void walk_arms(Walk *w, const Stmt *s)
{
    Map before[FLY_COUNT], after[FLY_COUNT];

    stmt_visit_expr(s, see_expr, w);
    keep_open(w, before);
    walk(w, s->u.branch.then);
    keep_open(w, after);
    for (int f = 0; f < FLY_COUNT; f++)
        map_init(&w->open[f], w->k->scratch);
    join_open(w, before);
    walk(w, s->u.branch.orelse);
    join_open(w, after);
}

/* Only some threads run it. */
static void walk_some(Walk *w, const Stmt *s)
{
    int begin = ++w->now;
    bool apart = w->apart;

    w->apart |= w->by_hand;
    w->some++;
    if (s->kind == ST_ROLE)
        walk(w, s->u.role.body);
    else
        walk_arms(w, s);
    w->some--;
    w->apart = apart;
    close_unit(w, begin, false);
}

static bool is_role(const Stmt *s, RoleKind kind)
{
    return s->kind == ST_ROLE && s->u.role.kind == kind;
}

static void walk_role(Walk *w, const Stmt *s)
{
    if (!w->k->extra_threads || !(role_lone(s) >= 0 || is_role(s, ROLE_CONSUMER))) {
        walk_some(w, s);
    } else {
        w->early = role_lone(s) >= 0;
        walk(w, s->u.role.body);
        w->early = false;
    }
}

static void walk(Walk *w, const Stmt *s)
{
    if (!s)
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            walk(w, s->u.block.list[i]);
        break;
    case ST_FOR:
    case ST_WHILE:
        walk_loop(w, s);
        break;
    case ST_IF:
        if (vary_expr(group_vary(&w->group), s->u.branch.cond))
            walk_some(w, s);
        else
            walk_arms(w, s);
        break;
    case ST_ROLE:
        walk_role(w, s);
        break;
    default:
        w->now++;
        see_leaf(w, s);
    }
}

/* One thread: what the body has at its top level is one statement each. */
static void walk_top(Walk *w, const Stmt *s)
{
    int n = s->kind == ST_BLOCK ? s->u.block.n : 1;

    for (int i = 0; i < n; i++) {
        int begin = ++w->now;
        walk(w, s->kind == ST_BLOCK ? s->u.block.list[i] : s);
        close_unit(w, begin, false);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

typedef struct {
    GroupWalk *group;
    int some;       /* parts around that only some threads run */
    bool waits;     /* in such a part */
    int consumers;
} Hands;

static void find_waits(Hands *h, const Stmt *s)
{
    bool some = s->kind == ST_ROLE ||
                ((s->kind == ST_IF || s->kind == ST_WHILE) &&
                 vary_expr(group_vary(h->group), s->u.branch.cond));

    h->waits |= h->some > 0 && stmt_calls(s, INTRIN_WAIT_PHASE);
    h->consumers += is_role(s, ROLE_CONSUMER);
    h->some += some;
    for (int i = 0; i < stmt_nkid(s); i++)
        find_waits(h, stmt_kid(s, i));
    h->some -= some;
}

bool groups_sync_by_hand(Kernel *k, GroupWalk *group)
{
    Hands h = {.group = group};
    find_waits(&h, k->body);
    return h.waits;
}

/* As above, but a producer and a consumer of our making are understood. */
static bool syncs_by_hand(Kernel *k, GroupWalk *group)
{
    Hands h = {.group = group};
    find_waits(&h, k->body);
    return k->extra_threads ? h.consumers != 1 : h.waits;
}

static void walk_all(Walk *w)
{
    Kernel *k = w->k;

    w->now = w->recent.n = 0;
    for (int f = 0; f < FLY_COUNT; f++)
        map_init(&w->open[f], k->scratch);
    for (int i = 0; i < w->n; i++) {
        Live *l = &w->list[i];
        l->first = l->last = -1;
        l->seen = l->some = 0;
        l->bar = NULL;
    }
    if (kernel_on_warps(k))
        walk(w, k->body);
    else
        walk_top(w, k->body);
    for (int f = 0; f < FLY_COUNT; f++) {
        w->now = INT_MAX;
        land(w, f);
    }
}

static void see_read(void *arg, const Stmt *s, const Touch *t)
{
    Walk *w = arg;

    (void)s;
    if (touch_reads(t))
        map_set(&w->read, buffer_root(t->buf), t->buf);
}

void live_find(Kernel *k, Live *list, int n, LiveScope scope)
{
    Walk w = {.k = k, .list = list, .n = n, .scope = scope};
    bool warps = kernel_on_warps(k);
    bool always = !warps && k->uses_threads; /* threads that are not in step */
    bool cluster = k->cluster[0] * k->cluster[1] * k->cluster[2] > 1 && !k->extra_threads;
    Landed landed;

    map_init(&w.of, k->scratch);
    map_init(&w.read, k->scratch);
    for (int i = 0; i < n; i++)
        map_set(&w.of, list[i].buf, &list[i]);
    stmt_touches_all(k->body, see_read, &w);
    group_walk_init(&w.group, k);
    w.by_hand = syncs_by_hand(k, &w.group);
    if (w.by_hand && scope > LIVE_GROUPS && landed_find(k, &landed))
        w.landed = &landed;
    if (scope == LIVE_LEAST && landed_later(k))
        w.by_hand = cluster = false;
    walk_all(&w);
    if (scope > LIVE_LOOPS) {
        int *uses = NEWN(k->scratch, int, n + 1);
        for (int i = 0; i < n; i++)
            uses[i] = list[i].seen;
        w.uses = uses;
        walk_all(&w);
    }
    for (int i = 0; i < n; i++) {
        bool kept = warps && list[i].buf->scope != MEM_SHARED;
        /* sharing would make warpgroups that go by themselves wait: only where it must be */
        kept |= scope <= LIVE_LOOPS && buffer_plan(k, list[i].buf)->groups > 1;
        list[i].apart = scope == LIVE_GROUPS && list[i].some && list[i].some == list[i].seen;
        bool known = is_landed(&w, &list[i]) || is_later(&w, &list[i]);
        if (always || (cluster && !known) || kept || (list[i].first >= 0 && list[i].last < 0))
            list[i].first = 0, list[i].last = INT_MAX;
    }
}

/* ---- places ----------------------------------------------------------------------------------
 *
 * Times are cut where some tile begins: two that live at once live in one such part.  A tile that
 * was placed is noted at the few nodes of a tree of parts that make up its time. */

typedef struct Held {
    const Live *l;
    struct Held *next;
} Held;

typedef struct {
    Arena *arena;
    int *begin;      /* [nbegin], ascending */
    int nbegin, leaves;
    Held **at;       /* [2 * leaves], the root is 1 */
    bool *any;       /* at it or below */
    Held *apart;     /* tiles that share nothing with each other */
    const Live **meet; /* what lives when the one at hand does */
    int nmeet;
} Places;

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int by_size(const void *a, const void *b)
{
    const Live *x = *(Live *const *)a, *y = *(Live *const *)b;
    if (x->nbytes != y->nbytes)
        return x->nbytes > y->nbytes ? -1 : 1;
    return x < y ? -1 : x > y; /* of one list */
}

static int by_offset(const void *a, const void *b)
{
    const Live *x = *(const Live *const *)a, *y = *(const Live *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* How many parts begin at or before t. */
static int parts_before(const Places *p, int t)
{
    int low = 0, high = p->nbegin;

    while (low < high) {
        int mid = (low + high) / 2;
        if (p->begin[mid] <= t)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void hold(Places *p, Held **list, const Live *l)
{
    Held *h = NEW(p->arena, Held);
    *h = (Held){l, *list};
    *list = h;
}

static void note(Places *p, int node, int low, int high, int from, int to, const Live *l)
{
    int mid = (low + high) / 2;

    p->any[node] = true;
    if (from <= low && high <= to) {
        hold(p, &p->at[node], l);
        return;
    }
    if (from < mid)
        note(p, 2 * node, low, mid, from, to, l);
    if (to > mid)
        note(p, 2 * node + 1, mid, high, from, to, l);
}

static void meet(Places *p, int node, int low, int high, int from, int to)
{
    int mid = (low + high) / 2;

    if (!p->any[node] || to <= low || high <= from)
        return;
    for (const Held *h = p->at[node]; h; h = h->next)
        p->meet[p->nmeet++] = h->l;
    if (high - low > 1) {
        meet(p, 2 * node, low, mid, from, to);
        meet(p, 2 * node + 1, mid, high, from, to);
    }
}

/* The first place that is free while l lives. */
static int64_t fit(Places *p, const Live *l)
{
    int64_t at = 0;

    p->nmeet = 0;
    meet(p, 1, 0, p->leaves, parts_before(p, l->first) - 1, parts_before(p, l->last));
    for (const Held *h = l->apart ? p->apart : NULL; h; h = h->next)
        p->meet[p->nmeet++] = h->l;
    qsort(p->meet, (size_t)p->nmeet, sizeof *p->meet, by_offset);
    for (int i = 0; i < p->nmeet && p->meet[i]->offset < at + l->nbytes; i++)
        if (at < p->meet[i]->offset + p->meet[i]->nbytes)
            at = (p->meet[i]->offset + p->meet[i]->nbytes + l->align - 1) / l->align * l->align;
    return at;
}

static void places_open(Places *p, Arena *scratch, const Live *list, int n)
{
    *p = (Places){.arena = scratch, .begin = NEWN(scratch, int, n + 1), .leaves = 1};
    for (int i = 0; i < n; i++)
        if (list[i].first >= 0)
            p->begin[p->nbegin++] = list[i].first;
    qsort(p->begin, (size_t)p->nbegin, sizeof *p->begin, by_number);
    while (p->leaves < p->nbegin)
        p->leaves *= 2;
    p->at = NEWN(scratch, Held *, 2 * p->leaves);
    p->any = NEWN(scratch, bool, 2 * p->leaves);
    memset(p->at, 0, sizeof *p->at * 2 * (size_t)p->leaves);
    memset(p->any, 0, sizeof *p->any * 2 * (size_t)p->leaves);
    int log = 1;
    while (1 << log <= p->leaves)
        log++;
    p->meet = NEWN(scratch, const Live *, (2 * log + 1) * (n + 1));
}

int64_t live_place(Arena *scratch, Live *list, int n)
{
    Live **order = NEWN(scratch, Live *, n + 1);
    int64_t end = 0;
    Places p;

    for (int i = 0; i < n; i++)
        order[i] = &list[i];
    qsort(order, (size_t)n, sizeof *order, by_size);
    places_open(&p, scratch, list, n);
    for (int i = 0; i < n; i++) {
        Live *l = order[i];
        if (l->first < 0)
            continue;
        l->offset = fit(&p, l);
        note(&p, 1, 0, p.leaves, parts_before(&p, l->first) - 1, parts_before(&p, l->last), l);
        if (l->apart)
            hold(&p, &p.apart, l);
        end = MAX(end, l->offset + l->nbytes);
    }
    return end;
}

bool buffers_share(Kernel *k, const Buffer *a, const Buffer *b)
{
    a = buffer_root(a);
    b = buffer_root(b);
    if (a == b)
        return true;
    if (a->scope != MEM_SHARED || b->scope != MEM_SHARED)
        return false;
    const BufferPlan p = *buffer_plan(k, a), *q = buffer_plan(k, b);
    return p.placed && q->placed && p.offset < q->offset + q->nbytes &&
           q->offset < p.offset + p.nbytes;
}
