/* body_uses.c -- who touches which buffer, found in one walk over the body.
 *
 * Questions about one buffer after the other would each read the whole kernel, and a kernel of n
 * statements with n tiles would be read n times.  What was found is kept with the kernel until its
 * body is another one. */
#include "pass/body_uses.h"

struct BodyUses {
    const Stmt *body;
    Arena *arena;
    Map of; /* root Buffer -> BufferUses * */
};

/* The statement at hand, and the one it is part of. */
typedef struct {
    BodyUses *u;
    const BodyPath *at;
} Walk;

static BufferUses *uses_of_root(BodyUses *u, const Buffer *b)
{
    BufferUses *n = map_get(&u->of, buffer_root(b));

    if (!n) {
        n = NEW(u->arena, BufferUses);
        map_set(&u->of, buffer_root(b), n);
    }
    return n;
}

static bool stmt_is_made_of(const Stmt *s, const Stmt *of)
{
    return s == of ||
           (s->kind == ST_TILE && of->kind == ST_TILE && s->u.tile.op == of->u.tile.op &&
            s->span.src == of->span.src && s->span.line == of->span.line &&
            s->span.col == of->span.col && of->span.src);
}

/* The first, and the first that was not made of the same. */
static void note_two(const Stmt *two[2], const Stmt *s)
{
    if (!two[0])
        two[0] = s;
    else if (!two[1] && !stmt_is_made_of(s, two[0]))
        two[1] = s;
}

static const BodyPath *common(const BodyPath *a, const BodyPath *b)
{
    while (a && a != b) {
        if (a->depth >= b->depth)
            a = a->parent;
        else
            b = b->parent;
    }
    return a;
}

static BufferUses *note_use(Walk *w, const Buffer *b)
{
    BufferUses *n = uses_of_root(w->u, b);

    n->uses++;
    n->all = n->all ? common(n->all, w->at) : w->at;
    return n;
}

static void note_touch(Walk *w, const Buffer *b, bool reads, bool writes)
{
    BufferUses *n = uses_of_root(w->u, b);

    if (reads)
        note_two(n->reader, w->at->stmt);
    if (writes)
        note_two(n->writer, w->at->stmt);
}

static bool use_expr(const Expr *e, void *arg)
{
    Walk *w = arg;

    if (e->op == EX_LOAD || e->op == EX_ADDR) {
        note_use(w, e->u.buf)->addresses += e->op == EX_ADDR;
        note_touch(w, e->u.buf, true,
                   e->op == EX_ADDR && !buffer_root(e->u.buf)->lent_to_read);
    }
    return true;
}

static void use_access(void *arg, const Region *r, Access a)
{
    bool writes = (a & (ACC_WRITE | ACC_REDUCE)) != 0;

    note_touch(arg, r->buf, (a & (ACC_READ | ACC_REDUCE)) != 0, writes);
    uses_of_root(((Walk *)arg)->u, r->buf)->writes += writes;
}

static void use_own(Walk *w, const Stmt *s)
{
    const Buffer *b = s->kind == ST_STORE ? s->u.store.buf
                      : s->kind == ST_ATOMIC ? s->u.atomic.buf : NULL;

    stmt_visit_expr(s, use_expr, w);
    if (b) {
        note_use(w, b)->writes++;
        note_touch(w, b, s->kind == ST_ATOMIC, true);
    }
    for (int i = 0; s->kind == ST_TILE && i < s->u.tile.nregion; i++)
        note_use(w, s->u.tile.region[i].buf);
    if (s->kind == ST_TILE && s->u.tile.op->access)
        s->u.tile.op->access(s, use_access, w);
    for (int i = 0; s->kind == ST_CALL && i < s->u.call.nregion; i++) {
        note_use(w, s->u.call.region[i].buf);
        note_touch(w, s->u.call.region[i].buf, true, true);
    }
}

static void use_stmt(BodyUses *u, const Stmt *s, const BodyPath *parent)
{
    BodyPath *p = NEW(u->arena, BodyPath);
    *p = (BodyPath){s, parent, parent ? parent->depth + 1 : 0};
    Walk w = {u, p};
    use_own(&w, s);
    for (int i = 0; i < stmt_nkid(s); i++)
        use_stmt(u, stmt_kid(s, i), p);
}

static BodyUses *body_uses(Kernel *k)
{
    BodyUses *u = k->uses;

    if (u && u->body == k->body)
        return u;
    u = NEW(k->ir->arena, BodyUses);
    *u = (BodyUses){.body = k->body, .arena = k->ir->arena};
    map_init(&u->of, u->arena);
    use_stmt(u, k->body, NULL);
    for (int i = 0; i < k->buffers.n; i++)
        if (k->buffers.at[i]->view_of)
            uses_of_root(u, k->buffers.at[i])->viewed = true;
    k->uses = u;
    return u;
}

const BufferUses *buffer_uses(Kernel *k, const Buffer *b)
{
    static const BufferUses none;
    const BufferUses *n = map_get(&body_uses(k)->of, buffer_root(b));
    return n ? n : &none;
}

bool others_touch(const Stmt *const two[2], const Stmt *but)
{
    for (int i = 0; i < 2; i++)
        if (two[i] && !stmt_is_made_of(two[i], but))
            return true;
    return false;
}

/* ---- of one statement ------------------------------------------------------------------------ */

typedef struct {
    const Buffer *buf;
    int n;
} Count;

static bool count_expr(const Expr *e, void *arg)
{
    Count *c = arg;
    if ((e->op == EX_LOAD || e->op == EX_ADDR) && buffer_root(e->u.buf) == c->buf)
        c->n++;
    return true;
}

static void count_regions(Count *c, int n, const Region *r)
{
    for (int i = 0; i < n; i++)
        c->n += buffer_root(r[i].buf) == c->buf;
}

static bool count_stmt(const Stmt *s, void *arg)
{
    Count *c = arg;

    stmt_visit_expr(s, count_expr, c);
    if (s->kind == ST_STORE)
        c->n += buffer_root(s->u.store.buf) == c->buf;
    if (s->kind == ST_ATOMIC)
        c->n += buffer_root(s->u.atomic.buf) == c->buf;
    if (s->kind == ST_TILE)
        count_regions(c, s->u.tile.nregion, s->u.tile.region);
    if (s->kind == ST_CALL)
        count_regions(c, s->u.call.nregion, s->u.call.region);
    return true;
}

int stmt_uses(const Stmt *s, const Buffer *b)
{
    Count c = {buffer_root(b), 0};
    if (s)
        stmt_visit(s, count_stmt, &c);
    return c.n;
}
