/* plan_pipeline.c -- copies of a pipelined loop that start iterations before they are needed.
 *
 * needs   FORM_HOW
 * gives   FORM_STAGED
 *
 * A copy from global to shared memory runs ahead, by the target's mechanism for that (MECH_AHEAD),
 * where nothing can tell: its tile is
 * written by it alone, whole, before anything reads it in the same iteration and under no other
 * condition; its source, address and condition come from memory that the loop does not write; and
 * every use of the tile in the kernel is in such a loop.  The tile is then multi-buffered, with a
 * stage for every iteration in flight (BufferPlan.stages); TilePlan.ahead says how many iterations
 * ahead the copy starts. num_stages = s is s - 1 iterations; with order= and stage= it is the
 * distance to the first stage that reads.  What stays where it is written says why. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/plan_shared.h"
#include "pass/thread_group.h"
#include "ir/config.h"

enum { SRC, DST };

typedef struct Cond Cond;
struct Cond { /* an arm of an if inside the loop */
    const Cond *outer;
};

typedef struct {
    const Stmt *at;
    Buffer *buf;
    const Region *region; /* NULL: elements */
    const Cond *cond;
    bool write;
    bool tile; /* of an operator that takes a stage of a tile as well as a tile */
    int top;   /* statement of the loop's body it is in */
} Use;

typedef struct {
    const Stmt *s; /* a tile operator, or a nest of T.Parallel */
    const Cond *cond;
    int top;
    const char *why; /* NULL: it may run ahead */
    int ahead;
    Buffer *src, *dst;
    const NestCopy *nest; /* NULL: a tile operator */
} Copy;

typedef struct Loop Loop;
struct Loop {
    const Stmt *s;
    const char *why;  /* NULL: its copies may run ahead */
    VEC(Use) uses;    /* in order */
    VEC(Copy) copies; /* directly in the body */
    Map written;      /* roots */
    Map bound;        /* variables bound in the loop by something that cannot run ahead */
    int ntop;
};

typedef struct {
    Kernel *k;
    Ir *ir;
    Facts *facts;
    const Mech *how; /* of copies that run ahead; NULL: the target has none */
    GroupWalk walk;  /* what differs from thread to thread */
    VEC(Loop *) loops;
    Loop whole; /* the kernel, as if it were one */
} Plan;

/* ---- what happens in a loop ------------------------------------------------------------------ */

typedef struct {
    Plan *p;
    Loop *l;
    const Stmt *at;
    const Stmt *nest; /* of T.Parallel that `at` is in */
    const Cond *cond;
    int top;
    bool direct; /* no loop between */
} Walk;

static void note_use(Walk *w, Buffer *b, const Region *r, bool write, bool tile)
{
    const Buffer *root = buffer_root(b);
    Use u = {w->nest ? w->nest : w->at, b, r, w->cond, write, tile, w->top};

    if (write)
        map_set(&w->l->written, root, w->at);
    if (root->scope == MEM_SHARED)
        vec_push(w->p->k->scratch, &w->l->uses, u);
}

static void note_touch(void *arg, const Stmt *s, const Touch *t)
{
    Walk *w = arg;
    bool stages = t->how & ACC_ADDRESS ? false
                  : s->kind == ST_TILE && !t->expr ? tile_does(s, TILE_STAGES)
                  : t->expr || s->kind == ST_STORE;

    if (t->how & ACC_READ && (t->expr || s->kind == ST_TILE))
        note_use(w, t->buf, t->region, false, stages);
    if (touch_writes(t) && (t->expr || s->kind != ST_INSTR))
        note_use(w, t->buf, s->kind == ST_TILE ? t->region : NULL, true, stages);
}

