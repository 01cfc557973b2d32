/* module.c -- the extension module tilelang._core.  The only symbol that leaves the file is its
 * init function. */
#include "cli/cli.h"
#include "py/py.h"
#include "ir/config.h"

PyState py;

PyObject *not_made(PyTypeObject *type, PyObject *args, PyObject *keys)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    (void)args, (void)keys;
    if (name)
        PyErr_Format(PyExc_TypeError, "%U objects are made by tracing and compiling only", name);
    Py_XDECREF(name);
    return NULL;
}

static PyObject *tracing(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(trace_now() != NULL);
}

/* builtin(name): the row of builtin.def, or None. */
static PyObject *find_row(PyObject *self, PyObject *args)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    const Builtin *b = builtin_find(name);
    if (b)
        return wrap_builtin(b);
    Py_RETURN_NONE;
}

/* rows(): [(name, signature, group, doc, why it is refused or "")] */
static PyObject *all_rows(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    (void)self, (void)unused;
    for (int i = 0; list && i < builtin_count; i++) {
        const Builtin *b = &builtin_table[i];
        PyObject *row = Py_BuildValue("sssss", b->name, b->signature, b->group, b->doc, b->cpu);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* dtype(text): (name, bits, lanes, kind) or None. */
static PyObject *find_dtype(PyObject *self, PyObject *args)
{
    const char *name;
    DType t;
    int lanes;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (!dtype_parse(name, &t, &lanes))
        Py_RETURN_NONE;
    char full[48];
    snprintf(full, sizeof full, lanes > 1 ? "%sx%d" : "%s", dtype_name(t), lanes);
    return Py_BuildValue("siis", full, dtype_bits(t), lanes,
                         t == DT_BOOL            ? "bool"
                         : dtype_is_float(t)     ? "float"
                         : dtype_is_unsigned(t)  ? "uint"
                         : t == DT_HANDLE        ? "handle"
                                                 : "int");
}

static PyObject *setup(PyObject *self, PyObject *args, PyObject *keys)
{
    static char *words[] = {"make_error", "dtype", "recipe", "macro", "prim", "aliases", "language",
                            NULL};
    PyObject *v[7] = {0};
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keys, "|OOOOOOO", words, &v[0], &v[1], &v[2], &v[3],
                                     &v[4], &v[5], &v[6]))
        return NULL;
    PyObject **slot[] = {&py.make_error, &py.dtype_class, &py.recipe_class, &py.macro_class,
                         &py.prim_class, &py.aliases, &py.language};
    for (int i = 0; i < COUNT(slot); i++)
        if (v[i]) {
            Py_INCREF(v[i]);
            Py_XDECREF(*slot[i]);
            *slot[i] = v[i];
        }
    Py_RETURN_NONE;
}

/* ---- questions to the library ---------------------------------------------------------------- */

static PyObject *ask_targets(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(tl_targets(py.ctx));
}

static PyObject *ask_explain(PyObject *self, PyObject *args)
{
    const char *name, *text;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    tl_status s = tl_explain(py.ctx, name, &text);
    if (s == TL_OK)
        return PyUnicode_FromString(text);
    py_raise_text(s, tl_message(py.ctx));
    return NULL;
}

static PyObject *empty_cache(PyObject *self, PyObject *unused)
{
    int64_t n = 0;
    (void)self, (void)unused;
    tl_status s = tl_cache_clear(py.ctx, &n);
    if (s == TL_OK)
        return PyLong_FromLongLong(n);
    py_raise_text(s, tl_message(py.ctx));
    return NULL;
}

/* The target of this machine's device, as "cuda -arch=sm_90a", or None.  A device that is there and
 * cannot be used is an error: what runs on the CPU instead would be slow without a word. */
static PyObject *ask_device(PyObject *self, PyObject *unused)
{
    char text[400];
    (void)self, (void)unused;
    if (device_target(py.ctx, text, sizeof text))
        return PyUnicode_FromString(text);
    if (!*text)
        Py_RETURN_NONE;
    PyErr_Format(PyExc_RuntimeError, "%s; target=\"cpu\" compiles for the CPU", text);
    return NULL;
}

