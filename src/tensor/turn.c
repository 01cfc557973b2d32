/* turn.c -- layout changes after which another axis is innermost: tiles turned on the chip, so that
 * both what is read and what is stored are rows of memory. */
#include "tensor/rows.h"

#include "tensor/dots.h"

enum { TILE = 64, LEAST = 16 };

typedef struct { /* axes that stay neighbours are one */
    const Node *to;
    Node *from;
    int rank, axis[TENSOR_RANK];       /* of `to`: the axis of `from` it is */
    int64_t to_shape[TENSOR_RANK], from_shape[TENSOR_RANK];
    int64_t rows, columns;             /* of the tile that is read */
    const Lin *at[TENSOR_RANK];        /* of `from` */
} Turn;

static void join_axes(Turn *t)
{
    int first[TENSOR_RANK];
    const Node *n = t->to;
    for (int d = 0; d < n->rank; d++) {
        if (d && n->attr[d] == n->attr[d - 1] + 1) {
            t->to_shape[t->rank - 1] *= n->shape[d];
            continue;
        }
        first[t->rank] = (int)n->attr[d];
        t->to_shape[t->rank++] = n->shape[d];
    }
    for (int i = 0; i < t->rank; i++) {
        t->axis[i] = 0;
        for (int j = 0; j < t->rank; j++)
            t->axis[i] += first[j] < first[i];
        t->from_shape[t->axis[i]] = t->to_shape[i];
    }
}

static bool find_turn(const Graph *g, const Group *k, Turn *t)
{
    *t = (Turn){.to = k->outputs.at[0]};
    const int bits = dtype_bits(t->to->type);
    if (!machine_has(g->machine, HAS_THREADS) || k->outputs.n != 1 ||
        t->to->kind != NODE_PERMUTE || (bits != 16 && bits != 32))
        return false;
    t->from = t->to->arg[0];
    join_axes(t);
    const int64_t columns = extent_usual(g, t->from_shape[t->rank - 1]),
                  rows = extent_usual(g, t->to_shape[t->rank - 1]);
    if (t->axis[t->rank - 1] == t->rank - 1 || columns < LEAST || rows < LEAST)
        return false;
    t->rows = t->columns = TILE;
    while (t->columns > LEAST && node_count(t->to) < t->rows * t->columns * graph_units(g))
        t->rows = t->columns /= 2;
    const int64_t room = g->machine->shared_block; /* for what is read and what is stored */
    while (room && t->columns > LEAST && 2 * t->rows * t->columns * bits / 8 > room)
        t->rows = t->columns /= 2;
    while (t->rows > LEAST && t->rows / 2 >= rows)
        t->rows /= 2;
    while (t->columns > LEAST && t->columns / 2 >= columns)
        t->columns /= 2;
    return true;
}

/* "[b, by * 64, bx * 64]": rows of the tile read are the last axis of what is stored. */
static const char *tile_text(Graph *g, const Turn *t, bool to)
{
    const int last = t->rank - 1, row = t->axis[last];
    Str s;
    str_init(&s, g->arena);
    str_puts(&s, "[");
    for (int d = 0; d < t->rank; d++) {
        const int axis = to ? t->axis[d] : d;
        str_printf(&s, "%s%s", d ? ", " : "",
                   axis == row    ? arena_printf(g->arena, "by * %lld", (long long)t->rows)
                   : axis == last ? arena_printf(g->arena, "bx * %lld", (long long)t->columns)
                                  : lin_text(g, t->at[axis]));
    }
    str_puts(&s, "]");
    return s.s;
}

/* The grid: tiles along both axes, and what is left in the order of what is read. */
static void open_turn(Graph *g, Turn *t, Str *out)
{
    const int last = t->rank - 1, row = t->axis[last];
    int64_t batch = 1;
    for (int d = 0; d < t->rank; d++)
        batch *= d == row || d == last ? 1 : t->from_shape[d];
    const Lin *left = lin_var(g, "bz", 0, batch - 1);
    for (int d = last - 1; d >= 0; d--) {
        if (d == row)
            continue;
        t->at[d] = lin_mod(g, left, t->from_shape[d]);
        left = lin_div(g, left, t->from_shape[d]);
    }
    t->at[row] = lin_var(g, arena_printf(g->arena, "by * %lld + i", (long long)t->rows), 0,
                         t->from_shape[row] - 1);
    t->at[last] = lin_var(g, arena_printf(g->arena, "bx * %lld + j", (long long)t->columns), 0,
                          t->from_shape[last] - 1);
    str_printf(out, "    with T.Kernel(%s, %s, %s, threads=%d) as (bx, by, bz):\n",
               extent_blocks(g, t->from_shape[last], t->columns),
               extent_blocks(g, t->from_shape[row], t->rows), extent_text(g, batch),
               tile_threads(g, t->rows * t->columns / 8));
}

/* A tile of what is read: copied, or computed of what is stored. */
static void load_tile(Graph *g, const Group *k, const Turn *t, Str *out)
{
    const int last = t->rank - 1, row = t->axis[last];
    Node *n = t->from;
    const Lin *at[TENSOR_RANK];
    int names = 0;
    Body b;
    while (!n->stored && n->kind == NODE_RESHAPE)
        n = n->arg[0];
    body_open(&b, g, out, 2, &names);
    b.group = k;
    if (n->stored && n->group != k) { /* by way of registers: whole vectors, whatever A's layout */
        body_line(&b, "V = T.alloc_fragment((%lld, %lld), \"%s\")", (long long)t->rows,
                  (long long)t->columns, dtype_name(n->type));
        body_line(&b, "T.copy(%s%s, V)", view_name(g, n, t->rank, t->from_shape),
                  tile_text(g, t, false));
        body_line(&b, "T.copy(V, A)");
        return;
    }
    Node flat = {.kind = NODE_RESHAPE, .rank = t->rank, .arg = {t->from}};
    memcpy(flat.shape, t->from_shape, sizeof flat.shape);
    operand_index(g, &flat, 0, t->at, at, NULL);
    body_line(&b, "for i, j in T.Parallel(%lld, %lld):", (long long)t->rows,
              (long long)t->columns);
    b.indent++;
    const char *guard = guard_both(
        g, axis_guard(g, arena_printf(g->arena, "by * %lld + i", (long long)t->rows),
                      t->from_shape[row], t->rows),
        axis_guard(g, arena_printf(g->arena, "bx * %lld + j", (long long)t->columns),
                   t->from_shape[last], t->columns));
    if (guard) {
        body_line(&b, "if %s:", guard);
        b.indent++;
    }
    body_store(&b, t->from, "A[i, j]", t->from, at);
    if (!guard)
        return;
    b.indent--;
    body_line(&b, "else:");
    b.indent++;
    body_line(&b, "A[i, j] = %s", number_text(g, t->from->type, 0));
}

bool tiles_turn(Graph *g, const Group *k, Str *out)
{
    Turn t;
    if (!find_turn(g, k, &t))
        return false;
    const char *type = dtype_name(t.to->type);
    open_turn(g, &t, out);
    for (int i = 0; i < 2; i++)
        str_printf(out, "        %s = T.alloc_shared((%lld, %lld), \"%s\")\n", i ? "B" : "A",
                   (long long)(i ? t.columns : t.rows), (long long)(i ? t.rows : t.columns), type);
    load_tile(g, k, &t, out);
    str_printf(out, "        T.transpose(A, B)\n        T.copy(B, %s%s)\n",
               view_name(g, t.to, t.rank, t.to_shape), tile_text(g, &t, true));
    return true;
}
