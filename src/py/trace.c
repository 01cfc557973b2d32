/* trace.c -- functions of Python into kernels. */
#include "py/py.h"
#include "ir/config.h"

/* ---- the traces of this thread --------------------------------------------------------------- */

static _Thread_local PyTrace *innermost;

PyTrace *trace_now(void)
{
    return innermost;
}

void trace_push(PyTrace *t)
{
    t->outer = innermost;
    innermost = t;
}

void trace_pop(PyTrace *t)
{
    innermost = t->outer;
    t->outer = NULL;
}

/* ---- other threads of Python go on while this one traces ------------------------------------- */

static _Thread_local bool gives_way;
static _Thread_local PyThreadState *away; /* of this thread, while it has not the GIL */

bool gil_take(void)
{
    PyThreadState *own = away;
    away = NULL;
    if (own)
        PyEval_RestoreThread(own);
    return own != NULL;
}

void gil_give(bool to_others)
{
    if (to_others)
        away = PyEval_SaveThread();
}

/* give_way(on): traces of this thread leave the GIL to others where they ask Python nothing, and
 * compilers that it starts the processors. */
PyObject *py_give_way(PyObject *self, PyObject *on)
{
    int yes = PyObject_IsTrue(on);
    (void)self;
    if (yes < 0)
        return NULL;
    gives_way = yes;
    proc_give_way(yes);
    Py_INCREF(Py_None);
    return Py_None;
}

/* An error of Python's caller may be caught there, and the trace go on: what was reported on the
 * way is taken back. */
bool py_enter(PyTrace *t, void (*work)(void *arg), void *arg)
{
    Eval *ev = t->ev;
    Diag *d = &t->k->build.diag;
    const int n = d->list.n, nerror = d->nerror, nwarning = d->nwarning;
    const int nest = ev ? ev->nest : 0, depth = ev ? ev->depth : 0;
    Recover r;
    if (recover_open(&r) == 0) {
        work(arg);
        recover_close(&r);
        return !PyErr_Occurred();
    }
    gil_take();
    py_raise_diag(t, &r);
    d->list.n = n;
    d->nerror = nerror;
    d->nwarning = nwarning;
    if (t->ev && ev) {
        t->ev->nest = nest;
        t->ev->depth = depth;
    }
    return false;
}

/* No kernel is traced in it any more: objects kept for it may hold it in turn. */
void trace_close(PyTrace *t)
{
    PyList_SetSlice(t->keep, 0, PyList_Size(t->keep), NULL);
    t->known = (Map){0};
    t->ev->host_data = NULL;
}

typedef struct {
    PyTrace *t;
    const char *target;
    void *data;
} Begin;

static void begin(void *arg)
{
    Begin *q = arg;
    tl_kernel *k = q->t->k;
    TraceRequest r = {.host = &py_host, .host_data = q->data};
    const char *why = "";
    TargetSpec spec;
    Machine *machine = NEW(k->build.arena, Machine);
    if (q->target && target_parse(k->build.arena, q->target, &spec, &why)) {
        spec_from_device(py.ctx, k->build.arena, &spec);
        *machine = spec.machine;
        r.machine = machine;
    }
    map_init(&q->t->known, k->build.arena);
    q->t->ev = front_eval(k->build.ir, &r);
}

PyTrace *trace_new(const char *target, void *host_data)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(py.trace_type, Py_tp_alloc);
    PyTrace *t = (PyTrace *)alloc(py.trace_type, 0);
    if (!t)
        return NULL;
    t->keep = PyList_New(0);
    t->k = kernel_begin(py.ctx);
    if (!t->keep || !t->k) {
        Py_DECREF((PyObject *)t);
        PyErr_NoMemory();
        return NULL;
    }
    Begin q = {t, target, host_data};
    if (!py_enter(t, begin, &q)) {
        Py_DECREF((PyObject *)t);
        return NULL;
    }
    return t;
}

