/* convert.c -- values into what builtins and statements need, reported in the user's words. */
#include "front/eval.h"

const Expr *to_expr(Eval *ev, Span at, const Value *v, const char *what)
{
    switch (v->kind) {
    case V_BOOL: return expr_bool(ev->ir, v->u.i != 0);
    case V_INT: return expr_int(ev->ir, v->u.i);
    case V_FLOAT: return expr_float(ev->ir, DT_F32, v->u.f);
    case V_EXPR: return v->u.expr;
    case V_BUFFER:
        if (v->u.buf->rank == 0)
            return expr_load(ev->ir, v->u.buf, NULL, 0);
        break;
    case V_REGION: {
        const Region *r = v->u.region;
        bool one = true;
        int64_t n;
        for (int d = 0; d < r->buf->rank && !v->is_element; d++)
            one = one && expr_is_int(r->extent[d], &n) && n == 1;
        if (one)
            return expr_load(ev->ir, r->buf, r->at, r->buf->rank);
        diag_fail(ev->diag, at, "%s must be one number, not a region of '%s' [not-a-number]", what,
                  r->buf->name);
    }
    case V_OBJECT:
        if (v->u.object->is_enum) {
            Value *x = map_get(&v->u.object->fields, "value");
            if (x && x->kind != V_OBJECT)
                return to_expr(ev, at, x, what);
        }
        break;
    case V_OPAQUE: case V_FOREIGN: fail_opaque(ev, at, v, what);
    default: break;
    }
    diag_fail(ev->diag, at, "%s must be a number, not %s [not-a-number]", what, value_kind_name(v));
}

int64_t to_int(Eval *ev, Span at, const Value *v, const char *what)
{
    int64_t i;
    switch (v->kind) {
    case V_INT: case V_BOOL: return v->u.i;
    case V_EXPR:
        if (dtype_is_int(v->u.expr->type) && expr_is_int(v->u.expr, &i))
            return i;
        /* fall through */
    case V_REGION: case V_BUFFER:
        diag_fail(ev->diag, at, "%s must be known at compile time [not-constant]", what);
    case V_OBJECT:
        if (v->u.object->is_enum) {
            Value *x = map_get(&v->u.object->fields, "value");
            if (x && x->kind == V_INT)
                return x->u.i;
        }
        break;
    case V_OPAQUE: case V_FOREIGN: fail_opaque(ev, at, v, what);
    default: break;
    }
    diag_fail(ev->diag, at, "%s must be an int, not %s [not-an-int]", what, value_kind_name(v));
}

static bool dtype_of_text(const char *text, DType *t, int *lanes)
{
    const char *dot = strrchr(text, '.');
    return dtype_parse(dot ? dot + 1 : text, t, lanes);
}

NORETURN static void unknown_dtype(Eval *ev, Span at, const char *text, const char *what)
{
    const char *names[DT_COUNT], *near;

    for (int i = 0; i < DT_COUNT; i++)
        names[i] = dtype_table[i].name;
    near = nearest_name(text, names, DT_COUNT);
    if (near)
        diag_fail(ev->diag, at, "%s: '%s' is not a dtype; did you mean '%s'? [unknown-dtype]", what,
                  text, near);
    diag_fail(ev->diag, at, "%s: '%s' is not a dtype [unknown-dtype]", what, text);
}

bool to_dtype(Eval *ev, Span at, const Value *v, DType *t, int *lanes, const char *what)
{
    *lanes = 1;
    switch (v->kind) {
    case V_DTYPE:
        *t = v->dtype;
        *lanes = MAX(v->lanes, 1);
        return true;
    case V_STR:
        if (dtype_of_text(v->u.s.text, t, lanes))
            return true;
        unknown_dtype(ev, at, v->u.s.text, what);
    case V_OPAQUE:
        if (dtype_of_text(v->u.s.text, t, lanes))
            return true;
        fail_opaque(ev, at, v, what);
    case V_FOREIGN:
        if (ev->host && ev->host->describe &&
            dtype_of_text(ev->host->describe(ev, ev->host_data, v->u.foreign), t, lanes))
            return true;
        fail_opaque(ev, at, v, what);
    case V_BUILTIN:
        if (is_builtin(v, "int") || is_builtin(v, "float") || is_builtin(v, "bool"))
            return dtype_parse(v->u.builtin->name, t, lanes);
        break;
    case V_TENSOR:
        if (v->u.spec->is_pointer) {
            *t = DT_HANDLE;
            return true;
        }
        break;
    default: break;
    }
    diag_fail(ev->diag, at, "%s must be a dtype, not %s [unknown-dtype]", what, value_kind_name(v));
}

