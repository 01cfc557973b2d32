/* lower_warps.c -- warp specialization: a body per role, and the pipelines between.
 *
 * needs   FORM_ROLES
 * gives   FORM_WARPS
 *
 * A pipeline is one or more multi-buffered tiles with two barriers per stage:
 *
 *     producer                                  consumer, where the copy stood
 *         wait empty[stage], the phase before        wait full[stage], this phase
 *         arrive full[stage], so many bytes          ... reads the stage ...
 *         copies into the stage                      after the last read: arrive empty[stage]
 *         next stage                                 next stage
 *
 * Each side counts stages and phases for itself, over however many loops: both count the same
 * iterations.  An MMA that is left in flight releases the stage of the iteration before, and after
 * its loop its own.
 *
 * A loop of MMAs that one thread issues goes to an issuer, a second warp of the producer's group
 * (plan_warps marks them left_open).  It commits an arrival at empty[stage] for the MMAs of each
 * stage.  Between it and the consumer stands a pipeline of sums, filled by a whole loop at a time:
 * full when its MMAs are done, empty when the consumer has copied it.  In persistent kernels there
 * are two sums, so that the MMAs of a tile run while the one before is stored.
 *
 * Where blocks of a cluster fill tiles together (plan_cluster), each producer brings a part for all
 * of them: it may do so when the stage is empty in every block, so every consumer tells the
 * producers of all blocks.  No block ends before the others are done with it. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"
#include "pass/plan_persistent.h"
#include "pass/plan_shared.h"
#include "pass/plan_warps.h"
#include "pass/replay.h"
#include "pass/thread_nest.h"
#include "ir/config.h"


typedef struct {
    Buffer *full, *empty;
    Buffer *stage, *phase; /* of the running role; stage NULL: there is one */
    int stages;
    Var *at, *parity;      /* stage and phase where it is open; NULL: it is not */
    int last;              /* place in the open block of the last use */
    const Stmt *flies;     /* the MMA that reads it and is left in flight; NULL: none */
    bool early;            /* given back before the end of the last use */
    bool loaded;           /* threads read it themselves */
    bool commits;          /* the issuer's MMAs alone read it */
    const Stmt *sums;      /* of sums: the loop that fills it; NULL: of copies */
} Pipe;

typedef struct {
    Kernel *k;
    Ir *ir;
    Map staged; /* Buffer -> Buffer */
    Map summed; /* Buffer -> Pipe of sums */
    Pipe pipe[PIPES_MOST];
    Pipe sum[PIPES_MOST]; /* from 1 */
    int nsum;
    const Stmt *loop;  /* around the block at hand */
    const Stmt *after; /* what follows that loop */
    const Stmt *block; /* at hand, and the place in it */
    int place;
    Replay known;      /* what the producer can work out */
    int cluster;       /* blocks that fill tiles together; 1: each its own */
    Var *rank;         /* which of them the producer's is */
    bool apart;        /* warpgroups start one after the other */
} Roles;

/* ---- pipelines ------------------------------------------------------------------------------- */

static int pipe_of(Roles *w, const Stmt *s)
{
    return s->kind == ST_TILE ? tile_plan(w->k, s)->pipe : 0;
}

