/* index.c -- positions in tensors: sums of loop variables, quotients and remainders, simplified.
 *
 * Reshapes make positions flat and part them again; most of it cancels here, so that the source a
 * user reads has the subscripts they would have written.  All bounds hold where the loop body runs:
 * a guard keeps positions inside of their axes. */
#include "tensor/tensor.h"

/* Variables of several kernels may have one name: what they reach to tells them apart. */
static const Atom *atom(Graph *g, Atom a)
{
    const char *key =
        a.kind == 'v' ? arena_printf(g->arena, "v%s %lld", a.text, (long long)a.hi)
                      : arena_printf(g->arena, "%c%lld %lld %s", a.kind, (long long)a.c,
                                     (long long)a.of->hi, lin_text(g, a.of));
    Atom *old = map_get(&g->atoms, key);
    if (old)
        return old;
    Atom *p = NEW(g->arena, Atom);
    *p = a;
    map_set(&g->atoms, key, p);
    return p;
}

static Lin *lin_new(Graph *g, int64_t c)
{
    Lin *l = NEW(g->arena, Lin);
    l->c = l->lo = l->hi = c;
    return l;
}

const Lin *lin_const(Graph *g, int64_t c)
{
    return lin_new(g, c);
}

static void bounds(Lin *l)
{
    l->lo = l->hi = l->c;
    for (int i = 0; i < l->n; i++) {
        int64_t x = l->coef[i] * l->atom[i]->lo, y = l->coef[i] * l->atom[i]->hi;
        l->lo += MIN(x, y);
        l->hi += MAX(x, y);
    }
}

/* An atom that stands for a sum of terms times coef is put in its place. */
static void put(Graph *g, Lin *l, int64_t coef, const Atom *a)
{
    for (int i = 0; i < l->n; i++)
        if (l->atom[i] == a) {
            l->coef[i] += coef;
            if (l->coef[i] == 0) {
                l->n--;
                memmove(&l->coef[i], &l->coef[i + 1], sizeof *l->coef * (size_t)(l->n - i));
                memmove(&l->atom[i], &l->atom[i + 1], sizeof *l->atom * (size_t)(l->n - i));
            }
            return;
        }
    BUG(l->n == LIN_MOST, "a position of more than %d terms", LIN_MOST);
    (void)g;
    l->coef[l->n] = coef;
    l->atom[l->n++] = a;
}

static void put_all(Graph *g, Lin *l, const Lin *a, int64_t times)
{
    l->c += a->c * times;
    for (int i = 0; i < a->n; i++)
        put(g, l, a->coef[i] * times, a->atom[i]);
}

static void drop(Lin *l, int i)
{
    l->n--;
    memmove(&l->coef[i], &l->coef[i + 1], sizeof *l->coef * (size_t)(l->n - i));
    memmove(&l->atom[i], &l->atom[i + 1], sizeof *l->atom * (size_t)(l->n - i));
}

/* x // c * (c * k) + x % c * k is x * k. */
static bool rejoin(Graph *g, Lin *l)
{
    for (int i = 0; i < l->n; i++)
        for (int j = 0; j < l->n; j++) {
            const Atom *q = l->atom[i], *r = l->atom[j];
            if (q->kind != '/' || r->kind != '%' || q->c != r->c || !lin_same(q->of, r->of) ||
                l->coef[i] != l->coef[j] * q->c)
                continue;
            int64_t k = l->coef[j];
            const Lin *of = q->of;
            drop(l, MAX(i, j));
            drop(l, MIN(i, j));
            put_all(g, l, of, k);
            return true;
        }
    return false;
}

