/* array.c -- numbers, numpy, torch, DLPack and __cuda_array_interface__ as tensors.  No copies. */
#include "py/py.h"

/* ---- dtypes ---------------------------------------------------------------------------------- */

static bool set_dtype(PyArray *out, const char *name)
{
    snprintf(out->dtype, sizeof out->dtype, "%s", name);
    out->t.dtype = out->dtype;
    return true;
}

static bool kind_dtype(PyArray *out, char kind, int bytes)
{
    char name[16];
    if (kind == 'b')
        return bytes == 1 && set_dtype(out, "bool");
    if (kind != 'f' && kind != 'i' && kind != 'u')
        return false;
    snprintf(name, sizeof name, "%s%d", kind == 'f' ? "float" : kind == 'i' ? "int" : "uint",
             8 * bytes);
    DType t;
    int lanes; /* float8 and float128 are no names */
    return dtype_parse(name, &t, &lanes) && set_dtype(out, name);
}

/* "torch.float16", "float8_e4m3fn", "<class 'ml_dtypes.bfloat16'>": the last word. */
static bool text_dtype(PyArray *out, PyObject *text)
{
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    DType t;
    int lanes;
    if (!s) {
        PyErr_Clear();
        return false;
    }
    const char *dot = strrchr(s, '.');
    s = dot ? dot + 1 : s;
    return dtype_parse(s, &t, &lanes) && lanes == 1 && set_dtype(out, dtype_name(t));
}

static bool attr_dtype(PyArray *out, PyObject *o)
{
    PyObject *d = PyObject_GetAttrString(o, "dtype"), *s = d ? PyObject_Str(d) : NULL;
    bool ok = s && text_dtype(out, s);
    Py_XDECREF(d);
    Py_XDECREF(s);
    PyErr_Clear();
    return ok;
}

/* ---- numpy: __array_struct__ ----------------------------------------------------------------- */

typedef struct { /* numpy's array interface, version 3 */
    int two, nd;
    char typekind;
    int itemsize, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
} ArrayStruct;

enum { NATIVE_ORDER = 0x200, WRITEABLE = 0x400 };

static bool too_many(const tl_param *p, int rank)
{
    py_refuse("argument '%s' has %d dimensions; the most is %d [argument-rank]",
              p->name, rank, TL_RANK);
    return false;
}

static bool unknown_dtype(PyObject *o, const tl_param *p)
{
    PyObject *d = PyObject_GetAttrString(o, "dtype"), *s = d ? PyObject_Str(d) : NULL;
    PyErr_Clear();
    if (s)
        py_refuse("kernel argument '%s' is expected as %s and got an array of %U, which kernels "
                  "cannot take [argument-dtype]", p->name, p->dtype, s);
    else
        py_refuse("kernel argument '%s' is expected as %s and got an array of a dtype that "
                  "kernels cannot take [argument-dtype]", p->name, p->dtype);
    Py_XDECREF(d);
    Py_XDECREF(s);
    return false;
}

static bool read_only(const tl_param *p)
{
    py_refuse("argument '%s' is written by the kernel and got an array that is read-only "
              "[argument-read-only]", p->name);
    return false;
}

/* numpy's own types under a byte have a byte each; kernels take them side by side. */
static bool one_a_byte(const tl_param *p, const PyArray *a)
{
    DType t;
    int lanes;
    if (!dtype_parse(a->dtype, &t, &lanes) || t == DT_BOOL || dtype_bits(t) >= 8)
        return false;
    py_refuse("kernel argument '%s' is expected as %s, %d elements in a byte, and got %s with a "
              "byte for each; pack them into uint8 [argument-dtype]",
              p->name, p->dtype, 8 / dtype_bits(t), a->dtype);
    return true;
}

static bool uneven(const tl_param *p)
{
    py_refuse("argument '%s' has strides that are no multiple of its elements, which kernels "
              "cannot take [argument-stride]", p->name);
    return false;
}

