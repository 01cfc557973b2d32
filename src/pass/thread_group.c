/* thread_group.c -- which threads run a statement: roles, and conditions on the thread.
 *
 * A tile operator or a T.Parallel nest is spread over its thread group: the threads of the role
 * around it (T.ws), or those for which a condition such as `tx < 64` holds.  Passes walk the body
 * by group_map and group_visit, which say who comes by; group_threads and thread_index count them.
 * A fragment lives in the registers of the thread group that uses it: where the block as a whole
 * also touches it, that is done by the thread group alone. */
#include "pass/thread_group.h"
#include <stdlib.h>

/* ---- what differs from thread to thread ------------------------------------------------------ */

/* A fragment that all threads hold whole is the same everywhere. */
static bool is_spread(Kernel *k, const Buffer *b)
{
    bool held = b->scope == MEM_FRAGMENT && k->form & FORM_LAYOUTS;
    const Layout *l = held ? buffer_plan(k, b)->layout : NULL;
    return l && layout_is_fragment(l) && l->rep != l->nthread;
}

/* ---- thread groups of branches --------------------------------------------------------------- */

static bool is_other(const Expr *e, void *kernel)
{
    const Kernel *k = kernel;
    bool own = false;

    for (int d = 0; d < 3 && e->op == EX_VAR; d++)
        own |= e->u.var == k->thread[d];
    return e->op == EX_LOAD || e->op == EX_EXTERN || e->op == EX_MATH || e->op == EX_ADDR ||
           (e->op == EX_VAR && !own) || dtype_is_float(e->type);
}

bool is_of_thread(const Kernel *k, const Expr *e)
{
    return !expr_any(e, is_other, k);
}

static int group_size(const Kernel *k, ThreadGroup t)
{
    return t.n ? t.n : kernel_launch_threads(k);
}

int thread_vars(const Kernel *k, Var *vars[3])
{
    int n = 0;

    for (int d = 0; d < 3; d++)
        if (k->thread[d])
            vars[n++] = k->thread[d];
    return n;
}

void thread_point(const Kernel *k, int t, int64_t at[3])
{
    int i = 0;

    for (int d = 0; d < 3; d++) {
        int extent = MAX(k->threads[d], 1);
        bool top = d == 2 || (d == 0 && k->threads[1] * k->threads[2] == 1);
        if (k->thread[d])
            at[i++] = top ? t : t % extent;
        t = top ? 0 : t / extent;
    }
}

/* Of a condition: how many threads before each it holds for.  A kernel asks for the same ones again
 * and again, for other groups. */
typedef struct {
    int threads[3], n;
    int *before; /* [n + 1] */
} Truths;

static const Truths *truths_of(Kernel *k, const Expr *cond)
{
    int n = kernel_launch_threads(k);
    Truths *t = k->truths.arena ? map_get(&k->truths, cond) : NULL;
    Var *vars[3];
    int64_t at[3], truth;

    if (t && t->n == n && !memcmp(t->threads, k->threads, sizeof t->threads))
        return t;
    if (!k->truths.arena)
        map_init(&k->truths, k->ir->arena);
    t = NEW(k->ir->arena, Truths);
    *t = (Truths){.n = n, .before = NEWN(k->ir->arena, int, n + 1)};
    memcpy(t->threads, k->threads, sizeof t->threads);
    const ExprCode *code = expr_compile(k->ir, vars, thread_vars(k, vars), &cond, 1);
    for (int i = 0; i < n; i++) {
        thread_point(k, i, at);
        expr_run(code, at, &truth);
        t->before[i + 1] = t->before[i] + (truth != 0);
    }
    map_set(&k->truths, cond, t);
    return t;
}

static int before(const Truths *t, bool sense, int i)
{
    return sense ? t->before[i] : i - t->before[i];
}

