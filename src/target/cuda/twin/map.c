/* map.c -- tensor maps: what the driver takes and what a bulk tensor copy does with it. */
#include "target/cuda/twin/map.h"

enum { BOX_MOST = 256, CHANNELS_MOST = 256, PIXELS_MOST = 1024, INVALID = 1, GAPS = 14,
       GAPS_ROW = 128, GROUP = 16 };

/* CUtensorMapDataType */
static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static int swizzle_bytes(int code)
{
    return code == 3 ? 128 : code == 2 ? 64 : code == 1 ? 32 : 0;
}

static bool take_shape(TwinMap *m, int type, uint32_t rank, void *address, const uint64_t *dim,
                       const uint64_t *stride, int swizzle)
{
    bool gaps = type == GAPS;
    uint64_t each = gaps ? 32 : 16;

    if (type < 0 || (type >= COUNT(type_bytes) && !gaps) || rank < 1 || rank > 5 ||
        (uintptr_t)address % each)
        return false;
    if (gaps && (dim[0] % GAPS_ROW || (swizzle != 0 && swizzle != 3)))
        return false;
    *m = (TwinMap){.at = (uint64_t)(uintptr_t)address, .mark = MAP_MARK, .rank = (uint8_t)rank,
                   .size = gaps ? 1 : type_bytes[type], .swizzle = (uint8_t)swizzle, .gaps = gaps};
    for (uint32_t d = 0; d < rank; d++) {
        if (dim[d] < 1 || dim[d] > (uint64_t)1 << 32)
            return false;
        m->most[d] = (uint32_t)(dim[d] - 1);
        if (d == 0)
            continue;
        m->stride[d - 1] = stride[d - 1];
        if (stride[d - 1] % each || stride[d - 1] >= (uint64_t)1 << 40)
            return false;
    }
    return true;
}

static bool take_inner(const TwinMap *m)
{
    uint32_t inner = (uint32_t)m->box[0] * m->size, span = (uint32_t)swizzle_bytes(m->swizzle);
    if (m->gaps && (m->pixels || inner != GAPS_ROW))
        return false;
    return inner % 16 == 0 && (span == 0 || inner <= span);
}

int map_encode_tiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                     const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                     int interleave, int swizzle, int promotion, int fill)
{
    TwinMap m;

    (void)promotion;
    if (interleave || fill || !take_shape(&m, type, rank, address, dim, stride, swizzle))
        return INVALID;
    for (uint32_t d = 0; d < rank; d++) {
        if (box[d] < 1 || box[d] > BOX_MOST || step[d] != 1)
            return INVALID;
        m.box[d] = (uint16_t)box[d];
    }
    if (!take_inner(&m))
        return INVALID;
    memcpy(map, &m, sizeof m);
    return 0;
}

int map_encode_im2col(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                      const uint64_t *stride, const int *lower, const int *upper,
                      uint32_t channels, uint32_t pixels, const uint32_t *step, int interleave,
                      int swizzle, int promotion, int fill)
{
    TwinMap m;

    (void)promotion;
    if (interleave || fill || rank != 4 ||
        !take_shape(&m, type, rank, address, dim, stride, swizzle) || channels < 1 ||
        channels > CHANNELS_MOST || pixels < 1 || pixels > PIXELS_MOST || step[1] != step[2])
        return INVALID;
    for (int i = 0; i < 2; i++) {
        if (lower[i] < -128 || lower[i] > 127 || upper[i] < -128 || upper[i] > 127)
            return INVALID;
        m.lower[i] = (int16_t)lower[i];
        m.upper[i] = (int16_t)upper[i];
    }
    m.box[0] = (uint16_t)channels;
    m.box[1] = (uint16_t)pixels;
    m.pixels = 1;
    m.step = (uint8_t)step[1];
    if (!take_inner(&m))
        return INVALID;
    memcpy(map, &m, sizeof m);
    return 0;
}

static uint32_t elements(const TwinMap *m)
{
    uint32_t n = 1;
    for (int d = 0; d < (m->pixels ? 2 : m->rank); d++)
        n *= m->box[d];
    return n;
}

uint32_t map_bytes(const TwinMap *m)
{
    return elements(m) * m->size / (m->gaps ? 2 : 1);
}

/* Units of 16 bytes change places by the bits of their address above the span. */
static uint32_t swizzled(uint32_t address, int code)
{
    uint32_t mask = code == 3 ? 0x70 : code == 2 ? 0x30 : code == 1 ? 0x10 : 0;
    return address ^ (address >> 3 & mask);
}

/* Corner of a filter for pixel i of those from (w, h, n) on: lines of the image, then images. */
static void pixel_at(const TwinMap *m, uint32_t i, int64_t c[5])
{
    for (; i > 0; i--) {
        c[1] += m->step;
        if (c[1] <= (int64_t)m->most[1] + m->upper[0])
            continue;
        c[1] = m->lower[0];
        c[2] += m->step;
        if (c[2] <= (int64_t)m->most[2] + m->upper[1])
            continue;
        c[2] = m->lower[1];
        c[3]++;
    }
}

/* Where element i of the box is in the tensor; NULL: outside. */
static unsigned char *element_at(const TwinMap *m, const int32_t *at, const uint16_t *offset,
                                 uint32_t i)
{
    int64_t c[5] = {0};
    uint64_t bytes = 0;

    for (int d = 0; d < m->rank; d++)
        c[d] = at[d];
    c[0] += i % m->box[0];
    i /= m->box[0];
    if (m->pixels) {
        pixel_at(m, i, c);
        c[1] += offset[0];
        c[2] += offset[1];
    }
    for (int d = 1; !m->pixels && d < m->rank; d++) {
        c[d] += i % m->box[d];
        i /= m->box[d];
    }
    for (int d = 0; d < m->rank; d++) {
        if (c[d] < 0 || c[d] > (int64_t)m->most[d])
            return NULL;
        bytes += d ? (uint64_t)c[d] * m->stride[d - 1]
                   : (uint64_t)c[0] * m->size / (m->gaps ? 2 : 1);
    }
    return (unsigned char *)(uintptr_t)(m->at + bytes);
}

void map_load(const TwinMap *m, const int32_t *at, const uint16_t *offset, unsigned char *shared,
              uint32_t address)
{
    for (uint32_t i = 0, n = elements(m); i < n; i += m->gaps ? 2 : 1) {
        uint32_t j = m->gaps ? i / GROUP * GROUP + i % GROUP / 2 : i; /* two in a byte */
        uint32_t plain = address + j * m->size;
        unsigned char *to = shared + (int32_t)(swizzled(plain, m->swizzle) - address);
        const unsigned char *from = element_at(m, at, offset, i);
        if (from)
            memcpy(to, from, m->size);
        else
            memset(to, 0, m->size);
    }
}

void map_store(const TwinMap *m, const int32_t *at, const unsigned char *shared, uint32_t address)
{
    if (m->gaps)
        twin_fail("a store to a tensor of 4-bit elements from bytes [twin-fault]");
    for (uint32_t i = 0, n = elements(m); i < n; i++) {
        uint32_t plain = address + i * m->size;
        unsigned char *to = element_at(m, at, NULL, i);
        if (to)
            memcpy(to, shared + (int32_t)(swizzled(plain, m->swizzle) - address), m->size);
    }
}
