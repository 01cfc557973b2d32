/* rows.c -- reductions and scans as kernels: what is read of a row, and what follows from it.
 *
 * A block takes some rows.  For each phase of reductions the row is walked over once: its values,
 * combined element by element where it is longer than a tile, then the tile is reduced.  A row
 * that is one tile stays where it is for the phases that follow. */
#include "tensor/rows.h"

enum { OPEN_CHUNK = 512 }; /* of a row whose length is not known */

typedef struct {
    Graph *g;
    Group *k;
    Str *out;
    Space s;
    int along, across;     /* axes of the tile: reduced, and not (-1: all are reduced) */
    int first;             /* axes from here to `along` are walked over as one */
    int64_t bk, bm, chunks;
    const char *chunks_text;
    int threads;
    bool reduced[TENSOR_RANK];
    bool inner;            /* the reduced axis is the faster one */
    bool multi;            /* a row is more than one tile */
    const char *guard, *row_guard;
    int names;
    VEC(Leaf) leaves;
    Map inside;            /* nodes that the group computes */
    Place **place;         /* of nodes that are walked over as rows are */
    int *ready;            /* by id: the phase in which a node can be computed */
} Rows;

static bool on_gpu(const Graph *g)
{
    return machine_has(g->machine, HAS_THREADS);
}

