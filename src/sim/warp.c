/* warp.c -- instructions of a warp, lane by lane, from the maps that the emitter prints.
 *
 * m16n8k16: lane l holds
 *     A  (l//4 + 8*(s//2%2), l%4*2 + s%2 + 8*(s//4))    s = 0 … 7
 *     B  (l%4*2 + s%2 + 8*(s//2), l//4)                  s = 0 … 3
 *     C  (l//4 + 8*(s//2), l%4*2 + s%2)                  s = 0 … 3                               */
#include "sim/machine.h"

enum { M = 16, N = 8, K = 16, LANES = 32, SLOTS_A = 8, SLOTS_B = 4, SLOTS_C = 4 };

static void place_a(int lane, int s, int64_t at[2])
{
    at[0] = lane / 4 + 8 * (s / 2 % 2);
    at[1] = lane % 4 * 2 + s % 2 + 8 * (s / 4);
}

static void place_b(int lane, int s, int64_t at[2])
{
    at[0] = lane % 4 * 2 + s % 2 + 8 * (s / 2);
    at[1] = lane / 4;
}

static void place_c(int lane, int s, int64_t at[2])
{
    at[0] = lane / 4 + 8 * (s / 2);
    at[1] = lane % 4 * 2 + s % 2;
}

/* Operand registers of one lane from a piece of shared memory; ".trans" turns A, its absence B. */
void simulate_ldmatrix(Sim *m, const Stmt *s)
{
    const char *name = s->u.instr.isa->name;
    bool is_a = !strncmp(name, "ldmatrix.a", 10);
    bool turned = (strstr(name, ".trans") != NULL) == is_a;
    int lane = sim_thread_index(m) % LANES;
    SimRegion to = sim_region(m, s, &s->u.instr.region[0]),
              from = sim_region(m, s, &s->u.instr.region[1]);
    int lead = from.rank - 2;

    for (int64_t slot = 0; slot < (is_a ? SLOTS_A : SLOTS_B); slot++) {
        int64_t at[2], idx[RANK_MOST] = {0};
        Value1 v;
        (is_a ? place_a : place_b)(lane, (int)slot, at);
        idx[lead] = at[turned ? 1 : 0];
        idx[lead + 1] = at[turned ? 0 : 1];
        sim_get(m, s, &from, idx, &v);
        sim_put(m, s, &to, &slot, v);
    }
}

static double lane_value(Sim *m, const SimThread *t, const SimRegion *r, int64_t slot)
{
    const SimMem *mem = t->mem[r->buf->id];
    return mem_get(m, mem, r->at[0] + slot).f;
}

static int64_t lane_slot(const SimMem *mem, const SimRegion *c, const int64_t at[2])
{
    int64_t offset = (c->at[0] + at[0]) * mem->stride[0] + (c->at[1] + at[1]) * mem->stride[1];
    return mem->place ? mem->place[offset] : offset;
}

static void mma_once(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    SimRegion a = sim_region(m, s, &s->u.instr.region[0]),
              b = sim_region(m, s, &s->u.instr.region[1]);
    SimRegion c = sim_region(m, s, &s->u.instr.region[2]);
    double va[M][K], vb[K][N];
    int64_t at[2];

    if (n != LANES)
        sim_fail(m, s, "only %d lanes of the warp run this matrix instruction [divergent-warp]", n);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < SLOTS_A; i++) {
            place_a(l, i, at);
            va[at[0]][at[1]] = lane_value(m, member[l], &a, i);
        }
        for (int i = 0; i < SLOTS_B; i++) {
            place_b(l, i, at);
            vb[at[0]][at[1]] = lane_value(m, member[l], &b, i);
        }
    }
    for (int l = 0; l < LANES; l++) {
        SimMem *mem = member[l]->mem[c.buf->id];
        for (int i = 0; i < SLOTS_C; i++) {
            place_c(l, i, at);
            int64_t slot = lane_slot(mem, &c, at);
            double sum = mem_get(m, mem, slot).f;
            for (int k = 0; k < K; k++)
                sum += va[at[0]][k] * vb[k][at[1]];
            mem_write(mem, slot, (Value1){.f = num_round(DT_F32, sum)});
        }
    }
}

void simulate_mma(Sim *m, const Stmt *s)
{
    threads_meet(m, s, MEET_WARP, mma_once);
}
