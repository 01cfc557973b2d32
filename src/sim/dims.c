/* dims.c -- T.dynamic dimensions: solved from the shapes and strides of the arguments. */
#include "sim/sim.h"

typedef struct {
    Func *f;
    int64_t *values;
    bool *known;
    const SimArg *args;
} Solve;

static bool uses_unknown(const Solve *s, const Expr *e, int *which)
{
    int n = 0;
    for (int i = 0; i < s->f->dims.n; i++)
        if (!s->known[i] && expr_uses_var(e, s->f->dims.at[i])) {
            *which = i;
            n++;
        }
    return n == 1;
}

/* e = got, with one unknown in e: solve when e is linear in it. */
static bool solve_one(Solve *s, const Expr *e, int64_t got)
{
    int i;
    int64_t coef;
    const Expr *base;
    if (!uses_unknown(s, e, &i))
        return false;
    Var *v = s->f->dims.at[i];
    if (!affine_of(s->f->ir, e, &v, 1, &coef, &base) || coef == 0)
        return false;
    int64_t rest = got - expr_eval(base, s->values);
    if (rest % coef != 0)
        return false;
    s->values[v->id] = rest / coef;
    return s->known[i] = true;
}

static int64_t stride_of(const SimArg *a, int d)
{
    bool given = false;
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        given |= a->stride[i] != 0;
    if (given)
        return a->stride[d];
    for (int i = d + 1; i < a->rank; i++)
        n *= a->shape[i];
    return n;
}

static bool sweep(Solve *s)
{
    bool moved = false;
    for (int i = 0; i < s->f->params.n; i++) {
        const Buffer *b = s->f->params.at[i].buf;
        for (int d = 0; b && !arg_is_absent(&s->args[i]) && d < b->rank; d++) {
            moved |= solve_one(s, b->shape[d], s->args[i].shape[d]);
            if (b->stride)
                moved |= solve_one(s, b->stride[d], stride_of(&s->args[i], d));
        }
    }
    return moved;
}

/* Extents and strides that only absent tensors have do not matter. */
static void forget_absent(Solve *s)
{
    for (int i = 0; i < s->f->params.n; i++) {
        const Buffer *b = s->f->params.at[i].buf;
        for (int d = 0; b && arg_is_absent(&s->args[i]) && d < b->rank; d++) {
            solve_one(s, b->shape[d], 1);
            if (b->stride)
                solve_one(s, b->stride[d], 1);
        }
    }
}

static const char *expr_text(Ir *ir, const Expr *e)
{
    Str s;
    str_init(&s, ir->arena);
    print_expr(&s, e);
    return s.s;
}

static bool check_extent(Solve *s, const Param *p, const char *what, int d, const Expr *e,
                         int64_t got)
{
    int64_t want = expr_eval(e, s->values);
    if (want == got)
        return true;
    if (expr_is_const(e))
        diag_error(s->f->diag, p->span,
                   "argument '%s': %s %d is %lld, expected %lld [argument-shape]", p->name, what, d,
                   (long long)got, (long long)want);
    else
        diag_error(s->f->diag, p->span,
                   "argument '%s': %s %d is %lld, expected %lld (= %s) [argument-shape]", p->name,
                   what, d, (long long)got, (long long)want, expr_text(s->f->ir, e));
    return false;
}

static bool check_tensor(Solve *s, const Param *p, const SimArg *a)
{
    bool ok = true;
    for (int d = 0; !arg_is_absent(a) && d < p->buf->rank; d++) {
        ok &= check_extent(s, p, "dimension", d, p->buf->shape[d], a->shape[d]);
        if (p->buf->stride && a->shape[d] > 1)
            ok &= check_extent(s, p, "stride", d, p->buf->stride[d], stride_of(a, d));
    }
    return ok;
}

static bool check_kind(Func *f, const Param *p, const SimArg *a)
{
    if (p->buf == NULL || arg_is_absent(a))
        return true;
    if (a->rank != p->buf->rank) {
        diag_error(f->diag, p->span, "argument '%s' has %d dimensions, expected %d [argument-rank]",
                   p->name, a->rank, p->buf->rank);
        return false;
    }
    if (a->type != p->buf->type) {
        diag_error(f->diag, p->span, "argument '%s' is %s, expected %s [argument-dtype]", p->name,
                   dtype_name(a->type), dtype_name(p->buf->type));
        return false;
    }
    return true;
}

static bool check_unknown(Solve *s)
{
    bool ok = true;
    for (int i = 0; i < s->f->dims.n; i++)
        if (!s->known[i]) {
            const Var *v = s->f->dims.at[i];
            diag_error(s->f->diag, v->span,
                       "no argument's shape or stride determines '%s' [dim-unsolved]", v->name);
            ok = false;
        }
    return ok;
}

/* A scalar parameter may stand in a shape; a dim may be such a parameter itself. */
static void bind_scalars(Solve *s)
{
    for (int i = 0; i < s->f->params.n; i++) {
        const Var *v = s->f->params.at[i].var;
        if (v == NULL || dtype_is_float(v->type))
            continue;
        s->values[v->id] = s->args[i].scalar.i;
        for (int j = 0; j < s->f->dims.n; j++)
            s->known[j] |= s->f->dims.at[j] == v;
    }
}

bool sim_solve_dims(Func *f, const SimArg *args, int narg, int64_t *values)
{
    bool ok = true;
    if (narg != f->params.n) {
        diag_error(f->diag, f->span, "'%s' takes %d arguments, %d are given [argument-count]",
                   f->name, f->params.n, narg);
        return false;
    }
    for (int i = 0; i < narg; i++)
        ok &= check_kind(f, &f->params.at[i], &args[i]);
    if (!ok)
        return false;
    Solve s = {f, values, NEWN(f->ir->arena, bool, f->dims.n + 1), args};
    bind_scalars(&s);
    while (sweep(&s))
        ;
    forget_absent(&s);
    if (!check_unknown(&s))
        return false;
    for (int i = 0; i < narg; i++)
        if (f->params.at[i].buf)
            ok &= check_tensor(&s, &f->params.at[i], &args[i]);
    return ok;
}
