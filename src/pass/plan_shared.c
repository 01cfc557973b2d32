/* plan_shared.c -- place on-chip buffers in the block's arena, reusing space by live range.
 *
 * needs   FORM_FLAT
 * gives   FORM_PLACED
 *
 * A buffer lives from the first to the last statement of the kernel's body (at its top level, so a
 * loop counts as one statement) that mentions it.  Buffers whose ranges do not meet may overlap.
 * First fit, largest first, ties by order of allocation: the result depends on nothing else. */
#include "pass/pass.h"
#include <limits.h>

enum { ALIGN = 64, ALIGN_SWIZZLED = 1024, BARRIER_BYTES = 32 };

typedef struct {
    Buffer *buf;
    int first, last;
    int64_t nbytes, offset, align;
} Live;

typedef struct {
    Kernel *k;
    Map of; /* root Buffer -> Live */
    int now;
} Ranges;

static void touch(Ranges *r, const Buffer *b)
{
    Live *l = map_get(&r->of, buffer_root(b));
    if (!l)
        return;
    if (l->first < 0)
        l->first = r->now;
    l->last = r->now;
}

static bool see_expr(const Expr *e, void *arg)
{
    if (e->op == EX_LOAD || e->op == EX_ADDR)
        touch(arg, e->u.buf);
    return true;
}

static void touch_regions(Ranges *r, int n, const Region *g)
{
    for (int i = 0; i < n; i++)
        touch(r, g[i].buf);
}

static bool see_stmt(const Stmt *s, void *arg)
{
    Ranges *r = arg;

    stmt_visit_expr(s, see_expr, arg);
    if (s->kind == ST_STORE)
        touch(r, s->u.store.buf);
    else if (s->kind == ST_ATOMIC)
        touch(r, s->u.atomic.buf);
    else if (s->kind == ST_INSTR)
        touch_regions(r, s->u.instr.nregion, s->u.instr.region);
    else if (s->kind == ST_CALL)
        touch_regions(r, s->u.call.nregion, s->u.call.region);
    return true;
}

static int64_t storage_bytes(Kernel *k, const Buffer *b)
{
    const Layout *l = buffer_plan(k, b)->layout;
    int64_t n = l ? layout_size(l) : buffer_static_size(b);
    BUG(n < 0, "'%s' has no constant size", b->name);
    if (b->scope == MEM_BARRIER || b->scope == MEM_CLUSTER_BARRIER)
        return n * BARRIER_BYTES;
    return dtype_bytes(b->type, n);
}

static bool overlap(const Live *a, const Live *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static int64_t fit(Live *const *placed, int n, const Live *l)
{
    int64_t at = 0;

    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < n; i++) {
            const Live *p = placed[i];
            if (overlap(p, l) && at < p->offset + p->nbytes && p->offset < at + l->nbytes) {
                at = (p->offset + p->nbytes + l->align - 1) / l->align * l->align;
                moved = true;
            }
        }
    }
    return at;
}

static void sort_by_size(Live **list, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && list[j]->nbytes > list[j - 1]->nbytes; j--) {
            Live *t = list[j];
            list[j] = list[j - 1];
            list[j - 1] = t;
        }
}

/* Targets with threads keep these in each thread's registers, not in the block's arena. */
static bool in_registers(const Kernel *k, const Buffer *b)
{
    return k->target->features & FEAT_WARPS && (b->scope == MEM_FRAGMENT || b->scope == MEM_LOCAL);
}

/* Swizzles of bulk copies and warpgroup products repeat every 1,024 bytes of the address. */
static int64_t alignment(const Kernel *k, const Buffer *b, int64_t nbytes)
{
    bool boxes = k->sm >= 90 && b->scope == MEM_SHARED && nbytes >= ALIGN_SWIZZLED;
    return boxes ? ALIGN_SWIZZLED : ALIGN;
}

static void find_ranges(Ranges *r, const Stmt *body)
{
    if (body->kind != ST_BLOCK) {
        stmt_visit(body, see_stmt, r);
        return;
    }
    for (int i = 0; i < body->u.block.n; i++) {
        r->now = i;
        stmt_visit(body->u.block.list[i], see_stmt, r);
    }
}

void pass_plan_shared(Kernel *k)
{
    Ranges r = {.k = k};
    Live **list = NEWN(k->scratch, Live *, k->buffers.n + 1);
    int n = 0;

    map_init(&r.of, k->scratch);
    for (int i = 0; i < k->buffers.n; i++) {
        Buffer *b = k->buffers.at[i];
        if (b->scope == MEM_VAR || b->scope == MEM_GLOBAL || b->view_of || in_registers(k, b))
            continue;
        Live *l = NEW(k->scratch, Live);
        *l = (Live){b, -1, -1, storage_bytes(k, b), 0, ALIGN};
        l->align = alignment(k, b, l->nbytes);
        map_set(&r.of, b, l);
        list[n++] = l;
    }
    find_ranges(&r, k->body);
    if (k->uses_threads) /* threads are not in step: everything lives as long as the block */
        for (int i = 0; i < n; i++)
            list[i]->first = 0, list[i]->last = INT_MAX;
    sort_by_size(list, n);
    k->arena_bytes = 0;
    int nplaced = 0;
    for (int i = 0; i < n; i++) {
        Live *l = list[i];
        BufferPlan *p = buffer_plan(k, l->buf);
        p->nbytes = l->nbytes;
        p->placed = l->first >= 0;
        if (!p->placed)
            continue;
        l->offset = fit(list, nplaced, l);
        list[nplaced++] = l;
        p->offset = l->offset;
        k->arena_bytes = MAX(k->arena_bytes, (l->offset + l->nbytes + ALIGN - 1) / ALIGN * ALIGN);
    }
}
