/* eval_call.c -- calls of everything that can be called, and the binding of parameters. */
#include "front/eval.h"

/* ---- functions ------------------------------------------------------------------------------- */

Value make_function(Eval *ev, Scope *s, const AstFunc *f)
{
    Function *fn = NEW(ev->arena, Function);
    fn->ast = f;
    fn->closure = s;
    fn->kind = FN_PLAIN;
    fn->defaults = NEWN(ev->arena, Value, f->nparam + 1); /* V_UNBOUND where there is none */
    for (int i = 0; i < f->nparam; i++)
        if (f->params[i].value && !host_param(ev, s, 'd', &f->params[i], &fn->defaults[i]))
            fn->defaults[i] = eval_expr(ev, s, f->params[i].value);
    return value_function(fn);
}

const char *function_signature(Eval *ev, const Function *fn)
{
    Str b;
    str_init(&b, ev->arena);
    str_printf(&b, "%s(", fn->ast->name);
    for (int i = 0; i < fn->ast->nparam; i++) {
        const AstParam *p = &fn->ast->params[i];
        str_printf(&b, "%s%s%s", i ? ", " : "", p->star == 1 ? "*" : p->star == 2 ? "**" : "",
                   p->name ? p->name : "");
        if (fn->defaults[i].kind != V_UNBOUND) {
            str_putc(&b, '=');
            value_repr(ev, &b, &fn->defaults[i], true);
        }
    }
    str_putc(&b, ')');
    return b.s;
}

typedef struct {
    Eval *ev;
    Span span;
    Function *fn;
    Value *slot; /* by parameter; V_UNBOUND: not given yet */
} ParamBinder;

static int positional_limit(const AstFunc *f)
{
    int n = 0;
    while (n < f->nparam && !f->params[n].star && !f->params[n].kwonly)
        n++;
    return n;
}

static void take_positional(ParamBinder *k, const Value *self, const CallArgs *args)
{
    const AstFunc *f = k->fn->ast;
    int extra = self != NULL, n = args->n + extra, most = positional_limit(f);
    Value rest = value_seq(k->ev, V_LIST, NULL, 0);
    bool has_rest = most < f->nparam && f->params[most].star == 1 && f->params[most].name;
    for (int i = 0; i < n; i++) {
        const Value *v = i < extra ? self : &args->at[i - extra];
        if (i < most) {
            k->slot[i] = *v;
        } else if (has_rest) {
            seq_push(k->ev, rest.u.seq, v);
        } else {
            diag_fail(k->ev->diag, args->spans ? args->spans[i - extra] : k->span,
                      "%s takes %d positional argument%s, not %d [argument-count]", f->name,
                      most - extra, most - extra == 1 ? "" : "s", args->n);
        }
    }
    if (has_rest)
        k->slot[most] = value_seq(k->ev, V_TUPLE, rest.u.seq->at, rest.u.seq->n);
}

static void take_keywords(ParamBinder *k, const CallArgs *args)
{
    const AstFunc *f = k->fn->ast;
    int rest = -1;
    for (int i = 0; i < f->nparam; i++)
        if (f->params[i].star == 2) {
            rest = i;
            k->slot[i] = dict_new(k->ev);
        }
    for (int a = 0; a < args->nkey; a++) {
        Span at = args->key_spans ? args->key_spans[a] : k->span;
        int p = -1;
        for (int i = 0; i < f->nparam && p < 0; i++)
            if (!f->params[i].star && !f->params[i].posonly &&
                !strcmp(f->params[i].name, args->key[a]))
                p = i;
        if (p < 0 && rest >= 0) {
            Value key = value_cstr(k->ev, args->key[a]);
            dict_set(k->ev, &k->slot[rest], &key, &args->val[a]);
            continue;
        }
        if (p < 0)
            diag_fail(k->ev->diag, at, "%s has no parameter '%s' [argument-name]",
                      function_signature(k->ev, k->fn), args->key[a]);
        if (k->slot[p].kind != V_UNBOUND)
            diag_fail(k->ev->diag, at, "%s: '%s' is given twice [argument-name]", f->name,
                      args->key[a]);
        k->slot[p] = args->val[a];
    }
}