/* x // (a * c) * (c * k) + (x // a) % c * k is x // a * k. */
static bool rejoin_inner(Graph *g, Lin *l)
{
    for (int i = 0; i < l->n; i++)
        for (int j = 0; j < l->n; j++) {
            const Atom *q = l->atom[i], *r = l->atom[j];
            const Atom *in = r->kind == '%' && r->of->n == 1 && r->of->coef[0] == 1 && r->of->c == 0
                                 ? r->of->atom[0]
                                 : NULL;
            if (q->kind != '/' || !in || in->kind != '/' || q->c != in->c * r->c ||
                !lin_same(q->of, in->of) || l->coef[i] != l->coef[j] * r->c)
                continue;
            int64_t k = l->coef[j];
            drop(l, MAX(i, j));
            drop(l, MIN(i, j));
            put(g, l, k, in);
            return true;
        }
    return false;
}

/* (x // a) % c * (a * k) + x % a * k is x % (a * c) * k. */
static bool rejoin_remainders(Graph *g, Lin *l)
{
    for (int i = 0; i < l->n; i++)
        for (int j = 0; j < l->n; j++) {
            const Atom *q = l->atom[i], *r = l->atom[j];
            const Atom *in = q->kind == '%' && q->of->n == 1 && q->of->coef[0] == 1 && q->of->c == 0
                                 ? q->of->atom[0]
                                 : NULL;
            if (!in || in->kind != '/' || r->kind != '%' || in->c != r->c ||
                !lin_same(in->of, r->of) || l->coef[i] != l->coef[j] * r->c)
                continue;
            int64_t k = l->coef[j];
            const Lin *rest = lin_mod(g, in->of, in->c * q->c);
            drop(l, MAX(i, j));
            drop(l, MIN(i, j));
            put_all(g, l, rest, k);
            return true;
        }
    return false;
}

static const Lin *finish(Graph *g, Lin *l)
{
    while (rejoin(g, l) || rejoin_inner(g, l) || rejoin_remainders(g, l)) {}
    bounds(l);
    return l;
}

const Lin *lin_var(Graph *g, const char *text, int64_t lo, int64_t hi)
{
    Lin *l = lin_new(g, lo);
    if (lo != hi) {
        l->c = 0;
        put(g, l, 1, atom(g, (Atom){.kind = 'v', .text = text, .lo = lo, .hi = hi}));
    }
    return finish(g, l);
}

const Lin *lin_add(Graph *g, const Lin *a, const Lin *b)
{
    Lin *l = lin_new(g, 0);
    put_all(g, l, a, 1);
    put_all(g, l, b, 1);
    return finish(g, l);
}

const Lin *lin_mul(Graph *g, const Lin *a, int64_t c)
{
    Lin *l = lin_new(g, 0);
    if (c)
        put_all(g, l, a, c);
    return finish(g, l);
}

/* The terms that c divides, and the others. */
static void part(Graph *g, const Lin *a, int64_t c, Lin **whole, Lin **rest)
{
    *whole = lin_new(g, 0);
    *rest = lin_new(g, 0);
    for (int i = 0; i < a->n; i++)
        put(g, a->coef[i] % c ? *rest : *whole, a->coef[i], a->atom[i]);
    int64_t r = ((a->c % c) + c) % c;
    (*rest)->c = r;
    (*whole)->c = a->c - r;
    bounds(*rest);
}

const Lin *lin_div(Graph *g, const Lin *a, int64_t c)
{
    Lin *whole, *rest;
    if (c <= 1) /* an axis of none is walked over by nobody */
        return a;
    part(g, a, c, &whole, &rest);
    Lin *l = lin_new(g, whole->c / c);
    for (int i = 0; i < whole->n; i++)
        put(g, l, whole->coef[i] / c, whole->atom[i]);
    if (rest->lo < 0 || !extent_le(g, rest->hi + 1, c)) {
        if (rest->n == 1 && rest->coef[0] == 1 && rest->c == 0 && rest->atom[0]->kind == '/')
            return lin_add(g, finish(g, l),
                           lin_div(g, rest->atom[0]->of, rest->atom[0]->c * c));
        put(g, l, 1, atom(g, (Atom){.kind = '/', .of = finish(g, rest), .c = c,
                                    .lo = extent_floor(g, rest->lo, c),
                                    .hi = extent_floor(g, rest->hi, c)}));
    }
    return finish(g, l);
}

