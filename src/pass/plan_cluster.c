/* plan_cluster.c -- which tiles the blocks of a cluster fill together.
 *
 * Blocks beside each other in the grid often want the same tile: those of one row of a GEMM the
 * same rows of A, those of one column the same columns of B.  In a cluster each of them loads a
 * part of it and the hardware puts it into the shared memory of all.  That needs the same
 * iterations in all of them: what decides how often and whether a pipeline is filled must not
 * depend on the block's place in the cluster.
 *
 * A kernel that asks for clusters (T.ClusterKernel) gets every copy shared that can be.
 * GEMMs that do not ask get pairs of blocks where that is even and pays, along the dimension whose
 * neighbours have more bytes in common.  It pays where blocks are persistent (plan_persistent) and
 * their tiles take few iterations: the second cache is then what they wait for.  Measured, pairs
 * gain 1 % at 8 to 24 iterations and lose as much in long loops, where the blocks wait for each
 * other, and in a grid of one wave (the pass config tl.cluster says how many blocks; 1: none).
 * Rows that start in the middle of a line of the cache cost two requests for one: then pairs gain
 * up to a quarter, however long the loop is.
 *
 * Plans filled:  copies      share, share_step
 *                kernel      cluster */
#include "pass/pass.h"
#include "pass/plan_persistent.h"
#include "ir/config.h"

enum { ROWS = 8, DIMS = 3, ALL = 7, MOST = 8, PAIR = 2, FEW_ITERS = 24 };

static const unsigned char bits_table[ALL + 1] = {0, 1, 2, 3, 4, 5, 6, 7};

typedef struct {
    Kernel *k;
    Map follows;      /* Var -> bits_table: the dimensions of the grid that its value depends on */
    unsigned control; /* those that decide how pipelines are filled */
    int64_t iters;    /* of the longest loop that fills one; INT64_MAX: nobody knows */
    VEC(const Stmt *) copies;
    VEC(unsigned) depends; /* of each */
} Cluster;

typedef struct {
    Cluster *c;
    unsigned bits;
} Bits;

static bool see_var(const Expr *e, void *arg)
{
    Bits *b = arg;
    const unsigned char *of;

    if (e->op == EX_LOAD || e->op == EX_ADDR || e->op == EX_EXTERN)
        b->bits = ALL;
    if (e->op != EX_VAR)
        return true;
    for (int d = 0; d < DIMS; d++)
        if (e->u.var == b->c->k->block[d])
            b->bits |= 1u << d;
    of = map_get(&b->c->follows, e->u.var);
    b->bits |= of ? *of : 0;
    return true;
}

static unsigned bits_of(Cluster *c, const Expr *e)
{
    Bits b = {c, 0};
    if (e)
        expr_visit(e, see_var, &b);
    return b.bits;
}

static void follow(Cluster *c, const Var *v, unsigned bits)
{
    map_set(&c->follows, v, &bits_table[bits & ALL]);
}

/* Copies in order, with what leads to them; true: there is one in s. */
static bool find(Cluster *c, const Stmt *s)
{
    bool any = false;

    if (!s)
        return false;
    switch (s->kind) {
    case ST_BLOCK:
    case ST_ROLE:
        for (int i = 0; i < stmt_nkid(s); i++)
            any |= find(c, stmt_kid(s, i));
        return any;
    case ST_LET:
        follow(c, s->u.let.var, bits_of(c, s->u.let.value));
        return false;
    case ST_FOR: {
        unsigned bits = bits_of(c, s->u.loop.min) | bits_of(c, s->u.loop.extent);
        follow(c, s->u.loop.var, bits);
        any = find(c, s->u.loop.body);
        c->control |= any ? bits : 0;
        int64_t iters = INT64_MAX;
        expr_is_int(s->u.loop.extent, &iters);
        c->iters = any ? MAX(c->iters, iters) : c->iters;
        return any;
    }
    case ST_WHILE:
    case ST_IF:
        any = find(c, s->u.branch.then);
        any |= find(c, s->u.branch.orelse);
        c->control |= any ? bits_of(c, s->u.branch.cond) | (s->kind == ST_WHILE ? ALL : 0) : 0;
        return any;
    case ST_CALL:
        if (s->u.call.bind)
            follow(c, s->u.call.bind, ALL);
        if (s->u.call.which == INTRIN_CLUSTER_SYNC || s->u.call.which == INTRIN_CLUSTER_ARRIVE ||
            s->u.call.which == INTRIN_CLUSTER_WAIT) /* the producer does not come by there */
            c->control = ALL;
        return false;
    case ST_ATOMIC:
        if (s->u.atomic.bind)
            follow(c, s->u.atomic.bind, ALL);
        return false;
    case ST_TILE: {
        if (!tile_plan(c->k, s)->pipe)
            return false;
        const Region *r = &s->u.tile.region[0];
        bool bulk = tile_does(s, TILE_COPIES) && tile_plan(c->k, s)->how->multicast;
        unsigned bits = bulk ? 0 : ALL; /* others have no form for several blocks */
        for (int d = 0; d < r->buf->rank; d++)
            bits |= bits_of(c, r->at[d]);
        vec_push(c->k->scratch, &c->copies, s);
        vec_push(c->k->scratch, &c->depends, bits);
        return true;
    }
    default:
        return false;
    }
}