/* The last thread before which fewer than `count` are. */
static int nth(const Truths *t, bool sense, int count)
{
    int low = 0, high = t->n;

    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (before(t, sense, mid) < count)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* How many threads of `within` cond is `sense` for; where asked, the first and the last of them. */
static int count_where(Kernel *k, const Expr *cond, bool sense, ThreadGroup within, int *first,
                       int *last)
{
    const Truths *t = truths_of(k, cond);
    int from = before(t, sense, within.first);
    int to = before(t, sense, MIN(within.first + group_size(k, within), t->n));

    if (to > from && first) {
        *first = nth(t, sense, from + 1);
        *last = nth(t, sense, to);
    }
    return to - from;
}

/* The threads of `within` for which cond is `sense`; false if they do not follow each other. */
static bool threads_where(Kernel *k, const Expr *cond, bool sense, ThreadGroup within,
                          ThreadGroup *out)
{
    int first = -1, last = -1, count = count_where(k, cond, sense, within, &first, &last);

    if (count == 0)
        *out = within; /* nobody: any thread group will do */
    else if (first == 0 && count >= kernel_block_threads(k))
        *out = (ThreadGroup){0, 0};
    else
        *out = (ThreadGroup){first, count};
    return count == 0 || last - first + 1 == count;
}

/* For a thread group: do all, none or some of it come to a side of a branch?  The parts of the
 * condition that are the same for all of them are left out. */
static int whole_group_goes(Vary *v, const Expr *cond, bool side)
{
    int all = group_size(v->k, v->group);

    if (cond->op == EX_AND) {
        int a = whole_group_goes(v, cond->kid[0], side), b = whole_group_goes(v, cond->kid[1],
                                                                              side);
        if (side)
            return a < 0 || b < 0 ? -1 : MIN(a, b);
        return a < 0 ? b : b < 0 ? a : MIN(a, b);
    }
    if (!vary_expr(v, cond))
        return 1;
    cond = expr_subst_map(v->k->ir, cond, &v->lets, NULL);
    if (!is_of_thread(v->k, cond))
        return 0;
    int n = count_where(v->k, cond, side, v->group, NULL, NULL);
    return n == 0 ? -1 : n == all;
}

static const Vary *vary_of_block(GroupWalk *w)
{
    ThreadGroup who = w->who;

    w->who = (ThreadGroup){0, 0};
    const Vary *v = group_vary(w);
    w->who = who;
    return v;
}

Vary *group_vary(GroupWalk *w)
{
    Kernel *k = w->k;

    for (GroupVary *t = w->vary; t; t = t->next)
        if (t->v.group.first == w->who.first && t->v.group.n == w->who.n)
            return &t->v;
    GroupVary *t = NEW(k->ir->arena, GroupVary);
    if (w->who.n)
        vary_learn_group(&t->v, vary_of_block(w), w->who, whole_group_goes);
    else
        vary_learn(&t->v, k, is_spread);
    t->next = w->vary;
    w->vary = t;
    return &t->v;
}

/* Made of thread indices alone, and the same for all that come by: its value. */
static bool group_value(GroupWalk *w, const Expr *e, int64_t *value)
{
    Kernel *k = w->k;
    const Expr *own = expr_subst_map(k->ir, e, &w->lets, NULL);
    int64_t at[3], v;
    Var *vars[3];

    if (own->lanes > 1 || !is_of_thread(k, own))
        return false;
    const ExprCode *code = expr_compile(k->ir, vars, thread_vars(k, vars), &own, 1);
    for (int i = 0; i < group_size(k, w->who); i++) {
        thread_point(k, w->who.first + i, at);
        expr_run(code, at, &v);
        if (i == 0)
            *value = v;
        else if (v != *value)
            return false;
    }
    return true;
}

bool group_agrees(GroupWalk *w, const Expr *e)
{
    int64_t v;
    return group_value(w, e, &v);
}

static const Expr *fold_agreed(Ir *ir, const Expr *e, void *walk)
{
    GroupWalk *w = walk;
    const Expr *kid[RANK_MOST + 1];
    int64_t v;

    if (e->op == EX_INT || !vary_expr(group_vary(w), e))
        return e;
    if (group_value(w, e, &v))
        return expr_const(ir, (DType)e->type, v);
    if (e->nkid == 0 || e->nkid > COUNT(kid))
        return e;
    for (int i = 0; i < e->nkid; i++)
        kid[i] = fold_agreed(ir, e->kid[i], walk);
    return expr_with_kids(ir, e, kid);
}

const Expr *group_fold_expr(GroupWalk *w, const Expr *e)
{
    return fold_agreed(w->k->ir, e, w);
}

static const Stmt *fold_leaf(Ir *ir, ThreadGroup who, const Stmt *s, void *walk)
{
    GroupWalk *w = walk;

    if (who.n == 1 || !group_together(s) || (w->k->uses_threads && stmt_is_private(s)))
        return s;
    return stmt_map_expr(ir, s, fold_agreed, w);
}

void group_fold_agreed(Kernel *k)
{
    GroupWalk w = {.fn = fold_leaf};

    w.arg = &w;
    group_walk_init(&w, k);
    k->body = group_map_stmt(&w, k->body);
}

typedef struct {
    GroupWalk *w;
    const Expr *only; /* what of the condition speaks of the thread alone */
    bool pure;        /* that is all of it */
    bool known;
} Split;

static void split_cond(Split *p, const Expr *e)
{
    Kernel *k = p->w->k;

    if (e->op == EX_AND) {
        split_cond(p, e->kid[0]);
        split_cond(p, e->kid[1]);
        return;
    }
    if (!vary_expr(group_vary(p->w), e)) {
        p->pure = false;
        return;
    }
    const Expr *own = expr_subst_map(k->ir, e, &p->w->lets, NULL);
    p->known &= is_of_thread(k, own);
    p->only = p->only ? expr_and(k->ir, p->only, own) : own;
}

bool group_of_branch(GroupWalk *w, const Expr *cond, ThreadGroup *then, ThreadGroup *orelse,
                     bool known[2])
{
    Split p = {.w = w, .pure = true, .known = true};

    *then = *orelse = w->who;
    known[0] = known[1] = true;
    if (!vary_expr(group_vary(w), cond))
        return false;
    split_cond(&p, cond);
    known[0] = p.known && p.only && threads_where(w->k, p.only, true, w->who, then);
    known[1] = p.known && p.pure && threads_where(w->k, p.only, false, w->who, orelse);
    if (!known[0])
        *then = w->who;
    if (!known[1])
        *orelse = w->who;
    return true;
}

typedef struct {
    GroupWalk *w;
    Map votes;  /* Var: of a whole warp */
    bool other; /* something else differs, too */
} Votes;

static bool see_vote(const Stmt *s, void *arg)
{
    Votes *v = arg;

    if (stmt_calls(s, INTRIN_ANY_SYNC) || stmt_calls(s, INTRIN_ALL_SYNC))
        map_set(&v->votes, s->u.call.bind, s);
    return true;
}

static bool see_other(const Expr *e, void *arg)
{
    Votes *v = arg;
    bool leaf = e->op == EX_VAR || e->op == EX_LOAD;

    v->other |= leaf && vary_expr(group_vary(v->w), e) &&
                !(e->op == EX_VAR && map_has(&v->votes, e->u.var));
    return !leaf;
}

bool group_votes(GroupWalk *w, const Expr *cond)
{
    Votes v = {.w = w};

    map_init(&v.votes, w->k->scratch);
    stmt_visit(w->k->body, see_vote, &v);
    if (v.votes.n)
        expr_visit(cond, see_other, &v);
    return v.votes.n && !v.other;
}

static int by_first(const void *a, const void *b)
{
    return ((const GroupArm *)a)->threads.first - ((const GroupArm *)b)->threads.first;
}

int group_arms(GroupWalk *w, const Stmt *s, GroupArm arm[ARMS_MOST])
{
    ThreadGroup then, orelse;
    bool known[2];
    int n = 0;

    for (; s; s = s->u.branch.orelse) {
        if (n == ARMS_MOST || s->kind != ST_IF ||
            !group_of_branch(w, s->u.branch.cond, &then, &orelse, known) || !known[0])
            return 0;
        Split p = {.w = w, .pure = true, .known = true};
        split_cond(&p, s->u.branch.cond);
        arm[n++] = (GroupArm){s, then, p.pure};
    }
    qsort(arm, (size_t)n, sizeof *arm, by_first);
    for (int i = 0, end = 0; i < n; end = arm[i].threads.first + arm[i].threads.n, i++)
        if (arm[i].threads.first < end || arm[i].threads.n == 0)
            return 0;
    return n;
}

/* ---- walking --------------------------------------------------------------------------------- */

void group_walk_init(GroupWalk *w, Kernel *k)
{
    w->k = k;
    w->who = (ThreadGroup){0, 0};
    map_init(&w->lets, k->ir->arena);
    w->vary = NULL;
}

void group_see_let(GroupWalk *w, const Stmt *s)
{
    if (s->kind == ST_LET && !expr_has_load(s->u.let.value) &&
        vary_expr(group_vary(w), s->u.let.value))
        map_set(&w->lets, s->u.let.var,
                expr_subst_map(w->k->ir, s->u.let.value, &w->lets, NULL));
}

/* The threads of an arm, of a role, or those that came here. */
typedef struct {
    GroupWalk *w;
    const Stmt *of;
    ThreadGroup then, orelse;
} Under;

static const Stmt *map_under(void *under, const Stmt *s)
{
    Under *u = under;
    ThreadGroup was = u->w->who;

    u->w->who = u->of->kind == ST_IF && s == u->of->u.branch.orelse ? u->orelse : u->then;
    s = group_map_stmt(u->w, s);
    u->w->who = was;
    return s;
}

const Stmt *group_map_stmt(GroupWalk *w, const Stmt *s)
{
    Under u = {w, s, w->who, w->who};
    bool known[2];

    group_see_let(w, s);
    if (stmt_is_nest(s) ||
        (s->kind != ST_BLOCK && !stmt_nkid(s)))
        return w->fn(w->k->ir, w->who, s, w->arg);
    if (s->kind == ST_IF)
        group_of_branch(w, s->u.branch.cond, &u.then, &u.orelse, known);
    if (s->kind == ST_ROLE && s->u.role.nthread)
        group_of_role(w->k, s, &u.then);
    const Stmt *mapped = stmt_map_kids(w->k->ir, s, map_under, &u);
    return s->kind == ST_FOR && w->loop ? w->loop(w->k->ir, w->who, mapped, w->arg) : mapped;
}

const Stmt *group_map(Kernel *k, const Stmt *s, GroupMapFn *fn, void *arg)
{
    GroupWalk w = {.fn = fn, .arg = arg};

    group_walk_init(&w, k);
    return group_map_stmt(&w, s);
}

typedef struct {
    GroupVisitFn *fn;
    ThreadGroup who;
    void *arg;
} Visit;

static bool visit_one(const Stmt *s, void *arg)
{
    Visit *v = arg;
    return v->fn(s, v->who, v->arg);
}

static const Stmt *visit_leaf(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    (void)ir;
    ((Visit *)arg)->who = who;
    stmt_visit(s, visit_one, arg);
    return s;
}

void group_visit(Kernel *k, GroupVisitFn *fn, void *arg)
{
    Visit v = {.fn = fn, .arg = arg};
    group_map(k, k->body, visit_leaf, &v);
}

/* ---- fragments ------------------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Map *group; /* Buffer -> ThreadGroup * */
    bool complain;
    bool changed;
    const Stmt *at;
    ThreadGroup who; /* of it */
} Owners;

