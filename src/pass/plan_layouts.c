/* plan_layouts.c -- a layout for every on-chip buffer, a thread for every iteration.
 *
 * needs   FORM_HOW         mechanisms decide what matrix operands must look like
 * gives   FORM_LAYOUTS
 *
 *     pinned   what T.annotate_layout and loop_layout= say
 *     strict   what mechanisms cannot do without (their infer slots, the operators')
 *     common   what follows from that: operators and T.Parallel nests carry layouts from one
 *              buffer to the next until nothing moves
 *     free     for each group of operators that is still open, every root is tried, followed to
 *              its end and scored (layout_cost.c); the cheapest stays, the first of equals
 *
 * It cannot fail: where two users of one buffer want different layouts the second gets a copy
 * (k->converts, made explicit by lower_convert).  Only two layouts that the user pinned and that
 * contradict each other are an error.
 *
 * A target without warps runs a block on one thread: there every tile is plain memory, row-major
 * unless the target asks for something else, and only the strict level is run.
 *
 * Every step costs what it touches, not what there is: an item is followed again only after a
 * place that it asked for has changed, and trials are undone by a log. */
#include <stdlib.h>
#include "pass/pass.h"
#include "pass/plan_layouts.h"
#include "pass/thread_group.h"
#include "ir/config.h"

enum { ROUNDS_MOST = 64, TRIALS_MOST = 48 };

typedef VEC(int) IntList;

typedef struct {
    const Buffer *buf;
    const Layout *layout; /* NULL: open */
    bool strict, pinned;
    const Stmt *because;
    IntList users; /* items that asked for it or set it */
} Place;

/* A tile operator or a nest, in the order of the program. */
typedef struct {
    const Stmt *stmt;
    ThreadGroup threads;
    LoopNest *nest;       /* NULL for tile operators */
    LoopNest *moves;      /* of a tile operator: the nest it will become, to know its accesses */
    const Layout *layout; /* of the nest */
    bool group;           /* in free mode: it shares open buffers with the others */
    bool waits;           /* to be followed, in this round or the next */
    IntList asks;         /* places it was seen to depend on */
} Item;

/* What a place or (place < 0) a nest was before a change. */
typedef struct {
    int place, item;
    Place was;
    const Layout *layout;
} Undo;

typedef VEC(Undo) UndoList;

typedef struct {
    Kernel *k;
    Arena *arena;
    VEC(Place) places;
    Map by_buffer;        /* -> index + 1 */
    VEC(Item) items;
    VEC(Convert) converts;
    bool probing;         /* disagreement is only noticed, not recorded */
    int probed;           /* the place that is open for the time of a question, or -1 */
    int64_t nthread; /* 0: tiles are not spread over threads */
    IntList views;        /* places of views */
    IntList round, later; /* items to follow: a heap by number, and those of the next round */
    int at;               /* the item being followed, or -1 */
    IntList group;        /* marked items, in order */
    Map by_fragment;      /* Buffer -> IntList *, items that touch it */
    bool logs;
    UndoList log;
    Map fragments;        /* Buffer -> ThreadGroup *; targets with threads */
} State;

/* ---- the operators' view --------------------------------------------------------------------- */

static Place *place_of(State *s, const Buffer *b)
{
    intptr_t i = (intptr_t)map_get(&s->by_buffer, b);
    if (i == 0) {
        Place p = {.buf = b};
        vec_push(s->arena, &s->places, p);
        i = s->places.n;
        map_set(&s->by_buffer, b, (void *)i);
        if (b->view_of && b->view_of->scope != MEM_GLOBAL)
            vec_push(s->arena, &s->views, (int)i - 1);
    }
    return &s->places.at[i - 1];
}

/* ---- what is to be followed ------------------------------------------------------------------ */

