/* py.h -- the extension module tilelang._core: what its files share.
 *
 *   module.c   the module, its functions         trace.c    functions of Python into kernels
 *   convert.c  values to and from Python         host.c     what the evaluator asks Python
 *   value.c    live values as Python objects     builtin.c  T.names as Python callables
 *   kernel.c   compiled kernels                  array.c    numpy, torch, DLPack as tensors
 *   call.c     calls of them                     error.c    messages into exceptions
 *   tensor.c   tensor programs
 *
 * Nothing here throws across a frame of Python: entries open a recovery frame (py_enter), hooks
 * return a status.  Live values belong to one Trace, whose objects hold it; tracing happens on the
 * thread that began it, under the GIL, or where that gives way with it in hooks alone. */
#ifndef TL_PY_PY_H
#define TL_PY_PY_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>

#include "api/api.h"
#include "front/eval.h"

/* Set once when the module is made, or by _core.setup. */
typedef struct {
    tl_context *ctx;
    PyTypeObject *trace_type, *kernel_type, *builtin_type;
    PyTypeObject *value_type, *expr_type, *buffer_type, *region_type, *layout_type;
    PyObject *make_error;   /* (status, tag, text, file, line, column) -> exception */
    PyObject *dtype_class;  /* a subclass of str */
    PyObject *recipe_class; /* _recipe: what to do to have the value in a trace */
    PyObject *macro_class;  /* _file, _text, _names, _kind, _self */
    PyObject *prim_class;
    PyObject *aliases;      /* object -> name of the row it stands for */
    PyObject *builtins;     /* object of Python's own -> its name, where the evaluator has it */
    PyObject *language;     /* the module tilelang.language */
    PyObject *operators;    /* the module operator */
} PyState;
extern PyState py;

typedef struct PyTrace { /* one kernel function being traced, or traced */
    PyObject_HEAD
    tl_kernel *k;        /* NULL once a Kernel took it */
    Eval *ev;
    PyObject *keep;      /* list: foreign values live as long as this */
    Map known;           /* PyObject * of a macro or recipe -> Value * */
    PyObject *etype, *evalue, *etrace; /* raised by Python inside of the evaluator */
    Value *results;      /* of a trace for values outside of any kernel */
    struct PyTrace *outer;
} PyTrace;

typedef struct {
    PyObject_HEAD
    PyTrace *trace;
    Value v;
    signed char same;    /* of a == b: whether they are the same, -1 for other values */
} PyValue;

typedef struct {
    PyObject_HEAD
    const Builtin *row;
} PyBuiltin;

/* trace.c */
PyTrace *trace_now(void); /* innermost of this thread, NULL */
PyTrace *trace_new(const char *target, void *host_data); /* NULL: an exception is set */
void trace_push(PyTrace *t);
void trace_pop(PyTrace *t);
void trace_close(PyTrace *t);
PyObject *py_tensor(PyObject *self, PyObject *args); /* tensor.c */
PyObject *py_trace(PyObject *self, PyObject *args, PyObject *keys);
PyObject *py_read(PyObject *self, PyObject *args);
PyObject *py_look(PyObject *self, PyObject *args);
PyObject *py_evaluate(PyObject *self, PyObject *args);
PyObject *py_give_way(PyObject *self, PyObject *on);
/* The evaluator may run without the GIL: hooks take it, and give it back if they did. */
bool gil_take(void); /* true: this thread had it not */
void gil_give(bool to_others);

/* Run work(arg) in a recovery frame; false: an exception is set. */
bool py_enter(PyTrace *t, void (*work)(void *arg), void *arg);

/* convert.c.  to_value may throw, so it stands inside of py_enter or a hook. */
Value to_value(PyTrace *t, PyObject *o);
PyObject *from_value(PyTrace *t, const Value *v); /* NULL: an exception is set */
bool is_plain(const Value *v);                    /* from_value makes no live value of it */
void keep_alive(PyTrace *t, PyObject *o);
CallArgs to_args(PyTrace *t, PyObject *args, PyObject *keys, Span at);
const char *text_of(PyTrace *t, PyObject *str, size_t *n); /* copied into the trace */

/* host.c */
extern const Host py_host;
void py_stash(PyTrace *t); /* the exception that is set becomes an error of the trace */

/* value.c, builtin.c, kernel.c, error.c: false or NULL with an exception set */
bool value_types(PyObject *module);
bool builtin_types(PyObject *module);
bool kernel_types(PyObject *module);
bool trace_types(PyObject *module);
/* module.c: *type, made if it was not yet, under its name in the module. */
bool module_type(PyObject *m, const char *name, PyTypeObject **type, PyType_Spec *spec,
                 PyTypeObject *base);
/* Py_tp_new of all of them: objects are made by this module alone. */
PyObject *not_made(PyTypeObject *type, PyObject *args, PyObject *keys);
PyObject *wrap_value(PyTrace *t, const Value *v);
PyObject *wrap_builtin(const Builtin *b);
PyObject *py_op(PyObject *self, PyObject *args);
PyObject *py_value(PyObject *self, PyObject *o);
PyObject *kernel_take(PyTrace *t, const tl_options *o);
void py_raise_diag(PyTrace *t, const Recover *r);
void py_raise_errors(tl_status s, Diag *d);
void py_raise_text(tl_status s, const char *text); /* the tag is at its end */
/* A call that cannot be made; the format is that of PyErr_Format and ends in the tag. */
void py_refuse(const char *format, ...);

/* array.c */
typedef struct {
    tl_tensor t;
    int64_t scalar;    /* t.data may point here */
    PyObject *hold;    /* owned: keeps the memory */
    int device;        /* as DLPack counts kinds: 1 host, 2 CUDA */
    int device_id;
    char dtype[24];
} PyArray;
bool array_of(PyObject *o, const tl_param *p, PyArray *out); /* false: exception */
void array_done(PyArray *a);

typedef struct { uint8_t code, bits; uint16_t lanes; } DlType;
typedef struct { /* as DLPack lays it out */
    void *data;
    struct { int32_t type, id; } device;
    int32_t ndim;
    DlType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DlTensor;
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3 };

/* What an array tells of itself through DLPack's table of C functions; shape and strides are the
 * array's own.  False: it does not, and no exception is set. */
bool array_raw(PyObject *o, DlTensor *out);
bool array_stream(PyObject *o, int device, void **stream); /* current there; false: none is known */

/* call.c */
typedef struct {
    PyObject_HEAD
    tl_kernel *k;
    bool streams; /* it is launched into those of a device */
    int nparam;
    tl_param *param;       /* of the kernel, asked once */
    struct LastCall *last; /* by parameter: of the last launch */
    uint64_t serial;       /* its number; 0: it is not remembered */
    int first;             /* a parameter that is a tensor */
} PyKernel;

typedef struct {
    PyArray own[16], *at;
    tl_tensor own_t[16], *t;
    int n;
} PyArguments;
/* False: an exception is set, nothing to free.  holes: None in place of an output leaves it to be
 * filled in. */
bool args_take(PyKernel *p, PyObject *const *args, Py_ssize_t n, PyArguments *a, bool holes);
bool args_of_tuple(PyKernel *p, PyObject *tuple, PyArguments *a, bool holes);
void args_free(PyArguments *a);
bool call_begin(PyKernel *p); /* false: no memory */
void call_end(PyKernel *p);
PyObject *kernel_call(PyObject *self, PyObject *const *args, Py_ssize_t n);
PyObject *kernel_reference(PyObject *self, PyObject *const *args, Py_ssize_t n);

#endif
