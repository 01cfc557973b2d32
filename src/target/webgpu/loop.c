/* loop.c -- loops that choose elements of a thread's own arrays are printed iteration by iteration.
 *
 * An array that is only ever indexed by constants is registers to every compiler of WGSL; one that
 * a loop indexes is memory to most of them, and WGSL has no word that asks for unrolling. */
#include "target/webgpu/webgpu.h"

enum { COPIES_MOST = 512 }; /* statements in place of one loop */

typedef struct {
    const Var *v;
    int n;      /* statements */
    bool own;   /* an array of the thread is indexed by v */
    bool leaves; /* out of the loop, or to its next iteration */
    bool binds; /* names */
} Look;

static bool is_own(const Buffer *b)
{
    MemScope scope = buffer_root(b)->scope;
    return scope == MEM_FRAGMENT || scope == MEM_LOCAL;
}

static bool look_expr(const Expr *x, void *arg)
{
    Look *l = arg;
    if (x->op == EX_LOAD && is_own(x->u.buf) && x->nkid)
        l->own |= expr_uses_var(x->kid[0], l->v);
    return !l->own;
}

static int64_t iterations(const Stmt *s)
{
    int64_t min, n;
    return expr_is_int(s->u.loop.min, &min) && expr_is_int(s->u.loop.extent, &n) ? n : -1;
}

static bool look_stmt(const Stmt *s, void *arg)
{
    Look *l = arg;

    if (s->kind == ST_STORE && is_own(s->u.store.buf))
        l->own |= expr_uses_var(s->u.store.at[0], l->v);
    l->leaves |= s->kind == ST_BREAK || s->kind == ST_CONTINUE;
    l->binds |= s->kind == ST_LET || s->kind == ST_ATOMIC || s->kind == ST_CALL;
    l->n += s->kind != ST_BLOCK;
    stmt_visit_expr(s, look_expr, l);
    return true;
}

/* ---- iterations ------------------------------------------------------------------------------
 *
 * Many of them are always done once the loop's variable is a number, and neighbours often wait for
 * the same condition: drivers take long over hundreds of branches. */

typedef struct {
    Emit *e;
    const Expr *under; /* the condition that is open; NULL: none */
} Run;

static void go_under(Run *r, const Expr *cond)
{
    if (r->under == cond)
        return;
    if (r->under)
        wgsl_close_if(r->e);
    if (cond)
        wgsl_open_if(r->e, cond);
    r->under = cond;
}

/* The condition of a store or a branch that has no other side, which nothing in between changes. */
static const Expr *condition_of(const Stmt *s)
{
    const Expr *c = s->kind == ST_STORE ? s->u.store.guard
                    : s->kind == ST_IF && stmt_is_empty(s->u.branch.orelse) ? s->u.branch.cond
                                                                            : NULL;
    return c && c->lanes == 1 && !expr_has_load(c) ? c : NULL;
}

static void emit_iteration(Run *r, const Stmt *s)
{
    Emit *e = r->e;
    Ir *ir = e->ir;
    const Expr *cond = condition_of(s);
    int64_t yes;

    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            emit_iteration(r, s->u.block.list[i]);
        return;
    }
    if (!cond) {
        go_under(r, NULL);
        emit_stmt(e, s);
        return;
    }
    cond = simplify(ir, e->facts, cond);
    bool known = expr_is_int(cond, &yes);
    if (known && !yes)
        return;
    go_under(r, known ? NULL : cond);
    if (s->kind == ST_IF)
        emit_stmt(e, s->u.branch.then);
    else
        emit_stmt(e, stmt_store(ir, s->span, s->u.store.buf, s->u.store.at, s->u.store.n,
                                s->u.store.value));
}

void wgsl_loop(Emit *e, const Stmt *s)
{
    Look l = {.v = s->u.loop.var};
    int64_t n = iterations(s), min = 0;
    Run r = {e, NULL};

    stmt_visit(s->u.loop.body, look_stmt, &l);
    if (n < 0 || !l.own || l.leaves || n * l.n > COPIES_MOST) {
        emit_loop(e, s, NULL, emit_stmt);
        return;
    }
    expr_is_int(s->u.loop.min, &min);
    for (int64_t i = 0; i < n; i++) {
        const Expr *at = expr_const(e->ir, s->u.loop.var->type, min + i);
        const Stmt *once = stmt_subst(e->ir, s->u.loop.body, s->u.loop.var, at);
        if (!l.binds) {
            emit_iteration(&r, once);
            continue;
        }
        emit_line(e, "{");
        e->indent++;
        emit_iteration(&r, once);
        go_under(&r, NULL);
        e->indent--;
        emit_line(e, "}");
    }
    go_under(&r, NULL);
}
