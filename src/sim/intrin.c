/* intrin.c -- calls whose effect or value depends on the threads that run them. */
#include "sim/machine.h"

#include <math.h>

#define PI 3.14159265358979323846

/* ---- barriers -------------------------------------------------------------------------------- */

static int64_t arg_int(Sim *m, const Stmt *s, int i, int64_t otherwise)
{
    return i >= 0 && i < s->u.call.n && s->u.call.arg[i] ? eval(m, s->u.call.arg[i]).i : otherwise;
}

Value1 exec_sync(Sim *m, const Stmt *s)
{
    int64_t id = arg_int(m, s, 0, -1), count = arg_int(m, s, 1, 0);
    if (m->self == NULL)
        return NO_VALUE;
    if (s->u.call.which == INTRIN_BARRIER_ARRIVE)
        threads_barrier(m, (int)id, count, false);
    else if (id > 0 || count > 0)
        threads_barrier(m, (int)id, count > 0 ? count : threads_in_role(m), true);
    else
        threads_sync(m, s, m->self->role ? SYNC_ROLE : SYNC_BLOCK, NULL);
    return NO_VALUE;
}

Value1 exec_sync_warp(Sim *m, const Stmt *s)
{
    if (m->self && m->k->uses_threads)
        threads_sync(m, s, SYNC_WARP, NULL);
    return NO_VALUE;
}

Value1 exec_sync_grid(Sim *m, const Stmt *s)
{
    if (m->self)
        threads_sync(m, s, SYNC_GRID, NULL);
    return NO_VALUE;
}

Value1 exec_registers(Sim *m, const Stmt *s)
{
    if (m->self)
        threads_wait_registers(m, arg_int(m, s, 0, 0));
    return NO_VALUE;
}

Value1 exec_nothing(Sim *m, const Stmt *s) /* that anybody sees */
{
    (void)m;
    (void)s;
    return NO_VALUE;
}

/* ---- votes and reductions over the block ----------------------------------------------------- */

static void vote_block(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    int64_t count = 0;
    (void)m;
    for (int i = 0; i < n; i++)
        count += member[i]->arg[0].i != 0;
    int64_t r = s->u.call.which == INTRIN_SYNC_COUNT ? count
                : s->u.call.which == INTRIN_SYNC_AND ? count == n : count > 0;
    for (int i = 0; i < n; i++)
        member[i]->result.i = r;
}

static Value1 combine(Intrin which, const char *text, DType t, Value1 a, Value1 b)
{
    static const struct { const char *name; ExprOp op; } word[] = {
        {"sum", EX_ADD}, {"add", EX_ADD}, {"max", EX_MAX}, {"min", EX_MIN}, {"mul", EX_MUL},
        {"bitand", EX_BITAND}, {"bitor", EX_BITOR}, {"bitxor", EX_BITXOR},
    };
    ExprOp op = EX_ADD;
    switch (which) {
    case INTRIN_WARP_SUM: op = EX_ADD; break;
    case INTRIN_WARP_MAX: op = EX_MAX; break;
    case INTRIN_WARP_MIN: op = EX_MIN; break;
    case INTRIN_WARP_AND: op = EX_BITAND; break;
    case INTRIN_WARP_OR: op = EX_BITOR; break;
    default:
        for (int i = 0; text && i < COUNT(word); i++)
            if (strcmp(text, word[i].name) == 0)
                op = word[i].op;
    }
    return value_binary(op, t, a, b);
}

/* Lanes that T.warp_reduce_* and T.match_* are about: a warp, or the part of one that is a warp of
 * other machines. */
static bool same_part(const Sim *m, const SimThread *a, const SimThread *b)
{
    int part = MIN(kernel_part(m->k), m->warp);
    return a->index / part == b->index / part;
}

static void reduce_members(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    DType t = s->u.call.arg[0]->type;
    for (int i = 0; i < n; i++) {
        bool first = true;
        for (int j = 0; j < n; j++) {
            if (!same_part(m, member[i], member[j]))
                continue;
            member[i]->result = first ? member[j]->arg[0]
                                      : combine(s->u.call.which, s->u.call.text, t,
                                                member[i]->result, member[j]->arg[0]);
            first = false;
        }
    }
}

