/* touch.c -- what statements do to memory: the one walk that finds it. */
#include "ir/tile.h"
#include "isa/isa.h"

typedef struct {
    const Stmt *s;
    TouchFn *fn;
    void *arg;
} Walk;

static bool touch_expr(const Expr *e, void *arg)
{
    const Walk *w = arg;
    Touch t = {.expr = e, .how = ACC_READ};

    if (e->op != EX_LOAD && e->op != EX_ADDR)
        return true;
    t.buf = e->u.buf;
    t.at = e->kid;
    t.n = expr_nindex(e);
    if (e->op == EX_ADDR)
        t.how |= ACC_WRITE | ACC_ADDRESS;
    w->fn(w->arg, w->s, &t);
    return true;
}

static void touch_region(void *arg, const Region *r, Access a)
{
    const Walk *w = arg;
    w->fn(w->arg, w->s, &(Touch){.buf = r->buf, .how = a, .region = r});
}

void stmt_touches(const Stmt *s, TouchFn *fn, void *arg)
{
    Walk w = {s, fn, arg};

    stmt_visit_expr(s, touch_expr, &w);
    if (s->kind == ST_STORE)
        fn(arg, s, &(Touch){.buf = s->u.store.buf, .how = ACC_WRITE, .at = s->u.store.at,
                            .n = s->u.store.n});
    if (s->kind == ST_ATOMIC)
        fn(arg, s, &(Touch){.buf = s->u.atomic.buf, .how = ACC_REDUCE, .at = s->u.atomic.at,
                            .n = s->u.atomic.n});
    if (s->kind == ST_TILE)
        tile_access(s, touch_region, &w);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++)
        touch_region(&w, &s->u.call.region[i], (Access)(ACC_READ | ACC_WRITE));
    for (int i = 0; s->kind == ST_INSTR && i < s->u.instr.nregion; i++)
        touch_region(&w, &s->u.instr.region[i], access_of(s->u.instr.isa->effects[i]));
}

static bool touch_stmt(const Stmt *s, void *arg)
{
    const Walk *w = arg;
    stmt_touches(s, w->fn, w->arg);
    return true;
}

void stmt_touches_all(const Stmt *s, TouchFn *fn, void *arg)
{
    stmt_visit(s, touch_stmt, &(Walk){NULL, fn, arg});
}
