/* replay.c -- what a role can work out by itself, though others compute it too.
 *
 * A producer knows the block, sizes, tensors that the kernel only reads, and names and variables
 * (T.alloc_var) made of these alone: it repeats the assignments.  An assignment under a condition
 * or in a loop that it does not know, or in a T.Parallel, is not its own. */
#include "pass/replay.h"

/* ---- what is known --------------------------------------------------------------------------- */

static bool is_unknown(const Expr *e, void *replay)
{
    const Replay *r = replay;
    const Buffer *b = e->op == EX_LOAD ? buffer_root(e->u.buf) : NULL;

    return (e->op == EX_VAR && map_has(&r->unknown, e->u.var)) || e->op == EX_ADDR ||
           e->op == EX_EXTERN ||
           (b && ((b->scope != MEM_GLOBAL && b->scope != MEM_VAR) || map_has(&r->unknown, b)));
}

bool replay_knows(const Replay *r, const Expr *e)
{
    return !expr_any(e, is_unknown, r);
}

static void lose(Replay *r, const void *name)
{
    if (name)
        map_set(&r->unknown, name, r);
}

static void learn(Replay *r, const Stmt *s, bool known);

/* A store is the replay's own affair; of all else the value is not known. */
static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    const Buffer *b = buffer_root(t->buf);
    bool region = s->kind == ST_CALL || s->kind == ST_INSTR;

    if (t->expr || region ? b->scope == MEM_VAR && (!t->expr || t->how & ACC_ADDRESS)
                          : s->kind != ST_STORE && touch_writes(t))
        lose(arg, b);
}

static void learn_store(Replay *r, const Stmt *s, bool known)
{
    const Buffer *b = buffer_root(s->u.store.buf);

    if (b->scope == MEM_VAR)
        map_set(&r->assigned, b, s);
    if (b->scope != MEM_VAR || !known || s->u.store.guard || !replay_knows(r, s->u.store.value))
        lose(r, b);
}

/* known: so is whether it comes by here, and how often. */
static void learn(Replay *r, const Stmt *s, bool known)
{
    stmt_touches(s, see_touch, r);
    switch (s->kind) {
    case ST_BLOCK: break;
    case ST_LET:
        if (!replay_knows(r, s->u.let.value))
            lose(r, s->u.let.var);
        break;
    case ST_STORE: learn_store(r, s, known); break;
    case ST_FOR:
        known = known && s->u.loop.how != LOOP_PARALLEL && replay_knows(r, s->u.loop.min) &&
                replay_knows(r, s->u.loop.extent);
        break;
    case ST_WHILE:
    case ST_IF: known = known && replay_knows(r, s->u.branch.cond); break;
    case ST_ROLE: known = false; break;
    default: lose(r, stmt_binds(s));
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        learn(r, stmt_kid(s, i), known);
}

void replay_learn(Replay *r, Kernel *k)
{
    int before;

    r->ir = k->ir;
    map_init(&r->unknown, k->scratch);
    map_init(&r->assigned, k->scratch);
    map_init(&r->needed, k->scratch);
    do {
        before = r->unknown.n;
        learn(r, k->body, true);
    } while (r->unknown.n != before);
}

/* ---- what is repeated ------------------------------------------------------------------------ */

static bool see_needed_load(const Expr *e, void *arg)
{
    Replay *r = arg;
    const Buffer *b = e->op == EX_LOAD ? buffer_root(e->u.buf) : NULL;

    if (b && map_has(&r->assigned, b))
        map_set(&r->needed, b, r);
    return true;
}

static bool see_needed(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, see_needed_load, arg);
    return true;
}

bool replay_needs(Replay *r, const Stmt *body)
{
    int before = r->needed.n;
    stmt_visit(body, see_needed, r);
    return r->needed.n != before;
}

static bool is_assignment(const Stmt *s, void *replay)
{
    const Replay *r = replay;
    return s->kind == ST_STORE && map_has(&r->needed, buffer_root(s->u.store.buf));
}

static const Stmt *repeat(void *replay, const Stmt *s)
{
    const Replay *r = replay;

    if (s->kind == ST_LET)
        return replay_knows(r, s->u.let.value) ? s : NULL;
    if (!r->needed.n || !stmt_any(s, is_assignment, r))
        return NULL;
    if (s->kind == ST_FOR)
        return stmt_for_as(r->ir, s, LOOP_SERIAL, repeat(replay, s->u.loop.body));
    return s->kind == ST_ROLE ? s : stmt_map_kids(r->ir, s, repeat, replay);
}

const Stmt *replay_of(Replay *r, const Stmt *s)
{
    return s ? repeat(r, s) : NULL;
}
