/* eval.h -- what the files of the evaluator share among themselves; builtins use front.h. */
#ifndef TL_FRONT_EVAL_H
#define TL_FRONT_EVAL_H

#include "front/front.h"

enum {
    STEPS_MOST = 10000000, /* compile-time work of one load */
    CALL_STEPS = 30,       /* what a call costs: a scope, arguments */
    CALLS_MOST = 200,      /* functions, macros within each other */
    NEST_MOST = 3000,      /* C recursion of the evaluator */
    SEQ_MOST = 1 << 20,    /* elements of one list */
    EXPR_DEPTH_MOST = 400, /* of an expression made at compile time */
};

typedef struct Given { /* NAME=VALUE */
    const char *name;
    Value value;
    bool used; /* some parameter or T.const took it */
} Given;
const Given *given_find(Eval *ev, const char *name); /* load.c; marks it used */

/* value.c */
void eval_work(Eval *ev, Span at, uint64_t n); /* [too-much-work] past the limit */
void eval_nest(Eval *ev, Span at); /* enter one level of recursion; leave by ev->nest-- */
Value value_opaque(Eval *ev, const char *text);
Value dtype_text(Eval *ev, const Value *v);    /* its name as a str */
Value value_cstr(Eval *ev, const char *s);     /* a terminated str */
Value value_method(Eval *ev, const Value *self, const Builtin *b, Function *f);
Value value_function(Function *f);
bool is_number(const Value *v);                /* bool, int, float */
const Expr *literal_beside(Eval *ev, const Value *v, DType beside); /* a number beside a value */
bool is_runtime(const Value *v);               /* V_EXPR, an element, a variable */
double number_of(const Value *v);
void seq_push(Eval *ev, Seq *s, const Value *v);
Value *dict_find(Eval *ev, const Value *dict, const Value *key);
void dict_set(Eval *ev, const Value *dict, const Value *key, const Value *v);
void need_hashable(Eval *ev, Span at, const Value *key); /* [unhashable] */
Value dict_new(Eval *ev);
void value_format(Eval *ev, Span at, Str *out, const Value *v,
                  const char *spec); /* "!r:>8", ":.2f" */
/* Whatever a Python `for` may walk: the items, in an array. */
int value_items(Eval *ev, Span at, const Value *v, Value **out, const char *what);
int64_t range_length(const Value *range);
void note_failed(Eval *ev, const char *text); /* why a name of the script is opaque */
NORETURN void fail_opaque(Eval *ev, Span at, const Value *v, const char *what);

/* eval_op.c */
const Expr *to_condition(Eval *ev, Span at, const Value *v); /* a bool expression */

/* value_get.c */
Value *object_field(const Object *o, const char *name);
bool object_is_a(const Object *o, const Object *cls);
void set_attr(Eval *ev, Span at, Value *v, const char *name, const Value *x);

/* eval_call.c */
Value call_function(Eval *ev, Span at, Function *fn, const Value *self, const CallArgs *args);
Value call_values(Eval *ev, Span at, const Value *callee, const Value *arg, int n);
Value call_ast(Eval *ev, Scope *s, const Ast *e);
Value make_function(Eval *ev, Scope *s, const AstFunc *f);
void eval_def(Eval *ev, Scope *s, const AstStmt *st);
void eval_class(Eval *ev, Scope *s, const AstStmt *st);
/* Bind arguments to parameters: names in `in`.  Defaults are used, `skip` leading parameters are
 * already bound. */
void bind_arguments(Eval *ev, Span at, Scope *in, Function *fn, const Value *self,
                    const CallArgs *args);
const char *function_signature(Eval *ev, const Function *fn);

/* eval_loop.c */
RunResult eval_for(Eval *ev, Scope *s, const AstStmt *st, Value *result);
RunResult eval_while(Eval *ev, Scope *s, const AstStmt *st, Value *result);
RunResult eval_with(Eval *ev, Scope *s, const AstStmt *st, Value *result);
RunResult eval_if(Eval *ev, Scope *s, const AstStmt *st, Value *result);
bool frame_is_open(const Trace *t, int id);