static Buffer *barriers_new(Roles *w, const char *name, int pipe, int n, int arrivals, Span at)
{
    return kernel_barriers(w->k, arena_printf(w->ir->arena, "%s_%d", name, pipe), n, arrivals, at);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool is_issued(Roles *w, const Stmt *s)
{
    return tile_does(s, TILE_MMA) && tile_plan(w->k, s)->how->by_commit &&
           tile_plan(w->k, s)->left_open;
}

/* A loop of nothing but copies by the producer and MMAs that were planned for an issuer. */
static bool fills_sums(Roles *w, const Stmt *s)
{
    const Stmt *body = s->kind == ST_FOR ? s->u.loop.body : NULL;
    bool any = false;

    for (int i = 0; body && body->kind == ST_BLOCK && i < body->u.block.n; i++) {
        const Stmt *t = body->u.block.list[i];
        if (!is_issued(w, t) && !pipe_of(w, t) && t->kind != ST_LET)
            return false;
        any |= is_issued(w, t);
    }
    return any;
}

/* Those of the loop s; NULL: it has none. */
static Pipe *sums_of(Roles *w, const Stmt *s)
{
    for (int i = 1; i <= w->nsum; i++)
        if (s->kind == ST_FOR && w->sum[i].sums->u.loop.var == s->u.loop.var)
            return &w->sum[i];
    return NULL;
}

static bool has_sums(const Stmt *s, void *roles)
{
    return sums_of(roles, s) != NULL;
}

/* Two of each in persistent kernels, where there are so many columns. */
static int sums_at_once(Roles *w, const Stmt *loop)
{
    const Stmt *body = loop->u.loop.body;
    int64_t more = 0;

    for (int i = 0; i < body->u.block.n; i++)
        if (is_issued(w, body->u.block.list[i]))
            more += tensor_columns(w->k, body->u.block.list[i]->u.tile.region[2].buf);
    return w->k->persistent && more <= tensor_columns_left(w->k) ? 2 : 1;
}

static bool make_sums(const Stmt *s, void *arg)
{
    Roles *w = arg;
    Kernel *k = w->k;

    if (!fills_sums(w, s) || w->nsum + 1 >= PIPES_MOST || w->cluster > 2)
        return true;
    Pipe *r = &w->sum[++w->nsum];
    *r = (Pipe){.sums = s, .stages = sums_at_once(w, s)};
    r->full = barriers_new(w, "sum_full", w->nsum, r->stages, 1, s->span);
    r->empty = barriers_new(w, "sum_empty", w->nsum, r->stages,
                            kernel_block_threads(k) / kernel_warp(k), s->span);
    r->phase = kernel_scalar(k, arena_printf(w->ir->arena, "sum_phase_%d", w->nsum), DT_I32,
                             s->span);
    if (r->stages > 1)
        r->stage = kernel_scalar(k, arena_printf(w->ir->arena, "sum_stage_%d", w->nsum), DT_I32,
                                 s->span);
    for (int i = 0; i < s->u.loop.body->u.block.n; i++) {
        const Stmt *t = s->u.loop.body->u.block.list[i];
        if (!is_issued(w, t)) {
            w->pipe[pipe_of(w, t)].commits = true;
            continue;
        }
        Buffer *sum = t->u.tile.region[2].buf;
        map_set(&w->summed, sum, r);
        if (r->stages > 1)
            map_set(&w->staged, sum, buffer_staged(k, sum, r->stages));
    }
    return true;
}

/* What passes since the plan have made another loop of is waited for where it stands. */
static bool shut_others(const Stmt *s, void *arg)
{
    Roles *w = arg;

    if (tile_does(s, TILE_MMA) && is_issued(w, s) && !map_has(&w->summed, s->u.tile.region[2].buf))
        tile_plan(w->k, s)->left_open = false;
    return true;
}

/* ---- pipelines of copies --------------------------------------------------------------------- */

static bool make_pipe(const Stmt *s, void *arg)
{
    Roles *w = arg;
    Kernel *k = w->k;
    int n = pipe_of(w, s);

    if (!n)
        return true;
    BUG(n >= PIPES_MOST, "%d pipelines", n);
    Pipe *r = &w->pipe[n];
    Buffer *tile = s->u.tile.region[1].buf;
    int stages = buffer_plan(k, tile)->stages;
    if (!r->full) {
        r->stages = stages;
        r->full = barriers_new(w, "full", n, stages, 1, s->span);
        int each = r->commits ? 1 : kernel_block_threads(k) / kernel_warp(k);
        r->empty = barriers_new(w, "empty", n, stages, each * w->cluster, s->span);
        r->phase = kernel_scalar(k, arena_printf(w->ir->arena, "phase_%d", n), DT_I32, s->span);
        if (stages > 1)
            r->stage = kernel_scalar(k, arena_printf(w->ir->arena, "stage_%d", n), DT_I32, s->span);
    }
    if (stages > 1 && !map_has(&w->staged, tile))
        map_set(&w->staged, tile, buffer_staged(k, tile, stages));
    return true;
}

static const Expr *num(Roles *w, int64_t v)
{
    return expr_int(w->ir, v);
}

static Region one_barrier(Roles *w, Buffer *b, const Expr *at)
{
    Region r = {b, NEWN(w->ir->arena, const Expr *, 1), NEWN(w->ir->arena, const Expr *, 1)};
    r.at[0] = at;
    r.extent[0] = num(w, 1);
    return r;
}

static const Stmt *barrier_call(Roles *w, Span at, Intrin which, Buffer *b, const Expr *stage,
                                const Expr *arg)
{
    Region *r = NEW(w->ir->arena, Region);
    const Expr **list = NEWN(w->ir->arena, const Expr *, 1);

    *r = one_barrier(w, b, stage);
    list[0] = arg;
    return stmt_call(w->ir, at, which, arg != NULL, list, 1, r, NULL, NULL);
}

static const Expr *stage_at(Roles *w, const Pipe *r)
{
    return r->stage ? expr_var(w->ir, r->at) : num(w, 0);
}

/* What is loaded could be anything; a fact says that it is a stage.  (Not min and max: such
 * pipelines hung: the compiler below had taken the test that wraps the stage from the minimum.) */
static Var *load_stage(Roles *w, Builder *b, const Pipe *r, Span at)
{
    Var *stage = var_new(w->ir, "stage", DT_I32, at);
    const Expr *e = expr_var(w->ir, stage);
    const Expr *low = expr_binary(w->ir, EX_GE, e, num(w, 0));
    const Expr *high = expr_binary(w->ir, EX_LT, e, num(w, r->stages));

    build_add(b, stmt_let(w->ir, at, stage, scalar_get(w->k, r->stage)));
    build_add(b, stmt_assert(w->ir, at, expr_binary(w->ir, EX_AND, low, high), "assume"));
    return stage;
}

/* Slot and phase as they are now, for the statements that follow in this block. */
static void open_pipe(Roles *w, Builder *b, Pipe *r, Span at)
{
    if (r->stage)
        r->at = load_stage(w, b, r, at);
    r->parity = var_new(w->ir, "phase", DT_I32, at);
    build_add(b, stmt_let(w->ir, at, r->parity, scalar_get(w->k, r->phase)));
}

static void close_pipe(Roles *w, Builder *b, Pipe *r, Span at)
{
    Ir *ir = w->ir;
    const Expr *parity = expr_var(ir, r->parity);
    const Expr *other = expr_binary(ir, EX_BITXOR, parity, num(w, 1));

    if (r->stage) {
        const Expr *next = expr_add(ir, expr_var(ir, r->at), num(w, 1));
        const Expr *wraps = expr_binary(ir, EX_EQ, next, num(w, r->stages));
        build_add(b, scalar_set(w->k, at, r->stage, expr_select(ir, wraps, num(w, 0), next)));
        other = expr_select(ir, wraps, other, parity);
    }
    build_add(b, scalar_set(w->k, at, r->phase, other));
    r->at = r->parity = NULL;
}

/* Until what was there before has been read. */
static void wait_empty(Roles *w, Builder *b, const Pipe *r, Span at)
{
    const Expr *before = expr_binary(w->ir, EX_BITXOR, expr_var(w->ir, r->parity), num(w, 1));

    build_add(b, barrier_call(w, at, INTRIN_WAIT_PHASE, r->empty, stage_at(w, r), before));
}

static void start_pipes(Roles *w, Builder *b)
{
    for (int i = 0; i < 2 * PIPES_MOST; i++) {
        Pipe *r = i < PIPES_MOST ? &w->pipe[i] : &w->sum[i - PIPES_MOST];
        if (r->stage)
            build_add(b, scalar_set(w->k, NO_SPAN, r->stage, num(w, 0)));
        if (r->phase)
            build_add(b, scalar_set(w->k, NO_SPAN, r->phase, num(w, 0)));
    }
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static const Stmt *consume(Roles *w, const Stmt *s);

/* An arrival once the MMAs that were issued are done; both: in each block of the cluster. */
static const Stmt *commit(Roles *w, Buffer *b, const Expr *stage, bool both, Span at)
{
    const Stmt *s = barrier_call(w, at, INTRIN_ARRIVE, b, stage, NULL);

    return stmt_call(w->ir, at, INTRIN_ARRIVE, 0, NULL, 1, s->u.call.region,
                     ir_name(w->ir, both ? "mma_pair" : "mma"), NULL);
}

/* The warp is done with a stage; one lane says so, to each block of the cluster one.  An arrival
 * does not wait for loads that are under way, and a bulk copy goes another way than they: without a
 * fence it was seen to overtake them, where stores of other warps held them up. */
static const Stmt *release(Roles *w, const Pipe *r, const Expr *stage, Span at)
{
    Ir *ir = w->ir;
    const Expr *lane = expr_floormod(ir, thread_in_block(w->k), num(w, kernel_warp(w->k)));
    bool many = w->cluster > 1 && !r->sums;
    if (r->commits)
        return commit(w, r->empty, stage, many, at);
    const Stmt *arrive =
        barrier_call(w, at, INTRIN_ARRIVE, r->empty, stage, many ? lane : NULL);
    if (many) /* others of the cluster learn of nothing that was written */
        arrive = stmt_call(ir, at, INTRIN_ARRIVE, 1, arrive->u.call.arg, 1,
                           arrive->u.call.region, ir_name(ir, "read"), NULL);
    const Expr *who = many ? expr_lt(ir, lane, num(w, w->cluster))
                           : expr_binary(ir, EX_EQ, lane, num(w, 0));
    const Stmt *first = stmt_if(ir, at, who, arrive, NULL);
    const Stmt *sync = stmt_call(ir, at, INTRIN_SYNC_WARP, 0, NULL, 0, NULL, NULL, NULL);
    const Stmt *fence = stmt_call(ir, at, INTRIN_FENCE_PROXY, 0, NULL, 0, NULL, NULL, NULL);
    return stmt_seq(ir, r->loaded ? stmt_seq(ir, fence, sync) : sync, first);
}

static const Expr *stage_before(Roles *w, const Pipe *r, const Expr *stage)
{
    Ir *ir = w->ir;
    const Expr *is_first = expr_binary(ir, EX_EQ, stage, num(w, 0));
    return expr_select(ir, is_first, num(w, r->stages - 1), expr_sub(ir, stage, num(w, 1)));
}

/* An MMA at place i that the kernel waits for itself reads its tiles until the wait that leaves
 * fewer in flight than came after it; to the end of the block where there is none. */
static int read_until(const Stmt *block, int i)
{
    const Stmt *const *list = block->u.block.list;
    int64_t later = 0, open;

    if (list[i]->kind != ST_TILE || !hint_int(list[i]->u.tile.hints, "async", 0))
        return i;
    for (int j = i + 1; j < block->u.block.n; j++) {
        if (stmt_waits(list[j], QUEUE_MMA) && expr_is_int(list[j]->u.call.arg[0], &open) &&
            open <= later)
            return j;
        later += tile_does(list[j], TILE_MMA) && hint_int(list[j]->u.tile.hints, "async", 0);
    }
    return block->u.block.n - 1;
}

typedef struct {
    Kernel *k;
    const Buffer *tile;
} Loads;

static bool is_loading(const Stmt *s, void *loads)
{
    const Loads *l = loads;
    int uses = s->kind == ST_BLOCK ? 0 : stmt_uses(s, l->tile);

    for (int i = 0; uses && i < stmt_nkid(s); i++) /* which are seen by themselves */
        uses -= stmt_uses(stmt_kid(s, i), l->tile);
    return uses > 0 && !stmt_waits(s, QUEUE_MMA) && !is_mma_in_flight(l->k, s) &&
           !(s->kind == ST_TILE && tile_plan(l->k, s)->pipe);
}

/* Do threads read a tile themselves, not only MMAs that go on beside them? */
static bool threads_load(Kernel *k, const Stmt *s, const Buffer *tile)
{
    return stmt_any(s, is_loading, &(Loads){k, tile});
}

/* The last use in the block of what the copies of pipeline n brought, and whether it is left in
 * flight. */
static void find_last(Roles *w, const Stmt *block, int n)
{
    Pipe *r = &w->pipe[n];

    r->last = -1;
    r->flies = NULL;
    r->loaded = false;
    for (int c = 0; c < block->u.block.n; c++) {
        const Stmt *copy = block->u.block.list[c];
        if (pipe_of(w, copy) != n)
            continue;
        r->last = MAX(r->last, c);
        for (int i = c + 1; i < block->u.block.n; i++) {
            const Stmt *s = block->u.block.list[i];
            if (!stmt_uses(s, copy->u.tile.region[1].buf))
                continue;
            r->last = MAX(r->last, read_until(block, i));
            r->loaded |= threads_load(w->k, s, copy->u.tile.region[1].buf);
            if (is_mma_in_flight(w->k, s) && tile_plan(w->k, s)->left_open)
                r->flies = s;
        }
    }
}

/* With an MMA in flight the stage of the iteration before is free now, and the last one after the
 * loop. */
static const Stmt *release_late(Roles *w, const Pipe *r, Span at)
{
    Ir *ir = w->ir;
    const Stmt *loop = w->loop;
    const Expr *later = expr_binary(ir, EX_GT, expr_var(ir, loop->u.loop.var), loop->u.loop.min);
    const Expr *zero = expr_zero(ir, loop->u.loop.var->type);
    const Expr *any = expr_binary(ir, EX_GT, loop->u.loop.extent, zero);
    const Stmt *wait = stmt_wait(ir, at, QUEUE_MMA, 0, 1, &r->flies->u.tile.region[2]);
    Builder b;

    build_open(&b, ir, NULL);
    const Expr *last = expr_var(ir, load_stage(w, &b, r, at));
    build_add(&b, release(w, r, stage_before(w, r, last), at));
    const Stmt *free = stmt_if(ir, at, any, build_close(&b, at), NULL);
    w->after = stmt_seq(ir, w->after, stmt_seq(ir, wait, free));
    return stmt_if(ir, at, later, release(w, r, stage_before(w, r, stage_at(w, r)), at), NULL);
}

typedef struct {
    Pipe *pipe;
    const Buffer *tile;
} Open;

typedef VEC(Open) Opened; /* in a block so far; several tiles may be of one pipeline */

/* Of a loop whose second MMA comes after it, what only the first one reads is free before. */
static void release_early(Roles *w, Builder *b, const Stmt *rest)
{
    for (int n = 0; n < PIPES_MOST; n++) {
        Pipe *r = &w->pipe[n];
        bool used = !r->parity || r->last != w->place || r->flies;
        for (int i = 0; i < w->block->u.block.n && !used; i++) {
            const Stmt *s = w->block->u.block.list[i];
            used = pipe_of(w, s) == n && stmt_uses(rest, s->u.tile.region[1].buf);
        }
        if (used)
            continue;
        build_add(b, release(w, r, stage_at(w, r), rest->span));
        r->early = true;
    }
}

static void open_tile(Roles *w, Opened *open, Pipe *r, const Buffer *tile)
{
    vec_push(w->k->scratch, open, ((Open){r, tile}));
}

/* What copies or an issuer brought, from here on. */
static void open_to_read(Roles *w, Builder *b, Pipe *r, Span at)
{
    open_pipe(w, b, r, at);
    build_add(b, barrier_call(w, at, INTRIN_WAIT_PHASE, r->full, stage_at(w, r),
                              expr_var(w->ir, r->parity)));
}

/* Where the loop stood, the consumer waits for its sums. */
static void open_sums(Roles *w, Builder *b, Opened *open, Pipe *r, const Stmt *block, int at)
{
    const Stmt *body = r->sums->u.loop.body;

    open_to_read(w, b, r, block->u.block.list[at]->span);
    r->last = at;
    for (int i = 0; i < body->u.block.n; i++) {
        const Stmt *mma = body->u.block.list[i];
        if (!is_issued(w, mma))
            continue;
        open_tile(w, open, r, mma->u.tile.region[2].buf);
        for (int j = at + 1; j < block->u.block.n; j++)
            if (stmt_uses(block->u.block.list[j], mma->u.tile.region[2].buf))
                r->last = MAX(r->last, j);
    }
}

/* The statement, with the stages of what is open. */
static const Stmt *use_open(Roles *w, const Opened *open, const Stmt *s)
{
    for (int j = 0; j < open->n; j++) {
        Buffer *to = map_get(&w->staged, open->at[j].tile);
        const Pipe *r = open->at[j].pipe;
        if (to && r->parity)
            s = stmt_use_stage(w->k, s, open->at[j].tile, to, stage_at(w, r));
    }
    return s;
}

/* What the statement at `i` of the block was the last to use. */
static void close_open(Roles *w, Builder *b, const Opened *open, const Stmt *block, int i)
{
    for (int j = 0; j < open->n; j++) {
        Pipe *r = open->at[j].pipe;
        if (!r->parity || r->last != i)
            continue;
        Span at = block->u.block.list[i]->span;
        if (!r->early)
            build_add(b, r->flies ? release_late(w, r, at) : release(w, r, stage_at(w, r), at));
        r->early = false;
        close_pipe(w, b, r, at);
    }
}

static const Stmt *consume_block(Roles *w, const Stmt *block)
{
    Builder b;
    Opened open = {0};
    const Stmt *outer = w->block;
    int place = w->place;

    build_open(&b, w->ir, NULL);
    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        Pipe *r = &w->pipe[pipe_of(w, s)], *sums = sums_of(w, s);
        if (sums) {
            open_sums(w, &b, &open, sums, block, i);
        } else if (r != w->pipe) {
            if (!r->parity) {
                find_last(w, block, pipe_of(w, s));
                open_to_read(w, &b, r, s->span);
            }
            open_tile(w, &open, r, s->u.tile.region[1].buf);
        } else {
            w->block = block;
            w->place = i;
            build_add(&b, use_open(w, &open, consume(w, s)));
        }
        close_open(w, &b, &open, block, i);
    }
    w->block = outer;
    w->place = place;
    return build_close(&b, block->span);
}

static bool is_of_pipe(const Stmt *s, void *roles)
{
    return pipe_of(roles, s) != 0;
}

static bool has_pipe(Roles *w, const Stmt *s)
{
    return stmt_any(s, is_of_pipe, w);
}

static const Stmt *as_block(Ir *ir, const Stmt *s)
{
    if (s->kind == ST_BLOCK)
        return s;
    Stmt *b = NEW(ir->arena, Stmt);
    const Stmt **list = NEWN(ir->arena, const Stmt *, 1);
    list[0] = s;
    *b = (Stmt){.kind = ST_BLOCK, .span = s->span, .u.block = {1, list}};
    return b;
}

static const Stmt *consume(Roles *w, const Stmt *s)
{
    Ir *ir = w->ir;

    if (!s || !has_pipe(w, s))
        return s;
    switch (s->kind) {
    case ST_BLOCK:
        return consume_block(w, s);
    case ST_FOR: {
        const Stmt *apart = overlap_mmas(w->k, s);
        if (apart) {
            Builder b;
            build_open(&b, ir, NULL);
            for (int i = 0; i < apart->u.block.n; i++) {
                if (i > 0 && i + 1 == apart->u.block.n)
                    release_early(w, &b, apart->u.block.list[i]);
                build_add(&b, consume(w, apart->u.block.list[i]));
            }
            return build_close(&b, s->span);
        }
        const Stmt *loop = w->loop, *after = w->after;
        w->loop = s;
        w->after = NULL;
        const Stmt *body = consume_block(w, as_block(ir, s->u.loop.body)), *tail = w->after;
        w->loop = loop;
        w->after = after;
        return stmt_seq(ir, stmt_for_as(ir, s, LOOP_SERIAL, body), tail);
    }
    case ST_IF:
        return stmt_if(ir, s->span, s->u.branch.cond, consume(w, s->u.branch.then),
                       consume(w, s->u.branch.orelse));
    case ST_TILE:
        return consume_block(w, as_block(ir, s));
    default:
        BUG(true, "a pipeline in a statement of kind %d", s->kind);
    }
    unreachable();
}

/* ---- the issuer ------------------------------------------------------------------------------ */

static const Stmt *issue_loop(Roles *w, Pipe *r, const Stmt *s)
{
    Ir *ir = w->ir;
    Builder b;

    build_open(&b, ir, NULL);
    open_pipe(w, &b, r, s->span);
    wait_empty(w, &b, r, s->span);
    const Stmt *loop = stmt_for_as(ir, s, LOOP_SERIAL, consume_block(w, s->u.loop.body));
    for (int i = 0; i < s->u.loop.body->u.block.n; i++) {
        const Stmt *t = s->u.loop.body->u.block.list[i];
        Buffer *to = is_issued(w, t) ? map_get(&w->staged, t->u.tile.region[2].buf) : NULL;
        if (to)
            loop = stmt_use_stage(w->k, loop, t->u.tile.region[2].buf, to, stage_at(w, r));
    }
    build_add(&b, loop);
    build_add(&b, commit(w, r->full, stage_at(w, r), false, s->span));
    close_pipe(w, &b, r, s->span);
    return build_close(&b, s->span);
}

static const Stmt *issue(void *roles, const Stmt *s)
{
    Roles *w = roles;

    if (!s || !stmt_any(s, has_sums, w))
        return s ? replay_of(&w->known, s) : NULL;
    if (sums_of(w, s))
        return issue_loop(w, sums_of(w, s), s);
    if (s->kind == ST_FOR)
        return stmt_for_as(w->ir, s, LOOP_SERIAL, issue(w, s->u.loop.body));
    if (s->kind == ST_IF) {
        const Stmt *then = issue(w, s->u.branch.then);
        return stmt_if(w->ir, s->span, s->u.branch.cond,
                       then ? then : stmt_block(w->ir, s->span, 0, NULL),
                       issue(w, s->u.branch.orelse));
    }
    BUG(s->kind != ST_BLOCK, "sums in a statement of kind %d", s->kind);
    Builder b;
    build_open(&b, w->ir, NULL);
    for (int i = 0; i < s->u.block.n; i++)
        build_add(&b, issue(w, s->u.block.list[i]));
    return build_close(&b, s->span);
}

/* ---- the producer ---------------------------------------------------------------------------- */

/* Those that are read: a copy may leave room between the elements of its tile. */
static int64_t pipe_bytes(Roles *w, const Stmt *block, int n)
{
    int64_t bytes = 0;

    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        if (pipe_of(w, s) == n)
            bytes += dtype_bytes(s->u.tile.region[0].buf->type, region_nelem(&s->u.tile.region[1]));
    }
    return bytes;
}

