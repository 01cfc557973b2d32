/* peer.c -- the libraries we measure against, loaded when they are there.
 *
 * Each is used as it comes: it chooses its own code path for this machine, and about[] says which.
 * All get the same number of threads.  None is linked, so none is needed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

const char *const peer_names[NPEER] = {"openblas", "blis", "onednn", "memcpy"};
const char *const peer_titles[NPEER] = {"OpenBLAS", "BLIS", "oneDNN", "memcpy"};

enum { CBLAS_ROW = 101, CBLAS_PLAIN = 111, CBLAS_TRANSPOSE = 112 };

/* Values of dnnl_types.h that have been the same in every 2.x; its structs are opaque here. */
enum {
    DNNL_CPU = 1,
    DNNL_F32 = 3,
    DNNL_AB = 3,
    DNNL_FORWARD_INFERENCE = 96,
    DNNL_ARG_SRC = 1,
    DNNL_ARG_DST = 17,
    DNNL_STREAM_DEFAULT = 1,
    DNNL_STRUCT_BYTES = 16384 /* more than any descriptor */
};

typedef struct {
    const char *symbol;
    void *to; /* address of a function pointer */
} Symbol;

static bool load(const char *library, const Symbol *list, int n, void **handle)
{
    *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!*handle)
        return false;
    for (int i = 0; i < n; i++) {
        void *f = dlsym(*handle, list[i].symbol);
        if (!f)
            return false;
        memcpy(list[i].to, &f, sizeof f);
    }
    return true;
}

/* ---- each library ---------------------------------------------------------------------------- */

static void open_openblas(Peers *p)
{
    char *(*core)(void), *(*config)(void);
    void *h;
    const Symbol list[] = {{"cblas_sgemm", &p->cblas[OPENBLAS]},
                           {"openblas_set_num_threads", &p->openblas_threads},
                           {"openblas_get_corename", &core},
                           {"openblas_get_config", &config}};

    if (!load("libopenblas.so.0", list, 4, &h))
        return;
    p->has[OPENBLAS] = true;
    char version[32] = "";
    sscanf(config(), "OpenBLAS %31s", version);
    snprintf(p->about[OPENBLAS], sizeof p->about[OPENBLAS], "%s, %s kernels", version, core());
}

static void open_blis(Peers *p)
{
    int (*id)(void);
    char *(*name)(int), *(*version)(void);
    void *h;
    const Symbol list[] = {{"cblas_sgemm", &p->cblas[BLIS]},
                           {"bli_thread_set_num_threads", &p->blis_threads},
                           {"bli_arch_query_id", &id},
                           {"bli_arch_string", &name},
                           {"bli_info_get_version_str", &version}};

    if (!load("libblis.so.4", list, 5, &h))
        return;
    p->has[BLIS] = true;
    snprintf(p->about[BLIS], sizeof p->about[BLIS], "%s, %s kernels", version(), name(id()));
}

static void open_onednn(Peers *p)
{
    typedef struct {
        int major, minor, patch;
    } Version;
    const Version *(*version)(void);
    int (*engine)(void **engine, int kind, size_t index);
    int (*stream)(void **stream, void *engine, unsigned flags);
    unsigned (*isa)(void);
    void *h;
    const Symbol list[] = {{"dnnl_sgemm", &p->dnnl_sgemm},
                           {"dnnl_gemm_s8s8s32", &p->dnnl_igemm},
                           {"dnnl_memory_desc_init_by_tag", &p->dnnl_desc},
                           {"dnnl_softmax_forward_desc_init", &p->dnnl_softmax},
                           {"dnnl_primitive_desc_create", &p->dnnl_plan},
                           {"dnnl_primitive_create", &p->dnnl_primitive},
                           {"dnnl_memory_create", &p->dnnl_memory},
                           {"dnnl_primitive_execute", &p->dnnl_execute},
                           {"dnnl_stream_wait", &p->dnnl_wait},
                           {"dnnl_engine_create", &engine},
                           {"dnnl_stream_create", &stream},
                           {"dnnl_get_effective_cpu_isa", &isa},
                           {"dnnl_version", &version},
                           {"omp_set_num_threads", &p->omp_threads}};

    if (!load("libdnnl.so.2", list, (int)(sizeof list / sizeof *list), &h) ||
        engine(&p->engine, DNNL_CPU, 0) || stream(&p->stream, p->engine, DNNL_STREAM_DEFAULT))
        return;
    p->has[ONEDNN] = true;
    const Version *v = version();
    const unsigned avx512 = 0x20; /* a bit of dnnl_cpu_isa_t set from avx512_mic on */
    snprintf(p->about[ONEDNN], sizeof p->about[ONEDNN], "%d.%d.%d, %s kernels", v->major, v->minor,
             v->patch, isa() & avx512 ? "AVX-512" : "AVX2");
}

