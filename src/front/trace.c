/* trace.c -- prim_func, macro and eager functions into Funcs.
 *
 * A prim_func inside of a factory is traced when its decorator runs, so the names around it are
 * frozen then.  An eager function is run twice: once up to T.Kernel to learn its tensors and
 * T.const names, once with their values. */
#include "front/eval.h"

/* ---- for builtins ---------------------------------------------------------------------------- */

void trace_need(Eval *ev, Span at, const char *what)
{
    if (!ev->trace)
        diag_fail(ev->diag, at, "%s stands outside of a kernel function [outside-function]", what);
}

void trace_need_kernel(Eval *ev, Span at, const char *what)
{
    if (!ev->trace || !ev->trace->kernel)
        diag_fail(ev->diag, at, "%s stands outside of T.Kernel [outside-kernel]", what);
}

void trace_emit(Eval *ev, const Stmt *s)
{
    BUG(!ev->trace, "a statement outside of a trace");
    if (ev->trace->in_lazy)
        diag_fail(ev->diag, s->span, "a side of 'and', 'or' or a conditional expression cannot do "
                  "this; use 'if' [statement-in-condition]");
    build_add(ev->trace->build, s);
}

Buffer *trace_buffer(Eval *ev, Span at, DType t, MemScope scope, int rank, const Expr *const *shape)
{
    if (scope == MEM_GLOBAL) {
        trace_need(ev, at, "this tensor");
    } else {
        trace_need_kernel(ev, at, "this tile");
    }
    Buffer *b = buffer_new(ev->ir, "buf", t, scope, rank, shape, at);
    if (scope == MEM_GLOBAL) {
        b->is_workspace = true;
        vec_push(ev->ir->arena, &ev->trace->func->workspaces, b);
    } else {
        vec_push(ev->ir->arena, &ev->trace->kernel->buffers, b);
    }
    vec_push(ev->arena, &ev->trace->fresh, b);
    return b;
}

Buffer *trace_empty(Eval *ev, Span at, DType t, int rank, const Expr *const *shape)
{
    trace_need(ev, at, "T.empty");
    if (ev->trace->kernel)
        diag_fail(ev->diag, at, "T.empty stands before T.Kernel, not inside of it [inside-kernel]");
    Buffer *b = buffer_new(ev->ir, "out", t, MEM_GLOBAL, rank, shape, at);
    b->is_output = b->is_param = true;
    vec_push(ev->arena, &ev->trace->fresh, b);
    vec_push(ev->arena, &ev->trace->empties, b);
    return b;
}

/* Variables are scalars: a vector stands for itself, or its lanes are named where memory that it
 * reads may change. */
static const Expr *let_lanes(Eval *ev, Span at, const char *name, const Expr *value)
{
    enum { MOST = 64 };
    const Expr *lane[MOST];

    if (!expr_has_load(value) || value->lanes > MOST)
        return value;
    for (int i = 0; i < value->lanes; i++)
        lane[i] = trace_let(ev, at, name, expr_lane(ev->ir, value, i));
    return expr_vector(ev->ir, lane, value->lanes);
}

const Expr *trace_let(Eval *ev, Span at, const char *name, const Expr *value)
{
    if (value->lanes > 1)
        return let_lanes(ev, at, name, value);
    Var *v = var_new(ev->ir, name, (DType)value->type, at);
    const Expr *e = expr_var(ev->ir, v);
    trace_emit(ev, stmt_let(ev->ir, at, v, value));
    if (ev->trace && !expr_has_load(value))
        map_set(&ev->trace->lets, v, (void *)value);
    return e;
}

