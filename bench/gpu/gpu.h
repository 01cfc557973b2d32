/* gpu.h -- make bench-gpu: our kernels against the vendor's libraries on one GPU.
 *
 * Each row is one problem.  Our kernel and the peers get the same tensors; each becomes a CUDA graph
 * of launches over rotating copies of them; the graphs take turns, and a row's ratio is the median
 * of the rounds' ratios to the strongest peer. */
#ifndef TL_BENCH_GPU_H
#define TL_BENCH_GPU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tilelang.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))
enum { TENSORS_MOST = 8, SETS_MOST = 32, CONTENDERS_MOST = 8, ROUNDS_MOST = 64 };

/* ---- rows.c: the problems -------------------------------------------------------------------- */

typedef enum { OP_GEMM, OP_ATTENTION, OP_COPY, OP_SOFTMAX, OP_RMSNORM, OP_SWIGLU } Op;

typedef struct {
    const char *family;
    Op op;
    const char *dtype, *out; /* out: of products */
    int64_t d[5];            /* M N K; B H KV-heads S D; M N */
    bool nt, causal;
    bool quick;              /* also with --quick */
} Row;

extern const Row row_table[];
extern const int row_count;
const char *op_name(Op op);
void row_name(const Row *r, char *text, size_t n);
double row_flops(const Row *r);
/* The example that does it, and its knobs; values point into `room`. */
typedef struct {
    const char *file, *func;
    tl_define defines[24];
    int n;
    char room[16][32];
    int nroom;
} Recipe;
void row_recipe(const Row *r, Recipe *out);
void recipe_set(Recipe *c, const char *name, const char *value); /* over what is there */

/* ---- cuda.c: the driver ---------------------------------------------------------------------- */

typedef unsigned long long DevicePtr;
typedef void *Handle;

bool cuda_open(void); /* false: a message was printed */
DevicePtr cuda_alloc(size_t n);
void cuda_free(DevicePtr p);
bool cuda_fill(DevicePtr p, unsigned char byte, size_t n);
bool cuda_upload(DevicePtr to, const void *from, size_t n);
bool cuda_download(void *to, DevicePtr from, size_t n);
bool cuda_copy(DevicePtr to, DevicePtr from, size_t n);
bool cuda_sync(const char *what);
Handle cuda_stream(void); /* the one everything runs in */
/* What launch(arg, i) puts into the stream for i < n, as a graph; NULL: it failed. */
Handle cuda_capture(int n, bool (*launch)(void *arg, int i), void *arg);
Handle cuda_instantiate(Handle graph); /* of somebody else's graph */
void cuda_graph_free(Handle exec);
double cuda_time_graph(Handle exec); /* seconds; < 0: failed */
void cuda_start_graph(Handle exec);  /* without waiting */
/* A kernel that copies 16 bytes a thread and turn, and one that takes 5 addresses. */
bool cuda_copy_kernel(DevicePtr to, DevicePtr from, size_t n, Handle stream);
bool cuda_bare_launch(const DevicePtr *address, Handle stream);

typedef struct {
    int clock_mhz, memory_mhz, watts, celsius;
} Weather; /* 0: not told */
Weather cuda_weather(void);

/* ---- blas.c: cuBLASLt ------------------------------------------------------------------------ */

typedef struct Blas Blas;
/* C[M,N] = A[M,K] B, all row-major; B is N x K with nt.  NULL: not there or it cannot, *why. */
Blas *blas_open(const Row *r, bool tune, const char **why);
bool blas_run(Blas *b, DevicePtr A, DevicePtr B, DevicePtr C, Handle stream);
void blas_close(Blas *b);

/* ---- check.c: a few outputs computed on the host in double ----------------------------------- */

/* Worst error over tolerance among the samples; > 1: wrong.  NaN counts as wrong. */
double check_row(tl_context *c, const Row *r, const tl_tensor *t, int nt);

/* ---- peers from elsewhere (bench/gpu_peers.py) ----------------------------------------------- */

typedef struct {
    const char *op, *dtype, *out;
    int64_t d[5];
    int nt, causal;
    int ntensor, nset, nlaunch;
    const DevicePtr *address;                  /* [set][tensor] */
    int64_t shape[TENSORS_MOST][TL_RANK];
    int rank[TENSORS_MOST];
    const char *dtypes[TENSORS_MOST];
} PeerAsk;
/* Fills names and graphs (CUgraph, kept alive until the next question); how many. */
typedef int PeerHook(const PeerAsk *ask, const char **names, void **graphs, int most);

__attribute__((visibility("default"))) int bench_gpu(int argc, char **argv, PeerHook *hook);

#endif