static int trace_visit(PyObject *self, visitproc visit, void *arg)
{
    PyTrace *t = (PyTrace *)self;
    Py_VISIT(t->keep);
    Py_VISIT(t->etype);
    Py_VISIT(t->evalue);
    Py_VISIT(t->etrace);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int trace_clear(PyObject *self)
{
    PyTrace *t = (PyTrace *)self;
    Py_CLEAR(t->keep);
    Py_CLEAR(t->etype);
    Py_CLEAR(t->evalue);
    Py_CLEAR(t->etrace);
    return 0;
}

static void trace_dealloc(PyObject *self)
{
    PyTrace *t = (PyTrace *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    trace_clear(self);
    tl_kernel_free(t->k);
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_DECREF(type);
}

/* ---- trace(file, text, kind, names, given, shapes, target, open) ----------------------------- */

typedef struct {
    PyTrace *t;
    PyObject *file, *text, *names, *given, *shapes;
    FunctionKind kind;
    int open; /* T.const are left open */
} TraceCall;

static int64_t *to_ints(PyTrace *t, PyObject *tuple, int *n)
{
    *n = (int)PyTuple_Size(tuple);
    int64_t *v = NEWN(t->ev->arena, int64_t, *n + 1);
    for (int i = 0; i < *n; i++)
        v[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return v;
}

/* shapes: name -> (shape, strides or None, bits of an element) */
static void take_shapes(TraceCall *q, TraceRequest *r)
{
    PyObject *key, *val;
    Py_ssize_t pos = 0;
    NameShape *s = NEWN(q->t->ev->arena, NameShape, PyDict_Size(q->shapes) + 1);
    while (PyDict_Next(q->shapes, &pos, &key, &val)) {
        PyObject *strides = PyTuple_GetItem(val, 1);
        int rank;
        NameShape *one = &s[r->nshape++];
        one->name = text_of(q->t, key, NULL);
        one->shape = to_ints(q->t, PyTuple_GetItem(val, 0), &one->rank);
        one->stride = strides != Py_None ? to_ints(q->t, strides, &rank) : NULL;
        if (PyTuple_Size(val) > 2)
            one->bits = (int)PyLong_AsLong(PyTuple_GetItem(val, 2));
    }
    r->shapes = s;
}

static void trace_work(void *arg)
{
    TraceCall *q = arg;
    PyTrace *t = q->t;
    Source *src = NEW(t->ev->arena, Source);
    TraceRequest r = {.src = src, .kind = q->kind, .host = &py_host, .host_data = q->names};
    src->name = text_of(t, q->file, NULL);
    src->text = text_of(t, q->text, &src->len);
    CallArgs given = to_args(t, NULL, q->given, NO_SPAN);
    r.nkey = given.nkey;
    r.key = given.key;
    r.val = given.val;
    take_shapes(q, &r);
    LoadRequest *known = NEW(t->ev->arena, LoadRequest);
    *known = *t->ev->request;
    known->shapes = r.shapes;
    known->nshape = r.nshape;
    known->open = q->open;
    t->ev->request = known;
    gil_give(gives_way);
    t->k->build.func = front_trace(t->ev, &r);
    gil_take();
}

/* ---- read(text, target): a function printed by Trace.text ------------------------------------ */

static void read_work(void *arg)
{
    TraceCall *q = arg;
    Source *src = NEW(q->t->ev->arena, Source);
    src->name = "<ir>";
    src->text = text_of(q->t, q->text, &src->len);
    q->t->k->build.func = func_read(q->t->k->build.ir, src);
}

PyObject *py_read(PyObject *self, PyObject *args)
{
    TraceCall q = {0};
    const char *target = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "U|z", &q.text, &target))
        return NULL;
    q.t = trace_new(target, NULL);
    if (!q.t)
        return NULL;
    if (!py_enter(q.t, read_work, &q)) {
        Py_DECREF((PyObject *)q.t);
        return NULL;
    }
    return (PyObject *)q.t;
}

PyObject *py_trace(PyObject *self, PyObject *args, PyObject *keys)
{
    static char *words[] = {"file", "text", "kind", "names", "given", "shapes", "target", "open",
                            NULL};
    TraceCall q = {0};
    const char *kind, *target = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keys, "UUsO!O!O!|zp", words, &q.file, &q.text, &kind,
                                     &PyTuple_Type, &q.names, &PyDict_Type, &q.given, &PyDict_Type,
                                     &q.shapes, &target, &q.open))
        return NULL;
    q.kind = !strcmp(kind, "eager") ? FN_JIT : FN_PRIM;
    q.t = trace_new(target, q.names);
    if (!q.t)
        return NULL;
    if (PyList_Append(q.t->keep, q.names) < 0) {
        Py_DECREF((PyObject *)q.t);
        return NULL;
    }
    trace_push(q.t);
    bool ok = py_enter(q.t, trace_work, &q);
    trace_pop(q.t);
    trace_close(q.t);
    if (ok)
        return (PyObject *)q.t;
    Py_DECREF((PyObject *)q.t);
    return NULL;
}

