/* apart.c -- do two accesses of different threads ever touch one element?
 *
 * An index is a sum.  A term that names the thread is kept, with what else is in it as a number of
 * its own between bounds; so is a term that is small in range.  What every thread has alike (the
 * block, run-time sizes) cancels where both sides have it; of all else only the factor is known, so
 * sides are compared modulo those.  All points that are left are tried: an element that threads of
 * their own touch on both sides is a meeting.  Iterations of loops count as unrelated, so the
 * answer holds for any two of them. */
#include <stdlib.h>
#include "arith/arith.h"

enum { NUMBERS_MOST = 12, POINTS_MOST = 1 << 17 }; /* of all threads together */

typedef struct {
    const Expr *e; /* stands for it */
    Var *var;
    int64_t lo, extent;
} Number;

/* Which elements a thread touches by one access, or by several that say the same. */
typedef struct Places Places;
struct Places {
    bool known;
    const ThreadSite *site;
    Places *next;             /* of those with the same first index */
    int n, nnumber;           /* dimensions; numbers beside the thread */
    Linear alike[RANK_MOST];  /* terms that all threads have, in each dimension */
    int64_t factor[RANK_MOST]; /* of all that is not known; 0: nothing is */
    const Expr *out[RANK_MOST + 1]; /* the last: whether a thread touches anything */
    Number number[NUMBERS_MOST];
    int64_t npoint;           /* without the thread */
    const ExprCode *code;
    Map met[2];               /* Places -> YES or NO, between these threads; between parts */
    ThreadGroup group[2];
    int each;                 /* threads of such a part */
};

struct Apart {
    Ir *ir;
    Arena *arena;
    const Kernel *k;
    Facts *facts;
    Var *thread[3];
    Map lets, fixed; /* names for sums; blocks, sizes and scalars */
    Map places;      /* of a ThreadSite */
    Map alike;       /* first index -> Places */
    Places *now;     /* being made */
};

/* ---- terms ----------------------------------------------------------------------------------- */

typedef struct {
    const Apart *a;
    bool thread, load, other;
} Seen;

static bool is_counted(const Expr *e)
{
    return e->nkid <= 3 && e->lanes == 1 && e->op >= EX_ADD && e->op <= EX_CAST &&
           e->op != EX_DIV && !dtype_is_float((DType)e->type);
}

static bool see(const Expr *e, void *arg)
{
    Seen *s = arg;

    for (int d = 0; e->op == EX_VAR && d < 3; d++)
        s->thread |= e->u.var == s->a->thread[d];
    s->other |= e->op == EX_VAR && !map_has(&s->a->fixed, e->u.var);
    s->load |= e->op != EX_VAR && e->op != EX_INT && !is_counted(e);
    return true;
}

static Seen seen_in(const Apart *a, const Expr *e)
{
    Seen s = {.a = a};
    expr_visit(e, see, &s);
    return s;
}

bool alike_for_threads(const Apart *a, const Expr *e)
{
    Seen s = seen_in(a, e);
    return !s.thread && !s.load && !s.other;
}

/* A number that stands for e, of so many values that they can be tried; NULL: it has too many. */
static const Expr *number_for(Apart *a, const Expr *e)
{
    Places *p = a->now;

    for (int i = 0; i < p->nnumber; i++)
        if (p->number[i].e == e)
            return expr_var(a->ir, p->number[i].var);
    Bounds b = bounds_of(a->facts, e);
    int64_t most = POINTS_MOST / kernel_launch_threads(a->k) / p->npoint;
    if (!bounds_known(b) || p->nnumber == NUMBERS_MOST || b.lo < -most || b.hi < b.lo ||
        b.hi >= most + b.lo)
        return NULL; /* an empty range: of a loop that facts say never runs */
    Number n = {e, var_new(a->ir, "u", (DType)e->type, (Span){0}), b.lo, b.hi - b.lo + 1};
    p->number[p->nnumber++] = n;
    p->npoint *= n.extent;
    return expr_var(a->ir, n.var);
}

