/* tensor_memory.c -- MMAs into tensor memory, and what warps load from it and store to it.
 *
 * The sum is worked out when the MMA is issued, but until the arrival that its thread commits after
 * it has come at its barrier the MMA is an agent's work: what it reads may not be written, and what
 * it writes not be touched, by anybody who has not waited there.  MMAs of one thread are done in
 * their order.  A warp reaches a quarter of the lanes, by its number in the block. */
#include "sim/machine.h"

enum { A, B, C, SA, SB, QUARTERS = 4, LANES = 128, WARP = 32 };

typedef struct {
    Sim *m;
    const Stmt *s;
    Accessor by;
    int64_t rows, n, k;
    int blocks; /* that do it together */
} TensorMma;

static SimRegion region_of(const TensorMma *w, int which, int block)
{
    const Region *r = &w->s->u.instr.region[which];
    return w->blocks > 1 ? sim_pair_region(w->m, w->s, r, block) : sim_region(w->m, w->s, r);
}

static double number(const SimMem *mem, Value1 v)
{
    return dtype_is_float(mem->type) ? v.f : (double)v.i;
}

/* Where element (i, j) of the last two dimensions of a region is. */
static int64_t element(const TensorMma *w, const SimRegion *r, int64_t i, int64_t j)
{
    const SimMem *mem = r->mem;
    int64_t offset = 0, last = r->rank - 1;

    for (int d = 0; d < r->rank; d++) {
        int64_t at = r->at[d] + (d == last - 1 ? i : d == last ? j : 0);
        if (at < 0 || at >= mem->shape[d])
            sim_fail(w->m, w->s, "the operand is outside '%s' [out-of-bounds]", r->buf->name);
        offset += at * mem->stride[d];
    }
    return mem->place ? mem->place[offset] : offset;
}

static double read_one(const TensorMma *w, const SimRegion *r, int64_t i, int64_t j)
{
    const SimMem *mem = r->mem;
    int64_t e = element(w, r, i, j);
    Accessor by = w->by;

    by.async = r->buf->scope == MEM_SHARED;
    if (mem->shadow && by.clock)
        shadow_read(w->m, mem, e, &by);
    if (mem->init && w->m->o.check_uninit && !mem_is_init(mem, e))
        fail_uninitialised(w->m, mem, e);
    double v = number(mem, mem_read(mem, e));
    return mem->type == DT_F32 ? num_cut(v) : v;
}

/* rows x cols, of a matrix with rows of `all`; transposed: stored cols x rows. */
static void read_operand(const TensorMma *w, SimRegion r, int64_t rows, int64_t cols, int64_t all,
                         bool transposed, double *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[i * all + j] = transposed ? read_one(w, &r, j, i) : read_one(w, &r, i, j);
}

static void write_one(const TensorMma *w, const SimRegion *c, int64_t i, int64_t j, double sum,
                      bool clear)
{
    SimMem *mem = c->mem;
    int64_t e = element(w, c, i, j);
    Accessor by = w->by;

    by.async = false;
    if (!clear && mem->init && w->m->o.check_uninit && !mem_is_init(mem, e))
        fail_uninitialised(w->m, mem, e);
    if (mem->shadow && by.clock)
        shadow_write(w->m, mem, e, &by, false);
    sum += clear ? 0 : number(mem, mem_read(mem, e));
    Value1 v = {.f = sum, .i = (int64_t)sum};
    if (dtype_is_float(mem->type))
        v.f = value_round(mem->type, sum);
    mem_write(mem, e, v);
}