const Lin *lin_mod(Graph *g, const Lin *a, int64_t c)
{
    Lin *whole, *rest;
    if (c <= 1)
        return lin_const(g, 0);
    part(g, a, c, &whole, &rest);
    if (rest->lo >= 0 && extent_le(g, rest->hi + 1, c))
        return finish(g, rest);
    Lin *l = lin_new(g, 0);
    put(g, l, 1, atom(g, (Atom){.kind = '%', .of = finish(g, rest), .c = c, .lo = 0, .hi = c - 1}));
    return finish(g, l);
}

bool lin_same(const Lin *a, const Lin *b)
{
    bool same = a->n == b->n && a->c == b->c;
    for (int i = 0; same && i < a->n; i++) {
        same = false;
        for (int j = 0; j < b->n; j++)
            same = same || (a->atom[i] == b->atom[j] && a->coef[i] == b->coef[j]);
    }
    return same;
}

static bool atom_uses(const Atom *a, const Atom *v)
{
    return a == v || (a->kind != 'v' && lin_uses(a->of, &(Lin){.n = 1, .atom = {v}}));
}

bool lin_uses(const Lin *a, const Lin *var)
{
    bool uses = false;
    for (int i = 0; i < a->n && var->n; i++)
        uses = uses || atom_uses(a->atom[i], var->atom[0]);
    return uses;
}

static bool is_word(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        depth += *s == '(' || *s == '[';
        depth -= *s == ')' || *s == ']';
        if (*s == ' ' && depth == 0)
            return false;
    }
    return true;
}

static const char *factor(Graph *g, const Atom *a)
{
    const char *s = a->kind == 'v' ? a->text : lin_text(g, a->of);
    if (a->kind == 'v')
        return is_word(s) ? s : arena_printf(g->arena, "(%s)", s);
    return arena_printf(g->arena, is_word(s) ? "%s %s %s" : "(%s) %s %s", s,
                        a->kind == '/' ? "//" : "%", extent_factor(g, a->c));
}

static void term(Graph *g, Str *s, int64_t coef, const Atom *a)
{
    const char *f = factor(g, a);
    if (s->n)
        str_puts(s, coef < 0 ? " - " : " + ");
    else if (coef < 0)
        str_puts(s, "-");
    int64_t c = coef < 0 ? -coef : coef;
    if (c == 1 && a->kind == 'v' && coef > 0)
        str_puts(s, a->text);
    else if (c == 1)
        str_printf(s, a->kind == 'v' || coef > 0 ? "%s" : "(%s)", f);
    else
        str_printf(s, "%s * %s", f, extent_factor(g, c));
}

const char *lin_text(Graph *g, const Lin *a)
{
    Str s;
    str_init(&s, g->arena);
    for (int i = 0; i < a->n; i++)
        term(g, &s, a->coef[i], a->atom[i]);
    if (a->c && s.n)
        str_printf(&s, " %c %s", a->c < 0 ? '-' : '+', extent_addend(g, a->c < 0 ? -a->c : a->c));
    else if (!s.n)
        str_puts(&s, extent_text(g, a->c));
    return s.s;
}

/* ---- through nodes --------------------------------------------------------------------------- */

/* Runs of axes whose extents multiply to the same are flattened and parted on their own. */
static void reshape_index(Graph *g, const Node *n, const Lin *const *at, const Lin **out)
{
    const Node *a = n->arg[0];
    int i = 0, o = 0;
    while (i < n->rank || o < a->rank) {
        int i0 = i, o0 = o;
        int64_t have = i < n->rank ? n->shape[i++] : 1, want = o < a->rank ? a->shape[o++] : 1;
        while (have != want) {
            if (have < want && i < n->rank)
                have *= n->shape[i++];
            else if (o < a->rank)
                want *= a->shape[o++];
            else
                break;
        }
        const Lin *flat = lin_const(g, 0);
        for (int d = i0; d < i; d++)
            flat = lin_add(g, lin_mul(g, flat, n->shape[d]), at[d]);
        for (int d = o - 1; d >= o0; d--) {
            out[d] = d == o0 ? flat : lin_mod(g, flat, a->shape[d]);
            flat = lin_div(g, flat, a->shape[d]);
        }
    }
}

