/* attention.c -- a product, a softmax of its rows and a second product: online softmax.
 *
 * Found by what is computed, not by a name: the left operand of a product is e / sum(e) with
 * e = exp(s - max(s)), both along the axis that the product sums over, and s is made of one other
 * product, element by element: scaled, masked, capped, biased.  Scores are then never stored. */
#include "tensor/dots.h"

enum {
    WIDTH_MOST = 256,   /* of a row of q or v: a block holds them whole */
    ROOM_BESIDE = 2048, /* bytes of shared memory for barriers and alignment */
};

#define LOG2_E 1.4426950408889634

/* ---- the rule -------------------------------------------------------------------------------- */

static Node *skip_views(Node *n)
{
    while (n->kind == NODE_RESHAPE || n->kind == NODE_BROADCAST)
        n = n->arg[0];
    return n;
}

static bool is_elem(const Node *n, Elem e)
{
    return n->kind == NODE_ELEM && n->how == (int)e;
}

/* e / sum(e), e = exp(s - max(s)): all parts, or false. */
static bool match_softmax(Node *w, Group *out)
{
    if (!is_elem(w, ELEM_DIV))
        return false;
    Node *e = w->arg[0], *sum = skip_views(w->arg[1]);
    if (sum->kind != NODE_REDUCE || is_inline(sum) || sum->how != REDUCE_SUM || sum->arg[0] != e ||
        !is_elem(e, ELEM_EXP) || !is_elem(e->arg[0], ELEM_SUB))
        return false;
    Node *moved = e->arg[0], *max = skip_views(moved->arg[1]);
    if (max->kind != NODE_REDUCE || max->how != REDUCE_MAX || max->arg[0] != moved->arg[0])
        return false;
    out->weight = w;
    out->exp = e;
    out->sum = sum;
    out->max = max;
    return w->nuse == 1 && e->nuse == 2 && sum->nuse == 1 && max->nuse == 1 && moved->nuse == 1 &&
           !w->is_output && memcmp(sum->attr, max->attr, sizeof sum->attr) == 0;
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

bool match_attention(Graph *g, Node *dot, Group *out)
{
    const Lin *at[3], *place[TENSOR_RANK];
    places(g, dot, at, "m", "k");
    Node *w = weights_of(g, dot->arg[0], at, place);
    if (!w || !match_softmax(w, out) || !one_axis(out, place, at[2]) || out->weight->rank < 2)
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
              !s->is_output;
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

static int64_t bytes_of(int64_t elements, const Node *n)
{
    return elements * dtype_bits(n->type) / 8;
}

/* Fewer stages, then fewer columns, until the tiles of a block have room. */
static void make_room(Attention *a)
{
    const Node *q = a->k->scores->arg[0], *v = a->k->anchor->arg[1];
    const int64_t room = a->g->machine->shared_block;
    TileChoice *c = &a->c;
    while (room) {
        int64_t step = bytes_of(c->n * a->D, q) + bytes_of(c->n * a->E, v);
        if (bytes_of(c->m * a->D, q) + step * MAX(1, c->stages) <= room - ROOM_BESIDE)
            return;
        if (c->stages > 1)
            c->stages--;
        else if (c->n >= 32)
            c->n = c->n / 32 * 16;
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

static Operand operand(Attention *a, Node *n, const char *name, int64_t rows, int64_t columns,
                       const char *row_base, const char *column_base, int64_t nr, int64_t nc)
{
    Graph *g = a->g;
    const char *r = arena_printf(g->arena, "%s + i", row_base),
               *c = strcmp(column_base, "0") ? arena_printf(g->arena, "%s + j", column_base) : "j";
    if (!strcmp(row_base, "0"))
        r = "i";
    Operand t = {.node = n, .name = name, .type = n->type, .rows = rows, .columns = columns,
                 .row = lin_var(g, r, 0, nr - 1), .column = lin_var(g, c, 0, nc - 1),
                 .row_base = row_base, .column_base = column_base};
    t.guard = guard_both(g, axis_guard(g, r, nr, rows), axis_guard(g, c, nc, columns));
    return t;
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
    a->q = operand(a, s->arg[0], "Q", a->c.m, a->D, m0, "0", a->M, a->D);
    a->kt = operand(a, s->arg[1], "K", a->D, a->c.n, "0", n0, a->D, a->N);
    a->v = operand(a, dot->arg[1], "V", a->c.n, a->E, n0, "0", a->N, a->E);
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

/* ---- what a mask hides ----------------------------------------------------------------------- */

/* An integer as a sum of positions; NULL: it is something else. */
static const Lin *as_lin(Graph *g, Node *n, const Lin *const *at)
{
    const Lin *to[TENSOR_RANK], *x, *y;
    Guard guard[TENSOR_RANK];
    if (!dtype_is_int(n->type) || n->type == DT_BOOL || n->stored)
        return NULL;
    switch (n->kind) {
    case NODE_CONST: return lin_const(g, (int64_t)n->value);
    case NODE_EXTENT: return lin_const(g, n->attr[0]);
    case NODE_IOTA: return at[n->attr[0]];
    case NODE_CAST: case NODE_RESHAPE: case NODE_PERMUTE: case NODE_BROADCAST:
        operand_index(g, n, 0, at, to, guard);
        return as_lin(g, n->arg[0], to);
    case NODE_ELEM:
        if (!is_elem(n, ELEM_ADD) && !is_elem(n, ELEM_SUB))
            return NULL;
        x = as_lin(g, n->arg[0], at);
        y = as_lin(g, n->arg[1], at);
        return x && y ? lin_add(g, x, lin_mul(g, y, is_elem(n, ELEM_ADD) ? 1 : -1)) : NULL;
    default: return NULL;
    }
}

typedef struct {
    Attention *a;
    const char *first, *last; /* columns that a block of rows may see: tiles [first, last) */
    const char *edge;         /* some of the tile is hidden; NULL: never */
    Node *rest;               /* the scores without the conditions that positions alone decide */
} Seen;

static int64_t coef_of(const Lin *l, const Lin *var)
{
    for (int i = 0; i < l->n && var->n; i++)
        if (l->atom[i] == var->atom[0])
            return l->coef[i];
    return 0;
}

static const char *tighter(Graph *g, const char *fn, const char *old, const char *text)
{
    return old ? arena_printf(g->arena, "T.%s(%s, %s)", fn, old, text) : text;
}

static const char *either(Graph *g, const char *a, const char *b)
{
    return a && b ? arena_printf(g->arena, "%s | %s", a, b) : a ? a : b;
}

/* r * row + c * column + rest of l, at [i, j] of the tile. */
static const char *at_tile(Seen *s, const Lin *l, int64_t r, int64_t c, int64_t i, int64_t j)
{
    Attention *a = s->a;
    Graph *g = a->g;
    const Lin *block = lin_var(g, a->block, 0, (a->M + a->c.m - 1) / a->c.m - 1),
              *step = lin_var(g, "k", 0, (a->N + a->c.n - 1) / a->c.n - 1);
    const Lin *sum = lin_add(g, lin_mul(g, block, r * a->c.m), lin_mul(g, step, c * a->c.n));
    return lin_text(g, lin_add(g, sum, lin_const(g, l->c + r * i + c * j)));
}

/* Seen only where l >= 0: the last column for the row of the block that sees most, or the first,
 * and which tiles some of is hidden.  False: l is no sum of a row and a column. */
static bool need(Seen *s, const Lin *l)
{
    Attention *a = s->a;
    Graph *g = a->g;
    const int64_t r = coef_of(l, a->at[1]), c = coef_of(l, a->at[2]);
    if ((c != 1 && c != -1) || l->n != 1 + (r != 0))
        return false;
    const int64_t sign = c < 0 ? 1 : -1, m = a->c.m, n = a->c.n;
    const Lin *block = lin_var(g, a->block, 0, (a->M + m - 1) / m - 1);
    const int64_t row = r > 0 ? m - 1 : 0; /* of the block, that sees furthest */
    const Lin *edge = lin_add(g, lin_mul(g, block, sign * r * m),
                              lin_const(g, sign * (r * row + l->c) + (c < 0 ? n : 0)));
    const char *tile = arena_printf(g->arena, "(%s) // %lld", lin_text(g, edge), (long long)n);
    if (c < 0)
        s->last = tighter(g, "min", s->last, tile);
    else
        s->first = tighter(g, "max", s->first, tile);
    s->edge = either(g, s->edge,
                     arena_printf(g->arena, "(%s < 0)",
                                  at_tile(s, l, r, c, r < 0 ? m - 1 : 0, c < 0 ? n - 1 : 0)));
    return true;
}

/* True: what the condition says is all in s. */
static bool need_cond(Seen *s, Node *n, const Lin *const *at, bool holds)
{
    Graph *g = s->a->g;
    const Lin *to[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    if (n->stored)
        return false;
    if (n->kind == NODE_BROADCAST || n->kind == NODE_RESHAPE || n->kind == NODE_PERMUTE) {
        operand_index(g, n, 0, at, to, guard);
        return need_cond(s, n->arg[0], to, holds);
    }
    if (is_elem(n, ELEM_NOT) || is_elem(n, ELEM_INVERT))
        return need_cond(s, n->arg[0], at, !holds);
    if (is_elem(n, holds ? ELEM_BITAND : ELEM_BITOR)) {
        const bool one = need_cond(s, n->arg[0], at, holds);
        return need_cond(s, n->arg[1], at, holds) && one;
    }
    if (n->kind != NODE_ELEM || n->narg != 2)
        return false;
    const bool above = is_elem(n, ELEM_GE) || is_elem(n, ELEM_GT);
    const bool strict = is_elem(n, ELEM_LT) || is_elem(n, ELEM_GT);
    if (!above && !is_elem(n, ELEM_LE) && !is_elem(n, ELEM_LT))
        return false;
    const Lin *x = as_lin(g, n->arg[0], at), *y = as_lin(g, n->arg[1], at);
    if (!x || !y)
        return false;
    const int64_t sign = above == holds ? 1 : -1; /* of x - y where it is seen */
    x = lin_mul(g, lin_add(g, x, lin_mul(g, y, -1)), sign);
    return need(s, lin_add(g, x, lin_const(g, strict == holds ? -1 : 0)));
}

static bool is_number(const Node *n, double *v)
{
    while (n->kind == NODE_BROADCAST || n->kind == NODE_RESHAPE)
        n = n->arg[0];
    *v = n->value;
    return n->kind == NODE_CONST;
}

static bool is_hidden(const Node *n)
{
    double v;
    return is_number(n, &v) && v == -__builtin_inf();
}

static bool is_mask(const Node *n)
{
    return is_elem(n, ELEM_WHERE) && (is_hidden(n->arg[1]) || is_hidden(n->arg[2]));
}

static Node *under_mask(const Node *n)
{
    return n->arg[is_hidden(n->arg[2]) ? 1 : 2];
}

/* where(cond, s, -inf): what the condition says of whole tiles. */
static Seen find_seen(Attention *a)
{
    const Lin *place[TENSOR_RANK];
    Seen s = {.a = a, .rest = a->k->max->arg[0]};
    weights_of(a->g, a->k->anchor->arg[0], a->at, place);
    for (Node *n = s.rest; is_mask(n); n = under_mask(n)) {
        const char *before = s.edge;
        if (!need_cond(&s, n->arg[0], place, is_hidden(n->arg[2])))
            s.edge = before; /* it stays in the scores */
        else if (s.rest == n)
            s.rest = under_mask(n);
        else
            s.edge = before;
    }
    if (a->columns)
        s.edge = either(a->g, s.edge,
                        arena_printf(a->g->arena, "(k * %lld + %lld > %s)", (long long)a->c.n,
                                     (long long)a->c.n, extent_text(a->g, a->N)));
    return s;
}

/* Is it scores times a positive number?  Then that is left to the exponent. */
static bool find_factor(const Attention *a, Node *n, double *factor)
{
    double v;
    *factor = 1;
    for (;; n = n->arg[0]) {
        if (n == a->k->scores)
            return true;
        if (n->stored)
            return false;
        if (is_elem(n, ELEM_DIV) && is_number(n->arg[1], &v) && v > 0 && v < 1e30)
            *factor /= v;
        else if (is_elem(n, ELEM_MUL) && is_number(n->arg[1], &v) && v > 0 && v < 1e30)
            *factor *= v;
        else if (n->kind != NODE_RESHAPE && n->kind != NODE_BROADCAST)
            return false;
    }
}

/* ---- its text -------------------------------------------------------------------------------- */

static void print_loop(Attention *a, const Seen *s)
{
    const char *n = extent_blocks(a->g, a->N, a->c.n),
               *last = s->last ? arena_printf(a->g->arena, "T.min(T.max(%s, 0), %s)", s->last, n)
                               : n;
    if (s->first)
        str_printf(a->out, "        for k in T.Pipelined(T.max(%s, 0), %s, num_stages=%d):\n",
                   s->first, last, MAX(a->c.stages, 0));
    else
        str_printf(a->out, "        for k in T.Pipelined(%s, num_stages=%d):\n", last,
                   MAX(a->c.stages, 0));
}

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
    const char *seen = a->columns;
    for (Node *n = a->k->max->arg[0]; n != s->rest; n = under_mask(n)) {
        const char *v = arena_printf(g->arena, is_hidden(n->arg[2]) ? "(%s)" : "(not (%s))",
                                     body_value(&b, n->arg[0], place));
        seen = guard_both(g, seen, v);
    }
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
    if (!find_factor(a, s->rest, &factor)) {
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

static void print_end(Attention *a)
{
    Graph *g = a->g;
    str_printf(a->out, "        for i in T.Parallel(%lld):\n", (long long)a->c.m);
    str_puts(a->out, "            total[i] = 1.0 / total[i]\n");
    StoreTile to = {.at = {a->at[0], a->at[1], lin_var(g, "j", 0, a->E - 1)}, .rows = a->c.m,
                    .columns = a->E, .row_base = a->q.row_base, .column_base = "0",
                    .guard = a->rows, .whole_rows = !a->rows, .whole_columns = true,
                    .type = DT_F32};
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
    Seen seen = find_seen(&a);
    const bool late = seen.last && gpu;
    if (late) { /* the last rows see most: their blocks go first */
        a.block = "qb";
        choose(&a, true);
    }
    if (gpu && !find_factor(&a, seen.rest, &factor))
        choose_whole(&a);
    plan(&a);
    seen = find_seen(&a);
    const char *blocks = extent_blocks(g, a.M, a.c.m);
    str_printf(out, "    with T.Kernel(%s, 1, %s, threads=%d) as (bx, by, bz):\n", blocks,
               extent_text(g, dot->shape[0]), a.c.threads);
    if (late && extent_is_open(g, a.M))
        str_printf(out, "        qb = %s - 1 - bx\n", blocks);
    else if (late)
        str_printf(out, "        qb = %lld - bx\n", (long long)((a.M + a.c.m - 1) / a.c.m - 1));
    print_alloc(&a);
    operand_load(g, k, &a.q, out, 2, &a.names);
    print_loop(&a, &seen);
    print_step(&a, &seen);
    print_end(&a);
}
