/* fuse_drop.c -- after loops were joined: copies and stores that are of no use any more.
 *
 * A tile that only takes a row of a tensor to the next loop is not made: that loop reads the
 * tensor.  What is stored to a tile for the last time without being read is not stored. */
#include "target/cpu/pass/rows.h"

/* ---- copies that are only read --------------------------------------------------------------- */

typedef struct {
    Ir *ir;
    Map written;      /* roots that the kernel writes */
    Map touches;      /* root -> how often the kernel touches it */
    const Stmt *copy; /* x[...] = G[...] */
    const Expr *from; /* the load of G */
    const Stmt *host; /* the loop around copy */
} Copies;

static void count_touch(void *arg, const Stmt *s, const Touch *t)
{
    Copies *c = arg;
    intptr_t n = (intptr_t)map_get(&c->touches, buffer_root(t->buf));

    map_set(&c->touches, buffer_root(t->buf), (void *)(n + 1));
    if (!t->expr)
        map_set(&c->written, buffer_root(t->buf), s);
}

static bool is_tile_buffer(const Buffer *b)
{
    return (b->scope == MEM_FRAGMENT || b->scope == MEM_SHARED) && !b->view_of;
}

/* The element of a tensor that nobody writes, that s copies to a tile as it is; or NULL. */
static const Expr *copied(Copies *c, const Stmt *const *list, int at)
{
    const Stmt *s = list[at];

    if (s->kind != ST_STORE || s->u.store.guard || !is_tile_buffer(s->u.store.buf))
        return NULL;
    const Expr *x = s->u.store.value;
    for (int i = at - 1; i >= 0 && x->op == EX_VAR; i--)
        if (list[i]->kind == ST_LET && list[i]->u.let.var == x->u.var)
            x = list[i]->u.let.value;
    if (x->op != EX_LOAD || x->guarded || x->u.buf->scope != MEM_GLOBAL || x->u.buf->view_of ||
        x->u.buf->pointer || x->type != s->u.store.buf->type || map_has(&c->written, x->u.buf))
        return NULL;
    for (int d = 0; d < expr_nindex(x); d++)
        if (expr_has_load(x->kid[d]))
            return NULL;
    return x;
}

/* Every touch of the tile in this loop is of the element that the same iteration copied; *ends: all
 * of them are overwritten, after they were read. */
static bool reads_copied(Copies *c, const Stmt *loop, const Uses *u, bool *ends)
{
    const Stmt *body = loop->u.loop.body;
    const Expr *here = expr_var(c->ir, c->host->u.loop.var);
    bool stored = false;

    if (!is_fusable(loop) || !same_range(loop, c->host) || uses_of(c->ir->arena, body).loops)
        return false;
    for (int i = 0; i < u->touch.n; i++) {
        const Touch *t = &u->touch.at[i];
        if (buffer_root(t->buf) != c->copy->u.store.buf)
            continue;
        if (t->buf != c->copy->u.store.buf)
            return false;
        for (int d = 0; d < t->n; d++)
            if (expr_subst(c->ir, t->at[d], loop->u.loop.var, here) != c->copy->u.store.at[d])
                return false;
    }
    int n = body->kind == ST_BLOCK ? body->u.block.n : 1;
    for (int i = 0; i < n; i++) {
        const Stmt *s = body->kind == ST_BLOCK ? body->u.block.list[i] : body;
        Uses w = uses_of(c->ir->arena, s);
        bool stores = s->kind == ST_STORE && s->u.store.buf == c->copy->u.store.buf &&
                      !s->u.store.guard;
        for (int j = 0; j < w.touch.n; j++) { /* a write under a condition leaves others */
            if (w.touch.at[j].buf != c->copy->u.store.buf)
                continue;
            if (touch_writes(&w.touch.at[j]) ? !stores : stored)
                return false;
        }
        stored |= stores;
    }
    *ends = stored;
    return true;
}

