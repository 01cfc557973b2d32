/* bulk_copy.c -- bulk copies between tensors and shared memory, and what the launch answers.
 *
 * A load is an agent.  When it is issued its box in shared memory belongs to it: the issuing
 * thread must have seen whoever used that memory before.  It lands later, when the schedule says,
 * and then its bytes complete at its barrier in memory; whoever waited for that phase may touch the
 * box.  A load for several blocks of a cluster is an agent for each: it lands at the same place
 * of each and completes at the barrier of each.  A store reads shared memory until its thread has
 * waited for its group. */
#include "sim/machine.h"

typedef struct {
    SimAgent agent;
    SimRegion dst, src;
    int ndim, dim[2][RANK_MOST]; /* dimensions of dst and src that go together */
    int64_t extent[RANK_MOST];
    bool im2col;           /* src is pixels of an image: see pixel_at */
    int64_t right, down, pad, step, reach;
    uint32_t answer[4];    /* of the launch: the words, to dst */
} Box;

enum { DST, SRC };

/* ---- boxes ----------------------------------------------------------------------------------- */

static void take_box(Sim *m, const Stmt *s, Box *a)
{
    const Region *r = s->u.instr.region;
    RegionMatch match;
    if (!region_match(m->k, s->span, &r[DST], &r[SRC], &match))
        sim_give_up(m);
    a->agent.s = s;
    a->agent.block = m->block;
    a->dst = sim_region(m, s, &r[DST]);
    a->src = sim_region(m, s, &r[SRC]);
    a->ndim = match.n;
    int64_t n = 1;
    for (int i = 0; i < match.n; i++) {
        a->dim[DST][i] = match.dim[DST][i];
        a->dim[SRC][i] = match.dim[SRC][i];
        a->extent[i] = sim_int(m, match.extent[i]);
        n *= MAX(0, a->extent[i]);
    }
    bool narrow = dtype_bits(a->src.buf->type) < dtype_bits(a->dst.buf->type);
    a->agent.bytes = dtype_bytes((narrow ? a->src : a->dst).buf->type, n);
}

/* Where a filter's corner may lie along a side of n pixels: how many places. */
static int64_t places(const Box *a, int64_t n)
{
    return (n - 1 + 2 * a->pad - a->reach) / a->step + 1;
}

/* idx (n, h, w) is where the corner lies for the first pixel; made that of the tap of pixel i. */
static void pixel_at(const Box *a, const int64_t *shape, int64_t i, int64_t *idx)
{
    int64_t down = places(a, shape[1]), along = places(a, shape[2]);
    int64_t x = (idx[2] + a->pad) / a->step + i, y = (idx[1] + a->pad) / a->step + x / along;

    idx[0] += y / down;
    idx[1] = y % down * a->step - a->pad + a->down;
    idx[2] = x % along * a->step - a->pad + a->right;
}

/* Storage element at a point of the box, -1 outside a tensor. */
static int64_t box_element(Sim *m, const Box *a, const SimRegion *r, int which,
                           const int64_t *at)
{
    const SimMem *mem = r->mem;
    int64_t idx[RANK_MOST], offset = 0;
    memcpy(idx, r->at, sizeof idx);
    for (int i = 0; i < a->ndim; i++)
        if (a->im2col && which == SRC && a->dim[SRC][i] == 2)
            pixel_at(a, mem->shape, at[i], idx);
        else
            idx[a->dim[which][i]] += at[i];
    for (int d = 0; d < r->rank; d++) {
        if (idx[d] < 0 || idx[d] >= mem->shape[d]) {
            if (!mem->global)
                sim_fail(m, a->agent.s, "the box of this copy is outside '%s' [out-of-bounds]",
                         r->buf->name);
            return -1;
        }
        offset += idx[d] * mem->stride[d];
    }
    return mem->place ? mem->place[offset] : offset;
}

static bool box_is_empty(const Box *a)
{
    for (int i = 0; i < a->ndim; i++)
        if (a->extent[i] <= 0)
            return true;
    return false;
}