Value trace_const(Eval *ev, Span at, const char *name, DType type)
{
    Trace *t = ev->trace;
    if (!t || !t->eager)
        diag_fail(ev->diag, at, "T.const is for functions without an inner @T.prim_func; use a "
                  "parameter of the factory [const-outside]");
    Value *known = map_get(&t->consts, name);
    if (known)
        return *known;
    known = NEW(ev->arena, Value);
    map_set(&t->consts, name, known);
    const Given *g = given_find(ev, name);
    if (g) {
        if (g->value.kind != V_INT || g->value.u.i <= 0)
            diag_fail(ev->diag, at, "'%s' must be a positive int [const-value]", name);
        *known = g->value;
        return *known;
    }
    if (t->eager == 2)
        diag_fail(ev->diag, at, "the value of T.const '%s' is not known: give %s=VALUE "
                  "[const-unknown]", name, name);
    Var *v = var_new(ev->ir, name, type, at);
    vec_push(ev->arena, &t->const_vars, v);
    *known = value_expr(ev, expr_var(ev->ir, v));
    return *known;
}

Value trace_dynamic(Eval *ev, Span at, const char *name, DType type)
{
    Var *v = map_get(&ev->dynamic, name);
    if (!v) {
        v = var_new(ev->ir, name, type, at);
        map_set(&ev->dynamic, v->name, v);
    }
    if (v->type != type)
        diag_fail(ev->diag, at, "T.dynamic '%s' was %s before and is %s here [dynamic-type]", name,
                  dtype_name(v->type), dtype_name(type));
    return value_expr(ev, expr_var(ev->ir, v));
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* A string's text as a source of its own, in which it stands where it stands in the file. */
static Source *string_source(Eval *ev, const Ast *e)
{
    Source *src = NEW(ev->arena, Source);
    const Source *file = e->span.src;
    const char *at = file ? file->text : NULL;

    *src = (Source){.name = "<annotation>", .text = e->str, .len = e->len};
    for (int line = 1; at && line < e->span.line; line++)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    if (!at || strlen(at) < (size_t)e->span.col + e->len ||
        memcmp(at + e->span.col, e->str, e->len))
        return src; /* with escapes, or a prefix */
    Str s;
    str_init(&s, ev->arena);
    for (int i = 1; i < e->span.line; i++)
        str_printf(&s, "\n");
    str_printf(&s, "(%*s%s)", e->span.col - 1, "", e->str);
    *src = (Source){.name = file->name, .text = s.s, .len = strlen(s.s)};
    return src;
}

static Value annotation_value(Eval *ev, Scope *s, const Ast *e)
{
    DType t;
    int lanes;
    if (e->kind != AST_STRING)
        return eval_expr(ev, s, e);
    if (dtype_parse(e->str, &t, &lanes))
        return value_dtype(t, lanes);
    Source *src = string_source(ev, e);
    Ast *inner = parse_expression(ev->arena, ev->names, ev->diag, src);
    if (!inner)
        diag_fail(ev->diag, e->span, "this annotation cannot be read [annotation]");
    if (src->text != e->str)
        *src = *e->span.src; /* its spans are places of the file */
    return eval_expr(ev, s, inner);
}

/* A host that ran the def has the values: names that only annotations use are not in closures. */
Value param_annotation(Eval *ev, Scope *in, const Function *fn, const AstParam *p)
{
    Value v;
    return host_param(ev, fn->closure, 'a', p, &v) ? v : annotation_value(ev, in, p->annotation);
}

static const Expr **shape_exprs(Eval *ev, Span at, const Value *v, int n, const char *what)
{
    const Expr **out = NEWN(ev->arena, const Expr *, n + 1);
    for (int i = 0; i < n; i++)
        out[i] = to_expr(ev, at, &v[i], what);
    return out;
}

static Value tensor_parameter(Eval *ev, Span at, const char *name, const TensorSpec *spec, Param *p)
{
    if (spec->scope != MEM_GLOBAL)
        diag_fail(ev->diag, at, "the parameter '%s' of a kernel function must be a global tensor "
                  "[parameter-scope]", name);
    if (spec->lanes > 1)
        diag_fail(ev->diag, at, "the elements of '%s' are vectors, %sx%d; give it one more extent, "
                  "of %d [unsupported-here]", name, dtype_name(spec->dtype), spec->lanes,
                  spec->lanes);
    const Expr **shape = shape_exprs(ev, at, spec->shape, spec->rank, "an extent");
    p->buf = buffer_new(ev->ir, name, spec->dtype, MEM_GLOBAL, spec->rank, shape, at);
    p->buf->is_param = true;
    if (spec->stride)
        p->buf->stride = shape_exprs(ev, at, spec->stride, spec->rank, "a stride");
    return value_buffer(p->buf);
}

static void put_declared(Eval *ev, const Param *p)
{
    Param *copy = NEW(ev->arena, Param);
    *copy = *p;
    map_set(&ev->trace->declared, copy->name, copy);
}

/* The run-time value a parameter stands for. */
static Value make_parameter(Eval *ev, Span at, const char *name, const Value *annotation)
{
    Param p = {.name = ir_name(ev->ir, name), .span = at};
    Value a = *annotation, v;
    DType t;
    int lanes;
    if (a.kind == V_BUILTIN && !is_builtin(&a, "int") && !is_builtin(&a, "float") &&
        !is_builtin(&a, "bool"))
        a = call_values(ev, at, &a, NULL, 0); /* T.ptr without parentheses */
    if (a.kind == V_TENSOR && !a.u.spec->is_pointer) {
        v = tensor_parameter(ev, at, name, a.u.spec, &p);
    } else if (a.kind == V_TENSOR) {
        p.var = var_new(ev->ir, name, DT_HANDLE, at);
        map_set(&ev->trace->pointers, p.var, a.u.spec);
        v = value_expr(ev, expr_var(ev->ir, p.var));
    } else if (a.kind == V_DTYPE || a.kind == V_STR || a.kind == V_BUILTIN || a.kind == V_OPAQUE) {
        to_dtype(ev, at, &a, &t, &lanes, arena_printf(ev->arena, "the annotation of '%s'", name));
        if (lanes > 1)
            diag_fail(ev->diag, at, "the parameter '%s' is a vector, %sx%d; pass its lanes one by "
                      "one [unsupported-here]", name, dtype_name(t), lanes);
        p.var = var_new(ev->ir, name, t, at);
        v = value_expr(ev, expr_var(ev->ir, p.var));
    } else {
        diag_fail(ev->diag, at, "'%s' needs a tensor or a dtype as annotation, not %s [annotation]",
                  name, value_kind_name(&a));
    }
    put_declared(ev, &p);
    return v;
}

/* `A: T.Tensor(…)` as a statement types the parameter A. */
static bool declared_among(AstStmt *const *list, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        const AstStmt *s = list[i];
        if (s->kind == AS_ANN && !s->value && s->targets[0]->kind == AST_NAME &&
            !strcmp(s->targets[0]->name, name))
            return true;
        if (s->kind == AS_IF && (declared_among(s->body, s->nbody, name) ||
                                 declared_among(s->orelse, s->norelse, name)))
            return true;
    }
    return false;
}

