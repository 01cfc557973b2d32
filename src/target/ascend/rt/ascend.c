/* ascend.c -- there is no compiler or driver of Ascend here: kernels are emitted, and run on the
 * host as text (`tl verify --text`).  A device is never opened, so that nothing is loaded or
 * launched. */
#include "rt/driver.h"
#include "rt/runtime.h"

static Status find(Arena *a, Compiler *c, const char **why)
{
    (void)a;
    (void)why;
    *c = (Compiler){.path = "bisheng", .version = "none"};
    return STATUS_OK;
}

static Status open_device(Arena *a, Gpu **gpu, const char **why)
{
    (void)a;
    *gpu = NULL;
    *why =
        "kernels for Ascend do not run on this system: there is no CANN runtime in this library; "
        "`tl build --target ascend -o DIR` writes one with a program that runs it where CANN is, "
        "`tl verify --sim --text` runs it here [no-ascend]";
    return STATUS_TOOL;
}

extern const Runtime runtime_ascend;
const Runtime runtime_ascend = {
    .name = "ascend",
    .compiler = "CANN's, where there is an Ascend",
    .language = "Ascend C",
    .ending = "cpp",
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
