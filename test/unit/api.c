/* api.c -- the public functions: from text to results, faults with a status and a text. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "tilelang.h"
#include "base/base.h"
#include "test.h"

static const char axpy[] =
    "import tilelang.language as T\n"
    "n = T.dynamic('n')\n"
    "@T.prim_func\n"
    "def axpy(X: T.Tensor((n,), 'float32'), a: T.float32, Y: T.Tensor((n,), 'float32')):\n"
    "    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:\n"
    "        for i in T.Parallel(64):\n"
    "            if bx * 64 + i < n:\n"
    "                Y[bx * 64 + i] = X[bx * 64 + i] * a + Y[bx * 64 + i]\n";

static const char gemm[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def gemm(A: T.Tensor((32, 48), 'float32'), B: T.Tensor((48, 16), 'float32'),\n"
    "         C: T.Tensor((32, 16), 'float32')):\n"
    "    with T.Kernel(1, 2, threads=32) as (bx, by):\n"
    "        acc = T.alloc_fragment((16, 16), 'float32')\n"
    "        T.clear(acc)\n"
    "        for k in T.Pipelined(3, num_stages=2):\n"
    "            A_s = T.alloc_shared((16, 16), 'float32')\n"
    "            B_s = T.alloc_shared((16, 16), 'float32')\n"
    "            T.copy(A[by * 16, k * 16], A_s)\n"
    "            T.copy(B[k * 16, 0], B_s)\n"
    "            T.gemm(A_s, B_s, acc)\n"
    "        T.copy(acc, C[by * 16, 0])\n";

static const char *fresh_cache(void)
{
    setenv("TILELANG_CACHE_DIR", test_folder(), 1);
    return test_folder();
}

static tl_kernel *compiled(tl_context *c, const char *text)
{
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    o.threads = 2;
    if (tl_compile(c, "k.py", text, &o, &k) != TL_OK)
        test_text(__FILE__, __LINE__, tl_message(c), "", "compiles");
    return k;
}

static tl_tensor vector(float *data, int64_t n)
{
    return (tl_tensor){.dtype = "float32", .rank = 1, .shape = {n}, .data = data};
}

TEST(text_becomes_results)
{
    const char *root = fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, axpy);
    float x[100], y[100], a = 3;
    tl_tensor args[3] = {vector(x, 100), {.dtype = "float32", .data = &a}, vector(y, 100)};

    for (int i = 0; i < 100; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    CHECK_INT(tl_kernel_run(k, args, 3), TL_OK);
    for (int i = 0; i < 100; i++)
        CHECK_NEAR(y[i], 3.0 * i + 1, 1e-5);
    tl_kernel_free(k);
    k = compiled(c, axpy);
    CHECK(tl_kernel_from_cache(k));
    tl_kernel_free(k);
    tl_close(c);
    tree_remove(root);
}

/* Whatever is missing, a call says so. */
TEST(pointers_that_are_null)
{
    tl_context *c = tl_open();
    tl_kernel *k = NULL;
    tl_options o = {.size = sizeof o, .target = "cpu", .no_build = true};
    tl_tensor t = {.dtype = NULL}, odd = {.dtype = "float32", .rank = 99}, *none = NULL;
    tl_define d = {NULL, NULL};
    const char *text;
    tl_difference diff;

    fresh_cache();
    CHECK(tl_compile(NULL, "x.py", axpy, &o, &k) == TL_EUSER);
    CHECK(tl_compile(c, NULL, NULL, &o, &k) == TL_EUSER);
    CHECK(tl_compile(c, "x.py", axpy, &o, NULL) == TL_EUSER);
    CHECK(strstr(tl_message(c), "[argument-null]") != NULL);
    CHECK(tl_compile(c, "x.py", axpy, &o, &k) == TL_OK);
    CHECK(tl_kernel_run(NULL, &t, 1) == TL_EUSER && tl_kernel_run(k, none, 3) == TL_EUSER);
    CHECK(tl_kernel_simulate(k, none, 3, 0) == TL_EUSER);
    CHECK(tl_kernel_launch(NULL, &t, 1, NULL) == TL_EUSER);
    CHECK(tl_kernel_solve(k, &d, 1, &t, 1) == TL_EUSER);
    CHECK(tl_kernel_layout(k, NULL, false, &text) == TL_EUSER);
    CHECK(tl_kernel_bundle(k, NULL, NULL) == TL_EUSER);
    tl_bundle_part part = {.kernel = k, .tuned = "{"};
    CHECK(tl_bundle_write(&part, 0, NULL, "x") == TL_EUSER);
    CHECK(tl_bundle_write(&part, 1, NULL, test_folder()) == TL_EUSER);
    CHECK_HAS(tl_message(c), "[bundle-tuned]");
    CHECK(tl_bundle_check(c, NULL, NULL, &text) == TL_EUSER);
    CHECK(tl_compare(c, NULL, &t, 0, 0, &diff) == TL_EUSER);
    CHECK(tl_compare(c, &odd, &odd, 0, 0, &diff) == TL_EUSER);
    CHECK(tl_fill_random(c, &odd, 1) == TL_EUSER && tl_fill_random(c, NULL, 1) == TL_EUSER);
    CHECK(tl_explain(c, NULL, &text) == TL_EUSER && tl_list(NULL, "x", &text) == TL_EUSER);
    CHECK(tl_kernel_nparam(NULL) == 0 && tl_kernel_param(NULL, 0).name == NULL);
    CHECK(tl_kernel_flops(NULL, none, 0) == 0 && tl_value_at(NULL, 0) == 0);
    CHECK(tl_tolerance(NULL) == 0 && tl_kernel_tolerance(k, NULL) == 0);
    CHECK(!strcmp(tl_message(NULL), "") && !strcmp(tl_targets(NULL), ""));
    tl_kernel_free(NULL);
    tl_kernel_free(k);
    tl_close(c);
}