static bool from_struct(PyObject *capsule, PyObject *o, const tl_param *p, PyArray *out)
{
    const ArrayStruct *s = PyCapsule_GetPointer(capsule, NULL);
    if (!s || s->two != 2) {
        PyErr_Clear();
        py_refuse("argument '%s': its __array_struct__ cannot be read [argument-type]", p->name);
        return false;
    }
    if (s->nd > TL_RANK)
        return too_many(p, s->nd);
    if (!(s->flags & NATIVE_ORDER) || s->itemsize <= 0 ||
        (!kind_dtype(out, s->typekind, s->itemsize) && !attr_dtype(out, o)))
        return unknown_dtype(o, p);
    if (one_a_byte(p, out))
        return false;
    if (p->is_written && !(s->flags & WRITEABLE))
        return read_only(p);
    out->t.rank = MAX(s->nd, 0);
    for (int d = 0; d < s->nd; d++) {
        out->t.shape[d] = s->shape[d];
        if (s->strides[d] % s->itemsize)
            return uneven(p);
        out->t.stride[d] = s->strides[d] / s->itemsize;
    }
    out->t.data = s->data;
    out->device = 1;
    return true;
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

static bool dl_dtype(PyArray *out, const DlTensor *d)
{
    static const char *const word[] = {"int", "uint", "float", NULL, "bfloat", NULL, "bool"};
    static const char *const small[] = {"float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
                                        "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                                        "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",
                                        "float6_e3m2fn", "float4_e2m1fn"};
    char name[32];
    DType t;
    int lanes, code = d->dtype.code;
    if (code == 6)
        return set_dtype(out, "bool");
    if (code >= 7 && code - 7 < COUNT(small))
        snprintf(name, sizeof name, "%s", small[code - 7]);
    else if (code < COUNT(word) && word[code])
        snprintf(name, sizeof name, "%s%d", word[code], d->dtype.bits);
    else
        return false;
    return dtype_parse(name, &t, &lanes) && set_dtype(out, dtype_name(t));
}

static bool from_tensor(const DlTensor *d, const tl_param *p, PyArray *out)
{
    if (d->ndim > TL_RANK)
        return too_many(p, d->ndim);
    /* two elements of 4 bits make a byte */
    bool packed = d->dtype.lanes * d->dtype.bits == 8 && d->dtype.lanes > 1;
    if (packed ? !set_dtype(out, "uint8") : d->dtype.lanes != 1 || !dl_dtype(out, d)) {
        py_refuse("kernel argument '%s' is expected as %s and got an array of a dtype that "
                  "kernels cannot take [argument-dtype]", p->name, p->dtype);
        return false;
    }
    out->t.rank = MAX(d->ndim, 0);
    int64_t next = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] < 0 || (d->shape[i] && next > INT64_MAX / 16 / d->shape[i])) {
            py_refuse("argument '%s' has an extent of %lld [argument-shape]",
                      p->name, (long long)d->shape[i]);
            return false;
        }
        out->t.shape[i] = d->shape[i];
        out->t.stride[i] = d->strides ? d->strides[i] : next;
        next *= d->shape[i];
    }
    out->t.data = (char *)d->data + d->byte_offset;
    out->device = d->device.type == DL_CPU || d->device.type == DL_CUDA_HOST ? 1 : 2;
    out->device_id = d->device.id;
    return true;
}

typedef struct { /* DLManagedTensorVersioned */
    struct { uint32_t major, minor; } version;
    void *context, *release;
    uint64_t flags;
    DlTensor tensor;
} DlVersioned;

enum { DL_READ_ONLY = 1, DL_PADDED = 4 };

/* The capsule keeps what it owns: it is only looked into. */
static bool from_dlpack(PyObject *capsule, const tl_param *p, PyArray *out)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const DlVersioned *v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->version.major != 1) {
            py_refuse("argument '%s': DLPack %d is not known [argument-type]",
                      p->name, (int)v->version.major);
            return false;
        }
        if (p->is_written && v->flags & DL_READ_ONLY)
            return read_only(p);
        return from_tensor(&v->tensor, p, out) && !(v->flags & DL_PADDED && one_a_byte(p, out));
    }
    const DlTensor *d = PyCapsule_GetPointer(capsule, "dltensor");
    if (d)
        return from_tensor(d, p, out);
    PyErr_Clear();
    py_refuse("argument '%s': its __dlpack__ gives no tensor [argument-type]", p->name);
    return false;
}

