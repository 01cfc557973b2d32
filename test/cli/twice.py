import tilelang.language as T


@T.prim_func
def twice(X: T.Tensor((4,), "int32")):
    with T.Kernel(1, threads=1):
        for i in T.serial(4):
            X[i] = X[i] * 2
