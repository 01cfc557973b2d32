/* arguments.c -- arguments of a run: checked against the parameters, run-time dimensions solved.
 *
 * A dimension that is a variable takes its value from the first argument that has it; one that is
 * an expression with a single unknown is solved when linear; then every extent and stride is
 * compared.  Nothing is allocated on the way that most calls take. */
#include "sim/sim.h"

typedef struct {
    Func *f;
    int64_t *value; /* by Var id */
    bool *known;    /* by dim */
    char *text;
    size_t ntext;
    const Expr *odd; /* an extent that no whole dimension gives, or NULL */
    int64_t odd_got;
} Solve;

__attribute__((format(printf, 2, 3))) static bool refuse(Solve *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->text, s->ntext, fmt, ap);
    va_end(ap);
    return false;
}

static int dim_of(const Func *f, const Expr *e)
{
    for (int i = 0; e->op == EX_VAR && i < f->dims.n; i++)
        if (f->dims.at[i] == e->u.var)
            return i;
    return -1;
}

/* ---- solving --------------------------------------------------------------------------------- */

static bool only_unknown(const Solve *s, const Expr *e, int *which)
{
    int n = 0;
    for (int i = 0; i < s->f->dims.n; i++)
        if (!s->known[i] && expr_uses_var(e, s->f->dims.at[i])) {
            *which = i;
            n++;
        }
    return n == 1;
}

static bool learn(Solve *s, const Expr *e, int64_t got)
{
    int i = dim_of(s->f, e);
    int64_t coef;
    const Expr *base;

    if (i >= 0) {
        if (s->known[i])
            return false;
        s->value[e->u.var->id] = got;
        return s->known[i] = true;
    }
    if (expr_is_const(e) || !only_unknown(s, e, &i))
        return false;
    Var *v = s->f->dims.at[i];
    if (!affine_of(s->f->ir, e, &v, 1, &coef, &base) || coef == 0)
        return false;
    int64_t rest = got - expr_eval(base, s->value);
    if (rest % coef != 0) {
        s->odd = e;
        s->odd_got = got;
        return false;
    }
    s->value[v->id] = rest / coef;
    return s->known[i] = true;
}

static bool is_contiguous(const SimArg *a)
{
    int64_t n = 1;
    bool given = false;

    for (int d = 0; d < a->rank; d++)
        given |= a->stride[d] != 0;
    for (int d = a->rank - 1; given && d >= 0; d--) {
        if (a->shape[d] != 1 && a->stride[d] != n)
            return false;
        n *= a->shape[d];
    }
    return true;
}

static int64_t stride_at(const SimArg *a, int d)
{
    int64_t n = 1;
    bool given = false;

    for (int i = 0; i < a->rank; i++)
        given |= a->stride[i] != 0;
    if (given)
        return a->stride[d];
    for (int i = d + 1; i < a->rank; i++)
        n *= a->shape[i];
    return n;
}

static bool sweep(Solve *s, const SimArg *args, const bool *given)
{
    bool moved = false;
    for (int i = 0; i < s->f->params.n; i++) {
        const Buffer *b = s->f->params.at[i].buf;
        if (!b || (given && !given[i]) || arg_is_absent(&args[i]))
            continue;
        for (int d = 0; d < b->rank; d++) {
            moved |= learn(s, b->shape[d], args[i].shape[d]);
            if (b->stride)
                moved |= learn(s, b->stride[d], stride_at(&args[i], d));
        }
    }
    return moved;
}

static bool all_known(const Solve *s)
{
    for (int i = 0; i < s->f->dims.n; i++)
        if (!s->known[i])
            return false;
    return true;
}

static void take_scalars(Solve *s, const SimArg *args, const bool *given)
{
    for (int i = 0; i < s->f->params.n; i++) {
        const Var *v = s->f->params.at[i].var;
        if (!v || dtype_is_float(v->type) || (given && !given[i]))
            continue;
        s->value[v->id] = args[i].scalar.i;
        for (int j = 0; j < s->f->dims.n; j++)
            s->known[j] |= s->f->dims.at[j] == v;
    }
}