static void note_stmt(Walk *w, const Stmt *s)
{
    w->at = s;
    stmt_touches(s, note_touch, w);
    if (s->kind != ST_LET && s->kind != ST_FOR && stmt_binds(s))
        map_set(&w->l->bound, stmt_binds(s), s);
    if (stmt_commits(s, QUEUE_COPIES) || stmt_waits(s, QUEUE_COPIES))
        w->l->why = "the loop counts groups of copies itself";
    if (s->kind == ST_TILE && hint_find(s->u.tile.hints, "async"))
        w->l->why = "the loop has asynchronous copies of its own";
    if (s->kind == ST_TILE && tile_plan(w->p->k, s)->pipe)
        w->l->why = "a producer warp serves the loop";
    if ((s->kind == ST_BREAK || s->kind == ST_CONTINUE) && w->direct)
        w->l->why = "the loop may be left early";
    if (tile_does(s, TILE_COPIES) && w->direct) {
        Copy c = {s, w->cond, w->top, .src = s->u.tile.region[SRC].buf,
                  .dst = s->u.tile.region[DST].buf};
        vec_push(w->p->k->scratch, &w->l->copies, c);
    }
}

static void note_nest(Walk *w, const Stmt *s)
{
    NestCopy *n = NEW(w->p->k->scratch, NestCopy);

    if (!w->direct || !nest_is_copy(w->p->ir, s, n))
        return;
    Copy c = {s, w->cond, w->top, .src = n->load->u.buf, .dst = n->dst, .nest = n};
    vec_push(w->p->k->scratch, &w->l->copies, c);
}

static void walk(Walk *w, const Stmt *s);

static void walk_arm(Walk *w, const Stmt *s)
{
    const Cond *outer = w->cond;
    Cond *c = NEW(w->p->k->scratch, Cond);

    c->outer = outer;
    w->cond = c;
    walk(w, s);
    w->cond = outer;
}

static void walk_inside(Walk *w, const Stmt *s)
{
    bool direct = w->direct;

    w->direct = false;
    walk(w, s);
    w->direct = direct;
}

