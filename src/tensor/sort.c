/* sort.c -- the order of rows as kernels: runs that are merged by search.
 *
 * Elements become integers of the same order (NaN above all numbers, -0 as 0, all complemented for
 * descending).  Of two sorted runs side by side an element goes to its own place plus the number of
 * elements of the other run that come before it, which halving finds: all elements at once, no
 * exchange with others.  Of equal ones those of the left run come first, so the order is stable.
 * Runs of a chunk are merged in shared memory, those of several chunks in memory, a kernel each:
 * n log n^2 steps.  What fills up the last chunk is above all and came last. */
#include "tensor/rows.h"

enum { CHUNK_CPU = 4096, CHUNK_GPU = 2048, CHUNK_LEAST = 16, MERGE_TILE = 2048 };

typedef struct {
    Graph *g;
    Group *k;
    Str *out;
    Node *n;
    DType key;
    int64_t rows, N, chunk, all; /* elements of a row; of a chunk; of all chunks of a row */
    int names;
} Sort;

static bool on_gpu(const Graph *g)
{
    return machine_has(g->machine, HAS_THREADS);
}

static DType key_type(DType t)
{
    return dtype_bits(t) == 64 || t == DT_U32 ? DT_I64 : DT_I32;
}

static const char *most(Graph *g, DType key)
{
    return key == DT_I64 ? "T.cast(9223372036854775807, \"int64\")"
                         : number_text(g, DT_I32, 2147483647);
}

/* The integer that an element is compared as. */
static const char *key_text(Sort *s, Body *b, const char *v)
{
    Graph *g = s->g;
    const DType t = compute_type(s->n->arg[0]->type);
    const char *type = dtype_name(s->key), *max = most(g, s->key);
    const char *name = arena_printf(g->arena, "v%d", s->names++), *bits;
    body_line(b, "%s = %s", name, v);
    if (dtype_is_float(t)) {
        bits = arena_printf(g->arena, "v%d", s->names++);
        body_line(b, "%s = T.reinterpret(%s, \"%s\")", bits, name, type);
        v = arena_printf(g->arena, "T.if_then_else(%s != %s, %s, T.if_then_else(%s == 0, %s, "
                         "%s ^ ((%s >> %d) & %s)))", name, name, max, name,
                         number_text(g, s->key, 0), bits, bits, dtype_bits(s->key) - 1, max);
    } else if (t == DT_U64) {
        v = arena_printf(g->arena, "T.reinterpret(%s ^ %s, \"int64\")", name,
                         number_text(g, DT_U64, 9223372036854775808.0));
    } else {
        v = arena_printf(g->arena, "T.cast(%s, \"%s\")", name, type);
    }
    if (!s->n->attr[1])
        return v;
    name = arena_printf(g->arena, "v%d", s->names++);
    body_line(b, "%s = %s", name, v);
    return arena_printf(g->arena, "~%s", name);
}

/* ---- a merge --------------------------------------------------------------------------------- */

typedef struct {
    const char *keys, *at, *to_keys, *to_at; /* "K0[", "t0_at0[b0, "; to_keys NULL: not any more */
    const char *i;                           /* the element */
    int64_t tile;                            /* of a block */
    int64_t run, all;                        /* elements of a run, and of all */
    bool ends;                               /* the other run may not be whole, or not there */
    int64_t keep;                            /* places that are stored */
} Merge;

/* Opens a loop over elements: the element, whether its run is the right one of two, and where the
 * other one begins. */
static Body open_merge(Sort *s, int indent, const Merge *m)
{
    const long long run = m->run, two = 2 * m->run;
    Body b;
    body_open(&b, s->g, s->out, indent, &s->names);
    body_line(&b, "for i in T.Parallel(%lld):", (long long)m->tile);
    b.indent++;
    body_line(&b, "mine = %s%s]", m->keys, m->i);
    body_line(&b, "right = (%s) %% %lld >= %lld", m->i, two, run);
    body_line(&b, "other = (%s) // %lld * %lld + T.if_then_else(right, 0, %lld) + N0[i]", m->i,
              two, two, run);
    return b;
}

