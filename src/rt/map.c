/* map.c -- the last tensor maps that were made, by address and shape. */
#include <stdlib.h>
#include "rt/driver.h"

enum { KEPT = 64, TRIES = 4 };

struct MapCache {
    struct {
        _Alignas(MAP_ALIGN) unsigned char map[MAP_BYTES];
        DevicePtr at;
        MapShape shape;
    } kept[KEPT];
    unsigned next; /* of the tries of a full neighbourhood: who goes */
};

MapCache *map_cache_new(void)
{
    MapCache *c = aligned_alloc(MAP_ALIGN, sizeof(MapCache));
    if (c)
        memset(c, 0, sizeof *c);
    return c;
}

void map_cache_free(MapCache *c)
{
    free(c);
}

static bool same_shape(const MapShape *a, const MapShape *b)
{
    return a->map == b->map && !memcmp(a->dim, b->dim, sizeof a->dim) &&
           !memcmp(a->stride, b->stride, sizeof a->stride);
}

Status tensor_map(MapCache *c, const Gpu *g, const MapShape *s, DevicePtr at, void *out, char *text,
               size_t ntext)
{
    uint64_t h = (at >> 8) * 0x9E3779B97F4A7C15u ^ s->dim[0] * 31 ^ s->dim[1] * 17 ^ s->box[0];
    unsigned first = (unsigned)(h >> 40) % KEPT;

    for (unsigned i = 0; i < TRIES; i++) {
        unsigned j = (first + i) % KEPT;
        if (c->kept[j].at == at && same_shape(&c->kept[j].shape, s)) {
            memcpy(out, c->kept[j].map, MAP_BYTES);
            return STATUS_OK;
        }
    }
    Status st = g->map_encode(g, s, at, out, text, ntext);
    if (st != STATUS_OK)
        return st;
    unsigned j = (first + c->next++ % TRIES) % KEPT;
    memcpy(c->kept[j].map, out, MAP_BYTES);
    c->kept[j].at = at;
    c->kept[j].shape = *s;
    return STATUS_OK;
}
