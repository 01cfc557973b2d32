/* lower_effects.c -- what the block does once, and what each of its threads does.
 *
 * Outside of T.Parallel and of tile operators a statement is the block's.  A store or an assignment
 * is done by every thread with the same value, which is as good as once.  An atomic and a call with
 * an effect are done by every thread, too, and that can be seen: `threads` times.  GPUs do so by
 * themselves; where a block is one thread, a loop does it.  check_races
 * warns of it. */
#include "pass/pass.h"
#include "pass/lower_effects.h"

static bool is_extern(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_EXTERN;
}

static bool effect_repeats(const Stmt *s)
{
    if (s->kind == ST_ATOMIC)
        return s->u.atomic.op == ATOMIC_ADD || s->u.atomic.op == ATOMIC_XOR;
    return s->kind == ST_EVAL && expr_any(s->u.eval, is_extern, NULL);
}

typedef struct {
    Kernel *k;
    Map found;
    int threads;
} Effects;

static bool find_effect(const Stmt *s, void *arg)
{
    Effects *e = arg;

    if (stmt_is_nest(s))
        return false;
    if (effect_repeats(s))
        map_set(&e->found, s, s);
    return true;
}

static bool find_effects(Kernel *k, Effects *e)
{
    *e = (Effects){.k = k, .threads = kernel_block_threads(k)};
    map_init(&e->found, k->scratch);
    if (k->uses_threads || e->threads < 2)
        return false;
    stmt_visit(k->body, find_effect, e);
    return e->found.n > 0;
}

static bool tell_effect(const Stmt *s, void *arg)
{
    Effects *e = arg;

    if (map_has(&e->found, s))
        diag_warn(e->k->diag, s->span,
                  "%s outside of T.Parallel is done by every thread: %d times in each block; put "
                  "it into a T.Parallel, or under a condition on the thread [per-thread-effect]",
                  s->kind == ST_ATOMIC ? "an atomic" : "a call", e->threads);
    return true;
}

void effects_tell(Kernel *k)
{
    Effects e;

    if (find_effects(k, &e))
        stmt_visit(k->body, tell_effect, &e);
}

static const Stmt *repeat(Ir *ir, const Stmt *s, void *arg)
{
    Effects *e = arg;

    if (!map_has(&e->found, s))
        return s;
    Var *v = var_new(ir, "thread", DT_I32, s->span);
    const Stmt *once = s;
    int times = e->threads;
    if (s->kind == ST_ATOMIC && s->u.atomic.bind) { /* what the last thread found has the name */
        once = stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, s->u.atomic.at,
                           s->u.atomic.n, s->u.atomic.value, s->u.atomic.order, NULL);
        times--;
    }
    const Stmt *loop = stmt_for(ir, s->span, LOOP_SERIAL, v, expr_int(ir, 0), expr_int(ir, times),
                                (Hints){0}, once);
    return once == s ? loop : stmt_seq(ir, loop, s);
}

void pass_lower_effects(Kernel *k)
{
    Effects e;

    if (find_effects(k, &e))
        k->body = stmt_map(k->ir, k->body, repeat, &e);
}
