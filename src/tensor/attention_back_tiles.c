/* attention_back_tiles.c -- kernels of the derivatives of attention; see attention_back.c. */
#include "tensor/attention.h"
#include "tensor/dots.h"

enum {
    VECTORS_MOST = 8,
};

typedef struct {        /* numbers of rows or of steps, as a tile in shared memory */
    Node *node;
    const Lin *at[TENSOR_RANK];
    const char *source;
    bool of_steps;
} Vector;

typedef struct {
    Graph *g;
    Group *k;
    Str *out;
    TileChoice c;
    End end[2];
    int nend;
    const End *most;    /* that reads all products */
    Operand a[INNER_MOST], b[INNER_MOST], other[2]; /* of rows, of steps, of what is summed */
    const char *block, *row_base, *step_base;
    const char *rows, *steps;  /* guards */
    Node *scores, *x;   /* below masks; what is exponentiated, without the known ones of them */
    Seen seen;
    Vector vector[VECTORS_MOST];
    int nvector;
    bool beside;        /* scores are read beside the weights: those have a tile of their own */
    bool far;           /* something is read that is no tile */
    bool loaded[INNER_MOST]; /* in this step: a tile of steps */
    bool made[INNER_MOST];   /* the same: a product that is computed again */
    int names;
} BackTiles;

/* ---- positions ------------------------------------------------------------------------------- */

typedef struct {
    Graph *g;
    const Node *wanted;
    const Lin **out;
} Way;

