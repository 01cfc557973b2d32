/* simplify.c -- tests of the normal form: single rewrites, and random trees against evaluation. */
#include <stdlib.h>
#include "unit/expr_text.h"
#include "test.h"

static void check_all(Words *w, const char *const (*list)[2], int n)
{
    for (int i = 0; i < n; i++) {
        const char *got = words_simple(w, list[i][0]);
        if (strcmp(got, list[i][1]) != 0)
            printf("%s:\n", list[i][0]);
        CHECK_TEXT(got, list[i][1]);
    }
}

TEST(sums)
{
    static const char *const list[][2] = {
        {"i + 0", "i"},
        {"i * 8 + 3 + i", "i * 9 + 3"},
        {"j + i", "i + j"},
        {"i - i", "0"},
        {"2 * (i + j) - j * 2", "i * 2"},
        {"(i + 1) * n - n", "i * n"},
        {"n * i - i * n", "0"},
        {"5 - i", "5 - i"},
        {"0 - i", "-i"},
        {"-(i - j)", "j - i"},
        {"(i - 3) * 2 + 6", "i * 2"},
    };
    Words w = words_new();
    check_all(&w, list, COUNT(list));
}

TEST(quotients)
{
    static const char *const list[][2] = {
        {"(i * 8 + j) // 8", "i"},
        {"(i * 8 + j) % 8", "j"},
        {"x // 4 * 4 + x % 4", "x"},
        {"x - x // 4 * 4", "x % 4"},
        {"x // 4 // 8", "x // 32"},
        {"(x // 4 + 3) // 8", "(x + 12) // 32"},
        {"x % 32 // 4", "x // 4 % 8"},
        {"x // 4 % 8 * 4 + x % 4", "x % 32"},
        {"x // 32 * 8 + x // 4 % 8", "x // 4"},
        {"(x * 8 + j) // 32", "x // 4"},
        {"(x * 8 + j) % 32", "j + x % 4 * 8"},
        {"x % 32 % 8", "x % 8"},
        {"x % 12 % 8", "x % 12 % 8"},
        {"(x % 12 + y) % 4", "(x + y) % 4"},
        {"(x % 12 + y) % 5", "(x % 12 + y) % 5"},
        {"j // 8", "0"},
        {"j % 8", "j"},
        {"(x * 6 + 4) // 4", "x * 3 // 2 + 1"},
        {"x // -4", "-x // 4"},
        {"(x * 4 + 3) % 4", "3"},
        {"(4 - x * 4) // 4", "1 - x"},
        {"(i * 12 + x) // 4", "i * 3 + x // 4"},
        {"(i * 12 + x) % 4", "x % 4"},
        {"x // 1", "x"},
        {"(i * 48 + x) // 4 // 32", "(i * 48 + x) // 128"},
        {"(i * 12 + x // 4) // 32", "(i * 48 + x) // 128"},
        {"(i * 12 + x // 4) // 32 * 32 + (i * 12 + x // 4) % 32", "i * 12 + x // 4"},
    };
    Words w = words_new();
    words_range(&w, 'j', 0, 8);
    words_range(&w, 'i', 0, 64);
    check_all(&w, list, COUNT(list));
}

/* B[j % K] in a flattened nest: the inner remainder must stay unless its divisor allows. */
TEST(nested_remainders_stay)
{
    Words w = words_new();
    words_range(&w, 'j', 0, 100);
    CHECK_TEXT(words_simple(&w, "j % 12 % 100"), "j % 12");
    CHECK_TEXT(words_simple(&w, "(i * 100 + j) % 100 % 12"), "j % 12");
    CHECK_TEXT(words_simple(&w, "(i * 100 + j) % 12"), "(i * 4 + j) % 12");
    CHECK_TEXT(words_simple(&w, "(i * 12 + j % 12) % 24"), "i % 2 * 12 + j % 12");
}

TEST(residues)
{
    Words w = words_new();
    words_assume(&w, "n % 64 == 0");
    words_assume(&w, "n >= 0");
    CHECK_TEXT(words_simple(&w, "(n + 63) // 64"), "n // 64");
    CHECK_TEXT(words_simple(&w, "(n + 63) // 64 * 64"), "n");
    CHECK_TEXT(words_simple(&w, "n % 16"), "0");
    CHECK_TEXT(words_simple(&w, "(n + 5) % 32"), "5");
    CHECK_TEXT(words_simple(&w, "n == 3"), "false");
}

