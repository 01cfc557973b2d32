/* lower_counts.c -- waits for groups of copies become waits for copies, where machines count so.
 *
 * needs   FORM_WIDTHS       after opt_vectorize: a store is an instruction by now
 *
 * Groups are closed by nothing from here on.
 *
 * The machine ends copies in the order of their issue and waits until at most so many of them are
 * in flight (vmcnt).  That at most n groups may be open says that all copies of those and of the
 * open group may be in flight still; how many that are is counted along every path, and the least
 * of it is taken: to wait for more than was asked is no mistake.
 *
 *   lanes         one such copy puts what the lanes of a warp bring side by side: one whose lanes
 *                 go elsewhere, or that converts, is a store like any other, and so is one of
 *                 threads that begin inside of a warp: its first lane has no place
 *   conditions    what is not issued is not counted.  Copies of a pipeline under a condition that
 *                 all threads agree on (its last iterations have nothing left to copy) are issued
 *                 all the same, and bring zeros to a stage that nobody reads any more; the loop
 *                 around ends with a wait for them */
#include "pass/async_copy.h"
#include "pass/pass.h"
#include "pass/thread_group.h"

enum { GROUPS_MOST = AHEAD_MOST + 2 };

typedef struct {
    Kernel *k;
    Ir *ir;
    Facts *facts;
    Map own;   /* variables that threads may have different values of */
    bool idle; /* copies that bring zeros were made of the statement at hand */
    GroupWalk group; /* who comes by it */
} Straight;

/* ---- which stores are such copies ------------------------------------------------------------ */

static const Expr *first_of(const Expr *at)
{
    int64_t step;
    return at->lanes == 1 ? at
           : at->op == EX_RAMP && expr_is_int(at->kid[1], &step) && step == 1 ? at->kid[0] : NULL;
}

static const Expr *same_of(const Expr *x)
{
    return x->lanes == 1 ? x : x->op == EX_BROADCAST ? x->kid[0] : NULL;
}

/* Do the lanes of a warp follow each other, `each` elements apart? */
static bool lanes_follow(Straight *c, const Expr *at, int64_t each)
{
    Ir *ir = c->ir;
    Kernel *k = c->k;
    int lanes = k->machine->lanes;

    if (!k->thread[0] || k->threads[0] % lanes || c->group.who.first % lanes)
        return false;
    Var *warp = var_new(ir, "w", DT_I32, NO_SPAN), *lane = var_new(ir, "l", DT_I32, NO_SPAN);
    facts_range(c->facts, warp, expr_int(ir, 0), expr_int(ir, k->threads[0] / lanes));
    facts_range(c->facts, lane, expr_int(ir, 0), expr_int(ir, lanes));
    const Expr *l = expr_var(ir, lane);
    const Expr *first = expr_mul(ir, expr_var(ir, warp), expr_int(ir, lanes));
    const Expr *mine = expr_cast(ir, (DType)k->thread[0]->type, expr_add(ir, first, l));
    const Expr *own = expr_subst(ir, at, k->thread[0], mine);
    const Expr *base = expr_subst(ir, at, k->thread[0],
                                  expr_cast(ir, (DType)k->thread[0]->type, first));
    const Expr *step = expr_cast(ir, (DType)at->type, expr_mul(ir, l, expr_int(ir, each)));
    return expr_is_zero(simplify(ir, c->facts, expr_sub(ir, expr_sub(ir, own, base), step)));
}

static bool is_zero(const Expr *x)
{
    x = same_of(x);
    return x && (x->op == EX_FLOAT ? x->u.f == 0 : expr_is_zero(x));
}

static bool is_straight(Straight *c, const Stmt *s)
{
    const Buffer *b = s->u.store.buf;
    const Expr *x = s->u.store.value, *at = first_of(s->u.store.at[0]);
    int bytes = dtype_bits(b->type) * x->lanes / 8, most = c->k->machine->copy_bytes;

    if (x->op != EX_LOAD || dtype_bits(b->type) < 8 || x->u.buf->type != b->type ||
        buffer_root(x->u.buf)->scope != MEM_GLOBAL || s->u.store.guard || !at || at->lanes != 1 ||
        !first_of(x->kid[0]) || (bytes != 4 && bytes != most))
        return false;
    if (x->guarded && (!same_of(x->kid[1]) || !is_zero(x->kid[2])))
        return false;
    return lanes_follow(c, at, x->lanes);
}

/* ---- what threads may not agree on: from above, since values are vectors by now -------------- */

typedef struct {
    const Map *own;
    bool yes;
} Differs;

static bool see_own(const Expr *x, void *arg)
{
    Differs *d = arg;

    d->yes |= x->op == EX_LOAD || (x->op == EX_VAR && map_has(d->own, x->u.var));
    return !d->yes;
}

