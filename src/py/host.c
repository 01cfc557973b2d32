/* host.c -- what the evaluator asks of Python while it traces: names, attributes, calls, operators.
 *
 * host_data is a tuple: closure (dict, frozen when decorated), globals (dict), annotations (dict),
 * defaults (dict). */
#include "py/py.h"

enum { NAMES_CLOSURE, NAMES_GLOBALS, NAMES_ANNOTATIONS, NAMES_DEFAULTS };

void py_stash(PyTrace *t)
{
    if (!t->etype) {
        PyErr_Fetch(&t->etype, &t->evalue, &t->etrace);
        if (!t->etype) {
            Py_INCREF(PyExc_RuntimeError);
            t->etype = PyExc_RuntimeError;
        }
    } else {
        PyErr_Clear();
    }
    diag_error(t->ev->diag, t->ev->host_span, "Python raised an exception here [python-error]");
}

/* Owned or NULL -> the value, or the exception as an error. */
static Status answer(PyTrace *t, PyObject *o, Value *out)
{
    if (!o) {
        py_stash(t);
        return STATUS_USER;
    }
    keep_alive(t, o);
    Py_DECREF(o);
    *out = to_value(t, o);
    return STATUS_OK;
}

static PyObject *lookup(PyObject *names, int which, const char *name)
{
    PyObject *dict = PyTuple_GetItem(names, which);
    return dict && PyDict_Check(dict) ? PyDict_GetItemString(dict, name) : NULL;
}

static Status host_name(Eval *ev, void *data, const char *name, Value *out)
{
    PyTrace *t = trace_now();
    (void)ev;
    if (!data)
        return STATUS_USER;
    PyObject *o = lookup(data, NAMES_CLOSURE, name);
    if (!o)
        o = lookup(data, NAMES_GLOBALS, name);
    if (!o && !python_find(name)) {
        PyObject *m = PyImport_ImportModule("builtins");
        o = m ? PyObject_GetAttrString(m, name) : NULL;
        Py_XDECREF(m);
        PyErr_Clear();
        return o ? answer(t, o, out) : STATUS_USER;
    }
    if (!o)
        return STATUS_USER;
    Py_INCREF(o);
    return answer(t, o, out);
}

/* A name that a module does not have is told where it stands. */
static bool is_misspelt(Eval *ev, PyObject *o, const char *name)
{
    const char *module = PyModule_Check(o) ? PyModule_GetName(o) : NULL;
    if (!module || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return false;
    diag_error(ev->diag, ev->host_span, "'%s' has nothing called '%s' [no-such-name]", module,
               name);
    return true;
}

static Status host_attr(Eval *ev, void *data, void *foreign, const char *name, Value *out)
{
    PyTrace *t = trace_now();
    PyObject *o = foreign ? foreign : py.language;
    (void)data;
    PyObject *a = o ? PyObject_GetAttrString(o, name) : NULL;
    if (!a && (!o || !foreign || is_misspelt(ev, o, name))) {
        PyErr_Clear();
        return STATUS_USER;
    }
    return answer(t, a, out);
}

static PyObject *tuple_of(PyTrace *t, const Value *args, int n)
{
    PyObject *all = PyTuple_New(n);
    for (int i = 0; all && i < n; i++) {
        PyObject *x = from_value(t, &args[i]);
        if (!x)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, i, x);
    }
    return all;
}

static PyObject *dict_of(PyTrace *t, const char *const *keys, const Value *vals, int n)
{
    PyObject *d = PyDict_New();
    for (int i = 0; d && i < n; i++) {
        PyObject *x = from_value(t, &vals[i]);
        if (!x || PyDict_SetItemString(d, keys[i], x) < 0)
            Py_CLEAR(d);
        Py_XDECREF(x);
    }
    return d;
}

static PyObject *call_python(PyTrace *t, PyObject *f, const Value *args, int n,
                             const char *const *keys, const Value *vals, int nkey)
{
    PyObject *all = tuple_of(t, args, n), *d = all ? dict_of(t, keys, vals, nkey) : NULL;
    PyObject *got = all && d ? PyObject_Call(f, all, d) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(d);
    return got;
}

/* Python may come back into the evaluator; what it does there ends before this returns. */
static Status host_call(Eval *ev, void *data, void *foreign, const Value *args, int n,
                        const char *const *keys, const Value *vals, int nkey, Value *out)
{
    PyTrace *t = trace_now();
    Span at = ev->host_span;
    (void)data;
    PyObject *got = call_python(t, foreign, args, n, keys, vals, nkey);
    ev->host_span = at;
    return answer(t, got, out);
}

static Status host_builtin_call(Eval *ev, void *data, const char *name, const Value *args, int n,
                                const char *const *keys, const Value *vals, int nkey, Value *out)
{
    PyTrace *t = trace_now();
    Span at = ev->host_span;
    (void)data;
    PyObject *m = PyImport_ImportModule("builtins");
    PyObject *f = m ? PyObject_GetAttrString(m, name) : NULL;
    PyObject *got = f ? call_python(t, f, args, n, keys, vals, nkey) : NULL;
    Py_XDECREF(m);
    Py_XDECREF(f);
    ev->host_span = at;
    return answer(t, got, out);
}