/* ---- look(file, text) ------------------------------------------------------------------------ */

typedef struct {
    PyTrace *t;
    PyObject *file, *text, *out;
} LookCall;

static void look_work(void *arg)
{
    LookCall *q = arg;
    Source *src = NEW(q->t->ev->arena, Source);
    FuncLook look;
    src->name = text_of(q->t, q->file, NULL);
    src->text = text_of(q->t, q->text, &src->len);
    front_look(q->t->ev->ir, src, &look);
    PyObject *params = PyList_New(0);
    for (int i = 0; params && i < look.nparam; i++) {
        PyObject *p = Py_BuildValue("sN", look.name[i], PyBool_FromLong(look.declared[i]));
        if (p)
            PyList_Append(params, p);
        Py_XDECREF(p);
    }
    q->out = Py_BuildValue("NNNN", PyBool_FromLong(look.eager), PyBool_FromLong(look.stores),
                           params, PyBool_FromLong(look.makes));
}

PyObject *py_look(PyObject *self, PyObject *args)
{
    LookCall q = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "UU", &q.file, &q.text))
        return NULL;
    q.t = trace_new(NULL, NULL);
    if (!q.t)
        return NULL;
    bool ok = py_enter(q.t, look_work, &q);
    trace_close(q.t);
    Py_DECREF((PyObject *)q.t);
    return ok ? q.out : NULL;
}

/* ---- evaluate(recipe, target): outside of any kernel ----------------------------------------- */

typedef struct {
    PyTrace *t;
    PyObject *recipe, *out;
} EvaluateCall;

static void evaluate_work(void *arg)
{
    EvaluateCall *q = arg;
    Value v = to_value(q->t, q->recipe);
    if (is_plain(&v))
        q->out = Py_BuildValue("ON", Py_True, from_value(q->t, &v));
    else
        q->out = Py_BuildValue("Os", Py_False, value_kind_name(&v));
}

/* (True, value) when it is a value of Python, else (False, what it is). */
PyObject *py_evaluate(PyObject *self, PyObject *args)
{
    EvaluateCall q = {0};
    const char *target = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "O|z", &q.recipe, &target))
        return NULL;
    q.t = trace_new(target, NULL);
    if (!q.t)
        return NULL;
    trace_push(q.t);
    bool ok = py_enter(q.t, evaluate_work, &q);
    trace_pop(q.t);
    trace_close(q.t);
    Py_DECREF((PyObject *)q.t);
    return ok ? q.out : NULL;
}

/* ---- what can be asked of a trace ------------------------------------------------------------ */

typedef struct {
    PyTrace *t;
    PyObject *out;
} AskCall;

static bool still_here(PyTrace *t)
{
    if (t->k && t->k->build.func)
        return true;
    PyErr_SetString(PyExc_RuntimeError, "this function was compiled already");
    return false;
}

static void text_work(void *arg)
{
    AskCall *q = arg;
    Str s;
    str_init(&s, q->t->k->build.arena);
    print_func(&s, q->t->k->build.func);
    q->out = PyUnicode_FromString(s.s);
}

static PyObject *trace_text(PyObject *self, PyObject *unused)
{
    AskCall q = {.t = (PyTrace *)self};
    (void)unused;
    if (!still_here(q.t))
        return NULL;
    return py_enter(q.t, text_work, &q) ? q.out : NULL;
}

