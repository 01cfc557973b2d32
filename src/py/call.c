/* call.c -- calls of compiled kernels: arguments taken and checked, then a run or a launch.
 *
 * A launch on a GPU is remembered by what DLPack tells of its tensors, and by its numbers.  While
 * those stay the same, a call compares them and hands over addresses; nothing is checked less. */
#include "py/py.h"

/* ---- arguments ------------------------------------------------------------------------------- */

void args_free(PyArguments *a)
{
    for (int i = 0; i < a->n; i++)
        array_done(&a->at[i]);
    if (a->at != a->own) {
        PyMem_Free(a->at);
        PyMem_Free(a->t);
    }
}

static bool wrong_count(const PyKernel *p, Py_ssize_t n)
{
    py_refuse("Kernel expected %d inputs, but %zd are provided. [argument-count]", p->nparam, n);
    return false;
}

static const char *const memories[] = {"", "the CPU", "a GPU"};

static bool wrong_device(const PyKernel *p, int i, int want, int got)
{
    char text[256];
    snprintf(text, sizeof text, "kernel '%s': argument '%s' is expected in the memory of %s "
             "and got one of %s [argument-device]", tl_kernel_name(p->k), p->param[i].name,
             memories[want], memories[got]);
    py_raise_text(TL_EUSER, text);
    return false;
}

/* Tensors on the CPU are copied to a GPU and back, but then all of them are. */
static bool check_devices(const PyKernel *p, const PyArguments *a)
{
    int common = p->streams ? 0 : 1;
    for (int i = 0; i < a->n; i++) {
        int is = a->at[i].device;
        if (p->param[i].is_scalar || !is)
            continue;
        if (common && is != common)
            return wrong_device(p, i, common, is);
        common = is;
    }
    return true;
}

static bool args_room(PyArguments *a, Py_ssize_t n)
{
    a->n = 0;
    a->at = a->own;
    a->t = a->own_t;
    if (n <= COUNT(a->own))
        return true;
    a->at = PyMem_Calloc((size_t)n, sizeof *a->at);
    a->t = PyMem_Calloc((size_t)n, sizeof *a->t);
    if (a->at && a->t)
        return true;
    args_free(a);
    PyErr_NoMemory();
    return false;
}

bool args_take(PyKernel *p, PyObject *const *args, Py_ssize_t n, PyArguments *a, bool holes)
{
    if (n != p->nparam)
        return wrong_count(p, n);
    if (!args_room(a, n))
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        a->at[i] = (PyArray){0};
        a->n++;
        if (holes && args[i] == Py_None) {
            a->t[i] = (tl_tensor){.rank = 0};
            continue;
        }
        if (!array_of(args[i], &p->param[i], &a->at[i])) {
            args_free(a);
            return false;
        }
        a->t[i] = a->at[i].t;
    }
    if (check_devices(p, a))
        return true;
    args_free(a);
    return false;
}

bool args_of_tuple(PyKernel *p, PyObject *tuple, PyArguments *a, bool holes)
{
    PyObject *own[COUNT(a->own)], **args = own;
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n > COUNT(own) && !(args = PyMem_Calloc((size_t)n, sizeof *args))) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        args[i] = PyTuple_GetItem(tuple, i);
    bool ok = args_take(p, args, n, a, holes);
    if (args != own)
        PyMem_Free(args);
    return ok;
}

/* ---- the last launch ------------------------------------------------------------------------- */

typedef enum { LAST_TENSOR, LAST_NONE, LAST_INT, LAST_FLOAT } LastKind;

struct LastCall {
    LastKind kind;
    int32_t rank, device;
    DlType dtype;
    int64_t shape[TL_RANK], stride[TL_RANK];
    long long i;
    double f;
};

bool call_begin(PyKernel *p)
{
    p->last = PyMem_Calloc((size_t)p->nparam + 1, sizeof *p->last);
    return p->last != NULL;
}

void call_end(PyKernel *p)
{
    PyMem_Free(p->last);
}

static bool keep_number(struct LastCall *l, PyObject *o)
{
    l->kind = PyFloat_CheckExact(o) ? LAST_FLOAT : LAST_INT;
    if (l->kind == LAST_FLOAT)
        l->f = PyFloat_AsDouble(o);
    else if (PyLong_CheckExact(o))
        l->i = PyLong_AsLongLong(o);
    else
        return false;
    if (!PyErr_Occurred())
        return true;
    PyErr_Clear(); /* over 64 bits */
    return false;
}

static bool keep_tensor(struct LastCall *l, PyObject *o)
{
    DlTensor d;
    if (!array_raw(o, &d) || d.device.type != DL_CUDA || d.ndim > TL_RANK || !d.strides)
        return false;
    l->kind = LAST_TENSOR;
    l->rank = d.ndim;
    l->device = d.device.id;
    l->dtype = d.dtype;
    memcpy(l->shape, d.shape, (size_t)d.ndim * sizeof *d.shape);
    memcpy(l->stride, d.strides, (size_t)d.ndim * sizeof *d.strides);
    return true;
}

/* What was launched with these arguments has this number. */
static void keep_call(PyKernel *p, PyObject *const *args, uint64_t serial)
{
    bool ok = serial != 0;
    for (int i = 0; ok && i < p->nparam; i++) {
        struct LastCall *l = &p->last[i];
        if (p->param[i].is_scalar) {
            ok = strcmp(p->param[i].dtype, "handle") && keep_number(l, args[i]);
        } else if (args[i] == Py_None) {
            l->kind = LAST_NONE;
        } else {
            ok = keep_tensor(l, args[i]);
            p->first = i;
        }
    }
    p->serial = ok ? serial : 0;
}

