/* vary.c -- which values of a kernel may differ from thread to thread of a block. */
#include "ir/ir.h"
#include "ir/tile.h"

static bool is_own(const Buffer *b)
{
    return b->scope == MEM_LOCAL || b->scope == MEM_VAR;
}

static bool see_varying(const Expr *e, void *arg)
{
    Vary *v = arg;

    if (e->op == EX_VAR)
        v->found |= map_has(&v->vars, e->u.var);
    if (e->op == EX_LOAD)
        v->found |= map_has(&v->bufs, buffer_root(e->u.buf)) ||
                    (v->spread && v->spread(v->k, e->u.buf));
    v->found |= e->op == EX_EXTERN && !v->in_nest;
    return !v->found;
}

bool vary_expr(Vary *v, const Expr *e)
{
    v->found = false;
    if (e)
        expr_visit(e, see_varying, v);
    return v->found;
}

bool vary_store(Vary *v, const Stmt *s)
{
    bool differs = vary_expr(v, s->u.store.value) || vary_expr(v, s->u.store.guard);
    for (int d = 0; d < s->u.store.n; d++)
        differs = differs || vary_expr(v, s->u.store.at[d]);
    return differs;
}

bool vary_head(Vary *v, const Stmt *s)
{
    return s->kind == ST_FOR ? vary_expr(v, s->u.loop.min) || vary_expr(v, s->u.loop.extent)
                             : vary_expr(v, s->u.branch.cond);
}

/* For threads that come to a side of a branch: 1 all of them do, 0 some, -1 none. */
static int goes(Vary *v, const Stmt *branch, bool side)
{
    if (!vary_head(v, branch))
        return 1;
    return v->branch && branch->kind == ST_IF ? v->branch(v, branch->u.branch.cond, side) : 0;
}

