/* family.c -- the kinds of problems: inputs, who else solves them, and what the answer is.
 *
 * Every check is done in double from the inputs alone, on whole rows spread over the result with
 * the last one among them; what peers return is compared with ours element by element besides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { ALIGN = 64, SAMPLE_ROWS = 24 };

static void *allocate(int64_t nbytes)
{
    void *p = NULL;
    if (posix_memalign(&p, ALIGN, (size_t)(nbytes + ALIGN)))
        return NULL;
    return memset(p, 0, (size_t)nbytes);
}

static int64_t nelems(const tl_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    return n;
}

static int64_t sample_row(int i, int64_t rows)
{
    return i == SAMPLE_ROWS - 1 ? rows - 1 : i * rows / SAMPLE_ROWS;
}

/* NaN is wrong, and must not be lost in a maximum. */
static double worse(double a, double b)
{
    return b <= a ? a : b;
}

static void fill_normal(Problem *p, int first, int last)
{
    for (int i = first; i < last; i++)
        tl_fill_random(p->tl, &p->arg[i], (uint64_t)i + 1);
}

/* ---- gemm ------------------------------------------------------------------------------------ */

static double gemm_work(const int64_t *d)
{
    return 2.0 * (double)d[0] * (double)d[1] * (double)d[2];
}

static void gemm_open(Problem *p)
{
    fill_normal(p, 0, 2);
    p->has[OPENBLAS] = p->has[BLIS] = p->has[ONEDNN] = true;
}

/* Row r of A @ B with the sum of magnitudes that bounds its rounding; scratch is 2 * n. */
static void gemm_row(const float *a, const float *b, int64_t n, int64_t k, double *scratch)
{
    memset(scratch, 0, sizeof(double) * 2 * (size_t)n);
    for (int64_t x = 0; x < k; x++)
        for (int64_t j = 0; j < n; j++) {
            double v = (double)a[x] * (double)b[x * n + j];
            scratch[j] += v;
            scratch[n + j] += fabs(v);
        }
}

static double gemm_check(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1], k = p->dim[2];
    const float *a = p->arg[0].data, *b = p->arg[1].data, *c = p->arg[2].data;
    double *row = malloc(sizeof(double) * 2 * (size_t)n);
    const double unit = 0x1p-20;
    double bad = 0;

    for (int i = 0; row && i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, m);
        gemm_row(a + r * k, b, n, k, row);
        for (int64_t j = 0; j < n; j++)
            bad = worse(bad, fabs(c[r * n + j] - row[j]) / (unit * row[n + j] + 1e-30));
    }
    free(row);
    return row ? bad : NAN;
}

/* Sums of a thousand terms reach a hundred, and each addition rounds that. */
static double gemm_allowed(const int64_t *d)
{
    return 1e-6 * (double)d[2];
}

static void gemm_peer(Problem *p, PeerId id)
{
    peer_sgemm(p->peers, id, false, p->dim[0], p->dim[1], p->dim[2], 1, p->arg[0].data,
               p->arg[1].data, p->result);
}

/* ---- int8 gemm ------------------------------------------------------------------------------- */

/* Seven bits: oneDNN's code for machines without VNNI sums pairs in 16 bits and may saturate. */
static void fill_int8(tl_tensor *t, uint64_t seed)
{
    int8_t *x = t->data;
    for (int64_t i = 0, n = nelems(t); i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (int8_t)((int)(seed >> 57) - 64);
    }
}

static void igemm_open(Problem *p)
{
    fill_int8(&p->arg[0], 1);
    fill_int8(&p->arg[1], 2);
    p->has[ONEDNN] = true;
}

static double igemm_check(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1], k = p->dim[2];
    const int8_t *a = p->arg[0].data, *b = p->arg[1].data;
    const int32_t *c = p->arg[2].data;
    int64_t wrong = 0;
    int32_t *row = malloc(sizeof(int32_t) * (size_t)n);

    for (int i = 0; row && i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, m);
        memset(row, 0, sizeof(int32_t) * (size_t)n);
        for (int64_t x = 0; x < k; x++)
            for (int64_t j = 0; j < n; j++)
                row[j] += a[r * k + x] * b[x * n + j];
        for (int64_t j = 0; j < n; j++)
            wrong += c[r * n + j] != row[j];
    }
    free(row);
    return row && !wrong ? 0 : INFINITY;
}

static void igemm_peer(Problem *p, PeerId id)
{
    (void)id;
    peer_igemm(p->peers, p->dim[0], p->dim[1], p->dim[2], p->arg[0].data, p->arg[1].data,
               p->result);
}

/* ---- attention ------------------------------------------------------------------------------- */

