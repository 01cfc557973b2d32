/* opt_role_stages.c -- pipelined loops around roles that are written by hand.
 *
 *     for k in pipelined(n) num_stages=S:           for k in serial(n):
 *         role 1:                                       role 1:
 *             wait free, (k + 1) % 2                        wait free[k % S], (k // S + 1) % 2
 *             copy(A[k], a) full              ->            copy(A[k], a[k % S]) full[k % S]
 *             arrive full                                   arrive full[k % S]
 *         role 0:                                       role 0:
 *             wait full, k % 2                              wait full[k % S], k // S % 2
 *             use(a)                                        use(a[k % S])
 *             arrive free                                   arrive free[k % S]
 *
 * As written the roles run one after the other, one tile between them.  With S stages of each tile
 * and of each barrier the one that fills is S iterations ahead before it waits.  Waits for the same
 * iteration mean what they did.  Waits for the iteration before become waits for the one S before,
 * which is when a stage is used again; so nothing else may hang on them: what one role writes and
 * another touches is a tile that is written whole in each iteration before it is read in it, as the
 * barriers of that iteration show, and neither tiles nor barriers are used outside of the loop. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"
#include "pass/plan_shared.h"

enum { ROLES_MOST = 16, NEVER = INT32_MAX };

typedef enum { USE_READ, USE_WRITE, USE_WAIT, USE_ARRIVE } UseKind;

typedef struct {
    UseKind kind;
    int role, at; /* which, and where in the body */
    Buffer *buf;
    bool whole;   /* all of the tile */
    bool stages;  /* by something that takes a stage as well as a tile */
    int offset;   /* USE_WAIT: 0 for its own iteration, 1 for the one before */
} Use;

typedef struct {
    Kernel *k;
    Ir *ir;
    Facts *facts;
    const Stmt *loop;
    const Expr *iter; /* counted from 0 */
    const char *why;  /* it stays as it is */
    VEC(Use) uses;
    VEC(Buffer *) staged; /* tiles and barriers */
    ThreadGroup role[ROLES_MOST];
    int nrole, at, now; /* position and role at hand */
    const Stmt *top;    /* statement of the role at hand */
    int stages;
} Roles;

static bool is_barrier(const Buffer *b)
{
    return b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER;
}

/* ---- what the loop does ---------------------------------------------------------------------- */

static void note(Roles *r, UseKind kind, Buffer *b, bool whole, bool stages)
{
    Use u = {kind, r->now, r->at, b, whole, stages, 0};
    vec_push(r->k->scratch, &r->uses, u);
}

/* The parity in iterations 2q + d; -1: it is not the same in all of them. */
static int parity_of(Roles *r, const Expr *parity, Var *q, int d)
{
    Ir *ir = r->ir;
    const Expr *iter =
        expr_add(ir, expr_mul(ir, expr_int(ir, 2), expr_var(ir, q)), expr_int(ir, d));
    int64_t p = -1;

    parity = expr_subst(ir, parity, r->loop->u.loop.var,
                        expr_add(ir, r->loop->u.loop.min, iter));
    return expr_is_int(simplify(ir, r->facts, parity), &p) && (p == 0 || p == 1) ? (int)p : -1;
}

/* parity = (iter + c) % 2: c; -1: it is something else. */
static int parity_offset(Roles *r, const Expr *parity)
{
    Var *q = var_new(r->ir, "q", r->loop->u.loop.var->type, r->loop->span);
    int mark = facts_mark(r->facts);

    facts_range(r->facts, q, expr_int(r->ir, 0), expr_int(r->ir, INT32_MAX / 4));
    int even = parity_of(r, parity, q, 0), odd = parity_of(r, parity, q, 1);
    facts_pop(r->facts, mark);
    return even >= 0 && odd == 1 - even ? even : -1;
}

