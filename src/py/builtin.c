/* builtin.c -- T.names as Python callables.  Inside of a trace they act on it; outside, what is
 * made of plain values is worked out at once, and the rest becomes a recipe (tilelang/_recipe.py).
 */
#include "py/py.h"

PyObject *wrap_builtin(const Builtin *b)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(py.builtin_type, Py_tp_alloc);
    PyBuiltin *p = (PyBuiltin *)alloc(py.builtin_type, 0);
    if (p)
        p->row = b;
    return (PyObject *)p;
}

static void builtin_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_DECREF(type);
}

static PyObject *outside(const char *what, PyObject *a, PyObject *b, PyObject *c)
{
    if (!py.recipe_class) {
        PyErr_SetString(PyExc_RuntimeError, "tilelang._core is not set up");
        return NULL;
    }
    return PyObject_CallMethod(py.recipe_class, "make", "sOOO", what, a, b, c ? c : Py_None);
}

static PyObject *builtin_object_call(PyObject *self, PyObject *args, PyObject *keys)
{
    if (!trace_now())
        return outside("call", self, args, keys);
    PyObject *all = keys ? Py_BuildValue("OOO", self, args, keys) : PyTuple_Pack(2, self, args);
    PyObject *out = all ? py_op(NULL, all) : NULL;
    Py_XDECREF(all);
    return out;
}

static PyObject *builtin_getitem(PyObject *self, PyObject *key)
{
    return outside("index", self, key, NULL);
}

/* Where the original keeps the name. */
static PyObject *builtin_home(PyObject *self)
{
    PyObject *module = PyImport_ImportModule("tilelang.language._dialect");
    PyObject *home = module ? PyObject_CallMethod(module, "home", "s",
                                                  ((PyBuiltin *)self)->row->name) : NULL;
    Py_XDECREF(module);
    return home;
}

static PyObject *builtin_getattr(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
        return builtin_home(self);
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!s || (s[0] == '_' && s[1] == '_'))
        return NULL;
    PyErr_Clear();
    return outside("attr", self, name, NULL);
}

static PyObject *builtin_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(((PyBuiltin *)self)->row->name);
}

static PyObject *builtin_signature(PyObject *self, void *closure)
{
    (void)closure;
    const Builtin *b = ((PyBuiltin *)self)->row;
    return PyUnicode_FromFormat("(%s)", b->signature);
}

/* For inspect.signature, and so for editors and notebooks. */
static PyObject *builtin_inspect(PyObject *self, void *closure)
{
    (void)closure;
    return PyObject_CallMethod(py.recipe_class, "signature", "s",
                               ((PyBuiltin *)self)->row->signature);
}

static PyObject *builtin_doc(PyObject *self, void *closure)
{
    (void)closure;
    const Builtin *b = ((PyBuiltin *)self)->row;
    return PyUnicode_FromFormat("T.%s(%s)\n\n%s", b->name, b->signature, b->doc);
}

static PyObject *builtin_repr(PyObject *self)
{
    return PyUnicode_FromFormat("T.%s", ((PyBuiltin *)self)->row->name);
}

static Py_hash_t builtin_hash(PyObject *self)
{
    Py_hash_t h = (Py_hash_t)((uintptr_t)((PyBuiltin *)self)->row >> 4);
    return h == -1 ? -2 : h;
}

static PyObject *builtin_compare(PyObject *a, PyObject *b, int how)
{
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(b, py.builtin_type))
        Py_RETURN_NOTIMPLEMENTED;
    bool same = ((PyBuiltin *)a)->row == ((PyBuiltin *)b)->row;
    return PyBool_FromLong(same == (how == Py_EQ));
}

/* int | T.dtype and the like stand in annotations. */
static PyObject *builtin_or(PyObject *a, PyObject *b)
{
    PyObject *one = PyObject_TypeCheck(a, py.builtin_type) ? a : b;
    Py_INCREF(one);
    return one;
}

/* isinstance(x, T.Var) and the like: the names of classes are rows here. */
static PyObject *builtin_instance(PyObject *self, PyObject *x)
{
    return PyObject_CallMethod(py.recipe_class, "is_instance", "sO", ((PyBuiltin *)self)->row->name,
                               x);
}

bool builtin_types(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"__instancecheck__", builtin_instance, METH_O, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef fields[] = {
        {"__name__", builtin_name, NULL, NULL, NULL},
        {"__qualname__", builtin_name, NULL, NULL, NULL},
        {"__text_signature__", builtin_signature, NULL, NULL, NULL},
        {"__signature__", builtin_inspect, NULL, NULL, NULL},
        {"__doc__", builtin_doc, NULL, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)builtin_dealloc}, {Py_tp_call, (void *)builtin_object_call},
        {Py_mp_subscript, (void *)builtin_getitem}, {Py_tp_getattro, (void *)builtin_getattr},
        {Py_tp_repr, (void *)builtin_repr}, {Py_tp_hash, (void *)builtin_hash},
        {Py_tp_richcompare, (void *)builtin_compare}, {Py_nb_or, (void *)builtin_or},
        {Py_tp_getset, fields}, {Py_tp_methods, methods}, {Py_tp_new, (void *)not_made}, {0, NULL},
    };
    static PyType_Spec spec = {.name = "tilelang._core.Builtin", .basicsize = sizeof(PyBuiltin),
                               .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return module_type(module, "Builtin", &py.builtin_type, &spec, NULL);
}