/* eval_stmt.c */
void bind_name(Eval *ev, Scope *s, Span at, const char *name, const Value *v);
void bind_loop_var(Eval *ev, Scope *s, const Ast *target,
                   const Value *v); /* dies with the open frame */
Value read_name(Eval *ev, Scope *s, const Ast *e);
bool scope_traces(const Eval *ev, const Scope *s); /* statements of this scope are staged now */
RunResult eval_stmt(Eval *ev, Scope *s, const AstStmt *st, Value *result);

/* eval_store.c */
/* region op= v, or = v when op is TK_EOF: an element, a variable, or every element of a slice. */
void store_value(Eval *ev, Span at, const Value *to, TokenKind op, const Value *v);
bool is_place(const Value *v); /* alloc_var, T.Ref: assigning to its name stores */
void assign_item(Eval *ev, Span at, Value *v, const Value *index, const Value *x);

/* import.c */
void eval_import(Eval *ev, Scope *s, const AstStmt *st);
/* packaged.c: the text of a module of the package, NULL: it is none; a module as one of them
 * names it. */
const Source *packaged_source(Eval *ev, const char *name);
const char *packaged_absolute(Eval *ev, const Source *from, const char *module);

/* load.c */
Scope *run_module(Eval *ev, const AstModule *m);
void mark_outputs(Eval *ev, Span at, Func *f, const Value *out_idx);

/* grid_sync.c: T.sync_grid inside T.Parallel parts the loop. */
const Stmt *split_at_grid_sync(Kernel *k, const Stmt *body);
const Stmt *apply_tensor_layouts(Kernel *k, const BufferVec *tensors, const Stmt *body);
/* thread_body.c */
void trace_thread_body(Kernel *k); /* lone stores happen once; barriers where they must be */

/* trace.c */
Value param_annotation(Eval *ev, Scope *in, const Function *fn, const AstParam *p);
void declare_parameter(Eval *ev, Scope *s,
                       const AstStmt *st); /* `A: T.Tensor(…)` in an eager body */
bool declared_in_body(const AstFunc *f, const char *name);
bool stores_items(AstStmt *const *body, int n);
Value call_macro(Eval *ev, Span at, Function *fn, const Value *self, const CallArgs *args);
/* The statements of a def or macro, its arguments bound in `in`. */
Value call_body(Eval *ev, Span at, Scope *in, const Function *fn);
void check_scopes(Eval *ev, Func *f); /* scope_check.c */

/* foreign.c: false where the host has no answer, or no argument is foreign */
bool is_foreign(const Value *v);
bool host_op(Eval *ev, Span at, const char *op, const Value *arg, int n, Value *out);
bool host_builtin(Eval *ev, Span at, const char *name, const CallArgs *args, Value *out);
bool host_param(Eval *ev, Scope *home, char what, const AstParam *p, Value *out);
bool attr_foreign(Eval *ev, Span at, void *foreign, const char *name, Value *out);
bool index_foreign(Eval *ev, Span at, const Value *v, const Value *index, Value *out);
Value call_foreign(Eval *ev, Span at, const Value *callee, const CallArgs *args);
const AstFunc *parse_def(Ir *ir, const Source *src); /* the first def of a text */

/* tensor_value.c: false where no operand is a tensor of a tensor program */
bool tensor_binary(Eval *ev, Span at, TokenKind op, const Value *a, const Value *b, Value *out);
bool tensor_unary(Eval *ev, Span at, TokenKind op, const Value *a, Value *out);
Value tensor_attr(Eval *ev, Span at, const Value *v, const char *name);
Value tensor_index(Eval *ev, Span at, const Value *v, const Value *index);
Value tensor_length(Eval *ev, Span at, const Value *v); /* of its first axis */
int tensor_items(Eval *ev, Span at, const Value *v, Value **out, const char *what);
/* tensor_program.c */
Func *tensor_load(Eval *ev, Function *fn);

/* python.c */
const Builtin *python_method(const Value *v, const char *name);
bool is_builtin(const Value *v, const char *name); /* a Python builtin of that name */
Value decorate(Eval *ev, Scope *s, const Ast *e, const Value *v); /* @e applied to v */

#endif
