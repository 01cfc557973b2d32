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
    VEC(const BodyPath *) tile; /* by the operator's id; NULL: of none */
    bool by_pointer; /* something is written through one */
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

static void use_touch(void *arg, const Stmt *s, const Touch *t)
{
    Walk *w = arg;
    BufferUses *n = uses_of_root(w->u, t->buf);
    bool lent = t->how & ACC_ADDRESS && buffer_root(t->buf)->lent_to_read;

    w->u->by_pointer |= touch_writes(t) && !t->expr && buffer_root(t->buf)->pointer;
    n->addresses += (t->how & ACC_ADDRESS) != 0;
    if (s->kind == ST_INSTR && !t->expr)
        return;
    n->uses++;
    if (n->by.n == 0 || n->by.at[n->by.n - 1] != s) {
        vec_push(w->u->arena, &n->by, s);
        vec_push(w->u->arena, &n->path, w->at);
    }
    n->all = n->all ? common(n->all, w->at) : w->at;
    n->writes += touch_writes(t) && !t->expr && s->kind != ST_CALL;
    if (touch_reads(t))
        note_two(n->reader, s);
    if (touch_writes(t) && !lent)
        note_two(n->writer, s);
}

static void note_tile(BodyUses *u, const BodyPath *p)
{
    int id = p->stmt->u.tile.id;

    while (u->tile.n <= id)
        vec_push(u->arena, &u->tile, NULL);
    if (!u->tile.at[id])
        u->tile.at[id] = p;
}

static void use_stmt(BodyUses *u, const Stmt *s, const BodyPath *parent, int index)
{
    BodyPath *p = NEW(u->arena, BodyPath);
    *p = (BodyPath){s, parent, parent ? parent->depth + 1 : 0, index};
    Walk w = {u, p};
    stmt_touches(s, use_touch, &w);
    if (s->kind == ST_TILE && s->u.tile.id >= 0)
        note_tile(u, p);
    for (int i = 0; i < stmt_nkid(s); i++)
        use_stmt(u, stmt_kid(s, i), p, i);
}

static BodyUses *body_uses(Kernel *k)
{
    BodyUses *u = k->uses;

    if (u && u->body == k->body)
        return u;
    u = NEW(k->ir->arena, BodyUses);
    *u = (BodyUses){.body = k->body, .arena = k->ir->arena};
    map_init(&u->of, u->arena);
    use_stmt(u, k->body, NULL, 0);
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

const BodyPath *body_path(Kernel *k, int tile_id)
{
    const BodyUses *u = body_uses(k);
    return tile_id >= 0 && tile_id < u->tile.n ? u->tile.at[tile_id] : NULL;
}

const BodyPath *path_loop(const BodyPath *p)
{
    const BodyPath *up = p ? p->parent : NULL;

    if (up && up->stmt->kind == ST_BLOCK)
        up = up->parent;
    return up && up->stmt->kind == ST_FOR ? up : NULL;
}

bool body_writes_by_pointer(Kernel *k)
{
    return body_uses(k)->by_pointer;
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

static void count_touch(void *arg, const Stmt *s, const Touch *t)
{
    Count *c = arg;
    c->n += buffer_root(t->buf) == c->buf && (t->expr || s->kind != ST_INSTR);
}

int stmt_uses(const Stmt *s, const Buffer *b)
{
    Count c = {buffer_root(b), 0};
    stmt_touches_all(s, count_touch, &c);
    return c.n;
}
