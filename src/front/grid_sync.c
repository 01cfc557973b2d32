/* grid_sync.c -- T.sync_grid inside T.Parallel.
 *
 *     for i in T.Parallel(n):                    for i in T.Parallel(n):
 *         A[i] = f(i)                                A[i] = f(i)
 *         T.sync_grid()                  ->      T.sync_grid()
 *         B[i] = A[n - 1 - i]                    for i in T.Parallel(n):
 *                                                    B[i] = A[n - 1 - i]
 *
 * All iterations come to the barrier before one goes on, so the loop is two.  A name for something
 * that needs no memory is given again behind the barrier; one for what was read before it cannot
 * be, and is left for check_kernel to refuse. */
#include "front/eval.h"

static bool is_grid_sync(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_GRID;
}

static bool is_parallel(const Stmt *s)
{
    return stmt_is_nest(s);
}

/* The statements of all dimensions of a nest. */
static const Stmt *innermost(const Stmt *s)
{
    while (is_parallel(s))
        s = s->u.loop.body;
    return s;
}

/* The nest once more, with variables of its own, around these statements. */
static const Stmt *nest_around(Ir *ir, const Stmt *loop, const Stmt *body)
{
    Map vars;

    if (!is_parallel(loop))
        return body;
    body = nest_around(ir, loop->u.loop.body, body);
    Var *old = loop->u.loop.var, *v = var_new(ir, old->name, old->type, old->span);
    map_init(&vars, ir->arena);
    map_set(&vars, old, (void *)expr_var(ir, v));
    return stmt_for(ir, loop->span, LOOP_PARALLEL, v, loop->u.loop.min, loop->u.loop.extent,
                    loop->u.loop.hints, stmt_subst_map(ir, body, &vars, NULL));
}

static bool used_in(const Stmt *const *list, int n, const Var *v)
{
    for (int i = 0; i < n; i++)
        if (stmt_uses_var(list[i], v))
            return true;
    return false;
}

/* May what stands before statement `at` be parted from what follows?  Names that both use are added
 * to `again`. */
static bool may_part(const Stmt *const *list, int n, int at, const Stmt **again, int *nagain)
{
    for (int i = 0; i < at; i++) {
        const Var *v = list[i]->kind == ST_FOR ? NULL : stmt_binds(list[i]);
        if (!v || !used_in(list + at + 1, n - at - 1, v))
            continue;
        if (list[i]->kind != ST_LET || expr_has_load(list[i]->u.let.value) ||
            list[i]->u.let.var->data)
            return false;
        again[(*nagain)++] = list[i];
    }
    return true;
}

static const Stmt *split(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    const Stmt *body = is_parallel(s) ? innermost(s) : NULL;
    int at = 0, nrest = 0;

    if (!body || body->kind != ST_BLOCK)
        return s;
    const Stmt *const *list = body->u.block.list;
    int n = body->u.block.n;
    while (at < n && !is_grid_sync(list[at]))
        at++;
    const Stmt **rest = NEWN(ir->arena, const Stmt *, n + 1);
    if (at == n || !may_part(list, n, at, rest, &nrest))
        return s;
    for (int i = at + 1; i < n; i++)
        rest[nrest++] = list[i];
    const Stmt *part[3] = {
        nest_around(ir, s, stmt_block(ir, body->span, at, list)),
        list[at],
        split(ir, nest_around(ir, s, stmt_block(ir, body->span, nrest, rest)), NULL),
    };
    return stmt_block(ir, s->span, 3, part);
}

const Stmt *split_at_grid_sync(Kernel *k, const Stmt *body)
{
    return stmt_map(k->ir, body, split, NULL);
}
