/* plan_warps.c -- warp specialization: what a producer warp takes over, and its pipelines.
 *
 * needs   FORM_HOW
 * gives   FORM_ROLES
 *
 * Where the machine has roles a warpgroup of its own issues the bulk copies of pipelined loops; the
 * kernel's threads only wait for data.  A copy goes to the producer when the producer can work out
 * alone where it is from and whether it happens (replay.c), and when its tile can be
 * multi-buffered: written by this copy alone, read only after it in the same block.  Copies that
 * stand side by side share a pipeline's barriers.
 *
 * Plans filled:  copies      pipe: the number of the pipeline, from 1
 *                buffers     stages of the pipeline
 *                MMAs        left_open: until the next one is issued, or those that a warp of
 *                            their own issues, until their loop is over
 *                copies      share: blocks of the cluster fill it together (plan_cluster.c)
 * What becomes of a bulk copy that gets no pipeline is said in copy_how.c. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"
#include "pass/plan_how.h"
#include "pass/plan_persistent.h"
#include "pass/plan_shared.h"
#include "pass/plan_warps.h"
#include "pass/replay.h"
#include "ir/config.h"

enum {
    THREADS_MOST = 512,
    BARRIERS = 1024,
    FLIGHT_BYTES = 64 << 10, /* that cover the way to memory */
    STAGE_LEAST = 4 << 10,   /* smaller tiles come with larger ones */
    STAGES_MOST = 8,
    SPARE_BYTES = 16 << 10,  /* of tiles whose places are not known yet */
};

typedef struct {
    const Stmt *copy;
    const Stmt *block; /* the list it stands in */
    int at;            /* its place there */
    const Stmt *loop;  /* directly around the block; NULL: none, or a branch between */
    int stages;        /* of the pipelined loop around; 0: none */
    bool known;        /* the producer can evaluate all that leads here */
    const char *why;   /* not, if it cannot be */
} Site;

typedef struct {
    Kernel *k;
    Replay known;    /* what the producer can work out */
    VEC(Site) sites;
    Map site_of;     /* copy -> index + 1 of its site */
} Warps;

/* ---- sites ----------------------------------------------------------------------------------- */

typedef struct {
    const Stmt *loop;
    int stages;
    bool known;
} Around;

static void find_sites(Warps *w, const Stmt *s, Around a);

static bool copy_is_known(Warps *w, const Stmt *s)
{
    const Region *r = &s->u.tile.region[0];
    for (int d = 0; d < r->buf->rank; d++)
        if (!replay_knows(&w->known, r->at[d]))
            return false;
    for (int i = 0; i < s->u.tile.narg; i++)
        if (!replay_knows(&w->known, s->u.tile.arg[i]))
            return false;
    return !map_has(&w->known.unknown, buffer_root(r->buf));
}

static bool is_let(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_LET;
}

static void find_in_block(Warps *w, const Stmt *block, Around a)
{
    for (int i = 0; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        if (s->kind == ST_TILE && tile_plan(w->k, s)->how->bulk &&
            s->u.tile.region[1].buf->scope == MEM_SHARED && s->u.tile.narg == s->u.tile.op->narg) {
            Site site = {s, block, i, a.loop, a.stages, a.known && copy_is_known(w, s), NULL};
            vec_push(w->k->scratch, &w->sites, site);
            map_set(&w->site_of, s, (void *)(intptr_t)w->sites.n);
        }
        Around inner = a;
        inner.loop = NULL;
        if (s->kind == ST_FOR)
            inner.loop = s;
        find_sites(w, s, inner);
    }
}

static void find_sites(Warps *w, const Stmt *s, Around a)
{
    switch (s->kind) {
    case ST_BLOCK:
        find_in_block(w, s, a);
        return;
    case ST_FOR:
        a.known = a.known && replay_knows(&w->known, s->u.loop.min) &&
                  replay_knows(&w->known, s->u.loop.extent);
        if (s->u.loop.how == LOOP_PIPELINED)
            a.stages = (int)MAX(hint_int(s->u.loop.hints, "num_stages", 1), 1);
        break;
    case ST_IF:
        a.known = a.known && replay_knows(&w->known, s->u.branch.cond) &&
                  (config_on(w->k->func, CONFIG_if_stmt_binding_inline_replayable_binds) ||
                   !stmt_any(s, is_let, NULL));
        break;
    default: a.known = false;
    }
    for (int i = 0; i < stmt_nkid(s); i++)
        find_sites(w, stmt_kid(s, i), a);
}

