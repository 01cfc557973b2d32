/* lower_warps_overlap.c -- ping-pong: two MMAs of a loop, with the work between them; of
 * lower_warps.
 *
 * In attention the scores of an iteration become the left operand of its second MMA.  The
 * matrix units would rest while ordinary code makes one of the other; so the second MMA is put off
 * into the next iteration, where it runs behind the first:
 *
 *     first(k)  work(k)  second(k)            first(0) work(0)
 *                                     ->      for k from 1: issue first(k), issue second(k - 1)
 *                                                 wait for first    work(k) up to second's operands
 *                                                 wait for second   the rest of work(k)
 *                                             second(last)
 *
 * All the warpgroups of a block want the matrix units at once, and then all of them do ordinary
 * work.  So they play ping-pong: each issues its two MMAs when the one before has issued its own,
 * and its work runs behind the MMAs of the others.  Named barrier 1 + g is warpgroup g's leave
 * to issue, given by the warpgroup before it; in its first iteration the first one needs none, and
 * after its last the last one gives none.  The pass config tl.ping_pong says whether they do (1) or
 * not (0). */
#include "pass/body_uses.h"
#include "pass/lower_unroll.h"
#include "pass/plan_how.h"
#include "pass/plan_warps.h"
#include "pass/thread_nest.h"
#include "ir/config.h"

enum { GROUPS_MOST = 3, COLUMNS_MOST = 128, BESIDE = 24 };

typedef struct {
    Kernel *k;
    Ir *ir;
    const Stmt *loop, *body;
    int first, second; /* places of the MMAs */
    int touch;         /* of the first statement after `first` that uses what `second` uses */
} Overlap;

static const Stmt *at(const Overlap *o, int i)
{
    return o->body->u.block.list[i];
}

static const Region *region_of(const Overlap *o, int i, int r)
{
    return &at(o, i)->u.tile.region[r];
}

/* A copy of the producer's that only the second MMA reads. */
static bool feeds_second(Overlap *o, int i)
{
    const Stmt *s = at(o, i);

    if (s->kind != ST_TILE || !tile_plan(o->k, s)->pipe)
        return false;
    return s->u.tile.region[1].buf == region_of(o, o->second, 1)->buf &&
           !stmt_uses(at(o, o->first), s->u.tile.region[1].buf);
}

/* A stage is full and free as a whole: copies that share one are not parted. */
static bool parts_stage(Overlap *o)
{
    for (int i = 0; i < o->second; i++)
        for (int j = 0; j < o->second && feeds_second(o, i); j++)
            if (at(o, j)->kind == ST_TILE && !feeds_second(o, j) &&
                tile_plan(o->k, at(o, j))->pipe == tile_plan(o->k, at(o, i))->pipe)
                return true;
    return false;
}

static bool uses_loop_var(const Overlap *o, const Stmt *t)
{
    for (int i = 0; i < t->u.tile.nregion; i++)
        for (int d = 0; d < t->u.tile.region[i].buf->rank; d++)
            if (expr_uses_var(t->u.tile.region[i].at[d], o->loop->u.loop.var))
                return true;
    return false;
}

static bool find_mmas(Overlap *o)
{
    int n = o->body->u.block.n, found = 0;

    for (int i = 0; i < n; i++) {
        if (!is_mma_in_flight(o->k, at(o, i)))
            continue;
        if (hint_int(at(o, i)->u.tile.hints, "async", 0) || tile_plan(o->k, at(o, i))->left_open)
            return false;
        *(found++ ? &o->second : &o->first) = i;
    }
    return found == 2 && o->second == n - 1;
}

/* Registers of a thread that a tile takes. */
static int64_t registers_of(const Overlap *o, const Buffer *b)
{
    return buffer_static_size(b) * dtype_bits(b->type) / 32 / kernel_block_threads(o->k);
}

/* Both results and what lies between them are alive at the same time, with some registers beside
 * them for sums and addresses. */