/* Idle workers of a peer spin for tens of milliseconds, into whoever runs next.  Half a millisecond
 * still bridges two of its own runs; ours spin as long. */
static void let_idle_threads_sleep(void)
{
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
    setenv("GOMP_SPINCOUNT", "10000", 0);
}

void peers_open(Peers *p)
{
    memset(p, 0, sizeof *p);
    let_idle_threads_sleep();
    open_openblas(p);
    open_blis(p);
    open_onednn(p);
    p->has[MEMCPY] = true;
    snprintf(p->about[MEMCPY], sizeof p->about[MEMCPY], "of libc, one thread");
}

void peers_threads(Peers *p, int n)
{
    if (p->has[OPENBLAS])
        p->openblas_threads(n);
    if (p->has[BLIS])
        p->blis_threads(n);
    if (p->has[ONEDNN])
        p->omp_threads(n);
}

/* ---- what they do ---------------------------------------------------------------------------- */

void peer_sgemm(Peers *p, PeerId id, bool bt, int64_t m, int64_t n, int64_t k, float alpha,
                const float *a, const float *b, float *c)
{
    int64_t ldb = bt ? k : n;
    if (id == ONEDNN)
        p->dnnl_sgemm('N', bt ? 'T' : 'N', m, n, k, alpha, a, k, b, ldb, 0, c, n);
    else
        p->cblas[id](CBLAS_ROW, CBLAS_PLAIN, bt ? CBLAS_TRANSPOSE : CBLAS_PLAIN, (int)m, (int)n,
                     (int)k, alpha, a, (int)k, b, (int)ldb, 0, c, (int)n);
}

void peer_igemm(Peers *p, int64_t m, int64_t n, int64_t k, const int8_t *a, const int8_t *b,
                int32_t *c)
{
    const int32_t zero = 0;
    p->dnnl_igemm('N', 'N', 'F', m, n, k, 1, a, k, 0, b, n, 0, 0, c, n, &zero);
}

bool peer_softmax_open(Peers *p, PeerSoftmax *s, int64_t rows, int64_t cols, float *src, float *dst)
{
    const int64_t dims[2] = {rows, cols};
    void *desc = calloc(1, DNNL_STRUCT_BYTES), *op = calloc(1, DNNL_STRUCT_BYTES), *plan = NULL;

    s->arg[0].which = DNNL_ARG_SRC;
    s->arg[1].which = DNNL_ARG_DST;
    bool ok = desc && op && !p->dnnl_desc(desc, 2, dims, DNNL_F32, DNNL_AB) &&
              !p->dnnl_softmax(op, DNNL_FORWARD_INFERENCE, desc, 1) &&
              !p->dnnl_plan(&plan, op, NULL, p->engine, NULL) &&
              !p->dnnl_primitive(&s->primitive, plan) &&
              !p->dnnl_memory(&s->arg[0].memory, desc, p->engine, src) &&
              !p->dnnl_memory(&s->arg[1].memory, desc, p->engine, dst);
    free(op);
    free(desc);
    return ok;
}

void peer_softmax_run(Peers *p, PeerSoftmax *s)
{
    p->dnnl_execute(s->primitive, p->stream, 2, s->arg);
    p->dnnl_wait(p->stream);
}
