/* attention_back.c -- derivatives of attention: scores and weights computed again, tile by tile.
 *
 * Found by what is computed, not by a name: weights exp2(x - rows), where x is made of one product,
 * element by element, and rows are one stored number for each row; and products that read the
 * weights or multiples of them, element by element, made of one more product at most.  Neither is
 * stored.  A block keeps some rows of such a result and goes through the tiles of the axis that is
 * summed: columns of scores for what has their rows, rows of scores for what has their columns. */
#include "tensor/attention.h"
#include "tensor/dots.h"

enum {
    WIDTH_MOST = 256,         /* of a row of an operand: a block holds them whole */
    WIDTH_MOST_THREADS = 128, /* the same where results stay in registers */
};

/* ---- the rule -------------------------------------------------------------------------------- */

static bool reads_inside(Graph *g, Node *n, const Node *t)
{
    if (n == t)
        return true;
    if (n->seen == g->nseen || !is_inline(n) || n->stored)
        return false;
    n->seen = g->nseen;
    bool reads = false;
    for (int i = 0; i < n->narg && !reads; i++)
        reads = reads_inside(g, n->arg[i], t);
    return reads;
}

bool reads(Graph *g, Node *n, const Node *t)
{
    g->nseen++;
    return reads_inside(g, n, t);
}

static bool see_inner(void *arg, Node *n, const Lin *const *at)
{
    End *e = arg;
    if (n->kind != NODE_DOT)
        return false;
    const bool straight = lin_same(at[1], e->row) && lin_same(at[2], e->step),
               turned = lin_same(at[1], e->step) && lin_same(at[2], e->row);
    const bool here = (straight || turned) && !lin_uses(at[0], e->row) && !lin_uses(at[0], e->step);
    for (int i = 0; i < e->ndot; i++)
        if (e->inner[i] == n) {
            e->ok = e->ok && here && turned == e->turned[i] && lin_same(at[0], e->batch[i]);
            return false;
        }
    if (!here) /* it is stored, and read as that */
        return false;
    if (e->ndot == INNER_MOST) {
        e->ok = false;
        return false;
    }
    e->inner[e->ndot] = n;
    e->turned[e->ndot] = turned;
    e->batch[e->ndot++] = at[0];
    return false;
}

static void swap_inner(End *e)
{
    const End was = *e;
    for (int i = 0; i < 2; i++) {
        e->inner[i] = was.inner[1 - i];
        e->turned[i] = was.turned[1 - i];
        e->batch[i] = was.batch[1 - i];
    }
}

/* For tiles of 16 rows and 16 steps; what goes into the last product is stored where nothing
 * multiplies from registers. */
static bool has_room(const Machine *m, const End *e)
{
    int64_t bits = m->mma_rate ? 0 : 16 * 16 * dtype_bits(e->dot->arg[0]->type);

    for (int i = 0; i < e->ndot; i++)
        for (int k = 0; k < 2; k++)
            bits += 16 * e->inner[i]->arg[0]->shape[2] * dtype_bits(e->inner[i]->arg[k]->type);
    return !m->shared_block || bits / 8 <= m->shared_block - BACK_ROOM_BESIDE;
}

bool read_end(Graph *g, Node *dot, Node *weights, const char *row, const char *step, End *e)
{
    *e = (End){.g = g, .dot = dot, .ok = true, .steps = dot->arg[0]->shape[2]};
    e->side = reads(g, dot->arg[0], weights) ? 0 : 1;
    e->rows = dot->shape[e->side ? 2 : 1];
    e->width = dot->shape[e->side ? 1 : 2];
    e->row = lin_var(g, row, 0, e->rows - 1);
    e->step = lin_var(g, step, 0, e->steps - 1);
    e->at[0] = lin_var(g, "bz", 0, dot->shape[0] - 1);
    e->at[1 + e->side] = e->row;
    e->at[2 - e->side] = e->step;
    each_read(g, dot->arg[e->side], e->at, see_inner, e);
    if (e->ndot == 2 && !reads(g, weights, e->inner[0]))
        swap_inner(e);
    const int most = machine_has(g->machine, HAS_THREADS) ? WIDTH_MOST_THREADS : WIDTH_MOST;
    e->ok = e->ok && e->ndot && reads(g, weights, e->inner[0]) && e->width <= most &&
            e->rows > 1 && e->steps > 1;
    for (int i = 0; i < e->ndot; i++)
        e->ok = e->ok && e->inner[i]->arg[0]->shape[2] <= most && !e->inner[i]->is_output;
    return e->ok && has_room(g->machine, e) && (e->ndot < 2 || !reads(g, weights, e->inner[1]));
}

