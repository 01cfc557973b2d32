/* fuse.c -- nodes into groups, one kernel each.
 *
 * What has a value at a position that is short text (elements, layout changes) is computed where it
 * is read.  Around each of the others, an anchor, a group is grown: before it all that it reads,
 * after it all nodes whose positions follow from its own.  A node is stored when it is an output,
 * when several groups read it and it is dear, or when it ends a group. */
#include "tensor/dots.h"

enum {
    HOLD_WEIGHT = 24,   /* operations: past this a node that several groups read is stored */
    OPERAND_WEIGHT = 3, /* the same for an operand of a dot, whose tiles are loaded many times */
    OFTEN = 512,        /* readers of an operand of a GPU's product: all but loads is stored */
    CALL_WEIGHT = 6,    /* of T.exp and the like */
    TEXT_WEIGHT = 50000, /* past this a node is stored: an expression has so many terms at most */
    TERMS_WEIGHT = 128, /* of all terms of a reduction that is written out */
    WINDOWS_TIMES = 64, WINDOWS_BYTES = 1 << 30,
    BORDER_LEAST = 1 << 14, /* elements: with less a kernel of its own costs more than it saves */
    REDUCTIONS_MOST = 6, /* of rows, of groups that become one: each has a tile */
};

/* ---- uses ------------------------------------------------------------------------------------ */

static void mark_live(Graph *g)
{
    for (int i = 0; i < g->outputs.n; i++) {
        g->outputs.at[i]->live = g->outputs.at[i]->is_output = true;
        g->outputs.at[i]->nuse++;
    }
    for (int i = g->nodes.n - 1; i >= 0; i--) {
        Node *n = g->nodes.at[i];
        for (int k = 0; n->live && k < n->narg; k++) {
            n->arg[k]->live = true;
            n->arg[k]->nuse++;
        }
    }
}

/* meet: the nearest node that every way to an output passes.  `end` stands for the outputs. */
static Node *nearest_meet(Node *a, Node *b, Node *end)
{
    while (a != b) {
        if (a == end || b == end)
            return end;
        if (a->id < b->id)
            a = a->meet;
        else
            b = b->meet;
    }
    return a;
}

static void find_meets(Graph *g, Node *end)
{
    end->id = g->nodes.n;
    for (int i = 0; i < g->outputs.n; i++)
        g->outputs.at[i]->meet = end;
    for (int i = g->nodes.n - 1; i >= 0; i--) {
        Node *n = g->nodes.at[i];
        for (int k = 0; n->live && k < n->narg; k++) {
            Node *a = n->arg[k];
            a->meet = a->meet ? nearest_meet(a->meet, n, end) : n;
        }
    }
}

/* ---- what is stored -------------------------------------------------------------------------- */

/* How often an operand is computed for one element. */
static int64_t times(const Node *n)
{
    return n->kind == NODE_REDUCE ? node_count(n->arg[0]) / MAX(1, node_count(n)) : 1;
}

static int own_weight(const Node *n)
{
    if (n->kind == NODE_REDUCE)
        return (int)MIN(times(n), 1000);
    if (n->kind == NODE_CAST)
        return 1;
    if (n->kind != NODE_ELEM)
        return 0;
    const char *t = elem_table[n->how].text;
    bool cheap = n->how == ELEM_MAXIMUM || n->how == ELEM_MINIMUM || n->how == ELEM_ABS ||
                 n->how == ELEM_WHERE;
    return !strncmp(t, "T.", 2) && !cheap ? CALL_WEIGHT : 1;
}

static bool is_view(const Node *n)
{
    return n->kind >= NODE_RESHAPE && n->kind <= NODE_ALONG;
}

/* The node that a layout change of an operand reads. */
static Node *behind_views(Node *n)
{
    while (!n->stored && is_view(n) && n->kind != NODE_CONCAT)
        n = n->arg[0];
    return n;
}

static bool reads_anchor(const Node *n, int depth)
{
    if (!is_inline(n))
        return true;
    bool reads = false;
    for (int k = 0; k < n->narg && depth && !n->held; k++)
        reads = reads || reads_anchor(n->arg[k], depth - 1);
    return reads;
}

static void hold(Node *n)
{
    if (!n->inside && is_inline(n) && n->kind > NODE_EXTENT)
        n->held = n->stored = true;
}