enum { AT_BATCH, AT_HEADS, AT_SEQUENCE, AT_WIDTH };

static double attention_work(const int64_t *d)
{
    return 4.0 * (double)(d[AT_BATCH] * d[AT_HEADS]) * (double)d[AT_SEQUENCE] *
           (double)d[AT_SEQUENCE] * (double)d[AT_WIDTH];
}

static void attention_open(Problem *p)
{
    int64_t s = p->dim[AT_SEQUENCE];
    fill_normal(p, 0, 3);
    if (!p->peers->has[ONEDNN])
        return; /* whose softmax all peers use */
    p->extra[0] = allocate(s * s * (int64_t)sizeof(float));
    p->has[ONEDNN] = p->has[OPENBLAS] =
        p->extra[0] && peer_softmax_open(p->peers, &p->softmax, s, s, p->extra[0], p->extra[0]);
}

/* Worst error of one row of one head; weight has room for s. */
static double attention_row(const float *q, const float *k, const float *v, const float *o,
                            int64_t s, int64_t width, double *weight)
{
    double most = -INFINITY, total = 0, bad = 0;
    for (int64_t j = 0; j < s; j++) {
        double dot = 0;
        for (int64_t x = 0; x < width; x++)
            dot += (double)q[x] * (double)k[j * width + x];
        weight[j] = dot / sqrt((double)width);
        most = fmax(most, weight[j]);
    }
    for (int64_t j = 0; j < s; j++)
        total += weight[j] = exp(weight[j] - most);
    for (int64_t x = 0; x < width; x++) {
        double want = 0;
        for (int64_t j = 0; j < s; j++)
            want += weight[j] * (double)v[j * width + x];
        bad = worse(bad, fabs(o[x] - want / total));
    }
    return bad;
}

static double attention_check(Problem *p)
{
    const int64_t heads = p->dim[AT_BATCH] * p->dim[AT_HEADS], s = p->dim[AT_SEQUENCE];
    const int64_t width = p->dim[AT_WIDTH];
    const float *q = p->arg[0].data, *k = p->arg[1].data, *v = p->arg[2].data, *o = p->arg[3].data;
    double *weight = malloc(sizeof(double) * (size_t)s);
    const double limit = 1e-5;
    double bad = 0;

    for (int i = 0; weight && i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, heads * s), head = r / s;
        bad = worse(bad, attention_row(q + r * width, k + head * s * width, v + head * s * width,
                                       o + r * width, s, width, weight));
    }
    free(weight);
    return weight ? bad / limit : NAN;
}

static double attention_allowed(const int64_t *d)
{
    (void)d;
    return 1e-5;
}

/* Head by head: scores, softmax, values.  What one writes when there is no fused kernel. */
static void attention_peer(Problem *p, PeerId id)
{
    const int64_t heads = p->dim[AT_BATCH] * p->dim[AT_HEADS], s = p->dim[AT_SEQUENCE];
    const int64_t width = p->dim[AT_WIDTH], step = s * width;
    const float *q = p->arg[0].data, *k = p->arg[1].data, *v = p->arg[2].data;
    float scale = 1 / sqrtf((float)width);

    for (int64_t h = 0; h < heads; h++) {
        peer_sgemm(p->peers, id, true, s, s, width, scale, q + h * step, k + h * step, p->extra[0]);
        peer_softmax_run(p->peers, &p->softmax);
        peer_sgemm(p->peers, id, false, s, width, s, 1, p->extra[0], v + h * step,
                   (float *)p->result + h * step);
    }
}

/* ---- rows: softmax and rms_norm -------------------------------------------------------------- */

static double row_work(const int64_t *d)
{
    return 2.0 * (double)sizeof(float) * (double)d[0] * (double)d[1];
}

static double row_allowed(const int64_t *d)
{
    (void)d;
    return 1e-6;
}

static void softmax_open(Problem *p)
{
    fill_normal(p, 0, 1);
    p->has[MEMCPY] = p->threads == 1;
    p->has[ONEDNN] = p->peers->has[ONEDNN] &&
                     peer_softmax_open(p->peers, &p->softmax, p->dim[0], p->dim[1], p->arg[0].data,
                                       p->result);
}

static double softmax_check(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1];
    const double limit = 1e-5;
    double bad = 0;

    for (int i = 0; i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, m);
        const float *x = (const float *)p->arg[0].data + r * n;
        const float *y = (const float *)p->arg[1].data + r * n;
        double most = -INFINITY, total = 0;
        for (int64_t j = 0; j < n; j++)
            most = fmax(most, (double)x[j]);
        for (int64_t j = 0; j < n; j++)
            total += exp((double)x[j] - most);
        for (int64_t j = 0; j < n; j++) {
            double want = exp((double)x[j] - most) / total;
            bad = worse(bad, fabs(y[j] - want) / (limit * want));
        }
    }
    return bad;
}