Region to_region(Eval *ev, Span at, const Value *v, const char *what, bool *is_element)
{
    if (is_element)
        *is_element = v->kind == V_REGION && v->is_element;
    if (v->kind == V_BUFFER)
        return region_whole(ev->ir, v->u.buf);
    if (v->kind == V_REGION)
        return *v->u.region;
    if (v->kind == V_EXPR && v->u.expr->op == EX_LOAD && !v->u.expr->guarded) {
        /* a load that was made early is still the element it reads */
        const Expr *e = v->u.expr;
        Region r = region_whole(ev->ir, e->u.buf);
        const Expr **start = NEWN(ev->arena, const Expr *, e->nkid + 1);
        const Expr **extent = NEWN(ev->arena, const Expr *, e->nkid + 1);
        for (int d = 0; d < e->nkid; d++) {
            start[d] = e->kid[d];
            extent[d] = expr_int(ev->ir, 1);
        }
        r.at = start;
        r.extent = extent;
        if (is_element)
            *is_element = true;
        return r;
    }
    if (v->kind == V_OPAQUE || v->kind == V_FOREIGN)
        fail_opaque(ev, at, v, what);
    diag_fail(ev->diag, at, "%s must be a tile or a region of one, not %s [not-a-tile]", what,
              value_kind_name(v));
}

static Value extent_value(Eval *ev, Span at, const Value *v, int least, const char *what)
{
    if (v->kind == V_INT || v->kind == V_BOOL) {
        if (v->u.i < least)
            diag_fail(ev->diag, at, "%s has an extent of %lld; it must be positive [bad-extent]",
                      what, (long long)v->u.i);
        if (v->u.i > INT32_MAX * (int64_t)1024)
            diag_fail(ev->diag, at, "%s has an extent of %lld, which is too large [bad-extent]",
                      what, (long long)v->u.i);
        return value_int(v->u.i);
    }
    if (v->kind == V_FLOAT)
        diag_fail(ev->diag, at, "%s has a float as extent; use // for whole numbers [bad-extent]",
                  what);
    const Expr *e = to_expr(ev, at, v, arena_printf(ev->arena, "an extent of %s", what));
    if (!dtype_is_int(e->type))
        diag_fail(ev->diag, at, "%s has an extent of type %s [bad-extent]", what,
                  dtype_name(e->type));
    Value n = value_int(0);
    if (!expr_is_int(e, &n.u.i))
        return value_expr(ev, e);
    if (dtype_is_unsigned((DType)e->type) && n.u.i < 0)
        n.u.i = INT64_MAX;
    return extent_value(ev, at, &n, least, what);
}

static const int64_t ELEMENTS_MOST = (int64_t)1 << 56; /* their bits can still be counted */

int to_shape_least(Eval *ev, Span at, const Value *v, Value out[RANK_MOST], int least,
                   const char *what)
{
    if (v->kind != V_TUPLE && v->kind != V_LIST) {
        out[0] = extent_value(ev, at, v, least, what);
        return 1;
    }
    if (v->u.seq->n > RANK_MOST)
        diag_fail(ev->diag, at, "%s has %d dimensions; the most is %d [too-many-dimensions]", what,
                  v->u.seq->n, RANK_MOST);
    int64_t count = 1;
    for (int i = 0; i < v->u.seq->n; i++) {
        out[i] = extent_value(ev, at, &v->u.seq->at[i], least, what);
        if (out[i].kind == V_INT && out[i].u.i > 0 &&
            (__builtin_mul_overflow(count, out[i].u.i, &count) || count > ELEMENTS_MOST))
            diag_fail(ev->diag, at, "%s has more elements than memory can have [bad-extent]", what);
    }
    return v->u.seq->n;
}

int to_shape(Eval *ev, Span at, const Value *v, Value out[RANK_MOST], const char *what)
{
    return to_shape_least(ev, at, v, out, 1, what);
}