/* An extent is an int, a name, or the text of an expression of names. */
static PyObject *extents_of(Arena *arena, const Expr *const *of, int rank)
{
    PyObject *all = PyTuple_New(rank);
    for (int d = 0; all && d < rank; d++) {
        int64_t n;
        PyObject *x;
        if (expr_is_int(of[d], &n)) {
            x = PyLong_FromLongLong(n);
        } else {
            Str s;
            str_init(&s, arena);
            print_expr(&s, of[d]);
            x = PyUnicode_FromString(s.s);
        }
        if (!x)
            Py_CLEAR(all);
        else
            PyTuple_SetItem(all, d, x);
    }
    return all;
}

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static void params_work(void *arg)
{
    AskCall *q = arg;
    const Func *f = q->t->k->build.func;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < f->params.n; i++) {
        const Param *p = &f->params.at[i];
        const Buffer *b = p->buf;
        Arena *a = q->t->k->build.arena;
        PyObject *shape = b ? extents_of(a, (const Expr *const *)b->shape, b->rank) : none();
        PyObject *strides =
            b && b->stride ? extents_of(a, (const Expr *const *)b->stride, b->rank) : none();
        PyObject *one = Py_BuildValue("ssNNN", p->name, dtype_name(b ? b->type : p->var->type),
                                      shape, PyBool_FromLong(p->out), strides);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    q->out = list;
}

/* [(name, dtype, shape or None for a scalar, whether it is an output, strides or None)] */
static PyObject *trace_params(PyObject *self, PyObject *unused)
{
    AskCall q = {.t = (PyTrace *)self};
    (void)unused;
    if (!still_here(q.t))
        return NULL;
    return py_enter(q.t, params_work, &q) ? q.out : NULL;
}

/* Does another parameter settle every run-time extent of this one? */
static bool can_go(const Func *f, int which)
{
    const Buffer *b = f->params.at[which].buf;
    int64_t n;
    if (b->stride)
        return false;
    for (int d = 0; d < b->rank; d++) {
        bool settled = expr_is_int(b->shape[d], &n);
        for (int i = 0; i < f->params.n && !settled; i++) {
            const Buffer *o = i == which ? NULL : f->params.at[i].buf;
            for (int e = 0; o && e < o->rank; e++)
                settled |= o->shape[e] == b->shape[d];
        }
        if (!settled)
            return false;
    }
    return true;
}

static void drop_work(void *arg)
{
    AskCall *q = arg;
    Func *f = q->t->k->build.func;
    for (int i = f->params.n - 1; i >= 0; i--) {
        uint8_t *use = NEWN(q->t->k->build.arena, uint8_t, f->params.n + 1);
        func_uses(f, use);
        if (!f->params.at[i].buf || use[i] || f->params.at[i].out || !can_go(f, i))
            continue;
        memmove(&f->params.at[i], &f->params.at[i + 1],
                sizeof *f->params.at * (size_t)(f->params.n - i - 1));
        f->params.n--;
    }
    q->out = none();
}

/* Tensors that no kernel touches are no parameters any more. */
static PyObject *trace_drop(PyObject *self, PyObject *unused)
{
    AskCall q = {.t = (PyTrace *)self};
    (void)unused;
    if (!still_here(q.t))
        return NULL;
    return py_enter(q.t, drop_work, &q) ? q.out : NULL;
}

/* {name: int or str} of what the function says of itself: pass configs and compile_flags. */
static PyObject *trace_hints(PyObject *self, PyObject *unused)
{
    PyTrace *t = (PyTrace *)self;
    (void)unused;
    if (!still_here(t))
        return NULL;
    Hints h = t->k->build.func->hints;
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < h.n; i++) {
        int64_t n;
        PyObject *v = h.at[i].text ? PyUnicode_FromString(h.at[i].text)
                      : h.at[i].value && expr_is_int(h.at[i].value, &n) ? PyLong_FromLongLong(n)
                                                                        : NULL;
        if (v && PyDict_SetItemString(all, h.at[i].name, v) < 0)
            Py_CLEAR(all);
        Py_XDECREF(v);
        if (!v && PyErr_Occurred())
            Py_CLEAR(all);
    }
    return all;
}