static const char *both(Graph *g, const char *a, const char *b)
{
    return a && b ? arena_printf(g->arena, "%s & %s", a, b) : a ? a : b;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int64_t power_below(int64_t n)
{
    int64_t p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

static void choose_axes(Rows *r, const Node *space)
{
    r->along = r->across = -1;
    for (int d = 0; d < space->rank; d++) {
        int *axis = r->reduced[d] ? &r->along : &r->across;
        if (*axis < 0 || space->shape[d] > 1)
            *axis = d;
    }
    r->inner = r->along > r->across;
    r->first = r->along;
    while (on_gpu(r->g) && r->first > 0 && r->reduced[r->first - 1])
        r->first--;
}

/* Elements of the axes that are walked over as one. */
static int64_t along_count(const Rows *r, const Node *space)
{
    int64_t n = 1;
    for (int d = r->first; d <= r->along; d++)
        n *= space->shape[d];
    return n;
}

static bool is_serial(const Rows *r, const Node *space, int d)
{
    return r->reduced[d] && (d < r->first || d > r->along) && space->shape[d] > 1;
}

static void choose_tile(Rows *r, const Node *space, int tiles)
{
    const bool gpu = on_gpu(r->g);
    int64_t n = along_count(r, space), rows = r->across < 0 ? 1 : space->shape[r->across];
    int64_t total = 1, most = (gpu ? 16384 : 32768) / MAX(1, tiles);
    int64_t units = graph_units(r->g);
    bool apart = false; /* rows are walked over in parts, whose next is not the next row */
    for (int d = 0; d < space->rank; d++) {
        total *= r->reduced[d] || d == r->across ? 1 : space->shape[d];
        apart = apart || (r->reduced[d] && d > r->across && d < r->along && space->shape[d] > 1);
    }
    const bool open = extent_is_open(r->g, n);
    if (r->inner && apart && !gpu && !open) {
        r->bk = n;
        r->bm = 1;
    } else if (r->inner) {
        r->bk = n <= power_below(most) ? n : MIN(open ? OPEN_CHUNK : 2048, power_below(most));
        if (gpu && r->bk > 256 && r->bk % 256) /* each thread has as much: places are known */
            r->bk = 2 * power_below(r->bk);
        r->bm = MIN(rows, MAX(1, power_below(MAX(1, (gpu ? most / 4 : most) / r->bk))));
    } else {
        r->bm = MIN(rows, gpu ? 64 : 512);
        r->bk = MIN(n, gpu ? 32 : 8);
    }
    while (r->bm > (r->inner ? 1 : 32) && total * ((rows + r->bm - 1) / r->bm) < 2 * units)
        r->bm = (r->bm + 1) / 2;
    r->chunks = (n + r->bk - 1) / r->bk;
    r->chunks_text = extent_blocks(r->g, n, r->bk);
    r->threads = tile_threads(r->g, r->bm * r->bk / 2);
    const int64_t blocks = total * ((rows + r->bm - 1) / r->bm);
    if (gpu && r->inner && r->bm * r->bk >= 4096 && blocks < 4 * units)
        r->threads *= 2;
}

/* Positions on the axes that are walked over as one. */
static void place_along(Rows *r, const Node *space)
{
    Graph *g = r->g;
    const int64_t n = along_count(r, space);
    const char *text =
        r->chunks > 1 ? arena_printf(g->arena, "c * %lld + j", (long long)r->bk) : "j";
    const Lin *left = lin_var(g, text, 0, n - 1);
    for (int d = r->along; d > r->first; d--) {
        r->s.at[d] = lin_mod(g, left, space->shape[d]);
        left = lin_div(g, left, space->shape[d]);
    }
    r->s.at[r->first] = left;
    if (!extent_divides(g, r->bk, n))
        r->guard = arena_printf(g->arena, "(%s < %s)", text, extent_text(g, n));
}

static void rows_plan(Rows *r, const Node *space, int tiles)
{
    Graph *g = r->g;
    int64_t tile[TENSOR_RANK], shape[TENSOR_RANK];
    choose_axes(r, space);
    choose_tile(r, space, tiles);
    r->multi = r->chunks > 1;
    for (int d = 0; d < space->rank; d++) {
        shape[d] = r->reduced[d] ? 1 : space->shape[d];
        tile[d] = d == r->across ? r->bm : 1;
        r->multi = r->multi || is_serial(r, space, d);
    }
    space_open(&r->s, g, r->out, space->rank, shape, tile);
    r->row_guard = r->s.guard;
    for (int d = 0; d < space->rank; d++)
        if (r->reduced[d])
            r->s.at[d] = lin_var(g, arena_printf(g->arena, "r%d", d), 0, space->shape[d] - 1);
    place_along(r, space);
    if (r->across >= 0 && !r->s.var[r->across])
        r->s.var[r->across] = "i";
    r->guard = both(g, r->row_guard, r->guard);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static Body rows_body(Rows *r, int indent)
{
    Body b;
    body_open(&b, r->g, r->out, indent, &r->names);
    b.group = r->k;
    for (int i = 0; i < r->leaves.n; i++)
        vec_push(r->g->arena, &b.leaves, r->leaves.at[i]);
    return b;
}

static void open_serial(Rows *r, Body *b, const Node *space)
{
    for (int d = 0; d < space->rank; d++)
        if (is_serial(r, space, d)) {
            body_line(b, "for r%d in T.serial(%s):", d, extent_text(r->g, space->shape[d]));
            b->indent++;
        }
    if (r->chunks > 1) {
        body_line(b, "for c in T.serial(%s):", r->chunks_text);
        b->indent++;
    }
}

static void open_tile(Rows *r, Body *b, const char *guard)
{
    body_line(b, r->inner ? "for i, j in T.Parallel(%lld, %lld):"
                          : "for j, i in T.Parallel(%lld, %lld):",
              (long long)(r->inner ? r->bm : r->bk), (long long)(r->inner ? r->bk : r->bm));
    b->indent++;
    if (guard) {
        body_line(b, "if %s:", guard);
        b->indent++;
    }
}

static void open_rows(Rows *r, Body *b)
{
    body_line(b, "for i in T.Parallel(%lld):", (long long)r->bm);
    b->indent++;
    if (r->row_guard) {
        body_line(b, "if %s:", r->row_guard);
        b->indent++;
    }
}

static const char *tile_place(Rows *r, const char *name)
{
    return arena_printf(r->g->arena, r->inner ? "%s[i, j]" : "%s[j, i]", name);
}

static void alloc_tile(Rows *r, const char *name, const char *memory, DType t)
{
    str_printf(r->out, "        %s = T.alloc_%s((%lld, %lld), \"%s\")\n", name, memory,
               (long long)(r->inner ? r->bm : r->bk), (long long)(r->inner ? r->bk : r->bm),
               dtype_name(t));
}

static void alloc_row(Rows *r, const char *name, DType t)
{
    str_printf(r->out, "        %s = T.alloc_fragment((%lld,), \"%s\")\n", name, (long long)r->bm,
               dtype_name(t));
}

static void leaf(Rows *r, const Node *n, const char *text, const Lin *const *at)
{
    vec_push(r->g->arena, &r->leaves, ((Leaf){n, text, at}));
}

/* ---- reductions ------------------------------------------------------------------------------ */

static const char *identity_text(Graph *g, int how, DType t)
{
    if (how == REDUCE_SUM || how == REDUCE_PROD)
        return number_text(g, t, how == REDUCE_PROD);
    const double sign = how == REDUCE_MAX ? -1 : 1;
    if (dtype_is_float(t))
        return number_text(g, t, sign * __builtin_inf());
    return number_text(g, t, how == REDUCE_MAX ? dtype_min(t) : dtype_max(t));
}

static const char *tile_name(Rows *r, int i)
{
    return arena_printf(r->g->arena, "p%d", i);
}

static void reduce_tile(Rows *r, int i)
{
    static const char *const word[] = {[REDUCE_SUM] = "sum", [REDUCE_MAX] = "max",
                                       [REDUCE_MIN] = "min"};
    const Node *n = r->k->reductions.at[i];
    DType t = compute_type(n->type);
    if (n->how != REDUCE_PROD) {
        bool numbers = dtype_is_float(t) && n->how != REDUCE_SUM;
        str_printf(r->out, "        T.reduce_%s(p%d, s%d, dim=%d%s)\n", word[n->how], i, i,
                   r->inner, numbers ? ", nan_propagate=True" : "");
        return;
    }
    str_printf(r->out, "        T.fill(s%d, %s)\n", i, identity_text(r->g, n->how, t));
    str_printf(r->out, "        for j in T.serial(%lld):\n            for i in T.Parallel(%lld):\n",
               (long long)r->bk, (long long)r->bm);
    str_printf(r->out, "                s%d[i] = s%d[i] * p%d[%s]\n", i, i, i,
               r->inner ? "i, j" : "j, i");
}

static void phase_values(Rows *r, int phase, Body *b, bool otherwise)
{
    const Group *k = r->k;
    for (int i = 0; i < k->reductions.n; i++) {
        Node *n = k->reductions.at[i];
        const char *to = tile_place(r, tile_name(r, i));
        if (k->phase.at[i] != phase)
            continue;
        const char *none = identity_text(r->g, n->how, compute_type(n->type));
        const char *v = otherwise ? none : body_value(b, n->arg[0], r->s.at);
        if (r->multi && !otherwise)
            v = combine_text(r->g, n->how, n->type, to, v);
        body_line(b, "%s = %s", to, v);
    }
}

static void fill_tiles(Rows *r, int phase)
{
    for (int i = 0; i < r->k->reductions.n; i++) {
        const Node *n = r->k->reductions.at[i];
        if (r->k->phase.at[i] == phase)
            str_printf(r->out, "        T.fill(p%d, %s)\n", i,
                       identity_text(r->g, n->how, compute_type(n->type)));
    }
}

/* Outputs are stored in the first walk over the row that knows them. */
static void store_ready(Rows *r, int phase, Body *b)
{
    for (int i = 0; i < r->k->outputs.n; i++) {
        Node *n = r->k->outputs.at[i];
        if (!r->place[n->id] || r->ready[n->id] != phase)
            continue;
        const Lin *const *at = r->place[n->id]->at;
        body_store(b, n, place_text(r->g, n->buffer, n->rank, at), n, at);
    }
}

static void print_phase(Rows *r, int phase)
{
    const Group *k = r->k;
    Body b = rows_body(r, 2);
    if (r->multi) {
        fill_tiles(r, phase);
        open_serial(r, &b, k->space);
    }
    open_tile(r, &b, r->guard);
    phase_values(r, phase, &b, false);
    store_ready(r, phase, &b);
    if (!r->multi && r->guard) {
        Body other = rows_body(r, b.indent - 1);
        body_line(&other, "else:");
        other.indent++;
        phase_values(r, phase, &other, true);
    }
    for (int i = 0; i < k->reductions.n; i++) {
        if (k->phase.at[i] != phase)
            continue;
        reduce_tile(r, i);
        leaf(r, k->reductions.at[i], arena_printf(r->g->arena, "s%d[i]", i), NULL);
        if (!r->multi)
            leaf(r, k->reductions.at[i]->arg[0], tile_place(r, tile_name(r, i)), r->s.at);
    }
}

/* ---- what the group computes ----------------------------------------------------------------- */

static void mark_inside(Rows *r, Node *n)
{
    if (map_has(&r->inside, n) || (n->stored && n->group != r->k))
        return;
    map_set(&r->inside, n, n);
    for (int i = 0; i < n->narg; i++)
        mark_inside(r, n->arg[i]);
}

static void find_inside(Rows *r)
{
    map_init(&r->inside, r->g->arena);
    for (int i = 0; i < r->k->outputs.n; i++)
        mark_inside(r, r->k->outputs.at[i]);
    for (int i = 0; i < r->k->reductions.n; i++)
        mark_inside(r, r->k->reductions.at[i]);
}

/* ---- values of whole rows -------------------------------------------------------------------- */

/* The phase after which each node that has one value a row is known, by id; -1: no such node. */
static int *row_phases(const Rows *r)
{
    const Group *k = r->k;
    const Graph *g = r->g;
    int *phase = NEWN(g->arena, int, g->nodes.n + 1);
    for (int i = 0; i < g->nodes.n; i++) {
        const Node *n = g->nodes.at[i];
        bool follows = (n->kind == NODE_ELEM || n->kind == NODE_CAST || n->kind == NODE_RESHAPE) &&
                       (!n->stored || n->group == k) && node_count(n) == node_count(k->anchor);
        phase[i] = -1;
        for (int j = 0; follows && j < n->narg; j++)
            phase[i] = MAX(phase[i], phase[n->arg[j]->id]);
        for (int j = 0; j < k->reductions.n; j++)
            if (k->reductions.at[j] == n)
                phase[i] = k->phase.at[j];
    }
    return phase;
}

static bool leaves_rows(const Rows *r, const Node *n)
{
    const Graph *g = r->g;
    for (int i = n->id + 1; i < g->nodes.n; i++)
        for (int k = 0; g->nodes.at[i]->live && k < g->nodes.at[i]->narg; k++)
            if (g->nodes.at[i]->arg[k] == n && g->nodes.at[i]->kind == NODE_BROADCAST)
                return true;
    return false;
}

static bool is_work(const Node *n)
{
    while (n->kind == NODE_RESHAPE)
        n = n->arg[0];
    return n->kind == NODE_ELEM || n->kind == NODE_CAST;
}

/* What all elements of a row use is computed once. */
static void print_row_values(Rows *r, const int *known, int phase)
{
    const Lin *at[TENSOR_RANK];
    for (int i = 0; i < r->g->nodes.n; i++) {
        Node *n = r->g->nodes.at[i];
        if (!map_has(&r->inside, n) || !is_work(n) || known[i] != phase || !leaves_rows(r, n) ||
            !row_value_at(r->g, r->k, n, r->s.at, at))
            continue;
        const char *name = arena_printf(r->g->arena, "w%d", r->names++);
        alloc_row(r, name, compute_type(n->type));
        Body b = rows_body(r, 2);
        open_rows(r, &b);
        const char *v = body_value(&b, n, at);
        body_line(&b, "%s[i] = %s", name, v);
        if (r->row_guard) { /* rows behind the end may pass through memory with the others */
            b.indent -= 2;
            body_line(&b, "    else:");
            body_line(&b, "        %s[i] = %s", name,
                      number_text(r->g, compute_type(n->type), 0));
        }
        leaf(r, n, arena_printf(r->g->arena, "%s[i]", name), NULL);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* The phase of reductions after which a node is known. */
static void find_ready(Rows *r)
{
    const Graph *g = r->g;
    const Group *k = r->k;
    r->ready = NEWN(g->arena, int, g->nodes.n + 1);
    for (int i = 0; i < g->nodes.n; i++) {
        const Node *n = g->nodes.at[i];
        if (!map_has(&r->inside, n))
            continue;
        for (int j = 0; j < n->narg; j++)
            r->ready[i] = MAX(r->ready[i], r->ready[n->arg[j]->id]);
        for (int j = 0; j < k->reductions.n; j++)
            if (k->reductions.at[j] == n)
                r->ready[i] = k->phase.at[j] + 1;
    }
}

static void print_full_outputs(Rows *r, int phase)
{
    const Group *k = r->k;
    bool some = false;
    for (int i = 0; i < k->outputs.n; i++)
        some = some || (r->place[k->outputs.at[i]->id] && r->ready[k->outputs.at[i]->id] == phase);
    if (!some)
        return;
    Body b = rows_body(r, 2);
    open_serial(r, &b, k->space);
    open_tile(r, &b, r->guard);
    store_ready(r, phase, &b);
}

static void print_row_outputs(Rows *r)
{
    const Group *k = r->k;
    const Lin *at[TENSOR_RANK];
    bool some = false;
    Body b = rows_body(r, 2);
    for (int i = 0; i < k->outputs.n; i++) {
        Node *n = k->outputs.at[i];
        if (r->place[n->id])
            continue;
        if (!some)
            open_rows(r, &b);
        some = true;
        row_value_at(r->g, k, n, r->s.at, at);
        body_store(&b, n, place_text(r->g, n->buffer, n->rank, at), n, at);
    }
}

void tiles_row(Graph *g, Group *k, Str *out)
{
    Rows r = {.g = g, .k = k, .out = out};
    int phases = 0;
    for (int d = 0; d < k->space->rank; d++)
        r.reduced[d] = k->anchor->attr[d];
    rows_plan(&r, k->space, k->reductions.n);
    find_inside(&r);
    kernel_head(out, r.s.blocks_text, r.threads);
    space_bases(&r.s, out);
    for (int i = 0; i < k->reductions.n; i++) {
        const Node *n = k->reductions.at[i];
        DType t = compute_type(n->type);
        alloc_tile(&r, tile_name(&r, i), n->how == REDUCE_PROD ? "shared" : "fragment", t);
        alloc_row(&r, arena_printf(g->arena, "s%d", i), t);
        phases = MAX(phases, k->phase.at[i] + 1);
    }
    const int *known = row_phases(&r);
    r.place = row_places(g, k, r.s.at);
    find_ready(&r);
    for (int p = 0; p < phases; p++) {
        print_phase(&r, p);
        print_row_values(&r, known, p);
    }
    print_full_outputs(&r, phases);
    print_row_outputs(&r);
}

/* ---- scans ----------------------------------------------------------------------------------- */

static void scan_tile(Rows *r, const Node *n)
{
    str_printf(r->out, "%*sT.cumsum(p, q, dim=%d%s)\n", r->chunks > 1 ? 12 : 8, "", r->inner,
               n->attr[1] ? ", reverse=True" : "");
}

/* Chunk by chunk; what was summed up before is carried. */
void tiles_scan(Graph *g, Group *k, Str *out)
{
    Node *n = k->anchor;
    Rows r = {.g = g, .k = k, .out = out};
    const DType t = compute_type(n->type);
    k->space = n;
    r.reduced[n->attr[0]] = true;
    rows_plan(&r, n, 2);
    const bool back = n->attr[1] && r.chunks > 1;
    kernel_head(out, r.s.blocks_text, r.threads);
    space_bases(&r.s, out);
    alloc_tile(&r, "p", "shared", t);
    alloc_tile(&r, "q", "shared", t);
    if (r.chunks > 1) {
        alloc_row(&r, "s", t);
        alloc_row(&r, "carry", t);
        str_printf(out, "        T.fill(carry, %s)\n", number_text(g, t, 0));
        str_printf(out, "        for %s in T.serial(%s):\n", back ? "c0" : "c", r.chunks_text);
        if (back && extent_is_open(g, n->shape[n->attr[0]]))
            str_printf(out, "            c = %s - 1 - c0\n", r.chunks_text);
        else if (back)
            str_printf(out, "            c = %lld - c0\n", (long long)r.chunks - 1);
    }
    const int indent = r.chunks > 1 ? 3 : 2;
    Body b = rows_body(&r, indent);
    open_tile(&r, &b, r.guard);
    body_line(&b, "%s = %s", tile_place(&r, "p"), body_value(&b, n->arg[0], r.s.at));
    if (r.guard) {
        b.indent--;
        body_line(&b, "else:");
        b.indent++;
        body_line(&b, "%s = %s", tile_place(&r, "p"), number_text(g, t, 0));
    }
    scan_tile(&r, n);
    b = rows_body(&r, indent);
    open_tile(&r, &b, r.guard);
    const char *v = tile_place(&r, "q");
    if (r.chunks > 1)
        v = arena_printf(g->arena, "%s + carry[i]", v);
    if (t != n->type)
        v = arena_printf(g->arena, "T.cast(%s, \"%s\")", v, dtype_name(n->type));
    body_line(&b, "%s = %s", place_text(g, n->buffer, n->rank, r.s.at), v);
    if (r.chunks > 1) {
        str_printf(out, "            T.reduce_sum(p, s, dim=%d)\n", r.inner);
        str_printf(out, "            for i in T.Parallel(%lld):\n", (long long)r.bm);
        str_puts(out, "                carry[i] = carry[i] + s[i]\n");
    }
}
