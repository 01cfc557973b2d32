import tilelang.language as T


@T.prim_func
def main(D: T.Tensor((32,), "float32"), E: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=128):
        d = T.alloc_shared((32,), "float32")
        T.copy(D, d)
        for i in T.Parallel(32):
            d[i] = d[i] * 2  # warning: parallel-race
            E[i] = d[31 - i]