/* [(parameter, dimension, whether its stride)] that gave T.const their values. */
static PyObject *trace_consts(PyObject *self, PyObject *unused)
{
    PyTrace *t = (PyTrace *)self;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (int i = 0; list && t->ev && i < t->ev->const_uses.n; i++) {
        const ConstUse *u = &t->ev->const_uses.at[i];
        PyObject *one = Py_BuildValue("siN", u->param, u->dim, PyBool_FromLong(u->is_stride));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* ---- compile --------------------------------------------------------------------------------- */

typedef struct {
    PyTrace *t;
    PyObject *outs, *configs;
    const char *flags, *name;
} SettleCall;

static void add_hint(PyTrace *t, Func *f, Hint h)
{
    Hint *all = NEWN(t->ev->arena, Hint, f->hints.n + 1);
    int n = 0;
    for (int i = 0; i < f->hints.n; i++) /* the caller's win over the function's own */
        if (strcmp(f->hints.at[i].name, h.name))
            all[n++] = f->hints.at[i];
    all[n++] = h;
    f->hints = (Hints){all, n};
}

static const char *words_of(PyTrace *t, PyObject *list)
{
    Str s;
    str_init(&s, t->ev->arena);
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++)
        str_printf(&s, "%s%s", i ? " " : "", text_of(t, PyList_GetItem(list, i), NULL));
    return s.s;
}

/* Values are bool, int, str, a list of str, or a dict: tilelang.jit sees to that. */
static void take_configs(SettleCall *q, Func *f)
{
    PyObject *key, *val;
    Py_ssize_t pos = 0;
    Ir *ir = q->t->ev->ir;
    while (q->configs && PyDict_Next(q->configs, &pos, &key, &val)) {
        const char *name = text_of(q->t, key, NULL);
        if (PyLong_Check(val))
            config_set(ir, NO_SPAN, &f->hints, name,
                       PyBool_Check(val) ? CONFIG_FLAG : CONFIG_NUMBER, PyLong_AsLongLong(val),
                       NULL);
        else if (PyUnicode_Check(val))
            config_set(ir, NO_SPAN, &f->hints, name, CONFIG_TEXT, 0, text_of(q->t, val, NULL));
        else if (PyList_Check(val))
            config_set(ir, NO_SPAN, &f->hints, name, CONFIG_WORDS, 0, words_of(q->t, val));
        else
            config_set(ir, NO_SPAN, &f->hints, name, CONFIG_TABLE, 0, "");
    }
    if (q->flags && q->flags[0])
        add_hint(q->t, f, (Hint){.name = ir_name(ir, "compile_flags"),
                                 .text = ir_name(ir, q->flags)});
}

static void settle(void *arg)
{
    SettleCall *q = arg;
    Func *f = q->t->k->build.func;
    if (q->outs != Py_None) {
        Value v = to_value(q->t, q->outs);
        mark_outputs(q->t->ev, f->span, f, &v);
    }
    take_configs(q, f);
    if (q->name)
        f->known_as = ir_name(q->t->ev->ir, q->name);
}

static PyObject *trace_compile(PyObject *self, PyObject *args, PyObject *keys)
{
    static char *words[] = {"target", "out_idx", "configs", "flags", "name", "no_cache",
                            "no_build", "threads", "skip", "dump", "check_each", "source",
                            NULL};
    PyTrace *t = (PyTrace *)self;
    SettleCall q = {.t = t, .outs = Py_None};
    tl_options o = TL_OPTIONS_INIT;
    int no_cache = 0, no_build = 0, check_each = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keys, "z|OO!zzppizzpz", words, &o.target, &q.outs,
                                     &PyDict_Type, &q.configs, &q.flags, &q.name, &no_cache,
                                     &no_build, &o.threads, &o.skip, &o.dump, &check_each,
                                     &o.source))
        return NULL;
    if (!still_here(t) || !py_enter(t, settle, &q))
        return NULL;
    o.no_cache = no_cache;
    o.no_build = no_build;
    o.check_each = check_each;
    return kernel_take(t, &o);
}

bool trace_types(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"text", trace_text, METH_NOARGS, "The IR as text."},
        {"params", trace_params, METH_NOARGS, "Names, dtypes and shapes of the parameters."},
        {"drop_unused", trace_drop, METH_NOARGS, "Tensors that nothing touches go."},
        {"hints", trace_hints, METH_NOARGS, "Pass configs and flags written in the function."},
        {"consts", trace_consts, METH_NOARGS, "Where the values of T.const came from."},
        {"compile", (PyCFunction)(void (*)(void))trace_compile, METH_VARARGS | METH_KEYWORDS,
         "Lower, emit and build; the trace is used up."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)trace_dealloc}, {Py_tp_traverse, (void *)trace_visit},
        {Py_tp_clear, (void *)trace_clear},     {Py_tp_methods, methods},
        {Py_tp_new, (void *)not_made},
        {0, NULL},
    };
    static PyType_Spec spec = {.name = "tilelang._core.Trace", .basicsize = sizeof(PyTrace),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .slots = slots};
    return module_type(module, "Trace", &py.trace_type, &spec, NULL);
}
