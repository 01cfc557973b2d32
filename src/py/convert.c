/* convert.c -- values of the evaluator to and from Python.
 *
 * Numbers, text, tuples and dtypes are the same on both sides; lists, dicts and sets are copied.
 * What has no counterpart goes to Python as a live value and comes from it as a foreign one. */
#include "py/py.h"

void keep_alive(PyTrace *t, PyObject *o)
{
    if (PyList_Append(t->keep, o) < 0)
        recover_throw(STATUS_MEM, "out of memory");
}

const char *text_of(PyTrace *t, PyObject *str, size_t *n)
{
    Py_ssize_t len = 0;
    const char *s = PyUnicode_AsUTF8AndSize(str, &len);
    if (!s) {
        PyErr_Clear();
        recover_throw(STATUS_USER, "this text cannot be written as UTF-8 [bad-text]");
    }
    if (n)
        *n = (size_t)len;
    return arena_strndup(t->ev->arena, s, (size_t)len);
}

/* ---- from Python ----------------------------------------------------------------------------- */

static Value foreign(PyTrace *t, PyObject *o)
{
    keep_alive(t, o);
    return (Value){.kind = V_FOREIGN, .u.foreign = o};
}

static Value int_value(PyTrace *t, PyObject *o)
{
    int overflow;
    long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow)
        return value_int(i);
    unsigned long long u = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        return foreign(t, o);
    }
    return value_expr(t->ev, expr_const(t->ev->ir, DT_U64, (int64_t)u));
}

static Value seq_value(PyTrace *t, PyObject *o, ValueKind kind)
{
    PyObject *list = PySequence_List(o);
    if (!list) {
        PyErr_Clear();
        return foreign(t, o);
    }
    keep_alive(t, list);
    Py_DECREF(list);
    Value v = value_seq(t->ev, kind, NULL, 0);
    eval_nest(t->ev, NO_SPAN);
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        Value x = to_value(t, PyList_GetItem(list, i));
        seq_push(t->ev, v.u.seq, &x);
    }
    t->ev->nest--;
    return v;
}

/* [(key, value)] of a dict as it is now: what is asked of its values may change it. */
static PyObject *items_of(PyTrace *t, PyObject *dict)
{
    PyObject *items = PyDict_Items(dict);
    if (!items) {
        PyErr_Clear();
        recover_throw(STATUS_MEM, "out of memory");
    }
    keep_alive(t, items);
    Py_DECREF(items);
    return items;
}

static Value dict_value(PyTrace *t, PyObject *o)
{
    PyObject *items = items_of(t, o);
    Value d = dict_new(t->ev);
    eval_nest(t->ev, NO_SPAN);
    for (Py_ssize_t i = 0; i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        Value k = to_value(t, PyTuple_GetItem(pair, 0)), v = to_value(t, PyTuple_GetItem(pair, 1));
        dict_set(t->ev, &d, &k, &v);
    }
    t->ev->nest--;
    return d;
}

static Value three_value(PyTrace *t, PyObject *o, ValueKind kind)
{
    static const char *const part[] = {"start", "stop", "step"};
    Value v[3];
    for (int i = 0; i < 3; i++) {
        PyObject *p = PyObject_GetAttrString(o, part[i]);
        if (!p) {
            PyErr_Clear();
            v[i] = value_none();
            continue;
        }
        keep_alive(t, p);
        Py_DECREF(p);
        v[i] = to_value(t, p);
    }
    return value_seq(t->ev, kind, v, 3);
}

static Value live_value(PyTrace *t, PyValue *p)
{
    if (p->trace != t)
        diag_fail(t->ev->diag, t->ev->host_span,
                  "this value belongs to another kernel function [foreign-trace]");
    return p->v;
}

/* ---- macros and recipes ---------------------------------------------------------------------- */

static PyObject *attr_of(PyTrace *t, PyObject *o, const char *name)
{
    PyObject *a = PyObject_GetAttrString(o, name);
    if (!a) {
        py_stash(t);
        diag_throw(t->ev->diag);
    }
    keep_alive(t, a);
    Py_DECREF(a);
    return a;
}

static Value remember(PyTrace *t, PyObject *o, Value v)
{
    Value *copy = NEW(t->ev->arena, Value);
    *copy = v;
    keep_alive(t, o);
    if (t->known.arena)
        map_set(&t->known, o, copy);
    return v;
}

