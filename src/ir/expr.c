/* expr.c -- expressions: interning and the constructors that check and promote.
 *
 * Promotion.  Two operands get the type dtype_join says.  A literal gives way: an int32 literal
 * (or one that needs 64 bits only for its value) next to an int that can hold it, or next to a
 * float, takes that type; a float32 literal next to a float takes that float's type and next to an
 * int makes the operation float32.  bool becomes int32 where arithmetic is done.  A scalar next to
 * a vector is broadcast.  What folds is in fold.c. */
#include <math.h>
#include "ir/fold.h"

const ExprInfo expr_table[EX_COUNT] = {
#define EXPR(id, text, arity) [EX_##id] = {text, arity},
#include "ir/expr.def"
#undef EXPR
};

const MathInfo math_table[MATH_COUNT] = {
#define MATH(id, name, arity) [MATH_##id] = {name, arity},
#include "ir/math.def"
#undef MATH
};

/* ---- interning -------------------------------------------------------------------------- */

enum { SLOTS_LEAST = 1024, KIDS_MOST = 4096 };

Ir *ir_new(Arena *a, Names *names, Diag *d, const IrWords *words)
{
    Ir *ir = NEW(a, Ir);
    ir->arena = a;
    ir->names = names;
    ir->diag = d;
    ir->words = words;
    ir->nslot = SLOTS_LEAST;
    ir->slot = NEWN(a, const Expr *, SLOTS_LEAST);
    return ir;
}

const char *ir_name(Ir *ir, const char *s)
{
    return name_intern(ir->names, s, strlen(s));
}

Var *var_new(Ir *ir, const char *name, DType t, Span at)
{
    Var *v = NEW(ir->arena, Var);
    *v = (Var){.name = ir_name(ir, name), .id = ir->nvar, .type = t, .span = at,
               .order = ir->nvar};
    ir->nvar++;
    return v;
}

/* What u holds, as a number that does not depend on addresses. */
static uint64_t payload_hash(const Expr *e)
{
    uint64_t bits;
    switch (e->op) {
    case EX_INT:
        return (uint64_t)e->u.i;
    case EX_FLOAT:
        memcpy(&bits, &e->u.f, sizeof bits);
        return bits;
    case EX_STR:
    case EX_EXTERN:
        return hash_bytes(e->u.text, strlen(e->u.text), 1);
    case EX_VAR:
        return (uint64_t)e->u.var->id;
    case EX_LOAD:
    case EX_ADDR:
        return (uint64_t)e->u.buf->id;
    case EX_MATH:
        return (uint64_t)e->u.fn;
    default:
        return 0;
    }
}

static bool payload_equal(const Expr *a, const Expr *b)
{
    switch (a->op) {
    case EX_INT:
        return a->u.i == b->u.i;
    case EX_FLOAT: /* bits: 0.0 and -0.0 are two */
        return memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0;
    case EX_STR:
    case EX_EXTERN:
        return a->u.text == b->u.text;
    case EX_VAR:
        return a->u.var == b->u.var;
    case EX_LOAD:
    case EX_ADDR:
        return a->u.buf == b->u.buf;
    case EX_MATH:
        return a->u.fn == b->u.fn;
    default:
        return true;
    }
}

static bool expr_same(const Expr *a, const Expr *b, const Expr *const *kid)
{
    if (a->hash != b->hash || a->op != b->op || a->type != b->type || a->lanes != b->lanes ||
        a->guarded != b->guarded || a->nkid != b->nkid || !payload_equal(a, b))
        return false;
    for (int i = 0; i < a->nkid; i++) {
        if (a->kid[i] != kid[i])
            return false;
    }
    return true;
}

static void table_grow(Ir *ir)
{
    int nold = ir->nslot;
    const Expr **old = ir->slot;
    ir->nslot = nold * 2;
    ir->slot = NEWN(ir->arena, const Expr *, ir->nslot);
    for (int i = 0; i < nold; i++) {
        if (!old[i])
            continue;
        uint32_t at = old[i]->hash & (uint32_t)(ir->nslot - 1);
        while (ir->slot[at])
            at = (at + 1) & (uint32_t)(ir->nslot - 1);
        ir->slot[at] = old[i];
    }
}

