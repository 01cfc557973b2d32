/* foreign.c -- where the evaluator asks its host: operations on foreign values, and what the host
 * knows of a function's parameters. */
#include "front/eval.h"

bool is_foreign(const Value *v)
{
    return v->kind == V_FOREIGN;
}

bool host_op(Eval *ev, Span at, const char *op, const Value *arg, int n, Value *out)
{
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || is_foreign(&arg[i]);
    if (!any || !ev->host || !ev->host->op)
        return false;
    ev->host_span = at;
    *out = (Value){0};
    if (ev->host->op(ev, ev->host_data, op, arg, n, out) == STATUS_OK)
        return true;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return false;
}

bool host_builtin(Eval *ev, Span at, const char *name, const CallArgs *args, Value *out)
{
    bool any = false;
    for (int i = 0; i < args->n; i++)
        any = any || is_foreign(&args->at[i]);
    for (int i = 0; i < args->nkey; i++)
        any = any || is_foreign(&args->val[i]);
    if (!any || !ev->host || !ev->host->builtin)
        return false;
    ev->host_span = at;
    *out = (Value){0};
    if (ev->host->builtin(ev, ev->host_data, name, args->at, args->n, args->key, args->val,
                          args->nkey, out) == STATUS_OK)
        return true;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return false;
}

Value call_foreign(Eval *ev, Span at, const Value *callee, const CallArgs *args)
{
    Value out = {0};
    ev->host_span = at;
    if (ev->host && ev->host->call &&
        ev->host->call(ev, ev->host_data, callee->u.foreign, args->at, args->n, args->key,
                       args->val, args->nkey, &out) == STATUS_OK)
        return out;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    diag_fail(ev->diag, at, "this Python object cannot be called here [not-callable]");
}

bool attr_foreign(Eval *ev, Span at, void *foreign, const char *name, Value *out)
{
    *out = (Value){0};
    ev->host_span = at;
    if (ev->host && ev->host->attr &&
        ev->host->attr(ev, ev->host_data, foreign, name, out) == STATUS_OK)
        return out->kind != V_UNBOUND;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return false;
}

bool index_foreign(Eval *ev, Span at, const Value *v, const Value *index, Value *out)
{
    ev->host_span = at;
    if (ev->host && ev->host->index &&
        ev->host->index(ev, ev->host_data, v->u.foreign, index, out) == STATUS_OK)
        return true;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return false;
}

/* Only functions that the host handed over have a scope with host_data. */
bool host_param(Eval *ev, Scope *home, char what, const AstParam *p, Value *out)
{
    if (!home->host_data || !ev->host || !ev->host->param || !p->name)
        return false;
    ev->host_span = p->span;
    *out = (Value){0};
    if (ev->host->param(ev, home->host_data, what, p->name, out) == STATUS_OK)
        return out->kind != V_UNBOUND;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return false;
}

/* ---- functions of a host language ------------------------------------------------------------ */

static Span first_line(const Source *src)
{
    return (Span){.src = src, .line = 1, .col = 1, .end_line = 1, .end_col = 1};
}

static const AstFunc *find_def(AstStmt *const *body, int n)
{
    const AstFunc *f = NULL;
    for (int i = 0; i < n && !f; i++) {
        if (body[i]->kind == AS_DEF)
            f = body[i]->func;
        else if (body[i]->kind == AS_IF || body[i]->kind == AS_CLASS)
            f = find_def(body[i]->body, body[i]->nbody);
    }
    return f;
}

const AstFunc *parse_def(Ir *ir, const Source *src)
{
    AstModule *m = parse_module(ir->arena, ir->names, ir->diag, src);
    if (ir->diag->nerror)
        diag_throw(ir->diag);
    const AstFunc *f = find_def(m->body, m->nbody);
    if (!f)
        diag_fail(ir->diag, first_line(src),
                  "there is no function in this text [no-such-function]");
    return f;
}

Value front_define(Eval *ev, const Source *src, FunctionKind kind, void *host_data)
{
    const AstFunc *f = parse_def(ev->ir, src);
    Scope *s = scope_new(ev, NULL);
    s->is_module = true;
    s->host_data = host_data;
    Value v = make_function(ev, s, f);
    v.u.func->kind = kind;
    return v;
}
