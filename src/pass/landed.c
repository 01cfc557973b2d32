/* landed.c -- tiles that threads which wait for each other by hand are done with where all wait.
 *
 *     if tx < 32:                                    copies
 *         for k in serial(n):
 *             wait free[k % S]
 *             copy(A[k], a[k % S]) full[k % S]
 *             arrive full[k % S]
 *     elif tx < 64:                                  MMAs
 *         for k in serial(n):
 *             wait full[k % S], k // S % 2
 *             mma(a[k % S], c);  commit free[k % S]
 *         commit sum
 *     wait sum, 0
 *     ...                                            `a` is done with
 *
 * The wait of the whole block is at the top of the kernel and the only one at its barrier; the
 * commit is the only arrival there, in no loop.  What holds then, of a tile that nothing mentions
 * later:
 *   MMAs      were all issued by the thread that commits, before it does; of a pair of blocks by
 *             the first one, for both
 *   loads     of iteration k complete at turn k % S of a barrier, in its phase k // S, and another
 *             loop of as many iterations waits for each of these phases: in the thread that
 *             commits, before it does, or in some threads of each block.  Each iteration gives
 *             the barrier all arrivals of a phase, and nothing else arrives there
 *   the rest  was done when its threads came by: a barrier of the block, which lower_sync puts
 *             where bytes are used again, is past it
 * A tile that anything else touches, or whose address is taken, is not said to be done with. */
#include "pass/plan_shared.h"
#include "pass/thread_group.h"
#include "isa/isa.h"

/* A loop, branch or role around; of a branch the arm where the condition is `sense`. */
typedef struct Frame {
    const Stmt *s;
    bool sense;
    const struct Frame *up;
} Frame;

typedef struct {
    const Stmt *s;
    const Frame *in;
    int at; /* statements are numbered in their order */
} Site;

typedef struct {
    Buffer *buf;
    int first, last;
    bool loads, mmas, queued; /* what touches it beside its threads */
    bool other;               /* what we do not follow */
} Tile;

typedef struct {
    Kernel *k;
    Facts *facts;
    Map lets;     /* Var -> const Expr *, of what is no memory's */
    Map tiles;    /* root Buffer -> Tile * */
    Map ranks;    /* variables that are a block's rank in its cluster */
    VEC(Site) sites; /* calls and instructions */
    const Site *wait, *commit;
    bool pair;    /* the commit arrives in both of two blocks */
    bool lost;    /* barriers are used in ways that we do not follow */
    int now;
} Walk;

/* ---- what the kernel does -------------------------------------------------------------------- */

static bool is_barrier(const Buffer *b)
{
    return b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER;
}

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Walk *w = arg;
    const Buffer *root = buffer_root(t->buf);

    w->lost |= is_barrier(root) && t->expr;
    if (root->scope != MEM_SHARED)
        return;
    Tile *x = map_get(&w->tiles, root);
    if (!x) {
        x = NEW(w->k->scratch, Tile);
        *x = (Tile){.buf = (Buffer *)root, .first = w->now};
        map_set(&w->tiles, root, x);
    }
    IsaDone done = s->kind == ST_INSTR ? s->u.instr.isa->done : DONE_AT_ONCE;
    x->last = w->now;
    x->loads |= done == DONE_AT_BARRIER;
    x->mmas |= done == DONE_BY_COMMIT;
    x->queued |= done == DONE_BY_GROUP || (s->kind == ST_STORE && s->u.store.async);
    x->other |= s->kind == ST_CALL || s->kind == ST_TILE || s->kind == ST_ATOMIC ||
                (t->expr && t->expr->op == EX_ADDR);
}

static bool loads_memory(const Expr *e, void *arg)
{
    (void)arg;
    return e->op == EX_LOAD || e->op == EX_EXTERN;
}

/* Without the names that the kernel gives to parts of it. */
static const Expr *in_full(Walk *w, const Expr *e)
{
    return expr_subst_map(w->k->ir, e, &w->lets, NULL);
}