/* Which part of a shared copy this block brings, and the blocks that get it, as bits. */
static void add_part(Roles *w, const TilePlan *p, const Expr **part, const Expr **mask)
{
    Ir *ir = w->ir;
    const Expr *rank = expr_var(ir, w->rank), *step = num(w, p->share_step);
    int64_t bits = 0;

    for (int i = 0; i < p->share; i++)
        bits |= (int64_t)1 << (i * p->share_step);
    *part = rank;
    *mask = num(w, bits);
    if (p->share == w->cluster)
        return;
    *part = expr_floormod(ir, expr_floordiv(ir, rank, step), num(w, p->share));
    const Expr *first = expr_sub(ir, rank, expr_mul(ir, *part, step));
    *mask = expr_binary(ir, EX_SHL, *mask, first);
}

/* The copy, into the stage at hand, reporting to the pipeline. */
static const Stmt *fill_stage(Roles *w, const Pipe *r, const Stmt *copy)
{
    Ir *ir = w->ir;
    Buffer *tile = copy->u.tile.region[1].buf, *to = map_get(&w->staged, tile);
    int own = copy->u.tile.op->narg;
    const Expr *stage = stage_at(w, r), **arg = NEWN(ir->arena, const Expr *, own + 3);
    const TilePlan *p = tile_plan(w->k, copy);
    Stmt *s = NEW(ir->arena, Stmt);
    Region *region = NEWN(ir->arena, Region, 2);

    *s = *copy;
    region[0] = copy->u.tile.region[0];
    region[1] = to ? region_stage(ir, &copy->u.tile.region[1], to, stage) : copy->u.tile.region[1];
    for (int i = 0; i < own; i++)
        arg[i] = copy->u.tile.arg[i];
    arg[own] = expr_addr(ir, r->full, &stage, 1);
    s->u.tile.region = region;
    s->u.tile.narg = own + (p->share ? 3 : 1);
    s->u.tile.arg = arg;
    if (p->share)
        add_part(w, p, &arg[own + 1], &arg[own + 2]);
    return s;
}

