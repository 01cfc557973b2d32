/* race.c -- the simulator finds races between the threads of a block, and nothing where there is none.
 *
 * Kernels that name a barrier of their own (T.sync_threads(1, 64)) order their threads by hand; in
 * others the front end puts meetings where they are needed. */
#include "test.h"
#include "tilelang.h"
#include <stdio.h>

static const char head[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "@tilelang.jit(out_idx=[-1])\n"
    "def k():\n"
    "    @T.prim_func\n"
    "    def main(X: T.Tensor((64,), 'float32'), Y: T.Tensor((64,), 'float32')):\n"
    "        with T.Kernel(1, threads=64):\n"
    "            t = T.get_thread_binding()\n"
    "            s = T.alloc_shared((64,), 'float32')\n";

/* Run the body in the simulator; the message, or "" when all is well. */
static const char *simulate(tl_context *c, const char *body)
{
    static char text[4096];
    static float x[64], y[64];
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    snprintf(text, sizeof text, "%s%s    return main\n", head, body);
    o.no_build = true;
    if (tl_compile(c, "race.py", text, &o, &k) != TL_OK)
        return tl_message(c);
    tl_tensor args[] = {
        {.dtype = "float32", .rank = 1, .shape = {64}, .data = x},
        {.dtype = "float32", .rank = 1, .shape = {64}, .data = y},
    };
    for (int i = 0; i < 64; i++)
        x[i] = (float)i;
    tl_status s = tl_kernel_reference(k, args, 2);
    static char message[4096];
    snprintf(message, sizeof message, "%s", s == TL_OK ? "" : tl_message(c));
    tl_kernel_free(k);
    return message;
}

TEST(a_barrier_orders_neighbours)
{
    tl_context *c = tl_open();
    CHECK_TEXT("", simulate(c, "            s[t] = X[t]\n"
                               "            T.sync_threads()\n"
                               "            Y[t] = s[(t + 1) % 64]\n"));
    tl_close(c);
}

TEST(threads_meet_without_being_told)
{
    tl_context *c = tl_open();
    CHECK_TEXT("", simulate(c, "            s[t] = X[t]\n"
                               "            Y[t] = s[(t + 1) % 64]\n"
                               "            s[t] = X[t] + 1\n"));
    tl_close(c);
}

TEST(a_write_after_a_neighbours_read_is_a_race)
{
    tl_context *c = tl_open();
    const char *m = simulate(c, "            s[t] = X[t]\n"
                                "            T.sync_threads(1, 64)\n"
                                "            Y[t] = s[(t + 1) % 64]\n"
                                "            s[t] = X[t] + 1\n");
    CHECK_HAS(m, "[data-race]");
    CHECK_HAS(m, "race.py:13:");
    CHECK_HAS(m, "reads it here");
    tl_close(c);
}

TEST(two_threads_that_write_different_values_race)
{
    tl_context *c = tl_open();
    CHECK_HAS(simulate(c, "            s[t // 2] = X[t]\n"
                          "            T.sync_threads()\n"
                          "            Y[t] = s[t // 2]\n"), "[data-race]");
    CHECK_TEXT("", simulate(c, "            s[t // 2] = X[t // 2]\n"
                               "            T.sync_threads()\n"
                               "            Y[t] = s[t // 2]\n"));
    tl_close(c);
}

TEST(a_warp_sync_orders_its_lanes_only)
{
    tl_context *c = tl_open();
    CHECK_TEXT("", simulate(c, "            s[t] = X[t]\n"
                               "            T.sync_warp()\n"
                               "            Y[t] = s[t // 32 * 32 + (t + 1) % 32]\n"));
    CHECK_HAS(simulate(c, "            s[t] = X[t]\n"
                          "            T.sync_threads(1, 64)\n"
                          "            Y[t] = s[63 - t]\n"
                          "            T.sync_warp()\n"
                          "            s[t] = X[t] + 2\n"), "[data-race]");
    tl_close(c);
}
