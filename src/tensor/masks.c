/* masks.c -- what masks of positions hide of whole tiles of scores.
 *
 * Which tiles a block of rows goes through, and which of those are looked at element by element. */
#include "tensor/attention.h"
#include "tensor/dots.h"

bool is_elem(const Node *n, Elem e)
{
    return n->kind == NODE_ELEM && n->how == (int)e;
}

Node *skip_views(Node *n)
{
    while (n->kind == NODE_RESHAPE || n->kind == NODE_BROADCAST)
        n = n->arg[0];
    return n;
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
    const Area *a = &s->area;
    Graph *g = a->g;
    const Lin *block = lin_var(g, a->block, 0, (a->M + a->m - 1) / a->m - 1),
              *step = lin_var(g, "k", 0, (a->N + a->n - 1) / a->n - 1);
    const Lin *sum = lin_add(g, lin_mul(g, block, r * a->m), lin_mul(g, step, c * a->n));
    return lin_text(g, lin_add(g, sum, lin_const(g, l->c + r * i + c * j)));
}

/* Seen only where l >= 0: the last column for the row of the block that sees most, or the first,
 * and which tiles some of is hidden.  False: l is no sum of a row and a column. */
static bool need(Seen *s, const Lin *l)
{
    const Area *a = &s->area;
    Graph *g = a->g;
    const int64_t r = coef_of(l, a->row), c = coef_of(l, a->column);
    if ((c != 1 && c != -1) || l->n != 1 + (r != 0))
        return false;
    const int64_t sign = c < 0 ? 1 : -1, m = a->m, n = a->n;
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
    Graph *g = s->area.g;
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

bool is_number_of(const Node *n, double *v)
{
    while (n->kind == NODE_BROADCAST || n->kind == NODE_RESHAPE)
        n = n->arg[0];
    *v = n->value;
    return n->kind == NODE_CONST;
}

bool is_hidden(const Node *n)
{
    double v;
    return is_number_of(n, &v) && v == -__builtin_inf();
}

bool is_mask(const Node *n)
{
    return is_elem(n, ELEM_WHERE) && (is_hidden(n->arg[1]) || is_hidden(n->arg[2]));
}

Node *under_mask(const Node *n)
{
    return n->arg[is_hidden(n->arg[2]) ? 1 : 2];
}

/* where(cond, s, -inf): what the condition says of whole tiles. */
Seen find_seen(const Area *a, Node *scores, const Lin *const *place)
{
    Seen s = {.area = *a, .rest = scores};
    for (Node *n = scores; is_mask(n); n = under_mask(n)) {
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
                        arena_printf(a->g->arena, "(k * %lld + %lld > %s)", (long long)a->n,
                                     (long long)a->n, extent_text(a->g, a->N)));
    return s;
}

const char *seen_text(const Seen *s, Body *b, Node *scores, const Lin *const *place)
{
    const char *seen = s->area.columns;
    for (Node *n = scores; n != s->rest; n = under_mask(n)) {
        const char *v = arena_printf(b->g->arena, is_hidden(n->arg[2]) ? "(%s)" : "(not (%s))",
                                     body_value(b, n->arg[0], place));
        seen = guard_both(b->g, seen, v);
    }
    return seen;
}

void seen_loop(const Seen *s, int stages, Str *out)
{
    const Area *a = &s->area;
    const char *n = extent_blocks(a->g, a->N, a->n),
               *last = s->last ? arena_printf(a->g->arena, "T.min(T.max(%s, 0), %s)", s->last, n)
                               : n;
    if (s->first)
        str_printf(out, "        for k in T.Pipelined(T.max(%s, 0), %s, num_stages=%d):\n",
                   s->first, last, MAX(stages, 0));
    else
        str_printf(out, "        for k in T.Pipelined(%s, num_stages=%d):\n", last,
                   MAX(stages, 0));
}

/* Is it the product times a positive number?  Then that is left to the exponent. */
bool find_factor(const Node *n, const Node *dot, double *factor)
{
    double v;
    *factor = 1;
    for (;; n = n->arg[0]) {
        if (n == dot)
            return true;
        if (n->stored)
            return false;
        if (is_elem(n, ELEM_DIV) && is_number_of(n->arg[1], &v) && v > 0 && v < 1e30)
            *factor /= v;
        else if (is_elem(n, ELEM_MUL) && is_number_of(n->arg[1], &v) && v > 0 && v < 1e30)
            *factor *= v;
        else if (n->kind != NODE_RESHAPE && n->kind != NODE_BROADCAST &&
                 !(n->kind == NODE_CAST && n->type == DT_F32))
            return false;
    }
}
