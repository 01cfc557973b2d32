/* tensor_program.c -- a @tl.tensor_program: its function run over nodes, printed as tiles, read
 * again as a kernel function.  Also tl.grad, which runs a function the same way. */
#include "front/tensor.h"

#include <stdlib.h>

enum { GRAD_MOST = 64 };

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Derivatives of y by those of the values that argnums names, as it names them. */
static Value derivatives(Eval *ev, Span at, const Value *y, const Value *argnums, const Value *args,
                         int nargs, bool with_value)
{
    Graph *g = tensor_graph(ev, at, "tl.grad");
    Node *wrt[GRAD_MOST], *out[GRAD_MOST];
    Value all[GRAD_MOST];
    const int n = value_is_seq(argnums) ? argnums->u.seq->n : 1;
    if (y->kind != V_NODE || node_count(y->u.node) != 1 || !dtype_is_float(y->u.node->type))
        diag_fail(ev->diag, at, "tl.grad: the function must give one number of a float type, "
                  "not %s [tensor-grad]", y->kind == V_NODE ? node_text(g, y->u.node)
                                                            : value_kind_name(y));
    if (n > GRAD_MOST)
        diag_fail(ev->diag, at, "tl.grad: at most %d arguments [tensor-grad]", GRAD_MOST);
    for (int i = 0; i < n; i++) {
        int64_t k = to_int(ev, at, value_is_seq(argnums) ? &argnums->u.seq->at[i] : argnums,
                           "tl.grad: argnums");
        if (k < 0 || k >= nargs || args[k].kind != V_NODE)
            diag_fail(ev->diag, at, "tl.grad: argument %lld is no tensor [tensor-grad]",
                      (long long)k);
        wrt[i] = args[k].u.node;
    }
    Node *one = node_full(g, y->u.node->type, 1, y->u.node->rank, y->u.node->shape);
    graph_grad(g, y->u.node, one, wrt, n, out);
    for (int i = 0; i < n; i++)
        all[i] = node_value(out[i]);
    Value got = value_is_seq(argnums) ? value_tuple(ev, all, n) : all[0];
    return with_value ? value_tuple(ev, (Value[]){*y, got}, 2) : got;
}

static Value grad_call(BuiltinCall *c)
{
    const Value *how = c->arg[0].u.seq->at; /* f, argnums, whether the value is wanted */
    CallArgs args = {.span = c->span, .n = c->nrest, .at = (Value *)c->rest};
    call_graph(c);
    Value y = eval_call(c->ev, c->span, &how[0], &args);
    return derivatives(c->ev, c->span, &y, &how[1], c->rest, c->nrest, how[2].u.i != 0);
}

static const Builtin grad_row = {"grad", "how, *args", grad_call, "", "tensor", ""};

