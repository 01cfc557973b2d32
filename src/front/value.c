/* value.c -- what a name can hold at compile time: making, printing, comparing. */
#include <math.h>
#include <stdlib.h>

#include "front/eval.h"

void eval_work(Eval *ev, Span at, uint64_t n)
{
    ev->steps += n;
    if (ev->steps > STEPS_MOST)
        diag_fail(ev->diag, at,
                  "this takes too much work at compile time (over %d steps) [too-much-work]",
                  STEPS_MOST);
}

void eval_nest(Eval *ev, Span at)
{
    if (++ev->nest > NEST_MOST)
        diag_fail(ev->diag, at, "calls and expressions are nested too deeply [too-deep]");
}

/* ---- making ---------------------------------------------------------------------------------- */

Value value_none(void)
{
    return (Value){.kind = V_NONE};
}

Value value_bool(bool b)
{
    return (Value){.kind = V_BOOL, .u.i = b};
}

Value value_int(int64_t i)
{
    return (Value){.kind = V_INT, .u.i = i};
}

Value value_float(double f)
{
    return (Value){.kind = V_FLOAT, .u.f = f};
}

Value value_str(Eval *ev, const char *s, size_t n)
{
    Value v = {.kind = V_STR};
    v.u.s.text = arena_strndup(ev->arena, s, n);
    v.u.s.len = n;
    return v;
}

Value value_cstr(Eval *ev, const char *s)
{
    return value_str(ev, s, strlen(s));
}

Value dtype_text(Eval *ev, const Value *v)
{
    return value_cstr(ev, v->lanes > 1
                              ? arena_printf(ev->arena, "%sx%d", dtype_name(v->dtype), v->lanes)
                              : dtype_name(v->dtype));
}

Value value_opaque(Eval *ev, const char *text)
{
    Value v = value_cstr(ev, text);
    v.kind = V_OPAQUE;
    return v;
}

Value value_expr(Eval *ev, const Expr *e)
{
    int64_t i;
    (void)ev;
    if (e->op == EX_INT && e->lanes == 1 && e->type == DT_I32 && expr_is_int(e, &i))
        return value_int(i);
    if (e->op == EX_INT && e->lanes == 1 && e->type == DT_BOOL && expr_is_int(e, &i))
        return value_bool(i != 0);
    return (Value){.kind = V_EXPR, .u.expr = e};
}

Value value_seq(Eval *ev, ValueKind kind, const Value *at, int n)
{
    Seq *s = NEW(ev->arena, Seq);
    ev->steps += (uint64_t)n;
    s->at = n ? NEWN(ev->arena, Value, n) : NULL;
    s->n = s->cap = n;
    if (n)
        memcpy(s->at, at, sizeof(Value) * (size_t)n);
    return (Value){.kind = kind, .u.seq = s};
}

Value value_dtype(DType t, int lanes)
{
    return (Value){.kind = V_DTYPE, .dtype = t, .lanes = lanes};
}

Value value_buffer(Buffer *b)
{
    return (Value){.kind = V_BUFFER, .u.buf = b};
}

Value value_function(Function *f)
{
    return (Value){.kind = V_FUNCTION, .u.func = f};
}