static bool has_registers(const Overlap *o)
{
    const Machine *m = o->k->machine;
    int n = kernel_block_threads(o->k) / machine_group(m), producer;
    int most = n == 1 ? m->regs_thread : 0;
    if (m->split_regs)
        m->split_regs(m, n, &producer, &most);
    int64_t need = registers_of(o, region_of(o, o->first, 2)->buf) +
                   registers_of(o, region_of(o, o->second, 0)->buf) +
                   registers_of(o, region_of(o, o->second, 2)->buf);
    return need + BESIDE <= most;
}

static bool fits(Overlap *o)
{
    if (!find_mmas(o) || !has_registers(o) || parts_stage(o))
        return false;
    const Region *a = region_of(o, o->second, 0), *c = region_of(o, o->second, 2);
    const Stmt *t = at(o, o->second);
    bool clears = t->u.tile.narg > 2 && t->u.tile.arg[2] && !expr_is_zero(t->u.tile.arg[2]);
    if (a->buf->scope != MEM_FRAGMENT || clears || uses_loop_var(o, t) ||
        region_of(o, o->first, 2)->buf == c->buf)
        return false;
    o->touch = o->second;
    bool fed = false;
    for (int i = 0; i < o->second; i++) {
        fed |= feeds_second(o, i);
        bool uses = stmt_uses(at(o, i), a->buf) || stmt_uses(at(o, i), c->buf);
        if (uses && i <= o->first)
            return false;
        if (uses)
            o->touch = MIN(o->touch, i);
    }
    return fed;
}

/* ---- building -------------------------------------------------------------------------------- */

/* The MMA, issued and not waited for. */
static const Stmt *issue(Overlap *o, const Stmt *t)
{
    Ir *ir = o->ir;
    Stmt *s = NEW(ir->arena, Stmt);
    Hint *h = NEWN(ir->arena, Hint, t->u.tile.hints.n + 1);

    *s = *t;
    for (int i = 0; i < t->u.tile.hints.n; i++)
        h[i] = t->u.tile.hints.at[i];
    h[t->u.tile.hints.n] = (Hint){.name = "async", .value = expr_int(ir, 1)};
    s->u.tile.hints = (Hints){h, t->u.tile.hints.n + 1};
    return s;
}

/* Until all but n groups are done; then the MMA's result and its operands are free. */
static const Stmt *wait_for(Overlap *o, const Stmt *t, int n)
{
    const Region *of = t->u.tile.region, r[3] = {of[2], of[0], of[1]};

    return stmt_wait(o->ir, t->span, QUEUE_MMA, n, 3, r);
}

static void add_feeds(Overlap *o, Builder *b)
{
    for (int i = 0; i < o->second; i++)
        if (feeds_second(o, i))
            build_add(b, at(o, i));
}

static const Stmt *loop_over(Overlap *o, const Expr *min, const Expr *extent, Builder *b)
{
    const Stmt *l = o->loop, *body = stmt_anew(o->k, build_close(b, l->span));
    return stmt_for_own(o->ir, stmt_for(o->ir, l->span, LOOP_SERIAL, l->u.loop.var, min, extent,
                                        (Hints){0}, body));
}

static const Expr *at_most_one(Ir *ir, const Expr *n)
{
    return expr_min(ir, n, expr_const(ir, (DType)n->type, 1));
}

/* The first iteration, without the second MMA. */
static const Stmt *start(Overlap *o)
{
    Builder b;

    build_open(&b, o->ir, NULL);
    for (int i = 0; i < o->second; i++)
        if (!feeds_second(o, i))
            build_add(&b, at(o, i));
    return loop_over(o, o->loop->u.loop.min, at_most_one(o->ir, o->loop->u.loop.extent), &b);
}

/* ---- ping-pong ------------------------------------------------------------------------------- */

/* With a result that is wide, MMAs take so much longer than the work that nothing is won. */
static bool is_ping_pong(Overlap *o)
{
    int n = kernel_block_threads(o->k) / machine_group(o->k->machine);
    const Region *c = region_of(o, o->second, 2);
    int64_t columns;
    bool narrow = expr_is_int(c->extent[c->buf->rank - 1], &columns) && columns <= COLUMNS_MOST;

    int64_t asked = config_int(o->k->func, CONFIG_ping_pong);
    return n > 1 && n <= GROUPS_MOST && (asked < 0 ? narrow : asked > 0);
}

