/* say.c -- expressions that mean another thing in WGSL than they do here, said so that they mean
 * the same: comparisons with NaN, and functions of constants, which are errors where they have no
 * result. */
#include "target/webgpu/webgpu.h"

/* a != b may be false where one is a NaN; not (a == b) is true. */
static const Expr *differ(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_unary(ir, EX_NOT, expr_binary(ir, EX_EQ, a, b));
}

static bool is_constant(const Expr *x)
{
    for (int i = 0; i < x->nkid; i++)
        if (x->kid[i]->op != EX_FLOAT)
            return false;
    return x->nkid > 0;
}

static const Expr *say(Ir *ir, const Expr *x, void *arg)
{
    const Expr *kid[4];

    if (x->op == EX_EXTERN)
        diag_fail(((Emit *)arg)->k->diag, ((Emit *)arg)->k->span, "'%s' is a function of another "
                  "language than WGSL [unsupported-here]", x->u.text);
    if (x->op == EX_NE && dtype_is_float((DType)x->kid[0]->type))
        return differ(ir, x->kid[0], x->kid[1]);
    if (x->op == EX_CAST && x->type == DT_BOOL && dtype_is_float((DType)x->kid[0]->type))
        return differ(ir, x->kid[0], expr_zero(ir, (DType)x->kid[0]->type));
    if (x->op == EX_MATH && x->lanes == 1 && is_constant(x)) {
        for (int i = 0; i < x->nkid; i++)
            kid[i] = x->kid[i];
        kid[0] = expr_extern(ir, (DType)kid[0]->type, "tl_value", kid, 1);
        return expr_math(ir, x->u.fn, kid, x->nkid);
    }
    return x;
}

static const Expr *say_all(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, say, arg);
}

const Stmt *wgsl_say(Emit *e, const Stmt *body)
{
    return stmt_map_expr(e->ir, body, say_all, e);
}