/* The one Expr that equals `want` with these kids. */
static const Expr *intern(Ir *ir, Expr *want, const Expr *const *kid)
{
    uint64_t h = hash_mix((uint64_t)want->op << 32 | (uint64_t)want->type << 24 |
                              (uint64_t)want->lanes << 4 | (uint64_t)want->guarded,
                          payload_hash(want));
    int depth = 0;
    uint64_t size = 1;
    for (int i = 0; i < want->nkid; i++) {
        h = hash_mix(h, kid[i]->hash);
        depth = MAX(depth, kid[i]->depth + 1);
        size += kid[i]->size;
    }
    want->hash = (uint32_t)(h ^ h >> 32);
    uint32_t at = want->hash & (uint32_t)(ir->nslot - 1);
    for (; ir->slot[at]; at = (at + 1) & (uint32_t)(ir->nslot - 1)) {
        if (expr_same(ir->slot[at], want, kid))
            return ir->slot[at];
    }
    if (depth > DEPTH_MOST)
        diag_fail(ir->diag, ir->at, "an expression is nested more than %d deep, what its names "
                  "stand for included; keep a part of it in a T.alloc_var [too-deep]", DEPTH_MOST);
    if (size > EXPR_SIZE_MOST)
        diag_fail(ir->diag, ir->at, "an expression has more than %d terms, what its names stand "
                  "for included; keep a part of it in a T.alloc_var [too-deep]", EXPR_SIZE_MOST);
    Expr *e = arena_alloc(ir->arena, sizeof(Expr) + sizeof(Expr *) * (size_t)want->nkid);
    *e = *want;
    e->depth = (uint16_t)depth;
    e->size = (uint32_t)size;
    if (want->nkid)
        memcpy(e->kid, kid, sizeof(Expr *) * (size_t)want->nkid);
    ir->slot[at] = e;
    if (++ir->nexpr * 2 > ir->nslot)
        table_grow(ir);
    return e;
}

const Expr *expr_make(Ir *ir, ExprOp op, DType t, int lanes, int n, const Expr *const *kid)
{
    BUG(expr_table[op].arity >= 0 && expr_table[op].arity != n, "'%s' with %d operands",
        expr_table[op].text, n);
    BUG(op <= EX_VAR || op == EX_LOAD || op == EX_MATH || op == EX_EXTERN || op == EX_ADDR,
        "expr_make of an operator that carries more than its operands");
    Expr want = {.op = (uint8_t)op, .type = (uint8_t)t, .lanes = (uint16_t)lanes, .nkid = n};
    return intern(ir, &want, kid);
}

/* ---- leaves ----------------------------------------------------------------------------- */

const Expr *expr_int(Ir *ir, int64_t v)
{
    return expr_const(ir, v >= INT32_MIN && v <= INT32_MAX ? DT_I32 : DT_I64, v);
}

const Expr *expr_const(Ir *ir, DType t, int64_t v)
{
    BUG(dtype_is_float(t), "an integer constant of type %s", dtype_name(t));
    return intern(ir, &(Expr){.op = EX_INT, .type = (uint8_t)t, .lanes = 1, .u.i = num_wrap(t, v)},
                  NULL);
}

const Expr *expr_float(Ir *ir, DType t, double v)
{
    BUG(!dtype_is_float(t), "a float constant of type %s", dtype_name(t));
    /* An infinity that the type can spell stays: it was asked for, not overflowed to. */
    if (!isinf(v) || !dtype_has_inf(t))
        v = num_round(t, v);
    if (isnan(v))
        v = NAN;
    return intern(ir, &(Expr){.op = EX_FLOAT, .type = (uint8_t)t, .lanes = 1, .u.f = v}, NULL);
}

