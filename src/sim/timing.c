/* timing.c -- a model of when: each thread has a clock, which what it does moves on.
 *
 * Rates are the machine's where it knows them; latencies are those of no machine, of the size that
 * large GPUs have.  What the model keeps to is the schedule: who waits for which copy, barrier or
 * product, and what goes on meanwhile.  Threads run one after the other here, so a resource that
 * they share is given to each in equal parts, and bank conflicts are those that a run before has
 * counted, in the mean.  Of each warp the first thread that works is written down.  There are no
 * caches. */
#include <math.h>
#include "sim/machine.h"

/* Cycles, and what a block is given in one where its machine does not say. */
enum {
    GLOBAL_LATENCY = 600, SHARED_LATENCY = 30, BARRIER_COST = 20, MATRIX_LATENCY = 30,
    GLOBAL_BYTES = 16, SHARED_BYTES = 128,
    MACS = 2048,     /* of 16-bit operands; of others in proportion */
    SCHEDULERS = 4,  /* warps that issue in one cycle */
    SPANS_MOST = 1 << 18,
};

static double global_bytes(const Sim *m)
{
    const Machine *of = m->k->machine;
    double cycles = of->clock_ghz * of->units;
    return of->memory_gbs > 0 && cycles > 0 ? of->memory_gbs / cycles : GLOBAL_BYTES;
}

static double shared_bytes(const Sim *m)
{
    int bytes = m->k->machine->banks * m->k->machine->bank_bytes;
    return bytes ? bytes : SHARED_BYTES;
}

static double products(const Sim *m)
{
    return m->k->machine->mma_rate ? m->k->machine->mma_rate : MACS;
}

struct SimTimes {
    Arena *arena;
    SimSpans spans;
    int nblock;
};

SimTimes *times_new(Arena *a)
{
    SimTimes *t = NEW(a, SimTimes);
    t->arena = a;
    return t;
}

const SimSpans *times_spans(const SimTimes *t)
{
    return &t->spans;
}

/* ---- what is written down -------------------------------------------------------------------- */

static void put_span(Sim *m, SimWork w, const Stmt *s, double from, double to)
{
    SimTimes *all = m->o.times;
    SimThread *t = m->self;
    bool producer = t->role && t->role->u.role.kind == ROLE_PRODUCER;

    if (t->block->sampled == 0)
        t->block->sampled = ++all->nblock;
    if (t->index % m->warp != 0 || t->block->sampled > TIMED_BLOCKS || w == SIM_NOTHING)
        return;
    SimSpan n = {t->block->sampled - 1, t->index / m->warp, s->span.line, producer, w, from, to};
    for (int i = all->spans.n - 1; i >= 0 && i >= all->spans.n - 2; i--) {
        SimSpan *last = &all->spans.at[i];
        if (last->block == n.block && last->warp == n.warp && last->line == n.line &&
            last->work == w && last->to == from) {
            last->to = to;
            return;
        }
    }
    if (all->spans.n < SPANS_MOST)
        vec_push(all->arena, &all->spans, n);
}

void times_until(Sim *m, double when, SimWork w, const Stmt *s)
{
    SimThread *t = m->self;

    if (!m->o.times || !t || when <= t->time)
        return;
    put_span(m, w, s, t->time, when);
    t->time = when;
}

/* ---- costs ----------------------------------------------------------------------------------- */

typedef struct {
    int operators;
    double global, shared; /* bytes */
    int nshared;           /* accesses */
    bool reads_global;
} Cost;

static double bytes_of(const Buffer *b, int lanes)
{
    return (double)dtype_bits(b->type) * lanes / 8;
}

static void add_access(Cost *c, const Buffer *b, int lanes, bool reads)
{
    c->global += b->scope == MEM_GLOBAL ? bytes_of(b, lanes) : 0;
    c->shared += b->scope == MEM_SHARED ? bytes_of(b, lanes) : 0;
    c->nshared += b->scope == MEM_SHARED;
    c->reads_global |= reads && b->scope == MEM_GLOBAL;
}

static bool count_expr(const Expr *x, void *arg)
{
    Cost *c = arg;

    if (x->op == EX_LOAD)
        add_access(c, x->u.buf, x->lanes, true);
    else if (x->nkid)
        c->operators += x->op == EX_MATH ? 4 : 1;
    return true;
}

static Cost cost_of(const Stmt *s)
{
    Cost c = {0};

    stmt_visit_expr(s, count_expr, &c);
    if (s->kind == ST_STORE)
        add_access(&c, s->u.store.buf, s->u.store.value->lanes, false);
    else if (s->kind == ST_ATOMIC)
        add_access(&c, s->u.atomic.buf, 1, true);
    return c;
}

/* Where more warps want a unit than it takes at once, each has its turn. */
static double shared_by_warps(const Sim *m, double cycles)
{
    int warps = kernel_block_threads(m->k) / m->warp;
    return cycles * MAX(1.0, (double)warps / SCHEDULERS);
}

static double region_bytes(Sim *m, const Stmt *s, int i)
{
    SimRegion r = sim_region(m, s, &s->u.instr.region[i]);
    double n = (double)dtype_bits(r.buf->type) / 8;
    for (int d = 0; d < r.rank; d++)
        n *= (double)r.extent[d];
    return n;
}

