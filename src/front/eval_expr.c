/* eval_expr.c -- expressions: what is known folds, the rest becomes IR. */
#include "front/python.h"

/* ---- displays -------------------------------------------------------------------------------- */

static void push_item(Eval *ev, Scope *s, const Ast *e, Value *seq)
{
    if (e->kind != AST_STAR) {
        Value v = eval_expr(ev, s, e);
        seq_push(ev, seq->u.seq, &v);
        return;
    }
    Value *item, v = eval_expr(ev, s, e->kid[0]);
    int n = value_items(ev, e->span, &v, &item, "'*'");
    for (int i = 0; i < n; i++)
        seq_push(ev, seq->u.seq, &item[i]);
}

static Value eval_display(Eval *ev, Scope *s, const Ast *e)
{
    Value seq = value_seq(ev, e->kind == AST_TUPLE ? V_TUPLE : V_LIST, NULL, 0);
    for (int i = 0; i < e->nkid; i++)
        push_item(ev, s, e->kid[i], &seq);
    if (e->kind != AST_SET)
        return seq;
    Value set = value_seq(ev, V_SET, NULL, 0);
    for (int i = 0; i < seq.u.seq->n; i++)
        set_insert(ev, &set, &seq.u.seq->at[i]);
    return set;
}

static Value eval_dict(Eval *ev, Scope *s, const Ast *e)
{
    Value d = dict_new(ev);
    for (int i = 0; i + 1 < e->nkid; i += 2) {
        Value v = eval_expr(ev, s, e->kid[i + 1]);
        if (e->kid[i]) {
            Value key = eval_expr(ev, s, e->kid[i]);
            need_hashable(ev, e->kid[i]->span, &key);
            dict_set(ev, &d, &key, &v);
            continue;
        }
        if (v.kind != V_DICT)
            diag_fail(ev->diag, e->kid[i + 1]->span, "'**' needs a dict, not %s [operand-types]",
                      value_kind_name(&v));
        for (int k = 0; k + 1 < v.u.seq->n; k += 2)
            dict_set(ev, &d, &v.u.seq->at[k], &v.u.seq->at[k + 1]);
    }
    return d;
}

static void put_fstring(Eval *ev, Scope *s, const Ast *e, Str *out)
{
    for (int i = 0; i < e->nkid; i++) {
        const Ast *part = e->kid[i];
        if (part->kind == AST_STRING) {
            str_putn(out, part->str, part->len);
            continue;
        }
        Value v = eval_expr(ev, s, part->kid[0]);
        Str spec;
        str_init(&spec, ev->arena);
        str_puts(&spec, part->str ? part->str : "");
        if (part->nkid > 1)
            put_fstring(ev, s, part->kid[1], &spec);
        value_format(ev, part->span, out, &v, spec.s);
    }
}

static Value eval_fstring(Eval *ev, Scope *s, const Ast *e)
{
    Str out;
    str_init(&out, ev->arena);
    put_fstring(ev, s, e, &out);
    return value_str(ev, out.s, out.n);
}

/* ---- comprehensions -------------------------------------------------------------------------- */

static void comp_emit(Eval *ev, Scope *s, const Ast *e, Value *out)
{
    Value v = eval_expr(ev, s, e->kid[0]);
    if (e->comp == ':') {
        Value x = eval_expr(ev, s, e->kid[1]);
        dict_set(ev, out, &v, &x);
    } else if (e->comp == '{') {
        set_insert(ev, out, &v);
    } else {
        seq_push(ev, out->u.seq, &v);
    }
}