const Expr *expr_bool(Ir *ir, bool v)
{
    return expr_const(ir, DT_BOOL, v);
}

const Expr *expr_zero(Ir *ir, DType t)
{
    return dtype_is_float(t) ? expr_float(ir, t, 0) : expr_const(ir, t, 0);
}

const Expr *expr_str(Ir *ir, const char *s)
{
    Expr want = {.op = EX_STR, .type = DT_HANDLE, .lanes = 1, .u.text = ir_name(ir, s)};
    return intern(ir, &want, NULL);
}

const Expr *expr_var(Ir *ir, Var *v)
{
    Expr want = {.op = EX_VAR, .type = (uint8_t)v->type, .lanes = 1, .u.var = v};
    return intern(ir, &want, NULL);
}

/* ---- promotion -------------------------------------------------------------------------- */

/* A literal that gives way to the type next to it. */
static bool is_weak(const Expr *e)
{
    if (e->op == EX_INT)
        return e->type == DT_I32 ||
               (e->type == DT_I64 && (e->u.i < INT32_MIN || e->u.i > INT32_MAX));
    return e->op == EX_FLOAT && e->type == DT_F32;
}

static bool int_fits(DType t, int64_t v)
{
    if (t == DT_U64)
        return v >= 0;
    return v >= dtype_int_min(t) && v <= dtype_int_max(t);
}

/* The type of the pair when `lit` is a literal next to something typed t; DT_NONE: no such rule. */
static DType weak_type(const Expr *lit, DType t)
{
    if (lit->op == EX_FLOAT)
        return dtype_is_float(t) ? t : DT_F32;
    if (dtype_is_float(t))
        return t;
    return dtype_is_int(t) && int_fits(t, lit->u.i) ? t : DT_NONE;
}

static DType pair_type(const Expr *a, const Expr *b)
{
    DType t = DT_NONE;
    if (a->type == b->type)
        return a->type;
    if (is_weak(a) && !is_weak(b))
        t = weak_type(a, b->type);
    else if (is_weak(b) && !is_weak(a))
        t = weak_type(b, a->type);
    return t == DT_NONE ? dtype_join(a->type, b->type) : t;
}

static void match_lanes(Ir *ir, const Expr **a, const Expr **b)
{
    if ((*a)->lanes == (*b)->lanes)
        return;
    BUG((*a)->lanes != 1 && (*b)->lanes != 1, "vectors of %d and %d lanes meet", (*a)->lanes,
        (*b)->lanes);
    if ((*a)->lanes == 1)
        *a = expr_broadcast(ir, *a, (*b)->lanes);
    else
        *b = expr_broadcast(ir, *b, (*a)->lanes);
}

static void expr_promote(Ir *ir, const Expr **a, const Expr **b)
{
    DType t = pair_type(*a, *b);
    *a = expr_cast(ir, t, *a);
    *b = expr_cast(ir, t, *b);
    match_lanes(ir, a, b);
}

/* ---- operators -------------------------------------------------------------------------- */

static bool is_comparison(ExprOp op)
{
    return op >= EX_EQ && op <= EX_GE;
}

static bool keeps_bool(ExprOp op)
{
    return is_comparison(op) || op == EX_BITAND || op == EX_BITOR || op == EX_BITXOR;
}

static void operands_check(ExprOp op, const Expr *a)
{
    bool is_float = dtype_is_float(a->type);
    BUG(op == EX_DIV && !is_float, "'/' on %s", dtype_name(a->type));
    BUG((op == EX_BITAND || op == EX_BITOR || op == EX_BITXOR || op == EX_TRUNCMOD ||
         op == EX_TRUNCDIV) && is_float,
        "'%s' on %s", expr_table[op].text, dtype_name(a->type));
}

