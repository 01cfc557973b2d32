/* lone_store.c -- elements of fragments that a kernel written per thread sets outside of loops.
 *
 * `m[0] = T.max(m[0], x)` is said once for the block, though every thread comes by.  Where all of them
 * would store the same, the store becomes a parallel loop of one iteration, which the block runs once.
 * A store that differs from thread to thread is left to each of them. */
#include "front/eval.h"

typedef struct {
    Kernel *k;
    Map vars, buffers; /* whose value differs from thread to thread */
    bool found;        /* of an expression */
} Vary;

static bool is_private(const Buffer *b)
{
    return b->scope == MEM_LOCAL || b->scope == MEM_VAR;
}

static bool see_varying(const Expr *e, void *arg)
{
    Vary *v = arg;

    if (e->op == EX_VAR)
        for (int d = 0; d < 3; d++)
            v->found |= e->u.var == v->k->thread[d];
    v->found |= e->op == EX_EXTERN || (e->op == EX_VAR && map_has(&v->vars, e->u.var)) ||
                (e->op == EX_LOAD && map_has(&v->buffers, buffer_root(e->u.buf)));
    return !v->found;
}

static bool varies(Vary *v, const Expr *e)
{
    v->found = false;
    if (e)
        expr_visit(e, see_varying, v);
    return v->found;
}

static bool store_varies(Vary *v, const Stmt *s)
{
    bool differs = varies(v, s->u.store.value) || varies(v, s->u.store.guard);
    for (int d = 0; d < s->u.store.n; d++)
        differs = differs || varies(v, s->u.store.at[d]);
    return differs;
}

static void mark_private(Vary *v, const Region *r, int n)
{
    for (int i = 0; i < n; i++)
        if (is_private(buffer_root(r[i].buf)))
            map_set(&v->buffers, buffer_root(r[i].buf), v);
}

/* astray: not all threads come by. */
static void learn(Vary *v, const Stmt *s, bool astray)
{
    if (!s)
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            learn(v, s->u.block.list[i], astray);
        break;
    case ST_LET:
        if (varies(v, s->u.let.value))
            map_set(&v->vars, s->u.let.var, v);
        break;
    case ST_STORE:
        if (is_private(buffer_root(s->u.store.buf)) && (astray || store_varies(v, s)))
            map_set(&v->buffers, buffer_root(s->u.store.buf), v);
        break;
    case ST_FOR:
        if (varies(v, s->u.loop.min) || varies(v, s->u.loop.extent)) {
            map_set(&v->vars, s->u.loop.var, v);
            astray = true;
        }
        learn(v, s->u.loop.body, astray);
        break;
    case ST_WHILE:
    case ST_IF:
        astray = astray || varies(v, s->u.branch.cond);
        learn(v, s->u.branch.then, astray);
        learn(v, s->u.branch.orelse, astray);
        break;
    case ST_ROLE: learn(v, s->u.role.body, astray); break;
    case ST_TILE: mark_private(v, s->u.tile.region, s->u.tile.nregion); break;
    case ST_CALL:
        mark_private(v, s->u.call.region, s->u.call.nregion);
        if (s->u.call.bind)
            map_set(&v->vars, s->u.call.bind, v);
        break;
    case ST_ATOMIC:
        if (s->u.atomic.bind)
            map_set(&v->vars, s->u.atomic.bind, v);
        break;
    default: break;
    }
}

static const Stmt *once(Ir *ir, const Stmt *s)
{
    Var *i = var_new(ir, "once", DT_I32, s->span);
    return stmt_for(ir, s->span, LOOP_PARALLEL, i, expr_int(ir, 0), expr_int(ir, 1), (Hints){0}, s);
}

static const Stmt *wrap(Vary *v, const Stmt *s)
{
    Ir *ir = v->k->ir;

    if (!s)
        return s;
    switch (s->kind) {
    case ST_BLOCK: {
        const Stmt **list = NEWN(ir->arena, const Stmt *, s->u.block.n);
        bool same = true;
        for (int i = 0; i < s->u.block.n; i++) {
            list[i] = wrap(v, s->u.block.list[i]);
            same &= list[i] == s->u.block.list[i];
        }
        return same ? s : stmt_block(ir, s->span, s->u.block.n, list);
    }
    case ST_STORE:
        return buffer_root(s->u.store.buf)->scope == MEM_FRAGMENT && !store_varies(v, s) ? once(ir, s) : s;
    case ST_FOR:
        if (s->u.loop.how == LOOP_PARALLEL || varies(v, s->u.loop.min) || varies(v, s->u.loop.extent))
            return s;
        return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, s->u.loop.min, s->u.loop.extent,
                        s->u.loop.hints, wrap(v, s->u.loop.body));
    case ST_WHILE:
        return varies(v, s->u.branch.cond)
                   ? s : stmt_while(ir, s->span, s->u.branch.cond, wrap(v, s->u.branch.then));
    case ST_IF:
        return varies(v, s->u.branch.cond)
                   ? s : stmt_if(ir, s->span, s->u.branch.cond, wrap(v, s->u.branch.then),
                                 wrap(v, s->u.branch.orelse));
    case ST_ROLE:
        return stmt_role(ir, s->span, s->u.role.name, s->u.role.nthread, s->u.role.thread,
                         wrap(v, s->u.role.body));
    default: return s;
    }
}

void trace_lone_stores(Kernel *k)
{
    Vary v = {.k = k};
    int before;

    if (!k->uses_threads || !k->body)
        return;
    map_init(&v.vars, k->ir->arena);
    map_init(&v.buffers, k->ir->arena);
    do {
        before = v.vars.n + v.buffers.n;
        learn(&v, k->body, false);
    } while (v.vars.n + v.buffers.n != before);
    k->body = wrap(&v, k->body);
}
