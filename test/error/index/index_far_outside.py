# stage: compile
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((128, 64), T.float16), B: T.Tensor((128, 64), T.float16)):
    with T.Kernel(1, 2, threads=128) as (bx, by):
        a = T.alloc_shared((64, 32), T.float16)
        for k in T.serial(2):
            T.copy(A[by * 64, k * 2147483647], a)  # error: out-of-bounds
            T.copy(a, B[by * 64, k * 32])