/* e over the thread and numbers; NULL: what else it holds is not bounded. */
static const Expr *by_thread(Apart *a, const Expr *e)
{
    const Expr *kid[3];
    Seen s = seen_in(a, e);

    if (e->op == EX_INT || (e->op == EX_VAR && s.thread))
        return e;
    if (!s.thread)
        return number_for(a, e);
    if (!is_counted(e))
        return NULL;
    for (int i = 0; i < e->nkid; i++)
        if (!(kid[i] = by_thread(a, e->kid[i])))
            return NULL;
    return expr_with_kids(a->ir, e, kid);
}

static const Expr *times(Ir *ir, const Expr *e, int64_t by)
{
    return expr_mul(ir, expr_cast(ir, DT_I64, e), expr_const(ir, DT_I64, by));
}

/* A term beside those of the thread: alike for all, of few values, or known by its factor only. */
static const Expr *add_term(Apart *a, int d, const Term *t, const Expr *sum)
{
    Seen s = seen_in(a, t->atom);
    const Expr *one;

    if (!s.load && !s.other)
        linear_term(&a->now->alike[d], t->atom, t->coef);
    else if ((one = number_for(a, t->atom)))
        sum = expr_add(a->ir, sum, times(a->ir, one, t->coef));
    else
        a->now->factor[d] = gcd_of(a->now->factor[d], t->coef);
    return sum;
}

static int by_factor(const void *a, const void *b)
{
    int64_t x = ((const Term *)a)->coef, y = ((const Term *)b)->coef;
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    return x < y ? -1 : x > y;
}

/* One dimension.  The terms of the thread come first, so that others find the numbers they made;
 * then small factors, which say least. */
static bool place_dim(Apart *a, int d, const Expr *e)
{
    Linear l = {0};
    const Expr *sum, *one;

    linear_expr(&l, simplify(a->ir, a->facts, expr_subst_map(a->ir, e, &a->lets, NULL)), 1);
    if (l.bad)
        return false;
    sum = expr_const(a->ir, DT_I64, l.base);
    for (int i = 0; i < l.n; i++)
        if (seen_in(a, l.t[i].atom).thread) {
            if (!(one = by_thread(a, l.t[i].atom)))
                return false;
            sum = expr_add(a->ir, sum, times(a->ir, one, l.t[i].coef));
        }
    qsort(l.t, (size_t)l.n, sizeof *l.t, by_factor);
    for (int i = 0; i < l.n; i++)
        if (!seen_in(a, l.t[i].atom).thread)
            sum = add_term(a, d, &l.t[i], sum);
    a->now->out[d] = sum;
    return true;
}

/* Whether a thread comes by, as far as the thread and the numbers that are there say it. */
static const Expr *place_cond(Apart *a, const Expr *cond)
{
    Ir *ir = a->ir;

    if (cond && cond->op == EX_AND)
        return expr_and(ir, place_cond(a, cond->kid[0]), place_cond(a, cond->kid[1]));
    if (cond) {
        cond = simplify(ir, a->facts, expr_subst_map(ir, cond, &a->lets, NULL));
        int n = a->now->nnumber;
        int64_t npoint = a->now->npoint;
        Seen s = seen_in(a, cond);
        const Expr *e = s.thread && !s.load ? by_thread(a, cond) : NULL;
        if (e && a->now->nnumber == n)
            return e;
        a->now->nnumber = n;
        a->now->npoint = npoint;
    }
    return expr_bool(ir, true);
}

/* Places that are known already, of this access or of one with the same indices. */
static Places *places_known(Apart *a, const ThreadSite *t)
{
    Places *p = map_get(&a->places, t);

    if (p || t->n == 0)
        return p;
    for (p = map_get(&a->alike, t->at[0]); p; p = p->next)
        if (p->n == t->n && p->site->cond == t->cond &&
            !memcmp(p->site->at, t->at, (size_t)t->n * sizeof *t->at))
            break;
    if (p)
        map_set(&a->places, t, p);
    return p;
}

