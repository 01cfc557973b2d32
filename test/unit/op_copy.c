/* op_copy.c -- T.copy and T.fill: conversion, ragged edges, safe values, ranks that differ. */
#include "tile_kit.h"

#include <math.h>

/* global -> shared -> global through tiles of (bm, bn), every element converted twice. */
static void copy_run(DType from, DType via, DType to, int64_t m, int64_t n, int64_t bm, int64_t bn,
                     bool lowered)
{
    Kit *t = kit_new((int)((n + bn - 1) / bn), (int)((m + bm - 1) / bm));
    void *a = kit_data(t, from, m * n, 7), *b = kit_data(t, to, m * n, 8);
    Buffer *A = kit_tensor(t, "A", from, 2, (int64_t[]){m, n}, a);
    Buffer *B = kit_tensor(t, "B", to, 2, (int64_t[]){m, n}, b);
    Buffer *S = kit_tile(t, "S", via, MEM_SHARED, 2, (int64_t[]){bm, bn});
    const Expr *by = kit_block(t, 1), *bx = kit_block(t, 0);
    kit_copy(t, kit_tile_at(t, A, by, bx, bm, bn), kit_whole(t, S));
    kit_copy(t, kit_whole(t, S), kit_tile_at(t, B, by, bx, bm, bn));
    if (lowered)
        kit_lower(t);
    kit_must_run(t);
    for (int64_t i = 0; i < m * n; i++) {
        Value1 v = {0};
        num_load(from, a, i, &v.f, &v.i);
        v = value_cast(via, to, value_cast(from, via, v));
        CHECK_NEAR(kit_get(to, b, i), dtype_is_float(to) ? v.f : (double)v.i, 0);
    }
}

static void copy_case(DType from, DType via, DType to, int64_t m, int64_t n, int64_t bm, int64_t bn)
{
    copy_run(from, via, to, m, n, bm, bn, false);
    copy_run(from, via, to, m, n, bm, bn, true);
}

TEST(even_tiles)
{
    copy_case(DT_F32, DT_F32, DT_F32, 32, 64, 16, 32);
}

TEST(ragged_tiles)
{
    copy_case(DT_F32, DT_F32, DT_F32, 33, 65, 16, 32);
    copy_case(DT_F32, DT_F32, DT_F32, 1, 3, 16, 32);
}

TEST(converts_types)
{
    copy_case(DT_F32, DT_F16, DT_F32, 17, 19, 8, 8);
    copy_case(DT_F32, DT_BF16, DT_F16, 17, 19, 8, 8);
    copy_case(DT_F32, DT_E4M3, DT_F32, 17, 19, 8, 8);
    copy_case(DT_F16, DT_E5M2, DT_BF16, 17, 19, 8, 8);
    copy_case(DT_I32, DT_I8, DT_I64, 17, 19, 8, 8);
    copy_case(DT_F32, DT_I8, DT_F32, 17, 19, 8, 8);
    copy_case(DT_I32, DT_F16, DT_I32, 17, 19, 8, 8);
    copy_case(DT_U8, DT_BOOL, DT_U8, 17, 19, 8, 8);
}

TEST(four_bit_elements)
{
    copy_case(DT_I4, DT_I8, DT_I4, 16, 32, 8, 16);
    copy_case(DT_E2M1, DT_F32, DT_E2M1, 16, 32, 8, 16);
}

TEST(outside_the_source_reads_zero)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        float a[6] = {1, 2, 3, 4, 5, 6}, out[16];
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(2, 3), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(4, 4), out);
        Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(4, 4));
        const Expr *at[2] = {kit_int(t, -1), kit_int(t, 1)};
        kit_copy(t, kit_region(t, A, at, (int64_t[]){4, 4}), kit_whole(t, S));
        kit_copy(t, kit_whole(t, S), kit_whole(t, O));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        float want[16] = {0, 0, 0, 0, 2, 3, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0};
        for (int i = 0; i < 16; i++)
            CHECK_NEAR(out[i], want[i], 0);
    }
}