Value value_method(Eval *ev, const Value *self, const Builtin *b, Function *f)
{
    Value v = {.kind = V_METHOD};
    v.u.bound.self = NEW(ev->arena, Value);
    *v.u.bound.self = *self;
    v.u.bound.builtin = b;
    v.u.bound.func = f;
    return v;
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool is_number(const Value *v)
{
    return v->kind == V_BOOL || v->kind == V_INT || v->kind == V_FLOAT;
}

static bool is_seq(const Value *v)
{
    return v->kind == V_TUPLE || v->kind == V_LIST || v->kind == V_SET;
}

bool is_runtime(const Value *v)
{
    return v->kind == V_EXPR || (v->kind == V_REGION && v->is_element) ||
           (v->kind == V_BUFFER && v->u.buf->scope == MEM_VAR);
}

double number_of(const Value *v)
{
    return v->kind == V_FLOAT ? v->u.f : (double)v->u.i;
}

const char *value_kind_name(const Value *v)
{
    static const char *const name[] = {
        [V_UNBOUND] = "nothing",
        [V_NONE] = "None",
        [V_BOOL] = "a bool",
        [V_INT] = "an int",
        [V_FLOAT] = "a float",
        [V_STR] = "a str",
        [V_TUPLE] = "a tuple",
        [V_LIST] = "a list",
        [V_DICT] = "a dict",
        [V_SET] = "a set",
        [V_SLICE] = "a slice",
        [V_RANGE] = "a range",
        [V_DTYPE] = "a dtype",
        [V_FUNCTION] = "a function",
        [V_BUILTIN] = "a function",
        [V_METHOD] = "a method",
        [V_MODULE] = "a module",
        [V_OPAQUE] = "a value of the host",
        [V_EXPR] = "a run-time value",
        [V_BUFFER] = "a tile",
        [V_REGION] = "a region",
        [V_TENSOR] = "a tensor annotation",
        [V_LAYOUT] = "a layout",
        [V_FRAME] = "a loop or context",
        [V_FUNC] = "a kernel function",
        [V_CLASS] = "a class",
        [V_OBJECT] = "an object",
        [V_FOREIGN] = "a Python object",
        [V_NODE] = "a tensor",
    };
    if (v->kind == V_BUFFER && v->u.buf->scope == MEM_GLOBAL)
        return "a tensor";
    if (v->kind == V_BUFFER && v->u.buf->scope == MEM_VAR)
        return "a variable";
    if (v->kind == V_REGION && v->is_element)
        return "an element";
    return name[v->kind];
}

/* An opaque value may be what is left of a statement that went wrong. */
void note_failed(Eval *ev, const char *text)
{
    const char *name = name_intern(ev->names, text, strcspn(text, ".("));
    const Message *m = ev->failed.arena ? map_get(&ev->failed, name) : NULL;
    if (m)
        diag_note(ev->diag, m->span, "'%s' could not be made: %s", name, m->text);
}

void fail_opaque(Eval *ev, Span at, const Value *v, const char *what)
{
    if (v->kind == V_FOREIGN)
        diag_fail(ev->diag, at, "%s: this Python object has no meaning in a kernel [opaque-value]",
                  what);
    diag_error(ev->diag, at, "%s needs the value of '%s', which only the host knows [opaque-value]",
               what, v->u.s.text);
    note_failed(ev, v->u.s.text);
    diag_throw(ev->diag);
}

bool value_truth(Eval *ev, Span at, const Value *v)
{
    switch (v->kind) {
    case V_NONE: return false;
    case V_BOOL: case V_INT: return v->u.i != 0;
    case V_FLOAT: return v->u.f != 0;
    case V_STR: return v->u.s.len != 0;
    case V_TUPLE: case V_LIST: case V_DICT: case V_SET: return v->u.seq->n != 0;
    case V_RANGE: return range_length(v) != 0;
    case V_FOREIGN: {
        Value b;
        if (host_op(ev, at, "truth", v, 1, &b) && b.kind == V_BOOL)
            return b.u.i != 0;
    } /* fall through */
    case V_OPAQUE: fail_opaque(ev, at, v, "the condition");
    case V_BUFFER:
        if (v->u.buf->scope != MEM_VAR)
            diag_fail(ev->diag, at, "the whole of '%s' cannot be a condition; index one element "
                      "[buffer-condition]", v->u.buf->name);
        /* fall through */
    case V_NODE:
        diag_fail(ev->diag, at, "the elements of a tensor are known only when the program runs; "
                  "tl.where chooses between tensors [tensor-condition]");
    case V_EXPR: case V_REGION:
        diag_fail(ev->diag, at, "this value is known only at run time, and a truth value is needed "
                  "at compile time [runtime-condition]");
    default: return true;
    }
}

static bool equal_seq(Eval *ev, const Value *a, const Value *b)
{
    const Seq *x = a->u.seq, *y = b->u.seq;
    if (x->n != y->n)
        return false;
    eval_nest(ev, NO_SPAN);
    eval_work(ev, NO_SPAN, (uint64_t)x->n);
    bool same = true;
    if (a->kind == V_DICT) {
        for (int i = 0; i < x->n && same; i += 2) {
            const Value *other = dict_find(ev, b, &x->at[i]);
            same = other && value_equal(ev, &x->at[i + 1], other);
        }
    } else if (a->kind == V_SET) {
        for (int i = 0; i < x->n && same; i++) {
            same = false;
            for (int j = 0; j < y->n && !same; j++)
                same = value_equal(ev, &x->at[i], &y->at[j]);
        }
    } else {
        for (int i = 0; i < x->n && same; i++)
            same = value_equal(ev, &x->at[i], &y->at[i]);
    }
    ev->nest--;
    return same;
}

static bool dtype_is_text(const Value *t, const Value *s)
{
    DType d;
    int lanes;
    return s->kind == V_STR && dtype_parse(s->u.s.text, &d, &lanes) && d == t->dtype &&
           lanes == t->lanes;
}

bool value_equal(Eval *ev, const Value *a, const Value *b)
{
    if (is_number(a) && is_number(b)) {
        if (a->kind != V_FLOAT && b->kind != V_FLOAT)
            return a->u.i == b->u.i;
        return number_of(a) == number_of(b);
    }
    if (a->kind == V_DTYPE && b->kind == V_STR)
        return dtype_is_text(a, b);
    if (b->kind == V_DTYPE && a->kind == V_STR)
        return dtype_is_text(b, a);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case V_NONE: case V_UNBOUND: return true;
    case V_STR: case V_MODULE: case V_OPAQUE:
        return a->u.s.len == b->u.s.len && !memcmp(a->u.s.text, b->u.s.text, a->u.s.len);
    case V_TUPLE: case V_LIST: case V_SET: case V_DICT: case V_SLICE: case V_RANGE:
        return a->u.seq == b->u.seq || equal_seq(ev, a, b);
    case V_DTYPE: return a->dtype == b->dtype && a->lanes == b->lanes;
    case V_METHOD:
        return a->u.bound.builtin == b->u.bound.builtin && a->u.bound.func == b->u.bound.func &&
               value_equal(ev, a->u.bound.self, b->u.bound.self);
    default: return a->u.foreign == b->u.foreign;
    }
}