typedef struct {
    Graph *g;
    Node *weights, *rows;
    bool *in;      /* by id: made of the weights */
    NodeVec ends;
} Back;

/* exp2(x - rows) */
static bool is_weights(Node *n, Node **rows)
{
    if (!n->live || n->is_output || !is_elem(n, ELEM_EXP2) || !is_elem(n->arg[0], ELEM_SUB))
        return false;
    *rows = skip_views(n->arg[0]->arg[1]);
    return (*rows)->kind == NODE_ELEM && node_count(*rows) < node_count(n) && n->rank >= 2;
}

/* All that is made of n, element by element; false: something else is made of it. */
static bool find_made(Graph *g, const Node *n, bool *in, NodeVec *ends)
{
    bool ok = true;
    in[n->id] = true;
    for (int i = n->id + 1; i < g->nodes.n && ok; i++) {
        Node *m = g->nodes.at[i];
        bool made = false;
        for (int k = 0; k < m->narg; k++)
            made = made || in[m->arg[k]->id];
        if (!made || !m->live)
            continue;
        in[i] = is_inline(m);
        ok = in[i] ? !m->is_output : m->kind == NODE_DOT && in[m->arg[0]->id] != in[m->arg[1]->id];
        if (m->kind == NODE_DOT)
            vec_push(g->arena, ends, m);
    }
    return ok;
}

/* Is it 0 where the weights are? */
static bool vanishes(const Back *b, const Node *n)
{
    if (n == b->weights)
        return true;
    if (!b->in[n->id])
        return false;
    double v;
    const Node *const *a = (const Node *const *)n->arg;
    switch (n->kind) {
    case NODE_CAST: case NODE_RESHAPE: case NODE_PERMUTE: return vanishes(b, a[0]);
    case NODE_ELEM:
        if (n->how == ELEM_MUL)
            return vanishes(b, a[0]) || vanishes(b, a[1]);
        if (n->how == ELEM_DIV || n->how == ELEM_NEGATIVE)
            return vanishes(b, a[0]) && !(n->narg > 1 && b->in[a[1]->id]);
        if (n->how == ELEM_WHERE)
            return !b->in[a[0]->id] &&
                   (vanishes(b, a[1]) || (is_number_of(a[1], &v) && v == 0)) &&
                   (vanishes(b, a[2]) || (is_number_of(a[2], &v) && v == 0));
        return (n->how == ELEM_ADD || n->how == ELEM_SUB) && vanishes(b, a[0]) &&
               vanishes(b, a[1]);
    default: return false;
    }
}

/* Nobody but the ends reads the second product: what is made of it. */
static bool only_ends(const Back *b, const Node *dot, bool *in)
{
    NodeVec ends = {0};
    bool ok = find_made(b->g, dot, in, &ends);
    for (int i = 0; i < ends.n && ok; i++) {
        ok = false;
        for (int k = 0; k < b->ends.n; k++)
            ok = ok || b->ends.at[k] == ends.at[i];
    }
    return ok;
}

static void mark_way(Graph *g, Node *n, const Node *to)
{
    if (n == to || n->inside || !is_inline(n) || n->stored || !reads(g, n, to))
        return;
    n->inside = true;
    for (int i = 0; i < n->narg; i++)
        mark_way(g, n->arg[i], to);
}

