/* language.c -- the languages that targets emit, as rows: what the host needs to run one. */
#include "twin/machine.h"
#include "device_twin.h"

static const char *const cpp_flags[] = {
    "-x",
    "c++",
    "-std=c++17",
    "-O0", /* no load is left out or moved: each is tried where it is written */
    "-w",
    "-Wno-psabi",
    "-fPIC",
    "-shared",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-ftrivial-auto-var-init=pattern", /* what nobody wrote must not look like a number */
    "-Wl,-z,defs",
    NULL,
};

static const unsigned char *const cuda_headers[] = {device_twin_abi_h, device_twin_text_h,
                                                    device_twin_cuda_h, NULL};
static const unsigned char *const template_headers[] = {device_twin_abi_h, device_twin_text_h,
                                                        device_twin_template_h, NULL};

static const Language languages[] = {
    {"cuda", "CUDA C", "__global__", cuda_headers, cpp_flags, ptx_assembly},
    {"template", "template C", "KERNEL", template_headers, cpp_flags, NULL},
};

const Language *language_find(const char *target)
{
    for (int i = 0; i < COUNT(languages); i++)
        if (!strcmp(languages[i].target, target))
            return &languages[i];
    return NULL;
}
