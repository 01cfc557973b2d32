/* prints.h -- lines that kernels print on WebGPU. */
#ifndef TL_TARGET_WEBGPU_RT_PRINTS_H
#define TL_TARGET_WEBGPU_RT_PRINTS_H

#include <stdint.h>

enum { PRINT_WORDS = 16384 };

/* Writes what is in the buffer, `word[0]` words after the first one, to stdout. */
void prints_show(const char *text, const uint32_t *word);

#endif
