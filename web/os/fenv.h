/* fenv.h -- WebAssembly rounds to nearest alone: fesetround of web/os.c ends the run of who asks for more. */
#pragma once
enum { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
int fegetround(void);
int fesetround(int mode);
