/* peer.c -- OpenBLAS, BLIS and oneDNN by dlopen: the same GEMM, for a ratio. */
#include <dlfcn.h>
#include <stdlib.h>
#include "cli/cli.h"

typedef void CblasSgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef int DnnlSgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                      const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                      float *c, int64_t ldc);
typedef int DnnlS8(char ta, char tb, char offset, int64_t m, int64_t n, int64_t k, float alpha,
                   const int8_t *a, int64_t lda, int8_t ao, const int8_t *b, int64_t ldb, int8_t bo,
                   float beta, int32_t *c, int64_t ldc, const int32_t *co);
typedef void SetInt(int n);
typedef void SetLong(int64_t n);

enum { CBLAS_ROWS = 101, CBLAS_PLAIN = 111, CBLAS_TRANS = 112 };

static const struct {
    const char *name, *files[3], *gemm, *threads;
    bool long_threads;
} peer_table[] = {
    {"openblas",
     {"libopenblas.so.0", "libopenblas.so"},
     "cblas_sgemm",
     "openblas_set_num_threads",
     false},
    {"blis", {"libblis.so.4", "libblis.so"}, "cblas_sgemm", "bli_thread_set_num_threads", true},
    {"onednn",
     {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so"},
     "dnnl_sgemm",
     "omp_set_num_threads",
     false},
};

struct Peer {
    CblasSgemm *cblas;
    DnnlSgemm *dnnl;
    DnnlS8 *s8;
};

static void *open_any(const char *const *files)
{
    void *handle = NULL;
    for (int i = 0; i < 3 && files[i] && !handle; i++)
        handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* Data pointers and functions are one size wherever these libraries exist. */
#define FIND(field, handle, name) (*(void **)&(field) = dlsym((handle), (name)))

static void set_threads(void *handle, int row, int n)
{
    SetInt *set;
    SetLong *set_long;

    if (peer_table[row].long_threads) {
        if (FIND(set_long, handle, peer_table[row].threads))
            set_long(n);
    } else if (FIND(set, handle, peer_table[row].threads)) {
        set(n);
    }
}

Peer *peer_open(Arena *a, const char *name, const char *dtype, int threads, const char **why)
{
    int row = -1;
    char number[16];

    for (int i = 0; i < COUNT(peer_table); i++)
        if (!strcmp(peer_table[i].name, name))
            row = i;
    if (row < 0) {
        *why = arena_printf(a, "no peer '%s'; there are openblas, blis and onednn", name);
        return NULL;
    }
    snprintf(number, sizeof number, "%d", threads);
    setenv("OMP_NUM_THREADS", number, 1); /* read when the library starts its threads */
    void *handle = open_any(peer_table[row].files);
    if (!handle) {
        *why = arena_printf(a, "%s is not installed: %s", name, dlerror());
        return NULL;
    }
    Peer *p = NEW(a, Peer);
    bool is_dnnl = !strcmp(name, "onednn");
    if (is_dnnl && !strcmp(dtype, "int8"))
        FIND(p->s8, handle, "dnnl_gemm_s8s8s32");
    else if (is_dnnl && !strcmp(dtype, "float32"))
        FIND(p->dnnl, handle, peer_table[row].gemm);
    else if (!strcmp(dtype, "float32"))
        FIND(p->cblas, handle, peer_table[row].gemm);
    if (!p->s8 && !p->dnnl && !p->cblas) {
        *why = arena_printf(a, "%s has no matrix product of %s that we know", name, dtype);
        return NULL;
    }
    set_threads(handle, row, threads);
    return p;
}

void peer_gemm(Peer *p, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *a,
               const void *b, void *c)
{
    int64_t lda = ta ? m : k, ldb = tb ? k : n;

    if (p->cblas)
        p->cblas(CBLAS_ROWS, ta ? CBLAS_TRANS : CBLAS_PLAIN, tb ? CBLAS_TRANS : CBLAS_PLAIN, (int)m,
                 (int)n, (int)k, 1, a, (int)lda, b, (int)ldb, 0, c, (int)n);
    else if (p->dnnl)
        p->dnnl(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, 0, c, n);
    else {
        int32_t zero = 0;
        p->s8(ta ? 'T' : 'N', tb ? 'T' : 'N', 'F', m, n, k, 1, a, lda, 0, b, ldb, 0, 0, c, n,
              &zero);
    }
}