static Value define_macro(PyTrace *t, PyObject *o)
{
    Value *old = t->known.arena ? map_get(&t->known, o) : NULL;
    if (old)
        return *old;
    Source *src = NEW(t->ev->arena, Source);
    src->name = text_of(t, attr_of(t, o, "_file"), NULL);
    src->text = text_of(t, attr_of(t, o, "_text"), &src->len);
    PyObject *kind = attr_of(t, o, "_kind");
    const char *word = text_of(t, kind, NULL);
    return remember(t, o, front_define(t->ev, src, !strcmp(word, "inline") ? FN_INLINE : FN_MACRO,
                                       attr_of(t, o, "_names")));
}

/* A macro that is a method of some object has that object before its arguments. */
static Value macro_value(PyTrace *t, PyObject *o)
{
    PyObject *self = attr_of(t, o, "_self");
    if (self == Py_None)
        return define_macro(t, o);
    Value fn = define_macro(t, attr_of(t, o, "_plain")), me = to_value(t, self);
    return value_method(t->ev, &me, NULL, fn.u.func);
}

static Value run_recipe(PyTrace *t, const char *what, PyObject *r)
{
    Eval *ev = t->ev;
    Span at = ev->host_span;
    PyObject *first = PyTuple_GetItem(r, 1), *second = PyTuple_GetItem(r, 2);
    PyObject *third = PyTuple_Size(r) > 3 ? PyTuple_GetItem(r, 3) : NULL;
    Value v, index;
    if (!strcmp(what, "op")) {
        CallArgs a = to_args(t, second, NULL, at);
        const char *op = text_of(t, first, NULL);
        Value out = {0};
        PyObject *both = PyTuple_New(a.n);
        for (int i = 0; both && i < a.n; i++) {
            PyObject *x = from_value(t, &a.at[i]);
            if (x)
                PyTuple_SetItem(both, i, x);
            else
                Py_CLEAR(both);
        }
        PyObject *f = both ? PyObject_GetAttrString(py.operators, op) : NULL;
        PyObject *got = f ? PyObject_CallObject(f, both) : NULL;
        Py_XDECREF(both);
        Py_XDECREF(f);
        if (!got) {
            py_stash(t);
            diag_throw(ev->diag);
        }
        keep_alive(t, got);
        Py_DECREF(got);
        out = to_value(t, got);
        return out;
    }
    v = to_value(t, first);
    if (!strcmp(what, "call")) {
        CallArgs a = to_args(t, second, third, at);
        return eval_call(ev, at, &v, &a);
    }
    if (!strcmp(what, "attr"))
        return value_attr(ev, at, &v, name_intern(ev->names, text_of(t, second, NULL),
                                                  strlen(text_of(t, second, NULL))));
    index = to_value(t, second);
    return value_index(ev, at, &v, &index);
}

static Value recipe_value(PyTrace *t, PyObject *o)
{
    Value *old = t->known.arena ? map_get(&t->known, o) : NULL;
    if (old)
        return *old;
    PyObject *r = attr_of(t, o, "_recipe");
    const char *what = text_of(t, PyTuple_GetItem(r, 0), NULL);
    eval_nest(t->ev, t->ev->host_span);
    Value v = run_recipe(t, what, r);
    t->ev->nest--;
    return remember(t, o, v);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Rows under other names, and functions of Python's own that the evaluator has. */
static bool known_object(PyTrace *t, PyObject *o, Value *out)
{
    PyObject *name = NULL;
    if (!PyType_Check(o) && !PyCFunction_Check(o) && !PyCallable_Check(o))
        return false;
    if (py.aliases && (name = PyDict_GetItemWithError(py.aliases, o)) != NULL) {
        const Builtin *b = builtin_find(text_of(t, name, NULL));
        *out = (Value){.kind = V_BUILTIN, .u.builtin = b};
        return b != NULL;
    }
    PyErr_Clear();
    if ((PyType_Check(o) || PyCFunction_Check(o)) &&
        (name = PyDict_GetItemWithError(py.builtins, o)) != NULL) {
        *out = (Value){.kind = V_BUILTIN, .u.builtin = python_find(text_of(t, name, NULL))};
        return out->u.builtin != NULL;
    }
    PyErr_Clear();
    return false;
}

static bool is_a(PyObject *o, PyObject *cls)
{
    int r = cls ? PyObject_IsInstance(o, cls) : 0;
    if (r < 0)
        PyErr_Clear();
    return r == 1;
}

static bool text_value(PyTrace *t, PyObject *o, Value *out)
{
    size_t n;
    const char *s = text_of(t, o, &n);
    DType d;
    int lanes;
    if (is_a(o, py.dtype_class) && dtype_parse(s, &d, &lanes))
        *out = value_dtype(d, lanes);
    else
        *out = value_str(t->ev, s, n);
    return true;
}

/* numpy's scalars are numbers; other types that can be numbers (0-d tensors) stay what they are. */
static bool numpy_value(PyTrace *t, PyObject *o, Value *out)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    const char *from = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL)
                                                         : NULL;
    bool ours = from && !strncmp(from, "numpy", 5);
    PyErr_Clear();
    PyObject *item = ours ? PyObject_GetAttrString(o, "ndim") : NULL;
    bool scalar = item && PyLong_Check(item) && PyLong_AsLong(item) == 0;
    Py_XDECREF(module);
    Py_XDECREF(item);
    PyErr_Clear();
    PyObject *plain = scalar ? PyObject_CallMethod(o, "item", NULL) : NULL;
    PyErr_Clear();
    if (!plain)
        return false;
    keep_alive(t, plain);
    Py_DECREF(plain);
    if (!PyLong_Check(plain) && !PyFloat_Check(plain))
        return false;
    *out = to_value(t, plain);
    return true;
}

