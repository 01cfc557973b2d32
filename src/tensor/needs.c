/* needs.c -- which nodes must be there before others, while groups are made.
 *
 * Kernels run whole: who needs one node of a group needs all that the group reads.  Each node, and
 * each group as one, has the set of nodes it needs, directly or by way of others; a node that joins
 * a group changes the sets of those that need either. */
#include "tensor/tensor.h"

static bool has(const uint64_t *set, int i)
{
    return set[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *set, int i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

static void put_all(const Graph *g, uint64_t *set, const uint64_t *more)
{
    for (int w = 0; w < g->nword; w++)
        set[w] |= more[w];
}

static bool meets(const Graph *g, const uint64_t *a, const uint64_t *b)
{
    bool some = false;
    for (int w = 0; w < g->nword && !some; w++)
        some = (a[w] & b[w]) != 0;
    return some;
}

static uint64_t *set_new(const Graph *g)
{
    return NEWN(g->arena, uint64_t, g->nword + 1);
}

static const uint64_t *needs_of(const Node *n)
{
    return n->group ? n->group->needs : n->needs;
}

/* n is counted to k from now on. */
static void count_in(Graph *g, Node *n, Group *k)
{
    put_all(g, k->needs, n->needs);
    for (int i = 0; i < g->nodes.n; i++) {
        Node *m = g->nodes.at[i];
        if (m->live && !m->group && (has(m->needs, n->id) || meets(g, m->needs, k->members)))
            put_all(g, m->needs, k->needs);
    }
    for (int i = 0; i < g->groups.n; i++) {
        Group *j = g->groups.at[i];
        if (j != k && (has(j->needs, n->id) || meets(g, j->needs, k->members)))
            put_all(g, j->needs, k->needs);
    }
    put(k->members, n->id);
}

static void count_all(Graph *g)
{
    Group **of = NEWN(g->arena, Group *, g->nodes.n + 1);
    g->nword = (g->nodes.n + 63) / 64;
    for (int i = 0; i < g->groups.n; i++) {
        g->groups.at[i]->needs = set_new(g);
        g->groups.at[i]->members = set_new(g);
    }
    for (int i = 0; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        of[i] = n->group;
        n->group = NULL;
        n->needs = set_new(g);
        for (int k = 0; k < n->narg; k++) {
            put(n->needs, n->arg[k]->id);
            put_all(g, n->needs, n->arg[k]->needs);
        }
    }
    for (int i = 0; i < g->nodes.n; i++)
        if (of[i]) {
            count_in(g, g->nodes.at[i], of[i]);
            g->nodes.at[i]->group = of[i];
        }
    g->counted = true;
}

void group_take(Graph *g, Group *k, Node *n)
{
    if (n->group == k)
        return;
    g->counted = g->counted && !n->group; /* what it was in has less now */
    if (g->counted && !k->needs) {
        k->needs = set_new(g);
        k->members = set_new(g);
    }
    if (g->counted)
        count_in(g, n, k);
    n->group = k;
}

bool depends(Graph *g, const Node *n, const Group *k)
{
    if (!g->counted)
        count_all(g);
    return n->group == k || (k->members && meets(g, needs_of(n), k->members));
}

bool reads_between(Graph *g, const Node *n, const Group *k)
{
    bool found = false;
    if (!g->counted)
        count_all(g);
    const uint64_t *own = needs_of(n);
    for (int i = 0; i < g->groups.n && !found; i++) {
        const Group *j = g->groups.at[i];
        found = j != k && j->members && meets(g, j->members, own) &&
                meets(g, j->needs, k->members);
    }
    return found;
}

bool may_read(Graph *g, const Node *n, const Node *a)
{
    if (!g->counted)
        count_all(g);
    return n == a || has(needs_of(n), a->id);
}

/* Through nodes that are in no group, to those that are in another. */
static bool outside(Graph *g, const Group *k, const Node *n, const Node *wanted)
{
    bool found = false;
    for (int i = 0; i < n->narg && !found; i++) {
        Node *a = n->arg[i];
        if (a->seen == g->nseen)
            continue;
        a->seen = g->nseen;
        found = a->group && a->group != k ? a == wanted || has(needs_of(a), wanted->id)
                                          : outside(g, k, a, wanted);
    }
    return found;
}

bool waits_for(Graph *g, const Group *k, const Node *n)
{
    bool found = false;
    if (!g->counted)
        count_all(g);
    g->nseen++;
    for (int i = 0; i < k->outputs.n && !found; i++)
        found = outside(g, k, k->outputs.at[i], n);
    for (int i = 0; i < k->reductions.n && !found; i++)
        found = outside(g, k, k->reductions.at[i], n);
    return found || (k->anchor && outside(g, k, k->anchor, n));
}
