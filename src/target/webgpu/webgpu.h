/* webgpu.h -- what the files of the WebGPU target share. */
#ifndef TL_TARGET_WEBGPU_WEBGPU_H
#define TL_TARGET_WEBGPU_WEBGPU_H

#include "target/uses.h"

/* Where the elements of a tile or tensor are: words of one variable. */
typedef struct {
    const char *name;  /* of the variable */
    const char *type;  /* of its elements: "f32", "i32", "u32" */
    int64_t first;     /* the element that is its own first one */
    int64_t n;         /* elements of the variable; -1: known when it runs */
    bool atomic;
    int binding;       /* of tensors */
} Place;

/* The state of the emitter; the printer sees its first member. */
typedef struct {
    Emit e;
    Uses *uses, *now; /* by kernel; of the one at hand */
    Map places;  /* Buffer that is nobody's view -> Place */
    Map atomics; /* likewise, where an atomic touches it */
    Map worded;  /* likewise, where somebody wants its words */
    Map written; /* tensors that some kernel writes */
    int nbinding; /* of all kernels */
    Str asserts;  /* what T.device_assert says, by number */
    int nassert;
    Str prints;   /* lines of T.print, by number */
    int nprint;
    size_t *start; /* by kernel: where its statements begin in the text */
    int64_t nexchange; /* threads that hand values to each other by way of workgroup memory */
    bool ordered; /* the kernel at hand reads global memory that it writes: barriers order it too */
} Wgsl;

static inline Wgsl *wgsl_of(Emit *e) { return (Wgsl *)e; }

/* ---- target.c */
enum { WORKGROUP_BYTES = 16384, WORKGROUP_THREADS = 256, DISPATCH_MOST = 65535 };

/* It may have more blocks in x than one dispatch takes: the last of its scalars is the first one of
 * those at hand. */
static inline bool wgsl_has_first(const Kernel *k)
{
    int64_t n;
    return k->ngrid > 0 && !(expr_is_int(k->grid[0], &n) && n <= DISPATCH_MOST);
}

/* ---- emit.c */
void webgpu_emit(Func *f, const TargetSpec *spec, Str *out);
const char *wgsl_storage_type(DType t);
const char *wgsl_value_type(DType t);
NORETURN void wgsl_refuse(Emit *e, const Stmt *s, const char *what);

/* ---- bundle.c */
void webgpu_bundle(const TargetBundle *b);

/* ---- say.c */
const Stmt *wgsl_say(Emit *e, const Stmt *body);

/* ---- agree.c */
void wgsl_agree(Wgsl *w, Kernel *k, Uses *u); /* once it is known which tensors are written */

/* ---- lanes.c */
bool wgsl_is_of_lanes(const Stmt *s);
bool wgsl_has_lanes(const Stmt *body);
bool wgsl_lanes(Emit *e, const Stmt *s); /* false: that is not in WGSL */
void wgsl_check_lanes(Wgsl *w, const Kernel *k, const char *thread);
void wgsl_begin_exchange(Wgsl *w, Kernel *k, const char *thread); /* without subgroups */

/* ---- prints.c */
bool wgsl_is_print(const Stmt *s);
const Stmt *wgsl_print_floats(Ir *ir, const Stmt *body); /* before it is legalised */
void wgsl_print(Emit *e, const Stmt *s);
void wgsl_declare_prints(const Wgsl *w, Str *out);

/* ---- half.c */
void wgsl_see_halves(Wgsl *w, Kernel *k); /* of every kernel, before the first is legalised */
bool wgsl_is_half(const Wgsl *w, const Buffer *b); /* in an array of f16 */

/* ---- loop.c */
void wgsl_loop(Emit *e, const Stmt *s);

/* ---- places.c: variables that elements lie in, and what it takes to read and write them */
void wgsl_see_atomics(Wgsl *w, const Stmt *body);
void wgsl_place_tensors(Wgsl *w);
void wgsl_place_shared(Wgsl *w, const Kernel *k); /* and declares them */
bool wgsl_decoded(Emit *e, const Buffer *b, const Expr *at); /* of an f16 */
bool wgsl_element(Emit *e, const Buffer *b, const Expr *at);
void wgsl_store(Emit *e, const Stmt *s);
void wgsl_atomic(Emit *e, const Stmt *s);
void wgsl_open_if(Emit *e, const Expr *guard);
void wgsl_close_if(Emit *e);

#endif
