/* target.c -- NVIDIA GPUs through CUDA C. */
#include "target/cuda/cuda.h"

const Target target_cuda = {
    .name = "cuda",
    .doc = "NVIDIA GPUs through CUDA C: cuda -arch=sm_80",
    .features = FEAT_WARPS | FEAT_VECTORS | FEAT_WS | FEAT_PROXY,
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .warp = 32,
    .shared_bytes = 232448, /* 227 KiB: sm_90 */
    .keys = "cuda gpu nvidia",
    .runtime = "cuda",
    .options = cuda_options,
    .more_options = target_block_options,
    .start = cuda_start,
    .suggest = cuda_suggest,
    .shared_most = cuda_shared_most,
    .threads_most = cuda_threads_most,
    .cuts_float32 = cuda_cuts_float32,
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
