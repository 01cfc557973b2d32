import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64, 64), T.float32)
        R = T.alloc_shared((96, 64), T.float32)
        T.copy(A, S)
        T.copy(A[0:96, 0:64], R)  # warning: slice-range
        T.copy(S[0:96, 0:64], R)  # error: slice-range
