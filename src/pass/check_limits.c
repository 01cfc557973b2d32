/* check_limits.c -- does the lowered kernel ask for more than the architecture has?
 *
 * needs   FORM_SYNCED
 *
 * Shared bytes are refused by plan_shared, threads and numbers of barriers where they are made.
 * Here: registers, as far as they can be known before the assembler (tiles that a thread holds at
 * once), those that warpgroups hand to each other, and blocks that are to share a multiprocessor.
 * What only makes a kernel slow is a warning. */
#include "pass/pass.h"
#include "pass/plan_shared.h"
#include "pass/thread_group.h"

enum { GROUPS_MOST = 8 };

/* ---- what a thread holds --------------------------------------------------------------------- */

static int64_t own_bytes(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n = buffer_static_size(b);

    if (b->scope == MEM_FRAGMENT && l && layout_is_fragment(l))
        n = fragment_slots(l);
    return dtype_bytes(b->type, MAX(n, 0));
}

/* The threads that hold something of a tile: from the first to the last that touches it. */
typedef struct {
    Map *of; /* Buffer -> ThreadGroup * */
    Kernel *k;
    ThreadGroup who;
} Holders;

static void hold(void *arg, const Stmt *s, const Touch *t)
{
    const Holders *h = arg;
    const Buffer *b = buffer_root(t->buf);
    ThreadGroup *g = map_get(h->of, b), now = h->who;

    (void)s;
    if (!now.n)
        now = (ThreadGroup){0, kernel_launch_threads(h->k)};
    if (!g) {
        g = NEW(h->k->scratch, ThreadGroup);
        *g = now;
        map_set(h->of, b, g);
        return;
    }
    int end = MAX(g->first + g->n, now.first + now.n);
    g->first = MIN(g->first, now.first);
    g->n = end - g->first;
}

static bool see_holders(const Stmt *s, ThreadGroup who, void *arg)
{
    Holders *h = arg;

    h->who = who;
    stmt_touches(s, hold, h);
    return true;
}

static bool may_share(const Map *holders, const Buffer *a, const Buffer *b)
{
    const ThreadGroup *x = map_get(holders, a), *y = map_get(holders, b);
    return !x || !y || (x->first < y->first + y->n && y->first < x->first + x->n);
}

/* Bytes of the tiles and arrays of a thread that are in use at once, at the least. */
static int64_t bytes_at_once(Kernel *k)
{
    Live *list = NEWN(k->scratch, Live, k->buffers.n + 1);
    int n = 0;
    Map holders;

    map_init(&holders, k->scratch);
    if (k->uses_threads)
        group_visit(k, see_holders, &(Holders){.of = &holders, .k = k});

    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if ((b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL) && !b->view_of)
            list[n++] = (Live){.buf = b, .nbytes = own_bytes(k, b), .align = 1};
    }
    live_find(k, list, n, LIVE_LEAST);
    /* The last that reads one may be the first that writes another. */
    int64_t most = 0;
    for (int i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int j = 0; j < n && list[i].first >= 0; j++)
            if (j == i || (list[j].first >= 0 && list[j].first <= list[i].first &&
                           list[j].last > list[i].first &&
                           may_share(&holders, list[i].buf, list[j].buf)))
                sum += list[j].nbytes;
        most = MAX(most, sum);
    }
    return most;
}

static void check_registers(Kernel *k, int64_t most)
{
    int64_t nbytes = bytes_at_once(k), n = (nbytes + 3) / 4;

    if (nbytes > k->machine->local_bytes)
        diag_error(k->diag, k->span,
                   "the tiles and arrays of one thread take %lld bytes at once; a thread has %lld "
                   "[local-bytes]", (long long)nbytes, (long long)k->machine->local_bytes);
    else if (n > most)
        diag_warn(k->diag, k->span,
                  "the tiles of one thread take %lld registers at once; with %d threads it has at "
                  "most %lld, so some will be in slow memory: use smaller tiles or more threads "
                  "[register-spill]",
                  (long long)n, kernel_launch_threads(k), (long long)most);
}

/* ---- registers that warpgroups hand to each other -------------------------------------------- */

typedef struct {
    Kernel *k;
    int64_t held[GROUPS_MOST]; /* of each thread of a warpgroup, in the end */
    int64_t most;              /* that one asks for */
    const Stmt *last;
} Moves;