TEST(parameters_are_told)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, axpy);

    CHECK_TEXT(tl_kernel_name(k), "axpy");
    CHECK_INT(tl_kernel_nparam(k), 3);
    tl_param x = tl_kernel_param(k, 0), a = tl_kernel_param(k, 1), y = tl_kernel_param(k, 2);
    CHECK_TEXT(x.name, "X");
    CHECK_INT(x.shape[0], -1);
    CHECK(x.is_read && !x.is_written && !x.is_scalar);
    CHECK(a.is_scalar);
    CHECK(y.is_read && y.is_written);
    CHECK_INT(tl_kernel_ndim(k), 1);
    CHECK_TEXT(tl_kernel_dim(k, 0), "n");
    CHECK(tl_kernel_param(k, 9).name == NULL);
    tl_kernel_free(k);
    tl_close(c);
}

TEST(faults_have_a_status_and_a_text)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    float x[4] = {0}, a = 1;
    int32_t wrong[4];
    tl_tensor args[3] = {vector(x, 4), {.dtype = "float32", .data = &a}, vector(x, 5)};

    CHECK_INT(tl_compile(c, "k.py", "def f(:\n", &o, &k), TL_EUSER);
    CHECK(k == NULL);
    CHECK_HAS(tl_message(c), "k.py:1:");
    CHECK_INT(tl_compile(c, "/nowhere/k.py", NULL, &o, &k), TL_EUSER);
    CHECK_HAS(tl_message(c), "/nowhere/k.py");
    o.target = "toaster";
    CHECK_INT(tl_compile(c, "k.py", axpy, &o, &k), TL_ETARGET);
    o.target = NULL;

    k = compiled(c, axpy);
    CHECK_INT(tl_kernel_run(k, args, 2), TL_EUSER);
    CHECK_HAS(tl_message(c), "[argument-count]");
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c),
              "argument 'Y': dimension 0 is 5; the kernel takes 4 (= n) [argument-shape]");
    args[2] = (tl_tensor){.dtype = "int32", .rank = 1, .shape = {4}, .data = wrong};
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "[argument-dtype]");
    args[2].dtype = "float33";
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "float33");
    args[2] = vector(x, 4);
    args[1].rank = 1;
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "argument 'a' is a scalar");
    args[1] = (tl_tensor){.dtype = "float32"};
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "[argument-null]");
    tl_kernel_free(k);
    tl_close(c);
}

/* Counts and arrays of a call that do not fit. */
TEST(options_and_counts_that_claim_too_much)
{
    tl_context *c = tl_open();
    tl_kernel *k = NULL;
    tl_define bare[1] = {{"n", NULL}};
    tl_tensor deep = {.dtype = "float32", .rank = 99, .name = "X"};
    tl_debugger mute = {.tile = true};
    double seconds;
    const tl_options wrong[] = {
        {.ndefine = 3},
        {.ndefine = -4},
        {.defines = bare, .ndefine = 1},
        {.nconfig = 1},
        {.configs = bare, .nconfig = 1},
        {.ninput = 2},
        {.ninput = -1},
        {.inputs = &deep, .ninput = 1},
        {.threads = -4},
    };

    fresh_cache();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tl_options o = wrong[i];
        o.size = sizeof o;
        o.target = "cpu";
        CHECK_INT(tl_compile(c, "x.py", axpy, &o, &k), TL_EUSER);
        CHECK_HAS(tl_message(c), "[argument-");
    }
    k = compiled(c, axpy);
    float x[4] = {1, 2, 3, 4}, y[4], a = 2;
    tl_tensor args[3] = {vector(x, 4), {.dtype = "float32", .data = &a}, vector(y, 4)};
    CHECK_INT(tl_kernel_time(k, args, 3, -1, 1, &seconds), TL_EUSER);
    CHECK_INT(tl_kernel_debug(k, args, 3, &mute), TL_EUSER);
    args[0].shape[0] = TL_ABSENT;
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "argument 'X' is absent, and 'axpy' reads it [argument-null]");
    args[0] = vector(x, 4);
    CHECK(tl_value_at(args, 3) == 4 && tl_value_at(args, 4) == 0 && tl_value_at(args, -1) == 0);
    CHECK(tl_dtype_bytes("float32", 3) == 12 && tl_dtype_bytes("float64", INT64_MAX) == -1);
    CHECK(tl_dtype_bytes("int8", -1) == -1 && tl_tolerance(NULL) == 0);
    tl_kernel_free(k);
    tl_close(c);
}

