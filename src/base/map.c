/* map.c -- open-addressing maps by pointer or by text, walked in insertion order.
 *
 * Entries lie in `at` in the order they came; `slot` holds index + 1, linearly probed.  A removed
 * entry has key NULL and keeps its slot, so that probing runs past it; it is forgotten for good
 * when the slots are built anew.  Text keys are not copied: they must live as long as the map.
 * An all-zero Map is a valid empty one for reading. */
#include "base/base.h"

enum { SLOTS_LEAST = 16 };

static uint64_t key_hash(const Map *m, const void *key)
{
    if (m->by_text)
        return hash_bytes(key, strlen(key), 0);
    return hash_mix((uint64_t)(uintptr_t)key, 0x9e3779b97f4a7c15u);
}

static bool key_equal(const Map *m, const void *a, const void *b)
{
    return a == b || (m->by_text && a && strcmp(a, b) == 0);
}

void map_init(Map *m, Arena *a)
{
    *m = (Map){.arena = a};
}

void map_init_text(Map *m, Arena *a)
{
    *m = (Map){.arena = a, .by_text = true};
}

/* The slot that holds key, or the empty one where it would go.  Needs a free slot. */
static int slot_find(const Map *m, const void *key)
{
    int mask = m->nslot - 1;
    int i = (int)(key_hash(m, key) & (uint64_t)mask);
    while (m->slot[i] && !key_equal(m, m->at[m->slot[i] - 1].key, key))
        i = (i + 1) & mask;
    return i;
}

static MapEntry *entry_find(const Map *m, const void *key)
{
    if (!m->nslot || !key)
        return NULL;
    int32_t at = m->slot[slot_find(m, key)];
    return at ? &m->at[at - 1] : NULL;
}

void *map_get(const Map *m, const void *key)
{
    const MapEntry *e = entry_find(m, key);
    return e ? e->val : NULL;
}

bool map_has(const Map *m, const void *key)
{
    return entry_find(m, key) != NULL;
}

static int entries_live(const Map *m)
{
    int nlive = 0;
    for (int i = 0; i < m->n; i++)
        nlive += m->at[i].key != NULL;
    return nlive;
}

static void entries_compact(Map *m)
{
    int to = 0;
    for (int i = 0; i < m->n; i++) {
        if (m->at[i].key)
            m->at[to++] = m->at[i];
    }
    m->n = to;
}

/* Removed entries are dropped only when they are the most, so that an index into `at` taken by a
 * caller who inserts but never removes stays good. */
static void slots_build(Map *m)
{
    int nlive = entries_live(m);
    bool compact = nlive <= m->n / 2;
    int want = MAX(SLOTS_LEAST, m->nslot);
    while (want <= (compact ? nlive : m->n) * 2)
        want *= 2;
    if (want != m->nslot)
        m->slot = NEWN(m->arena, int32_t, want);
    else
        memset(m->slot, 0, sizeof *m->slot * (size_t)want);
    m->nslot = want;
    if (compact)
        entries_compact(m);
    for (int i = 0; i < m->n; i++) {
        if (m->at[i].key)
            m->slot[slot_find(m, m->at[i].key)] = i + 1;
    }
}

void map_set(Map *m, const void *key, const void *val)
{
    BUG(!key, "a map key is NULL");
    MapEntry *e = entry_find(m, key);
    if (e) {
        e->val = (void *)val;
        return;
    }
    if ((m->n + 1) * 4 > m->nslot * 3)
        slots_build(m);
    if (m->n == m->cap)
        m->at = vec_grow(m->arena, m->at, m->n, &m->cap, sizeof *m->at);
    m->at[m->n++] = (MapEntry){key, (void *)val};
    m->slot[slot_find(m, key)] = m->n;
}

void map_remove(Map *m, const void *key)
{
    MapEntry *e = entry_find(m, key);
    if (e)
        *e = (MapEntry){0};
}
