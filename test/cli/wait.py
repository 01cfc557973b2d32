import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        S = T.alloc_shared((64,), "float32")
        T.copy(X, S)
        T.ptx_wait_group(n)
        T.copy(S, X)