static int touches_of(const Uses *u, const Buffer *b)
{
    int n = 0;
    for (int i = 0; i < u->touch.n; i++)
        n += buffer_root(u->touch.at[i].buf) == b;
    return n;
}

/* May what follows list[at] read the tensor instead?  *last is the last that has to. */
static bool can_read_through(Copies *c, const Stmt *const *list, int n, int at, int *last)
{
    const Buffer *b = c->copy->u.store.buf;
    Uses host = uses_of(c->ir->arena, list[at]);
    int64_t seen = touches_of(&host, b);
    bool ends = false;

    if (seen != 1)
        return false;
    *last = at;
    for (int i = at + 1; i < n && !ends; i++) {
        Uses u = uses_of(c->ir->arena, list[i]);
        if (u.opaque)
            break;
        if (touches_of(&u, b) == 0)
            continue;
        if (!reads_copied(c, list[i], &u, &ends))
            return false;
        seen += touches_of(&u, b);
        *last = i;
    }
    return *last > at && (ends || (int64_t)(intptr_t)map_get(&c->touches, b) == seen);
}

typedef struct {
    const Copies *c;
    Var *var; /* of the loop at hand */
} Through;

static const Expr *read_through(Ir *ir, const Expr *e, void *arg)
{
    Through *t = arg;
    if (e->op != EX_LOAD || e->u.buf != t->c->copy->u.store.buf)
        return e;
    return expr_subst(ir, t->c->from, t->c->host->u.loop.var, expr_var(ir, t->var));
}

static const Expr *read_through_in(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, read_through, arg);
}

static const Stmt *without(Ir *ir, const Stmt *s, void *arg)
{
    (void)ir;
    return s == arg ? NULL : s;
}

/* One copy of the block is not made; false when there is none left. */
static bool drop_copy(Copies *c, const Stmt **list, int n)
{
    for (int i = 0; i < n; i++) {
        if (!is_fusable(list[i]))
            continue;
        const Stmt *body = list[i]->u.loop.body;
        const Stmt *const *in = body->kind == ST_BLOCK ? body->u.block.list : &list[i]->u.loop.body;
        for (int j = 0; j < (body->kind == ST_BLOCK ? body->u.block.n : 1); j++) {
            int last;
            c->from = copied(c, in, j);
            c->copy = in[j];
            c->host = list[i];
            if (!c->from || !can_read_through(c, list, n, i, &last))
                continue;
            for (int b = i + 1; b <= last; b++) {
                Through t = {c, is_fusable(list[b]) ? list[b]->u.loop.var : NULL};
                if (t.var)
                    list[b] = stmt_map_expr(c->ir, list[b], read_through_in, &t);
            }
            list[i] = stmt_map(c->ir, list[i], without, (void *)c->copy);
            return true;
        }
    }
    return false;
}

static const Stmt *copies_hook(Ir *ir, const Stmt *s, void *arg)
{
    Copies *c = arg;

    if (s->kind != ST_BLOCK)
        return s;
    int n = s->u.block.n;
    const Stmt **list = NEWN(ir->arena, const Stmt *, n);
    bool any = false;
    memcpy(list, s->u.block.list, sizeof *list * (size_t)n);
    while (drop_copy(c, list, n))
        any = true;
    return any ? stmt_block(ir, s->span, n, list) : s;
}

/* ---- stores nobody reads --------------------------------------------------------------------- */

typedef struct {
    Map read; /* roots read by what runs later */
    Map kept; /* variables that buffers are made of */
} Later;

static void keep_vars(const Kernel *k, Map *kept)
{
    for (int i = 0; i < k->buffers.n; i++) {
        const Buffer *b = k->buffers.at[i];
        if (b->pointer)
            map_set(kept, b->pointer, b);
        for (int d = 0; d < b->rank; d++) {
            expr_vars(b->shape[d], kept);
            if (b->stride)
                expr_vars(b->stride[d], kept);
        }
    }
}

static void later_touch(void *arg, const Stmt *s, const Touch *t)
{
    if (s->kind != ST_STORE || t->expr)
        map_set(&((Later *)arg)->read, buffer_root(t->buf), s);
}

