/* verify_synced.c -- FORM_SYNCED on straight lines, apart from what lower_sync went by.
 *
 * Between two barriers, statements of one block that all threads run: if one stores an element of
 * shared memory that another, of another thread, loads or stores, a barrier is missing.  Where an
 * element lies is worked out for every thread, so what is found is so.  What depends on more than
 * the thread, stands under a condition or goes by asynchronous copies is the simulator's. */
#include "pass/thread_group.h"
#include "pass/verify.h"
#include "ir/config.h"

enum { SINCE_MOST = 16 }; /* accesses kept since the last barrier; later ones are not looked at */

typedef struct {
    const Buffer *buf;
    const Expr *at;
    bool write;
} Place;

typedef struct {
    Verify *v;
    const Kernel *k;
    int n;
    Place since[SINCE_MOST];
} Line;

/* Do two threads touch one element?  elem: thread of the first access by element, -1 none. */
static bool meet(Line *l, const Place *a, const Place *b)
{
    const Expr *at[2] = {a->at, b->at};
    int64_t size = buffer_static_size(a->buf), where[3], off[2];
    int threads = kernel_block_threads(l->k);
    bool found = false;
    Var *vars[3];

    if (a->at == b->at || size <= 0 || l->k->extra_threads)
        return false;
    const ExprCode *code = expr_compile(l->k->ir, vars, thread_vars(l->k, vars), at, 2);
    int *of = NEWN(l->v->arena, int, size);
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < threads; t++) {
            thread_point(l->k, t, where);
            expr_run(code, where, off);
            if (off[pass] < 0 || off[pass] >= size)
                return false;
            if (pass == 0)
                of[off[0]] = of[off[0]] ? -1 : t + 1; /* by several: they store the same */
            else
                found |= of[off[1]] > 0 && of[off[1]] != t + 1;
        }
    return found;
}

static void touch(Line *l, const Buffer *b, const Expr *at, bool write)
{
    Place now = {b, at, write};

    if (b->scope != MEM_SHARED || b->view_of || !is_of_thread(l->k, at))
        return;
    for (int i = 0; i < l->n; i++)
        if (l->since[i].buf == b && (write || l->since[i].write) && meet(l, &l->since[i], &now))
            offence(l->v, "no barrier before '%s' is touched by other threads", b->name);
    if (l->n < SINCE_MOST)
        l->since[l->n++] = now;
}

static bool touch_load(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD && !e->guarded)
        touch(arg, e->u.buf, e->kid[0], false);
    return e->op != EX_IF && e->op != EX_AND && e->op != EX_OR; /* those may not be evaluated */
}

static bool see_other(const Stmt *s, void *arg)
{
    *(bool *)arg |= s->kind != ST_BLOCK && s->kind != ST_LET && s->kind != ST_STORE &&
                    s->kind != ST_FOR && s->kind != ST_IF;
    return true;
}

static void follow(Line *l, const Stmt *s)
{
    bool other = false;

    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++)
        follow(l, s->u.block.list[i]);
    if (s->kind == ST_BLOCK)
        return;
    stmt_visit(s, see_other, &other);
    l->v->at = s;
    if (s->kind == ST_LET)
        stmt_visit_expr(s, touch_load, l);
    if (s->kind == ST_STORE && !s->u.store.async && !s->u.store.guard) {
        stmt_visit_expr(s, touch_load, l);
        touch(l, s->u.store.buf, s->u.store.at[0], true);
    }
    if (other)
        l->n = 0;
    if (other && s->kind == ST_FOR && expr_is_const(s->u.loop.extent)) {
        follow(l, s->u.loop.body);
        l->n = 0;
    }
}

void verify_synced(Verify *v)
{
    Line l = {.v = v, .k = v->k};
    bool own = config_on(v->k->func, CONFIG_disable_thread_storage_sync);

    if (v->k->form & FORM_FLAT && v->k->thread[0] && !own)
        follow(&l, v->k->body);
}