/* ---- uses of a tile -------------------------------------------------------------------------- */

typedef struct {
    const Buffer *buf;
    int n;
} Writes;

static void count_write(void *arg, const Stmt *s, const Touch *t)
{
    Writes *w = arg;
    w->n += !t->expr && s->kind != ST_CALL && touch_writes(t) && buffer_root(t->buf) == w->buf;
}

static int stmt_writes(const Stmt *s, const Buffer *b)
{
    Writes w = {buffer_root(b), 0};
    stmt_touches_all(s, count_write, &w);
    return w.n;
}

static const Buffer *tile_of(const Site *s)
{
    return s->copy->u.tile.region[1].buf;
}

typedef struct {
    const Buffer *tile;
    const Stmt *filler;
    bool found;
} Unstaged;

static void find_unstaged(void *arg, const Stmt *s, const Touch *t)
{
    Unstaged *u = arg;

    u->found |= t->buf == u->tile && t->region && s != u->filler && s->kind == ST_TILE &&
                !tile_does(s, TILE_STAGES);
}

static const char *not_a_pipe(Warps *w, const Site *s)
{
    const Buffer *b = tile_of(s);
    const BufferUses *u = buffer_uses(w->k, b);
    int after = 0;

    if (!s->known)
        return "where it is from depends on what the threads compute";
    if (u->writes != 1)
        return "its tile is also written elsewhere";
    for (int i = s->at + 1; i < s->block->u.block.n && after + 1 < u->uses; i++)
        after += stmt_uses(s->block->u.block.list[i], b);
    if (after + 1 != u->uses || u->addresses || u->viewed)
        return "its tile is read outside of the block that fills it";
    if (b->rank >= RANK_MOST)
        return "its tile has too many dimensions";
    Unstaged x = {.tile = b, .filler = s->copy};
    stmt_touches_all(s->block, find_unstaged, &x);
    if (x.found)
        return "its tile is used by something that takes no stages";
    int align = tile_plan(w->k, s->copy)->how->align;
    if (s->stages > 1 && dtype_bytes(b->type, buffer_static_size(b)) % align)
        return arena_printf(w->k->arena, "the second stage of its pipeline would not start at a "
                            "multiple of %d bytes", align);
    return NULL;
}

/* ---- MMAs in flight -------------------------------------------------------------------------- */

/* The only reader of the pipeline, when that is one MMA directly in the block. */
static const Stmt *only_reader(Warps *w, const Site *s)
{
    const Stmt *reader = NULL;
    const Buffer *b = tile_of(s);
    int left = buffer_uses(w->k, b)->uses - 1;

    for (int i = s->at + 1; i < s->block->u.block.n && left > 0; i++) {
        const Stmt *t = s->block->u.block.list[i];
        int uses = stmt_uses(t, b);
        left -= uses;
        if (!uses)
            continue;
        if (reader || !is_mma_in_flight(w->k, t))
            return NULL;
        reader = t;
    }
    return reader;
}

static bool is_pipe_here(Warps *w, const Stmt *block, const Buffer *b, int stages)
{
    for (int i = 0; i < w->sites.n; i++)
        if (tile_of(&w->sites.at[i]) == b)
            return !w->sites.at[i].why && w->sites.at[i].block == block &&
                   w->sites.at[i].stages >= stages;
    return false;
}

/* What opt_fold_clears makes of a result that is cleared before the loop. */
static const Expr *first_iter(Ir *ir, const Stmt *loop)
{
    return expr_binary(ir, EX_EQ, expr_var(ir, loop->u.loop.var), loop->u.loop.min);
}

/* May MMA t of the block go on while the next iteration starts? */
static bool may_fly(Warps *w, const Site *s, const Stmt *t)
{
    const Region *r = t->u.tile.region;

    if (!s->loop || s->stages < 2 || hint_int(t->u.tile.hints, "async", 0))
        return false;
    /* Under a condition, which iteration was the one before is known at run time only. */
    if (s->loop->u.loop.body != s->block)
        return false;
    if (t->u.tile.narg > 2 && t->u.tile.arg[2] && !expr_is_zero(t->u.tile.arg[2]) &&
        t->u.tile.arg[2] != first_iter(w->k->ir, s->loop))
        return false;
    for (int i = 0; i < s->block->u.block.n; i++) {
        const Stmt *o = s->block->u.block.list[i];
        if (o != t && (stmt_uses(o, r[2].buf) || is_mma_in_flight(w->k, o)))
            return false;
    }
    for (int i = 0; i < 2; i++)
        if (stmt_writes(s->block, r[i].buf) && !is_pipe_here(w, s->block, r[i].buf, 2))
            return false;
    return true;
}

