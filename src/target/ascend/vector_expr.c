/* vector_expr.c -- expressions of a vectorised loop, one instruction for each operator.
 *
 * Floats are computed in float32 and rounded to their type after every operation, as everywhere;
 * elements of global memory come through temporaries of UB. */
#include "target/ascend/vector.h"

enum { VIEWS = 8 };

/* What temporaries are used as: float, int32, half, bfloat16, mask, 16 bits of it, bytes. */
static const struct {
    char letter;
    const char *type;
    DType dtype;
} view_table[VIEWS] = {
    {'f', "float", DT_F32},       {'i', "int32_t", DT_I32},  {'h', "half", DT_F16},
    {'b', "bfloat16_t", DT_BF16}, {'m', "uint8_t", DT_BOOL}, {'w', "uint16_t", DT_U16},
    {'c', "int8_t", DT_I8},       {'u', "uint8_t", DT_U8},
};

/* ---- temporaries ----------------------------------------------------------------------------- */

const char *temp_name(Ascend *a, int place, char view)
{
    for (int i = 0; i < VIEWS; i++)
        if (view_table[i].letter == view)
            a->places.at[place].views |= 1u << i;
    return arena_printf(a->e.arena, "%s%c", a->places.at[place].name, view);
}

int temp_take(Ascend *a, int64_t bytes)
{
    int best = -1;

    for (int i = 0; i < a->free_temps.n; i++) {
        int64_t has = a->places.at[a->free_temps.at[i]].bytes;
        if (best < 0 || (has >= bytes) > (a->places.at[a->free_temps.at[best]].bytes >= bytes))
            best = i;
    }
    if (best >= 0) {
        int place = a->free_temps.at[best];
        for (int i = best; i + 1 < a->free_temps.n; i++)
            a->free_temps.at[i] = a->free_temps.at[i + 1];
        a->free_temps.n--;
        a->places.at[place].bytes = MAX(a->places.at[place].bytes, bytes);
        return place;
    }
    Place p = {.name = arena_printf(a->e.arena, "tl_t%d", a->places.n),
               .space = IN_UB,
               .bytes = bytes,
               .used = true};
    return place_add(a, &p);
}

void temp_give(Ascend *a, int place)
{
    vec_push(a->e.arena, &a->free_temps, place);
}

Operand vector_temp(Vec *v, char type)
{
    int place = temp_take(v->a, v->grow * 4);
    return (Operand){true, temp_name(v->a, place, type), type, place, true};
}

void vector_give(Vec *v, const Operand *o)
{
    if (o->vector && o->temp)
        temp_give(v->a, o->place);
}

static Operand refuse(Vec *v)
{
    v->bad = true;
    return (Operand){.text = "", .type = 'f', .place = -1};
}

/* ---- instructions ---------------------------------------------------------------------------- */

const char *ascend_text(Ascend *a, const Expr *x, bool index)
{
    Str s, *out = a->e.out;

    a->slot |= expr_any(x, ascend_needs_slot, a);
    str_init(&s, a->e.arena);
    a->e.out = &s;
    index ? emit_loose(&a->e, x) : emit_value(&a->e, x);
    a->e.out = out;
    return s.s ? s.s : "";
}

Node *vector_op(Vec *v, Pipe p, const char *fmt, ...)
{
    Str s;
    va_list ap;

    str_init(&s, v->a->e.arena);
    str_indent(&s, v->a->e.indent * 4);
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    str_puts(&s, ";\n");
    return node_add(v->a, NODE_OP, VECTOR, p, s.s);
}

/* d = fn(a[, b]) with `last` behind the operands. */
static Operand apply(Vec *v, const char *fn, char type, const Operand *x, const Operand *y,
                     const char *last)
{
    Operand d = vector_temp(v, type);
    Arena *m = v->a->e.arena;
    const char *second = y ? arena_printf(m, ", %s", y->text) : "";

    if (v->bad)
        return d;
    Node *n = vector_op(v, P_V, "%s(%s, %s%s%s, %s)", fn, d.text, x->text, second, last, v->count);
    node_touch(v->a, n, x->place, false);
    if (y && y->vector)
        node_touch(v->a, n, y->place, false);
    node_touch(v->a, n, d.place, true);
    vector_give(v, x);
    if (y)
        vector_give(v, y);
    return d;
}

