/* target.c -- NVIDIA GPUs through CuTe DSL: CUDA's machines and mechanisms, another text. */
#include "target/cuda/cuda.h"
#include "target/cutedsl/cutedsl.h"

const Target target_cutedsl = {
    .name = "cutedsl",
    .doc = "NVIDIA GPUs through Python of NVIDIA's CuTe DSL: cutedsl -arch=sm_90a",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "cutedsl cuda gpu nvidia",
    .runtime = "cutedsl",
    .options = cuda_options,
    .more_options = target_block_options,
    .start = cuda_start,
    .read_arch = cuda_read_arch,
    .read_model = cuda_read_model,
    .suggest = cuda_suggest,
    .mechs = cuda_mechs,
    .variant = cuda_variant,
    .emit = cutedsl_emit,
};