static void use_buffer(Owners *o, const Buffer *b)
{
    ThreadGroup now = o->who;
    ThreadGroup *t = map_get(o->group, b);

    if (b->scope != MEM_FRAGMENT && b->scope != MEM_REDUCER)
        return;
    if (!t) {
        t = NEW(o->k->ir->arena, ThreadGroup);
        *t = now;
        map_set(o->group, b, t);
    } else if (t->n == 0) {
        o->changed |= now.n != 0;
        *t = now;
    } else if (now.n && (now.n != t->n || now.first != t->first) && o->complain) {
        diag_error(o->k->diag, o->at->span,
                   "'%s' lives in the registers of threads %d to %d; threads %d to %d use it here "
                   "[fragment-threads]",
                   b->name, t->first, t->first + t->n - 1, now.first, now.first + now.n - 1);
        diag_note(o->k->diag, b->span, "'%s' is declared here", b->name);
        o->complain = false;
    }
}

static void use_touch(void *arg, const Stmt *s, const Touch *t)
{
    Owners *o = arg;

    o->at = s;
    if (!(t->how & ACC_ADDRESS) && (t->expr || s->kind != ST_CALL))
        use_buffer(o, t->buf);
}

bool group_together(const Stmt *s)
{
    return stmt_is_nest(s) || s->kind == ST_TILE ||
           s->kind == ST_INSTR;
}