static void walk(Walk *w, const Stmt *s, const Frame *in)
{
    if (!s)
        return;
    if (s->kind == ST_BLOCK) {
        for (int i = 0; i < s->u.block.n; i++)
            walk(w, s->u.block.list[i], in);
        return;
    }
    w->now++;
    stmt_touches(s, see_touch, w);
    if (s->kind == ST_LET && !expr_any(s->u.let.value, loads_memory, NULL))
        map_set(&w->lets, s->u.let.var, (void *)in_full(w, s->u.let.value));
    if (stmt_calls(s, INTRIN_BLOCK_RANK) && s->u.call.bind)
        map_set(&w->ranks, s->u.call.bind, s->u.call.bind);
    for (int i = 1; s->kind == ST_CALL && i < s->u.call.nregion; i++)
        w->lost |= is_barrier(s->u.call.region[i].buf);
    w->lost |= stmt_calls(s, INTRIN_RETURN);
    if (s->kind == ST_CALL || s->kind == ST_INSTR)
        vec_push(w->k->scratch, &w->sites, ((Site){s, in, w->now}));
    for (int i = 0; i < stmt_nkid(s); i++) {
        const Stmt *kid = stmt_kid(s, i);
        Frame *f = NEW(w->k->scratch, Frame);
        *f = (Frame){s, s->kind != ST_IF || kid == s->u.branch.then, in};
        walk(w, kid, f);
    }
}

/* ---- who comes by ---------------------------------------------------------------------------- */

typedef struct {
    int n, first;  /* threads, by what the conditions say of threads */
    bool of_first; /* only those of the first block of a cluster */
    bool other;    /* conditions say something else, too */
} Who;

static void split(Walk *w, const Expr *cond, bool sense, Who *who, const Expr **only)
{
    Ir *ir = w->k->ir;
    int64_t zero;

    if (sense && cond->op == EX_AND) {
        split(w, cond->kid[0], true, who, only);
        split(w, cond->kid[1], true, who, only);
        return;
    }
    if (is_of_thread(w->k, cond))
        *only = expr_both(ir, *only, sense ? cond : expr_unary(ir, EX_NOT, cond));
    else if (sense && cond->op == EX_EQ && cond->kid[0]->op == EX_VAR &&
             map_has(&w->ranks, cond->kid[0]->u.var) && expr_is_int(cond->kid[1], &zero) && !zero)
        who->of_first = true;
    else
        who->other = true;
}

static Who who_runs(Walk *w, const Frame *in)
{
    Kernel *k = w->k;
    int low = 0, high = kernel_launch_threads(k);
    const Expr *only = NULL;
    Who who = {0};

    for (; in; in = in->up) {
        ThreadGroup t = {0, 0};
        if (in->s->kind == ST_IF)
            split(w, in_full(w, in->s->u.branch.cond), in->sense, &who, &only);
        else if (in->s->kind == ST_ROLE)
            who.other |= !group_of_role(k, in->s, &t);
        else
            who.other |= in->s->kind == ST_WHILE;
        low = MAX(low, t.first);
        high = t.n ? MIN(high, t.first + t.n) : high;
    }
    Var *vars[3];
    int64_t at[3], truth = 1;
    const ExprCode *code = only ? expr_compile(k->ir, vars, thread_vars(k, vars), &only, 1) : NULL;
    for (int i = low; i < high; i++) {
        thread_point(k, i, at);
        if (code)
            expr_run(code, at, &truth);
        if (truth && who.n++ == 0)
            who.first = i;
    }
    return who;
}

/* The one of the loops around that has all others in it. */
static const Frame *outer_loop(const Frame *in)
{
    const Frame *loop = NULL;

    for (; in; in = in->up)
        if (in->s->kind == ST_FOR || in->s->kind == ST_WHILE)
            loop = in;
    return loop;
}