static int pad_index(Graph *g, const Node *n, const Lin *const *at, const Lin **out, Guard *guard)
{
    int ng = 0;
    for (int d = 0; d < n->rank; d++) {
        const int64_t step = n->attr[TENSOR_RANK + d], last = n->arg[0]->shape[d] - 1;
        const Lin *from = lin_add(g, at[d], lin_const(g, -n->attr[d]));
        Guard k = {.what = from, .lo = 0, .hi = last * step, .mod = step};
        out[d] = step == 1 ? from : lin_div(g, from, step);
        if (from->lo < 0 || !extent_le(g, from->hi, k.hi) || step != 1)
            guard[ng++] = k;
    }
    return ng;
}

static int spread_index(Graph *g, const Node *n, const Lin *const *at, const Lin **out,
                        Guard *guard)
{
    const int axis = (int)n->attr[0];
    const Lin *from = lin_add(g, at[axis], lin_mul(g, at[axis + 1], -n->attr[3]));
    for (int d = 0; d < n->rank; d++)
        out[d] = d == axis ? lin_div(g, from, n->attr[2]) : at[d];
    guard[0] = (Guard){.what = from, .lo = 0, .hi = (n->arg[0]->shape[axis] - 1) * n->attr[2],
                       .mod = n->attr[2]};
    return 1;
}

static int concat_index(Graph *g, const Node *n, int k, const Lin *const *at, const Lin **out,
                        Guard *guard)
{
    const int axis = (int)n->attr[0];
    const int64_t first = n->arg[0]->shape[axis];
    for (int d = 0; d < n->rank; d++)
        out[d] = d == axis && k ? lin_add(g, at[d], lin_const(g, -first)) : at[d];
    guard[0] = (Guard){.what = out[axis], .lo = 0, .hi = n->arg[k]->shape[axis] - 1, .mod = 1};
    return 1;
}

static void window_index(Graph *g, const Node *n, const Lin *const *at, const Lin **out)
{
    const int axis = (int)n->attr[0];
    for (int d = 0; d < n->arg[0]->rank; d++)
        out[d] = at[d + (d > axis)];
    out[axis] = lin_add(g, lin_mul(g, at[axis], n->attr[2]), lin_mul(g, at[axis + 1], n->attr[3]));
}

int operand_index(Graph *g, const Node *n, int k, const Lin *const *at, const Lin **out,
                  Guard *guard)
{
    const Node *a = n->arg[k];
    switch (n->kind) {
    case NODE_RESHAPE: reshape_index(g, n, at, out); return 0;
    case NODE_PAD: return pad_index(g, n, at, out, guard);
    case NODE_SPREAD: return spread_index(g, n, at, out, guard);
    case NODE_CONCAT: return concat_index(g, n, k, at, out, guard);
    case NODE_WINDOW: window_index(g, n, at, out); return 0;
    case NODE_PERMUTE:
        for (int d = 0; d < a->rank; d++)
            out[n->attr[d]] = at[d];
        return 0;
    case NODE_BROADCAST:
        for (int d = 0; d < a->rank; d++)
            out[d] = a->shape[d] == 1 ? lin_const(g, 0) : at[d + n->rank - a->rank];
        return 0;
    case NODE_SLICE:
        for (int d = 0; d < a->rank; d++)
            out[d] = lin_add(g, lin_mul(g, at[d], n->attr[TENSOR_RANK + d]),
                             lin_const(g, n->attr[d]));
        return 0;
    default:
        for (int d = 0; d < a->rank; d++)
            out[d] = at[d];
        return 0;
    }
}
