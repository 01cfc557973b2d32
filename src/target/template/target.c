/* target.c -- a made-up GPU, like none that is sold: whatever runs for it asks its machine.
 *
 * The smallest target with threads: a record, a machine, a printer's dialect.  Kernels run in the
 * simulator, and their text on this machine (src/twin); doc/adding-a-target.md walks through it. */
#include "pass/warp_reduce.h"
#include "target/template/template.h"

static void start(Arena *a, TargetSpec *s)
{
    (void)a;
    s->arch = "made-up";
    s->machine = (Machine){
        .has = HAS_THREADS | HAS_BLOCK_VOTES | HAS_VECTORS | HAS_ROLES,
        .lanes = 16,
        .group_warps = 2,
        .units = 7,
        .threads_block = 1024,
        .threads_unit = 1536,
        .blocks_unit = 5,
        .regs_unit = 48 * 1024,
        .regs_thread = 200,
        .regs_step = 4,
        .local_bytes = 512 * 1024,
        .shared_block = 160001,
        .shared_unit = 170001,
        .banks = 24,
        .bank_bytes = 8,
        .named_barriers = 11,
        .sector_bytes = 48,
        .access_bytes = 16,
        .cache_bytes = 3 << 20,
        .clock_ghz = 1,
        .memory_gbs = 100,
    };
}

static const Mech *const mechs[] = {&mech_scalar, MECHS_SHUFFLE, NULL};

const Target target_template = {
    .name = "template",
    .doc = "a made-up GPU of 16 lanes, for tests: its text runs on this machine",
    .emits = FORM_SPLIT | FORM_FLAT | FORM_PLACED | FORM_SYNCED,
    .runtime = "twin",
    .start = start,
    .mechs = mechs,
    .emit = template_emit,
};
