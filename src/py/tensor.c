/* tensor.c -- tensor programs of Python: traced over nodes, given back as source of tiles. */
#include "py/py.h"
#include "tensor/tensor.h"

typedef struct {
    PyTrace *t;
    PyObject *file, *text, *names, *given, *shapes, *argnums, *out;
    int with_value;
    long long least;
} ProgramCall;

/* shapes: name -> (shape, dtype, names of extents that stay open, or None for the others) */
static void take_arguments(ProgramCall *q, TraceRequest *r)
{
    PyObject *key, *val;
    Py_ssize_t pos = 0;
    Arena *a = q->t->ev->arena;
    NameShape *s = NEWN(a, NameShape, PyDict_Size(q->shapes) + 1);
    while (PyDict_Next(q->shapes, &pos, &key, &val)) {
        NameShape *one = &s[r->nshape++];
        PyObject *shape = PyTuple_GetItem(val, 0);
        int lanes;
        one->name = text_of(q->t, key, NULL);
        one->rank = (int)PyTuple_Size(shape);
        int64_t *extent = NEWN(a, int64_t, one->rank + 1);
        for (int d = 0; d < one->rank; d++)
            extent[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
        one->shape = extent;
        const char **open = NEWN(a, const char *, one->rank + 1);
        for (int d = 0; d < one->rank; d++) {
            PyObject *name = PyTuple_GetItem(PyTuple_GetItem(val, 2), d);
            open[d] = name == Py_None ? NULL : text_of(q->t, name, NULL);
        }
        one->open = open;
        const char *dtype = text_of(q->t, PyTuple_GetItem(val, 1), NULL);
        if (!dtype_parse(dtype, &one->dtype, &lanes) || lanes != 1) {
            one->dtype = DT_NONE;
            one->strange = dtype;
        }
    }
    r->shapes = s;
}

static void program_work(void *arg)
{
    ProgramCall *q = arg;
    PyTrace *t = q->t;
    Source *src = NEW(t->ev->arena, Source);
    TraceRequest r = {.src = src, .host = &py_host, .host_data = q->names};
    src->name = text_of(t, q->file, NULL);
    src->text = text_of(t, q->text, &src->len);
    CallArgs given = to_args(t, NULL, q->given, NO_SPAN);
    r.nkey = given.nkey;
    r.key = given.key;
    r.val = given.val;
    take_arguments(q, &r);
    LoadRequest *known = NEW(t->ev->arena, LoadRequest);
    *known = *t->ev->request;
    known->shapes = r.shapes;
    known->nshape = r.nshape;
    known->least = q->least;
    t->ev->request = known;
    Value argnums = q->argnums == Py_None ? value_none() : to_value(t, q->argnums);
    Graph *g = front_tensor(t->ev, &r, q->argnums == Py_None ? NULL : &argnums, q->with_value);
    q->out = Py_BuildValue("ssii", g->text, g->explain, g->outputs.n, g->in_place);
}

/* tensor(file, text, names, given, shapes, target, argnums, with_value, least): (tiles, explain,
 * count of outputs, whether they may be stored over inputs) */
PyObject *py_tensor(PyObject *self, PyObject *args)
{
    ProgramCall q = {0};
    const char *target = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "UUO!O!O!zOpL", &q.file, &q.text, &PyTuple_Type, &q.names,
                          &PyDict_Type, &q.given, &PyDict_Type, &q.shapes, &target, &q.argnums,
                          &q.with_value, &q.least))
        return NULL;
    q.t = trace_new(target, q.names);
    if (!q.t)
        return NULL;
    bool ok = PyList_Append(q.t->keep, q.names) == 0;
    trace_push(q.t);
    ok = ok && py_enter(q.t, program_work, &q);
    trace_pop(q.t);
    trace_close(q.t);
    Py_DECREF((PyObject *)q.t);
    return ok ? q.out : NULL;
}
