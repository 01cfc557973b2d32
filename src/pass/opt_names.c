/* opt_names.c -- names for quotients and remainders are put in where they are used.
 *
 *     row = t // 8; col = t % 8
 *     B[row * 8 + col] = ...          ->     B[t] = ...
 *
 * So are names in the index or the window of a tile, which its layout will divide, and names of
 * what comes out shorter in terms of other names: start + n - start.  That makes lengths of loops
 * known, and with them more, so it is done a few times.  So are names in the index of a tensor
 * whose guard is not about threads then: the same for all of them, and for copies of a loop's body
 * often known.
 * What follows knows of a name its bounds and its place in sums: nothing that lets a quotient and
 * its remainder meet again, in an index or a guard.  Only what is exact as an index goes: nothing
 * of memory, no divisor but a positive number, nothing that may leave 32 bits. */
#include "pass/pass.h"
#include "pass/lower_exact.h"
#include "pass/thread_group.h"

enum { ROUNDS_MOST = 3, NODES_MOST = 48 }; /* of a value: what is longer stays a name */

typedef struct {
    Ir *ir;
    Kernel *k;
    IndexFacts facts;
    Map sums;   /* Var * -> its value, in terms of what has no value here */
    Map gone;   /* those of them that are put in */
} NameFacts;

static bool divides(const Expr *e)
{
    return e->op == EX_FLOORDIV || e->op == EX_FLOORMOD;
}

static bool is_index(const Expr *e)
{
    int64_t c;

    if (!expr_is_math(e) || (e->op == EX_VAR && e->u.var->data))
        return false;
    if (e->op == EX_VAR || e->op == EX_INT)
        return true;
    if (divides(e))
        return is_index(e->kid[0]) && expr_is_int(e->kid[1], &c) && c > 0;
    return (e->op == EX_ADD || e->op == EX_SUB || e->op == EX_MUL || e->op == EX_MIN ||
            e->op == EX_MAX) &&
           is_index(e->kid[0]) && is_index(e->kid[1]);
}

static bool is_division(const Expr *e, void *arg)
{
    (void)arg;
    return divides(e);
}

static bool find_name(const Stmt *s, void *arg)
{
    NameFacts *n = arg;

    if (s->kind != ST_LET || s->u.let.var->type != s->u.let.value->type ||
        !is_index(s->u.let.value) || !index_fits(n->facts.all, s->u.let.value))
        return true;
    const Expr *whole = expr_subst_map(n->ir, s->u.let.value, &n->sums, NULL);
    const Expr *value = simplify(n->ir, n->facts.all, whole);
    if (value->size > NODES_MOST)
        return true;
    map_set(&n->sums, s->u.let.var, value);
    if (expr_any(value, is_division, NULL) || value->size < whole->size)
        map_set(&n->gone, s->u.let.var, value);
    return true;
}

/* ---- in the index of a tile ------------------------------------------------------------------ */

static bool see_name(const Expr *e, void *arg)
{
    NameFacts *n = arg;

    if (e->op == EX_VAR && map_has(&n->sums, e->u.var))
        map_set(&n->gone, e->u.var, map_get(&n->sums, e->u.var));
    return true;
}

static bool is_of_threads(const Kernel *k, const Expr *e)
{
    Var *vars[3];
    int n = thread_vars(k, vars);

    for (int i = 0; i < n; i++)
        if (expr_uses_var(e, vars[i]))
            return true;
    return false;
}

static void see_bound(NameFacts *n, const Expr *at, const Expr *shape)
{
    if (!expr_is_math(at) || at->type != shape->type)
        return;
    const Expr *bound = expr_lt(n->ir, at, shape);
    const Expr *in = expr_subst_map(n->ir, bound, &n->sums, NULL);
    if (in != bound && is_of_threads(n->k, in) &&
        !expr_is_const(simplify(n->ir, n->facts.all, bound)) &&
        !is_of_threads(n->k, simplify(n->ir, n->facts.all, in)))
        expr_visit(at, see_name, n);
}

static void see_place(void *arg, const Stmt *s, const Touch *t)
{
    NameFacts *n = arg;
    MemScope m = t->buf->scope;
    const Expr *const *at = t->at ? t->at : t->region ? t->region->at : NULL;

    (void)s;
    for (int i = 0; at && !(t->how & ACC_ADDRESS) && i < t->buf->rank; i++)
        if (m == MEM_FRAGMENT || m == MEM_SHARED)
            expr_visit(at[i], see_name, n);
        else if (m == MEM_GLOBAL && t->at)
            see_bound(n, at[i], t->buf->shape[i]);
}

static const Stmt *drop_name(Ir *ir, const Stmt *s, void *arg)
{
    const NameFacts *n = arg;

    (void)ir;
    return s->kind == ST_LET && map_has(&n->gone, s->u.let.var) ? NULL : s;
}

/* False: there were none. */
static bool put_in(Kernel *k)
{
    NameFacts n = {.ir = k->ir, .k = k, .facts = index_facts(k)};

    map_init(&n.sums, k->scratch);
    map_init(&n.gone, k->scratch);
    stmt_visit(k->body, find_name, &n);
    stmt_touches_all(k->body, see_place, &n);
    if (n.gone.n)
        k->body = stmt_map(k->ir, stmt_subst_map(k->ir, k->body, &n.gone, NULL), drop_name, &n);
    return n.gone.n > 0;
}

void pass_opt_names(Kernel *k)
{
    for (int i = 0; i < ROUNDS_MOST && put_in(k); i++)
        simplify_kernel(k);
}
