/* work.c -- what one block of a lowered kernel does, by the units of the machine that do it.
 *
 * The threads' form is walked once for the first warp of each role, lane by lane where addresses
 * and conditions are concerned; loops multiply.  What the address or the condition cannot be known
 * of is taken to be the best: adjacent lanes at adjacent words, a condition that holds. */
#include <math.h>
#include "api/api.h"
#include "arith/arith.h"
#include "isa/isa.h"
#include "layout/layout.h"
#include "target/print.h"
#include "target/uses.h"

enum {
    LANES_MOST = 64,
    WALKED_MOST = 64,
    SEEN_MOST = 64,
    PIPES_MOST = 16,
    SHORT = 8,
    SIZE_MOST = 1 << 12
};

/* A load: the addresses of the first and the last lane, in the middle of the loops around it. */
typedef struct {
    const Buffer *buf;
    int64_t first, last;
    double times;
    bool at_once; /* in no loop that is left as one: its value is in a register from then on */
} Seen;

typedef struct {
    Kernel *k;
    int lanes, nvar;
    int64_t *value;        /* of each lane, by Var id */
    bool on[LANES_MOST];   /* lanes that take part */
    int first, nthread;    /* threads of the role */
    double times, warps;   /* that a warp does it; warps that do */
    bool aside;            /* a producer's: nobody waits for its steps */
    bool loading, reading; /* loads of memory, of shared memory, that nothing waited for yet */
    int depth;             /* of serial loops */
    Seen seen[SEEN_MOST];
    int nseen;
    const Buffer *pipe[PIPES_MOST]; /* barriers that were waited at, and how often */
    double waits[PIPES_MOST];
    int npipe;
    int epoch;                     /* goes on where a value of a thread has to outlive something */
    int *written;                  /* of each buffer, by id: the epoch in which it was, plus 1 */
    bool *live;                    /* it was read in another */
    bool open;                     /* in a loop whose steps overlap */
    double step_loads, step_bytes; /* of a thread, in it */
    BlockWork *w;
} Walk;

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_hard(const Expr *e, void *arg)
{
    (void)arg;
    bool whole = dtype_is_int((DType)e->type) || e->type == DT_BOOL;
    return e->lanes != 1 || !whole ||
           (e->op != EX_INT && e->op != EX_VAR &&
            (e->op < EX_ADD || e->op > EX_CAST || e->op == EX_DIV));
}

static bool is_number(const Expr *e)
{
    return e && e->size <= SIZE_MOST && !expr_any(e, is_hard, NULL);
}

static int64_t *row(const Walk *c, int lane)
{
    return c->value + (size_t)lane * (size_t)c->nvar;
}

static int64_t number(const Walk *c, const Expr *e, int64_t otherwise)
{
    return is_number(e) ? expr_eval(e, row(c, 0)) : otherwise;
}

static void set_all(Walk *c, const Var *v, int64_t n)
{
    for (int i = 0; i < c->lanes; i++)
        row(c, i)[v->id] = n;
}

/* The threads from `first` on become the lanes. */
static void set_threads(Walk *c, int64_t first)
{
    for (int i = 0; i < c->lanes; i++) {
        int64_t t = first + i;
        for (int d = 0; d < 3; d++) {
            int64_t n = d < 2 ? MAX(c->k->threads[d], 1) : INT32_MAX;
            if (c->k->thread[d])
                row(c, i)[c->k->thread[d]->id] = d == 0 && c->k->threads[1] <= 1 ? t : t % n;
            t /= n;
        }
    }
}

