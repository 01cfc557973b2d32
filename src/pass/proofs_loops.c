/* proofs_loops.c -- for `tl prove`: which threads run a loop equally often, and why.
 *
 * Read from the kernel as it was traced.  A count is of the block if nothing in it differs between
 * the threads that come by (ir/vary.c), of a warp if what differs is the same for the lanes of each
 * warp: a function of the thread that is tried for all of them, or what a warp decided together.
 * A loop that is left by break is as its count and the conditions around the break are. */
#include "pass/access.h"
#include "pass/thread_group.h"

typedef struct {
    GroupWalk w;
    Map warp; /* Var: what a warp found together, alike for its lanes */
} Loops;

static bool see_warp_value(const Stmt *s, void *arg)
{
    Loops *l = arg;
    bool whole = kernel_part(l->w.k) == kernel_warp(l->w.k);

    if (s->kind == ST_CALL && s->u.call.bind)
        switch (s->u.call.which) {
        case INTRIN_WARP_SUM:
        case INTRIN_WARP_MAX:
        case INTRIN_WARP_MIN:
        case INTRIN_WARP_AND:
        case INTRIN_WARP_OR:
            if (!whole)
                break;
            /* fall through */
        case INTRIN_ANY_SYNC:
        case INTRIN_ALL_SYNC:
        case INTRIN_BALLOT: map_set(&l->warp, s->u.call.bind, l); break;
        default: break;
        }
    return true;
}

/* Of thread indices alone: the same for all lanes of each warp? */
static bool lanes_agree(Kernel *k, const Expr *e)
{
    int warp = kernel_warp(k), n = kernel_block_threads(k);
    int64_t at[3], first = 0, v;
    Var *vars[3];

    const ExprCode *code = expr_compile(k->ir, vars, thread_vars(k, vars), &e, 1);
    for (int t = 0; t < n; t++) {
        thread_point(k, t, at);
        expr_run(code, at, &v);
        first = t % warp == 0 ? v : first;
        if (v != first)
            return false;
    }
    return true;
}

static bool is_of_warp(Loops *l, const Expr *e)
{
    Kernel *k = l->w.k;
    Vary *v = group_vary(&l->w);

    if (!vary_expr(v, e))
        return true;
    if (e->op == EX_VAR && map_has(&l->warp, e->u.var))
        return true;
    const Expr *own = expr_subst_map(k->ir, e, &l->w.lets, NULL);
    if (own->lanes == 1 && is_of_thread(k, own))
        return lanes_agree(k, own);
    if (e->op == EX_EXTERN || (e->op == EX_LOAD && map_has(&v->bufs, buffer_root(e->u.buf))))
        return false;
    for (int i = 0; i < e->nkid; i++)
        if (!is_of_warp(l, e->kid[i]))
            return false;
    return e->nkid > 0;
}

static LoopShape shape_of(Loops *l, const Expr *e)
{
    return !vary_expr(group_vary(&l->w), e) ? LOOP_OF_BLOCK
           : is_of_warp(l, e)               ? LOOP_OF_WARP
                                            : LOOP_OF_THREAD;
}

/* ---- why ------------------------------------------------------------------------------------- */

typedef struct {
    Loops *l;
    const char *why;
} Cause;

static bool see_cause(const Expr *e, void *arg)
{
    Cause *c = arg;
    Kernel *k = c->l->w.k;
    Vary *v = group_vary(&c->l->w);

    if (c->why || !vary_expr(v, e))
        return false;
    if (e->op == EX_LOAD)
        c->why = arena_printf(k->ir->arena, map_has(&v->bufs, buffer_root(e->u.buf))
                                                ? "each thread has a '%s' of its own"
                                                : "each thread reads another element of '%s'",
                              buffer_root(e->u.buf)->name);
    else if (e->op == EX_EXTERN)
        c->why = "a function that is called here gives it";
    else if (e->op == EX_VAR && is_of_thread(k, e))
        c->why = arena_printf(k->ir->arena, "'%s' is the thread's index", e->u.var->name);
    else if (e->op == EX_VAR)
        c->why = arena_printf(k->ir->arena, "'%s' differs from thread to thread", e->u.var->name);
    return !c->why;
}

static const char *cause_of(Loops *l, const Expr *e)
{
    Cause c = {l, NULL};

    expr_visit(e, see_cause, &c);
    return c.why ? c.why : "it differs from thread to thread";
}

static const char *expr_text(Kernel *k, const Expr *e)
{
    Str s;

    str_init(&s, k->ir->arena);
    print_expr(&s, e);
    return s.s;
}

/* Who is meant where only some threads come by. */
static const char *who_text(const Loops *l)
{
    ThreadGroup g = l->w.who;

    return !g.n ? "all threads of the block"
                : arena_printf(l->w.k->ir->arena, "threads %d to %d, which come by", g.first,
                               g.first + g.n - 1);
}