TEST(arguments_may_come_by_name)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, axpy);
    float x[3] = {1, 2, 3}, y[3] = {0}, a = 2;
    tl_tensor args[3] = {vector(y, 3), vector(x, 3), {.dtype = "float32", .data = &a}};

    args[0].name = "Y";
    args[1].name = "X";
    args[2].name = "a";
    CHECK_INT(tl_kernel_run(k, args, 3), TL_OK);
    CHECK_NEAR(y[2], 6, 0);
    args[0].name = "Z";
    CHECK_INT(tl_kernel_run(k, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "'Y'");
    tl_kernel_free(k);
    tl_close(c);
}

TEST(run_and_reference_agree)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, gemm);
    static float a[32 * 48], b[48 * 16], got[32 * 16], want[32 * 16];
    tl_tensor args[3] = {{.dtype = "float32", .rank = 2, .shape = {32, 48}, .data = a},
                         {.dtype = "float32", .rank = 2, .shape = {48, 16}, .data = b},
                         {.dtype = "float32", .rank = 2, .shape = {32, 16}, .data = got}};
    tl_difference d;

    CHECK_INT(tl_fill_random(c, &args[0], 1), TL_OK);
    CHECK_INT(tl_fill_random(c, &args[1], 2), TL_OK);
    CHECK_INT(tl_kernel_run(k, args, 3), TL_OK);
    tl_tensor out = args[2];
    args[2].data = want;
    CHECK_INT(tl_kernel_reference(k, args, 3), TL_OK);
    CHECK_INT(tl_compare(c, &out, &args[2], NAN, 1e-4, &d), TL_EUSER);
    CHECK_INT(tl_compare(c, &out, &args[2], 1e-4, -1, &d), TL_EUSER);
    CHECK_INT(tl_compare(c, &out, &args[2], 1e-4, 1e-4, &d), TL_OK);
    CHECK_INT(d.nwrong, 0);
    CHECK_INT(d.nelem, 512);
    CHECK_NEAR(tl_kernel_flops(k, args, 3), 2.0 * 32 * 16 * 48, 0);
    CHECK_NEAR(tl_kernel_bytes(k, args, 3), 4.0 * (32 * 48 + 48 * 16 + 32 * 16), 0);
    tl_kernel_free(k);
    tl_close(c);
}

TEST(shapes_are_solved)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, axpy);
    float a = 1, x[7];
    tl_tensor args[3] = {{0}, {.dtype = "float32", .data = &a}, {0}};
    tl_define n = {"n", "12"}, bad = {"n", "many"};

    CHECK_INT(tl_kernel_solve(k, NULL, 0, args, 3), TL_EUSER);
    CHECK_HAS(tl_message(c), "[dim-unsolved]");
    CHECK_INT(tl_kernel_solve(k, &bad, 1, args, 3), TL_EUSER);
    CHECK_INT(tl_kernel_solve(k, &n, 1, args, 3), TL_OK);
    CHECK_INT(args[0].shape[0], 12);
    CHECK_TEXT(args[2].dtype, "float32");
    args[0] = vector(x, 7);
    args[2] = (tl_tensor){0};
    CHECK_INT(tl_kernel_solve(k, NULL, 0, args, 3), TL_OK);
    CHECK_INT(args[2].shape[0], 7);
    tl_kernel_free(k);
    tl_close(c);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct {
    tl_kernel *k;
    float scale;
    int nbad;
} Runner;

static void *run_many(void *arg)
{
    Runner *r = arg;
    float x[500], y[500];
    tl_tensor args[3] = {vector(x, 500), {.dtype = "float32", .data = &r->scale}, vector(y, 500)};

    for (int turn = 0; turn < 50; turn++) {
        for (int i = 0; i < 500; i++) {
            x[i] = (float)i;
            y[i] = 0;
        }
        r->nbad += tl_kernel_run(r->k, args, 3) != TL_OK;
        for (int i = 0; i < 500; i++)
            r->nbad += y[i] != r->scale * (float)i;
    }
    return NULL;
}

