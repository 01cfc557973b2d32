/* invert.c -- index maps: injective or not, and the inverse as expressions.
 *
 * Injectivity is decided by visiting every point of the box.  The inverse is found by algebra:
 * an output c0*d0 + c1*d1 + … with c0 | c1 | … and digits that do not reach the next coefficient
 * gives each digit back as out // c % (next c / c); digits x // d % m that tile a source give the
 * source back; a ^ b gives a back once b is known.  A source is a variable or a sum of them that is
 * digits again.  What is left are maps linear over bits, solved as such.  Every inverse is checked
 * on every point before it is returned: a gap in the algebra can lose an inverse, not break one. */
#include <stdlib.h>
#include "arith/arith.h"

enum { POINTS_MOST = 1 << 26, BITS_MOST = 1 << 27 };
enum { DIM_MOST = 16, DIGITS_MOST = 64, ROUNDS_MOST = 16 };

typedef struct {
    Ir *ir;
    Arena *scratch;
    Facts *f;
    int n, nout;
    Var *const *vars;
    const int64_t *extent;
    const Expr *const *out;
} Box;

static int64_t box_points(const Box *b)
{
    int64_t n = 1;
    for (int i = 0; i < b->n; i++) {
        if (__builtin_mul_overflow(n, b->extent[i], &n))
            return INT64_MAX;
    }
    return n;
}