/* An allreduce has a value, a condition (threads without it bring nothing), then thread indices. */
enum { VALUE, CONDITION, AXES };

/* Threads that agree on the axes that are not reduced form a group. */
static bool same_group(const Kernel *k, const Stmt *s, const SimThread *a, const SimThread *b)
{
    for (int d = 0; d < 3; d++) {
        if (k->thread[d] == NULL)
            continue;
        bool reduced = s->u.call.n <= AXES;
        for (int i = AXES; i < s->u.call.n; i++)
            reduced |= s->u.call.arg[i]->op == EX_VAR && s->u.call.arg[i]->u.var == k->thread[d];
        int id = k->thread[d]->id;
        if (!reduced && a->value[id].i != b->value[id].i)
            return false;
    }
    return true;
}

static void allreduce(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    DType t = s->u.call.arg[0]->type;
    for (int i = 0; i < n; i++) {
        bool first = true;
        for (int j = 0; j < n; j++) {
            if (!same_group(m->k, s, member[i], member[j]) ||
                (s->u.call.n > CONDITION && member[j]->arg[CONDITION].i == 0))
                continue;
            member[i]->result = first ? member[j]->arg[0]
                                      : combine(INTRIN_ALLREDUCE, s->u.call.text, t,
                                                member[i]->result, member[j]->arg[0]);
            first = false;
        }
    }
}

/* ---- warps ----------------------------------------------------------------------------------- */

/* Shuffles have a value, a lane, a width and perhaps a mask. */
static int source_lane(const Sim *m, const Stmt *s, const SimThread *t)
{
    int lane = t->index % m->warp, by = (int)t->arg[1].i;
    int width = t->arg[2].i > 0 ? (int)t->arg[2].i : m->warp;
    int base = lane / width * width, from = lane;
    switch (s->u.call.which) {
    case INTRIN_SHFL: from = base + ((by % width) + width) % width; break;
    case INTRIN_SHFL_XOR: from = lane ^ by; break;
    case INTRIN_SHFL_DOWN: from = lane + by < base + width ? lane + by : lane; break;
    default: from = lane - by >= base ? lane - by : lane; break;
    }
    return from >= base && from < base + width ? from : lane;
}

static void shuffle(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    for (int i = 0; i < n; i++) {
        int from = source_lane(m, s, member[i]);
        member[i]->result = member[i]->arg[0];
        for (int j = 0; j < n; j++)
            if (member[j]->index % m->warp == from)
                member[i]->result = member[j]->arg[0];
    }
}

static bool same_value(DType t, Value1 a, Value1 b)
{
    return dtype_is_float(t) ? a.f == b.f : a.i == b.i;
}

/* Lanes of its part that hold what a thread holds; whole: none, unless all of them do. */
static uint64_t match_part(Sim *m, DType t, SimThread *const *member, int n, int i, bool whole)
{
    int part = MIN(kernel_part(m->k), m->warp);
    uint64_t all = 0, same = 0;
    for (int j = 0; j < n; j++) {
        if (!same_part(m, member[i], member[j]))
            continue;
        uint64_t bit = (uint64_t)1 << (member[j]->index % part);
        all |= bit;
        if (same_value(t, member[i]->arg[0], member[j]->arg[0]))
            same |= bit;
    }
    return whole && same != all ? 0 : same;
}

static void vote_warp(Sim *m, const Stmt *s, SimThread *const *member, int n)
{
    uint64_t all = 0, set = 0;
    DType t = s->u.call.n ? s->u.call.arg[0]->type : DT_I32;
    for (int i = 0; i < n; i++) {
        uint64_t bit = (uint64_t)1 << (member[i]->index % m->warp);
        all |= bit;
        if (member[i]->arg[0].i != 0 || member[i]->arg[0].f != 0)
            set |= bit;
    }
    for (int i = 0; i < n; i++) {
        uint64_t r = 0;
        switch (s->u.call.which) {
        case INTRIN_ANY_SYNC: r = set != 0; break;
        case INTRIN_ALL_SYNC: r = set == all; break;
        case INTRIN_BALLOT: r = set; break;
        case INTRIN_ACTIVEMASK: r = all; break;
        case INTRIN_MATCH_ANY: r = match_part(m, t, member, n, i, false); break;
        case INTRIN_MATCH_ALL: r = match_part(m, t, member, n, i, true); break;
        default: break;
        }
        member[i]->result.i = (int64_t)r;
    }
}

