/* names.c -- the 120 names of T that kernels use most: all but a few can be used on the CPU.
 *
 * Those that can are used by the kernels of test/kernel/names_*.py, which the golden tests run
 * against the simulator, or by the kernels below, which call C. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tilelang.h"
#include "front/front.h"
#include "target/target.h"
#include "test.h"

enum { REFUSED_MOST = 10 };

static const char *const names[] = {
    "copy", "Tensor", "alloc_fragment", "Parallel", "alloc_shared", "ceildiv", "float32",
    "gemm", "clear", "Kernel", "if_then_else", "fill", "float16", "exp2", "GemmWarpPolicy",
    "Pipelined", "int32", "infinity", "serial", "bfloat16", "prim_func", "mbarrier_wait_parity",
    "reduce_sum", "uint16", "alloc_barrier", "empty", "max", "alloc_var", "uint32", "const",
    "mbarrier_arrive", "tma_copy", "min", "alloc_local", "reduce_max", "unroll",
    "barrier_arrive", "atomic_add", "dtype", "barrier_wait", "get_thread_binding", "dynamic",
    "alloc_tmem", "sync_threads", "use_swizzle", "int8", "WSSync", "annotate_layout", "log2",
    "alloc_cluster_barrier", "cast", "tcgen05_gemm", "wgmma_gemm", "WSID", "uint8",
    "vectorized", "access_ptr", "exp", "float", "tcgen05_mma_arrive", "ws", "floordiv",
    "set_max_nreg", "Layout", "PersistentTileScheduler", "float8_e4m3fn", "wait_wgmma",
    "reinterpret", "macro", "Cast", "tcgen05_cp_warpx4", "tcgen05_sf_warp_transpose",
    "ClusterKernel", "WSPipeline", "assume", "block_rank_in_cluster", "call_extern", "int4",
    "ws_op", "Buffer", "FragmentBuffer", "SharedBuffer", "WSScope",
    "disable_warp_group_reg_alloc", "WSRole", "fence_proxy_async", "import_source",
    "shift_left", "thread_binding", "uint", "Fragment", "alloc_global", "bool", "ptx_cp_async",
    "reduce_absmax", "tcgen05_gemm_blockscaled", "tfloat32", "attr", "clamp", "comm_reducer",
    "evaluate", "float4_e2m1fn", "floormod", "int", "tvm_thread_allreduce", "uint64",
    "cp_async_barrier_noinc", "get_block_binding", "int16", "rsqrt", "im2col", "make_tensor",
    "ptr", "reshape", "Serial", "WSSchedule", "annotate_ws_schedule", "any_sync",
    "atomic_addx4", "atomic_load",
};

static const char c_functions[] =
    "import tilelang.language as T\n"
    "source = \"\"\"\n"
    "static float tl_half_of(float x) { return x * 0.5f; }\n"
    "static void tl_put(float *p, int i) { *p = (float)i; }\n"
    "\"\"\"\n"
    "@T.prim_func\n"
    "def f(A: T.Tensor((8,), 'float32'), B: T.Tensor((8,), 'float32')):\n"
    "    with T.Kernel(1, threads=32) as bx:\n"
    "        T.import_source(source)\n"
    "        for i in T.serial(4):\n"
    "            B[i] = T.call_extern('float32', 'tl_half_of', A[i])\n"
    "        for i in T.serial(4):\n"
    "            T.call_extern('handle', 'tl_put', T.address_of(B[4 + i]), i)\n";

static const char pointers[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def f(p: T.ptr, P: T.Tensor((2,), T.ptr), B: T.Tensor((3, 8), 'float32')):\n"
    "    with T.Kernel(2, threads=32) as bx:\n"
    "        a = T.make_tensor(p, (8,), 'float32')\n"
    "        b = T.make_tensor(P[bx], (8,), 'float32')\n"
    "        for i in T.Parallel(8):\n"
    "            B[bx, i] = b[i] * 2\n"
    "        for i in T.Parallel(8):\n"
    "            B[2, i] = a[i]\n";

static tl_kernel *compiled(tl_context *c, const char *text)
{
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;

    o.target = "cpu";
    o.threads = 1;
    if (tl_compile(c, "k.py", text, &o, &k) != TL_OK)
        test_text(__FILE__, __LINE__, tl_message(c), "", "compiles");
    return k;
}

static void fresh_cache(void)
{
    setenv("TILELANG_CACHE_DIR", test_folder(), 1);
}

/* ---- which are used -------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = text; (s = strstr(s, "T.")); s += 2)
        if ((s == text || !is_word(s[-1])) && !strncmp(s + 2, name, n) && !is_word(s[2 + n]))
            return true;
    return false;
}

static bool is_refused(const char *name)
{
    const Builtin *b = builtin_find(name);
    return b && b->cpu[0];
}

TEST(names_that_work_are_used_by_tests)
{
    Arena *a = arena_new();
    const char *const files[] = {"test/kernel/names_tiles.py", "test/kernel/names_threads.py",
                                 "test/kernel/gemm_scaled.py"};
    const char *why;
    char *text[COUNT(files)];
    size_t n;

    for (int i = 0; i < COUNT(files); i++)
        CHECK_INT(file_read(a, files[i], &text[i], &n, &why), STATUS_OK);
    for (int i = 0; i < COUNT(names); i++) {
        bool used = uses(c_functions, names[i]) || uses(pointers, names[i]);
        for (int k = 0; k < COUNT(files); k++)
            used = used || uses(text[k], names[i]);
        if (used == is_refused(names[i]))
            test_text(__FILE__, __LINE__, names[i], "", used ? "works, refused" : "is in no test");
    }
    arena_free(a);
}

TEST(few_names_are_refused)
{
    int n = 0;

    CHECK_INT(COUNT(names), 120);
    for (int i = 0; i < COUNT(names); i++)
        n += is_refused(names[i]);
    CHECK(n <= REFUSED_MOST);
}

static bool says(const char *name, int narg, const char *why)
{
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    char text[512], args[32] = "s";

    o.target = "cpu";
    for (int i = 1; i < narg; i++)
        strcat(args, ", s");
    snprintf(text, sizeof text,
             "import tilelang.language as T\n"
             "@T.prim_func\n"
             "def f(A: T.Tensor((8,), 'float32')):\n"
             "    with T.Kernel(1) as bx:\n"
             "        s = T.alloc_shared((8, 8), 'float32')\n"
             "        T.%s(%s)\n", name, args);
    CHECK_INT(tl_compile(c, "k.py", text, &o, &k), TL_EUSER);
    bool found = strstr(tl_message(c), why) != NULL;
    tl_close(c);
    return found;
}

/* The reason in the table is what a user reads. */
TEST(refusals_say_why)
{
    fresh_cache();
    for (int i = 0; i < COUNT(names); i++) {
        bool said = !is_refused(names[i]);
        for (int n = 1; n <= 8 && !said; n++)
            said = says(names[i], n, builtin_find(names[i])->cpu);
        if (!said)
            test_text(__FILE__, __LINE__, names[i], "", "is refused without the reason");
    }
}

