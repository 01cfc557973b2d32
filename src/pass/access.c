/* access.c -- what is known of each access: proved in bounds, guarded, clipped, assumed.
 *
 * lower_guards says so where it decides.  Of a guard, or of an index that nothing was proven of,
 * values are looked for that leave the bounds: extremes of the variables first, then any.  Values
 * that are found satisfy all that is known there (ranges, conditions, names), so they are real
 * ones; where none is found, nothing is claimed. */
#include "pass/access.h"
#include "isa/isa.h"

enum { POINTS = 2048, CORNER_VARS = 10, SEARCH_VARS = 40, SPAN_MOST = 1 << 16 };

typedef struct {
    Arena *arena;
    const Facts *f;
    const Var **vars; /* those of the guard first */
    int n, nown;
    Bounds *range;
    int64_t *values;  /* by Var id */
    uint64_t seed;
} Search;

static bool see_other(const Expr *e, void *arg)
{
    bool *other = arg;

    *other |= e->op == EX_LOAD || e->op == EX_EXTERN || e->op == EX_MATH || e->op == EX_ADDR ||
              e->lanes != 1 || !(dtype_is_int(e->type) || e->type == DT_BOOL);
    return !*other;
}

/* Of whole numbers and variables alone. */
static bool is_arithmetic(const Expr *e)
{
    bool other = false;

    expr_visit(e, see_other, &other);
    return !other;
}

static void add_vars(Search *s, const Expr *e)
{
    Map found;

    map_init(&found, s->arena);
    expr_vars(e, &found);
    for (int i = 0; i < found.n; i++) {
        const Var *v = found.at[i].key;
        bool known = !v;
        for (int j = 0; j < s->n && !known; j++)
            known = s->vars[j] == v;
        if (!known && s->n < SEARCH_VARS)
            s->vars[s->n++] = v;
    }
}

/* v == value, as names for values and asserted equalities are known. */
static bool is_name(const Expr *cond, const Var **v, const Expr **value)
{
    if (cond->op != EX_EQ)
        return false;
    int side = cond->kid[0]->op == EX_VAR ? 0 : 1;
    *v = cond->kid[side]->op == EX_VAR ? cond->kid[side]->u.var : NULL;
    *value = cond->kid[1 - side];
    return *v != NULL;
}

static void settle_names(Search *s)
{
    const Var *v;
    const Expr *value;

    for (int i = 0; i < s->f->list.n; i++) {
        const Fact *f = &s->f->list.at[i];
        if (f->kind == FACT_COND && is_arithmetic(f->cond) && is_name(f->cond, &v, &value))
            s->values[v->id] = expr_eval(value, s->values);
    }
}

static bool fact_holds(const Search *s, const Fact *f)
{
    if (f->kind == FACT_VAR)
        return s->values[f->var->id] >= f->bounds.lo && s->values[f->var->id] <= f->bounds.hi;
    if (f->kind == FACT_COND)
        return is_arithmetic(f->cond) && expr_eval(f->cond, s->values) != 0;
    int64_t sum = f->lin->base;
    for (int i = 0; i < f->lin->n; i++) {
        if (!is_arithmetic(f->lin->t[i].atom))
            return false;
        sum += f->lin->t[i].coef * expr_eval(f->lin->t[i].atom, s->values);
    }
    return sum >= 0;
}

static bool facts_hold_here(const Search *s)
{
    for (int i = 0; i < s->f->list.n; i++)
        if (!fact_holds(s, &s->f->list.at[i]))
            return false;
    return true;
}

static void pick_values(Search *s, int point)
{
    for (int i = 0; i < s->n; i++) {
        Bounds r = s->range[i];
        s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t width = (uint64_t)(r.hi - r.lo) + 1;
        bool corner = point < 1 << MIN(s->n, CORNER_VARS);
        s->values[s->vars[i]->id] = !corner ? r.lo + (int64_t)((s->seed >> 20) % width)
                                    : point >> MIN(i, CORNER_VARS) & 1 ? r.hi : r.lo;
    }
}

static void set_ranges(Search *s)
{
    s->range = NEWN(s->arena, Bounds, s->n + 1);
    for (int i = 0; i < s->n; i++) {
        const Fact *f = facts_of(s->f, s->vars[i]);
        Bounds b = f ? f->bounds : (Bounds){INT64_MIN, INT64_MAX};
        int64_t lo = b.lo != INT64_MIN ? b.lo : b.hi != INT64_MAX ? b.hi - SPAN_MOST : 0;
        s->range[i] = (Bounds){lo, b.hi != INT64_MAX ? b.hi : lo + SPAN_MOST};
    }
}