TEST(one_kernel_runs_on_many_threads)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, axpy);
    Runner r[4];
    pthread_t t[4];

    for (int i = 0; i < 4; i++) {
        r[i] = (Runner){k, (float)(i + 1), 0};
        CHECK_INT(pthread_create(&t[i], NULL, run_many, &r[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        CHECK_INT(r[i].nbad, 0);
    }
    tl_kernel_free(k);
    tl_close(c);
}

static void *compile_alone(void *arg)
{
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    o.no_build = true;
    *(int *)arg = tl_compile(c, "k.py", gemm, &o, &k) == TL_OK;
    tl_kernel_free(k);
    tl_close(c);
    return NULL;
}

TEST(contexts_are_independent)
{
    pthread_t t[4];
    int ok[4] = {0};

    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&t[i], NULL, compile_alone, &ok[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        CHECK(ok[i]);
    }
}

TEST(texts_can_be_asked_for)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;
    const char *text;

    o.no_build = true;
    o.dump = "lower_tiles";
    CHECK_INT(tl_compile(c, "k.py", gemm, &o, &k), TL_OK);
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_SOURCE), "int tl_entry(");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_DUMP), "# after lower_tiles");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_HEADER),
              "int gemm(const float *A, const float *B, float *C);");
    CHECK_HAS(tl_kernel_text(k, TL_TEXT_TIME), "total");
    CHECK_INT(tl_kernel_layout(k, "acc", false, &text), TL_OK);
    CHECK_HAS(text, "acc");
    CHECK_INT(tl_kernel_layout(k, "nothing", false, &text), TL_EUSER);
    CHECK_HAS(tl_message(c), "acc");
    float x;
    tl_tensor one = vector(&x, 1);
    CHECK_INT(tl_kernel_run(k, &one, 1), TL_EUSER);
    tl_kernel_free(k);
    CHECK_INT(tl_explain(c, "T.gemm", &text), TL_OK);
    CHECK_HAS(text, "T.gemm(");
    CHECK_HAS(tl_targets(c), "cpu");
    CHECK_HAS(tl_passes(c), "lower_tiles");
    tl_close(c);
}

TEST(targets_say_what_they_take)
{
    tl_context *c = tl_open();
    tl_target_facts f = TL_TARGET_FACTS_INIT;

    CHECK_INT(tl_target_ask(c, "cpu", &f), TL_OK);
    CHECK_TEXT(f.name, "cpu");
    CHECK(f.samples && !f.stamps && !f.archs);
    CHECK_INT(tl_target_ask(c, "cuda -arch=sm_80", &f), TL_OK);
    CHECK(f.stamps && f.archs && !f.samples);
    CHECK_INT(tl_target_ask(c, "webgpu", &f), TL_OK);
    CHECK(!f.stamps && !f.samples);
    CHECK_INT(tl_target_ask(c, "gpu", &f), TL_ETARGET);
    CHECK_HAS(tl_message(c), "target-unknown");
    CHECK_INT(tl_target_ask(c, "cpu", NULL), TL_EUSER);
    tl_close(c);
}

TEST(same_text_gives_same_source)
{
    tl_context *c = tl_open(), *d = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k, *l;

    o.no_build = true;
    CHECK_INT(tl_compile(c, "k.py", axpy, &o, &k), TL_OK);
    CHECK_INT(tl_compile(d, "k.py", gemm, &o, &l), TL_OK);
    tl_kernel_free(l);
    CHECK_INT(tl_compile(d, "k.py", axpy, &o, &l), TL_OK);
    CHECK_TEXT(tl_kernel_text(k, TL_TEXT_SOURCE), tl_kernel_text(l, TL_TEXT_SOURCE));
    tl_kernel_free(k);
    tl_kernel_free(l);
    tl_close(c);
    tl_close(d);
}

/* What a function of a narrow type is off by stays in a wide result. */
TEST(results_are_as_near_as_functions_are)
{
    static const char text[] =
        "import tilelang.language as T\n"
        "@T.prim_func\n"
        "def f(X: T.Tensor((64,), 'float32'), Y: T.Tensor((64,), 'float64')):\n"
        "    with T.Kernel(1, threads=64) as bx:\n"
        "        for i in T.Parallel(64):\n"
        "            Y[i] = T.exp(X[i])\n";
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    o.no_build = true;
    CHECK_INT(tl_compile(c, "k.py", text, &o, &k), TL_OK);
    CHECK_NEAR(tl_kernel_tolerance(k, "float64"), tl_tolerance("float32"), 0);
    tl_kernel_free(k);
    CHECK_INT(tl_compile(c, "k.py", axpy, &o, &k), TL_OK);
    CHECK_NEAR(tl_kernel_tolerance(k, "float64"), tl_tolerance("float64"), 0);
    tl_kernel_free(k);
    tl_close(c);
}