/* What the agent has done itself it has seen. */
static Accessor mma_accessor(Sim *m)
{
    SimThread *t = m->self;

    if (!t || !t->clock)
        return (Accessor){0};
    int agent = agent_of_mmas(m, t);
    uint32_t *clock = sim_alloc(m, sizeof(uint32_t) * (size_t)(t->nclock + 1));
    memcpy(clock, t->clock, sizeof(uint32_t) * (size_t)t->nclock);
    clock[agent] = t->mma_committed + 1;
    return (Accessor){agent, t->mma_committed + 1, clock, true};
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* The word of row `row`, as quarter q of the lanes reads it. */
static uint32_t scale_word(const TensorMma *w, const SimRegion *r, int64_t row, int64_t q)
{
    const SimMem *mem = r->mem;
    int64_t e = element(w, r, q * WARP + row % WARP, row / WARP);
    Accessor by = w->by;

    by.async = false;
    if (mem->shadow && by.clock)
        shadow_read(w->m, mem, e, &by);
    if (mem->init && w->m->o.check_uninit && !mem_is_init(mem, e))
        fail_uninitialised(w->m, mem, e);
    return (uint32_t)mem_read(mem, e).i;
}

/* Operand `which`, x, by its scales in a block; B as quarter q of the rows of C reads them. */
static const double *with_scales(const TensorMma *w, int block, int which, const double *x,
                                 int64_t rows, int64_t q)
{
    const Stmt *s = w->s;
    SimRegion r = region_of(w, SA + which, block);
    int64_t byte = sim_int(w->m, s->u.instr.arg[3 + which]), per = sim_int(w->m, s->u.instr.arg[5]);
    DType type = per == 4 ? DT_E4M3 : DT_E8M0;
    double *to = sim_alloc(w->m, sizeof(double) * (size_t)(rows * w->k));

    for (int64_t i = 0; i < rows; i++) {
        uint32_t word = scale_word(w, &r, i, which ? q : i / WARP % QUARTERS);
        for (int64_t l = 0; l < w->k; l++) {
            int64_t at = which ? l * rows + i : i * w->k + l;
            to[at] = x[at] * value_scale(type, word, byte + l * per / w->k);
        }
    }
    return to;
}

/* The rows of one block, by all of B. */
static void multiply(const TensorMma *w, int block, const double *y)
{
    Sim *m = w->m;
    const Stmt *s = w->s;
    SimRegion c = region_of(w, C, block);
    bool trans_a = sim_is_true(m, s->u.instr.arg[0]), clear = sim_is_true(m, s->u.instr.arg[2]);
    double *of_a = sim_alloc(m, sizeof(double) * (size_t)(w->rows * w->k));
    double *row = sim_alloc(m, sizeof(double) * (size_t)w->n);
    const double *x = of_a, *by_quarter[QUARTERS] = {y, y, y, y};

    read_operand(w, region_of(w, A, block), w->rows, w->k, w->k, trans_a, of_a);
    if (s->u.instr.nregion > SB) {
        x = with_scales(w, block, 0, x, w->rows, 0);
        for (int q = 0; q < QUARTERS; q++)
            by_quarter[q] = with_scales(w, block, 1, y, w->n, q);
    }
    for (int64_t i = 0; i < w->rows; i++) {
        y = by_quarter[i / WARP % QUARTERS];
        memset(row, 0, sizeof(double) * (size_t)w->n);
        for (int64_t l = 0; l < w->k; l++)
            for (int64_t j = 0; j < w->n; j++)
                row[j] += x[i * w->k + l] * y[l * w->n + j];
        for (int64_t j = 0; j < w->n; j++)
            write_one(w, &c, i, j, row[j], clear);
    }
}

void simulate_tensor_mma(Sim *m, const Stmt *s)
{
    ArenaMark mark = arena_mark(m->scratch);
    SimRegion a = sim_region(m, s, &s->u.instr.region[A]),
              c = sim_region(m, s, &s->u.instr.region[C]);
    bool trans_a = sim_is_true(m, s->u.instr.arg[0]), trans_b = sim_is_true(m, s->u.instr.arg[1]);
    TensorMma w = {.m = m, .s = s, .by = mma_accessor(m), .rows = c.extent[c.rank - 2],
                   .n = c.extent[c.rank - 1], .k = a.extent[trans_a ? a.rank - 2 : a.rank - 1],
                   .blocks = s->u.instr.isa->scope == BY_PAIR ? 2 : 1};
    double *y = sim_alloc(m, sizeof(double) * (size_t)(w.k * w.n));

    for (int i = 0; i < w.blocks; i++) /* its columns follow those of the block before */
        read_operand(&w, region_of(&w, B, i), w.k, w.n / w.blocks, w.n, trans_b,
                     y + i * w.n / w.blocks);
    for (int i = 0; i < w.blocks; i++)
        multiply(&w, i, y);
    if (m->self)
        m->self->mma_open = s;
    arena_reset(m->scratch, mark);
}

/* 128 words to four columns of each 32 lanes. */
void simulate_tensor_spread(Sim *m, const Stmt *s)
{
    enum { COLUMNS = 4 };
    TensorMma w = {.m = m, .s = s, .by = mma_accessor(m),
                   .blocks = s->u.instr.isa->scope == BY_PAIR ? 2 : 1};

    for (int b = 0; b < w.blocks; b++) {
        SimRegion from = region_of(&w, 0, b), to = region_of(&w, 1, b);
        for (int64_t i = 0; i < LANES; i++) {
            double v = read_one(&w, &from, 0, i);
            for (int q = 0; q < QUARTERS; q++)
                write_one(&w, &to, q * WARP + i / COLUMNS, i % COLUMNS, v, true);
        }
    }
    if (m->self)
        m->self->mma_open = s;
}

/* ---- by warps -------------------------------------------------------------------------------- */

/* The lanes of its quarter, a row each; of 64 rows the first half of them. */
static bool own_row(Sim *m, const Stmt *s, const SimRegion *tensor, int64_t *lane)
{
    int64_t rows = tensor->extent[tensor->rank - 2], first = tensor->at[tensor->rank - 2];
    int thread = sim_thread_index(m);

    *lane = thread % m->warp;
    if (first % LANES / rows % QUARTERS != thread / m->warp % QUARTERS)
        sim_fail(m, s, "warp %d reaches another quarter of the lanes of '%s' than rows %lld to "
                 "%lld [out-of-bounds]", thread / m->warp, tensor->buf->name, (long long)first,
                 (long long)(first + rows - 1));
    return *lane < rows;
}

static void move_row(Sim *m, const Stmt *s, int tensor)
{
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    int64_t lane, cols = to.extent[to.rank - 1];

    if (!own_row(m, s, tensor ? &from : &to, &lane))
        return;
    for (int64_t j = 0; j < cols; j++) {
        int64_t f[RANK_MOST] = {0}, t[RANK_MOST] = {0};
        Value1 v;
        f[from.rank - 2] = t[to.rank - 2] = lane;
        f[from.rank - 1] = t[to.rank - 1] = j;
        sim_get(m, s, &from, f, &v);
        sim_put(m, s, &to, t, v);
    }
}

void simulate_tensor_load(Sim *m, const Stmt *s)
{
    move_row(m, s, 1);
}

void simulate_tensor_store(Sim *m, const Stmt *s)
{
    move_row(m, s, 0);
}
