/* target.c -- NVIDIA GPUs through CUDA C. */
#include "target/cuda/cuda.h"

const Target target_cuda = {
    .name = "cuda",
    .also = "nvptx",
    .sim = "-arch=sm_90a",
    .doc = "NVIDIA GPUs through CUDA C: cuda -arch=sm_80; sm_70, sm_100a and later were never run, "
           "only compiled and simulated",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "cuda gpu nvidia",
    .runtime = "cuda",
    .options = cuda_options,
    .more_options = target_block_options,
    .start = cuda_start,
    .settle = cuda_settle,
    .read_arch = cuda_read_arch,
    .read_model = cuda_read_model,
    .suggest = cuda_suggest,
    .mechs = cuda_mechs,
    .variant = cuda_variant,
    .emit = cuda_emit,
};
