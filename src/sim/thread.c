/* thread.c -- threads of a block as coroutines that run until they must wait.
 *
 * A kernel written per thread (uses_threads) runs every thread in turn, in order of index, each up
 * to its next synchronisation: a barrier, a shuffle, or a tile operator, which the block does as a
 * whole.  Asynchronous copies land when nothing else can move; with a seed, threads run in an order
 * made from it and copies land at times made from it.
 * When nothing can move, a synchronisation that some threads reached goes on without those that
 * wait elsewhere (divergent code); if there is none the run ends with [deadlock] and says who waits
 * where. */
#include "sim/machine.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { STACK_BYTES = 256 * 1024, STORERS = 8 };

typedef enum { WAIT_SYNC, WAIT_NAMED, WAIT_PHASE, WAIT_REGISTERS, WAIT_POLL } WaitKind;

/* Where threads of one scope gather at one statement. */
typedef struct {
    const Stmt *s;
    SimBlock *block;
    SyncScope scope;
    int key;              /* warp number, or hash of the role's groups */
    int expect;
    int narrived;
    SimThread **member;
    SimThread *leader;    /* set when they may go on */
    uint64_t order;       /* of the first arrival */
    bool over;
    double time;          /* when all had come */
} SyncPoint;

struct SimWait {
    WaitKind kind;
    SyncPoint *sync;
    int id;                 /* named barrier */
    uint64_t generation;
    const SimBarrier *bar;
    int64_t parity;
    int64_t more;           /* registers */
};

typedef struct SimSched {
    Context main;
    SimThread **thread;
    int n, each;          /* all; in a block */
    VEC(SyncPoint *) syncs;
    VEC(SimAgent *) agents; /* copies under way, in order of issue */
    uint64_t arrivals;
    bool failed;
} SimSched;

/* ---- switching ------------------------------------------------------------------------------- */

static void to_scheduler(Sim *m)
{
    SimThread *t = m->self;
    m->self = NULL;
    switch_to(&t->context, &m->sched->main);
    m->self = t;
}

void threads_give_up(Sim *m)
{
    m->sched->failed = true;
    if (m->self == NULL)
        m->self = m->leader;
    m->leader = NULL;
    to_scheduler(m);
    unreachable();
}

static void enter(void *arg)
{
    Sim *m = arg;
    SimThread *t = m->self;
    exec(m, m->k->body);
    agents_at_exit(m);
    cluster_at_exit(m);
    t->done = true;
    to_scheduler(m);
    unreachable();
}

static void resume(Sim *m, SimThread *t)
{
    m->self = t;
    m->block = t->block;
    m->value = t->value;
    m->mem = t->mem;
    switch_to(&m->sched->main, &t->context);
}

static void start(Sim *m, SimThread *t, int i)
{
    if (i == m->stacks.n) {
        void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED)
            recover_throw(STATUS_MEM, "no memory for the stack of a simulated thread");
        vec_push(m->keep, &m->stacks, stack);
    }
    switch_make(&t->context, m->stacks.at[i], STACK_BYTES, enter, m);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

int sim_thread_index(const Sim *m)
{
    return m->self ? m->self->index : 0;
}

static bool in_role(const SimThread *t, const Stmt *role)
{
    if (role == NULL)
        return true;
    if (role_lone(role) >= 0)
        return t->index == role_lone(role);
    for (int i = 0; i < role->u.role.nthread; i++)
        if (t->index / ROLE_THREADS == role->u.role.thread[i])
            return true;
    return false;
}

static bool in_scope(const Sim *m, const SimThread *self, const SimThread *t, SyncScope scope)
{
    if (t->done)
        return false;
    switch (scope) {
    case SYNC_GRID: return true;
    case SYNC_BLOCK: return t->block == self->block;
    case SYNC_ROLE: return t->block == self->block && in_role(t, self->role);
    case SYNC_GROUP:
        return t->block == self->block && t->index / m->group == self->index / m->group;
    case SYNC_WARP:
        return t->block == self->block && t->index / m->warp == self->index / m->warp;
    }
    unreachable();
}