static bool is_around(const Frame *f, const Frame *in)
{
    while (in && in != f)
        in = in->up;
    return f == in;
}

/* ---- the wait of all ------------------------------------------------------------------------- */

static const Buffer *bar_of(const Stmt *s)
{
    const Region *r = NULL;

    if (s->kind == ST_CALL && s->u.call.nregion)
        r = &s->u.call.region[0];
    else if (s->kind == ST_INSTR && s->u.instr.isa->done == DONE_AT_BARRIER &&
             s->u.instr.nregion > 2)
        r = &s->u.instr.region[2];
    return r ? buffer_root(r->buf) : NULL;
}

static bool waits_once(Walk *w, const Site *wait)
{
    const Buffer *bar = bar_of(wait->s);

    w->wait = wait;
    w->commit = NULL;
    if (!stmt_calls(wait->s, INTRIN_WAIT_PHASE) || wait->in || !bar ||
        buffer_static_size(bar) != 1 || !expr_is_zero(wait->s->u.call.arg[0]))
        return false;
    for (int i = 0; i < w->sites.n; i++) {
        const Site *s = &w->sites.at[i];
        if (s == wait || bar_of(s->s) != bar)
            continue;
        if (w->commit || !call_mma_blocks(s->s) || s->at > wait->at || outer_loop(s->in))
            return false;
        w->commit = s;
    }
    return w->commit != NULL;
}

