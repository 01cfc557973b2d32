/* lower_sync_touch.c -- part of lower_sync: which buffers a statement touches, and whether two of
 * its threads conflict at an element. */
#include "pass/sync.h"
#include "isa/isa.h"

enum { TOUCHES_MOST = 16 }; /* more are taken for accesses of anything */

void toucher_init(Toucher *t, Kernel *k)
{
    *t = (Toucher){.k = k, .arena = k->scratch, .apart = apart_new(k), .each = 1};
    map_init(&t->sites, t->arena);
    t->nop = k->ir->ntile + 1;
    t->op = NEWN(t->arena, char, t->nop);
}

void pending_init(Pending *p, Arena *a)
{
    Map *all[] = {&p->read, &p->written, &p->added, &p->issued, &p->next, &p->old, &p->results,
                  &p->bulk};

    for (int i = 0; i < COUNT(all); i++)
        map_init(all[i], a);
    p->waits = false;
    for (int q = 0; q < QUEUE_COUNT; q++) {
        map_init(&p->flying[q], a);
        p->lands[q] = false;
    }
}

/* ---- lists of accesses ----------------------------------------------------------------------- */

static bool has_touch(const Touches *list, const Touches *t)
{
    for (; list; list = list->next)
        if ((list->by == t->by && list->site == t->site) || !list->by)
            return true;
    return false;
}

static const Touches *with_touch(Arena *a, const Touches *list, const Touches *t)
{
    static const Touches many = {.n = 1};
    Touches *r;

    if (has_touch(list, t))
        return list;
    if (!t->by || (list && list->n == TOUCHES_MOST))
        return &many;
    r = NEW(a, Touches);
    *r = (Touches){t->by, t->site, t->view, list, list ? list->n + 1 : 1};
    return r;
}

bool same_touches(const Touches *a, const Touches *b)
{
    if ((a ? a->n : 0) != (b ? b->n : 0))
        return false;
    for (; a && a != b; a = a->next)
        if (!has_touch(b, a))
            return false;
    return true;
}

static void note(Arena *a, Map *m, const Buffer *b, Touches t)
{
    map_set(m, buffer_root(b), with_touch(a, map_get(m, buffer_root(b)), &t));
}

void touches_join(Arena *a, Map *into, const Map *from)
{
    for (int i = 0; i < from->n; i++) {
        const void *key = from->at[i].key;
        const Touches *all = key ? map_get(into, key) : NULL, *more = from->at[i].val;
        if (key && !all)
            map_set(into, key, more);
        for (const Touches *t = more; key && all && t; t = t->next)
            all = with_touch(a, all, t);
        if (key && all)
            map_set(into, key, all);
    }
}

bool touches_conflict(Toucher *t, const Touches *a, const Touches *b, ThreadGroup g)
{
    return !a->site || !b->site || a->view != b->view ||
           !parts_apart(t->apart, a->site, b->site, g, t->each);
}

/* ---- what a unit touches --------------------------------------------------------------------- */

typedef struct {
    Toucher *t;
    Pending *p;
    const Expr *cond; /* of the branches around, inside the unit; NULL: none */
} Touching;

/* Parts of bytes are written by reading the others. */
static const ThreadSite *site_of(const Touching *g, const Buffer *b, const Expr *const *at, int n)
{
    struct Chain { ThreadSite site; struct Chain *next; } *c;

    if (dtype_bits(b->type) < 8)
        return NULL;
    for (c = map_get(&g->t->sites, at); c; c = c->next)
        if (c->site.cond == g->cond)
            return &c->site;
    c = NEW(g->t->arena, struct Chain);
    c->site = (ThreadSite){at, n, g->cond};
    c->next = map_get(&g->t->sites, at);
    map_set(&g->t->sites, at, c);
    return &c->site;
}

static void note_by(Touching *g, Map *m, const Buffer *b, const void *by)
{
    note(g->t->arena, m, b, (Touches){.by = by});
}

static void note_site(Touching *g, Map *m, const Buffer *b, const Expr *const *at, int n,
                      const void *by)
{
    note(g->t->arena, m, b, (Touches){.by = by, .site = site_of(g, b, at, n), .view = b});
}

static bool touch_load(const Expr *e, void *arg)
{
    Touching *g = arg;

    if ((e->op != EX_LOAD && e->op != EX_ADDR) || !is_common(e->u.buf))
        return true;
    if (e->op == EX_LOAD) {
        note_site(g, &g->p->read, e->u.buf, e->kid, expr_nindex(e), e);
    } else {
        note_by(g, &g->p->read, e->u.buf, e);
        note_by(g, &g->p->written, e->u.buf, e);
    }
    return true;
}

static const void *operator_of(const Toucher *t, const Stmt *s)
{
    for (int i = 0; i < s->u.instr.nregion; i++)
        if (s->u.instr.isa->effects[i] == 'r' && s->u.instr.region[i].buf->scope == MEM_SHARED &&
            buffer_plan(t->k, s->u.instr.region[i].buf)->groups > 1)
            return &t->op[t->nop - 1];
    return &t->op[s->u.instr.tile];
}

