/* check.c -- our results against a few outputs computed on the host in double: corners, the middle,
 * and places that a generator picks.  What was not written is NaN and counts as wrong. */
#include <math.h>
#include "gpu.h"

typedef struct {
    const Row *r;
    const tl_tensor *t; /* data: addresses on the device */
    double worst;
    uint64_t state;
} Check;

static int64_t pick(Check *c, int64_t n, int i)
{
    if (i == 0 || n == 1)
        return 0;
    if (i == 1)
        return n - 1;
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((c->state >> 33) % (uint64_t)n);
}

/* n elements of a tensor from a flat index on. */
static bool fetch(const tl_tensor *t, int64_t at, int64_t n, double *out)
{
    size_t size = (size_t)tl_dtype_bytes(t->dtype, 1), nbytes = size * (size_t)n;
    void *room = malloc(nbytes + 16);
    bool ok = room && cuda_download(room, (DevicePtr)(uintptr_t)t->data + size * (size_t)at, nbytes);
    tl_tensor host = {.dtype = t->dtype, .rank = 1, .shape = {n}, .data = room};

    for (int64_t i = 0; ok && i < n; i++)
        out[i] = tl_value_at(&host, i);
    free(room);
    return ok;
}

static void judge(Check *c, double got, double want, double atol, double rtol)
{
    double e = fabs(got - want) / (atol + rtol * fabs(want) + 1e-300);

    if (!(e <= c->worst)) /* NaN too */
        c->worst = isnan(e) ? HUGE_VAL : e;
}

static double *room_for(int64_t n)
{
    return malloc((size_t)(n > 0 ? n : 1) * sizeof(double));
}

/* ---- products -------------------------------------------------------------------------------- */

enum { COLS = 16 };

/* Rounding of operands and results, per square root of K: the size of a result. */
static const struct {
    const char *dtype;
    double atol, rtol;
} product_table[] = {
    {"bfloat16", 4e-3, 1e-2}, {"float16", 1e-3, 2e-3}, {"float32", 3e-3, 1e-3},
    {"tfloat32", 3e-3, 1e-3},
    {"float8_e4m3fn", 1e-2, 1e-2}, {"int8", 0, 0},
};

static bool product_columns(Check *c, int64_t row, int64_t first, int ncol, const double *a,
                            double *b, double *got, double *want)
{
    int64_t N = c->r->d[1], K = c->r->d[2];
    bool ok = fetch(&c->t[2], row * N + first, ncol, got);

    memset(want, 0, COLS * sizeof *want);
    for (int j = 0; ok && c->r->nt && j < ncol; j++) {
        ok = fetch(&c->t[1], (first + j) * K, K, b);
        for (int64_t k = 0; ok && k < K; k++)
            want[j] += a[k] * b[k];
    }
    for (int64_t k = 0; ok && !c->r->nt && k < K; k++) {
        ok = fetch(&c->t[1], k * N + first, ncol, b);
        for (int j = 0; ok && j < ncol; j++)
            want[j] += a[k] * b[j];
    }
    return ok;
}

static bool check_product(Check *c)
{
    int64_t M = c->r->d[0], N = c->r->d[1], K = c->r->d[2];
    double got[COLS], want[COLS], atol = 0, rtol = 0, *a = room_for(K), *b = room_for(K);
    int ncol = (int)(N < COLS ? N : COLS);
    bool ok = a && b;

    for (int i = 0; i < COUNT(product_table); i++)
        if (!strcmp(product_table[i].dtype, c->r->dtype)) {
            atol = product_table[i].atol * sqrt((double)K);
            rtol = product_table[i].rtol;
        }
    for (int i = 0; i < 4 && ok; i++) {
        int64_t row = pick(c, M, i), first = pick(c, N - ncol + 1, i);
        ok = fetch(&c->t[0], row * K, K, a) &&
             product_columns(c, row, first, ncol, a, b, got, want);
        for (int j = 0; ok && j < ncol; j++)
            judge(c, got[j], want[j], atol, rtol);
    }
    free(a);
    free(b);
    return ok;
}

/* ---- attention ------------------------------------------------------------------------------- */

