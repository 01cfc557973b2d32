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
