/* cpu_gemm_avx512.c -- tests of the CPU matrix product with 64-byte vectors and dot products. */
#ifdef __x86_64__
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")
#define READY() (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
#include "unit/cpu_gemm_cases.h"
#else
typedef int cpu_gemm_avx512_needs_x86; /* a file has something in it */
#endif