/* Are so many more of the other run before it?  Looked at is the last of them. */
static const char *comes_before(Sort *s, Body *b, const Merge *m, const char *at)
{
    Graph *g = s->g;
    const char *place = m->ends ? arena_printf(g->arena, "T.min(%s, %lld)", at,
                                               (long long)m->all - 1) : at;
    body_line(b, "key = %s%s]", m->keys, place);
    const char *is = "(key < mine) | (right & (key == mine))";
    return m->ends ? arena_printf(g->arena, "(%s < %lld) & (%s)", at, (long long)m->all, is) : is;
}

/* Each element to its place in both runs; N0: how many of the other run come before it. */
static void print_merge(Sort *s, const Merge *m)
{
    const long long run = m->run, two = 2 * m->run;
    int steps = 0;
    while (m->run >> (steps + 1))
        steps++;
    str_puts(s->out, "        T.fill(N0, 0)\n");
    if (steps) { /* runs of 1 have the last step alone */
        str_printf(s->out, "        for s in T.serial(%d):\n", steps);
        Body b = open_merge(s, 3, m);
        body_line(&b, "by = %lld >> s", run / 2);
        const char *is = comes_before(s, &b, m, "other + by - 1");
        body_line(&b, "N0[i] = N0[i] + T.if_then_else(%s, by, 0)", is);
    }
    Body b = open_merge(s, 2, m);
    const char *is = comes_before(s, &b, m, "other");
    body_line(&b, "place = (%s) // %lld * %lld + (%s) %% %lld + N0[i] + T.if_then_else(%s, 1, 0)",
              m->i, two, two, m->i, run, is);
    if (m->keep < m->all) {
        body_line(&b, "if place < %lld:", (long long)m->keep);
        b.indent++;
    }
    if (m->to_keys)
        body_line(&b, "%splace] = mine", m->to_keys);
    body_line(&b, "%splace] = %s%s]", m->to_at, m->at, m->i);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static const char *blocks_text(Sort *s, int64_t per_row)
{
    return per_row == 1 ? extent_text(s->g, s->rows)
           : extent_is_open(s->g, s->rows)
               ? arena_printf(s->g->arena, "%s * %lld", extent_factor(s->g, s->rows),
                              (long long)per_row)
               : arena_printf(s->g->arena, "%lld", (long long)(s->rows * per_row));
}

/* b0: the row of a block; b1: where its part begins. */
static void print_bases(Sort *s, int64_t per_row, int64_t tile)
{
    if (per_row == 1) {
        str_puts(s->out, "        b0 = bx\n");
        return;
    }
    str_printf(s->out, "        b0 = bx // %lld\n        b1 = bx %% %lld * %lld\n",
               (long long)per_row, (long long)per_row, (long long)tile);
}

static void alloc_counts(Sort *s, int64_t tile)
{
    str_printf(s->out, "        N0 = T.alloc_fragment((%lld,), \"int32\")\n", (long long)tile);
}

static void print_load(Sort *s)
{
    Graph *g = s->g;
    Body b;
    const bool many = s->all > s->chunk;
    const char *place = many ? "b1 + i" : "i";
    const Lin *at[2] = {lin_var(g, "b0", 0, s->rows - 1), lin_var(g, place, 0, s->N - 1)};
    body_open(&b, g, s->out, 2, &s->names);
    b.group = s->k;
    body_line(&b, "for i in T.Parallel(%lld):", (long long)s->chunk);
    b.indent++;
    body_line(&b, "P0[i] = %s", place);
    const bool whole = s->all == s->N;
    if (!whole) {
        body_line(&b, "if %s < %lld:", place, (long long)s->N);
        b.indent++;
    }
    const char *key = key_text(s, &b, body_value(&b, s->n->arg[0], at));
    body_line(&b, "K0[i] = %s", key);
    if (!whole) {
        b.indent--;
        body_line(&b, "else:");
        b.indent++;
        body_line(&b, "K0[i] = %s", most(g, s->key));
    }
}

/* The last merge of a chunk stores; `to` is then where keys and positions go. */
static void print_chunks(Sort *s, const char *keys, const char *at)
{
    const int64_t per_row = s->all / s->chunk;
    kernel_head(s->out, blocks_text(s, per_row), tile_threads(s->g, s->chunk));
    print_bases(s, per_row, s->chunk);
    for (int i = 0; i < 2; i++)
        str_printf(s->out, "        K%d = T.alloc_shared((%lld,), \"%s\")\n        P%d = "
                   "T.alloc_shared((%lld,), \"int32\")\n", i, (long long)s->chunk,
                   dtype_name(s->key), i, (long long)s->chunk);
    alloc_counts(s, s->chunk);
    print_load(s);
    int from = 0;
    for (int64_t run = 1; run < s->chunk; run *= 2, from = !from) {
        Merge m = {.keys = from ? "K1[" : "K0[", .at = from ? "P1[" : "P0[",
                   .to_keys = from ? "K0[" : "K1[", .to_at = from ? "P0[" : "P1[", .i = "i",
                   .tile = s->chunk, .run = run, .all = s->chunk, .keep = s->chunk};
        print_merge(s, &m);
    }
    Body b;
    body_open(&b, s->g, s->out, 2, &s->names);
    body_line(&b, "for i in T.Parallel(%lld):", (long long)s->chunk);
    b.indent++;
    if (keys) {
        body_line(&b, "%s[b0, b1 + i] = K%d[i]", keys, from);
        body_line(&b, "%s[b0, b1 + i] = P%d[i]", at, from);
        return;
    }
    if (s->N < s->chunk) {
        body_line(&b, "if i < %lld:", (long long)s->N);
        b.indent++;
    }
    body_line(&b, "%s[b0, i] = P%d[i]", at, from);
}

/* Runs of `run` elements in memory, one kernel. */
static void print_pass(Sort *s, int64_t run, const char *const *keys, const char *const *at,
                       int from, bool last)
{
    Graph *g = s->g;
    const int64_t tile = MIN(MERGE_TILE, s->chunk), per_row = s->all / tile;
    Merge m = {.keys = arena_printf(g->arena, "%s[b0, ", keys[from]),
               .at = arena_printf(g->arena, "%s[b0, ", at[from]),
               .to_keys = last ? NULL : arena_printf(g->arena, "%s[b0, ", keys[!from]),
               .to_at = arena_printf(g->arena, "%s[b0, ", last ? s->n->buffer : at[!from]),
               .i = "b1 + i", .tile = tile, .run = run, .all = s->all,
               .ends = s->all % (2 * run) != 0, .keep = last ? s->N : s->all};
    kernel_head(s->out, blocks_text(s, per_row), tile_threads(g, tile));
    print_bases(s, per_row, tile);
    alloc_counts(s, tile);
    print_merge(s, &m);
}

static const char *temporary(Sort *s, const char *stem, int i, DType t)
{
    Graph *g = s->g;
    const char *name = arena_printf(g->arena, "%s_%s", s->n->buffer, stem);
    const int64_t shape[2] = {s->rows, s->all};
    name = fresh_name(g, name, i);
    str_printf(&g->view_lines, "    %s = T.alloc_global(%s, \"%s\")\n", name,
               shape_text(g, 2, shape), dtype_name(t));
    return name;
}

void tiles_sort(Graph *g, Group *k, Str *out)
{
    Node *n = k->anchor;
    Sort s = {.g = g, .k = k, .out = out, .n = n, .rows = n->shape[0], .N = n->shape[1],
              .key = key_type(n->arg[0]->type)};
    int64_t most_chunk = on_gpu(g) ? CHUNK_GPU : CHUNK_CPU;
    most_chunk /= s.key == DT_I64 ? 2 : 1;
    s.chunk = CHUNK_LEAST;
    while (s.chunk < s.N && s.chunk < most_chunk)
        s.chunk *= 2;
    s.all = (s.N + s.chunk - 1) / s.chunk * s.chunk;
    if (s.all == s.chunk) {
        print_chunks(&s, NULL, n->buffer);
        return;
    }
    const char *keys[2], *at[2];
    for (int i = 0; i < 2; i++) {
        keys[i] = temporary(&s, "keys", i, s.key);
        at[i] = temporary(&s, "at", i, DT_I32);
    }
    print_chunks(&s, keys[0], at[0]);
    int from = 0;
    for (int64_t run = s.chunk; run < s.all; run *= 2, from = !from)
        print_pass(&s, run, keys, at, from, run * 2 >= s.all);
}
