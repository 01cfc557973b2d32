/* print_lane.c -- one lane of a vector expression, as a scalar expression. */
#include "target/print.h"

DType unsigned_of(int bits)
{
    return bits == 4    ? DT_U4
           : bits == 8  ? DT_U8
           : bits == 16 ? DT_U16
           : bits == 32 ? DT_U32
                        : DT_U64;
}

/* Bits of a vector read as elements of another width: parts of a wider one, or several put
 * together, the first one lowest. */
static const Expr *bitcast_lane(Ir *ir, const Expr *x, int lane)
{
    const Expr *src = x->kid[0];
    int from = dtype_bits(src->type), to = dtype_bits(x->type);
    if (from == to)
        return expr_bitcast(ir, (DType)x->type, 1, lane_of(ir, src, lane));
    BUG(from < 8 || to < 8, "lanes of %d and %d bits", from, to);
    DType wide = unsigned_of(from), part = unsigned_of(to);
    if (from > to) {
        int many = from / to;
        const Expr *e = expr_bitcast(ir, wide, 1, lane_of(ir, src, lane / many));
        e = expr_binary(ir, EX_SHR, e, expr_const(ir, wide, (int64_t)(lane % many) * to));
        return expr_bitcast(ir, (DType)x->type, 1, expr_cast(ir, part, e));
    }
    const Expr *all = NULL;
    for (int i = 0, many = to / from; i < many; i++) {
        const Expr *e = expr_bitcast(ir, wide, 1, lane_of(ir, src, lane * many + i));
        e = expr_binary(ir, EX_SHL, expr_cast(ir, part, e),
                        expr_const(ir, part, (int64_t)i * from));
        all = all ? expr_binary(ir, EX_BITOR, all, e) : e;
    }
    return expr_bitcast(ir, (DType)x->type, 1, all);
}

const Expr *lane_of(Ir *ir, const Expr *x, int lane)
{
    if (x->lanes == 1)
        return x;
    switch (x->op) {
    case EX_BROADCAST:
        return x->kid[0];
    case EX_RAMP:
        return expr_add(ir, x->kid[0],
                        expr_mul(ir, x->kid[1], expr_const(ir, x->kid[1]->type, lane)));
    case EX_VECTOR:
        return x->kid[lane];
    case EX_INT:
        return expr_const(ir, (DType)x->type, x->u.i);
    case EX_FLOAT:
        return expr_float(ir, (DType)x->type, x->u.f);
    case EX_LOAD: {
        const Expr *kid[3];
        for (int i = 0; i < x->nkid; i++)
            kid[i] = lane_of(ir, x->kid[i], lane);
        return x->guarded ? expr_load_guarded(ir, x->u.buf, kid, 1, kid[1], kid[2])
                          : expr_load(ir, x->u.buf, kid, 1);
    }
    case EX_BITCAST:
        return bitcast_lane(ir, x, lane);
    case EX_CAST:
        return expr_cast(ir, (DType)x->type, lane_of(ir, x->kid[0], lane));
    case EX_SELECT:
    case EX_IF:
        return expr_select(ir, lane_of(ir, x->kid[0], lane), lane_of(ir, x->kid[1], lane),
                           lane_of(ir, x->kid[2], lane));
    case EX_MATH: {
        const Expr *kid[4];
        for (int i = 0; i < x->nkid; i++)
            kid[i] = lane_of(ir, x->kid[i], lane);
        return expr_math(ir, x->u.fn, kid, x->nkid);
    }
    default:
        BUG(x->nkid < 1 || x->nkid > 2, "no lane of operator %s", expr_table[x->op].text);
        if (x->nkid == 1)
            return expr_unary(ir, (ExprOp)x->op, lane_of(ir, x->kid[0], lane));
        return expr_binary(ir, (ExprOp)x->op, lane_of(ir, x->kid[0], lane),
                           lane_of(ir, x->kid[1], lane));
    }
}
