/* cstyle.c -- expressions as C, for every target whose text is C.
 *
 * The meaning is that of doc/numerics.md.  Narrow floats are computed in float and rounded after
 * every operation, which for + - * / gives the same bits as arithmetic in the narrow type (float
 * has more than twice its digits); where float itself would round first, it rounds to odd.  Integer
 * arithmetic on values wraps: it goes through the unsigned type.  Arithmetic on indices is plain,
 * so that the C compiler may see loops as it likes them. */
#include "target/cstyle.h"
#include "ir/config.h"

void emit_line(Emit *e, const char *fmt, ...)
{
    va_list ap;

    str_indent(e->out, e->indent * 4);
    va_start(ap, fmt);
    str_vprintf(e->out, fmt, ap);
    va_end(ap);
    str_putc(e->out, '\n');
}

static bool is_loaded(const Emit *e, const Expr *x);

/* What a name for something read from memory can be, where its width or a mask says so. */
static void know_loaded(Emit *e, const Var *v, Bounds b)
{
    if (bounds_within(b, -(1 << 16), 1 << 16))
        facts_range(e->facts, v, expr_const(e->ir, v->type, b.lo),
                    expr_const(e->ir, v->type, b.hi - b.lo + 1));
}

static bool see_range(const Stmt *s, void *arg)
{
    Emit *e = arg;
    if (s->kind == ST_LET && is_loaded(e, s->u.let.value))
        map_set(e->loaded, s->u.let.var, s->u.let.var);
    if (s->kind == ST_FOR)
        facts_range(e->facts, s->u.loop.var, s->u.loop.min, s->u.loop.extent);
    if (s->kind == ST_LET && dtype_is_int(s->u.let.var->type) && !expr_has_load(s->u.let.value))
        facts_assume(e->facts,
                     expr_binary(e->ir, EX_EQ, expr_var(e->ir, s->u.let.var), s->u.let.value));
    else if (s->kind == ST_LET && (s->u.let.var->type == DT_I32 || s->u.let.var->type == DT_I64))
        know_loaded(e, s->u.let.var, bounds_of(e->facts, s->u.let.value));
    else if (stmt_is_fact(s) && !expr_has_load(s->u.check.cond))
        facts_assume(e->facts, s->u.check.cond);
    return true;
}

void emit_know_ranges(Emit *e, const Kernel *k)
{
    const Expr *zero = expr_int(e->ir, 0);

    e->facts = facts_new(e->ir);
    e->loaded = NEW(e->arena, Map);
    map_init(e->loaded, e->arena);
    for (int i = 0; e->func && i < e->func->dims.n; i++)
        facts_assume(e->facts,
                     expr_binary(e->ir, EX_GE, expr_var(e->ir, e->func->dims.at[i]), zero));
    facts_kernel(e->facts, k);
    stmt_visit(k->body, see_range, e);
}

const char *c_storage_type(DType t)
{
    return dtype_table[t].ctype;
}

const char *c_value_type(DType t)
{
    if (dtype_is_float(t))
        return t == DT_F64 ? "double" : "float";
    if (t == DT_BOOL)
        return "int";
    if (t == DT_HANDLE)
        return "int64_t";
    return dtype_table[t].ctype;
}

const char *var_name(Emit *e, const Var *v)
{
    return name_for(e->names, v, v->name);
}

const char *buffer_name(Emit *e, const Buffer *b)
{
    return name_for(e->names, b, b->name);
}

/* ---- conversions ------------------------------------------------------------------------------
 */