/* main([word, …]): the command line; gives its exit code. */
static PyObject *command_line(PyObject *self, PyObject *words)
{
    PyObject *kept = PyList_Check(words) ? PyList_AsTuple(words) : NULL; /* its texts stay */
    Py_ssize_t n = kept ? PyTuple_Size(kept) : -1;
    char **argv = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *argv);
    int code;
    (void)self;
    if (!kept)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "main needs a list of str");
    for (Py_ssize_t i = 0; argv && i < n; i++) {
        argv[i] = (char *)PyUnicode_AsUTF8AndSize(PyTuple_GetItem(kept, i), NULL);
        if (!argv[i]) {
            PyMem_Free(argv);
            Py_DECREF(kept);
            return NULL;
        }
    }
    if (!argv) {
        Py_DECREF(kept);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    code = cli_main((int)n, argv);
    Py_END_ALLOW_THREADS
    PyMem_Free(argv);
    Py_DECREF(kept);
    return PyLong_FromLong(code);
}

static PyObject *dtype_size(PyObject *self, PyObject *args)
{
    const char *name;
    long long n;
    (void)self;
    if (!PyArg_ParseTuple(args, "sL", &name, &n))
        return NULL;
    return PyLong_FromLongLong(tl_dtype_bytes(name, n));
}

/* ---- the module ------------------------------------------------------------------------------ */

static bool own_builtins(void)
{
    PyObject *m = PyImport_ImportModule("builtins"), *names = m ? PyObject_Dir(m) : NULL;
    py.builtins = PyDict_New();
    for (Py_ssize_t i = 0; names && py.builtins && i < PyList_Size(names); i++) {
        PyObject *name = PyList_GetItem(names, i), *o;
        const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!s || !python_find(s))
            continue;
        o = PyObject_GetAttr(m, name);
        if (o)
            PyDict_SetItem(py.builtins, o, name);
        Py_XDECREF(o);
    }
    Py_XDECREF(names);
    Py_XDECREF(m);
    return py.builtins && !PyErr_Occurred();
}

static void add_row(PyObject **list, PyObject *row)
{
    if (!row || (*list && PyList_Append(*list, row) < 0))
        Py_CLEAR(*list);
    Py_XDECREF(row);
}

/* [(name, member of PassConfigKey, kind, fate, what holds otherwise, values, who obeys it, what it
 * does)] */
static PyObject *all_configs(PyObject *self, PyObject *unused)
{
    static const char *const kind[] = {"flag", "number", "text", "words", "table"};
    static const char *const fate[] = {"obeyed", "ignored", "refused", "alias"};
    PyObject *list = PyList_New(0);
    (void)self;
    (void)unused;
    for (int i = 0; list && i < CONFIG_COUNT; i++) {
        const ConfigRow *r = &config_table[i];
        add_row(&list, Py_BuildValue("ssssLzss", r->name, r->member, kind[r->kind], fate[r->fate],
                                     (long long)r->otherwise, r->values, r->by, r->doc));
    }
    return list;
}

/* A target's text as the compiler reads it: {name, arch, told: name and words, said: the same as
 * the user calls it, text: normalised, runtime: who runs it} */
static PyObject *ask_target(PyObject *self, PyObject *args)
{
    const char *text, *why = "";
    TargetSpec s;
    Arena *a = arena_new();
    PyObject *out = NULL;
    (void)self;
    if (!a || !PyArg_ParseTuple(args, "s", &text)) {
        arena_free(a);
        return a ? NULL : PyErr_NoMemory();
    }
    if (target_parse(a, text, &s, &why))
        out = Py_BuildValue("{sssssssssssz si si si sL sL sL sd sd si sz sO}", "name",
                            s.target->name, "arch", s.arch, "told", s.told, "said", s.said, "text",
                            s.text, "runtime", s.runtime, "level", s.machine.level, "lanes",
                            s.machine.lanes, "units", s.machine.units, "shared_block",
                            (long long)s.machine.shared_block, "cache_bytes",
                            (long long)s.machine.cache_bytes, "registers",
                            (long long)s.machine.regs_unit, "clock_ghz", s.machine.clock_ghz,
                            "memory_gbs", s.machine.memory_gbs, "mma_rate", s.machine.mma_rate,
                            "model", s.machine.model, "float8_fnuz",
                            machine_has(&s.machine, HAS_FLOAT8_FNUZ) ? Py_True : Py_False);
    else
        py_raise_text(TL_EUSER, why);
    arena_free(a);
    return out;
}

