/* tile.c -- what several operators and instructions do to whole regions. */
#include "sim/machine.h"

enum { SRC, DST };

void sim_copy(Sim *m, const Stmt *t, const Region *src, const Region *dst)
{
    Kernel *k = sim_kernel(m);
    RegionMatch match;
    if (!region_match(k, t->span, src, dst, &match))
        diag_throw(k->diag);
    SimRegion from = sim_region(m, t, src), to = sim_region(m, t, dst);
    int64_t at[RANK_MOST] = {0}, extent[RANK_MOST], si[RANK_MOST] = {0}, di[RANK_MOST] = {0};
    const Expr *safe = buffer_plan(k, src->buf)->safe;
    Value1 outside = {0};
    if (safe)
        outside = value_cast(safe->type, dst->buf->type, sim_value(m, safe));
    for (int i = 0; i < match.n; i++) {
        extent[i] = sim_int(m, match.extent[i]);
        if (extent[i] <= 0)
            return;
    }
    do {
        Value1 v;
        for (int i = 0; i < match.n; i++) {
            si[match.dim[SRC][i]] = at[i];
            di[match.dim[DST][i]] = at[i];
        }
        if (!sim_inside(&to, di))
            continue;
        if (sim_get(m, t, &from, si, &v))
            v = value_cast(src->buf->type, dst->buf->type, v);
        else
            v = outside;
        sim_put(m, t, &to, di, v);
    } while (sim_next(match.n, extent, at));
}

/* ---- gemm ------------------------------------------------------------------------------------ */

typedef struct {
    int64_t m, n, k;
    bool ta, tb;
} GemmSize;

static void gemm_floats(const GemmSize *s, const double *a, const double *b, double *c)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t l = 0; l < s->k; l++) {
            double x = a[s->ta ? l * s->m + i : i * s->k + l];
            if (s->tb)
                for (int64_t j = 0; j < s->n; j++)
                    c[i * s->n + j] += x * b[j * s->k + l];
            else
                for (int64_t j = 0; j < s->n; j++)
                    c[i * s->n + j] += x * b[l * s->n + j];
        }
}

static void gemm_ints(const GemmSize *s, const int64_t *a, const int64_t *b, int64_t *c)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t l = 0; l < s->k; l++) {
            uint64_t x = (uint64_t)a[s->ta ? l * s->m + i : i * s->k + l];
            for (int64_t j = 0; j < s->n; j++) {
                uint64_t y = (uint64_t)b[s->tb ? j * s->k + l : l * s->n + j];
                c[i * s->n + j] = (int64_t)((uint64_t)c[i * s->n + j] + x * y);
            }
        }
}

static int64_t region_count(const SimRegion *r)
{
    int64_t n = 1;
    for (int d = 0; d < r->rank; d++)
        n *= MAX(0, r->extent[d]);
    return n;
}

static void gemm(Sim *m, const Stmt *at, SimRegion a, SimRegion b, SimRegion c, bool trans_a,
                 bool trans_b, bool clear, bool cuts)
{
    GemmSize s = {.ta = trans_a, .tb = trans_b};
    s.m = c.extent[c.rank - 2];
    s.n = c.extent[c.rank - 1];
    if (s.m <= 0 || s.n <= 0)
        return;
    s.k = region_count(&a) / s.m; /* a tensor's region may have its two long dimensions anywhere */
    BUG(region_count(&a) != s.m * s.k || region_count(&b) != s.k * s.n, "gemm operands disagree");
    size_t na = (size_t)(s.m * s.k), nb = (size_t)(s.k * s.n), nc = (size_t)(s.m * s.n);
    bool floats = dtype_is_float(c.buf->type);
    void *buf = sim_alloc(m, (na + nb + nc) * 8);
    if (floats) {
        double *fa = buf, *fb = fa + na, *fc = fb + nb;
        sim_get_matrix(m, at, &a, fa, NULL);
        sim_get_matrix(m, at, &b, fb, NULL);
        for (double *x = fa; cuts && x < fc; x++)
            *x = num_cut(*x);
        if (!clear)
            sim_get_matrix(m, at, &c, fc, NULL);
        gemm_floats(&s, fa, fb, fc);
        sim_put_matrix(m, at, &c, fc, NULL);
    } else {
        int64_t *ia = buf, *ib = ia + na, *ic = ib + nb;
        sim_get_matrix(m, at, &a, NULL, ia);
        sim_get_matrix(m, at, &b, NULL, ib);
        if (!clear)
            sim_get_matrix(m, at, &c, NULL, ic);
        gemm_ints(&s, ia, ib, ic);
        sim_put_matrix(m, at, &c, NULL, ic);
    }
}

void sim_gemm(Sim *m, const Stmt *at, const Region *a, const Region *b, const Region *c,
              bool trans_a, bool trans_b, bool clear, bool cuts)
{
    gemm(m, at, sim_region(m, at, a), sim_region(m, at, b), sim_region(m, at, c), trans_a, trans_b,
         clear, cuts);
}

void sim_gemm_pair(Sim *m, const Stmt *at, const Region *r, bool trans_a, bool trans_b, bool clear,
                   bool cuts)
{
    for (int i = 0; i < 4; i++) { /* rows of one block by columns of one */
        SimRegion c = sim_pair_region(m, at, &r[2], i / 2);
        c.extent[c.rank - 1] /= 2;
        c.at[c.rank - 1] += i % 2 * c.extent[c.rank - 1];
        gemm(m, at, sim_pair_region(m, at, &r[0], i / 2), sim_pair_region(m, at, &r[1], i % 2), c,
             trans_a, trans_b, clear, cuts);
    }
}

/* ---- instructions of the CPU ----------------------------------------------------------------- */

enum { TRANS_A, TRANS_B, CLEAR };

static bool flag(Sim *m, const Stmt *s, int i)
{
    const Expr *e = i < s->u.instr.narg ? s->u.instr.arg[i] : NULL;
    return e != NULL && sim_is_true(m, e);
}

void simulate_cpu_gemm(Sim *m, const Stmt *s)
{
    const Region *r = s->u.instr.region;
    sim_gemm(m, s, &r[0], &r[1], &r[2], flag(m, s, TRANS_A), flag(m, s, TRANS_B),
             flag(m, s, CLEAR), false);
}

void simulate_cpu_pack(Sim *m, const Stmt *s)
{
    sim_copy(m, s, &s->u.instr.region[0], &s->u.instr.region[1]);
}