static void comp_level(Eval *ev, Scope *s, const Ast *e, int level, Value *out)
{
    if (level == e->nfor) {
        comp_emit(ev, s, e, out);
        return;
    }
    const AstCompFor *f = &e->fors[level];
    Value *item, iter = eval_expr(ev, s, f->iter);
    if (iter.kind == V_FRAME)
        diag_fail(ev->diag, f->iter->span, "a comprehension runs at compile time and cannot walk a "
                  "loop of the kernel [for-iterable]");
    int n = value_items(ev, f->iter->span, &iter, &item, "a comprehension");
    for (int i = 0; i < n; i++) {
        eval_work(ev, e->span, 1);
        assign(ev, s, f->target, &item[i]);
        bool keep = true;
        for (int c = 0; c < f->ncond && keep; c++) {
            Value v = eval_expr(ev, s, f->conds[c]);
            keep = value_truth(ev, f->conds[c]->span, &v);
        }
        if (keep)
            comp_level(ev, s, e, level + 1, out);
    }
}

static Value eval_comp(Eval *ev, Scope *s, const Ast *e)
{
    Scope *in = scope_new(ev, s);
    Value out =
        e->comp == ':' ? dict_new(ev) : value_seq(ev, e->comp == '{' ? V_SET : V_LIST, NULL, 0);
    comp_level(ev, in, e, 0, &out);
    return out;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Run-time sides of and/or and of a ternary are expressions: nothing in them may emit a statement
 * that would then run unconditionally. */
static Value eval_lazy(Eval *ev, Scope *s, const Ast *e)
{
    if (!ev->trace)
        return eval_expr(ev, s, e);
    Trace *t = ev->trace;
    bool outer = t->in_lazy;
    t->in_lazy = true;
    Value v = eval_expr(ev, s, e);
    t->in_lazy = outer;
    return v;
}

static bool is_condition(const Value *v)
{
    return is_runtime(v) || (v->kind == V_BUFFER && v->u.buf->scope != MEM_VAR) ||
           v->kind == V_REGION;
}

static Value eval_boolop(Eval *ev, Scope *s, const Ast *e)
{
    Value v = eval_expr(ev, s, e->kid[0]);
    for (int i = 1; i < e->nkid; i++) {
        Span at = e->kid[i - 1]->span;
        if (!is_condition(&v)) {
            if (v.kind == V_OPAQUE && !ev->trace)
                return v;
            if (value_truth(ev, at, &v) == (e->op == TK_OR))
                return v;
            v = eval_expr(ev, s, e->kid[i]);
            continue;
        }
        const Expr *left = to_condition(ev, at, &v);
        Value right = eval_lazy(ev, s, e->kid[i]);
        const Expr *both = expr_binary(ev->ir, e->op == TK_AND ? EX_AND : EX_OR, left,
                                       to_condition(ev, e->kid[i]->span, &right));
        v = value_expr(ev, both);
    }
    return v;
}

static const Expr *side_expr(Eval *ev, const Ast *e, const Value *v, const Value *other)
{
    if (is_number(v) && !is_number(other))
        return literal_beside(ev, v, (DType)to_expr(ev, e->span, other,
                                                    "a side of the condition")->type);
    return to_expr(ev, e->span, v, "a side of the condition");
}

static Value eval_ternary(Eval *ev, Scope *s, const Ast *e)
{
    Value c = eval_expr(ev, s, e->kid[1]);
    if (!is_condition(&c))
        return eval_expr(ev, s, e->kid[value_truth(ev, e->kid[1]->span, &c) ? 0 : 2]);
    const Expr *cond = to_condition(ev, e->kid[1]->span, &c);
    Value a = eval_lazy(ev, s, e->kid[0]), b = eval_lazy(ev, s, e->kid[2]);
    const Expr *x = side_expr(ev, e->kid[0], &a, &b), *y = side_expr(ev, e->kid[2], &b, &a);
    if (x->type == DT_HANDLE || y->type == DT_HANDLE || x->lanes != y->lanes)
        diag_fail(ev->diag, e->span, "the sides of this condition are of different kinds "
                  "[operand-types]");
    DType t = dtype_join((DType)x->type, (DType)y->type);
    return value_expr(ev, expr_if(ev->ir, cond, expr_cast(ev->ir, t, x), expr_cast(ev->ir, t, y)));
}

static Value eval_comparison(Eval *ev, Scope *s, const Ast *e)
{
    Value left = eval_expr(ev, s, e->kid[0]), all = {0};
    for (int i = 0; i + 1 < e->nkid; i++) {
        Value right = eval_expr(ev, s, e->kid[i + 1]);
        Value one = eval_compare(ev, e->span, e->ops[i], &left, &right);
        if (i == 0) {
            all = one;
        } else if (!is_runtime(&all)) {
            all = one;
        } else {
            all = value_expr(ev, expr_and(ev->ir, to_condition(ev, e->span, &all),
                                          to_condition(ev, e->span, &one)));
        }
        if (!is_runtime(&all) && all.kind != V_OPAQUE && i + 2 < e->nkid &&
            !value_truth(ev, e->span, &all))
            return all;
        left = right;
    }
    return all;
}

/* ---- attributes, subscripts ------------------------------------------------------------------ */

/* super().name: the method of the class above, on the same object. */
static bool eval_super(Eval *ev, Scope *s, const Ast *e, Value *out)
{
    const Ast *call = e->kid[0];
    if (call->kind != AST_CALL || call->narg || call->kid[0]->kind != AST_NAME ||
        strcmp(call->kid[0]->name, "super"))
        return false;
    while (s && !s->func)
        s = s->outer;
    const AstFunc *f = s ? s->func->ast : NULL;
    if (!f || !s->func->owner || !f->nparam)
        diag_fail(ev->diag, e->span, "super() stands outside of a method [no-super]");
    Value *self = scope_find(s, f->params[0].name);
    const Object *base = s->func->owner->base;
    if (!self)
        diag_fail(ev->diag, e->span, "'%s' is not defined [undefined-name]", f->params[0].name);
    Value *method = base ? object_field(base, e->name) : NULL;
    if (!method && !strcmp(e->name, "__init__")) {
        *out = value_method(ev, self, python_find("__nothing__"), NULL);
        return true;
    }
    if (!method)
        diag_fail(ev->diag, e->span, "no class above has '%s' [no-attribute]", e->name);
    *out = method->kind == V_FUNCTION ? value_method(ev, self, NULL, method->u.func) : *method;
    return true;
}

static Value eval_attr(Eval *ev, Scope *s, const Ast *e)
{
    Value out;
    if (eval_super(ev, s, e, &out))
        return out;
    Value v = eval_expr(ev, s, e->kid[0]);
    return value_attr(ev, e->span, &v, e->name);
}

static Value eval_slice(Eval *ev, Scope *s, const Ast *e)
{
    Value part[3];
    for (int i = 0; i < 3; i++)
        part[i] = i < e->nkid && e->kid[i] ? eval_expr(ev, s, e->kid[i]) : value_none();
    return value_seq(ev, V_SLICE, part, 3);
}

static Value eval_subscript(Eval *ev, Scope *s, const Ast *e)
{
    Value v = eval_expr(ev, s, e->kid[0]);
    Value index = eval_expr(ev, s, e->kid[1]);
    return value_index(ev, e->span, &v, &index);
}

static Value eval_int(Eval *ev, const Ast *e)
{
    if (e->wide)
        return value_expr(ev, expr_const(ev->ir, DT_U64, e->i));
    return value_int(e->i);
}

static Value eval_imaginary(Eval *ev, const Ast *e)
{
    if (ev->trace)
        diag_fail(ev->diag, e->span, "complex numbers are not supported [complex-number]");
    return value_opaque(ev, "a complex number");
}

/* -2**63 is the one negative number whose digits do not fit. */
static Value eval_unary_ast(Eval *ev, Scope *s, const Ast *e)
{
    const Ast *kid = e->kid[0];
    if (e->op == TK_SUB && kid->kind == AST_INT && kid->wide && kid->i == INT64_MIN)
        return value_int(INT64_MIN);
    Value v = eval_expr(ev, s, kid);
    return eval_unary(ev, e->span, e->op, &v);
}

/* (1 << 64) - 1 and 2**64 - 1, all bits of a uint64: the way by a number of 65 bits that is
 * written. */
static bool is_all_ones(const Ast *e)
{
    const Ast *p = e->kid[0], *one = e->kid[1];
    if (e->op != TK_SUB || p->kind != AST_BINARY || one->kind != AST_INT || one->i != 1)
        return false;
    const Ast *base = p->kid[0], *n = p->kid[1];
    return base->kind == AST_INT && n->kind == AST_INT && n->i == 64 &&
           ((p->op == TK_SHL && base->i == 1) || (p->op == TK_POW && base->i == 2));
}

static Value eval_binary_ast(Eval *ev, Scope *s, const Ast *e)
{
    if (is_all_ones(e))
        return value_expr(ev, expr_const(ev->ir, DT_U64, -1));
    Value a = eval_expr(ev, s, e->kid[0]);
    Value b = eval_expr(ev, s, e->kid[1]);
    return eval_binary(ev, e->span, e->op, &a, &b);
}

static Value eval_walrus(Eval *ev, Scope *s, const Ast *e)
{
    Value v = eval_expr(ev, s, e->kid[0]);
    while (s->outer && !s->func && !s->is_module)
        s = s->outer; /* out of comprehensions */
    bind_name(ev, s, e->span, e->name, &v);
    return *scope_find(s, e->name);
}

static Value eval_kind(Eval *ev, Scope *s, const Ast *e)
{
    switch (e->kind) {
    case AST_NAME: return read_name(ev, s, e);
    case AST_INT: return eval_int(ev, e);
    case AST_FLOAT: return value_float(e->f);
    case AST_IMAGINARY: return eval_imaginary(ev, e);
    case AST_STRING: case AST_BYTES: return value_str(ev, e->str, e->len);
    case AST_FSTRING: return eval_fstring(ev, s, e);
    case AST_TRUE: return value_bool(true);
    case AST_FALSE: return value_bool(false);
    case AST_NONE: return value_none();
    case AST_ELLIPSIS: return value_opaque(ev, "...");
    case AST_TUPLE: case AST_LIST: case AST_SET: return eval_display(ev, s, e);
    case AST_DICT: return eval_dict(ev, s, e);
    case AST_UNARY: return eval_unary_ast(ev, s, e);
    case AST_BINARY: return eval_binary_ast(ev, s, e);
    case AST_COMPARE: return eval_comparison(ev, s, e);
    case AST_BOOLOP: return eval_boolop(ev, s, e);
    case AST_TERNARY: return eval_ternary(ev, s, e);
    case AST_CALL: return call_ast(ev, s, e);
    case AST_ATTR: return eval_attr(ev, s, e);
    case AST_INDEX: return eval_subscript(ev, s, e);
    case AST_SLICE: return eval_slice(ev, s, e);
    case AST_LAMBDA: return make_function(ev, s, e->func);
    case AST_COMP: return eval_comp(ev, s, e);
    case AST_WALRUS: return eval_walrus(ev, s, e);
    case AST_STAR: diag_fail(ev->diag, e->span, "'*' cannot stand here [syntax]");
    case AST_YIELD: diag_fail(ev->diag, e->span, "generators are not supported [no-generator]");
    case AST_AWAIT: diag_fail(ev->diag, e->span, "'await' is not supported [no-async]");
    case AST_FORMAT: break;
    }
    unreachable();
}

Value eval_expr(Eval *ev, Scope *s, const Ast *e)
{
    eval_work(ev, e->span, 1);
    eval_nest(ev, e->span);
    Value v = eval_kind(ev, s, e);
    ev->nest--;
    return v;
}