static void softmax_peer(Problem *p, PeerId id)
{
    if (id == MEMCPY)
        memcpy(p->result, p->arg[0].data, (size_t)nelems(&p->arg[0]) * sizeof(float));
    else
        peer_softmax_run(p->peers, &p->softmax);
}

static void rms_norm_open(Problem *p)
{
    fill_normal(p, 0, 2);
    p->has[MEMCPY] = p->threads == 1;
}

static double rms_norm_check(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1];
    const float *w = p->arg[1].data;
    const double limit = 1e-5, epsilon = 1e-6;
    double bad = 0;

    for (int i = 0; i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, m);
        const float *x = (const float *)p->arg[0].data + r * n;
        const float *y = (const float *)p->arg[2].data + r * n;
        double total = 0;
        for (int64_t j = 0; j < n; j++)
            total += (double)x[j] * (double)x[j];
        double scale = 1 / sqrt(total / (double)n + epsilon);
        for (int64_t j = 0; j < n; j++) {
            double want = (double)x[j] * scale * (double)w[j];
            bad = worse(bad, fabs(y[j] - want) / (limit * fabs(want) + 1e-30));
        }
    }
    return bad;
}

static void copy_peer(Problem *p, PeerId id)
{
    (void)id;
    memcpy(p->result, p->arg[0].data, (size_t)nelems(&p->arg[0]) * sizeof(float));
}

/* ---- gemm with 4-bit weights ----------------------------------------------------------------- */

enum { GROUP = 128 }; /* the kernel's own default: weights that share a scale */

static void dequant_open(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1], k = p->dim[2], groups = (k + GROUP - 1) / GROUP;
    uint8_t *packed = p->arg[1].data;
    uint64_t seed = 7;

    fill_normal(p, 0, 1);
    fill_normal(p, 2, 3);
    for (int64_t i = 0; i < n * k / 2; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        packed[i] = (uint8_t)(seed >> 56);
    }
    float *a = p->extra[0] = allocate(m * k * (int64_t)sizeof(float));
    float *w = p->extra[1] = allocate(n * k * (int64_t)sizeof(float));
    if (!a || !w)
        return;
    for (int64_t i = 0; i < m * k; i++)
        a[i] = (float)tl_value_at(&p->arg[0], i);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            int nibble = packed[i * (k / 2) + j / 2] >> (j % 2 * 4) & 15;
            w[i * k + j] = (float)((nibble - 8) * tl_value_at(&p->arg[2], i * groups + j / GROUP));
        }
    p->has[OPENBLAS] = p->has[BLIS] = p->has[ONEDNN] = true;
}

/* The kernel rounds each weight to float16 once more: an error of at most 2^-11 of each term, of
 * either sign, so the sum stays within a few times the root of the sum of squares. */
static double dequant_check(Problem *p)
{
    const int64_t m = p->dim[0], n = p->dim[1], k = p->dim[2];
    const float *a = p->extra[0], *w = p->extra[1], *c = p->arg[3].data;
    const double unit = 4 * 0x1p-11;
    double bad = 0;

    for (int i = 0; a && w && i < SAMPLE_ROWS; i++) {
        int64_t r = sample_row(i, m);
        for (int64_t j = 0; j < n; j++) {
            double want = 0, square = 0;
            for (int64_t x = 0; x < k; x++) {
                double v = (double)a[r * k + x] * (double)w[j * k + x];
                want += v;
                square += v * v;
            }
            bad = worse(bad, fabs(c[r * n + j] - want) / (unit * sqrt(square) + 1e-30));
        }
    }
    return a && w ? bad : NAN;
}

static double dequant_allowed(const int64_t *d)
{
    const double term = 10; /* twice the root mean square of a normal times a scaled weight */
    return 4 * 0x1p-11 * term * sqrt((double)d[2]);
}

static void dequant_peer(Problem *p, PeerId id)
{
    peer_sgemm(p->peers, id, true, p->dim[0], p->dim[1], p->dim[2], 1, p->extra[0], p->extra[1],
               p->result);
}

/* ---- the table ------------------------------------------------------------------------------- */