/* under: some threads come here without the others. */
static bool leaves(Vary *v, const Stmt *s, bool under)
{
    if (!s || s->kind == ST_FOR || s->kind == ST_WHILE)
        return false;
    if (s->kind == ST_BREAK || s->kind == ST_CONTINUE)
        return under;
    if (s->kind == ST_IF) {
        int then = goes(v, s, true), orelse = goes(v, s, false);
        return (then >= 0 && leaves(v, s->u.branch.then, under || then == 0)) ||
               (orelse >= 0 && leaves(v, s->u.branch.orelse, under || orelse == 0));
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        if (leaves(v, stmt_kid(s, i), under))
            return true;
    return false;
}

bool vary_leaves(Vary *v, const Stmt *loop)
{
    return leaves(v, loop->kind == ST_FOR ? loop->u.loop.body : loop->u.branch.then, false);
}

static void mark_own(Vary *v, const Region *r, int n)
{
    for (int i = 0; i < n; i++)
        if (is_own(buffer_root(r[i].buf)))
            map_set(&v->bufs, buffer_root(r[i].buf), v);
}

/* A tile operator gives all threads the same where its operands are the same for all. */
static bool tile_varies(Vary *v, const Stmt *s)
{
    for (int i = 0; i < s->u.tile.narg; i++)
        if (vary_expr(v, s->u.tile.arg[i]))
            return true;
    for (int i = 0; i < s->u.tile.nregion; i++) {
        const Region *r = &s->u.tile.region[i];
        const Buffer *b = buffer_root(r->buf);
        if ((b->scope == MEM_FRAGMENT && !(s->u.tile.op->traits & TILE_FOR_ALL)) ||
            map_has(&v->bufs, b))
            return true;
        for (int d = 0; d < r->buf->rank; d++)
            if (vary_expr(v, r->at[d]) || vary_expr(v, r->extent[d]))
                return true;
    }
    return false;
}

static bool is_same_for_all(Intrin i)
{
    return i == INTRIN_BLOCK_RANK || i == INTRIN_SYNC_COUNT || i == INTRIN_SYNC_AND ||
           i == INTRIN_SYNC_OR;
}

static void learn(Vary *v, const Stmt *s, bool astray);

static void learn_let(Vary *v, const Stmt *s)
{
    if (!vary_expr(v, s->u.let.value))
        return;
    map_set(&v->vars, s->u.let.var, v);
    if (v->branch && !expr_has_load(s->u.let.value))
        map_set(&v->lets, s->u.let.var,
                expr_subst_map(v->k->ir, s->u.let.value, &v->lets, NULL));
}

static void learn_branch(Vary *v, const Stmt *s, bool astray)
{
    const Stmt *side[2] = {s->u.branch.orelse, s->u.branch.then};
    bool varies = vary_head(v, s);

    astray |= s->kind == ST_WHILE && vary_leaves(v, s);
    for (int i = 1; i >= 0; i--) {
        int who = varies && v->branch && s->kind == ST_IF ? v->branch(v, s->u.branch.cond, i) : 0;
        if (who >= 0)
            learn(v, side[i], astray || (varies && who == 0));
    }
}

static bool is_others(const Vary *v, const Stmt *role)
{
    ThreadGroup t;
    if (!v->branch || !v->group.n || !group_of_role(v->k, role, &t) || !t.n)
        return false;
    return t.first + t.n <= v->group.first || v->group.first + v->group.n <= t.first;
}

/* A random number of an iteration of a nest: like the iteration, it is some thread's. */
static bool is_drawn(const Vary *v, const Stmt *call)
{
    return v->in_nest && (call->u.call.which == INTRIN_RNG_RAND ||
                          call->u.call.which == INTRIN_RNG_FLOAT);
}

static void learn_nest(Vary *v, const Stmt *s, bool astray)
{
    bool was = v->in_nest;
    v->in_nest = true;
    learn(v, s->u.loop.body, astray);
    v->in_nest = was;
}

/* All differs that differs in the block. */
static bool is_full(const Vary *v)
{
    return v->all && v->bufs.n == v->all->bufs.n;
}

/* astray: not all threads come by. */
static void learn(Vary *v, const Stmt *s, bool astray)
{
    if (!s || is_full(v))
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            learn(v, s->u.block.list[i], astray);
        break;
    case ST_LET: learn_let(v, s); break;
    case ST_STORE:
        if (is_own(buffer_root(s->u.store.buf)) && !buffer_root(s->u.store.buf)->for_all &&
            (astray || v->in_nest || vary_store(v, s)))
            map_set(&v->bufs, buffer_root(s->u.store.buf), v);
        break;
    case ST_FOR:
        if (vary_head(v, s)) {
            map_set(&v->vars, s->u.loop.var, v);
            astray = true;
        }
        astray |= vary_leaves(v, s);
        if (s->u.loop.how == LOOP_PARALLEL)
            learn_nest(v, s, astray);
        else
            learn(v, s->u.loop.body, astray);
        break;
    case ST_WHILE:
    case ST_IF: learn_branch(v, s, astray); break;
    case ST_ROLE:
        if (!is_others(v, s))
            learn(v, s->u.role.body, astray);
        break;
    case ST_TILE:
        if (astray || tile_varies(v, s))
            mark_own(v, s->u.tile.region, s->u.tile.nregion);
        break;
    case ST_INSTR: mark_own(v, s->u.instr.region, s->u.instr.nregion); break;
    case ST_CALL:
        mark_own(v, s->u.call.region, s->u.call.nregion);
        if (s->u.call.bind && !is_same_for_all(s->u.call.which) && !is_drawn(v, s))
            map_set(&v->vars, s->u.call.bind, v);
        break;
    case ST_ATOMIC:
        if (s->u.atomic.bind)
            map_set(&v->vars, s->u.atomic.bind, v);
        break;
    default: break;
    }
}

void vary_learn_again(Vary *v)
{
    int before;

    do {
        before = v->vars.n + v->bufs.n;
        learn(v, v->k->body, false);
    } while (v->vars.n + v->bufs.n != before);
}

static void open(Vary *v, Kernel *k, VarySpreadFn *spread)
{
    *v = (Vary){.k = k, .spread = spread};
    map_init(&v->vars, k->ir->arena);
    map_init(&v->bufs, k->ir->arena);
    map_init(&v->lets, k->ir->arena);
    for (int d = 0; d < 3; d++)
        if (k->thread[d])
            map_set(&v->vars, k->thread[d], v);
}

void vary_learn(Vary *v, Kernel *k, VarySpreadFn *spread)
{
    open(v, k, spread);
    vary_learn_again(v);
}

/* Whose branches a group takes shows in what its threads keep for themselves; names follow from
 * that, and those of branches that it does not take it never asks for. */
void vary_learn_group(Vary *v, const Vary *all, ThreadGroup group, VaryBranchFn *branch)
{
    open(v, all->k, all->spread);
    v->all = all;
    v->group = group;
    v->branch = branch;
    if (!is_full(v))
        vary_learn_again(v);
    if (is_full(v)) {
        v->vars = all->vars;
        v->bufs = all->bufs;
    }
}
