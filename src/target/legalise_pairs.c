/* legalise_pairs.c -- 64-bit integers that need all of their bits, as pairs of words.
 *
 * Operators on them become calls of functions that the language has in its device code
 * (tl_add_64, tl_lt_i64, …), and names and variables have the pair's type.  In memory they are two
 * words, the low one first.  What provably fits in 32 bits is computed in those (legalise_wide.c).
 */
#include "target/legalise.h"

enum { WORD = 32 };

static const Expr *pair_of(Legal *l, const Expr *x);
static const Expr *plain(Legal *l, const Expr *x);

static const Expr *call(Legal *l, DType t, const char *fn, const Expr *a, const Expr *b)
{
    const Expr *r = expr_extern(l->ir, t, fn, (const Expr *[]){a, b}, b ? 2 : 1);

    if (is_wide(t))
        map_set(&l->pairs, r, (void *)r); /* it is one */
    return r;
}

/* "tl_lt_i64", "tl_lt_u64" */
static const char *by_sign(Legal *l, const char *fn, DType t)
{
    return arena_printf(l->ir->arena, "tl_%s_%c64", fn, dtype_is_unsigned(t) ? 'u' : 'i');
}

static const Expr *joined(Legal *l, DType t, const Expr *low, const Expr *high)
{
    return call(l, t, l->e->say->pair, low, high);
}

static const Expr *constant(Legal *l, DType t, int64_t v)
{
    return joined(l, t, expr_const(l->ir, DT_U32, (int64_t)(uint32_t)v),
                  expr_const(l->ir, DT_U32, (int64_t)((uint64_t)v >> WORD)));
}