static const Stmt *drop_dead(Ir *ir, const Stmt *s, Later *l);

static bool is_named_later(const Stmt *const *list, int n, const Var *v)
{
    for (int i = 0; i < n; i++)
        if (stmt_uses_var(list[i], v))
            return true;
    return false;
}

static const Stmt *drop_in_list(Ir *ir, const Stmt *s, Later *l)
{
    const Stmt **list = NEWN(ir->arena, const Stmt *, s->u.block.n);
    int n = 0;

    for (int i = s->u.block.n - 1; i >= 0; i--) {
        const Stmt *t = s->u.block.list[i];
        bool named = t->kind != ST_LET || map_has(&l->kept, t->u.let.var) ||
                     is_named_later(list + i + 1, s->u.block.n - i - 1, t->u.let.var);
        list[i] = named ? drop_dead(ir, t, l) : NULL;
    }
    for (int i = 0; i < s->u.block.n; i++)
        if (list[i])
            list[n++] = list[i];
    return stmt_block(ir, s->span, n, list);
}

/* Do all touches of b in this loop keep to the row of their iteration? */
static bool keeps_to_rows(Ir *ir, const Uses *u, Var *v, const Buffer *b)
{
    int dim = -1;

    for (int i = 0; i < u->touch.n; i++) {
        const Touch *t = &u->touch.at[i];
        if (buffer_root(t->buf) != b)
            continue;
        if (t->buf != b)
            return false;
        for (int d = 0; d < t->n && dim < 0; d++)
            if (t->at[d] == expr_var(ir, v))
                dim = d;
        if (dim < 0 || t->at[dim] != expr_var(ir, v))
            return false;
    }
    return true;
}

/* The body of a loop runs again: what an iteration reads counts as read later, but for tiles of
 * which each iteration has its own row. */
static const Stmt *drop_in_loop(Ir *ir, const Stmt *s, Later *l)
{
    Uses u = uses_of(ir->arena, s->u.loop.body);

    for (int i = 0; i < u.touch.n; i++) {
        const Buffer *b = buffer_root(u.touch.at[i].buf);
        if (!touch_writes(&u.touch.at[i]) && (u.opaque || !keeps_to_rows(ir, &u, s->u.loop.var, b)))
            map_set(&l->read, b, s);
    }
    if (u.opaque)
        stmt_touches_all(s, later_touch, l);
    const Stmt *body = drop_dead(ir, s->u.loop.body, l);
    stmt_touches(s, later_touch, l);
    if (!body || stmt_is_empty(body))
        return NULL;
    return body == s->u.loop.body ? s
           : stmt_with_body(ir, s, body);
}

/* s without stores to tiles that l says nobody reads later; l then has what s reads, too. */
static const Stmt *drop_dead(Ir *ir, const Stmt *s, Later *l)
{
    switch (s->kind) {
    case ST_BLOCK: return drop_in_list(ir, s, l);
    case ST_FOR: return drop_in_loop(ir, s, l);
    case ST_STORE: {
        const Buffer *b = buffer_root(s->u.store.buf);
        if ((b->scope == MEM_FRAGMENT || b->scope == MEM_SHARED) && !map_has(&l->read, b))
            return NULL;
        stmt_touches(s, later_touch, l);
        return s;
    }
    default: stmt_touches_all(s, later_touch, l); return s;
    }
}

const Stmt *drop_useless(Kernel *k, const Stmt *body)
{
    Ir *ir = k->ir;
    Copies c = {.ir = ir};
    Later l;

    map_init(&c.written, ir->arena);
    map_init(&c.touches, ir->arena);
    stmt_touches_all(body, count_touch, &c);
    body = stmt_map(ir, body, copies_hook, &c);
    map_init(&l.read, ir->arena);
    map_init(&l.kept, ir->arena);
    keep_vars(k, &l.kept);
    body = drop_dead(ir, body, &l);
    return body ? body : stmt_block(ir, NO_SPAN, 0, NULL);
}
