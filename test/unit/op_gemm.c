/* op_gemm.c -- T.gemm against a triple loop, as written and lowered. */
#include "tile_kit.h"

#include <math.h>

typedef struct {
    int64_t m, n, k;      /* of the problem */
    int64_t bm, bn, bk;   /* of a tile */
    DType in, acc, out;
    bool ta, tb;
    double slack;
} Case;

/* C = op(A) op(B), tiled, ragged edges and all. */
static void gemm_run(const Case *c, bool lowered)
{
    Kit *t = kit_new((int)((c->n + c->bn - 1) / c->bn), (int)((c->m + c->bm - 1) / c->bm));
    int64_t as[2] = {c->ta ? c->k : c->m, c->ta ? c->m : c->k};
    int64_t bs[2] = {c->tb ? c->n : c->k, c->tb ? c->k : c->n};
    void *a = kit_data(t, c->in, c->m * c->k, 1), *b = kit_data(t, c->in, c->k * c->n, 2);
    void *out = kit_data(t, c->out, c->m * c->n, 3);
    Buffer *A = kit_tensor(t, "A", c->in, 2, as, a), *B = kit_tensor(t, "B", c->in, 2, bs, b);
    Buffer *C = kit_tensor(t, "C", c->out, 2, (int64_t[]){c->m, c->n}, out);
    int64_t ash[2] = {c->ta ? c->bk : c->bm, c->ta ? c->bm : c->bk};
    int64_t bsh[2] = {c->tb ? c->bn : c->bk, c->tb ? c->bk : c->bn};
    Buffer *As = kit_tile(t, "A_s", c->in, MEM_SHARED, 2, ash);
    Buffer *Bs = kit_tile(t, "B_s", c->in, MEM_SHARED, 2, bsh);
    Buffer *Cl = kit_tile(t, "C_l", c->acc, MEM_FRAGMENT, 2, (int64_t[]){c->bm, c->bn});
    const Expr *by = kit_block(t, 1), *bx = kit_block(t, 0);
    kit_fill(t, Cl, expr_zero(t->ir, c->acc));

    Builder outer = t->body;
    build_open(&t->body, t->ir, NULL);
    Var *ko = var_new(t->ir, "ko", DT_I32, NO_SPAN);
    const Expr *k = expr_var(t->ir, ko);
    kit_copy(t, c->ta ? kit_tile_at(t, A, k, by, c->bk, c->bm) : kit_tile_at(t, A, by, k, c->bm, c->bk),
             kit_whole(t, As));
    kit_copy(t, c->tb ? kit_tile_at(t, B, bx, k, c->bn, c->bk) : kit_tile_at(t, B, k, bx, c->bk, c->bn),
             kit_whole(t, Bs));
    const Expr *arg[4] = {expr_bool(t->ir, c->ta), expr_bool(t->ir, c->tb), NULL, NULL};
    Region r[3] = {kit_whole(t, As), kit_whole(t, Bs), kit_whole(t, Cl)};
    kit_add(t, kit_op(t, &op_gemm, 3, r, 4, arg, NULL));
    const Stmt *body = build_close(&t->body, NO_SPAN);
    t->body = outer;
    kit_add(t, stmt_for(t->ir, NO_SPAN, LOOP_PIPELINED, ko, kit_int(t, 0),
                        kit_int(t, (c->k + c->bk - 1) / c->bk), (Hints){0}, body));
    kit_copy(t, kit_whole(t, Cl), kit_tile_at(t, C, by, bx, c->bm, c->bn));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);

    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < c->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < c->k; l++)
                sum += kit_get(c->in, a, c->ta ? l * c->m + i : i * c->k + l) *
                       kit_get(c->in, b, c->tb ? j * c->k + l : l * c->n + j);
            CHECK_NEAR(kit_get(c->out, out, i * c->n + j), sum, c->slack * (1 + fabs(sum)));
        }
}

static void gemm_case(Case c)
{
    gemm_run(&c, false);
    gemm_run(&c, true);
}

TEST(f32_square)
{
    gemm_case((Case){32, 32, 32, 16, 16, 16, DT_F32, DT_F32, DT_F32, false, false, 1e-5});
}

TEST(f16_ragged)
{
    gemm_case((Case){37, 29, 19, 16, 16, 16, DT_F16, DT_F32, DT_F16, false, false, 2e-3});
}

TEST(bf16_transposed_operands)
{
    gemm_case((Case){24, 40, 33, 16, 16, 16, DT_BF16, DT_F32, DT_F32, false, true, 1e-5});
    gemm_case((Case){24, 40, 33, 16, 16, 16, DT_BF16, DT_F32, DT_F32, true, false, 1e-5});
    gemm_case((Case){24, 40, 33, 16, 16, 16, DT_BF16, DT_F32, DT_F32, true, true, 1e-5});
}