/* Of views of n alone the one that has its elements in the order of the operand a: what is stored
 * for products only is stored as they read it, in whole tiles. */
static Node *as_read(const Graph *g, Node *a, Node *n)
{
    while (a != n && a->kind == NODE_RESHAPE)
        a = a->arg[0];
    bool moved = false, alone = machine_has(g->machine, HAS_THREADS);
    for (const Node *x = a; x != n; x = x->arg[0]) {
        moved = moved || (x->kind == NODE_PERMUTE && x->rank > 3);
        alone = alone && (x->kind == NODE_PERMUTE || x->kind == NODE_RESHAPE) &&
                x->arg[0]->nuse == 1;
    }
    return moved && alone ? a : n;
}

/* `times`: rows or columns that read each element. */
static void hold_operand(const Graph *g, Node *a, int64_t times)
{
    Node *n = behind_views(a);
    /* Bulk copies bring what is stored, while products run; threads would compute it in between. */
    const bool often = machine_has(g->machine, HAS_THREADS) && times >= OFTEN;
    if (n->weight > (often ? 0 : OPERAND_WEIGHT) || (is_inline(n) && reads_anchor(n, 8)))
        hold(is_inline(n) ? as_read(g, a, n) : n);
}

/* Windows that overlap, which a GPU's product reads many times: they are stored, when there is
 * room, since tiles of memory come by bulk copies and those of windows element by element. */
static void hold_windows(const Graph *g, Node *a, int64_t times)
{
    bool windows = false;
    while (a->kind == NODE_RESHAPE && !a->stored)
        a = a->arg[0];
    for (const Node *n = a; is_view(n) && n->kind != NODE_CONCAT && !n->stored; n = n->arg[0])
        windows = windows || (n->kind == NODE_WINDOW && n->attr[1] > 1);
    if (windows && machine_has(g->machine, HAS_THREADS) && times >= WINDOWS_TIMES &&
        node_count(a) * dtype_bits(a->type) / 8 <= WINDOWS_BYTES)
        hold(a);
}

/* Windows of an image with channels last: it is stored so, without windows, and so is the other
 * operand if it is in another order. */
static bool hold_image(const Graph *g, const Node *dot)
{
    Windows w;
    bool found = false;
    for (int i = 0; i < 2 && machine_has(g->machine, HAS_THREADS); i++) {
        if (!match_windows(dot->arg[i], &w))
            continue;
        Node *other = dot->arg[1 - i];
        while (!other->stored && other->kind == NODE_RESHAPE)
            other = other->arg[0];
        if (!w.image->stored)
            hold(w.image);
        if (!other->stored && other->kind == NODE_PERMUTE)
            hold(other);
        found = true;
    }
    return found;
}

/* Windows of a tensor with a border, on a CPU: it is stored with it, so that loops over them have
 * no conditions, and vectors are whole. */
static void hold_border(const Graph *g, Node *a, int depth)
{
    bool windows = false;
    if (machine_has(g->machine, HAS_THREADS))
        return;
    while (is_view(a) && a->kind != NODE_CONCAT && !a->stored && a->kind != NODE_PAD) {
        windows = windows || (a->kind == NODE_WINDOW && a->attr[1] > 1);
        a = a->arg[0];
    }
    if (windows && a->kind == NODE_PAD && extent_usual(g, node_count(a)) >= BORDER_LEAST)
        hold(a);
    for (int i = 0; a->kind >= NODE_ELEM && a->kind <= NODE_CAST && i < a->narg && depth; i++)
        if (!a->held)
            hold_border(g, a->arg[i], depth - 1);
}

/* What is dear and runs along another axis than its reader, on a CPU: it is computed in whole
 * vectors of its own, and the numbers alone are fetched from here and there. */
static void hold_turned(const Graph *g, const Node *n)
{
    const int last = n->rank - 1;
    Node *a = behind_views(n->arg[0]);
    if (!machine_has(g->machine, HAS_THREADS) && last >= 0 && n->attr[last] != last &&
        a->weight > HOLD_WEIGHT && !reads_anchor(a, 8))
        hold(a);
}

/* What a reduction of windows reads again and again is stored when it is dear. */
static void hold_terms(Node *a, int depth)
{
    Node *n = behind_views(a);
    if (n != a && n->weight > OPERAND_WEIGHT)
        hold(n);
    for (int i = 0; n->kind >= NODE_ELEM && n->kind <= NODE_CAST && i < n->narg && depth; i++)
        if (!n->held)
            hold_terms(n->arg[i], depth - 1);
}