static bool plain_value(PyTrace *t, PyObject *o, Value *out)
{
    if (o == Py_None)
        *out = value_none();
    else if (PyBool_Check(o))
        *out = value_bool(o == Py_True);
    else if (PyLong_Check(o))
        *out = int_value(t, o);
    else if (PyFloat_Check(o))
        *out = value_float(PyFloat_AsDouble(o));
    else if (PyUnicode_Check(o))
        text_value(t, o, out);
    else if (PyTuple_CheckExact(o))
        *out = seq_value(t, o, V_TUPLE);
    else if (PyList_CheckExact(o))
        *out = seq_value(t, o, V_LIST);
    else if (PyDict_CheckExact(o))
        *out = dict_value(t, o);
    else if (PyAnySet_CheckExact(o))
        *out = seq_value(t, o, V_SET);
    else if (PySlice_Check(o))
        *out = three_value(t, o, V_SLICE);
    else if (PyRange_Check(o))
        *out = three_value(t, o, V_RANGE);
    else if (o == Py_Ellipsis)
        *out = value_opaque(t->ev, "...");
    else
        return false;
    return true;
}

Value to_value(PyTrace *t, PyObject *o)
{
    Value v = {0};
    if (plain_value(t, o, &v))
        return v;
    if (PyObject_TypeCheck(o, py.value_type))
        return live_value(t, (PyValue *)o);
    if (PyObject_TypeCheck(o, py.builtin_type))
        return (Value){.kind = V_BUILTIN, .u.builtin = ((PyBuiltin *)o)->row};
    if (o == py.language) {
        v = value_cstr(t->ev, "tilelang.language");
        v.kind = V_MODULE;
        return v;
    }
    if (is_a(o, py.recipe_class))
        return recipe_value(t, o);
    if (is_a(o, py.macro_class))
        return macro_value(t, o);
    if (known_object(t, o, &v) || numpy_value(t, o, &v))
        return v;
    return foreign(t, o);
}

CallArgs to_args(PyTrace *t, PyObject *args, PyObject *keys, Span at)
{
    Arena *a = t->ev->arena;
    CallArgs c = {.span = at, .n = args ? (int)PyTuple_Size(args) : 0};
    PyObject *items = keys && keys != Py_None ? items_of(t, keys) : NULL;
    int nkey = items ? (int)PyList_Size(items) : 0;
    c.at = NEWN(a, Value, c.n + 1);
    c.spans = NEWN(a, Span, c.n + 1);
    for (int i = 0; i < c.n; i++) {
        c.at[i] = to_value(t, PyTuple_GetItem(args, i));
        c.spans[i] = at;
    }
    c.key = NEWN(a, const char *, nkey + 1);
    c.val = NEWN(a, Value, nkey + 1);
    c.key_spans = NEWN(a, Span, nkey + 1);
    for (int i = 0; i < nkey; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        size_t n;
        const char *s = text_of(t, PyTuple_GetItem(pair, 0), &n);
        c.key[c.nkey] = name_intern(t->ev->names, s, n);
        c.val[c.nkey] = to_value(t, PyTuple_GetItem(pair, 1));
        c.key_spans[c.nkey++] = at;
    }
    return c;
}

/* ---- to Python ------------------------------------------------------------------------------- */

