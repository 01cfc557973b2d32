/* warp_allreduce.c -- one value of every thread, combined over some of the thread indices, for each
 * thread: T.tvm_thread_allreduce, T.any_of, T.syncthreads_count and its like.
 *
 *     over lanes that follow each other    shuffles
 *     over all threads of whole warps      shuffles, then one value of each warp
 *     otherwise                            every value through shared memory */
#include "pass/thread_nest.h"
#include "pass/warp_reduce.h"

enum { VALUE, CONDITION, AXES };

typedef struct {
    Kernel *k;
    Ir *ir;
    ThreadGroup who;
    const Stmt *s;
    const Reduction *word;
    DType type;
    bool over[3];      /* the thread index is reduced */
    int extent[3];
    Buffer *acc;
} All;

static const Expr *num(All *a, int64_t v)
{
    return expr_int(a->ir, v);
}

static const Stmt *join(All *a, const Expr *v)
{
    const Expr *now = scalar_get(a->k, a->acc);
    return scalar_set(a->k, a->s->span, a->acc, reduction_combine(a->ir, a->word, false, now, v));
}

static const Stmt *by_lanes(All *a, int64_t lanes)
{
    const Stmt *r = NULL;

    for (int64_t m = 1; m < lanes; m *= 2) {
        Var *other = var_new(a->ir, "other", a->type, a->s->span);
        const Expr *arg[2] = {scalar_get(a->k, a->acc), num(a, m)};
        r = stmt_seq(a->ir, r, stmt_call(a->ir, a->s->span, INTRIN_SHFL_XOR, 2, arg, 0, NULL, NULL,
                                         other));
        r = stmt_seq(a->ir, r, join(a, expr_var(a->ir, other)));
    }
    return r;
}

static Buffer *parts_of(All *a, int64_t n)
{
    const Expr *size = num(a, n);
    return kernel_buffer(a->k, "parts", a->type, MEM_SHARED, 1, &size, a->s->span);
}

static const Stmt *reset(All *a)
{
    return scalar_set(a->k, a->s->span, a->acc, reduction_identity(a->ir, a->word, a->type));
}

static const Stmt *by_warps(All *a, int64_t nwarp, int warp)
{
    Ir *ir = a->ir;
    Buffer *parts = parts_of(a, nwarp);
    const Expr *t = thread_index(a->k, a->who), *at = expr_floordiv(ir, t, num(a, warp));
    const Expr *first = expr_binary(ir, EX_EQ, expr_floormod(ir, t, num(a, warp)), num(a, 0));
    const Stmt *r = stmt_store(ir, a->s->span, parts, &at, 1, scalar_get(a->k, a->acc));

    r = stmt_seq(ir, stmt_if(ir, a->s->span, first, r, NULL), reset(a));
    for (int64_t i = 0; i < nwarp; i++) {
        at = num(a, i);
        r = stmt_seq(ir, r, join(a, expr_load(ir, parts, &at, 1)));
    }
    return r;
}

static const Stmt *by_memory(All *a, int64_t n)
{
    Ir *ir = a->ir;
    Buffer *parts = parts_of(a, n);
    const Expr *own = thread_index(a->k, a->who), *at = num(a, 0);
    const Stmt *put = stmt_store(ir, a->s->span, parts, &own, 1, scalar_get(a->k, a->acc));
    Var *loop[3] = {NULL};
    int stride = 1;

    for (int d = 0; d < 3; stride *= a->extent[d], d++) {
        const Expr *i = a->k->thread[d] ? expr_var(ir, a->k->thread[d]) : num(a, 0);
        if (a->over[d] && a->extent[d] > 1) {
            loop[d] = var_new(ir, "lane", DT_I32, a->s->span);
            i = expr_var(ir, loop[d]);
        }
        at = expr_add(ir, at, expr_mul(ir, i, num(a, stride)));
    }
    const Stmt *get = join(a, expr_load(ir, parts, &at, 1));
    for (int d = 0; d < 3; d++)
        if (loop[d])
            get = stmt_for(ir, a->s->span, LOOP_SERIAL, loop[d], num(a, 0), num(a, a->extent[d]),
                           (Hints){0}, get);
    return stmt_seq(ir, put, stmt_seq(ir, reset(a), get));
}

