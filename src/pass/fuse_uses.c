/* fuse_uses.c -- which elements statements touch, and whether two loops get in each other's way. */
#include "pass/fuse.h"

enum { TOUCH_MOST = 128 }; /* accesses that are compared; a larger body stays as it is */

static void use_touch(void *arg, const Stmt *s, const Touch *t)
{
    Uses *u = arg;

    (void)s;
    vec_push(u->arena, &u->touch, *t);
}

static bool is_call(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_ADDR || e->op == EX_EXTERN;
}

static bool use_stmt(const Stmt *s, void *arg)
{
    Uses *u = arg;

    if (s->kind != ST_BLOCK && s->kind != ST_FOR && s->kind != ST_LET && s->kind != ST_IF &&
        s->kind != ST_STORE) {
        u->opaque = true;
        return false;
    }
    u->loops |= s->kind == ST_FOR;
    u->opaque |= (s->kind == ST_FOR && s->u.loop.how != LOOP_SERIAL &&
                  s->u.loop.how != LOOP_VECTOR) || stmt_holds_expr(s, is_call, NULL);
    stmt_touches(s, use_touch, u);
    return true;
}

Uses uses_of(Arena *a, const Stmt *s)
{
    Uses u = {.arena = a};
    stmt_visit(s, use_stmt, &u);
    u.opaque |= u.touch.n > TOUCH_MOST;
    return u;
}

bool commute(const Uses *a, const Uses *b)
{
    if (a->opaque || b->opaque)
        return false;
    for (int i = 0; i < a->touch.n; i++)
        for (int j = 0; j < b->touch.n; j++) {
            const Touch *x = &a->touch.at[i], *y = &b->touch.at[j];
            if ((touch_writes(x) || touch_writes(y)) && buffer_root(x->buf) == buffer_root(y->buf))
                return false;
        }
    return true;
}

/* x in an iteration v and y in another iteration w are never the same element. */
static bool apart(Ir *ir, const Touch *x, Var *v, const Touch *y, Var *w)
{
    if (x->buf != y->buf || x->n != y->n || x->buf->scope == MEM_VAR)
        return false;
    for (int d = 0; d < x->n; d++) {
        int64_t coef;
        const Expr *base;
        if (expr_subst(ir, y->at[d], w, expr_var(ir, v)) == x->at[d] && !expr_has_load(x->at[d]) &&
            affine_of(ir, x->at[d], &v, 1, &coef, &base) && coef != 0)
            return true;
    }
    return false;
}

bool independent(Ir *ir, const Uses *a, Var *v, const Uses *b, Var *w)
{
    if (a->opaque || b->opaque)
        return false;
    for (int i = 0; i < a->touch.n; i++)
        for (int j = 0; j < b->touch.n; j++) {
            const Touch *x = &a->touch.at[i], *y = &b->touch.at[j];
            if (!touch_writes(x) && !touch_writes(y))
                continue;
            if (buffer_root(x->buf) == buffer_root(y->buf) && !apart(ir, x, v, y, w))
                return false;
        }
    return true;
}

bool is_fusable(const Stmt *s)
{
    return s->kind == ST_FOR && s->u.loop.hints.n == 0 &&
           (s->u.loop.how == LOOP_SERIAL || s->u.loop.how == LOOP_VECTOR);
}

bool same_range(const Stmt *a, const Stmt *b)
{
    return a->u.loop.min == b->u.loop.min && a->u.loop.extent == b->u.loop.extent &&
           a->u.loop.var->type == b->u.loop.var->type;
}
