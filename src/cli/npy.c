/* npy.c -- NumPy's .npy files, versions 1 and 2.
 *
 *     \x93NUMPY major minor length {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *
 * Types NumPy does not have travel as unsigned integers of the same width; as ml_dtypes saves them
 * they are taken too, though of most 8-bit floats the file does not say which one it is. */
#include <stdlib.h>
#include "cli/cli.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, HEAD_ALIGN = 64 };

static const struct {
    const char *descr, *dtype;
} descr_table[] = {
    {"|b1", "bool"},   {"|i1", "int8"},   {"<i2", "int16"},  {"<i4", "int32"},   {"<i8", "int64"},
    {"|u1", "uint8"},  {"<u2", "uint16"}, {"<u4", "uint32"}, {"<u8", "uint64"},  {"<f2", "float16"},
    {"<f4", "float32"}, {"<f8", "float64"},
};

static const char some_float8[] = "float8";

static const char *dtype_of_descr(const char *descr)
{
    if (!strcmp(descr, "<V2"))
        return "bfloat16";
    if (!strcmp(descr, "<f1"))
        return "float8_e5m2";
    if (!strcmp(descr, "<V1"))
        return some_float8;

    for (int i = 0; i < COUNT(descr_table); i++)
        if (!strcmp(descr_table[i].descr, descr) ||
            (descr[0] == '<' && descr_table[i].descr[0] == '|' &&
             !strcmp(descr_table[i].descr + 1, descr + 1)))
            return descr_table[i].dtype;
    return NULL;
}

static const char *descr_of_dtype(const char *dtype)
{
    for (int i = 0; i < COUNT(descr_table); i++)
        if (!strcmp(descr_table[i].dtype, dtype))
            return descr_table[i].descr;
    switch (tl_dtype_bytes(dtype, 1)) {
    case 1: return "|u1";
    case 2: return "<u2";
    case 4: return !strcmp(dtype, "tfloat32") ? "<f4" : "<u4";
    case 8: return "<u8";
    default: return NULL;
    }
}

static bool is_packed(const char *dtype)
{
    return tl_dtype_bytes(dtype, 2) == 1;
}