bool point_next(int n, const int64_t *extent, int64_t *at)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++at[i] < extent[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* The next points from `at` on, as many as there are lanes, in arg; how many.  *more: there are
 * others after them.  Lanes left over repeat the last point. */
static int box_lanes(const Box *b, int64_t *at, int64_t (*arg)[EXPR_LANES], bool *more)
{
    int n = 0;
    for (*more = true; *more && n < EXPR_LANES; n++) {
        for (int i = 0; i < b->n; i++)
            arg[i][n] = at[i];
        *more = point_next(b->n, b->extent, at);
    }
    for (int l = n; l < EXPR_LANES; l++) {
        for (int i = 0; i < b->n; i++)
            arg[i][l] = arg[i][n - 1];
    }
    return n;
}

static Facts *box_facts(const Box *b)
{
    Facts *f = facts_new(b->ir);
    for (int i = 0; i < b->n; i++)
        facts_range(f, b->vars[i], expr_int(b->ir, 0), expr_int(b->ir, b->extent[i]));
    return f;
}

/* ---- injectivity ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (int i = 0; i < DIM_MOST; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

/* Without a box small enough for a bitset: sort all results. */
static bool distinct_sorted(const Box *b, const ExprCode *code, int64_t npoint)
{
    int64_t(*row)[DIM_MOST] = arena_alloc(b->scratch, sizeof *row * (size_t)npoint);
    int64_t at[DIM_MOST] = {0}, n = 0;
    do
        expr_run(code, at, row[n++]);
    while (point_next(b->n, b->extent, at));
    qsort(row, (size_t)npoint, sizeof *row, by_value);
    for (int64_t i = 1; i < npoint; i++) {
        if (by_value(row[i - 1], row[i]) == 0)
            return false;
    }
    return true;
}

static bool distinct(const Box *b)
{
    const ExprCode *code = expr_compile(b->ir, b->vars, b->n, b->out, b->nout);
    int64_t low[DIM_MOST], size[DIM_MOST], total = 1, npoint = box_points(b);
    for (int d = 0; d < b->nout; d++) {
        Bounds r = bounds_of(b->f, b->out[d]);
        low[d] = r.lo;
        if (!bounds_known(r) || __builtin_sub_overflow(r.hi, r.lo, &size[d]) ||
            __builtin_mul_overflow(total, size[d] + 1, &total) || total > BITS_MOST)
            return distinct_sorted(b, code, npoint);
        size[d]++;
    }
    if (total < npoint)
        return false;
    uint64_t *seen = NEWN(b->scratch, uint64_t, total / 64 + 1);
    int64_t at[DIM_MOST] = {0}, arg[DIM_MOST][EXPR_LANES], r[DIM_MOST][EXPR_LANES];
    for (bool more = true; more;) {
        int n = box_lanes(b, at, arg, &more);
        expr_run_lanes(code, arg, r);
        for (int l = 0; l < n; l++) {
            int64_t key = 0;
            for (int d = 0; d < b->nout; d++)
                key = key * size[d] + (r[d][l] - low[d]);
            if (seen[key / 64] >> key % 64 & 1)
                return false;
            seen[key / 64] |= (uint64_t)1 << key % 64;
        }
    }
    return true;
}

/* Every variable is an output as it stands. */
static bool names_all(const Box *b)
{
    for (int i = 0; i < b->n; i++) {
        bool named = b->extent[i] == 1;
        for (int d = 0; d < b->nout && !named; d++)
            named = b->out[d]->op == EX_VAR && b->out[d]->u.var == b->vars[i];
        if (!named)
            return false;
    }
    return true;
}

bool map_is_injective(Ir *ir, Var *const *vars, const int64_t *extent, int n,
                      const Expr *const *out, int nout)
{
    Box b = {ir, arena_new(), NULL, n, nout, vars, extent, out};
    BUG(n > DIM_MOST || nout > DIM_MOST, "a map of %d to %d dimensions", n, nout);
    bool ok = names_all(&b);
    if (!ok && box_points(&b) <= POINTS_MOST) {
        b.f = box_facts(&b);
        ok = distinct(&b);
    }
    arena_free(b.scratch);
    return ok;
}

/* ---- digits ---------------------------------------------------------------------------------- */

typedef struct {
    const Expr *source; /* a variable, or a sum that is to be solved in turn */
    int64_t div, mod;   /* source // div % mod */
    const Expr *value;  /* over the outputs */
} Digit;

typedef struct {
    const Expr *e, *value; /* e = value */
    bool done;
} Equation;

typedef struct {
    Box *b;
    VEC(Equation) eq;
    VEC(Digit) digit;
    Map solved; /* source -> value */
} Solver;

static int64_t extent_of(const Solver *s, const Expr *e)
{
    Bounds r = bounds_of(s->b->f, e);
    return r.lo >= 0 && r.hi < INT32_MAX ? r.hi + 1 : 0;
}

/* a + b // g is (g*a + b) // g: one source for all quotients of a flattened index. */
static void lift_source(const Solver *s, Digit *d)
{
    Linear l = {0}, up = {0};
    int64_t g;
    linear_expr(&l, d->source, 1);
    for (int i = 0; i < l.n && l.n > 1 && !l.bad; i++) {
        const Expr *q = l.t[i].atom;
        if (l.t[i].coef != 1 || q->op != EX_FLOORDIV || !expr_is_int(q->kid[1], &g) || g <= 0)
            continue;
        linear_sum(&up, &l, g);
        linear_term(&up, q, -g);
        linear_expr(&up, q->kid[0], 1);
        const Expr *e = linear_make(s->b->ir, &up, DT_I32);
        if (e && extent_of(s, e) > 0) {
            d->source = e;
            d->div *= g;
        }
        return;
    }
}

/* atom = source // div % mod; false for other shapes */
static bool as_digit(const Solver *s, const Expr *atom, Digit *d)
{
    int64_t c;
    *d = (Digit){.source = atom, .div = 1};
    int64_t whole = extent_of(s, atom);
    d->mod = whole;
    if (atom->op == EX_FLOORMOD && expr_is_int(atom->kid[1], &c) && c > 0) {
        d->source = atom = atom->kid[0];
        d->mod = c;
    }
    if (atom->op == EX_FLOORDIV && expr_is_int(atom->kid[1], &c) && c > 0) {
        d->source = atom->kid[0];
        d->div = c;
    }
    lift_source(s, d);
    return whole > 0 && extent_of(s, d->source) > 0;
}

static void add_equation(Solver *s, const Expr *e, const Expr *value)
{
    Equation eq = {simplify(s->b->ir, s->b->f, e), value, false};
    vec_push(s->b->scratch, &s->eq, eq);
}

static void add_digit(Solver *s, Digit d)
{
    for (int i = 0; i < s->digit.n; i++) {
        const Digit *t = &s->digit.at[i];
        if (t->source == d.source && t->div == d.div && t->mod == d.mod)
            return;
    }
    if (s->digit.n < DIGITS_MOST)
        vec_push(s->b->scratch, &s->digit, d);
}

static const Expr *digit_known(const Solver *s, const Digit *d)
{
    Ir *ir = s->b->ir;
    const Expr *v = map_get(&s->solved, d->source);
    if (v)
        return expr_floormod(ir, expr_floordiv(ir, v, expr_int(ir, d->div)), expr_int(ir, d->mod));
    for (int i = 0; i < s->digit.n; i++) {
        const Digit *t = &s->digit.at[i];
        if (t->source == d->source && t->div == d->div && t->mod == d->mod)
            return t->value;
    }
    return NULL;
}

/* e over the outputs, if all its digits are known. */
static const Expr *value_known(const Solver *s, const Expr *e)
{
    Linear l = {0};
    Ir *ir = s->b->ir;
    linear_expr(&l, e, 1);
    const Expr *v = expr_int(ir, l.base);
    for (int i = 0; i < l.n && !l.bad; i++) {
        Digit d;
        const Expr *t = as_digit(s, l.t[i].atom, &d) ? digit_known(s, &d) : NULL;
        if (!t)
            return NULL;
        v = expr_add(ir, v, expr_mul(ir, t, expr_int(ir, l.t[i].coef)));
    }
    return l.bad ? NULL : v;
}

/* One term of an equation is known to be `value`. */
static void take_term(Solver *s, const Expr *atom, const Expr *value)
{
    Digit d;
    if (atom->op == EX_BITXOR) {
        Equation eq = {atom, value, false};
        vec_push(s->b->scratch, &s->eq, eq);
    } else if (as_digit(s, atom, &d)) {
        d.value = value;
        add_digit(s, d);
    }
}

static bool solve_xor(Solver *s, const Equation *eq)
{
    Ir *ir = s->b->ir;
    const Expr *a = eq->e->kid[0], *b = eq->e->kid[1], *v;
    if ((v = value_known(s, b)))
        add_equation(s, a, expr_binary(ir, EX_BITXOR, eq->value, v));
    else if ((v = value_known(s, a)))
        add_equation(s, b, expr_binary(ir, EX_BITXOR, eq->value, v));
    return v != NULL;
}

static int by_size(const void *a, const void *b)
{
    const Term *x = a, *y = b;
    int64_t m = x->coef < 0 ? -x->coef : x->coef, n = y->coef < 0 ? -y->coef : y->coef;
    return (m > n) - (m < n);
}

/* A term that falls is reflected: -c*x with x in [0, n) is c*(n - 1 - x) - c*(n - 1). */
static void reflect(const Solver *s, Linear *l, bool *reflected)
{
    for (int i = 0; i < l->n; i++) {
        reflected[i] = l->t[i].coef < 0;
        if (!reflected[i])
            continue;
        l->base += l->t[i].coef * (extent_of(s, l->t[i].atom) - 1);
        l->t[i].coef = -l->t[i].coef;
    }
}

/* Peels the terms of e = value off by size; false where they overlap. */
static bool solve_sum(Solver *s, const Equation *eq)
{
    Ir *ir = s->b->ir;
    Linear l = {0};
    bool reflected[TERMS_MOST];
    linear_expr(&l, eq->e, 1);
    if (l.bad || l.n == 0)
        return false;
    for (int i = 0; i < l.n; i++) {
        if (l.t[i].coef > INT32_MAX || l.t[i].coef < INT32_MIN)
            return false;
    }
    qsort(l.t, (size_t)l.n, sizeof l.t[0], by_size);
    reflect(s, &l, reflected);
    int64_t reach = 0;
    for (int i = 0; i < l.n; i++) {
        int64_t n = extent_of(s, l.t[i].atom);
        if (n == 0 || reach >= l.t[i].coef || (i > 0 && l.t[i].coef % l.t[i - 1].coef != 0))
            return false;
        reach += l.t[i].coef * (n - 1);
    }
    const Expr *v = l.base ? expr_sub(ir, eq->value, expr_int(ir, l.base)) : eq->value;
    for (int i = 0; i < l.n; i++) {
        const Expr *t = expr_floordiv(ir, v, expr_int(ir, l.t[i].coef));
        if (i + 1 < l.n)
            t = expr_floormod(ir, t, expr_int(ir, l.t[i + 1].coef / l.t[i].coef));
        if (reflected[i])
            t = expr_sub(ir, expr_int(ir, extent_of(s, l.t[i].atom) - 1), t);
        take_term(s, l.t[i].atom, t);
    }
    return true;
}

/* The part of source between `at` and its next digit, where other sources give it: in 48*i + j the
 * remainder by 4 is that of j. */
static const Expr *gap_known(const Solver *s, const Expr *source, int64_t at, int64_t *size)
{
    Ir *ir = s->b->ir;
    int64_t next = 0;
    for (int i = 0; i < s->digit.n; i++) {
        const Digit *d = &s->digit.at[i];
        if (d->source == source && d->div > at && d->div % at == 0 && (!next || d->div < next))
            next = d->div;
    }
    if (!next)
        return NULL;
    *size = next / at;
    const Expr *part = expr_floormod(ir, expr_floordiv(ir, source, expr_int(ir, at)),
                                     expr_int(ir, *size));
    return value_known(s, simplify(ir, s->b->f, part));
}

/* Digits of `source` that tile [0, extent) give it whole. */
static bool solve_source(Solver *s, const Expr *source)
{
    Ir *ir = s->b->ir;
    int64_t extent = extent_of(s, source), at = 1;
    const Expr *v = expr_int(ir, 0);
    if (map_has(&s->solved, source))
        return false;
    while (at < extent) {
        const Digit *best = NULL;
        for (int i = 0; i < s->digit.n; i++) {
            const Digit *d = &s->digit.at[i];
            if (d->source == source && d->div == at && (!best || d->mod > best->mod))
                best = d;
        }
        int64_t size = best ? best->mod : 0;
        const Expr *part = best ? best->value : gap_known(s, source, at, &size);
        if (!part || size < 2)
            return false;
        v = expr_add(ir, v, expr_mul(ir, part, expr_int(ir, at)));
        at *= size;
    }
    map_set(&s->solved, source, v);
    if (source->op != EX_VAR)
        add_equation(s, source, v);
    return true;
}

static bool solver_step(Solver *s)
{
    bool moved = false;
    for (int i = 0; i < s->eq.n; i++) {
        if (s->eq.at[i].done)
            continue;
        Equation eq = s->eq.at[i];
        bool ok = eq.e->op == EX_BITXOR ? solve_xor(s, &eq) : solve_sum(s, &eq);
        s->eq.at[i].done = ok;
        moved |= ok;
    }
    for (int i = 0; i < s->digit.n; i++)
        moved |= solve_source(s, s->digit.at[i].source);
    return moved;
}

static bool by_algebra(Box *b, Var *const *outvars, const Expr **inverse)
{
    Solver s = {.b = b};
    map_init(&s.solved, b->scratch);
    for (int d = 0; d < b->nout; d++)
        add_equation(&s, b->out[d], expr_var(b->ir, outvars[d]));
    for (int round = 0; round < ROUNDS_MOST && solver_step(&s); round++)
        continue;
    for (int i = 0; i < b->n; i++) {
        if (b->extent[i] == 1)
            inverse[i] = expr_int(b->ir, 0);
        else if (!(inverse[i] = map_get(&s.solved, expr_var(b->ir, b->vars[i]))))
            return false;
    }
    return true;
}

/* ---- maps over bits -------------------------------------------------------------------------- */

enum { MATRIX_MOST = 64 };

static int log2_of(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0 ? __builtin_ctzll((unsigned long long)n) : -1;
}

/* Columns: the image of each input bit, all outputs side by side in one word. */
typedef struct {
    int nin, nbit;
    int shift[DIM_MOST];         /* of output d in the word */
    uint64_t column[MATRIX_MOST];
} BitMap;

static uint64_t pack(const BitMap *m, const int64_t *r, int nout)
{
    uint64_t w = 0;
    for (int d = 0; d < nout; d++)
        w |= (uint64_t)r[d] << m->shift[d];
    return w;
}

static bool read_bits(const Box *b, const ExprCode *code, BitMap *m)
{
    int64_t at[DIM_MOST] = {0}, r[DIM_MOST];
    for (int d = 0; d < b->nout; d++) {
        Bounds x = bounds_of(b->f, b->out[d]);
        if (x.lo < 0 || x.hi >= INT32_MAX)
            return false;
        m->shift[d] = m->nbit;
        m->nbit += 64 - __builtin_clzll((unsigned long long)x.hi | 1);
    }
    if (m->nbit > MATRIX_MOST)
        return false;
    expr_run(code, at, r);
    if (pack(m, r, b->nout) != 0)
        return false;
    for (int i = 0; i < b->n; i++) {
        int bits = log2_of(b->extent[i]);
        for (int k = 0; k < bits; k++) {
            at[i] = (int64_t)1 << k;
            expr_run(code, at, r);
            m->column[m->nin++] = pack(m, r, b->nout);
            at[i] = 0;
        }
        if (bits < 0 || m->nin > MATRIX_MOST - 32)
            return false;
    }
    return true;
}

static bool is_linear(const Box *b, const ExprCode *code, const BitMap *m)
{
    int64_t at[DIM_MOST] = {0}, r[DIM_MOST];
    do {
        uint64_t want = 0;
        int bit = 0;
        for (int i = 0; i < b->n; i++) {
            int n = log2_of(b->extent[i]);
            for (int k = 0; k < n; k++)
                want ^= at[i] >> k & 1 ? m->column[bit + k] : 0;
            bit += n;
        }
        expr_run(code, at, r);
        if (pack(m, r, b->nout) != want)
            return false;
    } while (point_next(b->n, b->extent, at));
    return true;
}

/* row[i]: which output bits xor to input bit i.  Gauss over the columns; false when singular. */
static bool solve_bits(const BitMap *m, uint64_t *row)
{
    uint64_t col[MATRIX_MOST], mix[MATRIX_MOST]; /* mix: which inputs were added into col */
    int pivot[MATRIX_MOST];
    for (int i = 0; i < m->nin; i++) {
        col[i] = m->column[i];
        mix[i] = (uint64_t)1 << i;
    }
    for (int i = 0; i < m->nin; i++) {
        if (col[i] == 0)
            return false;
        pivot[i] = __builtin_ctzll(col[i]);
        for (int j = 0; j < m->nin; j++) {
            if (j != i && col[j] >> pivot[i] & 1) {
                col[j] ^= col[i];
                mix[j] ^= mix[i];
            }
        }
    }
    /* Reduced column i is the only one with its pivot, so output bit pivot[i] tells it. */
    for (int i = 0; i < m->nin; i++) {
        row[i] = 0;
        for (int j = 0; j < m->nin; j++)
            row[i] |= (mix[j] >> i & 1) << pivot[j];
    }
    return true;
}

static const Expr *bit_of(const Box *b, const BitMap *m, Var *const *outvars, int bit)
{
    int d = b->nout - 1;
    while (m->shift[d] > bit)
        d--;
    const Expr *e = expr_floordiv(b->ir, expr_var(b->ir, outvars[d]),
                                  expr_int(b->ir, (int64_t)1 << (bit - m->shift[d])));
    return expr_floormod(b->ir, e, expr_int(b->ir, 2));
}

static bool by_bits(Box *b, const ExprCode *code, Var *const *outvars, const Expr **inverse)
{
    BitMap m = {0};
    uint64_t row[MATRIX_MOST];
    if (!read_bits(b, code, &m) || !is_linear(b, code, &m) || !solve_bits(&m, row))
        return false;
    int in = 0;
    for (int i = 0; i < b->n; i++) {
        const Expr *v = expr_int(b->ir, 0);
        for (int k = 0; k < log2_of(b->extent[i]); k++, in++) {
            const Expr *bits = NULL;
            for (int o = 0; o < m.nbit; o++) {
                if (!(row[in] >> o & 1))
                    continue;
                const Expr *t = bit_of(b, &m, outvars, o);
                bits = bits ? expr_binary(b->ir, EX_BITXOR, bits, t) : t;
            }
            v = expr_add(b->ir, v, expr_mul(b->ir, bits, expr_int(b->ir, (int64_t)1 << k)));
        }
        inverse[i] = v;
    }
    return true;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static bool is_inverse(const Box *b, const ExprCode *code, Var *const *outvars,
                       const Expr *const *inverse)
{
    const ExprCode *back = expr_compile(b->ir, outvars, b->nout, inverse, b->n);
    int64_t at[DIM_MOST] = {0}, arg[DIM_MOST][EXPR_LANES], r[DIM_MOST][EXPR_LANES],
            x[DIM_MOST][EXPR_LANES];
    for (bool more = true; more;) {
        box_lanes(b, at, arg, &more);
        expr_run_lanes(code, arg, r);
        expr_run_lanes(back, r, x);
        for (int i = 0; i < b->n; i++) {
            if (memcmp(x[i], arg[i], sizeof x[i]) != 0)
                return false;
        }
    }
    return true;
}

static bool invert(Box *b, Var *const *outvars, const Expr **inverse)
{
    if (box_points(b) > POINTS_MOST)
        return false;
    b->f = box_facts(b);
    const ExprCode *code = expr_compile(b->ir, b->vars, b->n, b->out, b->nout);
    Facts *f = facts_new(b->ir);
    for (int d = 0; d < b->nout; d++) {
        Bounds r = bounds_of(b->f, b->out[d]);
        if (!bounds_known(r) || r.lo < INT32_MIN || r.hi > INT32_MAX)
            return false;
        facts_range(f, outvars[d], expr_int(b->ir, r.lo), expr_int(b->ir, r.hi - r.lo + 1));
    }
    for (int way = 0; way < 2; way++) {
        if (way == 0 ? !by_algebra(b, outvars, inverse) : !by_bits(b, code, outvars, inverse))
            continue;
        for (int i = 0; i < b->n; i++)
            inverse[i] = simplify(b->ir, f, inverse[i]);
        if (is_inverse(b, code, outvars, inverse))
            return true;
    }
    return false;
}

bool map_invert(Ir *ir, Var *const *vars, const int64_t *extent, int n, const Expr *const *out,
                int nout, Var *const *outvars, const Expr **inverse)
{
    Box b = {ir, arena_new(), NULL, n, nout, vars, extent, out};
    BUG(n > DIM_MOST || nout > DIM_MOST, "a map of %d to %d dimensions", n, nout);
    bool ok = invert(&b, outvars, inverse);
    arena_free(b.scratch);
    return ok;
}
