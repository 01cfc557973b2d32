/* check_divergence.c -- what cannot be spread over the threads that come by.
 *
 * An operator of the block under a condition is for those threads that pass it: they must follow
 * each other in whole warps, and agree about loops and branches around it.  Where a vote of each
 * warp decides, nobody knows which warps come by: they may do what each does with its own rows,
 * copies between tensor memory and fragments, and nests that write fragments.
 *
 * Where one thread does it for the others (HAS_ONE_THREAD), any of them may come by; but what it
 * does must be one thing to all of them there too. */
#include "pass/access.h"
#include "pass/thread_group.h"

static bool is_collective(const Kernel *k, const Stmt *s)
{
    bool tile = s->kind == ST_TILE && !tile_does(s, TILE_ITERATES);
    bool nest = stmt_is_nest(s);
    return (tile || nest) && !(k->uses_threads && stmt_is_private(s));
}

typedef struct {
    const Kernel *k;
    const Stmt *found;
} Find;

static bool see_collective(const Stmt *s, void *arg)
{
    Find *f = arg;
    if (!f->found && is_collective(f->k, s))
        f->found = s;
    return !f->found && !stmt_is_nest(s);
}

static const Stmt *find_collective(const Kernel *k, const Stmt *s)
{
    Find f = {k, NULL};
    if (s)
        stmt_visit(s, see_collective, &f);
    return f.found;
}

static bool can_sync(Kernel *k, ThreadGroup t)
{
    int part = kernel_part(k);
    return t.n <= 1 || (t.n % part == 0 && t.first % part == 0);
}

/* Where lanes of a warp go together, some of them must not wait for what the others do later: a
 * barrier of the part alone is safe, one that the kernel wrote may be for others, too. */
static bool see_wait(const Stmt *s, void *arg)
{
    const Stmt **found = arg;

    if (!*found && s->kind == ST_CALL && strchr(intrin_table[s->u.call.which].effects, 'B'))
        *found = s;
    return !*found;
}

static const Stmt *waits_by_hand(Kernel *k, ThreadGroup t, const Stmt *part)
{
    int warp = kernel_warp(k);
    const Stmt *found = NULL;

    if (kernel_part(k) < warp && t.n > 1 && (t.n % warp || t.first % warp))
        stmt_visit(part, see_wait, &found);
    return found;
}

static void refuse(GroupWalk *w, const Stmt *around, const Stmt *inner, const char *why)
{
    diag_error(w->k->diag, inner->span,
               "this is done by several threads together, but %s [tile-threads]", why);
    diag_note(w->k->diag, around->span, "this decides which threads come by");
}

/* A reduction over thread indices counts on a value of every thread of the block. */
static bool see_allreduce(const Stmt *s, void *arg)
{
    const Stmt **found = arg;

    if (!*found && stmt_calls(s, INTRIN_ALLREDUCE))
        *found = s;
    return !*found;
}

static const Stmt *reduces_block(Kernel *k, ThreadGroup t, bool known, const Stmt *part)
{
    const Stmt *found = NULL;

    if (!known || group_threads(k, t) < kernel_block_threads(k))
        stmt_visit(part, see_allreduce, &found);
    return found;
}

/* What some threads return from; NULL: none has so far. */
static const Stmt *returns_of(const Stmt *s)
{
    const Stmt *found = stmt_calls(s, INTRIN_RETURN) ? s : NULL;

    for (int i = 0; i < stmt_nkid(s) && !found; i++)
        found = returns_of(stmt_kid(s, i));
    return found;
}

/* A fragment's element is one thing to all threads, though several may hold it: all of them store
 * to it, and the same, or each has another. */
static void refuse_store(GroupWalk *w, const Stmt *s, const char *why)
{
    diag_error(w->k->diag, s->span, "the threads hold '%s' together, and this store %s "
               "[own-element]", buffer_root(s->u.store.buf)->name, why);
}

static bool is_held_store(const Stmt *s)
{
    return s->kind == ST_STORE && buffer_root(s->u.store.buf)->scope == MEM_FRAGMENT;
}

static bool see_held_store(const Stmt *s, void *arg)
{
    const Stmt **found = arg;

    if (!*found && is_held_store(s))
        *found = s;
    return !*found && !stmt_is_nest(s);
}

