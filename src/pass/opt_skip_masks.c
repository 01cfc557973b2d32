/* opt_skip_masks.c -- masks that hide nothing in most iterations of a loop.
 *
 *     for i, j in parallel: x[i, j] = x[i, j] if c(i, j) else v
 *         ->  if not whole: the same                 whole: c holds for all i and j
 *
 *     for i, j in parallel: x[i, j] = 0 if c(i, j) else v      gemm(A, B, x)
 *         ->  if not whole: the same                           gemm(A, B, x, clear_accum=whole)
 *
 * In causal attention the first are all blocks but those at the diagonal.  A comparison of sums of
 * i and j holds everywhere if it does in the corner where it is nearest to failing; `whole` need
 * not be exact: where it does not hold, the mask is applied. */
#include <math.h>
#include "pass/pass.h"
#include "pass/plan_how.h"

typedef struct {
    Kernel *k;
    Ir *ir;
    Map lets;    /* of the kernel: names and their values */
    Map unknown; /* names that each thread may have its own value of */
    Var *var[RANK_MOST];
    int64_t n[RANK_MOST];
    int nvar;
} Mask;

/* ---- a condition, for all elements ----------------------------------------------------------- */

static const Expr *not_of(Ir *ir, const Expr *e)
{
    return expr_unary(ir, EX_NOT, e);
}

static const Expr *both(Ir *ir, const Expr *a, const Expr *b)
{
    return !a || !b ? NULL : expr_binary(ir, EX_AND, a, b);
}

static const Expr *either(Ir *ir, const Expr *a, const Expr *b)
{
    return !a ? b : !b ? a : expr_binary(ir, EX_OR, a, b);
}

/* Where b - a is least, or greatest. */
static const Expr *at_corner(Mask *m, const Expr *e, bool least)
{
    int64_t a[RANK_MOST], b[RANK_MOST];
    const Expr *base;

    if (!affine_of(m->ir, e->kid[0], m->var, m->nvar, a, &base) ||
        !affine_of(m->ir, e->kid[1], m->var, m->nvar, b, &base))
        return NULL;
    for (int i = 0; i < m->nvar; i++) {
        bool low = (b[i] - a[i] > 0) == least;
        const Expr *at = expr_const(m->ir, m->var[i]->type, low ? 0 : m->n[i] - 1);
        e = expr_subst(m->ir, e, m->var[i], at);
    }
    return e;
}

static bool depends(const Mask *m, const Expr *e)
{
    for (int i = 0; i < m->nvar; i++)
        if (expr_uses_var(e, m->var[i]))
            return true;
    return false;
}

/* True only if e is `want` for all elements; NULL: nothing that can be told. */
static const Expr *always(Mask *m, const Expr *e, bool want)
{
    Ir *ir = m->ir;

    if (!depends(m, e))
        return want ? e : not_of(ir, e);
    switch (e->op) {
    case EX_NOT:
        return always(m, e->kid[0], !want);
    case EX_AND:
    case EX_OR: {
        const Expr *a = always(m, e->kid[0], want), *b = always(m, e->kid[1], want);
        return (e->op == EX_AND) == want ? both(ir, a, b) : either(ir, a, b);
    }
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE: {
        bool rises = e->op == EX_LT || e->op == EX_LE;
        const Expr *at = expr_is_math(e->kid[0]) ? at_corner(m, e, rises == want) : NULL;
        return !at || want ? at : not_of(ir, at);
    }
    default:
        return NULL;
    }
}

/* ---- nests ----------------------------------------------------------------------------------- */

static bool is_zero(const Expr *e)
{
    double f;
    return expr_is_float(e, &f) ? f == 0 && !signbit(f) : expr_is_zero(e);
}

/* True only if all the elements stay as they are, or become zero. */
static const Expr *nothing(Mask *m, const Stmt *s, const Expr *e, bool zero)
{
    if (zero ? is_zero(e) : store_is_read(s, e))
        return expr_bool(m->ir, true);
    if (zero && e->op == EX_CAST)
        return nothing(m, s, e->kid[0], zero);
    if (e->op != EX_SELECT && e->op != EX_IF)
        return NULL;
    const Expr *a = nothing(m, s, e->kid[1], zero), *b = nothing(m, s, e->kid[2], zero);
    const Expr *yes = a ? both(m->ir, a, always(m, e->kid[0], true)) : NULL;
    const Expr *no = b ? both(m->ir, b, always(m, e->kid[0], false)) : NULL;
    return either(m->ir, either(m->ir, yes, no), both(m->ir, a, b));
}

static const Expr *expanded(Mask *m, const Expr *e, const Map *lets)
{
    for (const Expr *before = NULL; before != e;) {
        before = e;
        e = expr_subst_map(m->ir, e, lets, NULL);
    }
    return e;
}