/* ---- random numbers: Philox 4x32, 10 rounds -------------------------------------------------- */

typedef struct {
    uint32_t c[4], k[2];
} Philox;

static void philox_round(Philox *p)
{
    uint64_t a = (uint64_t)0xD2511F53u * p->c[0], b = (uint64_t)0xCD9E8D57u * p->c[2];
    uint32_t c1 = p->c[1], c3 = p->c[3];
    p->c[0] = (uint32_t)(b >> 32) ^ c1 ^ p->k[0];
    p->c[1] = (uint32_t)b;
    p->c[2] = (uint32_t)(a >> 32) ^ c3 ^ p->k[1];
    p->c[3] = (uint32_t)a;
    p->k[0] += 0x9E3779B9u;
    p->k[1] += 0xBB67AE85u;
}

/* State: seed, position in the sequence (in 32-bit numbers), sequence number. */
static uint64_t *rng_state(Sim *m)
{
    return m->self ? m->self->rng : m->first ? m->first->rng : m->block->rng;
}

static uint32_t rng_next(Sim *m)
{
    uint64_t *st = rng_state(m);
    if (st[3])
        return generator_next(st);
    uint64_t at = st[1]++;
    Philox p = {.c = {(uint32_t)(at / 4), (uint32_t)(at / 4 >> 32), (uint32_t)st[2],
                      (uint32_t)(st[2] >> 32)},
                .k = {(uint32_t)st[0], (uint32_t)(st[0] >> 32)}};
    for (int i = 0; i < 10; i++)
        philox_round(&p);
    return p.c[at % 4];
}

static double rng_uniform(Sim *m, int64_t bits)
{
    uint64_t x = rng_next(m);
    if (bits == 64)
        return (double)(x ^ (uint64_t)rng_next(m) << 21) * 0x1p-53 + 0x1p-54;
    return value_round(DT_F32, (double)x * 0x1p-32 + 0x1p-33);
}

Value1 exec_rng(Sim *m, const Stmt *s)
{
    uint64_t *st = rng_state(m);
    int64_t bits = arg_int(m, s, 0, 32);
    double u;
    switch (s->u.call.which) {
    case INTRIN_RNG_INIT:
        st[0] = (uint64_t)arg_int(m, s, 0, 0);
        st[2] = (uint64_t)arg_int(m, s, 1, sim_thread_index(m));
        st[1] = (uint64_t)arg_int(m, s, 2, 0);
        st[3] = (uint64_t)hint_int(m->k->hints, "generator", 0);
        if (st[3])
            generator_init(st);
        return (Value1){0};
    case INTRIN_RNG_RAND: return (Value1){.i = rng_next(m)};
    default:
        u = rng_uniform(m, bits);
        if (s->u.call.text && strcmp(s->u.call.text, "normal") == 0)
            u = sqrt(-2 * log(u)) * sin(2 * PI * rng_uniform(m, bits));
        return (Value1){.f = bits == 64 ? u : value_round(DT_F32, u)};
    }
}

/* ---- calls to C ------------------------------------------------------------------------------ */

static void put_conversion(Sim *m, Str *out, const char *spec, const Expr *e)
{
    char last = spec[strlen(spec) - 1];
    Value1 v = eval(m, e);
    char fmt[32];
    if (last == 's') {
        str_puts(out, e->op == EX_STR ? e->u.text : "?");
    } else if (dtype_is_float(e->type)) {
        snprintf(fmt, sizeof fmt, "%%%c", strchr("eEfFgG", last) ? last : 'g');
        if (strchr(spec, '.'))
            snprintf(fmt, sizeof fmt, "%s", spec);
        char text[512];
        snprintf(text, sizeof text, fmt, v.f);
        str_puts(out, text);
    } else if (last == 'x') {
        str_printf(out, "%llx", (unsigned long long)v.i);
    } else {
        str_printf(out, dtype_is_unsigned(e->type) ? "%llu" : "%lld", (long long)v.i);
    }
}