static bool differs(const Straight *c, const Expr *x)
{
    Differs d = {&c->own, false};

    expr_visit(x, see_own, &d);
    return d.yes;
}

static bool see_names(const Stmt *s, void *arg)
{
    Straight *c = arg;
    const Var *v = s->kind == ST_LET && differs(c, s->u.let.value) ? s->u.let.var
                   : s->kind == ST_CALL                             ? s->u.call.bind
                   : s->kind == ST_ATOMIC                           ? s->u.atomic.bind
                   : s->kind == ST_FOR && (differs(c, s->u.loop.min) ||
                                           differs(c, s->u.loop.extent)) ? s->u.loop.var
                                                                         : NULL;
    if (v)
        map_set(&c->own, v, c);
    return true;
}

static void find_own(Straight *c)
{
    map_init(&c->own, c->k->scratch);
    for (int d = 0; d < 3; d++)
        if (c->k->thread[d])
            map_set(&c->own, c->k->thread[d], c);
    stmt_visit(c->k->body, see_names, c);
}

/* ---- copies under a condition ---------------------------------------------------------------- */

static bool only_copies(Straight *c, const Stmt *s)
{
    if (!s)
        return false;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            if (!only_copies(c, s->u.block.list[i]))
                return false;
        return s->u.block.n > 0;
    case ST_FOR: return only_copies(c, s->u.loop.body);
    case ST_STORE:
        return s->u.store.async && buffer_plan(c->k, buffer_root(s->u.store.buf))->stages > 1 &&
               is_straight(c, s);
    default: return false;
    }
}

typedef struct { const Expr *cond; } Under;

static const Stmt *bring_zeros(Ir *ir, const Stmt *s, void *arg)
{
    const Under *u = arg;

    if (s->kind != ST_STORE)
        return s;
    const Expr *x = s->u.store.value, *cond = u->cond, *zero = expr_zero(ir, (DType)x->type);
    if (x->guarded)
        cond = expr_and(ir, cond, same_of(x->kid[1]));
    cond = expr_broadcast(ir, cond, x->lanes);
    zero = x->guarded ? x->kid[2] : expr_broadcast(ir, zero, x->lanes);
    x = expr_load_guarded(ir, x->u.buf, x->kid, 1, cond, zero);
    return stmt_store_async(ir, stmt_store(ir, s->span, s->u.store.buf, s->u.store.at, 1, x),
                            (Async)s->u.store.async);
}

static const Stmt *straighten(Straight *c, const Stmt *s);

static bool waits(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_waits(s, QUEUE_COPIES);
}

/* It may not run at all: then what was issued ahead of it is in flight behind it. */
static const Stmt *straighten_loop(Straight *c, const Stmt *s, const Stmt *body)
{
    bool outer = c->idle, ahead = outer && stmt_any(body, waits, NULL);

    c->idle = false;
    s = stmt_with_body(c->ir, s, straighten(c, body));
    if (c->idle || ahead)
        s = stmt_seq(c->ir, s, stmt_wait(c->ir, s->span, QUEUE_COPIES, 0, 0, NULL));
    c->idle = outer;
    return s;
}

static const Stmt *straighten_if(Straight *c, const Stmt *s)
{
    Under u = {s->u.branch.cond};

    if (!s->u.branch.orelse && !differs(c, u.cond) && only_copies(c, s->u.branch.then)) {
        c->idle = true;
        return stmt_map(c->ir, s->u.branch.then, bring_zeros, &u);
    }
    ThreadGroup was = c->group.who, then = was, orelse = was;
    bool known[2];
    if (differs(c, u.cond))
        group_of_branch(&c->group, u.cond, &then, &orelse, known);
    c->group.who = then;
    const Stmt *first = straighten(c, s->u.branch.then);
    c->group.who = orelse;
    const Stmt *second = straighten(c, s->u.branch.orelse);
    c->group.who = was;
    return stmt_if(c->ir, s->span, s->u.branch.cond, first, second);
}