static Operand number(const char *text, char type)
{
    return (Operand){false, text, type, -1, false};
}

static const char *as_type(Vec *v, const Operand *o)
{
    return arena_printf(v->a->e.arena, o->type == 'i' ? "(int32_t)(%s)" : "(float)(%s)", o->text);
}

/* A number in every element; of whole masks, so that it can be compared. */
static Operand spread(Vec *v, const Operand *s)
{
    Operand d = vector_temp(v, s->type);
    Node *n =
        vector_op(v, P_V, "Duplicate(%s, %s, %lld)", d.text, as_type(v, s), (long long)v->grow);

    node_touch(v->a, n, d.place, true);
    return d;
}

static Operand cast_to(Vec *v, const Operand *x, char type, const char *mode)
{
    Arena *m = v->a->e.arena;
    return apply(v, "Cast", type, x, NULL, arena_printf(m, ", RoundMode::CAST_%s", mode));
}

/* A float32 that its narrow type has. */
static Operand round_to(Vec *v, Operand x, DType t)
{
    if (!x.vector || x.type != 'f' || (t != DT_F16 && t != DT_BF16))
        return x;
    Operand narrow = cast_to(v, &x, t == DT_F16 ? 'h' : 'b', "RINT");
    return cast_to(v, &narrow, 'f', "NONE");
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct {
    const Vec *v;
    bool found;
} Look;

static bool see_moving(const Expr *x, void *arg)
{
    Look *l = arg;
    if (x->op == EX_VAR && (x->u.var == l->v->v || map_has(&l->v->lets, x->u.var)))
        l->found = true;
    return !l->found;
}

bool vector_moves(const Vec *v, const Expr *x)
{
    Look l = {v, false};
    expr_visit(x, see_moving, &l);
    return l.found;
}

static void touch_loads(Ascend *a, Node *n, const Expr *x)
{
    if (x->op == EX_LOAD)
        node_touch(a, n, place_find(a, x->u.buf), false);
    for (int i = 0; i < x->nkid; i++)
        touch_loads(a, n, x->kid[i]);
}

bool vector_touches(const Expr *x, void *arg)
{
    return x->op == EX_LOAD && place_find(arg, x->u.buf) >= 0;
}

/* What is the same for all elements; read from memory before. */
static Operand eval_scalar(Vec *v, const Expr *x)
{
    Ascend *a = v->a;
    char type = dtype_is_float((DType)x->type) ? 'f' : 'i';

    if (x->type == DT_BOOL || x->type == DT_F64 || dtype_bits((DType)x->type) > 32 ||
        x->type == DT_U32 || x->lanes > 1)
        return refuse(v);
    if (!expr_any(x, vector_touches, a))
        return number(ascend_text(a, x, false), type);
    if (v->maybe)
        return refuse(v);
    const char *name = arena_printf(a->e.arena, "tl_s%d", a->nscalar++);
    Node *n = vector_op(v, P_S, "const %s %s = %s", type == 'f' ? "float" : "int32_t", name,
                        ascend_text(a, x, false));
    touch_loads(a, n, x);
    return number(name, type);
}

bool ascend_aligned(Ascend *a, const Expr *at, DType t)
{
    int64_t step = BLOCK_BYTES * 8 / dtype_bits(t);
    Modular m = modular_of(a->e.facts, at);
    return m.coef % step == 0 && m.base % step == 0;
}

/* Elements base, base + 1, … of a buffer; NULL: they are not. */
const Expr *vector_row(Vec *v, const Expr *at)
{
    int64_t coef = 0;
    const Expr *base;
    Var *const vars[] = {v->v};

    if (!affine_of(v->a->e.ir, at, vars, 1, &coef, &base) || coef != 1)
        return NULL;
    return simplify(v->a->e.ir, v->a->e.facts, base);
}

const char *vector_at(Vec *v, const char *name, const Expr *base)
{
    if (expr_is_zero(base))
        return name;
    return arena_printf(v->a->e.arena, "%s[%s]", name, ascend_text(v->a, base, true));
}

char vector_view(DType t)
{
    for (int i = 0; i < VIEWS; i++)
        if (view_table[i].dtype == t)
            return view_table[i].letter;
    return 0;
}

static bool inside(Vec *v, const Buffer *b, const Expr *at)
{
    Bounds r = bounds_of(v->a->e.facts, at);
    return r.lo >= 0 && r.hi < stored_elems(v->a->k, b);
}

static int bytes_of(DType t)
{
    return dtype_bits(t) / 8;
}

/* As they lie in memory; type: the letter of the storage. */
static Operand eval_stored(Vec *v, const Expr *x)
{
    Ascend *a = v->a;
    const Buffer *b = x->u.buf;
    char view = vector_view(b->type);
    int place = place_find(a, b);
    const Expr *base = x->guarded || !view || place < 0 ? NULL : vector_row(v, x->kid[0]);

    if (!base || view == 'm' || view == 'w')
        return refuse(v);
    if (a->places.at[place].space == IN_UB) {
        if (!ascend_aligned(a, base, b->type) || (v->maybe && !inside(v, b, x->kid[0])))
            return refuse(v);
        return (Operand){true, vector_at(v, buffer_name(&a->e, b), base), view, place, false};
    }
    if (a->places.at[place].space != IN_GM || v->maybe)
        return refuse(v);
    Operand t = vector_temp(v, view);
    const char *elem = ascend_type(b->type);
    Node *n = vector_op(v, P_MTE2,
                        "DataCopyPad(%s, %s, DataCopyExtParams{1, (uint32_t)(%s) * %d, 0, 0, 0}"
                        ", DataCopyPadExtParams<%s>{false, 0, 0, %s})",
                        t.text, vector_at(v, buffer_name(&a->e, b), base), v->count,
                        bytes_of(b->type), elem, dtype_is_float(b->type) ? "0.0f" : "0");
    node_touch(a, n, place, false);
    node_touch(a, n, t.place, true);
    return t;
}

static Operand eval_load(Vec *v, const Expr *x)
{
    Operand o = eval_stored(v, x);

    if (v->bad || o.type == 'f' || o.type == 'i')
        return o;
    if (o.type == 'h' || o.type == 'b')
        return cast_to(v, &o, 'f', "NONE");
    return refuse(v); /* bytes: as floats alone */
}

/* first + step * element, of integers */
static Operand eval_index(Vec *v, const Expr *x)
{
    Ir *ir = v->a->e.ir;
    int64_t coef = 0;
    const Expr *base;
    Var *const vars[] = {v->v};

    if (!affine_of(ir, x, vars, 1, &coef, &base) || expr_has_load(base) || x->type != DT_I32 ||
        vector_moves(v, base))
        return refuse(v);
    Operand d = vector_temp(v, 'i');
    const char *first = coef == 1 ? ascend_text(v->a, base, true) : "0";
    Node *n = vector_op(v, P_V, "CreateVecIndex(%s, (int32_t)(%s), %s)", d.text, first, v->count);
    node_touch(v->a, n, d.place, true);
    if (coef == 1)
        return d;
    d = apply(v, "Muls", 'i', &d, NULL,
              arena_printf(v->a->e.arena, ", (int32_t)%lld", (long long)coef));
    return apply(v, "Adds", 'i', &d, NULL,
                 arena_printf(v->a->e.arena, ", (int32_t)(%s)", ascend_text(v->a, base, true)));
}

static Operand with_number(Vec *v, const char *fn, const Operand *x, const char *number_text)
{
    Arena *m = v->a->e.arena;
    return apply(
        v, fn, x->type, x, NULL,
        arena_printf(m, x->type == 'i' ? ", (int32_t)(%s)" : ", (float)(%s)", number_text));
}

static Operand inverse(Vec *v, const Operand *x, const char *over)
{
    Operand one = number(over, 'f'), all = spread(v, &one);
    return apply(v, "Div", 'f', &all, x, "");
}

static Operand eval_binary(Vec *v, const Expr *e)
{
    static const struct {
        ExprOp op;
        const char *fn, *scalar;
    } table[] = {
        {EX_ADD, "Add", "Adds"}, {EX_MUL, "Mul", "Muls"}, {EX_MAX, "Max", "Maxs"},
        {EX_MIN, "Min", "Mins"}, {EX_SUB, "Sub", NULL},   {EX_DIV, "Div", NULL},
    };
    Operand x = vector_eval(v, e->kid[0]), y = v->bad ? x : vector_eval(v, e->kid[1]);
    Arena *m = v->a->e.arena;
    int i = 0;

    while (i < COUNT(table) && table[i].op != (ExprOp)e->op)
        i++;
    if (v->bad || i == COUNT(table) || x.type != y.type || x.type == 'm' ||
        (x.type == 'i' && (e->op == EX_DIV || e->type != DT_I32)))
        return refuse(v);
    if (x.vector && y.vector)
        return apply(v, table[i].fn, x.type, &x, &y, "");
    const Operand *vec = x.vector ? &x : &y, *one = x.vector ? &y : &x;
    if (table[i].scalar)
        return with_number(v, table[i].scalar, vec, one->text);
    if (e->op == EX_SUB && vec == &x)
        return with_number(v, "Adds", vec, arena_printf(m, "-(%s)", one->text));
    if (e->op == EX_SUB) {
        Operand d = with_number(v, "Muls", vec, "-1");
        return with_number(v, "Adds", &d, one->text);
    }
    if (vec == &y)
        return inverse(v, vec, one->text);
    Operand all = spread(v, one);
    return apply(v, "Div", 'f', &x, &all, "");
}

/* Integers that float32 has. */
static Operand eval_float(Vec *v, const Expr *x)
{
    Operand o = vector_eval(v, x);

    if (v->bad || o.type == 'f')
        return o;
    if (o.type != 'i' || !bounds_within(bounds_of(v->a->e.facts, x), -(1 << 24), 1 << 24))
        return refuse(v);
    if (!o.vector)
        return number(o.text, 'f');
    return cast_to(v, &o, 'f', "NONE");
}

/* A temporary of whole masks, or the number in all of one. */
static Operand for_mask(Vec *v, Operand o)
{
    if (v->bad || (o.vector && o.temp))
        return o;
    return o.vector ? with_number(v, "Muls", &o, "1") : spread(v, &o);
}

static Operand eval_compare(Vec *v, const Expr *e)
{
    static const char *const mode[EX_COUNT] = {
        [EX_EQ] = "EQ", [EX_NE] = "NE", [EX_LT] = "LT",
        [EX_LE] = "LE", [EX_GT] = "GT", [EX_GE] = "GE",
    };
    Operand x = for_mask(v, eval_float(v, e->kid[0]));
    Operand y = v->bad ? x : for_mask(v, eval_float(v, e->kid[1]));

    if (v->bad)
        return refuse(v);
    Operand d = vector_temp(v, 'm');
    Node *n = vector_op(v, P_V, "Compare(%s, %s, %s, CMPMODE::%s, %lld)", d.text, x.text, y.text,
                        mode[e->op], (long long)v->grow);
    node_touch(v->a, n, x.place, false);
    node_touch(v->a, n, y.place, false);
    node_touch(v->a, n, d.place, true);
    vector_give(v, &x);
    vector_give(v, &y);
    return d;
}

/* Masks, sixteen bits at a time. */
static Operand eval_logic(Vec *v, const Expr *e)
{
    Operand x = vector_eval(v, e->kid[0]),
            y = v->bad || e->nkid < 2 ? x : vector_eval(v, e->kid[1]);

    if (v->bad || !x.vector || !y.vector || x.type != 'm' || y.type != 'm')
        return refuse(v);
    Operand d = vector_temp(v, 'm');
    Ascend *a = v->a;
    Node *n = e->op == EX_NOT
                  ? vector_op(v, P_V, "Not(%s, %s, %lld)", temp_name(a, d.place, 'w'),
                              temp_name(a, x.place, 'w'), (long long)v->grow / 16)
                  : vector_op(v, P_V, "%s(%s, %s, %s, %lld)", e->op == EX_AND ? "And" : "Or",
                              temp_name(a, d.place, 'w'), temp_name(a, x.place, 'w'),
                              temp_name(a, y.place, 'w'), (long long)v->grow / 16);
    node_touch(a, n, x.place, false);
    node_touch(a, n, y.place, false);
    node_touch(a, n, d.place, true);
    vector_give(v, &x);
    if (e->nkid > 1)
        vector_give(v, &y);
    return d;
}

static Operand select_by(Vec *v, const Operand *mask, Operand x, Operand y)
{
    if (v->bad || x.type != 'f' || y.type != 'f' || mask->type != 'm' || !mask->vector)
        return refuse(v);
    if (!x.vector)
        x = spread(v, &x);
    if (!y.vector)
        y = spread(v, &y);
    Operand d = vector_temp(v, 'f');
    Node *n = vector_op(v, P_V, "Select(%s, %s, %s, %s, SELMODE::VSEL_TENSOR_TENSOR_MODE, %s)",
                        d.text, mask->text, x.text, y.text, v->count);
    node_touch(v->a, n, mask->place, false);
    node_touch(v->a, n, x.place, false);
    node_touch(v->a, n, y.place, false);
    node_touch(v->a, n, d.place, true);
    vector_give(v, mask);
    vector_give(v, &x);
    vector_give(v, &y);
    return d;
}

static Operand eval_choice(Vec *v, const Expr *e)
{
    bool maybe = v->maybe;

    if (!vector_moves(v, e->kid[0]))
        return refuse(v);
    Operand mask = vector_eval(v, e->kid[0]);
    v->maybe = maybe || e->op == EX_IF;
    Operand x = v->bad ? mask : vector_eval(v, e->kid[1]),
            y = v->bad ? mask : vector_eval(v, e->kid[2]);
    v->maybe = maybe;
    return v->bad ? mask : select_by(v, &mask, x, y);
}

static Operand eval_cast(Vec *v, const Expr *e)
{
    const Expr *of = e->kid[0];
    DType to = (DType)e->type, from = (DType)of->type;
    bool byte = from == DT_I8 || from == DT_U8;

    if (dtype_is_float(to) && byte && of->op == EX_LOAD) {
        Operand b = eval_stored(v, of), h = v->bad ? b : cast_to(v, &b, 'h', "NONE");
        return v->bad ? b : cast_to(v, &h, 'f', "NONE");
    }
    Operand x = vector_eval(v, of);
    if (v->bad)
        return x;
    if (dtype_is_float(to) && from == DT_BOOL)
        return select_by(v, &x, number("1", 'f'), number("0", 'f'));
    if (dtype_is_float(to) && dtype_is_float(from))
        return to == DT_F64 || from == DT_F64 ? refuse(v) : x;
    bool exact = bounds_within(bounds_of(v->a->e.facts, of), -(1 << 24), 1 << 24);
    if (dtype_is_float(to) && to != DT_F32 && !exact)
        return refuse(v); /* it would be rounded twice */
    if (dtype_is_float(to) && x.type == 'i' && from == DT_I32)
        return cast_to(v, &x, 'f', "RINT");
    if (to == DT_I32 && x.type == 'f')
        return cast_to(v, &x, 'i', "TRUNC");
    return refuse(v);
}

/* 1 / (1 + exp(-x)) */
static Operand sigmoid(Vec *v, const Operand *x)
{
    Operand d = with_number(v, "Muls", x, "-1");
    d = apply(v, "Exp", 'f', &d, NULL, "");
    d = with_number(v, "Adds", &d, "1");
    return inverse(v, &d, "1");
}

/* 1 - 2 / (1 + exp(2 x)) */
static Operand tanh_of(Vec *v, const Operand *x)
{
    Operand d = with_number(v, "Muls", x, "2");
    d = apply(v, "Exp", 'f', &d, NULL, "");
    d = with_number(v, "Adds", &d, "1");
    d = inverse(v, &d, "-2");
    return with_number(v, "Adds", &d, "1");
}

static Operand eval_math(Vec *v, const Expr *e)
{
    static const struct {
        MathFn fn;
        const char *before, *name, *after, *mode;
    } table[] = {
        {MATH_EXP, NULL, "Exp", NULL, ""},
        {MATH_FAST_EXP, NULL, "Exp", NULL, ""},
        {MATH_EXP2, "0.69314718f", "Exp", NULL, ""},
        {MATH_EXP10, "2.30258509f", "Exp", NULL, ""},
        {MATH_FAST_EXP10, "2.30258509f", "Exp", NULL, ""},
        {MATH_LOG, NULL, "Ln", NULL, ""},
        {MATH_FAST_LOG, NULL, "Ln", NULL, ""},
        {MATH_LOG2, NULL, "Ln", "1.44269504f", ""},
        {MATH_FAST_LOG2, NULL, "Ln", "1.44269504f", ""},
        {MATH_LOG10, NULL, "Ln", "0.43429448f", ""},
        {MATH_FAST_LOG10, NULL, "Ln", "0.43429448f", ""},
        {MATH_SQRT, NULL, "Sqrt", NULL, ""},
        {MATH_ABS, NULL, "Abs", NULL, ""},
        {MATH_FLOOR, NULL, "Cast", NULL, ", RoundMode::CAST_FLOOR"},
        {MATH_CEIL, NULL, "Cast", NULL, ", RoundMode::CAST_CEIL"},
        {MATH_TRUNC, NULL, "Cast", NULL, ", RoundMode::CAST_TRUNC"},
        {MATH_ROUND, NULL, "Cast", NULL, ", RoundMode::CAST_RINT"},
        {MATH_NEARBYINT, NULL, "Cast", NULL, ", RoundMode::CAST_RINT"},
        {MATH_ROUND_AWAY, NULL, "Cast", NULL, ", RoundMode::CAST_ROUND"},
    };
    Operand x = vector_eval(v, e->kid[0]);

    if (v->bad || !dtype_is_float((DType)e->type) || e->nkid != 1 || x.type != 'f')
        return refuse(v);
    switch (e->u.fn) {
    case MATH_RCP:
    case MATH_FAST_RCP:
        return inverse(v, &x, "1");
    case MATH_SIGMOID:
        return sigmoid(v, &x);
    case MATH_TANH:
        return tanh_of(v, &x);
    case MATH_RSQRT:
        x = apply(v, "Sqrt", 'f', &x, NULL, "");
        return inverse(v, &x, "1");
    default:
        break;
    }
    for (int i = 0; i < COUNT(table); i++) {
        if (table[i].fn != e->u.fn)
            continue;
        if (table[i].before)
            x = with_number(v, "Muls", &x, table[i].before);
        x = apply(v, table[i].name, 'f', &x, NULL, table[i].mode);
        return table[i].after ? with_number(v, "Muls", &x, table[i].after) : x;
    }
    return refuse(v);
}

/* Not yet rounded to a narrow type. */
Operand vector_eval_bare(Vec *v, const Expr *x)
{
    Operand *known;

    bool narrow = dtype_is_float((DType)x->type) && x->type != DT_F32 && x->type != DT_F16 &&
                  x->type != DT_BF16;

    if (v->bad || x->lanes > 1 || narrow)
        return refuse(v);
    if (!vector_moves(v, x))
        return eval_scalar(v, x);
    if (x->op == EX_VAR && (known = map_get(&v->lets, x->u.var)))
        return (Operand){known->vector, known->text, known->type, known->place, false};
    if (expr_is_math(x) && x->op != EX_LOAD && x->op != EX_CAST && !expr_has_load(x))
        return eval_index(v, x);
    switch (x->op) {
    case EX_LOAD:
        return eval_load(v, x);
    case EX_ADD:
    case EX_SUB:
    case EX_MUL:
    case EX_DIV:
    case EX_MAX:
    case EX_MIN:
        return eval_binary(v, x);
    case EX_NEG: {
        Operand o = vector_eval(v, x->kid[0]);
        return v->bad ? o : with_number(v, "Muls", &o, "-1");
    }
    case EX_EQ:
    case EX_NE:
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE:
        return eval_compare(v, x);
    case EX_AND:
    case EX_OR:
    case EX_NOT:
        return eval_logic(v, x);
    case EX_SELECT:
    case EX_IF:
        return eval_choice(v, x);
    case EX_CAST:
        return eval_cast(v, x);
    case EX_MATH:
        return eval_math(v, x);
    default:
        return refuse(v);
    }
}

Operand vector_eval(Vec *v, const Expr *x)
{
    Operand o = vector_eval_bare(v, x);
    bool exact = x->op == EX_LOAD || x->op == EX_VAR || x->op == EX_MAX || x->op == EX_MIN ||
                 x->op == EX_SELECT || x->op == EX_IF || x->op == EX_NEG;

    return v->bad || exact ? o : round_to(v, o, (DType)x->type);
}
