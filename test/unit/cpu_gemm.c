/* cpu_gemm.c -- tests of the CPU matrix product at the width every x86-64 has. */
#define READY() 1
#include "unit/cpu_gemm_cases.h"