bool declared_in_body(const AstFunc *f, const char *name)
{
    return declared_among(f->body, f->nbody, name);
}

static void prim_parameters(Eval *ev, Scope *in, Function *fn)
{
    for (int i = 0; i < fn->ast->nparam; i++) {
        const AstParam *p = &fn->ast->params[i];
        if (p->star)
            diag_fail(ev->diag, p->span, "a kernel function has a fixed list of parameters "
                      "[star-parameter]");
        if (p->posonly)
            diag_fail(ev->diag, p->span, "positional-only parameters are not supported here "
                      "[positional-only]");
        if (!p->annotation && declared_in_body(fn->ast, p->name))
            continue;
        if (!p->annotation)
            diag_fail(ev->diag, p->span, "the parameter '%s' needs an annotation such as "
                      "T.Tensor((M, N), \"float16\") [missing-annotation]", p->name);
        if (p->value)
            diag_warn(ev->diag, p->span, "the default of '%s' is ignored: every call of a kernel "
                      "gives all arguments [parameter-default]", p->name);
        Value a = param_annotation(ev, in, fn, p);
        Value v = make_parameter(ev, p->span, p->name, &a);
        scope_set(ev, in, p->name, &v);
    }
}

void declare_parameter(Eval *ev, Scope *s, const AstStmt *st)
{
    const Ast *target = st->targets[0];
    Trace *t = ev->trace;
    if (s->func != t->fn || target->kind != AST_NAME)
        return;
    bool found = false;
    for (int i = 0; i < t->fn->ast->nparam; i++)
        found = found ||
                (t->fn->ast->params[i].name && !strcmp(t->fn->ast->params[i].name, target->name));
    if (!found && annotation_value(ev, s, st->annotation).kind == V_TENSOR)
        diag_fail(ev->diag, st->span, "'%s' is no parameter of '%s'; T.empty makes an output "
                  "[annotation]", target->name, t->fn->ast->name);
    if (!found)
        return;
    if (map_get(&t->declared, target->name))
        diag_fail(ev->diag, st->span, "'%s' is declared twice [declared-twice]", target->name);
    Value a = annotation_value(ev, s, st->annotation);
    Value v = make_parameter(ev, st->span, target->name, &a);
    scope_set(ev, s, target->name, &v);
}

