import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32)):
    with T.Kernel(4, 0, threads=128) as (bx, by):  # error: kernel-extent
        A[bx, by] = 0
