import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float16)):
    with T.Kernel(1, threads=128) as bx:
        for i in T.Pipelined(4, num_stages=-1):  # error: pipeline-stages
            A[i, 0] = 0