/* What single statements read is not owned: every thread that comes by holds it. */
static const Stmt *use_leaf(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    (void)ir;
    ((Owners *)arg)->who = who;
    if (group_together(s)) {
        stmt_touches_all(s, use_touch, arg);
    } else if (s->kind == ST_STORE) {
        ((Owners *)arg)->at = s;
        use_buffer(arg, buffer_root(s->u.store.buf));
    }
    return s;
}

typedef struct {
    const Map *group;
    ThreadGroup found;
} Owner;

static void see_owner(void *arg, const Stmt *s, const Touch *t)
{
    Owner *o = arg;
    const ThreadGroup *g = map_get(o->group, t->buf);
    bool other = t->how & ACC_ADDRESS || (!t->expr && (s->kind == ST_CALL || s->kind == ST_ATOMIC));

    if (!o->found.n && g && g->n && !other)
        o->found = *g;
}

/* The thread group whose fragments a statement of the block works on; n 0: none. */
ThreadGroup group_owner(const Map *group, const Stmt *s)
{
    Owner o = {.group = group};
    stmt_touches_all(s, see_owner, &o);
    return o.found;
}

/* What the block does with fragments of one thread group is that thread group's work, and so is the
 * rest of what it is done with. */
static const Stmt *spread_owner(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    Owners *o = arg;
    (void)ir;
    if (who.n || !group_together(s))
        return s;
    o->who = group_owner(o->group, s);
    if (o->who.n)
        stmt_touches_all(s, use_touch, o);
    return s;
}

