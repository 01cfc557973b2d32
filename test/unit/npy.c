/* npy.c -- .npy files: what is written reads back; what is malformed is refused with a reason. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/cli.h"
#include "test.h"

static const char *scratch_path(Arena *a)
{
    return path_join(a, test_folder(), "a.npy");
}

static void put(Arena *a, const char *bytes, size_t n)
{
    const char *why = "";
    CHECK_INT(file_write(a, scratch_path(a), bytes, n, &why), STATUS_OK);
}

TEST(floats_come_back)
{
    Arena *a = arena_new();
    float data[6] = {1, -2, 3.5f, 0, 1e30f, -7};
    tl_tensor t = {.dtype = "float32", .rank = 2, .shape = {2, 3}, .data = data, .name = "x"}, u;
    const char *why = "";

    CHECK(npy_write(a, scratch_path(a), &t, &why));
    CHECK(npy_read(a, scratch_path(a), &u, &why));
    unlink(scratch_path(a));
    CHECK_TEXT(u.dtype, "float32");
    CHECK_INT(u.rank, 2);
    CHECK_INT(u.shape[0], 2);
    CHECK_INT(u.shape[1], 3);
    CHECK(memcmp(u.data, data, sizeof data) == 0);
    free(u.data);
    arena_free(a);
}

TEST(data_starts_at_a_multiple_of_64)
{
    Arena *a = arena_new();
    int8_t one = 5;
    tl_tensor t = {.dtype = "int8", .rank = 0, .data = &one, .name = "x"};
    const char *why = "";
    char *file;
    size_t n;

    CHECK(npy_write(a, scratch_path(a), &t, &why));
    CHECK_INT(file_read(a, scratch_path(a), &file, &n, &why), STATUS_OK);
    unlink(scratch_path(a));
    CHECK_INT(n % 64, 1);
    CHECK_INT(file[n - 1], 5);
    CHECK_HAS(file + 10, "'shape': ()");
    arena_free(a);
}

TEST(types_numpy_lacks_travel_as_unsigned)
{
    Arena *a = arena_new();
    uint16_t data[2] = {0x3f80, 0xbf80};
    tl_tensor t = {.dtype = "bfloat16", .rank = 1, .shape = {2}, .data = data, .name = "x"}, u;
    const char *why = "";

    CHECK(npy_write(a, scratch_path(a), &t, &why));
    CHECK(npy_read(a, scratch_path(a), &u, &why));
    unlink(scratch_path(a));
    CHECK_TEXT(u.dtype, "uint16");
    CHECK(npy_fits("uint16", "bfloat16"));
    CHECK(npy_fits("uint8", "float8_e4m3fn"));
    CHECK(!npy_fits("float32", "bfloat16"));
    CHECK(!npy_fits("uint16", "float16"));
    free(u.data);
    arena_free(a);
}

/* A version 2 header has a length of four bytes. */
TEST(version_2_is_read)
{
    Arena *a = arena_new();
    char file[256] = "\x93NUMPY\x02\x00";
    const char *head = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", *why = "";
    size_t n = strlen(head);
    tl_tensor t;

    file[8] = (char)n;
    memcpy(file + 12, head, n);
    memcpy(file + 12 + n, "\1\0\0\0\2\0\0\0", 8);
    put(a, file, 12 + n + 8);
    CHECK(npy_read(a, scratch_path(a), &t, &why));
    CHECK_TEXT(t.dtype, "int32");
    CHECK_INT(((int32_t *)t.data)[1], 2);
    free(t.data);
    unlink(scratch_path(a));
    arena_free(a);
}

static const char *refusal(Arena *a, const char *head, const char *data, size_t ndata)
{
    char file[512] = "\x93NUMPY\x01\x00";
    size_t n = strlen(head);
    const char *why = "";
    tl_tensor t;

    file[8] = (char)n;
    memcpy(file + 10, head, n);
    if (ndata)
        memcpy(file + 10 + n, data, ndata);
    put(a, file, 10 + n + ndata);
    CHECK(!npy_read(a, scratch_path(a), &t, &why));
    unlink(scratch_path(a));
    return why;
}

TEST(malformed_files_are_refused)
{
    Arena *a = arena_new();
    const char *why = "";
    tl_tensor t;

    put(a, "hello", 5);
    CHECK(!npy_read(a, scratch_path(a), &t, &why));
    CHECK_HAS(why, "not a .npy file");
    CHECK_HAS(
        refusal(a, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", "12345678", 8),
        "<c8");
    CHECK_HAS(refusal(a, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", "", 0),
              "Fortran");
    CHECK_HAS(refusal(a, "{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }\n", "1234", 4),
              "needs 36");
    CHECK_HAS(
        refusal(
            a,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,9999999999999), }\n",
            "1234", 4),
        "needs");
    CHECK_HAS(refusal(a, "{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }\n", "", 0),
              "malformed");
    arena_free(a);
}
