/* access.c -- what is known of each access: proved in bounds, guarded, clipped, assumed.
 *
 * lower_guards says so where it decides.  Of a guard, or of an index that nothing was proven of,
 * values are looked for that leave the bounds: extremes of the variables first, then any, then
 * those that z3 finds where it is.  Values that are found satisfy all that is known there (ranges,
 * conditions, names), so they are real ones, whoever found them; where none is found, nothing is
 * claimed.  What a tensor of the call holds is a value too, where the kernel does not write it. */
#include "pass/access.h"
#include "arith/z3.h"
#include "isa/isa.h"

enum { POINTS = 2048, CORNER_VARS = 10, SEARCH_VARS = 40, SPAN_MOST = 1 << 16, SMALL_MOST = 4096 };
enum { LOADS_MOST = 8, SIZE_MOST = 1 << 20 };

/* An element of a tensor, and the variable that stands for it in the search. */
typedef struct {
    const Expr *load;
    const Var *var;
} Element;

typedef struct {
    Arena *arena;
    Facts *f;
    Element element[LOADS_MOST];
    int nelement;
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
        if (point % 2 == 0)
            width = MIN(width, SPAN_MOST); /* those that a call can have come first */
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

/* "At[3, 7]" at the values of now. */
static void put_element(Str *out, const Search *s, const Expr *load)
{
    str_printf(out, "%s[", load->u.buf->name);
    for (int d = 0; d < load->u.buf->rank; d++)
        str_printf(out, "%s%lld", d ? ", " : "", (long long)expr_eval(load->kid[d], s->values));
    str_putc(out, ']');
}

static const Expr *element_of(const Search *s, const Var *v)
{
    for (int i = 0; i < s->nelement; i++)
        if (s->element[i].var == v)
            return s->element[i].load;
    return NULL;
}

/* Outside of the tensor its safe value is taken. */
static bool is_read(const Search *s, const Expr *load)
{
    return !load->guarded || expr_eval(load->kid[load->nkid - 2], s->values) != 0;
}

static const char *point_text(const Search *s)
{
    Str out;

    str_init(&out, s->arena);
    for (int i = 0; i < s->nown; i++) {
        const Expr *load = element_of(s, s->vars[i]);
        if (load && !is_read(s, load))
            continue;
        str_puts(&out, out.n ? ", " : "");
        if (load)
            put_element(&out, s, load);
        else
            str_puts(&out, s->vars[i]->name);
        str_printf(&out, "=%lld", (long long)s->values[s->vars[i]->id]);
    }
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
        bool element = element_of(s, s->vars[i]) != NULL;
        *given |= i < s->nown && (is_given(k, s->vars[i]) || element);
        if (!facts_of(s->f, s->vars[i]) && !is_given(k, s->vars[i]) && !element)
            return false;
    }
    return true;
}

/* Those that nothing depends on are 1. */
static void put_word(Str *out, const Search *s, const Var *v)
{
    int64_t value = 1;

    for (int i = 0; i < s->n; i++)
        if (s->vars[i] == v)
            value = s->values[v->id];
    str_printf(out, " %s=%lld", v->name, (long long)value);
}

/* Scalars and run-time dimensions as `tl run` takes them: " n=5 m=1". */
static const char *words_text(const Kernel *k, const Search *s)
{
    Str out;

    str_init(&out, s->arena);
    for (int i = 0; i < k->func->dims.n; i++)
        put_word(&out, s, k->func->dims.at[i]);
    for (int i = 0; i < k->func->params.n; i++)
        if (k->func->params.at[i].var)
            put_word(&out, s, k->func->params.at[i].var);
    for (int i = 0; i < s->nelement; i++) {
        const char *name = s->element[i].load->u.buf->name;
        if (is_read(s, s->element[i].load))
            str_printf(&out, " --in %s=%s.npy", name, name);
    }
    return out.s;
}

/* ---- what tensors hold ----------------------------------------------------------------------- */

typedef struct {
    const Buffer *b;
    bool written;
} Written;

static void see_write(void *arg, const Stmt *s, const Touch *t)
{
    Written *w = arg;

    (void)s;
    w->written |= touch_writes(t) && buffer_root(t->buf) == w->b;
}