/* ---- those that call C ----------------------------------------------------------------------- */

TEST(c_functions_are_called)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, c_functions);
    float a[8] = {1, 2, 3, 4}, b[8] = {0};
    tl_tensor args[2] = {{.dtype = "float32", .rank = 1, .shape = {8}, .data = a},
                         {.dtype = "float32", .rank = 1, .shape = {8}, .data = b}};

    CHECK_INT(tl_kernel_run(k, args, 2), TL_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(b[i], 0.5 * a[i], 0);
        CHECK_NEAR(b[4 + i], i, 0);
    }
    tl_kernel_free(k);
    tl_close(c);
}

TEST(addresses_are_followed)
{
    fresh_cache();
    tl_context *c = tl_open();
    tl_kernel *k = compiled(c, pointers);
    float x[8], y[8], z[8], b[24] = {0};
    void *p = x;
    int64_t table[2] = {(int64_t)(intptr_t)y, (int64_t)(intptr_t)z};
    tl_tensor args[3] = {{.dtype = "handle", .data = &p},
                         {.dtype = "int64", .rank = 1, .shape = {2}, .data = table},
                         {.dtype = "float32", .rank = 2, .shape = {3, 8}, .data = b}};

    for (int i = 0; i < 8; i++) {
        x[i] = (float)i;
        y[i] = (float)(10 + i);
        z[i] = (float)(20 + i);
    }
    if (tl_kernel_run(k, args, 3) != TL_OK)
        test_text(__FILE__, __LINE__, tl_message(c), "", "runs");
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(b[i], 2 * (10 + i), 0);
        CHECK_NEAR(b[8 + i], 2 * (20 + i), 0);
        CHECK_NEAR(b[16 + i], i, 0);
    }
    tl_kernel_free(k);
    tl_close(c);
}

/* Tables of languages list what C's does not. */
TEST(words_of_other_languages_are_listed_once)
{
    Arena *a = arena_new();
    static const char *const more[] = {
#define WORD(w) #w,
#include "target/opencl/words.def"
#include "target/webgpu/words.def"
#undef WORD
    };
    for (int i = 0; i < COUNT(more); i++)
        CHECK(!word_is_taken(a, more[i]));
    arena_free(a);
}

TEST(words_that_c_and_cuda_have_taken)
{
    Arena *a = arena_new();
    static const char *const taken[] = {"NULL", "expf", "_Bool", "__shared__", "__global__", "tl_f",
                                        "TL_DEVICE", "int32_t", "INT32_MAX", "powl", "threadIdx", "blockDim",
                                        "co_await", "sqrt", "INFINITY", "__builtin_expect"};
    static const char *const free_[] = {"A", "C_l", "acc_f", "_", "_i", "f", "l", "x", "block_M",
                                        "scores_max", "T", "out", "half_t_"};
    NameTable *t = names_of(a);
    static int thing[2 * COUNT(taken)];

    static const char *const listed[] = {
#define WORD(w) #w,
#include "target/words.def"
#undef WORD
    };
    for (int i = 1; i < COUNT(listed); i++) /* sorted, as bsearch wants it */
        CHECK(strcmp(listed[i - 1], listed[i]) < 0);
    name_for_c(t);
    for (int i = 0; i < COUNT(taken); i++) {
        CHECK(word_is_taken(a, taken[i]));
        CHECK(!word_is_taken(a, name_for(t, &thing[i], taken[i])));
        CHECK(!word_is_taken(a, name_for(t, &thing[COUNT(taken) + i], taken[i])));
    }
    for (int i = 0; i < COUNT(free_); i++)
        CHECK(!word_is_taken(a, free_[i]));
}
