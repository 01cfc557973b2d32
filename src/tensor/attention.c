/* attention.c -- a product, a softmax of its rows and a second product: online softmax.
 *
 * Found by what is computed, not by a name: the left operand of a product is e / sum(e) with
 * e = exp(s - max(s)), both along the axis that the product sums over, and s is made of one other
 * product, element by element: scaled, masked, capped, biased.  Scores are then never stored. */
#include "tensor/attention.h"
#include "tensor/dots.h"

enum {
    WIDTH_MOST = 256,   /* of a row of q or v: a block holds them whole */
    ROOM_BESIDE = 2048, /* bytes of shared memory for barriers and alignment */
};

/* ---- the rule -------------------------------------------------------------------------------- */

bool match_softmax(Node *w, Softmax *out)
{
    if (!is_elem(w, ELEM_DIV))
        return false;
    Node *e = w->arg[0], *sum = skip_views(w->arg[1]);
    if (sum->kind != NODE_REDUCE || is_inline(sum) || sum->how != REDUCE_SUM || sum->arg[0] != e ||
        !is_elem(e, ELEM_EXP) || !is_elem(e->arg[0], ELEM_SUB))
        return false;
    Node *moved = e->arg[0], *max = skip_views(moved->arg[1]);
    if (max->kind != NODE_REDUCE || max->how != REDUCE_MAX || max->arg[0] != moved->arg[0] ||
        memcmp(sum->attr, max->attr, sizeof sum->attr) != 0)
        return false;
    *out = (Softmax){.scores = moved->arg[0], .max = max, .moved = moved, .exp = e, .sum = sum};
    return true;
}

/* How often n reads t on its way, through what is not stored. */
static int uses_of(const Node *n, const Node *t)
{
    int found = 0;
    for (int i = 0; i < n->narg && is_inline(n); i++)
        found += n->arg[i] == t ? 1 : uses_of(n->arg[i], t);
    return found;
}

/* What is made of sums and maxima of rows alone, and stored: derivatives read it. */
static Node *find_rows(const Graph *g, const Softmax *s)
{
    for (int i = s->sum->id + 1; i < g->nodes.n; i++) {
        Node *n = g->nodes.at[i];
        if (n->live && n->held && !n->group && n->rank == s->sum->rank &&
            memcmp(n->shape, s->sum->shape, sizeof n->shape[0] * (size_t)n->rank) == 0 &&
            uses_of(n, s->sum) == s->sum->nuse - 1 && uses_of(n, s->max) == s->max->nuse - 1 &&
            s->sum->nuse == 2)
            return n;
    }
    return NULL;
}

static bool softmax_alone(const Graph *g, Node *w, Group *out)
{
    Softmax s;
    if (!match_softmax(w, &s))
        return false;
    out->weight = w;
    out->exp = s.exp;
    out->sum = s.sum;
    out->max = s.max;
    if (s.sum->nuse != 1 || s.max->nuse != 1)
        out->rows = find_rows(g, &s);
    return w->nuse == 1 && s.exp->nuse == 2 && s.moved->nuse == 1 && !w->is_output &&
           (out->rows || (s.sum->nuse == 1 && s.max->nuse == 1));
}

typedef struct {
    Node *dot;
    const Lin *at[3];
    bool ok;
} Found;

static bool see_scores(void *arg, Node *n, const Lin *const *at)
{
    Found *f = arg;
    if (n->kind != NODE_DOT || n->is_output || !n->group || n->group->outputs.n != 1)
        return false;
    if (f->dot && (f->dot != n || !lin_same(f->at[0], at[0]) || !lin_same(f->at[1], at[1]) ||
                   !lin_same(f->at[2], at[2])))
        f->ok = false;
    f->dot = n;
    memcpy(f->at, at, sizeof f->at);
    return false;
}