TEST(comparisons)
{
    static const char *const list[][2] = {
        {"i < 64", "true"},
        {"i >= 64", "false"},
        {"2 * i < 7", "i < 4"},
        {"i + 1 <= n", "i < n"},
        {"n > i", "i < n"},
        {"i < i + 1", "true"},
        {"i + x < x + 10", "i < 10"},
        {"x // 8 < 4", "x < 32"},
        {"x // 8 >= 4", "x >= 32"},
        {"4 > x // 8", "x < 32"},
        {"i == i", "true"},
        {"2 * x == 5", "false"},
        {"x == y + 1 + x - x", "x == y + 1"},
        {"x != x + 1", "true"},
        {"not (x < y)", "y <= x"},
        {"not (x == y)", "x != y"},
        {"x < 5 and x < 3", "x < 3"},
        {"x < 5 or x < 3", "x < 5"},
        {"x < 5 and x >= 5", "false"},
        {"i < 64 and x < 3", "x < 3"},
        {"x < y and x < y", "x < y"},
    };
    Words w = words_new();
    words_range(&w, 'i', 0, 64);
    check_all(&w, list, COUNT(list));
}

TEST(extremes)
{
    static const char *const list[][2] = {
        {"min(i, 100)", "i"},
        {"max(i, 100)", "100"},
        {"min(x, x + 1)", "x"},
        {"min(min(x, 5), 3)", "min(x, 3)"},
        {"min(y, x)", "min(x, y)"},
        {"min(x, 5) < 9", "true"},
        {"max(min(x, y), x)", "x"},
        {"min(x, y) <= x", "true"},
        {"select(x < y, x, y)", "min(x, y)"},
        {"select(i < 64, x, y)", "x"},
        {"min(n - 3, 64) < 65", "true"},
    };
    Words w = words_new();
    words_range(&w, 'i', 0, 64);
    check_all(&w, list, COUNT(list));
}

TEST(facts_decide_conditions)
{
    Words w = words_new();
    words_range(&w, 'i', 0, 8);
    words_assume(&w, "x * 8 + i < n");
    CHECK_TEXT(words_simple(&w, "x * 8 + i < n"), "true");
    CHECK_TEXT(words_simple(&w, "x * 8 < n"), "true");
    CHECK_TEXT(words_simple(&w, "x * 8 + i >= n"), "false");
    CHECK_TEXT(words_simple(&w, "min(x * 8 + i, n - 1)"), "i + x * 8");
}

TEST(symbolic_extents)
{
    Words w = words_new();
    words_assume(&w, "n >= 1");
    facts_range(w.f, words_var(&w, 'j'), expr_int(w.ir, 0), words_read(&w, "n"));
    CHECK_TEXT(words_simple(&w, "(i * n + j) // n"), "i");
    CHECK_TEXT(words_simple(&w, "(i * n + j) % n"), "j");
    CHECK_TEXT(words_simple(&w, "j < n"), "true");
    CHECK_TEXT(words_simple(&w, "j // n"), "0");
    CHECK_TEXT(words_simple(&w, "j + 1 < n"), "j + 1 < n");
}

TEST(choices_use_their_condition)
{
    Words w = words_new();
    const Expr *c = words_read(&w, "x < 4"), *a = words_read(&w, "min(x, 4)");
    CHECK_TEXT(words_text(&w, simplify(w.ir, w.f, expr_if(w.ir, c, a, words_read(&w, "y")))),
               words_text(&w, expr_if(w.ir, c, words_read(&w, "x"), words_read(&w, "y"))));
    const Expr *s = expr_select(w.ir, c, a, words_read(&w, "y"));
    CHECK(simplify(w.ir, w.f, s) == s);
}

TEST(data_may_wrap)
{
    Words w = words_new();
    const Expr *eight = expr_int(w.ir, 8);
    Buffer *b = buffer_new(w.ir, "A", DT_I32, MEM_GLOBAL, 1, &eight, NO_SPAN);
    const Expr *at = words_read(&w, "i"), *x = expr_load(w.ir, b, &at, 1);
    const Expr *e = expr_floordiv(w.ir, expr_mul(w.ir, x, expr_int(w.ir, 2)), expr_int(w.ir, 2));
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_lt(w.ir, expr_add(w.ir, x, expr_int(w.ir, 1)), expr_int(w.ir, 5));
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_sub(w.ir, expr_add(w.ir, x, at), x);
    CHECK(simplify(w.ir, w.f, e) == at);
    Var *u = var_new(w.ir, "u", DT_U8, NO_SPAN);
    const Expr *uv = expr_var(w.ir, u);
    e = expr_lt(w.ir, expr_add(w.ir, uv, expr_const(w.ir, DT_U8, 1)), expr_const(w.ir, DT_U8, 5));
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_lt(w.ir, uv, expr_const(w.ir, DT_U8, 255));
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_binary(w.ir, EX_LE, uv, expr_const(w.ir, DT_U8, 255));
    CHECK(simplify(w.ir, w.f, e) == expr_bool(w.ir, true));
}