static void touch_instr(Touching *g, const Stmt *s)
{
    Pending *p = g->p;
    const Isa *isa = s->u.instr.isa;
    const char *effects = isa->effects;
    const void *by = operator_of(g->t, s);

    for (int i = 0; i < s->u.instr.nregion; i++) {
        const Buffer *b = s->u.instr.region[i].buf;
        if (b->scope == MEM_FRAGMENT && isa->done == DONE_BY_GROUP) /* operands are read as long */
            note_by(g, &p->results, b, s);
        if (!is_common(b))
            continue;
        bool lands = isa->done == DONE_AT_BARRIER || isa->done == DONE_BY_COMMIT;
        if (effects[i] == 'r' || (effects[i] == 'a' && !lands)) /* MMAs add up in their order */
            note_by(g, &p->read, b, s);
        if (isa->done == DONE_BY_GROUP && b->scope == MEM_SHARED)
            note_by(g, &p->flying[isa->queue], b, s);
        if (effects[i] != 'r' && lands)
            note_by(g, &p->bulk, b, by);
        else if (effects[i] != 'r')
            note_by(g, &p->written, b, effects[i] == 'w' ? by : s);
    }
}

/* One side is registers, and the direction is known. */
static bool touch_wide(Touching *g, const Stmt *s)
{
    bool load = s->kind == ST_CALL && s->u.call.which == INTRIN_WIDE_LOAD;
    if (!load && !(s->kind == ST_CALL && s->u.call.which == INTRIN_WIDE_STORE))
        return false;
    const Expr *a = s->u.call.arg[load];
    note_by(g, load ? &g->p->read : &g->p->written, a->u.buf,
            load ? (const void *)a : (const void *)s);
    for (int d = 0; d < a->nkid; d++)
        expr_visit(a->kid[d], touch_load, g);
    expr_visit(s->u.call.arg[2], touch_load, g);
    return true;
}

static void touch_store(Touching *g, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;

    if (!is_common(b))
        return;
    if (s->u.store.async)
        note_by(g, s->u.store.async == ASYNC_NEXT ? &g->p->next : &g->p->issued, b, s);
    else
        note_site(g, &g->p->written, b, s->u.store.at, s->u.store.n, s);
}

static void touch_one(Touching *g, const Stmt *s)
{
    Pending *p = g->p;

    if (touch_wide(g, s))
        return;
    stmt_visit_expr(s, touch_load, g);
    for (int q = 0; q < QUEUE_COUNT; q++)
        p->lands[q] |= stmt_waits(s, (Queue)q);
    p->waits |= stmt_waits(s, QUEUE_COPIES) ||
                (s->kind == ST_CALL && s->u.call.which == INTRIN_ARRIVE_COPIES);
    if (s->kind == ST_STORE)
        touch_store(g, s);
    if (s->kind == ST_ATOMIC && is_common(s->u.atomic.buf))
        note_site(g, &p->added, s->u.atomic.buf, s->u.atomic.at, s->u.atomic.n, s);
    if (s->kind == ST_INSTR)
        touch_instr(g, s);
}

static void touch_all(Touching *g, const Stmt *s);

static void touch_branch(Touching *g, const Stmt *s)
{
    Ir *ir = g->t->k->ir;
    const Expr *was = g->cond, *cond = s->u.branch.cond;

    bool says = !alike_for_threads(g->t->apart, cond); /* something about who comes by */

    if (says)
        g->cond = was ? expr_and(ir, was, cond) : cond;
    touch_all(g, s->u.branch.then);
    if (says) {
        cond = expr_unary(ir, EX_NOT, cond);
        g->cond = was ? expr_and(ir, was, cond) : cond;
    }
    if (s->u.branch.orelse)
        touch_all(g, s->u.branch.orelse);
    g->cond = was;
}

static void touch_all(Touching *g, const Stmt *s)
{
    touch_one(g, s);
    if (s->kind == ST_IF)
        touch_branch(g, s);
    for (int i = 0; s->kind != ST_IF && i < stmt_nkid(s); i++)
        touch_all(g, stmt_kid(s, i));
}

void touch(Toucher *t, const Stmt *s, Pending *u)
{
    pending_init(u, t->arena);
    touch_all(&(Touching){t, u, NULL}, s);
}

void touch_loads(Toucher *t, const Stmt *s, Pending *u)
{
    stmt_visit_expr(s, touch_load, &(Touching){t, u, NULL});
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool same_map(const Map *a, const Map *b)
{
    int na = 0, nb = 0;

    for (int i = 0; i < b->n; i++)
        nb += b->at[i].key != NULL;
    for (int i = 0; i < a->n; i++) {
        const void *key = a->at[i].key;
        if (key && !same_touches(a->at[i].val, map_get(b, key)))
            return false;
        na += key != NULL;
    }
    return na == nb;
}

bool same_pending(const Pending *a, const Pending *b)
{
    bool same = same_map(&a->read, &b->read) && same_map(&a->written, &b->written) &&
                same_map(&a->added, &b->added) && same_map(&a->issued, &b->issued) &&
                same_map(&a->old, &b->old) && same_map(&a->results, &b->results);

    for (int q = 0; q < QUEUE_COUNT; q++)
        same = same && same_map(&a->flying[q], &b->flying[q]);
    return same;
}