static const Expr *from_word(Legal *l, DType t, const Expr *x)
{
    bool is_signed = x->type == DT_I32;
    return call(l, t, is_signed ? "tl_wide_i32" : "tl_wide_u32", x, NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Of an element of words: fewer than 2^31. */
static const Expr *index_of(Legal *l, const Expr *at)
{
    if (!is_wide((DType)at->type))
        return plain(l, at);
    return wide_culprit(l, at, false) ? call(l, DT_I32, "tl_low_i32", pair_of(l, at), NULL)
                                      : wide_narrowed(l, at);
}

static const Expr *word_at(Legal *l, const Expr *at, int i)
{
    Ir *ir = l->ir;
    const Expr *two = expr_const(ir, (DType)at->type, 2);

    at = expr_add(ir, expr_mul(ir, at, two), expr_const(ir, (DType)at->type, i));
    return simplify(ir, l->e->facts, at);
}

static const Expr *load_pair(Legal *l, const Expr *x)
{
    Buffer *b = x->u.buf;

    if (b->scope == MEM_VAR)
        return x;
    const Expr *at = index_of(l, x->kid[0]), *word[2];
    for (int i = 0; i < 2; i++) {
        const Expr *a = word_at(l, at, i);
        word[i] = expr_load(l->ir, legal_words(l, b), &a, 1);
    }
    const Expr *r = joined(l, (DType)x->type, word[0], word[1]);
    if (!x->guarded)
        return r;
    const Expr *kid[] = {plain(l, x->kid[1]), r, pair_of(l, x->kid[2])};
    return expr_make(l->ir, EX_SELECT, (DType)x->type, 1, 3, kid);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const Expr *pair_cast(Legal *l, DType t, const Expr *x)
{
    DType from = (DType)x->type;

    if (is_wide(from))
        return pair_of(l, x);
    if (dtype_is_float(from))
        return call(l, t, arena_printf(l->ir->arena, "tl_f32_to_%s", dtype_name(t)),
                    expr_cast(l->ir, DT_F32, plain(l, x)), NULL);
    DType word = dtype_is_unsigned(from) || from == DT_BOOL ? DT_U32 : DT_I32;
    return from_word(l, t, expr_cast(l->ir, word, plain(l, x)));
}

static const Expr *pair_bitcast(Legal *l, const Expr *x)
{
    const Expr *of = x->kid[0], *word[2];

    if (is_wide((DType)of->type))
        return pair_of(l, of);
    if (dtype_bits((DType)of->type) != WORD || of->lanes != 2)
        legal_refuse(l, "a bitcast to 64 bits");
    for (int i = 0; i < 2; i++)
        word[i] = expr_bitcast(l->ir, DT_U32, 1, plain(l, lane_of(l->ir, of, i)));
    return joined(l, (DType)x->type, word[0], word[1]);
}

static const Expr *pair_math(Legal *l, const Expr *x)
{
    DType t = (DType)x->type;
    const Expr *a = pair_of(l, x->kid[0]), *b = x->nkid > 1 ? pair_of(l, x->kid[1]) : NULL;

    switch (x->u.fn) {
    case MATH_ABS:
        return dtype_is_unsigned(t) ? a : call(l, t, "tl_abs_i64", a, NULL);
    case MATH_POPCOUNT:
        return from_word(l, t, call(l, DT_U32, "tl_popcount_64", a, NULL));
    case MATH_POW:
        return call(l, t, by_sign(l, "pow", t), a, b);
    case MATH_FMOD:
        return call(l, t, by_sign(l, "truncmod", t), a, b);
    case MATH_MIN_NAN:
    case MATH_MAX_NAN:
        return call(l, t, by_sign(l, x->u.fn == MATH_MIN_NAN ? "min" : "max", t), a, b);
    case MATH_FMA:
        return call(l, t, "tl_add_64", call(l, t, "tl_mul_64", a, b), pair_of(l, x->kid[2]));
    case MATH_LDG: case MATH_FLOOR: case MATH_CEIL: case MATH_TRUNC: case MATH_ROUND:
    case MATH_ROUND_AWAY: case MATH_NEARBYINT:
        return a;
    default:
        legal_refuse(l, arena_printf(l->ir->arena, "T.%s of int64", math_table[x->u.fn].name));
    }
}

static const Expr *pair_binary(Legal *l, const Expr *x)
{
    static const char *const any[EX_COUNT] = {
        [EX_ADD] = "tl_add_64", [EX_SUB] = "tl_sub_64", [EX_MUL] = "tl_mul_64",
        [EX_BITAND] = "tl_and_64", [EX_BITOR] = "tl_or_64", [EX_BITXOR] = "tl_xor_64"};
    static const char *const sign[EX_COUNT] = {
        [EX_FLOORDIV] = "floordiv", [EX_FLOORMOD] = "floormod", [EX_TRUNCDIV] = "truncdiv",
        [EX_TRUNCMOD] = "truncmod", [EX_MIN] = "min", [EX_MAX] = "max", [EX_SHR] = "shr",
        [EX_SHL] = "shl"};
    DType t = (DType)x->type;
    const Expr *b = x->kid[1];

    if (!any[x->op] && !sign[x->op])
        legal_refuse(l, "an operator on 64-bit integers");
    b = is_wide((DType)b->type) ? pair_of(l, b) : pair_cast(l, DT_I64, b); /* count of a shift */
    return call(l, t, any[x->op] ? any[x->op] : by_sign(l, sign[x->op], t), pair_of(l, x->kid[0]),
                b);
}

/* x, of one lane, as a pair. */
static const Expr *make_pair(Legal *l, const Expr *x)
{
    DType t = (DType)x->type;

    if (x->op == EX_INT)
        return constant(l, t, x->u.i);
    if (!wide_culprit(l, x, true))
        return from_word(l, t, wide_narrowed(l, x));
    switch (x->op) {
    case EX_VAR:
        return x;
    case EX_LOAD:
        return load_pair(l, x);
    case EX_NEG:
        return call(l, t, "tl_sub_64", constant(l, t, 0), pair_of(l, x->kid[0]));
    case EX_BITNOT:
        return call(l, t, "tl_xor_64", constant(l, t, -1), pair_of(l, x->kid[0]));
    case EX_SELECT:
    case EX_IF: {
        const Expr *kid[] = {plain(l, x->kid[0]), pair_of(l, x->kid[1]), pair_of(l, x->kid[2])};
        return expr_make(l->ir, EX_SELECT, t, 1, 3, kid);
    }
    case EX_CAST:
        return pair_cast(l, t, x->kid[0]);
    case EX_BITCAST:
        return pair_bitcast(l, x);
    case EX_MATH:
        return pair_math(l, x);
    case EX_LANE: {
        int64_t i = 0;
        expr_is_int(x->kid[1], &i);
        return pair_of(l, lane_of(l->ir, x->kid[0], (int)i));
    }
    case EX_EXTERN:
    case EX_ADDR:
        legal_refuse(l, "a call or an address");
    default:
        return pair_binary(l, x);
    }
}

typedef const Expr *LaneFn(Legal *l, const Expr *x);

static const Expr *by_lanes(Legal *l, const Expr *x, LaneFn *fn)
{
    const Expr **lane = NEWN(l->ir->arena, const Expr *, x->lanes);

    for (int i = 0; i < x->lanes; i++)
        lane[i] = fn(l, lane_of(l->ir, x, i));
    return expr_make(l->ir, EX_VECTOR, (DType)lane[0]->type, x->lanes, x->lanes, lane);
}

static const Expr *pair_of(Legal *l, const Expr *x)
{
    const Expr *r = map_get(&l->pairs, x);

    if (!r) {
        r = x->lanes > 1 ? by_lanes(l, x, make_pair) : make_pair(l, x);
        map_set(&l->pairs, x, (void *)r);
    }
    return r;
}

/* ---- what is of another type, made of such --------------------------------------------------- */

static bool is_comparison(const Expr *x)
{
    return x->op >= EX_EQ && x->op <= EX_GE;
}

static const Expr *compared(Legal *l, const Expr *x)
{
    DType t = (DType)x->kid[0]->type;
    const Expr *a = pair_of(l, x->kid[0]), *b = pair_of(l, x->kid[1]);

    if (x->op == EX_EQ || x->op == EX_NE) {
        const Expr *same = call(l, DT_BOOL, "tl_eq_64", a, b);
        return x->op == EX_EQ ? same : expr_unary(l->ir, EX_NOT, same);
    }
    bool less = x->op == EX_LT || x->op == EX_GE; /* a >= b: not a < b */
    const Expr *r = call(l, DT_BOOL, by_sign(l, "lt", t), less ? a : b, less ? b : a);
    return x->op == EX_GE || x->op == EX_LE ? expr_unary(l->ir, EX_NOT, r) : r;
}

static const Expr *from_pair(Legal *l, DType t, const Expr *x)
{
    Ir *ir = l->ir;

    if (t == DT_BOOL)
        return expr_unary(ir, EX_NOT, call(l, DT_BOOL, "tl_eq_64", pair_of(l, x),
                                           constant(l, (DType)x->type, 0)));
    if (!wide_culprit(l, x, !dtype_is_int(t)))
        return expr_cast(ir, t, wide_narrowed(l, x));
    if (dtype_is_int(t))
        return expr_cast(ir, t, call(l, DT_U32, "tl_low", pair_of(l, x), NULL));
    const char *fn = by_sign(l, t == DT_F32 ? "to_f32" : "odd", (DType)x->type);
    return expr_cast(ir, t, call(l, DT_F32, fn, pair_of(l, x), NULL));
}

static const Expr *plain_math(Legal *l, const Expr *x)
{
    const Expr *a = pair_of(l, x->kid[0]);

    switch (x->u.fn) {
    case MATH_CLZ:
        return call(l, DT_I32, "tl_clz_64", a, NULL);
    case MATH_FFS:
        return call(l, DT_I32, "tl_ffs_64", a, NULL);
    case MATH_ISNAN: case MATH_ISINF: case MATH_ISFINITE:
        return expr_const(l->ir, DT_BOOL, x->u.fn == MATH_ISFINITE);
    default:
        legal_refuse(l, arena_printf(l->ir->arena, "T.%s of int64", math_table[x->u.fn].name));
    }
}

static const Expr *make_plain(Legal *l, const Expr *x)
{
    const Expr **kid = NEWN(l->ir->arena, const Expr *, x->nkid + 1);
    bool of_wide = x->nkid && is_wide((DType)x->kid[0]->type);

    if (of_wide && is_comparison(x))
        return compared(l, x);
    if (of_wide && (x->op == EX_CAST || (x->op == EX_BITCAST && x->kid[0]->lanes == 1)))
        return from_pair(l, (DType)x->type, x->kid[0]);
    if (of_wide && x->op == EX_MATH)
        return plain_math(l, x);
    for (int i = 0; i < x->nkid; i++) {
        bool place = i == 0 && (x->op == EX_LOAD || x->op == EX_ADDR);
        bool count = i == 1 && (x->op == EX_SHL || x->op == EX_SHR);
        const Expr *k = x->kid[i];
        kid[i] = place ? index_of(l, k) : plain(l, k);
        if (count && is_wide((DType)k->type))
            kid[i] = expr_cast(l->ir, (DType)x->kid[0]->type,
                               call(l, DT_I32, "tl_count_64", pair_of(l, k), NULL));
    }
    return expr_with_kids(l->ir, x, kid);
}

static bool see_wide(const Expr *x, void *found)
{
    *(bool *)found |= is_wide((DType)x->type);
    return !*(bool *)found;
}

/* x without a 64-bit integer in it; one that is such a one itself is a pair. */
static const Expr *plain(Legal *l, const Expr *x)
{
    const Expr *r = map_get(&l->plains, x);
    bool any = false;

    if (is_wide((DType)x->type))
        return pair_of(l, x);
    if (r)
        return r;
    expr_visit(x, see_wide, &any);
    r = !any ? x : x->lanes > 1 ? by_lanes(l, x, plain) : make_plain(l, x);
    map_set(&l->plains, x, (void *)r);
    return r;
}

/* ---- statements ------------------------------------------------------------------------------ */

static const Stmt *store_words(Legal *l, const Stmt *s, int lane, const Expr *value)
{
    Ir *ir = l->ir;
    const Expr *at = index_of(l, lane_of(ir, s->u.store.at[0], lane)), *guard = s->u.store.guard;
    const Stmt *all = NULL;

    guard = guard ? plain(l, lane_of(ir, guard, lane)) : NULL;
    for (int i = 0; i < 2; i++) {
        const Expr *a = word_at(l, at, i);
        const Expr *v = call(l, DT_U32, i ? "tl_high" : "tl_low", value, NULL);
        all = stmt_seq(ir, all, stmt_store_guarded(ir, s->span, legal_words(l, s->u.store.buf), &a,
                                                   1, v, guard));
    }
    return all;
}

/* What is computed gets a name: it is so once, and may be made of the words that are written. */
static const Stmt *store_pairs(Legal *l, const Stmt *s)
{
    Ir *ir = l->ir;
    DType t = s->u.store.buf->type;
    int lanes = MAX(s->u.store.at[0]->lanes, s->u.store.value->lanes);
    const Stmt *names = NULL, *all = NULL;

    for (int i = 0; i < lanes; i++) {
        const Expr *value = lane_of(ir, s->u.store.value, i);
        const Expr *v = pair_cast(l, t, value);
        if (value->nkid) {
            Var *name = var_new(ir, "wide", t, s->span);
            names = stmt_seq(ir, names, stmt_let(ir, s->span, name, v));
            v = expr_var(ir, name);
        }
        all = stmt_seq(ir, all, store_words(l, s, i, v));
    }
    return stmt_seq(ir, names, all);
}

static const Stmt *lower_let(Legal *l, const Stmt *s)
{
    Var *v = s->u.let.var;
    const Expr *x = s->u.let.value;

    if (map_has(&l->vars, v))
        return stmt_let(l->ir, s->span, map_get(&l->vars, v),
                        expr_cast(l->ir, DT_I32, wide_narrowed(l, x)));
    return stmt_let(l->ir, s->span, v, is_wide(v->type) ? pair_cast(l, v->type, x) : plain(l, x));
}

static const Expr *lower_root(Ir *ir, const Expr *x, void *l)
{
    (void)ir;
    return plain(l, x);
}

static const Stmt *lower_stmt(Ir *ir, const Stmt *s, void *arg)
{
    Legal *l = arg;

    l->at = s->span;
    if (s->kind == ST_ATOMIC && is_wide(s->u.atomic.buf->type))
        legal_refuse(l, arena_printf(ir->arena, "an atomic on '%s'", s->u.atomic.buf->name));
    if (s->kind == ST_FOR && is_wide(s->u.loop.var->type) && !map_has(&l->vars, s->u.loop.var))
        legal_refuse(l, arena_printf(ir->arena, "the loop over '%s'", s->u.loop.var->name));
    if (s->kind == ST_STORE && is_wide(s->u.store.buf->type) && s->u.store.buf->scope != MEM_VAR)
        return store_pairs(l, s);
    if (s->kind == ST_STORE && s->u.store.buf->scope == MEM_VAR && is_wide(s->u.store.buf->type))
        return stmt_store_guarded(ir, s->span, s->u.store.buf, s->u.store.at, s->u.store.n,
                                  pair_cast(l, s->u.store.buf->type, s->u.store.value),
                                  s->u.store.guard ? plain(l, s->u.store.guard) : NULL);
    if (s->kind == ST_STORE && s->u.store.buf->scope != MEM_VAR) {
        const Expr *at = index_of(l, s->u.store.at[0]);
        return stmt_store_guarded(ir, s->span, s->u.store.buf, &at, 1, plain(l, s->u.store.value),
                                  s->u.store.guard ? plain(l, s->u.store.guard) : NULL);
    }
    if (s->kind == ST_ATOMIC) {
        const Expr *at = index_of(l, s->u.atomic.at[0]);
        const Expr *value = s->u.atomic.value ? plain(l, s->u.atomic.value) : NULL;
        return stmt_atomic(ir, s->span, s->u.atomic.op, s->u.atomic.buf, &at, 1, value,
                           s->u.atomic.order, s->u.atomic.bind);
    }
    if (s->kind == ST_LET)
        return lower_let(l, s);
    if (s->kind == ST_FOR && map_has(&l->vars, s->u.loop.var))
        return stmt_for(ir, s->span, s->u.loop.how, map_get(&l->vars, s->u.loop.var),
                        index_of(l, s->u.loop.min), index_of(l, s->u.loop.extent), s->u.loop.hints,
                        s->u.loop.body);
    return s;
}

const Stmt *lower_pairs(Legal *l, const Stmt *body)
{
    map_init(&l->pairs, l->e->arena);
    map_init(&l->plains, l->e->arena);
    body = stmt_map(l->ir, body, lower_stmt, l);
    return stmt_map_expr(l->ir, body, lower_root, l);
}
