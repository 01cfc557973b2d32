/* plan_persistent.c -- is a kernel persistent, and in how many blocks?  (Kernel.persistent)
 *
 * needs   FORM_ROLES       it is where a producer fills pipelines
 *
 * A kernel with a producer warp fills a whole multiprocessor.  With a block per tile, its pipeline
 * is empty at the start of each tile; a block that takes one tile after the other lets the producer
 * fetch the next tile's operands while the threads still store the last one's result.  There are
 * as many blocks as the machine has units (the pass config tl.persistent_blocks says another
 * number; 0: a block per tile).  Kernels whose blocks differ in length keep the hardware's own
 * queue, unless one block index alone decides about it (causal attention). */
#include "pass/pass.h"
#include "pass/plan_persistent.h"
#include "pass/plan_shared.h"
#include "pass/plan_warps.h"
#include "ir/config.h"

enum {
    SAMPLES = 64,
    BARRIERS = 1024,
    BESIDE = 40,           /* registers of a thread, apart from its tiles */
};

static bool syncs_grid(const Stmt *s, void *arg)
{
    (void)arg;
    return stmt_calls(s, INTRIN_SYNC_GRID);
}

/* ---- how long blocks take -------------------------------------------------------------------- */

typedef struct {
    Kernel *k;
    Map lets;           /* names and their values */
    int64_t at;         /* of block index `dim` */
    int dim;
    bool known;         /* the iterations of all loops */
    int64_t iters;
} Length;

static bool see_let(const Stmt *s, void *arg)
{
    if (s->kind == ST_LET)
        map_set(&((Length *)arg)->lets, s->u.let.var, s->u.let.value);
    return true;
}

static const Expr *expanded(Length *l, const Expr *e)
{
    for (const Expr *before = NULL; before != e;) {
        before = e;
        e = expr_subst_map(l->k->ir, e, &l->lets, NULL);
    }
    return e;
}

static bool varies(Length *l, const Expr *e)
{
    e = expanded(l, e);
    bool differs = expr_has_load(e);
    for (int d = 0; d < l->k->ngrid; d++)
        differs |= expr_uses_var(e, l->k->block[d]);
    return differs;
}

static bool is_uneven_loop(const Stmt *s, void *length)
{
    bool loop = s->kind == ST_FOR && s->u.loop.how != LOOP_PARALLEL;
    return s->kind == ST_WHILE ||
           (loop && (varies(length, s->u.loop.extent) || varies(length, s->u.loop.min)));
}

static bool is_work(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_WHILE || (s->kind == ST_FOR && s->u.loop.how == LOOP_PIPELINED) ||
           tile_does(s, TILE_MMA);
}

static bool is_uneven_branch(const Stmt *s, void *arg)
{
    return s->kind == ST_IF && stmt_any(s, is_work, arg);
}

/* Do blocks differ in length, as far as can be told? */
bool blocks_differ(Kernel *k)
{
    Length l = {.k = k};

    map_init(&l.lets, k->scratch);
    stmt_visit(k->body, see_let, &l);
    return stmt_any(k->body, is_uneven_loop, &l) || stmt_any(k->body, is_uneven_branch, NULL);
}

static bool add_length(const Stmt *s, void *arg)
{
    Length *l = arg;
    Ir *ir = l->k->ir;
    int64_t n = 0;

    if (s->kind == ST_WHILE)
        l->known = false;
    if (s->kind != ST_FOR || s->u.loop.how == LOOP_PARALLEL)
        return true;
    const Expr *extent = expanded(l, s->u.loop.extent);
    extent = expr_subst(ir, extent, l->k->block[l->dim], expr_int(ir, l->at));
    if (!expr_is_int(simplify(ir, NULL, extent), &n))
        l->known = false;
    l->iters += n;
    return false;
}

/* Iterations of the outer loops of the blocks whose index `dim` is `at`; -1: nobody knows. */
static int64_t iters_at(Length *l, int64_t at)
{
    l->at = at;
    l->iters = 0;
    l->known = true;
    stmt_visit(l->k->body, add_length, l);
    return l->known ? l->iters : -1;
}

/* 1: the longer the higher the index, -1: the lower; 0: neither, or hardly. */
static int trend(Length *l, int64_t n)
{
    int64_t step = MAX(n / SAMPLES, 1), before = iters_at(l, 0), sum = 0, most = 0;
    int up = 0, down = 0, samples = 0;

    for (int64_t i = 0; i < n; i += step, samples++) {
        int64_t now = iters_at(l, i);
        if (now < 0)
            return 0;
        up += now > before;
        down += now < before;
        sum += now;
        most = MAX(most, now);
        before = now;
    }
    if (!!up == !!down || sum * 5 > most * samples * 4)
        return 0;
    return up ? 1 : -1;
}