static bool note_load(const Expr *e, void *arg)
{
    Roles *r = arg;

    if (e->op == EX_LOAD)
        note(r, USE_READ, e->u.buf, false, true);
    if (e->op == EX_ADDR && is_barrier(e->u.buf))
        note(r, USE_ARRIVE, e->u.buf, true, true);
    else if (e->op == EX_ADDR)
        note(r, USE_WRITE, e->u.buf, false, false);
    return true;
}

static void note_region(void *arg, const Region *region, Access a)
{
    Roles *r = arg;
    bool whole = region_is_whole(region);

    if (a & (ACC_READ | ACC_REDUCE))
        note(r, USE_READ, region->buf, whole, true);
    if (a & (ACC_WRITE | ACC_REDUCE))
        note(r, USE_WRITE, region->buf, whole, true);
}

/* A barrier's call, directly in a role: it comes by once in each iteration. */
static bool note_barrier(Roles *r, const Stmt *s)
{
    if (s->kind != ST_CALL || s->u.call.nregion != 1 || !is_barrier(s->u.call.region[0].buf))
        return false;
    Buffer *b = s->u.call.region[0].buf;
    bool arrives = s->u.call.which == INTRIN_ARRIVE || s->u.call.which == INTRIN_ARRIVE_BYTES ||
                   s->u.call.which == INTRIN_ARRIVE_COPIES;
    if (s->u.call.which == INTRIN_WAIT_PHASE) {
        note(r, USE_WAIT, b, false, true);
        r->uses.at[r->uses.n - 1].offset = parity_offset(r, s->u.call.arg[0]);
        if (r->uses.at[r->uses.n - 1].offset < 0)
            r->why = "a barrier is waited for by another count than the loop's";
        return true;
    }
    if (arrives && !s->u.call.text && (s->u.call.which != INTRIN_ARRIVE || s->u.call.n == 0))
        note(r, USE_ARRIVE, b, false, true);
    else if (s->u.call.which != INTRIN_EXPECT_BYTES)
        r->why = "a barrier is used in another way";
    return true;
}

static bool note_stmt(const Stmt *s, void *arg)
{
    Roles *r = arg;
    bool tile = tile_does(s, TILE_STAGES);

    stmt_visit_expr(s, note_load, r);
    int first = r->uses.n;
    if (s->kind == ST_TILE)
        tile_access(s, note_region, r);
    for (int i = first; i < r->uses.n; i++) {
        r->uses.at[i].stages = tile;
        r->uses.at[i].whole &= s == r->top; /* in every iteration */
    }
    if (s->kind == ST_STORE)
        note(r, USE_WRITE, s->u.store.buf, false, true);
    if (s->kind == ST_ATOMIC)
        note(r, USE_WRITE, s->u.atomic.buf, false, false);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++) {
        if (is_barrier(s->u.call.region[i].buf))
            r->why = "a barrier is used under a condition or in a loop";
        note(r, USE_WRITE, s->u.call.region[i].buf, false, false);
    }
    if (s->kind == ST_BREAK || s->kind == ST_CONTINUE ||
        (s->kind == ST_CALL && s->u.call.which == INTRIN_RETURN))
        r->why = "the loop may be left early";
    return true;
}

static void see_role(Roles *r, const Stmt *s)
{
    const Stmt *body = s->u.role.body;
    ThreadGroup t;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;

    if (s->u.role.nthread == 0 || !group_of_role(r->k, s, &t)) {
        r->why = "its roles have no threads of their own";
        return;
    }
    for (r->now = 0; r->now < r->nrole; r->now++) {
        const ThreadGroup *o = &r->role[r->now];
        if (o->first == t.first && o->n == t.n)
            break;
        if (o->first < t.first + t.n && t.first < o->first + o->n)
            r->why = "its roles share threads";
    }
    if (r->now == ROLES_MOST) {
        r->why = "it has too many roles";
        return;
    }
    r->role[r->now] = t;
    r->nrole = MAX(r->nrole, r->now + 1);
    for (int i = 0; i < n; i++, r->at++) {
        const Stmt *x = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        r->top = x;
        if (!note_barrier(r, x))
            stmt_visit(x, note_stmt, r);
    }
}