static Places *places_of(Apart *a, const ThreadSite *t)
{
    Places *p = places_known(a, t);
    Var *vars[3 + NUMBERS_MOST];

    if (p)
        return p;
    p = a->now = NEW(a->arena, Places);
    *p = (Places){.n = t->n, .npoint = 1, .site = t};
    map_set(&a->places, t, p);
    if (t->n) {
        p->next = map_get(&a->alike, t->at[0]);
        map_set(&a->alike, t->at[0], p);
    }
    for (int d = 0; d < t->n; d++)
        if (t->at[d]->lanes != 1 || !place_dim(a, d, t->at[d]))
            return p;
    p->out[t->n] = place_cond(a, t->cond);
    for (int d = 0; d < 3; d++)
        vars[d] = a->thread[d];
    for (int i = 0; i < p->nnumber; i++)
        vars[3 + i] = p->number[i].var;
    p->code = expr_compile(a->ir, vars, 3 + p->nnumber, p->out, p->n + 1);
    p->known = true;
    return p;
}

/* ---- points ---------------------------------------------------------------------------------- */

enum { NOBODY = -1, SEVERAL = -2 };

typedef struct {
    uint64_t key; /* an element, or some that look alike */
    bool used;
    int who[2];   /* the thread, by side */
} Cell;

typedef struct {
    Cell *cell;
    uint64_t mask;
    int64_t modulus[RANK_MOST]; /* 0: none; 1: a dimension says nothing */
    bool met;
} Table;

static void put(Table *t, uint64_t key, int side, int who)
{
    Cell *c = &t->cell[key & t->mask];

    while (c->used && c->key != key)
        c = c == &t->cell[t->mask] ? t->cell : c + 1;
    if (!c->used)
        *c = (Cell){key, true, {NOBODY, NOBODY}};
    c->who[side] = c->who[side] == NOBODY || c->who[side] == who ? who : SEVERAL;
    int other = c->who[!side];
    t->met |= other != NOBODY && (other == SEVERAL || other != c->who[side]);
}

static void put_point(Table *t, const Places *p, const int64_t *arg, int side, int who)
{
    int64_t at[RANK_MOST + 1];
    uint64_t key = 0;

    expr_run(p->code, arg, at);
    if (!at[p->n])
        return;
    for (int d = 0; d < p->n; d++)
        if (t->modulus[d] != 1)
            key = hash_mix(key, (uint64_t)(t->modulus[d] ? floor_mod(at[d], t->modulus[d])
                                                         : at[d]));
    put(t, key, side, who);
}

/* `each` threads in a row count as one. */
static void put_all(Apart *a, Table *t, const Places *p, int side, ThreadGroup g, int each)
{
    int64_t arg[3 + NUMBERS_MOST], x = MAX(a->k->threads[0], 1), y = MAX(a->k->threads[1], 1);
    bool flat = y == 1 && a->k->threads[2] <= 1;

    for (int who = g.first; who < g.first + g.n && !t->met; who++) {
        arg[0] = flat ? who : who % x;
        arg[1] = flat ? 0 : who / x % y;
        arg[2] = flat ? 0 : who / (x * y);
        for (int64_t i = 0; i < p->npoint && !t->met; i++) {
            int64_t rest = i;
            for (int u = 0; u < p->nnumber; u++) {
                arg[3 + u] = p->number[u].lo + rest % p->number[u].extent;
                rest /= p->number[u].extent;
            }
            put_point(t, p, arg, side, who / each);
        }
    }
}

/* What a dimension can be compared by. */
static int64_t modulus_of(const Places *x, const Places *y, int d)
{
    Linear l = x->alike[d];
    int64_t m = gcd_of(x->factor[d], y->factor[d]);

    linear_sum(&l, &y->alike[d], -1);
    return l.bad ? 1 : gcd_of(m, linear_gcd(&l));
}

