/* dots.c -- matrix products as kernels: operands as tiles, an epilogue on the accumulator. */
#include "tensor/rows.h"

#include "tensor/dots.h"

enum {
    FOLD_LEAST = 8,        /* elements of a loop of its own */
    PART_COLUMNS = 64,     /* of an epilogue in parts, at most and at least; tensors it loads */
    PART_LEAST = 16,
    PART_LOADS = 4,
    WINDOW_TILE = 1 << 16, /* elements of an operand that a CPU gathers or computes at a time */
    DEPTH_LEAST = 128,
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- operands -------------------------------------------------------------------------------- */

typedef struct {
    Node *node;
    const Lin *at[TENSOR_RANK];
    bool found, parted; /* parted: axes of the tile may be parts of longer ones */
} Stored;

/* The stored tensor that an operand is a layout change of, and where it is read. */
static Stored behind(Graph *g, const Group *k, Node *n, const Lin *const *at)
{
    Stored s = {.node = n};
    const Lin *next[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    for (int d = 0; d < n->rank; d++)
        s.at[d] = at[d];
    while (!s.node->stored || s.node->group == k) {
        bool view = s.node->kind == NODE_RESHAPE || s.node->kind == NODE_PERMUTE ||
                    s.node->kind == NODE_BROADCAST || s.node->kind == NODE_SLICE;
        if (!view)
            return s;
        operand_index(g, s.node, 0, s.at, next, guard);
        s.node = s.node->arg[0];
        memcpy(s.at, next, sizeof next);
    }
    s.found = true;
    return s;
}

/* Position i of `tile` from a base on, "by * 128": the base. */
static const Lin *base_of(Graph *g, const char *base, const Lin *var, int64_t tile)
{
    if (!strcmp(base, "0"))
        return lin_const(g, 0);
    const char *name = arena_printf(g->arena, "%.*s", (int)strcspn(base, " "), base);
    return lin_mul(g, lin_var(g, name, 0, MAX(1, extent_floor(g, var->hi, tile))), tile);
}

typedef struct { /* of a position: base + row * i + column * j */
    const Lin *base;
    int64_t row, column;
    bool ok;
} Split;

static Split split(Graph *g, const Operand *t, const Lin *p);

/* A quotient or a remainder of what runs along one axis of the tile, if the tile lies between two
 * multiples of the divisor. */
static Split split_atom(Graph *g, const Operand *t, const Atom *a)
{
    const Lin *row = t->row->n ? t->row : NULL, *column = t->column->n ? t->column : NULL;
    if (row && a == row->atom[0])
        return (Split){base_of(g, t->row_base, row, t->rows), 1, 0, true};
    if (column && a == column->atom[0])
        return (Split){base_of(g, t->column_base, column, t->columns), 0, 1, true};
    const Lin *own = NEW(g->arena, Lin);
    *(Lin *)own = (Lin){.n = 1, .lo = a->lo, .hi = a->hi, .coef = {1}, .atom = {a}};
    if (a->kind == 'v')
        return (Split){own, 0, 0, true};
    Split s = split(g, t, a->of);
    if (!s.ok || (s.row == 0 && s.column == 0))
        return (Split){own, 0, 0, s.ok};
    const int64_t tile = s.row ? t->rows : t->columns;
    s.ok = s.row + s.column == 1 && s.row * s.column == 0 && extent_divides(g, tile, a->c) &&
           lin_same(lin_mod(g, s.base, tile), lin_const(g, 0));
    if (!s.ok)
        return s;
    if (a->kind == '%')
        return (Split){lin_mod(g, s.base, a->c), s.row, s.column, true};
    return (Split){lin_div(g, s.base, a->c), 0, 0, true};
}

static Split split(Graph *g, const Operand *t, const Lin *p)
{
    Split sum = {.base = lin_const(g, p->c), .ok = true};
    for (int i = 0; i < p->n && sum.ok; i++) {
        const Split one = split_atom(g, t, p->atom[i]);
        sum.ok = one.ok;
        if (one.ok)
            sum.base = lin_add(g, sum.base, lin_mul(g, one.base, p->coef[i]));
        sum.row += p->coef[i] * one.row;
        sum.column += p->coef[i] * one.column;
    }
    return sum;
}

/* Does position p of axis `at` run along the rows of the tile, or its columns, alone? */
static bool runs_along(const Operand *t, const Stored *s, const Split *p, int axis, bool rows)
{
    const Lin *var = rows ? t->row : t->column, *at = s->at[axis];
    /* What is clipped ends where the tensor does. */
    if ((t->guard || !s->parted) && !lin_same(at, var))
        return false;
    return p->ok && p->row == (rows && var->n) && p->column == (!rows && var->n) &&
           (var->n || lin_same(at, var));
}

/* Of a tile whose columns are runs in memory: as is_tile has it. */
static bool is_along(Graph *g, Stored *s, const Operand *t, bool *swapped)
{
    const int n = s->node->rank;
    if (!s->found || n < 2)
        return false;
    for (int d = 0; d < n - 2; d++)
        if (lin_uses(s->at[d], t->row) || lin_uses(s->at[d], t->along))
            return false;
    *swapped = lin_same(s->at[n - 1], t->row) && lin_same(s->at[n - 2], t->along);
    if (!*swapped && (!lin_same(s->at[n - 2], t->row) || !lin_same(s->at[n - 1], t->along)))
        return false;
    s->at[*swapped ? n - 1 : n - 2] = lin_var(g, t->row_base, 0, MAX(t->row->hi, 1));
    s->at[*swapped ? n - 2 : n - 1] = lin_var(g, t->along_base, 0, MAX(t->along->hi, 1));
    return true;
}

/* Rows and columns of the tile are the last two axes, either way round; s->at is then where it
 * begins. */
static bool is_tile_of(Graph *g, Stored *s, const Operand *t, bool *swapped)
{
    const int n = s->node->rank;
    Split p[TENSOR_RANK];
    if (!s->found || n < 2)
        return false;
    for (int d = 0; d < n; d++) {
        p[d] = split(g, t, s->at[d]);
        const bool uses = s->parted ? p[d].row || p[d].column
                                    : lin_uses(s->at[d], t->row) || lin_uses(s->at[d], t->column);
        if (!p[d].ok || (d < n - 2 && uses))
            return false;
    }
    bool is = false;
    for (int way = 1; way >= 0 && !is; way--) {
        is = runs_along(t, s, &p[n - 2], n - 2, !way) &&
             runs_along(t, s, &p[n - 1], n - 1, way);
        *swapped = way;
    }
    for (int d = 0; is && d < n; d++)
        s->at[d] = p[d].base;
    return is;
}

/* The same; columns are those of the product or, in its run of memory, of the part they lie in. */
static bool is_tile(Graph *g, Stored *s, Operand *t, bool *swapped)
{
    if (is_tile_of(g, s, t, swapped))
        return true;
    if (!t->along || t->along == t->column || !is_along(g, s, t, swapped))
        return false;
    t->column_base = t->along_base;
    return true;
}

/* The tensor below n when n has all its elements in the same order; NULL: it has not. */
static Node *same_memory(const Group *k, Node *n)
{
    while (!n->stored || n->group == k) {
        if (n->kind != NODE_RESHAPE)
            return NULL;
        n = n->arg[0];
    }
    return n;
}

/* A stored tensor in another shape of as many elements. */
const char *view_name(Graph *g, const Node *n, int rank, const int64_t *shape)
{
    const char *text = shape_text(g, rank, shape);
    const char *key = arena_printf(g->arena, "%s %s", n->buffer, text), *name;
    if (!strcmp(text, shape_text(g, n->rank, n->shape)))
        return n->buffer;
    if ((name = map_get(&g->views, key)))
        return name;
    name = fresh_name(g, arena_printf(g->arena, "%s_v", n->buffer), g->views.n);
    map_set(&g->views, key, (void *)name);
    str_printf(&g->view_lines, "    %s = T.reshape(%s, %s)\n", name, n->buffer, text);
    return name;
}

/* Somewhere on the way to the stored tensor it is a tile of a reshape of that. */
static bool find_view(Graph *g, const Group *k, Operand *t, Stored *s, const char **buffer,
                      bool *swapped)
{
    const Lin *next[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    for (;;) {
        Node *below = same_memory(k, s->node);
        s->found = below != NULL;
        if (below && below->type == t->type && is_tile(g, s, t, swapped)) {
            *buffer = view_name(g, below, s->node->rank, s->node->shape);
            return true;
        }
        bool view = s->node->kind == NODE_RESHAPE || s->node->kind == NODE_PERMUTE ||
                    s->node->kind == NODE_BROADCAST || s->node->kind == NODE_SLICE;
        if (!view || (s->node->stored && s->node->group != k))
            return false;
        operand_index(g, s->node, 0, s->at, next, guard);
        s->node = s->node->arg[0];
        memcpy(s->at, next, sizeof next);
    }
}

/* Tiles of windows: pixels are rows in memory, the channels of an offset columns. */
static bool plan_windows(Graph *g, Operand *t)
{
    Windows w;
    if (!machine_has(g->machine, HAS_THREADS) || !t->row_tile || !match_windows(t->node, &w))
        return false;
    t->swapped = w.taps_first;
    if (machine_has(g->machine, HAS_BULK_COPY) && w.image->type == t->type && w.image->stored)
        t->windows = im2col_text(g, &w, w.taps_first ? t->rows : t->columns,
                                 w.taps_first ? t->column_tile : t->row_tile,
                                 w.taps_first ? t->row_tile : t->column_tile);
    t->image = w.image->buffer;
    return true;
}

void operand_plan(Graph *g, const Group *k, Operand *t, const Lin *const *at)
{
    Stored s;
    bool swapped = false;
    const char *buffer = NULL;
    for (int d = 0; d < t->node->rank; d++)
        t->at[d] = at[d];
    if (plan_windows(g, t))
        return;
    t->copied = false;
    for (int parted = 0; parted < 2 && !t->copied; parted++) {
        s = behind(g, k, t->node, at);
        s.parted = parted;
        buffer = s.node->buffer;
        t->copied = is_tile(g, &s, t, &swapped) && s.node->type == t->type;
        if (t->copied)
            break;
        s = (Stored){.node = t->node, .parted = parted};
        memcpy(s.at, t->at, sizeof s.at);
        t->copied = find_view(g, k, t, &s, &buffer, &swapped);
    }
    t->swapped = t->copied && swapped;
    if (!t->copied)
        return;
    const int n = s.node->rank;
    Str b;
    str_init(&b, g->arena);
    str_printf(&b, "%s[", buffer);
    for (int d = 0; d < n; d++)
        str_printf(&b, "%s%s", lin_text(g, s.at[d]), d < n - 1 ? ", " : "]");
    t->source = b.s;
}

Operand tile_operand(Graph *g, Node *n, const char *name, int64_t rows, int64_t columns,
                     const char *row_base, const char *column_base, int64_t nr, int64_t nc)
{
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

void operand_alloc(const Operand *t, Str *out)
{
    str_printf(out, "        %s = T.alloc_shared((%lld, %lld), \"%s\")\n", t->name,
               (long long)(t->swapped ? t->columns : t->rows),
               (long long)(t->swapped ? t->rows : t->columns), dtype_name(t->type));
}

/* ---- columns that are rows of an image ------------------------------------------------------- */

typedef struct {
    const Lin *column;
    int64_t columns, by;
} Fold;

/* The remainder of columns by the innermost axis, if tiles are whole rows of that. */
static bool see_fold(void *arg, Node *n, const Lin *const *at)
{
    Fold *f = arg;
    for (int d = 0; d < n->rank; d++)
        for (int i = 0; i < at[d]->n; i++) {
            const Atom *a = at[d]->atom[i];
            if (a->kind == '%' && lin_same(a->of, f->column) && f->columns % a->c == 0 &&
                a->c >= FOLD_LEAST && (!f->by || a->c < f->by))
                f->by = a->c;
        }
    return false;
}

/* On a CPU, columns of a tile as rows of `by` elements: a loop over them has neither quotients nor
 * remainders, and is one over neighbours.  0: they are not. */
static int64_t fold_columns(Graph *g, Node *n, const Lin *const *at, const Lin *column,
                            int64_t columns)
{
    Fold f = {.column = column, .columns = columns};
    if (!machine_has(g->machine, HAS_THREADS))
        each_read(g, n, at, see_fold, &f);
    return f.by < columns ? f.by : 0;
}

/* The position of column j * by + l of the tile that starts at base, "bx * 256". */
static const Lin *folded(Graph *g, const Lin *column, const char *base, int64_t columns,
                         int64_t by)
{
    const char *text = arena_printf(g->arena, "%.*s * %lld + j", (int)strcspn(base, " "), base,
                                    (long long)(columns / by));
    const Lin *row = lin_var(g, text, 0, column->hi / by);
    return lin_add(g, lin_mul(g, row, by), lin_var(g, "l", 0, by - 1));
}

/* The loop over a tile, columns as rows of `by` elements if that is not 0: an element of it. */
static const char *open_columns(Body *b, const char *name, int64_t rows, int64_t columns,
                                int64_t by, bool swapped)
{
    if (swapped) {
        body_line(b, "for j, i in T.Parallel(%lld, %lld):", (long long)columns, (long long)rows);
        b->indent++;
        return arena_printf(b->g->arena, "%s[j, i]", name);
    }
    if (!by) {
        body_line(b, "for i, j in T.Parallel(%lld, %lld):", (long long)rows, (long long)columns);
        b->indent++;
        return arena_printf(b->g->arena, "%s[i, j]", name);
    }
    body_line(b, "for i, j, l in T.Parallel(%lld, %lld, %lld):", (long long)rows,
              (long long)(columns / by), (long long)by);
    b->indent++;
    return arena_printf(b->g->arena, "%s[i, j * %lld + l]", name, (long long)by);
}

void operand_load(Graph *g, const Group *k, const Operand *t, Str *out, int indent, int *names)
{
    Body b;
    body_open(&b, g, out, indent, names);
    b.group = k;
    if (t->copied) {
        body_line(&b, "T.copy(%s, %s)", t->source, t->name);
        return;
    }
    if (t->windows) {
        body_line(&b, "T.im2col(%s, %s, %s)", t->image, t->name, t->windows);
        return;
    }
    const int64_t by = t->guard || !strstr(t->column_base, " * ")
                           ? 0 : fold_columns(g, t->node, t->at, t->column, t->columns);
    const Lin *at[TENSOR_RANK],
              *c = by ? folded(g, t->column, t->column_base, t->columns, by) : NULL;
    for (int d = 0; d < t->node->rank; d++)
        at[d] = c && lin_same(t->at[d], t->column) ? c : t->at[d];
    const char *place = open_columns(&b, t->name, t->rows, t->columns, by, t->swapped);
    if (t->guard) {
        body_line(&b, "if %s:", t->guard);
        b.indent++;
    }
    b.moved = t->node->type == t->type && is_moved(t->node, k);
    const char *v = body_value(&b, t->node, at);
    if (!b.moved && compute_type(t->node->type) != t->type)
        v = arena_printf(g->arena, "T.cast(%s, \"%s\")", v, dtype_name(t->type));
    body_line(&b, "%s = %s", place, v);
    if (t->guard) {
        b.indent--;
        body_line(&b, "else:");
        b.indent++;
        body_line(&b, "%s = %s", place, number_text(g, t->type, 0));
    }
}

const char *axis_guard(Graph *g, const char *text, int64_t extent, int64_t tile)
{
    return extent_divides(g, tile, extent)
               ? NULL
               : arena_printf(g->arena, "(%s < %s)", text, extent_text(g, extent));
}

const char *guard_both(Graph *g, const char *a, const char *b)
{
    return a && b ? arena_printf(g->arena, "%s & %s", a, b) : a ? a : b;
}

/* ---- the product ----------------------------------------------------------------------------- */

static int64_t fit(int64_t tile, int64_t extent, int64_t least)
{
    while (tile / 2 >= extent && tile / 2 >= least)
        tile /= 2;
    return tile;
}

static TileChoice choose(Graph *g, const Node *dot)
{
    const Machine *m = g->machine;
    int64_t size[3] = {extent_usual(g, dot->shape[1]), extent_usual(g, dot->shape[2]),
                       extent_usual(g, dot->arg[0]->shape[2])};
    const int64_t rows = size[0], batch = extent_usual(g, dot->shape[0]);
    const bool gpu = machine_has(m, HAS_THREADS);
    TileChoice c = {0};
    if (gpu && size[0] >= 128) /* products side by side fill the machine as rows would */
        size[0] *= batch;
    if (m->tiles_gemm)
        c = m->tiles_gemm(m, size, dot->arg[0]->type, 0, 0);
    size[0] = rows;
    const int wide = dtype_bits(dot->arg[0]->type) >= 32;
    if (c.m <= 0 || c.n <= 0 || c.k <= 0 || c.swap || c.widen || c.split > 1)
        c = (TileChoice){.m = gpu ? 128 : 64, .n = gpu ? 128 : 64, .k = wide ? 32 : 64,
                         .stages = 2, .threads = 128};
    c.m = fit(c.m, size[0], gpu ? 64 : 8);
    if (!gpu && extent_is_open(g, dot->shape[1])) /* few rows are no waste */
        c.m = MIN(c.m, 64);
    c.n = fit(c.n, size[1], 16);
    c.k = fit(c.k, size[2], 16);
    while (gpu && batch * ceil_div(size[0], c.m) * ceil_div(size[1], c.n) < m->units &&
           c.m * c.n > 64 * 64) {
        if (c.n >= c.m)
            c.n /= 2;
        else
            c.m /= 2;
    }
    c.threads = gpu ? MIN(c.threads > 0 ? c.threads : 128, c.m * c.n >= 128 * 128 ? 256 : 128) : 1;
    return c;
}

/* Are the elements of n those of `from` in the same order? */
static bool same_order(const Node *n, const Node *from)
{
    bool same = n == from;
    if (n->id < from->id || node_count(n) != node_count(from) ||
        (n->kind != NODE_ELEM && n->kind != NODE_CAST && n->kind != NODE_RESHAPE))
        return same;
    for (int i = 0; i < n->narg && !same; i++)
        same = same_order(n->arg[i], from);
    return same;
}

/* Where axis position p of a tensor begins in the tile of positions `at` that starts at `base`;
 * NULL: it does not run along it. */
static const char *axis_base(Graph *g, const Lin *p, const Lin *at, const Lin *other,
                             const char *base, bool whole)
{
    const Lin *rest = lin_add(g, p, lin_mul(g, at, -1));
    if (lin_uses(rest, at) || lin_uses(rest, other))
        return NULL;
    if (rest->n == 0 && rest->c == 0)
        return base;
    return whole ? arena_printf(g->arena, "%s + %s", lin_text(g, rest), base) : NULL;
}

static const char *tile_of(Graph *g, const char *buffer, int rank, const Lin *const *p,
                           const StoreTile *t)
{
    Str b;
    if (rank < 2)
        return NULL;
    const char *row = axis_base(g, p[rank - 2], t->at[1], t->along, t->row_base, t->whole_rows),
               *column = axis_base(g, p[rank - 1], t->along, t->at[1], t->column_base,
                                   t->whole_columns);
    str_init(&b, g->arena);
    str_printf(&b, "%s[", buffer);
    for (int d = 0; d < rank - 2; d++) {
        if (lin_uses(p[d], t->at[1]) || lin_uses(p[d], t->along))
            return NULL;
        str_printf(&b, "%s, ", lin_text(g, p[d]));
    }
    str_printf(&b, "%s, %s]", row, column);
    return row && column ? b.s : NULL;
}

/* Where the product stands at [i, j] of the accumulator. */
static Place product_at(const StoreTile *t)
{
    return (Place){.at = {t->at[0], t->at[t->turned ? 2 : 1], t->at[t->turned ? 1 : 2]}};
}

/* Is what is stored the product itself? */
static bool is_plain(const StoreTile *t)
{
    const Node *n = t->outputs.at[0];
    while (n != t->product && (n->kind == NODE_RESHAPE || n->kind == NODE_PERMUTE))
        n = n->arg[0];
    return n == t->product;
}

/* Rows of the outputs that columns of the tile are; 0: they are not. */
static int64_t fold_store(Graph *g, Place *const *place, const StoreTile *t)
{
    Fold f = {.column = t->at[2], .columns = t->columns};
    if (machine_has(g->machine, HAS_THREADS) || t->guard || !strstr(t->column_base, " * "))
        return 0;
    for (int i = 0; i < t->outputs.n; i++)
        see_fold(&f, t->outputs.at[i], place[t->outputs.at[i]->id]->at);
    return f.by < t->columns ? f.by : 0;
}

static int count_quotients(const Lin *l)
{
    int n = 0;
    for (int i = 0; i < l->n; i++)
        n += l->atom[i]->kind != 'v';
    return n;
}

/* Axes of n at p, taken as one where that has fewer quotients and remainders: how many are left. */
static int merge_axes(Graph *g, const Node *n, const Lin *const *p, const Lin **at, int64_t *shape)
{
    int rank = 0;
    for (int d = 0; d < n->rank; d++) {
        const Lin *both = rank ? lin_add(g, lin_mul(g, at[rank - 1], n->shape[d]), p[d]) : NULL;
        if (both && count_quotients(both) < count_quotients(at[rank - 1]) + count_quotients(p[d])) {
            at[rank - 1] = both;
            shape[rank - 1] *= n->shape[d];
            continue;
        }
        at[rank] = p[d];
        shape[rank++] = n->shape[d];
    }
    return rank;
}

/* The element of n at p: a thread of a GPU has a quotient for each of its elements, and all in
 * registers. */
static const char *merged_place(Graph *g, const Node *n, const Lin *const *p)
{
    const Lin *at[TENSOR_RANK];
    int64_t shape[TENSOR_RANK];
    const int rank = merge_axes(g, n, p, at, shape);
    return place_text(g, rank < n->rank ? view_name(g, n, rank, shape) : n->buffer, rank, at);
}

static bool may_be_tile(const Graph *g, const StoreTile *t)
{
    return t->outputs.n == 1 && machine_has(g->machine, HAS_THREADS) &&
           compute_type(t->outputs.at[0]->type) == t->type;
}

/* The one output, with axes taken as one, as a tile of memory, or NULL; not `named`: as a test. */
static const char *merged_tile(Graph *g, const Node *n, const Lin *const *p, const StoreTile *t,
                               bool named)
{
    const Lin *at[TENSOR_RANK];
    int64_t shape[TENSOR_RANK];
    const int rank = merge_axes(g, n, p, at, shape);
    const char *to = tile_of(g, "", rank, at, t);
    return to && named ? tile_of(g, view_name(g, n, rank, shape), rank, at, t) : to;
}

/* The one output as a tile of memory, or NULL. */
static const char *store_place(Graph *g, Place *const *place, const StoreTile *t)
{
    const Node *n = t->outputs.at[0];
    if (!may_be_tile(g, t))
        return NULL;
    const char *to = tile_of(g, n->buffer, n->rank, place[n->id]->at, t);
    if (!to && same_order(n, t->product))
        to = tile_of(g, view_name(g, n, 3, t->product->shape), 3, product_at(t).at, t);
    return to ? to : merged_tile(g, n, place[n->id]->at, t, true);
}

/* ---- an epilogue in parts -------------------------------------------------------------------- */

typedef struct {
    Graph *g;
    const Group *k;
    const StoreTile *t;
    const Lin *column;
    VEC(Leaf) leaves; /* what is read as whole as the product is */
} Parts;

static bool see_part(void *arg, Node *n, const Lin *const *at)
{
    Parts *p = arg;
    Graph *g = p->g;
    bool row = false, column = false, known = true;
    if (!group_loads(p->k, n))
        return n->group == p->k;
    for (int d = 0; d < n->rank; d++) {
        row = row || lin_uses(at[d], p->t->at[1]);
        column = column || lin_uses(at[d], p->column);
        known = known && !strchr(lin_text(g, at[d]), '?');
    }
    for (int i = 0; i < p->leaves.n; i++)
        known = known && p->leaves.at[i].node != n;
    if (!row || !column || !known)
        return false;
    const char *text = arena_printf(g->arena, "E%d[i, j]", p->leaves.n);
    const Lin **place = NEWN(g->arena, const Lin *, TENSOR_RANK);
    memcpy(place, at, sizeof *at * (size_t)n->rank);
    if (compute_type(n->type) != n->type)
        text = arena_printf(g->arena, "T.cast(%s, \"%s\")", text,
                            dtype_name(compute_type(n->type)));
    vec_push(g->arena, &p->leaves, ((Leaf){n, text, place}));
    return false;
}

static const char *part_guard(Graph *g, const StoreTile *t, const char *column)
{
    const char *rows = arena_printf(g->arena, "(%s < %s)", lin_text(g, t->at[1]),
                                    extent_text(g, t->at[1]->hi + 1));
    return guard_both(g, t->whole_rows ? NULL : rows,
                      t->whole_columns ? NULL
                                       : arena_printf(g->arena, "(%s < %s)", column,
                                                      extent_text(g, t->at[2]->hi + 1)));
}

/* Half of the columns or less, of vectors of 16. */
static int64_t part_columns(const StoreTile *t)
{
    int64_t n = MIN(PART_COLUMNS, t->columns / 2) / PART_LEAST * PART_LEAST;
    while (n > 0 && t->columns % n)
        n -= PART_LEAST;
    return n;
}

static void open_part(Body *b, const StoreTile *t, const char *guard)
{
    b->indent = 3;
    body_line(b, "for i, j in T.Parallel(%lld, %lld):", (long long)t->rows,
              (long long)part_columns(t));
    b->indent++;
    if (guard) {
        body_line(b, "if %s:", guard);
        b->indent++;
    }
}

/* Loads between stores wait one by one: what the epilogue of several results reads is loaded some
 * columns at a time, all of it before the first is stored.  False: it reads nothing like that. */
static bool store_parts(Graph *g, Group *k, Str *out, const StoreTile *t, int *names)
{
    const long long columns = part_columns(t);
    const char *column = arena_printf(g->arena, "%s + p * %lld + j", t->column_base, columns);
    Parts p = {.g = g, .k = k, .t = t, .column = lin_var(g, column, 0, t->at[2]->hi)};
    Body b;
    if (!machine_has(g->machine, HAS_THREADS) || t->outputs.n < 2 || k->pair || t->turned ||
        columns == 0 || !t->at[2]->n || (t->along && t->along != t->at[2]))
        return false;
    const Lin *const at[3] = {t->at[0], t->at[1], p.column};
    Place **place = places_from(g, t->product, at);
    for (int i = 0; i < t->outputs.n; i++)
        each_read(g, t->outputs.at[i], place[t->outputs.at[i]->id]->at, see_part, &p);
    if (p.leaves.n == 0 || p.leaves.n > PART_LOADS)
        return false;
    const char *guard = part_guard(g, t, column);
    for (int i = 0; i < p.leaves.n; i++)
        str_printf(out, "        E%d = T.alloc_fragment((%lld, %lld), \"%s\")\n", i,
                   (long long)t->rows, columns, dtype_name(p.leaves.at[i].node->type));
    str_printf(out, "        for p in T.unroll(%lld):\n", t->columns / columns);
    body_open(&b, g, out, 3, names);
    b.group = k;
    for (int i = 0; i < p.leaves.n; i++) {
        const Leaf *l = &p.leaves.at[i];
        open_part(&b, t, guard);
        body_line(&b, "E%d[i, j] = %s", i, merged_place(g, l->node, l->at));
        if (guard) {
            b.indent--;
            body_line(&b, "else:");
            b.indent++;
            body_line(&b, "E%d[i, j] = %s", i, number_text(g, l->node->type, 0));
        }
    }
    vec_push(g->arena, &b.leaves,
             ((Leaf){t->product, arena_printf(g->arena, "%s[i, p * %lld + j]", t->acc, columns),
                     NULL}));
    for (int i = 0; i < p.leaves.n; i++)
        vec_push(g->arena, &b.leaves, p.leaves.at[i]);
    open_part(&b, t, guard);
    for (int i = 0; i < t->outputs.n; i++) {
        Node *n = t->outputs.at[i];
        body_store(&b, n, merged_place(g, n, place[n->id]->at), n, place[n->id]->at);
    }
    return true;
}

/* Outputs follow from the accumulator element by element.  One that is a tile of memory is copied
 * there from the accumulator, which targets know to do well. */
void store_tile(Graph *g, Group *k, Str *out, const StoreTile *t, const char *leaf, int *names)
{
    Body b;
    Place **place = places_from(g, t->product, product_at(t).at);
    StoreTile whole = *t;
    whole.along = t->along ? t->along : t->at[2];
    const char *to = store_place(g, place, &whole);
    const bool is_acc = !strcmp(leaf, arena_printf(g->arena, "%s[i, j]", t->acc));
    if (is_acc && store_parts(g, k, out, t, names))
        return;
    const int64_t by = is_acc && !to ? fold_store(g, place, t) : 0;
    if (by)
        place = places_from(g, t->product, (const Lin *[]){t->at[0], t->at[1],
                            folded(g, t->at[2], t->column_base, t->columns, by)});
    body_open(&b, g, out, 2, names);
    b.group = k;
    if (by)
        leaf = arena_printf(g->arena, "acc[i, j * %lld + l]", (long long)by);
    vec_push(g->arena, &b.leaves, ((Leaf){t->product, leaf, NULL}));
    if (k->pair && t->product == k->anchor)
        vec_push(g->arena, &b.leaves, ((Leaf){k->pair, "acc2[i, j]", NULL}));
    const bool plain = to && is_plain(t) && is_acc;
    if (!plain)
        open_columns(&b, "acc", t->rows, t->columns, by, false);
    if (!plain && t->guard) {
        body_line(&b, "if %s:", t->guard);
        b.indent++;
    }
    for (int i = 0; i < t->outputs.n && !plain; i++) {
        Node *n = t->outputs.at[i];
        const Lin *const *p = place[n->id]->at;
        if (to)
            body_line(&b, "%s[i, j] = %s", t->acc, body_value(&b, n, p));
        else
            body_store(&b, n, machine_has(g->machine, HAS_THREADS)
                                  ? merged_place(g, n, p) : place_text(g, n->buffer, n->rank, p),
                       n, p);
    }
    b.indent = 2;
    if (to)
        body_line(&b, "T.copy(%s, %s)", t->acc, to);
}

static void alloc_product(const Operand *b, const char *acc, DType type, int64_t rows, Str *out)
{
    operand_alloc(b, out);
    str_printf(out, "        %s = T.alloc_fragment((%lld, %lld), \"%s\")\n        T.clear(%s)\n",
               acc, (long long)rows, (long long)b->columns, dtype_name(type), acc);
}

static void print_gemm(const Operand *a, const Operand *b, const char *acc, Str *out)
{
    str_printf(out, "            T.gemm(A, %s, %s%s%s%s)\n", b->name, acc,
               a->swapped ? ", transpose_A=True" : "", b->swapped ? ", transpose_B=True" : "",
               a->type == DT_F32 ? ", precision=\"float32\"" : "");
}

/* Columns of a tile of windows, which are gathered: what stays near a core, and whole rows of an
 * image, if no tile is left that is not whole. */
static int64_t whole_columns(Graph *g, const Node *dot, int64_t columns, int64_t depth)
{
    const int64_t N = dot->shape[2];
    const Lin *at[3] = {lin_var(g, "bz", 0, dot->shape[0] - 1),
                        lin_var(g, "m", 0, dot->arg[1]->shape[1] - 1), lin_var(g, "n", 0, N - 1)};
    const Node *b = dot->arg[1];
    bool windows = false;
    for (; b->kind >= NODE_RESHAPE && b->kind <= NODE_WINDOW && !b->stored; b = b->arg[0])
        windows = windows || b->kind == NODE_WINDOW;
    while (windows && !machine_has(g->machine, HAS_THREADS) && columns > 64 &&
           columns * depth > WINDOW_TILE)
        columns /= 2;
    if (extent_is_open(g, N))
        return columns;
    const int64_t by = fold_columns(g, dot->arg[1], at, at[2], N);
    for (int64_t n = by ? columns / by * by : 0; n > columns / 2; n -= by)
        if (N % n == 0)
            return n;
    return columns;
}

/* Is an operand more than a layout change of what is stored, on a CPU? */
static bool is_computed(const Graph *g, const Node *n)
{
    while (!n->stored && n->kind >= NODE_RESHAPE && n->kind <= NODE_SLICE)
        n = n->arg[0];
    return !machine_has(g->machine, HAS_THREADS) && !n->stored &&
           (n->kind == NODE_ELEM || n->kind == NODE_CAST);
}

typedef struct {
    Node *dot;
    TileChoice c;
    const Lin *z, *mi, *nj, *along; /* batch, row, column; the column in its run of memory */
    const char *m0, *n0, *k0;       /* where the tile begins */
    const char *along0;             /* the same in the run */
    const char *gm, *gn;            /* guards */
} Product;

/* Tiles of a GPU that lie each in one run of what is stored, one image, leave in bulk: the run. */
static int64_t fit_run(Graph *g, const Group *k, Product *p)
{
    const int64_t run = machine_has(g->machine, HAS_THREADS) ? column_run(g, k, p->dot) : 0,
                  n = columns_of_run(run, p->c.n);
    if (!n)
        return 0;
    if (n <= p->c.n / 2 && p->dot->shape[1] % (2 * p->c.m) == 0) /* as many accumulators */
        p->c.m *= 2;
    p->c.n = n;
    return run;
}

static void place_rows(Graph *g, Product *p)
{
    const int64_t M = p->dot->shape[1];
    p->m0 = arena_printf(g->arena, "by * %lld", (long long)p->c.m);
    p->mi = lin_var(g, arena_printf(g->arena, "%s + i", p->m0), 0, M - 1);
    p->gm = axis_guard(g, arena_printf(g->arena, "%s + i", p->m0), M, p->c.m);
}

static void place_columns(Graph *g, Product *p, int64_t run)
{
    const int64_t N = p->dot->shape[2], per = run / p->c.n;
    p->n0 = p->along0 = arena_printf(g->arena, "bx * %lld", (long long)p->c.n);
    const char *nj = arena_printf(g->arena, "%s + j", p->n0);
    p->gn = run ? NULL : axis_guard(g, nj, N, p->c.n);
    p->nj = p->along = lin_var(g, nj, 0, N - 1);
    if (!run)
        return;
    const char *image = per == 1 ? "bx" : arena_printf(g->arena, "bx // %lld", (long long)per);
    p->along0 = per == 1 ? "0"
                         : arena_printf(g->arena, "bx %% %lld * %lld", (long long)per,
                                        (long long)p->c.n);
    p->along = lin_var(g, per == 1 ? "j" : arena_printf(g->arena, "%s + j", p->along0), 0,
                       run - 1);
    p->nj = lin_add(g, lin_mul(g, lin_var(g, image, 0, N / run - 1), run), p->along);
}

static StoreTile store_of(Graph *g, const Group *k, const Product *p)
{
    return (StoreTile){.at = {p->z, p->mi, p->nj}, .along = p->along, .rows = p->c.m,
                       .columns = p->c.n, .row_base = p->m0, .column_base = p->along0,
                       .guard = guard_both(g, p->gm, p->gn), .whole_rows = !p->gm,
                       .whole_columns = !p->gn, .product = p->dot, .acc = "acc",
                       .outputs = k->outputs,
                       .type = dtype_is_int(p->dot->arg[0]->type) ? DT_I32 : DT_F32};
}

static void place_product(Graph *g, const Group *k, Product *p)
{
    const TileChoice c = p->c;
    const int64_t run = fit_run(g, k, p);
    p->z = lin_var(g, "bz", 0, p->dot->shape[0] - 1);
    place_rows(g, p);
    place_columns(g, p, run);
    const StoreTile t = store_of(g, k, p);
    const Node *n = k->outputs.at[0];
    if (!run || (may_be_tile(g, &t) &&
                 merged_tile(g, n, places_from(g, k->anchor, t.at)[n->id]->at, &t, false)))
        return;
    p->c = c;
    place_rows(g, p);
    place_columns(g, p, 0);
}

/* Fewer stages, then smaller tiles of the result, where a step of k fills shared memory. */
static void make_room(const Machine *m, const Node *dot, TileChoice *c)
{
    const int64_t a = dtype_bits(dot->arg[0]->type), b = dtype_bits(dot->arg[1]->type);

    while (m->shared_block &&
           (c->m * a + c->n * b) * c->k / 8 * MAX(1, c->stages) > m->shared_block) {
        if (c->stages > 1)
            c->stages--;
        else if (c->n >= 32 && c->n >= c->m)
            c->n = c->n / 32 * 16;
        else if (c->m >= 32)
            c->m = c->m / 32 * 16;
        else
            return;
    }
}

static void plan_product(Graph *g, const Group *k, Product *p)
{
    Node *const *arg = p->dot->arg;
    Windows w;
    p->c = choose(g, p->dot);
    if (k->pair) /* as many registers for both */
        p->c.n = MAX(16, p->c.n / 16 * 8);
    p->c.n = whole_columns(g, p->dot, p->c.n, p->c.k);
    if (is_computed(g, arg[1])) /* beside what it is packed into, near a core */
        while (p->c.k * p->c.n > WINDOW_TILE && p->c.k >= 2 * DEPTH_LEAST)
            p->c.k = (p->c.k / 2 + 15) / 16 * 16;
    for (int i = 0; i < 2 && machine_has(g->machine, HAS_THREADS); i++)
        if (match_windows(arg[i], &w) && w.taps_first == (i == 1))
            p->c.k = channels_of_tile(&w, p->c.k);
    make_room(g->machine, p->dot, &p->c);
    p->k0 = arena_printf(g->arena, "k * %lld", (long long)p->c.k);
    place_product(g, k, p);
}

static Operand left_operand(Graph *g, const Group *k, const Product *p)
{
    Node *a = p->dot->arg[0];
    const int64_t K = a->shape[2];
    const char *kj = arena_printf(g->arena, "%s + j", p->k0);
    Operand t = {.node = a, .name = "A", .type = a->type, .rows = p->c.m, .columns = p->c.k,
                 .row = p->mi, .column = lin_var(g, kj, 0, K - 1), .row_base = p->m0,
                 .column_base = p->k0, .row_tile = "by", .column_tile = "k"};
    t.guard = guard_both(g, p->gm, axis_guard(g, kj, K, p->c.k));
    operand_plan(g, k, &t, (const Lin *[]){p->z, p->mi, t.column});
    return t;
}

static Operand right_operand(Graph *g, const Group *k, const Product *p, Node *b, const char *name)
{
    const int64_t K = b->shape[1];
    const char *ki = arena_printf(g->arena, "%s + i", p->k0);
    Operand t = {.node = b, .name = name, .type = b->type, .rows = p->c.k, .columns = p->c.n,
                 .row = lin_var(g, ki, 0, K - 1), .column = p->nj, .along = p->along,
                 .row_base = p->k0, .column_base = p->n0, .along_base = p->along0,
                 .row_tile = "k", .column_tile = "bx"};
    t.guard = guard_both(g, axis_guard(g, ki, K, p->c.k), p->gn);
    operand_plan(g, k, &t, (const Lin *[]){p->z, t.row, p->nj});
    return t;
}

static void open_product(Graph *g, const Product *p, Str *out)
{
    const int64_t M = p->dot->shape[1], N = p->dot->shape[2];
    const long long nx = ceil_div(N, p->c.n), ny = ceil_div(M, p->c.m);
    /* Few tiles of rows by many of columns: those that share columns run side by side. */
    const bool rows_first = machine_has(g->machine, HAS_THREADS) && ny > 1 && ny * 8 <= nx;
    const char *tx = extent_blocks(g, N, p->c.n), *ty = extent_blocks(g, M, p->c.m);
    str_printf(out, "    with T.Kernel(%s, %s, %s, threads=%d) as (%s, bz):\n",
               rows_first ? ty : tx, rows_first ? tx : ty, extent_text(g, p->dot->shape[0]),
               p->c.threads, rows_first ? "by, bx" : "bx, by");
}

void tiles_dot(Graph *g, Group *k, Str *out)
{
    Product p = {.dot = k->anchor};
    int names = 0;
    plan_product(g, k, &p);
    const DType acc = store_of(g, k, &p).type;
    Operand ta = left_operand(g, k, &p), tb = right_operand(g, k, &p, p.dot->arg[1], "B"), second;
    if (k->pair)
        second = right_operand(g, k, &p, k->pair->arg[1], "B2");
    open_product(g, &p, out);
    operand_alloc(&ta, out);
    alloc_product(&tb, "acc", acc, p.c.m, out);
    if (k->pair)
        alloc_product(&second, "acc2", acc, p.c.m, out);
    str_printf(out, "        for k in T.Pipelined(%s, num_stages=%d):\n",
               extent_blocks(g, p.dot->arg[0]->shape[2], p.c.k), MAX(p.c.stages, 0));
    operand_load(g, k, &ta, out, 3, &names);
    operand_load(g, k, &tb, out, 3, &names);
    if (k->pair)
        operand_load(g, k, &second, out, 3, &names);
    print_gemm(&ta, &tb, "acc", out);
    if (k->pair)
        print_gemm(&ta, &second, "acc2", out);
    const StoreTile to = store_of(g, k, &p);
    store_tile(g, k, out, &to, "acc[i, j]", &names);
}