/* ---- the end of a trace ---------------------------------------------------------------------- */

typedef struct {
    Func *f;
    Arena *arena;
} DimSearch;

static bool find_dim(const Expr *e, void *arg)
{
    DimSearch *d = arg;
    if (e->op != EX_VAR)
        return true;
    for (int i = 0; i < d->f->params.n; i++)
        if (d->f->params.at[i].var == e->u.var)
            return true;
    for (int i = 0; i < d->f->dims.n; i++)
        if (d->f->dims.at[i] == e->u.var)
            return true;
    vec_push(d->arena, &d->f->dims, e->u.var);
    return true;
}

static void collect_dims(Func *f)
{
    DimSearch d = {f, f->ir->arena};
    for (int i = 0; i < f->params.n; i++) {
        const Buffer *b = f->params.at[i].buf;
        if (!b || b->is_output)
            continue;
        for (int k = 0; k < b->rank; k++)
            expr_visit(b->shape[k], find_dim, &d);
        for (int k = 0; k < b->rank && b->stride; k++)
            expr_visit(b->stride[k], find_dim, &d);
    }
}

static void return_one(Eval *ev, Span at, const Value *v)
{
    Trace *t = ev->trace;
    int found = -1;
    for (int i = 0; i < t->empties.n; i++)
        if (v->kind == V_BUFFER && t->empties.at[i] == v->u.buf)
            found = i;
    if (found < 0)
        diag_fail(ev->diag, at, "a kernel function returns the tensors it made by T.empty, not %s "
                  "[return-value]", value_kind_name(v));
    Param p = {.name = v->u.buf->name, .buf = v->u.buf, .out = true, .span = v->u.buf->span};
    for (int i = 0; i < t->func->params.n; i++)
        if (t->func->params.at[i].buf == p.buf)
            diag_fail(ev->diag, at, "'%s' is returned twice [return-value]", p.name);
    vec_push(ev->ir->arena, &t->func->params, p);
}

static void take_returned(Eval *ev, Span at, const Value *v)
{
    Trace *t = ev->trace;
    if (v->kind == V_TUPLE || v->kind == V_LIST) {
        for (int i = 0; i < v->u.seq->n; i++)
            return_one(ev, at, &v->u.seq->at[i]);
    } else if (v->kind != V_NONE) {
        return_one(ev, at, v);
    }
    for (int i = 0; i < t->empties.n; i++) {
        bool returned = false;
        for (int k = 0; k < t->func->params.n; k++)
            returned = returned || t->func->params.at[k].buf == t->empties.at[i];
        if (!returned)
            diag_fail(ev->diag, t->empties.at[i]->span, "'%s' was made by T.empty and is not "
                      "returned; T.alloc_global makes a temporary [empty-not-returned]",
                      t->empties.at[i]->name);
    }
}

