/* lower_guards.c -- every access of a tensor that is not provably in bounds gets a guard.
 *
 * needs   FORM_THREADS, FORM_SIMPLE   indices are final and comparable
 * gives   FORM_GUARDED
 *
 * The language says: a load outside a tensor reads the annotated safe value (0 by default), a store
 * outside is dropped.  On-chip tiles are not guarded; an index that is provably outside one is an
 * error here, the rest is found by the simulator. */
#include "pass/access.h"
#include "pass/pass.h"
#include "ir/config.h"

typedef struct {
    Kernel *k;
    Ir *ir;
    Facts *facts;
    const Stmt *at; /* statement being rewritten, for messages */
    int loaded;     /* conditions around it that read memory, of which nothing is known */
} Guards;

/* ok: the guard that it got; NULL: none. */
static void note_access(Guards *g, const Buffer *b, const Expr *const *at, char how, const Expr *ok)
{
    if (g->k->func->proves)
        access_note(g->k, g->facts, g->at->span, b, at, how, ok, true, false);
}

/* What a store computes is computed where it is done.  False: it is done nowhere, or an index of it
 * is out of memory, and what that reads is read in any case. */
static bool assume_done(Guards *g)
{
    const Stmt *s = g->at;
    bool stores = s->kind == ST_STORE, adds = s->kind == ST_ATOMIC;
    const Buffer *b = stores ? s->u.store.buf : adds ? s->u.atomic.buf : NULL;
    const Expr *const *at = stores ? s->u.store.at : s->u.atomic.at;

    if (!b)
        return true;
    for (int d = 0; d < b->rank; d++)
        if (expr_has_load(at[d]))
            return false;
    if (stores && s->u.store.guard)
        facts_assume(g->facts, s->u.store.guard);
    const Expr *ok = b->scope == MEM_GLOBAL ? region_guard(g->ir, g->facts, b, at) : NULL;
    if (ok)
        facts_assume(g->facts, ok);
    return !ok || prove(g->ir, g->facts, ok) != PROOF_NO;
}

static void note_tile(Guards *g, const Buffer *b, const Expr *const *at, char how)
{
    int m = facts_mark(g->facts);
    bool certain = assume_done(g);

    access_note(g->k, g->facts, g->at->span, b, at, how, region_guard(g->ir, g->facts, b, at),
                false, g->loaded > 0 || !certain);
    facts_pop(g->facts, m);
}

static void refuse_outside(Guards *g, const Buffer *b, const Expr *const *at, int n, char how)
{
    if (g->k->func->proves)
        note_tile(g, b, at, how);
    for (int d = 0; d < n; d++) {
        Bounds i = bounds_of(g->facts, at[d]), shape = bounds_of(g->facts, b->shape[d]);
        if (i.lo != INT64_MIN && i.hi != INT64_MAX && shape.hi != INT64_MAX &&
            (i.lo >= shape.hi || i.hi < 0)) {
            diag_error(g->k->diag, g->at->span,
                       "index %lld of '%s' is outside its dimension %d of %lld [out-of-bounds]",
                       (long long)(i.hi < 0 ? i.hi : i.lo), b->name, d, (long long)shape.hi);
            diag_note(g->k->diag, b->span, "'%s' is declared here", b->name);
        }
    }
}

static const Expr *fill_of(Guards *g, const Buffer *b)
{
    const Expr *safe = buffer_plan(g->k, b)->safe;
    return safe ? expr_cast(g->ir, b->type, safe) : expr_zero(g->ir, b->type);
}

static const Expr *guard_expr(Guards *g, const Expr *e);