bool npy_fits(const char *file_dtype, const char *param_dtype)
{
    if (!strcmp(file_dtype, param_dtype) ||
        (!strcmp(file_dtype, "int8") && is_packed(param_dtype)))
        return true;
    if (file_dtype == some_float8)
        return !strncmp(param_dtype, some_float8, strlen(some_float8));
    const char *descr = descr_of_dtype(param_dtype);
    return descr && !strcmp(dtype_of_descr(descr), file_dtype);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What follows 'key': in the header. */
static const char *after_key(const char *head, const char *key)
{
    char quoted[32];

    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *s = strstr(head, quoted);
    if (!s)
        return NULL;
    s += strlen(quoted);
    s += strspn(s, " \t");
    if (*s != ':')
        return NULL;
    return s + 1 + strspn(s + 1, " \t");
}

static bool take_descr(Arena *a, const char *head, tl_tensor *t, const char **why)
{
    const char *s = after_key(head, "descr");

    if (!s || (*s != '\'' && *s != '"')) {
        *why = "its header has no simple 'descr'";
        return false;
    }
    char quote = *s++;
    const char *end = strchr(s, quote);
    const char *descr = end ? arena_strndup(a, s, (size_t)(end - s)) : "";
    t->dtype = dtype_of_descr(descr);
    if (!t->dtype)
        *why = arena_printf(a, "arrays of '%s' are not supported; save it as little-endian numbers",
                            descr);
    return t->dtype != NULL;
}

static bool take_shape(const char *head, tl_tensor *t, const char **why)
{
    const char *s = after_key(head, "shape"), *order = after_key(head, "fortran_order");

    if (!s || *s != '(' || !order) {
        *why = "its header has no shape";
        return false;
    }
    for (s++; *s && *s != ')';) {
        char *end;
        int64_t n = strtoll(s, &end, 10);
        if (end == s || t->rank == TL_RANK || n < 0) {
            *why = "its shape is malformed or has more than 8 dimensions";
            return false;
        }
        t->shape[t->rank++] = n;
        s = end + strspn(end, "L, ");
    }
    if (!strncmp(order, "True", 4) && t->rank > 1) {
        *why = "it is in Fortran order; save numpy.ascontiguousarray(x)";
        return false;
    }
    return true;
}

static bool take_header(Arena *a, const unsigned char *p, size_t n, tl_tensor *t, size_t *start,
                        const char **why)
{
    if (n < 10 || memcmp(p, magic, MAGIC_BYTES) != 0) {
        *why = "it is not a .npy file";
        return false;
    }
    size_t len = (size_t)p[8] | (size_t)p[9] << 8, at = 10;
    if (p[6] >= 2 && n >= 12) {
        len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
        at = 12;
    }
    if (p[6] < 1 || p[6] > 3 || at + len > n) {
        *why = "its header is cut short or of an unknown version";
        return false;
    }
    const char *head = arena_strndup(a, (const char *)p + at, len);
    *start = at + len;
    return take_descr(a, head, t, why) && take_shape(head, t, why);
}

bool npy_read(Arena *a, const char *path, tl_tensor *t, const char **why)
{
    char *data;
    size_t n, start;
    const char *reason = "";

    *t = (tl_tensor){0};
    if (file_read(a, path, &data, &n, why) != STATUS_OK)
        return false;
    if (!take_header(a, (const unsigned char *)data, n, t, &start, &reason)) {
        *why = arena_printf(a, "cannot read %s: %s", path, reason);
        return false;
    }
    int64_t nelem = 1;
    for (int d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(nelem, t->shape[d], &nelem))
            nelem = INT64_MAX / 64;
    size_t nbytes = t->dtype == some_float8 ? (size_t)nelem
                                            : (size_t)tl_dtype_bytes(t->dtype, nelem);
    if (start + nbytes > n) {
        *why = arena_printf(a, "cannot read %s: it has %zu bytes of data where its shape needs %zu",
                            path, n - start, nbytes);
        return false;
    }
    t->data = aligned_alloc(64, (nbytes + 64) / 64 * 64);
    if (!t->data) {
        *why = "out of memory";
        return false;
    }
    memcpy(t->data, data + start, nbytes);
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Four-bit types: bytes of two, so the last dimension is halved. */
static void put_shape(Str *out, const tl_tensor *t)
{
    str_putc(out, '(');
    for (int d = 0; d < t->rank; d++) {
        int64_t n = t->shape[d];
        if (d == t->rank - 1 && is_packed(t->dtype))
            n = (n + 1) / 2;
        str_printf(out, "%lld,%s", (long long)n, d + 1 < t->rank ? " " : "");
    }
    str_putc(out, ')');
}

bool npy_write(Arena *a, const char *path, const tl_tensor *t, const char **why)
{
    const char *descr = descr_of_dtype(t->dtype);
    Str head, file;

    if (!descr) {
        *why = arena_printf(a, "%s cannot be written to a .npy file", t->dtype);
        return false;
    }
    str_init(&head, a);
    str_printf(&head, "{'descr': '%s', 'fortran_order': False, 'shape': ", descr);
    put_shape(&head, t);
    str_puts(&head, ", }");
    while ((MAGIC_BYTES + 4 + head.n + 1) % HEAD_ALIGN)
        str_putc(&head, ' ');
    str_putc(&head, '\n');

    size_t nbytes = (size_t)tl_dtype_bytes(t->dtype, tensor_elements(t));
    char fixed[4] = {1, 0, (char)(head.n & 255), (char)(head.n >> 8)};
    str_init(&file, a);
    str_putn(&file, magic, MAGIC_BYTES);
    str_putn(&file, fixed, 4);
    str_putn(&file, head.s, head.n);
    str_putn(&file, t->data, nbytes);
    return file_write(a, path, file.s, file.n, why) == STATUS_OK;
}
