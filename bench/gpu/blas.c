/* blas.c -- matrix products by cuBLASLt, found by dlopen; declared as it is documented. */
#include <dlfcn.h>
#include <glob.h>
#include "gpu.h"

typedef struct {
    uint64_t algo[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} Heuristic;

#define LT(X)                                                                                      \
    X(cublasLtCreate, (Handle * lt))                                                               \
    X(cublasLtMatmulDescCreate, (Handle * d, int compute, int scale))                              \
    X(cublasLtMatmulDescDestroy, (Handle d))                                                       \
    X(cublasLtMatmulDescSetAttribute, (Handle d, int attribute, const void *value, size_t n))      \
    X(cublasLtMatrixLayoutCreate, (Handle * l, int type, uint64_t rows, uint64_t cols, int64_t ld)) \
    X(cublasLtMatrixLayoutDestroy, (Handle l))                                                     \
    X(cublasLtMatmulPreferenceCreate, (Handle * p))                                                \
    X(cublasLtMatmulPreferenceDestroy, (Handle p))                                                 \
    X(cublasLtMatmulPreferenceSetAttribute, (Handle p, int attribute, const void *v, size_t n))    \
    X(cublasLtMatmulAlgoGetHeuristic,                                                              \
      (Handle lt, Handle d, Handle a, Handle b, Handle c, Handle dd, Handle p, int asked,          \
       Heuristic * results, int *n))                                                               \
    X(cublasLtMatmul,                                                                              \
      (Handle lt, Handle d, const void *alpha, const void *A, Handle a, const void *B, Handle b,   \
       const void *beta, const void *C, Handle c, void *D, Handle dd, const void *algo,            \
       void *work, size_t nwork, Handle stream))

enum { TRANSA = 3, TRANSB = 4, WORKSPACE = 1, ALGOS = 8, WORK_BYTES = 64 << 20 };

static struct {
#define X(name, arguments) int(*name) arguments;
    LT(X)
#undef X
    Handle lt;
    DevicePtr work;
    bool tried;
} lt;

struct Blas {
    Handle desc, a, b, c;
    Heuristic algo[ALGOS];
    int nalgo, best;
    union { float f; int32_t i; } one, zero;
};

/* dtype: cudaDataType, cublasComputeType and the type of alpha. */
static const struct {
    const char *name;
    int type, compute, scale;
} type_table[] = {
    {"float16", 2, 68, 0}, {"bfloat16", 14, 68, 0},      {"float32", 0, 77, 0},
    {"tfloat32", 0, 77, 0},
    {"int8", 3, 72, 10},   {"float8_e4m3fn", 28, 68, 0}, {"int32", 10, 72, 10},
};

static int find_type(const char *name)
{
    for (int i = 0; i < COUNT(type_table); i++)
        if (!strcmp(type_table[i].name, name))
            return i;
    return -1;
}

/* ---- the library ----------------------------------------------------------------------------- */

static void *try_glob(const char *pattern)
{
    glob_t g;
    void *h = NULL;

    if (glob(pattern, 0, NULL, &g) != 0)
        return NULL;
    for (size_t i = g.gl_pathc; i > 0 && !h; i--)
        h = dlopen(g.gl_pathv[i - 1], RTLD_NOW);
    globfree(&g);
    return h;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    const char *path = getenv("PATH");
    char pattern[1024];
    void *h = NULL;

    for (int i = 0; i < COUNT(names) && !h; i++)
        h = dlopen(names[i], RTLD_NOW);
    if (!h)
        h = try_glob("/usr/local/cuda*/lib64/libcublasLt.so.*");
    for (const char *s = path ? path : ""; *s && !h;) {
        size_t n = strcspn(s, ":");
        snprintf(pattern, sizeof pattern,
                 "%.*s/../lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.*", (int)n, s);
        h = try_glob(pattern);
        s += n + (s[n] == ':');
    }
    return h;
}

static bool take_library(const char **why)
{
    void *h, *at;

    *why = "no cuBLASLt here";
    if (lt.tried)
        return lt.lt != NULL;
    lt.tried = true;
    h = open_library();
    if (!h)
        return false;
#define X(name, arguments)                                                                         \
    at = dlsym(h, #name);                                                                          \
    if (!at)                                                                                       \
        return false;                                                                              \
    memcpy(&lt.name, &at, sizeof at);
    LT(X)
#undef X
    lt.work = cuda_alloc(WORK_BYTES);
    return lt.work && lt.cublasLtCreate(&lt.lt) == 0;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Row-major C = A B is column-major C' = B' A': B comes first. */
static bool describe(Blas *b, const Row *r)
{
    int t = find_type(r->dtype), o = find_type(r->out), yes = 1, no = 0;
    uint64_t M = (uint64_t)r->d[0], N = (uint64_t)r->d[1], K = (uint64_t)r->d[2];
    int *transpose = r->nt ? &yes : &no;

    return t >= 0 && o >= 0 &&
           lt.cublasLtMatmulDescCreate(&b->desc, type_table[t].compute, type_table[t].scale) == 0 &&
           lt.cublasLtMatmulDescSetAttribute(b->desc, TRANSA, transpose, sizeof yes) == 0 &&
           lt.cublasLtMatmulDescSetAttribute(b->desc, TRANSB, &no, sizeof no) == 0 &&
           lt.cublasLtMatrixLayoutCreate(&b->b, type_table[t].type, r->nt ? K : N, r->nt ? N : K,
                                         (int64_t)(r->nt ? K : N)) == 0 &&
           lt.cublasLtMatrixLayoutCreate(&b->a, type_table[t].type, K, M, (int64_t)K) == 0 &&
           lt.cublasLtMatrixLayoutCreate(&b->c, type_table[o].type, N, M, (int64_t)N) == 0;
}

static bool ask_heuristic(Blas *b, int n)
{
    Handle p = NULL;
    size_t work = WORK_BYTES;
    int r = lt.cublasLtMatmulPreferenceCreate(&p);

    if (r == 0)
        r = lt.cublasLtMatmulPreferenceSetAttribute(p, WORKSPACE, &work, sizeof work);
    if (r == 0)
        r = lt.cublasLtMatmulAlgoGetHeuristic(lt.lt, b->desc, b->b, b->a, b->c, b->c, p, n, b->algo,
                                              &b->nalgo);
    if (p)
        lt.cublasLtMatmulPreferenceDestroy(p);
    return r == 0 && b->nalgo > 0;
}

Blas *blas_open(const Row *r, bool tune, const char **why)
{
    if (!take_library(why))
        return NULL;
    Blas *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    if (!strcmp(r->dtype, "int8"))
        b->one.i = 1;
    else
        b->one.f = 1;
    *why = "cuBLASLt does not do this product";
    if (describe(b, r) && ask_heuristic(b, tune ? ALGOS : 1))
        return b;
    blas_close(b);
    return NULL;
}

static bool run_with(Blas *b, int which, DevicePtr A, DevicePtr B, DevicePtr C, Handle stream)
{
    return lt.cublasLtMatmul(lt.lt, b->desc, &b->one, (void *)(uintptr_t)B, b->b,
                             (void *)(uintptr_t)A, b->a, &b->zero, (void *)(uintptr_t)C, b->c,
                             (void *)(uintptr_t)C, b->c, b->algo[which].algo,
                             (void *)(uintptr_t)lt.work, WORK_BYTES, stream) == 0;
}

typedef struct {
    Blas *b;
    int which;
    DevicePtr A, B, C;
} Try;

static bool launch_try(void *arg, int i)
{
    Try *t = arg;
    (void)i;
    return run_with(t->b, t->which, t->A, t->B, t->C, cuda_stream());
}

/* With several candidates the first run tries them all. */
static void choose(Blas *b, DevicePtr A, DevicePtr B, DevicePtr C)
{
    double least = 0;

    for (int i = 0; i < b->nalgo; i++) {
        Try t = {b, i, A, B, C};
        Handle exec = cuda_capture(4, launch_try, &t);
        double s = exec ? cuda_time_graph(exec) : -1;
        s = exec ? cuda_time_graph(exec) : -1;
        cuda_graph_free(exec);
        if (s > 0 && (least == 0 || s < least)) {
            least = s;
            b->best = i;
        }
    }
    b->nalgo = 1;
}

bool blas_run(Blas *b, DevicePtr A, DevicePtr B, DevicePtr C, Handle stream)
{
    if (b->nalgo > 1)
        choose(b, A, B, C);
    return run_with(b, b->best, A, B, C, stream);
}

void blas_close(Blas *b)
{
    if (!b)
        return;
    if (b->desc)
        lt.cublasLtMatmulDescDestroy(b->desc);
    if (b->a)
        lt.cublasLtMatrixLayoutDestroy(b->a);
    if (b->b)
        lt.cublasLtMatrixLayoutDestroy(b->b);
    if (b->c)
        lt.cublasLtMatrixLayoutDestroy(b->c);
    free(b);
}
