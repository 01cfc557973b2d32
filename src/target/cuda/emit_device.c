/* emit_device.c -- the files of device/ that have the helpers of CUDA C.
 *
 * An architecture's own instructions come before what works everywhere. */
#include "target/cuda/emit.h"
#include "target/paste.h"
#include "device_cpu.h"
#include "device_cuda.h"

static const struct {
    int sm;     /* the first architecture that has it */
    bool exact; /* and no other: sm_90a */
    uint32_t has;
    const unsigned char *text;
} file_table[] = {
    {0, false, HAS_TENSOR_MEMORY, device_cuda_sm100a_h},
    {90, true, 0, device_cuda_sm90a_h},
    {100, false, HAS_MOVED_REGS, device_cuda_sm90a_h}, {90, false, 0, device_cuda_sm90_h},
    {89, false, 0, device_cuda_sm89_h},  {80, false, 0, device_cuda_sm80_h},
    {0, false, 0, device_cuda_scalar_h}, {0, false, 0, device_cuda_convert_h},
    {0, false, 0, device_cuda_atomic_h}, {0, false, 0, device_cuda_warp_h},
    {0, false, 0, device_cuda_wide_h},   {0, false, 0, device_cuda_mma_h},
    {0, false, 0, device_cpu_convert_h}, {0, false, 0, device_cpu_random_h},
};

void cuda_paste(Arena *a, const TargetSpec *spec, const char *text, Str *out)
{
    const unsigned char *file[COUNT(file_table) + 1] = {NULL};
    const Machine *m = &spec->machine;
    int n = 0;

    for (int i = 0; i < COUNT(file_table); i++)
        if (!machine_has(m, file_table[i].has))
            continue;
        else if (file_table[i].exact ? m->specific && m->level == file_table[i].sm
                                : m->level >= file_table[i].sm)
            file[n++] = file_table[i].text;
    device_paste(a, file, device_cuda_types_h, text, out);
}
