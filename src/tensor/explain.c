/* explain.c -- what became of a tensor program: kernels, what each computes, bytes and flops. */
#include "tensor/tensor.h"

static const char *const kind_text[] = {
    [GROUP_MAP] = "elementwise", [GROUP_ROW] = "reduction of rows",
    [GROUP_DOT] = "matrix product", [GROUP_ATTENTION] = "attention by online softmax",
    [GROUP_BACK] = "derivatives of attention, scores computed again",
    [GROUP_SCAN] = "scan", [GROUP_SCATTER] = "scatter",
    [GROUP_SORT] = "sort",
};

static const char *node_word(const Node *n)
{
    static const char *const word[] = {
        [NODE_INPUT] = "input", [NODE_CONST] = "constant", [NODE_IOTA] = "iota",
        [NODE_EXTENT] = "extent",
        [NODE_CAST] = "cast", [NODE_RESHAPE] = "reshape", [NODE_PERMUTE] = "transpose",
        [NODE_BROADCAST] = "broadcast", [NODE_SLICE] = "slice", [NODE_PAD] = "pad",
        [NODE_CONCAT] = "concatenate", [NODE_WINDOW] = "window", [NODE_SPREAD] = "spread",
        [NODE_TAKE] = "take", [NODE_ALONG] = "take_along_axis", [NODE_REDUCE] = "reduce",
        [NODE_DOT] = "matmul", [NODE_SCAN] = "cumsum", [NODE_SCATTER] = "scatter",
        [NODE_SORT] = "sort",
    };
    static const char *const how[] = {"sum", "max", "min", "prod"};
    return n->kind == NODE_ELEM     ? elem_table[n->how].name
           : n->kind == NODE_REDUCE ? how[n->how]
                                    : word[n->kind];
}

typedef struct {
    Graph *g;
    Group *k;
    Map seen;
    NodeVec inside, read;
    int64_t bytes;
    double flops;
} Part;

/* Elements: of open extents as many as there were in the call. */
static int64_t count_of(const Part *p, const Node *n)
{
    int64_t c = 1;
    for (int d = 0; d < n->rank; d++)
        c *= extent_example(p->g, n->shape[d]);
    return c;
}

static void collect(Part *p, Node *n)
{
    if (map_has(&p->seen, n))
        return;
    map_set(&p->seen, n, n);
    if (group_loads(p->k, n)) {
        vec_push(p->g->arena, &p->read, n);
        p->bytes += dtype_bytes(n->type, count_of(p, n));
        return;
    }
    for (int i = 0; i < n->narg; i++)
        collect(p, n->arg[i]);
    if (n->kind == NODE_CONST || n->kind == NODE_EXTENT || n->kind == NODE_BROADCAST)
        return;
    vec_push(p->g->arena, &p->inside, n);
    if (n->kind == NODE_DOT)
        p->flops += 2.0 * (double)count_of(p, n) *
                    (double)extent_example(p->g, n->arg[0]->shape[2]);
    else if (n->kind == NODE_ELEM || n->kind == NODE_REDUCE || n->kind == NODE_SCAN)
        p->flops += (double)count_of(p, n->kind == NODE_REDUCE ? n->arg[0] : n);
}

static void print_names(Graph *g, Str *s, const NodeVec *v)
{
    for (int i = 0; i < v->n; i++)
        str_printf(s, "%s%s %s", i ? ", " : "", v->at[i]->buffer,
                   shape_text(g, v->at[i]->rank, v->at[i]->shape));
}

/* Why each temporary is written to memory and read again. */
static const char *why_stored(const Node *n)
{
    if (n->is_output)
        return "an output";
    if (!is_inline(n))
        return "several kernels, or one with other positions, read it";
    return n->weight > 24 ? "dear, and read more than once"
                          : "the end of its kernel: what reads it has other positions";
}

static void print_part(Graph *g, Str *s, int i, Part *p)
{
    str_printf(s, "kernel %d: %s, %d operators\n    fused: ", i, kind_text[p->k->kind],
               p->inside.n);
    for (int j = 0; j < p->inside.n; j++)
        str_printf(s, "%s%s", j ? ", " : "", node_word(p->inside.at[j]));
    str_puts(s, "\n    reads: ");
    print_names(g, s, &p->read);
    str_puts(s, "\n    writes: ");
    print_names(g, s, &p->k->outputs);
    for (int j = 0; j < p->k->outputs.n; j++)
        if (!p->k->outputs.at[j]->is_output)
            str_printf(s, "\n    %s is stored: %s", p->k->outputs.at[j]->buffer,
                       why_stored(p->k->outputs.at[j]));
    str_printf(s, "\n    %lld bytes, %.3g flops\n", (long long)p->bytes, p->flops);
}

const char *graph_explain(Graph *g)
{
    Str s;
    int64_t bytes = 0;
    double flops = 0;
    str_init(&s, g->arena);
    for (int i = 0; i < g->groups.n; i++) {
        Part p = {.g = g, .k = g->groups.at[i]};
        map_init(&p.seen, g->arena);
        for (int j = 0; j < p.k->outputs.n; j++) {
            collect(&p, p.k->outputs.at[j]);
            p.bytes += dtype_bytes(p.k->outputs.at[j]->type, count_of(&p, p.k->outputs.at[j]));
        }
        for (int j = 0; j < p.k->reductions.n; j++)
            collect(&p, p.k->reductions.at[j]);
        bytes += p.bytes;
        flops += p.flops;
        print_part(g, &s, i, &p);
    }
    str_printf(&s, "in all: %d kernel%s, %lld bytes, %.3g flops\n", g->groups.n,
               g->groups.n == 1 ? "" : "s", (long long)bytes, flops);
    for (int i = 0; i < g->nopen; i++)
        str_printf(&s, "'%s' stays open; bytes and flops are those of %lld\n", g->open[i].name,
                   (long long)MAX(1, g->open[i].example));
    return s.s;
}
