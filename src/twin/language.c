/* language.c -- the languages that targets emit, and how the host compiles them. */
#include "twin/machine.h"
#include "device_twin.h"

const char *const twin_flags[] = {
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
    /* undefined on the device, too */
    "-fsanitize=signed-integer-overflow,shift-exponent,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-ftrivial-auto-var-init=pattern", /* what nobody wrote must not look like a number */
    "-Wl,-z,defs",
    NULL,
};

#define LANGUAGE(target, name, kernel, fence, assembly) extern const Assembly assembly;
#include "twin/language.def"
#undef LANGUAGE

const Assembly assembly_none = {0};

static const Language languages[] = {
#define LANGUAGE(target, name, kernel, fence, assembly)                                            \
    {#target, name, kernel, fence, device_twin_##target##_h, &assembly},
#include "twin/language.def"
#undef LANGUAGE
};

const char language_targets[] =
#define LANGUAGE(target, name, kernel, fence, assembly) " " #target
#include "twin/language.def"
#undef LANGUAGE
    ;

const Language *language_find(const char *target)
{
    for (int i = 0; i < COUNT(languages); i++)
        if (!strcmp(languages[i].target, target))
            return &languages[i];
    return NULL;
}
