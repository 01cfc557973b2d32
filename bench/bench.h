/* bench.h -- measure kernels of examples/ beside what people use today.
 *
 * peer.c loads the libraries, family.c knows each kind of problem, run.c measures and prints,
 * html.c draws the report of `make demo`.  Only tilelang.h and libc are used. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tilelang.h"

/* ---- peer.c ---------------------------------------------------------------------------------- */

typedef enum { OPENBLAS, BLIS, ONEDNN, MEMCPY, NPEER } PeerId;

typedef void CblasSgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                        int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef int DnnlSgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                      const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                      float *c, int64_t ldc);
typedef int DnnlIgemm(char ta, char tb, char offset, int64_t m, int64_t n, int64_t k, float alpha,
                      const int8_t *a, int64_t lda, int8_t ao, const int8_t *b, int64_t ldb,
                      int8_t bo, float beta, int32_t *c, int64_t ldc, const int32_t *co);
typedef struct {
    int which;
    void *memory;
} DnnlArg;

/* Functions of a library are valid while has[] of it is true. */
typedef struct {
    bool has[NPEER];
    char about[NPEER][128]; /* version and the code path it chose on this machine */
    CblasSgemm *cblas[NPEER];
    void (*openblas_threads)(int n);
    void (*blis_threads)(int64_t n);
    void (*omp_threads)(int n);
    DnnlSgemm *dnnl_sgemm;
    DnnlIgemm *dnnl_igemm;
    int (*dnnl_desc)(void *desc, int ndim, const int64_t *dims, int dtype, int tag);
    int (*dnnl_softmax)(void *op, int prop, const void *desc, int axis);
    int (*dnnl_plan)(void **plan, const void *op, const void *attr, void *engine, const void *hint);
    int (*dnnl_primitive)(void **primitive, const void *plan);
    int (*dnnl_memory)(void **memory, const void *desc, void *engine, void *data);
    int (*dnnl_execute)(const void *primitive, void *stream, int narg, const DnnlArg *args);
    int (*dnnl_wait)(void *stream);
    void *engine, *stream; /* of oneDNN */
} Peers;

typedef struct {
    void *primitive;
    DnnlArg arg[2];
} PeerSoftmax;

extern const char *const peer_names[NPEER];  /* "openblas": columns */
extern const char *const peer_titles[NPEER]; /* "OpenBLAS": people */
void peers_open(Peers *p);
void peers_threads(Peers *p, int n);
/* C = alpha * A @ B, rows contiguous; bt: B is stored n x k. */
void peer_sgemm(Peers *p, PeerId id, bool bt, int64_t m, int64_t n, int64_t k, float alpha,
                const float *a, const float *b, float *c);
void peer_igemm(Peers *p, int64_t m, int64_t n, int64_t k, const int8_t *a, const int8_t *b,
                int32_t *c);
/* Over rows; src and dst may be one.  False: this oneDNN cannot. */
bool peer_softmax_open(Peers *p, PeerSoftmax *s, int64_t rows, int64_t cols, float *src,
                       float *dst);
void peer_softmax_run(Peers *p, PeerSoftmax *s);

/* ---- family.c -------------------------------------------------------------------------------- */

enum { MOST_ARG = 6, MOST_DIM = 4, MOST_DEFINE = 8, MOST_TEXT = 64 };

typedef enum { ROOF_FMA, ROOF_STREAM } Roof;

typedef struct Problem Problem;

/* One kind of problem: which kernel, how large, what is right, who else does it. */
typedef struct {
    const char *name;  /* in tables */
    const char *title; /* in the report */
    const char *file;  /* under examples/ */
    const char *func;
    const char *dims[MOST_DIM]; /* knobs that a shape gives, in order */
    const char *fixed[2];       /* one more knob and its value, or NULL */
    Roof roof;
    const char *unit;       /* of the rate */
    const char *peak_dtype; /* of the measured FMA loop, when roof is ROOF_FMA */
    const char *note;       /* what the peers do, where it is not the same thing; or NULL */
    double (*work)(const int64_t *dim); /* flops, or bytes when roof is ROOF_STREAM */
    void (*open)(Problem *p);  /* fill the inputs, set peers, allocate what peers need */
    double (*check)(Problem *p); /* worst error over what is allowed: <= 1 is right */
    double (*allowed)(const int64_t *dim); /* |ours - peer|; 0: equal to the bit */
    void (*peer)(Problem *p, PeerId id);
} Family;

struct Problem {
    const Family *family;
    int64_t dim[MOST_DIM];
    int threads;
    tl_context *tl;
    Peers *peers;
    tl_kernel *kernel;
    tl_tensor arg[MOST_ARG]; /* the last one is the result */
    int narg;
    bool has[NPEER];
    void *result; /* of the peers; same shape as ours */
    float *extra[3]; /* what peers need besides */
    PeerSoftmax softmax;
};

extern const Family families[];
extern const int nfamily;
const Family *family_find(const char *name);
void problem_shape(const Problem *p, char text[MOST_TEXT]);
/* Compile and allocate.  NULL, or what went wrong. */
const char *problem_open(Problem *p, const char *examples, bool no_cache);
void problem_close(Problem *p);
const char *problem_run(Problem *p); /* ours; NULL or what went wrong */

/* ---- run.c ----------------------------------------------------------------------------------- */

enum { MOST_PHASE = 40 };

typedef struct {
    char name[MOST_TEXT];
    double ms;
} Phase;

typedef struct {
    const Family *family;
    char shape[MOST_TEXT];
    int threads;
    bool ok;
    char why[512]; /* when not ok */
    double ms;     /* median */
    double best_ms;
    int rounds;
    double rate;   /* GFLOP/s or GB/s */
    double roof;   /* the measured limit in the same unit; the best of all tries */
    double error;  /* over what is allowed */
    double peer_ms[NPEER]; /* medians; 0: absent */
    double peer_best_ms[NPEER];
    Phase phase[MOST_PHASE]; /* of compiling */
    int nphase;
} Result;

/* What a report says of the machine. */
typedef struct {
    char cpu[128];
    char target[256];
    char compiler[256];
    char busy[192]; /* empty, or that others used the machine meanwhile */
    double seconds; /* the whole run */
} Machine;

PeerId result_strongest(const Result *r); /* NPEER: none */

/* ---- html.c ---------------------------------------------------------------------------------- */

bool html_write(const char *file, const Machine *m, const Peers *peers, const Result *r, int n);

#endif
