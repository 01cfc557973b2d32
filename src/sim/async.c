/* async.c -- instructions that work beside the threads: bulk tensor copies, warpgroup products.
 *
 * wgmma m64: thread t of the group, l = t%32, holds of C, for pair p of columns and slot s
 *     (t//32*16 + l//4 + 8*(s//2%2), l%4*2 + s%2 + 8*(s//4))
 * and of A in registers, 16-bit types, the same with k for columns. */
#include "sim/machine.h"

enum { GROUP = 128, ROWS = 64 };

void simulate_tma_load(Sim *m, const Stmt *s)
{
    sim_copy(m, s, &s->u.instr.region[1], &s->u.instr.region[0]);
}

void simulate_tma_store(Sim *m, const Stmt *s)
{
    sim_copy(m, s, &s->u.instr.region[1], &s->u.instr.region[0]);
}

typedef struct {
    Sim *m;
    const Stmt *s;
    SimThread *const *member;
    int64_t n, k;
    double *a, *b;
} Wgmma;

static int64_t fragment_slot(const SimMem *mem, const SimRegion *r, int64_t i, int64_t j)
{
    int64_t offset = (r->at[0] + i) * mem->stride[0] + (r->at[1] + j) * mem->stride[1];
    return mem->place ? mem->place[offset] : offset;
}

static double number(const SimMem *mem, Value1 v)
{
    return dtype_is_float(mem->type) ? v.f : (double)v.i;
}

/* A of 8, 16 or 32 bits in registers: who holds (row, k). */
static int holder_of_a(const SimMem *mem, int64_t row, int64_t k)
{
    int64_t each = MAX(32 / dtype_bits(mem->type), 1); /* neighbours in one register */
    return (int)(row / 16 * 32 + row % 8 * 4 + k / each % 4);
}

static void read_a(Wgmma *w, const SimRegion *r, bool turned)
{
    bool registers = r->buf->scope == MEM_FRAGMENT;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < w->k; k++) {
            int64_t idx[RANK_MOST] = {0};
            Value1 v;
            if (registers) {
                const SimMem *own = w->member[0]->mem[r->buf->id];
                const SimMem *mem = w->member[holder_of_a(own, i, k)]->mem[r->buf->id];
                v = mem_get(w->m, mem, fragment_slot(mem, r, i, k));
            } else {
                idx[r->rank - 2] = turned ? k : i;
                idx[r->rank - 1] = turned ? i : k;
                sim_get(w->m, w->s, r, idx, &v);
            }
            w->a[i * w->k + k] = dtype_is_float(r->buf->type) ? v.f : (double)v.i;
        }
    }
}

static void read_b(Wgmma *w, const SimRegion *r, bool turned)
{
    for (int64_t k = 0; k < w->k; k++) {
        for (int64_t j = 0; j < w->n; j++) {
            int64_t idx[RANK_MOST] = {0};
            Value1 v;
            idx[r->rank - 2] = turned ? j : k;
            idx[r->rank - 1] = turned ? k : j;
            sim_get(w->m, w->s, r, idx, &v);
            w->b[k * w->n + j] = dtype_is_float(r->buf->type) ? v.f : (double)v.i;
        }
    }
}

static void multiply(Wgmma *w, const SimRegion *c, bool clear)
{
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < w->n; j++) {
            int t = (int)(i / 16 * 32 + i % 8 * 4 + j % 8 / 2);
            SimMem *mem = w->member[t]->mem[c->buf->id];
            int64_t slot = fragment_slot(mem, c, i, j);
            double sum = clear ? 0 : number(mem, mem_get(w->m, mem, slot));
            for (int64_t k = 0; k < w->k; k++)
                sum += w->a[i * w->k + k] * w->b[k * w->n + j];
            Value1 v = {.f = sum, .i = (int64_t)sum};
            if (dtype_is_float(mem->type))
                v.f = num_round(mem->type, sum);
            mem_write(mem, slot, v);
        }
    }
}

static void wgmma_once(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    SimRegion a = sim_region(m, s, &s->u.instr.region[0]),
              b = sim_region(m, s, &s->u.instr.region[1]),
              c = sim_region(m, s, &s->u.instr.region[2]);
    bool trans_a = sim_is_true(m, s->u.instr.arg[0]), trans_b = sim_is_true(m, s->u.instr.arg[1]);
    Wgmma w = {m, s, member, c.extent[1], a.extent[trans_a ? a.rank - 2 : a.rank - 1], NULL, NULL};

    if (n != GROUP)
        sim_fail(m, s, "only %d threads of the warpgroup run this product [divergent-warp]", n);
    w.a = sim_alloc(m, sizeof(double) * (size_t)(ROWS * w.k));
    w.b = sim_alloc(m, sizeof(double) * (size_t)(w.k * w.n));
    read_a(&w, &a, trans_a);
    read_b(&w, &b, trans_b);
    multiply(&w, &c, sim_is_true(m, s->u.instr.arg[2]));
}

void simulate_wgmma(Sim *m, const Stmt *s)
{
    threads_meet(m, s, MEET_GROUP, wgmma_once);
}
