/* z3.c -- proofs by libz3, found at run time by dlopen.
 *
 * Expressions become terms over the mathematical integers; what is not such a term (a load, a
 * shift, a sum that may wrap) becomes an unknown integer within its bounds, which can only lose a
 * proof.  Work is limited by z3's own resource counter, not by time, so the answer does not depend
 * on the machine. */
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include "arith/z3.h"

enum { RLIMIT = 2000000 };

typedef struct z3_thing *Z3; /* contexts, sorts, terms, solvers: all are opaque pointers */

/* X(result, name, parameters) */
#define FUNCTIONS(X)                                                                               \
    X(Z3, mk_config, (void))                                                                       \
    X(void, del_config, (Z3))                                                                      \
    X(Z3, mk_context, (Z3))                                                                        \
    X(void, del_context, (Z3))                                                                     \
    X(void, set_error_handler, (Z3, void (*)(Z3, int)))                                            \
    X(Z3, mk_string_symbol, (Z3, const char *))                                                    \
    X(Z3, mk_int_sort, (Z3))                                                                       \
    X(Z3, mk_bool_sort, (Z3))                                                                      \
    X(Z3, mk_const, (Z3, Z3, Z3))                                                                  \
    X(Z3, mk_int64, (Z3, int64_t, Z3))                                                             \
    X(Z3, mk_true, (Z3))                                                                           \
    X(Z3, mk_false, (Z3))                                                                          \
    X(Z3, mk_add, (Z3, unsigned, const Z3 *))                                                      \
    X(Z3, mk_sub, (Z3, unsigned, const Z3 *))                                                      \
    X(Z3, mk_mul, (Z3, unsigned, const Z3 *))                                                      \
    X(Z3, mk_and, (Z3, unsigned, const Z3 *))                                                      \
    X(Z3, mk_or, (Z3, unsigned, const Z3 *))                                                       \
    X(Z3, mk_not, (Z3, Z3))                                                                        \
    X(Z3, mk_div, (Z3, Z3, Z3))                                                                    \
    X(Z3, mk_mod, (Z3, Z3, Z3))                                                                    \
    X(Z3, mk_eq, (Z3, Z3, Z3))                                                                     \
    X(Z3, mk_lt, (Z3, Z3, Z3))                                                                     \
    X(Z3, mk_le, (Z3, Z3, Z3))                                                                     \
    X(Z3, mk_ite, (Z3, Z3, Z3, Z3))                                                                \
    X(Z3, mk_solver, (Z3))                                                                         \
    X(void, solver_inc_ref, (Z3, Z3))                                                              \
    X(void, solver_dec_ref, (Z3, Z3))                                                              \
    X(void, solver_assert, (Z3, Z3, Z3))                                                           \
    X(int, solver_check, (Z3, Z3))                                                                 \
    X(Z3, mk_params, (Z3))                                                                         \
    X(void, params_inc_ref, (Z3, Z3))                                                              \
    X(void, params_dec_ref, (Z3, Z3))                                                              \
    X(void, params_set_uint, (Z3, Z3, Z3, unsigned))                                               \
    X(void, solver_set_params, (Z3, Z3, Z3))                                                       \
    X(Z3, solver_get_model, (Z3, Z3))                                                              \
    X(void, model_inc_ref, (Z3, Z3))                                                               \
    X(void, model_dec_ref, (Z3, Z3))                                                               \
    X(bool, model_eval, (Z3, Z3, Z3, bool, Z3 *))                                                  \
    X(bool, get_numeral_int64, (Z3, Z3, int64_t *))

typedef struct {
#define X(result, name, parameters) result(*name) parameters;
    FUNCTIONS(X)
#undef X
} Api;

typedef struct {
    Api api;
    Z3 c;
    const Facts *f;
    Arena *scratch;
    Map terms;       /* Expr -> Z3 */
    VEC(Z3) unknown; /* bounds of terms that are not known otherwise */
} Session;

