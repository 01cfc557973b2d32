/* target.c -- Huawei's Ascend 910B: kernels as Ascend C.
 *
 * A block is one core, or a cube core with a vector core: one thread that issues to pipes.  Memory
 * levels are rows of space.def, pipes of pipe.def. */
#include "target/ascend/ascend.h"

static void start(Arena *a, TargetSpec *s)
{
    (void)a;
    s->arch = "910b";
    s->machine = (Machine){
        .has = HAS_ONE_THREAD,
        .lanes = 1,
        .group_warps = 1,
        .units = 24,
        .local_bytes = 192 * 1024,
        .shared_block = 0,
        .access_bytes = 32,
        .cache_bytes = 192 << 20,
    };
}

static const char *read_arch(Arena *a, const char *word, TargetSpec *s)
{
    if (strcmp(word, "910b"))
        return arena_printf(a, "'%s' is no architecture of this target; -arch=910b is", word);
    s->arch = "910b";
    return NULL;
}

static const TargetOption options[] = {
    {"-arch=", target_take_arch, target_show_arch, "the processor: 910b"},
    {0},
};

const Target target_ascend = {
    .name = "ascend",
    .doc =
        "Huawei's Ascend 910B as Ascend C; never compiled by its compiler nor run on one, only on "
        "the host and in the simulator",
    .emits = FORM_SPLIT | FORM_FLAT,
    .keys = "ascend npu",
    .runtime = "ascend",
    .options = options,
    .start = start,
    .read_arch = read_arch,
    .mechs = ascend_mechs,
    .emit = ascend_emit,
    .bundle = ascend_bundle,
};
