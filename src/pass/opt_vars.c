/* opt_vars.c -- variables that get one value are names for it.
 *
 *     start = T.alloc_var("int32")
 *     start = n * 64
 *     T.copy(A[start, 0], s)          ->     name: int32 = n * 64;  T.copy(A[name, 0], s)
 *
 * What follows proves nothing about a variable that can change, and a good deal about a name: where
 * copies start, how wide accesses are, which guards hold.  A variable is a name from a store on
 * where all that reads it comes behind that store, in its block or inside of what does, and no
 * other store is there.  What stores wrote before it (a zero, where it was declared) nobody
 * reads. */
#include "pass/pass.h"

typedef struct { int loads, stores; bool other; } VarUses;

typedef struct {
    Ir *ir;
    Map uses;    /* Buffer -> VarUses */
    Map named;   /* Buffer -> its name: variables that are gone */
    const Buffer *var; /* the one at hand */
    VarUses rest;      /* of it, behind its store */
} Vars;

static bool is_load(const Touch *t)
{
    return t->expr && t->expr->op == EX_LOAD && !t->expr->guarded && t->expr->lanes == 1;
}

static bool is_store(const Stmt *s, const Touch *t)
{
    return !t->expr && s->kind == ST_STORE && t->how == ACC_WRITE && !s->u.store.guard &&
           !s->u.store.async && s->u.store.value->lanes == 1;
}

static void see_use(void *arg, const Stmt *s, const Touch *t)
{
    Vars *v = arg;
    const Buffer *root = buffer_root(t->buf);
    VarUses *u = map_get(&v->uses, root);

    if (root->scope != MEM_VAR)
        return;
    if (!u)
        map_set(&v->uses, root, u = NEW(v->ir->arena, VarUses));
    u->loads += is_load(t);
    u->other |= (!is_load(t) && !is_store(s, t)) || root != t->buf || root->for_all;
}

static void see_rest(void *arg, const Stmt *s, const Touch *t)
{
    Vars *v = arg;

    if (t->buf == v->var) {
        v->rest.loads += is_load(t);
        v->rest.stores += is_store(s, t);
    }
}

/* Does all that reads it read what this store wrote? */
static bool is_the_value(Vars *v, const Stmt *store, const Stmt *const *rest, int n)
{
    const VarUses *u = store->kind == ST_STORE ? map_get(&v->uses, store->u.store.buf) : NULL;

    if (!u || u->other || u->loads == 0)
        return false;
    v->var = store->u.store.buf;
    v->rest = (VarUses){0};
    for (int i = 0; i < n; i++)
        stmt_touches_all(rest[i], see_rest, v);
    return v->rest.loads == u->loads && v->rest.stores == 0;
}

/* ---- the rewrite ----------------------------------------------------------------------------- */

static const Expr *name_for_load(Ir *ir, const Expr *e, void *arg)
{
    const Vars *v = arg;
    return e->op == EX_LOAD && e->u.buf == v->var ? expr_var(ir, map_get(&v->named, v->var)) : e;
}

static const Expr *put_name(Ir *ir, const Expr *e, void *arg)
{
    return expr_map(ir, e, name_for_load, arg);
}

static const Stmt *name_in_block(Ir *ir, const Stmt *s, void *arg)
{
    Vars *v = arg;
    const Stmt **list = NULL;
    int n = s->kind == ST_BLOCK ? s->u.block.n : 0;

    for (int i = 0; i < n; i++) {
        const Stmt *t = list ? list[i] : s->u.block.list[i];
        if (!is_the_value(v, t, (list ? list : s->u.block.list) + i + 1, n - i - 1))
            continue;
        if (!list) {
            list = NEWN(ir->arena, const Stmt *, n);
            memcpy(list, s->u.block.list, sizeof list[0] * (size_t)n);
        }
        Var *name = var_new(ir, v->var->name, v->var->type, t->span);
        map_set(&v->named, v->var, name);
        for (int j = i + 1; j < n; j++)
            list[j] = stmt_map_expr(ir, list[j], put_name, v);
        list[i] = stmt_let(ir, t->span, name, t->u.store.value);
    }
    return list ? stmt_block(ir, s->span, n, list) : s;
}

/* What was stored before the value that is read. */
static const Stmt *drop_store(Ir *ir, const Stmt *s, void *arg)
{
    const Vars *v = arg;
    (void)ir;
    return s->kind == ST_STORE && map_has(&v->named, s->u.store.buf) ? NULL : s;
}

static void drop_named(Kernel *k, Vars *v)
{
    int kept = 0;

    k->body = stmt_map(k->ir, k->body, drop_store, v);
    for (int i = 0; i < k->buffers.n; i++)
        if (!map_has(&v->named, k->buffers.at[i]))
            k->buffers.at[kept++] = k->buffers.at[i];
    k->buffers.n = kept;
}

void pass_opt_vars(Kernel *k)
{
    Vars v = {.ir = k->ir};

    map_init(&v.uses, k->scratch);
    map_init(&v.named, k->scratch);
    stmt_touches_all(k->body, see_use, &v);
    if (v.uses.n == 0)
        return;
    k->body = stmt_map(k->ir, k->body, name_in_block, &v);
    if (v.named.n)
        drop_named(k, &v);
}