static void walk(Walk *w, const Stmt *s)
{
    const Stmt *nest = w->nest;

    if (s->kind != ST_BLOCK && s->kind != ST_ROLE)
        note_stmt(w, s);
    if (s->kind == ST_FOR)
        map_set(&w->l->bound, s->u.loop.var, s);
    if (stmt_is_nest(s) && !nest) {
        note_nest(w, s);
        w->nest = s;
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        if (s->kind == ST_BLOCK)
            walk(w, stmt_kid(s, i));
        else if (s->kind == ST_IF)
            walk_arm(w, stmt_kid(s, i));
        else
            walk_inside(w, stmt_kid(s, i));
    w->nest = nest;
}

/* Does order= count the statement?  Lets are not statements; scalars that stand for lets may or
 * may not have been counted. */
bool pipeline_counts(const Stmt *s, int way)
{
    if (way == 2)
        return true;
    bool scalar = s->kind == ST_STORE && s->u.store.buf->scope == MEM_VAR;
    return s->kind != ST_LET && !(way == 1 && scalar);
}

int pipeline_counting(const Stmt *body, int n)
{
    for (int way = 0; way < 3; way++) {
        int found = 0;
        for (int i = 0; body->kind == ST_BLOCK && i < body->u.block.n; i++)
            found += pipeline_counts(body->u.block.list[i], way);
        if (body->kind != ST_BLOCK)
            found = 1;
        if (found == n)
            return way;
    }
    return -1;
}

static const Hint *schedule(const Loop *l)
{
    const Hint *h = l->s ? hint_find(l->s->u.loop.hints, "stage") : NULL;
    return h && h->nlist ? h : NULL;
}

static void read_body(Plan *p, Loop *l, const Stmt *body)
{
    Walk w = {.p = p, .l = l, .direct = true};
    const Hint *h = schedule(l);
    int way = h ? pipeline_counting(body, h->nlist) : 0;

    map_init(&l->written, p->k->scratch);
    map_init(&l->bound, p->k->scratch);
    if (body->kind != ST_BLOCK) {
        walk(&w, body);
        l->ntop = 1;
        return;
    }
    for (int i = 0; i < body->u.block.n; i++) {
        w.top = l->ntop;
        walk(&w, body->u.block.list[i]);
        l->ntop += pipeline_counts(body->u.block.list[i], way);
    }
}

/* ---- may a copy run ahead? ------------------------------------------------------------------- */

typedef struct {
    const Loop *l;
    const Map *own; /* variables bound by the copy itself; NULL: it has none */
} Late;

static bool is_of_iteration(const Expr *e, void *late)
{
    const Late *x = late;
    return (e->op == EX_LOAD && map_has(&x->l->written, buffer_root(e->u.buf))) ||
           e->op == EX_ADDR || e->op == EX_EXTERN ||
           (e->op == EX_VAR && map_has(&x->l->bound, e->u.var) &&
            !(x->own && map_has(x->own, e->u.var)));
}

static bool is_late(const Loop *l, const Expr *e, const Map *own)
{
    return expr_any(e, is_of_iteration, &(Late){l, own});
}

static bool find_late(const Stmt *s, void *arg)
{
    Loop *l = arg;
    if (s->kind == ST_LET && is_late(l, s->u.let.value, NULL))
        map_set(&l->bound, s->u.let.var, s);
    return true;
}

/* Names made under a condition, where the copies there are to stay with them. */
static bool find_bound(const Stmt *s, void *arg)
{
    Loop *l = arg;
    if (s->kind == ST_LET)
        map_set(&l->bound, s->u.let.var, s);
    return true;
}

static bool find_bound_arms(const Stmt *s, void *arg)
{
    if (s->kind != ST_IF)
        return true;
    stmt_visit(s->u.branch.then, find_bound, arg);
    if (s->u.branch.orelse)
        stmt_visit(s->u.branch.orelse, find_bound, arg);
    return true;
}

/* An if whose condition is known only in its iteration holds back what is in it. */
static void mark_late_arms(Loop *l, const Stmt *s, bool late)
{
    if (s->kind == ST_IF)
        late |= is_late(l, s->u.branch.cond, NULL);
    for (int i = 0; (s->kind == ST_IF || s->kind == ST_BLOCK) && i < stmt_nkid(s); i++)
        mark_late_arms(l, stmt_kid(s, i), late);
    for (int i = 0; late && i < l->copies.n; i++)
        if (l->copies.at[i].s == s)
            l->copies.at[i].why = "its condition is known only in its iteration";
}

static const char *address_why(Plan *p, const Loop *l, const Copy *c)
{
    static const char why[] = "its address is known only in its iteration";
    Map own;

    if (map_has(&l->written, buffer_root(c->src)))
        return "the loop writes its source";
    map_init(&own, p->k->scratch);
    if (c->nest) {
        for (int i = 0; i < c->nest->nest.n; i++)
            map_set(&own, c->nest->nest.var[i], c);
        return is_late(l, c->nest->load, &own) || is_late(l, c->nest->cond, &own) ? why : NULL;
    }
    const Region *src = &c->s->u.tile.region[SRC];
    for (int d = 0; d < src->buf->rank; d++)
        if (is_late(l, src->at[d], &own) || is_late(l, src->extent[d], &own))
            return why;
    return NULL;
}

static bool is_under(const Cond *c, const Cond *arm)
{
    while (c && c != arm)
        c = c->outer;
    return c == arm;
}

/* Is the tile written by this copy alone, and read after it in its iteration? */
static const char *order_why(const Loop *l, const Copy *c)
{
    bool before = true; /* what stands before the copy reads what the iteration before left */

    if (!c->nest && !region_is_whole(&c->s->u.tile.region[DST]))
        return "it fills a part of its tile";
    for (int i = 0; i < l->uses.n; i++) {
        const Use *u = &l->uses.at[i];
        if (buffer_root(u->buf) != c->dst)
            continue;
        if (u->buf != c->dst)
            return "its tile is seen under another shape";
        if (u->at == c->s) {
            before = false;
            continue;
        }
        if (u->write)
            return "its tile is written elsewhere in the loop";
        if (before)
            return "its tile carries data from iteration to iteration";
        if (!u->tile)
            return "its tile is used by something that takes no stages";
        if (!is_under(u->cond, c->cond))
            return "its tile is read also when it is not filled";
    }
    return NULL;
}

static int bytes_of(Plan *p, const Copy *c)
{
    return c->nest ? nest_async_bytes(p->k, p->how, c->nest)
                   : copy_async_bytes(p->k, p->facts, p->how, c->s);
}

static const char *too_narrow(const Plan *p)
{
    return arena_printf(p->k->arena, "it cannot move %d bytes at a time", p->how->least);
}

/* Of the target, and of the machine. */
static const char *mechanism_why(const Plan *p)
{
    return p->how && kernel_has(p->k, p->how->needs)
               ? NULL : "this architecture has no asynchronous copies";
}

static const char *copy_why(Plan *p, const Loop *l, const Copy *c)
{
    const char *why = NULL;

    if (c->dst->view_of || c->dst->rank >= RANK_MOST || c->dst->stride)
        return "its tile is a view";
    if ((why = address_why(p, l, c)) || (why = order_why(l, c)))
        return why;
    if (c->src->type != c->dst->type)
        return arena_printf(p->k->arena, "it converts, %s does not", p->how->name);
    if (c->nest && p->how->side_by_side)
        return "copies in flight fill a tile in the order it is stored, a loop in its own";
    if (!bytes_of(p, c))
        return too_narrow(p);
    if (c->nest || !p->how->can || p->how->can(p->k, (ThreadGroup){0, 0}, c->s, &why))
        return NULL;
    return why;
}

/* ---- how far ahead --------------------------------------------------------------------------- */

static int stage_of(const Hint *h, int top, int most)
{
    return top < h->nlist && h->list[top] >= 0 ? h->list[top] : most;
}

static int iters_ahead(const Loop *l, const Copy *c)
{
    const Hint *h = schedule(l);
    int most = 0, first = INT32_MAX;

    if (!h)
        return (int)MIN(MAX(hint_int(l->s->u.loop.hints, "num_stages", 0), 1), AHEAD_MOST + 1) - 1;
    for (int i = 0; i < h->nlist; i++)
        most = MAX(most, h->list[i]);
    for (int i = 0; i < l->uses.n; i++)
        if (l->uses.at[i].buf == c->dst && l->uses.at[i].at != c->s)
            first = MIN(first, stage_of(h, l->uses.at[i].top, most));
    if (first == INT32_MAX)
        return 0;
    return MIN(MAX(first - stage_of(h, c->top, most), 0), AHEAD_MOST);
}

static void judge_copy(Plan *p, Loop *l, Copy *c)
{
    if (c->src->scope != MEM_GLOBAL || c->dst->scope != MEM_SHARED ||
        (!c->nest && !copy_may_run_ahead(p->k, c->s))) {
        c->why = "";
        return;
    }
    c->ahead = iters_ahead(l, c);
    if (l->why)
        c->why = l->why;
    else if (mechanism_why(p))
        c->why = mechanism_why(p);
    else if (!config_on(p->k->func, CONFIG_enable_async_copy) ||
             !config_on(p->k->func, CONFIG_use_async_copy))
        c->why = "the pass config tl.enable_async_copy says so";
    else if (c->ahead == 0)
        c->why = "one stage: nothing overlaps";
    else if (!c->why)
        c->why = copy_why(p, l, c);
}

/* ---- all loops ------------------------------------------------------------------------------- */

static void find_loop(Plan *p, const Stmt *s, bool some)
{
    Loop *l = NEW(p->k->scratch, Loop);

    l->s = s;
    read_body(p, l, s->u.loop.body);
    if (some)
        l->why = "only some threads run the loop";
    vec_push(p->k->scratch, &p->loops, l);
}

/* some: only some threads come here. */
static void find_loops(Plan *p, const Stmt *s, bool some)
{
    ThreadGroup was = p->walk.who, own;

    if (s->kind == ST_IF || s->kind == ST_WHILE || s->kind == ST_FOR)
        some |= vary_head(group_vary(&p->walk), s);
    if (s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED)
        find_loop(p, s, some);
    if (s->kind == ST_ROLE && s->u.role.nthread) { /* its threads synchronise among themselves */
        group_of_role(p->k, s, &own);
        p->walk.who = own;
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        find_loops(p, stmt_kid(s, i), some);
    p->walk.who = was;
}

/* Every use of the tile must be in a loop in which a copy of it runs ahead. */
static int uses_covered(const Plan *p, const Buffer *b)
{
    int n = 0;

    for (int i = 0; i < p->loops.n; i++) {
        const Loop *l = p->loops.at[i];
        bool ahead = false;
        for (int j = 0; j < l->copies.n; j++)
            ahead |= !l->copies.at[j].why && l->copies.at[j].dst == b;
        for (int j = 0; ahead && j < l->uses.n; j++)
            n += buffer_root(l->uses.at[j].buf) == b;
    }
    return n;
}

static int uses_in_all(const Plan *p, const Buffer *b)
{
    int n = 0;

    for (int i = 0; i < p->whole.uses.n; i++)
        n += buffer_root(p->whole.uses.at[i].buf) == b;
    return n;
}

static void hold_back(Plan *p)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < p->loops.n; i++)
            for (int j = 0; j < p->loops.at[i]->copies.n; j++) {
                Copy *c = &p->loops.at[i]->copies.at[j];
                const Buffer *b = c->dst;
                if (c->why || uses_covered(p, b) == uses_in_all(p, b))
                    continue;
                c->why = "its tile is used outside the loop";
                moved = true;
            }
    }
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Stages of a tile: one more than the most iterations that a copy into it runs ahead. */
static int tile_stages(const Plan *p, const Buffer *b)
{
    int n = buffer_plan(p->k, b)->stages;

    for (int i = 0; i < p->loops.n; i++)
        for (int j = 0; j < p->loops.at[i]->copies.n; j++) {
            const Copy *c = &p->loops.at[i]->copies.at[j];
            if (!c->why && c->dst == b)
                n = MAX(n, c->ahead + 1);
        }
    return n;
}

