/* print_convert.c -- numbers of other types and elements in memory, for every dialect.
 *
 * The meaning is that of doc/numerics.md.  Narrow floats are computed in float and rounded after
 * every operation, which for + - * / gives the same bits as arithmetic in the narrow type (float
 * has more than twice its digits); where float itself would round first, it rounds to odd. */
#include "target/print.h"

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

/* ---- conversions ----------------------------------------------------------------------------- */

/* Names of the conversion functions in device/cpu/convert.h: tl_f16_to_f32, tl_f32_to_f16. */
const char *narrow_name(DType t)
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
    case DT_E2M1B:
        return "e2m1";
    default:
        return NULL;
    }
}

/* An operation whose result must be brought back to its narrow type. */
bool rounds(const Expr *x)
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

/* ---- casts ----------------------------------------------------------------------------------- */

/* "(T)" or "T("; what stands between them and cast_close is bound by cast_binds. */
static void cast_open(Emit *e, const char *type)
{
    const char *form = e->say->cast;
    str_printf(e->out, "%.*s%s", (int)(strstr(form, "$t") - form), form, type);
    form = strstr(form, "$t") + 2;
    str_putn(e->out, form, (size_t)(strstr(form, "$0") - form));
}

static void cast_close(Emit *e)
{
    str_puts(e->out, strstr(e->say->cast, "$0") + 2);
}

static bool cast_is_call(const Emit *e)
{
    return e->say->cast[strlen(e->say->cast) - 1] == ')';
}

/* Binds tighter than any operator of two. */
void emit_cast_to(Emit *e, const char *type, const Expr *x, bool index)
{
    cast_open(e, type);
    emit_at(e, x, index, cast_is_call(e) ? LOOSE : TIGHT);
    cast_close(e);
}

static void emit_offset(Emit *e, const Buffer *b, const Expr *at);
static void emit_number_bits(Emit *e, const Expr *x, const char *type);

/* Whether every value of x, an integer, is a number of the narrow type as it is. */
static bool fits_mantissa(const Emit *e, DType to, const Expr *x)
{
    int64_t most = to == DT_F16 ? 1 << 11 : to == DT_BF16 ? 1 << 8 : 0;
    return dtype_is_int((DType)x->type) && bounds_within(bounds_of(e->facts, x), -most, most);
}