static void let_fly(Warps *w)
{
    for (int i = 0; i < w->sites.n; i++) {
        const Site *s = &w->sites.at[i];
        const Stmt *t = s->why ? NULL : only_reader(w, s);
        if (t && may_fly(w, s, t))
            tile_plan(w->k, t)->left_open = true;
    }
}

/* ---- MMAs that a warp of their own issues ---------------------------------------------------- */

static bool region_is_known(Warps *w, const Region *r)
{
    for (int d = 0; d < r->buf->rank; d++)
        if (!replay_knows(&w->known, r->at[d]))
            return false;
    return true;
}

/* Operands come by pipelines of the loop, the sum begins with it: then nothing ties the MMA to the
 * threads that use the sum. */
static bool may_issue(Warps *w, const Stmt *loop, const Stmt *t)
{
    const Region *r = t->u.tile.region;

    if (!tile_does(t, TILE_MMA) || !tile_plan(w->k, t)->how->by_commit || t->u.tile.nregion != 3 ||
        hint_int(t->u.tile.hints, "async", 0) || t->u.tile.narg < 3 ||
        t->u.tile.arg[2] != first_iter(w->k->ir, loop))
        return false;
    for (int i = 0; i < 2; i++)
        if (!region_is_known(w, &r[i]) || !is_pipe_here(w, loop->u.loop.body, r[i].buf, 1))
            return false;
    return region_is_whole(&r[2]) && r[2].buf->rank == 2;
}

/* All that uses the sum but for the loop at `at` of the block copies it, after that. */
static bool sum_is_copied(Warps *w, const Stmt *block, int at, const Buffer *sum)
{
    const BufferUses *u = buffer_uses(w->k, sum);
    int uses = 1;

    for (int i = at + 1; i < block->u.block.n; i++) {
        const Stmt *s = block->u.block.list[i];
        s = s->kind == ST_IF && !s->u.branch.orelse ? s->u.branch.then : s;
        uses += tile_does(s, TILE_COPIES) && s->u.tile.region[0].buf == sum;
    }
    return stmt_uses(block->u.block.list[at], sum) == 1 && u->uses == uses && u->writes == 1 &&
           !u->addresses && !u->viewed;
}

/* A loop of copies by the producer and of such MMAs alone. */
static bool is_issue_loop(Warps *w, const Stmt *block, int at)
{
    const Stmt *loop = block->u.block.list[at];
    int nmma = 0;

    if (loop->kind != ST_FOR || loop->u.loop.how == LOOP_PARALLEL ||
        loop->u.loop.body->kind != ST_BLOCK)
        return false;
    for (int i = 0; i < loop->u.loop.body->u.block.n; i++) {
        const Stmt *s = loop->u.loop.body->u.block.list[i];
        intptr_t site = (intptr_t)map_get(&w->site_of, s);
        if ((site && !w->sites.at[site - 1].why) ||
            (s->kind == ST_LET && replay_knows(&w->known, s->u.let.value)))
            continue;
        if (!may_issue(w, loop, s) || !sum_is_copied(w, block, at, s->u.tile.region[2].buf))
            return false;
        nmma++;
    }
    return nmma > 0;
}

static bool plan_issue(const Stmt *s, void *warps)
{
    Warps *w = warps;

    for (int i = 0; s->kind == ST_BLOCK && i < s->u.block.n; i++) {
        if (!is_issue_loop(w, s, i))
            continue;
        const Stmt *body = s->u.block.list[i]->u.loop.body;
        for (int j = 0; j < body->u.block.n; j++)
            if (tile_does(body->u.block.list[j], TILE_MMA))
                tile_plan(w->k, body->u.block.list[j])->left_open = true;
    }
    return true;
}

/* ---- other copies ---------------------------------------------------------------------------- */

static bool is_other_copy(const Stmt *s, void *warps)
{
    Warps *w = warps;
    intptr_t site = (intptr_t)map_get(&w->site_of, s);

    return tile_brings(s, MEM_GLOBAL, MEM_SHARED) && (!site || w->sites.at[site - 1].why);
}