Value do_tensor_grad(BuiltinCall *c)
{
    Value how[3] = {c->arg[0], c->arg[1],
                    value_bool(!strcmp(c->b->name, "tilelang.value_and_grad"))};
    Value self = value_tuple(c->ev, how, 3);
    return value_method(c->ev, &self, &grad_row, NULL);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static const NameShape *shape_of(const Eval *ev, const char *name)
{
    const LoadRequest *q = ev->request;
    for (int i = 0; q && i < q->nshape; i++)
        if (!strcmp(q->shapes[i].name, name))
            return &q->shapes[i];
    return NULL;
}

/* A name is an extent that stays open, unless NAME=VALUE was given; `actual` is its extent in the
 * call, or NULL. */
static int64_t read_extent(Eval *ev, const char **s, const int64_t *actual)
{
    char *end;
    const char *name = *s;
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (n && (*name < '0' || *name > '9')) {
        *s += n;
        name = arena_strndup(ev->arena, name, n);
        const Given *given = given_find(ev, name);
        if (given)
            return to_int(ev, ev->graph->at, &given->value, name);
        return ev->graph->closed && actual ? *actual
                                           : graph_open(ev->graph, name, actual ? *actual : -1);
    }
    int64_t v = strtoll(name, &end, 10);
    v = end == name ? -1 : v;
    *s = end;
    return v;
}

/* "float32[n, 8]" */
static bool read_text(Eval *ev, Span at, const Value *v, const NameShape *actual, DType *t,
                      int64_t *shape, int *rank)
{
    int lanes;
    const char *s = v->kind == V_STR ? v->u.s.text : NULL, *open = s ? strchr(s, '[') : NULL;
    if (!open || !dtype_parse(arena_strndup(ev->arena, s, (size_t)(open - s)), t, &lanes))
        return false;
    *rank = 0;
    for (const char *p = open + 1; *p && *p != ']' && *rank < TENSOR_RANK; p += strspn(p, ", ")) {
        const int d = (*rank)++;
        shape[d] = read_extent(ev, &p, actual && d < actual->rank ? &actual->shape[d] : NULL);
        if (shape[d] < 0)
            diag_fail(ev->diag, at, "'%s' is no shape: \"float32[n, 8]\" is [tensor-shape]", s);
    }
    return true;
}

static bool read_spec(Eval *ev, Span at, const Value *v, const NameShape *actual, DType *t,
                      int64_t *shape, int *rank)
{
    if (v->kind != V_TENSOR)
        return read_text(ev, at, v, actual, t, shape, rank);
    *t = v->u.spec->dtype;
    *rank = v->u.spec->rank;
    for (int d = 0; d < *rank && d < TENSOR_RANK; d++)
        shape[d] = to_int(ev, at, &v->u.spec->shape[d], "an extent");
    return true;
}

/* The tensor of a call: its extents, but for those that stay open. */
static Value called_with(Eval *ev, const AstParam *p, const NameShape *s, DType t, int rank,
                         const int64_t *noted)
{
    int64_t shape[TENSOR_RANK];
    Graph *g = ev->graph;
    if (s->strange)
        diag_fail(ev->diag, p->span, "'%s' is an array of %s; elements of tensors are floats, "
                  "integers and bools [tensor-type]", p->name, s->strange);
    for (int d = 0; d < s->rank && d < TENSOR_RANK; d++) {
        shape[d] = s->shape[d];
        if (s->open && s->open[d])
            shape[d] = graph_open(g, s->open[d], s->shape[d]);
        else if (!s->open && rank == s->rank && extent_is_open(g, noted[d]))
            shape[d] = noted[d];
    }
    return node_value(node_input(g, p->name, s->dtype != DT_NONE ? s->dtype : t, s->rank, shape));
}

/* What it was called with, else what was given by name, else its annotation, else its default. */
static Value parameter(Eval *ev, Scope *in, const Function *fn, int i)
{
    const AstParam *p = &fn->ast->params[i];
    const NameShape *s = shape_of(ev, p->name);
    const Given *given = given_find(ev, p->name);
    DType t = DT_F32;
    int64_t shape[TENSOR_RANK];
    int rank = 0;
    Value note;
    ev->graph->at = p->span;
    if (p->star)
        diag_fail(ev->diag, p->span, "a tensor program has a fixed list of parameters "
                  "[star-parameter]");
    if (p->annotation && p->annotation->kind == AST_STRING)
        note = value_str(ev, p->annotation->str, p->annotation->len);
    else if (p->annotation)
        note = param_annotation(ev, in, fn, p);
    bool noted = p->annotation && !(s && s->open) &&
                 read_spec(ev, p->span, &note, s, &t, shape, &rank);
    if (s)
        return called_with(ev, p, s, t, rank, shape);
    if (given && read_text(ev, p->span, &given->value, NULL, &t, shape, &rank))
        noted = true;
    else if (given)
        return given->value;
    if (noted)
        return node_value(node_input(ev->graph, p->name, t, rank, shape));
    if (fn->defaults[i].kind == V_UNBOUND)
        diag_fail(ev->diag, p->span, "the shape of '%s' is not known: annotate it with "
                  "\"float32[4, 8]\", or give %s='\"float32[4, 8]\"' or --in %s=FILE.npy "
                  "[tensor-shape]", p->name, p->name, p->name);
    return fn->defaults[i];
}

/* ---- the function ---------------------------------------------------------------------------- */

static void add_output(Eval *ev, Span at, const Value *v)
{
    Graph *g = ev->graph;
    if (value_is_seq(v)) {
        for (int i = 0; i < v->u.seq->n; i++)
            add_output(ev, at, &v->u.seq->at[i]);
        return;
    }
    if (v->kind != V_NODE && !is_number(v))
        diag_fail(ev->diag, at, "a tensor program returns tensors, not %s [tensor-return]",
                  value_kind_name(v));
    Node *n = to_node(ev, at, v, NULL, "what is returned");
    vec_push(g->arena, &g->outputs, node_output(g, n));
}

typedef enum { TRACE_OPEN, TRACE_AGAIN, TRACE_CLOSED } TraceHow;

static Graph *trace_once(Eval *ev, Function *fn, const Value *argnums, bool with_value,
                         TraceHow how)
{
    const AstFunc *f = fn->ast;
    Graph *outer = ev->graph;
    const Machine *m = ev->request ? ev->request->machine : NULL;
    Graph *g = graph_new(ev->arena, ev->diag, m, f->name);
    Scope *in = scope_new(ev, fn->closure);
    Value *args = NEWN(ev->arena, Value, f->nparam + 1);
    int n = 0;
    in->func = fn;
    ev->graph = g;
    g->other_primes = how == TRACE_AGAIN;
    g->closed = how == TRACE_CLOSED;
    g->least = ev->request && ev->request->least > 0 ? ev->request->least : 1;
    g->at = f->name_span;
    for (int i = 0; i < f->nparam; i++) {
        if (!f->params[i].name)
            continue;
        args[n] = parameter(ev, in, fn, i);
        scope_set(ev, in, f->params[i].name, &args[n++]);
    }
    Value y = call_body(ev, f->name_span, in, fn);
    if (argnums)
        y = derivatives(ev, f->name_span, &y, argnums, args, n, with_value);
    add_output(ev, f->name_span, &y);
    if (g->outputs.n == 0)
        diag_fail(ev->diag, f->name_span, "'%s' returns nothing [tensor-return]", f->name);
    ev->graph = outer;
    g->text = graph_tiles(g);
    return g;
}

/* Extents that stay open are numbers while it is traced: other numbers must give the same text. */
static Graph *trace_program(Eval *ev, Function *fn, const Value *argnums, bool with_value)
{
    Graph *g = trace_once(ev, fn, argnums, with_value, TRACE_OPEN);
    if (g->nopen &&
        strcmp(g->text, trace_once(ev, fn, argnums, with_value, TRACE_AGAIN)->text))
        diag_fail(ev->diag, fn->ast->name_span, "'%s' computes with the extent '%s' what needs its "
                  "value [tensor-extent]", g->name, g->open[0].name);
    return g;
}

Graph *front_tensor(Eval *ev, const TraceRequest *r, const Value *argnums, bool with_value)
{
    ev->given = NEWN(ev->arena, Given, r->nkey + 1);
    for (int i = 0; i < r->nkey; i++)
        ev->given[ev->ngiven++] = (Given){.name = r->key[i], .value = r->val[i]};
    Value v = front_define(ev, r->src, FN_TENSOR, r->host_data);
    ev->globals = v.u.func->closure;
    return trace_program(ev, v.u.func, argnums, with_value);
}

/* With extents open, or else, where inputs tell them, with those. */
static Graph *trace_loaded(Eval *ev, Function *fn)
{
    Diag *d = ev->diag;
    Graph *volatile g = NULL, *outer = ev->graph;
    const int messages = d->list.n, errors = d->nerror, nest = ev->nest, depth = ev->depth;
    Recover r;
    if (!ev->request || !ev->request->nshape)
        return trace_program(ev, fn, NULL, false);
    if (recover_open(&r) == 0) {
        g = trace_program(ev, fn, NULL, false);
        recover_close(&r);
    }
    if (g)
        return g;
    if (r.status != STATUS_USER)
        recover_throw(r.status, "%s", r.text);
    Message why = d->list.at[d->list.n - 1];
    ev->graph = outer;
    d->list.n = messages;
    d->nerror = errors;
    ev->nest = nest;
    ev->depth = depth;
    Graph *closed = trace_once(ev, fn, NULL, false, TRACE_CLOSED);
    closed->explain = arena_printf(ev->arena, "%sfor these extents alone: %s\n", closed->explain,
                                   why.text);
    return closed;
}

Func *tensor_load(Eval *ev, Function *fn)
{
    Graph *g = trace_loaded(ev, fn);
    Source *src = NEW(ev->arena, Source);
    LoadRequest q = {.src = src, .func = g->name};
    if (ev->request) {
        q.threads = ev->request->threads;
        q.machine = ev->request->machine;
    }
    src->name = arena_printf(ev->arena, "<tiles of %s>", g->name);
    src->text = g->text;
    src->len = strlen(src->text);
    Func *f = front_load(ev->ir, &q);
    for (int i = 0; i < g->inputs.n; i++) /* the text may have had to call it otherwise */
        f->params.at[i].name = g->inputs.at[i]->name;
    for (int i = g->inputs.n; i < f->params.n; i++)
        f->params.at[i].out = f->params.at[i].buf->is_output = true;
    f->tiles = src->text;
    f->explain = g->explain;
    return f;
}
