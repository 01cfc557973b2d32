/* kernel.c -- compiled kernels as Python objects: made, timed, looked at.  Calls are in call.c. */
#include "py/py.h"

/* ---- making ---------------------------------------------------------------------------------- */

PyObject *kernel_take(PyTrace *t, const tl_options *o)
{
    Arena *a = arena_new();
    Recover r;
    Str why;
    tl_status s = TL_EMEM;
    tl_kernel *k = t->k;
    if (!a || recover_open(&r) != 0) {
        arena_free(a);
        return PyErr_NoMemory();
    }
    str_init(&why, a);
    recover_close(&r);
    t->k = NULL; /* live values of this trace end here */
    t->ev = NULL;
    Py_BEGIN_ALLOW_THREADS
    s = kernel_finish(k, o, &why);
    Py_END_ALLOW_THREADS
    PyKernel *p = NULL;
    if (s == TL_OK) {
        allocfunc alloc = (allocfunc)PyType_GetSlot(py.kernel_type, Py_tp_alloc);
        p = (PyKernel *)alloc(py.kernel_type, 0);
    } else {
        if (k->build.diag.nerror > 0 && s != TL_EBUG)
            py_raise_errors(s, &k->build.diag);
        else
            py_raise_text(s, why.s);
    }
    arena_free(a);
    if (!p) {
        tl_kernel_free(k);
        return NULL;
    }
    p->k = k;
    p->streams = k->built.rt->start != NULL;
    p->nparam = tl_kernel_nparam(k);
    p->param = PyMem_Calloc((size_t)p->nparam + 1, sizeof *p->param);
    for (int i = 0; p->param && i < p->nparam; i++)
        p->param[i] = tl_kernel_param(k, i);
    if (!p->param || !call_begin(p)) {
        Py_DECREF(p);
        return PyErr_NoMemory();
    }
    return (PyObject *)p;
}

static void kernel_dealloc(PyObject *self)
{
    PyKernel *p = (PyKernel *)self;
    PyTypeObject *type = Py_TYPE(self);
    tl_kernel_free(p->k);
    call_end(p);
    PyMem_Free(p->param);
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_DECREF(type);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* time(args, warmup, reps) -> seconds of each */
static PyObject *kernel_time(PyObject *self, PyObject *args)
{
    PyKernel *p = (PyKernel *)self;
    PyObject *tensors, *list;
    int warmup, reps;
    PyArguments a;
    tl_status s;
    if (!PyArg_ParseTuple(args, "O!ii", &PyTuple_Type, &tensors, &warmup, &reps))
        return NULL;
    reps = MAX(reps, 1);
    double *seconds = PyMem_Calloc((size_t)reps, sizeof *seconds);
    if (!seconds || !args_of_tuple(p, tensors, &a, false)) {
        PyMem_Free(seconds);
        return seconds ? NULL : PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    s = tl_kernel_time(p->k, a.t, a.n, MAX(warmup, 0), reps, seconds);
    Py_END_ALLOW_THREADS
    args_free(&a);
    list = s == TL_OK ? PyList_New(0) : NULL;
    if (s != TL_OK)
        py_raise_text(s, tl_message(py.ctx));
    for (int i = 0; list && i < reps; i++) {
        PyObject *x = PyFloat_FromDouble(seconds[i]);
        if (!x || PyList_Append(list, x) < 0)
            Py_CLEAR(list);
        Py_XDECREF(x);
    }
    PyMem_Free(seconds);
    return list;
}

/* profile(args, measured) -> trace, picture, table; not measured: by the simulator's model.  With
 * the GIL: the texts live until the context is asked again. */
static PyObject *kernel_profile(PyObject *self, PyObject *args)
{
    PyKernel *p = (PyKernel *)self;
    const char *json, *svg, *table;
    PyObject *tensors;
    PyArguments a;
    int measured;

    if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &tensors, &measured) ||
        !args_of_tuple(p, tensors, &a, false))
        return NULL;
    tl_status s = measured ? tl_kernel_profile(p->k, a.t, a.n, &json, &svg, &table)
                           : tl_kernel_profile_sim(p->k, a.t, a.n, &json, &svg, &table);
    args_free(&a);
    if (s == TL_OK)
        return Py_BuildValue("(sss)", json, svg, table);
    py_raise_text(s, tl_message(py.ctx));
    return NULL;
}

