/* legalise_barriers.c -- barriers that only some threads come to, where a language has none such:
 * all come.
 *
 *     if c: a, barrier, b    is    if c: a; barrier; if c: b
 *
 * where none but those for which c holds take part in it (legalise_counts.c); what stands under
 * else comes after that, and roles are such branches.  Likewise inside of loops that are the same
 * for every thread.  Names of a that b uses become variables. */
#include "op/op.h"
#include "target/legalise.h"

typedef struct {
    Legal *l;
    Vary vary;
} Uneven;

static bool is_barrier(const Stmt *s)
{
    return s->kind == ST_CALL && s->u.call.which == INTRIN_SYNC_THREADS;
}

bool legal_meets(const Kernel *k, const Stmt *s)
{
    if (s->kind != ST_CALL || s->u.call.which == INTRIN_ELECT ||
        s->u.call.which == INTRIN_WAIT_PHASE) /* that is in memory */
        return false;
    if (k->machine->lanes == 1 && stmt_calls(s, INTRIN_SYNC_WARP))
        return true;
    return strpbrk(intrin_table[s->u.call.which].effects, k->machine->lanes > 1 ? "B" : "BW");
}

typedef struct {
    const Kernel *k;
    const Stmt *found;
} Meets;

static bool see_barrier(const Stmt *s, void *arg)
{
    Meets *m = arg;
    if (legal_meets(m->k, s))
        m->found = s;
    return !m->found;
}

const Stmt *legal_barrier_in(const Kernel *k, const Stmt *s)
{
    Meets m = {.k = k};
    stmt_visit(s, see_barrier, &m);
    return m.found;
}

static bool is_spread(Kernel *k, const Buffer *b)
{
    (void)k;
    return buffer_root(b)->scope == MEM_FRAGMENT;
}

static const Expr *rename_in(Ir *ir, const Expr *x, void *kept)
{
    return expr_subst_map(ir, x, kept, NULL);
}

/* A name that is used behind a barrier, too: a variable, which has one place (FORM_FLAT). */
static const Stmt *keep(Uneven *u, const Stmt *let, Map *kept)
{
    Ir *ir = u->l->ir;
    Var *v = let->u.let.var;
    Buffer *b = kernel_scalar(u->l->e->k, v->name, v->type, let->span);
    const Expr *first = expr_int(ir, 0);

    map_set(&u->vary.bufs, b, u);
    map_set(kept, v, (void *)expr_load(ir, b, &first, 1));
    return stmt_store(ir, let->span, b, &first, 1, let->u.let.value);
}

static bool binds(const Stmt *s)
{
    return (s->kind == ST_CALL && s->u.call.bind) || (s->kind == ST_ATOMIC && s->u.atomic.bind);
}

static const Stmt *under(Uneven *u, const Expr *here, const Stmt *s);

static const Stmt *under_block(Uneven *u, const Expr *here, const Stmt *s)
{
    Ir *ir = u->l->ir;
    const Stmt *all = NULL, *run = NULL;
    int last = s->u.block.n;
    Map kept;

    map_init(&kept, u->l->e->arena);
    while (!legal_barrier_in(u->l->e->k, s->u.block.list[last - 1]))
        last--;
    for (int i = 0; i < s->u.block.n; i++) {
        const Stmt *one = s->u.block.list[i];
        if (kept.n)
            one = stmt_map_expr(ir, one, rename_in, &kept);
        if (i < last && binds(one))
            return NULL;
        if (i < last && one->kind == ST_LET)
            one = keep(u, one, &kept);
        if (!legal_barrier_in(u->l->e->k, one)) {
            run = stmt_seq(ir, run, one);
            continue;
        }
        one = under(u, here, one);
        if (!one)
            return NULL;
        if (run)
            all = stmt_seq(ir, all, stmt_if(ir, s->span, here, run, NULL));
        all = stmt_seq(ir, all, one);
        run = NULL;
    }
    return run ? stmt_seq(ir, all, stmt_if(ir, s->span, here, run, NULL)) : all;
}

/* The statement for those threads where `here` holds; all come to its barriers.  NULL: it is of
 * another form. */
static const Stmt *under(Uneven *u, const Expr *here, const Stmt *s)
{
    Ir *ir = u->l->ir;

    if (!legal_barrier_in(u->l->e->k, s))
        return stmt_is_empty(s) ? s : stmt_if(ir, s->span, here, s, NULL);
    if (is_barrier(s))
        return s;
    if (s->kind == ST_BLOCK)
        return under_block(u, here, s);
    if (s->kind == ST_FOR && !vary_head(&u->vary, s) && !expr_has_load(s->u.loop.min) &&
        !expr_has_load(s->u.loop.extent)) {
        const Stmt *body = under(u, here, s->u.loop.body);
        return body ? stmt_with_body(ir, s, body) : NULL;
    }
    return NULL;
}

static const Stmt *split_at_barriers(Uneven *u, const Stmt *s)
{
    Ir *ir = u->l->ir;
    Var *here = var_new(ir, "here", DT_BOOL, s->span);
    const Expr *x = expr_var(ir, here);
    here->parts = true;
    const Stmt *body = under(u, x, s->u.branch.then), *other = s->u.branch.orelse;

    if (body && !stmt_is_empty(other)) {
        other = under(u, expr_unary(ir, EX_NOT, x), other);
        body = other ? stmt_seq(ir, body, other) : NULL;
    }
    return body ? stmt_seq(ir, stmt_let(ir, s->span, here, s->u.branch.cond), body) : NULL;
}

static const Stmt *even_out(Ir *ir, const Stmt *s, void *arg)
{
    Uneven *u = arg;
    bool head = s->kind == ST_IF || s->kind == ST_WHILE || s->kind == ST_FOR;

    (void)ir;
    if (!head || !legal_barrier_in(u->l->e->k, s) || !vary_head(&u->vary, s))
        return s;
    const Stmt *r = s->kind == ST_IF ? split_at_barriers(u, s) : NULL;
    u->l->at = legal_barrier_in(u->l->e->k, s)->span;
    if (!r)
        legal_refuse(u->l, "a barrier under a condition that differs between threads");
    return r;
}

/* Every thread comes to every barrier. */
const Stmt *lower_barriers(Legal *l, const Stmt *body)
{
    Uneven u = {.l = l};

    l->e->k->body = body = stmt_map(l->ir, body, legal_role, l);
    vary_learn(&u.vary, l->e->k, is_spread);
    legal_check_counts(l, &u.vary, body);
    return stmt_map(l->ir, body, even_out, &u);
}
