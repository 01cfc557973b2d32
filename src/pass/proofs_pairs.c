/* proofs_pairs.c -- part of proofs_order: two accesses of one tile, and the word for what orders
 * them.  A pair of lines is noted once, by the least that was found of its statements. */
#include "pass/plan_shared.h"
#include "pass/proofs_order.h"
#include "ir/config.h"

static bool touch_same(const Order *o, const Event *a, const Event *b)
{
    if (!a->writes && !b->writes)
        return false;
    if (a->adds && b->adds)
        return false;
    return a->buf == b->buf || buffers_share(o->k, a->buf, b->buf);
}

static const char *call_text(const Order *o, const Stmt *s)
{
    Arena *a = o->k->ir->arena;
    const IntrinInfo *i = &intrin_table[s->u.call.which];
    const char *word = i->word ? i->word : i->name, *of = "";
    int64_t n;

    if (s->u.call.nregion && buffer_root(s->u.call.region[0].buf)->scope == MEM_BARRIER)
        of = arena_printf(a, " of '%s'", buffer_root(s->u.call.region[0].buf)->name);
    else if (stmt_calls(s, INTRIN_SYNC_THREADS) && s->u.call.n == 2 &&
             expr_is_int(s->u.call.arg[1], &n))
        of = arena_printf(a, " of %d threads", (int)n);
    return arena_printf(a, "%s%s at line %d", word, of, (int)s->span.line);
}

static bool is_same_thread(const Event *a, const Event *b)
{
    return a->who.n == 1 && b->who.n == 1 && a->who.first == b->who.first;
}

static bool are_disjoint(const Event *a, const Event *b)
{
    return groups_apart(a->who, b->who);
}

static int stages_of(const Order *o, const Event *a)
{
    return MAX(buffer_plan(o->k, a->buf)->stages, 1);
}

static ThreadGroup all_threads(const Order *o)
{
    return (ThreadGroup){0, kernel_launch_threads(o->k)};
}

/* Which part of a stage a thread touches, stages apart; NULL: it cannot be said.  Loops over slots
 * come from operators and nests, whose iterations touch each element of a stage once. */
static const Expr *own_part(const Order *o, const Event *e)
{
    Ir *ir = o->k->ir;
    int64_t size = 0;
    Linear l = {0}, own = {0};

    if (!e->site || e->site->n != 1 || !e->nest ||
        (size = buffer_plan(o->k, e->buf)->nbytes * 8 / dtype_bits(e->buf->type)) <= 0)
        return NULL;
    size /= stages_of(o, e);
    linear_expr(&l, simplify(ir, o->facts, expr_subst_map(ir, e->site->at[0], &o->slots, NULL)), 1);
    for (int i = 0; i < l.n; i++) {
        bool thread = expr_uses_var(l.t[i].atom, o->slot);
        for (int d = 0; d < 3; d++)
            thread |= o->k->thread[d] && expr_uses_var(l.t[i].atom, o->k->thread[d]);
        if (thread)
            linear_term(&own, l.t[i].atom, l.t[i].coef);
        else if (l.t[i].coef % size)
            return NULL;
    }
    own.base = floor_mod(l.base, size);
    return l.bad || own.bad ? NULL : linear_make(ir, &own, DT_I64);
}

static bool are_of_one_nest(const Order *o, const Event *a, const Event *b)
{
    if (a->buf != b->buf)
        return false;
    if (a->nest && a->nest == b->nest && a->by == b->by)
        return true;
    const Expr *x = a->line == b->line ? own_part(o, a) : NULL;
    return x && x == own_part(o, b) && a->site->cond == b->site->cond;
}

static bool are_apart(const Order *o, const Event *a, const Event *b)
{
    if (are_of_one_nest(o, a, b))
        return true;
    if (a->buf == b->buf && a->site && b->site &&
        threads_apart(o->apart, a->site, b->site, all_threads(o)))
        return true;
    return a->tile >= 0 && a->tile == b->tile && a->writes && b->writes && a->buf == b->buf &&
           a->walk == b->walk;
}

