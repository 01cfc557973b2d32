/* target.c -- runs every pass and emits nothing: times the compiler itself. */
#include "target/target.h"

static void null_emit(Func *f, const TargetSpec *spec, Str *out)
{
    (void)f;
    (void)spec;
    (void)out;
}

const Target target_null = {
    .name = "null",
    .doc = "runs every pass and emits nothing",
    .emits = FORM_SPLIT,
    .emit = null_emit,
};