/* The caller of the kernel chooses what it holds. */
static bool is_input(const Kernel *k, const Buffer *b)
{
    Written w = {buffer_root(b), false};
    bool given = false;

    for (int i = 0; i < k->func->params.n; i++)
        given |= k->func->params.at[i].buf == b && !k->func->params.at[i].out;
    if (given)
        stmt_touches_all(k->body, see_write, &w);
    return given && !w.written && dtype_is_int(b->type) && dtype_bits(b->type) >= 8;
}

typedef struct {
    Kernel *k;
    Search *s;
    bool bad;
} Loads;

static const Expr *load_as_var(Ir *ir, const Expr *e, void *arg)
{
    Loads *l = arg;
    Search *s = l->s;
    const Var *v = NULL;

    if (e->op != EX_LOAD)
        return e;
    for (int i = 0; i < s->nelement; i++) {
        if (s->element[i].load == e)
            v = s->element[i].var;
        else
            l->bad |= s->element[i].load->u.buf == e->u.buf; /* it may be the same element */
    }
    l->bad |= e->lanes != 1 || s->nelement == LOADS_MOST || !is_input(l->k, e->u.buf);
    for (int d = 0; d < e->nkid; d++)
        l->bad |= expr_has_load(e->kid[d]);
    if (l->bad)
        return e;
    if (!v) {
        v = var_new(ir, e->u.buf->name, e->type, NO_SPAN);
        s->element[s->nelement++] = (Element){e, v};
    }
    const Expr *value = expr_var(ir, (Var *)v);
    return e->guarded ? expr_select(ir, e->kid[e->nkid - 2], value, e->kid[e->nkid - 1]) : value;
}

/* ---- looking for values ---------------------------------------------------------------------- */

typedef struct {
    const char *point; /* values for which the condition is false and all that is known holds */
    const char *words; /* those of them that are the call's */
    bool given;        /* the caller of the kernel chooses some of them */
    bool proved;       /* by z3: there are none */
} Found;

static void add_known(Kernel *k, Search *s)
{
    for (int i = 0; i < s->f->list.n; i++) {
        const Fact *x = &s->f->list.at[i];
        if (x->kind == FACT_COND)
            add_vars(s, x->cond);
        for (int t = 0; x->kind == FACT_LINEAR && t < x->lin->n; t++)
            add_vars(s, x->lin->t[t].atom);
        if (x->kind == FACT_VAR)
            add_vars(s, expr_var(k->ir, (Var *)x->var));
    }
}

/* Sizes are at least 1 and those of a tensor that can be made, and what is read fits its type. */
static bool values_are_possible(const Kernel *k, const Search *s)
{
    for (int i = 0; i < s->n; i++) {
        int64_t v = s->values[s->vars[i]->id];
        Bounds b = bounds_of_type(s->vars[i]->type);
        for (int d = 0; d < k->func->dims.n; d++)
            if (k->func->dims.at[d] == s->vars[i] && (v < 1 || v > SIZE_MOST))
                return false;
        if (bounds_known(b) && (v < b.lo || v > b.hi))
            return false;
    }
    return true;
}

typedef struct {
    const Search *s;
    bool wraps;
} Wraps;

static bool see_wrap(const Expr *e, void *arg)
{
    Wraps *w = arg;
    Bounds b = bounds_of_type(e->type);

    if (e->type != DT_BOOL && bounds_known(b)) {
        int64_t v = expr_eval(e, w->s->values);
        w->wraps |= v < b.lo || v > b.hi;
    }
    return !w->wraps;
}

/* Numbers are taken as those of mathematics: those that do not fit their type show nothing. */
static bool some_wraps(const Search *s, const Expr *cond)
{
    Wraps w = {s, false};

    expr_visit(cond, see_wrap, &w);
    for (int i = 0; i < s->f->list.n && !w.wraps; i++)
        if (s->f->list.at[i].kind == FACT_COND)
            expr_visit(s->f->list.at[i].cond, see_wrap, &w);
    return w.wraps;
}

static bool is_outside(const Kernel *k, const Search *s, const Expr *cond)
{
    return values_are_possible(k, s) && facts_hold_here(s) && expr_eval(cond, s->values) == 0 &&
           !some_wraps(s, cond);
}