/* Names of the conversion functions in device/cpu/convert.h: tl_f16_to_f32, tl_f32_to_f16. */
static const char *narrow_name(DType t)
{
    switch (t) {
    case DT_F16:
        return "f16";
    case DT_BF16:
        return "bf16";
    case DT_TF32:
        return "tf32";
    case DT_E3M4:
        return "e3m4";
    case DT_E4M3:
        return "e4m3fn";
    case DT_E4M3B11:
        return "e4m3b11fnuz";
    case DT_E4M3FNUZ:
        return "e4m3fnuz";
    case DT_E5M2:
        return "e5m2";
    case DT_E5M2FNUZ:
        return "e5m2fnuz";
    case DT_E8M0:
        return "e8m0";
    case DT_E2M3:
        return "e2m3";
    case DT_E3M2:
        return "e3m2";
    case DT_E2M1:
        return "e2m1";
    default:
        return NULL;
    }
}

/* An operation whose result must be brought back to its narrow type. */
static bool rounds(const Expr *x)
{
    switch (x->op) {
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_DIV:
    case EX_FLOORMOD:
    case EX_FLOORDIV:
    case EX_TRUNCMOD:
    case EX_TRUNCDIV:
    case EX_MATH:
    case EX_EXTERN:
        return narrow_name((DType)x->type) && !(x->op == EX_MATH && x->u.fn == MATH_LDG);
    default:
        return false;
    }
}

/* How tightly the text around binds: what binds less is put in parentheses. */
enum { LOOSE = 0, OF_AND = 3, OF_COMPARISON = 8, TIGHT = 11 };

static void emit_any(Emit *e, const Expr *x, bool index, int around);
static void put(Emit *e, const Expr *x, bool index, int around);

static void emit_offset(Emit *e, const Buffer *b, const Expr *at);

/* Whether every value of x, an integer, is a number of the narrow type as it is. */
static bool fits_mantissa(const Emit *e, DType to, const Expr *x)
{
    int64_t most = to == DT_F16 ? 1 << 11 : to == DT_BF16 ? 1 << 8 : 0;
    return dtype_is_int((DType)x->type) && bounds_within(bounds_of(e->facts, x), -most, most);
}

/* Whether making a float of x would round it, and rounding that again is not rounding once. */
static bool float_rounds(const Emit *e, DType to, const Expr *x)
{
    DType from = (DType)x->type;
    const int64_t exact = 1 << 24;
    if (from == DT_F64)
        return true;
    if (!dtype_is_int(from) || dtype_bits(from) < 32)
        return false;
    /* In the others such an integer is past the largest number, whichever way it was rounded. */
    return (to == DT_BF16 || to == DT_TF32 || to == DT_E8M0) &&
           !bounds_within(bounds_of(e->facts, x), -exact, exact);
}

/* x as the float that is rounded to the narrow type next. */
static void emit_wide(Emit *e, DType to, const Expr *x, int around)
{
    DType from = (DType)x->type;

    if (float_rounds(e, to, x)) {
        str_printf(e->out, "tl_odd_%s(", from == DT_F64   ? "f64"
                                         : from == DT_I32 ? "i32"
                                         : from == DT_U32 ? "u32"
                                         : from == DT_I64 ? "i64"
                                                          : "u64");
        put(e, x, false, LOOSE);
        str_putc(e->out, ')');
        return;
    }
    bool plain = from == DT_F32 && around == LOOSE;
    str_puts(e->out, plain ? "" : "(float)");
    put(e, x, false, plain ? LOOSE : TIGHT);
}

/* What is stored, not its value: a copy need not convert. */
static void emit_bits(Emit *e, const Expr *load)
{
    if (load->guarded) {
        put(e, load->kid[1], true, OF_AND);
        str_puts(e->out, " ? ");
    }
    str_printf(e->out, "%s[", buffer_name(e, load->u.buf));
    emit_offset(e, load->u.buf, load->kid[0]);
    str_putc(e->out, ']');
    if (load->guarded)
        str_printf(e->out, " : (%s)%llu", c_storage_type(load->u.buf->type),
                   (unsigned long long)num_encode(load->u.buf->type, load->kid[2]->u.f));
}