static bool same_extents(const int64_t *a, const int64_t *b, int n)
{
    for (int d = 0; d < n; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

static bool same_tensor(const struct LastCall *l, PyObject *o, uint64_t *address)
{
    DlTensor d;
    if (!array_raw(o, &d) || d.ndim != l->rank || d.device.type != DL_CUDA ||
        d.device.id != l->device || d.dtype.code != l->dtype.code ||
        d.dtype.bits != l->dtype.bits || d.dtype.lanes != l->dtype.lanes || !d.strides)
        return false;
    *address = (uint64_t)(uintptr_t)d.data + d.byte_offset;
    return same_extents(d.shape, l->shape, d.ndim) && same_extents(d.strides, l->stride, d.ndim);
}

static bool same_number(const struct LastCall *l, PyObject *o)
{
    if (l->kind == LAST_FLOAT) {
        double f = PyFloat_CheckExact(o) ? PyFloat_AsDouble(o) : 0;
        return PyFloat_CheckExact(o) && memcmp(&f, &l->f, sizeof f) == 0;
    }
    int over = 0;
    return PyLong_CheckExact(o) && PyLong_AsLongLongAndOverflow(o, &over) == l->i && !over;
}

/* False: nothing was launched and no exception is set.  Others get the GIL meanwhile: a full queue
 * makes a launch wait for the GPU, which may wait for a callback that wants it. */
static bool launch_again(PyKernel *p, PyObject *const *args, Py_ssize_t n, tl_status *s, char *text,
                         size_t ntext)
{
    uint64_t address[64], serial = p->serial;
    void *stream;
    bool done;
    if (!serial || n != p->nparam || n > COUNT(address))
        return false;
    for (int i = 0; i < n; i++) {
        const struct LastCall *l = &p->last[i];
        address[i] = 0;
        bool same = l->kind == LAST_TENSOR ? same_tensor(l, args[i], &address[i])
                    : l->kind == LAST_NONE ? args[i] == Py_None
                                           : same_number(l, args[i]);
        if (!same)
            return false;
    }
    if (!array_stream(args[p->first], p->last[p->first].device, &stream))
        return false;
    Py_BEGIN_ALLOW_THREADS
    done = kernel_repeat(p->k, serial, address, stream, s, text, ntext);
    Py_END_ALLOW_THREADS
    return done;
}

/* ---- running --------------------------------------------------------------------------------- */

/* The first tensor when all of them are in the GPU's memory, else -1. */
static int on_device(const PyKernel *p, const PyArguments *a)
{
    int first = -1;
    for (int i = 0; i < a->n; i++) {
        if (p->param[i].is_scalar || !a->at[i].device)
            continue;
        if (a->at[i].device != 2)
            return -1;
        if (first < 0)
            first = i;
    }
    return first;
}

/* Ctrl-C ends a simulation; what the handler raised stays. */
static bool go_on(void *unused)
{
    PyGILState_STATE s = PyGILState_Ensure();
    bool yes = PyErr_CheckSignals() == 0;
    (void)unused;
    PyGILState_Release(s);
    return yes;
}

static tl_status run(PyKernel *p, PyObject *const *args, PyArguments *a, char *text, size_t ntext)
{
    int there = p->streams ? on_device(p, a) : -1;
    void *stream = NULL;
    uint64_t serial = 0;
    tl_status s;
    if (there >= 0)
        array_stream(args[there], a->at[there].device_id, &stream);
    Py_BEGIN_ALLOW_THREADS
    s = there >= 0 ? kernel_launch(p->k, a->t, a->n, stream, &serial, text, ntext)
                   : kernel_run(p->k, a->t, a->n, RUN_THERE, go_on, text, ntext);
    Py_END_ALLOW_THREADS
    keep_call(p, args, s == TL_OK ? serial : 0);
    return s;
}

PyObject *kernel_call(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    PyKernel *p = (PyKernel *)self;
    char text[2048];
    tl_status s;
    text[0] = 0;
    if (!launch_again(p, args, n, &s, text, sizeof text)) {
        PyArguments a;
        if (!args_take(p, args, n, &a, false))
            return NULL;
        s = run(p, args, &a, text, sizeof text);
        args_free(&a);
    }
    if (s == TL_OK)
        Py_RETURN_NONE;
    py_raise_text(s, text);
    return NULL;
}

/* reference(*args): the meaning of the kernel, its tile form in the simulator; on the CPU. */
PyObject *kernel_reference(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    PyKernel *p = (PyKernel *)self;
    char text[2048] = "";
    PyArguments a;
    tl_status s;
    if (!args_take(p, args, n, &a, false))
        return NULL;
    for (int i = 0; i < a.n; i++)
        if (!p->param[i].is_scalar && a.at[i].device == 2) {
            wrong_device(p, i, 1, 2);
            args_free(&a);
            return NULL;
        }
    Py_BEGIN_ALLOW_THREADS
    s = kernel_run(p->k, a.t, a.n, RUN_MEANING, go_on, text, sizeof text);
    Py_END_ALLOW_THREADS
    args_free(&a);
    if (s == TL_OK)
        Py_RETURN_NONE;
    py_raise_text(s, text);
    return NULL;
}
