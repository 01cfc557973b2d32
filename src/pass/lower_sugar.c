/* lower_sugar.c -- indices that are always negative count from the end of their dimension.
 *
 * gives   FORM_NORMAL
 * breaks  FORM_SIMPLE     extents are added to indices
 *
 * An index whose sign is not known stays as it is: only what is provably negative is Python's
 * "from the end" (language.md trap 42).  Tracing does the same, so that the tile form means it.
 * Sparse GEMMs become GEMMs of a tile with its zeros, where matrix instructions do them.
 * A name for a value between two nested T.Parallel is made inside of the inner one.
 * Indices of threads that are the same for those who come by (`tx // 128` under `tx < 128`) become
 * numbers in what threads do together.
 * Barriers that tracing put between a thread's own accesses go if the kernel wants none of them
 * (tl.disable_thread_storage_sync).
 * A T.Parallel whose extent is known at run time runs over all of the fragment it indexes, under a
 * condition: who holds an element does not depend on how far the loop goes. */
#include "pass/pass.h"
#include "pass/plan_how.h"
#include "pass/thread_group.h"
#include "ir/config.h"

/* What no mechanism of the target does, by operators that one may. */
static const Stmt *expand(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    (void)ir;
    if (s->kind != ST_TILE || !s->u.tile.op->expand || has_mechanism(arg, who, s))
        return s;
    return s->u.tile.op->expand(arg, s);
}

static const Stmt *sink_lets(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt *body = stmt_is_nest(s) ? s->u.loop.body : NULL, *lets = NULL;
    int n = body && body->kind == ST_BLOCK ? body->u.block.n : 0;

    if (n < 2 || !stmt_is_nest(body->u.block.list[n - 1]))
        return s;
    for (int i = 0; i < n - 1; i++) {
        if (body->u.block.list[i]->kind != ST_LET)
            return s;
        lets = stmt_seq(ir, lets, body->u.block.list[i]);
    }
    const Stmt *inner = body->u.block.list[n - 1];
    inner = stmt_with_body(ir, inner, stmt_seq(ir, lets, inner->u.loop.body));
    return stmt_with_body(ir, s, sink_lets(ir, inner, arg));
}

/* ---- run-time extents over fragments --------------------------------------------------------- */

typedef struct {
    Var *var;
    int64_t extent; /* of the fragments it indexes; 0: of none */
} Reach;

static void reach_index(void *arg, const Stmt *s, const Touch *t)
{
    Reach *r = arg;
    int64_t shape;

    (void)s;
    for (int d = 0; t->buf->scope == MEM_FRAGMENT && !(t->how & ACC_ADDRESS) && d < t->n; d++)
        if (t->at[d]->op == EX_VAR && t->at[d]->u.var == r->var &&
            expr_is_int(t->buf->shape[d], &shape))
            r->extent = r->extent ? MIN(r->extent, shape) : shape;
}

/* The condition goes inside of the innermost loop: nests stay nests. */
static const Stmt *guard_innermost(Ir *ir, const Stmt *s, const Expr *cond)
{
    const Stmt *body = s->u.loop.body;

    body = stmt_is_nest(body) ? guard_innermost(ir, body, cond)
                         : stmt_if(ir, s->span, cond, body, NULL);
    return stmt_with_body(ir, s, body);
}

static const Stmt *reach_all(Ir *ir, const Stmt *s, void *arg)
{
    int64_t n;

    (void)arg;
    if (!stmt_is_nest(s) || expr_is_int(s->u.loop.extent, &n))
        return s;
    Reach r = {.var = s->u.loop.var};
    stmt_touches_all(s->u.loop.body, reach_index, &r);
    if (!r.extent)
        return s;
    const Expr *in = expr_lt(ir, expr_var(ir, r.var), s->u.loop.extent);
    s = guard_innermost(ir, s, in);
    return stmt_for(ir, s->span, LOOP_PARALLEL, r.var, s->u.loop.min, expr_int(ir, r.extent),
                    s->u.loop.hints, s->u.loop.body);
}

static bool is_memory(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_LOAD || e->op == EX_ADDR || e->op == EX_EXTERN;
}

static bool is_of_tile(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_LOAD && e->u.buf->scope != MEM_GLOBAL;
}

static const Expr *name_bound(Ir *ir, const Stmt *loop, const Expr *e, const Stmt **lets)
{
    if (!expr_any(e, is_of_tile, NULL))
        return e;
    Var *v = var_new(ir, arena_printf(ir->arena, "%s_bound", loop->u.loop.var->name),
                     (DType)e->type, loop->span);
    *lets = stmt_seq(ir, *lets, stmt_let(ir, loop->span, v, e));
    return expr_var(ir, v);
}

/* What a pipeline makes of a loop asks for its bounds more than once; the loop may change what
 * they were read from. */
static const Stmt *name_bounds(Ir *ir, const Stmt *s, void *arg)
{
    const Stmt *lets = NULL;

    (void)arg;
    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PIPELINED)
        return s;
    const Expr *min = name_bound(ir, s, s->u.loop.min, &lets);
    const Expr *extent = name_bound(ir, s, s->u.loop.extent, &lets);
    if (!lets)
        return s;
    return stmt_seq(ir, lets, stmt_for(ir, s->span, LOOP_PIPELINED, s->u.loop.var, min, extent,
                                       s->u.loop.hints, s->u.loop.body));
}

/* Names for values that read no memory go: they mean the same wherever they stand. */
static const Stmt *inline_lets(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++) {
        const Stmt *let = s->u.block.list[i];
        if (let->kind != ST_LET || expr_any(let->u.let.value, is_memory, NULL) ||
            let->u.let.value->type != let->u.let.var->type)
            continue;
        const Stmt **list = NEWN(ir->arena, const Stmt *, s->u.block.n);
        int n = 0;
        for (int j = 0; j < s->u.block.n; j++)
            if (j != i)
                list[n++] = j < i ? s->u.block.list[j]
                                  : stmt_subst(ir, s->u.block.list[j], let->u.let.var,
                                               let->u.let.value);
        s = stmt_block(ir, s->span, n, list);
        i = -1;
    }
    return s;
}

/* Barriers that tracing added are as good as those of the kernel, unless it wants its own alone. */
static const Stmt *settle_added(Ir *ir, const Stmt *s, void *drop)
{
    if (s->kind != ST_CALL || s->u.call.mark != MARK_ADDED)
        return s;
    return *(bool *)drop ? stmt_block(ir, s->span, 0, NULL) : stmt_call_mark(ir, s, MARK_NONE);
}

void pass_lower_sugar(Kernel *k)
{
    bool own = config_on(k->func, CONFIG_disable_thread_storage_sync) && kernel_on_warps(k);

    k->body = stmt_map(k->ir, k->body, settle_added, &own);
    if (config_on(k->func, CONFIG_force_let_inline))
        k->body = stmt_map(k->ir, k->body, inline_lets, NULL);
    k->body = stmt_map(k->ir, k->body, sink_lets, NULL);
    count_from_end(k);
    if (kernel_on_warps(k)) {
        if (kernel_block_threads(k) > 1)
            group_fold_agreed(k);
        k->body = stmt_map(k->ir, k->body, reach_all, NULL);
        k->body = stmt_map(k->ir, k->body, name_bounds, NULL);
        k->body = group_map(k, k->body, expand, k);
    }
}
