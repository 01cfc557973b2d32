/* builtin_arg.c -- arguments of builtins as expressions, regions, types and hints. */
#include "front/builtin.h"

bool value_is_seq(const Value *v)
{
    return v->kind == V_TUPLE || v->kind == V_LIST;
}

bool value_is_number(const Value *v)
{
    return v->kind == V_INT || v->kind == V_BOOL || v->kind == V_FLOAT;
}

double value_number(const Value *v)
{
    return v->kind == V_FLOAT ? v->u.f : (double)v->u.i;
}

const char *value_text(const Value *v)
{
    return v->kind == V_STR ? v->u.s.text : NULL;
}

Value value_tuple(Eval *ev, const Value *at, int n)
{
    return value_seq(ev, V_TUPLE, at, n);
}

Value value_layout(const Layout *l)
{
    return (Value){.kind = V_LAYOUT, .u.layout = l};
}

Value method_of(Eval *ev, const Value *self, const char *row)
{
    Value *copy = NEW(ev->arena, Value);
    *copy = *self;
    Value v = {.kind = V_METHOD};
    v.u.bound.self = copy;
    v.u.bound.builtin = builtin_find(row);
    BUG(!v.u.bound.builtin, "no row %s", row);
    return v;
}

bool arg_given(const BuiltinCall *c, int i)
{
    return c->arg[i].kind != V_UNBOUND && c->arg[i].kind != V_NONE;
}

const Expr *arg_expr(const BuiltinCall *c, int i)
{
    return to_expr(c->ev, c->arg_span[i], &c->arg[i], call_what(c, i));
}

const Expr *arg_index(const BuiltinCall *c, int i)
{
    const Expr *e = arg_expr(c, i);
    if (!dtype_is_int(e->type) || e->lanes != 1)
        arg_fail(c, i, "must be an integer, not %s [argument-type]", dtype_name((DType)e->type));
    return widened(c->ev->ir, e);
}

const Expr *arg_bool_expr(const BuiltinCall *c, int i)
{
    Ir *ir = c->ev->ir;
    const Expr *e = arg_expr(c, i);
    if (e->lanes != 1)
        arg_fail(c, i, "must be one condition, not %d lanes [argument-type]", e->lanes);
    if (e->type == DT_BOOL)
        return e;
    if (dtype_table[e->type].kind == 'H')
        arg_fail(c, i, "must be a condition, not a handle [argument-type]");
    return expr_binary(ir, EX_NE, e, expr_zero(ir, e->type));
}

int64_t arg_int(const BuiltinCall *c, int i)
{
    return to_int(c->ev, c->arg_span[i], &c->arg[i], call_what(c, i));
}

bool arg_bool(const BuiltinCall *c, int i)
{
    const Value *v = &c->arg[i];
    int64_t k;
    if (v->kind == V_EXPR && expr_is_int(v->u.expr, &k))
        return k != 0;
    if (v->kind != V_BOOL && v->kind != V_INT)
        arg_fail(c, i, "must be True or False, not %s [argument-type]", value_kind_name(v));
    return v->u.i != 0;
}

const char *arg_text(const BuiltinCall *c, int i)
{
    const Value *v = &c->arg[i];
    if (v->kind == V_NONE || v->kind == V_UNBOUND)
        return NULL;
    if (v->kind != V_STR)
        arg_fail(c, i, "must be a str, not %s [argument-type]", value_kind_name(v));
    return v->u.s.text;
}

DType dtype_of_value(const BuiltinCall *c, Span at, const Value *v, int *lanes, const char *what)
{
    DType t = DT_NONE;
    int n = 1;
    if (v->kind == V_BUILTIN && !strcmp(v->u.builtin->name, "ptr")) {
        t = DT_I64;
    } else if (v->kind == V_TENSOR && v->u.spec->is_pointer) {
        t = DT_I64;
    } else if (!to_dtype(c->ev, at, v, &t, &n, what)) {
        diag_fail(c->ev->diag, at, "%s must be a dtype, not %s [argument-type]", what,
                  value_kind_name(v));
    }
    if (lanes)
        *lanes = n;
    else if (n != 1)
        diag_fail(c->ev->diag, at, "%s must be a scalar dtype, not %sx%d [argument-type]", what,
                  dtype_name(t), n);
    return t;
}

DType arg_dtype(const BuiltinCall *c, int i, int *lanes)
{
    return dtype_of_value(c, c->arg_span[i], &c->arg[i], lanes, call_what(c, i));
}

Region arg_region(const BuiltinCall *c, int i, bool *is_element)
{
    return to_region(c->ev, c->arg_span[i], &c->arg[i], call_what(c, i), is_element);
}

