/* use_bundle.c -- calls a bundle for GPUs with addresses that only its driver will see. */
#include <stdio.h>
#include "gemm_nt.h"

int main(void)
{
    int r = gemm_nt((void *)0x1000, (void *)0x2000, (void *)0x3000, NULL);
    printf("%d %s\n", r, gemm_nt_error());
    r = gemm_nt((void *)0x1008, (void *)0x2000, (void *)0x3000, NULL);
    printf("%d %s\n", r, gemm_nt_error());
    return 0;
}
