/* twin.c -- PTX in a text that runs on the host, as the twin's machine asks for it. */
#include "target/cuda/rt/cuda.h"
#include "target/cuda/twin/map.h"
#include "target/cuda/twin/ptx.h"

static bool special(const char *name, uint64_t *value)
{
    const TwinThread *t = machine.self;

    if (!strcmp(name, "cluster_ctarank"))
        *value = (uint64_t)t->block->rank;
    else if (!strcmp(name, "laneid"))
        *value = (uint64_t)(t->index % machine.lanes);
    else if (!strcmp(name, "globaltimer") || !strcmp(name, "clock64"))
        *value = ++machine.ticks;
    else if (!strcmp(name, "smid"))
        *value = 0;
    else
        return false;
    return true;
}

static void place(TwinBlock *b)
{
    PtxThread *own = NEWN(machine.scratch, PtxThread, b->nthread);

    PtxBlock *block = b->own = NEW(machine.scratch, PtxBlock);
    block->group = NEWN(machine.scratch, TwinGroup, (b->nthread + GROUP - 1) / GROUP);
    for (int i = 0; i < b->nthread; i++)
        b->thread[i].own = &own[i];
}

static Status map_encode(const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text,
                         size_t ntext)
{
    static const CudaMaps here = {map_encode_im2col, map_encode_tiled};
    return cuda_map_encode(g, &here, s, at, out, text, ntext);
}

const Assembly assembly_cuda = {
    .translate = ptx_assembly,
    .op = ptx_op,
    .special = special,
    .place = place,
    .before_wait = held_check,
    .passed = mbarrier_passed,
    .at_exit = copies_at_exit,
    .map_shape = cuda_map_shape,
    .map_encode = map_encode,
};