TEST(floats_keep_their_bits)
{
    Words w = words_new();
    Var *v = var_new(w.ir, "a", DT_F32, NO_SPAN);
    const Expr *a = expr_var(w.ir, v), *zero = expr_float(w.ir, DT_F32, 0);
    const Expr *e = expr_add(w.ir, a, zero);
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_sub(w.ir, a, a);
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_mul(w.ir, a, zero);
    CHECK(simplify(w.ir, w.f, e) == e);
    CHECK(simplify(w.ir, w.f, expr_mul(w.ir, a, expr_float(w.ir, DT_F32, 1))) == a);
    e = expr_unary(w.ir, EX_NOT, expr_lt(w.ir, a, zero));
    CHECK(simplify(w.ir, w.f, e) == e);
    e = expr_cast(w.ir, DT_F16, expr_cast(w.ir, DT_F32, expr_cast(w.ir, DT_F16, a)));
    CHECK(simplify(w.ir, w.f, e) == expr_cast(w.ir, DT_F16, a));
}

/* ---- random trees ---------------------------------------------------------------------------- */

static uint64_t seed = 0x2545f4914f6cdd1d;

static int below(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)n);
}

static const Expr *random_int(Words *w, int depth);

static const Expr *random_bool(Words *w, int depth)
{
    static const ExprOp compare[] = {EX_EQ, EX_NE, EX_LT, EX_LE, EX_GT, EX_GE};
    int kind = depth > 0 ? below(5) : 0;
    if (kind == 3)
        return expr_binary(w->ir, below(2) ? EX_AND : EX_OR, random_bool(w, depth - 1),
                           random_bool(w, depth - 1));
    if (kind == 4)
        return expr_unary(w->ir, EX_NOT, random_bool(w, depth - 1));
    return expr_binary(w->ir, compare[below(6)], random_int(w, depth - 1),
                       random_int(w, depth - 1));
}

static const Expr *random_int(Words *w, int depth)
{
    static const int numbers[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, -1, -2, -3, -8};
    static const ExprOp op[] = {EX_ADD, EX_ADD, EX_SUB, EX_MUL, EX_MIN, EX_MAX};
    if (depth <= 0 || below(8) == 0)
        return below(3) == 0 ? expr_int(w->ir, numbers[below(COUNT(numbers))])
                             : expr_var(w->ir, w->v[below(4)]);
    int kind = below(12);
    const Expr *a = random_int(w, depth - 1);
    if (kind < 5) {
        int c = numbers[1 + below(COUNT(numbers) - 1)];
        return expr_binary(w->ir, below(2) ? EX_FLOORDIV : EX_FLOORMOD, a, expr_int(w->ir, c));
    }
    if (kind == 5)
        return expr_select(w->ir, random_bool(w, depth - 1), a, random_int(w, depth - 1));
    if (kind == 6)
        return expr_if(w->ir, random_bool(w, depth - 1), a, random_int(w, depth - 1));
    if (kind == 7)
        return expr_mul(w->ir, a, expr_int(w->ir, numbers[below(COUNT(numbers))]));
    return expr_binary(w->ir, op[below(COUNT(op))], a, random_int(w, depth - 1));
}

