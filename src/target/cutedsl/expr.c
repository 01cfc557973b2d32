/* expr.c -- expressions: C in, Python out.
 *
 * Python binds comparisons looser than C's | ^ &, and its integers divide downwards: those are
 * calls.  Narrow integers are int32 as soon as they are values, as in C; device/cutedsl sees to
 * that where they are read, and where something is cast to one. */
#include <stdlib.h>
#include "target/cutedsl/cutedsl.h"

/* ---- names and types ------------------------------------------------------------------------- */

static const char *const words[] = {
    "and",    "as",    "assert",   "async",   "await",   "class",  "def",    "del",   "elif",
    "except", "exec",  "False",    "finally", "from",    "global", "import", "in",    "is",
    "lambda", "None",  "nonlocal", "not",     "or",      "pass",   "print",  "raise", "True",
    "try",    "with",  "yield",    "cute",    "cutlass", "ir",     "llvm",   "arith", "scf",
    "vector", "nvvm",  "math",     "range",   "len",     "min",    "max",    "abs",   "type",
    "int",    "float", "bool",     "str",     "list",    "tuple",  "sum",    "zip",   "map",
    "any",    "all",   "os", "re",       "sys",     "match",   "case"};

const char *dsl_name(Dsl *p, const char *name)
{
    for (int i = 0; i < COUNT(words); i++)
        if (!strcmp(words[i], name))
            return arena_printf(p->arena, "%s_", name);
    return name;
}

static const struct {
    const char *c, *py;
} type_table[] = {
    {"int8_t", "tl_i8"},
    {"uint8_t", "tl_u8"},
    {"int16_t", "tl_i16"},
    {"uint16_t", "tl_u16"},
    {"int32_t", "tl_i32"},
    {"uint32_t", "tl_u32"},
    {"int64_t", "tl_i64"},
    {"uint64_t", "tl_u64"},
    {"float", "tl_f32"},
    {"double", "tl_f64"},
    {"bool", "tl_b1"},
    {"char", "tl_i8"},
    {"int", "tl_i32"},
    {"intptr_t", "tl_i64"},
    {"size_t", "tl_u64"},
    {"uchar", "tl_u8"},
    {"ushort", "tl_u16"},
    {"uint", "tl_u32"},
    {"short", "tl_i16"},
    {"long", "tl_i64"},
    {"ulong", "tl_u64"},
    {"void", NULL},
    {"float2", "tl_float2"},
    {"float4", "tl_float4"},
    {"uint2", "tl_uint2"},
    {"uint4", "tl_uint4"},
    {"int2", "tl_int2"},
    {"int4", "tl_int4"},
    {"double2", "tl_double2"},
    {"double4", "tl_double4"},
    {"ushort2", "tl_ushort2"},
    {"ushort4", "tl_ushort4"},
    {"short2", "tl_short2"},
    {"short4", "tl_short4"},
    {"uchar2", "tl_uchar2"},
    {"uchar4", "tl_uchar4"},
    {"char2", "tl_char2"},
    {"char4", "tl_char4"},
    {"longlong2", "tl_longlong2"},
    {"ulonglong2", "tl_ulonglong2"},
    {"TlTensorMap", "tl_map"},
};
static const char *const qualifiers[] = {"const",  "volatile",  "static",    "unsigned",
                                         "signed", "constexpr", "__align__", "__restrict__"};

static bool is_qualifier(const char *s)
{
    for (int i = 0; i < COUNT(qualifiers); i++)
        if (!strcmp(qualifiers[i], s))
            return true;
    return false;
}

static int type_row(const char *s)
{
    for (int i = 0; i < COUNT(type_table); i++)
        if (!strcmp(type_table[i].c, s))
            return i;
    return -1;
}

bool dsl_is_type(Dsl *p)
{
    const Token *t = dsl_now(p);

    return t->kind == TK_NAME && (is_qualifier(t->s) || type_row(t->s) >= 0 ||
                                  map_has(&p->structures, t->s) || map_has(&p->classes, t->s));
}

/* "unsigned long long" and its like. */
static const char *unsigned_type(const char *word)
{
    static const char *const of[][2] = {
        {"tl_i8", "tl_u8"}, {"tl_i16", "tl_u16"}, {"tl_i32", "tl_u32"}, {"tl_i64", "tl_u64"}};
    for (int i = 0; i < COUNT(of); i++)
        if (word && !strcmp(word, of[i][0]))
            return of[i][1];
    return "tl_u32";
}

