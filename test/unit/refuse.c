/* refuse.c -- calls of the public functions that are refused, each with its tag. */
#include <stdlib.h>
#include "test.h"
#include "tilelang.h"

static const char scale[] =
    "import tilelang.language as T\n"
    "n = T.dynamic('n')\n"
    "@T.prim_func\n"
    "def scale(X: T.Tensor((n,), 'float32'), Y: T.Tensor((n,), 'float32')):\n"
    "    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:\n"
    "        for i in T.Parallel(64):\n"
    "            if bx * 64 + i < n:\n"
    "                Y[bx * 64 + i] = X[bx * 64 + i] * 2\n";

static tl_kernel *kernel(tl_context *c, bool build, const char *target)
{
    tl_options o = {.size = sizeof o, .no_build = !build, .target = target, .no_cache = true};
    tl_kernel *k = NULL;

    CHECK_INT(tl_compile(c, "scale.py", scale, &o, &k), TL_OK);
    return k;
}

TEST(neither_file_nor_text)
{
    tl_context *c = tl_open();
    tl_kernel *k;

    CHECK_INT(tl_compile(c, NULL, NULL, NULL, &k), TL_EUSER);
    CHECK_HAS(tl_message(c), "[no-source]");
    CHECK(k == NULL);
    tl_close(c);
}

TEST(running_what_was_not_built)
{
    tl_context *c = tl_open();
    tl_kernel *k = kernel(c, false, NULL);
    float x[4] = {0}, y[4] = {0};
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {4}, .data = x},
                         {.dtype = "float32", .rank = 1, .shape = {4}, .data = y}};

    CHECK_INT(tl_kernel_run(k, args, 2), TL_EUSER);
    CHECK_HAS(tl_message(c), "[not-built]");
    tl_kernel_free(k);
    tl_close(c);
}

TEST(a_dimension_that_is_no_number)
{
    tl_context *c = tl_open();
    tl_kernel *k = kernel(c, false, NULL);
    tl_define n = {"n", "many"};
    tl_tensor args[2] = {{0}};

    CHECK_INT(tl_kernel_solve(k, &n, 1, args, 2), TL_EUSER);
    CHECK_HAS(tl_message(c), "[dim-value]");
    tl_kernel_free(k);
    tl_close(c);
}

TEST(explaining_what_nobody_knows)
{
    tl_context *c = tl_open();
    const char *text;

    CHECK_INT(tl_explain(c, "xyzzy", &text), TL_EUSER);
    CHECK_HAS(tl_message(c), "[nothing-known]");
    tl_close(c);
}

TEST(a_bundle_of_the_null_target)
{
    tl_context *c = tl_open();
    tl_kernel *k = kernel(c, false, "null");

    CHECK_INT(tl_kernel_bundle(k, "/nowhere/at/all", NULL), TL_ETARGET);
    CHECK_HAS(tl_message(c), "[bundle-target]");
    tl_kernel_free(k);
    tl_close(c);
}

TEST(a_compiler_that_is_none)
{
    tl_context *c = tl_open();
    tl_options o = {.size = sizeof o, .no_cache = true};
    tl_kernel *k;

    setenv("CC", "false", 1);
    CHECK(tl_compile(c, "scale.py", scale, &o, &k) == TL_ETOOL);
    CHECK(tl_message(c)[0] != 0);
    tl_close(c);
}

TEST(code_the_compiler_refuses)
{
    static const char text[] = "import tilelang.language as T\n"
                               "@T.prim_func\n"
                               "def main(A: T.Tensor((4,), 'float32')):\n"
                               "    with T.Kernel(1, threads=1, prelude='this is no C') as bx:\n"
                               "        A[0] = 1\n";
    tl_context *c = tl_open();
    tl_options o = {.size = sizeof o, .no_cache = true};
    tl_kernel *k;

    CHECK_INT(tl_compile(c, "wrong.py", text, &o, &k), TL_ETOOL);
    CHECK_HAS(tl_message(c), "[compiler-failed]");
    tl_close(c);
}

/* ---- what a careless program does ------------------------------------------------------------ */

TEST(kernels_outlive_their_context)
{
    tl_context *c = tl_open();
    tl_kernel *k = kernel(c, true, "cpu"), *other = kernel(c, true, "cpu");
    float x[4] = {1, 2, 3, 4}, y[4] = {0}, z[4] = {0};
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {4}, .data = x},
                         {.dtype = "float32", .rank = 1, .shape = {4}, .data = y}};

    tl_close(c);
    CHECK_INT(tl_kernel_run(k, args, 2), TL_OK);
    CHECK(y[3] == 8);
    tl_kernel_free(k);
    args[1].data = z;
    CHECK_INT(tl_kernel_run(other, args, 2), TL_OK);
    CHECK(z[0] == 2);
    CHECK_INT(tl_kernel_simulate(other, args, 2, 0), TL_OK);
    CHECK_HAS(tl_kernel_text(other, TL_TEXT_SOURCE), "scale");
    args[0].dtype = "float16";
    CHECK_INT(tl_kernel_run(other, args, 2), TL_EUSER);
    tl_kernel_free(other);
}

TEST(arguments_that_are_no_tensors)
{
    static const struct {
        tl_tensor x;
        const char *tag;
    } cases[] = {
        {{.dtype = "float33", .rank = 1, .shape = {4}}, "[argument-dtype]"},
        {{.dtype = NULL, .rank = 1, .shape = {4}}, "[argument-dtype]"},
        {{.dtype = "float32", .rank = -1, .shape = {4}}, "[argument-rank]"},
        {{.dtype = "float32", .rank = 1000, .shape = {4}}, "[argument-rank]"},
        {{.dtype = "float32", .rank = 1, .shape = {-4}}, "["},
        {{.dtype = "float32", .rank = 1, .shape = {INT64_MAX}}, "["},
    };
    tl_context *c = tl_open();
    tl_kernel *k = kernel(c, true, "cpu");
    float x[4] = {0}, y[4] = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_tensor args[2] = {cases[i].x, {.dtype = "float32", .rank = 1, .shape = {4}, .data = y}};
        args[0].data = x;
        CHECK_INT(tl_kernel_run(k, args, 2), TL_EUSER);
        CHECK_HAS(tl_message(c), cases[i].tag);
        CHECK_INT(tl_kernel_simulate(k, args, 2, 0), TL_EUSER);
    }
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {4}, .data = NULL},
                         {.dtype = "float32", .rank = 1, .shape = {4}, .data = y}};
    CHECK_INT(tl_kernel_run(k, args, 2), TL_EUSER);
    CHECK_INT(tl_kernel_run(k, args, -1), TL_EUSER);
    CHECK_INT(tl_kernel_run(k, args, 1 << 30), TL_EUSER);
    tl_kernel_free(k);
    tl_close(c);
}
