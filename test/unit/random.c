/* random.c -- seeded contents: the same everywhere, normal, independent of threads. */
#include <math.h>
#include "rt/rt.h"
#include "test.h"

enum { N = 200000 };
static float big[N], other[N];

/* These bits were computed once; a machine that gives others has a fault. */
TEST(the_first_numbers_never_change)
{
    float x[4];
    char hex[33];

    random_fill(NULL, DT_F32, x, 4, 1);
    CHECK(fabs(x[0]) < 6 && x[0] != x[1] && x[1] != x[2]);
    random_fill(NULL, DT_F32, big, N, 42);
    hash_hex(big, sizeof big, hex);
    CHECK_TEXT(hex, "c3a5045d85705521b28160e07f49ce67");
}

TEST(seeds_differ_and_repeat)
{
    random_fill(NULL, DT_F32, big, N, 7);
    random_fill(NULL, DT_F32, other, N, 7);
    CHECK(memcmp(big, other, sizeof big) == 0);
    random_fill(NULL, DT_F32, other, N, 8);
    CHECK(memcmp(big, other, sizeof big) != 0);
}

TEST(threads_do_not_matter)
{
    Pool *p = pool_new(4);

    random_fill(NULL, DT_F32, big, N, 3);
    random_fill(p, DT_F32, other, N, 3);
    CHECK(memcmp(big, other, sizeof big) == 0);
    pool_free(p);
}

TEST(moments_are_those_of_a_normal)
{
    double sum = 0, square = 0, cube = 0, fourth = 0;
    int beyond2 = 0;

    random_fill(NULL, DT_F32, big, N, 5);
    for (int i = 0; i < N; i++) {
        double v = big[i];
        sum += v;
        square += v * v;
        cube += v * v * v;
        fourth += v * v * v * v;
        beyond2 += fabs(v) > 1.959964;
    }
    CHECK_NEAR(sum / N, 0, 0.01);
    CHECK_NEAR(square / N, 1, 0.015);
    CHECK_NEAR(cube / N, 0, 0.03);
    CHECK_NEAR(fourth / N, 3, 0.1);
    CHECK_NEAR((double)beyond2 / N, 0.05, 0.003);
}

TEST(integers_are_small)
{
    int8_t x[1000];
    uint8_t u[1000];
    bool low = false, high = false;

    random_fill(NULL, DT_I8, x, 1000, 1);
    random_fill(NULL, DT_U8, u, 1000, 1);
    for (int i = 0; i < 1000; i++) {
        CHECK(x[i] >= -4 && x[i] <= 4 && u[i] <= 8);
        low |= x[i] == -4;
        high |= x[i] == 4;
    }
    CHECK(low && high);
}

TEST(narrow_floats_are_the_normal_rounded)
{
    uint16_t half[100];
    float full[100];

    random_fill(NULL, DT_F16, half, 100, 9);
    random_fill(NULL, DT_F32, full, 100, 9);
    for (int i = 0; i < 100; i++)
        CHECK_NEAR(num_decode(DT_F16, half[i]), full[i], fabs(full[i]) * 0.001);
}

/* ---- compare.c ------------------------------------------------------------------------------- */

TEST(comparison_counts_what_is_out_of_tolerance)
{
    float x[4] = {1, 2, 3, 4}, y[4] = {1, 2.5f, 3, 4.00001f};
    Difference d;

    compare_arrays(DT_F32, x, y, 4, 1e-3, 1e-3, &d);
    CHECK_INT(d.nwrong, 1);
    CHECK_INT(d.first_wrong, 1);
    CHECK_NEAR(d.max_abs, 0.5, 1e-6);
    CHECK_NEAR(d.max_rel, 0.2, 1e-6);
}

TEST(nan_and_inf_must_agree)
{
    float x[3] = {NAN, INFINITY, 1}, y[3] = {NAN, INFINITY, NAN}, z[3] = {NAN, -INFINITY, 1};
    Difference d;

    compare_arrays(DT_F32, x, x, 3, 0, 0, &d);
    CHECK_INT(d.nwrong, 0);
    compare_arrays(DT_F32, x, y, 3, 10, 10, &d);
    CHECK_INT(d.nwrong, 1);
    CHECK(isinf(d.max_abs));
    compare_arrays(DT_F32, x, z, 3, 1e30, 10, &d);
    CHECK_INT(d.nwrong, 1);
}

TEST(integers_are_exact)
{
    int32_t x[2] = {1, 2}, y[2] = {1, 3};
    Difference d;

    compare_arrays(DT_I32, x, y, 2, 0, dtype_tolerance(DT_I32), &d);
    CHECK_INT(d.nwrong, 1);
    CHECK(dtype_tolerance(DT_I32) == 0);
    CHECK(dtype_tolerance(DT_BF16) > dtype_tolerance(DT_F16));
}
