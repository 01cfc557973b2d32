/* bundle.h -- what bundles in C have in common: the function as C sees it. */
#ifndef TL_TARGET_BUNDLE_H
#define TL_TARGET_BUNDLE_H

#include "target/target.h"

const char *bundle_c_name(Arena *a, const char *s); /* a name that C takes */
bool bundle_is_scalar(const Func *f, const Var *v);
void bundle_header(const TargetBundle *b, Str *out);
/* prefix: before the function's name. */
void bundle_prototype(const TargetBundle *b, Str *out, const char *prefix);
/* Kernels count in the type that a dimension was declared with; `said` is where messages go. */
void bundle_check_dims(const Func *f, Str *out, const char *said);

#endif
