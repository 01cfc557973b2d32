/* eval_stmt.c -- scopes, names and simple statements.
 *
 * In a staged scope (the body of a prim_func, macro or eager function) assigning a run-time value
 * makes a let that dies with the innermost frame; assigning to an alloc_var stores.  Everywhere
 * else names are plain Python variables. */
#include "front/eval.h"

/* ---- scopes ---------------------------------------------------------------------------------- */

Scope *scope_new(Eval *ev, Scope *outer)
{
    Scope *s = NEW(ev->arena, Scope);
    s->outer = outer;
    s->global = outer ? outer->global : s;
    map_init_text(&s->names, ev->arena);
    return s;
}

static Scope *home_of(Scope *s, const char *name)
{
    Scope *other = s->elsewhere.arena ? map_get(&s->elsewhere, name) : NULL;
    return other ? other : s;
}

static Binding *lookup(Scope *s, const char *name)
{
    for (Scope *c = s; c; c = c->outer) {
        if (c != s && c->is_class)
            continue;
        Binding *b = map_get(&home_of(c, name)->names, name);
        if (b && b->value.kind != V_UNBOUND)
            return b;
    }
    return NULL;
}

Value *scope_find(Scope *s, const char *name)
{
    Binding *b = lookup(s, name);
    return b ? &b->value : NULL;
}

static Binding *binding_for(Eval *ev, Scope *s, const char *name)
{
    Scope *home = home_of(s, name);
    Binding *b = map_get(&home->names, name);
    if (!b) {
        b = NEW(ev->arena, Binding);
        map_set(&home->names, name, b);
    }
    return b;
}

void scope_set(Eval *ev, Scope *s, const char *name, const Value *v)
{
    Value copy = *v;
    Binding *b = binding_for(ev, s, name);
    *b = (Binding){.value = copy};
}

bool scope_traces(const Eval *ev, const Scope *s)
{
    return ev->trace && s->staged;
}

/* ---- reading a name -------------------------------------------------------------------------- */

static const char *near_in_scope(Eval *ev, Scope *s, const char *name)
{
    VEC(const char *) all = {0};
    for (Scope *c = s; c; c = c->outer)
        for (int i = 0; i < c->names.n; i++)
            if (c->names.at[i].key)
                vec_push(ev->arena, &all, c->names.at[i].key);
    return nearest_name(name, all.at, all.n);
}