/* ---- lists and dicts ------------------------------------------------------------------------- */

void seq_push(Eval *ev, Seq *s, const Value *v)
{
    if (s->n >= SEQ_MOST)
        diag_fail(ev->diag, NO_SPAN, "a list grew past %d elements [too-much-work]", SEQ_MOST);
    Value copy = *v;
    if (s->n == s->cap)
        s->at = vec_grow(ev->arena, s->at, s->n, &s->cap, sizeof *s->at);
    s->at[s->n++] = copy;
}

Value dict_new(Eval *ev)
{
    return value_seq(ev, V_DICT, NULL, 0);
}

Value *dict_find(Eval *ev, const Value *dict, const Value *key)
{
    Seq *s = dict->u.seq;
    ev->steps += (uint64_t)s->n / 8;
    for (int i = 0; i < s->n; i += 2)
        if (value_equal(ev, &s->at[i], key))
            return &s->at[i + 1];
    return NULL;
}

void need_hashable(Eval *ev, Span at, const Value *key)
{
    if (key->kind == V_LIST || key->kind == V_DICT || key->kind == V_SET)
        diag_fail(ev->diag, at, "%s cannot be a key, since it may change; use a tuple [unhashable]",
                  value_kind_name(key));
}

void dict_set(Eval *ev, const Value *dict, const Value *key, const Value *v)
{
    Value *old = dict_find(ev, dict, key);
    if (old) {
        *old = *v;
        return;
    }
    seq_push(ev, dict->u.seq, key);
    seq_push(ev, dict->u.seq, v);
}

int64_t range_length(const Value *range)
{
    int64_t start = range->u.seq->at[0].u.i, stop = range->u.seq->at[1].u.i,
            step = range->u.seq->at[2].u.i;
    if (step == 0 || (step > 0 ? start >= stop : start <= stop))
        return 0;
    uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t n = (span - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int range_items(Eval *ev, Span at, const Value *v, Value **out)
{
    int64_t n = range_length(v);
    if (n > SEQ_MOST)
        diag_fail(ev->diag, at, "a compile-time range of %lld steps is too long [too-much-work]",
                  (long long)n);
    eval_work(ev, at, (uint64_t)n);
    *out = NEWN(ev->arena, Value, n + 1);
    for (int64_t i = 0; i < n; i++)
        (*out)[i] = value_int(v->u.seq->at[0].u.i + i * v->u.seq->at[2].u.i);
    return (int)n;
}

static size_t utf8_length(const char *s, size_t left)
{
    unsigned char c = (unsigned char)*s;
    size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return MIN(n, left);
}

static int str_items(Eval *ev, const Value *v, Value **out)
{
    int n = 0;
    *out = NEWN(ev->arena, Value, v->u.s.len + 1);
    for (size_t i = 0; i < v->u.s.len;) {
        size_t k = utf8_length(v->u.s.text + i, v->u.s.len - i);
        (*out)[n++] = value_str(ev, v->u.s.text + i, k);
        i += k;
    }
    return n;
}

int value_items(Eval *ev, Span at, const Value *v, Value **out, const char *what)
{
    switch (v->kind) {
    case V_TUPLE: case V_LIST: case V_SET: {
        /* A copy: the body may change the list. */
        Value copy = value_seq(ev, V_LIST, v->u.seq->at, v->u.seq->n);
        *out = copy.u.seq->at;
        return copy.u.seq->n;
    }
    case V_DICT: {
        int n = v->u.seq->n / 2;
        *out = NEWN(ev->arena, Value, n + 1);
        for (int i = 0; i < n; i++)
            (*out)[i] = v->u.seq->at[2 * i];
        return n;
    }
    case V_RANGE: return range_items(ev, at, v, out);
    case V_NODE: return tensor_items(ev, at, v, out, what);
    case V_STR: eval_work(ev, at, v->u.s.len); return str_items(ev, v, out);
    case V_DTYPE: {
        Value text = dtype_text(ev, v);
        return str_items(ev, &text, out);
    }
    case V_CLASS:
        if (v->u.object->is_enum) {
            int n = 0;
            const Map *m = &v->u.object->fields;
            *out = NEWN(ev->arena, Value, m->n + 1);
            for (int i = 0; i < m->n; i++)
                if (m->at[i].key && ((Value *)m->at[i].val)->kind == V_OBJECT)
                    (*out)[n++] = *(Value *)m->at[i].val;
            return n;
        }
        break;
    case V_FOREIGN: {
        Value all;
        if (host_op(ev, at, "items", v, 1, &all) && is_seq(&all)) {
            *out = all.u.seq->at;
            return all.u.seq->n;
        }
    } /* fall through */
    case V_OPAQUE: fail_opaque(ev, at, v, what);
    default: break;
    }
    diag_fail(ev->diag, at, "%s: cannot walk over %s [not-iterable]", what, value_kind_name(v));
}
