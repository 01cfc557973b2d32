/* pair.c -- two products of one left operand as one kernel: a gate, and what it lets through.
 *
 * A product that only another one's kernel reads, element by element where that one stands, is
 * computed beside it when both have the same rows: the left tiles are loaded once, and what would
 * be stored between stays in registers. */
#include "tensor/tensor.h"

typedef struct {
    const Node *dot;
    const Lin *const *at;
    bool seen, ok;
} Look;

static bool see_pair(void *arg, Node *n, const Lin *const *at)
{
    Look *l = arg;
    if (n != l->dot)
        return false;
    l->seen = true;
    for (int d = 0; d < n->rank; d++)
        l->ok = l->ok && lin_same(at[d], l->at[d]);
    return false;
}

/* How often nodes that k computes on the way to n read t. */
static int uses_inside(const Group *k, const Node *n, const Node *t, Map *seen)
{
    int found = 0;
    if (map_has(seen, n) || (n->stored && n->group != k))
        return 0;
    map_set(seen, n, n);
    for (int i = 0; i < n->narg; i++)
        found += n->arg[i] == t ? 1 : uses_inside(k, n->arg[i], t, seen);
    return found;
}

static bool alike(const Node *a, const Node *b)
{
    bool same = a->arg[0] == b->arg[0] && a->arg[1]->type == b->arg[1]->type;
    for (int d = 0; d < 3; d++)
        same = same && a->shape[d] == b->shape[d];
    return same;
}

/* May k compute the product of `other` too?  What that one stored is then read through. */
static bool pair_may(Graph *g, Group *k, const Group *other)
{
    Node *t = other->outputs.at[0], *end = k->outputs.at[0], *dot = other->anchor;
    const Lin *at[3] = {lin_var(g, "bz", 0, dot->shape[0] - 1),
                        lin_var(g, "m", 0, dot->shape[1] - 1),
                        lin_var(g, "n", 0, dot->shape[2] - 1)};
    Look look = {.dot = dot, .at = at, .ok = true};
    Map seen;
    map_init(&seen, g->arena);
    if (t->is_output || !alike(k->anchor, dot) || depends(g, k->anchor->arg[1], other) ||
        uses_inside(k, end, t, &seen) != t->nuse)
        return false; /* or it is read to compute an operand: whole, before */
    t->stored = false;
    each_read(g, end, places_from(g, k->anchor, at)[end->id]->at, see_pair, &look);
    if (look.seen && look.ok)
        return true;
    t->stored = true;
    return false;
}

static bool is_product(const Group *k)
{
    return k->kind == GROUP_DOT && k->outputs.n == 1 && !k->pair;
}

static bool find_pair(Graph *g, Group *k)
{
    for (int i = 0; i < g->groups.n; i++) {
        Group *other = g->groups.at[i];
        if (other == k || !is_product(other) || !pair_may(g, k, other))
            continue;
        Node *t = other->outputs.at[0];
        t->group = NULL;
        g->counted = false;
        t->held = false;
        k->pair = other->anchor;
        k->pair->group = k;
        k->pair->stored = false;
        g->groups.n--;
        for (int j = i; j < g->groups.n; j++)
            g->groups.at[j] = g->groups.at[j + 1];
        return true;
    }
    return false;
}

void fuse_pairs(Graph *g)
{
    for (int i = 0; i < g->groups.n; i++)
        if (machine_has(g->machine, HAS_THREADS) && is_product(g->groups.at[i]) &&
            find_pair(g, g->groups.at[i]))
            i = -1; /* groups before it may have gone */
}
