/* value.c -- live values as Python objects: expressions, tiles, regions, layouts.  Operators,
 * attributes, subscripts and calls are those of the evaluator. */
#include "py/py.h"

PyObject *wrap_value(PyTrace *t, const Value *v)
{
    PyTypeObject *type = v->kind == V_EXPR     ? py.expr_type
                         : v->kind == V_BUFFER ? py.buffer_type
                         : v->kind == V_REGION ? py.region_type
                         : v->kind == V_LAYOUT ? py.layout_type
                                               : py.value_type;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyValue *p = (PyValue *)alloc(type, 0);
    if (!p)
        return NULL;
    Py_INCREF((PyObject *)t);
    p->trace = t;
    p->v = *v;
    p->same = -1;
    return (PyObject *)p;
}

static void value_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyTrace *t = ((PyValue *)self)->trace;
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_XDECREF((PyObject *)t);
    Py_DECREF(type);
}

/* ---- one operation --------------------------------------------------------------------------- */

typedef struct {
    PyTrace *t;
    char what;            /* b binary, u unary, c compare, a attribute, i index, s store, ( call,
                             r text, t truth, v itself */
    TokenKind op;
    PyObject *a, *b, *c;
    PyObject *out;
} Operation;

static void operate(void *arg)
{
    Operation *q = arg;
    Eval *ev = q->t->ev;
    Span at = ev->host_span;
    Value a = to_value(q->t, q->a), b, r = {.kind = V_NONE};
    Str s;
    switch (q->what) {
    case 'b': b = to_value(q->t, q->b); r = eval_binary(ev, at, q->op, &a, &b); break;
    case 'c': b = to_value(q->t, q->b); r = eval_compare(ev, at, q->op, &a, &b); break;
    case 'u': r = eval_unary(ev, at, q->op, &a); break;
    case 'a': {
        size_t n;
        const char *name = text_of(q->t, q->b, &n);
        r = value_attr(ev, at, &a, name_intern(ev->names, name, n));
        break;
    }
    case 'i': b = to_value(q->t, q->b); r = value_index(ev, at, &a, &b); break;
    case 's': {
        Value x = to_value(q->t, q->c);
        b = to_value(q->t, q->b);
        assign_item(ev, at, &a, &b, &x);
        break;
    }
    case '(': {
        CallArgs args = to_args(q->t, q->b, q->c, at);
        r = eval_call(ev, at, &a, &args);
        break;
    }
    case 'v': r = a; break;
    case 't': r = value_bool(value_truth(ev, at, &a)); break;
    case 'r':
        str_init(&s, ev->arena);
        value_repr(ev, &s, &a, true);
        r = value_str(ev, s.s, s.n);
        break;
    default: unreachable();
    }
    q->out = from_value(q->t, &r);
}

static PyObject *run(Operation q)
{
    if (q.t != trace_now()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this value belongs to a kernel that is not being traced now");
        return NULL;
    }
    return py_enter(q.t, operate, &q) ? q.out : NULL;
}

static PyTrace *trace_of(PyObject *a, PyObject *b)
{
    return PyObject_TypeCheck(a, py.value_type) ? ((PyValue *)a)->trace : ((PyValue *)b)->trace;
}

static PyObject *binary(TokenKind op, PyObject *a, PyObject *b)
{
    return run((Operation){.t = trace_of(a, b), .what = 'b', .op = op, .a = a, .b = b});
}

#define BINARY(name, token)                                                                        \
    static PyObject *name(PyObject *a, PyObject *b) { return binary(token, a, b); }
BINARY(value_add, TK_ADD)
BINARY(value_sub, TK_SUB)
BINARY(value_mul, TK_MUL)
BINARY(value_div, TK_DIV)
BINARY(value_floordiv, TK_FLOORDIV)
BINARY(value_mod, TK_MOD)
BINARY(value_and, TK_BITAND)
BINARY(value_or, TK_BITOR)
BINARY(value_xor, TK_BITXOR)
BINARY(value_shl, TK_SHL)
BINARY(value_shr, TK_SHR)
BINARY(value_matmul, TK_AT)
#undef BINARY

