/* machine.c -- threads of a text as coroutines: blocks in turn, those of a cluster together.
 *
 * A thread runs until it must wait.  Copies and arrivals that go on beside the threads happen when
 * nothing else can move, the latest moment that is allowed: what was not waited for is not there.
 * When nothing moves and nothing is under way the run ends and says who waits where. */
#include <sys/mman.h>
#include "twin/machine.h"

enum { STACK_BYTES = 256 << 10, GUARD_BYTES = 4096, THREADS_MOST = 1 << 16,
       LOOKS_MOST = 4, PASSES_MOST = 1 << 14 /* a loop may count them */, ALIGN = 1024 };

TwinMachine machine;
static void *stack_pool[THREADS_MOST];

/* ---- giving up ------------------------------------------------------------------------------- */

/* "kernel 'k', block (0, 1, 0), thread 33: " */
static int who_text(char *text, size_t n)
{
    const TwinThread *t = machine.self;

    if (!t)
        return snprintf(text, n, "the text of kernel '%s': ", machine.launch->name);
    return snprintf(text, n, "the text of kernel '%s', block (%u, %u, %u), thread %d: ",
                    machine.launch->name, t->t.block.x, t->t.block.y, t->t.block.z, t->index);
}

static void to_scheduler(void)
{
    switch_to(&machine.self->context, &machine.main);
}

NORETURN void twin_fail(const char *fmt, ...)
{
    va_list ap;
    int n = who_text(machine.text, machine.ntext);

    va_start(ap, fmt);
    if (n >= 0 && (size_t)n < machine.ntext)
        vsnprintf(machine.text + n, machine.ntext - (size_t)n, fmt, ap);
    va_end(ap);
    machine.failed = true;
    if (machine.running && !machine.in_fault)
        to_scheduler();
    siglongjmp(machine.jump, 1);
}

/* ---- waiting --------------------------------------------------------------------------------- */

void twin_wait(WaitKind kind, const uint64_t *counter, uint64_t was, const char *where)
{
    TwinThread *t = machine.self;

    if (machine.assembly->before_wait)
        machine.assembly->before_wait(t);
    t->wait = kind;
    t->counter = counter;
    t->was = was;
    t->where = where;
    to_scheduler();
    t->wait = WAIT_NOTHING;
}

static bool may_go(const TwinThread *t)
{
    switch (t->wait) {
    case WAIT_COUNTER: return *t->counter != t->was;
    case WAIT_PHASE: return machine.assembly->passed(t->counter, (uint32_t)t->was);
    default: return true;
    }
}

static void gather_close(Gather *g)
{
    g->last_came = g->came;
    g->last_sum = g->sum;
    g->came = g->sum = 0;
    g->generation++;
}

bool gather_come(Gather *g, unsigned n, unsigned mine)
{
    g->came++;
    g->sum += mine;
    if (g->came < n)
        return false;
    gather_close(g);
    return true;
}

void gather_wait(Gather *g, unsigned n, unsigned mine, const char *where)
{
    uint64_t generation = g->generation;

    if (!gather_come(g, n, mine))
        twin_wait(WAIT_COUNTER, &g->generation, generation, where);
}

/* What others wrote before the change that it waited for is there behind a fence; what it wrote
 * itself is there for them if a fence came before its own atomic. */
static void memory_check(const TwinThread *t)
{
    if (t->t.looked)
        twin_fail("it saw another thread's word change and goes on without a fence [twin-fault]");
}

static unsigned meet(unsigned mine, unsigned *came)
{
    TwinBlock *b = machine.self->block;
    Gather *g = &b->named[0];

    memory_check(machine.self);
    machine.self->t.fenced = 0;
    gather_wait(g, (unsigned)b->nalive, mine, "__syncthreads");
    if (came)
        *came = g->last_came;
    return g->last_sum;
}

static void look_again(void)
{
    TlThread *t = &machine.self->t;

    if (t->hasty)
        twin_fail("it waits for others whom it told before a fence [twin-fault]");
    t->looked = 1;
    twin_wait(WAIT_LOOK, NULL, 0, "a loop that looks again and again");
}

/* In a loop that looks at what others write: they run meanwhile. */
static void pass(void)
{
    TwinThread *t = machine.self;

    t->wait = WAIT_PASS;
    t->where = "a loop that looks at what others write";
    to_scheduler();
    t->wait = WAIT_NOTHING;
}

