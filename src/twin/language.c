/* language.c -- the languages that targets emit, and how the host compiles them. */
#include "twin/machine.h"
#include "device_twin.h"

#define SAME_FLAGS                                                                                 \
    "-x", "c++", "-std=c++17", "-w", "-Wno-psabi", "-fPIC", "-shared", "-fno-exceptions",          \
    "-fno-rtti", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno",                   \
    "-fvisibility=hidden",                                                                         \
    /* no load is left out or moved: each is tried where it is written */                          \
    "-O0",                                                                                         \
    /* undefined on the device, too */                                                             \
    "-fsanitize=signed-integer-overflow,shift-exponent,float-cast-overflow",                       \
    "-fsanitize-undefined-trap-on-error",                                                          \
    /* what nobody wrote must not look like a number */                                            \
    "-ftrivial-auto-var-init=pattern"

const char *const twin_flags[] = {SAME_FLAGS, "-Wl,-z,defs", NULL};

/* The linker reads no library but that of mathematics: what else a text calls is found when it is
 * loaded, or it is built anew with the others. */
const char *const twin_quick_flags[] = {SAME_FLAGS, "-nostdlib", NULL};

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