/* Elements of A (m k), B (k n) and C (m n): the square root of their product is m n k. */
static double product_cycles(Sim *m, const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;
    double all = 1, bits = dtype_bits(s->u.instr.region[0].buf->type);

    for (int i = 0; i < 3; i++) {
        SimRegion r = sim_region(m, s, &s->u.instr.region[i]);
        all *= isa->lanes[i] && r.rank == 1 ? m->group : 1; /* of each thread its own slots */
        for (int d = 0; d < r.rank; d++)
            all *= (double)r.extent[d];
    }
    if (isa->mma)
        all = pow((double)isa->mma->m * isa->mma->n * isa->mma->k, 2);
    return sqrt(all) * (bits / 16) / products(m);
}

/* ---- what a thread does ---------------------------------------------------------------------- */

/* A row of accesses waits for memory once. */
static void memory_access(Sim *m, const Stmt *s, const Cost *c)
{
    SimThread *t = m->self;
    int threads = kernel_block_threads(m->k);
    double cycles = c->global * threads / global_bytes(m) + c->shared * threads / shared_bytes(m);
    double turns = m->o.banks ? stats_turns(m->o.banks, s) * c->nshared : 0;
    bool copies = c->global > 0 || (s->kind == ST_STORE && s->u.store.async);

    cycles += turns * threads / m->warp; /* each warp's, at the banks that all share */
    if (s->kind == ST_STORE && s->u.store.async) {
        t->landing = MAX(t->landing, t->time) + cycles;
        times_until(m, t->time + shared_by_warps(m, 1), SIM_COPY, s);
        return;
    }
    if (!t->in_row)
        cycles += c->reads_global ? GLOBAL_LATENCY : c->shared > 0 ? SHARED_LATENCY : 0;
    t->in_row = true;
    cycles += shared_by_warps(m, c->operators);
    times_until(m, t->time + cycles, copies ? SIM_COPY : SIM_COMPUTE, s);
}

static void instruction(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    const Isa *isa = s->u.instr.isa;
    bool products = isa_is_mma(isa) || isa->done == DONE_BY_COMMIT || isa->id == ISA_MMA;

    if (products && s->u.instr.nregion >= 3) {
        double cycles = product_cycles(m, s);
        if (isa->scope == BY_WARP)
            cycles = cycles * MAX(SCHEDULERS, kernel_block_threads(m->k) / m->warp);
        else if (isa->scope == BY_GROUP)
            cycles = cycles * MAX(1, kernel_block_threads(m->k) / m->group);
        t->matrix = MAX(t->matrix, t->time) + cycles;
        times_until(m, isa->done == DONE_AT_ONCE ? t->matrix : t->time + 2, SIM_MATRIX, s);
    } else if (isa->scope == BY_THREAD) {
        t->stores = MAX(t->stores, t->time) + region_bytes(m, s, 0) / global_bytes(m);
        times_until(m, t->time + 2, SIM_COPY, s);
    } else {
        double turns = m->o.banks ? stats_turns(m->o.banks, s) : 0;
        double all = turns * kernel_block_threads(m->k) / m->warp; /* as of memory_access */
        times_until(m, t->time + (t->in_row ? 2 : SHARED_LATENCY) + all, SIM_MATRIX, s);
        t->in_row = true;
    }
}

/* The end of the group that may be the last one in flight. */
static double group_end(const SimGroups *g, int64_t left)
{
    int64_t i = g->n - 1 - left;
    return i >= 0 && i < g->n ? g->at[i] : 0;
}

static void call(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    int64_t left = s->u.call.n ? sim_int(m, s->u.call.arg[0]) : 0;

    switch (s->u.call.which) {
    case INTRIN_COMMIT_COPIES:
        vec_push(m->arena, &t->copy_groups, t->landing + GLOBAL_LATENCY);
        break;
    case INTRIN_WAIT_COPIES:
        times_until(m, group_end(&t->copy_groups, left), SIM_WAIT, s);
        break;
    case INTRIN_COMMIT_MMA:
        vec_push(m->arena, &t->mma_groups, t->matrix + MATRIX_LATENCY);
        break;
    case INTRIN_WAIT_MMA:
        times_until(m, group_end(&t->mma_groups, left), SIM_MATRIX, s);
        break;
    case INTRIN_WAIT_STORES:
        times_until(m, t->stores, SIM_WAIT, s);
        break;
    default:
        times_until(m, t->time + shared_by_warps(m, 2), SIM_NOTHING, s);
    }
}

void times_charge(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;
    Cost c;

    switch (s->kind) {
    case ST_STORE:
    case ST_ATOMIC:
    case ST_LET:
    case ST_EVAL:
        c = cost_of(s);
        if (c.global > 0 || c.shared > 0) {
            memory_access(m, s, &c);
            return;
        }
        t->in_row = t->in_row && s->kind == ST_LET;
        times_until(m, t->time + shared_by_warps(m, MAX(1, c.operators)), SIM_COMPUTE, s);
        return;
    case ST_INSTR: instruction(m, s); return;
    case ST_CALL: call(m, s); t->in_row = false; return;
    default: return; /* what is inside of it counts */
    }
}

/* When a copy that is issued now lands; MMAs that were issued before are done. */
double times_landing(Sim *m, const SimAgent *a)
{
    SimThread *t = m->self;

    if (!m->o.times || !t)
        return 0;
    if (a->mmas)
        return t->matrix + MATRIX_LATENCY;
    t->landing = MAX(t->landing, t->time) + (double)a->bytes / global_bytes(m);
    return t->landing + GLOBAL_LATENCY;
}

double times_of_all(SimThread *const *member, int n)
{
    double last = 0;
    for (int i = 0; i < n; i++)
        last = MAX(last, member[i]->time);
    return last + BARRIER_COST;
}