/* ---- warps ----------------------------------------------------------------------------------- */

TwinWarp *own_warp(void)
{
    return &machine.self->block->warp[machine.self->index / machine.lanes];
}

uint64_t all_lanes(void)
{
    return ~0ull >> (LANES_MOST - machine.lanes);
}

/* Those that a mask names meet apart from others: lanes may wait for the whole warp meanwhile.
 * Where a branch masks, they name nobody. */
static Lanes *lanes_of(TwinWarp *w, uint64_t mask)
{
    Lanes *l = w->some;

    if (mask == all_lanes() || machine.assembly->masks)
        return &w->all;
    while (l && l->mask != mask)
        l = l->next;
    if (!l) {
        l = NEW(machine.scratch, Lanes);
        l->mask = mask;
        l->next = w->some;
        w->some = l;
    }
    return l;
}

/* The lanes of a mask are all there: they go on, and what each brought can be read. */
static bool lanes_close(const TwinWarp *w, Lanes *l, uint64_t mask)
{
    uint64_t wanted = mask & w->alive;

    if (wanted == 0 || (l->came & wanted) != wanted)
        return false;
    l->who[l->generation & 1] = wanted;
    l->came &= ~wanted;
    l->generation++;
    return true;
}

/* Where the words of the synchronisation at hand are: that of the one before may still be read. */
static uint64_t *lanes_open(Lanes *l, const char *where)
{
    uint64_t *word = l->word[l->generation & 1];

    if (l->came == 0)
        memset(word, POISON, sizeof l->word[0]);
    else if (strcmp(l->where, where))
        twin_fail("lanes of its warp are at %s and at %s [twin-fault]", l->where, where);
    l->where = where;
    return word;
}

static const char warp_sync[] = "a synchronisation of its warp";

static const unsigned long long *lanes(unsigned long long mask, unsigned long long mine,
                                       unsigned long long *came)
{
    TwinWarp *w = own_warp();
    Lanes *l = lanes_of(w, mask);
    int lane = machine.self->index % machine.lanes;
    uint64_t *word = lanes_open(l, warp_sync), generation = l->generation;

    if (!(mask >> lane & 1))
        twin_fail("it is not in its own mask 0x%08llx [twin-fault]", mask);
    word[lane] = mine;
    l->came |= 1ull << lane;
    if (!lanes_close(w, l, mask))
        twin_wait(WAIT_COUNTER, &l->generation, generation, warp_sync);
    if (came)
        *came = l->who[generation & 1];
    return (const unsigned long long *)word;
}

bool warp_syncs(const char *where)
{
    TwinWarp *w = own_warp();
    Lanes *l = &w->all;
    uint64_t generation = l->generation;

    lanes_open(l, where);
    l->came |= 1ull << machine.self->index % machine.lanes;
    if (l->came == w->alive)
        return true;
    twin_wait(WAIT_COUNTER, &l->generation, generation, where);
    return false;
}

void warp_goes_on(void)
{
    TwinWarp *w = own_warp();

    lanes_close(w, &w->all, all_lanes());
}

/* One of them has ended: the others may be all that are to come. */
static void lanes_end(TwinWarp *w)
{
    if (w->all.came && w->all.where == warp_sync)
        lanes_close(w, &w->all, all_lanes());
    for (Lanes *l = w->some; l; l = l->next)
        if (l->came)
            lanes_close(w, l, l->mask);
}

static unsigned long long alive(void)
{
    return own_warp()->alive;
}

/* ---- addresses ------------------------------------------------------------------------------- */

TwinBlock *block_of(uint32_t address)
{
    TwinBlock *own = machine.self ? machine.self->block : machine.block;
    uint32_t rank = address >> BLOCK_SHIFT;

    if (rank == 0)
        return own;
    if ((int)rank > own->ncluster)
        twin_fail("block %u of its cluster does not exist [twin-bounds]", rank - 1);
    return own - own->rank + rank - 1;
}

void *shared_at(uint32_t address, uint32_t nbytes, const char *what)
{
    TwinBlock *b = block_of(address);
    int64_t at = (int64_t)(address & ((1u << BLOCK_SHIFT) - 1)) - machine.base;

    if (at < 0 || at + nbytes > b->nshared)
        twin_fail("%s %u bytes at %lld of %d bytes of shared memory [twin-bounds]", what, nbytes,
                  (long long)at, b->nshared);
    return b->shared + at;
}