/* An infinity of the type itself: a conversion to 8 bits would saturate. */
static bool emit_infinity(Emit *e, DType t, const Expr *value)
{
    const DTypeInfo *info = &dtype_table[t];

    if (value->op != EX_FLOAT || value->type != t || dtype_bits(t) != 8 || !dtype_has_inf(t) ||
        value->u.f - value->u.f == 0 || value->u.f != value->u.f)
        return false;
    unsigned bits = ((1u << info->ebits) - 1) << info->mbits;
    str_printf(e->out, "(%s)0x%02xu", c_storage_type(t), value->u.f < 0 ? bits | 0x80 : bits);
    return true;
}

/* Of a value that was not just computed: those may have infinities, which an 8-bit type keeps only
 * where nothing is done with them. */
static void emit_encode(Emit *e, DType t, bool computed)
{
    bool keeps = !computed && dtype_bits(t) == 8 && dtype_has_inf(t);

    e->part[PART_CONVERT] = true;
    str_printf(e->out,
               t == DT_TF32 ? "tl_round_%s(" : keeps ? "tl_keep_%s(" : "tl_f32_to_%s(",
               narrow_name(t));
}

void emit_stored(Emit *e, DType t, const Expr *value)
{
    const char *n = narrow_name(t);
    bool once = value->type == t; /* the store itself rounds */

    if (emit_infinity(e, t, value))
        return;
    if (once && n && t != DT_TF32 && value->op == EX_LOAD && value->u.buf->scope != MEM_VAR &&
        dtype_bits(t) >= 8 && (!value->guarded || value->kid[2]->op == EX_FLOAT)) {
        emit_bits(e, value);
        return;
    }
    if (n)
        emit_encode(e, t, !once || rounds(value) || value->op == EX_CAST);
    if (once && n && value->op == EX_CAST)
        emit_wide(e, t, value->kid[0], LOOSE); /* rounded here, not twice */
    else
        once ? emit_any(e, value, false, LOOSE) : put(e, value, false, LOOSE);
    if (n)
        str_putc(e->out, ')');
}

/* Around an integer that C may have computed in a wider type. */
static void wrap_open(Emit *e, DType t)
{
    if (t == DT_I4)
        str_puts(e->out, "((int8_t)((uint8_t)((uint8_t)(");
    else if (t == DT_U4)
        str_puts(e->out, "((uint8_t)((uint8_t)(");
    else
        str_printf(e->out, "((%s)", c_value_type(t));
}

static void wrap_close(Emit *e, DType t)
{
    str_puts(e->out, t == DT_I4 ? ") << 4)) >> 4)" : t == DT_U4 ? ") & 15))" : ")");
}

static void emit_cast(Emit *e, DType to, const Expr *x)
{
    DType from = (DType)x->type;
    Str *o = e->out;

    if (dtype_is_float(to)) {
        const char *n = fits_mantissa(e, to, x) ? NULL : narrow_name(to);
        if (n) {
            e->part[PART_CONVERT] = true;
            str_printf(o, "tl_round_%s(", n);
            emit_wide(e, to, x, TIGHT);
        } else {
            str_printf(o, "((%s)", c_value_type(to));
            put(e, x, false, TIGHT);
        }
        str_putc(o, ')');
    } else if (to == DT_BOOL) {
        str_putc(o, '(');
        put(e, x, false, OF_COMPARISON);
        str_puts(o, " != 0)");
    } else if (dtype_is_float(from)) {
        e->part[PART_CONVERT] = true;
        str_printf(o, "tl_%s_to_%s(", from == DT_F64 ? "f64" : "f32", dtype_name(to));
        put(e, x, false, LOOSE);
        str_putc(o, ')');
    } else {
        wrap_open(e, to);
        put(e, x, false, to == DT_I4 || to == DT_U4 ? LOOSE : TIGHT);
        wrap_close(e, to);
    }
}

