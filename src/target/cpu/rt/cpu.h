/* cpu.h -- what the files of the CPU's runtime share. */
#ifndef TL_TARGET_CPU_RT_CPU_H
#define TL_TARGET_CPU_RT_CPU_H

#include "rt/runtime.h"

/* STATUS_USER when the kernel reported a failure (an assert), its text in `text`; or where it left
 * the call to another kernel because tensors overlap: *overlaps is set.  overlaps NULL: it never
 * does. */
Status cpu_launch(Entry *entry, void *const *tensor, const int64_t *value, Workers *w,
                  Workspaces *work, char *text, size_t ntext, bool *overlaps);
/* peak.c: Runtime.measure */
Status cpu_measure(Arena *a, Compiler *c, const TargetSpec *spec, Workers *w, DType t, double *most,
                   const char **why);
/* profile.c: Runtime.sample */
int cpu_sample(Arena *a, const Func *f, const Module *m, int (*run)(void *arg), void *arg,
               ProfileSpans *out);
extern const BundleHost cpu_bundle; /* bundle.c */
/* split.c: Runtime.build; ModuleSpec.files */
Status cpu_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *m, const char **why);
int cpu_split(Arena *a, const ModuleSpec *s, const char *const **files);

#endif