static int64_t tile_bytes(const Buffer *b)
{
    int64_t n = b->scope == MEM_SHARED && !b->view_of ? buffer_static_size(b) : 0;
    return n > 0 ? dtype_bytes(b->type, n) : 0;
}

static int planned_stages(void *arg, const Buffer *b)
{
    return tile_stages(arg, b);
}

/* The copy that runs ahead furthest; of those the one into the largest tile, the first of equals.
 */
static Copy *greediest(Plan *p)
{
    Copy *best = NULL;

    for (int i = 0; i < p->loops.n; i++)
        for (int j = 0; j < p->loops.at[i]->copies.n; j++) {
            Copy *c = &p->loops.at[i]->copies.at[j];
            if (!c->why &&
                (!best || c->ahead > best->ahead ||
                 (c->ahead == best->ahead && tile_bytes(c->dst) > tile_bytes(best->dst))))
                best = c;
        }
    return best;
}

/* Stages are for speed: as many as there is room for. */
static void make_room(Plan *p)
{
    int64_t most = kernel_shared_most(p->k);
    Copy *c;

    while (most && shared_estimate(p->k, LIVE_LOOPS, planned_stages, p) > most &&
           (c = greediest(p))) {
        int ahead = c->ahead - 1;
        for (int i = 0; i < p->loops.n; i++)
            for (int j = 0; j < p->loops.at[i]->copies.n; j++) {
                Copy *d = &p->loops.at[i]->copies.at[j];
                if (ahead > 0 || d->dst == c->dst)
                    d->ahead = MIN(d->ahead, ahead);
                if (!d->why && d->ahead == 0)
                    d->why = "there is no room for a second stage";
            }
    }
}