void bind_arguments(Eval *ev, Span at, Scope *in, Function *fn, const Value *self,
                    const CallArgs *args)
{
    const AstFunc *f = fn->ast;
    ParamBinder k = {.ev = ev, .span = at, .fn = fn};
    k.slot = NEWN(ev->arena, Value, f->nparam + 1);
    take_positional(&k, self, args);
    take_keywords(&k, args);
    for (int i = 0; i < f->nparam; i++) {
        if (!f->params[i].name)
            continue;
        if (k.slot[i].kind == V_UNBOUND && fn->defaults[i].kind != V_UNBOUND)
            k.slot[i] = fn->defaults[i];
        if (k.slot[i].kind == V_UNBOUND && !f->params[i].star)
            diag_fail(ev->diag, at, "%s needs '%s' [argument-count]", function_signature(ev, fn),
                      f->params[i].name);
        scope_set(ev, in, f->params[i].name, &k.slot[i]);
    }
}

static bool makes_values(AstStmt *const *body, int n);

static bool stmt_yields(const AstStmt *st)
{
    if (st->value && st->value->kind == AST_YIELD)
        return true;
    return makes_values(st->body, st->nbody) || makes_values(st->orelse, st->norelse);
}

static bool makes_values(AstStmt *const *body, int n)
{
    for (int i = 0; i < n; i++)
        if (body[i]->kind != AS_DEF && body[i]->kind != AS_CLASS && stmt_yields(body[i]))
            return true;
    return false;
}

Value call_body(Eval *ev, Span at, Scope *in, const Function *fn)
{
    Value result = value_none();
    char loop = ev->loop;
    int control = ev->loop_control, func_control = ev->func_control;
    ev->loop = 0;
    ev->func_control = ev->trace ? ev->trace->depth_control : 0;
    ev->depth++;
    eval_nest(ev, at);
    eval_block(ev, in, fn->ast->body, fn->ast->nbody, &result);
    ev->nest--;
    ev->depth--;
    ev->loop = loop;
    ev->loop_control = control;
    ev->func_control = func_control;
    return result;
}

Value call_function(Eval *ev, Span at, Function *fn, const Value *self, const CallArgs *args)
{
    if (fn->kind == FN_MACRO || fn->kind == FN_INLINE)
        return call_macro(ev, at, fn, self, args);
    if (ev->depth >= CALLS_MOST)
        diag_fail(ev->diag, at, "%d calls are inside of each other [too-deep]", CALLS_MOST);
    if (makes_values(fn->ast->body, fn->ast->nbody))
        diag_fail(ev->diag, at, "'%s' is a generator, which is not supported [no-generator]",
                  fn->ast->name);
    Scope *in = scope_new(ev, fn->closure);
    in->func = fn;
    /* A def inside of a kernel body is part of it; a def outside is plain Python. */
    in->staged = fn->closure->staged && fn->ast->name[0] != '<';
    bind_arguments(ev, at, in, fn, self, args);
    return call_body(ev, at, in, fn);
}

/* ---- classes --------------------------------------------------------------------------------- */

static void field_put(Eval *ev, Object *o, const char *name, const Value *v)
{
    Value *slot = NEW(ev->arena, Value);
    *slot = *v;
    map_set(&o->fields, name, slot);
}

/* The fields of a dataclass become its parameters. */
static void init_fields(Eval *ev, Span at, Object *o, const Object *cls, const CallArgs *args)
{
    const Seq *order = cls->order->u.seq;
    int used = 0;
    for (int i = 0; i + 1 < order->n; i += 2) {
        const char *name = order->at[i].u.s.text;
        Value v = order->at[i + 1];
        if (used < args->n)
            v = args->at[used++];
        for (int a = 0; a < args->nkey; a++)
            if (!strcmp(args->key[a], name))
                v = args->val[a];
        if (v.kind == V_UNBOUND)
            diag_fail(ev->diag, at, "%s needs '%s' [argument-count]", cls->name, name);
        field_put(ev, o, name_intern(ev->names, name, strlen(name)), &v);
    }
    if (used < args->n)
        diag_fail(ev->diag, at, "%s takes %d arguments, not %d [argument-count]", cls->name,
                  order->n / 2, args->n);
}