static void shift_operands(Ir *ir, const Expr **a, const Expr **b)
{
    if ((*a)->type == DT_BOOL)
        *a = expr_cast(ir, DT_I32, *a);
    BUG(!dtype_is_int((*a)->type) || dtype_is_float((*b)->type), "a shift of %s by %s",
        dtype_name((*a)->type), dtype_name((*b)->type));
    *b = expr_cast(ir, (*a)->type, *b);
    match_lanes(ir, a, b);
}

const Expr *expr_binary(Ir *ir, ExprOp op, const Expr *a, const Expr *b)
{
    BUG(expr_table[op].arity != 2, "'%s' is no binary operator", expr_table[op].text);
    if (op == EX_RAMP || op == EX_LANE) {
        int64_t i;
        BUG(op == EX_RAMP || !expr_is_int(b, &i), "a ramp or lane made as a binary operator");
        return expr_lane(ir, a, (int)i);
    }
    if (op == EX_AND || op == EX_OR) {
        a = expr_cast(ir, DT_BOOL, a);
        b = expr_cast(ir, DT_BOOL, b);
        match_lanes(ir, &a, &b);
    } else if (op == EX_SHL || op == EX_SHR) {
        shift_operands(ir, &a, &b);
    } else {
        expr_promote(ir, &a, &b);
        if (a->type == DT_BOOL && !keeps_bool(op)) {
            a = expr_cast(ir, DT_I32, a);
            b = expr_cast(ir, DT_I32, b);
        }
        operands_check(op, a);
    }
    const Expr *folded = fold_binary(ir, op, a, b);
    if (folded)
        return folded;
    DType t = is_comparison(op) ? DT_BOOL : (DType)a->type;
    return expr_make(ir, op, t, a->lanes, 2, (const Expr *[]){a, b});
}

const Expr *expr_unary(Ir *ir, ExprOp op, const Expr *a)
{
    if (op == EX_BITNOT && a->type == DT_BOOL)
        op = EX_NOT; /* a bool is one bit */
    if (op == EX_NOT)
        a = expr_cast(ir, DT_BOOL, a);
    else if (a->type == DT_BOOL)
        a = expr_cast(ir, DT_I32, a);
    BUG(op != EX_NEG && op != EX_NOT && op != EX_BITNOT, "'%s' is no unary operator",
        expr_table[op].text);
    BUG(op == EX_BITNOT && dtype_is_float(a->type), "'~' on %s", dtype_name(a->type));
    const Expr *folded = fold_unary(ir, op, a);
    return folded ? folded : expr_make(ir, op, a->type, a->lanes, 1, &a);
}

const Expr *expr_cast(Ir *ir, DType t, const Expr *a)
{
    if (a->type == t)
        return a;
    if (a->op == EX_BROADCAST)
        return expr_broadcast(ir, expr_cast(ir, t, a->kid[0]), a->lanes);
    const Expr *folded = fold_cast(ir, t, a);
    return folded ? folded : expr_make(ir, EX_CAST, t, a->lanes, 1, &a);
}

const Expr *expr_bitcast(Ir *ir, DType t, int lanes, const Expr *a)
{
    if (a->type == t && a->lanes == lanes)
        return a;
    BUG(dtype_bits(t) * lanes != dtype_bits(a->type) * a->lanes, "a bitcast of %d bits to %d",
        dtype_bits(a->type) * a->lanes, dtype_bits(t) * lanes);
    const Expr *folded = lanes == 1 ? fold_bitcast(ir, t, a) : NULL;
    return folded ? folded : expr_make(ir, EX_BITCAST, t, lanes, 1, &a);
}

static const Expr *choose(Ir *ir, ExprOp op, const Expr *c, const Expr *a, const Expr *b)
{
    int64_t v;
    c = expr_cast(ir, DT_BOOL, c);
    expr_promote(ir, &a, &b);
    if (op == EX_SELECT) {
        if (c->lanes != 1 && a->lanes == 1) {
            a = expr_broadcast(ir, a, c->lanes);
            b = expr_broadcast(ir, b, c->lanes);
        }
        if (c->lanes == 1 && a->lanes != 1)
            c = expr_broadcast(ir, c, a->lanes);
    }
    BUG(op == EX_IF && c->lanes != 1, "a vector condition in an if expression");
    if (expr_is_splat(c, &v))
        return v ? a : b;
    if (a == b && op == EX_SELECT)
        return a;
    return expr_make(ir, op, a->type, a->lanes, 3, (const Expr *[]){c, a, b});
}