static void find_owners(Owners *o)
{
    group_map(o->k, o->k->body, use_leaf, o);
    do {
        o->changed = false;
        group_map(o->k, o->k->body, spread_owner, o);
    } while (o->changed);
}

/* What a thread group alone has filled the others do not hold. */
static void read_touch(void *arg, const Stmt *s, const Touch *t)
{
    Owners *o = arg;
    const ThreadGroup *g = t->expr && !(t->how & ACC_ADDRESS) ? map_get(o->group, t->buf) : NULL;

    o->at = s;
    if (!g || g->n == 0)
        return;
    if (o->who.n == 0)
        o->who.n = kernel_block_threads(o->k);
    use_buffer(o, t->buf);
}

static const Stmt *read_leaf(Ir *ir, ThreadGroup who, const Stmt *s, void *arg)
{
    (void)ir;
    ((Owners *)arg)->who = who;
    if (!group_together(s))
        stmt_touches_all(s, read_touch, arg);
    return s;
}

void group_check_fragments(Kernel *k)
{
    Map group;
    Owners o = {.k = k, .group = &group, .complain = true};

    map_init(&group, k->ir->arena);
    find_owners(&o);
    group_map(k, k->body, read_leaf, &o);
}

void group_fragments(Kernel *k, Map *group)
{
    Owners o = {.k = k, .group = group};
    map_init(group, k->ir->arena);
    for (int i = 0; k->form & FORM_LAYOUTS && i < k->buffers.n; i++) {
        ThreadGroup *t = NEW(k->ir->arena, ThreadGroup);
        *t = buffer_plan(k, k->buffers.at[i])->group;
        if (t->n)
            map_set(group, k->buffers.at[i], t);
    }
    /* Once that is planned, conditions that a lowering made mean nothing here. */
    if (!(k->form & FORM_LAYOUTS))
        find_owners(&o);
}

ThreadGroup group_of_nest(ThreadGroup all, const Map *fragments, const LoopNest *p)
{
    for (int i = 0; all.n == 0 && i < p->access.n; i++) {
        const ThreadGroup *t = map_get(fragments, p->access.at[i].buf);
        if (t && t->n)
            return *t;
    }
    return all;
}
