/* lower_convert.c -- layout conversions that inference asked for become copies.
 *
 * needs   FORM_LAYOUTS
 *
 *     use(acc)       ->     acc' = new buffer in the layout the statement wants
 *                           copy(acc, tmp); copy(tmp, acc')      if it reads acc
 *                           use(acc')
 *                           copy(acc', tmp); copy(tmp, acc)      if it writes acc
 *
 * Fragments go through a shared tile, since a thread cannot reach another's registers; shared
 * tiles are copied at once. */
#include "pass/pass.h"
#include "pass/thread_group.h"

typedef struct {
    Kernel *k;
    const Convert *c;
    bool reads, writes, covers; /* covers: all of it is written before any of it is read */
} Use;

/* ---- how the statement uses the buffer ------------------------------------------------------- */

static void see_region(void *arg, const Region *r, Access a)
{
    Use *u = arg;
    if (r->buf != u->c->buf)
        return;
    u->reads |= (a & (ACC_READ | ACC_REDUCE)) != 0;
    u->writes |= (a & (ACC_WRITE | ACC_REDUCE)) != 0;
    u->covers = a == ACC_WRITE && region_is_whole(r);
}

static bool names_whole_tile(const LoopNest *p, const LoopAccess *a, Ir *ir)
{
    int64_t shape[RANK_MOST];
    if (!buffer_static_shape(a->buf, shape))
        return false;
    for (int d = 0; d < a->n; d++) {
        bool whole = shape[d] == 1;
        for (int l = 0; l < p->n && !whole; l++)
            whole = a->at[d]->op == EX_VAR && a->at[d]->u.var == layout_axis(ir, l) &&
                    p->extent[l] == shape[d];
        if (!whole)
            return false;
    }
    return true;
}

static bool is_branch(const Stmt *s, void *arg)
{
    (void)arg;
    return s->kind == ST_IF || s->kind == ST_WHILE || (s->kind == ST_STORE && s->u.store.guard);
}

static Use use_of(Kernel *k, const Convert *c)
{
    Use u = {.k = k, .c = c};
    if (c->at->kind == ST_TILE) {
        tile_access(c->at, see_region, &u);
        return u;
    }
    LoopNest p;
    bool branches = stmt_any(c->at, is_branch, NULL);
    parallel_read(k->ir, c->at, &p);
    for (int i = 0; i < p.access.n; i++) {
        const LoopAccess *a = &p.access.at[i];
        if (a->buf != c->buf)
            continue;
        u.reads |= (a->how & ACC_READ) != 0;
        u.writes |= (a->how & ACC_WRITE) != 0;
        u.covers = !branches && a->how == ACC_WRITE && names_whole_tile(&p, a, k->ir);
    }
    return u;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const Stmt *copy_tile(Kernel *k, Span at, Buffer *from, Buffer *to)
{
    return copy_plain(k, at, region_whole(k->ir, from), region_whole(k->ir, to),
                      "layout conversion");
}

static Buffer *twin(Kernel *k, const Buffer *b, const char *suffix, MemScope scope, const Layout *l)
{
    const char *name = ir_name(k->ir, arena_printf(k->scratch, "%s_%s", b->name, suffix));
    Buffer *n = kernel_buffer(k, name, b->type, scope, b->rank, b->shape, b->span);
    buffer_plan(k, n)->layout = l;
    return n;
}

static const Stmt *move(Kernel *k, Span at, Buffer *from, Buffer *to, Buffer **through)
{
    if (from->scope != MEM_FRAGMENT)
        return copy_tile(k, at, from, to);
    if (!*through)
        *through = twin(k, from, "exchange", MEM_SHARED, NULL);
    const Stmt *out = copy_tile(k, at, from, *through), *in = copy_tile(k, at, *through, to);
    return stmt_seq(k->ir, out, in);
}

/* Not of a few numbers: those are a matter of one access for each thread. */
static void audit_convert(Kernel *k, const Convert *c)
{
    if (c->buf->scope == MEM_FRAGMENT && buffer_static_size(c->buf) > kernel_block_threads(k))
        audit_note(k, AUDIT_MEMORY, c->at->span, "'%s' goes through shared memory: this statement "
                   "wants its elements in other threads than the rest", c->buf->name);
}

static const Stmt *convert(Kernel *k, const Convert *c, const Stmt *s)
{
    audit_convert(k, c);
    Use u = use_of(k, c);
    Buffer *other = twin(k, c->buf, "as_used", c->buf->scope, c->layout), *through = NULL;
    Map bufs;
    map_init(&bufs, k->scratch);
    map_set(&bufs, c->buf, other);
    const Stmt *body = stmt_subst_map(k->ir, s, NULL, &bufs), *in = NULL, *out = NULL;
    if (u.reads || !u.covers)
        in = move(k, s->span, c->buf, other, &through);
    if (u.writes)
        out = move(k, s->span, other, c->buf, &through);
    return stmt_seq(k->ir, in, stmt_seq(k->ir, body, out));
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Top-down, so that statements are met as the plan knew them. */
static const Stmt *walk(void *kernel, const Stmt *s)
{
    Kernel *k = kernel;
    const Stmt *r = s;
    bool mine = false;
    for (int i = 0; i < k->converts.n; i++) {
        if (k->converts.at[i].at == s) {
            r = convert(k, &k->converts.at[i], r);
            mine = true;
        }
    }
    return mine ? r : stmt_map_kids(k->ir, s, walk, k);
}

static bool is_converted(const Stmt *s, void *kernel)
{
    const Kernel *k = kernel;
    bool found = false;

    for (int i = 0; i < k->converts.n; i++)
        found |= k->converts.at[i].at == s;
    return found;
}

/* Where warps come by that only a vote knows, nothing goes from one to another. */
static bool check_votes(const Stmt *s, void *group)
{
    GroupWalk *w = group;

    if (s->kind == ST_IF && vary_head(group_vary(w), s) &&
        stmt_any(s->u.branch.then, is_converted, w->k) && group_votes(w, s->u.branch.cond))
        diag_fail(w->k->diag, s->span, "each warp comes by here or not, but what follows needs "
                  "elements of fragments that other warps hold [tile-threads]");
    return true;
}

void pass_lower_convert(Kernel *k)
{
    GroupWalk w = {0};

    if (k->converts.n == 0)
        return;
    group_walk_init(&w, k);
    stmt_visit(k->body, check_votes, &w);
    k->body = walk(k, k->body);
    k->converts.n = 0;
}