Region arg_tile(const BuiltinCall *c, int i)
{
    bool is_element;
    Region r = arg_region(c, i, &is_element);
    if (!is_element)
        region_check_range(c, i, &r);
    return r;
}

Buffer *arg_buffer(const BuiltinCall *c, int i)
{
    const Value *v = &c->arg[i];
    if (v->kind != V_BUFFER)
        arg_fail(c, i, "must be a tensor or a tile, not %s [argument-type]", value_kind_name(v));
    return v->u.buf;
}

const Layout *arg_layout(const BuiltinCall *c, int i)
{
    const Value *v = &c->arg[i];
    if (v->kind != V_LAYOUT)
        arg_fail(c, i, "must be a Layout or Fragment, not %s [argument-type]", value_kind_name(v));
    return v->u.layout;
}

const char *arg_word(const BuiltinCall *c, int i, const char *const *words, const char *tag)
{
    const char *text = arg_text(c, i);
    Str all;
    str_init(&all, c->ev->arena);
    for (int w = 0; words[w]; w++) {
        if (text && !strcmp(text, words[w]))
            return words[w];
        str_printf(&all, "%s%s", w ? ", " : "", words[w]);
    }
    arg_fail(c, i, "must be one of %s, not '%s'%s", all.s, text ? text : "None", tag);
}

int arg_ints(const BuiltinCall *c, int i, int64_t *out, int most)
{
    const Value *v = &c->arg[i];
    if (!value_is_seq(v)) {
        out[0] = arg_int(c, i);
        return 1;
    }
    if (v->u.seq->n > most || v->u.seq->n == 0)
        arg_fail(c, i, "must have 1 to %d numbers, not %d [argument-type]", most, v->u.seq->n);
    for (int k = 0; k < v->u.seq->n; k++)
        out[k] = to_int(c->ev, c->arg_span[i], &v->u.seq->at[k], call_what(c, i));
    return v->u.seq->n;
}

const Expr *rest_expr(const BuiltinCall *c, int i)
{
    return to_expr(c->ev, c->span, &c->rest[i], call_title(c));
}

/* ---- regions --------------------------------------------------------------------------------- */

int64_t region_const(const Region *r, int d)
{
    int64_t n;
    return expr_is_int(r->extent[d], &n) ? n : -1;
}

bool region_extent_is(const Region *r, int d, int64_t n)
{
    return region_const(r, d) == n;
}

bool expr_may_equal(const Expr *a, const Expr *b)
{
    int64_t x, y;
    return !expr_is_int(a, &x) || !expr_is_int(b, &y) || x == y;
}

const char *extents_text(Eval *ev, const Region *r)
{
    Str s;
    str_init(&s, ev->arena);
    str_putc(&s, '(');
    for (int d = 0; d < r->buf->rank; d++) {
        str_puts(&s, d ? ", " : "");
        print_expr(&s, r->extent[d]);
    }
    str_puts(&s, r->buf->rank == 1 ? ",)" : ")");
    return s.s;
}

void region_check_range(const BuiltinCall *c, int i, const Region *r)
{
    for (int d = 0; d < r->buf->rank; d++) {
        int64_t at, n, size;
        if (!expr_is_int(r->at[d], &at) || !expr_is_int(r->extent[d], &n) ||
            !expr_is_int(r->buf->shape[d], &size))
            continue;
        if (at < 0 || at + n <= size)
            continue;
        const char *text =
            arena_printf(c->ev->arena,
                         "reaches from %lld to %lld in dimension %d of "
                         "'%s', which has %lld elements",
                         (long long)at, (long long)(at + n), d, r->buf->name, (long long)size);
        if (r->buf->scope != MEM_GLOBAL)
            arg_fail(c, i, "%s [slice-range]", text);
        diag_warn(c->ev->diag, c->arg_span[i],
                  "%s %s; what lies outside reads as 0 and is not stored "
                  "[slice-range]",
                  call_what(c, i), text);
    }
}

/* ---- hints ----------------------------------------------------------------------------------- */

void hints_add(Eval *ev, Hints *h, Hint x)
{
    Hint *at = NEWN(ev->arena, Hint, h->n + 1);
    if (h->n)
        memcpy(at, h->at, sizeof *at * (size_t)h->n);
    at[h->n] = x;
    h->at = at;
    h->n++;
}

void hints_int(Eval *ev, Hints *h, const char *name, int64_t v)
{
    hints_add(ev, h, (Hint){.name = name, .value = expr_int(ev->ir, v)});
}

void hints_text(Eval *ev, Hints *h, const char *name, const char *text)
{
    hints_add(ev, h, (Hint){.name = name, .text = ir_name(ev->ir, text)});
}

