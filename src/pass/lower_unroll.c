/* lower_unroll.c -- copy the bodies of loops marked T.unroll(explicit=True).
 *
 * needs   FORM_FLAT        so that no tile operator is copied
 * gives   FORM_NOUNROLL
 * breaks  FORM_SIMPLE      each copy has its variable replaced by a constant */
#include "pass/pass.h"
#include "pass/lower_unroll.h"

enum { MOST = 1024, ALL_MOST = 1 << 15 }; /* past this the emitted code helps nobody */

/* ---- names bound in a copy are its own ------------------------------------------------------ */

static Var *bound_var(const Stmt *s)
{
    switch (s->kind) {
    case ST_LET: return s->u.let.var;
    case ST_ATOMIC: return s->u.atomic.bind;
    case ST_CALL: return s->u.call.bind;
    default: return NULL;
    }
}

typedef struct {
    Ir *ir;
    Map fresh; /* Var -> the copy's, as an Expr */
} Copy;

static bool name_anew(const Stmt *s, void *arg)
{
    Copy *c = arg;
    Var *v = bound_var(s);
    if (v && !map_has(&c->fresh, v))
        map_set(&c->fresh, v, expr_var(c->ir, var_new(c->ir, v->name, v->type, v->span)));
    return true;
}

static const Stmt *bind_anew(Ir *ir, const Stmt *s, void *arg)
{
    const Copy *c = arg;
    const Expr *fresh = bound_var(s) ? map_get(&c->fresh, bound_var(s)) : NULL;
    if (!fresh)
        return s;
    if (s->kind == ST_LET)
        return stmt_let(ir, s->span, fresh->u.var, s->u.let.value);
    if (s->kind == ST_ATOMIC)
        return stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, s->u.atomic.at,
                           s->u.atomic.n, s->u.atomic.value, s->u.atomic.order, fresh->u.var);
    return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg, s->u.call.nregion,
                     s->u.call.region, s->u.call.text, fresh->u.var);
}

const Stmt *stmt_anew(Kernel *k, const Stmt *body)
{
    Copy c = {.ir = k->ir};

    map_init(&c.fresh, k->scratch);
    stmt_visit(body, name_anew, &c);
    if (c.fresh.n == 0)
        return body;
    return stmt_map(k->ir, stmt_subst_map(k->ir, body, &c.fresh, NULL), bind_anew, &c);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static bool count(const Stmt *s, void *arg)
{
    (void)s;
    return ++*(int *)arg <= ALL_MOST;
}

static const Stmt *expand(Ir *ir, const Stmt *s, void *arg)
{
    Kernel *k = arg;
    int64_t n, first;

    if (s->kind != ST_FOR || s->u.loop.how != LOOP_UNROLL ||
        !hint_int(s->u.loop.hints, "explicit", 0))
        return s;
    if (!expr_is_int(s->u.loop.extent, &n) || !expr_is_int(s->u.loop.min, &first))
        diag_fail(k->diag, s->span,
                  "T.unroll needs a length known at compile time [unroll-length]");
    int size = 0;
    stmt_visit(s->u.loop.body, count, &size);
    if (n > MOST || n * size > ALL_MOST)
        diag_fail(k->diag, s->span,
                  "T.unroll of %lld copies of %d statements; the most is %d copies "
                  "and %d statements [unroll-too-long]",
                  (long long)n, size, MOST, ALL_MOST);

    const Stmt **copy = NEWN(ir->arena, const Stmt *, n);
    for (int64_t i = 0; i < n; i++)
        copy[i] = stmt_subst(ir, i ? stmt_anew(k, s->u.loop.body) : s->u.loop.body, s->u.loop.var,
                             expr_const(ir, s->u.loop.var->type, first + i));
    return stmt_block(ir, s->span, (int)n, copy);
}

void pass_lower_unroll(Kernel *k)
{
    k->body = stmt_map(k->ir, k->body, expand, k);
}
