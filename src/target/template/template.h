/* template.h -- what the files of the made-up target share. */
#ifndef TL_TARGET_TEMPLATE_H
#define TL_TARGET_TEMPLATE_H

#include "target/target.h"

void template_emit(Func *f, const TargetSpec *spec, Str *out);

#endif
