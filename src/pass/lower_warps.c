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
 * Where blocks of a cluster fill tiles together (plan_cluster), each producer brings a part for all
 * of them: it may do so when the stage is empty in every block, so every consumer tells the
 * producers of all blocks.  No block ends before the others are done with it. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"
#include "pass/plan_persistent.h"
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
} Pipe;

typedef struct {
    Kernel *k;
    Ir *ir;
    Map staged; /* Buffer -> Buffer */
    Pipe pipe[PIPES_MOST];
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
        r->empty = barriers_new(w, "empty", n, stages,
                               kernel_block_threads(k) / kernel_warp(k) * w->cluster,
                               s->span);
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

static void start_pipes(Roles *w, Builder *b)
{
    for (int i = 0; i < PIPES_MOST; i++) {
        Pipe *r = &w->pipe[i];
        if (r->stage)
            build_add(b, scalar_set(w->k, NO_SPAN, r->stage, num(w, 0)));
        if (r->phase)
            build_add(b, scalar_set(w->k, NO_SPAN, r->phase, num(w, 0)));
    }
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static const Stmt *consume(Roles *w, const Stmt *s);

/* The warp is done with a stage; one lane says so, to each block of the cluster one.  An arrival
 * does not wait for loads that are under way, and a bulk copy goes another way than they: without a
 * fence it was seen to overtake them, where stores of other warps held them up. */
static const Stmt *release(Roles *w, const Pipe *r, const Expr *stage, Span at)
{
    Ir *ir = w->ir;
    const Expr *lane = expr_floormod(ir, thread_in_block(w->k), num(w, kernel_warp(w->k)));
    bool many = w->cluster > 1;
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

typedef struct { /* copies of a block so far; several may fill one pipeline */
    int n;
    int *pipe;
    const Buffer **tile;
} Opened;

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

static const Stmt *consume_block(Roles *w, const Stmt *block)
{
    Builder b;
    int nstmt = block->u.block.n;
    Opened open = {0, NEWN(w->k->scratch, int, nstmt), NEWN(w->k->scratch, const Buffer *, nstmt)};
    const Stmt *outer = w->block;
    int place = w->place;

    build_open(&b, w->ir, NULL);
    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        int n = pipe_of(w, s);
        if (n) {
            Pipe *r = &w->pipe[n];
            if (!r->parity) {
                find_last(w, block, n);
                open_pipe(w, &b, r, s->span);
                build_add(&b, barrier_call(w, s->span, INTRIN_WAIT_PHASE, r->full, stage_at(w, r),
                                           expr_var(w->ir, r->parity)));
            }
            open.pipe[open.n] = n;
            open.tile[open.n++] = s->u.tile.region[1].buf;
        } else {
            w->block = block;
            w->place = i;
            s = consume(w, s);
            for (int j = 0; j < open.n; j++) {
                Buffer *to = map_get(&w->staged, open.tile[j]);
                const Pipe *r = &w->pipe[open.pipe[j]];
                if (to && r->parity)
                    s = stmt_use_stage(w->k, s, open.tile[j], to, stage_at(w, r));
            }
            build_add(&b, s);
        }
        for (int j = 0; j < open.n; j++) {
            Pipe *r = &w->pipe[open.pipe[j]];
            if (!r->parity || r->last != i)
                continue;
            Span at = block->u.block.list[i]->span;
            if (!r->early)
                build_add(&b,
                          r->flies ? release_late(w, r, at) : release(w, r, stage_at(w, r), at));
            r->early = false;
            close_pipe(w, &b, r, at);
        }
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

/* ---- the producer ---------------------------------------------------------------------------- */

static int64_t pipe_bytes(Roles *w, const Stmt *block, int n)
{
    int64_t bytes = 0;

    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        if (pipe_of(w, s) == n)
            bytes += dtype_bytes(s->u.tile.region[1].buf->type, region_nelem(&s->u.tile.region[1]));
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
            const Expr *before = expr_binary(w->ir, EX_BITXOR, expr_var(w->ir, r->parity),
                                             num(w, 1));
            const Expr *stage = stage_at(w, r), *bytes = num(w, pipe_bytes(w, block, n));
            build_add(&b, barrier_call(w, s->span, INTRIN_WAIT_PHASE, r->empty, stage, before));
            build_add(&b,
                      barrier_call(w, s->span, INTRIN_ARRIVE_BYTES, r->full, stage, bytes));
        }
        build_add(&b, fill_stage(w, r, s));
        bool more = i + 1 < block->u.block.n && pipe_of(w, block->u.block.list[i + 1]) == n;
        if (!more)
            close_pipe(w, &b, r, s->span);
    }
    return build_close(&b, block->span);
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

static void move_registers(Roles *w, Builder *b, bool producer)
{
    int64_t n = registers_of(w, producer);

    if (!n || hint_int(w->k->hints, "keep_registers", 0))
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
    return apart && !stmt_any(body, is_short, w) && w->k->ngrid == 1 && w->pipe[1].stages > 2 &&
           !w->pipe[2].full && config_on(w->k->func, CONFIG_staggered_start);
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
    move_registers(w, &b, kind == ROLE_PRODUCER);
    if (kind == ROLE_PRODUCER && w->cluster > 1)
        build_add(&b, stmt_call(w->ir, w->k->span, INTRIN_BLOCK_RANK, 0, NULL, 0, NULL, NULL,
                                w->rank));
    start_pipes(w, &b);
    if (kind == ROLE_CONSUMER && w->apart)
        build_add(&b, staggered_start(w));
    build_add(&b, drop_names(w, body));
    return stmt_role(w->ir, w->k->span, kind, n, groups, build_close(&b, w->k->span));
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
    replay_learn(&w.known, k);
    stmt_visit(k->body, make_pipe, &w);
    const Stmt *body = as_block(k->ir, k->body);
    w.apart = may_stagger(&w, body);
    const Stmt *own = drop_names(&w, produce_block(&w, body));
    while (replay_needs(&w.known, own))
        own = drop_names(&w, produce_block(&w, body));
    const Stmt *producer = role(&w, ROLE_PRODUCER, n, 1, own);
    const Stmt *consumer = role(&w, ROLE_CONSUMER, 0, n, consume_block(&w, body));
    k->extra_threads = ROLE_THREADS;
    k->body = stmt_seq(k->ir, producer, consumer);
    if (w.cluster > 1)
        k->body = stmt_seq(k->ir, k->body,
                           stmt_call(k->ir, k->span, INTRIN_CLUSTER_SYNC, 0, NULL, 0, NULL, NULL,
                                     NULL));
}
