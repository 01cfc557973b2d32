/* print_expr.c -- expressions, for every dialect.
 *
 * Integer arithmetic on values wraps: where the language leaves that open it goes through the
 * unsigned type.  Arithmetic on indices is plain, so that the compiler below may see loops as it
 * likes them. */
#include "target/print.h"

const char *var_name(Emit *e, const Var *v)
{
    return name_for(e->names, v, v->name);
}

/* Without pointers a view is its tensor. */
const char *buffer_name(Emit *e, const Buffer *b)
{
    if (e->say->lacks & LACK_POINTERS)
        b = buffer_root(b);
    return name_for(e->names, b, b->name);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Operators by how they bind; those of bits and shifts are never left to memory. */
static const struct {
    const char *op;
    int binds, left, right;
} c_operator[] = {
    {"*", 10, 10, 11}, {"/", 10, 10, 11}, {"%", 10, 10, 11}, {"+", 9, 9, 10},  {"-", 9, 9, 10},
    {"<<", 7, 11, 11}, {">>", 7, 11, 11}, {"<", 6, 8, 8},    {"<=", 6, 8, 8},  {">", 6, 8, 8},
    {">=", 6, 8, 8},   {"==", 5, 8, 8},   {"!=", 5, 8, 8},   {"&", 4, 11, 11}, {"^", 4, 11, 11},
    {"|", 4, 11, 11},  {"&&", 2, 2, 3},   {"||", 1, 3, 3},
};

static int operator_row(const char *op)
{
    int i = 0;
    while (strcmp(c_operator[i].op, op))
        i++;
    return i;
}

/* Behind an operator whose left side is an int64 already, nothing need be made one. */
static void emit_right(Emit *e, const Expr *x, const char *op, bool index, int around)
{
    const Expr *right = x->kid[1];
    bool follows = index && x->kid[0]->type == DT_I64 && op[0] != op[1] && !e->say->strict;

    if (follows && right->op == EX_CAST && right->kid[0]->type == DT_I32)
        right = right->kid[0];
    else if (follows && right->op == EX_INT && right->u.i > INT32_MIN && right->u.i <= INT32_MAX)
        right = expr_const(e->ir, DT_I32, right->u.i);
    emit_at(e, right, index, around);
}

static void emit_binary(Emit *e, const Expr *x, const char *op, bool index, int around)
{
    int i = operator_row(op);
    bool parens = c_operator[i].binds < around;
    if (parens)
        str_putc(e->out, '(');
    emit_at(e, x->kid[0], index, c_operator[i].left);
    str_printf(e->out, " %s ", op);
    emit_right(e, x, op, index, c_operator[i].right);
    if (parens)
        str_putc(e->out, ')');
}

/* Text of an unsigned type of C: what some other operators give is an int. */
static bool is_unsigned_text(const Expr *x)
{
    const uint64_t sure = 1ull << EX_INT | 1ull << EX_VAR | 1ull << EX_LOAD | 1ull << EX_CAST |
                          1ull << EX_ADD | 1ull << EX_SUB | 1ull << EX_MUL;

    return dtype_is_unsigned((DType)x->type) && dtype_bits((DType)x->type) >= 32 &&
           (sure >> x->op & 1);
}

static void emit_unsigned(Emit *e, DType t, const Expr *x, int around)
{
    if (x->op == EX_INT && x->u.i >= 0)
        (e->say->integer ? e->say->integer : emit_int_literal)(e->out, t, x->u.i);
    else if (is_unsigned_text(x))
        emit_at(e, x, false, around);
    else
        emit_cast_to(e, e->say->value_type(t), x, false);
}

/* a op b of integers without undefined behaviour: in the unsigned type of as many bits. */
static void emit_wrapping(Emit *e, const Expr *x, const char *op, int around)
{
    DType t = (DType)x->type, u = dtype_bits(t) == 64 ? DT_U64 : DT_U32;
    int i = operator_row(op);

    if (e->say->wraps) {
        emit_binary(e, x, op, false, around);
        return;
    }
    bool parens = t != u || c_operator[i].binds < around;
    if (t != u)
        wrap_open(e, t);
    str_puts(e->out, parens ? "(" : "");
    emit_unsigned(e, u, x->kid[0], c_operator[i].left);
    str_printf(e->out, " %s ", op);
    emit_unsigned(e, u, x->kid[1], c_operator[i].right);
    str_puts(e->out, parens ? ")" : "");
    if (t != u)
        wrap_close(e, t);
}

static void emit_call2(Emit *e, const char *fn, const Expr *x, bool index)
{
    str_printf(e->out, "%s(", fn);
    for (int i = 0; i < x->nkid; i++) {
        if (i)
            str_puts(e->out, ", ");
        emit_at(e, x->kid[i], index, LOOSE);
    }
    str_putc(e->out, ')');
}

/* A call whose result C gives in 32 or 64 bits. */
static void emit_narrowed(Emit *e, const char *fn, const Expr *x, bool index)
{
    DType t = (DType)x->type;
    bool narrow = dtype_bits(t) < 32;

    e->converts = true;
    if (narrow)
        wrap_open(e, t);
    emit_call2(e, fn, x, index);
    if (narrow)
        wrap_close(e, t);
}

/* Of floats, as two operations: a // b is floor(a / b). */
static void emit_float_divmod(Emit *e, const Expr *x)
{
    DType t = (DType)x->type;
    const Expr *q = expr_binary(e->ir, EX_DIV, x->kid[0], x->kid[1]);

    if (x->op == EX_FLOORDIV || x->op == EX_TRUNCDIV) {
        MathFn fn = x->op == EX_FLOORDIV ? MATH_FLOOR : MATH_TRUNC;
        emit_bare(e, expr_math(e->ir, fn, &q, 1), false, TIGHT);
        return;
    }
    e->converts = true;
    if (x->op == EX_TRUNCMOD)
        emit_call2(e, (t == DT_F64 ? e->say->math_f64 : e->say->math_f32)[MATH_FMOD], x, false);
    else
        emit_call2(e, t == DT_F64 ? "tl_floormod_f64" : "tl_floormod_f32", x, false);
}

static bool is_wide(const Emit *e, DType t)
{
    return dtype_bits(t) == 64 || e->say->wide_ints;
}

/* Indexed by operator, then by 64 bits and by sign. */
static const char *const divide_name[4][2][2] = {
    {{"tl_floordiv_i32", "tl_div_u32"}, {"tl_floordiv_i64", "tl_div_u64"}},
    {{"tl_floormod_i32", "tl_mod_u32"}, {"tl_floormod_i64", "tl_mod_u64"}},
    {{"tl_truncdiv_i32", "tl_div_u32"}, {"tl_truncdiv_i64", "tl_div_u64"}},
    {{"tl_truncmod_i32", "tl_mod_u32"}, {"tl_truncmod_i64", "tl_mod_u64"}},
};

/* C's own operator where it means the same: the divisor is not 0, nor is the least integer divided
 * by -1, and truncating is rounding down. */
static void emit_divmod(Emit *e, const Expr *x, bool index, int around)
{
    DType t = (DType)x->type;
    bool div = x->op == EX_FLOORDIV || x->op == EX_TRUNCDIV;
    bool down = x->op == EX_FLOORDIV || x->op == EX_FLOORMOD;

    if (dtype_is_float(t)) {
        emit_float_divmod(e, x);
        return;
    }
    Bounds a = bounds_of(e->facts, x->kid[0]), b = bounds_of(e->facts, x->kid[1]);
    bool large = t == DT_U64 && x->kid[1]->op == EX_INT && x->kid[1]->u.i != 0;
    if ((b.lo > 0 || large) && (a.lo >= 0 || !down || dtype_is_unsigned(t))) {
        emit_binary(e, x, div ? "/" : "%", index, around);
        return;
    }
    const int row = x->op == EX_FLOORDIV ? 0 : x->op == EX_FLOORMOD ? 1 : div ? 2 : 3;
    bool is_unsigned = dtype_is_unsigned(t) && !e->say->wide_ints;
    emit_narrowed(e, divide_name[row][is_wide(e, t)][is_unsigned], x, index);
}

/* What x is the maximum of, beside a zero: max(y, 0), y > 0 ? y : 0, y < 0 ? 0 : y and their kin.
 * NULL: it is not. */
static const Expr *above_zero(const Expr *x)
{
    DType t = (DType)x->type;
    int64_t zero;

    if (!dtype_is_int(t) || dtype_is_unsigned(t) || dtype_bits(t) > 32 || x->lanes > 1)
        return NULL;
    if (x->op == EX_MAX)
        return expr_is_int(x->kid[0], &zero) && zero == 0   ? x->kid[1]
               : expr_is_int(x->kid[1], &zero) && zero == 0 ? x->kid[0]
                                                            : NULL;
    if (x->op != EX_SELECT && x->op != EX_IF)
        return NULL;
    const Expr *test = x->kid[0];
    if (test->op != EX_LT && test->op != EX_LE)
        return NULL;
    for (int i = 0; i < 2; i++) { /* 0 < y ? y : 0, y < 0 ? 0 : y */
        const Expr *y = x->kid[1 + i];
        if (test->kid[1 - i] == y && expr_is_int(test->kid[i], &zero) && zero == 0 &&
            expr_is_int(x->kid[2 - i], &zero) && zero == 0)
            return y;
    }
    return NULL;
}

static bool emit_above_zero(Emit *e, const Expr *x, bool index)
{
    const Expr *y = e->say->above_zero ? above_zero(x) : NULL;

    if (!y)
        return false;
    str_printf(e->out, "%s(", e->say->above_zero);
    emit_at(e, y, index, LOOSE);
    str_putc(e->out, ')');
    return true;
}

static void emit_minmax(Emit *e, const Expr *x, bool index)
{
    DType t = (DType)x->type;
    const char *fn;

    if (emit_above_zero(e, x, index))
        return;
    if (dtype_is_float(t))
        fn = t == DT_F64 ? "f64" : "f32";
    else if (is_wide(e, t))
        fn = t == DT_U64 ? "u64" : "i64";
    else
        fn = t == DT_U32 ? "u32" : "i32";
    fn = arena_printf(e->arena, "tl_%s_%s", x->op == EX_MIN ? "min" : "max", fn);
    emit_call2(e, fn, x, index);
}

/* Bits above the type are not its own: an int8 of -1 has eight ones. */
static void emit_bit_count(Emit *e, const Expr *x, const char *fn)
{
    int bits = dtype_bits((DType)x->kid[0]->type);

    str_printf(e->out, "%s(%s(", e->say->strict ? e->say->value_type((DType)x->type) : "", fn);
    emit_cast_to(e, e->say->value_type(unsigned_of(MAX(bits, 8))), x->kid[0], false);
    str_puts(e->out, bits == 4 ? " & 15)" : ")");
    if (x->u.fn == MATH_CLZ && bits < 32)
        str_printf(e->out, " - %d", 32 - bits);
    str_putc(e->out, ')');
}

static void emit_int_math(Emit *e, const Expr *x)
{
    DType t = (DType)x->kid[0]->type;
    bool wide = dtype_bits(t) == 64;
    const char *fn = NULL;

    e->converts = true;
    switch (x->u.fn) {
    case MATH_ABS:
        emit_narrowed(e, dtype_is_unsigned(t) ? "" : wide ? "tl_abs_i64" : "tl_abs_i32", x, false);
        return;
    case MATH_CLZ:
        emit_bit_count(e, x, wide ? "tl_clz_u64" : "tl_clz_u32");
        return;
    case MATH_POPCOUNT:
        emit_bit_count(e, x, e->say->popcount[wide]);
        return;
    case MATH_FMA:
        emit_expr(e, expr_add(e->ir, expr_mul(e->ir, x->kid[0], x->kid[1]), x->kid[2]));
        return;
    case MATH_FFS:
        fn = e->say->ffs[wide];
        break;
    case MATH_FNS:
        fn = e->say->fns;
        break;
    case MATH_POW:
        emit_narrowed(e, dtype_is_unsigned(t) ? "tl_pow_u64" : wide ? "tl_pow_i64" : "tl_pow_i32",
                      x, false);
        return;
    case MATH_FMOD:
        emit_expr(e, expr_binary(e->ir, EX_TRUNCMOD, x->kid[0], x->kid[1]));
        return;
    case MATH_MIN_NAN:
        emit_expr(e, expr_min(e->ir, x->kid[0], x->kid[1]));
        return;
    case MATH_MAX_NAN:
        emit_expr(e, expr_max(e->ir, x->kid[0], x->kid[1]));
        return;
    case MATH_ISNAN:
    case MATH_ISINF:
    case MATH_ISFINITE:
        str_puts(e->out, e->say->truth[x->u.fn == MATH_ISFINITE]);
        return;
    case MATH_FLOOR:
    case MATH_CEIL:
    case MATH_TRUNC:
    case MATH_ROUND:
    case MATH_ROUND_AWAY:
    case MATH_NEARBYINT:
        fn = "";
        break;
    default:
        BUG(true, "no integer %s", math_table[x->u.fn].name);
    }
    emit_call2(e, fn, x, false);
}

static void emit_math(Emit *e, const Expr *x)
{
    DType t = (DType)x->kid[0]->type;

    if (x->u.fn == MATH_LDG) {
        emit_constant(e, x->kid[0]);
        return;
    }
    if (!dtype_is_float(t)) {
        emit_int_math(e, x);
        return;
    }
    const char *fn = (t == DT_F64 ? e->say->math_f64 : e->say->math_f32)[x->u.fn];
    if (x->u.fn == MATH_FMA && narrow_name(t))
        fn = "tl_fma_odd";
    if (!fn)
        diag_fail(e->ir->diag, e->k ? e->k->span : NO_SPAN, "T.%s of %s is not in %s, the language "
                  "of target %s [unsupported-here]", math_table[x->u.fn].name, dtype_name(t),
                  e->say->name, e->spec->target->name);
    if (strncmp(fn, "__builtin", 9)) {
        e->maths = true;
        e->converts = true;
    }
    emit_call2(e, fn, x, false);
}

/* Whether the operator of C may shift by this count. */
static bool is_plain_count(const Emit *e, const Expr *count, bool wide)
{
    return bounds_within(bounds_of(e->facts, count), 0, wide ? 63 : 31);
}

/* By any count: one that is negative or not below the width leaves no bit of a left shift and
 * the sign of a right one. */
/* The bits of a small unsigned number as a signed one, to the right: in a word two shifts do both,
 * where a cast between would first be a number of its own.  False: it is not that. */
static bool emit_signed_part(Emit *e, const Expr *x, int around)
{
    const Expr *part = x->kid[0], *from = part->op == EX_BITCAST ? part->kid[0] : NULL;
    int bits = dtype_bits((DType)x->type);
    int64_t by;

    if (!e->say->half_ops || x->op != EX_SHR || !from || (x->type != DT_I8 && x->type != DT_I16) ||
        !dtype_is_unsigned((DType)from->type) || dtype_bits((DType)from->type) != bits ||
        from->lanes != 1 || !expr_is_int(x->kid[1], &by) || by < 0 || by >= bits)
        return false;
    str_puts(e->out, around > LOOSE ? "((int32_t)((uint32_t)" : "(int32_t)((uint32_t)");
    emit_expr(e, from);
    str_printf(e->out, " << %d) >> %d", 32 - bits, 32 - bits + (int)by);
    str_puts(e->out, around > LOOSE ? ")" : "");
    return true;
}

static void emit_shift(Emit *e, const Expr *x, int around)
{
    DType t = (DType)x->type;
    bool wide = is_wide(e, t), left = x->op == EX_SHL;

    if (emit_signed_part(e, x, around))
        return;
    if (is_plain_count(e, x->kid[1], wide)) {
        const Expr *kid[] = {x->kid[0], x->kid[1]};
        if (e->say->strict) {
            kid[1] = expr_cast(e->ir, DT_U32, kid[1]);
            x = expr_make(e->ir, (ExprOp)x->op, t, 1, 2, kid);
        }
        left ? emit_wrapping(e, x, "<<", around) : emit_binary(e, x, ">>", false, around);
        return;
    }
    const char *fn = arena_printf(e->arena, "tl_sh%c_%c%d", left ? 'l' : 'r',
                                  dtype_is_unsigned(t) || (left && !e->say->strict) ? 'u' : 'i',
                                  wide ? 64 : 32);
    e->converts = true;
    wrap_open(e, t);
    emit_call2(e, fn, x, false);
    wrap_close(e, t);
}

void emit_choice(Emit *e, const Expr *const *of, bool index)
{
    for (const char *p = e->say->select; *p; p++)
        if (*p != '$')
            str_putc(e->out, *p);
        else if (*++p == '0')
            emit_at(e, of[0], true, OF_AND);
        else
            emit_at(e, of[*p - '0'], index, OF_AND);
}

static void emit_select(Emit *e, const Expr *x, bool index)
{
    if (!emit_above_zero(e, x, index))
        emit_choice(e, x->kid, index);
}

/* ! - ~ */
static void emit_unary(Emit *e, const Expr *x)
{
    DType t = (DType)x->type;
    Str *o = e->out;

    if (x->op == EX_NOT || t == DT_BOOL) {
        str_puts(o, "(!");
        emit_at(e, x->kid[0], x->op == EX_NOT, TIGHT);
        str_putc(o, ')');
    } else if (t == DT_I16 && x->op == EX_NEG && e->say->neg_i16) {
        emit_call2(e, e->say->neg_i16, x, false);
    } else if (dtype_is_int(t) && e->say->wraps) {
        str_puts(o, x->op == EX_BITNOT ? "(~" : "(-");
        emit_expr(e, x->kid[0]);
        str_putc(o, ')');
    } else if (dtype_is_int(t) && x->op == EX_BITNOT) {
        wrap_open(e, t);
        str_putc(o, '~');
        emit_expr(e, x->kid[0]);
        wrap_close(e, t);
    } else if (dtype_is_int(t)) {
        wrap_open(e, t);
        str_puts(o, "(0u - ");
        emit_cast_to(e, e->say->value_type(dtype_bits(t) == 64 ? DT_U64 : DT_U32), x->kid[0],
                       false);
        str_putc(o, ')');
        wrap_close(e, t);
    } else {
        str_puts(o, "(-(");
        emit_at(e, x->kid[0], false, TIGHT);
        str_puts(o, "))");
    }
}

/* Where all integers are computed in one width, by way of the one it is. */
static void emit_index_cast(Emit *e, DType t, const Expr *x)
{
    const char *type = e->say->value_type(t);

    if (e->say->wide_ints && dtype_bits(t) < 64)
        type = arena_printf(e->arena, "%s)(%s", type, e->say->storage_type(t));
    emit_cast_to(e, type, x, true);
}

static void emit_addr(Emit *e, const Expr *x)
{
    str_printf(e->out, "((int64_t)(intptr_t)&%s[", buffer_name(e, x->u.buf));
    emit_at(e, x->kid[0], true, LOOSE);
    str_puts(e->out, "])");
}

/* A function that is not ours gets addresses as pointers to what they point at. */
void emit_extern_args(Emit *e, const char *fn, const Expr *const *arg, int n)
{
    str_printf(e->out, "%s(", fn);
    for (int i = 0; i < n; i++) {
        if (i)
            str_puts(e->out, ", ");
        if (arg[i]->op != EX_ADDR) {
            emit_at(e, arg[i], false, LOOSE);
            continue;
        }
        str_printf(e->out, "(%s *)&%s[", e->say->storage_type(arg[i]->u.buf->type),
                   buffer_name(e, arg[i]->u.buf));
        emit_at(e, arg[i]->kid[0], true, LOOSE);
        str_putc(e->out, ']');
    }
    str_putc(e->out, ')');
}

/* Operators that C has, by its name for them; NULL: it has none, or not quite. */
static const char *const c_name[EX_COUNT] = {
    [EX_ADD] = "+",      [EX_SUB] = "-",   [EX_MUL] = "*",    [EX_DIV] = "/",
    [EX_EQ] = "==",      [EX_NE] = "!=",   [EX_LT] = "<",     [EX_LE] = "<=",
    [EX_GT] = ">",       [EX_GE] = ">=",   [EX_AND] = "&&",   [EX_OR] = "||",
    [EX_BITAND] = "&",   [EX_BITOR] = "|", [EX_BITXOR] = "^",
};

typedef struct {
    const Emit *e;
    bool found;
} Seek;

static bool see_loaded(const Expr *x, void *arg)
{
    Seek *f = arg;
    if (x->op == EX_VAR)
        f->found |= f->e->loaded && map_has(f->e->loaded, x->u.var);
    f->found |= x->op == EX_LOAD;
    return !f->found;
}

bool is_loaded(const Emit *e, const Expr *x)
{
    Seek f = {e, false};
    expr_visit(x, see_loaded, &f);
    return f.found;
}

/* A bool of memory is a byte, and whoever wrote a tensor may have put any number there: as an
 * operand it is whether that is not 0. */
const Expr *emit_truth(const Emit *e, const Expr *x)
{
    bool byte = x->op == EX_LOAD || x->op == EX_IF || x->op == EX_SELECT || x->op == EX_LANE ||
                x->op == EX_MIN || x->op == EX_MAX || x->op == EX_BITOR;

    if (x->type != DT_BOOL || x->lanes != 1 || !byte || e->say->strict || !is_loaded(e, x))
        return x;
    return expr_binary(e->ir, EX_NE, expr_bitcast(e->ir, DT_U8, 1, x),
                       expr_const(e->ir, DT_U8, 0));
}

/* By the ranges of its operands, whatever is assumed of indices. */
static bool stays_within(const Emit *e, const Expr *x)
{
    const int64_t most = (int64_t)1 << 31; /* sums and products of two such fit int64 */
    Bounds a = bounds_of(e->facts, x->kid[0]), b = bounds_of(e->facts, x->kid[1]);

    if (dtype_bits((DType)x->type) == 64) {
        int64_t half = (int64_t)1 << 62, p = MAX(MAX(a.hi, b.hi), -MAX(MIN(a.lo, b.lo), -half));
        int64_t q = MIN(MAX(a.hi, -MAX(a.lo, -half)), MAX(b.hi, -MAX(b.lo, -half)));
        return p < half && MIN(a.lo, b.lo) > -half && (x->op != EX_MUL || q == 0 || p <= half / q);
    }
    if (!bounds_within(a, -most, most) || !bounds_within(b, -most, most))
        return false;
    int64_t lo = a.lo + b.lo, hi = a.hi + b.hi;
    if (x->op == EX_SUB) {
        lo = a.lo - b.hi;
        hi = a.hi - b.lo;
    } else if (x->op == EX_MUL) {
        lo = MIN(MIN(a.lo * b.lo, a.lo * b.hi), MIN(a.hi * b.lo, a.hi * b.hi));
        hi = MAX(MAX(a.lo * b.lo, a.lo * b.hi), MAX(a.hi * b.lo, a.hi * b.hi));
    }
    return lo >= INT32_MIN && hi <= INT32_MAX;
}

/* Indices and bounds do not wrap by themselves, but data may hold any number. */
static bool may_wrap(const Emit *e, const Expr *x)
{
    return dtype_is_int((DType)x->type) && is_loaded(e, x) && !stays_within(e, x);
}

/* 0 - x and x * -1 of 16 bits, where -x needs a form of its own. */
static bool emit_opposite(Emit *e, const Expr *x)
{
    int64_t c;
    const Expr *of = x->op == EX_SUB && expr_is_int(x->kid[0], &c) && c == 0    ? x->kid[1]
                     : x->op == EX_MUL && expr_is_int(x->kid[0], &c) && c == -1 ? x->kid[1]
                     : x->op == EX_MUL && expr_is_int(x->kid[1], &c) && c == -1 ? x->kid[0]
                                                                                : NULL;
    if (!of || x->type != DT_I16 || !e->say->neg_i16)
        return false;
    emit_unary(e, expr_unary(e->ir, EX_NEG, of));
    return true;
}

/* (x & a) | b of 32 bits with constants a and b, where that has a form of its own. */
static bool emit_and_or(Emit *e, const Expr *x, bool index)
{
    DType t = (DType)x->type;
    int64_t a, b;

    if (!e->say->and_or || x->op != EX_BITOR || !dtype_is_int(t) || dtype_bits(t) != 32 ||
        x->kid[0]->op != EX_BITAND || !expr_is_int(x->kid[0]->kid[1], &a) ||
        !expr_is_int(x->kid[1], &b))
        return false;
    str_printf(e->out, t == DT_U32 ? "%s(" : "(int32_t)%s(", e->say->and_or);
    emit_at(e, expr_bitcast(e->ir, DT_U32, 1, x->kid[0]->kid[0]), index, LOOSE);
    str_printf(e->out, ", 0x%08xu, 0x%08xu)", (uint32_t)a, (uint32_t)b);
    return true;
}

/* One that C has; integer sums and products wrap unless they are known not to. */
static void emit_operator(Emit *e, const Expr *x, bool index, int around)
{
    DType t = (DType)x->type;
    bool narrow = dtype_bits(t) < 32; /* C would compute it in int */
    bool sum = x->op == EX_ADD || x->op == EX_SUB || x->op == EX_MUL;
    bool bits = x->op == EX_BITAND || x->op == EX_BITOR || x->op == EX_BITXOR;

    const char *op = e->say->eager && x->op == EX_AND  ? "&"
                     : e->say->eager && x->op == EX_OR ? "|"
                                                       : c_name[x->op];

    if (emit_opposite(e, x) || emit_and_or(e, x, index))
        return;
    if ((op[0] != '&' || op[1] != '&') && op[0] != '|' && x->kid[0]->type == DT_BOOL)
        x = expr_binary(e->ir, (ExprOp)x->op, emit_truth(e, x->kid[0]), emit_truth(e, x->kid[1]));
    if (sum && (!index || narrow || may_wrap(e, x)) && (dtype_is_int(t) || t == DT_BOOL))
        emit_wrapping(e, x, op, around);
    else
        emit_binary(e, x, op, index && !(bits && narrow) && x->op != EX_DIV, around);
}

void emit_bare(Emit *e, const Expr *x, bool index, int around)
{
    DType t = (DType)x->type;
    int64_t i = 0;

    if (x->lanes > 1)
        BUG(true, "a vector of %d lanes where C wants a scalar", x->lanes);
    if (c_name[x->op]) {
        emit_operator(e, x, index, around);
        return;
    }
    switch ((ExprOp)x->op) {
    case EX_INT:
        if (t == DT_BOOL)
            str_puts(e->out, e->say->truth[x->u.i != 0]);
        else
            (e->say->integer ? e->say->integer : emit_int_literal)(e->out, t, x->u.i);
        break;
    case EX_FLOAT:
        emit_float_literal(e, t, x->u.f);
        break;
    case EX_STR:
        emit_quoted(e->out, x->u.text);
        break;
    case EX_VAR:
        str_puts(e->out, var_name(e, x->u.var));
        break;
    case EX_FLOORDIV:
    case EX_FLOORMOD:
    case EX_TRUNCDIV:
    case EX_TRUNCMOD:
        emit_divmod(e, x, index, around);
        break;
    case EX_MIN:
    case EX_MAX:
        emit_minmax(e, x, index);
        break;
    case EX_NEG:
    case EX_NOT:
    case EX_BITNOT:
        emit_unary(e, x);
        break;
    case EX_SHL:
    case EX_SHR:
        emit_shift(e, x, around);
        break;
    case EX_SELECT:
    case EX_IF:
        emit_select(e, x, index);
        break;
    case EX_CAST:
        if (index && dtype_is_int(t) && dtype_is_int((DType)x->kid[0]->type))
            emit_index_cast(e, t, x->kid[0]);
        else
            emit_cast(e, t, x->kid[0], around);
        break;
    case EX_BITCAST:
        emit_bitcast(e, x);
        break;
    case EX_LOAD:
        emit_load(e, x);
        break;
    case EX_MATH:
        emit_math(e, x);
        break;
    case EX_EXTERN:
        emit_extern_args(e, x->u.text, x->kid, x->nkid);
        break;
    case EX_ADDR:
        emit_addr(e, x);
        break;
    case EX_LANE:
        expr_is_int(x->kid[1], &i);
        emit_bare(e, lane_of(e->ir, x->kid[0], (int)i), index, around);
        break;
    default:
        BUG(true, "no C for operator %d", x->op);
    }
}

void emit_at(Emit *e, const Expr *x, bool index, int around)
{
    if (!rounds(x)) {
        emit_bare(e, x, index && (dtype_is_int((DType)x->type) || x->type == DT_BOOL), around);
        return;
    }
    e->converts = true;
    bool half = is_half_op(e, x);
    str_printf(e->out, half ? "tl_%s_to_f32(" : "tl_round_%s(", narrow_name((DType)x->type));
    half ? emit_half_op(e, x) : emit_bare(e, x, false, LOOSE);
    str_putc(e->out, ')');
}