/* Do threads of g meet?  `each` in a row count as one. */
static bool meet(Apart *a, Table t, const Places *x, const Places *y, ThreadGroup g, int each)
{
    uint64_t size = 64;

    while (size < (uint64_t)(2 * g.n * (x->npoint + y->npoint)))
        size *= 2;
    Arena *scratch = arena_new();
    t.cell = NEWN(scratch, Cell, size);
    t.mask = size - 1;
    memset(t.cell, 0, size * sizeof *t.cell);
    put_all(a, &t, x, 0, g, each);
    put_all(a, &t, y, 1, g, each);
    arena_free(scratch);
    return t.met;
}

/* Where all meet, the first two mostly do. */
static bool try_points(Apart *a, const Places *x, const Places *y, ThreadGroup g, int each)
{
    Table t = {0};
    bool says = false;

    for (int d = 0; d < x->n; d++)
        says |= (t.modulus[d] = modulus_of(x, y, d)) != 1;
    if (!says)
        return false;
    return !meet(a, t, x, y, (ThreadGroup){g.first, MIN(g.n, 2 * each)}, each) &&
           !meet(a, t, x, y, g, each);
}

bool parts_apart(Apart *a, const ThreadSite *one, const ThreadSite *other, ThreadGroup g, int each)
{
    Places *x = places_of(a, one), *y = places_of(a, other);
    static const int yes, no;
    int by = each > 1;

    if (!x->known || !y->known || x->n != y->n || (a->k->extra_threads && a->k->threads[1] > 1))
        return false;
    if (g.first != x->group[by].first || g.n != x->group[by].n || (by && each != x->each))
        map_init(&x->met[by], a->arena);
    x->group[by] = g;
    x->each = by ? each : x->each;
    if (!map_has(&x->met[by], y))
        map_set(&x->met[by], y, try_points(a, x, y, g, each) ? &yes : &no);
    return map_get(&x->met[by], y) == &yes;
}

bool threads_apart(Apart *a, const ThreadSite *one, const ThreadSite *other, ThreadGroup g)
{
    return parts_apart(a, one, other, g, 1);
}

/* ---- names of the kernel --------------------------------------------------------------------- */

static bool see_name(const Stmt *s, void *arg)
{
    Apart *a = arg;
    const Var *v = s->kind == ST_FOR ? s->u.loop.var : s->kind == ST_LET ? s->u.let.var : NULL;

    if (v)
        map_remove(&a->fixed, v);
    if (s->kind == ST_FOR)
        facts_loop(a->facts, v, s->u.loop.min, s->u.loop.extent);
    if (s->kind != ST_LET)
        return true;
    facts_let(a->facts, s->u.let.var, s->u.let.value);
    if (!seen_in(a, s->u.let.value).load)
        map_set(&a->lets, v, expr_subst_map(a->ir, s->u.let.value, &a->lets, NULL));
    return true;
}

Apart *apart_new(const Kernel *k)
{
    Apart *a = NEW(k->scratch, Apart);

    *a = (Apart){.ir = k->ir, .arena = k->scratch, .k = k, .facts = facts_new(k->ir)};
    map_init(&a->lets, a->arena);
    map_init(&a->fixed, a->arena);
    map_init(&a->places, a->arena);
    map_init(&a->alike, a->arena);
    facts_kernel(a->facts, k);
    for (int d = 0; d < 3; d++) {
        a->thread[d] = k->thread[d] ? k->thread[d] : var_new(k->ir, "t", DT_I32, k->span);
        if (d < k->ngrid && k->block[d])
            map_set(&a->fixed, k->block[d], a);
    }
    for (int i = 0; i < k->func->dims.n; i++)
        map_set(&a->fixed, k->func->dims.at[i], a);
    for (int i = 0; i < k->func->params.n; i++)
        if (k->func->params.at[i].var)
            map_set(&a->fixed, k->func->params.at[i].var, a);
    stmt_visit(k->body, see_name, a);
    return a;
}
