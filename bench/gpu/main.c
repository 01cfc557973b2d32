/* main.c -- make bench-gpu without Python: our kernels against cuBLASLt and a copy kernel. */
#include "gpu.h"

int main(int argc, char **argv)
{
    return bench_gpu(argc, argv, NULL);
}
