/* op_reduce.c -- reductions along any dimension against plain loops; reducers; any_of. */
#include "tile_kit.h"

#include <math.h>

static double combine(const char *kind, double a, double b)
{
    if (strncmp(kind, "abs", 3) == 0)
        b = fabs(b);
    if (strstr(kind, "sum"))
        return a + b;
    if (strstr(kind, "max"))
        return a > b ? a : b;
    if (strstr(kind, "min"))
        return a < b ? a : b;
    int64_t x = (int64_t)a, y = (int64_t)b;
    return (double)(strcmp(kind, "bitand") == 0 ? x & y : strcmp(kind, "bitor") == 0 ? x | y : x ^ y);
}

static double first(const char *kind)
{
    return strcmp(kind, "max") == 0 ? -INFINITY : strcmp(kind, "min") == 0 ? INFINITY
         : strcmp(kind, "bitand") == 0 ? -1 : 0;
}

typedef struct {
    const char *kind;
    DType in, out;
    int64_t shape[3];
    int dim;
    bool keep, clear;
    double slack;
} Case;

static void reduce_run(const Case *c, bool lowered)
{
    Kit *t = kit_new(1, 1);
    int d = c->dim < 0 ? c->dim + 3 : c->dim;
    int64_t n = c->shape[0] * c->shape[1] * c->shape[2], out_shape[3], nout = n / c->shape[d];
    int rank = 0;
    for (int i = 0; i < 3; i++)
        if (i != d || c->keep)
            out_shape[rank++] = i == d ? 1 : c->shape[i];
    void *a = kit_data(t, c->in, n, 11), *b = kit_data(t, c->out, nout, 12);
    void *old = kit_data(t, c->out, nout, 12);
    Buffer *A = kit_tensor(t, "A", c->in, 3, c->shape, a);
    Buffer *B = kit_tensor(t, "B", c->out, rank, out_shape, b);
    Buffer *As = kit_tile(t, "A_s", c->in, MEM_FRAGMENT, 3, c->shape);
    Buffer *Bs = kit_tile(t, "B_s", c->out, MEM_FRAGMENT, rank, out_shape);
    kit_copy(t, kit_whole(t, A), kit_whole(t, As));
    if (!c->clear)
        kit_copy(t, kit_whole(t, B), kit_whole(t, Bs));
    Region r[2] = {kit_whole(t, As), kit_whole(t, Bs)};
    const Expr *arg[4] = {kit_int(t, c->dim), expr_bool(t->ir, c->clear), NULL, NULL};
    kit_add(t, kit_op(t, &op_reduce, 2, r, 4, arg, c->kind));
    kit_copy(t, kit_whole(t, Bs), kit_whole(t, B));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);

    int64_t before = d > 0 ? c->shape[0] * (d > 1 ? c->shape[1] : 1) : 1;
    int64_t after = n / before / c->shape[d];
    for (int64_t i = 0; i < before; i++)
        for (int64_t j = 0; j < after; j++) {
            double want = first(c->kind);
            for (int64_t k = 0; k < c->shape[d]; k++)
                want = combine(c->kind, want, kit_get(c->in, a, (i * c->shape[d] + k) * after + j));
            if (!c->clear) {
                double was = kit_get(c->out, old, i * after + j);
                want = strncmp(c->kind, "abs", 3) == 0 && strstr(c->kind, "max") ? fmax(was, want)
                     : strcmp(c->kind, "abssum") == 0 ? was + want : combine(c->kind, want, was);
            }
            CHECK_NEAR(kit_get(c->out, b, i * after + j), want, c->slack * (1 + fabs(want)));
        }
}

static void reduce_case(Case c)
{
    for (int dim = -1; dim < 3; dim++)
        for (int flags = 0; flags < 4; flags++) {
            c.dim = dim;
            c.keep = flags & 1;
            c.clear = !(flags & 2);
            reduce_run(&c, false);
            reduce_run(&c, true);
        }
}

