/* tiles.c -- groups as kernels of the developer level: the text that prog.tiles() shows.
 *
 * Elementwise kernels and rows.  A block takes the innermost axes whole as far as they fit, a part
 * of one, and one position of each of the others; those come from the block's number. */
#include "tensor/rows.h"

/* ---- the tile of a block --------------------------------------------------------------------- */

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static bool on_gpu(const Graph *g)
{
    return machine_has(g->machine, HAS_THREADS);
}

int tile_threads(const Graph *g, int64_t elements)
{
    int n = 256;
    while (n > 32 && n > elements)
        n /= 2;
    return on_gpu(g) ? n : 1;
}

/* Elements of a block: some for each thread of a GPU, the tasks of a few cores else. */
static int64_t block_elements(const Graph *g, int64_t total)
{
    if (on_gpu(g))
        return total < 1 << 18 ? 512 : 2048;
    int64_t each = ceil_div(total, graph_units(g) * 4);
    return MAX(1024, MIN(each, 1 << 16));
}

/* Each axis at "b + i"; b from the number of the block.  Lines for those go to `head`. */
void space_open(Space *s, Graph *g, Str *out, int rank, const int64_t *shape, const int64_t *tile)
{
    int64_t blocks = 1;
    const char *text = "1";
    static const char *const loop[] = {"i", "j", "k", "l", "i4", "i5", "i6", "i7"};
    *s = (Space){.rank = rank};
    for (int d = rank - 1; d >= 0; d--) {
        int64_t n = ceil_div(shape[d], tile[d]);
        s->tile[d] = tile[d];
        s->per[d] = n;
        s->after[d] = blocks;
        s->per_text[d] = extent_blocks(g, shape[d], tile[d]);
        s->after_text[d] = text;
        text = blocks == 1 ? s->per_text[d]
               : n == 1    ? text
               : extent_is_open(g, shape[d]) || strspn(text, "0123456789") != strlen(text)
                   ? arena_printf(g->arena, "%s * %s", s->per_text[d], text)
                   : arena_printf(g->arena, "%lld", (long long)(blocks * n));
        blocks *= n;
    }
    s->blocks = blocks;
    s->blocks_text = text;
    for (int d = 0, v = 0; d < rank; d++) {
        if (tile[d] > 1)
            s->var[d] = loop[v++];
        s->base[d] = s->per[d] > 1 ? arena_printf(g->arena, "b%d", d) : NULL;
        text = s->base[d] && s->var[d]
                   ? arena_printf(g->arena, "%s + %s", s->base[d], s->var[d])
               : s->base[d] ? s->base[d] : s->var[d];
        s->at[d] = text ? lin_var(g, text, 0, shape[d] - 1) : lin_const(g, 0);
        if (s->base[d] && !extent_divides(g, tile[d], shape[d]))
            s->guard = arena_printf(g->arena, "%s%s(%s < %s)", s->guard ? s->guard : "",
                                    s->guard ? " & " : "", text, extent_text(g, shape[d]));
    }
    (void)out;
}

void space_bases(const Space *s, Str *out)
{
    for (int d = 0; d < s->rank; d++) {
        if (!s->base[d])
            continue;
        str_printf(out, "        %s = bx", s->base[d]);
        if (s->after[d] > 1)
            str_printf(out, strchr(s->after_text[d], '*') ? " // (%s)" : " // %s",
                       s->after_text[d]);
        if (s->after[d] * s->per[d] < s->blocks)
            str_printf(out, strchr(s->per_text[d], '*') ? " %% (%s)" : " %% %s", s->per_text[d]);
        if (s->tile[d] > 1)
            str_printf(out, " * %lld", (long long)s->tile[d]);
        str_putc(out, '\n');
    }
}

/* for i, j in T.Parallel(a, b): over the axes that are chosen; the guard below it. */
static void space_loop(const Space *s, Body *b, const bool *which, const char *guard)
{
    Str vars, ext;
    int n = 0;
    str_init(&vars, b->g->arena);
    str_init(&ext, b->g->arena);
    for (int d = 0; d < s->rank; d++)
        if (s->var[d] && (!which || which[d])) {
            str_printf(&vars, "%s%s", n ? ", " : "", s->var[d]);
            str_printf(&ext, "%s%lld", n++ ? ", " : "", (long long)s->tile[d]);
        }
    body_line(b, "for %s in T.Parallel(%s):", n ? vars.s : "i", n ? ext.s : "1");
    b->indent++;
    if (guard) {
        body_line(b, "if %s:", guard);
        b->indent++;
    }
}