static int scope_size(const Sim *m, const SimThread *self, SyncScope scope)
{
    int n = 0, from = 0, to = m->sched->n;
    if (scope != SYNC_GRID) {
        from = self->block->first_thread;
        to = from + m->sched->each;
    }
    if (scope == SYNC_WARP || scope == SYNC_GROUP) {
        int size = scope == SYNC_WARP ? m->warp : m->group;
        from += self->index / size * size;
        to = MIN(to, from + size);
    }
    for (int i = from; i < to; i++)
        n += in_scope(m, self, m->sched->thread[i], scope);
    return n;
}

int threads_in_role(const Sim *m)
{
    return m->self ? scope_size(m, m->self, SYNC_ROLE) : 1;
}

Flow exec_role(Sim *m, const Stmt *s)
{
    if (m->self == NULL)
        return exec(m, s->u.role.body);
    /* What a tile operator or parallel nest was lowered to: one thread works for all. */
    if (s->u.role.kind == ROLE_COLLECTIVE) {
        threads_collect(m, s);
        return FLOW_NEXT;
    }
    if (!in_role(m->self, s))
        return FLOW_NEXT;
    const Stmt *outer = m->self->role;
    m->self->role = s;
    Flow f = exec(m, s->u.role.body);
    m->self->role = outer;
    return f;
}

/* ---- synchronisation ------------------------------------------------------------------------- */

static int scope_key(const Sim *m, const SimThread *t, SyncScope scope)
{
    if (scope == SYNC_WARP)
        return t->index / m->warp;
    if (scope == SYNC_GROUP)
        return t->index / m->group;
    if (scope == SYNC_ROLE && t->role && t->role->u.role.nthread > 0)
        return t->role->u.role.thread[0] + 1;
    return 0;
}

static SyncPoint *find_sync(Sim *m, const Stmt *s, SyncScope scope)
{
    SimThread *t = m->self;
    SimSched *sched = m->sched;
    int key = scope_key(m, t, scope);
    for (int i = 0; i < sched->syncs.n; i++) {
        SyncPoint *x = sched->syncs.at[i];
        if (x->s == s && !x->leader && x->scope == scope && x->key == key &&
            (scope == SYNC_GRID || x->block == t->block))
            return x;
    }
    SyncPoint *x = NULL;
    for (int i = 0; i < sched->syncs.n && !x; i++)
        if (sched->syncs.at[i]->over && sched->syncs.at[i]->narrived == 0)
            x = sched->syncs.at[i];
    if (x == NULL) {
        x = NEW(m->arena, SyncPoint);
        x->member = NEWN(m->arena, SimThread *, sched->n);
        vec_push(m->arena, &sched->syncs, x);
    }
    SimThread **member = x->member;
    *x = (SyncPoint){.s = s, .block = t->block, .scope = scope, .key = key, .member = member,
                .order = ++sched->arrivals};
    x->expect = scope_size(m, t, scope);
    return x;
}

static void block_on(Sim *m, struct SimWait *w)
{
    m->self->wait = w;
    m->self->at = m->at;
    to_scheduler(m);
    m->self->wait = NULL;
}

