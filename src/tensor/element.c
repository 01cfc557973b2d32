/* element.c -- the value of a node at a position, as text of the developer level.
 *
 * Layout changes are positions of what they read, so they cost nothing.  What is used twice, or
 * grows long, is given a name in the loop body.  Where an operand is there for some positions only
 * (padding, concatenation), a plain load stands inside of the condition; anything longer is
 * computed at a position that is moved inside, and then not used. */
#include "tensor/tensor.h"

#include <math.h>
#include <stdarg.h>

enum { LONG_TEXT = 60, COLUMNS = 4, PARTED = 16, PARTS = 4 };

bool is_inline(const Node *n)
{
    return (n->kind != NODE_REDUCE || n->attr[TENSOR_RANK]) && n->kind != NODE_DOT &&
           n->kind != NODE_SCAN && n->kind != NODE_SORT && n->kind != NODE_SCATTER;
}

void body_open(Body *b, Graph *g, Str *out, int indent, int *nname)
{
    *b = (Body){.g = g, .out = out, .indent = indent, .nname = nname};
    map_init_text(&b->memo, g->arena);
}

void body_line(Body *b, const char *fmt, ...)
{
    va_list ap;
    str_indent(b->out, b->indent * COLUMNS);
    va_start(ap, fmt);
    str_vprintf(b->out, fmt, ap);
    va_end(ap);
    str_putc(b->out, '\n');
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_word(const char *s)
{
    int depth = 0;
    if (*s == '-' || *s == '~')
        return false;
    for (; *s; s++) {
        depth += *s == '(' || *s == '[';
        depth -= *s == ')' || *s == ']';
        if (*s == ' ' && depth == 0)
            return false;
    }
    return true;
}

static const char *operand(Graph *g, const char *s)
{
    return is_word(s) ? s : arena_printf(g->arena, "(%s)", s);
}

const char *number_text(Graph *g, DType t, double v)
{
    if (t == DT_BOOL)
        return v != 0 ? "True" : "False";
    if (dtype_is_int(t)) {
        const char *s = t == DT_U64 && v > 9e18 ? arena_printf(g->arena, "%.0f", v)
                                                : arena_printf(g->arena, "%lld", (long long)v);
        return t == DT_I32 ? s : arena_printf(g->arena, "T.cast(%s, \"%s\")", s, dtype_name(t));
    }
    const char *type = dtype_name(compute_type(t));
    if (isinf(v))
        return arena_printf(g->arena, "%sT.infinity(\"%s\")", v < 0 ? "-" : "", type);
    if (isnan(v))
        return arena_printf(g->arena, "(T.infinity(\"%s\") - T.infinity(\"%s\"))", type, type);
    Str s;
    str_init(&s, g->arena);
    str_printf(&s, t == DT_F64 ? "%.17g" : "%.9g", v);
    if (!strpbrk(s.s, ".en"))
        str_puts(&s, ".0");
    return t == DT_F64 ? arena_printf(g->arena, "T.cast(%s, \"float64\")", s.s) : s.s;
}

const char *place_text(Graph *g, const char *buffer, int rank, const Lin *const *at)
{
    Str s;
    str_init(&s, g->arena);
    str_printf(&s, "%s[", buffer);
    for (int d = 0; d < rank; d++)
        str_printf(&s, "%s%s", d ? ", " : "", lin_text(g, at[d]));
    str_puts(&s, rank ? "]" : "()]");
    return s.s;
}

static const char *cast_text(Graph *g, const char *s, DType from, DType to)
{
    return from == to ? s : arena_printf(g->arena, "T.cast(%s, \"%s\")", s, dtype_name(to));
}

static const char *load_text(const Body *b, const Node *n, const Lin *const *at)
{
    return cast_text(b->g, place_text(b->g, n->buffer, n->rank, at), n->type,
                     b->moved ? n->type : compute_type(n->type));
}

/* Is n what is stored at another position, or 0?  Its text needs no other type. */
bool is_moved(const Node *n, const struct Group *k)
{
    const DType type = n->type;
    while (!n->stored || n->group == k) {
        const bool view = n->kind == NODE_RESHAPE || n->kind == NODE_PERMUTE ||
                          n->kind == NODE_BROADCAST || n->kind == NODE_SLICE ||
                          n->kind == NODE_WINDOW || (n->kind == NODE_PAD && n->value == 0);
        if (!view)
            return false;
        n = n->arg[0];
    }
    return n->type == type;
}

static const char *guard_text(Graph *g, const Guard *k, int n)
{
    Str s;
    str_init(&s, g->arena);
    for (int i = 0; i < n; i++) {
        const char *w = lin_text(g, k[i].what);
        if (!extent_le(g, k[i].lo, k[i].what->lo))
            str_printf(&s, "%s(%s >= %s)", s.n ? " & " : "", w, extent_text(g, k[i].lo));
        if (!extent_le(g, k[i].what->hi, k[i].hi))
            str_printf(&s, "%s(%s <= %s)", s.n ? " & " : "", w, extent_text(g, k[i].hi));
        if (k[i].mod > 1)
            str_printf(&s, "%s(%s %% %lld == 0)", s.n ? " & " : "",
                       is_word(w) ? w : arena_printf(g->arena, "(%s)", w), (long long)k[i].mod);
    }
    return s.s;
}

/* NaN wins over all, as in numpy. */
const char *combine_text(Graph *g, int how, DType t, const char *a, const char *b)
{
    const char *type = dtype_name(compute_type(t));
    if (dtype_is_float(t) && how == REDUCE_MAX)
        return arena_printf(g->arena, "T.clamp(%s, %s, T.infinity(\"%s\"))", a, b, type);
    if (dtype_is_float(t) && how == REDUCE_MIN)
        return arena_printf(g->arena, "T.clamp(%s, -T.infinity(\"%s\"), %s)", a, type, b);
    a = operand(g, a);
    b = operand(g, b);
    static const char *const text[] = {[REDUCE_SUM] = "%s + %s", [REDUCE_MAX] = "T.max(%s, %s)",
                                       [REDUCE_MIN] = "T.min(%s, %s)", [REDUCE_PROD] = "%s * %s"};
    return arena_printf(g->arena, text[how], a, b);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *name_value(Body *b, const char *text)
{
    const char *name = arena_printf(b->g->arena, "v%d", (*b->nname)++);
    body_line(b, "%s = %s", name, text);
    return name;
}

static int times_said(const char *text, int arg)
{
    int n = 0;
    for (const char *t = strchr(text, '$'); t; t = strchr(t + 1, '$'))
        n += t[1] == 'a' + arg || t[1] == 'p' + arg;
    return n;
}

/* where(x <= 0, 0, x) of floats. */
static bool is_relu(const Node *n)
{
    const Node *cond = n->arg[0], *number[2] = {NULL, NULL};
    if (n->how != ELEM_WHERE || !dtype_is_float(n->type) || cond->kind != NODE_ELEM ||
        cond->how != ELEM_LE || cond->arg[0] != n->arg[2])
        return false;
    number[0] = cond->arg[1];
    number[1] = n->arg[1];
    for (int i = 0; i < 2; i++) {
        while (number[i]->kind == NODE_BROADCAST)
            number[i] = number[i]->arg[0];
        if (number[i]->kind != NODE_CONST || number[i]->value != 0)
            return false;
    }
    return true;
}

static const char *elem_text(Body *b, const Node *n, const char *const *given)
{
    Str s;
    str_init(&s, b->g->arena);
    const char *t = elem_table[n->how].text;
    bool alone = !strchr(t, '(');
    if (n->how == ELEM_FLOORDIV && dtype_is_float(n->type))
        t = "T.floor($p / $q)";
    else if (n->how == ELEM_MOD && dtype_is_float(n->type))
        t = "$p - T.floor($p / $q) * $q";
    else if (n->how == ELEM_INVERT && n->type == DT_BOOL)
        t = elem_table[ELEM_NOT].text;
    else if ((n->how == ELEM_MAXIMUM || n->how == ELEM_MINIMUM) && dtype_is_float(n->type))
        return combine_text(b->g, n->how == ELEM_MAXIMUM ? REDUCE_MAX : REDUCE_MIN, n->type,
                            given[0], given[1]);
    else if (machine_has(b->g->machine, HAS_THREADS) && is_relu(n)) /* said once: it has no name */
        return combine_text(b->g, REDUCE_MAX, n->type, given[2], given[1]);
    const char *arg[3];
    for (int i = 0; i < n->narg; i++) /* what the text has more than once is computed once */
        arg[i] = times_said(t, i) > 1 && strpbrk(given[i], " (") ? name_value(b, given[i])
                                                                  : given[i];
    for (; *t; t++) {
        if (*t != '$') {
            str_putc(&s, *t);
            continue;
        }
        t++;
        const bool paren = alone || *t >= 'p' || strchr("> <", t[1]);
        const char *x = arg[*t >= 'p' ? *t - 'p' : *t - 'a'];
        str_puts(&s, paren ? operand(b->g, x) : x);
    }
    /* Narrow integers wrap around as their type does. */
    if (dtype_is_int(n->type) && dtype_bits(n->type) < 32)
        return arena_printf(b->g->arena, "T.cast(%s, \"%s\")", s.s, dtype_name(n->type));
    return s.s;
}

static bool is_plain(const Node *n)
{
    while (!n->stored && (n->kind == NODE_RESHAPE || n->kind == NODE_PERMUTE ||
                          n->kind == NODE_BROADCAST || n->kind == NODE_SLICE ||
                          n->kind == NODE_WINDOW))
        n = n->arg[0];
    return n->stored || n->kind == NODE_CONST || n->kind == NODE_IOTA ||
           n->kind == NODE_EXTENT;
}

static const char *clamp_text(Graph *g, const Lin *l, int64_t hi)
{
    const char *s = lin_text(g, l);
    if (!extent_le(g, 0, l->lo))
        s = arena_printf(g->arena, "T.max(%s, 0)", s);
    return extent_le(g, l->hi, hi) ? s
                                   : arena_printf(g->arena, "T.min(%s, %s)", s, extent_text(g, hi));
}

static const char *guarded(Body *b, Node *n, int k, const Lin *const *at, const Guard *guard,
                           int ng, const char *otherwise)
{
    Graph *g = b->g;
    const Node *a = n->arg[k];
    const char *cond = guard_text(g, guard, ng);
    const Lin *inside[TENSOR_RANK];
    for (int d = 0; d < a->rank; d++)
        inside[d] = !extent_le(g, 0, at[d]->lo) || !extent_le(g, at[d]->hi + 1, a->shape[d])
                        ? lin_var(g, clamp_text(g, at[d], a->shape[d] - 1), 0, a->shape[d] - 1)
                        : at[d];
    const char *v = body_value(b, n->arg[k], is_plain(a) ? at : inside);
    if (!*cond)
        return v;
    return arena_printf(g->arena, "T.if_then_else(%s, %s, %s)", cond, v, otherwise);
}

/* A position that is a value: from the end when negative, and inside whatever it is. */
const Lin *body_position(Body *b, Node *at_node, const Lin *const *at, int64_t extent)
{
    Graph *g = b->g;
    const char *v = body_value(b, at_node, at);
    if (!is_word(v) || strchr(v, '['))
        v = name_value(b, v);
    v = arena_printf(g->arena, "T.min(T.max(T.if_then_else(%s < 0, %s + %s, %s), 0), %s)", v, v,
                     extent_addend(g, extent), v, extent_text(g, extent - 1));
    return lin_var(g, name_value(b, cast_text(g, v, at_node->type, DT_I32)), 0, extent - 1);
}

static const char *taken(Body *b, Node *n, const Lin *const *at)
{
    const int axis = (int)n->attr[0], inner = n->arg[1]->rank;
    const Node *a = n->arg[0];
    const Lin *to[TENSOR_RANK];
    if (n->kind == NODE_ALONG) {
        for (int d = 0; d < a->rank; d++)
            to[d] = at[d];
        to[axis] = body_position(b, n->arg[1], at, a->shape[axis]);
    } else {
        for (int d = 0; d < a->rank; d++)
            if (d != axis)
                to[d] = at[d < axis ? d : d - 1 + inner];
        to[axis] = body_position(b, n->arg[1], at + axis, a->shape[axis]);
    }
    return body_value(b, n->arg[0], to);
}

static bool is_never(const Graph *g, const Guard *k, int n)
{
    bool never = false;
    for (int i = 0; i < n; i++)
        never = never || extent_le(g, k[i].what->hi + 1, k[i].lo) ||
                extent_le(g, k[i].hi + 1, k[i].what->lo);
    return never;
}

static bool is_always(const Graph *g, const Guard *k, int n)
{
    bool always = true;
    for (int i = 0; i < n; i++)
        always = always && extent_le(g, k[i].lo, k[i].what->lo) &&
                 extent_le(g, k[i].what->hi, k[i].hi) && k[i].mod == 1;
    return always;
}

static const char *view_value(Body *b, Node *n, const Lin *const *at)
{
    const Lin *to[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    Graph *g = b->g;
    int ng = operand_index(g, n, 0, at, to, guard);
    if (is_always(g, guard, ng))
        return body_value(b, n->arg[0], to);
    if (is_never(g, guard, ng) && n->kind != NODE_CONCAT)
        return number_text(g, n->type, n->value);
    if (n->kind == NODE_CONCAT) {
        const Lin *second[TENSOR_RANK];
        Guard other;
        operand_index(g, n, 1, at, second, &other);
        if (is_never(g, guard, ng))
            return body_value(b, n->arg[1], second);
        const char *v = guarded(b, n, 1, second, &other, 0, "");
        return guarded(b, n, 0, to, guard, ng, v);
    }
    return guarded(b, n, 0, to, guard, ng, number_text(g, n->type, n->value));
}

/* Positions of term i of a reduction that is written out; false: there is no such. */
static bool term_index(Graph *g, const Node *n, int64_t i, const Lin *const *at, const Lin **out)
{
    const Node *a = n->arg[0];
    for (int d = a->rank - 1, own = n->rank - 1; d >= 0; d--) {
        out[d] = n->attr[d] ? lin_const(g, i % a->shape[d]) : at[own--];
        i = n->attr[d] ? i / a->shape[d] : i;
    }
    return i == 0;
}

/* Long sums of a CPU in parts, which need not wait for each other. */
static const char *written_out(Body *b, Node *n, const Lin *const *at)
{
    const Lin *to[TENSOR_RANK];
    const char *part[PARTS] = {NULL};
    const bool parted = node_count(n->arg[0]) / MAX(1, node_count(n)) >= PARTED &&
                        !machine_has(b->g->machine, HAS_THREADS);
    const int parts = parted ? PARTS : 1;
    for (int64_t i = 0; term_index(b->g, n, i, at, to); i++) {
        const char *term = body_value(b, n->arg[0], to), **v = &part[i % parts];
        *v = *v ? name_value(b, combine_text(b->g, n->how, n->type, *v, term)) : term;
    }
    for (int half = parts / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            part[i] = name_value(b, combine_text(b->g, n->how, n->type, part[i], part[i + half]));
    return part[0];
}

/* The number a float is divided by, of a size that has a reciprocal; 0: none. */
static double by_number(const Node *n)
{
    const Node *d = n->arg[1];
    while (d->kind == NODE_BROADCAST)
        d = d->arg[0];
    const double size = fabs(d->value);
    return d->kind == NODE_CONST && size > 1e-30 && size < 1e30 ? d->value : 0;
}

static const char *compute(Body *b, Node *n, const Lin *const *at)
{
    Graph *g = b->g;
    const char *arg[3];
    switch (n->kind) {
    case NODE_CONST: return number_text(g, n->type, n->value);
    case NODE_EXTENT: return extent_text(g, n->attr[0]);
    case NODE_IOTA:
        return cast_text(g, lin_text(g, at[n->attr[0]]), DT_I32, compute_type(n->type));
    case NODE_ELEM:
        if (b->quick && n->how == ELEM_DIV && by_number(n))
            return arena_printf(g->arena, "%s * %s", operand(g, body_value(b, n->arg[0], at)),
                                number_text(g, n->type, 1 / by_number(n)));
        for (int i = 0; i < n->narg; i++)
            arg[i] = body_value(b, n->arg[i], at);
        return elem_text(b, n, arg);
    case NODE_CAST: {
        DType from = compute_type(n->arg[0]->type), to = compute_type(n->type);
        const char *v = body_value(b, n->arg[0], at);
        if (n->type == DT_BOOL)
            return arena_printf(g->arena, "%s != 0", operand(g, v));
        return cast_text(g, cast_text(g, v, from, n->type), n->type, to);
    }
    case NODE_TAKE: case NODE_ALONG: return taken(b, n, at);
    case NODE_REDUCE: return written_out(b, n, at);
    default: return view_value(b, n, at);
    }
}

static const char *memo_key(Graph *g, const Node *n, const Lin *const *at)
{
    return place_text(g, arena_printf(g->arena, "%d", n->id), n->rank, at);
}

static bool is_at(const Leaf *l, const Node *n, const Lin *const *at)
{
    bool same = true;
    for (int d = 0; l->at && d < n->rank; d++)
        same = same && lin_same(l->at[d], at[d]);
    return same;
}

const char *body_value(Body *b, Node *n, const Lin *const *at)
{
    for (int i = 0; i < b->leaves.n; i++)
        if (b->leaves.at[i].node == n && is_at(&b->leaves.at[i], n, at))
            return b->leaves.at[i].text;
    if (n->kind == NODE_CONST)
        return number_text(b->g, n->type, n->value);
    if (n->stored && (n->group != b->group || !n->group))
        return load_text(b, n, at);
    const char *key = memo_key(b->g, n, at), *old = map_get(&b->memo, key);
    if (old)
        return old;
    const char *v = compute(b, n, at);
    bool work = n->kind == NODE_ELEM || n->kind == NODE_CAST;
    if (work && strpbrk(v, " ([") && (n->nuse > 1 || strlen(v) > LONG_TEXT))
        v = name_value(b, v);
    map_set(&b->memo, key, v);
    return v;
}

void body_store(Body *b, Node *n, const char *target, Node *value, const Lin *const *at)
{
    const char *v = body_value(b, value, at);
    body_line(b, "%s = %s", target,
              b->moved ? v : cast_text(b->g, v, compute_type(value->type), n->type));
}

/* ---- what is read ---------------------------------------------------------------------------- */

typedef struct {
    Graph *g;
    ReadFn *see;
    void *arg;
    Map seen;
    const Node *own;
    const Lin *var;        /* whose conditions are looked for, or NULL */
    Breaks *breaks;
} Reads;

/* var + c in [lo, hi] changes where var is lo - c and hi - c + 1. */
static void note_guards(Reads *r, const Guard *k, int n)
{
    for (int i = 0; r->var && i < n; i++) {
        const Lin *w = k[i].what;
        if (w->n != 1 || w->coef[0] != 1 || w->atom[0] != r->var->atom[0] || k[i].mod != 1)
            continue;
        vec_push(r->g->arena, r->breaks, k[i].lo - w->c);
        vec_push(r->g->arena, r->breaks, k[i].hi - w->c + 1);
    }
}

static void walk(Reads *r, Node *n, const Lin *const *at)
{
    Graph *g = r->g;
    const Lin *to[TENSOR_RANK];
    Guard guard[TENSOR_RANK];
    const char *key = memo_key(g, n, at);
    if (map_has(&r->seen, key))
        return;
    map_set(&r->seen, key, n);
    if (!is_inline(n) || (n->stored && n != r->own)) {
        if (!r->see(r->arg, n, at) || !is_inline(n))
            return;
    }
    if (n->kind == NODE_TAKE || n->kind == NODE_ALONG) {
        const int axis = (int)n->attr[0], inner = n->arg[1]->rank;
        for (int d = 0; d < n->arg[0]->rank; d++)
            if (d != axis)
                to[d] = n->kind == NODE_ALONG ? at[d] : at[d < axis ? d : d - 1 + inner];
        to[axis] = lin_var(g, arena_printf(g->arena, "?%d", n->id), 0, n->arg[0]->shape[axis] - 1);
        walk(r, n->arg[0], to);
        walk(r, n->arg[1], n->kind == NODE_ALONG ? at : at + axis);
        return;
    }
    if (n->kind == NODE_REDUCE)
        for (int64_t i = 0; term_index(g, n, i, at, to); i++)
            walk(r, n->arg[0], to);
    for (int k = 0; k < n->narg && n->kind != NODE_REDUCE; k++) {
        note_guards(r, guard, operand_index(g, n, k, at, to, guard));
        walk(r, n->arg[k], to);
    }
}

void each_read(Graph *g, Node *n, const Lin *const *at, ReadFn *see, void *arg)
{
    Reads r = {.g = g, .see = see, .arg = arg, .own = n};
    map_init_text(&r.seen, g->arena);
    walk(&r, n, at);
}

static bool see_own(void *arg, Node *n, const Lin *const *at)
{
    (void)at;
    return n->group == arg;
}

void find_breaks(Graph *g, struct Group *k, Node *n, const Lin *const *at, const Lin *var,
                 Breaks *out)
{
    Reads r = {.g = g, .see = see_own, .arg = k, .own = n, .var = var, .breaks = out};
    map_init_text(&r.seen, g->arena);
    walk(&r, n, at);
}