static PyObject *value_pow(PyObject *a, PyObject *b, PyObject *mod)
{
    if (mod != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return binary(TK_POW, a, b);
}

static PyObject *unary(TokenKind op, PyObject *a)
{
    return run((Operation){.t = ((PyValue *)a)->trace, .what = 'u', .op = op, .a = a});
}

static PyObject *value_neg(PyObject *a) { return unary(TK_SUB, a); }
static PyObject *value_pos(PyObject *a) { return unary(TK_ADD, a); }
static PyObject *value_invert(PyObject *a) { return unary(TK_INVERT, a); }

static PyObject *value_abs(PyObject *a)
{
    PyObject *row = wrap_builtin(builtin_find("abs"));
    PyObject *out = row ? PyObject_CallFunctionObjArgs(row, a, NULL) : NULL;
    Py_XDECREF(row);
    return out;
}

static bool same_value(PyObject *a, PyObject *b)
{
    if (a == b)
        return true;
    if (!PyObject_TypeCheck(a, py.value_type) || !PyObject_TypeCheck(b, py.value_type))
        return false;
    const Value *x = &((PyValue *)a)->v, *y = &((PyValue *)b)->v;
    return x->kind == y->kind && x->u.foreign == y->u.foreign;
}

static PyObject *value_compare(PyObject *a, PyObject *b, int how)
{
    static const TokenKind op[] = {[Py_LT] = TK_LT, [Py_LE] = TK_LE, [Py_EQ] = TK_EQ,
                                   [Py_NE] = TK_NE, [Py_GT] = TK_GT, [Py_GE] = TK_GE};
    if ((how == Py_EQ || how == Py_NE) && !PyObject_TypeCheck(b, py.value_type) &&
        !PyLong_Check(b) && !PyFloat_Check(b))
        return PyBool_FromLong(how == Py_NE);
    PyObject *r = run((Operation){.t = trace_of(a, b), .what = 'c', .op = op[how], .a = a, .b = b});
    if (r && (how == Py_EQ || how == Py_NE) && PyObject_TypeCheck(r, py.value_type))
        ((PyValue *)r)->same = same_value(a, b) == (how == Py_EQ);
    return r;
}

/* a == b as a condition of Python asks whether they are the same, as a key of a dict does. */
static int value_bool_of(PyObject *self)
{
    PyValue *p = (PyValue *)self;
    if (p->same >= 0)
        return p->same;
    PyObject *r = run((Operation){.t = p->trace, .what = 't', .a = self});
    int yes = r ? PyObject_IsTrue(r) : -1;
    Py_XDECREF(r);
    return yes;
}

static Py_hash_t value_hash(PyObject *self)
{
    Py_hash_t h = (Py_hash_t)((uintptr_t)((PyValue *)self)->v.u.foreign >> 4);
    return h == -1 ? -2 : h;
}

static PyObject *value_getattr(PyObject *self, PyObject *name)
{
    PyObject *own = PyObject_GenericGetAttr(self, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return own;
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    if (!s || (n > 4 && s[0] == '_' && s[1] == '_'))
        return NULL;
    PyErr_Clear();
    return run((Operation){.t = ((PyValue *)self)->trace, .what = 'a', .a = self, .b = name});
}

static PyObject *value_getitem(PyObject *self, PyObject *key)
{
    return run((Operation){.t = ((PyValue *)self)->trace, .what = 'i', .a = self, .b = key});
}

static int value_setitem(PyObject *self, PyObject *key, PyObject *x)
{
    if (!x) {
        PyErr_SetString(PyExc_TypeError, "elements cannot be deleted");
        return -1;
    }
    PyObject *r =
        run((Operation){.t = ((PyValue *)self)->trace, .what = 's', .a = self, .b = key, .c = x});
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static PyObject *value_call(PyObject *self, PyObject *args, PyObject *keys)
{
    return run(
        (Operation){.t = ((PyValue *)self)->trace, .what = '(', .a = self, .b = args, .c = keys});
}

static PyObject *value_text_of(PyObject *self)
{
    PyValue *p = (PyValue *)self;
    if (p->trace != trace_now())
        return PyUnicode_FromFormat("<%s of a kernel>", value_kind_name(&p->v));
    return run((Operation){.t = p->trace, .what = 'r', .a = self});
}

/* An iterable of Python's would go on for ever by __getitem__. */
static PyObject *value_iter(PyObject *self)
{
    PyErr_Format(PyExc_TypeError, "cannot walk over %s", value_kind_name(&((PyValue *)self)->v));
    return NULL;
}

/* ---- the types ------------------------------------------------------------------------------- */

static PyType_Slot value_slots[] = {
    {Py_tp_dealloc, (void *)value_dealloc},
    {Py_tp_new, (void *)not_made},
    {Py_tp_repr, (void *)value_text_of},
    {Py_tp_hash, (void *)value_hash},
    {Py_tp_richcompare, (void *)value_compare},
    {Py_tp_getattro, (void *)value_getattr},
    {Py_tp_call, (void *)value_call},
    {Py_tp_iter, (void *)value_iter},
    {Py_mp_subscript, (void *)value_getitem},
    {Py_mp_ass_subscript, (void *)value_setitem},
    {Py_nb_add, (void *)value_add},
    {Py_nb_subtract, (void *)value_sub},
    {Py_nb_multiply, (void *)value_mul},
    {Py_nb_true_divide, (void *)value_div},
    {Py_nb_floor_divide, (void *)value_floordiv},
    {Py_nb_remainder, (void *)value_mod},
    {Py_nb_power, (void *)value_pow},
    {Py_nb_and, (void *)value_and},
    {Py_nb_or, (void *)value_or},
    {Py_nb_xor, (void *)value_xor},
    {Py_nb_lshift, (void *)value_shl},
    {Py_nb_rshift, (void *)value_shr},
    {Py_nb_matrix_multiply, (void *)value_matmul},
    {Py_nb_negative, (void *)value_neg},
    {Py_nb_positive, (void *)value_pos},
    {Py_nb_invert, (void *)value_invert},
    {Py_nb_absolute, (void *)value_abs},
    {Py_nb_bool, (void *)value_bool_of},
    {Py_tp_doc, (void *)"A value of the kernel being traced."},
    {0, NULL},
};

bool value_types(PyObject *module)
{
    static PyType_Slot plain[] = {{Py_tp_dealloc, (void *)value_dealloc}, {0, NULL}};
    static const struct {
        const char *name;
        PyTypeObject **type;
    } kinds[] = {{"tilelang._core.Value", &py.value_type},
                 {"tilelang._core.Expr", &py.expr_type},
                 {"tilelang._core.Buffer", &py.buffer_type},
                 {"tilelang._core.BufferRegion", &py.region_type},
                 {"tilelang._core.LiveLayout", &py.layout_type}};
    for (int i = 0; i < COUNT(kinds); i++) {
        PyType_Spec spec = {.name = kinds[i].name, .basicsize = sizeof(PyValue),
                            .slots = i ? plain : value_slots,
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE};
        if (!module_type(module, strrchr(kinds[i].name, '.') + 1, kinds[i].type, &spec,
                         i ? py.value_type : NULL))
            return false;
    }
    return true;
}

/* call(f, args, keys): in the trace of this thread. */
PyObject *py_op(PyObject *self, PyObject *args)
{
    PyObject *f, *pos, *keys = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!|O!", &f, &PyTuple_Type, &pos, &PyDict_Type, &keys))
        return NULL;
    PyTrace *t = trace_now();
    if (!t) {
        PyErr_SetString(PyExc_RuntimeError, "no kernel is being traced");
        return NULL;
    }
    return run((Operation){.t = t, .what = '(', .a = f, .b = pos, .c = keys});
}

PyObject *py_value(PyObject *self, PyObject *o)
{
    PyTrace *t = trace_now();
    (void)self;
    if (!t) {
        PyErr_SetString(PyExc_RuntimeError, "no kernel is being traced");
        return NULL;
    }
    return run((Operation){.t = t, .what = 'v', .a = o});
}