/* "-O2 -DX" or a list of such words, after those that are there. */
void hints_flags(Eval *ev, Hints *h, const Value *v)
{
    const Hint *old = hint_find(*h, "compile_flags");
    Str words;

    str_init(&words, ev->arena);
    if (old)
        str_puts(&words, old->text);
    int n = value_is_seq(v) ? v->u.seq->n : 1;
    const Value *at = value_is_seq(v) ? v->u.seq->at : v;
    for (int i = 0; i < n; i++)
        if (at[i].kind == V_STR)
            str_printf(&words, "%s%s", words.n ? " " : "", at[i].u.s.text);
    Hint *all = NEWN(ev->ir->arena, Hint, h->n + 1);
    int kept = 0;
    for (int i = 0; i < h->n; i++)
        if (&h->at[i] != old)
            all[kept++] = h->at[i];
    if (words.n)
        all[kept++] = (Hint){.name = ir_name(ev->ir, "compile_flags"),
                             .text = ir_name(ev->ir, words.s)};
    *h = (Hints){all, kept};
}

/* In place of one of that name. */
static void hint_of_value(Eval *ev, Hints *h, const char *name, const Value *v)
{
    Hint x = {.name = ir_name(ev->ir, name)};
    Hints others = {0};
    if (v->kind == V_STR)
        x.text = ir_name(ev->ir, v->u.s.text);
    else if (v->kind == V_LAYOUT)
        x.layout = v->u.layout;
    else if (v->kind == V_EXPR)
        x.value = v->u.expr;
    else if (v->kind == V_FLOAT)
        x.value = expr_float(ev->ir, DT_F32, v->u.f);
    else if (v->kind == V_INT || v->kind == V_BOOL)
        x.value = expr_int(ev->ir, v->u.i);
    else
        return;
    for (int i = 0; i < h->n; i++)
        if (strcmp(h->at[i].name, name))
            hints_add(ev, &others, h->at[i]);
    hints_add(ev, &others, x);
    *h = others;
}

void note_unread(const BuiltinCall *c, int i, const char *key)
{
    arg_fail(c, i, "names '%s', which nothing reads here [argument-name]", key);
}

/* What T.Parallel, T.copy, … are told by their parameters can be said in annotations= too. */
static const struct {
    const char *key, *param; /* NULL: the same */
    ValueKind kind;
} notes[] = {
    {"coalesced_width", NULL, V_INT},    {"disable_tma", NULL, V_BOOL},
    {"eviction_policy", NULL, V_STR},    {"prefer_instruction", NULL, V_STR},
    {"loop_layout", NULL, V_LAYOUT},     {"prefer_async", NULL, V_BOOL},
    {"num_stages", NULL, V_INT},         {"policy", NULL, V_INT},
    {"memory_order", NULL, V_STR},       {"unroll_factor", NULL, V_INT},
    {"explicit", NULL, V_BOOL},          {"cluster_mask", NULL, V_INT},
    {"parallel_async_without_async_commit_wait", "prefer_async", V_BOOL},
};

static bool is_kind(const Value *v, ValueKind kind)
{
    bool number = v->kind == V_INT || v->kind == V_BOOL;
    return v->kind == kind || (number && (kind == V_INT || kind == V_BOOL));
}

static void see_note(const BuiltinCall *c, int i, Hints *h, const char *key, const Value *v)
{
    for (int k = 0; k < COUNT(notes); k++) {
        if (strcmp(notes[k].key, key) ||
            !call_has(c, notes[k].param ? notes[k].param : notes[k].key))
            continue;
        if (!is_kind(v, notes[k].kind))
            arg_fail(c, i, "has %s under '%s' [argument-type]", value_kind_name(v), key);
        hint_of_value(c->ev, h, key, v);
        return;
    }
    if (!strcmp(key, "tl.ws_op_id"))
        ignore_schedule(c, c->arg_span[i]);
    else
        note_unread(c, i, key);
}

void notes_dict(const BuiltinCall *c, int i, Hints *h)
{
    if (!arg_given(c, i))
        return;
    const Value *v = &c->arg[i];
    if (v->kind != V_DICT)
        arg_fail(c, i, "must be a dict, not %s [argument-type]", value_kind_name(v));
    for (int k = 0; k + 1 < v->u.seq->n; k += 2) {
        const char *key = value_text(&v->u.seq->at[k]);
        if (!key)
            arg_fail(c, i, "must have str keys, not %s [argument-type]",
                     value_kind_name(&v->u.seq->at[k]));
        see_note(c, i, h, key, &v->u.seq->at[k + 1]);
    }
}