static void decide(Plan *p, const Copy *c)
{
    if (c->why) {
        if (!c->nest && *c->why)
            copy_in_place(p->k, c->s, c->why);
        return;
    }
    BufferPlan *b = buffer_plan(p->k, c->dst);
    b->stages = MAX(b->stages, c->ahead + 1);
    if (c->nest) {
        loop_plan(p->k, c->nest->nest.var[0])->ahead = c->ahead;
        return;
    }
    copy_ahead(p->k, c->s, p->how, c->ahead,
               arena_printf(p->k->arena, "up to %d bytes at a time, %d iteration%s ahead",
                            bytes_of(p, c), c->ahead, c->ahead == 1 ? "" : "s"));
}

static bool settle_alone(const Stmt *s, void *k)
{
    if (s->kind == ST_TILE && tile_plan(k, s)->alone)
        copy_settle(k, s);
    return true;
}

/* T.async_copy: the kernel waits for it itself. */
static bool plan_by_hand(const Stmt *s, void *arg)
{
    Plan *p = arg;
    const Hint *prefer;

    if (!tile_does(s, TILE_COPIES) || !hint_find(s->u.tile.hints, "async"))
        return true;
    prefer = hint_find(s->u.tile.hints, "prefer_instruction");
    const Mech *other =
        prefer && prefer->text ? mech_find(p->k->target->mechs, prefer->text) : NULL;
    if (other && other != p->how)
        return true;
    TilePlan *t = tile_plan(p->k, s);
    t->in_group = kernel_has(p->k, HAS_ASYNC_COPY); /* elsewhere nothing is in flight */
    if (!t->how->own_loops)
        return true;
    const char *why = mechanism_why(p);
    if (!why && s->u.tile.narg && p->how->counted)
        why = "what it reports to counts threads and bytes, not copies in flight";
    int bytes = why ? 0 : copy_async_bytes(p->k, p->facts, p->how, s);
    if (bytes == 0) {
        t->why = why ? why : too_narrow(p);
        return true;
    }
    copy_ahead(p->k, s, p->how, 0,
               arena_printf(p->k->arena, "up to %d bytes at a time, waited for by the kernel",
                            bytes));
    return true;
}

