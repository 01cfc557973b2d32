/* front.h -- the staging evaluator: runs what is known at compile time, builds IR for the rest.
 *
 * One evaluator, two hosts (host.h): `tl` and the C API run whole files; the Python package hands
 * over single functions with a resolver for their names.  Host level and kernel level are the same
 * code: while a kernel is being traced (ev->trace != NULL) statements on run-time values emit IR.
 *
 *   value.c      what a name can hold at compile time
 *   eval_expr.c  expressions       eval_stmt.c  statements and scopes
 *   eval_op.c    operators on values            eval_loop.c  for, while, with in kernels
 *   eval_call.c  calls, classes    trace.c      prim_func, macro and jit: functions into Funcs
 *   builtin.def  every T.name      builtin_*.c  what each does
 *   python.c     Python's own names: len, range, min, print, isinstance, str and list methods …
 *   load.c       file -> module -> the function asked for -> Func                                */
#ifndef TL_FRONT_FRONT_H
#define TL_FRONT_FRONT_H

#include "front/ast.h"
#include "front/host.h"
#include "op/op.h"

typedef struct Eval Eval;
typedef struct Scope Scope;
typedef struct Trace Trace;
typedef struct Object Object;
typedef struct Function Function;

/* ---- value.c --------------------------------------------------------------------------------- */

typedef enum {
    V_UNBOUND, /* a name that went out of scope or was never set */
    V_NONE,
    V_BOOL,
    V_INT,
    V_FLOAT,
    V_STR,
    V_TUPLE,
    V_LIST,
    V_DICT,
    V_SET,      /* seq; dicts: pairs key, value in seq->at; lists are mutable */
    V_SLICE,    /* seq of 3 */
    V_RANGE,    /* i, seq NULL: range(start, stop, step) in seq of 3 ints */
    V_DTYPE,    /* dtype, lanes */
    V_FUNCTION, /* func: a def or lambda with its closure; kind says prim_func, macro, jit */
    V_BUILTIN,  /* builtin: a row of builtin.def, or a Python builtin */
    V_METHOD,   /* bound: self + builtin or function */
    V_MODULE,   /* text: "tilelang.language"; attributes come from the tables */
    V_OPAQUE,   /* text: something of the host ("torch.float16"); attribute and call give opaque
                   again;   fails when a kernel needs its value [opaque-value] */
    V_EXPR,     /* expr: a run-time scalar */
    V_BUFFER,   /* buf: a tensor or tile; a MEM_VAR reads as its value when used in an expression */
    V_REGION,   /* region (+ is_element: indices only, extents from the other side of a copy) */
    V_TENSOR,   /* annotation T.Tensor(shape, dtype): spec */
    V_LAYOUT,   /* layout */
    V_FRAME,    /* loop or context frame made by T.Kernel, T.Parallel, T.ws …: frame */
    V_FUNC,     /* irfunc: a traced kernel function */
    V_CLASS,
    V_OBJECT,  /* object: user classes, meta classes, dataclass-like things */
    V_FOREIGN, /* foreign: a value of the host language */
    V_NODE,    /* node: a tensor of a tensor program */
} ValueKind;

typedef struct Value Value;

typedef struct Seq {   /* tuple, list, dict, set */
    Value *at;
    int n, cap;
} Seq;

typedef struct TensorSpec TensorSpec;
typedef struct Frame Frame;
typedef struct Builtin Builtin;

struct Value {
    ValueKind kind;
    bool is_element;   /* V_REGION */
    bool is_ref;       /* passed to a T.Ref parameter */
    bool is_policy;    /* V_INT: a member of T.GemmWarpPolicy */
    DType dtype;       /* V_DTYPE */
    int lanes;         /* V_DTYPE */
    union {
        int64_t i;     /* V_INT, V_BOOL */
        double f;
        struct { const char *text; size_t len; } s; /* V_STR, V_MODULE, V_OPAQUE */
        Seq *seq;
        Function *func;
        const Builtin *builtin;
        struct { Value *self; const Builtin *builtin; Function *func; } bound;
        const Expr *expr;
        Buffer *buf;
        Region *region;
        TensorSpec *spec;
        const Layout *layout;
        Frame *frame;
        Func *irfunc;
        Object *object;
        void *foreign;
        struct Node *node;
    } u;
};

struct TensorSpec { /* T.Tensor, T.StridedTensor, T.SharedBuffer, T.ptr, a dtype as annotation, … */
    DType dtype;
    int lanes;
    MemScope scope;
    int rank;
    Value *shape;     /* V_INT or V_EXPR each */
    Value *stride;    /* NULL: contiguous */
    bool is_pointer;  /* T.ptr */
    bool is_ref;      /* T.Ref[...] */
};

