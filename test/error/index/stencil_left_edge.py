import tilelang
import tilelang.language as T


@T.prim_func
def main(X: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        a = T.alloc_shared((64,), "float32")
        b = T.alloc_shared((64,), "float32")
        T.copy(X, a)
        for i in T.Parallel(64):
            b[i] = a[i - 1] + a[i]  # error: out-of-bounds
        T.copy(b, X)
