/* embed.c -- compile a kernel from source text inside a C program, run it, check it.
 *
 *     make && cc -Iinclude examples/embed.c -Lbuild -ltilelang -Wl,-rpath,build -o build/embed
 *     build/embed
 */
#include "tilelang.h"

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "\n"
    "@tilelang.jit(out_idx=[-1])\n"
    "def scale_add(N, block=1024):\n"
    "    @T.prim_func\n"
    "    def main(a: T.float32, X: T.Tensor((N,), 'float32'), Y: T.Tensor((N,), 'float32'),\n"
    "             Z: T.Tensor((N,), 'float32')):\n"
    "        with T.Kernel(T.ceildiv(N, block)) as bx:\n"
    "            for i in T.Parallel(block):\n"
    "                Z[bx * block + i] = a * X[bx * block + i] + Y[bx * block + i]\n"
    "    return main\n";

enum { N = 10007 };

static int give_up(tl_context *c, const char *what)
{
    fprintf(stderr, "%s:\n%s", what, tl_message(c));
    tl_close(c);
    return 1;
}

int main(void)
{
    static float x[N], y[N], z[N];
    float a = 3;
    tl_context *c = tl_open();
    tl_define knobs[] = {{"N", "10007"}};
    tl_options o = TL_OPTIONS_INIT;
    tl_kernel *k;

    if (!c)
        return 1;
    o.defines = knobs;
    o.ndefine = 1;
    if (tl_compile(c, "scale_add.py", source, &o, &k) != TL_OK)
        return give_up(c, "compile");

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    tl_tensor args[] = {
        {.dtype = "float32", .data = &a},
        {.dtype = "float32", .rank = 1, .shape = {N}, .data = x},
        {.dtype = "float32", .rank = 1, .shape = {N}, .data = y},
        {.dtype = "float32", .rank = 1, .shape = {N}, .data = z},
    };
    if (tl_kernel_run(k, args, 4) != TL_OK)
        return give_up(c, "run");

    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += z[i] != 3 * (float)i + 1;
    printf("%s: %d elements, %d wrong\n", tl_kernel_name(k), N, wrong);
    tl_kernel_free(k);
    tl_close(c);
    return wrong != 0;
}