/* With its flags where the producer knows of them. */
static PyObject *ask_dlpack(PyObject *o)
{
    PyObject *method = PyObject_GetAttrString(o, "__dlpack__");
    PyObject *args = PyTuple_New(0), *keys = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
    PyObject *capsule = NULL;
    if (method && args && keys) {
        capsule = PyObject_Call(method, args, keys);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            capsule = PyObject_Call(method, args, NULL);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(args);
    Py_XDECREF(keys);
    return capsule;
}

static bool from_torch(PyObject *o, const tl_param *p, PyArray *out);

/* DLPack's table of C functions, which torch's tensors have from 2.9 on: no object is made. */
typedef struct {
    struct { uint32_t major, minor; } version;
    void *previous;
    void *unused[3];
    int (*tensor)(void *object, DlTensor *out);
    int (*stream)(int32_t device_type, int32_t device, void **out);
} DlExchange;

/* The types met first: tensors and parameters of a module, most often. */
enum { TYPES_MOST = 4 };
static struct {
    PyTypeObject *type;
    const DlExchange *api;
    PyObject *is_neg; /* a method of torch's, or NULL */
} exchange[TYPES_MOST];

/* Some views of torch (x.conj().imag) turn the sign of what lies in memory when torch reads it. */
static bool sign_turns(PyObject *o)
{
    PyObject *yes = NULL;
    for (int i = 0; i < TYPES_MOST && exchange[i].type; i++)
        if (exchange[i].type == Py_TYPE(o)) {
            if (!exchange[i].is_neg)
                return false;
            yes = PyObject_CallFunctionObjArgs(exchange[i].is_neg, o, NULL);
            break;
        }
    if (!yes && !PyErr_Occurred())
        yes = PyObject_CallMethod(o, "is_neg", NULL);
    PyErr_Clear();
    Py_XDECREF(yes);
    return yes == Py_True;
}

static bool wrong_sign(const tl_param *p)
{
    py_refuse("argument '%s' is a view of torch that turns the sign of its elements; "
              "resolve_neg() gives them as they are read [argument-sign]", p->name);
    return false;
}

static const DlExchange *exchange_ask(PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const DlExchange *api =
        capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    if (!api || api->version.major != 1 || !api->tensor)
        return NULL;
    for (int i = 0; i < TYPES_MOST; i++)
        if (!exchange[i].type) {
            Py_INCREF(type);
            exchange[i].type = type;
            exchange[i].api = api;
            exchange[i].is_neg = PyObject_GetAttrString((PyObject *)type, "is_neg");
            PyErr_Clear();
            break;
        }
    return api;
}

static const DlExchange *exchange_of(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    for (int i = 0; i < TYPES_MOST && exchange[i].type; i++)
        if (exchange[i].type == type)
            return exchange[i].api;
    return exchange_ask(type);
}

bool array_raw(PyObject *o, DlTensor *out)
{
    const DlExchange *api = exchange_of(o);
    if (api && api->tensor(o, out) == 0)
        return !sign_turns(o);
    PyErr_Clear();
    return false;
}

static bool from_exchange(const DlExchange *api, PyObject *o, const tl_param *p, PyArray *out)
{
    DlTensor d;
    if (api->tensor(o, &d) == 0)
        return from_tensor(&d, p, out);
    PyErr_Clear(); /* tensors with a gradient, conjugates … */
    return from_torch(o, p, out);
}

static bool stream_of_torch(int device, void **stream)
{
    PyObject *name = PyUnicode_InternFromString("torch");
    PyObject *torch = name ? PyImport_GetModule(name) : NULL;
    PyObject *cuda = torch ? PyObject_GetAttrString(torch, "cuda") : NULL;
    PyObject *now = cuda ? PyObject_CallMethod(cuda, "current_stream", "i", device) : NULL;
    PyObject *raw = now ? PyObject_GetAttrString(now, "cuda_stream") : NULL;
    *stream = raw ? PyLong_AsVoidPtr(raw) : NULL;
    bool ok = raw && !PyErr_Occurred();
    Py_XDECREF(name);
    Py_XDECREF(torch);
    Py_XDECREF(cuda);
    Py_XDECREF(now);
    Py_XDECREF(raw);
    PyErr_Clear();
    return ok;
}

bool array_stream(PyObject *o, int device, void **stream)
{
    const DlExchange *api = exchange_of(o);
    *stream = NULL;
    if (api && api->stream && api->stream(DL_CUDA, device, stream) == 0)
        return true;
    PyErr_Clear();
    return stream_of_torch(device, stream);
}

/* ---- torch: by its methods, without importing it --------------------------------------------- */

static int64_t int_of(PyObject *o)
{
    int64_t v = o ? PyLong_AsLongLong(o) : -1;
    Py_XDECREF(o);
    return v;
}

static bool torch_unread(PyObject *o, const tl_param *p)
{
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    py_refuse("kernel argument '%s' is expected as a tensor of %s and got %V, which is no tensor "
              "with elements in memory [argument-type]", p->name, p->dtype, type, "an object");
    Py_XDECREF(type);
    return false;
}

static bool torch_extents(PyObject *shape, PyObject *stride, const tl_param *p, PyArray *out)
{
    Py_ssize_t n = PyTuple_Size(stride);
    if (n > TL_RANK)
        return too_many(p, (int)n);
    for (Py_ssize_t d = 0; d < n; d++) {
        out->t.shape[d] = int_of(PySequence_GetItem(shape, d));
        out->t.stride[d] = PyLong_AsLongLong(PyTuple_GetItem(stride, d));
        if (PyErr_Occurred())
            return false;
    }
    out->t.rank = (int)n;
    return true;
}

/* Sparse tensors and those of a library below torch have no elements at strides. */
static bool is_strided(PyObject *o, const tl_param *p)
{
    PyObject *layout = PyObject_GetAttrString(o, "layout");
    PyObject *text = layout ? PyObject_Str(layout) : NULL;
    const char *word = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    bool ok = !word || !strcmp(word, "torch.strided");
    PyErr_Clear();
    if (!ok)
        py_refuse("argument '%s' is a tensor of the layout %U; kernels take elements at strides, "
                  "which to_dense() gives [argument-layout]", p->name, text);
    Py_XDECREF(layout);
    Py_XDECREF(text);
    return ok;
}

static bool from_torch(PyObject *o, const tl_param *p, PyArray *out)
{
    if (!is_strided(o, p))
        return false;
    PyObject *shape = PyObject_GetAttrString(o, "shape");
    PyObject *stride = shape ? PyObject_CallMethod(o, "stride", NULL) : NULL;
    PyObject *cuda = stride ? PyObject_GetAttrString(o, "is_cuda") : NULL;
    bool ok = cuda && PyTuple_Check(stride);
    if (!ok) {
        PyErr_Clear();
        torch_unread(o, p);
    } else if (!attr_dtype(out, o)) {
        py_refuse("kernel argument '%s' is expected as %s and got a tensor of a dtype that "
                  "kernels cannot take [argument-dtype]", p->name, p->dtype);
        ok = false;
    }
    ok = ok && torch_extents(shape, stride, p, out);
    if (ok) {
        out->t.data = (void *)(intptr_t)int_of(PyObject_CallMethod(o, "data_ptr", NULL));
        out->device = cuda == Py_True ? 2 : 1;
        ok = !PyErr_Occurred();
    }
    if (ok && out->device == 2) {
        out->device_id = (int)int_of(PyObject_CallMethod(o, "get_device", NULL));
        PyErr_Clear();
    }
    Py_XDECREF(shape);
    Py_XDECREF(stride);
    Py_XDECREF(cuda);
    return ok;
}

/* ---- __cuda_array_interface__ ---------------------------------------------------------------- */

static bool cuda_typestr(PyArray *out, PyObject *s)
{
    const char *text = s ? PyUnicode_AsUTF8AndSize(s, NULL) : NULL;
    size_t n = text ? strlen(text) : 0;
    return n >= 3 && n <= 4 && text[0] != '>' && kind_dtype(out, text[1], atoi(text + 2));
}

static bool cuda_unread(const tl_param *p)
{
    py_refuse("argument '%s': its __cuda_array_interface__ cannot be read [argument-type]",
              p->name);
    return false;
}

static bool cuda_extents(PyObject *shape, PyObject *strides, const tl_param *p, PyArray *out)
{
    int64_t next = 1, size = tl_dtype_bytes(out->dtype, 1);
    Py_ssize_t n = PyTuple_Size(shape);
    if (n > TL_RANK)
        return too_many(p, (int)n);
    if (strides && (!PyTuple_Check(strides) || PyTuple_Size(strides) != n))
        return cuda_unread(p);
    for (Py_ssize_t i = n - 1; i >= 0; i--) {
        int64_t extent = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        int64_t by = strides ? PyLong_AsLongLong(PyTuple_GetItem(strides, i)) : next * size;
        if (PyErr_Occurred() || extent < 0 || (extent && next > INT64_MAX / 16 / extent)) {
            PyErr_Clear();
            return cuda_unread(p);
        }
        if (size <= 0 || by % size)
            return uneven(p);
        out->t.shape[i] = extent;
        out->t.stride[i] = by / size;
        next *= extent;
    }
    out->t.rank = (int)n;
    return true;
}

/* The values stay: what is asked of the array may change its dictionary. */
static bool wrong_mask(const tl_param *p)
{
    py_refuse("argument '%s' is an array with a mask, which kernels do not see; give "
              "filled(value) or its data [argument-layout]", p->name);
    return false;
}

static bool from_cuda(PyObject *d, PyObject *o, const tl_param *p, PyArray *out)
{
    static const char *const words[] = {"shape", "data", "strides", "typestr"};
    PyObject *v[COUNT(words)] = {NULL};
    if (!PyDict_Check(d))
        return cuda_unread(p);
    PyObject *mask = PyDict_GetItemString(d, "mask");
    if (mask && mask != Py_None)
        return wrong_mask(p);
    for (int i = 0; i < COUNT(words); i++) {
        v[i] = PyDict_GetItemString(d, words[i]);
        Py_XINCREF(v[i]);
    }
    PyObject *shape = v[0], *data = v[1], *strides = v[2] == Py_None ? NULL : v[2];
    bool ok = shape && data && PyTuple_Check(shape) && PyTuple_Check(data) &&
              PyTuple_Size(data) > 0 && (cuda_typestr(out, v[3]) || attr_dtype(out, o));
    PyErr_Clear();
    ok = ok ? cuda_extents(shape, strides, p, out) : cuda_unread(p);
    if (ok && p->is_written && PyTuple_Size(data) > 1 &&
        PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1)
        ok = read_only(p);
    if (ok) {
        out->t.data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
        out->device = 2;
        ok = !PyErr_Occurred() || (PyErr_Clear(), cuda_unread(p));
    }
    for (int i = 0; i < COUNT(words); i++)
        Py_XDECREF(v[i]);
    return ok;
}

/* ---- scalars --------------------------------------------------------------------------------- */

static bool wrong_scalar(const tl_param *p, PyObject *o)
{
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    py_refuse("kernel argument '%s' is expected as one number of type %s and got %U "
              "[argument-type]", p->name, p->dtype, type);
    Py_XDECREF(type);
    return false;
}

static bool int_fits(const tl_param *p, PyObject *i, DType t, int64_t *out)
{
    int overflow, bits = dtype_bits(t);
    long long v = PyLong_AsLongLongAndOverflow(i, &overflow);
    bool is_unsigned = dtype_is_unsigned(t), ok = !overflow;
    if (overflow > 0 && is_unsigned && bits == 64) {
        v = (long long)PyLong_AsUnsignedLongLong(i);
        ok = !PyErr_Occurred();
    } else if (ok && bits < 64) {
        ok = is_unsigned ? v >= 0 && v < 1ll << bits
                         : v >= -(1ll << (bits - 1)) && v < 1ll << (bits - 1);
    } else if (ok && is_unsigned) {
        ok = v >= 0;
    }
    PyErr_Clear();
    *out = v;
    if (!ok)
        py_refuse("kernel argument '%s' is expected as %s and got %S, which does not fit "
                  "[argument-range]", p->name, p->dtype, i);
    return ok;
}

/* A whole number; bools of numpy and torch are none to Python, but hold one. */
static PyObject *index_of(PyObject *o)
{
    PyObject *i = PyNumber_Index(o);

    if (i)
        return i;
    PyErr_Clear();
    i = PyObject_CallMethod(o, "item", NULL);
    if (i && PyBool_Check(i))
        return i;
    Py_XDECREF(i);
    PyErr_Clear();
    return NULL;
}

static bool from_number(PyObject *o, const tl_param *p, PyArray *out)
{
    DType t;
    int lanes;
    if (!dtype_parse(p->dtype, &t, &lanes))
        return wrong_scalar(p, o);
    set_dtype(out, p->dtype);
    out->t.data = &out->scalar;
    out->device = 1;
    if (dtype_is_float(t)) {
        double f = PyFloat_AsDouble(o);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return wrong_scalar(p, o);
        }
        num_store(t, &out->scalar, 0, f, 0);
        return true;
    }
    PyObject *i = index_of(o);
    int64_t v;
    if (!i)
        return wrong_scalar(p, o);
    bool ok = t == DT_BOOL || t == DT_HANDLE ? (v = PyLong_AsLongLong(i), true)
                                             : int_fits(p, i, t, &v);
    Py_DECREF(i);
    if (ok)
        num_store(t, &out->scalar, 0, 0, t == DT_BOOL ? v != 0 : v);
    return ok && !PyErr_Occurred();
}