static int by_index(const void *a, const void *b)
{
    const SimThread *x = *(SimThread *const *)a, *y = *(SimThread *const *)b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Barriers, and what is done by one for all; an exchange of registers orders nothing. */
static bool orders_memory(const Stmt *s)
{
    if (s->kind == ST_INSTR)
        return s->u.instr.isa->scope == BY_BLOCK;
    if (s->kind != ST_CALL)
        return true;
    return strchr(intrin_table[s->u.call.which].effects, 'S') != NULL;
}

void threads_sync(Sim *m, const Stmt *s, SyncScope scope, SyncFn *once)
{
    SyncPoint *x = find_sync(m, s, scope);
    SimThread *t = m->self;
    x->member[x->narrived++] = t;
    if (x->narrived >= x->expect) {
        x->leader = t;
    } else {
        struct SimWait w = {.kind = WAIT_SYNC, .sync = x};
        block_on(m, &w);
    }
    if (x->leader == t && !x->over) {
        int n = x->narrived;
        x->time = times_of_all(x->member, n);
        if (scope != SYNC_GRID)
            qsort(x->member, (size_t)n, sizeof *x->member, by_index);
        if (orders_memory(s))
            clock_join_all(x->member, n);
        if (scope == SYNC_GRID)
            m->unit += n;
        if (once) {
            once(m, s, x->member, n);
            if (orders_memory(s))
                clock_join_all(x->member, n);
        }
        x->over = true;
    }
    times_until(m, x->time, s->kind == ST_INSTR ? SIM_MATRIX : SIM_WAIT, s);
    x->narrived--; /* the last to leave frees the record */
}

static void collect_tile(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    (void)member;
    (void)n;
    SimThread *self = m->self;
    ArenaMark mark = arena_mark(m->scratch);
    if (s->kind == ST_TILE)
        s->u.tile.op->simulate(m, s);
    else
        exec_instr(m, s);
    arena_reset(m->scratch, mark);
    m->self = self;
}

static void collect_body(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    (void)n;
    SimThread *self = m->self;
    m->self = NULL; /* nothing inside waits; sim_fail still has to leave the coroutine */
    m->leader = self;
    m->first = member[0];
    exec(m, s->kind == ST_ROLE ? s->u.role.body : s);
    m->leader = m->first = NULL;
    m->self = self;
}

void threads_collect(Sim *m, const Stmt *s)
{
    threads_sync(m, s, SYNC_ROLE,
                 s->kind == ST_FOR || s->kind == ST_ROLE ? collect_body : collect_tile);
}

void threads_barrier(Sim *m, int id, int64_t count, bool wait)
{
    SimBlock *b = m->block;
    int most = MIN(m->k->machine->named_barriers, COUNT(b->named));
    if (id < 0 || id >= most)
        sim_fail(m, m->at, "named barrier %d; there are %d [barrier-id]", id, most);
    uint64_t generation = b->generation[id];
    if (m->self->clock) {
        if (!b->named_clock[id])
            b->named_clock[id] = clock_new(m, m->self->nclock);
        clock_release(m->self, b->named_clock[id]);
    }
    b->named_time[id] = MAX(b->named_time[id], m->self->time);
    if (++b->named[id] >= (uint64_t)count) {
        b->named[id] = 0;
        b->generation[id]++;
        b->named_ready[id] = b->named_time[id];
        if (wait && m->self->clock)
            clock_join(m->self->clock, b->named_clock[id], m->self->nclock);
        return;
    }
    struct SimWait w = {.kind = WAIT_NAMED, .id = id, .generation = generation};
    if (wait)
        block_on(m, &w);
    if (wait)
        times_until(m, b->named_ready[id], SIM_WAIT, m->at);
    if (wait && m->self->clock)
        clock_join(m->self->clock, b->named_clock[id], m->self->nclock);
}

static bool phase_over(const SimBarrier *bar, int64_t parity)
{
    return (bar->phase & 1) != (parity & 1);
}

void threads_wait_phase(Sim *m, SimBarrier *bar, int64_t parity)
{
    struct SimWait w = {.kind = WAIT_PHASE, .bar = bar, .parity = parity};
    if (!phase_over(bar, parity))
        block_on(m, &w);
    bar->waited = MAX(bar->waited, bar->phase);
    times_until(m, bar->ready, SIM_WAIT, m->at);
    if (m->self->clock && bar->clock)
        clock_join(m->self->clock, bar->clock, m->self->nclock);
}

void threads_wait_registers(Sim *m, int64_t count)
{
    SimThread *t = m->self;
    if (!m->registers)
        return;
    struct SimWait w = {.kind = WAIT_REGISTERS, .more = count - t->register_cap};
    if (w.more > 0 && t->block->registers + w.more > m->k->machine->regs_unit)
        block_on(m, &w);
    /* One thread stands for all of the producer's group. */
    bool for_all = t->role && t->role->u.role.kind == ROLE_PRODUCER;
    t->block->registers += w.more * (for_all ? ROLE_THREADS : 1);
    t->register_cap = count;
}

void threads_poll(Sim *m)
{
    struct SimWait w = {.kind = WAIT_POLL};
    block_on(m, &w);
}

/* ---- agents ---------------------------------------------------------------------------------- */

static int groups_of(const Sim *m)
{
    return (m->sched->each + m->group - 1) / m->group;
}

int agent_of_group(const Sim *m, const SimThread *t)
{
    return t->block->first_agent + t->index / m->group * group_agents(m);
}

int agent_of_warp(const Sim *m, const SimThread *t)
{
    return agent_of_group(m, t) + 1 + t->index % m->group / m->warp;
}

/* What one thread issues is an actor the first time. */
static int own_agent(Sim *m, SimThread *t, int *agent)
{
    SimBlock *b = t->block;
    if (*agent == 0) {
        if (b->nstore == STORERS)
            sim_fail(m, m->at, "more than %d threads of the block issue bulk stores "
                     "[unsupported-here]", STORERS);
        int groups = groups_of(m) * group_agents(m);
        *agent = b->first_agent + groups + b->nbarrier + b->nstore++;
    }
    return *agent;
}

int agent_of_stores(Sim *m, SimThread *t)
{
    return own_agent(m, t, &t->store_agent);
}

int agent_of_mmas(Sim *m, SimThread *t)
{
    return own_agent(m, t, &t->mma_agent);
}

void threads_add_agent(Sim *m, SimAgent *a)
{
    a->lands = times_landing(m, a);
    vec_push(m->arena, &m->sched->agents, a);
}

static uint64_t next_random(Sim *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

static void land(Sim *m, int i)
{
    SimSched *sched = m->sched;
    SimAgent *a = sched->agents.at[i];
    memmove(&sched->agents.at[i], &sched->agents.at[i + 1],
            sizeof(SimAgent *) * (size_t)(sched->agents.n - i - 1));
    sched->agents.n--;
    agent_land(m, a);
}

/* One copy lands: the oldest, or with a seed any that may. */
static bool land_one(Sim *m)
{
    SimSched *sched = m->sched;
    int n = sched->agents.n, i = n && m->permute ? (int)(next_random(m) % (uint64_t)n) : 0;
    if (n == 0)
        return false;
    while (!agent_may_land(sched->agents.at, i))
        i--;
    land(m, i);
    return true;
}

/* ---- the scheduler --------------------------------------------------------------------------- */

static bool can_run(const Sim *m, const SimThread *t)
{
    const struct SimWait *w = t->wait;
    if (w == NULL)
        return true;
    switch (w->kind) {
    case WAIT_SYNC: return w->sync->over || w->sync->leader == t;
    case WAIT_NAMED: return t->block->generation[w->id] != w->generation;
    case WAIT_PHASE: return phase_over(w->bar, w->parity);
    case WAIT_REGISTERS: return t->block->registers + w->more <= m->k->machine->regs_unit;
    case WAIT_POLL: return true;
    }
    unreachable();
}

/* Who waits where, as one line per place. */
static void wait_text(const Sim *m, Str *out, const SimThread *t)
{
    const struct SimWait *w = t->wait;
    switch (w->kind) {
    case WAIT_SYNC: str_puts(out, "for the other threads"); break;
    case WAIT_NAMED: str_printf(out, "at barrier %d (%llu have come)", w->id,
                                (unsigned long long)t->block->named[w->id]); break;
    case WAIT_PHASE:
        str_printf(out, "for parity %lld of %s[%lld], which is in phase %lld with %lld of %lld "
                   "arrivals and %lld bytes missing", (long long)(w->parity & 1),
                   w->bar->buf ? w->bar->buf->name : "the cluster", (long long)w->bar->i,
                   (long long)w->bar->phase, (long long)w->bar->pending, (long long)w->bar->expect,
                   (long long)w->bar->tx);
        break;
    case WAIT_REGISTERS:
        str_printf(out, "for %lld registers more; the block holds %lld of %d", (long long)w->more,
                   (long long)t->block->registers, m->k->machine->regs_unit);
        break;
    case WAIT_POLL: str_puts(out, "until an atomic operation finds another value"); break;
    }
}

NORETURN static void report_deadlock(Sim *m)
{
    SimSched *sched = m->sched;
    const SimThread *first = NULL;
    for (int i = 0; i < sched->n && !first; i++)
        if (!sched->thread[i]->done)
            first = sched->thread[i];
    diag_error(m->diag, first->at->span, "no thread can go on [deadlock]");
    for (int i = 0, said = 0; i < sched->n && said < 8; said++) {
        const SimThread *t = sched->thread[i];
        int j = i + 1;
        if (t->done) {
            i++, said--;
            continue;
        }
        while (j < sched->n && !sched->thread[j]->done && sched->thread[j]->at == t->at &&
               sched->thread[j]->block == t->block)
            j++;
        Str s;
        str_init(&s, m->ir->arena);
        str_printf(&s, "threads %d to %d of block (%lld, %lld, %lld) wait here ", t->index,
                   sched->thread[j - 1]->index, (long long)t->block->at[0],
                   (long long)t->block->at[1], (long long)t->block->at[2]);
        wait_text(m, &s, t);
        diag_note(m->diag, t->at->span, "%s", s.s);
        i = j;
    }
    diag_throw(m->diag);
}

typedef struct {
    const Stmt *a, *b, *first;
} Which;

static bool see_first(const Stmt *s, void *arg)
{
    Which *w = arg;
    if (!w->first && (s == w->a || s == w->b))
        w->first = s;
    return !w->first;
}

static bool comes_first(const Stmt *body, const Stmt *a, const Stmt *b)
{
    Which w = {a, b, NULL};
    if (a == b)
        return false;
    stmt_visit(body, see_first, &w);
    return w.first == a;
}

/* A synchronisation in divergent code goes on with those who came: the first in the text, since
 * those at a later one may be waiting for them. */
static bool release_sync(Sim *m)
{
    SimSched *sched = m->sched;
    SyncPoint *best = NULL;
    for (int i = 0; i < sched->syncs.n; i++) {
        SyncPoint *x = sched->syncs.at[i];
        bool firm = x->scope == SYNC_BLOCK || x->scope == SYNC_GRID;
        if (x->over || x->leader || x->narrived == 0 || firm)
            continue;
        if (!best || comes_first(m->k->body, x->s, best->s) ||
            (x->s == best->s && x->order < best->order))
            best = x;
    }
    if (best)
        best->leader = best->member[best->narrived - 1];
    return best != NULL;
}

/* Block-wide ones do not wait for threads that have returned. */
static bool settle_syncs(Sim *m)
{
    SimSched *sched = m->sched;
    for (int i = 0; i < sched->syncs.n; i++) {
        SyncPoint *x = sched->syncs.at[i];
        if (x->over || x->leader || x->narrived == 0)
            continue;
        if (x->narrived >= scope_size(m, x->member[0], x->scope)) {
            x->leader = x->member[x->narrived - 1];
            return true;
        }
    }
    return false;
}

static void run_one(Sim *m, SimThread *t, int *left)
{
    resume(m, t);
    if (m->sched->failed)
        diag_throw(m->diag);
    *left -= t->done;
}

static bool is_polling(const SimThread *t)
{
    return !t->done && t->wait && t->wait->kind == WAIT_POLL;
}

/* Every thread that can run does; with a seed in a rotated order.  Who polls in vain has not
 * moved. */
static bool run_round(Sim *m, int *left)
{
    SimSched *sched = m->sched;
    int n = sched->n, at = 0, step = 1;
    bool moved = false;
    if (m->permute) {
        at = (int)(next_random(m) % (uint64_t)n);
        step = next_random(m) & 1 ? 1 : n - 1;
    }
    for (int i = 0; i < n; i++, at = (at + step) % n) {
        SimThread *t = sched->thread[at];
        if (t->done || !can_run(m, t))
            continue;
        bool polled = is_polling(t);
        run_one(m, t, left);
        moved |= !polled || !is_polling(t);
        if (m->permute && sched->agents.n && next_random(m) % 64 == 0)
            land_one(m);
    }
    return moved;
}

/* Nobody moves but those that poll: a loop may give up after so many times. */
static bool polls_go_on(const Sim *m, int *idle)
{
    enum { IDLE_MOST = 1 << 14 };
    const SimSched *sched = m->sched;

    for (int i = 0; i < sched->n; i++)
        if (is_polling(sched->thread[i]))
            return ++*idle < IDLE_MOST;
    return false;
}

static void run_all(Sim *m)
{
    int left = m->sched->n, idle = 0;
    while (left > 0)
        if (run_round(m, &left) || settle_syncs(m) || land_one(m) || release_sync(m))
            idle = 0;
        else if (!polls_go_on(m, &idle))
            report_deadlock(m);
}

/* ---- threads of a block ---------------------------------------------------------------------- */

static bool is_private(const Sim *m, const Buffer *b)
{
    return (m->registers && b->scope == MEM_FRAGMENT) || b->scope == MEM_LOCAL ||
           b->scope == MEM_VAR || b->scope == MEM_DESCRIPTOR;
}

static SimMem *private_mem(Sim *m, SimThread *t, const Buffer *b)
{
    SimMem *mem = mem_make(m, b, b->scope != MEM_VAR);
    if (m->in_mma[b->id]) {
        mem->flight = NEW(m->arena, SimFlight);
        mem->flight->thread = t;
        mem->flight->slot = NEWN(m->arena, uint32_t, mem->nelem + 1);
    }
    return mem;
}

static SimThread *thread_new(Sim *m, SimBlock *blk, int index)
{
    Kernel *k = m->k;
    SimThread *t = NEW(m->arena, SimThread);
    t->index = index;
    t->block = blk;
    t->value = NEWN(m->arena, Value1, m->nvar + 1);
    t->mem = NEWN(m->arena, SimMem *, m->nbuf + 1);
    memcpy(t->value, m->host_value, sizeof(Value1) * (size_t)m->nvar);
    memcpy(t->mem, blk->mem, sizeof(SimMem *) * (size_t)m->nbuf);
    if (k->uses_threads)
        for (int i = 0; i < k->buffers.n; i++) {
            const Buffer *b = k->buffers.at[i];
            if (is_private(m, b) && !b->view_of)
                t->mem[b->id] = private_mem(m, t, b);
        }
    for (int d = 0, rest = index; d < 3; d++) {
        int n = k->threads[d] > 0 ? k->threads[d] : 1;
        if (k->thread[d])
            t->value[k->thread[d]->id] = (Value1){.i = rest % n};
        if (k->block[d])
            t->value[k->block[d]->id] = (Value1){.i = blk->at[d]};
        rest /= n;
    }
    t->at = k->body;
    t->actor = blk->rank * m->sched->each + index;
    int step = MAX(k->machine->regs_step, 1);
    t->register_cap =
        MIN(k->machine->regs_thread, k->machine->regs_unit / m->sched->each / step * step);
    blk->registers += t->register_cap;
    if (m->races) {
        t->nclock = blk->cluster->nclock;
        t->clock = clock_new(m, t->nclock);
        t->clock[t->actor] = 1;
    }
    return t;
}

void threads_free(Sim *m)
{
    for (int i = 0; i < m->stacks.n; i++)
        munmap(m->stacks.at[i], STACK_BYTES);
    m->stacks.n = 0;
    m->sched = NULL;
}

/* Bits that every element of shared memory is a multiple of.  Halves of a byte are stored one at a
 * time, by a loop that does not lose the other half. */
static int shared_grain(const Kernel *k)
{
    int bits = 64;
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->scope == MEM_SHARED || k->buffers.at[i]->scope == MEM_TMEM)
            bits |= dtype_bits(k->buffers.at[i]->type);
    return bits & -bits;
}

/* Buffers that follow each other in the same bytes share what is known about them. */
static void watch_shared(Sim *m, SimBlock *blk)
{
    int grain = shared_grain(m->k), nactor = blk->cluster->nactor;
    SimShadow *whole = blk->shared ? shadow_new(m, blk->shared_bytes, grain, nactor) : NULL;
    for (int i = 0; i < m->k->buffers.n; i++) {
        const Buffer *b = m->k->buffers.at[i];
        SimMem *mem = blk->mem[b->id];
        if ((b->scope != MEM_SHARED && b->scope != MEM_TMEM) || b->view_of || !mem)
            continue;
        if (whole && mem->data >= blk->shared && mem->data < blk->shared + blk->shared_bytes) {
            mem->shadow = whole;
            mem->shadow_at = mem->data - blk->shared;
        } else {
            mem->shadow = shadow_new(m, mem->nbytes, grain, nactor);
        }
    }
}

/* Actors: all threads, then for each block its warpgroups with their warps, its barriers in memory,
 * its threads that store. */
static void make_cluster(Sim *m, SimBlock **block, int n)
{
    SimCluster *c = NEW(m->arena, SimCluster);
    int each = m->sched->each;
    c->nblock = n;
    c->block = block;
    c->nthread = n * each;
    c->thread = m->sched->thread + block[0]->first_thread;
    c->nactor = c->nthread;
    c->barrier.expect = c->barrier.pending = c->nthread;
    for (int r = 0; r < n; r++) {
        block[r]->cluster = c;
        block[r]->rank = r;
        block[r]->registers = block[r]->nstore = 0;
        block[r]->first_agent = c->nactor;
        block_name_agents(m, block[r], c->nactor + groups_of(m) * group_agents(m));
        c->nactor += groups_of(m) * group_agents(m) + block[r]->nbarrier + STORERS;
    }
    c->ngroup = groups_of(m);
    c->stride = (c->nactor - c->nthread) / n;
    c->nclock = c->nactor + flags_places(m, c);
}

/* Memory of the threads is taken back with the blocks. */
void blocks_run_threads(Sim *m, SimBlock **block, int nblock, int per)
{
    int each = m->k->uses_threads ? kernel_launch_threads(m->k) : 1;
    ArenaMark mark = arena_mark(m->arena);
    SimSched *sched = NEW(m->arena, SimSched);
    SimMem **mem = m->mem;
    sched->each = each;
    sched->n = each * nblock;
    sched->thread = NEWN(m->arena, SimThread *, sched->n);
    m->sched = sched;
    for (int i = 0; i < nblock; i++)
        block[i]->first_thread = i * each;
    for (int i = 0; i < nblock; i += per)
        make_cluster(m, block + i, MIN(per, nblock - i));
    for (int i = 0; m->races && i < nblock; i++)
        watch_shared(m, block[i]);
    for (int i = 0; i < sched->n; i++) {
        sched->thread[i] = thread_new(m, block[i / each], i % each);
        start(m, sched->thread[i], i);
    }
    run_all(m);
    barriers_at_end(m);
    if (m->o.stats)
        stats_end(m);
    m->sched = NULL;
    m->mem = mem;
    m->value = m->host_value;
    arena_reset(m->arena, mark);
}
