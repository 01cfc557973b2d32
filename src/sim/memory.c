/* memory.c -- elements in and out of buffers, with bounds and "was it ever written". */
#include "sim/machine.h"

/* ---- one element ----------------------------------------------------------------------------- */

static double half_to_double(uint16_t h)
{
    uint32_t u = (uint32_t)(h & 0x7fff) << 13;
    float f;
    memcpy(&f, &u, sizeof f);
    f *= 0x1p112f; /* moves the exponent from bias 15 to 127; subnormals come out right too */
    if ((h & 0x7c00) == 0x7c00)
        return num_decode(DT_F16, h);
    return h & 0x8000 ? -(double)f : (double)f;
}

static uint16_t double_to_half(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    int exponent = (int)(u >> 23 & 0xff) - 127;
    if (exponent < -14 || exponent > 15)
        return (uint16_t)(v == 0 ? u >> 16 & 0x8000 : num_encode(DT_F16, v));
    return (uint16_t)((u >> 16 & 0x8000) | (((u & 0x7fffffff) - (112u << 23)) >> 13));
}

Value1 mem_read(const SimMem *mem, int64_t i)
{
    Value1 v = {0};
    switch (mem->type) {
    case DT_F32: {
        float f;
        memcpy(&f, mem->data + i * 4, 4);
        v.f = (double)f;
        break;
    }
    case DT_F16: {
        uint16_t h;
        memcpy(&h, mem->data + i * 2, 2);
        v.f = half_to_double(h);
        break;
    }
    case DT_BF16: {
        uint16_t h;
        float f;
        memcpy(&h, mem->data + i * 2, 2);
        uint32_t u = (uint32_t)h << 16;
        memcpy(&f, &u, 4);
        v.f = (double)f;
        break;
    }
    case DT_I32: {
        int32_t x;
        memcpy(&x, mem->data + i * 4, 4);
        v.i = x;
        break;
    }
    case DT_I8:
        v.i = ((const int8_t *)mem->data)[i];
        break;
    case DT_U8:
        v.i = ((const uint8_t *)mem->data)[i];
        break;
    case DT_HANDLE:
        memcpy(&v.i, mem->data + i * 8, 8);
        break;
    default:
        num_load(mem->type, mem->data, i, &v.f, &v.i);
    }
    return v;
}

static void mark_init(SimMem *mem, int64_t i)
{
    const uint32_t whole = mem->mark * 0x01010101u;
    int bits = dtype_table[mem->type].bits;
    uint8_t owner = mem->mark & (uint8_t)~3u;
    if (bits == 32)
        memcpy(mem->init + i * 4, &whole, 4);
    else if (bits == 16)
        memcpy(mem->init + i * 2, &whole, 2);
    else if (bits < 8)
        mem->init[i / 2] = (uint8_t)(((mem->init[i / 2] & ~3) == owner ? mem->init[i / 2] : owner) |
                                     1 << (i & 1));
    else
        memset(mem->init + i * (bits / 8), mem->mark, (size_t)(bits / 8));
}

void mem_write(SimMem *mem, int64_t i, Value1 v)
{
    if (mem->init)
        mark_init(mem, i);
    switch (mem->type) {
    case DT_F32: {
        float f = (float)v.f;
        memcpy(mem->data + i * 4, &f, 4);
        break;
    }
    case DT_F16: {
        uint16_t h = double_to_half(v.f);
        memcpy(mem->data + i * 2, &h, 2);
        break;
    }
    case DT_I32: {
        int32_t x = (int32_t)v.i;
        memcpy(mem->data + i * 4, &x, 4);
        break;
    }
    case DT_HANDLE:
        memcpy(mem->data + i * 8, &v.i, 8);
        break;
    default:
        num_store(mem->type, mem->data, i, v.f, v.i);
    }
}

bool mem_is_init(const SimMem *mem, int64_t i)
{
    int bits = dtype_table[mem->type].bits;
    if (bits == 32) {
        uint32_t u;
        memcpy(&u, mem->init + i * 4, 4);
        return u == mem->mark * 0x01010101u;
    }
    if (bits == 16) {
        uint16_t u;
        memcpy(&u, mem->init + i * 2, 2);
        return u == (uint16_t)(mem->mark * 0x0101u);
    }
    if (bits < 8)
        return (mem->init[i / 2] & ~3) == (mem->mark & ~3) && mem->init[i / 2] >> (i & 1) & 1;
    const uint8_t *p = mem->init + i * (bits / 8);
    for (int j = 0; j < bits / 8; j++)
        if (p[j] != mem->mark)
            return false;
    return true;
}