/* A pointer parameter takes the address of a tensor. */
static bool from_pointer(PyObject *o, const tl_param *p, PyArray *out)
{
    tl_param any = *p;
    any.is_scalar = false;
    if (PyLong_Check(o))
        return from_number(o, p, out);
    if (!array_of(o, &any, out))
        return false;
    out->scalar = (int64_t)(intptr_t)out->t.data;
    out->t = (tl_tensor){.data = &out->scalar};
    return set_dtype(out, p->dtype);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Formats that share their bits with what is expected, and packed elements. */
static void accept_alike(const tl_param *p, PyArray *out)
{
    DType want, got;
    int lanes;
    if (!dtype_parse(p->dtype, &want, &lanes) || !dtype_parse(out->dtype, &got, &lanes))
        return;
    int bits = dtype_bits(want), r = out->t.rank;
    bool byte = got == DT_I8 || got == DT_U8;
    if (bits < 8 && byte && r > 0 && r == p->rank) {
        if (p->shape[r - 1] >= 0 && p->shape[r - 1] * bits != out->t.shape[r - 1] * 8)
            return;
        int times = 8 / bits;
        out->t.shape[r - 1] *= times;
        for (int d = 0; d + 1 < r; d++)
            out->t.stride[d] *= times;
        set_dtype(out, p->dtype);
    } else if ((want == DT_BOOL && byte) || (got == DT_BOOL && bits == 8 && dtype_is_int(want)) ||
               (dtype_is_float(want) && dtype_is_float(got) && bits == dtype_bits(got) &&
                bits == 8 && !strncmp(p->dtype, out->dtype, 10))) {
        set_dtype(out, p->dtype);
    } else if (!strcmp(p->dtype, "tfloat32") && got == DT_F32) {
        set_dtype(out, p->dtype);
    }
}

static bool made_by(PyObject *o, const char *package)
{
    PyObject *m = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    const char *s = m && PyUnicode_Check(m) ? PyUnicode_AsUTF8AndSize(m, NULL) : NULL;
    bool yes = s && !strncmp(s, package, strlen(package));
    Py_XDECREF(m);
    PyErr_Clear();
    return yes;
}

/* numpy's masked arrays, and classes made from them. */
static bool is_masked(PyObject *o)
{
    if (!made_by(o, "numpy.ma") && made_by(o, "numpy"))
        return false;
    PyObject *mask = PyObject_GetAttrString(o, "mask");
    PyObject *filled = mask ? PyObject_GetAttrString(o, "filled") : NULL;
    bool yes = filled != NULL;
    Py_XDECREF(mask);
    Py_XDECREF(filled);
    PyErr_Clear();
    return yes;
}

static bool read_array(PyObject *o, const tl_param *p, PyArray *out)
{
    PyObject *x;
    const DlExchange *api = exchange_of(o);
    if (api)
        return sign_turns(o) ? wrong_sign(p) : from_exchange(api, o, p, out);
    if (made_by(o, "torch"))
        return sign_turns(o) ? wrong_sign(p) : from_torch(o, p, out);
    if (p->is_written && made_by(o, "jax")) {
        py_refuse("argument '%s' is written by the kernel and got an array of JAX, which never "
                  "change; name it in out_idx [argument-read-only]", p->name);
        return false;
    }
    if (PyCapsule_CheckExact(o))
        return from_dlpack(o, p, out);
    if ((x = PyObject_GetAttrString(o, "__array_struct__")) != NULL) {
        out->hold = x;
        if (is_masked(o))
            return wrong_mask(p);
        return from_struct(x, o, p, out);
    }
    PyErr_Clear();
    if (sign_turns(o))
        return wrong_sign(p);
    if ((x = PyObject_GetAttrString(o, "__cuda_array_interface__")) != NULL) {
        out->hold = x;
        return from_cuda(x, o, p, out);
    }
    PyErr_Clear();
    if ((x = ask_dlpack(o)) != NULL) {
        out->hold = x;
        return from_dlpack(x, p, out);
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return false;
    PyErr_Clear();
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    py_refuse("kernel argument '%s' is expected as a tensor of %s and got %U, which is no array "
              "(numpy, torch, DLPack, __cuda_array_interface__) [argument-type]",
              p->name, p->dtype, type);
    Py_XDECREF(type);
    return false;
}

/* Strides that are all zero would say "contiguous" to the library. */
static bool one_for_all(const tl_param *p, const PyArray *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->t.rank; d++) {
        if (a->t.stride[d])
            return false;
        n *= a->t.shape[d];
    }
    if (n <= 1)
        return false;
    py_refuse("argument '%s' has stride 0 in every dimension: one element stands for all of them, "
              "which kernels cannot take [argument-stride]", p->name);
    return true;
}

bool array_of(PyObject *o, const tl_param *p, PyArray *out)
{
    if (p->is_scalar && !strcmp(p->dtype, "handle"))
        return from_pointer(o, p, out);
    if (p->is_scalar)
        return from_number(o, p, out);
    if (o == Py_None && !p->is_read && !p->is_written) {
        set_dtype(out, p->dtype);
        out->t.rank = p->rank;
        memcpy(out->t.shape, p->shape, sizeof p->shape);
        if (p->rank > 0)
            out->t.shape[0] = TL_ABSENT;
        out->t.data = p->rank > 0 ? NULL : (void *)&out->scalar;
        return true;
    }
    if (!read_array(o, p, out) || one_for_all(p, out)) {
        Py_CLEAR(out->hold);
        return false;
    }
    accept_alike(p, out);
    return true;
}

void array_done(PyArray *a)
{
    Py_CLEAR(a->hold);
}