/* The only store of a nest, with the names in between taken out of its value. */
static const Stmt *only_store(Mask *m, const Stmt *s, const Expr **value)
{
    Map lets;

    m->nvar = 0;
    map_init(&lets, m->k->scratch);
    for (; s->kind == ST_FOR; s = s->u.loop.body) {
        if (s->u.loop.how != LOOP_PARALLEL || m->nvar == RANK_MOST || s->u.loop.hints.n ||
            !expr_is_zero(s->u.loop.min) || !expr_is_int(s->u.loop.extent, &m->n[m->nvar]) ||
            m->n[m->nvar] <= 0)
            return NULL;
        m->var[m->nvar++] = s->u.loop.var;
    }
    if (s->kind == ST_BLOCK && s->u.block.n) {
        for (int i = 0; i < s->u.block.n - 1; i++) {
            const Stmt *l = s->u.block.list[i];
            if (l->kind != ST_LET)
                return NULL;
            map_set(&lets, l->u.let.var, l->u.let.value);
        }
        s = s->u.block.list[s->u.block.n - 1];
    }
    if (m->nvar == 0 || s->kind != ST_STORE || s->u.store.guard || s->u.store.async ||
        s->u.store.buf->scope != MEM_FRAGMENT)
        return NULL;
    *value = expanded(m, s->u.store.value, &lets);
    return s;
}

/* Does the nest write every element of its tile? */
static bool covers(const Mask *m, const Stmt *store)
{
    const Buffer *b = store->u.store.buf;
    int64_t n;

    if (b->view_of || b->rank != m->nvar)
        return false;
    for (int i = 0; i < b->rank; i++) {
        const Expr *at = store->u.store.at[i];
        if (at->op != EX_VAR || at->u.var != m->var[i] || !expr_is_int(b->shape[i], &n) ||
            n != m->n[i])
            return false;
    }
    return true;
}

static bool is_private(const Expr *e, void *mask_to_skip)
{
    const Mask *m = mask_to_skip;
    return (e->op == EX_VAR && map_has(&m->unknown, e->u.var)) || e->op == EX_ADDR ||
           e->op == EX_EXTERN || (e->op == EX_LOAD && e->u.buf->scope != MEM_GLOBAL);
}

/* Do all threads of a block agree about it? */
static bool is_common(Mask *m, const Expr *e)
{
    return !expr_any(expanded(m, e, &m->lets), is_private, m);
}

/* ---- the block ------------------------------------------------------------------------------- */

static const Stmt *guarded(Ir *ir, const Stmt *nest, const Expr *whole)
{
    const Stmt *none = stmt_block(ir, nest->span, 0, NULL);
    bool always_whole = whole->op == EX_INT && !expr_is_zero(whole);
    return always_whole ? none : stmt_if(ir, nest->span, not_of(ir, whole), nest, NULL);
}

/* The statement with its mask behind a condition, and where that clears an MMA, which; NULL: it
 * is no mask, or nothing is known. */
static const Stmt *mask_of(Mask *m, const Stmt *nest, const Stmt *block, int i, int *mma,
                           const Expr **whole)
{
    const Expr *value;
    const Stmt *store = nest && nest->kind == ST_FOR ? only_store(m, nest, &value) : NULL;

    *mma = -1;
    if (!store)
        return NULL;
    *whole = nothing(m, store, value, false);
    if (!*whole && block && covers(m, store) &&
        (*mma = mma_after(m->k, block, i, store->u.store.buf)) >= 0)
        *whole = nothing(m, store, value, true);
    *whole = *whole ? simplify(m->ir, NULL, *whole) : NULL;
    if (!*whole || expr_is_zero(*whole) || !is_common(m, *whole))
        return NULL;
    return guarded(m->ir, nest, *whole);
}

static const Stmt *mask_block(Mask *m, const Stmt *s)
{
    Ir *ir = m->ir;
    const Stmt **list = NULL;

    for (int i = 0; i < s->u.block.n; i++) {
        const Expr *whole;
        int mma;
        const Stmt *now = mask_of(m, s->u.block.list[i], s, i, &mma, &whole);
        if (!now)
            continue;
        if (!list)
            list = memcpy(NEWN(ir->arena, const Stmt *, s->u.block.n), s->u.block.list,
                          sizeof *list * (size_t)s->u.block.n);
        list[i] = now;
        if (mma >= 0)
            list[mma] = mma_clearing(ir, list[mma], whole);
    }
    return list ? stmt_block(ir, s->span, s->u.block.n, list) : s;
}

static const Stmt *mask(Ir *ir, const Stmt *s, void *arg)
{
    Mask *m = arg;
    const Expr *whole;
    int mma;

    if (s->kind == ST_BLOCK)
        return mask_block(m, s);
    if (s->kind == ST_IF) {
        const Stmt *then = mask_of(m, s->u.branch.then, NULL, 0, &mma, &whole);
        const Stmt *other = mask_of(m, s->u.branch.orelse, NULL, 0, &mma, &whole);
        if (then || other)
            return stmt_if(ir, s->span, s->u.branch.cond, then ? then : s->u.branch.then,
                           other ? other : s->u.branch.orelse);
    }
    return s;
}

static bool see_names(const Stmt *s, void *arg)
{
    Mask *m = arg;

    if (s->kind == ST_LET)
        map_set(&m->lets, s->u.let.var, s->u.let.value);
    else if (s->kind != ST_FOR && stmt_binds(s))
        map_set(&m->unknown, stmt_binds(s), s);
    return true;
}

void pass_opt_skip_masks(Kernel *k)
{
    Mask m = {.k = k, .ir = k->ir};

    if (k->uses_threads)
        return;
    map_init(&m.lets, k->scratch);
    map_init(&m.unknown, k->scratch);
    stmt_visit(k->body, see_names, &m);
    k->body = stmt_map(k->ir, k->body, mask, &m);
}
