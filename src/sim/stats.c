/* stats.c -- how warps touch memory: bank conflicts and sectors, counted by source line.
 *
 * Lanes run one after the other, so the accesses of a warp are put together again: the n-th time
 * that each lane runs a store or load is one access of the warp. */
#include "sim/machine.h"

enum { BUCKETS = 1024 };

typedef struct {
    int64_t address[LANES_MOST]; /* bytes; -1: the lane takes no part */
    int nlane, width;
} WarpAccess;

typedef struct Site {
    const Stmt *at;
    const void *what;  /* the load, or the store itself */
    int warp;
    bool global;
    uint32_t count[LANES_MOST];
    uint32_t first;    /* number of list.at[0] */
    VEC(WarpAccess) list;
    struct Site *next;
} Site;

typedef struct {
    int line;
    int64_t shared, conflicts, global, sectors, least;
} Line;

struct SimStats {
    Arena *arena;
    Site *bucket[BUCKETS];
    VEC(Line) lines;
    const Machine *machine; /* of the kernel that runs */
    Map turns;              /* Stmt -> Turns: what its shared accesses took */
};

typedef struct {
    double accesses, extra;
} Turns;

SimStats *stats_new(Arena *a)
{
    SimStats *s = NEW(a, SimStats);
    s->arena = a;
    map_init(&s->turns, a);
    return s;
}

static void count_turns(SimStats *s, const Stmt *at, int extra)
{
    Turns *t = map_get(&s->turns, at);

    if (!t)
        map_set(&s->turns, at, t = NEW(s->arena, Turns));
    t->accesses++;
    t->extra += extra;
}

double stats_turns(const SimStats *s, const Stmt *at)
{
    const Turns *t = map_get(&s->turns, at);
    return t ? t->extra / t->accesses : 0;
}

static Line *line_of(SimStats *s, int line)
{
    int i = 0;
    while (i < s->lines.n && s->lines.at[i].line < line)
        i++;
    if (i < s->lines.n && s->lines.at[i].line == line)
        return &s->lines.at[i];
    vec_push(s->arena, &s->lines, (Line){0});
    memmove(&s->lines.at[i + 1], &s->lines.at[i], sizeof(Line) * (size_t)(s->lines.n - 1 - i));
    s->lines.at[i] = (Line){.line = line};
    return &s->lines.at[i];
}

/* ---- one access of a warp -------------------------------------------------------------------- */

static void count_sectors(const WarpAccess *a, int64_t size, Line *l)
{
    int64_t sector[LANES_MOST * 5], bytes = 0;
    int n = 0;
    for (int i = 0; i < LANES_MOST; i++) {
        if (a->address[i] < 0)
            continue;
        bool repeated = false;
        for (int j = 0; j < i && !repeated; j++)
            repeated = a->address[j] == a->address[i];
        bytes += repeated ? 0 : a->width;
        int64_t last = (a->address[i] + a->width - 1) / size;
        for (int64_t s = a->address[i] / size; s <= last && n < COUNT(sector); s++) {
            bool seen = false;
            for (int j = 0; j < n && !seen; j++)
                seen = sector[j] == s;
            if (!seen)
                sector[n++] = s;
        }
    }
    l->global++;
    l->sectors += n;
    l->least += (bytes + size - 1) / size;
}

static void count_access(SimStats *s, const Site *site, const WarpAccess *a)
{
    bool any = false;
    for (int i = 0; i < LANES_MOST; i++)
        any |= a->address[i] >= 0;
    if (!any)
        return;
    Line *l = line_of(s, site->at->span.line);
    if (site->global) {
        count_sectors(a, MAX(s->machine->sector_bytes, 1), l);
        return;
    }
    int extra = bank_conflicts(s->machine, a->address, a->width);
    l->shared++;
    l->conflicts += extra;
    count_turns(s, site->at, extra);
}

/* ---- lanes put together ---------------------------------------------------------------------- */

static Site *site_of(Sim *m, const void *what, bool global)
{
    SimStats *s = m->o.stats;
    int warp = m->self->actor / m->warp;
    uint64_t h = hash_mix(hash_mix((uint64_t)(uintptr_t)m->at, (uint64_t)(uintptr_t)what),
                          (uint64_t)warp);
    Site **p = &s->bucket[h % BUCKETS];
    for (; *p; p = &(*p)->next)
        if ((*p)->at == m->at && (*p)->what == what && (*p)->warp == warp)
            return *p;
    *p = NEW(s->arena, Site);
    **p = (Site){.at = m->at, .what = what, .warp = warp, .global = global};
    return *p;
}

static void drop_full(SimStats *s, Site *x, int lanes)
{
    int full = 0;
    while (full < x->list.n && x->list.at[full].nlane == lanes)
        count_access(s, x, &x->list.at[full++]);
    memmove(x->list.at, x->list.at + full, sizeof(WarpAccess) * (size_t)(x->list.n - full));
    x->list.n -= full;
    x->first += (uint32_t)full;
}

void stats_access(Sim *m, const SimMem *mem, const void *what, int64_t element, int lanes)
{
    bool shared = mem->buf->scope == MEM_SHARED;
    if (!m->self || (!shared && !mem->global))
        return;
    Site *x = site_of(m, what, !shared);
    m->o.stats->machine = m->k->machine;
    int lane = m->self->actor % m->warp;
    uint32_t at = x->count[lane]++;
    while (x->first + (uint32_t)x->list.n <= at) {
        WarpAccess fresh = {.nlane = 0};
        memset(fresh.address, -1, sizeof fresh.address);
        vec_push(m->o.stats->arena, &x->list, fresh);
    }
    if (at < x->first)
        return;
    WarpAccess *a = &x->list.at[at - x->first];
    int64_t bits = dtype_bits(mem->type);
    a->nlane++;
    a->width = MAX(a->width, (int)MAX(1, bits * lanes / 8));
    a->address[lane] = element < 0 ? -1 : mem->shadow_at * shared + element * bits / 8;
    if (a->nlane == m->warp && x->list.n >= m->warp)
        drop_full(m->o.stats, x, m->warp);
}

/* The blocks are done: what lanes that diverged left is counted as it is. */
void stats_end(Sim *m)
{
    SimStats *s = m->o.stats;
    for (int b = 0; b < BUCKETS; b++) {
        for (Site *x = s->bucket[b]; x; x = x->next) {
            for (int i = 0; i < x->list.n; i++)
                count_access(s, x, &x->list.at[i]);
            x->list.n = 0;
            x->first = 0;
            memset(x->count, 0, sizeof x->count);
        }
    }
}

void stats_text(const SimStats *s, Str *out)
{
    str_puts(out, "  line     shared  conflicts     global    sectors      least\n");
    for (int i = 0; i < s->lines.n; i++) {
        const Line *l = &s->lines.at[i];
        str_printf(out, "%6d %10lld %10lld %10lld %10lld %10lld\n", l->line, (long long)l->shared,
                   (long long)l->conflicts, (long long)l->global, (long long)l->sectors,
                   (long long)l->least);
    }
}