static Value instantiate(Eval *ev, Span at, Object *cls, const CallArgs *args)
{
    Object *o = NEW(ev->arena, Object);
    Value self = {.kind = V_OBJECT, .u.object = o}, *init = NULL;
    if (cls->is_enum) {
        for (int i = 0; i < cls->fields.n && args->n == 1; i++) {
            const Value *m = cls->fields.at[i].val;
            const Value *v = m->kind == V_OBJECT ? map_get(&m->u.object->fields, "value") : NULL;
            if (v && value_equal(ev, v, &args->at[0]))
                return *m;
        }
        diag_fail(ev->diag, at, "%s has no such member [no-attribute]", cls->name);
    }
    o->name = cls->name;
    o->cls = cls;
    o->is_meta = cls->is_meta;
    map_init_text(&o->fields, ev->arena);
    init = object_field(cls, "__init__");
    const Object *data = cls;
    while (data && !data->order)
        data = data->base;
    if (init && init->kind == V_FUNCTION)
        call_function(ev, at, init->u.func, &self, args);
    else if (data)
        init_fields(ev, at, o, data, args);
    else if (args->n || args->nkey)
        diag_fail(ev->diag, at, "%s takes no arguments [argument-count]", cls->name);
    init = data ? object_field(cls, "__post_init__") : NULL;
    if (init && init->kind == V_FUNCTION)
        call_function(ev, at, init->u.func, &self, &(CallArgs){.span = at});
    return self;
}

static void enum_members(Eval *ev, Object *cls)
{
    int64_t next = 1;
    for (int i = 0; i < cls->fields.n; i++) {
        Value *v = cls->fields.at[i].val;
        const char *key = cls->fields.at[i].key;
        if (!key || v->kind == V_FUNCTION || key[0] == '_')
            continue;
        if (v->kind == V_OPAQUE) /* auto() */
            *v = value_int(next);
        next = v->kind == V_INT ? v->u.i + 1 : next;
        Object *m = NEW(ev->arena, Object);
        m->name = arena_printf(ev->arena, "%s.%s", cls->name, key);
        m->cls = cls;
        m->is_enum = true;
        map_init_text(&m->fields, ev->arena);
        Value name = value_cstr(ev, key);
        field_put(ev, m, "name", &name);
        field_put(ev, m, "value", v);
        *v = (Value){.kind = V_OBJECT, .u.object = m};
    }
}

static void annotated_fields(Eval *ev, Object *cls, const AstStmt *st, Value *order)
{
    *order = value_seq(ev, V_LIST, NULL, 0);
    if (cls->base && cls->base->order)
        *order = value_seq(ev, V_LIST, cls->base->order->u.seq->at, cls->base->order->u.seq->n);
    for (int i = 0; i < st->nbody; i++) {
        const AstStmt *f = st->body[i];
        if (f->kind != AS_ANN || f->targets[0]->kind != AST_NAME)
            continue;
        Value name = value_cstr(ev, f->targets[0]->name), *v = map_get(&cls->fields, name.u.s.text);
        seq_push(ev, order->u.seq, &name);
        seq_push(ev, order->u.seq, v ? v : &(Value){0});
    }
}

static void class_bases(Eval *ev, Scope *s, const AstStmt *st, Object *cls)
{
    for (int i = 0; i < st->nbase; i++) {
        Value v = eval_expr(ev, s, st->bases[i].value);
        if (st->bases[i].name)
            continue;
        if (v.kind == V_CLASS && !cls->base) {
            cls->base = v.u.object;
            cls->is_meta = v.u.object->is_meta;
        }
        if (v.kind == V_OPAQUE && strstr(v.u.s.text, "Enum"))
            cls->is_enum = true;
    }
}