static PyObject *ints_of(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++)
        PyTuple_SetItem(t, i, PyLong_FromLongLong(v[i]));
    return t;
}

/* shapes(args): with None in place of outputs -> the shape of every argument. */
static PyObject *kernel_shapes(PyObject *self, PyObject *args)
{
    PyKernel *p = (PyKernel *)self;
    PyArguments a;
    if (!args_of_tuple(p, args, &a, true))
        return NULL;
    tl_status s = tl_kernel_solve(p->k, NULL, 0, a.t, a.n);
    PyObject *list = s == TL_OK ? PyList_New(0) : NULL;
    if (s != TL_OK)
        py_raise_text(s, tl_message(py.ctx));
    for (int i = 0; list && i < a.n; i++) {
        PyObject *x = ints_of(a.t[i].shape, a.t[i].rank);
        if (!x || PyList_Append(list, x) < 0)
            Py_CLEAR(list);
        Py_XDECREF(x);
    }
    args_free(&a);
    return list;
}

static PyObject *kernel_work(PyObject *self, PyObject *args)
{
    PyKernel *p = (PyKernel *)self;
    PyArguments a;
    if (!args_of_tuple(p, args, &a, false))
        return NULL;
    double flops = tl_kernel_flops(p->k, a.t, a.n), bytes = tl_kernel_bytes(p->k, a.t, a.n);
    args_free(&a);
    return Py_BuildValue("dd", flops, bytes);
}

/* What is counted of one call, for kernels whose shapes are all fixed. */
static double count_fixed(PyKernel *p, Amount what)
{
    tl_tensor *t = PyMem_Calloc((size_t)p->nparam + 1, sizeof *t);
    int64_t none = 0;
    for (int i = 0; t && i < p->nparam; i++) {
        t[i] = (tl_tensor){.dtype = p->param[i].dtype, .rank = p->param[i].rank, .data = &none};
        memcpy(t[i].shape, p->param[i].shape, sizeof t[i].shape);
    }
    double n = t ? kernel_count(p->k, t, p->nparam, what) : 0;
    PyMem_Free(t);
    return n;
}

static PyObject *kernel_flops(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble(count_fixed((PyKernel *)self, AMOUNT_FLOPS));
}

/* Bytes of registers that tiles take in a block; a view has no bytes of its own. */
static double fragment_bytes(const Kernel *k)
{
    double total = 0;
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        double n = b->scope == MEM_FRAGMENT && buffer_root(b) == b;
        for (int d = 0; d < b->rank; d++) {
            int64_t extent = 1;
            expr_is_int(b->shape[d], &extent);
            n *= (double)extent;
        }
        total += n * MAX(dtype_bits(b->type), 8) / 8;
    }
    return total;
}

static const char *mma_of(const Kernel *k)
{
    for (int i = 0; i < k->tiles.n; i++)
        if (k->tiles.at[i].isa)
            return k->tiles.at[i].isa->name;
    return "";
}

static int most_stages(const Kernel *k)
{
    int most = 1;
    for (int i = 0; i < k->plans.n; i++)
        most = MAX(most, k->plans.at[i].stages);
    return most;
}

static PyObject *work_of(Kernel *k)
{
    BlockWork w = kernel_work_of(k);
    const struct {
        const char *name;
        double n;
    } each[] = {{"blocks", w.blocks}, {"operations", w.operations}, {"special", w.special},
                {"requests", w.requests}, {"sectors", w.sectors}, {"stored", w.stored},
                {"pieces", w.pieces}, {"loaded", w.loaded}, {"again", w.again},
                {"wavefronts", w.wavefronts}, {"bulk", w.bulk}, {"boxes", w.boxes},
                {"products", w.products}, {"mmas", w.mmas}, {"operands", w.operands},
                {"rounds", w.rounds}, {"reads", w.reads}, {"hops", w.hops},
                {"barriers", w.barriers}, {"waits", w.waits}, {"settled", w.settled},
                {"steps", w.steps}, {"step_loads", w.step_loads}, {"step_bytes", w.step_bytes},
                {"held", w.held}, {"live", w.live}, {"widest", w.widest}};
    PyObject *all = PyDict_New();

    for (int i = 0; all && i < COUNT(each); i++) {
        PyObject *n = PyFloat_FromDouble(each[i].n);
        if (!n || PyDict_SetItemString(all, each[i].name, n))
            Py_CLEAR(all);
        Py_XDECREF(n);
    }
    return all;
}

