/* sim_global.c -- races on global memory between blocks and threads; how warps touch memory. */
#include "test.h"
#include "tilelang.h"
#include <stdio.h>
#include <string.h>

static const char head[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "@tilelang.jit(out_idx=[-1])\n"
    "def k():\n"
    "    @T.prim_func\n"
    "    def main(X: T.Tensor((256,), 'float32'), Y: T.Tensor((256,), 'float32')):\n"
    "        with T.Kernel(4, threads=64) as b:\n"
    "            t = T.get_thread_binding()\n";

/* The body lowered for a GPU and simulated: the message, "" when all is well, or the table. */
static const char *simulate(const char *body, bool stats)
{
    static char text[4096], message[4096];
    static float x[256], y[256];
    tl_context *c = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;
    const char *table = "";

    snprintf(text, sizeof text, "%s%s    return main\n", head, body);
    o.no_build = true;
    o.target = "cuda -arch=sm_80";
    tl_tensor args[] = {
        {.dtype = "float32", .rank = 1, .shape = {256}, .data = x},
        {.dtype = "float32", .rank = 1, .shape = {256}, .data = y},
    };
    for (int i = 0; i < 256; i++)
        x[i] = (float)i;
    message[0] = 0;
    if (tl_compile(c, "global.py", text, &o, &k) != TL_OK) {
        snprintf(message, sizeof message, "%s", tl_message(c));
    } else {
        tl_status s = stats ? tl_kernel_sim_stats(k, args, 2, &table)
                            : tl_kernel_simulate(k, args, 2, 0);
        snprintf(message, sizeof message, "%s", s == TL_OK ? table : tl_message(c));
        tl_kernel_free(k);
    }
    tl_close(c);
    return message;
}

TEST(blocks_that_write_their_own_are_clean)
{
    CHECK_TEXT(simulate("            Y[b * 64 + t] = X[b * 64 + t]\n", false), "");
    CHECK_TEXT(simulate("            Y[t] = 1.0\n", false), ""); /* all the same */
}

TEST(blocks_that_write_one_element_race)
{
    const char *m = simulate("            Y[t] = X[b * 64 + t]\n", false);
    CHECK_HAS(m, "[data-race]");
    CHECK_HAS(m, "block (1, 0, 0)");
    CHECK_HAS(m, "global.py:9");
}

TEST(a_block_that_reads_what_another_wrote_races)
{
    CHECK_HAS(simulate("            Y[b * 64 + t] = X[b * 64 + t]\n"
                       "            T.sync_threads()\n"
                       "            Y[b * 64 + t] = Y[(b * 64 + t + 192) % 256] + 1.0\n", false),
              "[data-race]");
}

TEST(threads_of_a_block_race_on_global_memory)
{
    CHECK_HAS(simulate("            Y[b * 64 + t // 2] = X[t]\n", false), "[data-race]");
}

TEST(atomics_are_no_race)
{
    CHECK_TEXT(simulate("            T.atomic_add(Y[t], X[b * 64 + t])\n", false), "");
}

/* Each block brings a part and raises X[b]; the first one waits for all of them and reads what they
 * brought.  before: between the part and the flag. */
static const char *gathered(const char *before, const char *raised, const char *seen)
{
    static char body[1024];

    snprintf(body, sizeof body,
             "            Y[b * 64 + t] = T.cast(t + b, 'float32')\n"
             "%s"
             "            if t == 0:\n"
             "                T.atomic_store(X[b], 1000.0, memory_order='%s')\n"
             "            if b == 0:\n"
             "                for p in T.serial(4):\n"
             "                    v = T.alloc_var('float32', init=0.0)\n"
             "                    while v < 1000.0:\n"
             "                        v = T.atomic_load(X[p], memory_order='%s')\n"
             "                Y[t] = Y[64 + t] + Y[128 + t] + Y[192 + t]\n",
             before, raised, seen);
    return simulate(body, false);
}

TEST(flags_order_blocks)
{
    static const char barrier[] = "            T.sync_threads()\n";

    CHECK_TEXT(gathered(barrier, "release", "acquire"), ""); /* from blocks that start later */
    CHECK_TEXT(gathered(barrier, "seq_cst", "seq_cst"), "");
    CHECK_HAS(gathered(barrier, "release", "relaxed"), "[data-race]");
    CHECK_HAS(gathered(barrier, "relaxed", "acquire"), "[data-race]");
    CHECK_HAS(gathered(barrier, "relaxed", "acquire"), "memory_order=\"release\"");
    CHECK_HAS(gathered("", "release", "acquire"), "[data-race]"); /* of the other threads' parts */
}

/* The block that comes last reads what all have brought. */
static const char *counted(const char *order)
{
    static char body[1024];

    snprintf(body, sizeof body,
             "            s = T.alloc_shared((1,), 'float32')\n"
             "            Y[b * 64 + t] = X[128 + t] + 1.0\n"
             "            T.sync_threads()\n"
             "            if t == 0:\n"
             "                s[0] = T.atomic_add(X[0], 1.0, memory_order='%s', return_prev=True)\n"
             "            T.sync_threads()\n"
             "            if s[0] == 3.0:\n"
             "                Y[t] = Y[t] + Y[64 + t] + Y[128 + t] + Y[192 + t]\n",
             order);
    return simulate(body, false);
}

TEST(counters_order_the_last_block_after_all)
{
    CHECK_TEXT(counted("acq_rel"), "");
    CHECK_HAS(counted("relaxed"), "[data-race]");
    CHECK_HAS(counted("release"), "[data-race]");
}

/* Block b waits for block b - 1 and reads what the first one wrote. */
TEST(what_was_acquired_is_released_again)
{
    CHECK_TEXT(simulate("            if b > 0:\n"
                        "                v = T.alloc_var('float32', init=0.0)\n"
                        "                while v < 1000.0:\n"
                        "                    v = T.atomic_load(X[b - 1], memory_order='acquire')\n"
                        "                Y[b * 64 + t] = Y[t] + 1.0\n"
                        "            else:\n"
                        "                Y[t] = X[64 + t]\n"
                        "            T.sync_threads()\n"
                        "            if t == 0:\n"
                        "                T.atomic_store(X[b], 1000.0, memory_order='release')\n",
                        false), "");
}

TEST(a_flag_that_nobody_raises_is_a_deadlock)
{
    const char *m = simulate("            v = T.alloc_var('float32', init=0.0)\n"
                             "            while v < 1000.0:\n"
                             "                v = T.atomic_load(X[b], memory_order='acquire')\n"
                             "            Y[b * 64 + t] = v\n", false);
    CHECK_HAS(m, "[deadlock]");
    CHECK_HAS(m, "until an atomic operation finds another value");
}

TEST(a_loop_that_looks_so_many_times_ends)
{
    CHECK_TEXT(simulate("            v = T.alloc_var('float32', init=0.0)\n"
                        "            n = T.alloc_var('int32', init=0)\n"
                        "            while (v < 1000.0) & (n < 100):\n"
                        "                v = T.atomic_load(X[b], memory_order='acquire')\n"
                        "                n += 1\n"
                        "            Y[b * 64 + t] = v\n", false), "");
}

/* Line 9: a column of a row-major tile, 32 lanes on one bank; line 10 its neighbour's sector each. */
TEST(conflicts_and_sectors_are_counted_by_line)
{
    const char *m = simulate("            s = T.alloc_shared((2048,), 'float32')\n"
                             "            s[t * 32] = X[t]\n"
                             "            T.sync_threads()\n"
                             "            Y[b * 64 + t] = s[t * 32]\n", true);
    CHECK_HAS(m, "    10          8        248          8         32         32\n");
    CHECK_HAS(m, "    12          8        248          8         32         32\n");
}

static const char product[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "@tilelang.jit(out_idx=[-1])\n"
    "def k():\n"
    "    @T.prim_func\n"
    "    def main(A: T.Tensor((64, 64), 'float16'), B: T.Tensor((64, 64), 'float16'), C: T.Tensor((64, 64), 'float32')):\n"
    "        with T.Kernel(1, threads=128):\n"
    "            a, b = T.alloc_shared((64, 64), 'float16'), T.alloc_shared((64, 64), 'float16')\n"
    "            c = T.alloc_fragment((64, 64), 'float32')\n"
    "            T.clear(c)\n"
    "            T.copy(A, a)\n"
    "            T.copy(B, b)\n"
    "            T.gemm(a, b, c)\n"
    "            T.copy(c, C)\n"
    "    return main\n";

/* Conflicts of line 13, which loads by ldmatrix, and its cycles by the model; from: text is IR. */
static void measure_product(const char *text, const char *from, int *conflicts, double *cycles)
{
    static uint16_t ab[2][64 * 64];
    static float c[64 * 64];
    tl_context *x = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k = NULL;
    const char *table = "", *json, *svg;
    tl_tensor args[] = {
        {.dtype = "float16", .rank = 2, .shape = {64, 64}, .data = ab[0]},
        {.dtype = "float16", .rank = 2, .shape = {64, 64}, .data = ab[1]},
        {.dtype = "float32", .rank = 2, .shape = {64, 64}, .data = c},
    };

    *conflicts = -1;
    *cycles = -1;
    o.no_build = true;
    o.target = "cuda -arch=sm_80";
    o.from = from;
    if (tl_compile(x, "product.py", text, &o, &k) == TL_OK) {
        CHECK(tl_kernel_sim_stats(k, args, 3, &table) == TL_OK);
        const char *at = strstr(table, "\n    13 ");
        CHECK(at && sscanf(at, " %*d %*d %d", conflicts) == 1);
        CHECK(tl_kernel_profile_sim(k, args, 3, &json, &svg, &table) == TL_OK);
        at = strstr(table, "\n  13 ");
        CHECK(at && sscanf(at, " %*d %lf", cycles) == 1);
        tl_kernel_free(k);
    } else {
        CHECK_TEXT(tl_message(x), "");
    }
    tl_close(x);
}

/* The same kernel with its tiles as they come: eight rows of ldmatrix fall on the same banks. */
TEST(conflicts_of_matrix_loads_count_and_take_time)
{
    static const char swizzle[] = "(i, i % 8 ^ j // 8, j % 8) \"swizzle 128B\"";
    static char text[1 << 16];
    tl_context *x = tl_open();
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;
    int clean, bad;
    double fast, slow;

    o.no_build = true;
    o.target = "cuda -arch=sm_80";
    o.stop_after = "plan_layouts";
    CHECK(tl_compile(x, "product.py", product, &o, &k) == TL_OK);
    snprintf(text, sizeof text, "%s", tl_kernel_text(k, TL_TEXT_IR));
    tl_kernel_free(k);
    tl_close(x);
    int n = 0;
    for (char *at; (at = strstr(text, swizzle)) != NULL; n++) {
        memset(at, ' ', sizeof swizzle - 1);
        memcpy(at, "(i, j)", 6);
    }
    CHECK(n == 2);
    measure_product(product, NULL, &clean, &fast);
    measure_product(text, "plan_banks", &bad, &slow);
    CHECK(clean == 0);
    CHECK(bad > 500); /* 4 warps, 4 steps of k, 2 + 2 loads of 4 matrices, 7 extra turns each */
    CHECK(slow > fast + bad);
}