/* Extents and strides that only absent tensors have do not matter. */
static void forget_absent(Solve *s, const SimArg *args)
{
    for (int i = 0; i < s->f->params.n; i++) {
        const Buffer *b = s->f->params.at[i].buf;
        for (int d = 0; b && arg_is_absent(&args[i]) && d < b->rank; d++) {
            learn(s, b->shape[d], 1);
            if (b->stride)
                learn(s, b->stride[d], 1);
        }
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool check_kind(Solve *s, const Param *p, const SimArg *a)
{
    const Buffer *b = p->buf;

    if (!b || arg_is_absent(a))
        return true;
    if (a->type != b->type)
        return refuse(s, "argument '%s' is %s; the kernel takes %s [argument-dtype]", p->name,
                      dtype_name(a->type), dtype_name(b->type));
    if (a->rank != b->rank)
        return refuse(s, "argument '%s' has %d dimensions; the kernel takes %d [argument-rank]",
                      p->name, a->rank, b->rank);
    int64_t bits = dtype_bits(a->type);
    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] < 0)
            return refuse(s, "argument '%s': dimension %d is %lld [argument-shape]", p->name, d,
                          (long long)a->shape[d]);
        if (__builtin_mul_overflow(bits, MAX(a->shape[d], 1), &bits))
            return refuse(s, "argument '%s' has more elements than memory can have "
                          "[argument-shape]", p->name);
    }
    return true;
}

static void extent_text(const Expr *e, char *out, size_t n)
{
    Arena *a = arena_new();
    Str s;

    out[0] = 0;
    if (!a || expr_is_const(e)) {
        arena_free(a);
        return;
    }
    str_init(&s, a);
    print_expr(&s, e);
    snprintf(out, n, " (= %s)", s.s);
    arena_free(a);
}

static bool check_extent(Solve *s, const Param *p, bool stride, int d, const Expr *e, int64_t got)
{
    char text[96];
    int64_t want = 0;

    if (e->op == EX_VAR ? s->value[e->u.var->id] == got
                        : (expr_is_int(e, &want) ? want : expr_eval(e, s->value)) == got)
        return true;
    extent_text(e, text, sizeof text);
    want = expr_eval(e, s->value);
    if (stride)
        return refuse(s,
                      "argument '%s': the stride of dimension %d is %lld; the kernel takes %lld%s "
                      "[argument-stride]",
                      p->name, d, (long long)got, (long long)want, text);
    return refuse(s,
                  "argument '%s': dimension %d is %lld; the kernel takes %lld%s [argument-shape]",
                  p->name, d, (long long)got, (long long)want, text);
}

/* Kernels count in the type that a dimension was declared with. */
static bool check_width(Solve *s, const Param *p, const Expr *e, int64_t got)
{
    char text[96];

    if (e->type != DT_I32 || got <= INT32_MAX)
        return true;
    extent_text(e, text, sizeof text);
    return refuse(s,
                  "argument '%s': %lld%s is more than an int32 holds; declare the dimension as "
                  "T.dynamic(…, \"int64\") [dim-too-large]",
                  p->name, (long long)got, text);
}

static bool check_tensor(Solve *s, const Param *p, const SimArg *a)
{
    const Buffer *b = p->buf;
    int64_t nelem = 1;

    if (arg_is_absent(a))
        return true;
    for (int d = 0; d < b->rank; d++) {
        nelem *= a->shape[d];
        if (!check_extent(s, p, false, d, b->shape[d], a->shape[d]) ||
            !check_width(s, p, b->shape[d], a->shape[d]))
            return false;
    }
    for (int d = 0; b->stride && d < b->rank; d++)
        if (a->shape[d] > 1 && (!check_extent(s, p, true, d, b->stride[d], stride_at(a, d)) ||
                                !check_width(s, p, b->stride[d], stride_at(a, d))))
            return false;
    if (!b->stride && nelem > 0 && !is_contiguous(a))
        return refuse(s,
                      "argument '%s' is not contiguous; make a copy, or declare the parameter as "
                      "T.StridedTensor [argument-stride]",
                      p->name);
    if (!a->data && nelem > 0)
        return refuse(s, "argument '%s' has no memory: its data is NULL [argument-null]", p->name);
    return true;
}