void eval_class(Eval *ev, Scope *s, const AstStmt *st)
{
    Object *cls = NEW(ev->arena, Object);
    Value v = {.kind = V_CLASS, .u.object = cls}, result;
    cls->name = st->name;
    map_init_text(&cls->fields, ev->arena);
    class_bases(ev, s, st, cls);
    Scope *in = scope_new(ev, s);
    in->is_class = true;
    eval_block(ev, in, st->body, st->nbody, &result);
    for (int i = 0; i < in->names.n; i++) {
        Binding *b = in->names.at[i].val;
        if (!in->names.at[i].key || b->value.kind == V_UNBOUND)
            continue;
        if (b->value.kind == V_FUNCTION && !b->value.u.func->owner)
            b->value.u.func->owner = cls;
        field_put(ev, cls, in->names.at[i].key, &b->value);
    }
    if (cls->is_enum)
        enum_members(ev, cls);
    Value *order = NEW(ev->arena, Value);
    annotated_fields(ev, cls, st, order);
    /* @dataclass makes the fields parameters; without it they are only annotations. */
    for (int i = 0; st->func && i < st->func->ndecorator; i++) {
        const Ast *d = st->func->decorators[i];
        const char *name = d->kind == AST_CALL ? d->kid[0]->name : d->name;
        if (name && !strcmp(name, "dataclass"))
            cls->order = order;
    }
    for (int i = st->func ? st->func->ndecorator - 1 : -1; i >= 0; i--)
        v = decorate(ev, s, st->func->decorators[i], &v);
    bind_name(ev, s, st->span, st->name, &v);
}

void eval_def(Eval *ev, Scope *s, const AstStmt *st)
{
    Value v = make_function(ev, s, st->func);
    for (int i = st->func->ndecorator - 1; i >= 0; i--)
        v = decorate(ev, s, st->func->decorators[i], &v);
    scope_set(ev, s, st->func->name, &v);
}

/* ---- calling --------------------------------------------------------------------------------- */

/* What scripts ask of the machine to choose block sizes; there is no device to ask, but a kernel is
 * compiled for one. */
static bool known_answer(Eval *ev, const char *name, Value *out)
{
    Value pair[2] = {value_int(8), value_int(0)};
    const Machine *m = ev->trace && ev->request ? ev->request->machine : NULL;
    if (!strcmp(name, "torch.cuda.get_device_capability"))
        *out = value_seq(ev, V_TUPLE, pair, 2);
    else if (!strcmp(name, "torch.cuda.is_available"))
        *out = value_bool(m && machine_has(m, HAS_THREADS));
    else if (!strcmp(name, "torch.cuda.get_device_name") && m && m->model)
        *out = value_str(ev, m->model, strlen(m->model));
    else
        return false;
    return true;
}

static Value call_opaque(Eval *ev, Span at, const Value *callee)
{
    Value answer;
    if (known_answer(ev, callee->u.s.text, &answer))
        return answer;
    if (ev->trace) {
        diag_error(ev->diag, at, "'%s' belongs to the host and cannot be called while a kernel is "
                   "traced [opaque-value]", callee->u.s.text);
        note_failed(ev, callee->u.s.text);
        diag_throw(ev->diag);
    }
    if (callee->u.s.len > 200)
        return *callee;
    return value_opaque(ev, arena_printf(ev->arena, "%s()", callee->u.s.text));
}

static Value call_value_function(Eval *ev, Span at, Function *fn, const CallArgs *args)
{
    if (fn->kind == FN_TENSOR && ev->graph) /* a part of the program that calls it */
        return call_function(ev, at, fn, NULL, args);
    if (fn->kind == FN_TENSOR)
        return value_opaque(ev, arena_printf(ev->arena, "%s()", fn->ast->name));
    bool kernel = fn->kind == FN_PRIM || fn->kind == FN_JIT;
    if (kernel && ev->trace)
        diag_fail(ev->diag, at,
                  "'%s' is a kernel of its own and cannot be called inside of another; "
                  "T.macro makes a part [call-kernel]",
                  fn->ast->name);
    if (kernel)
        return value_opaque(ev, arena_printf(ev->arena, "%s()", fn->ast->name));
    return call_function(ev, at, fn, NULL, args);
}