/* [{blocks, threads, extra, shared, fragments, stages, persistent, mma, work}] of each launch, as
 * lowered; extra: of its threads those of a producer, which hold no tiles. */
static PyObject *launches_of(const PyKernel *p)
{
    const Func *f = p->k->build.func, *tile = p->k->build.tile;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < f->kernels.n; i++) {
        Kernel *k = f->kernels.at[i];
        double blocks = 1;
        for (int d = 0; i < tile->kernels.n && d < tile->kernels.at[i]->ngrid; d++) {
            int64_t n = 0;
            expr_is_int(tile->kernels.at[i]->grid[d], &n);
            blocks *= (double)n;
        }
        PyObject *one = Py_BuildValue(
            "{sd si si sL sd si si ss sN}", "blocks", blocks, "threads", kernel_launch_threads(k),
            "extra", k->extra_threads, "shared",
            (long long)MAX(k->launch.shared_bytes, k->arena_bytes), "fragments",
            i < tile->kernels.n ? fragment_bytes(tile->kernels.at[i]) : 0.0, "stages",
            most_stages(k), "persistent", k->persistent, "mma", mma_of(k), "work",
            work_of(k));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* What a cost model asks of a kernel of fixed shapes, whether its code was built or not. */
static PyObject *kernel_about(PyObject *self, PyObject *unused)
{
    PyKernel *p = (PyKernel *)self;
    (void)unused;
    return Py_BuildValue("{sd sd sd sd sd sN}", "flops", count_fixed(p, AMOUNT_FLOPS), "bytes",
                         count_fixed(p, AMOUNT_BYTES), "on_chip", count_fixed(p, AMOUNT_ON_CHIP),
                         "operations", count_fixed(p, AMOUNT_OPERATIONS), "steps",
                         count_fixed(p, AMOUNT_STEPS), "launches", launches_of(p));
}

/* ---- looking --------------------------------------------------------------------------------- */

static PyObject *kernel_params(PyObject *self, PyObject *unused)
{
    PyKernel *p = (PyKernel *)self;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (int i = 0; list && i < p->nparam; i++) {
        const tl_param *q = &p->param[i];
        PyObject *shape = ints_of(q->shape, q->rank);
        PyObject *one =
            Py_BuildValue("ssNNNNN", q->name, q->dtype, shape, PyBool_FromLong(q->is_scalar),
                          PyBool_FromLong(q->is_output), PyBool_FromLong(q->is_read),
                          PyBool_FromLong(q->is_written));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* In memory of its own: what the library keeps for a kernel would grow with each question. */
static PyObject *one_text(tl_kernel *k, tl_text which)
{
    Arena *a = arena_new();
    PyObject *out = NULL;
    Str s = {0};
    bool ok = false;
    if (a) {
        Py_BEGIN_ALLOW_THREADS
        ok = kernel_say(k, which, a, &s);
        Py_END_ALLOW_THREADS
        out = PyUnicode_FromStringAndSize(ok ? s.s : "", ok ? (Py_ssize_t)s.n : 0);
    }
    arena_free(a);
    return a ? out : PyErr_NoMemory();
}

static PyObject *kernel_text_of(PyObject *self, PyObject *args)
{
    static const char *const word[] = {"source", "ir", "dump", "plans", "time", "header",
                                       "warnings", "resources", "report", "audit"};
    const char *which;
    PyKernel *p = (PyKernel *)self;
    const Module *m = &p->k->built.module;
    if (!PyArg_ParseTuple(args, "s", &which))
        return NULL;
    for (int i = 0; i < COUNT(word); i++)
        if (!strcmp(word[i], which))
            return one_text(p->k, (tl_text)i);
    if (!strcmp(which, "ptx") || !strcmp(which, "name"))
        return PyUnicode_FromString(which[0] == 'n' ? tl_kernel_name(p->k)
                                    : m->assembly ? m->assembly : "");
    PyErr_Format(PyExc_ValueError, "no text is called '%s'", which);
    return NULL;
}

static PyObject *kernel_cubin(PyObject *self, PyObject *unused)
{
    const Module *m = &((PyKernel *)self)->k->built.module;
    (void)unused;
    return PyBytes_FromStringAndSize(m->binary ? m->binary : "", (Py_ssize_t)m->nbinary);
}

/* [(tag, text, file or None, line)] of what the compilation did not obey, or fell back from. */
static PyObject *kernel_told(PyObject *self, PyObject *unused)
{
    const Diag *d = &((PyKernel *)self)->k->build.diag;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (int i = 0; list && i < d->list.n; i++) {
        const Message *m = &d->list.at[i];
        if (!m->tag || (strcmp(m->tag, "ignored") && strcmp(m->tag, "slow")))
            continue;
        PyObject *one = Py_BuildValue("sszi", m->tag, m->text,
                                      m->span.src ? m->span.src->name : NULL, (int)m->span.line);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *kernel_layout(PyObject *self, PyObject *args)
{
    const char *buffer, *text;
    int svg = 0;
    if (!PyArg_ParseTuple(args, "s|p", &buffer, &svg))
        return NULL;
    tl_status s = tl_kernel_layout(((PyKernel *)self)->k, buffer, svg, &text);
    if (s == TL_OK)
        return PyUnicode_FromString(text);
    py_raise_text(s, tl_message(py.ctx));
    return NULL;
}

static PyObject *kernel_bundle(PyObject *self, PyObject *args)
{
    const char *dir, *levels = NULL;
    tl_status s;
    if (!PyArg_ParseTuple(args, "s|z", &dir, &levels))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tl_kernel_bundle(((PyKernel *)self)->k, dir, levels);
    Py_END_ALLOW_THREADS
    if (s == TL_OK)
        Py_RETURN_NONE;
    py_raise_text(s, tl_message(py.ctx));
    return NULL;
}

static PyObject *kernel_tolerance(PyObject *self, PyObject *args)
{
    const char *dtype;
    if (!PyArg_ParseTuple(args, "s", &dtype))
        return NULL;
    return PyFloat_FromDouble(tl_kernel_tolerance(((PyKernel *)self)->k, dtype));
}

static PyObject *kernel_cached(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(tl_kernel_from_cache(((PyKernel *)self)->k));
}

bool kernel_types(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"run", (PyCFunction)(void (*)(void))kernel_call, METH_FASTCALL,
         "Run with all arguments in order."},
        {"reference", (PyCFunction)(void (*)(void))kernel_reference, METH_FASTCALL,
         "The meaning of the kernel, by the simulator."},
        {"time", kernel_time, METH_VARARGS, "Seconds of each repetition."},
        {"profile", kernel_profile, METH_VARARGS, "When its warps or threads do what."},
        {"shapes", kernel_shapes, METH_VARARGS, "Shapes of all arguments from those given."},
        {"work", kernel_work, METH_VARARGS, "Floating point operations and bytes of one run."},
        {"facts", kernel_about, METH_NOARGS, "What it computes, moves and holds, of fixed shapes."},
        {"flops_of_shapes", kernel_flops, METH_NOARGS, "Operations, for fixed shapes."},
        {"params", kernel_params, METH_NOARGS, "What the parameters are."},
        {"text", kernel_text_of, METH_VARARGS, "One of its texts."},
        {"cubin", kernel_cubin, METH_NOARGS, "The GPU's machine code."},
        {"layout", kernel_layout, METH_VARARGS, "The layout of one on-chip buffer."},
        {"bundle", kernel_bundle, METH_VARARGS, "Write a bundle into a folder."},
        {"tolerance", kernel_tolerance, METH_VARARGS, "Tolerance for results of a dtype."},
        {"told", kernel_told, METH_NOARGS, "Options that were not obeyed, and what fell back."},
        {"cached", kernel_cached, METH_NOARGS, "Whether it came from the cache."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)kernel_dealloc}, {Py_tp_methods, methods},
        {Py_tp_new, (void *)not_made}, {0, NULL}};
    static PyType_Spec spec = {.name = "tilelang._core.Kernel", .basicsize = sizeof(PyKernel),
                               .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
    return module_type(module, "Kernel", &py.kernel_type, &spec, NULL);
}