static void move_box(Sim *m, const SimAgent *agent)
{
    const Box *a = (const Box *)agent;
    int64_t at[RANK_MOST] = {0};
    SimMem *to = a->dst.mem;
    const SimMem *from = a->src.mem;
    if (box_is_empty(a))
        return;
    do {
        int64_t i = box_element(m, a, &a->src, SRC, at), j = box_element(m, a, &a->dst, DST, at);
        if (j < 0)
            continue;
        Value1 v = {0};
        if (i >= 0 && from->init && m->o.check_uninit && !mem_is_init(from, i))
            fail_uninitialised(m, from, i);
        if (i >= 0)
            v = value_cast(from->type, to->type, mem_read(from, i));
        if (to->watch)
            global_write(m, to, j, mem_holds(to, j, v));
        mem_write(to, j, v);
    } while (sim_next(a->ndim, a->extent, at));
}

/* The hardware knows the box, not the tile around it: what it moves has no gaps on chip, and starts
 * at a multiple of 128 bytes. */
static void check_dense(Sim *m, const Box *a, int which, bool run)
{
    enum { LINE = 128 };
    const SimRegion *r = which == DST ? &a->dst : &a->src;
    const SimMem *mem = r->mem;
    int64_t at[RANK_MOST] = {0}, least = INT64_MAX, most = -1, n = 0;

    if (mem->global || box_is_empty(a))
        return;
    do {
        int64_t i = box_element(m, a, r, which, at);
        least = MIN(least, i);
        most = MAX(most, i);
        n++;
    } while (sim_next(a->ndim, a->extent, at));
    if (most - least + 1 != n)
        sim_fail(m, a->agent.s, "the box of this copy has gaps in '%s': %lld elements over %lld "
                 "places [box-gaps]", r->buf->name, (long long)n, (long long)(most - least + 1));
    if (!run && least * dtype_bits(r->buf->type) / 8 % LINE)
        sim_fail(m, a->agent.s, "the box of this copy starts at byte %lld of '%s', which is no "
                 "multiple of %d [box-gaps]", (long long)(least * dtype_bits(r->buf->type) / 8),
                 r->buf->name, LINE);
}

/* Without a tensor map the hardware knows addresses alone: one run on each side, in whole units,
 * and nothing stops it at the end of a tensor. */
static void check_linear(Sim *m, const Box *a, int which)
{
    enum { UNIT = 16 };
    const SimRegion *r = which == DST ? &a->dst : &a->src;
    int64_t at[RANK_MOST] = {0}, first = -1, n = 0, bits = dtype_bits(r->buf->type);

    if (box_is_empty(a))
        return;
    do {
        int64_t i = box_element(m, a, r, which, at);
        if (i < 0)
            sim_fail(m, a->agent.s, "this copy reaches outside of '%s' [out-of-bounds]",
                     r->buf->name);
        first = n ? first : i;
        if (i != first + n++)
            sim_fail(m, a->agent.s, "this copy is not one run of '%s' [box-gaps]", r->buf->name);
    } while (sim_next(a->ndim, a->extent, at));
    if (first * bits / 8 % UNIT || n * bits / 8 % UNIT)
        sim_fail(m, a->agent.s, "this copy of %lld bytes of '%s' from byte %lld is not whole "
                 "units of %d [box-gaps]", (long long)(n * bits / 8), r->buf->name,
                 (long long)(first * bits / 8), UNIT);
}