Value1 exec_extern(Sim *m, const Stmt *s)
{
    Str out;
    if (s->u.call.text == NULL || strcmp(s->u.call.text, "printf") != 0)
        sim_fail(m, s, "the simulator cannot call the C function '%s' [sim-extern]",
                 s->u.call.text ? s->u.call.text : "");
    ArenaMark mark = arena_mark(m->scratch);
    str_init(&out, m->scratch);
    const char *f = s->u.call.n && s->u.call.arg[0]->op == EX_STR ? s->u.call.arg[0]->u.text : "";
    int next = 1;
    while (*f) {
        if (*f != '%' || f[1] == '%') {
            str_putc(&out, *f);
            f += *f == '%' ? 2 : 1;
            continue;
        }
        char spec[16];
        size_t n = 1 + strspn(f + 1, "0123456789.+-# lhz");
        n = MIN(n + 1, sizeof spec - 1);
        memcpy(spec, f, n);
        spec[n] = 0;
        if (next < s->u.call.n)
            put_conversion(m, &out, spec, s->u.call.arg[next++]);
        f += strlen(spec);
    }
    sim_print(m, out.s);
    arena_reset(m->scratch, mark);
    return NO_VALUE;
}

/* ---- many bits at once ----------------------------------------------------------------------- */

/* Element i from an address on. */
static int64_t element_from(Sim *m, const SimMem *mem, const Expr *addr, int64_t i)
{
    int64_t at[RANK_MOST];
    index_values(m, addr->u.buf, addr->kid, addr->nkid, at);
    if (addr->nkid > 0)
        at[addr->nkid - 1] += i;
    int64_t found = mem_offset(m, mem, at, addr->nkid);
    if (found < 0)
        sim_fail(m, m->at, "bits outside of '%s' are touched [out-of-bounds]", addr->u.buf->name);
    return found;
}

Value1 exec_wide(Sim *m, const Stmt *s)
{
    const Expr *to = s->u.call.arg[0], *from = s->u.call.arg[1];
    bool load = s->u.call.which == INTRIN_WIDE_LOAD, yes = eval(m, s->u.call.arg[2]).i != 0;
    int nbit = (int)buffer_static_size(load ? to->u.buf : from->u.buf) * 32;
    SimMem *dst = sim_mem(m, to->u.buf);
    const SimMem *src = sim_mem(m, from->u.buf);
    char bits[32] = {0};

    m->at = s;
    if (!yes && !load)
        return NO_VALUE;
    const SimMem *far = load ? src : dst;
    int64_t first = yes ? element_from(m, far, load ? from : to, 0) : 0;
    if (first * dtype_bits(far->type) % nbit)
        sim_fail(m, s, "%d bits at once start at a multiple of as many, not at element %lld of "
                 "'%s' [misaligned]", nbit, (long long)first, far->buf->name);
    for (int i = 0; yes && i < nbit / dtype_bits(src->type); i++) {
        Value1 v = mem_get(m, src, element_from(m, src, from, i));
        num_store(src->type, bits, i, v.f, v.i);
    }
    for (int i = 0; i < nbit / dtype_bits(dst->type); i++) {
        Value1 v = {0};
        num_load(dst->type, bits, i, &v.f, &v.i);
        mem_put(m, dst, element_from(m, dst, to, i), v);
    }
    return NO_VALUE;
}