static void *open_file(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* PREFIX/lib/python3.x/site-packages/z3/lib of every python3 on PATH: pip's z3-solver. */
static void *open_pips(Arena *a)
{
    const char *path = getenv("PATH");
    void *lib = NULL;

    for (const char *s = path ? path : ""; *s && !lib;) {
        size_t n = strcspn(s, ":");
        char *dir = arena_strndup(a, s, n);
        glob_t g;
        s += n + (s[n] == ':');
        if (!file_exists(path_join(a, dir, "python3")))
            continue;
        const char *where = arena_printf(a, "%s/../lib/python3*/*-packages/z3/lib/libz3.*", dir);
        if (glob(where, 0, NULL, &g) != 0)
            continue;
        for (size_t i = 0; i < g.gl_pathc && !lib; i++)
            lib = open_file(g.gl_pathv[i]);
        globfree(&g);
    }
    return lib;
}

/* TILELANG_Z3 names one file, and no other is tried then. */
static void *open_library(void)
{
    static const char *const names[] = {"libz3.so.4", "libz3.so", "libz3.dylib"};
    const char *named = getenv("TILELANG_Z3");
    void *lib = NULL;

    if (named && *named)
        return open_file(named);
    for (int i = 0; i < COUNT(names) && !lib; i++)
        lib = open_file(names[i]);
    if (!lib) {
        Arena *a = arena_new();
        lib = open_pips(a);
        arena_free(a);
    }
    return lib;
}

static bool api_open(Api *a)
{
    void *lib = open_library();
    if (!lib)
        return false;
    bool all = true;
#define X(result, name, parameters)                                                                \
    *(void **)(&a->name) = dlsym(lib, "Z3_" #name);                                                \
    all = all && a->name;
    FUNCTIONS(X)
#undef X
    return all;
}

bool z3_present(void)
{
    Api a;
    return api_open(&a);
}

static void ignore_error(Z3 c, int code)
{
    (void)c;
    (void)code;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static Z3 term(Session *s, const Expr *e);

static Z3 number(Session *s, int64_t v)
{
    return s->api.mk_int64(s->c, v, s->api.mk_int_sort(s->c));
}

static Z3 unknown(Session *s, const Expr *e)
{
    const char *name = e->op == EX_VAR ? arena_printf(s->scratch, "v%d", e->u.var->id)
                                       : arena_printf(s->scratch, "e%d", s->terms.n);
    Z3 sort = e->type == DT_BOOL ? s->api.mk_bool_sort(s->c) : s->api.mk_int_sort(s->c);
    Z3 t = s->api.mk_const(s->c, s->api.mk_string_symbol(s->c, name), sort);
    Bounds b = {INT64_MIN, INT64_MAX};

    if (e->type != DT_BOOL && e->lanes == 1 && dtype_is_int((DType)e->type))
        b = bounds_of(s->f, e);
    if (b.lo != INT64_MIN)
        vec_push(s->scratch, &s->unknown, s->api.mk_le(s->c, number(s, b.lo), t));
    if (b.hi != INT64_MAX)
        vec_push(s->scratch, &s->unknown, s->api.mk_le(s->c, t, number(s, b.hi)));
    return t;
}

static Z3 negative(Session *s, Z3 a)
{
    return s->api.mk_sub(s->c, 2, (Z3[]){number(s, 0), a});
}

/* z3 divides so that the remainder is not negative; for a negative divisor floor is not that. */
static Z3 floor_term(Session *s, bool is_div, Z3 a, Z3 b)
{
    Api *z = &s->api;
    Z3 minus_a = negative(s, a), minus_b = negative(s, b);
    Z3 up = is_div ? z->mk_div(s->c, a, b) : z->mk_mod(s->c, a, b);
    Z3 down =
        is_div ? z->mk_div(s->c, minus_a, minus_b) : negative(s, z->mk_mod(s->c, minus_a, minus_b));
    return z->mk_ite(s->c, z->mk_lt(s->c, number(s, 0), b), up, down);
}

static Z3 binary_term(Session *s, const Expr *e)
{
    Api *z = &s->api;
    Z3 k[2] = {term(s, e->kid[0]), term(s, e->kid[1])};
    switch (e->op) {
    case EX_ADD:
        return z->mk_add(s->c, 2, k);
    case EX_SUB:
        return z->mk_sub(s->c, 2, k);
    case EX_MUL:
        return z->mk_mul(s->c, 2, k);
    case EX_FLOORDIV:
    case EX_FLOORMOD:
        return floor_term(s, e->op == EX_FLOORDIV, k[0], k[1]);
    case EX_MIN:
        return z->mk_ite(s->c, z->mk_lt(s->c, k[0], k[1]), k[0], k[1]);
    case EX_MAX:
        return z->mk_ite(s->c, z->mk_lt(s->c, k[0], k[1]), k[1], k[0]);
    case EX_EQ:
        return z->mk_eq(s->c, k[0], k[1]);
    case EX_NE:
        return z->mk_not(s->c, z->mk_eq(s->c, k[0], k[1]));
    case EX_LT:
        return z->mk_lt(s->c, k[0], k[1]);
    case EX_LE:
        return z->mk_le(s->c, k[0], k[1]);
    case EX_GT:
        return z->mk_lt(s->c, k[1], k[0]);
    case EX_GE:
        return z->mk_le(s->c, k[1], k[0]);
    case EX_AND:
        return z->mk_and(s->c, 2, k);
    case EX_OR:
        return z->mk_or(s->c, 2, k);
    default:
        return unknown(s, e);
    }
}

/* Every operand an int of any width, or a bool, and one lane. */
static bool is_integral(const Expr *e)
{
    for (int i = 0; i < e->nkid; i++) {
        const Expr *k = e->kid[i];
        if (k->lanes != 1 || (k->type != DT_BOOL && !dtype_is_int((DType)k->type)))
            return false;
    }
    return true;
}

static Z3 make_term(Session *s, const Expr *e)
{
    if (e->op == EX_INT && e->type == DT_BOOL)
        return e->u.i ? s->api.mk_true(s->c) : s->api.mk_false(s->c);
    if (e->op == EX_INT)
        return number(s, e->u.i);
    if (!is_integral(e) || !expr_is_exact(s->f, e))
        return unknown(s, e);
    switch (e->op) {
    case EX_NEG:
        return negative(s, term(s, e->kid[0]));
    case EX_NOT:
        return s->api.mk_not(s->c, term(s, e->kid[0]));
    case EX_SELECT:
    case EX_IF:
        return s->api.mk_ite(s->c, term(s, e->kid[0]), term(s, e->kid[1]), term(s, e->kid[2]));
    default:
        return e->nkid == 2 ? binary_term(s, e) : unknown(s, e);
    }
}

static Z3 term(Session *s, const Expr *e)
{
    Z3 t = map_get(&s->terms, e);
    if (!t) {
        t = make_term(s, e);
        map_set(&s->terms, e, t);
    }
    return t;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static Z3 var_term(Session *s, const Var *v)
{
    Z3 name = s->api.mk_string_symbol(s->c, arena_printf(s->scratch, "v%d", v->id));
    return s->api.mk_const(s->c, name, s->api.mk_int_sort(s->c));
}

static void assert_var(Session *s, Z3 solver, const Fact *t)
{
    if (t->var->type == DT_BOOL)
        return;
    Z3 v = var_term(s, t->var);
    if (t->bounds.lo != INT64_MIN)
        s->api.solver_assert(s->c, solver, s->api.mk_le(s->c, number(s, t->bounds.lo), v));
    if (t->bounds.hi != INT64_MAX)
        s->api.solver_assert(s->c, solver, s->api.mk_le(s->c, v, number(s, t->bounds.hi)));
    if (t->modular.coef > 1) {
        Z3 rest = number(s, floor_mod(t->modular.base, t->modular.coef));
        Z3 mod = s->api.mk_mod(s->c, v, number(s, t->modular.coef));
        s->api.solver_assert(s->c, solver, s->api.mk_eq(s->c, mod, rest));
    }
}

static void assert_linear(Session *s, Z3 solver, const Linear *l)
{
    Z3 sum = number(s, l->base);
    for (int i = 0; i < l->n; i++) {
        Z3 t = s->api.mk_mul(s->c, 2, (Z3[]){number(s, l->t[i].coef), term(s, l->t[i].atom)});
        sum = s->api.mk_add(s->c, 2, (Z3[]){sum, t});
    }
    s->api.solver_assert(s->c, solver, s->api.mk_le(s->c, number(s, 0), sum));
}

/* One that holds the facts; given back by solver_free. */
static Z3 solver_new(Session *s)
{
    Z3 solver = s->api.mk_solver(s->c); /* lives until the next call unless held */
    s->api.solver_inc_ref(s->c, solver);
    Z3 params = s->api.mk_params(s->c);
    s->api.params_inc_ref(s->c, params);
    s->api.params_set_uint(s->c, params, s->api.mk_string_symbol(s->c, "rlimit"), RLIMIT);
    s->api.solver_set_params(s->c, solver, params);
    s->api.params_dec_ref(s->c, params);
    for (int i = 0; s->f && i < s->f->list.n; i++) {
        const Fact *t = &s->f->list.at[i];
        if (t->kind == FACT_VAR)
            assert_var(s, solver, t);
        else if (t->kind == FACT_LINEAR && t->of)
            continue;
        else if (t->kind == FACT_LINEAR)
            assert_linear(s, solver, t->lin);
        else
            s->api.solver_assert(s->c, solver, term(s, t->cond));
    }
    return solver;
}

/* Can the facts and this condition hold together? */
static Proof check(Session *s, Z3 solver, Z3 cond)
{
    s->api.solver_assert(s->c, solver, cond);
    for (int i = 0; i < s->unknown.n; i++)
        s->api.solver_assert(s->c, solver, s->unknown.at[i]);
    int said = s->api.solver_check(s->c, solver); /* -1, 0, 1: no, not known, yes */
    return said < 0 ? PROOF_NO : said > 0 ? PROOF_YES : PROOF_UNKNOWN;
}

static void solver_free(Session *s, Z3 solver)
{
    s->api.solver_dec_ref(s->c, solver);
}

static bool session_open(Session *s, const Facts *f, const Expr *cond)
{
    *s = (Session){.f = f};
    if (!api_open(&s->api) || cond->type != DT_BOOL || cond->lanes != 1)
        return false;
    s->scratch = arena_new();
    map_init(&s->terms, s->scratch);
    Z3 config = s->api.mk_config();
    s->c = s->api.mk_context(config);
    s->api.del_config(config);
    s->api.set_error_handler(s->c, ignore_error);
    return true;
}

static void session_close(Session *s)
{
    s->api.del_context(s->c);
    arena_free(s->scratch);
}

static bool is_impossible(Session *s, Z3 cond)
{
    Z3 solver = solver_new(s);
    Proof can = check(s, solver, cond);
    solver_free(s, solver);
    return can == PROOF_NO;
}

Proof z3_prove(const Facts *f, const Expr *cond)
{
    Session s;
    if (!session_open(&s, f, cond))
        return PROOF_UNKNOWN;
    Z3 t = term(&s, cond);
    Proof p = PROOF_UNKNOWN;
    if (is_impossible(&s, s.api.mk_not(s.c, t)))
        p = PROOF_YES;
    else if (is_impossible(&s, t))
        p = PROOF_NO;
    session_close(&s);
    return p;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool take_values(Session *s, Z3 solver, const Var *const *vars, int n, int64_t *values)
{
    Z3 model = s->api.solver_get_model(s->c, solver), value;
    bool all = model != NULL;

    if (!model)
        return false;
    s->api.model_inc_ref(s->c, model);
    for (int i = 0; i < n && all; i++)
        all = vars[i]->type == DT_BOOL ||
              (s->api.model_eval(s->c, model, var_term(s, vars[i]), true, &value) &&
               s->api.get_numeral_int64(s->c, value, &values[vars[i]->id]));
    s->api.model_dec_ref(s->c, model);
    return all;
}

Proof z3_values(const Facts *f, const Expr *cond, const Var *const *vars, int n, int64_t most,
                int64_t *values)
{
    Session s;
    Proof p = PROOF_UNKNOWN;

    if (!session_open(&s, f, cond))
        return p;
    Z3 not = s.api.mk_not(s.c, term(&s, cond));
    for (int turn = most ? 0 : 1; turn < 2 && p == PROOF_UNKNOWN; turn++) {
        Z3 solver = solver_new(&s);
        for (int i = 0; turn == 0 && i < n; i++)
            if (vars[i]->type != DT_BOOL)
                s.api.solver_assert(s.c, solver,
                                    s.api.mk_le(s.c, var_term(&s, vars[i]), number(&s, most)));
        Proof can = check(&s, solver, not );
        if (can == PROOF_YES)
            p = take_values(&s, solver, vars, n, values) ? PROOF_NO : PROOF_UNKNOWN;
        else if (can == PROOF_NO && turn == 1)
            p = PROOF_YES;
        solver_free(&s, solver);
    }
    session_close(&s);
    return p;
}