void kernel_head(Str *out, const char *blocks, int threads)
{
    str_printf(out, "    with T.Kernel(%s, threads=%d) as bx:\n", blocks, threads);
}

/* ---- elementwise ----------------------------------------------------------------------------- */

static void map_tile(const Graph *g, const Node *n, int64_t *tile)
{
    int64_t left = block_elements(g, node_count(n));
    for (int d = n->rank - 1; d >= 0; d--) {
        tile[d] = MAX(1, n->shape[d]);
        if (n->shape[d] > left) {
            tile[d] = 1;
            while (tile[d] * 2 <= left)
                tile[d] *= 2;
            left = 1;
            continue;
        }
        left /= MAX(1, n->shape[d]);
    }
}

enum { PARTS_MOST = 5, VECTOR = 8 };

/* Threads take vectors of a part. */
static bool parts_are_wide(const int64_t *start, int parts, int64_t end)
{
    bool wide = true;
    for (int p = 0; p < parts; p++) {
        int64_t n = (p + 1 < parts ? start[p + 1] : end) - start[p];
        wide = wide && n % VECTOR == 0 && n >= 4 * VECTOR;
    }
    return wide;
}

/* The innermost axis in parts in each of which the conditions of padding and concatenation are
 * known, so that loops over them have none: starts of the parts.  One where an axis is not whole in
 * a block, or where threads would take single elements. */
static int part_axis(Graph *g, Group *k, const Space *s, Node *const *what, int n, int64_t *start)
{
    const int last = s->rank - 1;
    Breaks b = {0};
    int parts = 1;
    start[0] = 0;
    if (last < 0 || !s->var[last] || s->base[last])
        return 1;
    for (int i = 0; i < n; i++)
        find_breaks(g, k, what[i], s->at, s->at[last], &b);
    for (int64_t at = 1; at < s->tile[last]; at++) {
        bool is = false;
        for (int i = 0; i < b.n; i++)
            is = is || b.at[i] == at;
        if (is && parts == PARTS_MOST)
            return 1;
        if (is)
            start[parts++] = at;
    }
    return on_gpu(g) && !parts_are_wide(start, parts, s->tile[last]) ? 1 : parts;
}

/* From `start`, so many of the innermost axis. */
static Space part_of(Graph *g, const Space *s, int64_t start, int64_t n)
{
    Space p = *s;
    const int last = s->rank - 1;
    if (last < 0 || n == s->tile[last])
        return p;
    p.tile[last] = n;
    p.at[last] = lin_add(g, lin_var(g, p.var[last], 0, n - 1), lin_const(g, start));
    return p;
}

/* Nodes of one space, each to its own buffer, or to `to`. */
static void tiles_store(Graph *g, const Node *space, Str *out, Group *k, Node *const *what, int n,
                        const char *to)
{
    int64_t tile[TENSOR_RANK], per = 1;
    Space s;
    int names = 0;
    int64_t start[PARTS_MOST + 1];
    map_tile(g, space, tile);
    for (int d = 0; d < space->rank; d++)
        per *= tile[d];
    space_open(&s, g, out, space->rank, space->shape, tile);
    const int parts = part_axis(g, k, &s, what, n, start);
    kernel_head(out, s.blocks_text, tile_threads(g, parts > 1 ? per / VECTOR / parts : per));
    space_bases(&s, out);
    start[parts] = space->rank ? tile[space->rank - 1] : 1;
    for (int p = 0; p < parts; p++) {
        Space part = part_of(g, &s, start[p], start[p + 1] - start[p]);
        Body b;
        body_open(&b, g, out, 2, &names);
        b.group = k;
        space_loop(&part, &b, NULL, s.guard);
        b.moved = n == 1 && is_moved(what[0], k);
        for (int i = 0; i < n; i++)
            body_store(&b, what[i],
                       place_text(g, to ? to : what[i]->buffer, what[i]->rank, part.at), what[i],
                       part.at);
    }
}

static void tiles_map(Graph *g, Group *k, Str *out)
{
    if (!tiles_turn(g, k, out))
        tiles_store(g, k->space, out, k, k->outputs.at, k->outputs.n, NULL);
}