static void attend(const double *q, const double *k, const double *v, int64_t S, int64_t D,
                   double *p, double *o)
{
    double most = -HUGE_VAL, sum = 0, scale = 1 / sqrt((double)D);

    for (int64_t j = 0; j < S; j++) {
        p[j] = 0;
        for (int64_t d = 0; d < D; d++)
            p[j] += q[d] * k[j * D + d];
        p[j] *= scale;
        most = p[j] > most ? p[j] : most;
    }
    memset(o, 0, (size_t)D * sizeof *o);
    for (int64_t j = 0; j < S; j++) {
        p[j] = exp(p[j] - most);
        sum += p[j];
        for (int64_t d = 0; d < D; d++)
            o[d] += p[j] * v[j * D + d];
    }
    for (int64_t d = 0; d < D; d++)
        o[d] /= sum;
}

static bool check_attention(Check *c)
{
    int64_t B = c->r->d[0], H = c->r->d[1], G = c->r->d[2], S = c->r->d[3], D = c->r->d[4];
    double *k = room_for(S * D), *v = room_for(S * D), *p = room_for(S), *q = room_for(3 * D);
    bool ok = k && v && p && q;

    for (int i = 0; i < 3 && ok; i++) {
        int64_t b = pick(c, B, i), h = pick(c, H, i), kv = (b * G + h / (H / G)) * S * D;
        ok = fetch(&c->t[1], kv, S * D, k) && fetch(&c->t[2], kv, S * D, v);
        for (int j = 0; j < 3 && ok; j++) {
            int64_t row = pick(c, S, j), at = ((b * H + h) * S + row) * D;
            double *got = q + D, *want = q + 2 * D, square = 0;
            ok = fetch(&c->t[0], at, D, q) && fetch(&c->t[3], at, D, got);
            attend(q, k, v, c->r->causal ? row + 1 : S, D, p, want);
            for (int64_t d = 0; d < D; d++)
                square += want[d] * want[d];
            for (int64_t d = 0; ok && d < D; d++)
                judge(c, got[d], want[d], 0.03 * sqrt(square / (double)D), 1.6e-2);
        }
    }
    free(k);
    free(v);
    free(p);
    free(q);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void expect_row(Check *c, const double *x, const double *w, double *want, int64_t N)
{
    double most = -HUGE_VAL, sum = 0;

    for (int64_t j = 0; j < N; j++) {
        most = x[j] > most ? x[j] : most;
        want[j] = c->r->op == OP_COPY ? x[j] : x[j] / (1 + exp(-x[j])) * w[j];
    }
    if (c->r->op == OP_SOFTMAX) {
        for (int64_t j = 0; j < N; j++)
            sum += want[j] = exp(x[j] - most);
        for (int64_t j = 0; j < N; j++)
            want[j] /= sum;
    }
    if (c->r->op == OP_RMSNORM) {
        for (int64_t j = 0; j < N; j++)
            sum += x[j] * x[j];
        for (int64_t j = 0; j < N; j++)
            want[j] = x[j] / sqrt(sum / (double)N + 1e-6) * w[j];
    }
}

static bool check_rows(Check *c, int nt)
{
    int64_t M = c->r->d[0], N = c->r->d[1];
    double *x = room_for(4 * N), atol = c->r->op == OP_SOFTMAX ? 1e-6 : 1e-2;
    bool ok = x != NULL;

    for (int i = 0; i < 4 && ok; i++) {
        int64_t row = pick(c, M, i);
        double *w = x + N, *want = x + 2 * N, *got = x + 3 * N;
        ok = fetch(&c->t[0], row * N, N, x) && fetch(&c->t[nt - 1], row * N, N, got);
        memcpy(w, x, (size_t)N * sizeof *w);
        if (ok && nt == 3)
            ok = fetch(&c->t[1], c->t[1].rank == 1 ? 0 : row * N, N, w);
        if (!ok)
            break;
        expect_row(c, x, w, want, N);
        for (int64_t j = 0; j < N; j++)
            judge(c, got[j], want[j], c->r->op == OP_COPY ? 0 : atol,
                  c->r->op == OP_COPY ? 0 : 1.6e-2);
    }
    free(x);
    return ok;
}

double check_row(tl_context *ctx, const Row *r, const tl_tensor *t, int nt)
{
    Check c = {.r = r, .t = t, .state = 12345};
    (void)ctx;
    bool ok = r->op == OP_GEMM        ? check_product(&c)
              : r->op == OP_ATTENTION ? check_attention(&c)
                                      : check_rows(&c, nt);
    return ok ? c.worst : HUGE_VAL;
}
