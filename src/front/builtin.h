/* builtin.h -- what the handlers of builtin.def share.  Private to builtin*.c. */
#ifndef TL_FRONT_BUILTIN_H
#define TL_FRONT_BUILTIN_H

#include "front/front.h"

#define BUILTIN(name, signature, handler, group, cpu, doc) Value do_##handler(BuiltinCall *c);
#include "front/builtin.def"
#undef BUILTIN

/* ---- the call -------------------------------------------------------------------------------- */

const char *call_title(const BuiltinCall *c);             /* "T.copy" */
const char *call_what(const BuiltinCall *c, int i);       /* "T.copy: 'src'" */
bool call_has(const BuiltinCall *c, const char *param);  /* a parameter of that name */
NORETURN void call_fail(const BuiltinCall *c, const char *fmt, ...) PRINTF(2, 3); /* at the call */
NORETURN void arg_fail(const BuiltinCall *c, int i, const char *fmt, ...) PRINTF(3, 4);
void need_predicate(const BuiltinCall *c); /* builtin_warp.c: argument 0 is no float */
Kernel *call_kernel(const BuiltinCall *c);                /* [outside-kernel] when there is none */
bool arg_pair(BuiltinCall *c, int i); /* use_2cta=: two blocks of a cluster do it together */
Kernel *call_threads(const BuiltinCall *c);               /* the same; its body is now per thread */
Value call_emit(const BuiltinCall *c, const Stmt *s); /* None */
/* Of a launch; the places of its arguments, cluster -1: it has none. */
Value kernel_frame(BuiltinCall *c, int threads, int cluster, int prelude);
/* Emit an intrinsic; with a type other than DT_NONE its value is bound and returned. */
Value call_intrin(const BuiltinCall *c, Intrin which, int n, const Expr *const *arg, int nregion,
                  const Region *region, const char *text, DType bind);

/* ---- arguments by place in the signature ----------------------------------------------------- */

bool arg_given(const BuiltinCall *c, int i); /* and not None */
/* Multiprocessors of the machine that is compiled for, cores of a CPU. */
const Machine *call_machine(const BuiltinCall *c); /* that is compiled for */
int machine_units(const BuiltinCall *c);
const Expr *arg_expr(const BuiltinCall *c, int i);
const Expr *arg_index(const BuiltinCall *c, int i); /* an integer scalar */
const Expr *arg_bool_expr(const BuiltinCall *c, int i);
int64_t arg_int(const BuiltinCall *c, int i);
bool arg_bool(const BuiltinCall *c, int i);
const char *arg_text(const BuiltinCall *c, int i); /* NULL for None */
DType arg_dtype(const BuiltinCall *c, int i, int *lanes);
Region arg_region(const BuiltinCall *c, int i, bool *is_element);
/* A whole buffer or a slice; an element stands for itself. */
Region arg_tile(const BuiltinCall *c, int i);
/* n slots of a thread's own with elements of so many bits: a buffer, or the address of its first
 * element; the argument behind it counts `each` of them. */
Region arg_slots(const BuiltinCall *c, int i, int bits, int64_t n, int64_t each);
Buffer *arg_buffer(const BuiltinCall *c, int i);
const Layout *arg_layout(const BuiltinCall *c, int i);
/* A word out of a list that ends in NULL; tag is " [reduce-op]". */
const char *arg_word(const BuiltinCall *c, int i, const char *const *words, const char *tag);
/* An int, or a tuple or list of at most `most`; the rest of out is left alone. */
int arg_ints(const BuiltinCall *c, int i, int64_t *out, int most);
/* T.ptr stands for the type of an address. */
DType dtype_of_value(const BuiltinCall *c, Span at, const Value *v, int *lanes, const char *what);
const Expr *rest_expr(const BuiltinCall *c, int i);
bool value_is_seq(const Value *v); /* tuple or list */
bool value_is_number(const Value *v); /* Python bool, int or float */
double value_number(const Value *v);
const char *value_text(const Value *v); /* of a V_STR, else NULL */

/* ---- regions --------------------------------------------------------------------------------- */