static void global_address(const void *p)
{
    if (!memory_is_tensor(p))
        twin_fail("it reads %p as global memory, which it is not [twin-fault]", p);
}

static unsigned shared_address(const void *p)
{
    TwinBlock *b = machine.self->block;
    int64_t at = (const unsigned char *)p - b->shared;

    if (at < 0 || at > b->nshared)
        twin_fail("an address that is not of shared memory is taken as one [twin-bounds]");
    return (unsigned)at + machine.base;
}

uint32_t address_in(const TwinBlock *b, uint32_t address)
{
    return (address & ((1u << BLOCK_SHIFT) - 1)) | (uint32_t)(b->rank + 1) << BLOCK_SHIFT;
}

/* ---- what goes on beside the threads --------------------------------------------------------- */

void flight_add(const Flight *f)
{
    Flight *new = NEW(machine.scratch, Flight);

    *new = *f;
    new->next = NULL;
    if (machine.last_flight)
        machine.last_flight->next = new;
    else
        machine.flights = new;
    machine.last_flight = new;
}

static void flight_land_first(void)
{
    Flight *f = machine.flights;

    machine.flights = f->next;
    if (!f->next)
        machine.last_flight = NULL;
    machine.self = f->thread; /* for messages; it does not run */
    *machine.shown = &f->thread->t;
    f->land(f);
    machine.self = NULL;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void leave(TwinThread *t)
{
    TwinBlock *b = t->block;
    TwinWarp *w = own_warp();

    memory_check(t);
    if (machine.assembly->at_exit)
        machine.assembly->at_exit(t);
    t->done = true;
    b->nalive--;
    machine.nalive--;
    w->alive &= ~(1ull << t->index % machine.lanes);
    lanes_end(w);
    if (b->named[0].came && b->named[0].came == (unsigned)b->nalive)
        gather_close(&b->named[0]);
    TwinBlock *first = b - b->rank;
    int left = 0;
    for (int i = 0; i < b->ncluster; i++)
        left += first[i].nalive;
    if (first->cluster.came && first->cluster.came == (unsigned)left)
        gather_close(&first->cluster);
}

static void enter(void *arg)
{
    TwinThread *t = arg;

    machine.launch->kernel->run(machine.launch->param);
    leave(t);
    to_scheduler();
    unreachable();
}

static void *stack_take(int i)
{
    if (i >= THREADS_MOST)
        twin_fail("more than %d threads run together [twin-fault]", THREADS_MOST);
    if (stack_pool[i])
        return stack_pool[i];
    void *s = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s == MAP_FAILED)
        recover_throw(STATUS_MEM, "no memory for the stack of a thread");
    mprotect(s, GUARD_BYTES, PROT_NONE);
    return stack_pool[i] = s;
}

