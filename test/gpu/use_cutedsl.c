/* use_cutedsl.c -- calls a bundle of examples/vector_add.py, with memory of ptx_cuda.c's device. */
#include <stdint.h>
#include <stdio.h>
#include "vector_add.h"

enum { N = 1000 };
int cuInit(unsigned flags);
int cuMemAlloc_v2(uint64_t *at, size_t nbytes);

int main(void)
{
    float *t[3];
    int bad = 0;

    cuInit(0);
    for (int i = 0; i < 3; i++) {
        uint64_t at = 0;
        cuMemAlloc_v2(&at, N * sizeof(float));
        t[i] = (float *)(uintptr_t)at;
    }
    for (int i = 0; i < N; i++) {
        t[0][i] = (float)i;
        t[1][i] = 0.5f;
    }
    int r = vector_add(t[0], t[1], t[2], NULL);
    for (int i = 0; i < N; i++)
        bad += t[2][i] != (float)i + 0.5f;
    printf("%d, %d bad %s\n", r, bad, vector_add_error());
    return 0;
}