Value eval_call(Eval *ev, Span at, const Value *callee, const CallArgs *args)
{
    switch (callee->kind) {
    case V_FUNCTION: return call_value_function(ev, at, callee->u.func, args);
    case V_BUILTIN: {
        Value out;
        if (python_find(callee->u.builtin->name) == callee->u.builtin &&
            host_builtin(ev, at, callee->u.builtin->name, args, &out))
            return out;
        return builtin_call(ev, at, callee->u.builtin, NULL, args);
    }
    case V_METHOD:
        if (callee->u.bound.builtin)
            return builtin_call(ev, at, callee->u.bound.builtin, callee->u.bound.self, args);
        return call_function(ev, at, callee->u.bound.func, callee->u.bound.self, args);
    case V_DTYPE: return dtype_call(ev, at, callee, args);
    case V_CLASS: return instantiate(ev, at, callee->u.object, args);
    case V_OBJECT: {
        Value *method = object_field(callee->u.object, "__call__");
        if (method && method->kind == V_FUNCTION)
            return call_function(ev, at, method->u.func, callee, args);
        break;
    }
    case V_FUNC:
        if (!ev->trace)
            return value_opaque(ev, "a result");
        diag_fail(ev->diag, at,
                  "'%s' is a kernel of its own and cannot be called inside of another "
                  "[call-kernel]",
                  callee->u.irfunc->name);
    case V_OPAQUE: return call_opaque(ev, at, callee);
    case V_FOREIGN: return call_foreign(ev, at, callee, args);
    default: break;
    }
    diag_fail(ev->diag, at, "%s cannot be called%s [not-callable]", value_kind_name(callee),
              callee->kind == V_BUFFER ? "; index it with [ ]" : "");
}

Value call_values(Eval *ev, Span at, const Value *callee, const Value *arg, int n)
{
    Span *spans = NEWN(ev->arena, Span, n + 1);
    for (int i = 0; i < n; i++)
        spans[i] = at;
    return eval_call(ev, at, callee,
                     &(CallArgs){.span = at, .n = n, .at = (Value *)arg, .spans = spans});
}

typedef struct {
    VEC(Value) at;
    VEC(Span) spans;
    VEC(const char *) key;
    VEC(Value) val;
    VEC(Span) key_spans;
} ArgList;

static void take_double_star(Eval *ev, const AstArg *a, const Value *v, ArgList *l)
{
    if (v->kind != V_DICT)
        diag_fail(ev->diag, a->span, "'**' needs a dict, not %s [operand-types]",
                  value_kind_name(v));
    for (int i = 0; i + 1 < v->u.seq->n; i += 2) {
        const Value *key = &v->u.seq->at[i];
        if (key->kind != V_STR)
            diag_fail(ev->diag, a->span, "'**' needs names as keys [operand-types]");
        vec_push(ev->arena, &l->key, name_intern(ev->names, key->u.s.text, key->u.s.len));
        vec_push(ev->arena, &l->val, v->u.seq->at[i + 1]);
        vec_push(ev->arena, &l->key_spans, a->span);
    }
}

static void take_argument(Eval *ev, Scope *s, const AstArg *a, ArgList *l)
{
    Value v = eval_expr(ev, s, a->value), *item;
    if (a->star == 2) {
        take_double_star(ev, a, &v, l);
    } else if (a->star == 1) {
        int n = value_items(ev, a->span, &v, &item, "'*'");
        for (int i = 0; i < n; i++) {
            vec_push(ev->arena, &l->at, item[i]);
            vec_push(ev->arena, &l->spans, a->span);
        }
    } else if (a->name) {
        vec_push(ev->arena, &l->key, a->name);
        vec_push(ev->arena, &l->val, v);
        vec_push(ev->arena, &l->key_spans, a->value->span);
    } else {
        vec_push(ev->arena, &l->at, v);
        vec_push(ev->arena, &l->spans, a->value->span);
    }
}

Value call_ast(Eval *ev, Scope *s, const Ast *e)
{
    ArgList l = {0};
    eval_work(ev, e->span, CALL_STEPS);
    Value callee = eval_expr(ev, s, e->kid[0]);
    for (int i = 0; i < e->narg; i++)
        take_argument(ev, s, &e->args[i], &l);
    CallArgs args = {.span = e->span, .n = l.at.n, .at = l.at.at, .spans = l.spans.at,
                     .nkey = l.key.n, .key = l.key.at, .val = l.val.at,
                     .key_spans = l.key_spans.at};
    return eval_call(ev, e->span, &callee, &args);
}