static void emit_bitcast(Emit *e, const Expr *x)
{
    DType to = (DType)x->type, from = (DType)x->kid[0]->type;
    Str *o = e->out;

    if (dtype_is_float(to) == dtype_is_float(from) && !dtype_is_float(to)) {
        str_printf(o, "((%s)", c_value_type(to));
        put(e, x->kid[0], false, TIGHT);
        str_putc(o, ')');
        return;
    }
    e->part[PART_CONVERT] = true;
    const char *n = narrow_name(to);
    if (dtype_is_float(to) && n && to != DT_TF32)
        str_printf(o, "tl_%s_to_f32((%s)", n, c_storage_type(to));
    else if (dtype_is_float(to))
        str_printf(o, "tl_bits_to_%s((%s)", to == DT_F64 ? "f64" : "f32",
                   to == DT_F64 ? "uint64_t" : "uint32_t");
    else
        str_printf(o, "((%s)", c_value_type(to));
    if (dtype_is_float(from)) {
        if (narrow_name(from) && from != DT_TF32)
            emit_encode(e, from, rounds(x->kid[0]));
        else
            str_printf(o, "tl_%s_to_bits(", from == DT_F64 ? "f64" : "f32");
        put(e, x->kid[0], false, TIGHT);
        str_putc(o, ')');
    } else {
        put(e, x->kid[0], false, TIGHT);
    }
    str_putc(o, ')');
}

/* ---- memory -------------------------------------------------------------------------------------
 */

/* The offset; in a tile it is tested when it runs unless it provably lies inside. */
static void emit_offset(Emit *e, const Buffer *b, const Expr *at)
{
    const Layout *l = b->scope == MEM_GLOBAL || !e->k ? NULL : buffer_plan(e->k, b)->layout;
    int64_t n = l ? layout_size(l) : b->scope == MEM_GLOBAL ? -1 : buffer_static_size(b);
    Bounds r = bounds_of(e->facts, at);

    if (n < 0 || !e->say->tests_indices || (r.lo >= 0 && r.hi < n)) {
        put(e, at, true, LOOSE);
        return;
    }
    e->checks = true;
    map_set(&e->checked, b, b);
    str_puts(e->out, "tl_check(");
    put(e, at, true, LOOSE);
    str_printf(e->out, ", %lldLL, &tl_bad, %d)", (long long)n, b->id + 1);
}

static void emit_element(Emit *e, const Buffer *b, const Expr *at)
{
    const char *n = narrow_name(b->type);
    Str *o = e->out;

    if (b->scope == MEM_VAR) {
        str_puts(o, buffer_name(e, b));
        return;
    }
    if (dtype_bits(b->type) == 4) {
        e->part[PART_CONVERT] = true;
        str_printf(o, "tl_load_%s(%s, ", b->type == DT_E2M1 ? "e2m1" : dtype_name(b->type),
                   buffer_name(e, b));
        emit_offset(e, b, at);
        str_putc(o, ')');
        return;
    }
    if (n && b->type != DT_TF32) {
        e->part[PART_CONVERT] = true;
        str_printf(o, "tl_%s_to_f32(", n);
    }
    bool constant = e->constant;
    e->constant = false; /* of the element, not of its index */
    str_printf(o, constant ? "%s(&(%s[" : "%s%s[", constant ? e->say->ldg : "", buffer_name(e, b));
    emit_offset(e, b, at);
    str_puts(o, constant ? "]))" : "]");
    if (n && b->type != DT_TF32)
        str_putc(o, ')');
}

/* Only what nothing of this kernel writes may come from that cache. */
static void emit_constant(Emit *e, const Expr *x)
{
    bool may = x->op == EX_LOAD && !x->guarded && e->say->ldg && e->written &&
               !map_has(e->written, buffer_root(x->u.buf)) && dtype_bits(x->u.buf->type) >= 8 &&
               x->u.buf->type != DT_BOOL;
    e->constant = may;
    emit_expr(e, x);
    e->constant = false;
}