/* Whether every number of a float type is one of `to` as it is. */
static bool float_fits(DType to, DType from)
{
    return (to == DT_F16 || to == DT_BF16 || to == DT_TF32) && dtype_is_float(from) &&
           dtype_table[from].ebits <= dtype_table[to].ebits &&
           dtype_table[from].mbits <= dtype_table[to].mbits;
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

/* Floats of this type are computed in float. */
static bool is_float(DType t)
{
    return dtype_is_float(t) && t != DT_F64;
}

/* x as the float that is rounded to the narrow type next. */
static void emit_wide(Emit *e, DType to, const Expr *x)
{
    DType from = (DType)x->type;

    if (float_rounds(e, to, x)) {
        str_printf(e->out, "tl_odd_%s(", from == DT_F64   ? "f64"
                                         : from == DT_I32 ? "i32"
                                         : from == DT_U32 ? "u32"
                                         : from == DT_I64 ? "i64"
                                                          : "u64");
        emit_at(e, x, false, LOOSE);
        str_putc(e->out, ')');
        return;
    }
    if (is_float(from))
        emit_value(e, x);
    else
        emit_cast_to(e, e->say->value_type(DT_F32), x, false);
}

static void emit_place(Emit *e, const Buffer *b, const Expr *at)
{
    str_printf(e->out, "%s[", buffer_name(e, b));
    emit_offset(e, b, at);
    str_putc(e->out, ']');
}

/* What is stored, not its value: a copy need not convert. */
static void emit_bits(Emit *e, const Expr *load)
{
    DType t = load->u.buf->type;

    if (load->guarded) {
        emit_at(e, load->kid[1], true, OF_AND);
        str_puts(e->out, " ? ");
    }
    if (dtype_bits(t) == 4) {
        str_printf(e->out, "tl_load_uint4(%s, ", buffer_name(e, load->u.buf));
        emit_offset(e, load->u.buf, load->kid[0]);
        str_putc(e->out, ')');
    } else {
        emit_place(e, load->u.buf, load->kid[0]);
    }
    if (!load->guarded)
        return;
    str_puts(e->out, " : ");
    cast_open(e, e->say->storage_type(t));
    str_printf(e->out, "%llu", (unsigned long long)num_encode(t, load->kid[2]->u.f));
    cast_close(e);
}

/* Whether a load gives what is stored, or a constant. */
static bool is_element(const Emit *e, DType t, const Expr *x)
{
    return x->op == EX_LOAD && x->type == t && x->u.buf->type == t && t != DT_TF32 &&
           x->u.buf->scope != MEM_VAR && (dtype_bits(t) >= 8 || !e->say->strict) &&
           (!x->guarded || x->kid[2]->op == EX_FLOAT);
}

/* Whether what is stored of x, a number of the narrow type, can be had without its value. */
static bool is_bits(const Emit *e, DType t, const Expr *x)
{
    if (is_element(e, t, x))
        return true;
    if (!e->say->half_ops || x->type != t || x->lanes != 1 || dtype_bits(t) < 8 || t == DT_TF32)
        return false;
    switch (x->op) {
    case EX_VAR:
        return e->halves && map_has(e->halves, x->u.var);
    case EX_FLOAT:
        return dtype_bits(t) == 16 || x->u.f == 0;
    case EX_BITCAST:
        return dtype_is_int((DType)x->kid[0]->type);
    case EX_IF:
    case EX_SELECT:
        return is_bits(e, t, x->kid[1]) && is_bits(e, t, x->kid[2]);
    default:
        return is_half_op(e, x);
    }
}

/* What is_bits found. */
static void emit_narrow_bits(Emit *e, DType t, const Expr *x)
{
    switch (x->op) {
    case EX_LOAD:
        str_puts(e->out, x->guarded ? "(" : "");
        emit_bits(e, x);
        str_puts(e->out, x->guarded ? ")" : "");
        break;
    case EX_VAR:
        str_puts(e->out, map_get(e->halves, x->u.var));
        break;
    case EX_FLOAT:
        cast_open(e, e->say->storage_type(t));
        str_printf(e->out, "%llu", (unsigned long long)num_encode(t, x->u.f));
        cast_close(e);
        break;
    case EX_BITCAST:
        emit_number_bits(e, x->kid[0], e->say->storage_type(t));
        break;
    case EX_IF:
    case EX_SELECT:
        str_putc(e->out, '(');
        emit_at(e, x->kid[0], true, OF_AND);
        str_puts(e->out, " ? ");
        emit_narrow_bits(e, t, x->kid[1]);
        str_puts(e->out, " : ");
        emit_narrow_bits(e, t, x->kid[2]);
        str_putc(e->out, ')');
        break;
    default:
        emit_half_op(e, x);
    }
}

/* Arithmetic on halves alone, as they lie in memory: an instruction does it as a whole. */
bool is_half_op(const Emit *e, const Expr *x)
{
    return e->say->half_ops && x->type == DT_F16 && x->lanes == 1 &&
           (x->op == EX_ADD || x->op == EX_SUB || x->op == EX_MUL) &&
           is_bits(e, DT_F16, x->kid[0]) && is_bits(e, DT_F16, x->kid[1]);
}

void emit_half_op(Emit *e, const Expr *x)
{
    const char *name = x->op == EX_ADD ? "add" : x->op == EX_SUB ? "sub" : "mul";

    e->converts = true;
    str_printf(e->out, "tl_%s_f16(", name);
    for (int i = 0; i < 2; i++) {
        str_puts(e->out, i ? ", " : "");
        emit_narrow_bits(e, DT_F16, x->kid[i]);
    }
    str_putc(e->out, ')');
}

/* Of a name for a narrow number: "const uint16_t v_bits = …; const float v = value of v_bits".
 * The compiler drops the one that nobody reads. */
bool emit_let_bits(Emit *e, const Stmt *let)
{
    const Var *v = let->u.let.var;
    const Expr *value = let->u.let.value;
    const char *n = narrow_name(v->type);

    if (!e->halves || !n || !is_bits(e, v->type, value))
        return false;
    const char *name = name_for(e->names, let, arena_printf(e->arena, "%s_bits", var_name(e, v)));
    emit_indent(e);
    emit_form(e, e->say->constant, e->say->storage_type(v->type), name);
    emit_narrow_bits(e, v->type, value);
    str_puts(e->out, ";\n");
    map_set(e->halves, v, (void *)name);
    emit_bind(e, v, NULL);
    str_printf(e->out, "tl_%s_to_f32(%s);\n", n, name);
    e->converts = true;
    return true;
}

/* Of a value that was not just computed: those may have infinities, which an 8-bit type keeps only
 * where nothing is done with them. */
static void emit_encode(Emit *e, DType t, bool computed)
{
    bool keeps = !computed && dtype_bits(t) == 8 && dtype_has_inf(t);

    e->converts = true;
    str_printf(e->out,
               t == DT_TF32 ? "tl_round_%s(" : keeps ? "tl_keep_%s(" : "tl_f32_to_%s(",
               narrow_name(t));
}

void emit_stored(Emit *e, DType t, const Expr *value)
{
    bool once = value->type == t; /* the store itself rounds */
    bool exact = t == DT_TF32 && value->op == EX_CAST && float_fits(t, (DType)value->kid[0]->type);
    const char *n = once && exact ? NULL : narrow_name(t);

    if (once && n && value->op != EX_FLOAT && is_bits(e, t, value)) {
        value->op == EX_LOAD ? emit_bits(e, value) : emit_narrow_bits(e, t, value);
        return;
    }
    if (n)
        emit_encode(e, t, !once || rounds(value) || value->op == EX_CAST);
    if (once && n && value->op == EX_CAST)
        emit_wide(e, t, value->kid[0]); /* rounded here, not twice */
    else
        once ? emit_bare(e, value, false, LOOSE) : emit_at(e, value, false, LOOSE);
    if (n)
        str_putc(e->out, ')');
}

void wrap_open(Emit *e, DType t)
{
    const char *type = e->say->value_type(t);

    if (e->say->strict) /* legalise keeps small numbers in their range */
        cast_open(e, type);
    else if (t == DT_I4)
        str_printf(e->out, "((%s)((uint8_t)((uint8_t)(", type);
    else if (t == DT_U4)
        str_printf(e->out, "((%s)((uint8_t)(", type);
    else
        cast_open(e, type);
}

void wrap_close(Emit *e, DType t)
{
    if ((t == DT_I4 || t == DT_U4) && !e->say->strict)
        str_puts(e->out, t == DT_I4 ? ") << 4)) >> 4)" : ") & 15))");
    else
        cast_close(e);
}

static void emit_cast_to_float(Emit *e, DType to, const Expr *x, int around)
{
    bool exact = fits_mantissa(e, to, x) || float_fits(to, (DType)x->type);
    const char *n = exact ? NULL : narrow_name(to);

    if (!n && is_float(to) && is_float((DType)x->type)) {
        emit_at(e, x, false, around); /* it is one already */
    } else if (!n) {
        emit_cast_to(e, e->say->value_type(to), x, false);
    } else {
        e->converts = true;
        str_printf(e->out, "tl_round_%s(", n);
        emit_wide(e, to, x);
        str_putc(e->out, ')');
    }
}

void emit_cast(Emit *e, DType to, const Expr *x, int around)
{
    DType from = (DType)x->type;
    Str *o = e->out;

    x = to == DT_BOOL ? x : emit_truth(e, x);
    if (dtype_is_float(to)) {
        emit_cast_to_float(e, to, x, around);
    } else if (to == DT_BOOL) {
        str_putc(o, '(');
        emit_at(e, x, false, OF_COMPARISON);
        str_puts(o, " != ");
        e->say->strict ? emit_value(e, expr_zero(e->ir, from)) : str_putc(o, '0');
        str_putc(o, ')');
    } else if (dtype_is_float(from)) {
        e->converts = true;
        str_printf(o, "tl_%s_to_%s(", from == DT_F64 ? "f64" : "f32", dtype_name(to));
        emit_value(e, x);
        str_putc(o, ')');
    } else {
        wrap_open(e, to);
        emit_at(e, x, false, to == DT_I4 || to == DT_U4 || cast_is_call(e) ? LOOSE : TIGHT);
        wrap_close(e, to);
    }
}

/* A number as the bits of it that an operand of a narrower name than uint64_t has. */
static void emit_number_bits(Emit *e, const Expr *x, const char *type)
{
    DType from = (DType)x->type;

    if (!dtype_is_float(from)) {
        emit_cast_to(e, type, x, false);
        return;
    }
    cast_open(e, type);
    if (narrow_name(from) && from != DT_TF32)
        emit_encode(e, from, rounds(x));
    else
        str_printf(e->out, "tl_%s_to_bits(", from == DT_F64 ? "f64" : "f32");
    emit_expr(e, x);
    str_putc(e->out, ')');
    cast_close(e);
}

void emit_bitcast(Emit *e, const Expr *x)
{
    DType to = (DType)x->type, from = (DType)x->kid[0]->type;
    const char *n = narrow_name(to);

    if (!dtype_is_float(to) && !dtype_is_float(from)) {
        emit_cast_to(e, e->say->value_type(to), x->kid[0], false);
        return;
    }
    e->converts = true;
    if (!dtype_is_float(to)) {
        emit_number_bits(e, x->kid[0], e->say->value_type(to));
        return;
    }
    if (n && to != DT_TF32) {
        str_printf(e->out, "tl_%s_to_f32(", n);
        emit_number_bits(e, x->kid[0], e->say->storage_type(to));
    } else {
        str_printf(e->out, "tl_bits_to_%s(", to == DT_F64 ? "f64" : "f32");
        emit_number_bits(e, x->kid[0], e->say->value_type(to == DT_F64 ? DT_U64 : DT_U32));
    }
    str_putc(e->out, ')');
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The offset; of a tile it may be tested when it runs, unless it provably lies inside. */
static void emit_offset(Emit *e, const Buffer *b, const Expr *at)
{
    const Layout *l = b->scope == MEM_GLOBAL || !e->k ? NULL : buffer_plan(e->k, b)->layout;
    int64_t n = l ? layout_size(l) : b->scope == MEM_GLOBAL ? -1 : buffer_static_size(b);
    Bounds r = bounds_of(e->facts, at);

    if (n < 0 || !e->say->index || (r.lo >= 0 && r.hi < n))
        emit_loose(e, at);
    else
        e->say->index(e, b, at, n);
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
        e->converts = true;
        str_printf(o, "tl_load_%s(%s, ", b->type == DT_E2M1 ? "e2m1" : dtype_name(b->type),
                   buffer_name(e, b));
        emit_offset(e, b, at);
        str_putc(o, ')');
        return;
    }
    if (n && b->type != DT_TF32) {
        e->converts = true;
        if (e->say->decoded && e->say->decoded(e, b, at))
            return;
        str_printf(o, "tl_%s_to_f32(", n);
    }
    bool own = e->say->element && e->say->element(e, b, at);
    if (own) {
        str_puts(o, n && b->type != DT_TF32 ? ")" : "");
        return;
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
void emit_constant(Emit *e, const Expr *x)
{
    bool may = x->op == EX_LOAD && !x->guarded && e->say->ldg && e->written &&
               !map_has(e->written, buffer_root(x->u.buf)) && dtype_bits(x->u.buf->type) >= 8 &&
               x->u.buf->type != DT_BOOL;
    e->constant = may;
    emit_expr(e, x);
    e->constant = false;
}

void emit_load(Emit *e, const Expr *x)
{
    if (!x->guarded) {
        emit_element(e, x->u.buf, x->kid[0]);
        return;
    }
    const Expr *of[] = {x->kid[1], expr_load(e->ir, x->u.buf, x->kid, 1), x->kid[2]};
    emit_choice(e, of, false);
}

void emit_store(Emit *e, const Buffer *b, const Expr *at, const Expr *value)
{
    Str *o = e->out;

    if (b->scope == MEM_VAR) {
        str_printf(o, "%s = ", buffer_name(e, b));
        value->type == b->type ? emit_value(e, value) : emit_cast(e, b->type, value, LOOSE);
        str_puts(o, ";\n");
        return;
    }
    if (dtype_bits(b->type) == 4) {
        e->converts = true;
        str_printf(o, "tl_store_nibble(%s, ", buffer_name(e, b));
        emit_offset(e, b, at);
        str_puts(o, ", ");
        emit_stored(e, b->type, value);
        str_puts(o, ");\n");
        return;
    }
    emit_place(e, b, at);
    str_puts(o, " = ");
    emit_stored(e, b->type, value);
    str_puts(o, ";\n");
}
