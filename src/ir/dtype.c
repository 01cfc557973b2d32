/* dtype.c -- the number types: names, sizes, limits, and which type an operation has. */
#include "ir/ir.h"

const DTypeInfo dtype_table[DT_COUNT] = {
#define DTYPE(id, name, bits, kind, e, m, c) [DT_##id] = {name, bits, kind, e, m, c},
#include "ir/dtype.def"
#undef DTYPE
};

typedef struct {
    const char *text;
    DType type;
} Alias;

static const Alias aliases[] = {
    {"short", DT_I16},         {"int", DT_I32},
    {"long", DT_I64},          {"uint", DT_U32},
    {"half", DT_F16},          {"float", DT_F32},
    {"double", DT_F64},        {"boolean", DT_BOOL},
    {"bf16", DT_BF16},         {"fp16", DT_F16},
    {"fp32", DT_F32},          {"tf32", DT_TF32},
    {"float8_e4m3", DT_E4M3},  {"e3m4", DT_E3M4},
    {"e4m3", DT_E4M3},         {"e4m3fn", DT_E4M3},
    {"e4m3b11fnuz", DT_E4M3B11}, {"e4m3fnuz", DT_E4M3FNUZ},
    {"e5m2", DT_E5M2},         {"e5m2fnuz", DT_E5M2FNUZ},
    {"e8m0fnu", DT_E8M0},      {"e8m0", DT_E8M0},
    {"e2m3fn", DT_E2M3},       {"e2m3", DT_E2M3},
    {"e3m2fn", DT_E3M2},       {"e3m2", DT_E3M2},
    {"e2m1fn", DT_E2M1},       {"e2m1", DT_E2M1},
    {"float4_e2m1", DT_E2M1},  {"ptr", DT_HANDLE},
};

const char *dtype_name(DType t)
{
    return t < DT_COUNT ? dtype_table[t].name : "none";
}

static bool name_is(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static bool dtype_find(const char *text, size_t n, DType *t)
{
    for (int i = 0; i < DT_COUNT; i++) {
        if (name_is(dtype_table[i].name, text, n)) {
            *t = (DType)i;
            return true;
        }
    }
    for (int i = 0; i < COUNT(aliases); i++) {
        if (name_is(aliases[i].text, text, n)) {
            *t = aliases[i].type;
            return true;
        }
    }
    return false;
}

bool dtype_parse(const char *text, DType *t, int *lanes)
{
    size_t n = text ? strlen(text) : 0, digits = n;
    int count = 0;
    if (n == 0)
        return false;
    if (dtype_find(text, n, t)) {
        if (lanes)
            *lanes = 1;
        return true;
    }
    while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
        digits--;
    if (digits == n || digits < 2 || text[digits - 1] != 'x' || n - digits > 3)
        return false;
    for (size_t i = digits; i < n; i++)
        count = count * 10 + (text[i] - '0');
    if (count < 1 || !lanes || !dtype_find(text, digits - 1, t))
        return false;
    *lanes = count;
    return true;
}

int dtype_bits(DType t)
{
    return dtype_table[t].bits;
}

int64_t dtype_bytes(DType t, int64_t nelems)
{
    return dtype_table[t].bits == 4 ? (nelems + 1) / 2 : nelems * (dtype_table[t].bits / 8);
}

bool dtype_has_inf(DType t)
{
    switch (t) {
    case DT_F64: case DT_F32: case DT_TF32: case DT_F16: case DT_BF16: case DT_E5M2: case DT_E3M4:
        return true;
    default:
        return false;
    }
}

double dtype_max(DType t)
{
    if (dtype_table[t].kind == 'F')
        return num_largest(t);
    if (t == DT_U64)
        return 18446744073709551616.0;
    return (double)dtype_int_max(t);
}

double dtype_min(DType t)
{
    if (t == DT_E8M0)
        return num_decode(t, 0);
    return dtype_table[t].kind == 'F' ? -num_largest(t) : (double)dtype_int_min(t);
}

int64_t dtype_int_max(DType t)
{
    const DTypeInfo *d = &dtype_table[t];
    if (d->kind == 'B')
        return 1;
    if (d->kind == 'I')
        return (int64_t)(UINT64_MAX >> (65 - d->bits));
    return (int64_t)(UINT64_MAX >> (64 - d->bits));
}

int64_t dtype_int_min(DType t)
{
    return dtype_table[t].kind == 'I' ? -dtype_int_max(t) - 1 : 0;
}

DType dtype_join(DType a, DType b)
{
    const DTypeInfo *x = &dtype_table[a], *y = &dtype_table[b];
    if (a == b)
        return a;
    if (x->kind == 'H' || y->kind == 'H')
        return DT_HANDLE;
    if (x->kind == 'F' && y->kind == 'F') {
        if (x->bits == y->bits) /* f16 with bf16, two fp8: neither holds the other */
            return DT_F32;
        return x->bits > y->bits ? a : b;
    }
    if (x->kind == 'F' || y->kind == 'F')
        return x->kind == 'F' ? a : b;
    if (x->kind == 'B' || y->kind == 'B')
        return x->kind == 'B' ? b : a;
    if (x->bits != y->bits)
        return x->bits > y->bits ? a : b;
    return x->kind == 'U' ? a : b;
}
