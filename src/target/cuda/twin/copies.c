/* copies.c -- copies that go on beside the threads, and the barriers in memory that tell of them.
 *
 * A copy happens at the latest moment that is allowed: one of cp.async or a bulk store when its
 * thread waits for its group, a bulk load when nothing else can move.  Who waits until a bulk store
 * has read its source may write there; others see what it wrote when it is waited for, or at the
 * thread's end. */
#include "target/cuda/twin/map.h"
#include "target/cuda/twin/ptx.h"

/* ---- barriers -------------------------------------------------------------------------------- */

/* In the 64 bits of shared memory that the barrier has; `bad` is set in memory nobody wrote. */
typedef union {
    uint64_t word;
    struct {
        uint64_t expect : 20, pending : 20;
        int64_t tx : 22;
        uint64_t phase : 1, bad : 1;
    } b;
} Mbarrier;

static Mbarrier *mbarrier_at(uint32_t address)
{
    Mbarrier *m = shared_at(address, 8, "a barrier,");

    if (address % 8)
        twin_fail("a barrier at %u of shared memory [twin-fault]", address - machine.base);
    if (m->b.bad || m->b.expect == 0)
        twin_fail("a barrier that nobody set up, at %u of shared memory [twin-fault]",
                  (address & ((1u << BLOCK_SHIFT) - 1)) - machine.base);
    return m;
}

static void settle(Mbarrier *m)
{
    if (m->b.pending || m->b.tx)
        return;
    m->b.pending = m->b.expect;
    m->b.phase ^= 1;
}

static void arrive(Mbarrier *m)
{
    if (m->b.pending == 0)
        twin_fail("more arrivals at a barrier than the %u it is set up for [twin-fault]",
                  (unsigned)m->b.expect);
    m->b.pending--;
    settle(m);
}

static void complete(uint32_t bar, uint32_t nbytes)
{
    Mbarrier *m = mbarrier_at(bar);

    m->b.tx -= nbytes;
    settle(m);
}

bool mbarrier_passed(const uint64_t *bar, uint32_t parity)
{
    Mbarrier m = {.word = *bar};
    return m.b.phase != (parity & 1);
}

void ptx_mbar_init(const char *name, void *const *at, int n)
{
    uint32_t count = word_at(at[1]), address = word_at(at[0]);
    Mbarrier m = {.b = {.expect = count & 0xfffff, .pending = count & 0xfffff}};

    (void)n;
    if (count == 0 || count > 0xfffff || address % 8)
        twin_fail("%s for %u arrivals [twin-fault]", name, count);
    memcpy(shared_at(address, 8, "a barrier,"), &m, sizeof m);
}

/* state or _, [address] */
void mbarrier_arrive(uint32_t address)
{
    arrive(mbarrier_at(address));
}

void ptx_mbar_arrive(const char *name, void *const *at, int n)
{
    (void)name;
    (void)n;
    arrive(mbarrier_at(word_at(at[1])));
}

void ptx_mbar_expect(const char *name, void *const *at, int n)
{
    Mbarrier *m = mbarrier_at(word_at(at[0]));

    (void)name;
    (void)n;
    m->b.tx += word_at(at[1]);
    settle(m);
}

void ptx_mbar_arrive_expect(const char *name, void *const *at, int n)
{
    Mbarrier *m = mbarrier_at(word_at(at[1]));

    (void)name;
    (void)n;
    m->b.tx += word_at(at[2]);
    arrive(m);
}

/* p, [address], parity: it waits until it can say yes. */
void ptx_mbar_wait(const char *name, void *const *at, int n)
{
    const uint64_t *bar = &mbarrier_at(word_at(at[1]))->word, yes = 1;
    uint32_t parity = word_at(at[2]);

    (void)n;
    if (!mbarrier_passed(bar, parity))
        twin_wait(WAIT_PHASE, bar, parity, name);
    memcpy(at[0], &yes, sizeof yes);
}

/* ---- lists of a thread ----------------------------------------------------------------------- */

static void copy_append(Copies *c, Copy *new)
{
    new->next = NULL;
    if (c->last)
        c->last->next = new;
    else
        c->first = new;
    c->last = new;
}

