# target: cuda -arch=sm_80
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((32, 48), T.float16), B: T.Tensor((48, 32), T.float16)):
    with T.Kernel(3, 2, threads=64) as (bx, by):
        t = T.alloc_shared((16, 1 << 40), T.int8)  # error: on-chip-bytes
        T.copy(A[by * 16, bx * 16], t)
        for i, j in T.Parallel(16, 16):
            B[bx * 16 + i, by * 16 + j] = t[j, i]