static void take_stars(Dsl *p, DslType *t)
{
    for (;; p->at++)
        if (dsl_is(p, "*"))
            t->stars++;
        else if (!(dsl_now(p)->kind == TK_NAME && is_qualifier(dsl_now(p)->s)))
            return;
}

DslType dsl_type(Dsl *p)
{
    DslType t = {0};
    bool no_sign = false;

    for (; dsl_is_type(p); p->at++) {
        const char *s = dsl_now(p)->s;
        if (!strcmp(s, "__align__")) {
            p->at += 3; /* ( n ) */
        } else if (is_qualifier(s)) {
            no_sign |= !strcmp(s, "unsigned");
            t.constant |= !strncmp(s, "const", 5);
        } else {
            int row = type_row(s);
            t.structure = row < 0 && map_has(&p->structures, s);
            t.word = row < 0 ? s : type_table[row].py;
        }
    }
    if (no_sign)
        t.word = unsigned_type(t.word);
    take_stars(p, &t);
    return t;
}

/* ---- values and places ----------------------------------------------------------------------- */

static DslExpr value_of(const char *text, int binds, bool pure)
{
    return (DslExpr){EX_PLAIN, text, NULL, binds, pure};
}

const char *dsl_value(Dsl *p, DslExpr x, int around)
{
    const char *s = x.text;

    if (x.kind == EX_CELL)
        return arena_printf(p->arena, "%s[0]", s);
    if (x.kind == EX_ELEMENT)
        return arena_printf(p->arena, "%s[%s]", s, x.at);
    if (x.kind == EX_FIELD)
        return arena_printf(p->arena, "%s.%s", s, x.at);
    return x.binds < around ? arena_printf(p->arena, "(%s)", s) : s;
}

const char *dsl_address(Dsl *p, DslExpr x)
{
    if (x.kind == EX_ELEMENT)
        return strcmp(x.at, "0") ? arena_printf(p->arena, "%s.at(%s)", x.text, x.at) : x.text;
    if (x.kind == EX_FIELD)
        return arena_printf(p->arena, "%s.cell(\"%s\")", x.text, x.at);
    return x.text; /* cells and structures are places themselves */
}

static DslExpr number(Dsl *p, const char *s)
{
    size_t n = strlen(s);
    bool hex = s[0] == '0' && n > 1 && (s[1] == 'x' || s[1] == 'X');
    bool real = strpbrk(s, hex ? ".pP" : ".eE") != NULL;
    const char *end = s + n;

    if (real) {
        bool single = !hex && strchr("fF", end[-1]);
        const char *digits = arena_strndup(p->arena, s, n - single);
        return value_of(arena_printf(p->arena, hex ? "%s(float.fromhex(\"%s\"))" : "%s(%s)",
                                     single ? "tl_f32" : "tl_f64", digits),
                        DSL_TIGHT, true);
    }
    while (strchr("uUlL", end[-1]))
        end--;
    const char *digits = arena_strndup(p->arena, s, (size_t)(end - s));
    unsigned long long v = strtoull(digits, NULL, 0);
    bool u = strpbrk(end, "uU") || (hex && ((v > INT32_MAX && v <= UINT32_MAX) || v > INT64_MAX));
    bool wide = strpbrk(end, "lL") || v > (u ? UINT32_MAX : (unsigned long long)INT32_MAX);
    if (!u && !wide)
        return value_of(digits, DSL_TIGHT, true);
    return value_of(
        arena_printf(p->arena, "%s(%s)", wide ? (u ? "tl_u64" : "tl_i64") : "tl_u32", digits),
        DSL_TIGHT, true);
}

const char *dsl_list(Dsl *p, const char *end)
{
    Str s;

    str_init(&s, p->arena);
    for (int i = 0; !dsl_take(p, end); i++) {
        if (i)
            dsl_want(p, ",");
        str_printf(&s, "%s%s", i ? ", " : "", dsl_value(p, dsl_expr(p), DSL_LOOSE));
    }
    return s.n ? s.s : "";
}

/* name<4>(x) is name(4, x); types between the brackets are seen from what is handed over. */
static const char *template_words(Dsl *p, const char *name)
{
    Str s;

    if (!dsl_is(p, "<") || !map_has(&p->templates, name))
        return "";
    str_init(&s, p->arena);
    p->at++;
    while (!dsl_take(p, ">")) {
        if (dsl_is_type(p))
            dsl_type(p);
        else
            str_printf(&s, "%s, ", dsl_value(p, number(p, dsl_now(p)->s), DSL_LOOSE)), p->at++;
        dsl_take(p, ",");
    }
    return s.n ? s.s : "";
}