static void copy_add(Copies *c, Copy copy)
{
    Copy *new = NEW(machine.scratch, Copy);

    *new = copy;
    new->group = c->committed;
    new->number = c->issued++;
    copy_append(c, new);
}

static Copy *copy_take_first(Copies *c)
{
    Copy *first = c->first;

    c->first = first->next;
    if (!c->first)
        c->last = NULL;
    return first;
}

static void copy_land_first(Copies *c)
{
    Copy *first = copy_take_first(c);
    first->land(first);
}

static bool copy_is_before(const Copies *c, uint32_t committed, uint32_t left)
{
    return c->first && c->first->group + left < committed;
}

/* All but the last groups. */
static void copies_wait(Copies *c, uint32_t left)
{
    while (copy_is_before(c, c->committed, left))
        copy_land_first(c);
}

void copies_at_exit(TwinThread *t)
{
    PtxThread *own = ptx_thread(t);

    held_check(t);
    while (own->async.first)
        copy_land_first(&own->async);
    while (own->writes.first)
        copy_land_first(&own->writes);
    if (own->stores.first)
        twin_fail("it leaves while its bulk stores still read shared memory [twin-fault]");
}

/* ---- cp.async -------------------------------------------------------------------------------- */

static void land_cp_async(Copy *c)
{
    memset(c->to, 0, c->whole);
    memcpy(c->to, c->from, c->n);
}

/* [to], [from], size, and how much of it is read */
void ptx_cp_async(const char *name, void *const *at, int n)
{
    uint32_t to = word_at(at[0]), size = word_at(at[2]), read = n > 3 ? word_at(at[3]) : size;
    uint64_t from = long_at(at[1]);

    if ((size != 4 && size != 8 && size != 16) || (strstr(name, ".cg.") && size != 16) ||
        read > size || to % size || (read && from % size))
        twin_fail("%s of %u bytes from %llu to %u [twin-fault]", name, size,
                  (unsigned long long)from, to);
    copy_add(&ptx_thread(machine.self)->async, (Copy){.land = land_cp_async,
                                          .to = shared_at(to, size, "cp.async of"),
                                          .from = (const void *)(uintptr_t)from,
                                          .n = read,
                                          .whole = size});
}

void ptx_cp_async_commit(const char *name, void *const *at, int n)
{
    (void)name;
    (void)at;
    (void)n;
    ptx_thread(machine.self)->async.committed++;
}

void ptx_cp_async_wait(const char *name, void *const *at, int n)
{
    (void)name;
    (void)n;
    copies_wait(&ptx_thread(machine.self)->async, word_at(at[0]));
}

static void land_arrival(Flight *f)
{
    Copies *c = &ptx_thread(f->thread)->async;

    while (c->first && c->first->number < f->n)
        copy_land_first(c);
    arrive(mbarrier_at(f->bar));
}

void ptx_cp_async_arrive(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;

    (void)name;
    (void)n;
    mbarrier_at(word_at(at[0]));
    flight_add(&(Flight){.land = land_arrival, .thread = t, .n = ptx_thread(t)->async.issued,
                         .bar = address_in(t->block, word_at(at[0]))});
}

/* ---- bulk copies ----------------------------------------------------------------------------- */

enum { UNIT = 16, BOX_ALIGN = 128 };

static const TwinMap *map_at(const void *at)
{
    const TwinMap *m = (const TwinMap *)(uintptr_t)long_at(at);

    if (m->mark != MAP_MARK)
        twin_fail("a bulk copy by a tensor map that the host did not make [twin-fault]");
    return m;
}

static void land_run(Flight *f)
{
    memcpy(shared_at(f->to, f->n, "a bulk load of"), f->from, f->n);
    complete(f->bar, f->n);
}

/* [to], [from], size, [bar] */
void ptx_bulk_load(const char *name, void *const *at, int n)
{
    TwinThread *t = machine.self;
    Flight f = {.land = land_run, .thread = t, .n = word_at(at[2]),
                .to = address_in(t->block, word_at(at[0])),
                .bar = address_in(t->block, word_at(at[3])),
                .from = (const void *)(uintptr_t)long_at(at[1])};

    policy_check(name, at[n - 1]);
    if (f.to % UNIT || f.n % UNIT || long_at(at[1]) % UNIT)
        twin_fail("%s of %u bytes: addresses and sizes are multiples of 16 [twin-fault]", name,
                  f.n);
    mbarrier_at(f.bar);
    shared_at(f.to, f.n, "a bulk load of");
    flight_add(&f);
}