/* Where `wanted` stands when n is at `at`. */
static bool find_place(const Way *w, Node *n, const Lin *const *at)
{
    const Lin *to[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    if (n == w->wanted) {
        for (int d = 0; d < n->rank; d++)
            w->out[d] = at[d];
        return true;
    }
    if (n->seen == w->g->nseen || !is_inline(n) || n->stored || n->kind == NODE_REDUCE ||
        n->kind == NODE_TAKE || n->kind == NODE_ALONG)
        return false;
    n->seen = w->g->nseen;
    for (int i = 0; i < n->narg; i++) {
        operand_index(w->g, n, i, at, to, guard);
        if (find_place(w, n->arg[i], to))
            return true;
    }
    return false;
}

static void place_of(const BackTiles *t, const Node *n, const Lin **out)
{
    const Way w = {t->g, n, out};
    const End *e = t->most;
    t->g->nseen++;
    const bool found = find_place(&w, e->dot->arg[e->side], e->at);
    BUG(!found, "a product of weights does not read what they are made of");
}

/* The operand below views and casts: what is computed in float32 is rounded once, as it is put
 * into its tile. */
static Node *below_views(Graph *g, const End *e, const Lin **at)
{
    const Lin *to[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    Node *n = e->dot->arg[e->side];
    memcpy(at, e->at, sizeof e->at);
    while (!n->stored && (n->kind == NODE_CAST || n->kind == NODE_RESHAPE ||
                          n->kind == NODE_PERMUTE)) {
        operand_index(g, n, 0, at, to, guard);
        memcpy(at, to, sizeof to);
        n = n->arg[0];
    }
    return n;
}

/* ---- what masks leave ------------------------------------------------------------------------ */

typedef struct {
    const BackTiles *t;
    Map made;
} Without;

static Node *which(const Without *w, Node *n)
{
    for (Node *m = w->t->scores; m != w->t->seen.rest; m = under_mask(m))
        if (is_elem(n, ELEM_WHERE) && n->arg[0] == m->arg[0])
            return n->arg[is_hidden(m->arg[2]) ? 1 : 2];
    return NULL;
}

/* n where all conditions hold that were taken off the scores. */
static Node *without(Without *w, Node *n)
{
    Graph *g = w->t->g;
    Node *arg[3] = {NULL, NULL, NULL}, *one = which(w, n), *made = map_get(&w->made, n);
    int perm[TENSOR_RANK];
    bool same = true;
    if (made)
        return made;
    const bool through = n->kind >= NODE_ELEM && n->kind <= NODE_BROADCAST;
    if (n == w->t->k->weight || n->stored || !through)
        return n;
    if (one) {
        made = without(w, one);
        map_set(&w->made, n, made);
        return made;
    }
    for (int i = 0; i < n->narg; i++) {
        arg[i] = without(w, n->arg[i]);
        same = same && arg[i] == n->arg[i];
    }
    for (int d = 0; d < n->rank; d++)
        perm[d] = (int)n->attr[d];
    made = same                          ? n
           : n->kind == NODE_ELEM        ? node_elem(g, (Elem)n->how, arg[0], arg[1], arg[2])
           : n->kind == NODE_CAST        ? node_cast(g, arg[0], n->type)
           : n->kind == NODE_RESHAPE     ? node_reshape(g, arg[0], n->rank, n->shape)
           : n->kind == NODE_PERMUTE     ? node_permute(g, arg[0], perm)
                                         : node_broadcast(g, arg[0], n->rank, n->shape);
    map_set(&w->made, n, made);
    return made;
}

static Node *bare(const BackTiles *t, Node *n)
{
    Without w = {.t = t};
    map_init(&w.made, t->g->arena);
    return without(&w, n);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static int64_t bytes_of(int64_t elements, const Node *n)
{
    return elements * dtype_bits(n->type) / 8;
}

static void choose(BackTiles *t)
{
    const Machine *m = t->g->machine;
    const bool gpu = machine_has(m, HAS_THREADS);
    const End *e = t->most;
    int64_t wide = e->width, rows = 0, steps = 0;
    for (int i = 0; i < e->ndot; i++)
        wide = MAX(wide, e->inner[i]->arg[0]->shape[2]);
    TileChoice c = {.m = gpu ? 64 : 32, .n = gpu && wide > 64 ? 32 : 64, .stages = gpu ? 2 : 0,
                    .threads = gpu ? 128 : 1};
    if (m->tiles_attention_back)
        c = m->tiles_attention_back(m, wide, e->dot->arg[0]->type);
    while (c.m / 2 >= e->rows && c.m > (gpu ? 64 : 8)) {
        c.m /= 2;
        c.threads = MAX(c.threads / 2, gpu ? 128 : 1);
    }
    while (c.n / 2 >= e->steps && c.n > 16)
        c.n /= 2;
    for (int i = 0; i < e->ndot; i++) {
        rows += bytes_of(e->inner[i]->arg[0]->shape[2], e->inner[i]->arg[0]);
        steps += bytes_of(e->inner[i]->arg[0]->shape[2], e->inner[i]->arg[1]);
    }
    /* Where nothing multiplies from registers, what goes into the last product is stored too. */
    const int64_t each = m->mma_rate ? 0 : bytes_of(1, e->dot->arg[0]);
    while (m->shared_block && rows * c.m + steps * c.n * MAX(1, c.stages) + each * c.m * c.n >
                                  m->shared_block - BACK_ROOM_BESIDE) {
        if (c.stages > 1)
            c.stages--;
        else if (c.n >= 32)
            c.n /= 2;
        else if (c.m >= 32)
            c.m /= 2;
        else
            break;
    }
    t->c = c;
}

static void plan_inner(BackTiles *t, int i)
{
    static const char *const name[2][INNER_MOST] = {{"A", "A2"}, {"B", "B2"}};
    Graph *g = t->g;
    const End *e = t->most;
    const bool turned = e->turned[i];
    const Lin *z = e->batch[i];
    Node *const *arg = e->inner[i]->arg;
    const int64_t depth = arg[0]->shape[2];
    Operand *a = &t->a[i], *b = &t->b[i];
    *a = tile_operand(g, arg[turned], name[0][i], t->c.m, depth, t->row_base, "0", e->rows, depth);
    *b = tile_operand(g, arg[!turned], name[1][i], depth, t->c.n, "0", t->step_base, depth,
                      e->steps);
    operand_plan(g, t->k, a, (const Lin *[]){z, turned ? a->column : a->row,
                                             turned ? a->row : a->column});
    operand_plan(g, t->k, b, (const Lin *[]){z, turned ? b->column : b->row,
                                             turned ? b->row : b->column});
}

static bool same_tile(const Operand *a, const Operand *b)
{
    return a->copied && b->copied && a->type == b->type && !strcmp(a->source, b->source) &&
           a->swapped != b->swapped && a->rows == b->columns && a->columns == b->rows;
}

/* What the product sums beside the weights: often a tile that is there already. */
static void plan_other(BackTiles *t, int i)
{
    Graph *g = t->g;
    const End *e = &t->end[i];
    Operand *o = &t->other[i];
    *o = tile_operand(g, e->dot->arg[!e->side], i ? "C2" : "C", t->c.n, e->width, t->step_base, "0",
                      e->steps, e->width);
    operand_plan(g, t->k, o, (const Lin *[]){e->at[0], e->side ? o->column : o->row,
                                             e->side ? o->row : o->column});
    for (int k = 0; k < t->most->ndot; k++)
        if (same_tile(&t->b[k], o))
            o->name = t->b[k].name;
    if (i && o->copied && t->other[0].copied && !strcmp(o->source, t->other[0].source) &&
        o->swapped == t->other[0].swapped && o->columns == t->other[0].columns)
        o->name = t->other[0].name;
}

/* ---- numbers of rows ------------------------------------------------------------------------- */

/* Where the numbers along var begin in the stored n at `at`; NULL: they do not lie together. */
static const char *vector_source(BackTiles *t, const Node *n, const Lin *const *at, const Lin *var,
                                 int64_t extent, const char *base)
{
    Graph *g = t->g;
    const Lin *flat = lin_const(g, 0);
    for (int d = 0; d < n->rank; d++)
        flat = lin_add(g, lin_mul(g, flat, n->shape[d]), at[d]);
    flat = lin_add(g, flat, lin_mul(g, var, -1));
    if (node_count(n) < extent || lin_uses(flat, t->most->row) || lin_uses(flat, t->most->step) ||
        !lin_same(lin_mod(g, flat, extent), lin_const(g, 0)))
        return NULL;
    const int64_t shape[2] = {node_count(n) / extent, extent};
    return arena_printf(g->arena, "%s[%s, %s]", view_name(g, n, 2, shape),
                        lin_text(g, lin_div(g, flat, extent)), base);
}

static bool uses_any(const Node *n, const Lin *const *at, const Lin *var)
{
    bool uses = false;
    for (int d = 0; d < n->rank; d++)
        uses = uses || lin_uses(at[d], var);
    return uses;
}

static bool see_vector(void *arg, Node *n, const Lin *const *at)
{
    BackTiles *t = arg;
    const End *e = t->most;
    if (!n->stored || n->group == t->k)
        return false;
    const bool row = uses_any(n, at, e->row), step = uses_any(n, at, e->step);
    Vector v = {.node = n, .of_steps = step};
    if (row != step && t->nvector < VECTORS_MOST)
        v.source = vector_source(t, n, at, step ? e->step : e->row, step ? e->steps : e->rows,
                                 step ? t->step_base : t->row_base);
    if (!v.source) {
        t->far = t->far || row || step;
        return false;
    }
    for (int d = 0; d < n->rank; d++)
        v.at[d] = at[d];
    for (int i = 0; i < t->nvector; i++)
        if (t->vector[i].node == n && !strcmp(t->vector[i].source, v.source))
            return false;
    t->vector[t->nvector++] = v;
    return false;
}

static void plan_vectors(BackTiles *t)
{
    const Lin *at[TENSOR_RANK];
    Node *sub = t->k->weight->arg[0];
    place_of(t, sub->arg[1], at);
    each_read(t->g, sub->arg[1], at, see_vector, t);
    place_of(t, sub->arg[0], at);
    each_read(t->g, t->x, at, see_vector, t);
    for (int i = 0; i < t->nend; i++) {
        Node *value = below_views(t->g, &t->end[i], at);
        if (value != t->k->weight)
            each_read(t->g, bare(t, value), at, see_vector, t);
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool reads_beside(BackTiles *t, Node *n)
{
    Graph *g = t->g;
    t->k->weight->stored = true; /* what is behind it does not count */
    const bool beside = n != t->k->weight && reads(g, n, t->most->inner[0]);
    t->k->weight->stored = false;
    return beside;
}

/* The scores below what turns them into exponents: numbers they are multiplied by. */
static Node *below_factors(Node *n)
{
    double v;
    while (!n->stored && ((n->kind == NODE_CAST && n->type == DT_F32) || n->kind == NODE_RESHAPE ||
                          (is_elem(n, ELEM_MUL) && is_number_of(n->arg[1], &v) && v > 0)))
        n = n->arg[0];
    return n;
}

static void plan(BackTiles *t)
{
    Graph *g = t->g;
    const Lin *place[TENSOR_RANK], *at[TENSOR_RANK];
    t->row_base = arena_printf(g->arena, "%s * %lld", t->block, (long long)t->c.m);
    t->step_base = arena_printf(g->arena, "k * %lld", (long long)t->c.n);
    const char *row = arena_printf(g->arena, "%s + i", t->row_base),
               *step = arena_printf(g->arena, "%s + j", t->step_base);
    for (int i = 0; i < t->nend; i++)
        read_end(g, i ? t->k->pair : t->k->anchor, t->k->weight, row, step, &t->end[i]);
    t->most = &t->end[t->nend > 1 && t->end[1].ndot > t->end[0].ndot];
    t->rows = axis_guard(g, row, t->most->rows, t->c.m);
    t->steps = axis_guard(g, step, t->most->steps, t->c.n);
    Node *x = t->k->weight->arg[0]->arg[0];
    t->scores = below_factors(x);
    if (!is_mask(t->scores))
        t->scores = x;
    const Area area = {.g = g, .row = t->most->row, .column = t->most->step, .M = t->most->rows,
                       .N = t->most->steps, .m = t->c.m, .n = t->c.n, .block = t->block,
                       .columns = t->steps};
    place_of(t, t->scores, place);
    t->seen = find_seen(&area, t->scores, place);
    t->x = bare(t, x);
    for (int i = 0; i < t->most->ndot; i++)
        plan_inner(t, i);
    for (int i = 0; i < t->nend; i++) {
        plan_other(t, i);
        t->beside = t->beside || reads_beside(t, bare(t, below_views(g, &t->end[i], at)));
    }
    t->nvector = 0;
    t->far = false;
    plan_vectors(t);
}

static Body tile_body(BackTiles *t, const char *weights)
{
    Body b;
    body_open(&b, t->g, t->out, 3, &t->names);
    b.group = t->k;
    b.quick = true;
    if (weights)
        vec_push(t->g->arena, &b.leaves, ((Leaf){t->k->weight, weights, NULL}));
    for (int i = 0; i < t->most->ndot; i++)
        vec_push(t->g->arena, &b.leaves,
                 ((Leaf){t->most->inner[i], i ? "S2[i, j]" : "S[i, j]", NULL}));
    for (int i = 0; i < t->nvector; i++) {
        const Vector *v = &t->vector[i];
        const char *text = arena_printf(t->g->arena, "L%d[%s]", i, v->of_steps ? "j" : "i");
        if (compute_type(v->node->type) != v->node->type)
            text = arena_printf(t->g->arena, "T.cast(%s, \"%s\")", text,
                                dtype_name(compute_type(v->node->type)));
        vec_push(t->g->arena, &b.leaves, ((Leaf){v->node, text, v->at}));
    }
    return b;
}

static void open_tile(BackTiles *t, Body *b, const char *guard)
{
    body_line(b, "for i, j in T.Parallel(%lld, %lld):", (long long)t->c.m, (long long)t->c.n);
    b->indent++;
    if (guard) {
        body_line(b, "if %s:", guard);
        b->indent++;
    }
}

static const char *rows_policy(const BackTiles *t)
{
    return machine_has(t->g->machine, HAS_THREADS) ? ", policy=T.GemmWarpPolicy.FullRow" : "";
}

static const char *exactly(const Node *n)
{
    return n->type == DT_F32 ? ", precision=\"float32\"" : "";
}

static void load_steps(BackTiles *t, int i)
{
    if (!t->loaded[i])
        operand_load(t->g, t->k, &t->b[i], t->out, 3, &t->names);
    t->loaded[i] = true;
}

static void print_inner(BackTiles *t, int i)
{
    const char *s = i ? "S2" : "S";
    const Operand *a = &t->a[i], *b = &t->b[i];
    if (t->made[i])
        return;
    t->made[i] = true;
    load_steps(t, i);
    str_printf(t->out, "            T.clear(%s)\n            T.gemm(%s, %s, %s%s%s%s%s)\n", s,
               a->name, b->name, s, a->swapped ? ", transpose_A=True" : "",
               b->swapped ? ", transpose_B=True" : "", exactly(a->node), rows_policy(t));
}

static void print_weights(BackTiles *t)
{
    const Lin *place[TENSOR_RANK];
    const char *w = t->beside ? "W[i, j]" : "S[i, j]";
    const char *guard = t->far ? guard_both(t->g, t->rows, t->steps) : NULL;
    Node *sub = t->k->weight->arg[0];
    double factor;
    Body b = tile_body(t, NULL);
    open_tile(t, &b, guard);
    place_of(t, sub->arg[1], place);
    const char *rows = body_value(&b, sub->arg[1], place);
    if (find_factor(t->x, t->most->inner[0], &factor)) {
        body_line(&b, "%s = T.exp2(S[i, j] * %s - %s)", w, number_text(t->g, DT_F32, factor), rows);
    } else {
        place_of(t, sub->arg[0], place);
        const char *x = body_value(&b, t->x, place);
        body_line(&b, "%s = T.exp2(%s - %s)", w, x, rows);
    }
    if (!t->seen.edge)
        return;
    b = tile_body(t, NULL);
    body_line(&b, "if %s:", t->seen.edge);
    b.indent++;
    open_tile(t, &b, NULL);
    place_of(t, t->scores, place);
    body_line(&b, "%s = T.if_then_else(%s, %s, 0.0)", w,
              seen_text(&t->seen, &b, t->scores, place), w);
}

/* A product that is computed again stands in registers: it is made when it is wanted. */
static void print_product(BackTiles *t, int i)
{
    const Lin *at[TENSOR_RANK];
    const char *w = t->beside ? "W" : "S", *p = i ? "P2" : "P";
    const char *guard = t->far ? guard_both(t->g, t->rows, t->steps) : NULL;
    Node *value = below_views(t->g, &t->end[i], at);
    const Operand *o = &t->other[i];
    if (t->end[i].ndot > 1)
        print_inner(t, 1);
    if (value == t->k->weight) {
        str_printf(t->out, "            T.copy(%s, %s)\n", w, p);
    } else {
        Body b = tile_body(t, arena_printf(t->g->arena, "%s[i, j]", w));
        open_tile(t, &b, guard);
        body_line(&b, "%s[i, j] = %s", p, body_value(&b, bare(t, value), at));
        if (guard) {
            b.indent--;
            body_line(&b, "else:");
            b.indent++;
            body_line(&b, "%s[i, j] = 0.0", p);
        }
    }
    for (int d = 0; d < t->most->ndot; d++)
        if (!strcmp(o->name, t->b[d].name))
            load_steps(t, d);
    if (o->name[0] == 'C' && (i == 0 || strcmp(o->name, t->other[0].name)))
        operand_load(t->g, t->k, o, t->out, 3, &t->names);
    str_printf(t->out, "            T.gemm(%s, %s, %s%s%s%s)\n", p, o->name, i ? "acc2" : "acc",
               o->swapped ? ", transpose_B=True" : "", exactly(o->node), rows_policy(t));
}

static void alloc_tile(BackTiles *t, const char *name, int64_t columns, DType type)
{
    str_printf(t->out, "        %s = T.alloc_fragment((%lld, %lld), \"%s\")\n", name,
               (long long)t->c.m, (long long)columns, dtype_name(type));
}

static void print_alloc(BackTiles *t)
{
    Str *o = t->out;
    for (int i = 0; i < t->most->ndot; i++) {
        operand_alloc(&t->a[i], o);
        operand_alloc(&t->b[i], o);
    }
    for (int i = 0; i < t->nend; i++)
        if (t->other[i].name[0] == 'C' && (i == 0 || strcmp(t->other[i].name, t->other[0].name)))
            operand_alloc(&t->other[i], o);
    for (int i = 0; i < t->nvector; i++)
        str_printf(o, "        L%d = T.alloc_shared((%lld,), \"%s\")\n", i,
                   (long long)(t->vector[i].of_steps ? t->c.n : t->c.m),
                   dtype_name(t->vector[i].node->type));
    for (int i = 0; i < t->most->ndot; i++)
        alloc_tile(t, i ? "S2" : "S", t->c.n, DT_F32);
    if (t->beside)
        alloc_tile(t, "W", t->c.n, DT_F32);
    for (int i = 0; i < t->nend; i++) {
        alloc_tile(t, i ? "P2" : "P", t->c.n, t->other[i].type);
        alloc_tile(t, i ? "acc2" : "acc", t->end[i].width, DT_F32);
    }
}

static void print_vectors(BackTiles *t, bool of_steps)
{
    for (int i = 0; i < t->nvector; i++)
        if (t->vector[i].of_steps == of_steps)
            str_printf(t->out, "%sT.copy(%s, L%d)\n", of_steps ? "            " : "        ",
                       t->vector[i].source, i);
}

static void print_end(BackTiles *t, int i)
{
    const Group *k = t->k;
    const End *e = &t->end[i];
    const char *acc = i ? "acc2" : "acc";
    StoreTile to = {.product = e->dot, .acc = acc, .turned = e->side == 1,
                    .at = {e->at[0], e->row, lin_var(t->g, "j", 0, e->width - 1)},
                    .rows = t->c.m, .columns = e->width, .row_base = t->row_base,
                    .column_base = "0", .guard = t->rows, .whole_rows = !t->rows,
                    .whole_columns = true, .type = DT_F32};
    to.outputs = k->outputs;
    to.outputs.at += i ? k->first : 0;
    to.outputs.n = i ? k->outputs.n - k->first : k->first;
    store_tile(t->g, t->k, t->out, &to, arena_printf(t->g->arena, "%s[i, j]", acc), &t->names);
}

void tiles_back(Graph *g, Group *k, Str *out)
{
    BackTiles t = {.g = g, .k = k, .out = out, .nend = k->pair ? 2 : 1, .block = "bx"};
    t.c = (TileChoice){.m = 1, .n = 1};
    plan(&t);
    choose(&t);
    plan(&t);
    const bool late = t.seen.last && machine_has(g->machine, HAS_THREADS);
    if (late) { /* the last rows see most: their blocks go first */
        t.block = "qb";
        plan(&t);
    }
    const char *blocks = extent_blocks(g, t.most->rows, t.c.m);
    str_printf(out, "    with T.Kernel(%s, 1, %s, threads=%d) as (bx, by, bz):\n", blocks,
               extent_text(g, k->anchor->shape[0]), t.c.threads);
    if (late && extent_is_open(g, t.most->rows))
        str_printf(out, "        qb = %s - 1 - bx\n", blocks);
    else if (late)
        str_printf(out, "        qb = %lld - bx\n",
                   (long long)((t.most->rows + t.c.m - 1) / t.c.m - 1));
    print_alloc(&t);
    for (int i = 0; i < t.most->ndot; i++)
        operand_load(g, k, &t.a[i], out, 2, &t.names);
    print_vectors(&t, false);
    for (int i = 0; i < t.nend; i++)
        str_printf(out, "        T.clear(%s)\n", i ? "acc2" : "acc");
    seen_loop(&t.seen, t.c.stages, out);
    print_vectors(&t, true);
    print_inner(&t, 0);
    print_weights(&t);
    for (int i = 0; i < t.nend; i++)
        print_product(&t, i);
    print_end(&t, 0);
    if (k->pair)
        print_end(&t, 1);
}