static void heap_push(State *s, IntList *h, int value)
{
    int i = h->n;

    vec_push(s->arena, h, value);
    for (; i > 0 && h->at[(i - 1) / 2] > value; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = value;
}

static int heap_pop(IntList *h)
{
    int least = h->at[0], value = h->at[--h->n], i = 0, child;

    while ((child = 2 * i + 1) < h->n) {
        child += child + 1 < h->n && h->at[child + 1] < h->at[child];
        if (value <= h->at[child])
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = value;
    return least;
}

/* Items are followed in the order of the program, round by round. */
static void follow_later(State *s, int item)
{
    if (s->items.at[item].waits)
        return;
    s->items.at[item].waits = true;
    if (item > s->at)
        heap_push(s, &s->round, item);
    else
        vec_push(s->arena, &s->later, item);
}

static void place_changes(State *s, Place *p)
{
    if (p - s->places.at == s->probed)
        return;
    if (s->logs) {
        Undo u = {.place = (int)(p - s->places.at), .was = *p};
        vec_push(s->arena, &s->log, u);
    }
    for (int i = 0; i < p->users.n; i++)
        follow_later(s, p->users.at[i]);
}

static void item_set(State *s, Item *item, const Layout *l)
{
    if (item->layout == l)
        return;
    if (s->logs) {
        Undo u = {.place = -1, .item = (int)(item - s->items.at), .layout = item->layout};
        vec_push(s->arena, &s->log, u);
    }
    item->layout = l;
    follow_later(s, (int)(item - s->items.at));
}

/* The item being followed depends on p. */
static void note_user(State *s, Place *p)
{
    int place = (int)(p - s->places.at);

    if (s->at < 0)
        return;
    Item *item = &s->items.at[s->at];
    for (int i = 0; i < item->asks.n; i++)
        if (item->asks.at[i] == place)
            return;
    vec_push(s->arena, &item->asks, place);
    vec_push(s->arena, &p->users, s->at);
}

static const Layout *place_get(void *state, const Buffer *b)
{
    Place *p = place_of(state, b);
    note_user(state, p);
    return p->layout;
}

static void want_convert(State *s, const Buffer *b, const Layout *l, const Stmt *at)
{
    for (int i = 0; i < s->converts.n; i++) {
        if (s->converts.at[i].buf == b && s->converts.at[i].at == at)
            return;
    }
    Convert c = {(Buffer *)b, l, at};
    vec_push(s->arena, &s->converts, c);
}

static void place_set(Infer *in, const Buffer *b, const Layout *l, const Stmt *because)
{
    State *s = in->state;
    Place *p = place_of(s, b);
    if (b->scope == MEM_GLOBAL || l == NULL)
        return;
    note_user(s, p);
    if (!p->layout) {
        place_changes(s, p);
        p->layout = l;
        p->strict = in->level == INFER_STRICT;
        p->because = because;
    } else if (in->level == INFER_STRICT && !s->probing && !layout_is_equal(in->ir, p->layout, l)) {
        want_convert(s, b, l, because);
    }
}

static int64_t item_threads(const State *s, ThreadGroup t)
{
    return s->nthread == 0 ? 1 : t.n ? t.n : s->nthread;
}

static Infer infer_for(State *s, InferLevel level, ThreadGroup t)
{
    return (Infer){.k = s->k, .ir = s->k->ir, .level = level, .group = t,
                   .nthread = item_threads(s, t), .state = s, .get = place_get, .set = place_set};
}

/* ---- what there is to infer ------------------------------------------------------------------ */

/* The item that is added next touches b. */
static void note_touch(State *s, const Buffer *b)
{
    IntList *users = map_get(&s->by_fragment, b);

    place_of(s, b);
    if (b->scope != MEM_FRAGMENT)
        return;
    if (!users) {
        users = NEW(s->arena, IntList);
        map_set(&s->by_fragment, b, users);
    }
    if (users->n == 0 || vec_last(users) != s->items.n)
        vec_push(s->arena, users, s->items.n);
}

static void see_region(void *arg, const Region *r, Access a)
{
    (void)a;
    note_touch(arg, r->buf);
}

/* The thread group whose registers hold b. */
static ThreadGroup group_holding(const State *s, const Buffer *b)
{
    const ThreadGroup *t = s->nthread > 0 ? map_get(&s->fragments, b) : NULL;
    return t ? *t : (ThreadGroup){0, 0};
}

/* Fragments used outside of operators and nests are held by all threads. */
static void float_buffer(State *s, const Buffer *b, const Stmt *because)
{
    int64_t shape[RANK_MOST];
    Infer in = infer_for(s, INFER_STRICT, group_holding(s, b));
    if (b->scope != MEM_FRAGMENT || s->nthread == 0 || !buffer_static_shape(b, shape))
        return;
    if (!infer_get(&in, b))
        infer_set(&in, b, fragment_replicated(in.ir, b->rank, shape, in.nthread), because);
}

typedef struct {
    State *s;
    const Stmt *stmt;
} LoadsOf;

static bool see_load(const Expr *e, void *arg)
{
    LoadsOf *l = arg;
    if (e->op == EX_LOAD)
        float_buffer(l->s, e->u.buf, l->stmt);
    return true;
}

/* Copies and atomics between registers and memory are as good as their accesses. */
static LoopNest *moves_of(State *s, const Stmt *t)
{
    if (s->nthread == 0 || !tile_does(t, TILE_BY_ELEMENT) || tile_does(t, TILE_WALKS) ||
        t->u.tile.nregion != 2 ||
        !tile_plan(s->k, t)->how->own_loops ||
        (t->u.tile.region[0].buf->scope != MEM_FRAGMENT) ==
            (t->u.tile.region[1].buf->scope != MEM_FRAGMENT))
        return NULL;
    const Stmt *loop = t->u.tile.op->lower(s->k, t);
    if (!loop || !stmt_is_nest(loop))
        return NULL;
    LoopNest *p = NEW(s->arena, LoopNest);
    parallel_read(s->k->ir, loop, p);
    parallel_know(s->k, p);
    return p->fixed ? p : NULL;
}

static void see_expressions(State *s, const Stmt *t)
{
    LoadsOf loads = {s, t};
    stmt_visit_expr(t, see_load, &loads);
}

/* A value or an offset that an operator is told is worked out by every thread. */
static void add_tile(State *s, const Stmt *t, ThreadGroup who)
{
    see_expressions(s, t);
    Item item = {.stmt = t, .threads = who, .moves = moves_of(s, t)};
    tile_access(t, see_region, s);
    for (int i = 0; item.threads.n == 0 && i < t->u.tile.nregion; i++)
        item.threads = group_holding(s, t->u.tile.region[i].buf);
    vec_push(s->arena, &s->items, item);
}

static void add_nest(State *s, const Stmt *t, ThreadGroup who)
{
    Item item = {.stmt = t, .nest = NEW(s->arena, LoopNest)};
    parallel_read(s->k->ir, t, item.nest);
    parallel_know(s->k, item.nest);
    item.threads = group_of_nest(who, &s->fragments, item.nest);
    for (int i = 0; i < item.nest->access.n; i++)
        note_touch(s, item.nest->access.at[i].buf);
    vec_push(s->arena, &s->items, item);
}

/* Conditions and bounds are read by all threads, wherever they stand. */
static bool see_control(const Stmt *t, void *arg)
{
    bool nest = stmt_is_nest(t);
    if (!nest && (t->kind == ST_FOR || t->kind == ST_WHILE || t->kind == ST_IF))
        see_expressions(arg, t);
    return !nest;
}

static bool collect(const Stmt *t, ThreadGroup who, void *arg)
{
    State *s = arg;
    if (t->kind == ST_TILE) {
        add_tile(s, t, who);
        return false;
    }
    if (stmt_is_nest(t)) {
        if (s->nthread > 0 && !(s->k->uses_threads && stmt_is_private(t)))
            add_nest(s, t, who);
        return false;
    }
    see_expressions(s, t);
    if (t->kind == ST_STORE)
        float_buffer(s, t->u.store.buf, t);
    if (t->kind == ST_ATOMIC)
        float_buffer(s, t->u.atomic.buf, t);
    return true;
}

/* ---- pinned ---------------------------------------------------------------------------------- */

static void place_pinned(State *s)
{
    Kernel *k = s->k;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        const BufferPlan *plan = buffer_plan(k, b);
        if (!plan->pinned || !plan->layout)
            continue;
        if (!layout_fits(plan->layout, b))
            diag_error(k->diag, b->span,
                       "the layout given for '%s' is not of its shape [layout-shape]", b->name);
        else if (layout_is_fragment(plan->layout) && plan->layout->nthread > s->nthread &&
                 s->nthread > 0)
            diag_error(k->diag, b->span,
                       "the layout given for '%s' is over %lld threads; the block has %lld "
                       "[layout-threads]",
                       b->name, (long long)plan->layout->nthread, (long long)s->nthread);
        Place *p = place_of(s, b);
        p->layout = plan->layout;
        p->strict = p->pinned = true;
    }
}

/* ---- strict and common ----------------------------------------------------------------------- */

static Infer view(State *s, const Item *item, InferLevel level)
{
    return infer_for(s, level, item->threads);
}

static void run_strict(State *s)
{
    for (int i = 0; i < s->items.n; i++) {
        Item *item = &s->items.at[i];
        Infer in = view(s, item, INFER_STRICT);
        if (item->nest) {
            item_set(s, item, item->nest->pinned);
            if (item->layout && layout_is_fragment(item->layout) && item->nest->fixed)
                parallel_spread(&in, item->nest, item->layout);
            continue;
        }
        const Mech *how = tile_plan(s->k, item->stmt)->how;
        if (how->infer)
            how->infer(&in, item->stmt);
        if (s->nthread > 0 && item->stmt->u.tile.op->infer)
            item->stmt->u.tile.op->infer(&in, item->stmt);
    }
}

static void follow_item(State *s, Item *item)
{
    Infer in = view(s, item, INFER_COMMON);
    if (!item->nest) {
        if (item->stmt->u.tile.op->infer)
            item->stmt->u.tile.op->infer(&in, item->stmt);
        return;
    }
    if (!item->layout)
        item_set(s, item, parallel_settled(&in, item->nest));
    if (item->layout)
        parallel_spread(&in, item->nest, item->layout);
}

/* A view and what it is a view of hold the same elements. */
static void follow_views(State *s)
{
    for (int i = 0; i < s->views.n; i++) {
        const Buffer *b = s->places.at[s->views.at[i]].buf;
        int64_t shape[RANK_MOST];
        Place *root = place_of(s, b->view_of), *p = place_of(s, b);
        if (!root->layout == !p->layout)
            continue;
        Place *to = root->layout ? p : root, *from = root->layout ? root : p;
        const Layout *l = NULL;
        if (buffer_static_shape(to->buf, shape))
            l = layout_view(s->k->ir, from->layout, dtype_bits(from->buf->type), to->buf->rank,
                            shape, dtype_bits(to->buf->type));
        if (l) {
            place_changes(s, to);
            to->layout = l;
            to->strict = from->strict;
            to->because = from->because;
        }
    }
}

static void run_common(State *s)
{
    for (int round = 0; round < ROUNDS_MOST; round++) {
        while (s->round.n > 0) {
            s->at = heap_pop(&s->round);
            s->items.at[s->at].waits = false;
            follow_views(s); /* before another statement gives them a layout of its own */
            follow_item(s, &s->items.at[s->at]);
        }
        s->at = s->items.n; /* what changes now is followed in the next round */
        follow_views(s);
        s->at = -1;
        for (int i = 0; i < s->later.n; i++)
            heap_push(s, &s->round, s->later.at[i]);
        s->later.n = 0;
        if (s->round.n == 0)
            return;
    }
}

/* ---- free ------------------------------------------------------------------------------------ */

static bool is_open(State *s, const Buffer *b)
{
    return b->scope == MEM_FRAGMENT && !place_of(s, b)->layout;
}

typedef struct {
    State *s;
    int n;
    const Buffer *buf[RANK_MOST * 4];
} OpenList;

static void see_open(void *arg, const Region *r, Access a)
{
    OpenList *o = arg;
    (void)a;
    if (is_open(o->s, r->buf) && o->n < COUNT(o->buf))
        o->buf[o->n++] = r->buf;
}

static void open_buffers(State *s, const Item *item, OpenList *o)
{
    *o = (OpenList){.s = s};
    if (!item->nest) {
        tile_access(item->stmt, see_open, o);
        return;
    }
    for (int i = 0; i < item->nest->access.n; i++) {
        const Buffer *b = item->nest->access.at[i].buf;
        if (is_open(s, b) && o->n < COUNT(o->buf))
            o->buf[o->n++] = b;
    }
}

static bool is_listed(const OpenList *o, const Buffer *b)
{
    for (int i = 0; i < o->n; i++)
        if (o->buf[i] == b)
            return true;
    return false;
}

static int compare_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Marks everything that hangs together with item `first` through open buffers. */
static void mark_group(State *s, int first)
{
    OpenList here, there;
    Map seen;

    map_init(&seen, s->arena);
    for (int i = 0; i < s->group.n; i++)
        s->items.at[s->group.at[i]].group = false;
    s->group.n = 0;
    s->items.at[first].group = true;
    vec_push(s->arena, &s->group, first);
    for (int i = 0; i < s->group.n; i++) {
        open_buffers(s, &s->items.at[s->group.at[i]], &here);
        for (int b = 0; b < here.n; b++) {
            const IntList *users = map_has(&seen, here.buf[b])
                                       ? NULL : map_get(&s->by_fragment, here.buf[b]);
            map_set(&seen, here.buf[b], s);
            for (int j = 0; users && j < users->n; j++) {
                Item *other = &s->items.at[users->at[j]];
                if (other->group)
                    continue;
                open_buffers(s, other, &there);
                other->group = is_listed(&there, here.buf[b]);
                if (other->group)
                    vec_push(s->arena, &s->group, users->at[j]);
            }
        }
    }
    qsort(s->group.at, (size_t)s->group.n, sizeof *s->group.at, compare_int);
}

/* Elements of the widest access: of the tile, or of the memory it is moved from or to. */
static int64_t access_width(State *s, const Item *item, const Buffer *b)
{
    int64_t w = kernel_access(s->k, b->type);
    int most = s->k->machine->access_bytes;
    return item && item->moves ? MAX(w, parallel_width(s->k->ir, item->moves, most)) : w;
}

static int64_t tile_width(const Buffer *b, int64_t nthread, int64_t w)
{
    int64_t shape[RANK_MOST], total = 1;
    buffer_static_shape(b, shape);
    for (int d = 0; d < b->rank; d++)
        total *= shape[d];
    while (w > 1 && (total % (w * nthread) != 0 || (b->rank && shape[b->rank - 1] % w != 0)))
        w /= 2;
    return w;
}

/* Root `which` of an item; false past its last. */
static bool take_root(State *s, Item *item, int which)
{
    Infer in = view(s, item, INFER_FREE);
    int64_t shape[RANK_MOST];
    OpenList o;
    if (item->nest) {
        item_set(s, item, parallel_candidate(&in, item->nest, which));
        if (item->layout)
            parallel_spread(&in, item->nest, item->layout);
        return item->layout != NULL;
    }
    if (which == 0 && item->stmt->u.tile.op->infer)
        item->stmt->u.tile.op->infer(&in, item->stmt);
    open_buffers(s, item, &o);
    if (which >= MAX(2 * o.n, 1))
        return false;
    const Buffer *b = o.n > 0 ? o.buf[which % o.n] : NULL;
    if (b && buffer_static_shape(b, shape)) {
        bool rows = which >= o.n && b->rank > 0;
        int64_t w = access_width(s, item, b);
        while (rows && shape[b->rank - 1] % w != 0)
            w /= 2;
        infer_set(&in, b, rows ? fragment_rows_best(in.ir, b->rank, shape, in.nthread, w,
                                                    kernel_warp(s->k))
                               : fragment_linear(in.ir, b->rank, shape, in.nthread,
                                                 tile_width(b, in.nthread, w)), item->stmt);
    }
    return true;
}

static void put_back(State *s, const Undo *u)
{
    if (u->place < 0) {
        item_set(s, &s->items.at[u->item], u->layout);
        return;
    }
    Place *p = &s->places.at[u->place];
    place_changes(s, p);
    p->layout = u->was.layout;
    p->strict = u->was.strict;
    p->because = u->was.because;
}

/* Back to where the log was empty. */
static void undo(State *s)
{
    s->logs = false;
    for (int i = s->log.n - 1; i >= 0; i--)
        put_back(s, &s->log.at[i]);
    s->log.n = 0;
    s->logs = true;
}

/* What the log says has changed, as it is now. */
static void save(State *s, UndoList *now)
{
    now->n = 0;
    for (int i = 0; i < s->log.n; i++) {
        Undo u = s->log.at[i];
        if (u.place < 0)
            u.layout = s->items.at[u.item].layout;
        else
            u.was = s->places.at[u.place];
        vec_push(s->arena, now, u);
    }
}

/* What would the operator make of one of its buffers, were it open?  The first that it would place
 * elsewhere, and where; if `must`, only what it cannot do without. */
static const Buffer *tile_disagrees(State *s, const Item *item, bool must, const Layout **wanted)
{
    const Stmt *t = item->stmt;
    const Buffer *found = NULL;
    Infer in = view(s, item, INFER_COMMON);
    in.asking = must;
    s->probing = true;
    for (int i = t->u.tile.nregion - 1; i >= 0 && t->u.tile.op->infer && !found; i--) {
        const Buffer *b = t->u.tile.region[i].buf;
        Place was = *place_of(s, b);
        if (b->scope != MEM_FRAGMENT || !was.layout)
            continue;
        s->probed = (int)(place_of(s, b) - s->places.at);
        place_of(s, b)->layout = NULL;
        t->u.tile.op->infer(&in, t);
        *wanted = place_of(s, b)->layout;
        *place_of(s, b) = was;
        s->probed = -1;
        if (*wanted && !layout_is_equal(in.ir, *wanted, was.layout))
            found = b;
    }
    s->probing = false;
    return found;
}

/* Of what a nest touches in registers, as it is placed: copies for those it cannot use so.  Where
 * nothing settles the nest, also iterations that threads run while others have none: a nest that
 * follows a part of a fragment leaves them the other parts. */
static int64_t nest_disagreement(State *s, const Item *item, const Layout *loop)
{
    const LoopNest *p = item->nest;
    int64_t bytes =
        loop && !item->layout ? layout_cost_idle(s->k->ir, loop, s->nthread) : 0;

    for (int i = 0; loop && i < p->access.n; i++) {
        const LoopAccess *a = &p->access.at[i];
        const Layout *l = a->buf->scope == MEM_FRAGMENT ? place_of(s, a->buf)->layout : NULL;
        if (l && layout_is_fragment(l) && !parallel_agrees(s->k->ir, p, a, loop, l))
            bytes += layout_cost_convert(a->buf, l);
    }
    return bytes;
}

/* A nest that nothing settles: the cheapest of its candidates. */
static const Layout *nest_layout(State *s, const Item *item)
{
    Infer in = view(s, item, INFER_FREE);
    const Layout *best = item->layout, *l;
    LayoutCost least = {0};

    for (int which = 0; !item->layout && (l = parallel_candidate(&in, item->nest, which));
         which++) {
        LayoutCost c = {nest_disagreement(s, item, l),
                        layout_cost_nest(s->k, item->nest, l)};
        if (which == 0 || layout_cost_compare(s->k, c, least) < 0) {
            best = l;
            least = c;
        }
    }
    return best;
}

/* What lanes hand each other they find by who holds it: where that has no closed form, all of the
 * first operand goes through memory. */
static int64_t lost_shuffle(State *s, const Stmt *t)
{
    const Region *r = t->u.tile.region;
    const Layout *from = r[0].buf->scope == MEM_FRAGMENT ? place_of(s, r[0].buf)->layout : NULL;
    bool takes = tile_plan(s->k, t)->how->takes_registers;
    bool lost = takes && from && t->u.tile.op->scatters && t->u.tile.op->scatters(s->k, t, from);

    for (int i = 0; takes && i < t->u.tile.nregion; i++) {
        const Layout *l = r[i].buf->scope == MEM_FRAGMENT ? place_of(s, r[i].buf)->layout : NULL;
        lost |= l && layout_is_fragment(l) && layout_cost_asking(s->k->ir, l);
    }
    return lost && from ? layout_cost_convert(r[0].buf, from) : 0;
}

static int64_t disagreement(State *s, const Item *item)
{
    const Layout *wanted;
    if (item->nest)
        return nest_disagreement(s, item, nest_layout(s, item));
    const Buffer *b = tile_disagrees(s, item, false, &wanted);
    return lost_shuffle(s, item->stmt) + (b ? layout_cost_convert(b, place_of(s, b)->layout) : 0);
}

/* A change is counted where it was first made: there the log has what was before. */
static int64_t cost_of_places(State *s)
{
    int64_t bytes = 0;
    Map seen;

    map_init(&seen, s->arena);
    for (int i = 0; i < s->log.n; i++) {
        const Undo *u = &s->log.at[i];
        const Place *p = u->place < 0 ? NULL : &s->places.at[u->place];
        if (!p || map_has(&seen, p->buf))
            continue;
        map_set(&seen, p->buf, p);
        if (p->layout && !u->was.layout && layout_is_fragment(p->layout))
            bytes += layout_cost_fragment(p->buf, p->layout) +
                     layout_cost_asking(s->k->ir, p->layout);
    }
    return bytes;
}

static LayoutCost cost_of(State *s)
{
    LayoutCost c = {cost_of_places(s), 0};
    Map was; /* Item -> its layout before */

    map_init(&was, s->arena);
    for (int i = 0; i < s->log.n; i++) {
        const Undo *u = &s->log.at[i];
        if (u->place < 0 && !map_has(&was, &s->items.at[u->item]))
            map_set(&was, &s->items.at[u->item], u->layout);
    }
    for (int i = 0; i < s->group.n; i++) {
        const Item *item = &s->items.at[s->group.at[i]];
        c.bytes += disagreement(s, item);
        if (item->layout && map_has(&was, item) && !map_get(&was, item))
            c.accesses += layout_cost_nest(s->k, item->nest, item->layout);
        if (item->moves) {
            Infer in = view(s, item, INFER_COMMON);
            const Layout *l = parallel_settled(&in, item->moves);
            c.accesses += l ? layout_cost_nest(s->k, item->moves, l) : 0;
        }
    }
    return c;
}

/* A root may settle only part of the group; the rest follows its own first roots. */
static void finish_group(State *s)
{
    for (int i = 0; i < s->group.n; i++) {
        Item *item = &s->items.at[s->group.at[i]];
        OpenList o;
        for (int round = 0; round < ROUNDS_MOST; round++) {
            run_common(s);
            open_buffers(s, item, &o);
            if (o.n == 0 || !take_root(s, item, 0))
                break;
        }
    }
}

static void take_saved(State *s, const UndoList *now)
{
    for (int i = 0; i < now->n; i++)
        put_back(s, &now->at[i]);
}

/* The best root of the marked group, taken. */
static void settle_group(State *s)
{
    UndoList best = {0};
    LayoutCost least = {0};
    int trials = 0;

    s->logs = true;
    for (int i = 0; i < s->group.n && trials < TRIALS_MOST; i++) {
        bool more = true;
        for (int which = 0; more && trials < TRIALS_MOST; which++) {
            more = take_root(s, &s->items.at[s->group.at[i]], which);
            if (more) {
                trials++;
                finish_group(s);
                LayoutCost c = cost_of(s);
                if (trials == 1 || layout_cost_compare(s->k, c, least) < 0) {
                    save(s, &best);
                    least = c;
                }
            }
            undo(s);
        }
    }
    s->logs = false;
    take_saved(s, &best);
}

static void run_free(State *s)
{
    for (int i = 0; i < s->items.n; i++) {
        OpenList o;
        open_buffers(s, &s->items.at[i], &o);
        for (int round = 0; o.n > 0 && round < ROUNDS_MOST; round++) {
            mark_group(s, i);
            settle_group(s);
            run_common(s);
            open_buffers(s, &s->items.at[i], &o);
        }
    }
}

/* Nests without fragments, and fragments that nothing touches. */
static void place_rest(State *s)
{
    int64_t shape[RANK_MOST];
    for (int i = 0; i < s->items.n; i++) {
        Item *item = &s->items.at[i];
        if (item->nest && !item->layout)
            item_set(s, item, nest_layout(s, item));
    }
    for (int i = 0; i < s->k->buffers.n; i++) {
        const Buffer *b = s->k->buffers.at[i];
        int64_t n = item_threads(s, group_holding(s, b));
        if (is_open(s, b) && buffer_static_shape(b, shape))
            place_of(s, b)->layout = fragment_linear(
                s->k->ir, b->rank, shape, n, tile_width(b, n, access_width(s, NULL, b)));
    }
}

/* ---- disagreement ---------------------------------------------------------------------------- */

static void conflict(State *s, const Item *item, const Buffer *b)
{
    diag_error(s->k->diag, item->stmt->span, "'%s' cannot take two layouts [layout-conflict]",
               b->name);
    diag_note(s->k->diag, item->stmt->span, "loop_layout= places its elements here");
    diag_note(s->k->diag, b->span, "'%s' is declared here and given a layout by annotate_layout",
              b->name);
}

/* A nest reads elements of a tile that other threads hold and writes to the same tile: then it
 * works on the tile as the reads want it, which the writes must agree with too. */
static bool writes_agree(Infer *in, const Item *item, const LoopAccess *read, const Layout *owner)
{
    if (read->how & ACC_WRITE || parallel_agrees(in->ir, item->nest, read, item->layout, owner))
        return true;
    const Layout *l = parallel_wanted(in, item->nest, read, item->layout);
    for (int i = 0; i < item->nest->access.n; i++) {
        const LoopAccess *a = &item->nest->access.at[i];
        if (a->buf == read->buf && a->how & ACC_WRITE &&
            !parallel_agrees(in->ir, item->nest, a, item->layout, l))
            return false;
    }
    return true;
}

/* A result that its owners and the nest cannot share is worked out by all threads. */
static void spread_nest(State *s, Item *item)
{
    Infer in = view(s, item, INFER_COMMON);
    for (int i = 0; item->layout && !item->nest->pinned && i < item->nest->access.n; i++) {
        const LoopAccess *a = &item->nest->access.at[i];
        const Layout *l = a->buf->scope == MEM_FRAGMENT ? place_of(s, a->buf)->layout : NULL;
        if (l && layout_is_fragment(l) && !writes_agree(&in, item, a, l))
            item->layout = parallel_everywhere(&in, item->nest);
    }
    for (int i = 0; item->layout && i < item->nest->access.n; i++) {
        const LoopAccess *a = &item->nest->access.at[i];
        const Layout *l = a->buf->scope == MEM_FRAGMENT ? place_of(s, a->buf)->layout : NULL;
        if (!l || !(a->how & ACC_WRITE) || item->nest->pinned ||
            parallel_agrees(in.ir, item->nest, a, item->layout, l))
            continue;
        l = parallel_wanted(&in, item->nest, a, item->layout);
        if (!parallel_agrees(in.ir, item->nest, a, item->layout, l))
            item->layout = parallel_everywhere(&in, item->nest);
    }
}

static void check_nest(State *s, Item *item)
{
    Infer in = view(s, item, INFER_COMMON);
    spread_nest(s, item);
    for (int i = 0; item->layout && i < item->nest->access.n; i++) {
        const LoopAccess *a = &item->nest->access.at[i];
        const Place *p = place_of(s, a->buf);
        if (a->buf->scope != MEM_FRAGMENT || !p->layout || !layout_is_fragment(p->layout) ||
            parallel_agrees(in.ir, item->nest, a, item->layout, p->layout))
            continue;
        if (p->pinned && item->nest->pinned)
            conflict(s, item, a->buf);
        else
            want_convert(s, a->buf, parallel_wanted(&in, item->nest, a, item->layout), item->stmt);
    }
}

static void check_tile(State *s, const Item *item)
{
    const Layout *wanted;
    const Buffer *b = tile_disagrees(s, item, true, &wanted);
    if (b)
        want_convert(s, b, wanted, item->stmt);
}

static void check_agreement(State *s)
{
    for (int i = 0; i < s->items.n; i++) {
        if (s->items.at[i].nest)
            check_nest(s, &s->items.at[i]);
        else
            check_tile(s, &s->items.at[i]);
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static void write_plans(State *s)
{
    Kernel *k = s->k;
    for (int i = 0; i < s->places.n; i++) {
        const Place *p = &s->places.at[i];
        if (p->layout && p->buf->scope != MEM_GLOBAL)
            buffer_plan(k, p->buf)->layout = p->layout;
        if (p->buf->scope == MEM_FRAGMENT)
            buffer_plan(k, p->buf)->group = group_holding(s, p->buf);
    }
    k->converts.n = 0;
    for (int i = 0; i < s->converts.n; i++)
        vec_push(k->arena, &k->converts, s->converts.at[i]);
    for (int i = 0; i < k->loops.n; i++)
        k->loops.at[i].layout = NULL;
    for (int i = 0; i < s->items.n; i++) {
        const Item *item = &s->items.at[i];
        if (item->layout)
            loop_plan(k, item->nest ? item->nest->var[0] : NULL)->layout = item->layout;
    }
}

void plan_layouts_threads(Kernel *k, int64_t nthread)
{
    State s = {.k = k, .arena = k->scratch, .nthread = nthread, .at = -1, .probed = -1};
    map_init(&s.by_buffer, s.arena);
    map_init(&s.by_fragment, s.arena);
    place_pinned(&s);
    for (int i = 0; i < k->buffers.n; i++) /* whoever reads a view, its layout is its root's */
        if (k->buffers.at[i]->view_of)
            place_of(&s, k->buffers.at[i]);
    if (nthread > 0) {
        group_fragments(k, &s.fragments);
        stmt_visit(k->body, see_control, &s);
    }
    group_visit(k, collect, &s);
    run_strict(&s);
    if (nthread > 0) {
        for (int i = 0; i < s.items.n; i++)
            follow_later(&s, i);
        run_common(&s);
        run_free(&s);
        place_rest(&s);
        check_agreement(&s);
    }
    write_plans(&s);
}

void pass_plan_layouts(Kernel *k)
{
    plan_layouts_threads(k, kernel_on_warps(k) ? kernel_block_threads(k) : 0);
}

/* A nest that a lowering made after layouts were settled: it follows the fragments it touches. */
const Layout *plan_nest(Kernel *k, ThreadGroup who, const LoopNest *p)
{
    State s = {.k = k, .arena = k->ir->arena, .nthread = group_threads(k, who), .at = -1,
               .probed = -1};
    Item item = {.stmt = p->loop, .threads = who, .nest = (LoopNest *)p};

    map_init(&s.by_buffer, s.arena);
    for (int i = 0; i < p->access.n; i++)
        place_of(&s, p->access.at[i].buf)->layout = buffer_plan(k, p->access.at[i].buf)->layout;
    Infer in = view(&s, &item, INFER_COMMON);
    const Layout *l = parallel_settled(&in, p);
    return l ? l : parallel_candidate(&in, p, 0);
}