/* Marks what is computed tile by tile. */
static bool mark_back(Back *b)
{
    Graph *g = b->g;
    bool *second = NEWN(g->arena, bool, g->nodes.n + 1);
    Node *scores = NULL, *other = NULL;
    for (int i = 0; i < b->ends.n; i++) {
        Node *dot = b->ends.at[i];
        End e;
        if (!read_end(g, dot, b->weights, "row", "step", &e) || !vanishes(b, dot->arg[e.side]) ||
            (scores && scores != e.inner[0]) || (other && e.ndot > 1 && other != e.inner[1]))
            return false;
        scores = e.inner[0];
        other = e.ndot > 1 ? e.inner[1] : other;
    }
    if (!scores || (other && !only_ends(b, other, second)))
        return false;
    mark_way(g, b->weights, scores);
    for (int i = 0; i < g->nodes.n; i++)
        if (b->in[i] || second[i])
            g->nodes.at[i]->inside = true;
    return true;
}

void find_backs(Graph *g)
{
    const int n = g->nodes.n;
    for (int i = 0; i < n; i++) {
        Back b = {.g = g, .weights = g->nodes.at[i]};
        if (!is_weights(b.weights, &b.rows))
            continue;
        b.in = NEWN(g->arena, bool, n + 1);
        const bool held = b.rows->held, stored = b.rows->stored;
        b.rows->held = b.rows->stored = true;
        if (!find_made(g, b.weights, b.in, &b.ends) || !mark_back(&b)) {
            b.rows->held = held;
            b.rows->stored = stored;
            continue;
        }
        for (int k = 0; k < b.ends.n; k++) {
            vec_push(g->arena, &g->back_ends, b.ends.at[k]);
            vec_push(g->arena, &g->back_weights, b.weights);
        }
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Two of the same rows and steps are one kernel. */
static bool may_join(Graph *g, const Group *a, const Group *b)
{
    End x, y;
    bool ok = a->weight == b->weight && !a->pair && !b->pair &&
              read_end(g, a->anchor, a->weight, "row", "step", &x) &&
              read_end(g, b->anchor, b->weight, "row", "step", &y) && x.rows == y.rows &&
              x.steps == y.steps && a->anchor->shape[0] == b->anchor->shape[0];
    for (int i = 0; ok && i < MIN(x.ndot, y.ndot); i++)
        ok = x.turned[i] == y.turned[i] && lin_same(x.batch[i], y.batch[i]);
    return ok && !depends(g, a->anchor, b) && !depends(g, b->anchor, a);
}

static void join_groups(Graph *g, Group *a, Group *b)
{
    int n = 0;
    a->pair = b->anchor;
    a->again[1] = a->again[1] ? a->again[1] : b->again[1];
    for (int i = 0; i < b->outputs.n; i++)
        vec_push(g->arena, &a->outputs, b->outputs.at[i]);
    for (int i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i]->group == b)
            g->nodes.at[i]->group = a;
    for (int i = 0; i < g->groups.n; i++)
        if (g->groups.at[i] != b)
            g->groups.at[n++] = g->groups.at[i];
    g->groups.n = n;
    g->counted = false;
}

void fuse_backs(Graph *g)
{
    const NodeVec *ends = &g->back_ends;
    for (int i = 0; i < ends->n; i++) {
        Group *k = ends->at[i]->group;
        k->kind = GROUP_BACK;
        k->weight = g->back_weights.at[i];
        k->first = k->outputs.n;
        End e;
        read_end(g, ends->at[i], k->weight, "row", "step", &e);
        k->again[0] = e.inner[0];
        k->again[1] = e.inner[1];
    }
    for (int i = 0; i < ends->n; i++)
        for (int j = i + 1; j < ends->n; j++) {
            Group *a = ends->at[i]->group, *b = ends->at[j]->group;
            if (a != b && may_join(g, a, b))
                join_groups(g, a, b);
        }
}