bool region_extent_is(const Region *r, int d, int64_t n);
int64_t region_const(const Region *r, int d);             /* extent, -1 when not constant */
/* The same number, as far as is known. */
bool expr_may_equal(const Expr *a, const Expr *b);
const char *extents_text(Eval *ev, const Region *r);      /* "(64, 32)" */
void region_check_range(const BuiltinCall *c, int i, const Region *r); /* [slice-range] */

/* ---- hints ----------------------------------------------------------------------------------- */

void hints_add(Eval *ev, Hints *h, Hint x);
void hints_int(Eval *ev, Hints *h, const char *name, int64_t v);
void hints_text(Eval *ev, Hints *h, const char *name, const char *text);
void hints_flags(Eval *ev, Hints *h, const Value *v); /* compile_flags */
/* Pass configs, checked against their table. */
void hints_configs(Eval *ev, Span at, Hints *h, const Value *dict);
void width_hint(BuiltinCall *c, Hints *h, int i); /* builtin_copy.c: coalesced_width= */
void emit_region_copy(BuiltinCall *c, const Region *src, const Region *dst); /* the same */
void object_set(Eval *ev, Object *o, const char *name, Value v); /* builtin_loop.c: an attribute */
void notes_dict(const BuiltinCall *c, int i, Hints *h);   /* annotations={…} */
NORETURN void note_unread(const BuiltinCall *c, int i, const char *key);
void ignore_schedule(const BuiltinCall *c, Span at); /* of warp roles; builtin_annotate.c */

/* ---- shared between files -------------------------------------------------------------------- */

MemScope arg_scope(BuiltinCall *c, int i, MemScope otherwise); /* builtin_alloc.c */
Value alloc_tile(BuiltinCall *c, MemScope scope); /* of arguments 0 and 1: shape and type */
Value sync_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg);
/* At the one barrier that argument 0 is. */
Value barrier_call(BuiltinCall *c, Intrin which, int n, const Expr *const *arg, const char *text);
/* builtin_gemm.c: where arguments stand that come after the operands; -1: there is none. */
typedef struct { int ta, tb, policy, clear, k_pack, mbar, annotations; } GemmSlots;
typedef struct { int policy, clear, mbar, k_start, sf_layout, annotations; } ScaledSlots;
Value gemm_call(BuiltinCall *c, GemmSlots s, Hints h);
Value scaled_gemm_call(BuiltinCall *c, ScaledSlots s, Hints h);
void pair_hint(BuiltinCall *c, Hints *h, int i); /* of arg_pair */
const Expr *flat_thread(const BuiltinCall *c);           /* flat index in the block */
const Expr *cast_value(Eval *ev, Span at, DType t, int lanes, const Value *v, const char *what);
/* A buffer without storage of its own: seen by the open kernel, or by all that follow. */
Buffer *derived_buffer(const BuiltinCall *c, DType t, MemScope scope, int n,
                       const Expr *const *shape);
Value make_view(const BuiltinCall *c, Buffer *b, int n, const Expr *const *shape, DType t);
const Expr *address_of(const BuiltinCall *c, int i);
/* One of those that calls.def lists: the value of a C function whose meaning is known; false: it is
 * not. */
typedef bool KnownCallFn(BuiltinCall *c, const char *name, Value *out);
#define CALLS(fn) KnownCallFn fn;
#include "front/calls.def"
#undef CALLS
/* An address within it is given away, to read and to write. */
void lend_buffer(Eval *ev, Buffer *b);
Value value_tuple(Eval *ev, const Value *at, int n);
Value value_layout(const Layout *l);
Value method_of(Eval *ev, const Value *self, const char *row);
const Layout *layout_from_function(const BuiltinCall *c, Span at, const Value *fn, int rank,
                                   const int64_t *extent);
Value dtype_attr(Eval *ev, const Value *v, const char *name);
Value layout_attr(Eval *ev, const Value *v, const char *name);
Value builtin_attr(Eval *ev, const Value *v, const char *name);
/* builtin_policy.c */
Value policy_member(const char *name);
Value policy_attr(Eval *ev, const Value *v, const char *name);

#endif