static Status host_index(Eval *ev, void *data, void *foreign, const Value *at, Value *out)
{
    PyTrace *t = trace_now();
    PyObject *key = from_value(t, at), *got = key ? PyObject_GetItem(foreign, key) : NULL;
    (void)ev, (void)data;
    Py_XDECREF(key);
    return answer(t, got, out);
}

static const char *host_describe(Eval *ev, void *data, void *foreign)
{
    PyTrace *t = trace_now();
    (void)ev, (void)data;
    PyObject *s = PyType_Check(foreign) ? PyObject_GetAttrString(foreign, "__name__")
                                        : PyObject_Str(foreign);
    if (!s || !PyUnicode_Check(s)) {
        PyErr_Clear();
        Py_XDECREF(s);
        return "a Python object";
    }
    keep_alive(t, s);
    Py_DECREF(s);
    return text_of(t, s, NULL);
}

/* ---- operations ------------------------------------------------------------------------------ */

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *do_op(const char *op, PyObject *args)
{
    PyObject *a = PyTuple_GetItem(args, 0);
    if (!strcmp(op, "truth")) {
        int yes = PyObject_IsTrue(a);
        return yes < 0 ? NULL : PyBool_FromLong(yes);
    }
    if (!strcmp(op, "items"))
        return PySequence_List(a);
    if (!strcmp(op, "setattr"))
        return PyObject_SetAttr(a, PyTuple_GetItem(args, 1), PyTuple_GetItem(args, 2)) < 0 ? NULL
                                                                                           : none();
    if (!strcmp(op, "setitem"))
        return PyObject_SetItem(a, PyTuple_GetItem(args, 1), PyTuple_GetItem(args, 2)) < 0 ? NULL
                                                                                           : none();
    if (!strcmp(op, "enter"))
        return PyObject_CallMethod(a, "__enter__", NULL);
    if (!strcmp(op, "exit"))
        return PyObject_CallMethod(a, "__exit__", "OOO", Py_None, Py_None, Py_None);
    PyObject *f = PyObject_GetAttrString(py.operators, op);
    PyObject *got = f ? PyObject_CallObject(f, args) : NULL;
    Py_XDECREF(f);
    return got;
}

static Status host_operation(Eval *ev, void *data, const char *op, const Value *arg, int n,
                             Value *out)
{
    PyTrace *t = trace_now();
    Span at = ev->host_span;
    (void)data;
    PyObject *all = tuple_of(t, arg, n), *got = all ? do_op(op, all) : NULL;
    Py_XDECREF(all);
    ev->host_span = at;
    return answer(t, got, out);
}

static Status host_parameter(Eval *ev, void *data, char what, const char *name, Value *out)
{
    PyTrace *t = trace_now();
    PyObject *o = lookup(data, what == 'a' ? NAMES_ANNOTATIONS : NAMES_DEFAULTS, name);
    (void)ev;
    /* A kernel made while another is traced: Python worked its annotations out in that one. */
    if (!o || (PyObject_TypeCheck(o, py.value_type) && ((PyValue *)o)->trace != t))
        return STATUS_USER;
    Py_INCREF(o);
    return answer(t, o, out);
}

/* ---- with the GIL ---------------------------------------------------------------------------- */

/* The same, for an evaluator that runs without it.  A hook that throws keeps it. */
#define HOOK(name, params, args)                                                                   \
    static Status name##_taken params                                                              \
    {                                                                                              \
        bool took = gil_take();                                                                    \
        Status s = name args;                                                                      \
        gil_give(took);                                                                            \
        return s;                                                                                  \
    }

HOOK(host_name, (Eval *ev, void *data, const char *name, Value *out), (ev, data, name, out))
HOOK(host_attr, (Eval *ev, void *data, void *foreign, const char *name, Value *out),
     (ev, data, foreign, name, out))
HOOK(host_call, (Eval *ev, void *data, void *foreign, const Value *args, int n,
                 const char *const *keys, const Value *vals, int nkey, Value *out),
     (ev, data, foreign, args, n, keys, vals, nkey, out))
HOOK(host_builtin_call, (Eval *ev, void *data, const char *name, const Value *args, int n,
                         const char *const *keys, const Value *vals, int nkey, Value *out),
     (ev, data, name, args, n, keys, vals, nkey, out))
HOOK(host_index, (Eval *ev, void *data, void *foreign, const Value *at, Value *out),
     (ev, data, foreign, at, out))
HOOK(host_operation, (Eval *ev, void *data, const char *op, const Value *arg, int n, Value *out),
     (ev, data, op, arg, n, out))
HOOK(host_parameter, (Eval *ev, void *data, char what, const char *name, Value *out),
     (ev, data, what, name, out))

static const char *host_describe_taken(Eval *ev, void *data, void *foreign)
{
    bool took = gil_take();
    const char *text = host_describe(ev, data, foreign);
    gil_give(took);
    return text;
}

const Host py_host = {.name = host_name_taken, .attr = host_attr_taken, .call = host_call_taken,
                      .index = host_index_taken, .describe = host_describe_taken,
                      .op = host_operation_taken, .builtin = host_builtin_call_taken,
                      .param = host_parameter_taken};
