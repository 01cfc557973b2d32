import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    W = [T.alloc_global((64,), "float32") for _ in range(65)]
    with T.Kernel(1, threads=1) as bx:
        X[0] = 0.0
    with T.Kernel(1, threads=1) as bx:
        W[64][0] = X[0]
        W[0][0] = X[0]