static bool fill_list(PyTrace *t, const Value *v, PyObject *list)
{
    for (int i = 0; i < v->u.seq->n; i++) {
        PyObject *x = from_value(t, &v->u.seq->at[i]);
        if (!x || PyList_Append(list, x) < 0) {
            Py_XDECREF(x);
            return false;
        }
        Py_DECREF(x);
    }
    return true;
}

static PyObject *from_seq(PyTrace *t, const Value *v)
{
    PyObject *list = PyList_New(0), *out = list;
    if (!list || !fill_list(t, v, list)) {
        Py_XDECREF(list);
        return NULL;
    }
    if (v->kind == V_LIST)
        return list;
    if (v->kind == V_TUPLE)
        out = PyList_AsTuple(list);
    else if (v->kind == V_SET)
        out = PySet_New(list);
    else if (v->kind == V_SLICE)
        out = PySlice_New(PyList_GetItem(list, 0), PyList_GetItem(list, 1),
                          PyList_GetItem(list, 2));
    else
        out = PyObject_CallFunction((PyObject *)&PyRange_Type, "OOO", PyList_GetItem(list, 0),
                                    PyList_GetItem(list, 1), PyList_GetItem(list, 2));
    Py_DECREF(list);
    return out;
}

static PyObject *from_dict(PyTrace *t, const Value *v)
{
    PyObject *d = PyDict_New();
    for (int i = 0; d && i + 1 < v->u.seq->n; i += 2) {
        PyObject *k = from_value(t, &v->u.seq->at[i]), *x = from_value(t, &v->u.seq->at[i + 1]);
        if (!k || !x || PyDict_SetItem(d, k, x) < 0)
            Py_CLEAR(d);
        Py_XDECREF(k);
        Py_XDECREF(x);
    }
    return d;
}

/* A list may hold itself. */
static PyObject *from_many(PyTrace *t, const Value *v)
{
    if (Py_EnterRecursiveCall(" in a value of a kernel"))
        return NULL;
    PyObject *o = v->kind == V_DICT ? from_dict(t, v) : from_seq(t, v);
    Py_LeaveRecursiveCall();
    return o;
}

static PyObject *from_dtype(const Value *v)
{
    char name[48];
    snprintf(name, sizeof name, v->lanes > 1 ? "%sx%d" : "%s", dtype_name(v->dtype), v->lanes);
    return py.dtype_class ? PyObject_CallFunction(py.dtype_class, "s", name)
                          : PyUnicode_FromString(name);
}

static PyObject *from_row(const Builtin *b)
{
    if (python_find(b->name) != b)
        return wrap_builtin(b);
    PyObject *m = PyImport_ImportModule("builtins");
    PyObject *o = m ? PyObject_GetAttrString(m, b->name) : NULL;
    Py_XDECREF(m);
    return o;
}

static PyObject *new_ref(PyObject *o)
{
    Py_INCREF(o);
    return o;
}

bool is_plain(const Value *v)
{
    switch (v->kind) {
    case V_NONE: case V_BOOL: case V_INT: case V_FLOAT: case V_STR: case V_DTYPE: case V_BUILTIN:
    case V_FOREIGN: case V_RANGE:
        return true;
    case V_TUPLE: case V_LIST: case V_DICT: case V_SET: case V_SLICE:
        for (int i = 0; i < v->u.seq->n; i++)
            if (!is_plain(&v->u.seq->at[i]))
                return false;
        return true;
    default: return false;
    }
}

PyObject *from_value(PyTrace *t, const Value *v)
{
    switch (v->kind) {
    case V_NONE: case V_UNBOUND: return new_ref(Py_None);
    case V_BOOL: return new_ref(v->u.i ? Py_True : Py_False);
    case V_INT: return PyLong_FromLongLong(v->u.i);
    case V_FLOAT: return PyFloat_FromDouble(v->u.f);
    case V_STR: return PyUnicode_FromStringAndSize(v->u.s.text, (Py_ssize_t)v->u.s.len);
    case V_TUPLE: case V_LIST: case V_SET: case V_SLICE: case V_RANGE: case V_DICT:
        return from_many(t, v);
    case V_DTYPE: return from_dtype(v);
    case V_BUILTIN: return from_row(v->u.builtin);
    case V_FOREIGN: return new_ref(v->u.foreign);
    case V_MODULE:
        if (py.language && !strcmp(v->u.s.text, "tilelang.language"))
            return new_ref(py.language);
        /* fall through */
    default: return wrap_value(t, v);
    }
}
