/* pipe.c -- the program of a kernel as nodes, and the flags between its pipes.
 *
 * For each pair of pipes it is known which accesses of the one may not have ended when the other
 * starts its next instruction.  A node that touches what another pipe may still touch gets a flag
 * before it (tl_sync<X_Y>: set and wait), one after its own pipe a barrier.  A flag tells a pipe
 * all that the other knew; what the scalar unit has waited for everybody knows, since it issues.
 * Loops are gone through until what may be under way at their head no longer grows; where one is
 * left on the way, what is under way there is so behind it, or at the head. */
#include "target/ascend/ascend.h"

static const char *const pipe_name[P_COUNT] = {
#define PIPE(id) #id,
#include "target/ascend/pipe.def"
#undef PIPE
};

const SpaceInfo ascend_space[IN_COUNT] = {
#define SPACE(id, position, bytes) {#id, position, bytes},
#include "target/ascend/space.def"
#undef SPACE
};

/* ---- nodes and places ------------------------------------------------------------------------ */

Node *node_add(Ascend *a, NodeKind kind, int cores, Pipe pipe, const char *text)
{
    Node *n = NEW(a->e.arena, Node);

    *n = (Node){.kind = kind, .cores = cores, .pipe = pipe, .text = text};
    vec_push(a->e.arena, a->to, n);
    return n;
}

void node_touch(Ascend *a, Node *n, int place, bool writes)
{
    if (place < 0)
        return;
    a->places.at[place].used = true;
    a->places.at[place].writers += writes;
    for (int i = 0; i < n->touch.n; i++)
        if (n->touch.at[i].place == place && n->touch.at[i].writes == writes)
            return;
    vec_push(a->e.arena, &n->touch, ((PlaceTouch){place, writes, false}));
}

int place_find(Ascend *a, const Buffer *b)
{
    return (int)(intptr_t)map_get(&a->place_of, buffer_root(b)) - 1;
}