/* Names of Python that kernels only pass around or raise. */
static bool is_host_name(const char *name)
{
    static const char *const names[] = {
        "Exception", "BaseException", "ValueError", "TypeError", "RuntimeError", "KeyError",
        "IndexError", "AssertionError", "NotImplementedError", "NotImplemented", "ImportError",
        "ModuleNotFoundError", "AttributeError", "OSError", "IOError", "FileNotFoundError",
        "StopIteration", "ZeroDivisionError", "ArithmeticError", "OverflowError", "Warning",
        "DeprecationWarning", "UserWarning", "object", "bytes", "bytearray", "complex", "open",
        "exit", "input", "vars", "id", "hash", "issubclass", "__builtins__", "__doc__",
    };
    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool known_elsewhere(Eval *ev, const Scope *s, Span at, const char *name, Value *out)
{
    const Builtin *b = python_find(name);
    if (ev->host && ev->host->name) {
        void *data = s->global->host_data ? s->global->host_data : ev->host_data;
        ev->host_span = at;
        if (ev->host->name(ev, data, name, out) == STATUS_OK)
            return true;
        if (ev->diag->nerror)
            diag_throw(ev->diag);
    }
    if (b) {
        *out = (Value){.kind = V_BUILTIN, .u.builtin = b};
        return true;
    }
    if (ev->star) {
        *out = module_attr(ev, at, "tilelang.language", name);
        if (out->kind != V_UNBOUND)
            return true;
    }
    *out = value_opaque(ev, name);
    return is_host_name(name);
}

Value read_name(Eval *ev, Scope *s, const Ast *e)
{
    Value out = {0};
    Binding *b = lookup(s, e->name);
    if (b) {
        if (b->frame && !(ev->trace && frame_is_open(ev->trace, b->frame)))
            diag_fail(ev->diag, e->span,
                      "'%s' was made inside of a block that has ended; to carry a "
                      "value out, use T.alloc_var [out-of-scope]",
                      e->name);
        return b->value;
    }
    if (known_elsewhere(ev, s, e->span, e->name, &out))
        return out;
    if (ev->diag->nerror)
        diag_throw(ev->diag);
    const char *near = near_in_scope(ev, s, e->name);
    if (near)
        diag_fail(ev->diag, e->span, "'%s' is not defined; did you mean '%s'? [undefined-name]",
                  e->name, near);
    const char *line = !strcmp(e->name, "T")          ? "import tilelang.language as T"
                       : !strcmp(e->name, "tilelang") ? "import tilelang"
                       : !strcmp(e->name, "math")     ? "import math"
                                                      : NULL;
    if (line)
        diag_fail(ev->diag, e->span, "'%s' is not defined; the file needs '%s' [undefined-name]",
                  e->name, line);
    diag_fail(ev->diag, e->span, "'%s' is not defined [undefined-name]", e->name);
}

/* ---- binding a name -------------------------------------------------------------------------- */

/* A variable of several lanes: T.alloc_var("float32x2"). */
static bool is_vector_var(const Value *v)
{
    return v->kind == V_REGION && v->is_ref && v->u.region->buf->rank == 1 &&
           v->u.region->at[0]->lanes > 1;
}

static Buffer *whole_buffer(const Value *v)
{
    return v->kind == V_BUFFER ? v->u.buf : is_vector_var(v) ? v->u.region->buf : NULL;
}

static int fresh_index(const Eval *ev, const Value *v)
{
    const Buffer *b = whole_buffer(v);
    if (!ev->trace || !b)
        return -1;
    for (int i = ev->trace->fresh.n - 1; i >= 0; i--)
        if (ev->trace->fresh.at[i] == b)
            return i;
    return -1;
}

/* A buffer is called after the first name it gets. */
static void name_fresh(Eval *ev, const Value *v, const char *name)
{
    int i = fresh_index(ev, v);
    if (i >= 0) {
        whole_buffer(v)->name = ir_name(ev->ir, name);
        ev->trace->fresh.at[i] = ev->trace->fresh.at[--ev->trace->fresh.n];
    }
    if (!ev->trace || !ev->trace->fresh.n || (v->kind != V_LIST && v->kind != V_TUPLE))
        return;
    for (int k = 0; k < v->u.seq->n; k++)
        if (fresh_index(ev, &v->u.seq->at[k]) >= 0)
            name_fresh(ev, &v->u.seq->at[k], arena_printf(ev->arena, "%s_%d", name, k));
}

static bool is_scalar(const Value *v)
{
    return is_number(v) || is_runtime(v);
}

/* What no variable can hold, and nobody would call by its name. */
static bool is_no_number(const Value *v)
{
    return v->kind == V_NONE || v->kind == V_STR || v->kind == V_LIST || v->kind == V_TUPLE ||
           v->kind == V_DICT;
}

static int innermost_frame(const Trace *t)
{
    return t->frames.n ? vec_last(&t->frames) : 0;
}

/* What the name will stand for; *frame is the frame it dies with. */
static Value settle(Eval *ev, Span at, const char *name, const Value *v, int *frame)
{
    Trace *t = ev->trace;
    if (v->kind == V_BUFFER && (v->u.buf->scope != MEM_VAR || fresh_index(ev, v) >= 0)) {
        *frame = v->u.buf->scope == MEM_GLOBAL ? 0 : t->kernel_frame;
        return *v;
    }
    if (is_vector_var(v) && fresh_index(ev, v) >= 0)
        *frame = t->kernel_frame;
    if (!is_runtime(v) || !t->kernel || (v->is_ref && !is_vector_var(v)) ||
        fresh_index(ev, v) >= 0)
        return *v;
    const Expr *e = to_expr(ev, at, v, "the value");
    if (e->op == EX_VAR || expr_is_const(e))
        return value_expr(ev, e);
    *frame = innermost_frame(t);
    return value_expr(ev, trace_let(ev, at, name, e));
}

static void warn_update(Eval *ev, Span at, const char *name, const Binding *old, const Value *v)
{
    Trace *t = ev->trace;
    if (!t->kernel || old->depth >= t->depth_control || !strcmp(name, "_"))
        return;
    if (is_number(&old->value) && is_number(v) && !value_equal(ev, &old->value, v))
        diag_warn(ev->diag, at, "'%s' is a compile-time value and this block is traced once, so it "
                  "changes once, not at each iteration; T.alloc_var makes a variable "
                  "[compile-time-update]", name);
    else if (old->frame && v->kind == V_EXPR && frame_is_open(t, old->frame))
        diag_warn(ev->diag, at,
                  "this makes a new '%s' inside of the block and leaves the outer one "
                  "as it was; T.alloc_var makes a variable [rebind]",
                  name);
}

void bind_name(Eval *ev, Scope *s, Span at, const char *name, const Value *v)
{
    Scope *home = home_of(s, name);
    Binding *old = map_get(&home->names, name);
    bool staged = scope_traces(ev, s);
    int frame = 0;
    Value x = *v;
    if (staged && old && is_place(&old->value) && (is_scalar(v) || is_no_number(v)) &&
        fresh_index(ev, v) < 0 &&
        (!old->frame || frame_is_open(ev->trace, old->frame))) {
        store_value(ev, at, &old->value, TK_EOF, v);
        return;
    }
    if (staged) {
        x = settle(ev, at, name, v, &frame);
        if (old && old->value.kind != V_UNBOUND)
            warn_update(ev, at, name, old, &x);
    }
    name_fresh(ev, &x, name);
    Binding *b = binding_for(ev, s, name);
    *b = (Binding){.value = x, .frame = frame, .span = at,
                   .depth = ev->trace ? ev->trace->depth_control : 0};
}

static void unpack(Eval *ev, Scope *s, const Ast *target, const Value *v,
                   void (*each)(Eval *, Scope *, const Ast *, const Value *))
{
    Value *item;
    int star = -1, n = value_items(ev, target->span, v, &item, "unpacking"), m = target->nkid;
    for (int i = 0; i < m; i++)
        if (target->kid[i]->kind == AST_STAR)
            star = i;
    if (star < 0 ? n != m : n < m - 1)
        diag_fail(ev->diag, target->span, "%d value%s for %d name%s [unpack-count]", n,
                  n == 1 ? "" : "s", m, m == 1 ? "" : "s");
    for (int i = 0, at = 0; i < m; i++) {
        if (i != star) {
            each(ev, s, target->kid[i], &item[at++]);
            continue;
        }
        Value rest = value_seq(ev, V_LIST, item + at, n - (m - 1));
        at += n - (m - 1);
        each(ev, s, target->kid[i]->kid[0], &rest);
    }
}

/* a, b = b, a: all right sides are read before anything is written. */
static Value snapshot(Eval *ev, Scope *s, const Ast *target, const Value *v)
{
    if (!scope_traces(ev, s) || !ev->trace->kernel || v->kind != V_TUPLE || target->nkid < 2)
        return *v;
    bool writes = false;
    for (int i = 0; i < target->nkid; i++) {
        const Ast *t = target->kid[i];
        Value *old = t->kind == AST_NAME ? scope_find(s, t->name) : NULL;
        writes = writes || t->kind == AST_INDEX || (old && is_place(old));
    }
    if (!writes)
        return *v;
    Value copy = value_seq(ev, V_TUPLE, v->u.seq->at, v->u.seq->n);
    for (int i = 0; i < copy.u.seq->n; i++) {
        Value *x = &copy.u.seq->at[i];
        if (!is_runtime(x) || fresh_index(ev, x) >= 0)
            continue;
        const Expr *e = to_expr(ev, target->span, x, "the value");
        if (expr_has_load(e))
            *x = value_expr(ev, trace_let(ev, target->span, "old", e));
    }
    return copy;
}

void assign(Eval *ev, Scope *s, const Ast *target, const Value *v)
{
    switch (target->kind) {
    case AST_NAME: bind_name(ev, s, target->span, target->name, v); return;
    case AST_TUPLE: case AST_LIST: {
        Value all = snapshot(ev, s, target, v);
        unpack(ev, s, target, &all, assign);
        return;
    }
    case AST_INDEX: {
        Value in = eval_expr(ev, s, target->kid[0]);
        Value index = eval_expr(ev, s, target->kid[1]);
        assign_item(ev, target->span, &in, &index, v);
        return;
    }
    case AST_ATTR: {
        Value in = eval_expr(ev, s, target->kid[0]);
        Value *old = in.kind == V_OBJECT ? map_get(&in.u.object->fields, target->name) : NULL;
        if (old && ev->trace && is_place(old) && is_scalar(v) && fresh_index(ev, v) < 0) {
            store_value(ev, target->span, old, TK_EOF, v);
            return;
        }
        name_fresh(ev, v, target->name);
        set_attr(ev, target->span, &in, target->name, v);
        return;
    }
    case AST_STAR: assign(ev, s, target->kid[0], v); return;
    default: diag_fail(ev->diag, target->span, "this cannot be assigned to [not-assignable]");
    }
}

static void bind_dying(Eval *ev, Scope *s, const Ast *target, const Value *v)
{
    if (target->kind == AST_TUPLE || target->kind == AST_LIST) {
        unpack(ev, s, target, v, bind_dying);
        return;
    }
    if (target->kind != AST_NAME) {
        assign(ev, s, target, v);
        return;
    }
    Binding *b = binding_for(ev, s, target->name);
    *b = (Binding){.value = *v, .frame = innermost_frame(ev->trace), .span = target->span,
                   .depth = ev->trace->depth_control};
}

void bind_loop_var(Eval *ev, Scope *s, const Ast *target, const Value *v)
{
    bind_dying(ev, s, target, v);
}

/* ---- op= ------------------------------------------------------------------------------------- */

static void aug_list(Eval *ev, Span at, Value *list, const Value *v)
{
    Value *item;
    int n = value_items(ev, at, v, &item, "'+='");
    for (int i = 0; i < n; i++)
        seq_push(ev, list->u.seq, &item[i]);
}

static void aug_place(Eval *ev, const AstStmt *st, const Value *old, const Value *v)
{
    if (old->kind == V_BUFFER && old->u.buf->scope != MEM_VAR)
        diag_fail(ev->diag, st->span, "'%s=' cannot update the whole of '%s'; index an element "
                  "[buffer-update]", token_text(st->op), old->u.buf->name);
    store_value(ev, st->span, old, st->op, v);
}

static void eval_aug(Eval *ev, Scope *s, const AstStmt *st)
{
    const Ast *target = st->targets[0];
    Value in = {0}, index = {0}, old;
    if (target->kind == AST_INDEX) {
        in = eval_expr(ev, s, target->kid[0]);
        index = eval_expr(ev, s, target->kid[1]);
        old = value_index(ev, target->span, &in, &index);
    } else {
        old = eval_expr(ev, s, target);
    }
    Value v = eval_expr(ev, s, st->value);
    bool memory =
        old.kind == V_BUFFER || (old.kind == V_REGION && (target->kind == AST_INDEX || old.is_ref));
    if (memory) {
        aug_place(ev, st, &old, &v);
        return;
    }
    if (old.kind == V_LIST && st->op == TK_ADD) {
        aug_list(ev, st->span, &old, &v);
        return;
    }
    Value x = eval_binary(ev, st->span, st->op, &old, &v);
    if (target->kind == AST_INDEX)
        assign_item(ev, target->span, &in, &index, &x);
    else
        assign(ev, s, target, &x);
}

/* ---- the others ------------------------------------------------------------------------------ */

static const char *message_text(Eval *ev, Scope *s, const Ast *e)
{
    if (!e)
        return "";
    Str b;
    Value v = eval_expr(ev, s, e);
    str_init(&b, ev->arena);
    value_repr(ev, &b, &v, false);
    return b.s;
}

static void eval_assert(Eval *ev, Scope *s, const AstStmt *st)
{
    Value c = eval_expr(ev, s, st->value);
    if (c.kind == V_OPAQUE && !(ev->trace && ev->trace->kernel))
        return;
    if (ev->trace && (is_runtime(&c) || c.kind == V_REGION || c.kind == V_BUFFER)) {
        const Expr *cond = to_condition(ev, st->value->span, &c);
        trace_emit(ev, stmt_assert(ev->ir, st->span, cond,
                                   ir_name(ev->ir, message_text(ev, s, st->message))));
        return;
    }
    if (value_truth(ev, st->value->span, &c))
        return;
    const char *text = message_text(ev, s, st->message);
    diag_fail(ev->diag, st->span, "this assertion does not hold%s%s [assert-failed]",
              *text ? ": " : "", text);
}

/* The words of `raise ValueError("…")`. */
NORETURN static void eval_raise(Eval *ev, Scope *s, const AstStmt *st)
{
    const Ast *e = st->value;
    const char *what = "an exception", *text = "";
    if (e && e->kind == AST_CALL) {
        what = e->kid[0]->name ? e->kid[0]->name : what;
        text = e->narg ? message_text(ev, s, e->args[0].value) : "";
    } else if (e && e->name) {
        what = e->name;
    }
    diag_fail(ev->diag, st->span, "%s was raised%s%s [raised]", what, *text ? ": " : "", text);
}

static void eval_global(Eval *ev, Scope *s, const AstStmt *st)
{
    if (!s->elsewhere.arena)
        map_init_text(&s->elsewhere, ev->arena);
    for (int i = 0; i < st->nname; i++) {
        Scope *to = s->global;
        if (st->kind == AS_NONLOCAL)
            for (Scope *c = s->outer; c; c = c->outer)
                if (map_get(&c->names, st->names[i].name)) {
                    to = c;
                    break;
                }
        if (to != s)
            map_set(&s->elsewhere, st->names[i].name, to);
    }
}

static void eval_del(Eval *ev, Scope *s, const AstStmt *st)
{
    for (int i = 0; i < st->ntarget; i++) {
        const Ast *t = st->targets[i];
        if (t->kind == AST_NAME) {
            Value none = {0};
            scope_set(ev, s, t->name, &none);
        } else if (t->kind == AST_INDEX) {
            Value in = eval_expr(ev, s, t->kid[0]), key = eval_expr(ev, s, t->kid[1]);
            Value *found = in.kind == V_DICT ? dict_find(ev, &in, &key) : NULL;
            if (!found)
                diag_fail(ev->diag, t->span, "there is nothing to delete here [missing-key]");
            Seq *q = in.u.seq;
            int at = (int)(found - q->at) - 1;
            memmove(q->at + at, q->at + at + 2, sizeof *q->at * (size_t)(q->n - at - 2));
            q->n -= 2;
        }
    }
}

static RunResult eval_try(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    RunResult r = eval_block(ev, s, st->body, st->nbody, result);
    if (r == RUN_NEXT)
        r = eval_block(ev, s, st->orelse, st->norelse, result);
    RunResult f = eval_block(ev, s, st->final, st->nfinal, result);
    return f == RUN_NEXT ? r : f;
}

static RunResult eval_leave(Eval *ev, const AstStmt *st)
{
    bool leaves = st->kind == AS_BREAK;
    const char *word = leaves ? "break" : "continue";
    if (!ev->loop)
        diag_fail(ev->diag, st->span, "'%s' stands outside of a loop [break-outside]", word);
    if (ev->loop == 'p')
        diag_fail(ev->diag, st->span, "'%s' cannot leave a parallel, pipelined or vector loop "
                  "[break-parallel]", word);
    if (ev->loop == 'c' && ev->trace && ev->trace->depth_control > ev->loop_control)
        diag_fail(ev->diag, st->span,
                  "'%s' depends on a run-time value, and the loop around it runs "
                  "at compile time [runtime-break]",
                  word);
    if (ev->loop == 'r')
        trace_emit(ev, stmt_simple(ev->ir, st->span, leaves ? ST_BREAK : ST_CONTINUE));
    return leaves ? RUN_BREAK : RUN_CONTINUE;
}

static RunResult eval_return(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    Value v = st->value ? eval_expr(ev, s, st->value) : value_none();
    if (ev->trace && ev->trace->depth_control > ev->func_control)
        diag_fail(ev->diag, st->span, "'return' cannot stand inside of a loop or a branch that is "
                  "decided at run time [return-in-branch]");
    if (ev->trace)
        ev->trace->return_span = st->span;
    *result = v;
    return RUN_RETURN;
}

static void eval_annotated(Eval *ev, Scope *s, const AstStmt *st)
{
    if (st->value) {
        Value v = eval_expr(ev, s, st->value);
        assign(ev, s, st->targets[0], &v);
    } else if (scope_traces(ev, s)) {
        declare_parameter(ev, s, st);
    }
}

/* Calls of C functions made as expressions have effects; everything else that is not used is lost
 * as in Python. */
static void eval_drop(Eval *ev, Scope *s, const AstStmt *st)
{
    Value v = eval_expr(ev, s, st->value);
    if (ev->trace && ev->trace->kernel && v.kind == V_EXPR && v.u.expr->op == EX_EXTERN)
        trace_emit(ev, stmt_eval(ev->ir, st->span, v.u.expr));
    if (v.kind == V_FRAME && scope_traces(ev, s))
        diag_warn(ev->diag, st->span, "this loop or context does nothing without 'for' or 'with' "
                  "[unused-frame]");
}

static void eval_assign(Eval *ev, Scope *s, const AstStmt *st)
{
    Value v = eval_expr(ev, s, st->value);
    for (int i = 0; i < st->ntarget; i++) {
        assign(ev, s, st->targets[i], &v);
        if (i + 1 < st->ntarget && st->targets[i]->kind == AST_NAME) {
            Value *now = scope_find(s, st->targets[i]->name);
            if (now)
                v = *now; /* a = b = e evaluates e once */
        }
    }
}

static void refuse_async(Eval *ev, const AstStmt *s)
{
    if (s->is_async)
        diag_fail(ev->diag, s->span, "'async' is not supported; leave the word out [no-async]");
}

static RunResult run_stmt(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    eval_work(ev, st->span, 1);
    switch (st->kind) {
    case AS_EXPR: eval_drop(ev, s, st); return RUN_NEXT;
    case AS_ASSIGN: eval_assign(ev, s, st); return RUN_NEXT;
    case AS_AUG: eval_aug(ev, s, st); return RUN_NEXT;
    case AS_ANN: eval_annotated(ev, s, st); return RUN_NEXT;
    case AS_IF: return eval_if(ev, s, st, result);
    case AS_FOR:
        refuse_async(ev, st);
        return eval_for(ev, s, st, result);
    case AS_WHILE: return eval_while(ev, s, st, result);
    case AS_WITH:
        refuse_async(ev, st);
        return eval_with(ev, s, st, result);
    case AS_DEF: eval_def(ev, s, st); return RUN_NEXT;
    case AS_CLASS: eval_class(ev, s, st); return RUN_NEXT;
    case AS_RETURN: return eval_return(ev, s, st, result);
    case AS_BREAK: case AS_CONTINUE: return eval_leave(ev, st);
    case AS_ASSERT: eval_assert(ev, s, st); return RUN_NEXT;
    case AS_RAISE: eval_raise(ev, s, st);
    case AS_IMPORT: case AS_FROM: eval_import(ev, s, st); return RUN_NEXT;
    case AS_GLOBAL: case AS_NONLOCAL: eval_global(ev, s, st); return RUN_NEXT;
    case AS_DEL: eval_del(ev, s, st); return RUN_NEXT;
    case AS_TRY: return eval_try(ev, s, st, result);
    case AS_MATCH: diag_fail(ev->diag, st->span, "'match' is not supported; use 'if' [no-match]");
    case AS_PASS: case AS_TYPE: return RUN_NEXT;
    }
    unreachable();
}

RunResult eval_stmt(Eval *ev, Scope *s, const AstStmt *st, Value *result)
{
    Span outer = ev->ir->at;

    ev->ir->at = st->span;
    RunResult r = run_stmt(ev, s, st, result);
    ev->ir->at = outer;
    return r;
}

RunResult eval_block(Eval *ev, Scope *s, AstStmt *const *body, int n, Value *result)
{
    for (int i = 0; i < n; i++) {
        RunResult r = eval_stmt(ev, s, body[i], result);
        if (ev->trace && ev->trace->stopped)
            return RUN_RETURN;
        if (r == RUN_NEXT)
            continue;
        if (i + 1 < n && scope_traces(ev, s) && body[i + 1]->kind != AS_PASS &&
            body[i]->kind != AS_IF && body[i]->kind != AS_WITH)
            diag_warn(ev->diag, body[i + 1]->span, "this is never reached [unreachable]");
        return r;
    }
    return RUN_NEXT;
}