static const char *why_text(Loops *l, LoopShape how, const char *what, const Expr *e)
{
    Arena *a = l->w.k->ir->arena;
    int64_t n;
    const char *text = expr_text(l->w.k, e);

    if (how == LOOP_OF_BLOCK && expr_is_int(e, &n))
        return arena_printf(a, "%s take it %s times", who_text(l), text);
    if (how == LOOP_OF_BLOCK)
        return arena_printf(a, "%s, %s, is the same for %s", what, text, who_text(l));
    if (how == LOOP_OF_WARP)
        return arena_printf(a, "%s, %s, is the same for the lanes of each warp, not for all "
                            "warps", what, text);
    return arena_printf(a, "%s, %s: %s", what, text, cause_of(l, e));
}

/* ---- breaks ---------------------------------------------------------------------------------- */

/* The worst condition that a break, or a return of the thread, stands under; NULL: none. */
static const Expr *leaves_by(Loops *l, const Stmt *s, const Expr *under, bool nested)
{
    const Expr *worst = NULL;
    bool leaves = (s->kind == ST_BREAK && !nested) || stmt_calls(s, INTRIN_RETURN);

    if (leaves)
        return under;
    nested |= s->kind == ST_FOR || s->kind == ST_WHILE;
    for (int i = 0; i < stmt_nkid(s); i++) {
        const Expr *cond = s->kind == ST_IF ? s->u.branch.cond : NULL;
        if (!cond || (under && shape_of(l, under) > shape_of(l, cond)))
            cond = under;
        const Expr *e = leaves_by(l, stmt_kid(s, i), cond, nested);
        if (e && (!worst || shape_of(l, e) > shape_of(l, worst)))
            worst = e;
    }
    return worst;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void note_loop(Loops *l, const Stmt *s)
{
    static const char *const word[] = {"block-uniform", "warp-uniform", "varying"};
    Kernel *k = l->w.k;
    Arena *a = k->ir->arena;
    bool counts = s->kind == ST_FOR;
    const Expr *e = counts ? s->u.loop.extent : s->u.branch.cond;
    const Expr *out = leaves_by(l, counts ? s->u.loop.body : s->u.branch.then, NULL, false);
    const char *what = counts ? "its count" : "its condition";
    const char *name = counts ? arena_printf(a, "the loop over '%s'", s->u.loop.var->name)
                              : "the loop";

    if (!s->span.src)
        return;
    if (counts && shape_of(l, s->u.loop.min) > shape_of(l, e)) {
        e = s->u.loop.min;
        what = "where it begins";
    }
    if (out && shape_of(l, out) > shape_of(l, e)) {
        e = out;
        what = "the condition that ends it";
    }
    LoopShape how = shape_of(l, e);
    LoopNote n = {s->span, how,
                  arena_printf(a, "%s is %s: %s", name, word[how], why_text(l, how, what, e))};
    vec_push(a, &k->loop_notes, n);
}

/* A nest of T.Parallel: iterations go to threads, and none waits for another's. */
static void note_nest(Loops *l, const Stmt *s)
{
    Kernel *k = l->w.k;
    Arena *a = k->ir->arena;
    const char *names = "", *counts = "";
    LoopShape how = LOOP_OF_BLOCK;

    if (!s->span.src)
        return;
    for (const Stmt *at = s; stmt_is_nest(at); at = at->u.loop.body) {
        names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", at->u.loop.var->name);
        counts = arena_printf(a, "%s%s%s", counts, *counts ? " x " : "",
                              expr_text(k, at->u.loop.extent));
        how = MAX(how, shape_of(l, at->u.loop.extent));
    }
    LoopNote n = {s->span, how,
                  arena_printf(a, "the loop over '%s' is parallel: its %s iterations are spread "
                               "over %s", names, counts,
                               kernel_block_threads(k) == 1 || !kernel_on_warps(k)
                                   ? "the lanes of vectors" : who_text(l))};
    vec_push(a, &k->loop_notes, n);
}

static void walk(Loops *l, const Stmt *s);

static void walk_for(Loops *l, const Stmt *s, ThreadGroup who)
{
    ThreadGroup was = l->w.who;

    if (!s)
        return;
    l->w.who = who;
    walk(l, s);
    l->w.who = was;
}

static void walk_branch(Loops *l, const Stmt *s)
{
    ThreadGroup then, orelse;
    bool known[2];

    group_of_branch(&l->w, s->u.branch.cond, &then, &orelse, known);
    walk_for(l, s->u.branch.then, then);
    walk_for(l, s->u.branch.orelse, orelse);
}

static void walk(Loops *l, const Stmt *s)
{
    ThreadGroup t;

    group_see_let(&l->w, s);
    if (stmt_is_nest(s)) {
        note_nest(l, s);
        return;
    }
    if (s->kind == ST_FOR || s->kind == ST_WHILE)
        note_loop(l, s);
    if (s->kind == ST_IF)
        walk_branch(l, s);
    else if (s->kind == ST_ROLE)
        walk_for(l, s->u.role.body,
                 group_of_role(l->w.k, s, &t) && s->u.role.nthread ? t : l->w.who);
    else
        for (int i = 0; i < stmt_nkid(s); i++)
            walk(l, stmt_kid(s, i));
}

void loops_note(Kernel *k)
{
    Loops l = {0};

    k->loop_notes.n = 0;
    map_init(&l.warp, k->ir->arena);
    group_walk_init(&l.w, k);
    stmt_visit(k->body, see_warp_value, &l);
    walk(&l, k->body);
}
