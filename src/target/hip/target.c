/* target.c -- AMD GPUs through HIP. */
#include "ir/config.h"
#include "target/hip/hip.h"

static const ConfigLost lost[] = {
    {CONFIG_enable_lower_ldgstg, 0, "there is one kind of load on these GPUs"},
    {CONFIG_enable_lower_ldgstg_predicated, 0, "there is one kind of load on these GPUs"},
    {CONFIG_ptxas_register_usage_level, -1, "it is for NVIDIA's assembler"},
    {0},
};

const Target target_hip = {
    .name = "hip",
    .also = "rocm",
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
    .lost = lost,
    .mechs = hip_mechs,
    .emit = hip_emit,
};