/* Parts of whole groups of rows, so that each part of a swizzled tile is one too. */
static bool can_part(const Stmt *copy, int n)
{
    const Region *r = &copy->u.tile.region[1];
    int64_t rows = r->buf->rank >= 2 ? region_extent_int(r, r->buf->rank - 2) : 0;
    return rows > 0 && rows % (ROWS * n) == 0;
}

static bool can_share(const Cluster *c, int i, int d, int n)
{
    return !(c->depends.at[i] >> d & 1) && !(c->control >> d & 1) && can_part(c->copies.at[i], n);
}

/* Bytes of an iteration of the pipelines that neighbours along d have in common. */
static int64_t common_bytes(const Cluster *c, int d, int n)
{
    int64_t total = 0;

    for (int i = 0; i < c->copies.n; i++) {
        const Region *r = &c->copies.at[i]->u.tile.region[1];
        if (can_share(c, i, d, n))
            total += dtype_bytes(r->buf->type, region_nelem(r));
    }
    return total;
}

static bool divides(const Kernel *k, int d, int n)
{
    int64_t extent;
    return expr_is_int(k->grid[d], &extent) && extent % n == 0;
}

/* Does a row of what a copy reads start in the middle of a line of the cache? */
static bool cuts_lines(const Cluster *c)
{
    int64_t elems, line = c->k->machine->line_bytes;

    for (int i = 0; line && i < c->copies.n; i++) {
        const Buffer *b = c->copies.at[i]->u.tile.region[0].buf;
        if (b->rank >= 2 && expr_is_int(b->shape[b->rank - 1], &elems) &&
            dtype_bytes(b->type, elems) % line)
            return true;
    }
    return false;
}

/* Clusters for a GEMM that did not ask for any. */
static void choose(Cluster *c)
{
    Kernel *k = c->k;
    int n = (int)config_int(k->func, CONFIG_cluster), best = -1;
    int64_t most = 0;

    if (n == 0 && k->ngrid == 2 && !config_on(k->func, CONFIG_as_written))
        n = cuts_lines(c) || (c->iters <= FEW_ITERS && persistent_blocks(k)) ? PAIR : 1;

    if (n < 2 || n > MOST || k->ngrid != 2 || !k->swizzle_panel)
        return;
    for (int d = 0; d < 2; d++) {
        int64_t bytes = divides(k, d, n) ? common_bytes(c, d, n) : 0;
        if (bytes > most) {
            most = bytes;
            best = d;
        }
    }
    if (best >= 0)
        k->cluster[best] = n;
}

void pass_plan_cluster(Kernel *k)
{
    Cluster c = {.k = k};

    map_init(&c.follows, k->scratch);
    for (int i = 0; i < k->tiles.n; i++) /* it may have been planned before */
        k->tiles.at[i].share = k->tiles.at[i].share_step = 0;
    if (!find(&c, k->body))
        return;
    if (k->cluster[0] * k->cluster[1] * k->cluster[2] <= 1)
        choose(&c);
    for (int d = 0; d < DIMS; d++)
        if (k->cluster[d] > 1 && c.control >> d & 1)
            return;
    for (int i = 0; i < c.copies.n; i++) {
        TilePlan *p = tile_plan(k, c.copies.at[i]);
        int step = 1;
        for (int d = 0; d < DIMS; d++) {
            if (k->cluster[d] > 1 && !p->share && can_share(&c, i, d, k->cluster[d])) {
                p->share = k->cluster[d];
                p->share_step = step;
            }
            step *= MAX(k->cluster[d], 1);
        }
    }
}

static bool is_shared(const Stmt *s, void *kernel)
{
    return s->kind == ST_TILE && tile_plan(kernel, s)->share;
}

int cluster_of_pipes(Kernel *k)
{
    return stmt_any(k->body, is_shared, k) ? cluster_size(k) : 1;
}