static DslExpr named(Dsl *p)
{
    const char *name = dsl_name(p, dsl_now(p)->s);

    p->at++;
    while (dsl_take(p, "::"))
        name = arena_printf(p->arena, "%s__%s", name, dsl_now(p)->s), p->at++;
    const char *first = template_words(p, name);
    if (dsl_take(p, "(")) {
        const char *rest = dsl_list(p, ")");
        if (!*rest && *first)
            first = arena_strndup(p->arena, first, strlen(first) - 2);
        return value_of(arena_printf(p->arena, "%s(%s%s)", name, first, rest), DSL_TIGHT, false);
    }
    if (map_has(&p->cells, name))
        return (DslExpr){EX_CELL, name, NULL, DSL_TIGHT, true};
    return value_of(name, DSL_TIGHT, true);
}

static DslExpr sizeof_type(Dsl *p)
{
    p->at++;
    dsl_want(p, "(");
    DslType t = dsl_type(p);
    dsl_want(p, ")");
    return value_of(arena_printf(p->arena, "%s.nbytes", t.word), DSL_TIGHT, true);
}

static DslExpr primary(Dsl *p)
{
    const Token *t = dsl_now(p);

    if (dsl_take(p, "(")) {
        DslExpr x = dsl_expr(p);
        dsl_want(p, ")");
        return x;
    }
    if (t->kind == TK_NUMBER) {
        p->at++;
        return number(p, t->s);
    }
    if (t->kind == TK_TEXT) {
        p->at++;
        return value_of(t->s, DSL_TIGHT, true);
    }
    if (dsl_is(p, "["))
        return value_of(dsl_lambda(p), DSL_LOOSE, true);
    if (t->kind != TK_NAME)
        dsl_refuse(p, arena_printf(p->arena, "'%s'", t->s));
    if (!strcmp(t->s, "true") || !strcmp(t->s, "false")) {
        p->at++;
        return value_of(*t->s == 't' ? "1" : "0", DSL_TIGHT, true);
    }
    if (!strcmp(t->s, "sizeof"))
        return sizeof_type(p);
    if (dsl_is_type(p)) { /* T(x), T{x, y} */
        DslType of = dsl_type(p);
        bool brace = dsl_take(p, "{");
        if (!brace)
            dsl_want(p, "(");
        return value_of(arena_printf(p->arena, "%s(%s)", of.word, dsl_list(p, brace ? "}" : ")")),
                        DSL_TIGHT, false);
    }
    return named(p);
}

/* blockIdx.x and its like are functions. */
static bool is_index_name(const char *s)
{
    return !strcmp(s, "threadIdx") || !strcmp(s, "blockIdx") || !strcmp(s, "blockDim") ||
           !strcmp(s, "gridDim");
}

static DslExpr postfix(Dsl *p)
{
    DslExpr x = primary(p);

    for (;;) {
        if (dsl_take(p, "[")) {
            const char *base = dsl_value(p, x, DSL_TIGHT);
            const char *at = dsl_value(p, dsl_expr(p), DSL_LOOSE);
            dsl_want(p, "]");
            x = (DslExpr){EX_ELEMENT, base, at, DSL_TIGHT, false};
        } else if (dsl_take(p, ".") || dsl_take(p, "->")) {
            const char *base = dsl_value(p, x, DSL_TIGHT), *field = dsl_name(p, dsl_now(p)->s);
            p->at++;
            if (is_index_name(base))
                x = value_of(arena_printf(p->arena, "%s(\"%s\")", base, field), DSL_TIGHT, true);
            else
                x = (DslExpr){EX_FIELD, base, field, DSL_TIGHT, false};
        } else {
            return x;
        }
    }
}

static DslExpr unary(Dsl *p);

static DslExpr cast(Dsl *p)
{
    p->at++;
    DslType t = dsl_type(p);
    dsl_want(p, ")");
    DslExpr x = unary(p);
    const char *s = dsl_value(p, x, DSL_LOOSE);

    if (t.stars)
        return value_of(arena_printf(p->arena, "tl_as(%s, %s)", s, t.word ? t.word : "tl_u8"),
                        DSL_TIGHT, x.pure);
    return t.word ? value_of(arena_printf(p->arena, "%s(%s)", t.word, s), DSL_TIGHT, x.pure) : x;
}