const Family families[] = {
    {"gemm", "GEMM f32", "gemm.py", "gemm", {"M", "N", "K"}, {"dtype", "'float32'"}, ROOF_FMA,
     "GFLOP/s", "float32", NULL, gemm_work, gemm_open, gemm_check, gemm_allowed, gemm_peer},
    {"gemm-s8", "GEMM int8", "gemm.py", "gemm", {"M", "N", "K"}, {"dtype", "'int8'"}, ROOF_FMA,
     "GOP/s", "int8", NULL, gemm_work, igemm_open, igemm_check, NULL, igemm_peer},
    {"attention", "Attention", "flash_attention.py", "flash_attention", {"B", "H", "S", "D"},
     {NULL, NULL}, ROOF_FMA, "GFLOP/s", "float32",
     "peers have no fused attention: two products and the softmax of oneDNN for each head",
     attention_work, attention_open, attention_check, attention_allowed, attention_peer},
    {"softmax", "Softmax", "softmax.py", "softmax", {"M", "N"}, {NULL, NULL}, ROOF_STREAM, "GB/s",
     NULL, "memcpy moves the same bytes and computes nothing", row_work, softmax_open,
     softmax_check, row_allowed, softmax_peer},
    {"rmsnorm", "RMSNorm", "rms_norm.py", "rms_norm", {"M", "N"}, {NULL, NULL}, ROOF_STREAM, "GB/s",
     NULL, "memcpy moves the same bytes and computes nothing", row_work, rms_norm_open,
     rms_norm_check, row_allowed, copy_peer},
    {"dequant", "Dequant GEMM", "dequant_gemm.py", "dequant_gemm", {"M", "N", "K"}, {NULL, NULL},
     ROOF_FMA, "GFLOP/s", "float32",
     "peers get weights that are float32 already; ours unpacks 4 bits as it goes",
     gemm_work, dequant_open, dequant_check, dequant_allowed, dequant_peer},
};
const int nfamily = (int)(sizeof families / sizeof *families);

const Family *family_find(const char *name)
{
    for (int i = 0; i < nfamily; i++)
        if (!strcmp(families[i].name, name))
            return &families[i];
    return NULL;
}

/* ---- a problem ------------------------------------------------------------------------------- */

void problem_shape(const Problem *p, char text[MOST_TEXT])
{
    int n = 0;
    *text = 0;
    for (int i = 0; i < MOST_DIM && p->family->dims[i]; i++)
        n += snprintf(text + n, (size_t)(MOST_TEXT - n), "%s%lld", i ? "x" : "",
                      (long long)p->dim[i]);
}

static tl_status compile(Problem *p, const char *examples, bool no_cache)
{
    const Family *f = p->family;
    char file[4096], value[MOST_DIM][32];
    tl_define define[MOST_DEFINE];
    tl_options o = TL_OPTIONS_INIT;
    int n = 0;

    for (; n < MOST_DIM && f->dims[n]; n++) {
        snprintf(value[n], sizeof value[n], "%lld", (long long)p->dim[n]);
        define[n] = (tl_define){f->dims[n], value[n]};
    }
    if (f->fixed[0])
        define[n++] = (tl_define){f->fixed[0], f->fixed[1]};
    snprintf(file, sizeof file, "%s/%s", examples, f->file);
    o.target = "cpu";
    o.func = f->func;
    o.defines = define;
    o.ndefine = n;
    o.threads = p->threads;
    o.no_cache = no_cache;
    return tl_compile(p->tl, file, NULL, &o, &p->kernel);
}

const char *problem_open(Problem *p, const char *examples, bool no_cache)
{
    if (compile(p, examples, no_cache) != TL_OK)
        return tl_message(p->tl);
    p->narg = tl_kernel_nparam(p->kernel);
    if (p->narg > MOST_ARG)
        return "too many arguments";
    for (int i = 0; i < p->narg; i++) {
        tl_param param = tl_kernel_param(p->kernel, i);
        tl_tensor *t = &p->arg[i];
        t->dtype = param.dtype;
        t->rank = param.rank;
        memcpy(t->shape, param.shape, sizeof t->shape);
        t->data = allocate(tl_dtype_bytes(t->dtype, nelems(t)));
        if (!t->data)
            return "out of memory";
    }
    const tl_tensor *out = &p->arg[p->narg - 1];
    p->result = allocate(tl_dtype_bytes(out->dtype, nelems(out)));
    if (!p->result)
        return "out of memory";
    p->family->open(p);
    for (int i = 0; i < NPEER; i++)
        p->has[i] = p->has[i] && p->peers->has[i];
    return NULL;
}

void problem_close(Problem *p)
{
    for (int i = 0; i < p->narg && i < MOST_ARG; i++)
        free(p->arg[i].data);
    for (int i = 0; i < (int)(sizeof p->extra / sizeof *p->extra); i++)
        free(p->extra[i]);
    free(p->result);
    if (p->kernel)
        tl_kernel_free(p->kernel);
}

const char *problem_run(Problem *p)
{
    return tl_kernel_run(p->kernel, p->arg, p->narg) == TL_OK ? NULL : tl_message(p->tl);
}