typedef enum { FN_PLAIN, FN_PRIM, FN_MACRO, FN_JIT, FN_INLINE, FN_TENSOR } FunctionKind;

struct Function {
    const AstFunc *ast;
    Scope *closure;      /* names of enclosing functions; frozen values for kernels */
    FunctionKind kind;
    Value *defaults;     /* by parameter */
    Value options; /* FN_JIT: dict of keywords given to @tilelang.jit (out_idx, pass_configs…) */
    Func *traced;        /* FN_PRIM: the result of tracing at decoration */
    const Object *owner; /* class it was defined in */
    char how;            /* of a method: 's' static, 'c' of the class, 'p' property, 0 plain */
};

struct Object { /* class or instance */
    const char *name;
    const Object *cls;   /* NULL for a class */
    const Object *base;  /* of a class: the class it extends, or NULL */
    Map fields;          /* name -> Value* */
    Function *init;
    bool is_meta;        /* T.meta_class */
    bool is_enum;
    Value *order;        /* dataclass: a list of its annotated fields, names and defaults in turn */
};

/* A frame: what `for … in F` and `with F as x` see. */
typedef enum {
    FRAME_KERNEL, FRAME_LOOP, FRAME_ROLE, FRAME_ATTR, FRAME_ASSERT, FRAME_NULL,
    FRAME_WHILE,
    FRAME_IF, FRAME_THEN, FRAME_ELSE, /* with T.If(cond): with T.Then(): …  with T.Else(): … */
} FrameKind;
struct Frame {
    FrameKind kind;
    LoopHow how;             /* FRAME_LOOP: all dimensions the same */
    int n;                   /* loop dimensions or grid dimensions */
    const Expr *min[RANK_MOST], *extent[RANK_MOST];
    const Expr *step;        /* loops of one dimension; NULL = 1.  extent[0] counts iterations */
    Hints hints;
    int threads[3], cluster[3];
    const char *prelude;
    int nrole;
    int role[8];             /* T.ws */
    const Value *domain;     /* T.Persistent: four values: tuple of extents, wave size, index,
                                group size; how, n and extent are not used then */
    const Expr *cond;        /* FRAME_IF, FRAME_ASSERT; FRAME_LOOP with bind: NULL or who runs it */
    const Expr *bind;        /* FRAME_LOOP of T.thread_binding: no loop; the body is evaluated once
                                with its variable standing for this, under `cond` if there is one */
    const char *text;        /* FRAME_ASSERT */
    bool copies_async;       /* FRAME_ATTR: the kernel waits for what is copied inside */
    Span span;
};

/* ---- scopes ---------------------------------------------------------------------------------- */

struct Scope {
    Scope *outer;     /* lexically enclosing */
    Map names;        /* name -> Binding* */
    bool is_module;
    bool is_class;    /* not seen from functions inside */
    bool staged;      /* the body of a prim_func, macro or eager function: loops and branches are
                         staged, range is T.serial, names bind lets; helpers run as Python */
    Scope *global;    /* the module's */
    Map elsewhere;    /* global and nonlocal names -> Scope* they live in */
    void *host_data;  /* of a module made by front_define: whose names the host looks up */
    Function *func;   /* whose body this is, or NULL */
};

/* What a name stands for.  A let or loop variable dies with the frame it was bound in. */
typedef struct {
    Value value;      /* first, so that a Value* of a name is its Binding* */
    int frame;        /* id of the frame it lives in; 0: everywhere */
    int depth;        /* frames open when it was bound */
    Span span;
} Binding;

/* ---- one kernel function being traced -------------------------------------------------------- */

struct Trace {
    Trace *outer;
    Func *func;
    Kernel *kernel;       /* inside `with T.Kernel` */
    Builder *build;       /* where statements go */
    int eager; /* 0 lazy prim_func; 1 first look (T.const not known yet); 2 specialised */
    Function *fn;         /* whose body is traced */
    Map declared;         /* parameter name -> Param* */
    Map lent;             /* root Buffer -> Lent* */
    Map pointers;         /* Var of a T.ptr parameter -> TensorSpec* */
    Map consts;           /* T.const name -> Value* (V_INT once known) */
    Map lets;             /* Var of a name -> its value, where that reads no memory */
    VEC(Var *) const_vars;
    Value returned;       /* eager: T.empty tensors */
    Span return_span;     /* of the last return that was run: its own, if it returned anything */
    int depth_control;    /* run-time if/for/while around: macros must not return from inside */
    int kernel_frame;     /* id of the frame of `with T.Kernel`: on-chip tiles die with it */
    bool in_lazy;         /* right of and/or, sides of a ternary: no macro may be called */
    bool stopped;         /* eager == 1: T.Kernel was reached */
    VEC(int) frames;      /* ids of the open frames, innermost last */
    BufferVec fresh;      /* made by trace_buffer and not named yet */
    BufferVec empties;    /* T.empty tensors in order */
    BufferVec laid;       /* tensors that T.annotate_layout names in this kernel */
    BufferVec derived;    /* views and tensors over pointers made before T.Kernel; each kernel
                             lists them */
    const struct NameShape *shapes; /* of actual inputs, for T.const */
    int nshape;
    const Expr *pending;  /* T.If: condition whose T.Then / T.Else are open */
    const Stmt *then_part, *else_part;
    const char *combiner; /* of the T.comm_reducer around, for T.tvm_thread_allreduce */
    Span span;
};

