/* metal.c -- there is no Metal here: kernels are emitted and bundled, and run on a Mac.
 *
 * Text is not compiled either: Apple's compiler is part of its system.  `tl verify --text` runs it
 * on the host.  A device is never opened, so that nothing is loaded or launched. */
#include "rt/driver.h"
#include "rt/runtime.h"

static Status find(Arena *a, Compiler *c, const char **why)
{
    (void)a;
    (void)why;
    *c = (Compiler){.path = "metal", .version = "none"};
    return STATUS_OK;
}

static Status open_device(Arena *a, Gpu **gpu, const char **why)
{
    (void)a;
    *gpu = NULL;
    *why = "kernels for Metal do not run on this system: there is no Metal runtime in this "
           "library; `tl build --target metal -o DIR` writes one with a program that runs it on a "
           "Mac, `tl verify --sim --text` runs it here [no-metal]";
    return STATUS_TOOL;
}

extern const Runtime runtime_metal;
const Runtime runtime_metal = {
    .name = "metal",
    .compiler = "Apple's, on a Mac",
    .language = "Metal",
    .ending = "metal",
    .fast_math = "",
    .line_info = "",
    .by_name = true,
    .find = find,
    .build = device_takes_text,
    .knows = device_knows_no_flag,
    .open = open_device,
    .peak = device_peak_unknown,
    DEVICE_RUNS,
};