static bool has_other_copy(const Stmt *s, void *warps)
{
    return s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED &&
           stmt_any(s->u.loop.body, is_other_copy, warps);
}

/* A copy that the threads would make in the middle of a loop of the producer's stops everybody:
 * then all run ahead by themselves. */
static bool has_other_copies(Warps *w)
{
    return stmt_any(w->k->body, has_other_copy, w);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static const char *not_this_kernel(const Kernel *k)
{
    int n = kernel_block_threads(k);

    if (!kernel_has(k, HAS_GROUP_MMA) && !kernel_has(k, HAS_TENSOR_MEMORY))
        return "a producer warp needs MMAs of warpgroups";
    if (config_on(k->func, CONFIG_disable_warp_specialized))
        return "the pass config tl.disable_warp_specialized says so";
    if (k->uses_threads)
        return "the kernel is written per thread";
    if (k->threads[1] != 1 || k->threads[2] != 1 || n % ROLE_THREADS ||
        n > THREADS_MOST)
        return "the threads are not one row of warpgroups";
    if (stmt_leaves(k->body))
        return "the kernel leaves a loop early";
    return NULL;
}

static void give_back_lone(Warps *w, const Stmt *s, bool pipelined)
{
    if (map_has(&w->site_of, s))
        return;
    if (s->kind == ST_TILE && tile_plan(w->k, s)->how->bulk &&
        !tile_plan(w->k, s)->pipe && s->u.tile.region[1].buf->scope == MEM_SHARED &&
        s->u.tile.narg == s->u.tile.op->narg)
        copy_unpiped(w->k, s, pipelined, "it stands alone under a condition");
}

static bool give_back_staged(const Stmt *s, void *arg)
{
    give_back_lone(arg, s, true);
    return true;
}

/* A copy that is all of a branch or loop stands in no list: no site was made of it. */
static bool give_back_rest(const Stmt *s, void *arg)
{
    if (s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED)
        stmt_visit(s->u.loop.body, give_back_staged, arg);
    else
        give_back_lone(arg, s, false);
    return true;
}

/* As many stages as there is room for: the longest pipelines become shorter. */
static void fit_pipes(Warps *w)
{
    int64_t most = kernel_shared_most(w->k);

    while (most && shared_estimate(w->k, LIVE_LOOPS, NULL, NULL) + BARRIERS > most) {
        int longest = 1;
        for (int i = 0; i < w->sites.n; i++)
            if (!w->sites.at[i].why)
                longest = MAX(longest, w->sites.at[i].stages);
        if (longest == 1)
            return;
        for (int i = 0; i < w->sites.n; i++) {
            Site *s = &w->sites.at[i];
            if (s->why || s->stages != longest)
                continue;
            s->stages--;
            buffer_plan(w->k, tile_of(s))->stages = s->stages;
        }
    }
}

/* Where a block has the multiprocessor for itself and there is room, no pipeline has one stage
 * only: of a loop, one is filled while the other is read; and of what a persistent block loads once
 * for each tile, the next one is there when its tile begins. */
static void double_stages(Warps *w, bool lone)
{
    int64_t most = kernel_shared_most(w->k);

    for (int i = 0, end; i < w->sites.n; i = end) {
        Site *s = &w->sites.at[i];
        int pipe = tile_plan(w->k, s->copy)->pipe;
        for (end = i; end < w->sites.n &&
                      tile_plan(w->k, w->sites.at[end].copy)->pipe == pipe; end++) {}
        if (s->why || (lone ? s->stages > 0 || s->loop : s->stages != 1))
            continue;
        for (int stages = 2; stages > 0; stages--) {
            for (int j = i; j < end; j++) {
                w->sites.at[j].stages = lone ? 0 : stages;
                buffer_plan(w->k, tile_of(&w->sites.at[j]))->stages = stages;
            }
            if (!most || shared_estimate(w->k, LIVE_LOOPS, NULL, NULL) + BARRIERS <= most)
                break;
        }
    }
}

static void set_stages(Warps *w, int from, int end, int n)
{
    for (int i = from; i < end; i++) {
        w->sites.at[i].stages = n;
        buffer_plan(w->k, tile_of(&w->sites.at[i]))->stages = n;
    }
}

/* Where the stages are left to the compiler.  Small tiles on their way do not cover the way to
 * memory: a block that has the multiprocessor for itself takes more stages than it asks for, of
 * what nobody else could use. */
static void deepen(Warps *w)
{
    int64_t most = kernel_shared_most(w->k), iters;
    bool persistent = persistent_blocks(w->k) > 0;

    for (int i = 0, end; i < w->sites.n; i = end) {
        Site *s = &w->sites.at[i];
        int pipe = tile_plan(w->k, s->copy)->pipe, was = s->stages;
        int64_t bytes = 0;
        for (end = i; end < w->sites.n &&
                      tile_plan(w->k, w->sites.at[end].copy)->pipe == pipe; end++) {
            const Buffer *b = tile_of(&w->sites.at[end]);
            bytes += dtype_bytes(b->type, MAX(buffer_static_size(b), 0));
        }
        if (s->why || was < 2 || !s->loop || bytes < STAGE_LEAST)
            continue;
        int64_t n = MIN((FLIGHT_BYTES + bytes - 1) / bytes, STAGES_MOST);
        if (expr_is_int(s->loop->u.loop.extent, &iters) && !persistent)
            n = MIN(n, iters);
        for (; n > was; n--) {
            set_stages(w, i, end, (int)n);
            if ((!most || shared_estimate(w->k, LIVE_LOOPS, NULL, NULL) + SPARE_BYTES <= most) &&
                (persistent_blocks(w->k) > 0) == persistent)
                break;
        }
        set_stages(w, i, end, (int)MAX(n, was));
    }
}

/* Does it share the pipeline of the site before it? */
static bool is_joined(const Warps *w, int i)
{
    const Site *s = &w->sites.at[i], *before = i ? s - 1 : NULL;
    return before && !before->why && before->block == s->block && before->at + 1 == s->at;
}

static int count_pipes(const Warps *w)
{
    int n = 0;

    for (int i = 0; i < w->sites.n; i++)
        n += !w->sites.at[i].why && !is_joined(w, i);
    return n;
}

void pass_plan_warps(Kernel *k)
{
    Warps w = {.k = k};
    const char *why = NULL;
    bool pipelined = false;
    int pipe = 0;

    replay_learn(&w.known, k);
    map_init(&w.site_of, k->scratch);
    find_sites(&w, k->body, (Around){NULL, 0, true});
    why = not_this_kernel(k);
    for (int i = 0; i < w.sites.n; i++) {
        Site *s = &w.sites.at[i];
        s->why = why ? why : not_a_pipe(&w, s);
        pipelined |= !s->why && s->stages > 0;
    }
    if (pipelined && !config_given(k->func, CONFIG_enable_auto_warp_specialization) &&
        has_other_copies(&w)) {
        pipelined = false;
        why = "another copy of its loop cannot be a bulk copy";
    }
    if (pipelined && count_pipes(&w) >= PIPES_MOST) {
        pipelined = false;
        why = arena_printf(k->arena, "the kernel would take more than %d pipelines",
                           PIPES_MOST - 1);
    }
    for (int i = 0; i < w.sites.n; i++) {
        Site *s = &w.sites.at[i];
        if (!s->why && !pipelined)
            s->why = why ? why : "no loop overlaps copies with work";
        if (s->why) {
            copy_unpiped(k, s->copy, s->stages > 0, s->why);
            continue;
        }
        copy_piped(k, s->copy, is_joined(&w, i) ? pipe : ++pipe);
        buffer_plan(k, tile_of(s))->stages = MAX(s->stages, 1);
    }
    stmt_visit(k->body, give_back_rest, &w);
    fit_pipes(&w);
    bool chosen = config_on(k->func, CONFIG_auto_stages);
    if (chosen && kernel_block_threads(k) >= 2 * ROLE_THREADS)
        double_stages(&w, false);
    if (persistent_blocks(k) && !config_on(k->func, CONFIG_as_written))
        double_stages(&w, true);
    if (chosen && kernel_is_alone(k))
        deepen(&w);
    let_fly(&w);
    if (kernel_has(k, HAS_TENSOR_MEMORY))
        stmt_visit(k->body, plan_issue, &w);
}

static bool is_produced(const Stmt *s, void *kernel)
{
    return s->kind == ST_TILE && tile_plan(kernel, s)->pipe;
}

bool kernel_has_producer(Kernel *k)
{
    return stmt_any(k->body, is_produced, k);
}