TEST(safe_value_takes_the_type_of_the_destination)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        float a[3] = {1, 2, 3};
        int32_t out[5];
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(3), a);
        Buffer *O = kit_tensor(t, "O", DT_I32, SHAPE(5), out);
        Buffer *S = kit_tile(t, "S", DT_I32, MEM_SHARED, SHAPE(5));
        buffer_plan(t->k, A)->safe = expr_float(t->ir, DT_F32, -7.9);
        const Expr *zero = kit_int(t, 0);
        kit_copy(t, kit_region(t, A, &zero, (int64_t[]){5}), kit_whole(t, S));
        kit_copy(t, kit_whole(t, S), kit_whole(t, O));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        int32_t want[5] = {1, 2, 3, -7, -7};
        for (int i = 0; i < 5; i++)
            CHECK_INT(out[i], want[i]);
    }
}

TEST(fixed_dimension_outside_reads_zero)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(3, 1);
        float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[12];
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(2, 4), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(3, 4), out);
        Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(4));
        const Expr *at[2] = {kit_block(t, 0), kit_int(t, 0)};
        kit_copy(t, kit_region(t, A, at, (int64_t[]){1, 4}), kit_whole(t, S));
        kit_copy(t, kit_whole(t, S), kit_region(t, O, at, (int64_t[]){1, 4}));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        for (int i = 0; i < 12; i++)
            CHECK_NEAR(out[i], i < 8 ? i + 1 : 0, 0);
    }
}

TEST(between_tensors_both_sides_are_clipped)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        float a[3] = {1, 2, 3}, out[4] = {9, 9, 9, 9};
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(3), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(4), out);
        const Expr *zero = kit_int(t, 0), *one = kit_int(t, 1);
        kit_copy(t, kit_region(t, A, &one, (int64_t[]){6}), kit_region(t, O, &zero, (int64_t[]){6}));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        float want[4] = {2, 3, 0, 0};
        for (int i = 0; i < 4; i++)
            CHECK_NEAR(out[i], want[i], 0);
    }
}

TEST(ranks_may_differ)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(2, 1);
        float a[24], out[24];
        for (int i = 0; i < 24; i++)
            a[i] = (float)i;
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(3, 2, 4), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(2, 3, 4), out);
        Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(3, 4));
        const Expr *zero = kit_int(t, 0), *b = kit_block(t, 0);
        kit_copy(t, kit_region(t, A, (const Expr *[]){zero, b, zero}, (int64_t[]){3, 1, 4}), kit_whole(t, S));
        kit_copy(t, kit_whole(t, S), kit_region(t, O, (const Expr *[]){b, zero, zero}, (int64_t[]){1, 3, 4}));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        for (int x = 0; x < 2; x++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 4; j++)
                    CHECK_NEAR(out[(x * 3 + i) * 4 + j], a[(i * 2 + x) * 4 + j], 0);
    }
}

TEST(wrong_shapes_are_refused)
{
    Kit *t = kit_new(1, 1);
    Buffer *A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4, 4));
    Buffer *B = kit_tile(t, "B", DT_F32, MEM_SHARED, SHAPE(4, 5));
    kit_copy(t, kit_whole(t, A), kit_whole(t, B));
    CHECK_TEXT(kit_run(t), "copy-shape");
    t = kit_new(1, 1);
    A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4, 4));
    B = kit_tile(t, "B", DT_F32, MEM_SHARED, SHAPE(4));
    kit_copy(t, kit_whole(t, A), kit_whole(t, B));
    CHECK_TEXT(kit_run(t), "copy-shape");
    t = kit_new(1, 1);
    A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4));
    B = kit_tile(t, "B", DT_U64, MEM_BARRIER, SHAPE(4));
    kit_copy(t, kit_whole(t, A), kit_whole(t, B));
    CHECK_TEXT(kit_run(t), "copy-scope");
}

TEST(a_region_past_its_tile_is_reported)
{
    Kit *t = kit_new(1, 1);
    float out[8];
    Buffer *A = kit_tile(t, "A", DT_F32, MEM_SHARED, SHAPE(4));
    Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(8), out);
    kit_fill(t, A, expr_float(t->ir, DT_F32, 1));
    const Expr *at = expr_add(t->ir, kit_block(t, 0), kit_int(t, 2)), *zero = kit_int(t, 0);
    kit_copy(t, kit_region(t, A, &at, (int64_t[]){4}), kit_region(t, O, &zero, (int64_t[]){4}));
    CHECK_TEXT(kit_run(t), "out-of-bounds");
}