TEST(sums)
{
    reduce_case((Case){"sum", DT_F32, DT_F32, {3, 5, 17}, 0, 0, 0, 1e-5});
    reduce_case((Case){"sum", DT_F16, DT_F16, {3, 5, 17}, 0, 0, 0, 2e-3});
    reduce_case((Case){"sum", DT_F16, DT_F32, {2, 4, 8}, 0, 0, 0, 1e-5});
    reduce_case((Case){"sum", DT_I32, DT_I32, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"sum", DT_I8, DT_I64, {3, 5, 7}, 0, 0, 0, 0});
}

TEST(extremes)
{
    reduce_case((Case){"max", DT_F32, DT_F32, {3, 5, 17}, 0, 0, 0, 0});
    reduce_case((Case){"min", DT_BF16, DT_BF16, {3, 5, 17}, 0, 0, 0, 0});
    reduce_case((Case){"max", DT_I32, DT_I32, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"min", DT_U8, DT_U8, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"max", DT_E4M3, DT_E4M3, {3, 5, 7}, 0, 0, 0, 0});
}

TEST(absolute_values)
{
    reduce_case((Case){"absmax", DT_F32, DT_F32, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"abssum", DT_F32, DT_F32, {3, 5, 7}, 0, 0, 0, 1e-5});
    reduce_case((Case){"absmax", DT_I32, DT_I32, {3, 5, 7}, 0, 0, 0, 0});
}

TEST(bits)
{
    reduce_case((Case){"bitand", DT_I32, DT_I32, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"bitor", DT_I32, DT_I32, {3, 5, 7}, 0, 0, 0, 0});
    reduce_case((Case){"bitxor", DT_I16, DT_I16, {3, 5, 7}, 0, 0, 0, 0});
}

/* Reduce one row of 4 by `kind`. */
static double reduce_row(const char *kind, const float *row, bool nan, DType type, bool lowered)
{
    Kit *t = kit_new(1, 1);
    float in[4], out[1] = {0};
    memcpy(in, row, sizeof in);
    Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(4), in);
    Buffer *B = kit_tensor(t, "B", DT_F32, SHAPE(1), out);
    Buffer *As = kit_tile(t, "A_s", type, MEM_FRAGMENT, SHAPE(4));
    Buffer *Bs = kit_tile(t, "B_s", type, MEM_FRAGMENT, SHAPE(1));
    kit_copy(t, kit_whole(t, A), kit_whole(t, As));
    Region r[2] = {kit_whole(t, As), kit_whole(t, Bs)};
    const Expr *arg[4] = {NULL, NULL, NULL, expr_bool(t->ir, nan)};
    kit_add(t, kit_op(t, &op_reduce, 2, r, 4, arg, kind));
    kit_copy(t, kit_whole(t, Bs), kit_whole(t, B));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);
    return (double)out[0];
}

