/* say.c -- expressions that mean another thing in WGSL than they do here, said so that they mean
 * the same: what meets infinities and NaNs, which a compiler of WGSL may take to be absent, and
 * functions of constants, which are errors where they have no result. */
#include "target/webgpu/webgpu.h"

/* a != b may be false where one is a NaN; not (a == b) is true. */
static const Expr *differ(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_unary(ir, EX_NOT, expr_binary(ir, EX_EQ, a, b));
}

static bool is_zero(const Expr *x)
{
    return x->op == EX_FLOAT && x->lanes == 1 && x->u.f == 0;
}

/* A value that the compilers behind WGSL do not know: what they know to be 0 they multiply by and
 * divide by as if nothing were infinite or NaN. */
static const Expr *hidden(Ir *ir, const Expr *x)
{
    return expr_extern(ir, (DType)x->type, "tl_value", &x, 1);
}

static const Expr *say_zero(Ir *ir, const Expr *x)
{
    return is_zero(x) ? hidden(ir, x) : x;
}

/* x * 0, x / 0, x - x, x / x: 0 or 1 where the compiler may take x to be finite. */
static const Expr *say_arithmetic(Ir *ir, const Expr *x)
{
    const Expr *a = x->kid[0], *b = x->kid[1];

    b = a == b && (x->op == EX_SUB || x->op == EX_DIV) ? hidden(ir, b) : say_zero(ir, b);
    return expr_binary(ir, (ExprOp)x->op, say_zero(ir, a), b);
}

/* a != b may be false where one is a NaN, a == a true, and a square not below 0. */
static const Expr *say_comparison(Ir *ir, const Expr *x)
{
    const Expr *a = say_zero(ir, x->kid[0]), *b = say_zero(ir, x->kid[1]);

    if (a == b && x->op != EX_LT && x->op != EX_GT) {
        const Expr *is_nan = expr_math(ir, MATH_ISNAN, &a, 1);
        return x->op == EX_NE ? is_nan : expr_unary(ir, EX_NOT, is_nan);
    }
    return x->op == EX_NE ? differ(ir, a, b) : expr_binary(ir, (ExprOp)x->op, a, b);
}

/* Of constants alone, or with a 0 among them: the compiler is not to know the first such one. */
static const Expr *say_math(Ir *ir, const Expr *x)
{
    const Expr *kid[4];
    bool constant = x->nkid > 0;

    for (int i = 0; i < x->nkid; i++)
        constant &= x->kid[i]->op == EX_FLOAT;
    for (int i = 0; i < x->nkid; i++)
        kid[i] = constant && i == 0 ? hidden(ir, x->kid[i]) : say_zero(ir, x->kid[i]);
    return expr_math(ir, x->u.fn, kid, x->nkid);
}

/* Of uint32 there is no opposite, and the printer's power is one of 64 bits. */
static const Expr *say_unsigned(Ir *ir, const Expr *x)
{
    if (x->op == EX_MATH && x->u.fn == MATH_POW)
        return expr_extern(ir, DT_U32, "tl_pow_u32", x->kid, 2);
    if (x->op != EX_NEG)
        return x;
    return expr_make(ir, EX_SUB, DT_U32, 1, 2,
                     (const Expr *[]){expr_const(ir, DT_U32, 0), x->kid[0]});
}

static const Expr *say(Ir *ir, const Expr *x, void *arg)
{
    bool ours = x->op == EX_EXTERN && (!strncmp(x->u.text, "tl_", 3) || strchr(x->u.text, '<'));
    if (x->op == EX_EXTERN && !ours)
        diag_fail(((Emit *)arg)->k->diag, ((Emit *)arg)->k->span, "'%s' is a function of another "
                  "language than WGSL [unsupported-here]", x->u.text);
    if (!x->nkid || x->lanes != 1)
        return x;
    if (x->type == DT_U32)
        return say_unsigned(ir, x);
    bool of_floats = dtype_is_float((DType)x->kid[0]->type);
    bool gives_float = dtype_is_float((DType)x->type);
    if (x->op == EX_CAST && x->type == DT_BOOL && of_floats)
        return differ(ir, x->kid[0], expr_zero(ir, (DType)x->kid[0]->type));
    if (x->op == EX_CAST && x->kid[0]->type == DT_BOOL && gives_float)
        return hidden(ir, x);
    if (x->op >= EX_EQ && x->op <= EX_GE && of_floats)
        return say_comparison(ir, x);
    if (x->op >= EX_ADD && x->op <= EX_DIV && gives_float)
        return say_arithmetic(ir, x);
    return x->op == EX_MATH && of_floats ? say_math(ir, x) : x;
}

static const Expr *say_all(Ir *ir, const Expr *x, void *arg)
{
    if (is_zero(x) && x->type == DT_F32) /* a variable that begins as 0 */
        return hidden(ir, x);
    return expr_map(ir, x, say, arg);
}

const Stmt *wgsl_say(Emit *e, const Stmt *body)
{
    return stmt_map_expr(e->ir, body, say_all, e);
}