/* [(target, what it is, [(word, obeyed or ignored, what it does)])] */
static PyObject *ask_target_table(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const TargetOption *o;
    (void)self;
    (void)unused;
    for (int i = 0; list && i < target_count; i++) {
        PyObject *words = PyList_New(0);
        for (int n = 0; words && (o = target_option(target_table[i], n)); n++)
            add_row(&words, Py_BuildValue("sss", o->word, o->take ? "obeyed" : "ignored", o->doc));
        add_row(&list, words ? Py_BuildValue("ssN", target_table[i]->name, target_table[i]->doc,
                                             words)
                             : NULL);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"trace", (PyCFunction)(void (*)(void))py_trace, METH_VARARGS | METH_KEYWORDS,
     "A function of Python as a kernel."},
    {"tensor", py_tensor, METH_VARARGS, "A tensor program as source of tiles."},
    {"read", py_read, METH_VARARGS, "A trace from the text of one."},
    {"look", py_look, METH_VARARGS, "Whether a function is eager, and its parameters."},
    {"evaluate", py_evaluate, METH_VARARGS, "A recipe outside of any kernel."},
    {"call", py_op, METH_VARARGS, "Call inside of the kernel being traced."},
    {"tracing", tracing, METH_NOARGS, "Whether this thread traces a kernel."},
    {"builtin", find_row, METH_VARARGS, "A T.name by its name."},
    {"configs", all_configs, METH_NOARGS, "All pass configs."},
    {"rows", all_rows, METH_NOARGS, "All T.names."},
    {"dtype", find_dtype, METH_VARARGS, "What a dtype's name means."},
    {"setup", (PyCFunction)(void (*)(void))setup, METH_VARARGS | METH_KEYWORDS,
     "Classes the package defines in Python."},
    {"target", ask_target, METH_VARARGS, "What a target's text means."},
    {"target_table", ask_target_table, METH_NOARGS, "Targets and the words after their names."},
    {"targets", ask_targets, METH_NOARGS, "A table of targets."},
    {"explain", ask_explain, METH_VARARGS, "A T.name or an error's tag, explained."},
    {"cache_clear", empty_cache, METH_NOARGS, "Empty the kernel cache."},
    {"give_way", py_give_way, METH_O, "Whether traces of this thread leave the GIL to others."},
    {"value", py_value, METH_O, "An object as a value of the kernel being traced."},
    {"device_target", ask_device, METH_NOARGS, "The target of this machine's GPU, or None."},
    {"main", command_line, METH_O, "tl with these words; its exit code."},
    {"dtype_bytes", dtype_size, METH_VARARGS, "Bytes of n elements."},
    {NULL, NULL, 0, NULL},
};

/* State is of the process: other interpreters are refused, and an import that comes again finds
 * what the first one made. */
static int set_up(PyObject *m)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "tilelang has state of the process and is of the main interpreter only");
        return -1;
    }
    if (!py.ctx)
        py.ctx = tl_open();
    if (!py.ctx) {
        PyErr_NoMemory();
        return -1;
    }
    if (!py.operators)
        py.operators = PyImport_ImportModule("operator");
    bool ok = py.operators && (py.builtins || own_builtins()) && trace_types(m) && value_types(m) &&
              builtin_types(m) && kernel_types(m);
    return ok ? PyModule_AddStringConstant(m, "version", TL_VERSION) : -1;
}

bool module_type(PyObject *m, const char *name, PyTypeObject **type, PyType_Spec *spec,
                 PyTypeObject *base)
{
    PyObject *bases = base ? PyTuple_Pack(1, (PyObject *)base) : NULL;
    if (!*type && (!base || bases))
        *type = (PyTypeObject *)PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    if (!*type)
        return false;
    Py_INCREF(*type);
    if (PyModule_AddObject(m, name, (PyObject *)*type) == 0)
        return true;
    Py_DECREF(*type);
    return false;
}

static PyModuleDef_Slot phases[] = {{Py_mod_exec, (void *)set_up}, {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "tilelang._core",
                                        .m_methods = functions, .m_slots = phases};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