static Trace *trace_begin(Eval *ev, Function *fn, int eager)
{
    if (ev->trace)
        diag_fail(ev->diag, fn->ast->span, "a kernel function cannot stand inside of another "
                  "[call-kernel]");
    Trace *t = NEW(ev->arena, Trace);
    t->fn = fn;
    t->func = func_new(ev->ir, fn->ast->name, fn->ast->name_span);
    t->eager = eager;
    t->span = fn->ast->span;
    map_init_text(&t->declared, ev->arena);
    map_init_text(&t->consts, ev->arena);
    map_init(&t->pointers, ev->arena);
    map_init(&t->lent, ev->arena);
    map_init(&t->lets, ev->arena);
    ev->trace = t;
    return t;
}

static Scope *trace_scope(Eval *ev, Function *fn)
{
    Scope *in = scope_new(ev, fn->closure);
    in->func = fn;
    in->staged = true;
    return in;
}

/* Run the body; parameters are bound already. */
static void trace_body(Eval *ev, Scope *in)
{
    Trace *t = ev->trace;
    const AstFunc *f = t->fn->ast;
    Builder b;
    char loop = ev->loop;
    int control = ev->loop_control, func_control = ev->func_control;
    build_open(&b, ev->ir, NULL);
    t->build = &b;
    t->returned = value_none();
    ev->loop = 0;
    ev->func_control = 0;
    ev->depth++;
    eval_block(ev, in, f->body, f->nbody, &t->returned);
    ev->depth--;
    ev->loop = loop;
    ev->loop_control = control;
    ev->func_control = func_control;
    t->func->body = build_close(&b, f->span);
    for (int i = 0; i < f->nparam; i++) {
        Param *p = f->params[i].name ? map_get(&t->declared, f->params[i].name) : NULL;
        if (p)
            vec_push(ev->ir->arena, &t->func->params, *p);
    }
}

static Func *trace_end(Eval *ev)
{
    Trace *t = ev->trace;
    take_returned(ev, t->return_span, &t->returned);
    collect_dims(t->func);
    if (t->func->kernels.n == 0)
        diag_fail(ev->diag, t->fn->ast->span, "'%s' has no T.Kernel [no-kernel]", t->fn->ast->name);
    check_scopes(ev, t->func);
    trace_launch_facts(t->func);
    for (int i = 0; i < t->func->kernels.n; i++)
        count_from_end(t->func->kernels.at[i]);
    ev->trace = t->outer;
    ev->last = t->func;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    return t->func;
}

static Func *trace_prim(Eval *ev, Function *fn)
{
    trace_begin(ev, fn, 0);
    Scope *in = trace_scope(ev, fn);
    prim_parameters(ev, in, fn);
    trace_body(ev, in);
    return trace_end(ev);
}

/* ---- eager functions ------------------------------------------------------------------------- */

static bool is_knob_type(const Value *a)
{
    static const char *const plain[] = {"int", "float", "bool", "str", "tuple", "list", "dict"};
    for (int i = 0; i < COUNT(plain); i++)
        if (is_builtin(a, plain[i]))
            return true;
    static const char *const classes[] = {"dtype", "AnyDType", "GemmWarpPolicy", "PrimFunc"};
    for (int i = 0; a->kind == V_BUILTIN && i < COUNT(classes); i++)
        if (a->u.builtin == builtin_find(classes[i]))
            return true;
    return a->kind == V_OPAQUE || a->kind == V_NONE || a->kind == V_CLASS || a->kind == V_FOREIGN;
}

static const Value *keyword(const CallArgs *args, const char *name)
{
    for (int i = 0; args && i < args->nkey; i++)
        if (!strcmp(args->key[i], name))
            return &args->val[i];
    return NULL;
}

static bool runtime_annotation(Eval *ev, Scope *in, const Function *fn, const AstParam *p,
                               Value *a)
{
    if (!p->annotation)
        return false;
    *a = param_annotation(ev, in, fn, p);
    return !is_knob_type(a);
}