static void see_body(Roles *r)
{
    const Stmt *body = r->loop->u.loop.body;
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;

    for (int i = 0; i < n && !r->why; i++) {
        const Stmt *s = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        if (s->kind == ST_ROLE)
            see_role(r, s);
        else if (s->kind != ST_LET)
            r->why = "not all of it is in roles";
    }
}

/* ---- may it? --------------------------------------------------------------------------------- */

/* Every thread of the roles that arrive does so once in an iteration: a phase is an iteration. */
static const char *barrier_why(const Roles *r, const Buffer *b)
{
    int64_t arrivals = 0, count = 0;
    bool waited = false;

    if (b->scope != MEM_BARRIER || buffer_static_size(b) != 1)
        return "a barrier is one of several";
    for (int i = 0; i < r->uses.n; i++) {
        const Use *u = &r->uses.at[i];
        waited |= u->buf == b && u->kind == USE_WAIT;
        if (u->buf == b && u->kind == USE_ARRIVE && !u->whole) /* a copy only adds bytes */
            arrivals += r->role[u->role].n;
    }
    if (!b->arrive || !expr_is_int(b->arrive[0], &count) || count != arrivals || !waited)
        return "a barrier does not count one phase in each iteration";
    return NULL;
}

/* From where on role `to` comes after position `at` of role `from`, in the same iteration. */
static int reached(const Roles *r, int from, int at, int to)
{
    int since[ROLES_MOST];

    for (int i = 0; i < r->nrole; i++)
        since[i] = i == from ? at : NEVER;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < r->uses.n; i++) {
            const Use *a = &r->uses.at[i];
            for (int j = 0; a->kind == USE_ARRIVE && a->at >= since[a->role] && j < r->uses.n;
                 j++) {
                const Use *w = &r->uses.at[j];
                if (w->kind != USE_WAIT || w->offset || w->buf != a->buf || w->at >= since[w->role])
                    continue;
                since[w->role] = w->at;
                more = true;
            }
        }
    }
    return since[to];
}

static const char *tile_why(const Roles *r, const Buffer *b)
{
    bool whole = false;

    if (b->view_of || b->stride || b->rank >= RANK_MOST || buffer_uses(r->k, b)->viewed)
        return "a tile is a view or has one";
    for (int i = 0; i < r->uses.n; i++) {
        const Use *x = &r->uses.at[i];
        if (x->buf != b)
            continue;
        whole |= x->kind == USE_WRITE && x->whole;
        if (!x->stages)
            return "a tile is used by something that takes no stages";
        for (int j = 0; x->kind == USE_WRITE && j < r->uses.n; j++) {
            const Use *y = &r->uses.at[j];
            if (y->buf == b && y->kind == USE_READ &&
                y->at <= reached(r, x->role, x->at, y->role))
                return "a tile carries data from one iteration to the next";
        }
    }
    return whole ? NULL : "a tile is not filled as a whole";
}

/* Touched by another role than one that writes it? */
static bool crosses(const Roles *r, const Buffer *b)
{
    bool written = false;
    int role = -1, n = 0;

    for (int i = 0; i < r->uses.n; i++) {
        const Use *u = &r->uses.at[i];
        if (buffer_root(u->buf) != buffer_root(b))
            continue;
        written |= u->kind == USE_WRITE;
        n += u->role != role;
        role = u->role;
    }
    return written && n > 1;
}

static bool is_staged(const Roles *r, const Buffer *b)
{
    for (int i = 0; i < r->staged.n; i++)
        if (r->staged.at[i] == b)
            return true;
    return false;
}

static void judge(Roles *r)
{
    for (int i = 0; i < r->uses.n && !r->why; i++) {
        Buffer *b = r->uses.at[i].buf;
        bool barrier = is_barrier(b);
        if (is_staged(r, b) || (!barrier && (b->scope != MEM_SHARED && b->scope != MEM_GLOBAL)) ||
            (!barrier && !crosses(r, b)))
            continue;
        if (b->scope == MEM_GLOBAL)
            r->why = "its roles exchange data in global memory";
        else if (stmt_uses(r->loop, b) != buffer_uses(r->k, b)->uses)
            r->why = barrier ? "a barrier is used outside of it" : "a tile is used outside of it";
        else
            r->why = barrier ? barrier_why(r, b) : tile_why(r, b);
        vec_push(r->k->scratch, &r->staged, b);
    }
}