/* Of threads that are no role. */
static bool refuse_held_store(GroupWalk *w, const Stmt *part)
{
    const Stmt *found = NULL;

    if (part)
        stmt_visit(part, see_held_store, &found);
    if (found)
        refuse_store(w, found, "is done by some of them, so the others keep what was there");
    return found != NULL;
}

static void check_group(GroupWalk *w, const Stmt *s);

static void check_part(GroupWalk *w, const Stmt *s, const Stmt *part, ThreadGroup t, bool known)
{
    ThreadGroup was = w->who;
    const Stmt *inner = find_collective(w->k, part);

    if (!part)
        return;
    if (!kernel_on_warps(w->k))
        inner = NULL; /* any threads can */
    if (inner && !known) {
        refuse(w, s, inner, "which of them come by cannot be said as one range of threads");
        return;
    }
    if (inner && !can_sync(w->k, t)) {
        refuse(w, s, inner,
               arena_printf(w->k->arena, "threads %d to %d are not whole warps", t.first,
                            t.first + t.n - 1));
        return;
    }
    const Stmt *reduces = reduces_block(w->k, t, known, part);
    if (reduces) {
        refuse(w, s, reduces, "not all of the block's come by");
        return;
    }
    const Stmt *waits = inner ? waits_by_hand(w->k, t, part) : NULL;
    if (waits) {
        refuse(w, s, waits,
               arena_printf(w->k->arena, "threads %d to %d are not whole warps, and lanes of a "
                            "warp of %s that wait keep the others from going on", t.first,
                            t.first + t.n - 1, w->k->machine->name));
        return;
    }
    bool role = known && (!kernel_on_warps(w->k) || can_sync(w->k, t));
    if (!role && refuse_held_store(w, part))
        return;
    w->who = known ? t : was;
    check_group(w, part);
    w->who = was;
    if (!w->arg && s->kind == ST_IF)
        w->arg = (void *)returns_of(part);
}

static bool is_of_many_warps(const Stmt *s, void *kernel)
{
    const Region *r = s->kind == ST_TILE ? s->u.tile.region : NULL;
    const Buffer *to = stmt_stores(s);

    (void)kernel;
    if (tile_does(s, TILE_COPIES))
        return !(r[0].buf->scope == MEM_TMEM && r[1].buf->scope == MEM_FRAGMENT) &&
               !(r[0].buf->scope == MEM_FRAGMENT && r[1].buf->scope == MEM_TMEM);
    return s->kind == ST_TILE || s->kind == ST_ATOMIC ||
           (to && to->scope != MEM_FRAGMENT && to->scope != MEM_LOCAL && to->scope != MEM_VAR);
}

/* lower_thread_groups puts them in the order of their threads. */
static bool check_arms(GroupWalk *w, const Stmt *s)
{
    GroupArm arm[ARMS_MOST];
    int n = group_arms(w, s, arm);

    for (int i = 0; i < n; i++)
        check_part(w, arm[i].branch, arm[i].branch->u.branch.then, arm[i].threads, true);
    return n > 0;
}

static void check_around(GroupWalk *w, const Stmt *s)
{
    ThreadGroup then, orelse;
    bool known[2];
    bool varies = vary_head(group_vary(w), s) ||
                  (s->kind != ST_IF && vary_leaves(group_vary(w), s));

    if (s->kind == ST_IF && varies) {
        group_of_branch(w, s->u.branch.cond, &then, &orelse, known);
        if (!known[0] && !s->u.branch.orelse && group_votes(w, s->u.branch.cond) &&
            !stmt_any(s->u.branch.then, is_of_many_warps, w->k)) {
            check_group(w, s->u.branch.then);
            return;
        }
        check_part(w, s, s->u.branch.then, then, known[0]);
        if (!known[1] && find_collective(w->k, s->u.branch.orelse) && check_arms(w, s))
            return;
        check_part(w, s, s->u.branch.orelse, orelse, known[1]);
        return;
    }
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : s->u.branch.then;
    const Stmt *inner = varies && w->who.n != 1 ? find_collective(w->k, body) : NULL;
    if (inner && kernel_on_warps(w->k)) {
        refuse(w, s, inner, "each of them runs this loop its own number of times");
        return;
    }
    if (varies && w->who.n != 1 && refuse_held_store(w, body))
        return;
    check_group(w, body);
    if (s->kind == ST_IF && s->u.branch.orelse)
        check_group(w, s->u.branch.orelse);
}

typedef struct {
    GroupWalk *w;
    Vary *v;
    bool yes;
} Differs;