static void eager_parameters(Eval *ev, Scope *in, Function *fn, const CallArgs *args)
{
    for (int i = 0; i < fn->ast->nparam; i++) {
        const AstParam *p = &fn->ast->params[i];
        Value a;
        if (!p->name || declared_in_body(fn->ast, p->name))
            continue;
        if (p->star)
            diag_fail(ev->diag, p->span, "a kernel function has a fixed list of parameters "
                      "[star-parameter]");
        if (runtime_annotation(ev, in, fn, p, &a)) {
            Value v = make_parameter(ev, p->span, p->name, &a);
            scope_set(ev, in, p->name, &v);
            continue;
        }
        const Value *given = keyword(args, p->name);
        if (!given && fn->defaults[i].kind == V_UNBOUND)
            diag_fail(ev->diag, p->span, "%s needs a value for '%s': give %s=VALUE "
                      "[missing-parameter]", function_signature(ev, fn), p->name, p->name);
        scope_set(ev, in, p->name, given ? given : &fn->defaults[i]);
    }
}

/* A T.const stands as one whole extent or stride of some tensor. */
static bool const_stands_bare(const Trace *t, const Var *v)
{
    for (int i = 0; i < t->declared.n; i++) {
        const Param *p = t->declared.at[i].val;
        for (int d = 0; p->buf && d < p->buf->rank; d++) {
            const Expr *e = p->buf->shape[d], *s = p->buf->stride ? p->buf->stride[d] : NULL;
            if ((e->op == EX_VAR && e->u.var == v) || (s && s->op == EX_VAR && s->u.var == v))
                return true;
        }
    }
    return false;
}

/* Elements of the parameter in one of the array: types under a byte are packed along rows. */
static int packed_in(const Buffer *b, const NameShape *s)
{
    int own = dtype_bits(b->type);
    return own < 8 && s->bits >= 8 ? s->bits / own : 1;
}

static bool solve_const(Eval *ev, const Trace *t, const Var *v, int64_t *out)
{
    for (int i = 0; i < t->nshape; i++) {
        const Param *p = map_get(&t->declared, t->shapes[i].name);
        if (!p || !p->buf || p->buf->rank != t->shapes[i].rank)
            continue;
        int pack = packed_in(p->buf, &t->shapes[i]), last = p->buf->rank - 1;
        for (int d = 0; d < p->buf->rank; d++)
            if (p->buf->shape[d]->op == EX_VAR && p->buf->shape[d]->u.var == v) {
                *out = t->shapes[i].shape[d] * (d == last ? pack : 1);
                vec_push(ev->arena, &ev->const_uses, ((ConstUse){p->name, d, false}));
                return true;
            }
        for (int d = 0; p->buf->stride && t->shapes[i].stride && d < p->buf->rank; d++)
            if (p->buf->stride[d]->op == EX_VAR && p->buf->stride[d]->u.var == v) {
                *out = t->shapes[i].stride[d] * (d == last ? 1 : pack);
                vec_push(ev->arena, &ev->const_uses, ((ConstUse){p->name, d, true}));
                return true;
            }
    }
    return false;
}

static void solve_consts(Eval *ev, Trace *t, Map *known)
{
    Str missing;
    str_init(&missing, ev->arena);
    for (int i = 0; i < t->const_vars.n; i++) {
        const Var *v = t->const_vars.at[i];
        int64_t n;
        if (!const_stands_bare(t, v))
            diag_fail(ev->diag, v->span, "T.const '%s' must stand as a whole extent or stride of a "
                      "tensor [const-not-bare]", v->name);
        if (solve_const(ev, t, v, &n)) {
            Value *x = NEW(ev->arena, Value);
            *x = ev->request && ev->request->open ? trace_dynamic(ev, v->span, v->name, v->type)
                                                  : value_int(n);
            map_set(known, v->name, x);
        } else {
            str_printf(&missing, "%s%s", missing.n ? ", " : "", v->name);
        }
    }
    if (missing.n)
        diag_fail(ev->diag, t->const_vars.at[0]->span, "the values of T.const are not known: %s; "
                  "give them as NAME=VALUE [const-unknown]", missing.s);
}

