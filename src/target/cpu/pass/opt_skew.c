/* opt_skew.c -- what a row stores past the caches goes with the arithmetic of the next row.
 *
 * needs   FORM_GUARDED
 * breaks  FORM_SIMPLE
 *
 *     for i: P(i)                            P(0)
 *            for j: V(i, j)                  for j: V(0, j)
 *            for j: Y[i, j] = …              for r < n - 1: P(r + 1)
 *                                                for j: Y[r, j] = …
 *                                                       V(r + 1, j)
 *                                            for j: Y[n - 1, j] = …
 *
 * A loop that only stores waits for memory while the loops before it wait for arithmetic; together
 * they do both at once.  Only for tensors that are stored past the caches, and where no iteration
 * of the rows touches what another one writes. */
#include "pass/lower_unroll.h"
#include "target/cpu/pass/rows.h"

/* ---- tensors that are stored past the caches ------------------------------------------------- */

typedef struct {
    const Buffer *root;
    bool read;
} Reads;

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Reads *r = arg;
    bool only_writes = t->how == ACC_WRITE && s->kind != ST_INSTR;
    r->read |= buffer_root(t->buf) == r->root && !only_writes;
}

static bool is_call(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_CALL;
}

/* From a part of the last cache on a store past it is faster even where the next kernel reads the
 * tensor: a plain one reads each line first, and others use the cache too. */
enum { CACHE_PARTS = 4 };

bool tensor_streams(Kernel *k, const Buffer *b)
{
    Reads r = {buffer_root(b), false};
    int64_t n = buffer_static_size(b);

    if (b->scope != MEM_GLOBAL || b->type != DT_F32 || b->view_of || b->pointer ||
        k->machine->cache_bytes <= 0 || n < 0 ||
        dtype_bytes(b->type, n) < k->machine->cache_bytes / CACHE_PARTS)
        return false;
    stmt_touches_all(k->body, see_touch, &r);
    return !r.read && !stmt_any(k->body, is_call, NULL);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_vector(const Stmt *s)
{
    return is_fusable(s) && s->u.loop.how == LOOP_VECTOR;
}

/* Does it store to such a tensor, and to nothing else? */
static bool only_streams(Kernel *k, const Stmt *loop)
{
    Uses u = uses_of(k->scratch, loop->u.loop.body);
    int nwrite = 0;

    for (int i = 0; i < u.touch.n; i++)
        if (touch_writes(&u.touch.at[i])) {
            nwrite++;
            if (!tensor_streams(k, u.touch.at[i].buf))
                return false;
        }
    return nwrite > 0 && !u.opaque && !u.loops;
}

static bool is_math(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_MATH;
}

/* The loop of the next row to go with: the last of the same length that has exponentials or the
 * like to wait for.  Others wait for memory themselves. */
static int partner(const Stmt *body, const Stmt *out)
{
    for (int i = body->u.block.n - 2; i >= 0; i--) {
        const Stmt *s = body->u.block.list[i];
        if (is_vector(s) && same_range(s, out) && stmt_any_expr(s->u.loop.body, is_math, NULL))
            return i;
    }
    return -1;
}

static bool can_wait(Kernel *k, const Stmt *rows, const Stmt *rest, const Stmt *out)
{
    Uses a = uses_of(k->scratch, out), b = uses_of(k->scratch, rest);
    return independent(k->ir, &a, rows->u.loop.var, &b, rows->u.loop.var);
}

static const Stmt *at_row(Kernel *k, const Stmt *s, const Var *v, const Expr *row)
{
    return stmt_anew(k, stmt_subst(k->ir, s, v, row));
}

/* What the loop loads first, then the row before, then the rest: a load that follows a store a
 * multiple of 4 KiB away would wait for it. */
static const Stmt *with(Ir *ir, const Stmt *loop, const Stmt *out)
{
    const Stmt *body = loop->u.loop.body, *s = NULL;
    const Stmt *const *list = body->kind == ST_BLOCK ? body->u.block.list : &body;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1, i = 0;

    for (; i < n && list[i]->kind == ST_LET; i++)
        s = stmt_seq(ir, s, list[i]);
    s = stmt_seq(ir, s, stmt_subst(ir, out->u.loop.body, out->u.loop.var,
                                   expr_var(ir, loop->u.loop.var)));
    for (; i < n; i++)
        s = stmt_seq(ir, s, list[i]);
    return stmt_for(ir, loop->span, LOOP_VECTOR, loop->u.loop.var, loop->u.loop.min,
                    loop->u.loop.extent, loop->u.loop.hints, s);
}

static const Stmt *skew(Kernel *k, const Stmt *rows, int which)
{
    Ir *ir = k->ir;
    const Stmt *body = rows->u.loop.body, *out = body->u.block.list[body->u.block.n - 1];
    const Var *v = rows->u.loop.var;
    int n = body->u.block.n - 1;
    const Stmt *rest = stmt_block(ir, body->span, n, body->u.block.list);
    const Expr *one = expr_const(ir, v->type, 1), *min = rows->u.loop.min;
    const Expr *iters = expr_sub(ir, rows->u.loop.extent, one);
    Var *r = var_new(ir, v->name, v->type, v->span);
    const Expr *now = expr_var(ir, r), *next = expr_add(ir, now, one);
    const Stmt **list = NEWN(ir->arena, const Stmt *, n);

    for (int i = 0; i < n; i++)
        list[i] = stmt_subst(ir, body->u.block.list[i], v, next);
    list[which] = with(ir, list[which], stmt_subst(ir, out, v, now));
    const Stmt *iter = stmt_anew(k, stmt_block(ir, body->span, n, list));
    const Stmt *all[3] = {
        at_row(k, rest, v, min),
        stmt_for(ir, rows->span, LOOP_SERIAL, r, min, iters, rows->u.loop.hints, iter),
        at_row(k, out, v, expr_add(ir, min, iters)),
    };
    const Stmt *s = stmt_block(ir, rows->span, 3, all);
    const Expr *any = expr_lt(ir, expr_const(ir, v->type, 0), rows->u.loop.extent);
    return expr_is_const(rows->u.loop.extent) ? s : stmt_if(ir, rows->span, any, s, NULL);
}

static const Stmt *skew_hook(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    int64_t n;

    (void)ir;
    if (!is_fusable(s) || s->u.loop.how != LOOP_SERIAL || s->u.loop.body->kind != ST_BLOCK ||
        s->u.loop.body->u.block.n == 0 || (expr_is_int(s->u.loop.extent, &n) && n < 2))
        return s;
    const Stmt *body = s->u.loop.body, *out = body->u.block.list[body->u.block.n - 1];
    if (!is_vector(out) || !only_streams(k, out))
        return s;
    const Stmt *rest = stmt_block(k->ir, body->span, body->u.block.n - 1, body->u.block.list);
    int which = partner(body, out);
    return which >= 0 && can_wait(k, s, rest, out) ? skew(k, s, which) : s;
}

void pass_opt_skew(Kernel *k)
{
    if (k->uses_threads || k->func->may_overlap)
        return;
    const Stmt *body = stmt_map(k->ir, k->body, skew_hook, k);
    k->relies_apart |= body != k->body;
    k->body = body;
}