/* Indices that are the same for those who come by (`tx // 32` under `tx < 32`) are one thing;
 * lower_sugar puts their values there. */
static bool differs(Differs *d, const Expr *e)
{
    bool own = e->op == EX_VAR || e->op == EX_EXTERN ||
               (e->op == EX_LOAD && map_has(&d->v->bufs, buffer_root(e->u.buf)));

    if (!vary_expr(d->v, e))
        return false;
    if (group_agrees(d->w, e))
        return false;
    for (int i = 0; i < e->nkid && !own; i++)
        own = differs(d, e->kid[i]);
    return own;
}

static bool see_difference(const Expr *e, void *arg)
{
    Differs *d = arg;
    d->yes = d->yes || differs(d, e);
    return false;
}

/* What is bound inside is of an iteration, not of a thread; what it comes from is seen there. */
static bool see_own(const Stmt *s, void *arg)
{
    const Var *v = s->kind == ST_ATOMIC ? s->u.atomic.bind
                   : s->kind == ST_CALL ? s->u.call.bind
                   : s->kind == ST_LET  ? s->u.let.var
                                        : NULL;
    const Buffer *b = s->kind == ST_STORE ? buffer_root(s->u.store.buf) : NULL;
    if (v)
        map_set(arg, v, (void *)v);
    if (b && (b->scope == MEM_LOCAL || b->scope == MEM_VAR))
        map_set(arg, b, (void *)b);
    return true;
}

/* The keys of `all` but for those in `own`. */
static Map others(Ir *ir, const Map *all, const Map *own)
{
    Map m;
    map_init(&m, ir->arena);
    for (int i = 0; i < all->n; i++)
        if (all->at[i].key && !map_has(own, all->at[i].key))
            map_set(&m, all->at[i].key, (void *)all);
    return m;
}

static bool see_different(const Stmt *s, void *arg)
{
    stmt_visit_expr(s, see_difference, arg);
    return true;
}

/* What threads do together must be one thing to all of them. */
static void check_collective(GroupWalk *w, const Stmt *s)
{
    Map own;

    if (w->who.n == 1 || !is_collective(w->k, s))
        return;
    if (w->arg && kernel_on_warps(w->k)) {
        refuse(w, w->arg, s, "some of them have returned before");
        return;
    }
    Vary inside = *group_vary(w);
    Differs d = {w, &inside, false};
    map_init(&own, w->k->ir->arena);
    stmt_visit(s, see_own, &own);
    inside.vars = others(w->k->ir, &inside.vars, &own);
    if (s->kind == ST_FOR) {
        inside.bufs = others(w->k->ir, &inside.bufs, &own);
        inside.in_nest = true;
    }
    stmt_visit(s, see_different, &d);
    if (d.yes)
        diag_error(w->k->diag, s->span,
                   "this is done by several threads together, but means another thing to each of "
                   "them: it uses a value that differs from thread to thread [tile-threads]");
}

static void check_store(GroupWalk *w, const Stmt *s)
{
    Differs d = {w, group_vary(w), false};

    if (!is_held_store(s) || w->who.n == 1)
        return;
    stmt_visit_expr(s, see_difference, &d);
    if (d.yes)
        refuse_store(w, s, "differs from thread to thread");
}

static void check_group(GroupWalk *w, const Stmt *s)
{
    ThreadGroup t;

    group_see_let(w, s);
    switch (s->kind) {
    case ST_BLOCK:
        for (int i = 0; i < s->u.block.n; i++)
            check_group(w, s->u.block.list[i]);
        break;
    case ST_FOR:
        if (s->u.loop.how != LOOP_PARALLEL)
            check_around(w, s);
        else
            check_collective(w, s);
        break;
    case ST_WHILE:
    case ST_IF:
        check_around(w, s);
        break;
    case ST_TILE: check_collective(w, s); break;
    case ST_STORE: check_store(w, s); break;
    case ST_ROLE: {
        bool follow = group_of_role(w->k, s, &t);
        check_part(w, s, s->u.role.body, s->u.role.nthread ? t : w->who, follow);
        break;
    }
    default: break;
    }
}

void pass_check_divergence(Kernel *k)
{
    GroupWalk w = {0};

    if (k->func->proves)
        loops_note(k);
    if (kernel_block_threads(k) == 1)
        return;
    group_walk_init(&w, k);
    check_group(&w, k->body);
    if (kernel_on_warps(k))
        group_check_fragments(k);
}