/* Bulk copies into one tile: those who read it say when it may be filled again. */
static bool is_refill(const Event *a, const Event *b)
{
    return a->done == DONE_AT_BARRIER && b->done == DONE_AT_BARRIER && a->buf == b->buf &&
           a->writes && b->writes;
}

static void put(Order *o, const Event *a, const Event *b, OrderHow how, const char *by)
{
    Kernel *k = o->k;
    OrderNote n = {.at = b->line, .after = a->line, .buf = b->buf, .first = a->buf,
                   .writes = b->writes, .wrote = a->writes, .how = how, .by = by};

    for (int i = 0; i < k->order_notes.n; i++) {
        OrderNote *x = &k->order_notes.at[i];
        if (x->at != n.at || x->after != n.after || x->buf != n.buf || x->first != n.first ||
            x->writes != n.writes || x->wrote != n.wrote)
            continue;
        if (how > x->how)
            *x = n;
        return;
    }
    vec_push(k->ir->arena, &k->order_notes, n);
}

/* Of a tile of n stages all but the one being read may be in flight: the last n - 1 copies. */
static bool is_of_other_stage(const Order *o, const Event *a, const Event *b)
{
    int seen[KEYS_ALL], n = 0, most = MIN(stages_of(o, a), KEYS_ALL) - 1;

    if (most < 1 || a->buf != b->buf)
        return false;
    if (b->next)
        return true;
    if (a->queue != QUEUE_COPIES || a->landed)
        return false;
    for (int i = 0; i < o->open.n && n < most; i++) {
        const Event *e = &o->open.at[i];
        bool known = e->buf != a->buf || e->queue != QUEUE_COPIES || (e->group && !a->group) ||
                     (e->group && e->group <= a->group) || e->group == a->group;
        for (int j = 0; j < n && !known; j++)
            known = seen[j] == e->group;
        if (!known)
            seen[n++] = e->group;
    }
    return n < most;
}

/* order_refills */
static void mark_unordered(Order *o, const Event *a)
{
    for (int i = 0; i < o->all.n; i++)
        o->all.at[i].unordered |= o->all.at[i].by == a->by;
}

void order_pair(Order *o, const Event *a, const Event *b)
{
    Arena *arena = o->k->ir->arena;

    if (!touch_same(o, a, b))
        return;
    if (a->sync)
        put(o, a, b, ORDER_BARRIER,
            a->wait ? arena_printf(arena, "%s, then %s", call_text(o, a->wait),
                                   call_text(o, a->sync))
                    : call_text(o, a->sync));
    else if (is_same_thread(a, b) && a->landed)
        put(o, a, b, ORDER_THREAD, "one thread does both");
    else if (are_disjoint(a, b))
        return; /* order_cross */
    else if (is_refill(a, b) && a->walk != b->walk)
        mark_unordered(o, a);
    else if (is_of_other_stage(o, a, b))
        put(o, a, b, ORDER_STAGE, arena_printf(arena, "of %d stages another one",
                                               stages_of(o, a)));
    else if (are_apart(o, a, b))
        put(o, a, b, ORDER_APART, "no thread meets an element of another");
    else
        put(o, a, b, ORDER_UNKNOWN, a->landed ? "nothing was found between them"
                                              : "nothing was found that waits for the first");
}

/* ---- side by side ---------------------------------------------------------------------------- */

static int first_bit(uint64_t x)
{
    int n = 0;

    while (n < KEYS_ALL - 1 && !(x >> n & 1))
        n++;
    return n;
}

/* Where e waited for what `other` did: if that is done again and again, in the same iteration, or
 * for bytes that another tile takes in a loop that is over and has waited for every arrival. */