/* One extent or stride of a parameter that gave a T.const its value. */
typedef struct {
    const char *param;
    int dim;
    bool is_stride;
} ConstUse;

/* ---- the evaluator --------------------------------------------------------------------------- */

struct Eval {
    Arena *arena;
    Names *names;
    Diag *diag;
    Ir *ir;
    const Host *host;     /* names not known here; NULL for `tl` */
    void *host_data;
    Trace *trace;
    struct Graph *graph;  /* of the tensor program being traced, or NULL */
    Scope *globals;       /* of the module being run */
    int depth;
    uint64_t steps;       /* compile-time work; past a limit [too-much-work] */
    int nest;             /* C recursion of the evaluator */
    int nframe;           /* frame ids given out */
    char loop;            /* innermost loop of the function: 0 none, 'c' compile time, 'r' run time,
                             'p' run time and not to be left: T.Parallel, T.Pipelined … */
    int loop_control;     /* trace->depth_control where that loop began */
    int func_control;     /* the same of the function being run */
    bool star;            /* `from tilelang.language import *` was seen */
    Map dynamic;          /* T.dynamic name -> Var*: one name is one variable */
    Map modules;          /* module values made by import */
    Map failed;           /* name of the script -> Message*: why it could not be set */
    const Message *broken; /* why the first function of the script could not be made */
    const struct LoadRequest *request;
    struct Given *given;  /* NAME=VALUE of the request, evaluated; eval.h */
    int ngiven;
    Func *last;           /* the function traced last */
    Span host_span;       /* where the host was asked last: for what it reports */
    VEC(ConstUse) const_uses; /* where the T.const of the last eager function were taken from */
};

Value value_none(void);
Value value_bool(bool b);
Value value_int(int64_t i);
Value value_float(double f);
Value value_str(Eval *ev, const char *s, size_t n);
Value value_expr(Eval *ev, const Expr *e); /* int32 constants collapse to V_INT, bool to V_BOOL */
Value value_seq(Eval *ev, ValueKind kind, const Value *at, int n);
Value value_dtype(DType t, int lanes);
Value value_buffer(Buffer *b);
const char *value_kind_name(const Value *v);            /* "an int", "a tile", for messages */
void value_repr(Eval *ev, Str *out, const Value *v, bool quote); /* repr / str */
bool value_truth(Eval *ev, Span at,
                 const Value *v); /* Python truth; run-time values are an error */
bool value_equal(Eval *ev, const Value *a, const Value *b);
Value value_attr(Eval *ev, Span at, const Value *v, const char *name);
Value value_index(Eval *ev, Span at, const Value *v,
                  const Value *index); /* buffers give V_REGION elements */

/* Conversions that report at `at` in the user's words: "T.copy: 'src' must be a tile, not a str".
 */
const Expr *to_expr(Eval *ev, Span at, const Value *v,
                    const char *what); /* scalars; MEM_VAR and element regions load */
/* A place or a count: narrow integers would wrap in what is made of them. */
const Expr *widened(Ir *ir, const Expr *e);
void warn_lossy(Eval *ev, Span at, DType t, const Value *v); /* a constant that t cannot hold */
int64_t to_int(Eval *ev, Span at, const Value *v, const char *what);      /* compile-time int */
bool to_dtype(Eval *ev, Span at, const Value *v, DType *t, int *lanes,
              const char *what); /* dtype, str, Python type, torch.x */
Region to_region(Eval *ev, Span at, const Value *v, const char *what, bool *is_element);
int to_shape(Eval *ev, Span at, const Value *v, Value out[RANK_MOST], const char *what);
/* The same with extents of `least` or more; to_shape wants positive ones. */
int to_shape_least(Eval *ev, Span at, const Value *v, Value out[RANK_MOST], int least,
                   const char *what);