/* The tensor is copied, then single elements of it are set or added to. */
static void tiles_scatter(Graph *g, Group *k, Str *out)
{
    Node *n = k->anchor, *v = n->arg[2], *where = n->arg[1];
    const int axis = (int)n->attr[0];
    const Lin *at[TENSOR_RANK];
    int64_t tile[TENSOR_RANK], per = 1;
    Space s;
    Body b;
    int names = 0;
    tiles_store(g, n, out, k, &n->arg[0], 1, n->buffer);
    map_tile(g, v, tile);
    for (int d = 0; d < v->rank; d++)
        per *= tile[d];
    space_open(&s, g, out, v->rank, v->shape, tile);
    kernel_head(out, s.blocks_text, tile_threads(g, per));
    space_bases(&s, out);
    body_open(&b, g, out, 2, &names);
    b.group = k;
    space_loop(&s, &b, NULL, s.guard);
    for (int d = 0; d < n->rank; d++)
        at[d] = d < axis ? s.at[d] : d > axis ? s.at[d - 1 + where->rank] : NULL;
    at[axis] = body_position(&b, where, s.at + axis, n->shape[axis]);
    const char *place = place_text(g, n->buffer, n->rank, at), *value = body_value(&b, v, s.at);
    if (compute_type(v->type) != n->type)
        value = arena_printf(g->arena, "T.cast(%s, \"%s\")", value, dtype_name(n->type));
    body_line(&b, n->attr[1] ? "T.atomic_add(%s, %s)" : "%s = %s", place, value);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Names that the text itself uses: a letter with or without a number, and a few words. */
static bool own_name(const char *name)
{
    static const char *const words[] = {"bx",   "by",  "bz",     "qb",    "acc",  "acc2", "carry",
                                        "T", "top", "before", "scale", "part", "total",
                                        "mine", "right", "other", "place", "key"};
    bool own = strspn(name + 1, "0123456789") == strlen(name + 1) &&
               (name[1] || strchr("ABCKPQSVcijklmnpqs", name[0]));
    for (int i = 0; i < COUNT(words); i++)
        own = own || !strcmp(name, words[i]);
    return own;
}

static bool taken_name(const Graph *g, const char *name)
{
    bool taken = false;
    for (int i = 0; i < g->nodes.n; i++)
        taken = taken || (g->nodes.at[i]->buffer && !strcmp(g->nodes.at[i]->buffer, name));
    return taken;
}

const char *fresh_name(Graph *g, const char *stem, int i)
{
    const char *name = i < 0 ? stem : arena_printf(g->arena, "%s%d", stem, i);
    while (taken_name(g, name))
        name = arena_printf(g->arena, "%s_", name);
    return name;
}

/* ---- memory of temporaries ------------------------------------------------------------------- */

static void mark_reads(const Group *k, const Node *n, int *last, Map *seen)
{
    if (map_has(seen, n))
        return;
    map_set(seen, n, n);
    if (group_loads(k, n)) {
        last[n->id] = MAX(last[n->id], k->order);
        return;
    }
    for (int i = 0; i < n->narg; i++)
        mark_reads(k, n->arg[i], last, seen);
}

/* By id: the last kernel that reads a node. */
static int *last_reads(Graph *g)
{
    int *last = NEWN(g->arena, int, g->nodes.n + 1);
    for (int i = 0; i < g->groups.n; i++) {
        const Group *k = g->groups.at[i];
        Map seen;
        map_init(&seen, g->arena);
        for (int j = 0; j < k->outputs.n; j++)
            mark_reads(k, k->outputs.at[j], last, &seen);
        for (int j = 0; j < k->reductions.n; j++)
            mark_reads(k, k->reductions.at[j], last, &seen);
    }
    return last;
}

/* A temporary that nobody reads any more lends its memory to the next one of its size. */
static const Node *take_over(const Node *n, const NodeVec *made, int *last)
{
    for (int i = 0; i < made->n; i++) {
        const Node *old = made->at[i];
        if (last[old->id] >= 0 && last[old->id] < n->group->order && old->type == n->type &&
            node_count(old) == node_count(n)) {
            last[old->id] = -1;
            return old;
        }
    }
    return NULL;
}

static void name_temporaries(Graph *g)
{
    int *last = last_reads(g), n = 0;
    NodeVec made = {0};
    for (int i = 0; i < g->groups.n; i++)
        for (int j = 0; j < g->groups.at[i]->outputs.n; j++) {
            Node *m = g->groups.at[i]->outputs.at[j];
            if (m->is_output)
                continue;
            m->lender = take_over(m, &made, last);
            m->buffer = fresh_name(g, "t", n++);
            last[m->id] = MAX(last[m->id], m->group->order);
            vec_push(g->arena, &made, m);
        }
}

static void name_buffers(Graph *g)
{
    for (int i = 0; i < g->inputs.n; i++) {
        const char *name = g->inputs.at[i]->name;
        g->inputs.at[i]->buffer = NULL;
        g->inputs.at[i]->buffer =
            own_name(name) ? fresh_name(g, arena_printf(g->arena, "%s_in", name), -1) : name;
    }
    for (int i = 0; i < g->outputs.n; i++)
        g->outputs.at[i]->buffer = fresh_name(g, "out", g->outputs.n == 1 ? -1 : i);
    name_temporaries(g);
}

/* Names of open extents in the text: none that it has already. */
static void name_extents(Graph *g)
{
    for (int i = 0; i < g->nopen; i++) {
        OpenExtent *e = &g->open[i];
        e->variable = own_name(e->name) ? arena_printf(g->arena, "%s_extent", e->name) : e->name;
        e->variable = fresh_name(g, e->variable, -1);
    }
}

static void print_extents(const Graph *g, Str *out)
{
    for (int i = 0; i < g->nopen; i++)
        str_printf(out, "%s = T.dynamic(\"%s\")\n%s", g->open[i].variable, g->open[i].name,
                   i + 1 < g->nopen ? "" : "\n\n");
}

static void print_params(Graph *g, Str *out)
{
    bool first = true;
    for (int pass = 0; pass < 2; pass++) {
        const NodeVec *v = pass ? &g->outputs : &g->inputs;
        for (int i = 0; i < v->n; i++) {
            str_printf(out, "%s\n    %s: T.Tensor(%s, \"%s\")", first ? "" : ",", v->at[i]->buffer,
                       shape_text(g, v->at[i]->rank, v->at[i]->shape),
                       dtype_name(v->at[i]->type));
            first = false;
        }
    }
}

static void print_temporary(Graph *g, const Node *n, Str *out)
{
    const char *shape = shape_text(g, n->rank, n->shape);
    if (node_count(n) == 0) /* nobody reads it: what would has no elements either */
        return;
    if (n->lender)
        str_printf(out, "    %s = T.reshape(%s, %s)\n", n->buffer, n->lender->buffer, shape);
    else if (!n->is_output)
        str_printf(out, "    %s = T.alloc_global(%s, \"%s\")\n", n->buffer, shape,
                   dtype_name(n->type));
}

static void print_temporaries(Graph *g, Str *out)
{
    for (int i = 0; i < g->groups.n; i++)
        for (int j = 0; j < g->groups.at[i]->outputs.n; j++)
            print_temporary(g, g->groups.at[i]->outputs.at[j], out);
}

static void print_group(Graph *g, Group *k, Str *out)
{
    static void (*const print[])(Graph *, Group *, Str *) = {
        [GROUP_MAP] = tiles_map, [GROUP_ROW] = tiles_row, [GROUP_DOT] = tiles_dot,
        [GROUP_ATTENTION] = tiles_attention, [GROUP_BACK] = tiles_back, [GROUP_SCAN] = tiles_scan,
        [GROUP_SCATTER] = tiles_scatter, [GROUP_SORT] = tiles_sort,
    };
    bool some = false;
    for (int i = 0; i < k->outputs.n; i++)
        some = some || node_count(k->outputs.at[i]) > 0;
    if (some)
        print[k->kind](g, k, out);
}

/* One kernel that reads every element where it stores the one result, and before that. */
static bool is_in_place(const Graph *g)
{
    bool ok = g->groups.n == 1 && g->groups.at[0]->kind == GROUP_MAP && g->outputs.n == 1 &&
              !on_gpu(g);
    for (int i = 0; i < g->nodes.n && ok; i++) {
        const Node *n = g->nodes.at[i];
        ok = !n->live || n->kind <= NODE_CAST || n->kind == NODE_BROADCAST;
    }
    return ok;
}

const char *graph_tiles(Graph *g)
{
    Str out, kernels;
    str_init(&out, g->arena);
    str_init(&kernels, g->arena);
    str_init(&g->view_lines, g->arena);
    map_init_text(&g->views, g->arena);
    graph_fuse(g);
    name_buffers(g);
    name_extents(g);
    str_puts(&out, "import tilelang.language as T\n\n\n");
    print_extents(g, &out);
    str_puts(&out, "@T.prim_func\n");
    str_printf(&out, "def %s(", g->name);
    print_params(g, &out);
    str_puts(&out, "\n):\n");
    print_temporaries(g, &out);
    for (int i = 0; i < g->groups.n; i++)
        print_group(g, g->groups.at[i], &kernels);
    if (!kernels.n) /* outputs of no elements */
        str_puts(&kernels, "    with T.Kernel(1, threads=1) as bx:\n        pass\n");
    str_puts(&out, g->view_lines.s);
    str_puts(&out, kernels.s);
    g->text = out.s;
    g->explain = graph_explain(g);
    g->in_place = is_in_place(g);
    return out.s;
}
