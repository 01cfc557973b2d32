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
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            check_stmt(c, s->u.block.list[i]);
        die_back(c, mark);
        break;
    case ST_LET: come_alive(c, s->u.let.var); break;
    case ST_FOR:
        come_alive(c, s->u.loop.var);
        check_inside(c, s->u.loop.body);
        die_back(c, mark);
        break;
    case ST_IF: case ST_WHILE:
        check_inside(c, s->u.branch.then);
        check_inside(c, s->u.branch.orelse);
        break;
    case ST_ROLE: check_inside(c, s->u.role.body); break;
    case ST_ATOMIC: come_alive(c, s->u.atomic.bind); break;
    case ST_CALL: come_alive(c, s->u.call.bind); break;
    case ST_LAUNCH: check_launch(c, s->u.launch.kernel); break;
    default: break;
    }
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