static void emit_load(Emit *e, const Expr *x)
{
    if (!x->guarded) {
        emit_element(e, x->u.buf, x->kid[0]);
        return;
    }
    str_putc(e->out, '(');
    put(e, x->kid[1], true, OF_AND);
    str_puts(e->out, " ? ");
    emit_element(e, x->u.buf, x->kid[0]);
    str_puts(e->out, " : ");
    put(e, x->kid[2], false, OF_AND);
    str_putc(e->out, ')');
}

void emit_store(Emit *e, const Buffer *b, const Expr *at, const Expr *value)
{
    Str *o = e->out;

    if (b->scope == MEM_VAR) {
        str_printf(o, "%s = ", buffer_name(e, b));
        value->type == b->type ? put(e, value, false, LOOSE) : emit_cast(e, b->type, value);
        str_puts(o, ";\n");
        return;
    }
    if (dtype_bits(b->type) == 4) {
        e->part[PART_CONVERT] = true;
        str_printf(o, "tl_store_nibble(%s, ", buffer_name(e, b));
        emit_offset(e, b, at);
        str_puts(o, ", ");
        emit_stored(e, b->type, value);
        str_puts(o, ");\n");
        return;
    }
    str_printf(o, "%s[", buffer_name(e, b));
    emit_offset(e, b, at);
    str_puts(o, "] = ");
    emit_stored(e, b->type, value);
    str_puts(o, ";\n");
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

static void emit_binary(Emit *e, const Expr *x, const char *op, bool index, int around)
{
    int i = 0;

    while (strcmp(c_operator[i].op, op))
        i++;
    bool parens = c_operator[i].binds < around;
    if (parens)
        str_putc(e->out, '(');
    put(e, x->kid[0], index, c_operator[i].left);
    str_printf(e->out, " %s ", op);
    put(e, x->kid[1], index, c_operator[i].right);
    if (parens)
        str_putc(e->out, ')');
}

/* a op b on signed integers without undefined behaviour. */
static void emit_wrapping(Emit *e, const Expr *x, const char *op)
{
    DType t = (DType)x->type;
    const char *u = dtype_bits(t) == 64 ? "uint64_t" : "uint32_t";

    wrap_open(e, t);
    str_printf(e->out, "((%s)", u);
    put(e, x->kid[0], false, TIGHT);
    str_printf(e->out, " %s (%s)", op, u);
    put(e, x->kid[1], false, TIGHT);
    str_putc(e->out, ')');
    wrap_close(e, t);
}

static void emit_call2(Emit *e, const char *fn, const Expr *x, bool index)
{
    str_printf(e->out, "%s(", fn);
    for (int i = 0; i < x->nkid; i++) {
        if (i)
            str_puts(e->out, ", ");
        put(e, x->kid[i], index, LOOSE);
    }
    str_putc(e->out, ')');
}

/* A call whose result C gives in 32 or 64 bits. */
static void emit_narrowed(Emit *e, const char *fn, const Expr *x, bool index)
{
    DType t = (DType)x->type;
    bool narrow = dtype_bits(t) < 32;

    e->part[PART_CONVERT] = true;
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
        emit_any(e, expr_math(e->ir, fn, &q, 1), false, TIGHT);
        return;
    }
    e->part[PART_CONVERT] = true;
    if (x->op == EX_TRUNCMOD)
        emit_call2(e, (t == DT_F64 ? e->say->math_f64 : e->say->math_f32)[MATH_FMOD], x, false);
    else
        emit_call2(e, t == DT_F64 ? "tl_floormod_f64" : "tl_floormod_f32", x, false);
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
    emit_narrowed(e, divide_name[row][dtype_bits(t) == 64][dtype_is_unsigned(t)], x, index);
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
    put(e, y, index, LOOSE);
    str_putc(e->out, ')');
    return true;
}