TEST(fill_casts_and_drops_what_is_outside)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        int8_t out[4] = {0};
        Buffer *O = kit_tensor(t, "O", DT_I8, SHAPE(4), out);
        const Expr *at = kit_int(t, 2), *v = expr_float(t->ir, DT_F32, -3.7);
        Region r = kit_region(t, O, &at, (int64_t[]){5});
        kit_add(t, kit_op(t, &op_fill, 1, &r, 1, &v, NULL));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        CHECK_INT(out[1], 0);
        CHECK_INT(out[2], -3);
        CHECK_INT(out[3], -3);
    }
}

TEST(transpose_swaps)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(1, 1);
        float a[6] = {1, 2, 3, 4, 5, 6}, out[6];
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(2, 3), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(3, 2), out);
        Buffer *S = kit_tile(t, "S", DT_F32, MEM_SHARED, SHAPE(2, 3));
        Buffer *R = kit_tile(t, "R", DT_F16, MEM_SHARED, SHAPE(3, 2));
        kit_copy(t, kit_whole(t, A), kit_whole(t, S));
        Region r[2] = {kit_whole(t, S), kit_whole(t, R)};
        kit_add(t, kit_op(t, &op_transpose, 2, r, 0, NULL, NULL));
        kit_copy(t, kit_whole(t, R), kit_whole(t, O));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        float want[6] = {1, 4, 2, 5, 3, 6};
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(out[i], want[i], 0);
    }
}

TEST(im2col_pads_with_zero)
{
    enum { N = 2, H = 5, W = 4, C = 3, K = 3, S = 2, P = 1, OH = 3, OW = 2, ROWS = N * OH * OW, COLS = K * K * C };
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(2, 2);
        float *a = kit_data(t, DT_F32, N * H * W * C, 5), *out = kit_data(t, DT_F32, 16 * 32, 6);
        Buffer *A = kit_tensor(t, "A", DT_F32, SHAPE(N, H, W, C), a);
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(16, 32), out);
        Buffer *T = kit_tile(t, "T", DT_F32, MEM_SHARED, SHAPE(8, 16));
        const Expr *arg[6] = {kit_block(t, 1), kit_block(t, 0), kit_int(t, K), kit_int(t, S),
                              kit_int(t, 1), kit_int(t, P)};
        Region r[2] = {kit_whole(t, A), kit_whole(t, T)};
        kit_add(t, kit_op(t, &op_im2col, 2, r, 6, arg, NULL));
        kit_copy(t, kit_whole(t, T), kit_tile_at(t, O, kit_block(t, 1), kit_block(t, 0), 8, 16));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 32; j++) {
                int n = i / (OH * OW), oh = i / OW % OH, ow = i % OW, c = j % C, kw = j / C % K, kh = j / C / K;
                int y = oh * S + kh - P, x = ow * S + kw - P;
                bool in = i < ROWS && j < COLS && y >= 0 && y < H && x >= 0 && x < W;
                CHECK_NEAR(out[i * 32 + j], in ? a[((n * H + y) * W + x) * C + c] : 0, 0);
            }
    }
}

TEST(atomics_combine_tiles)
{
    for (int lowered = 0; lowered < 2; lowered++) {
        Kit *t = kit_new(3, 1);
        float out[5] = {1, 1, 1, 1, 1};
        int32_t top[4] = {0, 5, -5, 2};
        Buffer *O = kit_tensor(t, "O", DT_F32, SHAPE(5), out);
        Buffer *M = kit_tensor(t, "M", DT_I32, SHAPE(4), top);
        Buffer *S = kit_tile(t, "S", DT_F16, MEM_SHARED, SHAPE(8));
        kit_fill(t, S, expr_float(t->ir, DT_F32, 0.5));
        const Expr *zero = kit_int(t, 0), *two = kit_int(t, 2);
        Region add[2] = {kit_whole(t, S), kit_region(t, O, &zero, (int64_t[]){8})};
        Region max = kit_whole(t, M);
        kit_add(t, kit_op(t, &op_atomic, 2, add, 0, NULL, "add"));
        kit_add(t, kit_op(t, &op_atomic, 1, &max, 1, &two, "max"));
        if (lowered)
            kit_lower(t);
        kit_must_run(t);
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(out[i], 2.5, 0);
        int32_t want[4] = {2, 5, 2, 2};
        for (int i = 0; i < 4; i++)
            CHECK_INT(top[i], want[i]);
    }
}
