/* use_opencl.c -- a program that calls a bundle for OpenCL: gemm.h, M=64 N=48 K=32 of float32.  It finds libOpenCL itself,
 * gives tensors of shared virtual memory and a queue, and compares with a loop of its own. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include "gemm.h"

enum { M = 64, N = 48, K = 32 };
typedef int32_t GetIDs(uint32_t room, void **to, uint32_t *n);
typedef int32_t GetDevices(void *platform, uint64_t type, uint32_t room, void **to, uint32_t *n);
typedef void *MakeContext(const intptr_t *, uint32_t n, void *const *device, void *, void *, int32_t *);
typedef void *MakeQueue(void *context, void *device, uint64_t, int32_t *);
typedef void *Alloc(void *context, uint64_t flags, size_t n, uint32_t align);
typedef int32_t Copy(void *queue, uint32_t waits, void *to, const void *from, size_t n, uint32_t, void *, void *);

static float a[M * K], b[K * N], c[M * N];

static int wrong(void)
{
    int n = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[i * K + k] * b[k * N + j];
            n += fabsf(sum - c[i * N + j]) > 1e-4f;
        }
    return n;
}

int main(void)
{
    void *h = dlopen("libOpenCL.so.1", RTLD_NOW), *platform, *device;
    uint32_t n = 0;
    if (!h || ((GetIDs *)dlsym(h, "clGetPlatformIDs"))(1, &platform, &n) || !n ||
        ((GetDevices *)dlsym(h, "clGetDeviceIDs"))(platform, 0xffffffff, 1, &device, &n))
        return puts("no device"), 1;
    void *context = ((MakeContext *)dlsym(h, "clCreateContext"))(NULL, 1, &device, NULL, NULL, NULL);
    void *queue = ((MakeQueue *)dlsym(h, "clCreateCommandQueue"))(context, device, 0, NULL);
    Alloc *alloc = (Alloc *)dlsym(h, "clSVMAlloc");
    Copy *copy = (Copy *)dlsym(h, "clEnqueueSVMMemcpy");
    float *A = alloc(context, 1, sizeof a, 0), *B = alloc(context, 1, sizeof b, 0), *C = alloc(context, 1, sizeof c + 4, 0);
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 5) * 0.5f;
    copy(queue, 1, A, a, sizeof a, 0, NULL, NULL);
    copy(queue, 1, B, b, sizeof b, 0, NULL, NULL);
    printf("without a queue: %d %s\n", gemm(A, B, C, NULL), gemm_error());
    for (int shift = 0; shift < 2; shift++) { /* a tensor that starts anywhere has a part of its own */
        int r = gemm(A, B, C + shift, queue);
        copy(queue, 1, c, C + shift, sizeof c, 0, NULL, NULL);
        printf("with one: %d %s, %d wrong\n", r, gemm_error(), wrong());
    }
    return 0;
}