static void land_run_store(Copy *c)
{
    memcpy(c->to, c->from, c->n);
}

/* [to], [from], size */
void ptx_bulk_store(const char *name, void *const *at, int n)
{
    uint32_t from = word_at(at[1]), size = word_at(at[2]);

    policy_check(name, at[n - 1]);
    if (from % UNIT || size % UNIT || long_at(at[0]) % UNIT)
        twin_fail("%s of %u bytes: addresses and sizes are multiples of 16 [twin-fault]", name,
                  size);
    copy_add(&ptx_thread(machine.self)->stores, (Copy){.land = land_run_store, .n = size,
                                           .to = (void *)(uintptr_t)long_at(at[0]),
                                           .from = shared_at(from, size, "a bulk store of")});
}

static int name_rank(const char *name)
{
    return name[strlen("cp.async.bulk.tensor.")] - '0';
}

static void land_box(Flight *f)
{
    const TwinMap *m = f->map;

    for (int i = 0; i < f->thread->block->ncluster; i++) {
        if (!(f->mask >> i & 1))
            continue;
        const TwinBlock *b = f->thread->block - f->thread->block->rank + i;
        uint32_t to = address_in(b, f->to);
        map_load(m, f->at, f->offset, shared_at(to, map_bytes(m), "a box of"),
                 f->to & ((1u << BLOCK_SHIFT) - 1));
        complete(f->elsewhere ? f->bar : address_in(b, f->bar), map_bytes(m));
    }
}

/* [to], [map, {coordinates}], [bar] */
static Flight box_flight(const char *name, void *const *at)
{
    TwinThread *t = machine.self;
    int rank = name_rank(name);
    Flight f = {.land = land_box, .thread = t, .mask = 1u << t->block->rank,
                .to = word_at(at[0]), .bar = word_at(at[2 + rank])};
    TwinMap *kept = NEW(machine.scratch, TwinMap); /* the text's copy is on a stack */

    *kept = *map_at(at[1]);
    f.map = kept;
    if (kept->rank != rank || (kept->pixels != 0) != (strstr(name, ".im2col.") != NULL))
        twin_fail("%s by a map of %d dimensions [twin-fault]", name, kept->rank);
    if (f.to % BOX_ALIGN)
        twin_fail("a box at %u of shared memory, no multiple of %d [twin-fault]",
                  f.to - machine.base, BOX_ALIGN);
    for (int d = 0; d < rank; d++)
        f.at[d] = (int32_t)word_at(at[2 + d]);
    return f;
}

void ptx_tma_load(const char *name, void *const *at, int n)
{
    Flight f = box_flight(name, at);

    policy_check(name, at[n - 1]);
    mbarrier_at(f.bar);
    flight_add(&f);
}

void ptx_tma_load_many(const char *name, void *const *at, int n)
{
    Flight f = box_flight(name, at);
    uint16_t mask;

    memcpy(&mask, at[n - 1], sizeof mask);
    f.mask = mask;
    if (mask == 0 || mask >> machine.self->block->ncluster)
        twin_fail("a copy to blocks 0x%x of a cluster of %d [twin-fault]", mask,
                  machine.self->block->ncluster);
    flight_add(&f);
}

/* The barrier is that of another block of the pair, or its own. */
void ptx_tma_load_pair(const char *name, void *const *at, int n)
{
    Flight f = box_flight(name, at);

    (void)n;
    f.elsewhere = true;
    if (block_of(f.bar)->rank / 2 != machine.self->block->rank / 2)
        twin_fail("%s at the barrier of a block of another pair [twin-fault]", name);
    mbarrier_at(f.bar);
    flight_add(&f);
}

void ptx_tma_load_pixels(const char *name, void *const *at, int n)
{
    Flight f = box_flight(name, at);

    memcpy(&f.offset[0], at[n - 2], sizeof f.offset[0]);
    memcpy(&f.offset[1], at[n - 1], sizeof f.offset[1]);
    mbarrier_at(f.bar);
    flight_add(&f);
}