static const Stmt *straighten(Straight *c, const Stmt *s)
{
    const Stmt *all = NULL;

    if (!s)
        return NULL;
    group_see_let(&c->group, s);
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            all = stmt_seq(c->ir, all, straighten(c, s->u.block.list[i]));
        return all ? all : s;
    case ST_FOR: return straighten_loop(c, s, s->u.loop.body);
    case ST_WHILE: return straighten_loop(c, s, s->u.branch.then);
    case ST_ROLE: return stmt_with_body(c->ir, s, straighten(c, s->u.role.body));
    case ST_IF: return straighten_if(c, s);
    case ST_STORE:
        return s->u.store.async && !is_straight(c, s) ? stmt_store_async(c->ir, s, ASYNC_NO) : s;
    default: return s;
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Copies issued since the last commit, then of each group before. */
typedef struct { int of[GROUPS_MOST]; } Issued;

typedef struct {
    Map most;   /* of a wait: copies that may be in flight, and 1 */
    bool jumps; /* paths that are not followed */
} Counts;

static void take_least(Issued *a, const Issued *b)
{
    for (int i = 0; i < GROUPS_MOST; i++)
        a->of[i] = MIN(a->of[i], b->of[i]);
}

static void walk(Counts *c, const Stmt *s, Issued *at);

static void see_call(Counts *c, const Stmt *s, Issued *at)
{
    int64_t open = 0, most = 0;

    if (stmt_commits(s, QUEUE_COPIES)) {
        memmove(at->of + 1, at->of, sizeof at->of - sizeof at->of[0]);
        at->of[0] = 0;
    }
    if (!stmt_waits(s, QUEUE_COPIES))
        return;
    bool known = expr_is_int(s->u.call.arg[0], &open) && open < GROUPS_MOST;
    for (int i = 0; known && i <= open; i++)
        most += at->of[i];
    intptr_t old = (intptr_t)map_get(&c->most, s);
    map_set(&c->most, s, (void *)(old ? MIN(old, (intptr_t)most + 1) : (intptr_t)most + 1));
}

/* A loop that only issues does so as often as it runs, and a short one is followed to its end;
 * around others that close groups, what an iteration may begin with is the least that it and those
 * before left. */
static void walk_loop(Counts *c, const Stmt *s, const Stmt *body, Issued *at)
{
    int64_t extent = 0;
    bool known = s->kind == ST_FOR && expr_is_int(s->u.loop.extent, &extent);
    Issued before = *at, once = *at;

    walk(c, body, &once);
    if (!memcmp(once.of + 1, at->of + 1, sizeof at->of - sizeof at->of[0]) &&
        once.of[0] >= at->of[0]) {
        at->of[0] += known ? (int)MIN(extent * (once.of[0] - at->of[0]), 1 << 16) : 0;
        return;
    }
    if (known && extent > 0 && extent <= AHEAD_MOST) {
        for (int64_t i = 0; i < extent; i++)
            walk(c, body, at);
        return;
    }
    for (bool same = false; !same;) {
        Issued first = *at;
        once = *at;
        walk(c, body, &once);
        take_least(at, &once);
        same = !memcmp(&first, at, sizeof first);
    }
    *at = once;
    if (!known || extent < 1)
        take_least(at, &before);
}

static void walk(Counts *c, const Stmt *s, Issued *at)
{
    Issued other = *at;

    if (!s)
        return;
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            walk(c, s->u.block.list[i], at);
        break;
    case ST_IF:
        walk(c, s->u.branch.then, at);
        walk(c, s->u.branch.orelse, &other);
        take_least(at, &other);
        break;
    case ST_ROLE:
        walk(c, s->u.role.body, at);
        take_least(at, &other);
        break;
    case ST_FOR: walk_loop(c, s, s->u.loop.body, at); break;
    case ST_WHILE: walk_loop(c, s, s->u.branch.then, at); break;
    case ST_STORE: at->of[0] += s->u.store.async != ASYNC_NO; break;
    case ST_CALL: see_call(c, s, at); break;
    case ST_BREAK:
    case ST_CONTINUE: c->jumps = true; break;
    default: break;
    }
}

static const Stmt *count(Ir *ir, const Stmt *s, void *arg)
{
    const Counts *c = arg;
    const Expr *most = expr_int(ir, 0);

    if (stmt_commits(s, QUEUE_COPIES))
        return NULL;
    bool arrives = s->kind == ST_CALL && s->u.call.which == INTRIN_ARRIVE_COPIES;
    if (!arrives && !stmt_waits(s, QUEUE_COPIES))
        return s;
    if (!arrives && !c->jumps)
        most = expr_int(ir, (intptr_t)map_get(&c->most, s) - 1);
    const Stmt *wait =
        stmt_call(ir, s->span, INTRIN_WAIT_ISSUED, 1, &most, 0, NULL, NULL, NULL);
    return arrives ? stmt_seq(ir, wait, s) : wait;
}

void pass_lower_counts(Kernel *k)
{
    Straight straight = {.k = k, .ir = k->ir, .facts = kernel_facts(k)};
    Counts c = {0};
    Issued none = {{0}};

    group_walk_init(&straight.group, k);
    find_own(&straight);
    k->body = straighten(&straight, k->body);
    map_init(&c.most, k->scratch);
    walk(&c, k->body, &none);
    k->body = stmt_map(k->ir, k->body, count, &c);
}
