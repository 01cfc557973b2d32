/* device_call.c -- C functions of GPU toolkits that T.call_extern knows the meaning of.
 *
 * Kernels of others name __float2half_rz or __hadd2 and count on a header.  The rows of
 * device_call.def say what such a call computes; it becomes an expression like any other, so the
 * CPU and the simulator run it too.  A function that the kernel brings along in C is left to it. */
#include "front/builtin.h"

enum { HALF = DT_COUNT };                /* float16 or bfloat16 */
enum { EXACT, TO_ZERO, DOWN, UP };       /* a conversion's direction; EXACT: to the nearest */
enum { FN_BASE = 1000 };
#define FN(m) (FN_BASE + (m))

typedef enum { ONE, TWO, THREE, CONVERT, BITS, JOIN, LANE, SWAP } CallKind;

typedef struct {
    const char *name;
    CallKind how;
    int op, lanes, arg, result; /* lanes: of an argument; 0: any number */
} DeviceCall;

static const DeviceCall call_table[] = {
#define DEVICE(name, how, op, n, arg, result) {name, how, op, n, arg, result},
#include "target/cuda/front/device_call.def"
#undef DEVICE
};

static const DeviceCall *find_call(const BuiltinCall *c, const char *name)
{
    const Trace *t = c->ev->trace;

    if (t && t->kernel && t->kernel->prelude && strstr(t->kernel->prelude, name))
        return NULL;
    for (int i = 0; i < COUNT(call_table); i++)
        if (!strcmp(call_table[i].name, name))
            return &call_table[i];
    return NULL;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int operands(const DeviceCall *d)
{
    return d->how == TWO ? 2 : d->how == THREE ? 3 : d->how == JOIN ? d->op : 1;
}

/* Arguments that are expressions say which half, and how many lanes where any will do. */
static void look(BuiltinCall *c, const DeviceCall *d, DType *t, int *lanes)
{
    *t = d->arg == HALF ? DT_F16 : (DType)d->arg;
    *lanes = MAX(d->lanes, 1);
    for (int i = 0; i < c->nrest; i++) {
        if (value_is_number(&c->rest[i]))
            continue;
        const Expr *e = rest_expr(c, i);
        if (d->arg == HALF && e->type == DT_BF16)
            *t = DT_BF16;
        if (!d->lanes)
            *lanes = MAX(*lanes, e->lanes);
    }
}

static void take(BuiltinCall *c, const DeviceCall *d, DType t, int lanes, const Expr **x)
{
    if (c->nrest != operands(d))
        call_fail(c, "%s takes %d argument%s, not %d [argument-count]", d->name, operands(d),
                  operands(d) == 1 ? "" : "s", c->nrest);
    for (int i = 0; i < c->nrest; i++)
        x[i] = cast_value(c->ev, c->span, t, lanes, &c->rest[i],
                          arena_printf(c->ev->arena, "%s: argument %d", d->name, i + 1));
}

/* ---- conversions ----------------------------------------------------------------------------- */

static const Expr *whole(Ir *ir, const DeviceCall *d, DType to, const Expr *x)
{
    static const MathFn fn[] = {MATH_ROUND, MATH_TRUNC, MATH_FLOOR, MATH_CEIL};
    return expr_cast(ir, to, expr_math(ir, fn[d->op], &x, 1));
}

/* The nearest number, moved by one unit in the last place where it lies beyond x.  Bits of floats
 * count up with the magnitude, across subnormals and into infinity, so that unit is 1. */
static const Expr *toward(Ir *ir, const DeviceCall *d, DType to, const Expr *x)
{
    const Expr *near = expr_cast(ir, to, x), *back = expr_cast(ir, DT_F32, near);
    const Expr *bits = expr_bitcast(ir, DT_U16, 1, near), *one = expr_const(ir, DT_U16, 1);
    const Expr *up = expr_add(ir, bits, one), *down = expr_sub(ir, bits, one), *beyond, *moved;
    const Expr *negative = expr_binary(ir, EX_GE, bits, expr_const(ir, DT_U16, 0x8000));

    if (d->op == TO_ZERO) {
        beyond = expr_binary(ir, EX_GT, expr_math(ir, MATH_ABS, &back, 1),
                             expr_math(ir, MATH_ABS, &x, 1));
        moved = down;
    } else {
        bool falls = d->op == DOWN;
        beyond = expr_binary(ir, falls ? EX_GT : EX_LT, back, x);
        moved = expr_select(ir, negative, falls ? up : down, falls ? down : up);
    }
    return expr_bitcast(ir, to, 1, expr_select(ir, beyond, moved, bits));
}

/* ---- what a row computes --------------------------------------------------------------------- */

static const Expr *compute(Ir *ir, const DeviceCall *d, DType to, const Expr **x)
{
    const Expr *lane[2];
    DType from = (DType)x[0]->type;

    switch (d->how) {
    case ONE:
    case TWO:
    case THREE:
        return d->op >= FN_BASE ? expr_math(ir, (MathFn)(d->op - FN_BASE), x, operands(d))
               : d->how == ONE  ? expr_unary(ir, (ExprOp)d->op, x[0])
                                : expr_binary(ir, (ExprOp)d->op, x[0], x[1]);
    case CONVERT:
        if (dtype_is_float(from) && dtype_is_int(to))
            return whole(ir, d, to, x[0]);
        return d->op == EXACT ? expr_cast(ir, to, x[0]) : toward(ir, d, to, x[0]);
    case BITS: return expr_bitcast(ir, to, 1, x[0]);
    case JOIN:
        lane[0] = expr_cast(ir, to, x[0]);
        lane[1] = expr_cast(ir, to, x[d->op - 1]);
        return expr_vector(ir, lane, 2);
    case LANE: return expr_cast(ir, to, expr_lane(ir, x[0], d->op));
    case SWAP:
        lane[0] = expr_lane(ir, x[0], 1);
        lane[1] = expr_lane(ir, x[0], 0);
        return expr_vector(ir, lane, 2);
    default: BUG(true, "no meaning for '%s'", d->name);
    }
    return NULL;
}

/* fasttanh(&a, &b) of older clients: b = tanh(a). */
static bool is_fast_tanh(const BuiltinCall *c, const char *name)
{
    return !strcmp(name, "fasttanh") && c->nrest == 2 && rest_expr(c, 0)->op == EX_ADDR &&
           rest_expr(c, 1)->op == EX_ADDR;
}

static void store_tanh(BuiltinCall *c, const Expr *from, const Expr *to)
{
    Ir *ir = c->ev->ir;
    const Expr *x = from;

    if (from->op == EX_ADDR)
        x = expr_load(ir, from->u.buf, from->kid, from->u.buf->rank);
    x = expr_math(ir, MATH_TANH, &x, 1);
    call_emit(c, stmt_store(ir, c->span, to->u.buf, to->kid, to->u.buf->rank,
                            expr_cast(ir, to->u.buf->type, x)));
}

bool calls_cuda(BuiltinCall *c, const char *name, Value *out)
{
    const DeviceCall *d = find_call(c, name);
    const Expr *x[3];
    DType t;
    int lanes, want;

    if (!d && is_fast_tanh(c, name)) {
        store_tanh(c, rest_expr(c, 0), rest_expr(c, 1));
        *out = value_none();
        return true;
    }
    if (!d)
        return false;
    look(c, d, &t, &lanes);
    take(c, d, t, lanes, x);
    const Expr *e = compute(c->ev->ir, d, d->result == HALF ? t : (DType)d->result, x);
    DType asked = arg_dtype(c, 0, &want);
    if (want != e->lanes)
        call_fail(c, "%s gives %d lane%s, not %d [argument-type]", d->name, e->lanes,
                  e->lanes == 1 ? "" : "s", want);
    *out = value_expr(c->ev, expr_cast(c->ev->ir, asked, e));
    return true;
}

/* T.fasttanh(x), or T.fasttanh(a[i], b[i]) that stores. */
Value do_fasttanh(BuiltinCall *c)
{
    const Expr *x = arg_expr(c, 0);
    bool element;

    if (!dtype_is_float((DType)x->type) && x->op != EX_ADDR)
        arg_fail(c, 0, "must be a float, not %s [argument-type]", dtype_name((DType)x->type));
    if (!arg_given(c, 1))
        return value_expr(c->ev, expr_math(c->ev->ir, MATH_TANH, &x, 1));
    Region r = arg_region(c, 1, &element);
    if (!element)
        arg_fail(c, 1, "must be one element: index '%s' [argument-type]", r.buf->name);
    store_tanh(c, x, expr_addr(c->ev->ir, r.buf, r.at, r.buf->rank));
    return value_none();
}
