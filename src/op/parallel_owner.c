/* parallel_owner.c -- sums that each thread of a nest keeps for itself.
 *
 * B[f(i, j)] += A[i, j]: where all iterations that use an element of B run in one thread, that
 * thread holds it, whatever f is (a kernel that knows where an accumulator lies sums its own part).
 * Who it is follows from trying all iterations; it must be a sum of numbers for the bits of the
 * element's place in B, and the bits that say nothing of the thread number its slots. */
#include "op/op.h"

enum { POINTS_MOST = 1 << 18, BITS_MOST = 20 };

typedef struct {
    int nbit;
    int64_t first;             /* the thread of element 0 */
    int64_t step[BITS_MOST];   /* what each bit of the place adds to it */
} Owner;

static int64_t elements(const Buffer *b, int64_t *shape)
{
    int64_t n = 1;
    if (!buffer_static_shape(b, shape))
        return 0;
    for (int d = 0; d < b->rank; d++)
        n *= shape[d];
    return n;
}

/* The one thread of each element; false where one has none, or several. */
static bool find_threads(Ir *ir, const LoopNest *p, const LoopAccess *a, const Layout *loop,
                         const int64_t *shape, int64_t n, int64_t *thread)
{
    Var *vars[RANK_MOST];
    int64_t at[RANK_MOST] = {0}, index[RANK_MOST], seen = 0;

    for (int d = 0; d < p->n; d++)
        vars[d] = layout_axis(ir, d);
    for (int64_t i = 0; i < n; i++)
        thread[i] = -1;
    const ExprCode *code = expr_compile(ir, vars, p->n, a->at, a->n);
    do {
        int64_t flat = 0, who = fragment_eval_thread(loop, at, 0);
        expr_run(code, at, index);
        for (int d = 0; d < a->n; d++) {
            if (index[d] < 0 || index[d] >= shape[d])
                return false;
            flat = flat * shape[d] + index[d];
        }
        seen += thread[flat] < 0;
        if (thread[flat] >= 0 && thread[flat] != who)
            return false;
        thread[flat] = who;
    } while (layout_next(loop, at));
    return seen == n;
}

static bool find_steps(const int64_t *thread, int64_t n, Owner *o)
{
    o->nbit = 0;
    o->first = thread[0];
    while ((int64_t)1 << o->nbit < n) {
        o->step[o->nbit] = thread[(int64_t)1 << o->nbit] - thread[0];
        o->nbit++;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t who = o->first;
        for (int b = 0; b < o->nbit; b++)
            who += (i >> b & 1) * o->step[b];
        if (who != thread[i])
            return false;
    }
    return true;
}

static const Expr *bits_of(Ir *ir, const Expr *flat, int from, int n)
{
    const Expr *e = expr_floordiv(ir, flat, expr_int(ir, (int64_t)1 << from));
    return expr_floormod(ir, e, expr_int(ir, (int64_t)1 << n));
}

/* Runs of bits whose steps double are one digit of the place. */
static void write_owner(Ir *ir, const Owner *o, const Expr *flat, Layout *want)
{
    int64_t slots = 1;
    want->thread = expr_int(ir, o->first);
    want->out[0] = expr_int(ir, 0);
    want->nout = 1;
    for (int b = 0, n; b < o->nbit; b += n) {
        int64_t step = o->step[b];
        for (n = 1; b + n < o->nbit && o->step[b + n] == step << n; n++)
            ;
        const Expr *digit = bits_of(ir, flat, b, n);
        const Expr **sum = step ? &want->thread : &want->out[0];
        *sum = expr_add(ir, *sum, expr_mul(ir, digit, expr_int(ir, step ? step : slots)));
        slots *= step ? 1 : (int64_t)1 << n;
    }
}

const Layout *parallel_owned(Ir *ir, const LoopNest *p, const LoopAccess *a, const Layout *loop)
{
    Layout want = {.rank = a->n, .rep = 1, .nthread = loop->nthread};
    int64_t n = a->n == a->buf->rank ? elements(a->buf, want.extent) : 0;
    const Access sum = (Access)(ACC_READ | ACC_WRITE);
    const Expr *flat = expr_int(ir, 0);
    Owner o;

    if ((a->how & sum) != sum || loop->rep != 1 || n < 2 || (n & (n - 1)) ||
        n > (int64_t)1 << BITS_MOST || layout_points(loop) > POINTS_MOST)
        return NULL;
    Arena *scratch = arena_new();
    int64_t *thread = NEWN(scratch, int64_t, n);
    bool found = find_threads(ir, p, a, loop, want.extent, n, thread) && find_steps(thread, n, &o);
    arena_free(scratch);
    if (!found)
        return NULL;
    for (int d = 0; d < a->n; d++)
        flat = expr_add(ir, expr_mul(ir, flat, expr_int(ir, want.extent[d])),
                        expr_var(ir, layout_axis(ir, d)));
    write_owner(ir, &o, flat, &want);
    const Layout *l = layout_make(ir, &want);
    return l && layout_is_injective(ir, l) ? l : NULL;
}