static const Expr *guard_load(Guards *g, const Expr *e)
{
    Buffer *b = e->u.buf;

    if (e->guarded)
        note_access(g, b, e->kid, 'r', e->kid[e->nkid - 2]);
    if (e->guarded || b->rank == 0)
        return e;
    if (b->scope != MEM_GLOBAL) {
        refuse_outside(g, b, e->kid, e->nkid, 'r');
        return e;
    }
    const Expr *ok = region_guard(g->ir, g->facts, b, e->kid);
    note_access(g, b, e->kid, 'r', ok);
    return ok ? expr_load_guarded(g->ir, b, e->kid, e->nkid, ok, fill_of(g, b)) : e;
}

/* The taken side of a lazy operator may rely on its condition. */
static const Expr *guard_under(Guards *g, const Expr *cond, bool holds, const Expr *e)
{
    int m = facts_mark(g->facts), loaded = expr_has_load(cond);
    facts_assume(g->facts, holds ? cond : expr_unary(g->ir, EX_NOT, cond));
    g->loaded += loaded;
    e = guard_expr(g, e);
    g->loaded -= loaded;
    facts_pop(g->facts, m);
    return e;
}

static const Expr *guard_expr(Guards *g, const Expr *e)
{
    if (e->nkid == 0 || !expr_has_load(e))
        return e;
    const Expr *kid[64];
    const Expr **at = e->nkid <= 64 ? kid : NEWN(g->ir->arena, const Expr *, e->nkid);
    for (int i = 0; i < e->nkid; i++) {
        bool lazy =
            (e->op == EX_IF && i > 0) || (e->op == EX_AND && i == 1) || (e->op == EX_OR && i == 1);
        bool holds = e->op == EX_IF ? i == 1 : e->op == EX_AND;
        at[i] = lazy && e->kid[0]->lanes == 1 ? guard_under(g, e->kid[0], holds, e->kid[i])
                                              : guard_expr(g, e->kid[i]);
    }
    const Expr *r = expr_with_kids(g->ir, e, at);
    return r->op == EX_LOAD ? guard_load(g, r) : r;
}

static const Expr *guard_hook(Ir *ir, const Expr *e, void *arg)
{
    (void)ir;
    return guard_expr(arg, e);
}

static const Stmt *guard_store(Guards *g, const Stmt *s)
{
    Buffer *b = s->u.store.buf;

    if (b->rank == 0)
        return s;
    if (b->scope != MEM_GLOBAL) {
        refuse_outside(g, b, s->u.store.at, s->u.store.n, 'w');
        return s;
    }
    /* A guard that a copy or a replica of a nest has need not speak of all bounds. */
    int m = facts_mark(g->facts);
    if (s->u.store.guard)
        facts_assume(g->facts, s->u.store.guard);
    const Expr *ok = region_guard(g->ir, g->facts, b, s->u.store.at);
    facts_pop(g->facts, m);
    if (g->k->func->proves)
        note_access(g, b, s->u.store.at, 'w', region_guard(g->ir, g->facts, b, s->u.store.at));
    if (!ok)
        return s;
    if (s->u.store.guard)
        ok = expr_and(g->ir, s->u.store.guard, ok);
    return stmt_store_as(g->ir, s, s->u.store.at, s->u.store.n, s->u.store.value, ok);
}

static const Stmt *guard_stmt(Guards *g, const Stmt *s);

static const Stmt *guard_body(Guards *g, const Stmt *s)
{
    int m = facts_mark(g->facts);
    if (s)
        s = guard_stmt(g, s);
    facts_pop(g->facts, m);
    return s;
}

static const Stmt *guard_atomic(Guards *g, const Stmt *s)
{
    Buffer *b = s->u.atomic.buf;
    if (b->scope != MEM_GLOBAL || b->rank == 0 || s->u.atomic.bind)
        return s;
    const Expr *ok = region_guard(g->ir, g->facts, b, s->u.atomic.at);
    note_access(g, b, s->u.atomic.at, 'a', ok);
    return ok ? stmt_if(g->ir, s->span, ok, s, NULL) : s;
}