static Trace *eager_phase(Eval *ev, Function *fn, const CallArgs *args, int phase,
                          const Map *consts)
{
    Trace *t = trace_begin(ev, fn, phase);
    if (ev->request) {
        t->shapes = ev->request->shapes;
        t->nshape = ev->request->nshape;
    }
    for (int i = 0; consts && i < consts->n; i++)
        map_set(&t->consts, consts->at[i].key, consts->at[i].val);
    Scope *in = trace_scope(ev, fn);
    eager_parameters(ev, in, fn, args);
    trace_body(ev, in);
    return t;
}

static Func *trace_eager(Eval *ev, Function *fn, const CallArgs *args)
{
    Map consts;
    map_init_text(&consts, ev->arena);
    Trace *first = eager_phase(ev, fn, args, 1, NULL);
    ev->trace = NULL;
    solve_consts(ev, first, &consts);
    eager_phase(ev, fn, args, 2, &consts);
    return trace_end(ev);
}

Func *trace_function(Eval *ev, Function *fn, const CallArgs *args)
{
    if (fn->kind != FN_PRIM)
        return trace_eager(ev, fn, args);
    if (!fn->traced)
        fn->traced = trace_prim(ev, fn);
    return fn->traced;
}

/* ---- macros ---------------------------------------------------------------------------------- */

/* T.Ref[…], T.Ref(…), T.Ref */
static bool is_ref_annotation(const Ast *e)
{
    if (e && (e->kind == AST_INDEX || e->kind == AST_CALL))
        e = e->kid[0];
    return e && (e->kind == AST_ATTR || e->kind == AST_NAME) &&
           (!strcmp(e->name, "Ref") || !strcmp(e->name, "Var"));
}

/* T.FragmentBuffer(…), T.Tensor(…), T.Ref(…): what says more of an argument than its name. */
static bool is_described(const Ast *e)
{
    static const char *const words[] = {"FragmentBuffer", "SharedBuffer", "LocalBuffer", "Tensor",
                                        "Buffer", "StridedTensor", "Ref"};
    const Ast *of = e && (e->kind == AST_CALL || e->kind == AST_INDEX) ? e->kid[0] : NULL;
    bool found = false;
    for (int i = 0; of && (of->kind == AST_ATTR || of->kind == AST_NAME) && i < COUNT(words); i++)
        found |= !strcmp(of->name, words[i]);
    return found;
}

/* Another type, memory, rank or constant extent than the annotation says? */
static bool is_unlike(const TensorSpec *s, const Buffer *b)
{
    int64_t n;
    bool unlike = s->dtype != b->type ||
                  (!s->is_ref && (s->scope != b->scope || s->rank != b->rank));
    for (int d = 0; !unlike && !s->is_ref && d < s->rank; d++)
        unlike = s->shape[d].kind == V_INT && expr_is_int(b->shape[d], &n) && n != s->shape[d].u.i;
    return unlike;
}

static void check_described(Eval *ev, Span at, const Function *fn, const AstParam *p,
                            const Value *v)
{
    const Buffer *b = v->kind == V_BUFFER   ? v->u.buf
                      : v->kind == V_REGION ? v->u.region->buf
                                            : NULL;
    if (!b || !is_described(p->annotation))
        return;
    Value a = param_annotation(ev, fn->closure, fn, p);
    if (a.kind == V_TENSOR && (a.u.spec->is_ref || v->kind == V_BUFFER) && is_unlike(a.u.spec, b))
        diag_warn(ev->diag, at, "'%s' of %s is annotated otherwise than '%s', which it is given: "
                  "%s of rank %d in %s memory [macro-argument]", p->name, fn->ast->name, b->name,
                  dtype_name(b->type), b->rank, mem_name(b->scope));
}