const Expr *expr_select(Ir *ir, const Expr *c, const Expr *a, const Expr *b)
{
    return choose(ir, EX_SELECT, c, a, b);
}

const Expr *expr_if(Ir *ir, const Expr *c, const Expr *a, const Expr *b)
{
    return choose(ir, EX_IF, c, a, b);
}

const Expr *expr_floordiv(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_FLOORDIV, a, b);
}

const Expr *expr_floormod(Ir *ir, const Expr *a, const Expr *b)
{
    return expr_binary(ir, EX_FLOORMOD, a, b);
}

const Expr *expr_ceildiv(Ir *ir, const Expr *a, const Expr *b)
{
    const Expr *one = expr_int(ir, 1);
    return expr_floordiv(ir, expr_add(ir, a, expr_sub(ir, b, one)), b);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Indices into kid[], bools as int32; the widest of them decides the lanes of the access. */
static int indices(Ir *ir, const Expr **kid, const Expr *const *at, int n)
{
    int lanes = 1;
    BUG(n > RANK_MOST, "an access with %d indices", n);
    for (int i = 0; i < n; i++) {
        kid[i] = at[i]->type == DT_BOOL ? expr_cast(ir, DT_I32, at[i]) : at[i];
        BUG(!dtype_is_int(kid[i]->type), "an index of type %s", dtype_name(kid[i]->type));
        lanes = MAX(lanes, kid[i]->lanes);
    }
    return lanes;
}

const Expr *expr_load(Ir *ir, Buffer *b, const Expr *const *at, int n)
{
    const Expr *kid[RANK_MOST];
    Expr want = {.op = EX_LOAD, .type = (uint8_t)b->type, .nkid = n, .u.buf = b};
    want.lanes = (uint16_t)indices(ir, kid, at, n);
    return intern(ir, &want, kid);
}

const Expr *expr_load_guarded(Ir *ir, Buffer *b, const Expr *const *at, int n, const Expr *guard,
                              const Expr *fill)
{
    const Expr *kid[RANK_MOST + 2];
    int64_t v;
    int lanes = indices(ir, kid, at, n);
    fill = expr_cast(ir, b->type, fill);
    if (fill->lanes == 1 && lanes > 1)
        fill = expr_broadcast(ir, fill, lanes);
    guard = expr_cast(ir, DT_BOOL, guard);
    if (expr_is_int(guard, &v))
        return v ? expr_load(ir, b, at, n) : fill;
    kid[n] = guard;
    kid[n + 1] = fill;
    Expr want = {.op = EX_LOAD, .type = (uint8_t)b->type, .lanes = (uint16_t)lanes,
                 .guarded = true, .nkid = n + 2, .u.buf = b};
    return intern(ir, &want, kid);
}

const Expr *expr_addr(Ir *ir, Buffer *b, const Expr *const *at, int n)
{
    const Expr *kid[RANK_MOST];
    BUG(indices(ir, kid, at, n) != 1, "the address of a vector of elements");
    return intern(ir, &(Expr){.op = EX_ADDR, .type = DT_HANDLE, .lanes = 1, .nkid = n, .u.buf = b},
                  kid);
}

/* ---- functions -------------------------------------------------------------------------- */

/* Functions that have a meaning on integers; the others make float32 of them. */
static bool math_takes_int(MathFn fn)
{
    switch (fn) {
    case MATH_ABS: case MATH_CLZ: case MATH_POPCOUNT: case MATH_FFS: case MATH_MIN_NAN:
    case MATH_MAX_NAN: case MATH_FLOOR: case MATH_CEIL: case MATH_TRUNC: case MATH_ROUND:
    case MATH_ROUND_AWAY: case MATH_NEARBYINT: case MATH_ISNAN: case MATH_ISINF:
    case MATH_ISFINITE: case MATH_FNS: case MATH_LDG: case MATH_POW: case MATH_FMOD:
        return true;
    default:
        return false;
    }
}

static DType math_type(MathFn fn, DType arg)
{
    if (fn == MATH_ISNAN || fn == MATH_ISINF || fn == MATH_ISFINITE)
        return DT_BOOL;
    return fn == MATH_CLZ || fn == MATH_FFS ? DT_I32 : fn == MATH_FNS ? DT_U32 : arg;
}

const Expr *expr_math(Ir *ir, MathFn fn, const Expr *const *arg, int n)
{
    const Expr *kid[4];
    BUG(n != math_table[fn].arity || n > COUNT(kid), "%s with %d arguments",
        math_table[fn].name, n);
    memcpy(kid, arg, sizeof *kid * (size_t)n);
    if (fn == MATH_LDEXP) {
        match_lanes(ir, &kid[0], &kid[1]);
    } else {
        for (int pass = 0; pass < 2; pass++) { /* the second brings the first to the last's type */
            for (int i = 0; i + 1 < n; i++)
                expr_promote(ir, &kid[i], &kid[i + 1]);
        }
    }
    for (int i = 0; i < n; i++) {
        if (kid[i]->type == DT_BOOL)
            kid[i] = expr_cast(ir, DT_I32, kid[i]);
        if (!dtype_is_float(kid[i]->type) && !math_takes_int(fn) && !(fn == MATH_LDEXP && i == 1))
            kid[i] = expr_cast(ir, DT_F32, kid[i]);
    }
    const Expr *folded = fold_math(ir, fn, kid);
    if (folded)
        return folded;
    Expr want = {.op = EX_MATH, .type = (uint8_t)math_type(fn, kid[0]->type),
                 .lanes = kid[0]->lanes, .nkid = n, .u.fn = fn};
    return intern(ir, &want, kid);
}

const Expr *expr_extern(Ir *ir, DType t, const char *name, const Expr *const *arg, int n)
{
    return intern(ir, &(Expr){.op = EX_EXTERN, .type = (uint8_t)t, .lanes = 1, .nkid = n,
                             .u.text = ir_name(ir, name)}, arg);
}

/* ---- vectors ---------------------------------------------------------------------------- */

const Expr *expr_ramp(Ir *ir, const Expr *base, const Expr *stride, int lanes)
{
    expr_promote(ir, &base, &stride);
    BUG(base->lanes != 1 || lanes < 1, "a ramp of vectors");
    if (lanes == 1)
        return base;
    return expr_make(ir, EX_RAMP, base->type, lanes, 2, (const Expr *[]){base, stride});
}

const Expr *expr_broadcast(Ir *ir, const Expr *a, int lanes)
{
    if (a->lanes == lanes)
        return a;
    BUG(a->lanes != 1 || lanes < 1, "a broadcast of %d lanes to %d", a->lanes, lanes);
    return expr_make(ir, EX_BROADCAST, a->type, lanes, 1, &a);
}

const Expr *expr_lane(Ir *ir, const Expr *v, int i)
{
    BUG(i < 0 || i >= v->lanes, "lane %d of %d", i, v->lanes);
    if (v->lanes == 1)
        return v;
    if (v->op == EX_BROADCAST)
        return v->kid[0];
    if (v->op == EX_VECTOR)
        return v->kid[i];
    if (v->op == EX_RAMP)
        return expr_add(ir, v->kid[0], expr_mul(ir, v->kid[1], expr_const(ir, v->type, i)));
    return expr_make(ir, EX_LANE, v->type, 1, 2, (const Expr *[]){v, expr_int(ir, i)});
}

const Expr *expr_vector(Ir *ir, const Expr *const *lane, int n)
{
    BUG(n < 1 || n > KIDS_MOST, "a vector of %d lanes", n);
    if (n == 1)
        return lane[0];
    const Expr **kid = NEWN(ir->arena, const Expr *, n);
    DType t = lane[0]->type;
    for (int i = 1; i < n; i++)
        t = lane[i]->type == t ? t : dtype_join(t, lane[i]->type);
    for (int i = 0; i < n; i++) {
        BUG(lane[i]->lanes != 1, "a vector of vectors");
        kid[i] = expr_cast(ir, t, lane[i]);
    }
    return expr_make(ir, EX_VECTOR, t, n, n, kid);
}

/* ---- rebuilding and questions ----------------------------------------------------------- */

const Expr *expr_with_kids(Ir *ir, const Expr *e, const Expr *const *kid)
{
    int n = expr_nindex(e);
    int64_t lane;
    bool same = true;
    for (int i = 0; i < e->nkid; i++)
        same = same && kid[i] == e->kid[i];
    if (same)
        return e;
    switch (e->op) {
    case EX_NEG: case EX_NOT: case EX_BITNOT:
        return expr_unary(ir, e->op, kid[0]);
    case EX_SELECT: case EX_IF:
        return choose(ir, e->op, kid[0], kid[1], kid[2]);
    case EX_CAST:
        return expr_cast(ir, e->type, kid[0]);
    case EX_BITCAST:
        return expr_bitcast(ir, e->type, e->lanes, kid[0]);
    case EX_LOAD:
        return e->guarded ? expr_load_guarded(ir, e->u.buf, kid, n, kid[n], kid[n + 1])
                          : expr_load(ir, e->u.buf, kid, n);
    case EX_MATH:
        return expr_math(ir, e->u.fn, kid, e->nkid);
    case EX_EXTERN:
        return expr_extern(ir, e->type, e->u.text, kid, e->nkid);
    case EX_ADDR:
        return expr_addr(ir, e->u.buf, kid, e->nkid);
    case EX_RAMP:
        return expr_ramp(ir, kid[0], kid[1], e->lanes);
    case EX_BROADCAST:
        return expr_broadcast(ir, kid[0], e->lanes);
    case EX_LANE:
        BUG(!expr_is_int(kid[1], &lane), "a lane number that is not constant");
        return expr_lane(ir, kid[0], (int)lane);
    case EX_VECTOR:
        return expr_vector(ir, kid, e->nkid);
    default:
        return expr_binary(ir, e->op, kid[0], kid[1]);
    }
}

bool expr_is_int(const Expr *e, int64_t *v)
{
    if (e->op != EX_INT)
        return false;
    if (v)
        *v = e->u.i;
    return true;
}

bool expr_is_splat(const Expr *e, int64_t *v)
{
    return expr_is_int(e->op == EX_BROADCAST ? e->kid[0] : e, v);
}

bool expr_is_float(const Expr *e, double *v)
{
    if (e->op != EX_FLOAT)
        return false;
    if (v)
        *v = e->u.f;
    return true;
}

bool expr_is_const(const Expr *e)
{
    return e->op == EX_INT || e->op == EX_FLOAT;
}

bool expr_is_zero(const Expr *e)
{
    return (e->op == EX_INT && e->u.i == 0) || (e->op == EX_FLOAT && e->u.f == 0);
}

bool expr_uses_var(const Expr *e, const Var *v)
{
    if (e->op == EX_VAR)
        return e->u.var == v;
    for (int i = 0; i < e->nkid; i++) {
        if (expr_uses_var(e->kid[i], v))
            return true;
    }
    return false;
}

bool expr_has_load(const Expr *e)
{
    if (e->op == EX_LOAD)
        return true;
    for (int i = 0; i < e->nkid; i++) {
        if (expr_has_load(e->kid[i]))
            return true;
    }
    return false;
}

int expr_nindex(const Expr *e)
{
    return e->nkid - (e->guarded ? 2 : 0);
}
