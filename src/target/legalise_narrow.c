/* legalise_narrow.c -- elements of 4, 8 and 16 bits in words of 32, and values of them as int32.
 *
 * A tensor is seen as its words: element i is bits i % n of word i // n, the first one lowest.
 * What only one thread sees is put into its word; in memory that others write too, the old bits are
 * taken out and the new ones put in by an atomic each, so that neighbours of other threads stay.
 * Values of a narrow integer are the same numbers of int32, brought back to their range by what
 * could leave it. */
#include "target/legalise.h"

enum { WORD = 32 };

static bool is_lacked(const Legal *l, DType t)
{
    int bits = dtype_bits(t);
    return t != DT_HANDLE && bits < WORD && !(l->lacks & LACK_BYTES) == (bits == 16);
}

/* Whose elements the language has no type for. */
static bool in_words(const Legal *l, const Buffer *b)
{
    return is_lacked(l, b->type) && !(l->e->say->typed && l->e->say->typed(l->e, b));
}

/* Of an integer type that values are not computed in. */
static bool is_small(const Legal *l, DType t)
{
    return dtype_is_int(t) && is_lacked(l, t);
}

static const Expr *num(Legal *l, DType t, int64_t v)
{
    return expr_const(l->ir, t, v);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* An int32 as one of type t would have it. */
static const Expr *wrapped(Legal *l, DType t, const Expr *x)
{
    int bits = dtype_bits(t);

    if (bounds_within(bounds_of(l->e->facts, x), dtype_int_min(t), dtype_int_max(t)))
        return x;
    if (dtype_is_unsigned(t))
        return expr_binary(l->ir, EX_BITAND, x, num(l, DT_I32, ((int64_t)1 << bits) - 1));
    const Expr *by = num(l, DT_I32, WORD - bits);
    return expr_binary(l->ir, EX_SHR, expr_binary(l->ir, EX_SHL, x, by), by);
}

static const Expr *words_at(Legal *l, Buffer *b, const Expr *at, const Expr **shift)
{
    Ir *ir = l->ir;
    int bits = dtype_bits(b->type);
    const Expr *n = num(l, (DType)at->type, WORD / bits);
    const Expr *low = expr_mul(ir, expr_floormod(ir, at, n), num(l, (DType)at->type, bits));

    *shift = expr_cast(ir, DT_U32, simplify(ir, l->e->facts, low));
    return simplify(ir, l->e->facts, expr_floordiv(ir, at, n));
}

static uint32_t mask_of(DType t)
{
    return (1u << dtype_bits(t)) - 1;
}

/* Bits as a number of type t; a small integer as an int32. */
static const Expr *decoded(Legal *l, DType t, const Expr *bits)
{
    Ir *ir = l->ir;

    if (t == DT_BOOL)
        return expr_binary(ir, EX_NE, bits, num(l, DT_U32, 0));
    if (dtype_is_int(t))
        return wrapped(l, t, expr_cast(ir, DT_I32, bits));
    return expr_bitcast(ir, t, 1, expr_cast(ir, unsigned_of(dtype_bits(t)), bits));
}

/* A float of type t that is chosen, not computed: its bits can be chosen just as well. */
static bool is_chosen(DType t, const Expr *x)
{
    if (x->op == EX_IF || x->op == EX_SELECT)
        return is_chosen(t, x->kid[1]) && is_chosen(t, x->kid[2]);
    return (DType)x->type == t && (x->op == EX_BITCAST || x->op == EX_FLOAT);
}

static const Expr *encoded(Legal *l, DType t, const Expr *x)
{
    Ir *ir = l->ir;
    uint32_t bits = 0;

    if (!dtype_is_float(t))
        return expr_binary(ir, EX_BITAND, expr_cast(ir, DT_U32, x), num(l, DT_U32, mask_of(t)));
    if ((x->op == EX_IF || x->op == EX_SELECT) && is_chosen(t, x)) {
        const Expr *kid[] = {x->kid[0], encoded(l, t, x->kid[1]), encoded(l, t, x->kid[2])};
        return x->op == EX_IF ? expr_if(ir, kid[0], kid[1], kid[2])
                              : expr_select(ir, kid[0], kid[1], kid[2]);
    }
    if (x->op == EX_FLOAT && (DType)x->type == t) {
        num_store(t, &bits, 0, x->u.f, 0);
        return num(l, DT_U32, bits);
    }
    if (x->op == EX_BITCAST && (DType)x->type == t)
        return expr_cast(ir, DT_U32, x->kid[0]);
    x = expr_bitcast(ir, unsigned_of(dtype_bits(t)), 1, expr_cast(ir, t, x));
    return expr_cast(ir, DT_U32, x);
}

static const Expr *lower_load(Legal *l, const Expr *x, const Expr *const *kid)
{
    Ir *ir = l->ir;
    Buffer *b = x->u.buf;
    const Expr *shift, *at, *r;

    if (b->scope == MEM_VAR) /* a variable of the type that values have */
        return is_small(l, b->type) ? expr_cast(ir, DT_I32, x) : x;
    at = words_at(l, b, kid[0], &shift);
    r = expr_binary(ir, EX_SHR, expr_load(ir, legal_words(l, b), &at, 1), shift);
    r = decoded(l, b->type, expr_binary(ir, EX_BITAND, r, num(l, DT_U32, mask_of(b->type))));
    return x->guarded ? expr_if(ir, kid[1], r, kid[2]) : r;
}

static const Expr *lower_cast(Legal *l, DType t, const Expr *x)
{
    Ir *ir = l->ir;
    const Expr *r = expr_cast(ir, DT_I32, x);

    if (!dtype_is_float((DType)x->type))
        return wrapped(l, t, r);
    r = expr_max(ir, r, num(l, DT_I32, dtype_int_min(t)));
    return expr_min(ir, r, num(l, DT_I32, dtype_int_max(t)));
}

/* Bits above the type are not its own. */
static const Expr *lower_math(Legal *l, const Expr *x, const Expr *const *kid)
{
    DType from = (DType)x->kid[0]->type;
    bool counts = x->u.fn == MATH_CLZ || x->u.fn == MATH_POPCOUNT;

    if (!counts || !is_small(l, from))
        return expr_with_kids(l->ir, x, kid);
    const Expr *own = expr_binary(l->ir, EX_BITAND, kid[0], num(l, DT_I32, mask_of(from)));
    const Expr *n = expr_math(l->ir, x->u.fn, &own, 1);
    int above = x->u.fn == MATH_CLZ ? WORD - dtype_bits(from) : 0;
    return expr_cast(l->ir, DT_I32, expr_sub(l->ir, n, num(l, (DType)n->type, above)));
}

static const Expr *lower_small(Legal *l, const Expr *x, const Expr *const *kid)
{
    Ir *ir = l->ir;
    DType t = (DType)x->type;

    switch ((ExprOp)x->op) {
    case EX_INT:
        return num(l, DT_I32, x->u.i);
    case EX_VAR: /* what a call hands over keeps its name and type */
        return map_has(&l->vars, x->u.var) ? legal_var(l, x->u.var) : expr_cast(ir, DT_I32, x);
    case EX_CAST:
        return lower_cast(l, t, kid[0]);
    case EX_BITCAST:
        if (dtype_is_float((DType)x->kid[0]->type))
            return wrapped(l, t, expr_cast(ir, DT_I32, expr_bitcast(ir, t, 1, kid[0])));
        return wrapped(l, t, kid[0]);
    case EX_MATH:
        return wrapped(l, t, lower_math(l, x, kid));
    case EX_MIN: case EX_MAX: case EX_BITAND: case EX_BITOR: case EX_BITXOR: case EX_SHR:
    case EX_FLOORMOD: case EX_TRUNCMOD: case EX_SELECT: case EX_IF:
        return expr_with_kids(ir, x, kid);
    default:
        return wrapped(l, t, expr_with_kids(ir, x, kid));
    }
}

/* What was lowered once is left alone. */
static const Expr *settled(Legal *l, const Expr *x)
{
    map_set(&l->done, x, (void *)x);
    return x;
}

static const Expr *lower_expr(Ir *ir, const Expr *x, void *arg)
{
    Legal *l = arg;
    const Expr *r = map_get(&l->done, x);
    bool same = true;

    if (r)
        return r;
    if (x->op == EX_LANE) {
        int64_t lane = 0;
        expr_is_int(x->kid[1], &lane);
        return lower_expr(ir, lane_of(ir, x->kid[0], (int)lane), l);
    }
    const Expr **kid = NEWN(ir->arena, const Expr *, x->nkid + 1);
    for (int i = 0; i < x->nkid; i++) {
        kid[i] = lower_expr(ir, x->kid[i], l);
        same &= kid[i] == x->kid[i];
    }
    if (x->op == EX_LOAD && in_words(l, x->u.buf))
        r = lower_load(l, x, kid);
    else if (is_small(l, (DType)x->type))
        r = lower_small(l, x, kid);
    else if (same)
        r = x;
    else if (x->op == EX_MATH)
        r = expr_cast(ir, (DType)x->type, lower_math(l, x, kid));
    else {
        DType from = (DType)x->kid[0]->type;
        if (x->op == EX_BITCAST && is_small(l, from))
            kid[0] = expr_cast(ir, unsigned_of(dtype_bits(from)), kid[0]);
        r = expr_with_kids(ir, x, kid);
    }
    map_set(&l->done, x, (void *)r);
    return settled(l, r);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* One element among others of its word. */
static const Stmt *store_part(Legal *l, const Stmt *s, const Expr *at, const Expr *value,
                              const Expr *guard)
{
    Ir *ir = l->ir;
    Buffer *b = s->u.store.buf, *w = legal_words(l, b);
    MemScope scope = buffer_root(b)->scope;
    const Expr *shift;

    at = words_at(l, b, lower_expr(ir, at, l), &shift);
    const Expr *bits = encoded(l, b->type, lower_expr(ir, value, l));
    const Expr *mask = expr_binary(ir, EX_SHL, num(l, DT_U32, mask_of(b->type)), shift);
    mask = settled(l, expr_unary(ir, EX_BITNOT, mask));
    bits = settled(l, expr_binary(ir, EX_SHL, bits, shift));
    settled(l, at);
    guard = guard ? lower_expr(ir, guard, l) : NULL;
    if (scope != MEM_GLOBAL && scope != MEM_SHARED) {
        const Expr *old = expr_binary(ir, EX_BITAND, expr_load(ir, w, &at, 1), mask);
        bits = settled(l, expr_binary(ir, EX_BITOR, old, bits));
        return stmt_store_guarded(ir, s->span, w, &at, 1, bits, guard);
    }
    Var *v = var_new(ir, "bits", DT_U32, s->span); /* they may be made of what is taken out */
    const Stmt *all = stmt_let(ir, s->span, v, bits);
    all = stmt_seq(ir, all, stmt_atomic(ir, s->span, ATOMIC_AND, w, &at, 1, mask, NULL, NULL));
    all = stmt_seq(ir, all, stmt_atomic(ir, s->span, ATOMIC_OR, w, &at, 1, expr_var(ir, v), NULL,
                                        NULL));
    return guard ? stmt_if(ir, s->span, guard, all, NULL) : all;
}

/* Lanes that fill whole words, under one condition; false: they do not. */
static bool fills_words(Legal *l, const Stmt *s, int lanes)
{
    const Expr *at = s->u.store.at[0], *guard = s->u.store.guard;
    int per = WORD / dtype_bits(s->u.store.buf->type);
    int64_t stride = 0;

    if (at->op != EX_RAMP || !expr_is_int(at->kid[1], &stride) || stride != 1 || lanes % per ||
        (guard && guard->lanes > 1 && guard->op != EX_BROADCAST))
        return false;
    Modular m = modular_of(l->e->facts, at->kid[0]);
    return m.coef % per == 0 && m.base % per == 0;
}

static const Stmt *store_words(Legal *l, const Stmt *s, int lanes)
{
    Ir *ir = l->ir;
    Buffer *b = s->u.store.buf;
    const Expr *guard = s->u.store.guard, *shift, *value = s->u.store.value;
    int bits = dtype_bits(b->type), per = WORD / bits;
    const Stmt *all = NULL;

    guard = guard ? lower_expr(ir, lane_of(ir, guard, 0), l) : NULL;
    for (int w = 0; w < lanes / per; w++) {
        const Expr *word = NULL;
        for (int i = 0; i < per; i++) {
            const Expr *one = lower_expr(ir, lane_of(ir, value, w * per + i), l);
            one = expr_binary(ir, EX_SHL, encoded(l, b->type, one), num(l, DT_U32, i * bits));
            word = word ? expr_binary(ir, EX_BITOR, word, one) : one;
        }
        const Expr *at = lower_expr(ir, lane_of(ir, s->u.store.at[0], w * per), l);
        at = settled(l, words_at(l, b, at, &shift));
        settled(l, word);
        all = stmt_seq(ir, all, stmt_store_guarded(ir, s->span, legal_words(l, b), &at, 1, word,
                                                   guard));
    }
    return all;
}

static bool does_parts(const Legal *l, const Stmt *s)
{
    DType t = s->u.atomic.buf->type;
    bool narrow = dtype_is_int(t) && (dtype_bits(t) == 8 || dtype_bits(t) == 16);

    return l->e->say->part_atomics && (t == DT_F16 || t == DT_BF16 || narrow);
}

/* Neighbours that opt_vectorize joined. */
static const Stmt *one_by_one(Legal *l, const Stmt *s)
{
    const Stmt *all = NULL;

    for (int i = 0; i < s->u.atomic.at[0]->lanes; i++) {
        const Expr *at = lane_of(l->ir, s->u.atomic.at[0], i);
        const Expr *value = lane_of(l->ir, s->u.atomic.value, i);
        all = stmt_seq(l->ir, all, stmt_atomic(l->ir, s->span, s->u.atomic.op, s->u.atomic.buf, &at,
                                               1, value, s->u.atomic.order, NULL));
    }
    return all;
}

/* It comes as it was given. */
static bool moves_value(const Stmt *s)
{
    Intrin which = s->u.call.which;
    return which == INTRIN_SHFL || which == INTRIN_SHFL_XOR || which == INTRIN_SHFL_DOWN ||
           which == INTRIN_SHFL_UP;
}

/* Names that the kernel itself gives. */
static bool see_bound(const Stmt *s, void *arg)
{
    Legal *l = arg;
    Var *v = s->kind == ST_LET      ? s->u.let.var
             : s->kind == ST_FOR    ? s->u.loop.var
             : s->kind == ST_CALL   ? s->u.call.bind
             : s->kind == ST_ATOMIC ? s->u.atomic.bind
                                    : NULL;

    if (v && is_small(l, v->type))
        legal_var(l, v);
    return true;
}

static const Stmt *lower_store(Ir *ir, const Stmt *s, void *arg)
{
    Legal *l = arg;
    const Stmt *all = NULL;

    l->at = s->span;
    if (s->kind == ST_ATOMIC && is_lacked(l, s->u.atomic.buf->type) && !does_parts(l, s))
        legal_refuse(l, arena_printf(ir->arena, "an atomic on '%s'", s->u.atomic.buf->name));
    if (s->kind == ST_ATOMIC && is_lacked(l, s->u.atomic.buf->type) && s->u.atomic.at[0]->lanes > 1)
        return one_by_one(l, s);
    if (s->kind == ST_CALL && s->u.call.bind && is_small(l, s->u.call.bind->type) &&
        !moves_value(s))
        legal_refuse(l, arena_printf(ir->arena, "T.%s", intrin_table[s->u.call.which].word));
    if (s->kind != ST_STORE || s->u.store.buf->scope == MEM_VAR)
        return s;
    const Expr *at = s->u.store.at[0], *value = s->u.store.value, *guard = s->u.store.guard;
    int lanes = MAX(at->lanes, value->lanes);
    bool lacked = in_words(l, s->u.store.buf);
    if (lacked && lanes > 1 && fills_words(l, s, lanes))
        return store_words(l, s, lanes);
    for (int i = 0; (lacked || lanes > 1) && i < lanes; i++) {
        const Expr *a = lane_of(ir, at, i), *v = lane_of(ir, value, i);
        const Expr *g = guard ? lane_of(ir, guard, i) : NULL;
        const Stmt *one = lacked ? store_part(l, s, a, v, g)
                                 : stmt_store_guarded(ir, s->span, s->u.store.buf, &a, 1, v, g);
        all = stmt_seq(ir, all, one);
    }
    return all ? all : s;
}

const Stmt *lower_narrow(Legal *l, const Stmt *body)
{
    stmt_visit(body, see_bound, l);
    body = stmt_map(l->ir, body, lower_store, l);
    body = stmt_map_expr(l->ir, body, lower_expr, l);
    return stmt_map(l->ir, body, legal_bind, l);
}
