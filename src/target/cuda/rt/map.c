/* map.c -- tensor maps: what the copy engine of a GPU is told about a tensor.
 *
 * The rules are the driver's.  Those that arguments can break are checked here, where the message
 * can name the argument. */
#include "target/cuda/rt/cuda.h"

/* CUtensorMapDataType; types it does not know travel as integers of their width. */
static const struct {
    DType type;
    int code;
} type_table[] = {
    {DT_F16, 6}, {DT_F32, 7}, {DT_F64, 8}, {DT_BF16, 9}, {DT_I32, 3}, {DT_I64, 5},
};

enum { BYTES_1 = 0, BYTES_2 = 1, BYTES_4 = 2, BYTES_8 = 4, PROMOTE_256 = 3, GAPS = 14,
       GAPS_ALIGN = 32, GAPS_ROW = 128 };

int cuda_map_type(const TensorMap *m)
{
    DType t = m->buf->type;
    int bits = dtype_bits(t);

    if (m->gaps)
        return GAPS;
    for (int i = 0; i < COUNT(type_table); i++)
        if (type_table[i].type == t)
            return type_table[i].code;
    return bits <= 8 ? BYTES_1 : bits == 16 ? BYTES_2 : bits == 32 ? BYTES_4 : BYTES_8;
}

/* Of addresses and strides. */
static int align_of(const TensorMap *m)
{
    return m->gaps ? GAPS_ALIGN : TENSOR_ALIGN;
}

__attribute__((format(printf, 3, 4))) static bool refuse(char *text, size_t ntext, const char *fmt,
                                                         ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, ntext, fmt, ap);
    va_end(ap);
    return false;
}

static bool take_stride(const TensorMap *m, int d, int64_t elements, MapShape *s, char *text,
                        size_t ntext)
{
    const char *name = buffer_root(m->buf)->name;
    int64_t bits = elements * dtype_bits(m->buf->type), nbytes = bits / 8;

    if (s->dim[d] == 1) /* nothing is reached over it: any legal number */
        nbytes = (MAX(nbytes, 1) + align_of(m) - 1) / align_of(m) * align_of(m);
    else if (bits % (8 * align_of(m)) || nbytes <= 0)
        return refuse(text, ntext,
                      "argument '%s' has a stride of %lld bytes; this kernel needs multiples of %d "
                      "[argument-alignment]",
                      name, (long long)nbytes, align_of(m));
    if (nbytes >= (int64_t)1 << 40)
        return refuse(text, ntext,
                      "argument '%s' has a stride of %lld bytes; a GPU takes less than 2^40 "
                      "[argument-stride]",
                      name, (long long)nbytes);
    s->stride[d - 1] = (uint64_t)nbytes;
    return true;
}

bool cuda_map_shape(const TensorMap *m, const int64_t *values, MapShape *s, char *text,
                    size_t ntext)
{
    const char *name = buffer_root(m->buf)->name;
    int bits = dtype_bits(m->buf->type), per = bits < 8 && !m->gaps ? 8 / bits : 1;

    *s = (MapShape){.map = m, .type = cuda_map_type(m), .rank = (uint32_t)m->rank};
    BUG(m->rank < 1 || m->rank > 5, "a tensor map of rank %d", m->rank);
    for (int d = 0; d < m->rank; d++) {
        int64_t n = expr_eval(m->dim[d], values);
        s->empty |= n <= 0;
        if (n > (int64_t)1 << 32 || (d == 0 && n % per))
            return refuse(text, ntext,
                          "argument '%s' has a dimension of %lld; this kernel takes %s "
                          "[argument-shape]",
                          name, (long long)n,
                          d == 0 && n % per ? "an even number" : "at most 2^32");
        if (d == 0 && m->gaps && n % GAPS_ROW)
            return refuse(text, ntext,
                          "argument '%s' has a dimension of %lld; this kernel takes multiples of "
                          "%d [argument-shape]", name, (long long)n, GAPS_ROW);
        s->dim[d] = (uint64_t)(d ? n : n / per);
        s->box[d] = (uint32_t)(d ? m->box[d] : m->box[d] / per);
    }
    if (s->empty)
        return true;
    if (m->stride[0] && expr_eval(m->stride[0], values) != 1 && s->dim[0] > 1)
        return refuse(text, ntext,
                      "argument '%s': neighbours of its last dimension are not neighbours in "
                      "memory [argument-stride]",
                      name);
    for (int d = 1; d < m->rank; d++)
        if (!take_stride(m, d, expr_eval(m->stride[d], values), s, text, ntext))
            return false;
    return true;
}

static int encode_pixels(const CudaMaps *by, const MapShape *s, DevicePtr at, void *out,
                         int swizzle)
{
    const TensorMap *m = s->map;
    const uint32_t step[5] = {1, (uint32_t)m->step, (uint32_t)m->step, 1, 1};
    const int lower[2] = {m->lower, m->lower}, upper[2] = {m->upper, m->upper};

    return by->im2col(out, s->type, s->rank, (void *)(uintptr_t)at, s->dim, s->stride, lower, upper,
                      s->box[0], s->box[1], step, 0, swizzle, PROMOTE_256, 0);
}

Status cuda_map_encode(const Gpu *g, const CudaMaps *by, const MapShape *s, DevicePtr at, void *out,
                       char *text, size_t ntext)
{
    static const uint32_t step[5] = {1, 1, 1, 1, 1};
    const TensorMap *m = s->map;
    const char *name = buffer_root(m->buf)->name;
    int swizzle = m->swizzle == 128 ? 3 : m->swizzle == 64 ? 2 : m->swizzle == 32 ? 1 : 0;

    memset(out, 0, MAP_BYTES);
    if (s->empty)
        return STATUS_OK;
    if (at % (DevicePtr)align_of(m)) {
        refuse(text, ntext,
               "argument '%s' starts at address 0x%llx; this kernel needs a multiple of %d bytes "
               "[argument-alignment]",
               name, at, align_of(m));
        return STATUS_USER;
    }
    if (m->im2col ? !by->im2col : !by->tiled) {
        refuse(text, ntext, "this driver is too old for bulk tensor copies; it has no "
               "cuTensorMapEncode%s %s", m->im2col ? "Im2col" : "Tiled", g->tag);
        return STATUS_TOOL;
    }
    int r = m->im2col ? encode_pixels(by, s, at, out, swizzle)
                      : by->tiled(out, s->type, s->rank, (void *)(uintptr_t)at, s->dim, s->stride,
                                  s->box, step, 0, swizzle, PROMOTE_256, 0);
    char what[96];
    snprintf(what, sizeof what, "argument '%.60s': its tensor map", name);
    return r ? gpu_failed(g, r, what, text, ntext) : STATUS_OK;
}