/* ---- cluster launch control: three indices, and whether there is a cluster ------------------- */

static void land_answer(Flight *f)
{
    for (int i = 0; i < f->thread->block->ncluster; i++) {
        const TwinBlock *b = f->thread->block - f->thread->block->rank + i;
        if (!(f->mask >> i & 1))
            continue;
        memcpy(shared_at(address_in(b, f->to), UNIT, "an answer of"), f->at, UNIT);
        complete(address_in(b, f->bar), UNIT);
    }
}

/* [to], [bar] */
void ptx_clc_try(const char *name, void *const *at, int n)
{
    TwinBlock *b = machine.self->block;
    uint32_t first[3] = {0};
    Flight f = {.land = land_answer, .thread = machine.self, .to = word_at(at[0]),
                .bar = word_at(at[1]), .at = {0, 0, 0, machine_take(first)},
                .mask = strstr(name, "::all") ? (1u << b->ncluster) - 1 : 1u << b->rank};

    (void)n;
    memcpy(f.at, first, sizeof first);
    if (f.to % UNIT)
        twin_fail("%s to an address that is no multiple of 16 [twin-fault]", name);
    mbarrier_at(f.bar);
    flight_add(&f);
}

void ptx_clc_query(const char *name, void *const *at, int n)
{
    const char *which = strstr(name, "ctaid::");
    uint32_t words[4];

    (void)n;
    memcpy(words, at[1], sizeof words);
    if (which && !words[3])
        twin_fail("%s of an answer without a block [twin-fault]", name);
    memcpy(at[0], &words[which ? which[strlen("ctaid::")] - 'x' : 3], 4);
}

static void land_box_store(Copy *c)
{
    map_store(c->map, c->at, c->from, c->whole);
}

/* [map, {coordinates}], [from] */
void ptx_tma_store(const char *name, void *const *at, int n)
{
    int rank = name_rank(name);
    uint32_t from = word_at(at[1 + rank]);
    TwinMap *m = NEW(machine.scratch, TwinMap);

    policy_check(name, at[n - 1]);
    *m = *map_at(at[0]);
    if (m->rank != rank || m->pixels || from % BOX_ALIGN)
        twin_fail("%s from %u by a map of %d dimensions [twin-fault]", name, from - machine.base,
                  m->rank);
    Copy c = {.land = land_box_store, .map = m, .whole = from, .n = map_bytes(m),
              .from = shared_at(from, map_bytes(m), "a box of")};
    for (int d = 0; d < rank; d++) {
        c.at[d] = (int32_t)word_at(at[1 + d]);
        if (c.at[d] < 0)
            twin_fail("%s starts before its tensor, at %d [twin-fault]", name, (int)c.at[d]);
    }
    copy_add(&ptx_thread(machine.self)->stores, c);
}

void ptx_bulk_commit(const char *name, void *const *at, int n)
{
    (void)name;
    (void)at;
    (void)n;
    ptx_thread(machine.self)->stores.committed++;
}

/* Until they have read their source: what they read is kept for when they write it. */
void ptx_bulk_wait_read(const char *name, void *const *at, int n)
{
    PtxThread *t = ptx_thread(machine.self);

    (void)name;
    (void)n;
    while (copy_is_before(&t->stores, t->stores.committed, word_at(at[0]))) {
        Copy *c = copy_take_first(&t->stores);
        c->from = memcpy(arena_alloc(machine.scratch, c->n), c->from, c->n);
        copy_append(&t->writes, c);
    }
}

void ptx_bulk_wait(const char *name, void *const *at, int n)
{
    PtxThread *t = ptx_thread(machine.self);

    ptx_bulk_wait_read(name, at, n);
    while (copy_is_before(&t->writes, t->stores.committed, word_at(at[0])))
        copy_land_first(&t->writes);
}

/* Of an empty tensor there is no map, and nothing is copied by it: to fetch it does no harm. */
void ptx_prefetch_map(const char *name, void *const *at, int n)
{
    (void)name;
    (void)n;
    if (((const TwinMap *)(uintptr_t)long_at(at[0]))->mark)
        map_at(at[0]);
}