/* The position of the weights when the product is at [b, m, k]. */
static Node *weights_of(Graph *g, Node *operand, const Lin *const *at, const Lin **place)
{
    const Lin *next[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    Node *n = operand;
    for (int d = 0; d < n->rank; d++)
        place[d] = at[d];
    while (n->kind == NODE_RESHAPE || n->kind == NODE_PERMUTE || n->kind == NODE_CAST ||
           n->kind == NODE_BROADCAST) {
        operand_index(g, n, 0, place, next, guard);
        memcpy(place, next, sizeof next);
        if (n->is_output || n->nuse != 1)
            return NULL;
        n = n->arg[0];
    }
    return n;
}

/* Only the summed axis follows k, and all of it. */
static bool one_axis(const Group *k, const Lin *const *place, const Lin *along)
{
    bool ok = true;
    for (int d = 0; d < k->weight->rank; d++)
        ok = ok && (k->sum->attr[d] ? lin_same(place[d], along) : !lin_uses(place[d], along));
    return ok;
}

static void undo(Graph *g, Group *gone)
{
    g->counted = false;
    for (int i = 0; i < gone->outputs.n; i++) {
        gone->outputs.at[i]->group = NULL;
        gone->outputs.at[i]->stored = gone->outputs.at[i]->held;
    }
    int n = 0;
    for (int i = 0; i < g->groups.n; i++)
        if (g->groups.at[i] != gone)
            g->groups.at[n++] = g->groups.at[i];
    g->groups.n = n;
}

static void places(Graph *g, const Node *dot, const Lin **at, const char *m, const char *k)
{
    at[0] = lin_var(g, "bz", 0, dot->shape[0] - 1);
    at[1] = lin_var(g, m, 0, dot->shape[1] - 1);
    at[2] = lin_var(g, k, 0, dot->arg[0]->shape[2] - 1);
}

static void mark_before(const Node *n, int first, bool *is)
{
    if (n->id < first || is[n->id])
        return;
    is[n->id] = true;
    for (int i = 0; i < n->narg && is_inline(n); i++)
        mark_before(n->arg[i], first, is);
}

/* Does anyone read the scores, or what they are made of from their product on, beside the softmax
 * and kernels that compute them again?  They would have to be stored. */
static bool read_beside(const Graph *g, const Node *dot, const Group *k)
{
    bool *before = NEWN(g->arena, bool, g->nodes.n + 1), found = false;
    bool *made = NEWN(g->arena, bool, g->nodes.n + 1);
    mark_before(k->max->arg[0], dot->id, before);
    for (int i = dot->id; i < g->nodes.n && !found; i++) {
        const Node *n = g->nodes.at[i];
        bool reads = n == dot;
        for (int j = 0; j < n->narg; j++)
            reads = reads || made[n->arg[j]->id];
        made[i] = reads && n->live && !n->inside && n != k->max && n != k->exp->arg[0];
        found = made[i] && (n->is_output || (!before[i] && (n->stored || !is_inline(n))));
    }
    return found;
}

static int64_t bytes_of(int64_t elements, const Node *n)
{
    return elements * dtype_bits(n->type) / 8;
}

/* Of shared memory.  Where nothing multiplies from registers, weights go through it too. */
static int64_t tile_bytes(const Graph *g, const TileChoice *c, const Node *scores, const Node *dot)
{
    const Node *q = scores->arg[0], *v = dot->arg[1];
    int64_t D = q->shape[2], step = bytes_of(c->n * D, q) + bytes_of(c->n * dot->shape[2], v);
    int64_t weights = g->machine->mma_rate ? 0 : bytes_of(c->m * c->n, v);
    return bytes_of(c->m * D, q) + weights + step * MAX(1, c->stages);
}

/* For the least of tiles. */
static bool has_room(const Graph *g, const Node *scores, const Node *dot)
{
    const TileChoice least = {.m = 16, .n = 16};
    const int64_t room = g->machine->shared_block;
    return !room || tile_bytes(g, &least, scores, dot) <= room - ROOM_BESIDE;
}

bool match_attention(Graph *g, Node *dot, Group *out)
{
    const Lin *at[3], *place[TENSOR_RANK];
    places(g, dot, at, "m", "k");
    Node *w = weights_of(g, dot->arg[0], at, place);
    if (!w || !softmax_alone(g, w, out) || !one_axis(out, place, at[2]) || out->weight->rank < 2)
        return false;
    /* What the first product's own group stored is read through. */
    Found f = {.ok = true};
    Node *s = out->max->arg[0];
    const bool stored = s->stored, held = s->held;
    s->stored = s->held = false;
    each_read(g, s, place, see_scores, &f);
    bool ok = f.ok && f.dot && f.dot != dot && lin_same(f.at[1], at[1]) &&
              lin_same(f.at[2], at[2]) && !lin_uses(f.at[0], at[1]) && !lin_uses(f.at[0], at[2]) &&
              f.dot->arg[0]->shape[2] <= WIDTH_MOST && dot->shape[2] <= WIDTH_MOST &&
              !s->is_output && has_room(g, f.dot, dot) && !read_beside(g, f.dot, out);
    s->stored = stored;
    s->held = held;
    if (!ok)
        return false;
    s->held = false;
    undo(g, f.dot->group);
    s->stored = false;
    for (Node *n = skip_views(dot->arg[0]); n != w; n = n->arg[0])
        n->held = n->stored = false;
    w->held = w->stored = out->exp->held = out->exp->stored = false;
    out->scores = f.dot;
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

typedef struct {
    Graph *g;
    Group *k;
    Str *out;
    TileChoice c;
    int64_t M, N, D, E;  /* rows of q, of k and v; columns of q and k, of v */
    Operand q, kt, v;
    const Lin *at[3];    /* of scores: batch, row, column */
    const char *rows, *columns; /* guards */
    const char *block;   /* of rows: its number */
    int names;
} Attention;

/* Fewer stages, then fewer columns, then fewer rows, until the tiles of a block have room. */
static void make_room(Attention *a)
{
    const int64_t room = a->g->machine->shared_block;
    TileChoice *c = &a->c;
    while (room && tile_bytes(a->g, c, a->k->scores, a->k->anchor) > room - ROOM_BESIDE) {
        if (c->stages > 1)
            c->stages--;
        else if (c->n >= 32)
            c->n = c->n / 32 * 16;
        else if (c->m >= 32)
            c->m /= 2;
        else
            return;
    }
}

static void choose(Attention *a, bool causal)
{
    const Machine *m = a->g->machine;
    const bool gpu = machine_has(m, HAS_THREADS);
    DType t = a->k->scores->arg[0]->type;
    TileChoice c = {.m = gpu ? 64 : 32, .n = 64, .stages = gpu ? 2 : 0, .threads = 128};
    if (m->tiles_attention && dtype_bits(t) == 16 && dtype_bits(a->k->anchor->arg[1]->type) == 16)
        c = m->tiles_attention(m, extent_usual(a->g, a->N), a->D, t, causal);
    while (c.m / 2 >= a->M && c.m > (gpu ? 64 : 8))
        c.m /= 2;
    while (c.n / 2 >= a->N && c.n > 16)
        c.n /= 2;
    if (!gpu)
        c.threads = 1;
    a->c = c;
    make_room(a);
}

/* What is read beside the scores is read without conditions: columns are whole tiles. */
static void choose_whole(Attention *a)
{
    for (int64_t n = 128; n >= 64 && !extent_divides(a->g, a->c.n, a->N); n /= 2)
        if (n <= a->c.n && extent_divides(a->g, n, a->N))
            a->c.n = n;
}

/* Where the scores' product stands when the outer one is at batch bz. */
static const Lin *scores_batch(Attention *a, const Node *dot)
{
    const Lin *at[3], *place[TENSOR_RANK];
    Found f = {.ok = true};
    places(a->g, dot, at, "m", "k");
    weights_of(a->g, dot->arg[0], at, place);
    Group *own = a->k->scores->group;
    Group one = {.outputs = {.n = 1}};
    a->k->scores->group = &one;
    each_read(a->g, a->k->max->arg[0], place, see_scores, &f);
    a->k->scores->group = own;
    return f.at[0];
}

static void plan(Attention *a)
{
    Graph *g = a->g;
    Node *dot = a->k->anchor, *s = a->k->scores;
    const Lin *z = lin_var(g, "bz", 0, dot->shape[0] - 1), *z1 = scores_batch(a, dot);
    const char *m0 = arena_printf(g->arena, "%s * %lld", a->block, (long long)a->c.m),
               *n0 = arena_printf(g->arena, "k * %lld", (long long)a->c.n);
    a->q = tile_operand(g, s->arg[0], "Q", a->c.m, a->D, m0, "0", a->M, a->D);
    a->kt = tile_operand(g, s->arg[1], "K", a->D, a->c.n, "0", n0, a->D, a->N);
    a->v = tile_operand(g, dot->arg[1], "V", a->c.n, a->E, n0, "0", a->N, a->E);
    operand_plan(g, a->k, &a->q, (const Lin *[]){z1, a->q.row, a->q.column});
    operand_plan(g, a->k, &a->kt, (const Lin *[]){z1, a->kt.row, a->kt.column});
    operand_plan(g, a->k, &a->v, (const Lin *[]){z, a->v.row, a->v.column});
    const char *r = arena_printf(g->arena, "%s + i", m0), *c = arena_printf(g->arena, "%s + j", n0);
    a->at[0] = z;
    a->at[1] = lin_var(g, r, 0, a->M - 1);
    a->at[2] = lin_var(g, c, 0, a->N - 1);
    a->rows = axis_guard(g, r, a->M, a->c.m);
    a->columns = axis_guard(g, c, a->N, a->c.n);
}

static Seen look(Attention *a)
{
    const Lin *place[TENSOR_RANK];
    const Area area = {.g = a->g, .row = a->at[1], .column = a->at[2], .M = a->M, .N = a->N,
                       .m = a->c.m, .n = a->c.n, .block = a->block, .columns = a->columns};
    weights_of(a->g, a->k->anchor->arg[0], a->at, place);
    return find_seen(&area, a->k->max->arg[0], place);
}

/* ---- its text -------------------------------------------------------------------------------- */

static Body scores_body(Attention *a, int indent)
{
    Body b;
    body_open(&b, a->g, a->out, indent, &a->names);
    b.group = a->k;
    b.quick = true;
    vec_push(a->g->arena, &b.leaves, ((Leaf){a->k->scores, "S[i, j]", NULL}));
    return b;
}

static void open_scores(Attention *a, Body *b)
{
    body_line(b, "for i, j in T.Parallel(%lld, %lld):", (long long)a->c.m, (long long)a->c.n);
    b->indent++;
}

/* What is done to the products, element by element. */
static void print_scores(Attention *a, const Seen *s)
{
    Graph *g = a->g;
    const Lin *place[TENSOR_RANK];
    Body b = scores_body(a, 3);
    weights_of(g, a->k->anchor->arg[0], a->at, place);
    const char *guard = guard_both(g, a->rows, a->columns);
    open_scores(a, &b);
    if (guard) {
        body_line(&b, "if %s:", guard);
        b.indent++;
    }
    const char *v = body_value(&b, s->rest, place);
    body_line(&b, "S[i, j] = %s", v);
}

/* Only tiles at an edge of what rows see are looked at one by one. */
static void print_edge(Attention *a, const Seen *s)
{
    Graph *g = a->g;
    const Lin *place[TENSOR_RANK];
    if (!s->edge)
        return;
    Body b = scores_body(a, 3);
    weights_of(g, a->k->anchor->arg[0], a->at, place);
    body_line(&b, "if %s:", s->edge);
    b.indent++;
    open_scores(a, &b);
    const char *seen = seen_text(s, &b, a->k->max->arg[0], place);
    body_line(&b, "S[i, j] = T.if_then_else(%s, S[i, j], -T.infinity(\"float32\"))", seen);
}

/* Rows that saw nothing yet have -inf at the top: 0 is taken off instead. */
static void print_softmax(Attention *a, double factor)
{
    Str *o = a->out;
    const long long m = a->c.m, n = a->c.n;
    const char *f = number_text(a->g, DT_F32, factor * LOG2_E);
    str_puts(o, "            T.copy(top, before)\n            T.reduce_max(S, top, dim=1, "
                "clear=False)\n");
    str_printf(o, "            for i in T.Parallel(%lld):\n                part[i] = "
               "T.if_then_else(top[i] == -T.infinity(\"float32\"), 0.0, top[i] * %s)\n", m, f);
    str_printf(o, "                scale[i] = T.exp2(before[i] * %s - part[i])\n", f);
    str_printf(o, "            for i, j in T.Parallel(%lld, %lld):\n                S[i, j] = "
               "T.exp2(S[i, j] * %s - part[i])\n", m, n, f);
    str_puts(o, "            T.reduce_sum(S, part, dim=1)\n");
    str_printf(o, "            for i in T.Parallel(%lld):\n                total[i] = total[i] * "
               "scale[i] + part[i]\n", m);
}

static void print_step(Attention *a, const Seen *s)
{
    Str *o = a->out;
    double factor;
    const char *exact = ", precision=\"float32\"", *rows = ", policy=T.GemmWarpPolicy.FullRow";
    if (!machine_has(a->g->machine, HAS_THREADS))
        rows = "";
    operand_load(a->g, a->k, &a->kt, o, 3, &a->names);
    str_printf(o, "            T.clear(S)\n            T.gemm(Q, K, S%s%s%s%s)\n",
               a->q.swapped ? ", transpose_A=True" : "", a->kt.swapped ? ", transpose_B=True" : "",
               a->q.type == DT_F32 ? exact : "", rows);
    if (!find_factor(s->rest, a->k->scores, &factor)) {
        factor = 1;
        print_scores(a, s);
    }
    print_edge(a, s);
    print_softmax(a, factor);
    str_printf(o, "            for i, j in T.Parallel(%lld, %lld):\n                acc[i, j] = "
               "acc[i, j] * scale[i]\n            T.copy(S, P)\n", (long long)a->c.m,
               (long long)a->E);
    operand_load(a->g, a->k, &a->v, o, 3, &a->names);
    str_printf(o, "            T.gemm(P, V, acc%s%s%s)\n", a->v.swapped ? ", transpose_B=True" : "",
               a->v.type == DT_F32 ? exact : "", rows);
}

static void print_alloc(Attention *a)
{
    static const char *const rows[] = {"top", "before", "scale", "part", "total"};
    Str *o = a->out;
    operand_alloc(&a->q, o);
    operand_alloc(&a->kt, o);
    operand_alloc(&a->v, o);
    str_printf(o, "        S = T.alloc_fragment((%lld, %lld), \"float32\")\n", (long long)a->c.m,
               (long long)a->c.n);
    str_printf(o, "        P = T.alloc_fragment((%lld, %lld), \"%s\")\n", (long long)a->c.m,
               (long long)a->c.n, dtype_name(a->v.type));
    str_printf(o, "        acc = T.alloc_fragment((%lld, %lld), \"float32\")\n",
               (long long)a->c.m, (long long)a->E);
    for (int i = 0; i < COUNT(rows); i++)
        str_printf(o, "        %s = T.alloc_fragment((%lld,), \"float32\")\n", rows[i],
                   (long long)a->c.m);
    str_puts(o, "        T.fill(acc, 0.0)\n        T.fill(total, 0.0)\n"
                "        T.fill(top, -T.infinity(\"float32\"))\n");
}

/* What derivatives want of each row. */
static void print_rows(Attention *a, const Seen *s)
{
    Graph *g = a->g;
    Node *n = a->k->rows;
    const Lin *place[TENSOR_RANK], *at[TENSOR_RANK];
    double factor;
    Body b;
    if (!n)
        return;
    if (!find_factor(s->rest, a->k->scores, &factor))
        factor = 1;
    weights_of(g, a->k->anchor->arg[0], a->at, place);
    for (int d = 0, own = 0; d < a->k->weight->rank; d++)
        if (!a->k->sum->attr[d])
            at[own++] = place[d];
    body_open(&b, g, a->out, 2, &a->names);
    b.group = a->k;
    vec_push(g->arena, &b.leaves, ((Leaf){a->k->sum, "total[i]", NULL}));
    vec_push(g->arena, &b.leaves,
             ((Leaf){a->k->max, factor == 1 ? "top[i]"
                                            : arena_printf(g->arena, "(top[i] * %s)",
                                                           number_text(g, DT_F32, factor)), NULL}));
    body_line(&b, "for i in T.Parallel(%lld):", (long long)a->c.m);
    b.indent++;
    if (a->rows) {
        body_line(&b, "if %s:", a->rows);
        b.indent++;
    }
    body_store(&b, n, place_text(g, n->buffer, n->rank, at), n, at);
}

static void print_end(Attention *a)
{
    Graph *g = a->g;
    str_printf(a->out, "        for i in T.Parallel(%lld):\n", (long long)a->c.m);
    str_puts(a->out, "            total[i] = 1.0 / total[i]\n");
    StoreTile to = {.at = {a->at[0], a->at[1], lin_var(g, "j", 0, a->E - 1)}, .rows = a->c.m,
                    .columns = a->E, .row_base = a->q.row_base, .column_base = "0",
                    .guard = a->rows, .whole_rows = !a->rows, .whole_columns = true,
                    .type = DT_F32, .product = a->k->anchor, .acc = "acc",
                    .outputs = a->k->outputs};
    to.outputs.n -= a->k->rows != NULL;
    store_tile(g, a->k, a->out, &to, "acc[i, j] * total[i]", &a->names);
}

void tiles_attention(Graph *g, Group *k, Str *out)
{
    Node *dot = k->anchor, *s = k->scores;
    Attention a = {.g = g, .k = k, .out = out, .M = dot->shape[1], .N = dot->arg[0]->shape[2],
                   .D = s->arg[0]->shape[2], .E = dot->shape[2]};
    const bool gpu = machine_has(g->machine, HAS_THREADS);
    double factor;
    a.block = "bx";
    choose(&a, false);
    plan(&a);
    Seen seen = look(&a);
    const bool late = seen.last && gpu;
    if (late) { /* the last rows see most: their blocks go first */
        a.block = "qb";
        choose(&a, true);
    }
    if (gpu && !find_factor(seen.rest, k->scores, &factor))
        choose_whole(&a);
    plan(&a);
    seen = look(&a);
    const char *blocks = extent_blocks(g, a.M, a.c.m);
    str_printf(out, "    with T.Kernel(%s, 1, %s, threads=%d) as (bx, by, bz):\n", blocks,
               extent_text(g, dot->shape[0]), a.c.threads);
    if (late && extent_is_open(g, a.M))
        str_printf(out, "        qb = %s - 1 - bx\n", blocks);
    else if (late)
        str_printf(out, "        qb = %lld - bx\n", (long long)((a.M + a.c.m - 1) / a.c.m - 1));
    print_alloc(&a);
    operand_load(g, k, &a.q, out, 2, &a.names);
    seen_loop(&seen, a.c.stages, out);
    print_step(&a, &seen);
    print_rows(&a, &seen);
    print_end(&a);
}
