# target: cuda -arch=sm_90a
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 64), "float16")
        b = T.alloc_shared((64, 64), "float16")
        sums = T.alloc_fragment((64, 32), "float32")
        halves = T.view(sums, (64, 64), "float16")  # error: layout-conflict
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(sums)
        T.gemm(a, b[:, 0:32], sums)
        T.clear(c)
        T.gemm(halves, b, c)
        T.copy(c, C)