static void emit_minmax(Emit *e, const Expr *x, bool index)
{
    DType t = (DType)x->type;
    bool is_min = x->op == EX_MIN;
    const char *fn;

    if (emit_above_zero(e, x, index))
        return;
    if (dtype_is_float(t))
        fn = t == DT_F64 ? (is_min ? "tl_min_f64" : "tl_max_f64")
                         : (is_min ? "tl_min_f32" : "tl_max_f32");
    else if (t == DT_U64)
        fn = is_min ? "tl_min_u64" : "tl_max_u64";
    else if (t == DT_I64)
        fn = is_min ? "tl_min_i64" : "tl_max_i64";
    else if (t == DT_U32)
        fn = is_min ? "tl_min_u32" : "tl_max_u32";
    else
        fn = is_min ? "tl_min_i32" : "tl_max_i32";
    emit_call2(e, fn, x, index);
}

/* Bits above the type are not its own: an int8 of -1 has eight ones. */
static void emit_bit_count(Emit *e, const Expr *x, const char *fn)
{
    int bits = dtype_bits((DType)x->kid[0]->type);

    str_printf(e->out, "(%s((uint%d_t)", fn, MAX(bits, 8));
    put(e, x->kid[0], false, TIGHT);
    str_printf(e->out, bits == 4 ? " & 15)" : ")");
    if (x->u.fn == MATH_CLZ && bits < 32)
        str_printf(e->out, " - %d", 32 - bits);
    str_putc(e->out, ')');
}

static void emit_int_math(Emit *e, const Expr *x)
{
    DType t = (DType)x->kid[0]->type;
    bool wide = dtype_bits(t) == 64;
    const char *fn = NULL;

    e->part[PART_CONVERT] = true;
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
        str_puts(e->out, "0");
        return;
    case MATH_ISFINITE:
        str_puts(e->out, "1");
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
    BUG(!fn, "no C name for %s", math_table[x->u.fn].name);
    if (strncmp(fn, "__builtin", 9)) {
        e->part[PART_MATH] = true;
        e->part[PART_CONVERT] = true;
    }
    emit_call2(e, fn, x, false);
}

/* By any count: one that is negative or not below the width leaves no bit of a left shift and
 * the sign of a right one. */
static void emit_shift(Emit *e, const Expr *x, int around)
{
    DType t = (DType)x->type;
    bool wide = dtype_bits(t) == 64, left = x->op == EX_SHL;

    if (bounds_within(bounds_of(e->facts, x->kid[1]), 0, wide ? 63 : 31)) {
        left ? emit_wrapping(e, x, "<<") : emit_binary(e, x, ">>", false, around);
        return;
    }
    const char *fn = left                  ? (wide ? "tl_shl_u64" : "tl_shl_u32")
                     : dtype_is_unsigned(t) ? (wide ? "tl_shr_u64" : "tl_shr_u32")
                                           : (wide ? "tl_shr_i64" : "tl_shr_i32");
    e->part[PART_CONVERT] = true;
    wrap_open(e, t);
    emit_call2(e, fn, x, false);
    wrap_close(e, t);
}

static void emit_ternary(Emit *e, const Expr *x, bool index)
{
    if (emit_above_zero(e, x, index))
        return;
    str_putc(e->out, '(');
    put(e, x->kid[0], true, OF_AND);
    str_puts(e->out, " ? ");
    put(e, x->kid[1], index, OF_AND);
    str_puts(e->out, " : ");
    put(e, x->kid[2], index, OF_AND);
    str_putc(e->out, ')');
}

/* ! - ~ */
static void emit_unary(Emit *e, const Expr *x)
{
    DType t = (DType)x->type;
    Str *o = e->out;

    if (x->op == EX_NOT || t == DT_BOOL) {
        str_puts(o, "(!");
        put(e, x->kid[0], x->op == EX_NOT, TIGHT);
        str_putc(o, ')');
    } else if (t == DT_I16 && x->op == EX_NEG && e->say->neg_i16) {
        emit_call2(e, e->say->neg_i16, x, false);
    } else if (dtype_is_int(t)) {
        wrap_open(e, t);
        str_puts(o, x->op == EX_BITNOT         ? "~"
                    : dtype_bits(t) == 64 ? "(0u - (uint64_t)"
                                               : "(0u - (uint32_t)");
        put(e, x->kid[0], false, TIGHT);
        str_puts(o, x->op == EX_BITNOT ? "" : ")");
        wrap_close(e, t);
    } else {
        str_puts(o, "(-(");
        put(e, x->kid[0], false, TIGHT);
        str_puts(o, "))");
    }
}

