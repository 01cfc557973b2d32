import tilelang.language as T


@T.prim_func
def f(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1, threads=32):
        v = T.view(A, (8, 8), strides=(1, 16))  # error: view-size
        v[0, 0] = 1
