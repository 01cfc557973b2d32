/* simplify_stmt.c -- tests of simplification over statements: facts of loops, ifs, lets, asserts. */
#include "ir_world.h"
#include "arith/arith.h"
#include "test.h"

static const char *simple_body(World *w, const char *body)
{
    const char *text = arena_printf(w->arena,
                                    "func main:\n"
                                    "    source \"k.py\"\n"
                                    "    dim n: int32\n"
                                    "    param A: int32[64] global is_param\n"
                                    "    param B: int32[n] global is_param\n"
                                    "    launch main_kernel:\n"
                                    "        form CHECKED NORMAL\n"
                                    "        grid bx: int32 = (n + 63) // 64\n"
                                    "        threads tx: int32 = 32, ty: int32 = 1, tz: int32 = 1\n"
                                    "        body:\n"
                                    "%s", body);
    Kernel *k = func_of(w, text)->kernels.at[0];
    simplify_kernel(k);
    CHECK(k->form & FORM_SIMPLE);
    return stmt_text(w, k->body);
}

TEST(loops_give_ranges)
{
    World w;
    world_open(&w);
    CHECK_TEXT(simple_body(&w, "            for i in serial(0, 8):\n"
                               "                for j in serial(0, 8):\n"
                               "                    A[(i * 8 + j) // 8 * 8 + (i * 8 + j) % 8] = i // 8\n"),
               "for i in serial(0, 8):\n"
               "    for j in serial(0, 8):\n"
               "        A[i * 8 + j] = 0\n");
}

TEST(short_loops_go)
{
    World w;
    world_open(&w);
    CHECK_TEXT(simple_body(&w, "            for i in serial(3, 1):\n"
                               "                A[i] = i\n"
                               "            for j in serial(0, 0):\n"
                               "                A[j] = j\n"
                               "            for k in serial(0, 1):\n"
                               "                if n < 9:\n"
                               "                    break\n"
                               "                A[k] = 5\n"),
               "A[3] = 3\n"
               "for k in serial(0, 1):\n"
               "    if n < 9:\n"
               "        break\n"
               "    A[0] = 5\n");
}

TEST(conditions_hold_inside)
{
    World w;
    world_open(&w);
    CHECK_TEXT(simple_body(&w, "            for i in serial(0, 64):\n"
                               "                if i < n:\n"
                               "                    A[min(i, n - 1)] = 1\n"
                               "                else:\n"
                               "                    A[max(i, n)] = 2\n"
                               "                if i < 64:\n"
                               "                    A[i] = 3\n"
                               "                if i >= 64:\n"
                               "                    A[i] = 4\n"),
               "for i in serial(0, 64):\n"
               "    if i < n:\n"
               "        A[i] = 1\n"
               "    else:\n"
               "        A[i] = 2\n"
               "    A[i] = 3\n");
}

TEST(guards_that_hold_go)
{
    World w;
    world_open(&w);
    CHECK_TEXT(simple_body(&w, "            for i in serial(0, 64):\n"
                               "                A[i] = load(A[i], i < 64, 0) where i < 65\n"
                               "                A[i] = load(B[bx * 64 + i], bx * 64 + i < n, 7)\n"
                               "                B[bx * 64] = 1 where bx * 64 < n\n"),
               "for i in serial(0, 64):\n"
               "    A[i] = A[i]\n"
               "    A[i] = load(B[bx * 64 + i], bx * 64 + i < n, 7)\n"
               "    B[bx * 64] = 1\n");
}

TEST(lets_and_asserts)
{
    World w;
    world_open(&w);
    CHECK_TEXT(simple_body(&w, "            x: int32 = 3 + 4\n"
                               "            y: int32 = bx % 4\n"
                               "            A[y * 16 + x] = y // 4 + x\n"
                               "            assert n % 64 == 0 text \"whole tiles\"\n"
                               "            for i in serial(0, 64):\n"
                               "                B[bx * 64 + i] = 0 where bx * 64 + i < n\n"),
               "y: int32 = bx % 4\n"
               "A[y * 16 + 7] = 7\n"
               "assert n % 64 == 0 text \"whole tiles\"\n"
               "for i in serial(0, 64):\n"
               "    B[bx * 64 + i] = 0\n");
}

/* What was read from memory may have changed since. */
TEST(memory_is_not_remembered)
{
    World w;
    world_open(&w);
    const char *body = "            if A[0] < 5:\n"
                       "                A[0] = 9\n"
                       "                if A[0] < 5:\n"
                       "                    A[1] = 1\n";
    CHECK_TEXT(simple_body(&w, body), "if A[0] < 5:\n"
                                      "    A[0] = 9\n"
                                      "    if A[0] < 5:\n"
                                      "        A[1] = 1\n");
}