TEST(rows_of_minus_infinity_and_nan)
{
    float none[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, some[4] = {1, NAN, 3, 2};
    for (int lowered = 0; lowered < 2; lowered++) {
        CHECK(reduce_row("max", none, false, DT_F32, lowered) == -INFINITY);
        CHECK(reduce_row("sum", none, false, DT_F32, lowered) == -INFINITY);
        CHECK_NEAR(reduce_row("max", some, false, DT_F32, lowered), 3, 0);
        CHECK_NEAR(reduce_row("min", some, false, DT_F16, lowered), 1, 0);
        CHECK(isnan(reduce_row("max", some, true, DT_F16, lowered)));
        CHECK(isnan(reduce_row("absmax", some, true, DT_F32, lowered)));
        CHECK(isnan(reduce_row("sum", some, false, DT_F32, lowered)));
    }
}

static const char *reduce_tag(DType type, const char *kind, int64_t dim, int64_t out)
{
    Kit *t = kit_new(1, 1);
    Buffer *A = kit_tile(t, "A", type, MEM_FRAGMENT, SHAPE(4, 6));
    Buffer *B = kit_tile(t, "B", type, MEM_FRAGMENT, 1, &out);
    Region r[2] = {kit_whole(t, A), kit_whole(t, B)};
    const Expr *arg = kit_int(t, dim);
    kit_add(t, kit_op(t, &op_reduce, 2, r, 1, &arg, kind));
    return kit_run(t);
}

TEST(wrong_reductions_are_refused)
{
    CHECK_TEXT(reduce_tag(DT_F32, "sum", 0, 4), "reduce-shape");
    CHECK_TEXT(reduce_tag(DT_F32, "sum", 2, 4), "reduce-dim");
    CHECK_TEXT(reduce_tag(DT_F32, "bitand", 1, 4), "reduce-dtype");
    CHECK_TEXT(reduce_tag(DT_F32, "median", 1, 4), "reduce-op");
    CHECK_TEXT(reduce_tag(DT_F32, "sum", 1, 4), "uninitialised");
}

TEST(reducer_counts_its_seed_and_each_iteration_once)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        float out[2];
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(2), out);
        Buffer *R = kit_tile(t, "R", DT_F32, MEM_REDUCER, SHAPE(2));
        Buffer *F = kit_tile(t, "F", DT_F32, MEM_FRAGMENT, SHAPE(2));
        R->reducer = "sum";
        Region whole = kit_whole(t, R), pair[2] = {kit_whole(t, R), kit_whole(t, F)};
        const Expr *seed = expr_float(t->ir, DT_F32, 100);
        kit_add(t, kit_op(t, &op_reducer_init, 1, &whole, 1, &seed, NULL));
        Var *i = var_new(t->ir, "i", DT_I32, NO_SPAN);
        const Expr *vi = expr_var(t->ir, i), *at = expr_floormod(t->ir, vi, kit_int(t, 2));
        Region one = kit_region(t, R, &at, (int64_t[]){1});
        const Expr *v = expr_cast(t->ir, DT_F32, vi);
        kit_add(t, stmt_for(t->ir, NO_SPAN, LOOP_PARALLEL, i, kit_int(t, 0), kit_int(t, 10), (Hints){0},
                            kit_op(t, &op_reducer_update, 1, &one, 1, &v, NULL)));
        kit_add(t, kit_op(t, &op_reducer_final, 2, pair, 0, NULL, NULL));
        kit_copy(t, kit_whole(t, F), kit_whole(t, O));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        CHECK_NEAR(out[0], 120, 0);
        CHECK_NEAR(out[1], 125, 0);
    }
}

static int any_run(const char *kind, const int32_t *values, bool lowered)
{
    Kit *t = kit_new(1, 1);
    int32_t in[4], out[1] = {7};
    memcpy(in, values, sizeof in);
    Buffer *A = kit_tensor(t, "A", DT_I32, SHAPE(4), in), *O = kit_tensor(t, "O", DT_I32, SHAPE(1), out);
    Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(4));
    Buffer *V = kit_tile(t, "v", DT_BOOL, MEM_VAR, 0, NULL);
    kit_copy(t, kit_whole(t, A), kit_whole(t, S));
    Region r[2] = {kit_whole(t, S), kit_whole(t, V)};
    kit_add(t, kit_op(t, &op_any_of, 2, r, 0, NULL, kind));
    const Expr *zero = kit_int(t, 0), *v = expr_cast(t->ir, DT_I32, expr_load(t->ir, V, NULL, 0));
    kit_add(t, stmt_store(t->ir, NO_SPAN, O, &zero, 1, v));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);
    return out[0];
}

TEST(any_and_all)
{
    int32_t none[4] = {0}, some[4] = {0, 0, 3, 0}, every[4] = {1, -1, 2, 5};
    for (int lowered = 0; lowered < 2; lowered++) {
        CHECK_INT(any_run("any", none, lowered), 0);
        CHECK_INT(any_run("any", some, lowered), 1);
        CHECK_INT(any_run("all", some, lowered), 0);
        CHECK_INT(any_run("all", every, lowered), 1);
    }
}