static void emit_index_cast(Emit *e, DType t, const Expr *x)
{
    str_printf(e->out, "((%s)", c_value_type(t));
    put(e, x, true, TIGHT);
    str_putc(e->out, ')');
}

static void emit_addr(Emit *e, const Expr *x)
{
    str_printf(e->out, "((int64_t)(intptr_t)&%s[", buffer_name(e, x->u.buf));
    put(e, x->kid[0], true, LOOSE);
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
            put(e, arg[i], false, LOOSE);
            continue;
        }
        str_printf(e->out, "(%s *)&%s[", c_storage_type(arg[i]->u.buf->type),
                   buffer_name(e, arg[i]->u.buf));
        put(e, arg[i]->kid[0], true, LOOSE);
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

static bool is_loaded(const Emit *e, const Expr *x)
{
    Seek f = {e, false};
    expr_visit(x, see_loaded, &f);
    return f.found;
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

/* One that C has; integer sums and products wrap unless they are known not to. */
static void emit_operator(Emit *e, const Expr *x, bool index, int around)
{
    DType t = (DType)x->type;
    bool narrow = dtype_bits(t) < 32; /* C would compute it in int */
    bool sum = x->op == EX_ADD || x->op == EX_SUB || x->op == EX_MUL;
    bool bits = x->op == EX_BITAND || x->op == EX_BITOR || x->op == EX_BITXOR;

    if (emit_opposite(e, x))
        return;
    if (sum && (!index || narrow || may_wrap(e, x)) && (dtype_is_int(t) || t == DT_BOOL))
        emit_wrapping(e, x, c_name[x->op]);
    else
        emit_binary(e, x, c_name[x->op], index && !(bits && narrow) && x->op != EX_DIV, around);
}

static void emit_any(Emit *e, const Expr *x, bool index, int around)
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
        emit_int_literal(e->out, t, x->u.i);
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
        emit_ternary(e, x, index);
        break;
    case EX_CAST:
        if (index && dtype_is_int(t) && dtype_is_int((DType)x->kid[0]->type))
            emit_index_cast(e, t, x->kid[0]);
        else
            emit_cast(e, t, x->kid[0]);
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
        emit_any(e, lane_of(e->ir, x->kid[0], (int)i), index, around);
        break;
    default:
        BUG(true, "no C for operator %d", x->op);
    }
}

static void put(Emit *e, const Expr *x, bool index, int around)
{
    if (!rounds(x)) {
        emit_any(e, x, index && (dtype_is_int((DType)x->type) || x->type == DT_BOOL), around);
        return;
    }
    e->part[PART_CONVERT] = true;
    str_printf(e->out, "tl_round_%s(", narrow_name((DType)x->type));
    emit_any(e, x, false, LOOSE);
    str_putc(e->out, ')');
}

void emit_expr(Emit *e, const Expr *x)
{
    put(e, x, false, TIGHT);
}

void emit_index(Emit *e, const Expr *x)
{
    put(e, x, true, TIGHT);
}

void emit_loose(Emit *e, const Expr *x)
{
    put(e, x, true, LOOSE);
}

void emit_value(Emit *e, const Expr *x)
{
    put(e, x, false, LOOSE);
}

void emit_line_directive(Emit *e, const Stmt *s)
{
    if (s->kind == ST_BLOCK || !s->span.src || !s->span.src->name ||
        !config_on(e->func, CONFIG_emit_line_directives))
        return;
    str_printf(e->out, "#line %d ", (int)s->span.line);
    emit_quoted(e->out, s->span.src->name);
    str_putc(e->out, '\n');
}
