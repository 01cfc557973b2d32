"""Kernels written the way libraries of others write them."""

import time

import tilelang
import tilelang.language as T


def folded(n, threads):
    @T.prim_func
    def main(P: T.Tensor((n // 64, 64), "float16"), Out: T.Tensor((1,), "float32")):
        with T.Kernel(1, threads=threads):
            s = T.alloc_fragment((1,), "float32")
            T.clear(s)
            for i in T.Parallel(n):
                s[0] = s[0] + T.Cast("float32", P[i // 64, i % 64])
            if T.get_thread_binding(0) == 0:
                Out[0] = s[0]

    return main


def test_a_long_nest_into_one_scalar_compiles_at_once():
    start = time.process_time()
    tilelang.compile(folded(1 << 19, 256), target="sim -arch=sm_90a")
    assert time.process_time() - start < 3