/* Claim the box in shared memory for an agent. */
static void claim_box(Sim *m, const Box *a, int which, const Accessor *by)
{
    const SimRegion *r = which == DST ? &a->dst : &a->src;
    const SimMem *mem = r->mem;
    int64_t at[RANK_MOST] = {0};
    if (!mem->shadow || box_is_empty(a))
        return;
    do {
        int64_t i = box_element(m, a, r, which, at);
        if (which == DST)
            shadow_write(m, mem, i, by, false);
        else
            shadow_read(m, mem, i, by);
    } while (sim_next(a->ndim, a->extent, at));
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* It is on its way to block `to`; its bytes are counted by block `at`. */
static void send_box(Sim *m, const Box *box, const Region *bar, SimBlock *to, SimBlock *at)
{
    const SimThread *t = m->self;
    Box *b = NEW(m->arena, Box);
    SimAgent *a = &b->agent;

    *b = *box;
    block_must_live(m, a->s, to);
    if (to != m->block)
        b->dst.mem = block_mem(m, to, b->dst.buf);
    a->block = to;
    a->bar = barrier_at(m, at, a->s, bar->buf, barrier_index(m, bar));
    a->tick = ++a->bar->issued;
    if (t->clock)
        claim_box(m, b, DST, &(Accessor){a->bar->agent, a->tick, t->clock, true});
    threads_add_agent(m, a);
}

typedef enum { TILE, LINEAR, PIXELS, PAIR } LoadKind;

/* The corner of the filter has to lie where it may. */
static void take_pixels(Sim *m, const Stmt *s, Box *a)
{
    const Expr *const *arg = s->u.instr.arg;
    a->right = eval(m, arg[0]).i;
    a->down = eval(m, arg[1]).i;
    a->pad = eval(m, arg[2]).i;
    a->step = eval(m, arg[3]).i;
    a->reach = eval(m, arg[4]).i;
    a->im2col = true;
    const SimMem *image = a->src.mem;
    for (int d = 1; d < 3; d++) {
        int64_t at = a->src.at[d] + a->pad;
        if (at < 0 || at % a->step || at / a->step >= places(a, image->shape[d]))
            sim_fail(m, s, "the first pixel of this copy is not one that it walks over "
                     "[out-of-bounds]");
    }
    if (a->right < 0 || a->right > a->reach || a->down < 0 || a->down > a->reach)
        sim_fail(m, s, "this copy takes a tap that the filter does not have [out-of-bounds]");
}

static void load(Sim *m, const Stmt *s, LoadKind kind)
{
    SimThread *t = m->self;
    Box box;
    memset(&box, 0, sizeof box);
    box.agent.land = move_box;
    if (t == NULL && kind == PIXELS) {
        take_box(m, s, &box);
        take_pixels(m, s, &box);
        move_box(m, &box.agent);
        return;
    }
    if (t == NULL) {
        sim_copy(m, s, &s->u.instr.region[1], &s->u.instr.region[0]);
        return;
    }
    take_box(m, s, &box);
    if (kind == PIXELS)
        take_pixels(m, s, &box);
    check_dense(m, &box, DST, kind == LINEAR);
    if (kind == LINEAR) {
        check_linear(m, &box, SRC);
        check_linear(m, &box, DST);
    }
    agent_sees(m, &box.agent);
    const SimCluster *c = m->block->cluster;
    int narg = kind == TILE ? s->u.instr.narg : 0; /* with a policy 0 is this block */
    bool many = narg == 1 || (narg > 1 && !expr_is_zero(s->u.instr.arg[0]));
    int64_t mask = many ? eval(m, s->u.instr.arg[0]).i : 1 << m->block->rank;
    if (mask <= 0 || mask >> c->nblock)
        sim_fail(m, s, "a copy to the blocks 0x%llx of a cluster of %d [out-of-bounds]",
                 (unsigned long long)mask, c->nblock);
    for (int i = 0; i < c->nblock; i++)
        if (mask >> i & 1)
            send_box(m, &box, &s->u.instr.region[2], c->block[i],
                     kind == PAIR ? pair_block(m, s, 0) : c->block[i]);
    if (t->clock)
        t->clock[t->actor]++;
}

void simulate_tile_load(Sim *m, const Stmt *s)
{
    load(m, s, TILE);
}

void simulate_pair_load(Sim *m, const Stmt *s)
{
    load(m, s, PAIR);
}

void simulate_run_load(Sim *m, const Stmt *s)
{
    load(m, s, LINEAR);
}

void simulate_im2col_load(Sim *m, const Stmt *s)
{
    load(m, s, PIXELS);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* A load may; of a store an H200 makes an illegal instruction. */
static void check_start(Sim *m, const Box *a)
{
    for (int d = 0; d < a->dst.rank; d++)
        if (a->dst.at[d] < 0)
            sim_fail(m, a->agent.s, "this bulk store starts before '%s', at %lld of dimension %d "
                     "[out-of-bounds]", a->dst.buf->name, (long long)a->dst.at[d], d);
}

static void store(Sim *m, const Stmt *s, bool run)
{
    SimThread *t = m->self;
    Box a = {0};
    if (t == NULL) {
        sim_copy(m, s, &s->u.instr.region[1], &s->u.instr.region[0]);
        return;
    }
    take_box(m, s, &a);
    check_dense(m, &a, SRC, run);
    if (run) {
        check_linear(m, &a, SRC);
        check_linear(m, &a, DST);
    } else {
        check_start(m, &a);
    }
    if (t->clock)
        claim_box(m, &a, SRC, &(Accessor){agent_of_stores(m, t), t->stores_committed + 1,
                                          t->clock, true});
    move_box(m, &a.agent);
    t->stores_open = s;
}

void simulate_tile_store(Sim *m, const Stmt *s)
{
    store(m, s, false);
}

void simulate_run_store(Sim *m, const Stmt *s)
{
    store(m, s, true);
}

Value1 exec_stores(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    if (t == NULL)
        return NO_VALUE;
    if (s->u.call.which == INTRIN_COMMIT_STORES) {
        t->stores_committed++;
        if (t->stores_open)
            t->stores_issued = t->stores_open;
        t->stores_open = NULL;
        return NO_VALUE;
    }
    int64_t left = s->u.call.n && s->u.call.arg[0] ? eval(m, s->u.call.arg[0]).i : 0;
    if (left < t->stores_committed)
        t->stores_done = MAX(t->stores_done, t->stores_committed - (uint32_t)left);
    if (t->stores_done == t->stores_committed)
        t->stores_issued = NULL;
    if (t->clock && t->store_agent)
        t->clock[t->store_agent] = MAX(t->clock[t->store_agent], t->stores_done);
    return NO_VALUE;
}

/* ---- what the launch answers ----------------------------------------------------------------- */

enum { ANSWER_WORDS = 4 };

static void put_answer(Sim *m, const SimAgent *agent)
{
    const Box *a = (const Box *)agent;
    int64_t at[RANK_MOST] = {0};

    for (int i = 0; i < ANSWER_WORDS; i++, sim_next(a->ndim, a->extent, at))
        mem_write(a->dst.mem, box_element(m, a, &a->dst, DST, at), (Value1){.i = a->answer[i]});
}

/* Indices of the first block of a cluster that the launch gives away, and whether there is one. */
Value1 exec_clc_try(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    const SimCluster *c = m->block->cluster;
    int64_t first[3] = {0};
    bool got = launch_take(m, first);
    Box a = {.agent = {.s = s, .bytes = ANSWER_WORDS * 4, .land = put_answer},
             .dst = sim_region(m, s, &s->u.call.region[0]),
             .answer = {(uint32_t)first[0], (uint32_t)first[1], (uint32_t)first[2], got}};

    a.ndim = a.dst.rank;
    for (int d = 0; d < a.ndim; d++) {
        a.dim[DST][d] = d;
        a.extent[d] = a.dst.extent[d];
    }
    agent_sees(m, &a.agent);
    for (int b = 0; b < c->nblock; b++)
        if (sim_is_true(m, s->u.call.arg[0]) || c->block[b] == m->block)
            send_box(m, &a, &s->u.call.region[1], c->block[b], c->block[b]);
    if (t->clock)
        t->clock[t->actor]++;
    return NO_VALUE;
}

/* What was read may be written by the launch again: the fence for that is the query's. */
Value1 exec_clc_query(Sim *m, const Stmt *s)
{
    SimRegion r = sim_region(m, s, &s->u.call.region[0]);
    int64_t at[RANK_MOST] = {0}, which = eval(m, s->u.call.arg[0]).i;
    Value1 v[ANSWER_WORDS];

    for (int i = 0; i < ANSWER_WORDS; i++, sim_next(r.rank, r.extent, at))
        sim_get(m, s, &r, at, &v[i]);
    exec_fence(m, s);
    return v[3].i ? v[which] : (Value1){0};
}