int place_add(Ascend *a, const Place *p)
{
    vec_push(a->e.arena, &a->places, *p);
    if (p->buf)
        map_set(&a->place_of, p->buf, (void *)(intptr_t)a->places.n);
    return a->places.n - 1;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static bool touches(const Node *n, int place, bool write)
{
    for (int i = 0; i < n->touch.n; i++)
        if (n->touch.at[i].place == place && (!write || n->touch.at[i].writes))
            return true;
    return false;
}

static int count_in(const NodeVec *v, int place, bool write)
{
    int sum = 0;

    for (int i = 0; i < v->n; i++)
        sum += touches(v->at[i], place, write) + count_in(&v->at[i]->body, place, write) +
               count_in(&v->at[i]->orelse, place, write);
    return sum;
}

static bool leaves_in(const NodeVec *v)
{
    for (int i = 0; i < v->n; i++)
        if (v->at[i]->leaves || leaves_in(&v->at[i]->body) || leaves_in(&v->at[i]->orelse))
            return true;
    return false;
}

static void drop_touch(NodeVec *v, int place)
{
    for (int i = 0; i < v->n; i++) {
        Node *n = v->at[i];
        int kept = 0;
        for (int j = 0; j < n->touch.n; j++)
            if (n->touch.at[j].place != place)
                n->touch.at[kept++] = n->touch.at[j];
        n->touch.n = kept;
        drop_touch(&n->body, place);
        drop_touch(&n->orelse, place);
    }
}

static Node *line(Ascend *a, const Node *like, const char *text)
{
    Node *n = NEW(a->e.arena, Node);

    *n = (Node){.kind = NODE_OP, .cores = like->cores, .pipe = P_NONE, .text = text};
    return n;
}

/* One filling of the tile, first of all that touches it, in this loop and nowhere else. */
static bool queue_here(Ascend *a, Node *loop, int place, int all)
{
    Place *p = &a->places.at[place];
    NodeVec *v = &loop->body, out = {0};
    int fill = -1, last = -1;

    if (count_in(v, place, false) != all || leaves_in(v))
        return false;
    for (int i = 0; i < v->n; i++) {
        Node *n = v->at[i];
        bool any = touches(n, place, false) || count_in(&n->body, place, false) ||
                   count_in(&n->orelse, place, false);
        if (any && fill < 0)
            fill = i;
        if (any)
            last = i;
    }
    if (fill < 0 || v->at[fill]->kind != NODE_OP || v->at[fill]->pipe != P_MTE2 ||
        !touches(v->at[fill], place, true) || count_in(v, place, true) != 1 || last == fill)
        return false;
    const char *tab =
        arena_printf(a->e.arena, "%.*s", (int)strspn(v->at[fill]->text, " "), v->at[fill]->text);
    for (int i = 0; i < v->n; i++) {
        Node *n = v->at[i];
        const char *t = ascend_type(p->type);
        if (i == fill)
            vec_push(a->e.arena, &out,
                     line(a, n,
                          arena_printf(a->e.arena, "%s%s = %s_queue.AllocTensor<%s>();\n", tab,
                                       p->name, p->name, t)));
        vec_push(a->e.arena, &out, n);
        if (i == fill)
            vec_push(a->e.arena, &out,
                     line(a, n,
                          arena_printf(a->e.arena,
                                       "%s%s_queue.EnQue(%s);\n%s%s = %s_queue.DeQue<%s>();\n", tab,
                                       p->name, p->name, tab, p->name, p->name, t)));
        if (i == last)
            vec_push(a->e.arena, &out,
                     line(a, v->at[fill],
                          arena_printf(a->e.arena, "%s%s_queue.FreeTensor(%s);\n", tab, p->name,
                                       p->name)));
    }
    *v = out;
    drop_touch(v, place);
    p->queued = true;
    return true;
}

static bool queue_in(Ascend *a, NodeVec *v, int place, int all)
{
    for (int i = 0; i < v->n; i++)
        if (queue_in(a, &v->at[i]->body, place, all) ||
            queue_in(a, &v->at[i]->orelse, place, all) ||
            (v->at[i]->kind == NODE_LOOP && queue_here(a, v->at[i], place, all)))
            return true;
    return false;
}

/* Tiles that a loop refills, where L1 has room for two of each. */
void pipes_queue(Ascend *a)
{
    int64_t room = ascend_space[IN_L1].bytes;

    for (int i = 0; i < a->places.n; i++)
        if (a->places.at[i].space == IN_L1)
            room -= a->places.at[i].bytes;
    for (int i = 0; i < a->places.n; i++) {
        Place *p = &a->places.at[i];
        if (p->space != IN_L1 || p->bytes > room)
            continue;
        if (queue_in(a, &a->program, i, count_in(&a->program, i, false)))
            room -= p->bytes;
    }
}

/* ---- what may be under way ------------------------------------------------------------------- */

enum { WORDS = 8, PLACES_MOST = WORDS * 64 };
typedef struct {
    uint64_t at[WORDS];
} Set;
/* [of][to]: accesses of pipe `of` that may not have ended for pipe `to`. */
typedef struct {
    Set read[P_COUNT][P_COUNT], write[P_COUNT][P_COUNT];
} State;

typedef struct {
    Ascend *a;
    int core;
    Str *out; /* NULL: nothing is printed yet */
    int depth;
    State *left, *next; /* of the loop around, where it or an iteration is left on the way */
} Walk;

static bool set_has(const Set *s, int i)
{
    return s->at[i / 64] >> (i % 64) & 1;
}
static void set_put(Set *s, int i)
{
    s->at[i / 64] |= 1ull << (i % 64);
}

static void set_keep(Set *s, const Set *of)
{
    for (int w = 0; w < WORDS; w++)
        s->at[w] &= of->at[w];
}

static void state_join(State *s, const State *t)
{
    uint64_t *x = (uint64_t *)s;
    const uint64_t *y = (const uint64_t *)t;

    for (size_t i = 0; i < sizeof *s / sizeof *x; i++)
        x[i] |= y[i];
}

/* `to` knows what `from` knows, and all of `from`. */
static void state_flag(State *s, Pipe from, Pipe to)
{
    s->read[from][to] = s->write[from][to] = (Set){0};
    for (int r = 0; r < P_COUNT; r++)
        if (r != (int)from) {
            set_keep(&s->read[r][to], &s->read[r][from]);
            set_keep(&s->write[r][to], &s->write[r][from]);
        }
    for (int r = 0; to == P_S && r < P_COUNT; r++)
        for (int x = 0; x < P_COUNT; x++)
            if (r != P_S && x != P_S) {
                set_keep(&s->read[r][x], &s->read[r][P_S]);
                set_keep(&s->write[r][x], &s->write[r][P_S]);
            }
}

static void put_line(Walk *w, const char *fmt, const char *x, const char *y)
{
    if (!w->out)
        return;
    str_indent(w->out, w->depth * 4);
    str_printf(w->out, fmt, x, y);
}

static bool in_the_way(const State *s, Pipe of, Pipe to, const PlaceTouch *t)
{
    return set_has(&s->write[of][to], t->place) ||
           (t->writes && set_has(&s->read[of][to], t->place));
}

/* Stores of one pipe to other elements of a tensor are not in each other's way. */
static bool own_way(const Walk *w, const State *s, Pipe p, const PlaceTouch *t)
{
    if (p == P_S || !in_the_way(s, p, p, t))
        return false;
    const Place *at = &w->a->places.at[t->place];
    return at->space != IN_GM || !t->writes || t->again || at->writers > 1 ||
           set_has(&s->read[p][p], t->place);
}

static void node_sync(Walk *w, State *s, const Node *n)
{
    for (int p = 0; p < P_COUNT; p++)
        for (int i = 0; i < n->touch.n && p != (int)n->pipe; i++)
            if (in_the_way(s, (Pipe)p, n->pipe, &n->touch.at[i])) {
                put_line(w, "tl_sync<HardEvent::%s_%s>();\n", pipe_name[p], pipe_name[n->pipe]);
                state_flag(s, (Pipe)p, n->pipe);
            }
    for (int i = 0; i < n->touch.n; i++)
        if (own_way(w, s, n->pipe, &n->touch.at[i])) {
            put_line(w, "PipeBarrier<PIPE_%s>();\n", pipe_name[n->pipe], "");
            s->read[n->pipe][n->pipe] = s->write[n->pipe][n->pipe] = (Set){0};
        }
    for (int i = 0; i < n->touch.n; i++)
        for (int p = 0; p < P_COUNT; p++)
            set_put(n->touch.at[i].writes ? &s->write[n->pipe][p] : &s->read[n->pipe][p],
                    n->touch.at[i].place);
}

static void walk(Walk *w, State *s, const NodeVec *v);

static bool is_here(const Walk *w, const Node *n)
{
    return n->cores == 0 || (n->cores & w->core);
}

static void walk_loop(Walk *w, State *s, const Node *n)
{
    State before, end, left = {0}, next = {0};
    Walk in = *w;

    in.out = NULL;
    in.left = &left;
    in.next = &next;
    do {
        before = end = *s;
        walk(&in, &end, &n->body);
        state_join(s, &end);
        state_join(s, &next);
    } while (memcmp(&before, s, sizeof before));
    in.out = w->out;
    end = *s;
    walk(&in, &end, &n->body);
    if (n->once && !leaves_in(&n->body))
        *s = end;
    state_join(s, &left);
}

static void walk_if(Walk *w, State *s, const Node *n)
{
    State other = *s;

    walk(w, s, &n->body);
    if (n->orelse.n) {
        if (w->out) {
            str_indent(w->out, (w->depth - 1) * 4);
            str_puts(w->out, "} else {\n");
        }
        walk(w, &other, &n->orelse);
    }
    if (!n->once) /* a mere pair of braces */
        state_join(s, &other);
}

static void walk(Walk *w, State *s, const NodeVec *v)
{
    for (int i = 0; i < v->n; i++) {
        const Node *n = v->at[i];
        if (!is_here(w, n))
            continue;
        if (n->pipe != P_NONE)
            node_sync(w, s, n);
        if (w->out)
            str_puts(w->out, n->text);
        if (n->kind == NODE_OP && n->leaves)
            state_join(n->continues ? w->next : w->left, s);
        if (n->kind == NODE_OP)
            continue;
        w->depth++;
        (n->kind == NODE_LOOP ? walk_loop : walk_if)(w, s, n);
        w->depth--;
        put_line(w, "}\n", "", "");
    }
}

void pipes_print(Ascend *a, int core, Str *out)
{
    Walk w = {.a = a, .core = core, .out = out, .depth = a->e.indent};
    State s = {0};

    if (a->places.n > PLACES_MOST)
        ascend_refuse(a, a->k->span, "a kernel with so many tiles");
    walk(&w, &s, &a->program);
}
