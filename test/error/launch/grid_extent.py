import tilelang.language as T

n = T.dynamic("n")


@T.prim_func
def f(A: T.Tensor((n, 64), T.float32)):
    with T.Kernel(n, threads=128) as bx:
        A[bx, 0] = T.get_block_extent(0)  # error: grid-extent
