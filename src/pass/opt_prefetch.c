/* opt_prefetch.c -- register prefetch, for pipelined loops of machines without asynchronous copies,
 * or with narrow ones; and for copies that those of the machine cannot do.
 *
 * The tile of the next iteration is fetched into registers while this one is worked on, and put
 * into shared memory after it:
 *
 *     for k in pipelined(n):            if 0 < n: copy(A[0], a)
 *         copy(A[k], a)                 for k in serial(n):
 *         use(a)                  ->        if k + 1 < n: copy(A[k + 1], a_next)
 *                                           use(a)
 *                                           if k + 1 < n: copy(a_next, a)
 *
 * A copy is moved if its tile is filled by it alone and used only after it in its iteration, and if
 * where it is from depends on the iteration and on nothing that the iteration works out. */
#include "pass/pass.h"
#include "pass/async_copy.h"
#include "pass/body_uses.h"

enum { BYTES_MOST = 256 }; /* of a thread's registers for all tiles of a loop */

typedef struct {
    Kernel *k;
    Ir *ir;
    Map written; /* root buffers that the kernel writes */
    Map inside;  /* variables that an iteration gives values to */
} Ahead;

/* ---- what the kernel writes ------------------------------------------------------------------ */

static void see_touch(void *arg, const Stmt *s, const Touch *t)
{
    Ahead *x = arg;
    int *n = map_get(&x->written, buffer_root(t->buf));

    if (t->expr || !touch_writes(t) || s->kind == ST_INSTR)
        return;
    if (!n)
        n = NEW(x->k->scratch, int);
    ++*n;
    map_set(&x->written, buffer_root(t->buf), n);
}

static int writes(const Ahead *x, const Buffer *b)
{
    const int *n = map_get(&x->written, b);
    return n ? *n : 0;
}

/* ---- which copies ---------------------------------------------------------------------------- */

static bool is_late(const Expr *e, void *ahead)
{
    const Ahead *x = ahead;

    return (e->op == EX_VAR && map_has(&x->inside, e->u.var)) || e->op == EX_ADDR ||
           e->op == EX_EXTERN ||
           (e->op == EX_LOAD &&
            (e->u.buf->scope != MEM_GLOBAL || writes(x, buffer_root(e->u.buf))));
}

static bool has_view(const Kernel *k, const Buffer *b)
{
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->view_of && buffer_root(k->buffers.at[i]) == b)
            return true;
    return false;
}

/* Filled here alone, and used only after it in its iteration. */
static bool is_filled_once(Ahead *x, const Stmt *block, int at, const Buffer *b, const Buffer *from)
{
    if (b->scope != MEM_SHARED || b->view_of || buffer_static_size(b) <= 0 || has_view(x->k, b) ||
        writes(x, b) != 1 || writes(x, buffer_root(from)))
        return false;
    int after = 0;
    for (int i = at + 1; i < block->u.block.n; i++)
        after += stmt_uses(block->u.block.list[i], b);
    return after > 0 && after + 1 == stmt_uses(x->k->body, b);
}

static bool may_run_ahead(Ahead *x, const Stmt *block, int at)
{
    const Stmt *s = block->u.block.list[at];

    if (!tile_does(s, TILE_COPIES) || s->u.tile.narg ||
        hint_find(s->u.tile.hints, "async") || !tile_plan(x->k, s)->how->own_loops)
        return false;
    const Region *from = &s->u.tile.region[0], *to = &s->u.tile.region[1];
    if (from->buf->scope != MEM_GLOBAL || to->buf->scope != MEM_SHARED || !region_is_whole(to))
        return false;
    for (int d = 0; d < from->buf->rank; d++)
        if (expr_any(from->at[d], is_late, x) || expr_any(from->extent[d], is_late, x))
            return false;
    return is_filled_once(x, block, at, to->buf, from->buf);
}

