/* target.c -- NVIDIA GPUs through CUDA C. */
#include "target/cuda/cuda.h"

const Target target_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPUs through CUDA C: cuda -arch=sm_80",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "cuda gpu nvidia",
    .runtime = "cuda",
    .options = cuda_options,
    .more_options = target_block_options,
    .start = cuda_start,
    .suggest = cuda_suggest,
    .plan = cuda_plan,
    .variant = cuda_variant,
    .infer = cuda_infer,
    .lower = {[OP_gemm] = cuda_lower_gemm,
              [OP_copy] = cuda_lower_copy,
              [OP_im2col] = cuda_lower_im2col,
              [OP_reduce] = reduce_by_shuffle, [OP_scan] = scan_by_shuffle,
              [OP_any_of] = any_of_by_shuffle},
    .emit = cuda_emit,
};
