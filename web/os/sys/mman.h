/* mman.h -- WASI's, whose mmap knows nothing of pages that are not kept ready. */
#pragma once
#include_next <sys/mman.h>
#undef MAP_NORESERVE
#define MAP_NORESERVE 0