static const char *point_text(const Search *s)
{
    Str out;

    str_init(&out, s->arena);
    for (int i = 0; i < s->nown; i++)
        str_printf(&out, "%s%s=%lld", i ? ", " : "", s->vars[i]->name,
                   (long long)s->values[s->vars[i]->id]);
    return out.s;
}

static bool is_given(const Kernel *k, const Var *v)
{
    for (int i = 0; i < k->func->params.n; i++)
        if (k->func->params.at[i].var == v)
            return true;
    for (int i = 0; i < k->func->dims.n; i++)
        if (k->func->dims.at[i] == v)
            return true;
    return false;
}

/* Of a name for something out of memory nothing is known, and no value is a real one. */
static bool vars_are_known(const Kernel *k, const Search *s, bool *given)
{
    for (int i = 0; i < s->n; i++) {
        *given |= i < s->nown && is_given(k, s->vars[i]);
        if (!facts_of(s->f, s->vars[i]) && !is_given(k, s->vars[i]))
            return false;
    }
    return true;
}

/* Values for which cond is false and all that is known holds; NULL: none was found.  *given: the
 * caller of the kernel chooses some of them. */
static const char *find_point(Kernel *k, const Facts *f, const Expr *cond, bool *given)
{
    Arena *a = k->ir->arena;
    Search s = {.arena = a, .f = f, .vars = NEWN(a, const Var *, SEARCH_VARS), .seed = 1};

    if (!is_arithmetic(cond))
        return NULL;
    add_vars(&s, cond);
    s.nown = s.n;
    for (int i = 0; i < f->list.n; i++) {
        const Fact *x = &f->list.at[i];
        if (x->kind == FACT_COND)
            add_vars(&s, x->cond);
        for (int t = 0; x->kind == FACT_LINEAR && t < x->lin->n; t++)
            add_vars(&s, x->lin->t[t].atom);
        if (x->kind == FACT_VAR)
            add_vars(&s, expr_var(k->ir, (Var *)x->var));
    }
    if (!vars_are_known(k, &s, given))
        return NULL;
    set_ranges(&s);
    s.values = NEWN(a, int64_t, k->ir->nvar + 1);
    for (int point = 0; point < POINTS; point++) {
        pick_values(&s, point);
        settle_names(&s);
        if (facts_hold_here(&s) && expr_eval(cond, s.values) == 0)
            return point_text(&s);
    }
    return NULL;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* One for a line, a buffer and a direction: the worst of what it became. */
static void keep(Kernel *k, const AccessNote *n)
{
    for (int i = 0; i < k->accesses.n; i++) {
        AccessNote *o = &k->accesses.at[i];
        if (o->at.line != n->at.line || o->buf != n->buf || o->how != n->how)
            continue;
        int count = o->count + 1;
        if (n->known > o->known)
            *o = *n;
        o->count = count;
        return;
    }
    vec_push(k->ir->arena, &k->accesses, *n);
}

static const char *reasoning(const Facts *f, const Buffer *b, const Expr *const *index)
{
    bool constant = true, ranges = true;

    for (int d = 0; d < b->rank; d++) {
        Bounds i = bounds_of(f, index[d]), shape = bounds_of(f, b->shape[d]);
        constant &= expr_is_const(index[d]);
        ranges &= bounds_known(i) && i.lo >= 0 && i.hi < shape.lo;
    }
    return constant ? "constant" : ranges ? "by the ranges of its indices"
                                          : "by what is known where it stands";
}

void access_note(Kernel *k, const Facts *f, Span at, const Buffer *b, const Expr *const *index,
                 char how, const Expr *guard, bool guarded, bool maybe)
{
    bool given = false;
    AccessNote n = {ACCESS_PROVED, at, buffer_root(b), how, 1, NULL, NULL};
    Str text;

    if (b->rank == 0)
        return;
    if (!guard) {
        n.why = reasoning(f, b, index);
    } else {
        str_init(&text, k->ir->arena);
        print_expr(&text, guard);
        n.why = text.s;
        n.point = find_point(k, f, guard, &given);
        bool wrong = n.point && !given && !maybe;
        n.known = guarded ? ACCESS_GUARDED : wrong ? ACCESS_WRONG : ACCESS_ASSUMED;
    }
    keep(k, &n);
}

static void note_region(void *arg, const Stmt *s, const Touch *t)
{
    AccessNote n = {ACCESS_CLIPPED, s->span, buffer_root(t->buf), touch_writes(t) ? 'w' : 'r', 1,
                    isa_name(s->u.instr.isa), NULL};

    if (n.buf->scope == MEM_GLOBAL)
        keep(arg, &n);
}

void access_note_instr(Kernel *k, const Stmt *s)
{
    stmt_touches(s, note_region, k);
}