static DslExpr unary(Dsl *p)
{
    if (dsl_is(p, "(")) {
        p->at++;
        bool is_cast = dsl_is_type(p) && strcmp(p->tokens.at[p->at + 1].s, "(") &&
                       strcmp(p->tokens.at[p->at + 1].s, "{");
        p->at--;
        if (is_cast)
            return cast(p);
    }
    if (dsl_take(p, "&"))
        return value_of(dsl_address(p, unary(p)), DSL_TIGHT, true);
    if (dsl_take(p, "*"))
        return (DslExpr){EX_ELEMENT, dsl_value(p, unary(p), DSL_TIGHT), "0", DSL_TIGHT, false};
    if (dsl_take(p, "!")) {
        DslExpr x = unary(p);
        return value_of(arena_printf(p->arena, "tl_not(%s)", dsl_value(p, x, DSL_LOOSE)), DSL_TIGHT,
                        x.pure);
    }
    static const char *const signs[] = {"-", "~", "+"};
    for (int i = 0; i < COUNT(signs); i++)
        if (dsl_take(p, signs[i])) {
            DslExpr x = unary(p);
            return value_of(arena_printf(p->arena, "%s%s", signs[i], dsl_value(p, x, DSL_SIGN)),
                            DSL_SIGN, x.pure);
        }
    return postfix(p);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const struct {
    const char *c;
    int binds; /* in C */
    int py;
    const char *call; /* NULL: as it is */
    bool lazy;
} operator_table[] = {
    {"||", 1, 0, "tl_or", true},
    {"&&", 2, 0, "tl_and", true},
    {"|", 3, DSL_OR, NULL, false},
    {"^", 4, DSL_XOR, NULL, false},
    {"&", 5, DSL_AND, NULL, false},
    {"==", 6, DSL_COMPARE, NULL, false},
    {"!=", 6, DSL_COMPARE, NULL, false},
    {"<", 7, DSL_COMPARE, NULL, false},
    {">", 7, DSL_COMPARE, NULL, false},
    {"<=", 7, DSL_COMPARE, NULL, false},
    {">=", 7, DSL_COMPARE, NULL, false},
    {"<<", 8, DSL_SHIFT, "tl_shl", false},
    {">>", 8, DSL_SHIFT, "tl_shr", false},
    {"+", 9, DSL_SUM, NULL, false},
    {"-", 9, DSL_SUM, NULL, false},
    {"*", 10, DSL_PRODUCT, NULL, false},
    {"/", 10, DSL_PRODUCT, "tl_div", false},
    {"%", 10, DSL_PRODUCT, NULL, false},
};

static int op_row(const Dsl *p)
{
    for (int i = 0; i < COUNT(operator_table); i++)
        if (dsl_is(p, operator_table[i].c))
            return i;
    return -1;
}

static DslExpr joined(Dsl *p, int row, DslExpr x, DslExpr y)
{
    const char *call = operator_table[row].call;
    int py = operator_table[row].py;
    bool pure = x.pure && y.pure;

    if (call)
        return value_of(arena_printf(p->arena, "%s(%s, %s%s)", call, dsl_value(p, x, DSL_LOOSE),
                                     operator_table[row].lazy && !y.pure ? "lambda: " : "",
                                     dsl_value(p, y, DSL_LOOSE)),
                        DSL_TIGHT, pure);
    return value_of(arena_printf(p->arena, "%s %s %s",
                                 dsl_value(p, x, py == DSL_COMPARE ? py + 1 : py),
                                 operator_table[row].c, dsl_value(p, y, py + 1)),
                    py, pure);
}

static DslExpr binary(Dsl *p, int least)
{
    DslExpr x = unary(p);

    for (int row; (row = op_row(p)) >= 0 && operator_table[row].binds >= least;) {
        p->at++;
        x = joined(p, row, x, binary(p, operator_table[row].binds + 1));
    }
    return x;
}

DslExpr dsl_expr(Dsl *p)
{
    DslExpr x = binary(p, 1);

    if (!dsl_take(p, "?"))
        return x;
    DslExpr y = dsl_expr(p);
    dsl_want(p, ":");
    DslExpr z = dsl_expr(p);
    const char *lazy = y.pure && z.pure ? "" : "lambda: ";
    return value_of(arena_printf(p->arena, "tl_choose(%s, %s%s, %s%s)", dsl_value(p, x, DSL_LOOSE),
                                 lazy, dsl_value(p, y, DSL_LOOSE), lazy,
                                 dsl_value(p, z, DSL_LOOSE)),
                    DSL_TIGHT, x.pure && y.pure && z.pure);
}