BlockLength blocks_by_length(Kernel *k)
{
    Length l = {.k = k};
    int64_t n = 0;
    int way = 0;

    map_init(&l.lets, k->scratch);
    stmt_visit(k->body, see_let, &l);
    for (int d = 0; d < k->ngrid && !way; d++) {
        l.dim = d;
        if (expr_is_int(k->grid[d], &n) && n > 1)
            way = trend(&l, n);
    }
    if (!way)
        return (BlockLength){0};
    return (BlockLength){l.dim, way, MAX(iters_at(&l, 0), iters_at(&l, n - 1))};
}

/* ---- which kernels are ----------------------------------------------------------------------- */

bool grid_is_known(const Kernel *k, int64_t *blocks)
{
    int64_t n;

    *blocks = 1;
    for (int d = 0; d < k->ngrid; d++) {
        if (!k->block[d] || !expr_is_int(k->grid[d], &n) || n <= 0)
            return false;
        *blocks *= n;
    }
    return kernel_on_warps(k) && k->ngrid > 1 && *blocks <= INT32_MAX;
}

int cluster_size(const Kernel *k)
{
    return k->cluster[0] * k->cluster[1] * k->cluster[2];
}

/* Along one dimension, of blocks that share tiles, and even. */
static bool clusters_fit(Kernel *k)
{
    int along = 0;
    int64_t n;

    for (int d = 0; d < k->ngrid; d++) {
        along += k->cluster[d] > 1;
        if (!expr_is_int(k->grid[d], &n) || n % k->cluster[d])
            return false;
    }
    return along == 0 || (along == 1 && cluster_of_pipes(k) > 1);
}

static int64_t shared_bytes(Kernel *k)
{
    int64_t sum = 0;

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        const BufferPlan *p = buffer_plan(k, b);
        if (b->scope != MEM_SHARED || b->view_of)
            continue;
        int64_t n = p->layout ? layout_size(p->layout) : buffer_static_size(b);
        int64_t each = dtype_bytes(b->type, MAX(n, 0)), align = shared_alignment(k, b, each);
        sum += (each + align - 1) / align * align * MAX(p->stages, 1);
    }
    return sum;
}

/* In a persistent kernel the producer is ahead by a tile: nothing is free for others meanwhile. */
bool persistent_fits(Kernel *k)
{
    int64_t most = kernel_shared_most(k);

    return !most || shared_bytes(k) + BARRIERS <= most;
}

bool kernel_is_alone(Kernel *k)
{
    int64_t most = kernel_shared_most(k), need = BESIDE;
    int64_t threads = kernel_block_threads(k) + ROLE_THREADS;

    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_FRAGMENT && !b->view_of)
            need += dtype_bytes(b->type, MAX(buffer_static_size(b), 0)) / 4 /
                    kernel_block_threads(k);
    }
    return 2 * threads * need > k->machine->regs_unit ||
           (most && 2 * (shared_bytes(k) + BARRIERS) > most);
}

/* Panels are for GEMMs; other kernels are where a block surely has the multiprocessor for
 * itself, as those with two warpgroups of consumers and all its registers.  Where two blocks fit,
 * one works while the other waits, and the hardware's queue does as well. */
static bool fits(Kernel *k, int64_t nblock)
{
    int64_t blocks;

    if (nblock <= 0 || !grid_is_known(k, &blocks) || blocks <= nblock || !clusters_fit(k))
        return false;
    if (k->swizzle_panel && k->ngrid != 2)
        return false;
    if (k->swizzle_order && strcmp(k->swizzle_order, "column") == 0)
        return false;
    bool asked = config_given(k->func, CONFIG_persistent_blocks);
    if (!kernel_has_producer(k) || stmt_any(k->body, syncs_grid, NULL) || !persistent_fits(k) ||
        (!asked && !kernel_is_alone(k)) ||
        (!k->swizzle_panel && kernel_block_threads(k) < 2 * machine_group(k->machine)))
        return false;
    if (!blocks_differ(k))
        return true;
    return !k->swizzle_panel && cluster_size(k) == 1 && blocks_by_length(k).way;
}

static int64_t blocks_at_once(const Kernel *k)
{
    int64_t n = config_int(k->func, CONFIG_persistent_blocks);
    if (n < 0)
        n = config_on(k->func, CONFIG_as_written) ? 0 : k->machine->units;
    return n - n % cluster_size(k);
}

int persistent_blocks(Kernel *k)
{
    int64_t n = blocks_at_once(k);
    return fits(k, n) ? (int)n : 0;
}

void pass_plan_persistent(Kernel *k)
{
    k->persistent = persistent_blocks(k);
}
