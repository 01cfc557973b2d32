/* opencl.h -- what the files of the OpenCL target share. */
#ifndef TL_TARGET_OPENCL_OPENCL_H
#define TL_TARGET_OPENCL_OPENCL_H

#include "target/uses.h"

/* The state of the emitter; the printer sees its first member. */
typedef struct {
    Emit e;
    Uses u;        /* of the kernel at hand */
    Str asserts;   /* what T.device_assert says, by number */
    int nassert;   /* of all kernels; what the one at hand has of its own is since `first` */
    int first;
} Cl;

static inline Cl *cl_of(Emit *e) { return (Cl *)e; }

/* ---- emit.c */
void opencl_emit(Func *f, const TargetSpec *spec, Str *out);
NORETURN void cl_refuse(Emit *e, const Stmt *s, const char *what);
const char *cl_space(const Buffer *b); /* "__global", "__local", "__private" */

/* ---- memory.c: declarations, many elements at a time, atomics */
void cl_declare(Emit *e, const Buffer *b);
void cl_store(Emit *e, const Stmt *s);
void cl_atomic(Emit *e, const Stmt *s);

/* ---- call.c: calls between threads, random numbers, printf */
void cl_call(Emit *e, const Stmt *s);
bool cl_hands_over(const Kernel *k, const Stmt *s); /* a word of each thread is in local memory */

/* ---- loop.c */
void cl_loop(Emit *e, const Stmt *s);

#endif