/* ---- where an element is --------------------------------------------------------------------- */

/* "A_s[3, 7]" for a storage element. */
static void element_text(Str *out, const SimMem *mem, int64_t offset)
{
    int64_t logical = offset;
    if (mem->place) {
        int64_t n = 1;
        for (int d = 0; d < mem->rank; d++)
            n *= mem->shape[d];
        for (logical = 0; logical < n && mem->place[logical] != offset;)
            logical++;
    }
    str_printf(out, "%s[", mem->buf->name);
    int64_t below = 1;
    for (int d = 1; d < mem->rank; d++)
        below *= mem->shape[d];
    for (int d = 0; d < mem->rank; d++) {
        str_printf(out, d ? ", %lld" : "%lld", (long long)(below ? logical / below : 0));
        logical = below ? logical % below : 0;
        if (d + 1 < mem->rank && mem->shape[d + 1])
            below /= mem->shape[d + 1];
    }
    str_putc(out, ']');
}

void fail_uninitialised(Sim *m, const SimMem *mem, int64_t offset)
{
    Str s;
    str_init(&s, m->scratch);
    element_text(&s, mem, offset);
    sim_fail(m, m->at, "%s is read before it was written [uninitialised]", s.s);
}

NORETURN static void fail_bounds(Sim *m, const SimMem *mem, const int64_t *at, int n)
{
    Str s;
    str_init(&s, m->scratch);
    str_printf(&s, "%s[", mem->buf->name);
    for (int d = 0; d < n; d++)
        str_printf(&s, d ? ", %lld" : "%lld", (long long)at[d]);
    str_puts(&s, "] is outside the ");
    str_puts(&s, mem_name(mem->buf->scope));
    str_puts(&s, m->flat ? " storage of " : " shape (");
    if (m->flat)
        str_printf(&s, "%lld elements", (long long)mem->nelem);
    for (int d = 0; !m->flat && d < mem->rank; d++)
        str_printf(&s, d ? ", %lld" : "%lld", (long long)mem->shape[d]);
    if (!m->flat)
        str_putc(&s, ')');
    sim_fail(m, m->at, "%s [out-of-bounds]", s.s);
}

int64_t mem_offset(Sim *m, const SimMem *mem, const int64_t *at, int n)
{
    if (m->flat && n <= 1) {
        int64_t i = n ? at[0] : 0;
        if (i < 0 || i >= mem->nelem)
            fail_bounds(m, mem, at, n);
        return i;
    }
    BUG(n != mem->rank, "%s of rank %d accessed with %d indices", mem->buf->name, mem->rank, n);
    int64_t offset = 0;
    for (int d = 0; d < n; d++) {
        if (at[d] < 0 || at[d] >= mem->shape[d]) {
            if (mem->global && !m->exact)
                return -1;
            fail_bounds(m, mem, at, n);
        }
        offset += at[d] * mem->stride[d];
    }
    return mem->place ? mem->place[offset] : offset;
}

/* ---- regions --------------------------------------------------------------------------------- */

typedef struct {
    const Buffer *buf;
    Access may;
} Said;

static void add_said(void *arg, const Region *r, Access what)
{
    Said *s = arg;
    if (buffer_root(r->buf) == buffer_root(s->buf))
        s->may = (Access)(s->may | what);
}

/* What its operator says of a tile is what passes go by: it may do nothing else. */
static Access said_of(const Stmt *at, const Buffer *buf)
{
    Said s = {.buf = buf};

    if (at->kind != ST_TILE)
        return (Access)(ACC_READ | ACC_WRITE);
    tile_access(at, add_said, &s);
    return s.may;
}

static void hold_to(const Stmt *at, const SimRegion *r, Access what)
{
    BUG(!(r->may & (what | ACC_REDUCE)), "operator %s %s '%s', which its effects do not say",
        at->u.tile.op->name, what == ACC_READ ? "reads" : "writes", r->buf->name);
}