static bool see_move(const Stmt *s, ThreadGroup t, void *arg)
{
    Moves *p = arg;
    const Machine *m = p->k->machine;
    int64_t n = 0;
    int group = machine_group(m);

    if (s->kind != ST_CALL || s->u.call.which != INTRIN_SET_MAX_NREG ||
        !expr_is_int(s->u.call.arg[0], &n))
        return true;
    if (n < m->regs_least || n > m->regs_most || n % m->regs_step)
        diag_error(p->k->diag, s->span,
                   "a warpgroup may hold a multiple of %d registers a thread from %d to %d, not "
                   "%lld [register-count]", m->regs_step, m->regs_least, m->regs_most,
                   (long long)n);
    if (t.n == 0)
        t = (ThreadGroup){0, kernel_block_threads(p->k)};
    int last = (t.first + t.n - 1) / group; /* a producer is one thread of its warpgroup */
    for (int g = t.first / group; g <= last && g < GROUPS_MOST; g++)
        p->held[g] = n;
    p->most = MAX(p->most, n);
    p->last = s;
    return true;
}

static void check_pool(Kernel *k, Moves *p)
{
    const Machine *m = k->machine;
    int threads = kernel_launch_threads(k), groups = threads / machine_group(m);
    int64_t each = MIN(m->regs_thread, m->regs_unit / threads) / m->regs_step * m->regs_step;
    int64_t sum = 0;
    Str text;

    if (threads % machine_group(m) || groups > GROUPS_MOST)
        return;
    for (int g = 0; g < groups; g++)
        p->held[g] = each;
    group_visit(k, see_move, p);
    if (!p->last)
        return;
    str_init(&text, k->scratch);
    for (int g = 0; g < groups; g++) {
        str_printf(&text, "%s%lld", g ? " + " : "", (long long)p->held[g]);
        sum += p->held[g];
    }
    if (sum > each * groups)
        diag_error(k->diag, p->last->span.line ? p->last->span : k->span,
                   "the warpgroups come to hold %s = %lld registers a thread; a block of %d "
                   "threads has %d times %lld = %lld, so one would wait for ever [register-pool]",
                   text.s, (long long)sum, threads, groups, (long long)each,
                   (long long)(each * groups));
}

/* ---- blocks that are to run side by side ----------------------------------------------------- */

static void check_blocks(Kernel *k)
{
    int threads = kernel_launch_threads(k), n = k->min_blocks;
    int threads_most = k->machine->threads_unit;
    int64_t own = k->machine->shared_own, most = kernel_shared_most(k) + own;

    if (n * threads > threads_most)
        diag_warn(k->diag, k->span,
                  "%d blocks of %d threads cannot share a multiprocessor: on %s it has %d "
                  "[min-blocks]", n, threads, k->machine->name, threads_most);
    else if (n * (k->arena_bytes + own) > most)
        diag_warn(k->diag, k->span,
                  "%d blocks with %lld bytes of shared memory each cannot share a multiprocessor: "
                  "on %s it has %lld, %lld of which each block takes for itself [min-blocks]",
                  n, (long long)k->arena_bytes, k->machine->name, (long long)most, (long long)own);
}

static bool gives_registers(const Stmt *s, void *wanted)
{
    int64_t n;
    return stmt_calls(s, INTRIN_SET_MAX_NREG) && expr_is_int(s->u.call.arg[0], &n) &&
           n == *(const int64_t *)wanted;
}

/* T.annotate_producer_reg_dealloc and its like where no thread gets so many. */
static void tell_registers(Kernel *k)
{
    static const struct { const char *hint, *name; } said[] = {
        {"producer_registers", "T.annotate_producer_reg_dealloc"},
        {"consumer_registers", "T.annotate_consumer_reg_alloc"},
    };
    for (int i = 0; i < COUNT(said); i++) {
        int64_t n = hint_int(k->hints, said[i].hint, 0);
        if (n && !stmt_any(k->body, gives_registers, &n))
            diag_ignored(k->diag, k->span, said[i].name,
                         "no registers are moved here: that takes loading warps of their own and "
                         "more registers than threads are launched with [ignored]");
    }
}

void pass_check_limits(Kernel *k)
{
    Moves p = {.k = k};
    const Machine *m = k->machine;
    int threads = kernel_launch_threads(k);

    if (!m->regs_unit)
        return;
    if (threads > m->threads_block)
        diag_error(k->diag, k->span, "this kernel has %d threads; the target %s allows %d "
                   "[kernel-extent]", threads, m->text, m->threads_block);
    if (machine_has(m, HAS_MOVED_REGS))
        check_pool(k, &p);
    int64_t each = m->regs_unit / (threads * MAX(k->min_blocks, 1)) / m->regs_step * m->regs_step;
    check_registers(k, MIN(m->regs_thread, MAX(each, p.most)));
    check_blocks(k);
    tell_registers(k);
}