static void try_points(Words *w, const Expr *e, const Expr *r, const int lo[4], const int hi[4],
                       const Expr *fact)
{
    int64_t value[64] = {0};
    Bounds b = bounds_of(w->f, e);
    Modular m = modular_of(w->f, e);
    for (int t = 0; t < 60; t++) {
        for (int v = 0; v < 4; v++)
            value[w->v[v]->id] = lo[v] + below(hi[v] - lo[v]);
        if (fact && !expr_eval(fact, value))
            continue;
        int64_t x = expr_eval(e, value), y = expr_eval(r, value);
        bool in = e->type == DT_BOOL || (x >= b.lo && x <= b.hi);
        bool residue = e->type == DT_BOOL ||
                       (m.coef ? floor_mod(x - m.base, m.coef) == 0 : x == m.base);
        if (x != y || !in || !residue) {
            printf("%s\nbecame %s\n", words_text(w, e), words_text(w, r));
            printf("i=%d j=%d k=%d l=%d: %lld against %lld, bounds %lld..%lld, residue %lld+%lld\n",
                   (int)value[w->v[0]->id], (int)value[w->v[1]->id], (int)value[w->v[2]->id],
                   (int)value[w->v[3]->id], (long long)x, (long long)y, (long long)b.lo,
                   (long long)b.hi, (long long)m.coef, (long long)m.base);
            if (fact)
                printf("where %s\n", words_text(w, fact));
        }
        CHECK(x == y && in && residue);
    }
}

TEST(random_trees_keep_their_value)
{
    for (int round = 0; round < 400; round++) {
        Words w = words_new();
        int lo[4], hi[4];
        for (int v = 0; v < 4; v++) {
            lo[v] = below(3) == 0 ? -below(20) : 0;
            hi[v] = lo[v] + 1 + below(40);
            words_range(&w, w.v[v]->name[0], lo[v], hi[v]);
        }
        const Expr *fact = below(2) ? random_bool(&w, 2) : NULL;
        if (fact)
            facts_assume(w.f, fact);
        for (int i = 0; i < 50; i++) {
            const Expr *e = below(4) ? random_int(&w, 5) : random_bool(&w, 4);
            const Expr *r = simplify(w.ir, w.f, e);
            try_points(&w, e, r, lo, hi, fact);
        }
        arena_free(w.arena);
        names_free(w.names);
    }
}

TEST(simplifying_again_changes_nothing)
{
    Words w = words_new();
    int changed = 0;
    for (int v = 0; v < 4; v++)
        words_range(&w, w.v[v]->name[0], 0, 16);
    for (int i = 0; i < 2000; i++) {
        const Expr *r = simplify(w.ir, w.f, random_int(&w, 4));
        changed += simplify(w.ir, w.f, r) != r;
    }
    CHECK_INT(changed, 0);
}

/* ---- random trees of data: every operation wraps at its type ------------------------------------ */

enum { NDATA = 4 };

typedef struct {
    Words *w;
    Buffer *buf[DT_COUNT];
    int64_t *value; /* of variables */
    int64_t data[DT_COUNT][NDATA];
} World;

static const DType int_types[] = {DT_I8, DT_U8, DT_I16, DT_I32, DT_I32, DT_I32, DT_U32, DT_I64};

static const Expr *random_typed(World *o, DType t, int depth)
{
    static const ExprOp op[] = {EX_ADD, EX_SUB, EX_MUL, EX_MIN, EX_MAX,
                                EX_BITAND, EX_BITOR, EX_BITXOR};
    static const int numbers[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 100, 127};
    Ir *ir = o->w->ir;
    int kind = below(depth <= 0 ? 3 : 13);
    if (kind == 0 && t == DT_I32)
        return expr_var(ir, o->w->v[below(4)]);
    if (kind == 1)
        return expr_const(ir, t, numbers[below(COUNT(numbers))]);
    if (kind <= 2) {
        const Expr *at = expr_int(ir, below(NDATA));
        return expr_load(ir, o->buf[t], &at, 1);
    }
    const Expr *a = random_typed(o, t, depth - 1);
    const Expr *c = expr_const(ir, t, numbers[1 + below(COUNT(numbers) - 1)]);
    switch (kind) {
    case 3:
        return expr_binary(ir, below(2) ? EX_FLOORDIV : EX_FLOORMOD, a, c);
    case 4:
        return expr_binary(ir, below(2) ? EX_SHL : EX_SHR, a, expr_const(ir, t, below(5)));
    case 5:
        return expr_cast(ir, t, random_typed(o, int_types[below(COUNT(int_types))], depth - 1));
    case 6:
        return expr_binary(ir, EX_MUL, a, c);
    case 7:
        return expr_unary(ir, below(2) ? EX_NEG : EX_BITNOT, a);
    case 8: {
        DType u = int_types[below(COUNT(int_types))];
        const Expr *p = expr_binary(ir, EX_EQ + below(6), random_typed(o, u, depth - 1),
                                    random_typed(o, u, depth - 1));
        return below(2) ? expr_select(ir, p, a, random_typed(o, t, depth - 1))
                        : expr_if(ir, p, a, random_typed(o, t, depth - 1));
    }
    default:
        return expr_binary(ir, op[below(COUNT(op))], a, random_typed(o, t, depth - 1));
    }
}

