/* cpu_gemm_avx2.c -- tests of the CPU matrix product with 32-byte vectors. */
#ifdef __x86_64__
#pragma GCC target("avx2,fma,f16c")
#define READY() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#include "unit/cpu_gemm_cases.h"
#else
typedef int cpu_gemm_avx2_needs_x86; /* a file has something in it */
#endif
