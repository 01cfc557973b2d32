/* target.c -- NVIDIA GPUs through CuTe DSL: CUDA's machines and mechanisms, another text. */
#include "ir/config.h"
#include "target/cuda/cuda.h"
#include "target/cutedsl/cutedsl.h"

enum { FIRST = 80 }; /* the DSL knows nothing older */

static const char *too_old(const char *bad, const TargetSpec *s)
{
    return bad || s->machine.level >= FIRST ? bad : "CuTe DSL is for sm_80 and later";
}

static const char *read_arch(Arena *a, const char *word, TargetSpec *s)
{
    return too_old(cuda_read_arch(a, word, s), s);
}

static const char *read_model(Arena *a, const char *word, TargetSpec *s)
{
    return too_old(cuda_read_model(a, word, s), s);
}

static const TargetOption options[] = {
    {"-arch=", target_take_arch, target_show_arch, "the architecture: sm_80, sm_90a, …"},
    {"-model=", target_take_model, target_show_model,
     "the product: nvidia-a100, geforce-rtx-4090, …"},
    {0},
};

static const ConfigLost lost[] = {
    {CONFIG_enable_fast_math, 0, "the DSL's compiler has no flag for it"},
    {CONFIG_disable_fast_math, 1, "the DSL's compiler has no flag for it"},
    {CONFIG_ptxas_register_usage_level, -1, "the DSL's compiler calls NVIDIA's assembler itself"},
    {0},
};

const Target target_cutedsl = {
    .name = "cutedsl",
    .doc = "NVIDIA GPUs through Python of NVIDIA's CuTe DSL: cutedsl -arch=sm_90a; some "
           "kernels ran on an H200, the others were compiled and simulated",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "cutedsl cuda gpu nvidia",
    .runtime = "cutedsl",
    .options = options,
    .more_options = target_block_options,
    .start = cuda_start,
    .read_arch = read_arch,
    .read_model = read_model,
    .suggest = cuda_suggest,
    .lost = lost,
    .mechs = cuda_mechs,
    .variant = cuda_variant,
    .emit = cutedsl_emit,
};
