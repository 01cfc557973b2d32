/* group_mma.c -- wgmma: MMAs of a warpgroup.
 *
 * The sum is worked out when the MMA is issued, but it is in flight until its thread waits for
 * its group (sim/flight.c): until then the reads of shared memory belong to the warpgroup's
 * agent. */
#include "sim/machine.h"

enum { A, B, C, E };

/* ---- the MMA --------------------------------------------------------------------------------- */

typedef struct {
    Sim *m;
    const Stmt *s;
    SimThread *const *member;
    int64_t rows, n, k;
    double *a, *b;
    bool *kept; /* of a sparse A: is there an element?  NULL: A is dense */
    Accessor by;
} GroupMma;

static int64_t fragment_slot(const SimMem *mem, const SimRegion *r, int64_t i, int64_t j)
{
    int64_t offset = 0;
    for (int d = 0; d + 2 < r->rank; d++)
        offset += r->at[d] * mem->stride[d];
    offset += (r->at[r->rank - 2] + i) * mem->stride[r->rank - 2] +
              (r->at[r->rank - 1] + j) * mem->stride[r->rank - 1];
    return mem->place ? mem->place[offset] : offset;
}

static double number(const SimMem *mem, Value1 v)
{
    return dtype_is_float(mem->type) ? v.f : (double)v.i;
}

static double initialised(Sim *m, const SimMem *mem, int64_t i)
{
    if (mem->init && m->o.check_uninit && !mem_is_init(mem, i))
        fail_uninitialised(m, mem, i);
    return number(mem, mem_read(mem, i));
}

/* An operand: float32 is read as tfloat32. */
static double operand(Sim *m, const SimMem *mem, int64_t i)
{
    double v = initialised(m, mem, i);
    return mem->type == DT_F32 ? num_cut(v) : v;
}

static LaneMap lanes_of(const GroupMma *w, int region, const SimRegion *r)
{
    return isa_lanes(w->s->u.instr.isa, region, (int)w->rows, (int)r->extent[r->rank - 1],
                     r->buf->type);
}

/* The memory of the thread that holds (i, j) of an operand in registers. */
static SimMem *holder(const GroupMma *w, const LaneMap *l, const SimRegion *r, int64_t i, int64_t j)
{
    int slot;
    return thread_mem(w->m, w->member[lane_holder(l, (int)i, (int)j, &slot)], r->buf);
}

static void read_registers(GroupMma *w, const SimRegion *r)
{
    LaneMap l = lanes_of(w, A, r);
    for (int64_t i = 0; i < w->rows; i++) {
        for (int64_t k = 0; k < w->k; k++) {
            const SimMem *mem = holder(w, &l, r, i, k);
            int64_t slot = fragment_slot(mem, r, i, k);
            register_take(w->m, w->s, mem, slot, false);
            w->a[i * w->k + k] = operand(w->m, mem, slot);
        }
    }
}

/* rows x cols from shared memory, read by the async proxy; transposed: stored cols x rows. */
static void read_shared(GroupMma *w, const SimRegion *r, int64_t rows, int64_t cols,
                        bool transposed,
                        double *to)
{
    const SimMem *mem = r->mem;
    int64_t last = r->rank - 1;
    for (int d = 0; d < r->rank; d++)
        if (r->at[d] < 0 || r->at[d] + (d >= last - 1 ? r->extent[d] : 1) > mem->shape[d])
            sim_fail(w->m, w->s, "the operand is outside '%s' [out-of-bounds]", r->buf->name);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            int64_t e = transposed ? fragment_slot(mem, r, j, i) : fragment_slot(mem, r, i, j);
            if (mem->shadow && w->by.clock)
                shadow_read(w->m, mem, e, &w->by);
            to[i * cols + j] = operand(w->m, mem, e);
        }
    }
}

/* ---- a sparse A ------------------------------------------------------------------------------ */

enum { GROUP_BITS = 4, INDEX_BITS = 2, WORD_BITS = 16 };

/* Four bits say where the elements of a group stood; hardware knows these alone. */
static void check_places(GroupMma *w, const SimRegion *e, int keeps, uint32_t bits)
{
    uint32_t first = bits & 3, second = bits >> INDEX_BITS & 3;
    bool fine = keeps == 2 ? first < second : bits == 4 || bits == 14;

    if (!fine)
        sim_fail(w->m, w->s, "'%s' says that a group keeps elements %u and %u: the places must "
                 "ascend [sparse-places]", e->buf->name, first, second);
}

/* 16 bits of E at (row, col): a slot of one lane's word. */
static uint32_t meta_bits(GroupMma *w, const LaneMap *l, const SimRegion *e, int64_t row,
                          int64_t col)
{
    int slot, lane = lane_holder(l, (int)row, (int)col, &slot);
    const SimMem *mem = thread_mem(w->m, w->member[lane], e->buf);

    register_take(w->m, w->s, mem, e->at[0], false);
    if (mem->init && w->m->o.check_uninit && !mem_is_init(mem, e->at[0]))
        fail_uninitialised(w->m, mem, e->at[0]);
    return (uint32_t)mem_read(mem, e->at[0]).i >> (WORD_BITS * slot) & 0xffff;
}