/* ---- carried out ----------------------------------------------------------------------------- */

static int wanted_stages(void *arg, const Buffer *b)
{
    const Roles *r = arg;
    return is_staged(r, b) ? r->stages : 1;
}

static void make_room(Roles *r)
{
    int64_t most = kernel_shared_most(r->k);

    while (r->stages > 1 && most && shared_estimate(r->k, LIVE_LOOPS, wanted_stages, r) > most)
        r->stages--;
    if (r->stages < 2)
        r->why = "there is no room for a second stage";
}

static const Stmt *stage_wait(Ir *ir, const Stmt *s, void *arg)
{
    Roles *r = arg;

    if (s->kind != ST_CALL || s->u.call.which != INTRIN_WAIT_PHASE)
        return s;
    const Expr *round = expr_floordiv(ir, r->iter, expr_int(ir, r->stages));
    int offset = parity_offset(r, s->u.call.arg[0]);
    const Expr *parity =
        expr_floormod(ir, expr_add(ir, round, expr_int(ir, offset)), expr_int(ir, 2));
    return stmt_call(ir, s->span, INTRIN_WAIT_PHASE, 1, &parity, s->u.call.nregion,
                     s->u.call.region, s->u.call.text, s->u.call.bind);
}

static const Stmt *with_stages(Roles *r)
{
    Ir *ir = r->ir;
    const Stmt *loop = r->loop, *body = stmt_map(ir, loop->u.loop.body, stage_wait, r);
    const Expr *stage = expr_floormod(ir, r->iter, expr_int(ir, r->stages));

    for (int i = 0; i < r->staged.n; i++) {
        Buffer *b = r->staged.at[i], *to = buffer_staged(r->k, b, r->stages);
        buffer_plan(r->k, to)->stages = 1; /* they are tiles as any from here on */
        body = stmt_use_stage(r->k, body, b, to, stage);
    }
    return stmt_for_as(ir, loop, LOOP_SERIAL, body);
}

static bool is_role(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_ROLE;
}

static const Stmt *stage_loop(Kernel *k, const Stmt *s)
{
    Ir *ir = k->ir;
    Roles r = {.k = k, .ir = ir, .facts = kernel_facts(k), .loop = s,
               .iter = expr_sub(ir, expr_var(ir, s->u.loop.var), s->u.loop.min),
               .stages = (int)MIN(hint_int(s->u.loop.hints, "num_stages", 0), AHEAD_MOST + 1)};
    int64_t n;

    if (expr_is_int(s->u.loop.extent, &n))
        r.stages = (int)MIN(r.stages, n);
    if (!stmt_any(s->u.loop.body, is_role, NULL) || r.stages < 2)
        return s;
    see_body(&r);
    judge(&r);
    if (!r.why && r.staged.n)
        make_room(&r);
    if (!r.why && r.staged.n)
        return with_stages(&r);
    audit_note(k, AUDIT_PIPELINE, s->span, "num_stages=%d is ignored: this loop has 1 stage: %s",
               r.stages, r.why ? r.why : "its roles share nothing");
    return s;
}

/* Loops that run once: the phases of their barriers are counted from 0. */
static const Stmt *walk(void *kernel, const Stmt *s)
{
    Kernel *k = kernel;

    if (s->kind == ST_FOR)
        return s->u.loop.how == LOOP_PIPELINED ? stage_loop(k, s) : s;
    return s->kind == ST_BLOCK ? stmt_map_kids(k->ir, s, walk, k) : s;
}

void pass_opt_role_stages(Kernel *k)
{
    k->body = walk(k, k->body);
}