/* What is compared with its own largest elements, if it is more than moved. */
static void hold_once(Node *n)
{
    n = behind_views(n);
    n->once = true;
    hold(n);
}

static void find_held(Graph *g, const Node *end)
{
    for (int i = 0; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        int sum = own_weight(n);
        if (!n->live)
            continue;
        for (int k = 0; k < n->narg && is_inline(n); k++)
            sum += n->arg[k]->held ? 0 : (int)(MIN(times(n), 1000) * n->arg[k]->weight);
        n->weight = is_inline(n) ? MIN(sum, 1000000) : 0;
        if (n->kind == NODE_PERMUTE)
            hold_turned(g, n);
        if (n->once)
            hold_once(n);
        if (n->is_output || n->weight > TEXT_WEIGHT)
            hold(n);
        if (n->nuse > 1 && n->weight > HOLD_WEIGHT && n->meet &&
            (n->meet == end || n->meet->weight > 4 * HOLD_WEIGHT || !is_inline(n->meet)))
            hold(n);
        if (n->kind == NODE_DOT) {
            const bool image = hold_image(g, n);
            hold_operand(g, n->arg[0], n->shape[2]);
            hold_operand(g, n->arg[1], n->shape[1]);
            if (!image)
                hold_windows(g, n->arg[0], n->shape[2]);
            if (!image)
                hold_windows(g, n->arg[1], n->shape[1]);
            hold_border(g, n->arg[0], 0);
            hold_border(g, n->arg[1], 0);
        }
        if (n->kind == NODE_REDUCE)
            hold_border(g, n->arg[0], 4);
        if (n->kind == NODE_REDUCE && n->weight > TERMS_WEIGHT) {
            hold_terms(n->arg[0], 4);
            n->weight = own_weight(n);
        }
        if ((n->kind == NODE_TAKE || n->kind == NODE_ALONG) && n->arg[0]->weight > CALL_WEIGHT &&
            node_count(n) > node_count(n->arg[0]) / 4)
            hold(behind_views(n->arg[0]));
        if (!is_inline(n) && !n->inside)
            n->stored = true;
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void join(Graph *g, Group *k, Node *n)
{
    group_take(g, k, n);
    n->stored = true;
    vec_push(g->arena, &k->outputs, n);
}

static Group *group_new(Graph *g, GroupKind kind, Node *anchor)
{
    Group *k = NEW(g->arena, Group);
    k->kind = kind;
    k->anchor = anchor;
    k->order = -1;
    vec_push(g->arena, &g->groups, k);
    if (anchor)
        group_take(g, k, anchor);
    return k;
}

/* ---- what a group may compute ---------------------------------------------------------------- */

typedef struct {
    Graph *g;
    Group *k;
    const Lin *const *at; /* positions of the group's own space */
    int rank;
    bool ok, own;
} Check;

static bool same_place(const Lin *const *a, const Lin *const *b, int rank)
{
    bool same = true;
    for (int d = 0; d < rank; d++)
        same = same && lin_same(a[d], b[d]);
    return same;
}

/* May it be computed where it is read, as text of what it reads? */
static bool is_short(const Node *n)
{
    return n->weight <= TEXT_WEIGHT;
}

/* A dot is read where it stands; what else is read was there before. */
static bool see_dot(void *arg, Node *n, const Lin *const *at)
{
    Check *c = arg;
    if (n == c->k->anchor) {
        c->own = true;
        c->ok = c->ok && same_place(at, c->at, 3);
        return false;
    }
    if (n->group == c->k) {
        c->ok = c->ok && is_short(n);
        return true;
    }
    c->ok = c->ok && !depends(c->g, n, c->k);
    return false;
}

/* The position of user n when its operand `from` stands at `at`; false: it does not follow. */
static bool step_up(Graph *g, const Node *n, const Node *from, const Lin *const *at,
                    const Lin **out)
{
    if (n->kind == NODE_PERMUTE) {
        for (int d = 0; d < n->rank; d++)
            out[d] = at[n->attr[d]];
        return true;
    }
    if (n->kind == NODE_ELEM || n->kind == NODE_CAST) {
        for (int d = 0; d < n->rank; d++)
            out[d] = at[d];
        return true;
    }
    if ((n->kind != NODE_RESHAPE && n->kind != NODE_BROADCAST) || node_count(n) != node_count(from))
        return false;
    Node back = {.kind = NODE_RESHAPE, .rank = from->rank, .arg = {(Node *)n}};
    memcpy(back.shape, from->shape, sizeof back.shape);
    operand_index(g, &back, 0, at, out, NULL);
    return true;
}

static void set_place(Graph *g, Place **place, const Node *n, const Lin *const *at)
{
    place[n->id] = NEW(g->arena, Place);
    for (int d = 0; d < n->rank; d++)
        place[n->id]->at[d] = at[d];
}

/* From operands to who reads them, behind node `first`. */
static void follow_places(Graph *g, Place **place, int first)
{
    for (int i = first; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        const Lin *at[TENSOR_RANK];
        for (int k = 0; n->live && is_inline(n) && !place[i] && k < n->narg; k++)
            if (place[n->arg[k]->id] && step_up(g, n, n->arg[k], place[n->arg[k]->id]->at, at))
                set_place(g, place, n, at);
    }
}

/* Positions of all nodes that follow from one, by id; those of others have none. */
Place **places_from(Graph *g, Node *from, const Lin *const *at)
{
    Place **place = NEWN(g->arena, Place *, g->nodes.n + 1);
    set_place(g, place, from, at);
    follow_places(g, place, from->id + 1);
    return place;
}

/* ---- dots ------------------------------------------------------------------------------------ */

static bool dot_may(Graph *g, Group *k, Node *n, Place *place, const Lin *const *at)
{
    Check c = {.g = g, .k = k, .at = at, .rank = 3, .ok = true};
    if (!place || node_count(n) != node_count(k->anchor) ||
        !may_read(g, n, k->anchor) || reads_between(g, n, k))
        return false;
    each_read(g, n, place->at, see_dot, &c);
    return c.ok && c.own && !waits_for(g, k, n);
}

static void fuse_dot(Graph *g, Node *dot, Node *end)
{
    Group *k = group_new(g, GROUP_DOT, dot);
    const Lin *at[3] = {lin_var(g, "bz", 0, dot->shape[0] - 1),
                        lin_var(g, "m", 0, dot->shape[1] - 1),
                        lin_var(g, "n", 0, dot->shape[2] - 1)};
    Place **place = places_from(g, dot, at);
    Node *last = dot;
    dot->stored = false;
    for (Node *n = dot->meet; n != end && is_inline(n) && !n->group && !n->inside; n = n->meet) {
        if (!dot_may(g, k, n, place[n->id], at))
            break;
        last = n;
        if (n->held)
            break;
    }
    k->why = last->meet == end ? "it is an output" : "what follows has other positions";
    join(g, k, last);
    for (int i = dot->id + 1; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        if (n->held && !n->group && dot_may(g, k, n, place[i], at))
            join(g, k, n);
    }
}

static void fuse_attention(Graph *g, Node *dot)
{
    Group found = {0};
    if (!dot->group || dot->group->kind != GROUP_DOT || !match_attention(g, dot, &found))
        return;
    Group *k = dot->group;
    k->kind = GROUP_ATTENTION;
    k->scores = found.scores;
    k->max = found.max;
    k->sum = found.sum;
    k->exp = found.exp;
    k->weight = found.weight;
    k->rows = found.rows;
    if (k->rows)
        join(g, k, k->rows);
    Node *inside[] = {k->scores, k->max, k->sum};
    for (int i = 0; i < COUNT(inside); i++) {
        group_take(g, k, inside[i]);
        inside[i]->stored = false;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void row_space(Graph *g, const Node *n, const Lin **at)
{
    static const char *const name[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"};
    for (int d = 0; d < n->rank; d++)
        at[d] = lin_var(g, name[d], 0, n->shape[d] - 1);
}

/* Positions of a reduction in the space of its operand. */
static void row_place(const Node *r, const Lin *const *full, const Lin **at)
{
    int n = 0;
    for (int d = 0; d < r->arg[0]->rank; d++)
        if (!r->attr[d])
            at[n++] = full[d];
}

static bool same_rows(const Node *a, const Node *b)
{
    bool same = a->arg[0]->rank == b->arg[0]->rank;
    for (int d = 0; same && d < a->arg[0]->rank; d++)
        same = a->arg[0]->shape[d] == b->arg[0]->shape[d] && a->attr[d] == b->attr[d];
    return same;
}

static bool same_extents(const Node *n, int rank, const int64_t *shape)
{
    bool same = n->rank == rank;
    for (int d = 0; same && d < rank; d++)
        same = n->shape[d] == shape[d];
    return same;
}

bool row_value_at(Graph *g, const Group *k, const Node *n, const Lin *const *full, const Lin **at)
{
    const Node *space = k->space, *r = k->anchor;
    const bool kept = n->rank == space->rank && n->rank != r->rank;
    bool ok = kept || same_extents(n, r->rank, r->shape);
    row_place(r, full, at);
    for (int d = 0; kept && d < n->rank; d++) {
        ok = ok && n->shape[d] == (r->attr[d] ? 1 : space->shape[d]);
        at[d] = r->attr[d] ? lin_const(g, 0) : full[d];
    }
    return ok;
}

/* Stored by one kernel, and computed by no other. */
static bool is_once(const Node *n)
{
    return n->once && n->held;
}

/* Reductions of the group are read by row; nothing else that is read comes after the group. */
static bool see_row(void *arg, Node *n, const Lin *const *at)
{
    Check *c = arg;
    const Lin *place[TENSOR_RANK];
    if (n->kind == NODE_REDUCE && n->group == c->k) {
        row_place(n, c->at, place);
        c->own = true;
        c->ok = c->ok && same_place(at, place, n->rank);
        return false;
    }
    if (n->group == c->k) {
        bool whole = n->rank == c->rank && same_place(at, c->at, c->rank);
        c->ok = c->ok && is_short(n) && !is_once(n) &&
                (whole || (row_value_at(c->g, c->k, n, c->at, place) &&
                           same_place(at, place, n->rank)));
        return true;
    }
    for (int i = 0; i < c->k->reductions.n && !c->own; i++)
        c->own = n == behind_views(c->k->reductions.at[i]->arg[0]);
    c->ok = c->ok && !depends(c->g, n, c->k);
    return false;
}

/* Is it what the group reduces, or an operand of that? */
static bool feeds(const Group *k, const Node *n)
{
    bool found = false;
    for (int i = 0; i < k->reductions.n; i++) {
        Node *a = k->reductions.at[i]->arg[0];
        found = found || a == n;
        for (int j = 0; j < a->narg; j++)
            found = found || a->arg[j] == n;
    }
    return found;
}

/* Can n read what k computes, or what it reads, and nothing that waits for k?  Sets tell before
 * all that n reads is looked at. */
static bool row_near(Graph *g, const Group *k, const Node *n)
{
    bool near = feeds(k, n) || depends(g, n, k);
    for (int i = 0; i < k->reductions.n && !near; i++)
        near = may_read(g, n, behind_views(k->reductions.at[i]->arg[0]));
    return near && !reads_between(g, n, k);
}

static bool row_may(Graph *g, Group *k, Node *n, const Lin *const *at)
{
    const Node *space = k->space;
    const Lin *full[TENSOR_RANK];
    if (!row_near(g, k, n))
        return false;
    row_space(g, space, full);
    Check c = {.g = g, .k = k, .at = full, .rank = space->rank, .ok = true, .own = feeds(k, n)};
    each_read(g, n, at, see_row, &c);
    return c.ok && c.own && !waits_for(g, k, n);
}

/* Reductions in the order they can be made: one more than what they read of the group. */
static void find_phases(Graph *g, Group *k)
{
    int *phase = NEWN(g->arena, int, g->nodes.n + 1);
    for (int i = 0; i < g->nodes.n; i++) {
        const Node *n = g->nodes.at[i];
        for (int j = 0; j < n->narg && (n->group == k || !n->stored); j++)
            phase[i] = MAX(phase[i], phase[n->arg[j]->id]);
        for (int j = 0; j < k->reductions.n; j++)
            if (k->reductions.at[j] == n)
                k->phase.at[j] = phase[i]++;
    }
}

static void row_add(Graph *g, Group *k, Node *r)
{
    group_take(g, k, r);
    r->stored = false;
    vec_push(g->arena, &k->reductions, r);
    vec_push(g->arena, &k->phase, 0);
}

static bool rows_depend(Graph *g, const Group *a, const Group *on)
{
    bool found = false;
    for (int i = 0; i < a->reductions.n && !found; i++)
        found = depends(g, a->reductions.at[i]->arg[0], on);
    return found;
}

/* Two groups of the same rows that do not wait for each other, and that r reads both, are one. */
static void merge_rows(Graph *g, Group *k, const Node *r, const Lin *const *at)
{
    for (int i = 0; i < g->groups.n; i++) {
        Group *other = g->groups.at[i];
        if (other == k || other->kind != GROUP_ROW || !same_rows(other->anchor, r) ||
            other->reductions.n + k->reductions.n >= REDUCTIONS_MOST ||
            !row_may(g, other, r->arg[0], at) || rows_depend(g, other, k) ||
            rows_depend(g, k, other))
            continue;
        for (int j = 0; j < other->reductions.n; j++)
            row_add(g, k, other->reductions.at[j]);
        g->groups.n--;
        for (int j = i--; j < g->groups.n; j++)
            g->groups.at[j] = g->groups.at[j + 1];
    }
}

static void fuse_reduction(Graph *g, Node *r)
{
    const Lin *at[TENSOR_RANK];
    row_space(g, r->arg[0], at);
    for (int i = 0; i < g->groups.n && !is_once(behind_views(r->arg[0])); i++) {
        Group *k = g->groups.at[i];
        if (k->kind == GROUP_ROW && same_rows(k->anchor, r) && row_may(g, k, r->arg[0], at)) {
            merge_rows(g, k, r, at);
            if (r->arg[0]->held && !r->arg[0]->group) /* what follows may read it here */
                join(g, k, r->arg[0]);
            row_add(g, k, r);
            return;
        }
    }
    Group *k = group_new(g, GROUP_ROW, r);
    k->space = r->arg[0];
    row_add(g, k, r);
}

Place **row_places(Graph *g, const Group *k, const Lin *const *full)
{
    Place **place = NEWN(g->arena, Place *, g->nodes.n + 1);
    for (int i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i]->live && same_extents(g->nodes.at[i], k->space->rank, k->space->shape))
            set_place(g, place, g->nodes.at[i], full);
    follow_places(g, place, 0);
    return place;
}

static bool computes_from(Node *n, const Node *once, Map *seen)
{
    bool found = n == once;
    if (map_has(seen, n))
        return false;
    map_set(seen, n, n);
    for (int i = 0; i < n->narg && !found; i++)
        found = computes_from(n->arg[i], once, seen);
    return found;
}

/* Does the group reduce what is computed from n? */
static bool reduces(const Graph *g, const Group *k, const Node *n)
{
    Map seen;
    bool found = false;
    map_init(&seen, g->arena);
    for (int i = 0; i < k->reductions.n && !found; i++)
        found = computes_from(k->reductions.at[i]->arg[0], n, &seen);
    return found;
}

/* May the node be stored by the group, whole rows or one element of each? */
static bool row_output(Graph *g, Group *k, Node *n, Place *const *place)
{
    const Lin *full[TENSOR_RANK], *at[TENSOR_RANK];
    if (is_once(n) && reduces(g, k, n))
        return false;
    row_space(g, k->space, full);
    if (place[n->id])
        return row_may(g, k, n, place[n->id]->at);
    return row_value_at(g, k, n, full, at) && row_may(g, k, n, at);
}

/* Little of it is read: better what rows have one of is stored, and that little computed again. */
static bool few_read(const Node *n, const Node *end)
{
    return n->meet && n->meet != end && node_count(n->meet) <= node_count(n) / 4 &&
           is_inline(n->meet);
}

/* One end of the group: as far along the meets of its last reductions as positions allow. */
static void end_row(Graph *g, Group *k, Node *r, Node *end, Place *const *place)
{
    Node *last = NULL;
    for (Node *n = r->meet; n && n != end && is_inline(n) && !n->inside; n = n->meet) {
        if (n->group == k || n->group)
            return;
        if (few_read(n, end)) {
            last = NULL;
            break;
        }
        if (n->kind != NODE_BROADCAST && row_output(g, k, n, place))
            last = n;
        if (n->held)
            break;
    }
    if (last && !last->group)
        join(g, k, last);
}

static bool read_elsewhere(Graph *g, const Group *k, const Node *r);

static void fuse_rows(Graph *g, Group *k, Node *end)
{
    const Lin *full[TENSOR_RANK];
    row_space(g, k->space, full);
    Place **place = row_places(g, k, full);
    for (int i = 0; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        if (n->held && !n->group && row_output(g, k, n, place))
            join(g, k, n);
    }
    for (int i = 0; i < k->reductions.n; i++)
        if (read_elsewhere(g, k, k->reductions.at[i]))
            end_row(g, k, k->reductions.at[i], end, place);
    for (int i = 0; i < k->reductions.n; i++)
        if (k->reductions.at[i]->is_output || read_elsewhere(g, k, k->reductions.at[i]))
            join(g, k, k->reductions.at[i]);
    find_phases(g, k);
}

/* Is there a way from r to some node that is stored or reduced outside of the group? */
static bool escapes(Graph *g, const Group *k, const Node *n, bool *reach)
{
    (void)g;
    for (int i = 0; i < n->narg; i++)
        if (reach[n->arg[i]->id] && !(n->arg[i]->group == k && n->arg[i]->stored))
            return true;
    return false;
}

static bool read_elsewhere(Graph *g, const Group *k, const Node *r)
{
    bool *reach = NEWN(g->arena, bool, g->nodes.n + 1);
    reach[r->id] = true;
    for (int i = r->id + 1; i < g->nodes.n; i++) {
        const Node *n = g->nodes.at[i];
        if (!n->live || !escapes(g, k, n, reach))
            continue;
        if (n->group == k) /* computed by it */
            continue;
        if (n->stored || !is_inline(n))
            return true;
        reach[i] = true;
    }
    return false;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* What is computed at the same positions of the same tensors is one kernel: they are read once. */
static bool see_map(void *arg, Node *n, const Lin *const *at)
{
    Check *c = arg;
    if (n->group == c->k) {
        c->ok = c->ok && is_short(n) && n->rank == c->rank && same_place(at, c->at, c->rank);
        c->own = true;
        return true;
    }
    c->own = c->own || (map_has(&c->k->reads, n) && node_count(n) * 2 > node_count(c->k->space));
    c->ok = c->ok && !depends(c->g, n, c->k);
    return false;
}

static bool note_read(void *arg, Node *n, const Lin *const *at)
{
    Group *k = arg;
    (void)at;
    map_set(&k->reads, n, n);
    return n->group == k;
}

static void join_map(Graph *g, Group *k, Node *n, const Lin *const *at)
{
    join(g, k, n);
    each_read(g, n, at, note_read, k);
}

static void fuse_map(Graph *g, Node *n)
{
    const Lin *at[TENSOR_RANK];
    row_space(g, n, at);
    for (int i = 0; i < g->groups.n; i++) {
        Group *k = g->groups.at[i];
        Check c = {.g = g, .k = k, .at = at, .rank = n->rank, .ok = true};
        if (k->kind != GROUP_MAP || !same_extents(n, k->space->rank, k->space->shape) ||
            reads_between(g, n, k))
            continue;
        each_read(g, n, at, see_map, &c);
        if (c.ok && c.own && !waits_for(g, k, n)) {
            join_map(g, k, n, at);
            return;
        }
    }
    Group *k = group_new(g, GROUP_MAP, NULL);
    map_init(&k->reads, g->arena);
    k->space = n;
    join_map(g, k, n, at);
}

static void visit(Graph *g, Group *k, int *next);

static void visit_args(Graph *g, Group *k, const Node *n, int *next, Map *seen)
{
    for (int i = 0; i < n->narg; i++) {
        Node *a = n->arg[i];
        if (map_has(seen, a))
            continue;
        map_set(seen, a, a);
        if (a->stored && a->group && a->group != k)
            visit(g, a->group, next);
        else
            visit_args(g, k, a, next, seen);
    }
}

static void visit(Graph *g, Group *k, int *next)
{
    Map seen;
    BUG(k->order == -2, "kernels of '%s' wait for each other", g->name);
    if (k->order != -1)
        return;
    k->order = -2;
    map_init(&seen, g->arena);
    for (int i = 0; i < k->outputs.n; i++)
        visit_args(g, k, k->outputs.at[i], next, &seen);
    for (int i = 0; i < k->reductions.n; i++)
        visit_args(g, k, k->reductions.at[i], next, &seen);
    if (k->anchor)
        visit_args(g, k, k->anchor, next, &seen);
    k->order = (*next)++;
}

bool group_loads(const Group *k, const Node *n)
{
    return n->stored && n->group != k && n != k->again[0] && n != k->again[1];
}

static void note_reads(const Group *k, const Node *n, bool *read, Map *seen)
{
    if (map_has(seen, n))
        return;
    map_set(seen, n, n);
    if (group_loads(k, n))
        read[n->id] = true;
    for (int i = 0; i < n->narg && !group_loads(k, n); i++)
        note_reads(k, n->arg[i], read, seen);
}

/* What products end with, and nobody else reads, is not stored beside what is. */
static void drop_unread(Graph *g)
{
    bool *read = NEWN(g->arena, bool, g->nodes.n + 1);
    for (int i = 0; i < g->groups.n; i++) {
        const Group *k = g->groups.at[i];
        Map seen;
        map_init(&seen, g->arena);
        for (int j = 0; j < k->outputs.n; j++)
            note_reads(k, k->outputs.at[j], read, &seen);
        for (int j = 0; j < k->reductions.n; j++)
            note_reads(k, k->reductions.at[j], read, &seen);
    }
    for (int i = 0; i < g->groups.n; i++) {
        Group *k = g->groups.at[i];
        int n = 0;
        for (int j = 0; j < k->outputs.n && k->kind == GROUP_DOT; j++) {
            Node *m = k->outputs.at[j];
            if (m->is_output || read[m->id])
                k->outputs.at[n++] = m;
            else
                m->stored = m->held = false;
        }
        k->outputs.n = n ? n : k->outputs.n;
    }
}

/* What rows have one number of, for other kernels of the program, is stored as it was computed:
 * a sum of float16 may be larger than float16 gets where the mean it becomes is not.  Products
 * read operands in their own type. */
static void widen_rows(Graph *g)
{
    bool *operand = NEWN(g->arena, bool, g->nodes.n + 1);
    for (int i = 0; i < g->nodes.n; i++) {
        const Node *n = g->nodes.at[i];
        for (int k = 0; k < n->narg && n->live && n->kind == NODE_DOT; k++)
            operand[behind_views(n->arg[k])->id] = true;
    }
    for (int i = 0; i < g->groups.n; i++) {
        const Group *k = g->groups.at[i];
        for (int j = 0; j < k->outputs.n && k->kind == GROUP_ROW; j++) {
            Node *n = k->outputs.at[j];
            if (!n->is_output && !operand[n->id] && node_count(n) == node_count(k->anchor))
                n->type = compute_type(n->type);
        }
    }
}

static void sort_groups(Graph *g)
{
    int next = 0;
    for (int i = 0; i < g->groups.n; i++)
        visit(g, g->groups.at[i], &next);
    Group **sorted = NEWN(g->arena, Group *, g->groups.n + 1);
    for (int i = 0; i < g->groups.n; i++)
        sorted[g->groups.at[i]->order] = g->groups.at[i];
    g->groups.at = sorted;
}

void graph_fuse(Graph *g)
{
    static const GroupKind kind[] = {GROUP_SCAN, GROUP_SORT, GROUP_SCATTER}; /* as nodes are */
    Node *end = NEW(g->arena, Node);
    mark_live(g);
    find_meets(g, end);
    find_backs(g);
    find_held(g, end);
    for (int i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i]->live && g->nodes.at[i]->kind == NODE_DOT && !g->nodes.at[i]->inside)
            fuse_dot(g, g->nodes.at[i], end);
    fuse_backs(g);
    for (int i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i]->live && g->nodes.at[i]->kind == NODE_DOT)
            fuse_attention(g, g->nodes.at[i]);
    fuse_pairs(g);
    for (int i = 0; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        if (n->live && !n->group && n->kind == NODE_REDUCE && !is_inline(n))
            fuse_reduction(g, n);
        if (n->live && !n->group && n->kind >= NODE_SCAN)
            join(g, group_new(g, kind[n->kind - NODE_SCAN], n), n);
    }
    for (int i = 0; i < g->groups.n; i++)
        if (g->groups.at[i]->kind == GROUP_ROW)
            fuse_rows(g, g->groups.at[i], end);
    for (int i = 0; i < g->nodes.n; i++)
        if (g->nodes.at[i]->live && g->nodes.at[i]->stored && !g->nodes.at[i]->group &&
            g->nodes.at[i]->kind != NODE_INPUT)
            fuse_map(g, g->nodes.at[i]);
    drop_unread(g);
    widen_rows(g);
    sort_groups(g);
}
