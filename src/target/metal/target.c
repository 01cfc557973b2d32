/* target.c -- GPUs of Apple: kernels as text of the Metal Shading Language.
 *
 * The machine is what every GPU of the families Apple7 and later has.  Numbers that Apple tells
 * nobody (registers, units, clocks) are such as small GPUs have; nothing that is right or wrong
 * hangs on them.  GEMMs are products of 8 x 8 matrices of a SIMD-group, rows of
 * metal/isa/matrix.def. */
#include "ir/config.h"
#include "pass/warp_reduce.h"
#include "target/metal/metal.h"
#include "target/mma.h"

static void start(Arena *a, TargetSpec *s)
{
    (void)a;
    s->arch = "metal";
    s->arch_given = true; /* there is one: no device is asked */
    s->machine = (Machine){
        .has = HAS_THREADS | HAS_VECTORS | HAS_HALF_BYTES | HAS_SIMDGROUP_MMA |
               HAS_TENSOR_OPERANDS,
        .lanes = LANES,
        .group_warps = 1,
        .units = 8,
        .threads_block = 1024,
        .grid_side = 65535, /* what is passed on at a launch */
        .threads_unit = 1024,
        .blocks_unit = 8,
        .regs_unit = 96 * 1024,
        .regs_thread = 255,
        .regs_step = 8,
        .local_bytes = 64 * 1024,
        .shared_block = 32 * 1024,
        .shared_unit = 32 * 1024,
        .banks = 32,
        .bank_bytes = 4,
        .sector_bytes = 32,
        .named_barriers = 16, /* legalise makes them those of the block */
        .access_bytes = 16,
        .cache_bytes = 8 << 20,
        .clock_ghz = 1.3,
        .memory_gbs = 100,
        .mma_rate = 256,
        .tiles_gemm = metal_tiles_gemm,
        .tiles_attention = metal_tiles_attention,
    };
}

/* A result in shared memory goes through registers: what it is planned as. */
static const Stmt *in_registers(Kernel *k, const Stmt *t)
{
    const Region *c = &t->u.tile.region[MMA_C];

    if (c->buf->scope != MEM_SHARED || !region_is_whole(c) || c->buf->view_of)
        return t;
    Region *region = NEWN(k->ir->arena, Region, t->u.tile.nregion);
    Stmt *copy = NEW(k->ir->arena, Stmt);
    memcpy(region, t->u.tile.region, sizeof *region * (size_t)t->u.tile.nregion);
    region[MMA_C] = region_whole(k->ir, buffer_new(k->ir, c->buf->name, c->buf->type, MEM_FRAGMENT,
                                                   c->buf->rank, c->buf->shape, t->span));
    *copy = *t;
    copy->u.tile.region = region;
    return copy;
}

/* T.wgmma_gemm, T.tcgen05_gemm: these instructions and nothing else. */
static bool can_multiply(Kernel *k, ThreadGroup who, const Stmt *t, const char **why)
{
    const Hint *h = hint_find(t->u.tile.hints, "instruction");
    MmaPlan m;

    if (h && h->text && strcmp(h->text, "mma") != 0)
        diag_error(k->diag, t->span, "T.%s_gemm is an instruction of NVIDIA's; T.gemm takes what "
                   "there is on %s [unsupported-here]", h->text, k->machine->name);
    return mma_plan(k, who, in_registers(k, t), &m, why);
}

static void plan_multiply(Kernel *k, ThreadGroup who, const Stmt *t)
{
    const Stmt *planned = in_registers(k, t);
    MmaPlan m;
    const char *why;

    BUG(!mma_plan(k, who, planned, &m, &why), "a product of simdgroups cannot be planned");
    tile_plan(k, t)->isa = m.mma;
    tile_plan(k, t)->staged = mma_staged(t, &m) | (planned != t ? 1u << MMA_C : 0);
}

static const Mech simdgroup = {.name = "simdgroup", .ops = OPS(gemm), .can = can_multiply,
                               .suits = mma_suits, .plan = plan_multiply, .infer = mma_infer,
                               .lower = mma_lower, .accumulates = true};

static const Mech *const mechs[] = {&simdgroup, &mech_scalar, MECHS_SHUFFLE, NULL};

static const ConfigLost lost[] = {
    {CONFIG_enable_lower_ldgstg, 0, "there is one kind of load in Metal"},
    {CONFIG_enable_lower_ldgstg_predicated, 0, "there is one kind of load in Metal"},
    {CONFIG_enable_fast_math, 0, "the text is not compiled here"},
    {CONFIG_disable_fast_math, 1, "the text is not compiled here"},
    {CONFIG_ptxas_register_usage_level, -1, "the text is not compiled here"},
    {CONFIG_device_compile_flags, 0, "the text is not compiled here"},
    {CONFIG_enable_ptxas_verbose_output, 0, "the text is not compiled here"},
    {CONFIG_enable_debug, 0, "the text is not compiled here"},
    {0},
};

const Target target_metal = {
    .name = "metal",
    .doc = "Apple's GPUs as Metal Shading Language; never compiled by Apple's compiler nor run on "
           "a Mac, only on the host and in the simulator",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .keys = "metal gpu",
    .runtime = "metal",
    .more_options = target_block_options,
    .start = start,
    .settle = target_settle_shared,
    .lost = lost,
    .mechs = mechs,
    .emit = metal_emit,
    .bundle = metal_bundle,
};