/* Stages that a copy of the loop has in the end; *why: not more. */
static int stages_of(const Plan *p, const Copy *c, const char **why)
{
    if (c->src->scope != MEM_GLOBAL || c->dst->scope != MEM_SHARED)
        return 0;
    *why = "there is no room for more";
    if (c->why && !*c->why) /* a producer fills its pipeline */
        return MAX(buffer_plan(p->k, c->dst)->stages, 1);
    if (c->why)
        *why = c->why;
    return c->why ? 1 : c->ahead + 1;
}

/* A loop has as many stages as the copy that runs ahead furthest.  Nothing is said of the kernel
 * for arguments that hardly come (plan_variants): what is written is for the other one. */
static void tell_stages(const Plan *p, const Loop *l)
{
    Kernel *k = p->k;
    int64_t asked = hint_int(l->s->u.loop.hints, "num_stages", 0);
    const char *why = NULL, *of = NULL;
    int given = 0;

    if (schedule(l) || (k->assume && expr_is_const(k->assume)))
        return;
    for (int i = 0; i < l->copies.n; i++) {
        int n = stages_of(p, &l->copies.at[i], &of);
        why = n > given ? of : why;
        given = MAX(given, n);
    }
    if (given == 1 && asked > 1)
        audit_note(k, AUDIT_PIPELINE, l->s->span, "num_stages=%lld is ignored: this loop has 1 "
                   "stage: %s", (long long)asked, why);
    else if (given && given < asked)
        diag_ignored(k->diag, l->s->span,
                     arena_printf(k->arena, "num_stages=%lld", (long long)asked),
                     "this loop has %d stage%s: %s [ignored]", given, given == 1 ? "" : "s", why);
}

void pass_plan_pipeline(Kernel *k)
{
    Plan p = {.k = k, .ir = k->ir, .facts = body_facts(k),
              .how = mech_ahead(k->target->mechs)};

    group_walk_init(&p.walk, k);
    read_body(&p, &p.whole, k->body);
    find_loops(&p, k->body, false);
    for (int i = 0; i < p.loops.n; i++) {
        Loop *l = p.loops.at[i];
        stmt_visit(l->s->u.loop.body, find_late, l);
        if (!config_on(k->func, CONFIG_if_stmt_binding_inline_replayable_binds))
            stmt_visit(l->s->u.loop.body, find_bound_arms, l);
        mark_late_arms(l, l->s->u.loop.body, false);
        for (int j = 0; j < l->copies.n; j++)
            judge_copy(&p, l, &l->copies.at[j]);
    }
    hold_back(&p);
    make_room(&p);
    for (int i = 0; i < p.loops.n; i++)
        for (int j = 0; j < p.loops.at[i]->copies.n; j++)
            decide(&p, &p.loops.at[i]->copies.at[j]);
    for (int i = 0; i < p.loops.n; i++)
        tell_stages(&p, p.loops.at[i]);
    stmt_visit(k->body, settle_alone, k);
    stmt_visit(k->body, plan_by_hand, &p);
}
