/* outer.c -- GEMMs by outer products: each thread has a rectangle of C in its registers, and for
 * each step of k reads one column of its rows of A and one row of its columns of B.
 *
 *     for l: a[r] = A[row + r, l]; b[c] = B[l, col + c]; C[r, c] += a[r] * b[c]
 *
 * Without matrix instructions this is what keeps a GPU busy: m * n products for m + n reads. */
#include "pass/thread_nest.h"
#include "target/outer.h"

enum { A, B, C };
enum { TRANS_A, TRANS_B, CLEAR };
enum { SLOTS_MOST = 128 };

typedef struct {
    int64_t m, n, k;
    int64_t rows, cols; /* of a thread */
    int64_t across;     /* threads side by side */
} Split;

static int64_t last_extent(const Region *r, int from_end)
{
    return r->buf->rank >= 2 ? region_extent_int(r, r->buf->rank - from_end) : 0;
}

static bool is_transposed(const Stmt *t, int which)
{
    return which != C && tile_arg_int(t, which == A ? TRANS_A : TRANS_B, 0) != 0;
}

/* The rectangle of a thread that reads least for what it multiplies; false: none fits. */
static bool split_tile(const Stmt *t, int64_t nthread, Split *s)
{
    const Region *r = t->u.tile.region;
    int64_t least = INT64_MAX;

    *s = (Split){.m = last_extent(&r[C], 2), .n = last_extent(&r[C], 1),
                 .k = last_extent(&r[A], is_transposed(t, A) ? 2 : 1)};
    if (s->m <= 0 || s->n <= 0 || s->k <= 0 || s->m * s->n % nthread ||
        s->m * s->n / nthread > SLOTS_MOST)
        return false;
    int64_t each = s->m * s->n / nthread;
    for (int64_t rows = 1; rows <= each; rows++) {
        int64_t cols = each / rows;
        if (each % rows || s->m % rows || s->n % cols || rows + cols >= least)
            continue;
        least = rows + cols;
        s->rows = rows;
        s->cols = cols;
        s->across = s->n / cols;
    }
    return least < INT64_MAX;
}

static int64_t threads_of(const Kernel *k, ThreadGroup who)
{
    return who.n ? who.n : kernel_block_threads(k);
}

static bool can(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Region *c = &t->u.tile.region[C];
    Split s;

    *why = "outer products in registers";
    if (c->buf->scope != MEM_FRAGMENT || c->buf->view_of || !region_is_whole(c))
        *why = "the result is not a whole tile of registers";
    else if (c->buf->rank != 2 || accumulate_type(c->buf->type) != c->buf->type)
        *why = "the result is rounded at the end only";
    else if (who.n || !split_tile(t, threads_of(k, who), &s))
        *why = "threads do not share the result evenly";
    else if (gemm_cuts(k, t))
        *why = "the last digits of operands do not count";
    else
        return true;
    return false;
}

/* Operands are read by every thread. */
static void plan(Kernel *k, ThreadGroup who, const Stmt *t)
{
    (void)who;
    tile_plan(k, t)->staged = 1u << A | 1u << B;
}

/* Rows of a thread lie together, and so do its columns. */
static const Layout *layout_of(Ir *ir, const Split *s, int64_t nthread)
{
    const Expr *i = expr_var(ir, layout_axis(ir, 0)), *j = expr_var(ir, layout_axis(ir, 1));
    const Expr *rows = expr_int(ir, s->rows), *cols = expr_int(ir, s->cols);
    Layout want = {.rank = 2, .extent = {s->m, s->n}, .nout = 1, .rep = 1, .nthread = nthread,
                   .name = "rectangles"};

    want.thread = expr_add(ir, expr_mul(ir, expr_floordiv(ir, i, rows), expr_int(ir, s->across)),
                           expr_floordiv(ir, j, cols));
    want.out[0] = expr_add(ir, expr_mul(ir, expr_floormod(ir, i, rows), cols),
                           expr_floormod(ir, j, cols));
    return layout_make(ir, &want);
}

static void infer(Infer *in, const Stmt *t)
{
    Split s;

    BUG(!split_tile(t, in->nthread, &s), "a GEMM planned for outer products cannot be split");
    infer_set(in, t->u.tile.region[C].buf, layout_of(in->ir, &s, in->nthread), t);
}

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *t;
    Split s;
    const Layout *layout;
    DType type;
    Var *step;
    Buffer *part[2]; /* of A and B, in registers */
} Outer;

static Buffer *new_part(Outer *o, const char *name, int64_t n)
{
    const Expr *size = expr_int(o->ir, n);
    Buffer *b = buffer_new(o->ir, name, o->type, MEM_LOCAL, 1, &size, o->t->span);

    vec_push(o->k->arena, &o->k->buffers, b);
    return b;
}