/* A of half as many columns, spread out. */
static void spread_out(GroupMma *w, const SimRegion *a, const SimRegion *e)
{
    int keeps = dtype_bits(a->buf->type) == 32 ? 1 : 2, group = 2 * keeps;
    int64_t half = w->k / 2, per = WORD_BITS / GROUP_BITS;
    double *dense = sim_alloc(w->m, sizeof(double) * (size_t)(w->rows * w->k));
    LaneMap l = isa_lanes(w->s->u.instr.isa, E, (int)w->rows, (int)(w->k / group / per), DT_U16);

    w->kept = sim_alloc(w->m, (size_t)(w->rows * w->k));
    memset(w->kept, 0, (size_t)(w->rows * w->k));
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t g = 0; g < half / keeps; g++) {
            uint32_t bits = meta_bits(w, &l, e, i, g / per) >> (g % per * GROUP_BITS) & 15;
            check_places(w, e, keeps, bits);
            for (int j = 0; j < keeps; j++) {
                uint32_t place = bits >> (j * INDEX_BITS) & 3;
                int64_t at = i * w->k + g * group + (keeps == 1 ? place >> 1 : place);
                dense[at] = w->a[i * half + g * keeps + j];
                w->kept[at] = true;
            }
        }
    w->a = dense;
}

/* ---- the sum --------------------------------------------------------------------------------- */

static void multiply(GroupMma *w, const SimRegion *c, bool clear)
{
    double *row = sim_alloc(w->m, sizeof(double) * (size_t)w->n);
    LaneMap l = lanes_of(w, C, c);
    for (int64_t i = 0; i < w->rows; i++) {
        for (int64_t j = 0; j < w->n; j++)
            row[j] = 0;
        for (int64_t k = 0; k < w->k; k++) {
            if (w->kept && !w->kept[i * w->k + k])
                continue;
            double x = w->a[i * w->k + k];
            const double *b = w->b + k * w->n;
            for (int64_t j = 0; j < w->n; j++)
                row[j] += x * b[j];
        }
        for (int64_t j = 0; j < w->n; j++) {
            SimMem *mem = holder(w, &l, c, i, j);
            int64_t slot = fragment_slot(mem, c, i, j);
            register_take(w->m, w->s, mem, slot, true);
            double sum = row[j] + (clear ? 0 : initialised(w->m, mem, slot));
            Value1 v = {.f = sum, .i = (int64_t)sum};
            if (dtype_is_float(mem->type))
                v.f = value_round(mem->type, sum);
            mem_write(mem, slot, v);
        }
    }
}

static void mma_once(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    ArenaMark mark = arena_mark(m->scratch);
    SimRegion a = sim_region(m, s, &s->u.instr.region[0]),
              b = sim_region(m, s, &s->u.instr.region[1]),
              c = sim_region(m, s, &s->u.instr.region[2]);
    bool trans_a = sim_is_true(m, s->u.instr.arg[0]), trans_b = sim_is_true(m, s->u.instr.arg[1]);
    GroupMma w = {.m = m, .s = s, .member = member, .rows = c.extent[c.rank - 2],
               .n = c.extent[c.rank - 1],
               .k = b.extent[trans_b ? b.rank - 1 : b.rank - 2]};
    bool sparse = s->u.instr.nregion > E;
    int64_t half = sparse ? w.k / 2 : w.k; /* columns of A */

    if (n != lanes_of(&w, C, &c).extent[LANE_LANE])
        sim_fail(m, s, "only %d threads of the warpgroup run this MMA [divergent-warp]", n);
    if (member[0]->clock)
        w.by = (Accessor){agent_of_group(m, member[0]), member[0]->mma_committed + 1,
                          clock_common(m, member, n), true};
    w.a = sim_alloc(m, sizeof(double) * (size_t)(w.rows * w.k));
    w.b = sim_alloc(m, sizeof(double) * (size_t)(w.k * w.n));
    if (a.buf->scope == MEM_SHARED)
        read_shared(&w, &a, w.rows, half, trans_a, w.a);
    else
        read_registers(&w, &a);
    if (sparse) {
        SimRegion e = sim_region(m, s, &s->u.instr.region[E]);
        spread_out(&w, &a, &e);
    }
    read_shared(&w, &b, w.k, w.n, trans_b, w.b);
    multiply(&w, &c, sim_is_true(m, s->u.instr.arg[2]));
    arena_reset(m->scratch, mark);
}

void simulate_group_mma(Sim *m, const Stmt *s)
{
    threads_sync(m, s, SYNC_GROUP, mma_once);
    if (m->self)
        m->self->mma_open = s;
}
