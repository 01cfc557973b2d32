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

void wgsl_loop(Emit *e, const Stmt *s)
{
    Look l = {.v = s->u.loop.var};
    int64_t n = iterations(s), min = 0;

    stmt_visit(s->u.loop.body, look_stmt, &l);
    if (n < 0 || !l.own || l.leaves || n * l.n > COPIES_MOST) {
        emit_loop(e, s, NULL, emit_stmt);
        return;
    }
    expr_is_int(s->u.loop.min, &min);
    for (int64_t i = 0; i < n; i++) {
        const Expr *at = expr_const(e->ir, s->u.loop.var->type, min + i);
        if (l.binds)
            emit_line(e, "{");
        e->indent += l.binds;
        emit_stmt(e, stmt_subst(e->ir, s->u.loop.body, s->u.loop.var, at));
        e->indent -= l.binds;
        if (l.binds)
            emit_line(e, "}");
    }
}