static void settle_arguments(Eval *ev, Span at, Scope *in, const Function *fn)
{
    for (int i = 0; i < fn->ast->nparam; i++) {
        const AstParam *p = &fn->ast->params[i];
        if (p->star || !p->name)
            continue;
        Value v = *scope_find(in, p->name), unset = {0};
        check_described(ev, at, fn, p, &v);
        if (is_ref_annotation(p->annotation)) {
            if (!is_place(&v) && !(v.kind == V_REGION && v.is_element))
                diag_fail(ev->diag, at,
                          "'%s' of %s is a T.Ref and needs a T.alloc_var or an element, "
                          "not %s [ref-argument]",
                          p->name, fn->ast->name, value_kind_name(&v));
            v.is_ref = true;
            scope_set(ev, in, p->name, &v);
        } else if (is_runtime(&v)) {
            scope_set(ev, in, p->name, &unset);
            bind_name(ev, in, at, p->name, &v);
        }
    }
}

Value call_macro(Eval *ev, Span at, Function *fn, const Value *self, const CallArgs *args)
{
    if (!ev->trace)
        diag_fail(ev->diag, at, "the macro '%s' is called outside of a kernel [macro-outside]",
                  fn->ast->name);
    if (ev->trace->in_lazy)
        diag_fail(ev->diag, at, "the macro '%s' cannot be called inside of 'and', 'or' or a "
                  "conditional expression [macro-in-condition]", fn->ast->name);
    if (ev->depth >= CALLS_MOST)
        diag_fail(ev->diag, at, "%d calls are inside of each other [too-deep]", CALLS_MOST);
    Scope *in = trace_scope(ev, fn);
    bind_arguments(ev, at, in, fn, self, args);
    settle_arguments(ev, at, in, fn);
    return call_body(ev, at, in, fn);
}

/* ---- decorators ------------------------------------------------------------------------------ */

/* The values the names around a macro have now; names set later are still found behind them. */
static Scope *frozen(Eval *ev, Scope *s)
{
    if (!s || s->is_module)
        return s;
    Scope *copy = scope_new(ev, s);
    copy->staged = s->staged;
    for (int i = 0; i < s->names.n; i++) {
        if (!s->names.at[i].key)
            continue;
        Binding *b = NEW(ev->arena, Binding);
        *b = *(Binding *)s->names.at[i].val;
        map_set(&copy->names, s->names.at[i].key, b);
    }
    return copy;
}

bool stores_items(AstStmt *const *body, int n)
{
    for (int i = 0; i < n; i++) {
        const AstStmt *st = body[i];
        if ((st->kind == AS_ASSIGN || st->kind == AS_AUG) && st->targets[0]->kind == AST_INDEX)
            return true;
        if (st->kind != AS_DEF && st->kind != AS_CLASS &&
            (stores_items(st->body, st->nbody) || stores_items(st->orelse, st->norelse)))
            return true;
    }
    return false;
}

static void make_meta(Object *cls)
{
    cls->is_meta = true;
    for (int i = 0; i < cls->fields.n; i++) {
        Value *v = cls->fields.at[i].val;
        if (v->kind == V_FUNCTION && v->u.func->kind == FN_PLAIN && !v->u.func->how &&
            stores_items(v->u.func->ast->body, v->u.func->ast->nbody))
            v->u.func->kind = FN_INLINE;
    }
}

Value trace_decorate(Eval *ev, Span at, FunctionKind kind, const Value *v)
{
    if (v->kind == V_CLASS && kind == FN_PLAIN) {
        make_meta(v->u.object);
        return *v;
    }
    if (v->kind == V_FUNC && kind == FN_PRIM)
        return *v;
    if (v->kind != V_FUNCTION)
        diag_fail(ev->diag, at, "this decorator needs a function, not %s [decorator]",
                  value_kind_name(v));
    Function *fn = NEW(ev->arena, Function);
    *fn = *v->u.func;
    fn->kind = kind;
    if (kind == FN_MACRO)
        fn->closure = frozen(ev, fn->closure);
    if (kind != FN_PRIM || fn->closure->is_module || ev->trace)
        return value_function(fn);
    return (Value){.kind = V_FUNC, .u.irfunc = trace_function(ev, fn, NULL)};
}
