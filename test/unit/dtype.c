/* dtype.c -- names, sizes, limits and promotion of number types. */
#include "ir/ir.h"
#include "test.h"

TEST(every_name_parses_to_itself)
{
    for (int i = 0; i < DT_COUNT; i++) {
        DType t;
        int lanes;
        CHECK(dtype_parse(dtype_table[i].name, &t, &lanes));
        CHECK_INT(t, i);
        CHECK_INT(lanes, 1);
    }
}

TEST(aliases_and_lanes)
{
    DType t;
    int lanes;
    CHECK(dtype_parse("half", &t, &lanes) && t == DT_F16);
    CHECK(dtype_parse("float", &t, &lanes) && t == DT_F32);
    CHECK(dtype_parse("long", &t, &lanes) && t == DT_I64);
    CHECK(dtype_parse("e4m3", &t, &lanes) && t == DT_E4M3);
    CHECK(dtype_parse("float16x2", &t, &lanes) && t == DT_F16 && lanes == 2);
    CHECK(dtype_parse("float8_e5m2x16", &t, &lanes) && t == DT_E5M2 && lanes == 16);
    CHECK(!dtype_parse("float16x2", &t, NULL));
    CHECK(!dtype_parse("float17", &t, &lanes));
    CHECK(!dtype_parse("x2", &t, &lanes));
    CHECK(!dtype_parse("", &t, &lanes));
    CHECK(!dtype_parse("float16x0", &t, &lanes));
}

TEST(limits)
{
    CHECK_INT(dtype_int_max(DT_I8), 127);
    CHECK_INT(dtype_int_min(DT_I8), -128);
    CHECK_INT(dtype_int_max(DT_U4), 15);
    CHECK_INT(dtype_int_min(DT_U64), 0);
    CHECK(dtype_int_max(DT_I64) == INT64_MAX && dtype_int_min(DT_I64) == INT64_MIN);
    CHECK((uint64_t)dtype_int_max(DT_U64) == UINT64_MAX);
    CHECK(dtype_max(DT_F16) == 65504 && dtype_min(DT_F16) == -65504);
    CHECK(dtype_max(DT_E4M3) == 448 && dtype_max(DT_E5M2) == 57344);
    CHECK(dtype_max(DT_E4M3FNUZ) == 240 && dtype_max(DT_E5M2FNUZ) == 57344);
    CHECK(dtype_max(DT_E4M3B11) == 30 && dtype_max(DT_E3M4) == 15.5);
    CHECK(dtype_max(DT_E2M3) == 7.5 && dtype_max(DT_E3M2) == 28 && dtype_max(DT_E2M1) == 6);
}

TEST(packed_sizes_round_up)
{
    CHECK_INT(dtype_bytes(DT_E2M1, 5), 3);
    CHECK_INT(dtype_bytes(DT_I4, 4), 2);
    CHECK_INT(dtype_bytes(DT_F16, 5), 10);
    CHECK_INT(dtype_bytes(DT_E2M3, 5), 5);
}

TEST(promotion_is_symmetric)
{
    for (int a = 0; a < DT_COUNT; a++)
        for (int b = 0; b < DT_COUNT; b++)
            CHECK_INT(dtype_join((DType)a, (DType)b), dtype_join((DType)b, (DType)a));
    CHECK_INT(dtype_join(DT_I32, DT_I64), DT_I64);
    CHECK_INT(dtype_join(DT_I32, DT_U32), DT_U32);
    CHECK_INT(dtype_join(DT_I64, DT_F16), DT_F16);
    CHECK_INT(dtype_join(DT_F16, DT_BF16), DT_F32);
    CHECK_INT(dtype_join(DT_E4M3, DT_E5M2), DT_F32);
    CHECK_INT(dtype_join(DT_BOOL, DT_I8), DT_I8);
}