/* All MMAs are those that the commit is about. */
static bool commits_all(Walk *w)
{
    Who by = who_runs(w, w->commit->in);

    w->pair = call_mma_blocks(w->commit->s) > 1;
    if (by.n != 1 || (w->pair && !by.of_first))
        return false;
    for (int i = 0; i < w->sites.n; i++) {
        const Site *s = &w->sites.at[i];
        if (s->s->kind != ST_INSTR || s->s->u.instr.isa->done != DONE_BY_COMMIT)
            continue;
        Who who = who_runs(w, s->in);
        if (who.n != 1 || who.first != by.first || s->at > w->commit->at ||
            (w->pair && !who.of_first))
            return false;
    }
    return true;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static bool leaves(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_BREAK || s->kind == ST_CONTINUE;
}

/* One that counts from 0, to the end; NULL: what is done once. */
static bool is_plain_loop(const Frame *f)
{
    return !f || (f->s->kind == ST_FOR && expr_is_zero(f->s->u.loop.min) &&
            !expr_any(f->s->u.loop.extent, loads_memory, NULL) &&
            !stmt_any(f->s->u.loop.body, leaves, NULL));
}

/* A number from 0 to n - 1. */
static const Expr *some_of(Walk *w, const char *name, int64_t n)
{
    Var *v = var_new(w->k->ir, name, DT_I32, w->k->span);

    facts_range(w->facts, v, expr_int(w->k->ir, 0), expr_int(w->k->ir, n));
    return n == 1 ? expr_int(w->k->ir, 0) : expr_var(w->k->ir, v);
}

static const Expr *index_of(const Stmt *s)
{
    return s->kind == ST_CALL ? s->u.call.region[0].at[0] : s->u.instr.region[2].at[0];
}

/* In iteration k of the loop. */
static const Expr *in_turn(Walk *w, const Expr *e, const Frame *loop, const Expr *k)
{
    e = in_full(w, e);
    return loop ? expr_subst(w->k->ir, e, loop->s->u.loop.var, k) : e;
}

/* What the branches in the loop say of this iteration, to facts; false: they leave it out. */
static bool comes_by(Walk *w, const Frame *in, const Frame *loop, const Expr *k)
{
    Ir *ir = w->k->ir;

    for (; in != loop; in = in->up) {
        if (in->s->kind != ST_IF)
            continue;
        const Expr *cond = in_turn(w, in->s->u.branch.cond, loop, k);
        cond = simplify(ir, w->facts, in->sense ? cond : expr_unary(ir, EX_NOT, cond));
        if (prove(ir, w->facts, cond) == PROOF_NO)
            return false;
        facts_assume(w->facts, cond);
    }
    return true;
}

/* In iteration k of the loop where s comes by: its index is k % n, and parity, if there is one, is
 * k // n % 2. */
static bool is_turn(Walk *w, const Site *s, const Frame *loop, const Expr *parity, int64_t n)
{
    Ir *ir = w->k->ir;
    int64_t extent = loop ? INT32_MAX / 4 : 1;
    int mark = facts_mark(w->facts);
    bool is = true;

    if (loop && loop->s->u.loop.var->type != DT_I32)
        return false;
    if (loop)
        expr_is_int(loop->s->u.loop.extent, &extent);
    const Expr *q = some_of(w, "q", (extent + 2 * n - 1) / (2 * n));
    const Expr *r = some_of(w, "r", MIN(n, extent));
    for (int d = 0; d < 2 && d * n < extent; d++) {
        const Expr *round = expr_add(ir, expr_mul(ir, expr_int(ir, 2), q), expr_int(ir, d));
        const Expr *k = expr_add(ir, expr_mul(ir, round, expr_int(ir, n)), r);
        int inner = facts_mark(w->facts);
        if (comes_by(w, s->in, loop, k)) {
            const Expr *index = in_turn(w, index_of(s->s), loop, k);
            is = is && prove_true(ir, w->facts, expr_binary(ir, EX_EQ, index, r));
            is = is && (!parity ||
                        prove_true(ir, w->facts, expr_binary(ir, EX_EQ, expr_int(ir, d),
                                                             in_turn(w, parity, loop, k))));
        }
        facts_pop(w->facts, inner);
    }
    facts_pop(w->facts, mark);
    return is;
}

/* Of each thread that comes by: at the barrier of the block, or of the first of so many. */
static bool arrives(const Stmt *s, int blocks)
{
    bool here = s->u.call.n == (stmt_calls(s, INTRIN_ARRIVE_BYTES) ? 1 : 0);

    if (call_mma_blocks(s) || !(stmt_calls(s, INTRIN_ARRIVE) || stmt_calls(s, INTRIN_ARRIVE_BYTES)))
        return false;
    return blocks == 1 ? here : !here && expr_is_zero(s->u.call.arg[s->u.call.n - 1]);
}

/* Iterations of the loop take turns at the barrier, and each gives it a phase's arrivals. */
static bool is_fed(Walk *w, const Buffer *bar, const Frame *loop)
{
    int64_t n = buffer_static_size(bar), count, arrivals = 0;
    int blocks = bar->scope == MEM_CLUSTER_BARRIER
                     ? w->k->cluster[0] * w->k->cluster[1] * w->k->cluster[2] : 1;

    if (bar->rank != 1 || n < 1 || !bar->arrive || !is_plain_loop(loop))
        return false;
    for (int i = 0; i < w->sites.n; i++) {
        const Site *s = &w->sites.at[i];
        if (bar_of(s->s) != bar || stmt_calls(s->s, INTRIN_WAIT_PHASE))
            continue;
        if (outer_loop(s->in) != loop || !is_turn(w, s, loop, NULL, n))
            return false;
        if (s->s->kind == ST_INSTR || stmt_calls(s->s, INTRIN_EXPECT_BYTES))
            continue;
        Who who = who_runs(w, s->in);
        if (!arrives(s->s, blocks) || who.other || who.of_first)
            return false;
        for (const Frame *f = s->in; f != loop; f = f->up)
            if (f->s->kind == ST_FOR || f->s->kind == ST_WHILE)
                return false;
        arrivals += (int64_t)who.n * blocks;
    }
    for (int64_t i = 0; i < n; i++)
        if (!expr_is_int(bar->arrive[i], &count) || count != arrivals)
            return false;
    return true;
}

static bool as_often(const Frame *a, const Frame *b)
{
    int64_t x, y;

    if (!a || !b)
        return a == b;
    return a->s->u.loop.extent == b->s->u.loop.extent ||
           (expr_is_int(a->s->u.loop.extent, &x) && expr_is_int(b->s->u.loop.extent, &y) && x == y);
}

/* A wait for each phase that the loop feeds: who came past the commit, or past the end of its own
 * part, has seen all of them. */
static bool is_waited(Walk *w, const Site *s, const Buffer *bar, const Frame *loop, bool pair)
{
    const Frame *own = outer_loop(s->in), *part = own ? own->up : s->in;

    if (!stmt_calls(s->s, INTRIN_WAIT_PHASE) || bar_of(s->s) != bar || s->at > w->wait->at ||
        !is_plain_loop(own) || (own && own != s->in) || !as_often(own, loop) ||
        !is_turn(w, s, own, s->s->u.call.arg[0], buffer_static_size(bar)))
        return false;
    Who who = who_runs(w, part);
    bool before = is_around(part, w->commit->in) && s->at < w->commit->at;
    bool everywhere = !who.other && !who.of_first && who.n > 0;
    return pair ? before && w->pair : everywhere || (before && !w->pair);
}

static bool lands(Walk *w, const Site *load)
{
    const Buffer *bar = bar_of(load->s);
    const Frame *loop = outer_loop(load->in);
    const Isa *isa = load->s->u.instr.isa;
    bool pair = isa->scope == BY_PAIR;

    if (!bar || load->at > w->wait->at || !is_fed(w, bar, loop) ||
        pair != (bar->scope == MEM_CLUSTER_BARRIER) ||
        (load->s->u.instr.narg > 0 && !expr_is_zero(load->s->u.instr.arg[0])))
        return false;
    for (int i = 0; i < w->sites.n; i++)
        if (is_waited(w, &w->sites.at[i], bar, loop, pair))
            return true;
    return false;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void judge(Walk *w, Landed *l)
{
    for (int i = 0; i < w->sites.n; i++) {
        const Site *s = &w->sites.at[i];
        if (s->s->kind != ST_INSTR || s->s->u.instr.isa->done != DONE_AT_BARRIER)
            continue;
        Tile *x = map_get(&w->tiles, buffer_root(s->s->u.instr.region[0].buf));
        if (x && !x->other)
            x->other = !lands(w, s);
    }
    for (int i = 0; i < w->tiles.n; i++) {
        const Tile *x = w->tiles.at[i].val;
        if (!w->tiles.at[i].key)
            continue;
        if (!x->other && !x->queued && x->last < w->wait->at)
            map_set(&l->done, x->buf, x->buf);
        if (!x->other && !x->loads && !x->mmas && x->first > w->wait->at)
            map_set(&l->later, x->buf, x->buf);
    }
}

bool landed_later(const Kernel *k)
{
    return !k->extra_threads && kernel_has(k, HAS_TENSOR_MEMORY) && !(k->form & FORM_FLAT);
}

bool landed_find(Kernel *k, Landed *l)
{
    Walk w = {.k = k, .facts = facts_new(k->ir)};

    *l = (Landed){0};
    map_init(&l->done, k->scratch);
    map_init(&l->later, k->scratch);
    map_init(&w.lets, k->scratch);
    map_init(&w.tiles, k->scratch);
    map_init(&w.ranks, k->scratch);
    if (k->extra_threads || !kernel_has(k, HAS_TENSOR_MEMORY) || !(k->form & FORM_FLAT))
        return false;
    facts_kernel(w.facts, k);
    walk(&w, k->body, NULL);
    for (int i = 0; i < w.sites.n && !w.lost; i++)
        if (waits_once(&w, &w.sites.at[i]) && commits_all(&w)) {
            l->at = w.wait->s;
            judge(&w, l);
            return true;
        }
    return false;
}
