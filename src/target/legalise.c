/* legalise.c -- what a dialect lacks, lowered row by row: views, choices. */
#include "target/legalise.h"

static const struct {
    uint32_t bit;
    LowerFn *lower;
    const char *what;
} lack_table[] = {
#define LACK(id, fn, what) {LACK_##id, fn, what},
#include "target/legalise.def"
#undef LACK
};

NORETURN void legal_refuse(Legal *l, const char *what)
{
    const char *lacked = "";

    for (int i = 0; i < COUNT(lack_table); i++)
        if (lack_table[i].bit & l->lacks)
            lacked = lack_table[i].what;
    diag_fail(l->e->k->diag, l->at, "%s needs %s, which %s lacks [unsupported-here]", what, lacked,
              l->e->say->name);
}

void legalise(Emit *e)
{
    Kernel *k = e->k;

    for (int i = 0; i < COUNT(lack_table); i++) {
        Legal l = {.e = e, .ir = e->ir, .lacks = lack_table[i].bit};
        if (!(e->say->lacks & l.lacks))
            continue;
        map_init(&l.vars, e->arena);
        map_init(&l.bufs, e->arena);
        map_init(&l.done, e->arena);
        emit_know_ranges(e, k);
        k->body = lack_table[i].lower(&l, k->body);
    }
    emit_know_ranges(e, k);
}

const Expr *legal_var(Legal *l, Var *v)
{
    Var *to = map_get(&l->vars, v);

    if (!to) {
        to = var_new(l->ir, v->name, DT_I32, v->span);
        to->data = v->data;
        map_set(&l->vars, v, to);
    }
    return expr_var(l->ir, to);
}

const Stmt *legal_bind(Ir *ir, const Stmt *s, void *arg)
{
    Legal *l = arg;

    if (s->kind == ST_ATOMIC && s->u.atomic.bind && map_has(&l->vars, s->u.atomic.bind))
        return stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, s->u.atomic.at,
                           s->u.atomic.n, s->u.atomic.value, s->u.atomic.order,
                           map_get(&l->vars, s->u.atomic.bind));
    if (s->kind == ST_CALL && s->u.call.bind && map_has(&l->vars, s->u.call.bind))
        return stmt_call(ir, s->span, s->u.call.which, s->u.call.n, s->u.call.arg,
                         s->u.call.nregion, s->u.call.region, s->u.call.text,
                         map_get(&l->vars, s->u.call.bind));
    if (s->kind == ST_LET && map_has(&l->vars, s->u.let.var)) {
        const Expr *x = s->u.let.value;
        bool back = x->op == EX_CAST && x->kid[0]->type == DT_I32; /* to the type of the name */
        return stmt_let(ir, s->span, map_get(&l->vars, s->u.let.var),
                        back ? x->kid[0] : expr_cast(ir, DT_I32, x));
    }
    if (s->kind == ST_FOR && map_has(&l->vars, s->u.loop.var))
        return stmt_for(ir, s->span, s->u.loop.how, map_get(&l->vars, s->u.loop.var),
                        s->u.loop.min, s->u.loop.extent, s->u.loop.hints, s->u.loop.body);
    return s;
}

Buffer *legal_words(Legal *l, Buffer *b)
{
    Ir *ir = l->ir;
    Buffer *w = map_get(&l->bufs, b);
    const int word = 32;

    if (w)
        return w;
    const Expr *n = expr_int(ir, dtype_bits(b->type));
    for (int d = 0; d < b->rank; d++)
        n = expr_mul(ir, n, b->shape[d]);
    n = simplify(ir, l->e->facts, expr_ceildiv(ir, n, expr_int(ir, word)));
    w = buffer_new(ir, b->name, DT_U32, b->scope, 1, &n, b->span);
    w->view_of = b;
    vec_push(l->e->k->arena, &l->e->k->buffers, w);
    map_set(&l->bufs, b, w);
    return w;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Where all memory is words, elements of any width are found in those. */
static bool is_worded(const Legal *l)
{
    const uint32_t all = LACK_BYTES | LACK_HALVES | LACK_I64;
    return (l->e->say->lacks & all) == all && l->e->say->pair;
}

static bool is_same_width(const Buffer *b)
{
    return dtype_bits(buffer_root(b)->type) == dtype_bits(b->type);
}

static void check_buffer(Legal *l, const Buffer *b)
{
    if (buffer_root(b)->pointer || (!is_same_width(b) && !is_worded(l)))
        legal_refuse(l, arena_printf(l->ir->arena, "'%s'", b->name));
}

static bool check_view(const Expr *x, void *arg)
{
    Legal *l = arg;

    if (x->op == EX_ADDR)
        legal_refuse(l, arena_printf(l->ir->arena, "the address of '%s'", x->u.buf->name));
    if (x->op == EX_LOAD)
        check_buffer(l, x->u.buf);
    return true;
}

static bool check_views(const Stmt *s, void *arg)
{
    Legal *l = arg;

    l->at = s->span;
    stmt_visit_expr(s, check_view, l);
    if (s->kind == ST_STORE)
        check_buffer(l, s->u.store.buf);
    const Buffer *b = s->kind == ST_ATOMIC ? s->u.atomic.buf : NULL;
    if (b && buffer_root(b)->type != b->type)
        legal_refuse(l, arena_printf(l->ir->arena, "'%s'", b->name));
    return true;
}

static const Expr *as_type(Ir *ir, DType t, const Expr *x)
{
    return x->type == t ? x : expr_bitcast(ir, t, x->lanes, x);
}

static const Expr *load_root(Ir *ir, const Expr *x, void *arg)
{
    (void)arg;
    if (x->op != EX_LOAD || !x->u.buf->view_of || !is_same_width(x->u.buf))
        return x;
    Buffer *root = (Buffer *)buffer_root(x->u.buf);
    DType t = (DType)x->type;
    if (!x->guarded)
        return as_type(ir, t, expr_load(ir, root, x->kid, 1));
    return as_type(ir, t, expr_load_guarded(ir, root, x->kid, 1, x->kid[1],
                                            as_type(ir, root->type, x->kid[2])));
}

static const Expr *load_roots(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, load_root, arg);
}