SimRegion sim_region(Sim *m, const Stmt *at, const Region *r)
{
    m->at = at;
    SimMem *mem = sim_mem(m, r->buf);
    SimRegion out = {.buf = r->buf, .rank = r->buf->rank, .mem = mem, .may = said_of(at, r->buf)};
    for (int d = 0; d < out.rank; d++) {
        out.at[d] = eval(m, r->at[d]).i;
        out.extent[d] = eval(m, r->extent[d]).i;
        out.shape[d] = mem->shape[d];
    }
    return out;
}

bool sim_region_empty(const SimRegion *r)
{
    for (int d = 0; d < r->rank; d++)
        if (r->extent[d] <= 0)
            return true;
    return false;
}

/* Regions are logical in every form, and the language's guard holds for them in every form. */
static int64_t region_offset(Sim *m, const SimRegion *r, const int64_t *idx)
{
    const SimMem *mem = r->mem;
    int64_t at[RANK_MOST], offset = 0;
    bool inside = true;
    for (int d = 0; d < r->rank; d++) {
        at[d] = r->at[d] + idx[d];
        inside &= at[d] >= 0 && at[d] < mem->shape[d];
        offset += at[d] * mem->stride[d];
    }
    if (inside)
        return mem->place ? mem->place[offset] : offset;
    if (!mem->global)
        fail_bounds(m, mem, at, r->rank);
    return -1;
}

bool sim_inside(const SimRegion *r, const int64_t *idx)
{
    const SimMem *mem = r->mem;
    for (int d = 0; d < r->rank; d++)
        if (r->at[d] + idx[d] < 0 || r->at[d] + idx[d] >= mem->shape[d])
            return !mem->global; /* an index outside of a tile is reported by who uses it */
    return true;
}

bool sim_get(Sim *m, const Stmt *at, const SimRegion *r, const int64_t *idx, Value1 *v)
{
    m->at = at;
    int64_t i = region_offset(m, r, idx);
    if (i < 0) {
        *v = (Value1){0};
        return false;
    }
    hold_to(at, r, ACC_READ);
    *v = mem_get(m, r->mem, i);
    return true;
}

void sim_put(Sim *m, const Stmt *at, const SimRegion *r, const int64_t *idx, Value1 v)
{
    m->at = at;
    int64_t i = region_offset(m, r, idx);
    hold_to(at, r, ACC_WRITE);
    if (i >= 0)
        mem_put(m, r->mem, i, v);
}

void sim_get_matrix(Sim *m, const Stmt *at, const SimRegion *r, double *f, int64_t *i)
{
    bool is_float = dtype_is_float(r->buf->type);
    int64_t idx[RANK_MOST] = {0}, n = 0;
    if (sim_region_empty(r))
        return;
    do {
        Value1 v;
        sim_get(m, at, r, idx, &v);
        if (f)
            f[n] = is_float ? v.f : (double)v.i;
        if (i)
            i[n] = v.i;
        n++;
    } while (sim_next(r->rank, r->extent, idx));
}

void sim_put_matrix(Sim *m, const Stmt *at, const SimRegion *r, const double *f, const int64_t *i)
{
    bool is_float = dtype_is_float(r->buf->type);
    int64_t idx[RANK_MOST] = {0}, n = 0;
    if (sim_region_empty(r))
        return;
    do {
        Value1 v = {0};
        if (is_float)
            v.f = value_round(r->buf->type, f[n]);
        else
            v.i = num_wrap(r->buf->type, i[n]);
        sim_put(m, at, r, idx, v);
        n++;
    } while (sim_next(r->rank, r->extent, idx));
}

bool sim_next(int n, const int64_t *extent, int64_t *at)
{
    for (int d = n - 1; d >= 0; d--) {
        if (++at[d] < extent[d])
            return true;
        at[d] = 0;
    }
    return false;
}

/* Nobody can tell that it is written again. */
bool mem_holds(const SimMem *mem, int64_t i, Value1 v)
{
    if (mem->init && !mem_is_init(mem, i))
        return false;
    Value1 was = mem_read(mem, i);
    if (!dtype_is_float(mem->type))
        return was.i == v.i;
    return was.f == v.f || (was.f != was.f && v.f != v.f);
}

void mem_put(Sim *m, SimMem *mem, int64_t i, Value1 v)
{
    if (mem->flight)
        register_touch(m, mem, i, true);
    if (mem->shadow && m->self)
        race_write(m, mem, i, mem_holds(mem, i, v));
    if (mem->watch)
        global_write(m, mem, i, mem_holds(mem, i, v));
    mem_write(mem, i, v);
}