static int active(const Walk *c)
{
    int n = 0;
    for (int i = 0; i < c->lanes; i++)
        n += c->on[i];
    return n;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void wait_for_loads(Walk *c)
{
    if (!c->aside) {
        c->w->rounds += c->loading && !c->open ? c->times : 0;
        c->w->reads += c->reading ? c->times : 0;
    }
    c->loading = c->reading = false;
    c->epoch++;
}

/* A thread's own array is read or written. */
static void see_own(Walk *c, const Buffer *b, bool writes)
{
    if (b->scope != MEM_FRAGMENT && b->scope != MEM_LOCAL)
        return;
    if (writes)
        c->written[b->id] = c->epoch + 1;
    else if (c->written[b->id] != c->epoch + 1)
        c->live[b->id] = true;
}

/* Bytes from the first element that each lane touches; false: not known. */
static bool addresses(const Walk *c, const Expr *at, int bits, int64_t *address)
{
    const Expr *base = at->op == EX_RAMP ? at->kid[0] : at;

    if (!is_number(base))
        return false;
    for (int i = 0; i < c->lanes; i++)
        address[i] = c->on[i] ? MAX(expr_eval(base, row(c, i)), 0) * bits / 8 : -1;
    return true;
}

/* Of so many bytes as the machine takes together, how many the lanes touch, and in how many pieces
 * that lie apart. */
static int sectors(const int64_t *address, int lanes, int64_t width, int64_t sector, int *pieces)
{
    int64_t seen[LANES_MOST * 4];
    int n = 0;

    for (int i = 0; i < lanes; i++)
        for (int64_t s = address[i] / sector, end = address[i] + width;
             address[i] >= 0 && s * sector < end; s++) {
            int j = n;
            while (j > 0 && seen[j - 1] > s)
                j--;
            if ((j > 0 && seen[j - 1] == s) || n == COUNT(seen))
                continue;
            memmove(&seen[j + 1], &seen[j], (size_t)(n++ - j) * sizeof seen[0]);
            seen[j] = s;
        }
    *pieces = n > 0;
    for (int i = 1; i < n; i++)
        *pieces += seen[i] != seen[i - 1] + 1;
    return n;
}

/* A load that a load before has done: its value is kept, or it is read again. */
static bool is_kept(Walk *c, const Buffer *b, const int64_t *address, int64_t width)
{
    Seen one = {b, address[0], address[c->lanes - 1], c->times, c->depth == 0};

    for (int i = 0; i < c->nseen; i++) {
        Seen *s = &c->seen[i];
        if (s->buf != b || s->first != one.first || s->last != one.last || s->times != one.times)
            continue;
        if (s->at_once && one.at_once) {
            c->w->live += c->times * (double)width;
            return true;
        }
        c->w->again += c->times * c->warps * (double)(active(c) * width);
        return false;
    }
    if (c->nseen < SEEN_MOST)
        c->seen[c->nseen++] = one;
    return false;
}

static void see_access(Walk *c, const Buffer *b, const Expr *const *at, int n, int lanes,
                       bool loads)
{
    const Machine *m = c->k->machine;
    int bits = dtype_bits(b->type);
    int64_t width = MAX((int64_t)lanes * bits / 8, 1), address[LANES_MOST];
    double all = c->times * c->warps;
    bool known = n == 1 && addresses(c, at[0], bits, address);

    if (b->scope == MEM_GLOBAL) {
        if (loads && known && is_kept(c, b, address, width))
            return;
        int64_t sector = MAX(m->sector_bytes, 1);
        int pieces = 1;
        double took = known ? sectors(address, c->lanes, width, sector, &pieces)
                            : (double)((active(c) * width + sector - 1) / sector);
        c->w->sectors += all * took;
        c->w->stored += loads ? 0 : all * took;
        c->step_loads += loads ? c->times : 0;
        c->step_bytes += loads ? c->times * (double)width : 0;
        c->w->loaded += loads ? all * (double)(active(c) * width) : 0;
        c->w->pieces += all * pieces;
        c->w->requests += all;
        c->loading |= loads;
    } else if (b->scope == MEM_SHARED && m->banks) {
        double whole = (double)(active(c) * width) / (m->banks * m->bank_bytes);
        int conflicts = known ? bank_conflicts(m, address, (int)width) : 0;
        c->w->wavefronts += all * (MAX(whole, 1) + conflicts);
        c->w->requests += all;
        c->reading |= loads;
    } else {
        see_own(c, b, !loads);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Instructions of a warp that compute it; indices are nearly always folded into addresses. */
static void see_value(Walk *c, const Expr *e)
{
    double n = c->times * c->warps * MAX(e->lanes, 1);
    bool narrow = dtype_bits((DType)e->type) < 32;

    switch (e->op) {
    case EX_INT:
    case EX_FLOAT:
    case EX_STR:
    case EX_VAR:
    case EX_ADDR:
        return;
    case EX_LOAD:
        see_access(c, e->u.buf, e->kid, expr_nindex(e), MAX(e->lanes, 1), true);
        return;
    case EX_RAMP:
    case EX_BROADCAST:
    case EX_LANE:
    case EX_VECTOR:
    case EX_BITCAST:
        break;
    case EX_MATH:
        c->w->special += n;
        break;
    case EX_DIV:
        c->w->special += n;
        c->w->operations += 8 * n;
        break;
    case EX_CAST:
        c->w->operations += narrow || dtype_bits((DType)e->kid[0]->type) < 32 ? n / 2 : n;
        break;
    default:
        c->w->operations += narrow && dtype_is_float((DType)e->type) ? n / 2 : n;
    }
    for (int i = 0; i < e->nkid; i++)
        see_value(c, e->kid[i]);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static double elements(const Walk *c, const Region *r)
{
    double n = 1;
    for (int i = 0; i < r->buf->rank && r->extent[i]; i++)
        n *= (double)MAX(number(c, r->extent[i], 1), 1);
    return n;
}

static double bytes_of(const Walk *c, const Region *r)
{
    return elements(c, r) * dtype_bits(r->buf->type) / 8;
}

/* What a product of this type counts for, in those of 16 bits. */
static double of_halves(DType t)
{
    return 16.0 / MAX(dtype_bits(t), 4);
}

static void see_instr(Walk *c, const Stmt *s)
{
    const Isa *isa = s->u.instr.isa;
    const Region *r = s->u.instr.region;
    const Machine *m = c->k->machine;
    double all = c->times * c->warps;

    c->w->requests += all;
    for (int i = 0; i < s->u.instr.nregion; i++)
        if (r[i].buf->id < c->k->ir->nbuf && isa_is_mma(isa) && strchr("aw", isa->effects[i]))
            c->live[r[i].buf->id] = true;
    if (isa->mma) {
        c->w->products +=
            all * isa->mma->m * isa->mma->n * isa->mma->k * of_halves(isa->mma->type[0]);
        c->w->mmas += all;
        return;
    }
    if (isa_is_mma(isa)) { /* (m k) (k n) (m n) is the square of m n k */
        double each = isa->scope == BY_GROUP ? all / MAX(m->group_warps, 1) : c->times;
        double cube = elements(c, &r[0]) * elements(c, &r[1]) * elements(c, &r[2]);
        c->w->products += each * sqrt(cube) * of_halves(r[1].buf->type);
        for (int i = 0; i < 2; i++)
            c->w->operands += r[i].buf->scope == MEM_SHARED ? each * bytes_of(c, &r[i]) : 0;
        return;
    }
    for (int i = 0; i < s->u.instr.nregion; i++) {
        if (r[i].buf->scope != MEM_SHARED)
            continue;
        if (isa->scope == BY_WARP && m->banks)
            c->w->wavefronts += all * bytes_of(c, &r[i]) / (m->banks * m->bank_bytes);
        else if (isa->proxy == PROXY_ASYNC) {
            c->w->bulk += all * active(c) * bytes_of(c, &r[i]);
            c->w->boxes += all * active(c);
        }
    }
}

/* Waits for different barriers go on side by side: those of the one waited at most count. */
static void see_wait(Walk *c, const Buffer *barrier)
{
    int i = 0;

    while (i < c->npipe && c->pipe[i] != barrier)
        i++;
    if (i == PIPES_MOST || c->aside)
        return;
    c->npipe = MAX(c->npipe, i + 1);
    c->pipe[i] = barrier;
    c->waits[i] += c->times;
    c->w->waits = MAX(c->w->waits, c->waits[i]);
}

static void see_call(Walk *c, const Stmt *s)
{
    double path = c->aside ? 0 : c->times;

    for (int i = 0; i < s->u.call.n; i++)
        if (s->u.call.arg[i])
            see_value(c, s->u.call.arg[i]);
    switch (s->u.call.which) {
    case INTRIN_SYNC_THREADS:
    case INTRIN_SYNC_COUNT:
    case INTRIN_SYNC_AND:
    case INTRIN_SYNC_OR:
        wait_for_loads(c);
        c->w->barriers += path;
        break;
    case INTRIN_WAIT_PHASE:
    case INTRIN_WAIT_COPIES:
    case INTRIN_WAIT_ISSUED:
        see_wait(c, s->u.call.nregion ? s->u.call.region[0].buf : NULL);
        break;
    case INTRIN_WAIT_MMA:
        c->w->settled += path;
        break;
    case INTRIN_EXTERN:
        c->w->operations += c->times * c->warps;
        break;
    default:
        if (strchr(intrin_table[s->u.call.which].effects, 'W')) {
            wait_for_loads(c);
            c->w->hops += path;
            c->w->requests += c->times * c->warps;
        }
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void walk(Walk *c, const Stmt *s);

/* Whether a loop or condition inside depends on more than numbers. */
static bool varies(const Stmt *s, void *arg)
{
    int64_t n;
    (void)arg;
    return s->kind == ST_FOR && !expr_is_int(s->u.loop.extent, &n);
}

/* What keeps device compilers from having the loads of several steps of a loop in flight; stores
 * do, but in short ones, which are unrolled as a whole. */
static bool holds_up(const Stmt *s, void *arg)
{
    bool is_short = *(int64_t *)arg <= SHORT;
    return (s->kind == ST_STORE && s->u.store.buf->scope == MEM_GLOBAL && !is_short) ||
           s->kind == ST_IF || s->kind == ST_WHILE || s->kind == ST_CALL || s->kind == ST_INSTR;
}

static void walk_loop(Walk *c, const Stmt *s)
{
    int64_t n = number(c, s->u.loop.extent, 1), min = number(c, s->u.loop.min, 0);
    bool serial = s->u.loop.how == LOOP_SERIAL && !hint_find(s->u.loop.hints, "slots");
    double times = c->times;
    bool each =
        serial && c->depth == 0 && n <= WALKED_MOST && stmt_any(s->u.loop.body, varies, NULL);

    if (n <= 0)
        return;
    bool open = serial && !c->open && !stmt_any(s->u.loop.body, holds_up, &n);
    double loads = c->step_loads, bytes = c->step_bytes;

    c->depth += serial;
    c->epoch += serial;
    c->open |= open;
    for (int64_t i = 0; i < (each ? n : 1); i++) {
        set_all(c, s->u.loop.var, min + (each ? i : n / 2));
        c->times = each ? times : times * (double)n;
        walk(c, s->u.loop.body);
        if (serial)
            wait_for_loads(c);
    }
    c->depth -= serial;
    c->times = times;
    if (open) {
        c->open = false;
        c->w->steps += c->step_loads > loads && !c->aside ? times * (double)n : 0;
        c->w->step_loads += c->aside ? 0 : c->step_loads - loads;
        c->w->step_bytes = MAX(c->w->step_bytes, c->step_bytes - bytes);
    }
}

/* Warps of the role some lane of which finds the condition to be `want`. */
static double share_of(Walk *c, const Expr *cond, bool want)
{
    int warps = MAX(c->nthread / c->lanes, 1), n = 0;

    for (int w = 0; w < warps; w++) {
        bool any = false;
        set_threads(c, c->first + (int64_t)w * c->lanes);
        for (int i = 0; i < c->lanes && !any; i++)
            any = (expr_eval(cond, row(c, i)) != 0) == want;
        n += any;
    }
    set_threads(c, c->first);
    return (double)n / warps;
}

static void walk_branch(Walk *c, const Expr *cond, const Stmt *s, bool want)
{
    bool on[LANES_MOST], known = is_number(cond);
    double warps = c->warps;

    if (!s)
        return;
    memcpy(on, c->on, sizeof on);
    if (known) {
        c->warps *= share_of(c, cond, want);
        for (int i = 0; i < c->lanes; i++)
            c->on[i] = on[i] && (expr_eval(cond, row(c, i)) != 0) == want;
        if (!active(c)) /* another warp's lanes stand for them */
            memcpy(c->on, on, sizeof on);
    }
    if (c->warps > 0)
        walk(c, s);
    c->warps = warps;
    memcpy(c->on, on, sizeof on);
}

static void walk_role(Walk *c, const Stmt *s)
{
    Walk was = *c;
    int lone = role_lone(s);

    c->first = lone >= 0 ? lone : s->u.role.nthread ? s->u.role.thread[0] * ROLE_THREADS : 0;
    c->nthread = lone >= 0 ? 1 : MAX(s->u.role.nthread, 1) * ROLE_THREADS;
    c->warps = MAX(c->nthread / c->lanes, 1);
    c->aside = lone >= 0;
    for (int i = 0; lone >= 0 && i < c->lanes; i++)
        c->on[i] = i == 0;
    set_threads(c, c->first);
    walk(c, s->u.role.body);
    wait_for_loads(c);
    was.w = c->w;
    *c = was;
    set_threads(c, c->first);
}

static void walk_let(Walk *c, const Stmt *s)
{
    const Expr *e = s->u.let.value;

    for (int i = 0; i < c->lanes; i++)
        row(c, i)[s->u.let.var->id] = is_number(e) ? expr_eval(e, row(c, i)) : 0;
    if (!is_number(e))
        see_value(c, e);
}

static void walk(Walk *c, const Stmt *s)
{
    for (int i = 0; s && s->kind == ST_BLOCK && i < s->u.block.n; i++)
        walk(c, s->u.block.list[i]);
    switch (s ? s->kind : ST_BLOCK) {
    case ST_LET:
        walk_let(c, s);
        break;
    case ST_STORE:
        see_value(c, s->u.store.value);
        c->loading &= !s->u.store.async;
        see_access(c, s->u.store.buf, s->u.store.at, s->u.store.n, MAX(s->u.store.value->lanes, 1),
                   false);
        break;
    case ST_ATOMIC:
        see_value(c, s->u.atomic.value);
        see_access(c, s->u.atomic.buf, s->u.atomic.at, s->u.atomic.n, 1, s->u.atomic.bind != NULL);
        c->w->requests += c->times * c->warps * active(c);
        break;
    case ST_FOR:
        walk_loop(c, s);
        break;
    case ST_IF:
        walk_branch(c, s->u.branch.cond, s->u.branch.then, true);
        walk_branch(c, s->u.branch.cond, s->u.branch.orelse, false);
        break;
    case ST_WHILE:
        walk(c, s->u.branch.then);
        break;
    case ST_ROLE:
        walk_role(c, s);
        break;
    case ST_CALL:
        see_call(c, s);
        break;
    case ST_INSTR:
        see_instr(c, s);
        break;
    default:
        break;
    }
}

/* Bytes of registers that a thread holds for long: arrays that outlive a barrier, another lane's
 * answer or a step of a loop, and those of MMAs; of the widest of these; of all arrays. */
static void see_registers(const Walk *c, BlockWork *w)
{
    for (int i = 0; i < c->k->buffers.n; i++) {
        const Buffer *b = c->k->buffers.at[i];
        if (b->scope != MEM_FRAGMENT && b->scope != MEM_LOCAL)
            continue;
        double n = (double)stored_elems(c->k, b) * dtype_bits(b->type) / 8;
        w->held += n;
        w->live += c->live[b->id] ? n : 0;
        w->widest = MAX(w->widest, c->live[b->id] ? n : 0);
    }
}

BlockWork kernel_work_of(Kernel *k)
{
    BlockWork w = {0};
    Walk c = {.k = k,
              .lanes = MIN(MAX(kernel_warp(k), 1), LANES_MOST),
              .nvar = k->ir->nvar + 1,
              .times = 1,
              .w = &w};
    Arena *a = arena_new();

    if (!a)
        return w;
    c.value = NEWN(a, int64_t, (size_t)c.lanes * (size_t)c.nvar);
    c.written = NEWN(a, int, k->ir->nbuf + 1);
    c.live = NEWN(a, bool, k->ir->nbuf + 1);
    c.nthread = kernel_block_threads(k);
    c.warps = (c.nthread + c.lanes - 1) / c.lanes;
    w.blocks = 1;
    for (int d = 0; d < k->ngrid; d++) {
        int64_t n = MAX(number(&c, k->grid[d], 1), 1);
        w.blocks *= (double)n;
        set_all(&c, k->block[d], k->persistent ? 0 : n / 2);
    }
    for (int i = 0; i < c.lanes; i++)
        c.on[i] = i < c.nthread;
    set_threads(&c, 0);
    walk(&c, k->body);
    wait_for_loads(&c);
    see_registers(&c, &w);
    arena_free(a);
    return w;
}