/* A nest that only copies: gathers, and what has conditions of its own. */
static bool nest_may_run_ahead(Ahead *x, const Stmt *block, int at, NestCopy *c)
{
    const Stmt *s = block->u.block.list[at];

    if (!kernel_has(x->k, HAS_NEST_FETCH) || !stmt_is_nest(s) || !nest_is_copy(x->ir, s, c))
        return false;
    for (int i = 0; i < c->nest.n; i++)
        map_remove(&x->inside, c->nest.var[i]); /* bound by the nest itself */
    if (c->cond && expr_any(c->cond, is_late, x))
        return false;
    for (int i = 0; i < c->load->nkid; i++)
        if (expr_any(c->load->kid[i], is_late, x))
            return false;
    return is_filled_once(x, block, at, c->dst, c->load->u.buf);
}

/* What no asynchronous copy of the machine can do, beside others that they do: it fills rows with
 * gaps between them, which lanes side by side do not, or has no width of theirs. */
static bool needs_registers(Ahead *x, const Stmt *copy)
{
    const Buffer *b = copy->u.tile.region[1].buf;
    const Layout *l = buffer_plan(x->k, b)->layout;
    const Mech *how = mech_ahead(x->k->target->mechs);

    return (l && layout_size(l) > buffer_static_size(b)) ||
           !copy_async_bytes(x->k, body_facts(x->k), how, copy);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static const Stmt *copy_of(Ahead *x, const Stmt *like, Region from, Region to, const char *why)
{
    Stmt *s = NEW(x->ir->arena, Stmt);

    *s = *copy_plain(x->k, like->span, from, to, why);
    s->u.tile.hints = like->u.tile.hints;
    return s;
}

static Buffer *registers_for(Ahead *x, const Buffer *b)
{
    const char *name = ir_name(x->ir, arena_printf(x->k->scratch, "%s_next", b->name));
    return kernel_buffer(x->k, name, b->type, MEM_FRAGMENT, b->rank,
                         (const Expr *const *)b->shape, b->span);
}

typedef struct {
    const Stmt *first, *fetch, *put; /* before the loop; at the start and end of an iteration */
} Parts;

static void move_copy(Ahead *x, const Stmt *loop, const Stmt *copy, Parts *p)
{
    Ir *ir = x->ir;
    const Var *v = loop->u.loop.var;
    const Region *r = copy->u.tile.region;
    Buffer *next = registers_for(x, r[1].buf);
    const Expr *one = expr_const(ir, v->type, 1);
    const Expr *later = expr_add(ir, expr_var(ir, loop->u.loop.var), one);
    const Stmt *fetch = copy_of(x, copy, r[0], region_whole(ir, next),
                                "into registers, while the iteration before is worked on");
    const Stmt *put = copy_of(x, copy, region_whole(ir, next), r[1],
                              "out of registers, after the iteration before");
    const Stmt *first = copy_of(x, copy, r[0], r[1], "of the first iteration");

    p->fetch = stmt_seq(ir, p->fetch, stmt_subst(ir, fetch, v, later));
    p->put = stmt_seq(ir, p->put, put);
    p->first = stmt_seq(ir, p->first, stmt_subst(ir, first, v, loop->u.loop.min));
}

/* The nest as it is fills registers; from there a copy. */
static void move_nest(Ahead *x, const Stmt *loop, const Stmt *nest, const NestCopy *c, Parts *p)
{
    Ir *ir = x->ir;
    const Var *v = loop->u.loop.var;
    Buffer *next = registers_for(x, c->dst);
    const Expr *later = expr_add(ir, expr_var(ir, loop->u.loop.var), expr_const(ir, v->type, 1));
    Map bufs;

    map_init(&bufs, x->k->scratch);
    map_set(&bufs, c->dst, next);
    const Stmt *fetch = stmt_subst_map(ir, nest, NULL, &bufs);
    p->fetch = stmt_seq(ir, p->fetch, stmt_subst(ir, fetch, v, later));
    p->put = stmt_seq(ir, p->put, copy_plain(x->k, nest->span, region_whole(ir, next),
                                             region_whole(ir, c->dst),
                                             "out of registers, after the iteration before"));
    p->first = stmt_seq(ir, p->first, stmt_subst(ir, nest, v, loop->u.loop.min));
}

static int64_t bytes_each(Ahead *x, const Buffer *b)
{
    return dtype_bytes(b->type, buffer_static_size(b)) / MAX(kernel_block_threads(x->k), 1);
}

static bool is_left(const Stmt *s)
{
    return tile_does(s, TILE_COPIES) && s->u.tile.region[1].buf->scope == MEM_SHARED;
}

/* all: copies of every kind; else those that have no other way. */
static const Stmt *pipeline(Ahead *x, const Stmt *loop, bool all)
{
    Ir *ir = x->ir;
    const Stmt *body = loop->u.loop.body, *rest = NULL;
    Parts p = {0};
    int64_t nbytes = 0;
    bool left = false;

    map_init(&x->inside, x->k->scratch);
    stmt_names(body, &x->inside);
    if (stmt_leaves(body) || body->kind != ST_BLOCK)
        return loop;
    for (int i = 0; i < body->u.block.n; i++) {
        const Stmt *s = body->u.block.list[i];
        NestCopy c;
        bool nest = nest_may_run_ahead(x, body, i, &c);
        bool copy = !nest && may_run_ahead(x, body, i) && (all || needs_registers(x, s));
        int64_t more = nest || copy ? bytes_each(x, nest ? c.dst : s->u.tile.region[1].buf) : 0;
        if ((!nest && !copy) || nbytes + more > BYTES_MOST) {
            rest = stmt_seq(ir, rest, s);
            left |= is_left(s);
            continue;
        }
        nbytes += more;
        nest ? move_nest(x, loop, s, &c, &p) : move_copy(x, loop, s, &p);
    }
    if (!p.first || !rest)
        return loop;
    const Expr *v = expr_var(ir, loop->u.loop.var), *one = expr_const(ir, v->type, 1);
    const Expr *end = expr_add(ir, loop->u.loop.min, loop->u.loop.extent);
    const Expr *more = expr_lt(ir, expr_add(ir, v, one), end);
    const Expr *any = expr_lt(ir, expr_zero(ir, (DType)v->type), loop->u.loop.extent);
    Span at = loop->span;
    rest = stmt_seq(ir, stmt_if(ir, at, more, p.fetch, NULL), rest);
    rest = stmt_seq(ir, rest, stmt_if(ir, at, more, p.put, NULL));
    loop = !all && left ? stmt_with_body(ir, loop, rest) /* the others run ahead by themselves */
                        : stmt_for_as(ir, loop, LOOP_SERIAL, rest);
    return stmt_seq(ir, stmt_if(ir, at, any, p.first, NULL), loop);
}

/* Then one iteration ahead goes better through registers, in wide loads. */
static bool has_narrow_copies(const Machine *m)
{
    return m->copy_bytes && m->copy_bytes < m->access_bytes;
}

static const Stmt *stage(Ir *ir, const Stmt *s, void *arg)
{
    Ahead *x = arg;
    (void)ir;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_PIPELINED ||
        hint_find(s->u.loop.hints, "order") || hint_find(s->u.loop.hints, "stage"))
        return s;
    int64_t asked = hint_int(s->u.loop.hints, "num_stages", 1);
    bool all = !kernel_ahead(x->k) ||
               (asked == 2 && has_narrow_copies(x->k->machine));
    if (asked < 2)
        return s;
    const Stmt *staged = pipeline(x, s, all);
    if (staged != s && asked > 2 && all)
        diag_ignored(x->k->diag, s->span,
                     arena_printf(x->k->arena, "num_stages=%lld", (long long)asked),
                     "this loop has 2 stages: without asynchronous copies one iteration is fetched "
                     "ahead [ignored]");
    return staged;
}

void pass_opt_prefetch(Kernel *k)
{
    Ahead x = {.k = k, .ir = k->ir};

    const Mech *how = kernel_ahead(k);

    if (!kernel_on_warps(k) || k->uses_threads || (how && !how->side_by_side))
        return;
    map_init(&x.written, k->scratch);
    stmt_touches_all(k->body, see_touch, &x);
    k->body = stmt_map(k->ir, k->body, stage, &x);
}