/* a[r] = A[first + r, l], or the same of B. */
static const Stmt *read_part(Outer *o, int which, const Expr *first, int64_t n)
{
    Ir *ir = o->ir;
    const Region *r = &o->t->u.tile.region[which];
    int last = r->buf->rank - 1;
    Var *v = var_new(ir, which == A ? "r" : "c", DT_I32, o->t->span);
    const Expr *at[RANK_MOST], *own = expr_var(ir, v), *l = expr_var(ir, o->step);
    bool by_k = is_transposed(o->t, which) == (which == A); /* rows of it are steps of k */

    first = expr_add(ir, first, own);
    for (int d = 0; d <= last; d++)
        at[d] = r->at[d];
    at[last - 1] = expr_add(ir, at[last - 1], by_k ? l : first);
    at[last] = expr_add(ir, at[last], by_k ? first : l);
    const Expr *x = expr_cast(ir, o->type, expr_load(ir, r->buf, at, r->buf->rank));
    const Stmt *s = stmt_store(ir, o->t->span, o->part[which], &own, 1, x);
    return stmt_for(ir, o->t->span, LOOP_UNROLL, v, expr_int(ir, 0), expr_int(ir, n), (Hints){0},
                    s);
}

/* for i, j in C, each thread its own: C[i, j] = value */
static const Stmt *each(Outer *o, const Nest *n, const Expr *value)
{
    Buffer *c = o->t->u.tile.region[C].buf;
    const Stmt *s = stmt_store(o->ir, o->t->span, c, n->at, 2, value);

    loop_plan(o->k, n->var[0])->layout = o->layout;
    return nest_close(o->k, o->t->span, n, LOOP_PARALLEL, s);
}

static void open_nest(Outer *o, Nest *n)
{
    const Expr *extent[2] = {expr_int(o->ir, o->s.m), expr_int(o->ir, o->s.n)};
    nest_open(o->k, n, 2, extent);
}

static const Stmt *multiply(Outer *o)
{
    Ir *ir = o->ir;
    Buffer *c = o->t->u.tile.region[C].buf;
    Nest n;

    open_nest(o, &n);
    const Expr *r = expr_floormod(ir, n.at[0], expr_int(ir, o->s.rows));
    const Expr *q = expr_floormod(ir, n.at[1], expr_int(ir, o->s.cols));
    const Expr *of[3] = {expr_load(ir, o->part[A], &r, 1), expr_load(ir, o->part[B], &q, 1),
                         expr_load(ir, c, n.at, 2)};
    return each(o, &n, dtype_is_float(o->type)
                           ? expr_math(ir, MATH_FMA, of, 3)
                           : expr_add(ir, of[2], expr_mul(ir, of[0], of[1])));
}

static const Stmt *clear(Outer *o)
{
    const Expr *when = o->t->u.tile.narg > CLEAR ? o->t->u.tile.arg[CLEAR] : NULL;
    int64_t known = 0;
    Nest n;

    if (!when || (expr_is_int(when, &known) && !known))
        return NULL;
    open_nest(o, &n);
    const Stmt *s = each(o, &n, expr_zero(o->ir, o->type));
    return known ? s : stmt_if(o->ir, o->t->span, when, s, NULL);
}

static const Stmt *lower(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    Outer o = {.k = k, .ir = ir, .t = t, .type = t->u.tile.region[C].buf->type};
    int64_t nthread = threads_of(k, who);

    BUG(!split_tile(t, nthread, &o.s), "a GEMM planned for outer products cannot be split");
    o.layout = layout_of(ir, &o.s, nthread);
    o.step = var_new(ir, "l", DT_I32, t->span);
    o.part[A] = new_part(&o, "a", o.s.rows);
    o.part[B] = new_part(&o, "b", o.s.cols);
    const Expr *me = thread_in_block(k), *across = expr_int(ir, o.s.across);
    const Stmt *s = read_part(&o, A, expr_mul(ir, expr_floordiv(ir, me, across),
                                              expr_int(ir, o.s.rows)), o.s.rows);
    s = stmt_seq(ir, s, read_part(&o, B, expr_mul(ir, expr_floormod(ir, me, across),
                                                  expr_int(ir, o.s.cols)), o.s.cols));
    s = stmt_seq(ir, s, multiply(&o));
    s = stmt_for(ir, t->span, LOOP_SERIAL, o.step, expr_int(ir, 0), expr_int(ir, o.s.k),
                 (Hints){0}, s);
    return stmt_seq(ir, clear(&o), s);
}

const Mech mech_outer = {.name = "outer", .ops = OPS(gemm), .can = can, .plan = plan,
                           .infer = infer, .lower = lower, .accumulates = true};
