/* ptx.h -- meanings of instructions: the functions of ptx.def.  at: where each operand is. */
#ifndef TL_TWIN_PTX_H
#define TL_TWIN_PTX_H

#include "twin/machine.h"

typedef void PtxMeaning(const char *name, void *const *at, int n);

#define PTX(pattern, meaning) PtxMeaning ptx_##meaning;
#include "twin/ptx.def"
#undef PTX

static inline uint32_t word_at(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t long_at(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline float float_at(const void *p)
{
    float v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* PTX's word for a type; false: unknown. */
bool ptx_type(const char *word, size_t n, DType *t);
int ptx_row(const char *name); /* -1: no meaning */

#endif