/* The values of all n threads of the thread group, whatever their indices are. */
static const Stmt *all_by_memory(All *a, int64_t n)
{
    Ir *ir = a->ir;
    Buffer *parts = parts_of(a, n);
    const Expr *own = thread_index(a->k, a->who);
    const Stmt *put = stmt_store(ir, a->s->span, parts, &own, 1, scalar_get(a->k, a->acc));
    Var *lane = var_new(ir, "lane", DT_I32, a->s->span);
    const Expr *at = expr_var(ir, lane);
    const Stmt *get = stmt_for(ir, a->s->span, LOOP_SERIAL, lane, num(a, 0), num(a, n), (Hints){0},
                               join(a, expr_load(ir, parts, &at, 1)));

    return stmt_seq(ir, put, stmt_seq(ir, reset(a), get));
}

static bool is_power(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* All n threads of the thread group. */
static const Stmt *over_all(All *a, int64_t n)
{
    int warp = group_lanes(a->k, a->who);

    if (is_power(n) && n <= warp)
        return by_lanes(a, n);
    if (warp > 1 && n % warp == 0)
        return stmt_seq(a->ir, by_lanes(a, warp), by_warps(a, n / warp, warp));
    return all_by_memory(a, n);
}

/* ---- T.any_of, T.all_of ---------------------------------------------------------------------- */

/* Each thread looks at its elements; what they found is combined over all. */
static const Stmt *any_of_by_shuffle(Kernel *k, ThreadGroup who, const Stmt *t)
{
    Ir *ir = k->ir;
    const Region *r = &t->u.tile.region[0];
    bool all = strcmp(t->u.tile.text, "all") == 0;
    All a = {.k = k, .ir = ir, .who = who, .s = t, .type = DT_I32,
             .word = reduction_find(all ? "bitand" : "bitor")};
    const Expr *at[RANK_MOST];
    Nest n;

    a.acc = kernel_scalar(k, "found", DT_I32, t->span);
    nest_open(k, &n, r->buf->rank, r->extent);
    for (int d = 0; d < r->buf->rank; d++)
        at[d] = expr_add(ir, r->at[d], n.at[d]);
    const Expr *v = expr_load(ir, r->buf, at, r->buf->rank);
    v = expr_cast(ir, DT_I32, expr_binary(ir, EX_NE, v, expr_zero(ir, r->buf->type)));
    const Stmt *s = nest_close(k, t->span, &n, LOOP_PARALLEL, join(&a, v));
    s = stmt_seq(ir, scalar_set(k, t->span, a.acc, num(&a, all)), s);
    s = stmt_seq(ir, s, over_all(&a, group_threads(k, who)));
    v = expr_binary(ir, EX_NE, scalar_get(k, a.acc), num(&a, 0));
    t->u.tile.region[1].buf->for_all = true;
    return stmt_seq(ir, s, scalar_set(k, t->span, t->u.tile.region[1].buf, v));
}

/* A few elements that all threads can see are read by each: no thread waits for another. */
static bool any_of_can_shuffle(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    enum { FEW = 16 };
    const Region *r = &t->u.tile.region[0];
    bool seen = r->buf->scope == MEM_SHARED || r->buf->scope == MEM_GLOBAL;
    bool tile = r->buf->scope == MEM_FRAGMENT || (seen && region_nelem(r) > FEW);
    (void)k, (void)who;

    *why = tile ? "by each thread, then between lanes" : "each thread for itself";
    return tile && r->buf->rank > 0 && region_nelem(r) > 0;
}

/* ---- T.tvm_thread_allreduce ------------------------------------------------------------------ */

const Stmt *lower_allreduce(Kernel *k, ThreadGroup who, const Stmt *s)
{
    All a = {.k = k, .ir = k->ir, .who = who, .s = s, .word = reduction_find(s->u.call.text),
             .type = (DType)s->u.call.arg[VALUE]->type};
    int64_t n = 1, group = 1;
    int warp = k->machine->lanes;
    bool run = true; /* the reduced threads follow each other */

    for (int d = 0; d < 3; d++) {
        a.extent[d] = MAX(k->threads[d], 1);
        a.over[d] = s->u.call.n <= AXES;
        for (int i = AXES; i < s->u.call.n; i++)
            a.over[d] |= k->thread[d] && s->u.call.arg[i] == expr_var(k->ir, k->thread[d]);
        n *= a.extent[d];
        if (a.extent[d] > 1) {
            run &= !a.over[d] || group * a.extent[d] == n;
            group *= a.over[d] ? a.extent[d] : 1;
        }
    }
    a.acc = kernel_scalar(k, "total", a.type, s->span);
    const Expr *v = s->u.call.arg[VALUE];
    if (s->u.call.n > CONDITION && s->u.call.arg[CONDITION])
        v = expr_select(k->ir, s->u.call.arg[CONDITION], v,
                        reduction_identity(k->ir, a.word, a.type));
    const Stmt *r = scalar_set(k, s->span, a.acc, v);
    if (run && is_power(group) && group <= warp && n % group == 0 && who.n == 0)
        r = stmt_seq(k->ir, r, by_lanes(&a, group));
    else if (group == n && who.n == 0)
        r = stmt_seq(k->ir, r, over_all(&a, n));
    else
        r = stmt_seq(k->ir, r, by_memory(&a, n));
    return s->u.call.bind
               ? stmt_seq(k->ir, r, stmt_let(k->ir, s->span, s->u.call.bind, scalar_get(k, a.acc)))
               : r;
}

/* ---- T.syncthreads_count, _and, _or ---------------------------------------------------------- */

static const struct {
    Intrin which;
    const char *combiner;
} vote_table[] = {
    {INTRIN_SYNC_COUNT, "sum"},
    {INTRIN_SYNC_AND, "bitand"},
    {INTRIN_SYNC_OR, "bitor"},
};

bool call_votes(const Stmt *s)
{
    for (int i = 0; s->kind == ST_CALL && i < COUNT(vote_table); i++)
        if (vote_table[i].which == s->u.call.which)
            return true;
    return false;
}

const Stmt *lower_votes(Kernel *k, const Stmt *s)
{
    Ir *ir = k->ir;
    All a = {.k = k, .ir = ir, .s = s, .type = DT_I32};
    const Expr *v = s->u.call.arg[VALUE];

    for (int i = 0; i < COUNT(vote_table); i++)
        if (vote_table[i].which == s->u.call.which)
            a.word = reduction_find(vote_table[i].combiner);
    a.acc = kernel_scalar(k, "votes", DT_I32, s->span);
    Buffer *all = kernel_scalar(k, "all", DT_I32, s->span);
    all->for_all = true;
    v = expr_cast(ir, DT_I32, expr_binary(ir, EX_NE, v, expr_zero(ir, (DType)v->type)));
    const Stmt *r = stmt_call(ir, s->span, INTRIN_SYNC_THREADS, 0, NULL, 0, NULL, NULL, NULL);
    r = stmt_seq(ir, r, scalar_set(k, s->span, a.acc, v));
    r = stmt_seq(ir, r, over_all(&a, kernel_block_threads(k)));
    r = stmt_seq(ir, r, scalar_set(k, s->span, all, scalar_get(k, a.acc)));
    return s->u.call.bind
               ? stmt_seq(ir, r, stmt_let(ir, s->span, s->u.call.bind, scalar_get(k, all)))
               : r;
}

const Mech mech_vote = {.name = "vote", .ops = OPS(any_of), .can = any_of_can_shuffle,
                        .lower = any_of_by_shuffle};