static bool check_solved(Solve *s)
{
    char text[96];

    for (int i = 0; i < s->f->dims.n; i++)
        if (!s->known[i] && s->odd && expr_uses_var(s->odd, s->f->dims.at[i])) {
            extent_text(s->odd, text, sizeof text);
            return refuse(s,
                          "a dimension of an argument is %lld%s; no whole number '%s' makes it "
                          "that [argument-shape]",
                          (long long)s->odd_got, text, s->f->dims.at[i]->name);
        } else if (!s->known[i])
            return refuse(s, "no argument settles the dimension '%s'; give %s=… [dim-unsolved]",
                          s->f->dims.at[i]->name, s->f->dims.at[i]->name);
    return true;
}

/* ---- memory that arguments share ------------------------------------------------------------- */

typedef struct {
    uintptr_t first, end;
    int64_t size; /* bytes of an element */
} Span1;

static Span1 span_of(const SimArg *a)
{
    int64_t low = 0, high = 0, bits = dtype_bits(a->type);
    uintptr_t at = (uintptr_t)a->data;

    for (int d = 0; d < a->rank; d++) {
        int64_t reach = (a->shape[d] - 1) * stride_at(a, d);
        *(reach < 0 ? &low : &high) += reach;
        if (a->shape[d] == 0)
            return (Span1){at, at, 1};
    }
    return (Span1){at + (uintptr_t)(low * bits / 8), at + (uintptr_t)(((high + 1) * bits + 7) / 8),
                   MAX(bits / 8, 1)};
}

/* Two elements of it are one: no store says which. */
static bool check_itself(Solve *s, const Param *p, const SimArg *a)
{
    for (int d = 0; d < a->rank; d++)
        for (int e = d; a->shape[d] > 1 && e < a->rank; e++)
            if (a->shape[e] > 1 &&
                (stride_at(a, d) == 0 || (e != d && stride_at(a, d) == stride_at(a, e))))
                return refuse(s,
                              "argument '%s' is written, and elements of it share memory: make a "
                              "copy [argument-overlap]",
                              p->name);
    return true;
}

static bool check_pair(Solve *s, const Param *p, Span1 x, const Param *q, Span1 y)
{
    int64_t size = MIN(x.size, y.size);

    if (x.first >= y.end || y.first >= x.end || (x.first - y.first) % (uintptr_t)size == 0)
        return true;
    return refuse(s,
                  "arguments '%s' and '%s' overlap, and an element of one is part of two elements "
                  "of the other [argument-overlap]",
                  p->name, q->name);
}

/* What the kernel does to both at equal places, in no order: they are one tensor or apart. */
static bool check_shift(Solve *s, const Param *p, const SimArg *a, const Param *q, const SimArg *b)
{
    Span1 x = span_of(a), y = span_of(b);

    if (x.first == y.first || x.first >= y.end || y.first >= x.end || a->type != b->type ||
        !is_contiguous(a) || !is_contiguous(b))
        return true;
    return refuse(s,
                  "arguments '%s' and '%s' overlap and start %lld bytes apart: elements of '%s' "
                  "are written while others read them as '%s'; make a copy [argument-overlap]",
                  p->name, q->name,
                  (long long)(x.first < y.first ? y.first - x.first : x.first - y.first), p->name,
                  q->name);
}