/* False where the index part of the language's promise is broken: int32 or int64 arithmetic on
 * variables alone that leaves the type. */
static int64_t typed_value(World *o, const Expr *e, bool *fair, bool *data)
{
    int64_t k[3] = {0};
    bool kid_data = false;
    *data = false;
    if (e->op == EX_INT)
        return e->u.i;
    if (e->op == EX_VAR)
        return o->value[e->u.var->id];
    if (e->op == EX_LOAD) {
        *data = true;
        return o->data[e->type][e->kid[0]->u.i];
    }
    for (int i = 0; i < e->nkid; i++) {
        bool d;
        k[i] = typed_value(o, e->kid[i], fair, &d);
        kid_data |= d;
    }
    const Expr *v[3];
    DType kid = (DType)e->kid[e->nkid - 1]->type, t = (DType)e->type;
    for (int i = 0; i < e->nkid; i++)
        v[i] = expr_const(o->w->ir, DT_I64, k[i]);
    int64_t r;
    if (e->op == EX_CAST)
        r = k[0];
    else if (e->op == EX_SELECT || e->op == EX_IF)
        r = k[0] ? k[1] : k[2];
    else
        r = expr_eval(e->nkid == 1 ? expr_unary(o->w->ir, e->op, v[0])
                                   : expr_binary(o->w->ir, e->op, v[0], v[1]), o->value);
    int64_t wrapped = t == DT_BOOL ? r != 0 : num_wrap(t, r);
    *data = kid_data || e->op == EX_CAST || (e->op >= EX_BITAND && e->op <= EX_SHR) ||
            (kid != DT_I32 && kid != DT_I64);
    if (wrapped != r && !*data)
        *fair = false;
    return wrapped;
}

static void try_data(World *o, const Expr *e)
{
    Words *w = o->w;
    const Expr *r = simplify(w->ir, w->f, e);
    Bounds b = bounds_of(w->f, e);
    for (int t = 0; t < 12; t++) {
        bool fair = true, data;
        for (int v = 0; v < 4; v++)
            o->value[w->v[v]->id] = below(40);
        for (int i = 0; i < COUNT(int_types); i++) {
            for (int d = 0; d < NDATA; d++) {
                int64_t any = (int64_t)below(1 << 16) << 16 | below(1 << 16);
                any = below(3) ? any << below(32) : below(9) - 4;
                o->data[int_types[i]][d] = num_wrap(int_types[i], any);
            }
        }
        int64_t x = typed_value(o, e, &fair, &data);
        bool still = true;
        int64_t y = typed_value(o, r, &still, &data);
        if (!fair)
            continue;
        if (x != y || x < b.lo || x > b.hi)
            printf("%s\nbecame %s\n%lld against %lld, bounds %lld..%lld\n", words_text(w, e),
                   words_text(w, r), (long long)x, (long long)y, (long long)b.lo, (long long)b.hi);
        CHECK(x == y && x >= b.lo && x <= b.hi);
    }
}

TEST(random_data_keeps_its_value)
{
    for (int round = 0; round < 150; round++) {
        Words w = words_new();
        World *o = NEW(w.arena, World);
        const Expr *n = expr_int(w.ir, NDATA);
        o->w = &w;
        o->value = NEWN(w.arena, int64_t, 64);
        for (int t = 0; t < COUNT(int_types); t++)
            o->buf[int_types[t]] =
                buffer_new(w.ir, "D", int_types[t], MEM_GLOBAL, 1, &n, NO_SPAN);
        for (int v = 0; v < 4; v++)
            words_range(&w, w.v[v]->name[0], 0, 40);
        for (int i = 0; i < 60; i++)
            try_data(o, random_typed(o, int_types[below(COUNT(int_types))], 4));
        arena_free(w.arena);
        names_free(w.names);
    }
}

/* A chain once took twice as long for each link. */
TEST(long_chains_are_quick)
{
    Words w = words_new();
    char text[4096] = "x == 0";
    for (int i = 1; i < 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s x == %d", i % 2 ? "or" : "or y != 3 and",
                 i * 7);
    CHECK(strlen(words_simple(&w, text)) > 0);
}
