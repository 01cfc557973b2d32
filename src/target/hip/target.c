/* target.c -- AMD GPUs through HIP. */
#include "target/hip/hip.h"

const Target target_hip = {
    .name = "hip",
    .doc = "AMD GPUs through HIP: hip -mcpu=gfx942; never run on one, only compiled and simulated",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "hip rocm gpu amd",
    .runtime = "hip",
    .options = hip_options,
    .more_options = target_block_options,
    .start = hip_start,
    .read_arch = hip_read_arch,
    .read_model = hip_read_model,
    .suggest = hip_suggest,
    .mechs = hip_mechs,
    .emit = hip_emit,
};
