/* simplify_stmt.c -- simplify over statements: loops, ifs, lets and asserts give facts.
 *
 * Facts that read memory are not kept from statement to statement: a store may lie between. */
#include "arith/arith.h"

static const Expr *simp_expr(Ir *ir, const Expr *e, void *arg)
{
    return simplify(ir, arg, e);
}

/* Does a break or continue belong to the loop this is the body of? */
static bool leaves_loop(const Stmt *s)
{
    if (s->kind == ST_BREAK || s->kind == ST_CONTINUE)
        return true;
    for (int i = 0; s->kind != ST_FOR && s->kind != ST_WHILE && i < stmt_nkid(s); i++)
        if (leaves_loop(stmt_kid(s, i)))
            return true;
    return false;
}

static const Stmt *simp_for(Ir *ir, Facts *f, const Stmt *s)
{
    const Expr *min = simplify(ir, f, s->u.loop.min), *extent = simplify(ir, f, s->u.loop.extent);
    if (bounds_of(f, extent).hi <= 0)
        return NULL;
    int64_t n;
    if (s->u.loop.how == LOOP_SERIAL && s->u.loop.hints.n == 0 && expr_is_int(extent, &n) &&
        n == 1 && !leaves_loop(s->u.loop.body))
        return simplify_stmt(ir, f, stmt_subst(ir, s->u.loop.body, s->u.loop.var, min));
    int mark = facts_mark(f);
    facts_range(f, s->u.loop.var, min, extent);
    const Stmt *body = simplify_stmt(ir, f, s->u.loop.body);
    facts_pop(f, mark);
    if (min == s->u.loop.min && extent == s->u.loop.extent && body == s->u.loop.body)
        return s;
    if (stmt_is_empty(body))
        return NULL;
    return stmt_for(ir, s->span, s->u.loop.how, s->u.loop.var, min, extent, s->u.loop.hints, body);
}

static const Stmt *simp_if(Ir *ir, Facts *f, const Stmt *s)
{
    const Expr *cond = simplify(ir, f, s->u.branch.cond);
    int64_t v;
    if (expr_is_int(cond, &v)) {
        const Stmt *taken = v ? s->u.branch.then : s->u.branch.orelse;
        return taken ? simplify_stmt(ir, f, taken) : NULL;
    }
    int mark = facts_mark(f);
    facts_assume(f, cond);
    const Stmt *then = simplify_stmt(ir, f, s->u.branch.then);
    facts_pop(f, mark);
    const Stmt *orelse = s->u.branch.orelse;
    if (orelse) {
        facts_assume(f, expr_unary(ir, EX_NOT, cond));
        orelse = simplify_stmt(ir, f, orelse);
        facts_pop(f, mark);
    }
    if (cond == s->u.branch.cond && then == s->u.branch.then && orelse == s->u.branch.orelse)
        return s;
    if (stmt_is_empty(then) && stmt_is_empty(orelse))
        return NULL;
    if (stmt_is_empty(then))
        return stmt_if(ir, s->span, simplify(ir, f, expr_unary(ir, EX_NOT, cond)), orelse, NULL);
    return stmt_if(ir, s->span, cond, then, stmt_is_empty(orelse) ? NULL : orelse);
}

static const Stmt *simp_store(Ir *ir, Facts *f, const Stmt *s)
{
    const Expr *guard = s->u.store.guard ? simplify(ir, f, s->u.store.guard) : NULL;
    int64_t v;
    if (guard && expr_is_int(guard, &v)) {
        if (!v)
            return NULL;
        guard = NULL;
    }
    int mark = facts_mark(f);
    if (guard)
        facts_assume(f, guard);
    bool same = guard == s->u.store.guard;
    const Expr **at = NEWN(ir->arena, const Expr *, s->u.store.n);
    for (int i = 0; i < s->u.store.n; i++) {
        at[i] = simplify(ir, f, s->u.store.at[i]);
        same &= at[i] == s->u.store.at[i];
    }
    const Expr *value = simplify(ir, f, s->u.store.value);
    facts_pop(f, mark);
    if (same && value == s->u.store.value)
        return s;
    return stmt_store_as(ir, s, at, s->u.store.n, value, guard);
}