static bool by_trying(const Kernel *k, Search *s, const Expr *cond)
{
    for (int i = 0; i < s->n; i++)
        if (s->range[i].hi < s->range[i].lo) /* where no thread comes */
            return false;
    for (int point = 0; point < POINTS; point++) {
        pick_values(s, point);
        settle_names(s);
        if (is_outside(k, s, cond))
            return true;
    }
    return false;
}

static bool by_solver(const Kernel *k, Search *s, const Expr *cond)
{
    int m = facts_mark(s->f);

    for (int i = 0; i < k->func->dims.n; i++)
        facts_assume(s->f, expr_binary(k->ir, EX_GE, expr_var(k->ir, k->func->dims.at[i]),
                                       expr_int(k->ir, 1)));
    Proof p = z3_values(s->f, cond, s->vars, s->n, SMALL_MOST, s->values);
    facts_pop(s->f, m);
    return p == PROOF_NO && is_outside(k, s, cond);
}

static Found find_point(Kernel *k, Facts *f, const Expr *cond)
{
    Arena *a = k->ir->arena;
    Search s = {.arena = a, .f = f, .vars = NEWN(a, const Var *, SEARCH_VARS), .seed = 1};
    Loads l = {k, &s, false};
    Found found = {0};
    const Expr *of = expr_map(k->ir, cond, load_as_var, &l);

    if (!l.bad && is_arithmetic(of)) {
        add_vars(&s, of);
        s.nown = s.n;
        for (int i = 0; i < s.nelement; i++)
            for (int d = 0; d < s.element[i].load->nkid; d++)
                add_vars(&s, s.element[i].load->kid[d]);
        add_known(k, &s);
        set_ranges(&s);
        s.values = NEWN(a, int64_t, k->ir->nvar + 1);
        bool known = vars_are_known(k, &s, &found.given);
        if (known && (by_trying(k, &s, of) || by_solver(k, &s, of)))
            found.point = point_text(&s), found.words = words_text(k, &s);
    }
    found.proved = !found.point && z3_prove(f, cond) == PROOF_YES;
    return found;
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

/* And the command that shows it; those words of it that are not known here the command line knows
 * (cli/prove.c).  Where an element of a tensor decides, its file has to be made first, with zeros
 * beside it. */
static const char *with_command(Kernel *k, const Found *f, bool maybe)
{
    Arena *a = k->ir->arena;

    if (maybe)
        return arena_printf(a, "%s, if what is in memory leads there", f->point);
    return arena_printf(a, "%s; see: tl run …%s --sim", f->point, f->words);
}

void access_note(Kernel *k, Facts *f, Span at, const Buffer *b, const Expr *const *index,
                 char how, const Expr *guard, bool guarded, bool maybe)
{
    AccessNote n = {ACCESS_PROVED, at, buffer_root(b), how, 1, NULL, NULL};
    Str text;

    if (b->rank == 0)
        return;
    if (!guard) {
        n.why = reasoning(f, b, index);
    } else {
        str_init(&text, k->ir->arena);
        print_expr(&text, guard);
        Found found = find_point(k, f, guard);
        bool wrong = found.point && !found.given && !maybe;
        n.why = found.proved && !guarded ? "by z3" : text.s;
        n.point = found.point && !guarded ? with_command(k, &found, maybe)
                  : found.proved          ? ""
                                          : found.point;
        n.known = guarded        ? ACCESS_GUARDED
                  : found.proved ? ACCESS_PROVED
                  : wrong        ? ACCESS_WRONG
                                 : ACCESS_ASSUMED;
    }
    keep(k, &n);
}

static void note_region(void *arg, const Stmt *s, const Touch *t)
{
    AccessNote n = {.known = ACCESS_CLIPPED, .at = s->span, .buf = buffer_root(t->buf), .count = 1,
                    .how = touch_writes(t) ? 'w' : 'r', .why = isa_name(s->u.instr.isa)};

    if (n.buf->scope == MEM_GLOBAL)
        keep(arg, &n);
}

void access_note_instr(Kernel *k, const Stmt *s)
{
    stmt_touches(s, note_region, k);
}