/* ---- eval_expr.c, eval_stmt.c ---------------------------------------------------------------- */

Value eval_expr(Eval *ev, Scope *s, const Ast *e);
/* Both sides of any binary operator on values: Python ints fold, IR operands build. */
Value eval_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b);
Value eval_unary(Eval *ev, Span at, TokenKind op, const Value *a);
Value eval_compare(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b);

typedef enum { RUN_NEXT, RUN_BREAK, RUN_CONTINUE, RUN_RETURN } RunResult;
RunResult eval_block(Eval *ev, Scope *s, AstStmt *const *body, int n, Value *result);

typedef struct {
    Span span;            /* of the call */
    int n;                /* positional */
    Value *at;
    Span *spans;          /* of each positional argument */
    int nkey;
    const char **key;
    Value *val;
    Span *key_spans;
} CallArgs;
Value eval_call(Eval *ev, Span at, const Value *callee, const CallArgs *args);
void assign(Eval *ev, Scope *s, const Ast *target,
            const Value *v); /* names, tuples, subscripts, attributes */
Scope *scope_new(Eval *ev, Scope *outer);
Value *scope_find(Scope *s, const char *name);
void scope_set(Eval *ev, Scope *s, const char *name, const Value *v);

/* ---- trace.c --------------------------------------------------------------------------------- */

/* Trace a prim_func (or an eager jit function, with `consts`) into a Func. */
void trace_launch_facts(Func *f); /* launch_facts.c */
Func *trace_function(Eval *ev, Function *fn, const CallArgs *args);

/* What @T.prim_func, @T.macro, @T.inline give for a function (kind says which), @T.meta_class for a
 * class (kind FN_PLAIN). */
Value trace_decorate(Eval *ev, Span at, FunctionKind kind, const Value *v);

/* For builtins.  All report when no kernel function is being traced; `what` is "T.copy". */
void trace_need(Eval *ev, Span at, const char *what);        /* inside a prim_func or eager body */
void trace_need_kernel(Eval *ev, Span at, const char *what); /* inside `with T.Kernel` */
void trace_emit(Eval *ev, const Stmt *s);
/* A new buffer that takes the name of the first variable it is assigned to.  On-chip ones are added
 * to the kernel's list, workspaces (T.alloc_global) to the function's. */
Buffer *trace_buffer(Eval *ev, Span at, DType t, MemScope scope, int rank,
                     const Expr *const *shape);
Buffer *trace_empty(Eval *ev, Span at, DType t, int rank, const Expr *const *shape); /* T.empty */
/* A let in the kernel being traced: the variable. */
const Expr *trace_let(Eval *ev, Span at, const char *name, const Expr *value);
Value trace_const(Eval *ev, Span at, const char *name, DType t);   /* one name of T.const */
Value trace_dynamic(Eval *ev, Span at, const char *name, DType t); /* one name of T.dynamic */

/* ---- builtins -------------------------------------------------------------------------------- */

/* Arguments of one call bound to the signature of its row: arg[i] by position in the signature,
 * V_UNBOUND where not given and without default.  *rest holds what a `*name` parameter took. */
typedef struct {
    Eval *ev;
    const Builtin *b;
    Span span;
    const Value *arg;
    const Span *arg_span;
    int narg;
    const Value *rest;
    int nrest;
} BuiltinCall;

/* A row named "Layout.inverse", "Buffer.x", "Expr.x" or "dtype.x" is a method: self comes first. */
struct Builtin {
    const char *name;       /* "copy" */
    const char *signature;  /* "src, dst, *, coalesced_width=None, disable_tma=False"; a parameter
                               without default must be given; "*rest" takes the other positional
                               ones, "**keys" a dict of the  other keywords */
    Value (*run)(BuiltinCall *c);
    const char *doc;        /* one line; tl explain prints it */
    const char *group;      /* "copy", "math", …: a heading in the docs */
    const char *cpu;        /* "" works; otherwise why the CPU target refuses it */
};

extern const Builtin builtin_table[];
extern const int builtin_count;
const Builtin *builtin_find(const char *name);          /* T.name */
const Builtin *python_find(const char *name);           /* len, range, … */
/* Bind the arguments to the row's signature and run it; self (or NULL) goes before them.  Python's
 * own builtins are called by it too. */
