# Two blocks multiply together only in a cluster of two.
import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((128, 64), "float16"), C: T.Tensor((128, 64), "float32")):
    with T.Kernel(2, threads=128) as bx:
        a = T.alloc_shared((128, 64), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_tmem([128, 64], "float32")
        done = T.alloc_barrier(1)
        T.copy(A, a)
        T.copy(A[0:32, :], b)
        T.tcgen05_gemm(a, b, c, transpose_B=True, mbar=done, use_2cta=True)  # error: cluster-pair