static bool check_overlap(Solve *s, const SimArg *args, int narg)
{
    for (int i = 0; i < narg; i++) {
        const Param *p = &s->f->params.at[i];
        if (!p->buf || !p->written || arg_is_absent(&args[i]))
            continue;
        if (p->buf->stride && !check_itself(s, p, &args[i]))
            return false;
        Span1 x = span_of(&args[i]);
        for (int j = 0; j < narg; j++) {
            const Param *q = &s->f->params.at[j];
            if (j == i || !q->buf || arg_is_absent(&args[j]))
                continue;
            if (!check_pair(s, p, x, q, span_of(&args[j])))
                return false;
            if (p->in_no_order && p->in_no_order[j] &&
                !check_shift(s, p, &args[i], q, &args[j]))
                return false;
        }
    }
    return true;
}

/* ---- the entries ----------------------------------------------------------------------------- */

static bool count_is(Solve *s, int narg)
{
    Func *f = s->f;
    return narg == f->params.n || refuse(s, "'%s' takes %d arguments, not %d [argument-count]",
                                         f->name, f->params.n, narg);
}

bool arguments_solve(Func *f, SimArg *args, int narg, const bool *given, int64_t *by_var,
                     bool *known, char *text, size_t ntext)
{
    Solve s = {.f = f, .value = by_var, .known = known, .text = text, .ntext = ntext};

    if (!count_is(&s, narg))
        return false;
    for (int i = 0; i < narg; i++)
        if (given[i] && !check_kind(&s, &f->params.at[i], &args[i]))
            return false;
    take_scalars(&s, args, given);
    while (sweep(&s, args, given))
        ;
    if (!check_solved(&s))
        return false;
    for (int i = 0; i < narg; i++) {
        const Param *p = &f->params.at[i];
        if (given[i])
            continue;
        args[i].type = p->buf ? p->buf->type : p->var->type;
        args[i].rank = p->buf ? p->buf->rank : 0;
        for (int d = 0; p->buf && d < p->buf->rank; d++) {
            args[i].shape[d] = expr_eval(p->buf->shape[d], by_var);
            args[i].stride[d] = p->buf->stride ? expr_eval(p->buf->stride[d], by_var) : 0;
        }
    }
    return true;
}

static int64_t scalar_bits(const Var *v, const SimArg *a)
{
    Value1 x = value_cast(a->type, v->type, a->scalar);
    int64_t bits = x.i;

    if (dtype_is_float(v->type))
        memcpy(&bits, &x.f, sizeof bits);
    return bits;
}

bool arguments_bind(Func *f, const SimArg *args, int narg, Binding1 *b, char *text, size_t ntext)
{
    enum { FEW = 64 };
    bool few[FEW] = {0};
    bool *known = f->dims.n <= FEW ? few : NEWN(f->ir->arena, bool, f->dims.n);
    Solve s = {.f = f, .value = b->by_var, .known = known, .text = text, .ntext = ntext};
    int ntensor = 0, nvalue = f->dims.n;

    if (!count_is(&s, narg))
        return false;
    for (int i = 0; i < narg; i++)
        if (!check_kind(&s, &f->params.at[i], &args[i]))
            return false;
    take_scalars(&s, args, NULL);
    while (!all_known(&s) && sweep(&s, args, NULL))
        ;
    forget_absent(&s, args);
    if (!check_solved(&s))
        return false;
    for (int i = 0; i < narg; i++) {
        const Param *p = &f->params.at[i];
        if (p->buf && !check_tensor(&s, p, &args[i]))
            return false;
        if (p->buf)
            b->tensor[ntensor++] = args[i].data;
        else
            b->value[nvalue++] = scalar_bits(p->var, &args[i]);
    }
    for (int i = 0; i < f->dims.n; i++)
        b->value[i] = b->by_var[f->dims.at[i]->id];
    return check_overlap(&s, args, narg);
}

bool sim_solve_dims(Func *f, const SimArg *args, int narg, int64_t *values)
{
    Arena *a = f->ir->arena;
    Binding1 b = {NEWN(a, void *, f->params.n + 1), NEWN(a, int64_t, f->params.n + f->dims.n + 1),
                  values};
    char text[400];

    if (arguments_bind(f, args, narg, &b, text, sizeof text))
        return true;
    diag_error(f->diag, f->span, "%s", text);
    return false;
}