Value builtin_call(Eval *ev, Span at, const Builtin *b, const Value *self, const CallArgs *args);
/* T.float32(x), T.bfloat16x2(a, b), T.int32(): cast, vector, variable. */
Value dtype_call(Eval *ev, Span at, const Value *dtype, const CallArgs *args);
/* Attributes that are the language's and not Python's, of V_DTYPE, V_BUFFER, V_REGION, V_EXPR,
 * V_LAYOUT, V_TENSOR and V_FRAME: .dtype .shape .bits .access_ptr …; V_UNBOUND if there is none.
 * Methods come as V_METHOD. */
Value language_attr(Eval *ev, Span at, const Value *v, const char *name);
/* Attribute of tilelang / tilelang.language / tilelang.layout / math …; V_UNBOUND if there is none.
 */
Value module_attr(Eval *ev, Span at, const char *module, const char *name);

/* Attributes of Python's own modules: math, itertools, functools, operator, typing, enum …; and the
 * decorators of tilelang.  V_UNBOUND if there is none. */
Value python_attr(Eval *ev, Span at, const char *module, const char *name);
void python_import_all(Eval *ev, Scope *s, const char *module); /* from math import * */

/* ---- load.c ---------------------------------------------------------------------------------- */

typedef struct {
    const char *name;    /* NAME=VALUE from the command line: VALUE parsed as a Python expression */
    const char *text;
} NameValue;

/* An actual input, so that T.const and T.dynamic can be solved from it. */
typedef struct NameShape {
    const char *name;    /* of the parameter */
    int rank;
    const int64_t *shape;
    DType dtype;         /* DT_NONE: not said */
    const char *strange; /* dtype of an array that is none of ours; NULL: it is one */
    const int64_t *stride; /* in elements; NULL: not said */
    int bits; /* of an element as it is stored; 0: as it is declared */
    const char *const *open; /* of a tensor program: names of extents that stay open, or NULLs;
                                NULL: as the parameter is annotated */
} NameShape;

typedef struct LoadRequest {
    const Source *src;
    const char *func;            /* NULL: the only, or the last, kernel-like function of the file */
    const NameValue
        *given; /* knobs, T.const values; unknown names are an error [no-such-parameter] */
    int ngiven;
    const NameShape *shapes;     /* of actual inputs; may be NULL */
    int nshape;
    int threads;                 /* that will run it; 0: all cores */
    const Machine *machine;      /* NULL: of nothing in particular */
    bool *unused;                /* by `given`: set for names the function does not take, which then
                                    are no error (they may be run-time values); NULL: they are */
    bool open;                   /* T.const stay open as T.dynamic do: one kernel for all sizes */
    int64_t least;               /* of extents of a tensor program that stay open; 0: 1 */
} LoadRequest;

/* Run the file, find the function, call the factory with the given knobs, trace.  Throws on error.
 */
Func *front_load(Ir *ir, const LoadRequest *r);

/* For a host language: it runs its own code and hands over functions one by one.  `src` is the text
 * of one def, decorators and all (they are not run); names it does not bind are asked of `host`
 * with `host_data`. */
typedef struct {
    const Source *src;
    FunctionKind kind;           /* FN_PRIM, or FN_JIT for an eager function */
    const Host *host;
    void *host_data;
    int nkey;                    /* eager: values of the compile-time parameters, and of T.const */
    const char *const *key;
    const Value *val;
    const NameShape *shapes;
    int nshape;
    const Machine *machine;      /* as in LoadRequest */
} TraceRequest;
/* An evaluator for the functions of a host, and for what it calls outside of any. */
Eval *front_eval(Ir *ir, const TraceRequest *r);
Func *front_trace(Eval *ev, const TraceRequest *r); /* throws on error */
/* A tensor program of the host: kind FN_TENSOR, shapes and key as given.  argnums, unless NULL: its
 * derivatives by those parameters instead; with_value: its value before them. */
struct Graph *front_tensor(Eval *ev, const TraceRequest *r, const Value *argnums, bool with_value);
/* A macro or helper of the host, as a value it can answer with when its name is asked for. */
Value front_define(Eval *ev, const Source *src, FunctionKind kind, void *host_data);

/* What a host wants to know of one def before it traces it. */
typedef struct {
    bool eager;           /* the body is the kernel: no @T.prim_func inside */
    bool makes;           /* it has a @T.prim_func inside */
    bool stores;          /* it stores to subscripts: a method of a meta class to be placed */
    int nparam;
    const char **name;
    bool *declared;       /* `A: T.Tensor(…)` stands in the body */
} FuncLook;
void front_look(Ir *ir, const Source *src, FuncLook *out);

/* What `tl` can tell about a file without choosing knobs. */
typedef struct {
    const char *name;
    FunctionKind kind;
    const char *signature; /* knobs with defaults */
} FuncInfo;
int front_list(Ir *ir, const Source *src, FuncInfo **out);

#endif
