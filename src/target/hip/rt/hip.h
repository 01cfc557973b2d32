/* hip.h -- what builds and runs HIP: a clang or hiprtc, and the HIP runtime, all found here. */
#ifndef TL_HIP_RT_H
#define TL_HIP_RT_H

#include "rt/driver.h"

/* hipcc.c: a clang that knows AMD's GPUs, or libhiprtc.  STATUS_TOOL [no-hip-compiler] without. */
Status hipcc_find(Arena *a, Compiler *c, const char **why);
Status hipcc_build(Arena *a, Compiler *c, const ModuleSpec *s, Module *out, const char **why);
const char *const *hipcc_flags(Arena *a, const Compiler *c, const TargetSpec *spec,
                               const char *extra, int *n);
void hipcc_warn(Arena *a, const Module *m, const TargetSpec *spec,
                void (*tell)(void *arg, const char *text, bool grave), void *arg);
void hipcc_audit(const Module *m, Kernel *k);
void hipcc_tell(const Module *m, const TargetSpec *spec, const Kernel *k, Str *out);

/* "libamdhip64.so", by any of the names that releases gave it; NULL: not here. */
void *hip_library(Arena *a, const char *name);

/* codeobject.c: what the notes of a code object say of one kernel. */
typedef struct {
    int64_t vgprs, agprs, spilled, shared_bytes; /* -1: not told */
} HipResources;
bool hip_resources(const char *binary, size_t n, const char *kernel, HipResources *r);

#endif
