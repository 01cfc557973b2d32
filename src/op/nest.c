/* region.c -- guards, loop nests and scalars: what the operators' loops are made of. */
#include "op/op.h"

const Expr *region_guard(Ir *ir, const Facts *f, const Buffer *b, const Expr *const *at)
{
    const Expr *guard = NULL;
    for (int d = 0; d < b->rank; d++) {
        const Expr *low = expr_binary(ir, EX_GE, at[d], expr_int(ir, 0));
        const Expr *high = expr_lt(ir, at[d], b->shape[d]);
        if (!prove_true(ir, f, low))
            guard = guard ? expr_and(ir, guard, low) : low;
        if (!prove_true(ir, f, high))
            guard = guard ? expr_and(ir, guard, high) : high;
    }
    return guard;
}

/* ---- nests ----------------------------------------------------------------------------------- */

void nest_open(Kernel *k, Nest *n, int nloop, const Expr *const *extent)
{
    static const char *const name[RANK_MOST] = {"i", "j", "l", "m", "n", "o", "p", "q"};
    memset(n, 0, sizeof *n);
    n->n = nloop;
    for (int i = 0; i < nloop; i++) {
        n->extent[i] = extent[i];
        n->var[i] = var_new(k->ir, name[i], DT_I32, NO_SPAN);
        n->at[i] = expr_var(k->ir, n->var[i]);
    }
}

/* On threads a nest of no loops is one iteration, run by those who hold what it uses. */
const Stmt *nest_close(Kernel *k, Span at, const Nest *n, LoopHow how, const Stmt *body)
{
    if (n->n == 0 && how == LOOP_PARALLEL && kernel_on_warps(k) && !stmt_is_private(body)) {
        const Expr *one = expr_int(k->ir, 1);
        Nest alone;
        nest_open(k, &alone, 1, &one);
        return nest_close(k, at, &alone, how, body);
    }
    for (int i = n->n - 1; i >= 0; i--)
        body = stmt_for(k->ir, at, how, n->var[i], n->min[i] ? n->min[i] : expr_int(k->ir, 0),
                        n->extent[i], (Hints){0}, body);
    return body;
}

void nest_facts(Kernel *k, const Nest *n, Facts *f)
{
    for (int i = 0; i < n->n; i++)
        facts_range(f, n->var[i], n->min[i] ? n->min[i] : expr_int(k->ir, 0), n->extent[i]);
}

/* ---- the kernel around an operator ----------------------------------------------------------- */

Facts *kernel_facts(Kernel *k)
{
    Facts *f = facts_new(k->ir);
    const Expr *zero = expr_int(k->ir, 0);
    if (k->func)
        for (int i = 0; i < k->func->dims.n; i++)
            facts_assume(f, expr_binary(k->ir, EX_GE, expr_var(k->ir, k->func->dims.at[i]), zero));
    facts_kernel(f, k);
    return f;
}

/* Names are unique, so what is said of them never clashes.  Kept until the body or what it may
 * assume is another. */
Facts *body_facts(Kernel *k)
{
    if (!k->body_facts || k->facts_body != k->body || k->facts_assume != k->assume) {
        k->body_facts = kernel_facts(k);
        facts_body(k->body_facts, k->body);
        k->facts_body = k->body;
        k->facts_assume = k->assume;
    }
    return k->body_facts;
}

Buffer *kernel_scalar(Kernel *k, const char *name, DType t, Span at)
{
    return kernel_buffer(k, name, t, MEM_VAR, 0, NULL, at);
}

const Expr *scalar_get(Kernel *k, Buffer *b)
{
    return expr_load(k->ir, b, NULL, 0);
}

const Stmt *scalar_set(Kernel *k, Span at, Buffer *b, const Expr *value)
{
    return stmt_store(k->ir, at, b, NULL, 0, expr_cast(k->ir, b->type, value));
}

DType accumulate_type(DType t)
{
    return dtype_is_float(t) && dtype_bits(t) < 32 ? DT_F32 : t;
}

const Expr *safe_value(Kernel *k, const Buffer *b, DType t)
{
    const Expr *safe = buffer_plan(k, b)->safe;
    return safe ? expr_cast(k->ir, t, safe) : expr_zero(k->ir, t);
}

int64_t tile_arg_int(const Stmt *t, int i, int64_t otherwise)
{
    int64_t v;
    if (i >= t->u.tile.narg || t->u.tile.arg[i] == NULL)
        return otherwise;
    return expr_is_int(t->u.tile.arg[i], &v) ? v : otherwise;
}