/* The number of the leave of this warpgroup, or of the one after it. */
static const Expr *leave(Overlap *o, int after)
{
    Ir *ir = o->ir;
    int size = machine_group(o->k->machine);
    const Expr *group = expr_floordiv(ir, thread_in_block(o->k), expr_int(ir, size));
    const Expr *n = expr_int(ir, kernel_block_threads(o->k) / size);
    group = expr_floormod(ir, expr_add(ir, group, expr_int(ir, after)), n);
    return expr_add(ir, group, expr_int(ir, 1));
}

/* Wait for one's own leave, except where the first warpgroup is in the loop's first iteration; or
 * give the next one its own, except where the last one is in the last iteration. */
static const Stmt *hand_over(Overlap *o, Intrin which, const Expr *from, const Expr *extent)
{
    Ir *ir = o->ir;
    bool gives = which == INTRIN_BARRIER_ARRIVE;
    const Expr *k = expr_var(ir, o->loop->u.loop.var), **arg = NEWN(ir->arena, const Expr *, 2);
    const Expr *last = expr_sub(ir, expr_add(ir, from, extent), expr_const(ir, k->type, 1));

    arg[0] = leave(o, gives);
    arg[1] = expr_int(ir, 2 * machine_group(o->k->machine));
    const Stmt *call = stmt_call(ir, o->loop->span, which, 2, arg, 0, NULL, NULL, NULL);
    const Expr *other = expr_binary(ir, EX_NE, arg[0], expr_int(ir, 1));
    const Expr *inner = gives ? expr_lt(ir, k, last) : expr_lt(ir, from, k);
    return stmt_if(ir, o->loop->span, expr_binary(ir, EX_OR, other, inner), call, NULL);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static const Stmt *steady(Overlap *o)
{
    Ir *ir = o->ir;
    const Expr *one = expr_const(ir, o->loop->u.loop.var->type, 1);
    const Expr *from = expr_add(ir, o->loop->u.loop.min, one);
    const Expr *extent = expr_sub(ir, o->loop->u.loop.extent, one);
    bool ping_pong = is_ping_pong(o);
    Builder b;

    build_open(&b, ir, NULL);
    for (int i = 0; i < o->second; i++) {
        if (i == o->touch)
            build_add(&b, wait_for(o, at(o, o->second), 0));
        if (feeds_second(o, i))
            continue;
        if (i == o->first && ping_pong)
            build_add(&b, hand_over(o, INTRIN_SYNC_THREADS, from, extent));
        build_add(&b, i == o->first ? issue(o, at(o, i)) : at(o, i));
        if (i != o->first)
            continue;
        add_feeds(o, &b);
        build_add(&b, issue(o, at(o, o->second)));
        if (ping_pong)
            build_add(&b, hand_over(o, INTRIN_BARRIER_ARRIVE, from, extent));
        build_add(&b, wait_for(o, at(o, i), 1));
    }
    if (o->touch == o->second)
        build_add(&b, wait_for(o, at(o, o->second), 0));
    return loop_over(o, from, extent, &b);
}

static const Stmt *finish(Overlap *o)
{
    Builder b;

    build_open(&b, o->ir, NULL);
    add_feeds(o, &b);
    build_add(&b, at(o, o->second));
    return loop_over(o, o->loop->u.loop.min, at_most_one(o->ir, o->loop->u.loop.extent), &b);
}

const Stmt *overlap_mmas(Kernel *k, const Stmt *loop)
{
    Overlap o = {.k = k, .ir = k->ir, .loop = loop, .body = loop->u.loop.body};

    if (o.body->kind != ST_BLOCK || !fits(&o))
        return NULL;
    const Stmt *first = start(&o), *rest = steady(&o);
    return stmt_seq(k->ir, stmt_seq(k->ir, first, rest), finish(&o));
}
