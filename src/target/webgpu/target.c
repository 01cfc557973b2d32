/* target.c -- WebGPU: kernels as WGSL.
 *
 * The machine is what every adapter has: the default limits of the specification, no subgroups.
 * Numbers that WebGPU tells nobody (registers, units, clocks) are such as small GPUs have; nothing
 * that is right or wrong hangs on them. */
#include "ir/config.h"
#include "pass/warp_reduce.h"
#include "target/outer.h"
#include "target/webgpu/webgpu.h"

static void start(Arena *a, TargetSpec *s)
{
    (void)a;
    s->arch = "wgsl";
    s->arch_given = true; /* there is one: no device is asked */
    s->machine = (Machine){
        .has = HAS_THREADS | HAS_VECTORS,
        .lanes = 1,
        .group_warps = 1,
        .units = 8,
        .threads_block = WORKGROUP_THREADS,
        .grid_side = DISPATCH_MOST,
        .threads_unit = 1024,
        .blocks_unit = 16,
        .regs_unit = 64 * 1024,
        .regs_thread = 255,
        .regs_step = 8,
        .local_bytes = 8192, /* that variables of a function may take */
        .shared_block = WORKGROUP_BYTES,
        .shared_unit = 4 * WORKGROUP_BYTES,
        .banks = 32,
        .bank_bytes = 4,
        .named_barriers = 16,
        .sector_bytes = 32,
        .access_bytes = 4, /* elements of arrays are words */
        .cache_bytes = 1 << 20,
        .clock_ghz = 1,
        .memory_gbs = 50,
        .tiles_gemm = outer_tiles_gemm,
        .tiles_attention = outer_tiles_attention,
    };
}

TARGET_SWITCH(half_type)
TARGET_SWITCH(own_halves)

static const TargetOption options[] = {
    {"-f16", take_half_type, show_half_type,
     "float16 in memory by the type f16 (feature shader-f16)"},
    {"-subgroup=", target_take_lanes, target_show_lanes,
     "threads of a subgroup, which the adapter must have (feature subgroups)"},
    {"-own-halves", take_own_halves, show_own_halves, "float16 by the adapter's own conversions"},
    {0},
};

static const ConfigLost lost[] = {
    {CONFIG_config_index_bitwidth, 32, "indices have 32 bits: a binding is smaller than 2 GiB"},
    {CONFIG_enable_lower_ldgstg, 0, "there is one kind of load in WGSL"},
    {CONFIG_enable_lower_ldgstg_predicated, 0, "there is one kind of load in WGSL"},
    {CONFIG_enable_fast_math, 0, "adapters compile WGSL as they do"},
    {CONFIG_disable_fast_math, 1, "adapters compile WGSL as they do"},
    {CONFIG_ptxas_register_usage_level, -1, "adapters compile WGSL as they do"},
    {CONFIG_device_compile_flags, 0, "adapters compile WGSL as they do"},
    {CONFIG_enable_ptxas_verbose_output, 0, "adapters tell nothing"},
    {CONFIG_enable_debug, 0, "adapters keep no lines of the text"},
    {0},
};

static const Mech *const mechs[] = {&mech_outer, &mech_scalar, MECHS_SHUFFLE, NULL};

const Target target_webgpu = {
    .name = "webgpu",
    .doc = "GPUs of browsers and of wgpu, as WGSL; run on GPUs that a CPU plays, never on one",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "webgpu gpu",
    .runtime = "webgpu",
    .options = options,
    .more_options = target_block_options,
    .start = start,
    .settle = target_settle_shared,
    .lost = lost,
    .mechs = mechs,
    .emit = webgpu_emit,
    .bundle = webgpu_bundle,
};