static void resume(TwinThread *t)
{
    machine.self = t;
    machine.running = true;
    machine.nswitch++;
    *machine.shown = &t->t;
    switch_to(&machine.main, &t->context);
    machine.running = false;
    machine.self = NULL;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void place_block(TwinBlock *b, int64_t number)
{
    const Launch *l = machine.launch;
    int nthread = (int)(l->block[0] * l->block[1] * l->block[2]);
    int first = (int)(b - machine.block) * nthread;

    b->nthread = b->nalive = nthread;
    b->nshared = (int)l->shared;
    b->thread = NEWN(machine.scratch, TwinThread, nthread);
    b->warp = NEWN(machine.scratch, TwinWarp, (nthread + machine.lanes - 1) / machine.lanes);
    if (machine.assembly->place)
        machine.assembly->place(b);
    b->shared = shared_take((int)(b - machine.block), l->shared);
    machine.nalive += nthread;
    for (int i = 0; i < nthread; i++) {
        TwinThread *t = &b->thread[i];
        unsigned x = (unsigned)i;
        t->block = b;
        t->index = i;
        t->t.thread.x = x % l->block[0];
        t->t.thread.y = x / l->block[0] % l->block[1];
        t->t.thread.z = x / l->block[0] / l->block[1];
        t->t.block.x = (unsigned)(number % l->grid[0]);
        t->t.block.y = (unsigned)(number / l->grid[0] % l->grid[1]);
        t->t.block.z = (unsigned)(number / l->grid[0] / l->grid[1]);
        memcpy(&t->t.nthread, l->block, sizeof t->t.nthread);
        memcpy(&t->t.nblock, l->grid, sizeof t->t.nblock);
        t->t.shared = b->shared;
        b->warp[i / machine.lanes].alive |= 1ull << i % machine.lanes;
        char *stack = (char *)stack_take(first + i) + GUARD_BYTES;
        switch_make(&t->context, stack, STACK_BYTES, enter, t);
    }
}

/* Nobody can go on: lanes that wait for others of their warp are all that come by. */
static bool part_lanes(void)
{
    for (int i = 0; machine.assembly->masks && i < machine.nblock; i++)
        for (int j = 0; j * machine.lanes < machine.block[i].nthread; j++) {
            TwinWarp *w = &machine.block[i].warp[j];
            if (w->all.came && w->all.where == warp_sync)
                return lanes_close(w, &w->all, w->all.came);
        }
    return false;
}

/* Who waits where, the first of each kind. */
static void deadlock(void)
{
    char list[320] = "";
    size_t n = 0;

    for (int i = 0; i < machine.nblock; i++)
        for (int j = 0; j < machine.block[i].nthread && n < sizeof list - 80; j++) {
            const TwinThread *t = &machine.block[i].thread[j];
            if (t->done || (j && !t[-1].done && t[-1].where == t->where))
                continue;
            n += (size_t)snprintf(list + n, sizeof list - n, "%sblock (%u, %u, %u) thread %d at %s",
                                  n ? "; " : "", t->t.block.x, t->t.block.y, t->t.block.z, j,
                                  t->where ? t->where : "its start");
        }
    twin_fail("its threads wait for each other for ever: %s [twin-deadlock]", list);
}

static bool looks(const TwinThread *t)
{
    return t->wait == WAIT_LOOK || t->wait == WAIT_PASS;
}

/* A round of the threads of a warp; true if one did more than look again. */
static bool warp_round(TwinBlock *b, int warp)
{
    int first = warp * machine.lanes, n = MIN(machine.lanes, b->nthread - first);
    bool moved = false;

    for (int j = 0; j < n && !machine.failed; j++) {
        TwinThread *t = &b->thread[first + (machine.reversed ? n - 1 - j : j)];
        if (t->done || !may_go(t))
            continue;
        bool looked = looks(t);
        t->t.acted = 0;
        resume(t);
        machine.passes |= !t->done && t->wait == WAIT_PASS;
        moved |= !looked || t->done || !looks(t) || t->t.acted;
    }
    return moved;
}

/* Each warp in turn, as far as it comes by itself. */
static bool block_round(TwinBlock *b)
{
    int n = (b->nthread + machine.lanes - 1) / machine.lanes;
    bool moved = false;

    for (int i = 0; i < n && !machine.failed; i++)
        while (warp_round(b, machine.reversed ? n - 1 - i : i))
            moved = true;
    machine.reversed = !machine.reversed;
    return moved;
}

/* Nobody may count on an order: warps, and blocks that run together, come as far as they can before
 * others begin, so that a barrier of too few lets them read what nobody wrote yet; the last ones
 * first in every other round. */
static void schedule(void)
{
    int looked = 0; /* rounds in which nothing changed */
    bool reversed = machine.reversed = true;

    while (machine.nalive && !machine.failed) {
        bool moved = machine.passes = false;
        for (int i = 0; i < machine.nblock && !machine.failed; i++)
            while (block_round(&machine.block[reversed ? machine.nblock - 1 - i : i]))
                moved = true;
        reversed = !reversed;
        looked = moved ? 0 : looked + 1;
        if (!moved && machine.nalive && !machine.failed) {
            if (machine.flights)
                flight_land_first();
            else if (!part_lanes() && looked > (machine.passes ? PASSES_MOST : LOOKS_MOST))
                deadlock();
        }
    }
    while (machine.flights && !machine.failed)
        flight_land_first();
}

/* The number in the grid of block i of a cluster. */
static int64_t number_of(const int64_t corner[3], int i)
{
    const Launch *l = machine.launch;
    const int *c = l->kernel->cluster;
    int64_t x = corner[0] + i % c[0], y = corner[1] + i / c[0] % c[1],
            z = corner[2] + i / c[0] / c[1];

    return x + l->grid[0] * (y + l->grid[1] * z);
}

/* The blocks of n clusters from the first on, together. */
static void run_together(int64_t first, int64_t n)
{
    const Launch *l = machine.launch;
    const int *c = l->kernel->cluster;
    int size = c[0] * c[1] * c[2];
    int64_t across = l->grid[0] / c[0], down = l->grid[1] / c[1];
    ArenaMark mark = arena_mark(machine.scratch);

    machine.nblock = (int)n * size;
    machine.block = NEWN(machine.scratch, TwinBlock, machine.nblock);
    machine.nalive = 0;
    machine.flights = machine.last_flight = NULL;
    for (int64_t i = first; i < first + n; i++) {
        int64_t corner[3] = {i % across * c[0], i / across % down * c[1], i / across / down * c[2]};
        for (int j = 0; j < size; j++) {
            TwinBlock *b = &machine.block[(i - first) * size + j];
            b->rank = j;
            b->ncluster = size;
            place_block(b, number_of(corner, j));
        }
    }
    schedule();
    for (int i = 0; i < machine.nblock && !machine.failed; i++)
        shared_check(i, l->shared);
    machine.block = NULL;
    arena_reset(machine.scratch, mark);
}

/* A launch may say no while there are some: it does after a few. */
bool machine_take(uint32_t first[3])
{
    enum { FEW = 3 };
    const Launch *l = machine.launch;
    const int *c = l->kernel->cluster;
    int64_t across = l->grid[0] / c[0], down = l->grid[1] / c[1];

    for (int64_t i = machine.cluster + 1; i < machine.nunit && machine.ntaken < FEW; i++) {
        if (machine.taken[i])
            continue;
        machine.taken[i] = true;
        machine.ntaken++;
        first[0] = (uint32_t)(i % across * c[0]);
        first[1] = (uint32_t)(i / across % down * c[1]);
        first[2] = (uint32_t)(i / across / down * c[2]);
        return true;
    }
    return false;
}

static bool fits(const Launch *l)
{
    const int *c = l->kernel->cluster;
    unsigned threads = l->block[0] * l->block[1] * l->block[2];

    if (l->kernel->threads_most && threads > (unsigned)l->kernel->threads_most)
        twin_fail("it is launched with %u threads; its bounds say %d [twin-fault]", threads,
                  l->kernel->threads_most);
    for (int d = 0; d < 3; d++)
        if (l->grid[d] % (unsigned)c[d])
            twin_fail("clusters of %d blocks do not divide a grid of %u [twin-fault]", c[d],
                      l->grid[d]);
    return true;
}

bool machine_launch(const Launch *l)
{
    int64_t n = (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const int *c = l->kernel->cluster;
    ArenaMark mark = arena_mark(machine.scratch);

    machine.launch = l;
    machine.failed = machine.running = machine.in_fault = false;
    /* the last addresses there are: what a text cuts off of one is missed */
    machine.base = SHARED_END - (l->shared + ALIGN - 1) / ALIGN * ALIGN;
    if (sigsetjmp(machine.jump, 1) == 0 && fits(l)) {
        int64_t clusters = n / (c[0] * c[1] * c[2]);
        machine.nunit = l->together ? 0 : clusters;
        machine.taken = NEWN(machine.scratch, bool, clusters + 1);
        for (int64_t i = 0; i < clusters && !machine.failed; i += l->together ? clusters : 1) {
            machine.cluster = i;
            machine.ntaken = 0;
            if (!machine.taken[i])
                run_together(i, l->together ? clusters : 1);
        }
    }
    arena_reset(machine.scratch, mark);
    machine.self = NULL;
    return !machine.failed;
}

static void instruction(int row, const char *name, void *const *at, int n)
{
    machine.assembly->op(row, name, at, n);
}

static unsigned long long special(const char *name)
{
    uint64_t value;

    if (!machine.assembly->special(name, &value))
        twin_fail("nobody knows the register %%%s [twin-meaning]", name);
    return value;
}

static unsigned long long ticks(void)
{
    return ++machine.ticks;
}

static NORETURN void give_up(void)
{
    twin_fail("it gave up: an assertion failed [twin-assert]");
}

const TlHost twin_host = {
    .op = instruction,
    .lanes = lanes,
    .meet = meet,
    .look_again = look_again,
    .pass = pass,
    .alive = alive,
    .special = special,
    .fail = give_up,
    .shared_address = shared_address,
    .global = global_address,
    .clock = ticks,
};