static const Stmt *produce(Roles *w, const Stmt *s);

static const Stmt *produce_block(Roles *w, const Stmt *block)
{
    Builder b;

    build_open(&b, w->ir, NULL);
    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        int n = pipe_of(w, s);
        if (!n) {
            build_add(&b, produce(w, s));
            continue;
        }
        Pipe *r = &w->pipe[n];
        if (!r->parity) {
            open_pipe(w, &b, r, s->span);
            wait_empty(w, &b, r, s->span);
            build_add(&b, barrier_call(w, s->span, INTRIN_ARRIVE_BYTES, r->full, stage_at(w, r),
                                       num(w, pipe_bytes(w, block, n))));
        }
        build_add(&b, fill_stage(w, r, s));
        bool more = i + 1 < block->u.block.n && pipe_of(w, block->u.block.list[i + 1]) == n;
        if (!more)
            close_pipe(w, &b, r, s->span);
    }
    return build_close(&b, block->span);
}

/* Commits of other blocks arrive here: until all have, this one must not end. */
static void drain(Roles *w, Builder *b)
{
    for (int n = 1; n < PIPES_MOST && w->cluster > 1; n++) {
        Pipe *r = &w->pipe[n];
        for (int i = 0; r->commits && i < r->stages; i++) {
            open_pipe(w, b, r, w->k->span);
            wait_empty(w, b, r, w->k->span);
            close_pipe(w, b, r, w->k->span);
        }
    }
}