/* To the same place in the shared memory of another block of the cluster. */
Value1 exec_peer_copy(Sim *m, const Stmt *s)
{
    const Expr *to = s->u.call.arg[0], *from = s->u.call.arg[1];
    const SimCluster *c = m->block->cluster;
    int64_t peer = eval(m, s->u.call.arg[2]).i;
    const SimMem *src = sim_mem(m, from->u.buf);

    m->at = s;
    if (peer < 0 || peer >= c->nblock)
        sim_fail(m, s, "block %lld of a cluster of %d [out-of-bounds]", (long long)peer, c->nblock);
    block_must_live(m, s, c->block[peer]);
    SimMem *dst = block_mem(m, c->block[peer], to->u.buf);
    Value1 v = mem_get(m, src, element_from(m, src, from, 0));
    mem_put(m, dst, element_from(m, dst, to, 0), v);
    return NO_VALUE;
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static void sync_for_value(Sim *m, const Stmt *s, SyncScope scope, SyncFn *once, Value1 *r)
{
    SimThread *t = m->self;
    for (int i = 0; i < COUNT(t->arg); i++)
        t->arg[i] = i < s->u.call.n && s->u.call.arg[i] ? eval(m, s->u.call.arg[i]) : (Value1){0};
    threads_sync(m, s, scope, once);
    *r = t->result;
}

/* A block that runs as a whole is one thread: it is its own warp. */
static Value1 alone(Sim *m, const Stmt *s)
{
    Value1 v = s->u.call.n ? eval(m, s->u.call.arg[0]) : (Value1){0};
    switch (s->u.call.which) {
    case INTRIN_ANY_SYNC:
    case INTRIN_ALL_SYNC:
    case INTRIN_BALLOT:
    case INTRIN_SYNC_COUNT:
    case INTRIN_SYNC_AND:
    case INTRIN_SYNC_OR: return (Value1){.i = v.i != 0};
    case INTRIN_ACTIVEMASK:
    case INTRIN_MATCH_ANY:
    case INTRIN_MATCH_ALL:
    case INTRIN_ELECT: return (Value1){.i = 1};
    default: return v;
    }
}

static Value1 exec_elect(Sim *m, const Stmt *s)
{
    int64_t span = arg_int(m, s, 0, 0);
    return (Value1){.i = span > 0 ? m->self->index % span == 0 : m->self->index == 0};
}

Value1 exec_rank(Sim *m, const Stmt *s)
{
    int64_t r = 0;
    (void)s;
    for (int d = 2; d >= 0; d--) {
        int n = m->k->cluster[d] > 0 ? m->k->cluster[d] : 1;
        r = r * n + m->block->at[d] % n;
    }
    return (Value1){.i = r};
}

Value1 exec_warp(Sim *m, const Stmt *s)
{
    Value1 r = {0};
    if (m->self == NULL || !m->k->uses_threads)
        return alone(m, s);
    switch (s->u.call.which) {
    case INTRIN_SHFL:
    case INTRIN_SHFL_XOR:
    case INTRIN_SHFL_DOWN:
    case INTRIN_SHFL_UP: sync_for_value(m, s, SYNC_WARP, shuffle, &r); break;
    case INTRIN_ANY_SYNC:
    case INTRIN_ALL_SYNC:
    case INTRIN_BALLOT:
    case INTRIN_ACTIVEMASK:
    case INTRIN_MATCH_ANY:
    case INTRIN_MATCH_ALL: sync_for_value(m, s, SYNC_WARP, vote_warp, &r); break;
    case INTRIN_SYNC_COUNT:
    case INTRIN_SYNC_AND:
    case INTRIN_SYNC_OR: sync_for_value(m, s, SYNC_BLOCK, vote_block, &r); break;
    case INTRIN_ALLREDUCE: sync_for_value(m, s, SYNC_BLOCK, allreduce, &r); break;
    case INTRIN_ELECT: return exec_elect(m, s);
    default: sync_for_value(m, s, SYNC_WARP, reduce_members, &r); break;
    }
    return r;
}

static DType call_type(const Stmt *s)
{
    const char *t = intrin_table[s->u.call.which].type;
    if (strcmp(t, "SAME") == 0)
        return s->u.call.n ? s->u.call.arg[0]->type : DT_I32;
    if (strcmp(t, "F32") == 0) /* also the 64-bit random numbers, which are not rounded here */
        return s->u.call.bind ? s->u.call.bind->type : DT_F32;
    return DT_I64;
}

Value1 exec_fence(Sim *m, const Stmt *s)
{
    SimThread *t = m->self;

    (void)s;
    if (t && t->clock) {
        vec_push(m->arena, &t->fences, t->clock[t->actor]);
        t->clock[t->actor]++;
    }
    return NO_VALUE;
}

static Value1 (*const simulate_row[INTRIN_COUNT])(Sim *m, const Stmt *s) = {
#define INTRIN(id, name, narg, type, effects, simulate) simulate,
#define ASYNC(id, name, word, narg, effects, commits, waits, simulate) simulate,
#include "ir/intrin.def"
#undef INTRIN
#undef ASYNC
};

void exec_call(Sim *m, const Stmt *s)
{
    Value1 v = simulate_row[s->u.call.which](m, s);
    if (s->u.call.bind)
        m->value[s->u.call.bind->id] = value_cast(call_type(s), s->u.call.bind->type, v);
}