static const Stmt *guard_loop(Guards *g, const Stmt *s)
{
    const Expr *min = guard_expr(g, s->u.loop.min), *extent = guard_expr(g, s->u.loop.extent);
    int m = facts_mark(g->facts);
    int loaded = expr_has_load(s->u.loop.min) || expr_has_load(s->u.loop.extent);
    facts_range(g->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    g->loaded += loaded;
    const Stmt *body = guard_stmt(g, s->u.loop.body);
    g->loaded -= loaded;
    facts_pop(g->facts, m);
    if (body == s->u.loop.body && min == s->u.loop.min && extent == s->u.loop.extent)
        return s;
    return stmt_for(g->ir, s->span, s->u.loop.how, s->u.loop.var, min, extent, s->u.loop.hints,
                    body);
}

static const Stmt *guard_branch(Guards *g, const Stmt *s)
{
    const Expr *cond = guard_expr(g, s->u.branch.cond);
    int m = facts_mark(g->facts), loaded = expr_has_load(s->u.branch.cond);
    g->loaded += loaded;
    facts_assume(g->facts, s->u.branch.cond);
    const Stmt *then = guard_body(g, s->u.branch.then);
    facts_pop(g->facts, m);
    if (s->kind == ST_WHILE) {
        g->loaded -= loaded;
        return stmt_while(g->ir, s->span, cond, then);
    }
    facts_assume(g->facts, expr_unary(g->ir, EX_NOT, s->u.branch.cond));
    const Stmt *orelse = guard_body(g, s->u.branch.orelse);
    g->loaded -= loaded;
    facts_pop(g->facts, m);
    return stmt_if(g->ir, s->span, cond, then, orelse);
}

static const Stmt *guard_block(Guards *g, const Stmt *s)
{
    const Stmt **list = NEWN(g->ir->arena, const Stmt *, s->u.block.n);
    bool same = true;

    for (int i = 0; i < s->u.block.n; i++) {
        list[i] = guard_stmt(g, s->u.block.list[i]);
        same &= list[i] == s->u.block.list[i];
        if (list[i]->kind == ST_LET && dtype_is_int(list[i]->u.let.var->type) &&
            !expr_has_load(list[i]->u.let.value))
            facts_assume(g->facts, expr_binary(g->ir, EX_EQ, expr_var(g->ir, list[i]->u.let.var),
                                               list[i]->u.let.value));
        if (list[i]->kind == ST_ASSERT)
            facts_assume(g->facts, list[i]->u.check.cond);
    }
    return same ? s : stmt_block(g->ir, s->span, s->u.block.n, list);
}

static const Stmt *guard_stmt(Guards *g, const Stmt *s)
{
    g->at = s;
    switch (s->kind) {
    case ST_BLOCK:
        return guard_block(g, s);
    case ST_FOR:
        return guard_loop(g, s);
    case ST_IF:
    case ST_WHILE:
        return guard_branch(g, s);
    case ST_ROLE: {
        int m = facts_mark(g->facts);
        facts_role(g->facts, s);
        const Stmt *body = guard_stmt(g, s->u.role.body);
        facts_pop(g->facts, m);
        return stmt_with_body(g->ir, s, body);
    }
    case ST_STORE:
        return guard_store(g, stmt_map_expr(g->ir, s, guard_hook, g));
    case ST_ATOMIC:
        return guard_atomic(g, stmt_map_expr(g->ir, s, guard_hook, g));
    case ST_INSTR: /* clips its own regions */
        if (g->k->func->proves)
            access_note_instr(g->k, s);
        return s;
    default:
        return stmt_map_expr(g->ir, s, guard_hook, g);
    }
}

void pass_lower_guards(Kernel *k)
{
    Guards g = {.k = k, .ir = k->ir, .facts = facts_new(k->ir), .at = k->body};

    if (config_on(k->func, CONFIG_disable_safe_memory_legalize))
        return;
    facts_kernel(g.facts, k);
    k->body = guard_stmt(&g, k->body);
}
