/* scope_check.c -- every variable of a traced function is seen only where it lives.
 *
 * Names that die with a block are caught when they are read; this catches values that left their
 * block by another way: through a list, an attribute, an alias. */
#include "front/eval.h"

typedef struct {
    Eval *ev;
    Map live;          /* Var* -> itself */
    VEC(Var *) order;  /* as they came to life */
    Span span;
} ScopeCheck;

static void come_alive(ScopeCheck *c, Var *v)
{
    if (!v)
        return;
    map_set(&c->live, v, v);
    vec_push(c->ev->arena, &c->order, v);
}

static void die_back(ScopeCheck *c, int mark)
{
    while (c->order.n > mark)
        map_remove(&c->live, c->order.at[--c->order.n]);
}

static bool see_expr(const Expr *e, void *arg)
{
    ScopeCheck *c = arg;
    if (e->op != EX_VAR || map_has(&c->live, e->u.var))
        return true;
    const Var *v = e->u.var;
    if (map_get(&c->ev->dynamic, v->name) == v)
        diag_fail(c->ev->diag, c->span, "T.dynamic '%s' is not an extent of any tensor "
                  "parameter, so its value cannot be known [dynamic-unknown]", v->name);
    diag_error(c->ev->diag, c->span, "'%s' is used outside of the block it was made in; to "
               "carry a value out, use T.alloc_var [out-of-scope]", v->name);
    diag_note(c->ev->diag, v->span, "made here");
    diag_throw(c->ev->diag);
}

static void check_stmt(ScopeCheck *c, const Stmt *s);

static void check_inside(ScopeCheck *c, const Stmt *s)
{
    int mark = c->order.n;
    if (s)
        check_stmt(c, s);
    die_back(c, mark);
}

static void check_launch(ScopeCheck *c, const Kernel *k)
{
    int mark = c->order.n;
    c->span = k->span;
    for (int i = 0; i < k->ngrid; i++)
        expr_visit(k->grid[i], see_expr, c);
    for (int i = 0; i < 3; i++) {
        come_alive(c, k->block[i]);
        come_alive(c, k->thread[i]);
    }
    if (k->body)
        check_stmt(c, k->body);
    die_back(c, mark);
}

static void check_stmt(ScopeCheck *c, const Stmt *s)
{
    int mark = c->order.n;
    c->span = s->span;
    if (s->kind != ST_LAUNCH)
        stmt_visit_expr(s, see_expr, c);
    come_alive(c, stmt_binds(s));
    for (int i = 0; i < stmt_nkid(s); i++)
        if (s->kind == ST_BLOCK)
            check_stmt(c, stmt_kid(s, i));
        else
            check_inside(c, stmt_kid(s, i));
    if (s->kind == ST_BLOCK || s->kind == ST_FOR)
        die_back(c, mark);
    if (s->kind == ST_LAUNCH)
        check_launch(c, s->u.launch.kernel);
}

/* Outputs and workspaces are as large as the inputs say. */
static void check_shape(ScopeCheck *c, const Buffer *b)
{
    c->span = b->span;
    for (int d = 0; d < b->rank; d++)
        expr_visit(b->shape[d], see_expr, c);
}

void check_scopes(Eval *ev, Func *f)
{
    ScopeCheck c = {.ev = ev};
    map_init(&c.live, ev->arena);
    for (int i = 0; i < f->params.n; i++)
        come_alive(&c, f->params.at[i].var);
    for (int i = 0; i < f->dims.n; i++)
        come_alive(&c, f->dims.at[i]);
    for (int i = 0; i < f->params.n; i++)
        if (f->params.at[i].buf)
            check_shape(&c, f->params.at[i].buf);
    for (int i = 0; i < f->workspaces.n; i++)
        check_shape(&c, f->workspaces.at[i]);
    if (f->body)
        check_stmt(&c, f->body);
}