static const Stmt *produce(Roles *w, const Stmt *s)
{
    Ir *ir = w->ir;

    /* What the launch before wrote is not there before: for the copies neither. */
    if (s && s->kind == ST_CALL && s->u.call.which == INTRIN_PDL_SYNC)
        return s;
    if (!s || !has_pipe(w, s))
        return replay_of(&w->known, s);
    switch (s->kind) {
    case ST_BLOCK:
        return produce_block(w, s);
    case ST_TILE:
        return produce_block(w, as_block(ir, s));
    case ST_FOR:
        return stmt_for_as(ir, s, LOOP_SERIAL, produce_block(w, as_block(ir, s->u.loop.body)));
    case ST_IF: {
        const Stmt *then = produce(w, s->u.branch.then), *other = produce(w, s->u.branch.orelse);
        if (!then)
            then = stmt_block(ir, s->span, 0, NULL);
        return stmt_if(ir, s->span, s->u.branch.cond, then, other);
    }
    default:
        BUG(true, "a pipeline in a statement of kind %d", s->kind);
    }
    unreachable();
}

/* ---- names of the other role ----------------------------------------------------------------- */

static const Stmt *drop_let(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    return s->kind == ST_LET && !map_has(arg, s->u.let.var) ? NULL : s;
}

/* Each role keeps the names that it uses; one name may be there for another. */
static const Stmt *drop_names(Roles *w, const Stmt *body)
{
    for (const Stmt *before = NULL; before != body;) {
        Map used;
        map_init(&used, w->k->scratch);
        stmt_vars(body, &used);
        before = body;
        body = stmt_map(w->ir, body, drop_let, &used);
    }
    return body;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* What a thread of that side is to hold; 0: as launched.  Where the kernel asks for one side, the
 * other gets what is usual or what is left. */
static int64_t registers_of(Roles *w, bool producer)
{
    const Machine *m = w->k->machine;
    int n = kernel_block_threads(w->k) / machine_group(m), step = m->regs_step, few = 0, many = 0;
    bool known = m->split_regs && m->split_regs(m, n, &few, &many);
    int64_t give = hint_int(w->k->hints, "producer_registers", 0);
    int64_t take = hint_int(w->k->hints, "consumer_registers", 0);

    if ((!known && !(give && take)) || (!give && !take && !kernel_is_alone(w->k)))
        return 0; /* other blocks need some, too */
    if (!take) {
        take = many;
        if (give > few)
            take -= (give - few + n * step - 1) / (n * step) * step;
    }
    if (take <= m->regs_unit / ((n + 1) * machine_group(m)))
        return 0; /* they are launched with as many */
    return !producer ? take : give ? give : few;
}

static bool moves_registers(Roles *w, bool producer)
{
    return registers_of(w, producer) && !hint_int(w->k->hints, "keep_registers", 0);
}

/* Only a whole group of warps can hand registers over, and an issuer is the second warp of the
 * producer's.  Otherwise the producer is one warp: each other one would hold registers for nothing,
 * which another block could have. */
static int producer_threads(Roles *w)
{
    bool group = w->nsum || moves_registers(w, true) || moves_registers(w, false);
    return group ? ROLE_THREADS : MIN(w->k->machine->lanes, ROLE_THREADS);
}

static void move_registers(Roles *w, Builder *b, bool producer)
{
    int64_t n = registers_of(w, producer);

    if (!moves_registers(w, producer))
        return;
    const Expr **arg = NEWN(w->ir->arena, const Expr *, 2);
    arg[0] = num(w, n);
    arg[1] = num(w, producer ? 0 : 1);
    build_add(b, stmt_call(w->ir, NO_SPAN, INTRIN_SET_MAX_NREG, 2, arg, 0, NULL, NULL, NULL));
}

/* ---- warpgroups that start one after the other ----------------------------------------------- */

static bool is_short(const Stmt *s, void *roles)
{
    Roles *w = roles;
    int64_t iters = 0;

    return s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED && has_pipe(w, s) &&
           (!expr_is_int(s->u.loop.extent, &iters) || iters < w->pipe[1].stages);
}

/* Persistent blocks with per-warpgroup epilogue stores that fill one pipeline, in one loop of
 * enough iterations to use each stage. */
static bool may_stagger(Roles *w, const Stmt *body)
{
    bool apart = false;

    for (int i = 0; i < w->k->buffers.n; i++)
        apart |= buffer_plan(w->k, w->k->buffers.at[i])->groups > 1;
    return apart && !w->nsum && !stmt_any(body, is_short, w) && w->k->ngrid == 1 &&
           w->pipe[1].stages > 2 && !w->pipe[2].full &&
           config_on(w->k->func, CONFIG_staggered_start);
}

/* Warpgroups in step end their tiles together, and the matrix units wait while both store.  They
 * keep the distance they started with: the first starts with its first stage, the others when the
 * pipeline is full for the first time. */
static const Stmt *staggered_start(Roles *w)
{
    Ir *ir = w->ir;
    const Expr *group = expr_floordiv(ir, thread_in_block(w->k), num(w, ROLE_THREADS));
    const Stmt *wait = barrier_call(w, w->k->span, INTRIN_WAIT_PHASE, w->pipe[1].full,
                                    num(w, w->pipe[1].stages - 1), num(w, 0));
    return stmt_if(ir, w->k->span, expr_binary(ir, EX_GT, group, num(w, 0)), wait, NULL);
}

static const Stmt *role(Roles *w, RoleKind kind, int first, int n, const Stmt *body)
{
    int *groups = NEWN(w->ir->arena, int, n);
    Builder b;

    for (int i = 0; i < n; i++)
        groups[i] = first + i;
    build_open(&b, w->ir, NULL);
    if (kind != ROLE_ISSUER) /* which is of the producer's group */
        move_registers(w, &b, kind == ROLE_PRODUCER);
    if (kind == ROLE_PRODUCER && w->cluster > 1)
        build_add(&b, stmt_call(w->ir, w->k->span, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL,
                                w->rank));
    start_pipes(w, &b);
    if (kind == ROLE_CONSUMER && w->apart)
        build_add(&b, staggered_start(w));
    build_add(&b, drop_names(w, body));
    if (kind == ROLE_PRODUCER)
        drain(w, &b);
    return stmt_role(w->ir, w->k->span, kind, n, groups, build_close(&b, w->k->span));
}

static const Stmt *issuer_role(Roles *w, int group, const Stmt *body)
{
    const Stmt *own = drop_names(w, issue(w, body));

    while (replay_needs(&w->known, own))
        own = drop_names(w, issue(w, body));
    return role(w, ROLE_ISSUER, group, 1, own);
}

void pass_lower_warps(Kernel *k)
{
    Roles w = {.k = k, .ir = k->ir};
    int n = kernel_block_threads(k) / ROLE_THREADS;

    if (!kernel_has_producer(k))
        return;
    w.cluster = cluster_of_pipes(k);
    w.rank = var_new(k->ir, "rank", DT_I32, k->span);
    map_init(&w.staged, k->scratch);
    map_init(&w.summed, k->scratch);
    replay_learn(&w.known, k);
    stmt_visit(k->body, make_sums, &w);
    stmt_visit(k->body, shut_others, &w);
    stmt_visit(k->body, make_pipe, &w);
    const Stmt *body = as_block(k->ir, k->body);
    w.apart = may_stagger(&w, body);
    const Stmt *own = drop_names(&w, produce_block(&w, body));
    while (replay_needs(&w.known, own))
        own = drop_names(&w, produce_block(&w, body));
    const Stmt *producer = role(&w, ROLE_PRODUCER, n, 1, own);
    if (w.nsum)
        producer = stmt_seq(k->ir, producer, issuer_role(&w, n, body));
    const Stmt *consumer = role(&w, ROLE_CONSUMER, 0, n, consume_block(&w, body));
    k->extra_threads = producer_threads(&w);
    k->body = stmt_seq(k->ir, producer, consumer);
    if (w.cluster > 1)
        k->body = stmt_seq(k->ir, k->body,
                           stmt_call(k->ir, k->span, INTRIN_CLUSTER_SYNC, 0, NULL, 0, NULL, NULL,
                                     NULL));
}