TEST(int8_is_exact)
{
    gemm_case((Case){20, 20, 50, 16, 16, 32, DT_I8, DT_I32, DT_I32, false, true, 0});
    gemm_case((Case){20, 20, 50, 16, 16, 32, DT_U8, DT_I32, DT_I32, false, false, 0});
}

TEST(fp8_operands)
{
    gemm_case((Case){16, 16, 32, 16, 16, 32, DT_E4M3, DT_F32, DT_F32, false, true, 1e-5});
    gemm_case((Case){16, 16, 32, 16, 16, 32, DT_E5M2, DT_F16, DT_F16, false, true, 1e-2});
}

TEST(f16_accumulator_rounds_once)
{
    gemm_case((Case){16, 16, 64, 16, 16, 64, DT_F16, DT_F16, DT_F32, false, false, 1e-3});
}

TEST(clear_accum_drops_the_old_value)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        Buffer *A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4, 4));
        Buffer *B = kit_tile(t, "B", DT_F32, MEM_SHARED, SHAPE(4, 4));
        Buffer *C = kit_tile(t, "C", DT_F32, MEM_FRAGMENT, SHAPE(4, 4));
        float *out = kit_data(t, DT_F32, 16, 1);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(4, 4), out);
        kit_fill(t, A, expr_float(t->ir, DT_F32, 2));
        kit_fill(t, B, expr_float(t->ir, DT_F32, 3));
        kit_fill(t, C, expr_float(t->ir, DT_F32, 100));
        Var *v = var_new(t->ir, "k", DT_I32, NO_SPAN);
        const Expr *first = expr_binary(t->ir, EX_EQ, expr_var(t->ir, v), kit_int(t, 0));
        const Expr *arg[4] = {NULL, NULL, first, NULL};
        Region r[3] = {kit_whole(t, A), kit_whole(t, B), kit_whole(t, C)};
        kit_add(t, stmt_for(t->ir, NO_SPAN, LOOP_SERIAL, v, kit_int(t, 0), kit_int(t, 3), (Hints){0},
                            kit_op(t, &op_gemm, 3, r, 4, arg, NULL)));
        kit_copy(t, kit_whole(t, C), kit_whole(t, O));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        for (int i = 0; i < 16; i++)
            CHECK_NEAR(out[i], 72, 0);
    }
}

static const char *gemm_tag(DType a, DType b, DType c, int64_t bk, MemScope scope)
{
    Kit *t = kit_new(1, 1);
    Region r[3] = {kit_whole(t, kit_tile(t, "A", a, MEM_SHARED, SHAPE(16, 32))),
                   kit_whole(t, kit_tile(t, "B", b, MEM_SHARED, 2, (int64_t[]){bk, 16})),
                   kit_whole(t, kit_tile(t, "C", c, scope, SHAPE(16, 16)))};
    kit_add(t, kit_op(t, &op_gemm, 3, r, 0, NULL, NULL));
    return kit_run(t);
}

TEST(wrong_operands_are_refused)
{
    CHECK_TEXT(gemm_tag(DT_F16, DT_F16, DT_F32, 64, MEM_FRAGMENT), "gemm-shape");
    CHECK_TEXT(gemm_tag(DT_F16, DT_BF16, DT_F32, 32, MEM_FRAGMENT), "gemm-dtype");
    CHECK_TEXT(gemm_tag(DT_F16, DT_F16, DT_I32, 32, MEM_FRAGMENT), "gemm-dtype");
    CHECK_TEXT(gemm_tag(DT_F16, DT_F16, DT_F32, 32, MEM_GLOBAL), "gemm-scope");
}

TEST(reading_an_accumulator_never_cleared_is_reported)
{
    CHECK_TEXT(gemm_tag(DT_F16, DT_F16, DT_F32, 32, MEM_FRAGMENT), "uninitialised");
}

TEST(flops_are_counted)
{
    Kit *t = kit_new(1, 1);
    Region r[3] = {kit_whole(t, kit_tile(t, "A", DT_F16, MEM_SHARED, SHAPE(16, 32))),
                   kit_whole(t, kit_tile(t, "B", DT_F16, MEM_SHARED, SHAPE(32, 8))),
                   kit_whole(t, kit_tile(t, "C", DT_F32, MEM_FRAGMENT, SHAPE(16, 8)))};
    CHECK_NEAR(op_gemm.flops(kit_op(t, &op_gemm, 3, r, 0, NULL, NULL)), 2.0 * 16 * 8 * 32, 0);
}