/* What a let says of its variable; the block drops those of constants. */
void facts_let(Facts *f, Var *v, const Expr *value)
{
    Ir *ir = f->ir;

    if (!expr_is_math(value))
        return;
    Bounds b = bounds_of(f, value);
    const Expr *var = expr_var(ir, v);
    if (b.lo < INT32_MIN || b.hi > INT32_MAX)
        return;
    /* Before the equation, from which they would follow and so be dropped. */
    facts_assume(f, expr_binary(ir, EX_GE, var, expr_const(ir, value->type, b.lo)));
    facts_assume(f, expr_binary(ir, EX_LE, var, expr_const(ir, value->type, b.hi)));
    Modular m = modular_of(f, value);
    if (m.coef > 1 && m.coef <= INT32_MAX) {
        const Expr *rest = expr_floormod(ir, var, expr_const(ir, value->type, m.coef));
        m.base = floor_mod(m.base, m.coef);
        facts_assume(f, expr_binary(ir, EX_EQ, rest, expr_const(ir, value->type, m.base)));
    }
    if (!expr_has_load(value))
        facts_assume(f, expr_binary(ir, EX_EQ, var, value));
}

static const Stmt *simp_let(Ir *ir, Facts *f, const Stmt *s)
{
    const Expr *value = simplify(ir, f, s->u.let.value);
    facts_let(f, s->u.let.var, value);
    return value == s->u.let.value ? s : stmt_let(ir, s->span, s->u.let.var, value);
}

static bool is_trivial_let(const Stmt *s)
{
    return s->kind == ST_LET && expr_is_const(s->u.let.value) &&
           s->u.let.value->type == s->u.let.var->type;
}

static const Stmt *simp_block(Ir *ir, Facts *f, const Stmt *s)
{
    int n = s->u.block.n, nout = 0, mark = facts_mark(f);
    const Stmt **out = NEWN(ir->arena, const Stmt *, n);
    Map consts;
    bool same = true, any = false;
    for (int i = 0; i < n; i++) {
        const Stmt *t = s->u.block.list[i];
        if (any)
            t = stmt_subst_map(ir, t, &consts, NULL);
        const Stmt *r = simplify_stmt(ir, f, t);
        if (r && is_trivial_let(r)) {
            if (!any)
                map_init(&consts, ir->arena);
            map_set(&consts, r->u.let.var, r->u.let.value);
            any = true;
            r = NULL;
        }
        if (r && r->kind == ST_ASSERT)
            facts_assume(f, r->u.check.cond);
        same &= r == s->u.block.list[i];
        if (r)
            out[nout++] = r;
    }
    facts_pop(f, mark);
    return same ? s : stmt_block(ir, s->span, nout, out);
}

const Stmt *simplify_stmt(Ir *ir, Facts *f, const Stmt *s)
{
    const Stmt *r;
    if (!s)
        return NULL;
    switch (s->kind) {
    case ST_BLOCK:
        return simp_block(ir, f, s);
    case ST_FOR:
        r = simp_for(ir, f, s);
        break;
    case ST_IF:
        r = simp_if(ir, f, s);
        break;
    case ST_STORE:
        r = simp_store(ir, f, s);
        break;
    case ST_LET:
        return simp_let(ir, f, s);
    case ST_WHILE: {
        const Expr *cond = simplify(ir, f, s->u.branch.cond);
        int mark = facts_mark(f);
        facts_assume(f, cond);
        const Stmt *body = simplify_stmt(ir, f, s->u.branch.then);
        facts_pop(f, mark);
        if (cond == s->u.branch.cond && body == s->u.branch.then)
            return s;
        return stmt_while(ir, s->span, cond, body);
    }
    case ST_ROLE: {
        int mark = facts_mark(f);
        facts_role(f, s);
        const Stmt *body = simplify_stmt(ir, f, s->u.role.body);
        facts_pop(f, mark);
        if (body == s->u.role.body)
            return s;
        return stmt_with_body(ir, s, body);
    }
    default:
        return stmt_map_expr(ir, s, simp_expr, f);
    }
    return r ? r : stmt_block(ir, s->span, 0, NULL);
}

void simplify_kernel(Kernel *k)
{
    Facts *f = facts_new(k->ir);
    const Expr *zero = expr_int(k->ir, 0);
    for (int i = 0; k->func && i < k->func->dims.n; i++) {
        Var *v = k->func->dims.at[i];
        facts_assume(f, expr_binary(k->ir, EX_GE, expr_var(k->ir, v), zero));
    }
    facts_kernel(f, k);
    k->body = simplify_stmt(k->ir, f, k->body);
    if (!k->body)
        k->body = stmt_block(k->ir, k->span, 0, NULL);
    k->form |= FORM_SIMPLE;
}