static const Stmt *store_root(Ir *ir, const Stmt *s, void *arg)
{
    (void)arg;
    if (s->kind == ST_ATOMIC && s->u.atomic.buf->view_of)
        return stmt_atomic(ir, s->span, s->u.atomic.op, (Buffer *)buffer_root(s->u.atomic.buf),
                           s->u.atomic.at, s->u.atomic.n, s->u.atomic.value, s->u.atomic.order,
                           s->u.atomic.bind);
    if (s->kind != ST_STORE || !s->u.store.buf->view_of || !is_same_width(s->u.store.buf))
        return s;
    Buffer *root = (Buffer *)buffer_root(s->u.store.buf);
    const Expr *value = expr_cast(ir, s->u.store.buf->type, s->u.store.value);
    return stmt_store_guarded(ir, s->span, root, s->u.store.at, 1, as_type(ir, root->type, value),
                              s->u.store.guard);
}

/* A word of what an address points at, which starts at a word. */
static const Expr *word_from(Legal *l, const Expr *addr, int i, Buffer **b)
{
    Ir *ir = l->ir;
    const Expr *at = addr->kid[0], *word = expr_const(ir, (DType)at->type, 32);

    *b = dtype_bits(addr->u.buf->type) == 32 && dtype_is_int(addr->u.buf->type)
             ? addr->u.buf : legal_words(l, addr->u.buf);
    at = expr_mul(ir, at, expr_const(ir, (DType)at->type, dtype_bits(addr->u.buf->type)));
    at = expr_add(ir, expr_floordiv(ir, at, word), expr_const(ir, (DType)at->type, i));
    return simplify(ir, l->e->facts, at);
}

/* Many bits at once are words one by one; a hint about an address is dropped. */
static const Stmt *lower_address(Ir *ir, const Stmt *s, void *arg)
{
    Legal *l = arg;
    bool load = stmt_calls(s, INTRIN_WIDE_LOAD);
    const Stmt *all = NULL;

    if (stmt_calls(s, INTRIN_PREFETCH))
        return stmt_block(ir, s->span, 0, NULL);
    if ((!load && !stmt_calls(s, INTRIN_WIDE_STORE)) || !is_worded(l))
        return s;
    const Expr *to = s->u.call.arg[0], *from = s->u.call.arg[1], *yes = s->u.call.arg[2];
    for (int i = 0; i < buffer_static_size(load ? to->u.buf : from->u.buf); i++) {
        Buffer *src, *dst;
        const Expr *b = word_from(l, from, i, &src), *a = word_from(l, to, i, &dst);
        const Expr *x = expr_load(ir, src, &b, 1);
        x = load ? expr_if(ir, yes, x, expr_zero(ir, (DType)x->type)) : x;
        all = stmt_seq(ir, all, stmt_store_guarded(ir, s->span, dst, &a, 1, x, load ? NULL : yes));
    }
    return all;
}

/* A view of as many bits is its tensor, with other numbers for the bits; others are words. */
const Stmt *lower_views(Legal *l, const Stmt *body)
{
    body = stmt_map(l->ir, body, lower_address, l);
    stmt_visit(body, check_views, l);
    body = stmt_map_expr(l->ir, body, load_roots, l);
    return stmt_map(l->ir, body, store_root, l);
}

/* ---- choices --------------------------------------------------------------------------------- */

/* Where the condition fails, the first element is read in place of the one it protects. */
static const Expr *load_if(Ir *ir, const Expr *x, const Expr *when)
{
    const Expr *at = x->kid[0], *first = expr_zero(ir, (DType)at->type);

    if (at->lanes > 1)
        first = expr_broadcast(ir, first, at->lanes);
    if (at->lanes > when->lanes)
        when = expr_broadcast(ir, when, at->lanes);
    at = expr_select(ir, when, at, first);
    return expr_load(ir, x->u.buf, &at, 1);
}

static const Expr *load_where(Ir *ir, const Expr *x, void *when)
{
    return x->op == EX_LOAD && x->u.buf->scope != MEM_VAR ? load_if(ir, x, when) : x;
}

static const Expr *choose(Ir *ir, const Expr *x, void *arg)
{
    (void)arg;
    if (x->op == EX_LOAD && x->guarded)
        return expr_select(ir, x->kid[1], load_if(ir, x, x->kid[1]), x->kid[2]);
    if (x->op != EX_IF)
        return x;
    const Expr *yes = x->kid[0], *no = expr_unary(ir, EX_NOT, yes);
    return expr_select(ir, yes, expr_map(ir, x->kid[1], load_where, (void *)yes),
                       expr_map(ir, x->kid[2], load_where, (void *)no));
}

static const Expr *choose_all(Ir *ir, const Expr *x, void *arg)
{
    return expr_map(ir, x, choose, arg);
}

const Stmt *lower_lazy(Legal *l, const Stmt *body)
{
    return stmt_map_expr(l->ir, body, choose_all, l);
}
