/* opt_hoist.c -- loads that do not change inside a loop are done before it.
 *
 * needs   FORM_FLAT, FORM_SIMPLE
 *
 * The C compiler below moves arithmetic by itself but may not move a load past a store through
 * another pointer.  Only unguarded loads from on-chip buffers that the loop does not write move,
 * and on a CPU those from tensors that no kernel writes: past stores to what is on chip, or where
 * tensors are known to be apart.
 * A loop may not run at all, and its bounds be what keeps the index in the buffer: to read once
 * too often does no harm only where the index is inside in any case.  Loads under a lazy operator
 * stay. */
#include "pass/pass.h"
#include "ir/config.h"

typedef struct {
    Ir *ir;
    const Kernel *k;
    const Facts *facts;
    bool runs;     /* the loop does, at least once */
    Map written;   /* root buffers stored to in the loop */
    Map bound;     /* variables bound by the loop */
    bool opaque;   /* the loop holds something whose effects are not known here */
    bool outside;  /* it stores to a tensor */
    Map moved;     /* load -> its Var's Expr */
    VEC(const Stmt *) lets;
} Hoist;

static bool see_effect(const Stmt *s, void *arg)
{
    Hoist *h = arg;

    switch (s->kind) {
    case ST_STORE:
        map_set(&h->written, buffer_root(s->u.store.buf), s);
        h->outside = h->outside || s->u.store.buf->scope == MEM_GLOBAL;
        return true;
    case ST_LET:
        map_set(&h->bound, s->u.let.var, s);
        return true;
    case ST_FOR:
        map_set(&h->bound, s->u.loop.var, s);
        return true;
    case ST_BLOCK:
    case ST_IF:
        return true;
    default:
        h->opaque = true;
        return false;
    }
}

static bool is_moving(const Expr *e, void *hoist)
{
    const Hoist *h = hoist;
    return (e->op == EX_VAR && map_has(&h->bound, e->u.var)) ||
           (e->op == EX_LOAD && map_has(&h->written, buffer_root(e->u.buf)));
}

static bool is_fixed(Hoist *h, const Expr *e)
{
    return !expr_any(e, is_moving, h);
}

static const Expr *move(Hoist *h, const Expr *load)
{
    const Expr *v = map_get(&h->moved, load);

    if (v)
        return v;
    Var *var = var_new(h->ir, load->u.buf->name, load->type, NO_SPAN);
    v = expr_var(h->ir, var);
    map_set(&h->moved, load, v);
    vec_push(h->ir->arena, &h->lets, stmt_let(h->ir, NO_SPAN, var, load));
    return v;
}

/* Elements of storage; -1: not known. */
static int64_t stored(const Hoist *h, const Buffer *b)
{
    const Layout *l = b->id < h->k->plans.n ? h->k->plans.at[b->id].layout : NULL;
    return !l ? buffer_static_size(b) : layout_is_fragment(l) ? fragment_slots(l) : layout_size(l);
}

static bool is_harmless(const Hoist *h, const Expr *load)
{
    if (h->runs || load->u.buf->rank == 0)
        return true;
    return expr_nindex(load) == 1 &&
           bounds_within(bounds_of(h->facts, load->kid[0]), 0, stored(h, load->u.buf) - 1);
}

/* A tensor that nobody writes, if no other that the loop writes has its memory. */
static bool is_read_only(const Hoist *h, const Buffer *b)
{
    const Func *f = h->k->func;
    bool found = false;
    if (kernel_on_warps(h->k) || h->k->uses_threads || f->may_overlap ||
        (h->outside && !h->k->relies_apart))
        return false;
    for (int i = 0; i < f->params.n; i++)
        found = found || (f->params.at[i].buf == buffer_root(b) && !f->params.at[i].written);
    return found;
}

static const Expr *hoist_expr(Hoist *h, const Expr *e)
{
    if (!expr_has_load(e))
        return e;
    if (e->op == EX_LOAD && !e->guarded && e->lanes == 1 && is_fixed(h, e) &&
        is_harmless(h, e) && (e->u.buf->scope != MEM_GLOBAL || is_read_only(h, e->u.buf)))
        return move(h, e);
    const Expr **kid = NEWN(h->ir->arena, const Expr *, e->nkid);
    bool lazy = e->op == EX_IF || e->op == EX_AND || e->op == EX_OR;
    bool guarded = e->op == EX_LOAD && e->guarded;
    for (int i = 0; i < e->nkid; i++)
        kid[i] = (lazy && i > 0) || guarded ? e->kid[i] : hoist_expr(h, e->kid[i]);
    return expr_with_kids(h->ir, e, kid);
}

static const Expr *hoist_hook(Ir *ir, const Expr *e, void *arg)
{
    (void)ir;
    return hoist_expr(arg, e);
}

/* Only statements that surely run when the loop does: not those under an if. */
static const Stmt *hoist_stmt(void *hoist, const Stmt *s)
{
    Hoist *h = hoist;

    if (s->kind == ST_BLOCK)
        return stmt_map_kids(h->ir, s, hoist_stmt, h);
    if (s->kind == ST_LET || (s->kind == ST_STORE && !s->u.store.guard))
        return stmt_map_expr(h->ir, s, hoist_hook, h);
    return s;
}

static const Stmt *hoist(Ir *ir, const Stmt *s, void *arg)
{
    Hoist h = *(const Hoist *)arg;

    if (s->kind != ST_FOR || (s->u.loop.how != LOOP_VECTOR && s->u.loop.how != LOOP_SERIAL))
        return s;
    h.runs = bounds_of(h.facts, s->u.loop.extent).lo >= 1;
    map_init(&h.written, ir->arena);
    map_init(&h.bound, ir->arena);
    map_init(&h.moved, ir->arena);
    stmt_visit(s, see_effect, &h);
    if (h.opaque)
        return s;
    const Stmt *body = hoist_stmt(&h, s->u.loop.body);
    if (h.lets.n == 0)
        return s;
    vec_push(ir->arena, &h.lets,
             stmt_with_body(ir, s, body));
    return stmt_block(ir, s->span, h.lets.n, h.lets.at);
}

void pass_opt_hoist(Kernel *k)
{
    Facts *f = facts_new(k->ir);
    Hoist h = {.ir = k->ir, .k = k, .facts = f};

    if (config_on(k->func, CONFIG_disable_cse))
        return;
    facts_kernel(f, k);
    facts_body(f, k->body);
    k->body = stmt_map(k->ir, k->body, hoist, &h);
}
