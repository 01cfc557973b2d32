/* target.c -- OpenCL: kernels as OpenCL C.
 *
 * The machine is what every device of a full profile has: 32 KiB of local memory and no subgroups.
 * A device that is asked tells its local memory (-arch=local64k).  Numbers that OpenCL tells nobody
 * (registers, clocks of memory) are such as small GPUs have; nothing that is right or wrong hangs
 * on them. */
#include <stdlib.h>
#include "ir/config.h"
#include "pass/warp_reduce.h"
#include "target/opencl/opencl.h"
#include "target/outer.h"

enum { LOCAL_KIB = 32, LOCAL_KIB_MOST = 1 << 20 };

static void start(Arena *a, TargetSpec *s)
{
    (void)a;
    s->arch = "local32k";
    s->machine = (Machine){
        .has = HAS_THREADS | HAS_VECTORS,
        .lanes = 1,
        .group_warps = 1,
        .units = 8,
        .threads_block = 1024,
        .grid_side = 65535, /* what is passed on at a launch */
        .threads_unit = 2048,
        .blocks_unit = 16,
        .regs_unit = 64 * 1024,
        .regs_thread = 255,
        .regs_step = 8,
        .local_bytes = 64 * 1024,
        .shared_block = LOCAL_KIB * 1024,
        .shared_unit = 2 * LOCAL_KIB * 1024,
        .banks = 32,
        .bank_bytes = 4,
        .named_barriers = 16,
        .sector_bytes = 32,
        .access_bytes = 16,
        .cache_bytes = 1 << 20,
        .clock_ghz = 1,
        .memory_gbs = 50,
        .tiles_gemm = outer_tiles_gemm,
        .tiles_attention = outer_tiles_attention,
    };
}

/* "local64k" */
static const char *read_arch(Arena *a, const char *word, TargetSpec *s)
{
    static const char head[] = "local";
    const char *digits = word + (!strncmp(word, head, sizeof head - 1) ? sizeof head - 1 : 0);
    char *end;
    long kib = strtol(digits, &end, 10);

    if (digits == word || end == digits || strcmp(end, "k") || kib < 1 || kib > LOCAL_KIB_MOST)
        return arena_printf(a, "'%s' is no device of OpenCL; -arch=local64k is one with 64 KiB of "
                            "local memory", word);
    s->arch = arena_printf(a, "local%ldk", kib);
    s->machine.shared_block = kib * 1024;
    s->machine.shared_unit = 2 * kib * 1024;
    return NULL;
}

TARGET_SWITCH(own_halves)

static const TargetOption options[] = {
    {"-arch=", target_take_arch, target_show_arch, "local memory of the device: local64k"},
    {"-subgroup=", target_take_lanes, target_show_lanes,
     "threads of a subgroup that hand values to each other (cl_khr_subgroup_shuffle)"},
    {"-fp16", take_own_halves, show_own_halves,
     "float16 by the device's own type (cl_khr_fp16)"},
    {0},
};

static const ConfigLost lost[] = {
    {CONFIG_enable_lower_ldgstg, 0, "there is one kind of load in OpenCL C"},
    {CONFIG_enable_lower_ldgstg_predicated, 0, "there is one kind of load in OpenCL C"},
    {CONFIG_ptxas_register_usage_level, -1, "drivers of OpenCL have no such levels"},
    {CONFIG_enable_ptxas_verbose_output, 0, "drivers of OpenCL tell nothing"},
    {CONFIG_enable_debug, 0, "drivers of OpenCL keep no lines of the text"},
    {0},
};

static const Mech *const mechs[] = {&mech_outer, &mech_scalar, MECHS_SHUFFLE, NULL};

const Target target_opencl = {
    .name = "opencl",
    .doc = "GPUs and CPUs with an OpenCL driver, as OpenCL C; run on CPUs, never on a GPU",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "opencl gpu",
    .runtime = "opencl",
    .options = options,
    .more_options = target_block_options,
    .start = start,
    .read_arch = read_arch,
    .settle = target_settle_shared,
    .lost = lost,
    .mechs = mechs,
    .emit = opencl_emit,
};
