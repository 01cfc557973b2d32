/* codeobject.c -- registers, spills and shared memory of a kernel, out of its code object.
 *
 * The notes of an AMD code object are a MessagePack map; each kernel is a map whose keys come in
 * the order of the alphabet: ".symbol" with the name among them, ".wavefront_size" last. */
#include "target/hip/rt/hip.h"

typedef struct {
    const unsigned char *at, *end;
} Bytes;

static const unsigned char *find(Bytes b, const char *text)
{
    return b.at < b.end ? memmem(b.at, (size_t)(b.end - b.at), text, strlen(text)) : NULL;
}

/* The unsigned integer that follows the key; -1: there is none. */
static int64_t number_after(Bytes b, const char *key)
{
    const unsigned char *p = find(b, key);
    int bytes;

    if (!p || (p += strlen(key)) >= b.end)
        return -1;
    if (*p < 0x80)
        return *p;
    if (*p < 0xcc || *p > 0xcf)
        return -1;
    bytes = 1 << (*p - 0xcc);
    if (b.end - p <= bytes)
        return -1;
    int64_t v = 0;
    for (int i = 1; i <= bytes; i++)
        v = v << 8 | p[i];
    return v;
}

/* The map of the kernel: from the end of the one before it to its own. */
static bool kernel_map(Bytes all, const char *kernel, Bytes *map)
{
    static const char last[] = ".wavefront_size";
    char name[200];
    const unsigned char *at;

    snprintf(name, sizeof name, "%s.kd", kernel);
    size_t n = strlen(name);
    while ((at = find(all, ".symbol"))) {
        const unsigned char *end = find((Bytes){at, all.end}, last);
        if (!end)
            return false;
        *map = (Bytes){all.at, end};
        const unsigned char *said = find((Bytes){at, end}, name);
        if (said && (said[-1] == (0xa0 | n) || said[-1] == n)) /* a string of just that length */
            return true;
        all.at = end + sizeof last - 1;
    }
    return false;
}

bool hip_resources(const char *binary, size_t n, const char *kernel, HipResources *r)
{
    Bytes map, all = {(const unsigned char *)binary, (const unsigned char *)binary + n};

    *r = (HipResources){-1, -1, -1, -1};
    if (!binary || !kernel_map(all, kernel, &map))
        return false;
    r->vgprs = number_after(map, ".vgpr_count");
    r->agprs = number_after(map, ".agpr_count");
    r->spilled = number_after(map, ".vgpr_spill_count");
    r->shared_bytes = number_after(map, ".group_segment_fixed_size");
    return r->vgprs >= 0;
}