static uint64_t waits_of(const Order *o, const Event *e, const Event *other)
{
    uint64_t trusted = 0;

    if (other->walks == 1)
        return e->waits_near;
    for (int k = 0; k < KEYS_ALL; k++)
        if (o->arrivals[k] == o->nwait[k] && e->buf != other->buf)
            trusted |= UINT64_C(1) << k;
    return e->waits | (e->waits_far & trusted);
}

/* Keys that are waited for as often as the tile is filled. */
static uint64_t keys_often(const Order *o, const Event *a, const Event *b)
{
    int least = a->done == DONE_AT_BARRIER   ? a->walks
                : b->done == DONE_AT_BARRIER ? b->walks
                                             : MIN(a->walks, b->walks);
    uint64_t keys = 0;

    for (int k = 0; k < KEYS_ALL; k++)
        if (o->nwait[k] >= least)
            keys |= UINT64_C(1) << k;
    return keys;
}

/* Keys at which a is told, and b waits.  What is filled once for many uses is free after the last
 * of them; else it is the first arrival after the use that tells. */
static uint64_t keys_between(const Order *o, const Event *a, const Event *b)
{
    uint64_t told = a->walks > b->walks || a->buf != b->buf ? a->arrives : a->soonest;

    if (a->done == DONE_AT_BARRIER)
        told = a->key >= 0 ? UINT64_C(1) << a->key : 0;
    return told & waits_of(o, b, a) & keys_often(o, a, b);
}

static void put_cross(Order *o, const Event *a, const Event *b, uint64_t keys, bool apart)
{
    if (keys)
        put(o, a, b, ORDER_BARRIER, o->key_name[first_bit(keys)]);
    else if (apart)
        put(o, a, b, ORDER_APART, "no thread meets an element of another");
    else
        put(o, a, b, ORDER_UNKNOWN, "no barrier was found at which the second waits for the first");
}

/* Of a reader that waited for a, and arrives where b waits. */
static uint64_t keys_by_reader(const Order *o, const Event *a, const Event *b)
{
    for (int i = 0; i < o->all.n && a->key >= 0; i++) {
        const Event *r = &o->all.at[i];
        uint64_t keys = keys_between(o, r, b);
        if (!r->writes && r->buf == a->buf && keys_between(o, a, r) && keys)
            return keys;
    }
    return 0;
}

static void order_refills(Order *o)
{
    for (int i = 0; i < o->all.n; i++)
        for (int j = 0; j < o->all.n; j++) {
            const Event *a = &o->all.at[i], *b = &o->all.at[j];
            bool again = a->walks > 1 && b->walks > 1;
            if (again && is_refill(a, b) && !are_disjoint(a, b) && a->unordered)
                put_cross(o, a, b, keys_by_reader(o, a, b), false);
        }
}

/* A tile that a bulk copy fills is read after that, and filled again after it was read.  Of other
 * two, where one is done once, one order is enough. */
static void cross(Order *o, const Event *a, const Event *b)
{
    bool apart = are_apart(o, a, b), once = a->walks == 1 || b->walks == 1;
    bool fills = a->done == DONE_AT_BARRIER && a->writes && a->buf == b->buf;
    uint64_t there = keys_between(o, a, b), back = keys_between(o, b, a);

    if (fills ? true : there || !once || !back)
        put_cross(o, a, b, there, apart);
    if (fills ? a->walks > 1 : back || !once)
        put_cross(o, b, a, back, apart);
}

void order_cross(Order *o)
{
    for (int i = 0; i < o->all.n; i++)
        for (int j = i + 1; j < o->all.n; j++) {
            const Event *a = &o->all.at[i], *b = &o->all.at[j];
            if (!are_disjoint(a, b) || !touch_same(o, a, b) || a->last < b->first ||
                b->last < a->first)
                continue;
            bool second = b->done == DONE_AT_BARRIER && b->writes;
            cross(o, second ? b : a, second ? a : b);
        }
    order_refills(o);
}
